/* The framework matrix in reports: the JSON array, the line "loads in" of check, verdicts of --target, the table of show, and
 * which of several copies each framework opens. */
#include "report/report.h"

static const char *words(mc_target_verdict v)
{
    return v == MC_NO_KNOWN_OBSTACLE ? "no known obstacle" : mc_target_verdict_name(v);
}

/* ---- JSON ---- */

static void json_limit(mc_out *o, const mc_limit_hit *h)
{
    mc_js_open(o, NULL, '{', false);
    mc_js_str(o, "id", h->id);
    mc_js_str(o, "verdict", mc_str_of(mc_target_verdict_name(h->verdict)));
    mc_js_str(o, "message", h->message);
    mc_js_text(o, "fix", h->fix);
    mc_js_text(o, "since", h->since);
    mc_js_text(o, "until", h->until);
    mc_js_text(o, "source", h->source);
    mc_js_text(o, "date", h->date);
    mc_js_u64(o, "count", h->count);
    mc_js_open(o, "subjects", '[', true);
    for (size_t i = 0; i < h->n_subjects; i++)
        mc_js_str(o, NULL, h->subjects[i]);
    mc_js_close(o, ']');
    mc_js_close(o, '}');
}

static void json_files(mc_out *o, const mc_matrix *x, size_t at)
{
    const mc_reading *r = &x->reading[at];
    if (!r->known) {
        mc_js_null(o, "files");
        return;
    }
    mc_js_open(o, "files", '{', false);
    mc_js_str(o, "pattern", r->choice.pattern);
    mc_js_text(o, "index", r->choice.index);
    mc_js_u64(o, "read_bytes", r->read_bytes);
    mc_js_u64(o, "ignored_bytes", r->ignored_bytes);
    mc_js_u64(o, "twice_bytes", r->twice_bytes);
    mc_js_open(o, "ignored", '[', true);
    for (size_t i = 0; i < x->files->n_files; i++)
        if (!r->choice.taken[i])
            mc_js_str(o, NULL, x->files->files[i].path);
    mc_js_close(o, ']');
    mc_js_close(o, '}');
}

static void json_framework(mc_out *o, const mc_matrix *x, size_t at)
{
    const mc_verdict_list *v = &x->v[at];
    mc_js_open(o, NULL, '{', false);
    mc_js_str(o, "name", v->framework->name);
    mc_js_text(o, "version", v->version);
    mc_js_str(o, "verdict", mc_str_of(mc_target_verdict_name(v->verdict)));
    mc_js_text(o, "note", v->note);
    mc_js_text(o, "by", v->by);
    mc_js_open(o, "limits", '[', false);
    for (size_t i = 0; i < v->n_limits; i++)
        json_limit(o, &v->limits[i]);
    mc_js_close(o, ']');
    mc_js_open(o, "not_checked", '[', false);
    for (size_t i = 0; i < v->n_not_checked; i++) {
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "id", v->not_checked[i].id);
        mc_js_str(o, "because", v->not_checked[i].because);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
    json_files(o, x, at);
    mc_js_close(o, '}');
}

void mc_json_frameworks(mc_out *o, const mc_matrix *x)
{
    bool any = x && x->n > 0 && x->reading;
    mc_js_open(o, "frameworks", '[', !any);
    for (size_t i = 0; any && i < x->n; i++)
        json_framework(o, x, i);
    mc_js_close(o, ']');
}

/* ---- check, without a target: one line ---- */

/* Names of the frameworks whose verdict lies between two; false if there is none. */
static bool put_names(mc_out *o, const mc_matrix *x, const char *lead, mc_target_verdict from, mc_target_verdict to)
{
    size_t n = 0;
    for (size_t i = 0; i < x->n; i++) {
        if (x->v[i].verdict < from || x->v[i].verdict > to || x->v[i].outside || !mc_matrix_listed(x, i))
            continue;
        mc_put(o, n++ ? ", " : lead);
        mc_put_text(o, x->v[i].framework->name);
    }
    return n > 0;
}

void mc_text_loads_in(mc_out *o, const mc_matrix *x)
{
    size_t definite = 0;
    for (size_t i = 0; x && i < x->n; i++)
        definite += x->v[i].verdict != MC_TARGET_UNKNOWN && !x->v[i].outside;
    if (!x || x->asked || definite == 0)
        return;
    bool yes = false;
    mc_put(o, "  loads in  ");
    yes |= put_names(o, x, "", MC_NO_KNOWN_OBSTACLE, MC_NO_KNOWN_OBSTACLE);
    yes |= put_names(o, x, yes ? ", " : "", MC_TARGET_SLOW, MC_TARGET_SLOW);
    if (!yes)
        mc_put(o, "none without a further step");
    put_names(o, x, "     after a step in  ", MC_TARGET_NEEDS, MC_TARGET_NEEDS);
    put_names(o, x, "     not in  ", MC_TARGET_WRONG, MC_TARGET_REFUSES);
    mc_put(o, " (--target NAME says why)\n");
}

/* ---- check with targets ---- */

static void put_limit(mc_out *o, const mc_limit_hit *h)
{
    mc_putf(o, "            %-8s ", mc_target_verdict_name(h->verdict));
    mc_put_text(o, h->id);
    mc_put(o, ": ");
    mc_put_text(o, h->message);
    if (h->count > 1)
        mc_putf(o, " (%zu in all)", h->count);
    mc_put(o, "\n");
}

static void put_unchecked(mc_out *o, const mc_verdict_list *v)
{
    for (size_t i = 0; i < v->n_not_checked; i++) {
        mc_str why = v->not_checked[i].because;
        bool   first = true;
        for (size_t k = 0; k < i; k++)
            first = first && !mc_str_eq(v->not_checked[k].because, why);
        if (!first)
            continue;
        mc_put(o, "            not checked (");
        mc_put_text(o, why);
        mc_put(o, "): ");
        for (size_t k = i, n = 0; k < v->n_not_checked; k++) {
            if (!mc_str_eq(v->not_checked[k].because, why))
                continue;
            mc_put(o, n++ ? ", " : "");
            mc_put_text(o, v->not_checked[k].id);
        }
        mc_put(o, "\n");
    }
}

void mc_text_targets(mc_out *o, const mc_matrix *x, bool verbose)
{
    mc_arena a;
    mc_arena_init(&a, 1 << 20);
    for (size_t i = 0; x && x->asked && i < x->n; i++) {
        const mc_verdict_list *v = &x->v[i];
        mc_put(o, "  target    ");
        mc_put_text(o, mc_matrix_name(&a, v));
        mc_putf(o, ": %s", words(v->verdict));
        if (v->by.n) {
            mc_put(o, ", by ");
            mc_put_text(o, v->by);
        }
        mc_put(o, " (data as of ");
        mc_put_text(o, v->framework->date);
        mc_put(o, ")\n");
        if (v->note.n) {
            mc_put(o, "            ");
            mc_put_text(o, v->note);
            mc_put(o, "\n");
        }
        for (size_t k = 0; k < v->n_limits; k++)
            put_limit(o, &v->limits[k]);
        if (v->n_not_checked && (verbose || v->n_limits == 0))
            put_unchecked(o, v);
        else if (v->n_not_checked)
            mc_putf(o, "            %zu limit%s not checked (--verbose lists them)\n", v->n_not_checked, v->n_not_checked == 1 ? "" : "s");
    }
    mc_arena_free(&a);
}

/* ---- show ---- */

static void label(mc_out *o, const char *name)
{
    mc_putf(o, "  %-14s", name);
}

void mc_text_matrix(mc_out *o, const mc_matrix *x)
{
    mc_arena a;
    size_t   shown = 0;
    mc_arena_init(&a, 1 << 20);
    for (size_t i = 0; x && i < x->n; i++) {
        const mc_verdict_list *v = &x->v[i];
        if (!mc_matrix_listed(x, i))
            continue;
        label(o, shown++ ? "" : "frameworks");
        mc_putf(o, "%-24.*s %s", MC_FMT(mc_matrix_name(&a, v)), words(v->verdict));
        if (v->n_limits) {
            mc_put(o, "   ");
            mc_put_text(o, v->limits[0].id);
            mc_put(o, ": ");
            mc_put_text(o, v->limits[0].message);
            if (v->n_limits > 1)
                mc_putf(o, " (and %zu more)", v->n_limits - 1);
        } else if (v->outside) {
            mc_put(o, "   ");
            mc_put_text(o, v->note);
        }
        mc_put(o, "\n");
    }
    mc_arena_free(&a);
}

/* Frameworks that open the same files are told in one line. */
static void copies_line(mc_out *o, const mc_matrix *x, size_t i)
{
    size_t n = 0;
    for (size_t k = i; k < x->n; k++)
        if (mc_matrix_listed(x, k) && mc_matrix_same_files(x, i, k)) {
            mc_put(o, n++ ? ", " : "");
            mc_put_text(o, x->v[k].framework->name);
        }
    const mc_reading *r = &x->reading[i];
    mc_put(o, n == 1 ? " reads " : " read ");
    mc_put_plural(o, r->n_read, "file");
    mc_put(o, ", ");
    mc_put_size(o, r->read_bytes);
    if (r->choice.index.n) {
        mc_put(o, " by ");
        mc_put_text(o, r->choice.index);
    } else {
        mc_put(o, " (");
        mc_put_text(o, r->choice.pattern);
        mc_put(o, ")");
    }
    if (r->twice_bytes) {
        mc_put(o, ", ");
        mc_put_size(o, r->twice_bytes);
        mc_put(o, " of them a second copy");
    }
}

void mc_text_copies(mc_out *o, const mc_model *m, const mc_matrix *x, mc_arena *a)
{
    bool differ = false;
    if (!x || !x->reading || !x->files || x->files->n_files < 2)
        return;
    for (size_t i = 0; i < x->n; i++)
        differ |= x->reading[i].known && (x->reading[i].n_ignored || x->reading[i].twice_bytes);
    for (size_t i = 0, shown = 0; differ && i < x->n; i++) {
        if (!mc_matrix_first_reader(x, i))
            continue;
        label(o, shown++ ? "" : "copies");
        copies_line(o, x, i);
        mc_put(o, "\n");
        if (x->reading[i].n_ignored == 0)
            continue;
        label(o, "");
        mc_put(o, "  not read: ");
        mc_put_size(o, x->reading[i].ignored_bytes);
        mc_put(o, "   ");
        mc_put_text(o, mc_matrix_excludes(a, m, x, i));
        mc_put(o, "\n");
    }
}
