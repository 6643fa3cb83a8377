/* The arena: alignment, zeroes, budget, growth, adoption; and text made in it. */
#include "unit.h"

static void gives_aligned_zeroed_memory(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    for (size_t size = 1; size < 70000; size = size * 3 + 1) {
        uint8_t *p = mc_alloc(&a, 1, size);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xff, size);
    }
    mc_arena_free(&a);
}

static void empty_allocations_differ(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    void *p = mc_alloc(&a, 0, 8), *q = mc_alloc(&a, 8, 0);
    assert_non_null(p);
    assert_ptr_not_equal(p, q);
    mc_arena_free(&a);
}

static void refuses_beyond_the_budget(void **state)
{
    (void)state;
    mc_arena a;
    mc_arena_init(&a, 100000);
    assert_non_null(mc_alloc(&a, 1, 50000));
    assert_false(a.failed);
    assert_null(mc_alloc(&a, 1, 60000));
    assert_true(a.failed);
    mc_arena_free(&a);
    assert_int_equal(a.used, 0);
    assert_non_null(mc_alloc(&a, 1, 60000)); /* usable again after it was emptied */
    mc_arena_free(&a);
}

static void refuses_sizes_that_overflow(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    assert_null(mc_alloc(&a, SIZE_MAX, 2));
    assert_null(mc_alloc(&a, SIZE_MAX / 2 + 1, 2));
    assert_null(mc_alloc(&a, 1, SIZE_MAX));
    assert_null(mc_alloc(&a, 1, SIZE_MAX - 14));
    size_t cap = SIZE_MAX / 2 + 1;
    assert_null(mc_grow(&a, NULL, cap, &cap, 1));
    mc_arena_free(&a);
}

static void grows_and_keeps(void **state)
{
    (void)state;
    mc_arena  a = arena_new();
    uint32_t *v = NULL;
    size_t    cap = 0;
    for (uint32_t n = 0; n < 10000; n++) {
        v = mc_grow(&a, v, n, &cap, sizeof *v);
        assert_non_null(v);
        assert_true(cap > n);
        v[n] = n;
    }
    for (uint32_t n = 0; n < 10000; n++)
        assert_int_equal(v[n], n);
    mc_arena_free(&a);
}

static void a_failed_growth_keeps_the_old_array(void **state)
{
    (void)state;
    mc_arena a;
    mc_arena_init(&a, 20000);
    size_t cap = 0;
    char  *v = mc_grow(&a, NULL, 0, &cap, 500), *first = v;
    assert_non_null(v);
    v[0] = 'x';
    assert_null(mc_grow(&a, v, cap, &cap, 500));
    assert_int_equal(first[0], 'x');
    mc_arena_free(&a);
}

static void adopts_blocks(void **state)
{
    (void)state;
    mc_arena a = arena_new(), b = arena_new(), empty = arena_new();
    mc_str   one = mc_str_copy(&a, S("one"));
    mc_str   two = mc_str_copy(&b, S("two"));
    size_t   used = a.used + b.used;
    mc_arena_adopt(&a, &b);
    mc_arena_adopt(&a, &empty);
    assert_int_equal(a.used, used);
    assert_int_equal(b.used, 0);
    mc_arena_free(&b);
    assert_str(one, "one");
    assert_str(two, "two");
    assert_non_null(mc_alloc(&a, 1, 100));
    assert_str(two, "two");
    mc_arena_free(&a);
}

static void copies_and_formats(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    mc_str   s = mc_str_copy(&a, (mc_str){ "ab\0c", 4 });
    assert_int_equal(s.n, 4);
    assert_memory_equal(s.p, "ab\0c", 5); /* and a NUL behind */
    assert_str(mc_str_copy(&a, (mc_str){ NULL, 0 }), "");
    assert_str(mc_format(&a, "%d-%s", 7, "x"), "7-x");
    mc_arena_free(&a);
    mc_arena_init(&a, 0);
    assert_str(mc_format(&a, "%d", 7), "");
    assert_str(mc_str_copy(&a, S("abc")), "");
    assert_true(a.failed);
    mc_arena_free(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gives_aligned_zeroed_memory), cmocka_unit_test(empty_allocations_differ),
        cmocka_unit_test(refuses_beyond_the_budget),   cmocka_unit_test(refuses_sizes_that_overflow),
        cmocka_unit_test(grows_and_keeps),             cmocka_unit_test(a_failed_growth_keeps_the_old_array),
        cmocka_unit_test(adopts_blocks),               cmocka_unit_test(copies_and_formats),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
