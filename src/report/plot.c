/* Memory over context as an SVG, one panel a model: the weights as a band, what one sequence adds to them, the line of several
 * sequences, the device's line, and the points where they meet. Coordinates are whole numbers (tenths of a pixel), so that no
 * locale can break them; colours follow prefers-color-scheme. */
#include "report/report.h"

#include <inttypes.h>

enum { WIDTH = 8600, HEIGHT = 5000, LEFT = 800, RIGHT = 8300, TOP = 900, BOTTOM = 4350, MAX_PANELS = 8 };

typedef struct { mc_out *o; const mc_curves *c; uint64_t vram, x_top, y_top; const char *id; } panel;

/* Colours twice, once for each scheme: custom properties are not known to every renderer. */
#define COLORS(paper, ink, soft, grid, weights, one, many, device)                                                                     \
    "  .paper, .dot { fill: " paper " } .halo { stroke: " paper " } text { fill: " ink " } .soft { fill: " soft " }\n"                  \
    "  .grid { stroke: " grid " } .weights { fill: " weights " } .fill, .t-one { fill: " one " } .one { stroke: " one " }\n"           \
    "  .many { stroke: " many " } .t-many { fill: " many " } .device { stroke: " device " } .t-device { fill: " device " }\n"

static const char style[] =
    "<style>\n"
    "  text { font: 130px system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif } .title { font-size: 170px; font-weight: 600 }\n"
    "  .end { text-anchor: end } .middle { text-anchor: middle } .halo { paint-order: stroke; stroke-width: 40px; stroke-linejoin: round }\n"
    "  .grid { stroke-width: 8 } .fill { opacity: .22 } .line { fill: none; stroke-width: 24 } .dot { stroke-width: 24 }\n"
    "  .device { stroke-dasharray: 70 50 }\n"
    COLORS("#ffffff", "#1f2328", "#59636e", "#d8dee4", "#b6c6d6", "#0969da", "#8250df", "#cf222e")
    "  @media (prefers-color-scheme: dark) {\n"
    COLORS("#0d1117", "#e6edf3", "#9198a1", "#30363d", "#3d5166", "#58a6ff", "#bc8cff", "#ff7b72")
    "  }\n"
    "</style>\n";

/* ---- scales ---- */

static int scaled(uint64_t v, uint64_t top, int length)
{
    double part = (double)v / (double)top;
    return (int)(part * length + 0.5);
}

static int x_of(const panel *p, uint64_t context)
{
    return LEFT + scaled(context, p->x_top, RIGHT - LEFT);
}

static int y_of(const panel *p, uint64_t bytes)
{
    return bytes > p->y_top * 2 ? TOP - (BOTTOM - TOP) : BOTTOM - scaled(bytes, p->y_top, BOTTOM - TOP);
}

/* The device and a little above it, or all of one sequence; several sequences may leave through the top. */
static uint64_t y_top(const mc_curves *c, uint64_t vram)
{
    uint64_t one = c->one.bytes[MC_CURVE_POINTS - 1], many = c->several.bytes[MC_CURVE_POINTS - 1], top = one;
    if (many != UINT64_MAX && many < one * 2)
        top = many;
    if (vram && top > vram + vram / 2)
        top = vram + vram / 2;
    if (vram && top < vram)
        top = vram;
    if (top < c->weights)
        top = c->weights;
    return top + top / 10 + 1;
}

/* ---- axes ---- */

/* 1, 2, 4, ... of the unit in which at most eight steps fill the axis. */
static uint64_t step_of(uint64_t top)
{
    uint64_t step = 1;
    while (step < top / 8)
        step *= 2;
    return step;
}

static void x_axis(const panel *p)
{
    uint64_t step = step_of(p->x_top);
    for (uint64_t v = 0; v <= p->x_top; v += step) {
        int x = x_of(p, v);
        mc_putf(p->o, "<line class=\"grid\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", x, BOTTOM, x, BOTTOM + 60);
        mc_putf(p->o, "<text class=\"soft middle\" x=\"%d\" y=\"%d\">", x, BOTTOM + 210);
        if (v && v % 1024 == 0)
            mc_putf(p->o, "%" PRIu64 "k</text>\n", v / 1024);
        else
            mc_putf(p->o, "%" PRIu64 "</text>\n", v);
    }
    mc_putf(p->o, "<text class=\"soft middle\" x=\"%d\" y=\"%d\">context in tokens (k = 1024)</text>\n", (LEFT + RIGHT) / 2, BOTTOM + 430);
}

static void y_axis(const panel *p)
{
    uint64_t step = step_of(p->y_top);
    for (uint64_t v = 0; v <= p->y_top; v += step) {
        int y = y_of(p, v);
        mc_putf(p->o, "<line class=\"grid\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>", LEFT, y, RIGHT, y);
        mc_putf(p->o, "<text class=\"soft end\" x=\"%d\" y=\"%d\">", LEFT - 80, y + 45);
        if (v)
            mc_put_size(p->o, v);
        else
            mc_put(p->o, "0");
        mc_put(p->o, "</text>\n");
    }
}

/* ---- curves ---- */

static void points(const panel *p, const mc_curve *c)
{
    for (size_t i = 0; i < MC_CURVE_POINTS; i++)
        if (c->bytes[i] != UINT64_MAX)
            mc_putf(p->o, "%s%d,%d", i ? " " : "", i ? x_of(p, p->c->context[i]) : LEFT, y_of(p, c->bytes[i]));
}

static void curves(const panel *p)
{
    int y = y_of(p, p->c->weights);
    mc_putf(p->o, "<g clip-path=\"url(#%s)\">\n<rect class=\"weights\" x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/>\n", p->id, LEFT, y, RIGHT - LEFT, BOTTOM - y);
    mc_putf(p->o, "<polygon class=\"fill\" points=\"%d,%d ", LEFT, y);
    points(p, &p->c->one);
    mc_putf(p->o, " %d,%d\"/>\n<polyline class=\"line one\" points=\"", RIGHT, y);
    points(p, &p->c->one);
    mc_put(p->o, "\"/>\n<polyline class=\"line many\" points=\"");
    points(p, &p->c->several);
    mc_put(p->o, "\"/>\n</g>\n");
    mc_putf(p->o, "<text x=\"%d\" y=\"%d\">weights ", LEFT + 100, BOTTOM - y > 220 ? BOTTOM - 80 : BOTTOM - 40);
    mc_put_size(p->o, p->c->weights);
    mc_put(p->o, "</text>\n");
}

static void tokens(mc_out *o, uint64_t n)
{
    if (n >= 1000000)
        mc_putf(o, "%" PRIu64 ",%03" PRIu64 ",%03" PRIu64, n / 1000000, n / 1000 % 1000, n % 1000);
    else if (n >= 1000)
        mc_putf(o, "%" PRIu64 ",%03" PRIu64, n / 1000, n % 1000);
    else
        mc_putf(o, "%" PRIu64, n);
}

/* A circle with a label: above to the left of a steep line, below to the right of a flat one, while there is room. */
static void dot(const panel *p, const char *kind, uint64_t context, uint64_t bytes, bool above, const char *words)
{
    int  x = x_of(p, context), y = y_of(p, bytes);
    bool left = above ? x > LEFT + 2200 : x > RIGHT - 2400;
    mc_putf(p->o, "<circle class=\"dot %s\" cx=\"%d\" cy=\"%d\" r=\"55\"/>", kind, x, y);
    mc_putf(p->o, "<text class=\"t-%s%s%s\" x=\"%d\" y=\"%d\">%s", kind, above ? " halo" : "", left ? " end" : "", left ? x - 110 : x + 110, above ? y - 90 : y + 190, words);
    tokens(p->o, context);
    mc_put(p->o, " tokens</text>\n");
}

static void meetings(const panel *p)
{
    const mc_most *one = &p->c->one.most, *many = &p->c->several.most;
    if (p->vram) {
        int y = y_of(p, p->vram);
        mc_putf(p->o, "<line class=\"line device\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/>\n<text class=\"t-device halo end\" x=\"%d\" y=\"%d\">device ", LEFT, y, RIGHT, y,
                RIGHT, y - 70);
        mc_put_size(p->o, p->vram);
        mc_put(p->o, "</text>\n");
        if (many->known && many->n && !many->by_model)
            dot(p, "many", many->n, p->vram, true, "full at ");
        if (one->known && one->n && !one->by_model)
            dot(p, "one", one->n, p->vram, false, "full at ");
    }
    int gap = p->vram ? y_of(p, p->vram) - y_of(p, p->c->crossover_bytes) : HEIGHT; /* two labels need room between them */
    if (p->c->crossover_known && p->c->crossover_bytes <= p->y_top && (gap > 450 || gap < -450))
        dot(p, "one", p->c->crossover, p->c->crossover_bytes, false, "cache = weights at ");
}

/* ---- words ---- */

static void legend(const panel *p)
{
    const int y = TOP - 130;
    mc_putf(p->o, "<line class=\"line one\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/><text x=\"%d\" y=\"%d\">1 sequence</text>\n", LEFT, y - 45, LEFT + 250, y - 45,
            LEFT + 320, y);
    mc_putf(p->o, "<line class=\"line many\" x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\"/><text x=\"%d\" y=\"%d\">%" PRIu64 " sequences</text>\n", LEFT + 1300, y - 45,
            LEFT + 1550, y - 45, LEFT + 1620, y, p->c->several.sequences);
}

static void heading(mc_out *o, const mc_result *r)
{
    const mc_floor *f = &r->floor;
    mc_putf(o, "<text class=\"title\" x=\"%d\" y=\"310\">", LEFT);
    mc_put_xml(o, r->model->path);
    mc_putf(o, "</text>\n<text class=\"soft\" x=\"%d\" y=\"530\">memory floor, engine %s, cache ", LEFT, f->engine);
    mc_put_xml(o, f->kv_dtype_k);
    if (!mc_str_eq(f->kv_dtype_k, f->kv_dtype_v)) {
        mc_put(o, "/");
        mc_put_xml(o, f->kv_dtype_v);
    }
    mc_put(o, f->n_devices > 1 ? ", the fullest device" : "");
    mc_put(o, "; a runtime needs more than the floor</text>\n");
}

static void draw(mc_out *o, mc_run_result *run, size_t i)
{
    const mc_result *r = &run->results[i];
    mc_question      q = mc_question_of(run, r);
    mc_curves        c;
    mc_arena         a;
    char             id[24];
    mc_arena_init(&a, MC_MAX_ARENA);
    q.base = mc_floor_prepare(q.m, q.kb, q.ask, &a);
    snprintf(id, sizeof id, "plot%zu", i);
    mc_floor_curves(&q, &c);
    mc_arena_free(&a);
    mc_putf(o, "<g transform=\"translate(0,%zu)\">\n", i * HEIGHT);
    heading(o, r);
    if (c.known) {
        panel p = { o, &c, run->rules.vram, c.context[MC_CURVE_POINTS - 1], y_top(&c, run->rules.vram), id };
        mc_putf(o, "<clipPath id=\"%s\"><rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\"/></clipPath>\n", id, LEFT, TOP, RIGHT - LEFT, BOTTOM - TOP);
        y_axis(&p);
        curves(&p);
        x_axis(&p);
        meetings(&p);
        legend(&p);
    } else {
        mc_putf(o, "<text x=\"%d\" y=\"%d\">", LEFT, TOP);
        mc_put(o, r->floor.weights_known ? "cache not computed: " : "no weights were read ");
        mc_put_xml(o, r->floor.cache_reason);
        mc_put(o, "</text>\n");
    }
    mc_put(o, "</g>\n");
}

void mc_plot_memory(FILE *out, mc_run_result *run)
{
    mc_out o = { .f = out };
    size_t n = run->n_results < MAX_PANELS ? run->n_results : MAX_PANELS;
    mc_putf(&o, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %zu\" width=\"%d\" height=\"%zu\" role=\"img\">\n<title>Memory over context</title>\n", WIDTH,
            (n ? n : 1) * HEIGHT, WIDTH / 10, (n ? n : 1) * HEIGHT / 10);
    mc_put(&o, style);
    mc_putf(&o, "<rect class=\"paper\" width=\"%d\" height=\"%zu\"/>\n", WIDTH, (n ? n : 1) * HEIGHT);
    for (size_t i = 0; i < n; i++)
        draw(&o, run, i);
    mc_put(&o, "</svg>\n");
}
