"""queue: first in, first out. One thread cannot wait for another, so an empty queue raises."""


class Empty(Exception):
    pass


class Full(Exception):
    pass


class Queue:
    def __init__(self, maxsize=0):
        self.maxsize, self.items = maxsize, []

    def put(self, item, block=True, timeout=None):
        if 0 < self.maxsize <= len(self.items):
            raise Full
        self.items.append(item)

    def get(self, block=True, timeout=None):
        if not self.items:
            raise Empty
        return self.items.pop(0)

    def put_nowait(self, item):
        self.put(item)

    def get_nowait(self):
        return self.get()

    def qsize(self):
        return len(self.items)

    def empty(self):
        return not self.items

    def full(self):
        return 0 < self.maxsize <= len(self.items)


class LifoQueue(Queue):
    def get(self, block=True, timeout=None):
        if not self.items:
            raise Empty
        return self.items.pop()
