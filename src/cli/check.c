/* modelcheck check: paths from the arguments and from --files-from. */
#include "cli/cli.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* One path a line; empty lines are left out. 0, or an exit status. */
static int add_listed(const cli_args *args)
{
    bool    standard = strcmp(args->files_from, "-") == 0;
    FILE   *f = standard ? stdin : fopen(args->files_from, "r");
    char   *line = NULL;
    size_t  cap = 0;
    ssize_t n;
    int     status = 0;
    if (!f) {
        cli_complain(args->files_from, strerror(errno));
        return EXIT_UNCHECKED;
    }
    while (!status && (n = getline(&line, &cap, f)) != -1) {
        if (n && line[n - 1] == '\n')
            line[--n] = '\0';
        if (n && strlen(line) != (size_t)n)
            status = cli_usage_error(args->files_from, "a path holds a NUL byte");
        else if (n && modelcheck_add(args->mc, line))
            status = EXIT_UNCHECKED;
    }
    if (!status && ferror(f)) {
        cli_complain(args->files_from, strerror(errno));
        status = EXIT_UNCHECKED;
    }
    free(line);
    if (!standard)
        fclose(f);
    return status;
}

int cli_check(const cli_args *args)
{
    if (args->n == 0 && !args->files_from)
        return cli_usage_error(NULL, "a path is missing");
    for (int i = 0; i < args->n; i++)
        if (modelcheck_add(args->mc, args->words[i]))
            return EXIT_UNCHECKED;
    int status = args->files_from ? add_listed(args) : 0;
    return status ? status : cli_view(args, "check");
}
