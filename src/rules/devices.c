/* MC709: whether the memory floor fits the device that --vram describes. Only what is certain counts: the weights, and the
 * cache where it is computed; of several devices the fullest. */
#include "floor/answers.h"
#include "rules/rule.h"

/* What would have to shrink for the rest to fit beside the weights. */
static mc_str remedy(mc_check *cx)
{
    const mc_floor    *f = cx->floor;
    const mc_floor_ask none = { 0 };
    mc_question        q = { .m = cx->model, .kb = cx->kb, .ask = cx->options->ask ? cx->options->ask : &none, .floor = f, .vram = cx->options->vram };
    q.base = mc_floor_prepare(q.m, q.kb, q.ask, cx->arena);
    mc_most            sequences = f->sequences > 1 ? mc_most_sequences(&q) : (mc_most){ .known = false };
    if (sequences.known && sequences.n > 0)
        return mc_format(cx->arena, "%llu sequence%s would fit", (unsigned long long)sequences.n, sequences.n == 1 ? "" : "s");
    mc_most context = mc_most_context(&q, f->sequences);
    if (context.known && context.n > 0)
        return mc_format(cx->arena, "a context of %llu would fit", (unsigned long long)context.n);
    return MC_STR("the weights leave no room for the smallest cache");
}

/* The weights of the fullest device alone do not fit: no context helps. */
static bool weights_too_large(const mc_floor *f, uint64_t vram)
{
    mc_floor alone = *f;
    alone.cache = MC_CACHE_NOT_COMPUTED;
    return f->weights_known && mc_floor_need(&alone) > vram;
}

static void over_vram(mc_check *cx)
{
    const mc_floor *f = cx->floor;
    uint64_t        vram = cx->options->vram, need = f ? mc_floor_need(f) : 0;
    if (vram == 0 || !f || need <= vram)
        return;
    bool        weights = weights_too_large(f, vram);
    mc_str      why = weights ? MC_STR("the weights alone are larger") : remedy(cx);
    mc_finding *out = mc_report(cx, MC_NONE, "the memory floor of %s%s is %s above the %s of one device: %.*s", mc_size_text(cx->arena, need).p,
                                f->n_devices > 1 ? " on the fullest device" : "", mc_size_text(cx->arena, need - vram).p, mc_size_text(cx->arena, vram).p,
                                MC_FMT(why));
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
