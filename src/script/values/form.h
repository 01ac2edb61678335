/* The form of a value: what is a tensor in it, what a list of unknown length, what may be None.
 * What a loop carries has one form in every round. */
#ifndef CQ_SCRIPT_VALUES_FORM_H
#define CQ_SCRIPT_VALUES_FORM_H

#include "script/eval.h"

/* Whether b can be put into the form of a without changing that. */
bool cq_form_is_same(cq_eval *ev, cq_val a, cq_val b);

/* a in a form that b can be put into as well: a list that grows becomes a sequence, what is None
 * once an optional. Of b, whose tensors are of a block inside of outside, only the form is looked
 * at. Fails at the span if there is no such form. */
cq_status cq_form_common(cq_eval *ev, const cq_span *at, const cq_block *outside, cq_val a,
                         cq_val b, cq_val *out);

#endif
