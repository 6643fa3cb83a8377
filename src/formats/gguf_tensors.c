/* The tensor table of a GGUF, and what type an id means: upstream and forks of llama.cpp have given some ids to two types,
 * and only the offsets tell which one the writer meant. */
#include "formats/gguf.h"

enum { MIN_INFO = 24, MAX_NAME = 63, MAX_RANK = 4 };

/* Elements of the tensor. The reference refuses INT64_MAX and more, but lets products pass that wrap around to less. */
static bool count_elements(mc_tensor *t)
{
    uint64_t n = 1;
    for (unsigned i = 0; i < t->rank; i++)
        if (t->dims[i] == 0)
            return true; /* no elements, however long the other sides */
    for (unsigned i = 0; i < t->rank; i++)
        if (ckd_mul(&n, n, t->dims[i]) || n >= INT64_MAX)
            return false;
    t->elements = n;
    return true;
}

static bool read_dims(mc_gguf_walk *w, mc_tensor *t)
{
    uint64_t  at = w->r.pos;
    uint32_t  rank = mc_rd_u32(&w->r);
    uint64_t *dims = NULL;
    if (w->r.err.code == MC_OK && rank > MAX_RANK)
        return mc_gguf_fail(w, MC_GGUF_INVALID, at, "a tensor of more than 4 dimensions", t->name);
    if (rank && !(dims = MC_NEW(w->a, uint64_t, rank)))
        return mc_gguf_fail(w, MC_GGUF_LIMIT, at, "the memory budget is used up", t->name);
    for (unsigned i = 0; i < rank; i++)
        dims[i] = mc_rd_u64(&w->r);
    t->rank = (uint8_t)rank;
    t->dims = dims;
    if (w->r.err.code != MC_OK)
        return mc_gguf_fail(w, MC_GGUF_DAMAGED, w->r.err.at, "the tensor table", t->name);
    for (unsigned i = 0; i < rank; i++)
        if (dims[i] > INT64_MAX)
            return mc_gguf_fail(w, MC_GGUF_INVALID, at, "a tensor with a negative dimension", t->name);
    return count_elements(t) || mc_gguf_fail(w, MC_GGUF_INVALID, at, "a tensor of 2^63 elements or more", t->name);
}

static bool read_tensor(mc_gguf_walk *w, mc_tensor *t, uint32_t *type_id)
{
    uint64_t at = w->r.pos;
    if (!mc_gguf_string(w, &t->name, "a tensor name", MC_STR("")))
        return false;
    t->hash = mc_str_hash(t->name);
    if (t->name.n > MAX_NAME)
        return mc_gguf_fail(w, MC_GGUF_INVALID, at, "a tensor name of 64 bytes or more", t->name);
    if (!read_dims(w, t))
        return false;
    *type_id = mc_rd_u32(&w->r);
    t->begin = t->end = mc_rd_u64(&w->r);
    t->dtype = MC_DTYPE_UNKNOWN;
    return w->r.err.code == MC_OK || mc_gguf_fail(w, MC_GGUF_DAMAGED, w->r.err.at, "the tensor table", t->name);
}

bool mc_gguf_tensors(mc_gguf_walk *w, uint32_t id, mc_file *f)
{
    mc_gguf *g = w->g;
    uint64_t table;
    g->tensors_at = w->r.pos;
    if (ckd_mul(&table, g->n_tensors, (uint64_t)MIN_INFO) || table > w->r.file_size - w->r.pos)
        return mc_gguf_fail(w, MC_GGUF_DAMAGED, w->r.pos, "the tensor table", MC_STR(""));
    w->guess = w->r.pos + table * 3;
    if (table > w->r.len - w->r.pos) { /* within the file, beyond the prefix: no memory for it yet */
        (void)mc_rd_bytes(&w->r, table);
        return false;
    }
    if (g->n_tensors) {
        f->tensors = MC_NEW(w->a, mc_tensor, (size_t)g->n_tensors);
        g->type_ids = MC_NEW(w->a, uint32_t, (size_t)g->n_tensors);
        if (!f->tensors || !g->type_ids)
            return mc_gguf_fail(w, MC_GGUF_LIMIT, w->r.pos, "the memory budget is used up", MC_STR(""));
    }
    for (uint64_t i = 0; i < g->n_tensors; i++) {
        f->tensors[i].file = id;
        if (!read_tensor(w, &f->tensors[i], &g->type_ids[i]))
            return false;
        f->n_tensors++;
    }
    f->data_start = g->n_tensors ? mc_gguf_pad(w->r.pos, g->alignment) : w->r.pos;
    if (f->data_start > w->r.file_size)
        return mc_gguf_fail(w, MC_GGUF_DAMAGED, w->r.pos, "the padding before the tensor data", MC_STR(""));
    return true;
}

/* ---- types ---- */

/* False: no size is known, or rows do not divide into blocks. A size beyond 64 bits is UINT64_MAX: no file holds it. */
static bool size_of(const mc_dtype *d, const mc_tensor *t, uint64_t *bytes)
{
    uint64_t row = t->rank ? t->dims[0] : 1;
    if (!d || d->block_bits == 0 || row % d->block != 0)
        return false;
    if (mc_dtype_bytes(d, t->elements, row, bytes))
        return true;
    *bytes = UINT64_MAX;
    return t->elements / d->block > UINT64_MAX / d->block_bits;
}

/* How well one meaning of a shared id fits: tensors of that id whose successor begins where they would end. */
static size_t successors(const mc_gguf *g, const mc_file *f, uint32_t type_id, const mc_dtype *d, size_t *fit)
{
    size_t total = 0;
    *fit = 0;
    for (size_t i = 0; i + 1 < f->n_tensors; i++) {
        const mc_tensor *t = &f->tensors[i];
        uint64_t         n, end;
        if (g->type_ids[i] != type_id || t->elements == 0)
            continue;
        total++;
        if (size_of(d, t, &n) && !ckd_add(&end, t->begin, mc_gguf_pad(n, g->alignment)) && end == t[1].begin)
            ++*fit;
    }
    return total;
}

/* Only the last tensor has that id: 2 when it would end at the end of the file (with or without padding), 1 when before it. */
static int fits_end(const mc_gguf *g, const mc_file *f, uint64_t file_size, const mc_dtype *d)
{
    const mc_tensor *t = &f->tensors[f->n_tensors - 1];
    uint64_t         n, end;
    if (!size_of(d, t, &n) || ckd_add(&end, f->data_start, t->begin) || ckd_add(&end, end, n) || end > file_size)
        return 0;
    return file_size - end < g->alignment ? 2 : 1;
}

static uint16_t decide(const mc_gguf_walk *w, const mc_file *f, uint32_t type_id)
{
    uint16_t best = MC_DTYPE_UNKNOWN, c;
    size_t   most = 0;
    for (unsigned nth = 0; (c = mc_kb_ggml_dtype(w->kb, type_id, nth)) != UINT16_MAX; nth++) {
        const mc_dtype *d = mc_kb_dtype(w->kb, c);
        size_t          fit, total = successors(w->g, f, type_id, d, &fit);
        if (total == 0 && w->g->type_ids[f->n_tensors - 1] != type_id) {
            fit = !d->foreign; /* all of them are empty */
        } else if (total == 0) {
            int end = fits_end(w->g, f, w->r.file_size, d);
            fit = end == 2 || (end == 1 && !d->foreign) ? (size_t)end : 0;
        } else if (fit * 2 < total) {
            fit = 0; /* a single match among many is chance */
        }
        if (fit > most) {
            most = fit;
            best = c;
        }
    }
    return best;
}

/* The types of one file by id: few distinct ids, each decided once. */
typedef struct { uint32_t id[64]; uint16_t dtype[64]; size_t n; } meanings;

static uint16_t meaning(meanings *m, const mc_gguf_walk *w, const mc_file *f, uint32_t type_id)
{
    for (size_t i = 0; i < m->n; i++)
        if (m->id[i] == type_id)
            return m->dtype[i];
    uint16_t first = mc_kb_ggml_dtype(w->kb, type_id, 0);
    if (mc_kb_ggml_dtype(w->kb, type_id, 1) != UINT16_MAX)
        first = decide(w, f, type_id);
    if (m->n < MC_COUNT(m->id)) {
        m->id[m->n] = type_id;
        m->dtype[m->n++] = first;
    }
    return first;
}

void mc_gguf_sizes(mc_gguf_walk *w, mc_file *f)
{
    meanings known = { .n = 0 };
    w->g->sizes_known = w->g->fault == MC_GGUF_SOUND;
    w->g->data_end = f->data_start;
    for (size_t i = 0; i < f->n_tensors; i++) {
        mc_tensor *t = &f->tensors[i];
        uint64_t   n, end;
        t->dtype = meaning(&known, w, f, w->g->type_ids[i]);
        if (!size_of(mc_kb_dtype(w->kb, t->dtype), t, &n)) {
            w->g->sizes_known = false;
            continue;
        }
        if (ckd_add(&t->end, t->begin, n))
            t->end = UINT64_MAX;
        if (ckd_add(&end, f->data_start, t->end))
            end = UINT64_MAX;
        if (end > w->g->data_end)
            w->g->data_end = end;
    }
}
