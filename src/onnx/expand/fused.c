/* What ONNX Runtime's optimizer makes one node of: layers with their activations, sums with
 * their normalisations. */
#include "onnx/expand/expansion.h"

#include <math.h>

/* ---- activations ---- */

/* The parameters of an activation: a list of FusedConv, single attributes of others. */
static double parameter(const cq_expansion *e, uint32_t i, const char *name, double otherwise)
{
    const cq_onnx_attribute *list = cq_expansion_attr(e, "activation_params");
    const cq_onnx_attribute *one  = cq_expansion_attr(e, name);

    if (list && i < list->floats.n)
        return (double)list->floats.items[i];
    return one ? (double)one->f : otherwise;
}

/* Y = activation(y), of the kind that the node names. */
static void say_activation(cq_expansion *e)
{
    static const char *const plain[] = { "Relu",     "Tanh", "Sigmoid", "Softplus",
                                         "Softsign", "Elu",  "Gelu" };
    double                   a       = parameter(e, 0, "activation_alpha", NAN);
    double                   b       = parameter(e, 1, "activation_beta", NAN);

    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        if (cq_expansion_is(e, "activation", plain[i])) {
            cq_say(e, "Y = %s (y)", plain[i]);
            return;
        }
    if (cq_expansion_is(e, "activation", "")) {
        cq_say(e, "Y = Identity (y)");
    } else if (cq_expansion_is(e, "activation", "LeakyRelu")) {
        cq_say(e, "Y = LeakyRelu <alpha: float = %.9g> (y)", isnan(a) ? 0.01 : a);
    } else if (cq_expansion_is(e, "activation", "HardSigmoid")) {
        cq_say(e, "Y = HardSigmoid <alpha: float = %.9g, beta: float = %.9g> (y)",
               isnan(a) ? 0.2 : a, isnan(b) ? 0.5 : b);
    } else if (cq_expansion_is(e, "activation", "Clip") && !isnan(a) && !isnan(b)) {
        cq_say(e, "Y = Clip (y, like (%.9g, y), like (%.9g, y))", a, b);
    } else if (cq_expansion_is(e, "activation", "HardSwish")) {
        cq_say(e, "Y = HardSwish (y)");
    } else {
        e->refusal = "has an activation that is not known";
    }
}

static void bias_softmax(cq_expansion *e)
{
    if (cq_expansion_int(e, "axis") != -1)
        e->refusal = "is known along the last axis alone";
    cq_say(e, "output = Softmax <axis: int = -1> (Add (data, bias))");
}

/* ---- layers ---- */

static void conv(cq_expansion *e)
{
    cq_say(e,
           "y = AddIf (Conv <auto_pad, dilations, group, kernel_shape, pads, strides> (X, W, B), "
           "Z)");
    say_activation(e);
}

static void gemm(cq_expansion *e)
{
    cq_say(e, "y = Gemm <alpha, beta, transA, transB> (A, B, C)");
    say_activation(e);
}

/* Where the rank is not known before the run, the last two axes are turned by an Einsum. */
static void say_product(cq_expansion *e, const char *to)
{
    const char *const turn = "Einsum <equation: string = \"...ij->...ji\"> ";
    const char       *a    = cq_expansion_int(e, "transA") ? turn : "",
               *b          = cq_expansion_int(e, "transB") ? turn : "";

    if (cq_expansion_int(e, "transBatchA") || cq_expansion_int(e, "transBatchB"))
        e->refusal = "is not known with transBatchA or transBatchB";
    cq_say(e, "product = MatMul (%s%s, %s%s)", a, *a ? "(A)" : "A", b, *b ? "(B)" : "B");
    cq_say(e, "%s = Mul (product, like (@alpha, product))", to);
}

static void matmul(cq_expansion *e)
{
    say_product(e, "Y");
}

static void matmul_activation(cq_expansion *e)
{
    say_product(e, "y");
    say_activation(e);
}

/* ---- normalisations ---- */

/* skip may lack axes of input; the sum has all of them. */
#define SKIP "s = AddIf (Add (input, skip), bias)\ninput_skip_bias_sum = Identity (s)\n"

static void skip_simplified_layer_norm(cq_expansion *e)
{
    if (cq_expansion_wants(e, 1) || cq_expansion_wants(e, 2))
        e->refusal = "gives no mean and no deviation";
    cq_say(e, SKIP "output = RMSNormalization <epsilon> (s, gamma)");
}

static void simplified_layer_norm(cq_expansion *e)
{
    if (cq_expansion_wants(e, 1))
        e->refusal = "gives no deviation";
    cq_say(e, "Y = RMSNormalization <axis, epsilon> (X, scale)");
}

/* Words, places and segments; mask_index is how many words of each row are not masked. */
static void embed_layer_norm(cq_expansion *e)
{
    cq_say(e, "words = Gather (word_embedding, input_ids)");
    cq_say(e, cq_expansion_has(e, 8) ? "s0 = Add (words, Gather (position_embedding, position_ids))"
                                     : "s0 = Add (words, Slice (position_embedding, [0], "
                                       "Shape <start: int = 1, end: int = 2> (input_ids), [0]))");
    cq_say(e, cq_expansion_has(e, 1) ? "s = Add (s0, Gather (segment_embedding, segment_ids))"
                                     : "s = Identity (s0)");
    cq_say(e, "output = LayerNormalization <epsilon> (s, gamma, beta)");
    cq_say(e, "embedding_sum = Identity (s)");
    cq_say(e, "mask_index = ReduceSum <keepdims: int = 0> (%s, [1])",
           cq_expansion_has(e, 7) ? "mask" : "Sub (input_ids, input_ids)");
}

const cq_expansion_row cq_expansions_fused[] = {
    { "BiasGelu", .text = "C = Gelu (Add (A, B))" },
    { "BiasSoftmax", .write = bias_softmax },
    /* The first half by the Gelu of the second. */
    { "BiasSplitGelu",
      .text = "left, right = Split <axis: int = -1, num_outputs: int = 2> (Add (X, bias))\n"
              "Y = Mul (left, Gelu (right))" },
    { "EmbedLayerNormalization", .write = embed_layer_norm },
    { "ExpandDims", .text = "Y = Unsqueeze (X, Reshape (Cast <to: int = 7> (axis), [-1]))" },
    { "FastGelu", .text = "Y = Gelu <approximate: string = \"tanh\"> (AddIf (X, bias))" },
    { "FusedConv", .write = conv },
    { "FusedGemm", .write = gemm },
    { "FusedMatMul", .write = matmul },
    { "FusedMatMulActivation", .write = matmul_activation },
    { "Gelu", .text = "Y = Gelu (X)" },
    { "QuickGelu", .text = "Y = Mul (X, Sigmoid (Mul (X, like (@alpha, X))))" },
    { "SimplifiedLayerNormalization", .write = simplified_layer_norm },
    { "SkipLayerNormalization",
      .text = SKIP "output, mean, inv_std_var = LayerNormalization <epsilon> (s, gamma, beta)" },
    { "SkipSimplifiedLayerNormalization", .write = skip_simplified_layer_norm },
    { "TransposeMatMul", .write = matmul },
    { "Trilu", .text = "Y = Trilu <upper> (X, k)" },
    { 0 },
};
