/* GGUF headers: whatever was read lies inside the input and adds up, and asking for more means more; the shape of the cache is
 * groups of layers or a reason. */
#include "floor/shape.h"
#include "formats/formats.h"
#include "fuzz/fuzz.h"
#include "scan/scan.h"

static void check_pairs(const mc_gguf *g, const uint8_t *bytes, size_t n)
{
    for (size_t i = 0; i < g->n; i++) {
        const mc_gguf_kv *kv = &g->kv[i];
        mc_str            s;
        uint64_t          words = 0;
        size_t            pos = 0;
        MUST(kv->key.n > 0 && within(kv->key, bytes, n) && kv->type <= MC_GGUF_F64 && kv->at < n);
        MUST(within((mc_str){ (const char *)kv->raw.p, kv->raw.n }, bytes, n));
        MUST(mc_strset_find(&g->keys, kv->key) == i);
        while (mc_gguf_next_str(g, kv, &pos, &s)) {
            MUST(within(s, bytes, n));
            words++;
        }
        MUST(kv->type != MC_GGUF_ARRAY || kv->element != MC_GGUF_STRING || words == kv->n);
    }
}

static void check_tensors(const mc_file *f, const mc_kb *kb, const uint8_t *bytes, size_t n)
{
    const mc_gguf *g = f->gguf;
    bool           sized = g->sizes_known;
    for (size_t i = 0; i < f->n_tensors; i++) {
        const mc_tensor *t = &f->tensors[i];
        const mc_dtype  *d = mc_kb_dtype(kb, t->dtype);
        uint64_t         product = 1;
        MUST(within(t->name, bytes, n) && t->name.n < 64 && t->rank <= 4 && t->end >= t->begin && !t->overflow);
        for (unsigned k = 0; k < t->rank; k++)
            product *= t->dims[k]; /* may wrap only where a side is 0 */
        MUST(product == t->elements);
        MUST(!d || (uint32_t)d->ggml_id == g->type_ids[i]);
        MUST(!sized || t->elements == 0 || (d && d->block_bits));
        MUST(!sized || t->end == UINT64_MAX || g->data_end >= f->data_start + t->end || f->data_start + t->end < t->end);
    }
}

static void check_shape(mc_file *f, mc_kb *kb, mc_arena *a)
{
    mc_component c = { .index = MC_NONE, .set = MC_NONE };
    mc_model     m = { .arena = a, .unit = MC_UNIT_GGUF, .kind = MC_KIND_CAUSAL_LM, .files = f, .n_files = 1, .components = &c, .n_components = 1, .gguf = f->gguf };
    mc_shape     s;
    for (size_t i = 0; i < MC_N_ROLES; i++)
        c.docs[i] = MC_NONE;
    mc_geometry(&m, kb);
    mc_shape_of(&m, kb, a, &s);
    MUST(s.cache == MC_CACHE_COMPUTED ? s.n_keeps + s.n_states > 0 : s.reason.n > 0 && s.n_keeps + s.n_states == 0);
    for (size_t g = 0; g < s.n_keeps; g++)
        MUST(s.keeps[g].layers > 0 && s.keeps[g].heads > 0 && s.keeps[g].k > 0 && s.keeps[g].formula.n > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static mc_kb kb; /* decoded once: it would take most of the time */
    mc_arena     a;
    mc_file      f = { .size = n };
    mc_arena_init(&a, (size_t)64 << 20);
    MUST(kb.dtypes || mc_kb_init(&kb).code == MC_OK);
    mc_err e = mc_parse_gguf((mc_span){ bytes, n }, n, &kb, &a, 0, &f);
    MUST(e.code != MC_MORE && f.gguf); /* the whole file was given */
    MUST((e.code == MC_OK) == (f.gguf->fault == MC_GGUF_SOUND));
    if (e.code == MC_OK) {
        MUST(f.data_start <= n && f.n_tensors == f.gguf->n_tensors && f.gguf->n == f.gguf->n_kv);
        uint64_t want = mc_gguf_tail_want(&f);
        MUST(want == 0 || f.gguf->data_end + want <= n);
        if (want)
            mc_gguf_set_tail(&f, (mc_span){ bytes + f.gguf->data_end, (size_t)want });
    } else {
        MUST(e.what && e.at <= n);
    }
    check_pairs(f.gguf, bytes, n);
    check_tensors(&f, &kb, bytes, n);
    f.path = f.base = MC_STR("model.gguf");
    check_shape(&f, &kb, &a);
    mc_file g = { .size = n };
    size_t  part = n / 2;
    e = mc_parse_gguf((mc_span){ bytes, part }, n, &kb, &a, 0, &g);
    MUST(e.code != MC_MORE || (e.at > part && e.at <= n));
    mc_arena_free(&a);
    return 0;
}
