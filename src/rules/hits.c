/* Hits: modules that a rule affects, before they become findings.
 *
 * A wrong scale explains a wrong bit width of the same module, and of no other. So rules whose rows have (or are named under) scope s:
 * report each module by itself. Suppression is a set operation per pair of rules, linear in hits; a model without hits pays nothing. */
#include "rules/hits.h"

#include <stdlib.h>
#include <string.h>

void mc_hit_add(mc_check *cx, mc_tell *tell, mc_hit hit)
{
    mc_findings *out = cx->out;
    mc_hits     *h = out->n_hits && out->hits[out->n_hits - 1].rule == cx->rule ? &out->hits[out->n_hits - 1] : NULL;
    for (size_t i = 0; i < out->n_hits && !h; i++)
        h = out->hits[i].rule == cx->rule ? &out->hits[i] : NULL;
    if (!h) {
        mc_hits *all = mc_grow(out->arena, out->hits, out->n_hits, &out->cap_hits, sizeof *all);
        if (!all)
            return;
        out->hits = all;
        h = &all[out->n_hits++];
        *h = (mc_hits){ .rule = cx->rule, .tell = tell };
    }
    mc_hit *v = h->n < UINT32_MAX ? mc_grow(out->arena, h->v, h->n, &h->cap, sizeof *v) : NULL;
    if (!v)
        return;
    h->v = v;
    hit.order = (uint32_t)h->n;
    hit.silenced_by = NULL;
    v[h->n++] = hit;
}

/* ---- suppression ---- */

/* "MC302-MC309" or "MC503" against a code; all codes have five characters. */
static bool names_code(const char *item, const char *code)
{
    if (strncmp(item, code, 5) == 0)
        return true;
    return item[5] == '-' && strncmp(item, code, 5) <= 0 && strncmp(item + 6, code, 5) >= 0;
}

bool mc_rule_silences(const mc_rule *cause, char scope, const mc_rule *rule)
{
    const char *s = cause->suppresses;
    if (!s || cause == rule)
        return false;
    for (; *s; s += strcspn(s, " "), s += *s == ' ')
        if (s[0] == scope && s[1] == ':' && names_code(s + 2, rule->code))
            return true;
    return false;
}

/* Marks the hits of `f` whose module `cause` hits too. A module hit by both that is silenced itself still silences. */
static void silence(const mc_hits *cause, mc_hits *f, bool *hit, size_t n_modules)
{
    memset(hit, 0, n_modules);
    for (size_t i = 0; i < cause->n; i++)
        if (cause->v[i].module < n_modules)
            hit[cause->v[i].module] = true;
    for (size_t i = 0; i < f->n; i++)
        if (!f->v[i].silenced_by && f->v[i].module < n_modules && hit[f->v[i].module])
            f->v[i].silenced_by = cause->rule;
}

static size_t module_count(const mc_findings *all)
{
    size_t n = 0;
    for (size_t i = 0; i < all->n_hits; i++)
        for (size_t k = 0; k < all->hits[i].n; k++)
            if (all->hits[i].v[k].module != MC_NONE && all->hits[i].v[k].module >= n)
                n = (size_t)all->hits[i].v[k].module + 1;
    return n;
}

static void silence_all(mc_findings *all)
{
    size_t n = module_count(all);
    bool  *hit = n ? MC_NEW(all->arena, bool, n) : NULL;
    for (size_t f = 0; f < all->n_hits && hit; f++)
        for (size_t c = 0; c < all->n_hits; c++)
            if (mc_rule_silences(all->hits[c].rule, 's', all->hits[f].rule))
                silence(&all->hits[c], &all->hits[f], hit, n);
}

/* ---- folding ---- */

static int by_place(const void *a, const void *b)
{
    const mc_hit *x = a, *y = b;
    if (x->file != y->file)
        return x->file < y->file ? -1 : 1;
    int d = strcmp(x->silenced_by ? x->silenced_by->code : "", y->silenced_by ? y->silenced_by->code : "");
    return d ? d : x->order < y->order ? -1 : x->order > y->order;
}

static void tell(mc_check *cx, const mc_hits *h, const mc_hit *v, size_t n)
{
    cx->rule = h->rule;
    cx->silencer = v->silenced_by;
    mc_finding *f = h->tell(cx, v, n);
    for (size_t i = 0; i < n && i < MC_SAMPLES; i++)
        mc_subject(f, v[i].name);
    mc_count(f, n);
}

void mc_fold_hits(mc_check *cx)
{
    mc_findings *all = cx->out;
    silence_all(all);
    for (size_t r = 0; r < all->n_hits; r++) {
        mc_hits *h = &all->hits[r];
        qsort(h->v, h->n, sizeof *h->v, by_place);
        for (size_t i = 0, n; i < h->n; i += n) {
            for (n = 1; i + n < h->n && h->v[i + n].file == h->v[i].file && h->v[i + n].silenced_by == h->v[i].silenced_by;)
                n++;
            tell(cx, h, &h->v[i], n);
        }
    }
    cx->silencer = NULL;
}
