/* GGUF headers: every check of the reference loader in its order, both byte orders, values of every type, type ids that
 * upstream and forks share, and how a short prefix asks for more. */
#include <stdio.h>

#include "formats/formats.h"
#include "unit.h"

/* ---- a writer of its own, so that the parser is not judged by itself ---- */

typedef struct { uint8_t b[1 << 16]; size_t n; bool big; } out;
static out o;

static void put(uint64_t v, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        o.b[o.n++] = (uint8_t)(v >> 8 * (o.big ? size - 1 - i : i));
}

static void text(const char *s, size_t n)
{
    put(n, 8);
    memcpy(o.b + o.n, s, n);
    o.n += n;
}

static void begin(uint32_t version, uint64_t tensors, uint64_t pairs)
{
    o = (out){ .big = o.big };
    memcpy(o.b, "GGUF", 4);
    o.n = 4;
    put(version, 4);
    put(tensors, 8);
    put(pairs, 8);
}

static void pair(const char *key, uint32_t type, uint64_t value, unsigned size)
{
    text(key, strlen(key));
    put(type, 4);
    put(value, size);
}

static void array(const char *key, uint32_t element, uint64_t n)
{
    text(key, strlen(key));
    put(MC_GGUF_ARRAY, 4);
    put(element, 4);
    put(n, 8);
}

static void tensor(const char *name, uint32_t rank, const uint64_t *dims, uint32_t type, uint64_t offset)
{
    text(name, strlen(name));
    put(rank, 4);
    for (uint32_t i = 0; i < rank && i < 8; i++)
        put(dims[i], 8);
    put(type, 4);
    put(offset, 8);
}

static void pad(size_t alignment, size_t more)
{
    while (o.n % alignment)
        o.b[o.n++] = 0;
    memset(o.b + o.n, 1, more);
    o.n += more;
}

/* ---- parsing ---- */

typedef struct { mc_arena a; mc_kb kb; mc_file f; mc_err e; } parsed;
static parsed p;

static void parse_prefix(size_t n, uint64_t size)
{
    p.f = (mc_file){ .size = size };
    p.e = mc_parse_gguf((mc_span){ o.b, n }, size, &p.kb, &p.a, 7, &p.f);
}

static void parse(void)
{
    parse_prefix(o.n, o.n);
}

static int setup(void **state)
{
    (void)state;
    p = (parsed){ .a = arena_new() };
    o.big = false;
    return mc_kb_init(&p.kb).code;
}

static int teardown(void **state)
{
    (void)state;
    mc_kb_free(&p.kb);
    mc_arena_free(&p.a);
    return 0;
}

static void refused(mc_gguf_fault fault, const char *what)
{
    parse();
    if (!p.f.gguf || p.f.gguf->fault != fault || strcmp(p.f.gguf->err.what, what) != 0)
        print_error("want \"%s\", got fault %d \"%s\"\n", what, p.f.gguf ? (int)p.f.gguf->fault : -1, p.f.gguf && p.f.gguf->err.what ? p.f.gguf->err.what : "");
    assert_non_null(p.f.gguf);
    assert_int_equal(p.f.gguf->fault, fault);
    assert_string_equal(p.f.gguf->err.what, what);
    assert_int_not_equal(p.e.code, MC_OK);
    assert_int_equal(p.f.parse.code, p.e.code);
}

static const uint64_t two[] = { 32, 2, 1, 1, 1 };

/* ---- tests ---- */

static void every_value_type(bool big)
{
    o.big = big;
    begin(3, 1, 14);
    pair("u8", MC_GGUF_U8, 200, 1);
    pair("i8", MC_GGUF_I8, (uint8_t)-3, 1);
    pair("u16", MC_GGUF_U16, 60000, 2);
    pair("i16", MC_GGUF_I16, (uint16_t)-300, 2);
    pair("u32", MC_GGUF_U32, 4000000000, 4);
    pair("i32", MC_GGUF_I32, (uint32_t)-5, 4);
    pair("f32", MC_GGUF_F32, 0x3FC00000, 4);
    pair("bool", MC_GGUF_BOOL, 1, 1);
    pair("u64", MC_GGUF_U64, UINT64_MAX, 8);
    pair("i64", MC_GGUF_I64, (uint64_t)-9, 8);
    pair("f64", MC_GGUF_F64, UINT64_C(0xBFF8000000000000), 8);
    text("str", 3);
    put(MC_GGUF_STRING, 4);
    text("h\0i", 3);
    array("words", MC_GGUF_STRING, 3);
    text("ab", 2);
    text("", 0);
    text("cde", 3);
    array("numbers", MC_GGUF_I16, 3);
    put(1, 2);
    put((uint16_t)-2, 2);
    put(3, 2);
    tensor("t", 2, two, 0, 0);
    pad(32, 256);
    parse();
    assert_int_equal(p.e.code, MC_OK);
    const mc_gguf *g = p.f.gguf;
    assert_int_equal(g->big_endian, big);
    assert_int_equal(g->version, 3);
    assert_int_equal(mc_gguf_get(g, "u8")->u, 200);
    assert_int_equal(mc_gguf_get(g, "i8")->i, -3);
    assert_int_equal(mc_gguf_get(g, "u16")->u, 60000);
    assert_int_equal(mc_gguf_get(g, "i16")->i, -300);
    assert_int_equal(mc_gguf_get(g, "u32")->i, 4000000000);
    assert_int_equal(mc_gguf_get(g, "i32")->i, -5);
    assert_true(mc_gguf_get(g, "f32")->f == 1.5);
    assert_int_equal(mc_gguf_get(g, "bool")->u, 1);
    assert_true(mc_gguf_get(g, "u64")->u == UINT64_MAX);
    assert_int_equal(mc_gguf_get(g, "i64")->i, -9);
    assert_true(mc_gguf_get(g, "f64")->f == -1.5);
    assert_int_equal(mc_gguf_str(mc_gguf_get(g, "str")).n, 3);
    assert_null(mc_gguf_get(g, "absent"));
    uint64_t u;
    assert_false(mc_gguf_uint(mc_gguf_get(g, "i8"), &u));
    assert_false(mc_gguf_uint(mc_gguf_get(g, "bool"), &u));
    assert_true(mc_gguf_uint(mc_gguf_get(g, "u64"), &u));
    int64_t i;
    assert_true(mc_gguf_element(g, mc_gguf_get(g, "numbers"), 1, &i));
    assert_int_equal(i, -2);
    assert_false(mc_gguf_element(g, mc_gguf_get(g, "numbers"), 3, &i));
    assert_false(mc_gguf_element(g, mc_gguf_get(g, "words"), 0, &i));
    mc_str s[4];
    size_t pos = 0, n = 0;
    while (n < 4 && mc_gguf_next_str(g, mc_gguf_get(g, "words"), &pos, &s[n]))
        n++;
    assert_int_equal(n, 3);
    assert_str(s[2], "cde");
    assert_int_equal(p.f.tensors[0].elements, 64);
    assert_int_equal(p.f.tensors[0].end, 256);
    assert_int_equal(p.f.tensors[0].file, 7);
    assert_int_equal(p.f.data_start % 32, 0);
    assert_int_equal(g->data_end, p.f.data_start + 256);
}

static void little_endian(void **state)
{
    (void)state;
    every_value_type(false);
}

static void big_endian(void **state)
{
    (void)state;
    every_value_type(true);
}

static void versions(void **state)
{
    (void)state;
    static const uint32_t bad[] = { 0, 1, 4, 99, 0xFFFFFFFF };
    for (size_t i = 0; i < MC_COUNT(bad); i++) {
        begin(bad[i], 0, 0);
        refused(MC_GGUF_BAD_VERSION, "the version");
    }
    begin(2, 0, 0);
    parse();
    assert_int_equal(p.e.code, MC_OK); /* 24 bytes are a whole file */
    assert_int_equal(p.f.data_start, 24);
    begin(3, 0, 0);
    o.n = 3;
    refused(MC_GGUF_DAMAGED, "the magic");
    begin(3, 0, 0);
    memcpy(o.b, "FUGG", 4);
    refused(MC_GGUF_INVALID, "a magic that is not GGUF");
}

static void hostile_counts(void **state)
{
    (void)state;
    begin(3, UINT64_C(1) << 40, 0);
    refused(MC_GGUF_DAMAGED, "the tensor table");
    begin(3, UINT64_MAX, 0);
    refused(MC_GGUF_DAMAGED, "the tensor table");
    begin(3, 0, UINT64_C(1) << 62);
    refused(MC_GGUF_DAMAGED, "the metadata");
    begin(3, 0, 1);
    array("a", MC_GGUF_I32, UINT64_C(1) << 40);
    refused(MC_GGUF_DAMAGED, "an array");
    begin(3, 0, 1);
    array("a", MC_GGUF_STRING, 3);
    text("x", 1);
    pad(1, 16);
    refused(MC_GGUF_DAMAGED, "a string of an array");
    begin(3, 0, 1);
    put(UINT64_C(1) << 62, 8);
    pad(1, 20);
    refused(MC_GGUF_DAMAGED, "a key");
    assert_true(p.a.used < (1 << 20)); /* nothing was allocated by those counts */
}

static void metadata(void **state)
{
    (void)state;
    begin(3, 0, 1);
    pair("", MC_GGUF_U8, 1, 1);
    pad(1, 8);
    refused(MC_GGUF_INVALID, "an empty key");
    begin(3, 0, 2);
    pair("a", MC_GGUF_U8, 1, 1);
    pair("a", MC_GGUF_U8, 1, 1);
    refused(MC_GGUF_INVALID, "a key that occurs twice");
    assert_str(p.f.gguf->err_subject, "a");
    begin(3, 0, 1);
    pair("a", 13, 1, 8);
    refused(MC_GGUF_INVALID, "an unknown value type");
    begin(3, 0, 1);
    array("a", MC_GGUF_ARRAY, 1);
    pad(1, 32);
    refused(MC_GGUF_INVALID, "an array of arrays");
    begin(3, 0, 1);
    pair("general.alignment", MC_GGUF_U64, 32, 8);
    refused(MC_GGUF_INVALID, "an alignment that is no u32");
    static const uint32_t odd[] = { 0, 3, 48 };
    for (size_t i = 0; i < MC_COUNT(odd); i++) {
        begin(3, 0, 1);
        pair("general.alignment", MC_GGUF_U32, odd[i], 4);
        refused(MC_GGUF_INVALID, "an alignment that is no power of two");
    }
    begin(3, 0, 3); /* byte-exact keys, odd bools, alignment 1: taken */
    pair("general.alignment", MC_GGUF_U32, 1, 4);
    text("a\0b", 3);
    put(MC_GGUF_BOOL, 4);
    put(2, 1);
    text("a\0c", 3);
    put(MC_GGUF_BOOL, 4);
    put(255, 1);
    parse();
    assert_int_equal(p.e.code, MC_OK);
    assert_int_equal(p.f.gguf->alignment, 1);
}

static void tensor_table(void **state)
{
    (void)state;
    char name[65] = { 0 };
    memset(name, 'n', 63);
    begin(3, 1, 0);
    tensor(name, 2, two, 0, 0);
    pad(32, 256);
    parse();
    assert_int_equal(p.e.code, MC_OK);
    name[63] = 'n';
    begin(3, 1, 0);
    tensor(name, 2, two, 0, 0);
    pad(32, 256);
    refused(MC_GGUF_INVALID, "a tensor name of 64 bytes or more");
    begin(3, 1, 0);
    tensor("t", 5, two, 0, 0);
    pad(32, 256);
    refused(MC_GGUF_INVALID, "a tensor of more than 4 dimensions");
    begin(3, 1, 0);
    tensor("t", 1, &(uint64_t){ UINT64_C(1) << 63 }, 0, 0);
    pad(32, 256);
    refused(MC_GGUF_INVALID, "a tensor with a negative dimension");
    begin(3, 1, 0);
    tensor("t", 1, two, 0, 0);
    refused(MC_GGUF_DAMAGED, "the padding before the tensor data");
    begin(3, 1, 0); /* a scalar */
    tensor("t", 0, two, 0, 0);
    pad(32, 4);
    parse();
    assert_int_equal(p.e.code, MC_OK);
    assert_int_equal(p.f.tensors[0].elements, 1);
    assert_int_equal(p.f.tensors[0].end, 4);
}

/* The reference multiplies with wrap-around: 2^40 x 2^40 is 0 elements there. */
static void element_products(void **state)
{
    (void)state;
    static const uint64_t wraps[][3] = { { UINT64_C(1) << 40, UINT64_C(1) << 40, 1 }, { UINT64_C(1) << 62, 4, 1 }, { INT64_MAX, 1, 1 } };
    for (size_t i = 0; i < MC_COUNT(wraps); i++) {
        begin(3, 1, 0);
        tensor("t", 3, wraps[i], 0, 0);
        pad(32, 0);
        refused(MC_GGUF_INVALID, "a tensor of 2^63 elements or more");
    }
    static const uint64_t empty[] = { UINT64_C(1) << 62, UINT64_C(1) << 62, 0 };
    begin(3, 1, 0);
    tensor("t", 3, empty, 0, 0);
    pad(32, 0);
    parse();
    assert_int_equal(p.e.code, MC_OK);
    assert_int_equal(p.f.tensors[0].elements, 0);
    static const uint64_t huge[] = { UINT64_C(1) << 40, (UINT64_C(1) << 22) + 1 }; /* legal to the reader, larger than any file */
    begin(3, 1, 0);
    tensor("t", 2, huge, 28, 0);
    pad(32, 0);
    parse();
    assert_int_equal(p.e.code, MC_OK);
    assert_true(p.f.tensors[0].end == UINT64_MAX);
}

static const char *type_of(size_t i)
{
    const mc_dtype *d = mc_kb_dtype(&p.kb, p.f.tensors[i].dtype);
    return d ? mc_format(&p.a, "%.*s", MC_FMT(d->name)).p : "?";
}

/* Two tensors of one id and then an F32: only the offsets tell what the id means. */
static void pair_of(uint32_t id, uint64_t bytes)
{
    static const uint64_t row[] = { 64, 16 };
    uint64_t              step = mc_gguf_pad(bytes, 32);
    begin(3, 3, 0);
    tensor("a", 2, row, id, 0);
    tensor("b", 2, row, id, step);
    tensor("c", 2, row, 0, 2 * step);
    pad(32, (size_t)(2 * step + 4096));
    parse();
    assert_int_equal(p.e.code, MC_OK);
}

static void shared_ids(void **state)
{
    (void)state;
    pair_of(39, 1024 / 32 * 17);
    assert_string_equal(type_of(0), "MXFP4");
    pair_of(39, 1024 / 32 * 9);
    assert_string_equal(type_of(0), "?"); /* TL2: a layout we do not know */
    assert_int_equal(p.f.tensors[0].end, p.f.tensors[0].begin);
    assert_false(p.f.gguf->sizes_known);
    assert_int_equal(p.f.gguf->type_ids[0], 39);
    pair_of(31, 1024 / 32 * 18);
    assert_string_equal(type_of(1), "Q4_0_4X4");
    pair_of(36, 1024 / 4 + 32);
    assert_string_equal(type_of(1), "I2_S");
    pair_of(40, 1024 / 64 * 36);
    assert_string_equal(type_of(0), "NVFP4");
    pair_of(40, 1024 / 32 * 6);
    assert_string_equal(type_of(0), "Q1_0 (32)");
    pair_of(12345, 64);
    assert_string_equal(type_of(0), "?");
    pair_of(0xFFFFFFFF, 64);
    assert_string_equal(type_of(0), "?");
}

/* Every shorter prefix asks for more, never for less than it has nor more than there is, and never calls it a fault. */
static void prefixes(void **state)
{
    (void)state;
    begin(3, 2, 2);
    array("tokenizer.ggml.tokens", MC_GGUF_STRING, 40);
    for (int i = 0; i < 40; i++)
        text("token", 5);
    pair("u32", MC_GGUF_U32, 1, 4);
    tensor("a", 2, two, 0, 0);
    tensor("b", 2, two, 0, 256);
    pad(32, 512);
    parse();
    size_t header = (size_t)p.f.data_start, end = o.n;
    assert_int_equal(p.e.code, MC_OK);
    for (size_t n = 0; n < header - 32; n++) {
        parse_prefix(n, end);
        assert_int_equal(p.e.code, MC_MORE);
        assert_true(p.e.at > n && p.e.at <= end);
    }
    parse_prefix(header, end);
    assert_int_equal(p.e.code, MC_OK);
    parse_prefix(64, UINT64_C(1) << 40); /* a large file: no small steps, no absurd ones */
    assert_int_equal(p.e.code, MC_MORE);
    assert_int_equal(p.e.at, 1 << 20);
}

static void limits(void **state)
{
    (void)state;
    begin(3, 0, 1);
    array("a", MC_GGUF_I32, 100 << 20);
    parse_prefix(o.n, UINT64_C(1) << 40);
    assert_int_equal(p.e.code, MC_E_LIMIT);
    assert_int_equal(p.f.gguf->fault, MC_GGUF_LIMIT);
    assert_true(p.f.limit);
}

static void tails(void **state)
{
    (void)state;
    static const uint64_t ten[] = { 10 };
    begin(3, 1, 0);
    tensor("t", 1, ten, 0, 0);
    pad(32, 40);
    size_t data_end = o.n;
    memset(o.b + o.n, 0, 24);
    memcpy(o.b + o.n + 24, "GGUF", 5);
    o.n += 28;
    parse();
    assert_int_equal(p.f.gguf->data_end, data_end);
    assert_int_equal(mc_gguf_tail_want(&p.f), 28);
    mc_gguf_set_tail(&p.f, (mc_span){ o.b + data_end, 28 });
    assert_int_equal(p.f.gguf->tail.n, 4);
    assert_memory_equal(p.f.gguf->tail.p, "GGUF", 4);
    assert_false(p.f.gguf->tail_zero);
    o.n = data_end + 24;
    parse();
    mc_gguf_set_tail(&p.f, (mc_span){ o.b + data_end, 24 });
    assert_true(p.f.gguf->tail_zero);
    assert_int_equal(p.f.gguf->tail.n, 0);
    o.n = data_end; /* no padding at all */
    parse();
    assert_int_equal(mc_gguf_tail_want(&p.f), 0);
}

static void split_names(void **state)
{
    (void)state;
    mc_gguf_split s;
    assert_true(mc_gguf_split_name(S("m-q8-00002-of-00013.gguf"), &s));
    assert_str(s.prefix, "m-q8");
    assert_int_equal(s.no, 2);
    assert_int_equal(s.count, 13);
    static const char *const no[] = { "m-2-of-3.gguf", "m-00002-of-00003.GGUF", "m-00002-of-0000x.gguf", "m-000020of-00003.gguf", "gguf", "m_00002-of-00003.gguf" };
    for (size_t i = 0; i < MC_COUNT(no); i++)
        assert_false(mc_gguf_split_name(S(no[i]), &s));
}

static mc_gguf_content content_of(const char *base, const char *key, const char *value, const char *name)
{
    mc_component root = { 0 };
    mc_model     m = { .arena = &p.a, .files = &p.f, .n_files = 1, .components = &root, .n_components = 1, .unit = MC_UNIT_GGUF };
    begin(3, name ? 1 : 0, 2);
    text(key, strlen(key));
    put(MC_GGUF_STRING, 4);
    text(value, strlen(value));
    pair("tokenizer.ggml.eos_token_id", MC_GGUF_U32, 2, 4);
    if (name) {
        tensor(name, 2, two, 0, 0);
        pad(32, 256);
    }
    parse();
    assert_int_equal(p.e.code, MC_OK);
    p.f.base = S(base);
    m.gguf = p.f.gguf;
    return mc_gguf_contents(&m, 0);
}

static void contents(void **state)
{
    (void)state;
    assert_int_equal(content_of("m.gguf", "general.architecture", "llama", "blk.0.x"), MC_GGUF_MODEL);
    assert_int_equal(content_of("m.gguf", "general.architecture", "clip", "v.blk.0.x"), MC_GGUF_PROJECTOR);
    assert_int_equal(content_of("m.gguf", "general.type", "mmproj", "v.blk.0.x"), MC_GGUF_PROJECTOR);
    assert_int_equal(content_of("m.gguf", "general.type", "adapter", "blk.0.x.lora_a"), MC_GGUF_ADAPTER);
    assert_int_equal(content_of("m.gguf", "general.type", "model", "blk.0.x.in_sum2"), MC_GGUF_IMATRIX);
    assert_int_equal(content_of("m.gguf", "general.architecture", "controlvector", "direction.1"), MC_GGUF_CONTROL_VECTOR);
    assert_int_equal(content_of("m.gguf", "general.architecture", "eagle3", "blk.0.x"), MC_GGUF_DRAFT);
    assert_int_equal(content_of("mtp-m.gguf", "general.architecture", "llama", "blk.0.x"), MC_GGUF_DRAFT);
    assert_int_equal(content_of("ggml-vocab-llama.gguf", "general.architecture", "llama", NULL), MC_GGUF_VOCABULARY);
    assert_int_equal(content_of("tiny-v1.0-Vocab.gguf", "general.architecture", "llama", NULL), MC_GGUF_VOCABULARY);
    assert_int_equal(content_of("vocabulary.gguf", "general.architecture", "llama", NULL), MC_GGUF_VOCAB_ONLY);
}

static void architectures(void **state)
{
    (void)state;
    const mc_gguf_arch_info *a = mc_kb_gguf_arch(&p.kb, S("llama"));
    assert_non_null(a);
    assert_int_equal(a->n_required, 4);
    assert_str(a->required[0], "context_length");
    assert_str(a->required[3], "attention.layer_norm_rms_epsilon");
    assert_null(mc_kb_gguf_arch(&p.kb, S("lama")));
    assert_null(mc_kb_gguf_arch(&p.kb, S("")));
    assert_str(mc_kb_gguf_key_type(&p.kb, S("attention.head_count")), "u32|u32[]");
    assert_str(mc_kb_gguf_key_type(&p.kb, S("logit_scale")), "f32");
    assert_str(mc_kb_gguf_key_type(&p.kb, S("nonsense")), "");
    const mc_gguf_arch_info *c = mc_kb_gguf_arch(&p.kb, S("cohere2moe")); /* conditional keys are never required */
    bool required = false, read = false;
    for (size_t i = 0; i < c->n_required; i++)
        required |= mc_str_is(c->required[i], "attention.sliding_window_pattern");
    for (size_t i = 0; i < c->n_read; i++)
        read |= mc_str_is(c->read[i], "attention.sliding_window_pattern");
    assert_false(required);
    assert_true(read);
}

/* Block and size of a few ids against ggml's own library (ggml_blck_size, ggml_type_size). */
static void type_table(void **state)
{
    (void)state;
    static const struct { uint32_t id, block, bytes; const char *name; } known[] = {
        { 0, 1, 4, "F32" }, { 2, 32, 18, "Q4_0" }, { 8, 32, 34, "Q8_0" }, { 12, 256, 144, "Q4_K" }, { 14, 256, 210, "Q6_K" }, { 16, 256, 66, "IQ2_XXS" },
        { 23, 256, 136, "IQ4_XS" }, { 30, 1, 2, "BF16" }, { 34, 256, 54, "TQ1_0" }, { 39, 32, 17, "MXFP4" }, { 40, 64, 36, "NVFP4" }, { 42, 64, 18, "Q2_0" },
    };
    for (size_t i = 0; i < MC_COUNT(known); i++) {
        const mc_dtype *d = mc_kb_dtype(&p.kb, mc_kb_ggml_dtype(&p.kb, known[i].id, 0));
        assert_non_null(d);
        assert_str(d->name, known[i].name);
        assert_int_equal(d->block, known[i].block);
        assert_int_equal(d->block_bits, known[i].bytes * 8);
        assert_false(d->foreign);
    }
    for (uint32_t id = 0; id < 43; id++)
        assert_int_not_equal(mc_kb_ggml_dtype(&p.kb, id, 0), UINT16_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(little_endian, setup, teardown), cmocka_unit_test_setup_teardown(big_endian, setup, teardown),
        cmocka_unit_test_setup_teardown(versions, setup, teardown), cmocka_unit_test_setup_teardown(hostile_counts, setup, teardown),
        cmocka_unit_test_setup_teardown(metadata, setup, teardown), cmocka_unit_test_setup_teardown(tensor_table, setup, teardown),
        cmocka_unit_test_setup_teardown(element_products, setup, teardown), cmocka_unit_test_setup_teardown(shared_ids, setup, teardown),
        cmocka_unit_test_setup_teardown(prefixes, setup, teardown), cmocka_unit_test_setup_teardown(limits, setup, teardown),
        cmocka_unit_test_setup_teardown(tails, setup, teardown), cmocka_unit_test_setup_teardown(split_names, setup, teardown),
        cmocka_unit_test_setup_teardown(contents, setup, teardown), cmocka_unit_test_setup_teardown(architectures, setup, teardown),
        cmocka_unit_test_setup_teardown(type_table, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
