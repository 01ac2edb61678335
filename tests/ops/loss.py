"""Losses."""
from cases import *

for reduction in (0, 1, 2):
    for op in ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss"):
        case(f"aten::{op}", f32(2, 3), f32(2, 3), reduction)
    case("aten::smooth_l1_loss", f32(2, 3), f32(2, 3), reduction, 0.5)
    case("aten::smooth_l1_loss", f32(2, 3), f32(2, 3), reduction, 0.0)
    case("aten::huber_loss", f32(2, 3), f32(2, 3), reduction, 0.7)
    labels = t([1, 0, 2], torch.int64)
    some = t([1, -100, 2], torch.int64)
    for target in (labels, some):
        for op in ("nll_loss", "nll_loss_nd", "cross_entropy_loss"):
            case(f"aten::{op}", f32(3, 4), target, None, reduction)
            case(f"aten::{op}", f32(3, 4), target, f32(4, low=0.1), reduction)
        case("aten::cross_entropy_loss", f32(3, 4), target, None, reduction, -100, 0.1)
        case("aten::cross_entropy_loss", f32(3, 4), target, f32(4, low=0.1), reduction, -100, 0.2)
    case("aten::nll_loss", f32(3, 4), labels, None, reduction, 2)
    case("aten::nll_loss", f32(4), t(2, torch.int64), f32(4), reduction)
    case("aten::nll_loss2d", f32(2, 3, 2, 2), i64(2, 2, 2, low=0, high=2), f32(3, low=0.1), reduction)
    case("aten::nll_loss_nd", f32(2, 3, 4), i64(2, 4, low=0, high=2), None, reduction)
    case("aten::cross_entropy_loss", f32(2, 3, 2, 2), i64(2, 2, 2, low=0, high=2), None, reduction)
    case("aten::cross_entropy_loss", f32(4), t(2, torch.int64), None, reduction)
    case("aten::cross_entropy_loss", f32(2, 4), f32(2, 4, low=0, high=1), None, reduction)
    case("aten::cross_entropy_loss", f32(2, 4, 2), f32(2, 4, 2, low=0, high=1), f32(4, low=0.1),
         reduction, -100, 0.3)
    p, q = f32(2, 3, low=0, high=1), f32(2, 3, low=0, high=1)
    case("aten::binary_cross_entropy", p, q, None, reduction)
    case("aten::binary_cross_entropy", t([0.0, 1.0, 0.5]), t([1.0, 1.0, 0.0]), f32(3), reduction)
    case("aten::binary_cross_entropy_with_logits", f32(2, 3), q, None, None, reduction)
    case("aten::binary_cross_entropy_with_logits", t([-200.0, 200.0, 0.0]), t([1.0, 0.0, 0.5]), f32(3),
         f32(3, low=0.5), reduction)
    case("aten::kl_div", f32(2, 3), q, reduction)
    case("aten::kl_div", f32(3), t([0.0, 0.5, 1.0]), reduction)
    case("aten::kl_div", f32(2, 3), f32(2, 3), reduction, log_target=True)
    case("aten::poisson_nll_loss", f32(4), t([0.0, 1.0, 2.0, 5.0]), True, False, 1e-8, reduction)
    case("aten::poisson_nll_loss", f32(4, low=0.1), t([0.0, 1.0, 2.0, 5.0]), False, True, 1e-8, reduction)
    sign = t([1.0, -1.0, 1.0])
    case("aten::soft_margin_loss", f32(3), sign, reduction)
    case("aten::margin_ranking_loss", f32(3), f32(3), sign, 0.3, reduction)
    case("aten::hinge_embedding_loss", f32(3), sign, 0.8, reduction)
    case("aten::cosine_embedding_loss", f32(3, 4), f32(3, 4), sign, 0.1, reduction)
    case("aten::triplet_margin_loss", f32(2, 3), f32(2, 3), f32(2, 3), 1.0, 2.0, 1e-6, False, reduction)
    case("aten::triplet_margin_loss", f32(2, 3), f32(2, 3), f32(2, 3), 0.5, 1.0, 1e-6, True, reduction)
case("aten::mse_loss", f32(2, 3), f32(3))
case("aten::mse_loss", f64(2, 3), f64(2, 3))
fails("aten::huber_loss", f32(2), f32(2), 1, 0.0)
fails("aten::nll_loss", f32(3, 4), i64(3, 4))
fails("aten::nll_loss", f32(3, 4), t([1, 9, 2], torch.int64))
for reduction in [0, 1, 2]:
    case("aten::multi_margin_loss", f32(3, 4), t([0, 3, 1], torch.int64), reduction=reduction)
case("aten::multi_margin_loss", f32(3, 4), t([0, 3, 1], torch.int64), 2, 0.5, f32(4, low=0.1))
case("aten::multi_margin_loss", f32(4), t(2, torch.int64))
case("aten::multi_margin_loss", f32(4), t([2], torch.int64), reduction=0)
