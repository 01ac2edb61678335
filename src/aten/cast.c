/* The same numbers in another dtype, another place, another handle. A tensor that already
 * is what is asked for is returned itself, as in PyTorch. */
#include "aten/ctx.h"

/* The result is self itself. */
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

/* Channels-last is an order in memory, not of dimensions: it makes a copy here, and what
 * follows does not see the difference. */
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

/* The many ways to say to.dtype: dtype as an argument, of other, or named by the row. */
#define TO(text_of_schema, code)                                                                   \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = "in another dtype", .body = code,              \
        .flags = CQ_OP_PARTS                                                                       \
    }
#define CAST(name, dtype)                                                                          \
    TO("_cast_" name "(Tensor self, bool non_blocking=False) -> Tensor",                           \
       "to.dtype(self, torch." dtype ")")
#define DTYPE_OR(other)         "(" other " if dtype is None else dtype)"
#define SAME(schema_text, text) CQ_VIEW(schema_text, text, same_view, "self: changed")
#define SELF(text_of_schema, text)                                                                 \
    {                                                                                              \
        .schema = "aten::" text_of_schema, .about = text, .body = "self", .flags = CQ_OP_PARTS     \
    }

const cq_op_def cq_ops_cast[] = {
    TO("to.device(Tensor(a) self, Device device, ScalarType dtype, bool non_blocking=False, bool "
       "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
       "to.dtype(self, dtype, False, copy)"),
    CQ_KERNEL("aten::to.dtype(Tensor(a) self, ScalarType dtype, bool non_blocking=False, bool "
              "copy=False, MemoryFormat? memory_format=None) -> Tensor(a)",
              "in another dtype", to_shape, to_run),
    TO("to.other(Tensor(a) self, Tensor other, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? memory_format=None) -> Tensor(a)",
       "to.dtype(self, other.dtype, False, copy)"),
    TO("to.dtype_layout(Tensor(a) self, *, ScalarType? dtype=None, Layout? layout=None, Device? "
       "device=None, bool? pin_memory=None, bool non_blocking=False, bool copy=False, "
       "MemoryFormat? "
       "memory_format=None) -> Tensor(a)",
       "to.dtype(self, " DTYPE_OR("self.dtype") ", False, copy)"),
    TO("to.prim_Device(Tensor(a) self, Device? device, int? dtype=None, bool non_blocking=False, "
       "bool copy=False) -> Tensor(b|a)",
       "to.dtype(self, " DTYPE_OR("self.dtype") ", False, copy)"),
    TO("to.prim_dtype(Tensor(a) self, int? dtype=None, bool non_blocking=False, bool copy=False) "
       "-> "
       "Tensor(b|a)",
       "to.dtype(self, " DTYPE_OR("self.dtype") ", False, copy)"),
    TO("to.prim_other(Tensor(a) self, bool non_blocking=False, bool copy=False) -> Tensor(b|a)",
       "to.dtype(self, self.dtype, False, copy)"),
    TO("_to_copy(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
       "bool? pin_memory=None, bool non_blocking=False, MemoryFormat? memory_format=None) -> "
       "Tensor",
       "to.dtype(self, " DTYPE_OR("self.dtype") ", False, True)"),
    TO("type_as(Tensor self, Tensor other) -> Tensor", "to.dtype(self, other.dtype)"),
    CAST("Byte", "uint8"),
    CAST("Char", "int8"),
    CAST("Double", "float64"),
    CAST("Float", "float32"),
    CAST("Int", "int32"),
    CAST("Long", "int64"),
    CAST("Short", "int16"),
    CAST("Half", "float16"),

    CQ_KERNEL("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", "a copy",
              cq_shape_of_self, clone_run),
    CQ_KERNEL("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
              "in one piece of memory", contiguous_shape, contiguous_run),
    SAME("aten::detach(Tensor(a) self) -> Tensor(a)", "the same memory without history"),
    SAME("aten::alias(Tensor(a) self) -> Tensor(a)", "the same memory"),
    SAME("aten::lift_fresh(Tensor(a) self) -> Tensor(a)", "itself"),
    SAME("aten::data(Tensor self) -> Tensor", "the same memory without history"),
    SELF("lift(Tensor self) -> Tensor", "itself"),
    SELF("positive(Tensor(a) self) -> Tensor(a)", "itself"),
    SELF("cpu(Tensor(a) self) -> Tensor(b|a)", "itself"),
    SELF("cuda(Tensor(a) self) -> Tensor(b|a)", "itself: there is no other device here"),
    CQ_BODY("aten::chalf(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor",
            "as complex numbers of two float16", "self.to(torch.complex32)"),
    SELF("resolve_conj(Tensor(a) self) -> Tensor(a)", "itself"),
    SELF("resolve_neg(Tensor(a) self) -> Tensor(a)", "itself"),
    SELF("resolve_neg(Tensor(a) self) -> Tensor(a)", "itself"),
    CQ_PARTS("aten::as_tensor(Tensor(a) data, *, ScalarType? dtype=None, Device? device=None) -> "
             "Tensor(b|a)",
             "itself, or in another dtype", "to.dtype(data, " DTYPE_OR("data.dtype") ")"),
    { 0 }
};
