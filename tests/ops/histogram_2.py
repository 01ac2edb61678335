"""Histograms, and the lines between ends that are data."""
from cases import *

x, edges = f32(3, 5), t([-1, -0.5, 0.1, 1])
op = "aten::histogram.bins_tensor"
case(op, x, edges)
case(op, x, edges, density=True)
case(op, x, edges, weight=f32(3, 5))
case(op, t([-1, 1, 0.1, 5]), edges)
op = "aten::histogram.bin_ct"
case(op, x, 4)
case(op, x, 3, range=[-1., 1.])
case(op, x, 5, weight=f32(3, 5), density=True)
case(op, t([2, 2]), 2)
points = f32(7, 2)
case("aten::histogramdd", points, [2, 3])
case("aten::histogramdd", points, [2, 3], range=[-1., 1., 0., 2.], density=True)
case("aten::histogramdd.int_bins", points, 2, weight=f32(7))
case("aten::histogramdd.TensorList_bins", points, [edges, t([-2, 0, 2])])

for op, rest in (("linspace", []), ("logspace", [2.0])):
    case(f"aten::{op}.Tensor_Tensor", t(1), t(3), 5, *rest)
    case(f"aten::{op}.Tensor_Tensor", t(1, torch.int64), t(3.5), 1, *rest)
    case(f"aten::{op}.Tensor_Scalar", t(-1), 3, 4, *rest, dtype=torch.float64)
    case(f"aten::{op}.Scalar_Tensor", 0.5, t(3), 4, *rest)
    case(f"aten::{op}.Scalar_Tensor", 0, t(9), 4, *rest, dtype=torch.int64)
    case(f"aten::{op}.Tensor_Tensor", t(1), t(3), 0, *rest)
case("aten::_histogramdd_bin_edges", f32(6, 2), [2, 3])
case("aten::_histogramdd_from_bin_cts", f32(6, 2), [2, 3])
case("aten::_histogramdd_from_bin_cts", f32(6, 2), [2, 3], range=[-1., 1, -2, 2], density=True)
case("aten::_histogramdd_from_bin_tensors", f32(6, 2), [t([-2., 0, 2]), t([-1., 1])])
