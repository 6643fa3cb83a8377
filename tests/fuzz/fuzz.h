/* fuzz.h - what every fuzz target includes. A target is a pure function from bytes to abort() or nothing: it calls one
 * parser and checks what must hold whatever the bytes are. */
#ifndef MODELCHECK_FUZZ_H
#define MODELCHECK_FUZZ_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* An invariant; it stays on in every build. */
#define MUST(condition) \
    do { \
        if (!(condition)) { \
            fprintf(stderr, "%s:%d: broken: %s\n", __FILE__, __LINE__, #condition); \
            abort(); \
        } \
    } while (0)

/* Is the text inside the input? An empty text may be anywhere. */
static inline bool within(mc_str s, const uint8_t *bytes, size_t n)
{
    const uint8_t *p = (const uint8_t *)s.p;
    return s.n == 0 || (p >= bytes && p <= bytes + n && s.n <= (size_t)(bytes + n - p));
}

#endif
