/* MC901-MC906: statements about the run, not about the model: what was not read, not found or not decided.
 *
 * They silence nothing but one another, and the content of what they name is unknown: neither absent nor wrong. */
#include "model/quant.h"
#include "rules/run.h"

#include <errno.h>
#include <string.h>

/* ---- MC901 ---- */

/* Why the parser of this file stopped at a limit: in the file's own error, or in that of its document or index. */
static const mc_err *limit_of(const mc_model *m, uint32_t file)
{
    if (m->files[file].parse.code == MC_E_LIMIT || m->files[file].parse.code == MC_E_NOMEM)
        return &m->files[file].parse;
    for (size_t i = 0; i < m->n_docs; i++)
        if (m->docs[i].file == file && (m->docs[i].err.code == MC_E_LIMIT || m->docs[i].err.code == MC_E_NOMEM))
            return &m->docs[i].err;
    for (size_t i = 0; i < m->n_indexes; i++)
        if (m->indexes[i].file == file && (m->indexes[i].err.code == MC_E_LIMIT || m->indexes[i].err.code == MC_E_NOMEM))
            return &m->indexes[i].err;
    return NULL;
}

static void limit_hit(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (m->limit) {
        mc_finding *out = mc_report(cx, MC_NONE, "%s: the model was not checked further", m->limit);
        if (m->limit_value)
            mc_because(cx, out, "limit", mc_origin_at(MC_NONE, ""), "%llu", (unsigned long long)m->limit_value);
    }
    for (uint32_t i = 0; i < m->n_files; i++) {
        if (!m->files[i].limit)
            continue;
        const mc_err *e = limit_of(m, i);
        mc_finding   *out = mc_report(cx, i, "%s: not checked further", e && e->what ? e->what : "a limit of this program was reached");
        if (e && e->at)
            mc_because(cx, out, "reached at", mc_origin_at(i, ""), "byte %llu", (unsigned long long)e->at);
    }
}

/* ---- MC902 ---- */

/* Roles whose content decides about the model. The rest is never opened, or does not matter. */
static bool matters(const mc_file *f)
{
    static const mc_role not_read[] = { MC_ROLE_OTHER, MC_ROLE_CODE, MC_ROLE_TRAINING, MC_ROLE_PARTIAL, MC_ROLE_CONTROL, MC_ROLE_SPECIAL_TOKENS, MC_ROLE_ADDED_TOKENS,
                                        MC_ROLE_PROCESSOR, MC_ROLE_TEMPLATE };
    for (size_t i = 0; i < MC_COUNT(not_read); i++)
        if (f->role == not_read[i])
            return false;
    return f->link != MC_LINK_DANGLING && f->link != MC_LINK_OUTSIDE; /* MC108, MC805 */
}

static void unreadable(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if ((f->os_error == 0 && !f->os_what) || !matters(f))
            continue;
        bool        told = f->os_error && f->os_error != ENXIO; /* ENXIO: no regular file; os_what says what it is */
        const char *what = f->os_what ? f->os_what : "cannot be read", *why = told ? strerror(f->os_error) : "";
        mc_report(cx, i, told ? "%s (%s): nothing is known about its content" : "%s%s: nothing is known about its content", what, why);
    }
}

/* ---- MC903, MC904, MC905: what a model is there ---- */

/* What the weight files of a unit are, as far as anybody looked. */
typedef struct {
    uint64_t tensors;           /* in headers that were read */
    size_t   empty;             /* sound headers without a tensor */
    bool     unknown;           /* some weight file could not be read or understood: nothing follows from its absence */
    bool     torch;
    unsigned closed;            /* containers that are recognised and not opened, one bit each */
} weights;

static mc_container container_of(const mc_file *f)
{
    static const struct { mc_bytes bytes; mc_container is; } proven[] = {
        { MC_BYTES_GGML, MC_FMT_GGML }, { MC_BYTES_ONNX, MC_FMT_ONNX }, { MC_BYTES_ORT, MC_FMT_ONNX }, { MC_BYTES_TFLITE, MC_FMT_TFLITE },
        { MC_BYTES_HDF5, MC_FMT_HDF5 }, { MC_BYTES_NPZ, MC_FMT_NPZ }, { MC_BYTES_NPY, MC_FMT_NPZ }, { MC_BYTES_CTRANSLATE2, MC_FMT_CTRANSLATE2 }, { MC_BYTES_RKNN, MC_FMT_OTHER },
    };
    for (size_t i = 0; i < MC_COUNT(proven); i++)
        if (f->bytes == proven[i].bytes)
            return proven[i].is;
    return f->promised;
}

/* Bytes that are no weights whatever the name says: other rules name the cause. */
static bool explained(const mc_file *f)
{
    static const mc_bytes causes[] = { MC_BYTES_LFS_POINTER, MC_BYTES_XET_POINTER, MC_BYTES_WEB_PAGE, MC_BYTES_ERROR_ANSWER, MC_BYTES_EMPTY };
    for (size_t i = 0; i < MC_COUNT(causes); i++)
        if (f->bytes == causes[i])
            return f->promised != MC_FMT_TORCH_DCP; /* ranks of a distributed checkpoint may be empty */
    return false;
}

static void weigh_file(weights *w, const mc_file *f)
{
    mc_container c = container_of(f);
    bool fault = (f->st && f->st->fault != MC_ST_SOUND) || (f->gguf && f->gguf->fault != MC_GGUF_SOUND);
    if (c == MC_FMT_SAFETENSORS || c == MC_FMT_GGUF) {
        if (!f->in_read_set && f->bytes != MC_BYTES_UNREAD)
            return;
        if (!f->st && !f->gguf)
            w->unknown = true;
        else if (fault || f->limit)
            w->unknown = true;
        w->tensors += f->n_tensors;
        w->empty += !fault && f->n_tensors == 0;
    } else if (explained(f) || f->os_error) {
        w->unknown |= f->os_error != 0 && f->link != MC_LINK_DANGLING;
    } else if (c == MC_FMT_TORCH) {
        w->torch = true;
    } else if (c != MC_FMT_NONE) {
        w->closed |= 1u << c;
    }
}

static weights weigh(const mc_model *m)
{
    weights w = { 0 };
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_WEIGHTS)
            weigh_file(&w, &m->files[i]);
    return w;
}

static bool nothing(const mc_model *m, const weights *w)
{
    if (m->unit == MC_UNIT_CACHE || m->unit == MC_UNIT_OLLAMA)
        return true;
    return w->tensors == 0 && !w->unknown && !w->torch && !w->closed;
}

static mc_str join(mc_arena *a, mc_str list, const char *item)
{
    return mc_format(a, "%.*s%s%s", MC_FMT(list), list.n ? ", " : "", item);
}

/* "a configuration, tokenizer files": what stands there instead of weights. */
static mc_str what_is_here(mc_check *cx, const weights *w)
{
    static const struct { mc_role role; const char *name; } roles[] = {
        { MC_ROLE_INDEX, "an index" }, { MC_ROLE_CONFIG, "a configuration" }, { MC_ROLE_TOKENIZER_JSON, "a tokenizer" }, { MC_ROLE_VOCAB, "a vocabulary" },
        { MC_ROLE_ADAPTER_CONFIG, "an adapter configuration" }, { MC_ROLE_PIPELINE, "a pipeline description" }, { MC_ROLE_TRAINING, "training state" }, { MC_ROLE_CODE, "code" },
    };
    const mc_model *m = cx->model;
    mc_str          list = MC_STR("");
    if (m->unit == MC_UNIT_CACHE)
        return MC_STR("a whole hub cache; give the path of one snapshot");
    if (m->unit == MC_UNIT_OLLAMA)
        return MC_STR("an Ollama store; its manifests are not read by this version");
    if (m->kind != MC_KIND_NONE && m->kind != MC_KIND_OTHER && w->tensors)
        list = join(cx->arena, list, mc_format(cx->arena, "kind %s", mc_kind_name(m->kind)).p);
    if (w->empty)
        list = join(cx->arena, list, w->empty == 1 ? "a weight file without tensors" : "weight files without tensors");
    for (size_t r = 0; r < MC_COUNT(roles); r++)
        for (size_t i = 0; i < m->n_files; i++)
            if (m->files[i].role == roles[r].role) {
                list = join(cx->arena, list, roles[r].name);
                break;
            }
    return list.n ? list : m->n_files ? MC_STR("no file that belongs to a model") : MC_STR("nothing");
}

static void no_weights(mc_check *cx)
{
    weights w = weigh(cx->model);
    if (nothing(cx->model, &w))
        mc_report(cx, MC_NONE, "no weights found (%.*s)", MC_FMT(what_is_here(cx, &w)));
}

static void weights_required(mc_check *cx)
{
    static const mc_kind beside[] = { MC_KIND_ADAPTER, MC_KIND_PROJECTOR, MC_KIND_VOCAB, MC_KIND_IMATRIX };
    const mc_model *m = cx->model;
    weights         w = weigh(m);
    bool            main = !nothing(m, &w);
    for (size_t i = 0; i < MC_COUNT(beside); i++)
        main = main && m->kind != beside[i];
    main = main || m->main_beside;
    if (cx->options->require_weights && !main)
        mc_report(cx, MC_NONE, "no main model (%.*s)", MC_FMT(what_is_here(cx, &w)));
}

/* ---- MC905 ---- */

static void undecided(mc_check *cx, mc_str what)
{
    mc_finding *out = mc_report(cx, MC_NONE, "not checked: %.*s", MC_FMT(what));
    if (out->count > 1) /* a further item joins the first */
        out->message = mc_format(cx->arena, "%.*s; %.*s", MC_FMT(out->message), MC_FMT(what));
}

/* Blocks of methods that nobody here knows, or whose layout is not decoded: only the tensors were looked at. */
static void unknown_methods(mc_check *cx)
{
    const mc_quant *q = cx->model->quant;
    for (size_t i = 0; q && i < q->n_claims; i++) {
        const mc_claim     *c = &q->claims[i];
        const mc_kb_method *m = mc_kb_quant_method(cx->kb, c->method);
        if (c->raw_method.known && !m)
            undecided(cx, mc_format(cx->arena, "the claims of quant_method \"%.*s\", which this version does not know (tensors only)", MC_FMT(mc_str_cut(c->raw_method.v, 0, 80))));
        else if (m && !m->decoded)
            undecided(cx, mc_format(cx->arena, "the tensors of %.*s, whose layout is not decoded", MC_FMT(m->name)));
    }
}

/* Limits of a target that need what was not said: "3 limits of vLLM 0.33.0 (no --gpu)". */
static void unjudged_limits(mc_check *cx)
{
    const mc_matrix *x = cx->options->matrix;
    for (size_t i = 0; x && x->asked && i < x->n; i++) {
        const mc_verdict_list *v = &x->v[i];
        for (size_t k = 0; k < v->n_not_checked; k++) {
            mc_str why = v->not_checked[k].because;
            size_t before = 0, n = 0;
            for (size_t j = 0; j < v->n_not_checked; j++) {
                before += j < k && mc_str_eq(v->not_checked[j].because, why);
                n += mc_str_eq(v->not_checked[j].because, why);
            }
            if (!before && mc_str_starts(why, "no --"))
                undecided(cx, mc_format(cx->arena, "%zu limit%s of %.*s (%.*s)", n, n == 1 ? "" : "s", MC_FMT(mc_matrix_name(cx->arena, v)), MC_FMT(why)));
        }
    }
}

static void not_checked(mc_check *cx)
{
    const mc_model *m = cx->model;
    weights         w = weigh(m);
    const mc_file  *f = m->alone && m->n_files ? &m->files[0] : NULL;
    if (f && f->shards > 1)
        undecided(cx, mc_format(cx->arena, "the other shards (number %llu of %llu was given alone)", (unsigned long long)f->shard, (unsigned long long)f->shards));
    unknown_methods(cx);
    unjudged_limits(cx);
    if (m->unit == MC_UNIT_CACHE || m->unit == MC_UNIT_OLLAMA || w.tensors)
        return;
    if (w.torch && m->format == MC_FMT_TORCH)
        undecided(cx, MC_STR("the tensors inside PyTorch files (pickles are not read)"));
    for (unsigned c = 0; c <= MC_FMT_OTHER; c++)
        if (w.closed & (1u << c))
            undecided(cx, mc_format(cx->arena, "%s weights (recognised, not inspected)", mc_container_name((mc_container)c)));
}

/* ---- the table ---- */

static const mc_rule rules[] = {
    { "MC901", "limit-hit", MC_WARNING, MC_CERTAIN, MC_MODE_DEFAULT, "A limit of this program was reached; part of the model was not checked",
      "The run is incomplete: what lies behind the limit was not looked at, so that silence about it means nothing.",
      "See which file is out of proportion; no published model comes near these limits", "A safetensors header above 100 MB: the format itself forbids it (MC301).", "", NULL, limit_hit },
    { "MC902", "unreadable", MC_WARNING, MC_CERTAIN, MC_MODE_DEFAULT, "A file could not be read, or changed while it was read",
      "Nothing is known about the content of the file, so the run is incomplete and its result says nothing about that part of the model.",
      "Correct the permissions, wait for the writer to finish, or copy the file again", "Files that are not there at all (MC106, MC108).", "", NULL, unreadable },
    { "MC903", "no-weights", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "Nothing here can be loaded as a model on its own",
      "There is no weight file, or only files without tensors. The path may be wrong or the download partial on purpose.",
      "Use --require-weights to make this an error", "Adapters, projectors and vocabularies; weights in a format that is recognised but not inspected; damaged or interrupted downloads, whose own finding is the cause.",
      "", NULL, no_weights },
    { "MC904", "weights-required", MC_ERROR, MC_CERTAIN, MC_MODE_OPTION, "--require-weights was given and no main model is present",
      "Whoever asked for a model that can be served gets none: only an adapter, a projector, a vocabulary, or nothing.",
      "Point to the directory that holds the weights, or download them", "The same directory without the option; weights in a format that is recognised but not inspected.", "", "m:MC903",
      weights_required },
    { "MC905", "not-checked", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "Some checks could not be made", "Silence about these parts does not mean that they are sound.",
      "Nothing to do; give the whole directory if you gave one shard", "Files that no loader of this model reads.", "", NULL, not_checked },
    { "MC906", "geometry-unknown", MC_INFO, MC_CERTAIN, MC_MODE_DEFAULT, "The model geometry is not understood; memory shows weights only",
      "The model_type is not in the tables of this version and the configuration has none of the usual keys for layers, heads and widths. "
      "The cache of keys and values, often gigabytes, is then not in the memory figure.",
      "Compare the cache with what the runtime prints, or look for a newer version of this program",
      "Lists by layer, nested text configurations and older key names, which are understood; a configuration that could not be read.", "", NULL,
      mc_rule_geometry_unknown },
};
const mc_family mc_family_run = { "run", rules, MC_COUNT(rules) };
