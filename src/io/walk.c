/* Listing a directory tree: types, sizes and where links lead, without opening a single file. */
#include "io/io.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct { dev_t dev; ino_t ino; } identity;

typedef struct {
    mc_arena       *a;
    mc_listing     *out;
    size_t          cap;
    mc_walk_options options;
    mc_str          real_root;      /* resolved, with a trailing '/' */
    mc_str          blobs;          /* of the hub-cache repository that the root is a snapshot of, with a trailing '/', or "" */
    identity       *seen; size_t n_seen, cap_seen; /* directories that were entered: loops of links end here */
    size_t         *todo; size_t n_todo, cap_todo; /* entries that are directories still to be listed */
} walker;

static mc_str resolved_dir(mc_arena *a, const char *path)
{
    char  *real = realpath(path, NULL);
    mc_str s = real ? mc_format(a, "%s/", strcmp(real, "/") == 0 ? "" : real) : MC_STR("");
    free(real);
    return s;
}

/* ".../models--org--name/snapshots/<commit>/": the blobs stand beside "snapshots". */
static mc_str blobs_of(mc_arena *a, mc_str root)
{
    for (size_t i = root.n; i-- > 0;) {
        mc_str tail = mc_str_cut(root, i, root.n);
        if (mc_str_starts(tail, "/snapshots/"))
            return mc_format(a, "%.*s/blobs/", (int)i, root.p);
    }
    return MC_STR("");
}

static bool under(mc_str dir, const char *path)
{
    return dir.n > 0 && strncmp(path, dir.p, dir.n) == 0;
}

/* Where a link leads. `full` is its path for the system. */
static mc_symlink link_kind(walker *w, const char *full, int *os_error)
{
    char *real = realpath(full, NULL);
    if (!real) {
        *os_error = errno;
        return errno == ENOENT || errno == ELOOP || errno == ENOTDIR ? MC_SYM_DANGLING : MC_SYM_OUTSIDE;
    }
    mc_symlink kind = under(w->real_root, real) ? MC_SYM_INSIDE : under(w->blobs, real) ? MC_SYM_CACHE : w->options.follow_links ? MC_SYM_FOLLOWED : MC_SYM_OUTSIDE;
    free(real);
    return kind;
}

static mc_str link_text(mc_arena *a, const char *full)
{
    char    text[4096];
    ssize_t n = readlink(full, text, sizeof text);
    return n < 0 ? MC_STR("") : mc_str_copy(a, (mc_str){ text, (size_t)n });
}

static void describe(mc_entry *e, const struct stat *st)
{
    e->type = S_ISREG(st->st_mode) ? MC_ENTRY_FILE : S_ISDIR(st->st_mode) ? MC_ENTRY_DIR : MC_ENTRY_SPECIAL;
    if (e->type == MC_ENTRY_SPECIAL) {
        e->os_error = ENXIO;
        e->os_what = S_ISFIFO(st->st_mode) ? "is a named pipe" : S_ISSOCK(st->st_mode) ? "is a socket" : "is a device";
    }
    e->size = e->type == MC_ENTRY_FILE && st->st_size > 0 ? (uint64_t)st->st_size : 0;
    e->mtime_ns = (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static void fail(mc_entry *e, int error, const char *what)
{
    e->type = MC_ENTRY_ERROR;
    e->os_error = error;
    e->os_what = what;
}

static void inspect(walker *w, mc_entry *e, const char *full)
{
    struct stat st;
    if (lstat(full, &st) != 0) {
        fail(e, errno, "cannot stat");
        return;
    }
    if (S_ISLNK(st.st_mode)) {
        e->target = link_text(w->a, full);
        e->link = link_kind(w, full, &e->os_error);
        if (e->link == MC_SYM_DANGLING || e->link == MC_SYM_OUTSIDE || stat(full, &st) != 0) {
            e->type = MC_ENTRY_FILE;
            return;
        }
    }
    describe(e, &st);
}

static bool enter(walker *w, const char *full)
{
    struct stat st;
    if (stat(full, &st) != 0)
        return true; /* opendir will say why */
    for (size_t i = 0; i < w->n_seen; i++)
        if (w->seen[i].dev == st.st_dev && w->seen[i].ino == st.st_ino)
            return false;
    identity *v = mc_grow(w->a, w->seen, w->n_seen, &w->cap_seen, sizeof *v);
    if (!v)
        return false;
    w->seen = v;
    v[w->n_seen++] = (identity){ st.st_dev, st.st_ino };
    return true;
}

static bool want_dir(walker *w, const mc_entry *e)
{
    size_t depth = 1;
    for (size_t i = 0; i < e->path.n; i++)
        depth += e->path.p[i] == '/';
    if (depth <= MC_MAX_DEPTH)
        return true;
    w->out->too_deep = true;
    return false;
}

static bool add(walker *w, mc_str dir, const char *name)
{
    mc_listing *out = w->out;
    if (out->n == MC_MAX_ENTRIES) {
        out->too_many = true;
        return false;
    }
    mc_entry *v = mc_grow(w->a, out->entries, out->n, &w->cap, sizeof *v);
    if (!v)
        return false;
    out->entries = v;
    mc_entry *e = &v[out->n];
    *e = (mc_entry){ .path = mc_format(w->a, "%.*s%s", (int)dir.n, dir.p, name), .target = MC_STR("") };
    mc_str full = mc_format(w->a, "%s/%s", out->root.p, e->path.p);
    inspect(w, e, full.p);
    out->n++;
    if (e->type == MC_ENTRY_DIR && want_dir(w, e)) {
        size_t *t = mc_grow(w->a, w->todo, w->n_todo, &w->cap_todo, sizeof *t);
        if (!t)
            return false;
        w->todo = t;
        t[w->n_todo++] = out->n - 1;
    }
    return true;
}

/* Lists one directory; 0, or errno when it cannot be opened or read. */
static int list(walker *w, mc_str dir)
{
    mc_str full = mc_format(w->a, "%s/%.*s", w->out->root.p, (int)dir.n, dir.p);
    if (!enter(w, full.p))
        return 0;
    DIR *d = opendir(full.p);
    if (!d)
        return errno;
    struct dirent *e;
    for (errno = 0; (e = readdir(d)); errno = 0)
        if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0 && strcmp(e->d_name, ".git") != 0 && !add(w, dir, e->d_name))
            break;
    int error = e ? 0 : errno;
    closedir(d);
    return error;
}

static int by_path(const void *a, const void *b)
{
    return mc_str_cmp(((const mc_entry *)a)->path, ((const mc_entry *)b)->path);
}

mc_err mc_walk(const char *root, mc_walk_options options, mc_arena *a, mc_listing *out, int *os_error)
{
    mc_str given = mc_str_of(root);
    while (given.n > 1 && given.p[given.n - 1] == '/')
        given.n--;
    *out = (mc_listing){ .root = mc_str_copy(a, given) };
    walker w = { .a = a, .out = out, .options = options, .real_root = resolved_dir(a, out->root.p) };
    w.blobs = blobs_of(a, w.real_root);
    *os_error = list(&w, MC_STR(""));
    if (*os_error)
        return (mc_err){ MC_E_IO, 0, "cannot list the directory" };
    while (w.n_todo > 0 && !options.shallow && !out->too_many && !a->failed) {
        size_t i = w.todo[--w.n_todo];
        int    error = list(&w, mc_format(a, "%s/", out->entries[i].path.p));
        if (error) {
            out->entries[i].os_error = error;
            out->entries[i].os_what = "cannot list the directory";
        }
    }
    if (out->n)
        qsort(out->entries, out->n, sizeof *out->entries, by_path);
    return a->failed ? (mc_err){ MC_E_NOMEM, 0, "memory budget exhausted" } : MC_NO_ERR;
}
