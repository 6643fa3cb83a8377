/* The tables that are searched by halves: order, class defaults, built-in names. Families. */
#include "unit.h"

#include "kb/kb.h"

static mc_kb kb; /* these look-ups take everything from the embedded files */

static mc_str first_field(const char *p, const char *end)
{
    size_t n = 0;
    while (p + n < end && p[n] != '\n' && p[n] != '\t')
        n++;
    return (mc_str){ p, n };
}

static void lines_are_sorted(const char *name)
{
    mc_span     t = mc_embedded_find(name);
    const char *p = (const char *)t.p, *end = p + t.n;
    mc_str      last = S("");
    assert_true(t.n > 0);
    while (p < end) {
        mc_str f = first_field(p, end);
        if (*p != '#') {
            if (mc_str_cmp(last, f) > 0)
                fail_msg("%s: \"%.*s\" stands behind \"%.*s\"", name, MC_FMT(f), MC_FMT(last));
            last = f;
        }
        p = memchr(p, '\n', (size_t)(end - p));
        assert_non_null(p);
        p++;
    }
}

static void tables_are_sorted(void **state)
{
    (void)state;
    lines_are_sorted("config-defaults.tsv");
    lines_are_sorted("builtin-names.tsv");
}

static void class_defaults(void **state)
{
    mc_default d;
    (void)state;
    assert_true(mc_kb_has_type(&kb, S("llama")));
    assert_true(mc_kb_has_type(&kb, S("zaya")));
    assert_true(mc_kb_has_type(&kb, S("afmoe")));
    assert_false(mc_kb_has_type(&kb, S("")));
    assert_false(mc_kb_has_type(&kb, S("llam")));
    assert_false(mc_kb_has_type(&kb, S("llamas")));
    assert_false(mc_kb_has_type(&kb, S("# columns: model_type, key, default, rule, note")));
    assert_true(mc_kb_default(&kb, S("mistral"), "sliding_window", &d));
    assert_str(d.value, "4096");
    assert_str(d.rule, "");
    assert_true(mc_kb_default(&kb, S("llama"), "num_key_value_heads", &d));
    assert_str(d.value, "null");
    assert_str(d.rule, "=num_attention_heads");
    assert_false(mc_kb_default(&kb, S("llama"), "kv_lora_rank", &d));
}

static void rows_of_a_type(void **state)
{
    mc_default  d;
    const char *cursor = NULL;
    size_t      n = 0;
    (void)state;
    while (mc_kb_next_default(&kb, S("bert"), &cursor, &d))
        n++;
    assert_int_equal(n, 9);
    cursor = NULL;
    assert_true(mc_kb_next_default(&kb, S("bert"), &cursor, &d));
    assert_str(d.key, "@class");
    assert_str(d.value, "BertConfig");
    cursor = NULL;
    assert_false(mc_kb_next_default(&kb, S("tinynet"), &cursor, &d));
}

static void builtin_names(void **state)
{
    (void)state;
    assert_true(mc_kb_builtin(&kb, S("LlamaForCausalLM")));
    assert_true(mc_kb_builtin(&kb, S("llama")));
    assert_true(mc_kb_builtin(&kb, S("qwen3_moe")));
    assert_false(mc_kb_builtin(&kb, S("TinyNetForCausalLM")));
    assert_false(mc_kb_builtin(&kb, S("")));
}

/* Every name of every family file is found, once, under its own entry; each file says where it is from. */
static void families(void **state)
{
    (void)state;
    mc_kb own;
    assert_int_equal(mc_kb_init(&own).code, MC_OK);
    assert_null(mc_kb_family(&own, true, S("gemma3_text")));
    assert_null(mc_kb_family(&own, false, S("")));
    char longer[200];
    memset(longer, 'a', sizeof longer);
    assert_null(mc_kb_family(&own, false, (mc_str){ longer, sizeof longer }));
    size_t files = 0, names = 0;
    for (const mc_embedded *e = NULL; (e = mc_embedded_next(e, "families/")) != NULL;) {
        mc_err err;
        const mc_value *root = mc_json_tree(&own.arena, (mc_span){ e->p, e->n }, &err, NULL);
        assert_true(mc_as_str(mc_get(root, "source")).n > 0 && mc_as_str(mc_get(root, "date")).n == 10);
        files++;
        for (int gguf = 0; gguf < 2; gguf++) {
            const mc_value *list = mc_get(root, gguf ? "gguf" : "config");
            for (size_t k = 0; list && k < list->n; k++) {
                const mc_value *types = mc_get(mc_item(list, k), "types");
                for (size_t t = 0; t < types->n; t++, names++) {
                    const mc_value *found = mc_kb_family(&own, gguf, mc_item(types, t)->s), *mine = mc_item(list, k);
                    if (!found || mc_get(found, "types")->n != types->n || found->at != mine->at || found->n != mine->n)
                        fail_msg("%s: %.*s is not found, or stands twice", e->name, MC_FMT(mc_item(types, t)->s));
                }
            }
        }
    }
    assert_true(files >= 15 && names >= 400);
    mc_kb_free(&own);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_are_sorted), cmocka_unit_test(class_defaults), cmocka_unit_test(rows_of_a_type),
        cmocka_unit_test(builtin_names),     cmocka_unit_test(families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
