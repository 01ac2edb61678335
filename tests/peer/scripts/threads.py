"""Locks and queues in a program of one thread."""
import queue
import threading

lock = threading.Lock()
with lock:
    print(lock.locked())
print(lock.locked())

q = queue.Queue(maxsize=2)
q.put(1)
q.put(2)
print(q.full(), q.qsize(), q.get(), q.get(), q.empty())
try:
    q.get(block=False)
except queue.Empty:
    print("empty")
last = queue.LifoQueue()
for i in range(3):
    last.put(i)
print([last.get() for _ in range(3)])

store = threading.local()
store.value = 5
print(store.value, hasattr(store, "other"), threading.current_thread() is not None)
