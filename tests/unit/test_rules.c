/* The laws of the rule table, whoever adds a row: order, names, texts, suppression. And the engine's folding. */
#include "unit.h"

#include "rules/rule.h"

enum { MAX_RULES = 400 };
static const mc_rule *all[MAX_RULES];
static size_t         n_all;

static int gather(void **state)
{
    (void)state;
    n_all = 0;
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 0; i < mc_families[f]->n && n_all < MAX_RULES; i++)
            all[n_all++] = &mc_families[f]->rules[i];
    return n_all == MAX_RULES;
}

static bool is_code(const char *s)
{
    return strncmp(s, "MC", 2) == 0 && strspn(s + 2, "0123456789") >= 3;
}

static void codes_are_unique_and_in_order(void **state)
{
    (void)state;
    assert_true(n_all > 0);
    for (size_t i = 0; i < n_all; i++) {
        if (!is_code(all[i]->code) || strlen(all[i]->code) != 5)
            fail_msg("\"%s\" is no code", all[i]->code);
        for (size_t k = 0; k < i; k++)
            if (strcmp(all[k]->code, all[i]->code) == 0)
                fail_msg("%s twice", all[i]->code);
    }
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 1; i < mc_families[f]->n; i++)
            if (strcmp(mc_families[f]->rules[i - 1].code, mc_families[f]->rules[i].code) >= 0)
                fail_msg("family %s: %s stands behind %s", mc_families[f]->name, mc_families[f]->rules[i].code, mc_families[f]->rules[i - 1].code);
}

static void slugs_are_unique(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_all; i++) {
        const char *s = all[i]->slug;
        if (!*s || strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(s) || s[0] == '-' || s[strlen(s) - 1] == '-')
            fail_msg("%s: slug \"%s\"", all[i]->code, s);
        for (size_t k = 0; k < i; k++)
            if (strcmp(all[k]->slug, s) == 0)
                fail_msg("%s and %s are both %s", all[k]->code, all[i]->code, s);
        assert_ptr_equal(mc_rule_find(S(s)), all[i]);
        assert_ptr_equal(mc_rule_find(S(all[i]->code)), all[i]);
    }
    assert_null(mc_rule_find(S("MC000")));
    assert_null(mc_rule_find(S("")));
}

static void text_is(const mc_rule *r, const char *what, const char *text, size_t least)
{
    if (!text || strlen(text) < least)
        fail_msg("%s: %s is missing or too short", r->code, what);
    if (!mc_utf8_valid(SPAN(text)) || strchr(text, '\n') || strstr(text, "  ") || text[0] == ' ' || text[strlen(text) - 1] == ' ')
        fail_msg("%s: %s is not one clean line", r->code, what);
}

static void every_rule_has_its_words(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_all; i++) {
        const mc_rule *r = all[i];
        text_is(r, "summary", r->summary, 10);
        text_is(r, "why", r->why, 30);
        text_is(r, "fix", r->fix, 10);
        text_is(r, "silent", r->silent, 10);
        if (!r->source)
            fail_msg("%s: source is NULL", r->code);
        if (r->summary[strlen(r->summary) - 1] == '.')
            fail_msg("%s: the summary ends with a full stop", r->code);
    }
}

/* ---- suppression ---- */

/* The next item of a suppresses string: its scope and range; NULL at the end. */
static const char *next_item(const mc_rule *r, const char *s, char *scope, const char **lo, const char **hi)
{
    while (*s == ' ')
        s++;
    if (!*s)
        return NULL;
    if (!strchr("sfmwc", s[0]) || s[1] != ':' || !is_code(s + 2) || (s[7] == '-' ? !is_code(s + 8) : s[7] && s[7] != ' '))
        fail_msg("%s: suppresses \"%s\" is not <scope>:<code or range>", r->code, s);
    *scope = s[0];
    *lo = s + 2;
    *hi = s[7] == '-' ? s + 8 : s + 2;
    s += s[7] == '-' ? 13 : 7;
    if (*s && *s != ' ')
        fail_msg("%s: suppresses: a blank is missing at \"%s\"", r->code, s);
    return s;
}

static bool silences(const mc_rule *r, const mc_rule *other)
{
    char        scope;
    const char *lo, *hi, *s = r->suppresses ? r->suppresses : "";
    bool        hit = false;
    while ((s = next_item(r, s, &scope, &lo, &hi)) != NULL)
        hit |= r != other && strncmp(lo, other->code, 5) <= 0 && strncmp(hi, other->code, 5) >= 0;
    return hit;
}

static void suppression_is_well_formed(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_all; i++)
        for (size_t k = 0; k < n_all; k++)
            (void)silences(all[i], all[k]);
}

static void nothing_silences_what_is_more_severe(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_all; i++)
        for (size_t k = 0; k < n_all; k++)
            if (silences(all[i], all[k]) && all[k]->severity > all[i]->severity)
                fail_msg("%s silences the more severe %s", all[i]->code, all[k]->code);
}

/* Takes away rules that no remaining rule silences, until none is left: what stays lies on a cycle. */
static void suppression_has_no_cycle(void **state)
{
    (void)state;
    bool gone[MAX_RULES] = { false };
    for (size_t left = n_all, before = 0; left && left != before;) {
        before = left;
        for (size_t k = 0; k < n_all; k++) {
            bool silenced = false;
            for (size_t i = 0; i < n_all && !gone[k]; i++)
                silenced |= !gone[i] && silences(all[i], all[k]);
            if (!gone[k] && !silenced) {
                gone[k] = true;
                left--;
            }
        }
    }
    for (size_t k = 0; k < n_all; k++)
        if (!gone[k])
            fail_msg("%s lies on or behind a cycle of suppression", all[k]->code);
}

static void run_findings_silence_only_one_another(void **state)
{
    (void)state;
    for (size_t i = 0; i < n_all; i++)
        for (size_t k = 0; k < n_all; k++)
            if (all[i]->code[2] == '9' && all[k]->code[2] != '9' && silences(all[i], all[k]))
                fail_msg("%s is a run finding and silences %s", all[i]->code, all[k]->code);
}

/* ---- folding ---- */

static void findings_fold(void **state)
{
    (void)state;
    mc_arena      a = arena_new();
    mc_findings   out = { .arena = &a };
    const mc_rule rule = { .code = "MC999", .slug = "x", .severity = MC_WARNING, .fix = "do", .suppresses = NULL }, other = rule;
    mc_check      cx = { .rule = &rule, .out = &out, .arena = &a };
    mc_finding   *f = mc_report(&cx, 3, "message %d", 1);
    mc_subject(f, S("a"));
    assert_int_equal(f->count, 1);
    f = mc_report(&cx, 3, "message %d", 2);
    assert_int_equal(out.n, 1);
    assert_int_equal(f->count, 2);
    assert_str(f->message, "message 1");
    assert_str(f->fix, "do");
    for (int i = 0; i < 5; i++)
        mc_subject(f, S("b"));
    assert_int_equal(f->n_subjects, MC_SAMPLES);
    assert_int_equal(f->count, 6);
    mc_count(f, 291);
    assert_int_equal(f->count, 291);
    (void)mc_report(&cx, 4, "another file");
    (void)mc_report(&cx, MC_NONE, "the model");
    cx.rule = &other;
    (void)mc_report(&cx, 3, "another rule");
    assert_int_equal(out.n, 4);
    for (int i = 0; i < MC_EVIDENCE + 5; i++)
        mc_because(&cx, &out.v[0], "key", mc_origin_at(3, "/x"), "%d", i);
    assert_int_equal(out.v[0].n_evidence, MC_EVIDENCE);
    mc_fix(&cx, &out.v[0], "better %s", "fix");
    assert_str(out.v[0].fix, "better fix");
    mc_arena_free(&a);
}

/* ---- hits: suppression by subject ---- */

static mc_finding *tell_hits(mc_check *cx, const mc_hit *v, size_t n)
{
    return mc_report(cx, v->file, "%s: %zu, first %.*s", cx->rule->code, n, MC_FMT(v->name));
}

static void add_hit(mc_check *cx, const mc_rule *r, uint32_t file, uint32_t module, const char *name)
{
    cx->rule = r;
    mc_hit_add(cx, tell_hits, (mc_hit){ .file = file, .module = module, .name = S(name) });
}

/* The finding of that rule, file and silencer; NULL if there is none. */
static const mc_finding *finding_of(const mc_findings *out, const mc_rule *r, uint32_t file, const mc_rule *by)
{
    for (size_t i = 0; i < out->n; i++)
        if (out->v[i].rule == r && out->v[i].file == file && out->v[i].silenced_by == by)
            return &out->v[i];
    return NULL;
}

static void a_hit_silences_the_same_module_only(void **state)
{
    (void)state;
    mc_arena       a = arena_new();
    mc_findings    out = { .arena = &a };
    mc_file        files[2] = { { .path = S("config.json"), .role = MC_ROLE_CONFIG }, { .path = S("w"), .role = MC_ROLE_WEIGHTS } };
    const mc_model m = { .files = files, .n_files = 2 };
    const mc_rule  shape = { .code = "MC991", .fix = "f", .suppresses = "m:MC994 s:MC992 s:MC993" }, bits = { .code = "MC992", .fix = "f", .suppresses = "s:MC993" },
                   group = { .code = "MC993", .fix = "f" }, coverage = { .code = "MC994", .fix = "f" };
    mc_check       cx = { .model = &m, .out = &out, .arena = &a };
    add_hit(&cx, &group, 0, 4, "four"); /* the order in which rules report is of no matter */
    add_hit(&cx, &group, 0, 2, "two");
    add_hit(&cx, &bits, 0, 1, "one");
    add_hit(&cx, &bits, 0, 2, "two");
    add_hit(&cx, &bits, 0, 3, "three");
    add_hit(&cx, &bits, 1, 3, "three");
    add_hit(&cx, &bits, 0, MC_NONE, "nowhere");
    add_hit(&cx, &shape, 1, 2, "two");
    cx.rule = &coverage;
    (void)mc_report(&cx, MC_NONE, "coverage");
    mc_settle(&cx);
    assert_int_equal(out.n, 7);
    const mc_finding *f = finding_of(&out, &bits, 0, NULL);
    assert_int_equal(f->count, 3);
    assert_str(f->subjects[0], "one");
    assert_str(f->subjects[1], "three");
    assert_str(f->subjects[2], "nowhere");
    assert_str(f->message, "MC992: 3, first one");
    assert_int_equal(finding_of(&out, &bits, 0, &shape)->count, 1);
    assert_int_equal(finding_of(&out, &bits, 1, NULL)->count, 1);
    assert_str(finding_of(&out, &group, 0, NULL)->subjects[0], "four");
    assert_non_null(finding_of(&out, &group, 0, &bits)); /* a silenced hit still silences */
    assert_non_null(finding_of(&out, &shape, 1, NULL));
    assert_non_null(finding_of(&out, &coverage, MC_NONE, &shape)); /* the other scopes see the folded findings */
    mc_arena_free(&a);
}

static void many_hits_make_one_finding(void **state)
{
    (void)state;
    mc_arena       a = arena_new();
    mc_findings    out = { .arena = &a };
    const mc_model m = { .files = NULL };
    const mc_rule  rule = { .code = "MC992", .fix = "f" };
    mc_check       cx = { .model = &m, .out = &out, .arena = &a };
    for (uint32_t i = 0; i < 50000; i++)
        add_hit(&cx, &rule, MC_NONE, i, i ? "later" : "first");
    mc_settle(&cx);
    assert_int_equal(out.n, 1);
    assert_int_equal(out.v[0].count, 50000);
    assert_int_equal(out.v[0].n_subjects, MC_SAMPLES);
    assert_str(out.v[0].subjects[0], "first");
    mc_arena_free(&a);
}

static void out_of_memory_is_no_crash(void **state)
{
    (void)state;
    mc_arena a;
    mc_arena_init(&a, 0);
    mc_findings   out = { .arena = &a };
    const mc_rule rule = { .code = "MC999", .slug = "x", .fix = "do" };
    mc_check      cx = { .rule = &rule, .out = &out, .arena = &a };
    mc_finding   *f = mc_report(&cx, 0, "message");
    assert_non_null(f);
    mc_subject(f, S("a"));
    mc_because(&cx, f, "k", mc_origin_at(0, "/"), "v");
    add_hit(&cx, &rule, 0, 1, "b");
    const mc_model m = { .files = NULL };
    cx.model = &m;
    mc_settle(&cx);
    assert_true(a.failed);
    assert_int_equal(out.n, 0);
    mc_arena_free(&a);
}

static void sizes_read_well(void **state)
{
    (void)state;
    static const struct { uint64_t bytes; const char *text; } rows[] = {
        { 0, "0 bytes" }, { 1, "1 byte" }, { 1023, "1023 bytes" }, { 1024, "1 KiB" }, { UINT64_C(3983565000), "3.71 GiB" },
        { 448 << 20, "448 MiB" }, { UINT64_C(15) << 20, "15 MiB" }, { UINT64_MAX, "16 EiB" },
    };
    mc_arena a = arena_new();
    for (size_t i = 0; i < MC_COUNT(rows); i++)
        assert_str(mc_size_text(&a, rows[i].bytes), rows[i].text);
    mc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(codes_are_unique_and_in_order), cmocka_unit_test(slugs_are_unique), cmocka_unit_test(every_rule_has_its_words),
        cmocka_unit_test(suppression_is_well_formed), cmocka_unit_test(nothing_silences_what_is_more_severe),
        cmocka_unit_test(suppression_has_no_cycle), cmocka_unit_test(run_findings_silence_only_one_another),
        cmocka_unit_test(findings_fold), cmocka_unit_test(a_hit_silences_the_same_module_only), cmocka_unit_test(many_hits_make_one_finding),
        cmocka_unit_test(out_of_memory_is_no_crash), cmocka_unit_test(sizes_read_well),
    };
    return cmocka_run_group_tests(tests, gather, NULL);
}
