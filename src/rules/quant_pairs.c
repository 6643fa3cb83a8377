/* MC413, MC414: two descriptions of one quantization that do not agree. Two loaders then load two different models. */
#include "rules/quant_rules.h"

#include <string.h>

/* ---- which blocks are compared ---- */

static mc_role role_of(const mc_check *cx, const mc_claim *c)
{
    return cx->model->files[c->file].role;
}

/* The first block of config.json in the component of a side file. */
static const mc_claim *main_block(const mc_check *cx, uint32_t component)
{
    const mc_quant *q = cx->model->quant;
    for (size_t i = 0; i < q->n_claims; i++)
        if (q->claims[i].component == component && role_of(cx, &q->claims[i]) == MC_ROLE_CONFIG)
            return &q->claims[i];
    return NULL;
}

/* ---- MC413: fields ---- */

typedef struct { bool stated; mc_str text; mc_str at; } field;

static mc_str number_text(mc_arena *a, const mc_value *v)
{
    double n;
    if (mc_as_number(v, &n))
        return mc_format(a, "%g", n);
    mc_str s = mc_as_str(v); /* "4" is the number in quotes: MC412 */
    while (s.n && s.p[0] == ' ')
        s = mc_str_cut(s, 1, s.n);
    return s;
}

static field number_of(mc_check *cx, const mc_claim *c, const char *const *keys)
{
    for (; *keys; keys++) {
        const mc_value *v = mc_get(c->block, *keys);
        mc_str          text = v ? number_text(cx->arena, v) : MC_STR("");
        if (text.n)
            return (field){ true, text, mc_format(cx->arena, "%.*s/%s", MC_FMT(c->at), *keys) };
    }
    return (field){ 0 };
}

static field bool_of(mc_check *cx, const mc_claim *c, const char *key, bool negate)
{
    bool b;
    if (!mc_as_bool(mc_get(c->block, key), &b))
        return (field){ 0 };
    return (field){ true, b != negate ? MC_STR("true") : MC_STR("false"), mc_format(cx->arena, "%.*s/%s", MC_FMT(c->at), key) };
}

static field symmetry(mc_check *cx, const mc_claim *c)
{
    field f = bool_of(cx, c, "sym", false);
    return f.stated ? f : bool_of(cx, c, "zero_point", true);
}

static field format_of(mc_check *cx, const mc_claim *c)
{
    static const char *const keys[] = { "checkpoint_format", "format", "version" };
    const mc_kb_method *m = mc_kb_quant_method(cx->kb, c->method);
    const mc_value     *known = m ? mc_get(m->spec, "formats") : NULL;
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        mc_str v = mc_as_str(mc_get(c->block, keys[i]));
        for (size_t k = 0; v.n && known && k < known->n; k++)
            if (mc_quant_name_eq(v, mc_as_str(mc_item(known, k))))
                return (field){ true, mc_as_str(mc_item(known, k)), mc_format(cx->arena, "%.*s/%s", MC_FMT(c->at), keys[i]) };
    }
    return (field){ 0 };
}

/* What the tensors say of bits and group, as a number; "" if they do not. */
static mc_str witness(mc_check *cx, const char *name)
{
    const mc_quant *q = cx->model->quant;
    const mc_int   *v = strcmp(name, "bits") == 0 ? &q->bits : strcmp(name, "group_size") == 0 ? &q->group : NULL;
    return v && v->known && q->n_packed ? mc_format(cx->arena, "%lld", (long long)v->v) : MC_STR("");
}

static void differ(mc_check *cx, const mc_claim *a, const mc_claim *b, const char *name, field x, field y)
{
    if (!x.stated || !y.stated || mc_str_eq(x.text, y.text))
        return;
    mc_str      fa = mc_file_path(cx->model, a->file), fb = mc_file_path(cx->model, b->file), seen = witness(cx, name);
    bool        fits_a = seen.n && mc_str_eq(seen, x.text), fits_b = seen.n && mc_str_eq(seen, y.text);
    mc_str      fits = fits_a || fits_b ? mc_format(cx->arena, "; the tensors fit %.*s", MC_FMT(fits_a ? fa : fb)) : MC_STR("");
    mc_finding *f = mc_report(cx, b->file, "%.*s says %s = %.*s, %.*s says %.*s%.*s: two loaders load two different models", MC_FMT(fa), name, MC_FMT(x.text), MC_FMT(fb),
                              MC_FMT(y.text), MC_FMT(fits));
    mc_subject(f, mc_str_of(name));
    mc_because(cx, f, name, (mc_origin){ a->file, x.at }, "%.*s", MC_FMT(x.text));
    mc_because(cx, f, name, (mc_origin){ b->file, y.at }, "%.*s", MC_FMT(y.text));
    if (fits_a || fits_b)
        mc_fix(cx, f, "correct %.*s", MC_FMT(fits_a ? fb : fa));
}

static void gptq_pair(mc_check *cx, const mc_claim *a, const mc_claim *b)
{
    static const char *const bits[] = { "bits", "w_bit", NULL }, *const group[] = { "group_size", "q_group_size", NULL };
    differ(cx, a, b, "bits", number_of(cx, a, bits), number_of(cx, b, bits));
    differ(cx, a, b, "group_size", number_of(cx, a, group), number_of(cx, b, group));
    differ(cx, a, b, "sym", symmetry(cx, a), symmetry(cx, b));
    differ(cx, a, b, "desc_act", bool_of(cx, a, "desc_act", false), bool_of(cx, b, "desc_act", false));
    differ(cx, a, b, "checkpoint_format", format_of(cx, a), format_of(cx, b));
}

/* NVFP4, NVFP4_AWQ and W4A16_NVFP4 store one layout. */
static field algorithm(mc_check *cx, const mc_claim *c)
{
    static const char *const families[] = { "W4A8_NVFP4", "NVFP4", "MXFP4", "MXFP8", "FP8", "MIXED_PRECISION", "W4A16_AWQ", "W4A8_AWQ", "W8A8_SQ", "W8A16" };
    mc_str s = mc_as_str(mc_get(c->block, "quant_algo")), at = mc_format(cx->arena, "%.*s/quant_algo", MC_FMT(c->at));
    for (size_t i = 0; i < MC_COUNT(families); i++)
        if (mc_str_contains_nocase(s, families[i]))
            return (field){ true, mc_str_of(families[i]), at };
    return (field){ s.n > 0, s, at };
}

/* One of the sizes that config.json states fits the side file's. */
static bool group_listed(mc_check *cx, const mc_claim *c, mc_str size, mc_str *other)
{
    static const char *const keys[] = { "group_size", NULL };
    field           own = number_of(cx, c, keys);
    const mc_value *groups = mc_get(c->block, "config_groups");
    *other = own.text;
    if (own.stated && mc_str_eq(own.text, size))
        return true;
    for (size_t i = 0; mc_is(groups, MC_OBJECT) && i < groups->n; i++) {
        const mc_value *v = mc_get(mc_get(groups->u.fields[i].value, "weights"), "group_size");
        mc_str          text = v ? number_text(cx->arena, v) : MC_STR("");
        if (text.n && mc_str_eq(text, size))
            return true;
        if (text.n)
            *other = text;
    }
    return other->n == 0; /* nothing is stated */
}

static void modelopt_pair(mc_check *cx, const mc_claim *a, const mc_claim *b)
{
    static const char *const keys[] = { "group_size", NULL };
    field  x = algorithm(cx, a), y = algorithm(cx, b), group = number_of(cx, b, keys);
    mc_str other;
    differ(cx, a, b, "quant_algo", x, y);
    if (x.stated && mc_str_is(x.text, "MIXED_PRECISION"))
        return;
    if (group.stated && !group_listed(cx, a, group.text, &other))
        differ(cx, a, b, "group_size", (field){ true, other, mc_format(cx->arena, "%.*s", MC_FMT(a->at)) }, group);
}

void mc_check_configs_disagree(mc_check *cx)
{
    const mc_quant *q = cx->model->quant;
    for (size_t i = 0; q && i < q->n_claims; i++) {
        const mc_claim *b = &q->claims[i], *a = main_block(cx, b->component);
        if (a && role_of(cx, b) == MC_ROLE_QUANTIZE_CONFIG)
            gptq_pair(cx, a, b);
        else if (a && role_of(cx, b) == MC_ROLE_HF_QUANT_CONFIG)
            modelopt_pair(cx, a, b);
    }
}

/* ---- MC414: lists ---- */

static const mc_value *exclude_list(const mc_value *block)
{
    static const char *const keys[] = { "ignore", "exclude_modules", "modules_to_not_convert" };
    for (size_t i = 0; i < MC_COUNT(keys); i++)
        if (mc_is(mc_get(block, keys[i]), MC_ARRAY))
            return mc_get(block, keys[i]);
    return NULL;
}

/* "prefix*" and "prefix.*" name one set of modules. */
static mc_str entry_of(const mc_value *v)
{
    mc_str s = mc_as_str(v);
    if (s.n > 1 && s.p[s.n - 1] == '*') {
        s = mc_str_cut(s, 0, s.n - 1);
        if (s.n > 1 && s.p[s.n - 1] == '.')
            s = mc_str_cut(s, 0, s.n - 1);
    }
    return s;
}

typedef struct { mc_strset set; size_t n; } names;

static bool names_of(mc_check *cx, const mc_value *v, names *out)
{
    *out = (names){ 0 };
    if (!mc_strset_init(&out->set, cx->arena, v->n))
        return false;
    for (size_t i = 0; i < v->n; i++) {
        mc_str s = v->type == MC_OBJECT ? v->u.fields[i].key : entry_of(mc_item(v, i));
        if (s.n)
            (void)mc_strset_add(&out->set, s, NULL);
    }
    return true;
}

/* "a, b and 5 more": what only `in` has. "" if nothing. */
static mc_str only_in(mc_check *cx, const names *in, const names *other, size_t *count)
{
    mc_str text = MC_STR("");
    *count = 0;
    for (size_t i = 0; i < in->set.n; i++)
        if (mc_strset_find(&other->set, in->set.keys[i]) == MC_NO_ID && ++*count <= MC_SAMPLES)
            text = mc_format(cx->arena, "%.*s%s%.*s", MC_FMT(text), text.n ? ", " : "", MC_FMT(in->set.keys[i]));
    return *count > MC_SAMPLES ? mc_format(cx->arena, "%.*s and %zu more", MC_FMT(text), *count - MC_SAMPLES) : text;
}

static void sets_differ(mc_check *cx, const mc_claim *a, const mc_claim *b, const mc_value *x, const mc_value *y, const char *what)
{
    names  nx, ny;
    size_t cx_only, cy_only;
    if (!x || !y || !names_of(cx, x, &nx) || !names_of(cx, y, &ny))
        return;
    mc_str in_a = only_in(cx, &nx, &ny, &cx_only), in_b = only_in(cx, &ny, &nx, &cy_only);
    if (in_a.n == 0 && in_b.n == 0)
        return;
    mc_str      fa = mc_file_path(cx->model, a->file), fb = mc_file_path(cx->model, b->file);
    mc_finding *f = mc_report(cx, b->file, "the %s of %.*s and %.*s differ%s%.*s%.*s%s%.*s%.*s", what, MC_FMT(fa), MC_FMT(fb), in_a.n ? "; only in " : "",
                              MC_FMT(in_a.n ? mc_format(cx->arena, "%.*s: ", MC_FMT(fa)) : MC_STR("")), MC_FMT(in_a), in_b.n ? "; only in " : "",
                              MC_FMT(in_b.n ? mc_format(cx->arena, "%.*s: ", MC_FMT(fb)) : MC_STR("")), MC_FMT(in_b));
    mc_subject(f, mc_str_of(what));
    mc_because(cx, f, "only there", (mc_origin){ a->file, a->at }, "%zu", cx_only);
    mc_because(cx, f, "only there", (mc_origin){ b->file, b->at }, "%zu", cy_only);
}

/* Same names, other algorithms. */
static void layers_differ(mc_check *cx, const mc_claim *a, const mc_claim *b)
{
    const mc_value *x = mc_get(a->block, "quantized_layers"), *y = mc_get(b->block, "quantized_layers");
    mc_strset       where;
    if (!mc_is(x, MC_OBJECT) || !mc_is(y, MC_OBJECT))
        return;
    sets_differ(cx, a, b, x, y, "quantized layers");
    if (x->n != y->n || !mc_strset_init(&where, cx->arena, y->n))
        return;
    const mc_value **algo = MC_NEW(cx->arena, const mc_value *, y->n + 1);
    for (size_t i = 0; algo && i < y->n; i++) {
        uint32_t id = mc_strset_add(&where, y->u.fields[i].key, NULL);
        if (id != MC_NO_ID)
            algo[id] = mc_get(y->u.fields[i].value, "quant_algo");
    }
    for (size_t i = 0; algo && i < x->n; i++) {
        uint32_t        id = mc_strset_find(&where, x->u.fields[i].key);
        mc_str          one = mc_as_str(mc_get(x->u.fields[i].value, "quant_algo")), other = id == MC_NO_ID ? MC_STR("") : mc_as_str(algo[id]);
        if (one.n && other.n && !mc_quant_name_eq(one, other)) {
            mc_finding *f = mc_report(cx, b->file, "%.*s quantizes %.*s as %.*s, %.*s as %.*s", MC_FMT(mc_file_path(cx->model, a->file)), MC_FMT(x->u.fields[i].key), MC_FMT(one),
                                      MC_FMT(mc_file_path(cx->model, b->file)), MC_FMT(other));
            mc_subject(f, x->u.fields[i].key);
        }
    }
}

/* ---- MC414: whole blocks ---- */

typedef struct { const mc_value *a, *b; size_t next; } pair;

static bool scalars_equal(mc_arena *arena, const mc_value *a, const mc_value *b)
{
    double x, y;
    if (mc_is(a, MC_STRING) != mc_is(b, MC_STRING)) { /* "4" and 4: MC412 */
        mc_str s = number_text(arena, a), t = number_text(arena, b);
        return s.n > 0 && mc_str_eq(s, t);
    }
    if (mc_as_number(a, &x) && mc_as_number(b, &y))
        return x == y || (x != x && y != y);
    if (a->type != b->type)
        return false;
    return a->type == MC_STRING ? mc_str_eq(a->s, b->s) : a->type == MC_BOOL ? a->u.b == b->u.b : true;
}

/* The field of the same name: at the same place in copies, else anywhere. Absent and null are one. */
static const mc_value *partner(const mc_value *b, const mc_value *a, size_t i)
{
    static const mc_value null = { .type = MC_NULL };
    mc_str                key = a->u.fields[i].key;
    const mc_value       *v = i < b->n && mc_str_eq(b->u.fields[i].key, key) ? b->u.fields[i].value : mc_get_str(b, key);
    return v ? v : &null;
}

/* Keys of b that a lacks; only asked when the walk over a found no difference. */
static bool has_more(const mc_value *a, const mc_value *b, mc_str *where)
{
    for (size_t i = 0; i < b->n; i++) {
        bool there = (i < a->n && mc_str_eq(a->u.fields[i].key, b->u.fields[i].key)) || mc_get_str(a, b->u.fields[i].key) != NULL;
        if (!there && b->u.fields[i].value->type != MC_NULL) {
            *where = b->u.fields[i].key;
            return true;
        }
    }
    return false;
}

/* Equal but for the order of fields. *where gets the key of the first difference. */
static bool equal(mc_arena *arena, const mc_value *a, const mc_value *b, mc_str *where)
{
    pair   stack[MC_MAX_JSON_DEPTH + 1];
    size_t depth = 1;
    stack[0] = (pair){ a, b, 0 };
    while (depth > 0) {
        pair *t = &stack[depth - 1];
        if (t->next == t->a->n) {
            if (t->a->type == MC_OBJECT ? has_more(t->a, t->b, where) : t->a->n != t->b->n)
                return false;
            depth--;
            continue;
        }
        size_t          i = t->next++;
        const mc_value *x = t->a->type == MC_OBJECT ? t->a->u.fields[i].value : &t->a->u.items[i];
        const mc_value *y = t->a->type == MC_OBJECT ? partner(t->b, t->a, i) : mc_item(t->b, i);
        if (t->a->type == MC_OBJECT)
            *where = t->a->u.fields[i].key;
        if (!y)
            return false;
        bool tree = x->type == MC_OBJECT || x->type == MC_ARRAY;
        if (tree ? x->type != y->type : !scalars_equal(arena, x, y))
            return false;
        if (tree && depth < MC_COUNT(stack))
            stack[depth++] = (pair){ x, y, 0 };
    }
    return true;
}

static void blocks_differ(mc_check *cx, const mc_claim *a, const mc_claim *b)
{
    mc_str where = MC_STR("");
    for (size_t i = 0; i < cx->out->n; i++) /* a copy with an impossible value: that is the finding */
        if (mc_str_is(mc_str_of(cx->out->v[i].rule->code), "MC411") && cx->out->v[i].file == b->file)
            return;
    if (equal(cx->arena, a->block, b->block, &where))
        return;
    mc_finding *f = mc_report(cx, b->file, "%.*s and %.*s differ%s%.*s: %.*s counts for the loaders of %.*s", MC_FMT(a->at), MC_FMT(b->at), where.n ? " at " : "", MC_FMT(where),
                              MC_FMT(a->at), MC_FMT(a->method));
    mc_subject(f, b->at);
    mc_because(cx, f, "read first", (mc_origin){ a->file, a->at }, "%.*s", MC_FMT(a->method));
}

/* Blocks of one config.json: MLX writes its block twice, multimodal models may state one for the whole and one for the text. */
static bool twins(const mc_claim *a, const mc_claim *b)
{
    bool mlx = mc_str_is(a->method, "mlx") && mc_str_is(b->method, "mlx") && mc_str_is(a->at, "/quantization") && mc_str_is(b->at, "/quantization_config");
    return mlx || (mc_str_is(a->at, "/quantization_config") && mc_str_is(b->at, "/text_config/quantization_config"));
}

void mc_check_blocks_differ(mc_check *cx)
{
    const mc_quant *q = cx->model->quant;
    for (size_t i = 0; q && i < q->n_claims; i++) {
        const mc_claim *b = &q->claims[i], *a = main_block(cx, b->component);
        if (a && a != b && role_of(cx, b) == MC_ROLE_HF_QUANT_CONFIG) {
            sets_differ(cx, a, b, exclude_list(a->block), exclude_list(b->block), "exclude lists");
            layers_differ(cx, a, b);
        }
        for (size_t k = 0; k < i; k++)
            if (q->claims[k].file == b->file && twins(&q->claims[k], b))
                blocks_differ(cx, &q->claims[k], b);
    }
}
