"""threading: locks, which one thread never waits for, and thread-local attributes."""


class Lock:
    def __init__(self):
        self.held = 0

    def acquire(self, blocking=True, timeout=-1):
        self.held += 1
        return True

    def release(self):
        self.held -= 1

    def locked(self):
        return self.held > 0

    def __enter__(self):
        return self.acquire()

    def __exit__(self, kind, value, trace):
        self.release()


class RLock(Lock):
    pass


class Condition(Lock):
    def __init__(self, lock=None):
        super().__init__()

    def notify(self, n=1):
        pass

    def notify_all(self):
        pass


class local:
    pass


class _Thread:
    name = "MainThread"
    ident = 1


def current_thread():
    return _Thread()


main_thread = current_thread


def get_ident():
    return 1
