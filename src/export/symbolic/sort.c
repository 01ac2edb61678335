/* Order along a dimension and running sums.
 *
 * Everything with an order is TopK, which also says where the elements were, and of equal
 * ones gives the first first, as PyTorch's stable sort. Where NaN goes, which PyTorch takes
 * for the greatest, ONNX leaves open. Running operators that ONNX has not
 * (all but CumSum) reduce a table whose row i has the elements up to i. */
#include "export/symbolic/arith.h"
#include "export/symbolic/places.h"

/* The dtype that TopK is given for elements of d; NONE if order would suffer. */
static cq_dtype orderable(const cq_sym *s, cq_dtype d)
{
    bool floats_only = cq_sym_opset(s) < 11;

    switch (d) {
    case CQ_DTYPE_F32:
    case CQ_DTYPE_F64: return d;
    case CQ_DTYPE_F16:
    case CQ_DTYPE_BF16: return CQ_DTYPE_F32;
    case CQ_DTYPE_I64: return floats_only ? CQ_DTYPE_NONE : d;
    default: return floats_only ? CQ_DTYPE_F64 : CQ_DTYPE_I32;
    }
}

void cq_sym_sorted(cq_sym *s, cq_value *x, cq_int k, int axis, bool largest, cq_value *out[2])
{
    cq_dtype own = cq_sym_dtype(s, x), with = orderable(s, own);

    if (with == CQ_DTYPE_NONE)
        cq_sym_no(s, 11, "integers of 64 bits can be ordered since opset 11");
    if (s->status != CQ_OK)
        return;
    if (cq_int_is(k, 0)) {
        out[0] = cq_sym_slice(s, x, axis, k, k, 1);
        out[1] = cq_sym_cast(s, out[0], CQ_DTYPE_I64);
        return;
    }
    cq_sym_topk(s, cq_sym_cast(s, x, with), k, axis, largest, out);
    out[0] = cq_sym_cast(s, out[0], own);
}

cq_value *cq_sym_summable(cq_sym *s, cq_value *x)
{
    cq_dtype d = cq_sym_dtype(s, x);

    return cq_sym_cast(s, x,
                       d == CQ_DTYPE_F16 || d == CQ_DTYPE_BF16 ? CQ_DTYPE_F32
                       : d == CQ_DTYPE_F32 || d == CQ_DTYPE_F64 || d == CQ_DTYPE_I32 ||
                               d == CQ_DTYPE_I64
                           ? d
                           : CQ_DTYPE_I64);
}

/* Before CumSum: a product with the table of what comes before. */
static cq_value *cumsum_by_product(cq_sym *s, cq_value *x, int axis)
{
    int       last = cq_sym_rank(s, x) - 1;
    int64_t   one = 1, perm[2] = { 1, 0 };
    cq_value *i, *table, *v;

    if (!cq_dtype_is_float(cq_sym_dtype(s, x)) &&
        !cq_sym_since(s, 9, "products of integers need opset 9"))
        return NULL;
    x     = cq_sym_swap_dims(s, x, axis, last);
    i     = cq_sym_iota(s, cq_sym_size(s, x, last));
    i     = cq_sym_opset(s) < 9 ? cq_sym_cast(s, i, CQ_DTYPE_F32) : i; /* Greater is of floats */
    table = CQ_1("Not", CQ_2("Greater", i, cq_sym_unsqueeze(s, i, &one, 1)));
    table = cq_sym_transpose(s, table, perm, 2);
    v     = cq_sym_op2(s, "MatMul", x, cq_sym_cast(s, table, cq_sym_dtype(s, x)));
    cq_sym_set_type_of(v, x);
    return cq_sym_swap_dims(s, v, axis, last);
}

cq_value *cq_sym_cumsum(cq_sym *s, cq_value *x, int axis)
{
    return cq_sym_opset(s) < 11 ? cumsum_by_product(s, x, axis)
                                : cq_sym_op2(s, "CumSum", x, cq_sym_const_i64(s, axis));
}

/* clang-format off */
#define X_AND_AXIS "x = with_dims(self); at = axis(dim, x);"
#define BOTH       "as_result(values), as_result(places, 1)"

/* What is past all numbers of a dtype that is summed up; wide is that of int64, a double too. */
#define PAST(sign, int32, wide) \
    "(" sign "inf if is_float(y) else " int32 " if dtype(y) == 'int32' else " wide ")"

/* Along the last axis of y; from there the results go back to the axis. */
#define LANES(x) \
    "x = with_dims(" x "); at = axis(dim, x); last = rank(x) - 1;" \
    "y = swap(summable(x), at, last);"

#define RUNNING(op, neutral) \
    LANES("cast(self, result_dtype())") \
    "v = " op "<keepdims = 0>(running(y, " neutral "), [last + 1]);" \
    "as_result(swap(v, at, last))"

/* Of equal extremes the last one counts. */
#define EXTREME(reduce, arg, worst) \
    LANES("self") \
    "table = running(y, " worst ");" \
    "values = swap(" reduce "<keepdims = 0>(table, [last + 1]), at, last);" \
    "place = " arg "<axis = last + 1, keepdims = 0, select_last_index = 1>(table);" \
    "places = swap(sized(place, y), at, last);" \
    BOTH

/* Every element is compared with every other. Of those that occur most often it is the least, and
 * of equal ones the last. */
#define MODE \
    LANES("self if numel(self) != 0 else no('of no elements')") \
    "count = ReduceSum<keepdims = 0>" \
    "(cast(Equal(Unsqueeze(y, [last + 1]), Unsqueeze(y, [last])), 'float32'), [last + 1]);" \
    "often = Equal(count, ReduceMax(count, [last]));" \
    "value = ReduceMin(Where(often, y, " PAST("", "2147483647", "9223372036854774784") "), [last]);" \
    "place = ReduceMax(Where(Equal(y, value), iota(size(y, last)), -1), [last]);" \
    "values = swap(value, at, last); places = swap(place, at, last);" BOTH

#define MEDIAN_OF_ALL(of) \
    "x = flat(self);" \
    "like(NaN, self) if numel(self) == 0 else as_result(" of "[0])"
#define MEDIAN(of) X_AND_AXIS "values, places = " of ";" BOTH

#define OF_NUMBERS(at) "median_of_numbers(x, " at ") if is_float(x) else median(x, " at ")"
#define NO_NUMBERS(at) \
    "no('it needs GatherElements, of opset 11', 11) if is_float(x) else median(x, " at ")"
/* clang-format on */

const cq_symbolic cq_symbolics_sort[] = {
    { "aten::sort", 7,
      .as = X_AND_AXIS "values, places = sorted(x, size(x, at), at, descending);" BOTH },
    { "aten::topk", 7, .as = X_AND_AXIS "values, places = sorted(x, k, at, largest);" BOTH },
    { "aten::kthvalue", 7, .as = X_AND_AXIS "values, places = kth(x, k, at);" BOTH },
    { "aten::median", 7, .as = MEDIAN_OF_ALL("median(x, 0)") },
    { "aten::median.dim", 7, .as = MEDIAN("median(x, at)") },
    { "aten::nanmedian", 7, .as = MEDIAN_OF_ALL("(" NO_NUMBERS("0") ")") },
    { "aten::nanmedian", 11, .as = MEDIAN_OF_ALL("(" OF_NUMBERS("0") ")") },
    { "aten::nanmedian.dim", 7, .as = MEDIAN(NO_NUMBERS("at")) },
    { "aten::nanmedian.dim", 11, .as = MEDIAN(OF_NUMBERS("at")) },
    { "aten::mode", 7, .no = "it needs Where, of opset 9" },
    { "aten::mode", 9, .as = MODE },
    { "aten::cumsum", 7,
      .as = "x = with_dims(cast(self, result_dtype()));"
            "as_result(CumSum(summable(x), axis(dim, x)))" },
    { "aten::cumprod", 7, .no = "it needs Where, of opset 9" },
    { "aten::cumprod", 9, .as = RUNNING("ReduceProd", "1") },
    { "aten::logcumsumexp", 7, .no = "it needs Where, of opset 9" },
    { "aten::logcumsumexp", 9, .as = RUNNING("ReduceLogSumExp", "-inf") },
    { "aten::cummax", 7, .no = "the last of equal elements can be found since opset 12" },
    { "aten::cummax", 12,
      .as = EXTREME("ReduceMax", "ArgMax", PAST("-", "-2147483648", "-9200000000000000000")) },
    { "aten::cummin", 7, .no = "the last of equal elements can be found since opset 12" },
    { "aten::cummin", 12,
      .as = EXTREME("ReduceMin", "ArgMin", PAST("", "2147483647", "9200000000000000000")) },
    { 0 },
};
