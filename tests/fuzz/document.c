/* JSON side files: a tree or a placed error, as the scanner says. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_span  text = { bytes, n };
    mc_doc   d = { 0 };
    mc_arena a;
    mc_json  j = mc_json_of(text);
    j.python = true;
    bool json = mc_json_skip(&j) && mc_json_end(&j);
    mc_arena_init(&a, (size_t)1 << 28);
    mc_err e = mc_parse_document(text, &a, &d);
    MUST((d.root != NULL) == (d.err.code == MC_OK) || e.code != MC_OK);
    if (d.root) {
        MUST(json && d.line == 0);
        MUST((d.literal_line != 0) == (j.literal != NULL));
    } else if (d.err.code != MC_OK) {
        MUST(d.err.what && d.line >= 1 && d.col >= 1);
    }
    mc_arena_free(&a);
    return 0;
}
