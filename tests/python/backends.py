#!/usr/bin/python3
"""onnx's own tests of backends, run on calque.backend as any backend runs them."""
import contextlib
import io
import sys
import unittest
import warnings

from package import Report, Skip

import numpy
import calque.backend

# name: why it is not among those that have to pass
LEFT_OUT = {
    r"cuda": "there is one device, CPU",
    r"bernoulli|training_dropout": "it expects the random numbers of numpy",
    r"adam_multiple": "its model lacks the epsilon that its numbers were made with",
    r"castlike_.*BFLOAT16": "it gives an input fewer dimensions than its model says",
    r"loop16_seq_none": "it expects an array without a length to have one",
    r"maxunpool_export_with_output_shape|resize_downsample_scales_(cubic|linear)_align_corners":
        "its numbers are not what the specification says; newer releases have others",
}
REAL_MODELS = "OnnxBackendRealModelTest"  # they are downloaded


def tests_of_onnx():
    for name, kind in {"bool": bool, "object": object, "int": int, "float": float}.items():
        if name not in vars(numpy):  # names that older releases of onnx still use
            setattr(numpy, name, kind)
    try:
        import onnx.backend.test
        runner = onnx.backend.test.BackendTest(calque.backend, __name__)
    except (ImportError, FileNotFoundError) as error:
        raise Skip(f"onnx's backend tests are not installed: {error}") from error
    for pattern in LEFT_OUT:
        runner.exclude(pattern)
    return [test for name, cls in runner.test_cases.items() if name != REAL_MODELS
            for test in unittest.defaultTestLoader.loadTestsFromTestCase(cls)]


def main():
    report = Report(__file__)
    with report.case("onnx's tests of backends"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = unittest.TestResult()
        with contextlib.redirect_stdout(io.StringIO()):
            tests = tests_of_onnx()
            unittest.TestSuite(tests).run(result)
        wrong = [f"{test.id()}: {text.strip().splitlines()[-1]}"
                 for test, text in result.failures + result.errors]
        assert not wrong, "\n".join(wrong)
        ran = result.testsRun - len(result.skipped)
        assert ran > 1000, f"only {ran} tests ran"
        print(f"{ran} tests of onnx passed")
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
