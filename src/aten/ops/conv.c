/* Convolutions and their transposes of one to three axes, under all the names they have in
 * PyTorch; and the unfolding of images into columns. One reader of arguments, one shape rule
 * and one kernel call serve all the rows: they differ in which arguments their schemas have. */
#include "aten/ops/conv.h"
#include "kernel/conv/conv.h"

static bool has_arg(const cq_opcall *c, const char *name)
{
    return cq_schema_find(c->op->schema, name) >= 0;
}

/* "same" puts half of the required padding on either side, the odd one at the end. */
static cq_status read_padding_word(const cq_opcall *c, cq_conv *v)
{
    const char *word = cq_arg_str(c, "padding", "valid");

    if (strcmp(word, "valid") == 0)
        return CQ_OK;
    if (strcmp(word, "same") != 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected padding \"same\" or \"valid\", got \"%s\"",
                            word);
    v->same = true;
    for (size_t i = 0; i < v->n; i++) {
        int64_t total = v->window.dilation[i] * (v->w->sizes[i + 2].value - 1);

        if (v->window.stride[i] != 1)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "padding \"same\" requires a stride of 1, got %lld",
                                (long long)v->window.stride[i]);
        v->window.padding[i] = total / 2;
        v->after[i]          = total - total / 2;
    }
    return CQ_OK;
}

static cq_status read_padding(const cq_opcall *c, cq_conv *v)
{
    if (cq_arg_val(c, "padding").kind == CQ_VAL_STR)
        return read_padding_word(c, v);
    cq_arg_window(c, "padding", v->window.padding, v->n, 0, NULL);
    memcpy(v->after, v->window.padding, sizeof v->after);
    return CQ_OK;
}

static cq_status check_channels(const cq_opcall *c, const cq_conv *v)
{
    int64_t in = v->x->sizes[v->x->rank - v->n - 1].value, per_group = v->w->sizes[1].value;
    int64_t first = v->w->sizes[0].value;
    int64_t out;

    if (v->groups < 1 || v->groups > CQ_WINDOW_MAX || first % v->groups)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "the %lld channels of the weight are not divisible by %lld groups",
                            (long long)first, (long long)v->groups);
    out = v->transposed ? per_group * v->groups : first;
    if (in != (v->transposed ? first : per_group * v->groups))
        return cq_call_fail(c, CQ_E_TYPE, "expected an input of %lld channel%s, got %lld",
                            (long long)(v->transposed ? first : per_group * v->groups),
                            (v->transposed ? first : per_group * v->groups) == 1 ? "" : "s",
                            (long long)in);
    if (v->bias && (v->bias->rank != 1 || v->bias->sizes[0].value != out))
        return cq_call_fail(c, CQ_E_TYPE, "expected a bias of %lld elements", (long long)out);
    if (v->x->dtype != v->w->dtype || (v->bias && v->bias->dtype != v->x->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected input and weight of one dtype, got %s and %s",
                            cq_dtype_name(v->x->dtype), cq_dtype_name(v->w->dtype));
    return CQ_OK;
}

cq_status cq_conv_read(const cq_opcall *c, cq_conv *v)
{
    *v = (cq_conv){ .x      = cq_arg_tensor(c, "input"),
                    .w      = cq_arg_tensor(c, "weight"),
                    .bias   = cq_arg_tensor(c, "bias"),
                    .groups = cq_arg_i64(c, "groups") };
    if (v->w->rank < 3 || v->w->rank > 2 + CQ_MAX_SPATIAL)
        return cq_call_fail(c, CQ_E_TYPE, "expected a weight of 3 to %d dimensions, got %u",
                            2 + CQ_MAX_SPATIAL, v->w->rank);
    v->n = v->w->rank - 2;
    v->transposed =
        has_arg(c, "transposed") ? cq_arg_bool(c, "transposed") : has_arg(c, "output_padding");
    CQ_TRY(cq_need_image(c, v->x, v->n));
    cq_arg_window(c, "stride", v->window.stride, v->n, 1, NULL);
    cq_arg_window(c, "dilation", v->window.dilation, v->n, 1, NULL);
    if (v->transposed)
        cq_arg_window(c, "output_padding", v->output_padding, v->n, 0, NULL);
    CQ_TRY(read_padding(c, v));
    CQ_TRY(c->cx->status);
    return check_channels(c, v);
}

cq_int cq_conv_transposed_size(cq_opcall *c, const cq_conv *v, size_t i, cq_int in)
{
    const cq_window *w = &v->window;
    cq_int           size;

    size = cq_size_mul(c, cq_size_sub(c, in, cq_i(1)), cq_i(w->stride[i]));
    size = cq_size_add(
        c, size, cq_size_mul(c, cq_size_sub(c, v->w->sizes[i + 2], cq_i(1)), cq_i(w->dilation[i])));
    return cq_size_add(c, size, cq_i(v->output_padding[i] - w->padding[i] - v->after[i] + 1));
}

static cq_status conv_shape(cq_opcall *c)
{
    cq_conv v;
    cq_int  sizes[CQ_MAX_RANK];
    size_t  lead;

    CQ_TRY(cq_conv_read(c, &v));
    lead            = v.x->rank - v.n;
    sizes[0]        = v.x->sizes[0];
    sizes[lead - 1] = v.w->sizes[0];
    if (v.transposed)
        sizes[lead - 1] = cq_size_mul(c, v.w->sizes[1], cq_i(v.groups));
    for (size_t i = 0; i < v.n; i++) {
        cq_int in = v.x->sizes[lead + i];

        sizes[lead + i] = v.same         ? in
                          : v.transposed ? cq_conv_transposed_size(c, &v, i, in)
                                         : cq_positions(c, in, v.w->sizes[i + 2],
                                                        v.window.stride[i], v.window.padding[i],
                                                        v.after[i], v.window.dilation[i], false);
        if (v.transposed && sizes[lead + i].value < 1)
            return cq_call_fail(c, CQ_E_TYPE, "the result would have size %lld",
                                (long long)sizes[lead + i].value);
    }
    return cq_result(c, 0, v.x->dtype, v.x->rank, sizes);
}

static cq_status conv_run(cq_opcall *c)
{
    cq_conv    v;
    cq_tensor *x, *out;

    CQ_TRY(cq_conv_read(c, &v));
    x   = cq_with_batch(c, v.x, v.n);
    out = cq_with_batch(c, cq_result_tensor(c, 0), v.n);
    if (!x || !out)
        return c->cx->status;
    return (v.transposed ? cq_kernel_conv_transpose : cq_kernel_conv)(out, x, v.w, v.bias,
                                                                      &v.window, v.groups);
}

/* ---- unfolding ---- */

static void read_window(const cq_opcall *c, cq_window *w)
{
    memset(w, 0, sizeof *w);
    cq_arg_window(c, "kernel_size", w->kernel, 2, 1, NULL);
    cq_arg_window(c, "dilation", w->dilation, 2, 1, NULL);
    cq_arg_window(c, "padding", w->padding, 2, 0, NULL);
    cq_arg_window(c, "stride", w->stride, 2, 1, NULL);
}

/* The number of window positions for these two sizes. */
static void window_positions(cq_opcall *c, const cq_window *w, const cq_int *image,
                             cq_int *positions)
{
    for (size_t i = 0; i < 2; i++)
        positions[i] = cq_positions(c, image[i], cq_i(w->kernel[i]), w->stride[i], w->padding[i],
                                    w->padding[i], w->dilation[i], false);
}

static cq_status im2col_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "self");
    cq_window  w;
    cq_int     positions[2], sizes[3];
    size_t     lead;

    CQ_TRY(cq_need_image(c, x, 2));
    read_window(c, &w);
    CQ_TRY(c->cx->status);
    lead = x->rank - 2;
    window_positions(c, &w, x->sizes + lead, positions);
    sizes[0]        = x->sizes[0];
    sizes[lead - 1] = cq_size_mul(c, x->sizes[lead - 1], cq_i(w.kernel[0] * w.kernel[1]));
    sizes[lead]     = cq_size_mul(c, positions[0], positions[1]);
    return cq_result(c, 0, x->dtype, lead + 1, sizes);
}

/* From an image to columns, or back. */
static cq_status columns_run(cq_opcall *c, bool to_image)
{
    cq_tensor *x   = cq_with_batch(c, cq_arg_tensor(c, "self"), to_image ? 1 : 2);
    cq_tensor *out = cq_with_batch(c, cq_result_tensor(c, 0), to_image ? 2 : 1);
    cq_window  w;
    cq_int     positions[2];

    read_window(c, &w);
    if (!x || !out)
        return c->cx->status;
    window_positions(c, &w, (to_image ? out : x)->sizes + 2, positions);
    return (to_image ? cq_kernel_col2im : cq_kernel_im2col)(
        out, x, &w, (int64_t[]){ positions[0].value, positions[1].value });
}

static cq_status im2col_run(cq_opcall *c)
{
    return columns_run(c, false);
}

static cq_status col2im_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "self");
    cq_window  w;
    cq_int     image[2], positions[2], sizes[4];
    size_t     lead;
    int64_t    taps, columns;

    CQ_TRY(cq_need_image(c, x, 1));
    read_window(c, &w);
    if (cq_arg_ints(c, "output_size", image, 2) != 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "\"output_size\" should have two numbers");
    CQ_TRY(c->cx->status);
    lead = x->rank - 1;
    taps = w.kernel[0] * w.kernel[1];
    window_positions(c, &w, image, positions);
    if (x->sizes[lead - 1].value % taps)
        return cq_call_fail(c, CQ_E_TYPE, "%lld channels are not a multiple of a window of %lld",
                            (long long)x->sizes[lead - 1].value, (long long)taps);
    columns = cq_size_mul(c, positions[0], positions[1]).value; /* the product may wrap around */
    if (x->sizes[lead].value != columns)
        return cq_call_fail(c, CQ_E_TYPE,
                            "the window has %lld positions but the input %lld columns",
                            (long long)columns, (long long)x->sizes[lead].value);
    sizes[0]        = x->sizes[0];
    sizes[lead - 1] = cq_size_floordiv(c, x->sizes[lead - 1], cq_i(taps));
    sizes[lead]     = image[0];
    sizes[lead + 1] = image[1];
    return cq_result(c, 0, x->dtype, lead + 2, sizes);
}

static cq_status col2im_run(cq_opcall *c)
{
    return columns_run(c, true);
}

#define CONV(schema_text, about_text)                                                              \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .shape = conv_shape, .run = conv_run           \
    }

#define CONVOLUTION_ARGS                                                                           \
    "(Tensor input, Tensor weight, Tensor? bias, int[] stride, int[] padding, int[] dilation, "    \
    "bool transposed, int[] output_padding, int groups"

const cq_op_def cq_ops_conv[] = {
    CONV("aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, int[1] stride=[1], "
         "int[1] padding=[0], int[1] dilation=[1], int groups=1) -> Tensor",
         "convolution along one axis"),
    CONV("aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
         "int[1] stride=[1], str padding=\"valid\", int[1] dilation=[1], int groups=1) -> Tensor",
         "convolution along one axis, padding \"same\" or \"valid\""),
    CONV("aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, int[2] stride=1, "
         "int[2] padding=0, int[2] dilation=1, int groups=1) -> Tensor",
         "convolution along two axes"),
    CONV("aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
         "int[2] stride=1, str padding=\"valid\", int[2] dilation=1, int groups=1) -> Tensor",
         "convolution along two axes, padding \"same\" or \"valid\""),
    CONV("aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, int[3] stride=1, "
         "int[3] padding=0, int[3] dilation=1, int groups=1) -> Tensor",
         "convolution along three axes"),
    CONV("aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, "
         "int[3] stride=1, str padding=\"valid\", int[3] dilation=1, int groups=1) -> Tensor",
         "convolution along three axes, padding \"same\" or \"valid\""),
    CONV("aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, "
         "int[1] stride=[1], int[1] padding=[0], int[1] output_padding=[0], int groups=1, "
         "int[1] dilation=[1]) -> Tensor",
         "transposed convolution along one axis"),
    CONV("aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, "
         "int[2] stride=1, int[2] padding=0, int[2] output_padding=0, int groups=1, "
         "int[2] dilation=1) -> Tensor",
         "transposed convolution along two axes"),
    CONV("aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, "
         "int[3] stride=1, int[3] padding=0, int[3] output_padding=0, int groups=1, "
         "int[3] dilation=1) -> Tensor",
         "transposed convolution along three axes"),
    CONV("aten::convolution" CONVOLUTION_ARGS ") -> Tensor",
         "any convolution or transposed convolution"),
    CONV("aten::_convolution.deprecated" CONVOLUTION_ARGS
         ", bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
         "any convolution, as older traces call it"),
    CONV("aten::_convolution" CONVOLUTION_ARGS
         ", bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
         "any convolution, as traces call it"),
    CONV("aten::_convolution_mode(Tensor input, Tensor weight, Tensor? bias, int[] stride, "
         "str padding, int[] dilation, int groups) -> Tensor",
         "any convolution, padding \"same\" or \"valid\""),
    CQ_KERNEL("aten::im2col(Tensor self, int[2] kernel_size, int[2] dilation, int[2] padding, "
              "int[2] stride) -> Tensor",
              "the windows of an image as columns", im2col_shape, im2col_run),
    CQ_KERNEL("aten::col2im(Tensor self, SymInt[2] output_size, int[2] kernel_size, "
              "int[2] dilation, int[2] padding, int[2] stride) -> Tensor",
              "columns summed into an image, the inverse of im2col", col2im_shape, col2im_run),
    { 0 },
};
