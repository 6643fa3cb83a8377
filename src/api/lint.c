/* modelcheck rules lint DIR: every data file below a directory, checked strictly; and --rules DIR, which takes them in. */
#include "api/api.h"
#include "io/io.h"
#include "kb/frameworks.h"

#include <string.h>

/* ---- files of a directory ---- */

bool mc_rules_read(mc_arena *a, const char *dir, mc_rules_files *out, int *os_error)
{
    mc_listing list;
    *out = (mc_rules_files){ 0 };
    if (mc_walk(dir, (mc_walk_options){ true, false }, a, &list, os_error).code != MC_OK)
        return false;
    out->v = MC_NEW(a, mc_rules_file, list.n + 1);
    for (size_t i = 0; out->v && i < list.n; i++) {
        mc_str path = list.entries[i].path;
        if (list.entries[i].type != MC_ENTRY_FILE || !(mc_str_ends(path, ".json") || mc_str_ends(path, ".tsv")))
            continue;
        mc_input in = mc_open(list.root, path);
        mc_span  text = in.fd >= 0 && in.size <= MC_MAX_RULES_FILE ? mc_read(&in, 0, (size_t)in.size, a) : (mc_span){ 0 };
        out->v[out->n++] = (mc_rules_file){ path, text, in.os_error ? strerror(in.os_error) : in.size > MC_MAX_RULES_FILE ? "larger than 16 MiB" : NULL };
        mc_close(&in);
    }
    return out->v != NULL;
}

/* ---- one file ---- */

static mc_str schema_of(mc_arena *a, mc_span text)
{
    mc_err err;
    return mc_as_str(mc_get(mc_json_tree(a, text, &err, NULL), "schema"));
}

typedef struct { mc_arena *a; mc_out *out; mc_str dir; const mc_rules_files *files; size_t faults; } lint;

static void tell(lint *l, const mc_rules_file *f, const mc_faults *faults)
{
    for (size_t i = 0; i < faults->n; i++) {
        unsigned line = 1, col = 1;
        mc_json_line_col(f->text, faults->v[i].at, &line, &col);
        mc_put_text(l->out, l->dir);
        mc_put(l->out, "/");
        mc_put_text(l->out, f->path);
        mc_put(l->out, mc_format(l->a, ":%u:%u: ", line, col).p);
        mc_put_text(l->out, faults->v[i].what);
        mc_put(l->out, "\n");
    }
    l->faults += faults->n;
}

static const mc_rules_file *find(const mc_rules_files *files, mc_str path)
{
    for (size_t i = 0; i < files->n; i++)
        if (mc_str_eq(files->v[i].path, path))
            return &files->v[i];
    return NULL;
}

/* Tables are named relative to the file. */
static void lint_tables(lint *l, const mc_rules_file *f, const mc_framework *fw, mc_faults *faults)
{
    for (size_t i = 0; mc_framework_table(fw, i).n; i++) {
        mc_str               name = mc_framework_table(fw, i);
        const mc_rules_file *t = find(l->files, mc_format(l->a, "%.*s%.*s", MC_FMT(mc_str_dir(f->path)), MC_FMT(name)));
        mc_faults            own = { .arena = l->a };
        if (!t) {
            mc_fault_add(faults, mc_get(fw->root, "architectures"), "there is no table %.*s beside this file", MC_FMT(name));
            continue;
        }
        mc_framework_table_check(fw, i, t->text, &own);
        tell(l, t, &own);
    }
}

/* Frameworks that a file leans on: beside it, or embedded. */
static void lint_names(lint *l, const mc_rules_file *f, const mc_framework *fw, mc_faults *faults)
{
    const struct { const char *key; mc_str name; } refs[] = { { "maps_to", fw->maps_to }, { "fallback", fw->fallback } };
    for (size_t i = 0; i < MC_COUNT(refs); i++) {
        mc_str beside = mc_format(l->a, "%.*s%.*s.json", MC_FMT(mc_str_dir(f->path)), MC_FMT(refs[i].name));
        if (refs[i].name.n && !find(l->files, beside) && !mc_embedded_find(mc_format(l->a, "frameworks/%.*s.json", MC_FMT(refs[i].name)).p).p)
            mc_fault_add(faults, mc_get(fw->root, refs[i].key), "there is no framework \"%.*s\"", MC_FMT(refs[i].name));
    }
}

/* Does anything read a JSON file that is neither a framework's nor one of rules? Only those that replace an embedded file do. */
static void check_read(const mc_rules_file *f, mc_str schema, mc_faults *faults)
{
    mc_err err;
    if (!mc_json_tree(faults->arena, f->text, &err, NULL)) {
        mc_value at = { .at = (uint32_t)err.at };
        mc_fault_add(faults, &at, "not JSON: %s", err.what ? err.what : "out of memory");
    } else if (schema.n) {
        mc_fault_add(faults, NULL, "unknown schema \"%.*s\"", MC_FMT(schema));
    } else if (mc_str_starts(f->path, "frameworks/") || !mc_embedded_find(mc_str_copy(faults->arena, f->path).p).p) {
        mc_fault_add(faults, NULL, "no \"schema\": nothing would read this file (modelcheck/framework-1, modelcheck/rules-1)");
    }
}

static void lint_file(lint *l, const mc_rules_file *f)
{
    mc_faults faults = { .arena = l->a };
    size_t    n;
    if (f->problem) {
        mc_fault_add(&faults, NULL, "%s", f->problem);
    } else if (mc_str_ends(f->path, ".json")) {
        mc_str schema = schema_of(l->a, f->text);
        if (mc_str_is(schema, "modelcheck/framework-1")) {
            const mc_framework *fw = mc_framework_decode(l->a, f->path, f->text, &faults);
            if (fw) {
                lint_tables(l, f, fw, &faults);
                lint_names(l, f, fw, &faults);
            }
        } else if (mc_str_is(schema, "modelcheck/rules-1")) {
            (void)mc_custom_decode(l->a, f->text, &faults, &n);
        } else {
            check_read(f, schema, &faults);
        }
    }
    tell(l, f, &faults);
}

int modelcheck_lint(FILE *file, const char *dir, const char **problem)
{
    mc_arena       a;
    mc_rules_files files;
    int            os_error = 0;
    mc_out         out = { .f = file };
    mc_str         name = mc_str_of(dir);
    *problem = NULL;
    mc_arena_init(&a, MC_MAX_ARENA);
    while (name.n > 1 && name.p[name.n - 1] == '/')
        name.n--;
    lint l = { &a, &out, name, &files, 0 };
    if (!mc_rules_read(&a, dir, &files, &os_error))
        *problem = os_error ? strerror(os_error) : "cannot be read";
    for (size_t i = 0; !*problem && i < files.n; i++)
        lint_file(&l, &files.v[i]);
    if (!*problem && a.failed)
        *problem = "out of memory";
    size_t n = files.n;
    mc_arena_free(&a);
    if (!*problem && n == 0)
        *problem = "holds no data file (*.json, *.tsv)";
    return *problem ? -1 : l.faults > 0;
}

/* ---- taking them in ---- */

/* Framework files and tables go by their last name, so that DIR may be laid out at will; a file of rules under "custom/". */
static const char *kb_name(mc_arena *a, const mc_rules_file *f, mc_str schema)
{
    mc_str base = mc_str_base(f->path);
    if (mc_str_is(schema, "modelcheck/framework-1"))
        return mc_format(a, "frameworks/%.*s", MC_FMT(base)).p;
    if (mc_str_is(schema, "modelcheck/rules-1"))
        return mc_format(a, "custom/%.*s", MC_FMT(f->path)).p;
    if (mc_str_ends(mc_str_dir(f->path), "arch/"))
        return mc_format(a, "frameworks/arch/%.*s", MC_FMT(base)).p;
    return mc_str_copy(a, f->path).p;
}

const char *mc_rules_take(mc_arena *a, mc_kb *kb, const mc_rules_files *files, mc_str dir)
{
    for (size_t i = 0; i < files->n; i++) {
        const mc_rules_file *f = &files->v[i];
        mc_faults            faults = { .arena = a };
        size_t               n;
        mc_str               schema = f->problem || !mc_str_ends(f->path, ".json") ? MC_STR("") : schema_of(a, f->text);
        if (mc_str_is(schema, "modelcheck/framework-1"))
            (void)mc_framework_decode(a, f->path, f->text, &faults);
        else if (mc_str_is(schema, "modelcheck/rules-1"))
            (void)mc_custom_decode(a, f->text, &faults, &n);
        else if (!f->problem && mc_str_ends(f->path, ".json"))
            check_read(f, schema, &faults);
        if (f->problem)
            return mc_format(a, "%.*s/%.*s: %s", MC_FMT(dir), MC_FMT(f->path), f->problem).p;
        if (faults.n) {
            unsigned line = 1, col = 1;
            mc_json_line_col(f->text, faults.v[0].at, &line, &col);
            return mc_format(a, "%.*s/%.*s:%u:%u: %.*s (modelcheck rules lint tells all)", MC_FMT(dir), MC_FMT(f->path), line, col, MC_FMT(faults.v[0].what)).p;
        }
        if (!mc_kb_add_file(kb, kb_name(a, f, schema), f->text))
            return "out of memory";
    }
    return NULL;
}
