/* MC503 and MC504: layers, projections, experts and embeddings against what the configuration counts. */
#include "rules/size.h"

/* ---- MC503 ---- */

/* Names a few of what is missing under one finding about the model, and counts the rest. */
typedef struct { mc_check *cx; mc_finding *out; size_t n; } missing;

static void miss(missing *w, mc_str name)
{
    if (!w->out)
        w->out = mc_report(w->cx, MC_NONE, "-");
    mc_subject(w->out, name);
    w->n++;
}

static bool judged_kind(const mc_model *m)
{
    static const mc_kind not_judged[] = { MC_KIND_ADAPTER, MC_KIND_PROJECTOR, MC_KIND_VOCAB, MC_KIND_IMATRIX, MC_KIND_DRAFT, MC_KIND_STATIC_EMBEDDING, MC_KIND_DIFFUSERS };
    for (size_t i = 0; i < MC_COUNT(not_judged); i++)
        if (m->kind == not_judged[i])
            return false;
    return true;
}

/* (a) A decoder without an input embedding. A tied head may stand for it. */
static void miss_embedding(missing *w, const mc_size_facts *f)
{
    const mc_model *m = w->cx->model;
    const mc_arch  *a = &m->arch;
    bool            tied = f->head && !(a->tie.known && !a->tie.v);
    if (m->kind != MC_KIND_CAUSAL_LM && m->kind != MC_KIND_VISION_LANGUAGE)
        return;
    if (a->vocab.known && a->vocab.v > 0 && f->decoder != MC_NONE && f->n_decoder >= 2 && !f->embedding && !tied)
        miss(w, MC_STR("the input embedding"));
}

/* (b) One layer of a plain decoder. */
static void miss_modules(missing *w, const mc_layer *l)
{
    static const struct { unsigned has; const char *name; } parts[] = {
        { MC_HAS_NORM, "norm" }, { MC_HAS_Q, "q_proj" }, { MC_HAS_K, "k_proj" }, { MC_HAS_V, "v_proj" }, { MC_HAS_O, "o_proj" }, { MC_HAS_UP, "up_proj" }, { MC_HAS_DOWN, "down_proj" },
    };
    for (size_t i = 0; i < MC_COUNT(parts); i++)
        if (!(l->has & parts[i].has))
            miss(w, mc_format(w->cx->arena, "%.*s%s", MC_FMT(l->prefix), parts[i].name));
}

/* Layers 0..count-1 that are stored nowhere. The walk ends when as many were seen as are stored, or named as are shown. */
static void miss_layers(missing *w, const mc_size_facts *f, uint64_t count)
{
    mc_str   prefix = f->stacks[f->decoder].prefix;
    uint64_t stored = 0;
    for (size_t i = 0; i < f->n_layers; i++)
        stored += f->layers[i].stack == f->decoder && f->layers[i].index < count;
    uint64_t absent = stored < count ? count - stored : 0;
    size_t   named = 0;
    for (uint64_t i = 0; i < count && named < MC_SAMPLES && named < absent; i++) {
        mc_str name = mc_format(w->cx->arena, "%.*s%llu.", MC_FMT(prefix), (unsigned long long)i);
        if (mc_strset_find(&f->layer_ids, name) == MC_NO_ID) {
            miss(w, mc_str_cut(name, 0, name.n - 1));
            named++;
        }
    }
    w->n += (size_t)(absent - named);
}

static void miss_in_layers(missing *w, const mc_size_facts *f)
{
    uint64_t count;
    if (!mc_size_table(w->cx->model) || f->decoder == MC_NONE || !mc_size_config_int(w->cx->model, "num_hidden_layers", &count))
        return;
    miss_layers(w, f, count);
    for (size_t i = 0; i < f->n_layers; i++) {
        const mc_layer *l = &f->layers[i];
        if (l->stack == f->decoder && l->index < count && l->has != MC_HAS_ALL && !l->mtp)
            miss_modules(w, l);
    }
}

/* (c) Experts of one layer whose numbers have a hole. */
static void miss_experts(missing *w, const mc_size_facts *f)
{
    for (size_t i = 0; i < f->n_experts; i++) {
        const mc_experts *g = &f->experts[i];
        uint64_t          absent = g->n && !g->unknown ? g->max - g->min + 1 - g->n : 0;
        size_t            named = 0;
        for (uint64_t k = g->min; k < g->max && named < absent && named < MC_SAMPLES && w->n < MC_SAMPLES; k++) {
            if (mc_size_has_expert(g, k))
                continue;
            miss(w, mc_format(w->cx->arena, "%.*s%llu", MC_FMT(g->prefix), (unsigned long long)k));
            named++;
        }
        w->n += (size_t)(absent - named);
    }
}

void mc_check_weights_missing(mc_check *cx)
{
    const mc_size_facts *f = mc_size_gather(cx);
    missing              w = { .cx = cx };
    if (!f || cx->model->format != MC_FMT_SAFETENSORS || !cx->model->components[0].inv.complete || f->draft || !judged_kind(cx->model))
        return;
    miss_embedding(&w, f);
    miss_in_layers(&w, f);
    miss_experts(&w, f);
    if (!w.out)
        return;
    w.out->message = mc_format(cx->arena, w.n == 1 ? "%zu required module is stored in no file" : "%zu required modules are stored in no file", w.n);
    mc_count(w.out, w.n);
}

/* ---- MC504 ---- */

/* The count is the configuration's own, not a default of its class. */
static bool stated_layers(const mc_model *m, uint64_t *n)
{
    *n = (uint64_t)m->arch.layers.v;
    return m->arch.layers.known && m->arch.layers.v > 0 && !mc_str_starts(m->arch.layers.from.where, "default");
}

static bool announces_mtp(const mc_model *m)
{
    static const char *const keys[] = { "num_nextn_predict_layers", "mtp_num_hidden_layers" };
    const mc_value *config = mc_model_config(m), *text = mc_get(config, "text_config");
    int64_t v;
    if (m->arch.mtp_layers.known && m->arch.mtp_layers.v > 0)
        return true;
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        if ((mc_as_int(mc_get(config, keys[i]), &v) && v > 0) || (mc_as_int(mc_get(text, keys[i]), &v) && v > 0))
            return true;
    return false;
}

void mc_check_layers_extra(mc_check *cx)
{
    const mc_model      *m = cx->model;
    const mc_size_facts *f = mc_size_gather(cx);
    mc_finding          *out = NULL;
    uint64_t             count;
    if (!f || m->format != MC_FMT_SAFETENSORS || f->decoder == MC_NONE || f->draft || !stated_layers(m, &count) || announces_mtp(m))
        return;
    if ((m->kind != MC_KIND_CAUSAL_LM && m->kind != MC_KIND_VISION_LANGUAGE) || mc_flag(mc_model_config(m), "is_encoder_decoder"))
        return;
    for (size_t i = 0; i < f->n_layers; i++) {
        const mc_layer *l = &f->layers[i];
        if (l->stack != f->decoder || l->index < count || l->mtp)
            continue;
        if (!out) {
            out = mc_report(cx, MC_NONE, "layers behind the %llu that the configuration counts are stored: loaders drop them or refuse them", (unsigned long long)count);
            mc_because(cx, out, "layers", m->arch.layers.from, "%llu", (unsigned long long)count);
        }
        mc_subject(out, mc_str_cut(l->prefix, 0, l->prefix.n - 1));
    }
}
