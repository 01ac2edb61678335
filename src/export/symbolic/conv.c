/* Convolutions, and images as columns. */
#include "export/symbolic/common.h"
#include "kernel/conv/window.h"

cq_value *cq_sym_unit_kernels(cq_sym *s, int64_t high, int64_t wide)
{
    int64_t    taps     = high * wide;
    int64_t    sizes[4] = { taps, 1, high, wide };
    cq_tensor *t        = NULL;
    cq_value  *v;

    if (taps > 4096) {
        cq_sym_no(s, 0, "a window of %lld is too large", (long long)taps);
        return NULL;
    }
    if (s->status != CQ_OK ||
        cq_sym_fail(s, cq_tensor_new(&t, CQ_DTYPE_F32, 4, sizes, NULL)) != CQ_OK)
        return NULL;
    for (int64_t k = 0; k < taps; k++)
        ((float *)cq_tensor_data(t))[k * taps + k] = 1;
    v = cq_sym_const(s, t);
    cq_tensor_release(t);
    return v;
}

/* clang-format off */
#define OPERANDS \
    "n = rank(weight) - 2; x = only_small_float(without_bfloat16(input));" \
    "image = Unsqueeze(x, [0]) if rank(x) == n + 1 else x;" \
    "w = without_bfloat16(weight); b = without_bfloat16(bias);" \
    "k = [size(w, i + 2) for i in range(n)]; s = per_axis(stride, n); d = per_axis(dilation, n);"
#define GEOMETRY "dilations = d, group = groups, kernel_shape = k if all_fixed(k) else None,"
#define DONE(y) "y = " y "; Squeeze(y, [0]) if rank(input) == n + 1 else y"

#define PLAIN_NODE "Conv<" GEOMETRY " pads = p + p, strides = s>(image, w, b)"

/* As many as "same" needs, the odd one behind; none for "valid". Without the size of the kernel the
 * word means the same, for any. */
#define BY_WORD_NODE \
    "whole = [d[i] * (k[i] - 1) if padding == 'same' else 0 for i in range(n)];" \
    "half = [i // 2 for i in whole]; word = padding == 'same' and not all_fixed(k);"
#define BY_WORD_DONE \
    DONE("no('padding \"same\" of a kernel with gaps needs its size')" \
         " if word and len([i for i in d if i != 1]) > 0 else" \
         " Conv<" GEOMETRY " auto_pad = 'SAME_UPPER' if word else None, pads = None if word else" \
         " half + [whole[i] - half[i] for i in range(n)], strides = s>(image, w, b)")

/* More behind the result is less cut off there. ONNX Runtime takes an output_padding up to the
 * stride, and PyTorch one up to the dilation, so what is too much goes to the other side of the
 * same sum. */
#define TRANSPOSED_NODE \
    "more = per_axis(output_padding, n);" \
    "moved = [0 if more[i] < s[i] else more[i] if more[i] < p[i] else p[i] for i in range(n)];" \
    "extra = [more[i] - moved[i] for i in range(n)];" \
    "back = no('an output_padding beyond the padding and the stride')" \
    " if len([i for i in range(n) if extra[i] >= s[i]]) > 0 else" \
    " ConvTranspose<" GEOMETRY " output_padding = extra," \
    " pads = p + [p[i] - moved[i] for i in range(n)], strides = s>(image, w, b);"

/* ---- columns ---- */

/* The window, and how many places it has along the axes of an image. */
#define WINDOW(size) \
    "k = per_axis(kernel_size, 2); d = per_axis(dilation, 2); p = per_axis(padding, 2);" \
    "s = per_axis(stride, 2);" \
    "many = [(" size " + 2 * p[i] - d[i] * (k[i] - 1) - 1) // s[i] + 1 for i in range(2)];"

/* Rows, then columns are picked by index: [n, c, kh, places, kw, places]. */
#define IM2COL \
    "x = Unsqueeze(self, [0]) if rank(self) == 3 else self;" WINDOW("size(x, i + 2)") \
    "rows = Gather<axis = 2>(pad_image(x, p, p, None), taps(k[0], d[0], many[0], s[0]));" \
    "cells = Gather<axis = 4>(rows, taps(k[1], d[1], many[1], s[1]));" \
    "Reshape(Transpose<perm = [0, 1, 2, 4, 3, 5]>(cells), result_sizes())"

/* Adding up windows is what a transposed convolution with unit kernels does: each row of the
 * columns goes to its own place of the window. What the windows leave of the image is padding. */
#define COL2IM \
    WINDOW("output_size[i]") "to = result_sizes();" \
    "left = [output_size[i] - (many[i] * s[i] + d[i] * (k[i] - 1) + 1 - s[i] - 2 * p[i])" \
    " for i in range(2)];" \
    "x = Reshape(cast(self, 'float32')," \
    " [product([to[i] for i in range(len(to) - 2)]), k[0] * k[1]] + many);" \
    "no('what its windows leave of the image must be a fixed number') if not all_fixed(left) else" \
    " Reshape(ConvTranspose<dilations = d, kernel_shape = k, output_padding = left, pads = p + p," \
    " strides = s>(x, unit_kernels(k[0], k[1])), to)"

/* Those decline other dtypes. Integers are products of matrices then, which are exact. */
#define ITS_OWN "input, weight, bias, stride, padding"
#define PADDED OPERANDS "p = per_axis(padding, n);"
#define PLAIN(op) \
    { "aten::" op, 7, .as = PADDED DONE(PLAIN_NODE), \
      .parts = true }
#define BY_WORD(op) \
    { "aten::" op, 7, .as = OPERANDS BY_WORD_NODE BY_WORD_DONE, \
      .parts = true }
#define TRANSPOSED(op) \
    { "aten::" op, 7, .as = PADDED TRANSPOSED_NODE DONE("back"), \
      .parts = true }
#define EITHER(op) \
    { "aten::" op, 7, .as = PADDED TRANSPOSED_NODE DONE("back if transposed else " PLAIN_NODE), \
      .parts = true }
/* clang-format on */

const cq_symbolic cq_symbolics_conv[] = {
    PLAIN("conv1d"),
    PLAIN("conv2d"),
    PLAIN("conv3d"),
    BY_WORD("conv1d.padding"),
    BY_WORD("conv2d.padding"),
    BY_WORD("conv3d.padding"),
    TRANSPOSED("conv_transpose1d"),
    TRANSPOSED("conv_transpose2d.input"),
    TRANSPOSED("conv_transpose3d.input"),
    EITHER("convolution"),
    EITHER("_convolution"),
    EITHER("_convolution.deprecated"),
    BY_WORD("_convolution_mode"),
    { "aten::im2col", 7, .as = IM2COL },
    { "aten::col2im", 7, .as = COL2IM },
    { 0 },
};
