/* Functions that bodies share (body.h), by family. */
#include "aten/body.h"

const cq_body_function cq_body_functions[] = {
    /* ---- arithmetic that is left out where it changes nothing ---- */
    { "scaled(Tensor x, float by) -> Tensor", "x if by == 1 else x * by" },
    { "shifted(Tensor x, float by) -> Tensor", "x if by == 0 else x + by" },

    /* ---- losses ---- */

    /* The end of every loss: as it is, its mean or its sum. */
    { "reduced(Tensor loss, int reduction) -> Tensor",
      "assert reduction in [0, 1, 2], 'there is no reduction {reduction}'\n"
      "return loss.mean() if reduction == 1 else loss.sum() if reduction == 2 else loss" },
    /* The weight of each target's class, 1 without weights, 0 where the target is ignored. */
    { "class_weights(Tensor? weight, Tensor target, Tensor ignored, int dtype) -> Tensor",
      "if weight is None: return ignored.logical_not().to(dtype)\n"
      "w = weight.index_select(0, target.reshape([-1]))\n"
      "return w.reshape(target.shape).masked_fill(ignored, 0)" },
    /* Minus the sum over all classes, each by its weight. */
    { "sum_classes(Tensor x, Tensor? weight, int dim) -> Tensor",
      "if weight is not None:"
      " x = x * weight.reshape([x.shape[i] if i == dim else 1 for i in range(x.ndim)])\n"
      "return -x.sum(dim)" },
    /* part / classes, where the number of classes may be a symbol. */
    { "share(float part, int classes, int dtype) -> Tensor",
      "scaled(scalar_tensor(classes, dtype=dtype).reciprocal(), part)" },
    { 0 },
};
