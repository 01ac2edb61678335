#!/usr/bin/python3
"""TorchScript source against Python's own parser: what calque reads and prints back means the
same to Python as the source did. On the code of archives of the real PyTorch, and on those files
of torch's and torchvision's own Python that TorchScript's language covers.

    script_parse.py [TOOL]        TOOL: tests/script_print of a build folder
"""
import ast
import io
import pathlib
import subprocess
import sys
import tempfile
import warnings
import zipfile

from peers import BUILD, Report

TOOL = sys.argv[1] if len(sys.argv) > 1 else str(BUILD / "tests/script_print")
# Reasons for which calque refuses Python, as PyTorch does.
REFUSALS = ("is not part of TorchScript", "no sets", "formats and conversions", "no strings of bytes",
            "is not expected here", "has no meaning", "return outside", "types for", "type for", "takes no options",
            "does not fit in 64 bits")


# ---- sources --------------------------------------------------------------------------


def archives():
    """Programs as PyTorch prints them: every kind of class and statement it knows."""
    import torch

    warnings.simplefilter("ignore")
    models = {"transformer": torch.nn.Transformer(8, 2, 1, 1, 16), "lstm": torch.nn.LSTM(3, 4, 2)}
    try:
        import torchvision.models as tv
        for name in ("alexnet", "resnet18", "googlenet", "densenet121", "mobilenet_v3_small"):
            models[name] = getattr(tv, name)(weights=None)
        models["fasterrcnn"] = tv.detection.fasterrcnn_mobilenet_v3_large_320_fpn(
            weights=None, weights_backbone=None)
    except ImportError:
        print("# no torchvision: fewer programs")
    for name, model in models.items():
        buffer = io.BytesIO()
        torch.jit.save(torch.jit.script(model.eval()), buffer)
        with zipfile.ZipFile(buffer) as z:
            for entry in z.namelist():
                if entry.endswith(".py"):
                    yield f"{name}!{entry}", z.read(entry).decode()


def python_sources():
    import torch

    for package in ("torch", "torchvision"):
        found = __import__("importlib.util").util.find_spec(package)
        if not found:
            continue
        root = pathlib.Path(found.origin).parent
        for path in sorted(root.rglob("*.py")):
            yield str(path.relative_to(root.parent)), path.read_text()


# ---- one form for what means the same ---------------------------------------------------


def annotations(node):
    """__annotations__ = {"a": T} declares a."""
    if not (isinstance(node, ast.Assign) and isinstance(node.value, ast.Dict)
            and getattr(node.targets[0], "id", "") == "__annotations__"):
        return [node]
    return [ast.AnnAssign(target=ast.Name(id=key.value, ctx=ast.Store()), annotation=value,
                          value=None, simple=1)
            for key, value in zip(node.value.keys, node.value.values)]


class Normal(ast.NodeTransformer):
    def visit_UnaryOp(self, node):
        node = self.generic_visit(node)
        value = getattr(node.operand, "value", None)
        if isinstance(node.op, ast.USub) and type(value) in (int, float, complex):
            return ast.Constant(value=-value)
        return node

    def visit_BoolOp(self, node):
        node = self.generic_visit(node)
        values = []
        for value in node.values:
            same = isinstance(value, ast.BoolOp) and type(value.op) is type(node.op)
            values += value.values if same else [value]
        return ast.BoolOp(op=node.op, values=values)

    def visit_GeneratorExp(self, node):
        node = self.generic_visit(node)
        return ast.ListComp(elt=node.elt, generators=node.generators)

    def visit_Constant(self, node):
        return ast.Constant(value=node.value)

    def visit_Delete(self, node):
        node = self.generic_visit(node)
        first = node.targets[0]
        return ast.Delete(targets=first.elts) if isinstance(first, (ast.Tuple, ast.List)) else node

    def visit_AnnAssign(self, node):
        node.simple = 1
        return self.generic_visit(node)

    def visit_ClassDef(self, node):
        node.keywords = []
        node.body = [new for s in node.body for new in annotations(s)]
        docs = [s for s in node.body if isinstance(s, ast.Expr) or isinstance(s, ast.Pass)]
        node.body = [s for s in node.body if s not in docs]
        node.body.sort(key=lambda s: isinstance(s, ast.FunctionDef)) # fields come first
        return self.generic_visit(node)


def without_comments(node):
    """Type comments and the annotations made of them are told apart by no one."""
    for part in ast.walk(node):
        part.__dict__.pop("type_comment", None)
    return node


def parts(text):
    """The dumps of what a file defines, in no order, and of its statements in theirs."""
    tree = without_comments(Normal().visit(ast.parse(text)))
    defined, others = [], []
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            module, dots = getattr(node, "module", None), getattr(node, "level", 0)
            defined += [f"import {'.' * dots}{module} {a.name} {a.asname}" for a in node.names]
        elif isinstance(node, (ast.ClassDef, ast.FunctionDef)):
            defined.append(ast.dump(node))
        else:
            others.append(ast.dump(node))
    return sorted(defined), others


# ---- the test -----------------------------------------------------------------------------


def run(sources, folder):
    """Prints all sources with the tool; gives the complaints by name."""
    lines = []
    for i, (_, text) in enumerate(sources):
        (folder / f"{i}.in").write_text(text)
        lines.append(f"{folder}/{i}.in\t{folder}/{i}.out")
    done = subprocess.run([TOOL], input="\n".join(lines) + "\n", capture_output=True, text=True)
    assert done.returncode in (0, 1), done.stderr[-2000:]
    complaints = {}
    for line in done.stdout.splitlines():
        if line.startswith("not ok - "):
            path, _, why = line[9:].partition(": ")
            complaints[int(pathlib.Path(path).stem)] = why
    return complaints


def compare(report, sources, may_refuse):
    n_refused = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        complaints = run(sources, folder)
        for i, (title, text) in enumerate(sources):
            why = complaints.get(i)
            if why and may_refuse and any(reason in why for reason in REFUSALS):
                n_refused += 1
                continue
            with report.case(title):
                assert not why, why
                if "# type:" in text:
                    continue # annotations from comments are not in Python's tree
                want, got = parts(text), parts((folder / f"{i}.out").read_text())
                assert got == want, "Python reads it differently"
    return n_refused


def main():
    report = Report(__file__)
    if report.needs("torch"):
        compare(report, list(archives()), False)
        sources = list(python_sources())
        n_refused = compare(report, sources, True)
        print(f"# {n_refused} of {len(sources)} Python files are no TorchScript")
        report.check("most files are not refused", n_refused < len(sources) * 0.9, n_refused)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
