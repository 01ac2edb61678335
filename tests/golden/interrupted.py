#!/usr/bin/python3
"""What is left when calque is killed, or the system refuses, at each single step of its work on files;
and when several programs write to one place at once.

Steps are counted by data/interrupt.c. So every moment between two of them is tried, not a few of them
by chance."""
import concurrent.futures
import errno
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
import peers  # noqa: E402
from peers import Report  # noqa: E402

CALQUE = str(pathlib.Path(peers.CALQUE).resolve())
MOST_STEPS = 200
SANITIZED = b"__asan_init" in pathlib.Path(CALQUE).read_bytes()
NETS = [["super_resolution", "--input", "1x1x8x8"], ["dcgan_discriminator"]]


def command(*args):
    return [CALQUE, *map(str, args)]


def ok(*args, **kwargs):
    done = subprocess.run(command(*args), capture_output=True, timeout=peers.TIMEOUT, **kwargs)
    assert done.returncode == 0, done.stderr.decode()[-500:]
    return done.stdout


def tree(folder):
    """Every file below a folder with its content; what differs from run to run is left out."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(pathlib.Path(folder).rglob("*"))
            if p.is_file() and p.name not in ("meta.json", "export_trace.json.gz") and not is_part(p)}


def is_part(path):
    return any(part.startswith(".calque-") for part in pathlib.Path(path).parts)


def parts(folder):
    return [p for p in pathlib.Path(folder).rglob("*") if p.name.startswith(".calque-")]


def delete_parts(folder):
    for part in parts(folder):
        shutil.rmtree(part) if part.is_dir() else part.unlink(missing_ok=True)


def compile_interrupt(folder):
    out = folder / "interrupt.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", out, HERE / "data/interrupt.c", "-ldl"], check=True)
    return out


class Steps:
    """Runs a command once for each step: killed there, or refused there with an errno."""

    def __init__(self, library):
        self.library = library

    def run(self, at, args, error=None, send=False):
        env = {**os.environ, "LD_PRELOAD": str(self.library), "INTERRUPT_AT": str(at),
               "ASAN_OPTIONS": "verify_asan_link_order=0:detect_leaks=0"}
        if error:
            env["INTERRUPT_ERROR"] = str(error)
        if send:
            env["INTERRUPT_SEND"] = "1"
        return subprocess.run(command(*args), capture_output=True, timeout=peers.TIMEOUT, env=env, start_new_session=True)

    def each(self, prepare, args, look, error=None, send=False):
        """prepare() before each step, look(at, exit code) behind it; the number of steps."""
        for at in range(1, MOST_STEPS):
            prepare()
            done = self.run(at, args, error, send)
            codes = (0, 1) if error else (0, 137) if send else (0, -9)
            assert done.returncode in codes, (at, done.returncode, done.stderr[-300:])
            look(at, done)
            if done.returncode == 0 and not error:
                return at - 1
            if error and at > self.n_steps:
                return at
        raise AssertionError("there are too many steps")

    n_steps = 0


# ---- one model, two files --------------------------------------------------------------


def check_pairs(report, folder, steps):
    out = folder / "net.onnx"
    wanted = []
    for net in NETS:
        ok("export", *net, "-o", folder / "one.onnx")
        wanted.append(ok("run", folder / "one.onnx"))
    (folder / "one.onnx").unlink()

    def export(which):
        return ["export", *NETS[which], "--external-data", "-o", out]

    def loaded():
        return wanted.index(ok("run", out))

    def data():
        return sorted(p.name for p in folder.glob("net.onnx.data*"))

    def clean():
        for path in folder.glob("*net.onnx*"):
            path.unlink()
        delete_parts(folder)

    def old_pair():
        clean()
        ok(*export(0))
        ok(*export(0))  # so that its data has an unpredictable name

    with report.case("killed at each step, a pair is the old or the new one, and the next export leaves one"):
        seen = []

        def look(at, done):
            seen.append(loaded())
            ok(*export(1))
            assert loaded() == 1 and len(data()) == 1, (at, data())

        steps.n_steps = steps.each(old_pair, export(1), look)
        assert set(seen) == {0, 1} and seen == sorted(seen) and len(seen) > 4, seen
    with report.case("killed at each step, a first pair is whole or not there, and the next export leaves one"):
        def look_first(at, done):
            assert not out.exists() or loaded() == 1
            ok(*export(1))
            assert loaded() == 1 and len(data()) == 1, (at, data())

        steps.each(clean, export(1), look_first)
    with report.case("refused at each step, a pair is the old one and exit 1, or the new one and exit 0"):
        for error in (errno.EACCES, errno.EIO, errno.ENOSPC):
            def look_refused(at, done):
                assert loaded() == (1 if done.returncode == 0 else 0), (at, done.returncode, done.stderr)
                assert done.returncode == 0 or len(data()) == 1, (at, data())
                assert len(data()) == 1 or b"cannot delete" in done.stderr, (at, data(), done.stderr)
                assert all(name.startswith(".calque") for name in map(lambda p: p.name, parts(folder)))

            steps.each(old_pair, export(1), look_refused, error)
    with report.case("data that a copy of the model names stays, and so do files of others"):
        clean()
        ok(*export(0))
        for n in ("7", "99", "weights", "0123"):
            (folder / f"net.onnx.data.{n}").write_text("mine")
        shutil.copy(out, folder / "copy.onnx")
        os.mkdir(folder / "elsewhere")
        for which in (1, 0, 1):
            ok(*export(which))
            assert loaded() == which
        assert wanted.index(ok("run", folder / "copy.onnx")) == 0
        assert {n for n in data() if (folder / n).read_bytes() == b"mine"} == {
            f"net.onnx.data.{n}" for n in ("7", "99", "weights", "0123")}
        assert len(data()) == 6, data()  # the copy's, the model's, and those
        (folder / "copy.onnx").unlink()
    with report.case("a model without external data leaves none of the one before; a stripped one does"):
        clean()
        ok(*export(0))
        ok("strip", out, "--in-place")
        assert len(data()) == 1 and loaded() == 0
        ok("export", *NETS[1], "-o", out)
        assert not data() and loaded() == 1
    with report.case("a model that is moved away keeps its data"):
        clean()
        ok(*export(0))
        out.rename(folder / "moved.onnx")
        ok(*export(1))
        assert wanted.index(ok("run", folder / "moved.onnx")) == 0 and loaded() == 1
        (folder / "moved.onnx").unlink()
    with report.case("exports to one name at once end with one model and its data"):
        clean()
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            codes = list(pool.map(lambda i: subprocess.run(command(*export(i % 2)), capture_output=True), range(64)))
        assert not [d.stderr for d in codes if d.returncode], [d.stderr for d in codes if d.returncode][:2]
        assert loaded() in (0, 1) and len(data()) == 1 and not parts(folder), (data(), parts(folder))
    with report.case("first exports to one name at once end with one model and its data"):
        for _ in range(8):
            clean()
            processes = [subprocess.Popen(command(*export(i % 2)), stderr=subprocess.PIPE) for i in range(6)]
            said = [p.communicate()[1] for p in processes]
            assert [p.returncode for p in processes] == [0] * 6 and not any(b"error" in s for s in said), said
            assert loaded() in (0, 1) and len(data()) == 1 and not parts(folder), (data(), parts(folder))


# ---- test-cases ------------------------------------------------------------------------


def write_nets(folder):
    """Two programs whose test-cases have other files."""
    nets = []
    for i, size in enumerate((400, 500)):
        nets.append(folder / f"net{i}.py")
        more, result = (", x", "Tuple[Tensor, Tensor]") if i else ("", "Tensor")
        nets[i].write_text(f"def forward(x: Tensor) -> {result}:\n  w = torch.ones([{size}]).cumsum(0)\n"
                           f"  return torch.add(x, w){more}\n")
    return nets


def check_testcases(report, folder, steps):
    out, nets = folder / "case", write_nets(folder)

    def testcase(which, *more):
        return ["testcase", nets[which], out, "--input", f"{(400, 500)[which]}=ones", *more]

    def fresh():
        shutil.rmtree(out, ignore_errors=True)
        delete_parts(folder)

    def old_case(which=1):
        fresh()
        ok(*testcase(which))
        (out / "NOTES").write_text("mine")
        (out / "test_data_set_0/my.pb").write_text("mine")
        (out / "test_data_set_0/input_0.pb.orig").write_text("mine")

    wanted = []
    for which in (0, 1):
        old_case(which)
        wanted.append(tree(out))
    mine = [k for k in wanted[0] if k in ("NOTES", "test_data_set_0/my.pb", "test_data_set_0/input_0.pb.orig")]
    assert len(mine) == 3
    with report.case("killed at each step, every file of a test-case is the old or the new one"):
        seen = []

        def look(at, done):
            now = tree(out)
            assert all(now[k] in (wanted[0].get(k), wanted[1].get(k)) for k in now), at
            assert all(now.get(k) == wanted[0][k] for k in mine), at
            seen.append("old" if now == wanted[1] else "new" if now == wanted[0] else "between")
            ok(*testcase(0))
            assert tree(out) == wanted[0], at

        steps.n_steps = steps.each(old_case, testcase(0), look)
        order = ["old", "between", "new"]
        assert seen == sorted(seen, key=order.index) and seen[0] == "old" and seen[-1] == "new", seen
    if not SANITIZED:  # which has no sandbox, and so no other process
        with report.case("only the sandboxed process killed, a test-case is the old or the new one, and nothing is left"):
            states = []

            def look_whole(at, done):
                for _ in range(6000):  # the other process cleans up
                    if not parts(folder):
                        break
                    time.sleep(0.01)
                assert not parts(folder) and tree(out) in wanted, (at, parts(folder), sorted(tree(out)))
                states.append(wanted.index(tree(out)))

            assert steps.each(old_case, testcase(0), look_whole, send=True) > 20
            assert states == sorted(states, reverse=True) and set(states) == {0, 1}, states
    with report.case("refused at each step, a test-case is the old one and exit 1, or the new one and exit 0"):
        for error in (errno.EACCES, errno.ENOSPC):
            def look_refused(at, done):
                assert tree(out) == wanted[0 if done.returncode == 0 else 1], (at, done.returncode, done.stderr)

            steps.each(old_case, testcase(0), look_refused, error)
    with report.case("killed at each step, a new test-case is whole or not there"):
        new = {k: v for k, v in wanted[0].items() if k not in mine}
        steps.each(fresh, testcase(0), lambda at, _: not out.exists() or tree(out) == new or 1 / 0)
    with report.case("killed at each step, a set of data is whole or not there"):
        def look_set(at, done):
            sets = [tree(p) for p in out.glob("test_data_set_[1-9]")]
            full = {k: v for k, v in tree(out / "test_data_set_0").items() if "pb" == k.split(".")[-1] and k != "my.pb"}
            assert all(s == full for s in sets), (at, sets)
            assert {k: v for k, v in tree(out).items() if k in wanted[1]} == wanted[1]

        steps.each(old_case, testcase(1, "--keep-model"), look_set)
    with report.case("killed at each step, unstrip of a folder leaves every file stripped or filled"):
        fresh()
        ok(*testcase(1, "--strip-large-tensor-data", "--large-tensor-threshold", "10"))
        shutil.copytree(out, folder / "stripped")
        ok("unstrip", folder / "stripped", "-o", folder / "filled")
        states = [tree(folder / "stripped"), tree(folder / "filled")]

        def again():
            fresh()
            shutil.copytree(folder / "stripped", out)

        def look_filled(at, done):
            now = tree(out)
            assert all(now[k] in (states[0][k], states[1][k]) for k in now) and now.keys() == states[0].keys()
            ok("unstrip", out)
            assert tree(out) == states[1]

        steps.each(again, ["unstrip", out], look_filled)
    with report.case("test-cases to one folder at once end with one of them, and no temporary files"):
        fresh()
        new = [{k: v for k, v in w.items() if k not in mine} for w in wanted]
        for _ in range(8):
            processes = [subprocess.Popen(command(*testcase(i % 2)), stderr=subprocess.PIPE) for i in range(6)]
            said = [p.communicate()[1] for p in processes]
            assert [p.returncode for p in processes] == [0] * 6, said
            assert tree(out) in new and not parts(folder), (sorted(tree(out)), parts(folder))
            fresh()
    with report.case("sets of data that are added at once all get a number"):
        ok(*testcase(0))
        processes = [subprocess.Popen(command(*testcase(0, "--keep-model")), stderr=subprocess.DEVNULL)
                     for _ in range(6)]
        assert [p.wait() for p in processes] == [0] * 6
        assert {p.name for p in out.glob("test_data_set_*")} == {f"test_data_set_{i}" for i in range(7)}
        assert not parts(folder)


def check_user(report, folder):
    """A user who works in the folder of a test-case while it is written."""
    out, nets = folder / "case", write_nets(folder)
    ok("testcase", nets[0], out, "--input", "400=ones")
    inode = out.stat().st_ino
    stop, saved, problems = threading.Event(), {}, []

    def work():
        i = 0
        while not stop.is_set():
            i += 1
            for name, text in ((f"new_{i}", "new"), (f"test_data_set_0/note_{i % 5}", f"version {i}")):
                part = out / (name + "~")
                try:
                    part.write_text(text)  # as an editor saves
                    part.rename(out / name)
                except OSError as e:
                    problems.append(e)
                saved[name] = text
            time.sleep(0.001)

    worker = threading.Thread(target=work)
    with report.case("what a user saves in the folder meanwhile stays, in its last version"):
        worker.start()
        try:
            i = 0
            while i < 25 or len(saved) <= 20:
                ok("testcase", nets[i % 2], out, "--input", f"{(400, 500)[i % 2]}=ones")
                i += 1
        finally:
            stop.set()
            worker.join()
        assert not problems, problems[:3]
        lost = [name for name, text in saved.items() if not (out / name).exists() or (out / name).read_text() != text]
        assert not lost, lost[:5]
        assert out.stat().st_ino == inode, "the folder is another one now"


# ---- reports ---------------------------------------------------------------------------


def check_reports(report, folder):
    net = ["super_resolution", "--input", "1x1x8x8"]
    for name, args in {
        "a report to a full disk": ["export", *net, "-o", "x.onnx", "--report", "/dev/full"],
        "a report to a missing folder": ["export", *net, "-o", "x.onnx", "--report", "gone/r.json"],
        "a report, with external data": ["export", *net, "-o", "x.onnx", "--external-data", "--report", "/dev/full"],
        "--verbose to a full disk": ["export", *net, "-o", "x.onnx", "--verbose"],
        "--verbose of a test-case to a full disk": ["testcase", *net, "case", "--verbose"],
        "a profile to a full disk": ["run", "old.onnx", "-o", "outputs", "--profile", "/dev/full"],
    }.items():
        with report.case(f"{name} fails, and leaves nothing"):
            for existing in (False, True):
                for path in folder.iterdir():
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
                ok("export", *net, "-o", "old.onnx", cwd=folder)
                if existing:
                    (folder / "x.onnx").write_text("old")
                before = tree(folder)
                with open("/dev/full", "w") as full:
                    done = subprocess.run(command(*args), stdout=full, stderr=subprocess.PIPE, cwd=folder)
                assert done.returncode == 1 and done.stderr.count(b"error:") == 1, done
                assert tree(folder) == before and not parts(folder) and not (folder / "case").exists()
                assert not (folder / "outputs").exists()


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as path:
        if not shutil.which("cc"):
            report.skipped("interrupted at each step", "no C compiler is installed")
            return report.finish()
        steps = Steps(compile_interrupt(pathlib.Path(path)))
        for check in (check_pairs, check_testcases, check_user, check_reports):
            with tempfile.TemporaryDirectory() as folder:
                check(report, pathlib.Path(folder), *([steps] if check in (check_pairs, check_testcases) else []))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
