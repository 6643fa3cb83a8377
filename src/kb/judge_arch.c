/* The block `architectures`: is the model's architecture one that the framework has at this version?
 *
 * The table is a TSV beside the file: one name a line, columns as `columns` says (name, category, since, until, plugin,
 * approx, backend, note). A name may have several rows. */
#include "kb/framework.h"

#include <string.h>

typedef enum { A_ABSENT, A_TOO_NEW, A_ENDED, A_PLUGIN, A_LIVE } state; /* from worst to best */
/* maybe: a general back end of the framework may run it at this version, though the framework has no class of its own. */
typedef struct { state state; mc_str name, boundary, plugin; bool maybe; } standing;
typedef struct { mc_span text; int name, since, until, plugin, approx, backend; } table;

static int column_of(const mc_value *columns, const char *name)
{
    for (size_t i = 0; mc_is(columns, MC_ARRAY) && i < columns->n; i++)
        if (mc_str_is(mc_item(columns, i)->s, name))
            return (int)i;
    return mc_is(columns, MC_ARRAY) || strcmp(name, "name") != 0 ? -1 : 0;
}

static mc_str cell(mc_str line, int i)
{
    for (; i > 0; i--)
        line = mc_str_cut(line, mc_str_find(line, '\t') + 1, line.n);
    mc_str s = i < 0 ? MC_STR("") : mc_str_cut(line, 0, mc_str_find(line, '\t'));
    return mc_str_is(s, "-") ? MC_STR("") : s;
}

static table open_table(mc_judge *j, const mc_value *block)
{
    const mc_value *columns = mc_get(block, "columns");
    mc_str          file = mc_format(j->a, "frameworks/%.*s", MC_FMT(mc_as_str(mc_get(block, "table"))));
    return (table){ mc_kb_file(j->kb, file.p), column_of(columns, "name"), column_of(columns, "since"), column_of(columns, "until"),
                    column_of(columns, "plugin"), column_of(columns, "approx"), column_of(columns, "backend") };
}

/* The column `backend`: first version from which on a general back end (that of Transformers) may run the architecture. */
static bool reached_by_backend(mc_judge *j, const table *t, mc_str line)
{
    mc_value since = { .type = MC_STRING, .s = cell(line, t->backend) };
    mc_field field = { MC_STR("since"), &since };
    mc_value row = { .type = MC_OBJECT, .n = 1, .u.fields = &field };
    return since.s.n && mc_row_when(j, &row) == 0;
}

/* A line as a row with since, until and approx, so that it is judged like every other. */
static standing stand(mc_judge *j, const table *t, mc_str line)
{
    mc_value since = { .type = MC_STRING, .s = cell(line, t->since) }, until = { .type = MC_STRING, .s = cell(line, t->until) };
    mc_value approx = { .type = MC_STRING, .s = cell(line, t->approx) }, yes = { .type = MC_BOOL, .u.b = true };
    mc_field fields[] = { { MC_STR("since"), &since }, { MC_STR("until"), &until }, { MC_STR("approx"), mc_str_is(approx.s, "true") ? &yes : &approx } };
    mc_value row = { .type = MC_OBJECT, .n = MC_COUNT(fields), .u.fields = fields };
    standing s = { A_LIVE, MC_STR(""), MC_STR(""), cell(line, t->plugin), false };
    int      when = mc_row_when(j, &row);
    if (when < 0)
        s = (standing){ A_TOO_NEW, MC_STR(""), since.s, s.plugin, reached_by_backend(j, t, line) };
    else if (when > 0)
        s = (standing){ s.plugin.n ? A_PLUGIN : A_ENDED, MC_STR(""), until.s, s.plugin, reached_by_backend(j, t, line) };
    else if (s.plugin.n && !until.s.n)
        s.state = A_PLUGIN;
    return s;
}

static standing look_up(mc_judge *j, const table *t, mc_str name)
{
    standing best = { A_ABSENT, name, MC_STR(""), MC_STR(""), false };
    mc_str   rest = { (const char *)t->text.p, t->text.n };
    while (rest.n) {
        size_t end = mc_str_find(rest, '\n');
        mc_str line = mc_str_cut(rest, 0, end);
        rest = mc_str_cut(rest, end + 1, rest.n);
        if (line.n == 0 || line.p[0] == '#' || !mc_str_eq(cell(line, t->name), name))
            continue;
        standing s = stand(j, t, line);
        s.name = name;
        if (s.state > best.state)
            best = s;
    }
    return best;
}

static void tell(mc_judge *j, const mc_value *block, const standing *s)
{
    mc_str id = MC_STR("arch"), target = mc_target_name(j), message, b = s->boundary;
    if (s->state == A_PLUGIN) {
        message = mc_format(j->a, "%.*s is served by the plugin %.*s", MC_FMT(s->name), MC_FMT(s->plugin));
        mc_hit(j, "architectures", block, id, MC_TARGET_NEEDS, message, mc_format(j->a, "install %.*s", MC_FMT(s->plugin)));
    } else if (s->state == A_ENDED) {
        message = mc_format(j->a, "%.*s was removed; the last release with it is %.*s", MC_FMT(s->name), MC_FMT(mc_release_before(j, b)));
        mc_hit_outcome(j, "architectures", block, s->maybe ? "on_unknown" : "on_removed", id, MC_TARGET_REFUSES, message, MC_STR(""));
    } else if (s->state == A_TOO_NEW) {
        message = mc_format(j->a, "%.*s is not in %.*s: it came with %.*s", MC_FMT(s->name), MC_FMT(target), MC_FMT(b));
        mc_hit_outcome(j, "architectures", block, !s->maybe && mc_get(block, "on_too_new") ? "on_too_new" : "on_unknown", id, MC_TARGET_REFUSES, message,
                       mc_format(j->a, "%.*s or newer", MC_FMT(b)));
    } else {
        message = mc_format(j->a, "%.*s is not in the list of %.*s", MC_FMT(s->name), MC_FMT(target));
        mc_hit_outcome(j, "architectures", block, "on_unknown", id, MC_TARGET_REFUSES, message, MC_STR(""));
    }
}

/* The name that the framework goes by: the best, the first, or the only one. */
static standing pick(mc_judge *j, const mc_value *block, const table *t, const mc_fact *names)
{
    mc_str   how = mc_as_str(mc_get(block, "pick"));
    standing best = { A_ABSENT, names->n ? names->items[0].s : MC_STR(""), MC_STR(""), MC_STR(""), false };
    size_t   n = mc_str_is(how, "first") && names->n ? 1 : names->n;
    for (size_t i = 0; i < n; i++) {
        standing s = look_up(j, t, names->items[i].s);
        if (i == 0 || s.state > best.state)
            best = s;
    }
    return best;
}

static void judge_block(mc_judge *j, const mc_value *block)
{
    mc_str  key = mc_as_str(mc_get(block, "key"));
    mc_fact f = j->facts.get(j->facts.cx, MC_SCOPE_MODEL, key), one = f;
    table   t = open_table(j, block);
    if (f.type == MC_FACT_UNKNOWN)
        mc_unchecked(j, MC_STR("arch"), f.why ? mc_str_of(f.why) : key);
    if (f.type == MC_FACT_TEXT)
        one = mc_fact_list(&f, 1);
    if (one.type != MC_FACT_LIST || one.n == 0)
        return;
    if (!t.text.p || t.name < 0) {
        mc_unchecked(j, MC_STR("arch"), MC_STR("no list of architectures"));
        return;
    }
    if (mc_str_is(mc_as_str(mc_get(block, "pick")), "only") && one.n > 1) {
        mc_hit(j, "architectures", block, MC_STR("arch"), MC_TARGET_REFUSES, mc_format(j->a, "config.json names %zu architectures; exactly one is taken", one.n), MC_STR(""));
        j->arch = MC_FALSE;
        return;
    }
    standing s = pick(j, block, &t, &one);
    j->arch = mc_three_or(j->arch == MC_MAYBE ? MC_FALSE : j->arch, s.state >= A_PLUGIN ? MC_TRUE : MC_FALSE);
    if (s.state != A_LIVE)
        tell(j, block, &s);
}

/* The model_type is built in if the framework's own list has it, or else that of the Transformers release that it stands on. */
static void judge_builtin(mc_judge *j)
{
    mc_fact type = mc_judge_fact(j, "config.model_type");
    j->builtin = type.type == MC_FACT_TEXT ? mc_fact_bool(mc_kb_builtin(j->kb, type.s)) : mc_fact_unknown(NULL);
}

void mc_judge_arch(mc_judge *j)
{
    const mc_value *blocks = mc_get(j->f->root, "architectures");
    judge_builtin(j);
    for (size_t i = 0; mc_is(blocks, MC_ARRAY) && i < blocks->n; i++)
        if (mc_row_live(j, mc_item(blocks, i)) == MC_TRUE && mc_predicate_closed(mc_get(mc_item(blocks, i), "when"), &j->facts, MC_SCOPE_MODEL, NULL) == MC_TRUE)
            judge_block(j, mc_item(blocks, i));
    if (mc_is(blocks, MC_OBJECT))
        judge_block(j, blocks);
}

/* ---- checks of a table ---- */

static const mc_value *block_at(const mc_framework *f, size_t i)
{
    const mc_value *blocks = mc_get(f->root, "architectures");
    return mc_is(blocks, MC_ARRAY) ? mc_item(blocks, i) : i == 0 ? blocks : NULL;
}

mc_str mc_framework_table(const mc_framework *f, size_t i)
{
    return mc_as_str(mc_get(block_at(f, i), "table"));
}

static void check_line(const mc_framework *f, const table *t, mc_str line, const mc_value *at, size_t columns, mc_faults *faults)
{
    mc_version low, high;
    mc_str     name = cell(line, t->name), since = cell(line, t->since), until = cell(line, t->until), edge = cell(line, t->approx);
    mc_str     backend = cell(line, t->backend);
    size_t     n = 1;
    for (size_t i = 0; i < line.n; i++)
        n += line.p[i] == '\t';
    if (n > columns)
        mc_fault_add(faults, at, "%zu fields, \"columns\" names %zu", n, columns);
    if (name.n == 0 || mc_str_find(name, ' ') < name.n)
        mc_fault_add(faults, at, "no name of an architecture");
    if (since.n && !mc_boundary_parse(since, f->build, &low, &high))
        mc_fault_add(faults, at, "\"%.*s\" is not a version", MC_FMT(since));
    if (until.n && !mc_boundary_parse(until, f->build, &low, &high))
        mc_fault_add(faults, at, "\"%.*s\" is not a version", MC_FMT(until));
    if (backend.n && !mc_boundary_parse(backend, f->build, &low, &high))
        mc_fault_add(faults, at, "\"%.*s\" is not a version", MC_FMT(backend));
    if (edge.n && !mc_str_is(edge, "true") && !mc_str_is(edge, "since") && !mc_str_is(edge, "until"))
        mc_fault_add(faults, at, "approx is true, since or until");
}

void mc_framework_table_check(const mc_framework *f, size_t i, mc_span text, mc_faults *faults)
{
    const mc_value *block = block_at(f, i), *columns = mc_get(block, "columns");
    table           t = { text, column_of(columns, "name"), column_of(columns, "since"), column_of(columns, "until"), column_of(columns, "plugin"), column_of(columns, "approx"), column_of(columns, "backend") };
    mc_str          rest = { (const char *)text.p, text.n };
    bool            source = false;
    if (t.name < 0)
        mc_fault_add(faults, NULL, "\"columns\" has no column \"name\"");
    while (rest.n) {
        size_t   end = mc_str_find(rest, '\n');
        mc_str   line = mc_str_cut(rest, 0, end);
        mc_value at = { .at = (uint32_t)(rest.p - (const char *)text.p) };
        rest = mc_str_cut(rest, end + 1, rest.n);
        source |= line.n && line.p[0] == '#';
        if (line.n && line.p[0] != '#' && t.name >= 0)
            check_line(f, &t, line, &at, mc_is(columns, MC_ARRAY) ? columns->n : 1, faults);
    }
    if (!source)
        mc_fault_add(faults, NULL, "no comment line says where the names were read");
}
