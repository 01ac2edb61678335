"""importlib."""
from calque import module_named as _module


def import_module(name, package=None):
    if name.startswith("."):
        dots = len(name) - len(name.lstrip("."))
        parts = package.split(".")
        name = ".".join(parts[:len(parts) - dots + 1] + [name[dots:]])
    found = _module(name)
    if found is None:
        raise ModuleNotFoundError(f"no module named '{name}'")
    return found


def reload(module):
    return module
