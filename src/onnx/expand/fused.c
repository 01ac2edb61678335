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
        cq_say_constant(e, "low", a, "y");
        cq_say_constant(e, "high", b, "y");
        cq_say(e, "Y = Clip (y, low, high)");
    } else if (cq_expansion_is(e, "activation", "HardSwish")) {
        cq_say(e, "Y = HardSwish (y)");
    } else {
        e->refusal = "has an activation that is not known";
    }
}

static void gelu(cq_expansion *e)
{
    cq_say(e, "Y = Gelu (X)");
}

static void bias_gelu(cq_expansion *e)
{
    cq_say(e, "s = Add (A, B)");
    cq_say(e, "C = Gelu (s)");
}

static void fast_gelu(cq_expansion *e)
{
    cq_say(e, cq_expansion_has(e, 1) ? "s = Add (X, bias)" : "s = Identity (X)");
    cq_say(e, "Y = Gelu <approximate: string = \"tanh\"> (s)");
}

static void quick_gelu(cq_expansion *e)
{
    cq_say_constant(e, "alpha", cq_expansion_float(e, "alpha"), "X");
    cq_say(e, "scaled = Mul (X, alpha)");
    cq_say(e, "part = Sigmoid (scaled)");
    cq_say(e, "Y = Mul (X, part)");
}

/* The first half by the Gelu of the second. */
static void bias_split_gelu(cq_expansion *e)
{
    cq_say(e, "s = Add (X, bias)");
    cq_say(e, "left, right = Split <axis: int = -1, num_outputs: int = 2> (s)");
    cq_say(e, "part = Gelu (right)");
    cq_say(e, "Y = Mul (left, part)");
}

static void bias_softmax(cq_expansion *e)
{
    if (cq_expansion_int(e, "axis") != -1)
        e->refusal = "is known along the last axis alone";
    cq_say(e, "s = Add (data, bias)");
    cq_say(e, "output = Softmax <axis: int = -1> (s)");
}

/* ---- layers ---- */

static void conv(cq_expansion *e)
{
    static const char *const attributes[] = { "auto_pad", "dilations", "group", "kernel_shape",
                                              "pads",     "strides",   NULL };

    cq_str_add(&e->text, "c = Conv <");
    cq_say_attributes(e, attributes);
    cq_say(e, "> (X, W%s)", cq_expansion_has(e, 2) ? ", B" : "");
    cq_say(e, cq_expansion_has(e, 3) ? "y = Add (c, Z)" : "y = Identity (c)");
    say_activation(e);
}

static void gemm(cq_expansion *e)
{
    static const char *const attributes[] = { "alpha", "beta", "transA", "transB", NULL };

    cq_str_add(&e->text, "y = Gemm <");
    cq_say_attributes(e, attributes);
    cq_say(e, "> (A, B%s)", cq_expansion_has(e, 2) ? ", C" : "");
    say_activation(e);
}

/* Where the rank is not known before the run, the last two axes are turned by an Einsum. */
static void say_product(cq_expansion *e, const char *to)
{
    const char *const turn = "Einsum <equation: string = \"...ij->...ji\">";
    bool turns_a = cq_expansion_int(e, "transA"), turns_b = cq_expansion_int(e, "transB");

    if (cq_expansion_int(e, "transBatchA") || cq_expansion_int(e, "transBatchB"))
        e->refusal = "is not known with transBatchA or transBatchB";
    if (turns_a)
        cq_say(e, "a = %s (A)", turn);
    if (turns_b)
        cq_say(e, "b = %s (B)", turn);
    cq_say(e, "product = MatMul (%s, %s)", turns_a ? "a" : "A", turns_b ? "b" : "B");
    cq_say_constant(e, "alpha", cq_expansion_float(e, "alpha"), "product");
    cq_say(e, "%s = Mul (product, alpha)", to);
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
static void say_skip(cq_expansion *e, size_t bias)
{
    cq_say(e, "sum = Add (input, skip)");
    cq_say(e, cq_expansion_has(e, bias) ? "s = Add (sum, bias)" : "s = Identity (sum)");
    if (cq_expansion_wants(e, 3))
        cq_say(e, "input_skip_bias_sum = Identity (s)");
}

static void skip_layer_norm(cq_expansion *e)
{
    say_skip(e, 4);
    cq_say(e, "output, mean, inv_std_var = LayerNormalization <epsilon: float = %.9g> (s, gamma%s)",
           cq_expansion_float(e, "epsilon"), cq_expansion_has(e, 3) ? ", beta" : "");
}

static void skip_simplified_layer_norm(cq_expansion *e)
{
    if (cq_expansion_wants(e, 1) || cq_expansion_wants(e, 2))
        e->refusal = "gives no mean and no deviation";
    say_skip(e, 3);
    cq_say(e, "output = RMSNormalization <epsilon: float = %.9g> (s, gamma)",
           cq_expansion_float(e, "epsilon"));
}

static void simplified_layer_norm(cq_expansion *e)
{
    if (cq_expansion_wants(e, 1))
        e->refusal = "gives no deviation";
    cq_say(e, "Y = RMSNormalization <axis: int = %lld, epsilon: float = %.9g> (X, scale)",
           (long long)cq_expansion_int(e, "axis"), cq_expansion_float(e, "epsilon"));
}

/* Words, places and segments; mask_index is how many words of each row are not masked. */
static void embed_layer_norm(cq_expansion *e)
{
    cq_say(e, "words = Gather (word_embedding, input_ids)");
    if (cq_expansion_has(e, 8)) {
        cq_say(e, "places = Gather (position_embedding, position_ids)");
    } else {
        cq_say(e, "shape = Shape <start: int = 1, end: int = 2> (input_ids)");
        cq_say(e, "zero = Constant <value_ints: ints = [0]> ()");
        cq_say(e, "axis = Constant <value_ints: ints = [0]> ()");
        cq_say(e, "places = Slice (position_embedding, zero, shape, axis)");
    }
    cq_say(e, "s0 = Add (words, places)");
    if (cq_expansion_has(e, 1)) {
        cq_say(e, "segments = Gather (segment_embedding, segment_ids)");
        cq_say(e, "s = Add (s0, segments)");
    } else {
        cq_say(e, "s = Identity (s0)");
    }
    cq_say(e, "output = LayerNormalization <epsilon: float = %.9g> (s, gamma, beta)",
           cq_expansion_float(e, "epsilon"));
    if (cq_expansion_wants(e, 2))
        cq_say(e, "embedding_sum = Identity (s)");
    if (!cq_expansion_wants(e, 1))
        return;
    cq_say(e, "last = Constant <value_ints: ints = [1]> ()");
    if (cq_expansion_has(e, 7)) {
        cq_say(e, "mask_index = ReduceSum <keepdims: int = 0> (mask, last)");
    } else {
        cq_say(e, "none = Sub (input_ids, input_ids)");
        cq_say(e, "mask_index = ReduceSum <keepdims: int = 0> (none, last)");
    }
}

/* ---- others ---- */

static void trilu(cq_expansion *e)
{
    cq_say(e, "Y = Trilu <upper: int = %lld> (X%s)", (long long)cq_expansion_int(e, "upper"),
           cq_expansion_has(e, 1) ? ", k" : "");
}

static void expand_dims(cq_expansion *e)
{
    cq_say(e, "wide = Cast <to: int = %d> (axis)", CQ_ONNX_INT64);
    cq_say(e, "one = Constant <value_ints: ints = [-1]> ()");
    cq_say(e, "axes = Reshape (wide, one)");
    cq_say(e, "Y = Unsqueeze (X, axes)");
}

const cq_expansion_row cq_expansions_fused[] = {
    { "BiasGelu", bias_gelu },
    { "BiasSoftmax", bias_softmax },
    { "BiasSplitGelu", bias_split_gelu },
    { "EmbedLayerNormalization", embed_layer_norm },
    { "ExpandDims", expand_dims },
    { "FastGelu", fast_gelu },
    { "FusedConv", conv },
    { "FusedGemm", gemm },
    { "FusedMatMul", matmul },
    { "FusedMatMulActivation", matmul_activation },
    { "Gelu", gelu },
    { "QuickGelu", quick_gelu },
    { "SimplifiedLayerNormalization", simplified_layer_norm },
    { "SkipLayerNormalization", skip_layer_norm },
    { "SkipSimplifiedLayerNormalization", skip_simplified_layer_norm },
    { "TransposeMatMul", matmul },
    { "Trilu", trilu },
    { NULL, NULL },
};
