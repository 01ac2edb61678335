/* Results whose sizes depend on data: what their shape rules share. */
#ifndef CQ_ATEN_OPS_SELECT_H
#define CQ_ATEN_OPS_SELECT_H

#include "aten/core/ctx.h"

/* How many elements of t are not zero, times: a number if t has data, else a size that the
 * run will tell, whose example is the example's number if that can be had. */
cq_status cq_count_true(cq_int *out, cq_opcall *c, cq_tensor *t, int64_t times);

/* Refuses negative indices: other than x[index], most operators do not count from the end. */
cq_status cq_check_not_negative(cq_opcall *c, const cq_tensor *index);

#endif
