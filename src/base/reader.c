#include "base/base.h"

mc_reader mc_reader_of(mc_span prefix, uint64_t file_size)
{
    return (mc_reader){ .p = prefix.p, .len = prefix.n, .file_size = file_size };
}

void mc_rd_fail(mc_reader *r, mc_code code, const char *what)
{
    if (r->err.code == MC_OK)
        r->err = (mc_err){ code, r->pos, what };
}

mc_span mc_rd_bytes(mc_reader *r, uint64_t n)
{
    uint64_t end;
    if (r->err.code != MC_OK)
        return (mc_span){ 0 };
    if (ckd_add(&end, (uint64_t)r->pos, n) || end > r->file_size) {
        mc_rd_fail(r, MC_E_TRUNCATED, "item extends beyond the end of the file");
        return (mc_span){ 0 };
    }
    if (end > r->len) { /* within the file, beyond the prefix we were given */
        r->err = (mc_err){ MC_MORE, end, "need a longer prefix" };
        return (mc_span){ 0 };
    }
    mc_span s = { r->p + r->pos, (size_t)n };
    r->pos = (size_t)end;
    return s;
}

static uint64_t number(mc_reader *r, uint64_t n)
{
    mc_span  s = mc_rd_bytes(r, n);
    uint64_t v = 0;
    for (size_t i = 0; i < s.n; i++)
        v = v << 8 | s.p[r->big_endian ? i : s.n - 1 - i];
    return v;
}

uint8_t  mc_rd_u8(mc_reader *r) { return (uint8_t)number(r, 1); }
uint16_t mc_rd_u16(mc_reader *r) { return (uint16_t)number(r, 2); }
uint32_t mc_rd_u32(mc_reader *r) { return (uint32_t)number(r, 4); }
uint64_t mc_rd_u64(mc_reader *r) { return number(r, 8); }

uint16_t mc_u16le(const uint8_t *p) { return (uint16_t)(p[0] | p[1] << 8); }
uint32_t mc_u32le(const uint8_t *p) { return (uint32_t)mc_u16le(p) | (uint32_t)mc_u16le(p + 2) << 16; }
uint64_t mc_u64le(const uint8_t *p) { return (uint64_t)mc_u32le(p) | (uint64_t)mc_u32le(p + 4) << 32; }
