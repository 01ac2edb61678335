#!/usr/bin/python3
"""The sandbox, attacked from inside: data/attack.c makes every forbidden call within calque, while it
has a terminal, files and processes of the user around it. None may succeed, and the command must still
do its work."""
import ctypes
import os
import pathlib
import pty
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
import peers  # noqa: E402
from peers import Report  # noqa: E402


def find_calque():
    """A sanitized calque has no sandbox: then the plain one beside it is tested."""
    given = pathlib.Path(peers.CALQUE).resolve()
    for path in (given, *(peers.ROOT / f"build/{name}calque" for name in ("clang/", "quick/", ""))):
        if path.exists() and b"__asan_init" not in path.read_bytes():
            return str(path)
    return None


def compile_attack(folder):
    out = folder / "attack.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", out, HERE / "data/attack.c", "-ldl"], check=True)
    return out


def attack(calque, library, folder, *args, anyhow=False, landlock=None):
    """Runs a command with a terminal; returns its output and the input typed into it."""
    mine, other = folder / "mine", folder / "folder"
    mine.write_text("a file of the user's")
    os.utime(mine, (1e9, 1e9))
    mine.chmod(0o600)
    other.mkdir(exist_ok=True)
    victim = subprocess.Popen(["sleep", "3600"])
    libc = ctypes.CDLL(None)
    queue = libc.msgget(0, 0o1600)  # IPC_PRIVATE, IPC_CREAT: any process of the user may guess its number
    main, side = pty.openpty()
    env = {**os.environ, "LD_PRELOAD": str(library), "ATTACK_FILE": str(mine), "ATTACK_FOLDER": str(other),
           "ATTACK_PID": str(victim.pid), **({"ATTACK_QUEUE": str(queue)} if queue >= 0 else {}), **({"ATTACK_ANYHOW": "1"} if anyhow else {}),
           **({"ATTACK_LANDLOCK": str(landlock)} if landlock is not None else {})}

    def own_terminal():
        os.setsid()
        import fcntl
        import termios
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)

    try:
        done = subprocess.run([calque, *map(str, args)], env=env, stdin=side, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, timeout=peers.TIMEOUT, preexec_fn=own_terminal, cwd=folder)
        if anyhow:
            return done
        assert victim.poll() is None, "it has killed a process of the user's"
        assert mine.read_text() == "a file of the user's"
        assert mine.stat().st_mode & 0o777 == 0o600 and mine.stat().st_mtime == 1e9
        assert list(other.iterdir()) == []
    finally:
        victim.send_signal(signal.SIGKILL)
        victim.wait()
        libc.msgctl(queue, 0, None)  # IPC_RMID
        os.close(main)
        os.close(side)
    return done


def main():
    report, calque = Report(__file__), find_calque()
    if not calque or not shutil.which("cc"):
        report.skipped("the sandbox", "calque without sanitizers is not built" if not calque else "no C compiler is installed")
        return report.finish()
    with tempfile.TemporaryDirectory() as path:
        folder = pathlib.Path(path)
        library = compile_attack(folder)
        subprocess.run([calque, "export", "super_resolution", "--input", "1x1x8x8", "-q", "-o", folder / "model.onnx"],
                       check=True)
        for args in (["check", "model.onnx"], ["infer", "model.onnx", "-o", "out.onnx"], ["run", "model.onnx", "-o", "outputs"],
                     ["strip", "model.onnx", "-o", "out.onnx"], ["unstrip", "model.onnx", "-o", "new.onnx"]):
            with report.case(f"attacked from inside: {' '.join(args)}"):
                done = attack(calque, library, folder, *args)
                said = done.stderr.decode()
                tried = re.search(r"TRIED (\d+)", said)
                assert done.returncode == 0 and tried and int(tried[1]) > 70, (done.returncode, said)
                assert "SUCCEEDED" not in said, said
                assert ("WITH BROKER" in said) == ("-o" in args), said
        for version in (0, 1, 2, 3, 4, 5, 6):
            with report.case(f"attacked on a kernel with {f'version {version} of' if version else 'no'} Landlock"):
                done = attack(calque, library, folder, "infer", "model.onnx", "-o", "out.onnx", landlock=version)
                assert done.returncode == 0 and b"TRIED" in done.stderr and b"SUCCEEDED" not in done.stderr, done.stderr
        with report.case("without a sandbox the attack succeeds"):
            done = attack(calque, library, folder, "check", "--no-sandbox", "model.onnx", anyhow=True)
            assert done.stderr.count(b"SUCCEEDED") > 25, done.stderr.decode()
            shutil.rmtree(folder / "folder", ignore_errors=True)
        for name, args in {"infer": ["infer", "model.onnx", "-o", "a/out.onnx"],
                           "export": ["export", "super_resolution", "--input", "1x1x8x8", "--external-data", "-o", "a/out.onnx"]}.items():
            with report.case(f"only the output is created, {name}"):
                shutil.rmtree(folder / "a", ignore_errors=True)
                (folder / "a").mkdir()
                subprocess.run([calque, *args, "-q"], check=True, cwd=folder)
                assert {p.name for p in (folder / "a").iterdir()} <= {"out.onnx", "out.onnx.data"}
        with report.case("a link in the folder of a test-case does not lead out of it"):
            case, other = folder / "case", folder / "elsewhere"
            case.mkdir()
            other.mkdir()
            (case / "test_data_set_0").symlink_to(other)
            done = subprocess.run([calque, "testcase", "super_resolution", case, "--input", "1x1x8x8"], capture_output=True)
            assert done.returncode == 1 and not list(other.iterdir()), done.stderr
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
