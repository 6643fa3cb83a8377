/* What the file is, and its tensors against what llama.cpp asks for (src/llama-model.cpp, measured on build 11549). */
#include "rules/gguf.h"

#include <string.h>

/* ---- MC611, MC612: kinds ---- */

void mc_check_611(mc_check *cx)
{
    static const char *const hints[] = {
        [MC_GGUF_MODEL] = NULL, [MC_GGUF_BUNDLE] = "Ollama reads it, llama.cpp wants a separate mmproj file",
        [MC_GGUF_PROJECTOR] = "use it with --mmproj beside the model", [MC_GGUF_ADAPTER] = "use it with --lora beside the model",
        [MC_GGUF_CONTROL_VECTOR] = "use it with --control-vector beside the model", [MC_GGUF_IMATRIX] = "llama-quantize reads it, nothing runs it",
        [MC_GGUF_DRAFT] = "use it as draft beside the model it belongs to", [MC_GGUF_VOCABULARY] = "made to test tokenizers", [MC_GGUF_VOCAB_ONLY] = NULL,
    };
    const mc_model *m = cx->model;
    if (!m->gguf || !mc_gguf_sound(m, m->gguf_file))
        return;
    mc_gguf_content c = mc_gguf_contents(m, m->gguf_file);
    if (!hints[c])
        return;
    mc_report(cx, m->gguf_file, "a %s: %s", mc_gguf_content_name(c), hints[c]);
}

void mc_check_612(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (m->gguf && mc_gguf_sound(m, m->gguf_file) && mc_gguf_contents(m, m->gguf_file) == MC_GGUF_VOCAB_ONLY)
        mc_report(cx, m->gguf_file, "a vocabulary for tests, not a model: 0 tensors");
}

/* ---- MC613, MC620: which tensors ---- */

bool mc_gguf_block(mc_str name, uint64_t *n)
{
    if (mc_str_starts(name, "enc.") || mc_str_starts(name, "dec."))
        name = mc_str_cut(name, 4, name.n);
    if (!mc_str_starts(name, "blk."))
        return false;
    name = mc_str_cut(name, 4, name.n);
    return mc_str_u64(mc_str_cut(name, 0, mc_str_find(name, '.')), n);
}

/* Speech codecs have stacks of other names; their block counts mean other things. */
static bool usual_blocks(const mc_gguf_main *v)
{
    return v->blocks && !mc_str_is(v->arch, "wavtokenizer-dec") && !mc_str_is(v->arch, "pockettts") && !mc_str_is(v->arch, "qwen3tts");
}

static bool surplus(const mc_gguf_main *v, mc_str name)
{
    uint64_t n;
    if (mc_str_starts(name, "blk.") && mc_str_contains(name, ".attn_rot_embd"))
        return true;
    if (mc_str_ends(name, ".rope.inv_freq"))
        return true;
    return usual_blocks(v) && mc_str_starts(name, "blk.") && mc_gguf_block(name, &n) && n >= v->blocks;
}

void mc_check_613(mc_check *cx)
{
    mc_gguf_main v;
    if (!mc_gguf_main_model(cx, &v))
        return;
    for (size_t i = 0; i < v.m->n_files; i++) {
        const mc_file *f = mc_gguf_sound(v.m, i);
        for (size_t k = 0; f && k < f->n_tensors; k++)
            if (surplus(&v, f->tensors[k].name))
                mc_subject(mc_report(cx, v.file, "%.*s is not part of %.*s%s: llama.cpp stops with 'wrong number of tensors'", MC_FMT(f->tensors[k].name),
                                     MC_FMT(v.arch), usual_blocks(&v) ? mc_format(cx->arena, " with %llu blocks", (mc_ull)v.blocks).p : ""),
                           f->tensors[k].name);
    }
}

/* A block that the metadata describe as empty, or that only predicts further tokens, may be absent. */
static bool may_lack(const mc_gguf_main *v, uint64_t n)
{
    const mc_gguf_kv *next = mc_gguf_arch(v->g, "nextn_predict_layers");
    uint64_t          ahead;
    int64_t           heads = 1, width = 1;
    if (mc_gguf_uint(next, &ahead) && ahead <= v->blocks && n >= v->blocks - ahead)
        return true;
    return mc_gguf_element(v->g, mc_gguf_arch(v->g, "attention.head_count"), n, &heads) && heads == 0 &&
           mc_gguf_element(v->g, mc_gguf_arch(v->g, "feed_forward_length"), n, &width) && width == 0;
}

static void empty_blocks(mc_check *cx, const mc_gguf_main *v)
{
    enum { MOST = 1 << 16 };
    uint64_t blocks = v->blocks < MOST ? v->blocks : MOST, n;
    bool    *have = MC_NEW(cx->arena, bool, (size_t)blocks);
    for (size_t i = 0; have && i < v->m->n_files; i++)
        for (size_t k = 0; v->m->files[i].gguf && k < v->m->files[i].n_tensors; k++)
            if (mc_gguf_block(v->m->files[i].tensors[k].name, &n) && n < blocks)
                have[n] = true;
    for (n = 0; have && n < blocks; n++)
        if (!have[n] && !may_lack(v, n))
            mc_subject(mc_report(cx, v->file, "block %llu of %llu has no tensors: llama.cpp stops with 'missing tensor'", (mc_ull)n, (mc_ull)v->blocks),
                       mc_format(cx->arena, "blk.%llu", (mc_ull)n));
}

static const mc_tensor *tensor_named(const mc_model *m, const char *name)
{
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; m->files[i].gguf && k < m->files[i].n_tensors; k++)
            if (mc_str_is(m->files[i].tensors[k].name, name))
                return &m->files[i].tensors[k];
    return NULL;
}

static void embedding_rows(mc_check *cx, const mc_gguf_main *v)
{
    const mc_tensor  *t = tensor_named(v->m, "token_embd.weight");
    const mc_gguf_kv *tokens = mc_gguf_get(v->g, "tokenizer.ggml.tokens");
    uint64_t          rows, wanted;
    if (!t) {
        mc_subject(mc_report(cx, v->file, "token_embd.weight is absent: llama.cpp stops with 'missing tensor'"), MC_STR("token_embd.weight"));
        return;
    }
    if (tokens && tokens->type == MC_GGUF_ARRAY && tokens->n)
        wanted = tokens->n;
    else if (!mc_gguf_uint(mc_gguf_arch(v->g, "vocab_size"), &wanted))
        return;
    rows = t->rank > 1 ? t->dims[1] : 1;
    if (rows == wanted)
        return;
    mc_finding *o = mc_report(cx, v->file, "token_embd.weight has %llu rows for %llu tokens: llama.cpp stops with 'wrong shape'", (mc_ull)rows, (mc_ull)wanted);
    mc_subject(o, t->name);
}

void mc_check_620(mc_check *cx)
{
    mc_gguf_main v;
    if (!mc_gguf_main_model(cx, &v) || !v.complete || !usual_blocks(&v))
        return;
    empty_blocks(cx, &v);
    embedding_rows(cx, &v);
}

/* ---- MC623, MC624: what lies beside, what came before ---- */

void mc_check_623(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *d = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    const mc_value *block = d ? mc_get(d->root, "quantization_config") : NULL;
    if (m->unit != MC_UNIT_GGUF || !mc_is(block, MC_OBJECT))
        return;
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_WEIGHTS && m->files[i].promised != MC_FMT_GGUF && !m->files[i].gguf)
            return; /* the block may be about those */
    mc_str      method = mc_as_str(mc_get(block, "quant_method"));
    mc_finding *o = mc_report(cx, d->file, "says %.*s, but the weights are GGUF: engines that read it stop with 'quantization does not match'",
                              MC_FMT(method.n ? method : MC_STR("a quantization")));
    mc_because(cx, o, "quant_method", mc_from_doc(d, MC_STR("/quantization_config/quant_method")), "%.*s", MC_FMT(method.n ? method : MC_STR("absent")));
}

void mc_check_624(mc_check *cx)
{
    static const struct { const char *bytes, *name; } magics[] = { { "fmgg", "ggmf" }, { "tjgg", "ggjt" }, { "algg", "ggla (LoRA)" }, { "lmgg", "ggml" } };
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        const mc_file *f = &cx->model->files[i];
        if (f->head.n < 4 || (mc_str_starts(f->base, "imatrix") && mc_str_ends(f->base, ".dat")))
            continue;
        for (size_t k = 0; k < MC_COUNT(magics); k++)
            if (memcmp(f->head.p, magics[k].bytes, 4) == 0 && (k < 3 || mc_str_ends_nocase(f->base, ".gguf")))
                mc_report(cx, i, "a %s file from before August 2023: llama.cpp and Ollama refuse it", magics[k].name);
    }
}

/* ---- MC625 - MC628: what only the engine behind the reader minds ---- */

bool mc_gguf_misaligned(const mc_check *cx, uint32_t file)
{
    const mc_file *f = mc_gguf_sound(cx->model, file);
    if (!f || f->n_tensors == 0 || f->gguf->alignment >= 32 || f->data_start % 32 == 0)
        return false;
    return mc_gguf_contents(cx->model, cx->model->gguf_file) == MC_GGUF_MODEL;
}

void mc_check_625(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        if (!mc_gguf_misaligned(cx, i))
            continue;
        const mc_file *f = &cx->model->files[i];
        mc_report(cx, i, "general.alignment %llu: the data begin at %llu, no multiple of 32; llama.cpp stops with 'buffer pointer must be aligned' when it maps the file",
                  (mc_ull)f->gguf->alignment, (mc_ull)f->data_start);
    }
}

/* Hashes of 64 bits in an open table: only an equal hash costs a look at the texts. */
typedef struct { uint64_t *slots; size_t mask; } hashes;

static bool seen_before(hashes *h, uint64_t hash)
{
    size_t i = (size_t)hash & h->mask;
    hash |= hash == 0;
    for (; h->slots[i]; i = (i + 1) & h->mask)
        if (h->slots[i] == hash)
            return true;
    h->slots[i] = hash;
    return false;
}

/* Number of the first token equal to `text`, before number `end`. */
static bool earlier(const mc_gguf *g, const mc_gguf_kv *tokens, mc_str text, uint64_t end, uint64_t *at)
{
    mc_str s;
    size_t pos = 0;
    for (*at = 0; *at < end && mc_gguf_next_str(g, tokens, &pos, &s); ++*at)
        if (mc_str_eq(s, text))
            return true;
    return false;
}

/* One proof is enough; texts made to have equal hashes must not cost a walk each. */
enum { MOST_WALKS = 16 };

void mc_check_626(mc_check *cx)
{
    const mc_model   *m = cx->model;
    const mc_gguf_kv *tokens = mc_gguf_get(m->gguf, "tokenizer.ggml.tokens");
    hashes            h = { .mask = 15 };
    mc_str            s;
    uint64_t          at;
    if (!m->gguf || !mc_gguf_sound(m, m->gguf_file) || !tokens || tokens->type != MC_GGUF_ARRAY || tokens->element != MC_GGUF_STRING)
        return;
    mc_gguf_content c = mc_gguf_contents(m, m->gguf_file);
    if (c != MC_GGUF_MODEL && c != MC_GGUF_VOCABULARY && c != MC_GGUF_VOCAB_ONLY)
        return;
    while (h.mask < tokens->n + tokens->n / 2)
        h.mask = h.mask * 2 + 1;
    h.slots = MC_NEW(cx->arena, uint64_t, h.mask + 1);
    size_t      pos = 0;
    unsigned    walks = 0;
    mc_finding *o = NULL;
    for (uint64_t i = 0; h.slots && mc_gguf_next_str(m->gguf, tokens, &pos, &s); i++) {
        if (s.n == 0 || !seen_before(&h, mc_hash((mc_span){ (const uint8_t *)s.p, s.n })))
            continue;
        if (!o && walks++ < MOST_WALKS && earlier(m->gguf, tokens, s, i, &at))
            o = mc_report(cx, m->gguf_file, "tokens %llu and %llu are both '%.*s': llama.cpp stops on its vocabulary", (mc_ull)at, (mc_ull)i, MC_FMT(s));
        if (o)
            mc_subject(o, s);
    }
}

static bool of_type(mc_check *cx, const mc_tensor *t, const char *const *names)
{
    const mc_dtype *d = mc_kb_dtype(cx->kb, t->dtype);
    return d && mc_str_is_any(d->name, names);
}

typedef bool concerns(mc_check *cx, const mc_tensor *t);

static void each_tensor(mc_check *cx, concerns *test, const char *fmt_after)
{
    mc_gguf_main v;
    if (!mc_gguf_main_model(cx, &v))
        return;
    for (uint32_t i = 0; i < v.m->n_files; i++) {
        const mc_file *f = mc_gguf_sound(v.m, i);
        for (size_t k = 0; f && k < f->n_tensors; k++) {
            const mc_tensor *t = &f->tensors[k];
            if (test(cx, t))
                mc_subject(mc_report(cx, i, "%.*s is %.*s: %s", MC_FMT(t->name), MC_FMT(mc_kb_dtype(cx->kb, t->dtype)->name), fmt_after), t->name);
        }
    }
}

static bool no_kernel(mc_check *cx, const mc_tensor *t)
{
    static const char *const types[] = { "I8", "I16", "I32", "I64", "F64", "Q8_1", "Q8_K", NULL };
    /* the table of experts by token (tid2eid) is looked up, never multiplied */
    return mc_gguf_rank(t) >= 2 && mc_str_ends(t->name, ".weight") && !mc_str_contains(t->name, "tid2eid") && of_type(cx, t, types) &&
           !mc_kb_dtype(cx->kb, t->dtype)->foreign;
}

void mc_check_627(mc_check *cx)
{
    each_tensor(cx, no_kernel, "llama.cpp has no kernel that multiplies it and crashes at the first token");
}

static bool odd_norm(mc_check *cx, const mc_tensor *t)
{
    static const char *const types[] = { "F16", "BF16", "F64", NULL };
    bool norm = mc_str_ends(t->name, "_norm.weight"), bias = mc_str_ends(t->name, ".bias") && mc_gguf_rank(t) == 1;
    bool tower = mc_str_starts(t->name, "v.") || mc_str_starts(t->name, "a.") || mc_str_starts(t->name, "mm.");
    return (norm || bias) && !tower && of_type(cx, t, types);
}

void mc_check_628(mc_check *cx)
{
    each_tensor(cx, odd_norm, "llama.cpp aborts on the CPU (binary_op: unsupported types)");
}
