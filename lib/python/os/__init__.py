"""os: names of files only; the file system is not read or changed."""
from . import path

sep = "/"
linesep = "\n"
pathsep = ":"
curdir = "."
name = "posix"
devnull = "/dev/null"
environ = {}


class PathLike:
    pass


def fspath(path):
    return path if isinstance(path, str) else path.__fspath__()


def getenv(key, default=None):
    return environ.get(key, default)


def getcwd():
    return "."


def cpu_count():
    return 1


def getpid():
    return 1


def makedirs(name, mode=511, exist_ok=False):
    raise NotImplementedError("os.makedirs is not implemented: model files do not change the file "
                              "system")


def listdir(path="."):
    raise NotImplementedError("os.listdir is not implemented: model files do not read folders")


def remove(path):
    raise NotImplementedError("os.remove is not implemented: model files do not change the file "
                              "system")


def system(command):
    raise NotImplementedError("os.system is not implemented: model files do not start programs")
