"""json: text from values and values from text."""


class JSONDecodeError(ValueError):
    pass


_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


class _Reader:
    def __init__(self, text):
        self.text = text
        self.at = 0

    def fail(self, what):
        raise JSONDecodeError(f"{what}: char {self.at}")

    def skip(self):
        while self.at < len(self.text) and self.text[self.at] in " \t\r\n":
            self.at += 1

    def accept(self, c):
        self.skip()
        if self.text[self.at:self.at + 1] != c:
            return False
        self.at += 1
        return True

    def value(self, depth):
        if depth > 100:
            self.fail("too many levels")
        self.skip()
        c = self.text[self.at:self.at + 1]
        if c == "{":
            return self.object(depth)
        if c == "[":
            return self.array(depth)
        if c == '"':
            return self.string()
        for word, value in (("true", True), ("false", False), ("null", None)):
            if self.text[self.at:self.at + len(word)] == word:
                self.at += len(word)
                return value
        return self.number()

    def object(self, depth):
        self.at += 1
        result = {}
        while not self.accept("}"):
            if len(result) > 0 and not self.accept(","):
                self.fail("Expecting ',' delimiter")
            self.skip()
            if self.text[self.at:self.at + 1] != '"':
                self.fail("Expecting property name enclosed in double quotes")
            key = self.string()
            if not self.accept(":"):
                self.fail("Expecting ':' delimiter")
            result[key] = self.value(depth + 1)
        return result

    def array(self, depth):
        self.at += 1
        result = []
        while not self.accept("]"):
            if len(result) > 0 and not self.accept(","):
                self.fail("Expecting ',' delimiter")
            result.append(self.value(depth + 1))
        return result

    def string(self):
        self.at += 1
        out = []
        while True:
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c == "":
                self.fail("Unterminated string")
            if c == '"':
                return "".join(out)
            if c != "\\":
                out.append(c)
                continue
            c = self.text[self.at:self.at + 1]
            self.at += 1
            if c == "u":
                out.append(chr(int(self.text[self.at:self.at + 4], 16)))
                self.at += 4
            elif c in _ESCAPES:
                out.append(_ESCAPES[c])
            else:
                self.fail("Invalid \\escape")

    def number(self):
        start = self.at
        while self.at < len(self.text) and self.text[self.at] in "+-.0123456789eE":
            self.at += 1
        word = self.text[start:self.at]
        if word == "":
            self.fail("Expecting value")
        return float(word) if "." in word or "e" in word or "E" in word else int(word)


def loads(s, **kwargs):
    reader = _Reader(s)
    value = reader.value(0)
    reader.skip()
    if reader.at != len(s):
        reader.fail("Extra data")
    return value


def load(fp, **kwargs):
    return loads(fp.read())


def _quote(text):
    out = ['"']
    for c in text:
        if c == '"' or c == "\\":
            out.append("\\" + c)
        elif c == "\n":
            out.append("\\n")
        elif c == "\t":
            out.append("\\t")
        elif c == "\r":
            out.append("\\r")
        elif ord(c) < 32 or ord(c) > 126:
            out.append("\\u" + f"{ord(c):04x}")
        else:
            out.append(c)
    return "".join(out) + '"'


def _key(key):
    if isinstance(key, str):
        return key
    if key is None or isinstance(key, (bool, int, float)):
        return _dump(key, None, 0, False)
    raise TypeError(f"keys must be str, int, float, bool or None, not {type(key).__name__}")


def _dump(obj, indent, level, sort_keys):
    if obj is None:
        return "null"
    if obj is True:
        return "true"
    if obj is False:
        return "false"
    if isinstance(obj, str):
        return _quote(obj)
    if isinstance(obj, (int, float)):
        return repr(obj)
    if isinstance(obj, dict):
        keys = sorted(obj) if sort_keys else list(obj)
        items = [_quote(_key(k)) + ": " + _dump(obj[k], indent, level + 1, sort_keys) for k in keys]
        return _enclose("{", items, "}", indent, level)
    if isinstance(obj, (list, tuple)):
        items = [_dump(x, indent, level + 1, sort_keys) for x in obj]
        return _enclose("[", items, "]", indent, level)
    raise TypeError(f"Object of type {type(obj).__name__} is not JSON serializable")


def _enclose(left, items, right, indent, level):
    if len(items) == 0:
        return left + right
    if indent is None:
        return left + ", ".join(items) + right
    inner = "\n" + " " * (indent * (level + 1))
    return left + inner + ("," + inner).join(items) + "\n" + " " * (indent * level) + right


def dumps(obj, *, skipkeys=False, ensure_ascii=True, indent=None, sort_keys=False, **kwargs):
    return _dump(obj, indent, 0, sort_keys)


def dump(obj, fp, **kwargs):
    fp.write(dumps(obj, **kwargs))
