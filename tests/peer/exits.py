#!/usr/bin/python3
"""return, break and continue in random programs against Python: their source is run by calque and
exported from one example, and the graph must compute Python's results for arguments that take other
paths through the program.

    exits.py [SEED …]
"""
import pathlib
import random
import sys
import tempfile

import numpy

import peers
from peers import Report, calque

PROGRAMS = 80
ARGUMENTS = [numpy.array(v, dtype=numpy.float32) for v in
             ([[0, 0, 0], [0, 0, 0]], [[1, 2, 3], [4, 5, 6]], [[-1, 0, 2], [3, -2, 9]],
              [[0.5, 0.5, 1], [1, 1, 1]], [[30, -3, 1], [0, 2, 0]])]
OTHER_SIZES = [numpy.array(v, dtype=numpy.float32) for v in
               ([[1, 2, 1]], [[0, 1, 0], [1, 1, 2], [3, 1, 0], [-1, 2, 2]])]


class Writer:
    """A program in which most ifs are data-dependent, and which terminates on every path."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.loops = 0
        self.left = 28

    def add(self, depth, line):
        self.lines.append("    " * depth + line)
        self.left -= 1

    def condition(self, known):
        if known and self.random.random() < 0.3:
            return f"{known} % {self.random.randint(2, 3)} == {self.random.randint(0, 1)}"
        what = self.random.choice(["y.sum()", "y.max()", "y.min()", "x.sum()", "x.max()"])
        return f"bool({what} {self.random.choice('<>')} {self.random.randint(-2, 25)})"

    def exit(self, depth, in_loop):
        choices = ["return y * {}", "return y - {}"] + (["break", "continue"] * 2 if in_loop else [])
        self.add(depth, self.random.choice(choices).format(self.random.randint(2, 5)))

    def loop(self, depth):
        self.loops += 1
        name = f"i{self.loops}"
        kind = self.random.randrange(3)
        if kind == 0:
            self.add(depth, f"for {name} in range({self.random.randint(2, 3)}):")
        elif kind == 1:
            self.add(depth, f"for {name} in range(x.size(0)):")
        else:
            self.add(depth, f"{name} = 0")
            self.add(depth, f"while {name} < 4 and bool(y.sum() < {self.random.randint(5, 40)}):")
            self.add(depth + 1, f"{name} += 1")
        self.block(depth + 1, True, name)

    def block(self, depth, in_loop, known):
        for _ in range(self.random.randint(1, 3)):
            choice = self.random.random()
            if choice < 0.35 or depth > 4 or self.left < 0:
                self.add(depth, self.random.choice(["y = y + {}", "y = y * {} + x", "n += {}"])
                         .format(self.random.randint(1, 3)))
            elif choice < 0.75:
                self.add(depth, f"if {self.condition(known)}:")
                if self.random.random() < 0.5:
                    self.exit(depth + 1, in_loop)
                else:
                    self.block(depth + 1, in_loop, known)
                if self.random.random() < 0.3:
                    self.add(depth, "else:")
                    self.block(depth + 1, in_loop, known)
            else:
                self.loop(depth)
        if depth > 1 and self.random.random() < 0.25:
            self.exit(depth, in_loop)

    def program(self):
        self.add(0, "def forward(x: Tensor) -> Tensor:")
        self.add(1, "y = x")
        self.add(1, "n = 0")
        while self.left > 0:
            self.block(1, False, "")
        self.add(1, "return y + n")
        return "\n".join(self.lines) + "\n"


def expected(text, array):
    import torch
    names = {"Tensor": torch.Tensor}
    exec(text, names)
    return names["forward"](torch.tensor(array)).numpy()


def result_of(folder, model, array, name):
    numpy.save(folder / "x.npy", array)
    out = folder / name
    code, _, error = calque("run", model, "--input", folder / "x.npy", "-o", out)
    assert code == 0, " ".join(error.split())
    return peers.load_pb(out / "output_0.pb")


def check(folder, seed):
    text = Writer(seed).program()
    source, model = folder / "model.py", folder / "model.onnx"
    source.write_text(text)
    numpy.save(folder / "x.npy", ARGUMENTS[seed % len(ARGUMENTS)])
    open_size = seed % 2 == 1  # then loops over x become loops of the graph
    code, _, error = calque("export", source, "--input", folder / "x.npy", "-o", model,
                            *(["--dynamic-axes", '{"input_0": {"0": "n"}}'] if open_size else []))
    assert code == 0, text + " ".join(error.split())
    for i, array in enumerate(ARGUMENTS + (OTHER_SIZES if open_size else [])):
        want = expected(text, array)
        for kind in (source, model):
            got = result_of(folder, kind, array, f"{kind.suffix[1:]}{i}")
            numpy.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5,
                                          err_msg=f"{kind.name}, arguments {i}\n{text}")


def main():
    report = Report(__file__)
    if not report.needs("torch"):
        return report.finish()
    seeds = [int(arg) for arg in sys.argv[1:]] or range(PROGRAMS)
    for seed in seeds:
        with tempfile.TemporaryDirectory() as folder:
            with report.case(f"program {seed}"):
                check(pathlib.Path(folder), seed)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
