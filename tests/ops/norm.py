"""Normalisations."""
from cases import *

w, b = f32(3), f32(3)
mean, var = f32(3), f32(3, low=0.1)
for x in (f32(2, 3), f32(2, 3, 4), f32(2, 3, 2, 2), f32(1, 3, 2, 1, 2), f32(3, 2, 4).transpose(0, 1)):
    case("aten::batch_norm", x, w, b, mean.clone(), var.clone(), False, 0.1, 1e-5, True)
    case("aten::batch_norm", x, w, b, mean.clone(), var.clone(), True, 0.1, 1e-5, True)
case("aten::batch_norm", f32(4, 3), None, None, mean.clone(), var.clone(), False, 0.1, 0.01, True)
case("aten::batch_norm", f32(4, 3), None, None, None, None, True, 0.1, 1e-3, True)
case("aten::batch_norm", f32(4, 3), w, None, mean.clone(), var.clone(), True, 0.7, 1e-3, True)
case("aten::batch_norm", f64(4, 3), w.double(), b.double(), mean.double(), var.double(), False, 0.1,
     1e-5, True)
case("aten::batch_norm", bf16(4, 3), w.bfloat16(), b.bfloat16(), mean.bfloat16(), var.bfloat16(),
     False, 0.1, 1e-5, True, tol=(2e-2, 2e-2))
case("aten::batch_norm", f32(0, 3), w, b, mean.clone(), var.clone(), False, 0.1, 1e-5, True)
fails("aten::batch_norm", f32(2, 4), w, b, mean.clone(), var.clone(), False, 0.1, 1e-5, True)
fails("aten::batch_norm", f32(2, 3), w, b, None, None, False, 0.1, 1e-5, True)
fails("aten::batch_norm", i64(2, 3), w, b, mean.clone(), var.clone(), False, 0.1, 1e-5, True)
case("aten::native_batch_norm", f32(2, 3, 4), w, b, mean.clone(), var.clone(), True, 0.1, 1e-5)
case("aten::native_batch_norm", f32(2, 3, 4), w, b, mean.clone(), var.clone(), False, 0.1, 1e-5)

for x in (f32(2, 3, 4), f32(2, 3, 2, 3), f32(1, 3, 2, 2, 2)):
    case("aten::instance_norm", x, w, b, None, None, True, 0.1, 1e-5, True)
    case("aten::instance_norm", x, None, None, mean.clone(), var.clone(), True, 0.2, 1e-5, True)
    case("aten::instance_norm", x, w, b, mean.clone(), var.clone(), False, 0.1, 1e-5, True)

for shape in ([4], [3, 4], [2, 3, 4]):
    n = torch.Size(shape).numel()
    case("aten::layer_norm", f32(2, 3, 4), shape, f32(n).reshape(shape), f32(n).reshape(shape))
    case("aten::layer_norm", f32(2, 3, 4), shape, None, None, 0.5)
    case("aten::native_layer_norm", f32(2, 3, 4), shape, f32(n).reshape(shape), None, 1e-5)
case("aten::layer_norm", f32(4, 3).t(), [4], f32(4), f32(4))
case("aten::layer_norm", f64(2, 4), [4], f64(4), f64(4))
# An epsilon that float32 rounds.
case("aten::layer_norm", f64(2, 4), [4], f64(4), f64(4), 0.1)
case("aten::native_layer_norm", f64(2, 4), [4], f64(4), f64(4), 0.1)
case("aten::group_norm", f64(2, 4, 3), 2, f64(4), f64(4), 0.1)
case("aten::instance_norm", f64(2, 4, 3), f64(4), f64(4), None, None, True, 0.1, 0.1, True)
for training in [False, True]:
    case("aten::batch_norm", f64(4, 3), f64(3), f64(3), f64(3), f64(3, low=1), training, 0.1, 0.1, True)
case("aten::layer_norm", bf16(2, 4), [4], bf16(4), bf16(4), tol=(2e-2, 2e-2))
case("aten::layer_norm", f32(0, 4), [4])
fails("aten::layer_norm", f32(2, 4), [3])
fails("aten::layer_norm", f32(4), [2, 4])
fails("aten::layer_norm", i64(2, 4), [4])

for x in (f32(2, 4), f32(2, 4, 3), f32(1, 4, 2, 3), f32(1, 4, 2, 2, 2)):
    case("aten::group_norm", x, 2, f32(4), f32(4))
    case("aten::group_norm", x, 1 if x.dim() == 2 else 4, None, None, 0.1)
case("aten::group_norm", f32(3, 2, 4).transpose(1, 2), 2, f32(4))
fails("aten::group_norm", f32(2, 4, 3), 3)
case("aten::native_group_norm", f32(2, 4, 3), f32(4), f32(4), 2, 4, 3, 2, 1e-5)

for dim in (0, 1, -1):
    case("aten::norm_except_dim", f32(2, 3, 2), 2, dim)
case("aten::norm_except_dim", f32(3), 2, 0)
case("aten::_weight_norm", f32(3, 2, 2), f32(3, 1, 1))
case("aten::_weight_norm", f32(3, 2, 2), f32(1, 2, 1), 1)
