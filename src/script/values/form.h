/* The form of a value: which parts are tensors, lists of data-dependent length, optionals. A
 * loop-carried value has one form in every iteration. */
#ifndef CQ_SCRIPT_VALUES_FORM_H
#define CQ_SCRIPT_VALUES_FORM_H

#include "script/eval.h"

/* Whether b can be converted to the form of a. */
bool cq_form_is_same(cq_eval *ev, cq_val a, cq_val b);

/* a in a form to which b can be converted too: a list that grows becomes a sequence, a value that
 * is None at one time an optional. Only the form of b is inspected, because its tensors are in a
 * block inside of outside. Fails at the span if there is no common form. */
cq_status cq_form_common(cq_eval *ev, const cq_span *at, const cq_block *outside, cq_val a,
                         cq_val b, cq_val *out);

#endif
