"""os.path: functions of names. Files do not exist for model code."""

sep = "/"


def join(path, *paths):
    for p in paths:
        if p.startswith("/"):
            path = p
        elif path == "" or path.endswith("/"):
            path = path + p
        else:
            path = path + "/" + p
    return path


def split(p):
    i = p.rfind("/") + 1
    head, tail = p[:i], p[i:]
    if head and head != "/" * len(head):
        head = head.rstrip("/")
    return head, tail


def dirname(p):
    return split(p)[0]


def basename(p):
    return split(p)[1]


def splitext(p):
    base = basename(p)
    i = base.rfind(".")
    if i <= 0 or base[:i] == "." * i:
        return p, ""
    n = len(base) - i
    return p[:len(p) - n], p[len(p) - n:]


def isabs(s):
    return s.startswith("/")


def normpath(path):
    if path == "":
        return "."
    parts = []
    for part in path.split("/"):
        if part == "" or part == ".":
            continue
        if part == ".." and parts and parts[-1] != "..":
            parts.pop()
        elif part != ".." or not path.startswith("/"):
            parts.append(part)
    text = "/".join(parts)
    return "/" + text if path.startswith("/") else (text or ".")


def abspath(path):
    return normpath(path)


def realpath(path):
    return normpath(path)


def expanduser(path):
    return path


def expandvars(path):
    return path


def exists(path):
    return False


def isfile(path):
    return False


def isdir(path):
    return False


def commonprefix(m):
    if len(m) == 0:
        return ""
    a, b = min(m), max(m)
    for i in range(len(a)):
        if i >= len(b) or a[i] != b[i]:
            return a[:i]
    return a


def relpath(path, start="."):
    to, base = normpath(path).split("/"), normpath(start).split("/")
    base = [] if base == ["."] else base
    same = 0
    while same < len(to) and same < len(base) and to[same] == base[same]:
        same += 1
    return "/".join([".."] * (len(base) - same) + to[same:]) or "."
