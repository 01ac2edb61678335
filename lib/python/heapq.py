"""heapq: a heap is kept as a sorted list, which is a heap; ties have the order of insertion."""
from bisect import insort


def heappush(heap, item):
    insort(heap, item)


def heappop(heap):
    return heap.pop(0)


def heapify(x):
    x.sort()


def heappushpop(heap, item):
    heappush(heap, item)
    return heappop(heap)


def heapreplace(heap, item):
    smallest = heappop(heap)
    heappush(heap, item)
    return smallest


def nsmallest(n, iterable, key=None):
    return sorted(iterable, key=key)[:n]


def nlargest(n, iterable, key=None):
    return sorted(iterable, key=key, reverse=True)[:n]


def merge(*iterables, key=None, reverse=False):
    return iter(sorted([x for one in iterables for x in one], key=key, reverse=reverse))
