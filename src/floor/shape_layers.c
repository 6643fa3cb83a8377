/* Which kind each layer is: a list of the file (layer_types and its older names), a list that only the family has
 * (hybrid_override_pattern, no_rope_layers, attn_layer_indices ...), or the rule of the class. */
#include "floor/shape_config.h"

static char named(const mc_look *l, mc_str s)
{
    static const struct { const char *name; char letter; } names[] = {
        { "full_attention", 'F' },    { "attention", 'F' },         { "global", 'F' },         { "sliding_attention", 'S' },
        { "local", 'S' },             { "chunked_attention", 'C' }, { "linear_attention", 'L' }, { "mamba", 'L' },
        { "recurrent", 'L' },         { "indexed_attention", 'X' }, { "deepseek_sparse_attention", 'X' }, { "qwen_sparse_attention", 'X' },
        { "minimax_m3_sparse", 'X' }, { "hybrid", 'H' },            { "hybrid_sliding", 'h' },    { "conv", 'v' },
        { "moe", 'm' },               { "mlp", 'm' },               { "compressed_sparse_attention", 'Z' }, { "heavily_compressed_attention", 'z' },
    };
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        if (!mc_str_is(s, names[i].name))
            continue;
        mc_str full_is = mc_family_text(l->family, "full_is"); /* classes that read full_attention as indexed_attention */
        return names[i].letter == 'F' && full_is.n ? full_is.p[0] : names[i].letter;
    }
    return '?';
}

static bool not_named(mc_look *l, mc_str kind)
{
    mc_shape_not(l->s, mc_format(l->a, "layers of the kind \"%.*s\", which this version does not know", MC_FMT(kind)));
    return false;
}

static bool wrong_length(mc_look *l, const char *key, size_t n)
{
    mc_shape_not(l->s, mc_format(l->a, "%s has %llu entries for %llu layers", key, (unsigned long long)n, (unsigned long long)l->layers));
    return false;
}

/* ---- lists that any class may have ---- */

typedef enum { LIST_ABSENT, LIST_READ, LIST_WRONG } list_state;

static list_state by_name(mc_look *l, const char *key, const mc_value *list)
{
    if (!mc_is(list, MC_ARRAY))
        return LIST_ABSENT;
    if (list->n != l->layers)
        return wrong_length(l, key, list->n) ? LIST_READ : LIST_WRONG;
    for (size_t i = 0; i < list->n; i++) {
        mc_str name = mc_as_str(mc_item(list, i));
        if ((l->letters[i] = named(l, name)) == '?')
            return not_named(l, name) ? LIST_READ : LIST_WRONG;
    }
    return LIST_READ;
}

/* ---- lists of a family ---- */

static list_state by_index(mc_look *l, const mc_value *spec, const mc_value *list)
{
    uint64_t base = mc_family_number(spec, "base", 0);
    mc_str   in = mc_family_text(spec, "in"), out = mc_family_text(spec, "out");
    int64_t  v;
    if (!mc_is(list, MC_ARRAY) || in.n == 0 || out.n == 0)
        return LIST_ABSENT;
    for (uint64_t i = 0; i < l->layers; i++)
        l->letters[i] = out.p[0];
    for (size_t i = 0; i < list->n; i++) {
        if (!mc_as_int(mc_item(list, i), &v) || v < (int64_t)base || (uint64_t)v - base >= l->layers) {
            mc_shape_not(l->s, mc_format(l->a, "%.*s names a layer that is not there", MC_FMT(mc_family_text(spec, "key"))));
            return LIST_WRONG;
        }
        l->letters[(uint64_t)v - base] = in.p[0];
    }
    return LIST_READ;
}

/* Numbers, one a layer; the list may be longer than the model (prediction layers). */
static list_state by_flag(mc_look *l, const mc_value *spec, const mc_value *list)
{
    mc_str  letters = mc_family_text(spec, "letters"), key = mc_family_text(spec, "key");
    int64_t v;
    bool    b;
    if (!mc_is(list, MC_ARRAY) || list->n == 0)
        return LIST_ABSENT;
    for (uint64_t i = 0; i < l->layers; i++) {
        const mc_value *item = mc_item(list, i);
        if (mc_as_bool(item, &b))
            v = b;
        else if (!mc_as_int(item, &v) || v < 0 || (uint64_t)v >= letters.n) {
            mc_shape_not(l->s, mc_format(l->a, "%.*s does not tell the kind of layer %llu", MC_FMT(key), (unsigned long long)i));
            return LIST_WRONG;
        }
        l->letters[i] = letters.p[v];
    }
    return LIST_READ;
}

/* One character a layer: "map" holds pairs of character and letter. */
static list_state by_char(mc_look *l, const mc_value *spec, const mc_value *text)
{
    mc_str map = mc_family_text(spec, "map");
    if (!mc_is(text, MC_STRING))
        return LIST_ABSENT;
    if (text->s.n != l->layers)
        return wrong_length(l, "hybrid_override_pattern", text->s.n) ? LIST_READ : LIST_WRONG;
    for (uint64_t i = 0; i < l->layers; i++) {
        l->letters[i] = '?';
        for (size_t k = 0; k + 1 < map.n; k += 2)
            if (map.p[k] == text->s.p[i])
                l->letters[i] = map.p[k + 1];
        if (l->letters[i] == '?')
            return not_named(l, mc_str_cut(text->s, i, i + 1)) ? LIST_READ : LIST_WRONG;
    }
    return LIST_READ;
}

/* Names that repeat over the layers. */
static list_state by_cycle(mc_look *l, const mc_value *spec, const mc_value *list)
{
    (void)spec;
    if (!mc_is(list, MC_ARRAY) || list->n == 0)
        return LIST_ABSENT;
    for (uint64_t i = 0; i < l->layers; i++) {
        mc_str name = mc_as_str(mc_item(list, i % list->n));
        l->letters[i] = named(l, name);
        if (l->letters[i] == '?')
            return not_named(l, name) ? LIST_READ : LIST_WRONG;
    }
    return LIST_READ;
}

static list_state of_family(mc_look *l)
{
    static const struct { const char *as; list_state (*read)(mc_look *, const mc_value *, const mc_value *); } ways[] = {
        { "indices", by_index }, { "flags", by_flag }, { "chars", by_char }, { "cycle", by_cycle },
    };
    const mc_value *lists = mc_get(l->family, "lists");
    for (size_t i = 0; mc_is(lists, MC_ARRAY) && i < lists->n; i++) {
        const mc_value *spec = mc_item(lists, i), *list = mc_look_value(l, mc_family_text(spec, "key"));
        mc_err          err;
        mc_default      d;
        if (!list && mc_kb_default(l->kb, l->cls, "block_types", &d) && mc_str_is(mc_family_text(spec, "key"), "block_types"))
            list = mc_json_tree(l->a, (mc_span){ (const uint8_t *)d.value.p, d.value.n }, &err, NULL);
        for (size_t k = 0; k < MC_COUNT(ways); k++) {
            if (!mc_family_is(spec, "as", ways[k].as))
                continue;
            list_state s = ways[k].read(l, spec, list);
            if (s != LIST_ABSENT)
                return s;
        }
    }
    return LIST_ABSENT;
}

/* ---- rules ---- */

static bool by_period(mc_look *l, const mc_value *every)
{
    mc_num   p = mc_look_member(l, every, "period", NULL), at = mc_look_member(l, every, "at", NULL);
    uint64_t period = mc_num_known(p) ? p.v : mc_family_number(every, "default", 0);
    int64_t  place = -1;
    if (mc_num_known(at) && at.v < MC_MAX_LAYERS)
        place = (int64_t)at.v;
    else if (mc_is(mc_get(every, "at"), MC_INT))
        place = (int64_t)mc_family_number(every, "at", 0);
    if (p.state == MC_NUM_BAD || at.state == MC_NUM_BAD) {
        mc_shape_not(l->s, MC_STR("the period of the layers is no usable number"));
        return false;
    }
    for (uint64_t i = 0; i < l->layers; i++)
        l->letters[i] = mc_every_letter(every, i, period, place);
    return true;
}

/* Cohere2-MoE counts the dense layers in front and the others each from their own start. */
static bool two_patterns(mc_look *l)
{
    mc_num   dense = mc_look_number(l, "first_k_dense_replace"), first = mc_look_number(l, "prefix_dense_sliding_window_pattern"),
             rest = mc_look_number(l, "sliding_window_pattern");
    uint64_t n = mc_num_known(dense) ? dense.v : 0, a = mc_num_known(first) ? first.v : 1, b = mc_num_known(rest) ? rest.v : 4;
    for (uint64_t i = 0; i < l->layers; i++) {
        uint64_t k = i < n ? i : i - n, p = i < n ? a : b;
        l->letters[i] = p && (k + 1) % p == 0 ? 'F' : 'S';
    }
    return true;
}

/* Zamba: L, L, hybrid, then hybrid where attn_layer_period and attn_layer_offset say so, counted behind those three. */
static bool zamba(mc_look *l)
{
    mc_num period = mc_look_number(l, "attn_layer_period"), offset = mc_look_number(l, "attn_layer_offset");
    if (!mc_num_known(period) || !mc_num_known(offset) || period.v == 0)
        return false;
    for (uint64_t i = 0; i < l->layers; i++)
        l->letters[i] = i == 2 || (i > 2 && (i - 3) % period.v == offset.v) ? 'H' : 'L';
    return true;
}

static bool by_rule(mc_look *l)
{
    const mc_value *every = mc_get(l->family, "every");
    if (every)
        return by_period(l, every);
    if (mc_family_is(l->family, "special", "cohere2_moe"))
        return two_patterns(l);
    if (mc_family_is(l->family, "special", "zamba"))
        return zamba(l);
    for (uint64_t i = 0; i < l->layers; i++) {
        char c = mc_family_letter(l->family, i, l->layers);
        l->letters[i] = c ? c : 'F';
        if (c != '?')
            continue;
        mc_str why = mc_family_text(l->family, "reason");
        mc_shape_not(l->s, why.n ? why : MC_STR("which layers have attention is not known"));
        return false;
    }
    return true;
}

/* Windows that a key turns off, and those that begin or end at a layer. */
static bool limits(mc_look *l)
{
    mc_str sw = mc_family_text(l->family, "switch"), from = mc_family_text(l->family, "from"), below = mc_family_text(l->family, "below");
    bool   off = sw.n && !mc_look_flag(l, "use_sliding_window");
    mc_num n = mc_look_number(l, "max_window_layers");
    for (uint64_t i = 0; i < l->layers; i++) {
        bool outside = (from.n && mc_num_known(n) && i < n.v) || (below.n && mc_num_known(n) && i >= n.v);
        if (l->letters[i] == 'S' && (off || outside))
            l->letters[i] = 'F';
    }
    if (!off && (from.n || below.n) && !mc_num_known(n))
        mc_shape_not(l->s, MC_STR("max_window_layers is no usable number"));
    return l->s->cache == MC_CACHE_COMPUTED;
}

bool mc_look_letters(mc_look *l)
{
    static const char *const keys[] = { "layer_types", "layers_block_type" };
    list_state               s = LIST_ABSENT;
    for (size_t i = 0; i < MC_COUNT(keys) && s == LIST_ABSENT; i++)
        s = by_name(l, keys[i], mc_get(l->text, keys[i]));
    if (s == LIST_READ && mc_flag(l->family, "force_last"))
        l->letters[l->layers - 1] = 'F';
    if (s != LIST_ABSENT)
        return s == LIST_READ && (mc_family_text(l->family, "switch").n == 0 || mc_look_flag(l, "use_sliding_window") || limits(l));
    s = of_family(l);
    if (s == LIST_WRONG)
        return false;
    if (s == LIST_ABSENT && !by_rule(l))
        return false;
    return limits(l);
}
