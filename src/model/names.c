/* names.c - what a file name promises: role, container, stem, shard numbers, variant, and the file it is a part of.
 *
 * Sources of the names: huggingface_hub and transformers (model.safetensors, -00001-of-00002, .fp16 before the number),
 * diffusers (the older spelling with the variant behind the number), gguf-split (llama.cpp), Mistral and Meta
 * (consolidated.*), PEFT, sentence-transformers, DeepSpeed and Accelerate (training state), aria2, browsers, hub caches,
 * ModelScope and Ollama (unfinished downloads). Everything borrows from the path; nothing is opened. */
#include "model/model.h"

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

static bool digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool lower_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

/* How many bytes at the end of s satisfy `is`. */
static size_t tail_run(mc_str s, bool (*is)(char))
{
    size_t n = 0;
    while (n < s.n && is(s.p[s.n - 1 - n]))
        n++;
    return n;
}

static mc_str less(mc_str s, size_t n)
{
    return mc_str_cut(s, 0, s.n > n ? s.n - n : 0);
}

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
    size_t n = tail_run(*stem, digit);
    mc_str s = less(*stem, n);
    if (n == 0 || !mc_str_ends(s, "-of-"))
        return false;
    s = less(s, 4);
    size_t   k = tail_run(s, digit);
    mc_str   rest = less(s, k);
    uint64_t shard, shards;
    char     sep = rest.n ? rest.p[rest.n - 1] : '-';
    if (k == 0 || (sep != '-' && sep != '_') || (five_digits && (n != 5 || k != 5 || sep != '-')))
        return false;
    if (!mc_str_u64(mc_str_cut(s, s.n - k, s.n), &shard) || !mc_str_u64(mc_str_cut(*stem, stem->n - n, stem->n), &shards) || shards == 0)
        return false;
    f->shard = shard;
    f->shards = shards;
    f->numbered = true;
    *stem = less(rest, 1);
    return true;
}

/* Takes a bare number "-3", "_3" or ".03" off the end of *stem. "xl_base_1.0" is a version, not a number. */
static void take_number(mc_str *stem, mc_file *f)
{
    size_t n = tail_run(*stem, digit);
    if (n == 0 || n > 6 || n + 1 >= stem->n)
        return;
    char sep = stem->p[stem->n - n - 1], before = stem->p[stem->n - n - 2];
    if ((sep != '-' && sep != '_' && sep != '.') || (sep == '.' && digit(before)))
        return;
    if (!mc_str_u64(mc_str_cut(*stem, stem->n - n, stem->n), &f->shard))
        return;
    f->numbered = true;
    *stem = less(*stem, n + 1);
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
static mc_container weight_extension(mc_str name, size_t *len)
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
    f->promised = tf_name(f) ? MC_FMT_TF : weight_extension(f->base, &ext);
    if (f->promised == MC_FMT_NONE)
        return false;
    mc_str stem = less(f->base, ext);
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
    s = less(s, 5);
    mc_str variant = take_variant(&s);
    if (!mc_str_ends(s, ".index"))
        return false;
    s = less(s, 6);
    if (variant.n == 0)
        variant = take_variant(&s);
    mc_container c = weight_extension(s, &ext);
    if (c == MC_FMT_NONE)
        return false;
    f->role = MC_ROLE_INDEX;
    f->promised = c == MC_FMT_OTHER ? MC_FMT_TORCH : c; /* pytorch_model.bin.index.json */
    f->stem = less(s, ext);
    f->variant = variant;
    return true;
}

/* ---- parts of files, unfinished files ---- */

static bool parse_control(mc_file *f)
{
    static const char *const suffixes[] = { ".aria2", ".!qB", ".!ut", ".st" };
    for (size_t i = 0; i < MC_COUNT(suffixes); i++)
        if (mc_str_ends(f->base, suffixes[i])) {
            size_t len, n = strlen(suffixes[i]);
            if (weight_extension(less(f->base, n), &len) == MC_FMT_NONE && i == 3)
                return false; /* axel's ".st" means something only behind a name we know */
            f->role = MC_ROLE_CONTROL;
            f->part_of = less(f->path, n);
            return true;
        }
    return false;
}

/* "model.safetensors.<etag>[.<8 hex>]" of a hub download: the path without the hex tail, "" if no file name is left. */
static mc_str without_etag(mc_str path)
{
    size_t len;
    for (int cut = 0; cut < 3; cut++) {
        if (weight_extension(path, &len) != MC_FMT_NONE || mc_str_ends(path, ".json") || mc_str_ends(path, ".txt"))
            return path;
        size_t dot = mc_str_rfind(path, '.'), slash = mc_str_rfind(path, '/');
        if (dot == SIZE_MAX || (slash != SIZE_MAX && slash > dot))
            break;
        path = mc_str_cut(path, 0, dot);
    }
    return MC_STR("");
}

/* Where a download into a plain directory keeps its state: <dir>/.cache/huggingface/download/<path>. */
static mc_str without_download_dir(mc_str path)
{
    static const char dir[] = ".cache/huggingface/download/";
    return mc_str_starts(path, dir) ? mc_str_cut(path, sizeof dir - 1, path.n) : path;
}

static bool parse_partial(mc_file *f)
{
    static const char *const suffixes[] = { ".part", ".crdownload", ".downloading", ".download", ".partial", ".tmp" };
    static const char temp[] = "._____temp/"; /* ModelScope */
    if (mc_str_starts(f->path, temp) || mc_str_contains(f->path, "/._____temp/")) {
        f->role = MC_ROLE_PARTIAL;
        f->part_of = mc_str_starts(f->path, temp) ? mc_str_cut(f->path, sizeof temp - 1, f->path.n) : MC_STR("");
        return true;
    }
    if (mc_str_ends(f->base, ".incomplete")) {
        f->role = MC_ROLE_PARTIAL;
        f->part_of = without_download_dir(without_etag(less(f->path, 11)));
        return true;
    }
    for (size_t i = 0; i < MC_COUNT(suffixes); i++)
        if (mc_str_ends(f->base, suffixes[i]) && f->base.n > strlen(suffixes[i])) {
            f->role = MC_ROLE_PARTIAL;
            f->part_of = less(f->path, strlen(suffixes[i]));
            return true;
        }
    if (!mc_str_starts(f->base, "sha256-"))
        return false;
    mc_str s = f->path; /* Ollama: sha256-<hex>-partial and, with the state of one piece, -partial-<n> */
    size_t n = tail_run(s, digit);
    if (n > 0 && mc_str_ends(less(s, n), "-partial-"))
        s = less(s, n + 1);
    if (!mc_str_ends(s, "-partial"))
        return false;
    f->role = MC_ROLE_PARTIAL;
    f->part_of = less(s, 8);
    return true;
}

/* What follows the weight name: "part1of2", "part-aa", "part01", "split-a", "001". */
static bool part_number(mc_str t, uint64_t *part, uint64_t *parts)
{
    size_t n = tail_run(t, digit);
    if (n == 3 && t.n == 3)
        return mc_str_u64(t, part);
    bool split = mc_str_starts(t, "split");
    if (!split && !mc_str_starts(t, "part"))
        return false;
    t = mc_str_cut(t, split ? 5 : 4, t.n);
    bool sep = t.n > 0 && (t.p[0] == '-' || t.p[0] == '_');
    t = mc_str_cut(t, sep, t.n);
    if (split && !sep)
        return false;
    size_t letters = tail_run(t, lower_letter);
    if (letters == t.n && letters >= (sep ? 1u : 2u) && letters <= 4) {
        uint64_t v = 0;
        for (size_t i = 0; i < t.n; i++)
            v = v * 26 + (uint64_t)(t.p[i] - 'a');
        *part = v + 1;
        return true;
    }
    n = tail_run(t, digit);
    mc_str head = less(t, n);
    if (n == 0 || (head.n == 0 && mc_str_u64(t, part)))
        return n != 0;
    size_t of = mc_str_ends(head, "-of-") || mc_str_ends(head, "_of_") ? 4 : mc_str_ends(head, "of") ? 2 : 0;
    return of && mc_str_u64(less(head, of), part) && mc_str_u64(mc_str_cut(t, head.n, t.n), parts);
}

static bool parse_byte_part(mc_file *f)
{
    static const char *const exts[] = { ".safetensors", ".gguf", ".bin", ".pth", ".pt" };
    for (size_t e = 0; e < MC_COUNT(exts); e++)
        for (size_t i = f->base.n, n = strlen(exts[e]); i-- > 1;) {
            mc_str behind = mc_str_cut(f->base, i, f->base.n);
            if (!mc_str_starts(behind, exts[e]) || behind.n < n + 2 || (behind.p[n] != '.' && behind.p[n] != '-'))
                continue;
            uint64_t part = 0, parts = 0;
            if (!part_number(mc_str_cut(behind, n + 1, behind.n), &part, &parts))
                break;
            f->role = MC_ROLE_BYTE_PART;
            f->part = part;
            f->parts = parts;
            f->part_of = less(f->path, behind.n - n);
            return true;
        }
    return false;
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
    if (parse_partial(f) || bookkeeping(f->path) || parse_control(f) || parse_byte_part(f) || parse_index(f))
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
    bool letter = lower_letter(v.p[0]) || (v.p[0] >= 'A' && v.p[0] <= 'Z');
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
