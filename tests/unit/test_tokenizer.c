/* tokenizer.json in one pass: added tokens, ids in both kinds of vocabulary, what is damaged; and the side files. */
#include "unit.h"

#include <stdio.h>

#include "formats/formats.h"
#include "scan/scan.h"

static mc_err parse(mc_arena *a, const char *text, const char *wanted, mc_tokens *t)
{
    *t = (mc_tokens){ 0 };
    return mc_parse_tokenizer(SPAN(text), a, 3, S(wanted), t);
}

static void added_tokens(void **state)
{
    mc_arena  a = arena_new();
    mc_tokens t;
    (void)state;
    static const char text[] = "{\"version\": \"1.0\", \"added_tokens\": [{\"id\": 0, \"content\": \"<s>\", \"special\": true, \"x\": [1, {}]},"
                               " {\"special\": false, \"content\": \"a\\u00e9\\n\", \"id\": 7}, 5, {\"id\": -1, \"content\": \"n\"}, {\"id\": 1.5, \"content\": \"f\"}, {\"id\": 9}],"
                               " \"model\": {\"type\": \"BPE\", \"merges\": [[\"a\", \"b\"]]}}";
    assert_int_equal(parse(&a, text, "", &t).code, MC_OK);
    assert_int_equal(t.n_added, 2);
    assert_true(t.added[0].special && t.added[0].id == 0 && t.added[0].file == 3);
    assert_str(t.added[0].text, "<s>");
    assert_true(!t.added[1].special && t.added[1].id == 7);
    assert_str(t.added[1].text, "a\xc3\xa9\n");
    assert_false(t.eos_id.known);
    assert_false(t.vocab.known);
    mc_arena_free(&a);
}

static void finds_ids(void **state)
{
    static const struct { const char *text, *wanted; int64_t id, entries; const char *where; } rows[] = {
        { "{\"model\": {\"vocab\": {\"a\": 0, \"</s>\": 2}}}", "</s>", 2, 2, "/model/vocab" },
        { "{\"model\": {\"vocab\": {\"a\": 0, \"<\\/s>\": 2}}}", "</s>", 2, 2, "/model/vocab" },
        { "{\"model\": {\"vocab\": {\"\\u003c/s>\": 4}}}", "</s>", 4, 1, "/model/vocab" },
        { "{\"model\": {\"vocab\": {\"\\u0120b\": 5, \"x\": 1}}}", "\xc4\xa0" "b", 5, 2, "/model/vocab" },
        { "{\"model\": {\"vocab\": [[\"<pad>\", 0.0], [\"</s>\", -1.5], [\"a\", -2]]}}", "</s>", 1, 3, "/model/vocab" },
        { "{\"model\": {\"vocab\": {\"</s>\": 2}}, \"added_tokens\": [{\"id\": 9, \"content\": \"</s>\"}]}", "</s>", 9, 1, "/added_tokens" },
        { "{\"added_tokens\": [{\"id\": 9, \"content\": \"</s>\"}], \"model\": {\"vocab\": {\"</s>\": 2}}}", "</s>", 9, 1, "/added_tokens" },
        { "{\"model\": {\"vocab\": {\"</s>\": 2, \"</s>\": 3}}}", "</s>", 3, 2, "/model/vocab" },   /* the last of equal keys */
        { "{\"model\": {\"vocab\": {\"a\": 0, \"</s\": 1, \"</s>>\": 2}}}", "</s>", -1, 3, "" },
        { "{\"model\": {\"vocab\": {\"</s>\": \"two\"}}}", "</s>", -1, 1, "" },
        { "{\"model\": {\"vocab\": {}}}", "</s>", -1, 0, "" },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_arena  a = arena_new();
        mc_tokens t;
        assert_int_equal(parse(&a, rows[i].text, rows[i].wanted, &t).code, MC_OK);
        assert_true(t.vocab.known);
        assert_int_equal(t.vocab.v, rows[i].entries);
        assert_int_equal(t.eos_id.known, rows[i].id >= 0);
        if (t.eos_id.known) {
            assert_int_equal(t.eos_id.v, rows[i].id);
            assert_str(t.eos_id.from.where, rows[i].where);
        }
        mc_arena_free(&a);
    }
}

static void odd_but_json(void **state)
{
    static const char *const rows[] = {
        "{}", "{\"added_tokens\": null, \"model\": null}", "{\"added_tokens\": {\"id\": 1}, \"model\": [1]}", "{\"model\": {\"vocab\": 3}}",
        "{\"model\": {\"vocab\": [1, \"a\", [], [3, 4], [\"a\", \"b\", \"c\"]]}}", "{\"added_tokens\": [[], {\"content\": 5, \"id\": 1}, {\"id\": 99999999999999999999, \"content\": \"a\"}]}",
        "{\"x\": NaN}", "{\"x\": \"\\ud800\"}",
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_arena  a = arena_new();
        mc_tokens t;
        assert_int_equal(parse(&a, rows[i], "a", &t).code, MC_OK);
        assert_int_equal(t.n_added, 0);
        mc_arena_free(&a);
    }
}

static void damaged(void **state)
{
    static const struct { const char *text; uint64_t at; } rows[] = {
        { "", 0 }, { "[]", 0 }, { "{", 1 }, { "{\"model\": {\"vocab\": {\"a\": 1,}}}", 28 }, { "{} x", 3 }, { "{\"added_tokens\": [{\"id\": 1, \"content\": \"a\"} {}]}", 44 },
        { "{\"model\": {\"vocab\": {\"a\xff\": 1}}}", 23 }, { "{\"model\": {\"vocab\": [[\"a\", 1]", 29 }, { "\xef\xbb\xbf{}", 0 }, { "{\"a\": 'b'}", 6 },
    };
    (void)state;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_arena  a = arena_new();
        mc_tokens t;
        mc_err    e = parse(&a, rows[i].text, "a", &t);
        if (e.code == MC_OK || e.at != rows[i].at)
            fail_msg("%s: code %d at %d", rows[i].text, (int)e.code, (int)e.at);
        assert_int_equal(t.n_added, 0); /* nothing half read is kept */
        assert_false(t.eos_id.known);
        mc_arena_free(&a);
    }
}

static void depth(void **state)
{
    char text[256];
    (void)state;
    for (int n = 61; n <= 63; n++) { /* two levels around it */
        mc_arena  a = arena_new();
        mc_tokens t;
        int       w = sprintf(text, "{\"model\": {\"x\": ");
        memset(text + w, '[', (size_t)n);
        memset(text + w + n, ']', (size_t)n);
        strcpy(text + w + 2 * n, "}}");
        assert_int_equal(parse(&a, text, "", &t).code, n <= 62 ? MC_OK : MC_E_LIMIT);
        mc_arena_free(&a);
    }
}

/* ---- side files ---- */

static mc_doc doc(mc_arena *a, uint32_t file, mc_role role, const char *text)
{
    mc_err err;
    mc_doc d = { .file = file, .role = role };
    d.root = mc_json_tree(a, SPAN(text), &err, NULL);
    assert_non_null(d.root);
    return d;
}

static void side_files(void **state)
{
    mc_arena a = arena_new();
    (void)state;
    mc_doc docs[] = {
        doc(&a, 0, MC_ROLE_TOKENIZER_CONFIG, "{\"eos_token\": {\"content\": \"<e>\", \"lstrip\": false},"
                                             " \"added_tokens_decoder\": {\"5\": {\"content\": \"<e>\", \"special\": true}, \"x\": {\"content\": \"no\"}, \"6\": {}}}"),
        doc(&a, 1, MC_ROLE_SPECIAL_TOKENS, "{\"eos_token\": \"<other>\"}"),
        doc(&a, 2, MC_ROLE_ADDED_TOKENS, "{\"<u>\": 8, \"<known>\": 4, \"<bad>\": \"x\", \"<neg>\": -1}"),
    };
    mc_component c = { .kind = MC_COMP_ROOT };
    for (size_t r = 0; r < MC_N_ROLES; r++)
        c.docs[r] = MC_NONE;
    for (uint32_t i = 0; i < MC_COUNT(docs); i++)
        c.docs[docs[i].role] = i;
    mc_model m = { .arena = &a, .components = &c, .n_components = 1, .docs = docs, .n_docs = MC_COUNT(docs) };
    assert_true(mc_token_add(&a, &m.tokens, (mc_token){ 4, S("<known>"), true, 9 }));
    mc_tokens_from_docs(&m);
    assert_str(m.tokens.eos.v, "<e>");
    assert_int_equal(m.tokens.n_added, 4);
    assert_true(m.tokens.added[1].id == 8 && !m.tokens.added[1].special && m.tokens.added[1].file == 2);
    assert_true(m.tokens.added[2].id == 4 && m.tokens.added[2].special); /* tokenizer.json calls it special */
    assert_true(m.tokens.added[3].id == 5 && m.tokens.added[3].special && m.tokens.added[3].file == 0);
    assert_true(m.tokens.eos_id.known && m.tokens.eos_id.v == 5);
    mc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(added_tokens), cmocka_unit_test(finds_ids), cmocka_unit_test(odd_but_json), cmocka_unit_test(damaged),
        cmocka_unit_test(depth), cmocka_unit_test(side_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
