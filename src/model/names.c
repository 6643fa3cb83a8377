/* names.c - what a file name promises: role, container, stem, shard numbers, variant, and the file it is a part of.
 *
 * Sources of the names: huggingface_hub and transformers (model.safetensors, -00001-of-00002, .fp16 before the number),
 * diffusers (the older spelling with the variant behind the number), gguf-split (llama.cpp), Mistral and Meta
 * (consolidated.*), PEFT, sentence-transformers, DeepSpeed and Accelerate (training state), aria2, browsers, hub caches,
 * ModelScope and Ollama (unfinished downloads). Everything borrows from the path; nothing is opened. */
#include "model/names.h"

#include <string.h>

typedef struct { const char *name; mc_role role; } named;
typedef struct { const char *ext; mc_container container; } extension;

static const named EXACT[] = {
    { "config.json", MC_ROLE_CONFIG }, { "generation_config.json", MC_ROLE_GENERATION },
    { "tokenizer_config.json", MC_ROLE_TOKENIZER_CONFIG }, { "tokenizer.json", MC_ROLE_TOKENIZER_JSON },
    { "special_tokens_map.json", MC_ROLE_SPECIAL_TOKENS }, { "added_tokens.json", MC_ROLE_ADDED_TOKENS },
    { "tokenizer.model", MC_ROLE_VOCAB }, { "vocab.json", MC_ROLE_VOCAB }, { "vocab.txt", MC_ROLE_VOCAB },
    { "merges.txt", MC_ROLE_VOCAB }, { "spiece.model", MC_ROLE_VOCAB }, { "sentencepiece.bpe.model", MC_ROLE_VOCAB },
    { "tekken.json", MC_ROLE_VOCAB },
    { "processor_config.json", MC_ROLE_PROCESSOR }, { "preprocessor_config.json", MC_ROLE_PROCESSOR },
    { "video_preprocessor_config.json", MC_ROLE_PROCESSOR },
    { "chat_template.jinja", MC_ROLE_TEMPLATE }, { "chat_template.json", MC_ROLE_TEMPLATE },
    { "adapter_config.json", MC_ROLE_ADAPTER_CONFIG },
    { "quantize_config.json", MC_ROLE_QUANTIZE_CONFIG }, { "quant_config.json", MC_ROLE_QUANTIZE_CONFIG },
    { "quantization_config.json", MC_ROLE_QUANTIZE_CONFIG },
    { "hf_quant_config.json", MC_ROLE_HF_QUANT_CONFIG }, { "params.json", MC_ROLE_PARAMS },
    { "model_index.json", MC_ROLE_PIPELINE }, { "modules.json", MC_ROLE_MODULES },
};

/* Patterns of base names, asked before the extensions. */
static const named PATTERNS[] = {
    { "optimizer.*", MC_ROLE_TRAINING }, { "optimizer_[0-9]*", MC_ROLE_TRAINING }, { "scheduler.pt", MC_ROLE_TRAINING },
    { "scheduler.bin", MC_ROLE_TRAINING }, { "scheduler_[0-9]*.bin", MC_ROLE_TRAINING }, { "rng_state*", MC_ROLE_TRAINING },
    { "random_states_*.pkl", MC_ROLE_TRAINING }, { "scaler.pt", MC_ROLE_TRAINING }, { "training_args.bin", MC_ROLE_TRAINING },
    { "trainer_state.json", MC_ROLE_TRAINING }, { "training_state*", MC_ROLE_TRAINING }, { "*optim_states.pt", MC_ROLE_TRAINING },
    { "*_model_states.pt", MC_ROLE_TRAINING }, { "events.out.tfevents.*", MC_ROLE_TRAINING },
    { "*.tiktoken", MC_ROLE_VOCAB }, { "tokenizer.model.v*", MC_ROLE_VOCAB }, { "*.py", MC_ROLE_CODE },
};

static const extension EXTENSIONS[] = {
    { ".safetensors", MC_FMT_SAFETENSORS }, { ".gguf", MC_FMT_GGUF }, { ".pt", MC_FMT_TORCH }, { ".pth", MC_FMT_TORCH },
    { ".ckpt", MC_FMT_TORCH }, { ".onnx", MC_FMT_ONNX }, { ".onnx_data", MC_FMT_ONNX }, { ".onnx.data", MC_FMT_ONNX },
    { ".ort", MC_FMT_ONNX }, { ".tflite", MC_FMT_TFLITE }, { ".litertlm", MC_FMT_TFLITE }, { ".task", MC_FMT_TFLITE },
    { ".h5", MC_FMT_HDF5 }, { ".hdf5", MC_FMT_HDF5 }, { ".keras", MC_FMT_HDF5 }, { ".pb", MC_FMT_TF },
    { ".msgpack", MC_FMT_FLAX }, { ".npz", MC_FMT_NPZ }, { ".ggml", MC_FMT_GGML }, { ".mlmodel", MC_FMT_COREML },
    { ".engine", MC_FMT_TENSORRT }, { ".plan", MC_FMT_TENSORRT }, { ".trt", MC_FMT_TENSORRT }, { ".distcp", MC_FMT_TORCH_DCP },
    { ".dduf", MC_FMT_OTHER }, { ".nemo", MC_FMT_OTHER }, { ".llamafile", MC_FMT_OTHER }, { ".pdparams", MC_FMT_OTHER },
    { ".pdiparams", MC_FMT_OTHER }, { ".rknn", MC_FMT_OTHER }, { ".pte", MC_FMT_OTHER }, { ".mnn", MC_FMT_OTHER },
    { ".t7", MC_FMT_OTHER }, { ".bin", MC_FMT_OTHER },
};

/* A plain .bin may be anything (OpenVINO, CTranslate2, Metal); these names are what torch savers write. */
static const extension BIN_NAMES[] = {
    { "pytorch_model*", MC_FMT_TORCH }, { "diffusion_pytorch_model*", MC_FMT_TORCH }, { "adapter_model*", MC_FMT_TORCH },
    { "pytorch_lora_weights*", MC_FMT_TORCH }, { "learned_embeds*", MC_FMT_TORCH }, { "ip-adapter*", MC_FMT_TORCH },
    { "openvino_*", MC_FMT_OPENVINO }, { "ggml-*", MC_FMT_GGML }, { "*.ggmlv[0-9].*", MC_FMT_GGML },
};

/* ---- shards and variants ---- */

static bool variant_word(mc_str w)
{
    static const char *const words[] = { "ema", "non_ema", "no_ema", "ema_only", "fp16", "fp32", "bf16", "fp8", "int8", "int4", "nf4" };
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if (mc_str_is(w, words[i]))
            return true;
    return mc_str_starts(w, "fp8_");
}

/* Takes ".fp16" (also ".ema.fp16") off the end of *stem. */
static mc_str take_variant(mc_str *stem)
{
    mc_str all = *stem;
    for (size_t dot; (dot = mc_str_rfind(*stem, '.')) != SIZE_MAX && dot > 0 && variant_word(mc_str_cut(*stem, dot + 1, stem->n));)
        *stem = mc_str_cut(*stem, 0, dot);
    return stem->n == all.n ? MC_STR("") : mc_str_cut(all, stem->n + 1, all.n);
}

/* Takes "-00001-of-00002" (or "_1-of-2") off the end of *stem. */
static bool take_shard(mc_str *stem, mc_file *f, bool five_digits)
{
    size_t n = mc_tail_run(*stem, mc_is_digit);
    mc_str s = mc_str_less(*stem, n);
    if (n == 0 || !mc_str_ends(s, "-of-"))
        return false;
    s = mc_str_less(s, 4);
    size_t   k = mc_tail_run(s, mc_is_digit);
    mc_str   rest = mc_str_less(s, k);
    uint64_t shard, shards;
    char     sep = rest.n ? rest.p[rest.n - 1] : '-';
    if (k == 0 || (sep != '-' && sep != '_') || (five_digits && (n != 5 || k != 5 || sep != '-')))
        return false;
    if (!mc_str_u64(mc_str_cut(s, s.n - k, s.n), &shard) || !mc_str_u64(mc_str_cut(*stem, stem->n - n, stem->n), &shards) || shards == 0)
        return false;
    f->shard = shard;
    f->shards = shards;
    f->numbered = true;
    *stem = mc_str_less(rest, 1);
    return true;
}

/* Takes a bare number "-3", "_3" or ".03" off the end of *stem. "xl_base_1.0" is a version, not a number. */
static void take_number(mc_str *stem, mc_file *f)
{
    size_t n = mc_tail_run(*stem, mc_is_digit);
    if (n == 0 || n > 6 || n + 1 >= stem->n)
        return;
    char sep = stem->p[stem->n - n - 1], before = stem->p[stem->n - n - 2];
    if ((sep != '-' && sep != '_' && sep != '.') || (sep == '.' && mc_is_digit(before)))
        return;
    if (!mc_str_u64(mc_str_cut(*stem, stem->n - n, stem->n), &f->shard))
        return;
    f->numbered = true;
    *stem = mc_str_less(*stem, n + 1);
}

static void split_stem(mc_file *f, mc_str stem)
{
    bool gguf = f->promised == MC_FMT_GGUF;
    mc_str behind = gguf ? MC_STR("") : take_variant(&stem);
    bool sharded = take_shard(&stem, f, gguf);
    if (sharded && !gguf && behind.n == 0)
        behind = take_variant(&stem);
    if (!sharded && behind.n == 0 && (f->promised == MC_FMT_SAFETENSORS || f->promised == MC_FMT_TORCH))
        take_number(&stem, f);
    f->variant = behind;
    f->stem = stem;
}

/* ---- weights ---- */

static mc_container bin_container(const mc_file *f, mc_str stem)
{
    mc_file probe = { 0 };
    if (mc_str_contains(f->path, ".mlpackage/") || mc_str_contains(f->path, ".mlmodelc/"))
        return MC_FMT_COREML;
    for (size_t i = 0; i < MC_COUNT(BIN_NAMES); i++)
        if (mc_glob(mc_str_of(BIN_NAMES[i].ext), f->base))
            return BIN_NAMES[i].container;
    return take_shard(&stem, &probe, false) ? MC_FMT_TORCH : MC_FMT_OTHER;
}

/* TensorFlow's checkpoint files carry their extension in the middle: model.ckpt.index, model.ckpt.data-00000-of-00001. */
static bool tf_name(const mc_file *f)
{
    return mc_str_contains(f->base, ".ckpt.index") || mc_str_contains(f->base, ".ckpt.meta") || mc_str_contains(f->base, ".ckpt.data-") ||
           mc_str_starts(f->base, "variables.data-") || mc_str_is(f->base, "variables.index");
}

/* The container that `name` promises by its extension and the length of that; MC_FMT_NONE: no weight name. */
mc_container mc_weight_extension(mc_str name, size_t *len)
{
    for (size_t i = 0; i < MC_COUNT(EXTENSIONS); i++)
        if (mc_str_ends_nocase(name, EXTENSIONS[i].ext) && name.n > strlen(EXTENSIONS[i].ext)) {
            *len = strlen(EXTENSIONS[i].ext);
            return EXTENSIONS[i].container;
        }
    return MC_FMT_NONE;
}

static bool parse_weights(mc_file *f)
{
    size_t ext = 0;
    f->promised = tf_name(f) ? MC_FMT_TF : mc_weight_extension(f->base, &ext);
    if (f->promised == MC_FMT_NONE)
        return false;
    mc_str stem = mc_str_less(f->base, ext);
    if (f->promised == MC_FMT_OTHER && mc_str_ends_nocase(f->base, ".bin"))
        f->promised = bin_container(f, stem);
    f->role = MC_ROLE_WEIGHTS;
    split_stem(f, stem);
    return true;
}

/* <stem>.<ext>.index.json, .index.<variant>.json (transformers), .<variant>.index.json (older diffusers). */
static bool parse_index(mc_file *f)
{
    mc_str s = f->base;
    size_t ext;
    if (!mc_str_ends(s, ".json"))
        return false;
    s = mc_str_less(s, 5);
    mc_str variant = take_variant(&s);
    if (!mc_str_ends(s, ".index"))
        return false;
    s = mc_str_less(s, 6);
    if (variant.n == 0)
        variant = take_variant(&s);
    mc_container c = mc_weight_extension(s, &ext);
    if (c == MC_FMT_NONE)
        return false;
    f->role = MC_ROLE_INDEX;
    f->promised = c == MC_FMT_OTHER ? MC_FMT_TORCH : c; /* pytorch_model.bin.index.json */
    f->stem = mc_str_less(s, ext);
    f->variant = variant;
    return true;
}

/* ---- the whole name ---- */

/* Bookkeeping of caches and version control: never part of a model. */
static bool bookkeeping(mc_str path)
{
    static const char *const dirs[] = { ".no_exist/", ".locks/", ".git/", ".cache/" };
    for (size_t i = 0; i < MC_COUNT(dirs); i++) {
        if (mc_str_starts(path, dirs[i]))
            return true;
        for (size_t at = 0; at + 1 < path.n; at++)
            if (path.p[at] == '/' && mc_str_starts(mc_str_cut(path, at + 1, path.n), dirs[i]))
                return true;
    }
    return false;
}

static bool training_dir(mc_str dir)
{
    return mc_glob(MC_STR("global_step[0-9]*/*"), dir) || mc_glob(MC_STR("*/global_step[0-9]*/*"), dir);
}

void mc_name_parse(mc_file *f)
{
    f->role = MC_ROLE_OTHER;
    if (mc_name_parse_partial(f) || bookkeeping(f->path) || mc_name_parse_part(f) || parse_index(f))
        return;
    for (size_t i = 0; i < MC_COUNT(EXACT); i++)
        if (mc_str_is(f->base, EXACT[i].name)) {
            f->role = EXACT[i].role;
            return;
        }
    for (size_t i = 0; i < MC_COUNT(PATTERNS); i++)
        if (mc_glob(mc_str_of(PATTERNS[i].name), f->base)) {
            f->role = PATTERNS[i].role;
            return;
        }
    if (parse_weights(f) && training_dir(f->path))
        f->role = MC_ROLE_TRAINING;
}

bool mc_name_unsafe(mc_str v)
{
    if (v.n == 0)
        return false;
    bool letter = mc_is_lower(v.p[0]) || (v.p[0] >= 'A' && v.p[0] <= 'Z');
    if (v.p[0] == '/' || (v.n > 1 && letter && v.p[1] == ':'))
        return true;
    for (size_t i = 0, start = 0; i <= v.n; i++) {
        if (i < v.n && ((unsigned char)v.p[i] < 0x20 || v.p[i] == 0x7f || v.p[i] == '\\'))
            return true;
        if (i == v.n || v.p[i] == '/') {
            if (mc_str_is(mc_str_cut(v, start, i), ".."))
                return true;
            start = i + 1;
        }
    }
    return false;
}
