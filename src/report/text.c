/* The report for people: what it is, what is wrong, what to do. One finding is one line, then its evidence, then the fix. */
#include "model/quant.h"
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

/* ---- the head of a model: also used by `show` and `memory` ---- */

/* What the files of the read set are to one another. */
static const char *noun(const mc_model *m)
{
    uint32_t set = MC_NONE, component = MC_NONE;
    bool     one_set = !m->mixed, numbered = !m->mixed;
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (!f->in_read_set)
            continue;
        if (f->role == MC_ROLE_BYTE_PART)
            return "part";
        one_set &= set == MC_NONE || set == f->set;
        numbered &= f->shards > 0 && (component == MC_NONE || component == f->component);
        set = f->set;
        component = f->component;
    }
    return one_set || numbered ? "shard" : "file";
}

static void put_format(mc_out *o, const mc_model *m)
{
    const char *format = mc_format_name(m);
    size_t      files = mc_read_files(m);
    if (!format) {
        mc_put(o, "no weights");
        return;
    }
    mc_put(o, strcmp(format, "other") == 0 ? mc_container_name(m->format) : format);
    if (files > 1) {
        mc_put(o, ", ");
        mc_put_plural(o, files, noun(m));
    }
}

void mc_text_header(mc_out *o, const mc_run_result *run, const mc_result *r)
{
    const mc_model *m = r->model;
    (void)run;
    mc_put_styled(o, MC_BOLD, m->path);
    mc_put(o, "   ");
    put_format(o, m);
    mc_str name = m->arch.name.known ? m->arch.name.v : m->arch.model_type.known ? m->arch.model_type.v : MC_STR("");
    if (name.n) {
        mc_put(o, "   ");
        mc_put_text(o, name);
    }
    if (m->kind != MC_KIND_CAUSAL_LM && m->kind != MC_KIND_NONE && m->kind != MC_KIND_OTHER)
        mc_putf(o, "   %s", mc_kind_name(m->kind));
    if (m->parameters.known && m->parameters.v > 0) {
        mc_put(o, "   ");
        mc_put_number(o, (uint64_t)m->parameters.v);
        mc_put(o, " parameters");
    }
    (void)mc_text_scheme(o, "   ", m);
    mc_put(o, "\n");
}

void mc_text_mix(mc_out *o, const mc_mix *mix)
{
    uint64_t total = 0;
    for (size_t i = 0; i < mix->n; i++)
        if (ckd_add(&total, total, mix->rows[i].bytes))
            total = UINT64_MAX;
    for (size_t i = 0; i < mix->n; i++) {
        double share = total ? 100.0 * (double)mix->rows[i].bytes / (double)total : 0;
        mc_put(o, i ? ", " : "");
        mc_put_text(o, mix->rows[i].dtype);
        if (mix->n > 1)
            mc_putf(o, share < 0.5 ? " <1 %%" : " %.0f %%", share);
    }
}

/* A set of many shards is named by its first and last file. */
static void files_line(mc_out *o, const mc_model *m)
{
    size_t   n = mc_read_files(m), seen = 0;
    uint64_t bytes = 0;
    if (n == 0 || m->unit == MC_UNIT_FILE)
        return;
    mc_put(o, "  files     ");
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (!f->in_read_set)
            continue;
        seen++;
        if (ckd_add(&bytes, bytes, f->size))
            bytes = UINT64_MAX;
        if (n > 4 && seen > 1 && seen < n)
            continue;
        mc_put(o, seen == 1 ? "" : n > 4 ? " ... " : "   ");
        mc_put_text(o, f->path);
        if (n <= 4) {
            mc_put(o, "  ");
            mc_put_size(o, f->size);
        }
    }
    if (n > 4) {
        mc_putf(o, "   %zu files  ", n);
        mc_put_size(o, bytes);
    }
    mc_put(o, "\n");
}

static void weights_line(mc_out *o, const mc_run_result *run, const mc_model *m)
{
    double   bits;
    mc_arena a;
    if (!m->weights_bytes.known || !mc_tensors_known(m))
        return;
    mc_arena_init(&a, MC_MAX_ARENA);
    mc_mix mix = mc_dtype_mix(run, m, &a);
    mc_put(o, "  weights   ");
    mc_put_size(o, (uint64_t)m->weights_bytes.v);
    mc_put(o, mix.n ? ": " : "");
    mc_text_mix(o, &mix);
    bool quantized = m->quant && m->quant->n_packed && m->quant->linear_known;
    if (quantized)
        mc_putf(o, "   linear layers %.2f bits per weight", m->quant->linear_bpw);
    if (mc_bits_per_weight(m, &bits))
        mc_putf(o, quantized ? ", whole file %.2f" : "   %.2f bits per weight", bits);
    mc_put(o, "\n");
    mc_arena_free(&a);
}

/* "(8192 tokens × 1 sequence × 56 KiB, fp16)"; without the product where windows and rounding make it something else. */
static void cache_words(mc_out *o, const mc_floor *f)
{
    uint64_t each;
    bool     plain = !ckd_mul(&each, f->kv_bytes_per_token, f->context) && !ckd_mul(&each, each, f->sequences) && each == f->kv_bytes;
    mc_putf(o, " (%" PRIu64 " tokens%s%" PRIu64 " sequence%s%s", f->context, plain ? " × " : ", ", f->sequences, f->sequences == 1 ? "" : "s", plain ? " × " : "");
    if (plain)
        mc_put_size(o, f->kv_bytes_per_token);
    mc_put(o, ", ");
    mc_put_text(o, f->kv_dtype_k);
    if (!mc_str_eq(f->kv_dtype_k, f->kv_dtype_v)) {
        mc_put(o, "/");
        mc_put_text(o, f->kv_dtype_v);
    }
    mc_put(o, ")");
}

void mc_text_memory_line(mc_out *o, const char *label, const mc_floor *f)
{
    if (!f->weights_known)
        return;
    bool cached = f->cache == MC_CACHE_COMPUTED && !f->overflow;
    mc_put(o, label);
    mc_put(o, mc_floor_known(f) ? "floor " : "at least ");
    mc_put_size(o, mc_floor_known(f) ? f->floor_bytes : f->weights_bytes);
    if (strcmp(f->engine, "generic") != 0)
        mc_putf(o, " in %s", f->engine);
    if (!cached) {
        mc_put(o, mc_floor_known(f) ? " = weights" : ": weights; KV cache not computed");
        if (f->cache_reason.n) {
            mc_put(o, mc_floor_known(f) ? "; no KV cache: " : ": ");
            mc_put_text(o, f->cache_reason);
        }
        mc_put(o, "\n");
        return;
    }
    mc_put(o, " = weights ");
    mc_put_size(o, f->weights_bytes);
    mc_put(o, " + KV cache ");
    mc_put_size(o, f->kv_bytes);
    if (f->kv_bytes)
        cache_words(o, f);
    if (f->state_bytes) {
        mc_put(o, " + state ");
        mc_put_size(o, f->state_bytes);
    }
    mc_put(o, "\n");
}

/* ---- findings ---- */

static void evidence_line(mc_out *o, const mc_model *m, const mc_evidence *e)
{
    mc_str file = mc_file_path(m, e->from.file);
    mc_put(o, "  ");
    mc_put_text(o, file);
    mc_put(o, file.n ? ": " : "");
    mc_put_text(o, e->from.where);
    if (!mc_str_eq(e->from.where, e->key)) {
        mc_put(o, e->from.where.n ? " " : "");
        mc_put_text(o, e->key);
    }
    mc_put(o, e->key.n && e->value.n ? ": " : "");
    mc_put_text(o, e->value);
    mc_put(o, "\n");
}

/* What is affected, unless the message says so already. */
static void subjects_line(mc_out *o, const mc_finding *f)
{
    size_t new_names = 0;
    for (size_t i = 0; i < f->n_subjects; i++)
        new_names += !mc_str_has(f->message, f->subjects[i]);
    if (new_names == 0)
        return;
    mc_put(o, "  affects: ");
    for (size_t i = 0; i < f->n_subjects; i++) {
        mc_put(o, i ? ", " : "");
        mc_put_text(o, f->subjects[i]);
    }
    if (f->count > f->n_subjects)
        mc_putf(o, " and %zu more", f->count - f->n_subjects);
    mc_put(o, "\n");
}

/* `same`: how many findings from f on say the same of other files (mc_text_findings). */
static void one_finding(mc_out *o, const mc_model *m, const mc_finding *f, size_t same, bool verbose)
{
    static const mc_style styles[] = { [MC_INFO] = MC_CYAN, [MC_WARNING] = MC_YELLOW, [MC_ERROR] = MC_RED };
    mc_str file = mc_file_path(m, f->file);
    mc_put_styled(o, styles[f->severity], mc_str_of(mc_severity_name(f->severity)));
    mc_putf(o, " %s %s: ", f->rule->code, f->rule->slug);
    if (same > 1) {
        mc_put_text(o, file);
        mc_putf(o, " and %zu more file%s: ", same - 1, same > 2 ? "s" : "");
    } else if (file.n && !mc_str_has(f->message, mc_str_base(file))) {
        mc_put_text(o, file);
        mc_put(o, ": ");
    }
    mc_put_text(o, f->message);
    mc_put(o, "\n");
    if (f->silenced_by) {
        mc_putf(o, "  a consequence of %s, not counted\n", f->silenced_by->code);
        return;
    }
    if (f->severity == MC_INFO && !verbose)
        return;
    for (size_t i = 0; i < f->n_evidence; i++)
        evidence_line(o, m, &f->evidence[i]);
    subjects_line(o, f);
    if (f->fix.n) {
        mc_put(o, "  fix: ");
        mc_put_text(o, f->fix);
        mc_put(o, "\n");
    }
}

/* How many findings from `first` on are one information about several files: the shards of a set all say the same. */
static size_t run_of_same(const mc_findings *all, size_t first)
{
    const mc_finding *f = &all->v[first];
    size_t            n = 1;
    if (f->severity != MC_INFO || f->silenced_by || f->file == MC_NONE)
        return 1;
    while (first + n < all->n && all->v[first + n].rule == f->rule && !all->v[first + n].silenced_by && mc_str_eq(all->v[first + n].message, f->message))
        n++;
    return n;
}

void mc_text_findings(mc_out *o, const mc_result *r, const mc_report_options *options)
{
    size_t same;
    for (size_t i = 0; i < r->findings.n; i += same) {
        same = options->verbose ? 1 : run_of_same(&r->findings, i);
        if (!r->findings.v[i].silenced_by || options->verbose)
            one_finding(o, r->model, &r->findings.v[i], same, options->verbose);
    }
}

static size_t n_reported(const mc_result *r)
{
    size_t n = 0;
    for (size_t i = 0; i < r->findings.n; i++)
        n += !r->findings.v[i].silenced_by;
    return n;
}

static void check_model(mc_out *o, const mc_run_result *run, const mc_result *r, const mc_report_options *options)
{
    const mc_model *m = r->model;
    if (options->quiet) {
        if (run->n_results > 1 && n_reported(r)) {
            mc_put_styled(o, MC_BOLD, m->path);
            mc_put(o, "\n");
        }
        mc_text_findings(o, r, options);
        return;
    }
    mc_text_header(o, run, r);
    files_line(o, m);
    weights_line(o, run, m);
    mc_text_memory_line(o, "  memory    ", &r->floor);
    for (size_t i = 0; options->verbose && i < r->floor.n_assumptions; i++) {
        mc_put(o, "            assumed: ");
        mc_put_text(o, r->floor.assumptions[i].text);
        mc_put(o, "\n");
    }
    mc_text_loads_in(o, r->matrix);
    mc_text_targets(o, r->matrix, options->verbose);
    if (m->incomplete)
        mc_put(o, "  coverage  incomplete: not everything could be read\n");
    mc_put(o, "\n");
    mc_text_findings(o, r, options);
    if (n_reported(r) && run->n_results > 1)
        mc_put(o, "\n");
}

void mc_report_text(FILE *out, const mc_run_result *run, const mc_report_options *options)
{
    mc_out    o = { .f = out, .color = options->color };
    mc_totals t = mc_count_findings(run);
    if (options->command[0] != 'c') {
        (options->command[0] == 's' ? mc_text_show : mc_text_memory)(out, run, options);
        return;
    }
    for (size_t i = 0; i < run->n_results; i++)
        check_model(&o, run, &run->results[i], options);
    if (options->quiet)
        return;
    mc_put_plural(&o, t.errors, "error");
    mc_put(&o, ", ");
    mc_put_plural(&o, t.warnings, "warning");
    if (run->n_results > 1)
        mc_putf(&o, " in %zu models", run->n_results);
    if (run->n_errors) {
        mc_put(&o, ", ");
        mc_put_plural(&o, run->n_errors, "path");
        mc_put(&o, " not checked");
    }
    mc_put(&o, "\n");
}
