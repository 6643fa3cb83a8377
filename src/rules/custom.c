/* Rules of users (--rules DIR): predicates over the same facts as framework data. A finding is about the model as a whole; with
 * `each` its subjects are the layers or groups for which the predicate holds. docs/custom-rules.md. */
#include "rules/rule.h"

#include "kb/frameworks.h"
#include "scan/facts.h"

/* A row as a rule, so that reports and options treat it like any other. Lives as long as the findings. */
static mc_rule *rule_of(mc_arena *a, const mc_custom_rule *c)
{
    static const char *const words[] = { "info", "warning", "error" };
    mc_rule *r = MC_NEW(a, mc_rule, 1);
    if (!r)
        return NULL;
    *r = (mc_rule){ .code = mc_str_copy(a, c->code).p, .slug = mc_str_copy(a, c->slug).p, .certainty = MC_CERTAIN, .mode = MC_MODE_DEFAULT,
                    .summary = mc_str_copy(a, c->message).p, .why = mc_str_copy(a, c->why).p, .fix = mc_str_copy(a, c->fix).p, .silent = "",
                    .source = mc_str_copy(a, c->source).p };
    for (unsigned i = 0; i < MC_COUNT(words); i++)
        if (mc_str_is(c->severity, words[i]))
            r->severity = (mc_severity)i;
    return r;
}

static void run(mc_check *cx, const mc_custom_rule *c, const mc_facts *facts)
{
    size_t      n = c->each ? facts->count(facts->cx, c->each) : 1;
    mc_finding *out = NULL;
    for (size_t i = 0; i < n; i++) {
        mc_scope scope = c->each ? (mc_scope){ c->each, i } : MC_SCOPE_MODEL;
        if (mc_predicate_eval(c->when, facts, scope, NULL) != MC_TRUE)
            continue;
        if (!out) {
            out = mc_report(cx, MC_NONE, "%.*s", MC_FMT(mc_fill(cx->arena, c->message, facts, scope, NULL)));
            mc_fix(cx, out, "%.*s", MC_FMT(mc_fill(cx->arena, c->fix, facts, scope, NULL)));
        }
        mc_fact tensor = c->each ? facts->get(facts->cx, scope, MC_STR("tensor")) : mc_fact_null();
        if (tensor.type == MC_FACT_TEXT)
            mc_subject(out, tensor.s);
    }
}

void mc_run_custom(mc_check *cx)
{
    const mc_custom_rule *rules;
    mc_model_facts        model;
    size_t                n = mc_kb_custom_rules(cx->kb, &rules);
    if (n == 0)
        return;
    mc_model_facts_init(&model, cx->arena, cx->model, cx->kb, cx->options->tp);
    mc_facts facts = mc_model_facts_of(&model);
    for (size_t i = 0; i < n; i++) {
        cx->rule = rule_of(cx->arena, &rules[i]);
        if (cx->rule)
            run(cx, &rules[i], &facts);
    }
}
