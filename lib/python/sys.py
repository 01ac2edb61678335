"""sys."""
from calque import arguments as _arguments, module_named as _module

argv = _arguments()
path = []
version = "3.12.0"
platform = "linux"
byteorder = "little"
maxsize = 9223372036854775807
executable = ""


class _Modules:
    """The modules that could be imported, by name."""

    def __getitem__(self, name):
        found = _module(name)
        if found is None:
            raise KeyError(name)
        return found

    def __contains__(self, name):
        return _module(name) is not None

    def get(self, name, default=None):
        found = _module(name)
        return default if found is None else found


modules = _Modules()


class _Version(tuple):
    @property
    def major(self):
        return self[0]

    @property
    def minor(self):
        return self[1]

    @property
    def micro(self):
        return self[2]


version_info = _Version((3, 12, 0, "final", 0))


class _Stream:
    def write(self, text):
        print(text, end="")
        return len(text)

    def flush(self):
        return None

    def isatty(self):
        return False


class _Quiet(_Stream):
    def write(self, text):
        return len(text)


stdout = _Stream()
stderr = _Quiet()


def exit(status=None):
    raise SystemExit(status)


def getrecursionlimit():
    return 1000


def setrecursionlimit(limit):
    return None


def getsizeof(obj, default=0):
    return 0


def exc_info():
    return (None, None, None)


def intern(string):
    return string
