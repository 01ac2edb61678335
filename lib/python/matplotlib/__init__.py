"""matplotlib: settings only. Drawing is an error, because the submodules are missing."""

rcParams = {}


def use(backend, force=True):
    return None
