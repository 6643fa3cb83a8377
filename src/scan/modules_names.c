/* Names of what quantizers store: which part of its module a tensor is, by the end of its name.
 *
 * Writers: AutoGPTQ, GPTQModel, AutoAWQ, llm-awq, bitsandbytes, compressed-tensors, transformers (FP8, fused experts), ModelOpt,
 * Quark, gpt-oss, mlx-lm, exllamav2, exllamav3, AQLM, QuIP#, VPTQ, SpQR, HQQ, SINQ, torchao, optimum-quanto, EETQ, FLUTE,
 * FP-Quant, QQQ, Marlin. A fused parameter "experts.gate_up_proj" has no suffix; its companions follow an underscore. */
#include "scan/modules.h"

#include <string.h>

#define W(text, id, kind) { { text, sizeof(text) - 1 }, MC_S_##id, MC_PART_WEIGHT, MC_SFX_##kind }
#define C(text, id, part, kind) { { text, sizeof(text) - 1 }, MC_S_##id, MC_PART_##part, MC_SFX_##kind }

static const mc_suffix bare = { { "", 0 }, MC_S_WEIGHT, MC_PART_WEIGHT, MC_SFX_WEIGHT };

static const mc_suffix table[] = {
    /* weights */
    W(".weight", WEIGHT, WEIGHT), W(".qweight", QWEIGHT, WEIGHT), W(".weight_packed", PACKED, WEIGHT), W(".trellis", TRELLIS, WEIGHT),
    W(".q_weight", Q_WEIGHT, WEIGHT), W(".Qidxs", QIDXS, WEIGHT), W(".codes", CODES, WEIGHT), W(".indices", INDICES, WEIGHT), W(".dense_weights", DENSE, WEIGHT),
    W(".W_q", W_Q, WEIGHT), W("_blocks", BLOCKS, WEIGHT), W(".blocks", BLOCKS, WEIGHT), W(".B", B, WEIGHT), W(".B_24", B24, WEIGHT), W(".weight._data", QUANTO, WEIGHT),
    W(".weight._data._data", QUANTO_SUB, WEIGHT), W("._weight_qdata", QDATA, WEIGHT), W(".weight:qdata", QDATA, WEIGHT), W(".weight:_data", QDATA, WEIGHT),
    /* scales */
    C(".weight_scale", SCALE_OF_WEIGHT, SCALE, SURE), C("_weight_scale", SCALE_OF_WEIGHT, SCALE, SURE), C("._weight_scale", SCALE_OF_WEIGHT, SCALE, SURE),
    C(".weight:scale", SCALE_OF_WEIGHT, SCALE, SURE), C(".weight:_scale", SCALE_OF_WEIGHT, SCALE, SURE), C("._weight_scale_and_zero", SCALE_OF_WEIGHT, SCALE, SURE),
    C(".scale_weight", SCALE_OF_WEIGHT, SCALE, SURE), C(".weight_quantizer.scale", SCALE_OF_WEIGHT, SCALE, SURE), C(".weight_quantizer._scale", SCALE_OF_WEIGHT, SCALE, SURE),
    C(".weight_scale_inv", SCALE_INV, SCALE, SURE), C("_scale_inv", SCALE_INV, SCALE, SURE), C(".scale_inv", SCALE_INV, SCALE, SURE), C("_weight_scale_inv", SCALE_INV, SCALE, SURE),
    C(".scale", SCALE, SCALE, MAYBE), C("_scale", SCALE_OF_WEIGHT, SCALE, MAYBE), C(".scales", SCALES, SCALE, SURE), C("_scales", SCALES, SCALE, SURE),
    C(".weight_scales", EETQ_SCALES, SCALE, SURE), C(".SCB", SCB, SCALE, SURE), C(".weight.absmax", ABSMAX, SCALE, SURE), C(".q_scale", Q_SCALE, SCALE, SURE),
    C(".s", S, SCALE, MAYBE), C(".s_group", S_GROUP, SCALE, SURE), C(".scale_packed", SCALE_PACKED, SCALE, SURE), C(".weight._scale", SCALE_OF_WEIGHT, SCALE, SURE),
    C(".meta.scale", META_SCALE, SCALE, MAYBE),
    /* second-level scales */
    C(".weight_scale_2", SCALE_2, SCALE2, SURE), C("_weight_scale_2", SCALE_2, SCALE2, SURE), C(".weight_global_scale", GLOBAL, SCALE2, SURE),
    C("_weight_global_scale", GLOBAL, SCALE2, SURE), C("_global_scale", GLOBAL, SCALE2, SURE), C(".weight.nested_absmax", NESTED_ABSMAX, SCALE2, SURE),
    C(".q_scale_max", Q_SCALE_MAX, SCALE2, SURE), C(".Wscale", WSCALE, SCALE2, SURE), C(".s_channel", S_CHANNEL, SCALE2, SURE), C(".meta.scale2", META, SCALE2, MAYBE),
    C("._weight_per_tensor_scale", SCALE_2, SCALE2, SURE), C(".weight:per_tensor_scale", SCALE_2, SCALE2, SURE), C(".global_scale", GLOBAL, SCALE2, MAYBE),
    /* zero points */
    C(".qzeros", QZEROS, ZERO, SURE), C(".scaled_zeros", SCALED_ZEROS, ZERO, SURE), C(".weight_zero_point", ZERO_OF_WEIGHT, ZERO, SURE),
    C("._weight_zero_point", ZERO_OF_WEIGHT, ZERO, SURE), C("_weight_zero_point", ZERO_OF_WEIGHT, ZERO, SURE), C(".weight:zero_point", ZERO_OF_WEIGHT, ZERO, SURE),
    C(".weight:_zero_point", ZERO_OF_WEIGHT, ZERO, SURE), C(".weight_quantizer.zero_point", ZERO_OF_WEIGHT, ZERO, SURE), C(".weight_quantizer._zero_point", ZERO_OF_WEIGHT, ZERO, SURE),
    C(".biases", BIASES, ZERO, SURE), C(".qbiases", QBIASES, ZERO, SURE), C(".zero", ZERO, ZERO, MAYBE), C(".zeros", ZERO, ZERO, MAYBE), C(".weight._shift", SHIFT, ZERO, SURE),
    C(".meta.zero", META, ZERO, MAYBE),
    /* order and shape */
    C(".g_idx", G_IDX, INDEX, SURE), C(".weight_g_idx", G_IDX, INDEX, SURE), C(".q_invperm", Q_INVPERM, INDEX, SURE), C(".perm", EXTRA, INDEX, MAYBE), C(".in_perm", EXTRA, INDEX, SURE),
    C(".suh", SUH, INDEX, SURE), C(".su", SU, INDEX, MAYBE), C(".SU", QUIP_SU, INDEX, SURE), C(".weight_shape", SHAPE_OF_WEIGHT, SHAPE, SURE), C("_weight_shape", SHAPE_OF_WEIGHT, SHAPE, SURE),
    C("_shape", SHAPE_OF_WEIGHT, SHAPE, MAYBE), C(".shape", SHAPE, SHAPE, MAYBE),
    /* states, maps, code books */
    C(".weight.quant_state.bitsandbytes__nf4", NF4, STATE, SURE), C(".weight.quant_state.bitsandbytes__fp4", FP4, STATE, SURE), C(".q_groups", Q_GROUPS, STATE, SURE),
    C(".nbits", NBITS, STATE, MAYBE), C(".weight.quant_map", QUANT_MAP, MAP, SURE), C(".codebooks", CODEBOOKS, MAP, MAYBE), C(".centroids.weight", CENTROIDS, MAP, MAYBE),
    C(".tables", TABLES, MAP, MAYBE), C(".svh", SVH, MAP, SURE), C(".sv", SV, MAP, MAYBE), C(".SV", QUIP_SV, MAP, SURE), C(".B_meta", META, EXTRA, SURE),
    C(".meta", META, EXTRA, MAYBE), C(".weight.nested_quant_map", NESTED_MAP, EXTRA, SURE), C(".weight_format", WEIGHT_FORMAT, EXTRA, SURE),
    C(".row_offsets", ROW_OFFSETS, EXTRA, SURE), C(".col_vals", COL_VALS, EXTRA, SURE), C(".codebook_id", CODEBOOK_ID, EXTRA, SURE),
    /* activations */
    C(".input_scale", INPUT, INPUT, SURE), C("_input_scale", INPUT, INPUT, SURE), C(".input_global_scale", INPUT, INPUT, SURE), C("_input_global_scale", INPUT, INPUT, SURE),
    C(".activation_scale", INPUT, INPUT, SURE), C("_activation_scale", INPUT, INPUT, SURE), C(".act_scale", INPUT, INPUT, SURE), C(".act_scales", INPUT, INPUT, SURE),
    C(".scale_input", INPUT, INPUT, SURE), C(".act_global_scale", INPUT, INPUT, SURE), C(".input_quantizer.scale", INPUT, INPUT, SURE), C(".input_quantizer._scale", INPUT, INPUT, SURE),
    C(".input_quantizer.zero_point", INPUT, INPUT, SURE), C(".input_zero_point", INPUT, INPUT, SURE), C(".input_scale_ub", INPUT, INPUT, SURE), C("._activation_scale", INPUT, INPUT, SURE),
    /* the rest of a scheme */
    C(".output_scale", EXTRA, EXTRA, SURE), C(".output_zero_point", EXTRA, EXTRA, SURE), C(".pre_quant_scale", EXTRA, EXTRA, SURE), C(".w_bf16_to_fp8_scale", EXTRA, EXTRA, SURE),
    C(".forward_hadamard_matrix", HADAMARD, EXTRA, SURE), C(".backward_hadamard_matrix", HADAMARD, EXTRA, SURE), C(".tables2", EXTRA, EXTRA, MAYBE), C(".mcg", EXTRA, EXTRA, MAYBE),
    C(".mul1", EXTRA, EXTRA, MAYBE), C(".scaleWH", EXTRA, EXTRA, SURE), C(".res_centroids.weight", EXTRA, EXTRA, MAYBE), C(".outlier_centroids.weight", EXTRA, EXTRA, MAYBE),
    C(".outlier_indices", EXTRA, EXTRA, MAYBE), C(".weight_bias", EXTRA, EXTRA, MAYBE), C(".theta", EXTRA, EXTRA, MAYBE), C(".pairs", EXTRA, EXTRA, MAYBE),
    C(".channel_scales", EXTRA, EXTRA, MAYBE), C(".workspace", EXTRA, EXTRA, SURE), C(".group_size", EXTRA, EXTRA, MAYBE), C(".axis", EXTRA, EXTRA, MAYBE), C(".packing", EXTRA, EXTRA, MAYBE),
    C(".unpack_view_dtype", EXTRA, EXTRA, MAYBE), C(".view_as_float", EXTRA, EXTRA, MAYBE), C(".quant_scale", EXTRA, EXTRA, MAYBE), C(".quant_zero", EXTRA, EXTRA, MAYBE),
    C(".compute_dtype", EXTRA, EXTRA, MAYBE), C(".offload_meta", EXTRA, EXTRA, MAYBE), C(".encoded_state_dict", EXTRA, EXTRA, MAYBE), C(".stores_quant_config", EXTRA, EXTRA, MAYBE),
    C(".channel_wise", EXTRA, EXTRA, MAYBE), C(".optimize", EXTRA, EXTRA, MAYBE), C(".round_zero", EXTRA, EXTRA, MAYBE), C(".comfy_quant", EXTRA, EXTRA, SURE),
    C(".gptq_bits", EXTRA, EXTRA, SURE), C(".gptq_groupsize", EXTRA, EXTRA, SURE),
    /* the cache */
    C(".k_scale", KV, EXTRA, SURE), C(".v_scale", KV, EXTRA, SURE), C(".kv_scale", KV, EXTRA, SURE), C(".k_bias", KV, EXTRA, MAYBE), C(".v_bias", KV, EXTRA, MAYBE),
    C(".prob_output_scale", KV, EXTRA, SURE), C(".attn.q_scale", KV, EXTRA, SURE), C(".k_cache_scale", KV, EXTRA, SURE), C(".v_cache_scale", KV, EXTRA, SURE),
    /* a bias */
    C(".bias", BIAS, BIAS, MAYBE), C("_bias", BIAS, BIAS, MAYBE),
};

const mc_suffix *mc_suffix_of(mc_str name)
{
    const mc_suffix *best = &bare;
    for (size_t i = 0; i < MC_COUNT(table); i++) {
        size_t n = table[i].text.n;
        if (n > best->text.n && n < name.n && memcmp(name.p + (name.n - n), table[i].text.p, n) == 0)
            best = &table[i];
    }
    return best;
}
