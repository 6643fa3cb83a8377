/* The central directory of a torch zip: how many bytes of tensor storages a .bin, .pt or .pth holds, without reading one.
 *
 *   local entries ... | central directory | [zip64 end record | zip64 locator] | end record [comment]
 *   storages are the members <top>/data/<key>, usually stored; <top> is any name
 *
 * Sources: https://pkware.cachefly.net/webdocs/casestudies/APPNOTE.TXT (4.3.12-4.3.16, 4.5.3),
 * https://github.com/pytorch/pytorch/blob/main/caffe2/serialize/inline_container.h. Every count and offset is checked;
 * the directory is walked by its bytes, never by its count. */
#include "formats/formats.h"

#include <string.h>

enum { END = 22, LOCATOR = 20, END64 = 56, ENTRY = 46, COMMENT = 65535 };

typedef struct { uint64_t entries, size, at; uint64_t limit; /* the directory ends at or before it */ } directory;

static mc_err bad(uint64_t at, const char *what)
{
    return (mc_err){ MC_E_SYNTAX, at, what };
}

static mc_err more(uint64_t want, uint64_t *want_at)
{
    *want_at = want;
    return (mc_err){ MC_MORE, want, "need an earlier start" };
}

static bool magic(const uint8_t *p, uint8_t a, uint8_t b)
{
    return p[0] == 'P' && p[1] == 'K' && p[2] == a && p[3] == b;
}

/* The end record: the last one whose comment reaches exactly to the end of the file. SIZE_MAX if there is none. */
static size_t find_end(mc_span t)
{
    for (size_t i = t.n >= END ? t.n - END + 1 : 0; i-- > 0;) {
        if (t.n - END - i > COMMENT)
            break;
        if (magic(t.p + i, 5, 6) && mc_u16le(t.p + i + 20) == t.n - END - i)
            return i;
    }
    return SIZE_MAX;
}

/* The zip64 end record, if a locator stands before the end record at tail offset i. */
static mc_err read_end64(mc_span t, uint64_t at, size_t i, uint64_t *want_at, directory *d)
{
    if (i < LOCATOR)
        return at == 0 ? MC_NO_ERR : more(at > LOCATOR ? at - LOCATOR : 0, want_at);
    const uint8_t *p = t.p + i - LOCATOR;
    if (!magic(p, 6, 7))
        return MC_NO_ERR;
    uint64_t here = at + i - LOCATOR, rec = mc_u64le(p + 8);
    if (here < END64 || rec > here - END64)
        return bad(here, "the zip64 end record lies outside the file");
    if (rec < at)
        return more(rec, want_at);
    p = t.p + (rec - at);
    if (!magic(p, 6, 6))
        return bad(rec, "no zip64 end record where its locator points");
    *d = (directory){ .entries = mc_u64le(p + 32), .size = mc_u64le(p + 40), .at = mc_u64le(p + 48), .limit = rec };
    return MC_NO_ERR;
}

/* Sizes of 0xffffffff stand in the extra field 0x0001, in the order uncompressed, compressed. */
static bool wide_sizes(mc_span extra, uint64_t *plain, uint64_t *packed)
{
    uint64_t *const wide[] = { plain, packed };
    for (size_t i = 0; extra.n - i >= 4;) {
        size_t n = mc_u16le(extra.p + i + 2), used = 0;
        if (n > extra.n - i - 4)
            return false;
        for (size_t k = 0; k < 2 && mc_u16le(extra.p + i) == 1; k++)
            if (*wide[k] == UINT32_MAX) {
                if (used + 8 > n)
                    return false;
                *wide[k] = mc_u64le(extra.p + i + 4 + used);
                used += 8;
            }
        i += 4 + n;
    }
    return true;
}

/* "<top>/data/<key>" */
static bool is_storage(mc_str name)
{
    mc_str rest = mc_str_cut(name, mc_str_find(name, '/') + 1, name.n);
    if (!mc_str_starts(rest, "data/"))
        return false;
    mc_str key = mc_str_cut(rest, 5, rest.n);
    return key.n > 0 && mc_str_find(key, '/') == key.n;
}

static mc_err walk(const uint8_t *p, const directory *d, mc_file *f)
{
    uint64_t n = 0, bytes = 0, storages = 0;
    for (uint64_t i = 0; i < d->size; n++) {
        const uint8_t *e = p + i;
        uint64_t       here = d->at + i;
        if (d->size - i < ENTRY || !magic(e, 1, 2))
            return bad(here, "damaged entry in the central directory");
        uint64_t name = mc_u16le(e + 28), extra = mc_u16le(e + 30), whole = ENTRY + name + extra + mc_u16le(e + 32);
        uint64_t packed = mc_u32le(e + 20), plain = mc_u32le(e + 24);
        if (whole > d->size - i || !wide_sizes((mc_span){ e + ENTRY + name, (size_t)extra }, &plain, &packed))
            return bad(here, "damaged entry in the central directory");
        if (packed > d->at)
            return (mc_err){ MC_E_RANGE, here, "a member is larger than the file" };
        if (is_storage((mc_str){ (const char *)e + ENTRY, (size_t)name })) {
            if (ckd_add(&bytes, bytes, plain))
                return (mc_err){ MC_E_RANGE, here, "sizes exceed 64 bits" };
            storages++;
        }
        i += whole;
    }
    if (n != d->entries)
        return bad(d->at, "the central directory holds another number of entries than its end record says");
    f->torch_known = true;
    f->torch_bytes = bytes;
    f->torch_storages = storages;
    return MC_NO_ERR;
}

mc_err mc_parse_torch_tail(mc_span tail, uint64_t at, uint64_t file_size, uint64_t *want_at, mc_file *f)
{
    f->torch_known = false;
    f->torch_bytes = f->torch_storages = 0;
    *want_at = at;
    if (at > file_size || tail.n != file_size - at)
        return bad(at, "not the end of the file");
    size_t i = find_end(tail);
    if (i == SIZE_MAX) {
        if (at == 0 || tail.n >= END + COMMENT)
            return (mc_err){ MC_E_TRUNCATED, file_size, "no end of central directory" };
        return more(file_size > END + COMMENT ? file_size - END - COMMENT : 0, want_at);
    }
    const uint8_t *p = tail.p + i;
    directory      d = { mc_u16le(p + 10), mc_u32le(p + 12), mc_u32le(p + 16), at + i };
    mc_err         err = read_end64(tail, at, i, want_at, &d);
    if (err.code != MC_OK)
        return err;
    if (d.at > d.limit || d.size > d.limit - d.at)
        return (mc_err){ MC_E_RANGE, at + i, "the central directory lies outside the file" };
    if (d.size > MC_MAX_DOCUMENT)
        return (mc_err){ MC_E_LIMIT, d.at, "central directory larger than 256 MiB" };
    if (d.at < at)
        return more(d.at, want_at);
    return walk(tail.p + (d.at - at), &d, f);
}
