/* unit.h - what every unit test includes: cmocka, the base layer, and short spellings. */
#ifndef MODELCHECK_TEST_UNIT_H
#define MODELCHECK_TEST_UNIT_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/base.h"

#define S(text) mc_str_of(text)
#define SPAN(text) ((mc_span){ (const uint8_t *)(text), strlen(text) })

/* An arena of 16 MiB for one test; give it back with mc_arena_free. */
static inline mc_arena arena_new(void)
{
    mc_arena a;
    mc_arena_init(&a, (size_t)1 << 24);
    return a;
}

static inline void assert_str(mc_str got, const char *want)
{
    if (!mc_str_is(got, want))
        print_error("got \"%.*s\", want \"%s\"\n", MC_FMT(got), want);
    assert_true(mc_str_is(got, want));
}

#endif
