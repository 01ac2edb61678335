/* Results whose sizes depend on data: what their shape rules share. */
#ifndef CQ_ATEN_OPS_SELECT_H
#define CQ_ATEN_OPS_SELECT_H

#include "aten/core/ctx.h"

/* The number of nonzero elements of t, times: a number if t has data, otherwise a data-dependent
 * size, whose example value is that of the example if available. */
cq_status cq_count_true(cq_int *out, cq_opcall *c, cq_tensor *t, int64_t times);

/* Refuses negative indices: other than x[index], most operators do not count from the end. */
cq_status cq_check_not_negative(cq_opcall *c, const cq_tensor *index);

#endif
