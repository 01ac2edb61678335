#!/usr/bin/python3
"""Replays transcripts of the command line, tests/golden/*.txt, and compares every word.

    run.py [--bless] [NAME…]

A transcript is commands and what they did:

    $ calque frob             the command; arguments may be quoted as in a shell
    a line of standard output
    ! a line of standard error
    = 2                       the exit code, when it is not 0
    $~ calque run net         the same; numbers with a point may differ by 1e-5, for they were
                              computed, and processors round differently

Commands run in an empty folder, where @/ stands for tests/golden/; what one writes the next can
read. The time that it took to write is TIME, and how far an export is from its source, which the
instruction set decides, is SMALL. Lines before the first command and lines after a blank line that
begin with # are comments.
--bless rewrites the transcripts with what happened; read the difference before you commit it.
"""
import pathlib
import re
import shlex
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import Report, calque  # noqa: E402


def parse(text):
    """A list of (comment lines before it, "~" or "", command line, lines that follow)."""
    entries, comment, before = [], [], ""
    for line in text.splitlines():
        if match := re.match(r"\$(~?) (.*)", line):
            entries.append((comment, match[1], match[2], []))
            comment = []
        elif not entries or comment or not before and line.startswith("#"):
            comment.append(line)
        else:
            entries[-1][3].append(line)
        before = line
    for _, _, _, lines in entries:
        while lines and not lines[-1]:
            lines.pop()
    return entries, comment


def replay(command, folder):
    """The output of the command, as transcript lines."""
    words = shlex.split(command)
    assert words[0] == "calque", f"only calque can be run, not {words[0]}"
    args = [word.replace("@/", f"{HERE}/") for word in words[1:]]
    code, out, err = calque(*args, cwd=folder)
    lines = out.splitlines() + [f"! {line}" for line in err.splitlines()]
    lines = [line.replace(f"{HERE}/", "@/").rstrip() for line in lines]
    lines = [re.sub(r"^(! wrote .*) \d+\.\d\d s$", r"\1 TIME", line) for line in lines]
    lines = [re.sub(r"(max \|difference\|) [0-9.e+-]+", r"\1 SMALL", line) for line in lines]
    return lines + ([f"= {code}"] if code else [])


def is_same(expected, got, nearly):
    """Whether the lines agree; nearly: but for the last digits of computed numbers."""
    if expected == got or not nearly or len(expected) != len(got):
        return expected == got
    number = re.compile(r"-?\d+\.\d*(?:e-?\d+)?|-?\d+e-\d+")
    if number.sub("#", "\n".join(expected)) != number.sub("#", "\n".join(got)):
        return False
    pairs = zip(*(map(float, number.findall("\n".join(lines))) for lines in (expected, got)))
    return all(abs(a - b) <= 1e-5 for a, b in pairs)


def show_difference(expected, got):
    same = 0
    while same < min(len(expected), len(got)) and expected[same] == got[same]:
        same += 1
    pick = [lines[same] if same < len(lines) else "(nothing)" for lines in (got, expected)]
    return f"line {same + 1} is\n    {pick[0]}\n  but should be\n    {pick[1]}"


def run_transcript(report, path, bless):
    entries, rest = parse(path.read_text())
    blessed, failed_before = [], report.n_failed
    with tempfile.TemporaryDirectory() as folder:
        for comment, nearly, command, expected in entries:
            with report.case(f"{path.name}: {command}"):
                got = replay(command, folder)
                same = is_same(expected, got, nearly)
                blessed += [*comment, f"${nearly} {command}", *(expected if same else got), ""]
                assert bless or same, show_difference(expected, got)
    if bless and report.n_failed == failed_before:
        path.write_text("\n".join(blessed + rest).rstrip("\n") + "\n")


def main():
    report = Report(__file__)
    names = [arg for arg in sys.argv[1:] if arg != "--bless"]
    for path in sorted(HERE.glob("*.txt")):
        if not names or path.stem in names:
            run_transcript(report, path, "--bless" in sys.argv)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
