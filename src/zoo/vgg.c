/* VGG with 11 to 19 layers, with and without batch normalisation, as in torchvision. */
#include "zoo/zoo.h"

typedef struct vgg {
    cq_module *features, *avgpool, *classifier;
} vgg;

static cq_tensor *vgg_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    vgg *m = self;

    x = cq_call(cx, m->features, x);
    x = cq_call(cx, m->avgpool, x);
    x = cq_flatten(cx, x, 1, -1);
    return cq_call(cx, m->classifier, x);
}

/* Channels of the convolutions; 0 is a pool, -1 the end. */
static const int layers_11[] = { 64, 0, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0, -1 };
static const int layers_13[] = {
    64, 64, 0, 128, 128, 0, 256, 256, 0, 512, 512, 0, 512, 512, 0, -1
};
static const int layers_16[] = { 64,  64,  0,   128, 128, 0,   256, 256, 256, 0,
                                 512, 512, 512, 0,   512, 512, 512, 0,   -1 };
static const int layers_19[] = { 64,  64,  0,   128, 128, 0,   256, 256, 256, 256, 0,
                                 512, 512, 512, 512, 0,   512, 512, 512, 512, 0,   -1 };

static cq_module *make_features(const int *layers, bool batch_norm)
{
    cq_module *features = cq_sequential_new();
    int64_t    in       = 3;

    for (; *layers >= 0; layers++) {
        if (*layers == 0) {
            cq_sequential_add(features, cq_max_pool2d_new(&(cq_pool2d){ .kernel = { 2, 2 },
                                                                        .stride = { 2, 2 } }));
            continue;
        }
        cq_sequential_add(features, cq_conv2d_new(&(cq_conv_spec){
                                        CQ_SIZED(cq_conv_spec), .in = in, .out = *layers,
                                        .kernel = { 3, 3 }, .padding = { 1, 1 } }));
        if (batch_norm)
            cq_sequential_add(features, cq_batch_norm2d_new(*layers));
        cq_sequential_add(features, cq_relu_inplace_new());
        in = *layers;
    }
    return features;
}

static cq_module *make(const int *layers, bool batch_norm)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "VGG", .self_size = sizeof(vgg),
                                  .forward = vgg_forward };
    cq_module            *net = cq_module_new(&cls);
    vgg                  *m   = cq_module_self(net);

    if (!net)
        return NULL;
    m->features   = cq_module_add(net, "features", make_features(layers, batch_norm));
    m->avgpool    = cq_module_add(net, "avgpool", cq_adaptive_avg_pool_new(2, (int64_t[]){ 7, 7 }));
    m->classifier = cq_module_add(net, "classifier",
                                  cq_sequential_of(7, (cq_module *[]){
                                                          cq_linear_new(512 * 7 * 7, 4096, true),
                                                          cq_relu_inplace_new(),
                                                          cq_dropout_new(0.5),
                                                          cq_linear_new(4096, 4096, true),
                                                          cq_relu_inplace_new(),
                                                          cq_dropout_new(0.5),
                                                          cq_linear_new(4096, 1000, true),
                                                      }));
    return net;
}

cq_module *cq_zoo_vgg11(void)
{
    return make(layers_11, false);
}

cq_module *cq_zoo_vgg13(void)
{
    return make(layers_13, false);
}

cq_module *cq_zoo_vgg16(void)
{
    return make(layers_16, false);
}

cq_module *cq_zoo_vgg19(void)
{
    return make(layers_19, false);
}

cq_module *cq_zoo_vgg11_bn(void)
{
    return make(layers_11, true);
}

cq_module *cq_zoo_vgg13_bn(void)
{
    return make(layers_13, true);
}

cq_module *cq_zoo_vgg16_bn(void)
{
    return make(layers_16, true);
}

cq_module *cq_zoo_vgg19_bn(void)
{
    return make(layers_19, true);
}
