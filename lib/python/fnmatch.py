"""fnmatch."""
import re


def translate(pat):
    out, i = "", 0
    while i < len(pat):
        c = pat[i]
        i += 1
        if c == "*":
            out += ".*"
        elif c == "?":
            out += "."
        elif c == "[" and "]" in pat[i + 1:]:
            end = pat.index("]", i + 1)
            inner = pat[i:end]
            out += "[" + ("^" + inner[1:] if inner.startswith("!") else inner) + "]"
            i = end + 1
        else:
            out += re.escape(c)
    return out


def fnmatchcase(name, pat):
    return re.fullmatch(translate(pat), name, re.S) is not None


fnmatch = fnmatchcase


def filter(names, pat):
    return [name for name in names if fnmatchcase(name, pat)]
