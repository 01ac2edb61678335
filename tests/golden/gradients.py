#!/usr/bin/python3
"""verify holds the gradients of test data against the model: right ones pass, wrong ones do not, and
the parameter is named."""
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import CALQUE, Report  # noqa: E402


def calque(*args):
    return subprocess.run([CALQUE, *map(str, args)], capture_output=True, text=True, timeout=600)


def fields(data):
    """Field numbers of a message, with where their values begin and end."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7f) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            varint()
            continue
        size = varint()
        yield key >> 3, at, at + size
        at += size


def change(path, function):
    """Changes the numbers of a tensor; its name."""
    data = bytearray(path.read_bytes())
    place = {number: (begin, end) for number, begin, end in fields(data)}
    begin, end = place[9]  # raw_data
    numbers = struct.unpack(f"<{(end - begin) // 4}f", data[begin:end])
    data[begin:end] = struct.pack(f"<{len(numbers)}f", *function(numbers))
    path.write_bytes(data)
    return data[slice(*place[8])].decode()


def main():
    report = Report(__file__)
    with tempfile.TemporaryDirectory() as path:
        case = pathlib.Path(path, "case")
        done = calque("testcase", "super_resolution", case, "--grad", "--input", "1x1x6x6")
        report.check("a test-case with gradients", done.returncode == 0, done.stderr)
        with report.case("right gradients pass"):
            done = calque("verify", case)
            assert done.returncode == 0, done.stdout
        files = sorted((case / "test_data_set_0").glob("gradient_[0-9]*.pb"))
        report.check("there are gradients", len(files) == 8)
        changes = [("5 % too large", lambda numbers: [1.05 * x for x in numbers]),
                   ("of the other sign", lambda numbers: [-x for x in numbers]),
                   ("zero", lambda numbers: [0] * len(numbers)),
                   ("wrong in one number",
                    lambda numbers: [numbers[0] + 2 * max(map(abs, numbers)), *numbers[1:]])]
        for i, file in enumerate(files):
            what, function = changes[i % len(changes)]
            with report.case(f"a gradient that is {what} is found"):
                other = pathlib.Path(path, "other")
                shutil.copytree(case, other, dirs_exist_ok=True)
                name = change(other / "test_data_set_0" / file.name, function)
                done = calque("verify", other)
                assert done.returncode == 1, f"{name}: {done.stdout}"
                assert f"({name})" in done.stdout, f"{name}: {done.stdout}"
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
