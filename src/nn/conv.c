/* Convolutions, plain and transposed, of one to three dimensions. */
#include "base/sized.h"
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

static cq_module *conv_new(int n, bool transposed, const cq_conv_spec *given)
{
    cq_module          *m    = cq_module_new(&classes[transposed][n - 1]);
    conv               *self = cq_module_self(m);
    const cq_conv_spec *spec;
    int64_t             sizes[5], fan_in;
    double              bound;

    if (!m)
        return NULL;
    self->n    = n;
    self->spec = (cq_conv_spec){ CQ_SIZED(cq_conv_spec) };
    if (cq_sized_take(&self->spec, given, "cq_conv_spec") != CQ_OK) {
        cq_module_free(m);
        return NULL;
    }
    spec = &self->spec;
    if (!self->spec.groups)
        self->spec.groups = 1;
    sizes[0] = transposed ? spec->in : spec->out;
    sizes[1] = (transposed ? spec->out : spec->in) / self->spec.groups;
    fan_in   = sizes[1];
    for (int i = 0; i < n; i++) {
        sizes[2 + i] = spec->kernel[i];
        fan_in *= spec->kernel[i];
        if (!self->spec.stride[i])
            self->spec.stride[i] = 1;
        if (!self->spec.dilation[i])
            self->spec.dilation[i] = 1;
    }
    bound = cq_init_bound(fan_in);
    self->weight =
        cq_module_add_parameter(m, "weight", cq_init_uniform((size_t)n + 2, sizes, bound));
    self->bias = cq_module_add_parameter(
        m, "bias", spec->no_bias ? NULL : cq_init_uniform(1, &spec->out, bound));
    return cq_module_or_free(m, self->weight && (spec->no_bias || self->bias));
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
