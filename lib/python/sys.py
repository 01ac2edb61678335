"""sys."""
from calque import arguments as _arguments

argv = _arguments()
path = []
modules = {}
version = "3.12.0"
platform = "linux"
byteorder = "little"
maxsize = 9223372036854775807
executable = ""


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
