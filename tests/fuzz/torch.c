/* The central directory of a torch zip, read from the end in steps as the caller does: every request goes further back,
 * and what the reader says does not depend on the steps. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

static mc_err read_tail(const uint8_t *bytes, size_t n, size_t first, mc_file *f)
{
    size_t   at = n > first ? n - first : 0;
    uint64_t want = 0;
    for (int turns = 0;; turns++) {
        mc_err e = mc_parse_torch_tail((mc_span){ bytes + at, n - at }, at, n, &want, f);
        if (e.code != MC_MORE)
            return e;
        MUST(want < at && turns < 8);
        at = (size_t)want;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_file whole = { .size = n }, steps = { .size = n };
    mc_err  a = read_tail(bytes, n, n, &whole), b = read_tail(bytes, n, 256, &steps);
    MUST(a.code == b.code || a.code == MC_E_SYNTAX || b.code == MC_E_SYNTAX);
    MUST(whole.torch_known == (a.code == MC_OK) || !whole.torch_known);
    if (whole.torch_known && steps.torch_known)
        MUST(whole.torch_bytes == steps.torch_bytes && whole.torch_storages == steps.torch_storages);
    MUST(a.code == MC_OK || a.what);
    return 0;
}
