/* MC411, MC412: a quantization block in itself. Numbers may be absent, negative, huge, text or lists: each fault is named by
 * its JSON pointer, and the readers (scan/claims*.c) have left the value unknown. */
#include "rules/levels.h"
#include "rules/quant_rules.h"

typedef struct { mc_check *cx; const mc_claim *c; const mc_kb_method *method; bool odd; /* MC412, else MC411 */ } look;

static const char *type_word(const mc_value *v)
{
    static const char *const words[] = { [MC_NULL] = "null", [MC_BOOL] = "a boolean", [MC_INT] = "a number", [MC_REAL] = "a number", [MC_STRING] = "text", [MC_ARRAY] = "a list", [MC_OBJECT] = "an object" };
    return words[v->type];
}

/* A scalar as it is written, anything else by its kind. */
static mc_str shown(mc_arena *a, const mc_value *v)
{
    if (v->type == MC_INT || v->type == MC_REAL)
        return mc_str_cut(v->s, 0, 40);
    if (v->type == MC_STRING)
        return mc_format(a, "\"%.*s\"", MC_FMT(mc_str_cut(v->s, 0, 40)));
    if (v->type == MC_BOOL)
        return v->u.b ? MC_STR("true") : MC_STR("false");
    return mc_str_of(type_word(v));
}

static mc_finding *tell(mc_check *cx, uint32_t file, mc_str pointer, const mc_value *v, mc_str what)
{
    mc_finding *f = mc_report(cx, file, "%.*s %.*s", MC_FMT(pointer), MC_FMT(what));
    mc_subject(f, pointer);
    if (v)
        mc_because(cx, f, "stated", (mc_origin){ file, pointer }, "%.*s", MC_FMT(shown(cx->arena, v)));
    return f;
}

static void fault(const look *l, mc_str pointer, const mc_value *v, const char *what)
{
    mc_str text = v ? mc_format(l->cx->arena, "is %.*s: %s", MC_FMT(shown(l->cx->arena, v)), what) : mc_str_of(what);
    if (!l->odd)
        (void)tell(l->cx, l->c->file, pointer, v, text);
}

static void odd(const look *l, mc_str pointer, const mc_value *v, const char *what, const char *fix)
{
    if (!l->odd)
        return;
    mc_finding *f = tell(l->cx, l->c->file, pointer, v, v ? mc_format(l->cx->arena, "is %.*s: %s", MC_FMT(shown(l->cx->arena, v)), what) : mc_str_of(what));
    if (f->count == 1)
        mc_fix(l->cx, f, "%s", fix);
}

static mc_str below(const look *l, mc_str at, mc_str key)
{
    return mc_format(l->cx->arena, "%.*s/%.*s", MC_FMT(at), MC_FMT(key));
}

static bool absent(const mc_value *v)
{
    return !v || v->type == MC_NULL;
}

/* ---- numbers that the data files describe ---- */

static bool positive(const mc_value *v)
{
    int64_t n;
    return mc_as_int(v, &n) && n > 0;
}

/* [128, 128] or "128x128" */
static bool block_shape(const mc_value *v)
{
    mc_str   s = mc_as_str(v);
    size_t   cross = mc_str_find(s, 'x');
    uint64_t a, b;
    if (mc_is(v, MC_ARRAY))
        return v->n == 2 && positive(mc_item(v, 0)) && positive(mc_item(v, 1));
    return cross < s.n && mc_str_u64(mc_str_cut(s, 0, cross), &a) && mc_str_u64(mc_str_cut(s, cross + 1, s.n), &b) && a && b;
}

static void number(const look *l, const char *spec, const char *range, const mc_value *block, mc_str at)
{
    mc_number n = mc_quant_number(l->method ? mc_get(l->method->spec, spec) : NULL, block);
    if (n.state == MC_NUMBER_BAD)
        fault(l, below(l, at, n.key), n.value, range);
    else if (n.state == MC_NUMBER_TEXT)
        odd(l, below(l, at, n.key), n.value, "a number in quotes; some loaders compare it as text", "write the number without quotes");
}

static void numbers(const look *l, const mc_value *block, mc_str at)
{
    number(l, "bits", "no width from 1 to 16", block, at);
    number(l, "average", "no average width", block, at);
    number(l, "group", "neither -1 nor a number of at least 1", block, at);
    const mc_value *list = mc_get(block, "group_size");
    if (l->method && mc_str_is(l->method->name, "auto-round") && mc_is(list, MC_ARRAY) && !block_shape(list))
        fault(l, below(l, at, MC_STR("group_size")), list, "as a list it is a block of two positive integers");
}

/* Settings of single modules: { name: { bits, group_size } }. */
static void entries(const look *l, const mc_value *map, mc_str at)
{
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++)
        if (mc_is(map->u.fields[i].value, MC_OBJECT))
            numbers(l, map->u.fields[i].value, below(l, at, map->u.fields[i].key));
}

static void object_or_null(const look *l, const mc_value *v, mc_str at)
{
    if (!absent(v) && v->type != MC_OBJECT)
        fault(l, at, v, "an object is expected");
}

static void name_list(const look *l, const mc_value *v, mc_str at)
{
    if (!absent(v) && v->type != MC_ARRAY && v->type != MC_STRING) {
        fault(l, at, v, "a list of names is expected");
        return;
    }
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        if (!mc_is(mc_item(v, i), MC_STRING)) {
            fault(l, mc_format(l->cx->arena, "%.*s/%zu", MC_FMT(at), i), mc_item(v, i), "a name is expected");
            return;
        }
}

static void described(const look *l)
{
    const mc_value *b = l->c->block, *lists = l->method ? mc_get(l->method->spec, "excludes") : NULL, *flags = l->method ? mc_get(l->method->spec, "flags") : NULL;
    numbers(l, b, l->c->at);
    for (size_t i = 0; mc_is(lists, MC_ARRAY) && i < lists->n; i++) {
        mc_str key = mc_as_str(mc_get(mc_item(lists, i), "key"));
        name_list(l, mc_get_str(b, key), below(l, l->c->at, key));
    }
    for (size_t i = 0; mc_is(flags, MC_ARRAY) && i < flags->n; i++) {
        const mc_value *v = mc_get_str(b, mc_as_str(mc_item(flags, i)));
        if (v && (v->type == MC_ARRAY || v->type == MC_OBJECT))
            fault(l, below(l, l->c->at, mc_as_str(mc_item(flags, i))), v, "neither true nor false");
    }
}

/* ---- compressed-tensors ---- */

static bool word(const mc_value *v, const char *s)
{
    return mc_quant_name_eq(mc_as_str(v), mc_str_of(s)) && mc_is(v, MC_STRING);
}

/* An integer of at least `least`; text that holds one is odd, anything else a fault. False: do not reason about it. */
static bool whole(const look *l, const mc_value *v, mc_str at, int64_t least, int64_t most, const char *what)
{
    int64_t n;
    if (absent(v) || (mc_as_int(v, &n) && n >= least && n <= most))
        return true;
    uint64_t u;
    if (mc_is(v, MC_STRING) && mc_str_u64(v->s, &u) && u <= (uint64_t)most && (int64_t)u >= least)
        odd(l, at, v, "a number in quotes; some loaders refuse it", "write the number without quotes");
    else
        fault(l, at, v, what);
    return false;
}

static void arguments(const look *l, const mc_value *v, mc_str at)
{
    const mc_value *strategy = mc_get(v, "strategy"), *group = mc_get(v, "group_size"), *dynamic = mc_get(v, "dynamic"), *order = mc_get(v, "actorder");
    bool            ok = whole(l, mc_get(v, "num_bits"), below(l, at, MC_STR("num_bits")), 1, 16, "no width from 1 to 16");
    bool            sized = whole(l, group, below(l, at, MC_STR("group_size")), -1, 1 << 30, "no group size"), by_group = word(strategy, "group") || (absent(strategy) && positive(group));
    (void)ok;
    if (sized && word(strategy, "group") && !positive(group))
        fault(l, below(l, at, MC_STR("group_size")), group, group ? "strategy group wants a size above 0" : "is absent, and strategy group wants a size above 0");
    if (word(strategy, "block") && absent(mc_get(v, "block_structure")))
        fault(l, below(l, at, MC_STR("block_structure")), NULL, "is absent, and strategy block wants it");
    else if (!absent(mc_get(v, "block_structure")) && !block_shape(mc_get(v, "block_structure")))
        fault(l, below(l, at, MC_STR("block_structure")), mc_get(v, "block_structure"), "two positive integers are expected");
    if (word(strategy, "token") && mc_is(dynamic, MC_BOOL) && !dynamic->u.b)
        fault(l, below(l, at, MC_STR("dynamic")), dynamic, "strategy token needs dynamic scales");
    if (positive(group) && (word(strategy, "tensor") || word(strategy, "channel") || word(strategy, "token")))
        fault(l, below(l, at, MC_STR("group_size")), group, "the strategy has no groups");
    if ((word(order, "group") || word(order, "dynamic")) && !by_group)
        fault(l, below(l, at, MC_STR("actorder")), order, "it wants strategy group");
}

static void group(const look *l, const mc_value *g, mc_str at)
{
    static const char *const parts[] = { "weights", "input_activations", "output_activations" };
    if (mc_is(g, MC_ARRAY)) { /* a preset and its targets */
        name_list(l, g, at);
        return;
    }
    object_or_null(l, g, at);
    name_list(l, mc_get(g, "targets"), below(l, at, MC_STR("targets")));
    if (word(mc_get(g, "format"), "mixed-precision"))
        fault(l, below(l, at, MC_STR("format")), mc_get(g, "format"), "only the whole model can be mixed");
    for (size_t i = 0; i < MC_COUNT(parts); i++) {
        const mc_value *v = mc_get(g, parts[i]);
        mc_str          where = below(l, at, mc_str_of(parts[i]));
        object_or_null(l, v, where);
        if (mc_is(v, MC_OBJECT))
            arguments(l, v, where);
    }
}

/* The format of the whole is none of those that the groups state. */
static void group_formats(const look *l, const mc_value *groups)
{
    const mc_value *format = mc_get(l->c->block, "format"), *other = NULL;
    if (!mc_is(format, MC_STRING) || word(format, "mixed-precision"))
        return;
    for (size_t i = 0; mc_is(groups, MC_OBJECT) && i < groups->n; i++) {
        const mc_value *f = mc_get(groups->u.fields[i].value, "format");
        if (mc_is(f, MC_STRING) && mc_quant_name_eq(f->s, format->s))
            return;
        if (mc_is(f, MC_STRING))
            other = f;
    }
    if (other)
        odd(l, below(l, l->c->at, MC_STR("format")), format, mc_format(l->cx->arena, "its groups say %.*s", MC_FMT(other->s)).p, "state the format that the groups have, or mixed-precision");
}

static void groups(const look *l)
{
    const mc_value *map = mc_get(l->c->block, "config_groups");
    mc_str          at = below(l, l->c->at, MC_STR("config_groups"));
    object_or_null(l, map, at);
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++)
        group(l, map->u.fields[i].value, below(l, at, map->u.fields[i].key));
    const mc_value *kv = mc_get(l->c->block, "kv_cache_scheme");
    if (mc_is(kv, MC_OBJECT))
        (void)whole(l, mc_get(kv, "num_bits"), below(l, l->c->at, MC_STR("kv_cache_scheme/num_bits")), 1, 16, "no width from 1 to 16");
    if (mc_str_is(l->c->method, "compressed-tensors"))
        group_formats(l, map);
}

/* ---- other methods ---- */

static void block_size(const look *l)
{
    const mc_value *v = mc_get(l->c->block, "weight_block_size");
    if (!absent(v) && !(mc_is(v, MC_ARRAY) && block_shape(v)))
        fault(l, below(l, l->c->at, MC_STR("weight_block_size")), v, "two positive integers are expected");
}

static void quantized_layers(const look *l)
{
    const mc_value *map = mc_get(l->c->block, "quantized_layers"), *algo = mc_get(l->c->block, "quant_algo");
    mc_str          at = below(l, l->c->at, MC_STR("quantized_layers"));
    object_or_null(l, map, at);
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        const mc_value *v = map->u.fields[i].value, *g = mc_get(v, "group_size");
        int64_t         n;
        if (v->type != MC_OBJECT)
            fault(l, below(l, at, map->u.fields[i].key), v, "an object is expected");
        else if (!absent(g) && !(mc_as_int(g, &n) && n >= -1 && n <= 1 << 30))
            (void)whole(l, g, mc_format(l->cx->arena, "%.*s/%.*s/group_size", MC_FMT(at), MC_FMT(map->u.fields[i].key)), 0, 1 << 30, "no group size");
    }
    if (!absent(algo) && algo->type != MC_STRING)
        fault(l, below(l, l->c->at, MC_STR("quant_algo")), algo, "the name of an algorithm is expected");
    if (word(algo, "MIXED_PRECISION") && absent(map))
        odd(l, below(l, l->c->at, MC_STR("quantized_layers")), NULL, "is absent, and MIXED_PRECISION needs it", "list the quantized layers with their algorithms, as hf_quant_config.json does");
}

static void nested_sizes(const look *l)
{
    static const char *const places[] = { "/quant_type/default/_data/group_size", "/quant_type_kwargs/group_size", "/global_quant_config/weight/group_size" };
    for (size_t i = 0; i < MC_COUNT(places); i++)
        (void)whole(l, mc_at(l->c->block, places[i]), mc_format(l->cx->arena, "%.*s%s", MC_FMT(l->c->at), places[i]), -1, 1 << 30, "no group size");
    const mc_value *hqq = mc_get(l->c->block, "quant_config");
    if (mc_is(mc_get(hqq, "weight_quant_params"), MC_OBJECT))
        numbers(l, mc_get(hqq, "weight_quant_params"), below(l, l->c->at, MC_STR("quant_config/weight_quant_params")));
}

static void by_method(const look *l)
{
    const mc_value *b = l->c->block;
    mc_str          m = l->c->method;
    if (mc_str_is(m, "gptq") || mc_str_is(m, "awq")) {
        object_or_null(l, mc_get(b, "dynamic"), below(l, l->c->at, MC_STR("dynamic")));
        entries(l, mc_get(b, "dynamic"), below(l, l->c->at, MC_STR("dynamic")));
    } else if (mc_str_is(m, "auto-round")) {
        object_or_null(l, mc_get(b, "extra_config"), below(l, l->c->at, MC_STR("extra_config")));
        entries(l, mc_get(b, "extra_config"), below(l, l->c->at, MC_STR("extra_config")));
        block_size(l);
    } else if (mc_str_is(m, "mlx")) {
        entries(l, b, l->c->at);
    } else if (mc_str_is(m, "fp8")) {
        block_size(l);
        quantized_layers(l);
    } else if (mc_str_is(m, "modelopt") || mc_str_is(m, "tensorrt-llm")) {
        quantized_layers(l);
        groups(l);
    } else if (mc_str_is(m, "compressed-tensors")) {
        groups(l);
    } else {
        nested_sizes(l);
    }
}

/* Nothing in the block tells the method: neither load_in_*, nor bits with group_size, nor quant_algo. */
static bool method_unknown(const mc_claim *c, mc_role role)
{
    const mc_value *b = c->block;
    bool named = c->raw_method.known || !absent(mc_get(b, "quant_method")) || mc_str_is(c->method, "bitsandbytes");
    bool place = role != MC_ROLE_CONFIG || !mc_str_is(mc_str_base(c->at), "quantization_config");
    return !named && !place && !mc_get(b, "quant_algo") && !(mc_get(b, "bits") && mc_get(b, "group_size"));
}

static void method_name(const look *l)
{
    const mc_value *b = l->c->block, *name = mc_get(b, "quant_method"), *format = mc_get(b, "checkpoint_format");
    mc_str          at = below(l, l->c->at, MC_STR("quant_method"));
    if (!absent(name) && name->type != MC_STRING)
        fault(l, at, name, "the name of a method is expected");
    if (mc_flag(b, "load_in_4bit") && mc_flag(b, "load_in_8bit"))
        fault(l, below(l, l->c->at, MC_STR("load_in_4bit")), mc_get(b, "load_in_4bit"), "load_in_8bit is true as well");
    if (method_unknown(l->c, l->cx->model->files[l->c->file].role))
        odd(l, at, NULL, "is absent, and nothing else names the method", "add quant_method with the name of the method that wrote the weights");
    if (l->method && l->method->plain == MC_PLAIN_RUN_TIME && l->c->raw_method.known)
        odd(l, at, name, "a method that exists at run time only; no loader reads stored weights under this name", "remove the block, or save the weights with a method that can be stored");
    if (mc_flag(b, "is_marlin_format") && mc_is(format, MC_STRING) && !word(format, "marlin"))
        odd(l, below(l, l->c->at, MC_STR("is_marlin_format")), mc_get(b, "is_marlin_format"), mc_format(l->cx->arena, "checkpoint_format says %.*s", MC_FMT(format->s)).p, "remove is_marlin_format, which only old releases read");
}

static void look_at_claims(mc_check *cx, bool as_odd)
{
    const mc_quant *q = cx->model->quant;
    for (size_t i = 0; q && i < q->n_claims; i++) {
        const mc_claim *c = &q->claims[i];
        look l = { cx, c, mc_kb_quant_method(cx->kb, c->method), as_odd };
        method_name(&l);
        described(&l);
        by_method(&l);
    }
}

/* Blocks that are no objects never became claims. */
static void no_objects(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_field *f;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc *d = &m->docs[i];
        uint32_t      c = d->file < m->n_files ? m->files[d->file].component : MC_NONE;
        if (c >= m->n_components || m->components[c].kind == MC_COMP_COPY)
            continue;
        const mc_value *side = d->role == MC_ROLE_HF_QUANT_CONFIG ? mc_get(d->root, "quantization") : NULL;
        if (!absent(side) && side->type != MC_OBJECT)
            (void)tell(cx, d->file, MC_STR("/quantization"), side, MC_STR("is no object"));
        if (d->role != MC_ROLE_CONFIG)
            continue;
        for (mc_levels l = mc_levels_of(d->root); (f = mc_levels_next(&l));) {
            bool block = mc_str_is(f->key, "quantization_config") || mc_str_is(f->key, "compression_config");
            if (block && !absent(f->value) && f->value->type != MC_OBJECT)
                (void)tell(cx, d->file, mc_levels_pointer(&l, cx->arena), f->value, MC_STR("is neither an object nor null"));
            if (block || mc_str_contains(f->key, "quantization"))
                mc_levels_leave(&l);
        }
    }
}

void mc_check_block_invalid(mc_check *cx)
{
    no_objects(cx);
    look_at_claims(cx, false);
}

void mc_check_block_odd(mc_check *cx)
{
    look_at_claims(cx, true);
}
