/* *.index.json: a valid index lists names that are in the text, each mapped to a shard that exists in the table. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_span  text = { bytes, n };
    mc_index x = { 0 };
    mc_arena a;
    mc_json  j = mc_json_of(text);
    j.python = true;
    bool json = mc_json_skip(&j) && mc_json_end(&j);
    mc_arena_init(&a, (size_t)1 << 28);
    mc_err   e = mc_parse_index(text, &a, &x);
    uint64_t counted = 0;
    MUST(!x.valid || (json && e.code == MC_OK && x.err.code == MC_OK && x.n_bad_values == 0 && x.conflict.n == 0));
    for (size_t i = 0; i < x.n_map; i++)
        MUST(x.map[i].shard < x.n_shards || x.map[i].shard == MC_NONE);
    for (size_t i = 0; i < x.n_shards; i++)
        counted += x.shards[i].n_tensors;
    MUST(counted <= x.n_map && x.keys.n <= x.n_map);
    MUST(!x.total_size.known || x.metadata == MC_INDEX_META_OBJECT);
    mc_arena_free(&a);
    return 0;
}
