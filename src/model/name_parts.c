/* name_parts.c - names of files that are not finished or not whole: downloads under way, control files of download tools,
 * and byte parts made by split(1) and its kin. */
#include "model/names.h"

#include <string.h>

static bool parse_control(mc_file *f)
{
    static const char *const suffixes[] = { ".aria2", ".!qB", ".!ut", ".st" };
    for (size_t i = 0; i < MC_COUNT(suffixes); i++)
        if (mc_str_ends(f->base, suffixes[i])) {
            size_t len, n = strlen(suffixes[i]);
            if (mc_weight_extension(mc_str_less(f->base, n), &len) == MC_FMT_NONE && i == 3)
                return false; /* axel's ".st" means something only behind a name we know */
            f->role = MC_ROLE_CONTROL;
            f->part_of = mc_str_less(f->path, n);
            return true;
        }
    return false;
}

/* "model.safetensors.<etag>[.<8 hex>]" of a hub download: the path without the hex tail, "" if no file name is left. */
static mc_str without_etag(mc_str path)
{
    size_t len;
    for (int cut = 0; cut < 3; cut++) {
        if (mc_weight_extension(path, &len) != MC_FMT_NONE || mc_str_ends(path, ".json") || mc_str_ends(path, ".txt"))
            return path;
        size_t dot = mc_str_rfind(path, '.'), slash = mc_str_rfind(path, '/');
        if (dot == SIZE_MAX || (slash != SIZE_MAX && slash > dot))
            break;
        path = mc_str_cut(path, 0, dot);
    }
    return MC_STR("");
}

/* Where a download into a plain directory keeps its state: <dir>/.cache/huggingface/download/<path>. */
static mc_str without_download_dir(mc_str path)
{
    static const char dir[] = ".cache/huggingface/download/";
    return mc_str_starts(path, dir) ? mc_str_cut(path, sizeof dir - 1, path.n) : path;
}

bool mc_name_parse_partial(mc_file *f)
{
    static const char *const suffixes[] = { ".part", ".crdownload", ".downloading", ".download", ".partial", ".tmp" };
    static const char temp[] = "._____temp/"; /* ModelScope */
    if (mc_str_starts(f->path, temp) || mc_str_contains(f->path, "/._____temp/")) {
        f->role = MC_ROLE_PARTIAL;
        f->part_of = mc_str_starts(f->path, temp) ? mc_str_cut(f->path, sizeof temp - 1, f->path.n) : MC_STR("");
        return true;
    }
    if (mc_str_ends(f->base, ".incomplete")) {
        f->role = MC_ROLE_PARTIAL;
        f->part_of = without_download_dir(without_etag(mc_str_less(f->path, 11)));
        return true;
    }
    for (size_t i = 0; i < MC_COUNT(suffixes); i++)
        if (mc_str_ends(f->base, suffixes[i]) && f->base.n > strlen(suffixes[i])) {
            f->role = MC_ROLE_PARTIAL;
            f->part_of = mc_str_less(f->path, strlen(suffixes[i]));
            return true;
        }
    if (!mc_str_starts(f->base, "sha256-"))
        return false;
    mc_str s = f->path; /* Ollama: sha256-<hex>-partial and, with the state of one piece, -partial-<n> */
    size_t n = mc_tail_run(s, mc_is_digit);
    if (n > 0 && mc_str_ends(mc_str_less(s, n), "-partial-"))
        s = mc_str_less(s, n + 1);
    if (!mc_str_ends(s, "-partial"))
        return false;
    f->role = MC_ROLE_PARTIAL;
    f->part_of = mc_str_less(s, 8);
    return true;
}

/* What follows the weight name: "part1of2", "part-aa", "part01", "split-a", "001". */
static bool part_number(mc_str t, uint64_t *part, uint64_t *parts)
{
    size_t n = mc_tail_run(t, mc_is_digit);
    if (n == 3 && t.n == 3)
        return mc_str_u64(t, part);
    bool split = mc_str_starts(t, "split");
    if (!split && !mc_str_starts(t, "part"))
        return false;
    t = mc_str_cut(t, split ? 5 : 4, t.n);
    bool sep = t.n > 0 && (t.p[0] == '-' || t.p[0] == '_');
    t = mc_str_cut(t, sep, t.n);
    if (split && !sep)
        return false;
    size_t letters = mc_tail_run(t, mc_is_lower);
    if (letters == t.n && letters >= (sep ? 1u : 2u) && letters <= 4) {
        uint64_t v = 0;
        for (size_t i = 0; i < t.n; i++)
            v = v * 26 + (uint64_t)(t.p[i] - 'a');
        *part = v + 1;
        return true;
    }
    n = mc_tail_run(t, mc_is_digit);
    mc_str head = mc_str_less(t, n);
    if (n == 0 || (head.n == 0 && mc_str_u64(t, part)))
        return n != 0;
    size_t of = mc_str_ends(head, "-of-") || mc_str_ends(head, "_of_") ? 4 : mc_str_ends(head, "of") ? 2 : 0;
    return of && mc_str_u64(mc_str_less(head, of), part) && mc_str_u64(mc_str_cut(t, head.n, t.n), parts);
}

static bool parse_byte_part(mc_file *f)
{
    static const char *const exts[] = { ".safetensors", ".gguf", ".bin", ".pth", ".pt" };
    for (size_t e = 0; e < MC_COUNT(exts); e++)
        for (size_t i = f->base.n, n = strlen(exts[e]); i-- > 1;) {
            mc_str behind = mc_str_cut(f->base, i, f->base.n);
            if (!mc_str_starts(behind, exts[e]) || behind.n < n + 2 || (behind.p[n] != '.' && behind.p[n] != '-'))
                continue;
            uint64_t part = 0, parts = 0;
            if (!part_number(mc_str_cut(behind, n + 1, behind.n), &part, &parts))
                break;
            size_t len;
            f->role = MC_ROLE_BYTE_PART;
            f->promised = mc_weight_extension(mc_str_less(f->base, behind.n - n), &len);
            f->part = part;
            f->parts = parts;
            f->part_of = mc_str_less(f->path, behind.n - n);
            return true;
        }
    return false;
}

bool mc_name_parse_part(mc_file *f)
{
    return parse_control(f) || parse_byte_part(f);
}
