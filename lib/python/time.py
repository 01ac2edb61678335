"""time: a clock that stands still, so that results do not depend on it."""


def time():
    return 0.0


def perf_counter():
    return 0.0


def monotonic():
    return 0.0


def process_time():
    return 0.0


def time_ns():
    return 0


def perf_counter_ns():
    return 0


def sleep(seconds):
    return None


def strftime(format, t=None):
    return ""


def localtime(seconds=None):
    return None
