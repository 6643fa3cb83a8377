/* Chat templates: what is reported lies in the template. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    mc_str code = mc_template_code((mc_str){ (const char *)bytes, n });
    MUST(within(code, bytes, n));
    if (code.n)
        MUST(memchr(bytes, '{', n) != NULL); /* text alone is never code */
    return 0;
}
