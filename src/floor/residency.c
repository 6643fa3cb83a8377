/* Which weights lie where: what an engine loads of the tensors of the read set, in what width, and whether a part is divided over
 * the ranks of a tensor-parallel group, follows the KV heads, or is held by each. Names are asked once a form (model/forms.c).
 * Rules and measurements: docs/memory.md. */
#include "floor/engine.h"
#include "floor/names.h"

typedef struct {
    const mc_model *m;
    mc_kb          *kb;
    const mc_floor_ask *ask;
    const mc_engine *e;
    bool            vllm, transformers; /* which one e is, asked once and not for each tensor */
    const mc_shape *shape;
    mc_arena       *a;
    mc_residency   *r;
    mc_load_quant        quant;
    uint64_t        text_layers;    /* without prediction layers; UINT64_MAX unknown */
    uint64_t        stored, head, mtp, narrowed, dropped, converted, padded; /* bytes by what happens to them */
    uint64_t        n_tensors;
} job;

static void assume(job *j, int64_t effect, mc_str text)
{
    if (j->r->n_assumptions < MC_MAX_ASSUMPTIONS)
        j->r->assumptions[j->r->n_assumptions++] = (mc_assumption){ text, effect };
}

static void grow(job *j, uint64_t *to, uint64_t bytes)
{
    j->r->overflow |= ckd_add(to, *to, bytes);
}

uint64_t mc_part_of_rank(const mc_residency *r, const mc_part *p, uint64_t tp)
{
    uint64_t kv = r->kv_heads && r->kv_heads < tp ? r->kv_heads : tp;
    return mc_ceil_div(p->split, tp) + mc_ceil_div(p->by_heads, kv) + p->whole;
}

/* ---- one tensor ------------------------------------------------------------------------------------------- */

static bool speculates(const job *j)
{
    return j->ask->switches.speculative > 0;
}

static bool skipped_mtp(const job *j, const mc_weight_kind *k, const mc_tensor *t)
{
    bool behind = k->place == MC_PLACE_LAYER && j->m->arch.mtp_layers.known && j->m->arch.mtp_layers.v > 0 && t->layer != MC_NONE && t->layer >= j->text_layers;
    return (k->mtp || behind) && j->e->skips_mtp && !speculates(j);
}

/* Quantized while it is loaded: matrices of the layers, without routers. */
static uint64_t in_flight(const job *j, const mc_weight_kind *k, const mc_tensor *t, uint64_t bytes)
{
    if (!j->vllm || !k->linear || j->quant.method.n || t->rank < 2)
        return bytes;
    mc_str q = mc_str_of(j->ask->switches.quantization);
    if (mc_str_is(q, "fp8"))
        return t->elements;
    if (mc_str_is(q, "bitsandbytes")) /* two values a byte, and the f32 maximum of each 64 */
        return t->elements / 2 + t->elements / 64 * 4;
    return bytes;
}

/* Rows of the embedding and of the head are padded to a multiple of 64. */
static uint64_t vocabulary_padding(const job *j, const mc_weight_kind *k, const mc_tensor *t, uint64_t bytes)
{
    if (!j->vllm || !k->vocabulary || t->rank != 2 || !j->m->arch.vocab.known || t->dims[0] != (uint64_t)j->m->arch.vocab.v || t->dims[0] % 64 == 0)
        return 0;
    return bytes / t->dims[0] * (64 - t->dims[0] % 64);
}

/* MXFP4 experts: the packed values of a row are padded to whole 256 inputs; or the engine has no kernels and makes bf16 of them. */
static uint64_t mxfp4(job *j, const mc_weight_kind *k, const mc_tensor *t, uint64_t bytes)
{
    mc_gpu gpu = j->ask->gpu;
    bool   none = gpu.kind == MC_GPU_CPU || gpu.kind == MC_GPU_ROCM || gpu.kind == MC_GPU_HPU || gpu.kind == MC_GPU_OTHER ||
                (gpu.kind == MC_GPU_CUDA && gpu.capability < 75);
    if (j->vllm && k->mxfp4_values && t->rank == 4 && t->dims[3] == 16 && t->dims[2] % 8 && (gpu.kind == MC_GPU_NONE || gpu.kind == MC_GPU_CUDA))
        return bytes / t->dims[2] * (t->dims[2] + 8 - t->dims[2] % 8);
    if (j->transformers && none && k->mxfp4_values)
        return bytes * 4;
    return bytes;
}

static bool dropped(const job *j, const mc_weight_kind *k)
{
    if (!j->vllm || !mc_str_is(j->quant.method, "gptq"))
        return false;
    return (k->group_index && !j->quant.act_order) || (k->zeros && j->quant.symmetric);
}

/* Bytes of a float tensor in the type that the engine computes in. */
static uint64_t cast(const job *j, const mc_weight_kind *k, const mc_tensor *t, uint64_t bytes)
{
    if (k->companion || j->m->unit == MC_UNIT_GGUF)
        return bytes;
    const mc_dtype *d = mc_kb_dtype(j->kb, t->dtype);
    bool            wide = mc_dtype_is_float(d, 32) || mc_dtype_is_float(d, 64);
    if (j->e->narrows)
        return wide ? t->elements * 2 : bytes;
    if (!j->transformers || !j->m->arch.dtype.known || j->quant.method.n)
        return bytes;
    if (mc_str_is(j->m->arch.dtype.v, "float32"))
        return wide || mc_dtype_is_float(d, 16) ? t->elements * 4 : bytes;
    return wide && (mc_str_is(j->m->arch.dtype.v, "bfloat16") || mc_str_is(j->m->arch.dtype.v, "float16")) ? t->elements * 2 : bytes;
}

/* Bytes of a stored head that the embedding stands in for. */
static uint64_t tied_head(const mc_model *m)
{
    const mc_tensor *t = m->heads.head;
    return m->arch.tie.known && m->arch.tie.v && m->heads.embed && t && t->end > t->begin ? t->end - t->begin : 0;
}

static mc_part *place(job *j, const mc_weight_kind *k, const mc_tensor *t)
{
    if (k->place == MC_PLACE_INPUT)
        return &j->r->input;
    if (k->place == MC_PLACE_OUTPUT)
        return &j->r->output;
    if (k->place == MC_PLACE_OTHER || j->r->n_layers == 0 || t->layer == MC_NONE)
        return &j->r->other;
    return &j->r->layers[t->layer < j->r->n_layers ? t->layer : j->r->n_layers - 1];
}

static void add(job *j, const mc_weight_kind *k, const mc_tensor *t)
{
    uint64_t bytes = t->end > t->begin ? t->end - t->begin : 0, as = bytes, pad;
    grow(j, &j->stored, bytes);
    j->n_tensors++;
    if (t == j->m->heads.head && tied_head(j->m)) {
        j->head = bytes;
        return;
    }
    if (skipped_mtp(j, k, t)) {
        grow(j, &j->mtp, bytes);
        return;
    }
    if (dropped(j, k)) {
        grow(j, &j->dropped, bytes);
        return;
    }
    if (t->overflow)
        bytes = as;
    else if ((as = cast(j, k, t, bytes)) < bytes)
        grow(j, &j->narrowed, bytes - as);
    else if (as > bytes)
        grow(j, &j->padded, as - bytes);
    if (j->r->kept)
        j->r->kept[j->r->n_kept++] = t;
    bytes = as;
    if ((as = in_flight(j, k, t, bytes)) < bytes)
        grow(j, &j->converted, bytes - as);
    as = mxfp4(j, k, t, as);
    pad = vocabulary_padding(j, k, t, as);
    if (as > bytes || pad)
        grow(j, &j->padded, (as > bytes ? as - bytes : 0) + pad);
    mc_part *p = place(j, k, t);
    grow(j, k->share == MC_SHARE_WHOLE ? &p->whole : k->share == MC_SHARE_HEADS ? &p->by_heads : &p->split, as + pad);
    if (k->place == MC_PLACE_INPUT && (t == j->m->heads.embed || mc_str_is(t->name, "token_embd.weight")))
        j->r->tied = as + pad;
    if (k->repacked)
        grow(j, &j->r->repacked, as);
}

/* ---- tables ----------------------------------------------------------------------------------------------- */

/* vLLM makes the cosines and sines of every position up to the maximum, on every rank, in the model's type. */
static void rope_table(job *j)
{
    uint64_t rotary = mc_rotary_width(j->m), rows = j->shape->max_context, bytes;
    if (!j->vllm || j->ask->gpu.kind == MC_GPU_HPU || rotary == 0 || rows == 0 || ckd_mul(&bytes, rows, rotary * 2))
        return;
    j->r->each = bytes;
    assume(j, (int64_t)(bytes > INT64_MAX ? INT64_MAX : bytes),
           mc_format(j->a, "vllm keeps a table of rotary angles for %llu positions on every rank", (unsigned long long)rows));
}

static int64_t effect(uint64_t bytes, bool less)
{
    int64_t v = bytes > INT64_MAX ? INT64_MAX : (int64_t)bytes;
    return less ? -v : v;
}

static void explain(job *j)
{
    const char *name = j->e->name;
    if (j->head)
        assume(j, effect(j->head, true), mc_format(j->a, "%.*s is tied to the embedding and counted once", MC_FMT(j->m->heads.head->name)));
    if (j->mtp)
        assume(j, effect(j->mtp, true), mc_format(j->a, "%s does not load prediction layers unless it is asked to speculate", name));
    else if (j->m->arch.mtp_layers.known && j->m->arch.mtp_layers.v > 0 && !j->e->skips_mtp)
        assume(j, 0, MC_STR("weights of prediction layers, where stored, are counted"));
    if (j->narrowed)
        assume(j, effect(j->narrowed, true), mc_format(j->a, "%s narrows float32 weights to 16 bits when it loads them", name));
    if (j->dropped)
        assume(j, effect(j->dropped, true), MC_STR("index and zero-point tensors that the GPTQ kernels do not use are released after loading"));
    if (j->converted)
        assume(j, effect(j->converted, true), mc_format(j->a, "matrices of the layers are quantized to %s while they are loaded", j->ask->switches.quantization));
    if (j->padded)
        assume(j, effect(j->padded, false), mc_format(j->a, "%s pads or widens tensors when it loads them", name));
    if (j->m->unit == MC_UNIT_GGUF && j->transformers)
        assume(j, 0, MC_STR("transformers dequantizes a GGUF when it loads it: the stored size is less than it will hold"));
}

static void term(job *j, uint64_t other)
{
    const mc_model *m = j->m;
    mc_term        *t = &j->r->term;
    uint64_t        less[] = { j->head, j->mtp, j->narrowed, j->dropped, j->converted }, more[] = { j->padded, j->r->each };
    mc_str          text = mc_format(j->a, "%llu", (unsigned long long)(j->stored + other));
    bool            changed = false;
    for (size_t i = 0; i < MC_COUNT(less); i++)
        if (less[i]) {
            text = mc_format(j->a, "%.*s - %llu", MC_FMT(text), (unsigned long long)less[i]);
            changed = true;
        }
    for (size_t i = 0; i < MC_COUNT(more); i++)
        if (more[i]) {
            text = mc_format(j->a, "%.*s + %llu", MC_FMT(text), (unsigned long long)more[i]);
            changed = true;
        }
    t->name = MC_STR("weights");
    t->formula = changed ? text : mc_format(j->a, "sum of %llu tensors", (unsigned long long)m->n_tensors);
    for (size_t i = 0; i < m->n_files && t->n_from < MC_COUNT(t->from); i++)
        if (m->files[i].in_read_set && m->files[i].n_tensors)
            t->from[t->n_from++] = m->files[i].path;
}

/* ---- all of them ------------------------------------------------------------------------------------------ */

static void component(job *j, const mc_component *c)
{
    const mc_inventory *inv = &c->inv;
    mc_weight_kind     *kinds = MC_NEW(j->a, mc_weight_kind, inv->form_names.n);
    for (size_t i = 0; kinds && i < inv->form_names.n; i++)
        mc_weight_kind_of(j->m, j->kb, inv->forms[i].first, inv->forms[i].tags, &kinds[i]);
    for (size_t i = 0; kinds && i < inv->names.n; i++)
        add(j, &kinds[inv->first[i]->form], inv->first[i]);
}

void mc_residency_of(const mc_model *m, mc_kb *kb, const mc_floor_ask *ask, const mc_engine *e, const mc_shape *shape, mc_arena *a, mc_residency *out)
{
    *out = (mc_residency){ .known = m->weights_bytes.known, .kv_heads = m->arch.kv_heads.known ? (uint64_t)m->arch.kv_heads.v : 0 };
    job j = { .m = m, .kb = kb, .ask = ask, .e = e, .shape = shape, .a = a, .r = out, .text_layers = UINT64_MAX };
    j.vllm = mc_str_is(mc_str_of(e->name), "vllm");
    j.transformers = mc_str_is(mc_str_of(e->name), "transformers");
    if (!out->known)
        return;
    mc_load_quant_of(m, &j.quant);
    uint64_t own = m->arch.layers.known ? (uint64_t)m->arch.layers.v : 0, ahead = m->arch.mtp_layers.known ? (uint64_t)m->arch.mtp_layers.v : 0;
    if (shape->n_layers)
        own = shape->n_layers;
    else if (m->unit == MC_UNIT_GGUF && ahead < own)
        own -= ahead;
    if (own)
        j.text_layers = own;
    out->n_layers = own && own <= 100000 ? own : 0;
    out->layers = MC_NEW(a, mc_part, out->n_layers + 1);
    if (!out->layers)
        out->n_layers = 0;
    size_t n_names = 0;
    for (size_t c = 0; c < m->n_components; c++)
        n_names += m->components[c].kind != MC_COMP_COPY ? m->components[c].inv.names.n : 0;
    out->kept = MC_NEW(a, const mc_tensor *, n_names + 1);
    for (size_t c = 0; c < m->n_components; c++)
        if (m->components[c].kind != MC_COMP_COPY)
            component(&j, &m->components[c]);
    uint64_t all = (uint64_t)m->weights_bytes.v, other = all > j.stored ? all - j.stored : 0; /* containers whose tensors are not listed */
    uint64_t head = tied_head(m);
    if (head && j.head == 0 && head <= other) { /* in a container whose tensors are not listed */
        j.head = head;
        other -= head;
        j.stored += head;
    }
    grow(&j, &out->other.split, other);
    if (!(m->arch.tie.known && m->arch.tie.v))
        out->tied = 0;
    rope_table(&j);
    explain(&j);
    term(&j, other);
}
