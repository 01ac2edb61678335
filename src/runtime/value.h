/* Public values are handles of cq_val. */
#ifndef CQ_RUNTIME_VALUE_H
#define CQ_RUNTIME_VALUE_H

#include "tensor/text.h"

#include <calque/session.h>

struct cq_onnx_value {
    atomic_int refs;
    cq_val     v; /* owned: a tensor, texts, a list of such, or NONE */
};

/* Takes ownership of v, also on failure. */
cq_status cq_onnx_value_new(cq_onnx_value **out, cq_val v);

#endif
