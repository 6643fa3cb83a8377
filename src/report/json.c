/* The JSON document, schema modelcheck.report/1. Fields and their order are the contract with users: they are only ever
 * added (docs/report.schema.json). What is not known is null. */
#include "modelcheck.h"
#include "report/report.h"

#include <inttypes.h>

static void known_int(mc_out *o, const char *key, mc_int v)
{
    mc_js_known(o, key, v.known && v.v >= 0, (uint64_t)v.v);
}

static void identity(mc_out *o, const mc_model *m)
{
    const mc_arch *a = &m->arch;
    mc_js_str(o, "path", m->path);
    mc_js_text(o, "format", mc_str_of(mc_format_name(m)));
    mc_js_str(o, "kind", mc_str_of(mc_kind_name(m->kind)));
    mc_js_open(o, "architecture", '{', true);
    mc_js_text(o, "name", a->name.known ? a->name.v : MC_STR(""));
    mc_str type = mc_as_str(mc_get(mc_model_config(m), "model_type")); /* of the whole, where arch speaks of the text model */
    mc_js_text(o, "model_type", type.n ? type : a->model_type.known ? a->model_type.v : MC_STR(""));
    known_int(o, "layers", a->layers);
    known_int(o, "hidden", a->hidden);
    known_int(o, "heads", a->heads);
    known_int(o, "kv_heads", a->kv_heads);
    known_int(o, "head_dim", a->head_dim);
    known_int(o, "vocab", a->vocab);
    known_int(o, "context", a->context);
    known_int(o, "experts", a->experts);
    mc_js_close(o, '}');
}

static void weights(mc_out *o, const mc_model *m, const mc_mix *mix)
{
    bool     dense, read = mc_tensors_known(m);
    uint64_t active = mc_active_parameters(m, &dense);
    mc_js_open(o, "parameters", '{', true);
    known_int(o, "total", m->parameters);
    mc_js_known(o, "active", dense, active);
    known_int(o, "expected", m->expected);
    known_int(o, "stored_elements", m->stored_elements);
    mc_js_close(o, '}');
    mc_js_open(o, "weights", '{', true);
    mc_js_u64(o, "files", mc_read_files(m));
    mc_js_known(o, "tensors", read, m->n_tensors);
    known_int(o, "bytes", m->weights_bytes);
    mc_js_u64(o, "duplicate_bytes", m->duplicate_bytes);
    mc_js_close(o, '}');
    mc_js_open(o, "dtypes", '[', false);
    for (size_t i = 0; i < mix->n; i++) {
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "dtype", mix->rows[i].dtype);
        mc_js_u64(o, "tensors", mix->rows[i].tensors);
        mc_js_u64(o, "elements", mix->rows[i].elements);
        mc_js_u64(o, "bytes", mix->rows[i].bytes);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
}

static void finding(mc_out *o, const mc_model *m, const mc_finding *f)
{
    char print[17];
    snprintf(print, sizeof print, "%016" PRIx64, f->fingerprint);
    mc_js_open(o, NULL, '{', false);
    mc_js_str(o, "code", mc_str_of(f->rule->code));
    mc_js_str(o, "slug", mc_str_of(f->rule->slug));
    mc_js_str(o, "severity", mc_str_of(mc_severity_name(f->severity)));
    mc_js_str(o, "certainty", mc_str_of(mc_certainty_name(f->rule->certainty)));
    mc_js_text(o, "file", mc_file_path(m, f->file));
    mc_js_str(o, "message", f->message);
    mc_js_u64(o, "count", f->count);
    mc_js_open(o, "subjects", '[', true);
    for (size_t i = 0; i < f->n_subjects; i++)
        mc_js_str(o, NULL, f->subjects[i]);
    mc_js_close(o, ']');
    mc_js_open(o, "evidence", '[', false);
    for (size_t i = 0; i < f->n_evidence; i++) {
        const mc_evidence *e = &f->evidence[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "key", e->key);
        mc_js_str(o, "value", e->value);
        mc_js_text(o, "file", mc_file_path(m, e->from.file));
        mc_js_text(o, "where", e->from.where);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
    mc_js_text(o, "fix", f->fix);
    mc_js_str(o, "fingerprint", mc_str_of(print));
    mc_js_close(o, '}');
}

static void findings(mc_out *o, const mc_result *r)
{
    const mc_model *m = r->model;
    mc_js_open(o, "suppressed", '[', false);
    for (size_t i = 0; i < r->findings.n; i++) {
        const mc_finding *f = &r->findings.v[i];
        if (!f->silenced_by)
            continue;
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "code", mc_str_of(f->rule->code));
        mc_js_str(o, "by", mc_str_of(f->silenced_by->code));
        mc_js_text(o, "file", mc_file_path(m, f->file));
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
    mc_js_open(o, "findings", '[', false);
    for (size_t i = 0; i < r->findings.n; i++)
        if (!r->findings.v[i].silenced_by)
            finding(o, m, &r->findings.v[i]);
    mc_js_close(o, ']');
}

static void because(mc_out *o, const char *key, mc_str what, const char *reason)
{
    mc_js_open(o, NULL, '{', true);
    mc_js_str(o, key, what);
    mc_js_str(o, "because", mc_str_of(reason));
    mc_js_close(o, '}');
}

static void coverage(mc_out *o, const mc_run_result *run, const mc_model *m, mc_arena *a)
{
    mc_js_open(o, "coverage", '{', false);
    mc_js_bool(o, "complete", !m->incomplete && !m->arena->failed);
    mc_js_u64(o, "files", m->n_files);
    mc_js_open(o, "files_not_evaluated", '[', false);
    for (size_t i = 0; i < m->n_files; i++) {
        const char *why = mc_not_evaluated(m, &m->files[i], a);
        if (why)
            because(o, "file", m->files[i].path, why);
    }
    mc_js_close(o, ']');
    mc_js_open(o, "checks_not_evaluated", '[', false);
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 0; i < mc_families[f]->n; i++) {
            const char *option = mc_needs_option(&mc_families[f]->rules[i], &run->rules);
            if (option)
                because(o, "code", mc_str_of(mc_families[f]->rules[i].code), mc_format(a, "needs %s", option).p);
        }
    mc_js_close(o, ']');
    mc_js_u64(o, "bytes_read", m->bytes_read);
    mc_js_close(o, '}');
}

static void model(mc_out *o, const mc_run_result *run, const mc_result *r, const mc_report_options *options)
{
    mc_arena a;
    mc_arena_init(&a, MC_MAX_ARENA);
    mc_mix mix = mc_dtype_mix(run, r->model, &a);
    mc_js_open(o, NULL, '{', false);
    identity(o, r->model);
    weights(o, r->model, &mix);
    mc_json_quantization(o, r->model, &mix, &a);
    mc_json_memory(o, r, options->command && options->command[0] == 'm');
    mc_json_frameworks(o, r->matrix);
    findings(o, r);
    coverage(o, run, r->model, &a);
    if (options->command && options->command[0] == 's')
        mc_json_quant_mix(o, r->model);
    if (options->tensors) {
        mc_json_modules(o, r->model);
        mc_json_tensors(o, r, run);
    }
    mc_js_close(o, '}');
    mc_arena_free(&a);
}

void mc_json_head(mc_out *o, mc_arena *a)
{
    mc_js_open(o, NULL, '{', false);
    mc_js_str(o, "schema", MC_STR("modelcheck.report/1"));
    mc_js_open(o, "tool", '{', true);
    mc_js_str(o, "name", MC_STR("modelcheck"));
    mc_js_str(o, "version", MC_STR(MODELCHECK_VERSION));
    mc_js_text(o, "rules", mc_rules_date(a));
    mc_js_close(o, '}');
}

void mc_report_json(FILE *out, const mc_run_result *run, const mc_report_options *options)
{
    mc_out    o = { .f = out };
    mc_totals t = mc_count_findings(run);
    mc_arena  a;
    mc_arena_init(&a, 1 << 20);
    mc_json_head(&o, &a);
    mc_arena_free(&a);
    mc_js_open(&o, "models", '[', false);
    for (size_t i = 0; i < run->n_results; i++)
        model(&o, run, &run->results[i], options);
    mc_js_close(&o, ']');
    mc_js_open(&o, "errors", '[', false);
    for (size_t i = 0; i < run->n_errors; i++) {
        mc_js_open(&o, NULL, '{', true);
        mc_js_str(&o, "path", run->errors[i].path);
        mc_js_str(&o, "message", run->errors[i].message);
        mc_js_close(&o, '}');
    }
    mc_js_close(&o, ']');
    mc_js_open(&o, "summary", '{', true);
    mc_js_u64(&o, "models", run->n_results);
    mc_js_u64(&o, "errors", t.errors);
    mc_js_u64(&o, "warnings", t.warnings);
    mc_js_u64(&o, "infos", t.infos);
    mc_js_u64(&o, "suppressed", t.suppressed);
    mc_js_u64(&o, "exit", (uint64_t)run->exit_status);
    mc_js_close(&o, '}');
    mc_js_close(&o, '}');
}
