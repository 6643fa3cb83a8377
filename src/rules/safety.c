/* What could reach outside the model or run code: names (MC801), links (MC805), custom code (MC808, MC809), templates
 * (MC810). Small and strict: this is no malware scanner. */
#include "formats/formats.h"
#include "rules/rule.h"

static bool loaded(const mc_model *m, uint32_t component)
{
    return component < m->n_components && m->components[component].kind != MC_COMP_COPY;
}

/* ---- MC801 ---- */

static void unsafe_path(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_indexes; i++) {
        const mc_index *x = &m->indexes[i];
        mc_str          first = MC_STR("");
        size_t          n = 0;
        for (size_t s = 0; loaded(m, x->component) && s < x->n_shards; s++) {
            if (x->shards[s].state != MC_SHARD_UNSAFE)
                continue;
            first = n ? first : x->shards[s].name;
            n += x->shards[s].n_tensors;
        }
        if (n == 0)
            continue;
        mc_finding *f = mc_report(cx, x->file, "%.*s: %zu entr%s the directory (%.*s): crafted or broken index, loaders would open foreign files",
                                  MC_FMT(mc_file_path(m, x->file)), n, n == 1 ? "y leaves" : "ies leave", MC_FMT(first));
        for (size_t s = 0; s < x->n_shards; s++)
            if (x->shards[s].state == MC_SHARD_UNSAFE)
                mc_subject(f, x->shards[s].name);
        mc_count(f, n);
        mc_because(cx, f, "value", mc_origin_at(x->file, "/weight_map"), "%.*s", MC_FMT(first));
    }
}

/* ---- MC805 ---- */

static void link_outside(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->link != MC_LINK_OUTSIDE || f->role == MC_ROLE_OTHER || !loaded(m, f->component))
            continue;
        mc_finding *r = mc_report(cx, i, "%.*s -> %.*s: outside the directory, not inspected", MC_FMT(f->path), MC_FMT(f->target));
        mc_because(cx, r, "link", mc_origin_at(i, ""), "%.*s", MC_FMT(f->target));
    }
}

/* ---- custom code: MC808, MC809 ---- */

/* One class named by auto_map: "module.Class" or "owner/repo--module.Class". */
typedef struct { mc_str value, repo, module, where; } code_ref;
enum { MAX_REFS = 64 };
typedef struct { code_ref v[MAX_REFS]; size_t n; } code_refs;

static void add_ref(code_refs *out, mc_str value, mc_str where)
{
    code_ref r = { .value = value, .repo = MC_STR(""), .module = value, .where = where };
    if (value.n == 0 || out->n == MAX_REFS)
        return;
    for (size_t i = 0; i + 1 < value.n; i++)
        if (value.p[i] == '-' && value.p[i + 1] == '-') {
            r.repo = mc_str_cut(value, 0, i);
            r.module = mc_str_cut(value, i + 2, value.n);
            break;
        }
    size_t dot = mc_str_rfind(r.module, '.');
    if (dot == SIZE_MAX || dot == 0)
        return;
    r.module = mc_str_cut(r.module, 0, dot);
    out->v[out->n++] = r;
}

/* auto_map is {"AutoModel": "module.Class", "AutoTokenizer": ["module.Slow", null]}, in old tokenizers a list. */
static void collect(mc_arena *a, const mc_doc *d, code_refs *out)
{
    const mc_value *map = mc_get(d->root, "auto_map");
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        const mc_field *f = &map->u.fields[i];
        mc_str          where = mc_format(a, "/auto_map/%.*s", MC_FMT(f->key));
        add_ref(out, mc_as_str(f->value), where);
        for (size_t k = 0; mc_is(f->value, MC_ARRAY) && k < f->value->n; k++)
            add_ref(out, mc_as_str(mc_item(f->value, k)), where);
    }
    for (size_t k = 0; mc_is(map, MC_ARRAY) && k < map->n; k++)
        add_ref(out, mc_as_str(mc_item(map, k)), MC_STR("/auto_map"));
}

static bool names_code(const mc_model *m, const mc_doc *d)
{
    return d->root && (d->role == MC_ROLE_CONFIG || d->role == MC_ROLE_TOKENIZER_CONFIG || d->role == MC_ROLE_PROCESSOR) && loaded(m, m->files[d->file].component);
}

/* The file of a module beside the document, or MC_NONE. "a.b" is a/b.py. */
static uint32_t module_file(const mc_model *m, const mc_doc *d, mc_str module, mc_arena *a)
{
    mc_str dir = mc_str_dir(mc_file_path(m, d->file)), path = mc_format(a, "%.*s%.*s.py", MC_FMT(dir), MC_FMT(module));
    char  *deep = mc_alloc(a, path.n + 1, 1);
    for (size_t i = 0; deep && i < path.n; i++)
        deep[i] = path.p[i] == '.' && i >= dir.n && i + 3 < path.n ? '/' : path.p[i];
    for (uint32_t i = 0; deep && i < m->n_files; i++)
        if (mc_str_eq(m->files[i].path, path) || mc_str_eq(m->files[i].path, (mc_str){ deep, path.n }))
            return i;
    return MC_NONE;
}

static void report_code(mc_check *cx, const mc_doc *d, const code_refs *refs)
{
    const mc_model *m = cx->model;
    mc_str          remote = MC_STR(""), modules = MC_STR("");
    for (size_t i = 0; i < refs->n; i++) {
        const code_ref *r = &refs->v[i];
        if (r->repo.n)
            remote = r->repo;
        bool seen = false;
        for (size_t k = 0; k < i; k++)
            seen |= mc_str_eq(refs->v[k].module, r->module) && mc_str_eq(refs->v[k].repo, r->repo);
        if (seen)
            continue;
        const char *state = r->repo.n ? "" : m->alone ? "" : module_file(m, d, r->module, cx->arena) == MC_NONE ? " (absent)" : "";
        modules = mc_format(cx->arena, "%.*s%s%.*s.py%s", MC_FMT(modules), modules.n ? ", " : "", MC_FMT(r->module), state);
    }
    mc_str      fetched = remote.n ? mc_format(cx->arena, "; code of %.*s is fetched at load time", MC_FMT(remote)) : MC_STR("");
    mc_finding *f = mc_report(cx, d->file, "auto_map names code in %.*s%.*s; it is needed only where the model type is not built in", MC_FMT(modules), MC_FMT(fetched));
    for (size_t i = 0; i < refs->n; i++) {
        mc_subject(f, refs->v[i].value);
        mc_because(cx, f, "class", mc_from_doc(d, refs->v[i].where), "%.*s", MC_FMT(refs->v[i].value));
    }
}

static void custom_code(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc *d = &m->docs[i];
        code_refs     refs = { .n = 0 };
        if (!names_code(m, d))
            continue;
        collect(cx->arena, d, &refs);
        if (refs.n)
            report_code(cx, d, &refs);
        mc_str model_file = mc_as_str(mc_get(d->root, "model_file")); /* mlx-lm imports it */
        if (d->role != MC_ROLE_CONFIG || model_file.n == 0)
            continue;
        mc_finding *f = mc_report(cx, d->file, "model_file names %.*s, which mlx-lm imports when the model is loaded", MC_FMT(model_file));
        mc_because(cx, f, "names", mc_from_doc(d, MC_STR("/model_file")), "%.*s", MC_FMT(model_file));
    }
}

/* Does a framework of the data know the model without its code? Unknown (no readable config.json) counts as yes. */
static bool built_in(mc_check *cx, uint32_t component)
{
    const mc_value *config = mc_model_root(cx->model, component, MC_ROLE_CONFIG), *v;
    if (!mc_is(config, MC_OBJECT))
        config = mc_model_config(cx->model);
    mc_str type = mc_as_str(mc_get(config, "model_type"));
    if (!mc_is(config, MC_OBJECT) || (type.n && mc_kb_builtin(cx->kb, type)))
        return true;
    for (size_t i = 0; (v = mc_item(mc_get(config, "architectures"), i)); i++)
        if (v->type == MC_STRING && mc_kb_builtin(cx->kb, v->s))
            return true;
    return false;
}

static void custom_code_missing(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (m->alone || m->unit == MC_UNIT_GGUF || m->kind == MC_KIND_ADAPTER || mc_model_doc(m, 0, MC_ROLE_ADAPTER_CONFIG))
        return;
    for (size_t i = 0; i < m->n_docs; i++) {
        const mc_doc *d = &m->docs[i];
        code_refs     refs = { .n = 0 };
        if (!names_code(m, d) || built_in(cx, m->files[d->file].component))
            continue;
        collect(cx->arena, d, &refs);
        for (size_t r = 0; r < refs.n; r++) {
            if (refs.v[r].repo.n || module_file(m, d, refs.v[r].module, cx->arena) != MC_NONE)
                continue;
            mc_finding *f = mc_report(cx, d->file, "%.*s: %.*s needs %.*s.py, which is absent: loading with custom code fails offline",
                                      MC_FMT(mc_file_path(m, d->file)), MC_FMT(refs.v[r].value), MC_FMT(refs.v[r].module));
            mc_subject(f, refs.v[r].value);
            mc_because(cx, f, "class", mc_from_doc(d, refs.v[r].where), "%.*s", MC_FMT(refs.v[r].value));
        }
    }
}

/* ---- MC810 ---- */

static void judge_template(mc_check *cx, uint32_t file, mc_str where, mc_str source)
{
    mc_str token = mc_template_code(source);
    if (token.n == 0)
        return;
    mc_finding *f = mc_report(cx, file, "the template uses %.*s: sandboxed renderers refuse it, others would run code", MC_FMT(token));
    mc_subject(f, token);
    mc_because(cx, f, "contains", (mc_origin){ file, where }, "%.*s", MC_FMT(token));
}

/* "chat_template": a text, or a list of {"name": ..., "template": ...}, or (processors) an object of texts by name. */
static void judge_value(mc_check *cx, uint32_t file, const mc_value *v)
{
    judge_template(cx, file, MC_STR("/chat_template"), mc_as_str(v));
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        judge_template(cx, file, mc_format(cx->arena, "/chat_template/%zu/template", i), mc_as_str(mc_get(mc_item(v, i), "template")));
    for (size_t i = 0; mc_is(v, MC_OBJECT) && i < v->n; i++)
        judge_template(cx, file, mc_format(cx->arena, "/chat_template/%.*s", MC_FMT(v->u.fields[i].key)), mc_as_str(v->u.fields[i].value));
}

static void template_code(mc_check *cx)
{
    const mc_model *m = cx->model;
    for (size_t i = 0; i < m->n_docs; i++)
        if (loaded(m, m->files[m->docs[i].file].component) && (m->docs[i].role == MC_ROLE_TOKENIZER_CONFIG || m->docs[i].role == MC_ROLE_PROCESSOR))
            judge_value(cx, m->docs[i].file, mc_get(m->docs[i].root, "chat_template"));
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        mc_err         err;
        if (f->role != MC_ROLE_TEMPLATE || f->text.n == 0 || !loaded(m, f->component))
            continue;
        if (mc_str_ends(f->base, ".json"))
            judge_value(cx, i, mc_get(mc_json_tree(cx->arena, (mc_span){ (const uint8_t *)f->text.p, f->text.n }, &err, NULL), "chat_template"));
        else
            judge_template(cx, i, MC_STR(""), f->text);
    }
    for (size_t i = 0; m->gguf && i < m->gguf->n; i++) {
        const mc_gguf_kv *kv = &m->gguf->kv[i];
        if (mc_str_is(kv->key, "tokenizer.chat_template") || mc_str_starts(kv->key, "tokenizer.chat_template."))
            judge_template(cx, m->gguf_file, kv->key, mc_gguf_str(kv));
    }
}

/* ---- the family ---- */

static const mc_rule rules[] = {
    { .code = "MC801", .slug = "unsafe-path", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "A file name inside the model points outside the model directory",
      .why = "An index that names /etc/passwd or ../../x makes a careless loader open files of the machine it runs on. No tool writes such names by itself. "
             "The named file was not opened here.",
      .fix = "do not load it; take the index from a source you trust, or write it again from the shards",
      .silent = "relative names in sub-directories (sub/model-00001-of-00002.safetensors), names of files that are merely missing (MC106)",
      .source = "https://github.com/huggingface/transformers/pull/46913", .suppresses = "m:MC106 m:MC202 m:MC203 m:MC212 m:MC214", .check = unsafe_path },
    { .code = "MC805", .slug = "link-outside", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "A link leaves the model directory and was not followed",
      .why = "The bytes behind the link are no part of what was given to check, so nothing is known about them; and the link breaks when the directory is copied.",
      .fix = "use --follow-links to include it, or copy the file",
      .silent = "hub-cache snapshots, whose links end in the blobs of the same repository; links inside the directory; --follow-links",
      .source = "", .check = link_outside },
    { .code = "MC808", .slug = "custom-code", .severity = MC_INFO, .certainty = MC_CERTAIN,
      .summary = "Loading may run Python code from the repository",
      .why = "With --trust-remote-code loaders import the modules that auto_map names and run them with your rights.",
      .fix = "review the code before you use --trust-remote-code",
      .silent = "Python files that no configuration names; the rule is never more than information", .source = "https://huggingface.co/docs/transformers/custom_models", .check = custom_code },
    { .code = "MC809", .slug = "custom-code-missing", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "auto_map names a module file that is not there",
      .why = "No framework known here has this model built in, so loading needs the repository's own code, and that file was not copied along.",
      .fix = "copy the module from the source repository",
      .silent = "a model type or architecture that a framework has built in, classes fetched from another repository, adapters",
      .source = "https://huggingface.co/docs/transformers/custom_models", .check = custom_code_missing },
    { .code = "MC810", .slug = "template-code", .severity = MC_WARNING, .certainty = MC_LIKELY,
      .summary = "The chat template reaches for Python internals",
      .why = "A chat template formats messages; it has no business with classes, globals or shells. Renderers with a sandbox refuse it, one without would run what it asks for.",
      .fix = "replace the template by the one of the source repository",
      .silent = "loop, namespace, raise_exception, strftime_now and tojson; the same words in text, comments and string literals; URLs in vocabularies",
      .source = "https://jinja.palletsprojects.com/en/stable/sandbox/", .check = template_code },
};
const mc_family mc_family_safety = { "safety", rules, MC_COUNT(rules) };
