/* A first family, so that the table is not empty. */
#include "aten/ctx.h"

const cq_op_def cq_ops_pointwise[] = { { 0 } };
