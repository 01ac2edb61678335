"""logging: messages of models are not shown."""

NOTSET = 0
DEBUG = 10
INFO = 20
WARNING = WARN = 30
ERROR = 40
CRITICAL = FATAL = 50


class Handler:
    def __init__(self, *args, **kwargs):
        self.level = NOTSET

    def setLevel(self, level):
        self.level = level

    def setFormatter(self, fmt):
        return None

    def addFilter(self, filter):
        return None


class StreamHandler(Handler):
    pass


class NullHandler(Handler):
    pass


class FileHandler(Handler):
    pass


class Formatter:
    def __init__(self, *args, **kwargs):
        pass


class Filter:
    def __init__(self, name=""):
        self.name = name


class Logger:
    def __init__(self, name="root", level=NOTSET):
        self.name = name
        self.level = level
        self.handlers = []
        self.propagate = True

    def debug(self, msg, *args, **kwargs):
        return None

    def info(self, msg, *args, **kwargs):
        return None

    def warning(self, msg, *args, **kwargs):
        return None

    def warn(self, msg, *args, **kwargs):
        return None

    def error(self, msg, *args, **kwargs):
        return None

    def exception(self, msg, *args, **kwargs):
        return None

    def critical(self, msg, *args, **kwargs):
        return None

    def log(self, level, msg, *args, **kwargs):
        return None

    def warning_once(self, msg, *args, **kwargs):
        return None

    def setLevel(self, level):
        self.level = level

    def getEffectiveLevel(self):
        return self.level

    def isEnabledFor(self, level):
        return False

    def addHandler(self, hdlr):
        self.handlers.append(hdlr)

    def removeHandler(self, hdlr):
        return None

    def addFilter(self, filter):
        return None

    def hasHandlers(self):
        return len(self.handlers) > 0


root = Logger()
_loggers = {}


def getLogger(name=None):
    if name is None:
        return root
    if name not in _loggers:
        _loggers[name] = Logger(name)
    return _loggers[name]


def basicConfig(**kwargs):
    return None


def disable(level=CRITICAL):
    return None


def captureWarnings(capture):
    return None


def getLevelName(level):
    return {10: "DEBUG", 20: "INFO", 30: "WARNING", 40: "ERROR", 50: "CRITICAL"}.get(level, level)


debug = root.debug
info = root.info
warning = root.warning
warn = root.warning
error = root.error
exception = root.exception
critical = root.critical
log = root.log
