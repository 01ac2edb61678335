/* Reductions. ONNX Runtime reduces float32, float64, int32 and int64; others are converted
 * and back. Variances are computed by their definition, with the number of elements read off
 * the shape when it is not fixed. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* The sum of squares by max(n - correction, 0): 0 by 0 is NaN, as in PyTorch. Of nothing, the mean
 * is NaN too. */
#define VARIANCE(root) \
    "x = widen(self); n = reduced_count(); less = given(correction, given(unbiased, 1));" \
    "mean = reduce('ReduceMean', x, True); d = sized(x - mean, x); square = d * d;" \
    "rest = (n - less if n > less else 0) if fixed(n) else Max(cast(n, dtype(x)) - less, 0);" \
    "y = reduce('ReduceMean', square) if less == 0 and n != 0 else" \
    " reduce('ReduceSum', square) / rest;" \
    root
#define MEAN \
    ", reduce('ReduceSum', x) / 0 if n == 0 else" \
    " mean if given(keepdim, False) else Squeeze(mean, reduced_axes())"

#define IN_RESULT_DTYPE "computable(cast(self, result_dtype()))"
#define COUNT(truth) "reduce('ReduceSum', cast(" truth ", 'int64'))"

/* Bytes came to ReduceMax with opset 12; int32 holds all that is smaller. */
#define COMPARABLE \
    "x = widen(self) if is_float(self) or dtype(self) == 'int64' else cast(self, 'int32');"

/* Where the extreme is, along one axis. Only floats and int32 are sure to be there. */
#define PLACE(op, axis, keep, x) \
    op "<axis = " axis ", keepdims = " keep ">" \
    "(cast(" x ", 'float64') if dtype(" x ") == 'int64' else " x ")"

/* A tensor without dimensions is its own extreme, at place 0. */
#define WITH_PLACE(op, arg_op) \
    COMPARABLE \
    "self if rank(self) == 0 else reduce('" op "', x)," \
    "cast(0, 'int64') if rank(self) == 0 else " PLACE(arg_op, "axis(dim, self)", "keepdim", "x")

#define ARG(op) \
    COMPARABLE \
    "flat = Reshape(x, [-1]);" \
    "first = " PLACE(op, "0", "0", "flat") ";" \
    "cast(0, 'int64') if rank(self) == 0 else " \
    PLACE(op, "axis(dim, self)", "keepdim", "x") " if dim is not None else " \
    "as_result(first) if keepdim else first"

#define NORM \
    "x = widen(cast(self, result_dtype()));" \
    "cast(" COUNT("cast(x, 'bool')") ", dtype(x)) if p == 0 else " \
    "Abs(x) if rank(x) == 0 else " \
    "reduce('ReduceMax', Abs(x)) if p == inf else " \
    "reduce('ReduceMin', Abs(x)) if p == -inf else " \
    "reduce('ReduceL1', x) if p == 1 else " \
    "reduce('ReduceL2', x) if p == 2 else " \
    "Pow(reduce('ReduceSum', Pow(Abs(x), p)), 1 / p)"
/* clang-format on */

const cq_symbolic cq_symbolics_reduce[] = {
    { "aten::sum", 7, .as = "reduce('ReduceSum', " IN_RESULT_DTYPE ")" },
    /* The mean of nothing is NaN; ONNX Runtime says 0. */
    { "aten::mean", 7,
      .as = "reduce('ReduceMean', " IN_RESULT_DTYPE ") if reduced_count() != 0 else"
            " Div(reduce('ReduceSum', widen(cast(self, result_dtype()))), 0)" },
    { "aten::prod", 7, .as = "reduce('ReduceProd', " IN_RESULT_DTYPE ")" },
    { "aten::var", 7, .as = VARIANCE("y") },
    { "aten::std", 7, .as = VARIANCE("Sqrt(y)") },
    { "aten::var_mean", 7, .as = VARIANCE("y") MEAN },
    { "aten::std_mean", 7, .as = VARIANCE("Sqrt(y)") MEAN },
    { "aten::max", 7, .as = COMPARABLE "reduce('ReduceMax', x)" },
    { "aten::max.dim", 7, .as = WITH_PLACE("ReduceMax", "ArgMax") },
    { "aten::min", 7, .as = COMPARABLE "reduce('ReduceMin', x)" },
    { "aten::min.dim", 7, .as = WITH_PLACE("ReduceMin", "ArgMin") },
    { "aten::amax", 7, .as = COMPARABLE "reduce('ReduceMax', x)" },
    { "aten::amin", 7, .as = COMPARABLE "reduce('ReduceMin', x)" },
    /* A number along its dimension 0, kept, is a row of one. */
    { "aten::aminmax", 7,
      .as = COMPARABLE "as_result(reduce('ReduceMin', x)), as_result(reduce('ReduceMax', x), 1)" },
    { "aten::argmax", 7, .as = ARG("ArgMax") },
    { "aten::argmin", 7, .as = ARG("ArgMin") },
    { "aten::all", 7, .as = "Equal(" COUNT("Not(cast(self, 'bool'))") ", 0)" },
    { "aten::any", 7, .as = "Not(Equal(" COUNT("cast(self, 'bool')") ", 0))" },
    { "aten::count_nonzero", 7, .as = COUNT("cast(self, 'bool')") },
    /* With the greatest element taken out first, so that nothing overflows. It is not infinite
     * then: inf - inf would be no number. */
    { "aten::logsumexp", 7,
      .as = "x = widen(cast(self, result_dtype()));"
            "top = Clip(reduce('ReduceMax', x, True), -3e38, 3e38);"
            "y = Log(reduce('ReduceSum', Exp(x - top), True)) + top;"
            "y if keepdim else Squeeze(y, reduced_axes())" },
    { "aten::norm", 7, .as = "p = given(p, 2);" NORM },
    { "aten::linalg_vector_norm", 7, .as = "p = given(ord, 2);" NORM },
    { 0 },
};
