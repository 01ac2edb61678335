/* Functions of rules that are rules themselves: what rows of several operators share. A name that
 * is not a parameter is an argument of the operator, as in the row. */
#include "export/symbolic/rule.h"

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

    /* [rows, columns] of matrices x: how many columns an element is past that of its row. */
    { "columns_past_row", 1, 1, .parameters = "x",
      .text = "iota(size(x, -1)) - Unsqueeze(iota(size(x, -2)), [1])" },

    /* [lanes…, i, j]: element j of the lane where it is not after i, else neutral. The axis is last
     * in the lanes. */
    { "running", 2, 2, .parameters = "x neutral",
      .text = "Where(up_to(size(x, -1)), Unsqueeze(x, [rank(x) - 1]), neutral)" },

    /* In a dtype whose elements ONNX Runtime compares. */
    { "comparable", 1, 1, .parameters = "x",
      .text = "widen(x) if is_float(x) else cast(x, 'int64')" },

    /* Matrices in groups along their rows (opset 21); small ones are int4. */
    { "blocked", 5, 5, .parameters = "q step zero unit small",
      .text = "DequantizeLinear<axis = 1, block_size = unit>(cast(q, 'int4') if small else q, step,"
              " None if zero is None else cast(zero, 'int4') if small else zero)" },

    /* ---- functions that ONNX Runtime has in float32 alone, for float64 ---- */

    /* exp(-y * y) to the last digit: the square of the first four binary digits is exact. */
    { "gaussian", 1, 1, .parameters = "y",
      .text = "high = Floor(y * 16) / 16; Exp(-high * high) * Exp((high - y) * (high + y))" },
    /* Cody's rational functions: of erf(x) / x below a half, of erfc(y) exp(y * y) up to 4, and of
     * the rest of 1 / sqrt(pi) beyond. They are right to the last two digits. */
    { "erf_near_zero", 1, 1, .parameters = "x",
      .text = "s = x * x;"
              "x * polynomial(s, [3209.37758913846947, 377.485237685302021, 113.864154151050156,"
              " 3.16112374387056560, 0.185777706184603153])"
              " / polynomial(s, [2844.23683343917062, 1282.61652607737228, 244.024637934444173,"
              " 23.6012909523441209, 1])" },
    { "erfc_of_positive", 1, 1, .parameters = "y",
      .text = "near = Min(y, 4);"
              "a = polynomial(near, [1230.33935479799725, 2051.07837782607147, 1712.04761263407058,"
              " 881.952221241769090, 298.635138197400131, 66.1191906371416295, 8.88314979438837594,"
              " 0.564188496988670089, 2.15311535474403846e-8])"
              " / polynomial(near, [1230.33935480374942, 3439.36767414372164, 4362.61909014324716,"
              " 3290.79923573345963, 1621.38957456669019, 537.181101862009858, 117.693950891312499,"
              " 15.7449261107098347, 1]);"
              "far = Max(y, 4); i = Reciprocal(far * far);"
              "b = (0.56418958354775628695 - i * polynomial(i, [6.58749161529837803e-4,"
              " 0.0160837851487422766, 0.125781726111229246, 0.360344899949804439,"
              " 0.305326634961232344, 0.0163153871373020978])"
              " / polynomial(i, [0.00233520497626869185, 0.0605183413124413191,"
              " 0.527905102951428412, 1.87295284992346725, 2.56852019228982242, 1])) / far;"
              "least = Min(y, 40);"
              "gaussian(least) * Where(Greater(y, 4), b, a)" },
    { "erf_of_double", 1, 1, .parameters = "x",
      .text = "y = Abs(x);"
              "Where(Less(y, 0.5), erf_near_zero(x), Sign(x) * (1 - erfc_of_positive(y)))" },
    { "erfc_of_double", 1, 1, .parameters = "x",
      .text = "tail = erfc_of_positive(Abs(x));"
              "Where(Less(Abs(x), 0.5), 1 - erf_near_zero(x), Where(Less(x, 0), 2 - tail, tail))" },
    { "erf", 1, 1, .parameters = "x",
      .text = "erf_of_double(x) if dtype(x) == 'float64' and opset() >= 9 else Erf(x)" },

    /* The angle of a slope, moved to where a rational function has it: past tan(3 pi / 8) it is
     * that of -1 / x, past 0.66 that of (x - 1) / (x + 1). */
    { "arctangent_near_zero", 1, 1, .parameters = "x",
      .text = "s = x * x;"
              "x + x * s * polynomial(s, [-64.85021904942025371773, -122.8866684490136173410,"
              " -75.00855792314704667340, -16.15753718733365076637, -0.8750608600031904122785])"
              " / polynomial(s, [194.5506571482613964425, 485.3903996359136964868,"
              " 432.8810604912902668951, 165.0270098316988542046, 24.85846490142306297962, 1])" },
    { "arctangent", 1, 1, .parameters = "x",
      .text = "y = Abs(x); steep = Greater(y, 2.41421356237309504880); some = Greater(y, 0.66);"
              "flat = Where(steep, 0, y);"
              "at = Where(steep, -Reciprocal(Where(steep, y, 1)),"
              " Where(some, (flat + -1) / (flat + 1), flat));"
              "from = Where(steep, 1.57079632679489661923, Where(some, 0.78539816339744830962, 0));"
              "Where(is_negative(x), -1, 1) * (from + arctangent_near_zero(at))"
              " if dtype(x) == 'float64' and opset() >= 9 else Atan(x)" },
    /* log(1 + x) and exp(x) - 1 without loss of digits near 0. 1 + x is rounded, and the logarithm
     * is off by as much as x is off from what was added. */
    { "log1p", 1, 1, .parameters = "x",
      .text = "u = x + 1; one = And(LessOrEqual(u, 1), LessOrEqual(1, u));"
              "small = Where(one, x, Log(u) * (x / (u + -1)));"
              "Where(Less(Abs(x), 0.5), small, Log(u)) if dtype(x) == 'float64' and opset() >= 9"
              " else Log(u)" },
    { "expm1", 1, 1, .parameters = "x",
      .text = "t = Tanh(x * 0.5); u = Exp(x) + -1;"
              "Where(Less(Abs(x), 0.5), t * 2 / (1 - t), u)"
              " if dtype(x) == 'float64' and opset() >= 9 else u" },
    { "cosine", 1, 1, .parameters = "x",
      .text = "half = Sin(x * 0.5); 1 - half * half * 2 if dtype(x) == 'float64' else Cos(x)" },

    /* ---- bits ---- */

    { "power", 1, 1, .parameters = "i", .text = "product([2 for k in range(i)])" },
    { "width", 1, 1, .parameters = "d",
      .text = "8 if d == 'int8' or d == 'uint8' else 16 if d == 'int16' else"
              " 32 if d == 'int32' else 64" },

    /* The bits of x along a new last axis, lowest first, as int64. Shifting down is dividing and
     * rounding down, which keeps the sign; the highest bit of an int64 has no power to divide by.
     */
    { "bits", 1, 1, .parameters = "x",
      .text = "n = width(dtype(x)); wide = Unsqueeze(cast(x, 'int64'), [rank(x)]);"
              "powers = [power(i) for i in range(63 if n == 64 else n)];"
              "low = Mod(wide // cast(powers, 'int64'), 2);"
              "low if n < 64 else Concat<axis = rank(x)>(low, cast(Less(wide, 0), 'int64'))" },

    /* The sum of 32 of n bits from the first on, as a number; the highest may be the sign. */
    { "sum_of_bits", 4, 4, .parameters = "bits n first sign",
      .text = "weights = [(0 if i < first or i > first + 31 else power(i - first))"
              " * (-1 if sign and i == n - 1 else 1) for i in range(n)];"
              "ReduceSum<keepdims = 0>(bits * cast(weights, 'int64'), [len(result_sizes())])" },

    /* The number whose bits lie along the last axis. ONNX Runtime sums up in doubles, so 64 bits
     * are added in two halves. */
    { "number_of_bits", 1, 1, .parameters = "bits",
      .text = "n = width(result_dtype()); sign = result_dtype() != 'uint8';"
              "low = sum_of_bits(bits, n, 0, sign and n < 64);"
              "low if n < 64 else low + sum_of_bits(bits, n, 32, sign) * power(32)" },

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

    /* ---- elements read and written one by one ---- */

    /* The place of element [i…, index, k…] in the flat x: each dimension's place times its stride.
     */
    { "flat_places", 3, 3, .parameters = "x index at",
      .text = "n = rank(x);"
              "sum([(index if i == at else Reshape(iota(size(index, i)),"
              " [size(index, i) if k == i else 1 for k in range(n)]))"
              " * product([size(x, k) for k in range(i + 1, n)]) for i in range(n)])" },

    /* What changes nothing: beside integers, the least or greatest of them for an infinity. */
    { "neutral", 2, 2, .parameters = "kind x",
      .text = "0 if kind == 'add' else 1 if kind == 'mul' else"
              " (-inf if is_float(x) else -2147483648 if dtype(x) == 'int32' else"
              " -9223372036854775807 - 1) if kind == 'max' else"
              " inf if is_float(x) else 2147483647 if dtype(x) == 'int32' else"
              " 9223372036854775807" },

    /* What ONNX, and ONNX Runtime, reduce. ReduceSum and ReduceProd of int32 do not wrap around. */
    { "reducible", 2, 2, .parameters = "x like",
      .text = "x if dtype(like) == 'float32' or dtype(like) == 'float64' or dtype(like) == 'int64'"
              " else cast(x, 'float32' if is_float(like) else 'int64')" },

    /* Before ScatterElements reduces, [lanes…, sources, places] says which source goes to which
     * place. The axis is last in the lanes. */
    { "combined", 3, 3, .parameters = "kind x y",
      .text = "x + y if kind == 'add' else x * y if kind == 'mul' else"
              " Max(x, y) if kind == 'max' and (is_float(x) or opset() >= 12) else"
              " Min(x, y) if kind == 'min' and (is_float(x) or opset() >= 12) else"
              " Where(Greater(x, y) if kind == 'max' else Less(x, y), x, y)" },
    { "reduced_by_table", 7, 7, .parameters = "x index src at kind mean with_self",
      .text = "last = rank(x) - 1; y = swap(x, at, last);"
              "goes = Equal(Unsqueeze(swap(index, at, last), [last + 1]), iota(size(x, at)));"
              "each = Where(goes, Unsqueeze(swap(src, at, last), [last + 1]), neutral(kind, x));"
              "all = reduce('ReduceSum' if kind == 'add' else 'ReduceProd' if kind == 'mul' else"
              " 'ReduceMax' if kind == 'max' else 'ReduceMin', each, False, [last]);"
              "count = ReduceSum<keepdims = 0>(cast(goes, 'float32'), [last]);"
              "whole = combined(kind, y, all) if with_self else all;"
              "by = cast(count + 1 if with_self else Max(count, 1), dtype(x));" /* never by none */
              "v = (whole / by if is_float(x) else whole // by) if mean else whole;"
              "swap(sized(v if with_self else Where(Greater(count, 0), v, y), y), at, last)" },

    /* One slice, without its axis. Gather counts from the end since opset 11; before, a slice of
     * one does. */
    { "item_at", 3, 3, .parameters = "x at index",
      .text = "n = size(x, at); behind = opset() < 11 and hint(index) < 0;"
              "Squeeze(slice(x, at, index, None if index == -1 else index + 1), [at])"
              " if behind and fixed(index) and not fixed(n) else"
              " Gather<axis = at>(x, index + n if behind else index)" },

    /* The first place of a slice, from the beginning. What it is on the example decides where it
     * is counted from. */
    { "first_place", 2, 2, .parameters = "start n",
      .text = "from = start + n if hint(start) < 0 else start;"
              "not_below_zero(from) if hint(start) < 0 and not fixed(from) and opset() >= 9 else"
              " 0 if hint(from) < 0 else least(from, n)" },
    { "not_below_zero", 1, 1, .parameters = "n", .text = "n - least(n, 0)" },

    /* x with a part of n places in the place of others: what lies before it, it, what lies behind
     * it. */
    { "replaced", 6, 6, .parameters = "x part at first n step",
      .text = "before = [] if first == 0 else [slice(x, at, 0, first)]; behind = first + n;"
              "after = [] if behind == size(x, at) else [slice(x, at, behind, None)];"
              "write_slices(x, at, places(first, n, step), part) if step != 1 else"
              " part if len(before + after) == 0 else Concat<axis = at>(before + [part] + after)" },

    /* 2 ** i, exactly. */
    { "power_of_two", 1, 1, .parameters = "i",
      .text = "power(i) if fixed(i) and i >= 0 and i < 63 else"
              " cast(Pow(like(2, cast(i, 'float64')), cast(i, 'float64')), 'int64')" },

    /* ---- diagonals ---- */

    /* Both dimensions at the end and joined; its places, m of them, a row and a step apart. */
    { "diagonal_order", 0, 0,
      .text = "a = axis(dim1, self); b = axis(dim2, self);"
              "[i for i in range(rank(self)) if i != a and i != b] + [a, b]" },
    { "joined_diagonal", 0, 0,
      .text = "order = diagonal_order(); n = rank(self); moved = [size(self, i) for i in order];"
              "Reshape(Transpose<perm = order>(self), [moved[i] for i in range(n - 2)]"
              " + [moved[n - 2] * moved[n - 1]])" },
    { "diagonal_places", 1, 1, .parameters = "m",
      .text = "columns = size(self, dim2); start = offset if offset >= 0 else -offset * columns;"
              "places(start, m, columns + 1) if fixed(columns) else"
              " sized(iota(m) * (columns + 1) + start, [m])" },

    /* ---- random numbers ---- */

    /* Of sizes that are not fixed, a tensor of zeros shows them. */
    { "sizes_shown", 2, 2, .parameters = "sizes dtype",
      .text = "cast(0, dtype) if len(sizes) == 0 else"
              " no('random numbers of dynamic sizes need opset 9', 9) if opset() < 9 else"
              " ConstantOfShape(sizes)" },
    { "uniform", 4, 4, .parameters = "low high sizes dtype",
      .text =
          "y = RandomUniform<low = low, high = high, dtype = dtype, shape = sizes>()"
          " if len(sizes) > 0 and all_fixed(sizes) else"
          " RandomUniformLike<low = low, high = high, dtype = dtype>(sizes_shown(sizes, dtype));"
          "sized(typed(y, dtype), sizes)" },

    /* ---- pools ---- */

    /* With a batch axis in front of n axes and channels; without it again, if self had none. */
    { "batched", 2, 2, .parameters = "x n",
      .text = "Unsqueeze(x, [0]) if rank(x) == n + 1 else x" },
    { "unbatched", 2, 2, .parameters = "x n",
      .text = "Squeeze(x, [0]) if rank(self) == n + 1 else x" },

    /* Whether all numbers are the same in every run. */
    { "all_fixed", 1, 1, .parameters = "list",
      .text = "len([i for i in list if not fixed(i)]) == 0" },

    /* x, padded behind its first two axes, if there is anything to pad. */
    { "pad_image", 4, 4, .parameters = "x before behind value",
      .text = "x if len([i for i in before + behind if i != 0]) == 0 else"
              " Pad<mode = 'constant'>(x, [0, 0] + before + [0, 0] + behind, value)" },

    /* Indices [kernel, places] of a padded axis: i * dilation + place * stride. */
    { "taps", 4, 4, .parameters = "n dilation many stride",
      .text = "sized(Unsqueeze(places(0, n, dilation), [1])"
              " + Unsqueeze(places(0, many, stride), [0]), [n, many])" },

    /* ONNX numbers places through the whole tensor, PyTorch in each plane. */
    { "in_planes", 2, 2, .parameters = "places x",
      .text = "plane = product([size(x, i) for i in range(2, rank(x))]);"
              "at = typed(places, 'int64');"
              "Mod(at, plane) if opset() >= 10 else at - at / plane * plane" },

    /* The parts of one axis, each reduced to one element: part i of n begins at floor(i * size / n)
     * and ends at ceil((i + 1) * size / n). */
    { "parts_of", 4, 4, .parameters = "x at n op",
      .text = "all = size(x, at);"
              "x if all == n else"
              " no('it has to make many parts of an axis, or a number that is not fixed')"
              " if not fixed(n) or n > 256 or n < 1 else"
              " reduce(op, x, True, [at]) if n == 1 and not fixed(all) else"
              " sized(Concat<axis = at>([reduce(op, slice(x, at, all * i // n,"
              " (all * (i + 1) + n - 1) // n), True, [at]) for i in range(n)]),"
              " [n if i == at else size(x, i) for i in range(rank(x))])" },

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
