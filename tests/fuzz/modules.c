/* Modules from any table of tensors: every tensor is part of one module at most, and what is known is consistent. */
#include <math.h>

#include "formats/formats.h"
#include "fuzz/fuzz.h"
#include "model/quant.h"
#include "scan/modules.h"

static mc_span whole; /* small reads are answered from the input itself */

static void read_small(void *arg, mc_small *v, size_t n)
{
    (void)arg;
    for (size_t i = 0; i < n; i++)
        if (v[i].t->begin < whole.n && whole.n - v[i].t->begin >= v[i].want)
            v[i].got = (mc_span){ whole.p + v[i].t->begin, v[i].want };
}

static bool stock(mc_arena *a, mc_file *f, mc_inventory *inv)
{
    if (!mc_strset_init(&inv->names, a, f->n_tensors) || !mc_strset_init(&inv->form_names, a, 16) || !(inv->first = MC_NEW(a, mc_tensor *, f->n_tensors)))
        return false;
    for (size_t i = 0; i < f->n_tensors; i++) {
        bool     added;
        uint32_t id = mc_strset_add(&inv->names, f->tensors[i].name, &added);
        if (!added)
            continue;
        inv->first[id] = &f->tensors[i];
        if (!mc_form_add(inv, &f->tensors[i]))
            return false;
    }
    return true;
}

static void check(const mc_quant *q, mc_strset *parts)
{
    size_t packed = 0;
    for (size_t i = 0; i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        uint64_t         n;
        MUST(m->parts[MC_PART_WEIGHT] && m->layout < MC_N_LAYOUTS && m->cls < MC_N_CLASSES);
        MUST(isfinite(m->bits) && m->bits >= 0);
        MUST(m->elements_known || m->elements == 0);
        if (m->elements_known && m->elements && m->in && m->out && m->layout != MC_Q_QUANTO && m->layout != MC_Q_TORCHAO && m->layout != MC_Q_SPQR && m->layout != MC_Q_BNB4 && m->layout != MC_Q_PLAIN)
            MUST(!ckd_mul(&n, m->in, m->out) && !ckd_mul(&n, n, m->experts) && n == m->elements);
        packed += m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8;
        for (size_t k = 0; k < MC_N_PARTS; k++) {
            bool added = true;
            MUST(!m->parts[k] || (mc_strset_add(parts, m->parts[k]->name, &added) != MC_NO_ID && added));
        }
    }
    MUST(packed == q->n_packed);
    for (size_t i = 0; i < q->n_orphans; i++)
        MUST(mc_strset_find(parts, q->orphans[i]->name) == MC_NO_ID);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_arena     a;
    mc_kb        kb;
    mc_strset    parts;
    mc_set       set = { .stem = MC_STR("model") };
    mc_file      f = { .size = n, .path = MC_STR("model.safetensors"), .base = MC_STR("model.safetensors") };
    mc_component k = { .index = MC_NONE };
    mc_arena_init(&a, (size_t)64 << 20);
    MUST(mc_kb_init(&kb).code == MC_OK);
    whole = (mc_span){ bytes, n };
    mc_model m = { .arena = &a, .files = &f, .n_files = 1, .components = &k, .n_components = 1, .sets = &set, .n_sets = 1 };
    for (size_t i = 0; i < MC_N_ROLES; i++)
        k.docs[i] = MC_NONE;
    m.arch.layers = m.arch.vocab = m.arch.hidden = (mc_int){ .known = true, .v = 256 };
    if (mc_parse_safetensors(whole, n, &kb, &a, 0, &f).code == MC_OK && f.st->fault == MC_ST_SOUND && stock(&a, &f, &k.inv) && mc_strset_init(&parts, &a, f.n_tensors)) {
        k.inv.complete = true;
        mc_infer(&m, &kb);
        mc_find_modules(&m, &kb, read_small, NULL);
        mc_sum_modules(&m, &kb);
        if (m.quant)
            check(m.quant, &parts);
    }
    mc_kb_free(&kb);
    mc_arena_free(&a);
    return 0;
}
