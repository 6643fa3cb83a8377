/* MC505: shapes against the dimensions in config.json, for decoders whose modules are known by name.
 *
 * Of a packed module the logical shape counts, as its layout shows it; one that is unknown is not judged. Rows of q, k and v depend on
 * head counts and are not judged. */
#include "rules/quant_rules.h"
#include "rules/size.h"

#include <string.h>

typedef struct { const char *key; bool known; uint64_t v; } dimension;
enum { HIDDEN, INTERMEDIATE, VOCAB, EXPERTS, N_DIMENSIONS };
/* Which axis of a tensor must equal which dimension. times: gate and up in one matrix. */
typedef struct { const char *tail; uint8_t rank, axis, dim, times; } demand;

static const demand of_layer[] = {
    { "self_attn.q_proj.weight", 2, 1, HIDDEN, 1 },   { "self_attn.qkv_proj.weight", 2, 1, HIDDEN, 1 }, { "self_attn.o_proj.weight", 2, 0, HIDDEN, 1 },
    { "mlp.down_proj.weight", 2, 0, HIDDEN, 1 },      { "mlp.gate_proj.weight", 2, 1, HIDDEN, 1 },      { "mlp.gate_proj.weight", 2, 0, INTERMEDIATE, 1 },
    { "mlp.up_proj.weight", 2, 1, HIDDEN, 1 },        { "mlp.up_proj.weight", 2, 0, INTERMEDIATE, 1 },  { "mlp.gate_up_proj.weight", 2, 1, HIDDEN, 1 },
    { "mlp.gate_up_proj.weight", 2, 0, INTERMEDIATE, 2 }, { "mlp.c_fc.weight", 2, 1, HIDDEN, 1 },       { "mlp.c_fc.weight", 2, 0, INTERMEDIATE, 1 },
    { "mlp.c_proj.weight", 2, 0, HIDDEN, 1 },
};
static const demand of_router[] = {
    { "mlp.gate.weight", 2, 0, EXPERTS, 1 }, { "block_sparse_moe.gate.weight", 2, 0, EXPERTS, 1 },
};
/* Rows come last: one finding names the first contradiction of a tensor. */
static const demand of_model[] = {
    { "embed_tokens.weight", 2, 1, HIDDEN, 1 }, { "norm.weight", 1, 0, HIDDEN, 1 }, { "embed_tokens.weight", 2, 0, VOCAB, 1 },
};

typedef struct {
    mc_check            *cx;
    const mc_inventory  *inv;
    uint32_t             file;  /* config.json */
    dimension            dim[N_DIMENSIONS];
    const mc_tensor     *last;  /* reported last: a tensor counts once */
} judge;

/* Quantizers pad matrices up to a multiple; another rule's business. Vocabulary rows are not excused. */
static bool padded(uint64_t have, uint64_t want)
{
    static const uint64_t multiples[] = { 64, 128, 256, 1024 };
    for (size_t i = 0; i < MC_COUNT(multiples); i++)
        if (have > want && have - want < multiples[i] && have % multiples[i] == 0)
            return true;
    return false;
}

/* ---- words ---- */

static const char *const axes[] = { "rows", "columns", "elements" };

static mc_str shape_of(const mc_check *cx, const mc_hit *h, mc_origin *from)
{
    const mc_quant *q = cx->model->quant;
    if (q && h->module < q->n_modules) {
        const mc_module *m = &q->modules[h->module];
        *from = (mc_origin){ m->parts[MC_PART_WEIGHT] ? m->parts[MC_PART_WEIGHT]->file : MC_NONE, m->name };
        return mc_format(cx->arena, "[%llu, %llu]", (unsigned long long)m->out, (unsigned long long)m->in);
    }
    const mc_tensor *t = mc_inventory_find(&cx->model->components[0].inv, h->name);
    if (!t)
        return MC_STR("?");
    *from = (mc_origin){ t->file, t->name };
    return t->rank == 1 ? mc_format(cx->arena, "[%llu]", (unsigned long long)t->dims[0])
                        : mc_format(cx->arena, "[%llu, %llu]", (unsigned long long)t->dims[0], (unsigned long long)t->dims[1]);
}

/* what: the key of config.json; a: what it demands; b: of which axis. */
static mc_finding *tell(mc_check *cx, const mc_hit *v, size_t n)
{
    (void)n;
    mc_origin from = { MC_NONE, MC_STR("") };
    mc_str    shape = shape_of(cx, v, &from);
    uint64_t  stated = 0;
    (void)mc_size_config_int(cx->model, v->what, &stated);
    mc_finding *out = mc_report(cx, v->file, "%.*s is %.*s%s, %s = %llu needs %llu %s: loaders stop with a size mismatch", MC_FMT(v->name), MC_FMT(shape),
                                v->module == MC_NONE ? "" : " by its packed layout", v->what, (unsigned long long)stated, (unsigned long long)v->a, axes[v->b]);
    mc_because(cx, out, v->what, (mc_origin){ v->file, mc_format(cx->arena, "/%s", v->what) }, "%llu", (unsigned long long)stated);
    mc_because(cx, out, "stored", from, "%.*s", MC_FMT(shape));
    return out;
}

static void contradict(judge *j, const mc_tensor *t, const demand *d, uint64_t want)
{
    if (t != j->last)
        mc_hit_add(j->cx, tell, (mc_hit){ .file = j->file, .module = MC_NONE, .name = t->name, .what = j->dim[d->dim].key, .a = want, .b = d->rank == 1 ? 2 : d->axis });
    j->last = t;
}

/* ---- plain tensors ---- */

/* The tensor of that name; a prefix that leaves no room is no model's of the table. */
static const mc_tensor *named(const judge *j, mc_str prefix, const char *tail)
{
    char   name[512];
    size_t n = strlen(tail);
    if (prefix.n + n > sizeof name)
        return NULL;
    memcpy(name, prefix.p, prefix.n);
    memcpy(name + prefix.n, tail, n);
    return mc_inventory_find(j->inv, (mc_str){ name, prefix.n + n });
}

/* A float type may be the storage of packed values: then companions lie beside it. */
static bool packed(const judge *j, const mc_tensor *t)
{
    static const char *const companions[] = { ".absmax", ".quant_map", ".quant_state.bitsandbytes__nf4", ".quant_state.bitsandbytes__fp4", "_scale", "_scale_inv", "_packed" };
    for (size_t i = 0; i < MC_COUNT(companions); i++)
        if (named(j, t->name, companions[i]))
            return true;
    return false;
}

static void ask(judge *j, mc_str prefix, const demand *d)
{
    const dimension *dim = &j->dim[d->dim];
    uint64_t         want;
    if (!dim->known || ckd_mul(&want, dim->v, (uint64_t)d->times))
        return;
    const mc_tensor *t = named(j, prefix, d->tail);
    if (!t || t->rank != d->rank || !mc_dtype_is_plain(mc_kb_dtype(j->cx->kb, t->dtype)))
        return;
    uint64_t have = t->dims[d->axis];
    bool     transposed = d->rank == 2 && d->dim != VOCAB && d->dim != EXPERTS && t->dims[1 - d->axis] == want;
    if (have != want && !transposed && (d->dim == VOCAB || !padded(have, want)) && !packed(j, t))
        contradict(j, t, d, want);
}

static void ask_layers(judge *j, const mc_size_facts *f, const demand *list, size_t n)
{
    uint64_t count = UINT64_MAX;
    (void)mc_size_config_int(j->cx->model, "num_hidden_layers", &count); /* layers beyond it are drafts or MC504 */
    for (size_t i = 0; i < f->n_layers; i++)
        if (f->layers[i].stack == f->decoder && f->layers[i].index < count && !f->layers[i].mtp)
            for (size_t k = 0; k < n; k++)
                ask(j, f->layers[i].prefix, &list[k]);
}

/* ---- packed modules, by the logical shape that their layout shows ---- */

static bool tail_is(mc_str tail, const demand *d)
{
    size_t n = strlen(d->tail) - (sizeof ".weight" - 1);
    return tail.n == n && memcmp(tail.p, d->tail, n) == 0;
}

/* What the tensors of the module fix by themselves; a witness such as hidden_size would only repeat the configuration. */
static bool decided(const mc_module *m)
{
    return m->component == 0 && m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8 && m->layout != MC_Q_GGML && m->in && m->out && m->experts == 1 && m->bits_certain &&
           !m->transposed && !m->missing.what && !m->shape.what;
}

/* Packed codes fill words, and writers fill tiles. */
static bool padded_codes(uint64_t have, uint64_t want)
{
    return (have > want && have - want < 32 && have % 8 == 0) || padded(have, want);
}

/* Adds at most one hit a module: the first contradiction is named. */
static void ask_module(judge *j, const mc_module *m, mc_str tail, const demand *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const dimension *dim = &j->dim[list[i].dim];
        uint64_t         want, have = list[i].axis ? m->in : m->out;
        if (!tail_is(tail, &list[i]) || list[i].rank != 2 || !dim->known || !have || ckd_mul(&want, dim->v, (uint64_t)list[i].times))
            continue;
        if (have == want || (list[i].dim != VOCAB && padded_codes(have, want)) || (list[i].axis && m->in_witness.n))
            continue;
        mc_hit_add(j->cx, tell, (mc_hit){ .file = j->file, .module = (uint32_t)(m - j->cx->model->quant->modules), .name = m->name, .what = dim->key, .a = want,
                                          .b = list[i].axis });
        return;
    }
}

/* "mlp.up_proj" of a layer that the configuration counts; "" for any other module. */
static mc_str layer_tail(const mc_size_facts *f, mc_str name, uint64_t count)
{
    mc_str   stack = f->stacks[f->decoder].prefix;
    size_t   end;
    uint64_t index;
    if (name.n <= stack.n || memcmp(name.p, stack.p, stack.n) != 0 || !mc_size_digits(name, stack.n, &end, &index) || index >= count)
        return MC_STR("");
    uint32_t layer = mc_strset_find(&f->layer_ids, mc_str_cut(name, 0, end + 1));
    return layer < f->n_layers && f->layers[layer].mtp ? MC_STR("") : mc_str_cut(name, end + 1, name.n);
}

static void ask_packed(judge *j, const mc_size_facts *f, mc_str base, bool table)
{
    const mc_quant *q = j->cx->model->quant;
    uint64_t        count = UINT64_MAX;
    (void)mc_size_config_int(j->cx->model, "num_hidden_layers", &count);
    const mc_claim *claim = mc_claim_of(q, 0);
    for (size_t i = 0; q && q->n_packed && i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        uint64_t         blocks[2];
        if (!decided(m) || (claim && mc_quant_blocks_differ(&claim->base, m, blocks)))
            continue;
        mc_str tail = layer_tail(f, m->name, count);
        if (tail.n) {
            if (table)
                ask_module(j, m, tail, of_layer, MC_COUNT(of_layer));
            ask_module(j, m, tail, of_router, MC_COUNT(of_router));
        } else if (table && m->name.n > base.n && memcmp(m->name.p, base.p, base.n) == 0) {
            ask_module(j, m, mc_str_cut(m->name, base.n, m->name.n), of_model, MC_COUNT(of_model));
        }
    }
}

void mc_check_shapes(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *config = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    bool            table = mc_size_table(m);
    bool            router = table || mc_size_model_type(m, "mixtral") || mc_size_model_type(m, "qwen2_moe") || mc_size_model_type(m, "qwen3_moe");
    if (!config || !router || m->format != MC_FMT_SAFETENSORS || m->kind == MC_KIND_ADAPTER || m->kind == MC_KIND_DRAFT)
        return;
    const mc_size_facts *f = mc_size_gather(cx);
    if (!f || f->decoder == MC_NONE || f->draft || !mc_str_ends(f->stacks[f->decoder].prefix, "layers."))
        return;
    judge j = { .cx = cx, .inv = &m->components[0].inv, .file = config->file,
                .dim = { { "hidden_size", false, 0 }, { "intermediate_size", false, 0 }, { "vocab_size", false, 0 },
                         { mc_size_model_type(m, "mixtral") ? "num_local_experts" : "num_experts", false, 0 } } };
    for (size_t i = 0; i < N_DIMENSIONS; i++)
        j.dim[i].known = mc_size_config_int(m, j.dim[i].key, &j.dim[i].v);
    if (!j.dim[EXPERTS].known) {
        j.dim[EXPERTS].key = "num_local_experts";
        j.dim[EXPERTS].known = mc_size_config_int(m, "num_local_experts", &j.dim[EXPERTS].v);
    }
    mc_str base = f->stacks[f->decoder].prefix; /* "model." of "model.layers." */
    base.n -= sizeof "layers." - 1;
    for (size_t i = 0; table && i < MC_COUNT(of_model); i++)
        ask(&j, base, &of_model[i]);
    if (table)
        ask_layers(&j, f, of_layer, MC_COUNT(of_layer));
    ask_layers(&j, f, of_router, MC_COUNT(of_router));
    ask_packed(&j, f, base, table);
}
