/* Words of reports for the enumerators of quant.h. */
#include "model/quant.h"

const char *mc_class_name(mc_module_class c)
{
    static const char *const names[MC_N_CLASSES] = {
        [MC_CLS_OTHER] = "other", [MC_CLS_ATTENTION] = "attention", [MC_CLS_MLP] = "mlp", [MC_CLS_EXPERTS] = "experts", [MC_CLS_EMBEDDING] = "embeddings",
        [MC_CLS_HEAD] = "head", [MC_CLS_NORM] = "norms", [MC_CLS_ROUTER] = "router", [MC_CLS_VISION] = "vision", [MC_CLS_MTP] = "mtp",
    };
    return c < MC_N_CLASSES ? names[c] : "other";
}

const char *mc_grain_name(mc_grain g)
{
    static const char *const names[] = {
        [MC_GRAIN_NONE] = NULL, [MC_GRAIN_TENSOR] = "tensor", [MC_GRAIN_CHANNEL] = "channel", [MC_GRAIN_GROUP] = "group", [MC_GRAIN_BLOCK] = "block",
        [MC_GRAIN_TOKEN] = "token",
    };
    return (size_t)g < MC_COUNT(names) ? names[g] : NULL;
}

const char *mc_layout_name(mc_layout l)
{
    static const char *const names[MC_N_LAYOUTS] = {
        [MC_Q_PLAIN] = "plain", [MC_Q_RAW8] = "fp8 without scales", [MC_Q_BNB4] = "bitsandbytes 4-bit", [MC_Q_BNB8] = "bitsandbytes 8-bit", [MC_Q_EXL2] = "exl2",
        [MC_Q_EXL3] = "exl3", [MC_Q_QUIP] = "quip#", [MC_Q_AQLM] = "aqlm", [MC_Q_VPTQ] = "vptq", [MC_Q_SPQR] = "spqr", [MC_Q_HQQ] = "hqq", [MC_Q_SINQ] = "sinq",
        [MC_Q_CT_PACK] = "compressed-tensors pack", [MC_Q_NVFP4] = "nvfp4", [MC_Q_MXFP4] = "mxfp4", [MC_Q_MXFP6] = "mxfp6", [MC_Q_MXFP8] = "mxfp8",
        [MC_Q_FP4_DSV4] = "fp4 in bytes", [MC_Q_FP8] = "fp8", [MC_Q_INT8] = "int8", [MC_Q_INT4_NIBBLE] = "int4 by rows", [MC_Q_QUARK_INT4] = "quark int4",
        [MC_Q_EETQ] = "eetq", [MC_Q_MLX] = "mlx", [MC_Q_METAL] = "metal", [MC_Q_GPTQ] = "gptq", [MC_Q_AWQ] = "awq gemm", [MC_Q_AWQ_GEMV] = "awq gemv",
        [MC_Q_AWQ_FAST] = "awq gemv_fast", [MC_Q_MARLIN] = "marlin", [MC_Q_MARLIN24] = "marlin 2:4", [MC_Q_QQQ] = "qqq", [MC_Q_FP_QUANT] = "fp_quant",
        [MC_Q_QUANTO] = "quanto", [MC_Q_TORCHAO] = "torchao", [MC_Q_BITNET] = "bitnet", [MC_Q_HIGGS] = "higgs", [MC_Q_GGML] = "ggml block",
    };
    return l < MC_N_LAYOUTS && names[l] ? names[l] : "unknown";
}
