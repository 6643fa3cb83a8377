#include "report/out.h"

#include <inttypes.h>
#include <string.h>

/* ---- characters ------------------------------------------------------------------------------------------- */

/* Decodes the well-formed sequence at s[i]; 0 bytes: not UTF-8. */
static size_t decode(mc_str s, size_t i, uint32_t *cp)
{
    size_t n = mc_utf8_len((const uint8_t *)s.p + i, s.n - i);
    if (n == 0)
        return 0;
    uint32_t c = (uint8_t)s.p[i];
    if (n > 1)
        c &= 0x7fu >> n;
    for (size_t k = 1; k < n; k++)
        c = c << 6 | ((uint8_t)s.p[i + k] & 0x3fu);
    *cp = c;
    return n;
}

/* What a terminal or an editor would not show as a character of its own: C0, DEL, C1, zero-width, line separators,
 * direction marks (https://trojansource.codes), byte order mark, tags. */
static bool unseen(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c <= 0x9f) || c == 0xad || c == 0x61c || (c >= 0x200b && c <= 0x200f) ||
           (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) || c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
           (c >= 0xe0000 && c <= 0xe007f);
}

static const char *short_escape(uint32_t c, bool json)
{
    if (json && (c == '"' || c == '\\'))
        return c == '"' ? "\\\"" : "\\\\";
    return c == '\n' ? "\\n" : c == '\t' ? "\\t" : c == '\r' ? "\\r" : NULL;
}

/* ---- text ------------------------------------------------------------------------------------------------- */

void mc_put(mc_out *o, const char *trusted)
{
    fputs(trusted, o->f);
}

void mc_putf(mc_out *o, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    vfprintf(o->f, fmt, ap);
    va_end(ap);
}

/* Writes the escaped form of one character or byte and returns how many bytes of s it took; `to` NULL only measures. */
static size_t put_char(FILE *to, mc_str s, size_t i, size_t *width)
{
    uint32_t cp;
    size_t   n = decode(s, i, &cp);
    char     text[16];
    if (n == 0) {
        snprintf(text, sizeof text, "\\x%02x", (uint8_t)s.p[i]);
    } else if (!unseen(cp)) {
        if (to)
            fwrite(s.p + i, 1, n, to);
        *width += 1;
        return n;
    } else if (short_escape(cp, false)) {
        snprintf(text, sizeof text, "%s", short_escape(cp, false));
    } else {
        snprintf(text, sizeof text, cp < 0x80 ? "\\x%02" PRIx32 : cp < 0x10000 ? "\\u%04" PRIx32 : "\\U%08" PRIx32, cp);
    }
    if (to)
        fputs(text, to);
    *width += strlen(text);
    return n ? n : 1;
}

void mc_put_text(mc_out *o, mc_str s)
{
    size_t width = 0;
    for (size_t i = 0; i < s.n;)
        i += put_char(o->f, s, i, &width);
}

void mc_put_xml(mc_out *o, mc_str s)
{
    static const struct { char c; const char *entity; } entities[] = { { '&', "&amp;" }, { '<', "&lt;" }, { '>', "&gt;" }, { '"', "&quot;" }, { '\'', "&#39;" } };
    size_t width = 0;
    for (size_t i = 0; i < s.n;) {
        size_t e = 0;
        while (e < MC_COUNT(entities) && entities[e].c != s.p[i])
            e++;
        if (e < MC_COUNT(entities))
            fputs(entities[e].entity, o->f);
        i += e < MC_COUNT(entities) ? 1 : put_char(o->f, s, i, &width);
    }
}

size_t mc_text_width(mc_str s)
{
    size_t width = 0;
    for (size_t i = 0; i < s.n;)
        i += put_char(NULL, s, i, &width);
    return width;
}

void mc_put_styled(mc_out *o, mc_style style, mc_str s)
{
    static const char *const on[] = {
        [MC_PLAIN] = "", [MC_BOLD] = "\x1b[1m", [MC_RED] = "\x1b[1;31m", [MC_YELLOW] = "\x1b[1;33m", [MC_CYAN] = "\x1b[36m", [MC_DIM] = "\x1b[2m",
    };
    bool paint = o->color && style != MC_PLAIN;
    if (paint)
        fputs(on[style], o->f);
    mc_put_text(o, s);
    if (paint)
        fputs("\x1b[0m", o->f);
}

static void put_scaled(mc_out *o, double v, double step, const char *const *units, size_t n_units)
{
    size_t u = 0;
    for (v /= step; v >= step - 0.5 && u + 1 < n_units; u++) /* not "1024 MiB" */
        v /= step;
    bool whole = v < 1e6 && v == (double)(uint64_t)v;
    fprintf(o->f, whole || v >= 99.95 ? "%.0f %s" : v < 9.995 ? "%.2f %s" : "%.1f %s", v, units[u]);
}

void mc_put_size(mc_out *o, uint64_t bytes)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
    if (bytes < 1024)
        mc_put_plural(o, bytes, "byte");
    else
        put_scaled(o, (double)bytes, 1024, units, MC_COUNT(units));
}

void mc_put_number(mc_out *o, uint64_t n)
{
    static const char *const units[] = { "K", "M", "B", "T", "Q" };
    if (n < 1000)
        fprintf(o->f, "%" PRIu64, n);
    else
        put_scaled(o, (double)n, 1000, units, MC_COUNT(units));
}

void mc_put_plural(mc_out *o, uint64_t n, const char *noun)
{
    fprintf(o->f, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

/* ---- JSON ------------------------------------------------------------------------------------------------- */

static void js_quoted(mc_out *o, mc_str s)
{
    putc('"', o->f);
    for (size_t i = 0, n; i < s.n; i += n) {
        uint32_t    cp;
        const char *e;
        n = decode(s, i, &cp);
        if (n == 0) {
            fputs("\xef\xbf\xbd", o->f); /* U+FFFD, one for each stray byte */
            n = 1;
        } else if ((e = short_escape(cp, true)) != NULL) {
            fputs(e, o->f);
        } else if (!unseen(cp)) {
            fwrite(s.p + i, 1, n, o->f);
        } else if (cp < 0x10000) {
            fprintf(o->f, "\\u%04" PRIx32, cp);
        } else {
            fprintf(o->f, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xd800 + ((cp - 0x10000) >> 10), 0xdc00 + ((cp - 0x10000) & 0x3ff));
        }
    }
    putc('"', o->f);
}

static void js_newline(mc_out *o)
{
    putc('\n', o->f);
    for (unsigned i = 0; i < o->depth; i++)
        fputs("  ", o->f);
}

/* Comma, white space and key: whatever stands before a value. */
static void js_lead(mc_out *o, const char *key)
{
    if (o->filled)
        putc(',', o->f);
    if (o->depth && !o->line)
        js_newline(o);
    else if (o->filled)
        putc(' ', o->f);
    o->filled = true;
    if (key) {
        js_quoted(o, mc_str_of(key));
        fputs(": ", o->f);
    }
}

void mc_js_open(mc_out *o, const char *key, char bracket, bool flat)
{
    js_lead(o, key);
    putc(bracket, o->f);
    o->depth++;
    if (flat && !o->line)
        o->line = o->depth;
    o->filled = false;
}

void mc_js_close(mc_out *o, char bracket)
{
    bool on_line = o->line != 0;
    if (o->line == o->depth)
        o->line = 0;
    o->depth--;
    if (o->filled && !on_line)
        js_newline(o);
    putc(bracket, o->f);
    o->filled = true;
    if (o->depth == 0)
        putc('\n', o->f);
}

void mc_js_str(mc_out *o, const char *key, mc_str s)
{
    js_lead(o, key);
    js_quoted(o, s);
}

void mc_js_text(mc_out *o, const char *key, mc_str s)
{
    if (s.n)
        mc_js_str(o, key, s);
    else
        mc_js_null(o, key);
}

void mc_js_u64(mc_out *o, const char *key, uint64_t v)
{
    js_lead(o, key);
    fprintf(o->f, "%" PRIu64, v);
}

void mc_js_i64(mc_out *o, const char *key, int64_t v)
{
    js_lead(o, key);
    fprintf(o->f, "%" PRId64, v);
}

void mc_js_fixed(mc_out *o, const char *key, double v)
{
    if (!(v >= 0 && v < 1e14)) {
        mc_js_null(o, key);
        return;
    }
    uint64_t scaled = (uint64_t)(v * 10000 + 0.5), part = scaled % 10000;
    int      digits = 4;
    while (digits > 1 && part % 10 == 0) {
        part /= 10;
        digits--;
    }
    js_lead(o, key);
    fprintf(o->f, "%" PRIu64 ".%0*" PRIu64, scaled / 10000, digits, part);
}

void mc_js_bool(mc_out *o, const char *key, bool v)
{
    js_lead(o, key);
    fputs(v ? "true" : "false", o->f);
}

void mc_js_null(mc_out *o, const char *key)
{
    js_lead(o, key);
    fputs("null", o->f);
}

void mc_js_known(mc_out *o, const char *key, bool known, uint64_t v)
{
    if (known)
        mc_js_u64(o, key, v);
    else
        mc_js_null(o, key);
}
