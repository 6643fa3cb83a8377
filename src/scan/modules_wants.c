/* Which small reads the layouts want: first words of zero points, group indexes, shapes and states. A model of tens of thousands
 * of modules gets a sample where one module is like the other. */
#include "scan/modules.h"

/* What a layout wants to see of a part. */
static const struct { mc_layout layout; mc_part part; uint32_t n; } wanted[] = {
    { MC_Q_GPTQ, MC_PART_ZERO, 4 }, { MC_Q_GPTQ, MC_PART_INDEX, 4096 }, { MC_Q_AWQ, MC_PART_ZERO, 4 }, { MC_Q_BNB4, MC_PART_STATE, 4096 },
    { MC_Q_CT_PACK, MC_PART_SHAPE, 16 }, { MC_Q_HQQ, MC_PART_SHAPE, 16 }, { MC_Q_HQQ, MC_PART_STATE, 8 }, { MC_Q_EXL2, MC_PART_STATE, 4096 },
    { MC_Q_INT8, MC_PART_ZERO, 64 }, { MC_Q_TORCHAO, MC_PART_ZERO, 64 }, { MC_Q_QUARK_INT4, MC_PART_ZERO, 4 },
};

bool mc_want_data(mc_wants *w, mc_arena *a, const mc_module *q, uint32_t id)
{
    static const uint64_t some = UINT64_C(1) << MC_Q_GPTQ | UINT64_C(1) << MC_Q_AWQ | UINT64_C(1) << MC_Q_BNB4 | UINT64_C(1) << MC_Q_CT_PACK | UINT64_C(1) << MC_Q_HQQ
                               | UINT64_C(1) << MC_Q_EXL2 | UINT64_C(1) << MC_Q_INT8 | UINT64_C(1) << MC_Q_TORCHAO | UINT64_C(1) << MC_Q_QUARK_INT4;
    size_t before = w->n;
    for (size_t i = 0; (some >> q->layout & 1) && i < MC_COUNT(wanted); i++) {
        const mc_tensor *t = wanted[i].layout == q->layout ? q->parts[wanted[i].part] : NULL;
        mc_small        *v = t && mc_tensor_bytes(t) > 0 ? mc_grow(a, w->v, w->n, &w->cap, sizeof *v) : NULL;
        if (!v)
            continue;
        w->v = v;
        v[w->n++] = (mc_small){ .t = t, .module = id, .part = wanted[i].part, .want = mc_tensor_bytes(t) < wanted[i].n ? (uint32_t)mc_tensor_bytes(t) : wanted[i].n };
    }
    return w->n > before;
}

/* Facts that are the same for all modules of a writer: a sample of them is enough in a model of tens of thousands. */
static bool can_sample(mc_layout l)
{
    return l == MC_Q_GPTQ || l == MC_Q_AWQ || l == MC_Q_INT8 || l == MC_Q_TORCHAO || l == MC_Q_QUARK_INT4;
}

enum { SAMPLES = 4096 };

size_t mc_next_module(const mc_wants *w, size_t i)
{
    size_t k = i;
    while (k < w->n && w->v[k].module == w->v[i].module)
        k++;
    return k;
}

void mc_thin_out(const mc_pack *p, mc_quant *q, mc_wants *w)
{
    size_t kept = 0, samples = 0, seen = 0;
    for (size_t i = 0; i < w->n; i = mc_next_module(w, i))
        samples += can_sample(q->modules[w->v[i].module].layout);
    for (size_t i = 0, k; i < w->n; i = k) {
        mc_module *m = &q->modules[w->v[i].module];
        k = mc_next_module(w, i);
        if (can_sample(m->layout) && seen++ % (samples / SAMPLES + 1) != 0) {
            mc_pack own = *p;
            own.inv = &p->m->components[m->component].inv;
            mc_fill_module(&own, m, NULL, 0);
            continue;
        }
        for (size_t j = i; j < k; j++)
            w->v[kept++] = w->v[j];
    }
    w->n = kept;
}
