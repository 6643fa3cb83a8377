/* MC420-MC447 on facts made by hand: the worked examples and the legal oddities of docs/quantization.md that are easy to get wrong. */
#include "unit.h"

#include "model/quant.h"
#include "rules/rule.h"

enum { MAX_MODULES = 64, MAX_TENSORS = 256 };
typedef struct {
    mc_arena     arena;
    mc_kb        kb;
    mc_file      files[2];      /* config.json, model.safetensors */
    mc_component component;
    mc_model     m;
    mc_quant     q;
    mc_module    modules[MAX_MODULES];
    mc_tensor    tensors[MAX_TENSORS];
    size_t       n_tensors;
    mc_claim     claim;
    mc_doc       doc;
    mc_findings  out;
} world;

static void begin(world *w, const char *method)
{
    memset(w, 0, sizeof *w);
    w->arena = arena_new();
    assert_int_equal(mc_kb_init(&w->kb).code, MC_OK);
    w->files[0] = (mc_file){ .path = S("config.json"), .role = MC_ROLE_CONFIG };
    w->files[1] = (mc_file){ .path = S("model.safetensors"), .role = MC_ROLE_WEIGHTS };
    w->component.inv.complete = true;
    assert_true(mc_strset_init(&w->component.inv.names, &w->arena, 64));
    assert_true(mc_strset_init(&w->component.inv.form_names, &w->arena, 64));
    for (size_t i = 0; i < MC_N_ROLES; i++)
        w->component.docs[i] = MC_NONE;
    w->component.docs[MC_ROLE_CONFIG] = 0;
    w->doc = (mc_doc){ .file = 0, .role = MC_ROLE_CONFIG };
    w->m = (mc_model){ .arena = &w->arena, .files = w->files, .n_files = 2, .components = &w->component, .n_components = 1, .docs = &w->doc, .n_docs = 1, .quant = &w->q };
    w->claim = (mc_claim){ .file = 0, .method = S(method), .known_method = true };
    w->claim.base = (mc_scheme){ .quantized = MC_YES, .symmetric = MC_UNKNOWN, .desc_act = MC_UNKNOWN, .dynamic_input = MC_UNKNOWN, .static_input = MC_UNKNOWN };
    w->q = (mc_quant){ .modules = w->modules, .claims = &w->claim, .n_claims = 1, .declared = 0 };
    w->out.arena = &w->arena;
}

static void end(world *w)
{
    mc_kb_free(&w->kb);
    mc_arena_free(&w->arena);
}

static mc_tensor *tensor(world *w, const char *name, const char *dtype, uint64_t rows, uint64_t cols)
{
    assert_true(w->n_tensors < MAX_TENSORS);
    mc_tensor *t = &w->tensors[w->n_tensors++];
    uint64_t  *dims = MC_NEW(&w->arena, uint64_t, 2);
    dims[0] = rows;
    dims[1] = cols;
    *t = (mc_tensor){ .name = S(name), .dims = dims, .rank = cols ? 2 : rows ? 1 : 0, .elements = (rows ? rows : 1) * (cols ? cols : 1), .file = 1, .dtype = mc_kb_st_dtype(&w->kb, S(dtype)) };
    assert_true(mc_form_add(&w->component.inv, t));
    return t;
}

static mc_tensor *part(world *w, mc_module *m, mc_part p, const char *suffix, const char *dtype, uint64_t rows, uint64_t cols)
{
    mc_str name = mc_format(&w->arena, "%.*s.%s", MC_FMT(m->name), suffix);
    return m->parts[p] = tensor(w, name.p, dtype, rows, cols);
}

/* A module with a weight and scales, certain bits, groups of `group` inputs. */
static mc_module *module(world *w, const char *name, mc_layout layout, double bits, uint64_t out, uint64_t in, uint64_t group)
{
    assert_true(w->q.n_modules < MAX_MODULES);
    mc_module *m = &w->modules[w->q.n_modules++];
    *m = (mc_module){ .name = S(name), .layout = layout, .in = in, .out = out, .experts = 1, .bits = bits, .bits_certain = bits > 0, .symmetric = MC_UNKNOWN, .ordered = MC_UNKNOWN };
    m->grain = group ? MC_GRAIN_GROUP : MC_GRAIN_NONE;
    m->group = group;
    m->groups = group ? (in + group - 1) / group : 0;
    m->cls = strstr(name, "experts.") ? MC_CLS_EXPERTS : strstr(name, "attn") ? MC_CLS_ATTENTION : strstr(name, "mlp") ? MC_CLS_MLP : MC_CLS_OTHER;
    part(w, m, MC_PART_WEIGHT, "weight", layout == MC_Q_PLAIN ? "BF16" : "U8", out, in);
    if (layout != MC_Q_PLAIN)
        part(w, m, MC_PART_SCALE, "scales", "F16", out, m->groups ? m->groups : 1);
    m->form = m->parts[MC_PART_WEIGHT]->form;
    m->layer = m->parts[MC_PART_WEIGHT]->layer;
    w->q.n_packed += layout != MC_Q_PLAIN && layout != MC_Q_RAW8;
    return m;
}

static mc_int known(int64_t v)
{
    return (mc_int){ .known = true, .v = v, .from = { 0, MC_STR("/quantization_config") } };
}

static mc_text text(const char *v)
{
    return (mc_text){ .known = true, .v = S(v), .from = { 0, MC_STR("/quantization_config") } };
}

/* Runs rules ("MC430 MC431") and counts the modules that are reported by `code`, silenced ones left out. */
static size_t said(world *w, const char *codes, const char *code)
{
    const mc_rule_options options = { .vram = 0 };
    mc_check              cx = { .model = &w->m, .kb = &w->kb, .options = &options, .out = &w->out, .arena = &w->arena };
    size_t                n = 0;
    w->out = (mc_findings){ .arena = &w->arena };
    for (const char *s = codes; *s; s += strlen(s) > 5 ? 6 : 5) {
        cx.rule = mc_rule_find((mc_str){ s, 5 });
        assert_non_null(cx.rule);
        cx.rule->check(&cx);
    }
    mc_settle(&cx);
    for (size_t i = 0; i < w->out.n; i++)
        if (strcmp(w->out.v[i].rule->code, code) == 0 && !w->out.v[i].silenced_by)
            n += w->out.v[i].count;
    return n;
}

static size_t one(world *w, const char *code)
{
    return said(w, code, code);
}

/* ---- bits and groups ---- */

static void mlx_product_is_decided_by_a_witness(void **state)
{
    (void)state;
    world w;
    begin(&w, "");
    w.claim.base.bits = known(8);
    w.claim.base.group = known(32);
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_MLX, 2, 4096, 3072, 128);
    m->in_witness = S("model.layers.0.post_attention_layernorm.weight");
    assert_int_equal(one(&w, "MC430"), 1);
    assert_int_equal(said(&w, "MC430 MC431", "MC431"), 0); /* the width explains the group */
    m->bits_certain = false;
    m->in = 0;
    assert_int_equal(said(&w, "MC430 MC431", "MC430"), 0);
    assert_int_equal(one(&w, "MC431"), 0);
    end(&w);
}

static void containers_wider_than_their_values_are_legal(void **state)
{
    (void)state;
    world w;
    begin(&w, "compressed-tensors");
    w.claim.base.bits = known(4);
    module(&w, "model.layers.0.mlp.up_proj", MC_Q_INT8, 8, 64, 64, 32);
    assert_int_equal(one(&w, "MC430"), 0);
    w.claim.base.bits = known(8);
    assert_int_equal(one(&w, "MC430"), 0);
    end(&w);
    begin(&w, "hqq");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_HQQ, 8, 64, 64, 64);
    w.claim.base.bits = known(5);
    assert_int_equal(one(&w, "MC430"), 0);
    w.claim.base.bits = known(4);
    assert_int_equal(one(&w, "MC430"), 1);
    m->layout = MC_Q_EXL3;
    assert_int_equal(one(&w, "MC430"), 0);
    m->layout = MC_Q_BITNET;
    assert_int_equal(one(&w, "MC430"), 0);
    end(&w);
}

static void fp8_may_hold_fp4_experts(void **state)
{
    (void)state;
    world w;
    begin(&w, "fp8");
    w.claim.base.bits = known(8);
    module(&w, "model.layers.0.mlp.experts.0.w1", MC_Q_FP4_DSV4, 4, 64, 64, 32);
    module(&w, "model.layers.0.mlp.experts.0.w2", MC_Q_NVFP4, 4, 64, 64, 16);
    assert_int_equal(said(&w, "MC430 MC432", "MC430"), 0);
    assert_int_equal(one(&w, "MC432"), 0);
    w.claim.method = S("gptq");
    assert_int_equal(said(&w, "MC430 MC432", "MC432"), 2);
    end(&w);
}

static void whole_rows_short_groups_and_gemv_padding(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_GPTQ, 4, 64, 4096, 128);
    w.claim.base.group = known(128);
    assert_int_equal(one(&w, "MC431"), 0);
    w.claim.base.group = known(64);
    assert_int_equal(one(&w, "MC431"), 1);
    w.claim.base.group = known(-1);
    assert_int_equal(one(&w, "MC431"), 1);
    w.claim.base.desc_act = MC_YES; /* moot with whole rows, whatever is stored */
    assert_int_equal(one(&w, "MC431"), 0);
    m->groups = 1; /* B064: one row over 4096 inputs */
    assert_int_equal(one(&w, "MC431"), 0);
    w.claim.base.group = known(128);
    assert_int_equal(one(&w, "MC431"), 1);
    m->in = 100; /* fewer inputs than a group */
    assert_int_equal(one(&w, "MC431"), 0);
    m->in = 130;
    m->groups = 2; /* a short last group */
    assert_int_equal(one(&w, "MC431"), 0);
    m->in = 0;
    assert_int_equal(one(&w, "MC431"), 0);
    m->layout = MC_Q_AWQ_GEMV;
    m->in = 256;
    m->groups = 8; /* 2 groups in one word of zero points */
    assert_int_equal(one(&w, "MC431"), 0);
    m->groups = 16;
    assert_int_equal(one(&w, "MC431"), 1);
    w.claim.base.group = known(64);
    assert_int_equal(one(&w, "MC431"), 0);
    for (int64_t g = -3; g < 1; g += 3) {
        w.claim.base.group = known(g); /* no group size: MC411's */
        assert_int_equal(one(&w, "MC431"), 0);
    }
    end(&w);
}

/* ---- companions ---- */

static void group_index_is_wanted_by_act_order_alone(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_GPTQ, 4, 64, 256, 128);
    part(&w, m, MC_PART_ZERO, "qzeros", "I32", 2, 8);
    w.claim.base.group = known(128);
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.desc_act = MC_NO;
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.desc_act = MC_YES;
    assert_int_equal(one(&w, "MC420"), 1);
    w.claim.base.group = known(-1);
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.group = known(128);
    w.component.inv.complete = false; /* a shard is absent: it may be there */
    assert_int_equal(one(&w, "MC420"), 0);
    end(&w);
}

static void zero_points_may_be_left_out_by_declaration(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_GPTQ, 4, 64, 256, 128);
    m->missing = (mc_module_fault){ .what = "qzeros" };
    assert_int_equal(one(&w, "MC420"), 1);
    w.claim.base.format = text("marlin");
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.format = text("gptq");
    assert_int_equal(one(&w, "MC420"), 1);
    w.claim.method = S("awq");
    m->layout = MC_Q_AWQ;
    w.claim.base.symmetric = MC_YES;
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.symmetric = MC_NO;
    assert_int_equal(one(&w, "MC420"), 1);
    end(&w);
}

static void compressed_tensors_needs_what_it_declares(void **state)
{
    (void)state;
    world w;
    begin(&w, "compressed-tensors");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_CT_PACK, 4, 64, 256, 128);
    w.claim.base.symmetric = MC_NO;
    w.claim.base.grain = MC_GRAIN_TENSOR;
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.grain = MC_GRAIN_GROUP;
    assert_int_equal(one(&w, "MC420"), 1);
    part(&w, m, MC_PART_ZERO, "weight_zero_point", "I32", 8, 2);
    assert_int_equal(one(&w, "MC420"), 0);
    assert_int_equal(one(&w, "MC422"), 0);
    w.claim.base.symmetric = MC_YES;
    assert_int_equal(one(&w, "MC422"), 1);
    m->layout = MC_Q_PLAIN; /* an uncompressed model keeps them */
    assert_int_equal(one(&w, "MC422"), 0);
    end(&w);
}

static void raw_fp8_is_a_lack_only_beside_scaled(void **state)
{
    (void)state;
    world w;
    begin(&w, "fp8");
    mc_module *raw = module(&w, "model.layers.0.mlp.up_proj", MC_Q_RAW8, 0, 64, 64, 0);
    raw->parts[MC_PART_SCALE] = NULL;
    raw->parts[MC_PART_WEIGHT]->dtype = mc_kb_st_dtype(&w.kb, S("F8_E4M3"));
    w.claim.base.bits = known(8);
    assert_int_equal(one(&w, "MC420"), 0);
    mc_module *scaled = module(&w, "model.layers.0.mlp.down_proj", MC_Q_FP8, 8, 64, 64, 0);
    scaled->parts[MC_PART_WEIGHT]->dtype = raw->parts[MC_PART_WEIGHT]->dtype;
    assert_int_equal(one(&w, "MC420"), 1);
    w.claim.base.bits = known(4); /* F8 under a scheme of 4 bit: something else is meant */
    assert_int_equal(one(&w, "MC420"), 0);
    w.claim.base.bits.known = false;
    assert_int_equal(one(&w, "MC420"), 0);
    end(&w);
}

static void partial_last_block_is_legal(void **state)
{
    (void)state;
    world w;
    begin(&w, "fp8");
    mc_module *m = module(&w, "model.layers.0.self_attn.kv_a_proj_with_mqa", MC_Q_FP8, 8, 576, 7168, 0);
    w.claim.base.block_rows = w.claim.base.block_cols = known(128);
    part(&w, m, MC_PART_SCALE, "weight_scale_inv", "F32", 5, 56);
    assert_int_equal(one(&w, "MC421"), 0);
    part(&w, m, MC_PART_SCALE, "weight_scale_inv", "F32", 4, 56);
    assert_int_equal(one(&w, "MC421"), 1);
    part(&w, m, MC_PART_SCALE, "weight_scale_inv", "F32", 0, 0);
    assert_int_equal(one(&w, "MC421"), 0); /* a single scale: MC431 if all are */
    w.claim.base.block_cols = known(-128);
    part(&w, m, MC_PART_SCALE, "weight_scale_inv", "F32", 4, 56);
    assert_int_equal(one(&w, "MC421"), 0); /* an invalid size: MC411 */
    end(&w);
}

static void mlx_biases_depend_on_the_mode_of_the_entry(void **state)
{
    (void)state;
    world w;
    begin(&w, "");
    mc_module *m = module(&w, "model.layers.0.self_attn.q_proj", MC_Q_MLX, 8, 64, 64, 64);
    part(&w, m, MC_PART_ZERO, "biases", "BF16", 64, 1);
    w.claim.base.format = text("mxfp4");
    assert_int_equal(one(&w, "MC422"), 1);
    w.claim.base.format = text("affine");
    assert_int_equal(one(&w, "MC422"), 0);
    end(&w);
}

/* ---- a fault silences what it explains, for its own module ---- */

static void causes_silence_by_module(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    w.claim.base.bits = known(8);
    w.claim.base.group = known(64);
    mc_module *bad = module(&w, "model.layers.0.mlp.up_proj", MC_Q_GPTQ, 4, 64, 256, 128);
    mc_module *lacks = module(&w, "model.layers.0.mlp.gate_proj", MC_Q_GPTQ, 4, 64, 256, 128);
    module(&w, "model.layers.0.mlp.down_proj", MC_Q_GPTQ, 4, 64, 256, 128);
    bad->shape = (mc_module_fault){ .what = "has other rows", .a = 2, .b = 3 };
    lacks->missing = (mc_module_fault){ .what = "scales" };
    static const char all[] = "MC420 MC421 MC430 MC431";
    assert_int_equal(said(&w, all, "MC420"), 1);
    assert_int_equal(said(&w, all, "MC421"), 1);
    assert_int_equal(said(&w, all, "MC430"), 1);
    assert_int_equal(said(&w, all, "MC431"), 0);
    w.claim.base.bits = known(4);
    assert_int_equal(said(&w, all, "MC431"), 1);
    end(&w);
}

static void awq_geometry_under_gptq(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    w.claim.base.bits = known(8);
    mc_module *awq = module(&w, "model.layers.0.mlp.up_proj", MC_Q_AWQ, 4, 64, 256, 128);
    module(&w, "model.layers.0.mlp.gate_proj", MC_Q_GPTQ, 8, 64, 256, 128);
    part(&w, awq, MC_PART_WEIGHT, "qweight", "I32", 256, 64);
    part(&w, awq, MC_PART_SCALE, "scales", "F16", 2, 512);
    assert_int_equal(said(&w, "MC430 MC432", "MC432"), 1);
    assert_int_equal(said(&w, "MC430 MC432", "MC430"), 0);
    w.claim.base.format = text("gemm"); /* AutoGPTQ's word for AWQ files */
    assert_int_equal(one(&w, "MC432"), 0);
    w.modules[1].layout = MC_Q_AWQ;
    assert_int_equal(one(&w, "MC432"), 0);
    end(&w);
    begin(&w, "gptq");
    module(&w, "model.layers.0.mlp.up_proj", MC_Q_MARLIN, 4, 64, 256, 128);
    assert_int_equal(one(&w, "MC432"), 0);
    w.claim.method = S("auto-round");
    w.modules[0].layout = MC_Q_AWQ;
    assert_int_equal(one(&w, "MC432"), 0);
    end(&w);
}

/* ---- lists ---- */

static void exclude(world *w, const char *pattern, mc_dialect dialect)
{
    static mc_pattern p[1];
    p[0] = mc_pattern_make(&w->arena, S(pattern), dialect, (mc_origin){ 0, MC_STR("/quantization_config/ignore") });
    w->claim.excludes = p;
    w->claim.n_excludes = 1;
}

static void lists_are_read_with_care(void **state)
{
    (void)state;
    world w;
    begin(&w, "modelopt");
    module(&w, "model.layers.10.mlp.gate_up_proj", MC_Q_NVFP4, 4, 64, 64, 16);
    exclude(&w, "model.layers.10.mlp.gate_up_proj", MC_DIALECT_GLOB);
    assert_int_equal(one(&w, "MC435"), 1);
    exclude(&w, "model.layers.10.mlp.gate", MC_DIALECT_GLOB);
    assert_int_equal(one(&w, "MC435"), 0);
    exclude(&w, "model.layers.1*", MC_DIALECT_GLOB); /* meant: layer 1 */
    assert_int_equal(one(&w, "MC435"), 0);
    exclude(&w, "model.layers.1.", MC_DIALECT_HF);
    assert_int_equal(one(&w, "MC435"), 0);
    exclude(&w, "model.layers.10", MC_DIALECT_EXACT); /* a container, under another dialect */
    assert_int_equal(one(&w, "MC435"), 0);
    end(&w);
}

static void plain_modules_that_are_declared(void **state)
{
    (void)state;
    world w;
    begin(&w, "compressed-tensors");
    w.claim.base.group = known(128);
    module(&w, "model.layers.0.self_attn.o_proj", MC_Q_CT_PACK, 4, 128, 128, 128);
    mc_module *plain = module(&w, "model.layers.1.self_attn.o_proj", MC_Q_PLAIN, 0, 128, 128, 0);
    module(&w, "model.layers.1.mlp.gate", MC_Q_PLAIN, 0, 128, 128, 0);
    module(&w, "model.layers.1.self_attn.new_proj", MC_Q_PLAIN, 0, 128, 128, 0);
    assert_int_equal(one(&w, "MC436"), 1);
    exclude(&w, "model.layers.1.self_attn.o_proj", MC_DIALECT_EXACT);
    assert_int_equal(one(&w, "MC436"), 0);
    w.claim.n_excludes = 0;
    ((uint64_t *)(uintptr_t)plain->parts[MC_PART_WEIGHT]->dims)[1] = 96; /* no whole group */
    assert_int_equal(one(&w, "MC436"), 0);
    ((uint64_t *)(uintptr_t)plain->parts[MC_PART_WEIGHT]->dims)[1] = 128;
    w.claim.method = S("gptq");
    assert_int_equal(one(&w, "MC436"), 0);
    end(&w);
}

/* ---- fused parts, routers ---- */

static void fused_parts(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    for (unsigned i = 0; i < 2; i++)
        for (const char *s = "qkvo"; *s; s++)
            module(&w, mc_format(&w.arena, "model.layers.%u.self_attn.%c_proj", i, *s).p, MC_Q_GPTQ, 4, 64, 64, 32);
    assert_int_equal(one(&w, "MC437"), 0);
    w.modules[3].layout = MC_Q_PLAIN; /* o_proj is fused with nothing */
    assert_int_equal(one(&w, "MC437"), 0);
    w.modules[5].bits = 8;
    assert_int_equal(one(&w, "MC437"), 1);
    w.modules[5].missing.what = "scales";
    assert_int_equal(one(&w, "MC437"), 0);
    w.modules[5].missing.what = NULL;
    w.modules[5].layout = MC_Q_PLAIN;
    assert_int_equal(one(&w, "MC437"), 1);
    w.claim.method = S("auto-round");
    assert_int_equal(one(&w, "MC437"), 0);
    w.claim.method = S("gptq");
    w.component.inv.complete = false;
    assert_int_equal(one(&w, "MC437"), 0);
    w.component.inv.complete = true;
    w.modules[6].name = S("model.layers.1.self_attn.x_proj"); /* no v: nothing to fuse */
    assert_int_equal(one(&w, "MC437"), 0);
    end(&w);
}

static void fused_experts(void **state)
{
    (void)state;
    world w;
    begin(&w, "fp8");
    for (unsigned i = 0; i < 4; i++)
        for (const char *s = "12"; *s; s++)
            module(&w, mc_format(&w.arena, "model.layers.3.mlp.experts.%u.w%c", i, *s).p, MC_Q_FP8, 8, 64, 64, 0);
    assert_int_equal(one(&w, "MC437"), 0);
    w.modules[4].layout = MC_Q_PLAIN;
    w.modules[4].bits_certain = false;
    assert_int_equal(one(&w, "MC437"), 1);
    assert_str(w.out.v[0].subjects[0], "model.layers.3.mlp.experts.*.w1");
    w.modules[4].layout = MC_Q_RAW8; /* MC420's */
    assert_int_equal(one(&w, "MC437"), 0);
    end(&w);
}

static void routers(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    w.m.arch.experts = known(8);
    mc_module *m = module(&w, "model.layers.0.mlp.gate", MC_Q_GPTQ, 4, 8, 64, 32);
    assert_int_equal(one(&w, "MC438"), 1);
    m->layout = MC_Q_MLX;
    assert_int_equal(one(&w, "MC438"), 0);
    m->layout = MC_Q_FP8;
    assert_int_equal(one(&w, "MC438"), 0);
    m->layout = MC_Q_GPTQ;
    m->name = S("model.layers.0.mlp.gate_proj");
    assert_int_equal(one(&w, "MC438"), 0);
    m->name = S("model.layers.0.mlp.shared_expert_gate");
    assert_int_equal(one(&w, "MC438"), 0);
    end(&w);
}

/* ---- data ---- */

static void zero_versions(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    for (unsigned i = 0; i < 20; i++) {
        mc_module *m = module(&w, mc_format(&w.arena, "model.layers.%u.mlp.up_proj", i).p, MC_Q_GPTQ, 4, 64, 64, 32);
        m->zero_read = true;
        m->zero_word = 0x88888888u;
    }
    assert_int_equal(one(&w, "MC445"), 20); /* no checkpoint_format: version 1 */
    w.claim.base.format = text("gptq_v2");
    assert_int_equal(one(&w, "MC445"), 0);
    w.claim.base.format = text("gptq");
    w.modules[0].zero_word = w.modules[1].zero_word = 0x12345678u; /* nine of ten are enough */
    assert_int_equal(one(&w, "MC445"), 18);
    w.modules[2].zero_word = 0x12345678u;
    assert_int_equal(one(&w, "MC445"), 0);
    w.modules[2].zero_word = 0x88888888u;
    w.modules[1].zero_word = 0x77777777u; /* both versions */
    assert_int_equal(one(&w, "MC445"), 0);
    w.modules[1].zero_word = 0x88888888u;
    w.claim.base.symmetric = MC_NO;
    assert_int_equal(one(&w, "MC445"), 0);
    w.claim.base.symmetric = MC_YES;
    w.claim.base.format = text("bitblas");
    assert_int_equal(one(&w, "MC445"), 0);
    w.claim.method = S("auto-round");
    w.claim.packing = text("auto_round");
    assert_int_equal(one(&w, "MC445"), 0);
    w.claim.packing = text("auto_round:auto_gptq");
    assert_int_equal(one(&w, "MC445"), 19);
    w.claim.packing = text("auto_round:gptqmodel");
    assert_int_equal(one(&w, "MC445"), 0);
    end(&w);
}

static void group_index_order(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_GPTQ, 4, 64, 64, 32);
    part(&w, m, MC_PART_INDEX, "g_idx", "I32", 64, 0);
    m->ordered = MC_NO;
    assert_int_equal(one(&w, "MC446"), 0); /* desc_act is not stated */
    w.claim.base.desc_act = MC_YES;
    assert_int_equal(one(&w, "MC446"), 0);
    w.claim.base.desc_act = MC_NO;
    assert_int_equal(one(&w, "MC446"), 1);
    m->ordered = MC_YES;
    assert_int_equal(one(&w, "MC446"), 0);
    m->data.what = "is out of range";
    w.claim.base.desc_act = MC_YES;
    assert_int_equal(one(&w, "MC446"), 1);
    w.claim.base.group = known(-1);
    assert_int_equal(one(&w, "MC446"), 0);
    end(&w);
}

/* ---- dimensions ---- */

static void padding_is_named_and_explains(void **state)
{
    (void)state;
    world w;
    begin(&w, "gptq");
    w.m.arch.hidden = known(4304);
    w.m.arch.intermediate = known(11008);
    w.claim.base.group = known(128);
    w.claim.base.bits = known(8);
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_GPTQ, 4, 11008, 4352, 128);
    assert_int_equal(one(&w, "MC433"), 1);
    assert_int_equal(said(&w, "MC430 MC433", "MC430"), 0);
    m->in = 4304;
    assert_int_equal(one(&w, "MC433"), 0);
    m->in = 5000; /* no padding: another rule's */
    assert_int_equal(one(&w, "MC433"), 0);
    m->in = 4352;
    m->name = S("model.layers.0.mlp.shared_expert.up_proj"); /* of other sizes */
    assert_int_equal(one(&w, "MC433"), 0);
    m->name = S("model.layers.0.mlp.up_proj");
    w.claim.packing = text("auto_round:auto_gptq");
    assert_int_equal(one(&w, "MC433"), 1); /* outputs only are padded there */
    m->in = 4304;
    w.m.arch.intermediate = known(11000);
    assert_int_equal(one(&w, "MC433"), 0);
    end(&w);
}

static void turned_fp4(void **state)
{
    (void)state;
    world w;
    begin(&w, "modelopt");
    mc_module *m = module(&w, "model.layers.0.mlp.up_proj", MC_Q_NVFP4, 4, 128, 64, 16);
    m->transposed = true;
    m->shape.what = "does not fit";
    assert_int_equal(one(&w, "MC434"), 1);
    assert_int_equal(one(&w, "MC421"), 0);
    m->layout = MC_Q_EETQ;
    m->shape.what = NULL;
    assert_int_equal(one(&w, "MC434"), 0);
    end(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mlx_product_is_decided_by_a_witness), cmocka_unit_test(containers_wider_than_their_values_are_legal), cmocka_unit_test(fp8_may_hold_fp4_experts),
        cmocka_unit_test(whole_rows_short_groups_and_gemv_padding), cmocka_unit_test(group_index_is_wanted_by_act_order_alone),
        cmocka_unit_test(zero_points_may_be_left_out_by_declaration), cmocka_unit_test(compressed_tensors_needs_what_it_declares),
        cmocka_unit_test(raw_fp8_is_a_lack_only_beside_scaled), cmocka_unit_test(partial_last_block_is_legal), cmocka_unit_test(mlx_biases_depend_on_the_mode_of_the_entry),
        cmocka_unit_test(causes_silence_by_module), cmocka_unit_test(awq_geometry_under_gptq), cmocka_unit_test(lists_are_read_with_care),
        cmocka_unit_test(plain_modules_that_are_declared), cmocka_unit_test(fused_parts), cmocka_unit_test(fused_experts), cmocka_unit_test(routers),
        cmocka_unit_test(zero_versions), cmocka_unit_test(group_index_order), cmocka_unit_test(padding_is_named_and_explains), cmocka_unit_test(turned_fp4),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
