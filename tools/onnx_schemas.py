#!/usr/bin/python3
"""Prints src/onnx/ops/*.c, the operator schemas as rows of text (src/onnx/schema.h has the
grammar): those the installed onnx package knows, and the newer ones of tools/onnx_newer.txt.

    onnx_schemas.py            rewrites the files
    onnx_schemas.py --check    only says which are stale
"""
import argparse
import pathlib
import re
import struct
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent
OPS = ROOT / "src/onnx/ops"
NEWER = ROOT / "tools/onnx_newer.txt"

# One file per family. Operators that are not listed by name go to the family of their domain.
FAMILIES = {
    "activation": "activation functions: Relu to Softmax",
    "math": "arithmetic, matrix products and signals",
    "tensor": "shapes, constants and moving elements",
    "reduce": "reductions along axes",
    "nn": "convolution, pooling, normalization and losses",
    "rnn": "recurrent layers",
    "controlflow": "operators with graphs inside",
    "sequence": "sequences and optionals",
    "quantize": "quantized arithmetic",
    "logic": "comparisons, truth values and bits",
    "random": "random numbers",
    "image": "resampling and object detection",
    "text": "strings",
    "training": "gradients and optimizers (ai.onnx.preview.training)",
    "ml": "classical machine learning (ai.onnx.ml)",
}
MEMBERS = {
    "activation": """Celu Clip Elu Gelu HardSigmoid HardSwish Hardmax LeakyRelu LogSoftmax Mish
        PRelu Relu Selu Shrink Sigmoid Softmax Softplus Softsign SwiGLU Swish Tanh ThresholdedRelu""",
    "math": """Abs Acos Acosh Add Asin Asinh Atan Atanh BlackmanWindow Ceil Cos Cosh CumProd CumSum DFT
        Det Div Einsum Erf Exp Floor Gemm HammingWindow HannWindow Log MatMul Max Mean
        MelWeightMatrix Min Mod Mul Neg Pow Reciprocal Round STFT Sign Sin Sinh Sqrt Sub
        Sum Tan""",
    "tensor": """BitCast Cast CastLike Compress Concat Constant ConstantOfShape DepthToSpace Expand
        EyeLike Flatten Gather GatherElements GatherND Identity NonZero OneHot Pad Range
        Reshape ReverseSequence Scatter ScatterElements ScatterND Shape Size Slice
        SpaceToDepth Split Squeeze Tile TopK Transpose Trilu Unique Unsqueeze Where
        TensorScatter""",
    "reduce": """ArgMax ArgMin ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax
        ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare""",
    "nn": """Attention AveragePool BatchNormalization CausalConvWithState Col2Im Conv ConvTranspose DeformConv
        Dropout GlobalAveragePool GlobalLpPool GlobalMaxPool GroupNormalization
        InstanceNormalization LRN LayerNormalization LinearAttention LpNormalization LpPool MaxPool
        MaxUnpool MeanVarianceNormalization NegativeLogLikelihoodLoss RMSNormalization
        RotaryEmbedding SoftmaxCrossEntropyLoss""",
    "rnn": "GRU LSTM RNN",
    "controlflow": "If Loop Scan SequenceMap",
    "sequence": """ConcatFromSequence Optional OptionalGetElement OptionalHasElement SequenceAt
        SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength
        SplitToSequence""",
    "quantize": """ConvInteger DequantizeLinear DynamicQuantizeLinear MatMulInteger QLinearConv
        QLinearMatMul QuantizeLinear""",
    "logic": """And BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Equal Greater
        GreaterOrEqual IsInf IsNaN Less LessOrEqual Not Or Xor""",
    "random": """Bernoulli Multinomial RandomNormal RandomNormalLike RandomUniform
        RandomUniformLike""",
    "image": """AffineGrid CenterCropPad GridSample ImageDecoder MaxRoiPool NonMaxSuppression
        Resize RoiAlign Upsample""",
    "text": "RegexFullMatch StringConcat StringNormalizer StringSplit TfIdfVectorizer",
    "ml": "LabelEncoder TreeEnsemble TreeEnsembleClassifier TreeEnsembleRegressor",
}
FAMILY_OF = {name: family for family, names in MEMBERS.items() for name in names.split()}
DOMAINS = {"ai.onnx.preview.training": "training", "ai.onnx.ml": "ml"}

TYPES = {"bool": "bool", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64",
         "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "float16": "f16",
         "bfloat16": "bf16", "float": "f32", "double": "f64", "complex64": "c64",
         "complex128": "c128", "string": "str"}
# Sets that return often; the same as in schema.c. The largest that fits is taken first.
SETS = {
    "any": "u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64 str bool c64 c128".split(),
    "num": "u8 u16 u32 u64 i8 i16 i32 i64 f16 f32 f64".split(),
    "high": "u32 u64 i32 i64 f16 f32 f64".split(),
    "ieee": "f16 f32 f64".split(),
    "float8": "f8e4m3fn f8e4m3fnuz f8e5m2 f8e5m2fnuz".split(),
    "int4": "u4 i4".split(),
}
# What onnx.defs does not tell, found by asking the checker.
FLAGS = {"BatchNormalization": "one-or-all", "LayerNormalization": "open",
         "TreeEnsembleClassifier": "uninferred"}
ATTRIBUTE_TYPES = {1: "f", 2: "i", 3: "s", 4: "t", 5: "g", 6: "fs", 7: "is", 8: "ss", 9: "ts",
                   10: "gs", 11: "sp", 12: "sps", 13: "tp", 14: "tps"}


# ---- type sets ------------------------------------------------------------------------


def short_type(text):
    """`seq(tensor(float))` becomes ("seq", "f32"); a map is unchanged."""
    wrap = ""
    text = text.replace(" ", "")
    while match := re.fullmatch(r"(seq|optional)\((.*)\)", text):
        wrap += {"seq": "seq.", "optional": "opt."}[match[1]]
        text = match[2]
    if match := re.fullmatch(r"tensor\((.*)\)", text):
        return wrap, TYPES[match[1]]
    if match := re.fullmatch(r"map\((\w+),(?:tensor\()?(\w+)\)?\)", text):
        return wrap + "map.", TYPES[match[1]] + "-" + TYPES[match[2]]
    raise ValueError(text)


def print_types(types):
    """A set of (wrap, element) as text: `any,bf16,seq.any`."""
    words = []
    for wrap in sorted({w for w, _ in types}, key=lambda w: (w.count("."), w)):
        left = [t for w, t in types if w == wrap]
        for name, members in SETS.items():
            if set(members) <= set(left):
                words.append(wrap + name)
                left = [t for t in left if t not in members]
        words += [wrap + t for t in left]
    return ",".join(words)


def parse_types(text):
    types = []
    for word in text.split(","):
        wrap = word[:word.rfind(".") + 1]
        name = word[len(wrap):]
        types += [(wrap, t) for t in SETS.get(name, [name])]
    return list(dict.fromkeys(types))


# ---- rows -----------------------------------------------------------------------------


class Row:
    """One schema; all parts are texts of the row grammar."""

    def __init__(self, name, since, flags, inputs, outputs, attributes, types):
        self.name, self.since, self.flags = name, since, flags
        self.inputs, self.outputs, self.attributes = inputs, outputs, attributes
        self.types = types  # name -> list of (wrap, element)

    def parts(self):
        types = [f"{name}={print_types(t)}" for name, t in self.types.items()]
        parts = [[self.name, str(self.since)] + self.flags, self.inputs, self.outputs,
                 self.attributes, types]
        while parts and not parts[-1]:
            parts.pop()
        return [" ".join(p) for p in parts]

    def text(self):
        return " | ".join(self.parts())


def float_text(value):
    """The shortest decimal that is this float32."""
    for digits in range(1, 10):
        text = f"{value:.{digits}g}"
        if struct.pack("f", float(text)) == struct.pack("f", value):
            break
    return text


def default_text(value):
    if value.type == 1:
        return "=" + float_text(value.f)
    if value.type == 2:
        return f"={value.i}"
    if value.type == 3:
        return "=" + value.s.decode()
    if value.type == 6:
        return "=" + ",".join(map(float_text, value.floats))
    if value.type == 7:
        return "=" + ",".join(map(str, value.ints))
    if value.type == 8:
        return "=" + ",".join(s.decode() for s in value.strings)
    assert value.type == 0, value
    return ""


def parameter(p, minimum):
    mark = {"Single": "", "Optional": "?", "Variadic": "*" if p.isHomogeneous else "~"}
    text = p.name + mark[p.option.name]
    if p.option.name == "Variadic" and minimum != 1:
        text += str(minimum)
    kind = p.typeStr
    if "(" in kind:
        kind = "".join(short_type(kind))
    return f"{text}:{kind}"


def row_of_schema(s):
    flags = (["deprecated"] if s.deprecated else []) + \
        (["function"] if s.has_function or s.has_context_dependent_function else []) + \
        ([FLAGS[s.name]] if s.name in FLAGS else [])
    if not s.domain and not flags and not s.has_type_and_shape_inference_function:
        flags.append("uninferred")
    inputs = [parameter(p, s.min_input - len(s.inputs) + 1) for p in s.inputs]
    outputs = [parameter(p, s.min_output - len(s.outputs) + 1) for p in s.outputs]
    attributes = [f"{name}{'!' if a.required else ''}:{ATTRIBUTE_TYPES[int(a.type)]}"
                  f"{default_text(a.default_value)}" for name, a in sorted(s.attributes.items())]
    types = {t.type_param_str: [short_type(x) for x in t.allowed_type_strs]
             for t in s.type_constraints}
    return Row(s.name, s.since_version, flags, inputs, outputs, attributes, types)


def installed_rows():
    import onnx.defs
    rows = {}
    for schema in onnx.defs.get_all_schemas_with_history():
        family = DOMAINS.get(schema.domain) or FAMILY_OF[schema.name]
        rows.setdefault(family, []).append(row_of_schema(schema))
    return rows


def name_of(word):
    """`kernel_shape` of `kernel_shape!:is`."""
    return re.split(r"[!?*~:]", word)[0]


def apply_change(row, change):
    """`T+=float8`, `T=num`, `in+=axes?:i64`, `attr+=antialias:i=0`, `attr-=axes`, …"""
    target, sign, value = re.fullmatch(r"(\w+)(\+=|-=|=)(.*)", change).groups()
    lists = {"in": row.inputs, "out": row.outputs, "attr": row.attributes}
    if target == "flag":
        row.flags = [value] if sign == "=" else row.flags + [value]
    elif target in lists:
        same = [x for x in lists[target] if name_of(x) == name_of(value)]
        for x in same:
            lists[target].remove(x)
        assert sign == "+=" or same, (row.name, change)
        if sign == "+=":
            lists[target].append(value)
        if target == "attr":
            lists[target].sort(key=name_of)
    elif value == "" and sign == "=":
        del row.types[target]
    else:
        types = parse_types(value)
        row.types[target] = list(dict.fromkeys((row.types[target] if sign == "+=" else []) + types))


def newer_rows(rows):
    """Adds the rows of onnx_newer.txt, which are whole rows or changes to an older one."""
    for line in NEWER.read_text().splitlines():
        line = line.split("# ")[0].strip()
        if not line:
            continue
        if match := re.fullmatch(r"(\w+) (\d+) like (\d+)(?: (.*))?", line):
            family = FAMILY_OF[match[1]]
            old = next(r for r in rows[family] if r.name == match[1] and r.since == int(match[3]))
            flags = [flag for flag in old.flags if flag != "uninferred"]
            row = Row(old.name, int(match[2]), flags, list(old.inputs), list(old.outputs),
                      list(old.attributes), dict(old.types))
            for change in (match[4] or "").split():
                apply_change(row, change)
        else:
            parts = [p.split() for p in line.split("|")] + [[]] * 4
            head = parts[0]
            types = dict((t.split("=")[0], parse_types(t.split("=")[1])) for t in parts[4])
            row = Row(head[0], int(head[1]), head[2:], parts[1], parts[2],
                      sorted(parts[3], key=name_of), types)
            family = FAMILY_OF[row.name]
        rows.setdefault(family, []).append(row)


# ---- files ----------------------------------------------------------------------------


def c_string(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def print_row(row):
    text = row.text()
    if len(text) <= 92:
        return f"    {c_string(text)},\n"
    lines = textwrap.wrap(text, 88, break_long_words=False, break_on_hyphens=False)
    lines = [line + " " for line in lines[:-1]] + lines[-1:]
    return "    " + "\n    ".join(c_string(line) for line in lines) + ",\n"


def print_file(family, rows):
    out = f"/* Schemas: {FAMILIES[family]}. Written by tools/onnx_schemas.py. */\n" \
          f'#include "onnx/ops/rows.h"\n\n' \
          f"const char *const cq_onnx_rows_{family}[] = {{\n"
    for row in sorted(rows, key=lambda r: (r.name, r.since)):
        out += print_row(row)
    return out + "    NULL,\n};\n"


def main():
    parser = argparse.ArgumentParser(description="Prints the schema rows of src/onnx/ops.")
    parser.add_argument("--check", action="store_true", help="write nothing, fail if stale")
    options = parser.parse_args()
    rows = installed_rows()
    if NEWER.exists():
        newer_rows(rows)
    stale = 0
    for family in FAMILIES:
        path, text = OPS / f"{family}.c", print_file(family, rows.get(family, []))
        if path.exists() and path.read_text() == text:
            continue
        stale += 1
        if options.check:
            print(f"{path.relative_to(ROOT)} is stale")
        else:
            path.write_text(text)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
