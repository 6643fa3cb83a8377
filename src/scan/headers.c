/* Weights and indexes: first bytes and headers. Each file is opened once and read to the end of its header. The files of a
 * large set are independent of one another: they are read and parsed by a few threads, each into an arena of its own. */
#include "formats/formats.h"
#include "scan/internal.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

/* ---- headers ---- */

typedef mc_err parse_fn(mc_span, uint64_t, const mc_kb *, mc_arena *, uint32_t, mc_file *);

static void parse_header(mc_loader *l, uint32_t id, parse_fn *parse, mc_input *in, uint64_t size, uint64_t cap)
{
    mc_file *f = &l->b->m->files[id];
    mc_span  have = f->head;
    mc_err   e;
    while ((e = parse(have, size, l->b->kb, l->arena, id, f)).code == MC_MORE) {
        if (e.at > cap) {
            mc_load_limit(f, e.at, "header above the limit");
            return;
        }
        if (e.at <= have.n || !mc_load_prefix(l, in, &have, e.at))
            return;
        if (have.n < e.at)
            size = have.n; /* parts that are not there: the header ends where the file does */
    }
    f->parse = e;
    f->limit |= e.code == MC_E_LIMIT || e.code == MC_E_NOMEM;
}

static void load_torch(mc_loader *l, mc_file *f, mc_input *in)
{
    uint64_t want = f->size > 65557 ? f->size - 65557 : 0;
    for (int round = 0; round < 4; round++) { /* the tail, a longer tail, and the directory before it */
        uint64_t at = want;
        mc_span  tail = f->size - at > MC_MAX_ST_HEADER ? (mc_span){ 0 } : mc_read(in, at, (size_t)(f->size - at), l->arena);
        if (!tail.p || mc_parse_torch_tail(tail, at, f->size, &want, f).code != MC_MORE || want >= at)
            return;
        l->bytes_read += tail.n;
    }
}

/* Whatever the first bytes look like: any of them can be a header length, and what is no header then has a finding. */
static bool may_hold_safetensors(const mc_file *f)
{
    return f->bytes != MC_BYTES_UNREAD && !mc_explained(f);
}

/* The size of the file that byte parts make together. */
static uint64_t joined_size(const mc_model *m, const mc_file *f)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].role == MC_ROLE_BYTE_PART && mc_str_eq(m->files[i].part_of, f->part_of))
            sum += m->files[i].size;
    return f->role == MC_ROLE_BYTE_PART ? sum : f->size;
}

static void load_gguf(mc_loader *l, uint32_t id, mc_input *in)
{
    mc_file *f = &l->b->m->files[id];
    parse_header(l, id, mc_parse_gguf, in, joined_size(l->b->m, f), MC_MAX_GGUF_HEADER);
    uint64_t tail = mc_gguf_tail_want(f);
    if (tail == 0)
        return;
    mc_gguf_set_tail(f, mc_read(in, f->gguf->data_end, (size_t)tail, l->arena));
    l->bytes_read += tail;
}

/* Parses the header of an open file whose first bytes are known. */
static void load_header(mc_loader *l, uint32_t id, mc_input *in)
{
    mc_file *f = &l->b->m->files[id];
    if (f->promised == MC_FMT_SAFETENSORS && f->role == MC_ROLE_WEIGHTS && may_hold_safetensors(f))
        parse_header(l, id, mc_parse_safetensors, in, f->size, 8 + MC_MAX_ST_HEADER);
    else if (f->promised == MC_FMT_GGUF && f->bytes == MC_BYTES_GGUF)
        load_gguf(l, id, in);
    else if (f->promised == MC_FMT_TORCH && f->bytes == MC_BYTES_TORCH_ZIP)
        load_torch(l, f, in);
}

static void load_weights(mc_loader *l, uint32_t id, bool header)
{
    mc_file *f = &l->b->m->files[id];
    mc_span  text = f->head;
    mc_input in = mc_load_open(l, f);
    if (in.fd >= 0 && f->head.n == 0)
        mc_load_head(l, f, &in, MC_HEAD_BYTES, &text);
    if (in.fd >= 0 && header && !in.os_error)
        load_header(l, id, &in);
    mc_load_close(f, &in);
}

static void load_index(mc_loader *l, uint32_t id, mc_index *x)
{
    mc_file *f = &l->b->m->files[id];
    mc_span  text = { 0 };
    mc_input in = mc_load_open(l, f);
    if (in.fd >= 0 && in.size > MC_MAX_DOCUMENT)
        mc_load_limit(f, in.size, "document above 256 MiB");
    else if (in.fd >= 0)
        mc_load_head(l, f, &in, in.size, &text);
    mc_load_close(f, &in);
    if (f->os_error || f->limit || f->bytes == MC_BYTES_UNREAD || mc_explained(f))
        return;
    *x = (mc_index){ .file = id, .component = f->component, .conflict = MC_STR(""), .bad_value_key = MC_STR("") };
    mc_parse_index(text, l->arena, x);
    f->parse = x->err;
    if (x->err.code == MC_E_LIMIT || x->err.code == MC_E_NOMEM)
        mc_load_limit(f, x->err.at, x->err.what);
}

/* ---- threads ---- */

enum { MAX_THREADS = 4, FILES_FOR_THREADS = 16 };

typedef struct {
    mc_builder   *b;
    uint32_t     *files; size_t n;  /* indexes first: they take longest */
    mc_index     *parsed;           /* by place in files; file MC_NONE: none */
    atomic_size_t next;
} jobs;
typedef struct { jobs *j; mc_loader l; mc_arena arena; pthread_t id; } worker;

static void work(jobs *j, mc_loader *l)
{
    const mc_model *m = j->b->m;
    for (size_t i; (i = atomic_fetch_add(&j->next, 1)) < j->n;) {
        const mc_file *f = &m->files[j->files[i]];
        if (f->role == MC_ROLE_INDEX)
            load_index(l, j->files[i], &j->parsed[i]);
        else
            load_weights(l, j->files[i], m->components[f->component].kind != MC_COMP_COPY);
    }
}

static void *run(void *arg)
{
    worker *w = arg;
    work(w->j, &w->l);
    return NULL;
}

/* Helpers beside this thread; each with its share of the memory budget. */
static void work_together(jobs *j, mc_loader *own, long n)
{
    worker    w[MAX_THREADS - 1];
    mc_arena *a = own->arena;
    size_t    share = (a->budget - a->used) / (size_t)(n + 1), budget = a->budget;
    long      started = 0;
    for (; started < n; started++) {
        worker *k = &w[started];
        *k = (worker){ .j = j, .l = { own->b, &k->arena, 0 } };
        mc_arena_init(&k->arena, share);
        if (pthread_create(&k->id, NULL, run, k) != 0)
            break;
    }
    a->budget -= share * (size_t)started;
    work(j, own);
    a->budget = budget;
    for (long i = 0; i < started; i++) {
        pthread_join(w[i].id, NULL);
        own->bytes_read += w[i].l.bytes_read;
        mc_arena_adopt(a, &w[i].arena);
    }
}

static bool is_job(const mc_model *m, const mc_file *f, mc_role role)
{
    return f->role == role && mc_readable(f) && (role == MC_ROLE_WEIGHTS || m->components[f->component].kind != MC_COMP_COPY);
}

static bool collect(mc_model *m, jobs *j)
{
    static const mc_role roles[] = { MC_ROLE_INDEX, MC_ROLE_WEIGHTS };
    j->files = MC_NEW(m->arena, uint32_t, m->n_files + 1);
    for (size_t r = 0; j->files && r < MC_COUNT(roles); r++)
        for (uint32_t i = 0; i < m->n_files; i++)
            if (is_job(m, &m->files[i], roles[r]))
                j->files[j->n++] = i;
    j->parsed = MC_NEW(m->arena, mc_index, j->n + 1);
    for (size_t i = 0; j->parsed && i < j->n; i++)
        j->parsed[i].file = MC_NONE;
    return j->files && j->parsed;
}

void mc_load_headers(mc_builder *b)
{
    mc_model *m = b->m;
    mc_loader l = { b, m->arena, 0 };
    jobs      j = { .b = b };
    long      cores = sysconf(_SC_NPROCESSORS_ONLN), helpers = (cores < MAX_THREADS ? cores : MAX_THREADS) - 1;
    if (!collect(m, &j))
        return;
    if (j.n >= FILES_FOR_THREADS && helpers > 0)
        work_together(&j, &l, helpers);
    else
        work(&j, &l);
    m->indexes = j.parsed;
    for (size_t i = 0; i < j.n; i++)
        if (j.parsed[i].file != MC_NONE)
            m->indexes[m->n_indexes++] = j.parsed[i];
    m->bytes_read += l.bytes_read;
}

/* What only the read set tells: shards that an index names in a sub-directory, and byte parts. */
void mc_load_far_headers(mc_builder *b)
{
    mc_model *m = b->m;
    mc_loader l = { b, m->arena, 0 };
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        bool           late = f->role == MC_ROLE_BYTE_PART || (f->role == MC_ROLE_WEIGHTS && m->components[f->component].kind == MC_COMP_COPY);
        if (f->in_read_set && late && mc_readable(f))
            load_weights(&l, i, true);
    }
    m->bytes_read += l.bytes_read;
}
