"""statistics."""
from math import fsum, sqrt


class StatisticsError(ValueError):
    pass


def _items(data):
    data = list(data)
    if len(data) == 0:
        raise StatisticsError("at least one data point is required")
    return data


def fmean(data):
    data = _items(data)
    return fsum(data) / len(data)


def mean(data):
    data = _items(data)
    whole = all(isinstance(x, int) for x in data) and sum(data) % len(data) == 0
    return sum(data) // len(data) if whole else fmean(data)


def median(data):
    data = sorted(_items(data))
    n = len(data)
    return data[n // 2] if n % 2 else (data[n // 2 - 1] + data[n // 2]) / 2


def pvariance(data, mu=None):
    data = _items(data)
    mu = fmean(data) if mu is None else mu
    return fsum([(x - mu) ** 2 for x in data]) / len(data)


def variance(data, xbar=None):
    data = _items(data)
    return pvariance(data, xbar) * len(data) / (len(data) - 1)


def pstdev(data, mu=None):
    return sqrt(pvariance(data, mu))


def stdev(data, xbar=None):
    return sqrt(variance(data, xbar))
