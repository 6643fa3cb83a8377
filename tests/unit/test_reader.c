/* The cursor: byte orders, the end of the prefix against the end of the file, overflow, the first failure stays. */
#include "unit.h"

static const uint8_t bytes[] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16 };

static void reads_both_orders(void **state)
{
    (void)state;
    mc_reader r = mc_reader_of((mc_span){ bytes, 15 }, 15);
    assert_int_equal(mc_rd_u8(&r), 1);
    assert_int_equal(mc_rd_u16(&r), 0x0302);
    assert_int_equal(mc_rd_u32(&r), 0x07060504);
    assert_true(mc_rd_u64(&r) == UINT64_C(0x0f0e0d0c0b0a0908));
    assert_int_equal(r.err.code, MC_OK);
    r = mc_reader_of((mc_span){ bytes, 15 }, 15);
    r.big_endian = true;
    assert_int_equal(mc_rd_u8(&r), 1);
    assert_int_equal(mc_rd_u16(&r), 0x0203);
    assert_int_equal(mc_rd_u32(&r), 0x04050607);
    assert_true(mc_rd_u64(&r) == UINT64_C(0x08090a0b0c0d0e0f));
    assert_int_equal(mc_u16le(bytes), 0x0201);
    assert_int_equal(mc_u32le(bytes), 0x04030201);
    assert_true(mc_u64le(bytes) == UINT64_C(0x0807060504030201));
    static const uint8_t high[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
    assert_true(mc_u64le(high) == UINT64_MAX);
    assert_int_equal(mc_u16le(high), 0xffff);
}

static void asks_for_more_within_the_file(void **state)
{
    (void)state;
    mc_reader r = mc_reader_of((mc_span){ bytes, 4 }, 16);
    mc_span   s = mc_rd_bytes(&r, 12);
    assert_int_equal(s.n, 0);
    assert_int_equal(r.err.code, MC_MORE);
    assert_true(r.err.at == 12);
}

static void stops_at_the_end_of_the_file(void **state)
{
    (void)state;
    mc_reader r = mc_reader_of((mc_span){ bytes, 4 }, 4);
    assert_int_equal(mc_rd_bytes(&r, 4).n, 4);
    assert_int_equal(r.err.code, MC_OK);
    assert_int_equal(mc_rd_u8(&r), 0);
    assert_int_equal(r.err.code, MC_E_TRUNCATED);
    assert_true(r.err.at == 4);
    assert_int_equal(mc_rd_bytes(&r, 0).n, 0);
    mc_rd_fail(&r, MC_E_SYNTAX, "later");
    assert_int_equal(r.err.code, MC_E_TRUNCATED); /* the first failure stays */
}

static void survives_huge_lengths(void **state)
{
    (void)state;
    mc_reader r = mc_reader_of((mc_span){ bytes, 16 }, UINT64_MAX);
    (void)mc_rd_u8(&r);
    assert_int_equal(mc_rd_bytes(&r, UINT64_MAX).n, 0);
    assert_int_equal(r.err.code, MC_E_TRUNCATED);
    r = mc_reader_of((mc_span){ bytes, 16 }, UINT64_MAX);
    assert_int_equal(mc_rd_bytes(&r, UINT64_MAX).n, 0);
    assert_int_equal(r.err.code, MC_MORE);
    assert_true(r.err.at == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_orders), cmocka_unit_test(asks_for_more_within_the_file),
        cmocka_unit_test(stops_at_the_end_of_the_file), cmocka_unit_test(survives_huge_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
