/* `show --tree`: tensor names folded into a tree. Every part of a name that is a number becomes a range, so that 32 layers
 * of nine matrices are nine lines: "layers.0-31". Names are grouped by their pattern, then printed part by part. */
#include "report/report.h"

#include <inttypes.h>
#include <stdlib.h>

enum { MAX_NUMBERS = 6 };

typedef struct {
    mc_str   pattern;               /* "model.layers.#.mlp.up_proj.weight" */
    uint64_t low[MAX_NUMBERS], high[MAX_NUMBERS];
    uint64_t tensors, bytes;
    const mc_tensor *first;
    bool     one_dtype, one_shape;
} fold;

static bool number(mc_str part, uint64_t *out)
{
    return part.n < 10 && mc_str_u64(part, out);
}

/* The pattern of a name and the numbers in it. More than MAX_NUMBERS stay as they are. */
static mc_str pattern_of(mc_arena *a, mc_str name, uint64_t *numbers, size_t *n)
{
    char  *p = mc_alloc(a, name.n + 1, 1);
    size_t len = 0;
    *n = 0;
    for (size_t i = 0; p && i <= name.n;) {
        size_t end = i + mc_str_find(mc_str_cut(name, i, name.n), '.');
        mc_str part = mc_str_cut(name, i, end);
        if (*n < MAX_NUMBERS && number(part, &numbers[*n])) {
            p[len++] = '#';
            ++*n;
        } else {
            for (size_t k = 0; k < part.n; k++)
                p[len++] = part.p[k];
        }
        if (end < name.n)
            p[len++] = '.';
        i = end + 1;
    }
    return (mc_str){ p, len };
}

static void count(fold *f, mc_str pattern, const uint64_t *numbers, size_t n, const mc_tensor *t)
{
    if (f->tensors++ == 0) {
        f->pattern = pattern;
        f->first = t;
        f->one_dtype = f->one_shape = true;
        for (size_t i = 0; i < n; i++)
            f->low[i] = f->high[i] = numbers[i];
    }
    for (size_t i = 0; i < n; i++) {
        f->low[i] = numbers[i] < f->low[i] ? numbers[i] : f->low[i];
        f->high[i] = numbers[i] > f->high[i] ? numbers[i] : f->high[i];
    }
    f->one_dtype &= f->first->dtype == t->dtype;
    f->one_shape &= mc_same_shape(f->first, t);
    if (t->end > t->begin && ckd_add(&f->bytes, f->bytes, t->end - t->begin))
        f->bytes = UINT64_MAX;
}

static int by_pattern(const void *a, const void *b)
{
    return mc_str_cmp(((const fold *)a)->pattern, ((const fold *)b)->pattern);
}

/* All folds of a model, sorted; NULL when out of memory. */
static fold *fold_names(const mc_model *m, mc_arena *a, size_t *n_folds)
{
    mc_strset set;
    fold     *folds = NULL;
    size_t    cap = 0;
    if (!mc_strset_init(&set, a, 64))
        return NULL;
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; m->files[i].in_read_set && k < m->files[i].n_tensors; k++) {
            const mc_tensor *t = &m->files[i].tensors[k];
            uint64_t         numbers[MAX_NUMBERS];
            size_t           n;
            mc_str           pattern = pattern_of(a, t->name, numbers, &n);
            uint32_t         id = mc_strset_add(&set, pattern, NULL);
            if (id == MC_NO_ID || !(folds = mc_grow(a, folds, id, &cap, sizeof *folds)))
                return NULL;
            count(&folds[id], pattern, numbers, n, t);
        }
    *n_folds = set.n;
    if (folds)
        qsort(folds, *n_folds, sizeof *folds, by_pattern);
    return folds;
}

static void put_leaf(mc_out *o, const mc_run_result *run, const fold *f)
{
    const mc_dtype *d = mc_kb_dtype(&run->kb, f->first->dtype);
    mc_put(o, "  ");
    mc_put_text(o, !f->one_dtype ? MC_STR("several dtypes") : d ? d->name : MC_STR("unknown"));
    mc_put(o, "  [");
    for (unsigned n = 0; f->one_shape && n < f->first->rank; n++)
        mc_putf(o, "%s%" PRIu64, n ? ", " : "", f->first->dims[n]);
    mc_put(o, f->one_shape ? "]  " : "several shapes]  ");
    if (f->tensors > 1)
        mc_putf(o, "%" PRIu64 " tensors, ", f->tensors);
    mc_put_size(o, f->bytes);
}

/* Length of the leading parts that two patterns share, up to and with the dot. */
static size_t shared(mc_str a, mc_str b)
{
    size_t n = 0;
    for (size_t i = 0; i < a.n && i < b.n && a.p[i] == b.p[i]; i++)
        if (a.p[i] == '.')
            n = i + 1;
    return n;
}

/* Writes pattern[from, to) with the numbers filled in; *at counts the numbers before `from`. */
static void put_parts(mc_out *o, const fold *f, size_t from, size_t to, size_t *at)
{
    for (size_t i = from; i < to;) {
        size_t end = i + mc_str_find(mc_str_cut(f->pattern, i, to), '.');
        mc_str part = mc_str_cut(f->pattern, i, end);
        if (mc_str_is(part, "#") && *at < MAX_NUMBERS) {
            mc_putf(o, f->low[*at] == f->high[*at] ? "%" PRIu64 : "%" PRIu64 "-%" PRIu64, f->low[*at], f->high[*at]);
            ++*at;
        } else {
            mc_put_text(o, part);
        }
        i = end + 1;
        mc_put(o, i < to ? "." : "");
    }
}

static size_t numbers_before(const fold *f, size_t to)
{
    size_t n = 0;
    for (size_t i = 0; i < to; i++)
        n += f->pattern.p[i] == '#' && (i == 0 || f->pattern.p[i - 1] == '.') && (i + 1 == f->pattern.n || f->pattern.p[i + 1] == '.');
    return n < MAX_NUMBERS ? n : MAX_NUMBERS;
}

/* Where the names that follow fold i leave it: the ends of the nodes that open with it, outermost first. Behind `known`. */
static size_t open_nodes(const fold *folds, size_t n, size_t i, size_t known, size_t *nodes)
{
    size_t s = SIZE_MAX, found = 0;
    for (size_t k = i + 1; k < n; k++) {
        size_t next = shared(folds[k - 1].pattern, folds[k].pattern);
        if (next < s) {
            if (next <= known)
                break;
            nodes[found++] = s = next;
        }
    }
    for (size_t a = 0; a < found / 2; a++) {
        size_t swap = nodes[a];
        nodes[a] = nodes[found - 1 - a];
        nodes[found - 1 - a] = swap;
    }
    return found;
}

void mc_text_tree(mc_out *o, const mc_run_result *run, const mc_model *m, mc_arena *a)
{
    size_t      n = 0, longest = 0, depth = 0;
    const fold *folds = fold_names(m, a, &n);
    for (size_t i = 0; folds && i < n; i++)
        longest = folds[i].pattern.n > longest ? folds[i].pattern.n : longest;
    size_t *open = MC_NEW(a, size_t, longest + 1); /* ends of the nodes that are open */
    for (size_t i = 0; folds && open && i < n; i++) {
        size_t from = i ? shared(folds[i - 1].pattern, folds[i].pattern) : 0, indent;
        while (depth && open[depth - 1] > from)
            depth--;
        indent = depth;
        depth += open_nodes(folds, n, i, from, open + depth);
        size_t at = numbers_before(&folds[i], from);
        for (size_t k = indent; k <= depth; k++) {
            size_t to = k < depth ? open[k] : folds[i].pattern.n;
            mc_putf(o, "%*s", (int)(2 * (k < 40 ? k : 40) + 2), "");
            put_parts(o, &folds[i], from, to, &at);
            if (k == depth)
                put_leaf(o, run, &folds[i]);
            mc_put(o, "\n");
            from = to;
        }
    }
}
