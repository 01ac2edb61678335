#!/usr/bin/python3
"""What C programs can choose, the command line can choose too: every field of the option structs and
every flag has an option of a verb here, or a reason why it has none. A new one without either fails."""
import re
import sys

from repo import ROOT, Report, calque

# field or flag: options of the command line that set it; or, in parentheses, why none does
OPTIONS = {
    "cq_export_options": {
        "opset": "export --opset",
        "training": "export --training",
        "operators": "export --operator-export-type",
        "input_names": "export --input-names",
        "output_names": "export --output-names",
        "dynamic_axes": "export --dynamic-axes",
        "custom_opsets": "export --custom-opset",
        "function_classes": "export --modules-as-functions",
        "symbolics": "export --symbolics",
        "producer": "export --producer",
        "graph_name": "export --graph-name",
        "report": "export --report",
        "outputs": "(a test-case has them: testcase)",
        "annotations": "export --annotations",
        "marks": "export --annotate --anchor --as-output",
        "each_value": "(export --verify is made of it)",
        "each_value_user": "(export --verify is made of it)",
        "print": "(standard output)",
        "print_user": "(standard output)",
        "default_dtype": "(of calque.onnx: a file does not say what PyTorch was set to)",
        "symbolics_name": "export --symbolics",
    },
    "CQ_EXPORT": {
        "NO_PARAMS": "export --no-params",
        "NO_CONSTANT_FOLDING": "export --no-constant-folding",
        "KEEP_INITIALIZERS_AS_INPUTS": "export --keep-initializers-as-inputs",
        "NO_INITIALIZERS_AS_INPUTS": "export --no-initializers-as-inputs",
        "VERBOSE": "export --verbose",
        "EXTERNAL_DATA": "export --external-data",
        "ALL_MODULES_AS_FUNCTIONS": "export --modules-as-functions",
        "NO_AUTOGRAD_INLINING": "(of functions in C, which a file has none of)",
        "DROP_UNUSED_INPUTS": "export --drop-unused-inputs",
        "DROP_UNREAD_INPUTS": "(of calque.onnx, whose programs feed what PyTorch's files take)",
        "PRINT_CAPTURED": "(print does that)",
        "STATIC": "export --static",
        "KEEP_MUTATIONS": "export --keep-mutations",
        "KEEP_ASSERTS": "export --keep-asserts",
        "STATE": "export --state",
        "COMPLEX_AS_PAIRS": "export --complex-as-pairs",
        "OPTIONAL_INPUTS": "export --optional-inputs",
        "ORIGINS": "(view shows them)",
        "QUANTIZED_PARTS": "(of calque.onnx, whose programs expect the results of PyTorch's files)",
        "LISTS_AS_SEQUENCES": "(of calque.onnx, whose programs feed what PyTorch's files take)",
    },
    "cq_run_options": {
        "training": "testcase --training",
        "marks": "testcase --as-output",
        "gradients": "testcase --grad",
        "state": "(testcase --state feeds it back)",
    },
    "CQ_RUN": {
        "RESTORE": "(a verb runs a model once, or from the state in the file)",
        "STATE": "testcase --state",
        "KEEP_MUTATIONS": "export --keep-mutations --verify",
        "KEEP_ASSERTS": "export --keep-asserts --verify",
    },
    "cq_testcase_options": {
        "threshold": "testcase --large-tensor-threshold",
        "user_meta": "testcase --user-meta",
        "export_options": "testcase --opset",
        "torch_script": "testcase --export-torch-script",
        "torch_trace": "testcase --export-torch-trace",
        "output_gradients": "testcase --grad-input",
    },
    "CQ_TESTCASE": {
        "NO_METADATA": "testcase --no-metadata",
        "KEEP_MODEL": "testcase --keep-model",
        "STRIP": "testcase --strip-large-tensor-data",
        "NO_TRACE": "testcase --no-trace",
        "GRADIENTS": "testcase --grad",
        "TRACE": "testcase --export-chrome-tracing",
    },
    "cq_strip_options": {
        "threshold": "strip --large-tensor-threshold",
    },
    "CQ_STRIP": {
        "RUNNABLE": "strip --runnable",
    },
    "cq_onnx_save_options": {
        "threshold": "export --external-data-threshold",
        "data_path": "(the line after an export names it)",
        "data_path_size": "(the line after an export names it)",
        "data_name": "convert --external-data",
        "split_size": "convert --split-size",
    },
    "cq_sandbox_options": {
        "files": "(outputs of the command)",
        "folders": "(outputs of the command)",
    },
    "CQ_ONNX_SAVE": {
        "EXTERNAL": "export --external-data",
        "AS_IS": "export --strip-large-tensor-data",
        "SHARE_DATA": "convert --share-data",
        "SHARE_BESIDE": "cut --copy-data",
    },
    "CQ_ONNX_INFER": {
        "STRICT": "infer --strict",
        "KNOWN_ONLY": "infer --strict",
        "CHECK_TYPES": "check --full",
        "KEEP_MODEL": "(for callers that only check shapes)",
    },
    "cq_session_options": {
        "device": "(there is only the CPU)",
        "threads": "run --threads",
        "fetch": "run --dump",
        "max_memory": "run --max-memory",
        "max_steps": "run --max-steps",
        "hook": "run --profile",
        "hook_user": "run --profile",
    },
    "CQ_SESSION": {
        "TRAP_NAN": "run --trap-nan",
        "NO_FOLDING": "run --no-constant-folding",
    },
    "cq_cut_options": {
        "inputs": "cut --inputs",
        "outputs": "cut --outputs",
        "module": "cut --module",
    },
    "cq_join_options": {
        "connections": "join --connect",
    },
    "CQ_STEP": {
        "BEFORE": "join --before",
        "AFTER": "join --after",
        "CONNECTIONS": "(how many values a step connects to)",
    },
    "cq_view_options": {
        "title": "(the name of the file)",
        "profile": "view --profile",
        "report": "view --report",
        "other": "view --diff",
        "other_title": "(the name of the file)",
        "trace": "profile --html",
        "inputs": "profile --input",
    },
    "cq_proof_options": {
        "rtol": "(each verb that changes a model has its own)",
        "atol": "(each verb that changes a model has its own)",
        "example": "optimize --example",
        "seed": "(random inputs of a command are always the same)",
        "max_weights": "optimize --verify",
        "what": "(the name of the verb)",
    },
    "CQ_PROOF": {
        "LOSSY": "(the verbs that round weights)",
        "FORCE": "optimize --verify",
    },
    "cq_precision_options": {
        "keep": "convert --keep",
    },
    "CQ_PRECISION": {
        "NO_RUN": "convert --no-verify",
        "IO": "convert --io",
    },
    "cq_optimize_options": {
        "only": "optimize --only",
        "skip": "optimize --skip",
    },
    "CQ_OPTIMIZE": {
        "INLINE": "optimize --inline",
        "FOR_ONNXRUNTIME": "optimize --for",
        "DROP_UNREAD_INPUTS": "optimize --drop-unread-inputs",
    },
    "cq_quantize_options": {
        "mode": "quantize --mode",
        "target": "quantize --for",
        "bits": "quantize --bits",
        "block": "quantize --block",
        "least": "(small weights are not worth their scales)",
        "max_error": "quantize --max-error",
        "method": "quantize --method",
        "percentile": "quantize --percentile",
        "calibration": "quantize --calibrate",
        "input_low": "quantize --input-range",
        "input_high": "quantize --input-range",
    },
    "CQ_QUANTIZE": {
        "WEIGHTS": "quantize --mode",
        "DYNAMIC": "quantize --mode",
        "STATIC": "quantize --mode",
        "STANDARD": "quantize --for",
        "ONNXRUNTIME": "quantize --for",
        "ASYMMETRIC": "quantize --asymmetric",
    },
    "CQ_CALIBRATION": {
        "MIN_MAX": "quantize --method",
        "PERCENTILE": "quantize --method",
        "ENTROPY": "quantize --method",
    },
    "CQ_SCRIPT": {
        "TRACE": "export --trace",
    },
}

IGNORED = {"struct_size", "flags"}  # what flags there are is in the enums
COMMENT = re.compile(r"/\*.*?\*/", re.S)


def headers():
    return "".join(COMMENT.sub("", path.read_text())
                   for path in sorted((ROOT / "include/calque").glob("*.h")))


def fields(text):
    """Of every struct that tells its size: its name, and its fields but for counts of others."""
    for match in re.finditer(r"typedef struct \w+ \{\s*size_t\s+struct_size;(.*?)\n\} (\w+);", text,
                             re.S):
        found = re.findall(r"(\w+)\s*;", "struct_size;" + match[1])
        yield match[2], {name for name in found if not name.startswith("n_")} - IGNORED


def flags(text):
    """The names that enums of flags begin with, and what follows."""
    for match in re.finditer(r"\benum(?: \w+)? \{(.*?)\}", text, re.S):
        for name in re.findall(r"\b(CQ_\w+)\s*=", match[1]):
            for prefix in OPTIONS:
                if prefix.isupper() and name.startswith(prefix + "_"):
                    yield prefix, name[len(prefix) + 1:]


def check_prefixes(text):
    for name in re.findall(r"\b(CQ_\w+)\s*=\s*1 <<", text):
        known = [p for p in OPTIONS if p.isupper() and name.startswith(p + "_")]
        assert known or name.startswith("CQ_ANNOTATE_"), f"{name} has no table here"


def check_options(known, found):
    assert found <= set(known), f"no option and no reason for {sorted(found - set(known))}"
    assert set(known) <= found, f"there is no {sorted(set(known) - found)}"
    for where in known.values():
        if where.startswith("("):
            continue
        verb, *options = where.split()
        code, page, _ = calque(verb, "--help")
        assert code == 0, f"unknown verb {verb}"
        for option in options:
            assert re.search(rf"^  (-., )?{option}\b", page, re.M), f"{verb} has no {option}"


# what a program in C is made of has sizes too, but is not a choice of a command
CODE_ONLY = re.compile(r"cq_(class|function|module_mark|\w+_spec)")


def main():
    report, text = Report(__file__), headers()
    structs = {name: found for name, found in fields(text) if not CODE_ONLY.fullmatch(name)}
    by_prefix = {}
    for prefix, name in flags(text):
        by_prefix.setdefault(prefix, set()).add(name)
    with report.case("every flag has a table"):
        check_prefixes(text)
    for name in sorted(set(structs) | set(by_prefix) | set(OPTIONS)):
        with report.case(f"options of the command line for {name}"):
            assert name in OPTIONS, "it has no table here"
            check_options(OPTIONS[name], structs.get(name) or by_prefix.get(name) or set())
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
