"""distutils.version."""
from packaging.version import Version


class LooseVersion(Version):
    pass


class StrictVersion(Version):
    pass
