/* What a GGUF is: language model, projector, adapter, importance matrix, vocabulary, draft. */
#include "model/gguf.h"

/* "vocab" between dashes: ggml-vocab-llama.gguf, tiny-1.3M-v1.0-vocab.gguf. */
static bool says_vocabulary(mc_str base)
{
    if (mc_str_ends_nocase(base, ".gguf"))
        base.n -= sizeof ".gguf" - 1;
    while (base.n) {
        size_t dash = mc_str_find(base, '-');
        mc_str part = mc_str_cut(base, 0, dash);
        if (part.n == 5 && mc_str_ends_nocase(part, "vocab"))
            return true;
        base = mc_str_cut(base, dash + 1, base.n);
    }
    return false;
}

static bool says_draft(mc_str base)
{
    return mc_str_starts(base, "mtp-") || mc_str_starts(base, "eagle3-") || mc_str_starts(base, "dflash-") || mc_str_starts(base, "dspark-");
}

typedef struct { bool block, tower, in_sum2; uint64_t n; } shown;

static shown look_at_tensors(const mc_model *m)
{
    shown s = { 0 };
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        for (size_t k = 0; f->gguf && k < f->n_tensors; k++) {
            mc_str name = f->tensors[k].name;
            s.block |= mc_str_starts(name, "blk.");
            s.tower |= mc_str_starts(name, "v.") || mc_str_starts(name, "a.") || mc_str_starts(name, "mm.");
            s.in_sum2 |= mc_str_ends(name, ".in_sum2");
        }
        s.n += f->gguf ? f->gguf->n_tensors : 0;
    }
    return s;
}

static bool has_vocabulary(const mc_gguf *g)
{
    for (size_t i = 0; i < g->n; i++)
        if (mc_str_starts(g->kv[i].key, "tokenizer.ggml."))
            return true;
    return false;
}

mc_gguf_content mc_gguf_contents(const mc_model *m, uint32_t file)
{
    static const char *const drafts[] = { "eagle3", "dflash", "gemma4-assistant", NULL };
    const mc_gguf *g = m->gguf ? m->gguf : file < m->n_files ? m->files[file].gguf : NULL;
    uint64_t       parts = 0;
    if (!g || g->fault != MC_GGUF_SOUND)
        return MC_GGUF_MODEL;
    mc_str arch = mc_gguf_str(mc_gguf_get(g, "general.architecture")), type = mc_gguf_str(mc_gguf_get(g, "general.type"));
    mc_str base = file < m->n_files ? m->files[file].base : MC_STR("");
    shown  s = look_at_tensors(m);
    if (mc_str_is(type, "imatrix") || s.in_sum2)
        return MC_GGUF_IMATRIX;
    if (mc_str_is(type, "adapter"))
        return MC_GGUF_ADAPTER;
    if (mc_str_is(arch, "controlvector"))
        return MC_GGUF_CONTROL_VECTOR;
    if (mc_str_is(type, "mmproj") || mc_str_is(type, "projector") || mc_str_is(arch, "clip"))
        return MC_GGUF_PROJECTOR;
    bool split = mc_gguf_uint(mc_gguf_get(g, "split.count"), &parts) && parts > 1;
    if (s.n == 0 && !split && has_vocabulary(g))
        return says_vocabulary(base) ? MC_GGUF_VOCABULARY : MC_GGUF_VOCAB_ONLY;
    if (mc_str_is_any(arch, drafts) || says_draft(base))
        return MC_GGUF_DRAFT;
    return s.block && s.tower ? MC_GGUF_BUNDLE : MC_GGUF_MODEL;
}

const char *mc_gguf_content_name(mc_gguf_content c)
{
    static const char *const names[] = {
        [MC_GGUF_MODEL] = "language model", [MC_GGUF_BUNDLE] = "language model with its vision or audio tower",
        [MC_GGUF_PROJECTOR] = "vision or audio projector", [MC_GGUF_ADAPTER] = "LoRA adapter",
        [MC_GGUF_CONTROL_VECTOR] = "control vector", [MC_GGUF_IMATRIX] = "importance matrix",
        [MC_GGUF_DRAFT] = "draft model for speculative decoding", [MC_GGUF_VOCABULARY] = "vocabulary",
        [MC_GGUF_VOCAB_ONLY] = "vocabulary under the name of a model",
    };
    return names[c];
}

mc_kind mc_gguf_kind(const mc_model *m)
{
    static const char *const encoders[] = { "bert", "modern-bert", "nomic-bert", "nomic-bert-moe", "neo-bert", "jina-bert-v2", "jina-bert-v3",
                                            "eurobert", "t5encoder", "gemma-embedding", "llama-embed", NULL };
    static const char *const others[] = { "wavtokenizer-dec", "pockettts", "qwen3tts", "flux", "sd1", "sdxl", "sd3", "aura", "ltxv", "hyvid",
                                          "wan", "lumina2", "qwen_image", NULL };
    static const mc_kind kinds[] = {
        [MC_GGUF_MODEL] = MC_KIND_CAUSAL_LM, [MC_GGUF_BUNDLE] = MC_KIND_VISION_LANGUAGE, [MC_GGUF_PROJECTOR] = MC_KIND_PROJECTOR,
        [MC_GGUF_ADAPTER] = MC_KIND_ADAPTER, [MC_GGUF_CONTROL_VECTOR] = MC_KIND_OTHER, [MC_GGUF_IMATRIX] = MC_KIND_IMATRIX,
        [MC_GGUF_DRAFT] = MC_KIND_DRAFT, [MC_GGUF_VOCABULARY] = MC_KIND_VOCAB, [MC_GGUF_VOCAB_ONLY] = MC_KIND_VOCAB,
    };
    mc_gguf_content c = mc_gguf_contents(m, m->gguf_file);
    mc_str          arch = mc_gguf_str(mc_gguf_get(m->gguf, "general.architecture"));
    if (c != MC_GGUF_MODEL)
        return kinds[c];
    if (!m->gguf || m->gguf->fault != MC_GGUF_SOUND)
        return MC_KIND_NONE;
    return mc_str_is_any(arch, encoders) ? MC_KIND_ENCODER : mc_str_is(arch, "t5") ? MC_KIND_SEQ2SEQ : mc_str_is_any(arch, others) ? MC_KIND_OTHER : kinds[c];
}
