/* Functions that bodies share (body.h): windows of images, for what has to be put together from
 * other operators. The layout is [batch, channels, axes …] throughout. */
#include "aten/body.h"

const cq_body_function cq_body_images[] = {
    /* ---- windows ---- */

    /* One number for every axis. */
    { "for_each_axis(int[] given, int n) -> int[]",
      "given if len(given) == n else [given[0]] * n" },
    /* The order of constant_pad_nd: the last axis first. */
    { "pads_of(int[] before, int[] after) -> int[]",
      "pads = []\n"
      "for i in reversed(range(len(before))): pads = pads + [before[i], after[i]]\n"
      "return pads" },
    /* All windows: [batch, channels, places …, kernel …]. */
    { "windows_of(Tensor x, int[] kernel, int[] stride, int[] dilation) -> Tensor",
      "for i in range(len(kernel)):"
      " x = x.unfold(2 + i, dilation[i] * (kernel[i] - 1) + 1, stride[i]);"
      " x = x.slice(-1, 0, 9223372036854775807, dilation[i])\n"
      "return x" },
    { "with_batch(Tensor x, int n) -> Tensor", "x if x.ndim == n + 2 else x.unsqueeze(0)" },
    { "without_batch(Tensor y, Tensor x, int n) -> Tensor",
      "y if x.ndim == n + 2 else y.squeeze(0)" },

    /* ---- convolutions as products of matrices ---- */

    { "convolved(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] before, int[] "
      "after, "
      "int[] dilation, int groups) -> Tensor",
      "n = weight.ndim - 2\n"
      "k = weight.shape[2:]\n"
      "x = with_batch(input, n).constant_pad_nd(pads_of(before, after), 0)\n"
      "batch = x.shape[0]; c = x.shape[1] // groups; out = weight.shape[0]\n"
      "x = windows_of(x, k, for_each_axis(stride, n), dilation)\n"
      "places = x.shape[2:2 + n]\n"
      "x = x.reshape([batch, groups, c] + places + k)\n"
      "x = x.permute([0, 1] + range(3, 3 + n) + [2] + range(3 + n, 3 + 2 * n))\n"
      "x = x.reshape([batch, groups, prod(places), c * prod(k)])\n"
      "w = weight.reshape([groups, out // groups, c * prod(k)]).transpose(1, 2)\n"
      "y = (x @ w).transpose(2, 3).reshape([batch, out] + places)\n"
      "if bias is not None: y = y + bias.reshape([out] + [1] * n)\n"
      "return without_batch(y, input, n)" },
    /* Padding by a word. */
    { "convolved_as(Tensor input, Tensor weight, Tensor? bias, int[] stride, str padding, "
      "int[] dilation, int groups) -> Tensor",
      "n = weight.ndim - 2\n"
      "d = for_each_axis(dilation, n)\n"
      "all = [d[i] * (weight.shape[2 + i] - 1) if padding == 'same' else 0 for i in range(n)]\n"
      "return convolved(input, weight, bias, stride, [a // 2 for a in all], [a - a // 2 for a in "
      "all],"
      " d, groups)" },
    /* Zeros between the elements of an axis, so that they are a stride apart. */
    { "spread(Tensor x, int axis, int stride) -> Tensor",
      "if stride == 1: return x\n"
      "n = x.shape[axis]\n"
      "x = x.transpose(axis, -1).unsqueeze(-1).constant_pad_nd([0, stride - 1], 0)\n"
      "return x.flatten(-2, -1).slice(-1, 0, n * stride - (stride - 1)).transpose(axis, -1)" },
    { "convolved_back(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, "
      "int[] dilation, int[] output_padding, int groups) -> Tensor",
      "n = weight.ndim - 2\n"
      "s = for_each_axis(stride, n); d = for_each_axis(dilation, n)\n"
      "p = for_each_axis(padding, n); extra = for_each_axis(output_padding, n)\n"
      "x = with_batch(input, n)\n"
      "for i in range(n): x = spread(x, 2 + i, s[i])\n"
      "k = weight.shape[2:]\n"
      "c = weight.shape[0] // groups; out = weight.shape[1]\n"
      "w = weight.reshape([groups, c, out] + k).transpose(1, 2).reshape([groups * out, c] + k)\n"
      "before = [d[i] * (k[i] - 1) - p[i] for i in range(n)]\n"
      "y = convolved(x, w.flip(range(2, 2 + n)), bias, [1], before,"
      " [before[i] + extra[i] for i in range(n)], d, groups)\n"
      "return without_batch(y, input, n)" },
    { "convolved_either(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, "
      "int[] dilation, bool transposed, int[] output_padding, int groups) -> Tensor",
      "if transposed: return convolved_back(input, weight, bias, stride, padding, dilation,"
      " output_padding, groups)\n"
      "n = weight.ndim - 2\n"
      "p = for_each_axis(padding, n)\n"
      "return convolved(input, weight, bias, stride, p, p, for_each_axis(dilation, n), groups)" },

    /* ---- pools ---- */

    /* How many windows an axis has; in ceil mode one more may begin before the padding behind. */
    { "places_on(int size, int kernel, int stride, int pad, int dilation, bool ceil_mode) -> int",
      "room = size + 2 * pad - dilation * (kernel - 1) - 1\n"
      "if not ceil_mode: return room // stride + 1\n"
      "return min((room + stride - 1) // stride, (size + pad - 1) // stride) + 1" },
    /* The windows of a pool, fill around the image: in ceil mode as much as the last one needs. */
    { "pool_windows(Tensor x, int[] kernel, int[] stride, int[] pad, int[] dilation, bool "
      "ceil_mode, "
      "Scalar fill) -> Tensor",
      "n = len(kernel)\n"
      "out = [places_on(x.shape[2 + i], kernel[i], stride[i], pad[i], dilation[i], ceil_mode)"
      " for i in range(n)]\n"
      "behind = [(out[i] - 1) * stride[i] + dilation[i] * (kernel[i] - 1) + 1 - x.shape[2 + i] - "
      "pad[i]"
      " for i in range(n)] if ceil_mode else pad\n"
      "return windows_of(x.constant_pad_nd(pads_of(pad, behind), fill), kernel, stride, "
      "dilation)" },
    /* What a window of one axis counts: all of it that lies on the image or the padding asked for,
     * or on the image alone. */
    { "counted(int size, int places, int kernel, int stride, int pad, bool include) -> Tensor",
      "start = arange(places) * stride - pad\n"
      "end = (start + kernel).clamp(max=size + pad)\n"
      "return end - start if include else end.clamp(max=size) - start.clamp(min=0)" },
    { "averaged(Tensor self, int n, int[] kernel_size, int[] stride, int[] padding, bool "
      "ceil_mode, "
      "bool include, int? divisor) -> Tensor",
      "x = with_batch(self, n)\n"
      "k = for_each_axis(kernel_size, n); p = for_each_axis(padding, n)\n"
      "s = k if len(stride) == 0 else for_each_axis(stride, n)\n"
      "y = pool_windows(x, k, s, p, [1] * n, ceil_mode, 0)\n"
      "y = y.sum(range(2 + n, 2 + 2 * n), dtype=self.dtype)\n"
      "by = ones([1], dtype=torch.int64)\n"
      "for i in range(n): by = by * counted(x.shape[2 + i], y.shape[2 + i], k[i], s[i], p[i], "
      "include)"
      ".reshape([-1 if j == i else 1 for j in range(n)])\n"
      "if divisor is not None: by = full([], divisor, dtype=torch.int64)\n"
      "y = y / by.to(y.dtype) if y.is_floating_point() else y.div(by.to(y.dtype), "
      "rounding_mode='trunc')\n"
      "return without_batch(y, self, n)" },
    /* The greatest of each window and where it is in its plane. */
    { "greatest(Tensor self, int n, int[] kernel_size, int[] stride, int[] padding, int[] "
      "dilation, "
      "bool ceil_mode) -> (Tensor, Tensor)",
      "x = with_batch(self, n)\n"
      "k = for_each_axis(kernel_size, n); p = for_each_axis(padding, n)\n"
      "s = k if len(stride) == 0 else for_each_axis(stride, n); d = for_each_axis(dilation, n)\n"
      "plane = x.shape[2:]\n"
      "at = arange(prod(plane)).reshape([1, 1] + plane)\n"
      "w = pool_windows(x, k, s, p, d, ceil_mode, lowest(x.dtype)).flatten(2 + n, -1)\n"
      "at = pool_windows(at, k, s, p, d, ceil_mode, -1).flatten(2 + n, -1)\n"
      "same = w == w.amax([-1], True)\n"
      "if w.is_floating_point(): same = same.logical_or(w.isnan())\n"
      "best = same.logical_and(at >= 0).to(torch.int32).argmax(-1, True)\n"
      "return without_batch(w.amax([-1]), self, n),"
      " without_batch(at.expand(w.shape).gather(-1, best).squeeze(-1), self, n)" },
    { "lowest(int dtype) -> Scalar",
      "-math.inf if dtype.is_floating_point else 0 if dtype == torch.uint8 else"
      " -128 if dtype == torch.int8 else -32768 if dtype == torch.int16 else"
      " -2147483648 if dtype == torch.int32 else -9223372036854775807 - 1" },
    /* Adaptive: part i of o begins at floor(i * n / o) and ends at ceil((i + 1) * n / o). Where the
     * elements of each part are; those of a part that is shorter than others end with its last one,
     * again: [o, longest]. */
    { "places_of_parts(int n, int o) -> Tensor",
      "i = arange(o).unsqueeze(1)\n"
      "end = ((i + 1) * n + (o - 1)).floor_divide(o)\n"
      "at = (i * n).floor_divide(o) + arange((n + o - 1) // o + 1)\n"
      "return min(at, end - 1)" },
    /* Axis by axis: the sum of a part, divided by how many it has. */
    { "means_of_parts(Tensor self, int n, int[] output_size) -> Tensor",
      "x = with_batch(self, n)\n"
      "o = for_each_axis(output_size, n)\n"
      "for i in range(n): at = places_of_parts(x.shape[2 + i], o[i]); new = at != at.roll([1], "
      "[1]);"
      " new = new.logical_or(arange(at.shape[1]) == 0).to(x.dtype);"
      " new = new.reshape(new.shape + [1] * (n - 1 - i));"
      " x = x.index_select(2 + i, at.flatten()).unflatten(2 + i, [o[i], -1]);"
      " x = (x * new).sum(3 + i) / new.sum(1)\n"
      "return without_batch(x, self, n)" },
    { "greatest_of_parts(Tensor self, int n, int[] output_size) -> (Tensor, Tensor)",
      "x = with_batch(self, n)\n"
      "o = for_each_axis(output_size, n)\n"
      "plane = x.shape[2:]\n"
      "at = arange(prod(plane)).reshape([1, 1] + plane)\n"
      "for i in range(n): places = places_of_parts(plane[i], o[i]);"
      " x = x.index_select(2 + 2 * i, places.flatten()).unflatten(2 + 2 * i, [o[i], -1]);"
      " at = at.index_select(2 + 2 * i, places.flatten()).unflatten(2 + 2 * i, [o[i], -1])\n"
      "order = [0, 1] + [2 + 2 * i for i in range(n)] + [3 + 2 * i for i in range(n)]\n"
      "x = x.permute(order).flatten(2 + n, -1)\n"
      "at = at.permute(order).flatten(2 + n, -1).expand(x.shape)\n"
      "return without_batch(x.amax([-1]), self, n),"
      " without_batch(at.gather(-1, x.argmax(-1, True)).squeeze(-1), self, n)" },

    /* ---- padding ---- */

    /* Without what negative pads take away. */
    { "cropped(Tensor x, int[] pad) -> Tensor",
      "n = x.ndim\n"
      "for i in range(len(pad) // 2): if pad[2 * i] < 0 or pad[2 * i + 1] < 0:"
      " x = x.slice(n - 1 - i, max(0, -pad[2 * i]),"
      " pad[2 * i + 1] if pad[2 * i + 1] < 0 else 9223372036854775807)\n"
      "return x" },
    /* A piece of the value before and after, dimension by dimension. One of a size that is not
     * fixed is there though the example has none of it; a run with a negative one fails. */
    { "padded_by_pieces(Tensor self, int[] pad, Scalar value) -> Tensor",
      "if len([p for p in pad if not is_known(p) and p < 0]) > 0:"
      " raise NotImplementedError('it cuts off as much as is not fixed')\n"
      "x = cropped(self, [p if is_known(p) else 0 for p in pad]); n = x.ndim\n"
      "for i in range(len(pad) // 2): d = n - 1 - i;"
      " piece = [full(x.shape[:d] + [p] + x.shape[d + 1:], value, dtype=x.dtype)"
      " for p in pad[2 * i:2 * i + 2] if not is_known(p) or p > 0];"
      " x = cat((piece[:1] if not is_known(pad[2 * i]) or pad[2 * i] > 0 else []) + [x]"
      " + (piece[-1:] if not is_known(pad[2 * i + 1]) or pad[2 * i + 1] > 0 else []), d)\n"
      "return x" },
    /* From the other side. */
    { "padded_around(Tensor self, int[] pad) -> Tensor",
      "if sum([0 if is_known(p) else 1 for p in pad]) > 0:"
      " raise NotImplementedError('its padding is not fixed')\n"
      "x = cropped(self, pad); n = x.ndim\n"
      "for i in range(len(pad) // 2): d = n - 1 - i;"
      " x = cat(([x.slice(d, -pad[2 * i])] if pad[2 * i] > 0 else []) + [x]"
      " + ([x.slice(d, 0, pad[2 * i + 1])] if pad[2 * i + 1] > 0 else []), d)\n"
      "return x" },

    /* ---- sampling ---- */

    /* Places that left the image, thrown back from its borders as often as needed. low and high are
     * twice the borders. */
    { "reflected(Tensor x, int low, int high) -> Tensor",
      "span = max(high - low, 1)\n"
      "x = (x * 2 - low).abs()\n"
      "rest = x.fmod(span)\n"
      "rest = where((x / span).floor().fmod(2) == 0, rest, span - rest)\n"
      "return (rest + low) / 2" },
    /* From -1 … 1 to the places of pixels; then as the padding says. */
    { "pixel_places(Tensor g, int size, bool align) -> Tensor",
      "(g + 1) * (size - 1) / 2 if align else ((g + 1) * size - 1) / 2" },
    { "kept_inside(Tensor x, int size, int padding, bool align) -> Tensor",
      "if padding == 2: x = reflected(x, 0 if align else -1, 2 * size - (2 if align else 1))\n"
      "return x.clamp(0, size - 1) if padding > 0 else x" },
    /* The pixels at whole places, one tensor for each axis; 0 beside the image. */
    { "pixels_at(Tensor image, Tensor[] at) -> Tensor",
      "n = len(at)\n"
      "inside = ones([], dtype=torch.bool)\n"
      "flat = zeros([], dtype=torch.int64)\n"
      "for i in range(n): size = image.shape[2 + i];"
      " inside = inside.logical_and(at[i] >= 0).logical_and(at[i] < size);"
      " flat = flat * size + at[i].clamp(0, size - 1).to(torch.int64)\n"
      "batch = image.shape[0]; planes = image.shape[1]\n"
      "y = image.flatten(2, -1).gather(2, flat.reshape([batch, 1, -1]).expand([batch, planes, "
      "-1]))\n"
      "y = y.reshape([batch, planes] + at[0].shape[1:])\n"
      "return where(inside.unsqueeze(1), y, number_like(y, 0.))" },
    /* The k-th of the 2^n corners around places: bit i of k tells the side along axis i. */
    { "corner_at(Tensor image, Tensor[] at, int k) -> Tensor",
      "n = len(at); corner = []; weight = ones([], dtype=image.dtype)\n"
      "for i in range(n): low = at[i].floor(); part = at[i] - low; far = k // [1, 2, 4][i] % 2;"
      " corner = corner + [low + far]; weight = weight * (part if far == 1 else 1 - part)\n"
      "return pixels_at(image, corner) * weight.unsqueeze(1)" },
    /* The weight of a pixel at this distance, up to 1 or beyond it, of the cubic through four. */
    { "cubic_weight(Tensor x, bool beyond) -> Tensor",
      "if beyond: return ((x * -0.75 + 3.75) * x - 6) * x + 3\n"
      "return (x * 1.25 - 2.25) * x * x + 1" },
    /* The k-th of the 4^n pixels around places. */
    { "cubic_at(Tensor image, Tensor[] at, int k, int padding, bool align) -> Tensor",
      "pixels = []; weight = ones([], dtype=image.dtype)\n"
      "for i in range(len(at)): low = at[i].floor(); part = at[i] - low; tap = k // 4 ** i % 4;"
      " pixels += [kept_inside(low + (tap - 1), image.shape[2 + i], padding, align)];"
      " weight = weight * cubic_weight(part + (1 - tap) if tap < 2 else (tap - 1) - part,"
      " tap in [0, 3])\n"
      "return pixels_at(image, pixels) * weight.unsqueeze(1)" },
    { "sampled(Tensor image, Tensor grid, int mode, int padding, bool align) -> Tensor",
      "n = image.ndim - 2\n"
      "at = [pixel_places(grid.select(-1, n - 1 - i), image.shape[2 + i], align)"
      " for i in range(n)]\n"
      "if mode == 2: y = cubic_at(image, at, 0, padding, align)\n"
      "else: at = [kept_inside(at[i], image.shape[2 + i], padding, align) for i in range(n)]\n"
      "if mode == 1: return pixels_at(image, [x.round() for x in at])\n"
      "if mode == 0: y = corner_at(image, at, 0)\n"
      "for k in range(1, (4 if mode == 2 else 2) ** n):"
      " y = y + (cubic_at(image, at, k, padding, align) if mode == 2 else corner_at(image, at, "
      "k))\n"
      "return y" },
    /* Where the pixels of an axis are in -1 … 1. */
    { "grid_line(int n, bool align, int dtype) -> Tensor",
      "x = arange(n, dtype=dtype)\n"
      "return x * 2 / max(n - 1, 1) - (1 if size_hint(n) > 1 else 0) if align else (x * 2 + 1) / n "
      "- 1" },
    { "affine_places(Tensor theta, int[] size, bool align) -> Tensor",
      "n = len(size) - 2; line = []\n"
      "for k in range(n): i = n - 1 - k; x = grid_line(size[2 + i], align, theta.dtype);"
      " x = x.reshape([-1 if j == i else 1 for j in range(n)]).expand(size[2:]); line = line + "
      "[x]\n"
      "line = line + [ones(size[2:], dtype=theta.dtype)]\n"
      "y = stack(line, -1).reshape([1, -1, n + 1]) @ theta.transpose(1, 2)\n"
      "return y.reshape([theta.shape[0]] + size[2:] + [n])" },

    /* ---- resizing ---- */

    /* floor(n * by), by a division of whole numbers where that can be said. */
    { "scaled_size(int n, float by) -> int",
      "q = 0\n"
      "for d in [32, 16, 10, 8, 5, 4, 3, 2, 1]: q = d if by * d == math.floor(by * d) else q\n"
      "return n * int(by * q) // q if q > 0 else int(n * by)" },
    /* The filters of PyTorch's averaging: a triangle, or a cubic of a = -0.5. */
    { "filter_weight(Tensor x, bool cubic) -> Tensor",
      "x = x.abs()\n"
      "if not cubic: return (1 - x).clamp(min=0)\n"
      "near = (x * 1.5 - 2.5) * x * x + 1\n"
      "far = ((x * -0.5 + 2.5) * x - 4) * x + 2\n"
      "return where(x < 1, near, where(x < 2, far, zeros_like(x)))" },
    /* [places of the result, pixels]: what each pixel counts. */
    { "average_weights(int n, int out, float? factor, bool align, bool cubic, int dtype) -> Tensor",
      "from = scalar_tensor(n, dtype=torch.float64); to = scalar_tensor(out, dtype=torch.float64)\n"
      "scale = from / to\n"
      "if align: scale = where(to > 1, (from - 1) / (to - 1).clamp(min=1), zeros_like(to))\n"
      "elif factor is not None: scale = scalar_tensor(1 / factor, dtype=torch.float64)\n"
      "wide = scale.clamp(min=1)\n"
      "reach = wide * (2 if cubic else 1)\n"
      "centre = ((arange(out, dtype=torch.float64) + 0.5) * scale).unsqueeze(1)\n"
      "j = arange(n, dtype=torch.float64)\n"
      "first = (centre - reach + 0.5).trunc(); end = (centre + reach + 0.5).trunc()\n"
      "w = filter_weight((j + 0.5 - centre) / wide, cubic)\n"
      "w = where((j >= first).logical_and(j < end), w, zeros_like(w))\n"
      "return (w / w.sum(1, True)).to(dtype)" },
    { "averaged_to(Tensor x, int[] out, float? high, float? wide, bool align, bool cubic) -> "
      "Tensor",
      "y = in_float(x)\n"
      "rows = average_weights(x.shape[2], out[0], high, align, cubic, y.dtype)\n"
      "columns = average_weights(x.shape[3], out[1], wide, align, cubic, y.dtype)\n"
      "return rows @ (y @ columns.transpose(0, 1))" },
    { "averaged_by(Tensor x, int[]? out, float[]? factors, bool align, bool cubic) -> Tensor",
      "if out is not None: return averaged_to(x, out, None, None, align, cubic)\n"
      "assert factors is not None and len(factors) == 2, 'wants sizes or two factors'\n"
      "return averaged_to(x, [scaled_size(x.shape[2 + i], factors[i]) for i in range(2)],"
      " factors[0], factors[1], align, cubic)" },
    { 0 },
};
