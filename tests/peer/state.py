#!/usr/bin/python3
"""Models that change themselves: buffers and attributes that one call writes and the next one
reads. With --state they are inputs and outputs; ONNX Runtime runs 40 steps of each model, what it
gives being fed back, and every step is as in PyTorch. calque's own test-cases have steps as well.

    state.py [-v] [CASE …]
"""
import json
import sys
from typing import Dict, List, Optional

import peers

STEPS = 40
CASES = {}


def case(make):
    CASES[make.__name__] = make
    return make


def seeded(*shapes):
    """Inputs of step i: random tensors."""
    import torch

    def inputs(step):
        torch.manual_seed(step)
        return [torch.randn(s) for s in shapes]
    return inputs


# ---- models: (TorchScript, the inputs of a step, names of the state) ----------------------


@case
def policy():
    """A robot's: buffers, changed in place."""
    import torch
    from torch import nn

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.LSTM(6, 8, 2)
            self.head = nn.Sequential(nn.Linear(8, 16), nn.ELU(), nn.Linear(16, 3))
            self.register_buffer("hidden", torch.zeros(2, 1, 8))
            self.register_buffer("cell", torch.zeros(2, 1, 8))

        def forward(self, x: torch.Tensor):
            out, (h, c) = self.rnn(x.unsqueeze(0), (self.hidden, self.cell))
            self.hidden[:] = h
            self.cell[:] = c
            return self.head(out.squeeze(0))

        @torch.jit.export
        def reset_memory(self):
            self.hidden[:] = 0.0
            self.cell[:] = 0.0
    return torch.jit.script(Policy().eval()), seeded((1, 6)), ["hidden", "cell"]


@case
def traced_policy():
    import torch
    from torch import nn

    class Policy(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = nn.GRU(6, 8)
            self.register_buffer("hidden", torch.full((1, 1, 8), 0.25))

        def forward(self, x):
            out, h = self.rnn(x.unsqueeze(0), self.hidden)
            self.hidden.copy_(h)
            return out.squeeze(0)
    x = torch.randn(1, 6)
    return torch.jit.trace(Policy().eval(), x, check_trace=False), seeded((1, 6)), ["hidden"]


@case
def voice_detector():
    """Attributes of all kinds, a rate that selects branches, and empty tensors to begin with."""
    import torch
    from torch import nn

    class Vad(nn.Module):
        _state: torch.Tensor
        _context: torch.Tensor

        def __init__(self):
            super().__init__()
            self.conv = nn.Conv1d(1, 8, 16, 8)
            self.cell = nn.LSTMCell(8, 8)
            self.out = nn.Linear(8, 1)
            self._state = torch.zeros(0)
            self._context = torch.zeros(0)
            self._last_sr = 0
            self._last_batch = 0

        @torch.jit.export
        def reset_states(self, batch: int = 1):
            self._state = torch.zeros(2, batch, 8)
            self._context = torch.zeros(0)
            self._last_sr = 0
            self._last_batch = 0

        def forward(self, x: torch.Tensor, sr: int):
            if sr != 16000 and sr != 8000:
                raise ValueError("a rate of 8000 or 16000 is needed")
            if self._last_batch == 0:
                self.reset_states(x.shape[0])
            if self._last_sr != 0 and self._last_sr != sr:
                self.reset_states(x.shape[0])
            if self._last_batch != 0 and self._last_batch != x.shape[0]:
                self.reset_states(x.shape[0])
            if len(self._context) == 0:
                self._context = torch.zeros(x.shape[0], 16)
            if sr == 8000:
                x = torch.repeat_interleave(x, 2, dim=1)
            y = torch.cat([self._context, x], 1)
            z = self.conv(y.unsqueeze(1)).relu().mean(2)
            h, c = self.cell(z, (self._state[0], self._state[1]))
            self._state = torch.stack([h, c])
            self._context = y[:, -16:]
            self._last_sr = sr
            self._last_batch = x.shape[0]
            return torch.sigmoid(self.out(h))

    def inputs(step):
        torch.manual_seed(step)
        return [torch.randn(1, 64), 8000 if 10 < step < 20 else 16000]
    return (torch.jit.script(Vad().eval()), inputs,
            ["_state", "_context", "_last_sr", "_last_batch"])


@case
def numbers():
    import torch
    from torch import nn

    class Numbers(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = 0
            self.gain = 1.0
            self.started = False

        def forward(self, x: torch.Tensor):
            if not self.started:
                self.started = True
                x = x * 0
            self.steps += 1
            self.gain = self.gain * 0.9 + 0.01 * self.steps
            return x * self.gain + self.steps
    return torch.jit.script(Numbers()), seeded((3,)), ["steps", "gain", "started"]


@case
def ring_buffer():
    import torch
    from torch import nn

    class Ring(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("taps", torch.zeros(5, 3))
            self.at = 0

        def forward(self, x: torch.Tensor):
            self.taps[self.at] = x
            self.at = (self.at + 1) % 5
            return self.taps.sum(0) * self.at
    return torch.jit.script(Ring()), seeded((3,)), ["taps", "at"]


@case
def lists_and_dicts():
    import torch
    from torch import nn

    class Lists(nn.Module):
        past: List[torch.Tensor]
        by_name: Dict[str, torch.Tensor]

        def __init__(self):
            super().__init__()
            self.past = [torch.zeros(2, 3), torch.ones(2, 3)]
            self.by_name = {"mean": torch.zeros(3), "count": torch.ones(1)}

        def forward(self, x: torch.Tensor):
            self.past = [self.past[1] + x, self.past[0] * 0.5]
            self.past[0] = self.past[0] * 0.25
            count = self.by_name["count"] + 1
            self.by_name["mean"] = self.by_name["mean"] + (x.mean(0) - self.by_name["mean"]) / count
            self.by_name["count"] = count
            return self.past[0] - self.past[1] + self.by_name["mean"]
    return (torch.jit.script(Lists()), seeded((2, 3)),
            ["past.0", "past.1", "by_name.0", "by_name.1"])


@case
def children():
    """Modules inside of modules, one of them twice; names are in the order of the tree."""
    import torch
    from torch import nn

    class Filter(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(4, 5)
            self.h = torch.zeros(2, 5)

        def forward(self, x: torch.Tensor):
            self.h = self.cell(x, self.h)
            return self.h

    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = Filter()
            self.b = Filter()
            self.k = 0

        def forward(self, x: torch.Tensor):
            y = self.b(x) + self.a(x)
            self.k = (self.k + 1) % 3
            return y + self.a(x * 2) + self.k
    return torch.jit.script(Both().eval()), seeded((2, 4)), ["k", "a.h", "b.h"]


@case
def none_at_first():
    import torch
    from torch import nn

    class Filter(nn.Module):
        h: Optional[torch.Tensor]

        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(4, 5)
            self.h = None

        def forward(self, x: torch.Tensor):
            h = self.h
            if h is None:
                h = torch.zeros(x.shape[0], 5)
            h = self.cell(x, h)
            self.h = h
            return h
    return torch.jit.script(Filter().eval()), seeded((2, 4)), ["h.has_value", "h"]


@case
def growing_cache():
    import torch
    from torch import nn

    class Cache(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("keys", torch.zeros(1, 0, 3))

        def forward(self, x: torch.Tensor):
            self.keys = torch.cat([self.keys, x], 1)[:, -16:]
            return torch.softmax(x @ self.keys.transpose(1, 2), -1) @ self.keys
    return torch.jit.script(Cache()), seeded((1, 2, 3)), ["keys"]


@case
def shared_memory():
    """One tensor by two names, changed through one of them."""
    import torch
    from torch import nn

    class Shared(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("a", torch.zeros(3))
            self.b = self.a

        def forward(self, x: torch.Tensor):
            self.a.mul_(0.5).add_(x)
            return self.b * 2
    return torch.jit.script(Shared()), seeded((3,)), ["a"]


@case
def state_in_branches_and_loops():
    import torch
    from torch import nn

    class Gate(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("peak", torch.zeros(1))
            self.held = 0

        def forward(self, x: torch.Tensor):
            level = x.abs().max()
            if bool(level > self.peak):
                self.peak.copy_(level.reshape(1))
                self.held = 3
            else:
                self.held = max(self.held - 1, 0)
                self.peak.mul_(0.9)
            for i in range(self.held):
                self.peak += 0.01
            return x / (self.peak + 1) + self.held
    return torch.jit.script(Gate()), seeded((4,)), ["peak", "held"]


@case
def changed_inputs():
    """The new value of an input is an output, and no other state exists."""
    import torch
    from torch import nn

    class Scale(nn.Module):
        def forward(self, x: torch.Tensor, y: torch.Tensor):
            x.mul_(2)
            return x + y
    return torch.jit.script(Scale()), seeded((3,), (3,)), []


# ---- comparing ----------------------------------------------------------------------------


def as_array(x):
    import numpy as np
    return np.array(x, np.int64) if isinstance(x, int) else x.numpy()


def initial_state(model):
    import numpy as np
    found = {}
    for entry in model.metadata_props:
        if entry.key.startswith("state."):
            s = json.loads(entry.value)
            found[entry.key] = s["output"], np.full(s["shape"], s["data"], s["dtype"])
    return found


def write_inputs(folder, values):
    """Input files and the words that name them."""
    import numpy as np
    tensors, args = [], []
    for x in values:
        np.save(folder / f"input_{len(tensors)}.npy", as_array(x))
        args.append({"scalar" if isinstance(x, int) else "tensor": len(tensors)})
        tensors.append(x)
    (folder / "args.json").write_text(json.dumps({"args": args, "kwargs": {}}))
    return ["--example", folder]


def check_steps(source, target, inputs, names):
    import onnx
    import torch
    peers.check_onnx(target)
    model = onnx.load(str(target))
    state = initial_state(model)
    assert list(state) == [f"state.{n}_in" for n in names], list(state)
    own = [v.name for v in model.graph.input if v.name not in state]
    outputs = [v.name for v in model.graph.output]
    now = {name: value for name, (_, value) in state.items()}
    module = torch.jit.load(str(source))
    with torch.no_grad():
        for step in range(STEPS):
            given = inputs(step)
            arrays = [as_array(x).copy() for x in given]
            expected = module(*given)
            feeds = dict(zip(own, arrays), **now)
            got = dict(zip(outputs, peers.run_ort(target.read_bytes(), feeds)))
            peers.expect_close(got[outputs[0]], expected.numpy(), 1e-4, 1e-5, name=f"step {step}")
            now = {name: got[output] for name, (output, _) in state.items()}
            for name, x in zip(own, given):
                if f"state.{name}_out" in got:
                    peers.expect_close(got[f"state.{name}_out"], as_array(x), 1e-5, 1e-6,
                                       name=f"{name} after step {step}")


def check(name, folder):
    import torch
    torch.manual_seed(0)
    module, inputs, names = CASES[name]()
    source, target = folder / "model.pt", folder / "model.onnx"
    module.save(str(source))
    words = write_inputs(folder, inputs(0))
    code, _, said = peers.calque("export", source, *words, "--verify", "-o", target)
    assert code == 0, said.strip()[-400:]
    first = names[0].split(".")[0] if names else "x"
    assert "forward changes" in said and first in said, said
    code, _, said = peers.calque("export", source, *words, "--state", "--verify", "-o", target)
    assert code == 0, said.strip()[-400:]
    assert "forward changes" not in said, said
    assert not names or f"verified over {STEPS} steps" in said, said
    check_steps(source, target, inputs, names)
    code, _, said = peers.calque("testcase", source, folder / "case", *words, "--state")
    assert code == 0, said.strip()[-400:]
    code, said, _ = peers.calque("verify", folder / "case")
    sets = len(list((folder / "case").glob("test_data_set_*")))
    assert code == 0 and sets == (3 if names else 1), said


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, CASES, check))
