/* Index files and side documents: what is valid, what is not, where, and what it looks like. */
#include "formats/formats.h"
#include "unit.h"

static mc_index parse(mc_arena *a, const char *text)
{
    mc_index x = { 0 };
    mc_parse_index(SPAN(text), a, &x);
    return x;
}

static void reads_a_map(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    mc_index x = parse(&a, "{\"metadata\":{\"total_size\":12,\"total_parameters\":\"6\"},"
                           "\"weight_map\":{\"a\":\"m-1.safetensors\",\"b\":\"m-2.safetensors\",\"\\u0063\":\"m-1.safetensors\"}}");
    assert_true(x.valid);
    assert_int_equal(x.metadata, MC_INDEX_META_OBJECT);
    assert_int_equal(x.total_size.v, 12);
    assert_true(x.total_parameters.known);
    assert_int_equal(x.total_parameters.v, 6);
    assert_int_equal(x.n_map, 3);
    assert_str(x.map[2].tensor, "c");
    assert_int_equal(x.map[2].shard, 0);
    assert_int_equal(x.n_shards, 2);
    assert_int_equal(x.shards[0].n_tensors, 2);
    assert_int_equal(mc_strset_find(&x.keys, S("b")), 1);
    mc_arena_free(&a);
}

static void tells_metadata_forms(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    assert_int_equal(parse(&a, "{\"weight_map\":{\"a\":\"b\"}}").metadata, MC_INDEX_META_ABSENT);
    assert_int_equal(parse(&a, "{\"metadata\":null,\"weight_map\":{\"a\":\"b\"}}").metadata, MC_INDEX_META_NULL);
    assert_int_equal(parse(&a, "{\"metadata\":[],\"weight_map\":{\"a\":\"b\"}}").metadata, MC_INDEX_META_OTHER);
    static const char *const sizes[] = { "1.5", "-1", "\"x\"", "null", "1e400", "NaN", "18446744073709551616" };
    for (size_t i = 0; i < MC_COUNT(sizes); i++) {
        mc_index x = parse(&a, mc_format(&a, "{\"metadata\":{\"total_size\":%s},\"weight_map\":{\"a\":\"b\"}}", sizes[i]).p);
        assert_true(x.valid);
        assert_false(x.total_size.known);
    }
    mc_index x = parse(&a, "{\"metadata\":{\"total_size\":1342177280.0},\"weight_map\":{\"a\":\"b\"}}");
    assert_true(x.total_size.known && x.total_size.v == 1342177280);
    mc_arena_free(&a);
}

static void refuses(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    static const struct { const char *text, *hint; } rows[] = {
        { "", NULL },
        { "{}", NULL },
        { "[]", NULL },
        { "{\"weight_map\":{}}", NULL },
        { "{\"weight_map\":[]}", NULL },
        { "{\"weight_map\":{\"a\":\"b\",}}", "trailing comma" },
        { "{\"weight_map\":{\"a\":\"b\"}}{\"weight_map\":{\"a\":\"b\"}}", "two documents joined" },
        { "{\n<<<<<<< HEAD\n\"weight_map\":{\"a\":\"b\"}}", "git conflict marker" },
        { "{\"weight_map\":{\"a\":\"b\"\n=======\n}}", "git conflict marker" },
        { "\xef\xbb\xbf{\"weight_map\":{\"a\":\"b\"}}", "byte order mark" },
        { "{'weight_map':{}}", "single quotes" },
        { "{\"weight_map\": // shards\n{}}", "comment" },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        mc_index x = parse(&a, rows[i].text);
        assert_false(x.valid);
        assert_int_not_equal(x.err.code, MC_OK);
        assert_str(mc_str_of(x.hint), rows[i].hint ? rows[i].hint : "");
    }
    mc_arena_free(&a);
}

static void tells_bad_lines(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    mc_index x = parse(&a, "{\"weight_map\":{\"a\":\"b\",\"a\":\"b\"}}");
    assert_true(x.valid);
    assert_int_equal(x.n_map, 1);
    assert_int_equal(x.shards[0].n_tensors, 1);
    x = parse(&a, "{\"weight_map\":{\"a\":\"b\"},\"weight_map\":{\"c\":\"d\",\"e\":\"d\"}}");
    assert_true(x.valid && x.n_map == 2 && x.n_shards == 1);
    assert_str(x.shards[0].name, "d");
    x = parse(&a, "{\"weight_map\":{\"a\":\"b\",\"a\":\"c\"}}");
    assert_false(x.valid);
    assert_str(x.conflict, "a");
    x = parse(&a, "{\"weight_map\":{\"a\":\"b\",\"q\":[1,{}]}}");
    assert_false(x.valid);
    assert_int_equal(x.n_bad_values, 1);
    assert_str(x.bad_value_key, "q");
    x = parse(&a, "{\"weight_map\":{\"a\":\"../b\",\"c\":\"/etc/passwd\",\"d\":\"e\\u0000.safetensors\",\"f\":\"sub/g.safetensors\"}}");
    assert_true(x.valid);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(x.shards[i].state, MC_SHARD_UNSAFE);
    assert_int_equal(x.shards[3].state, MC_SHARD_ABSENT);
    mc_arena_free(&a);
}

static void reads_documents(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    mc_doc   d = { 0 };
    mc_parse_document(SPAN("{\"a\": 1,\n \"b\": -Infinity}"), &a, &d);
    assert_int_equal(d.err.code, MC_OK);
    assert_int_equal(d.literal_line, 2);
    assert_str(d.literal, "-Infinity");
    d = (mc_doc){ 0 };
    mc_parse_document(SPAN("{\"a\": 1,\n \"b\": }"), &a, &d);
    assert_int_equal(d.err.code, MC_E_SYNTAX);
    assert_null(d.root);
    assert_int_equal(d.line, 2);
    assert_int_equal(d.col, 7);
    d = (mc_doc){ 0 };
    mc_parse_document(SPAN("3"), &a, &d);
    assert_int_equal(d.err.code, MC_E_SYNTAX);
    d = (mc_doc){ 0 };
    mc_parse_document(SPAN("{\"a\": True}"), &a, &d);
    assert_string_equal(d.hint, "Python literal");
    mc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_a_map),     cmocka_unit_test(tells_metadata_forms), cmocka_unit_test(refuses),
        cmocka_unit_test(tells_bad_lines), cmocka_unit_test(reads_documents),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
