#!/usr/bin/python3
"""Writes a program of torch.export with the shape of a language model and weights that take no room on
the disk, for they are holes in the file: to see what exporting a large one takes.

    large_program.py OUT.pt2 [LAYERS WIDTH INNER WORDS]     32 4096 11008 32000: 7 billion, in float16
    large_program.py OUT.pt2 LAYERS WIDTH INNER WORDS -     weights without data, as of a program that PyTorch made
                                                            with fake tensors (tests/data/pt2/no_data.214.pt2: 1 256 256 256)
"""
import io
import json
import struct
import sys
import zlib

HALF, LONG = 6, 5


def meta(dtype, sizes):
    strides = [1]
    for size in sizes[:0:-1]:
        strides.insert(0, strides[0] * size)
    return {"dtype": dtype, "sizes": [{"as_int": n} for n in sizes], "requires_grad": False,
            "device": {"type": "cpu", "index": None}, "strides": [{"as_int": n} for n in strides],
            "storage_offset": {"as_int": 0}, "layout": 7}


def tensor(name):
    return {"as_tensor": {"name": name}}


class Program:
    def __init__(self):
        self.weights, self.values, self.nodes, self.inputs, self.specs = {}, {}, [], [], []

    def weight(self, path, *sizes):
        name = "p_" + path.replace(".", "_")
        self.weights[path] = meta(HALF, sizes)
        self.values[name] = self.weights[path]
        self.inputs.append(tensor(name))
        self.specs.append({"parameter": {"arg": {"name": name}, "parameter_name": path}})
        return name

    def call(self, op, sizes, /, **arguments):
        name = f"v{len(self.nodes)}"
        given = [{"name": key, "arg": tensor(value), "kind": 1} for key, value in arguments.items()]
        self.nodes.append({"target": f"torch.ops.aten.{op}", "inputs": given, "outputs": [tensor(name)],
                           "metadata": {}})
        self.values[name] = meta(HALF, sizes)
        return name

    def linear(self, x, path, inner, outer):
        return self.call("linear.default", [1, 4, outer], input=x, weight=self.weight(path, outer, inner))

    def json(self, ids, result):
        self.values[ids] = meta(LONG, [1, 4])
        graph = {"inputs": self.inputs + [tensor(ids)], "outputs": [tensor(result)], "nodes": self.nodes,
                 "tensor_values": self.values, "sym_int_values": {}, "sym_bool_values": {},
                 "sym_float_values": {}, "custom_obj_values": {}, "is_single_tensor_return": False}
        signature = {"input_specs": self.specs + [{"user_input": {"arg": tensor(ids)}}],
                     "output_specs": [{"user_output": {"arg": tensor(result)}}]}
        return {"graph_module": {"graph": graph, "signature": signature, "module_call_graph": [],
                                 "metadata": {}, "treespec_namedtuple_fields": {}},
                "opset_version": {"aten": 10}, "range_constraints": {}, "guards_code": [],
                "schema_version": {"major": 8, "minor": 20}, "verifiers": [], "torch_version": "2.14.1"}


def language_model(layers, width, inner, words):
    p = Program()
    x = p.call("embedding.default", [1, 4, width], weight=p.weight("embed.weight", words, width), indices="ids")
    for i in range(layers):
        q, k, v = (p.linear(x, f"layers.{i}.{kind}.weight", width, width) for kind in "qkv")
        y = p.call("mul.Tensor", [1, 4, width], self=p.call("mul.Tensor", [1, 4, width], self=q, other=k), other=v)
        x = p.call("add.Tensor", [1, 4, width], self=x, other=p.linear(y, f"layers.{i}.o.weight", width, width))
        gate = p.call("silu.default", [1, 4, inner], self=p.linear(x, f"layers.{i}.gate.weight", width, inner))
        up = p.linear(x, f"layers.{i}.up.weight", width, inner)
        y = p.call("mul.Tensor", [1, 4, inner], self=gate, other=up)
        x = p.call("add.Tensor", [1, 4, width], self=x, other=p.linear(y, f"layers.{i}.down.weight", inner, width))
    return p, p.json("ids", p.linear(x, "head.weight", width, words))


class Zip:
    """Stored entries in a sparse file, with sizes and offsets above 4 GiB."""
    def __init__(self, path):
        self.file, self.directory, self.sums = open(path, "wb"), [], {}

    def sum_of_zeros(self, size):
        if size not in self.sums:
            crc, block = 0, bytes(1 << 24)
            for at in range(0, size, len(block)):
                crc = zlib.crc32(memoryview(block)[:min(len(block), size - at)], crc)
            self.sums[size] = crc
        return self.sums[size]

    def add(self, name, data=None, zeros=0):
        name = name.encode()
        size = zeros if data is None else len(data)
        crc = self.sum_of_zeros(zeros) if data is None else zlib.crc32(data)
        at = self.file.tell()
        fill = -(at + 30 + len(name) + 4) % 64
        self.file.write(struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 45, 0, 0, 0, 0, crc, size, size,
                                    len(name), fill + 4) + name + struct.pack("<HH", 0x4246, fill) + bytes(fill))
        if data is None:
            self.file.seek(zeros, io.SEEK_CUR)
        else:
            self.file.write(data)
        wide = struct.pack("<HHQ", 1, 8, at)
        self.directory.append(struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 45, 45, 0, 0, 0, 0, crc, size, size,
                                          len(name), len(wide), 0, 0, 0, 0, 0xffffffff) + name + wide)

    def close(self):
        at, entries = self.file.tell(), b"".join(self.directory)
        n = len(self.directory)
        self.file.write(entries)
        end = self.file.tell()
        self.file.write(struct.pack("<4sQHHIIQQQQ", b"PK\6\6", 44, 45, 45, 0, 0, n, n, len(entries), at))
        self.file.write(struct.pack("<4sIQI", b"PK\6\7", 0, end, 1))
        self.file.write(struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 0xffff, 0xffff, 0xffffffff, 0xffffffff, 0))
        self.file.close()


def main():
    no_data = sys.argv[-1] == "-"
    shape = [int(text) for text in sys.argv[2:6]] or [32, 4096, 11008, 32000]
    program, text = language_model(*shape)
    z = Zip(sys.argv[1])
    config, total = {}, 0
    for i, (path, about) in enumerate(program.weights.items()):
        n = 1
        for size in about["sizes"]:
            n *= size["as_int"]
        total += n
        z.add(f"large/data/weights/weight_{i}", zeros=0 if no_data else 2 * n)
        config[path] = {"path_name": f"weight_{i}", "is_param": True, "use_pickle": False, "tensor_meta": about}
    z.add("large/data/weights/model_weights_config.json", json.dumps({"config": config}).encode())
    z.add("large/data/constants/model_constants_config.json", b'{"config": {}}')
    z.add("large/models/model.json", json.dumps(text).encode())
    for name, content in (("archive_format", b"pt2"), ("archive_version", b"0"), ("byteorder", b"little"),
                          (".data/version", b"6\n")):
        z.add("large/" + name, content)
    z.close()
    print(f"{total / 1e9:.2f} billion parameters, {2 * total / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
