"""pytorch_pfn_extras.onnx: exports, test cases, and marks on the nodes of a model."""
from ._annotate import anchor, annotate, apply_annotation, as_output, no_grad, scoped_anchor
from ._testcase import LARGE_TENSOR_DATA_THRESHOLD, export, export_testcase
