/* Which files are one copy of the weights, and which copy a loader reads (the read set).
 *
 * Order of choice within a directory, as Transformers, diffusers and vLLM go about it: the files of a valid index, one
 * file, a numbered family, every safetensors file; torch files only where there is no safetensors; Mistral's and Meta's
 * consolidated* only where there is nothing else. A pipeline (model_index.json) reads nothing from its own directory. */
#include "scan/internal.h"

#include <string.h>

static const char *const stems[] = { "model", "diffusion_pytorch_model", "pytorch_model" };

/* ---- indexes ---- */

static mc_container promised_by(mc_str name)
{
    mc_file f = { .path = name, .base = mc_str_base(name), .stem = MC_STR(""), .variant = MC_STR(""), .part_of = MC_STR("") };
    mc_name_parse(&f);
    return f.role == MC_ROLE_WEIGHTS || f.role == MC_ROLE_TRAINING ? f.promised : MC_FMT_NONE;
}

/* "layers-0.bin" is no torch name, yet an index of torch files may hold it. */
static bool fits(mc_container index, mc_str name)
{
    mc_container c = promised_by(name);
    return c == index || (index == MC_FMT_TORCH && mc_str_ends_nocase(name, ".bin"));
}

static void resolve(mc_builder *b, mc_index *x)
{
    mc_model *m = b->m;
    mc_str    dir = m->components[x->component].dir;
    for (size_t i = 0; i < x->n_shards; i++) {
        mc_shard *s = &x->shards[i];
        if (s->state == MC_SHARD_UNSAFE)
            continue;
        mc_str path = dir.n ? mc_format(m->arena, "%.*s%.*s", (int)dir.n, dir.p, (int)s->name.n, s->name.p) : s->name;
        s->file = mc_find_file(b, path);
        if (!fits(m->files[x->file].promised, s->name)) {
            s->state = MC_SHARD_WRONG_KIND;
            x->valid = false;
        } else {
            s->state = s->file == MC_NONE ? MC_SHARD_ABSENT : MC_SHARD_PRESENT;
        }
    }
}

void mc_resolve_indexes(mc_builder *b)
{
    for (size_t i = 0; i < b->m->n_indexes; i++)
        resolve(b, &b->m->indexes[i]);
}

/* ---- the read set of one component ---- */

/* What a file is for this purpose: what its name promises, or for names that promise nothing what its bytes prove. */
static mc_container container_of(const mc_file *f)
{
    mc_container proven = f->promised == MC_FMT_OTHER ? mc_bytes_container(f->bytes) : MC_FMT_NONE;
    return proven == MC_FMT_NONE ? f->promised : proven;
}

static bool is_stem(mc_str s, bool any)
{
    for (size_t i = 0; i < MC_COUNT(stems); i++)
        if (mc_str_is(s, stems[i]))
            return true;
    return any;
}

static bool consolidated(const mc_file *f)
{
    return mc_str_starts(f->base, "consolidated");
}

static bool adapter(const mc_file *f)
{
    return mc_str_starts(f->base, "adapter_model") || mc_str_starts(f->base, "adapter.");
}

typedef struct { mc_model *m; uint32_t c; mc_container want; } choice;
typedef bool pick_fn(const choice *k, const mc_file *f);

static bool plain(const mc_file *f) { return f->variant.n == 0; }

static bool single(const choice *k, const mc_file *f)
{
    (void)k;
    return is_stem(f->stem, false) && plain(f) && !f->numbered && !consolidated(f);
}
static bool family(const choice *k, const mc_file *f)
{
    (void)k;
    return is_stem(f->stem, false) && plain(f) && f->shards > 0;
}
static bool other_family(const choice *k, const mc_file *f)
{
    (void)k;
    return plain(f) && f->shards > 0 && !consolidated(f) && !adapter(f);
}
static bool plain_file(const choice *k, const mc_file *f)
{
    (void)k;
    return plain(f) && !consolidated(f) && !adapter(f);
}
static bool variant_file(const choice *k, const mc_file *f)
{
    (void)k;
    return !consolidated(f) && !adapter(f);
}
static bool adapter_file(const choice *k, const mc_file *f)
{
    (void)k;
    return adapter(f);
}
static bool consolidated_file(const choice *k, const mc_file *f)
{
    (void)k;
    return consolidated(f);
}
static bool anything(const choice *k, const mc_file *f)
{
    (void)k;
    (void)f;
    return true;
}

static bool take(const choice *k, pick_fn *pick)
{
    bool any = false;
    for (size_t i = 0; i < k->m->n_files; i++) {
        mc_file *f = &k->m->files[i];
        if (f->component != k->c || f->role != MC_ROLE_WEIGHTS || container_of(f) != k->want || !pick(k, f))
            continue;
        f->in_read_set = any = true;
    }
    return any;
}

/* The index file "<stem>.<container>.index.json" of a component, by the order of stems; MC_NONE if there is none. */
static uint32_t find_index(const choice *k)
{
    for (size_t s = 0; s < MC_COUNT(stems); s++)
        for (uint32_t i = 0; i < k->m->n_indexes; i++) {
            const mc_file *f = &k->m->files[k->m->indexes[i].file];
            if (f->component == k->c && f->promised == k->want && mc_str_is(f->stem, stems[s]) && plain(f))
                return i;
        }
    return MC_NONE;
}

/* Takes the files of the index that rules; false when there is none or it is unusable. */
static bool take_index(const choice *k)
{
    uint32_t i = find_index(k);
    if (i == MC_NONE)
        return false;
    mc_index *x = &k->m->indexes[i];
    x->rules = true;
    k->m->components[k->c].index = i;
    if (!x->valid)
        return false;
    for (size_t s = 0; s < x->n_shards; s++)
        if (x->shards[s].state == MC_SHARD_PRESENT)
            k->m->files[x->shards[s].file].in_read_set = true;
    return true;
}

static bool choose(const choice *k)
{
    static pick_fn *const order[] = { single, family, other_family, plain_file, variant_file };
    if (take_index(k))
        return true;
    for (size_t i = 0; i < MC_COUNT(order); i++)
        if (take(k, order[i]))
            return true;
    return false;
}

/* An index file that is a pointer, a page or empty still says that this container is meant. */
static bool broken_index(const choice *k)
{
    for (size_t i = 0; i < k->m->n_files; i++) {
        const mc_file *f = &k->m->files[i];
        if (f->component == k->c && f->role == MC_ROLE_INDEX && f->promised == k->want && is_stem(f->stem, false) && plain(f))
            return true;
    }
    return false;
}

static void choose_read_set(mc_model *m, uint32_t c)
{
    static const mc_container others[] = { MC_FMT_GGUF, MC_FMT_ONNX, MC_FMT_CTRANSLATE2, MC_FMT_TF, MC_FMT_HDF5, MC_FMT_FLAX, MC_FMT_TFLITE, MC_FMT_TORCH_DCP,
                                           MC_FMT_OPENVINO, MC_FMT_COREML, MC_FMT_TENSORRT, MC_FMT_NPZ, MC_FMT_GGML, MC_FMT_OTHER };
    choice st = { m, c, MC_FMT_SAFETENSORS }, torch = { m, c, MC_FMT_TORCH };
    if (choose(&st) || broken_index(&st) || m->components[c].index != MC_NONE || choose(&torch) || m->components[c].index != MC_NONE)
        return;
    if (take(&st, adapter_file) || take(&torch, adapter_file) || take(&st, consolidated_file) || take(&torch, consolidated_file))
        return;
    for (size_t i = 0; i < MC_COUNT(others); i++)
        if (take(&(choice){ m, c, others[i] }, anything))
            return;
}

/* ---- sets ---- */

static mc_set *new_set(mc_model *m, const mc_file *f)
{
    mc_set *v = mc_grow(m->arena, m->sets, m->n_sets, &m->cap_sets, sizeof *v);
    if (!v)
        return NULL;
    m->sets = v;
    v[m->n_sets] = (mc_set){ .component = f->component, .container = container_of(f), .stem = f->stem, .variant = f->variant, .total = f->shards, .index = MC_NONE };
    return &v[m->n_sets++];
}

static bool add_to_set(mc_model *m, mc_set *s, uint32_t id)
{
    mc_file  *f = &m->files[id];
    size_t    cap = s->n_files && (s->n_files & (s->n_files - 1)) == 0 ? s->n_files : 0; /* powers of two are full */
    uint32_t *v = s->files;
    if (s->n_files == 0 || cap) {
        v = MC_NEW(m->arena, uint32_t, s->n_files ? s->n_files * 2 : 1);
        if (!v)
            return false;
        if (s->n_files)
            memcpy(v, s->files, s->n_files * sizeof *v);
        s->files = v;
    }
    v[s->n_files++] = id;
    s->bytes += f->size;
    s->read |= f->in_read_set;
    f->set = (uint32_t)(s - m->sets);
    return true;
}

/* Numbers are {1..n}, {0..n-1} or {0..n}. Files are in order of their names: "10-of-12" may come before "2-of-12". */
static bool numbers_complete(const mc_model *m, const mc_set *s)
{
    if (s->total == 0)
        return true;
    uint64_t first = UINT64_MAX, last = 0;
    for (size_t i = 0; i < s->n_files; i++) {
        uint64_t k = m->files[s->files[i]].shard;
        first = k < first ? k : first;
        last = k > last ? k : last;
    }
    return first <= 1 && last - first + 1 == s->n_files && (last == s->total || (first == 0 && last + 1 == s->total));
}

static bool sets_of_indexes(mc_model *m)
{
    for (uint32_t i = 0; i < m->n_indexes; i++) {
        mc_index *x = &m->indexes[i];
        mc_set   *s = NULL;
        bool      complete = x->valid;
        for (size_t k = 0; k < x->n_shards; k++) {
            complete &= x->shards[k].state == MC_SHARD_PRESENT;
            if (x->shards[k].state != MC_SHARD_PRESENT || m->files[x->shards[k].file].set != MC_NONE)
                continue;
            if (!s && !(s = new_set(m, &m->files[x->shards[k].file])))
                return false;
            if (!add_to_set(m, s, x->shards[k].file))
                return false;
        }
        if (!s)
            continue;
        s->index = i;
        s->component = x->component;
        s->complete = complete;
        if (x->rules)
            m->components[x->component].set = (uint32_t)(s - m->sets);
    }
    return true;
}

static bool sets_of_names(mc_model *m)
{
    mc_strset keys;
    uint32_t *set_of, n_before = (uint32_t)m->n_sets;
    bool      added;
    if (!mc_strset_init(&keys, m->arena, 16) || !(set_of = MC_NEW(m->arena, uint32_t, m->n_files + 1)))
        return false;
    for (uint32_t i = 0; i < m->n_files; i++) {
        const mc_file *f = &m->files[i];
        if (f->role != MC_ROLE_WEIGHTS || f->set != MC_NONE)
            continue;
        mc_str key = mc_format(m->arena, "%u|%d|%.*s|%.*s|%llu|%.*s", f->component, (int)container_of(f), MC_FMT(f->stem), MC_FMT(f->variant),
                               (unsigned long long)f->shards, MC_FMT(f->numbered ? MC_STR("") : f->base));
        uint32_t id = mc_strset_add(&keys, key, &added);
        if (id == MC_NO_ID)
            return false;
        if (added) {
            set_of[id] = (uint32_t)m->n_sets;
            if (!new_set(m, f))
                return false;
        }
        if (!add_to_set(m, &m->sets[set_of[id]], i))
            return false;
    }
    for (uint32_t i = n_before; i < m->n_sets; i++) {
        mc_set *s = &m->sets[i];
        s->complete = numbers_complete(m, s);
        if (s->read && m->components[s->component].set == MC_NONE)
            m->components[s->component].set = i;
    }
    return true;
}

/* ---- what the model is made of ---- */

static void sum_up(mc_model *m)
{
    m->format = m->unit == MC_UNIT_GGUF ? MC_FMT_GGUF : MC_FMT_NONE;
    for (uint32_t i = 0; i < m->n_sets; i++) {
        const mc_set *s = &m->sets[i];
        if (s->read && m->format == MC_FMT_NONE)
            m->format = s->container;
        else if (s->read && m->format != s->container)
            m->mixed = true;
        if (!s->read && s->complete && ckd_add(&m->duplicate_bytes, m->duplicate_bytes, s->bytes))
            m->duplicate_bytes = UINT64_MAX;
    }
    for (uint32_t c = 0; c < m->n_components && m->format == MC_FMT_NONE; c++) /* an index without its shards says what is meant */
        if (m->components[c].index != MC_NONE)
            m->format = m->files[m->indexes[m->components[c].index].file].promised;
}

static void choose_everywhere(mc_model *m)
{
    bool pipeline = m->components[0].docs[MC_ROLE_PIPELINE] != MC_NONE, any = false;
    for (uint32_t c = 0; c < m->n_components; c++)
        if (m->components[c].kind == MC_COMP_PART || (m->components[c].kind == MC_COMP_ROOT && !pipeline))
            choose_read_set(m, c);
    for (size_t i = 0; i < m->n_files; i++)
        any |= m->files[i].in_read_set || m->files[i].role == MC_ROLE_INDEX;
    for (uint32_t c = 0; c < m->n_components && !any; c++) /* exports in a folder of their own, and nothing else: onnx/model.onnx */
        if (m->components[c].kind == MC_COMP_COPY)
            for (size_t i = 0; i < m->n_files; i++) {
                mc_file *f = &m->files[i];
                mc_container k = container_of(f);
                if (f->component == c && f->role == MC_ROLE_WEIGHTS && k != MC_FMT_SAFETENSORS && k != MC_FMT_TORCH)
                    f->in_read_set = true;
            }
}

/* A byte part beside the file that the parts make up: left over from joining them. */
static bool joined_part(const mc_builder *b, const mc_file *f)
{
    return f->role == MC_ROLE_BYTE_PART && mc_find_file(b, f->part_of) != MC_NONE;
}

void mc_make_sets(mc_builder *b)
{
    mc_model *m = b->m;
    if (b->plan->unit == MC_UNIT_DIR)
        choose_everywhere(m);
    else
        for (size_t i = 0; i < m->n_files; i++)
            m->files[i].in_read_set = m->files[i].role != MC_ROLE_CONFIG && !joined_part(b, &m->files[i]);
    if (sets_of_indexes(m) && sets_of_names(m))
        sum_up(m);
}
