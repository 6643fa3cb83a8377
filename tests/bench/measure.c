/* Runs a command once and prints "wall cpu rss status": microseconds, microseconds, KiB. Small, so that its own memory does
 * not show in the figure (the kernel counts the peak from before exec).   usage: measure COMMAND [ARGUMENT...] */
#define _DEFAULT_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct timespec a, b;
    struct rusage   r;
    int             status = 0;
    if (argc < 2)
        return 2;
    clock_gettime(CLOCK_MONOTONIC, &a);
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, 1);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    if (pid < 0 || wait4(pid, &status, 0, &r) != pid)
        return 1;
    clock_gettime(CLOCK_MONOTONIC, &b);
    printf("%ld %ld %ld %d\n", (b.tv_sec - a.tv_sec) * 1000000 + (b.tv_nsec - a.tv_nsec) / 1000,
           (long)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) * 1000000 + (long)(r.ru_utime.tv_usec + r.ru_stime.tv_usec), r.ru_maxrss,
           WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    return 0;
}
