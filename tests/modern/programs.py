#!/usr/bin/python3
"""Programs in today's style: attention variants, complex networks, Fourier transforms, Gaussian processes, vmap,
quantized products, small models of transformers. calque's files must give PyTorch's results, at other sizes too.

    programs.py make FOLDER [only=REGEX]              writes a case for each program (tools/modern.sh sid python3 …)
    programs.py export FOLDER [opset=N] [only=REGEX]  exports all of them with build/calque
    programs.py check FOLDER [only=REGEX]             runs the files in ONNX Runtime (in sid)
    programs.py own FOLDER [only=REGEX]               runs them with calque's runtime

A case has the form that operators.py describes. NAME.dec is the same program after run_decompositions()."""
import json
import math
import re
import shutil
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import operators  # noqa: E402

PROGRAMS = {}


def program(fn):
    """Registers a function that returns a module, a list of input tuples, and dynamic shapes or None. The first
    tuple is the example."""
    PROGRAMS[fn.__name__] = fn
    return fn


def build_programs():
    import program_cases
    import program_models
    for source in (program_cases, program_models):
        PROGRAMS.update(source.PROGRAMS)


def make_case(folder, name, kind):
    import onnx.numpy_helper
    import torch
    torch.manual_seed(1)
    module, sets, shapes = PROGRAMS[name]()
    module = module.eval()
    with torch.no_grad():
        program = torch.export.export(module, sets[0], dynamic_shapes=shapes, strict=False)
        if kind == "dec":
            program = program.run_decompositions()
        sets = sets[:1] + [given for given in sets[1:] if takes(program, given)]
        results = [[operators.plain(t) for t in tensors_of(module(*[x.clone() for x in given]))] for given in sets]
    folder.mkdir(parents=True)
    torch.export.save(program, folder / "model.pt2")
    for number, (inputs, outputs) in enumerate(zip(sets, results)):
        data = folder / f"test_data_set_{number}"
        data.mkdir()
        for what, items in (("input", inputs), ("output", outputs)):
            for i, tensor in enumerate(items):
                proto = onnx.numpy_helper.from_array(tensor.detach().contiguous().numpy().reshape(tuple(tensor.shape)))
                (data / f"{what}_{i}.pb").write_bytes(proto.SerializeToString())
    about = {"id": folder.name, "operator": name, "rtol": 1e-3, "atol": 1e-4, "n_in": len(sets[0]),
             "n_out": len(results[0]), "n_sets": len(sets)}
    (folder / "case.json").write_text(json.dumps(about, indent=1))


def takes(program, given):
    """Whether PyTorch kept the sizes dynamic in which these inputs differ from the example."""
    try:
        program.module()(*[x.clone() for x in given])
        return True
    except Exception:
        return False


def tensors_of(value):
    import torch
    import torch.utils._pytree as tree
    return [leaf for leaf in tree.tree_leaves(value) if isinstance(leaf, torch.Tensor)]


def make(root, only):
    import torch
    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    build_programs()
    for name in PROGRAMS:
        for kind in ("pt2", "dec"):
            folder = root / f"{name}.{kind}"
            if not re.search(only, folder.name):
                continue
            shutil.rmtree(folder, ignore_errors=True)
            try:
                make_case(folder, name, kind)
                print("made", folder.name, flush=True)
            except Exception as error:
                shutil.rmtree(folder, ignore_errors=True)
                print("unmade", folder.name, type(error).__name__, " ".join(str(error).split())[:300], flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "make":
        root = Path(sys.argv[2])
        root.mkdir(parents=True, exist_ok=True)
        make(root, operators.options(sys.argv[3:])["only"])
    else:
        sys.exit(operators.main())
