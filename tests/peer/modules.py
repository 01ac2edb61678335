#!/usr/bin/python3
"""Every layer of <calque/layers.h> against torch.nn: names, order, types and shapes of its state,
the distribution of its initial values, and, with PyTorch's weights, its results in evaluation
and training and what training does to its buffers. Then the layer is exported at several opsets,
with fixed sizes and with a dynamic batch, and ONNX Runtime must compute the same.

    modules.py [LAYER …]
"""
import os
import sys
import tempfile

import peers
from ops_export import REFUSED
from peers import Report, check_onnx, expect_close

OPSETS = [9, 11, 13, 17]
SAMPLES = 20000  # values that a distribution is judged by
# Two samples of one distribution are further apart than this once in a thousand times, by the
# test of Kolmogorov and Smirnov. Seeds are fixed, so what passes once passes always.
KS_LIMIT = 1.95
# Convolutions and recurrent layers add up hundreds of products in another order than PyTorch.
RTOL, ATOL = 1e-4, 1e-5


class Case:
    """A layer of calque and the same layer of torch, created by every call, and inputs for them."""

    def __init__(self, name, mine, theirs, *shapes, train=True, batch=0, n_outputs=1, inputs=None,
                 export=True):
        self.name, self.mine, self.theirs, self.shapes = name, mine, theirs, shapes
        self.train, self.batch, self.n_outputs, self.make = train, batch, n_outputs, inputs
        self.export = export

    def inputs(self, rng, batch=None):
        import numpy as np
        if self.make:
            return self.make(rng, batch)
        out = []
        for i, shape in enumerate(self.shapes):
            axis = self.batch[i] if isinstance(self.batch, tuple) else self.batch
            shape = [batch if batch and k == axis else n for k, n in enumerate(shape)]
            out.append(rng.normal(size=shape).astype(np.float32))
        return out


# ---- the layers -----------------------------------------------------------------------


def conv_cases():
    import capi
    from torch import nn

    rows = [  # dimensions, in, out, kernel, options
        (1, 4, 6, 3, {}), (1, 4, 6, 5, {"stride": 2, "padding": 2, "dilation": 2}),
        (2, 3, 8, (3, 3), {}), (2, 4, 6, (3, 5), {"stride": (2, 1), "padding": (1, 2)}),
        (2, 4, 8, (3, 3), {"groups": 2, "dilation": 2}), (2, 6, 6, (3, 3), {"groups": 6}),
        (2, 4, 4, (1, 1), {"bias": False}), (2, 5, 7, (4, 2), {"padding": (3, 0)}),
        (3, 2, 4, (3, 3, 3), {"padding": 1}), (3, 4, 4, (1, 2, 3), {"groups": 2, "stride": 2})]
    up_rows = [
        (1, 4, 6, 3, {}), (1, 4, 6, 4, {"stride": 2, "padding": 1}),
        (2, 3, 8, (3, 3), {}), (2, 4, 6, (4, 4), {"stride": 2, "padding": 1, "bias": False}),
        (2, 4, 8, (3, 2), {"groups": 2, "stride": 3, "output_padding": (1, 2)}),
        (2, 4, 6, (3, 3), {"dilation": 2, "padding": 2}),
        (3, 2, 4, (2, 2, 2), {"stride": 2}), (3, 4, 2, (3, 3, 3), {"groups": 2, "padding": 1})]

    def three(value, n):
        return tuple(value) if isinstance(value, tuple) else (value,) * n

    for transposed, table in ((False, rows), (True, up_rows)):
        for n, cin, cout, kernel, options in table:
            spec = {"in_": cin, "out": cout, "kernel": three(kernel, n),
                    "no_bias": not options.get("bias", True), "groups": options.get("groups", 0)}
            for key in ("stride", "padding", "dilation", "output_padding"):
                if key in options:
                    spec[key] = three(options[key], n)
            kind = "ConvTranspose" if transposed else "Conv"
            mine = f"conv_transpose{n}d" if transposed else f"conv{n}d"
            yield Case(f"{kind}{n}d({cin}, {cout}, {kernel}, {options})",
                       lambda mine=mine, spec=spec: capi.layer(mine, capi.ConvSpec(**spec)),
                       lambda k=kind, n=n, a=(cin, cout, kernel), o=options:
                           getattr(nn, f"{k}{n}d")(*a, **o),
                       [2, cin] + [13, 11, 9][:n])


def norm_cases():
    import capi
    from torch import nn

    inputs = {1: [4, 6, 7], 2: [4, 6, 5, 7], 3: [2, 6, 3, 4, 5]}
    for n, shape in inputs.items():
        yield Case(f"BatchNorm{n}d", lambda n=n: capi.layer(f"batch_norm{n}d", 6),
                   lambda n=n: getattr(nn, f"BatchNorm{n}d")(6), shape)
        for affine in (False, True):
            yield Case(f"InstanceNorm{n}d(affine={affine})",
                       lambda n=n, a=affine: capi.layer(f"instance_norm{n}d", 6, a),
                       lambda n=n, a=affine: getattr(nn, f"InstanceNorm{n}d")(6, affine=a), shape)
    yield Case("BatchNorm1d of 2-D", lambda: capi.layer("batch_norm1d", 6),
               lambda: nn.BatchNorm1d(6), [8, 6])
    for eps, momentum, affine, track in ((1e-3, 0.3, True, True), (1e-5, 0.1, False, True),
                                         (1e-2, 0.1, True, False), (1e-5, 0.1, False, False)):
        yield Case(f"BatchNorm2d({eps}, {momentum}, {affine}, {track})",
                   lambda a=(eps, momentum, affine, track):
                       batch_norm_with(2, 6, *a),
                   lambda a=(eps, momentum, affine, track): nn.BatchNorm2d(6, *a), inputs[2])
    for shape, eps in (((7,), 1e-5), ((5, 7), 1e-3), ((6, 5, 7), 1e-5)):
        yield Case(f"LayerNorm({shape}, {eps})",
                   lambda s=shape, e=eps: capi.layer("layer_norm", len(s), capi.sizes(*s), e),
                   lambda s=shape, e=eps: nn.LayerNorm(s, e), inputs[2])
    for groups in (1, 2, 6):
        for n, shape in inputs.items():
            yield Case(f"GroupNorm({groups}, 6) of {n + 2}-D",
                       lambda g=groups: capi.layer("group_norm", g, 6, 1e-5),
                       lambda g=groups: nn.GroupNorm(g, 6), shape)


def batch_norm_with(*args):
    import capi
    return capi.Module(capi.lib().cq_batch_norm_new_with(*args))


def pool_cases():
    import capi
    from torch import nn

    shapes = {1: [2, 3, 14], 2: [2, 3, 14, 11], 3: [2, 3, 9, 8, 7]}
    rows = [("max", {"kernel": 3}), ("max", {"kernel": 2, "stride": 2, "ceil_mode": True}),
            ("max", {"kernel": 3, "stride": 2, "padding": 1, "ceil_mode": True}),
            ("max", {"kernel": 3, "stride": 1, "padding": 1, "dilation": 2}),
            ("avg", {"kernel": 3}), ("avg", {"kernel": 3, "stride": 2, "padding": 1}),
            ("avg", {"kernel": 3, "stride": 2, "padding": 1, "exclude_pad": True}),
            ("avg", {"kernel": 3, "stride": 2, "ceil_mode": True}),
            ("avg", {"kernel": 3, "stride": 2, "padding": 1, "ceil_mode": True,
                     "exclude_pad": True})]

    def spec(n, options):
        return capi.POOLS[n](**{key: (value,) * n if isinstance(value, int) and
                                not isinstance(value, bool) else value
                                for key, value in options.items()})

    def theirs(kind, n, options):
        given = {"kernel_size" if key == "kernel" else key: value
                 for key, value in options.items()}
        if given.pop("exclude_pad", False):
            given["count_include_pad"] = False
        return getattr(nn, f"{kind.title()}Pool{n}d")(**given)

    for n, shape in shapes.items():
        for kind, options in rows:
            yield Case(f"{kind.title()}Pool{n}d({options})",
                       lambda k=kind, n=n, o=options: capi.layer(f"{k}_pool{n}d", spec(n, o)),
                       lambda k=kind, n=n, o=options: theirs(k, n, o), shape,
                       export="may be refused" if "dilation" in options else True)  # opset 10
        for kind in ("avg", "max"):
            for target in ((1, 1, 1), (7, 11, 8), (2, 5, 3), (3, 4, 2)):
                size = target[:n]
                # ONNX pools with one window everywhere; others are decomposed, and that needs
                # sizes that divide or a refusal with its reason.
                yield Case(f"Adaptive{kind.title()}Pool{n}d({size})",
                           lambda k=kind, s=size: capi.layer(f"adaptive_{k}_pool", len(s),
                                                             capi.sizes(*s)),
                           lambda k=kind, n=n, s=size:
                               getattr(nn, f"Adaptive{k.title()}Pool{n}d")(s), shape,
                           export="may be refused")


def rnn_cases():
    import capi
    from torch import nn

    rows = [{}, {"layers": 2}, {"bidirectional": True}, {"layers": 3, "bidirectional": True},
            {"batch_first": True}, {"no_bias": True},
            {"layers": 2, "bidirectional": True, "batch_first": True, "no_bias": True}]
    kinds = [("RNN", rows + [{"relu": True}, {"relu": True, "layers": 2, "bidirectional": True}]),
             ("GRU", rows),
             ("LSTM", rows + [{"projection": 3}, {"projection": 3, "layers": 2,
                                                  "bidirectional": True}])]

    def theirs(kind, options):
        names = {"layers": "num_layers", "projection": "proj_size"}
        given = {names.get(key, key): value for key, value in options.items()}
        if given.pop("no_bias", False):
            given["bias"] = False
        if given.pop("relu", False):
            given["nonlinearity"] = "relu"
        return flat(getattr(nn, kind)(5, 4, **given))

    for kind, table in kinds:
        for options in table:
            batch = 0 if options.get("batch_first") else 1
            x = [3, 7, 5] if options.get("batch_first") else [7, 3, 5]
            rows_of_state = options.get("layers", 1) * (2 if options.get("bidirectional") else 1)
            h = [rows_of_state, 3, options.get("projection", 4)]
            states = [h, [rows_of_state, 3, 4]] if kind == "LSTM" else [h]
            mine = (lambda k=kind.lower(), o=options:
                    capi.layer(k, capi.RnnSpec(input=5, hidden=4, **o)))
            n_outputs = 3 if kind == "LSTM" else 2
            # ONNX has no projections, as PyTorch's exporter has not.
            export = "may be refused" if "projection" in options else True
            yield Case(f"{kind}({options})", mine, lambda k=kind, o=options: theirs(k, o), x,
                       batch=batch, n_outputs=n_outputs, export=export)
            yield Case(f"{kind}({options}) with states", mine,
                       lambda k=kind, o=options: theirs(k, o), x, *states,
                       batch=(batch, 1, 1), n_outputs=n_outputs, export=export)


def flat(rnn):
    """A recurrent layer of torch with the states as further arguments and results."""
    from torch import nn

    class Flat(type(rnn)):
        def forward(self, x, *states):
            if not states:
                y, h = super().forward(x)
            else:
                y, h = super().forward(x, states if isinstance(self, nn.LSTM) else states[0])
            return (y, *h) if isinstance(h, tuple) else (y, h)

    rnn.__class__ = Flat
    return rnn


def simple_cases():
    import capi
    import numpy as np
    from torch import nn

    shape = [3, 4, 6]
    plain = {"relu": nn.ReLU, "relu_inplace": lambda: nn.ReLU(inplace=True), "relu6": nn.ReLU6,
             "selu": nn.SELU, "silu": nn.SiLU, "mish": nn.Mish, "tanh": nn.Tanh,
             "sigmoid": nn.Sigmoid, "hardswish": nn.Hardswish, "hardsigmoid": nn.Hardsigmoid,
             "identity": nn.Identity}
    for name, theirs in plain.items():
        yield Case(name, lambda n=name: capi.layer(n), theirs, shape)
    for name, args, theirs in [
            ("leaky_relu", (0.2,), lambda: nn.LeakyReLU(0.2)),
            ("prelu", (1, 0.25), nn.PReLU), ("prelu", (4, 0.1), lambda: nn.PReLU(4, 0.1)),
            ("elu", (0.7,), lambda: nn.ELU(0.7)), ("celu", (1.3,), lambda: nn.CELU(1.3)),
            ("gelu", (False,), nn.GELU), ("gelu", (True,), lambda: nn.GELU(approximate="tanh")),
            ("hardtanh", (-0.5, 0.8), lambda: nn.Hardtanh(-0.5, 0.8)),
            ("softplus", (2.0, 1.5), lambda: nn.Softplus(2, 1.5)),
            ("threshold", (0.1, 2.0), lambda: nn.Threshold(0.1, 2)),
            ("glu", (-1,), nn.GLU), ("glu", (1,), lambda: nn.GLU(1)),
            ("softmax", (1,), lambda: nn.Softmax(1)), ("softmax", (-1,), lambda: nn.Softmax(-1)),
            ("log_softmax", (0,), lambda: nn.LogSoftmax(0)),
            ("log_softmax", (2,), lambda: nn.LogSoftmax(2)),
            ("flatten", (1, -1), nn.Flatten), ("flatten", (0, 1), lambda: nn.Flatten(0, 1)),
            ("linear", (6, 5, True), lambda: nn.Linear(6, 5)),
            ("linear", (6, 5, False), lambda: nn.Linear(6, 5, bias=False))]:
        # Softmax over the batch would be another function of every batch.
        yield Case(f"{name}{args}", lambda n=name, a=args: capi.layer(n, *a), theirs, shape,
                   batch=1 if name == "log_softmax" and args == (0,) else 0)
    for p in (0.0, 0.4):
        for name, theirs in (("dropout", nn.Dropout), ("dropout2d", nn.Dropout2d)):
            yield Case(f"{name}({p})", lambda n=name, p=p: capi.layer(n, p), lambda t=theirs, p=p: t(p),
                       [3, 4, 6, 5], train=p == 0)
    yield Case("unflatten", lambda: capi.layer("unflatten", 2, 2, capi.sizes(2, 3)),
               lambda: nn.Unflatten(2, (2, 3)), shape)
    yield Case("bilinear", lambda: capi.layer("bilinear", 4, 3, 5, True),
               lambda: nn.Bilinear(4, 3, 5), [6, 4], [6, 3])
    yield Case("bilinear without bias", lambda: capi.layer("bilinear", 4, 3, 5, False),
               lambda: nn.Bilinear(4, 3, 5, bias=False), [2, 6, 4], [2, 6, 3])

    def indices(rng, batch):
        return [rng.integers(0, 10, size=(batch or 3, 5)).astype(np.int64)]
    yield Case("embedding", lambda: capi.layer("embedding", 10, 4), lambda: nn.Embedding(10, 4),
               inputs=indices)
    yield Case("embedding, padded",
               lambda: capi.Module(capi.lib().cq_embedding_new_padded(10, 4, 3)),
               lambda: nn.Embedding(10, 4, padding_idx=3), inputs=indices)
    for n in (1, 2, 3):
        pads = (1, 2, 3, 1, 2, 0)[:2 * n]
        given, big = capi.sizes(*pads), [2, 3, 5, 6, 7][:n + 2]
        yield Case(f"constant_pad{n}d", lambda g=given, n=n: capi.layer("constant_pad", 2 * n, g, 1.5),
                   lambda p=pads, n=n: getattr(nn, f"ConstantPad{n}d")(p, 1.5), big)
        yield Case(f"reflection_pad{n}d", lambda g=given, n=n: capi.layer("reflection_pad", 2 * n, g),
                   lambda p=pads, n=n: getattr(nn, f"ReflectionPad{n}d")(p), big)
        yield Case(f"replication_pad{n}d",
                   lambda g=given, n=n: capi.layer("replication_pad", 2 * n, g),
                   lambda p=pads, n=n: getattr(nn, f"ReplicationPad{n}d")(p), big)
    yield Case("zero_pad2d", lambda: capi.layer("zero_pad2d", capi.sizes(1, 2, 0, 3)),
               lambda: nn.ZeroPad2d((1, 2, 0, 3)), [2, 3, 5, 6])
    yield Case("pixel_shuffle", lambda: capi.layer("pixel_shuffle", 2),
               lambda: nn.PixelShuffle(2), [2, 8, 3, 5])
    yield from upsample_cases()


def upsample_cases():
    import ctypes

    import capi
    from torch import nn

    for n, mode, align in [(1, "nearest", None), (2, "nearest", None), (3, "nearest", None),
                           (1, "linear", False), (1, "linear", True), (2, "bilinear", False),
                           (2, "bilinear", True), (2, "bicubic", False), (2, "bicubic", True),
                           (3, "trilinear", False), (3, "trilinear", True)]:
        shape = [2, 3, 4, 5, 3][:n + 2]
        for size, scale in (((7, 6, 5)[:n], None), (None, (2.0, 3.0, 2.0)[:n])):
            scales = scale and (ctypes.c_double * n)(*scale)
            yield Case(f"upsample {mode} {size or scale} align={align}",
                       lambda n=n, s=size, f=scales, m=mode, a=align:
                           capi.layer("upsample", n, s and capi.sizes(*s), f, m, bool(a)),
                       lambda s=size, f=scale, m=mode, a=align:
                           nn.Upsample(s, f, mode=m, align_corners=a), shape,
                       export="may be refused")


def container_cases():
    import capi
    from torch import nn

    def mine():
        parts = [capi.layer("linear", 6, 5, True), capi.layer("relu_inplace"),
                 capi.layer("sequential"), capi.layer("linear", 4, 2, False)]
        inner = capi.layer("linear", 5, 4, True)
        capi.lib().cq_sequential_add(parts[2].handle, inner.handle)
        out = capi.layer("sequential")
        for part in parts:
            capi.lib().cq_sequential_add(out.handle, part.handle)
        for part in (inner, *parts):
            part.owned = False
        return out

    yield Case("sequential", mine, lambda: nn.Sequential(
        nn.Linear(6, 5), nn.ReLU(True), nn.Sequential(nn.Linear(5, 4)),
        nn.Linear(4, 2, bias=False)), [3, 6])


# ---- the tests ------------------------------------------------------------------------


def expect_same_state(mine, theirs):
    got = mine.state_shapes()
    expected = [(name, str(t.dtype)[6:], tuple(t.shape)) for name, t in theirs.state_dict().items()]
    assert got == expected, f"state is {got}, expected {expected}"
    buffers = {name for name, _ in theirs.named_buffers()}
    kinds = {name for name, _, is_buffer in mine.state() if is_buffer}
    assert kinds == buffers, f"buffers are {kinds}, expected {buffers}"


def expect_same_distribution(name, got, expected):
    """Two samples of the same size, sorted."""
    import numpy as np
    if np.ptp(expected) == 0:  # a constant
        assert np.array_equal(got, expected), f"{name} starts as {got[:3]}…, expected {expected[0]}"
        return
    both = np.concatenate([got, expected])
    apart = np.abs(np.searchsorted(got, both, "right") -
                   np.searchsorted(expected, both, "right")).max() / len(got)
    limit = KS_LIMIT * np.sqrt(2 / len(got))
    assert apart < limit, (f"{name} starts differently: distance {apart:.4f}, limit {limit:.4f}; "
                           f"from {got[0]:.4f} to {got[-1]:.4f}, expected {expected[0]:.4f} to "
                           f"{expected[-1]:.4f}")


def expect_same_start(case):
    import numpy as np
    largest = max((t.numel() for t in case.theirs().state_dict().values()), default=0)
    if not largest:
        return
    times = min(max(SAMPLES // largest, 1), 300)
    mine, theirs = {}, {}
    for _ in range(times):
        for name, array, _ in case.mine().state():
            mine.setdefault(name, []).append(array.ravel())
        for name, t in case.theirs().state_dict().items():
            theirs.setdefault(name, []).append(t.numpy().ravel())
    for name in theirs:
        expect_same_distribution(name, np.sort(np.concatenate(mine[name])),
                                 np.sort(np.concatenate(theirs[name])))


def results(module, inputs):
    import torch
    with torch.no_grad():
        out = module(*[torch.from_numpy(x.copy()) for x in inputs])
    return [t.numpy() for t in (out if isinstance(out, tuple) else [out])]


def expect_same_buffers(mine, theirs):
    import numpy as np
    expected = dict(theirs.named_buffers())
    for name, array, is_buffer in mine.state():
        if is_buffer:
            expect_close(array, np.asarray(expected[name].numpy()), RTOL, ATOL, name)


def expect_same_results(case, mine, theirs, rng):
    modes = (False, True) if case.train else (False,)
    for training in modes:
        mine.train(training)
        theirs.train(training)
        for _ in range(2):
            inputs = case.inputs(rng)
            got = mine.run(*inputs, n_outputs=case.n_outputs)
            expect_close(got, results(theirs, inputs), RTOL, ATOL,
                         "in training" if training else "result")
    expect_same_buffers(mine, theirs)


def expect_same_in_ort(case, mine, opset, rng):
    import capi
    mine.train(False)
    inputs = case.inputs(rng)
    axes = case.batch if isinstance(case.batch, tuple) else (case.batch,) * len(inputs)
    names = [f"x{i}" for i in range(len(inputs))]
    for dynamic in (False, True):
        options = {"dynamic_axes": [(n, a, "batch") for n, a in zip(names, axes)]} if dynamic else {}
        try:
            model = mine.export(inputs, opset=opset, input_names=names, **options)
        except capi.Error as error:
            if case.export == "may be refused" and REFUSED.search(error.message):
                raise peers.Skip(error.message.split("\n")[-1].strip())
            raise AssertionError(f"{error.message} {error.where}")
        with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
            file.write(model)
            file.flush()
            check_onnx(file.name)
        for batch in (None, 5) if dynamic else (None,):
            feeds = case.inputs(rng, batch)
            got = peers.run_ort(model, dict(zip(names, feeds)))
            expected = mine.run(*feeds, n_outputs=case.n_outputs)
            expect_close(got, expected, RTOL, ATOL, f"batch {batch}" if batch else "result")


def run_case(report, case):
    import capi
    import numpy as np
    import torch

    torch.manual_seed(1)
    capi.lib().cq_manual_seed(1)
    rng = np.random.default_rng(1)
    with report.case(f"{case.name}: state"):
        expect_same_state(case.mine(), case.theirs())
    with report.case(f"{case.name}: initial values"):
        expect_same_start(case)
    mine, theirs = case.mine(), case.theirs()
    with report.case(f"{case.name}: results"):
        with tempfile.TemporaryDirectory() as folder:
            mine.load_npy(capi.temporary_npy(folder, theirs.state_dict()))
        expect_same_results(case, mine, theirs, rng)
    for opset in OPSETS if case.export else ():
        with report.case(f"{case.name}: opset {opset}"):
            expect_same_in_ort(case, mine, opset, rng)


def test_dropout(report):
    """Random results: the share of zeros, the scale of the rest, and whole dropped channels."""
    import capi
    import numpy as np

    for name, p in (("dropout", 0.3), ("dropout2d", 0.3)):
        with report.case(f"{name} in training"):
            y, = capi.layer(name, p).run(np.ones((50, 40, 5, 5), np.float32))
            share = (y == 0).mean()
            assert abs(share - p) < 0.03, f"{share} of the elements are 0"
            expect_close(y[y != 0], np.full((y != 0).sum(), 1 / (1 - p), np.float32))
            whole = np.all(y.reshape(2000, 25) == y.reshape(2000, 25)[:, :1])
            assert whole == (name == "dropout2d"), "channels are dropped as a whole or not"


def test_modes(report):
    """Queries of modules."""
    import capi

    with report.case("new modules are in training mode, and the mode is that of the tree"):
        net, _ = capi.zoo("dcgan_generator")
        inner = net.child("main.1")
        assert capi.lib().cq_module_is_training(inner.handle)
        net.train(False)
        assert not capi.lib().cq_module_is_training(inner.handle)


def main():
    report = Report(__file__)
    if report.needs("torch", "onnx", "ort"):
        import torch
        torch.set_num_threads(1)
        families = (conv_cases, norm_cases, pool_cases, rnn_cases, simple_cases, container_cases)
        for family in families:
            for case in family():
                if not sys.argv[1:] or any(word in case.name for word in sys.argv[1:]):
                    run_case(report, case)
        test_dropout(report)
        test_modes(report)
    return report.finish()


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    sys.exit(main())
