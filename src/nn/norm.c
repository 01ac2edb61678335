/* Batch, instance, layer and group normalisation. */
#include "nn/check.h"
#include "nn/init.h"

#include <calque/layers.h>

#include <math.h>

typedef struct norm {
    cq_tensor *weight, *bias, *running_mean, *running_var, *tracked;
    double     eps, momentum;
    int64_t    groups;
    size_t     n;
    int64_t    shape[CQ_MAX_RANK];
} norm;

static cq_tensor *batch_norm_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    norm *m        = self;
    bool  training = cq_is_training(cx) || !m->running_mean;

    /* The count is bookkeeping of training; a graph does not need it. */
    if (m->tracked && cq_is_training(cx) && !cx->exporting)
        ++*(int64_t *)cq_tensor_bytes(m->tracked);
    return cq_batch_norm(cx, x, m->weight, m->bias, m->running_mean, m->running_var, training,
                         m->momentum, m->eps);
}

static cq_tensor *instance_norm_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    norm *m = self;

    return cq_instance_norm(cx, x, m->weight, m->bias, m->eps);
}

static cq_tensor *layer_norm_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    norm *m = self;

    return cq_layer_norm(cx, x, m->n, m->shape, m->weight, m->bias, m->eps);
}

static cq_tensor *group_norm_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    norm *m = self;

    return cq_group_norm(cx, x, m->groups, m->weight, m->bias, m->eps);
}

static cq_module *norm_new(const cq_class *cls, size_t n, const int64_t *shape, double eps,
                           bool affine)
{
    cq_module *m;
    norm      *self;

    for (size_t i = 0; i < n; i++)
        if (!cq_check_least(cls->name, "features", shape[i], 0))
            return NULL;
    if (!cq_check_range(cls->name, "eps", eps, 0, INFINITY))
        return NULL;
    m    = cq_module_new(cls);
    self = cq_module_self(m);
    if (!m)
        return NULL;
    self->eps = eps > 0 ? eps : 1e-5;
    if (!affine)
        return m;
    self->weight =
        cq_module_add_parameter(m, "weight", cq_init_constant(CQ_DTYPE_F32, n, shape, 1));
    self->bias = cq_module_add_parameter(m, "bias", cq_init_constant(CQ_DTYPE_F32, n, shape, 0));
    return cq_module_or_free(m, self->weight && self->bias);
}

CQ_API cq_module *cq_batch_norm_new_with(int dims, int64_t features, double eps, double momentum,
                                         bool affine, bool track_running_stats)
{
    static const cq_class classes[3] = {
        { CQ_SIZED(cq_class), .name = "BatchNorm1d", .self_size = sizeof(norm),
          .forward = batch_norm_forward },
        { CQ_SIZED(cq_class), .name = "BatchNorm2d", .self_size = sizeof(norm),
          .forward = batch_norm_forward },
        { CQ_SIZED(cq_class), .name = "BatchNorm3d", .self_size = sizeof(norm),
          .forward = batch_norm_forward },
    };
    cq_module *m;
    norm      *self;

    if (dims < 1 || dims > 3) {
        cq_check_failed("BatchNorm", "expected 1 to 3 dimensions, got %d", dims);
        return NULL;
    }
    if (isnan(momentum)) {
        cq_check_failed(classes[dims - 1].name, "momentum is not a number");
        return NULL;
    }
    m    = norm_new(&classes[dims - 1], 1, &features, eps, affine);
    self = cq_module_self(m);
    if (!m)
        return NULL;
    self->momentum = momentum;
    if (!track_running_stats)
        return m;
    self->running_mean =
        cq_module_add_buffer(m, "running_mean", cq_init_constant(CQ_DTYPE_F32, 1, &features, 0));
    self->running_var =
        cq_module_add_buffer(m, "running_var", cq_init_constant(CQ_DTYPE_F32, 1, &features, 1));
    self->tracked =
        cq_module_add_buffer(m, "num_batches_tracked", cq_init_constant(CQ_DTYPE_I64, 0, NULL, 0));
    return cq_module_or_free(m, self->running_mean && self->running_var && self->tracked);
}

CQ_API cq_module *cq_batch_norm1d_new(int64_t features)
{
    return cq_batch_norm_new_with(1, features, 0, 0.1, true, true);
}

CQ_API cq_module *cq_batch_norm2d_new(int64_t features)
{
    return cq_batch_norm_new_with(2, features, 0, 0.1, true, true);
}

CQ_API cq_module *cq_batch_norm3d_new(int64_t features)
{
    return cq_batch_norm_new_with(3, features, 0, 0.1, true, true);
}

#define INSTANCE_NORM(dims)                                                                        \
    CQ_API cq_module *cq_instance_norm##dims##d_new(int64_t features, bool affine)                 \
    {                                                                                              \
        static const cq_class cls = { CQ_SIZED(cq_class), .name = "InstanceNorm" #dims "d",        \
                                      .self_size = sizeof(norm),                                   \
                                      .forward   = instance_norm_forward };                          \
                                                                                                   \
        return norm_new(&cls, 1, &features, 0, affine);                                            \
    }

INSTANCE_NORM(1)
INSTANCE_NORM(2)
INSTANCE_NORM(3)

CQ_API cq_module *cq_layer_norm_new(size_t n, const int64_t *shape, double eps)
{
    CQ_NEED_ELSE(shape || !n, NULL);
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "LayerNorm",
                                  .self_size = sizeof(norm), .forward = layer_norm_forward };
    cq_module            *m;
    norm                 *self;

    if (n < 1 || n > CQ_MAX_RANK) {
        cq_check_failed("LayerNorm", "expected a shape of 1 to %d sizes, got %zu", CQ_MAX_RANK, n);
        return NULL;
    }
    m    = norm_new(&cls, n, shape, eps, true);
    self = cq_module_self(m);
    if (!m)
        return NULL;
    self->n = n;
    memcpy(self->shape, shape, n * sizeof *shape);
    return m;
}

CQ_API cq_module *cq_group_norm_new(int64_t groups, int64_t channels, double eps)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "GroupNorm",
                                  .self_size = sizeof(norm), .forward = group_norm_forward };
    cq_module            *m;

    if (!cq_check_least("GroupNorm", "groups", groups, 1) ||
        !cq_check_divisible("GroupNorm", "channels", channels, "groups", groups))
        return NULL;
    m = norm_new(&cls, 1, &channels, eps, true);
    if (m)
        ((norm *)m->self)->groups = groups;
    return m;
}
