/* The block `act_dtype`: the dtype of the activations when the user names none, by the configuration's dtype and the GPU.
 * CUDA offers bfloat16 from one capability on, float16 from a lower one; some model types run in no float16. ROCm and XPU
 * offer everything; other back ends are not known. */
#include "kb/framework.h"

static bool struck(mc_judge *j)
{
    const mc_value *rows = mc_get(mc_get(j->f->root, "act_dtype"), "types_without_float16");
    mc_fact         type = mc_judge_fact(j, "config.model_type");
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        const mc_value *types = mc_get(mc_item(rows, i), "types");
        if (mc_row_live(j, mc_item(rows, i)) != MC_TRUE)
            continue;
        for (size_t k = 0; type.type == MC_FACT_TEXT && mc_is(types, MC_ARRAY) && k < types->n; k++)
            if (mc_str_eq(mc_item(types, k)->s, type.s))
                return true;
    }
    return false;
}

/* The GPU's capability as far as dtypes go; 0: not known. */
static int64_t capability(const mc_judge *j)
{
    static const int64_t everything = 1000;
    if (mc_str_is(j->o->platform, "rocm") || mc_str_is(j->o->platform, "xpu"))
        return everything;
    return mc_on_cuda(j) ? j->o->gpu : 0;
}

mc_three mc_dtype_offered(mc_judge *j, mc_str dtype)
{
    const mc_value *block = mc_get(j->f->root, "act_dtype");
    int64_t         bf16, f16, cc = capability(j);
    if (!mc_as_int(mc_get(block, "bfloat16_min_gpu"), &bf16) || !mc_as_int(mc_get(block, "float16_min_gpu"), &f16))
        return MC_MAYBE;
    if (mc_str_is(dtype, "float16") && struck(j))
        return MC_FALSE;
    if (mc_str_is(dtype, "float32"))
        return MC_TRUE;
    if (cc == 0)
        return MC_MAYBE;
    return cc >= (mc_str_is(dtype, "bfloat16") ? bf16 : f16) ? MC_TRUE : MC_FALSE;
}

void mc_judge_dtype(mc_judge *j)
{
    const mc_value *block = mc_get(j->f->root, "act_dtype");
    mc_fact         config = mc_judge_fact(j, "config.dtype");
    bool            half = config.type == MC_FACT_TEXT && mc_str_is(config.s, "float16"), barred = block && struck(j);
    int64_t         bf16;
    j->act_dtype = mc_fact_unknown(block && config.type == MC_FACT_TEXT && capability(j) == 0 && !j->o->platform.n ? "no --gpu" : NULL);
    if (!mc_as_int(mc_get(block, "bfloat16_min_gpu"), &bf16) || config.type != MC_FACT_TEXT)
        return;
    if (!half && !mc_str_is(config.s, "bfloat16") && !mc_str_is(config.s, "float32"))
        return;
    if (half && !barred && (capability(j) == 0 || mc_dtype_offered(j, config.s) == MC_TRUE))
        j->act_dtype = mc_on_cuda(j) || capability(j) ? mc_fact_text(MC_STR("float16")) : j->act_dtype;
    else if (capability(j) == 0)
        return;
    else if (mc_dtype_offered(j, MC_STR("bfloat16")) == MC_TRUE)
        j->act_dtype = mc_fact_text(MC_STR("bfloat16"));
    else
        j->act_dtype = mc_fact_text(mc_dtype_offered(j, MC_STR("float16")) == MC_TRUE ? MC_STR("float16") : MC_STR("float32"));
}
