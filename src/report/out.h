/* out.h - the one place where text from files becomes output. Names, keys and messages are hostile until they have
 * passed through here: control characters, escape sequences, invisible and direction-changing characters and bytes that
 * are no UTF-8 are made visible in text and encoded in JSON. Colours exist only here.
 *
 * Write errors are not looked for on the way: stdio remembers them, and the caller asks ferror() at the end. */
#ifndef MODELCHECK_REPORT_OUT_H
#define MODELCHECK_REPORT_OUT_H
#include <stdio.h>

#include "base/base.h"

typedef struct {
    FILE    *f;
    bool     color;
    bool     filled;        /* JSON: something stands before in the innermost bracket */
    unsigned depth, line;   /* JSON: open brackets; the depth at which one-line writing began, 0: none */
} mc_out;

typedef enum { MC_PLAIN, MC_BOLD, MC_RED, MC_YELLOW, MC_CYAN, MC_DIM } mc_style;

/* ---- text ---- */

void mc_put(mc_out *o, const char *trusted);                            /* words of this program, as they are */
void mc_putf(mc_out *o, const char *fmt, ...) MC_PRINTF(2, 3);          /* the same; never with a name from a file */
void mc_put_text(mc_out *o, mc_str hostile);
void mc_put_styled(mc_out *o, mc_style style, mc_str hostile);
void mc_put_size(mc_out *o, uint64_t bytes);                            /* "3.71 GiB" */
void mc_put_number(mc_out *o, uint64_t n);                              /* "7.62 B", exact below 1,000 */
void mc_put_plural(mc_out *o, uint64_t n, const char *noun);            /* "2 shards" */
void mc_put_xml(mc_out *o, mc_str hostile);                             /* as text or attribute of an XML document */
size_t mc_text_width(mc_str hostile);                                   /* columns that mc_put_text takes, about */

/* ---- JSON ---- */

/* `key` is NULL inside an array. An opened bracket is one of '{' '['; with `flat` all inside stands on one line. */
void mc_js_open(mc_out *o, const char *key, char bracket, bool flat);
void mc_js_close(mc_out *o, char bracket);                              /* '}' or ']' */
void mc_js_str(mc_out *o, const char *key, mc_str s);
void mc_js_text(mc_out *o, const char *key, mc_str s);                  /* null when s is empty */
void mc_js_u64(mc_out *o, const char *key, uint64_t v);
void mc_js_i64(mc_out *o, const char *key, int64_t v);
void mc_js_fixed(mc_out *o, const char *key, double v);                 /* at least 0, up to four decimals, whatever the locale */
void mc_js_bool(mc_out *o, const char *key, bool v);
void mc_js_null(mc_out *o, const char *key);
void mc_js_known(mc_out *o, const char *key, bool known, uint64_t v);   /* the number, or null */

#endif
