/* Functions of rules that are rules themselves: what rows of several operators share. A name that
 * is not a parameter is an argument of the operator, as in the row. */
#include "export/rule.h"

const cq_rule_function cq_rule_functions[] = {
    /* The k-th least along an axis, and its place. */
    { "kth", 3, 3, .parameters = "x k at",
      .text = "values, places = sorted(x, k, at, False);"
              "Gather<axis = at>(values, [k - 1]), Gather<axis = at>(places, [k - 1])" },

    /* The lower median; NaN if there is one, which ONNX can tell of since opset 9. */
    { "median", 2, 2, .parameters = "x at",
      .text = "y, place = kth(x, (size(x, at) + 1) // 2, at);"
              "nan = ReduceMax(cast(IsNaN(cast(x, 'float32')), 'float32'), [at]);"
              "Where(cast(nan, 'bool'), NaN, y) if is_float(x) and opset() >= 9 else y, place" },

    /* The median of those that are numbers. NaN come last. */
    { "median_of_numbers", 2, 2, .parameters = "x at",
      .text = "y = widen(x); nan = IsNaN(y);"
              "count = ReduceSum(cast(Not(nan), 'int64'), [at]);"
              "half = (count - 1) / 2;"
              "values, places = sorted(Where(nan, inf, y), size(x, at), at, False);"
              "Where(Equal(count, 0), NaN, GatherElements<axis = at>(values, half)),"
              "GatherElements<axis = at>(places, half)" },

    /* [n, n]: whether place j is not after place i. */
    { "up_to", 1, 1, .parameters = "n", .text = "i = iota(n); Not(Greater(i, Unsqueeze(i, [1])))" },

    /* [lanes…, i, j]: element j of the lane where it is not after i, else neutral. The axis is last
     * in the lanes. */
    { "running", 2, 2, .parameters = "x neutral",
      .text = "Where(up_to(size(x, -1)), Unsqueeze(x, [rank(x) - 1]), neutral)" },

    /* In a dtype whose elements ONNX Runtime compares. */
    { "comparable", 1, 1, .parameters = "x",
      .text = "widen(x) if is_float(x) else cast(x, 'int64')" },

    /* ---- normalisations ---- */

    /* (x - mean) / sqrt(var + eps) over axes, the mean and 1 / sqrt(var + eps). */
    { "standardized", 3, 3, .parameters = "x axes eps",
      .text = "mean = ReduceMean(x, axes); d = x - mean;"
              "root = Sqrt(ReduceMean(d * d, axes) + eps);"
              "sized(d / root, x), mean, Reciprocal(root)" },

    /* A row by channel, so that it broadcasts over [batch, channel, …]. */
    { "by_channel", 2, 2, .parameters = "row x",
      .text = "Unsqueeze(cast(row, dtype(x)), range(1, rank(x) - 1))" },

    /* x * weight + bias by channel, with those that are there. */
    { "scale_channels", 1, 1, .parameters = "x",
      .text = "y = x * by_channel(weight, x) if weight is not None else x;"
              "y + by_channel(bias, x) if bias is not None else y" },

    /* A weight or bias, or as many numbers as x has channels. */
    { "row", 3, 3, .parameters = "given x number",
      .text = "cast(given, dtype(x)) if given is not None else filled(size(x, 1), number, x)" },

    /* The last n axes; a weight for them, which is not optional. */
    { "last_axes", 2, 2, .parameters = "x n", .text = "range(rank(x) - n, rank(x))" },
    { "weight_of", 2, 2, .parameters = "x n",
      .text = "cast(weight, dtype(x)) if weight is not None else"
              " Expand(like(1, x), [size(x, i) for i in last_axes(x, n)])" },

    /* ---- padding ---- */

    /* PyTorch's list, last dimension first, as beginnings and ends of all dimensions. */
    { "pads", 1, 1, .parameters = "list",
      .text = "n = rank(self); at = [2 * (n - 1 - i) for i in range(n)];"
              "[list[i] if i < len(list) else 0 for i in at] +"
              " [list[i + 1] if i < len(list) else 0 for i in at]" },

    /* Pad takes floats until opset 10, and ONNX Runtime not every type later. */
    { "can_pad", 0, 0,
      .text = "dtype(self) == 'float32' or dtype(self) == 'float64' or"
              " opset() >= 11 and (dtype(self) == 'int64' or dtype(self) == 'int32')" },
    { "paddable", 0, 0,
      .text = "self if can_pad() else cast(self, 'float32' if is_float(self) else 'float64')" },

    { 0 },
};
