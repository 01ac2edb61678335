/* ResNet with 18 to 152 layers, as in torchvision. */
#include "zoo/zoo.h"

#include <stdio.h>

/* ---- the two kinds of blocks ---- */

typedef struct block {
    cq_module *conv1, *bn1, *conv2, *bn2, *conv3, *bn3, *relu, *downsample;
} block;

static cq_module *conv(int64_t in, int64_t out, int64_t kernel, int64_t stride)
{
    return cq_conv2d_new(&(cq_conv_spec){
        CQ_SIZED(cq_conv_spec), .in = in, .out = out, .kernel = { kernel, kernel },
        .stride = { stride, stride }, .padding = { kernel / 2, kernel / 2 }, .no_bias = true });
}

static cq_tensor *block_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    block     *m        = self;
    cq_tensor *identity = x;

    x = cq_call(cx, m->relu, cq_call(cx, m->bn1, cq_call(cx, m->conv1, x)));
    x = cq_call(cx, m->bn2, cq_call(cx, m->conv2, x));
    if (m->conv3)
        x = cq_call(cx, m->bn3, cq_call(cx, m->conv3, cq_call(cx, m->relu, x)));
    if (m->downsample)
        identity = cq_call(cx, m->downsample, identity);
    return cq_call(cx, m->relu, cq_add_(cx, x, identity));
}

static cq_module *block_new(bool bottleneck, int64_t in, int64_t planes, int64_t stride,
                            bool downsample)
{
    static const cq_class basic = { CQ_SIZED(cq_class), .name = "BasicBlock",
                                    .self_size = sizeof(block), .forward = block_forward };
    static const cq_class wide  = { CQ_SIZED(cq_class), .name = "Bottleneck",
                                    .self_size = sizeof(block), .forward = block_forward };
    cq_module            *net   = cq_module_new(bottleneck ? &wide : &basic);
    block                *m     = cq_module_self(net);
    int64_t               out   = bottleneck ? planes * 4 : planes;

    if (!net)
        return NULL;
    m->conv1 = cq_module_add(net, "conv1",
                             bottleneck ? conv(in, planes, 1, 1) : conv(in, planes, 3, stride));
    m->bn1   = cq_module_add(net, "bn1", cq_batch_norm2d_new(planes));
    m->conv2 = cq_module_add(net, "conv2", conv(planes, planes, 3, bottleneck ? stride : 1));
    m->bn2   = cq_module_add(net, "bn2", cq_batch_norm2d_new(planes));
    if (bottleneck) {
        m->conv3 = cq_module_add(net, "conv3", conv(planes, out, 1, 1));
        m->bn3   = cq_module_add(net, "bn3", cq_batch_norm2d_new(out));
    }
    m->relu = cq_module_add(net, "relu", cq_relu_inplace_new());
    if (downsample)
        m->downsample =
            cq_module_add(net, "downsample",
                          cq_sequential_of(2, (cq_module *[]){ conv(in, out, 1, stride),
                                                               cq_batch_norm2d_new(out) }));
    return net;
}

/* ---- the whole ---- */

typedef struct resnet {
    cq_module *conv1, *bn1, *relu, *maxpool, *layers[4], *avgpool, *fc;
} resnet;

static cq_tensor *resnet_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    resnet *m = self;

    x = cq_call(cx, m->relu, cq_call(cx, m->bn1, cq_call(cx, m->conv1, x)));
    x = cq_call(cx, m->maxpool, x);
    for (int i = 0; i < 4; i++)
        x = cq_call(cx, m->layers[i], x);
    x = cq_flatten(cx, cq_call(cx, m->avgpool, x), 1, -1);
    return cq_call(cx, m->fc, x);
}

static cq_module *make(bool bottleneck, const int counts[4])
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "ResNet", .self_size = sizeof(resnet),
                                  .forward = resnet_forward };
    cq_module            *net = cq_module_new(&cls);
    resnet               *m   = cq_module_self(net);
    int64_t               in = 64, expansion = bottleneck ? 4 : 1;

    if (!net)
        return NULL;
    m->conv1   = cq_module_add(net, "conv1", conv(3, 64, 7, 2));
    m->bn1     = cq_module_add(net, "bn1", cq_batch_norm2d_new(64));
    m->relu    = cq_module_add(net, "relu", cq_relu_inplace_new());
    m->maxpool = cq_module_add(net, "maxpool",
                               cq_max_pool2d_new(&(cq_pool2d){
                                   .kernel = { 3, 3 }, .stride = { 2, 2 }, .padding = { 1, 1 } }));
    for (int i = 0; i < 4; i++) {
        int64_t    planes = 64 << i;
        cq_module *layer  = cq_sequential_new();
        char       name[16];

        for (int k = 0; k < counts[i]; k++) {
            int64_t stride = k == 0 && i > 0 ? 2 : 1;

            cq_sequential_add(layer, block_new(bottleneck, in, planes, stride,
                                               stride != 1 || in != planes * expansion));
            in = planes * expansion;
        }
        snprintf(name, sizeof name, "layer%d", i + 1);
        m->layers[i] = cq_module_add(net, name, layer);
    }
    m->avgpool = cq_module_add(net, "avgpool", cq_adaptive_avg_pool_new(2, (int64_t[]){ 1, 1 }));
    m->fc      = cq_module_add(net, "fc", cq_linear_new(512 * expansion, 1000, true));
    return net;
}

cq_module *cq_zoo_resnet18(void)
{
    return make(false, (int[]){ 2, 2, 2, 2 });
}

cq_module *cq_zoo_resnet34(void)
{
    return make(false, (int[]){ 3, 4, 6, 3 });
}

cq_module *cq_zoo_resnet50(void)
{
    return make(true, (int[]){ 3, 4, 6, 3 });
}

cq_module *cq_zoo_resnet101(void)
{
    return make(true, (int[]){ 3, 4, 23, 3 });
}

cq_module *cq_zoo_resnet152(void)
{
    return make(true, (int[]){ 3, 8, 36, 3 });
}
