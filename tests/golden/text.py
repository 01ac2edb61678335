#!/usr/bin/python3
"""Every byte string survives `print --text | print --parse`: names, operators, documentation, attributes and
tensors of strings, drawn at random from bytes that terminals obey, from what is not UTF-8, and from
marks that change the direction of text or show nothing. What is printed has no such byte in it.

    text.py [SEED …]
"""
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "peer"))
from peers import CALQUE, Report  # noqa: E402

N_MODELS = 40
PIECES = [b"\\", b'"', b"\\x", b"\\x41", b"\\\\x41", b"x41", b"\n", b"\t", b"\r", b"\0", b"\x1b[31m", b"\x7f", b"\xc2\x81",
          b"\xc2\xa0", "\u202e".encode(), "\u2066".encode(), "\u061c".encode(), "\u00e9".encode(), "\u65e5".encode(),
          b"\xff", b"\xe2\x80", b"\xed\xa0\x80", b"\xf5", b"#@ node", b"}", b">", b"a"]
HIDDEN = [b"\xc2\x81"] + [c.encode() for c in "\u202e\u2066\u061c\u200b\u200d\u2060\ufeff\u00ad\u034f\u3164\u2800\ufe0f\U000e0041"]
PIECES += HIDDEN


def message(*fields):
    """The bytes of a protobuf message: numbers are varints, bytes and messages have a length."""
    out = b""
    for number, value in fields:
        if isinstance(value, int):
            out += varint(number << 3) + varint(value)
        else:
            out += varint(number << 3 | 2) + varint(len(value)) + value
    return out


def varint(n):
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + bytes([n]))


def model(draw):
    """An ONNX model; draw() gives any bytes, draw(True) what may be a name: it has no zero."""
    x, y = draw(True), draw(True) + b"_"
    value = message((1, x), (2, message((1, message((1, 8), (2, message((1, message((2, draw(True)))))))))))
    result = message((1, y), (2, message((1, message((1, 8), (2, message()))))))
    strings = message((1, b"strings"), *[(9, draw()) for _ in range(3)], (20, 8))
    text = message((1, b"text"), (4, draw()), (20, 3))
    tensor = message((1, 2), (2, 8), (6, draw()), (6, draw()), (8, draw(True)))
    node = message((1, x), (2, y), (3, draw(True)), (4, draw(True)), (5, strings), (5, text),
                   (5, message((1, b"tensor"), (5, tensor), (20, 4))), (6, draw(True)), (7, draw(True)))
    graph = message((1, node), (2, draw(True)), (5, tensor), (10, draw(True)), (11, value), (12, result))
    return message((1, 8), (2, draw(True)), (6, draw(True)), (7, graph), (8, message((1, b""), (2, 17))),
                   (14, message((1, draw(True)), (2, draw(True)))))


def pipe(*args, given):
    done = subprocess.run([CALQUE, *args], input=given, capture_output=True, timeout=600)
    assert done.returncode == 0, f"{args} ends with {done.returncode}: {done.stderr.decode(errors='replace')[-500:]}"
    return done.stdout


def check(seed, folder):
    rng = random.Random(seed)

    def draw(is_name=False):
        text = b"".join(rng.choice(PIECES) for _ in range(rng.randrange(1, 6)))
        if rng.random() < 0.3:
            text += bytes(rng.randrange(256) for _ in range(8))
        return text.replace(b"\0", b"0") if is_name else text

    given = model(draw)
    text = pipe("print", "--text", "-", given=given)
    assert not any(c < 32 and c not in b"\n\t" or c == 127 for c in text), "a control character is printed"
    assert not any(bad in text for bad in HIDDEN), "a mark of direction is printed"
    text.decode()
    path = pathlib.Path(folder, "again.onnx")
    pipe("print", "--parse", "-", "-o", str(path), given=text)
    again = path.read_bytes()
    assert again == given, f"seed {seed}: the model has changed"


def main():
    report = Report(__file__)
    seeds = [int(a) for a in sys.argv[1:]] or range(N_MODELS)
    with tempfile.TemporaryDirectory() as folder:
        for seed in seeds:
            with report.case(f"seed {seed}"):
                check(seed, folder)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
