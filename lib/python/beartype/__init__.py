"""beartype: types are not checked, so the decorator returns the function."""


def beartype(obj=None, *, conf=None):
    return (lambda fn: fn) if obj is None else obj
