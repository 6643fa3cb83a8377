/* MC906: a model_type that this version does not know, with keys that give no geometry either. */
#include "rules/run.h"

/* Kinds that have no cache of attention keys to compute. */
static bool of_no_interest(mc_check *cx, mc_str type)
{
    static const mc_kind kinds[] = { MC_KIND_DIFFUSERS, MC_KIND_SENTENCE, MC_KIND_ADAPTER, MC_KIND_ENCODER, MC_KIND_STATIC_EMBEDDING };
    for (size_t i = 0; i < MC_COUNT(kinds); i++)
        if (cx->model->kind == kinds[i])
            return true;
    return cx->model->kind == MC_KIND_OTHER && mc_kb_builtin(cx->kb, type); /* known, and no language model */
}

void mc_rule_geometry_unknown(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *d = mc_model_doc(m, 0, MC_ROLE_CONFIG);
    const mc_arch  *a = &m->arch;
    if (!d || !mc_is(d->root, MC_OBJECT) || m->unit == MC_UNIT_GGUF)
        return;
    mc_str type = a->model_type.known ? a->model_type.v : mc_as_str(mc_get(d->root, "model_type"));
    if (type.n == 0 || mc_kb_has_type(cx->kb, type) || mc_kb_family(cx->kb, false, type) || of_no_interest(cx, type))
        return;
    const char *missing = !a->layers.known ? "number of layers" : !a->heads.known ? "number of heads" : !a->hidden.known && !a->head_dim.known ? "width" : NULL;
    if (!missing)
        return;
    mc_finding *f = mc_report(cx, d->file,
                              "model_type %.*s is not known to this version, and its keys give no %s: memory shows the weights only", MC_FMT(type), missing);
    mc_because(cx, f, "model_type", a->model_type.known ? a->model_type.from : mc_from_doc(d, MC_STR("/model_type")), "%.*s", MC_FMT(type));
}
