/* Numbers as tensors. */
#include "aten/core/ctx.h"

static cq_dtype dtype_of(cq_val v)
{
    return v.kind == CQ_VAL_INT    ? CQ_DTYPE_I64
           : v.kind == CQ_VAL_BOOL ? CQ_DTYPE_BOOL
                                   : CQ_DTYPE_F64;
}

static cq_status num_to_tensor_shape(cq_opcall *c)
{
    return cq_result(c, 0, dtype_of(cq_arg_val(c, "a")), 0, NULL);
}

static cq_status num_to_tensor_run(cq_opcall *c)
{
    cq_val     v = cq_arg_val(c, "a");
    cq_tensor *t = cq_result_tensor(c, 0);

    switch (v.kind) {
    case CQ_VAL_INT: *(int64_t *)cq_tensor_bytes(t) = v.u.i.value; break;
    case CQ_VAL_BOOL: *(bool *)cq_tensor_bytes(t) = v.u.b.value; break;
    default: *(double *)cq_tensor_bytes(t) = cq_arg_f64(c, "a"); break;
    }
    return CQ_OK;
}

const cq_op_def cq_ops_number[] = {
    CQ_KERNEL("prim::NumToTensor.Scalar(Scalar a) -> Tensor",
              "a number as a 0-d tensor of int64, float64 or bool", num_to_tensor_shape,
              num_to_tensor_run),
    { 0 },
};
