/* The form of a value: which parts are tensors, lists of data-dependent length, optionals. A
 * loop-carried value has one form in every iteration. */
#ifndef CQ_SCRIPT_VALUES_FORM_H
#define CQ_SCRIPT_VALUES_FORM_H

#include "script/eval.h"

/* Whether b can be converted to the form of a without changing that form. */
bool cq_form_is_same(cq_eval *ev, cq_val a, cq_val b);

/* a in a form that also fits b: a list that grows becomes a sequence, a value that is None once an
 * optional. Of b, whose tensors are in a block inside of outside, only the form is used. Fails at
 * the span if there is no such form. */
cq_status cq_form_common(cq_eval *ev, const cq_span *at, const cq_block *outside, cq_val a,
                         cq_val b, cq_val *out);

#endif
