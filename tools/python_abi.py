#!/usr/bin/python3
"""Writes python/calque/_abi.py, the declarations of the public headers for ctypes.

    tools/python_abi.py            writes it
    tools/python_abi.py --print    to standard output
    tools/python_abi.py --check    prints a C program that compares the structs with the compiler's

It reads what the preprocessor makes of <calque/calque.h>. Handles become void pointers, texts bytes,
other pointers to structs stay what they are.
"""
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
INCLUDE = ROOT / "include"
OUT = ROOT / "python/calque/_abi.py"

SCALARS = {
    "char": "c_char", "bool": "c_bool", "_Bool": "c_bool", "int": "c_int", "double": "c_double",
    "float": "c_float", "size_t": "c_size_t",
    **{f"{sign}int{bits}_t": f"c_{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
TOKEN = re.compile(r"\w+|\.\.\.|<<|>>|[^\s\w]")
# Numbers that users pass; macros with arguments and include guards are not.
CONSTANT = re.compile(r"^#define\s+(CQ_[A-Z0-9_]+)[ \t]+([^\n]+)$", re.M)
MARKER = re.compile(r'^# \d+ "([^"]*)"')


def preprocessed():
    """The declarations of the public headers, without what they include of the system."""
    done = subprocess.run(["cc", "-E", "-I", INCLUDE, "-x", "c", "-"], check=True, text=True,
                          input="#include <calque/calque.h>\n", stdout=subprocess.PIPE)
    lines, ours = [], False
    for line in done.stdout.splitlines():
        if match := MARKER.match(line):
            ours = "/calque/" in match[1] and str(INCLUDE) in match[1]
        elif ours:
            lines.append(line)
    return "\n".join(lines)


def value_of(text, names):
    """The value of a constant expression of numbers and constants that came before."""
    text = re.sub(r"UINT64_C\((\w+)\)|\b(\d+)[uUlL]+\b", r"\1\2", text)
    text = re.sub(r"/\*.*", "", text)
    if not re.fullmatch(r"[\w\s+*()<>-]+", text):
        return None
    try:
        return eval(text, {"__builtins__": {}}, names)  # checked above: names and arithmetic
    except (NameError, SyntaxError, TypeError):
        return None


class Parser:
    """The few forms of declarations that the headers have; anything else is an error."""

    def __init__(self, text):
        text = re.sub(r"__attribute__\s*\(\(visibility\(\"default\"\)\)\)", "", text)
        text = re.sub(r"__attribute__\s*\(\(format\([^)]*\)\)\)", "", text)
        text = re.sub(r'extern "C" \{', "", text)
        self.tokens, self.at = TOKEN.findall(text), 0
        self.constants, self.enums, self.structs = {}, set(), {}
        self.callbacks, self.functions, self.opaque = {}, {}, set()

    # ---- tokens ----

    def peek(self, offset=0):
        return self.tokens[self.at + offset] if self.at + offset < len(self.tokens) else ""

    def take(self, wanted=None):
        token = self.peek()
        if wanted is not None and token != wanted:
            near = " ".join(self.tokens[max(self.at - 12, 0):self.at + 4])
            raise SystemExit(f"python_abi: expected '{wanted}', got '{token}' near: {near}")
        self.at += 1
        return token

    def accept(self, token):
        if self.peek() == token:
            self.at += 1
            return True
        return False

    # ---- declarations ----

    def parse(self):
        while self.peek():
            if self.accept("typedef"):
                self.typedef()
            elif self.peek() == "enum" and self.peek(1) == "{":
                self.take()
                self.enumerators()
                self.take(";")
            elif self.peek() == "struct" and self.peek(2) == "{":
                self.struct()
                self.take(";")
            elif not self.accept(";"):
                name, kind = self.declaration()
                self.functions[name] = kind
                self.take(";")

    def typedef(self):
        if self.peek() == "enum" and self.peek(2) == "{":
            self.take()
            self.enums.add(self.take())
            self.enumerators()
            self.take()
        elif self.peek() == "struct" and self.peek(2) == "{":
            self.struct()
            self.take()
        elif self.peek() == "struct":
            self.take()
            self.opaque.add(self.take())
            self.take()
        else:
            name, kind = self.declaration()
            self.callbacks[name] = kind
        self.take(";")

    def enumerators(self):
        self.take("{")
        following = 0
        while not self.accept("}"):
            name = self.take()
            if self.accept("="):
                words = []
                while self.peek() not in (",", "}"):
                    words.append(self.take())
                following = value_of(" ".join(words), self.constants)
            self.constants[name] = following
            following += 1
            self.accept(",")

    def struct(self):
        self.take("struct")
        name = self.take()
        self.structs[name] = found = []
        self.take("{")
        while not self.accept("}"):
            base = self.base()
            while True:
                found.append(self.declarator(base))
                if not self.accept(","):
                    break
            self.take(";")

    def base(self):
        """A type without its stars: (name, is const)."""
        const = self.accept("const")
        self.accept("struct")
        name = self.take()
        return name, const | self.accept("const")

    def declaration(self):
        return self.declarator(self.base())

    def declarator(self, base):
        """(name, type); a type is ('scalar', name), ('pointer', type, is const), ('array', type, n)
        or ('function', result, parameters)."""
        name, const = base
        kind = ("scalar", name)
        while self.accept("*"):
            kind = ("pointer", kind, const)
            const = self.accept("const")
        if self.accept("("):
            self.take("*")
            title = self.take()
            self.take(")")
            return title, ("function", kind, self.parameters())
        title = self.take() if re.match(r"\w", self.peek()) else ""
        if self.peek() == "(":
            return title, ("function", kind, self.parameters())
        if self.accept("["):
            size = self.take()
            self.take("]")
            return title, ("array", kind, int(value_of(size, self.constants)))
        return title, kind

    def parameters(self):
        self.take("(")
        found = []
        while not self.accept(")"):
            if self.accept("..."):
                continue
            _, kind = self.declaration()
            if kind[0] == "array":
                kind = ("pointer", kind[1], True)
            if kind != ("scalar", "void"):
                found.append(kind)
            self.accept(",")
        return found


class Writer:
    """The declarations as a Python module."""

    def __init__(self, parser):
        self.parser = parser

    def name(self, kind):
        parser = self.parser
        if kind[0] == "function":
            return f"CFUNCTYPE({', '.join([self.name(kind[1]), *self.received(kind[2])])})"
        if kind[0] == "array":
            return f"{self.name(kind[1])} * {kind[2]}"
        if kind[0] == "pointer":
            target = kind[1]
            if target == ("scalar", "char"):
                return "c_char_p"
            if target[0] == "scalar" and (target[1] in ("void", "FILE") or self.is_opaque(target[1])):
                return "c_void_p"
            if target == ("pointer", ("scalar", "char"), False):
                return "POINTER(c_void_p)"  # text that is handed over, and has to be freed
            return f"POINTER({self.name(target)})"
        name = kind[1]
        if name == "void":
            return "None"
        if name in parser.enums:
            return "c_int"
        if name in parser.structs or name in parser.callbacks:
            return name
        return SCALARS[name]

    def received(self, parameters):
        """Those of a callback. A text that comes with its size has no end of its own: its address
        is what a callback can use."""
        names = list(map(self.name, parameters))
        for i, (name, following) in enumerate(zip(names, names[1:])):
            if name == "c_char_p" and following == "c_size_t":
                names[i] = "c_void_p"
        return names

    def result(self, function):
        """The same for a text that is returned with its length."""
        name, parameters = self.name(function[1]), list(map(self.name, function[2]))
        return "c_void_p" if name == "c_char_p" and "POINTER(c_size_t)" in parameters else name

    def is_opaque(self, name):
        return name in self.parser.opaque and name not in self.parser.structs

    def struct(self, name):
        yield f"{name}._fields_ = ["
        for field, kind in self.parser.structs[name]:
            yield f'    ("{field}", {self.name(kind)}),'
        yield "]"

    def in_order(self):
        """Structs by value come after what they hold."""
        done = []

        def visit(name):
            if name in done:
                return
            for _, kind in self.parser.structs[name]:
                kind = kind[1] if kind[0] == "array" else kind
                if kind[0] == "scalar" and kind[1] in self.parser.structs:
                    visit(kind[1])
            done.append(name)

        for name in self.parser.structs:
            visit(name)
        return done

    def module(self, constants):
        yield '"""Declarations of the public headers, for ctypes. Written by tools/python_abi.py."""'
        yield "from __future__ import annotations"
        yield ""
        used = set(re.findall(r"\b(?:c_\w+|POINTER|CFUNCTYPE)\b",
                              "\n".join(self.body(constants))))
        imports = sorted(used | {"Structure"})
        yield "from ctypes import ("
        yield from (f"    {name}," for name in imports)
        yield ")"
        yield "from typing import Any"
        yield from self.body(constants)

    def body(self, constants):
        yield ""
        for name, value in sorted({**self.parser.constants, **constants}.items()):
            yield f"{name} = {value}"
        structs = self.in_order()
        for name in structs:
            yield ""
            yield ""
            yield f"class {name}(Structure):"
            yield "    pass"
        yield ""
        yield ""
        for name, kind in self.parser.callbacks.items():
            yield f"{name}: Any = {self.name(kind)}"
        for name in structs:
            yield ""
            yield from self.struct(name)
        yield ""
        yield "# name: (result, arguments)"
        yield "FUNCTIONS: dict[str, tuple[Any, list[Any]]] = {"
        for name, kind in sorted(self.parser.functions.items()):
            arguments = ", ".join(map(self.name, kind[2]))
            yield f'    "{name}": ({self.result(kind)}, [{arguments}]),'
        yield "}"

    def check(self):
        """A C program that prints sizes and offsets as `python3 -c` would print those of _abi."""
        yield "#include <calque/calque.h>\n#include <stdio.h>\nint main(void)\n{"
        for name, fields in self.parser.structs.items():
            yield f'    printf("{name} %zu\\n", sizeof({name}));'
            for field, _ in fields:
                yield f'    printf("{name}.{field} %zu %zu\\n", offsetof({name}, {field}),' \
                      f" sizeof((({name} *)0)->{field}));"
        yield "    return 0;\n}"


def defines():
    """The macros that are numbers."""
    found = {}
    for path in sorted(INCLUDE.glob("calque/*.h")):
        for name, text in CONSTANT.findall(path.read_text()):
            value = value_of(text, found)
            if isinstance(value, int):
                found[name] = value
    return found


def main():
    parser = Parser(preprocessed())
    parser.parse()
    writer = Writer(parser)
    if "--check" in sys.argv:
        print("\n".join(writer.check()))
        return
    text = "\n".join(writer.module(defines())) + "\n"
    if "--print" in sys.argv:
        sys.stdout.write(text)
    else:
        OUT.write_text(text)


if __name__ == "__main__":
    main()
