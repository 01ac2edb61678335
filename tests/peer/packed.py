#!/usr/bin/python3
"""Packed sequences: pack_padded_sequence, a recurrent layer of two directions, pad_packed_sequence,
scripted and traced, and run by ONNX Runtime on other lengths than the example's.

    packed.py [-v] [CASE …]
"""
import itertools
import sys

import peers

KINDS = ["GRU", "LSTM", "RNN"]
# Steps are counted by a Loop, by NonZero, or not at all; integers can be ordered since opset 11.
OPSETS = {"sorted": (7, 9, 17), "unsorted": (11, 17)}
CASES = [" ".join(words) for words in itertools.product(
    KINDS, ["script", "trace"], ["batch_first", "steps_first"], ["sorted", "unsorted"])]


def make(kind, batch_first, is_sorted):
    import torch
    from torch import nn
    from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.rnn = getattr(nn, kind)(4, 5, 2, batch_first=batch_first, bidirectional=True)
            self.batch_first: bool = batch_first
            self.is_sorted: bool = is_sorted

        def forward(self, x: torch.Tensor, lengths: torch.Tensor):
            packed = pack_padded_sequence(x, lengths, self.batch_first, self.is_sorted)
            return pad_packed_sequence(self.rnn(packed)[0], self.batch_first)
    return Net().eval()


def check(name, folder):
    import numpy as np
    import torch
    kind, how, batch_first, is_sorted = name.split()
    torch.manual_seed(0)
    module = make(kind, batch_first == "batch_first", is_sorted == "sorted")
    x = torch.randn([3, 6, 4] if batch_first == "batch_first" else [6, 3, 4])
    sets = [(x, torch.tensor([6, 4, 2])), (x * 2, torch.tensor([5, 5, 3]))]
    if is_sorted == "unsorted":
        sets.append((x + 1, torch.tensor([2, 6, 3])))
    module = torch.jit.script(module) if how == "script" else torch.jit.trace(module, sets[0])
    module.save(str(folder / "model.pt"))
    for i, part in enumerate(sets[0]):
        np.save(folder / f"{i}.npy", part.numpy())
    for opset in OPSETS[is_sorted]:
        target = folder / f"{opset}.onnx"
        code, _, said = peers.calque("export", folder / "model.pt", "--input", folder / "0.npy",
                                     "--input", folder / "1.npy", "--input-names", "x,lengths",
                                     "--opset", opset, "--verify", "-o", target)
        assert code == 0, said.strip()[-300:]
        peers.check_onnx(target)
        for x, lengths in sets:
            with torch.no_grad():
                expected = [t.numpy() for t in module(x, lengths)]
            got = peers.run_ort(target, {"x": x.numpy(), "lengths": lengths.numpy()})
            peers.expect_close(got, expected, 1e-4, 1e-5, name=f"opset {opset}, lengths {lengths.tolist()}")


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, CASES, check))
