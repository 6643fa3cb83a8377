/* The parts of the JSON document that `memory` and `show --tensors` fill. */
#include "report/report.h"

static void terms(mc_out *o, const mc_floor *f)
{
    mc_js_open(o, "caches", '[', false);
    for (size_t i = 0; i < f->n_caches; i++) {
        const mc_cache *c = &f->caches[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "name", mc_str_of(c->name));
        mc_js_u64(o, "layers", c->layers);
        mc_js_u64(o, "cells", c->cells);
        mc_js_u64(o, "streams", c->streams);
        mc_js_u64(o, "k_bytes", c->k_bytes);
        mc_js_u64(o, "v_bytes", c->v_bytes);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
    mc_js_open(o, "terms", '[', false);
    for (size_t i = 0; i < f->n_terms; i++) {
        const mc_term *t = &f->terms[i];
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "name", t->name);
        mc_js_u64(o, "bytes", t->bytes);
        mc_js_str(o, "formula", t->formula);
        mc_js_open(o, "from", '[', true);
        for (size_t k = 0; k < t->n_from; k++)
            mc_js_str(o, NULL, t->from[k]);
        mc_js_close(o, ']');
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
    mc_js_open(o, "assumptions", '[', false);
    for (size_t i = 0; i < f->n_assumptions; i++) {
        mc_js_open(o, NULL, '{', true);
        mc_js_str(o, "text", f->assumptions[i].text);
        mc_js_i64(o, "effect_bytes", f->assumptions[i].effect_bytes);
        mc_js_close(o, '}');
    }
    mc_js_close(o, ']');
}

void mc_json_memory(mc_out *o, const mc_result *r, bool whole)
{
    static const char *const words[] = { [MC_CACHE_COMPUTED] = "computed", [MC_CACHE_NOT_COMPUTED] = "not-computed", [MC_CACHE_NONE] = "none" };
    const mc_floor *f = &r->floor;
    bool            cache = f->cache != MC_CACHE_NOT_COMPUTED && !f->overflow;
    mc_js_open(o, "memory", '{', false);
    mc_js_str(o, "engine", mc_str_of(f->engine));
    mc_js_known(o, "context", f->context != 0, f->context);
    mc_js_u64(o, "sequences", f->sequences ? f->sequences : 1);
    mc_js_text(o, "kv_dtype_k", f->kv_dtype_k);
    mc_js_text(o, "kv_dtype_v", f->kv_dtype_v);
    mc_js_known(o, "weights_bytes", f->weights_known, f->weights_bytes);
    mc_js_known(o, "kv_bytes_per_token", cache, f->kv_bytes_per_token);
    mc_js_str(o, "cache", mc_str_of(words[f->cache]));
    mc_js_text(o, "cache_reason", f->cache_reason);
    mc_js_known(o, "upper_bound_bytes_per_token", f->bound_known, f->upper_bound_per_token);
    mc_js_known(o, "kv_bytes", cache, f->kv_bytes);
    mc_js_known(o, "state_bytes", cache, f->state_bytes);
    mc_js_known(o, "floor_bytes", mc_floor_known(f), f->floor_bytes);
    mc_js_open(o, "per_device", '[', true);
    for (size_t i = 0; mc_floor_known(f) && i < (f->n_devices ? f->n_devices : 1); i++)
        mc_js_u64(o, NULL, f->n_devices ? f->devices[i].floor_bytes : f->floor_bytes);
    mc_js_close(o, ']');
    terms(o, f);
    if (whole)
        mc_json_answers(o, f, r->answers);
    mc_js_close(o, '}');
}

void mc_json_tensors(mc_out *o, const mc_result *r, const mc_run_result *run)
{
    const mc_model *m = r->model;
    mc_js_open(o, "tensors", '[', false);
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        for (size_t k = 0; f->in_read_set && k < f->n_tensors; k++) {
            const mc_tensor *t = &f->tensors[k];
            const mc_dtype  *d = mc_kb_dtype(&run->kb, t->dtype);
            mc_js_open(o, NULL, '{', true);
            mc_js_str(o, "name", t->name);
            mc_js_text(o, "dtype", d ? d->name : MC_STR(""));
            mc_js_open(o, "shape", '[', true);
            for (unsigned n = 0; n < t->rank; n++)
                mc_js_u64(o, NULL, t->dims[n]);
            mc_js_close(o, ']');
            mc_js_u64(o, "bytes", t->end > t->begin ? t->end - t->begin : 0);
            mc_js_str(o, "file", f->path);
            mc_js_close(o, '}');
        }
    }
    mc_js_close(o, ']');
}
