"""Operators of decomposed programs, and rms_norm."""
from cases import *

x, w, b, mean, var = f32(3, 2, 4), f32(2), f32(2), f32(2), f32(2, low=0.5, high=2)
for affine in ((w, b), (None, None)):
    for training in (False, True):
        case("aten::_native_batch_norm_legit", x, *affine, mean, var, training, 0.1, 1e-5)
        case("aten::_native_batch_norm_legit_functional", x, *affine, mean, var, training, 0.1, 1e-5)
    case("aten::_native_batch_norm_legit.no_stats", x, *affine, True, 0.1, 1e-5)
    case("aten::_native_batch_norm_legit_no_training", x, *affine, mean, var, 0.1, 1e-5)
    case("aten::_batch_norm_no_update", x, *affine, mean, var, 0.1, 1e-5)
    case("aten::_batch_norm_with_update_functional", x, *affine, mean, var, 0.1, 1e-5)
    case("aten::_batch_norm_with_update", x, *affine, mean, var, 0.1, 1e-5)
for of in (f32, f64):
    case("aten::rms_norm", of(2, 3, 4), [4])
    case("aten::rms_norm", of(2, 3, 4), [3, 4], of(3, 4), 1e-3)
    case("aten::rms_norm", of(2, 3, 4), [4], of(4), 1e-5)
case("aten::rms_norm", f16(3, 4), [4], f16(4))
case("aten::rms_norm", bf16(3, 4), [4], bf16(4), 1e-6)
fails("aten::rms_norm", f32(3, 4), [3])
case("aten::_fused_rms_norm", f32(2, 3, 4), [4], f32(4), 1e-5)
case("aten::_fused_rms_norm", f32(2, 3, 4), [3, 4], None, None)

op = "aten::_scaled_dot_product_flash_attention_for_cpu"
case(op, f32(1, 2, 3, 4), f32(1, 2, 5, 4), f32(1, 2, 5, 4))
case(op, f32(1, 2, 3, 4), f32(1, 2, 3, 4), f32(1, 2, 3, 4), 0.0, True)
case(op, f32(1, 2, 3, 4), f32(1, 2, 5, 4), f32(1, 2, 5, 4), attn_mask=f32(1, 1, 3, 5), scale=0.3)

for p in (2.0, 1.0, inf):
    case("aten::_cdist_forward", f32(3, 4), f32(2, 4), p, None)
    case("aten::_pdist_forward", f32(4, 3), p)
case("aten::_trilinear", f32(3, 2), f32(4, 2, 5), f32(3, 5), [1, 3], [0], [1, 2], [2, 3])
case("aten::_trilinear", f32(3, 2), f32(3, 2), f32(3, 2), [], [], [], [])

y, at = torch.ops.aten.max_pool2d_with_indices(f32(2, 3, 5, 4), [2, 2], [1, 1])
case("aten::max_pool2d_with_indices_backward", y, f32(2, 3, 5, 4), [2, 2], [1, 1], [0, 0], [1, 1],
     False, at)
y, at = torch.ops.aten.max_pool3d_with_indices(f32(2, 3, 4, 5), [2, 2, 2], [1, 1, 1])
case("aten::max_pool3d_with_indices_backward", y, f32(2, 3, 4, 5), [2] * 3, [1] * 3, [0] * 3,
     [1] * 3, False, at)

rows, columns = t([[0, 9], [-7, 1]], torch.int64), t([[1, 2], [0, 3]], torch.int64)
seen = t([[1, 0], [0, 1]], torch.bool)
case("aten::_unsafe_masked_index", f32(3, 4), seen, [rows, columns], 7)
case("aten::_unsafe_masked_index", f32(3, 4), seen, [None, columns], 0)
case("aten::_unsafe_masked_index_put_accumulate", f32(3, 4), seen, [rows, columns], f32(2, 2))
case("aten::_chunk_cat", [f32(5, 2), f32(4, 3)], 0, 2)
case("aten::_chunk_cat", [f32(2, 3), f32(2, 4)], 1, 3)
case("aten::_embedding_bag_forward_only", f32(5, 3), t([1, 2, 4, 4], torch.int64),
     t([0, 2], torch.int64), False, 0)
case("aten::empty_permuted", [2, 3], [1, 0], values=False)
case("aten::empty_permuted", [2, 3], [0, 1], dtype=torch.int64, values=False)
case("aten::fake_quantize_per_tensor_affine_cachemask", f32(3, 4), 0.01, 3, -128, 127)
case("aten::fake_quantize_per_channel_affine_cachemask", f32(3, 4), t([0.1, 0.01, 0.02]),
     t([0, 3, -2], torch.int32), 0, -128, 127)

for of in (i64, i32, i16, i8, u8):
    case("aten::gcd", of(2, 5), of(5))
    case("aten::lcm", of(2, 5), of(5))
case("aten::gcd", t([0, 0, 6, -12, 7540113804746346429], torch.int64),
     t([0, 5, 0, 18, 4660046610375530309], torch.int64))
case("aten::lcm", t([0, 0, 6, -12], torch.int64), t([0, 5, 0, 18], torch.int64))
fails("aten::gcd", f32(3), f32(3))
for of in (f32, f64):
    case("aten::frexp.Tensor", of(2, 3, low=-100, high=100))
case("aten::frexp.Tensor", t([0, 1, -1, 0.5, 4, 1e-40, 3e38, 0.49999997]))
classes = t([[3, 0, -1, 1], [1, -1, 2, 2], [-1, 0, 1, 2]], torch.int64)
for reduction in (0, 1, 2):
    case("aten::multilabel_margin_loss", f32(3, 4), classes, reduction)
case("aten::multilabel_margin_loss", f32(4), classes[0])
for wrap in (False, True):
    for x in (f32(3, 4), f32(7, 3), f32(4, 4), i64(2, 2)):
        case("aten::fill_diagonal_", x, 5, wrap)
case("aten::fill_diagonal_", f32(3, 3, 3), 7)
fails("aten::fill_diagonal_", f32(3), 7)
for dim, to in ((0, torch.float32), (-1, torch.float32)):
    case("aten::_softmax_backward_data", f32(3, 4), f32(3, 4).softmax(dim), dim, to)
    case("aten::_log_softmax_backward_data", f32(3, 4), f32(3, 4).log_softmax(dim), dim, to)

# A layer and its loss, which PyTorch computes in parts of the batch
name = "torch_nn::_linear_cross_entropy_batch_chunked"
import torch.nn.modules.linear_cross_entropy  # noqa: E402, F401
x, w, y = f32(5, 3), f32(4, 3), t([0, 3, 1, -100, 2], torch.int64)
for reduction in ("mean", "sum"):
    for bias, weight, smoothing in ((None, None, 0.0), (f32(4), f32(4, low=0.1, high=1), 0.0)):
        case(name, x, w, y, bias, weight, reduction, -100, smoothing, 2, "compact", torch.float32, True, False,
             False, False)
case(name + "_no_reduction", x, w, y, None, None, -100, 2, "compact", torch.float32)
case(name + "_no_reduction", x, w, y, f32(4), f32(4, low=0.1, high=1), -100, 2, "compact", torch.float32)

for truths in ([[1, 1], [1, 1]], [[1, 0], [1, 1]], [[0, 0], [0, 0]]):
    case("aten::_is_all_true", t(truths, torch.bool))
    case("aten::_is_any_true", t(truths, torch.bool))
case("aten::_is_all_true", t([], torch.bool))
case("aten::_is_any_true", t([], torch.bool))
