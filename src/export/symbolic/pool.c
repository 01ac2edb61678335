/* Pools. PyTorch's ceil mode drops a last window that would start behind the image, and its
 * average counts the padding that was asked for but not what ceil mode adds. ONNX says
 * neither (and runtimes differ), so where sizes are fixed ceil mode becomes padding behind
 * the image. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* n spatial axes: kernels, strides, dilations, padding on both sides as asked for; and what is
 * needed behind the image to give an axis its size in floor mode. Where sizes are not fixed, ceil
 * mode is said to ONNX. */
#define WINDOWS(n, dilation) \
    "x = batched(without_bfloat16(self), " n ");" \
    "k = per_axis(kernel_size, " n "); s = per_axis(stride, " n ", k);" \
    "p = per_axis(padding, " n "); d = " dilation ";" \
    "from = [size(x, i + 2) for i in range(" n ")]; to = result_sizes();" \
    "last = [to[len(to) - " n " + i] for i in range(" n ")];" \
    "need = [(last[i] - 1) * s[i] + d[i] * (k[i] - 1) + 1 - from[i] - p[i]" \
    " for i in range(" n ")];" \
    "settled = ceil_mode and all_fixed(from); ceil = ceil_mode and not settled;" \
    "ends = [i if i > 0 else 0 for i in need] if settled else p;"
/* Where padding became image, a window that starts in it is no longer dropped by ONNX. */
#define CROP_1(y) "slice(" y ", 2, 0, last[0])"
#define CROP_2(y) "slice(" CROP_1(y) ", 3, 0, last[1])"
#define CROP_3(y) "slice(" CROP_2(y) ", 4, 0, last[2])"
#define CROPPED(crop, y, is_image) crop(y) " if ceil and " is_image " and p != none else " y
#define CEIL_10(node) \
    "no('ceil_mode on sizes that are not fixed needs opset 10', 10) if ceil and opset() < 10 else " node

/* ---- max ---- */

/* Opset 12 added int8 and uint8. Runtimes refuse a padding as large as the window, which a dilated
 * one may need. */
#define MAX_POOL(n) \
    WINDOWS(n, "per_axis(dilation, " n ")") \
    "dilated = len([i for i in d if i != 1]) > 0;" \
    "small = opset() >= 12 and (dtype(x) == 'int8' or dtype(x) == 'uint8' or dtype(x) == 'bool');" \
    "image = apart_from_pad(x if small else only_float(x));" \
    "fits = len([i for i in range(" n ") if p[i] >= k[i] or ends[i] >= k[i]]) == 0;" \
    "wide = image if fits else pad_image(image, p, ends, -inf);" \
    "none = [0 for i in p];"
#define MAX_NODE \
    "MaxPool<ceil_mode = 1 if ceil else None, dilations = d if dilated else None," \
    " kernel_shape = k, pads = p + ends if fits else none + none, strides = s>(wide)"
#define MAX_OF(node) \
    CEIL_10("no('windows with gaps (dilation) need opset 10', 10) if dilated and opset() < 10 else " node)
#define MAX_VALUES(n, crop) \
    MAX_POOL(n) "y = " MAX_NODE "; unbatched(" MAX_OF(CROPPED(crop, "y", "not fits")) ", " n ")"
/* The node tells where the greatest are if somebody wants to know. */
#define MAX_AND_PLACES(n, crop) \
    MAX_POOL(n) "plain = " MAX_NODE "; y, places = " MAX_NODE ";" \
    "unbatched(" MAX_OF("(" CROPPED(crop, "plain", "not fits") ") if not used(1) else" \
    " no('MaxPool tells where the greatest are since opset 8', 8) if opset() < 8 else" \
    " no('the window reaches further out of the image than it is wide') if not fits else y") ", " n ")," \
    "unbatched(in_planes(places, x), " n ")"

/* ---- average ---- */

/* What ceil mode adds must not count though the padding does: zeros become image then. Sums over
 * whole windows of zeros and image are divided by a number of the user's. */
#define AVERAGE_POOL(n, divisor, crop) \
    WINDOWS(n, "[1 for i in range(" n ")]") \
    "extends = ceil or settled and len([i for i in range(" n ") if need[i] > p[i]]) > 0;" \
    "own = " divisor " is not None; inside = count_include_pad and extends and not own;" \
    "none = [0 for i in p];" \
    "rest = [ends[i] - p[i] if ends[i] > p[i] else 0 for i in range(" n ")];" \
    "image = pad_image(x, p, ends, None) if own else pad_image(x, p, p, None) if inside else apart_from_pad(x);" \
    "counts = count_include_pad and not inside and not own and p != none;" \
    "y = AveragePool<ceil_mode = 1 if ceil else None, count_include_pad = 1 if counts else None," \
    " kernel_shape = k, pads = none + none if own else none + rest if inside else p + ends," \
    " strides = s>(only_small_float(image));" \
    CEIL_10("no('a divisor of your own in ceil_mode needs fixed sizes') if own and ceil else" \
            " unbatched(y * (product(k) / " divisor ") if own else " CROPPED(crop, "y", "inside") ", " n ")")

/* ---- adaptive ---- */

#define ADAPTIVE(n) \
    "x = batched(without_bfloat16(self), " n "); to = per_axis(output_size, " n ");" \
    "from = [size(x, i + 2) for i in range(" n ")];" \
    "global = len([i for i in to if i != 1]) == 0;" \
    "even = all_fixed(from + to) and" \
    " len([i for i in range(" n ") if to[i] < 1 or from[i] // to[i] * to[i] != from[i]]) == 0;" \
    "k = [from[i] // to[i] for i in range(" n ")];"
#define PARTS_1(op) "parts_of(x, 2, to[0], '" op "')"
#define PARTS_2(op) "parts_of(" PARTS_1(op) ", 3, to[1], '" op "')"
#define PARTS_3(op) "parts_of(" PARTS_2(op) ", 4, to[2], '" op "')"
#define ADAPTIVE_AVERAGE_POOL(n) \
    ADAPTIVE(#n) "image = only_small_float(apart_from_pad(x));" \
    "unbatched(GlobalAveragePool(image) if global else" \
    " AveragePool<kernel_shape = k, strides = k>(image) if even else" \
    " " PARTS_##n("ReduceMean") " if dtype(image) != 'float64' else None, " #n ")"

/* Where the greatest of a whole plane is. */
#define ADAPTIVE_MAX_POOL(n) \
    ADAPTIVE(#n) \
    "flat = Reshape(x, [0, 0, -1]);" \
    "place = sized(ArgMax<axis = 2, keepdims = 1>(flat), [size(x, 0), size(x, 1), 1]);" \
    "plain = MaxPool<kernel_shape = k, strides = k>(x);" \
    "y, places = MaxPool<kernel_shape = k, strides = k>(x); both = used(1) and opset() >= 8;" \
    "unbatched(GlobalMaxPool(x) if global and dtype(x) != 'float64' else y if even and both else" \
    " plain if even and not used(1) else " \
    " no('ONNX does not say where the greatest of unequal parts are') if used(1) else " \
    PARTS_##n("ReduceMax") ", " #n ")," \
    "unbatched(Unsqueeze(place, range(3, " #n " + 2)) if global else in_planes(places, x), " #n ")"

/* ---- unpooling ---- */

/* Planes as rows: zeros, with the elements put where indices says. */
#define MAX_UNPOOL(n, scatter) \
    "lead = rank(self) - " n "; to = result_sizes();" \
    "planes = product([size(self, i) for i in range(lead)]);" \
    "few = [planes, product([size(self, i) for i in range(lead, rank(self))])];" \
    "zeros = Expand(like(0, self), [planes, product([to[i] for i in range(lead, rank(self))])]);" \
    "rows = " scatter "<axis = 1>(zeros, Reshape(indices, few), Reshape(self, few));" \
    "Reshape(rows, to)"
/* clang-format on */

#define MAX(op, n)                                                                                 \
    {                                                                                              \
        "aten::" op, 7, .as = MAX_VALUES(#n, CROP_##n), .parts = true                              \
    }
#define MAX_INDICES(op, n)                                                                         \
    {                                                                                              \
        "aten::" op, 7, .as = MAX_AND_PLACES(#n, CROP_##n), .parts = true                          \
    }
#define AVERAGE(op, n, divisor)                                                                    \
    {                                                                                              \
        "aten::" op, 7, .as = AVERAGE_POOL(#n, divisor, CROP_##n), .parts = true                   \
    }
#define ADAPTIVE_AVERAGE(op, n)                                                                    \
    {                                                                                              \
        "aten::" op, 7, .as = ADAPTIVE_AVERAGE_POOL(n), .parts = true                              \
    }
#define ADAPTIVE_MAX(op, n)                                                                        \
    {                                                                                              \
        "aten::" op, 7, .as = ADAPTIVE_MAX_POOL(n), .parts = true                                  \
    }

const cq_symbolic cq_symbolics_pool[] = {
    MAX("max_pool1d", 1),
    MAX("max_pool2d", 2),
    MAX("max_pool3d", 3),
    MAX_INDICES("max_pool1d_with_indices", 1),
    MAX_INDICES("max_pool2d_with_indices", 2),
    MAX_INDICES("max_pool3d_with_indices", 3),
    AVERAGE("avg_pool1d", 1, "None"),
    AVERAGE("avg_pool2d", 2, "divisor_override"),
    AVERAGE("avg_pool3d", 3, "divisor_override"),
    ADAPTIVE_AVERAGE("adaptive_avg_pool1d", 1),
    ADAPTIVE_AVERAGE("adaptive_avg_pool2d", 2),
    ADAPTIVE_AVERAGE("adaptive_avg_pool3d", 3),
    ADAPTIVE_AVERAGE("_adaptive_avg_pool2d", 2),
    ADAPTIVE_AVERAGE("_adaptive_avg_pool3d", 3),
    ADAPTIVE_MAX("adaptive_max_pool1d", 1),
    ADAPTIVE_MAX("adaptive_max_pool2d", 2),
    ADAPTIVE_MAX("adaptive_max_pool3d", 3),
    { "aten::max_unpool2d", 7, .no = "it needs Scatter, of opset 9" },
    { "aten::max_unpool3d", 7, .no = "it needs Scatter, of opset 9" },
    { "aten::max_unpool2d", 9, .as = MAX_UNPOOL("2", "Scatter") },
    { "aten::max_unpool2d", 11, .as = MAX_UNPOOL("2", "ScatterElements") },
    { "aten::max_unpool3d", 9, .as = MAX_UNPOOL("3", "Scatter") },
    { "aten::max_unpool3d", 11, .as = MAX_UNPOOL("3", "ScatterElements") },
    { 0 },
};
