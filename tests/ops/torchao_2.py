"""Operators of torchao, which PyTorch does not have: the same names and arguments, written as their documentation
says, one block after another."""
import itertools

from cases import *

library = torch.library.Library("torchao", "DEF")
library.define("choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, ScalarType target_dtype, Scalar? "
               "quant_min=None, Scalar? quant_max=None, float? eps=None, ScalarType? scale_dtype=None, ScalarType? "
               "zero_point_dtype=None, bool keepdim=False) -> (Tensor, Tensor)")
library.define("quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType output_dtype, "
               "Scalar? quant_min=None, Scalar? quant_max=None) -> Tensor")
library.define("dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, Tensor? zero_point, ScalarType "
               "input_dtype, Scalar? quant_min=None, Scalar? quant_max=None, ScalarType output_dtype=float) -> Tensor")


def blocks(x, size):
    """The index of each block, and the part of x that it is."""
    if len(size) != x.dim():
        raise RuntimeError(f"{len(size)} block sizes for a tensor of {x.dim()} dimensions")
    counts = [n // b for n, b in zip(x.shape, size)]
    for at in itertools.product(*map(range, counts)):
        yield at, tuple(slice(i * b, (i + 1) * b) for i, b in zip(at, size))


def limits(dtype, low, high):
    info = torch.iinfo(dtype)
    return info.min if low is None else low, info.max if high is None else high


def choose(input, mapping_type, block_size, target_dtype, quant_min=None, quant_max=None, eps=None, scale_dtype=None,
           zero_point_dtype=None, keepdim=False):
    least, most = limits(target_dtype, quant_min, quant_max)
    eps = torch.finfo(input.dtype).smallest_normal if eps is None else eps
    shape = [n // b for n, b in zip(input.shape, block_size)]
    scales, zeros = torch.zeros(shape, dtype=input.dtype), torch.zeros(shape)
    for at, part in blocks(input, block_size):
        low, high = input[part].min().clamp(max=0), input[part].max().clamp(min=0)
        if mapping_type == "SYMMETRIC":
            scale = torch.max(-low, high) / (float(most - least) / 2)
        elif mapping_type == "ASYMMETRIC":
            scale = (high - low) / float(most - least)
        else:
            scale = torch.max(low / float(least), high / float(most))
        scales[at] = scale.clamp(min=eps)
        zeros[at] = ((least - (low / scales[at]).round()).clamp(least, most) if mapping_type == "ASYMMETRIC"
                     else int((most + least + 1) / 2))
    if not keepdim:  # a dimension inside of a block is gone
        kept = [n for n, b, whole in zip(shape, block_size, input.shape) if b == 1 or b != whole]
        scales, zeros = scales.reshape(kept), zeros.reshape(kept)
    return scales.to(scale_dtype or input.dtype), zeros.to(zero_point_dtype or torch.int32)


def quantize(input, block_size, scale, zero_point, output_dtype, quant_min=None, quant_max=None):
    least, most = limits(output_dtype, quant_min, quant_max)
    out = torch.zeros(input.shape, dtype=output_dtype)
    for i, (at, part) in enumerate(blocks(input, block_size)):
        q = (input[part] * (1.0 / scale.reshape(-1)[i])).round()
        out[part] = (q + (0 if zero_point is None else zero_point.reshape(-1)[i])).clamp(least, most).to(output_dtype)
    return out


def dequantize(input, block_size, scale, zero_point, input_dtype, quant_min=None, quant_max=None,
               output_dtype=torch.float32):
    out = torch.zeros(input.shape, dtype=output_dtype)
    for i, (at, part) in enumerate(blocks(input, block_size)):
        zero = 0 if zero_point is None else zero_point.reshape(-1)[i].to(output_dtype)
        out[part] = ((input[part].to(output_dtype) - zero) * scale.reshape(-1)[i]).to(output_dtype)
    return out


for name, function in (("choose_qparams_affine", choose), ("quantize_affine", quantize), ("dequantize_affine", dequantize)):
    library.impl(name, function, "CPU")

x, q = f32(4, 6), i8(4, 6, low=-8, high=7)
for size, shape in (([1, 6], [4]), ([1, 3], [4, 2]), ([4, 6], []), ([4, 1], [6]), ([2, 3], [2, 2])):
    scale, zero = f32(*shape, low=0.01, high=0.1), i8(*shape, low=-3, high=3)
    for mapping in ("SYMMETRIC", "ASYMMETRIC", "SYMMETRIC_NO_CLIPPING_ERR"):
        case("torchao::choose_qparams_affine", x, mapping, size, torch.int8)
    case("torchao::choose_qparams_affine", x, "ASYMMETRIC", size, torch.int8, -8, 7, 1e-5, torch.float32, torch.int8,
         size != [4, 6])
    case("torchao::quantize_affine", x, size, scale, zero, torch.int8)
    case("torchao::quantize_affine", x, size, scale, zero, torch.int8, -8, 7)
    case("torchao::quantize_affine", x, size, scale, None, torch.uint8)
    case("torchao::dequantize_affine", q, size, scale, zero, torch.int8)
    case("torchao::dequantize_affine", q, size, scale, None, torch.int8, -8, 7)
    case("torchao::dequantize_affine", q, size, scale, zero.to(torch.int32), torch.int8)
case("torchao::quantize_affine", f32(2, 3, 4), [1, 1, 4], f32(2, 3, 1, low=0.01, high=0.1), i64(2, 3, 1, low=-3, high=3), torch.int8)
case("torchao::dequantize_affine", i8(3, 2, 2), [1, 2, 2], f32(3, low=0.01, high=0.1), None, torch.int8)
fails("torchao::quantize_affine", x, [6], f32(4), None, torch.int8)
