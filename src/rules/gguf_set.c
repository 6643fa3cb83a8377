/* Split GGUF files (llama.cpp tools/gguf-split): <prefix>-%05d-of-%05d.gguf, numbered from 1; split.no counts from 0. */
#include "rules/gguf.h"

#include <string.h>

/* What one file says about the set it belongs to. */
typedef struct {
    const mc_file *f;
    uint32_t       file;
    mc_gguf_split  name;
    bool           named;       /* the name is that of a split file */
    uint64_t       count;       /* split.count, 0 if absent or of no use */
} part;

static bool read_part(const mc_model *m, uint32_t file, part *p)
{
    *p = (part){ .f = mc_gguf_sound(m, file), .file = file };
    if (!p->f)
        return false;
    p->named = mc_gguf_split_name(p->f->base, &p->name);
    if (!mc_gguf_uint(mc_gguf_get(p->f->gguf, "split.count"), &p->count))
        p->count = 0;
    return true;
}

/* The first file of the set, by name. */
static bool first_part(const mc_model *m, part *p)
{
    return m->gguf && read_part(m, m->gguf_file, p);
}

bool mc_gguf_later_part(const mc_file *f)
{
    mc_gguf_split name;
    uint64_t      no;
    if (mc_gguf_split_name(f->base, &name))
        return name.count > 1 && name.no != 1;
    return mc_gguf_uint(mc_gguf_get(f->gguf, "split.no"), &no) && no > 0;
}

bool mc_gguf_in_store(const mc_file *f)
{
    enum { DIGITS = 64 };
    mc_str digits = mc_str_cut(f->base, sizeof "sha256-" - 1, f->base.n);
    if (!mc_str_starts(f->base, "sha256-") || digits.n != DIGITS)
        return false;
    for (size_t i = 0; i < DIGITS; i++)
        if (!strchr("0123456789abcdef", digits.p[i]) || !digits.p[i])
            return false;
    return true;
}

/* Which numbers 1..count are here. Numbers beyond are not looked at; count is bounded by what five digits hold. */
typedef struct { uint64_t count, present; bool *have; } roll;

static bool call(const mc_model *m, mc_arena *a, uint64_t count, roll *r)
{
    *r = (roll){ .count = count, .have = count <= 99999 ? MC_NEW(a, bool, (size_t)count + 1) : NULL };
    if (!r->have)
        return false;
    for (size_t i = 0; i < m->n_files; i++) {
        mc_gguf_split name;
        const mc_file *f = &m->files[i];
        if (f->gguf && mc_gguf_split_name(f->base, &name) && name.no >= 1 && name.no <= count && !r->have[name.no]) {
            r->have[name.no] = true;
            r->present++;
        }
    }
    return true;
}

bool mc_gguf_set_complete(const mc_model *m)
{
    uint64_t      sound = 0, count;
    mc_gguf_split name;
    for (size_t i = 0; i < m->n_files; i++) {
        if (m->files[i].gguf && !mc_gguf_sound(m, i))
            return false;
        sound += m->files[i].gguf != NULL;
    }
    if (!mc_gguf_uint(mc_gguf_get(m->gguf, "split.count"), &count) || count <= 1)
        return sound > 0;
    return sound == count && m->gguf_file < m->n_files && mc_gguf_split_name(m->files[m->gguf_file].base, &name) && name.no == 1;
}

/* ---- MC614: joined by cat ---- */

void mc_check_614(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        part p;
        if (!read_part(cx->model, i, &p) || p.count <= 1)
            continue;
        const mc_gguf *g = p.f->gguf;
        if (g->tail.n < 8 || memcmp(g->tail.p, "GGUF", 4) != 0)
            continue;
        uint32_t version = mc_u32le(g->tail.p + 4);
        if (g->big_endian)
            version = __builtin_bswap32(version);
        if (version < 1 || version > 3)
            continue;
        mc_finding *o = mc_report(cx, i, "%llu gguf-split files joined byte by byte: only the first part is read", (mc_ull)p.count);
        mc_because(cx, o, "split.count", (mc_origin){ i, MC_STR("split.count") }, "%llu", (mc_ull)p.count);
        mc_because(cx, o, "another GGUF header", (mc_origin){ i, MC_STR("behind the tensor data") }, "version %u", version);
    }
}

/* ---- MC615, MC616: files and names ---- */

static mc_str missing_numbers(mc_check *cx, const roll *r)
{
    char   text[96];
    size_t at = 0, shown = 0;
    for (uint64_t k = 1; k <= r->count && shown < 8; k++)
        if (!r->have[k]) {
            mc_str s = mc_format(cx->arena, shown ? ", %llu" : "%llu", (mc_ull)k);
            if (at + s.n > sizeof text)
                break;
            memcpy(text + at, s.p, s.n);
            at += s.n;
            shown++;
        }
    return mc_format(cx->arena, "%.*s%s", (int)at, text, r->count - r->present > shown ? ", ..." : "");
}

void mc_check_615(mc_check *cx)
{
    part p;
    roll r;
    if (cx->model->alone || !first_part(cx->model, &p) || p.count <= 1 || !p.named || p.name.count <= 1)
        return;
    if (!call(cx->model, cx->arena, p.count, &r) || r.present >= r.count)
        return;
    mc_str      numbers = missing_numbers(cx, &r);
    mc_finding *o = mc_report(cx, p.file, "%.*s: %llu of %llu split files are missing (numbers %.*s)", MC_FMT(p.name.prefix), (mc_ull)(r.count - r.present),
                              (mc_ull)r.count, MC_FMT(numbers));
    for (uint64_t k = 1; k <= r.count && o->named < MC_SAMPLES; k++)
        if (!r.have[k])
            mc_subject(o, mc_format(cx->arena, "%.*s-%05llu-of-%05llu.gguf", MC_FMT(p.name.prefix), (mc_ull)k, (mc_ull)r.count));
    mc_count(o, (size_t)(r.count - r.present));
    mc_because(cx, o, "split.count", (mc_origin){ p.file, MC_STR("split.count") }, "%llu", (mc_ull)p.count);
}

void mc_check_616(mc_check *cx)
{
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        part p;
        if (!read_part(cx->model, i, &p) || !p.named || p.name.count <= 1 || p.count > 1)
            continue;
        mc_finding *o = mc_report(cx, i, "the name says file %llu of %llu, the metadata says a complete model: tools look for %llu files", (mc_ull)p.name.no,
                                  (mc_ull)p.name.count, (mc_ull)p.name.count);
        mc_because(cx, o, "split.count", (mc_origin){ i, MC_STR("split.count") }, "%s", mc_gguf_get(p.f->gguf, "split.count") ? "not above 1" : "absent");
    }
}

/* ---- MC617: numbers ---- */

/* The total that the first file states against what the files hold, once all are here. */
static mc_str wrong_total(mc_check *cx, const part *p)
{
    uint64_t stated, sum = 0;
    if (p->file != cx->model->gguf_file || !mc_gguf_uint(mc_gguf_get(p->f->gguf, "split.tensors.count"), &stated) || !mc_gguf_set_complete(cx->model))
        return MC_STR("");
    for (size_t i = 0; i < cx->model->n_files; i++)
        sum += cx->model->files[i].gguf ? cx->model->files[i].gguf->n_tensors : 0;
    return stated == sum ? MC_STR("") : mc_format(cx->arena, "split.tensors.count is %llu, the files hold %llu", (mc_ull)stated, (mc_ull)sum);
}

/* "" if the metadata of one file fit its name and its set. */
static mc_str contradiction(mc_check *cx, const part *p, const part *first)
{
    const mc_gguf    *g = p->f->gguf;
    const mc_gguf_kv *no = mc_gguf_get(g, "split.no"), *count = mc_gguf_get(g, "split.count");
    if (!p->named)
        return mc_format(cx->arena, "split.count is %llu, but the name is not <prefix>-%%05d-of-%%05d.gguf", (mc_ull)p->count);
    if (count->type != MC_GGUF_U16)
        return mc_format(cx->arena, "split.count is %s, not u16", mc_gguf_type_name(count->type));
    if (!no || no->type != MC_GGUF_U16)
        return mc_format(cx->arena, "split.no is %s, not u16", no ? mc_gguf_type_name(no->type) : "absent");
    if (no->u + 1 != p->name.no || p->count != p->name.count)
        return mc_format(cx->arena, "split.no is %llu (counted from 0) of %llu, the name says file %llu of %llu", (mc_ull)no->u, (mc_ull)p->count,
                         (mc_ull)p->name.no, (mc_ull)p->name.count);
    if (first->count > 1 && p->count != first->count)
        return mc_format(cx->arena, "split.count is %llu, in the first file %llu", (mc_ull)p->count, (mc_ull)first->count);
    return wrong_total(cx, p);
}

void mc_check_617(mc_check *cx)
{
    part first = { 0 };
    if (!first_part(cx->model, &first))
        first.count = 0;
    for (uint32_t i = 0; i < cx->model->n_files; i++) {
        part p;
        if (!read_part(cx->model, i, &p) || p.count <= 1)
            continue;
        mc_str what = contradiction(cx, &p, &first);
        if (what.n == 0)
            continue;
        mc_finding *o = mc_report(cx, i, "%.*s: llama.cpp stops with 'invalid split file name', 'illegal split file idx' or 'corrupted model'", MC_FMT(what));
        mc_because(cx, o, "split.count", (mc_origin){ i, MC_STR("split.count") }, "%llu", (mc_ull)p.count);
    }
}
