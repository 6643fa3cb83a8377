/* Small reads: the few bytes of data that shapes do not tell. Sorted by file and place, so that each file is opened once and
 * neighbours (weight_shape tensors stand together) are one read. What cannot be read stays unknown. */
#include "scan/internal.h"
#include "scan/modules.h"

#include <stdlib.h>

enum { GAP = 256, CHUNK = 1 << 16 };

static int by_place(const void *a, const void *b)
{
    const mc_small *x = *(mc_small *const *)a, *y = *(mc_small *const *)b;
    if (x->t->file != y->t->file)
        return x->t->file < y->t->file ? -1 : 1;
    return x->t->begin < y->t->begin ? -1 : x->t->begin > y->t->begin;
}

static bool inside(const mc_file *f, const mc_small *s)
{
    uint64_t end;
    return s->t->begin <= s->t->end && !ckd_add(&end, f->data_start, s->t->begin) && !ckd_add(&end, end, s->want) && end <= f->size;
}

/* Reads v[0..n), which lie close together, at once. False: the file cannot be read. */
static bool read_run(mc_loader *l, const mc_file *f, mc_input *in, mc_small **v, size_t n)
{
    uint64_t from = v[0]->t->begin, to = from;
    for (size_t i = 0; i < n; i++)
        if (v[i]->t->begin + v[i]->want > to)
            to = v[i]->t->begin + v[i]->want;
    mc_span d = mc_read(in, f->data_start + from, (size_t)(to - from), l->arena);
    if (!d.p)
        return false;
    l->bytes_read += d.n;
    for (size_t i = 0; i < n; i++) {
        uint64_t at = v[i]->t->begin - from;
        if (at + v[i]->want <= d.n)
            v[i]->got = (mc_span){ d.p + at, v[i]->want };
    }
    return true;
}

static void read_file(mc_loader *l, mc_small **v, size_t n)
{
    mc_file *f = &l->b->m->files[v[0]->t->file];
    if (!mc_readable(f) || f->limit)
        return;
    mc_input in = mc_load_open(l, f);
    bool     going = in.fd >= 0;
    for (size_t i = 0; going && i < n;) {
        size_t k = i + 1;
        if (!inside(f, v[i])) {
            i++;
            continue;
        }
        while (k < n && inside(f, v[k]) && v[k]->t->begin <= v[k - 1]->t->begin + v[k - 1]->want + GAP && v[k]->t->begin + v[k]->want <= v[i]->t->begin + CHUNK)
            k++;
        going = read_run(l, f, &in, v + i, k - i);
        i = k;
    }
    mc_close(&in);
}

void mc_read_small(void *builder, mc_small *s, size_t n)
{
    mc_builder *b = builder;
    mc_loader   l = { b, b->m->arena, 0 };
    mc_small  **v = MC_NEW(b->m->arena, mc_small *, n);
    if (!v)
        return;
    for (size_t i = 0; i < n; i++)
        v[i] = &s[i];
    qsort(v, n, sizeof(mc_small *), by_place);
    for (size_t i = 0, k; i < n; i = k) {
        for (k = i; k < n && v[k]->t->file == v[i]->t->file; k++)
            continue;
        read_file(&l, v + i, k - i);
    }
    b->m->bytes_read += l.bytes_read;
}
