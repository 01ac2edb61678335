"""Window functions of signal processing."""
from cases import *

for op in ["hann", "hamming", "blackman", "bartlett"]:
    for n in [8, 5, 1, 0, 2]:
        case(f"aten::{op}_window", n)
        case(f"aten::{op}_window.periodic", n, False)
    case(f"aten::{op}_window.periodic", 6, True, dtype=torch.float64)
    fails(f"aten::{op}_window", -1)
    fails(f"aten::{op}_window", 4, dtype=torch.int64)
case("aten::hamming_window.periodic_alpha", 7, False, 0.6)
case("aten::hamming_window.periodic_alpha_beta", 7, True, 0.6, 0.3)
for n in [0, 1, 2, 9]:
    case("aten::kaiser_window", n)
    case("aten::kaiser_window.periodic", n, False, dtype=torch.float64)
    case("aten::kaiser_window.beta", n, True, 3.5)
