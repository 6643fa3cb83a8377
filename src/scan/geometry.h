/* geometry.h - reading a configuration: keys under any of their names, null apart from absent, defaults of the class.
 * Private to scan. */
#ifndef MODELCHECK_SCAN_GEOMETRY_H
#define MODELCHECK_SCAN_GEOMETRY_H
#include "scan/scan.h"

typedef struct {
    mc_model       *m;
    mc_kb          *kb;
    uint32_t        file;       /* the configuration */
    const mc_value *text;       /* its block about the language model; NULL: left out */
    mc_str          at;         /* JSON pointer of that block */
    mc_str          cls;        /* model_type of the class that supplies defaults, "" if none is known */
    bool            invented;   /* `text` is not in the file: what the class takes when the whole block is left out */
    bool            known;      /* the class is in our tables: what it leaves out is then known too */
} mc_geo;

typedef enum { MC_KEY_ABSENT, MC_KEY_NULL, MC_KEY_SET } mc_key_state;
typedef struct { mc_key_state state; const mc_value *value; mc_str where; } mc_key; /* where: JSON pointer, when SET */

void   mc_geo_text(mc_geo *g, const mc_value *root);                /* fills text, at, cls, known */
mc_key mc_geo_key(mc_geo *g, const char *const *names);             /* the first of the names that is neither absent nor null */
mc_key mc_geo_class_key(mc_geo *g, const char *key);                /* the same under the name that the class has for a standard key */
bool   mc_geo_default(const mc_geo *g, const char *const *names, int64_t *out); /* an integer that the class has as default */

/* expected.c: parameters that dimensions and class imply; not known outside the families whose modules are fixed. */
mc_int mc_expected_parameters(const mc_arch *a, const mc_value *config);

#endif
