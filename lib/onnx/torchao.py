"""Quantization by torchao: QuantizeLinear and DequantizeLinear with a scale for each row.

Blocks of consecutive elements are reshaped to rows of a matrix. Since opset 21 DequantizeLinear has
groups, and weights of at most 4 bits are stored as int4. Other blocks are decomposed.
"""

import math
import torch

from calque.onnx import *
from onnx.common import given


def is_block_of_last(x, block_size):
    """Whether blocks are along the last dimension only."""
    last = x.ndim - 1
    singles = [i for i in range(last) if is_known(block_size[i]) and block_size[i] == 1]
    return x.ndim > 0 and len(singles) == last and is_known(block_size[last])


def is_block_of_rest(x, block_size):
    """Whether a block spans all dimensions but the first."""
    wholes = [
        i
        for i in range(1, x.ndim)
        if is_known(block_size[i]) and is_known(x.size(i)) and block_size[i] == x.size(i)
    ]
    is_single = x.ndim > 1 and is_known(block_size[0]) and block_size[0] == 1
    return is_single and len(wholes) == x.ndim - 1


def elements_of_block(x, block_size):
    """How many elements a block has; None: blocks are not rows."""
    if is_block_of_last(x, block_size):
        return block_size[x.ndim - 1]
    if is_block_of_rest(x, block_size):
        return math.prod([block_size[i] for i in range(1, x.ndim)])
    return None


def zero_of(zero_point, dtype):
    return None if zero_point is None else flatten(cast(zero_point, dtype))


def has_small_dtype(dtype, zero_point):
    return dtype in (torch.int8, torch.uint8) and (zero_point is None or not is_float(zero_point))


def dequantized_groups(q, scale, zero_point, unit, is_small):
    """Matrices in groups along their rows (opset 21); small ones are int4."""
    shape = [q.size(0), q.size(1) // unit]
    step = Reshape(cast(scale, torch.float32), shape)
    zero = zero_of(zero_point, q.dtype)
    if zero is not None:
        zero = Reshape(zero, shape)
    if not is_small:
        return DequantizeLinear(q, step, zero, axis=1, block_size=unit)
    small = cast(q, "int4")
    small_zero = None if zero is None else cast(zero, "int4")
    return DequantizeLinear(small, step, small_zero, axis=1, block_size=unit)


@symbolic("torchao::dequantize_affine", opset=7)
def dequantize_affine(input, block_size, scale, zero_point, quant_min, quant_max):
    unit = elements_of_block(input, block_size)
    if opset() < 13 or unit is None or not has_small_dtype(input.dtype, zero_point):
        return unsupported("it is decomposed")
    if input.ndim == 2 and unit == input.size(1):
        step = flatten(cast(scale, torch.float32))
        y = DequantizeLinear(input, step, zero_of(zero_point, input.dtype), axis=0)
    elif (
        opset() >= 21
        and input.ndim == 2
        and is_block_of_last(input, block_size)
        and is_known(input.size(0))
        and is_known(input.size(1))
    ):
        is_small = (
            input.dtype == torch.int8
            and given(quant_min, -128) >= -8
            and given(quant_max, 127) <= 7
        )
        y = dequantized_groups(input, scale, zero_point, unit, is_small)
    else:
        rows = Reshape(input, [-1, unit])
        step = flatten(cast(scale, torch.float32))
        y = DequantizeLinear(rows, step, zero_of(zero_point, input.dtype), axis=0)
        y = Reshape(y, input.shape)
    return cast(y, result_dtype())


@symbolic("torchao::quantize_affine", opset=7)
def quantize_affine(input, block_size, scale, zero_point, quant_min, quant_max):
    dtype = result_dtype()
    unit = elements_of_block(input, block_size)
    if (
        opset() < 13
        or unit is None
        or not has_small_dtype(dtype, zero_point)
        or input.dtype != torch.float32
    ):
        return unsupported("it is decomposed")
    least = -128 if dtype == torch.int8 else 0
    low = given(quant_min, least)
    high = given(quant_max, least + 255)
    rows = Reshape(input, [-1, unit])
    step = flatten(cast(scale, torch.float32))
    zero = zero_of(zero_point, dtype)
    q = QuantizeLinear(rows, step, cast(step * 0, dtype) if zero is None else zero, axis=0)
    if low != least or high != least + 255:
        q = Clip(q, low, high)
    return Reshape(q, input.shape)
