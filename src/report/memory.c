/* `modelcheck memory`: the floor, term by term, with the formula and the origin of each. */
#include "report/report.h"

#include <inttypes.h>
#include <string.h>

static void put_term(mc_out *o, const mc_term *t)
{
    mc_put(o, "  ");
    mc_put_text(o, t->name);
    for (size_t w = mc_text_width(t->name); w < 12; w++)
        mc_put(o, " ");
    mc_put(o, "  ");
    mc_put_size(o, t->bytes);
    if (t->bytes >= 1024)
        mc_putf(o, " (%" PRIu64 " bytes)", t->bytes);
    mc_put(o, " = ");
    mc_put_text(o, t->formula);
    mc_put(o, "\n");
    for (size_t i = 0; i < t->n_from; i++) {
        mc_put(o, i ? ", " : "                from ");
        mc_put_text(o, t->from[i]);
    }
    mc_put(o, t->n_from ? "\n" : "");
}

static void put_floor(mc_out *o, const mc_floor *f)
{
    if (!f->weights_known) {
        mc_put(o, "  floor         not known: no weights were read\n");
        return;
    }
    mc_put(o, mc_floor_known(f) ? "  floor         " : "  at least      ");
    mc_put_size(o, mc_floor_known(f) ? f->floor_bytes : f->weights_bytes);
    if (strcmp(f->engine, "generic") != 0)
        mc_putf(o, "   in %s", f->engine);
    mc_putf(o, "   context %" PRIu64 ", %" PRIu64 " sequence%s", f->context, f->sequences, f->sequences == 1 ? "" : "s");
    if (f->cache == MC_CACHE_COMPUTED) {
        mc_put(o, ", cache ");
        mc_put_text(o, f->kv_dtype_k);
        mc_put(o, mc_str_eq(f->kv_dtype_k, f->kv_dtype_v) ? "" : "/");
        mc_put_text(o, mc_str_eq(f->kv_dtype_k, f->kv_dtype_v) ? MC_STR("") : f->kv_dtype_v);
    }
    mc_put(o, "\n");
    if (f->cache != MC_CACHE_COMPUTED) {
        mc_put(o, f->cache == MC_CACHE_NONE ? "  cache         none: " : "  cache         not computed: ");
        mc_put_text(o, f->cache_reason);
        mc_put(o, "\n");
    }
    if (f->cache == MC_CACHE_NOT_COMPUTED && f->bound_known) {
        mc_put(o, "  upper bound   ");
        mc_put_size(o, f->upper_bound_per_token);
        mc_put(o, " per token and sequence\n");
    }
}

static void put_caches(mc_out *o, const mc_floor *f)
{
    for (size_t i = 0; i < f->n_caches; i++) {
        const mc_cache *c = &f->caches[i];
        mc_putf(o, "  cache         %s: %" PRIu64 " layers × %" PRIu64 " cells × %" PRIu64 " stream%s, K ", c->name, c->layers, c->cells, c->streams,
                c->streams == 1 ? "" : "s");
        mc_put_size(o, c->k_bytes);
        mc_put(o, ", V ");
        mc_put_size(o, c->v_bytes);
        mc_put(o, "\n");
    }
}

void mc_text_memory(FILE *out, const mc_run_result *run, const mc_report_options *options)
{
    mc_out o = { .f = out, .color = options->color };
    for (size_t i = 0; i < run->n_results; i++) {
        const mc_floor *f = &run->results[i].floor;
        mc_put(&o, i ? "\n" : "");
        mc_text_header(&o, run, &run->results[i]);
        for (size_t k = 0; k < f->n_terms; k++)
            put_term(&o, &f->terms[k]);
        put_floor(&o, f);
        put_caches(&o, f);
        mc_text_answers(&o, f, run->results[i].answers);
        for (size_t k = 0; k < f->n_assumptions; k++) {
            mc_put(&o, "  assumed       ");
            mc_put_text(&o, f->assumptions[k].text);
            if (f->assumptions[k].effect_bytes > 0) {
                mc_put(&o, " (effect ");
                mc_put_size(&o, (uint64_t)f->assumptions[k].effect_bytes);
                mc_put(&o, ")");
            }
            mc_put(&o, "\n");
        }
    }
}
