/* Documents that every loader parses (MC401, MC402, MC404), their absence (MC403), and the table of the family. What the
 * configuration says about heads and prediction layers is judged in heads.c. */
#include "rules/config.h"
#include "rules/levels.h"

/* Documents of copies (original/, metal/) are read by nobody and judged by nobody. */
static bool loaded(const mc_model *m, const mc_doc *d)
{
    uint32_t c = d->file < m->n_files ? m->files[d->file].component : MC_NONE;
    return c < m->n_components && m->components[c].kind != MC_COMP_COPY;
}

/* quantize_config.json counts only where nothing else describes the quantization. */
static bool only_quantization_source(const mc_model *m, const mc_doc *d)
{
    uint32_t        c = m->files[d->file].component;
    const mc_value *config = mc_model_root(m, c, MC_ROLE_CONFIG);
    return !mc_get(config, "quantization_config") && !mc_get(config, "quantization") && !mc_get(config, "compression_config")
        && !mc_model_doc(m, c, MC_ROLE_HF_QUANT_CONFIG);
}

/* ---- MC401 ---- */

static bool must_parse(const mc_model *m, const mc_doc *d)
{
    static const mc_role roles[] = {
        MC_ROLE_CONFIG, MC_ROLE_TOKENIZER_JSON, MC_ROLE_TOKENIZER_CONFIG, MC_ROLE_ADAPTER_CONFIG, MC_ROLE_HF_QUANT_CONFIG,
    };
    for (size_t i = 0; i < MC_COUNT(roles); i++)
        if (d->role == roles[i])
            return true;
    return d->role == MC_ROLE_QUANTIZE_CONFIG && only_quantization_source(m, d);
}

/* Nothing is known about a file that could not be read or met one of our limits (MC901, MC902). */
static bool content_known(const mc_model *m, const mc_doc *d)
{
    const mc_file *f = &m->files[d->file];
    return f->os_error == 0 && !f->limit && d->err.code != MC_E_LIMIT && d->err.code != MC_E_IO && d->err.code != MC_E_NOMEM && d->err.code != MC_MORE;
}

static void json_invalid(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc *d = &m->docs[i];
        if (!loaded(m, d) || !must_parse(m, d) || !content_known(m, d))
            continue;
        mc_str      path = mc_file_path(m, d->file);
        bool        invalid = d->err.code != MC_OK;
        mc_finding *f;
        if (!invalid && (!d->root || d->root->type == MC_OBJECT))
            continue;
        if (invalid && d->hint && !mc_str_is(mc_str_of(d->hint), d->err.what ? d->err.what : ""))
            f = mc_report(cx, d->file, "%.*s:%u:%u: %s (%s): loaders stop with \"not a valid JSON file\"", MC_FMT(path), d->line, d->col, d->err.what, d->hint);
        else if (invalid)
            f = mc_report(cx, d->file, "%.*s:%u:%u: %s: loaders stop with \"not a valid JSON file\"", MC_FMT(path), d->line, d->col, d->err.what);
        else
            f = mc_report(cx, d->file, "%.*s: the top level is no object: loaders expect {...}", MC_FMT(path));
        if (invalid)
            mc_because(cx, f, "offset", mc_origin_at(d->file, ""), "byte %llu", (unsigned long long)d->err.at);
        if (d->hint)
            mc_fix(cx, f, "correct line %u (%s), or take the file from the source repository again", d->line, d->hint);
    }
}

/* ---- MC402 ---- */

static void json_nonstandard(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc *d = &m->docs[i];
        if ((d->role != MC_ROLE_CONFIG && d->role != MC_ROLE_GENERATION && d->role != MC_ROLE_TOKENIZER_CONFIG) || !loaded(m, d))
            continue;
        if (d->literal_line == 0 || d->err.code != MC_OK)
            continue;
        mc_finding *f = mc_report(cx, d->file, "%.*s:%u: bare %.*s: Python reads it, strict JSON parsers refuse the file",
                                  MC_FMT(mc_file_path(m, d->file)), d->literal_line, MC_FMT(d->literal));
        mc_subject(f, d->literal);
    }
}

/* ---- MC403 ---- */

static bool attention_projection(mc_str name)
{
    static const char *const words[] = { ".q_proj.", ".qkv_proj.", ".query_key_value.", ".c_attn.", ".Wqkv.", ".wq.", ".wqkv.", ".attn.qkv.", ".in_proj.", NULL };
    return mc_str_contains_any(name, words);
}

/* "(^|.)(layers|h|blocks).<number>." */
static bool layer_name(mc_str name, uint64_t *layer)
{
    static const char *const words[] = { "layers", "h", "blocks" };
    for (size_t start = 0; start < name.n;) {
        mc_str rest = mc_str_cut(name, start, name.n), part = mc_str_cut(rest, 0, mc_str_find(rest, '.'));
        mc_str behind = mc_str_cut(rest, part.n + 1, rest.n), digits = mc_str_cut(behind, 0, mc_str_find(behind, '.'));
        for (size_t i = 0; i < MC_COUNT(words); i++)
            if (mc_str_is(part, words[i]) && digits.n < behind.n && mc_str_u64(digits, layer))
                return true;
        start += part.n + 1;
    }
    return false;
}

/* Is there a file that tells the architecture, or whose content we could not see? */
static bool has_configuration(const mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component != 0)
            continue;
        if (f->role == MC_ROLE_CONFIG || f->role == MC_ROLE_PARAMS || f->role == MC_ROLE_PIPELINE || f->role == MC_ROLE_MODULES || f->role == MC_ROLE_ADAPTER_CONFIG)
            return true;
        if (f->role == MC_ROLE_WEIGHTS && (f->promised == MC_FMT_GGUF || f->promised == MC_FMT_GGML || f->bytes == MC_BYTES_GGUF || f->bytes == MC_BYTES_GGML))
            return true;
    }
    return false;
}

/* model.safetensors, model-*-of-*, pytorch_model*, or a set with an index. */
static bool loader_names(const mc_model *m, const mc_set *s)
{
    if (s->index != MC_NONE || mc_str_starts(s->stem, "pytorch_model"))
        return true;
    if (!mc_str_is(s->stem, "model") || s->n_files == 0)
        return false;
    const mc_file *f = &m->files[s->files[0]];
    return f->shards > 0 || !f->numbered;
}

static void config_missing(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (m->unit != MC_UNIT_DIR || m->alone || m->n_components == 0 || m->components[0].set >= m->n_sets || has_configuration(m))
        return;
    const mc_set       *s = &m->sets[m->components[0].set];
    const mc_inventory *inv = &m->components[0].inv;
    uint64_t            layer, last = 0;
    mc_str              first = MC_STR("");
    uint32_t            file = MC_NONE;
    bool                text = false;
    if (!loader_names(m, s))
        return;
    for (size_t i = 0; i < inv->names.n; i++) {
        mc_str name = inv->names.keys[i];
        text |= mc_name_is_embedding(name) || attention_projection(name);
        if (!layer_name(name, &layer))
            continue;
        if (first.n == 0) {
            first = name;
            file = inv->first[i]->file;
        }
        if (layer > last)
            last = layer;
    }
    if (!text || first.n == 0 || last >= INT64_MAX)
        return;
    mc_finding *f = mc_report(cx, MC_NONE, "weights of a %llu-layer transformer but no config.json: no loader can tell the architecture", (unsigned long long)last + 1);
    mc_because(cx, f, "tensor", mc_origin_at(file, ""), "%.*s", MC_FMT(first));
}

/* ---- MC404 ---- */

static void dtype_spelling(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc   *d = &m->docs[i];
        const mc_field *f;
        if (d->role != MC_ROLE_CONFIG || !loaded(m, d))
            continue;
        for (mc_levels l = mc_levels_of(d->root); (f = mc_levels_next(&l));) {
            if (mc_str_contains_nocase(f->key, "quantization") || mc_str_is(f->key, "compression_config")) {
                mc_levels_leave(&l);
                continue;
            }
            mc_str v = mc_as_str(f->value);
            if ((!mc_str_is(f->key, "torch_dtype") && !mc_str_is(f->key, "dtype")) || !mc_str_starts(v, "torch."))
                continue;
            mc_str      at = mc_levels_pointer(&l, cx->arena), name = mc_str_cut(v, 6, v.n);
            mc_finding *r = mc_report(cx, d->file, "%.*s is \"%.*s\": Transformers stops, since torch has no attribute of that name", MC_FMT(at), MC_FMT(v));
            mc_subject(r, at);
            mc_because(cx, r, "stated", mc_from_doc(d, at), "%.*s", MC_FMT(v));
            mc_fix(cx, r, "write \"%.*s\"", MC_FMT(name));
        }
    }
}

/* ---- the family ---- */

static const mc_rule rules[] = {
    { .code = "MC401", .slug = "json-invalid", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A JSON file every loader parses is not valid JSON",
      .why = "config.json, tokenizer and quantization files are parsed before any weight is read. One stray comma or byte stops every loader, "
             "usually with a message that does not say where.",
      .fix = "correct the place named, or take the file from the source repository again",
      .silent = "NaN and Infinity (MC402), repeated keys, a damaged generation_config.json (loaders go on without it), params.json of other tools, "
                "and a file whose content could not be read (MC901)",
      .source = "https://www.rfc-editor.org/rfc/rfc8259",
      .suppresses = "c:MC403 c:MC410-MC417 c:MC430-MC439 c:MC455-MC458 c:MC480-MC482 c:MC502-MC508", .check = json_invalid },
    { .code = "MC402", .slug = "json-nonstandard", .severity = MC_INFO, .certainty = MC_CERTAIN,
      .summary = "A JSON file uses literals that only Python accepts",
      .why = "Python writes and reads bare NaN and Infinity, which JSON does not have. Loaders written in Rust, C++ or JavaScript refuse the file.",
      .fix = "nothing for Python; for other readers replace the literal by null or a large number",
      .silent = "the same words as text in quotes, and JSON files that no loader parses", .source = "https://docs.python.org/3/library/json.html#infinite-and-nan-number-values", .check = json_nonstandard },
    { .code = "MC403", .slug = "config-missing", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "Transformer weights without any configuration",
      .why = "The weights carry the names that loaders look for, but nothing says which architecture they belong to: every loader stops before the first tensor.",
      .fix = "copy config.json and the tokenizer files from the source repository",
      .silent = "single-file checkpoints under other names (ComfyUI), files given one by one, consolidated weights with params.json, components of a "
                "pipeline, GGUF and older ggml files, a config.json that is there but could not be read",
      .source = "https://huggingface.co/docs/transformers/main_classes/configuration", .suppresses = "m:MC410 m:MC503 m:MC505", .check = config_missing },
    { .code = "MC404", .slug = "dtype-spelling", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "The dtype in config.json is spelled as no loader of PyTorch models takes it",
      .why = "Loaders look the word up as an attribute of the torch module. \"torch.bfloat16\" is the way Python prints the value, and there is no attribute of that name.",
      .fix = "write the name without the prefix \"torch.\"",
      .silent = "names without the prefix, auto, null or no dtype at all, and dtypes inside quantization blocks",
      .source = "https://github.com/huggingface/transformers/blob/main/src/transformers/configuration_utils.py", .check = dtype_spelling },
    { .code = "MC455", .slug = "head-missing", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "No output head is stored and the configuration says it is not tied",
      .why = "The matrix that turns the last hidden state into token scores is in no file, and the configuration forbids to take the embedding for it: "
             "loaders start it from random values and the model talks nonsense.",
      .fix = "restore lm_head.weight, or set tie_word_embeddings to true if the model ties it",
      .silent = "a tie stated at any level or left to the class default, encoders, reward, embedding and draft models, a head under another prefix, "
                "packed heads, adapters, sets with missing files",
      .source = "https://github.com/huggingface/transformers/blob/main/src/transformers/modeling_utils.py", .check = mc_check_head_missing },
    { .code = "MC456", .slug = "tied-head-stored", .severity = MC_INFO, .certainty = MC_CERTAIN,
      .summary = "A tied output head is stored a second time",
      .why = "The configuration ties head and embedding, and both are stored: the copy costs disk and download, and loaders that tie use one of them.",
      .fix = "nothing has to be done; saving the model again with a current library drops the copy",
      .silent = "quantized copies of the head, which are used as they are (EXL3, MLX)",
      .source = "https://github.com/vllm-project/vllm/pull/51665", .check = mc_check_head_repeated },
    { .code = "MC457", .slug = "tied-head-differs", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "The configuration ties the head, but another head is stored",
      .why = "Loaders that obey tie_word_embeddings drop the stored head and use the embedding in its place. If the head was trained on its own, the answers are wrong.",
      .fix = "set tie_word_embeddings to false",
      .silent = "a difference of dtype only, quantized copies of the head, no tie stated, bytes that could not be read, heads of prediction or draft layers",
      .source = "https://github.com/vllm-project/vllm/pull/51665", .suppresses = "m:MC456", .check = mc_check_head_differs },
    { .code = "MC458", .slug = "mtp-absent", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "The configuration announces multi-token prediction layers that are not stored",
      .why = "Exports and pruners often drop the extra layers and leave the key that announces them. Engines then fail when speculative decoding is switched on, or run without it.",
      .fix = "set the key to 0, or restore the layer from the source repository",
      .silent = "0 or null, num_mtp_modules (a training setting), MLX, EXL2, EXL3 and GGUF (their runtimes drop these layers), layers in a file of their "
                "own, an index that names them (another rule speaks), sets with missing files",
      .source = "https://github.com/NVIDIA/Model-Optimizer/pull/2427", .check = mc_check_mtp_absent },
};
const mc_family mc_family_config = { "config", rules, MC_COUNT(rules) };
