/* Reductions. Their gradients have fewer dimensions than the argument, so the first thing is to
 * get those back: kept, in aten/body_functions.c with what several share. */
#include "autograd/gradient.h"

/* The gradient goes where the second result says the first one came from. */
#define SELECTED                                                                                   \
    "self: scatter_add(zeros_like(self), dim, kept(result1, self, [dim]), kept(grad, self, "       \
    "[dim]))"

const cq_gradient cq_gradients_reduce[] = {
    { "aten::sum.dim_IntList", .as = "self: kept(grad, self, dim).expand(self.shape)" },
    { "aten::sum", .as = "self: kept(grad, self, None).expand(self.shape)" },
    { "aten::nansum", .as = "self: kept(grad, self, dim) * self.isnan().logical_not()" },
    { "aten::mean", .as = "self: of_mean(grad, self, None).expand(self.shape)" },
    { "aten::mean.dim", .as = "self: of_mean(grad, self, dim).expand(self.shape)" },
    { "aten::prod", .as = "self: kept(grad, self, None) * product_of_others(self.reshape([-1]), "
                          "0).reshape(self.shape)" },
    { "aten::prod.dim_int",
      .as = "if self.ndim == 0: self: grad\n"
            "else: self: kept(grad, self, [dim]) * product_of_others(self, dim)" },
    { "aten::var", .as = "self: of_variance(grad, self, None, float(unbiased))" },
    { "aten::std", .as = "self: of_deviation(grad, result, self, None, float(unbiased))" },
    { "aten::var_mean",
      .as = "self: of_variance(grad, self, None, float(unbiased)) + of_mean(grad1, self, None)" },
    { "aten::std_mean", .as = "self: of_deviation(grad, result, self, None, float(unbiased)) + "
                              "of_mean(grad1, self, None)" },
    { "aten::var.dim", .as = "self: of_variance(grad, self, dim, float(unbiased))" },
    { "aten::std.dim", .as = "self: of_deviation(grad, result, self, dim, float(unbiased))" },
    { "aten::var_mean.dim",
      .as = "self: of_variance(grad, self, dim, float(unbiased)) + of_mean(grad1, self, dim)" },
    { "aten::std_mean.dim", .as = "self: of_deviation(grad, result, self, dim, float(unbiased)) + "
                                  "of_mean(grad1, self, dim)" },
    { "aten::var.correction",
      .as = "self: of_variance(grad, self, dim, 1. if correction is None else float(correction))" },
    { "aten::std.correction", .as = "self: of_deviation(grad, result, self, dim, 1. if correction "
                                    "is None else float(correction))" },
    { "aten::var_mean.correction",
      .as = "self: of_variance(grad, self, dim, 1. if correction is None else float(correction)) + "
            "of_mean(grad1, self, dim)" },
    { "aten::std_mean.correction",
      .as = "self: of_deviation(grad, result, self, dim, 1. if correction is None else "
            "float(correction)) + of_mean(grad1, self, dim)" },
    { "aten::max", .as = "self: shared_all(grad, result, self)" },
    { "aten::min", .as = "self: shared_all(grad, result, self)" },
    { "aten::median", .as = "self: shared_all(grad, result, self)" },
    { "aten::nanmedian", .as = "self: shared_all(grad, result, self)" },
    { "aten::max.dim", .as = SELECTED },
    { "aten::min.dim", .as = SELECTED },
    { "aten::median.dim", .as = SELECTED },
    { "aten::nanmedian.dim", .as = SELECTED },
    { "aten::kthvalue", .as = SELECTED },
    { "aten::mode", .as = SELECTED },
    { "aten::amax", .as = "self: shared(grad, result, self, dim)" },
    { "aten::amin", .as = "self: shared(grad, result, self, dim)" },
    { "aten::aminmax",
      .as = "dims = None if dim is None else [dim]\n"
            "self: shared(grad, result, self, dims) + shared(grad1, result1, self, dims)" },
    { "aten::logsumexp",
      .as = "self: kept(grad, self, dim) * (self - kept(result, self, dim)).exp()" },
    { "aten::norm.Scalar", .as = "self: of_norm(grad, result, self, p, None)" },
    { "aten::norm.ScalarOpt_dim", .as = "self: of_norm(grad, result, self, p, dim)" },
    { "aten::norm.ScalarOpt_dim_dtype", .as = "self: of_norm(grad, result, self, p, dim)" },
    { "aten::norm.ScalarOpt_dtype", .as = "self: of_norm(grad, result, self, p, None)" },
    { "aten::linalg_vector_norm", .as = "self: of_norm(grad, result, self, ord, dim)" },
    { 0 },
};
