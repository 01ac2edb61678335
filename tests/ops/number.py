"""Numbers as tensors."""
from cases import *

for number in [3, -7, 2.5, True]:
    case("prim::NumToTensor.Scalar", number)
