#!/usr/bin/python3
"""calque audit: hostile files, made here from the published weaknesses of onnx and PyTorch, are never
called safe; honest ones are never called hostile. Nothing of what the files would do is ever run."""
import io
import json
import os
import pathlib
import pickle
import struct
import sys
import tempfile
import zipfile
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "peer"))
import peers  # noqa: E402

GLOBALS = ["os system", "posix system", "nt system", "subprocess Popen", "subprocess check_output",
           "builtins eval", "builtins exec", "builtins compile", "builtins open", "builtins getattr",
           "builtins __import__", "__builtin__ eval", "runpy run_path", "webbrowser open",
           "importlib import_module", "ctypes CDLL", "torch load", "torch.hub load", "torch.serialization load",
           "torch.utils.collect_env run", "torch.jit.unsupported_tensor_ops execWrapper",
           "torch._dynamo.guards GuardBuilder.get", "torch.utils._config_module load_config",
           "torch.utils.bottleneck.__main__ run_cprofile", "torch.fx.experimental.symbolic_shapes ShapeEnv",
           "pickle loads", "_pickle loads", "marshal loads", "socket create_connection", "shutil rmtree",
           "pty spawn", "code InteractiveInterpreter", "cProfile run", "pdb run", "timeit timeit",
           "asyncio run", "multiprocessing Process", "operator attrgetter", "operator methodcaller",
           "functools reduce", "types FunctionType", "types CodeType", "pip main", "idlelib.run Executive",
           "pydoc locate", "http.client HTTPSConnection", "urllib.request urlopen", "requests get",
           "numpy.testing._private.utils runstring", "numpy.f2py.crackfortran getlincoef", "io open",
           "_io FileIO", "tempfile mktemp", "logging.config listen", "sys exit", "bdb Bdb", "trace Trace",
           "lib2to3.pgen2.grammar Grammar.loads", "ensurepip bootstrap", "distutils.spawn spawn",
           "torch._utils _import_dotted_name", "torch._C _import_py_module", "gzip open", "py_compile compile",
           "wsgiref.simple_server make_server", "random _os.system", "weakref finalize", "pathlib Path.write_text",
           "numpy load", "torch.package PackageImporter", "zipimport zipimporter"]
THROUGH = [("collections", "sys.modules"), ("torch.serialization", "os.system"), ("pathlib", "os.system"),
           ("numpy", "__builtins__.eval"), ("torch", "nn.__class__")]


def stack_global(module, name):
    return b"\x8c" + bytes([len(module)]) + module.encode() + b"\x8c" + bytes([len(name)]) + \
        name.encode() + b"\x93"


def call(module, name, text="id"):
    """A pickle that calls module.name('id'), as protocols 0 and 4 write it."""
    yield f"c{module}\n{name}\n(S'{text}'\ntR.".encode()
    yield b"\x80\x04" + stack_global(module, name) + b"\x8c\x02id\x85R."
    yield f"(S'{text}'\ni{module}\n{name}\n.".encode()


def archive(data, name="archive/data.pkl", extra=(), method=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as zipped:
        zipped.writestr(name, data)
        for other, text in extra:
            zipped.writestr(other, text)
    return out.getvalue()


def tensor(numel=4, size=(2, 2), stride=(2, 1), offset=0, claimed=None):
    """The pickle of one float tensor, as torch.save writes it."""
    ints = lambda values: b"(" + b"".join(b"\x8a\x08" + struct.pack("<q", v) for v in values) + b"t"
    storage = b"(X\x07\x00\x00\x00storagectorch\nFloatStorage\nX\x01\x00\x00\x000X\x03\x00\x00\x00cpu" + \
        b"\x8a\x08" + struct.pack("<q", claimed if claimed is not None else numel) + b"tQ"
    return b"\x80\x02ctorch._utils\n_rebuild_tensor_v2\n(" + storage + b"\x8a\x08" + \
        struct.pack("<q", offset) + ints(size) + ints(stride) + b"\x89ccollections\nOrderedDict\n)RtR."


def with_storage(pickled, n_bytes=16):
    return archive(pickled, extra=[("archive/data/0", b"\0" * n_bytes), ("archive/version", "3\n")])


def safetensors(header, data=b"\0" * 16):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def field(number, data):
    """A field of protobuf, bytes or a number."""
    def varint(n):
        out = b""
        while n > 127:
            out += bytes([n & 127 | 128])
            n >>= 7
        return out + bytes([n])
    if isinstance(data, int):
        return varint(number << 3) + varint(data)
    data = data.encode() if isinstance(data, str) else data
    return varint(number << 3 | 2) + varint(len(data)) + data


def endless_loop():
    """A Loop whose body returns the condition that it is given."""
    def value(name):
        return field(1, name)
    body = field(1, field(1, "c") + field(2, "c2") + field(4, "Identity")) + \
        field(1, field(1, "v") + field(2, "v2") + field(4, "Identity")) + field(2, "b") + \
        b"".join(field(11, value(n)) for n in ("i", "c", "v")) + \
        b"".join(field(12, value(n)) for n in ("c2", "v2"))
    loop = field(1, "") + field(1, "") + field(1, "w") + field(2, "y") + field(4, "Loop") + \
        field(5, field(1, "body") + field(6, body) + field(20, 5))
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + field(7, field(1, loop) + field(2, "g"))


def external(location, size=4, **entries):
    """An ONNX model whose weight is in a file."""
    pairs = b"".join(field(13, field(1, k) + field(2, v)) for k, v in {"location": location, **entries}.items())
    weight = field(1, size) + field(2, 1) + field(8, "w") + pairs + field(14, 1)
    return model(field(5, weight))


OUTPUT = field(12, field(1, "y") + field(2, field(1, field(1, 1) + field(2, field(1, field(1, 4))))))
WEIGHT = field(5, field(1, 4) + field(2, 1) + field(8, "w") + field(9, b"\0" * 16))


def model(graph, functions=b"", domain=""):
    node = field(1, "w") + field(2, "y") + field(4, "Identity") + (field(7, domain) if domain else b"")
    return field(1, 8) + field(8, field(1, "") + field(2, 17)) + \
        field(7, field(1, node) + field(2, "g") + graph + OUTPUT) + functions


def function(name, calls):
    node = field(1, "a") + field(2, "b") + field(4, calls) + field(7, "f")
    return field(25, field(1, name) + field(4, "a") + field(5, "b") + field(7, node) + field(10, "f"))


def patched(data, old, new):
    """The archive with its first (local) occurrence replaced."""
    at = data.index(old)
    return data[:at] + new + data[at + len(old):]


def overlapping():
    """Two entries with the same bytes, as better zip bombs have them."""
    data = bytearray(archive(b"a" * 100, "x/a", [("x/b", b"b" * 100)]))
    second = data.index(b"PK\1\2", data.index(b"PK\1\2") + 4)
    data[second + 42:second + 46] = struct.pack("<I", 0)
    return bytes(data)


def call_of(module, name, size):
    """A pickle that calls module.name(size)."""
    return b"\x80\x02c" + f"{module}\n{name}\n".encode() + b"\x8a\x08" + struct.pack("<q", size) + b"\x85R."


def program(target="torch.ops.aten.relu.default", size="Max(2, 3*s0)", guards=()):
    """A program of torch.export; its reader resolves the target, and evaluates size and guards."""
    nodes = [{"target": target, "inputs": [], "outputs": []}]
    graph = {"nodes": nodes, "sym_int_values": {"s0": {"as_expr": {"expr_str": size}}}}
    text = json.dumps({"graph_module": {"graph": graph}, "guards_code": list(guards), "open": 1})
    return archive(text, "m/models/model.json", [("m/archive_format", "pt2")])


def changed(data, sign, at, new):
    """The archive with bytes of its last record of a kind replaced."""
    start = data.rindex(sign) + at
    return data[:start] + new + data[start + len(new):]


def other_name():
    """An entry with another name in the field for names in UTF-8."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        info = zipfile.ZipInfo("archive/data.pk_")
        info.extra = struct.pack("<HHBI", 0x7075, 21, 1, zlib.crc32(b"archive/data.pk_")) + b"archive/data.pkl"
        zipped.writestr(info, b"N.")
    return out.getvalue()


def without_directory_entry():
    """Two entries, of which the directory lists the first one."""
    data = archive(b"\x80\x02}.", extra=[("archive/evil.pkl", next(call("os", "system")))])
    first = data.index(b"PK\1\2")
    second, end = data.index(b"PK\1\2", first + 4), data.rindex(b"PK\5\6")
    return data[:second] + data[end:end + 8] + struct.pack("<HHI", 1, 1, second - first) + data[end + 16:]


def script(line):
    return archive(b"\x80\x02}.", extra=[("archive/code/__torch__.py", f"def f(x):\n  return {line}\n")])


def hostile_archives():
    evil = next(call("os", "system"))
    yield "name in capitals.pt", archive(evil, "archive/DATA.PKL"), "dangerous-global"
    yield "name with a slash.pt", archive(evil, "archive/data.pkl/"), "dangerous-global"
    yield "pickle as a storage.pt", archive(b"\x80\x02}.", extra=[("archive/data/0", evil)]), "dangerous-global"
    yield "pickle of protocol 1.pt", archive(b"\x80\x02}.", extra=[("archive/x", b"}q\x00(" + evil)]), \
        "dangerous-global"
    yield "two cases.pt", archive(b"\x80\x02}.", extra=[("archive/Data.pkl", b"\x80\x02].")]), "zip-duplicate"
    yield "other name.pt", other_name(), "zip-header"
    yield "hidden entry.pt", without_directory_entry(), "zip-hidden"
    yield "wrong checksum.pt", changed(archive(evil), b"PK\1\2", 16, b"\1\2\3\4"), "dangerous-global"
    yield "said to be encrypted.pt", changed(archive(evil), b"PK\1\2", 8, b"\1"), "dangerous-global"
    yield "appended and padded.npy", plain_npy() + archive(evil) + b"xx", "two-formats"
    yield "target.pt2", program("torch.serialization.os.system"), "call-target"
    yield "target of hub.pt2", program("torch.hub.load"), "call-target"
    yield "target of builtins.pt2", program("builtins.eval"), "call-target"
    yield "size.pt2", program(size="__import__('os').system('id')"), "expression"
    yield "size that evaluates.pt2", program(size="s0 + eval('1')"), "expression"
    yield "guard.pt2", program(guards=["L['x'].size()[0] == 2", "__import__('os').system('id')"]), "expression"
    yield "blanks.pt", script("torch . from_file ('/etc/passwd', False, 9)"), "code"


def hostile_texts():
    yield "escapes of STRING.pkl", b"S'\\x6fs'\nS'sys\\164em'\n\x93(S'id'\ntR.", "dangerous-global"
    yield "escapes of UNICODE.pkl", b"V\\u006fs\nVsystem\n\x93(Vid\ntR.", "dangerous-global"
    yield "BUILD of a class.pkl", b"\x80\x02ccollections\nOrderedDict\nN}X\x01\x00\x00\x00aK\x01s\x86b.", \
        "build-on-class"
    yield "BUILD of a module.pkl", b"\x80\x02ctorch.nn.modules.linear\nF\n}X\x04\x00\x00\x00reluK\x01sb.", \
        "build-on-class"
    yield "stack is empty behind the call.pkl", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R0000.", \
        "dangerous-global"
    yield "NEWOBJ_EX.pkl", b"\x80\x04" + stack_global("os", "system") + b"\x8c\x02id\x85}\x92.", "dangerous-global"
    yield "OBJ.pkl", b"(cos\nsystem\nS'id'\no.", "dangerous-global"


def hostile_models():
    locations = field(13, field(1, "location") + field(2, "w.bin")) + \
        field(13, field(1, "location") + field(2, "/etc/passwd"))
    yield "two locations.onnx", model(field(5, field(1, 4) + field(2, 1) + field(8, "w") + locations +
                                            field(14, 1))), "external-path"
    yield "location of inner data.onnx", model(field(5, field(1, 4) + field(2, 1) + field(8, "w") +
                                                     locations + field(9, b"\0" * 16))), "external-path"
    yield "compiled.onnx", model(WEIGHT + field(1, field(1, "w") + field(4, "EPContext") + field(7, "com.microsoft") +
                                                field(5, field(1, "ep_cache_context") + field(4, "../../evil.so") +
                                                      field(20, 3)))), "external-path"
    yield "two graphs.onnx", model(WEIGHT) + field(7, field(2, "evil")), "two-graphs"


def hostile(folder):
    """(name, bytes, codes of which one must be reported)"""
    for pair in GLOBALS:
        for i, data in enumerate(call(*pair.split())):
            yield f"{pair} {i}.pkl", data, "dangerous-global"
        yield f"{pair} in an archive.pt", archive(next(call(*pair.split()))), "dangerous-global"
    for module, name in THROUGH:
        yield f"{module} {name}.pkl", b"\x80\x04" + stack_global(module, name) + b".", "dangerous-global"
    evil = next(call("os", "system"))
    yield "deflated.pt", archive(evil, method=zipfile.ZIP_DEFLATED), "dangerous-global"
    yield "constants.pt", archive(b"\x80\x02}.", extra=[("archive/constants.pkl", evil)]), "dangerous-global"
    yield "nested.pt2", archive(b"{}", "m/models/model.json",
                                [("m/data/weights/model.pt", archive(evil))]), "dangerous-global"
    yield "renamed.pt", archive(b"\x80\x02}.", extra=[("archive/data/9", b"\x80\x02" + evil)]), "dangerous-global"
    yield "broken behind the call.pkl", evil[:-1] + b"\xff", "dangerous-global"
    yield "second pickle.pkl", b"\x80\x02}.\x80\x02" + evil, "dangerous-global"
    yield "object array.npy", numpy_object(evil), "dangerous-global"
    yield "computed.pkl", b"\x80\x04K\x01K\x02\x93.", "computed-global"
    yield "legacy.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M\xe9\x03.\x80\x02}." + \
        b"\x80\x02" + evil + b"\x80\x02].", "dangerous-global"
    yield "SETITEM on a tensor.pt", with_storage(tensor()[:-1] + b"K\x00K\x01s."), "wrong-container"
    yield "SETITEMS on a text.pt", archive(b"\x80\x02X\x01\x00\x00\x00a(K\x00K\x01u."), "wrong-container"
    yield "APPEND on a dict.pt", archive(b"\x80\x02}K\x01a."), "wrong-container"
    yield "SETITEM on a number.pt", archive(b"\x80\x02K\x05K\x00K\x01s."), "wrong-container"
    yield "call of a text.pkl", b"\x80\x02X\x01\x00\x00\x00a)R.", "call-of-data"
    yield "tensor beyond its storage.pt", with_storage(tensor(size=(100, 100), stride=(100, 1))), \
        "tensor-beyond-storage"
    yield "offset beyond.pt", with_storage(tensor(offset=1 << 40)), "tensor-beyond-storage"
    yield "negative stride.pt", with_storage(tensor(stride=(-2, 1))), "tensor-size"
    yield "numel overflows.pt", with_storage(tensor(size=(1 << 62, 4), stride=(0, 1))), "tensor-size"
    yield "storage smaller than it claims.pt", with_storage(tensor(claimed=1 << 20), 16), "storage-too-small"
    yield "strides without sizes.pt", with_storage(tensor(size=(2,), stride=(1, 1))), "tensor-strides"
    yield "from_file.pt", archive(b"\x80\x02}.", extra=[
        ("archive/code/__torch__.py", "def f():\n  return torch.from_file('/etc/passwd', False, 9)\n")]), "code"
    yield "duplicate.pt", duplicate(), "zip-duplicate"
    yield "overlap.zip", overlapping(), "zip-overlap"
    good = archive(b"\x80\x02}.")
    yield "local name.pt", patched(good, b"archive/data.pkl", b"archive/evil.pkl"), "zip-header"
    yield "local size.pt", good[:18] + struct.pack("<I", 9999) + good[22:], "zip-header"
    yield "absolute.zip", archive(b"x", "/etc/cron.d/x"), "zip-path"
    yield "dots.zip", archive(b"x", "a/../../x"), "zip-path"
    yield "appended.npy", plain_npy() + archive(evil), "two-formats"
    yield "absolute.onnx", external("/etc/passwd"), "external-path"
    yield "dots.onnx", external("../../etc/passwd"), "external-path"
    yield "inner dots.onnx", external("a/../../b"), "external-path"
    yield "backslash.onnx", external("..\\b"), "external-path"
    os.symlink("/etc/passwd", folder / "link.bin")
    yield "link.onnx", external("link.bin"), "external-link"
    (folder / "real").mkdir()
    (folder / "real/w.bin").write_bytes(b"\0" * 16)
    os.symlink("real", folder / "folder")
    yield "link of a folder.onnx", external("folder/w.bin"), "external-link"
    yield "calls itself.onnx", model(b"", function("f", "f"), "f"), "cyclic-function"
    yield "cycle of two.onnx", model(b"", function("g", "h") + function("h", "g"), "f"), "cyclic-function"
    yield from hostile_archives()
    yield from hostile_texts()
    yield from hostile_models()
    yield "overlap.safetensors", safetensors({
        "a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]},
        "b": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]}}), "tensor-overlap"
    yield "shape.safetensors", safetensors({"a": {"dtype": "F32", "shape": [1 << 40, 1 << 40],
                                                  "data_offsets": [0, 16]}}), "tensor-size"
    yield "twice.safetensors", safetensors(
        b'{"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]},"a":{"dtype":"F32","shape":[4],'
        b'"data_offsets":[0,16]}}'), "tensor-duplicate"


def unknown(folder):
    for module, name in (("builtins", "bytearray"), ("builtins", "range"), ("torch", "FloatTensor"), ("numpy", "ndarray")):
        yield f"large {name}.pkl", call_of(module, name, 1 << 40), "large-allocation"
    yield "hook.pkl", b"\x80\x02ctorch.nn.modules.module\nregister_module_forward_hook\nN\x85R.", "unknown-global"
    yield "persistent id.pkl", b"\x80\x02X\x02\x00\x00\x00idQ.", "persistent-id"
    good = archive(b"\x80\x02}.")
    yield "checksum.pt", changed(patched(good, good[14:18], b"\1\2\3\4"), b"PK\1\2", 16, b"\1\2\3\4"), "zip-checksum"
    yield "strong encryption.pt", changed(good, b"PK\1\2", 8, b"\x40"), "zip-encrypted"
    yield "several disks.pt", changed(good, b"PK\5\6", 8, b"\5\0"), "zip-two-ends"
    yield "function of torch.pt2", program("torch.cuda.something"), "call-target"
    yield "function of a size.pt2", program(size="helper(s0)"), "expression"
    yield "escaped target.pt2", archive(b'{"target": "torch.\\u0068ub.load"}', "m/models/model.json"), "call-target"
    yield "gap.safetensors", safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]},
                                          "b": {"dtype": "F32", "shape": [2], "data_offsets": [8, 16]}}), "tensor-gap"
    yield "tail.safetensors", safetensors({"a": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}), "tensor-gap"
    yield "metadata.safetensors", safetensors({"__metadata__": {"a": 1}}, b""), "damaged-header"
    (folder / "one.bin").write_bytes(b"\0" * 16)
    os.link(folder / "one.bin", folder / "two.bin")
    yield "hard link.onnx", external("two.bin"), "external-link"
    yield "no elements.onnx", model(field(5, field(1, 1 << 40) + field(2, 1) + field(8, "w"))), "tensor-size"
    yield "script.onnx", model(WEIGHT) + field(14, field(1, "a") + field(2, "<Script>alert(1)</script>")), "markup"
    size = field(5, field(1, 1) + field(2, 7) + field(8, "s") + field(9, struct.pack("<q", 1 << 40)))
    yield "large value.onnx", model(WEIGHT + size + field(
        1, field(1, "s") + field(2, "t") + field(4, "ConstantOfShape"))), "large-allocation"
    yield "invalid.onnx", model(WEIGHT + WEIGHT), "invalid-model"
    yield "class of somebody.pkl", b"\x80\x02csomebody.models\nNet\n)\x81.", "unknown-global"
    yield "extension.pkl", b"\x80\x02\x82\x07.", "extension-code"
    yield "cut short.pt", archive(b"\x80\x02}q"), "damaged-pickle"
    yield "trailing.pt", archive(b"\x80\x02}.hidden"), "trailing-bytes"
    yield "library.pt2", archive(b"{}", "m/models/model.json", [("m/data/aotinductor/x.so", b"\177ELF" * 9)]), \
        "native-code"
    yield "custom.onnx", model(b"", domain="my.company"), "custom-domain"
    yield "missing.onnx", external("nothing.bin"), "external-data"
    yield "control.onnx", model(field(1, field(1, "w") + field(2, "a\x1b[2J") + field(4, "Relu"))), "control-characters"
    shared = b"\x80\x02]q\x00" + b"".join(b"](h%ch%ceq%c" % (i, i, i + 1) for i in range(40)) + b"."
    yield "shared lists.pkl", shared, "amplification"
    yield "shared dicts.pt", archive(b"\x80\x02}q\x00" + b"".join(
        b"}(X\x01\0\0\0ah%cX\x01\0\0\0bh%cuq%c" % (i, i, i + 1) for i in range(30)) + b"."), "amplification"
    yield "bomb.pt", archive(b"\x80\x02" + b"]0" * 2000000 + b"].", method=zipfile.ZIP_DEFLATED), "zip-bomb"
    yield "endless.onnx", endless_loop(), "endless-loop"
    yield "sparse.onnx", model(field(15, field(1, field(1, 1) + field(2, 1) + field(4, b"\0" * 4) + field(8, "s")) +
                                     field(2, field(1, 1) + field(2, 7) + field(7, b"\0")) +
                                     field(3, 1 << 20) + field(3, 1 << 20))), "tensor-size"
    yield "stripped.onnx", external('{"type": "stripped", "average": 0, "variance": 1}', size=1 << 31), "stripped-size"
    yield "7z.pt", b"7z\xbc\xaf\x27\x1c" + b"\0" * 40, "unknown-format"
    yield "nonsense.bin", b"hello" * 20, "unknown-format"
    yield "empty.pt", b"", "unknown-format"
    yield "truncated.safetensors", safetensors({"a": {"dtype": "F32", "shape": [9], "data_offsets": [0, 36]}}), \
        "tensor-size"


def safe():
    yield "dict.pkl", pickle.dumps({"a": [1, 2.5, None, True, "x", (1, 2), {3}]}, 4)
    yield "protocol 2.pkl", pickle.dumps({"a": [1, 2]}, 2)
    yield "tensor.pt", with_storage(tensor())
    yield "expanded.pt", with_storage(tensor(size=(1000, 2), stride=(0, 1)))
    yield "array.npy", plain_npy()
    yield "plain.safetensors", safetensors({"a": {"dtype": "F32", "shape": [4], "data_offsets": [0, 16]}})
    yield "plain.onnx", model(WEIGHT)
    yield "program.pt2", program("_operator.mul", guards=["L['x'].size()[0] >= 2"])
    yield "script.pt", script("torch.add (x, 1)")
    yield "small.pkl", call_of("builtins", "bytearray", 1000)
    yield "shared.pkl", pickle.dumps([[{"lr": 0.1}] * 50] * 20, 2)
    opsets = [field(n, field(1, "f") + field(2, 1)) + field(n, field(1, "") + field(2, 17)) for n in (8, 9)]
    inner = field(1, "a") + field(2, "b") + field(4, "Relu")
    outer = field(1, "a") + field(2, "b") + field(4, "g") + field(7, "f")
    functions = b"".join(field(25, field(1, name) + field(4, "a") + field(5, "b") + field(7, node) + opsets[1] +
                               field(10, "f")) for name, node in (("Identity", outer), ("g", inner)))
    yield "function.onnx", model(WEIGHT, functions + field(8, field(1, "f") + field(2, 1)), "f")


def plain_npy():
    text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 2), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + b"\0" * 16


def numpy_object(pickled):
    text = b"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + pickled


def duplicate():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as zipped:
        zipped.writestr("archive/data.pkl", b"\x80\x02}.")
        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            zipped.writestr("archive/data.pkl", next(call("os", "system")))
    return out.getvalue()


def audit(path):
    code, out, errors = peers.calque("audit", "--json", path)
    assert not errors, errors
    found, = json.loads(out)
    assert code == (found["verdict"] != "safe"), f"exit code {code} of {found['verdict']}"
    return found["verdict"], {f["code"] for f in found["findings"] if f["verdict"] != "safe"}


def check(folder, name, data, verdict, code=None):
    path = folder / name.replace("/", "_")
    path.write_bytes(data)
    got, codes = audit(path)
    assert got == verdict, f"{got} ({codes}), expected {verdict}"
    assert code is None or code in codes, f"{codes} instead of {code}"


def check_honest():
    found = sorted(path for path in (peers.ROOT / "tests/data").rglob("*")
                   if path.suffix in (".pt", ".pth", ".pt2", ".onnx", ".npy", ".safetensors"))
    _, out, _ = peers.calque("audit", "--json", *found)
    verdicts = {f["file"]: f["verdict"] for f in json.loads(out)}
    assert len(verdicts) == len(found) > 200, f"{len(verdicts)} of {len(found)} files"
    bad = [name for name, verdict in verdicts.items() if verdict == "hostile"]
    assert not bad, f"called hostile: {bad[:5]}"
    n_safe = sum(verdict == "safe" for verdict in verdicts.values())
    assert n_safe > 0.9 * len(found), f"{n_safe} of {len(found)} are safe"


def check_reports(folder):
    path = folder / "evil.pkl"
    path.write_bytes(next(call("os", "system")))
    code, out, _ = peers.calque("audit", path)
    assert code == 1 and "hostile (pickle)" in out and "calls os.system(" in out, out
    code, out, _ = peers.calque("audit", "--sarif", path)
    result = json.loads(out)["runs"][0]["results"]
    assert {r["ruleId"] for r in result} == {"dangerous-global", "dangerous-call"}, result
    assert all(r["level"] == "error" for r in result)
    code, _, errors = peers.calque("audit", folder / "missing.pt")
    assert code == 1 and "missing.pt" in errors
    assert peers.calque("audit")[0] == 2


def check_safetensors(folder):
    """The tensors alone, also of a pickle that would run code; the numbers are the storage's."""
    values = struct.pack("<4f", 1, 2, 3, 4)
    path, out = folder / "t.pt", folder / "t.safetensors"
    path.write_bytes(archive(b"\x80\x02}X\x01\0\0\0w" + tensor()[2:-1] + b"s.",
                             extra=[("archive/data/0", values)]))
    code, text, err = peers.calque("audit", path, "--safetensors", out)
    assert code == 0 and "1 tensors" in err, (text, err)
    data = out.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    assert header == {"w": {"dtype": "F32", "shape": [2, 2], "data_offsets": [0, 16]}}, header
    assert data[8 + size:] == values
    out.unlink()
    path.write_bytes(b"no tensors")
    code, text, err = peers.calque("audit", path, "--safetensors", out)
    assert code == 1 and not out.exists(), err
    assert peers.calque("audit", path, path, "--safetensors", out)[0] == 2


def main():
    report = peers.Report(__file__)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for name, data, code in hostile(folder):
            with report.case(f"hostile: {name}"):
                check(folder, name, data, "hostile", code)
        for name, data, code in unknown(folder):
            with report.case(f"unknown: {name}"):
                check(folder, name, data, "unknown", code)
        for name, data in safe():
            with report.case(f"safe: {name}"):
                check(folder, name, data, "safe")
        with report.case("honest files"):
            check_honest()
        with report.case("reports"):
            check_reports(folder)
        with report.case("safetensors"):
            check_safetensors(folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
