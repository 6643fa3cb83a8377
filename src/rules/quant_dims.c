/* MC433, MC434: packed dimensions that are not the model's, for a reason that can be named. Also asked by the stricter rules. */
#include "rules/quant_rules.h"

#include <string.h>

/* Modules of a plain decoder layer whose logical dimensions the configuration states. */
enum { HIDDEN = 1, INTERMEDIATE = 2 };
typedef struct { const char *path; uint8_t in, out; } linear;
static const linear linears[] = {
    { "self_attn.q_proj", HIDDEN, 0 },    { "self_attn.k_proj", HIDDEN, 0 },         { "self_attn.v_proj", HIDDEN, 0 }, { "self_attn.o_proj", 0, HIDDEN },
    { "mlp.gate_proj", HIDDEN, INTERMEDIATE }, { "mlp.up_proj", HIDDEN, INTERMEDIATE }, { "mlp.down_proj", INTERMEDIATE, HIDDEN },
};

/* The row of "model.layers.3.mlp.up_proj": what follows the number of the layer is just this path. */
static const linear *linear_of(const mc_module *m)
{
    if (m->layer == MC_NONE || (m->cls != MC_CLS_ATTENTION && m->cls != MC_CLS_MLP))
        return NULL;
    for (size_t i = 0; i < MC_COUNT(linears); i++) {
        size_t n = strlen(linears[i].path);
        if (mc_str_ends(m->name, linears[i].path) && m->name.n > n + 2 && m->name.p[m->name.n - n - 1] == '.' && m->name.p[m->name.n - n - 2] >= '0' &&
            m->name.p[m->name.n - n - 2] <= '9')
            return &linears[i];
    }
    return NULL;
}

static uint64_t rounded_up(uint64_t have, uint64_t want)
{
    static const uint64_t multiples[] = { 64, 128, 256, 1024 };
    for (size_t i = 0; i < MC_COUNT(multiples); i++)
        if (have > want && have - want < multiples[i] && have % multiples[i] == 0)
            return multiples[i];
    return 0;
}

static uint64_t dimension(const mc_arch *a, unsigned which, const char **key)
{
    const mc_int *v = which == HIDDEN ? &a->hidden : &a->intermediate;
    *key = which == HIDDEN ? "hidden_size" : "intermediate_size";
    return which && v->known && v->v > 0 ? (uint64_t)v->v : 0;
}

bool mc_quant_padded(const mc_check *cx, const mc_module *m, const char **key, uint64_t *have, uint64_t *want, uint64_t *multiple)
{
    const mc_arch *a = &cx->model->arch;
    const linear  *l = mc_module_packed(m) && m->in && m->out ? linear_of(m) : NULL;
    for (size_t i = 0; l && i < 2; i++) {
        const char *name;
        uint64_t    dim = dimension(a, i ? l->out : l->in, &name), shown = i ? m->out : m->in, times = dim ? rounded_up(shown, dim) : 0;
        if (!times || (i == 0 && mc_str_is(m->in_witness, "hidden_size")))
            continue;
        if (key)
            *key = name;
        if (have)
            *have = shown;
        if (want)
            *want = dim;
        if (multiple)
            *multiple = times;
        return true;
    }
    return false;
}

/* ---- MC433 ---- */

static mc_finding *tell_padded(mc_check *cx, const mc_hit *v, size_t n)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_module      *m = f ? mc_quant_of(f, v) : NULL;
    const mc_arch        *a = &cx->model->arch;
    uint64_t              multiple = 0;
    if (m)
        (void)mc_quant_padded(cx, m, NULL, NULL, NULL, &multiple);
    mc_finding *out = mc_report(cx, v->file, "%.*s has %llu %s instead of %llu (padded to a multiple of %llu)%s", MC_FMT(v->name), (unsigned long long)v->a,
                                m && m->in == v->a ? "inputs" : "outputs", (unsigned long long)v->b, (unsigned long long)multiple, n == 1 ? "" : ", and others alike");
    mc_because(cx, out, v->what, mc_str_is(mc_str_of(v->what), "hidden_size") ? a->hidden.from : a->intermediate.from, "%llu", (unsigned long long)v->b);
    mc_fix(cx, out, "Export without padding, or set %s to %llu", v->what, (unsigned long long)v->a);
    return out;
}

static bool pads_outputs(const mc_quant_facts *f)
{
    return f->claim && f->claim->packing.known && (mc_str_is(f->claim->packing.v, "auto_round:auto_gptq") || mc_str_is(f->claim->packing.v, "auto_round:gptq"));
}

/* A multiple of the largest unit is never rounded up. */
static bool may_be_padded(const mc_int *v)
{
    return v->known && v->v % 1024 != 0;
}

void mc_check_padded(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    const mc_doc         *config = mc_model_doc(cx->model, 0, MC_ROLE_CONFIG);
    bool                  may = may_be_padded(&cx->model->arch.hidden) || may_be_padded(&cx->model->arch.intermediate);
    for (size_t i = 0; f && config && may && f->component == 0 && f->q->n_packed && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        const char      *key;
        uint64_t         have, want;
        if (m->component == 0 && mc_quant_padded(cx, m, &key, &have, &want, NULL) && !(m->out == have && pads_outputs(f)))
            mc_hit_add(cx, tell_padded, mc_quant_hit(f, m, config->file, key, have, want));
    }
}

/* ---- MC434 ---- */

bool mc_quant_turned(const mc_module *m)
{
    return m->transposed && (m->layout == MC_Q_NVFP4 || m->layout == MC_Q_MXFP4);
}

void mc_check_packed_transposed(mc_check *cx)
{
    const mc_quant_facts *f = mc_quant_gather(cx);
    for (size_t i = 0; f && f->turned && i < f->q->n_modules; i++) {
        const mc_module *m = &f->q->modules[i];
        const mc_tensor *w = m->parts[MC_PART_WEIGHT];
        if (!mc_quant_turned(m) || !w || w->rank != 2)
            continue;
        mc_finding *out = mc_report(cx, w->file, "%.*s is %.*s, expected is [%llu, %llu]: packed along the wrong axis", MC_FMT(w->name), MC_FMT(mc_shape_text(cx->arena, w)),
                                    (unsigned long long)m->out, (unsigned long long)m->in / 2);
        mc_subject(out, m->name);
    }
}
