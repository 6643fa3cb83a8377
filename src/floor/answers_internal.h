/* answers_internal.h - the halves of answers.c. Private to floor. */
#ifndef MODELCHECK_FLOOR_ANSWERS_INTERNAL_H
#define MODELCHECK_FLOOR_ANSWERS_INTERNAL_H
#include "floor/answers.h"

void mc_answer_levers(const mc_question *q, mc_arena *a, mc_answers *out);   /* levers.c, needs what_if */
void mc_answer_what_if(const mc_question *q, mc_answers *out);               /* what_if.c */
void mc_answer_estimates(const mc_question *q, mc_answers *out);             /* estimates.c */
mc_str mc_answer_precision(const mc_question *q, mc_arena *a);               /* how the weights are stored now: "bf16", "4.2 bits" */

#endif
