#!/usr/bin/python3
"""Completion for bash, zsh and fish offers every existing verb and option, and no others."""
import os
import re
import shutil
import subprocess
import sys

from repo import BUILD, ROOT, Report, Skip, calque

FOLDER = ROOT / "cmake/completion"
EVERYWHERE = {"--help", "--quiet", "--no-sandbox", "--allow-large-output"}

BASH = """source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_calque calque
printf '%s\\n' "${COMPREPLY[@]}"
"""
# zsh's own functions need a terminal: these print what they are given
ZSH = """file=$1; shift
compadd() { print -rl -- "${(@P)2}" }
_describe() { print -rl -- "${(@P)2}" }
_files() { }
complete_it() { words=("$@"); CURRENT=$#; source $file }
complete_it "$@"
"""
FISH = """source $argv[1]; complete -C "$argv[2..-1]" """


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600,
                          env={**os.environ, "PATH": f"{BUILD}:{os.environ['PATH']}"})
    assert done.returncode == 0, done.stderr[-300:]
    assert not done.stderr, done.stderr[-300:]
    return {re.split(r"[:\t]", line)[0] for line in done.stdout.split("\n") if line}


SHELLS = {
    "bash": lambda words: run(["bash", "--norc", "-c", BASH, "bash", FOLDER / "calque.bash", *words]),
    "zsh": lambda words: run(["zsh", "-f", "-c", ZSH, "zsh", FOLDER / "_calque", *words]),
    "fish": lambda words: run(["fish", "--no-config", "-c", FISH, FOLDER / "calque.fish", *words]),
}


def verbs():
    return re.findall(r"^  (\w+)  +\S", calque("--help")[1], re.M)


def options(verb):
    """Names, and the placeholders of their values."""
    return dict(re.findall(r"^  (?:-\w, )?(--[a-z-]+)(?: ([A-Z[]\S*|hf))?  ", calque(verb, "--help")[1],
                           re.M))


def check_shell(complete):
    # fish needs a prefix: the common one
    assert complete(["calque", ""]) >= set(verbs()) | {"help"}
    found = complete(["calque", "help", ""])
    assert found >= set(verbs()), f"after help: {sorted(found)}"
    for verb in verbs():
        found, there = complete(["calque", verb, "--"]), set(options(verb)) | EVERYWHERE
        assert found == there, f"{verb}: {sorted(found ^ there)}"
    assert "alexnet" in complete(["calque", "export", "al"])


VALUES = {  # of options that take one of a few words, with the verb that has them
    ("export", "--training"): {"eval", "train", "preserve"},
    ("export", "--operator-export-type"): {"onnx", "onnx_aten", "onnx_aten_fallback", "onnx_fallthrough"},
    ("export", "--annotations"): {"attribute", "metadata"},
    ("export", "--quantized-engine"): {"fbgemm", "onednn", "x86", "qnnpack"},
    ("run", "--format"): {"pb", "npy"},
    ("export", "--names"): {"hf"},
    ("export", "--modules-as-functions"): {"all"},
    ("export", "--opset"): {"latest", *map(str, range(7, 25))},
}


def check_values(complete):
    """Values of options, which the help page names as well."""
    for (verb, option), expected in VALUES.items():
        found = complete(["calque", verb, option, ""])
        assert expected <= found, f"{verb} {option}: {sorted(found)}"
        page = " ".join(calque(verb, "--help")[1].split())
        for value in expected if option != "--opset" else {"latest"}:
            assert value in page.split(option + " ", 1)[1][:160], f"{verb} {option} {value} is not in the help"


def check_accepted():
    """Every option that is offered is one that the program takes."""
    for verb in verbs():
        for name, value in options(verb).items():
            code, _, err = calque(verb, name, *([value] if value else []), "--help")
            assert code == 0, f"{verb} {name}: {err}"


def main():
    report = Report(__file__)
    for name, complete in SHELLS.items():
        with report.case(f"completion for {name}"):
            if not shutil.which(name):
                raise Skip(f"there is no {name}")
            check_shell(complete)
            check_values(complete)
    with report.case("options that are listed are taken"):
        check_accepted()
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
