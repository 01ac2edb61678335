/* AlexNet, as in torchvision: five convolutions and three fully connected layers. */
#include "zoo/zoo.h"

typedef struct alexnet {
    cq_module *features, *avgpool, *classifier;
} alexnet;

static cq_tensor *alexnet_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    alexnet *m = self;

    x = cq_call(cx, m->features, x);
    x = cq_call(cx, m->avgpool, x);
    x = cq_flatten(cx, x, 1, -1);
    return cq_call(cx, m->classifier, x);
}

static cq_module *conv(int64_t in, int64_t out, int64_t kernel, int64_t stride, int64_t padding)
{
    return cq_conv2d_new(
        &(cq_conv_spec){ CQ_SIZED(cq_conv_spec), .in = in, .out = out, .kernel = { kernel, kernel },
                         .stride = { stride, stride }, .padding = { padding, padding } });
}

static cq_module *pool(void)
{
    return cq_max_pool2d_new(&(cq_pool2d){ .kernel = { 3, 3 }, .stride = { 2, 2 } });
}

cq_module *cq_zoo_alexnet(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "AlexNet",
                                  .self_size = sizeof(alexnet), .forward = alexnet_forward };
    cq_module            *net = cq_module_new(&cls);
    alexnet              *m   = cq_module_self(net);

    if (!net)
        return NULL;
    m->features   = cq_module_add(net, "features",
                                  cq_sequential_of(13, (cq_module *[]){
                                                           conv(3, 64, 11, 4, 2),
                                                           cq_relu_inplace_new(),
                                                           pool(),
                                                           conv(64, 192, 5, 1, 2),
                                                           cq_relu_inplace_new(),
                                                           pool(),
                                                           conv(192, 384, 3, 1, 1),
                                                           cq_relu_inplace_new(),
                                                           conv(384, 256, 3, 1, 1),
                                                           cq_relu_inplace_new(),
                                                           conv(256, 256, 3, 1, 1),
                                                           cq_relu_inplace_new(),
                                                           pool(),
                                                     }));
    m->avgpool    = cq_module_add(net, "avgpool", cq_adaptive_avg_pool_new(2, (int64_t[]){ 6, 6 }));
    m->classifier = cq_module_add(net, "classifier",
                                  cq_sequential_of(7, (cq_module *[]){
                                                          cq_dropout_new(0.5),
                                                          cq_linear_new(256 * 6 * 6, 4096, true),
                                                          cq_relu_inplace_new(),
                                                          cq_dropout_new(0.5),
                                                          cq_linear_new(4096, 4096, true),
                                                          cq_relu_inplace_new(),
                                                          cq_linear_new(4096, 1000, true),
                                                      }));
    return net;
}
