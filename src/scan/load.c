/* Side files: documents, tokenizers, templates; and the one question that needs tensor data, the tied head. Weights and
 * their indexes are read in headers.c. */
#include "formats/formats.h"
#include "scan/internal.h"

#include <errno.h>

/* ---- reading ---- */

bool mc_readable(const mc_file *f)
{
    return f->link != MC_LINK_DANGLING && f->link != MC_LINK_OUTSIDE && f->os_error == 0;
}

mc_input mc_load_open(mc_loader *l, mc_file *f)
{
    mc_str   dir = l->b->plan->dir;
    mc_str   path = dir.n ? mc_format(l->arena, "%.*s%.*s", (int)dir.n, dir.p, (int)f->path.n, f->path.p) : f->path;
    mc_input in = mc_open(l->b->list->root, path);
    if (in.fd >= 0)
        f->size = in.size;
    return in;
}

void mc_load_close(mc_file *f, mc_input *in)
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
}

bool mc_load_prefix(mc_loader *l, mc_input *in, mc_span *have, uint64_t want)
{
    size_t before = have->n;
    if (!mc_read_prefix(in, have, want, l->arena))
        return false;
    l->bytes_read += have->n - before;
    return true;
}

void mc_load_limit(mc_file *f, uint64_t at, const char *what)
{
    f->limit = true;
    f->parse = (mc_err){ MC_E_LIMIT, at, what };
}

/* Names that are no document, or that hold something else than their name says: pointers, pages, nothing. */
bool mc_explained(const mc_file *f)
{
    return f->bytes == MC_BYTES_EMPTY || f->bytes == MC_BYTES_LFS_POINTER || f->bytes == MC_BYTES_XET_POINTER || f->bytes == MC_BYTES_WEB_PAGE
        || f->bytes == MC_BYTES_ERROR_ANSWER;
}

void mc_load_head(mc_loader *l, mc_file *f, mc_input *in, uint64_t want, mc_span *text)
{
    if (!mc_load_prefix(l, in, text, want))
        return;
    f->head = (mc_span){ text->p, text->n < MC_HEAD_BYTES ? text->n : MC_HEAD_BYTES };
    mc_recognise(f);
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
        mc_load_limit(f, d->err.at, d->err.what);
}

/* ---- first bytes ---- */

/* Roles other than weights and indexes (headers.c) whose bytes decide something. */
static bool wants_head(const mc_builder *b, const mc_file *f)
{
    if (f->role == MC_ROLE_WEIGHTS || f->role == MC_ROLE_INDEX || b->m->components[f->component].kind == MC_COMP_COPY)
        return false;
    if (mc_str_is(f->path, "README.md")) /* the licence that a model card states */
        return true;
    return b->plan->unit == MC_UNIT_FILE || f->role == MC_ROLE_VOCAB || f->role == MC_ROLE_TOKENIZER_JSON || f->role == MC_ROLE_TEMPLATE || f->role == MC_ROLE_BYTE_PART
        || is_document(f->role);
}

static void load_side_file(mc_loader *l, uint32_t id)
{
    mc_file *f = &l->b->m->files[id];
    mc_span  text = { 0 };
    bool     whole = f->role == MC_ROLE_TEMPLATE || is_document(f->role);
    if (!wants_head(l->b, f) || !mc_readable(f))
        return;
    mc_input in = mc_load_open(l, f);
    if (in.fd >= 0 && whole && in.size > MC_MAX_DOCUMENT)
        mc_load_limit(f, in.size, "document above 256 MiB");
    else if (in.fd >= 0)
        mc_load_head(l, f, &in, whole ? in.size : MC_HEAD_BYTES, &text);
    mc_load_close(f, &in);
    if (f->role == MC_ROLE_OTHER && mc_bytes_container(f->bytes) != MC_FMT_NONE) { /* given alone, under a name that says nothing */
        f->role = MC_ROLE_WEIGHTS;
        f->promised = mc_bytes_container(f->bytes);
    }
    if (f->os_error || f->limit || mc_explained(f))
        return;
    if (is_document(f->role))
        load_document(l->b, id, text);
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
    mc_loader l = { b, m->arena, 0 };
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].component == 0)
            load_side_file(&l, i);
    mark_parts(m);
    for (uint32_t i = 0; i < m->n_files; i++)
        if (m->files[i].component != 0)
            load_side_file(&l, i);
    m->bytes_read += l.bytes_read;
    mc_adapter_base(m, b->plan->dir.n ? mc_format(m->arena, "%.*s/%.*s", MC_FMT(b->list->root), MC_FMT(b->plan->dir)) : b->list->root);
}

/* ---- tokenizers ---- */

static void load_tokenizer(mc_builder *b, uint32_t id, mc_str wanted)
{
    mc_model *m = b->m;
    mc_file  *f = &m->files[id];
    mc_span   text = { 0 };
    if (!mc_readable(f) || f->limit || mc_explained(f) || f->bytes == MC_BYTES_UNREAD)
        return;
    if (f->size > MC_MAX_DOCUMENT) {
        mc_load_limit(f, f->size, "document above 256 MiB");
        return;
    }
    mc_arena scratch; /* the text is dropped: what is kept of it is copied */
    mc_arena_init(&scratch, MC_MAX_DOCUMENT + 4096);
    mc_loader l = { b, m->arena, 0 };
    mc_input  in = mc_load_open(&l, f);
    bool      read = in.fd >= 0 && mc_read_prefix(&in, &text, in.size, &scratch);
    mc_load_close(f, &in);
    mc_doc *d = read && !f->os_error ? new_doc(m, id) : NULL;
    if (d) {
        m->bytes_read += text.n;
        d->err = mc_parse_tokenizer(text, m->arena, id, wanted, &m->tokens);
        if (d->err.code == MC_E_LIMIT || d->err.code == MC_E_NOMEM) {
            mc_load_limit(f, d->err.at, d->err.what);
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
    mc_loader l = { b, m->arena, 0 };
    mc_input  in_x = mc_load_open(&l, fx), in_y = mc_load_open(&l, fy);
    if (in_x.fd >= 0 && in_y.fd >= 0) {
        int same = mc_same_bytes(&in_x, fx->data_start + x->begin, &in_y, fy->data_start + y->begin, n < MC_TIED_COMPARE_BYTES ? n : MC_TIED_COMPARE_BYTES, &equal);
        m->heads.same = same == 1 ? MC_SAME_YES : same == 0 ? MC_SAME_NO : MC_SAME_UNKNOWN;
        m->heads.compared = equal;
        m->bytes_read += 2 * equal;
    }
    mc_close(&in_x);
    mc_close(&in_y);
}
