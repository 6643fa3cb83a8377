/* What the tokenizer's side files say: eos_token, and the added tokens that tokenizer.json does not list.
 * Names of tokens stand in tokenizer_config.json and special_tokens_map.json, as a string or as {"content": ...};
 * ids in added_tokens.json ({"text": id}) and in added_tokens_decoder ({"id": {"content", "special"}}). */
#include "scan/scan.h"

static mc_str token_text(const mc_value *v)
{
    return mc_as_str(mc_is(v, MC_OBJECT) ? mc_get(v, "content") : v);
}

void mc_tokens_eos(mc_model *m)
{
    static const mc_role roles[] = { MC_ROLE_TOKENIZER_CONFIG, MC_ROLE_SPECIAL_TOKENS };
    for (size_t i = 0; i < MC_COUNT(roles) && !m->tokens.eos.known; i++) {
        const mc_doc *d = mc_model_doc(m, 0, roles[i]);
        mc_str        text = token_text(d ? mc_get(d->root, "eos_token") : NULL);
        if (text.n)
            m->tokens.eos = (mc_text){ true, text, mc_from_doc(d, MC_STR("/eos_token")) };
    }
}

/* Texts that tokenizer.json calls special. */
static bool special_texts(const mc_model *m, mc_strset *set)
{
    if (!mc_strset_init(set, m->arena, m->tokens.n_added))
        return false;
    for (size_t i = 0; i < m->tokens.n_added; i++)
        if (m->tokens.added[i].special)
            (void)mc_strset_add(set, m->tokens.added[i].text, NULL);
    return true;
}

static void read_decoder(mc_model *m)
{
    const mc_doc   *d = mc_model_doc(m, 0, MC_ROLE_TOKENIZER_CONFIG);
    const mc_value *map = d ? mc_get(d->root, "added_tokens_decoder") : NULL;
    for (size_t i = 0; mc_is(map, MC_OBJECT) && i < map->n; i++) {
        const mc_field *f = &map->u.fields[i];
        mc_token        t = { .text = token_text(f->value), .file = d->file };
        uint64_t        id;
        if (!t.text.n || !mc_str_u64(f->key, &id) || id > INT64_MAX)
            continue;
        t.id = (int64_t)id;
        if (!mc_as_bool(mc_get(f->value, "special"), &t.special))
            t.special = false;
        if (!mc_token_add(m->arena, &m->tokens, t))
            return;
    }
}

static void read_added(mc_model *m)
{
    const mc_doc   *d = mc_model_doc(m, 0, MC_ROLE_ADDED_TOKENS);
    const mc_value *map = d ? d->root : NULL;
    mc_strset       special;
    if (!mc_is(map, MC_OBJECT) || !special_texts(m, &special))
        return;
    for (size_t i = 0; i < map->n; i++) {
        mc_token t = { .text = map->u.fields[i].key, .file = d->file };
        if (!mc_as_int(map->u.fields[i].value, &t.id) || t.id < 0)
            continue;
        t.special = mc_strset_find(&special, t.text) != MC_NO_ID;
        if (!mc_token_add(m->arena, &m->tokens, t))
            return;
    }
}

void mc_tokens_from_docs(mc_model *m)
{
    mc_tokens *t = &m->tokens;
    mc_tokens_eos(m);
    read_added(m);
    read_decoder(m);
    for (size_t i = 0; i < t->n_added && t->eos.known && !t->eos_id.known; i++)
        if (mc_str_eq(t->added[i].text, t->eos.v))
            t->eos_id = (mc_int){ true, t->added[i].id, { t->added[i].file, MC_STR("") } };
}
