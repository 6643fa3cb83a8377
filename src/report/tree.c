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

static bool same_shape(const mc_tensor *a, const mc_tensor *b)
{
    for (unsigned i = 0; a->rank == b->rank && i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return a->rank == b->rank;
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
    f->one_shape &= same_shape(f->first, t);
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

static void put_fold(mc_out *o, const mc_run_result *run, const fold *f, size_t known)
{
    size_t number_at = 0, depth = 1;
    for (size_t i = 0; i <= f->pattern.n;) {
        size_t end = i + mc_str_find(mc_str_cut(f->pattern, i, f->pattern.n), '.');
        mc_str part = mc_str_cut(f->pattern, i, end);
        bool   range = mc_str_is(part, "#") && number_at < MAX_NUMBERS;
        if (i >= known) {
            for (size_t k = 0; k < depth; k++)
                mc_put(o, "  ");
            if (!range)
                mc_put_text(o, part);
            else if (f->low[number_at] == f->high[number_at])
                mc_putf(o, "%" PRIu64, f->low[number_at]);
            else
                mc_putf(o, "%" PRIu64 "-%" PRIu64, f->low[number_at], f->high[number_at]);
            if (end >= f->pattern.n)
                put_leaf(o, run, f);
            mc_put(o, "\n");
        }
        number_at += range;
        depth++;
        i = end + 1;
    }
}

void mc_text_tree(mc_out *o, const mc_run_result *run, const mc_model *m, mc_arena *a)
{
    size_t      n = 0;
    const fold *folds = fold_names(m, a, &n);
    for (size_t i = 0; folds && i < n; i++)
        put_fold(o, run, &folds[i], i ? shared(folds[i - 1].pattern, folds[i].pattern) : 0);
}
