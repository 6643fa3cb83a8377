/* MC622: the quantization label in a file name against the bytes of the matrices. What a label means, what llama-quantize
 * gives some tensors instead, and what it falls back to where rows do not divide: llama.cpp src/llama-quant.cpp. */
#include "rules/gguf.h"

/* `with`: types that a file of this label may mostly consist of, because llama-quantize raises or lowers tensors to them. */
typedef struct { const char *label, *type, *with; } meaning;

#define LOW_BITS "IQ1_S IQ1_M IQ2_XXS IQ2_XS IQ2_S IQ3_XXS IQ3_S Q2_K Q3_K Q4_K Q5_K"
#define THREE_BITS "IQ2_S IQ3_XXS IQ3_S IQ4_XS Q3_K Q4_K Q5_K Q6_K"
static const meaning meanings[] = {
    { "F32", "F32", "" }, { "FP32", "F32", "" }, { "F16", "F16", "" }, { "FP16", "F16", "" }, { "BF16", "BF16", "" },
    { "Q4_0", "Q4_0", "Q4_1" }, { "Q4_1", "Q4_1", "" }, { "Q5_0", "Q5_0", "Q5_1" }, { "Q5_1", "Q5_1", "" }, { "Q8_0", "Q8_0", "" },
    { "Q2_K", "Q2_K", "Q3_K Q4_K" }, { "Q2_K_S", "Q2_K", "Q3_K Q4_K" },
    { "Q3_K", "Q3_K", "Q4_K Q5_K" }, { "Q3_K_S", "Q3_K", "Q4_K" }, { "Q3_K_M", "Q3_K", "Q4_K Q5_K" },
    { "Q4_K", "Q4_K", "Q5_K Q6_K" }, { "Q4_K_S", "Q4_K", "Q5_K Q6_K" }, { "Q4_K_M", "Q4_K", "Q5_K Q6_K" },
    { "Q5_K", "Q5_K", "Q6_K" }, { "Q5_K_S", "Q5_K", "Q6_K" }, { "Q5_K_M", "Q5_K", "Q6_K" }, { "Q6_K", "Q6_K", "" },
    { "IQ1_S", "IQ1_S", LOW_BITS }, { "IQ1_M", "IQ1_M", LOW_BITS }, { "IQ2_XXS", "IQ2_XXS", LOW_BITS }, { "IQ2_XS", "IQ2_XS", LOW_BITS },
    { "IQ2_S", "IQ2_XS", LOW_BITS }, { "IQ2_M", "IQ2_S", LOW_BITS },
    { "IQ3_XXS", "IQ3_XXS", THREE_BITS }, { "IQ3_XS", "IQ3_S", THREE_BITS }, { "IQ3_S", "IQ3_S", THREE_BITS }, { "IQ3_M", "IQ3_S", THREE_BITS },
    { "IQ4_NL", "IQ4_NL", "Q5_K Q6_K" }, { "IQ4_XS", "IQ4_XS", "IQ4_NL Q5_K Q6_K" },
    { "TQ1_0", "TQ1_0", "" }, { "TQ2_0", "TQ2_0", "" }, { "MXFP4", "MXFP4", "Q8_0" }, { "MXFP4_MOE", "MXFP4", "Q8_0" },
    { "Q1_0", "Q1_0", "" }, { "Q2_0", "Q2_0", "" },
};

/* Upper case into buf; "" when it does not fit. */
static mc_str upper(mc_str s, char *buf, size_t room)
{
    if (s.n > room)
        return MC_STR("");
    for (size_t i = 0; i < s.n; i++)
        buf[i] = mc_to_upper(s.p[i]);
    return (mc_str){ buf, s.n };
}

/* Does this part of a name look like a label at all, known here or not? */
static bool like_label(mc_str s)
{
    static const char *const words[] = { "BF16", "F16", "FP16", "F32", "FP32", "MXFP4", "MXFP4_MOE", "NVFP4", "I2_S", "TL1", "TL2", NULL };
    if (mc_str_is_any(s, words))
        return true;
    if (mc_str_starts(s, "TQ") || mc_str_starts(s, "IQ"))
        s = mc_str_cut(s, 1, s.n);
    return s.n > 3 && s.p[0] == 'Q' && s.p[1] >= '1' && s.p[1] <= '8' && s.p[2] == '_';
}

/* The last part of the name that is a label, in upper case; "" if there is none or a prefix says that it is dynamic. */
static mc_str label_of(mc_str base, char *buf, size_t room)
{
    mc_gguf_split split;
    char          before[8];
    if (mc_gguf_split_name(base, &split))
        base = split.prefix;
    else if (mc_str_ends_nocase(base, ".gguf"))
        base.n -= sizeof ".gguf" - 1;
    for (size_t end = base.n, at; end > 0; end = at ? at - 1 : 0) {
        for (at = end; at > 0 && base.p[at - 1] != '-' && base.p[at - 1] != '.' && base.p[at - 1] != ' '; at--)
            ;
        mc_str word = upper(mc_str_cut(base, at, end), buf, room);
        if (!like_label(word))
            continue;
        size_t from = at ? at - 1 : 0;
        while (from > 0 && base.p[from - 1] != '-' && base.p[from - 1] != '.' && base.p[from - 1] != ' ')
            from--;
        mc_str prefix = upper(mc_str_cut(base, from, at ? at - 1 : 0), before, sizeof before);
        return mc_str_is(prefix, "UD") || mc_str_is(prefix, "I1") ? MC_STR("") : word;
    }
    return MC_STR("");
}

static const meaning *meaning_of(mc_str label)
{
    if (mc_str_ends(label, "_L") || mc_str_ends(label, "_XL") || mc_str_ends(label, "_XXL"))
        return NULL;
    for (size_t i = 0; i < MC_COUNT(meanings); i++)
        if (mc_str_is(label, meanings[i].label))
            return &meanings[i];
    return NULL;
}

const char *mc_gguf_label_type(mc_str base, char *buf, size_t room, mc_str *label)
{
    *label = label_of(base, buf, room);
    const meaning *want = meaning_of(*label);
    return want ? want->type : NULL;
}

static bool in_words(const char *words, mc_str word)
{
    mc_str all = mc_str_of(words);
    while (all.n) {
        size_t blank = mc_str_find(all, ' ');
        if (mc_str_eq(mc_str_cut(all, 0, blank), word))
            return true;
        all = mc_str_cut(all, blank + 1, all.n);
    }
    return false;
}

/* Rows that the blocks of the label's type do not divide: one of the types that llama-quantize then takes. */
static bool fell_back(const mc_dtype *label, const mc_dtype *d, uint64_t row)
{
    return label->block > 1 && row % label->block != 0 && in_words("Q4_0 Q5_0 Q5_1 Q8_0 IQ4_NL F16", d->name);
}

typedef struct { uint64_t bytes[256], elements[256], all; bool unknown; } shares;

/* Converters take over matrices that the checkpoint holds in these, whatever type the rest gets: the experts of gpt-oss in
 * a file labelled F16 or Q4_K_M. */
static bool taken_over(const mc_dtype *label, const mc_dtype *d)
{
    return (mc_str_is(d->name, "MXFP4") || mc_str_is(d->name, "NVFP4")) && !mc_str_eq(d->name, label->name);
}

/* Bytes by type of the matrices that a label speaks of. What fell back counts as the label's own type. */
static void weigh(const mc_check *cx, const mc_dtype *label, uint16_t label_id, shares *s)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; m->files[i].gguf && k < m->files[i].n_tensors; k++) {
            const mc_tensor *t = &m->files[i].tensors[k];
            const mc_dtype  *d = mc_kb_dtype(cx->kb, t->dtype);
            if (mc_gguf_rank(t) < 2 || mc_str_is(t->name, "token_embd.weight") || mc_str_is(t->name, "output.weight"))
                continue;
            if (!d || !mc_gguf_has_size(cx->kb, t) || t->dtype >= MC_COUNT(s->bytes)) {
                s->unknown = true;
                continue;
            }
            if (taken_over(label, d))
                continue;
            uint16_t id = fell_back(label, d, t->dims[0]) ? label_id : t->dtype;
            s->bytes[id] += t->end - t->begin;
            s->elements[id] += t->elements;
            s->all += t->end - t->begin;
        }
}

static uint16_t type_named(const mc_kb *kb, const char *name)
{
    for (size_t i = kb->n_st_dtypes; i < kb->n_dtypes; i++)
        if (!kb->dtypes[i].foreign && mc_str_is(kb->dtypes[i].name, name))
            return (uint16_t)i;
    return UINT16_MAX;
}

void mc_check_622(mc_check *cx)
{
    const mc_model *m = cx->model;
    char            buf[32];
    if (!m->gguf || !mc_gguf_set_complete(m) || mc_gguf_contents(m, m->gguf_file) != MC_GGUF_MODEL)
        return;
    mc_str          label = label_of(m->files[m->gguf_file].base, buf, sizeof buf);
    const meaning  *want = meaning_of(label);
    uint16_t        own = want ? type_named(cx->kb, want->type) : UINT16_MAX, most = 0;
    const mc_dtype *d = mc_kb_dtype(cx->kb, own);
    shares         *s = d ? MC_NEW(cx->arena, shares, 1) : NULL;
    if (!s || own >= MC_COUNT(s->bytes))
        return;
    weigh(cx, d, own, s);
    for (uint16_t i = 1; i < MC_COUNT(s->bytes); i++)
        if (s->bytes[i] > s->bytes[most])
            most = i;
    const mc_dtype *found = mc_kb_dtype(cx->kb, most);
    if (s->unknown || s->all == 0 || most == own || !found || in_words(want->with, found->name))
        return;
    double      share = 100.0 * (double)s->bytes[most] / (double)s->all, bits = 8.0 * (double)s->bytes[most] / (double)s->elements[most];
    mc_finding *o = mc_report(cx, m->gguf_file, "labelled %.*s, but %.0f%% of the matrix bytes are %.*s (%.4g bits per weight)", MC_FMT(label), share,
                              MC_FMT(found->name), bits);
    mc_because(cx, o, "label", (mc_origin){ m->gguf_file, MC_STR("file name") }, "%.*s", MC_FMT(label));
    mc_because(cx, o, "type with most bytes", (mc_origin){ m->gguf_file, MC_STR("tensor table") }, "%.*s", MC_FMT(found->name));
}
