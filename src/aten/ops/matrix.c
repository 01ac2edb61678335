/* Diagonals, powers, determinants and inverses of matrices, and statistics that are matrices;
 * composed of products and reductions. */
#include "aten/core/ctx.h"
#include "kernel/matrix/det.h"

/* ---- determinants ---- */

static cq_status det_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;

    if (x->rank < 2 || x->sizes[x->rank - 1].value != x->sizes[x->rank - 2].value)
        return cq_call_fail(c, CQ_E_TYPE, "expected square matrices");
    if (x->dtype != CQ_DTYPE_F32 && x->dtype != CQ_DTYPE_F64)
        return cq_call_fail(c, CQ_E_TYPE, "expected float32 or float64, got %s",
                            cq_dtype_name(x->dtype));
    return cq_result(c, 0, x->dtype, x->rank - 2, x->sizes);
}

static cq_status det_run(cq_opcall *c)
{
    return cq_kernel_det(cq_result_tensor(c, 0), c->args[0].u.tensor);
}

const cq_op_def cq_ops_matrix[] = {
    CQ_KERNEL("aten::linalg_det(Tensor A) -> Tensor", "determinants", det_shape, det_run),
    { 0 },
};
