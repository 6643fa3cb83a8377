/* Metadata against what llama.cpp's loader takes (src/llama-model.cpp, src/llama-vocab.cpp): keys, types, values. */
#include "rules/gguf.h"

static bool has_tower_keys(const mc_gguf *g, mc_str arch)
{
    for (size_t i = 0; i < g->n; i++) {
        mc_str key = g->kv[i].key;
        if (key.n > arch.n && mc_str_eq(mc_str_cut(key, 0, arch.n), arch) && mc_str_starts(mc_str_cut(key, arch.n, key.n), ".vision."))
            return true;
    }
    return false;
}

static bool judged(const mc_model *m)
{
    const mc_file *f = m->gguf ? mc_gguf_sound(m, m->gguf_file) : NULL;
    return f && !mc_gguf_later_part(f) && !mc_gguf_in_store(f) && m->unit != MC_UNIT_OLLAMA;
}

bool mc_gguf_main_model(const mc_check *cx, mc_gguf_main *out)
{
    const mc_model *m = cx->model;
    *out = (mc_gguf_main){ .m = m, .g = m->gguf, .file = m->gguf_file };
    if (!judged(m) || mc_gguf_contents(m, m->gguf_file) != MC_GGUF_MODEL)
        return false;
    out->arch = mc_gguf_str(mc_gguf_get(m->gguf, "general.architecture"));
    out->info = mc_kb_gguf_arch(cx->kb, out->arch);
    if (!out->info || has_tower_keys(m->gguf, out->arch))
        return false;
    const mc_gguf_kv *blocks = mc_gguf_arch(m->gguf, "block_count");
    out->blocks = blocks && blocks->type == MC_GGUF_U32 ? blocks->u : 0;
    out->complete = mc_gguf_set_complete(m);
    return true;
}

static mc_origin key_of(const mc_gguf_main *v, mc_str key)
{
    return (mc_origin){ v->file, key };
}

/* ---- MC618: absent keys ---- */

static bool has_blocks(const mc_file *f)
{
    for (size_t i = 0; i < f->n_tensors; i++)
        if (mc_str_starts(f->tensors[i].name, "blk."))
            return true;
    return false;
}

static void lacks(mc_check *cx, uint32_t file, mc_str arch, mc_str key)
{
    mc_finding *o = mc_report(cx, file, "key %.*s is missing%s%.*s: llama.cpp stops with 'key not found in model'", MC_FMT(key), arch.n ? " for " : "", MC_FMT(arch));
    mc_subject(o, key);
}

void mc_check_618(mc_check *cx)
{
    const mc_model *m = cx->model;
    mc_gguf_main    v;
    if (judged(m) && !mc_gguf_get(m->gguf, "general.architecture") && mc_gguf_contents(m, m->gguf_file) == MC_GGUF_MODEL &&
        has_blocks(&m->files[m->gguf_file]))
        lacks(cx, m->gguf_file, MC_STR(""), MC_STR("general.architecture"));
    if (!mc_gguf_main_model(cx, &v))
        return;
    for (size_t i = 0; i < v.info->n_required; i++) {
        mc_str key = v.info->required[i]; /* some keys (xielu.*) have no prefix */
        mc_str full = mc_format(cx->arena, "%.*s.%.*s", MC_FMT(v.arch), MC_FMT(key)), bare = mc_format(cx->arena, "%.*s", MC_FMT(key));
        if (!mc_gguf_get(v.g, full.p) && !mc_gguf_get(v.g, bare.p))
            lacks(cx, v.file, v.arch, full);
    }
    if (!mc_gguf_get(v.g, "tokenizer.ggml.model"))
        lacks(cx, v.file, v.arch, MC_STR("tokenizer.ggml.model"));
}

/* ---- MC619: types, lengths, values ---- */

static void wrong(mc_check *cx, const mc_gguf_main *v, const mc_gguf_kv *kv, mc_str is, mc_str want)
{
    mc_finding *o = mc_report(cx, v->file, "%.*s is %.*s, llama.cpp needs %.*s", MC_FMT(kv->key), MC_FMT(is), MC_FMT(want));
    mc_subject(o, kv->key);
    mc_because(cx, o, "value", key_of(v, kv->key), "%.*s", MC_FMT(is));
}

static mc_str type_text(mc_check *cx, const mc_gguf_kv *kv)
{
    if (kv->type != MC_GGUF_ARRAY)
        return mc_str_of(mc_gguf_type_name(kv->type));
    return mc_format(cx->arena, "%s[%llu]", mc_gguf_type_name(kv->element), (mc_ull)kv->n);
}

/* One of the types that `wanted` lists ("u32|u32[]"). Integer arrays are interchangeable, and bools pass in them. */
static bool type_fits(const mc_gguf_kv *kv, mc_str wanted)
{
    bool array = kv->type == MC_GGUF_ARRAY;
    while (wanted.n) {
        size_t bar = mc_str_find(wanted, '|');
        mc_str one = mc_str_cut(wanted, 0, bar);
        bool   takes_array = mc_str_ends(one, "[]");
        if (array && takes_array) {
            mc_str element = mc_str_cut(one, 0, one.n - 2);
            if (mc_str_is(element, mc_gguf_type_name(kv->element)))
                return true;
            if ((mc_str_is(element, "u32") || mc_str_is(element, "i32")) &&
                (kv->element == MC_GGUF_U32 || kv->element == MC_GGUF_I32 || kv->element == MC_GGUF_BOOL))
                return true;
        } else if (!array && !takes_array && mc_str_is(one, mc_gguf_type_name(kv->type))) {
            return true;
        }
        wanted = mc_str_cut(wanted, bar + 1, wanted.n);
    }
    return false;
}

/* "u32|u32[]" and the like: an array has one element per block. */
static bool per_layer(mc_str wanted)
{
    return mc_str_find(wanted, '|') < wanted.n && mc_str_contains(wanted, "[]") && !mc_str_starts(wanted, "i32");
}

static void check_type(mc_check *cx, const mc_gguf_main *v, const mc_gguf_kv *kv, mc_str wanted)
{
    if (!kv || wanted.n == 0)
        return;
    if (!type_fits(kv, wanted))
        wrong(cx, v, kv, type_text(cx, kv), wanted);
    else if (kv->type == MC_GGUF_ARRAY && per_layer(wanted) && v->blocks && kv->n != v->blocks)
        wrong(cx, v, kv, type_text(cx, kv), mc_format(cx->arena, "one element for each of %llu blocks", (mc_ull)v->blocks));
}

/* Only keys that the loader of this architecture looks at: others may be of any type. */
static void check_arch_keys(mc_check *cx, const mc_gguf_main *v)
{
    for (size_t i = 0; i < v->info->n_read; i++) {
        mc_str key = v->info->read[i], full = mc_format(cx->arena, "%.*s.%.*s", MC_FMT(v->arch), MC_FMT(key));
        bool   again = false;
        for (size_t k = 0; k < i; k++)
            again |= mc_str_eq(v->info->read[k], key);
        if (!again)
            check_type(cx, v, mc_gguf_get(v->g, full.p), mc_kb_gguf_key_type(cx->kb, key));
    }
}

static void check_other_keys(mc_check *cx, const mc_gguf_main *v)
{
    static const struct { const char *key, *type; } keys[] = {
        { "general.architecture", "str" }, { "general.name", "str" }, { "general.file_type", "u32" },
        { "tokenizer.ggml.model", "str" }, { "tokenizer.ggml.tokens", "str[]" },
        { "tokenizer.ggml.bos_token_id", "u32" }, { "tokenizer.ggml.eos_token_id", "u32" }, { "tokenizer.ggml.eot_token_id", "u32" },
        { "tokenizer.ggml.eom_token_id", "u32" }, { "tokenizer.ggml.unknown_token_id", "u32" }, { "tokenizer.ggml.seperator_token_id", "u32" },
        { "tokenizer.ggml.padding_token_id", "u32" }, { "tokenizer.ggml.mask_token_id", "u32" }, { "tokenizer.ggml.add_bos_token", "bool" },
        { "tokenizer.ggml.add_eos_token", "bool" }, { "tokenizer.ggml.add_space_prefix", "bool" }, { "tokenizer.ggml.token_type_count", "u32" },
    };
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        check_type(cx, v, mc_gguf_get(v->g, keys[i].key), mc_str_of(keys[i].type));
}

/* Scores and types of tokens: arrays of their own element types, at least as long as the vocabulary. */
static void check_tokens(mc_check *cx, const mc_gguf_main *v)
{
    const mc_gguf_kv *tokens = mc_gguf_get(v->g, "tokenizer.ggml.tokens");
    static const struct { const char *key; uint32_t either, or; const char *want; } lists[] = {
        { "tokenizer.ggml.scores", MC_GGUF_F32, MC_GGUF_I32, "f32[]" }, { "tokenizer.ggml.token_type", MC_GGUF_I32, MC_GGUF_I32, "i32[]" },
    };
    for (size_t i = 0; i < MC_COUNT(lists); i++) {
        const mc_gguf_kv *kv = mc_gguf_get(v->g, lists[i].key);
        if (!kv || !tokens || tokens->type != MC_GGUF_ARRAY)
            continue;
        if (kv->type != MC_GGUF_ARRAY || (kv->element != lists[i].either && kv->element != lists[i].or))
            wrong(cx, v, kv, type_text(cx, kv), mc_str_of(lists[i].want));
        else if (kv->n < tokens->n)
            wrong(cx, v, kv, type_text(cx, kv), mc_format(cx->arena, "one element for each of %llu tokens", (mc_ull)tokens->n));
    }
}

/* ---- values that stop the loader ---- */

static bool stores_experts(const mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; m->files[i].gguf && k < m->files[i].n_tensors; k++)
            if (mc_str_contains(m->files[i].tensors[k].name, "_exps."))
                return true;
    return false;
}

static bool value_of(const mc_gguf_main *v, const char *key, uint64_t *out)
{
    const mc_gguf_kv *kv = mc_gguf_arch(v->g, key);
    return kv && kv->type == MC_GGUF_U32 && mc_gguf_uint(kv, out);
}

static void check_experts(mc_check *cx, const mc_gguf_main *v)
{
    const mc_gguf_kv *kv = mc_gguf_arch(v->g, "expert_used_count");
    uint64_t          used, all;
    if (!value_of(v, "expert_used_count", &used) || !value_of(v, "expert_count", &all) || (used > 0 && used <= all) || !stores_experts(v->m))
        return;
    wrong(cx, v, kv, mc_format(cx->arena, "%llu", (mc_ull)used), mc_format(cx->arena, "1 to %llu, the number of experts", (mc_ull)all));
}

/* Some architectures rotate whole heads: there the two lengths are one. */
static void check_rotation(mc_check *cx, const mc_gguf_main *v)
{
    static const char *const whole[] = { "llama", "deci", "falcon", "llama-embed" };
    uint64_t rotated, length, width;
    int64_t  heads = 0;
    bool     known = false;
    for (size_t i = 0; i < MC_COUNT(whole); i++)
        known |= mc_str_is(v->arch, whole[i]);
    if (!known || !value_of(v, "rope.dimension_count", &rotated))
        return;
    const mc_gguf_kv *kv = mc_gguf_arch(v->g, "attention.head_count");
    if (!kv || !(kv->type == MC_GGUF_ARRAY ? mc_gguf_element(v->g, kv, 0, &heads) : (heads = kv->i, kv->type == MC_GGUF_U32)) || heads <= 0)
        return;
    if (!value_of(v, "attention.key_length", &length)) {
        if (!value_of(v, "embedding_length", &width))
            return;
        length = width / (uint64_t)heads;
    }
    if (rotated != length)
        wrong(cx, v, mc_gguf_arch(v->g, "rope.dimension_count"), mc_format(cx->arena, "%llu", (mc_ull)rotated),
              mc_format(cx->arena, "the key length %llu", (mc_ull)length));
}

static void check_values(mc_check *cx, const mc_gguf_main *v)
{
    const mc_gguf_kv *scaling = mc_gguf_arch(v->g, "rope.scaling.type"), *blocks = mc_gguf_arch(v->g, "block_count");
    mc_str            s = mc_gguf_str(scaling);
    if (scaling && scaling->type == MC_GGUF_STRING && !mc_str_is(s, "none") && !mc_str_is(s, "linear") && !mc_str_is(s, "yarn") && !mc_str_is(s, "longrope"))
        wrong(cx, v, scaling, mc_format(cx->arena, "'%.*s'", MC_FMT(s)), MC_STR("none, linear, yarn or longrope"));
    if (blocks && blocks->type == MC_GGUF_U32 && blocks->u == 0)
        wrong(cx, v, blocks, MC_STR("0"), MC_STR("at least one block"));
    check_experts(cx, v);
    check_rotation(cx, v);
}

void mc_check_619(mc_check *cx)
{
    mc_gguf_main v;
    if (!mc_gguf_main_model(cx, &v))
        return;
    check_arch_keys(cx, &v);
    check_other_keys(cx, &v);
    check_tokens(cx, &v);
    check_values(cx, &v);
}

/* ---- MC621: token ids ---- */

static bool ends_with_id(mc_str key)
{
    return mc_str_starts(key, "tokenizer.ggml.") && mc_str_ends(key, "_token_id");
}

void mc_check_621(mc_check *cx)
{
    const mc_model   *m = cx->model;
    const mc_gguf    *g = m->gguf;
    const mc_gguf_kv *tokens = mc_gguf_get(g, "tokenizer.ggml.tokens"), *add = mc_gguf_get(g, "tokenizer.ggml.add_bos_token");
    const mc_gguf_kv *separator = mc_gguf_get(g, "tokenizer.ggml.separator_token_id");
    if (!judged(m) || mc_gguf_contents(m, m->gguf_file) != MC_GGUF_MODEL || !tokens || tokens->type != MC_GGUF_ARRAY || tokens->n == 0)
        return;
    for (size_t i = 0; i < g->n; i++) {
        const mc_gguf_kv *kv = &g->kv[i];
        if (ends_with_id(kv->key) && kv->type == MC_GGUF_U32 && kv->u >= tokens->n)
            mc_subject(mc_report(cx, m->gguf_file, "%.*s is %llu with %llu tokens: llama.cpp ignores it", MC_FMT(kv->key), (mc_ull)kv->u, (mc_ull)tokens->n), kv->key);
    }
    if (separator && !mc_gguf_get(g, "tokenizer.ggml.seperator_token_id"))
        mc_subject(mc_report(cx, m->gguf_file, "%.*s is not read: llama.cpp's key is spelt seperator_token_id", MC_FMT(separator->key)), separator->key);
    if (add && add->type == MC_GGUF_BOOL && add->u && !mc_gguf_get(g, "tokenizer.ggml.bos_token_id") &&
        !mc_str_is(mc_gguf_str(mc_gguf_get(g, "tokenizer.ggml.model")), "llama"))
        mc_subject(mc_report(cx, m->gguf_file, "add_bos_token is true, but no bos_token_id is given: the tokenizer's default id is put in front"), add->key);
}
