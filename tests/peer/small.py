#!/usr/bin/python3
"""Small models of what strangers' archives do that few models do: scripted by PyTorch, exported, and
run by ONNX Runtime on other inputs than the example's.

    small.py [-v] [CASE …]
"""
import sys

import peers

HEAD = """
import torch
from torch import nn
from typing import Dict, List, Optional, Tuple

class Net(nn.Module):
    def forward(self, x: torch.Tensor):
"""

CASES = {  # the body of forward, for an x of 3 times 3
    "unsqueeze_": "y = x.clone(); y.unsqueeze_(1); return y * 2",
    "unsqueeze_ of an input": "x.unsqueeze_(0); return x + 1",
    "squeeze_": "y = x.clone().unsqueeze(0); y.squeeze_(0); return y * 2",
    "squeeze_ of all": "y = x.clone().unsqueeze(0).unsqueeze(-1); y.squeeze_(); return y * 2",
    "t_": "y = x.clone(); y.t_(); return y @ x",
    "transpose_, then add_": "y = x.clone(); y.transpose_(0, 1); y[0].add_(1); return y",
    "swapaxes_": "y = x[:2] + 1; y.swapaxes_(0, 1); return y",
    "a view from before t_": "y = x.clone(); z = y[0]; y.t_(); y.add_(1); return z, y",
    "a view from after unsqueeze_": "y = x.clone(); y.unsqueeze_(0); z = y[0]; y.mul_(2); return z",
    "another name": "y = x.clone(); z = y; y.unsqueeze_(0); z.add_(1); return y, z",
    "a text among the results": "return x + 1, 'label', x.sum()",
}


def check(name, folder):
    import numpy as np
    import torch
    (folder / "net.py").write_text(HEAD + "        " + CASES[name] + "\n")
    sys.path.insert(0, str(folder))
    sys.modules.pop("net", None)
    import net
    sys.path.pop(0)
    source, target = folder / "model.pt", folder / "model.onnx"
    module = torch.jit.script(net.Net())
    module.save(str(source))
    code, _, said = peers.calque("export", source, "--input", "3x3", "--verify", "-o", target)
    assert code == 0, said.strip()[-300:]
    peers.check_onnx(target)
    for seed in range(3):
        x = np.random.default_rng(seed).standard_normal((3, 3)).astype(np.float32)
        want = module(torch.from_numpy(x.copy()))
        want = [w for w in (want if isinstance(want, tuple) else [want]) if not isinstance(w, str)]
        got = peers.run_ort(target.read_bytes(), {"x": x})
        assert len(got) == len(want), (len(got), len(want))
        for g, w in zip(got, want):
            peers.expect_close(g, w.numpy(), name=f"result of seed {seed}")


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, CASES, check))
