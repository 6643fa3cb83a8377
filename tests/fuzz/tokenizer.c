/* tokenizer.json: whatever the scanner accepts is accepted, whatever it refuses is refused; tokens are well formed. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_span   text = { bytes, n };
    mc_tokens t = { 0 };
    mc_arena  a;
    mc_json   j = mc_json_of(text);
    j.python = true;
    bool json = mc_json_skip(&j) && mc_json_end(&j);
    mc_arena_init(&a, (size_t)1 << 28);
    mc_err e = mc_parse_tokenizer(text, &a, 7, MC_STR("</s>"), &t);
    MUST(json || e.code != MC_OK);
    MUST(e.code == MC_OK || (e.what && e.at <= n));
    for (size_t i = 0; i < t.n_added; i++) {
        MUST(t.added[i].file == 7);
        MUST(mc_utf8_valid((mc_span){ (const uint8_t *)t.added[i].text.p, t.added[i].text.n }));
    }
    MUST(!t.vocab.known || (t.vocab.v >= 0 && (uint64_t)t.vocab.v <= n));
    mc_arena_free(&a);
    return 0;
}
