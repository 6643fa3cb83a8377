/* A whole directory through the public API: the input is cut into files under known names, the run must end with one of
 * its statuses, the JSON report must be strict JSON, and neither report may carry a raw control character.
 *
 * Input: records of one byte (which name), two bytes (length, little endian), contents. */
#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz/fuzz.h"
#include "modelcheck.h"

static const char *const names[] = {
    "config.json", "model.safetensors", "model.safetensors.index.json", "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors",
    "tokenizer.json", "tokenizer_config.json", "generation_config.json", "m.gguf", "m-00001-of-00002.gguf", "m-00002-of-00002.gguf",
    "adapter_config.json", "adapter_model.safetensors", "pytorch_model.bin", "model_index.json", "quantize_config.json", "hf_quant_config.json",
    "unet/config.json", "unet/diffusion_pytorch_model.safetensors", "original/params.json", "original/consolidated.00.pth", "modules.json",
    "chat_template.jinja", "special_tokens_map.json", "added_tokens.json", "1_Pooling/config.json", "model.safetensors.part-aa", "mmproj-m.gguf",
    "params.json", "processor_config.json", "preprocessor_config.json", "tokenizer.model",
};

static char root[64];

static void put(const char *name, const uint8_t *bytes, size_t n)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", root, name);
    FILE *f = fopen(path, "wb");
    if (!f || fwrite(bytes, 1, n, f) != n || fclose(f) != 0)
        abort();
}

static void start(void)
{
    static const char *const subs[] = { "", "/unet", "/original", "/1_Pooling" };
    char path[128];
    const char *memory = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    snprintf(root, sizeof root, "%s/modelcheck-fuzz-%ld", memory, (long)getpid());
    for (size_t i = 0; i < MC_COUNT(subs); i++) {
        snprintf(path, sizeof path, "%s%s", root, subs[i]);
        mkdir(path, 0700);
    }
}

static void clean(void)
{
    char path[256];
    for (size_t i = 0; i < MC_COUNT(names); i++) {
        snprintf(path, sizeof path, "%s/%s", root, names[i]);
        unlink(path);
    }
}

static void check_report(modelcheck *mc, const char *format, const char *view, int status)
{
    char  *text = NULL;
    size_t n = 0;
    FILE  *out = open_memstream(&text, &n);
    MUST(out && modelcheck_write(mc, out, format, view) == NULL);
    fclose(out);
    for (size_t i = 0; i < n; i++)
        MUST((uint8_t)text[i] >= 0x20 || text[i] == '\n');
    MUST(mc_utf8_valid((mc_span){ (const uint8_t *)text, n }));
    if (strcmp(format, "json") == 0) {
        mc_json j = mc_json_of((mc_span){ (const uint8_t *)text, n });
        MUST(mc_json_skip(&j) && mc_json_end(&j));
    }
    MUST(status != 0 || n > 0);
    free(text);
}

static void done(void)
{
    static const char *const subs[] = { "/unet", "/original", "/1_Pooling", "" };
    char path[128];
    clean();
    for (size_t i = 0; i < MC_COUNT(subs); i++) {
        snprintf(path, sizeof path, "%s%s", root, subs[i]);
        rmdir(path);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n)
{
    static bool started;
    size_t      files = 0;
    if (!started) {
        started = true;
        start();
        atexit(done);
    }
    for (size_t at = 0; n - at >= 3 && files < 8; files++) {
        size_t len = mc_u16le(bytes + at + 1), left = n - at - 3;
        len = len < left ? len : left;
        put(names[bytes[at] % MC_COUNT(names)], bytes + at + 3, len);
        at += 3 + len;
    }
    modelcheck *mc = modelcheck_new();
    MUST(mc && modelcheck_add(mc, root) == NULL);
    int status = modelcheck_run(mc);
    MUST(status == 0 || status == 1 || status == 3);
    MUST(files || status == 3);
    check_report(mc, "json", "check", status);
    check_report(mc, "text", "check", status);
    check_report(mc, "text", "show", status);
    check_report(mc, "text", "memory", status);
    modelcheck_free(mc);
    clean();
    return 0;
}
