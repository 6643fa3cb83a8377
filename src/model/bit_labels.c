/* What a directory or file name says about the width of the weights: "Llama-3.1-8B-W4A16", "Qwen3-14B-MLX-4bit",
 * "x-GPTQ-Int4", "x-FP8", "x-4.0bpw-exl2". Counts of parameters ("8B", "E4B") are no such thing. */
#include "model/model.h"

#include <string.h>

static bool separator(char c)
{
    return c == '-' || c == '_' || c == '.' || c == ' ' || c == '+' || c == '(' || c == ')' || c == '[' || c == ']';
}

/* One word equals `want`, given in lower case. */
static bool is_word(mc_str w, const char *want)
{
    size_t n = strlen(want);
    if (w.n != n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (mc_to_lower(w.p[i]) != want[i])
            return false;
    return true;
}

/* "W4A16": the width of the weights. */
static double weights_and_activations(mc_str w)
{
    if (w.n < 4 || mc_to_lower(w.p[0]) != 'w' || w.p[1] < '1' || w.p[1] > '8' || mc_to_lower(w.p[2]) != 'a')
        return 0;
    for (size_t i = 3; i < w.n; i++)
        if (!mc_is_digit(w.p[i]))
            return 0;
    return w.n <= 5 ? w.p[1] - '0' : 0;
}

/* "4bit", "Int4", "fp8", "nvfp4". */
static double one_word(mc_str w)
{
    static const struct { const char *word; double bits; } words[] = {
        { "fp8", 8 }, { "fp4", 4 }, { "nf4", 4 }, { "nvfp4", 4 }, { "mxfp4", 4 }, { "mxfp6", 6 }, { "mxfp8", 8 }, { "int8", 8 }, { "int4", 4 }, { "int3", 3 }, { "int2", 2 },
    };
    for (size_t i = 0; i < MC_COUNT(words); i++)
        if (is_word(w, words[i].word))
            return words[i].bits;
    if (w.n >= 4 && w.p[0] >= '1' && w.p[0] <= '8' && (is_word(mc_str_cut(w, 1, w.n), "bit") || is_word(mc_str_cut(w, 1, w.n), "bits") || is_word(mc_str_cut(w, 1, w.n), "bpw")))
        return w.p[0] - '0';
    return weights_and_activations(w);
}

/* "4-bit", "4_bits"; "3.5bpw": digits of a fraction in front of the unit. */
static double two_words(mc_str first, mc_str second, char between)
{
    if (first.n != 1 || first.p[0] < '1' || first.p[0] > '8')
        return 0;
    double whole = first.p[0] - '0';
    if (between != '.')
        return is_word(second, "bit") || is_word(second, "bits") ? whole : 0;
    double part = 0, unit = 0.1;
    size_t i = 0;
    for (; i < second.n && i < 4 && mc_is_digit(second.p[i]); i++, unit /= 10)
        part += unit * (second.p[i] - '0');
    return i && is_word(mc_str_cut(second, i, second.n), "bpw") ? whole + part : 0;
}

/* The one width that the words of a name agree on. */
mc_bits_label mc_bits_label_of(mc_str name)
{
    mc_bits_label found = { MC_STR(""), 0 };
    mc_str        before = MC_STR("");
    for (size_t at = 0, start = 0, i = 0; i <= name.n; i++) {
        if (i < name.n && !separator(name.p[i]))
            continue;
        mc_str word = mc_str_cut(name, at, i), text = word;
        double bits = before.n ? two_words(before, word, name.p[at - 1]) : 0;
        if (bits > 0)
            text = mc_str_cut(name, start, i);
        else
            bits = one_word(word);
        if (bits > 0 && found.bits > 0 && (found.bits < bits || bits < found.bits))
            return (mc_bits_label){ MC_STR(""), 0 };
        if (bits > 0 && found.bits <= 0)
            found = (mc_bits_label){ text, bits };
        before = word;
        start = at;
        at = i + 1;
    }
    return found;
}
