#!/usr/bin/python3
"""Runs the tests of calque and counts them: the one program behind `make test` and `make check`.

    run_tests.py [--quick | --release] [--folder DIR] [--only GROUP,…] [--jobs N]

Groups:

    build    Release, sanitized, Debug and clang builds, warnings as errors; a build counts as one test.
             WebAssembly, the npm package and the page, where emscripten is installed
    ctest    under ASan and UBSan, and again in Release: every cmocka test function; every case of every
             operator (tests/ops), and that every row has one; every file of the fuzz corpora. In Debug,
             without an optimizer, the kernels with the largest stack frames
    repo     tests/repo/*.py     rules about the repository itself
    golden   tests/golden/run.py    outputs kept word for word, with the sanitized binary
    python   tests/python/*.py   the Python package, with the Release library
    peer     tests/peer/*.py     PyTorch, onnx and ONNX Runtime, with the Release binary
    browser  tests/browser/*.py  pages of calque view in chromium, with the Release binary
    web      tests/web/*.py      the npm package in Node and the page in chromium

The scripts of all groups share one queue, the longest first, so that no processor waits for a group
to end.

--quick makes one build instead, not optimised and without sanitizers, which a minute is enough
for, runs everything on it, and leaves out the peers; --release does so with an optimised build and its
unit tests alone. --folder is where that one build goes: `make test-compilers` has one for each compiler. A script is a test when it begins with `#!`; it prints
what it likes, ends with a line `N passed, M failed` (and `, K skipped` if any are), and fails
by a non-zero exit. One that dies without that line counts as one failure. The last line
printed here is the sum of all.
"""
import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"
SCRIPT_TIMEOUT = 40 * 60
UNIT_TIMEOUT = 30 * 60  # for what hangs: on a busy machine a test of seconds takes minutes
HEARTBEAT = 30
TIMES = ROOT / "build" / "test_times.json"

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
TAP = re.compile(r"^(not )?ok \d+(?: -)? ?(.*)$")

# build/ keeps the compiler that it was first configured with: to name another makes CMake drop all
# its settings, CALQUE_TESTS included.
Build = collections.namedtuple("Build", "name folder options tests")  # tests: of ctest; None: not run
ALL_TESTS, LARGE_FRAMES = ".", "^unit/kernel/(conv/qconv|quantize|conv/bconv|matrix/packed|chain)$"
BUILDS = [
    Build("Release", "build", ["-DCMAKE_BUILD_TYPE=Release", "-DCALQUE_SANITIZE=OFF"], ALL_TESTS),
    Build("ASan and UBSan", "build/asan",
          ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_COMPILER=gcc", "-DCALQUE_SANITIZE=ON"], ALL_TESTS),
    Build("Debug", "build/debug",
          ["-DCMAKE_BUILD_TYPE=Debug", "-DCALQUE_SANITIZE=OFF", "-DCALQUE_LOWERED=OFF"], LARGE_FRAMES),
    Build("clang, Release", "build/clang",  # the program and the library: its tests would not run
          ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang", "-DCALQUE_SANITIZE=OFF",
           "-DCALQUE_TESTS=OFF"], None),
]
QUICK_BUILD = Build("not optimised", "build/quick",
                    ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DCALQUE_SANITIZE=OFF"], ALL_TESTS)
TARGETS = {LARGE_FRAMES: ["unit_kernel_conv_qconv", "unit_kernel_quantize", "unit_kernel_conv_bconv",
                          "unit_kernel_matrix_packed", "unit_kernel_chain"]}  # all, if it is not there


def builds_of(options):
    if not options.quick and not options.release:
        return BUILDS
    build = QUICK_BUILD if options.quick else BUILDS[0]
    return [build._replace(folder=options.folder or build.folder)]


class Count:
    """How many tests passed, failed and were skipped."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def say(text):
    print(text, flush=True)


def indent(text):
    return "".join(f"    {line}\n" for line in text.splitlines()).rstrip("\n")


# ---- builds ---------------------------------------------------------------------------


STEP = re.compile(r"\[(\d+)/(\d+)\]|\s*(\d+)/(\d+) Test ")  # of ninja, of ctest


def run_step(step, title, **kwargs):
    """Runs a command; says every HEARTBEAT seconds how far ninja or ctest is. Returns exit code and output."""
    process = subprocess.Popen(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                               errors="replace", **kwargs)
    started = said = time.monotonic()
    lines = []
    for line in process.stdout:
        lines.append(line)
        match = STEP.match(line)
        if match and time.monotonic() - said >= HEARTBEAT:
            said = time.monotonic()
            say(f"  …    {title}, {said - started:.0f} s: {match[1] or match[3]} of {match[2] or match[4]}")
    return process.wait(), "".join(lines)


def configure_and_build(build, jobs):
    folder = ROOT / build.folder
    steps = [
        ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCALQUE_TESTS=ON",
         "-DCALQUE_WERROR=ON", "--log-level=WARNING", *build.options],
        ["ninja", "-C", folder, "-j", str(jobs), *TARGETS.get(build.tests, [])],
    ]
    for step in steps:
        code, output = run_step(step, build.name)
        if code != 0:
            first = max(output.find("FAILED:"), 0)
            say(indent(output[first:first + 6000]))
            return False
    return True


def build_web():
    """The npm package and the page, with the Release build. Returns None where emscripten is missing."""
    if not shutil.which("emcc") and os.environ.get("CI") != "true":
        return None
    code, output = run_step(["make", "--no-print-directory", "-C", ROOT, "npm", "web"], "WebAssembly")
    if code != 0:
        say(indent(output[-6000:]))
    return code == 0


def run_builds(options):
    count = Count()
    steps = [(build.name, functools.partial(configure_and_build, build, options.jobs))
             for build in builds_of(options)]
    if not options.quick and not options.release:
        steps.append(("WebAssembly", build_web))
    for name, step in steps:
        started = time.monotonic()
        ok = step()
        count.add(Count(skipped=1) if ok is None else Count(passed=1) if ok else Count(failed=1))
        if ok is None:
            say(f"  skip {name}: emcc is missing; tools/setup.sh wasm installs it")
            continue
        say(f"  {'ok  ' if ok else 'FAIL'} {name} ({time.monotonic() - started:.1f} s)")
        if not ok:
            say("  the tests below run on what an earlier build left, if anything")
    return count


# ---- ctest ----------------------------------------------------------------------------


def count_tap(name, output, why):
    """Counts the TAP lines of one test program; prints the end of its output if something is wrong. why:
    it failed as a whole, None if not."""
    count, plan = Count(), None
    for line in output.splitlines():
        if match := re.match(r"^1\.\.(\d+)", line):
            plan = (plan or 0) + int(match[1])
        elif match := TAP.match(line):
            if "# SKIP" in line:
                count.skipped += 1
                say(f"  skip {name}: {match[2]}")
            elif match[1]:
                count.failed += 1
            else:
                count.passed += 1
    seen = count.passed + count.failed + count.skipped
    if seen == 0 and plan is None:
        count = Count(failed=1) if why else Count(passed=1)
    elif plan is None or seen < plan or why and count.failed == 0:
        count.failed += 1  # it died in a test, or at the end
    if count.failed:
        rest = "\n".join(line for line in output.splitlines() if not line.startswith("ok "))
        say(f"  FAIL {name}{f' ({why})' if why else ''}\n{indent(rest[-6000:])}")
    return count


def with_asan(**variables):
    """The environment of tests: also what a function left behind on the stack is not to be used."""
    asan = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_stack_use_after_return=1"]))
    return dict(os.environ, ASAN_OPTIONS=asan, **variables)


def folder_of(options, folder):
    return ROOT / (builds_of(options)[0].folder if options.quick or options.release else folder)


def run_ctest(options):
    total = Count()
    for build in builds_of(options):
        if build.tests:
            total.add(run_ctest_of(build, options))
    return total


def run_ctest_of(build, options):
    folder = ROOT / build.folder
    report = folder / "ctest.xml"
    report.unlink(missing_ok=True)
    env = with_asan(CMOCKA_MESSAGE_OUTPUT="TAP")
    command = ["ctest", "--test-dir", folder, "-j", str(options.jobs), "--timeout",
               str(UNIT_TIMEOUT), "-R", build.tests, "--output-junit", report,
               "--test-output-size-passed", "100000000", "--test-output-size-failed", "100000000"]
    _, output = run_step(command, f"{build.name}, tests", env=env)
    if not report.exists():
        say(indent(output[-3000:]))
        return Count(failed=1)
    parts = collections.defaultdict(Count)
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        failure = case.find("failure")
        why = None if case.get("status") == "run" else failure is not None and failure.get("message") or "failed"
        parts[name.split("/")[0]].add(count_tap(name, output, why))
    total = Count()
    for name, count in sorted(parts.items()):
        say(f"  {'FAIL' if count.failed else 'ok  '} {build.name}, {name}: {count}")
        total.add(count)
    return total


# ---- scripts: repository, golden, peers -----------------------------------------------


class Running:
    """A script under way: its output so far, for the heartbeat and for the end."""

    def __init__(self, path, env):
        self.name = str(path.relative_to(ROOT))
        self.lines, self.started, self.timed_out = [], time.monotonic(), False
        self.process = subprocess.Popen([PYTHON, path], env=env, cwd=ROOT, text=True,
                                        errors="replace", stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)

    def stop(self):
        self.timed_out = True
        self.process.kill()

    def wait(self):
        timer = threading.Timer(SCRIPT_TIMEOUT, self.stop)
        timer.start()
        for line in self.process.stdout:
            self.lines.append(line.rstrip("\n"))
        self.process.wait()
        timer.cancel()
        return self

    def count(self):
        text = [line for line in self.lines if line.strip()]
        match = SUMMARY.match(text[-1]) if text else None
        if not match:
            why = f"after {SCRIPT_TIMEOUT} s" if self.timed_out else f"exit {self.process.returncode}"
            say(f"  FAIL {self.name} ended without its summary ({why})")
            return Count(failed=1)
        count = Count(int(match[1]), int(match[2]), int(match[3] or 0))
        if self.process.returncode != 0 and count.failed == 0:
            say(f"  FAIL {self.name}: exit {self.process.returncode}, though it counts no failure")
            count.failed += 1
        return count


def heartbeat(running, finished):
    while not finished.wait(HEARTBEAT):
        for script in list(running):
            last = script.lines[-1][:100] if script.lines else ""
            say(f"  …    {script.name}, {time.monotonic() - script.started:.0f} s: {last}")


def is_script(path):
    with path.open("rb") as file:
        return file.read(2) == b"#!"


def environment(options, build):
    folder = folder_of(options, build)
    return with_asan(CALQUE=str(folder / "calque"), CALQUE_BUILD=str(folder),
                     CALQUE_JOBS=str(options.jobs), PYTHONDONTWRITEBYTECODE="1", PYTHONUNBUFFERED="1")


def read_times():
    """How long scripts took the last time, in seconds by name."""
    try:
        return json.loads(TIMES.read_text())
    except (OSError, ValueError):
        return {}


def queue_of(groups):
    """(group, path) of all scripts, those first that took longest the last time or are not known."""
    times = read_times()
    found = [(group, path) for group in groups for path in sorted((ROOT / group.folder).glob("*.py"))
             if is_script(path)]
    return sorted(found, key=lambda one: -times.get(str(one[1].relative_to(ROOT)), 1e9))


def run_scripts(options, groups):
    """Runs the scripts of all these groups, options.jobs at a time; returns a Count and seconds by group."""
    counts, seconds = {group.name: Count() for group in groups}, collections.Counter()
    running, finished, times = [], threading.Event(), read_times()

    def one(group, path):
        script = Running(path, environment(options, group.build))
        running.append(script)
        script.wait()
        running.remove(script)
        return group, script, time.monotonic() - script.started

    threading.Thread(target=heartbeat, args=(running, finished), daemon=True).start()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(one, *item) for item in queue_of(groups)]
        for job in concurrent.futures.as_completed(jobs):
            group, script, took = job.result()
            part = script.count()
            said = script.lines[:-1] if script.lines and SUMMARY.match(script.lines[-1]) \
                else script.lines
            if said:
                say(indent("\n".join(said)))
            counts[group.name].add(part)
            seconds[group.name] += took
            times[script.name] = round(took, 1)
            say(f"  {'FAIL' if part.failed else 'ok  '} {script.name}: {part} ({took:.1f} s)")
    finished.set()
    TIMES.write_text(json.dumps(times, indent=1))
    return counts, seconds


# ---- all of it ------------------------------------------------------------------------

Group = collections.namedtuple("Group", "name quick run")
GROUPS = [Group("build", True, run_builds), Group("ctest", True, run_ctest)]
ScriptGroup = collections.namedtuple("ScriptGroup", "name quick folder build")
SCRIPT_GROUPS = [
    ScriptGroup("peer", False, "tests/peer", "build"),
    ScriptGroup("browser", False, "tests/browser", "build"),
    ScriptGroup("web", False, "tests/web", "build"),
    ScriptGroup("python", True, "tests/python", "build"),
    ScriptGroup("golden", True, "tests/golden", "build/asan"),
    ScriptGroup("repo", True, "tests/repo", "build"),
]


def main():
    names = [group.name for group in GROUPS + SCRIPT_GROUPS]
    parser = argparse.ArgumentParser(description="Runs the tests of calque and counts them.")
    parser.add_argument("--quick", action="store_true", help="one quick build, no peers")
    parser.add_argument("--release", action="store_true", help="one optimised build and its unit tests")
    parser.add_argument("--folder", help="where the build of --quick or --release goes")
    parser.add_argument("--only", default="", help=f"groups to run: {','.join(names)}")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    if unknown := only - set(names):
        parser.error(f"no such group: {', '.join(sorted(unknown))}")

    def is_chosen(group):
        if only or options.release:
            return group.name in (only or {"build", "ctest"})
        return group.quick or not options.quick

    total, table, started = Count(), [], time.monotonic()
    for group in filter(is_chosen, GROUPS):
        say(f"== {group.name}")
        began = time.monotonic()
        count = group.run(options)
        total.add(count)
        table.append(f"{group.name:8} {time.monotonic() - began:7.1f} s   {count}")
    if scripts := list(filter(is_chosen, SCRIPT_GROUPS)):
        say("== " + ", ".join(group.name for group in scripts))
        began = time.monotonic()
        counts, seconds = run_scripts(options, scripts)
        for group in scripts:
            total.add(counts[group.name])
            table.append(f"{group.name:8} {seconds[group.name]:7.1f} s   {counts[group.name]}")
        table.append(f"scripts  {time.monotonic() - began:7.1f} s   of the clock")
    say("==")
    for line in table:
        say(line)
    say(f"{'all':8} {time.monotonic() - started:7.1f} s")
    say(str(total))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
