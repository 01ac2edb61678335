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

    /* ---- dtypes ---- */
    { "in_float(Tensor x) -> Tensor", "x if x.is_floating_point() else x.to(torch.float32)" },
    { "number_like(Tensor x, float number) -> Tensor", "scalar_tensor(number, dtype=x.dtype)" },

    /* ---- norms of matrices ---- */
    { "matrix_dims(int[] dim, int rank) -> int[]",
      "assert len(dim) == 2, 'a matrix has two dimensions'\n"
      "dims = wrap_dims(dim, rank)\n"
      "assert dims[0] != dims[1], 'the dimensions of a matrix should be different'\n"
      "return dims" },
    { "converted(Tensor x, int? dtype) -> Tensor", "x if dtype is None else x.to(dtype)" },

    /* ---- sums with a product ---- */

    /* A factor as the dtype has it: 0.6 is 0 among integers, and 3 is true among bools. One that
     * only the run knows is a tensor. */
    { "factor_in(Scalar x, int dtype) -> Scalar",
      "if isinstance(x, Tensor) or dtype.is_floating_point or dtype.is_complex: return x\n"
      "if dtype == torch.bool: return int(x != 0)\n"
      "return int(x) if isinstance(x, float) else x" },
    { "times(Tensor x, Scalar factor) -> Tensor",
      "x if is_known(factor) and factor == 1 else x * factor" },
    /* With beta 0 self is not looked at: its NaNs do not count. */
    { "add_scaled(Tensor self, Tensor product, Scalar beta, Scalar alpha) -> Tensor",
      "scale = factor_in(beta, product.dtype)\n"
      "product = times(product, factor_in(alpha, product.dtype))\n"
      "return product if is_known(scale) and scale == 0 else times(self, scale) + product" },

    /* ---- attention ---- */

    /* x / size ** power, where size may be a symbol. */
    { "divide_by_power(Tensor x, int size, float power) -> Tensor",
      "if is_known(size): return x * size ** -power\n"
      "return x / scalar_tensor(size, dtype=x.dtype) ** power" },
    /* softmax(q @ k.T * scale + mask) @ v, and the softmax. Without a scale both factors are
     * divided by the fourth root of their size, so that neither overflows in half precision. */
    { "attend(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, float dropout_p, "
      "bool is_causal, float? scale) -> (Tensor, Tensor)",
      "assert query.ndim > 1 and key.ndim > 1 and value.ndim > 1,"
      " 'query, key and value need at least 2 dimensions'\n"
      "assert not is_causal or attn_mask is None, 'a mask and is_causal exclude each other'\n"
      "size = query.shape[-1]\n"
      "k = key.transpose(-2, -1)\n"
      "if scale is not None: scores = (query * scale) @ k\n"
      "else: scores = divide_by_power(query, size, 0.25) @ divide_by_power(k, size, 0.25)\n"
      "if is_causal: scores = scores.masked_fill("
      "ones(scores.shape[-2:], dtype=torch.bool).tril().logical_not(), -math.inf)\n"
      "if attn_mask is not None:"
      " scores = scores.masked_fill(attn_mask.logical_not(), -math.inf)"
      " if attn_mask.dtype == torch.bool else scores + attn_mask\n"
      "weights = scores.softmax(-1)\n"
      "if dropout_p > 0: weights = weights.dropout(dropout_p, True)\n"
      "return weights @ value, weights" },
    /* One of query, key and value, projected by its part of the common weight and bias: [batch,
     * heads, length, size of a head]. */
    { "head_of(Tensor x, Tensor weight, Tensor bias, int size, int heads, int i) -> Tensor",
      "t = linear(x, weight.slice(0, size * i, size * (i + 1)), bias.slice(0, size * i, size * (i "
      "+ 1)))\n"
      "return t.reshape([t.shape[0], t.shape[1], heads, t.shape[2] // heads]).transpose(1, 2)" },
    /* Attention of several heads, and its weights for each. A mask is of [batch, keys] (type 1) or
     * [queries, keys]; scores are of [batch, heads, queries, keys]. */
    { "multi_head(Tensor query, Tensor key, Tensor value, int size, int heads, Tensor qkv_weight, "
      "Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask, int? mask_type) -> "
      "(Tensor, Tensor)",
      "assert query.ndim == 3 and query.shape[2] == size,"
      " 'the input should be batch, length and {size}'\n"
      "assert heads > 0 and size % heads == 0, '{heads} heads do not divide {size}'\n"
      "q = head_of(query, qkv_weight, qkv_bias, size, heads, 0)\n"
      "k = head_of(key, qkv_weight, qkv_bias, size, heads, 1)\n"
      "v = head_of(value, qkv_weight, qkv_bias, size, heads, 2)\n"
      "scores = divide_by_power(q, q.shape[3], 0.5) @ k.transpose(-2, -1)\n"
      "if mask is not None and mask_type == 1 and mask.ndim == 2:"
      " mask = mask.unsqueeze(1).unsqueeze(1)\n"
      "if mask is not None: scores = scores.masked_fill(mask, -math.inf)"
      " if mask.dtype == torch.bool else scores + mask\n"
      "weights = scores.softmax(-1)\n"
      "t = (weights @ v).transpose(1, 2)\n"
      "t = t.reshape([t.shape[0], t.shape[1], t.shape[2] * t.shape[3]])\n"
      "return linear(t, proj_weight, proj_bias), weights" },

    /* ---- windows ---- */

    /* n numbers from 0 in steps of turn / (n - 1). */
    { "ramp(int n, float turn, int dtype) -> Tensor",
      "t = arange(n, dtype=dtype)\n"
      "return t * (turn / (n - 1)) if is_known(n) else t * turn / (n - 1)" },
    { "wave(Tensor t, float times, float factor) -> Tensor", "scaled(t, times).cos() * factor" },
    { 0 },
};
