/* Layers that PyTorch's optimize_for_mobile packed for XNNPACK: a convolution or linear layer, then
 * a clamp. A context, an opaque class in PyTorch, is a tuple here: the arguments of its prepack
 * operator in their order, which is also the state that an archive holds of it. */
#include "aten/ctx.h"
#include "base/warn.h"

/* A plain layer takes the input, then these items of the context; the last two are the limits. */
enum { LINEAR, CONV, CONV_TRANSPOSE, MAX_ITEMS = 9 };

static const struct {
    const char   *plain;
    size_t        n; /* items without the limits */
    unsigned char order[MAX_ITEMS];
} layers[] = {
    [LINEAR]         = { "aten::linear", 2, { 0, 1 } },
    [CONV]           = { "aten::conv2d", 6, { 0, 1, 2, 3, 4, 5 } },
    [CONV_TRANSPOSE] = { "aten::conv_transpose2d.input", 7, { 0, 1, 2, 3, 4, 6, 5 } },
};

static cq_status prepack(cq_opcall *c)
{
    size_t   n = c->op->schema->n_args;
    cq_list *list;

    CQ_TRY(cq_list_new(&list, n));
    for (size_t i = 0; i < n; i++)
        list->items[i] = cq_val_retain(c->args[i]);
    return cq_result_set(c, 0, cq_ctx_own(c->cx, (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = list }));
}

/* XNNPACK asks no input for its sizes: of features that are too many it reads as many as it has
 * weights for, row after row. There are models for phones that live with that. */
static cq_tensor *as_rows(cq_opcall *c, cq_tensor *x, cq_val weight)
{
    const cq_tensor *w = weight.kind == CQ_VAL_TENSOR ? weight.u.tensor : NULL;
    cq_int           n, rows = cq_i(1), sizes[CQ_MAX_RANK];
    size_t           last = x->rank ? x->rank - 1 : 0;

    if (!w || w->rank != 2 || !x->rank || x->sizes[last].value <= w->sizes[1].value)
        return x;
    n = w->sizes[1];
    cq_warn(c->op->schema->full,
            "the input has %lld features and the weights are for %lld: as in PyTorch, the numbers "
            "that are left over are ignored",
            (long long)x->sizes[last].value, (long long)n.value);
    for (size_t i = 0; i < last; i++)
        rows = cq_size_mul(c, rows, x->sizes[i]);
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[last] = n;
    x           = CQ_OP(c->cx, "aten::flatten.using_ints", TENSOR(x), INT(0), INT(-1));
    x = CQ_OP(c->cx, "aten::slice.Tensor", TENSOR(x), INT(0), INT(0), SIZE(cq_size_mul(c, rows, n)),
              INT(1));
    return CQ_OP(c->cx, "aten::reshape", TENSOR(x), cq_ints(c->cx, sizes, last + 1));
}

static cq_status run(cq_opcall *c)
{
    const int  layer = c->op->def->variant;
    size_t     n     = layers[layer].n;
    cq_val     v = c->args[1], args[1 + MAX_ITEMS] = { c->args[0] };
    cq_val    *items = v.kind == CQ_VAL_TUPLE ? v.u.list->items : NULL, *limits;
    cq_tensor *y;

    if (!items || v.u.list->n != n + 2)
        return cq_call_fail(c, CQ_E_TYPE, "\"%s\" should be a context of XNNPACK with %zu items",
                            c->op->schema->args[1].name, n + 2);
    limits = items + n;
    for (size_t i = 0; i < n; i++)
        args[1 + i] = items[layers[layer].order[i]];
    if (layer == LINEAR)
        args[0] = TENSOR(as_rows(c, args[0].u.tensor, items[0]));
    y = cq_op_tensor(c->cx, layers[layer].plain, args, 1 + n);
    if (limits[0].kind != CQ_VAL_NONE || limits[1].kind != CQ_VAL_NONE)
        y = CQ_OP(c->cx, "aten::clamp", TENSOR(y), limits[0], limits[1]);
    return cq_result_set_tensor(c, 0, y);
}

#define CONTEXT(name) "__torch__.torch.classes.xnnpack." name "OpContext"
#define LIMITS        "Scalar? output_min=None, Scalar? output_max=None) -> "
#define LAYER(name, class, packs, text, what)                                                      \
    { .schema  = "prepacked::" name "_prepack(" packs ", " LIMITS CONTEXT(class),                  \
      .about   = "the context of " name "_run",                                                    \
      .compose = prepack,                                                                          \
      .flags   = CQ_OP_PARTS },                                                                      \
    {                                                                                              \
        .schema = "prepacked::" name "_run(Tensor X, " CONTEXT(class) " W_prepack) -> Tensor Y",   \
        .about = text " and a clamp, packed for mobile", .compose = run, .flags = CQ_OP_PARTS,     \
        .variant = what                                                                            \
    }

const cq_op_def cq_ops_prepacked[] = {
    LAYER("linear_clamp", "Linear", "Tensor W, Tensor? B=None", "linear", LINEAR),
    LAYER("conv2d_clamp", "Conv2d",
          "Tensor W, Tensor? B, int[2] stride, int[2] padding, int[2] dilation, int groups",
          "conv2d", CONV),
    LAYER("conv2d_transpose_clamp", "TransposeConv2d",
          "Tensor W, Tensor? B, int[2] stride, int[2] padding, int[2] output_padding, "
          "int[2] dilation, int groups",
          "conv_transpose2d", CONV_TRANSPOSE),
    { .schema = "aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
      .about  = "a sum and relu",
      .body   = "relu(add(self, other, alpha=alpha))" },
    { .schema = "aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
      .about  = "a sum with a number and relu",
      .body   = "relu(add(self, other, alpha))" },
    { 0 }
};
