"""pathlib: names of files only; files do not exist for model code."""
from os import path as _path


class PurePath:
    def __init__(self, *parts):
        self.text = _path.normpath(_path.join(*[str(p) for p in parts])) if parts else "."

    def __truediv__(self, other):
        return type(self)(self.text, str(other))

    def joinpath(self, *others):
        return type(self)(self.text, *others)

    @property
    def name(self):
        return _path.basename(self.text)

    @property
    def stem(self):
        return _path.splitext(self.name)[0]

    @property
    def suffix(self):
        return _path.splitext(self.name)[1]

    @property
    def suffixes(self):
        return ["." + part for part in self.name.lstrip(".").split(".")[1:]]

    @property
    def parent(self):
        return type(self)(_path.dirname(self.text) or ".")

    @property
    def parents(self):
        out, path = [], self
        while path.parent.text != path.text:
            path = path.parent
            out.append(path)
        return out

    @property
    def parts(self):
        if self.text == ".":
            return ()
        names = tuple([name for name in self.text.split("/") if name])
        return ("/",) + names if self.text.startswith("/") else names

    def with_suffix(self, suffix):
        return type(self)(_path.splitext(self.text)[0] + suffix)

    def with_name(self, name):
        return type(self)(_path.join(_path.dirname(self.text), name))

    def with_stem(self, stem):
        return self.with_name(stem + self.suffix)

    def is_absolute(self):
        return self.text.startswith("/")

    def is_relative_to(self, other):
        return self.parts[:len(type(self)(other).parts)] == type(self)(other).parts

    def relative_to(self, other):
        if not self.is_relative_to(other):
            raise ValueError(f"{self.text!r} is not in the subpath of {str(other)!r}")
        return type(self)(*self.parts[len(type(self)(other).parts):])

    def match(self, pattern):
        from fnmatch import fnmatchcase
        return fnmatchcase(self.text if "/" in pattern else self.name, pattern)

    def as_posix(self):
        return self.text

    def resolve(self):
        return self

    def absolute(self):
        return self

    def exists(self):
        return False

    def is_file(self):
        return False

    def is_dir(self):
        return False

    def __fspath__(self):
        return self.text

    def __str__(self):
        return self.text

    def __repr__(self):
        return f"{type(self).__name__}({self.text!r})"

    def __lt__(self, other):
        return self.parts < other.parts

    def __le__(self, other):
        return self.parts <= other.parts

    def __rtruediv__(self, other):
        return type(self)(str(other), self.text)

    def __eq__(self, other):
        return isinstance(other, PurePath) and self.text == other.text

    def __hash__(self):
        return hash(self.text)


class PurePosixPath(PurePath):
    pass


class Path(PurePosixPath):
    @classmethod
    def cwd(cls):
        return cls(".")

    def __repr__(self):
        return f"PosixPath({self.text!r})"


PosixPath = Path
