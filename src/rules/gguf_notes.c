/* MC609: a legal GGUF of which some readers refuse or ignore parts. One finding a file, each note a subject. */
#include "rules/gguf.h"

typedef struct { mc_check *cx; uint32_t file; const mc_file *f; mc_str v[16]; size_t n; } notes;

static void note(notes *o, mc_str text)
{
    if (o->n < MC_COUNT(o->v))
        o->v[o->n++] = text;
}

/* Types that older builds of llama.cpp do not read: one note per type. */
static void new_types(notes *o)
{
    uint16_t seen[8];
    size_t   n = 0;
    for (size_t i = 0; i < o->f->n_tensors; i++) {
        uint16_t        id = o->f->tensors[i].dtype;
        const mc_dtype *d = mc_kb_dtype(o->cx->kb, id);
        bool            known = n == MC_COUNT(seen);
        if (!d || d->foreign || d->since.n == 0)
            continue;
        for (size_t k = 0; k < n; k++)
            known |= seen[k] == id;
        if (known)
            continue;
        seen[n++] = id;
        note(o, mc_format(o->cx->arena, d->since.p[0] == 'b' ? "%.*s tensors need llama.cpp %.*s or newer" : "%.*s tensors need a llama.cpp of %.*s or newer",
                          MC_FMT(d->name), MC_FMT(d->since)));
    }
}

static void behind_the_data(notes *o)
{
    const mc_gguf *g = o->f->gguf;
    if (!g->sizes_known || o->f->n_tensors == 0 || g->data_end >= o->f->size)
        return;
    uint64_t extra = o->f->size - g->data_end;
    if (extra >= g->alignment)
        note(o, mc_format(o->cx->arena, "%llu bytes behind the tensor data", (mc_ull)extra));
    else if (g->tail.p && !g->tail_zero)
        note(o, MC_STR("bytes behind the tensor data that are not zero"));
}

/* lower_snake_case between dots; an architecture name may hold dashes. */
static bool usual_key(mc_str key, mc_str arch)
{
    if (arch.n && key.n > arch.n && mc_str_eq(mc_str_cut(key, 0, arch.n), arch))
        key = mc_str_cut(key, arch.n, key.n);
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.'))
            return false;
    }
    return true;
}

static bool only_ascii(mc_span s)
{
    uint8_t all = 0;
    for (size_t i = 0; i < s.n; i++)
        all |= s.p[i];
    return all < 0x80;
}

static bool valid_text(const mc_gguf *g, const mc_gguf_kv *kv)
{
    mc_str s;
    if (kv->type == MC_GGUF_STRING)
        return mc_utf8_valid((mc_span){ (const uint8_t *)kv->s.p, kv->s.n });
    if (kv->type != MC_GGUF_ARRAY || kv->element != MC_GGUF_STRING || only_ascii(kv->raw))
        return true;
    for (size_t pos = 0; mc_gguf_next_str(g, kv, &pos, &s);)
        if (!mc_utf8_valid((mc_span){ (const uint8_t *)s.p, s.n }))
            return false;
    return true;
}

static bool odd_bool(const mc_gguf_kv *kv)
{
    uint8_t all = 0;
    if (kv->type == MC_GGUF_BOOL)
        return kv->u > 1;
    for (size_t i = 0; kv->type == MC_GGUF_ARRAY && kv->element == MC_GGUF_BOOL && i < kv->raw.n; i++)
        all |= kv->raw.p[i];
    return all > 1;
}

/* The first key of each kind of oddity. */
static void odd_pairs(notes *o)
{
    const mc_gguf *g = o->f->gguf;
    mc_str         arch = mc_gguf_str(mc_gguf_get(g, "general.architecture"));
    static const char *const texts[] = { "a key that is not lower_snake_case", "a bool that is neither 0 nor 1", "text that is not UTF-8",
                                         "an array of more than a million elements, which the Hub viewer refuses" };
    const mc_gguf_kv *first[MC_COUNT(texts)] = { NULL };
    for (size_t i = 0; i < g->n; i++) {
        const mc_gguf_kv *kv = &g->kv[i];
        bool odd[] = { !usual_key(kv->key, arch), odd_bool(kv), !valid_text(g, kv), kv->type == MC_GGUF_ARRAY && kv->n > 1000000 };
        for (size_t k = 0; k < MC_COUNT(odd); k++)
            if (odd[k] && !first[k])
                first[k] = kv;
    }
    for (size_t k = 0; k < MC_COUNT(texts); k++)
        if (first[k])
            note(o, mc_format(o->cx->arena, "%s: %.*s", texts[k], MC_FMT(first[k]->key)));
}

static void odd_tensors(notes *o)
{
    const mc_gguf *g = o->f->gguf;
    bool           quantized = false, bad_name = false;
    for (size_t i = 0; i < o->f->n_tensors; i++) {
        const mc_dtype *d = mc_kb_dtype(o->cx->kb, o->f->tensors[i].dtype);
        mc_str          name = o->f->tensors[i].name;
        quantized |= d && d->cls == MC_CLASS_BLOCK;
        bad_name |= !mc_utf8_valid((mc_span){ (const uint8_t *)name.p, name.n });
    }
    if (bad_name)
        note(o, MC_STR("a tensor name that is not UTF-8"));
    if (quantized && !mc_gguf_later_part(o->f) && !mc_gguf_get(g, "general.quantization_version"))
        note(o, MC_STR("quantized tensors without general.quantization_version"));
}

void mc_check_609(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        notes o = { .cx = cx, .file = i, .f = mc_gguf_sound(cx->model, i) };
        if (!o.f || mc_gguf_misaligned(cx, i))
            continue;
        new_types(&o);
        behind_the_data(&o);
        if (o.f->gguf->alignment != 32)
            note(&o, mc_format(cx->arena, "general.alignment is %llu, not 32", (mc_ull)o.f->gguf->alignment));
        odd_pairs(&o);
        odd_tensors(&o);
        if (o.n == 0)
            continue;
        mc_finding *found = o.n == 1 ? mc_report(cx, i, "legal, but %.*s", MC_FMT(o.v[0]))
                                     : mc_report(cx, i, "legal, but %.*s (and %zu more)", MC_FMT(o.v[0]), o.n - 1);
        for (size_t k = 0; k < o.n; k++)
            mc_subject(found, o.v[k]);
        for (size_t k = 1; k < o.n; k++)
            mc_because(cx, found, "also", (mc_origin){ i, MC_STR("") }, "%.*s", MC_FMT(o.v[k]));
    }
}
