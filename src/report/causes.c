/* explain --error: from a message that a framework printed to the limit or rule behind it. */
#include "report/report.h"

#include <string.h>

/* What the limits that are made from tables mean: kb/judge*.c gives them, no row has words for them. */
static const struct { const char *id, *code, *means, *look; } made[] = {
    { "arch", "MC701", "the framework has no code for this architecture at that version", "compare config.json architectures and model_type (GGUF: general.architecture) with the list for your version" },
    { "quant-unknown", "MC701", "the framework has no code for this quantization method", "see quant_method of quantization_config; quantize with a method that it has, or use another framework" },
    { "quant-removed", "MC701", "this version no longer has the quantization method", "use the last release that had it, or convert" },
    { "quant-too-new", "MC701", "the quantization method came with a later version", "update the framework" },
    { "quant-plugin", "MC703", "the quantization method is served by a plugin or package that is not installed", "install it" },
    { "quant-deprecated", "MC703", "the quantization method is deprecated and wants a flag", "give the flag, and plan to convert" },
    { "quant-gpu", "MC701", "the device is older than the kernels of the method need", "compare its compute capability with the method's minimum: --gpu" },
    { "quant-slow", "MC704", "the device has no fast path for the method", "use a newer device, or another format" },
    { "quant-dtype", "MC703", "the method's kernels do not take the activation dtype", "set the dtype that they take" },
    { "quant-params", "MC701", "bits, group size, symmetry, act-order or format lie outside what the kernels take", "see bits, group_size, sym, desc_act and checkpoint_format of quantization_config" },
    { "quant-scheme", "MC701", "no scheme fits the description of a config group", "see format, num_bits, strategy and input_activations of the config groups" },
    { "platform", "MC701", "the back end does not take the method", "see --gpu" },
    { "kv-dtype", "MC701", "the key/value cache cannot have this type on that device or with that head size", "see --kv-dtype" },
    { "files", "MC701", "the framework finds no weight file that it reads, or its index names one that is missing", "see which files it takes: modelcheck show" },
};

/* Words of a limit as they stand in the data: what a report fills in becomes <name>. */
static mc_str plain(mc_arena *a, mc_str s)
{
    char *p = mc_alloc(a, s.n + 1, 1);
    for (size_t i = 0; p && i < s.n; i++)
        p[i] = s.p[i] == '{' ? '<' : s.p[i] == '}' ? '>' : s.p[i];
    return p ? (mc_str){ p, s.n } : s;
}

/* key: "message" or "fix" */
static mc_str words_of(mc_arena *a, const mc_error_hit *h, const char *key)
{
    mc_str own = mc_as_str(mc_get(h->limit, key));
    for (size_t i = 0; !own.n && i < MC_COUNT(made); i++)
        if (mc_str_is(h->rule, made[i].id))
            return mc_str_of(key[0] == 'm' ? made[i].means : made[i].look);
    const mc_rule *r = own.n ? NULL : mc_rule_find(h->rule);
    return r ? mc_str_of(key[0] == 'm' ? r->summary : r->fix) : plain(a, own);
}

/* The code that reports it: the rule itself, or that of the verdict. */
static const mc_rule *rule_of(const mc_error_hit *h)
{
    static const struct { const char *verdict, *code; } codes[] = { { "refuses", "MC701" }, { "wrong", "MC702" }, { "needs", "MC703" }, { "slow", "MC704" } };
    const mc_rule *r = mc_rule_find(h->rule);
    mc_str         verdict = mc_as_str(mc_get(h->limit, "verdict"));
    for (size_t i = 0; !r && i < MC_COUNT(codes); i++)
        if (mc_str_is(verdict, codes[i].verdict))
            r = mc_rule_find(mc_str_of(codes[i].code));
    for (size_t i = 0; !r && i < MC_COUNT(made); i++)
        if (mc_str_is(h->rule, made[i].id))
            r = mc_rule_find(mc_str_of(made[i].code));
    return r;
}

static mc_str source_of(const mc_error_hit *h)
{
    mc_str own = mc_as_str(mc_get(h->limit, "source"));
    return own.n ? own : mc_as_str(mc_get(mc_get(h->framework->root, "default_source"), "errors"));
}

static void text_cause(mc_out *o, const mc_error_hit *h, mc_arena *a)
{
    mc_str         look = words_of(a, h, "fix");
    const mc_rule *r = rule_of(h);
    bool           own = mc_rule_find(h->rule) != NULL;
    mc_put_text(o, h->framework->display.n ? h->framework->display : h->framework->name);
    mc_put(o, " prints \"");
    mc_put_text(o, h->match);
    mc_put(o, "\"\n  cause: ");
    mc_put_text(o, words_of(a, h, "message"));
    mc_putf(o, "\n  rule: %s %s", r ? r->code : "none", r ? r->slug : "");
    if (!own) {
        mc_put(o, ", limit ");
        mc_put_text(o, h->framework->name);
        mc_put(o, "/");
        mc_put_text(o, h->rule);
    }
    if (look.n) {
        mc_put(o, "\n  check: ");
        mc_put_text(o, look);
    }
    mc_put(o, own ? "\n  run: modelcheck PATH\n" : "\n  run: modelcheck --target ");
    if (!own) {
        mc_put_text(o, h->framework->name);
        mc_put(o, " PATH, with --gpu, --tp and the version you use\n");
    }
}

static void json_cause(mc_out *o, const mc_error_hit *h, mc_arena *a)
{
    const mc_rule *r = rule_of(h);
    mc_js_open(o, NULL, '{', false);
    mc_js_str(o, "framework", h->framework->name);
    mc_js_str(o, "match", h->match);
    mc_js_text(o, "code", mc_str_of(r ? r->code : NULL));
    mc_js_text(o, "limit", mc_rule_find(h->rule) ? MC_STR("") : h->rule);
    mc_js_text(o, "cause", words_of(a, h, "message"));
    mc_js_text(o, "check", words_of(a, h, "fix"));
    mc_js_text(o, "source", source_of(h));
    mc_js_close(o, '}');
}

bool mc_write_causes(FILE *out, mc_kb *kb, const char *text, const char *format, size_t *found)
{
    mc_out       o = { .f = out };
    bool         json = strcmp(format, "json") == 0;
    size_t       cursor = 0;
    mc_error_hit hit;
    *found = 0;
    if (!json && strcmp(format, "text") != 0)
        return false;
    if (json)
        mc_json_empty(&o, "causes");
    while (mc_kb_error(kb, mc_str_of(text), &cursor, &hit)) {
        if (!json && (*found)++)
            mc_put(&o, "\n");
        (json ? json_cause : text_cause)(&o, &hit, &kb->arena);
    }
    if (json)
        mc_json_foot(&o);
    else if (*found == 0)
        mc_put(&o, "no framework of the data is known to print this; give the line that names the cause, without paths and numbers of your own\n");
    return true;
}
