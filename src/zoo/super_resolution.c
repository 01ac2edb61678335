/* SuperResolution, as in pytorch/examples: makes an image three times as large. */
#include "zoo/zoo.h"

enum { FACTOR = 3 };

typedef struct super_resolution {
    cq_module *relu, *conv1, *conv2, *conv3, *conv4, *pixel_shuffle;
} super_resolution;

static cq_tensor *super_resolution_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    super_resolution *m = self;

    x = cq_call(cx, m->relu, cq_call(cx, m->conv1, x));
    x = cq_call(cx, m->relu, cq_call(cx, m->conv2, x));
    x = cq_call(cx, m->relu, cq_call(cx, m->conv3, x));
    return cq_call(cx, m->pixel_shuffle, cq_call(cx, m->conv4, x));
}

static cq_module *conv(int64_t in, int64_t out, int64_t kernel)
{
    return cq_conv2d_new(&(cq_conv_spec){ CQ_SIZED(cq_conv_spec), .in = in, .out = out,
                                          .kernel  = { kernel, kernel },
                                          .padding = { kernel / 2, kernel / 2 } });
}

cq_module *cq_zoo_super_resolution(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Net",
                                  .self_size = sizeof(super_resolution),
                                  .forward   = super_resolution_forward };
    cq_module            *net = cq_module_new(&cls);
    super_resolution     *m   = cq_module_self(net);

    if (!net)
        return NULL;
    m->relu          = cq_module_add(net, "relu", cq_relu_new());
    m->conv1         = cq_module_add(net, "conv1", conv(1, 64, 5));
    m->conv2         = cq_module_add(net, "conv2", conv(64, 64, 3));
    m->conv3         = cq_module_add(net, "conv3", conv(64, 32, 3));
    m->conv4         = cq_module_add(net, "conv4", conv(32, FACTOR * FACTOR, 3));
    m->pixel_shuffle = cq_module_add(net, "pixel_shuffle", cq_pixel_shuffle_new(FACTOR));
    return net;
}
