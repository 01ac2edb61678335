#!/usr/bin/python3
"""Archives of the real PyTorch: compares every value that calque reads with PyTorch's. Files that
are not archives and damaged archives must be rejected with the right reason.

    archive.py [TOOL]        TOOL: tests/archive_dump of a build folder
"""
import enum
import pathlib
import pickle
import struct
import subprocess
import sys
import tempfile
import typing
import warnings
import zipfile
import zlib

from peers import BUILD, Report, calque

TOOL = sys.argv[1] if len(sys.argv) > 1 else str(BUILD / "tests/archive_dump")


class Tool:
    """A running archive_dump, whose listing is returned as a dict."""

    def __init__(self):
        self.process = subprocess.Popen([TOOL], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True, errors="replace")

    def __call__(self, request):
        self.process.stdin.write(f"{request}\n")
        self.process.stdin.flush()
        found = {"origins": set()}
        for line in self.process.stdout:
            if line == "end\n":
                return found
            name, _, value = line.rstrip("\n").partition("\t")
            if name == "origin":
                found["origins"].add(value.rpartition(":")[0].rpartition("/")[2])
            else:
                found[name] = value
        raise AssertionError("the tool died")


# ---- PyTorch's values ------------------------------------------------------------------


def describe_tensor(t):
    dims = "".join(f" {size}:{stride}" for size, stride in zip(t.shape, t.stride()))
    total = 0.0
    if not t.is_complex():
        flat = t.detach().contiguous().double().flatten()
        weights = torch.arange(flat.numel()) % 7 + 1
        total = float((flat * weights).sum())
    return f"tensor {str(t.dtype)[6:]} ({dims} )", total


def expect_tensor(found, name, t):
    text, total = describe_tensor(t)
    got, _, rest = found[name].partition(" ) ")
    assert got + " )" == text, f"{name}: {got} ) instead of {text}"
    value = float(rest.split()[0])
    assert abs(value - total) <= 1e-6 * (1 + abs(total)), f"{name}: {value} instead of {total}"


def expect(found, name, value):
    if isinstance(value, torch.Tensor):
        expect_tensor(found, name, value)
    elif isinstance(value, bool):
        assert found[name] == f"bool {int(value)}", found[name]
    elif isinstance(value, int):
        assert found[name] == f"int {value}", found[name]
    elif isinstance(value, float):
        assert float(found[name].split()[1]) == value, found[name]
    elif isinstance(value, complex):
        assert found[name] == f"complex {value.real:.17g} {value.imag:.17g}", found[name]
    elif isinstance(value, str):
        assert found[name] == f"str {len(value.encode())}", found[name]
    elif isinstance(value, torch.device):
        assert found[name] == f"device {value}", found[name]
    elif isinstance(value, (list, tuple)):
        assert found[name] == f"{'list' if isinstance(value, list) else 'tuple'} {len(value)}"
        for i, item in enumerate(value):
            expect(found, f"{name}.{i}", item)
    elif isinstance(value, dict):
        assert found[name] == f"dict {len(value)}", found[name]
        for i, (key, item) in enumerate(value.items()):
            expect(found, f"{name}.{key if isinstance(key, str) else i}", item)
    else:
        assert value is None and found[name] == "None", (value, found[name])


def expect_module(found, module, prefix="root"):
    for name, value in module.state_dict().items():
        expect_tensor(found, f"{prefix}.{name}", value)


# ---- models -----------------------------------------------------------------------------


def make_classes():
    class Color(enum.Enum):
        RED = 1
        BLUE = 2

    class Everything(torch.nn.Module):
        names: typing.Dict[str, int]
        empty: typing.List[str]

        def __init__(self):
            super().__init__()
            base = torch.arange(24.0)
            self.register_buffer("base", base)
            self.register_buffer("view", base.view(2, 3, 4).transpose(0, 2))
            self.register_buffer("tail", base[5:9])
            self.register_buffer("wide", torch.ones(1, 3).expand(4, 3))
            self.register_buffer("last", torch.randn(2, 3, 4, 5).contiguous(
                memory_format=torch.channels_last))
            self.register_buffer("nothing", None)
            self.register_buffer("empty_tensor", torch.zeros(0, 3))
            self.register_buffer("scalar", torch.tensor(7))
            for dtype in ("float16", "bfloat16", "float64", "int8", "int16", "int32", "uint8",
                          "bool", "complex64", "complex128"):
                self.register_buffer("of_" + dtype, torch.ones(3).to(getattr(torch, dtype)))
            self.count, self.rate, self.flag, self.text = 3, 0.25, True, "gr\u00fc\u00dfe"
            self.big, self.negative, self.z = 1 << 40, -70000, 1 + 2j
            self.ints, self.floats, self.bools = [1, 2, 3], [0.5, float("inf")], [True, False]
            self.texts, self.pair = ["a", "b"], (1, "x", 2.0, None)
            self.names, self.empty = {"one": 1, "two": 2}, []
            self.tensors = [torch.ones(2), base]
            self.device = torch.device("cpu")
            self.dtype = torch.float16
            self.inner = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.BatchNorm1d(3))
            self.tied = torch.nn.Linear(2, 3)
            self.tied.weight = self.inner[0].weight

        def forward(self, x):
            return self.tied(self.inner(x)) + len(self.ints) + len(self.texts) + self.count

    return Everything


def save(folder, name, model):
    path = folder / f"{name}.pt"
    torch.jit.save(model, str(path))
    return path


def test_everything(report, tool, folder):
    model = make_classes()().eval()
    path = save(folder, "everything", torch.jit.script(model))
    with report.case("every kind of attribute"):
        found = tool(path)
        expect_module(found, model)
        for name in ("count", "rate", "flag", "text", "big", "negative", "z", "ints", "floats",
                     "bools", "texts", "pair", "names", "empty", "tensors", "device"):
            if f"root.{name}" in found or name in ("ints", "texts", "count"):
                expect(found, f"root.{name}", getattr(model, name))
        assert found["version"] == "3", found["version"]
        assert found["origins"] >= {"archive.py", "linear.py"}, found["origins"]
    with report.case("repacked with deflate, under another name and order"):
        again = folder / "again.pt"
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(again, "w", zipfile.ZIP_DEFLATED) as new:
            for entry in reversed(old.namelist()):
                new.writestr("other/" + entry.split("/", 1)[1], old.read(entry))
        assert {k: v for k, v in tool(again).items() if k != "code"} == \
               {k: v for k, v in tool(path).items() if k != "code"}
    return path


def test_models(report, tool, folder):
    import torchvision.models as tv
    for name in ("resnet18", "googlenet", "mobilenet_v3_small", "swin_t"):
        model = getattr(tv, name)(weights=None).eval()
        with report.case(f"torchvision {name}"):
            expect_module(tool(save(folder, name, torch.jit.script(model))), model)
            (folder / f"{name}.pt").unlink()


def test_quantized(report, tool, folder):
    with report.case("quantized tensors"):
        model = torch.nn.Sequential(torch.nn.Linear(4, 5)).eval()
        model = torch.quantization.quantize_dynamic(model, {torch.nn.Linear}, torch.qint8)
        found = tool(save(folder, "quantized", torch.jit.script(model)))
        assert any(str(value).startswith("quantized 12 ") for value in found.values()), found
    with report.case("a lite archive"):
        model = torch.nn.Linear(4, 5).eval()
        path = folder / "lite.ptl"
        torch.jit.script(model)._save_for_lite_interpreter(str(path))
        expect_module(tool(path), model)


# ---- state dicts --------------------------------------------------------------------------


def test_state_dicts(report, tool, folder):
    model = torch.nn.Sequential(torch.nn.Conv2d(3, 4, 3), torch.nn.BatchNorm2d(4))
    state = model.state_dict()
    path = folder / "state.pt"
    for what, saved in (("a state dict", state), ("a checkpoint", {"epoch": 3, "model": state}),
                        ("parameters", dict(model.named_parameters())),
                        ("the only dict", {"weights": dict(state), "lr": 0.1})):
        for protocol in (2, 4):
            with report.case(f"{what}, protocol {protocol}"):
                torch.save(saved, str(path), pickle_protocol=protocol)
                found = tool(f"state {path}")
                expected = dict(model.named_parameters()) if what == "parameters" else state
                assert list(found)[1:] == list(expected), found
                for name, t in expected.items():
                    expect_tensor(found, name, t)
    with report.case("two dicts, none of them usual"):
        torch.save({"a": dict(state), "b": dict(state)}, str(path))
        found = tool(f"state {path}")
        assert "several state dicts could be meant; the file has weights at 'a', 'b'" in found["error"], found
        assert list(tool(f"state {path}:b"))[1:] == list(state)


# ---- rejected files ---------------------------------------------------------------------------


class Evil:
    def __reduce__(self):
        return (print, ("this must never be printed",))


def refused(folder, good):
    """The name, the command, and a part of the expected reason."""
    def file(name, data):
        (folder / name).write_bytes(data)
        return folder / name

    def torch_save(name, value, **options):
        torch.save(value, str(folder / name), **options)
        return folder / name

    def rewritten(name, change):
        with zipfile.ZipFile(good) as old, zipfile.ZipFile(folder / name, "w") as new:
            for entry in old.namelist():
                data = change(entry.split("/", 1)[1], old.read(entry))
                if data is not None:
                    new.writestr(entry, data)
        return folder / name

    data = good.read_bytes()
    lowered = b"\x80\x02ctorch.jit\nXLoweredModule\n)\x81}b."
    yield "an empty file", file("empty.pt", b""), "the file is empty"
    yield "text", file("text.pt", b"hello, world" * 100), "this is not a zip archive"
    yield "a cut file", file("cut.pt", data[:len(data) // 2]), "this is not a zip archive"
    yield "an old torch.save", torch_save("old.pt", {"a": torch.ones(2)},
          _use_new_zipfile_serialization=False), "holds values, but no code"
    yield "a plain pickle", file("plain.pt", pickle.dumps([1, 2])), "this is a pickle"
    yield "a state dict", torch_save("dict.pt", {"a": torch.ones(2)}), "holds values, but no code"
    yield "no weights", f"state {torch_save('evil.pt', {'a': Evil()})}", "no state dict"
    yield "a flatbuffer", file("flat.ff", b"\0\0\0\0PTMF" + bytes(100)), "flatbuffer"
    for name, first, reason in (("an ExecuTorch program", b"\x24\0\0\0ET12", "ExecuTorch"),
                                ("safetensors", b"\x40\0\0\0\0\0\0\0{\"a\": 1}", "safetensors"),
                                ("GGUF", b"GGUF\3\0\0\0", "GGUF"),
                                ("a pointer of Git LFS", b"version https://git-lfs.github.com/spec/v1\n"
                                 b"oid sha256:0\nsize 9\n", "Git LFS"),
                                ("a page", b"<!DOCTYPE html><html>", "HTML"), ("JSON", b'{"a": 1}', "JSON"),
                                ("gzip", b"\x1f\x8b\x08", "gzip"), ("bzip2", b"BZh91AY", "bzip2"),
                                ("xz", b"\xfd7zXZ\0", "xz"), ("Zstandard", b"(\xb5/\xfd", "Zstandard"),
                                ("7z", b"7z\xbc\xaf\x27\x1c", "7z"),
                                ("one byte", b"P", "this is not a zip archive")):
        yield name, file("other.bin", first + bytes(100 if len(first) > 1 else 0)), reason
    yield "no version", rewritten("nov.pt", lambda n, d: None if n == "version" else d), \
          "has no entry everything/version"
    yield "version 11", rewritten("v11.pt", lambda n, d: b"11\n" if n == "version" else d), \
          "version 11; known are 1 to 10"
    yield "a missing storage", rewritten("nostore.pt", lambda n, d: None if n == "data/0" else d), \
          "has no entry everything/data/0"
    yield "a delegated backend", rewritten("lowered.pt", lambda n, d: lowered if n == "data.pkl"
                                           else d), "was handed to a backend"
    yield "another byte order of the version", rewritten(
        "order.pt", lambda n, d: b"\xff\xfe1\n" if n == "version" else d), "version 0; known are 1"
    yield "a short storage", rewritten("short.pt", lambda n, d: d[:8] if n == "data/0" else d), \
          "should have 24 elements of 4 bytes, but has 8 bytes"


def cut_anywhere(report, tool, folder, good):
    """A file that is truncated or damaged at any position is rejected."""
    data = good.read_bytes()
    with report.case("refused: cut at a thousand places"):
        for i in range(1000):
            (folder / "cut.pt").write_bytes(data[:len(data) * i // 1000])
            assert "error" in tool(folder / "cut.pt"), f"{i} / 1000 of it were enough"
    with report.case("a byte changed at a thousand places: refused or read, and nothing else"):
        for i in range(1000):
            changed = bytearray(data)
            changed[len(data) * i // 1000] ^= 1 + i * 37 % 255
            (folder / "cut.pt").write_bytes(changed)
            found = tool(folder / "cut.pt")
            assert "error" in found or "root" in found, found


def packed(folder, good, **options):
    """The same archive, all of it deflated; sizes in the directory are changed by options."""
    path = folder / "packed.pt"
    with zipfile.ZipFile(good) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for entry in old.namelist():
            new.writestr(entry, old.read(entry))
    data = bytearray(path.read_bytes())
    at = data.index(b"PK\x01\x02")
    while data[at:at + 4] == b"PK\x01\x02":
        name_size, extra, comment = struct.unpack_from("<HHH", data, at + 28)
        name = data[at + 46:at + 46 + name_size].decode()
        if name.endswith("/data.pkl"):
            struct.pack_into("<I", data, at + 24, options["size"])
            local, = struct.unpack_from("<I", data, at + 42)
            struct.pack_into("<I", data, local + 22, options["size"])
        at += 46 + name_size + extra + comment
    path.write_bytes(data)
    return path


def test_bombs(report, tool, folder, good):
    with zipfile.ZipFile(good) as z:
        size = next(i.file_size for i in z.infolist() if i.filename.endswith("/data.pkl"))
    for claimed, reason in ((size, None), (size + 1, "unpacks to"), (size - 1, "unpacks to more"),
                            (0xFFFFFFF0, "cannot unpack to 4294967280"), (0, "unpacks to more")):
        with report.case(f"a deflated entry that claims {claimed} bytes for {size}"):
            error = tool(packed(folder, good, size=claimed)).get("error", "")
            assert (reason in error) if reason else not error, error
    for length in (4096, 4097):
        with report.case(f"an entry with a name of {length} bytes"):
            path = folder / "long.pt"
            path.write_bytes(good.read_bytes())
            with zipfile.ZipFile(path, "a") as z:
                z.writestr("everything/extra/".ljust(length, "x"), "")
            error = tool(path).get("error", "")
            assert ("has 4097 bytes, more than 4096" in error) == (length > 4096), error


def test_forms(report, tool, folder, good):
    """Other forms of the same archive: all are read alike."""
    expected = {k: v for k, v in tool(good).items() if k not in ("code", "version")}

    def written(name, change=lambda n, d: d, root="everything", **options):
        path = folder / name
        with zipfile.ZipFile(good) as old, zipfile.ZipFile(path, "w") as new:
            for entry in old.namelist():
                short = entry.split("/", 1)[1]
                with new.open(f"{root}/{short}", "w", **options) as out:
                    out.write(change(short, old.read(entry)))
        return path

    for version in range(1, 11):
        with report.case(f"version {version}"):
            found = tool(written("v.pt", lambda n, d: b"%d\n" % version if n == "version" else d))
            assert found.pop("version") == str(version)
            found.pop("code", None)
            assert found == expected, found.get("error")
    for name, options in (("another root", {"root": "VADr v6.10"}),
                          ("zip64 entries", {"force_zip64": True})):
        with report.case(name):
            found = tool(written("other.pt", **options))
            assert {k: v for k, v in found.items() if k not in ("code", "version")} == expected, \
                found.get("error")
    with report.case("unknown entries are left alone"):
        path = written("more.pt")
        with zipfile.ZipFile(path, "a") as z:
            z.writestr("everything/.data/serialization_id", "123")
            z.writestr("everything/extra/notes.txt", "hello")
            z.writestr("__MACOSX/x", "")
        assert "error" not in tool(path)


def text(s):
    return b"X" + struct.pack("<I", len(s)) + s


# {"forward": [a float tensor of 4x3]}, as TorchScript pickles it. It has no data in the archive.
TAG = b"ctorch.jit._pickle\nrestore_type_tag\n"
EXAMPLE = b"\x80\2" + TAG + b"}(" + text(b"forward") + TAG + b"](" + \
    b"ctorch._utils\n_rebuild_tensor_v2\n((" + text(b"storage") + b"ctorch\nFloatStorage\n" + \
    text(b"0") + text(b"cpu") + b"K\x0ctQK\0(K\4K\3t(K\3K\1t\x89ccollections\nOrderedDict\n)RtRe" + \
    text(b"List[Any]") + b"\x86Ru" + text(b"Dict[str, List[Any]]") + b"\x86R."


def sparse_zip64(path, entries):
    """A sparse zip file of stored entries at offsets beyond 4 GiB. An entry has a name, data and a
    size; the rest of the size is zeros."""
    central, at = b"", 5 << 30
    with open(path, "wb") as out:
        for name, data, size in entries:
            crc = zlib.crc32(data) if size == len(data) else 0
            out.seek(at)
            out.write(struct.pack("<4s5H3L2H", b"PK\3\4", 45, 0x808, 0, 0, 0, 0, 0, 0, len(name), 0))
            out.write(name.encode() + data)
            large = struct.pack("<QQQ", size, size, at)
            central += struct.pack("<4s6H3L5H2L", b"PK\1\2", 45, 45, 0x808, 0, 0, 0, crc,
                                   0xFFFFFFFF, 0xFFFFFFFF, len(name), len(large) + 4, 0, 0, 0, 0,
                                   0xFFFFFFFF) + name.encode() + struct.pack("<HH", 1, 24) + large
            at += 30 + len(name) + size
        out.seek(at)
        out.write(central + struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, len(entries),
                                        len(entries), len(central), at))
        out.write(struct.pack("<4sLQL", b"PK\6\7", 0, at + len(central), 1))
        out.write(struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0))


def test_large(report, tool, folder):
    """Archives that exceed plain zip files: 4 GiB, 65,535 entries."""
    model = torch.nn.Linear(3, 2)
    small, path = save(folder, "large", torch.jit.script(model)), folder / "huge.pt"
    with zipfile.ZipFile(small) as z:
        entries = [(n, z.read(n), len(z.read(n))) for n in z.namelist()]
    with report.case("an archive with everything past 4 GiB"):
        sparse_zip64(path, entries)
        expect_module(tool(path), model)
    with report.case("an entry of more than 4 GiB, and weights behind it"):
        sparse_zip64(path, [("large/extra/zeros", b"", 5 << 30)] + entries)
        expect_module(tool(path), model)
    path.unlink()
    with report.case("70,000 entries"):
        path.write_bytes(small.read_bytes())
        with zipfile.ZipFile(path, "a") as z:
            for i in range(70000):
                z.writestr(zipfile.ZipInfo(f"large/extra/{i}"), b"")
        expect_module(tool(path), model)
    path.unlink()
    with report.case("bytes in front of an archive"):
        path.write_bytes(b"#!/bin/sh\n" + small.read_bytes())
        with zipfile.ZipFile(path) as z:
            assert z.testzip() is None
        expect_module(tool(path), model)


def test_new_torch(report, tool, folder):
    """The entries that PyTorch 2.x adds: torch.jit.save of a trace, and torch.save."""
    model, path = torch.nn.Linear(3, 2), folder / "new.pt"
    old = save(folder, "trace", torch.jit.trace(model, torch.ones(4, 3)))
    with zipfile.ZipFile(old) as source, zipfile.ZipFile(path, "w") as target:
        for entry in source.namelist():
            target.writestr(entry, source.read(entry))
        for name, data in (("byteorder", b"little"), (".data/serialization_id", b"0" * 40),
                           ("traced_inputs.pkl", EXAMPLE), ("traced_inputs/0", b"")):
            target.writestr(f"trace/{name}", data)
    with report.case("a trace of PyTorch 2.x brings its example"):
        expect_module(tool(path), model)
        code, _, error = calque("export", path, "-o", folder / "new.onnx")
        assert code == 0, error
        import onnx
        sizes = onnx.load(str(folder / "new.onnx")).graph.input[0].type.tensor_type.shape.dim
        assert [d.dim_value for d in sizes] == [4, 3], sizes
    with report.case("a state dict of PyTorch 2.7"):
        torch.save(model.state_dict(), str(folder / "state.pt"))
        with zipfile.ZipFile(folder / "state.pt", "a") as z:
            for name, data in ((".format_version", "1"), (".storage_alignment", "64"),
                               ("byteorder", "little"), (".data/serialization_id", "0" * 40)):
                z.writestr(f"state/{name}", data)
        found = tool(f"state {folder / 'state.pt'}")
        for name, value in model.state_dict().items():
            expect_tensor(found, name, value)


def test_byte_order(report, tool, folder):
    """An archive with the other byte order."""
    import numpy as np
    model = torch.nn.Linear(3, 2)
    good, path = save(folder, "order", torch.jit.script(model)), folder / "big.pt"
    for order in ("little", "big"):
        with report.case(f"byteorder {order}"), zipfile.ZipFile(good) as old:
            with zipfile.ZipFile(path, "w") as new:
                for entry in old.namelist():
                    data = old.read(entry)
                    if "/data/" in entry and order == "big":
                        data = np.frombuffer(data, "<f4").astype(">f4").tobytes()
                    new.writestr(entry, data)
                new.writestr("order/byteorder", order)
            expect_module(tool(path), model)


def test_special(report, tool, folder):
    class Special(torch.nn.Module):
        def __init__(self):
            super().__init__()
            x = torch.randn(3, 4)
            self.register_buffer("sparse", torch.eye(3).to_sparse())
            self.register_buffer("csr", torch.eye(3).to_sparse_csr())
            self.register_buffer("tensor", torch.quantize_per_tensor(x, 0.1, 3, torch.quint8))
            self.register_buffer("channels", torch.quantize_per_channel(
                x, torch.tensor([0.1, 0.2, 0.3]), torch.tensor([0, 1, 2]), 0, torch.qint8))
            self.register_buffer("numbers", torch.randn(3, dtype=torch.complex64))

        def forward(self, x):
            return x + 1

    with report.case("sparse, quantized and complex tensors"):
        found = tool(save(folder, "special", torch.jit.script(Special())))
        assert "error" not in found, found["error"]
        for name, kind in (("sparse", "sparse"), ("csr", "sparse"), ("tensor", "quantized 13"),
                           ("channels", "quantized 12"), ("numbers", "tensor complex64")):
            assert found[f"root.{name}"].startswith(kind), (name, found[f"root.{name}"])
    with report.case("tied weights are one"):
        model = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Tanh(), torch.nn.Linear(2, 2))
        model[2].weight = model[0].weight
        path = save(folder, "tied", torch.jit.script(model))
        code, _, error = calque("export", path, "--input", "2x2", "-o", folder / "tied.onnx")
        assert code == 0, error
        import onnx
        names = {t.name for t in onnx.load(str(folder / "tied.onnx")).graph.initializer}
        assert names == {"0.weight", "0.bias", "2.bias"}, names


DTYPES = ("float16", "bfloat16", "float32", "float64", "int8", "int16", "int32", "int64", "uint8", "bool",
          "complex64", "complex128")


def test_strides(report, tool, folder):
    """Every dtype with several memory layouts."""
    for dtype in DTYPES:
        base = (torch.arange(24) % 5).to(getattr(torch, dtype))
        model = torch.nn.Module()
        for name, value in (("plain", base), ("turned", base.view(2, 3, 4).permute(2, 0, 1)),
                            ("every_third", base[2::3]), ("inner", base.view(4, 6)[1:3, 2:5]),
                            ("wide", base[3:5].view(2, 1).expand(2, 7)), ("one", base[9]),
                            ("none", base[:0].view(0, 3)), ("windows", base.unfold(0, 5, 2)),
                            ("last", base.view(1, 2, 3, 4).contiguous(
                                memory_format=torch.channels_last))):
            model.register_buffer(name, value)
        with report.case(f"{dtype} in every order"):
            scripted = torch.jit.script(model)
            found = tool(save(folder, "strides", scripted))
            expect_module(found, model)
            torch.save(model.state_dict(), str(folder / "strides_state.pt"))
            found = tool(f"state {folder / 'strides_state.pt'}")
            for name, value in model.state_dict().items():
                expect_tensor(found, name, value)


def test_mobile(report, tool, folder):
    model, path = torch.nn.Linear(3, 2).eval(), folder / "mobile.ptl"
    torch.jit.script(model)._save_for_lite_interpreter(str(path))
    with report.case("a mobile archive is exported by its code"):
        code, _, error = calque("export", path, "--input", "2x3", "-o", folder / "mobile.onnx")
        assert code == 0, error
    with report.case("a mobile archive without code is an error that names the cause"):
        bare = folder / "bare.ptl"
        with zipfile.ZipFile(path) as old, zipfile.ZipFile(bare, "w") as new:
            for entry in old.namelist():
                if "/code/" not in entry:
                    new.writestr(entry, old.read(entry))
        code, _, error = calque("export", bare, "--input", "2x3", "-o", folder / "bare.onnx")
        assert code == 1 and "code" in error and len(error.splitlines()) <= 4, error
    packed = folder / "packed.pt"
    torch.utils.mobile_optimizer.optimize_for_mobile(torch.jit.script(model)).save(str(packed))
    for device in ("vulkan", "metal"):  # as if it had been packed for that
        with report.case(f"a model that is packed for {device} is an error that names it"):
            path = folder / f"{device}.pt"
            with zipfile.ZipFile(packed) as old, zipfile.ZipFile(path, "w") as new:
                for entry in old.namelist():
                    new.writestr(entry, old.read(entry).replace(b"xnnpack", device.encode()))
            code, _, error = calque("export", path, "--input", "2x3", "-o", folder / "no.onnx")
            assert code == 1 and "packed for a specific device" in error, error
            assert device in error and "before optimize_for_mobile" in error, error
    with report.case("extra files, of any name"):
        extra = {"notes.txt": "hello", "data.pkl": "no pickle", "code/__torch__.py": "no code",
                 "a b/\u00fc": "x"}
        path = folder / "an odd, name.v1.pt"
        torch.jit.save(torch.jit.script(model), str(path), _extra_files=extra)
        expect_module(tool(path), model)


def test_refused(report, tool, folder, good):
    for name, request, reason in refused(folder, good):
        with report.case(f"refused: {name}"):
            error = tool(request).get("error", "nothing was refused")
            assert reason in error, error
    for entry, reason in (("model.json", "PyTorch 1.0 to 1.2"), ("archive_format", ".pt2"),
                          (".data/extern_modules", "torch.package")):
        with report.case(f"refused: {entry}"):
            path = folder / "other.pt"
            with zipfile.ZipFile(path, "w") as z:
                z.writestr(f"net/{entry}", "x")
            assert reason in tool(path)["error"]
    with report.case("refused: bytecode without source"):
        whole, path = folder / "whole.ptl", folder / "other.ptl"
        torch.jit.script(torch.nn.Linear(3, 2))._save_for_lite_interpreter(str(whole))
        with zipfile.ZipFile(whole) as source, zipfile.ZipFile(path, "w") as z:
            for entry in source.namelist():
                if "/code/" not in entry:
                    z.writestr(entry, source.read(entry))
        assert "lite interpreter" in tool(path)["error"]


def main():
    report = Report(__file__)
    if not report.needs("torch"):
        return report.finish()
    warnings.simplefilter("ignore")
    globals()["torch"] = __import__("torch")
    __import__("torch.utils.mobile_optimizer")
    tool = Tool()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        good = test_everything(report, tool, folder)
        test_quantized(report, tool, folder)
        test_state_dicts(report, tool, folder)
        test_refused(report, tool, folder, good)
        cut_anywhere(report, tool, folder, good)
        test_bombs(report, tool, folder, good)
        test_forms(report, tool, folder, good)
        test_large(report, tool, folder)
        test_new_torch(report, tool, folder)
        test_byte_order(report, tool, folder)
        test_special(report, tool, folder)
        test_strides(report, tool, folder)
        test_mobile(report, tool, folder)
        if report.needs("torchvision"):
            test_models(report, tool, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
