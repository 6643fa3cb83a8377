/* One header in memory, judged by the rules about headers: what the oracles and fuzzers compare with the reference readers. */
#include "api/api.h"
#include "formats/formats.h"

#include <string.h>

/* A model of one file, as a file given alone would be. */
static mc_model *lone_file(mc_arena *a, const char *name, mc_container format, mc_span bytes, uint64_t file_size)
{
    mc_model     *m = MC_NEW(a, mc_model, 1);
    mc_file      *f = MC_NEW(a, mc_file, 1);
    mc_component *c = MC_NEW(a, mc_component, 1);
    mc_set       *s = MC_NEW(a, mc_set, 1);
    uint32_t     *ids = MC_NEW(a, uint32_t, 1);
    if (!m || !f || !c || !s || !ids)
        return NULL;
    *f = (mc_file){ .path = mc_str_of(name), .base = mc_str_of(name), .size = file_size, .set = 0, .in_read_set = true,
                    .head = { bytes.p, bytes.n < MC_HEAD_BYTES ? bytes.n : MC_HEAD_BYTES } };
    mc_name_parse(f);
    mc_recognise(f);
    f->role = MC_ROLE_WEIGHTS;
    f->promised = format;
    f->bytes = format == MC_FMT_GGUF ? MC_BYTES_GGUF : MC_BYTES_SAFETENSORS; /* what it is is not in question here */
    *c = (mc_component){ .kind = MC_COMP_ROOT, .index = MC_NONE, .set = 0 };
    for (int i = 0; i < MC_N_ROLES; i++)
        c->docs[i] = MC_NONE;
    *s = (mc_set){ .container = format, .stem = f->stem, .files = ids, .n_files = 1, .index = MC_NONE, .read = true, .complete = true, .bytes = file_size };
    *m = (mc_model){ .arena = a, .path = f->path, .given = f->path, .unit = format == MC_FMT_GGUF ? MC_UNIT_GGUF : MC_UNIT_FILE, .format = format,
                     .alone = true, .files = f, .n_files = 1, .components = c, .n_components = 1, .sets = s, .n_sets = 1, .gguf_file = MC_NONE };
    return mc_strset_init(&c->inv.names, a, 1) ? m : NULL;
}

static bool about_headers(const mc_rule *r)
{
    return (strcmp(r->code, "MC301") >= 0 && strcmp(r->code, "MC308") <= 0) || (strcmp(r->code, "MC601") >= 0 && strcmp(r->code, "MC608") <= 0);
}

/* The first error or warning among the rules about headers; codes ascend from cause to consequence. Types that readers
 * refuse although newer ones may know them (MC308, MC608) are warnings. */
static const char *verdict(const mc_model *m, mc_kb *kb)
{
    mc_floor        floor = { 0 };
    mc_rule_options options = { 0 };
    mc_findings     out = { .arena = m->arena };
    mc_check        cx = { .model = m, .kb = kb, .floor = &floor, .options = &options, .out = &out, .arena = m->arena };
    const char     *first = NULL;
    for (size_t f = 0; f < mc_n_families; f++)
        for (size_t i = 0; i < mc_families[f]->n; i++) {
            cx.rule = &mc_families[f]->rules[i];
            if (cx.rule->check && about_headers(cx.rule))
                cx.rule->check(&cx);
        }
    for (size_t i = 0; i < out.n; i++)
        if (about_headers(out.v[i].rule) && out.v[i].severity >= MC_WARNING && (!first || strcmp(out.v[i].rule->code, first) < 0))
            first = out.v[i].rule->code;
    return first;
}

static int judge(mc_arena *a, mc_kb *kb, bool gguf, mc_span bytes, uint64_t file_size, const char **why)
{
    mc_model *m = lone_file(a, gguf ? "model.gguf" : "model.safetensors", gguf ? MC_FMT_GGUF : MC_FMT_SAFETENSORS, bytes, file_size);
    if (!m) {
        *why = "MC901";
        return 1;
    }
    mc_file *f = m->files;
    f->parse = (gguf ? mc_parse_gguf : mc_parse_safetensors)(bytes, file_size, kb, a, 0, f);
    if (f->parse.code == MC_MORE && bytes.n < file_size)
        return -1;
    if (gguf && f->gguf) {
        m->gguf = f->gguf;
        m->gguf_file = 0;
    }
    *why = verdict(m, kb);
    if (!*why && (a->failed || f->parse.code == MC_E_LIMIT || f->parse.code == MC_E_NOMEM))
        *why = "MC901";
    if (!*why && f->parse.code != MC_OK)
        *why = "MC104"; /* not the container at all: the first bytes say so */
    return *why ? 1 : 0;
}

int modelcheck_header(const char *format, const void *bytes, size_t n, uint64_t file_size, const char **why)
{
    mc_arena    a;
    mc_kb       kb;
    const char *reason = "MC901";
    bool        gguf = strcmp(format, "gguf") == 0;
    int         refused = 1;
    if (!gguf && strcmp(format, "safetensors") != 0)
        return 1;
    mc_arena_init(&a, MC_MAX_ARENA);
    if (mc_kb_init(&kb).code == MC_OK)
        refused = judge(&a, &kb, gguf, (mc_span){ bytes, n }, file_size, &reason);
    mc_kb_free(&kb);
    mc_arena_free(&a);
    if (why)
        *why = refused ? reason : NULL;
    return refused;
}
