"""Products along chosen axes."""
from cases import *

for equation, sizes in [
    ("ij,jk->ik", [(2, 3), (3, 4)]), ("ij,jk", [(2, 3), (3, 4)]), ("bij,bjk->bik", [(2, 2, 3), (2, 3, 2)]),
    ("i,j->ij", [(2,), (3,)]), ("i,i->", [(3,), (3,)]), ("i,i->i", [(3,), (3,)]), ("ij->ji", [(2, 3)]),
    ("ij->", [(2, 3)]), ("ij->j", [(2, 3)]), ("ba", [(2, 3)]), ("ii->i", [(3, 3)]), ("ii", [(3, 3)]),
    ("iij->j", [(2, 2, 3)]), ("...ij,...jk->...ik", [(2, 2, 3), (3, 2)]),
    ("...ij, ...jk -> ...ik", [(2, 1, 2, 3), (2, 3, 2)]), ("bhid,bhjd->bhij", [(1, 2, 3, 2), (1, 2, 2, 2)]),
    ("bn,anm,bm->ba", [(2, 3), (4, 3, 2), (2, 2)]), ("ij,kl->ijkl", [(2, 2), (1, 3)]),
    ("ij,ij->ij", [(2, 3), (2, 1)]), ("aB,Bc", [(2, 3), (3, 2)]), ("i...->...", [(2, 3, 2)]),
    ("ijk,jil->kl", [(2, 3, 2), (3, 2, 2)]), ("ij,j->i", [(2, 3), (3,)]), ("iij,ijj->ij", [(2, 2, 3), (2, 3, 3)]),
    (",i->i", [(), (3,)]),
]:
    case("aten::einsum", equation, [f32(*s) for s in sizes], alias=False)
case("aten::einsum", "ij,jk->ik", [i64(2, 3), i64(3, 2)])
case("aten::einsum", "ij,jk->ik", [f64(3, 2).t(), f64(3, 2)])
fails("aten::einsum", "ij,jk->ik", [f32(2, 3)])
fails("aten::einsum", "ij->ik", [f32(2, 3)])
fails("aten::einsum", "ij,jk->ik", [f32(2, 3), f32(2, 3)])
fails("aten::einsum", "ijk->k", [f32(2, 3)])
fails("aten::einsum", "i?->i", [f32(2, 3)])
fails("aten::einsum", "ij->ii", [f32(2, 3)])

case("aten::tensordot", f32(2, 3, 2), f32(3, 2, 4), [1], [0])
case("aten::tensordot", f32(2, 3, 2), f32(3, 2, 4), [1, 0], [0, 1])
case("aten::tensordot", f32(2, 3), f32(2, 3), [-1, 0], [-1, 0])
case("aten::tensordot", f32(2), f32(3), [], [])
fails("aten::tensordot", f32(2, 3), f32(2, 3), [0], [1])
case("aten::inner", f32(2, 3), f32(4, 3))
case("aten::inner", f32(2, 3), f32(3))
case("aten::inner", f32(2, 3), f32())
case("aten::kron", f32(2, 2), f32(3, 1))
case("aten::kron", f32(2), f32(2, 3))
case("aten::kron", i64(2), i64(2, 3))
case("aten::bilinear", f32(2, 3), f32(2, 4), f32(5, 3, 4), f32(5))
case("aten::bilinear", f32(2, 2, 3), f32(2, 2, 2), f32(2, 3, 2))
case("aten::bilinear", i32(2, 3), i32(2, 4), i32(5, 3, 4), i32(5))
fails("aten::bilinear", f32(2, 3), f32(2, 3), f32(5, 3, 4), f32(5))
case("aten::tensordot", f32(1, 1, 3), f32(2, 4, 2), [0, 1], [2, 0])  # sizes of 1 meet any other
