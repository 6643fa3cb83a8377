/* regex_parse.h - what the parser of regular expressions hands to the automaton. Private to regex.c and regex_parse.c. */
#ifndef MODELCHECK_MODEL_REGEX_PARSE_H
#define MODELCHECK_MODEL_REGEX_PARSE_H
#include "model/regex.h"

enum { MC_RX_TOKENS = 1024, MC_RX_LONGEST = 1024, MC_RX_DEEPEST = 32, MC_RX_REPEATS = 16, MC_RX_CLASSES = 64 };

/* What one position accepts. END stands for '$': a symbol behind the last byte. */
typedef enum { SYM_BYTE, SYM_ANY, SYM_CLASS, SYM_END } mc_rx_kind;
typedef struct { uint8_t kind, byte; uint16_t cls; } mc_rx_symbol;
typedef struct { uint64_t w[4]; } mc_rx_bytes;

typedef enum { T_SYMBOL, T_EMPTY, T_CONCAT, T_ALT, T_STAR, T_PLUS, T_OPT } mc_rx_token_kind;
typedef struct { uint8_t kind; mc_rx_symbol s; } mc_rx_token;
typedef struct { size_t alts, atoms, start; } mc_rx_group;

typedef struct {
    mc_str   p;
    size_t   i;
    mc_rx_token out[MC_RX_TOKENS];
    size_t   n;
    mc_rx_group stack[MC_RX_DEEPEST];
    size_t   depth;
    size_t   operand;               /* where the last operand begins in `out` */
    bool     can_repeat;            /* there is an operand, and it has no repetition yet */
    mc_rx_bytes classes[MC_RX_CLASSES];
    size_t   n_classes;
    bool     bad;
} mc_rx_parser;

/* The pattern p->p in postfix order, in p->out. False: outside the supported subset. */
bool mc_rx_postfix(mc_rx_parser *p);

#endif
