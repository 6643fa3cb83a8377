/* What one layer of attention keeps: grouped heads with or without a window, a latent row, index keys. */
#include "floor/shape_config.h"

typedef struct { mc_num heads, k, v, window; } geometry;

/* ---- windows ---- */

mc_num mc_look_window(const mc_look *l)
{
    mc_num n = mc_look_member(l, l->family, "window", "sliding_window sliding_window_size attention_window_size");
    const mc_value *half = mc_get(l->family, "window_half");
    if (half) { /* a width that counts both directions */
        n = mc_look_member(l, half, "key", NULL);
        if (n.state == MC_NUM_ABSENT)
            n = (mc_num){ MC_NUM_CLASS, mc_family_number(half, "default", 0), { l->file, mc_format(l->a, "default of %.*s", MC_FMT(l->cls)) } };
        n.v /= 2;
    }
    if (n.state != MC_NUM_SET && mc_get(l->family, "window_plus_one")) { /* a key that counts the tokens before the current one */
        mc_num before = mc_look_member(l, l->family, "window_plus_one", NULL);
        if (before.state == MC_NUM_SET)
            n = (mc_num){ MC_NUM_SET, before.v + 1, before.from };
    }
    return n;
}

/* ---- heads and widths ---- */

/* Key/value heads of one layer where a list gives them, or blocks of their own (Nemotron NAS). False: a layer without a cache. */
static bool listed_heads(mc_look *l, uint64_t i, mc_num *heads)
{
    static const char *const keys[] = { "num_key_value_heads", "num_kv_heads", "n_head_kv" };
    int64_t                  v;
    for (size_t k = 0; k < MC_COUNT(keys); k++) {
        const mc_value *list = mc_get(l->text, keys[k]);
        if (!mc_is(list, MC_ARRAY))
            continue;
        bool ok = mc_as_int(mc_item(list, i), &v) && v >= 0 && v <= MC_MAX_HEADS;
        *heads = ok ? (mc_num){ MC_NUM_SET, (uint64_t)v, { l->file, mc_look_where(l, mc_str_of(keys[k])) } } : (mc_num){ .state = MC_NUM_BAD };
        return !ok || v > 0;
    }
    const mc_value *blocks = mc_get(l->text, "block_configs"), *attention = mc_get(mc_item(blocks, i), "attention");
    if (!mc_is(blocks, MC_ARRAY))
        return true;
    *heads = (mc_num){ .state = MC_NUM_BAD };
    if (mc_flag(attention, "no_op") || mc_flag(attention, "replace_with_linear"))
        return false;
    const mc_int *all = &l->m->arch.heads;
    if (all->known && mc_as_int(mc_get(attention, "n_heads_in_group"), &v) && v > 0 && all->v % v == 0)
        *heads = (mc_num){ MC_NUM_SET, (uint64_t)(all->v / v), { l->file, mc_look_where(l, MC_STR("block_configs")) } };
    return true;
}

/* What per_layer_config says about one layer: {"3": {"head_dim": 64}}. */
static void overridden(mc_look *l, uint64_t i, geometry *g)
{
    const mc_value *all = mc_get(l->text, "per_layer_config");
    if (!mc_is(all, MC_OBJECT) && !mc_is(all, MC_ARRAY))
        return;
    mc_str          key = mc_format(l->a, "%llu", (unsigned long long)i), where = mc_look_where(l, MC_STR("per_layer_config"));
    const mc_value *own = mc_is(all, MC_ARRAY) ? mc_item(all, i) : mc_get_str(all, key);
    const struct { const char *key; mc_num *to; } keys[] = {
        { "num_key_value_heads", &g->heads }, { "head_dim", &g->k }, { "head_dim", &g->v }, { "v_head_dim", &g->v }, { "sliding_window", &g->window },
    };
    for (size_t k = 0; k < MC_COUNT(keys); k++) {
        const mc_value *v = mc_get(own, keys[k].key);
        int64_t         n;
        if (mc_is(v, MC_NULL))
            *keys[k].to = (mc_num){ .state = MC_NUM_NULL };
        else if (v)
            *keys[k].to = mc_as_int(v, &n) && n > 0 ? (mc_num){ MC_NUM_SET, (uint64_t)n, { l->file, where } } : (mc_num){ .state = MC_NUM_BAD };
    }
}

/* Full and windowed layers may have numbers of their own: "full" and "swa" of the family name the keys. */
static void of_kind(mc_look *l, const char *kind, geometry *g)
{
    const mc_value *spec = mc_get(l->family, kind);
    mc_num          heads = mc_look_member(l, spec, "heads", NULL), k = mc_look_member(l, spec, "k", NULL), v = mc_look_member(l, spec, "v", NULL);
    mc_str          only_if = mc_family_text(spec, "heads_if");
    bool            on = true;
    if (!spec)
        return;
    if (only_if.n)
        on = mc_as_bool(mc_get_str(l->text, only_if), &on) && on;
    if (on && heads.state != MC_NUM_ABSENT && heads.state != MC_NUM_NULL)
        g->heads = heads;
    uint64_t fallback = mc_family_number(spec, "default", 0);
    if (k.state == MC_NUM_ABSENT && fallback)
        k = (mc_num){ MC_NUM_CLASS, fallback, { l->file, mc_format(l->a, "default of %.*s", MC_FMT(l->cls)) } };
    if (k.state != MC_NUM_ABSENT && k.state != MC_NUM_NULL)
        g->k = g->v = k;
    if (v.state != MC_NUM_ABSENT && v.state != MC_NUM_NULL)
        g->v = v;
}

mc_num mc_look_width(const mc_look *l)
{
    const mc_arch *a = &l->m->arch;
    mc_str         derived = MC_STR("hidden_size / num_attention_heads");
    uint64_t       times = mc_family_number(l->family, "width_times", 1);
    if (a->head_dim.known && (times == 1 || !mc_str_eq(a->head_dim.from.where, derived)))
        return mc_num_of(a->head_dim);
    if (!a->hidden.known || !a->heads.known || a->heads.v == 0 || a->hidden.v % a->heads.v != 0)
        return (mc_num){ 0 };
    return (mc_num){ MC_NUM_SET, (uint64_t)(a->hidden.v / a->heads.v) * times, { a->hidden.from.file, derived } };
}

static bool usable(mc_look *l, const geometry *g)
{
    const struct { mc_num n; const char *what; } needed[] = {
        { g->heads, "the number of key/value heads" }, { g->k, "the width of a head" }, { g->v, "the width of a head" },
    };
    for (size_t i = 0; i < MC_COUNT(needed); i++)
        if (!mc_num_known(needed[i].n) || needed[i].n.v == 0) {
            mc_shape_not(l->s, mc_format(l->a, "the configuration does not give %s", needed[i].what));
            return false;
        }
    return true;
}

/* ---- one layer of attention ---- */

static void llama_differs(mc_look *l, mc_keep_group *g)
{
    uint64_t only = mc_family_number(l->family, "llama_layers", 0), fixed = mc_family_number(l->family, "llama_window", 0);
    bool     full = mc_family_is(l->family, "llama", "full") || (only && l->layers != only);
    if (g->keep == MC_KEEP_WINDOW && full)
        g->llama = (mc_keep_llama){ true, MC_KEEP_FULL, 1, g->heads, g->k, g->v, 0 };
    else if (g->keep == MC_KEEP_CHUNK && fixed && g->window != fixed)
        g->llama = (mc_keep_llama){ true, MC_KEEP_CHUNK, 1, g->heads, g->k, g->v, fixed };
}

void mc_keep_grouped(mc_look *l, uint64_t i, char letter)
{
    geometry   g = { mc_num_of(l->m->arch.kv_heads), mc_look_width(l), { 0 }, { 0 } };
    mc_sources from = { 0 };
    g.v = l->m->arch.v_head_dim.known ? mc_num_of(l->m->arch.v_head_dim) : g.k;
    g.window = letter == 'C' ? mc_look_member(l, l->family, "chunk", "attention_chunk_size") : mc_look_window(l);
    bool bounded = letter == 'S' || letter == 'C';
    of_kind(l, bounded ? "swa" : "full", &g);
    mc_num sharing = mc_look_member(l, l->family, "shared_heads", NULL);
    if (mc_num_known(sharing) && sharing.v && l->m->arch.heads.known) /* query heads for each of key and value */
        g.heads = (mc_num){ sharing.state, ((uint64_t)l->m->arch.heads.v + sharing.v - 1) / sharing.v, sharing.from };
    if (!listed_heads(l, i, &g.heads))
        return;
    overridden(l, i, &g);
    if (!usable(l, &g))
        return;
    bool window = bounded && mc_num_known(g.window) && g.window.v > 0;
    if (bounded && g.window.state == MC_NUM_BAD)
        mc_shape_not(l->s, MC_STR("the width of the window is no usable number"));
    else if (bounded && g.window.state == MC_NUM_ABSENT && l->cls.n && !mc_kb_has_type(l->kb, l->cls))
        mc_shape_not(l->s, MC_STR("the configuration does not give the width of the window")); /* of classes with a table absent is none */
    mc_source_of(&from, l->m, l->a, l->m->arch.layers.from);
    mc_look_from(l, &from, g.heads);
    mc_look_from(l, &from, g.k);
    mc_look_from(l, &from, g.v);
    if (window)
        mc_look_from(l, &from, g.window);
    mc_keep_group group = {
        .keep = !window ? MC_KEEP_FULL : letter == 'C' ? MC_KEEP_CHUNK : MC_KEEP_WINDOW, .heads = g.heads.v, .k = g.k.v, .v = g.v.v,
        .window = window ? g.window.v : 0, .mtp = i >= l->layers,
    };
    llama_differs(l, &group);
    mc_shape_keep(l->s, i, &group, &from);
}

/* A latent row; windowed layers of a family with "swa" have ranks of their own and keep their window only. */
void mc_keep_latent(mc_look *l, uint64_t i, char letter)
{
    const mc_value *swa = letter == 'S' ? mc_get(l->family, "swa") : NULL;
    mc_num rank = mc_look_number(l, "kv_lora_rank"), rope = mc_look_number(l, "qk_rope_head_dim"), nope = mc_look_number(l, "qk_nope_head_dim");
    mc_num v = mc_look_number(l, "v_head_dim"), heads = mc_num_of(l->m->arch.heads), window = { 0 };
    if (swa) {
        mc_num own = mc_look_member(l, swa, "rank", NULL), turned = mc_look_member(l, swa, "rope", NULL);
        rank = mc_num_known(own) ? own : (mc_num){ MC_NUM_CLASS, mc_family_number(swa, "default", 0), rank.from };
        rope = mc_num_known(turned) ? turned : rope;
        window = mc_look_window(l);
    }
    if (!mc_num_known(rank) || rank.v == 0 || !mc_num_known(rope) || rank.v > MC_MAX_WIDTH || rope.v > MC_MAX_WIDTH) {
        mc_shape_not(l->s, MC_STR("the configuration does not give the width of the latent (kv_lora_rank, qk_rope_head_dim)"));
        return;
    }
    mc_sources from = { 0 };
    mc_source_of(&from, l->m, l->a, l->m->arch.layers.from);
    mc_look_from(l, &from, rank);
    mc_look_from(l, &from, rope);
    mc_keep_group group = { .keep = MC_KEEP_LATENT, .heads = 1, .k = rank.v + rope.v, .mtp = i >= l->layers };
    if (swa && mc_num_known(window) && window.v) {
        mc_look_from(l, &from, window);
        group.keep = MC_KEEP_WINDOW;
        group.window = window.v;
    } else if (mc_num_known(heads) && mc_num_known(nope) && nope.v <= MC_MAX_WIDTH && mc_num_known(v) && v.v) {
        group.decompressed_heads = heads.v;
        group.decompressed_k = nope.v + rope.v;
        group.decompressed_v = v.v;
    }
    if (mc_family_is(l->family, "llama", "decompressed") && group.decompressed_heads)
        group.llama = (mc_keep_llama){ true, MC_KEEP_FULL, 1, heads.v, group.decompressed_k, group.decompressed_v, 0 };
    for (uint64_t n = mc_family_number(l->family, "times", 1); n > 0; n--)
        mc_shape_keep(l->s, i, &group, &from);
}

/* Index keys beside the cache: one head, no values. llama.cpp stores more beside them for some families. */
void mc_keep_index(mc_look *l, uint64_t i)
{
    mc_num   width = mc_look_member(l, l->family, "index", "index_head_dim");
    uint64_t times = mc_family_number(l->family, "llama_index", 1);
    if (!mc_num_known(width) || width.v == 0 || width.v > MC_MAX_WIDTH) {
        mc_shape_not(l->s, MC_STR("the configuration does not give the width of the index keys"));
        return;
    }
    mc_sources from = { 0 };
    mc_look_from(l, &from, width);
    mc_keep_group group = { .keep = MC_KEEP_INDEX, .heads = 1, .k = width.v };
    if (times > 1)
        group.llama = (mc_keep_llama){ true, MC_KEEP_INDEX, 1, 1, width.v * times, 0, 0 };
    if (mc_flag(l->family, "llama_index_v")) {
        mc_num v = l->m->arch.v_head_dim.known ? mc_num_of(l->m->arch.v_head_dim) : mc_look_width(l);
        group.llama = (mc_keep_llama){ true, MC_KEEP_INDEX, 1, 1, width.v, v.v, 0 };
    }
    mc_shape_keep(l->s, i, &group, &from);
}
