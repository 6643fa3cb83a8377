#include "kb/kb.h"

/* Made by the Makefile from the files under rules/; ends with a NULL name. */
extern const mc_embedded mc_embedded_files[] __attribute__((visibility("hidden")));

mc_span mc_embedded_find(const char *name)
{
    for (const mc_embedded *e = mc_embedded_files; e->name; e++)
        if (mc_str_is(mc_str_of(name), e->name))
            return (mc_span){ e->p, e->n };
    return (mc_span){ 0 };
}

const mc_embedded *mc_embedded_at(size_t i)
{
    return mc_embedded_files[i].name ? &mc_embedded_files[i] : NULL;
}
