/* Operators of early exporters that are in no release of ONNX: Caffe2's and Core ML's layers. */
#include "onnx/expand/expansion.h"

#include <inttypes.h>
#include <stdint.h>

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
    cq_say(e, "Y = Slice (X, [%" PRId64 ", %" PRId64 "], [%" PRId64 ", %" PRId64 "], [2, 3])", b[1],
           b[0], bottom, right);
}

/* x * scale + bias, which has a number for each channel. */
static void image_scaler(cq_expansion *e)
{
    const cq_onnx_attribute *bias = cq_expansion_attr(e, "bias");

    if (!bias || !bias->floats.n) {
        cq_say(e, "Y = Mul (X, like (@scale, X))");
        return;
    }
    cq_str_add(&e->text, "list = Constant <value_floats: floats = [");
    for (uint32_t i = 0; i < bias->floats.n; i++)
        cq_str_printf(&e->text, "%s%.9g", i ? ", " : "", (double)bias->floats.items[i]);
    cq_str_add(&e->text, "]> ()\n");
    cq_say(e, "Y = Add (Mul (X, like (@scale, X)), CastLike (Reshape (list, [-1, 1, 1]), X))");
}

const cq_expansion_row cq_expansions_experimental[] = {
    { "Affine", .text = "Y = Add (Mul (X, like (@alpha, X)), like (@beta, X))" },
    { "Crop", .write = crop },
    { "ImageScaler", .write = image_scaler },
    { "ParametricSoftplus",
      .text = "Y = Mul (Softplus (Mul (X, like (@beta, X))), like (@alpha, X))" },
    { "Scale", .text = "Y = Mul (X, like (@scale, X))" },
    { "ScaledTanh", .text = "Y = Mul (Tanh (Mul (X, like (@beta, X))), like (@alpha, X))" },
    { 0 },
};
