"""torch.onnx.operators: shapes as tensors."""
from torch import _shape_as_tensor


def shape_as_tensor(x):
    return _shape_as_tensor(x)


def reshape_from_tensor_shape(x, shape):
    return x.reshape(shape.tolist())
