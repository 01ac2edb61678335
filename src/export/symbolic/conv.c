/* Convolutions, and images as columns. */
#include "export/symbolic/common.h"
#include "kernel/window.h"

/* ---- columns ---- */

typedef struct window {
    int64_t kernel[2], dilation[2], padding[2], stride[2];
} window;

static window read_window(cq_sym *s)
{
    window w;

    cq_sym_i64_n(s, "kernel_size", w.kernel, 2, NULL);
    cq_sym_i64_n(s, "dilation", w.dilation, 2, NULL);
    cq_sym_i64_n(s, "padding", w.padding, 2, NULL);
    cq_sym_i64_n(s, "stride", w.stride, 2, NULL);
    return w;
}

/* How many places the window has along axis i of an image of this size. */
static cq_int places_of(cq_sym *s, const window *w, int i, cq_int size)
{
    int64_t room = 2 * w->padding[i] - w->dilation[i] * (w->kernel[i] - 1) - 1;

    size = cq_sym_int_floordiv(s, cq_sym_int_add(s, size, cq_i(room)), cq_i(w->stride[i]));
    return cq_sym_int_add(s, size, cq_i(1));
}

/* Indices [kernel, places] of the padded axis: k * dilation + place * stride. */
static cq_value *indices_of(cq_sym *s, const window *w, int i, cq_int places)
{
    int64_t   taps[256], zero = 0, one = 1;
    cq_value *at, *v;

    if (w->kernel[i] > 256) {
        cq_sym_no(s, 0, "a window of %lld is too large", (long long)w->kernel[i]);
        return NULL;
    }
    if (places.expr && !cq_sym_since(s, 11, "sizes that are not fixed need Range, of opset 11"))
        return NULL;
    for (int64_t k = 0; k < w->kernel[i]; k++)
        taps[k] = k * w->dilation[i];
    if (!places.expr && places.value <= 4096) {
        int64_t starts[4096];

        for (int64_t k = 0; k < places.value; k++)
            starts[k] = k * w->stride[i];
        at = cq_sym_const_i64s(s, starts, (size_t)places.value);
    } else {
        at = cq_sym_op(s, "Range",
                       CQ_IN(cq_sym_const_i64(s, 0),
                             cq_sym_of_int(s, cq_sym_int_mul(s, places, cq_i(w->stride[i]))),
                             cq_sym_const_i64(s, w->stride[i])),
                       CQ_NO_ATTR);
        cq_sym_set_type(s, at, CQ_DTYPE_I64, 1, &places);
    }
    v = cq_sym_unsqueeze(s, cq_sym_const_i64s(s, taps, (size_t)w->kernel[i]), &one, 1);
    v = cq_sym_binary(s, "Add", v, cq_sym_unsqueeze(s, at, &zero, 1));
    cq_sym_set_type(s, v, CQ_DTYPE_I64, 2, (cq_int[]){ cq_i(w->kernel[i]), places });
    return v;
}

/* Rows, then columns are picked by index: [n, c, kh, places, kw, places]. */
static cq_status im2col(cq_sym *s)
{
    window    w        = read_window(s);
    cq_value *x        = cq_sym_in(s, "self");
    bool      no_batch = cq_sym_rank(s, x) == 3;
    int64_t   zero     = 0,
            pads[8]    = { 0, 0, w.padding[0], w.padding[1], 0, 0, w.padding[0], w.padding[1] };
    cq_int  high, wide;
    cq_type result = cq_sym_result_type(s, 0);

    if (no_batch)
        x = cq_sym_unsqueeze(s, x, &zero, 1);
    high = places_of(s, &w, 0, cq_sym_size(s, x, 2));
    wide = places_of(s, &w, 1, cq_sym_size(s, x, 3));
    if (w.padding[0] || w.padding[1])
        x = cq_sym_pad(s, x, "constant", pads, 8, NULL);
    x = cq_sym_gather(s, x, indices_of(s, &w, 0, high), 2);
    x = cq_sym_gather(s, x, indices_of(s, &w, 1, wide), 4);
    x = cq_sym_transpose(s, x, (int64_t[]){ 0, 1, 2, 4, 3, 5 }, 6);
    return cq_sym_done(s, cq_sym_reshape(s, x, result.sizes, (size_t)result.rank));
}

/* A kernel for each place of the window, 1 there and 0 elsewhere. */
static cq_value *unit_kernels(cq_sym *s, const window *w)
{
    int64_t    taps     = w->kernel[0] * w->kernel[1];
    int64_t    sizes[4] = { taps, 1, w->kernel[0], w->kernel[1] };
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

/* Adding up windows is what a transposed convolution with unit kernels does: each row of the
 * columns goes to its own place of the window. */
static cq_status col2im(cq_sym *s)
{
    window    w   = read_window(s);
    cq_value *x   = cq_sym_cast(s, cq_sym_in(s, "self"), CQ_DTYPE_F32);
    cq_type   out = cq_sym_result_type(s, 0);
    cq_int    image[2], planes = cq_i(1), sizes[4];
    int64_t   pads[4] = { w.padding[0], w.padding[1], w.padding[0], w.padding[1] }, extra[2];

    if (cq_sym_ints(s, "output_size", image, 2) != 2)
        return cq_sym_no(s, 0, "its \"output_size\" must be known when the model is exported");
    for (int i = 0; i + 2 < out.rank; i++)
        planes = cq_sym_int_mul(s, planes, out.sizes[i]);
    sizes[0] = planes;
    sizes[1] = cq_i(w.kernel[0] * w.kernel[1]);
    for (int i = 0; i < 2; i++) {
        cq_int places = places_of(s, &w, i, image[i]), covered;

        sizes[2 + i] = places;
        covered      = cq_sym_int_add(
                 s, cq_sym_int_mul(s, places, cq_i(w.stride[i])),
                 cq_i(w.dilation[i] * (w.kernel[i] - 1) + 1 - w.stride[i] - 2 * w.padding[i]));
        covered  = cq_sym_int_add(s, image[i], cq_sym_int_mul(s, covered, cq_i(-1)));
        extra[i] = covered.value;
        if (covered.expr)
            return cq_sym_no(s, 0, "what its windows leave of the image must be a fixed number");
    }
    x = cq_sym_reshape(s, x, sizes, 4);
    x = cq_sym_op(s, "ConvTranspose", CQ_IN(x, unit_kernels(s, &w)),
                  CQ_ATTR(cq_attr_is(s, "dilations", w.dilation, 2),
                          cq_attr_is(s, "kernel_shape", w.kernel, 2),
                          cq_attr_is(s, "output_padding", extra, 2), cq_attr_is(s, "pads", pads, 4),
                          cq_attr_is(s, "strides", w.stride, 2)));
    cq_sym_set_dtype(s, x, CQ_DTYPE_F32);
    return cq_sym_done(s, cq_sym_reshape(s, x, out.sizes, (size_t)out.rank));
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

/* Those decline other dtypes. Integers are products of matrices then, which are exact. */
#define ITS_OWN "input, weight, bias, stride, padding"
#define PADDED OPERANDS "p = per_axis(padding, n);"
#define PLAIN(op) \
    { "aten::" op, 7, .as = PADDED DONE(PLAIN_NODE), \
      .parts = "convolved_either(" ITS_OWN ", dilation, False, [0], groups)" }
#define BY_WORD(op) \
    { "aten::" op, 7, .as = OPERANDS BY_WORD_NODE BY_WORD_DONE, \
      .parts = "convolved_as(" ITS_OWN ", dilation, groups)" }
#define TRANSPOSED(op) \
    { "aten::" op, 7, .as = PADDED TRANSPOSED_NODE DONE("back"), \
      .parts = "convolved_back(" ITS_OWN ", dilation, output_padding, groups)" }
#define EITHER(op) \
    { "aten::" op, 7, .as = PADDED TRANSPOSED_NODE DONE("back if transposed else " PLAIN_NODE), \
      .parts = "convolved_either(" ITS_OWN ", dilation, transposed, output_padding, groups)" }
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
    { "aten::im2col", 7, .fn = im2col },
    { "aten::col2im", 7, .fn = col2im },
    { 0 },
};
