/* What the rules say about themselves: explain, the list of rules, and the reference in docs/rules.md. */
#include "report/report.h"

#include <string.h>

/* ---- order ---- */

typedef struct { const mc_rule *rule; const char *family; } entry;

/* The rule with the smallest code above `after`; families need not be neighbours: 41x to 44x lie inside the configuration's
 * 40x to 48x. rule NULL: there is none. */
static entry next_rule(const char *after)
{
    entry best = { NULL, NULL };
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 0; i < mc_families[f]->n; i++) {
            const mc_rule *r = &mc_families[f]->rules[i];
            if (strcmp(r->code, after) > 0 && (!best.rule || strcmp(r->code, best.rule->code) < 0))
                best = (entry){ r, mc_families[f]->name };
        }
    return best;
}

/* ---- text ---- */

static void paragraph(mc_out *o, const char *head, const char *text)
{
    if (text && *text)
        mc_putf(o, "\n%s\n  %s\n", head, text);
}

static void explain(mc_out *o, const mc_rule *r)
{
    mc_putf(o, "%s %s: %s\n", r->code, r->slug, r->summary);
    mc_putf(o, "  %s, %s", mc_severity_name(r->severity), r->certainty == MC_CERTAIN ? "certain" : "likely");
    const char *option = mc_needs_option(r, &(mc_rule_options){ 0 });
    if (option)
        mc_putf(o, ", runs with %s only", option);
    mc_put(o, "\n");
    paragraph(o, "Why it matters", r->why);
    paragraph(o, "What to do", r->fix);
    paragraph(o, "What looks like it and is legal", r->silent);
    paragraph(o, "Source", r->source);
    if (r->suppresses)
        paragraph(o, "Explains, and therefore silences", r->suppresses);
}

static void list_line(mc_out *o, const mc_rule *r)
{
    mc_putf(o, "%s  %-7s  %-28s %s\n", r->code, mc_severity_name(r->severity), r->slug, r->summary);
}

/* ---- JSON: the usual document, without models and with rules ---- */

static void json_rule(mc_out *o, const mc_rule *r, const char *family)
{
    static const char *const modes[] = { [MC_MODE_DEFAULT] = "default", [MC_MODE_DEEP] = "deep", [MC_MODE_TARGET] = "target", [MC_MODE_OPTION] = "option" };
    mc_js_open(o, NULL, '{', false);
    mc_js_str(o, "code", mc_str_of(r->code));
    mc_js_str(o, "slug", mc_str_of(r->slug));
    mc_js_str(o, "family", mc_str_of(family));
    mc_js_str(o, "severity", mc_str_of(mc_severity_name(r->severity)));
    mc_js_str(o, "certainty", mc_str_of(mc_certainty_name(r->certainty)));
    mc_js_str(o, "mode", mc_str_of(modes[r->mode]));
    mc_js_text(o, "needs", mc_str_of(mc_needs_option(r, &(mc_rule_options){ 0 })));
    mc_js_str(o, "summary", mc_str_of(r->summary));
    mc_js_text(o, "why", mc_str_of(r->why));
    mc_js_text(o, "fix", mc_str_of(r->fix));
    mc_js_text(o, "silent", mc_str_of(r->silent));
    mc_js_text(o, "source", mc_str_of(r->source));
    mc_js_text(o, "suppresses", mc_str_of(r->suppresses));
    mc_js_close(o, '}');
}

void mc_json_empty(mc_out *o, const char *key)
{
    mc_arena a;
    mc_arena_init(&a, 1 << 20);
    mc_json_head(o, &a);
    mc_arena_free(&a);
    mc_js_open(o, "models", '[', true);
    mc_js_close(o, ']');
    mc_js_open(o, "errors", '[', true);
    mc_js_close(o, ']');
    mc_js_open(o, key, '[', false);
}

void mc_json_foot(mc_out *o)
{
    static const char *const counts[] = { "models", "errors", "warnings", "infos", "suppressed", "exit" };
    mc_js_close(o, ']');
    mc_js_open(o, "summary", '{', true);
    for (size_t i = 0; i < MC_COUNT(counts); i++)
        mc_js_u64(o, counts[i], 0);
    mc_js_close(o, '}');
    mc_js_close(o, '}');
}

static void json_rules(mc_out *o, const mc_rule *only)
{
    mc_json_empty(o, "rules");
    for (entry e = next_rule(""); e.rule; e = next_rule(e.rule->code))
        if (!only || only == e.rule)
            json_rule(o, e.rule, e.family);
    mc_json_foot(o);
}

/* ---- Markdown ---- */

static void md_rule(mc_out *o, const mc_rule *r)
{
    const char *option = mc_needs_option(r, &(mc_rule_options){ 0 });
    mc_putf(o, "\n### %s %s\n\n%s. *%s, %s%s%s*\n\n", r->code, r->slug, r->summary, mc_severity_name(r->severity),
            mc_certainty_name(r->certainty), option ? ", only with " : "", option ? option : "");
    if (r->why && *r->why)
        mc_putf(o, "%s\n\n", r->why);
    if (r->fix && *r->fix)
        mc_putf(o, "**Fix:** %s\n\n", r->fix);
    if (r->silent && *r->silent)
        mc_putf(o, "**Legal, and not reported:** %s\n\n", r->silent);
    if (r->source && *r->source)
        mc_putf(o, "**Source:** %s\n", r->source);
}

static void md_rules(mc_out *o)
{
    size_t n[3] = { 0 };
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 0; i < mc_families[f]->n; i++)
            n[mc_families[f]->rules[i].severity]++;
    mc_put(o, "# Rules\n\nMade by `modelcheck rules --format md` (`make docs`) from the rule tables; do not edit.\n\n");
    mc_putf(o, "%zu rules: %zu errors, %zu warnings, %zu infos.\n", n[0] + n[1] + n[2], n[MC_ERROR], n[MC_WARNING], n[MC_INFO]);
    for (size_t f = 0; f < mc_n_families; f++) {
        if (mc_families[f]->n == 0)
            continue;
        mc_putf(o, "\n## %s\n", mc_families[f]->name);
        for (size_t i = 0; i < mc_families[f]->n; i++)
            md_rule(o, &mc_families[f]->rules[i]);
    }
}

bool mc_write_rules(FILE *out, const mc_rule *rule, const char *format)
{
    mc_out o = { .f = out };
    if (strcmp(format, "json") == 0)
        json_rules(&o, rule);
    else if (strcmp(format, "md") == 0 && !rule)
        md_rules(&o);
    else if (strcmp(format, "text") != 0)
        return false;
    else if (rule)
        explain(&o, rule);
    else
        for (entry e = next_rule(""); e.rule; e = next_rule(e.rule->code))
            list_line(&o, e.rule);
    return true;
}
