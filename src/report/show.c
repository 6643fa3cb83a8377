/* `modelcheck show`: everything that is known about a model, with the origin of what a configuration said. */
#include "report/report.h"

#include <inttypes.h>

static void label(mc_out *o, const char *name)
{
    mc_putf(o, "  %-14s", name);
}

static void put_origin(mc_out *o, const mc_model *m, mc_origin from)
{
    mc_str file = mc_file_path(m, from.file);
    if (file.n == 0 && from.where.n == 0)
        return;
    mc_put(o, "   (");
    mc_put_text(o, file);
    mc_put(o, file.n && from.where.n ? (from.where.p[0] == '/' ? "#" : ", ") : "");
    mc_put_text(o, from.where);
    mc_put(o, ")");
}

static void put_int(mc_out *o, const mc_model *m, const char *name, mc_int v)
{
    if (!v.known)
        return;
    label(o, name);
    mc_putf(o, "%" PRId64, v.v);
    put_origin(o, m, v.from);
    mc_put(o, "\n");
}

static void put_words(mc_out *o, const mc_model *m, const char *name, mc_text v)
{
    if (!v.known)
        return;
    label(o, name);
    mc_put_text(o, v.v);
    put_origin(o, m, v.from);
    mc_put(o, "\n");
}

static void architecture(mc_out *o, const mc_model *m)
{
    const mc_arch *a = &m->arch;
    put_words(o, m, "architecture", a->name);
    put_words(o, m, "model type", a->model_type);
    put_words(o, m, "dtype", a->dtype);
    const struct { const char *name; mc_int v; } ints[] = {
        { "layers", a->layers }, { "hidden", a->hidden }, { "intermediate", a->intermediate }, { "heads", a->heads }, { "kv heads", a->kv_heads },
        { "head dim", a->head_dim }, { "v head dim", a->v_head_dim }, { "vocabulary", a->vocab }, { "context", a->context }, { "window", a->sliding_window },
        { "experts", a->experts }, { "experts used", a->experts_used }, { "mtp layers", a->mtp_layers },
    };
    for (size_t i = 0; i < MC_COUNT(ints); i++)
        put_int(o, m, ints[i].name, ints[i].v);
    if (a->tie.known) {
        label(o, "tied head");
        mc_put(o, a->tie.v ? "yes" : "no");
        put_origin(o, m, a->tie.from);
        mc_put(o, "\n");
    }
}

static void weights(mc_out *o, const mc_run_result *run, const mc_model *m, unsigned columns, mc_arena *a)
{
    mc_mix mix = mc_dtype_mix(run, m, a);
    double bits;
    label(o, "kind");
    mc_putf(o, "%s\n", mc_kind_name(m->kind));
    if (m->parameters.known) {
        label(o, "parameters");
        mc_putf(o, "%" PRId64 "\n", m->parameters.v);
    }
    if (m->expected.known && m->parameters.v != m->expected.v) {
        label(o, "expected");
        mc_putf(o, "%" PRId64 " by the dimensions of the configuration\n", m->expected.v);
    }
    if (mc_tensors_known(m)) {
        label(o, "tensors");
        mc_putf(o, "%" PRIu64 "\n", m->n_tensors);
    }
    if (m->weights_bytes.known) {
        label(o, "weights");
        mc_put_size(o, (uint64_t)m->weights_bytes.v);
        mc_putf(o, " (%" PRId64 " bytes)\n", m->weights_bytes.v);
    }
    for (size_t i = 0; i < mix.n; i++) {
        label(o, i ? "" : "dtypes");
        mc_put_text(o, mix.rows[i].dtype);
        mc_putf(o, "  %" PRIu64 " tensor%s, ", mix.rows[i].tensors, mix.rows[i].tensors == 1 ? "" : "s");
        mc_put_number(o, mix.rows[i].elements);
        mc_put(o, " elements, ");
        mc_put_size(o, mix.rows[i].bytes);
        mc_put(o, "\n");
    }
    if (mc_bits_per_weight(m, &bits)) {
        label(o, "bits");
        mc_putf(o, "%.2f per weight, whole read set\n", bits);
    }
    mc_text_quant_mix(o, m, columns, a);
    if (m->duplicate_bytes) {
        label(o, "not loaded");
        mc_put_size(o, m->duplicate_bytes);
        mc_put(o, " of further copies\n");
    }
}

static void components(mc_out *o, const mc_model *m)
{
    static const char *const kinds[] = { [MC_COMP_ROOT] = "root", [MC_COMP_PART] = "part", [MC_COMP_COPY] = "copy, not loaded" };
    for (size_t i = 0; m->n_components > 1 && i < m->n_components; i++) {
        const mc_component *c = &m->components[i];
        label(o, i ? "" : "components");
        mc_put_text(o, c->dir.n ? c->dir : MC_STR("./"));
        mc_putf(o, "  %s", kinds[c->kind]);
        if (c->cls.n) {
            mc_put(o, "  ");
            mc_put_text(o, c->cls);
        }
        if (c->inv.n_tensors) {
            mc_putf(o, "  %" PRIu64 " tensors, ", c->inv.n_tensors);
            mc_put_size(o, c->inv.bytes);
        }
        mc_put(o, "\n");
    }
}

static void files(mc_out *o, const mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        label(o, i ? "" : "files");
        mc_put(o, f->in_read_set ? "* " : "  ");
        mc_put_text(o, f->path);
        mc_put(o, "  ");
        mc_put_size(o, f->size);
        if (f->n_tensors)
            mc_putf(o, ", %zu tensor%s", f->n_tensors, f->n_tensors == 1 ? "" : "s");
        mc_put(o, "\n");
    }
    if (mc_read_files(m)) {
        label(o, "");
        mc_put(o, "* what a loader opens\n");
    }
}

static void tensors(mc_out *o, const mc_run_result *run, const mc_model *m)
{
    for (size_t i = 0; i < m->n_files; i++)
        for (size_t k = 0; m->files[i].in_read_set && k < m->files[i].n_tensors; k++) {
            const mc_tensor *t = &m->files[i].tensors[k];
            const mc_dtype  *d = mc_kb_dtype(&run->kb, t->dtype);
            mc_put(o, "  ");
            mc_put_text(o, t->name);
            mc_put(o, "  ");
            mc_put_text(o, d ? d->name : MC_STR("unknown"));
            mc_put(o, "  [");
            for (unsigned n = 0; n < t->rank; n++)
                mc_putf(o, "%s%" PRIu64, n ? ", " : "", t->dims[n]);
            mc_putf(o, "]  %" PRIu64 "  ", t->end > t->begin ? t->end - t->begin : 0);
            mc_put_text(o, m->files[i].path);
            mc_put(o, "\n");
        }
}

void mc_text_show(FILE *out, const mc_run_result *run, const mc_report_options *options)
{
    mc_out o = { .f = out, .color = options->color };
    for (size_t i = 0; i < run->n_results; i++) {
        const mc_result *r = &run->results[i];
        mc_arena         a;
        mc_arena_init(&a, MC_MAX_ARENA);
        mc_put(&o, i ? "\n" : "");
        mc_text_header(&o, run, r);
        architecture(&o, r->model);
        weights(&o, run, r->model, options->columns, &a);
        mc_text_memory_line(&o, "  memory        ", &r->floor);
        mc_text_matrix(&o, r->matrix);
        mc_text_copies(&o, r->model, r->matrix, &a);
        components(&o, r->model);
        files(&o, r->model);
        if (options->tensors) {
            mc_text_modules(&o, r->model);
            tensors(&o, run, r->model);
        }
        if (options->tree)
            mc_text_tree(&o, run, r->model, &a);
        mc_arena_free(&a);
    }
}
