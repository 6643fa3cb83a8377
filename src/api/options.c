/* The option table. A value that cannot be right is refused with the words of what is accepted. */
#include "api/options.h"

#include <string.h>

static const char *wrong(mc_options *o, const char *value, const char *accepted)
{
    return mc_format(o->arena, "\"%s\" is not accepted: %s", value, accepted).p;
}

static const char *set_count(mc_options *o, const char *value, uint64_t *out, const char *accepted)
{
    return mc_str_u64(mc_str_of(value), out) && *out > 0 ? NULL : wrong(o, value, accepted);
}

static const char *set_context(mc_options *o, const char *value)
{
    return set_count(o, value, &o->floor.context, "a number of tokens, at least 1");
}

static const char *set_sequences(mc_options *o, const char *value)
{
    return set_count(o, value, &o->floor.sequences, "a number of sequences, at least 1");
}

static const char *set_vram(mc_options *o, const char *value)
{
    if (mc_parse_size(mc_str_of(value), &o->rules.vram) && o->rules.vram > 0)
        return NULL;
    return wrong(o, value, "a size above 0, such as 24GiB, 24GB, 512MiB or a number of bytes");
}

/* A type whose size is known, or one that some framework has: then only its cache is not computed. */
static bool is_cache_type(mc_str name)
{
    uint32_t block, bytes;
    mc_kb    kb;
    if (name.n == 0 || mc_kv_type(name, &block, &bytes))
        return name.n > 0;
    bool known = mc_kb_init(&kb).code == MC_OK && mc_kb_kv_name(&kb, name);
    mc_kb_free(&kb);
    return known;
}

static const char *set_kv_dtype(mc_options *o, const char *value)
{
    mc_str   s = mc_str_of(value), part[2];
    size_t   comma = mc_str_find(s, ',');
    part[0] = mc_str_copy(o->arena, mc_str_cut(s, 0, comma));
    if (mc_str_is(part[0], "auto") && comma == s.n) { /* as the engines spell their default */
        o->floor.kv_k = o->floor.kv_v = NULL;
        o->targets.options.kv_dtype = MC_STR("");
        return NULL;
    }
    part[1] = comma < s.n ? mc_str_copy(o->arena, mc_str_cut(s, comma + 1, s.n)) : part[0];
    for (int i = 0; i < 2; i++)
        if (!is_cache_type(part[i]))
            return wrong(o, value, "a cache type, or one for K and one for V with a comma: f32, f16, bf16, fp8, q8_0, q5_1, q5_0, q4_1, q4_0, iq4_nl, nvfp4, fp8_ds_mla, int8_per_token_head, another name of a framework, auto");
    o->targets.options.kv_dtype = mc_str_eq(part[0], part[1]) ? part[0] : mc_str_copy(o->arena, s);
    o->floor.kv_k = part[0].p;
    o->floor.kv_v = part[1].p;
    return NULL;
}

static const char *set_fail_on(mc_options *o, const char *value)
{
    o->fail_never = strcmp(value, "never") == 0;
    return o->fail_never || mc_parse_level(mc_str_of(value), &o->fail_on) ? NULL : wrong(o, value, "error, warning, info or never");
}

static const char *add_selectors(mc_options *o, mc_selectors *to, const char *value)
{
    mc_str rest = mc_str_of(value);
    size_t comma;
    do {
        comma = mc_str_find(rest, ',');
        mc_str name = mc_str_cut(rest, 0, comma);
        bool   more = comma < rest.n;
        rest = mc_str_cut(rest, comma + 1, rest.n);
        if (to == &o->ignore && mc_str_find(name, '/') < name.n) {
            const char *why = mc_ignore_limit(o, name);
            if (why || !more)
                return why;
            continue;
        }
        mc_selector *v = mc_grow(o->arena, to->v, to->n, &to->cap, sizeof *v);
        if (!v)
            return "out of memory";
        to->v = v;
        if (!mc_parse_selector(o->arena, name, &v[to->n]))
            return mc_format(o->arena, "no rule is called \"%.*s\": codes (MC106), prefixes (MC2) and slugs (shard-missing), with commas between them",
                             MC_FMT(name)).p;
        to->n++;
        if (!more)
            return NULL;
    } while (true);
}

static const char *set_select(mc_options *o, const char *value)
{
    return add_selectors(o, &o->select, value);
}

static const char *set_ignore(mc_options *o, const char *value)
{
    return add_selectors(o, &o->ignore, value);
}

static const char *set_severity(mc_options *o, const char *value)
{
    mc_str       s = mc_str_of(value);
    size_t       eq = mc_str_find(s, '=');
    mc_override *v = mc_grow(o->arena, o->overrides, o->n_overrides, &o->cap_overrides, sizeof *v);
    if (!v)
        return "out of memory";
    o->overrides = v;
    v += o->n_overrides;
    if (!mc_parse_level(mc_str_cut(s, eq + 1, s.n), &v->level) || !mc_parse_selector(o->arena, mc_str_cut(s, 0, eq), &v->rule))
        return wrong(o, value, "CODE=error, CODE=warning or CODE=info, CODE being the code, prefix or slug of a rule");
    o->n_overrides++;
    return NULL;
}

static const char *set_rules(mc_options *o, const char *value)
{
    mc_str *v = mc_grow(o->arena, o->rules_dirs, o->n_rules_dirs, &o->cap_rules_dirs, sizeof *v);
    if (!v)
        return "out of memory";
    o->rules_dirs = v;
    v[o->n_rules_dirs++] = mc_str_copy(o->arena, mc_str_of(value));
    return *value ? NULL : wrong(o, value, "a directory of data files");
}

static const char *set_color(mc_options *o, const char *value)
{
    if (strcmp(value, "auto") == 0)
        o->color = MC_COLOR_AUTO;
    else if (strcmp(value, "always") == 0)
        o->color = MC_COLOR_ALWAYS;
    else if (strcmp(value, "never") == 0)
        o->color = MC_COLOR_NEVER;
    else
        return wrong(o, value, "auto, always or never");
    return NULL;
}

#define SWITCH(name, field)                                         \
    static const char *set_##name(mc_options *o, const char *value) \
    {                                                               \
        (void)value;                                                \
        o->field = true;                                            \
        return NULL;                                                \
    }
SWITCH(recursive, scan.recursive)
SWITCH(follow_links, scan.follow_links)
SWITCH(require_weights, rules.require_weights)
SWITCH(quiet, report.quiet)
SWITCH(verbose, report.verbose)
SWITCH(tensors, report.tensors)
SWITCH(tree, report.tree)
SWITCH(estimates, report.estimates)

/* No project settings are read in this version, so there is nothing to leave out. */
static const char *set_isolated(mc_options *o, const char *value)
{
    (void)o;
    (void)value;
    return NULL;
}

const mc_option mc_option_table[] = {
    { "format", "FORMAT", MC_CMD_ALL, NULL, "text (default) or json; md for `rules`" },
    { "fail-on", "LEVEL", MC_CMD_CHECK, set_fail_on, "lowest severity that gives exit status 1: error (default), warning, info, never" },
    { "select", "RULES", MC_CMD_CHECK, set_select, "report only these: codes, prefixes (MC2) or slugs, with commas" },
    { "ignore", "RULES", MC_CMD_CHECK, set_ignore, "do not report these; also single limits of a framework: vllm/heads-tp" },
    { "severity", "CODE=LEVEL", MC_CMD_CHECK, set_severity, "report a rule as error, warning or info (repeatable)" },
    { "require-weights", NULL, MC_CMD_CHECK, set_require_weights, "a path without a main model is an error (MC904)" },
    { "vram", "SIZE", MC_CMD_CHECK | MC_CMD_MEMORY, set_vram, "memory of one device (24GiB, 24GB, bytes): does the floor fit?" },
    { "context", "N", MC_CMD_MODELS, set_context, "context of the memory floor in tokens; default the model's own, at most 8192" },
    { "sequences", "N", MC_CMD_MODELS, set_sequences, "sequences of the memory floor; default 1" },
    { "kv-dtype", "T[,T]", MC_CMD_MODELS, set_kv_dtype, "cache type, or one for K and one for V: f16, bf16, fp8, q8_0, q4_0, ..." },
    { "engine", "NAME", MC_CMD_MODELS, mc_set_engine, "whose memory: generic (default), llama.cpp, vllm, sglang or transformers" },
    { "engine-option", "NAME[=V]", MC_CMD_MODELS, mc_set_engine_option, "a switch of that engine that changes the floor (repeatable): ubatch=2048, ..." },
    { "tp", "N", MC_CMD_MODELS, mc_set_tp, "devices that each layer is divided over (tensor parallelism); default 1" },
    { "pp", "N", MC_CMD_MODELS, mc_set_pp, "devices that the layers are divided over (pipeline parallelism); default 1" },
    { "gpu", "NAME", MC_CMD_MODELS, mc_set_gpu, "the device: h100, rtx-4090, sm90, gfx942, cpu, metal, ..." },
    { "target", "NAME[@V]", MC_CMD_CHECK | MC_CMD_SHOW, mc_set_target, "will it load there: vllm, sglang@0.5.20, llama.cpp@b6000, ... (repeatable)" },
    { "platform", "ARCH", MC_CMD_CHECK | MC_CMD_SHOW, mc_set_platform, "host architecture that targets run on: x86_64, aarch64, s390x, ..." },
    { "error", "TEXT", MC_CMD_EXPLAIN, NULL, "what stands behind a message that a framework printed" },
    { "gpu-layers", "N|all", MC_CMD_MEMORY, mc_set_gpu_layers, "llama.cpp: layers on the devices; the rest, and the embedding, on the host" },
    { "estimates", NULL, MC_CMD_MEMORY, set_estimates, "also what the floor leaves out (activations, graphs, ...), as ranges that were seen" },
    { "plot", "FILE.svg", MC_CMD_MEMORY, NULL, "draw memory over context, for one and for several sequences, with the device's line" },
    { "recursive", NULL, MC_CMD_MODELS, set_recursive, "every directory below PATH that holds a model is a model of its own" },
    { "rules", "DIR", MC_CMD_MODELS, set_rules, "more data files: rules of your own (X- codes), frameworks that add to or replace ours (repeatable)" },
    { "age", NULL, MC_CMD_RULES, NULL, "list which framework data is stalest" },
    { "files-from", "FILE", MC_CMD_CHECK, NULL, "read paths from FILE, one a line; - is standard input" },
    { "follow-links", NULL, MC_CMD_MODELS, set_follow_links, "also read through links that leave the directory" },
    { "isolated", NULL, MC_CMD_ALL, set_isolated, "read no project settings" },
    { "tensors", NULL, MC_CMD_SHOW, set_tensors, "list every tensor: name, dtype, shape, bytes, file" },
    { "tree", NULL, MC_CMD_SHOW, set_tree, "fold the tensor names into a tree" },
    { "color", "WHEN", MC_CMD_ALL, set_color, "auto (default), always or never; NO_COLOR is honoured" },
    { "quiet", NULL, MC_CMD_MODELS, set_quiet, "findings only" },
    { "verbose", NULL, MC_CMD_MODELS, set_verbose, "also suppressed findings, the evidence of infos, and assumptions" },
    { "version", NULL, MC_CMD_ALL, NULL, "print the version and stop" },
    { "help", NULL, MC_CMD_ALL, NULL, "print this text, or that of a command, and stop" },
};
const size_t mc_n_options = MC_COUNT(mc_option_table);

const mc_option *mc_option_find(const char *name)
{
    for (size_t i = 0; i < mc_n_options; i++)
        if (strcmp(mc_option_table[i].name, name) == 0)
            return &mc_option_table[i];
    return NULL;
}

bool mc_option_later(const char *name)
{
    static const char *const later[] = {
        "deep", "hash", "baseline", "write-baseline", "suppress",
        "config", "jobs", "log", "mem", "manifest",
    };
    for (size_t i = 0; i < MC_COUNT(later); i++)
        if (strcmp(later[i], name) == 0)
            return true;
    return false;
}
