/* One file: opened safely, read in pieces, never mapped. */
#include "io/io.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static mc_input refuse(mc_input in, int error, const char *what)
{
    if (in.fd >= 0)
        close(in.fd);
    return (mc_input){ .fd = -1, .os_error = error, .os_what = what };
}

static int64_t mtime_of(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

mc_input mc_open(mc_str root, mc_str path)
{
    mc_input    in = { .fd = -1 };
    struct stat st;
    size_t      n = root.n + 1 + path.n;
    char       *full = malloc(n + 1);
    if (!full)
        return refuse(in, ENOMEM, "cannot open");
    memcpy(full, root.p, root.n);
    full[root.n] = path.n ? '/' : 0;
    if (path.n)
        memcpy(full + root.n + 1, path.p, path.n);
    full[path.n ? n : root.n] = 0;
    in.fd = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
    int error = errno;
    free(full);
    if (in.fd < 0)
        return refuse(in, error, "cannot open");
    if (fstat(in.fd, &st) != 0)
        return refuse(in, errno, "cannot stat");
    if (!S_ISREG(st.st_mode))
        return refuse(in, ENXIO, S_ISDIR(st.st_mode) ? "is a directory" : "is not a regular file");
    in.size = st.st_size > 0 ? (uint64_t)st.st_size : 0;
    in.mtime_ns = mtime_of(&st);
    return in;
}

void mc_close(mc_input *in)
{
    if (in->fd >= 0)
        close(in->fd);
    in->fd = -1;
}

/* Reads until n bytes or the end; the number read, or -1 with os_error set. */
static ssize_t read_at(mc_input *in, uint64_t at, uint8_t *p, size_t n)
{
    size_t got = 0;
    while (got < n) {
        ssize_t k = pread(in->fd, p + got, n - got, (off_t)(at + got));
        if (k < 0 && errno == EINTR)
            continue;
        if (k < 0) {
            in->os_error = errno;
            in->os_what = "cannot read";
            return -1;
        }
        if (k == 0)
            break;
        got += (size_t)k;
    }
    return (ssize_t)got;
}

mc_span mc_read(mc_input *in, uint64_t at, size_t n, mc_arena *a)
{
    if (at >= in->size)
        return (mc_span){ (const uint8_t *)"", 0 };
    if (n > in->size - at)
        n = (size_t)(in->size - at);
    uint8_t *p = mc_alloc(a, n + 1, 1);
    if (!p) {
        in->os_error = ENOMEM;
        in->os_what = "memory budget exhausted";
        return (mc_span){ 0 };
    }
    ssize_t got = read_at(in, at, p, n);
    return got < 0 ? (mc_span){ 0 } : (mc_span){ p, (size_t)got };
}

bool mc_read_prefix(mc_input *in, mc_span *have, uint64_t want, mc_arena *a)
{
    if (want > in->size)
        want = in->size;
    if (have->n >= want)
        return true;
    uint8_t *p = mc_alloc(a, (size_t)want + 1, 1);
    if (!p) {
        in->os_error = ENOMEM;
        in->os_what = "memory budget exhausted";
        return false;
    }
    if (have->n)
        memcpy(p, have->p, have->n);
    ssize_t got = read_at(in, have->n, p + have->n, (size_t)want - have->n);
    if (got < 0)
        return false;
    *have = (mc_span){ p, have->n + (size_t)got };
    if (have->n == want)
        return true;
    in->os_error = EIO;
    in->os_what = "changed while it was read";
    return false;
}

bool mc_changed(mc_input *in)
{
    struct stat st;
    return fstat(in->fd, &st) != 0 || (uint64_t)st.st_size != in->size || mtime_of(&st) != in->mtime_ns;
}

int mc_same_bytes(mc_input *a, uint64_t at_a, mc_input *b, uint64_t at_b, uint64_t n, uint64_t *equal_bytes)
{
    enum { CHUNK = 1 << 18 };
    uint8_t *x = malloc(CHUNK), *y = malloc(CHUNK);
    int      result = x && y ? 1 : -1;
    *equal_bytes = 0;
    while (result == 1 && n > 0) {
        size_t  k = n < CHUNK ? (size_t)n : CHUNK;
        ssize_t p = read_at(a, at_a + *equal_bytes, x, k), q = read_at(b, at_b + *equal_bytes, y, k);
        if (p != (ssize_t)k || q != (ssize_t)k)
            result = -1;
        else if (memcmp(x, y, k) != 0)
            result = 0;
        else
            *equal_bytes += k;
        n -= k;
    }
    free(x);
    free(y);
    return result;
}
