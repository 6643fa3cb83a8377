#include "io/io.h"

#include <limits.h>
#include <string.h>
#include <sys/stat.h>

bool mc_exists(mc_str root, mc_str path)
{
    char        text[PATH_MAX];
    struct stat st;
    bool        absolute = path.n && path.p[0] == '/';
    size_t      n = absolute || root.n == 0 ? 0 : root.n + 1;
    if (path.n == 0 || n + path.n >= sizeof text || (path.n && memchr(path.p, 0, path.n)))
        return false;
    if (n) {
        memcpy(text, root.p, root.n);
        text[root.n] = '/';
    }
    memcpy(text + n, path.p, path.n);
    text[n + path.n] = 0;
    return stat(text, &st) == 0;
}
