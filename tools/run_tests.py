#!/usr/bin/python3
"""Runs the tests of calque and counts them: the one program behind `make test` and `make check`.

    run_tests.py [--quick] [--only GROUP,…] [--jobs N]

Groups, in the order they run:

    build    Release, sanitized and clang builds, warnings as errors; a build counts as one test
    ctest    under ASan and UBSan: every cmocka test function; every case of every operator
             (tests/ops), and that every row has one; every file of the fuzz corpora
    repo     tests/repo/*.py     rules about the repository itself
    golden   tests/golden/run.py    outputs kept word for word, with the sanitized binary
    python   tests/python/*.py   the Python package, with the Release library
    peer     tests/peer/*.py     PyTorch, onnx and ONNX Runtime, with the Release binary

--quick makes one build instead, not optimised and without sanitizers, which a minute is enough
for, runs everything on it, and leaves out the peers. A script is a test when it begins with `#!`; it prints
what it likes, ends with a line `N passed, M failed` (and `, K skipped` if any are), and fails
by a non-zero exit. One that dies without that line counts as one failure. The last line
printed here is the sum of all.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import re
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
PYTHON = "/usr/bin/python3"
SCRIPT_TIMEOUT = 40 * 60
UNIT_TIMEOUT = 300
HEARTBEAT = 30

SUMMARY = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$")
TAP = re.compile(r"^(not )?ok \d+(?: -)? ?(.*)$")

# build/ keeps the compiler that it was first configured with: to name another makes CMake drop all
# its settings, CALQUE_TESTS included.
Build = collections.namedtuple("Build", "name folder options")
BUILDS = [
    Build("Release", "build", ["-DCMAKE_BUILD_TYPE=Release", "-DCALQUE_SANITIZE=OFF"]),
    Build("gcc, ASan and UBSan", "build/asan",
          ["-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_COMPILER=gcc", "-DCALQUE_SANITIZE=ON"]),
    Build("clang, Release", "build/clang",
          ["-DCMAKE_BUILD_TYPE=Release", "-DCMAKE_C_COMPILER=clang", "-DCALQUE_SANITIZE=OFF"]),
]
QUICK_BUILDS = [
    Build("not optimised", "build/quick",
          ["-DCMAKE_BUILD_TYPE=None", "-DCMAKE_C_FLAGS=-O0", "-DCALQUE_SANITIZE=OFF"]),
]


class Count:
    """What came of some tests."""

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


def configure_and_build(build, jobs):
    folder = ROOT / build.folder
    steps = [
        ["cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", "-DCALQUE_TESTS=ON",
         "-DCALQUE_WERROR=ON", "--log-level=WARNING", *build.options],
        ["ninja", "-C", folder, "-j", str(jobs)],
    ]
    for step in steps:
        done = subprocess.run(step, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode != 0:
            first = max(done.stdout.find("FAILED:"), 0)
            say(indent(done.stdout[first:first + 6000]))
            return False
    return True


def run_builds(options):
    count = Count()
    for build in QUICK_BUILDS if options.quick else BUILDS:
        started = time.monotonic()
        ok = configure_and_build(build, options.jobs)
        count.add(Count(passed=1) if ok else Count(failed=1))
        say(f"  {'ok  ' if ok else 'FAIL'} {build.name} ({time.monotonic() - started:.1f} s)")
        if not ok:
            say("  the tests below run on what an earlier build left, if anything")
    return count


# ---- ctest ----------------------------------------------------------------------------


def count_tap(name, output, exit_ok):
    """Counts the TAP lines of one test program; prints its output if something is wrong."""
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
        count = Count(passed=1) if exit_ok else Count(failed=1)
    elif plan is None or seen < plan or not exit_ok and count.failed == 0:
        count.failed += 1  # it died in a test, or at the end
    if count.failed:
        rest = "\n".join(line for line in output.splitlines() if not line.startswith("ok "))
        say(f"  FAIL {name}\n{indent(rest[:6000])}")
    return count


def with_asan(**variables):
    """The environment of tests: also what a function left behind on the stack is not to be used."""
    asan = ":".join(filter(None, [os.environ.get("ASAN_OPTIONS"), "detect_stack_use_after_return=1"]))
    return dict(os.environ, ASAN_OPTIONS=asan, **variables)


def folder_of(options, folder):
    return ROOT / (QUICK_BUILDS[0].folder if options.quick else folder)


def run_ctest(options):
    folder = folder_of(options, "build/asan")
    report = folder / "ctest.xml"
    report.unlink(missing_ok=True)
    env = with_asan(CMOCKA_MESSAGE_OUTPUT="TAP")
    command = ["ctest", "--test-dir", folder, "-j", str(options.jobs), "--timeout",
               str(UNIT_TIMEOUT), "--output-junit", report,
               "--test-output-size-passed", "100000000", "--test-output-size-failed", "100000000"]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, errors="replace")
    if not report.exists():
        say(indent(done.stdout[-3000:]))
        return Count(failed=1)
    parts = collections.defaultdict(Count)
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        parts[name.split("/")[0]].add(count_tap(name, output, case.get("status") == "run"))
    total = Count()
    for name, count in sorted(parts.items()):
        say(f"  {'FAIL' if count.failed else 'ok  '} {name}: {count}")
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


def run_scripts(options, paths, env):
    count, running, finished = Count(), [], threading.Event()

    def one(path):
        script = Running(path, env)
        running.append(script)
        script.wait()
        running.remove(script)
        return script

    threading.Thread(target=heartbeat, args=(running, finished), daemon=True).start()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        jobs = [pool.submit(one, path) for path in paths]
        for job in concurrent.futures.as_completed(jobs):
            script = job.result()
            part = script.count()
            said = script.lines[:-1] if script.lines and SUMMARY.match(script.lines[-1]) \
                else script.lines
            if said:
                say(indent("\n".join(said)))
            count.add(part)
            say(f"  {'FAIL' if part.failed else 'ok  '} {script.name}: {part} "
                f"({time.monotonic() - script.started:.1f} s)")
    finished.set()
    return count


def scripts_of(folder):
    return lambda: [path for path in sorted((ROOT / folder).glob("*.py")) if is_script(path)]


def script_group(find, build):
    def run(options):
        folder = folder_of(options, build)
        env = with_asan(CALQUE=str(folder / "calque"), CALQUE_BUILD=str(folder),
                        CALQUE_JOBS=str(options.jobs), PYTHONDONTWRITEBYTECODE="1",
                        PYTHONUNBUFFERED="1")
        return run_scripts(options, find(), env)

    return run


# ---- all of it ------------------------------------------------------------------------

Group = collections.namedtuple("Group", "name quick run")
GROUPS = [
    Group("build", True, run_builds),
    Group("ctest", True, run_ctest),
    Group("repo", True, script_group(scripts_of("tests/repo"), "build")),
    Group("golden", True, script_group(scripts_of("tests/golden"), "build/asan")),
    Group("python", True, script_group(scripts_of("tests/python"), "build")),
    Group("peer", False, script_group(scripts_of("tests/peer"), "build")),
]


def main():
    parser = argparse.ArgumentParser(description="Runs the tests of calque and counts them.")
    parser.add_argument("--quick", action="store_true", help="one quick build, no peers")
    parser.add_argument("--only", default="", help="groups to run: build,ctest,repo,golden,python,peer")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    options = parser.parse_args()
    only = set(filter(None, options.only.split(",")))
    if unknown := only - {group.name for group in GROUPS}:
        parser.error(f"no such group: {', '.join(sorted(unknown))}")

    total, table, started = Count(), [], time.monotonic()
    for group in GROUPS:
        if only and group.name not in only or not only and options.quick and not group.quick:
            continue
        say(f"== {group.name}")
        began = time.monotonic()
        count = group.run(options)
        total.add(count)
        table.append(f"{group.name:8} {time.monotonic() - began:7.1f} s   {count}")
    say("==")
    for line in table:
        say(line)
    say(f"{'all':8} {time.monotonic() - started:7.1f} s")
    say(str(total))
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())
