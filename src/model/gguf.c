/* Reading the facts of a GGUF: values by key, elements of arrays, split names, what sits behind the data. */
#include "model/gguf.h"

#include <string.h>

const mc_gguf_kv *mc_gguf_get(const mc_gguf *g, const char *key)
{
    uint32_t id = g ? mc_strset_find(&g->keys, mc_str_of(key)) : MC_NO_ID;
    return id < (g ? g->n : 0) ? &g->kv[id] : NULL;
}

const mc_gguf_kv *mc_gguf_arch(const mc_gguf *g, const char *suffix)
{
    char   key[256];
    mc_str arch = mc_gguf_str(mc_gguf_get(g, "general.architecture")), tail = mc_str_of(suffix);
    size_t n = arch.n + 1 + tail.n;
    if (arch.n == 0 || n > sizeof key)
        return NULL;
    memcpy(key, arch.p, arch.n);
    key[arch.n] = '.';
    memcpy(key + arch.n + 1, tail.p, tail.n);
    uint32_t id = mc_strset_find(&g->keys, (mc_str){ key, n });
    return id < g->n ? &g->kv[id] : NULL;
}

static bool is_integer(uint32_t type)
{
    return type <= MC_GGUF_I32 || type == MC_GGUF_U64 || type == MC_GGUF_I64;
}

static bool is_signed(uint32_t type)
{
    return type == MC_GGUF_I8 || type == MC_GGUF_I16 || type == MC_GGUF_I32 || type == MC_GGUF_I64;
}

bool mc_gguf_uint(const mc_gguf_kv *kv, uint64_t *out)
{
    if (!kv || !is_integer(kv->type) || (is_signed(kv->type) && kv->i < 0))
        return false;
    *out = kv->u;
    return true;
}

mc_str mc_gguf_str(const mc_gguf_kv *kv)
{
    return kv && kv->type == MC_GGUF_STRING ? kv->s : MC_STR("");
}

static uint64_t load(const uint8_t *p, unsigned size, bool big_endian)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < size; i++)
        v = v << 8 | p[big_endian ? i : size - 1 - i];
    return v;
}

bool mc_gguf_element(const mc_gguf *g, const mc_gguf_kv *kv, uint64_t i, int64_t *out)
{
    static const uint8_t sizes[] = { 1, 1, 2, 2, 4, 4, 0, 1, 0, 0, 8, 8, 0 };
    if (!kv || kv->type != MC_GGUF_ARRAY || kv->element > MC_GGUF_F64 || sizes[kv->element] == 0 || i >= kv->n)
        return false;
    unsigned size = sizes[kv->element], unused = 64 - 8 * size;
    uint64_t v = load(kv->raw.p + i * size, size, g->big_endian);
    if (is_signed(kv->element) && unused && v >> (63 - unused) & 1)
        v |= ~(UINT64_MAX >> unused);
    memcpy(out, &v, sizeof *out);
    return is_signed(kv->element) || *out >= 0;
}

bool mc_gguf_next_str(const mc_gguf *g, const mc_gguf_kv *kv, size_t *pos, mc_str *out)
{
    if (!kv || kv->type != MC_GGUF_ARRAY || kv->element != MC_GGUF_STRING || kv->raw.n - *pos < 8)
        return false;
    const uint8_t *p = kv->raw.p + *pos;
    uint64_t       n = g->big_endian ? load(p, 8, true) : mc_u64le(p);
    *out = (mc_str){ (const char *)p + 8, (size_t)n }; /* the parser has checked every length */
    *pos += 8 + (size_t)n;
    return true;
}

const char *mc_gguf_type_name(uint32_t type)
{
    static const char *const names[] = { "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool", "str", "array", "u64", "i64", "f64" };
    return type < MC_COUNT(names) ? names[type] : "?";
}

uint64_t mc_gguf_pad(uint64_t n, uint64_t alignment)
{
    uint64_t up;
    return ckd_add(&up, n, alignment - 1) ? UINT64_MAX : up & ~(alignment - 1);
}

/* ---- behind the data ---- */

enum { TAIL = 64, MOST_PADDING = 1 << 20 };

static uint64_t padding(const mc_file *f)
{
    return mc_gguf_pad(f->gguf->data_end - f->data_start, f->gguf->alignment) - (f->gguf->data_end - f->data_start);
}

uint64_t mc_gguf_tail_want(const mc_file *f)
{
    const mc_gguf *g = f->gguf;
    if (!g || g->fault != MC_GGUF_SOUND || !g->sizes_known || f->n_tensors == 0 || g->data_end >= f->size || padding(f) > MOST_PADDING)
        return 0;
    uint64_t want = padding(f) + TAIL, left = f->size - g->data_end;
    return want < left ? want : left;
}

void mc_gguf_set_tail(mc_file *f, mc_span bytes)
{
    uint64_t skip = padding(f);
    bool     zero = true;
    if (!bytes.p)
        return;
    for (size_t i = 0; i < bytes.n; i++)
        zero &= bytes.p[i] == 0;
    f->gguf->tail_zero = zero;
    f->gguf->tail = bytes.n > skip ? (mc_span){ bytes.p + skip, bytes.n - (size_t)skip } : (mc_span){ bytes.p + bytes.n, 0 };
}

/* ---- names of split files ---- */

static bool five_digits(mc_str s, size_t at, uint64_t *out)
{
    return at + 5 <= s.n && mc_str_u64(mc_str_cut(s, at, at + 5), out);
}

bool mc_gguf_split_name(mc_str base, mc_gguf_split *out)
{
    enum { SUFFIX = sizeof "-00001-of-00003.gguf" - 1 };
    if (base.n < SUFFIX || !mc_str_ends(base, ".gguf"))
        return false;
    size_t at = base.n - SUFFIX;
    mc_str s = mc_str_cut(base, at, base.n);
    out->prefix = mc_str_cut(base, 0, at);
    return s.p[0] == '-' && five_digits(s, 1, &out->no) && mc_str_eq(mc_str_cut(s, 6, 10), MC_STR("-of-")) && five_digits(s, 10, &out->count);
}
