/* The facts that data may name. Scan computes those of the model, judge.c those of framework and target; docs/frameworks.md
 * lists them with their meaning. */
#include "kb/predicates.h"

#include <stdlib.h>
#include <string.h>

/* Sorted bytewise. */
static const char *const names[] = {
    "act_dtype", "adapter.full_tensors", "auto_map.module_present", "awq_version", "checkpoint_format",
    "column_parallel.out_per_rank_mod_128", "column_parallel.out_per_rank_mod_32", "column_parallel.out_per_rank_mod_64", "column_parallel.out_per_rank_mod_8",
    "column_parallel.out_per_rank_mod_block_n", "column_parallel.out_per_rank_mod_pack", "context",
    "ct.act_bits", "ct.act_type", "ct.actorder", "ct.format", "ct.out_act_bits", "ct.sparsity", "ct.sparsity_24", "ct.strategy",
    "desc_act", "experts",
    "files.bin", "files.consolidated_safetensors", "files.gguf", "files.largest_bytes", "files.names", "files.onnx", "files.pickle", "files.pt", "files.python",
    "files.safetensors", "files.total_bytes",
    "format", "fused_mixed",
    "gguf.architecture", "gguf.byte_order", "gguf.file_type", "gguf.pre", "gguf.split.count", "gguf.split.no", "gguf.split.tensors", "gguf.types", "gguf.version",
    "gpu", "gpu_major", "group_size", "head.stored", "head_dim", "head_dim_k", "head_dim_v", "heads", "heads_divisors", "heads_mod_tp", "hidden",
    "hidden_mod_128", "host", "in", "in_per_rank", "index.listed", "index.missing", "index.subfolder", "index.unlisted", "intermediate", "intermediate_mod_tp",
    "kind", "kv_dtype", "kv_heads", "kv_heads_divide", "kv_heads_mod_tp", "kv_scheme", "layers", "license", "model_type_builtin", "modelopt.quant_algo", "moe",
    "moe.intermediate_per_rank_mod_128", "moe.intermediate_per_rank_mod_group", "name", "out", "out_per_rank", "parameters", "path", "platform", "quant_bits", "quant_format",
    "quant_method", "quant_method_raw", "quant_seen", "quant_source",
    "row_parallel.in_per_rank_mod_128", "row_parallel.in_per_rank_mod_16", "row_parallel.in_per_rank_mod_32", "row_parallel.in_per_rank_mod_64",
    "row_parallel.in_per_rank_mod_block_k", "row_parallel.in_per_rank_mod_group", "row_parallel.in_per_rank_mod_pack",
    "sparse_mla", "sym", "target_is_directory", "target_version", "tensor", "tensors.count", "tensors.dtypes", "tensors.suffixes", "tie_word_embeddings", "tp", "vocab",
    "weight_block_k", "weight_block_n", "weights_bytes",
};
static const char *const groups[] = { "config.", "auto_map.", "file.", "gguf.kv.", "generation." };

static int order(const void *key, const void *name)
{
    return mc_str_cmp(*(const mc_str *)key, mc_str_of(*(const char *const *)name));
}

bool mc_fact_exists(mc_str name)
{
    for (size_t i = 0; i < MC_COUNT(groups); i++)
        if (mc_str_starts(name, groups[i]) && name.n > strlen(groups[i]))
            return true;
    return bsearch(&name, names, MC_COUNT(names), sizeof *names, order) != NULL;
}

const char *mc_fact_name(size_t i)
{
    return i < MC_COUNT(names) ? names[i] : NULL;
}
