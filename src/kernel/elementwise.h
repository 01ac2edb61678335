/* Element-wise arithmetic on one, two or three broadcast operands of any dtype and strides.
 *
 *     cq_apply1(out, CQ_EW_TANH, NULL, CQ_DTYPE_NONE, x);
 *     cq_apply2(out, CQ_EW_ADD, NULL, CQ_DTYPE_NONE, a, b);
 *     cq_apply1(out, CQ_EW_CLAMP, &(cq_params){ .a = 0, .b = 6, .ib = 6 }, CQ_DTYPE_NONE, x);
 *     cq_apply3(out, CQ_EW_WHERE, NULL, out->dtype, condition, a, b);
 *
 * out has the broadcast shape already and any dtype; it may be an operand, not overlap one
 * otherwise. Operands are converted to the compute dtype, whose arithmetic decides: float for half
 * types, int64 for integers and bool. Results are converted to out's dtype, so integers wrap at its
 * width. CQ_DTYPE_NONE as compute dtype is the operands' promoted one. The meaning of each
 * operation, down to NaN, infinities, signs of zero and rounding, is PyTorch's on a CPU. Complex
 * numbers are not supported. */
#ifndef CQ_KERNEL_ELEMENTWISE_H
#define CQ_KERNEL_ELEMENTWISE_H

#include "tensor/tensor.h"

/* Parameters of an operation: as real numbers, and as integers for integer arithmetic. NULL means a
 * = ia = 1. */
typedef struct cq_params {
    double  a, b, c;
    int64_t ia, ib;
} cq_params;

/* id, name, number of operands. The comments give the meaning of params. */
#define CQ_EW_OPS(X)                                                                               \
    X(NEG, "neg", 1)                                                                               \
    X(ABS, "abs", 1)                                                                               \
    X(SQRT, "sqrt", 1)                                                                             \
    X(RSQRT, "rsqrt", 1)                                                                           \
    X(EXP, "exp", 1)                                                                               \
    X(EXP2, "exp2", 1)                                                                             \
    X(EXPM1, "expm1", 1)                                                                           \
    X(LOG, "log", 1)                                                                               \
    X(LOG2, "log2", 1)                                                                             \
    X(LOG10, "log10", 1)                                                                           \
    X(LOG1P, "log1p", 1)                                                                           \
    X(SIN, "sin", 1)                                                                               \
    X(COS, "cos", 1)                                                                               \
    X(TAN, "tan", 1)                                                                               \
    X(ASIN, "asin", 1)                                                                             \
    X(ACOS, "acos", 1)                                                                             \
    X(ATAN, "atan", 1)                                                                             \
    X(SINH, "sinh", 1)                                                                             \
    X(COSH, "cosh", 1)                                                                             \
    X(TANH, "tanh", 1)                                                                             \
    X(ASINH, "asinh", 1)                                                                           \
    X(ACOSH, "acosh", 1)                                                                           \
    X(ATANH, "atanh", 1)                                                                           \
    X(SIGMOID, "sigmoid", 1)                                                                       \
    X(LOG_SIGMOID, "log_sigmoid", 1)                                                               \
    X(ERF, "erf", 1)                                                                               \
    X(ERFC, "erfc", 1)                                                                             \
    X(ERFINV, "erfinv", 1)                                                                         \
    X(LGAMMA, "lgamma", 1)                                                                         \
    X(DIGAMMA, "digamma", 1)                                                                       \
    X(FLOOR, "floor", 1)                                                                           \
    X(CEIL, "ceil", 1)                                                                             \
    X(ROUND, "round", 1) /* halves to even */                                                      \
    X(TRUNC, "trunc", 1)                                                                           \
    X(FRAC, "frac", 1)                                                                             \
    X(SIGN, "sign", 1)                                                                             \
    X(SIGNBIT, "signbit", 1)                                                                       \
    X(RECIPROCAL, "reciprocal", 1)                                                                 \
    X(SQUARE, "square", 1)                                                                         \
    X(CUBE, "cube", 1)                                                                             \
    X(RELU, "relu", 1)                                                                             \
    X(LOGICAL_NOT, "logical_not", 1)                                                               \
    X(BITWISE_NOT, "bitwise_not", 1) /* on 0 and 1 when the compute dtype is bool */               \
    X(ISNAN, "isnan", 1)                                                                           \
    X(ISINF, "isinf", 1)                                                                           \
    X(ISPOSINF, "isposinf", 1)                                                                     \
    X(ISNEGINF, "isneginf", 1)                                                                     \
    X(ISFINITE, "isfinite", 1)                                                                     \
    X(LEAKY_RELU, "leaky_relu", 1) /* a: slope */                                                  \
    X(ELU, "elu", 1)               /* a: alpha, b: scale, c: input scale */                        \
    X(GELU, "gelu", 1)                                                                             \
    X(GELU_TANH, "gelu_tanh", 1)                                                                   \
    X(SILU, "silu", 1)                                                                             \
    X(MISH, "mish", 1)                                                                             \
    X(CLAMP, "clamp", 1) /* a, ia: lowest, b, ib: highest; infinities leave a side open */         \
    X(HARDSWISH, "hardswish", 1)                                                                   \
    X(HARDSIGMOID, "hardsigmoid", 1)               /* relu6(x + 3) / 6 */                          \
    X(HARDSIGMOID_AFFINE, "hardsigmoid_affine", 1) /* clamp(a * x + b, 0, 1), as in ONNX */        \
    X(SOFTPLUS, "softplus", 1)                     /* a: beta, b: threshold */                     \
    X(SOFTSIGN, "softsign", 1)                                                                     \
    X(SOFTSHRINK, "softshrink", 1) /* a: lambda */                                                 \
    X(HARDSHRINK, "hardshrink", 1) /* a: lambda */                                                 \
    X(THRESHOLD, "threshold", 1)   /* a, ia: threshold, b, ib: value */                            \
    X(LOGIT, "logit", 1)           /* a: eps, negative for none */                                 \
    X(NAN_TO_NUM, "nan_to_num", 1) /* a: for NaN, b: for inf, c: for -inf */                       \
    X(ADD, "add", 2)               /* x + a * y */                                                 \
    X(SUB, "sub", 2)               /* x - a * y */                                                 \
    X(MUL, "mul", 2)                                                                               \
    X(DIV, "div", 2) /* integers: see DIV_TRUNC */                                                 \
    X(DIV_FLOOR, "div_floor", 2)                                                                   \
    X(DIV_TRUNC, "div_trunc", 2)                                                                   \
    X(REMAINDER, "remainder", 2) /* has the divisor's sign */                                      \
    X(FMOD, "fmod", 2)           /* has the dividend's sign */                                     \
    X(POW, "pow", 2)                                                                               \
    X(MAXIMUM, "maximum", 2) /* NaN wins */                                                        \
    X(MINIMUM, "minimum", 2)                                                                       \
    X(FMAX, "fmax", 2) /* NaN loses */                                                             \
    X(FMIN, "fmin", 2)                                                                             \
    X(ATAN2, "atan2", 2)                                                                           \
    X(HYPOT, "hypot", 2)                                                                           \
    X(COPYSIGN, "copysign", 2)                                                                     \
    X(NEXTAFTER, "nextafter", 2) /* not for float16 and bfloat16, which are computed in float32 */ \
    X(XLOGY, "xlogy", 2)                                                                           \
    X(LOGADDEXP, "logaddexp", 2)                                                                   \
    X(EQ, "eq", 2)                                                                                 \
    X(NE, "ne", 2)                                                                                 \
    X(LT, "lt", 2)                                                                                 \
    X(LE, "le", 2)                                                                                 \
    X(GT, "gt", 2)                                                                                 \
    X(GE, "ge", 2)                                                                                 \
    X(LOGICAL_AND, "logical_and", 2)                                                               \
    X(LOGICAL_OR, "logical_or", 2)                                                                 \
    X(LOGICAL_XOR, "logical_xor", 2)                                                               \
    X(BITWISE_AND, "bitwise_and", 2)                                                               \
    X(BITWISE_OR, "bitwise_or", 2)                                                                 \
    X(BITWISE_XOR, "bitwise_xor", 2)                                                               \
    X(SHIFT_LEFT, "shift_left", 2)                                                                 \
    X(SHIFT_RIGHT, "shift_right", 2)                                                               \
    X(PRELU, "prelu", 2)                 /* x, slope */                                            \
    X(WHERE, "where", 3)                 /* condition, then, else */                               \
    X(CLAMP_BETWEEN, "clamp_between", 3) /* x, lowest, highest */                                  \
    X(ADDCMUL, "addcmul", 3)             /* x + a * y * z */                                       \
    X(ADDCDIV, "addcdiv", 3)             /* x + a * y / z */                                       \
    X(LERP, "lerp", 3)                   /* start, end, weight */

#define CQ_EW_ID(id, name, operands) CQ_EW_##id,
typedef enum cq_ew_op { CQ_EW_OPS(CQ_EW_ID) CQ_EW_COUNT } cq_ew_op;
#undef CQ_EW_ID

/* Integer division and remainders by zero fail with CQ_E_ARGUMENT, and an operation that the
 * compute dtype does not support fails with CQ_E_TYPE. */
cq_status cq_apply1(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                    const cq_tensor *x);
cq_status cq_apply2(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                    const cq_tensor *x, const cq_tensor *y);
cq_status cq_apply3(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                    const cq_tensor *x, const cq_tensor *y, const cq_tensor *z);

/* An operation on one operand of n numbers, in place, for kernels that already have their results
 * in a buffer. */
void cq_apply1_f32(float *x, int64_t n, cq_ew_op op, const cq_params *params);

const char *cq_ew_name(cq_ew_op op);
cq_ew_op    cq_ew_find(const char *name); /* CQ_EW_COUNT if there is no such operation */
int         cq_ew_operands(cq_ew_op op);

/* The value in every element of out, converted to its dtype. */
cq_status cq_kernel_fill_f64(cq_tensor *out, double value);
cq_status cq_kernel_fill_i64(cq_tensor *out, int64_t value);

/* The same, lazily: a large tensor that covers its whole storage is filled when its elements are
 * first read, unless they are replaced before. dtype is the value's. Returns false without effect
 * if that is not possible. */
bool cq_kernel_fill_later(cq_tensor *out, cq_dtype dtype, const void *value);

/* out = start, start + step, ...; out has rank 1. Integers are used if out has an integer dtype. */
cq_status cq_kernel_arange_f64(cq_tensor *out, double start, double step);
cq_status cq_kernel_arange_i64(cq_tensor *out, int64_t start, int64_t step);
/* numel(out) numbers from start to end, both included. */
cq_status cq_kernel_linspace(cq_tensor *out, double start, double end);

/* The matrices of the last two dimensions with zeros above (tril) or below (triu) the
 * k-th diagonal; out may be x. eye: ones on the diagonal of a matrix, zeros elsewhere. */
cq_status cq_kernel_tril(cq_tensor *out, const cq_tensor *x, int64_t k);
cq_status cq_kernel_triu(cq_tensor *out, const cq_tensor *x, int64_t k);
cq_status cq_kernel_eye(cq_tensor *out);

#endif
