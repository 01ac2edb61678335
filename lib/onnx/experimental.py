"""Experimental operators of early exporters, which no release of ONNX contains: layers of Caffe2
and Core ML."""

from calque.onnx import *


@function("experimental::Affine")
def affine(X, alpha, beta):
    return X * alpha + like(beta, X)


@function("experimental::Crop")
def crop(X, border, scale):
    """border: left, top, right, bottom. scale: height and width of the result, from the top left;
    by default a border of 0 removes nothing."""
    if border is None or len(border) != 4 or (scale is not None and len(scale) not in [0, 2]):
        raise NotImplementedError("expects four borders and a scale of two numbers")
    if min(border) < 0:
        raise NotImplementedError("has a negative border")
    left, top, right, bottom = border
    last = 2**62
    ends = [-bottom if bottom else last, -right if right else last]
    if scale is not None and len(scale) == 2:
        if max(border) > last or max(scale) > last:
            raise NotImplementedError("has a border or scale that is too large")
        ends = [top + scale[0], left + scale[1]]
    return Slice(X, [top, left], ends, [2, 3])


@function("experimental::ImageScaler")
def image_scaler(X, scale, bias):
    """bias has a number for each channel."""
    if bias is None or len(bias) == 0:
        return X * scale
    return X * scale + CastLike(Reshape(bias, [-1, 1, 1]), X)


@function("experimental::ParametricSoftplus")
def parametric_softplus(X, alpha, beta):
    return Softplus(X * beta) * alpha


@function("experimental::Scale")
def scale(X, scale):
    return X * scale


@function("experimental::ScaledTanh")
def scaled_tanh(X, alpha, beta):
    return Tanh(X * beta) * alpha
