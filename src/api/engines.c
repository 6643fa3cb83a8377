/* Options that say whose memory is meant: the engine, its switches, and the devices. Each switch belongs to one engine; without
 * --engine it names that engine too. */
#include "api/options.h"

#include <string.h>

static const char *wrong(mc_options *o, const char *value, const char *accepted)
{
    return mc_format(o->arena, "\"%s\" is not accepted: %s", value, accepted).p;
}

/* ---- switches --------------------------------------------------------------------------------------------- */

typedef enum { ON /* no value */, COUNT /* >= 1 */, NUMBER /* >= 0 */, SIZE, RATIO, NAME, ON_OFF } form;
typedef struct { const char *engine, *name; form form; size_t at; } row;
#define AT(field) offsetof(mc_engine_switches, field)

static const row rows[] = {
    { "llama.cpp", "kv-unified", ON, AT(kv_unified) },
    { "llama.cpp", "swa-full", ON, AT(swa_full) },
    { "llama.cpp", "ubatch", COUNT, AT(ubatch) },
    { "llama.cpp", "batch", COUNT, AT(batch) },
    { "llama.cpp", "flash-attn", ON_OFF, AT(flash_attn_off) },
    { "llama.cpp", "repack", ON, AT(repack) },
    { "llama.cpp", "no-mmap", ON, AT(no_mmap) },
    { "llama.cpp", "state-copies", NUMBER, AT(state_copies) },
    { "vllm", "block-size", COUNT, AT(block_size) },
    { "vllm", "max-num-batched-tokens", COUNT, AT(batched_tokens) },
    { "vllm", "kv-cache-memory-bytes", SIZE, AT(cache_bytes) },
    { "vllm", "enable-prefix-caching", ON, AT(prefix_caching) },
    { "vllm", "num-speculative-tokens", NUMBER, AT(speculative) },
    { "vllm", "disable-hybrid-kv-cache-manager", ON, AT(no_hybrid) },
    { "vllm", "quantization", NAME, AT(quantization) },
    { "sglang", "max-total-tokens", COUNT, AT(total_tokens) },
    { "sglang", "max-mamba-cache-size", COUNT, AT(mamba_slots) },
    { "sglang", "swa-full-tokens-ratio", RATIO, AT(swa_ratio) },
    { "sglang", "page-size", COUNT, AT(page_size) },
};

/* "0.8": millionths, above 0 and at most 1. */
static bool ratio(mc_str s, uint64_t *out)
{
    size_t   dot = mc_str_find(s, '.');
    uint64_t whole = 0, part = 0;
    mc_str   digits = mc_str_cut(s, dot + 1, s.n);
    if ((dot && !mc_str_u64(mc_str_cut(s, 0, dot), &whole)) || whole > 1 || digits.n > 6 || (dot < s.n && !mc_str_u64(digits, &part)))
        return false;
    for (size_t i = digits.n; i < 6; i++)
        part *= 10;
    *out = whole * 1000000 + part;
    return *out > 0 && *out <= 1000000;
}

static const char *put(mc_options *o, const row *r, const char *text, mc_str value, bool given)
{
    char      *base = (char *)&o->floor.switches + r->at;
    bool      *flag = (bool *)(void *)base;
    uint64_t  *number = (uint64_t *)(void *)base;
    if (r->form == ON || r->form == ON_OFF) {
        bool off = r->form == ON_OFF && mc_str_is(value, "off");
        if (given && (r->form == ON || !(off || mc_str_is(value, "on") || mc_str_is(value, "auto"))))
            return wrong(o, text, r->form == ON ? "this switch takes no value" : "flash-attn=on, flash-attn=off or flash-attn=auto");
        *flag = r->form == ON ? true : off;
        return NULL;
    }
    if (!given || value.n == 0)
        return wrong(o, text, "NAME=VALUE, this switch needs a value");
    if (r->form == NAME) {
        *(const char **)(void *)base = mc_str_copy(o->arena, value).p;
        return NULL;
    }
    if (r->form == SIZE)
        return mc_parse_size(value, number) && *number > 0 ? NULL : wrong(o, text, "a size above 0, such as 24GiB or a number of bytes");
    if (r->form == RATIO)
        return ratio(value, number) ? NULL : wrong(o, text, "a share above 0 and at most 1, such as 0.8");
    return mc_str_u64(value, number) && (*number > 0 || r->form == NUMBER) && *number <= UINT64_C(1) << 40 ? NULL : wrong(o, text, "a whole number above 0");
}

static mc_str names_of(mc_options *o, const char *engine)
{
    mc_str text = MC_STR("");
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        if (!engine || strcmp(rows[i].engine, engine) == 0)
            text = mc_format(o->arena, "%.*s%s%s", MC_FMT(text), text.n ? ", " : "", rows[i].name);
    return text;
}

const char *mc_set_engine_option(mc_options *o, const char *value)
{
    mc_str     s = mc_str_of(value);
    size_t     eq = mc_str_find(s, '=');
    const row *r = NULL;
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        if (mc_str_is(mc_str_cut(s, 0, eq), rows[i].name))
            r = &rows[i];
    const char *other = o->engine_given ? o->engine_given : o->switch_engine;
    if (r && other && strcmp(r->engine, other) != 0)
        r = NULL;
    if (!r) {
        mc_str known = names_of(o, other);
        return wrong(o, value, known.n ? mc_format(o->arena, "%s%s%s", other ? other : "an engine", " has ", known.p).p
                                       : mc_format(o->arena, "%s has no such switches", other).p);
    }
    const char *why = put(o, r, value, mc_str_cut(s, eq + 1, s.n), eq < s.n);
    if (!why && !o->switch_engine) {
        o->switch_engine = r->engine;
        o->switch_given = r->name;
        o->floor.engine = r->engine;
    }
    return why;
}

const char *mc_set_engine(mc_options *o, const char *value)
{
    if (!mc_engine_known(value))
        return wrong(o, value, "generic, llama.cpp, vllm, sglang or transformers");
    if (o->switch_engine && strcmp(o->switch_engine, value) != 0)
        return wrong(o, value, mc_format(o->arena, "the engine option %s is one of %s", o->switch_given, o->switch_engine).p);
    o->floor.engine = o->engine_given = mc_str_copy(o->arena, mc_str_of(value)).p;
    return NULL;
}

/* ---- devices ---------------------------------------------------------------------------------------------- */

static const char *devices(mc_options *o, const char *value, uint64_t *out, uint64_t other)
{
    uint64_t n;
    if (!mc_str_u64(mc_str_of(value), &n) || n == 0 || n > MC_MAX_DEVICES || n * (other ? other : 1) > MC_MAX_DEVICES)
        return wrong(o, value, mc_format(o->arena, "a number of devices, at least 1; tp times pp at most %d", MC_MAX_DEVICES).p);
    *out = n;
    return NULL;
}

const char *mc_set_tp(mc_options *o, const char *value)
{
    const char *why = devices(o, value, &o->floor.tp, o->floor.pp);
    o->targets.options.tp = (int64_t)o->floor.tp;
    return why;
}

const char *mc_set_pp(mc_options *o, const char *value)
{
    const char *why = devices(o, value, &o->floor.pp, o->floor.tp);
    o->targets.options.pp = (int64_t)o->floor.pp;
    return why;
}

const char *mc_set_gpu_layers(mc_options *o, const char *value)
{
    o->floor.gpu_layers = UINT64_MAX;
    o->floor.gpu_layers_given = strcmp(value, "all") == 0 || mc_str_u64(mc_str_of(value), &o->floor.gpu_layers);
    return o->floor.gpu_layers_given ? NULL : wrong(o, value, "a number of layers, or all");
}

const char *mc_set_gpu(mc_options *o, const char *value)
{
    static const struct { const char *backend; mc_gpu_kind kind; } kinds[] = {
        { "cuda", MC_GPU_CUDA }, { "rocm", MC_GPU_ROCM }, { "xpu", MC_GPU_XPU }, { "cpu", MC_GPU_CPU }, { "hpu", MC_GPU_HPU },
    };
    mc_kb_gpu gpu;
    if (!mc_kb_gpu_find(o->arena, mc_str_of(value), &gpu))
        return wrong(o, value, mc_format(o->arena, "smNN (sm75, sm80, sm86, sm89, sm90, sm100, sm120, ...), gfxNNN, or one of %.*s", MC_FMT(mc_kb_gpu_names(o->arena))).p);
    o->floor.gpu = (mc_gpu){ MC_GPU_OTHER, gpu.capability };
    o->targets.options.gpu = gpu.capability;
    o->targets.options.gpu_arch = mc_str_is(gpu.target, "-") ? MC_STR("") : mc_str_copy(o->arena, gpu.target);
    o->targets.options.platform = mc_str_copy(o->arena, gpu.backend);
    o->targets.backends = mc_str_copy(o->arena, gpu.backends);
    for (size_t i = 0; i < MC_COUNT(kinds); i++)
        if (mc_str_is(gpu.backend, kinds[i].backend))
            o->floor.gpu.kind = kinds[i].kind;
    return NULL;
}
