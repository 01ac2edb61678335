#!/usr/bin/python3
"""- is standard input wherever a file is read, and standard output wherever one is written."""
import json
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import CALQUE, TIMEOUT, Report  # noqa: E402

NET = "def forward(x: Tensor) -> Tensor:\n  return torch.ops.mine.twice(x)\n"
DEFINE = "def mine__twice(x: Tensor) -> Tensor:\n  return x + x\n"
SYMBOLIC = '@symbolic("mine::twice", opset=9)\ndef twice(x):\n    return x + x\n'


def calque(*args, given=b"", code=0, cwd=None):
    done = subprocess.run([CALQUE, *map(str, args)], input=given, capture_output=True, cwd=cwd,
                          timeout=TIMEOUT)
    assert done.returncode == code, f"exit {done.returncode}: {done.stderr.decode()[-500:]}"
    assert not pathlib.Path(cwd, "-").exists(), "it has made a file that is called -"
    return done.stdout, done.stderr.decode()


class Folder:
    """A folder with one file of each kind."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        for name, text in [("net.py", NET), ("ops.py", DEFINE), ("symbolics.py", SYMBOLIC)]:
            (self.path / name).write_text(text)
        self("export", "net.py", "--define", "ops.py", "--input", "2x3", "-o", "net.onnx")
        self("testcase", "net.py", "case", "--define", "ops.py", "--input", "2x3")
        self("run", "net.onnx", "-o", "npy", "--format", "npy")

    def __call__(self, *args, given=None, code=0):
        given = (self.path / given).read_bytes() if given else b""
        return calque(*args, given=given, code=code, cwd=self.path)


EXPORT = ["export", "net.py", "--input", "2x3"]

# the command and its input; each is also run with a file instead of -
READ = [
    (["check", "-"], "net.onnx"),
    (["check", "net.onnx", "-"], "net.onnx"),
    (["info", "-"], "net.onnx"),
    (["info", "-", "--json"], "net.onnx"),
    (["print", "-"], "net.onnx"),
    (["print", "-"], "npy/output_0.npy"),
    (["print", "-"], "case/test_data_set_0/input_0.pb"),
    (["run", "-"], "net.onnx"),
    (["run", "net.onnx", "--input", "-"], "npy/output_0.npy"),
    (["run", "net.onnx", "--input", "-"], "case/test_data_set_0/input_0.pb"),
    (["diff", "-", "net.onnx"], "net.onnx"),
    (["diff", "net.onnx", "-"], "net.onnx"),
    (["strip", "-", "-o", "-"], "net.onnx"),
    (["unstrip", "-", "-o", "-"], "net.onnx"),
    (["infer", "-", "-o", "-"], "net.onnx"),
    (["optimize", "-", "-o", "-"], "net.onnx"),
    (["convert", "-", "--opset", "18", "-o", "-"], "net.onnx"),
    (["cut", "-", "--outputs", "output_0", "-o", "-"], "net.onnx"),
    (["export", "-", "--define", "ops.py", "--input", "2x3", "-o", "-"], "net.py"),
    (EXPORT + ["--define", "-", "-o", "-"], "ops.py"),
    (EXPORT + ["--symbolics", "-", "-o", "-"], "symbolics.py"),
    (EXPORT + ["--define", "ops.py", "--dynamic-axes", "@-", "-o", "-"], "axes.json"),
    (["verify", "case", "--model", "-"], "net.onnx"),
    (["bench", "-", "--repeat", "1"], "net.onnx"),
    (["testcase", "net.py", "other", "--define", "ops.py", "--input", "2x3", "--user-meta", "@-"],
     "axes.json"),
]

# the output to - equals the output to a file
WRITTEN = [
    ["export", "net.py", "--define", "ops.py", "--input", "2x3"],
    ["infer", "net.onnx"],
    ["strip", "net.onnx"],
    ["unstrip", "net.onnx"],
    ["print", "net.onnx"],
    ["print", "net.onnx", "--text"],
    ["print", "net.txt", "--parse"],
]

REFUSED = [
    (["diff", "-", "-"], "only once"),
    (["export", "-", "--define", "-"], "only once"),
    (EXPORT + ["-o", "-", "--report", "-"], "only once"),
    (["run", "net.onnx", "--profile", "-"], "--profile"),
    (["run", "net.onnx", "-o", "-"], "folder"),
    (["run", "net.onnx", "--example", "-"], "folder"),
    (["testcase", "net.py", "-"], "folder"),
    (["strip", "-"], "-o OUT"),
    (["strip", "-", "--in-place"], "standard input"),
    (["strip", "net.onnx"], "-o OUT"),
    (["strip", "net.onnx", "-o", "out", "--in-place"], "exclude"),
    (["unstrip", "-"], "-o OUT"),
]


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as path:
        folder = Folder(path)
        (folder.path / "axes.json").write_text(json.dumps({"x": {"0": "batch"}}))
        for args, given in READ:
            with report.case(f"{' '.join(args)} < {given}"):
                named = [arg.replace("@-", "@" + given) if arg == "@-" else
                         given if arg == "-" and args[i - 1] != "-o" else arg
                         for i, arg in enumerate(args)]
                piped, plain = folder(*args, given=given)[0], folder(*named)[0]
                assert args[0] == "bench" or piped == plain, f"{piped[:200]} is not {plain[:200]}"
        folder("print", "net.onnx", "--text", "-o", "net.txt")
        for args in WRITTEN:
            with report.case(f"{' '.join(args)} -o -"):
                folder(*args, "-o", "out")
                piped = folder(*args, "-o", "-")[0]
                assert piped == (folder.path / "out").read_bytes()
        with report.case("--report - and --profile - are JSON"):
            args = EXPORT + ["--define", "ops.py", "-o", "out", "--report", "-"]
            json.loads(folder(*args)[0])
            json.loads(folder("run", "net.onnx", "-o", "npy", "--profile", "-")[0])
        for args, why in REFUSED:
            with report.case(f"{' '.join(args)} is refused"):
                says = folder(*args, given="net.onnx", code=2)[1]
                assert why in says, says
        with report.case("standard input has a name in messages"):
            says = folder("check", "-", given="net.py", code=1)[1]
            assert "'standard input' is text" in says and "/dev/" not in says, says
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
