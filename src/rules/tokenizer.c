/* Token ids against the rows of the embedding (MC480, MC481), and the end of generation (MC482). */
#include "rules/levels.h"

/* ---- the embedding of a component ---- */

/* `rows`: of the largest table, whose parts (Molmo's new_embedding, Idefics' additional_embedding) are added up.
 * `all`: of every embedding table, since image and sound tokens may have one of their own. `other`: of the largest table
 * whose name is none that we know. */
typedef struct { bool known; uint64_t rows, all, other; mc_str name; uint32_t file; } table;

enum { MAX_TABLES = 16 };

/* The module that a table belongs to, "" if the tensor is no part of an input embedding. */
static mc_str table_of(mc_str name, bool *part)
{
    mc_str module = mc_name_module(name), parent = mc_name_module(module);
    *part = mc_str_ends(module, ".additional_embedding") || !mc_str_ends(name, ".weight");
    if (mc_str_ends(module, ".additional_embedding"))
        return mc_name_is_embedding(module) ? parent : MC_STR("");
    return mc_name_is_embedding(name) ? module : MC_STR("");
}

/* Perhaps a table too, under a name of its own: text_embedding, codec_embed. Ids below its rows are not judged. */
static bool other_table(const mc_tensor *t)
{
    static const char *const no[] = { "pos", "patch", "type", "time", "class", "label", NULL };
    mc_str last = mc_str_last(mc_name_module(t->name));
    return t->rank == 2 && mc_str_contains(last, "emb") && !mc_str_contains_any(last, no);
}

/* Adds a tensor to the table of its module; false when there are more tables than anyone has. */
static bool add_rows(table *v, size_t *n, mc_str module, const mc_tensor *t)
{
    size_t i = 0;
    while (i < *n && !mc_str_eq(v[i].name, module))
        i++;
    if (i == MAX_TABLES)
        return false;
    if (i == *n)
        v[(*n)++] = (table){ .name = module, .file = t->file };
    return !ckd_add(&v[i].rows, v[i].rows, t->dims[0]);
}

typedef struct { table v[MAX_TABLES]; size_t n; uint64_t other; } tables;

/* One tensor of a form that may embed; false when the rows cannot be told. */
static bool see_table(const mc_check *cx, const mc_inventory *inv, const mc_tensor *t, tables *out)
{
    bool   part;
    mc_str module = table_of(t->name, &part);
    if (module.n == 0 || mc_name_is_buffer(t->name)) {
        if (other_table(t) && t->dims[0] > out->other)
            out->other = t->dims[0];
        return true;
    }
    if (!mc_names_tower(module) && !mc_dtype_is_plain(mc_kb_dtype(cx->kb, t->dtype)))
        return false; /* packed: its rows are not what is stored */
    return t->rank != 2 || (!(part && !inv->complete) && add_rows(out->v, &out->n, module, t));
}

static bool find_tables(const mc_check *cx, const mc_inventory *inv, tables *out)
{
    for (uint32_t k = 0; k < inv->form_names.n; k++) {
        const mc_form *f = &inv->forms[k];
        if (!(f->tags & MC_TAG_EMBEDDING) && !mc_str_contains(f->first->name, "emb"))
            continue;
        if (f->n == 1 && !see_table(cx, inv, f->first, out))
            return false;
        for (size_t i = 0; f->n > 1 && i < inv->names.n; i++)
            if (inv->first[i]->form == k && !see_table(cx, inv, inv->first[i], out))
                return false;
    }
    return true;
}

static table embedding_rows(const mc_check *cx, uint32_t component)
{
    tables   found = { 0 };
    table    none = { 0 }, best = { 0 };
    uint64_t all = 0;
    if (!find_tables(cx, &cx->model->components[component].inv, &found))
        return none;
    for (size_t i = 0; i < found.n; i++) {
        if (ckd_add(&all, all, found.v[i].rows))
            return none;
        if (!mc_names_tower(found.v[i].name) && found.v[i].rows > best.rows)
            best = found.v[i];
    }
    best.known = best.rows > 0;
    best.all = all > found.other ? all : found.other;
    best.other = found.other;
    return best;
}

/* ---- MC480 ---- */

static bool is_token_key(mc_str key)
{
    return mc_str_ends(key, "_token_id") || mc_str_ends(key, "_token_index");
}

/* Keys of the text itself; all others may be placeholders of images or sound, with a table of their own. */
static bool is_text_key(mc_str key)
{
    static const char *const words[] = { "bos_", "eos_", "pad_", "decoder_start_", "unk_", "sep_", "cls_", "mask_", NULL };
    return mc_str_starts_any(key, words);
}

/* The smallest vocab_offset of the configuration: ids from there on belong to tables of other modalities. */
static int64_t vocab_offset(const mc_value *config)
{
    int64_t         least = INT64_MAX, v;
    const mc_field *f;
    for (mc_levels l = mc_levels_of(config); (f = mc_levels_next(&l));)
        if (mc_str_is(f->key, "vocab_offset") && mc_as_int(f->value, &v) && v > 0 && v < least)
            least = v;
    return least;
}

typedef struct { mc_check *cx; const table *t; int64_t offset; mc_str roles[14]; size_t n_roles; } ids;

static bool outside(const ids *k, int64_t id, bool text)
{
    if (id < 0 || (uint64_t)id < k->t->rows)
        return false;
    return (uint64_t)id >= (text ? k->t->other : k->t->all) && (text || id < k->offset);
}

static void report_id(const ids *k, uint32_t file, mc_str what, mc_str where, int64_t id)
{
    mc_check   *cx = k->cx;
    mc_finding *f = mc_report(cx, file, "%.*s: %.*s = %lld, but the embedding has %llu rows (0..%llu): index out of range at run time",
                              MC_FMT(mc_file_path(cx->model, file)), MC_FMT(what), (long long)id, (unsigned long long)k->t->rows,
                              (unsigned long long)k->t->rows - 1);
    mc_subject(f, what);
    mc_because(cx, f, "id", (mc_origin){ file, where }, "%lld", (long long)id);
    if (f->n_evidence == 1)
        mc_because(cx, f, "embedding", mc_origin_at(k->t->file, ""), "%.*s, %llu rows", MC_FMT(k->t->name), (unsigned long long)k->t->rows);
}

static void ids_of_object(const ids *k, const mc_doc *d, const char *prefix)
{
    const mc_value *o = d ? mc_at(d->root, prefix) : NULL;
    for (size_t i = 0; mc_is(o, MC_OBJECT) && i < o->n; i++) {
        const mc_field *f = &o->u.fields[i];
        int64_t         id;
        if (!is_token_key(f->key))
            continue;
        mc_str where = mc_format(k->cx->arena, "%s/%.*s", prefix, MC_FMT(f->key));
        if (mc_as_int(f->value, &id) && outside(k, id, is_text_key(f->key)))
            report_id(k, d->file, f->key, where, id);
        for (size_t e = 0; mc_is(f->value, MC_ARRAY) && e < f->value->n; e++)
            if (mc_as_int(mc_item(f->value, e), &id) && outside(k, id, is_text_key(f->key)))
                report_id(k, d->file, f->key, where, id);
    }
}

/* Texts of the seven roles that the tokenizer's files name ("eos_token": "</s>"). */
static void read_roles(ids *k)
{
    static const char *const keys[] = { "bos_token", "eos_token", "unk_token", "sep_token", "pad_token", "cls_token", "mask_token" };
    static const mc_role     files[] = { MC_ROLE_TOKENIZER_CONFIG, MC_ROLE_SPECIAL_TOKENS };
    for (size_t r = 0; r < MC_COUNT(files); r++)
        for (size_t i = 0; i < MC_COUNT(keys); i++) {
            const mc_value *v = mc_get(mc_model_root(k->cx->model, 0, files[r]), keys[i]);
            mc_str          text = mc_as_str(mc_is(v, MC_OBJECT) ? mc_get(v, "content") : v);
            if (text.n)
                k->roles[k->n_roles++] = text;
        }
}

static bool has_role(const ids *k, mc_str text)
{
    for (size_t i = 0; i < k->n_roles; i++)
        if (mc_str_eq(k->roles[i], text))
            return true;
    return false;
}

static mc_role role_of(const mc_model *m, uint32_t file)
{
    return file < m->n_files ? m->files[file].role : MC_ROLE_OTHER;
}

/* added_tokens_decoder repeats what tokenizer.json says: it is asked for the ids of roles only. */
static bool is_special(const ids *k, const mc_token *t)
{
    return (t->special && role_of(k->cx->model, t->file) != MC_ROLE_TOKENIZER_CONFIG) || has_role(k, t->text);
}

static void token_id_range(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t c = 0; m->unit != MC_UNIT_GGUF && c < m->n_components; c++) {
        const mc_doc *config = mc_model_doc(m, c, MC_ROLE_CONFIG);
        table         t = m->components[c].kind == MC_COMP_COPY ? (table){ 0 } : embedding_rows(cx, c);
        ids           k = { .cx = cx, .t = &t, .offset = vocab_offset(config ? config->root : NULL) };
        if (!t.known)
            continue;
        ids_of_object(&k, config, "");
        ids_of_object(&k, config, "/text_config");
        ids_of_object(&k, mc_model_doc(m, c, MC_ROLE_GENERATION), "");
        if (c != 0)
            continue;
        read_roles(&k);
        for (size_t i = 0; i < m->tokens.n_added; i++) {
            const mc_token *a = &m->tokens.added[i];
            if (outside(&k, a->id, false) && is_special(&k, a))
                report_id(&k, a->file, a->text, MC_STR(""), a->id);
        }
    }
}

/* ---- MC481 ---- */

static void added_token_range(mc_check *cx)
{
    const mc_model *m = cx->model;
    table           t = m->unit == MC_UNIT_GGUF || m->n_components == 0 ? (table){ 0 } : embedding_rows(cx, 0);
    ids             k = { .cx = cx, .t = &t, .offset = vocab_offset(mc_model_config(m)) };
    read_roles(&k);
    for (size_t i = 0; t.known && i < m->tokens.n_added; i++) {
        const mc_token *a = &m->tokens.added[i];
        if (role_of(m, a->file) == MC_ROLE_TOKENIZER_CONFIG || !outside(&k, a->id, false) || is_special(&k, a))
            continue;
        mc_finding *f = mc_report(cx, a->file, "added tokens from id %lld on exceed the %llu embedding rows: converters stop with a vocabulary mismatch, and using them crashes",
                                  (long long)a->id, (unsigned long long)t.rows);
        mc_subject(f, a->text);
        if (f->n_evidence == 0)
            mc_because(cx, f, "embedding", mc_origin_at(t.file, ""), "%.*s, %llu rows", MC_FMT(t.name), (unsigned long long)t.rows);
        mc_because(cx, f, "id", mc_origin_at(a->file, ""), "%lld", (long long)a->id);
    }
}

/* ---- MC482 ---- */

/* What generation stops at: a number, a list, or null where generation_config.json says so. NULL: nothing is stated. */
static const mc_value *stop_ids(const mc_model *m, const mc_doc **from, mc_str *where)
{
    const mc_doc   *gen = mc_model_doc(m, 0, MC_ROLE_GENERATION), *config = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    const mc_value *v = gen ? mc_get(gen->root, "eos_token_id") : NULL;
    *from = gen;
    *where = MC_STR("/eos_token_id");
    if (v)
        return v;
    *from = config;
    v = config ? mc_get(config->root, "eos_token_id") : NULL;
    if (v && v->type != MC_NULL)
        return v;
    *where = MC_STR("/text_config/eos_token_id");
    return config ? mc_at(config->root, "/text_config/eos_token_id") : NULL;
}

/* Ids of a model that is never asked to generate (CLIP, encoders, sentence embeddings) are leftovers of its base class. */
static bool generates(const mc_model *m)
{
    static const char *const ends[] = { "ForCausalLM", "ForConditionalGeneration", "LMHeadModel", NULL };
    const mc_value *a = mc_get(mc_model_config(m), "architectures"), *v;
    if (m->kind == MC_KIND_SENTENCE || mc_model_doc(m, 0, MC_ROLE_MODULES))
        return false;
    if (mc_model_doc(m, 0, MC_ROLE_GENERATION) || !mc_is(a, MC_ARRAY))
        return true;
    for (size_t i = 0; (v = mc_item(a, i)); i++)
        if (mc_str_ends_any(mc_as_str(v), ends))
            return true;
    return false;
}

static mc_str list_text(mc_check *cx, const mc_value *v)
{
    mc_str s = MC_STR("");
    for (size_t i = 0; v->type == MC_ARRAY && i < v->n && i < 8; i++)
        s = mc_format(cx->arena, "%.*s%s%.*s", MC_FMT(s), i ? ", " : "", MC_FMT(v->u.items[i].s));
    return v->type == MC_ARRAY ? mc_format(cx->arena, "[%.*s%s]", MC_FMT(s), v->n > 8 ? ", ..." : "") : v->s;
}

static void eos_disagree(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_tokens *t = &m->tokens;
    const mc_doc   *d;
    mc_str          where;
    const mc_value *v = stop_ids(m, &d, &where);
    int64_t         id;
    bool            any = false;
    if (m->unit == MC_UNIT_GGUF || !v || !t->eos.known || !t->eos_id.known || !generates(m))
        return;
    size_t n = v->type == MC_ARRAY ? v->n : 1;
    for (size_t i = 0; i < n; i++) {
        if (!mc_as_int(v->type == MC_ARRAY ? mc_item(v, i) : v, &id) || id < 0)
            continue;
        if (id == t->eos_id.v)
            return;
        any = true;
    }
    if (!any)
        return;
    mc_str      stops = list_text(cx, v);
    mc_finding *f = mc_report(cx, d->file, "eos_token_id is %.*s, the tokenizer ends with %lld (%.*s): generation may run to the length limit",
                              MC_FMT(stops), (long long)t->eos_id.v, MC_FMT(t->eos.v));
    mc_because(cx, f, "stops at", mc_from_doc(d, where), "%.*s", MC_FMT(stops));
    mc_because(cx, f, "text", t->eos.from, "%.*s", MC_FMT(t->eos.v));
    mc_because(cx, f, "its id", t->eos_id.from, "%lld", (long long)t->eos_id.v);
}

/* ---- the family ---- */

static const mc_rule rules[] = {
    { .code = "MC480", .slug = "token-id-range", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A token id in use lies outside the embedding table",
      .why = "Every token is a row of the embedding. An id behind the last row is an index error as soon as the token occurs, on a GPU often without a message that names it.",
      .fix = "resize the embedding, or correct the id",
      .silent = "negative ids and null, ids below the rows but above vocab_size, placeholders of images or sound with a table of their own, ordinary added "
                "tokens (MC481), a packed or missing embedding",
      .source = "", .suppresses = "m:MC481", .check = token_id_range },
    { .code = "MC481", .slug = "added-token-range", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "Added tokens have ids beyond the embedding table",
      .why = "The tokenizer was extended and the model was not: converters refuse the mismatch, and a prompt with one of these tokens crashes.",
      .fix = "resize the embedding, or drop the tokens",
      .silent = "a tokenizer smaller than the embedding (rows are padded to 64, 128 or 256), special tokens (MC480), a missing embedding",
      .source = "https://github.com/ggml-org/llama.cpp/pull/3633", .check = added_token_range },
    { .code = "MC482", .slug = "eos-disagree", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "Generation and tokenizer stop at different tokens",
      .why = "Chat templates end a turn with the tokenizer's end token. If generation waits for another one, answers run on to the length limit.",
      .fix = "put both ids into eos_token_id of generation_config.json",
      .silent = "a list that contains the tokenizer's id, null or nothing on one side",
      .source = "https://github.com/Blaizzy/mlx-vlm/pull/2112", .check = eos_disagree },
};
const mc_family mc_family_tokenizer = { "tokenizer", rules, MC_COUNT(rules) };
