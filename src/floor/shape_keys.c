/* Numbers of a configuration: the file's own, else the default of the class (rules/config-defaults.tsv), else what the rule of
 * a null default makes of other keys ("=hidden_size//num_attention_heads"). */
#include "floor/shape_config.h"

#include <string.h>

bool mc_num_known(mc_num n)
{
    return n.state == MC_NUM_SET || n.state == MC_NUM_CLASS;
}

mc_num mc_num_of(mc_int fact)
{
    return fact.known && fact.v >= 0 ? (mc_num){ MC_NUM_SET, (uint64_t)fact.v, fact.from } : (mc_num){ 0 };
}

const mc_value *mc_look_value(const mc_look *l, mc_str name)
{
    char pointer[128];
    if (!mc_str_starts(name, "/"))
        return mc_get_str(l->text, name);
    if (name.n >= sizeof pointer)
        return NULL;
    memcpy(pointer, name.p, name.n);
    pointer[name.n] = '\0';
    return mc_at(l->text, pointer);
}

mc_str mc_look_where(const mc_look *l, mc_str key)
{
    return mc_format(l->a, "%.*s%s%.*s", MC_FMT(l->at), mc_str_starts(key, "/") ? "" : "/", MC_FMT(key));
}

void mc_look_from(const mc_look *l, mc_sources *s, mc_num n)
{
    if (mc_num_known(n))
        mc_source_of(s, l->m, l->a, n.from);
}

bool mc_look_flag(const mc_look *l, const char *key)
{
    bool       b;
    mc_default d;
    if (mc_as_bool(mc_get(l->text, key), &b))
        return b;
    return !mc_get(l->text, key) && mc_kb_default(l->kb, l->cls, key, &d) && mc_str_is(d.value, "true");
}

static mc_str next_name(mc_str *names)
{
    size_t n = mc_str_find(*names, ' ');
    mc_str name = mc_str_cut(*names, 0, n);
    *names = mc_str_cut(*names, n + 1, names->n);
    return name;
}

static bool class_row(const mc_look *l, mc_str name, mc_default *out)
{
    for (const char *cursor = NULL; mc_kb_next_default(l->kb, l->cls, &cursor, out);)
        if (mc_str_eq(out->key, name))
            return true;
    return false;
}

static mc_num of_class(const mc_look *l, uint64_t v)
{
    return (mc_num){ MC_NUM_CLASS, v, { l->file, mc_format(l->a, "default of %.*s", MC_FMT(l->cls)) } };
}

static mc_num of_file(const mc_look *l, mc_str name, const mc_value *v)
{
    int64_t i;
    if (!mc_is(v, MC_INT) || !mc_as_int(v, &i) || i < 0)
        return (mc_num){ .state = MC_NUM_BAD };
    return (mc_num){ MC_NUM_SET, (uint64_t)i, { l->file, mc_look_where(l, name) } };
}

/* What stands in a rule: a number, or a key that has one by itself. */
static bool operand(const mc_look *l, mc_str s, uint64_t *out)
{
    const mc_value *v;
    mc_default      d;
    int64_t         i;
    if (mc_str_u64(s, out))
        return true;
    const struct { const char *name; const mc_int *fact; } facts[] = {
        { "hidden_size", &l->m->arch.hidden }, { "num_attention_heads", &l->m->arch.heads }, { "num_hidden_layers", &l->m->arch.layers },
    };
    for (size_t k = 0; k < MC_COUNT(facts); k++)
        if (mc_str_is(s, facts[k].name) && facts[k].fact->known) {
            *out = (uint64_t)facts[k].fact->v;
            return true;
        }
    if ((v = mc_get_str(l->text, s)) != NULL) {
        *out = mc_is(v, MC_INT) && mc_as_int(v, &i) && i >= 0 ? (uint64_t)i : 0;
        return *out > 0;
    }
    return class_row(l, s, &d) && mc_str_u64(d.value, out);
}

/* "=a", "=a//b", "=a*b"; other rules are for the code that knows the class. */
static bool apply(const mc_look *l, mc_str rule, uint64_t *out)
{
    uint64_t a, b;
    if (!mc_str_starts(rule, "="))
        return false;
    mc_str s = mc_str_cut(rule, 1, rule.n);
    size_t slash = mc_str_find(s, '/'), star = mc_str_find(s, '*');
    if (slash + 1 < s.n && s.p[slash + 1] == '/') {
        if (!operand(l, mc_str_cut(s, 0, slash), &a) || !operand(l, mc_str_cut(s, slash + 2, s.n), &b) || b == 0)
            return false;
        *out = a / b;
        return true;
    }
    if (star < s.n)
        return operand(l, mc_str_cut(s, 0, star), &a) && operand(l, mc_str_cut(s, star + 1, s.n), &b) && !ckd_mul(out, a, b);
    return operand(l, s, out);
}

static mc_num number(const mc_look *l, mc_str names)
{
    mc_num     none = { .state = MC_NUM_ABSENT };
    mc_default d;
    uint64_t   v;
    for (mc_str rest = names; rest.n;) {
        mc_str          name = next_name(&rest);
        const mc_value *value = mc_look_value(l, name);
        if (value && !mc_is(value, MC_NULL))
            return of_file(l, name, value);
        if (value)
            none.state = MC_NUM_NULL;
    }
    for (mc_str rest = names; rest.n;) {
        if (!class_row(l, next_name(&rest), &d))
            continue;
        if (none.state == MC_NUM_ABSENT && mc_str_u64(d.value, &v))
            return of_class(l, v);
        if (mc_str_is(d.value, "null") && apply(l, d.rule, &v))
            return of_class(l, v);
    }
    return none;
}

mc_num mc_look_number(const mc_look *l, const char *names)
{
    return number(l, mc_str_of(names));
}

mc_num mc_look_member(const mc_look *l, const mc_value *spec, const char *member, const char *fallback)
{
    const mc_value *v = mc_get(spec, member);
    mc_num          n = { .state = MC_NUM_ABSENT };
    if (mc_is(v, MC_STRING))
        return number(l, v->s);
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n && !mc_num_known(n); i++)
        if (mc_is(mc_item(v, i), MC_STRING))
            n = number(l, mc_item(v, i)->s);
    return mc_is(v, MC_ARRAY) || !fallback ? n : mc_look_number(l, fallback);
}
