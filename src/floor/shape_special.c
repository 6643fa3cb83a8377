/* Shapes that are not one cache a layer: DeepSeek-V4 (a window, compressed rows, their index), encoder-decoder models (self
 * and cross attention), Mllama (cross attention layers). */
#include "floor/shape_config.h"

/* ---- DeepSeek-V4 ---- */

/* Ratio of layer i: 0 window only, else tokens for one compressed row. */
static bool ratio(mc_look *l, uint64_t i, uint64_t csa, uint64_t hca, uint64_t *out)
{
    const mc_value *list = mc_get(l->text, "compress_ratios"), *types = mc_get(l->text, "layer_types");
    int64_t         v;
    if (mc_is(list, MC_ARRAY)) { /* may be longer than the model: prediction layers */
        if (!mc_as_int(mc_item(list, i), &v) || v < 0 || v > 1 << 20)
            return false;
        *out = (uint64_t)v;
        return true;
    }
    mc_str name = mc_as_str(mc_item(types, i));
    if (types && !mc_str_starts(name, "compressed_sparse") && !mc_str_starts(name, "heavily_compressed") && !mc_str_starts(name, "sliding"))
        return false;
    *out = types ? (mc_str_starts(name, "sliding") ? 0 : mc_str_starts(name, "heavily") ? hca : csa) : i < 2 || i % 2 == 0 ? hca : csa;
    return true;
}

static void rows(mc_look *l, uint64_t i, uint64_t every, mc_num width, bool index)
{
    mc_sources from = { 0 };
    mc_source_of(&from, l->m, l->a, (mc_origin){ l->file, mc_look_where(l, MC_STR("compress_ratios")) });
    mc_look_from(l, &from, width);
    mc_keep_group g = { .keep = MC_KEEP_COMPRESSED, .heads = 1, .k = width.v, .window = every, .index = index };
    mc_shape_keep(l->s, i, &g, &from);
}

static void compressed(mc_look *l)
{
    mc_num   width = mc_look_width(l), index = mc_look_number(l, "index_head_dim"), window = mc_look_window(l);
    mc_num   csa = mc_look_number(l, "compress_rate_csa"), hca = mc_look_number(l, "compress_rate_hca");
    uint64_t every;
    if (!mc_num_known(width) || !mc_num_known(index) || !mc_num_known(window) || !mc_shape_begin(l->s, l->a, l->layers)) {
        mc_shape_not(l->s, MC_STR("the configuration does not give layers, widths and window"));
        return;
    }
    mc_sources from = { 0 };
    mc_source_of(&from, l->m, l->a, l->m->arch.layers.from);
    mc_look_from(l, &from, width);
    mc_look_from(l, &from, window);
    for (uint64_t i = 0; i < l->layers; i++) {
        mc_keep_group raw = { .keep = MC_KEEP_WINDOW, .heads = 1, .k = width.v, .window = window.v };
        mc_shape_keep(l->s, i, &raw, &from);
        if (!ratio(l, i, mc_num_known(csa) ? csa.v : 4, mc_num_known(hca) ? hca.v : 128, &every)) {
            mc_shape_not(l->s, MC_STR("compress_ratios does not tell how each layer is compressed"));
            return;
        }
        if (every)
            rows(l, i, every, width, false);
        if (every && every < 128)
            rows(l, i, every, index, true);
    }
    mc_shape_end(l->s, l->a);
}

/* ---- encoder-decoder ---- */

static void both(mc_look *l, mc_num layers, mc_num heads, uint64_t width, uint64_t cross)
{
    mc_sources from = { 0 };
    if (!mc_shape_begin(l->s, l->a, layers.v)) {
        mc_shape_not(l->s, MC_STR("the number of layers is not plausible"));
        return;
    }
    mc_look_from(l, &from, layers);
    mc_look_from(l, &from, heads);
    mc_keep_group self = { .keep = MC_KEEP_FULL, .heads = heads.v, .k = width, .v = width };
    mc_keep_group other = { .keep = MC_KEEP_CROSS, .heads = heads.v, .k = width, .v = width, .window = cross, .llama = { .differs = true } };
    for (uint64_t i = 0; i < layers.v; i++) {
        mc_shape_keep(l->s, i, &self, &from);
        if (cross)
            mc_shape_keep(l->s, i, &other, &from);
    }
    if (!cross)
        mc_shape_assume(l->s, mc_format(l->a, "cross attention is not counted: it keeps 2*%llu*%llu*%llu elements for each token of the encoder's input",
                                        (unsigned long long)layers.v, (unsigned long long)heads.v, (unsigned long long)width));
    mc_shape_end(l->s, l->a);
}

static void encoder_decoder(mc_look *l)
{
    mc_num layers = mc_look_number(l, "decoder_layers num_decoder_layers num_layers num_hidden_layers");
    mc_num heads = mc_look_number(l, "decoder_attention_heads num_attention_heads num_heads"), d_kv = mc_look_number(l, "d_kv head_dim");
    mc_num hidden = mc_num_of(l->m->arch.hidden), frames = mc_look_number(l, "max_source_positions");
    if (!mc_num_known(layers) || !mc_num_known(heads) || heads.v == 0 || (!mc_num_known(d_kv) && !mc_num_known(hidden))) {
        mc_shape_not(l->s, MC_STR("the configuration does not give the decoder's layers, heads and widths"));
        return;
    }
    uint64_t width = mc_num_known(d_kv) ? d_kv.v : hidden.v / heads.v;
    bool     whisper = mc_str_is(l->cls, "whisper") && mc_num_known(frames);
    both(l, layers, heads, width, whisper ? frames.v : 0);
    mc_num blocks = mc_look_number(l, "num_layers"); /* T5 in llama.cpp: caches for as many layers as the encoder has */
    if (mc_num_known(blocks) && blocks.v != layers.v && blocks.v <= MC_MAX_LAYERS && l->s->n_keeps)
        l->s->keeps[0].llama = (mc_keep_llama){ true, MC_KEEP_FULL, blocks.v, heads.v, width, width, 0 };
}

/* ---- Mllama ---- */

/* Positions that an image takes: tiles of patches and one class token each. */
static uint64_t image_positions(mc_look *l)
{
    const mc_value *vision = mc_get(l->root, "vision_config");
    int64_t         tiles, size, patch;
    if (!mc_as_int(mc_get(vision, "max_num_tiles"), &tiles) || !mc_as_int(mc_get(vision, "image_size"), &size) ||
        !mc_as_int(mc_get(vision, "patch_size"), &patch) || tiles < 1 || tiles > 64 || patch < 1 || size < patch || size > 1 << 16)
        return 0;
    return (uint64_t)(tiles * (size / patch * (size / patch) + 1));
}

static void mllama(mc_look *l)
{
    const mc_value *list = mc_get(l->text, "cross_attention_layers");
    mc_num          heads = mc_num_of(l->m->arch.kv_heads), width = mc_look_width(l);
    uint64_t        positions = image_positions(l);
    int64_t         v;
    if (!mc_is(list, MC_ARRAY) || !mc_num_known(heads) || !mc_num_known(width) || !mc_shape_begin(l->s, l->a, l->layers)) {
        mc_shape_not(l->s, MC_STR("cross attention layers"));
        return;
    }
    mc_sources from = { 0 };
    mc_source_of(&from, l->m, l->a, l->m->arch.layers.from);
    mc_look_from(l, &from, heads);
    mc_look_from(l, &from, width);
    for (uint64_t i = 0; i < l->layers; i++) {
        bool cross = false;
        for (size_t k = 0; k < list->n; k++)
            cross |= mc_as_int(mc_item(list, k), &v) && v >= 0 && (uint64_t)v == i;
        mc_keep_group g = { .keep = cross ? MC_KEEP_CROSS : MC_KEEP_FULL, .heads = heads.v, .k = width.v, .v = width.v, .window = cross ? positions : 0 };
        g.llama.differs = cross;
        if (!cross || positions)
            mc_shape_keep(l->s, i, &g, &from);
    }
    if (!positions)
        mc_shape_assume(l->s, MC_STR("the cache of cross attention is left out: the configuration does not give the size of an image"));
    mc_shape_end(l->s, l->a);
}

bool mc_config_special(mc_look *l)
{
    static const struct { const char *name; void (*read)(mc_look *); bool layers; } shapes[] = {
        { "compressed", compressed, true }, { "encoder-decoder", encoder_decoder, false }, { "mllama", mllama, true },
    };
    for (size_t i = 0; i < MC_COUNT(shapes); i++) {
        if (!mc_family_is(l->family, "attention", shapes[i].name))
            continue;
        l->layers = l->m->arch.layers.known ? (uint64_t)l->m->arch.layers.v : 0;
        shapes[i].read(l);
        return true;
    }
    return false;
}
