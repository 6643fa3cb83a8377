/* Blocks of memory that are given out from front to back. Large ones are mapped in huge pages where the system has them: a
 * run over 92,000 tensors touches 45 MiB, and twelve thousand page faults cost as much as parsing. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS, madvise */
#include "base/base.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { ALIGN = 16, FIRST_BLOCK = 1 << 14, LARGEST_BLOCK = 8 << 20, HUGE_PAGE = 2 << 20 };

/* `mapped`: bytes to unmap, 0 for a block from the heap. */
struct mc_block { mc_block *next; size_t size, mapped; _Alignas(ALIGN) uint8_t data[]; };

static void release(mc_block *b)
{
    if (b->mapped)
        munmap(b, b->mapped);
    else
        free(b);
}

/* Begins at a huge page: one more than needed is mapped, and the ends are given back. What is never written costs nothing. */
static mc_block *map_block(size_t size)
{
    size_t total, over;
    if (ckd_add(&total, size, sizeof(mc_block) + HUGE_PAGE - 1) || ckd_add(&over, total &= ~((size_t)HUGE_PAGE - 1), (size_t)HUGE_PAGE))
        return NULL;
    uint8_t *p = mmap(NULL, over, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED)
        return NULL;
    size_t front = (size_t)-(uintptr_t)p & (HUGE_PAGE - 1);
    if (front)
        munmap(p, front);
    munmap(p + front + total, HUGE_PAGE - front);
    madvise(p + front, total, MADV_HUGEPAGE);
    mc_block *b = (mc_block *)(void *)(p + front);
    b->mapped = total;
    return b;
}

void mc_arena_init(mc_arena *a, size_t budget)
{
    *a = (mc_arena){ .budget = budget };
}

void mc_arena_free(mc_arena *a)
{
    for (mc_block *b = a->head, *next; b; b = next) {
        next = b->next;
        release(b);
    }
    *a = (mc_arena){ .budget = a->budget };
}

static void *refuse(mc_arena *a)
{
    a->failed = true;
    return NULL;
}

static mc_block *new_block(mc_arena *a, size_t size)
{
    mc_block *b = a->budget - a->used < size ? NULL : size >= HUGE_PAGE ? map_block(size) : calloc(1, sizeof *b + size);
    if (!b)
        return NULL;
    b->size = size;
    a->used += size;
    return b;
}

void *mc_alloc(mc_arena *a, size_t count, size_t size)
{
    size_t n;
    if (ckd_mul(&n, count, size) || ckd_add(&n, n, (size_t)ALIGN - 1))
        return refuse(a);
    n &= ~((size_t)ALIGN - 1);
    if (n == 0)
        n = ALIGN;
    if (n <= a->left) {
        a->left -= n;
        return a->head->data + (a->head->size - a->left - n);
    }
    size_t want = a->head ? a->head->size * 2 : FIRST_BLOCK;
    if (want > LARGEST_BLOCK)
        want = LARGEST_BLOCK;
    bool      own = n > want / 4; /* large: a block of its own behind the head, which stays in use */
    mc_block *b = new_block(a, own ? n : want);
    if (!b)
        return refuse(a);
    if (own && a->head) {
        b->next = a->head->next;
        a->head->next = b;
        return b->data;
    }
    b->next = a->head;
    a->head = b;
    a->left = b->size - n;
    return b->data;
}

void *mc_grow(mc_arena *a, void *array, size_t n, size_t *cap, size_t size)
{
    if (n < *cap)
        return array;
    size_t want;
    if (ckd_mul(&want, *cap ? *cap : 8, (size_t)2))
        return refuse(a);
    void *v = mc_alloc(a, want, size);
    if (!v)
        return NULL;
    if (n)
        memcpy(v, array, n * size);
    *cap = want;
    return v;
}

void mc_arena_adopt(mc_arena *dst, mc_arena *src)
{
    if (!src->head)
        return;
    mc_block *last = src->head;
    while (last->next)
        last = last->next;
    if (dst->head) {
        last->next = dst->head->next;
        dst->head->next = src->head;
    } else {
        dst->head = src->head;
        dst->left = src->left;
    }
    dst->used += src->used;
    dst->failed |= src->failed;
    *src = (mc_arena){ .budget = src->budget };
}

mc_str mc_str_copy(mc_arena *a, mc_str s)
{
    char *p = mc_alloc(a, s.n + 1, 1);
    if (!p)
        return MC_STR("");
    if (s.n)
        memcpy(p, s.p, s.n);
    return (mc_str){ p, s.n };
}

mc_str mc_str_lower(mc_arena *a, mc_str s)
{
    char *p = mc_alloc(a, s.n + 1, 1);
    for (size_t i = 0; p && i < s.n; i++)
        p[i] = mc_to_lower(s.p[i]);
    return p ? (mc_str){ p, s.n } : MC_STR("");
}

mc_str mc_vformat(mc_arena *a, const char *fmt, va_list ap)
{
    va_list twice;
    va_copy(twice, ap);
    int n = vsnprintf(NULL, 0, fmt, twice);
    va_end(twice);
    char *p = n < 0 ? NULL : mc_alloc(a, (size_t)n + 1, 1);
    if (!p)
        return MC_STR("");
    vsnprintf(p, (size_t)n + 1, fmt, ap);
    return (mc_str){ p, (size_t)n };
}

mc_str mc_format(mc_arena *a, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    mc_str s = mc_vformat(a, fmt, ap);
    va_end(ap);
    return s;
}
