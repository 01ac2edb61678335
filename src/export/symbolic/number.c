/* Numbers as tensors. */
#include "export/symbolic/symbolic.h"

const cq_symbolic cq_symbolics_number[] = {
    { "prim::NumToTensor", 7, .as = "cast(a, result_dtype())" },
    { 0 },
};
