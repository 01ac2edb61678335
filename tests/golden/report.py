#!/usr/bin/python3
"""`calque export --report`: JSON whose times differ from run to run, so it is not a transcript."""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import Report, calque  # noqa: E402

MODEL = ("export", "super_resolution", "--input", "1x1x8x8")


def export(folder, *options):
    code, _, _ = calque(*MODEL, "--report", "report.json", *options, cwd=folder)
    return code, json.loads((pathlib.Path(folder) / "report.json").read_text())


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        with report.case("a model that is exported"):
            code, got = export(folder, "--opset", "13", "--custom-opset", "mine=2")
            assert code == 0 and got["ok"] and got["error"] is None
            assert got["model"] == "super_resolution" and got["opset"] == 13
            assert got["output"] == "super_resolution.onnx"
            counts = {entry["name"]: entry["count"] for entry in got["operators"]}
            assert counts == {"Conv": 4, "Relu": 3, "DepthToSpace": 1}, counts
            assert got["unsupported"] == [] and got["baked"] == []
            assert ["mine" in entry["message"] for entry in got["warnings"]] == [True]
            assert set(got["seconds"]) == {"load", "export", "verify", "save"}
            assert 0 < sum(got["seconds"].values()) < 100
        with report.case("a model that is not"):
            code, got = export(folder, "--symbolics", f"{HERE}/data/bad_symbolics.py", "-o", "never.onnx")
            assert code == 1 and not got["ok"]
            assert got["error"]["status"] == "syntax" and got["error"]["where"]
            assert not (pathlib.Path(folder) / "never.onnx").exists()
        with report.case("a place that cannot be written"):
            code, _, err = calque(*MODEL, "--report", "nowhere/report.json", cwd=folder)
            assert code == 1 and "nowhere/report.json" in err, err
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
