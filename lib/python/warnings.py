"""warnings: a model's own warnings are not shown."""


def warn(message, category=None, stacklevel=1, source=None):
    return None


def warn_explicit(message, category, filename, lineno, module=None, registry=None):
    return None


def filterwarnings(action, message="", category=None, module="", lineno=0, append=False):
    return None


def simplefilter(action, category=None, lineno=0, append=False):
    return None


def resetwarnings():
    return None


class catch_warnings:
    def __init__(self, *, record=False, module=None, action=None):
        self.record = record

    def __enter__(self):
        return [] if self.record else None

    def __exit__(self, kind, value, trace):
        return None
