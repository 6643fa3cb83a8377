/* shape_config.h - reading the configuration for a shape. Private to floor. */
#ifndef MODELCHECK_FLOOR_SHAPE_CONFIG_H
#define MODELCHECK_FLOOR_SHAPE_CONFIG_H
#include "floor/shape_build.h"

typedef struct {
    const mc_model *m;
    mc_kb          *kb;
    mc_arena       *a;
    mc_shape       *s;
    const mc_value *root, *text;    /* the configuration, and its block about the language model */
    const mc_value *family;         /* of rules/families/; NULL: not known */
    mc_str          at, cls;        /* pointer of the block; class whose defaults hold */
    uint32_t        file;
    uint64_t        layers;
    char           *letters;        /* [layers] the kind of each layer, see shape_layers.c */
    uint64_t        shared, share_factor; /* the last n layers read the cache of others; all but every n-th do; 0: none */
    uint64_t        index_freq, index_skip; /* index keys on the first layers and then on every n-th; freq 0: on all */
} mc_look;

typedef enum {
    MC_NUM_ABSENT,              /* neither the file nor the class has it */
    MC_NUM_NULL,                /* the file says null */
    MC_NUM_BAD,                 /* the file has something that is no number >= 0 */
    MC_NUM_SET, MC_NUM_CLASS    /* v, from the file or from the class */
} mc_num_state;
typedef struct { mc_num_state state; uint64_t v; mc_origin from; } mc_num;

/* The first of the names (divided by spaces; "/a/b" is a pointer) that the file gives, else the default of the class. A key
 * that is null takes the rule of a null default ("=num_attention_heads"), not the default. */
mc_num          mc_look_number(const mc_look *l, const char *names);
bool            mc_num_known(mc_num n);
mc_num          mc_num_of(mc_int fact);                                  /* a fact of mc_arch */
const mc_value *mc_look_value(const mc_look *l, mc_str name);            /* of the file, "/a/b" too; NULL if absent */
bool            mc_look_flag(const mc_look *l, const char *key);         /* of the file, else of the class, else false */
mc_str          mc_look_where(const mc_look *l, mc_str key);             /* JSON pointer of a key of the block */
void            mc_look_from(const mc_look *l, mc_sources *s, mc_num n);
/* A member of the family that is a key name, a list of names or absent: the number, with `fallback` names. */
mc_num          mc_look_member(const mc_look *l, const mc_value *spec, const char *member, const char *fallback);

/* Letters: F full, S window, C chunk, X indexed, x indexed with the index of another layer, L recurrent, H attention and
 * recurrent, h the same with a window, v convolution, m nothing. False with a reason when some layer's kind is not known. */
bool mc_look_letters(mc_look *l);
void   mc_keep_grouped(mc_look *l, uint64_t layer, char letter);
void   mc_keep_latent(mc_look *l, uint64_t layer, char letter);
void   mc_keep_index(mc_look *l, uint64_t layer);
mc_num mc_look_window(const mc_look *l);
mc_num mc_look_width(const mc_look *l);                                  /* of a head; hidden / heads where nothing gives it */
void mc_look_state(mc_look *l, uint64_t layer, bool windowed);           /* the recurrent or convolution state of a layer */
bool mc_config_special(mc_look *l);                                      /* compressed, encoder-decoder, mllama: true: done */

#endif
