/* modelcheck rules --age: what of the framework data was read longest ago. One line for each framework, block and date; a row
 * without a date of its own has that of the newest reading of its file. */
#include "api/api.h"
#include "kb/frameworks.h"

#include <stdlib.h>

typedef struct { mc_str date, framework, block, source; size_t rows, doubtful; } entry;
typedef struct { entry *v; size_t n, cap; mc_arena *a; } entries;

static void note(entries *e, const mc_framework *f, mc_str block, const mc_value *row)
{
    mc_str own = mc_as_str(mc_get(row, "date")), date = own.n ? own : f->date, source = mc_as_str(mc_get(row, "source"));
    source = source.n ? source : mc_as_str(mc_get_str(mc_get(f->root, "default_source"), block));
    size_t i = 0;
    while (i < e->n && !(mc_str_eq(e->v[i].date, date) && mc_str_eq(e->v[i].framework, f->name) && mc_str_eq(e->v[i].block, block)))
        i++;
    if (i == e->n) {
        entry *v = mc_grow(e->a, e->v, e->n, &e->cap, sizeof *v);
        if (!v)
            return;
        e->v = v;
        v[e->n++] = (entry){ .date = date, .framework = f->name, .block = block, .source = source };
    }
    e->v[i].rows++;
    e->v[i].doubtful += mc_str_is(mc_as_str(mc_get(row, "mark")), "?");
}

static void note_all(entries *e, const mc_framework *f, mc_str block, const mc_value *rows)
{
    for (size_t i = 0; mc_is(rows, MC_ARRAY) && i < rows->n; i++)
        note(e, f, block, mc_item(rows, i));
}

static void note_framework(entries *e, const mc_framework *f)
{
    static const char *const lists[] = { "files", "quant", "quant_aliases", "quant_detect", "kv_dtypes", "limits", "builds" };
    static const char *const tables[] = { "schemes", "platforms" };
    for (size_t i = 0; i < MC_COUNT(lists); i++)
        note_all(e, f, mc_str_of(lists[i]), mc_get(f->root, lists[i]));
    for (size_t i = 0; i < MC_COUNT(tables); i++) {
        const mc_value *t = mc_get(f->root, tables[i]);
        for (size_t k = 0; mc_is(t, MC_OBJECT) && k < t->n; k++)
            note_all(e, f, mc_str_of(tables[i]), t->u.fields[k].value);
    }
    note_all(e, f, MC_STR("gguf"), mc_get(mc_get(f->root, "gguf"), "types"));
    if (mc_is(mc_get(f->root, "architectures"), MC_OBJECT))
        note(e, f, MC_STR("architectures"), mc_get(f->root, "architectures"));
    note_all(e, f, MC_STR("architectures"), mc_get(f->root, "architectures"));
}

static int by_age(const void *a, const void *b)
{
    const entry *x = a, *y = b;
    int          d = mc_str_cmp(x->date, y->date);
    d = d ? d : mc_str_cmp(x->framework, y->framework);
    return d ? d : mc_str_cmp(x->block, y->block);
}

static void put_all(mc_out *o, const entries *e, mc_kb *kb)
{
    mc_put(o, "date        framework           newest      block           rows  not sure  source\n");
    for (size_t i = 0; i < e->n; i++) {
        const entry        *x = &e->v[i];
        const mc_framework *f = mc_kb_framework(kb, x->framework);
        mc_putf(o, "%-11.*s %-19.*s %-11.*s %-15.*s %4zu  %8zu  ", MC_FMT(x->date), MC_FMT(x->framework), MC_FMT(f && f->known_to.n ? f->known_to : MC_STR("-")), MC_FMT(x->block), x->rows,
                x->doubtful);
        mc_put_text(o, x->source);
        mc_put(o, "\n");
    }
}

const char *modelcheck_rules_age(FILE *file)
{
    mc_arena                   a;
    mc_kb                      kb;
    mc_out                     o = { .f = file };
    const mc_framework *const *list;
    mc_arena_init(&a, MC_MAX_ARENA);
    entries     e = { .a = &a };
    mc_err      err = mc_kb_init(&kb);
    const char *problem = err.code == MC_OK ? NULL : "out of memory";
    size_t      n = problem ? 0 : mc_kb_frameworks(&kb, &list);
    for (size_t i = 0; i < n; i++)
        note_framework(&e, list[i]);
    if (e.n)
        qsort(e.v, e.n, sizeof *e.v, by_age);
    put_all(&o, &e, &kb);
    mc_kb_free(&kb);
    mc_arena_free(&a);
    return problem ? problem : fflush(file) != 0 || ferror(file) ? "the list could not be written" : NULL;
}
