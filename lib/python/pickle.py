"""pickle: the names only. Model files use it to read and write data, which calque does not do."""

HIGHEST_PROTOCOL = 5
DEFAULT_PROTOCOL = 4


class PickleError(Exception):
    pass


class PicklingError(PickleError):
    pass


class UnpicklingError(PickleError):
    pass


def _refuse(name):
    raise NotImplementedError(f"pickle.{name} is not implemented")


def load(file, **options):
    _refuse("load")


def loads(data, **options):
    _refuse("loads")


def dump(obj, file, protocol=None, **options):
    _refuse("dump")


def dumps(obj, protocol=None, **options):
    _refuse("dumps")
