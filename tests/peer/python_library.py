#!/usr/bin/python3
"""lib/python is Python: expressions give the same results in its modules as in the real ones.

The files are imported under other names by the real interpreter; `calque` is a module that this
script makes. einops is compared with transposes and reshapes that are written out.
"""
import collections
import importlib.util
import math
import sys
import types

import peers
import torch

sys.dont_write_bytecode = True
LIB = peers.ROOT / "lib/python"

NAMES = {"mathremainder": math.remainder}


def operator(name):
    name = name.split("::")[1]
    return NAMES[name] if name in NAMES else getattr(math, name)


def natives():
    module = types.ModuleType("calque")
    module.operator = operator
    module.namedtuple = collections.namedtuple
    module.Tensor = torch.Tensor
    module.Parameter = torch.nn.Parameter
    module.class_annotations = lambda cls: cls.__dict__.get("__annotations__", {})
    module.module_named = sys.modules.get
    module.arguments = lambda: ["script.py", "a"]
    return module


def library(name):
    path = LIB / f"{name}.py"
    folder = LIB / name
    where = [str(folder)] if folder.is_dir() else None
    path = folder / "__init__.py" if where else path
    own = "calque_" + name
    spec = importlib.util.spec_from_file_location(own, path, submodule_search_locations=where)
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    spec.loader.exec_module(module)
    return module


sys.modules["calque"] = natives()

# A module, then expressions in it.
CASES = {
    "math": ["m.sqrt(2.0)", "m.log(8, 2)", "m.gcd(12, 18, 27)", "m.lcm(4, 6)", "m.prod([2, 3, 4])",
             "m.isqrt(99)", "m.comb(7, 3)", "m.perm(5, 2)", "m.hypot(3.0, 4.0)", "m.isclose(1.0, 1.0 + 1e-12)",
             "m.floor(2.7), m.ceil(2.1), m.trunc(-2.7)", "m.isfinite(m.inf)", "m.pi, m.e, m.tau",
             "m.dist((0.0, 1.0), (3.0, 5.0))"],
    "re": [
        r"m.split(r'(\d.*)', 'r1')", r"m.match(r'([a-z]+)_?(\d{1,3})?$', 'layer_12').groups()",
        r"m.sub(r'(\w+)\.(\w+)', r'\2-\1', 'a.b c.dd')", r"m.findall(r'[+-]?\d+', 'x+1-22 3')", "m.findall('(a)(b)?', 'abaa')",
        r"m.search(r'^(?P<s>stages?)\.(?P<i>\d+)\.(?:blocks|layers)\.(\d+)', 'stages.0.blocks.15.x').groupdict()",
        "m.match('a|b', 'c')", "m.match('A', 'abc', m.I).span()", "m.fullmatch('a+?b*', 'aab').group(0)",
        r"m.sub(r'\bfoo\b', lambda f: f.group(0).upper(), 'foo food foo')", r"m.split(r'[,;]\s*', 'a, b;c')", "m.escape('a.b')",
        r"m.findall(r'(?=(\d\d))', '1234')", r"m.compile(r'\.(?!weight)').split('a.b.weight.c')",
        "m.search('x{2,}', 'axxxb').group()", r"m.match(r'(.)\1', 'aab').group()", "m.findall('[^a-c]', 'abcde')",
        r"m.sub('a*', '-', 'baac')", r"m.findall('^x', 'x\nx', m.M)", "m.search('(a)|b', 'b').groups('-')"],
    "itertools": [
        "list(m.product([1, 2], 'ab'))", "list(m.product([0, 1], repeat=3))", "list(m.permutations('abc', 2))",
        "list(m.combinations(range(4), 2))", "list(m.combinations_with_replacement('ab', 2))",
        "list(m.chain([1], (2, 3)))", "list(m.chain.from_iterable([[1], [2, 3]]))",
        "list(m.accumulate([1, 2, 3]))", "list(m.accumulate([3, 1, 2], max))", "list(m.islice(range(9), 1, 8, 3))",
        "list(m.islice(m.count(5, 2), 3))", "list(m.islice(m.cycle('ab'), 5))", "list(m.repeat(7, 3))",
        "list(m.starmap(pow, [(2, 3), (3, 2)]))", "list(m.takewhile(lambda x: x < 3, [1, 2, 3, 1]))",
        "list(m.dropwhile(lambda x: x < 3, [1, 2, 3, 1]))", "list(m.zip_longest([1, 2], 'a', fillvalue=0))",
        "list(m.filterfalse(lambda x: x % 2, range(5)))", "list(m.compress('abc', [1, 0, 1]))",
        "[(k, list(g)) for k, g in m.groupby('aabbc')]", "list(next(zip(m.count(), 'x')))"],
    "functools": ["m.partial(pow, 2)(3)", "m.partial(m.partial(int, base=2))('101')",
                  "m.reduce(lambda a, b: a * b, [1, 2, 3, 4])", "m.reduce(lambda a, b: a + b, [], 5)",
                  "m.lru_cache(None)(lambda x: x + 1)(2)", "sorted([3, 1, 2], key=m.cmp_to_key(lambda a, b: b - a))"],
    "operator": ["m.add(2, 3)", "m.itemgetter(1)([4, 5])", "m.itemgetter(0, 2)('abc')", "m.attrgetter('real')(3)",
                 "m.mul(2, 3)", "m.methodcaller('upper')('a')", "m.contains([1], 1)", "m.abs(-3)"],
    "collections": ["m.Counter('abca').most_common(1)", "m.Counter('aab')['z']", "list(m.deque([1, 2, 3], maxlen=2))",
                    "(lambda d: (d[1].append(2), dict(d)))(m.defaultdict(list))[1]",
                    "(lambda d: (d.appendleft(0), d.rotate(1), list(d)))(m.deque([1, 2]))[2]",
                    "m.namedtuple('P', ['x', 'y'])(1, 2).y", "list(m.OrderedDict([('a', 1)]).items())",
                    "m.ChainMap({'a': 1}, {'b': 2})['b']"],
    "json": ["m.loads('{\"a\": [1, 2.5, true, null, \"x\\\\n\\\\u00e9\"]}')", "m.dumps({'a': [1, 2.5, True, None, 'x\"\\n']})",
             "m.dumps([{'b': 1, 'a': []}], indent=2, sort_keys=True)", "m.loads('-1e3')", "m.loads(' [ ] ')"],
    "string": ["m.ascii_letters", "m.digits", "m.punctuation", "m.printable"],
    "random": ["(m.seed(3), m.random(), m.random())[1:]", "(m.seed(7), m.randint(1, 100), m.randint(1, 10 ** 12))[1:]",
               "(m.seed(2**40), m.choice('abcdef'), m.uniform(1, 2))[1:]",
               "(lambda x: (m.seed(5), m.shuffle(x), x)[2])(list(range(10)))", "m.Random(4).getrandbits(70)"],
    "dataclasses": [
        "m.asdict(m.dataclass(type('C', (), {'__annotations__': {'x': int, 'y': int}, 'y': 2}))(1))",
        "repr(m.dataclass(type('C', (), {'__annotations__': {'x': int}}))(x=1))",
        "m.dataclass(type('C', (), {'__annotations__': {'x': list}, 'x': m.field(default_factory=list)}))().x",
        "m.replace(m.dataclass(type('C', (), {'__annotations__': {'x': int}}))(1), x=3).x"],
    "os": ["m.path.join('a', 'b', '/c', 'd')", "m.path.splitext('a/b.tar.gz')", "m.path.splitext('.bashrc')",
           "m.path.split('/a/b/')", "m.path.basename('a/b')", "m.path.normpath('a/./b/../c//d')",
           "m.path.dirname('/a/b')", "m.path.commonprefix(['abc', 'abd'])", "m.sep"],
    "types": ["m.SimpleNamespace(a=1).a", "repr(m.SimpleNamespace(a=1, b='x'))"],
    "numpy": [
        "m.prod([2, 3, 4])", "m.arange(2, 10, 3).tolist()", "m.linspace(0, 1, 5).tolist()",
        "m.linspace(0, 1, 4, endpoint=False).tolist()", "m.array([[1, 2], [3, 4]]).T.tolist()",
        "m.array([1, 2]).dtype == m.int64", "m.array([1, 2.5]).dtype == m.float64", "m.zeros((2, 3)).shape",
        "float(m.mean([1, 2, 4]))", "round(float(m.std([1, 2, 4])), 12)", "m.concatenate([[1, 2], [3]]).tolist()",
        "m.stack([[1, 2], [3, 4]], 1).tolist()", "[g.tolist() for g in m.meshgrid([1, 2], [3, 4, 5])]",
        "[g.tolist() for g in m.meshgrid([1, 2], [3, 4], indexing='ij')]", "m.repeat([1, 2], 2).tolist()",
        "m.tile([1, 2], 2).tolist()", "m.cumsum([1, 2, 3]).tolist()", "(m.arange(3) / 2).tolist()",
        "(2 ** m.arange(4)).tolist()", "m.array([3, 1, 2])[1:].tolist()", "int(m.array([3, 1, 2]).argmax())",
        "m.log2(8), m.ceil(2.1), m.floor(2.9), m.sqrt(16)", "m.array([1, 2, 3])[m.array([True, False, True])].tolist()",
        "m.expand_dims(m.ones(3), 0).shape", "m.outer([1, 2], [3, 4]).tolist()", "float(m.float32(2)), int(m.int64(3.7))",
        "m.where(m.array([1, 0]) > 0, 5, 6).tolist()", "m.sum([[1, 2], [3, 4]], axis=0).tolist()",
        "m.clip(m.array([1, 5, 9]), 2, 6).tolist()", "m.sqrt(m.array([4.0, 9.0])).tolist()",
        "m.pi, m.inf", "[len(x) for x in m.split(m.arange(6), 3)]", "m.hstack([[1], [2, 3]]).tolist()",
        "m.vstack([[1, 2], [3, 4]]).tolist()", "m.round(2.567, 1)", "m.abs(-2), m.maximum(2, 3)",
        "m.arange(6).reshape(2, 3).sum(1).tolist()", "m.eye(2).tolist()", "m.full((2,), 7).tolist()"],
}


def check_argparse(module):
    def make(argparse):
        p = argparse.ArgumentParser(description="x")
        p.add_argument("model")
        p.add_argument("--size", type=int, default=224)
        p.add_argument("-q", "--quiet", action="store_true")
        p.add_argument("--sizes", nargs="+", type=int, default=[1])
        p.add_argument("--lr", default="0.5", type=float)
        p.add_argument("rest", nargs="*")
        return p

    import argparse
    for words in (["net"], ["net", "--size", "7", "-q"], ["--sizes", "1", "2", "--lr=3", "net", "a", "b"],
                  ["--size=3", "net", "a"]):
        got, expected = vars(make(module).parse_args(words)), vars(make(argparse).parse_args(words))
        assert got == expected, f"{words}: {got}, expected {expected}"


def check_einops(einops):
    x = torch.arange(2 * 3 * 4 * 6.).view(2, 3, 4, 6)
    expected = x.view(2, 3, 2, 2, 3, 2).permute(0, 2, 4, 3, 5, 1).reshape(2, 6, 12)
    got = einops.rearrange(x, "b c (h p1) (w p2) -> b (h w) (p1 p2 c)", p1=2, p2=2)
    assert torch.equal(got, expected)
    assert torch.equal(einops.rearrange(x, "b ... -> ... b"), x.permute(1, 2, 3, 0))
    assert torch.equal(einops.rearrange(x, "b c h w -> b (c h w)"), x.flatten(1))
    assert torch.equal(einops.rearrange(x, "b c h w -> b c h w 1"), x.unsqueeze(-1))
    assert torch.equal(einops.rearrange(x[:, :1], "b 1 h w -> b h w"), x[:, 0])
    assert torch.equal(einops.reduce(x, "b c (h 2) (w 2) -> b c h w", "max"), torch.max_pool2d(x, 2))
    assert torch.allclose(einops.reduce(x, "b c h w -> b c", "mean"), x.mean((2, 3)))
    assert torch.equal(einops.reduce(x, "b c h w -> c", "sum"), x.sum((0, 2, 3)))
    assert torch.equal(einops.repeat(x[0, 0], "h w -> b h w", b=3), x[0, 0].expand(3, 4, 6))
    assert torch.equal(einops.repeat(x[0, 0], "h w -> h (w k)", k=2), x[0, 0].repeat_interleave(2, 1))
    assert torch.equal(einops.repeat(x[0, 0], "h w -> (k h) w", k=2), x[0, 0].repeat(2, 1))
    assert torch.equal(einops.einsum(x[0], x[1], "c h w, d h w -> c d"), torch.einsum("chw,dhw->cd", x[0], x[1]))
    packed, shapes = einops.pack([x, x[:, :, 0]], "b * w")
    assert torch.equal(packed, torch.cat([x.flatten(1, 2), x[:, :, 0]], 1))
    assert all(torch.equal(a, b) for a, b in zip(einops.unpack(packed, shapes, "b * w"), (x, x[:, :, 0])))
    assert einops.parse_shape(x, "b c _ w") == {"b": 2, "c": 3, "w": 6}
    for bad in ("b c -> b", "b c h w -> b c h", "b (c h w -> b", "b c h w"):
        try:
            einops.rearrange(x, bad)
        except RuntimeError:
            continue
        raise AssertionError(f"the pattern '{bad}' was accepted")


def main():
    report = peers.Report(__file__)
    for name, expressions in CASES.items():
        real = importlib.import_module(name)
        ours = library(name)
        for text in expressions:
            with report.case(f"{name}: {text}"):
                got, expected = eval(text, {"m": ours, "__name__": "x"}), eval(text, {"m": real, "__name__": "x"})
                assert got == expected, f"{got!r}, expected {expected!r}"
    with report.case("argparse"):
        check_argparse(library("argparse"))
    with report.case("einops"):
        check_einops(library("einops"))
    return report.finish()


sys.exit(main())
