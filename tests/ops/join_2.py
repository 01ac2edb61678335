"""Sequences that are padded on the left."""
from cases import *

case("aten::pad_sequence", [f32(2, 3), f32(4, 3)], True, 0.5, "left")
case("aten::pad_sequence", [f32(3), f32(3)], False, 0.0, "left")
fails("aten::pad_sequence", [f32(2), f32(4)], True, 0.0, "middle")
