#!/usr/bin/env python3
"""Makes files as versions of PyTorch wrote them that are not at hand, from those of 2.6 and 2.14 beside this script.

    python3 older.py

The forms follow the schemas of those versions: in schema 1 (PyTorch 2.1) and 2 (2.2) a union is an
object with every alternative, all but one null, and None an empty list; the weights are called .json
and are files of torch.save all the same; schema 1 has the signature in maps. PyTorch 2.8 writes the
newer archive with the weights of the older one in it. Schema 5 (2.3 and 2.4) has a dialect;
8.12 (before 2.9) is the newest without what came after it: guards, names of nodes, fields of named tuples.
"""
import json
import pathlib
import shutil
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
UNIONS = ("as_none", "as_tensor", "as_tensors", "as_int", "as_ints", "as_float", "as_floats", "as_string",
          "as_sym_int", "as_sym_ints", "as_scalar_type", "as_memory_format", "as_layout", "as_device",
          "as_bool", "as_bools", "as_sym_bool", "as_sym_bools", "as_graph", "as_optional_tensors",
          "as_custom_obj")


def read(name):
    with zipfile.ZipFile(HERE / f"{name}.pt2") as archive:
        return {entry: archive.read(entry) for entry in archive.namelist()}


def write(name, entries, like):
    with zipfile.ZipFile(HERE / f"{name}.pt2", "w") as archive:
        for entry, data in entries.items():  # the same bytes whenever it is made
            archive.writestr(zipfile.ZipInfo(entry, (1980, 1, 1, 0, 0, 0)), data)
    for path in HERE.glob(f"{like}.*.npy"):
        shutil.copy(path, HERE / path.name.replace(like, name))


def whole_unions(value):
    """Every alternative of a union, as the first schemas have it."""
    if isinstance(value, list):
        return [whole_unions(item) for item in value]
    if not isinstance(value, dict):
        return value
    value = {key: whole_unions(item) for key, item in value.items()}
    if len(value) == 1 and next(iter(value)) in UNIONS:
        key, item = next(iter(value.items()))
        return {other: None for other in UNIONS} | {key: [] if key == "as_none" else item}
    return value


def old_program(entries, version):
    program = json.loads(entries["serialized_exported_program.json"])
    graph = program["graph_module"]["graph"]
    for meta in graph["tensor_values"].values():
        meta["storage_offset"] = 0
    if version == 1:
        graph["tensor_values"] = {key: {"meta": meta} for key, meta in graph["tensor_values"].items()}
        specs = program["graph_module"]["signature"]["input_specs"]
        program["graph_module"]["signature"] = {
            "inputs_to_parameters": {spec["parameter"]["arg"]["name"]: spec["parameter"]["parameter_name"]
                                     for spec in specs if "parameter" in spec},
            "inputs_to_buffers": {spec["buffer"]["arg"]["name"]: spec["buffer"]["buffer_name"]
                                  for spec in specs if "buffer" in spec},
            "user_inputs": [spec["user_input"]["arg"]["as_tensor"]["name"]
                            for spec in specs if "user_input" in spec],
            "user_outputs": [], "buffers_to_mutate": {}, "backward_signature": None}
    program = whole_unions(program)
    program["schema_version"], program["dialect"] = version, "ATEN"
    del program["verifiers"], program["torch_version"]
    return json.dumps(program).encode()


def old(name, version):
    entries = read(name)
    write(f"schema{version}.{name}", {
        "serialized_exported_program.json": old_program(entries, version),
        "serialized_state_dict.json": entries["serialized_state_dict.pt"],
        "serialized_constants.json": entries["serialized_constants.pt"],
        "serialized_example_inputs.pt": entries["serialized_example_inputs.pt"],
        "version": str(version).encode()}, name)


def without(value, keys):
    if isinstance(value, list):
        return [without(item, keys) for item in value]
    if isinstance(value, dict):
        return {key: without(item, keys) for key, item in value.items() if key not in keys}
    return value


def schema_5(name):
    entries = read(name)
    program = without(json.loads(entries["serialized_exported_program.json"]), ("verifiers", "torch_version", "metadata"))
    program |= {"schema_version": {"major": 5, "minor": 3}, "dialect": "ATEN"}
    text = json.dumps(program).replace('{"as_none": true}', '{"as_none": []}')
    write(f"schema5.{name}", {
        "serialized_exported_program.json": text.encode(),
        "serialized_state_dict.pt": entries["serialized_state_dict.pt"],
        "serialized_constants.pt": entries["serialized_constants.pt"],
        "serialized_example_inputs.pt": entries["serialized_example_inputs.pt"], "version": b"5.3"}, name)


def schema_812(name):
    entries = read(name)
    for entry in entries:
        if entry.endswith("models/model.json"):
            program = without(json.loads(entries[entry]), ("guards_code", "kind", "treespec_namedtuple_fields"))
            for node in program["graph_module"]["graph"]["nodes"]:
                node.pop("name", None)
            program["schema_version"] = {"major": 8, "minor": 12}
            entries[entry] = json.dumps(program).encode()
    write(f"schema812.{name}", entries, name)


def archive_of_28(name):
    entries = read(name)
    write(f"archive28.{name}", {
        "net/data/weights/model.pt": entries["serialized_state_dict.pt"],
        "net/data/constants/model.pt": entries["serialized_constants.pt"],
        "net/data/sample_inputs/model.pt": entries["serialized_example_inputs.pt"],
        "net/models/model.json": entries["serialized_exported_program.json"],
        "net/archive_format": b"pt2", "net/archive_version": b"0", "net/byteorder": b"little",
        "net/.data/version": b"6\n"}, name)


def compiled_only():
    write("aotinductor_only", {
        "net/data/aotinductor/model/c7k.wrapper.so": b"\x7fELF", "net/archive_format": b"pt2",
        "net/archive_version": b"0", "net/version": b"0"}, "none")


old("dynamic_core.26", 1)
old("dynamic_core.26", 2)
old("strided.26", 2)
schema_5("numbers.26")
schema_812("strided.214")
schema_812("mutation_core.214")
archive_of_28("strided.26")
archive_of_28("dynamic.26")
compiled_only()
