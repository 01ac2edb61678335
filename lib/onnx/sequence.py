"""Lists of data-dependent length, and values that may be None."""

import torch

from calque.onnx import *


@symbolic("sequence::empty", opset=7)
def empty():
    return SequenceEmpty(dtype=result_dtype()) if opset() >= 11 else too_early()


def too_early():
    return unsupported(
        "a list of data-dependent length requires opset 11 (sequences)", 11
    )


@symbolic("sequence::construct", opset=7)
def construct():
    return SequenceConstruct(arguments()) if opset() >= 11 else too_early()


@symbolic("sequence::insert", opset=7)
def insert():
    return SequenceInsert(arguments()) if opset() >= 11 else too_early()


@symbolic("sequence::erase", opset=7)
def erase():
    return SequenceErase(arguments()) if opset() >= 11 else too_early()


@symbolic("sequence::at", opset=7)
def at():
    return SequenceAt(arguments()) if opset() >= 11 else too_early()


@symbolic("sequence::length", opset=7)
def length():
    return SequenceLength(arguments()) if opset() >= 11 else too_early()


@symbolic("sequence::concat", opset=7)
def concat(tensors, dim, is_new_axis):
    if opset() < 11:
        return too_early()
    return ConcatFromSequence(tensors, axis=dim, new_axis=is_new_axis)


@symbolic("sequence::split", opset=7)
def split(x, dim, sizes, keepdims):
    """Without sizes SplitToSequence takes single slices, and only then keepdims counts."""
    if opset() < 11:
        return too_early()
    return SplitToSequence(
        x, cast(sizes, torch.int64) if keepdims else None, axis=dim, keepdims=keepdims
    )


unsupported(
    "optional::make",
    "a result that may be None requires opset 15 (optionals)",
    opset=7,
)


@symbolic("optional::has", opset=15)
def has():
    return OptionalHasElement(arguments())
