#!/usr/bin/python3
"""calque evaluates Python as Python does: each snippet prints the same with `calque py`.

A file of snippets/ holds many: a line `#: title` begins one. `#: title | refused: text` is one that
calque refuses on purpose, with a message that contains the text. Each line of lines.txt is an
expression or a statement of its own. Arguments select titles.
"""
import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile

import peers

FOLDER = pathlib.Path(__file__).with_name("snippets")
SECONDS = 60


def snippets():
    for path in sorted(FOLDER.glob("*.py")):
        title, refusal, lines = None, None, []
        for line in path.read_text().splitlines(keepends=True) + ["#: \n"]:
            if not line.startswith("#: "):
                lines.append(line)
                continue
            if title:
                yield f"{path.stem}: {title}", refusal, "".join(lines)
            title, _, refusal = line[3:].strip().partition(" | refused: ")
            lines = []
    for line in FOLDER.joinpath("lines.txt").read_text().splitlines():
        try:
            compile(line, "line", "eval")
            yield f"lines: {line}", None, f"print({line})\n"
        except SyntaxError:
            yield f"lines: {line}", None, line + "\n"


def expected(source):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(source, "snippet.py", "exec"), {"__name__": "__main__"})
    return out.getvalue()


def found(folder, source):
    (folder / "snippet.py").write_text(source)
    return subprocess.run([peers.CALQUE, "py", "snippet.py"], capture_output=True, text=True,
                          cwd=folder, timeout=SECONDS)


def difference(folder, refusal, source):
    """What differs, or None."""
    run = found(folder, source)
    if refusal:
        return None if refusal in run.stderr else f"not refused: {run.stdout}{run.stderr}"
    want = expected(source)
    if run.returncode != 0 or run.stdout != want:
        return f"Python prints\n{want}calque prints\n{run.stdout}{run.stderr}"
    return None


def main():
    report = peers.Report(__file__)
    with tempfile.TemporaryDirectory() as folder:
        for title, refusal, source in snippets():
            if len(sys.argv) > 1 and not any(word in title for word in sys.argv[1:]):
                continue
            with report.case(title):
                why = difference(pathlib.Path(folder), refusal, source)
                assert why is None, why
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
