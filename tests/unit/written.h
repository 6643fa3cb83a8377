/* written.h - directories of sparse safetensors files with their headers, for tests that want a whole model of published size.
 * Data are holes, except payloads that a reader looks at. */
#ifndef MODELCHECK_TEST_WRITTEN_H
#define MODELCHECK_TEST_WRITTEN_H
#include "unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "scan/scan.h"

enum { W_TENSORS = 8192, W_PAYLOADS = 2048, W_PATH = 1024 };
typedef struct {
    char     dir[W_PATH / 2];
    char    *header; size_t n_header;
    FILE    *out;
    uint64_t at;
    size_t   n;
    struct { uint64_t at; size_t n; uint8_t bytes[128]; } *payloads;
    size_t   n_payloads;
} w_model;

static inline void w_begin(w_model *w)
{
    memset(w, 0, sizeof *w);
    const char *tmp = getenv("TMPDIR");
    int         n = snprintf(w->dir, sizeof w->dir, "%s/modelcheck-sizes-XXXXXX", tmp && *tmp ? tmp : P_tmpdir);
    assert_true(n > 0 && (size_t)n < sizeof w->dir);
    assert_non_null(mkdtemp(w->dir));
    w->payloads = calloc(W_PAYLOADS, sizeof *w->payloads);
    w->out = open_memstream(&w->header, &w->n_header);
    assert_true(w->payloads && w->out);
    fputs("{", w->out);
}

static inline uint64_t w_bits(const char *dtype)
{
    static const struct { const char *name; uint64_t bits; } types[] = {
        { "U8", 8 }, { "I8", 8 }, { "F8_E4M3", 8 }, { "F8_E8M0", 8 }, { "I16", 16 }, { "F16", 16 }, { "BF16", 16 }, { "I32", 32 }, { "U32", 32 }, { "F32", 32 }, { "I64", 64 },
    };
    for (size_t i = 0; i < MC_COUNT(types); i++)
        if (strcmp(types[i].name, dtype) == 0)
            return types[i].bits;
    fail_msg("no such type: %s", dtype);
    return 0;
}

/* Adds a tensor "PREFIX SUFFIX" and its payload (NULL: a hole). */
static inline void w_put(w_model *w, const char *prefix, const char *suffix, const char *dtype, const uint64_t *dims, size_t rank, const void *payload, size_t n)
{
    uint64_t bytes = w_bits(dtype);
    fprintf(w->out, "%s\"%s%s\":{\"dtype\":\"%s\",\"shape\":[", w->n++ ? "," : "", prefix, suffix, dtype);
    for (size_t i = 0; i < rank; i++) {
        bytes *= dims[i];
        fprintf(w->out, "%s%" PRIu64, i ? "," : "", dims[i]);
    }
    bytes = bytes / 8;
    fprintf(w->out, "],\"data_offsets\":[%" PRIu64 ",%" PRIu64 "]}", w->at, w->at + bytes);
    if (payload) {
        assert_true(n == bytes && n <= sizeof w->payloads[0].bytes && w->n_payloads < W_PAYLOADS);
        w->payloads[w->n_payloads].at = w->at;
        w->payloads[w->n_payloads].n = n;
        memcpy(w->payloads[w->n_payloads++].bytes, payload, n);
    }
    w->at += bytes;
}
#define W_PUT(w, prefix, suffix, dtype, ...) \
    w_put((w), (prefix), (suffix), (dtype), (const uint64_t[]){ __VA_ARGS__ }, sizeof (uint64_t[]){ __VA_ARGS__ } / sizeof(uint64_t), NULL, 0)

static inline void w_path(const w_model *w, const char *name, char *path, size_t room)
{
    snprintf(path, room, "%s/%s", w->dir, name);
}

static inline void w_text(const w_model *w, const char *name, const char *text)
{
    char path[W_PATH];
    w_path(w, name, path, sizeof path);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    fputs(text, f);
    fclose(f);
}

/* Writes model.safetensors and config.json ("" none). */
static inline void w_write(w_model *w, const char *config)
{
    char    path[W_PATH];
    uint8_t length[8];
    fputs("}", w->out);
    fclose(w->out);
    for (size_t i = 0; i < 8; i++)
        length[i] = (uint8_t)((uint64_t)w->n_header >> 8 * i);
    w_path(w, "model.safetensors", path, sizeof path);
    int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY, 0600);
    assert_true(fd >= 0);
    assert_true(write(fd, length, 8) == 8 && write(fd, w->header, w->n_header) == (ssize_t)w->n_header);
    assert_int_equal(ftruncate(fd, (off_t)(8 + w->n_header + w->at)), 0);
    for (size_t i = 0; i < w->n_payloads; i++)
        assert_true(pwrite(fd, w->payloads[i].bytes, w->payloads[i].n, (off_t)(8 + w->n_header + w->payloads[i].at)) == (ssize_t)w->payloads[i].n);
    close(fd);
    if (config[0])
        w_text(w, "config.json", config);
}

static inline mc_model *w_scan(const w_model *w, mc_kb *kb, mc_arena *a)
{
    mc_model_list list = { .arena = a };
    int           os_error;
    assert_int_equal(mc_scan_path(w->dir, &(mc_scan_options){ 0 }, kb, &list, &os_error).code, MC_OK);
    assert_int_equal(list.n, 1);
    return list.v[0];
}

static inline void w_end(w_model *w)
{
    static const char *const names[] = { "model.safetensors", "config.json" };
    char path[W_PATH];
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        w_path(w, names[i], path, sizeof path);
        (void)unlink(path);
    }
    assert_int_equal(rmdir(w->dir), 0);
    free(w->header);
    free(w->payloads);
}

#endif
