"""re: a pattern becomes instructions, which a loop with a stack of alternatives runs."""

IGNORECASE = I = 2
MULTILINE = M = 8
DOTALL = S = 16
VERBOSE = X = 64
ASCII = A = 256
UNICODE = U = 32

_CLASSES = {
    "d": [("0", "9")],
    "w": [("a", "z"), ("A", "Z"), ("0", "9"), ("_", "_")],
    "s": [(" ", " "), ("\t", "\t"), ("\n", "\n"), ("\r", "\r"), ("\f", "\f"), ("\v", "\v")],
}
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "f": "\f", "v": "\v", "0": "\0"}
_MANY = -1


class error(Exception):
    pass


class _Parser:
    """A pattern as a list of instructions; jumps are relative to the instruction."""

    def __init__(self, text, flags):
        self.text = text
        self.flags = flags
        self.at = 0
        self.n_groups = 0
        self.names = {}

    def peek(self):
        return self.text[self.at] if self.at < len(self.text) else ""

    def take(self):
        letter = self.peek()
        if letter == "":
            raise error(f"unexpected end of the pattern '{self.text}'")
        self.at += 1
        return letter

    def alternatives(self):
        branches = [self.sequence()]
        while self.peek() == "|":
            self.at += 1
            branches.append(self.sequence())
        code = branches[-1]
        for branch in reversed(branches[:-1]):
            code = [("split", 1, len(branch) + 2)] + branch + [("jump", len(code) + 1)] + code
        return code

    def sequence(self):
        code = []
        while self.peek() not in ("", "|", ")"):
            code = code + self.repeated(self.atom())
        return code

    def repeated(self, atom):
        while self.peek() in ("*", "+", "?", "{") and self.peek() != "":
            low, high = self.counts()
            if low is None:
                return atom
            lazy = self.peek() == "?"
            if lazy or self.peek() == "+":
                self.at += 1
            atom = self.repeat(atom, low, high, lazy)
        return atom

    def counts(self):
        sign = self.take()
        if sign == "*":
            return 0, _MANY
        if sign == "+":
            return 1, _MANY
        if sign == "?":
            return 0, 1
        end = self.text.find("}", self.at)
        parts = self.text[self.at:end].split(",")
        if end < 0 or not all([part == "" or part.isdigit() for part in parts]) or len(parts) > 2:
            raise error(f"'{{' is not a count of repetitions in the pattern '{self.text}'")
        self.at = end + 1
        low = int(parts[0]) if parts[0] else 0
        if len(parts) == 1:
            return low, low
        return low, int(parts[1]) if parts[1] else _MANY

    def repeat(self, atom, low, high, lazy):
        code = []
        for _ in range(low):
            code = code + atom
        n = len(atom)
        if high == _MANY:
            stay, leave = ("split", 1, n + 2), ("split", n + 2, 1)
            return code + [leave if lazy else stay] + atom + [("jump", -n - 1)]
        for _ in range(high - low):
            code = code + [("split", n + 1, 1) if lazy else ("split", 1, n + 1)] + atom
        return code

    def atom(self):
        letter = self.take()
        if letter == "(":
            return self.group()
        if letter == "[":
            return [self.letters()]
        if letter == ".":
            return [("any",)]
        if letter == "^":
            return [("begin",)]
        if letter == "$":
            return [("end",)]
        if letter == "\\":
            return [self.escape()]
        return [("set", False, [(letter, letter)])]

    def escape(self):
        letter = self.take()
        if letter == "b" or letter == "B":
            return ("border", letter == "b")
        if letter == "A":
            return ("start",)
        if letter == "Z":
            return ("stop",)
        if letter.isdigit() and letter != "0":
            return ("back", int(letter))
        if letter.lower() in _CLASSES:
            return ("set", letter.isupper(), _CLASSES[letter.lower()])
        letter = _ESCAPES.get(letter, letter)
        return ("set", False, [(letter, letter)])

    def letters(self):
        negated = self.peek() == "^"
        if negated:
            self.at += 1
        ranges = []
        first = True
        while first or self.peek() != "]":
            first = False
            letter = self.take()
            if letter == "\\":
                letter = self.take()
                if letter.lower() in _CLASSES:
                    if letter.isupper():
                        raise error(f"\\{letter} is not supported inside of []")
                    ranges = ranges + _CLASSES[letter]
                    continue
                letter = _ESCAPES.get(letter, letter)
            last = letter
            if self.peek() == "-" and self.text[self.at + 1:self.at + 2] != "]":
                self.at += 1
                last = self.take()
                if last == "\\":
                    last = self.take()
            ranges.append((letter, last))
        self.at += 1
        return ("set", negated, ranges)

    def group(self):
        index = None
        ahead = ""
        if self.peek() == "?":
            self.at += 1
            kind = self.take()
            if kind == "P" and self.peek() == "<":
                end = self.text.index(">", self.at)
                self.n_groups += 1
                index = self.n_groups
                self.names[self.text[self.at + 1:end]] = index
                self.at = end + 1
            elif kind == "=" or kind == "!":
                ahead = kind
            elif kind != ":":
                raise error(f"(?{kind} is not supported in the pattern '{self.text}'")
        else:
            self.n_groups += 1
            index = self.n_groups
        code = self.alternatives()
        if self.take() != ")":
            raise error(f"a bracket is not closed in the pattern '{self.text}'")
        if ahead:
            return [("ahead", ahead == "=", code + [("match",)])]
        if index is None:
            return code
        return [("save", 2 * index)] + code + [("save", 2 * index + 1)]


def _is_word(text, i):
    return 0 <= i and i < len(text) and (text[i].isalnum() or text[i] == "_")


def _in_set(letter, ranges, flags):
    for low, high in ranges:
        if low <= letter and letter <= high:
            return True
        if flags & IGNORECASE and (low <= letter.lower() and letter.lower() <= high
                                   or low <= letter.upper() and letter.upper() <= high):
            return True
    return False


def _holds(code, text, at, flags):
    """Whether an instruction that reads no letter holds."""
    kind = code[0]
    if kind == "begin":
        return at == 0 or flags & MULTILINE and text[at - 1] == "\n"
    if kind == "end":
        return (at == len(text) or at == len(text) - 1 and text[at] == "\n"
                or flags & MULTILINE and text[at] == "\n")
    if kind == "start":
        return at == 0
    if kind == "stop":
        return at == len(text)
    return (_is_word(text, at - 1) != _is_word(text, at)) == code[1]


def _run(program, text, at, flags, saved, full):
    """The positions of the groups of a match that begins at `at`, or None."""
    stack = [(0, at, saved)]
    while stack:
        pc, at, saved = stack.pop()
        while True:
            code = program[pc]
            kind = code[0]
            if kind == "match":
                if full and at != len(text):
                    break
                return [saved[0], at] + saved[2:]
            if kind == "set" or kind == "any":
                if at == len(text):
                    break
                letter = text[at]
                if kind == "any":
                    if letter == "\n" and not flags & DOTALL:
                        break
                elif _in_set(letter, code[2], flags) == code[1]:
                    break
                at += 1
                pc += 1
            elif kind == "split":
                stack.append((pc + code[2], at, saved))
                pc += code[1]
            elif kind == "jump":
                pc += code[1]
            elif kind == "save":
                saved = saved[:code[1]] + [at] + saved[code[1] + 1:]
                pc += 1
            elif kind == "ahead":
                found = _run(code[2], text, at, flags, saved, False)
                if (found is not None) != code[1]:
                    break
                if found is not None:
                    saved = saved[:2] + found[2:]
                pc += 1
            elif kind == "back":
                group = text[saved[2 * code[1]]:saved[2 * code[1] + 1]]
                if text[at:at + len(group)] != group:
                    break
                at += len(group)
                pc += 1
            elif _holds(code, text, at, flags):
                pc += 1
            else:
                break
    return None


class Match:
    def __init__(self, pattern, text, positions):
        self.re = pattern
        self.string = text
        self.positions = positions
        self.pos = 0
        self.lastindex = None
        for i in range(1, pattern.groups + 1):
            if positions[2 * i + 1] >= 0:
                self.lastindex = i

    def _index(self, group):
        if isinstance(group, str):
            if group not in self.re.groupindex:
                raise IndexError("no such group")
            return self.re.groupindex[group]
        if group < 0 or group > self.re.groups:
            raise IndexError("no such group")
        return group

    def _text(self, group, default=None):
        i = self._index(group)
        start, end = self.positions[2 * i], self.positions[2 * i + 1]
        return default if start < 0 or end < 0 else self.string[start:end]

    def group(self, *groups):
        if len(groups) == 0:
            return self._text(0)
        if len(groups) == 1:
            return self._text(groups[0])
        return tuple([self._text(group) for group in groups])

    def __getitem__(self, group):
        return self._text(group)

    def groups(self, default=None):
        return tuple([self._text(i, default) for i in range(1, self.re.groups + 1)])

    def groupdict(self, default=None):
        return {name: self._text(i, default) for name, i in self.re.groupindex.items()}

    def start(self, group=0):
        return self.positions[2 * self._index(group)]

    def end(self, group=0):
        return self.positions[2 * self._index(group) + 1]

    def span(self, group=0):
        return (self.start(group), self.end(group))

    def __bool__(self):
        return True


def _without_blanks(pattern):
    """VERBOSE: blanks and comments, except in brackets and behind a backslash."""
    out, i, in_brackets = "", 0, False
    while i < len(pattern):
        c = pattern[i]
        if c == "\\":
            out += pattern[i:i + 2]
            i += 2
            continue
        if in_brackets:
            in_brackets = c != "]"
            out += c
        elif c == "[":
            in_brackets = True
            out += c
            if pattern[i + 1:i + 2] == "]":
                out += "]"
                i += 1
        elif c == "#":
            while i < len(pattern) and pattern[i] != "\n":
                i += 1
        elif not c.isspace():
            out += c
        i += 1
    return out


class Pattern:
    def __init__(self, pattern, flags):
        given = pattern
        if flags & VERBOSE:
            pattern = _without_blanks(pattern)
        parser = _Parser(pattern, flags)
        self.program = parser.alternatives() + [("match",)]
        if parser.at != len(pattern):
            raise error(f"unbalanced bracket in the pattern '{pattern}'")
        self.pattern = given
        self.flags = flags
        self.groups = parser.n_groups
        self.groupindex = parser.names

    def _match_at(self, text, at, full=False):
        saved = [at] + [-1] * (2 * self.groups + 1)
        found = _run(self.program, text, at, self.flags, saved, full)
        return None if found is None else Match(self, text, found)

    def match(self, string, pos=0):
        return self._match_at(string, pos)

    def fullmatch(self, string, pos=0):
        return self._match_at(string, pos, True)

    def search(self, string, pos=0):
        for at in range(pos, len(string) + 1):
            found = self._match_at(string, at)
            if found is not None:
                return found
        return None

    def finditer(self, string, pos=0):
        found = []
        while pos <= len(string):
            match = self.search(string, pos)
            if match is None:
                break
            found.append(match)
            pos = match.end() + (match.end() == match.start())
        return found

    def findall(self, string, pos=0):
        matches = self.finditer(string, pos)
        if self.groups == 0:
            return [match.group() for match in matches]
        if self.groups == 1:
            return [match._text(1, "") for match in matches]
        return [match.groups("") for match in matches]

    def split(self, string, maxsplit=0):
        parts, at = [], 0
        for match in self.finditer(string):
            if maxsplit and len(parts) >= maxsplit * (self.groups + 1):
                break
            parts.append(string[at:match.start()])
            parts += list(match.groups())
            at = match.end()
        return parts + [string[at:]]

    def subn(self, repl, string, count=0):
        out, at, n = "", 0, 0
        for match in self.finditer(string):
            if count and n == count:
                break
            text = repl(match) if callable(repl) else _expand(repl, match)
            out += string[at:match.start()] + text
            at = match.end()
            n += 1
        return out + string[at:], n

    def sub(self, repl, string, count=0):
        return self.subn(repl, string, count)[0]


def _expand(template, match):
    out, i = "", 0
    while i < len(template):
        letter = template[i]
        i += 1
        if letter != "\\" or i == len(template):
            out += letter
            continue
        letter = template[i]
        i += 1
        if letter == "g" and template[i:i + 1] == "<":
            end = template.index(">", i)
            name = template[i + 1:end]
            out += match._text(int(name) if name.isdigit() else name, "")
            i = end + 1
        elif letter.isdigit():
            out += match._text(int(letter), "")
        else:
            out += _ESCAPES.get(letter, letter)
    return out


_compiled = {}


def compile(pattern, flags=0):
    if isinstance(pattern, Pattern):
        return pattern
    key = (pattern, flags)
    if key not in _compiled:
        _compiled[key] = Pattern(pattern, flags)
    return _compiled[key]


def match(pattern, string, flags=0):
    return compile(pattern, flags).match(string)


def fullmatch(pattern, string, flags=0):
    return compile(pattern, flags).fullmatch(string)


def search(pattern, string, flags=0):
    return compile(pattern, flags).search(string)


def findall(pattern, string, flags=0):
    return compile(pattern, flags).findall(string)


def finditer(pattern, string, flags=0):
    return compile(pattern, flags).finditer(string)


def split(pattern, string, maxsplit=0, flags=0):
    return compile(pattern, flags).split(string, maxsplit)


def sub(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).sub(repl, string, count)


def subn(pattern, repl, string, count=0, flags=0):
    return compile(pattern, flags).subn(repl, string, count)


def escape(pattern):
    out = ""
    for letter in pattern:
        out += letter if letter.isalnum() or letter == "_" else "\\" + letter
    return out
