/* --target, --platform, and limits named in --ignore. Names are compared with the data when all options are known, since
 * --rules may add frameworks. */
#include "api/options.h"

#include <string.h>

const char *mc_set_target(mc_options *o, const char *value)
{
    mc_targets *t = &o->targets;
    mc_str      s = mc_str_copy(o->arena, mc_str_of(value));
    size_t      at = mc_str_find(s, '@');
    mc_target  *v = mc_grow(o->arena, t->v, t->n, &t->cap, sizeof *v);
    if (!v)
        return "out of memory";
    t->v = v;
    v[t->n] = (mc_target){ mc_str_cut(s, 0, at), mc_str_cut(s, at + 1, s.n) };
    if (v[t->n].name.n == 0 || (at < s.n && v[t->n].version.n == 0))
        return mc_format(o->arena, "\"%s\" is not accepted: NAME or NAME@VERSION, such as vllm@0.33.0", value).p;
    t->n++;
    o->rules.target = true;
    return NULL;
}

/* What a host calls itself, and what the data calls it. */
static const struct { const char *name, *is; } hosts[] = {
    { "x86_64", "x86_64" }, { "amd64", "x86_64" }, { "x64", "x86_64" }, { "i686", "i686" }, { "aarch64", "aarch64" }, { "arm64", "aarch64" }, { "armv7l", "armv7l" },
    { "ppc64le", "ppc64le" }, { "ppc64", "ppc64" }, { "s390x", "s390x" }, { "riscv64", "riscv64" }, { "loongarch64", "loongarch64" },
};

const char *mc_set_platform(mc_options *o, const char *value)
{
    mc_str known = MC_STR("");
    for (size_t i = 0; i < MC_COUNT(hosts); i++) {
        if (strcmp(hosts[i].name, value) == 0) {
            o->targets.options.host = mc_str_of(hosts[i].is);
            return NULL;
        }
        known = mc_format(o->arena, "%.*s%s%s", MC_FMT(known), i ? ", " : "", hosts[i].name);
    }
    return mc_format(o->arena, "\"%s\" is not accepted: %.*s", value, MC_FMT(known)).p;
}

/* ---- against the data ---- */

static mc_str known_names(mc_arena *a, mc_kb *kb)
{
    const mc_framework *const *list;
    size_t                     n = mc_kb_frameworks(kb, &list);
    mc_str                     text = MC_STR("");
    for (size_t i = 0; i < n; i++)
        text = mc_format(a, "%.*s%s%.*s", MC_FMT(text), i ? ", " : "", MC_FMT(list[i]->name));
    return text;
}

static const char *no_such(mc_arena *a, mc_kb *kb, mc_str name)
{
    return mc_format(a, "no framework is called \"%.*s\": %.*s", MC_FMT(name), MC_FMT(known_names(a, kb))).p;
}

static const char *check_target(mc_arena *a, mc_kb *kb, mc_target *t)
{
    const mc_framework *f = mc_kb_framework(kb, t->name);
    mc_version          v;
    mc_str              text;
    bool                outside;
    if (!f)
        return no_such(a, kb, t->name);
    if (mc_framework_version(f, t->version, &v, &text, &outside))
        return NULL;
    return mc_format(a, "\"%.*s\" is no version of %.*s: %s; known are %.*s to %.*s", MC_FMT(t->version), MC_FMT(f->name),
                     f->build ? "a build number such as b10573" : "numbers with dots between them, such as 0.33.0", MC_FMT(f->known_from), MC_FMT(f->known_to)).p;
}

/* Ids of a framework: its limits, and those that its other blocks can give. */
static bool has_limit(const mc_framework *f, mc_str id)
{
    const mc_value *own = mc_get(f->root, "limits"), *made = mc_get(f->root, "generated_limits");
    bool            found = mc_str_is(id, "version");
    for (size_t i = 0; mc_is(own, MC_ARRAY) && i < own->n; i++)
        found |= mc_str_eq(mc_as_str(mc_get(mc_item(own, i), "id")), id);
    for (size_t i = 0; mc_is(made, MC_ARRAY) && i < made->n; i++)
        found |= mc_str_eq(mc_as_str(mc_item(made, i)), id);
    return found;
}

static const char *check_limit(mc_arena *a, mc_kb *kb, mc_str *name)
{
    size_t              slash = mc_str_find(*name, '/');
    const mc_framework *f = mc_kb_framework(kb, mc_str_cut(*name, 0, slash)), *base = f && f->maps_to.n ? mc_kb_framework(kb, f->maps_to) : NULL;
    mc_str              id = mc_str_cut(*name, slash + 1, name->n);
    if (!f)
        return no_such(a, kb, mc_str_cut(*name, 0, slash));
    if (!has_limit(f, id) && !(base && has_limit(base, id)))
        return mc_format(a, "%.*s has no limit \"%.*s\"; reports name them: %.*s/quant-gpu", MC_FMT(f->name), MC_FMT(id), MC_FMT(f->name)).p;
    *name = mc_format(a, "%.*s/%.*s", MC_FMT(f->name), MC_FMT(id));
    return NULL;
}

const char *mc_targets_known(mc_options *o, mc_kb *kb)
{
    const char *why = NULL;
    for (size_t i = 0; !why && i < o->targets.n; i++)
        why = check_target(o->arena, kb, &o->targets.v[i]);
    for (size_t i = 0; !why && i < o->n_ignored_limits; i++)
        why = check_limit(o->arena, kb, &o->ignored_limits[i]);
    return why;
}

/* ---- --ignore FRAMEWORK/LIMIT ---- */

const char *mc_ignore_limit(mc_options *o, mc_str name)
{
    mc_str *v = mc_grow(o->arena, o->ignored_limits, o->n_ignored_limits, &o->cap_ignored_limits, sizeof *v);
    if (!v)
        return "out of memory";
    o->ignored_limits = v;
    v[o->n_ignored_limits++] = mc_str_copy(o->arena, name);
    return NULL;
}

bool mc_ignores_limit(const mc_options *o, const mc_finding *f)
{
    for (size_t i = 0; f->rule->mode == MC_MODE_TARGET && f->n_subjects && i < o->n_ignored_limits; i++)
        if (mc_str_eq(o->ignored_limits[i], f->subjects[0]))
            return true;
    return false;
}
