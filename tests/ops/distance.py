"""Distances of vectors, norms of matrices."""
from cases import *

for p in (0, 1, 2, 3.5, inf, -inf):
    case("aten::dist", f32(2, 3), f32(3), p)
    case("aten::pairwise_distance", f32(2, 3), f32(2, 3), float(p))
    if p >= 0:
        case("aten::cdist", f32(2, 3), f32(4, 3), float(p))
case("aten::pairwise_distance", f32(2, 3), f32(3), 2.0, 0.5, True)
case("aten::cdist", f32(2, 2, 3), f32(1, 3, 3))
case("aten::cdist", f32(2, 3), f32(4, 3), 2.0, 1)
fails("aten::cdist", f32(2, 3), f32(4, 2))
fails("aten::cdist", f32(2, 3), f32(4, 3), -1.0)
case("aten::_euclidean_dist", f32(2, 3), f32(4, 3))
case("aten::cosine_similarity", f32(2, 3), f32(2, 3))
case("aten::cosine_similarity", f32(2, 3, 2), f32(3, 2), -1)
case("aten::cosine_similarity", f32(2, 3), t([[0.0, 0, 0], [1, 2, 3]]), 1, 0.5)
case("aten::cosine_similarity", f32(2, 3), f64(2, 3), 0)
fails("aten::cosine_similarity", i64(2, 3), i64(2, 3))

case("aten::frobenius_norm", f32(2, 3))
case("aten::frobenius_norm.dim", f32(2, 3, 2), [0, 2])
case("aten::frobenius_norm.dim", f32(2, 3, 2), [1], True)
for ord in (1, -1, inf, -inf):
    case("aten::linalg_matrix_norm", f32(2, 3), ord)
    case("aten::linalg_matrix_norm", f32(2, 3, 2), ord, [2, 0], True)
    case("aten::linalg_norm", f32(2, 3), ord)
    case("aten::linalg_norm", f32(2, 3), ord, 1)
case("aten::linalg_matrix_norm.str_ord", f32(2, 3, 2), "fro", [0, 1])
case("aten::linalg_norm", f32(2, 3, 2))
case("aten::linalg_norm", f32(2, 3, 2), None, [0, 1], True)
case("aten::linalg_norm", f32(2, 3), 3, [1], False, dtype=torch.float64)
case("aten::linalg_norm.ord_str", f32(2, 3), "fro")
fails("aten::linalg_norm", f32(2, 3, 2), 1)
