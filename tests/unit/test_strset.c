/* The string set: ids in order of first sight, growth, misses, running out of memory. */
#include <stdio.h>

#include "unit.h"

static void numbers_distinct_strings(void **state)
{
    (void)state;
    mc_arena  a = arena_new();
    mc_strset s;
    bool      added = false;
    assert_true(mc_strset_init(&s, &a, 0));
    assert_true(mc_strset_find(&s, S("a")) == MC_NO_ID);
    assert_int_equal(mc_strset_add(&s, S("a"), &added), 0);
    assert_true(added);
    assert_int_equal(mc_strset_add(&s, S(""), NULL), 1);
    assert_int_equal(mc_strset_add(&s, S("a"), &added), 0);
    assert_false(added);
    assert_int_equal(mc_strset_add(&s, (mc_str){ NULL, 0 }, NULL), 1);
    assert_int_equal(mc_strset_find(&s, S("")), 1);
    assert_true(mc_strset_find(&s, S("A")) == MC_NO_ID);
    assert_int_equal(s.n, 2);
    mc_arena_free(&a);
}

static void grows(void **state)
{
    (void)state;
    enum { N = 50000 };
    mc_arena a;
    mc_arena_init(&a, (size_t)1 << 26);
    mc_strset s;
    assert_true(mc_strset_init(&s, &a, 3));
    for (unsigned i = 0; i < N; i++)
        assert_int_equal(mc_strset_add(&s, mc_format(&a, "model.layers.%u.weight", i), NULL), i);
    char text[64];
    for (unsigned i = 0; i < N; i++) {
        snprintf(text, sizeof text, "model.layers.%u.weight", i);
        assert_int_equal(mc_strset_find(&s, S(text)), i);
        assert_str(s.keys[i], text);
    }
    assert_true(mc_strset_find(&s, S("model.layers.50000.weight")) == MC_NO_ID);
    mc_arena_free(&a);
}

static void runs_out_of_memory(void **state)
{
    (void)state;
    mc_arena  a, text = arena_new();
    mc_strset s;
    uint32_t  id = 0;
    mc_arena_init(&a, 40000);
    assert_true(mc_strset_init(&s, &a, 8));
    for (unsigned i = 0; i < 5000 && id != MC_NO_ID; i++)
        id = mc_strset_add(&s, mc_format(&text, "%u", i), NULL);
    assert_true(id == MC_NO_ID);
    assert_true(a.failed);
    assert_int_equal(mc_strset_find(&s, S("0")), 0); /* what is in stays in */
    mc_arena_free(&a);
    assert_false(mc_strset_init(&s, &a, SIZE_MAX / 4));
    mc_arena_free(&a);
    mc_arena_free(&text);
}

static void hashes_nothing(void **state)
{
    (void)state;
    assert_true(mc_hash((mc_span){ NULL, 0 }) == mc_hash(SPAN("")));
    assert_true(mc_hash(SPAN("")) == UINT64_C(0x2d06800538d394c2)); /* XXH3 of nothing, seed 0, as xxhsum -H3 prints */
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(numbers_distinct_strings), cmocka_unit_test(grows), cmocka_unit_test(runs_out_of_memory),
                                        cmocka_unit_test(hashes_nothing) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
