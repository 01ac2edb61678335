/* Complex tensors: most operators see pairs of real numbers. */
#ifndef CQ_ATEN_CORE_COMPLEX_H
#define CQ_ATEN_CORE_COMPLEX_H

#include "aten/core/ctx.h"

/* Runs a call with complex arguments; NULL: the operator does not support them. */
typedef cq_status cq_complex_rule(cq_opcall *c);
cq_complex_rule  *cq_complex_rule_of(const cq_op *op);

/* Whether a row accepts complex tensors directly: it is a view, or reads no element. */
bool cq_takes_complex(const cq_op *op);

#endif
