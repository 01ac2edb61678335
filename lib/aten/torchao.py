"""Affine quantization of torchao."""

import torch

from calque import operator, size_hint
from aten.quantized_decomposed import or_float


def is_split(size, block):
    """Decided by the example's size, as PyTorch does when it exports a program."""
    return size_hint(size) != size_hint(block) and size_hint(block) != 1


def block_shape(x, blocks):
    """The shape of x in which each split dimension becomes two: blocks, and elements of a block."""
    sizes = []
    for i in range(x.ndim):
        sizes = sizes + (
            [x.shape[i] // blocks[i], blocks[i]]
            if is_split(x.shape[i], blocks[i])
            else [x.shape[i]]
        )
    return sizes


def block_ones(x, blocks):
    """The shape of one number per block that broadcasts with block_shape."""
    sizes = []
    for i in range(x.ndim):
        sizes = sizes + (
            [x.shape[i] // blocks[i], 1]
            if is_split(x.shape[i], blocks[i])
            else [x.shape[i] if size_hint(blocks[i]) == 1 else 1]
        )
    return sizes


def block_dims(x, blocks):
    """The dimensions of block_shape that are inside of a block."""
    dims = []
    at = 0
    for i in range(x.ndim):
        split = is_split(x.shape[i], blocks[i])
        dims = dims + ([at + 1] if split else [] if size_hint(blocks[i]) == 1 else [at])
        at = at + (2 if split else 1)
    return dims


def least_of(dtype):
    if dtype == torch.uint8:
        return 0
    if dtype == torch.int8:
        return -128
    if dtype == torch.int16:
        return -32768
    return -2147483648


def most_of(dtype):
    if dtype == torch.uint8:
        return 255
    if dtype == torch.int8:
        return 127
    if dtype == torch.int16:
        return 32767
    return 2147483647


def smallest_of(dtype):
    if dtype == torch.float16:
        return 6.103515625e-05
    if dtype == torch.float64:
        return 2.2250738585072014e-308
    return 1.1754943508222875e-38


@operator(
    "torchao::choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, "
    "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
    "float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, "
    "bool keepdim=False, bool preserve_zero=True, str? zero_point_domain='INT') -> (Tensor, "
    "Tensor)"
)
def torchao_choose_qparams_affine(
    input,
    mapping_type,
    block_size,
    target_dtype,
    quant_min,
    quant_max,
    eps,
    scale_dtype,
    zero_point_dtype,
    keepdim,
    preserve_zero,
    zero_point_domain,
):
    """Quantization parameters of each block."""
    assert (
        len(block_size) == input.ndim
    ), f"expected {input.ndim} block sizes, got {len(block_size)}"
    parts = block_shape(input, block_size)
    one = block_ones(input, block_size)
    if zero_point_domain is not None and zero_point_domain in ["FLOAT"]:
        raise NotImplementedError("floating-point zero points are not supported")
    assert preserve_zero, "expected preserve_zero=True"
    assert mapping_type in [
        "SYMMETRIC",
        "SYMMETRIC_NO_CLIPPING_ERR",
        "ASYMMETRIC",
    ], f"unknown mapping type {mapping_type}"
    least = least_of(target_dtype) if quant_min is None else quant_min
    most = most_of(target_dtype) if quant_max is None else quant_max
    dims = block_dims(input, block_size)
    x = input.reshape(parts)
    low = (x.amin(dims, keepdim) if len(dims) > 0 else x).clamp(max=0)
    high = (x.amax(dims, keepdim) if len(dims) > 0 else x).clamp(min=0)
    if mapping_type == "ASYMMETRIC":
        scale = (high - low) / float(most - least)
    elif mapping_type == "SYMMETRIC":
        scale = torch.maximum(-low, high) / (float(most - least) / 2)
    else:
        scale = torch.maximum(low / float(least), high / float(most))
    scale = scale.clamp(min=smallest_of(input.dtype) if eps is None else eps)
    if mapping_type == "ASYMMETRIC":
        zero = (least - (low / scale).round()).clamp(least, most)
    else:
        zero = torch.full_like(scale, int((most + least + 1) / 2))
    if keepdim:
        sizes = [input.shape[i] // block_size[i] for i in range(input.ndim)]
        scale = scale.reshape(sizes)
        zero = zero.reshape(sizes)
    return (
        scale.to(input.dtype if scale_dtype is None else scale_dtype),
        zero.to(torch.int32 if zero_point_dtype is None else zero_point_dtype),
    )


@operator(
    "torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, "
    "Tensor? zero_point, ScalarType output_dtype, Scalar? quant_min=None, "
    "Scalar? quant_max=None, str? zero_point_domain='INT') -> Tensor"
)
def torchao_quantize_affine(
    input, block_size, scale, zero_point, output_dtype, quant_min, quant_max, zero_point_domain
):
    """Integers, with quantization parameters for each block."""
    assert (
        len(block_size) == input.ndim
    ), f"expected {input.ndim} block sizes, got {len(block_size)}"
    parts = block_shape(input, block_size)
    one = block_ones(input, block_size)
    if zero_point_domain is not None and zero_point_domain in ["FLOAT"]:
        raise NotImplementedError("floating-point zero points are not supported")
    least = least_of(output_dtype) if quant_min is None else quant_min
    most = most_of(output_dtype) if quant_max is None else quant_max
    y = (input.reshape(parts) * (1.0 / scale.reshape(one))).round()
    if zero_point is not None:
        y = y + zero_point.reshape(one)
    return y.clamp(least, most).reshape(input.shape).to(output_dtype)


@operator(
    "torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, "
    "Tensor? zero_point, ScalarType input_dtype, Scalar? quant_min=None, "
    "Scalar? quant_max=None, ScalarType? output_dtype=None, str? zero_point_domain='INT') "
    "-> Tensor"
)
def torchao_dequantize_affine(
    input,
    block_size,
    scale,
    zero_point,
    input_dtype,
    quant_min,
    quant_max,
    output_dtype,
    zero_point_domain,
):
    """Dequantize integers with quantization parameters for each block."""
    assert (
        len(block_size) == input.ndim
    ), f"expected {input.ndim} block sizes, got {len(block_size)}"
    parts = block_shape(input, block_size)
    one = block_ones(input, block_size)
    if zero_point_domain is not None and zero_point_domain in ["FLOAT"]:
        raise NotImplementedError("floating-point zero points are not supported")
    d = or_float(output_dtype)
    y = input.reshape(parts).to(d)
    if zero_point is not None:
        y = y - zero_point.reshape(one).to(d)
    return (y * scale.reshape(one)).reshape(input.shape).to(d)
