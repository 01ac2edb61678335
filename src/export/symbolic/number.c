/* Numbers as tensors. */
#include "export/symbolic.h"

static cq_status num_to_tensor(cq_sym *s)
{
    return cq_sym_done(s, cq_sym_in_as(s, "a", cq_sym_result_type(s, 0).dtype));
}

const cq_symbolic cq_symbolics_number[] = {
    { "prim::NumToTensor", 7, .fn = num_to_tensor },
    { 0 },
};
