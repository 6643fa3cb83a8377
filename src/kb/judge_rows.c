/* The blocks `files`, `platforms`, `gguf` and `limits`. */
#include "kb/framework.h"

/* ---- which files are read ---- */

/* Directories above the name. */
static size_t depth_of(mc_str path)
{
    size_t n = 0;
    for (size_t i = 0; i < path.n; i++)
        n += path.p[i] == '/';
    return n;
}

static bool fits(const mc_value *rung, mc_str path, int64_t depth)
{
    mc_str          base = mc_str_base(path);
    const mc_value *no = mc_get(rung, "not");
    if ((int64_t)depth_of(path) > depth || !mc_glob(mc_as_str(mc_get(rung, "glob")), depth ? base : path))
        return false;
    for (size_t i = 0; mc_is(no, MC_ARRAY) && i < no->n; i++)
        if (mc_glob(mc_item(no, i)->s, base))
            return false;
    return true;
}

static const mc_target_index *index_of(const mc_target_files *files, mc_str path)
{
    for (size_t i = 0; path.n && i < files->n_indexes; i++)
        if (mc_str_eq(files->indexes[i].path, path))
            return &files->indexes[i];
    return NULL;
}

/* Files that the index names and that are not there. */
static size_t missing(mc_arena *a, const mc_target_index *index, const mc_target_files *files)
{
    mc_strset have;
    size_t    n = 0;
    if (!mc_strset_init(&have, a, files->n_files + 1))
        return 0;
    for (size_t i = 0; i < files->n_files; i++)
        (void)mc_strset_add(&have, files->files[i].path, NULL);
    for (size_t i = 0; i < index->n_shards; i++)
        n += mc_strset_find(&have, index->shards[i]) == MC_NO_ID;
    return n;
}

static bool take(mc_arena *a, mc_file_choice *c, const mc_value *rung, int64_t depth, const mc_target_files *files, bool unlisted_too)
{
    const mc_target_index *index = index_of(files, mc_as_str(mc_get(rung, "index")));
    bool                   one = !index && mc_str_is(mc_as_str(mc_get(rung, "no_index")), "first");
    mc_strset              listed = { .n = 0 };
    size_t                 n = 0;
    if (!index && mc_str_is(mc_as_str(mc_get(rung, "no_index")), "refuses"))
        return false; /* only what an index lists is read here */
    if (index && !mc_strset_init(&listed, a, index->n_shards + 1))
        return false;
    for (size_t i = 0; index && i < index->n_shards; i++)
        (void)mc_strset_add(&listed, index->shards[i], NULL);
    for (size_t i = 0; i < files->n_files; i++) {
        if (!fits(rung, files->files[i].path, depth))
            continue;
        n++;
        bool named = !index || mc_strset_find(&listed, files->files[i].path) != MC_NO_ID;
        c->unlisted += !named;
        c->taken[i] = (named || unlisted_too) && !(one && n > 1);
    }
    if (n == 0)
        return false;
    c->pattern = mc_as_str(mc_get(rung, "glob"));
    c->index = index ? index->path : MC_STR("");
    c->missing = index ? missing(a, index, files) : 0;
    return true;
}

/* A word, or the row of it that is live. */
static mc_str word_of(mc_judge *j, const mc_value *v)
{
    for (size_t i = 0; mc_is(v, MC_ARRAY) && i < v->n; i++)
        if (mc_row_live(j, mc_item(v, i)) == MC_TRUE)
            return mc_as_str(mc_get(mc_item(v, i), "is"));
    return mc_as_str(v);
}

static mc_file_choice choose(mc_judge *j, const mc_target_files *files)
{
    const mc_value *rows = mc_get(j->f->root, "files");
    mc_file_choice  c = { .row = NULL };
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n && !c.row; i++)
        if (mc_row_live(j, mc_item(rows, i)) == MC_TRUE)
            c.row = mc_item(rows, i);
    c.taken = MC_NEW(j->a, bool, files->n_files + 1);
    c.n_taken = files->n_files;
    const mc_value *ladder = mc_get(c.row, "ladder");
    int64_t         depth = 0;
    bool            unlisted = mc_str_is(word_of(j, mc_get(c.row, "unlisted_shard")), "read");
    if (!mc_as_int(mc_get(c.row, "depth"), &depth))
        depth = 0;
    for (size_t i = 0; c.taken && mc_is(ladder, MC_ARRAY) && i < ladder->n; i++)
        if (take(j->a, &c, mc_item(ladder, i), depth, files, unlisted))
            break;
    return c;
}

mc_file_choice mc_framework_choose(mc_arena *a, const mc_framework *f, const mc_version *v, const mc_target_files *files)
{
    static const mc_target_options none;
    mc_judge j = { .a = a, .f = f, .v = *v, .o = &none };
    return choose(&j, files);
}

/* GGUF beside the ladder: a framework that has it among its methods opens a file that is named. */
static bool gguf_is_a_method(mc_judge *j)
{
    const mc_value *rows = mc_get(j->f->root, "quant");
    for (size_t i = 0; j->method.type == MC_FACT_TEXT && mc_str_is(j->method.s, "gguf") && mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        if (mc_str_is(mc_as_str(mc_get(mc_item(rows, i), "method")), "gguf"))
            return true;
    return false;
}

static void judge_files(mc_judge *j)
{
    const mc_target_files *files = j->o->files;
    if (!mc_get(j->f->root, "files") || !files || files->n_files == 0)
        return;
    mc_file_choice c = choose(j, files);
    if (!c.row || (!c.pattern.n && gguf_is_a_method(j)))
        return;
    if (!c.pattern.n) {
        mc_hit_outcome(j, "files", c.row, "on_none", MC_STR("files"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s finds no weight file that it reads", MC_FMT(mc_target_name(j))), MC_STR(""));
        return;
    }
    mc_str missing = word_of(j, mc_get(c.row, "missing_indexed_shard")), names = mc_format(j->a, "%zu file%s that %.*s names", c.missing, c.missing == 1 ? "" : "s", MC_FMT(c.index));
    if (c.missing && mc_str_is(missing, "silent"))
        mc_hit(j, "files", c.row, MC_STR("files"), MC_TARGET_WRONG, mc_format(j->a, "%.*s missing: it loads without them and says nothing", MC_FMT(names)), MC_STR(""));
    else if (c.missing && mc_str_is(missing, "refuses"))
        mc_hit(j, "files", c.row, MC_STR("files"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s missing", MC_FMT(names)), MC_STR(""));
    mc_str name = MC_STR("");
    if (mc_str_is(word_of(j, mc_get(c.row, "duplicate_tensor")), "refuses") && files->repeats && files->repeats(files->cx, c.taken, &name) == MC_TRUE)
        mc_hit(j, "files", c.row, MC_STR("files"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s is in two of the files that it reads", MC_FMT(name)),
               MC_STR("keep one copy of the weights in the directory"));
    if (c.unlisted && c.index.n && mc_str_is(word_of(j, mc_get(c.row, "unlisted_shard")), "refuses"))
        mc_hit(j, "files", c.row, MC_STR("files"), MC_TARGET_REFUSES, mc_format(j->a, "%zu weight file%s not named by %.*s", c.unlisted, c.unlisted == 1 ? " is" : "s are", MC_FMT(c.index)), MC_STR(""));
}

/* ---- platforms ---- */

static bool allowed(const mc_value *allow, mc_str method)
{
    return mc_has_str(allow, "*") || (mc_is(allow, MC_ARRAY) && mc_has_str(allow, method.p ? method.p : ""));
}

static void judge_platform(mc_judge *j)
{
    const mc_value *tables = mc_get(j->f->root, "platforms"), *rows = mc_get_str(tables, j->o->platform);
    mc_str          id = MC_STR("platform"), where = mc_format(j->a, "%.*s on %.*s", MC_FMT(mc_target_name(j)), MC_FMT(j->o->platform));
    if (j->o->platform.n == 0 || (!rows && mc_str_is(j->o->platform, "cuda")) || (!tables && j->f->maps_to.n))
        return;
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++) {
        const mc_value *row = mc_item(rows, i), *allow = mc_get(row, "allow");
        mc_str          said = mc_fill(j->a, mc_as_str(mc_get(row, "message")), &j->facts, MC_SCOPE_MODEL, NULL);
        if (mc_row_live(j, row) != MC_TRUE)
            continue;
        if (!allow)
            mc_hit(j, "platforms", row, id, mc_verdict_of(mc_as_str(mc_get(row, "verdict"))), said.n ? said : where, mc_as_str(mc_get(row, "fix")));
        else if (j->method.type == MC_FACT_TEXT && !allowed(allow, mc_str_copy(j->a, j->method.s)))
            mc_hit(j, "platforms", row, id, MC_TARGET_REFUSES, mc_format(j->a, "%.*s does not take %.*s", MC_FMT(where), MC_FMT(j->method.s)), MC_STR(""));
        else if (j->method.type == MC_FACT_UNKNOWN)
            mc_unchecked(j, id, j->method.why ? mc_str_of(j->method.why) : MC_STR("quant_method"));
        return;
    }
    mc_hit(j, "platforms", NULL, id, MC_TARGET_UNKNOWN, mc_format(j->a, "%.*s is not in the data", MC_FMT(where)), MC_STR(""));
}

/* ---- gguf ---- */

static bool names_type(const mc_value *row, mc_str type)
{
    return mc_str_eq(mc_as_str(mc_get(row, "name")), type) || mc_has_str(mc_get(row, "names"), type.p);
}

static void judge_type(mc_judge *j, const mc_value *types, mc_str type)
{
    const mc_value *coming = NULL, *ended = NULL;
    for (size_t i = 0; i < types->n; i++) {
        const mc_value *row = mc_item(types, i);
        if (!names_type(row, type))
            continue;
        int when = mc_row_when(j, row);
        if (when == 0 && mc_row_live(j, row) != MC_FALSE)
            return;
        coming = when < 0 ? row : coming;
        ended = when > 0 ? row : ended;
    }
    mc_str target = mc_target_name(j), since = mc_as_str(mc_get(coming, "since")), until = mc_as_str(mc_get(ended, "until"));
    if (coming)
        mc_hit(j, "gguf", coming, MC_STR("quant-too-new"), MC_TARGET_REFUSES, mc_format(j->a, "tensors of type %.*s: it came with %.*s", MC_FMT(type), MC_FMT(since)),
               mc_format(j->a, "%.*s or newer", MC_FMT(since)));
    else if (ended)
        mc_hit(j, "gguf", ended, MC_STR("quant-removed"), MC_TARGET_REFUSES,
               mc_format(j->a, "tensors of type %.*s: the last release that reads it is %.*s", MC_FMT(type), MC_FMT(mc_release_before(j, until))), MC_STR(""));
    else
        mc_hit(j, "gguf", mc_get(j->f->root, "gguf"), MC_STR("quant-unknown"), MC_TARGET_REFUSES, mc_format(j->a, "%.*s does not read tensors of type %.*s", MC_FMT(target), MC_FMT(type)), MC_STR(""));
}

static void judge_gguf(mc_judge *j)
{
    const mc_value *block = mc_get(j->f->root, "gguf"), *types = mc_get(block, "types"), *slow = mc_get_str(mc_get(block, "slow"), j->o->platform);
    mc_fact         have = mc_judge_fact(j, "gguf.types");
    if (!block || have.type != MC_FACT_LIST)
        return;
    for (size_t i = 0; i < have.n; i++) {
        mc_str type = mc_str_copy(j->a, have.items[i].s);
        if (mc_is(types, MC_ARRAY))
            judge_type(j, types, type);
        if (j->o->platform.n && mc_has_str(slow, type.p))
            mc_hit(j, "gguf", block, MC_STR("quant-slow"), MC_TARGET_SLOW,
                   mc_format(j->a, "%.*s cannot multiply %.*s: those layers run on the CPU", MC_FMT(j->o->platform), MC_FMT(type)), MC_STR(""));
    }
}

void mc_judge_rows(mc_judge *j, const mc_framework *over)
{
    const mc_value *own = over ? over->root : NULL;
    if (!mc_get(own, "files"))
        judge_files(j);
    if (!mc_get(own, "platforms"))
        judge_platform(j);
    judge_gguf(j);
    if (!mc_get(own, "kv_dtypes"))
        mc_judge_kv(j);
}

/* ---- limits ---- */

/* A message names the first thing that the limit holds for; the others are counted. */
static void fire(mc_judge *j, const mc_value *row, mc_scope scope, mc_limit_hit **hit)
{
    mc_fact tensor = scope.each ? mc_judge_fact_at(j, scope, "tensor") : mc_fact_null();
    if (!*hit)
        *hit = mc_hit(j, "limits", row, mc_as_str(mc_get(row, "id")), mc_verdict_of(mc_as_str(mc_get(row, "verdict"))),
                      mc_fill(j->a, mc_as_str(mc_get(row, "message")), &j->facts, scope, NULL), mc_fill(j->a, mc_as_str(mc_get(row, "fix")), &j->facts, scope, NULL));
    else
        (*hit)->count++;
    if (*hit && tensor.type == MC_FACT_TEXT && (*hit)->n_subjects < MC_LIMIT_SUBJECTS)
        (*hit)->subjects[(*hit)->n_subjects++] = tensor.s;
}

static void judge_limit(mc_judge *j, const mc_value *row)
{
    const mc_value *when = mc_get(row, "when");
    mc_each         each = mc_each_of(mc_as_str(mc_get(row, "each")));
    mc_limit_hit   *hit = NULL;
    mc_str          because = MC_STR(""), one;
    mc_three        live = mc_row_live(j, row);
    if (live == MC_FALSE)
        return;
    /* What is false while all layers are unknown is false for each of them. Config groups change facts of the model. */
    if (each && each != MC_EACH_CONFIG_GROUP && mc_predicate_closed(when, &j->facts, MC_SCOPE_MODEL, NULL) == MC_FALSE)
        return;
    size_t n = each ? j->facts.count(j->facts.cx, each) : 1;
    for (size_t i = 0; i < n; i++) {
        mc_scope scope = each ? (mc_scope){ each, i } : MC_SCOPE_MODEL;
        if ((each == MC_EACH_ROW_PARALLEL || each == MC_EACH_COLUMN_PARALLEL) && mc_judge_fact_at(j, scope, "tensor").type != MC_FACT_TEXT)
            continue; /* a layer of the other role */
        mc_three t = mc_three_and(live, mc_predicate_eval(when, &j->facts, scope, NULL));
        if (t == MC_TRUE)
            fire(j, row, scope, &hit);
        else if (t == MC_MAYBE && !because.n && mc_predicate_closed(when, &j->facts, scope, &one) != MC_FALSE)
            because = one.n ? one : MC_STR("no --gpu");
    }
    if (!hit)
        mc_unchecked(j, mc_as_str(mc_get(row, "id")), because);
}

void mc_judge_limits(mc_judge *j)
{
    const mc_value *rows = mc_get(j->f->root, "limits");
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        judge_limit(j, mc_item(rows, i));
}
