"""Declarations of the public headers, for ctypes. Written by tools/python_abi.py."""
from __future__ import annotations

from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_bool,
    c_char,
    c_char_p,
    c_double,
    c_int,
    c_int32,
    c_int64,
    c_size_t,
    c_uint32,
    c_uint64,
    c_void_p,
)
from typing import Any

CQ_ANNOTATE_ALL = 2
CQ_ANNOTATE_OPERATORS = 1
CQ_ANNOTATIONS_ATTRIBUTE = 0
CQ_ANNOTATIONS_METADATA = 1
CQ_CALIBRATION_ENTROPY = 2
CQ_CALIBRATION_MIN_MAX = 0
CQ_CALIBRATION_PERCENTILE = 1
CQ_DTYPE_BF16 = 8
CQ_DTYPE_BOOL = 1
CQ_DTYPE_C128 = 12
CQ_DTYPE_C32 = 26
CQ_DTYPE_C64 = 11
CQ_DTYPE_COUNT = 27
CQ_DTYPE_F16 = 7
CQ_DTYPE_F32 = 9
CQ_DTYPE_F4E2M1 = 22
CQ_DTYPE_F64 = 10
CQ_DTYPE_F8E4M3FN = 16
CQ_DTYPE_F8E4M3FNUZ = 17
CQ_DTYPE_F8E5M2 = 18
CQ_DTYPE_F8E5M2FNUZ = 19
CQ_DTYPE_F8E8M0 = 23
CQ_DTYPE_I16 = 4
CQ_DTYPE_I2 = 25
CQ_DTYPE_I32 = 5
CQ_DTYPE_I4 = 21
CQ_DTYPE_I64 = 6
CQ_DTYPE_I8 = 3
CQ_DTYPE_NONE = 0
CQ_DTYPE_U16 = 13
CQ_DTYPE_U2 = 24
CQ_DTYPE_U32 = 14
CQ_DTYPE_U4 = 20
CQ_DTYPE_U64 = 15
CQ_DTYPE_U8 = 2
CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS = 64
CQ_EXPORT_COMPLEX_AS_PAIRS = 65536
CQ_EXPORT_DROP_UNREAD_INPUTS = 8192
CQ_EXPORT_DROP_UNUSED_INPUTS = 256
CQ_EXPORT_EXTERNAL_DATA = 32
CQ_EXPORT_KEEP_ASSERTS = 4096
CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS = 4
CQ_EXPORT_KEEP_MUTATIONS = 2048
CQ_EXPORT_LISTS_AS_SEQUENCES = 262144
CQ_EXPORT_NO_AUTOGRAD_INLINING = 128
CQ_EXPORT_NO_CONSTANT_FOLDING = 2
CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS = 8
CQ_EXPORT_NO_PARAMS = 1
CQ_EXPORT_OPTIONAL_INPUTS = 524288
CQ_EXPORT_ORIGINS = 1048576
CQ_EXPORT_PRINT_CAPTURED = 512
CQ_EXPORT_QUANTIZED_PARTS = 131072
CQ_EXPORT_STATE = 16384
CQ_EXPORT_STATIC = 1024
CQ_EXPORT_VERBOSE = 16
CQ_E_ARGUMENT = 2
CQ_E_CANCELLED = 11
CQ_E_FORMAT = 4
CQ_E_INTERNAL = 10
CQ_E_INVALID = 8
CQ_E_IO = 3
CQ_E_NOT_FOUND = 9
CQ_E_NO_MEMORY = 1
CQ_E_SYNTAX = 5
CQ_E_TYPE = 6
CQ_E_UNSUPPORTED = 7
CQ_FUNCTION_MAX_TENSORS = 8
CQ_INFO_BYTES = 2
CQ_INFO_COUNT = 1
CQ_INFO_NONE = 3
CQ_INFO_TEXT = 0
CQ_MARK_ANCHOR = 1
CQ_MARK_ANNOTATE = 0
CQ_MARK_OUTPUT = 2
CQ_MAX_RANK = 64
CQ_NEST_DICT = 3
CQ_NEST_LIST = 2
CQ_NEST_TENSOR = 0
CQ_NEST_TUPLE = 1
CQ_OK = 0
CQ_ONNX_ATTR_COUNT = 15
CQ_ONNX_ATTR_FLOAT = 1
CQ_ONNX_ATTR_FLOATS = 6
CQ_ONNX_ATTR_GRAPH = 5
CQ_ONNX_ATTR_GRAPHS = 10
CQ_ONNX_ATTR_INT = 2
CQ_ONNX_ATTR_INTS = 7
CQ_ONNX_ATTR_SPARSE_TENSOR = 11
CQ_ONNX_ATTR_SPARSE_TENSORS = 12
CQ_ONNX_ATTR_STRING = 3
CQ_ONNX_ATTR_STRINGS = 8
CQ_ONNX_ATTR_TENSOR = 4
CQ_ONNX_ATTR_TENSORS = 9
CQ_ONNX_ATTR_TYPE_PROTO = 13
CQ_ONNX_ATTR_TYPE_PROTOS = 14
CQ_ONNX_ATTR_UNDEFINED = 0
CQ_ONNX_FORM_BINARY = 0
CQ_ONNX_FORM_PROTO = 2
CQ_ONNX_FORM_TEXT = 1
CQ_ONNX_INFER_CHECK_TYPES = 2
CQ_ONNX_INFER_KEEP_MODEL = 4
CQ_ONNX_INFER_KNOWN_ONLY = 8
CQ_ONNX_INFER_STRICT = 1
CQ_ONNX_INNER = 2
CQ_ONNX_INPUTS = 0
CQ_ONNX_OUTPUTS = 1
CQ_ONNX_SAVE_AS_IS = 2
CQ_ONNX_SAVE_EXTERNAL = 1
CQ_ONNX_SAVE_SHARE_BESIDE = 8
CQ_ONNX_SAVE_SHARE_DATA = 4
CQ_ONNX_VALUE_MAP = 4
CQ_ONNX_VALUE_NONE = 0
CQ_ONNX_VALUE_SEQUENCE = 3
CQ_ONNX_VALUE_STRINGS = 2
CQ_ONNX_VALUE_TENSOR = 1
CQ_OPERATORS_ATEN_FALLBACK = 2
CQ_OPERATORS_ONNX = 0
CQ_OPERATORS_ONNX_ATEN = 1
CQ_OPERATORS_ONNX_FALLTHROUGH = 3
CQ_OPSET_DEFAULT = 17
CQ_OPSET_NEWEST = 28
CQ_OPSET_OLDEST = 7
CQ_OPTIMIZE_DROP_UNREAD_INPUTS = 4
CQ_OPTIMIZE_FOR_ONNXRUNTIME = 2
CQ_OPTIMIZE_INLINE = 1
CQ_PATH_FILE = 1
CQ_PATH_FOLDER = 2
CQ_PATH_MISSING = 0
CQ_PATH_OTHER = 3
CQ_PRECISION_IO = 2
CQ_PRECISION_NO_RUN = 1
CQ_PROOF_FORCE = 2
CQ_PROOF_LOSSY = 1
CQ_PT2_OPSET_DEFAULT = 18
CQ_QUANTIZE_ASYMMETRIC = 1
CQ_QUANTIZE_DYNAMIC = 1
CQ_QUANTIZE_ONNXRUNTIME = 1
CQ_QUANTIZE_STANDARD = 0
CQ_QUANTIZE_STATIC = 2
CQ_QUANTIZE_WEIGHTS = 0
CQ_REPORT_BAKED = 2
CQ_REPORT_MISSING = 1
CQ_REPORT_MODULES = 3
CQ_REPORT_OPERATORS = 0
CQ_RUN_KEEP_ASSERTS = 8
CQ_RUN_KEEP_MUTATIONS = 4
CQ_RUN_RESTORE = 1
CQ_RUN_STATE = 2
CQ_SCRIPT_TRACE = 1
CQ_SESSION_NO_FOLDING = 2
CQ_SESSION_TRAP_NAN = 1
CQ_STEP_AFTER = 1
CQ_STEP_BEFORE = 0
CQ_STEP_CONNECTIONS = 2
CQ_STRIP_RUNNABLE = 1
CQ_STRIP_THRESHOLD = 100
CQ_SYM_ARG_BOOL = 4
CQ_SYM_ARG_BOOLS = 9
CQ_SYM_ARG_FLOAT = 3
CQ_SYM_ARG_FLOATS = 8
CQ_SYM_ARG_INT = 2
CQ_SYM_ARG_INTS = 7
CQ_SYM_ARG_NONE = 0
CQ_SYM_ARG_OTHER = 10
CQ_SYM_ARG_STRING = 5
CQ_SYM_ARG_TENSOR = 1
CQ_SYM_ARG_TENSORS = 6
CQ_SYM_ATTR_FLOAT = 1
CQ_SYM_ATTR_FLOATS = 5
CQ_SYM_ATTR_INT = 0
CQ_SYM_ATTR_INTS = 4
CQ_SYM_ATTR_STRING = 2
CQ_SYM_ATTR_STRINGS = 6
CQ_SYM_ATTR_TENSOR = 3
CQ_SYM_ATTR_TENSORS = 7
CQ_TESTCASE_GRADIENTS = 16
CQ_TESTCASE_KEEP_MODEL = 2
CQ_TESTCASE_MAX_OUTPUTS = 512
CQ_TESTCASE_NO_METADATA = 1
CQ_TESTCASE_NO_TRACE = 8
CQ_TESTCASE_STRIP = 4
CQ_TESTCASE_TRACE = 32
CQ_TIME_MODULES = 1
CQ_TIME_NODES = 2
CQ_TIME_OPERATORS = 0
CQ_TRAINING_EVAL = 0
CQ_TRAINING_PRESERVE = 2
CQ_TRAINING_TRAIN = 1
CQ_VERDICT_HOSTILE = 2
CQ_VERDICT_SAFE = 0
CQ_VERDICT_UNKNOWN = 1
CQ_VERSION = 1000
CQ_VERSION_MAJOR = 0
CQ_VERSION_MINOR = 1
CQ_VERSION_PATCH = 0
CQ_VIEW_HTML = 0
CQ_VIEW_JSON = 1
CQ_VIEW_SVG = 2
CQ_WEIGHTS_NOT_STRICT = 1


class cq_error(Structure):
    pass


class cq_int(Structure):
    pass


class cq_conv1d_options(Structure):
    pass


class cq_conv2d_options(Structure):
    pass


class cq_conv3d_options(Structure):
    pass


class cq_pool1d(Structure):
    pass


class cq_pool2d(Structure):
    pass


class cq_pool3d(Structure):
    pass


class cq_sym_attr(Structure):
    pass


class cq_module_mark(Structure):
    pass


class cq_audit_finding(Structure):
    pass


class cq_onnx_save_options(Structure):
    pass


class cq_onnx_finding(Structure):
    pass


class cq_proof_options(Structure):
    pass


class cq_proof(Structure):
    pass


class cq_optimize_options(Structure):
    pass


class cq_pass_result(Structure):
    pass


class cq_optimize_report(Structure):
    pass


class cq_precision_options(Structure):
    pass


class cq_nest(Structure):
    pass


class cq_class(Structure):
    pass


class cq_state_entry(Structure):
    pass


class cq_dynamic_axis(Structure):
    pass


class cq_custom_opset(Structure):
    pass


class cq_report_entry(Structure):
    pass


class cq_export_options(Structure):
    pass


class cq_run_options(Structure):
    pass


class cq_function(Structure):
    pass


class cq_conv_spec(Structure):
    pass


class cq_rnn_spec(Structure):
    pass


class cq_cut_options(Structure):
    pass


class cq_connection(Structure):
    pass


class cq_join_options(Structure):
    pass


class cq_step(Structure):
    pass


class cq_op_info(Structure):
    pass


class cq_quantize_options(Structure):
    pass


class cq_quantized_layer(Structure):
    pass


class cq_sandbox_options(Structure):
    pass


class cq_session_options(Structure):
    pass


class cq_strip_options(Structure):
    pass


class cq_testcase_options(Structure):
    pass


class cq_testcase_source(Structure):
    pass


class cq_view_options(Structure):
    pass


class cq_time_row(Structure):
    pass


class cq_zoo_input(Structure):
    pass


class cq_zoo_model(Structure):
    pass


cq_warning_handler: Any = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p)
cq_progress_handler: Any = CFUNCTYPE(None, c_void_p, c_char_p, c_uint64, c_uint64)
cq_cancel_handler: Any = CFUNCTYPE(c_bool, c_void_p)
cq_symbolic_fn: Any = CFUNCTYPE(c_int, c_void_p, c_void_p)
cq_annotated_fn: Any = CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t)
cq_text_writer: Any = CFUNCTYPE(c_bool, c_void_p, c_void_p, c_size_t)
cq_export_value_hook: Any = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_char_p, c_void_p)
cq_export_print_hook: Any = CFUNCTYPE(None, c_void_p, c_char_p)
cq_input_name_fn: Any = CFUNCTYPE(None, c_void_p, c_char_p)
cq_quantize_hook: Any = CFUNCTYPE(None, c_void_p, POINTER(cq_quantized_layer))
cq_session_hook: Any = CFUNCTYPE(None, c_void_p, c_char_p, c_char_p, c_int64, c_int64)

cq_error._fields_ = [
    ("status", c_int),
    ("message", c_char_p),
    ("where", c_char_p),
    ("hint", c_char_p),
    ("excerpt", c_char_p),
]

cq_int._fields_ = [
    ("value", c_int64),
    ("expr", c_void_p),
]

cq_conv1d_options._fields_ = [
    ("stride", c_int64 * 1),
    ("padding", c_int64 * 1),
    ("dilation", c_int64 * 1),
    ("groups", c_int64),
    ("output_padding", c_int64 * 1),
]

cq_conv2d_options._fields_ = [
    ("stride", c_int64 * 2),
    ("padding", c_int64 * 2),
    ("dilation", c_int64 * 2),
    ("groups", c_int64),
    ("output_padding", c_int64 * 2),
]

cq_conv3d_options._fields_ = [
    ("stride", c_int64 * 3),
    ("padding", c_int64 * 3),
    ("dilation", c_int64 * 3),
    ("groups", c_int64),
    ("output_padding", c_int64 * 3),
]

cq_pool1d._fields_ = [
    ("kernel", c_int64 * 1),
    ("stride", c_int64 * 1),
    ("padding", c_int64 * 1),
    ("dilation", c_int64 * 1),
    ("ceil_mode", c_bool),
    ("exclude_pad", c_bool),
]

cq_pool2d._fields_ = [
    ("kernel", c_int64 * 2),
    ("stride", c_int64 * 2),
    ("padding", c_int64 * 2),
    ("dilation", c_int64 * 2),
    ("ceil_mode", c_bool),
    ("exclude_pad", c_bool),
]

cq_pool3d._fields_ = [
    ("kernel", c_int64 * 3),
    ("stride", c_int64 * 3),
    ("padding", c_int64 * 3),
    ("dilation", c_int64 * 3),
    ("ceil_mode", c_bool),
    ("exclude_pad", c_bool),
]

cq_sym_attr._fields_ = [
    ("name", c_char_p),
    ("kind", c_int),
    ("i", c_int64),
    ("f", c_double),
    ("s", c_char_p),
    ("t", c_void_p),
    ("n", c_size_t),
    ("ints", POINTER(c_int64)),
    ("floats", POINTER(c_double)),
    ("strings", POINTER(c_char_p)),
    ("tensors", POINTER(c_void_p)),
]

cq_module_mark._fields_ = [
    ("struct_size", c_size_t),
    ("kind", c_int),
    ("path", c_char_p),
    ("flags", c_uint32),
    ("attrs", POINTER(cq_sym_attr)),
    ("n_attrs", c_size_t),
    ("name", c_char_p),
    ("index", c_size_t),
]

cq_audit_finding._fields_ = [
    ("verdict", c_int),
    ("code", c_char_p),
    ("where", c_char_p),
    ("what", c_char_p),
]

cq_onnx_save_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("threshold", c_uint64),
    ("data_path", c_char_p),
    ("data_path_size", c_size_t),
    ("data_name", c_char_p),
    ("split_size", c_uint64),
]

cq_onnx_finding._fields_ = [
    ("code", c_char_p),
    ("where", c_char_p),
    ("what", c_char_p),
    ("hint", c_char_p),
    ("is_warning", c_bool),
]

cq_proof_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("rtol", c_double),
    ("atol", c_double),
    ("example", c_char_p),
    ("seed", c_uint64),
    ("max_weights", c_uint64),
    ("what", c_char_p),
]

cq_proof._fields_ = [
    ("n_runs", c_size_t),
    ("n_outputs", c_size_t),
    ("largest", c_double),
    ("skipped", c_char * 512),
    ("sizes", c_char * 256),
]

cq_optimize_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("only", POINTER(c_char_p)),
    ("n_only", c_size_t),
    ("skip", POINTER(c_char_p)),
    ("n_skip", c_size_t),
]

cq_pass_result._fields_ = [
    ("name", c_char_p),
    ("removed", c_int64),
]

cq_optimize_report._fields_ = [
    ("n_passes", c_size_t),
    ("passes", cq_pass_result * 32),
    ("n_before", c_size_t),
    ("n_after", c_size_t),
]

cq_precision_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("keep", POINTER(c_char_p)),
    ("n_keep", c_size_t),
]

cq_nest._fields_ = [
    ("kind", c_int),
    ("tensor", c_void_p),
    ("n", c_size_t),
    ("items", POINTER(cq_nest)),
    ("keys", POINTER(c_char_p)),
]

cq_class._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("self_size", c_size_t),
    ("forward", CFUNCTYPE(c_void_p, c_void_p, c_void_p, c_void_p)),
    ("forward_n", CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t)),
    ("destroy", CFUNCTYPE(None, c_void_p)),
    ("n_out", c_size_t),
    ("forward_nested", CFUNCTYPE(cq_nest, c_void_p, c_void_p, POINTER(cq_nest))),
]

cq_state_entry._fields_ = [
    ("name", c_char_p),
    ("tensor", c_void_p),
    ("is_buffer", c_bool),
]

cq_dynamic_axis._fields_ = [
    ("value", c_char_p),
    ("axis", c_int32),
    ("name", c_char_p),
]

cq_custom_opset._fields_ = [
    ("domain", c_char_p),
    ("version", c_int64),
]

cq_report_entry._fields_ = [
    ("name", c_char_p),
    ("where", c_char_p),
    ("count", c_int64),
    ("reason", c_char_p),
    ("opset", c_int32),
    ("value", c_int64),
    ("class_name", c_char_p),
    ("result", c_char_p),
    ("flops", c_int64),
]

cq_export_options._fields_ = [
    ("struct_size", c_size_t),
    ("opset", c_int32),
    ("flags", c_uint32),
    ("training", c_int),
    ("operators", c_int),
    ("input_names", POINTER(c_char_p)),
    ("n_input_names", c_size_t),
    ("output_names", POINTER(c_char_p)),
    ("n_output_names", c_size_t),
    ("dynamic_axes", POINTER(cq_dynamic_axis)),
    ("n_dynamic_axes", c_size_t),
    ("custom_opsets", POINTER(cq_custom_opset)),
    ("n_custom_opsets", c_size_t),
    ("function_classes", POINTER(c_char_p)),
    ("n_function_classes", c_size_t),
    ("symbolics", c_char_p),
    ("producer", c_char_p),
    ("graph_name", c_char_p),
    ("report", c_void_p),
    ("outputs", POINTER(c_void_p)),
    ("n_outputs", c_size_t),
    ("annotations", c_int),
    ("marks", POINTER(cq_module_mark)),
    ("n_marks", c_size_t),
    ("each_value", cq_export_value_hook),
    ("each_value_user", c_void_p),
    ("print", cq_export_print_hook),
    ("print_user", c_void_p),
    ("default_dtype", c_int),
    ("symbolics_name", c_char_p),
]

cq_run_options._fields_ = [
    ("struct_size", c_size_t),
    ("training", c_int),
    ("marks", POINTER(cq_module_mark)),
    ("n_marks", c_size_t),
    ("gradients", c_void_p),
    ("flags", c_uint32),
    ("state", POINTER(c_void_p)),
    ("n_state", c_size_t),
]

cq_function._fields_ = [
    ("struct_size", c_size_t),
    ("name", c_char_p),
    ("n_in", c_size_t),
    ("n_out", c_size_t),
    ("forward", CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_void_p))),
    ("backward", CFUNCTYPE(None, c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p), POINTER(c_void_p))),
    ("symbolic", cq_symbolic_fn),
    ("user", c_void_p),
]

cq_conv_spec._fields_ = [
    ("struct_size", c_size_t),
    ("in", c_int64),
    ("out", c_int64),
    ("kernel", c_int64 * 3),
    ("stride", c_int64 * 3),
    ("padding", c_int64 * 3),
    ("dilation", c_int64 * 3),
    ("output_padding", c_int64 * 3),
    ("groups", c_int64),
    ("no_bias", c_bool),
]

cq_rnn_spec._fields_ = [
    ("struct_size", c_size_t),
    ("input", c_int64),
    ("hidden", c_int64),
    ("layers", c_int64),
    ("projection", c_int64),
    ("bidirectional", c_bool),
    ("batch_first", c_bool),
    ("no_bias", c_bool),
    ("relu", c_bool),
    ("dropout", c_double),
]

cq_cut_options._fields_ = [
    ("struct_size", c_size_t),
    ("inputs", POINTER(c_char_p)),
    ("n_inputs", c_size_t),
    ("outputs", POINTER(c_char_p)),
    ("n_outputs", c_size_t),
    ("module", c_char_p),
]

cq_connection._fields_ = [
    ("output", c_char_p),
    ("input", c_char_p),
]

cq_join_options._fields_ = [
    ("struct_size", c_size_t),
    ("connections", POINTER(cq_connection)),
    ("n_connections", c_size_t),
]

cq_step._fields_ = [
    ("model", c_void_p),
    ("connections", cq_connection * 2),
    ("n_connections", c_size_t),
]

cq_op_info._fields_ = [
    ("schema", c_char_p),
    ("about", c_char_p),
    ("first_opset", c_int32),
    ("composed", c_bool),
    ("obstacle", c_char_p),
    ("has_gradient", c_bool),
]

cq_quantize_options._fields_ = [
    ("struct_size", c_size_t),
    ("mode", c_int),
    ("target", c_int),
    ("bits", c_int32),
    ("block", c_int64),
    ("least", c_int64),
    ("max_error", c_double),
    ("method", c_int),
    ("percentile", c_double),
    ("calibration", c_char_p),
    ("input_low", c_double),
    ("input_high", c_double),
    ("n_random", c_int64),
    ("flags", c_uint32),
]

cq_quantized_layer._fields_ = [
    ("name", c_char_p),
    ("op_type", c_char_p),
    ("weight", c_char_p),
    ("numel", c_int64),
    ("weight_error", c_double),
    ("error", c_double),
    ("is_kept", c_bool),
]

cq_sandbox_options._fields_ = [
    ("struct_size", c_size_t),
    ("files", POINTER(c_char_p)),
    ("n_files", c_size_t),
    ("folders", POINTER(c_char_p)),
    ("n_folders", c_size_t),
]

cq_session_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("device", c_char_p),
    ("fetch", POINTER(c_char_p)),
    ("n_fetch", c_size_t),
    ("max_memory", c_uint64),
    ("max_steps", c_uint64),
    ("hook", cq_session_hook),
    ("hook_user", c_void_p),
    ("threads", c_int32),
]

cq_strip_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("threshold", c_int64),
]

cq_testcase_options._fields_ = [
    ("struct_size", c_size_t),
    ("flags", c_uint32),
    ("threshold", c_int64),
    ("user_meta", c_char_p),
    ("export_options", POINTER(cq_export_options)),
    ("torch_script", c_char_p),
    ("torch_trace", c_char_p),
    ("output_gradients", POINTER(c_void_p)),
    ("n_output_gradients", c_size_t),
]

cq_testcase_source._fields_ = [
    ("user", c_void_p),
    ("export_to", CFUNCTYPE(c_int, POINTER(c_void_p), c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_export_options))),
    ("run", CFUNCTYPE(c_int, c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_run_options), POINTER(c_void_p), POINTER(c_size_t))),
]

cq_view_options._fields_ = [
    ("struct_size", c_size_t),
    ("title", c_char_p),
    ("profile", c_char_p),
    ("report", c_char_p),
    ("other", c_void_p),
    ("other_title", c_char_p),
    ("trace", c_void_p),
    ("n_runs", c_size_t),
    ("inputs", POINTER(c_void_p)),
    ("n_inputs", c_size_t),
]

cq_time_row._fields_ = [
    ("name", c_char_p),
    ("count", c_int64),
    ("seconds", c_double),
    ("flops", c_double),
    ("depth", c_int64),
]

cq_zoo_input._fields_ = [
    ("name", c_char_p),
    ("dtype", c_int),
    ("rank", c_size_t),
    ("sizes", c_int64 * 6),
    ("below", c_int64),
    ("batch_axis", c_int),
]

cq_zoo_model._fields_ = [
    ("name", c_char_p),
    ("about", c_char_p),
    ("make", CFUNCTYPE(c_void_p)),
    ("n_inputs", c_size_t),
    ("n_outputs", c_size_t),
    ("inputs", cq_zoo_input * 3),
    ("output_names", c_char_p * 3),
    ("output_batch_axes", c_int * 3),
]

# name: (result, arguments)
FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {
    "cq_abs": (c_void_p, [c_void_p, c_void_p]),
    "cq_acos": (c_void_p, [c_void_p, c_void_p]),
    "cq_adaptive_avg_pool": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64)]),
    "cq_adaptive_avg_pool_new": (c_void_p, [c_size_t, POINTER(c_int64)]),
    "cq_adaptive_max_pool": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64)]),
    "cq_adaptive_max_pool_new": (c_void_p, [c_size_t, POINTER(c_int64)]),
    "cq_add": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_add_": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_add_alpha": (c_void_p, [c_void_p, c_void_p, c_void_p, c_double]),
    "cq_add_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_addmm": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, c_double, c_double]),
    "cq_anchor": (c_void_p, [c_void_p, c_void_p, POINTER(cq_sym_attr), c_size_t]),
    "cq_annotate_begin": (None, [c_void_p, c_uint32, POINTER(cq_sym_attr), c_size_t]),
    "cq_annotate_end": (None, [c_void_p]),
    "cq_apply": (None, [c_void_p, POINTER(cq_function), POINTER(c_void_p), POINTER(c_void_p)]),
    "cq_apply_annotation": (None, [c_void_p, cq_annotated_fn, c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t, c_uint32, POINTER(cq_sym_attr), c_size_t]),
    "cq_arange": (c_void_p, [c_void_p, cq_int, cq_int, c_int64]),
    "cq_arange_f": (c_void_p, [c_void_p, c_int, c_double, c_double, c_double]),
    "cq_argmax": (c_void_p, [c_void_p, c_void_p, c_int, c_bool]),
    "cq_argmin": (c_void_p, [c_void_p, c_void_p, c_int, c_bool]),
    "cq_args_add_f64": (c_int, [c_void_p, c_double]),
    "cq_args_add_i64": (c_int, [c_void_p, c_int64]),
    "cq_args_add_tensor": (c_int, [c_void_p, c_void_p]),
    "cq_args_each_name": (c_int, [c_void_p, POINTER(c_char_p), c_size_t, cq_input_name_fn, c_void_p]),
    "cq_args_free": (None, [c_void_p]),
    "cq_args_from_json": (c_int, [POINTER(c_void_p), c_char_p, POINTER(c_void_p), c_size_t]),
    "cq_args_inputs": (c_int, [c_void_p, POINTER(c_void_p), c_size_t]),
    "cq_args_n_inputs": (c_size_t, [c_void_p]),
    "cq_args_new": (c_int, [POINTER(c_void_p)]),
    "cq_args_set_constant": (c_int, [c_void_p, c_void_p, c_char_p, c_char_p, c_char_p]),
    "cq_as_output": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "cq_asin": (c_void_p, [c_void_p, c_void_p]),
    "cq_atan": (c_void_p, [c_void_p, c_void_p]),
    "cq_audit_at": (POINTER(cq_audit_finding), [c_void_p, c_size_t]),
    "cq_audit_count": (c_size_t, [c_void_p]),
    "cq_audit_file": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_audit_format": (c_char_p, [c_void_p]),
    "cq_audit_free": (None, [c_void_p]),
    "cq_audit_verdict": (c_int, [c_void_p]),
    "cq_avg_pool1d": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool1d)]),
    "cq_avg_pool1d_new": (c_void_p, [POINTER(cq_pool1d)]),
    "cq_avg_pool2d": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool2d)]),
    "cq_avg_pool2d_new": (c_void_p, [POINTER(cq_pool2d)]),
    "cq_avg_pool3d": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool3d)]),
    "cq_avg_pool3d_new": (c_void_p, [POINTER(cq_pool3d)]),
    "cq_batch_norm": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_void_p, c_bool, c_double, c_double]),
    "cq_batch_norm1d_new": (c_void_p, [c_int64]),
    "cq_batch_norm2d_new": (c_void_p, [c_int64]),
    "cq_batch_norm3d_new": (c_void_p, [c_int64]),
    "cq_batch_norm_new_with": (c_void_p, [c_int, c_int64, c_double, c_double, c_bool, c_bool]),
    "cq_bilinear_new": (c_void_p, [c_int64, c_int64, c_int64, c_bool]),
    "cq_bitwise_and": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_bitwise_not": (c_void_p, [c_void_p, c_void_p]),
    "cq_bitwise_or": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_bitwise_xor": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_bmm": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_buffer_free": (None, [c_void_p]),
    "cq_buffer_save": (c_int, [c_char_p, c_void_p, c_size_t]),
    "cq_call": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_call_n": (None, [c_void_p, c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t]),
    "cq_call_nested": (cq_nest, [c_void_p, c_void_p, POINTER(cq_nest)]),
    "cq_cat": (c_void_p, [c_void_p, c_size_t, POINTER(c_void_p), c_int]),
    "cq_ceil": (c_void_p, [c_void_p, c_void_p]),
    "cq_celu": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_celu_new": (c_void_p, [c_double]),
    "cq_chunk": (c_size_t, [c_void_p, c_void_p, c_int64, c_int, POINTER(c_void_p), c_size_t]),
    "cq_clamp": (c_void_p, [c_void_p, c_void_p, c_double, c_double]),
    "cq_clone": (c_void_p, [c_void_p, c_void_p]),
    "cq_constant_pad_new": (c_void_p, [c_size_t, POINTER(c_int64), c_double]),
    "cq_contiguous": (c_void_p, [c_void_p, c_void_p]),
    "cq_conv1d": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(cq_conv1d_options)]),
    "cq_conv1d_new": (c_void_p, [POINTER(cq_conv_spec)]),
    "cq_conv2d": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(cq_conv2d_options)]),
    "cq_conv2d_new": (c_void_p, [POINTER(cq_conv_spec)]),
    "cq_conv3d": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(cq_conv3d_options)]),
    "cq_conv3d_new": (c_void_p, [POINTER(cq_conv_spec)]),
    "cq_conv_transpose1d": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(cq_conv1d_options)]),
    "cq_conv_transpose1d_new": (c_void_p, [POINTER(cq_conv_spec)]),
    "cq_conv_transpose2d": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(cq_conv2d_options)]),
    "cq_conv_transpose2d_new": (c_void_p, [POINTER(cq_conv_spec)]),
    "cq_conv_transpose3d": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, POINTER(cq_conv3d_options)]),
    "cq_conv_transpose3d_new": (c_void_p, [POINTER(cq_conv_spec)]),
    "cq_copy_": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_cos": (c_void_p, [c_void_p, c_void_p]),
    "cq_ctx_free": (None, [c_void_p]),
    "cq_ctx_new": (c_int, [POINTER(c_void_p)]),
    "cq_ctx_seed": (None, [c_void_p, c_uint64]),
    "cq_ctx_status": (c_int, [c_void_p]),
    "cq_cumsum": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_cut_options_init": (None, [POINTER(cq_cut_options)]),
    "cq_detach": (c_void_p, [c_void_p, c_void_p]),
    "cq_discard_outputs": (None, []),
    "cq_div": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_div_mode": (c_void_p, [c_void_p, c_void_p, c_void_p, c_char_p]),
    "cq_div_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_dropout": (c_void_p, [c_void_p, c_void_p, c_double, c_bool]),
    "cq_dropout2d_new": (c_void_p, [c_double]),
    "cq_dropout_new": (c_void_p, [c_double]),
    "cq_dtype_from_name": (c_int, [c_char_p]),
    "cq_dtype_name": (c_char_p, [c_int]),
    "cq_dtype_size": (c_size_t, [c_int]),
    "cq_elu": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_elu_new": (c_void_p, [c_double]),
    "cq_embedding": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_embedding_new": (c_void_p, [c_int64, c_int64]),
    "cq_embedding_new_padded": (c_void_p, [c_int64, c_int64, c_int64]),
    "cq_eq": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_eq_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_erf": (c_void_p, [c_void_p, c_void_p]),
    "cq_exp": (c_void_p, [c_void_p, c_void_p]),
    "cq_expand": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(cq_int)]),
    "cq_export_options_init": (None, [POINTER(cq_export_options)]),
    "cq_export_report_at": (POINTER(cq_report_entry), [c_void_p, c_int, c_size_t]),
    "cq_export_report_count": (c_size_t, [c_void_p, c_int]),
    "cq_export_report_free": (None, [c_void_p]),
    "cq_export_report_new": (c_int, [POINTER(c_void_p)]),
    "cq_feature_dropout": (c_void_p, [c_void_p, c_void_p, c_double, c_bool]),
    "cq_fill_": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_flatten": (c_void_p, [c_void_p, c_void_p, c_int, c_int]),
    "cq_flatten_new": (c_void_p, [c_int, c_int]),
    "cq_floor": (c_void_p, [c_void_p, c_void_p]),
    "cq_full": (c_void_p, [c_void_p, c_int, c_size_t, POINTER(cq_int), c_double]),
    "cq_full_like": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_gather": (c_void_p, [c_void_p, c_void_p, c_int, c_void_p]),
    "cq_ge": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_ge_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_gelu": (c_void_p, [c_void_p, c_void_p, c_bool]),
    "cq_gelu_new": (c_void_p, [c_bool]),
    "cq_glu": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_glu_new": (c_void_p, [c_int]),
    "cq_gradients_add": (c_int, [c_void_p, c_char_p, c_void_p]),
    "cq_gradients_find": (c_void_p, [c_void_p, c_char_p]),
    "cq_gradients_free": (None, [c_void_p]),
    "cq_gradients_input": (c_void_p, [c_void_p, c_size_t]),
    "cq_gradients_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_gradients_new": (c_int, [POINTER(c_void_p), POINTER(c_void_p), c_size_t]),
    "cq_gradients_parameter": (c_void_p, [c_void_p, c_size_t]),
    "cq_gradients_seed": (c_void_p, [c_void_p, c_size_t]),
    "cq_group_norm": (c_void_p, [c_void_p, c_void_p, c_int64, c_void_p, c_void_p, c_double]),
    "cq_group_norm_new": (c_void_p, [c_int64, c_int64, c_double]),
    "cq_gru_new": (c_void_p, [POINTER(cq_rnn_spec)]),
    "cq_gt": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_gt_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_hardsigmoid": (c_void_p, [c_void_p, c_void_p]),
    "cq_hardsigmoid_new": (c_void_p, []),
    "cq_hardswish": (c_void_p, [c_void_p, c_void_p]),
    "cq_hardswish_new": (c_void_p, []),
    "cq_hardtanh": (c_void_p, [c_void_p, c_void_p, c_double, c_double]),
    "cq_hardtanh_new": (c_void_p, [c_double, c_double]),
    "cq_i": (cq_int, [c_int64]),
    "cq_identity_new": (c_void_p, []),
    "cq_index": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    "cq_index_put_": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_void_p), c_void_p, c_bool]),
    "cq_index_select": (c_void_p, [c_void_p, c_void_p, c_int, c_void_p]),
    "cq_info_add_report": (c_int, [c_void_p, c_void_p]),
    "cq_info_cell_kind": (c_int, [c_void_p, c_size_t, c_size_t, c_size_t]),
    "cq_info_cell_number": (c_int64, [c_void_p, c_size_t, c_size_t, c_size_t]),
    "cq_info_cell_text": (c_char_p, [c_void_p, c_size_t, c_size_t, c_size_t]),
    "cq_info_column_name": (c_char_p, [c_void_p, c_size_t, c_size_t]),
    "cq_info_free": (None, [c_void_p]),
    "cq_info_n_columns": (c_size_t, [c_void_p, c_size_t]),
    "cq_info_n_rows": (c_size_t, [c_void_p, c_size_t]),
    "cq_info_n_tables": (c_size_t, [c_void_p]),
    "cq_info_table_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_instance_norm": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p, c_double]),
    "cq_instance_norm1d_new": (c_void_p, [c_int64, c_bool]),
    "cq_instance_norm2d_new": (c_void_p, [c_int64, c_bool]),
    "cq_instance_norm3d_new": (c_void_p, [c_int64, c_bool]),
    "cq_instruction_set": (c_char_p, []),
    "cq_int_minus": (cq_int, [c_void_p, cq_int, cq_int]),
    "cq_int_over": (cq_int, [c_void_p, cq_int, cq_int]),
    "cq_int_plus": (cq_int, [c_void_p, cq_int, cq_int]),
    "cq_int_times": (cq_int, [c_void_p, cq_int, cq_int]),
    "cq_int_value": (c_int64, [c_void_p, cq_int]),
    "cq_interpolate": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), POINTER(c_double), c_char_p, c_bool]),
    "cq_is_in_onnx_export": (c_bool, [c_void_p]),
    "cq_is_training": (c_bool, [c_void_p]),
    "cq_is_weights_file": (c_bool, [c_char_p]),
    "cq_item": (c_double, [c_void_p, c_void_p]),
    "cq_item_i64": (c_int64, [c_void_p, c_void_p]),
    "cq_join_options_init": (None, [POINTER(cq_join_options)]),
    "cq_keep": (c_void_p, [c_void_p, c_void_p]),
    "cq_last_error": (POINTER(cq_error), []),
    "cq_layer_norm": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_void_p, c_void_p, c_double]),
    "cq_layer_norm_new": (c_void_p, [c_size_t, POINTER(c_int64), c_double]),
    "cq_le": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_le_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_leaky_relu": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_leaky_relu_new": (c_void_p, [c_double]),
    "cq_limit_outputs": (None, [c_uint64, c_uint32]),
    "cq_linear": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "cq_linear_new": (c_void_p, [c_int64, c_int64, c_bool]),
    "cq_log": (c_void_p, [c_void_p, c_void_p]),
    "cq_log_softmax": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_log_softmax_new": (c_void_p, [c_int]),
    "cq_logical_and": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_logical_not": (c_void_p, [c_void_p, c_void_p]),
    "cq_logical_or": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_logical_xor": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_lstm_new": (c_void_p, [POINTER(cq_rnn_spec)]),
    "cq_lt": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_lt_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_manual_seed": (None, [c_uint64]),
    "cq_masked_fill": (c_void_p, [c_void_p, c_void_p, c_void_p, c_double]),
    "cq_matmul": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_max": (c_void_p, [c_void_p, c_void_p]),
    "cq_max_dim": (c_void_p, [c_void_p, c_void_p, c_int, c_bool, POINTER(c_void_p)]),
    "cq_max_pool1d": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool1d)]),
    "cq_max_pool1d_new": (c_void_p, [POINTER(cq_pool1d)]),
    "cq_max_pool2d": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool2d)]),
    "cq_max_pool2d_new": (c_void_p, [POINTER(cq_pool2d)]),
    "cq_max_pool3d": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool3d)]),
    "cq_max_pool3d_new": (c_void_p, [POINTER(cq_pool3d)]),
    "cq_maximum": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_mean": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_bool]),
    "cq_min": (c_void_p, [c_void_p, c_void_p]),
    "cq_min_dim": (c_void_p, [c_void_p, c_void_p, c_int, c_bool, POINTER(c_void_p)]),
    "cq_minimum": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_mish": (c_void_p, [c_void_p, c_void_p]),
    "cq_mish_new": (c_void_p, []),
    "cq_mm": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_model_info": (c_int, [POINTER(c_void_p), c_char_p, c_char_p]),
    "cq_module_add": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "cq_module_add_buffer": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "cq_module_add_parameter": (c_void_p, [c_void_p, c_char_p, c_void_p]),
    "cq_module_child": (c_void_p, [c_void_p, c_char_p]),
    "cq_module_child_at": (c_void_p, [c_void_p, c_size_t]),
    "cq_module_class_name": (c_char_p, [c_void_p]),
    "cq_module_export": (c_int, [POINTER(c_void_p), c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_export_options)]),
    "cq_module_export_file": (c_int, [c_char_p, c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_export_options)]),
    "cq_module_export_nested": (c_int, [POINTER(c_void_p), c_void_p, POINTER(cq_nest), POINTER(cq_export_options)]),
    "cq_module_find": (c_void_p, [c_void_p, c_char_p]),
    "cq_module_free": (None, [c_void_p]),
    "cq_module_info": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_module_is_training": (c_bool, [c_void_p]),
    "cq_module_list_new": (c_void_p, []),
    "cq_module_load_npy": (c_int, [c_void_p, c_char_p]),
    "cq_module_load_state_dict": (c_int, [c_void_p, c_char_p]),
    "cq_module_load_weights": (c_int, [c_void_p, c_void_p, c_uint32]),
    "cq_module_n_children": (c_size_t, [c_void_p]),
    "cq_module_name": (c_char_p, [c_void_p]),
    "cq_module_new": (c_void_p, [POINTER(cq_class)]),
    "cq_module_restore_training": (None, [c_void_p, c_void_p]),
    "cq_module_run": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t]),
    "cq_module_run_as": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_run_options), POINTER(c_void_p), c_size_t, POINTER(c_size_t)]),
    "cq_module_self": (c_void_p, [c_void_p]),
    "cq_module_set": (c_int, [c_void_p, c_char_p, c_void_p]),
    "cq_module_set_training": (c_int, [c_void_p, c_bool, POINTER(c_void_p)]),
    "cq_module_state_at": (c_int, [c_void_p, c_size_t, POINTER(cq_state_entry)]),
    "cq_module_state_count": (c_size_t, [c_void_p]),
    "cq_module_status": (c_int, [c_void_p]),
    "cq_module_testcase": (c_int, [POINTER(c_void_p), c_char_p, c_void_p, POINTER(c_void_p), c_size_t, c_size_t, POINTER(cq_testcase_options)]),
    "cq_module_train": (None, [c_void_p, c_bool]),
    "cq_mul": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_mul_": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_mul_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_narrow": (c_void_p, [c_void_p, c_void_p, c_int, cq_int, cq_int]),
    "cq_ne": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_ne_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_neg": (c_void_p, [c_void_p, c_void_p]),
    "cq_nest_at": (cq_nest, [c_void_p, POINTER(cq_nest), c_size_t]),
    "cq_nest_dict": (cq_nest, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(cq_nest)]),
    "cq_nest_flatten": (c_size_t, [POINTER(cq_nest), POINTER(c_void_p), c_size_t]),
    "cq_nest_get": (cq_nest, [c_void_p, POINTER(cq_nest), c_char_p]),
    "cq_nest_list": (cq_nest, [c_void_p, c_size_t, POINTER(cq_nest)]),
    "cq_nest_tensor": (cq_nest, [c_void_p]),
    "cq_nest_tuple": (cq_nest, [c_void_p, c_size_t, POINTER(cq_nest)]),
    "cq_norm": (c_void_p, [c_void_p, c_void_p, c_double, c_size_t, POINTER(c_int64), c_bool]),
    "cq_numel": (cq_int, [c_void_p, c_void_p]),
    "cq_ones": (c_void_p, [c_void_p, c_int, c_size_t, POINTER(cq_int)]),
    "cq_ones_like": (c_void_p, [c_void_p, c_void_p]),
    "cq_onnx_attribute_count": (c_size_t, [c_void_p]),
    "cq_onnx_attribute_float": (c_double, [c_void_p, c_size_t]),
    "cq_onnx_attribute_graph": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_attribute_int": (c_int64, [c_void_p, c_size_t]),
    "cq_onnx_attribute_kind": (c_int, [c_void_p]),
    "cq_onnx_attribute_name": (c_char_p, [c_void_p]),
    "cq_onnx_attribute_refers_to": (c_char_p, [c_void_p]),
    "cq_onnx_attribute_string": (c_void_p, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "cq_onnx_attribute_tensor": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_attribute_type_text": (c_int, [POINTER(c_void_p), c_void_p, c_size_t]),
    "cq_onnx_findings_at": (POINTER(cq_onnx_finding), [c_void_p, c_size_t]),
    "cq_onnx_findings_count": (c_size_t, [c_void_p]),
    "cq_onnx_findings_free": (None, [c_void_p]),
    "cq_onnx_form_of": (c_int, [c_char_p]),
    "cq_onnx_function_domain": (c_char_p, [c_void_p]),
    "cq_onnx_function_input": (c_char_p, [c_void_p, c_size_t]),
    "cq_onnx_function_n_inputs": (c_size_t, [c_void_p]),
    "cq_onnx_function_n_nodes": (c_size_t, [c_void_p]),
    "cq_onnx_function_n_outputs": (c_size_t, [c_void_p]),
    "cq_onnx_function_name": (c_char_p, [c_void_p]),
    "cq_onnx_function_node": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_function_output": (c_char_p, [c_void_p, c_size_t]),
    "cq_onnx_graph_initializer": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_graph_n_initializers": (c_size_t, [c_void_p]),
    "cq_onnx_graph_n_nodes": (c_size_t, [c_void_p]),
    "cq_onnx_graph_n_values": (c_size_t, [c_void_p, c_int]),
    "cq_onnx_graph_name": (c_char_p, [c_void_p]),
    "cq_onnx_graph_node": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_graph_value": (c_void_p, [c_void_p, c_int, c_size_t]),
    "cq_onnx_model_check": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_onnx_model_convert_float": (c_int, [c_void_p, c_int, POINTER(cq_precision_options)]),
    "cq_onnx_model_convert_inputs": (c_int, [c_void_p, POINTER(c_char_p), c_size_t]),
    "cq_onnx_model_convert_ir": (c_int, [c_void_p, c_int64]),
    "cq_onnx_model_convert_opset": (c_int, [c_void_p, c_int64]),
    "cq_onnx_model_count_flops": (c_int, [POINTER(c_double), c_void_p]),
    "cq_onnx_model_cut": (c_int, [c_void_p, POINTER(cq_cut_options)]),
    "cq_onnx_model_decode": (c_int, [POINTER(c_void_p), c_void_p, c_size_t]),
    "cq_onnx_model_diff": (c_int, [POINTER(c_void_p), c_void_p, c_void_p, c_double, c_double]),
    "cq_onnx_model_encode": (c_int, [POINTER(c_void_p), POINTER(c_size_t), c_void_p]),
    "cq_onnx_model_free": (None, [c_void_p]),
    "cq_onnx_model_function": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_model_graph": (c_void_p, [c_void_p]),
    "cq_onnx_model_graph_name": (c_char_p, [c_void_p]),
    "cq_onnx_model_has_external_data": (c_bool, [c_void_p]),
    "cq_onnx_model_has_initializer": (c_bool, [c_void_p, c_char_p]),
    "cq_onnx_model_has_node": (c_bool, [c_void_p, c_char_p]),
    "cq_onnx_model_infer": (c_int, [c_void_p, c_uint32]),
    "cq_onnx_model_info": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_onnx_model_initializer": (c_int, [POINTER(c_void_p), POINTER(c_char_p), c_void_p, c_size_t]),
    "cq_onnx_model_inline": (c_int, [c_void_p]),
    "cq_onnx_model_ir_version": (c_int64, [c_void_p]),
    "cq_onnx_model_join": (c_int, [c_void_p, c_void_p, POINTER(cq_join_options)]),
    "cq_onnx_model_load": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_onnx_model_load_as": (c_int, [POINTER(c_void_p), c_char_p, c_int]),
    "cq_onnx_model_load_text": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_onnx_model_load_textproto": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_onnx_model_load_weights": (c_int, [c_void_p, c_void_p, c_uint32]),
    "cq_onnx_model_metadata": (c_bool, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p)]),
    "cq_onnx_model_n_functions": (c_size_t, [c_void_p]),
    "cq_onnx_model_n_initializers": (c_size_t, [c_void_p]),
    "cq_onnx_model_n_nodes": (c_size_t, [c_void_p]),
    "cq_onnx_model_n_states": (c_size_t, [c_void_p]),
    "cq_onnx_model_n_values": (c_size_t, [c_void_p, c_int]),
    "cq_onnx_model_opset": (c_int64, [c_void_p, c_char_p]),
    "cq_onnx_model_opset_at": (c_bool, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_int64)]),
    "cq_onnx_model_optimize": (c_int, [c_void_p, POINTER(cq_optimize_report), POINTER(cq_optimize_options)]),
    "cq_onnx_model_parse": (c_int, [POINTER(c_void_p), c_char_p, c_size_t, c_char_p]),
    "cq_onnx_model_print": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_onnx_model_producer": (c_char_p, [c_void_p]),
    "cq_onnx_model_quantize": (c_int, [c_void_p, POINTER(cq_quantize_options), cq_quantize_hook, c_void_p]),
    "cq_onnx_model_random_node": (c_char_p, [c_void_p]),
    "cq_onnx_model_rename": (c_int, [c_void_p, c_char_p, c_char_p]),
    "cq_onnx_model_save": (c_int, [c_void_p, c_char_p, POINTER(cq_onnx_save_options)]),
    "cq_onnx_model_save_as": (c_int, [c_void_p, c_char_p, c_int, POINTER(cq_onnx_save_options)]),
    "cq_onnx_model_save_text": (c_int, [c_void_p, c_char_p]),
    "cq_onnx_model_save_textproto": (c_int, [c_void_p, c_char_p]),
    "cq_onnx_model_sort": (c_int, [POINTER(c_bool), c_void_p]),
    "cq_onnx_model_state": (c_int, [POINTER(c_void_p), POINTER(c_char_p), POINTER(c_char_p), c_void_p, c_size_t]),
    "cq_onnx_model_strip": (c_int, [c_void_p, POINTER(cq_strip_options)]),
    "cq_onnx_model_value_axis": (c_char_p, [c_void_p, c_int, c_size_t, c_size_t]),
    "cq_onnx_model_value_dtype": (c_int, [c_void_p, c_int, c_size_t]),
    "cq_onnx_model_value_name": (c_char_p, [c_void_p, c_int, c_size_t]),
    "cq_onnx_model_value_rank": (c_int32, [c_void_p, c_int, c_size_t]),
    "cq_onnx_model_value_size": (c_int64, [c_void_p, c_int, c_size_t, c_size_t]),
    "cq_onnx_model_view": (c_int, [POINTER(c_void_p), POINTER(c_size_t), c_void_p, c_int, POINTER(cq_view_options)]),
    "cq_onnx_model_view_file": (c_int, [c_char_p, c_void_p, c_int, POINTER(cq_view_options)]),
    "cq_onnx_model_write_text": (c_int, [c_void_p, cq_text_writer, c_void_p]),
    "cq_onnx_models_match_opsets": (c_int, [c_void_p, c_void_p]),
    "cq_onnx_node_attribute_at": (c_void_p, [c_void_p, c_size_t]),
    "cq_onnx_node_doc_string": (c_char_p, [c_void_p]),
    "cq_onnx_node_domain": (c_char_p, [c_void_p]),
    "cq_onnx_node_input": (c_char_p, [c_void_p, c_size_t]),
    "cq_onnx_node_metadata": (c_bool, [c_void_p, c_size_t, POINTER(c_char_p), POINTER(c_char_p)]),
    "cq_onnx_node_n_attributes": (c_size_t, [c_void_p]),
    "cq_onnx_node_n_inputs": (c_size_t, [c_void_p]),
    "cq_onnx_node_n_outputs": (c_size_t, [c_void_p]),
    "cq_onnx_node_name": (c_char_p, [c_void_p]),
    "cq_onnx_node_op_type": (c_char_p, [c_void_p]),
    "cq_onnx_node_output": (c_char_p, [c_void_p, c_size_t]),
    "cq_onnx_prove": (c_int, [POINTER(cq_proof), c_void_p, c_void_p, POINTER(cq_proof_options)]),
    "cq_onnx_prove_cut": (c_int, [POINTER(cq_proof), c_void_p, c_void_p, POINTER(cq_proof_options)]),
    "cq_onnx_prove_join": (c_int, [POINTER(cq_proof), c_void_p, c_void_p, c_void_p, POINTER(cq_join_options), POINTER(cq_proof_options)]),
    "cq_onnx_prove_quantized": (c_int, [POINTER(cq_proof), c_void_p, c_void_p, POINTER(cq_quantize_options), POINTER(cq_proof_options), cq_quantize_hook, c_void_p]),
    "cq_onnx_save_options_init": (None, [POINTER(cq_onnx_save_options)]),
    "cq_onnx_step_new": (c_int, [POINTER(cq_step), c_void_p, c_int, c_char_p]),
    "cq_onnx_tensor_in_place": (c_int, [POINTER(c_void_p), c_void_p, c_void_p]),
    "cq_onnx_tensor_name": (c_char_p, [c_void_p]),
    "cq_onnx_value_compare": (c_int, [c_void_p, c_void_p, c_double, c_double]),
    "cq_onnx_value_count": (c_size_t, [c_void_p]),
    "cq_onnx_value_info_axis": (c_char_p, [c_void_p, c_size_t]),
    "cq_onnx_value_info_dtype": (c_int, [c_void_p]),
    "cq_onnx_value_info_name": (c_char_p, [c_void_p]),
    "cq_onnx_value_info_rank": (c_int32, [c_void_p]),
    "cq_onnx_value_info_size": (c_int64, [c_void_p, c_size_t]),
    "cq_onnx_value_info_type": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_onnx_value_item": (c_int, [POINTER(c_void_p), c_void_p, c_size_t]),
    "cq_onnx_value_kind": (c_int, [c_void_p]),
    "cq_onnx_value_load_for": (c_int, [POINTER(c_void_p), c_char_p, c_void_p, c_int, c_size_t]),
    "cq_onnx_value_new_map": (c_int, [POINTER(c_void_p), c_void_p, c_void_p]),
    "cq_onnx_value_new_none": (c_int, [POINTER(c_void_p)]),
    "cq_onnx_value_new_sequence": (c_int, [POINTER(c_void_p), POINTER(c_void_p), c_size_t]),
    "cq_onnx_value_new_strings": (c_int, [POINTER(c_void_p), c_size_t, POINTER(c_int64), POINTER(c_char_p), POINTER(c_size_t)]),
    "cq_onnx_value_new_tensor": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_onnx_value_of": (c_int, [POINTER(c_void_p), c_void_p, c_void_p]),
    "cq_onnx_value_rank": (c_size_t, [c_void_p]),
    "cq_onnx_value_release": (None, [c_void_p]),
    "cq_onnx_value_retain": (c_void_p, [c_void_p]),
    "cq_onnx_value_save_for": (c_int, [c_void_p, c_char_p, c_void_p, c_int, c_size_t]),
    "cq_onnx_value_size": (c_int64, [c_void_p, c_size_t]),
    "cq_onnx_value_string": (c_void_p, [c_void_p, c_size_t, POINTER(c_size_t)]),
    "cq_onnx_value_tensor": (c_void_p, [c_void_p]),
    "cq_onnx_verify": (c_int, [c_char_p, c_char_p, c_double, c_double, POINTER(cq_session_options)]),
    "cq_op_info_at": (c_bool, [c_size_t, POINTER(cq_op_info)]),
    "cq_opener_open": (c_int, [c_char_p]),
    "cq_opener_start": (c_int, []),
    "cq_optimize_options_init": (None, [POINTER(cq_optimize_options)]),
    "cq_optimize_pass": (c_char_p, [c_size_t, POINTER(c_char_p)]),
    "cq_outputs_begin": (None, []),
    "cq_outputs_collided": (c_bool, []),
    "cq_outputs_end": (c_int, [c_int]),
    "cq_outputs_folder": (c_int, [c_char_p]),
    "cq_pad": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_char_p, c_double]),
    "cq_path_exists": (c_bool, [c_char_p]),
    "cq_path_is_readable": (c_bool, [c_char_p]),
    "cq_path_is_same": (c_bool, [c_char_p, c_char_p]),
    "cq_path_look_up": (c_int, [c_char_p, POINTER(c_uint64)]),
    "cq_path_name": (c_char_p, [c_char_p]),
    "cq_path_read_start": (c_bool, [c_char_p, c_void_p, c_size_t, POINTER(c_size_t)]),
    "cq_path_separator": (c_char_p, [c_char_p]),
    "cq_permute": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64)]),
    "cq_pixel_shuffle": (c_void_p, [c_void_p, c_void_p, c_int64]),
    "cq_pixel_shuffle_new": (c_void_p, [c_int64]),
    "cq_pow": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_pow_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_precision_options_init": (None, [POINTER(cq_precision_options)]),
    "cq_prelu": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_prelu_new": (c_void_p, [c_int64, c_double]),
    "cq_prod": (c_void_p, [c_void_p, c_void_p]),
    "cq_profile_free": (None, [c_void_p]),
    "cq_profile_new": (c_int, [POINTER(c_void_p)]),
    "cq_profile_note": (None, [c_void_p, c_char_p, c_char_p, c_int64, c_int64]),
    "cq_profile_save": (c_int, [c_void_p, c_char_p, c_void_p]),
    "cq_program_begin": (None, [POINTER(c_int), POINTER(POINTER(c_void_p)), c_int]),
    "cq_proof_options_init": (None, [POINTER(cq_proof_options)]),
    "cq_pt2_default_opset": (c_int32, [c_void_p]),
    "cq_pt2_define": (c_int, [c_void_p, c_char_p, c_char_p]),
    "cq_pt2_example_input": (c_int, [POINTER(c_void_p), c_void_p, c_size_t]),
    "cq_pt2_export": (c_int, [POINTER(c_void_p), c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_export_options)]),
    "cq_pt2_free": (None, [c_void_p]),
    "cq_pt2_info": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_pt2_input_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_pt2_is_archive_file": (c_bool, [c_char_p]),
    "cq_pt2_larger_input": (c_int, [POINTER(c_void_p), c_void_p, c_size_t]),
    "cq_pt2_load": (c_int, [POINTER(c_void_p), c_char_p, c_char_p]),
    "cq_pt2_load_bytes": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_char_p, c_char_p, CFUNCTYPE(None, c_void_p), c_void_p]),
    "cq_pt2_load_weights": (c_int, [c_void_p, c_void_p, c_uint32]),
    "cq_pt2_n_inputs": (c_size_t, [c_void_p]),
    "cq_pt2_name_as": (c_int, [c_void_p, c_char_p]),
    "cq_pt2_output_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_pt2_programs_info": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_pt2_run_as": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(cq_run_options), POINTER(c_void_p), c_size_t, POINTER(c_size_t)]),
    "cq_pt2_set_limits": (None, [c_void_p, c_uint64, c_uint64]),
    "cq_pt2_set_tensor": (c_int, [c_void_p, c_char_p, c_void_p]),
    "cq_quantize_options_init": (None, [POINTER(cq_quantize_options)]),
    "cq_rand": (c_void_p, [c_void_p, c_int, c_size_t, POINTER(cq_int)]),
    "cq_randn": (c_void_p, [c_void_p, c_int, c_size_t, POINTER(cq_int)]),
    "cq_reciprocal": (c_void_p, [c_void_p, c_void_p]),
    "cq_reflection_pad_new": (c_void_p, [c_size_t, POINTER(c_int64)]),
    "cq_relu": (c_void_p, [c_void_p, c_void_p]),
    "cq_relu6": (c_void_p, [c_void_p, c_void_p]),
    "cq_relu6_new": (c_void_p, []),
    "cq_relu_": (c_void_p, [c_void_p, c_void_p]),
    "cq_relu_inplace_new": (c_void_p, []),
    "cq_relu_new": (c_void_p, []),
    "cq_repeat": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(cq_int)]),
    "cq_replication_pad_new": (c_void_p, [c_size_t, POINTER(c_int64)]),
    "cq_reshape": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(cq_int)]),
    "cq_rnn_new": (c_void_p, [POINTER(cq_rnn_spec)]),
    "cq_round": (c_void_p, [c_void_p, c_void_p]),
    "cq_rsqrt": (c_void_p, [c_void_p, c_void_p]),
    "cq_run_options_init": (None, [POINTER(cq_run_options)]),
    "cq_run_options_like_export": (None, [POINTER(cq_run_options), POINTER(cq_export_options)]),
    "cq_sandbox_enter": (c_int, [POINTER(cq_sandbox_options)]),
    "cq_sandbox_options_init": (None, [POINTER(cq_sandbox_options)]),
    "cq_scatter": (c_void_p, [c_void_p, c_void_p, c_int, c_void_p, c_void_p]),
    "cq_scoped_anchor_begin": (None, [c_void_p, POINTER(cq_sym_attr), c_size_t]),
    "cq_scoped_anchor_end": (None, [c_void_p]),
    "cq_script_add_code": (c_int, [c_void_p, c_char_p]),
    "cq_script_add_path": (c_int, [c_void_p, c_char_p]),
    "cq_script_call": (c_void_p, [c_void_p, c_void_p, c_char_p, POINTER(c_void_p), c_size_t]),
    "cq_script_call_n": (None, [c_void_p, c_void_p, c_char_p, c_void_p, POINTER(c_void_p), c_size_t]),
    "cq_script_compile": (c_int, [POINTER(c_void_p), c_char_p, c_char_p]),
    "cq_script_define": (c_int, [c_void_p, c_char_p, c_char_p]),
    "cq_script_example_input": (c_int, [c_void_p, c_size_t, POINTER(c_int), POINTER(c_size_t), POINTER(c_int64)]),
    "cq_script_expect_weights": (None, [c_void_p, c_uint64]),
    "cq_script_export": (c_int, [POINTER(c_void_p), c_void_p, c_char_p, c_void_p, c_uint32, POINTER(cq_export_options)]),
    "cq_script_free": (None, [c_void_p]),
    "cq_script_has_tensor": (c_bool, [c_void_p, c_char_p]),
    "cq_script_info": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_script_is_python": (c_bool, [c_void_p]),
    "cq_script_load": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_script_load_bytes": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, c_char_p, CFUNCTYPE(None, c_void_p), c_void_p]),
    "cq_script_load_limited": (c_int, [POINTER(c_void_p), c_char_p, c_uint64, c_uint64]),
    "cq_script_load_main": (c_int, [POINTER(c_void_p), c_char_p, c_uint64, c_uint64]),
    "cq_script_load_weights": (c_int, [c_void_p, c_void_p, c_uint32]),
    "cq_script_make": (c_int, [c_void_p, c_char_p]),
    "cq_script_make_module": (c_int, [c_void_p, c_char_p]),
    "cq_script_method_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_script_n_example_inputs": (c_size_t, [c_void_p]),
    "cq_script_n_params": (c_size_t, [c_void_p, c_char_p]),
    "cq_script_param": (c_int, [c_void_p, c_char_p, c_size_t, c_char_p, c_char_p, c_size_t]),
    "cq_script_run": (c_int, [c_void_p, c_char_p, c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_size_t)]),
    "cq_script_run_as": (c_int, [c_void_p, c_char_p, c_void_p, POINTER(cq_run_options), POINTER(c_void_p), c_size_t, POINTER(c_size_t)]),
    "cq_script_run_main": (c_int, [c_void_p, POINTER(c_char_p), c_size_t]),
    "cq_script_set_bool": (c_int, [c_void_p, c_char_p, c_bool]),
    "cq_script_set_f64": (c_int, [c_void_p, c_char_p, c_double]),
    "cq_script_set_i64": (c_int, [c_void_p, c_char_p, c_int64]),
    "cq_script_set_limits": (None, [c_void_p, c_uint64, c_uint64]),
    "cq_script_set_quantized_engine": (c_int, [c_void_p, c_char_p]),
    "cq_script_set_tensor": (c_int, [c_void_p, c_char_p, c_void_p]),
    "cq_seconds": (c_double, []),
    "cq_select": (c_void_p, [c_void_p, c_void_p, c_int, cq_int]),
    "cq_selu": (c_void_p, [c_void_p, c_void_p]),
    "cq_selu_new": (c_void_p, []),
    "cq_sequential_add": (c_void_p, [c_void_p, c_void_p]),
    "cq_sequential_new": (c_void_p, []),
    "cq_sequential_of": (c_void_p, [c_size_t, POINTER(c_void_p)]),
    "cq_session_free": (None, [c_void_p]),
    "cq_session_input_at": (c_size_t, [c_void_p, c_size_t]),
    "cq_session_input_is_optional": (c_bool, [c_void_p, c_size_t]),
    "cq_session_input_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_session_model": (c_void_p, [c_void_p]),
    "cq_session_n_inputs": (c_size_t, [c_void_p]),
    "cq_session_n_outputs": (c_size_t, [c_void_p]),
    "cq_session_options_init": (None, [POINTER(cq_session_options)]),
    "cq_session_output_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_session_peak_memory": (c_uint64, [c_void_p]),
    "cq_session_prepare": (c_int, [POINTER(c_void_p), c_void_p, POINTER(cq_session_options)]),
    "cq_session_prepare_bytes": (c_int, [POINTER(c_void_p), c_void_p, c_size_t, POINTER(cq_session_options)]),
    "cq_session_prepare_file": (c_int, [POINTER(c_void_p), c_char_p, POINTER(cq_session_options)]),
    "cq_session_run": (c_int, [c_void_p, POINTER(c_char_p), POINTER(c_void_p), c_size_t, POINTER(c_void_p)]),
    "cq_session_run_model": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t, c_char_p]),
    "cq_session_run_node": (c_int, [c_void_p, c_size_t, c_int64, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t, c_char_p]),
    "cq_session_run_tensors": (c_int, [c_void_p, POINTER(c_void_p), c_size_t, POINTER(c_void_p), c_size_t]),
    "cq_session_supports_device": (c_bool, [c_char_p]),
    "cq_set_cancel_handler": (None, [cq_cancel_handler, c_void_p]),
    "cq_set_grad_enabled": (c_bool, [c_void_p, c_bool]),
    "cq_set_progress_handler": (None, [cq_progress_handler, c_void_p]),
    "cq_set_threads": (None, [c_int]),
    "cq_set_warning_handler": (None, [cq_warning_handler, c_void_p]),
    "cq_sigmoid": (c_void_p, [c_void_p, c_void_p]),
    "cq_sigmoid_new": (c_void_p, []),
    "cq_sign": (c_void_p, [c_void_p, c_void_p]),
    "cq_silu": (c_void_p, [c_void_p, c_void_p]),
    "cq_silu_new": (c_void_p, []),
    "cq_sin": (c_void_p, [c_void_p, c_void_p]),
    "cq_size": (cq_int, [c_void_p, c_void_p, c_int]),
    "cq_skip_init": (None, [c_bool]),
    "cq_slice": (c_void_p, [c_void_p, c_void_p, c_int, cq_int, cq_int, c_int64]),
    "cq_softmax": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_softmax_new": (c_void_p, [c_int]),
    "cq_softplus": (c_void_p, [c_void_p, c_void_p, c_double, c_double]),
    "cq_softplus_new": (c_void_p, [c_double, c_double]),
    "cq_sort": (c_void_p, [c_void_p, c_void_p, c_int, c_bool, POINTER(c_void_p)]),
    "cq_split": (c_size_t, [c_void_p, c_void_p, cq_int, c_int, POINTER(c_void_p), c_size_t]),
    "cq_sqrt": (c_void_p, [c_void_p, c_void_p]),
    "cq_squeeze": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_stack": (c_void_p, [c_void_p, c_size_t, POINTER(c_void_p), c_int]),
    "cq_state_dict_info": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_status_name": (c_char_p, [c_int]),
    "cq_std": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_bool, c_bool]),
    "cq_stderr_has_colour": (c_bool, []),
    "cq_stderr_is_terminal": (c_bool, []),
    "cq_stdin_spool": (c_int, [c_char_p, c_size_t]),
    "cq_strip_file": (c_int, [c_char_p, c_char_p, POINTER(cq_strip_options)]),
    "cq_strip_options_init": (None, [POINTER(cq_strip_options)]),
    "cq_sub": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_sub_scalar": (c_void_p, [c_void_p, c_void_p, c_double]),
    "cq_sum": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_bool]),
    "cq_sym_arg_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_sym_bool": (c_bool, [c_void_p, c_char_p]),
    "cq_sym_cast": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_sym_const": (c_void_p, [c_void_p, c_void_p]),
    "cq_sym_const_f64": (c_void_p, [c_void_p, c_int, c_double]),
    "cq_sym_const_i64": (c_void_p, [c_void_p, c_int64]),
    "cq_sym_const_i64s": (c_void_p, [c_void_p, POINTER(c_int64), c_size_t]),
    "cq_sym_data": (c_void_p, [c_void_p]),
    "cq_sym_done": (c_int, [c_void_p, c_void_p]),
    "cq_sym_done_n": (c_int, [c_void_p, POINTER(c_void_p), c_size_t]),
    "cq_sym_dtype": (c_int, [c_void_p, c_void_p]),
    "cq_sym_emit": (None, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p), c_size_t, POINTER(cq_sym_attr), c_size_t, POINTER(c_void_p)]),
    "cq_sym_emit1": (c_void_p, [c_void_p, c_char_p, c_size_t, POINTER(c_void_p), c_size_t, POINTER(cq_sym_attr)]),
    "cq_sym_f64": (c_double, [c_void_p, c_char_p]),
    "cq_sym_f64s": (c_size_t, [c_void_p, c_char_p, POINTER(c_double), c_size_t]),
    "cq_sym_graph_begin": (None, [c_void_p, c_void_p, c_char_p]),
    "cq_sym_graph_end": (None, [c_void_p, c_size_t, POINTER(c_void_p)]),
    "cq_sym_graph_input": (c_void_p, [c_void_p, c_int, c_int]),
    "cq_sym_i64": (c_int64, [c_void_p, c_char_p]),
    "cq_sym_i64s": (c_size_t, [c_void_p, c_char_p, POINTER(c_int64), c_size_t]),
    "cq_sym_in": (c_void_p, [c_void_p, c_char_p]),
    "cq_sym_in_as": (c_void_p, [c_void_p, c_char_p, c_int]),
    "cq_sym_in_at": (c_void_p, [c_void_p, c_char_p, c_size_t]),
    "cq_sym_is_none": (c_bool, [c_void_p, c_char_p]),
    "cq_sym_is_tensor": (c_bool, [c_void_p, c_char_p]),
    "cq_sym_kind": (c_int, [c_void_p, c_char_p]),
    "cq_sym_n_args": (c_size_t, [c_void_p]),
    "cq_sym_n_list": (c_size_t, [c_void_p, c_char_p]),
    "cq_sym_n_results": (c_size_t, [c_void_p]),
    "cq_sym_name": (c_char_p, [c_void_p]),
    "cq_sym_no": (c_int, [c_void_p, c_int, c_char_p]),
    "cq_sym_opset": (c_int, [c_void_p]),
    "cq_sym_rank": (c_int, [c_void_p, c_void_p]),
    "cq_sym_set_type": (None, [c_void_p, c_void_p, c_int, c_size_t, POINTER(cq_int)]),
    "cq_sym_size": (cq_int, [c_void_p, c_void_p, c_int]),
    "cq_sym_status": (c_int, [c_void_p]),
    "cq_sym_str": (c_char_p, [c_void_p, c_char_p, c_char_p]),
    "cq_symbolic_register": (c_int, [c_char_p, c_int32, cq_symbolic_fn, c_void_p]),
    "cq_symbolic_unregister": (None, [c_char_p, c_int32]),
    "cq_t": (c_void_p, [c_void_p, c_void_p]),
    "cq_tan": (c_void_p, [c_void_p, c_void_p]),
    "cq_tanh": (c_void_p, [c_void_p, c_void_p]),
    "cq_tanh_new": (c_void_p, []),
    "cq_tape_backward": (c_int, [c_void_p, c_void_p, POINTER(c_void_p), POINTER(c_void_p), c_size_t]),
    "cq_tape_free": (None, [c_void_p]),
    "cq_tape_gradient": (c_void_p, [c_void_p, c_void_p]),
    "cq_tape_new": (c_int, [POINTER(c_void_p)]),
    "cq_tape_start": (None, [c_void_p, c_void_p]),
    "cq_tape_stop": (None, [c_void_p, c_void_p]),
    "cq_tape_watch": (c_int, [c_void_p, c_void_p]),
    "cq_tensor_contiguous": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_tensor_data": (c_void_p, [c_void_p]),
    "cq_tensor_dtype": (c_int, [c_void_p]),
    "cq_tensor_get_f64": (c_double, [c_void_p, c_int64]),
    "cq_tensor_get_i64": (c_int64, [c_void_p, c_int64]),
    "cq_tensor_has_data": (c_bool, [c_void_p]),
    "cq_tensor_is_contiguous": (c_bool, [c_void_p]),
    "cq_tensor_is_shared": (c_bool, [c_void_p]),
    "cq_tensor_load_npy": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_tensor_load_pb": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_tensor_new": (c_int, [POINTER(c_void_p), c_int, c_size_t, POINTER(c_int64), c_void_p]),
    "cq_tensor_new_lazy": (c_int, [POINTER(c_void_p), c_int, c_size_t, POINTER(c_int64), CFUNCTYPE(None, c_void_p, c_void_p, c_size_t, c_size_t), CFUNCTYPE(None, c_void_p), c_void_p]),
    "cq_tensor_numel": (c_int64, [c_void_p]),
    "cq_tensor_pairs": (c_int, [POINTER(c_void_p), c_void_p]),
    "cq_tensor_rank": (c_size_t, [c_void_p]),
    "cq_tensor_release": (None, [c_void_p]),
    "cq_tensor_retain": (c_void_p, [c_void_p]),
    "cq_tensor_save_npy": (c_int, [c_void_p, c_char_p]),
    "cq_tensor_save_pb": (c_int, [c_void_p, c_char_p, c_char_p]),
    "cq_tensor_set_made_up": (None, [c_void_p]),
    "cq_tensor_size": (c_int64, [c_void_p, c_size_t]),
    "cq_tensor_stride": (c_int64, [c_void_p, c_size_t]),
    "cq_tensor_wrap": (c_int, [POINTER(c_void_p), c_int, c_size_t, POINTER(c_int64), c_void_p, CFUNCTYPE(None, c_void_p), c_void_p]),
    "cq_tensor_wrap_strided": (c_int, [POINTER(c_void_p), c_int, c_size_t, POINTER(c_int64), POINTER(c_int64), c_void_p, CFUNCTYPE(None, c_void_p), c_void_p]),
    "cq_testcase_options_init": (None, [POINTER(cq_testcase_options)]),
    "cq_testcase_write": (c_int, [c_char_p, POINTER(cq_testcase_source), POINTER(c_void_p), c_size_t, POINTER(cq_testcase_options)]),
    "cq_text_close": (c_int, [c_void_p, POINTER(c_void_p), POINTER(c_size_t)]),
    "cq_text_open": (c_int, [POINTER(c_void_p), POINTER(c_void_p)]),
    "cq_threads": (c_int, []),
    "cq_threshold": (c_void_p, [c_void_p, c_void_p, c_double, c_double]),
    "cq_threshold_new": (c_void_p, [c_double, c_double]),
    "cq_times_at": (POINTER(cq_time_row), [c_void_p, c_int, c_size_t]),
    "cq_times_count": (c_size_t, [c_void_p, c_int]),
    "cq_times_flops": (c_double, [c_void_p]),
    "cq_times_free": (None, [c_void_p]),
    "cq_times_new": (c_int, [POINTER(c_void_p), c_void_p, POINTER(cq_view_options)]),
    "cq_times_seconds": (c_double, [c_void_p]),
    "cq_to": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_topk": (c_void_p, [c_void_p, c_void_p, c_int64, c_int, c_bool, POINTER(c_void_p)]),
    "cq_transpose": (c_void_p, [c_void_p, c_void_p, c_int, c_int]),
    "cq_type_as": (c_void_p, [c_void_p, c_void_p, c_void_p]),
    "cq_unbind": (c_size_t, [c_void_p, c_void_p, c_int, POINTER(c_void_p), c_size_t]),
    "cq_unflatten_new": (c_void_p, [c_int, c_size_t, POINTER(c_int64)]),
    "cq_unfold": (c_void_p, [c_void_p, c_void_p, POINTER(cq_pool2d)]),
    "cq_unsqueeze": (c_void_p, [c_void_p, c_void_p, c_int]),
    "cq_unstrip": (c_int, [c_char_p, c_char_p, c_uint64]),
    "cq_upsample_new": (c_void_p, [c_size_t, POINTER(c_int64), POINTER(c_double), c_char_p, c_bool]),
    "cq_value_dtype": (c_int, [c_void_p]),
    "cq_value_input": (c_void_p, [c_void_p, c_size_t]),
    "cq_value_n_inputs": (c_size_t, [c_void_p]),
    "cq_value_op": (c_char_p, [c_void_p]),
    "cq_value_rank": (c_int, [c_void_p]),
    "cq_var": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(c_int64), c_bool, c_bool]),
    "cq_verdict_name": (c_char_p, [c_int]),
    "cq_version": (c_int32, []),
    "cq_version_string": (c_char_p, []),
    "cq_view": (c_void_p, [c_void_p, c_void_p, c_size_t, POINTER(cq_int)]),
    "cq_view_options_init": (None, [POINTER(cq_view_options)]),
    "cq_visible_bytes": (c_size_t, [c_char_p, c_size_t]),
    "cq_weights_bytes": (c_uint64, [c_void_p]),
    "cq_weights_count": (c_size_t, [c_void_p]),
    "cq_weights_free": (None, [c_void_p]),
    "cq_weights_name": (c_char_p, [c_void_p, c_size_t]),
    "cq_weights_note": (c_char_p, [c_void_p]),
    "cq_weights_open": (c_int, [POINTER(c_void_p), c_char_p]),
    "cq_weights_save": (c_int, [c_void_p, c_char_p]),
    "cq_weights_tensor": (c_void_p, [c_void_p, c_size_t]),
    "cq_weights_view_file": (c_int, [c_char_p, c_void_p, c_int, c_char_p]),
    "cq_where": (c_void_p, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "cq_zero_pad2d_new": (c_void_p, [POINTER(c_int64)]),
    "cq_zeros": (c_void_p, [c_void_p, c_int, c_size_t, POINTER(cq_int)]),
    "cq_zeros_like": (c_void_p, [c_void_p, c_void_p]),
    "cq_zoo_at": (POINTER(cq_zoo_model), [c_size_t]),
    "cq_zoo_find": (POINTER(cq_zoo_model), [c_char_p]),
    "cq_zoo_info": (c_int, [POINTER(c_void_p), c_char_p]),
}
