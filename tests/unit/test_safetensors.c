/* safetensors headers: each named error of the reference (safetensors/src/tensor.rs) with its place, what it accepts
 * although the format text forbids it, and what both spellings of an entry give. */
#include <stdio.h>

#include "formats/formats.h"
#include "unit.h"

typedef struct { mc_arena a; mc_kb kb; mc_file f; mc_err e; } parsed;

/* A file of header length + header + `data` bytes that are not looked at. */
static parsed *parse_raw(uint64_t length, const char *header, size_t n, uint64_t data)
{
    static parsed p;
    static uint8_t bytes[8192];
    p = (parsed){ 0 };
    p.a = arena_new();
    assert_int_equal(mc_kb_init(&p.kb).code, MC_OK);
    memset(bytes, 0, sizeof bytes);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(length >> (8 * i));
    memcpy(bytes + 8, header, n);
    p.f.size = 8 + n + data;
    p.e = mc_parse_safetensors((mc_span){ bytes, p.f.size < sizeof bytes ? (size_t)p.f.size : sizeof bytes }, p.f.size, &p.kb, &p.a, 3, &p.f);
    return &p;
}

static parsed *parse(const char *header, uint64_t data)
{
    return parse_raw(strlen(header), header, strlen(header), data);
}

static void done(parsed *p)
{
    mc_kb_free(&p->kb);
    mc_arena_free(&p->a);
}

#define T(body) "{\"t\":{" body "}}"

static void reads_both_spellings(void **state)
{
    (void)state;
    static const char *const spellings[] = {
        T("\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]"),
        " { \"t\" : {\"data_offsets\": [0, 12],\n\"shape\": [2, 3], \"dtype\": \"BF16\"} } \t\r\n",
        "{\"\\u0074\":{\"dtype\":\"BF16\",\"shape\":[2,3],\"data_offsets\":[0,12]}}",
        "{\"t\":[\"BF16\",[2,3],[0,12]]}",
        T("\"dtype\":{\"BF16\":null},\"shape\":[2,3],\"data_offsets\":[0,12]"),
    };
    for (size_t i = 0; i < MC_COUNT(spellings); i++) {
        parsed *p = parse(spellings[i], 12);
        assert_int_equal(p->e.code, MC_OK);
        assert_int_equal(p->f.st->fault, MC_ST_SOUND);
        assert_int_equal(p->f.n_tensors, 1);
        const mc_tensor *t = p->f.tensors;
        assert_str(t->name, "t");
        assert_str(mc_kb_dtype(&p->kb, t->dtype)->name, "BF16");
        assert_int_equal(t->rank, 2);
        assert_int_equal(t->dims[1], 3);
        assert_int_equal(t->elements, 6);
        assert_int_equal(t->end, 12);
        assert_int_equal(t->file, 3);
        assert_int_equal(p->f.st->data_end, 12);
        assert_int_equal(p->f.st->offsets.n + p->f.st->shape.n + p->f.st->duplicate.n, 0);
        done(p);
    }
}

static void notes_oddities(void **state)
{
    (void)state;
    parsed *p = parse("  {\"__metadata__\":{\"format\":\"p\\u0074\"},\"t\":{\"dtype\":\"U8\",\"shape\":[],\"data_offsets\":[0,1],\"x\":[{}]}}", 1);
    assert_int_equal(p->f.st->fault, MC_ST_SOUND);
    assert_true(p->f.st->leading_space);
    assert_true(p->f.st->extra_fields);
    assert_false(p->f.st->array_form);
    assert_int_equal(p->f.st->metadata, MC_META_OBJECT);
    assert_str(p->f.st->format, "pt");
    assert_int_equal(p->f.tensors[0].rank, 0);
    assert_int_equal(p->f.tensors[0].elements, 1);
    done(p);
    p = parse("{\"__metadata__\":null}", 0);
    assert_int_equal(p->f.st->metadata, MC_META_NULL);
    done(p);
    p = parse("{}", 0);
    assert_int_equal(p->f.st->fault, MC_ST_SOUND);
    assert_int_equal(p->f.st->metadata, MC_META_ABSENT);
    done(p);
}

static void refuses_lengths(void **state)
{
    (void)state;
    static const struct { uint64_t length; const char *header; uint64_t data; mc_st_fault fault; } rows[] = {
        { 0, "{}", 0, MC_ST_LENGTH },
        { 100000001, "{}", 200000000, MC_ST_LENGTH },
        { UINT64_MAX, "{}", 0, MC_ST_LENGTH },
        { 2, "[]", 0, MC_ST_LENGTH },
        { 40, "version https://git", 100, MC_ST_LENGTH },
        { 50, "{\"a\":", 0, MC_ST_CUT },
        { 1, "{", 0, MC_ST_HEADER },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        parsed *p = parse_raw(rows[i].length, rows[i].header, strlen(rows[i].header), rows[i].data);
        assert_int_equal(p->f.st->fault, rows[i].fault);
        assert_int_not_equal(p->f.parse.code, MC_OK);
        done(p);
    }
    parsed p = { .a = arena_new() };
    assert_int_equal(mc_kb_init(&p.kb).code, MC_OK);
    mc_parse_safetensors(SPAN("12345"), 5, &p.kb, &p.a, 0, &p.f);
    assert_int_equal(p.f.st->fault, MC_ST_LENGTH);
    done(&p);
}

static void asks_for_more(void **state)
{
    (void)state;
    mc_arena a = arena_new();
    mc_kb    kb;
    mc_file  f = { 0 };
    uint8_t  bytes[1024] = { 0xa0, 0x0f, 0, 0, 0, 0, 0, 0, '{' }; /* N = 4000 */
    assert_int_equal(mc_kb_init(&kb).code, MC_OK);
    mc_err e = mc_parse_safetensors((mc_span){ bytes, 8 }, 9000, &kb, &a, 0, &f);
    assert_int_equal(e.code, MC_MORE);
    assert_int_equal(e.at, 1024);
    e = mc_parse_safetensors((mc_span){ bytes, sizeof bytes }, 9000, &kb, &a, 0, &f);
    assert_int_equal(e.code, MC_MORE);
    assert_int_equal(e.at, 4008);
    mc_kb_free(&kb);
    mc_arena_free(&a);
}

/* The place is the offset in the file: 8 + the offset in the header. */
static void refuses_headers(void **state)
{
    (void)state;
    static const struct { const char *header; uint64_t at; } rows[] = {
        { "{} x", 11 },
        { "{\"a\":1}", 13 },
        { "{\"a\":null}", 13 },
        { T("\"dtype\":\"U8\",\"shape\":[1]"), 39 },
        { T("\"dtype\":\"U8\",\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]"), 35 },
        { T("\"dtype\":\"U8\",\"shape\":[-1],\"data_offsets\":[0,1]"), 36 },
        { T("\"dtype\":\"U8\",\"shape\":[1.0],\"data_offsets\":[0,1]"), 37 },
        { T("\"dtype\":\"U8\",\"shape\":[18446744073709551616],\"data_offsets\":[0,1]"), 56 },
        { T("\"dtype\":\"U8\",\"shape\":3,\"data_offsets\":[0,1]"), 35 },
        { T("\"dtype\":8,\"shape\":[1],\"data_offsets\":[0,1]"), 22 },
        { "{\"__metadata__\":{},\"__metadata__\":{}}", 42 },
        { "{\"__metadata__\":[]}", 24 },
        { "{\"__metadata__\":{\"a\":1}}", 29 },
        { "{\"\\ud800\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 10 },
        { "{\"a\xff\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]}}", 11 },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},}", 61 },
    };
    size_t wrong = 0;
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        parsed *p = parse(rows[i].header, 1);
        if (p->f.st->fault != MC_ST_HEADER || p->f.parse.at != rows[i].at)
            print_error("%s: fault %d at %llu\n", rows[i].header, (int)p->f.st->fault, (unsigned long long)p->f.parse.at);
        wrong += p->f.st->fault != MC_ST_HEADER || p->f.parse.at != rows[i].at;
        done(p);
    }
    assert_int_equal(wrong, 0);
    parsed *p = parse_raw(3, "{}\0", 3, 0); /* NUL is no padding */
    assert_int_equal(p->f.st->fault, MC_ST_HEADER);
    done(p);
}

static void gathers_tensor_faults(void **state)
{
    (void)state;
    typedef enum { NONE, OFFSETS, SHAPE, DUPLICATE } kind;
    static const struct { const char *header; kind fault; } rows[] = {
        { T("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[-1,1]"), OFFSETS },
        { T("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1.5]"), OFFSETS },
        { T("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1,2]"), OFFSETS },
        { T("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":\"0\""), OFFSETS },
        { T("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[2,1]"), OFFSETS },
        { T("\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]"), OFFSETS },                                       /* a hole at the start */
        { T("\"dtype\":\"XY\",\"shape\":[1],\"data_offsets\":[18446744073709551600,18446744073709551615]"), OFFSETS }, /* 8 + N + end wraps */
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]},\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[1,3]}}", OFFSETS },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[2,2]}}", OFFSETS },
        { "{\"b\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[2,4]},\"a\":{\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,2]}}", NONE },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]},\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[4,4]}}", NONE },
        { "{\"z\":{\"dtype\":\"U8\",\"shape\":[0],\"data_offsets\":[0,0]},\"a\":{\"dtype\":\"U8\",\"shape\":[4],\"data_offsets\":[0,4]}}", NONE },
        { T("\"dtype\":\"U8\",\"shape\":[2],\"data_offsets\":[0,1]"), SHAPE },
        { T("\"dtype\":\"F4\",\"shape\":[3],\"data_offsets\":[0,1]"), SHAPE },
        { T("\"dtype\":\"F4\",\"shape\":[2],\"data_offsets\":[0,1]"), NONE },
        { T("\"dtype\":\"F6_E2M3\",\"shape\":[4],\"data_offsets\":[0,3]"), NONE },
        { T("\"dtype\":\"F32\",\"shape\":[4611686018427387904,4],\"data_offsets\":[0,0]"), SHAPE }, /* wraps to 0 */
        { T("\"dtype\":\"F32\",\"shape\":[0,18446744073709551615,2],\"data_offsets\":[0,0]"), NONE },
        { T("\"dtype\":\"F32\",\"shape\":[18446744073709551615,2,0],\"data_offsets\":[0,0]"), SHAPE },
        { T("\"dtype\":\"F8_NEW\",\"shape\":[9],\"data_offsets\":[0,1]"), NONE },
        { "{\"a\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1]},\"\\u0061\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[1,2]}}", DUPLICATE },
    };
    for (size_t i = 0; i < MC_COUNT(rows); i++) {
        parsed *p = parse(rows[i].header, 4);
        size_t  found[] = { 0, p->f.st->offsets.n, p->f.st->shape.n, p->f.st->duplicate.n };
        if (p->f.st->fault != MC_ST_SOUND || (rows[i].fault == NONE ? found[1] + found[2] + found[3] : !found[rows[i].fault]))
            print_error("%s: fault %d, offsets %zu, shape %zu, duplicate %zu\n", rows[i].header, (int)p->f.st->fault, found[1], found[2], found[3]);
        assert_int_equal(p->f.st->fault, MC_ST_SOUND);
        if (rows[i].fault == NONE)
            assert_int_equal(found[1] + found[2] + found[3], 0);
        else
            assert_true(found[rows[i].fault] > 0);
        done(p);
    }
}

static void names_unknown_dtypes(void **state)
{
    (void)state;
    parsed *p = parse("{\"a\":{\"dtype\":\"F8\",\"shape\":[1],\"data_offsets\":[0,1]},\"b\":{\"dtype\":\"bf16\",\"shape\":[1],\"data_offsets\":[1,3]}}", 3);
    assert_int_equal(p->f.st->n_unknown_dtype, 2);
    assert_str(p->f.st->unknown_dtype, "F8");
    assert_int_equal(p->f.tensors[1].dtype, MC_DTYPE_UNKNOWN);
    done(p);
}

static void limits_rank_and_depth(void **state)
{
    (void)state;
    parsed *p = parse(T("\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]"), 1);
    assert_int_equal(p->f.st->fault, MC_ST_SOUND);
    assert_int_equal(p->f.tensors[0].rank, 16);
    done(p);
    p = parse(T("\"dtype\":\"U8\",\"shape\":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1],\"data_offsets\":[0,1]"), 1);
    assert_int_equal(p->f.st->fault, MC_ST_LIMIT);
    done(p);
    char deep[400] = "{\"t\":{\"dtype\":\"U8\",\"shape\":[1],\"data_offsets\":[0,1],\"x\":";
    memset(deep + strlen(deep), '[', 65);
    memset(deep + strlen(deep), ']', 65);
    strcat(deep, "}}");
    p = parse(deep, 1);
    assert_int_equal(p->f.st->fault, MC_ST_LIMIT);
    done(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_both_spellings), cmocka_unit_test(notes_oddities),        cmocka_unit_test(refuses_lengths),
        cmocka_unit_test(asks_for_more),        cmocka_unit_test(refuses_headers),       cmocka_unit_test(gathers_tensor_faults),
        cmocka_unit_test(names_unknown_dtypes), cmocka_unit_test(limits_rank_and_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
