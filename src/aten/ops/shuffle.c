/* Copies with the same elements in another order: rolled, flipped, rotated, moved between channels
 * and space. */
#include "aten/ops/geometry.h"
#include "kernel/conv/pad.h"

/* ---- roll, flip, rotate ---- */

static cq_status flip_shape(cq_opcall *c)
{
    int64_t  dims[CQ_MAX_RANK];
    uint64_t mask = cq_arg_dims(c, "dims", cq_arg_tensor(c, "self")->rank);
    size_t   n    = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK);

    if (n && (size_t)__builtin_popcountll(mask) != n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "dims must be different");
    return cq_shape_of_self(c);
}

static cq_status flip_run(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int64_t    dims[CQ_MAX_RANK];
    bool       none = cq_arg_i64s(c, "dims", dims, CQ_MAX_RANK) == 0;

    return cq_kernel_flip(cq_result_tensor(c, 0), self,
                          none ? 0 : cq_arg_dims(c, "dims", self->rank));
}

const cq_op_def cq_ops_shuffle[] = {
    CQ_KERNEL("aten::flip(Tensor self, int[] dims) -> Tensor", "dimensions in reverse order",
              flip_shape, flip_run),
    { 0 },
};
