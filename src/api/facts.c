/* Facts by their place in the JSON document, for callers that want a number without parsing a report. */
#include "api/api.h"

#include <string.h>

typedef struct { const char *name; bool known; uint64_t v; } fact;

static fact from_int(const char *name, mc_int v)
{
    return (fact){ name, v.known && v.v >= 0, v.known && v.v >= 0 ? (uint64_t)v.v : 0 };
}

static bool pick(const fact *facts, size_t n, const char *name, uint64_t *out)
{
    for (size_t i = 0; i < n; i++)
        if (facts[i].known && strcmp(facts[i].name, name) == 0) {
            *out = facts[i].v;
            return true;
        }
    return false;
}

static bool of_model(const mc_model *m, const char *name, uint64_t *out)
{
    const mc_arch *a = &m->arch;
    bool           dense;
    uint64_t       active = mc_active_parameters(m, &dense);
    const fact     facts[] = {
        from_int("architecture.layers", a->layers), from_int("architecture.hidden", a->hidden), from_int("architecture.heads", a->heads),
        from_int("architecture.kv_heads", a->kv_heads), from_int("architecture.head_dim", a->head_dim), from_int("architecture.vocab", a->vocab),
        from_int("architecture.context", a->context), from_int("architecture.experts", a->experts),
        from_int("parameters.total", m->parameters), { "parameters.active", dense, active }, from_int("parameters.expected", m->expected), from_int("parameters.stored_elements", m->stored_elements),
        { "weights.files", true, mc_read_files(m) }, { "weights.tensors", mc_tensors_known(m), m->n_tensors },
        from_int("weights.bytes", m->weights_bytes), { "weights.duplicate_bytes", true, m->duplicate_bytes },
        { "coverage.complete", true, !m->incomplete }, { "coverage.files", true, m->n_files }, { "coverage.bytes_read", true, m->bytes_read },
    };
    return pick(facts, MC_COUNT(facts), name, out);
}

static bool of_floor(const mc_floor *f, const char *name, uint64_t *out)
{
    bool       cache = f->cache != MC_CACHE_NOT_COMPUTED && !f->overflow;
    const fact facts[] = {
        { "memory.context", f->context != 0, f->context }, { "memory.sequences", f->sequences != 0, f->sequences },
        { "memory.weights_bytes", f->weights_known, f->weights_bytes }, { "memory.kv_bytes_per_token", cache, f->kv_bytes_per_token },
        { "memory.upper_bound_bytes_per_token", f->bound_known, f->upper_bound_per_token }, { "memory.kv_bytes", cache, f->kv_bytes },
        { "memory.state_bytes", cache, f->state_bytes }, { "memory.floor_bytes", mc_floor_known(f), f->floor_bytes },
    };
    return pick(facts, MC_COUNT(facts), name, out);
}

int modelcheck_fact(const modelcheck *mc, size_t model, const char *name, uint64_t *out)
{
    if (model >= mc->run.n_results)
        return -1;
    const mc_result *r = &mc->run.results[model];
    return of_model(r->model, name, out) || of_floor(&r->floor, name, out) ? 0 : -1;
}
