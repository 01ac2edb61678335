"""Different elements."""
from cases import *

for x in [t([3, 1, 3, 2, 1], torch.int64), t([[2.0, 1.0], [1.0, 2.0]]), t([], torch.float32), t(5.0), boolean(4)]:
    case("aten::_unique", x, True, True)
    case("aten::_unique2", x)
    case("aten::_unique2", x, True, True, True)
    case("aten::unique_consecutive", x)
    case("aten::unique_consecutive", x, True, True)
R = t([[1, 2], [0, 1], [1, 2], [1, 2]], torch.int64)
for dim in [0, 1]:
    case("aten::unique_dim", R, dim)
    case("aten::unique_dim", R, dim, True, True, True)
    case("aten::unique_dim_consecutive", R, dim, True, True)
    case("aten::unique_consecutive", R, True, True, dim)
