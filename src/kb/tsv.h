/* tsv.h - look-up in an embedded table whose lines are sorted bytewise by their first field. Private to kb.
 * Nothing is parsed at start-up: the text is searched by halves where it lies. Comment lines begin with '#' and stand
 * first, which is also where they sort. */
#ifndef MODELCHECK_KB_TSV_H
#define MODELCHECK_KB_TSV_H
#include "base/base.h"

/* Offset of the first line whose first field is `key`; table.n if there is none. */
size_t mc_tsv_find(mc_span table, mc_str key);
/* The line at an offset, without its newline; *next is where the following one begins. */
mc_str mc_tsv_line(mc_span table, size_t at, size_t *next);
/* Field i of a line, from 0; "" beyond the last. */
mc_str mc_tsv_field(mc_str line, unsigned i);

#endif
