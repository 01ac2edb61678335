#!/usr/bin/python3
"""Which files scripts of calque py read and write: those below the working folder and those that are
arguments; they also write below the folder for temporary files. With and without the sandbox, through .., links and absolute paths. And that a model file,
which calque export evaluates, uses none."""
import os
import pathlib
import sys
import tempfile

import peers

HEAD = "import sys\nimport torch\nnet = torch.nn.Linear(2, 2)\nx = torch.ones(1, 2)\n"
REFUSED = "a script may {} only files below the working folder"


def run(top, text, *arguments, options=()):
    """Runs a script in top/work: (exit code, standard error, all files of top)."""
    work = top / "work"
    work.mkdir(exist_ok=True)
    (top / "temporary").mkdir(exist_ok=True)
    (work / "script.py").write_text(HEAD + text)
    before = {path: path.read_bytes() for path in top.rglob("*") if path.is_file()}
    code, _, err = peers.calque("py", *options, "script.py", *arguments, cwd=work,
                                env=dict(os.environ, TMPDIR=str(top / "temporary")))
    after = {path: path.read_bytes() for path in top.rglob("*") if path.is_file()}
    changed = sorted(str(path.relative_to(top)) for path in after if before.get(path) != after[path])
    return code, err, changed


def writes(options):
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        (top / "kept.onnx").write_text("kept")
        (top / "work").mkdir()
        (top / "work" / "in").mkdir()
        os.symlink("../kept.onnx", top / "work" / "link.onnx")
        os.symlink("..", top / "work" / "up")
        for path in ("../out.onnx", "../kept.onnx", str(top / "out.onnx"), "link.onnx", "up/out.onnx",
                     "in/../../out.onnx", "/etc/calque.onnx"):
            code, err, changed = run(top, f"torch.onnx.export(net, x, {path!r})\n", options=options)
            assert code == 1 and REFUSED.format("write") in err, f"{path}: {code} {err}"
            assert changed == [], f"{path}: {changed}"
        assert (top / "kept.onnx").read_text() == "kept"
        code, err, changed = run(top, "torch.onnx.export(net, x, 'in/out.onnx')\n", options=options)
        assert code == 0 and changed == ["work/in/out.onnx"], f"{err} {changed}"
        code, err, changed = run(top, "torch.onnx.export(net, x, sys.argv[1])\n", "../out.onnx", options=options)
        assert code == 0 and changed == ["out.onnx"], f"{err} {changed}"
        path = str(top / "temporary" / "a.onnx")
        code, err, changed = run(top, f"torch.onnx.export(net, x, {path!r})\n", options=options)
        assert code == 0 and changed == ["temporary/a.onnx"], f"{err} {changed}"
        path = str(top / "temporary" / "w.pth")
        code, err, changed = run(top, f"torch.save(net.state_dict(), {path!r})\nprint(torch.load({path!r}))\n",
                                 options=options)
        assert code == 0 and changed == ["temporary/w.pth"], f"{err} {changed}"
        code, err, changed = run(top, f"print(torch.load({path!r}))\n", options=options)
        assert code == 1 and REFUSED.format("read") in err, f"{err} {changed}"
        code, err, changed = run(top, "import pytorch_pfn_extras.onnx as p\np.export_testcase(net, x, '../case')\n",
                                 options=options)
        assert code == 1 and REFUSED.format("write") in err and changed == [], f"{err} {changed}"


def reads():
    with tempfile.TemporaryDirectory() as folder:
        top = pathlib.Path(folder)
        secret = top / "secret.safetensors"
        secret.write_bytes(b"\x02\x00\x00\x00\x00\x00\x00\x00{}")
        for path in ("../secret.safetensors", str(secret)):
            code, err, _ = run(top, f"torch.load({path!r})\n")
            assert code == 1 and REFUSED.format("read") in err, f"{path}: {err}"
        code, err, _ = run(top, "print(len(torch.load(sys.argv[1])))\n", "../secret.safetensors")
        assert code == 0, err
        for call in ("open('script.py')", "exec('1')", "eval('1')", "__import__('os').system('ls')",
                     "import subprocess\nsubprocess.run(['ls'])", "import socket\nsocket.socket()"):
            code, err, _ = run(top, call + "\n")
            assert code == 1, call


def model_files():
    """calque export evaluates model.py without a host."""
    with tempfile.TemporaryDirectory() as folder:
        model = pathlib.Path(folder, "model.py")
        model.write_text("import torch\nclass Net(torch.nn.Module):\n    def forward(self, x):\n        return x + 1\n"
                         "torch.onnx.export(Net(), torch.ones(2), 'side.onnx')\n")
        code, _, err = peers.calque("export", "model.py", "--input", "2", "-o", "out.onnx", cwd=folder)
        assert code == 1 and "is for scripts that calque py runs, not for model files" in err, err
        assert os.listdir(folder) == ["model.py"], os.listdir(folder)


def call_chain():
    """An error shows where the function that failed was called, the innermost call first."""
    with tempfile.TemporaryDirectory() as folder:
        text = ("def pick(n):\n    return [1][n]\nclass Net(torch.nn.Module):\n    def forward(self, x):\n"
                "        return x + pick(4)\ndef main():\n    print(Net()(x))\nmain()\n")
        code, err, _ = run(pathlib.Path(folder), text)
        calls = [line.strip() for line in err.splitlines() if "called at" in line]
        assert code == 1 and "in script.py:6:12" in err, err
        assert calls == ["called at script.py:9:20", "called at script.py:11:11", "called at script.py:12:1"], err


def main():
    report = peers.Report(__file__)
    with report.case("a script writes below its working folder"):
        writes([])
    with report.case("so it does without a sandbox"):
        writes(["--no-sandbox"])
    with report.case("a script reads below its working folder"):
        reads()
    with report.case("an error shows the chain of calls"):
        call_chain()
    with report.case("a model file writes nothing"):
        model_files()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
