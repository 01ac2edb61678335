"""Lists, dicts, sets and comprehensions."""
from collections import Counter, defaultdict, deque, namedtuple
l = [3, 1, 2]
l.sort()
print(l, sorted("hello", reverse=True), sorted([(1, "b"), (0, "z")], key=lambda p: p[1]), l.index(2), l.count(1))
l.extend([5]); l.insert(1, 9); l.remove(3); l.reverse()
print(l, l.pop(), l.pop(0), l + [1], l * 2, [0] * 3, l.copy(), 9 in l)
l.clear()
print(l, list("abc"), list({"a": 1}), [*range(3), *"ab"])
d = {"a": 1, "b": 2}
d.update(c=3); d.setdefault("z", []).append(1)
print(d, d.get("q"), d.get("q", 0), d.pop("a"), d.pop("a", None), list(d.items()), {**d, "b": 5}, d | {"k": 1}, "b" in d)
print({v: k for k, v in {"x": 1}.items()}, dict([("a", 1)]), dict(a=1), dict.fromkeys("ab", 0), len(d), d.popitem())
for k, v in d.items():
    print(k, v)
print(list(reversed({"a": 1, "b": 2})), max({"a": 3, "b": 1}, key={"a": 3, "b": 1}.get), d.keys() == {"b", "c"})
s = {1, 2, 3}
print(s & {2, 5}, s | {9}, s - {1}, s ^ {3, 4}, s <= {1, 2, 3, 4}, 2 in s, len(s), {x % 2 for x in range(5)}, set())
s.add(7); s.discard(1); s.update([8])
print(sorted(s), frozenset([1, 2]) == {1, 2}, s.issubset(range(10)), s.isdisjoint({100}))
print([x for x in range(10) if x % 2 if x > 3], [(i, j) for i in range(3) for j in range(i)], [[j for j in range(i)] for i in range(3)])
print(list(zip([1, 2], "ab")), list(enumerate("ab", 1)), list(map(lambda a, b: a + b, [1, 2], [3, 4])), list(filter(None, [0, 1, ""])))
print(sum([1, 2], 10), min(3, 1), max([1, 5], default=0), max([], default=9), any([]), all([]), abs(-3), divmod(7, 2), pow(2, 10), pow(3, 4, 5), round(2.567, 2), round(2.5), round(-0.5))
P = namedtuple("P", "x y")
p = P(1, y=2)
print(p, p.x, p._replace(x=5), p._asdict(), P._fields, *p, p == (1, 2), p[1])
class Column(namedtuple("Column", ["name", "width", "group"])):
    __slots__ = ()

    def __new__(cls, name, width=4, group=None):
        return super(Column, cls).__new__(cls, name, int(width * 1.5) if width == 4 else width, group or name)

    def __hash__(self):
        return self.name.__hash__()

    @property
    def label(self):
        return f"{self.name}[{self.width}]"


column = Column("a")
print(column, column.label, column[1], column._replace(width=9).label, Column(width=2, name="b"), column == ("a", 6, "a"), isinstance(column, tuple), [*column])
dd = defaultdict(list)
dd["a"].append(1)
print(dict(dd), dd, Counter("hello").most_common(2))
q = deque([1, 2, 3]); q.appendleft(0); q.append(4); q.popleft(); q.rotate(1)
print(list(q), q[0], len(q))
print((1, 2) == (1, 2), "a" < "b", [[1], [2]] == [[1], [2]], {"a": 1} == {"a": 1.0})
print(tuple([1]), (), (1,), [], {}, 1 if [] else 2, bool({}), isinstance([], (list, tuple)), type([]) is list, type(()) == tuple)
x, y, *z = range(5); (a, b), c = (1, 2), 3
print(x, y, z, a, b, c, [i for i, in [(1,), (2,)]])
nested = {"a": {"b": [1, 2, {"c": 3}]}}
print(nested["a"]["b"][2]["c"], str(nested), repr([1, "a", None, True, 2.0, (1,)]))
print(*[1, 2], sep="-", end="!\n")
m = [[0] * 2 for _ in range(2)]
m[0][1] = 5
m[1][0] += 2
print(m, list(map(list, zip(*m))), sum(map(sum, m)), [sum(r) for r in m])
print(id(m) == id(m), m is m, len([1, 2]), sorted({"b": 1, "a": 2}), list(dict(zip("ab", range(2))).values()))
import copy
deep = copy.deepcopy(nested); deep["a"]["b"][0] = 100
shallow = copy.copy(nested)
print(nested["a"]["b"][0], shallow["a"] is nested["a"])
