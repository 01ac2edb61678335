"""PIL.Image: constants, and the class for isinstance."""
from enum import IntEnum


class Image:
    pass


class Resampling(IntEnum):
    NEAREST = 0
    LANCZOS = 1
    BILINEAR = 2
    BICUBIC = 3
    BOX = 4
    HAMMING = 5


class Transpose(IntEnum):
    FLIP_LEFT_RIGHT = 0
    FLIP_TOP_BOTTOM = 1
    ROTATE_90 = 2
    ROTATE_180 = 3
    ROTATE_270 = 4
    TRANSPOSE = 5
    TRANSVERSE = 6


class Transform(IntEnum):
    AFFINE = 0
    EXTENT = 1
    PERSPECTIVE = 2
    QUAD = 3
    MESH = 4


NEAREST = 0
LANCZOS = ANTIALIAS = 1
BILINEAR = LINEAR = 2
BICUBIC = CUBIC = 3
BOX = 4
HAMMING = 5
FLIP_LEFT_RIGHT = 0
FLIP_TOP_BOTTOM = 1
AFFINE = 0
PERSPECTIVE = 2


def open(*args, **kwargs):
    raise NotImplementedError("PIL.Image.open: calque does not read images of Python programs")
