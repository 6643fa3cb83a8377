/* What the keys of a GGUF file say about cache and state, as llama.cpp reads them (llama-model.cpp load_hparams and src/models):
 * head_count_kv is one number or one for each layer, 0 meaning that the layer caches nothing; widths default to
 * embedding_length / head_count; prediction layers at the end have no cache. What the code supplies and the file does not
 * say (patterns, windows) comes from rules/families/. State: shape_gguf_state.c. */
#include "floor/shape_gguf.h"

bool mc_keys_number(const mc_keys *l, const char *key, uint64_t *out)
{
    return mc_gguf_uint(mc_gguf_arch(l->m->gguf, key), out);
}

/* Of layer i, from one number or from a list. */
bool mc_keys_of_layer(const mc_keys *l, const char *key, uint64_t i, uint64_t *out)
{
    const mc_gguf_kv *kv = mc_gguf_arch(l->m->gguf, key);
    int64_t           v;
    if (mc_gguf_uint(kv, out))
        return true;
    if (!kv || kv->type != MC_GGUF_ARRAY || !mc_gguf_element(l->m->gguf, kv, i, &v) || v < 0)
        return false;
    *out = (uint64_t)v;
    return true;
}

void mc_keys_from(const mc_keys *l, mc_sources *s, const char *key)
{
    const mc_gguf_kv *kv = mc_gguf_arch(l->m->gguf, key);
    if (kv)
        mc_source_of(s, l->m, l->a, (mc_origin){ l->m->gguf_file, kv->key });
}

/* ---- heads and widths ---- */

static bool heads_of(const mc_keys *l, uint64_t i, uint64_t *out)
{
    const char *key = mc_gguf_arch(l->m->gguf, "attention.head_count_kv") ? "attention.head_count_kv" : "attention.head_count";
    return mc_keys_of_layer(l, key, i, out) && *out <= MC_MAX_HEADS;
}

bool mc_keys_width(const mc_keys *l, const char *key, uint64_t *out)
{
    uint64_t embedding, count;
    if (mc_gguf_arch(l->m->gguf, key))
        return mc_keys_number(l, key, out) && *out > 0 && *out <= MC_MAX_WIDTH;
    if (!mc_keys_number(l, "embedding_length", &embedding) || !mc_keys_of_layer(l, "attention.head_count", 0, &count) || count == 0)
        return false;
    *out = embedding / count;
    return *out > 0 && *out <= MC_MAX_WIDTH;
}

static void width_from(const mc_keys *l, mc_sources *s, const char *key)
{
    mc_keys_from(l, s, mc_gguf_arch(l->m->gguf, key) ? key : "embedding_length");
}

/* ---- the kind of a layer ---- */

static bool recurrent_layer(const mc_keys *l, uint64_t i, uint64_t heads)
{
    mc_str   how = mc_family_text(l->family, "recurrent");
    uint64_t ff, listed;
    if (mc_keys_of_layer(l, "attention.recurrent_layers", i, &listed) && mc_gguf_arch(l->m->gguf, "attention.recurrent_layers")->type == MC_GGUF_ARRAY)
        return listed != 0;
    if (mc_str_is(how, "no-kv"))
        return heads == 0;
    if (mc_str_is(how, "no-kv-no-ff"))
        return heads == 0 && (!mc_keys_of_layer(l, "feed_forward_length", i, &ff) || ff == 0);
    return mc_str_is(how, "all") || mc_str_is(how, "beside");
}

/* The family's own pattern, or what sliding_window_pattern says: a list of windowed layers, or a period with the full layer
 * where the family's pattern has it (0: every layer has a window). */
static char windowed(const mc_keys *l, uint64_t i)
{
    static const char key[] = "attention.sliding_window_pattern";
    const mc_gguf_kv *kv = mc_gguf_arch(l->m->gguf, key);
    mc_str            pattern = mc_family_text(l->family, "layers");
    uint64_t          v;
    if (pattern.n < 2)
        return pattern.n ? pattern.p[0] : 'F';
    bool list = mc_str_is(pattern, "array");
    if (kv && kv->type == MC_GGUF_ARRAY)
        return !mc_keys_of_layer(l, key, i, &v) ? '?' : v ? 'S' : 'F';
    if (mc_gguf_uint(kv, &v))
        return v == 0 ? 'S' : i % v == (list || pattern.p[0] != 'F' ? v - 1 : 0) ? 'F' : 'S';
    return list ? '?' : mc_family_letter(l->family, i, l->layers);
}

static char letter_of(const mc_keys *l, uint64_t i, uint64_t heads)
{
    const mc_value *every = mc_get(l->family, "every");
    uint64_t        period;
    if (mc_family_text(l->family, "recurrent").n)
        return recurrent_layer(l, i, heads) ? (mc_family_is(l->family, "recurrent", "beside") ? 'H' : 'L') : 'F';
    if (!every)
        return windowed(l, i);
    if (mc_gguf_arch(l->m->gguf, "attention.recurrent_layers"))
        return recurrent_layer(l, i, heads) ? 'L' : 'F';
    if (!mc_keys_number(l, "full_attention_interval", &period))
        period = mc_family_number(every, "default", 0);
    return mc_every_letter(every, i, period, -1);
}

/* The window in force, 0: none. */
static uint64_t window_of(const mc_keys *l, mc_sources *from)
{
    uint64_t fixed = mc_family_number(l->family, "window_fixed", 0), only = mc_family_number(l->family, "only_layers", 0), w = 0;
    bool     given = mc_gguf_arch(l->m->gguf, "attention.sliding_window") != NULL;
    if (only && l->layers != only)
        return 0;
    mc_keys_from(l, from, "attention.sliding_window");
    if (given && !mc_keys_number(l, "attention.sliding_window", &w))
        return 0;
    if (fixed) /* the code has it, unless the key says that there is none */
        return given ? (w ? fixed : 0) : mc_flag(l->family, "window_needs_key") ? 0 : fixed;
    return given ? w : mc_family_number(l->family, "window", 0);
}

/* ---- one layer of attention ---- */

static void grouped(mc_keys *l, uint64_t i, uint64_t heads, char letter)
{
    mc_sources from = { 0 };
    mc_keys_from(l, &from, "block_count");
    mc_keys_from(l, &from, mc_gguf_arch(l->m->gguf, "attention.head_count_kv") ? "attention.head_count_kv" : "attention.head_count");
    uint64_t window = letter == 'S' || letter == 'C' ? window_of(l, &from) : 0, k, v;
    bool     known = mc_keys_width(l, "attention.key_length", &k) && mc_keys_width(l, "attention.value_length", &v), swa = letter == 'S' && window;
    if (swa && mc_gguf_arch(l->m->gguf, "attention.key_length_swa"))
        known = mc_keys_width(l, "attention.key_length_swa", &k);
    if (known && swa && mc_gguf_arch(l->m->gguf, "attention.value_length_swa"))
        known = mc_keys_width(l, "attention.value_length_swa", &v);
    if (!known) {
        mc_shape_not(l->s, MC_STR("the keys do not give layers, key/value heads and widths"));
        return;
    }
    width_from(l, &from, swa && mc_gguf_arch(l->m->gguf, "attention.key_length_swa") ? "attention.key_length_swa" : "attention.key_length");
    width_from(l, &from, swa && mc_gguf_arch(l->m->gguf, "attention.value_length_swa") ? "attention.value_length_swa" : "attention.value_length");
    mc_keep_group g = { .keep = !window ? MC_KEEP_FULL : letter == 'C' ? MC_KEEP_CHUNK : MC_KEEP_WINDOW, .heads = heads, .k = k, .v = v, .window = window,
                        .mtp = i >= l->layers };
    if (window && mc_family_is(l->family, "llama", "full"))
        g.llama = (mc_keep_llama){ true, MC_KEEP_FULL, 1, heads, k, v, 0 };
    mc_shape_keep(l->s, i < l->layers ? i : MC_MAX_LAYERS, &g, &from);
}

/* With *_mla keys one compressed row; without them llama.cpp stores every head decompressed. */
static void latent(mc_keys *l, uint64_t i, uint64_t heads)
{
    uint64_t   k, v, k_mla, v_mla, rank, rope, queries;
    mc_sources from = { 0 };
    mc_keys_from(l, &from, "block_count");
    bool absorbed = mc_keys_number(l, "attention.key_length_mla", &k_mla) && mc_keys_number(l, "attention.value_length_mla", &v_mla) && k_mla && v_mla;
    bool known = mc_keys_width(l, "attention.key_length", &k) && mc_keys_width(l, "attention.value_length", &v);
    bool low = mc_keys_number(l, "attention.kv_lora_rank", &rank) && mc_keys_number(l, "rope.dimension_count", &rope) && rank && rank <= MC_MAX_WIDTH && rope <= MC_MAX_WIDTH;
    if (!known || (!absorbed && !low)) {
        mc_shape_not(l->s, MC_STR("the keys do not give the width of the latent"));
        return;
    }
    mc_keep_group g = { .keep = MC_KEEP_LATENT, .heads = absorbed ? heads : 1, .k = absorbed ? k : rank + rope, .mtp = i >= l->layers };
    if (mc_keys_of_layer(l, "attention.head_count", i, &queries) && queries <= MC_MAX_HEADS) {
        g.decompressed_heads = absorbed ? queries : heads;
        g.decompressed_k = absorbed ? k_mla : k;
        g.decompressed_v = absorbed ? v_mla : v;
    }
    if (!absorbed)
        g.llama = (mc_keep_llama){ true, MC_KEEP_FULL, 1, heads, k, v, 0 };
    mc_keys_from(l, &from, absorbed ? "attention.key_length" : "attention.kv_lora_rank");
    mc_keys_from(l, &from, absorbed ? "attention.key_length_mla" : "rope.dimension_count");
    mc_shape_keep(l->s, i < l->layers ? i : MC_MAX_LAYERS, &g, &from);
}

/* GLM-DSA: files of the models with 1M tokens have index keys on some layers only. */
static bool owns_index(const mc_keys *l, uint64_t i, mc_str how)
{
    uint64_t v;
    if (mc_str_is(how, "sparse"))
        return mc_keys_number(l, "leading_dense_block_count", &v) ? i >= v : true;
    if (!mc_str_is(how, "glm-dsa") || !mc_keys_number(l, "context_length", &v) || v < 1048576)
        return true;
    return mc_keys_of_layer(l, "attention.indexer.types", i, &v) ? v != 0 : i < 3 || (i >= 6 && (i - 6) % 4 == 0);
}

/* What llama.cpp stores beside index keys: some families only when a key asks for it on some layer. */
static uint64_t index_times(const mc_keys *l)
{
    uint64_t times = mc_family_number(l->family, "llama_index", 1), v;
    if (!mc_get(l->family, "llama_index_key"))
        return times;
    const char *key = mc_format(l->a, "%.*s", MC_FMT(mc_family_text(l->family, "llama_index_key"))).p;
    for (uint64_t i = 0; i < l->layers; i++)
        if (mc_keys_of_layer(l, key, i, &v) && v > 0)
            return times;
    return 1;
}

static void index_keys(mc_keys *l, uint64_t i)
{
    mc_str     how = mc_family_text(l->family, "index");
    uint64_t   width, v, times = l->index_times;
    mc_sources from = { 0 };
    if (how.n == 0 || i >= l->layers || !owns_index(l, i, how))
        return;
    if (!mc_keys_number(l, "attention.indexer.key_length", &width) || width == 0 || width > MC_MAX_WIDTH) {
        mc_shape_not(l->s, MC_STR("the keys do not give the width of the index keys"));
        return;
    }
    mc_keys_from(l, &from, "attention.indexer.key_length");
    mc_keep_group g = { .keep = MC_KEEP_INDEX, .heads = 1, .k = width };
    if (times > 1)
        g.llama = (mc_keep_llama){ true, MC_KEEP_INDEX, 1, 1, width * times, 0, 0 };
    if (mc_flag(l->family, "llama_index_v") && mc_keys_width(l, "attention.value_length", &v))
        g.llama = (mc_keep_llama){ true, MC_KEEP_INDEX, 1, 1, width, v, 0 };
    mc_shape_keep(l->s, i, &g, &from);
}

/* ---- DeepSeek-V4: a window on all layers, compressed rows, index keys beside those of ratio 4 ---- */

static void compressed(mc_keys *l)
{
    uint64_t width, index, window, every;
    if (!mc_keys_width(l, "attention.key_length", &width) || !mc_keys_number(l, "attention.indexer.key_length", &index) ||
        !mc_keys_number(l, "attention.sliding_window", &window) || window == 0) {
        mc_shape_not(l->s, MC_STR("the keys do not give widths and window"));
        return;
    }
    mc_sources from = { 0 };
    mc_keys_from(l, &from, "block_count");
    mc_keys_from(l, &from, "attention.key_length");
    mc_keys_from(l, &from, "attention.sliding_window");
    mc_sources rows = { 0 };
    mc_keys_from(l, &rows, "attention.compress_ratios");
    mc_keys_from(l, &rows, "attention.key_length");
    for (uint64_t i = 0; i < l->layers; i++) {
        if (!mc_keys_of_layer(l, "attention.compress_ratios", i, &every) || every > 1 << 20) {
            mc_shape_not(l->s, MC_STR("compress_ratios does not tell how each layer is compressed"));
            return;
        }
        mc_keep_group raw = { .keep = MC_KEEP_WINDOW, .heads = 1, .k = width, .window = window };
        mc_keep_group row = { .keep = MC_KEEP_COMPRESSED, .heads = 1, .k = width, .window = every };
        mc_keep_group key = { .keep = MC_KEEP_COMPRESSED, .heads = 1, .k = index, .window = every, .index = true };
        mc_shape_keep(l->s, i, &raw, &from);
        if (every)
            mc_shape_keep(l->s, i, &row, &rows);
        if (every && every < 128)
            mc_shape_keep(l->s, i, &key, &rows);
    }
}

/* ---- the whole ---- */

static void attention(mc_keys *l, uint64_t i, uint64_t heads, char letter)
{
    if (mc_family_is(l->family, "attention", "mla"))
        latent(l, i, heads);
    else
        grouped(l, i, heads, letter);
    index_keys(l, i);
}

static void layer(mc_keys *l, uint64_t i)
{
    uint64_t heads = 0, own = mc_family_number(l->family, "own_layers", 0), shared = 0;
    bool     known = heads_of(l, i, &heads), all = mc_family_is(l->family, "recurrent", "all");
    if (!known && !all) {
        mc_shape_not(l->s, MC_STR("the keys do not give layers, key/value heads and widths"));
        return;
    }
    char c = letter_of(l, i, heads);
    if (c == '?')
        mc_shape_not(l->s, MC_STR("sliding_window_pattern does not tell which layers have a window"));
    if (c == 'L' || c == 'H')
        mc_keys_state(l, i);
    if (c == 'L' || heads == 0 || (own && i >= own))
        return;
    if (mc_keys_number(l, "attention.shared_kv_layers", &shared) && shared <= l->layers && i >= l->layers - shared)
        return;
    attention(l, i, heads, c);
}

static void stack(mc_keys *l, uint64_t prediction)
{
    uint64_t heads;
    if (!mc_shape_begin(l->s, l->a, l->layers)) {
        mc_shape_not(l->s, MC_STR("the keys do not give layers, key/value heads and widths"));
        return;
    }
    if (mc_family_is(l->family, "attention", "compressed"))
        compressed(l);
    else {
        l->index_times = index_times(l);
        for (uint64_t i = 0; i < l->layers && l->s->cache == MC_CACHE_COMPUTED; i++)
            layer(l, i);
        for (uint64_t i = l->layers; i < l->layers + prediction && l->s->cache == MC_CACHE_COMPUTED; i++)
            if (heads_of(l, i, &heads) && heads)
                attention(l, i, heads, 'F');
    }
    mc_shape_end(l->s, l->a);
}

static void bound(mc_keys *l)
{
    uint64_t k, v, k_swa, v_swa, heads;
    if (!mc_keys_width(l, "attention.key_length", &k) || !mc_keys_width(l, "attention.value_length", &v))
        return;
    if (mc_keys_number(l, "attention.key_length_swa", &k_swa) && k_swa > k)
        k = k_swa;
    if (mc_keys_number(l, "attention.value_length_swa", &v_swa) && v_swa > v)
        v = v_swa;
    for (uint64_t i = 0; i < l->layers && i < MC_MAX_LAYERS; i++) {
        if (!heads_of(l, i, &heads)) {
            l->s->bound_known = false;
            return;
        }
        mc_shape_bound(l->s, 1, heads, k, v);
    }
}

void mc_shape_gguf(const mc_model *m, mc_kb *kb, mc_arena *a, mc_shape *s)
{
    const mc_gguf *g = m->gguf;
    mc_str         arch = mc_gguf_str(mc_gguf_get(g, "general.architecture"));
    mc_keys        l = { .m = m, .a = a, .s = s, .family = mc_kb_family(kb, true, arch) };
    uint64_t       blocks = 0, next = 0;
    if (!g || g->n < g->n_kv) {
        mc_shape_not(s, g ? MC_STR("the metadata could not be read to its end") : MC_STR("there is no metadata to read"));
        return;
    }
    if (mc_family_is(l.family, "cache", "none")) {
        s->cache = MC_CACHE_NONE;
        s->reason = mc_family_text(l.family, "reason");
        return;
    }
    if (!mc_keys_number(&l, "block_count", &blocks) || blocks > MC_MAX_LAYERS)
        blocks = 0;
    if (!mc_keys_number(&l, "nextn_predict_layers", &next) || next >= blocks)
        next = 0;
    l.layers = blocks - next;
    if (!l.family)
        mc_shape_not(s, arch.n ? mc_format(a, "architecture %.*s is not known to this version", MC_FMT(arch)) : MC_STR("the file names no architecture"));
    else if (mc_family_is(l.family, "cache", "unknown"))
        mc_shape_not(s, mc_family_text(l.family, "reason"));
    else
        stack(&l, next);
    if (s->cache == MC_CACHE_NOT_COMPUTED && (!l.family || mc_flag(l.family, "bound") || !mc_family_is(l.family, "cache", "unknown")))
        bound(&l);
}
