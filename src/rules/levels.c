#include "rules/levels.h"

mc_levels mc_levels_of(const mc_value *root)
{
    return (mc_levels){ .pending = root };
}

const mc_field *mc_levels_next(mc_levels *l)
{
    const mc_value *enter = l->pending;
    l->pending = NULL;
    for (;;) {
        if (enter && (enter->type == MC_OBJECT || enter->type == MC_ARRAY) && l->depth < MC_COUNT(l->stack))
            l->stack[l->depth++] = (mc_level){ enter, 0 };
        enter = NULL;
        if (l->depth == 0)
            return NULL;
        mc_level *top = &l->stack[l->depth - 1];
        if (top->next == top->v->n) {
            l->depth--;
        } else if (top->v->type == MC_ARRAY) {
            enter = &top->v->u.items[top->next++];
        } else {
            const mc_field *f = &top->v->u.fields[top->next++];
            l->pending = f->value;
            return f;
        }
    }
}

void mc_levels_leave(mc_levels *l)
{
    l->pending = NULL;
}

mc_str mc_levels_pointer(const mc_levels *l, mc_arena *a)
{
    mc_str s = MC_STR("");
    for (unsigned i = 0; i < l->depth; i++) {
        const mc_level *at = &l->stack[i];
        if (at->v->type == MC_ARRAY)
            s = mc_format(a, "%.*s/%zu", MC_FMT(s), at->next - 1);
        else
            s = mc_format(a, "%.*s/%.*s", MC_FMT(s), MC_FMT(at->v->u.fields[at->next - 1].key));
    }
    return s;
}

bool mc_levels_in_tower(const mc_levels *l)
{
    for (unsigned i = 0; i + 1 < l->depth; i++) {
        const mc_level *at = &l->stack[i];
        if (at->v->type == MC_OBJECT && mc_names_tower(at->v->u.fields[at->next - 1].key))
            return true;
    }
    return false;
}

bool mc_names_tower(mc_str name)
{
    static const char *const words[] = {
        "vision", "visual", "image", "audio", "speech", "video", "qformer", "tower", "projector", "resampler", "perceiver",
        "talker", "code2wav", "token2wav", "tts", "vit.", "vit_", NULL,
    };
    return mc_str_contains_any_nocase(name, words);
}
