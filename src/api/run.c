/* One run over a list of paths: every model is scanned, measured and judged once. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

/* ---- one model ---- */

/* Drops what the user does not want to see, after suppression, so that an ignored cause still explains its consequences. */
static void apply_policy(const mc_options *o, const mc_model *m, mc_findings *all)
{
    size_t kept = 0;
    bool   moved = false;
    for (size_t i = 0; i < all->n; i++) {
        mc_finding *f = &all->v[i];
        if ((o->select.n && !mc_selects(&o->select, f->rule)) || mc_selects(&o->ignore, f->rule) || mc_ignores_limit(o, f))
            continue;
        for (size_t k = 0; k < o->n_overrides; k++)
            if (mc_selector_hits(&o->overrides[k].rule, f->rule)) {
                f->severity = o->overrides[k].level;
                moved = true;
            }
        all->v[kept++] = *f;
    }
    all->n = kept;
    if (moved)
        mc_order_findings(m, all);
}

/* A limit or an I/O error left something unread, or there was nothing to check. An adapter, a projector or a vocabulary
 * explains why there is no model and is a result; that weights were asked for, or broke off on the way, explains nothing. */
static bool could_not_check(const mc_model *m, const mc_findings *all)
{
    bool nothing = false, result = false;
    if (m->incomplete || m->arena->failed)
        return true;
    for (size_t i = 0; i < all->n; i++) {
        const mc_finding *f = &all->v[i];
        mc_str            code = mc_str_of(f->rule->code), by = mc_str_of(f->silenced_by ? f->silenced_by->code : NULL);
        if (mc_str_is(code, "MC901") || mc_str_is(code, "MC902"))
            return true;
        if (mc_str_is(code, "MC903"))
            nothing = by.n == 0 || mc_str_is(by, "MC904") || mc_str_is(by, "MC109");
        result |= mc_str_is(code, "MC470") || mc_str_is(code, "MC611") || mc_str_is(code, "MC612");
    }
    return nothing && !result;
}

static void judge(modelcheck *mc, mc_result *r)
{
    mc_model       *m = r->model;
    mc_rule_options options = mc->options.rules;
    r->findings = (mc_findings){ .arena = m->arena };
    mc_floor_compute(m, &mc->run.kb, &mc->options.floor, m->arena, &r->floor);
    options.tp = mc->options.targets.options.tp;
    r->matrix = options.matrix = mc_matrix_judge(m->arena, m, &mc->run.kb, &mc->options.targets);
    mc_run_rules(m, &mc->run.kb, &r->floor, &options, &r->findings);
    mc->unchecked |= could_not_check(m, &r->findings);
    apply_policy(&mc->options, m, &r->findings);
}

/* ---- many paths ---- */

/* "./a//b/" and "a/b" are one path. Nothing is resolved: ".." and links stay. */
static mc_str plain(mc_arena *a, mc_str s)
{
    char  *p = mc_alloc(a, s.n + 1, 1);
    size_t n = 0, i = 0;
    if (!p)
        return s;
    if (s.n && s.p[0] == '/')
        p[n++] = '/';
    while (i < s.n) {
        size_t end = i + mc_str_find(mc_str_cut(s, i, s.n), '/');
        if (end > i && !(end == i + 1 && s.p[i] == '.')) {
            if (n && p[n - 1] != '/')
                p[n++] = '/';
            memcpy(p + n, s.p + i, end - i);
            n += end - i;
        }
        i = end + 1;
    }
    return (mc_str){ p, n };
}

/* A shard stands for its directory: when that was checked, and the shard is among what was read, it is done. Spares one
 * walk of the directory for each file name that pre-commit passes. */
static bool done_before(modelcheck *mc, mc_str path)
{
    mc_str   want = plain(&mc->run.arena, path), base = mc_str_base(want);
    uint32_t i = mc_strset_find(&mc->seen, plain(&mc->run.arena, mc_str_dir(want)));
    if (i == MC_NO_ID || i >= mc->run.n_results || mc->run.results[i].model->unit != MC_UNIT_DIR)
        return false;
    const mc_model *m = mc->run.results[i].model;
    for (size_t k = 0; k < m->n_files; k++)
        if (m->files[k].in_read_set && mc_str_eq(m->files[k].path, base))
            return true;
    return false;
}

static void add_error(mc_run_result *run, mc_str path, const char *message)
{
    mc_failure *v = mc_grow(&run->arena, run->errors, run->n_errors, &run->cap_errors, sizeof *v);
    if (!v)
        return;
    run->errors = v;
    v[run->n_errors++] = (mc_failure){ path, mc_str_copy(&run->arena, mc_str_of(message)) };
}

/* Ids of `seen` are indexes of `results` until these are sorted. */
static void add_result(modelcheck *mc, mc_model *m)
{
    mc_run_result *run = &mc->run;
    bool           added = false;
    mc_result     *v = mc_grow(&run->arena, run->results, run->n_results, &run->cap_results, sizeof *v);
    uint32_t       id = v ? mc_strset_add(&mc->seen, plain(&run->arena, m->path), &added) : MC_NO_ID;
    if (v)
        run->results = v;
    if (id == MC_NO_ID || !added) {
        mc_model_free(m);
        return;
    }
    v[run->n_results] = (mc_result){ .model = m };
    judge(mc, &v[run->n_results++]);
}

static void check_path(modelcheck *mc, mc_str path)
{
    mc_model_list list = { .arena = &mc->run.arena };
    int           os_error = 0;
    if (done_before(mc, path))
        return;
    mc_err err = mc_scan_path(path.p, &mc->options.scan, &mc->run.kb, &list, &os_error);
    if (err.code != MC_OK)
        add_error(&mc->run, path, os_error ? strerror(os_error) : err.what ? err.what : "cannot be read");
    else if (list.n == 0)
        add_error(&mc->run, path, "nothing to check was found");
    for (size_t i = 0; i < list.n; i++)
        add_result(mc, list.v[i]);
}

static int by_path(const void *a, const void *b)
{
    return mc_str_cmp(((const mc_result *)a)->model->path, ((const mc_result *)b)->model->path);
}

/* Data files of the user. A fault stops the run: half of a policy is none. */
static const char *take_rules(modelcheck *mc)
{
    mc_options *o = &mc->options;
    for (size_t i = 0; i < o->n_rules_dirs; i++) {
        mc_rules_files files;
        int            os_error = 0;
        mc_str         dir = o->rules_dirs[i];
        const char    *why = mc_rules_read(&mc->run.arena, dir.p, &files, &os_error) ? mc_rules_take(&mc->run.arena, &mc->run.kb, &files, dir)
                                                                                     : os_error ? strerror(os_error) : "cannot be read";
        if (why) {
            add_error(&mc->run, dir, why);
            return why;
        }
    }
    return NULL;
}

const char *modelcheck_prepare(modelcheck *mc)
{
    mc_run_result *run = &mc->run;
    if (mc->kb_ready)
        return mc->unfit;
    mc->kb_ready = true;
    if (mc_kb_init(&run->kb).code != MC_OK || !mc_strset_init(&mc->seen, &run->arena, 16)) {
        mc->unfit = "cannot be decoded, or out of memory";
        add_error(run, MC_STR("knowledge base"), mc->unfit);
    } else if (!(mc->unfit = take_rules(mc)) && (mc->unfit = mc_targets_known(&mc->options, &run->kb)) != NULL) {
        add_error(run, MC_STR("target"), mc->unfit);
    }
    return mc->unfit;
}

int modelcheck_run(modelcheck *mc)
{
    mc_run_result *run = &mc->run;
    if (mc->ran)
        return modelcheck_status(mc, NULL);
    mc->ran = true;
    run->fail_on = mc->options.fail_on;
    run->fail_never = mc->options.fail_never;
    mc->options.rules.ask = &mc->options.floor;
    run->rules = mc->options.rules;
    for (size_t i = 0; !modelcheck_prepare(mc) && i < mc->n_paths; i++)
        check_path(mc, mc->paths[i]);
    if (run->n_results)
        qsort(run->results, run->n_results, sizeof *run->results, by_path);
    mc->unchecked |= run->n_errors || run->n_results == 0 || run->arena.failed;
    return modelcheck_status(mc, NULL);
}

/* `check`: findings first, then what could not be checked. `memory` has one finding: it does not fit. `show` has none. */
int modelcheck_status(const modelcheck *mc, const char *view)
{
    const mc_run_result *run = &mc->run;
    bool                 check = !view || strcmp(view, "check") == 0, memory = view && strcmp(view, "memory") == 0;
    for (size_t i = 0; i < run->n_results; i++) {
        const mc_result *r = &run->results[i];
        if (memory && run->rules.vram && mc_fits(&r->floor, run->rules.vram) == MC_FIT_NO)
            return 1;
        for (size_t k = 0; check && !run->fail_never && k < r->findings.n; k++)
            if (!r->findings.v[k].silenced_by && r->findings.v[k].severity >= run->fail_on)
                return 1;
    }
    return mc->unchecked ? 3 : 0;
}
