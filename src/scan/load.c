/* Opening what matters: first bytes, documents, indexes, headers. Each file is opened once for its first bytes and, if
 * it holds weights that are read, once for its header; nothing else is read. */
#include "formats/formats.h"
#include "scan/internal.h"

#include <errno.h>

/* ---- reading ---- */

static bool readable(const mc_file *f)
{
    return f->link != MC_LINK_DANGLING && f->link != MC_LINK_OUTSIDE && f->os_error == 0;
}

static mc_input open_file(mc_builder *b, mc_file *f)
{
    mc_arena *a = b->m->arena;
    mc_str    dir = b->plan->dir;
    mc_str    path = dir.n ? mc_format(a, "%.*s%.*s", (int)dir.n, dir.p, (int)f->path.n, f->path.p) : f->path;
    mc_input  in = mc_open(b->list->root, path);
    if (in.fd >= 0)
        f->size = in.size;
    return in;
}

/* Takes over what went wrong, and closes. */
static void finish(mc_builder *b, mc_file *f, mc_input *in)
{
    if (in->os_error == ENOMEM) {
        f->limit = true;
        f->parse = (mc_err){ MC_E_NOMEM, 0, "memory budget exhausted" };
    } else if (in->os_error) {
        f->os_error = in->os_error;
        f->os_what = in->os_what;
    } else if (in->fd >= 0 && mc_changed(in)) {
        f->os_error = EIO;
        f->os_what = "changed while it was read";
    }
    mc_close(in);
    b->m->bytes_read += f->head.n > MC_HEAD_BYTES ? 0 : f->head.n;
}

/* Grows the prefix to `want` bytes, counting what was read. */
static bool prefix(mc_builder *b, mc_input *in, mc_span *have, uint64_t want)
{
    size_t before = have->n;
    if (!mc_read_prefix(in, have, want, b->m->arena))
        return false;
    b->m->bytes_read += have->n - before;
    return true;
}

static void hit_limit(mc_file *f, uint64_t at, const char *what)
{
    f->limit = true;
    f->parse = (mc_err){ MC_E_LIMIT, at, what };
}

/* ---- documents ---- */

static bool is_document(mc_role r)
{
    static const bool yes[MC_N_ROLES] = {
        [MC_ROLE_CONFIG] = true, [MC_ROLE_GENERATION] = true, [MC_ROLE_TOKENIZER_CONFIG] = true, [MC_ROLE_SPECIAL_TOKENS] = true,
        [MC_ROLE_ADDED_TOKENS] = true, [MC_ROLE_PROCESSOR] = true, [MC_ROLE_ADAPTER_CONFIG] = true, [MC_ROLE_QUANTIZE_CONFIG] = true,
        [MC_ROLE_HF_QUANT_CONFIG] = true, [MC_ROLE_PARAMS] = true, [MC_ROLE_PIPELINE] = true, [MC_ROLE_MODULES] = true,
    };
    return yes[r];
}

static mc_doc *new_doc(mc_model *m, uint32_t id)
{
    mc_file *f = &m->files[id];
    mc_doc  *v = mc_grow(m->arena, m->docs, m->n_docs, &m->cap_docs, sizeof *v);
    if (!v)
        return NULL;
    m->docs = v;
    v[m->n_docs] = (mc_doc){ .file = id, .role = f->role, .literal = MC_STR("") };
    uint32_t *slot = &m->components[f->component].docs[f->role];
    if (*slot == MC_NONE)
        *slot = (uint32_t)m->n_docs;
    return &v[m->n_docs++];
}

static void load_document(mc_builder *b, uint32_t id, mc_span text)
{
    mc_file *f = &b->m->files[id];
    mc_doc  *d = new_doc(b->m, id);
    if (!d)
        return;
    mc_parse_document(text, b->m->arena, d);
    if (d->err.code == MC_E_LIMIT || d->err.code == MC_E_NOMEM)
        hit_limit(f, d->err.at, d->err.what);
}

static void load_index(mc_builder *b, uint32_t id, mc_span text)
{
    mc_model *m = b->m;
    mc_index *v = mc_grow(m->arena, m->indexes, m->n_indexes, &m->cap_indexes, sizeof *v);
    if (!v)
        return;
    m->indexes = v;
    mc_index *x = &v[m->n_indexes++];
    *x = (mc_index){ .file = id, .component = m->files[id].component, .conflict = MC_STR(""), .bad_value_key = MC_STR("") };
    mc_parse_index(text, m->arena, x);
    m->files[id].parse = x->err;
    if (x->err.code == MC_E_LIMIT || x->err.code == MC_E_NOMEM)
        hit_limit(&m->files[id], x->err.at, x->err.what);
}

/* Names that are no document, or that hold something else than their name says: pointers, pages, nothing. */
static bool explained(const mc_file *f)
{
    return f->bytes == MC_BYTES_EMPTY || f->bytes == MC_BYTES_LFS_POINTER || f->bytes == MC_BYTES_XET_POINTER || f->bytes == MC_BYTES_WEB_PAGE
        || f->bytes == MC_BYTES_ERROR_ANSWER;
}

/* ---- first bytes ---- */

/* Roles whose first bytes decide something. */
static bool wants_head(const mc_builder *b, const mc_file *f)
{
    if (b->m->components[f->component].kind == MC_COMP_COPY && f->role != MC_ROLE_WEIGHTS)
        return false;
    return b->plan->unit == MC_UNIT_FILE || f->role == MC_ROLE_WEIGHTS || f->role == MC_ROLE_INDEX || f->role == MC_ROLE_VOCAB || f->role == MC_ROLE_TOKENIZER_JSON || f->role == MC_ROLE_TEMPLATE
        || f->role == MC_ROLE_BYTE_PART || is_document(f->role);
}

static bool whole(const mc_file *f)
{
    return f->role == MC_ROLE_INDEX || f->role == MC_ROLE_TEMPLATE || is_document(f->role);
}

static void load_first(mc_builder *b, uint32_t id)
{
    mc_file *f = &b->m->files[id];
    mc_span  text = { 0 };
    if (!wants_head(b, f) || !readable(f))
        return;
    mc_input in = open_file(b, f);
    if (in.fd >= 0) {
        bool all = whole(f) && in.size <= MC_MAX_DOCUMENT;
        if (whole(f) && !all)
            hit_limit(f, in.size, "document above 256 MiB");
        if (prefix(b, &in, &text, all ? in.size : MC_HEAD_BYTES)) {
            f->head = (mc_span){ text.p, text.n < MC_HEAD_BYTES ? text.n : MC_HEAD_BYTES };
            mc_recognise(f);
            if (f->role == MC_ROLE_OTHER && mc_bytes_container(f->bytes) != MC_FMT_NONE) { /* given alone, under a name that says nothing */
                f->role = MC_ROLE_WEIGHTS;
                f->promised = mc_bytes_container(f->bytes);
            }
        }
    }
    finish(b, f, &in);
    if (f->os_error || f->limit || explained(f))
        return;
    if (f->role == MC_ROLE_INDEX)
        load_index(b, id, text);
    else if (is_document(f->role))
        load_document(b, id, text);
    else if (f->role == MC_ROLE_TEMPLATE)
        f->text = (mc_str){ (const char *)text.p, text.n };
}

/* ---- components of a pipeline ---- */

static void mark_part(mc_model *m, mc_str name, mc_str library, mc_str cls)
{
    for (uint32_t c = 1; c < m->n_components; c++) {
        mc_component *k = &m->components[c];
        if (k->dir.n == name.n + 1 && mc_str_eq(mc_str_cut(k->dir, 0, name.n), name)) {
            k->kind = MC_COMP_PART;
            k->library = library;
            k->cls = cls;
        }
    }
}

static mc_str text_of(const mc_value *v)
{
    return mc_is(v, MC_STRING) ? v->s : MC_STR("");
}

static void mark_parts(mc_model *m)
{
    const mc_value *pipeline = mc_model_root(m, 0, MC_ROLE_PIPELINE), *modules = mc_model_root(m, 0, MC_ROLE_MODULES);
    for (size_t i = 0; mc_is(pipeline, MC_OBJECT) && i < pipeline->n; i++) {
        const mc_field *f = &pipeline->u.fields[i];
        if (mc_is(f->value, MC_ARRAY) && f->value->n == 2 && mc_is(mc_item(f->value, 1), MC_STRING))
            mark_part(m, f->key, text_of(mc_item(f->value, 0)), text_of(mc_item(f->value, 1)));
    }
    for (size_t i = 0; mc_is(modules, MC_ARRAY) && i < modules->n; i++)
        mark_part(m, text_of(mc_get(mc_item(modules, i), "path")), MC_STR("sentence_transformers"), text_of(mc_get(mc_item(modules, i), "type")));
}

void mc_load_documents(mc_builder *b)
{
    mc_model *m = b->m;
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].component == 0)
            load_first(b, i);
    mark_parts(m);
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].component != 0)
            load_first(b, i);
    mc_adapter_base(m, b->plan->dir.n ? mc_format(m->arena, "%.*s/%.*s", MC_FMT(b->list->root), MC_FMT(b->plan->dir)) : b->list->root);
}

/* ---- headers ---- */

typedef mc_err parse_fn(mc_span, uint64_t, const mc_kb *, mc_arena *, uint32_t, mc_file *);

static void parse_header(mc_builder *b, uint32_t id, parse_fn *parse, mc_input *in, uint64_t size, uint64_t cap)
{
    mc_file *f = &b->m->files[id];
    mc_span  have = f->head;
    mc_err   e;
    while ((e = parse(have, size, b->kb, b->m->arena, id, f)).code == MC_MORE) {
        if (e.at > cap) {
            hit_limit(f, e.at, "header above the limit");
            return;
        }
        if (e.at <= have.n || !prefix(b, in, &have, e.at))
            return;
        if (have.n < e.at) { /* parts that are not there: the header ends where the file does */
            size = have.n;
        }
    }
    f->parse = e;
    f->limit |= e.code == MC_E_LIMIT || e.code == MC_E_NOMEM;
}

static void load_torch(mc_builder *b, mc_file *f, mc_input *in)
{
    uint64_t want = f->size > 65557 ? f->size - 65557 : 0;
    for (int round = 0; round < 4; round++) { /* the tail, a longer tail, and the directory before it */
        uint64_t at = want;
        mc_span  tail = f->size - at > MC_MAX_ST_HEADER ? (mc_span){ 0 } : mc_read(in, at, (size_t)(f->size - at), b->m->arena);
        if (!tail.p || mc_parse_torch_tail(tail, at, f->size, &want, f).code != MC_MORE || want >= at)
            return;
        b->m->bytes_read += tail.n;
    }
}

/* Bytes that are proven to be something else are not parsed as what the name says (MC101-MC104). */
static bool may_hold_safetensors(const mc_file *f)
{
    return f->bytes == MC_BYTES_SAFETENSORS || f->bytes == MC_BYTES_UNKNOWN || f->bytes == MC_BYTES_ZEROS || f->bytes == MC_BYTES_TEXT || f->bytes == MC_BYTES_JSON
        || f->bytes == MC_BYTES_SENTENCEPIECE || f->bytes == MC_BYTES_ONNX || f->bytes == MC_BYTES_CTRANSLATE2 || f->bytes == MC_BYTES_EXECUTABLE || f->bytes == MC_BYTES_TAR;
}

/* The size of the file that byte parts make together. */
static uint64_t joined_size(const mc_model *m, const mc_file *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_BYTE_PART && mc_str_eq(m->files[i].part_of, f->part_of))
            sum += m->files[i].size;
    return f->role == MC_ROLE_BYTE_PART ? sum : f->size;
}

static void load_gguf(mc_builder *b, uint32_t id, mc_input *in)
{
    mc_file *f = &b->m->files[id];
    parse_header(b, id, mc_parse_gguf, in, joined_size(b->m, f), MC_MAX_GGUF_HEADER);
    uint64_t tail = mc_gguf_tail_want(f);
    if (tail == 0)
        return;
    mc_gguf_set_tail(f, mc_read(in, f->gguf->data_end, (size_t)tail, b->m->arena));
    b->m->bytes_read += tail;
}

static void load_header(mc_builder *b, uint32_t id)
{
    mc_file *f = &b->m->files[id];
    bool     st = f->promised == MC_FMT_SAFETENSORS && f->role == MC_ROLE_WEIGHTS && may_hold_safetensors(f);
    bool     gguf = f->promised == MC_FMT_GGUF && f->bytes == MC_BYTES_GGUF;
    bool     torch = f->promised == MC_FMT_TORCH && f->bytes == MC_BYTES_TORCH_ZIP;
    if ((!st && !gguf && !torch) || !readable(f) || f->limit)
        return;
    mc_input in = open_file(b, f);
    if (in.fd >= 0 && st)
        parse_header(b, id, mc_parse_safetensors, &in, f->size, 8 + MC_MAX_ST_HEADER);
    else if (in.fd >= 0 && gguf)
        load_gguf(b, id, &in);
    else if (in.fd >= 0)
        load_torch(b, f, &in);
    finish(b, f, &in);
    b->m->bytes_read -= f->head.n; /* finish counts the first bytes, which load_first had counted */
}

void mc_load_headers(mc_builder *b)
{
    for (uint32_t i = 0; i < b->m->n_files; i++) {
        const mc_file *f = &b->m->files[i];
        if (f->in_read_set || (f->role != MC_ROLE_BYTE_PART && b->m->components[f->component].kind != MC_COMP_COPY))
            load_header(b, i);
    }
}

/* ---- tokenizers ---- */

static void load_tokenizer(mc_builder *b, uint32_t id, mc_str wanted)
{
    mc_model *m = b->m;
    mc_file  *f = &m->files[id];
    mc_span   text = { 0 };
    if (!readable(f) || f->limit || explained(f) || f->bytes == MC_BYTES_UNREAD)
        return;
    if (f->size > MC_MAX_DOCUMENT) {
        hit_limit(f, f->size, "document above 256 MiB");
        return;
    }
    mc_arena scratch; /* the text is dropped: what is kept of it is copied */
    mc_arena_init(&scratch, MC_MAX_DOCUMENT + 4096);
    mc_input in = open_file(b, f);
    bool     read = in.fd >= 0 && mc_read_prefix(&in, &text, in.size, &scratch);
    finish(b, f, &in);
    mc_doc *d = read && !f->os_error ? new_doc(m, id) : NULL;
    if (d) {
        m->bytes_read += text.n;
        d->err = mc_parse_tokenizer(text, m->arena, id, wanted, &m->tokens);
        if (d->err.code == MC_E_LIMIT || d->err.code == MC_E_NOMEM) {
            hit_limit(f, d->err.at, d->err.what);
        } else if (d->err.code != MC_OK) {
            d->hint = mc_json_hint(text, d->err);
            mc_json_line_col(text, d->err.at, &d->line, &d->col);
        }
    }
    mc_arena_free(&scratch);
}

void mc_load_tokenizers(mc_builder *b)
{
    mc_model *m = b->m;
    mc_tokens_eos(m);
    mc_str    wanted = m->tokens.eos.known ? m->tokens.eos.v : MC_STR("");
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_TOKENIZER_JSON && m->components[m->files[i].component].kind == MC_COMP_ROOT && b->plan->unit == MC_UNIT_DIR)
            load_tokenizer(b, i, wanted);
    mc_tokens_from_docs(m);
}

/* ---- the tied head ---- */

static bool same_form(const mc_tensor *x, const mc_tensor *y)
{
    bool same = x->dtype == y->dtype && x->rank == y->rank && x->end - x->begin == y->end - y->begin;
    for (size_t i = 0; same && i < x->rank; i++)
        same = x->dims[i] == y->dims[i];
    return same;
}

static bool inside_file(const mc_file *f, const mc_tensor *t)
{
    uint64_t end;
    return t->begin <= t->end && !ckd_add(&end, f->data_start, t->end) && end <= f->size;
}

/* Reads up to 64 MiB of head and embedding when the configuration ties them and both are stored alike (MC456, MC457). */
void mc_compare_heads(mc_builder *b)
{
    mc_model        *m = b->m;
    const mc_tensor *x = m->heads.embed, *y = m->heads.head;
    if (!x || !y || !m->arch.tie.known || !m->arch.tie.v || m->arch.tie_false.known || !same_form(x, y))
        return;
    mc_file *fx = &m->files[x->file], *fy = &m->files[y->file];
    uint64_t n = x->end - x->begin, equal = 0;
    if (!inside_file(fx, x) || !inside_file(fy, y))
        return;
    mc_input in_x = open_file(b, fx), in_y = open_file(b, fy);
    if (in_x.fd >= 0 && in_y.fd >= 0) {
        int same = mc_same_bytes(&in_x, fx->data_start + x->begin, &in_y, fy->data_start + y->begin, n < MC_TIED_COMPARE_BYTES ? n : MC_TIED_COMPARE_BYTES, &equal);
        m->heads.same = same == 1 ? MC_SAME_YES : same == 0 ? MC_SAME_NO : MC_SAME_UNKNOWN;
        m->heads.compared = equal;
        m->bytes_read += 2 * equal;
    }
    mc_close(&in_x);
    mc_close(&in_y);
}
