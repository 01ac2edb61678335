/* Operators of early exporters that are in no release of ONNX: Caffe2's and Core ML's layers. */
#include "onnx/expand/expansion.h"

#include <inttypes.h>
#include <stdint.h>

static bool has_both(cq_expansion *e)
{
    if (!cq_expansion_attr(e, "alpha") || !cq_expansion_attr(e, "beta"))
        e->refusal = "has no alpha or no beta";
    return !e->refusal;
}

static void affine(cq_expansion *e)
{
    cq_say_constant(e, "alpha", cq_expansion_float(e, "alpha"), "X");
    cq_say_constant(e, "beta", cq_expansion_float(e, "beta"), "X");
    cq_say(e, "scaled = Mul (X, alpha)");
    cq_say(e, "Y = Add (scaled, beta)");
}

static void scale(cq_expansion *e)
{
    cq_say_constant(e, "scale", cq_expansion_float(e, "scale"), "X");
    cq_say(e, "Y = Mul (X, scale)");
}

static void scaled_tanh(cq_expansion *e)
{
    if (!has_both(e))
        return;
    cq_say_constant(e, "alpha", cq_expansion_float(e, "alpha"), "X");
    cq_say_constant(e, "beta", cq_expansion_float(e, "beta"), "X");
    cq_say(e, "inner = Mul (X, beta)");
    cq_say(e, "t = Tanh (inner)");
    cq_say(e, "Y = Mul (t, alpha)");
}

static void parametric_softplus(cq_expansion *e)
{
    if (!has_both(e))
        return;
    cq_say_constant(e, "alpha", cq_expansion_float(e, "alpha"), "X");
    cq_say_constant(e, "beta", cq_expansion_float(e, "beta"), "X");
    cq_say(e, "inner = Mul (X, beta)");
    cq_say(e, "s = Softplus (inner)");
    cq_say(e, "Y = Mul (s, alpha)");
}

/* The end of an axis of an image: a border of 0 takes nothing away. */
static int64_t end_at(int64_t border)
{
    return border ? -border : INT64_MAX;
}

/* border: left, top, right, bottom. scale: height and width of what is left, from the top left. */
static void crop(cq_expansion *e)
{
    const cq_onnx_attribute *border = cq_expansion_attr(e, "border");
    const cq_onnx_attribute *size   = cq_expansion_attr(e, "scale");
    const int64_t           *b      = border ? border->ints.items : NULL;
    int64_t                  bottom, right;

    if (!border || border->ints.n != 4 || (size && size->ints.n && size->ints.n != 2)) {
        e->refusal = "has not four borders, or a scale of other than two numbers";
        return;
    }
    for (int i = 0; i < 4; i++)
        if (b[i] < 0) {
            e->refusal = "has a negative border";
            return;
        }
    bottom = end_at(b[3]);
    right  = end_at(b[2]);
    if (size && size->ints.n &&
        (__builtin_add_overflow(b[1], size->ints.items[0], &bottom) ||
         __builtin_add_overflow(b[0], size->ints.items[1], &right))) {
        e->refusal = "has a scale that is too large";
        return;
    }
    cq_say(e, "axes = Constant <value_ints: ints = [2, 3]> ()");
    cq_say(e, "starts = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 "]> ()", b[1], b[0]);
    cq_say(e, "ends = Constant <value_ints: ints = [%" PRId64 ", %" PRId64 "]> ()", bottom, right);
    cq_say(e, "Y = Slice (X, starts, ends, axes)");
}

/* x * scale + bias, which has a number for each channel. */
static void image_scaler(cq_expansion *e)
{
    const cq_onnx_attribute *bias = cq_expansion_attr(e, "bias");

    cq_say_constant(e, "scale", cq_expansion_float(e, "scale"), "X");
    if (!bias || !bias->floats.n) {
        cq_say(e, "Y = Mul (X, scale)");
        return;
    }
    cq_say(e, "scaled = Mul (X, scale)");
    cq_str_add(&e->text, "list = Constant <value_floats: floats = [");
    for (uint32_t i = 0; i < bias->floats.n; i++)
        cq_str_printf(&e->text, "%s%.9g", i ? ", " : "", (double)bias->floats.items[i]);
    cq_say(e, "]> ()");
    cq_say(e, "shape = Constant <value_ints: ints = [-1, 1, 1]> ()");
    cq_say(e, "column = Reshape (list, shape)");
    cq_say(e, "bias = CastLike (column, X)");
    cq_say(e, "Y = Add (scaled, bias)");
}

const cq_expansion_row cq_expansions_experimental[] = {
    { "Affine", affine },
    { "Crop", crop },
    { "ImageScaler", image_scaler },
    { "ParametricSoftplus", parametric_softplus },
    { "Scale", scale },
    { "ScaledTanh", scaled_tanh },
    { NULL, NULL },
};
