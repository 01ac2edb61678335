#!/usr/bin/python3
"""What the inner loops of the wide kernels cost, by llvm-mca: multiplications a cycle, and whether
vectors are kept in memory for lack of registers.

    inner_loops.py [BUILD] [--set vnni] [--cpu sapphirerapids]     needs objdump and llvm-mca
    inner_loops.py build/aarch64 --set base --cpu neoverse-n1      of ARM, with its objdump

A loop is a backward jump without another inside; shown are those with the most multiply-adds of
each function. Two a cycle is the most that a core with two units does.
"""
import argparse
import pathlib
import re
import subprocess

SOURCES = ["blocked_core", "gemm", "quant"]
LINE = re.compile(r"^\s+([0-9a-f]+):\s+(.*)$")
MULTIPLIES = re.compile(r"^(v(fmadd|dpbusd|pmaddwd)|(fmla|[su]+dot|sm(ull|lal)2?)\s)")
ON_STACK = re.compile(r"^v\w+\s.*\(%rsp\).*%[zy]mm|^v\w+\s.*%[zy]mm\d+,.*\(%rsp\)|^(ldr|str)\s+q.*\[sp")
ARM = re.compile(r"neoverse|cortex|apple|ampere")


def functions(path, is_arm):
    """Name and (address, instruction) pairs of every function of an object."""
    text = subprocess.run(["aarch64-linux-gnu-objdump" if is_arm else "objdump", "-d", "--no-show-raw-insn", path], check=True,
                          stdout=subprocess.PIPE, text=True).stdout
    for part in text.split("\n\n"):
        head = re.match(r"^[0-9a-f]+ <(.+)>:", part.strip())
        if head:
            found = (LINE.match(line) for line in part.splitlines())
            yield head[1], [(int(m[1], 16), re.split(r"#(?!-?\d|0x)|//", m[2])[0].strip()) for m in found if m]


def loops(code):
    """The instructions of every innermost loop."""
    places = {address: i for i, (address, _) in enumerate(code)}
    for i, (_, text) in enumerate(code):
        jump = re.match(r"(?:j\w+|b\.\w+|cbn?z\s+\w+,)\s+([0-9a-f]+)", text)
        start = places.get(int(jump[1], 16), i) if jump else i
        body = [t for _, t in code[start:i]]
        if start < i and not any(re.match(r"(j\w+|call\w*|ret\w*|b\.\w+|bl?|cbn?z|tbn?z)\s", t + " ") for t in body):
            yield body


def cycles(body, cpu):
    """Cycles of one iteration of a loop."""
    out = subprocess.run(["llvm-mca", f"-mcpu={cpu}", "-iterations=100", *(["-march=aarch64"] if ARM.search(cpu) else [])], text=True, check=True,
                         input="\n".join(body), stdout=subprocess.PIPE).stdout
    return int(re.search(r"Total Cycles:\s+(\d+)", out)[1]) / 100


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", nargs="?", default="build")
    parser.add_argument("--set", default="vnni", help="base, avx2, avx512, vnni, dotprod or i8mm")
    parser.add_argument("--cpu", default="sapphirerapids")
    args = parser.parse_args()
    folder = pathlib.Path(args.build) / f"CMakeFiles/calque_{args.set}.dir/src/kernel/wide"
    print(f"{'function':34} multiplies  cycles  a cycle  on the stack")
    for source in SOURCES:
        for name, code in functions(folder / f"{source}.c.o", ARM.search(args.cpu)):
            best = max(loops(code), default=[], key=lambda b: sum(map(bool, map(MULTIPLIES.match, b))))
            n = sum(map(bool, map(MULTIPLIES.match, best)))
            if n >= 4:
                took = cycles(best, args.cpu)
                print(f"{source + ' ' + name:34} {n:10} {took:7.1f} {n / took:8.2f} "
                      f"{sum(map(bool, map(ON_STACK.match, best))):13}")


if __name__ == "__main__":
    main()
