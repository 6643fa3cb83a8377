/* Names of files and tensors: everything that is filled lies in the name, and an unsafe name is told. */
#include "fuzz/fuzz.h"
#include "model/model.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_str   s = { (const char *)bytes, n };
    mc_file  f = { .path = s, .base = mc_str_base(s) };
    uint64_t layer = 0;
    mc_name_parse(&f);
    MUST(within(f.stem, bytes, n) && within(f.variant, bytes, n) && within(f.part_of, bytes, n));
    MUST(f.role < MC_N_ROLES);
    MUST(f.role != MC_ROLE_BYTE_PART || f.part_of.n);
    bool unsafe = mc_name_unsafe(s);
    if (n && (s.p[0] == '/' || memchr(s.p, '\\', n) || memchr(s.p, 0, n)))
        MUST(unsafe);
    mc_str module = mc_name_module(s);
    MUST(within(module, bytes, n) && module.n <= n);
    MUST(!(mc_name_is_embedding(s) && mc_name_is_head(s)));
    (void)mc_name_is_buffer(s);
    (void)mc_name_layer(s, &layer);
    return 0;
}
