/* main() of a fuzz target without libFuzzer: every file named on the command line is one input. It is also tried cut at
 * several places and with single bytes changed, so that a small corpus reaches the error paths in every test run. */
#include "fuzz/fuzz.h"

static void try_input(const uint8_t *bytes, size_t n)
{
    uint8_t *copy = malloc(n ? n : 1); /* of exactly this size: reads beyond it are seen */
    if (!copy)
        abort();
    if (n)
        memcpy(copy, bytes, n);
    LLVMFuzzerTestOneInput(copy, n);
    free(copy);
}

static void try_file(uint8_t *bytes, size_t n)
{
    static const uint8_t other[] = { 0, 0xff, '"', '{', ']', 0x80, '9' };
    size_t               step = n / 64 + 1;
    try_input(bytes, n);
    for (size_t cut = 0; cut < n; cut += step)
        try_input(bytes, cut);
    for (size_t at = 0, k = 0; at < n; at += step, k++) {
        uint8_t was = bytes[at];
        bytes[at] = other[k % sizeof other];
        try_input(bytes, n);
        bytes[at] = was;
    }
}

int main(int argc, char **argv)
{
    enum { MOST = 1 << 22 };
    uint8_t *bytes = malloc(MOST);
    for (int i = 1; i < argc && bytes; i++) {
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            perror(argv[i]);
            return 1;
        }
        fprintf(stderr, "%s\n", argv[i]);
        try_file(bytes, fread(bytes, 1, MOST, f));
        fclose(f);
    }
    free(bytes);
    return 0;
}
