/* facts_of.h - facts from a JSON text, for tests of predicates and frameworks. Top: facts of the model, "?" is unknown, what is
 * not named is absent. "groups": [{...}] config groups, "linears": [{...}] layers, "fused": [{...}]. */
#ifndef MODELCHECK_TEST_FACTS_OF_H
#define MODELCHECK_TEST_FACTS_OF_H
#include "kb/frameworks.h"

typedef struct { mc_arena *a; const mc_value *root; } json_facts;

static inline mc_fact fact_of(const json_facts *f, const mc_value *v)
{
    mc_fact one = mc_fact_null();
    if (mc_is(v, MC_ARRAY)) {
        mc_fact *items = MC_NEW(f->a, mc_fact, v->n + 1);
        for (size_t i = 0; items && i < v->n; i++)
            items[i] = fact_of(f, mc_item(v, i));
        return mc_fact_list(items, v->n);
    }
    if (mc_is(v, MC_STRING))
        return mc_str_is(v->s, "?") ? mc_fact_unknown(NULL) : mc_fact_text(v->s);
    if (mc_is(v, MC_INT))
        return mc_fact_int(v->u.i);
    if (mc_is(v, MC_BOOL))
        return mc_fact_bool(v->u.b);
    if (mc_is(v, MC_REAL)) {
        one.type = MC_FACT_REAL;
        one.u.r = v->u.r;
    }
    return one;
}

static inline const char *json_list(mc_each each)
{
    return each == MC_EACH_CONFIG_GROUP ? "groups" : each == MC_EACH_FUSED_GROUP ? "fused" : "linears";
}

static inline mc_fact json_get(const void *cx, mc_scope scope, mc_str name)
{
    const json_facts *f = cx;
    const mc_value   *own = scope.each ? mc_get_str(mc_item(mc_get(f->root, json_list(scope.each)), scope.i), name) : NULL;
    if (!own && !mc_get_str(f->root, name) && (mc_str_starts(name, "row_") || mc_str_starts(name, "column_") || mc_str_is(name, "fused_mixed")))
        return MC_FACT_NONE; /* of layers: unknown without one */
    return fact_of(f, own ? own : mc_get_str(f->root, name));
}

static inline size_t json_count(const void *cx, mc_each each)
{
    const mc_value *list = mc_get(((const json_facts *)cx)->root, json_list(each));
    return mc_is(list, MC_ARRAY) ? list->n : 0;
}

#endif
