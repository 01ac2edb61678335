/* Inception v3, as in torchvision. The auxiliary classifier has its parameters here but takes
 * no part in inference. */
#include "zoo/zoo.h"

/* ---- a convolution with its normalisation ---- */

typedef struct basic {
    cq_module *conv, *bn;
} basic;

static cq_tensor *basic_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    basic *m = self;

    return cq_relu_(cx, cq_call(cx, m->bn, cq_call(cx, m->conv, x)));
}

typedef struct conv_row {
    const char *name;
    int64_t     in, out, kernel[2], stride, padding[2];
} conv_row;

static cq_module *basic_new(const conv_row *row)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "BasicConv2d",
                                     .self_size = sizeof(basic), .forward = basic_forward };
    cq_module            *net    = cq_module_new(&cls);
    basic                *m      = cq_module_self(net);
    int64_t               stride = row->stride ? row->stride : 1;

    if (!net)
        return NULL;
    m->conv = cq_module_add(
        net, "conv",
        cq_conv2d_new(&(cq_conv_spec){
            CQ_SIZED(cq_conv_spec), .in = row->in, .out = row->out,
            .kernel = { row->kernel[0], row->kernel[1] }, .stride = { stride, stride },
            .padding = { row->padding[0], row->padding[1] }, .no_bias = true }));
    m->bn = cq_module_add(net, "bn", cq_batch_norm_new_with(2, row->out, 0.001, 0.1, true, true));
    return net;
}

/* ---- mixed blocks: branches of convolutions, joined ---- */

enum { MAX_CONVS = 10 };

typedef struct mixed {
    cq_module *convs[MAX_CONVS];
} mixed;

static cq_module *mixed_new(const cq_class *cls, const conv_row *rows, int n)
{
    cq_module *net = cq_module_new(cls);
    mixed     *m   = cq_module_self(net);

    for (int i = 0; i < n && net; i++)
        m->convs[i] = cq_module_add(net, rows[i].name, basic_new(&rows[i]));
    return net;
}

/* x through convs first … last, one after the other. */
static cq_tensor *chain(cq_ctx *cx, mixed *m, int first, int last, cq_tensor *x)
{
    for (int i = first; i <= last; i++)
        x = cq_call(cx, m->convs[i], x);
    return x;
}

static cq_tensor *average(cq_ctx *cx, cq_tensor *x)
{
    return cq_avg_pool2d(
        cx, x, &(cq_pool2d){ .kernel = { 3, 3 }, .stride = { 1, 1 }, .padding = { 1, 1 } });
}

static cq_tensor *maximum(cq_ctx *cx, cq_tensor *x)
{
    return cq_max_pool2d(cx, x, &(cq_pool2d){ .kernel = { 3, 3 }, .stride = { 2, 2 } });
}

static cq_tensor *a_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    return cq_cat(cx, 4,
                  (cq_tensor *[]){ chain(cx, self, 0, 0, x), chain(cx, self, 1, 2, x),
                                   chain(cx, self, 3, 5, x),
                                   chain(cx, self, 6, 6, average(cx, x)) },
                  1);
}

static cq_module *a_new(int64_t in, int64_t pool)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "InceptionA",
                                     .self_size = sizeof(mixed), .forward = a_forward };
    const conv_row        rows[] = {
               { "branch1x1", in, 64, { 1, 1 }, 1, { 0, 0 } },
               { "branch5x5_1", in, 48, { 1, 1 }, 1, { 0, 0 } },
               { "branch5x5_2", 48, 64, { 5, 5 }, 1, { 2, 2 } },
               { "branch3x3dbl_1", in, 64, { 1, 1 }, 1, { 0, 0 } },
               { "branch3x3dbl_2", 64, 96, { 3, 3 }, 1, { 1, 1 } },
               { "branch3x3dbl_3", 96, 96, { 3, 3 }, 1, { 1, 1 } },
               { "branch_pool", in, pool, { 1, 1 }, 1, { 0, 0 } },
    };

    return mixed_new(&cls, rows, 7);
}

static cq_tensor *b_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    return cq_cat(
        cx, 3,
        (cq_tensor *[]){ chain(cx, self, 0, 0, x), chain(cx, self, 1, 3, x), maximum(cx, x) }, 1);
}

static cq_module *b_new(int64_t in)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "InceptionB",
                                     .self_size = sizeof(mixed), .forward = b_forward };
    const conv_row        rows[] = {
               { "branch3x3", in, 384, { 3, 3 }, 2, { 0, 0 } },
               { "branch3x3dbl_1", in, 64, { 1, 1 }, 1, { 0, 0 } },
               { "branch3x3dbl_2", 64, 96, { 3, 3 }, 1, { 1, 1 } },
               { "branch3x3dbl_3", 96, 96, { 3, 3 }, 2, { 0, 0 } },
    };

    return mixed_new(&cls, rows, 4);
}

static cq_tensor *c_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    return cq_cat(cx, 4,
                  (cq_tensor *[]){ chain(cx, self, 0, 0, x), chain(cx, self, 1, 3, x),
                                   chain(cx, self, 4, 8, x),
                                   chain(cx, self, 9, 9, average(cx, x)) },
                  1);
}

static cq_module *c_new(int64_t in, int64_t c7)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "InceptionC",
                                     .self_size = sizeof(mixed), .forward = c_forward };
    const conv_row        rows[] = {
               { "branch1x1", in, 192, { 1, 1 }, 1, { 0, 0 } },
               { "branch7x7_1", in, c7, { 1, 1 }, 1, { 0, 0 } },
               { "branch7x7_2", c7, c7, { 1, 7 }, 1, { 0, 3 } },
               { "branch7x7_3", c7, 192, { 7, 1 }, 1, { 3, 0 } },
               { "branch7x7dbl_1", in, c7, { 1, 1 }, 1, { 0, 0 } },
               { "branch7x7dbl_2", c7, c7, { 7, 1 }, 1, { 3, 0 } },
               { "branch7x7dbl_3", c7, c7, { 1, 7 }, 1, { 0, 3 } },
               { "branch7x7dbl_4", c7, c7, { 7, 1 }, 1, { 3, 0 } },
               { "branch7x7dbl_5", c7, 192, { 1, 7 }, 1, { 0, 3 } },
               { "branch_pool", in, 192, { 1, 1 }, 1, { 0, 0 } },
    };

    return mixed_new(&cls, rows, 10);
}

static cq_tensor *d_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    return cq_cat(
        cx, 3,
        (cq_tensor *[]){ chain(cx, self, 0, 1, x), chain(cx, self, 2, 5, x), maximum(cx, x) }, 1);
}

static cq_module *d_new(int64_t in)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "InceptionD",
                                     .self_size = sizeof(mixed), .forward = d_forward };
    const conv_row        rows[] = {
               { "branch3x3_1", in, 192, { 1, 1 }, 1, { 0, 0 } },
               { "branch3x3_2", 192, 320, { 3, 3 }, 2, { 0, 0 } },
               { "branch7x7x3_1", in, 192, { 1, 1 }, 1, { 0, 0 } },
               { "branch7x7x3_2", 192, 192, { 1, 7 }, 1, { 0, 3 } },
               { "branch7x7x3_3", 192, 192, { 7, 1 }, 1, { 3, 0 } },
               { "branch7x7x3_4", 192, 192, { 3, 3 }, 2, { 0, 0 } },
    };

    return mixed_new(&cls, rows, 6);
}

/* Two branches split at their end: x through a and through b, joined. */
static cq_tensor *branch(cq_ctx *cx, mixed *m, int a, int b, cq_tensor *x)
{
    return cq_cat(cx, 2,
                  (cq_tensor *[]){ cq_call(cx, m->convs[a], x), cq_call(cx, m->convs[b], x) }, 1);
}

static cq_tensor *e_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    return cq_cat(cx, 4,
                  (cq_tensor *[]){ chain(cx, self, 0, 0, x),
                                   branch(cx, self, 2, 3, chain(cx, self, 1, 1, x)),
                                   branch(cx, self, 6, 7, chain(cx, self, 4, 5, x)),
                                   chain(cx, self, 8, 8, average(cx, x)) },
                  1);
}

static cq_module *e_new(int64_t in)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "InceptionE",
                                     .self_size = sizeof(mixed), .forward = e_forward };
    const conv_row        rows[] = {
               { "branch1x1", in, 320, { 1, 1 }, 1, { 0, 0 } },
               { "branch3x3_1", in, 384, { 1, 1 }, 1, { 0, 0 } },
               { "branch3x3_2a", 384, 384, { 1, 3 }, 1, { 0, 1 } },
               { "branch3x3_2b", 384, 384, { 3, 1 }, 1, { 1, 0 } },
               { "branch3x3dbl_1", in, 448, { 1, 1 }, 1, { 0, 0 } },
               { "branch3x3dbl_2", 448, 384, { 3, 3 }, 1, { 1, 1 } },
               { "branch3x3dbl_3a", 384, 384, { 1, 3 }, 1, { 0, 1 } },
               { "branch3x3dbl_3b", 384, 384, { 3, 1 }, 1, { 1, 0 } },
               { "branch_pool", in, 192, { 1, 1 }, 1, { 0, 0 } },
    };

    return mixed_new(&cls, rows, 9);
}

static cq_module *aux_new(int64_t in)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "InceptionAux",
                                     .self_size = sizeof(mixed) };
    const conv_row        rows[] = { { "conv0", in, 128, { 1, 1 }, 1, { 0, 0 } },
                                     { "conv1", 128, 768, { 5, 5 }, 1, { 0, 0 } } };
    cq_module            *net    = mixed_new(&cls, rows, 2);

    cq_module_add(net, "fc", cq_linear_new(768, 1000, true));
    return net;
}

/* ---- the whole ---- */

enum { MAX_STEPS = 20 };

typedef struct inception {
    cq_module *steps[MAX_STEPS]; /* in the order of forward */
    int        n;
    cq_module *dropout, *fc;
} inception;

static cq_tensor *inception_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    inception *m = self;

    for (int i = 0; i < m->n; i++)
        x = cq_call(cx, m->steps[i], x);
    return cq_call(cx, m->fc, cq_flatten(cx, cq_call(cx, m->dropout, x), 1, -1));
}

static void step(cq_module *net, const char *name, cq_module *child)
{
    inception *m = cq_module_self(net);

    m->steps[m->n++] = cq_module_add(net, name, child);
}

static cq_module *pool(void)
{
    return cq_max_pool2d_new(&(cq_pool2d){ .kernel = { 3, 3 }, .stride = { 2, 2 } });
}

cq_module *cq_zoo_inception_v3(void)
{
    static const cq_class cls    = { CQ_SIZED(cq_class), .name = "Inception3",
                                     .self_size = sizeof(inception), .forward = inception_forward };
    static const conv_row stem[] = {
        { "Conv2d_1a_3x3", 3, 32, { 3, 3 }, 2, { 0, 0 } },
        { "Conv2d_2a_3x3", 32, 32, { 3, 3 }, 1, { 0, 0 } },
        { "Conv2d_2b_3x3", 32, 64, { 3, 3 }, 1, { 1, 1 } },
        { "maxpool1", 0, 0, { 0, 0 }, 0, { 0, 0 } },
        { "Conv2d_3b_1x1", 64, 80, { 1, 1 }, 1, { 0, 0 } },
        { "Conv2d_4a_3x3", 80, 192, { 3, 3 }, 1, { 0, 0 } },
        { "maxpool2", 0, 0, { 0, 0 }, 0, { 0, 0 } },
    };
    cq_module *net = cq_module_new(&cls);
    inception *m   = cq_module_self(net);

    if (!net)
        return NULL;
    for (size_t i = 0; i < sizeof stem / sizeof *stem; i++)
        step(net, stem[i].name, stem[i].in ? basic_new(&stem[i]) : pool());
    step(net, "Mixed_5b", a_new(192, 32));
    step(net, "Mixed_5c", a_new(256, 64));
    step(net, "Mixed_5d", a_new(288, 64));
    step(net, "Mixed_6a", b_new(288));
    step(net, "Mixed_6b", c_new(768, 128));
    step(net, "Mixed_6c", c_new(768, 160));
    step(net, "Mixed_6d", c_new(768, 160));
    step(net, "Mixed_6e", c_new(768, 192));
    cq_module_add(net, "AuxLogits", aux_new(768));
    step(net, "Mixed_7a", d_new(768));
    step(net, "Mixed_7b", e_new(1280));
    step(net, "Mixed_7c", e_new(2048));
    step(net, "avgpool", cq_adaptive_avg_pool_new(2, (int64_t[]){ 1, 1 }));
    m->dropout = cq_module_add(net, "dropout", cq_dropout_new(0.5));
    m->fc      = cq_module_add(net, "fc", cq_linear_new(2048, 1000, true));
    return net;
}
