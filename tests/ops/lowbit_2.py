"""Products of matrices in few bits."""
from cases import *

# Without VNNI, PyTorch adds pairs of products in 16 bits, which saturate: weights stay small.
case("aten::_int_mm", i8(3, 4, low=-128, high=127), i8(4, 5, low=-64, high=63))
case("aten::_int_mm", i8(3, 4, low=-128, high=127), i8(5, 4, low=-64, high=63).t())
case("aten::_int_mm", i8(20, 64, low=-128, high=127), i8(64, 8, low=-64, high=63))
fails("aten::_int_mm", i8(3, 4), i8(5, 4))
fails("aten::_int_mm", f32(3, 4), f32(4, 5))
for of in (f32, bf16):
    case("aten::_weight_int8pack_mm", of(3, 32), i8(16, 32, low=-128, high=127), of(16, low=0.001, high=0.01),
         tol=(1e-2, 1e-2) if of is bf16 else None)

a, b = f32(16, 32).to(torch.float8_e4m3fn), f32(16, 32).to(torch.float8_e4m3fn).t()
case("aten::_scaled_mm", a, b, t(0.5), t(0.25), out_dtype=torch.float32, ort=False)
case("aten::_scaled_mm", a, b, t(0.5), t(0.25), f32(16), out_dtype=torch.bfloat16, tol=(2e-2, 2e-2), ort=False)
case("aten::_scaled_mm", a, b, f32(16, 1, low=0.1, high=1), f32(1, 16, low=0.1, high=1), out_dtype=torch.float32, ort=False)
