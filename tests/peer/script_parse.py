#!/usr/bin/python3
"""The parser against Python's own: what calque parses and prints back has the same syntax tree as the
source. On the code of archives of the real PyTorch, and on a sample of the Python files that are
installed: the standard library, torch, torchvision, numpy and others. Every file that Python parses
must be parsed. Files with one token changed show that what Python refuses is refused.

    script_parse.py                      the sample
    script_parse.py --all [FOLDER…]      every file in the folders, or of this Python

CALQUE_BUILD is the build folder with tests/script_print.
"""
import ast
import io
import pathlib
import random
import subprocess
import sys
import sysconfig
import tempfile
import token
import tokenize
import warnings
import zipfile

from peers import BUILD, Report

TOOL = str(BUILD / "tests/script_print")
SAMPLE_BYTES = 6 << 20      # of all Python files, so that the test takes about a minute
BATCH = 200
MUTATED_FILES, MUTATIONS = 60, 25
REFUSED_SHARE = 0.97        # of what Python refuses; newer grammar than this Python's is accepted
FOLDERS = [sysconfig.get_path("stdlib"), "/usr/lib/python3/dist-packages"]


# ---- sources --------------------------------------------------------------------------


def archives():
    """Programs as PyTorch prints them: every kind of class and statement it knows."""
    import torch

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
                    yield f"{name}!{entry}", z.read(entry)


def python_files(folders):
    for folder in folders:
        yield from sorted(pathlib.Path(folder).rglob("*.py"))


def sample(files):
    """The same files in every run, of all packages."""
    random.Random(0).shuffle(files)
    n_bytes = 0
    for path in files:
        n_bytes += path.stat().st_size
        if n_bytes > SAMPLE_BYTES:
            return
        yield path


def parse(text):
    """Python's tree, or None if it refuses the text."""
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# ---- one form for what means the same ---------------------------------------------------


def call(name, args):
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=args, keywords=[])


class Mangled(ast.NodeTransformer):
    """Python replaces private names (__x in class C) by _C__x when it compiles, calque when it parses."""
    class_name = ""

    def mangle(self, name):
        private = isinstance(name, str) and len(name) > 2 and name.startswith("__") and not name.endswith("__")
        return f"_{self.class_name}{name}" if private and self.class_name else name

    def generic_visit(self, node):
        for field in ("id", "attr", "name", "arg", "asname"):
            if hasattr(node, field):
                setattr(node, field, self.mangle(getattr(node, field)))
        if isinstance(node, (ast.Global, ast.Nonlocal)):
            node.names = [self.mangle(name) for name in node.names]
        return super().generic_visit(node)

    def visit_ClassDef(self, node):
        outer, own = self.class_name, node.name.lstrip("_")
        node.name = self.mangle(node.name)
        for field in ("decorator_list", "bases", "keywords"):
            setattr(node, field, [self.visit(child) for child in getattr(node, field)])
        self.class_name = own
        node.body = [self.visit(child) for child in node.body]
        self.class_name = outer
        return node


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

    def visit_Constant(self, node):
        return ast.Constant(value=node.value)

    def visit_Delete(self, node):
        node = self.generic_visit(node)
        first = node.targets[0]
        alone = len(node.targets) == 1 and isinstance(first, (ast.Tuple, ast.List))
        return ast.Delete(targets=first.elts) if alone else node

    def visit_AnnAssign(self, node):
        node.simple = 1
        return self.generic_visit(node)

    def visit_JoinedStr(self, node):
        fields = any(not isinstance(value, ast.Constant) for value in node.values)
        if fields:
            return self.format(node, "__fstring__")
        return ast.Constant(value="".join(value.value for value in node.values))

    def visit_TemplateStr(self, node):
        return self.format(node, "__tstring__")

    def format(self, node, name):
        return call(name, [self.visit(value) for value in node.values])

    def visit_FormattedValue(self, node):
        conversion = chr(node.conversion) if node.conversion > 0 else ""
        spec = self.format(node.format_spec, "__fstring__") if node.format_spec else None
        return call("__field__", [self.visit(node.value), ast.Constant(value=conversion),
                                  spec or ast.Constant(value=None)])

    visit_Interpolation = visit_FormattedValue


def difference(expected, got):
    """Where two trees differ, or None."""
    if isinstance(expected, ast.AST):
        if type(expected) is not type(got):
            return f"{type(expected).__name__} is {type(got).__name__}"
        for field in expected._fields:
            if field in ("ctx", "type_comment", "kind"):
                continue
            found = difference(getattr(expected, field, None), getattr(got, field, None))
            if found:
                line = getattr(expected, "lineno", 0)
                return found if found.startswith("line") else f"line {line}: {field}: {found}"
        return None
    if isinstance(expected, list):
        if not isinstance(got, list) or len(expected) != len(got):
            return f"{len(expected)} items are {len(got) if isinstance(got, list) else got}"
        return next(filter(None, map(difference, expected, got)), None)
    same = type(expected) is type(got) and repr(expected) == repr(got) # repr: -0.0 is not 0.0
    return None if same else f"{expected!r:.80} is {got!r:.80}"


# ---- the test -----------------------------------------------------------------------------


def run(texts, folder):
    """Prints all sources with the tool; gives the complaints by number."""
    lines = []
    for i, text in enumerate(texts):
        (folder / f"{i}.in").write_bytes(text)
        lines.append(f"{folder}/{i}.in\t{folder}/{i}.out")
    done = subprocess.run([TOOL], input="\n".join(lines) + "\n", capture_output=True, text=True,
                          errors="replace")
    assert done.returncode in (0, 1), done.stderr[-2000:]
    complaints = {}
    for line in done.stdout.splitlines():
        if line.startswith("not ok - "):
            path, _, why = line[9:].partition(": ")
            complaints[int(pathlib.Path(path).stem)] = why
    return complaints


def compare(report, sources):
    """Gives how many files were compared, and how many Python itself refuses."""
    n_compared = n_refused = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        complaints = run([text for _, text in sources], folder)
        for i, (title, text) in enumerate(sources):
            expected = parse(text)
            if not expected:
                n_refused += 1
                continue
            with report.case(title):
                n_compared += 1
                assert i not in complaints, complaints[i]
                if b"# type:" in text:
                    continue # annotations from comments are not in Python's tree
                got = parse((folder / f"{i}.out").read_bytes())
                assert got, "Python refuses what was printed"
                found = difference(Normal().visit(Mangled().visit(expected)), Normal().visit(got))
                assert not found, found
    return n_compared, n_refused


def compare_files(report, files):
    n_compared = n_refused = 0
    files = list(files)
    for i in range(0, len(files), BATCH):
        counts = compare(report, [(str(path), path.read_bytes()) for path in files[i:i + BATCH]])
        n_compared, n_refused = n_compared + counts[0], n_refused + counts[1]
    print(f"# {n_compared} files, {n_refused} more that Python {sys.version.split()[0]} refuses")


# ---- changed files --------------------------------------------------------------------------

INSERTED = ["(", ")", "[", "]", "{", "}", ",", ":", ";", "=", ".", "*", "**", "@", "->", ":=", "+", "-",
            "not", "in", "is", "if", "else", "for", "lambda", "yield", "await", "async", "def", "class",
            "return", "import", "from", "as", "try", "except", "with", "match", "case", "type", "_",
            "None", "0", "1.", "'s'", "f'{x}'", "b'x'", "...", "!", "$", "0x", "\n", "\t"]


def mutants(text, chance):
    """Text with one token removed, doubled, replaced, or moved behind the next one."""
    tokens = [t for t in tokenize.generate_tokens(io.StringIO(text).readline)
              if t.type not in (token.INDENT, token.DEDENT, token.ENDMARKER) and t.string]
    lines = [0]
    for line in io.StringIO(text):
        lines.append(lines[-1] + len(line))
    spans = [(lines[t.start[0] - 1] + t.start[1], lines[t.end[0] - 1] + t.end[1]) for t in tokens]
    for _ in range(MUTATIONS):
        i = chance.randrange(len(spans) - 1)
        (a, b), (c, d) = spans[i], spans[i + 1]
        new = chance.choice(INSERTED)
        yield chance.choice([text[:a] + text[b:], text[:b] + " " + text[a:],
                             text[:a] + new + text[b:], text[:a] + new + " " + text[a:],
                             text[:a] + text[c:d] + text[b:c] + text[a:b] + text[d:]])


def changed_files(files):
    chance = random.Random(1)
    n = 0
    for path in files:
        text = path.read_bytes()
        if n == MUTATED_FILES or not 500 < len(text) < 12000 or not text.isascii() or not parse(text):
            continue
        n += 1
        for mutant in mutants(text.decode(), chance):
            yield f"{path} changed", mutant.encode()


def check_changed(report, files):
    sources = list(changed_files(files))
    n_invalid = n_refused = 0
    with tempfile.TemporaryDirectory() as name:
        complaints = run([text for _, text in sources], pathlib.Path(name))
    for i, (title, text) in enumerate(sources):
        if parse(text):
            if i in complaints:
                try:
                    compile(text, title, "exec")
                except SyntaxError:
                    continue # as `return` outside of a function: the compiler of Python refuses it
            report.check(title, i not in complaints, f"{complaints.get(i)}\n{text.decode()}")
        else:
            n_invalid += 1
            n_refused += i in complaints
            if i not in complaints and "-v" in sys.argv:
                print(f"# accepted: {explain(text)}")
    print(f"# {n_refused} of {n_invalid} changed files that Python refuses are refused")
    report.check("changed files", n_refused >= REFUSED_SHARE * n_invalid, f"{n_refused}/{n_invalid}")


def explain(text):
    try:
        ast.parse(text)
    except SyntaxError as error:
        return f"{error.msg}: {(error.text or '').strip()}"
    return ""


def main():
    warnings.simplefilter("ignore")
    sys.setrecursionlimit(20000)
    report = Report(__file__)
    if "--all" in sys.argv:
        folders = sys.argv[sys.argv.index("--all") + 1:] or FOLDERS
        compare_files(report, python_files(folders))
        return report.finish()
    files = list(sample(list(python_files(FOLDERS))))
    report.check("there are files to compare", len(files) >= 100, len(files))
    compare_files(report, files)
    check_changed(report, files)
    if report.needs("torch"):
        compare(report, list(archives()))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
