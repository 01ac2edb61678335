#!/usr/bin/python3
"""Every public function is called with nothing: NULL for each pointer, 1 for each number of items.
None may crash, and those that return a status say CQ_E_ARGUMENT. Nor may it crash when numbers are
out of all bounds, or when texts are nonsense and there is room for what comes out: that is NULL
after a failure, so that it can be freed. The calls are made from the headers, so that a new
function is called as well."""
import re
import sys
import tempfile
from pathlib import Path

from repo import BUILD, ROOT, Report, code, files, run

DECLARATION = re.compile(r"\bCQ_API\b([^;({]*?)(\w+)\s*\(((?:[^()]|\([^()]*\))*)\)[^;]*;")

# NULL is a module whose constructor failed: the status is why.
FAILED = {"cq_module_status"}

MAIN = """
#include <calque/calque.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
%(calls)s
static const struct { const char *name; int (*call)(void); } all[] = {
%(rows)s};
int main(void)
{
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        int   how;
        pid_t child;
        fflush(stdout);
        child = fork();
        if (!child)
            _exit(all[i].call());
        waitpid(child, &how, 0);
        printf("%%s %%d\\n", all[i].name, WIFEXITED(how) ? WEXITSTATUS(how) : -WTERMSIG(how));
    }
    return 0;
}
"""


def declared():
    for name in files("include/calque/*.h"):
        lines = [line for line in code(name).split("\n") if not line.startswith("#")]
        for match in DECLARATION.finditer("\n".join(lines)):
            yield match[2], " ".join(match[1].split()), " ".join(match[3].split())


# What a number is, what a text is, and whether there is room for results.
WAYS = {
    "nothing": ("1", "NULL", False),
    "huge numbers": ("-1", "NULL", False),
    "nonsense": ("1", '"no such thing"', True),
    "nonsense and huge numbers": ("-1", '"\\x1b"', True),
}


def room(parameter):
    """The type of an output parameter (a pointer to a pointer or number), or None."""
    match = re.fullmatch(r"((?:(?:u?int(?:8|32|64)_t|size_t|double|bool|int) )|(?:\w+ \*))\*(\w+)", parameter)
    return match and match[1].strip()


def argument(parameter, way="nothing"):
    number, text, has_room = WAYS[way]
    if has_room and re.fullmatch(r"const char \*\w+", parameter):
        return text
    if re.search(r"[*([]", parameter) or re.search(r"\b\w+(_fn|_hook|_writer)\b", parameter):
        return "NULL"
    kind = re.sub(r"\b\w+$", "", parameter).strip()
    if re.fullmatch(r"(const )?(size_t|u?int\d+_t|int|bool|double|float|unsigned)", kind):
        return f"({kind.removeprefix('const ')}){number}"
    return f"({kind}){{0}}"


LEFT = 99  # a failed call that set an output parameter


def call_of(name, result, given, way):
    """The body of a function that makes the call, and checks what comes out."""
    before, checks, args = [], [], []
    for i, parameter in enumerate(given):
        kind = room(parameter) if WAYS[way][2] else None
        if not kind:
            args.append(argument(parameter, way))
            continue
        args.append(f"&v{i}")
        if kind.endswith("*"):
            before.append(f"{kind}v{i} = ({kind})(uintptr_t)8;")
            checks += [f"if (s && v{i}) return {LEFT};"] if parameter.endswith("*out") else []
        else:
            before.append(f"{kind} v{i} = 0;")
    call = f"{name}({', '.join(args)})"
    if result != "cq_status":
        return f"{' '.join(before)} (void){call}; return 0;"
    return f"int s; {' '.join(before)} s = (int){call}; {' '.join(checks)} return s;"


def program(way):
    calls, rows = [], []
    for name, result, parameters in declared():
        given = [] if parameters in ("", "void") else re.split(r", (?![^()]*\))", parameters.removesuffix(", ..."))
        calls.append(f"static int call_{name}(void) {{ {call_of(name, result, given, way)} }}")
        rows.append(f'    {{ "{name}", call_{name} }},\n')
    return MAIN % {"calls": "\n".join(calls), "rows": "".join(rows)}


def results(folder, way):
    source, binary = Path(folder) / "calls.c", Path(folder) / "calls"
    source.write_text(program(way))
    status, _, err = run(["cc", "-w", "-D_POSIX_C_SOURCE=200809L", "-I", ROOT / "include", source,
                          "-o", binary, "-L", BUILD, "-lcalque", f"-Wl,-rpath,{BUILD}"])
    assert status == 0, err
    status, out, err = run([binary], cwd=folder)
    assert status == 0, err
    return {line.split()[0]: int(line.split()[1]) for line in out.splitlines()}


def main():
    report = Report(__file__)
    statuses = {name for name, result, parameters in declared()
                if result == "cq_status" and "*" in parameters} - FAILED
    for way in reversed(WAYS):
        with tempfile.TemporaryDirectory() as folder:
            got = results(folder, way)
        with report.case(f"no function crashes when it is given {way}"):
            crashed = sorted(name for name, code in got.items() if code < 0)
            assert not crashed, ", ".join(crashed)
        with report.case(f"what comes out of a failure is NULL when it is given {way}"):
            left = sorted(name for name, code in got.items() if code == LEFT)
            assert not left, ", ".join(left)
    with report.case("those that return a status say that an argument is wrong"):
        wrong = sorted(f"{name} ({got[name]})" for name in statuses & set(got) if got[name] != 2)
        assert not wrong, ", ".join(wrong)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
