"""Methods of str that are Python, each as a function whose first parameter is the text."""


def rsplit(self, sep=None, maxsplit=-1):
    parts = self.split() if sep is None else self.split(sep)
    if maxsplit < 0 or len(parts) <= maxsplit + 1:
        return parts
    n = len(parts) - maxsplit
    glue = " " if sep is None else sep
    return [glue.join(parts[:n])] + parts[n:]


def splitlines(self, keepends=False):
    if self == "":
        return []
    lines = self.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines[-1] == "":
        lines = lines[:-1]
    return [line + "\n" for line in lines] if keepends else lines


def partition(self, sep):
    i = self.find(sep)
    return (self, "", "") if i < 0 else (self[:i], sep, self[i + len(sep):])


def rpartition(self, sep):
    i = self.rfind(sep)
    return ("", "", self) if i < 0 else (self[:i], sep, self[i + len(sep):])


def removeprefix(self, prefix):
    return self[len(prefix):] if self.startswith(prefix) else self


def removesuffix(self, suffix):
    return self[:len(self) - len(suffix)] if suffix and self.endswith(suffix) else self


def ljust(self, width, fillchar=" "):
    return self + fillchar * max(0, width - len(self))


def rjust(self, width, fillchar=" "):
    return fillchar * max(0, width - len(self)) + self


def center(self, width, fillchar=" "):
    n = max(0, width - len(self))
    left = n // 2 + (n % 2) * (width % 2)
    return fillchar * left + self + fillchar * (n - left)


def zfill(self, width):
    sign = self[:1] if self[:1] in ("-", "+") and self != "" else ""
    return sign + rjust(self[len(sign):], width - len(sign), "0")


def swapcase(self):
    return "".join([c.lower() if c.isupper() else c.upper() for c in self])


def casefold(self):
    return self.lower()


def isidentifier(self):
    return (self != "" and not self[0].isdigit()
            and all([c.isalnum() or c == "_" for c in self]))


def expandtabs(self, tabsize=8):
    out, column = "", 0
    for c in self:
        if c == "\t":
            n = tabsize - column % tabsize
            out += " " * n
            column += n
        else:
            out += c
            column = 0 if c in "\r\n" else column + 1
    return out


def translate(self, table):
    out = []
    for c in self:
        other = table.get(ord(c), c)
        if other is not None:
            out.append(chr(other) if isinstance(other, int) else other)
    return "".join(out)


def encode(self, encoding="utf-8", errors="strict"):
    return self


def decode(self, encoding="utf-8", errors="strict"):
    return self
