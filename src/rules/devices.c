/* MC709: whether the memory floor fits the device that --vram describes. Only what is certain counts: the weights, and the
 * cache where it is computed. */
#include "rules/rule.h"

/* What would have to shrink for the rest to fit beside the weights. */
static mc_str remedy(mc_check *cx, uint64_t room)
{
    const mc_floor *f = cx->floor;
    uint64_t        each = f->kv_bytes_per_token, one; /* bytes of one sequence */
    if (ckd_mul(&one, each, f->context) || one == 0)
        return MC_STR("the cache alone is larger");
    if (f->sequences > 1 && room / one > 0)
        return mc_format(cx->arena, "%llu sequence%s would fit", (unsigned long long)(room / one), room / one == 1 ? "" : "s");
    uint64_t tokens = room / each / (f->sequences ? f->sequences : 1);
    if (tokens == 0)
        return MC_STR("the weights leave no room for one token of cache");
    return mc_format(cx->arena, "a context of %llu would fit", (unsigned long long)tokens);
}

static void over_vram(mc_check *cx)
{
    const mc_floor *f = cx->floor;
    uint64_t        vram = cx->options->vram;
    if (vram == 0 || !f || f->floor_bytes <= vram)
        return;
    bool        weights = f->weights_known && f->weights_bytes > vram;
    mc_str      why = weights ? MC_STR("the weights alone are larger") : remedy(cx, vram - f->weights_bytes);
    mc_finding *out = mc_report(cx, MC_NONE, "the memory floor of %s is %s above the %s of one device: %.*s", mc_size_text(cx->arena, f->floor_bytes).p,
                                mc_size_text(cx->arena, f->floor_bytes - vram).p, mc_size_text(cx->arena, vram).p, MC_FMT(why));
    for (size_t i = 0; i < f->n_terms; i++)
        mc_because(cx, out, f->terms[i].name.p, mc_origin_at(MC_NONE, ""), "%llu bytes = %.*s", (unsigned long long)f->terms[i].bytes,
                   MC_FMT(f->terms[i].formula));
    if (weights)
        mc_fix(cx, out, "Use a smaller or more strongly quantized model, or spread it over several devices; context and sequences cannot help");
}

static const mc_rule rules[] = {
    { "MC709", "over-vram", MC_ERROR, MC_CERTAIN, MC_MODE_OPTION, "The memory floor does not fit the device named by --vram",
      "The floor counts only what is certain: the weights that are loaded and the cache of keys and values for the context and sequences asked for. "
      "A runtime needs more than that, so that loading, or the first long request, will run out of memory.",
      "Shorten the context, lower the number of sequences, take a smaller cache type, or use a larger device",
      "Without --vram; a cache of a shape that is not computed, when the weights fit; whatever is only an estimate (activations, graphs, the runtime itself).",
      "", NULL, over_vram },
};
const mc_family mc_family_devices = { "devices", rules, MC_COUNT(rules) };
