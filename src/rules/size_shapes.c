/* MC505: shapes against the dimensions in config.json, for decoders whose modules are known by name.
 *
 * Packed modules are judged by the logical shape that their own tensors fix; where that took a witness such as hidden_size,
 * they say nothing here. Rows of q, k and v depend on head counts and are not judged. */
#include "model/quant.h"
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
    mc_finding          *out;
    const mc_tensor     *last;  /* reported last: a tensor counts once */
    mc_str               last_name;
} judge;

static bool plain(const mc_check *cx, const mc_tensor *t)
{
    const mc_dtype *d = mc_kb_dtype(cx->kb, t->dtype);
    return d && (mc_dtype_is_float(d, 16) || mc_dtype_is_float(d, 32) || mc_dtype_is_float(d, 64));
}

/* Quantizers pad matrices up to a multiple; another rule's business. Vocabulary rows are not excused. */
static bool padded(uint64_t have, uint64_t want)
{
    static const uint64_t multiples[] = { 64, 128, 256, 1024 };
    for (size_t i = 0; i < MC_COUNT(multiples); i++)
        if (have > want && have - want < multiples[i] && have % multiples[i] == 0)
            return true;
    return false;
}

static void contradict(judge *j, const mc_tensor *t, const demand *d, uint64_t want)
{
    const dimension *dim = &j->dim[d->dim];
    if (!j->out) {
        mc_str shape = t->rank == 1 ? mc_format(j->cx->arena, "[%llu]", (unsigned long long)t->dims[0])
                                    : mc_format(j->cx->arena, "[%llu, %llu]", (unsigned long long)t->dims[0], (unsigned long long)t->dims[1]);
        j->out = mc_report(j->cx, j->file, "%.*s is %.*s, %s = %llu needs %llu %s: loaders stop with a size mismatch", MC_FMT(t->name), MC_FMT(shape), dim->key,
                           (unsigned long long)dim->v, (unsigned long long)want, d->rank == 1 ? "elements" : d->axis ? "columns" : "rows");
        mc_because(j->cx, j->out, dim->key, (mc_origin){ j->file, mc_format(j->cx->arena, "/%s", dim->key) }, "%llu", (unsigned long long)dim->v);
        mc_because(j->cx, j->out, "stored", (mc_origin){ t->file, t->name }, "%.*s", MC_FMT(shape));
    }
    if (t != j->last || t->name.p != j->last_name.p)
        mc_subject(j->out, t->name);
    j->last = t;
    j->last_name = t->name;
}

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
    static const char *const companions[] = { ".absmax", "_scale", "_scale_inv", "_packed" };
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
    if (!t || t->rank != d->rank || !plain(j->cx, t))
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

/* ---- packed modules ---- */

static bool decided(const mc_module *m)
{
    return m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8 && m->in && m->out && m->experts == 1 && m->bits_certain && m->in_witness.n == 0 && !m->transposed &&
           !m->missing.what && !m->shape.what && m->parts[MC_PART_WEIGHT];
}

/* Packed codes fill words, and writers fill tiles. */
static bool padded_codes(uint64_t have, uint64_t want)
{
    static const uint64_t multiples[] = { 8, 16, 32 };
    for (size_t i = 0; i < MC_COUNT(multiples); i++)
        if (have > want && have - want < multiples[i] && have % multiples[i] == 0)
            return true;
    return padded(have, want);
}

static void ask_packed(judge *j, const mc_module *m, mc_str tail)
{
    uint64_t shape[] = { m->out, m->in }, want;
    for (size_t i = 0; i < MC_COUNT(of_layer); i++) {
        const demand    *d = &of_layer[i];
        const dimension *dim = &j->dim[d->dim];
        mc_str           name = mc_str_of(d->tail);
        name.n -= sizeof ".weight" - 1;
        if (!dim->known || !mc_str_eq(tail, name) || ckd_mul(&want, dim->v, (uint64_t)d->times))
            continue;
        if (shape[d->axis] == want || shape[1 - d->axis] == want || padded_codes(shape[d->axis], want))
            continue;
        mc_tensor logical = *m->parts[MC_PART_WEIGHT];
        logical.dims = shape;
        logical.rank = 2;
        logical.name = m->name;
        contradict(j, &logical, d, want);
        return;
    }
}

static void ask_modules(judge *j, const mc_size_facts *f)
{
    const mc_quant *q = j->cx->model->quant;
    mc_str          stack = f->stacks[f->decoder].prefix;
    uint64_t        count = UINT64_MAX, index;
    size_t          end;
    (void)mc_size_config_int(j->cx->model, "num_hidden_layers", &count);
    for (size_t i = 0; q && q->n_packed && i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        if (m->component != 0 || !decided(m) || m->name.n <= stack.n || memcmp(m->name.p, stack.p, stack.n) != 0)
            continue;
        if (mc_size_digits(m->name, stack.n, &end, &index) && index < count && m->cls != MC_CLS_MTP)
            ask_packed(j, m, mc_str_cut(m->name, end + 1, m->name.n));
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
    if (table) {
        ask_layers(&j, f, of_layer, MC_COUNT(of_layer));
        ask_modules(&j, f);
    }
    ask_layers(&j, f, of_router, MC_COUNT(of_router));
}
