/* DenseNet with 121 to 201 layers, as in torchvision. Every layer reads the outputs of all layers
 * before it in its block. */
#include "zoo/zoo.h"

#include <stdio.h>

enum { BOTTLENECK = 4, MAX_LAYERS = 64 };

static cq_module *conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding)
{
    return cq_conv2d_new(&(cq_conv_spec){
        CQ_SIZED(cq_conv_spec), .in = in, .out = out, .kernel = { kernel, kernel },
        .stride = { stride, stride }, .padding = { padding, padding }, .no_bias = true });
}

/* ---- one layer: takes a list of tensors, gives the next one ---- */

typedef struct layer {
    cq_module *norm1, *relu1, *conv1, *norm2, *relu2, *conv2;
} layer;

static void layer_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in,
                          cq_tensor **out, size_t n_out)
{
    layer     *m = self;
    cq_tensor *x = cq_cat(cx, n_in, in, 1);

    x = cq_call(cx, m->conv1, cq_call(cx, m->relu1, cq_call(cx, m->norm1, x)));
    x = cq_call(cx, m->conv2, cq_call(cx, m->relu2, cq_call(cx, m->norm2, x)));
    if (n_out)
        out[0] = x;
}

static cq_module *layer_new(int64_t in, int64_t growth)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "_DenseLayer",
                                  .self_size = sizeof(layer), .forward_n = layer_forward };
    cq_module            *net = cq_module_new(&cls);
    layer                *m   = cq_module_self(net);

    if (!net)
        return NULL;
    m->norm1 = cq_module_add(net, "norm1", cq_batch_norm2d_new(in));
    m->relu1 = cq_module_add(net, "relu1", cq_relu_inplace_new());
    m->conv1 = cq_module_add(net, "conv1", conv(in, BOTTLENECK * growth, 1, 1, 0));
    m->norm2 = cq_module_add(net, "norm2", cq_batch_norm2d_new(BOTTLENECK * growth));
    m->relu2 = cq_module_add(net, "relu2", cq_relu_inplace_new());
    m->conv2 = cq_module_add(net, "conv2", conv(BOTTLENECK * growth, growth, 3, 1, 1));
    return net;
}

/* ---- a block of layers ---- */

typedef struct dense {
    size_t     n;
    cq_module *layers[MAX_LAYERS];
} dense;

static cq_tensor *dense_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    dense     *m                        = self;
    cq_tensor *features[MAX_LAYERS + 1] = { x };

    for (size_t i = 0; i < m->n; i++)
        cq_call_n(cx, m->layers[i], features, i + 1, &features[i + 1], 1);
    return cq_cat(cx, m->n + 1, features, 1);
}

static cq_module *dense_new(int64_t in, int64_t growth, int n)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "_DenseBlock",
                                  .self_size = sizeof(dense), .forward = dense_forward };
    cq_module            *net = cq_module_new(&cls);
    dense                *m   = cq_module_self(net);
    char                  name[32];

    if (!net)
        return NULL;
    for (int i = 0; i < n; i++) {
        snprintf(name, sizeof name, "denselayer%d", i + 1);
        m->layers[m->n++] = cq_module_add(net, name, layer_new(in + i * growth, growth));
    }
    return net;
}

/* A sequence with names. */
static cq_module *transition_new(int64_t in, int64_t out)
{
    cq_module *m = cq_sequential_new();

    cq_module_add(m, "norm", cq_batch_norm2d_new(in));
    cq_module_add(m, "relu", cq_relu_inplace_new());
    cq_module_add(m, "conv", conv(in, out, 1, 1, 0));
    cq_module_add(m, "pool",
                  cq_avg_pool2d_new(&(cq_pool2d){ .kernel = { 2, 2 }, .stride = { 2, 2 } }));
    return m;
}

/* ---- the whole ---- */

typedef struct densenet {
    cq_module *features, *classifier;
} densenet;

static cq_tensor *densenet_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    densenet *m = self;

    x = cq_relu_(cx, cq_call(cx, m->features, x));
    x = cq_adaptive_avg_pool(cx, x, 2, (int64_t[]){ 1, 1 });
    return cq_call(cx, m->classifier, cq_flatten(cx, x, 1, -1));
}

static cq_module *make(int64_t growth, int64_t in, const int counts[4])
{
    static const cq_class cls      = { CQ_SIZED(cq_class), .name = "DenseNet",
                                       .self_size = sizeof(densenet), .forward = densenet_forward };
    cq_module            *net      = cq_module_new(&cls);
    densenet             *m        = cq_module_self(net);
    cq_module            *features = cq_sequential_new();
    char                  name[32];

    if (!net) {
        cq_module_free(features);
        return NULL;
    }
    cq_module_add(features, "conv0", conv(3, in, 7, 2, 3));
    cq_module_add(features, "norm0", cq_batch_norm2d_new(in));
    cq_module_add(features, "relu0", cq_relu_inplace_new());
    cq_module_add(features, "pool0",
                  cq_max_pool2d_new(
                      &(cq_pool2d){ .kernel = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } }));
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "denseblock%d", i + 1);
        cq_module_add(features, name, dense_new(in, growth, counts[i]));
        in += counts[i] * growth;
        if (i == 3)
            break;
        snprintf(name, sizeof name, "transition%d", i + 1);
        cq_module_add(features, name, transition_new(in, in / 2));
        in /= 2;
    }
    cq_module_add(features, "norm5", cq_batch_norm2d_new(in));
    m->features   = cq_module_add(net, "features", features);
    m->classifier = cq_module_add(net, "classifier", cq_linear_new(in, 1000, true));
    return net;
}

cq_module *cq_zoo_densenet121(void)
{
    return make(32, 64, (int[]){ 6, 12, 24, 16 });
}

cq_module *cq_zoo_densenet161(void)
{
    return make(48, 96, (int[]){ 6, 12, 36, 24 });
}

cq_module *cq_zoo_densenet169(void)
{
    return make(32, 64, (int[]){ 6, 12, 32, 32 });
}

cq_module *cq_zoo_densenet201(void)
{
    return make(32, 64, (int[]){ 6, 12, 48, 32 });
}
