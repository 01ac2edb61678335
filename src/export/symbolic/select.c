/* Selection by value: masks, different elements, searching. Sizes of results depend on data,
 * so what is needed of them is read off values at run time. */
#include "export/symbolic/places.h"

void cq_sym_spread(cq_sym *s, cq_value **x, cq_value **mask)
{
    int    a = cq_sym_rank(s, *x), b = cq_sym_rank(s, *mask), n = a > b ? a : b;
    cq_int sizes[CQ_MAX_RANK];

    for (int i = 0; i < n && s->status == CQ_OK; i++) {
        cq_int u = i < n - a ? cq_i(1) : cq_sym_size(s, *x, i - (n - a));
        cq_int v = i < n - b ? cq_i(1) : cq_sym_size(s, *mask, i - (n - b));

        sizes[i] =
            cq_int_is(u, 1) || (u.value == 1 && v.value != 1) || (u.expr && !v.expr && v.value != 1)
                ? v
                : u;
    }
    if (s->status != CQ_OK)
        return;
    *x    = cq_sym_expand_any(s, *x, sizes, (size_t)n);
    *mask = cq_sym_expand_any(s, cq_sym_cast(s, *mask, CQ_DTYPE_BOOL), sizes, (size_t)n);
    if (*x && (*x)->node)
        cq_sym_set_type(s, *x, cq_sym_dtype(s, *x), (size_t)n, sizes);
    if (*mask && (*mask)->node)
        cq_sym_set_type(s, *mask, CQ_DTYPE_BOOL, (size_t)n, sizes);
}

/* clang-format off */

/* The k-th true element of the mask gets the k-th of source. */
#define MASKED_SCATTER \
    "x, m = spread(self, mask);" \
    "at = Reshape(NonZero(flat(m)), [-1]); many = iota(Gather<axis = 0>(Shape(at), 0));" \
    "y = ScatterElements<axis = 0>(flat(x), at, Gather(flat(source), many)); as_result(y)"

/* A table of which number each element is, added up. */
#define BINCOUNT \
    "x = cast(self, 'int64'); least = [minlength - 1 if minlength > 0 else -1];" \
    "depth = ReduceMax<keepdims = 0>(Concat<axis = 0>(x, least), [0]) + 1;" \
    "table = cast(Equal(Unsqueeze(x, [1]), iota(depth)), result_dtype());" \
    "counted = table * Unsqueeze(cast(weights, result_dtype()), [1]) if weights is not None" \
    " else table;" \
    "ReduceSum<keepdims = 0>(counted, [0])"

/* Place i goes on until the running sum: how many sums are not above each number. */
#define REPEATED \
    "n = cast(repeats, 'int64'); total = iota(ReduceSum<keepdims = 0>(n, [0]));" \
    "table = Not(Less(Unsqueeze(total, [1]), CumSum(n, 0)));" \
    "ReduceSum<keepdims = 0>(cast(table, 'int64'), [1])"

/* How many of the sorted are not greater, or not as great. NaN is behind everything: it counts all,
 * so greater is asked and denied. */
#define SEARCH(sorted) \
    "of = rank(sorted_sequence); line = comparable(" sorted ");" \
    "x = comparable(cast(self, dtype(sorted_sequence))); last = rank(x);" \
    "each = Unsqueeze(x, [last]); row = Unsqueeze(line, [of - 1]) if of > 1 else line;" \
    "above = Greater(row, each);" \
    "same = Not(Less(row, each)) if is_float(row) and opset() < 11 else Equal(row, each);" \
    "past = above if right or given(side, 'left') == 'right' else Or(above, same);" \
    "ReduceSum<keepdims = 0>(cast(Not(past), 'float32' if opset() < 9 else 'int64'), [last])" \
    " if opset() >= 9 or is_float(sorted_sequence) else" \
    " no('integers can be compared since opset 9', 9)"

#define NO_PLACES "cast([], 'int64')"
#define UNIQUE(axis) \
    "y, first, back, many = Unique<" axis "sorted = 1>(comparable(self)); cast(y, dtype(self)),"
#define INVERSE \
    "(back if rank(self) == 1 else Reshape(back, sizes(self))) if return_inverse else " NO_PLACES

/* A new one begins where an element differs from the one before it. */
#define UNIQUE_CONSECUTIVE \
    "x = flat(self); key = comparable(x);" \
    "other = Not(Equal(slice(key, 0, 1, None), slice(key, 0, 0, -1)));" \
    "begins = Concat<axis = 0>(cast([1], 'bool'), other);" \
    "at = Reshape(NonZero(begins), [-1]);" \
    "back = CumSum(cast(begins, 'int64'), 0) - 1;" \
    "ends = Concat<axis = 0>(slice(at, 0, 1, None), [numel(x)]);" \
    "no('slices are not compared as wholes') if dim is not None else" \
    " x if numel(x) == 0 else Compress<axis = 0>(without_bfloat16(x), begins)," \
    NO_PLACES " if not return_inverse else" \
    " cast(self, 'int64') if numel(x) == 0 else Reshape(back, sizes(self))," \
    NO_PLACES " if not return_counts or numel(x) == 0 else ends - at"

/* Along a dimension: a slice is another one where any of its elements is. */
#define DIFFERENT_SLICES                                                                           \
    "d = wrap_dim(0 if dim is None else dim, self.ndim)\n"                                         \
    "x = self.movedim(d, 0).flatten(1, -1) if self.ndim > 1 else self.unsqueeze(1)\n"              \
    "n = x.shape[0]\n"                                                                             \
    "begins = (x.slice(0, 1) != x.slice(0, 0, -1)).any(1)\n"                                       \
    "begins = cat([ones([min(n, 1)], dtype=torch.bool), begins], 0)\n"                             \
    "at = begins.nonzero().squeeze(1)\n"                                                           \
    "none = zeros([0], dtype=torch.int64)\n"                                                       \
    "inverse = begins.cumsum(0) - 1 if return_inverse else none\n"                                 \
    "end = full([min(n, 1)], 1, dtype=torch.int64) * n\n"                                          \
    "counts = cat([at.slice(0, 1), end], 0) - at if return_counts else none\n"                     \
    "return self.index_select(d, at), inverse, counts"

/* clang-format on */

const cq_symbolic cq_symbolics_select[] = {
    { "aten::nonzero", 7, .no = "ONNX tells what is not zero since opset 9" },
    /* A number is a row of one, whose place has no dimensions. */
    { "aten::nonzero", 9,
      .as    = "Transpose<perm = [1, 0]>(NonZero(cast(self, 'bool'))) if rank(self) > 0"
               " else no('a number has no dimensions')",
      .parts = true },
    { "aten::masked_select", 7, .no = "ONNX selects by a mask since opset 9" },
    { "aten::masked_select", 9,
      .as = "x, m = spread(without_bfloat16(self), mask); Compress<axis = 0>(flat(x), flat(m))" },
    { "aten::masked_scatter", 7, .no = "elements can be set since opset 9" },
    { "aten::masked_scatter", 9, .as = MASKED_SCATTER },
    { "aten::bincount", 7, .as = BINCOUNT },
    { "aten::repeat_interleave.Tensor", 7, .as = REPEATED },
    { "aten::searchsorted", 7,
      .as = SEARCH("sorted_sequence if sorter is None else"
                   " no('a sorter needs GatherElements, of opset 11', 11)") },
    { "aten::searchsorted", 11,
      .as = SEARCH("sorted_sequence if sorter is None else"
                   " sized(GatherElements<axis = of - 1>(sorted_sequence, sorter),"
                   " sorted_sequence)") },
    { "aten::_unique", 7, .no = "Unique came with opset 11" },
    { "aten::_unique", 11, .as = UNIQUE("") INVERSE },
    { "aten::_unique2", 7, .no = "Unique came with opset 11" },
    { "aten::_unique2", 11, .as = UNIQUE("") INVERSE ", many if return_counts else " NO_PLACES },
    { "aten::unique_dim", 7, .no = "Unique came with opset 11" },
    { "aten::unique_dim", 11, .as = UNIQUE("axis = axis(dim, self), ") "back, many" },
    { "aten::unique_consecutive", 7, .no = "it needs CumSum, of opset 11" },
    { "aten::unique_consecutive", 11, .as = UNIQUE_CONSECUTIVE, .parts = true },
    { "aten::unique_dim_consecutive", 7, .no = "slices are not compared as wholes" },
    { 0 },
};
