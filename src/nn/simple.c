/* Layers without parameters (and PReLU): activations, poolings, shapes. They differ in one call
 * each, so they share one struct and a table of classes. */
#include "nn/check.h"
#include "nn/init.h"

#include <calque/layers.h>

#include <math.h>

typedef struct simple {
    double     a, b;
    int64_t    i, k;
    size_t     n;
    int64_t    sizes[8];
    double     scales[3];
    bool       has_scales, flag;
    char       mode[16];
    cq_tensor *weight;
    union {
        cq_pool1d one;
        cq_pool2d two;
        cq_pool3d three;
    } pool;
} simple;

#define LAYER(id, class_name, expression)                                                          \
    static cq_tensor *id##_forward(cq_ctx *cx, void *self, cq_tensor *x)                           \
    {                                                                                              \
        const simple *m = self;                                                                    \
                                                                                                   \
        (void)m;                                                                                   \
        (void)cx;                                                                                  \
        return expression;                                                                         \
    }                                                                                              \
    static const cq_class id##_class = { CQ_SIZED(cq_class), .name = class_name,                   \
                                         .self_size = sizeof(simple), .forward = id##_forward };

LAYER(relu, "ReLU", cq_relu(cx, x))
LAYER(relu_inplace, "ReLU", cq_relu_(cx, x))
LAYER(relu6, "ReLU6", cq_relu6(cx, x))
LAYER(leaky_relu, "LeakyReLU", cq_leaky_relu(cx, x, m->a))
LAYER(prelu, "PReLU", cq_prelu(cx, x, m->weight))
LAYER(elu, "ELU", cq_elu(cx, x, m->a))
LAYER(selu, "SELU", cq_selu(cx, x))
LAYER(celu, "CELU", cq_celu(cx, x, m->a))
LAYER(gelu, "GELU", cq_gelu(cx, x, m->flag))
LAYER(silu, "SiLU", cq_silu(cx, x))
LAYER(mish, "Mish", cq_mish(cx, x))
LAYER(tanh, "Tanh", cq_tanh(cx, x))
LAYER(sigmoid, "Sigmoid", cq_sigmoid(cx, x))
LAYER(hardtanh, "Hardtanh", cq_hardtanh(cx, x, m->a, m->b))
LAYER(hardswish, "Hardswish", cq_hardswish(cx, x))
LAYER(hardsigmoid, "Hardsigmoid", cq_hardsigmoid(cx, x))
LAYER(softplus, "Softplus", cq_softplus(cx, x, m->a, m->b))
LAYER(threshold, "Threshold", cq_threshold(cx, x, m->a, m->b))
LAYER(glu, "GLU", cq_glu(cx, x, (int)m->i))
LAYER(softmax, "Softmax", cq_softmax(cx, x, (int)m->i))
LAYER(log_softmax, "LogSoftmax", cq_log_softmax(cx, x, (int)m->i))
LAYER(identity, "Identity", x)
LAYER(dropout, "Dropout", cq_dropout(cx, x, m->a, cq_is_training(cx)))
LAYER(dropout2d, "Dropout2d", cq_feature_dropout(cx, x, m->a, cq_is_training(cx)))
LAYER(constant_pad1d, "ConstantPad1d", cq_pad(cx, x, m->n, m->sizes, "constant", m->a))
LAYER(constant_pad2d, "ConstantPad2d", cq_pad(cx, x, m->n, m->sizes, "constant", m->a))
LAYER(constant_pad3d, "ConstantPad3d", cq_pad(cx, x, m->n, m->sizes, "constant", m->a))
LAYER(zero_pad2d, "ZeroPad2d", cq_pad(cx, x, 4, m->sizes, "constant", 0))
LAYER(reflection_pad1d, "ReflectionPad1d", cq_pad(cx, x, m->n, m->sizes, "reflect", 0))
LAYER(reflection_pad2d, "ReflectionPad2d", cq_pad(cx, x, m->n, m->sizes, "reflect", 0))
LAYER(reflection_pad3d, "ReflectionPad3d", cq_pad(cx, x, m->n, m->sizes, "reflect", 0))
LAYER(replication_pad1d, "ReplicationPad1d", cq_pad(cx, x, m->n, m->sizes, "replicate", 0))
LAYER(replication_pad2d, "ReplicationPad2d", cq_pad(cx, x, m->n, m->sizes, "replicate", 0))
LAYER(replication_pad3d, "ReplicationPad3d", cq_pad(cx, x, m->n, m->sizes, "replicate", 0))
LAYER(pixel_shuffle, "PixelShuffle", cq_pixel_shuffle(cx, x, m->i))
LAYER(upsample, "Upsample",
      cq_interpolate(cx, x, m->n, m->has_scales ? NULL : m->sizes, m->has_scales ? m->scales : NULL,
                     m->mode, m->flag))
LAYER(flatten, "Flatten", cq_flatten(cx, x, (int)m->i, (int)m->k))
LAYER(unflatten, "Unflatten",
      CQ_OP(cx, "aten::unflatten.int", TENSOR(x), INT(m->i), cq_i64s(cx, m->sizes, m->n)))
LAYER(max_pool1d, "MaxPool1d", cq_max_pool1d(cx, x, &m->pool.one))
LAYER(max_pool2d, "MaxPool2d", cq_max_pool2d(cx, x, &m->pool.two))
LAYER(max_pool3d, "MaxPool3d", cq_max_pool3d(cx, x, &m->pool.three))
LAYER(avg_pool1d, "AvgPool1d", cq_avg_pool1d(cx, x, &m->pool.one))
LAYER(avg_pool2d, "AvgPool2d", cq_avg_pool2d(cx, x, &m->pool.two))
LAYER(avg_pool3d, "AvgPool3d", cq_avg_pool3d(cx, x, &m->pool.three))
LAYER(adaptive_avg_pool1d, "AdaptiveAvgPool1d", cq_adaptive_avg_pool(cx, x, 1, m->sizes))
LAYER(adaptive_avg_pool2d, "AdaptiveAvgPool2d", cq_adaptive_avg_pool(cx, x, 2, m->sizes))
LAYER(adaptive_avg_pool3d, "AdaptiveAvgPool3d", cq_adaptive_avg_pool(cx, x, 3, m->sizes))
LAYER(adaptive_max_pool1d, "AdaptiveMaxPool1d", cq_adaptive_max_pool(cx, x, 1, m->sizes))
LAYER(adaptive_max_pool2d, "AdaptiveMaxPool2d", cq_adaptive_max_pool(cx, x, 2, m->sizes))
LAYER(adaptive_max_pool3d, "AdaptiveMaxPool3d", cq_adaptive_max_pool(cx, x, 3, m->sizes))

static cq_module *simple_new(const cq_class *cls, const simple *settings)
{
    cq_module *m = cq_module_new(cls);

    if (m && settings)
        *(simple *)m->self = *settings;
    return m;
}

#define PLAIN(id)                                                                                  \
    CQ_API cq_module *cq_##id##_new(void)                                                          \
    {                                                                                              \
        return simple_new(&id##_class, NULL);                                                      \
    }
#define WITH_A(id)                                                                                 \
    CQ_API cq_module *cq_##id##_new(double a)                                                      \
    {                                                                                              \
        return simple_new(&id##_class, &(simple){ .a = a });                                       \
    }
#define WITH_AB(id)                                                                                \
    CQ_API cq_module *cq_##id##_new(double a, double b)                                            \
    {                                                                                              \
        return simple_new(&id##_class, &(simple){ .a = a, .b = b });                               \
    }
#define WITH_DIM(id)                                                                               \
    CQ_API cq_module *cq_##id##_new(int dim)                                                       \
    {                                                                                              \
        return simple_new(&id##_class, &(simple){ .i = dim });                                     \
    }

PLAIN(relu)
PLAIN(relu_inplace)
PLAIN(relu6)
PLAIN(selu)
PLAIN(silu)
PLAIN(mish)
PLAIN(tanh)
PLAIN(sigmoid)
PLAIN(hardswish)
PLAIN(hardsigmoid)
PLAIN(identity)
WITH_A(leaky_relu)
WITH_A(elu)
WITH_AB(softplus)
WITH_AB(threshold)
WITH_DIM(glu)
WITH_DIM(softmax)
WITH_DIM(log_softmax)

CQ_API cq_module *cq_celu_new(double alpha)
{
    if (alpha == 0 || isnan(alpha)) {
        cq_check_failed("CELU", "expected alpha other than 0, got %g", alpha);
        return NULL;
    }
    return simple_new(&celu_class, &(simple){ .a = alpha });
}

CQ_API cq_module *cq_dropout_new(double p)
{
    if (!cq_check_range("Dropout", "p", p, 0, 1))
        return NULL;
    return simple_new(&dropout_class, &(simple){ .a = p });
}

CQ_API cq_module *cq_dropout2d_new(double p)
{
    if (!cq_check_range("Dropout2d", "p", p, 0, 1))
        return NULL;
    return simple_new(&dropout2d_class, &(simple){ .a = p });
}

CQ_API cq_module *cq_hardtanh_new(double low, double high)
{
    if (!(low < high)) {
        cq_check_failed("Hardtanh", "expected low less than high, got %g and %g", low, high);
        return NULL;
    }
    return simple_new(&hardtanh_class, &(simple){ .a = low, .b = high });
}

CQ_API cq_module *cq_gelu_new(bool tanh_approximation)
{
    return simple_new(&gelu_class, &(simple){ .flag = tanh_approximation });
}

CQ_API cq_module *cq_prelu_new(int64_t parameters, double init)
{
    cq_module *m;

    if (!cq_check_least("PReLU", "parameters", parameters, 1))
        return NULL;
    m = simple_new(&prelu_class, NULL);
    if (!m)
        return NULL;
    ((simple *)m->self)->weight =
        cq_module_add_parameter(m, "weight", cq_init_constant(CQ_DTYPE_F32, 1, &parameters, init));
    return cq_module_or_free(m, ((simple *)m->self)->weight != NULL);
}

/* A layer of 1 to 3 dimensions with a list of sizes for each. family is its name without these. */
static cq_module *sized_new(const char *family, const cq_class *const *classes, size_t dims,
                            size_t n, const int64_t *sizes, double value)
{
    simple s = { .n = n, .a = value };

    if (dims < 1 || dims > 3) {
        cq_check_failed(family, "expected 1 to 3 dimensions, got %zu", dims);
        return NULL;
    }
    memcpy(s.sizes, sizes, n * sizeof *sizes);
    return simple_new(classes[dims - 1], &s);
}

/* The same for two pads a dimension. They may be negative, which crops. */
static cq_module *pad_new(const char *family, const cq_class *const *classes, size_t n,
                          const int64_t *pads, double value)
{
    if (n % 2) {
        cq_check_failed(family, "expected two pads for each dimension, got %zu pads", n);
        return NULL;
    }
    if (!cq_check_each(family, "pads", n <= 6 ? n : 0, pads, INT32_MIN))
        return NULL;
    return sized_new(family, classes, n / 2, n, pads, value);
}

CQ_API cq_module *cq_constant_pad_new(size_t n, const int64_t *pads, double value)
{
    CQ_NEED_ELSE(pads || !n, NULL);
    static const cq_class *const by_dims[] = { &constant_pad1d_class, &constant_pad2d_class,
                                               &constant_pad3d_class };

    return pad_new("ConstantPad", by_dims, n, pads, value);
}

CQ_API cq_module *cq_zero_pad2d_new(const int64_t pads[4])
{
    CQ_NEED_ELSE(pads, NULL);
    static const cq_class *const by_dims[] = { NULL, &zero_pad2d_class, NULL };

    return pad_new("ZeroPad2d", by_dims, 4, pads, 0);
}

CQ_API cq_module *cq_reflection_pad_new(size_t n, const int64_t *pads)
{
    CQ_NEED_ELSE(pads || !n, NULL);
    static const cq_class *const by_dims[] = { &reflection_pad1d_class, &reflection_pad2d_class,
                                               &reflection_pad3d_class };

    return pad_new("ReflectionPad", by_dims, n, pads, 0);
}

CQ_API cq_module *cq_replication_pad_new(size_t n, const int64_t *pads)
{
    CQ_NEED_ELSE(pads || !n, NULL);
    static const cq_class *const by_dims[] = { &replication_pad1d_class, &replication_pad2d_class,
                                               &replication_pad3d_class };

    return pad_new("ReplicationPad", by_dims, n, pads, 0);
}

CQ_API cq_module *cq_adaptive_avg_pool_new(size_t n, const int64_t *sizes)
{
    CQ_NEED_ELSE(sizes || !n, NULL);
    static const cq_class *const by_dims[] = { &adaptive_avg_pool1d_class,
                                               &adaptive_avg_pool2d_class,
                                               &adaptive_avg_pool3d_class };

    if (!cq_check_each("AdaptiveAvgPool", "sizes", n <= 3 ? n : 0, sizes, 0))
        return NULL;
    return sized_new("AdaptiveAvgPool", by_dims, n, n, sizes, 0);
}

CQ_API cq_module *cq_adaptive_max_pool_new(size_t n, const int64_t *sizes)
{
    CQ_NEED_ELSE(sizes || !n, NULL);
    static const cq_class *const by_dims[] = { &adaptive_max_pool1d_class,
                                               &adaptive_max_pool2d_class,
                                               &adaptive_max_pool3d_class };

    if (!cq_check_each("AdaptiveMaxPool", "sizes", n <= 3 ? n : 0, sizes, 0))
        return NULL;
    return sized_new("AdaptiveMaxPool", by_dims, n, n, sizes, 0);
}

/* A stride of 0 is the kernel, a dilation of 0 is 1. */
static bool check_pool(const char *layer, size_t n, const int64_t *kernel, const int64_t *stride,
                       const int64_t *padding, const int64_t *dilation)
{
    if (!cq_check_each(layer, "kernel", n, kernel, 1) ||
        !cq_check_each(layer, "stride", n, stride, 0) ||
        !cq_check_each(layer, "padding", n, padding, 0) ||
        !cq_check_each(layer, "dilation", n, dilation, 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t window = (kernel[i] - 1) * (dilation[i] ? dilation[i] : 1) + 1;

        if (padding[i] > window / 2)
            return cq_check_failed(
                layer, "expected padding[%zu] of at most half the window %lld, got %lld", i,
                (long long)window, (long long)padding[i]);
    }
    return true;
}

#define POOL(id, dims, member)                                                                     \
    CQ_API cq_module *cq_##id##_new(const cq_pool##dims##d *o)                                     \
    {                                                                                              \
        CQ_NEED_ELSE(o, NULL);                                                                     \
        if (!check_pool(id##_class.name, dims, o->kernel, o->stride, o->padding, o->dilation))     \
            return NULL;                                                                           \
        return simple_new(&id##_class, &(simple){ .pool.member = *o });                            \
    }

POOL(max_pool1d, 1, one)
POOL(max_pool2d, 2, two)
POOL(max_pool3d, 3, three)
POOL(avg_pool1d, 1, one)
POOL(avg_pool2d, 2, two)
POOL(avg_pool3d, 3, three)

CQ_API cq_module *cq_pixel_shuffle_new(int64_t factor)
{
    if (!cq_check_least("PixelShuffle", "factor", factor, 1))
        return NULL;
    return simple_new(&pixel_shuffle_class, &(simple){ .i = factor });
}

static bool check_upsample(size_t n, const int64_t *sizes, const double *scales, const char *mode,
                           bool align_corners)
{
    static const struct {
        const char *mode;
        size_t      least, most; /* dimensions */
    } modes[] = { { "nearest", 1, 3 },
                  { "linear", 1, 1 },
                  { "bilinear", 2, 2 },
                  { "bicubic", 2, 2 },
                  { "trilinear", 3, 3 } };
    size_t at = 0;

    while (at < sizeof modes / sizeof *modes && strcmp(modes[at].mode, mode) != 0)
        at++;
    if (at == sizeof modes / sizeof *modes)
        return cq_check_failed(
            "Upsample",
            "unknown mode '%s'; expected nearest, linear, bilinear, bicubic or trilinear", mode);
    if (n < modes[at].least || n > modes[at].most)
        return cq_check_failed("Upsample", "mode '%s' does not support %zu dimensions", mode, n);
    if (!sizes == !scales)
        return cq_check_failed("Upsample", "expected either sizes or scales");
    if (align_corners && at == 0)
        return cq_check_failed("Upsample", "align_corners does not apply to mode 'nearest'");
    if (sizes)
        return cq_check_each("Upsample", "sizes", n, sizes, 1);
    for (size_t i = 0; i < n; i++)
        if (!(scales[i] > 0) || isinf(scales[i]))
            return cq_check_failed("Upsample", "expected scales[%zu] greater than 0, got %g", i,
                                   scales[i]);
    return true;
}

CQ_API cq_module *cq_upsample_new(size_t n, const int64_t *sizes, const double *scales,
                                  const char *mode, bool align_corners)
{
    CQ_NEED_ELSE(mode, NULL);
    simple s = { .n = n, .flag = align_corners, .has_scales = scales != NULL };

    if (!check_upsample(n, sizes, scales, mode, align_corners))
        return NULL;
    strcpy(s.mode, mode);
    if (scales)
        memcpy(s.scales, scales, n * sizeof *scales);
    else
        memcpy(s.sizes, sizes, n * sizeof *sizes);
    return simple_new(&upsample_class, &s);
}

CQ_API cq_module *cq_flatten_new(int start, int end)
{
    return simple_new(&flatten_class, &(simple){ .i = start, .k = end });
}

CQ_API cq_module *cq_unflatten_new(int dim, size_t n, const int64_t *sizes)
{
    CQ_NEED_ELSE(sizes || !n, NULL);
    simple s = { .i = dim, .n = n };

    size_t n_open = 0;

    if (n < 1 || n > 8) {
        cq_check_failed("Unflatten", "expected 1 to 8 sizes, got %zu", n);
        return NULL;
    }
    if (!cq_check_each("Unflatten", "sizes", n, sizes, -1))
        return NULL;
    for (size_t i = 0; i < n; i++)
        n_open += sizes[i] == -1;
    if (n_open > 1) {
        cq_check_failed("Unflatten", "expected at most one size of -1, got %zu", n_open);
        return NULL;
    }
    memcpy(s.sizes, sizes, n * sizeof *sizes);
    return simple_new(&unflatten_class, &s);
}
