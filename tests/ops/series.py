"""Along one dimension: differences, areas, quantiles; and elements by their value."""
from cases import *

for x in [f32(5), f32(3, 4), f64(2, 5), i64(3, 4), boolean(5)]:
    case("aten::diff", x)
    case("aten::diff", x, 2, 0)
case("aten::diff", f32(3, 4), 1, 1, f32(3, 1), f32(3, 2))
case("aten::diff", f32(4), 0)
case("aten::diff", f32(3, 4), 0, 1, f32(3, 1), f32(3, 2))
fails("aten::diff", f32())
for op in ["trapezoid", "trapz", "cumulative_trapezoid"]:
    case(f"aten::{op}.dx", f32(3, 4))
    case(f"aten::{op}.dx", f32(3, 4), dx=0.5, dim=0)
    case(f"aten::{op}.x", f32(3, 4), f32(4))
    case(f"aten::{op}.x", f32(3, 4), f32(3, 4), dim=0)
    case(f"aten::{op}.x", f32(5), f32(5))
for q in [0.0, 0.3, 0.5, 1.0]:
    case("aten::quantile.scalar", f32(3, 5), q)
    case("aten::quantile.scalar", f32(3, 5), q, 1)
    case("aten::quantile.scalar", f64(3, 5), q, 0, True)
case("aten::quantile.scalar", f32(3, 5), 0.3, None, True)
case("aten::quantile", f32(3, 5), t([0.1, 0.6, 0.9]))
case("aten::quantile", f32(3, 5), t([0.1, 0.6, 0.9]), 1)
case("aten::quantile", f32(3, 5, 2), t([0.1, 0.6]), 1, True)
case("aten::quantile", f32(3, 5), t([0.1, 0.6]), None, True)
case("aten::quantile", f32(3, 5), t(0.6), -1)
case("aten::quantile", t([[1., nan, 2.], [3., 1., 2.]]), t([0.5]), 1)
fails("aten::quantile", i64(3), t(0.5))
for p in [1, 2, 3]:
    case("aten::renorm", f32(3, 4, low=-5, high=5), p, 0, 4.0)
    case("aten::renorm", f32(2, 3, 4), p, 1, 3)
fails("aten::renorm", f32(3), 2, 0, 1.0)
for edge_order in [1, 2]:
    case("aten::gradient.scalarint", f32(3, 4), edge_order=edge_order)
    case("aten::gradient.scalarint", f32(3, 4), spacing=0.5, dim=1, edge_order=edge_order)
    case("aten::gradient.array", f64(3, 4), dim=[1], edge_order=edge_order)
    case("aten::gradient.scalararray", f32(3, 4), spacing=2.0, dim=[0, 1], edge_order=edge_order)
case("aten::gradient.scalarint", i64(5))
fails("aten::gradient.scalarint", f32(1))
for p in [1.0, 2.0, 3.5]:
    case("aten::pdist", f32(4, 3), p)
for invert in [False, True]:
    case("aten::isin.Tensor_Tensor", i64(3, 4), i64(2, 2), invert=invert)
    case("aten::isin.Tensor_Scalar", i64(3, 4), 2, invert=invert)
    case("aten::isin.Scalar_Tensor", 2, i64(9), invert=invert)
case("aten::isin.Tensor_Tensor", f32(3), t([0.5, 1.]))
case("aten::histc", f32(4, 5), 4, -2, 2)
case("aten::histc", f32(20), 7, -1, 1)
case("aten::histc", f64(20), 5)
case("aten::histc", t([1., 1., 1.]), 3)
fails("aten::histc", f32(3), 0)
for word in ["lower", "higher", "nearest", "midpoint"]:
    case("aten::quantile", f32(3, 5), t([0.1, 0.5, 0.6]), 1, interpolation=word)
    case("aten::nanquantile", t([[1., nan, 2., 4.], [3., 1., 2., 0.]]), t([0.1, 0.5, 0.8]), 1, interpolation=word)
fails("aten::quantile", f32(3), t(0.5), interpolation="curved")
case("aten::nanquantile", t([[1., nan, 2.], [nan, nan, nan], [3., 1., 2.]]), t([0.25, 0.5]), 1)
case("aten::nanquantile", t([[1., nan, 2.], [nan, 7., nan]]), t([0.25, 0.5]))
case("aten::nanquantile", t([[1., nan, 2.], [3., 1., 2.]]), t(0.5), 0, True)
case("aten::nanquantile.scalar", t([[1., nan, 2.], [3., 1., 2.]]), 0.4, -1)
places = t([1., 3, 2, 7]), t([8., 6, 1])
for order in (1, 2):
    case("aten::gradient.tensorarray", f32(4, 3, 2), spacing=list(places), dim=[0, 1], edge_order=order, tol=(1e-4, 1e-5))
    case("aten::gradient.tensorarrayint", f32(4, 3), spacing=[places[1]], dim=1, edge_order=order, tol=(1e-4, 1e-5))
case("aten::gradient.tensorarrayint", f32(4, 3), spacing=list(places), tol=(1e-4, 1e-5))
