"""Texts and numbers."""
s = "Hello, World"
print(s.lower(), s.upper(), s.title(), s.split(", "), s.replace("l", "L", 2), s.find("o"), s.rfind("o"), s.index("W"), s.count("l"))
print(s.startswith(("He", "x")), s.endswith("d"), "  a b ".strip(), "xxaxx".lstrip("x"), "a-b-c".rsplit("-", 1), "a,b,,c".split(","), " a  b ".split())
print("-".join(["a", "b"]), "a".ljust(3) + "|", "7".zfill(3), "abc".center(7, "*"), "abc".partition("b"), "aXbX".rpartition("X"), "abc".isalpha(), "12".isdigit(), "a1".isalnum())
print("%d %s %.3f %5d|%-5d|%05d %x %r %%" % (1, "a", 2.5, 3, 4, 5, 255, "q"), "%(a)s %(b)d" % {"a": 1, "b": 2})
print("{} {} {0}".format(1, 2) if False else "{} {}".format(1, 2), "{0} {1} {0}".format(1, 2), "{a:>5}|{b:<5}|{c:^5}".format(a=1, b=2, c=3), "{:.2e} {:,} {:%} {:#x} {:b} {:+d}".format(12345.678, 1234567, 0.25, 255, 5, 3))
x, w = 3.14159, 10
print(f"{x:.2f} {x:{w}.{2}f} {x!r} {'a' + 'b'} {x=} {w:>{w}} {{}} {[1, 2][0]} {'q'!r:>5}")
print("a" * 3, "ab" in "cabd", s[0], s[-1], s[2:5], len(s), ord("a"), chr(98), "a" "b", r"\n", 'it\'s', "tab\tend", """multi
line""")
print(int("12"), int("ff", 16), float("1e-3"), int(3.9), int(-3.9), float("inf"), str(1.0), str(1e20), str(1e-7), 0.1 + 0.2, 1e16, 123456789.123)
print(7 // 2, -7 // 2, 7 % 3, -7 % 3, 2 ** 10, 2 ** -1, 7 / 2, 1_000_000, 0xff, 0b101, 0o17, 5 & 3, 5 | 3, 5 ^ 3, ~5, 1 << 4, 256 >> 2)
print(3.0 // 2, -3.5 % 2, 10 % 3.5, 1e308 * 10, abs(-2.5), round(3.14159, 3), 3 == 3.0, True + 1, bool(0.0))
print("abc".encode().decode() if False else "", "a\nb\n".splitlines(), "A".swapcase(), "x".join("abc"), "abc".find("z"), "é".upper() if False else "", "a_b".isidentifier())
print(max("hello"), sorted("bca"), list("abc"), "b" > "a", "abc"[::-1], str(None), str([1, "a"]), ascii("a") if False else "")
print("key={!r}".format("v"), "{:>10}".format("r"), "{!s:*^9}".format("mid"), format(3.14159, ".3f"), format("a", ">4"), "{0[1]} {1[k]}".format([1, 2], {"k": 3}))
import math
print(math.sqrt(16), math.floor(-1.5), math.ceil(1.2), math.pi, math.log2(8), math.exp(0), math.inf > 1, math.isnan(math.nan), math.gcd(4, 6), math.prod([1, 2, 3]), math.log(100, 10))
import re
print(re.sub(r"(\d+)", r"<\1>", "a1b22"), re.match(r"(\w)(\d)", "a1").groups(), re.findall(r"\d", "a1b2"), re.split(r"[,;]", "a,b;c"), bool(re.fullmatch("a+", "aaa")), re.search(r"(?P<n>\d+)", "x42").group("n"))
import json
print(json.dumps({"a": [1, 2.5, None, True, "x"]}), json.loads('{"a": [1, 2]}'), json.dumps([1], indent=2))
import string, os.path
print(string.ascii_lowercase[:3], os.path.join("a", "b"), os.path.basename("/x/y.py"), os.path.splitext("a.tar.gz"), os.path.dirname("/x/y"))
