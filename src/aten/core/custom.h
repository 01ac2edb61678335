/* Custom functions as operators. */
#ifndef CQ_ATEN_CORE_CUSTOM_H
#define CQ_ATEN_CORE_CUSTOM_H

#include "aten/core/op.h"

#include <calque/function.h>

/* The function of an operator, NULL if it is an ordinary one. */
const cq_function *cq_op_function(const cq_op *op);

#endif
