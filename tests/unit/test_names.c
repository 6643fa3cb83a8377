/* File names: role, promised container, stem, numbers, variant, part_of; and the names that must not be opened. */
#include "model/model.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

typedef struct {
    const char  *path;
    mc_role      role;
    mc_container promised;
    const char  *stem, *variant;
    int          shard;         /* -1: not numbered */
    uint64_t     shards;
} weight;

static const weight WEIGHTS[] = {
    { "model.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", -1, 0 },
    { "model-00001-of-00002.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", 1, 2 },
    { "model_00001-of-00072.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", 1, 72 },
    { "model-00000-of-00002.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", 0, 2 },
    { "model-1-of-3.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", 1, 3 },
    { "model.fp16.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "fp16", -1, 0 },
    { "model.fp16-00001-of-00002.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "fp16", 1, 2 },
    { "unet/diffusion_pytorch_model.non_ema.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "diffusion_pytorch_model", "non_ema", -1, 0 },
    { "unet/diffusion_pytorch_model.ema.fp16.bin", MC_ROLE_WEIGHTS, MC_FMT_TORCH, "diffusion_pytorch_model", "ema.fp16", -1, 0 },
    { "diffusion_pytorch_model-00001-of-00002.fp16.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "diffusion_pytorch_model", "fp16", 1, 2 },
    { "layers-22.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "layers", "", 22, 0 },
    { "model_3.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", 3, 0 },
    { "model.7.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model", "", 7, 0 },
    { "model-mtp-0.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "model-mtp", "", 0, 0 },
    { "sd_xl_base_1.0.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "sd_xl_base_1.0", "", -1, 0 },
    { "consolidated.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "consolidated", "", -1, 0 },
    { "consolidated-00001-of-00002.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "consolidated", "", 1, 2 },
    { "original/consolidated.00.pth", MC_ROLE_WEIGHTS, MC_FMT_TORCH, "consolidated", "", 0, 0 },
    { "pytorch_model.bin", MC_ROLE_WEIGHTS, MC_FMT_TORCH, "pytorch_model", "", -1, 0 },
    { "pytorch_model-00001-of-00002.bin", MC_ROLE_WEIGHTS, MC_FMT_TORCH, "pytorch_model", "", 1, 2 },
    { "model-00001-of-00002.bin", MC_ROLE_WEIGHTS, MC_FMT_TORCH, "model", "", 1, 2 },
    { "adapter_model.safetensors", MC_ROLE_WEIGHTS, MC_FMT_SAFETENSORS, "adapter_model", "", -1, 0 },
    { "metal/model.bin", MC_ROLE_WEIGHTS, MC_FMT_OTHER, "model", "", -1, 0 },
    { "openvino_model.bin", MC_ROLE_WEIGHTS, MC_FMT_OPENVINO, "openvino_model", "", -1, 0 },
    { "ggml-model-q4_0.bin", MC_ROLE_WEIGHTS, MC_FMT_GGML, "ggml-model-q4_0", "", -1, 0 },
    { "llama-2-7b.ggmlv3.q4_0.bin", MC_ROLE_WEIGHTS, MC_FMT_GGML, "llama-2-7b.ggmlv3.q4_0", "", -1, 0 },
    { "m-Q4_K_M-00002-of-00003.gguf", MC_ROLE_WEIGHTS, MC_FMT_GGUF, "m-Q4_K_M", "", 2, 3 },
    { "m-1-of-3.gguf", MC_ROLE_WEIGHTS, MC_FMT_GGUF, "m-1-of-3", "", -1, 0 },
    { "phi-2.gguf", MC_ROLE_WEIGHTS, MC_FMT_GGUF, "phi-2", "", -1, 0 },
    { "Model.GGUF", MC_ROLE_WEIGHTS, MC_FMT_GGUF, "Model", "", -1, 0 },
    { "onnx/model.onnx_data", MC_ROLE_WEIGHTS, MC_FMT_ONNX, "model", "", -1, 0 },
    { "tf_model.h5", MC_ROLE_WEIGHTS, MC_FMT_HDF5, "tf_model", "", -1, 0 },
    { "flax_model.msgpack", MC_ROLE_WEIGHTS, MC_FMT_FLAX, "flax_model", "", -1, 0 },
    { "model.ckpt.index", MC_ROLE_WEIGHTS, MC_FMT_TF, "model.ckpt.index", "", -1, 0 },
    { "model.ckpt", MC_ROLE_WEIGHTS, MC_FMT_TORCH, "model", "", -1, 0 },
    { "__1_0.distcp", MC_ROLE_WEIGHTS, MC_FMT_TORCH_DCP, "__1_0", "", -1, 0 },
    { "model.safetensors.index.json", MC_ROLE_INDEX, MC_FMT_SAFETENSORS, "model", "", -1, 0 },
    { "model.safetensors.index.fp16.json", MC_ROLE_INDEX, MC_FMT_SAFETENSORS, "model", "fp16", -1, 0 },
    { "diffusion_pytorch_model.safetensors.fp16.index.json", MC_ROLE_INDEX, MC_FMT_SAFETENSORS, "diffusion_pytorch_model", "fp16", -1, 0 },
    { "pytorch_model.bin.index.json", MC_ROLE_INDEX, MC_FMT_TORCH, "pytorch_model", "", -1, 0 },
    { "consolidated.safetensors.index.json", MC_ROLE_INDEX, MC_FMT_SAFETENSORS, "consolidated", "", -1, 0 },
};

static mc_file parse(const char *path)
{
    mc_file f = { .path = mc_str_of(path), .base = mc_str_base(mc_str_of(path)) };
    mc_name_parse(&f);
    return f;
}

#define SAME(path, got, want)                                                                                        \
    do {                                                                                                             \
        if (!mc_str_is((got), (want)))                                                                               \
            fail_msg("%s: '%.*s' is not '%s'", (path), MC_FMT(got), (want));                                         \
    } while (0)

static void weights_and_indexes(void **state)
{
    (void)state;
    for (size_t i = 0; i < MC_COUNT(WEIGHTS); i++) {
        const weight *w = &WEIGHTS[i];
        mc_file f = parse(w->path);
        SAME(w->path, f.stem, w->stem);
        SAME(w->path, f.variant, w->variant);
        if (f.role != w->role || f.promised != w->promised || f.shards != w->shards || f.numbered != (w->shard >= 0) ||
            (w->shard >= 0 && f.shard != (uint64_t)w->shard))
            fail_msg("%s: role %d promised %d shard %d of %d", w->path, (int)f.role, (int)f.promised, f.numbered ? (int)f.shard : -1, (int)f.shards);
    }
}

static void roles(void **state)
{
    static const struct { const char *path; mc_role role; } rows[] = {
        { "config.json", MC_ROLE_CONFIG }, { "vae/config.json", MC_ROLE_CONFIG }, { "generation_config.json", MC_ROLE_GENERATION },
        { "tokenizer.json", MC_ROLE_TOKENIZER_JSON }, { "tokenizer_config.json", MC_ROLE_TOKENIZER_CONFIG },
        { "special_tokens_map.json", MC_ROLE_SPECIAL_TOKENS }, { "added_tokens.json", MC_ROLE_ADDED_TOKENS },
        { "tokenizer.model", MC_ROLE_VOCAB }, { "tokenizer.model.v3", MC_ROLE_VOCAB }, { "vocab.json", MC_ROLE_VOCAB },
        { "vocab.txt", MC_ROLE_VOCAB }, { "merges.txt", MC_ROLE_VOCAB }, { "spiece.model", MC_ROLE_VOCAB },
        { "sentencepiece.bpe.model", MC_ROLE_VOCAB }, { "tekken.json", MC_ROLE_VOCAB }, { "qwen.tiktoken", MC_ROLE_VOCAB },
        { "preprocessor_config.json", MC_ROLE_PROCESSOR }, { "chat_template.jinja", MC_ROLE_TEMPLATE },
        { "adapter_config.json", MC_ROLE_ADAPTER_CONFIG }, { "quantize_config.json", MC_ROLE_QUANTIZE_CONFIG },
        { "quant_config.json", MC_ROLE_QUANTIZE_CONFIG }, { "hf_quant_config.json", MC_ROLE_HF_QUANT_CONFIG },
        { "params.json", MC_ROLE_PARAMS }, { "model_index.json", MC_ROLE_PIPELINE }, { "modules.json", MC_ROLE_MODULES },
        { "modeling_x.py", MC_ROLE_CODE }, { "README.md", MC_ROLE_OTHER }, { "scheduler_config.json", MC_ROLE_OTHER },
        { "optimizer.pt", MC_ROLE_TRAINING }, { "optimizer.bin", MC_ROLE_TRAINING }, { "scheduler.pt", MC_ROLE_TRAINING },
        { "rng_state.pth", MC_ROLE_TRAINING }, { "rng_state_3.pth", MC_ROLE_TRAINING }, { "random_states_0.pkl", MC_ROLE_TRAINING },
        { "scaler.pt", MC_ROLE_TRAINING }, { "training_args.bin", MC_ROLE_TRAINING }, { "trainer_state.json", MC_ROLE_TRAINING },
        { "global_step100/mp_rank_00_model_states.pt", MC_ROLE_TRAINING }, { "global_step100/x.pt", MC_ROLE_TRAINING },
        { ".no_exist/abc/config.json", MC_ROLE_OTHER }, { ".cache/huggingface/download/model.safetensors.metadata", MC_ROLE_OTHER },
        { ".cache/huggingface/download/model.safetensors.lock", MC_ROLE_OTHER }, { ".gitattributes", MC_ROLE_OTHER },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        if (parse(rows[i].path).role != rows[i].role)
            fail_msg("%s: role %d, not %d", rows[i].path, (int)parse(rows[i].path).role, (int)rows[i].role);
}

static void parts(void **state)
{
    static const struct { const char *path; mc_role role; const char *part_of; uint64_t part, parts; } rows[] = {
        { "m.gguf.part1of2", MC_ROLE_BYTE_PART, "m.gguf", 1, 2 },
        { "x/m.gguf.part-aa", MC_ROLE_BYTE_PART, "x/m.gguf", 1, 0 },
        { "model-00001-of-00002.safetensors.part-ab", MC_ROLE_BYTE_PART, "model-00001-of-00002.safetensors", 2, 0 },
        { "m.gguf.part_ba", MC_ROLE_BYTE_PART, "m.gguf", 27, 0 },
        { "m.safetensors.part00", MC_ROLE_BYTE_PART, "m.safetensors", 0, 0 },
        { "m.gguf.split-ac", MC_ROLE_BYTE_PART, "m.gguf", 3, 0 },
        { "m.Q8_0.gguf-split-b", MC_ROLE_BYTE_PART, "m.Q8_0.gguf", 2, 0 },
        { "pytorch_model.bin.001", MC_ROLE_BYTE_PART, "pytorch_model.bin", 1, 0 },
        { "x.pth.002", MC_ROLE_BYTE_PART, "x.pth", 2, 0 },
        { "model.safetensors.part", MC_ROLE_PARTIAL, "model.safetensors", 0, 0 },
        { "model.safetensors.crdownload", MC_ROLE_PARTIAL, "model.safetensors", 0, 0 },
        { "tokenizer.json.tmp", MC_ROLE_PARTIAL, "tokenizer.json", 0, 0 },
        { "model.safetensors.incomplete", MC_ROLE_PARTIAL, "model.safetensors", 0, 0 },
        { ".cache/huggingface/download/model.safetensors.0123abcd.incomplete", MC_ROLE_PARTIAL, "model.safetensors", 0, 0 },
        { ".cache/huggingface/download/k3J=.0123abcd.89abcdef.incomplete", MC_ROLE_PARTIAL, "", 0, 0 },
        { "blobs/0123abcd.89abcdef.incomplete", MC_ROLE_PARTIAL, "", 0, 0 },
        { "._____temp/model.safetensors", MC_ROLE_PARTIAL, "model.safetensors", 0, 0 },
        { "blobs/sha256-00ff-partial", MC_ROLE_PARTIAL, "blobs/sha256-00ff", 0, 0 },
        { "blobs/sha256-00ff-partial-12", MC_ROLE_PARTIAL, "blobs/sha256-00ff", 0, 0 },
        { "model.safetensors.aria2", MC_ROLE_CONTROL, "model.safetensors", 0, 0 },
        { "m.gguf.!qB", MC_ROLE_CONTROL, "m.gguf", 0, 0 },
        { "m.gguf.st", MC_ROLE_CONTROL, "m.gguf", 0, 0 },
        { "notes.st", MC_ROLE_OTHER, "", 0, 0 },
        { "README.part1of2", MC_ROLE_OTHER, "", 0, 0 },
        { "model.safetensors.bak", MC_ROLE_OTHER, "", 0, 0 },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_file f = parse(rows[i].path);
        SAME(rows[i].path, f.part_of, rows[i].part_of);
        if (f.role != rows[i].role || f.part != rows[i].part || f.parts != rows[i].parts)
            fail_msg("%s: role %d part %d of %d", rows[i].path, (int)f.role, (int)f.part, (int)f.parts);
    }
}

static void unsafe(void **state)
{
    static const char *const bad[] = { "/etc/passwd", "../x.safetensors", "a/../../x", "..\\x.safetensors", "C:x", "a\nb", ".." };
    static const char *const good[] = { "model.safetensors", "sub/model-00001-of-00002.safetensors", "a..b.safetensors", "", "..." };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(bad); i++)
        if (!mc_name_unsafe(mc_str_of(bad[i])))
            fail_msg("%s passes", bad[i]);
    for (size_t i = 0; i < MC_COUNT(good); i++)
        if (mc_name_unsafe(mc_str_of(good[i])))
            fail_msg("%s is refused", good[i]);
    assert_true(mc_name_unsafe(MC_STR("a\0b.safetensors")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_and_indexes), cmocka_unit_test(roles), cmocka_unit_test(parts), cmocka_unit_test(unsafe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
