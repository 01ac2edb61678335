/* DCGAN: the generator and the discriminator of pytorch/examples, for images of 64 x 64. */
#include "zoo/zoo.h"

enum { LATENT = 100, FEATURES = 64, COLORS = 3 };

typedef struct dcgan {
    cq_module *main;
} dcgan;

static cq_tensor *generator_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    dcgan *m = self;

    return cq_call(cx, m->main, x);
}

static cq_tensor *discriminator_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    dcgan *m = self;

    x = cq_call(cx, m->main, x);
    return cq_squeeze(cx, cq_view(cx, x, 2, (cq_int[]){ cq_i(-1), cq_i(1) }), 1);
}

static cq_module *up(int64_t in, int64_t out, int64_t stride, int64_t padding)
{
    return cq_conv_transpose2d_new(&(cq_conv_spec){
        CQ_SIZED(cq_conv_spec), .in = in, .out = out, .kernel = { 4, 4 },
        .stride = { stride, stride }, .padding = { padding, padding }, .no_bias = true });
}

static cq_module *down(int64_t in, int64_t out, int64_t stride, int64_t padding)
{
    return cq_conv2d_new(&(cq_conv_spec){ CQ_SIZED(cq_conv_spec), .in = in, .out = out,
                                          .kernel = { 4, 4 }, .stride = { stride, stride },
                                          .padding = { padding, padding }, .no_bias = true });
}

cq_module *cq_zoo_dcgan_generator(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Generator",
                                  .self_size = sizeof(dcgan), .forward = generator_forward };
    cq_module            *net = cq_module_new(&cls), *main = cq_sequential_new();

    cq_sequential_add(main, up(LATENT, FEATURES * 8, 1, 0));
    for (int64_t f = FEATURES * 8; f >= FEATURES; f /= 2) {
        cq_sequential_add(main, cq_batch_norm2d_new(f));
        cq_sequential_add(main, cq_relu_inplace_new());
        cq_sequential_add(main, up(f, f > FEATURES ? f / 2 : COLORS, 2, 1));
    }
    cq_sequential_add(main, cq_tanh_new());
    main = cq_module_add(net, "main", main);
    if (net)
        ((dcgan *)cq_module_self(net))->main = main;
    return net;
}

cq_module *cq_zoo_dcgan_discriminator(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Discriminator",
                                  .self_size = sizeof(dcgan), .forward = discriminator_forward };
    cq_module            *net = cq_module_new(&cls), *main = cq_sequential_new();

    cq_sequential_add(main, down(COLORS, FEATURES, 2, 1));
    cq_sequential_add(main, cq_leaky_relu_new(0.2));
    for (int64_t f = FEATURES; f < FEATURES * 8; f *= 2) {
        cq_sequential_add(main, down(f, f * 2, 2, 1));
        cq_sequential_add(main, cq_batch_norm2d_new(f * 2));
        cq_sequential_add(main, cq_leaky_relu_new(0.2));
    }
    cq_sequential_add(main, down(FEATURES * 8, 1, 1, 0));
    cq_sequential_add(main, cq_sigmoid_new());
    main = cq_module_add(net, "main", main);
    if (net)
        ((dcgan *)cq_module_self(net))->main = main;
    return net;
}
