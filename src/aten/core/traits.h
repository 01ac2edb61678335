/* Reading the traits of operators (op.h) from decorators and declarations of lib/aten. */
#ifndef CQ_ATEN_CORE_TRAITS_H
#define CQ_ATEN_CORE_TRAITS_H

#include "aten/core/op.h"
#include "lang/library.h"

/* Adds what the keys of d say; a value that is not known is an error. Other keys are ignored. */
cq_status cq_op_traits_read(cq_op_traits *traits, const cq_decorator *d);

#endif
