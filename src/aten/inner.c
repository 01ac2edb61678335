/* Operators that only programs taken apart have: torch.export leaves them where others were
 * decomposed, and PyTorch calls them inside of others. Most are an operator of the table with
 * more results, or with its choices made. */
#include "aten/op.h"

#define NORM_ARGS "(Tensor input, Tensor? weight, Tensor? bias, "

#define ATTENTION_ARGS                                                                             \
    "(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, "

const cq_op_def cq_ops_inner[] = {
    /* ---- normalisation ---- */
    CQ_BODY("aten::_native_batch_norm_legit" NORM_ARGS "Tensor(a!) running_mean, "
            "Tensor(b!) running_var, bool training, float momentum, float eps) "
            "-> (Tensor, Tensor, Tensor)",
            "native_batch_norm under another name", "native_batch_norm(*args)"),
    CQ_BODY("aten::_native_batch_norm_legit.no_stats" NORM_ARGS "bool training, float momentum, "
            "float eps) -> (Tensor, Tensor, Tensor)",
            "native_batch_norm without running statistics",
            "native_batch_norm(input, weight, bias, None, None, training, momentum, eps)"),
    CQ_BODY("aten::_native_batch_norm_legit_no_training" NORM_ARGS "Tensor running_mean, "
            "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
            "native_batch_norm outside of training",
            "native_batch_norm(input, weight, bias, running_mean, running_var, False, momentum,"
            " eps)"),
    CQ_BODY("aten::_native_batch_norm_legit_functional" NORM_ARGS "Tensor running_mean, "
            "Tensor running_var, bool training, float momentum, float eps) "
            "-> (Tensor, Tensor, Tensor, Tensor running_mean_out, Tensor running_var_out)",
            "native_batch_norm, with the running statistics as they are after it",
            "if not training: moved_mean = running_mean.clone();"
            " moved_var = running_var.clone();"
            " y, mean, scale = native_batch_norm(input, weight, bias, running_mean,"
            " running_var, False, momentum, eps)\n"
            "else: y, mean, scale, moved_mean, moved_var ="
            " trained_norm(input, weight, bias, running_mean, running_var, momentum, eps)\n"
            "return y, mean, scale, moved_mean, moved_var"),
    CQ_BODY("aten::_batch_norm_with_update_functional" NORM_ARGS "Tensor running_mean, "
            "Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor, "
            "Tensor running_mean_out, Tensor running_var_out)",
            "native_batch_norm in training, with the running statistics as they are after it",
            "y, mean, scale, moved_mean, moved_var ="
            " trained_norm(input, weight, bias, running_mean, running_var, momentum, eps)\n"
            "return y, mean, scale, zeros([0], dtype=torch.uint8), moved_mean, moved_var"),
    CQ_BODY("aten::_batch_norm_with_update" NORM_ARGS "Tensor(a!) running_mean, "
            "Tensor(b!) running_var, float momentum, float eps) "
            "-> (Tensor, Tensor, Tensor, Tensor)",
            "native_batch_norm in training",
            "y, mean, scale = native_batch_norm(input, weight, bias, running_mean, running_var,"
            " True, momentum, eps)\n"
            "return y, mean, scale, zeros([0], dtype=torch.uint8)"),
    CQ_BODY("aten::_batch_norm_no_update" NORM_ARGS "Tensor? running_mean, Tensor? running_var, "
            "float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
            "native_batch_norm outside of training",
            "y, mean, scale = native_batch_norm(input, weight, bias, running_mean, running_var,"
            " False, momentum, eps)\n"
            "return y, mean, scale, zeros([0], dtype=torch.uint8)"),

    /* ---- attention ---- */
    CQ_BODY("aten::_scaled_dot_product_flash_attention_for_cpu" ATTENTION_ARGS
            "*, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)",
            "scaled_dot_product_attention, with logarithms of the sums that it divided by",
            "y = scaled_dot_product_attention(query, key, value, attn_mask, dropout_p, is_causal,"
            " scale=scale)\n"
            "q = query * scale if scale is not None"
            " else divide_by_power(query, query.shape[-1], 0.5)\n"
            "s = q @ key.transpose(-2, -1)\n"
            "if attn_mask is not None: s = s + attn_mask\n"
            "if is_causal: seen = ones(s.shape[-2:], dtype=torch.bool).tril();"
            " s = s.masked_fill(seen.logical_not(), -math.inf)\n"
            "return y, s.to(torch.float32).logsumexp(-1)"),

    /* ---- distances and products ---- */
    CQ_BODY("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor",
            "cdist under its inner name", "cdist(*args)"),
    CQ_BODY("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", "pdist under its inner name",
            "pdist(*args)"),
    CQ_BODY("aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, "
            "int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
            "sums of products of three, each with new dimensions at the places named",
            "n = i1.ndim + len(expand1)\n"
            "for d in range(n):  if d in expand1: i1 = i1.unsqueeze(d)\n"
            "for d in range(n):  if d in expand2: i2 = i2.unsqueeze(d)\n"
            "for d in range(n):  if d in expand3: i3 = i3.unsqueeze(d)\n"
            "y = i1 * i2 * i3\n"
            "return y.sum(sumdim) if len(sumdim) > 0 else y"),

    /* ---- pooling ---- */
    CQ_BODY("aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, "
            "int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, "
            "bool ceil_mode, Tensor indices) -> Tensor",
            "the gradient of max_pool2d", "scattered(grad_output, self, indices, 2)"),
    CQ_BODY("aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, "
            "int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, "
            "bool ceil_mode, Tensor indices) -> Tensor",
            "the gradient of max_pool3d", "scattered(grad_output, self, indices, 3)"),

    /* ---- indices ---- */
    CQ_BODY("aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, "
            "Scalar fill) -> Tensor",
            "self[indices] where the mask is true, fill elsewhere",
            "self.index(within(self, indices)).masked_fill(mask.logical_not(), fill)"),
    CQ_BODY("aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, "
            "Tensor?[] indices, Tensor values) -> Tensor",
            "a copy with values added at indices, where the mask is true",
            "values = values.masked_fill(mask.logical_not(), 0)\n"
            "return self.index_put(within(self, indices), values, True)"),
    /* What fill_diagonal_ leaves, which PyTorch has in place only. Below the square of a matrix
     * that is tall the diagonal begins anew with wrap, one row further down each time. */
    CQ_BODY("aten::fill_diagonal(Tensor self, Scalar fill_value, bool wrap=False) -> Tensor",
            "a copy with a number on the diagonal",
            "n = self.ndim\n"
            "assert n > 1, 'wants at least two dimensions'\n"
            "at = [arange(self.shape[k]).reshape([-1 if i == k else 1 for i in range(n)])"
            " for k in range(n)]\n"
            "first = at[0] % (self.shape[1] + 1) if wrap and n == 2 else at[0]\n"
            "on = first == at[1]\n"
            "for k in range(2, n): on = logical_and(on, at[0] == at[k])\n"
            "return self.masked_fill(on, fill_value)"),
    CQ_BODY("aten::_chunk_cat(Tensor[] tensors, int dim, int num_chunks) -> Tensor",
            "tensors as chunks, filled up with zeros, and the chunks of all beside each other",
            "d = wrap_dim(dim, tensors[0].ndim)\n"
            "parts = [constant_pad_nd(t, [0] * (2 * (t.ndim - 1 - d))"
            " + [0, (num_chunks - t.shape[d] % num_chunks) % num_chunks], 0)"
            ".reshape(t.shape[:d] + [num_chunks, -1]) for t in tensors]\n"
            "return cat(parts, d + 1)"),
    CQ_BODY("aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, "
            "bool scale_grad_by_freq=False, int mode=0, bool sparse=False, "
            "Tensor? per_sample_weights=None, bool include_last_offset=False, "
            "int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
            "_embedding_bag under another name", "_embedding_bag(*args)"),
    CQ_BODY("aten::empty_permuted(SymInt[] size, int[] physical_layout, *, "
            "ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
            "bool? pin_memory=None) -> Tensor",
            "a tensor that nothing was written to", "empty(size, dtype=dtype)"),

    /* ---- quantization that is simulated ---- */
    CQ_BODY("aten::fake_quantize_per_tensor_affine_cachemask(Tensor self, float scale, "
            "int zero_point, int quant_min, int quant_max) -> (Tensor output, Tensor mask)",
            "fake_quantize_per_tensor_affine, and where it did not cut off",
            "q = (self * (1 / scale)).round() + zero_point\n"
            "return fake_quantize_per_tensor_affine(*args),"
            " logical_and(q >= quant_min, q <= quant_max)"),
    CQ_BODY("aten::fake_quantize_per_channel_affine_cachemask(Tensor self, Tensor scale, "
            "Tensor zero_point, int axis, int quant_min, int quant_max) "
            "-> (Tensor output, Tensor mask)",
            "fake_quantize_per_channel_affine, and where it did not cut off",
            "sizes = [-1 if i == axis else 1 for i in range(self.ndim)]\n"
            "q = (self / scale.reshape(sizes)).round() + zero_point.reshape(sizes)\n"
            "return fake_quantize_per_channel_affine(*args),"
            " logical_and(q >= quant_min, q <= quant_max)"),

    /* ---- numbers ---- */

    /* Euclid's algorithm, with as many steps as two numbers of the dtype can need. */
    CQ_BODY("aten::gcd(Tensor self, Tensor other) -> Tensor", "the greatest common divisor",
            "d = result_type(self, other)\n"
            "assert not d.is_floating_point and not d.is_complex and d != torch.bool,"
            " 'works on integers only'\n"
            "a = self.to(d).abs(); b = other.to(d).abs()\n"
            "steps = 91 if d == torch.int64 else 46 if d == torch.int32"
            " else 23 if d == torch.int16 else 13\n"
            "for i in range(steps): done = b == 0; r = a % b.masked_fill(done, 1);"
            " a = where(done, a, b); b = r.masked_fill(done, 0)\n"
            "return a"),
    CQ_BODY("aten::lcm(Tensor self, Tensor other) -> Tensor", "the least common multiple",
            "g = gcd(self, other)\n"
            "return (self.div(g.masked_fill(g == 0, 1), rounding_mode='trunc') * other).abs()"),
    CQ_BODY("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)",
            "x as m 2 ** e, with m from a half to 1",
            "rest = logical_or(self == 0, self.isfinite().logical_not())\n"
            "x = self.masked_fill(rest, 1)\n"
            "e = x.abs().log2().floor() + 1; half = (e / 2).floor()\n"
            "m = x * exp2(-half) * exp2(half - e)\n"
            "large = m.abs() >= 1; small = m.abs() < 0.5\n"
            "m = where(large, m / 2, where(small, m * 2, m))\n"
            "e = where(large, e + 1, where(small, e - 1, e))\n"
            "return where(rest, self, m), e.masked_fill(rest, 0).to(torch.int32)"),
    /* Targets count up to the first that is negative; each is compared with all other classes. */
    CQ_BODY("aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor",
            "how far other classes come up to those of the target",
            "x = self.reshape([-1, self.shape[-1]]) if self.ndim > 0 else self.reshape([1, 1])\n"
            "at = target.reshape(x.shape); n = x.shape[1]\n"
            "counts = (at >= 0).to(torch.int64).cumprod(1) > 0\n"
            "at = at.clamp(min=0)\n"
            "named = logical_and(at.unsqueeze(2) == arange(n), counts.unsqueeze(2)).any(1)\n"
            "gap = (1 - x.gather(1, at).unsqueeze(2) + x.unsqueeze(1)).clamp(min=0)\n"
            "hidden = logical_or(counts.logical_not().unsqueeze(2), named.unsqueeze(1))\n"
            "y = gap.masked_fill(hidden, 0).sum([1, 2]) / n\n"
            "if self.ndim < 2: y = y.squeeze(0)\n"
            "return reduced(y, reduction)"),
    { 0 }
};
