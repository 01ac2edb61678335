#!/usr/bin/python3
"""lib/ is valid Python; lib/aten and lib/onnx are laid out so that their index can be made by lines
(src/lang/library.h), other files are ordinary modules."""
import ast
import sys

from repo import ROOT, Report, files

INDEXED = ("lib/aten/", "lib/onnx/")
ALLOWED = (ast.FunctionDef, ast.Import, ast.ImportFrom)


def first_line(node):
    return min([node.lineno] + [d.lineno for d in getattr(node, "decorator_list", [])])


def is_declaration(node):
    """symbolic("aten::relu", "Relu", opset=7)"""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Call)


def unused_imports(tree):
    used = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    names = [(alias.asname or alias.name).split(".")[0] for node in tree.body
             if isinstance(node, (ast.Import, ast.ImportFrom)) for alias in node.names]
    return [name for name in names if name != "*" and name not in used]


def complaints(name):
    text = (ROOT / name).read_text()
    try:
        tree = ast.parse(text, name)
    except SyntaxError as error:
        return [f"line {error.lineno}: {error.msg}"]
    out = []
    body = tree.body
    if not (body and isinstance(body[0], ast.Expr) and ast.get_docstring(ast.Module(body, []))):
        out.append("begins without a docstring")
    lines = text.splitlines()
    out += [f"line {i} has {len(line)} characters" for i, line in enumerate(lines, 1) if len(line) > 100]
    if not name.startswith(INDEXED):
        return out
    out += [f"line {node.lineno}: only imports, functions and declarations stand at the top level"
            for node in body[1:] if not isinstance(node, ALLOWED) and not is_declaration(node)]
    starts = {first_line(node) for node in body} | {
        d.lineno for node in body for d in getattr(node, "decorator_list", [])} | {
        node.lineno for node in body}
    end_of_docstring = body[0].end_lineno if body else 0
    out += [f"line {i}: text in column 0 inside of a statement" for i, line in enumerate(lines, 1)
            if i > end_of_docstring and line and line[0] not in " #)]}" and i not in starts]
    out += [f"{imported} is imported and not used" for imported in unused_imports(tree)]
    names = [node.name for node in body if isinstance(node, ast.FunctionDef)]
    out += [f"{n} is defined twice" for n in sorted(set(names)) if names.count(n) > 1]
    return out


report = Report(__file__)
for name in files("lib/*.py"):
    found = complaints(name)
    report.check(name, not found, "; ".join(found[:5]))
sys.exit(report.finish())
