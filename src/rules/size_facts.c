/* One pass over the names and types of the root's tensors: stacks, layers, experts, what lies outside them. */
#include "model/quant.h"
#include "rules/size.h"

#include <string.h>

/* ---- the configuration, as far as this family needs it ---- */

/* Plain decoders whose module list is fixed: every layer has a norm, q, k, v, o, up and down. */
static const char *const table[] = { "llama", "mistral", "qwen2", "qwen3", "gemma", "gemma2", "phi3", "smollm3", "granite", "olmo2", "cohere", "starcoder2", "stablelm" };

bool mc_size_model_type(const mc_model *m, const char *type)
{
    return mc_str_is(mc_as_str(mc_get(mc_model_config(m), "model_type")), type);
}

bool mc_size_table(const mc_model *m)
{
    const mc_value *config = mc_model_config(m);
    if (mc_get(config, "text_config") || mc_get(config, "block_configs"))
        return false; /* nested sizes; layers pruned one by one */
    for (size_t i = 0; i < MC_COUNT(table); i++)
        if (mc_size_model_type(m, table[i]))
            return true;
    return false;
}

bool mc_size_config_int(const mc_model *m, const char *key, uint64_t *out)
{
    int64_t v;
    if (!mc_as_int(mc_get(mc_model_config(m), key), &v) || v <= 0)
        return false;
    *out = (uint64_t)v;
    return true;
}

bool mc_size_quantized(const mc_model *m)
{
    static const char *const at[] = { "/quantization_config", "/quantization", "/compression_config", "/text_config/quantization_config" };
    const mc_value *config = mc_model_config(m);
    if (m->quant && (m->quant->n_packed || m->quant->n_claims))
        return true;
    for (size_t i = 0; i < MC_COUNT(at); i++)
        if (mc_is(mc_at(config, at[i]), MC_OBJECT))
            return true;
    return mc_model_doc(m, 0, MC_ROLE_QUANTIZE_CONFIG) || mc_model_doc(m, 0, MC_ROLE_HF_QUANT_CONFIG);
}

/* ---- names ---- */

bool mc_size_digits(mc_str name, size_t at, size_t *end, uint64_t *v)
{
    size_t i = at;
    *v = 0;
    while (i < name.n && name.p[i] >= '0' && name.p[i] <= '9' && i - at < 18)
        *v = *v * 10 + (uint64_t)(name.p[i++] - '0');
    *end = i;
    return i > at && i < name.n && name.p[i] == '.';
}

/* The first number between dots that has something in front of it: "model.layers.|12|." */
static bool find_layer(mc_str name, size_t *number, size_t *end, uint64_t *index)
{
    for (size_t i = 0; i + 1 < name.n; i++) {
        const char *dot = memchr(name.p + i, '.', name.n - i);
        if (!dot)
            return false;
        i = (size_t)(dot - name.p);
        *number = i + 1;
        if (mc_size_digits(name, i + 1, end, index))
            return true;
    }
    return false;
}

static bool starts_with(mc_str s, mc_str prefix)
{
    return prefix.n && s.n >= prefix.n && memcmp(s.p, prefix.p, prefix.n) == 0;
}

/* A stack of text decoder layers: named so, and not of a tower, an encoder or a draft. */
static bool decoder_stack(mc_str prefix)
{
    static const char *const ends[] = { "layers.", "h.", "blocks.", "block.", "layer." };
    static const char *const not_text[] = { "vision", "visual", "vit", "audio", "speech", "encoder", "tower", "image", "resampler", "perceiver",
                                            "mtp", "nextn", "draft", "project", "connector", "qformer", "midlayer", "medusa", "codec", "depth" };
    bool named = false;
    for (size_t i = 0; i < MC_COUNT(ends); i++)
        named |= mc_str_is(prefix, ends[i]) || (mc_str_ends(prefix, ends[i]) && prefix.p[prefix.n - strlen(ends[i]) - 1] == '.');
    for (size_t i = 0; i < MC_COUNT(not_text) && named; i++)
        named = !mc_str_contains_nocase(prefix, not_text[i]);
    return named;
}

/* ---- modules of a layer ---- */

typedef struct { const char *part; unsigned has; } module;
static const module modules[] = {
    { "q_proj", MC_HAS_Q }, { "k_proj", MC_HAS_K }, { "v_proj", MC_HAS_V }, { "o_proj", MC_HAS_O }, { "up_proj", MC_HAS_UP }, { "down_proj", MC_HAS_DOWN },
    { "qkv_proj", MC_HAS_Q | MC_HAS_K | MC_HAS_V }, { "query_key_value", MC_HAS_Q | MC_HAS_K | MC_HAS_V }, { "c_attn", MC_HAS_Q | MC_HAS_K | MC_HAS_V },
    { "W_pack", MC_HAS_Q | MC_HAS_K | MC_HAS_V }, { "Wqkv", MC_HAS_Q | MC_HAS_K | MC_HAS_V }, { "qkv", MC_HAS_Q | MC_HAS_K | MC_HAS_V },
    { "wq", MC_HAS_Q }, { "wk", MC_HAS_K }, { "wv", MC_HAS_V }, { "wo", MC_HAS_O }, { "out_proj", MC_HAS_O }, { "dense", MC_HAS_O },
    { "gate_up_proj", MC_HAS_UP }, { "c_fc", MC_HAS_UP }, { "fc1", MC_HAS_UP }, { "w1", MC_HAS_UP }, { "w3", MC_HAS_UP },
    { "c_proj", MC_HAS_DOWN }, { "fc2", MC_HAS_DOWN }, { "w2", MC_HAS_DOWN },
};

/* A part names a module if it is its name, or its name and a suffix: "gate_up_proj_blocks". */
static unsigned part_has(mc_str part)
{
    for (size_t i = 0; i < MC_COUNT(modules); i++) {
        size_t n = strlen(modules[i].part);
        if (part.n >= n && memcmp(part.p, modules[i].part, n) == 0 && (part.n == n || part.p[n] == '_'))
            return modules[i].has;
    }
    if (mc_str_contains(part, "norm") && !mc_str_starts(part, "q_") && !mc_str_starts(part, "k_"))
        return MC_HAS_NORM;
    return mc_str_starts(part, "ln_") ? MC_HAS_NORM : 0;
}

static unsigned tail_has(mc_str tail)
{
    unsigned has = 0;
    for (mc_str rest = tail; rest.n;)
        has |= part_has(mc_name_part(&rest));
    if (mc_str_contains(tail, "attn.c_proj"))
        has = (has & ~(unsigned)MC_HAS_DOWN) | MC_HAS_O;
    return has;
}

static bool tail_mtp(mc_str tail)
{
    static const char *const marks[] = { "eh_proj", "enorm", "hnorm", "nextn", "mtp", "shared_head", NULL };
    return mc_str_contains_any(tail, marks);
}

/* ---- the pass ---- */

typedef struct {
    mc_check      *cx;
    mc_size_facts *f;
    bool           modules;     /* gather mc_layer.has */
    uint64_t       layers;      /* configured; at and above this index MTP marks are looked for */
    uint64_t       vocab;       /* 0: unknown */
    uint32_t       layer;       /* of the last tensor, MC_NONE before the first */
    uint32_t       group;       /* of the last expert, MC_NONE before the first */
    mc_str         expert;      /* the last one: "model.layers.3.mlp.experts.12." */
    uint64_t      *bytes;       /* of matrices, by dtype */
    bool           failed;      /* out of memory: the pass ends */
} pass;

/* Each of these gives the id of a prefix and makes its element when it is new; MC_NONE ends the pass. */
static uint32_t stack_of(pass *p, mc_str prefix)
{
    bool     fresh;
    uint32_t id = mc_strset_add(&p->f->stack_ids, prefix, &fresh);
    if (id == MC_NO_ID || !fresh)
        return id;
    mc_stack *v = mc_grow(p->cx->arena, p->f->stacks, id, &p->f->cap_stacks, sizeof *v);
    if (!v)
        return MC_NONE;
    v[id] = (mc_stack){ prefix, decoder_stack(prefix) };
    p->f->stacks = v;
    p->f->n_stacks = id + 1;
    return id;
}

static uint32_t layer_of(pass *p, mc_str name, size_t number, size_t end, uint64_t index)
{
    mc_str   prefix = mc_str_cut(name, 0, end + 1);
    bool     fresh;
    uint32_t id = mc_strset_add(&p->f->layer_ids, prefix, &fresh);
    if (id == MC_NO_ID || !fresh)
        return id;
    uint32_t  stack = stack_of(p, mc_str_cut(name, 0, number));
    mc_layer *v = mc_grow(p->cx->arena, p->f->layers, id, &p->f->cap_layers, sizeof *v);
    if (!v || stack == MC_NONE)
        return MC_NONE;
    v[id] = (mc_layer){ .prefix = prefix, .index = index, .stack = stack };
    p->f->layers = v;
    p->f->n_layers = id + 1;
    return id;
}

static uint32_t experts_of(pass *p, mc_str prefix)
{
    bool     fresh;
    uint32_t id = mc_strset_add(&p->f->expert_ids, prefix, &fresh);
    if (id == MC_NO_ID || !fresh)
        return id;
    mc_experts *v = mc_grow(p->cx->arena, p->f->experts, id, &p->f->cap_experts, sizeof *v);
    if (!v)
        return MC_NONE;
    v[id] = (mc_experts){ .prefix = prefix, .min = UINT64_MAX };
    p->f->experts = v;
    p->f->n_experts = id + 1;
    return id;
}

/* Where the index behind "experts." begins in a name, 0 if there is none. */
static size_t find_experts(mc_str name, size_t from)
{
    static const char word[] = "experts.";
    for (size_t i = from; i + sizeof word - 1 < name.n;) {
        if (memcmp(name.p + i, word, sizeof word - 1) == 0)
            return i + sizeof word - 1;
        const char *dot = memchr(name.p + i, '.', name.n - i);
        if (!dot)
            break;
        i = (size_t)(dot - name.p) + 1;
    }
    return 0;
}

bool mc_size_has_expert(const mc_experts *g, uint64_t index)
{
    return index / 64 < g->words && (g->bits[index / 64] >> index % 64 & 1);
}

/* Notes an index. Real layers have up to some thousand experts; beyond that the bits must be worth their memory. */
static bool add_expert(pass *p, mc_experts *g, uint64_t v)
{
    if (v >= 4096 && v / 64 > g->n) {
        g->unknown = true;
        return true;
    }
    if (v / 64 >= g->words) {
        size_t    words = (size_t)(v / 64) + 1 + g->words;
        uint64_t *bits = MC_NEW(p->cx->arena, uint64_t, words);
        if (!bits)
            return false;
        if (g->words)
            memcpy(bits, g->bits, g->words * sizeof *bits);
        g->bits = bits;
        g->words = words;
    }
    if (!mc_size_has_expert(g, v))
        g->n++;
    g->bits[v / 64] |= UINT64_C(1) << v % 64;
    g->min = v < g->min ? v : g->min;
    g->max = v > g->max ? v : g->max;
    return true;
}

static void see_expert(pass *p, mc_str name, size_t from)
{
    uint64_t v;
    size_t   end, number;
    if (starts_with(name, p->expert))
        return;
    if (p->group != MC_NONE && starts_with(name, p->f->experts[p->group].prefix))
        number = p->f->experts[p->group].prefix.n;
    else
        number = find_experts(name, from);
    if (number == 0 || !mc_size_digits(name, number, &end, &v))
        return;
    p->group = experts_of(p, mc_str_cut(name, 0, number));
    p->expert = mc_str_cut(name, 0, end + 1);
    p->failed = p->group == MC_NONE || !add_expert(p, &p->f->experts[p->group], v);
}

static bool near(uint64_t d, uint64_t vocab)
{
    return vocab && d >= vocab - vocab / 10 && d <= vocab + vocab / 10;
}

/* A tensor outside the layers; `path` is its name up to the first number. */
static void see_outside(pass *p, const mc_tensor *t, mc_str path)
{
    static const char *const embeddings[] = { "embed_tokens", "embed_in", "wte", "tok_embeddings", "word_embeddings", "token_embd", "shared", "emb", "embedding", "embeddings", NULL };
    static const char *const heads[] = { "lm_head", "output", "embed_out", "head", "score", "classifier", "output_layer", "ff_out", "logits", "output_projection", NULL };
    static const char *const drafts[] = { "d2t", "t2d", "midlayer", "medusa_head", NULL };
    if (mc_name_has_part(path, drafts) || mc_str_is(t->name, "fc.weight") || mc_str_is(t->name, "model.fc.weight"))
        p->f->draft = true;
    if (mc_name_has_part(path, embeddings)) {
        p->f->embedding = true;
    } else if (mc_name_has_part(path, heads)) {
        p->f->head = true;
    } else if (t->rank >= 2 && path.n == t->name.n) {
        for (unsigned i = 0; i < t->rank; i++)
            p->f->embedding |= near(t->dims[i], p->vocab);
    }
}

static void see_name(pass *p, const mc_tensor *t)
{
    size_t   number, end;
    uint64_t index;
    if (!p->modules && starts_with(t->name, p->expert))
        return; /* the next tensor of the same expert */
    if (p->layer == MC_NONE || !starts_with(t->name, p->f->layers[p->layer].prefix)) {
        if (!find_layer(t->name, &number, &end, &index)) {
            see_outside(p, t, t->name);
            return;
        }
        p->layer = layer_of(p, t->name, number, end, index);
        p->failed = p->layer == MC_NONE;
        if (p->failed)
            return;
    }
    mc_layer *l = &p->f->layers[p->layer];
    mc_stack *s = &p->f->stacks[l->stack];
    mc_str    tail = mc_str_cut(t->name, l->prefix.n, t->name.n);
    if (!s->decoder)
        see_outside(p, t, s->prefix);
    if (p->modules && l->has != MC_HAS_ALL)
        l->has |= tail_has(tail);
    if (l->index >= p->layers && !l->mtp)
        l->mtp = tail_mtp(tail);
    see_expert(p, t->name, l->prefix.n);
}

/* Bytes of matrices by type; what the types are is asked once each. */
static void see_type(pass *p, const mc_tensor *t)
{
    size_t i = t->dtype < p->cx->kb->n_dtypes ? t->dtype : p->cx->kb->n_dtypes;
    if (t->rank >= 2 && t->end > t->begin && ckd_add(&p->bytes[i], p->bytes[i], t->end - t->begin))
        p->bytes[i] = 0; /* overlapping ranges that do not add up */
}

static void sum_types(const pass *p)
{
    mc_size_facts *f = p->f;
    for (size_t i = 0; i < p->cx->kb->n_dtypes; i++) {
        const mc_dtype *d = mc_kb_dtype(p->cx->kb, (uint16_t)i);
        uint64_t        n = p->bytes[i];
        if (!d || ckd_add(&f->matrix_bytes, f->matrix_bytes, n) || d->cls != MC_CLASS_FLOAT)
            continue;
        f->float_bytes += n;
        f->f32_bytes += mc_dtype_is_float(d, 32) ? n : 0;
        f->f64_bytes += mc_dtype_is_float(d, 64) ? n : 0;
    }
}

static void count_decoders(mc_size_facts *f)
{
    f->decoder = MC_NONE;
    for (uint32_t i = 0; i < f->n_stacks; i++)
        if (f->stacks[i].decoder) {
            if (f->decoder != MC_NONE) { /* several lists of layers: none of them is "the" decoder */
                f->decoder = MC_NONE;
                break;
            }
            f->decoder = i;
        }
    for (size_t i = 0; i < f->n_layers && f->decoder != MC_NONE; i++)
        f->n_decoder += f->layers[i].stack == f->decoder;
}

const mc_size_facts *mc_size_gather(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (cx->memo)
        return cx->memo;
    if (m->n_components == 0 || m->components[0].inv.names.n == 0)
        return NULL;
    const mc_inventory *inv = &m->components[0].inv;
    mc_size_facts      *f = MC_NEW(cx->arena, mc_size_facts, 1);
    if (!f || !mc_strset_init(&f->stack_ids, cx->arena, 8) || !mc_strset_init(&f->layer_ids, cx->arena, 64) ||
        !mc_strset_init(&f->expert_ids, cx->arena, 64))
        return NULL;
    pass p = { .cx = cx, .f = f, .modules = mc_size_table(m), .layer = MC_NONE, .group = MC_NONE, .layers = UINT64_MAX, .bytes = MC_NEW(cx->arena, uint64_t, cx->kb->n_dtypes + 1) };
    if (!p.bytes)
        return NULL;
    if (m->arch.layers.known && m->arch.layers.v >= 0)
        p.layers = (uint64_t)m->arch.layers.v;
    if (m->arch.vocab.known && m->arch.vocab.v > 0)
        p.vocab = (uint64_t)m->arch.vocab.v;
    for (size_t i = 0; i < inv->names.n && !p.failed; i++) {
        see_name(&p, inv->first[i]);
        for (const mc_tensor *t = inv->first[i]; t; t = t->twin)
            see_type(&p, t);
    }
    if (!p.failed) {
        count_decoders(f);
        sum_types(&p);
    }
    return p.failed ? NULL : (cx->memo = f);
}
