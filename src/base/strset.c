#include "base/base.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <string.h>

uint64_t mc_hash(mc_span bytes)
{
    return XXH3_64bits(bytes.p ? bytes.p : (const uint8_t *)"", bytes.n);
}

uint64_t mc_str_hash(mc_str s)
{
    return mc_hash((mc_span){ (const uint8_t *)s.p, s.n });
}

bool mc_strset_init(mc_strset *s, mc_arena *a, size_t expected)
{
    size_t slots = 16;
    while (slots < expected + expected / 2)
        slots *= 2;
    *s = (mc_strset){ .arena = a, .n_slots = slots, .cap = expected ? expected : 8 };
    s->slots = MC_NEW(a, mc_slot, slots);
    s->keys = MC_NEW(a, mc_str, s->cap);
    return s->slots && s->keys;
}

/* The slot of key, or the free slot where it belongs. Most misses end at the tag, without touching the key. */
static size_t probe(const mc_strset *s, mc_str key, uint64_t h)
{
    size_t   mask = s->n_slots - 1, i = (size_t)h & mask;
    uint32_t tag = (uint32_t)(h >> 32);
    for (; s->slots[i].id; i = (i + 1) & mask)
        if (s->slots[i].tag == tag && mc_str_eq(s->keys[s->slots[i].id - 1], key))
            break;
    return i;
}

static bool rehash(mc_strset *s)
{
    size_t   n_slots = s->n_slots * 2, mask = n_slots - 1;
    mc_slot *slots = MC_NEW(s->arena, mc_slot, n_slots);
    if (!slots)
        return false;
    for (uint32_t id = 0; id < s->n; id++) {
        uint64_t h = mc_str_hash(s->keys[id]);
        size_t   i = (size_t)h & mask;
        while (slots[i].id)
            i = (i + 1) & mask;
        slots[i] = (mc_slot){ id + 1, (uint32_t)(h >> 32) };
    }
    s->slots = slots;
    s->n_slots = n_slots;
    return true;
}

uint32_t mc_strset_add_hashed(mc_strset *s, mc_str key, uint64_t h, bool *added)
{
    size_t i = probe(s, key, h);
    if (added)
        *added = s->slots[i].id == 0;
    if (s->slots[i].id)
        return s->slots[i].id - 1;
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
    s->slots[i] = (mc_slot){ (uint32_t)++s->n, (uint32_t)(h >> 32) };
    return (uint32_t)(s->n - 1);
}

uint32_t mc_strset_add(mc_strset *s, mc_str key, bool *added)
{
    return mc_strset_add_hashed(s, key, mc_str_hash(key), added);
}

uint32_t mc_strset_find_hashed(const mc_strset *s, mc_str key, uint64_t h)
{
    return s->n ? s->slots[probe(s, key, h)].id - 1 : MC_NO_ID; /* a free slot has id 0: MC_NO_ID */
}

uint32_t mc_strset_find(const mc_strset *s, mc_str key)
{
    return s->n ? mc_strset_find_hashed(s, key, mc_str_hash(key)) : MC_NO_ID;
}

void mc_strset_touch(const mc_strset *s, uint64_t h)
{
    if (s->n_slots)
        __builtin_prefetch(&s->slots[(size_t)h & (s->n_slots - 1)]);
}
