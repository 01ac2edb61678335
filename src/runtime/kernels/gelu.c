#include "runtime/kernels/gelu.h"

#include "kernel/matrix/gelu.h"

const cq_ew_op cq_rt_gelu_ops[2] = { CQ_EW_GELU, CQ_EW_GELU_TANH };

/* The constants of the pattern are float32, so x is float32 too. */
static cq_status gelu(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_tensor       *y;

    if (!x || x->dtype != CQ_DTYPE_F32)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a tensor of float32");
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    return cq_kernel_gelu(y, x, *(const cq_ew_op *)rt->step->prepared == CQ_EW_GELU_TANH);
}

const cq_rt_row cq_rt_row_gelu = { "Gelu", 1, gelu, CQ_RT_OWN | CQ_RT_OVER_0, 0 };
