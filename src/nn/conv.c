/* Convolutions, plain and transposed, of one to three dimensions. */
#include "base/sized.h"
#include "nn/check.h"
#include "nn/init.h"

#include <calque/layers.h>

typedef struct conv {
    cq_tensor   *weight, *bias;
    cq_conv_spec spec;
    int          n;
} conv;

static cq_val list(cq_ctx *cx, const int64_t *items, int n)
{
    return cq_i64s(cx, items, (size_t)n);
}

static cq_tensor *conv_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    static const char *const names[] = { "aten::conv1d", "aten::conv2d", "aten::conv3d" };
    conv                    *m       = self;
    const cq_conv_spec      *s       = &m->spec;

    return CQ_OP(cx, names[m->n - 1], TENSOR(x), TENSOR(m->weight), TENSOR(m->bias),
                 list(cx, s->stride, m->n), list(cx, s->padding, m->n), list(cx, s->dilation, m->n),
                 INT(s->groups));
}

static cq_tensor *conv_transpose_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    static const char *const names[] = { "aten::conv_transpose1d", "aten::conv_transpose2d.input",
                                         "aten::conv_transpose3d.input" };
    conv                    *m       = self;
    const cq_conv_spec      *s       = &m->spec;

    return CQ_OP(cx, names[m->n - 1], TENSOR(x), TENSOR(m->weight), TENSOR(m->bias),
                 list(cx, s->stride, m->n), list(cx, s->padding, m->n),
                 list(cx, s->output_padding, m->n), INT(s->groups), list(cx, s->dilation, m->n));
}

static const cq_class classes[2][3] = {
    { { CQ_SIZED(cq_class), .name = "Conv1d", .self_size = sizeof(conv), .forward = conv_forward },
      { CQ_SIZED(cq_class), .name = "Conv2d", .self_size = sizeof(conv), .forward = conv_forward },
      { CQ_SIZED(cq_class), .name = "Conv3d", .self_size = sizeof(conv),
        .forward = conv_forward } },
    { { CQ_SIZED(cq_class), .name = "ConvTranspose1d", .self_size = sizeof(conv),
        .forward = conv_transpose_forward },
      { CQ_SIZED(cq_class), .name = "ConvTranspose2d", .self_size = sizeof(conv),
        .forward = conv_transpose_forward },
      { CQ_SIZED(cq_class), .name = "ConvTranspose3d", .self_size = sizeof(conv),
        .forward = conv_transpose_forward } },
};

static void set_defaults(cq_conv_spec *s, int n)
{
    if (!s->groups)
        s->groups = 1;
    for (int i = 0; i < n; i++) {
        if (!s->stride[i])
            s->stride[i] = 1;
        if (!s->dilation[i])
            s->dilation[i] = 1;
    }
}

static bool check_output_padding(const char *layer, const cq_conv_spec *s, size_t n,
                                 bool transposed)
{
    if (!cq_check_each(layer, "output_padding", n, s->output_padding, 0))
        return false;
    for (size_t i = 0; i < n; i++) {
        const int64_t pad = s->output_padding[i];

        if (pad && !transposed)
            return cq_check_failed(layer, "output_padding is for transposed convolutions");
        if (pad && pad >= s->stride[i] && pad >= s->dilation[i])
            return cq_check_failed(layer,
                                   "expected output_padding[%zu] less than the stride or the "
                                   "dilation, got %lld",
                                   i, (long long)pad);
    }
    return true;
}

static bool check_spec(const char *layer, const cq_conv_spec *s, size_t n, bool transposed)
{
    return cq_check_least(layer, "in", s->in, 1) && cq_check_least(layer, "out", s->out, 1) &&
           cq_check_each(layer, "kernel", n, s->kernel, 1) &&
           cq_check_each(layer, "stride", n, s->stride, 1) &&
           cq_check_each(layer, "padding", n, s->padding, 0) &&
           cq_check_each(layer, "dilation", n, s->dilation, 1) &&
           cq_check_least(layer, "groups", s->groups, 1) &&
           cq_check_divisible(layer, "in", s->in, "groups", s->groups) &&
           cq_check_divisible(layer, "out", s->out, "groups", s->groups) &&
           check_output_padding(layer, s, n, transposed);
}

static bool add_weights(cq_module *m, conv *self, bool transposed)
{
    const cq_conv_spec *s = &self->spec;
    int64_t             sizes[5];
    double              fan_in, bound;

    sizes[0] = transposed ? s->in : s->out;
    sizes[1] = (transposed ? s->out : s->in) / s->groups;
    fan_in   = (double)sizes[1];
    for (int i = 0; i < self->n; i++) {
        sizes[2 + i] = s->kernel[i];
        fan_in *= (double)s->kernel[i];
    }
    bound = cq_init_bound(fan_in);
    self->weight =
        cq_module_add_parameter(m, "weight", cq_init_uniform((size_t)self->n + 2, sizes, bound));
    self->bias =
        cq_module_add_parameter(m, "bias", s->no_bias ? NULL : cq_init_uniform(1, &s->out, bound));
    return self->weight && (s->no_bias || self->bias);
}

static cq_module *conv_new(int n, bool transposed, const cq_conv_spec *given)
{
    const cq_class *cls  = &classes[transposed][n - 1];
    cq_conv_spec    spec = { CQ_SIZED(cq_conv_spec) };
    cq_module      *m;
    conv           *self;

    if (cq_sized_take(&spec, given, "cq_conv_spec") != CQ_OK)
        return NULL;
    set_defaults(&spec, n);
    if (!check_spec(cls->name, &spec, (size_t)n, transposed))
        return NULL;
    m = cq_module_new(cls);
    if (!m)
        return NULL;
    self       = cq_module_self(m);
    self->n    = n;
    self->spec = spec;
    return cq_module_or_free(m, add_weights(m, self, transposed));
}

CQ_API cq_module *cq_conv1d_new(const cq_conv_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    return conv_new(1, false, spec);
}

CQ_API cq_module *cq_conv2d_new(const cq_conv_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    return conv_new(2, false, spec);
}

CQ_API cq_module *cq_conv3d_new(const cq_conv_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    return conv_new(3, false, spec);
}

CQ_API cq_module *cq_conv_transpose1d_new(const cq_conv_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    return conv_new(1, true, spec);
}

CQ_API cq_module *cq_conv_transpose2d_new(const cq_conv_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    return conv_new(2, true, spec);
}

CQ_API cq_module *cq_conv_transpose3d_new(const cq_conv_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    return conv_new(3, true, spec);
}
