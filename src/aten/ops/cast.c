/* Conversions of dtype, device and handle. A tensor that already has the requested properties is
 * returned itself, as in PyTorch. */
#include "aten/core/ctx.h"

/* Whether the result is self. */
static bool is_already(const cq_opcall *c, const cq_tensor *self)
{
    return cq_arg_dtype(c, "dtype", self->dtype) == self->dtype && !cq_arg_bool(c, "copy");
}

static cq_status to_shape(cq_opcall *c)
{
    cq_tensor *self = c->args[0].u.tensor;

    if (is_already(c, self))
        cq_result_set_tensor(c, 0, self);
    else
        cq_result_like(c, 0, self, cq_arg_dtype(c, "dtype", self->dtype));
    return c->cx->status;
}

static cq_status to_run(cq_opcall *c)
{
    cq_tensor *self = c->args[0].u.tensor;

    return is_already(c, self) ? CQ_OK : cq_tensor_copy_into(cq_result_tensor(c, 0), self);
}

/* ---- copies ---- */

static cq_status clone_run(cq_opcall *c)
{
    return cq_tensor_copy_into(cq_result_tensor(c, 0), c->args[0].u.tensor);
}

enum { CONTIGUOUS_FORMAT, PRESERVE_FORMAT };

/* Channels-last is an order in memory, not of dimensions. It makes a copy here; later operators do
 * not depend on it. */
static bool needs_copy(const cq_opcall *c)
{
    return cq_arg_i64(c, "memory_format") > PRESERVE_FORMAT ||
           !cq_tensor_is_contiguous(c->args[0].u.tensor);
}

static cq_status contiguous_shape(cq_opcall *c)
{
    if (!needs_copy(c)) {
        cq_result_set(c, 0, c->args[0]);
        return CQ_OK;
    }
    return cq_shape_of_self(c);
}

static cq_status contiguous_run(cq_opcall *c)
{
    return needs_copy(c) ? clone_run(c) : CQ_OK;
}

/* ---- the same memory ---- */

static cq_status same_view(cq_opcall *c)
{
    cq_tensor *self = c->args[0].u.tensor;

    return cq_result_view(c, 0, self, self->rank, self->sizes, self->strides, self->offset);
}

/* The variants of to.dtype: dtype as an argument, that of other, or fixed by the row. */
#define SAME(schema_text, text) CQ_VIEW(schema_text, text, same_view)

const cq_op_def cq_ops_cast[] = {
    CQ_KERNEL("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
              "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
              "conversion to another dtype", to_shape, to_run),

    CQ_KERNEL("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "a copy",
              cq_shape_of_self, clone_run),
    CQ_KERNEL("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
              "the tensor in contiguous memory", contiguous_shape, contiguous_run),
    SAME("aten::detach(Tensor(a) self) -> Tensor(a)", "the same memory without gradient history"),
    SAME("aten::alias(Tensor(a) self) -> Tensor(a)", "the same memory"),
    SAME("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", "the same tensor"),
    SAME("aten::data(Tensor self) -> Tensor", "the same memory without gradient history"),
    { 0 },
};
