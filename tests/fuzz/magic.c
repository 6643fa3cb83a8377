/* First bytes: a verdict whatever they are, from the head alone, and pointers only when they are text of a pointer. */
#include "formats/formats.h"
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static const char *const names[] = { "model.safetensors", "model.gguf", "config.json", "pytorch_model.bin", "tokenizer.model" };
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        mc_file f = { .path = mc_str_of(names[i]), .base = mc_str_of(names[i]), .size = n };
        f.head = (mc_span){ bytes, n < MC_HEAD_BYTES ? n : MC_HEAD_BYTES };
        mc_name_parse(&f);
        mc_recognise(&f);
        MUST((f.bytes == MC_BYTES_EMPTY) == (n == 0));
        MUST(f.bytes <= MC_BYTES_SENTENCEPIECE && mc_bytes_name(f.bytes));
        if (f.bytes == MC_BYTES_LFS_POINTER)
            MUST(n < MC_HEAD_BYTES && within(f.pointer_oid, bytes, n));
        if (f.bytes == MC_BYTES_GGUF)
            MUST(n >= 4 && memcmp(bytes, "GGUF", 4) == 0);
    }
    return 0;
}
