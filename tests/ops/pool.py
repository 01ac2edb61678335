"""Pools of all kinds."""
from cases import *

for n, name in enumerate(("1d", "2d", "3d"), 1):
    size = {1: (9,), 2: (6, 7), 3: (3, 4, 5)}[n]
    lead = (1, 2) if n < 3 else (1, 1)
    for op in (f"aten::max_pool{name}", f"aten::max_pool{name}_with_indices"):
        if op == "aten::max_pool1d_with_indices":
            case(op, f32(*lead, *size), [3])
            case(op, f32(*lead, *size), [3], [2], [1], [1], True)
            case(op, f32(2, *size), [2], [2])
            continue
        case(op, f32(*lead, *size), [2] * n)
        case(op, f32(*lead, *size), [3] * n, [2] * n, [1] * n)
        case(op, f32(*lead, *size), [2] * n, [2] * n, [0] * n, [1] * n, True)
        case(op, f32(*lead, *size), [3] * n, [2] * n, [1] * n, [1] * n, True)
        case(op, f32(*lead, *size), 2, 1, 1, 2 if n < 3 else 1)
        case(op, f32(*lead[1:], *size), 2, 3, 1, 1, True)
    case(f"aten::avg_pool{name}", f32(*lead, *size), [2] * n)
    case(f"aten::avg_pool{name}", f32(*lead, *size), [3] * n, [2] * n, [1] * n)
    case(f"aten::avg_pool{name}", f32(*lead, *size), [3] * n, [2] * n, [1] * n, True)
    case(f"aten::avg_pool{name}", f32(*lead, *size), [3] * n, [2] * n, [1] * n, True, False)
    case(f"aten::avg_pool{name}", f32(*lead, *size), [2] * n, [3] * n, [1] * n, True, True)
    case(f"aten::avg_pool{name}", f32(*lead[1:], *size), 2, 1, 0, False, False)
    for out in ([1] * n, [2] * n, [3, 2, 2][:n]):
        case(f"aten::adaptive_avg_pool{name}", f32(*lead, *size), out)
        case(f"aten::adaptive_max_pool{name}", f32(*lead, *size), out)
    case(f"aten::adaptive_avg_pool{name}", f32(*lead[1:], *size), [2] * n)
    case(f"aten::adaptive_max_pool{name}", f32(*lead[1:], *size), [2] * n)
for out in ([1, 1], [3, 4]):
    case("aten::_adaptive_avg_pool2d", f32(1, 2, 5, 6), out)
case("aten::_adaptive_avg_pool3d", f32(1, 1, 3, 4, 4), [2, 2, 3])

# A NaN wins in PyTorch; ONNX Runtime's pools and reductions pass over it.
case("aten::max_pool2d", t([[[[nan, 1.0], [-inf, 2.0]], [[-inf, -inf], [-inf, -inf]]]]), [2, 2],
     ort=False)
case("aten::max_pool2d", f64(1, 2, 3, 4).transpose(2, 3), [2, 2], [1, 2])
case("aten::max_pool2d", bf16(1, 1, 4, 4), [2, 2])
case("aten::max_pool2d", f32(0, 2, 4, 4), [2, 2])
case("aten::max_pool2d", f32(1, 1, 5, 6), [3, 2], [1, 3], [1, 1], [1, 2], True)
fails("aten::max_pool2d", f32(1, 2, 2, 2), [3, 3])
fails("aten::max_pool2d", f32(1, 2, 4, 4), [2, 2], [1, 1], [2, 2])
fails("aten::max_pool2d", f32(4, 4), [2, 2])
fails("aten::max_pool2d", f32(1, 2, 4, 4), [2, 2, 2])
fails("aten::max_pool2d", f32(1, 2, 4, 4), [2, 2], [0, 1])
case("aten::avg_pool2d", f32(1, 1, 4, 5), [2, 3], [2, 2], [0, 1], False, True, 4)
case("aten::avg_pool3d", f32(1, 1, 2, 4, 3), 2, 1, 0, False, True, -3)
case("aten::avg_pool2d", f64(1, 1, 4, 4), [2, 2])
case("aten::avg_pool2d", bf16(1, 1, 4, 4), [2, 2])
fails("aten::avg_pool2d", f32(1, 1, 4, 5), [2, 3], [2, 2], [0, 1], False, True, 0)

pooled, where = torch.nn.functional.max_pool2d(f32(1, 2, 4, 6), 2, return_indices=True)
case("aten::max_unpool2d", pooled, where, [4, 6])
case("aten::max_unpool2d", pooled[0], where[0], [5, 6])
pooled, where = torch.nn.functional.max_pool3d(f32(1, 1, 2, 4, 4), 2, return_indices=True)
case("aten::max_unpool3d", pooled, where, [2, 4, 4], [2, 2, 2], [0, 0, 0])
fails("aten::max_unpool2d", f32(1, 2, 2, 3), t([[[[99] * 3] * 2] * 2], torch.int64), [4, 6])
