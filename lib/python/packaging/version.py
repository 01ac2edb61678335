"""packaging.version: versions as model files compare them. A pre-release is before its release."""
import re

VERSION_PATTERN = r"v?([0-9]+(?:\.[0-9]+)*)[-_.]?([a-z]*)[-_.]?([0-9]*)"


class InvalidVersion(ValueError):
    pass


class Version:
    def __init__(self, version):
        self._text = str(version)
        found = re.match(VERSION_PATTERN, self._text.lower().split("+")[0])
        if found is None:
            raise InvalidVersion(f"Invalid version: '{version}'")
        release = [int(part) for part in found.group(1).split(".")]
        self.release = tuple(release)
        stage = found.group(2)
        while len(release) > 1 and release[-1] == 0:
            release.pop()
        order = {"dev": 0, "a": 1, "alpha": 1, "b": 2, "beta": 2, "c": 3, "rc": 3, "post": 5}
        self._key = (release, order.get(stage, 4), int(found.group(3) or 0) if stage else 0)
        self.is_prerelease = self._key[1] < 4

    @property
    def major(self):
        return self.release[0]

    @property
    def minor(self):
        return self.release[1] if len(self.release) > 1 else 0

    @property
    def micro(self):
        return self.release[2] if len(self.release) > 2 else 0

    @property
    def base_version(self):
        return ".".join(str(part) for part in self.release)

    @property
    def version(self):
        return list(self.release)

    def _compare(self, other):
        a = self._key
        b = (other if isinstance(other, Version) else Version(other))._key
        return 0 if a == b else -1 if a < b else 1

    def __eq__(self, other):
        return self._compare(other) == 0

    def __ne__(self, other):
        return self._compare(other) != 0

    def __lt__(self, other):
        return self._compare(other) < 0

    def __le__(self, other):
        return self._compare(other) <= 0

    def __gt__(self, other):
        return self._compare(other) > 0

    def __ge__(self, other):
        return self._compare(other) >= 0

    def __hash__(self):
        return hash(self._text)

    def __str__(self):
        return self._text

    def __repr__(self):
        return f"<Version('{self._text}')>"


def parse(version):
    return Version(version)
