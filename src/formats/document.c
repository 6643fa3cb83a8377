/* The small JSON side files (config.json and its kin): a tree, or a place and a hint why there is none. */
#include "formats/formats.h"

static mc_str literal_at(mc_span text, uint64_t at)
{
    mc_str rest = { (const char *)text.p + at, text.n - (size_t)at };
    return mc_str_starts(rest, "NaN") ? MC_STR("NaN") : mc_str_starts(rest, "-") ? MC_STR("-Infinity") : MC_STR("Infinity");
}

mc_err mc_parse_document(mc_span text, mc_arena *a, mc_doc *d)
{
    uint64_t  literal;
    unsigned  col;
    mc_value *root = mc_json_tree(a, text, &d->err, &literal);
    if (root && root->type != MC_OBJECT && root->type != MC_ARRAY)
        d->err = (mc_err){ MC_E_SYNTAX, root->at, "the top level is not an object" };
    if (d->err.code != MC_OK) {
        d->hint = mc_json_hint(text, d->err);
        mc_json_line_col(text, d->err.at, &d->line, &d->col);
        return d->err;
    }
    d->root = root;
    if (literal != UINT64_MAX) {
        d->literal = literal_at(text, literal);
        mc_json_line_col(text, literal, &d->literal_line, &col);
    }
    return MC_NO_ERR;
}
