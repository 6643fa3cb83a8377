/* MC501-MC508: size and shape against what names and configuration say. The table, and the rules that weigh bytes.
 *
 * size_facts.c   one pass over the tensors of the root    size_missing.c   MC503, MC504    size_shapes.c   MC505
 * size_coverage.c   MC502                                 size_measured.c  MC508 */
#include "model/quant.h"
#include "rules/size.h"

#include <string.h>

static unsigned percent(uint64_t part, uint64_t whole)
{
    return whole ? (unsigned)((double)part * 100 / (double)whole) : 0;
}

mc_str mc_size_count_text(mc_arena *a, uint64_t n)
{
    if (n < 1000000)
        return mc_format(a, "%llu", (unsigned long long)n);
    return n < 1000000000 ? mc_format(a, "%.4g million", (double)n / 1e6) : mc_format(a, "%.4g billion", (double)n / 1e9);
}

/* ---- MC501 ---- */

typedef struct { const char *token; unsigned bits; } label;
static const label labels[] = {
    { "fp32", 32 }, { "f32", 32 }, { "fp16", 16 }, { "f16", 16 }, { "bf16", 16 }, { "fp8", 8 }, { "f8", 8 }, { "e4m3", 8 }, { "e4m3fn", 8 }, { "e5m2", 8 }, { "int8", 8 }, { "nf4", 4 },
};

static const label *label_of(mc_str token)
{
    for (size_t i = 0; i < MC_COUNT(labels); i++)
        if (token.n == strlen(labels[i].token) && mc_str_ends_nocase(token, labels[i].token))
            return &labels[i];
    return NULL;
}

static bool separator(char c)
{
    return c == '.' || c == '_' || c == '-' || c == ' ' || c == '+' || c == '(' || c == ')';
}

/* The one width that the words of a file name agree on, else NULL. */
static const label *name_label(mc_str base)
{
    const label *found = NULL;
    for (size_t at = 0, i = 0; i <= base.n; i++) {
        if (i < base.n && !separator(base.p[i]))
            continue;
        const label *l = label_of(mc_str_cut(base, at, i));
        if (l && found && l->bits != found->bits)
            return NULL;
        found = l && !found ? l : found;
        at = i + 1;
    }
    return found;
}

/* Bits of a type that states a precision by itself; 0 for packed words and for what may hold anything (U8, I32, ...). */
static unsigned width(const mc_dtype *d)
{
    if (!d || (d->cls != MC_CLASS_FLOAT && !mc_str_is(d->name, "I8")) || d->block != 1)
        return 0;
    return d->block_bits;
}

/* Bytes of matrices under one top-level prefix of a file. */
typedef struct { mc_str name; uint64_t bytes, of_codes /* of another width than the name says */, of_dtype[32]; } part;
enum { MAX_PARTS = 32 };

/* A text encoder or image decoder that single-file checkpoints carry beside the main component. */
static bool bundled(mc_str prefix)
{
    static const char *const names[] = { "text_encoder", "text_model", "vae", "first_stage_model", "cond_stage_model", "conditioner", "clip", "t5", NULL };
    return mc_str_starts_any(prefix, names);
}

static part *part_of(part *parts, size_t *n, mc_str name)
{
    mc_str top = mc_str_cut(name, 0, mc_str_find(name, '.'));
    for (size_t i = 0; i < *n; i++)
        if (mc_str_eq(parts[i].name, top))
            return &parts[i];
    size_t slot = *n < MAX_PARTS ? (*n)++ : MAX_PARTS - 1; /* names without a common top share the last */
    if (parts[slot].bytes == 0)
        parts[slot].name = top;
    return &parts[slot];
}

static const part *main_part(const part *parts, size_t n)
{
    const part *best = NULL;
    for (int aside = 0; aside < 2 && !best; aside++)
        for (size_t i = 0; i < n; i++)
            if ((aside || !bundled(parts[i].name)) && parts[i].bytes && (!best || parts[i].bytes > best->bytes))
                best = &parts[i];
    return best;
}

/* Bits of the codes that a tensor of this file holds for a packed module, 0 for any other: its type says where codes are
 * stored, not how wide they are. NULL: none. */
static const uint8_t *code_bits(mc_check *cx, const mc_file *f)
{
    const mc_quant *q = cx->model->quant;
    uint8_t        *bits = q && q->n_packed ? MC_NEW(cx->arena, uint8_t, f->n_tensors) : NULL;
    for (size_t i = 0; bits && i < q->n_modules; i++) {
        const mc_module *m = &q->modules[i];
        const mc_tensor *t = m->parts[MC_PART_WEIGHT];
        if (t && m->layout != MC_Q_PLAIN && m->layout != MC_Q_RAW8 && &cx->model->files[t->file] == f && t >= f->tensors && (size_t)(t - f->tensors) < f->n_tensors)
            bits[t - f->tensors] = m->bits > 0 && m->bits < 200 ? (uint8_t)(m->bits + 0.5) : UINT8_MAX;
    }
    return bits;
}

static void judge_name(mc_check *cx, uint32_t id, const label *l)
{
    const mc_file *f = &cx->model->files[id];
    const uint8_t *codes = code_bits(cx, f);
    part          *parts = MC_NEW(cx->arena, part, MAX_PARTS);
    size_t         n = 0;
    uint64_t       other = 0;
    uint16_t       most = 0;
    for (size_t i = 0; parts && i < f->n_tensors; i++) {
        const mc_tensor *t = &f->tensors[i];
        if (t->rank < 2 || t->end < t->begin || t->dtype >= MC_COUNT(parts->of_dtype))
            continue;
        part *p = part_of(parts, &n, t->name);
        p->bytes += t->end - t->begin;
        if (!codes || !codes[i])
            p->of_dtype[t->dtype] += t->end - t->begin;
        else if (codes[i] != UINT8_MAX && codes[i] != l->bits)
            p->of_codes += t->end - t->begin;
    }
    const part *p = parts ? main_part(parts, n) : NULL;
    for (uint16_t d = 0; p && d < MC_COUNT(p->of_dtype); d++) {
        unsigned bits = width(mc_kb_dtype(cx->kb, d));
        if (bits && bits != l->bits && !(l->bits == 4 && bits == 8))
            other += p->of_dtype[d];
        if (p->of_dtype[d] > p->of_dtype[most])
            most = d;
    }
    if (!p || percent(other + p->of_codes, p->bytes) < 90)
        return;
    if (p->of_codes > p->of_dtype[most]) {
        mc_report(cx, id, "the name says %s, but %u %% of the bytes of its matrices are codes of another width", l->token, percent(p->of_codes, p->bytes));
        return;
    }
    const mc_dtype *d = mc_kb_dtype(cx->kb, most);
    mc_finding *out = mc_report(cx, id, "the name says %s, but %u %% of the bytes of its matrices are %.*s: mislabelled, or cast again under the old name", l->token,
                                percent(p->of_dtype[most], p->bytes), MC_FMT(d ? d->name : MC_STR("another type")));
    mc_because(cx, out, "matrices", mc_origin_at(id, ""), "%.*s below \"%.*s\"", MC_FMT(mc_size_text(cx->arena, p->bytes)), MC_FMT(p->name));
}

static void name_dtype(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (!f->st || f->st->fault != MC_ST_SOUND || !f->in_read_set || f->n_tensors == 0)
            continue;
        if (f->set < m->n_sets && m->sets[f->set].index != MC_NONE)
            continue; /* the index names its shards; their names are no claims */
        const label *l = name_label(f->base);
        if (l)
            judge_name(cx, i, l);
    }
}

/* ---- MC506, MC507 ---- */

static void fp32_weights(mc_check *cx)
{
    const mc_model      *m = cx->model;
    const mc_size_facts *f = mc_size_gather(cx);
    if (!f || !m->parameters.known || m->parameters.v < 1000000000 || mc_size_quantized(m) || percent(f->f32_bytes, f->matrix_bytes) < 90)
        return;
    mc_report(cx, MC_NONE, "%.2f billion parameters are stored as F32: %.*s on disk, half of that in 16 bit", (double)m->parameters.v / 1e9,
              MC_FMT(mc_size_text(cx->arena, m->weights_bytes.known ? (uint64_t)m->weights_bytes.v : f->f32_bytes)));
}

/* The 16-bit type that the configuration states, "" if none. */
static mc_str stated_half(const mc_value *config, mc_str *at)
{
    static const char *const keys[] = { "/dtype", "/torch_dtype", "/text_config/dtype", "/text_config/torch_dtype" };
    for (size_t i = 0; i < MC_COUNT(keys); i++) {
        mc_str s = mc_as_str(mc_at(config, keys[i]));
        if (!s.n)
            continue;
        *at = mc_str_of(keys[i]);
        if (mc_str_starts(s, "torch."))
            s = mc_str_cut(s, 6, s.n);
        return mc_str_is(s, "bfloat16") || mc_str_is(s, "float16") || mc_str_is(s, "half") ? s : MC_STR("");
    }
    return MC_STR("");
}

static void wider_than_config(mc_check *cx)
{
    const mc_doc        *config = mc_model_doc(cx->model, 0, MC_ROLE_CONFIG);
    mc_str               at = MC_STR(""), half = stated_half(config ? config->root : NULL, &at);
    const mc_size_facts *f = half.n && cx->model->format == MC_FMT_SAFETENSORS ? mc_size_gather(cx) : NULL;
    if (!f || !config || mc_size_quantized(cx->model) || percent(f->f32_bytes + f->f64_bytes, f->float_bytes) < 90)
        return;
    const char *stored = f->f32_bytes >= f->f64_bytes ? "F32" : "F64";
    mc_finding *out = mc_report(cx, config->file, "the configuration says %.*s, %u %% of the bytes of the matrices are %s: %s the disk and load time for no precision engines use",
                                MC_FMT(half), percent(f->f32_bytes + f->f64_bytes, f->float_bytes), stored, f->f32_bytes >= f->f64_bytes ? "twice" : "four times");
    mc_because(cx, out, "dtype", (mc_origin){ config->file, at }, "%.*s", MC_FMT(half));
    mc_fix(cx, out, "Save the weights in %.*s, or correct the dtype in config.json", MC_FMT(half));
}

/* ---- the table ---- */

static const mc_rule rules[] = {
    { "MC501", "name-dtype", MC_WARNING, MC_LIKELY, MC_MODE_DEFAULT, "The file name states another precision than the bytes",
      "People choose a file by the precision in its name. A file that holds another one needs other memory and gives other quality than they expect.",
      "Rename the file after the type its matrices have, or save it again in the type its name says",
      "fp16 for bf16 and the other way round; norms and biases in other types; text encoders and image decoders bundled into the file; shards of an indexed set.",
      "https://github.com/city96/ComfyUI-GGUF/issues/112", NULL, name_dtype },
    { "MC502", "low-coverage", MC_WARNING, MC_LIKELY, MC_MODE_DEFAULT, "Less than half of the eligible parameters are quantized",
      "The configuration promises a quantized model, but the quantizer did not match most of its matrices: the files are several times the size that the label suggests, and engines need the memory of the unquantized model.",
      "Quantize again with a recipe that reaches the modules that stayed plain (fused experts often are no Linear), or list them as excluded",
      "Embeddings, heads, norms, routers, towers and prediction layers; excluded modules; matrices whose sides the groups do not divide; methods about experts only (mxfp4) and MIXED_PRECISION lists; bits of the whole file, whatever they are.",
      "https://github.com/vllm-project/llm-compressor/issues/2512", NULL, mc_check_low_coverage },
    { "MC503", "weights-missing", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "Weights the architecture cannot do without are stored nowhere",
      "Loaders fill absent weights with random values and go on, or stop. Either way the model that was trained is not the one that runs.",
      "Download the missing file, or save the model again; if the model was cut on purpose, correct the configuration",
      "A head that stands for a tied embedding; drafts (EAGLE, Medusa, prediction layers), pruned, hybrid and unknown model types; encoders, towers and adapters; any set with a damaged or absent file, whose own finding is the cause.",
      "https://github.com/casper-hansen/AutoAWQ/issues/589", "m:MC502 m:MC508", mc_check_weights_missing },
    { "MC504", "layers-extra", MC_WARNING, MC_LIKELY, MC_MODE_DEFAULT, "More decoder layers are stored than the configuration counts",
      "The layers behind num_hidden_layers are loaded by nobody, or refused as unexpected: either the count or the file is wrong.",
      "Correct num_hidden_layers, or remove the layers",
      "Layers for multi-token prediction (eh_proj, enorm, hnorm, nextn, mtp, shared_head); encoders and towers; models with several lists of layers.",
      "https://github.com/vllm-project/vllm/pull/34888", NULL, mc_check_layers_extra },
    { "MC505", "shape-vs-config", MC_ERROR, MC_CERTAIN, MC_MODE_DEFAULT, "Tensor shapes contradict the dimensions in config.json",
      "Loaders make the modules that the configuration describes and stop with a size mismatch when a tensor does not fit. Usually the configuration belongs to another size of the model.",
      "Use the config.json that belongs to these weights",
      "Explicit head_dim and gated or per-layer query widths; matrices padded by a quantizer; transposed layouts; vision towers, projectors, draft layers; model types outside the table of plain decoders; packed weights.",
      "https://github.com/huggingface/transformers (from_pretrained, size mismatch)", "m:MC430", mc_check_shapes },
    { "MC506", "fp32-weights", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "The weights are stored in 32 bit",
      "Most engines convert to 16 bit while loading, so half of the bytes are downloaded and read for nothing.",
      "Save the weights in bfloat16 or float16 if nobody trains from them", "Models below a billion parameters; routers, A_log and norms in F32.", "", NULL, fp32_weights },
    { "MC507", "wider-than-config", MC_WARNING, MC_CERTAIN, MC_MODE_DEFAULT, "Weights are stored wider than the precision the configuration declares",
      "Engines follow the configuration and cast every weight down while loading: the files take twice the disk, download and load time for precision nobody uses.",
      "Save the weights in the declared dtype, or correct the configuration",
      "A configuration without a dtype; float16 for bfloat16; quantized checkpoints; routers and buffers in F32.", "", "m:MC506", wider_than_config },
    { "MC508", "measured-bits", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "The measured bits per parameter differ from what the label suggests",
      "Memory and download follow the bytes, not the label. The breakdown says which modules are wider than the label, or what is missing.",
      "Read it as information: plan with the measured size",
      "Nothing legal is accused: 4-bit checkpoints measure from 4.13 to 15.7 bits, since embeddings, heads and towers stay in 16 bit.",
      "", NULL, mc_check_measured_bits },
};
const mc_family mc_family_size = { "size", rules, MC_COUNT(rules) };
