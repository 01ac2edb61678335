/* Layers that PyTorch's optimize_for_mobile packed for XNNPACK: a convolution or linear layer, then
 * a clamp. A context, an opaque class in PyTorch, is a tuple here: the arguments of its prepack
 * operator in their order, which is also the state that an archive holds of it. */
#include "aten/ctx.h"

#define CONTEXT(name) "__torch__.torch.classes.xnnpack." name "OpContext"
#define LIMITS        "Scalar? output_min=None, Scalar? output_max=None) -> "
#define CONV          "Tensor W, Tensor? B, int[2] stride, int[2] padding, "
#define ROW(text_of_schema, text, code)                                                            \
    {                                                                                              \
        .schema = "prepacked::" text_of_schema, .about = text, .body = code, .flags = CQ_OP_PARTS  \
    }
#define PACK(name, class, packs, items)                                                            \
    ROW(name "_prepack(" packs ", " LIMITS CONTEXT(class), "the context of " name "_run",          \
        items ", output_min, output_max")
#define RUN(name, class, text, code)                                                               \
    ROW(name "_run(Tensor X, " CONTEXT(class) " W_prepack) -> Tensor Y",                           \
        text " and a clamp, packed for mobile", code)

const cq_op_def cq_ops_prepacked[] = {
    PACK("linear_clamp", "Linear", "Tensor W, Tensor? B=None", "W, B"),
    RUN("linear_clamp", "Linear", "linear",
        "w, b, low, high = context_items(W_prepack, 4)\n"
        "return clamped(linear(features_for(X, w), w, b), low, high)"),
    PACK("conv2d_clamp", "Conv2d", CONV "int[2] dilation, int groups",
         "W, B, stride, padding, dilation, groups"),
    RUN("conv2d_clamp", "Conv2d", "conv2d",
        "w, b, stride, padding, dilation, groups, low, high = context_items(W_prepack, 8)\n"
        "return clamped(conv2d(X, w, b, stride, padding, dilation, groups), low, high)"),
    PACK("conv2d_transpose_clamp", "TransposeConv2d",
         CONV "int[2] output_padding, int[2] dilation, int groups",
         "W, B, stride, padding, output_padding, dilation, groups"),
    RUN("conv2d_transpose_clamp", "TransposeConv2d", "conv_transpose2d",
        "c = context_items(W_prepack, 9)\n"
        "y = conv_transpose2d(X, c[0], c[1], c[2], c[3], c[4], c[6], c[5])\n"
        "return clamped(y, c[7], c[8])"),
    CQ_BODY("aten::_add_relu.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
            "a sum and relu", "relu(add(self, other, alpha=alpha))"),
    CQ_BODY("aten::_add_relu.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor",
            "a sum with a number and relu", "relu(add(self, other, alpha))"),
    { 0 }
};
