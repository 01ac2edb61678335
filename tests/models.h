/* Small models for tests of exporting, and a look at what became of them. */
#ifndef CQ_TEST_MODELS_H
#define CQ_TEST_MODELS_H

#include "onnx/model.h"
#include "test.h"

#include <calque/export.h>
#include <calque/layers.h>

/* Net: features (Sequential of Conv2d, BatchNorm2d, ReLU), flatten, fc (Linear). */
struct small_net {
    cq_module *features, *fc;
};

static inline cq_tensor *small_net_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    struct small_net *m = self;

    return cq_call(cx, m->fc, cq_flatten(cx, cq_call(cx, m->features, x), 1, -1));
}

static inline cq_module *small_net_new(void)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Net",
                                  .self_size = sizeof(struct small_net),
                                  .forward   = small_net_forward };
    cq_module            *net = cq_module_new(&cls);
    struct small_net     *m   = cq_module_self(net);

    if (!net)
        return NULL;
    m->features = cq_module_add(
        net, "features",
        cq_sequential_of(3, (cq_module *[]){
                                cq_conv2d_new(&(cq_conv_spec){ CQ_SIZED(cq_conv_spec), .in = 2,
                                                               .out = 3, .kernel = { 3, 3 } }),
                                cq_batch_norm2d_new(3),
                                cq_relu_inplace_new(),
                            }));
    m->fc = cq_module_add(net, "fc", cq_linear_new(12, 5, true));
    return net;
}

/* Its example input, 2 x 2 x 4 x 4. */
static inline cq_tensor *small_net_input(void)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 4, (int64_t[]){ 2, 2, 4, 4 }, NULL));
    for (int i = 0; i < 64; i++)
        ((float *)cq_tensor_data(t))[i] = (float)((7 * i) % 11 - 5) / 4;
    return t;
}

/* A module of one forward and nothing else, on the input above. */
static inline cq_module *bare_net_new(const cq_class *cls)
{
    cq_module *net = cq_module_new(cls);

    CHECK_OK(cq_module_status(net));
    return net;
}

/* Exports net on the example input; the model or NULL, and the status. */
static inline cq_status export_net(cq_onnx_model **out, cq_module *net,
                                   const cq_export_options *options)
{
    cq_tensor *x      = small_net_input();
    cq_status  status = cq_module_export(out, net, &x, 1, options);

    cq_tensor_release(x);
    return status;
}

/* The same, of a fresh small_net. */
static inline cq_status export_small(cq_onnx_model **out, const cq_export_options *options)
{
    cq_module *net    = small_net_new();
    cq_status  status = export_net(out, net, options);

    cq_module_free(net);
    return status;
}

static inline cq_export_options options_of(int opset)
{
    cq_export_options o;

    cq_export_options_init(&o);
    o.opset = opset;
    return o;
}

/* All operators of the graph in order, "Conv Relu Flatten Gemm". */
static inline const char *ops_of(const cq_onnx_model *model, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < model->graph->node.n; i++) {
        if (i)
            strncat(out, " ", size - strlen(out) - 1);
        strncat(out, model->graph->node.items[i]->op_type, size - strlen(out) - 1);
    }
    return out;
}

#define CHECK_OPS(want, model)                                                                     \
    do {                                                                                           \
        char ops_[512];                                                                            \
        CHECK_STR(want, ops_of(model, ops_, sizeof ops_));                                         \
    } while (0)

/* Warnings, counted instead of printed. */
struct heard {
    int  n;
    char message[512], where[256]; /* of the last one */
};

static inline void hear(void *user, const char *message, const char *where)
{
    struct heard *h = user;

    h->n++;
    strncpy(h->message, message, sizeof h->message - 1);
    strncpy(h->where, where, sizeof h->where - 1);
}

#endif
