/* The handle of the public API: options and paths in, reports out. run.c does the work between. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

const char *modelcheck_version(void)
{
    return MODELCHECK_VERSION;
}

modelcheck *modelcheck_new(void)
{
    modelcheck *mc = calloc(1, sizeof *mc);
    if (!mc)
        return NULL;
    mc_arena_init(&mc->arena, MC_MAX_ARENA);
    mc_arena_init(&mc->run.arena, MC_MAX_ARENA);
    mc->options.arena = &mc->arena;
    mc->options.fail_on = MC_ERROR;
    return mc;
}

void modelcheck_free(modelcheck *mc)
{
    if (!mc)
        return;
    for (size_t i = 0; i < mc->run.n_results; i++)
        mc_model_free(mc->run.results[i].model);
    if (mc->kb_ready)
        mc_kb_free(&mc->run.kb);
    mc_arena_free(&mc->run.arena);
    mc_arena_free(&mc->arena);
    free(mc);
}

const char *modelcheck_set(modelcheck *mc, const char *option, const char *value)
{
    const mc_option *o = mc_option_find(option);
    if (!o || !o->set)
        return "there is no such option";
    if (o->arg && !value)
        return "a value is missing";
    if (!o->arg && value)
        return "it takes no value";
    return o->set(&mc->options, value);
}

const char *modelcheck_add(modelcheck *mc, const char *path)
{
    mc_str *v = mc_grow(&mc->arena, mc->paths, mc->n_paths, &mc->cap_paths, sizeof *v);
    if (!v)
        return "out of memory";
    mc->paths = v;
    v[mc->n_paths] = mc_str_copy(&mc->arena, mc_str_of(path));
    if (v[mc->n_paths].n != strlen(path))
        return "out of memory";
    mc->n_paths++;
    return NULL;
}

static bool in_color(const mc_options *o, FILE *out)
{
    const char *no = getenv("NO_COLOR");
    if (o->color == MC_COLOR_AUTO)
        return !(no && *no) && isatty(fileno(out)) == 1;
    return o->color == MC_COLOR_ALWAYS;
}

/* $COLUMNS, else those of the terminal; 0: neither. */
static unsigned columns_of(FILE *out)
{
    struct winsize w;
    const char    *text = getenv("COLUMNS");
    uint64_t       n;
    if (text && mc_str_u64(mc_str_of(text), &n) && n > 0 && n < 10000)
        return (unsigned)n;
    return isatty(fileno(out)) == 1 && ioctl(fileno(out), TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

/* What `memory` says beside the floor asks for many floors: only that view pays for it. */
static void answer(modelcheck *mc)
{
    for (size_t i = 0; i < mc->run.n_results; i++) {
        mc_result  *r = &mc->run.results[i];
        mc_question q = mc_question_of(&mc->run, r);
        if (!r->answers && (r->answers = MC_NEW(r->model->arena, mc_answers, 1)) != NULL)
            mc_answer(&q, mc->options.report.estimates, r->model->arena, r->answers);
    }
}

const char *modelcheck_write(modelcheck *mc, FILE *out, const char *format, const char *view)
{
    bool               svg = format && strcmp(format, "svg") == 0;
    const mc_reporter *r = mc_reporter_find(format && !svg ? format : "text");
    mc_report_options  o = mc->options.report;
    o.command = view ? view : "check";
    if (!r)
        return "no such format: text or json";
    if (strcmp(o.command, "check") != 0 && strcmp(o.command, "show") != 0 && strcmp(o.command, "memory") != 0)
        return "no such view: check, show or memory";
    if (svg && strcmp(o.command, "memory") != 0)
        return "a picture is a format of the view memory only";
    if (strcmp(o.command, "memory") == 0)
        answer(mc);
    o.color = in_color(&mc->options, out);
    o.columns = columns_of(out);
    mc->run.exit_status = modelcheck_status(mc, o.command);
    if (svg)
        mc_plot_memory(out, &mc->run);
    else
        r->write(out, &mc->run, &o);
    return fflush(out) != 0 || ferror(out) ? "the report could not be written" : NULL;
}

/* ---- rules ---- */

/* Codes are taken in either case. */
static const mc_rule *find_rule(const char *name)
{
    char           code[] = "MC000";
    const mc_rule *r = mc_rule_find(mc_str_of(name));
    if (r || strlen(name) != 5 || (name[0] != 'm' && name[0] != 'M') || (name[1] != 'c' && name[1] != 'C'))
        return r;
    memcpy(code + 2, name + 2, 3);
    return mc_rule_find(mc_str_of(code));
}

const char *modelcheck_rules(FILE *out, const char *format, const char *rule)
{
    const mc_rule *r = rule ? find_rule(rule) : NULL;
    if (rule && !r)
        return "there is no such rule";
    if (!mc_write_rules(out, r, format ? format : "text"))
        return rule ? "no such format: text or json" : "no such format: text, json or md";
    return fflush(out) != 0 || ferror(out) ? "the text could not be written" : NULL;
}

const char *modelcheck_explain_error(FILE *out, const char *format, const char *message)
{
    mc_kb       kb;
    size_t      found;
    const char *problem = mc_kb_init(&kb).code == MC_OK ? NULL : "out of memory";
    if (!problem && !mc_write_causes(out, &kb, message, format ? format : "text", &found))
        problem = "no such format: text or json";
    mc_kb_free(&kb);
    return problem ? problem : fflush(out) != 0 || ferror(out) ? "the text could not be written" : NULL;
}

int modelcheck_rule_known(const char *rule)
{
    return find_rule(rule) != NULL;
}

/* ---- walking ---- */

size_t modelcheck_models(const modelcheck *mc)
{
    return mc->run.n_results;
}

const char *modelcheck_model_path(const modelcheck *mc, size_t model)
{
    return model < mc->run.n_results ? mc->run.results[model].model->path.p : NULL;
}

size_t modelcheck_errors(const modelcheck *mc)
{
    return mc->run.n_errors;
}

int modelcheck_error_at(const modelcheck *mc, size_t i, const char **path, const char **message)
{
    if (i >= mc->run.n_errors)
        return -1;
    *path = mc->run.errors[i].path.p;
    *message = mc->run.errors[i].message.p;
    return 0;
}

size_t modelcheck_findings(const modelcheck *mc, size_t model)
{
    size_t n = 0;
    for (size_t i = 0; model < mc->run.n_results && i < mc->run.results[model].findings.n; i++)
        n += !mc->run.results[model].findings.v[i].silenced_by;
    return n;
}

/* Texts of a model are slices; what leaves the library ends with NUL. */
static const char *text(mc_model *m, mc_str s)
{
    return mc_str_copy(m->arena, s).p;
}

int modelcheck_finding_at(const modelcheck *mc, size_t model, size_t i, modelcheck_finding *out)
{
    if (model >= mc->run.n_results)
        return -1;
    mc_model          *m = mc->run.results[model].model;
    const mc_findings *all = &mc->run.results[model].findings;
    for (size_t k = 0; k < all->n; k++) {
        const mc_finding *f = &all->v[k];
        if (f->silenced_by || i-- > 0)
            continue;
        *out = (modelcheck_finding){
            .code = f->rule->code, .slug = f->rule->slug, .severity = mc_severity_name(f->severity),
            .certainty = mc_certainty_name(f->rule->certainty), .file = f->file == MC_NONE ? NULL : text(m, mc_file_path(m, f->file)),
            .message = text(m, f->message), .fix = text(m, f->fix), .count = f->count, .fingerprint = f->fingerprint,
        };
        return 0;
    }
    return -1;
}
