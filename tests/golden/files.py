#!/usr/bin/python3
"""Nothing lost, nobody let in: how calque writes files, and how it reads those of others.

Outputs are whole or not there, also when the program is killed; what was there stays until the
new is whole. Files of others lead nowhere and print nothing that a terminal would obey.
"""
import hashlib
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import CALQUE, TIMEOUT, Report, Skip, wait_for_cpu  # noqa: E402

SANITIZED = b"__asan_init" in pathlib.Path(CALQUE).read_bytes()
LARGE = 1 << 25  # elements: some tenths of a second to write
RELU = "def forward(x: Tensor) -> Tensor:\n  return torch.relu(x)\n"


def calque(*args, **kwargs):
    return subprocess.run([CALQUE, *map(str, args)], capture_output=True, timeout=TIMEOUT, **kwargs)


def ok(*args, **kwargs):
    done = calque(*args, **kwargs)
    assert done.returncode == 0, done.stderr.decode()[-500:]
    return done.stdout


def refused(*args, says="", **kwargs):
    done = calque(*args, **kwargs)
    text = done.stderr.decode(errors="replace") + done.stdout.decode(errors="replace")
    assert done.returncode == 1 and says in text, f"exit {done.returncode}: {text[-500:]}"
    return text


def tree(folder):
    """Every file below a folder, by its path, with its contents."""
    return {str(p.relative_to(folder)): hashlib.sha256(p.read_bytes()).hexdigest()
            for p in sorted(pathlib.Path(folder).rglob("*")) if p.is_file() and not p.is_symlink()}


def limited(size):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
    return limit


# ---- ONNX by hand, so that no peer is needed ----------------------------------------


def varint(n):
    out = bytearray()
    while n > 0x7f:
        out.append(n & 0x7f | 0x80)
        n >>= 7
    return bytes(out) + bytes([n])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def value_info(name, *dims, kind=1):
    """A dimension is a number or a name."""
    shape = b"".join(field(1, field(1 if isinstance(d, int) else 2, d)) for d in dims)
    return field(1, name) + field(2, field(1, field(1, kind) + field(2, shape)))


def entry(key, value):
    return field(13, field(1, key) + field(2, str(value)))


def model_with(location, n=4, offset=None, length=None, y="y", op="Add"):
    """y = x + w, with w in a file."""
    w = field(1, n) + field(2, 1) + field(8, "w") + entry("location", location) + field(14, 1)
    w += entry("offset", offset) if offset is not None else b""
    w += entry("length", length) if length is not None else b""
    node = field(1, "x") + field(1, "w") + field(2, y) + field(4, op)
    graph = field(1, node) + field(2, "g") + field(5, w) + field(11, value_info("x", n)) + field(12, value_info(y, n))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


# ---- writing -------------------------------------------------------------------------


def check_targets(report, folder):
    source = folder / "relu.py"
    source.write_text(RELU)
    export = ["export", source, "--input", "2x3", "-o"]
    plain = folder / "plain.onnx"
    ok(*export, plain)
    expected = plain.read_bytes()
    with report.case("a link is written through"):
        (folder / "there").mkdir()
        (folder / "there/real.onnx").write_bytes(b"old")
        (folder / "link.onnx").symlink_to("there/real.onnx")
        (folder / "dangling.onnx").symlink_to("there/new.onnx")
        ok(*export, folder / "link.onnx")
        ok(*export, folder / "dangling.onnx")
        assert (folder / "link.onnx").is_symlink() and (folder / "dangling.onnx").is_symlink()
        assert (folder / "there/real.onnx").read_bytes() == expected == (folder / "there/new.onnx").read_bytes()
    with report.case("a FIFO gets the bytes and stays"):
        os.mkfifo(folder / "fifo")
        reader = subprocess.Popen(["cat", folder / "fifo"], stdout=subprocess.PIPE)
        ok(*export, folder / "fifo")
        assert reader.communicate()[0] == expected and stat.S_ISFIFO((folder / "fifo").stat().st_mode)
    with report.case("devices stay devices"):
        ok(*export, "/dev/null")
        assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
        assert ok(*export, "/dev/stdout") == expected
        with open(folder / "redirected", "wb") as file:
            file.write(b"before ")
            file.flush()
            subprocess.run([CALQUE, *map(str, export), "/dev/stdout"], stdout=file, check=True)
        assert (folder / "redirected").read_bytes() == b"before " + expected
    with report.case("a folder is not an output, and a failure leaves it"):
        refused(*export, folder / "there", says="folder")
        refused(*export, folder / "missing/out.onnx")
    with report.case("an output keeps the mode of the file that it replaces"):
        plain.chmod(0o640)
        ok(*export, plain)
        assert plain.stat().st_mode & 0o777 == 0o640
    with report.case("nothing is left beside it"):
        assert not list(folder.rglob("*.part")), list(folder.rglob("*.part"))


def check_sources(report, folder):
    source = folder / "own.py"
    source.write_text(RELU)
    os.link(source, folder / "hard.onnx")
    (folder / "soft.onnx").symlink_to(source)
    for out in (source, folder / "hard.onnx", folder / "soft.onnx"):
        with report.case(f"export over its own source, {out.name}"):
            refused("export", source, "--input", "2", "-o", out, says="would overwrite")
            assert source.read_text() == RELU
    with report.case("a test-case over its own source"):
        (folder / "case").mkdir()
        os.link(source, folder / "case/model.onnx")
        refused("testcase", source, folder / "case", "--input", "2", says="would overwrite")
        assert tree(folder / "case").keys() == {"model.onnx"}
    with report.case("a report over the source"):
        refused("export", source, "--input", "2", "-o", folder / "x.onnx", "--report", source, says="would overwrite")
        assert source.read_text() == RELU
    with report.case("a model over its own weights"):
        (folder / "w.data").write_bytes(struct.pack("4f", 1, 2, 3, 4))
        (folder / "m.onnx").write_bytes(model_with("w.data"))
        (folder / "w.link").symlink_to("w.data")
        before = (folder / "w.data").read_bytes()
        for out in ("w.data", "w.link"):
            refused("infer", folder / "m.onnx", "-o", folder / out, says="weights")
        assert (folder / "w.data").read_bytes() == before
    with report.case("a model in place, with its weights inside or beside it"):
        ok("infer", folder / "m.onnx", "-o", folder / "m.onnx")
        assert "3" in ok("run", folder / "m.onnx", "--input", "4").decode()
        (folder / "w.data").unlink()
        ok("run", folder / "m.onnx", "--input", "4")


def wait_for_part(folder, process):
    while process.poll() is None:
        for path in folder.glob(".calque-*.part"):
            return path
    return None


def check_signals(report, folder):
    source, out = folder.parent / f"{folder.name}.source", folder / "large.onnx"
    source.mkdir()
    (source / "m.onnx").write_bytes(model_with("w", LARGE))
    with open(source / "w", "wb") as file:
        file.truncate(4 * LARGE)
    infer = ["infer", str(source / "m.onnx"), "-o", str(out)]
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
        with report.case(f"{number.name} leaves what was there and nothing else"):
            out.write_bytes(b"old")
            process = subprocess.Popen([CALQUE, *infer], stderr=subprocess.DEVNULL,
                                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CORE, (0, 0)))
            if not wait_for_part(folder, process):
                raise Skip("it was faster than the signal")
            process.send_signal(number)
            code = process.wait()
            assert code in (-number, 0), code
            if code:
                assert out.read_bytes() == b"old"
            assert [p.name for p in folder.iterdir()] == [out.name], list(folder.iterdir())
    with report.case("a limit of the size of files is an error"):
        out.write_bytes(b"old")
        refused(*infer, says="too large", preexec_fn=limited(1 << 20))
        assert tree(folder) == {out.name: hashlib.sha256(b"old").hexdigest()}
    with report.case("names cannot be guessed"):
        names = set()
        for _ in range(30):  # this program may get no processor while the file is written
            process = subprocess.Popen([CALQUE, *infer])
            part = wait_for_part(folder, process)
            process.kill()
            process.wait()
            names |= {part.name} if part else set()
            [p.unlink(missing_ok=True) for p in folder.glob(".calque-*")]
            assert not part or str(process.pid) not in part.name, part.name
            if len(names) == 3:
                break
        else:
            raise Skip(f"only {len(names)} names were seen")
    shutil.rmtree(source)


def check_pairs(report, folder):
    """A model and its weights in two files: old or new, never a mixture, whenever it is killed."""
    out, nets = folder / "net.onnx", [["super_resolution", "--input", "1x1x8x8"], ["dcgan_discriminator"]]
    wanted = []
    for net in nets:
        ok("export", *net, "-o", folder / "one.onnx")
        wanted.append(ok("run", folder / "one.onnx"))

    def save(which, **kwargs):
        return subprocess.Popen([CALQUE, "export", *nets[which], "--external-data", "-o", out], stderr=subprocess.DEVNULL,
                                **kwargs)

    def loaded():
        return wanted.index(ok("run", out))

    with report.case("external data gets a new name, and the old goes"):
        for which in (0, 1, 0):
            assert save(which).wait() == 0 and loaded() == which
            data = [p.name for p in folder.glob("net.onnx.data*")]
            assert len(data) == 1, data
    with report.case("killed at any moment, a pair is the old or the new one"):
        start = time.monotonic()
        assert save(0).wait() == 0
        took, seen = time.monotonic() - start, set()
        random.seed(7)
        for i in range(30):
            if i > 5 and time.monotonic() - start > 15:
                break
            process = save(i % 2)
            time.sleep(random.random() * took * 1.2)
            process.kill()
            process.wait()
            seen.add(loaded())
        assert save(1).wait() == 0 and loaded() == 1
        [p.unlink(missing_ok=True) for p in folder.glob(".calque-*")]
        assert len(list(folder.glob("net.onnx.data*"))) == 1, "old data is left"
    with report.case("a failure leaves the old pair"):
        before = tree(folder)
        assert save(0, preexec_fn=limited(1 << 12)).wait() == 1
        assert tree(folder) == before and loaded() == 1


def check_size(report, folder):
    """A small file may describe a large output; it is written only with --allow-large-output."""
    out, inputs = folder / "out.onnx", ["--input", "2x3"]
    repeated = pathlib.Path(__file__).parent.parent / "data/repeated_weight.pt"
    before = tree(folder)
    for name, command in (
            ("export", ["export", repeated, *inputs, "-o", out]),
            ("export to standard output", ["export", repeated, *inputs, "-o", "-"]),
            ("export with external data", ["export", repeated, *inputs, "--external-data", "-o", out]),
            ("testcase", ["testcase", repeated, folder / "case", *inputs]),
            ("run", ["run", repeated, *inputs, "-o", folder / "outputs"])):
        with report.case(f"a small file does not write much, {name}"):
            refused(*command, says="--allow-large-output")
            assert tree(folder) == before and not (folder / "outputs").exists()
    with report.case("unless it is allowed to"):
        ok("export", repeated, *inputs, "-o", out, "--allow-large-output")
        assert out.stat().st_size > 100_000_000
        out.unlink()


def check_in_place(report, folder):
    """strip and unstrip change a file in place: whenever they are killed, it is the old or the new one."""
    source, net = folder / "net.py", folder / "net.onnx"
    source.write_text("def forward(x: Tensor) -> Tensor:\n  return torch.matmul(x, torch.ones([1500, 1500]).cumsum(0))\n")
    ok("export", source, "--input", "1x1500", "-o", net, "--trace")
    ok("strip", net, "--runnable", "-o", folder / "runnable.onnx")
    states = {"strip": net.read_bytes()}
    ok("strip", net, "--in-place")
    states["unstrip"] = net.read_bytes()
    ok("unstrip", net)
    filled = net.read_bytes()
    for verb, before in states.items():
        with report.case(f"killed at any moment, {verb} leaves the old file or the new one"):
            after = states["unstrip"] if verb == "strip" else filled
            in_place = ["--in-place"] if verb == "strip" else []
            start = time.monotonic()
            net.write_bytes(before)
            ok(verb, net, *in_place)
            took = time.monotonic() - start
            random.seed(11)
            for i in range(20):
                if i > 5 and time.monotonic() - start > 10:
                    break
                net.write_bytes(before)
                process = subprocess.Popen([CALQUE, verb, net, *in_place], stderr=subprocess.DEVNULL)
                time.sleep(random.random() * took * 1.2)
                process.kill()
                process.wait()
                assert net.read_bytes() in (before, after)
            [p.unlink(missing_ok=True) for p in folder.glob(".calque-*")]


def check_testcases(report, folder):
    source = folder / "f.py"
    source.write_text("def forward(x: Tensor) -> Tensor:\n  return torch.add(x, torch.ones([4096]))\n")
    out = folder / "deep/er/case"
    command = ["testcase", source, out, "--input", "4096"]
    with report.case("a test-case that fails leaves no part of a folder"):
        refused(*command, preexec_fn=limited(1 << 10))
        assert not (folder / "deep").exists()
    with report.case("a test-case that fails leaves the one that was there"):
        ok(*command)
        (out / "test_data_set_0/input_9.pb").write_bytes(b"of an older model")
        before = tree(out)
        refused(*command, preexec_fn=limited(1 << 10))
        assert tree(out) == before
        ok(*command)
        assert not (out / "test_data_set_0/input_9.pb").exists()
    with report.case("a stripped folder that cannot be filled is unchanged"):
        ok(*command, "--strip-large-tensor-data")
        before = tree(out)
        refused("unstrip", out, preexec_fn=limited(1 << 10))
        assert tree(out) == before
        ok("unstrip", out)


def content(folder):
    """What a test-case says; the time of its making is left out."""
    return {k: v for k, v in tree(folder).items() if k not in ("meta.json", "export_trace.json.gz")}


def kill_often(start, check, took, seconds):
    """Starts a process and kills it, at moments all over the time that it takes; check looks at what it left."""
    random.seed(13)
    begin = time.monotonic()
    for i in range(60):
        if i > 5 and time.monotonic() - begin > seconds:
            break
        process = start(i)
        time.sleep(random.random() * took * 1.2)
        process.kill()
        process.wait()
        check(i)


def check_whole_folders(report, folder):
    """A new test-case is whole or not there, whenever it is killed; interrupted.py has folders that exist."""
    out, source = folder / "case", folder / "net.py"
    source.write_text("def forward(x: Tensor) -> Tensor:\n  return torch.add(x, torch.ones([50000]).cumsum(0))\n")

    def start():
        return subprocess.Popen([CALQUE, "testcase", source, out, "--input", "50000=ones"], stderr=subprocess.DEVNULL)

    def is_hidden(path):
        return path.name.startswith(".calque-")

    assert start().wait() == 0
    wanted = content(out)
    begin = time.monotonic()
    assert start().wait() == 0 and content(out) == wanted and not list(filter(is_hidden, folder.rglob("*")))
    took = time.monotonic() - begin
    with report.case("killed at any moment, a new test-case is whole or not there"):
        def again(_):
            shutil.rmtree(out, ignore_errors=True)
            return start()

        def look(_):
            assert not out.exists() or content(out) == wanted
            for left in list(filter(is_hidden, folder.iterdir())):
                shutil.rmtree(left, ignore_errors=True)  # calque's other process may do it, too

        kill_often(again, look, took, 10)
        while list(filter(is_hidden, folder.iterdir())):  # run_tests.py has a limit
            look(0)
            time.sleep(0.01)
    for exists in (False, True):
        with report.case(f"interrupted, a test-case leaves nothing, in a folder that {'exists' if exists else 'is new'}"):
            shutil.rmtree(out, ignore_errors=True)
            if exists:
                assert start().wait() == 0
            before = sorted(folder.rglob("*"))
            for i in range(10):
                process = start()
                time.sleep(took * i / 10)
                process.send_signal(signal.SIGINT)
                process.wait()
                # The signal may arrive when all files are in place: then they are whole, whatever the exit code.
                left = sorted(folder.rglob("*"))
                assert left == before or not exists and content(out) == wanted, left
                if not exists:
                    shutil.rmtree(out, ignore_errors=True)


def check_odd_folders(report, folder):
    """A folder that exists is written to file by file, whatever else is in it."""
    source, out = folder / "f.py", folder / "case"
    source.write_text(RELU)
    out.mkdir()
    with report.case("a test-case in the working folder stays the working folder"):
        inode = out.stat().st_ino
        for name in (".", "../case", str(out), "./"):
            ok("testcase", source, name, "--input", "2", cwd=out)
            assert out.stat().st_ino == inode and (out / "model.onnx").exists()
    with report.case("a test-case beside folders and links of the user's"):
        (out / "deep/er").mkdir(parents=True)
        (out / "deep/er/file").write_text("mine")
        (out / "link").symlink_to(source)
        ok("testcase", source, out, "--input", "3")
        assert (out / "deep/er/file").read_text() == "mine" and (out / "link").is_symlink()
    with report.case("a link to a folder stays a link"):
        (folder / "alias").symlink_to("case")
        shutil.rmtree(out / "deep")
        (out / "link").unlink()
        for name in ("alias", "alias/"):
            ok("testcase", source, name, "--input", "2", cwd=folder)
            assert (folder / "alias").is_symlink() and (out / "model.onnx").exists()
    with report.case("the permissions of a folder stay"):
        out.chmod(0o710)
        ok("testcase", source, out, "--input", "2")
        assert stat.S_IMODE(out.stat().st_mode) == 0o710
    with report.case("an error names the folder that was asked for"):
        text = refused("testcase", source, out, "--input", "40000", preexec_fn=limited(1 << 10))
        assert ".part" not in text and "case/" in text, text


# ---- reading -------------------------------------------------------------------------


def check_external(report, folder):
    model, outside = folder / "in/m.onnx", folder / "secret"
    model.parent.mkdir()
    outside.write_bytes(struct.pack("4f", 1, 2, 3, 4))
    (folder / "in/sub").mkdir()
    (folder / "in/sub/w").write_bytes(outside.read_bytes())
    (folder / "in/inside").symlink_to("sub/w")
    (folder / "in/alias").symlink_to("sub")
    (folder / "in/out").symlink_to("../secret")
    (folder / "in/absolute").symlink_to(outside)
    (folder / "in/up").symlink_to("..")
    (folder / "in/cycle").symlink_to("cycle")
    (folder / "in/device").symlink_to("/dev/zero")
    os.mkfifo(folder / "in/fifo")
    for location in ("sub/w", "inside", "alias/w", "sub//w", "./sub/w"):
        with report.case(f"external data in {location}"):
            model.write_bytes(model_with(location))
            ok("check", model)
            ok("run", model, "--input", "4")
    for location in ("out", "absolute", "up/secret", "../secret", "cycle", "device", "fifo", "sub", "/etc/passwd",
                     "sub/../../secret", "missing"):
        with report.case(f"external data in {location} is refused"):
            model.write_bytes(model_with(location))
            refused("check", model)
            refused("run", model, "--input", "4")
            refused("infer", model, "-o", folder / "x.onnx")
    for offset, length in ((8, None), (16, None), (1 << 40, None), (0, 12), (0, 20), (1, None)):
        with report.case(f"an offset of {offset} and a length of {length} lie beyond the file"):
            model.write_bytes(model_with("sub/w", offset=offset, length=length))
            refused("check", "--full", model, says="external-file")
            refused("check", model)
    for shift in (1, 2, 3, 5):
        with report.case(f"numbers at odd places, {shift}"):
            (folder / "in/odd").write_bytes(b"x" * shift + struct.pack("4f", 1, 2, 3, 4))
            model.write_bytes(model_with("odd", offset=shift))
            ok("check", "--full", model)
            shown = ok("run", model, "--input", "float32[4]=zeros").decode()
            assert "[1, 2, 3, 4]" in shown, shown


def check_folders(report, folder):
    source, case, secret = folder / "f.py", folder / "case", folder / "secret.pb"
    source.write_text(RELU)
    ok("testcase", source, case, "--input", "200", "--strip-large-tensor-data")
    secret.write_bytes((case / "test_data_set_0/input_0.pb").read_bytes())
    before = secret.read_bytes()
    damages = {
        "a file that is a link": lambda: (case / "test_data_set_0/input_1.pb").symlink_to(secret),
        "a folder that is a link": lambda: (case / "test_data_set_7").symlink_to(folder),
        "a FIFO": lambda: os.mkfifo(case / "meta2.json"),
    }
    for name, damage in damages.items():
        with report.case(f"unstrip of a folder with {name}"):
            damage()
            for more in ([], ["-o", folder / "copy"]):
                refused("unstrip", case, *more)
            assert secret.read_bytes() == before and not (folder / "copy").exists()
            [p.unlink() for p in (case / "test_data_set_0/input_1.pb", case / "test_data_set_7", case / "meta2.json")
             if p.is_symlink() or p.exists()]


def check_shrinking(report, folder):
    n = 1 << 22
    data = folder / "w"
    (folder / "m.onnx").write_bytes(model_with("w", n))
    with report.case("a file that shrinks while it is mapped is an error"):
        for seconds in (0.5, 1.5, 3):
            with open(data, "wb") as file:
                file.truncate(4 * n)
            process = subprocess.Popen([CALQUE, "bench", "--repeat", "10000", "--threads", "1", folder / "m.onnx"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            wait_for_cpu(process, seconds)
            os.truncate(data, 4096)
            try:
                said = process.communicate(timeout=60)[1].decode()
                assert process.returncode == 1 and "shorter" in said, f"{process.returncode}: {said}"
                return
            except subprocess.TimeoutExpired:  # it has a copy of them
                process.kill()
                process.communicate()
        raise Skip("nothing reads the map any more")


CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|(?<![\xc0-\xff])(?<![\x80-\xbf])[\x80-\x9f]")


def check_controls(report, folder):
    evil = "y\x1b[2J\r\n/etc/x: OK\x07\x9b31m"
    (folder / "w").write_bytes(struct.pack("4f", 1, 2, 3, 4))
    (folder / "m.onnx").write_bytes(model_with("w", y=evil))
    (folder / "op.onnx").write_bytes(model_with("w", op="Re\x1b]0;pwn\x07lu"))
    (folder / "where.onnx").write_bytes(model_with("w\x1b[2J"))
    (folder / "print.py").write_text("def forward(x: Tensor) -> Tensor:\n  print('\x1b[2J')\n  return x\n")
    (folder / "bad.py").write_text("def forward(x: Tensor) -> Tensor:\n  return torch.\x1b[2J(x)\n")
    for words in (["print", "m.onnx"], ["print", "--text", "m.onnx"], ["check", "m.onnx"], ["check", "--full", "m.onnx"],
                  ["check", "--json", "m.onnx"], ["run", "m.onnx"], ["print", "op.onnx"], ["print", "--text", "op.onnx"],
                  ["check", "op.onnx"], ["run", "op.onnx"], ["infer", "--strict", "op.onnx", "-o", "x.onnx"],
                  ["bench", "op.onnx"], ["bench", "m.onnx", "--repeat", "1"], ["diff", "m.onnx", "op.onnx"],
                  ["check", "where.onnx"], ["run", "where.onnx"], ["run", "print.py", "--input", "2"],
                  ["run", "bad.py", "--input", "2"], ["export", "bad.py", "--input", "2"],
                  ["run", "m.onnx", "--dump", evil], ["print", "gone\x1b[2J.onnx"], ["\x1b[2J"],
                  ["print", "--\x1b[2J", "m.onnx"], ["run", "m.onnx", "--input", "\x1b[2J"]):
        with report.case("no control characters from " + " ".join(words).encode("unicode_escape").decode()):
            done = calque(*words, cwd=folder)
            found = CONTROL.search(done.stdout + done.stderr)
            assert not found, (found, done.stdout + done.stderr)
    with report.case("a line break in a name is escaped"):
        assert not any(line.startswith(b"/etc/x") for line in ok("print", folder / "m.onnx").splitlines())
    with report.case("a file has every byte"):
        ok("print", "--text", folder / "m.onnx", "-o", folder / "m.txt")
        ok("print", "--parse", folder / "m.txt", "-o", folder / "back.onnx")
        assert (folder / "back.onnx").read_bytes() == (folder / "m.onnx").read_bytes()


def seccomp_of(folder, *more):
    (folder / "m.onnx").write_bytes(model_with("w", 1 << 20))
    (folder / "w").write_bytes(bytes(4 << 20))
    process = subprocess.Popen([CALQUE, "bench", "--repeat", "10000", folder / "m.onnx", *more],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for_cpu(process, 0.3)
    text = pathlib.Path(f"/proc/{process.pid}/status").read_text()
    process.kill()
    process.wait()
    return re.search(r"Seccomp:\s*(\d)", text)[1]


def check_sandbox(report, folder):
    if SANITIZED:
        report.skipped("the sandbox", "sanitizers trace their own process, so a sanitized calque has none")
        return
    with report.case("calls are filtered, but not with --no-sandbox"):
        if "Seccomp" not in pathlib.Path("/proc/self/status").read_text():
            raise Skip("the kernel has no seccomp")
        outer = re.search(r"Seccomp:\s*(\d)", pathlib.Path("/proc/self/status").read_text())[1]
        assert seccomp_of(folder) == "2" and seccomp_of(folder, "--no-sandbox") == outer
    with report.case("only the folder of the output can be written to"):
        source, other, case = folder / "f.py", folder / "other", folder / "in/case"
        source.write_text(RELU)
        other.mkdir()
        ok("testcase", source, case, "--input", "2")
        shutil.rmtree(case / "test_data_set_0")
        (case / "test_data_set_0").symlink_to(other)
        locked = calque("testcase", source, case, "--input", "2")
        if locked.returncode == 0 and not has_landlock():
            raise Skip("the kernel has no Landlock")
        assert locked.returncode == 1 and not list(other.iterdir()), locked.stderr
        ok("testcase", source, case, "--input", "2", "--no-sandbox")
        assert list(other.iterdir())


def has_landlock():
    import ctypes
    return ctypes.CDLL(None).syscall(444, None, 0, 1) > 0  # landlock_create_ruleset, its version


def main():
    report = Report(__file__)
    for check in (check_targets, check_sources, check_signals, check_pairs, check_in_place, check_size, check_testcases,
                  check_whole_folders, check_odd_folders, check_external,
                  check_folders, check_shrinking, check_controls, check_sandbox):
        with tempfile.TemporaryDirectory() as folder:
            check(report, pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
