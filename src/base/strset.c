#include "base/base.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

uint64_t mc_hash(mc_span bytes)
{
    return XXH3_64bits(bytes.p ? bytes.p : (const uint8_t *)"", bytes.n);
}

static uint64_t hash(mc_str s)
{
    return mc_hash((mc_span){ (const uint8_t *)s.p, s.n });
}

bool mc_strset_init(mc_strset *s, mc_arena *a, size_t expected)
{
    size_t slots = 16;
    while (slots < expected + expected / 2)
        slots *= 2;
    *s = (mc_strset){ .arena = a, .n_slots = slots, .cap = expected ? expected : 8 };
    s->slots = MC_NEW(a, uint32_t, slots); /* 0: free, else id + 1 */
    s->tags = MC_NEW(a, uint32_t, slots);  /* upper half of the hash: most misses end here, without touching the key */
    s->keys = MC_NEW(a, mc_str, s->cap);
    return s->slots && s->tags && s->keys;
}

/* The slot of key, or the free slot where it belongs. */
static size_t probe(const mc_strset *s, mc_str key, uint64_t h)
{
    size_t   mask = s->n_slots - 1, i = (size_t)h & mask;
    uint32_t tag = (uint32_t)(h >> 32);
    for (; s->slots[i]; i = (i + 1) & mask)
        if (s->tags[i] == tag && mc_str_eq(s->keys[s->slots[i] - 1], key))
            break;
    return i;
}

static bool rehash(mc_strset *s)
{
    mc_strset bigger = { .arena = s->arena, .n_slots = s->n_slots * 2 };
    bigger.slots = MC_NEW(s->arena, uint32_t, bigger.n_slots);
    bigger.tags = MC_NEW(s->arena, uint32_t, bigger.n_slots);
    if (!bigger.slots || !bigger.tags)
        return false;
    size_t mask = bigger.n_slots - 1;
    for (uint32_t id = 0; id < s->n; id++) {
        uint64_t h = hash(s->keys[id]);
        size_t   i = (size_t)h & mask;
        while (bigger.slots[i])
            i = (i + 1) & mask;
        bigger.slots[i] = id + 1;
        bigger.tags[i] = (uint32_t)(h >> 32);
    }
    s->slots = bigger.slots;
    s->tags = bigger.tags;
    s->n_slots = bigger.n_slots;
    return true;
}

uint32_t mc_strset_add(mc_strset *s, mc_str key, bool *added)
{
    uint64_t h = hash(key);
    size_t   i = probe(s, key, h);
    if (added)
        *added = s->slots[i] == 0;
    if (s->slots[i])
        return s->slots[i] - 1;
    if (s->n >= MC_NO_ID - 1)
        return MC_NO_ID;
    if (s->n + s->n / 2 >= s->n_slots) {
        if (!rehash(s))
            return MC_NO_ID;
        i = probe(s, key, h);
    }
    mc_str *keys = mc_grow(s->arena, s->keys, s->n, &s->cap, sizeof *keys);
    if (!keys)
        return MC_NO_ID;
    s->keys = keys;
    keys[s->n] = key;
    s->tags[i] = (uint32_t)(h >> 32);
    s->slots[i] = (uint32_t)++s->n;
    return (uint32_t)(s->n - 1);
}

uint32_t mc_strset_find(const mc_strset *s, mc_str key)
{
    if (s->n == 0)
        return MC_NO_ID;
    size_t i = probe(s, key, hash(key));
    return s->slots[i] ? s->slots[i] - 1 : MC_NO_ID;
}
