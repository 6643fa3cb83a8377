/* Adapters: what they need (MC470), whether their low-rank pairs are whole (MC471), and how they name their base (MC472).
 * Names as PEFT writes them: base_model.model.<module>.lora_A.weight [r, in] and .lora_B.weight [out, r]; as llama.cpp's
 * converter writes them: <tensor>.lora_a, <tensor>.lora_b. */
#include "rules/rule.h"

static bool is_peft_lora(const mc_model *m)
{
    return mc_str_is(mc_as_str(mc_get(mc_model_root(m, 0, MC_ROLE_ADAPTER_CONFIG), "peft_type")), "LORA");
}

/* ---- MC470 ---- */

static bool holds_adapter_only(const mc_model *m)
{
    bool adapter = false;
    for (size_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->component != 0)
            continue;
        if (f->role == MC_ROLE_CONFIG)
            return false;
        if (f->role != MC_ROLE_WEIGHTS || f->promised == MC_FMT_GGUF)
            continue;
        if (!mc_str_is(f->stem, "adapter_model"))
            return false;
        adapter = true;
    }
    return adapter;
}

/* Tensors that modules_to_save stored whole: everything of a LoRA adapter that is no part of a pair. */
static bool whole_tensor(mc_str name)
{
    static const char *const parts[] = { "lora_", "magnitude", "vera_" };
    for (size_t i = 0; i < MC_COUNT(parts); i++)
        if (mc_str_contains(name, parts[i]))
            return false;
    return mc_str_ends(name, ".weight");
}

static void adapter_only(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *d = mc_model_doc(m, 0, MC_ROLE_ADAPTER_CONFIG);
    if (m->unit == MC_UNIT_GGUF || !d || !holds_adapter_only(m))
        return;
    const mc_inventory *inv = &m->components[0].inv;
    mc_str  base = mc_as_str(mc_get(d->root, "base_model_name_or_path")), type = mc_as_str(mc_get(d->root, "peft_type"));
    int64_t rank;
    mc_str  r = mc_as_int(mc_get(d->root, "r"), &rank) ? mc_format(cx->arena, ", rank %lld", (long long)rank) : MC_STR("");
    size_t  whole = 0;
    for (size_t i = 0; is_peft_lora(m) && i < inv->names.n; i++)
        whole += whole_tensor(inv->names.keys[i]);
    mc_str full = whole ? mc_format(cx->arena, "; contains %zu full-size tensor%s", whole, whole == 1 ? "" : "s") : MC_STR("");
    mc_finding *f = mc_report(cx, d->file, "%.*s adapter for %.*s%.*s: not loadable on its own, memory figures exclude the base%.*s",
                              MC_FMT(type.n ? type : MC_STR("an")), MC_FMT(base.n ? base : MC_STR("an unnamed base model")), MC_FMT(r), MC_FMT(full));
    for (size_t i = 0; whole && i < inv->names.n; i++)
        if (whole_tensor(inv->names.keys[i]))
            mc_subject(f, inv->names.keys[i]);
    if (base.n)
        mc_because(cx, f, "path", mc_from_doc(d, MC_STR("/base_model_name_or_path")), "%.*s", MC_FMT(base));
}

/* ---- MC471 ---- */

/* The other half's name, "" if the tensor is no half of a pair. A bias of lora_B stands alone (lora_bias=True). */
static mc_str partner(mc_arena *a, mc_str name, bool *is_a)
{
    static const char *const halves[] = { ".lora_A.", ".lora_B." };
    for (size_t i = 0; i + 8 <= name.n && !mc_str_ends(name, ".bias"); i++)
        for (size_t h = 0; h < 2; h++)
            if (mc_str_starts(mc_str_cut(name, i, name.n), halves[h])) {
                *is_a = h == 0;
                return mc_format(a, "%.*s%s%.*s", MC_FMT(mc_str_cut(name, 0, i)), halves[1 - h], MC_FMT(mc_str_cut(name, i + 8, name.n)));
            }
    return MC_STR("");
}

static mc_str gguf_partner(mc_arena *a, mc_str name, bool *is_a)
{
    *is_a = mc_str_ends(name, ".lora_a");
    if (!*is_a && !mc_str_ends(name, ".lora_b"))
        return MC_STR("");
    return mc_format(a, "%.*s%c", MC_FMT(mc_str_cut(name, 0, name.n - 1)), *is_a ? 'b' : 'a');
}

/* A [r, in] and B [out, r]: the rank is what both must agree on. */
static bool ranks_differ(const mc_check *cx, const mc_tensor *a, const mc_tensor *b)
{
    return a->rank == 2 && b->rank == 2 && mc_dtype_is_plain(mc_kb_dtype(cx->kb, a->dtype)) && mc_dtype_is_plain(mc_kb_dtype(cx->kb, b->dtype)) && a->dims[0] != b->dims[1];
}

static void unpaired(mc_check *cx, const mc_tensor *t, const char *present, const char *missing)
{
    mc_finding *f = mc_report(cx, t->file, "%.*s has %s without %s: the adapter was cut or merged wrongly", MC_FMT(mc_name_module(t->name)), present, missing);
    mc_subject(f, t->name);
}

static void peft_pairs(mc_check *cx)
{
    const mc_inventory *inv = &cx->model->components[0].inv;
    for (size_t i = 0; i < inv->names.n; i++) {
        const mc_tensor *t = inv->first[i];
        bool             is_a;
        mc_str           name = partner(cx->arena, t->name, &is_a);
        const mc_tensor *other = name.n ? mc_inventory_find(inv, name) : NULL;
        if (name.n && !other)
            unpaired(cx, t, is_a ? "lora_A" : "lora_B", is_a ? "lora_B" : "lora_A");
        if (!other || !is_a || !ranks_differ(cx, t, other))
            continue;
        mc_finding *f = mc_report(cx, t->file, "%.*s has rank %llu and its lora_B rank %llu: the halves belong to different adapters",
                                  MC_FMT(t->name), (unsigned long long)t->dims[0], (unsigned long long)other->dims[1]);
        mc_subject(f, t->name);
    }
}

static void gguf_pairs(mc_check *cx)
{
    const mc_inventory *inv = &cx->model->components[0].inv;
    for (size_t i = 0; i < inv->names.n; i++) {
        const mc_tensor *t = inv->first[i];
        bool             is_a;
        mc_str           name = gguf_partner(cx->arena, t->name, &is_a);
        if (mc_str_ends(t->name, "_norm.weight") || (name.n && mc_inventory_find(inv, name)))
            continue;
        if (name.n) {
            unpaired(cx, t, is_a ? ".lora_a" : ".lora_b", is_a ? ".lora_b" : ".lora_a");
            continue;
        }
        mc_finding *f = mc_report(cx, t->file, "%.*s ends neither in .lora_a nor in .lora_b: llama.cpp refuses the adapter", MC_FMT(t->name));
        mc_subject(f, t->name);
    }
}

/* What was found first stands in the message; of several the number does too. */
static void say_how_many(mc_check *cx)
{
    for (size_t i = 0; i < cx->out->n; i++) {
        mc_finding *f = &cx->out->v[i];
        if (f->rule == cx->rule && f->count > 1)
            f->message = mc_format(cx->arena, "%zu modules with half a pair or two ranks: %.*s", f->count, MC_FMT(f->message));
    }
}

static void adapter_pairs(mc_check *cx)
{
    const mc_model *m = cx->model;
    if (m->n_components == 0 || !m->components[0].inv.complete)
        return;
    if (m->unit == MC_UNIT_GGUF) {
        if (mc_str_is(mc_gguf_str(mc_gguf_get(m->gguf, "general.type")), "adapter"))
            gguf_pairs(cx);
    } else if (is_peft_lora(m)) {
        peft_pairs(cx);
    }
    say_how_many(cx);
}

/* ---- MC472 ---- */

static bool local_path(mc_str p)
{
    if (p.n == 0)
        return false;
    char c = p.p[0], low = (char)(c | 0x20);
    bool drive = p.n > 1 && p.p[1] == ':' && low >= 'a' && low <= 'z';
    return c == '/' || c == '~' || c == '.' || drive || mc_str_find(p, '\\') < p.n;
}

static void adapter_local_base(mc_check *cx)
{
    const mc_model *m = cx->model;
    const mc_doc   *d = mc_model_doc(m, 0, MC_ROLE_ADAPTER_CONFIG);
    mc_str          base = d ? mc_as_str(mc_get(d->root, "base_model_name_or_path")) : MC_STR("");
    if (m->base_exists || !local_path(base))
        return;
    mc_finding *f = mc_report(cx, d->file, "base_model_name_or_path is %.*s, a directory of the training machine: nobody else can resolve it", MC_FMT(base));
    mc_subject(f, base);
    mc_because(cx, f, "path", mc_from_doc(d, MC_STR("/base_model_name_or_path")), "%.*s", MC_FMT(base));
}

/* ---- the family ---- */

static const mc_rule rules[] = {
    { .code = "MC470", .slug = "adapter-only", .severity = MC_INFO, .certainty = MC_CERTAIN,
      .summary = "The directory is an adapter and needs its base model",
      .why = "An adapter holds small corrections to a model that is stored elsewhere. It cannot be served as a model, and its size says nothing about the memory needed.",
      .fix = "load the base model and put the adapter on top, or merge the two",
      .silent = "an adapter beside a full model",
      .source = "https://huggingface.co/docs/peft/developer_guides/checkpoint", .suppresses = "m:MC903", .check = adapter_only },
    { .code = "MC471", .slug = "adapter-pairs", .severity = MC_ERROR, .certainty = MC_CERTAIN,
      .summary = "An adapter holds half of a low-rank pair",
      .why = "A correction is the product of two matrices. With one of them missing, or with ranks that differ, loaders stop or leave the module uncorrected.",
      .fix = "save the adapter again from its training run; a half cannot be completed",
      .silent = "adapters of another type, lora_embedding_A and _B, magnitude vectors, modules saved whole, norm weights in a GGUF adapter, a rank of its own per module",
      .source = "https://huggingface.co/docs/peft/developer_guides/checkpoint", .check = adapter_pairs },
    { .code = "MC472", .slug = "adapter-local-base", .severity = MC_WARNING, .certainty = MC_CERTAIN,
      .summary = "The adapter names its base model by a local path",
      .why = "The path existed where the adapter was trained. Loaders that fetch the base model by this name fail everywhere else, and readers cannot tell which model it was.",
      .fix = "put the repository id of the base model there (owner/name)",
      .silent = "identifiers of the form owner/name, and paths that exist here",
      .source = "https://huggingface.co/docs/peft/developer_guides/checkpoint", .check = adapter_local_base },
};
const mc_family mc_family_adapter = { "adapter", rules, MC_COUNT(rules) };
