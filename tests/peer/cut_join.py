#!/usr/bin/python3
"""calque cut and join against onnx.utils.extract_model, onnx.compose.merge_models and ONNX Runtime: the
parts compute what the whole model computes, also with external data, subgraphs and old IR versions."""
import pathlib
import re
import sys
import tempfile

import numpy as np

import peers

MODELS = ["resnet18", "densenet121", "dcgan_generator"]


def tool(*args):
    code, _, errors = peers.calque(*args)
    assert code == 0, f"exit code {code}: {errors}"
    return errors


def refused(*args):
    code, _, errors = peers.calque(*args)
    assert code == 1, f"exit code {code}: {errors}"
    return errors


def random_feeds(path):
    import numpy as np
    import onnx
    model = onnx.load(str(path), load_external_data=False)
    draw = np.random.default_rng(0)
    weights = {t.name for t in model.graph.initializer}
    feeds = {}
    for value in model.graph.input:
        if value.name in weights:
            continue
        shape = [d.dim_value or 2 for d in value.type.tensor_type.shape.dim]
        kind = onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[value.type.tensor_type.elem_type]
        numbers = draw.integers(0, 255, shape) if kind.kind in "ui" else draw.normal(0, 1, shape)
        feeds[value.name] = numbers.astype(kind)
    return feeds


def names(path, side):
    import onnx
    graph = onnx.load(str(path), load_external_data=False).graph
    weights = {t.name for t in graph.initializer}
    return [v.name for v in getattr(graph, side) if v.name not in weights]


def with_outputs(path, wanted, to):
    """The same model with other values as outputs."""
    import onnx
    model = onnx.load(str(path))
    del model.graph.output[:]
    model.graph.output.extend(onnx.ValueInfoProto(name=name) for name in wanted)
    onnx.save(model, str(to))


def check_part(whole, part, folder):
    """The part, run on values of the whole model, computes the values of the whole model."""
    peers.check_onnx(part)
    feeds = random_feeds(whole)
    inputs, outputs = names(part, "input"), names(part, "output")
    inner = [name for name in inputs if name not in feeds]
    with_outputs(whole, inner + outputs, folder / "all.onnx")
    values = dict(zip(inner + outputs, peers.run_ort(folder / "all.onnx", feeds)))
    got = peers.run_ort(part, {name: values.get(name, feeds.get(name)) for name in inputs})
    peers.expect_close(got, [values[name] for name in outputs], 1e-3, 1e-4)


def check_model(name, folder):
    import onnx
    import onnx.utils
    whole, part = folder / "whole.onnx", folder / "part.onnx"
    tool("export", name, "-o", whole)
    nodes = onnx.load(str(whole)).graph.node
    scopes = sorted({n.name.split("/")[1] for n in nodes if n.name.count("/") > 1})
    for scope in scopes[:: max(1, len(scopes) // 3)]:
        tool("cut", whole, "--module", scope, "-o", part)
        check_part(whole, part, folder)
        inside = [n for n in onnx.load(str(part)).graph.node]
        assert all(n.name.startswith(f"/{scope}/") for n in inside), "a node of another module"
    middle = [n for n in nodes if n.op_type == "Relu"] or list(nodes)
    at = middle[len(middle) // 2].output[0]
    tool("cut", whole, "--outputs", at, "-o", folder / "a.onnx")
    check_part(whole, folder / "a.onnx", folder)
    onnx.utils.extract_model(str(whole), str(folder / "peer.onnx"), names(whole, "input"), [at])
    n_peer = len(onnx.load(str(folder / "peer.onnx")).graph.node)
    assert len(onnx.load(str(folder / "a.onnx")).graph.node) == n_peer


def check_chain(folder):
    """Joining two halves of a network gives the network, as with onnx.compose."""
    import onnx
    import onnx.compose
    tool("export", "resnet18", "-o", folder / "whole.onnx")
    relu = [n.output[0] for n in onnx.load(str(folder / "whole.onnx")).graph.node if n.op_type == "Relu"]
    at = relu[-1]
    tool("cut", folder / "whole.onnx", "--outputs", at, "-o", folder / "a.onnx")
    tool("cut", folder / "whole.onnx", "--inputs", at, "-o", folder / "b.onnx")
    tool("join", folder / "a.onnx", folder / "b.onnx", "-o", folder / "ab.onnx")
    peers.check_onnx(folder / "ab.onnx")
    merged = onnx.compose.merge_models(onnx.load(str(folder / "a.onnx")),
                                       onnx.load(str(folder / "b.onnx")), [(at, at)], prefix1="a/",
                                       prefix2="b/")
    feeds = random_feeds(folder / "whole.onnx")
    expected = peers.run_ort(folder / "whole.onnx", feeds)
    peers.expect_close(peers.run_ort(folder / "ab.onnx", feeds), expected, 1e-4, 1e-4)
    assert len(merged.graph.node) == len(onnx.load(str(folder / "ab.onnx")).graph.node)


def check_steps(folder):
    """Pre- and post-processing against numpy."""
    import numpy as np
    tool("export", "resnet18", "-o", folder / "net.onnx")
    tool("join", folder / "net.onnx", "--before",
         "image:mean=0.485,0.456,0.406:std=0.229,0.224,0.225:layout=NHWC",
         "--after", "softmax", "--after", "topk:5", "-o", folder / "app.onnx")
    peers.check_onnx(folder / "app.onnx")
    feeds = random_feeds(folder / "app.onnx")
    image = feeds["input"]
    assert image.dtype == np.uint8 and image.shape == (1, 224, 224, 3), image.shape
    x = (image.transpose(0, 3, 1, 2).astype(np.float32) / 255
         - np.float32([0.485, 0.456, 0.406]).reshape(1, 3, 1, 1)) \
        / np.float32([0.229, 0.224, 0.225]).reshape(1, 3, 1, 1)
    logits, = peers.run_ort(folder / "net.onnx", {"input": x})
    p = np.exp(logits - logits.max(1, keepdims=True))
    p /= p.sum(1, keepdims=True)
    order = np.argsort(-p, 1, kind="stable")[:, :5]
    values, indices = peers.run_ort(folder / "app.onnx", feeds)
    peers.expect_close(values, np.take_along_axis(p, order, 1), 1e-3, 1e-6)
    peers.expect_close(indices, order.astype(np.int64))


def boxes_and_scores(folder):
    import numpy as np
    from onnx import TensorProto, helper, save
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        [helper.make_node("Identity", ["a"], ["boxes"]), helper.make_node("Identity", ["b"], ["scores"])],
        "g", [value("a", TensorProto.FLOAT, [2, 40, 4]), value("b", TensorProto.FLOAT, [2, 3, 40])],
        [value("boxes", TensorProto.FLOAT, [2, 40, 4]), value("scores", TensorProto.FLOAT, [2, 3, 40])])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=7),
         str(folder / "det.onnx"))
    draw = np.random.default_rng(3)
    corner, size = draw.random((2, 40, 2)), draw.random((2, 40, 2)) * 0.4
    return np.concatenate([corner, corner + size], 2).astype(np.float32), \
        draw.random((2, 3, 40)).astype(np.float32)


def suppress(boxes, scores, iou, least, most):
    """Greedy suppression by class, in plain Python."""
    kept = []
    for image in range(len(boxes)):
        for kind in range(scores.shape[1]):
            chosen = []
            for i in sorted(range(boxes.shape[1]), key=lambda i: -scores[image, kind, i]):
                if scores[image, kind, i] <= least or len(chosen) == most:
                    break
                if all(overlap(boxes[image, i], boxes[image, j]) <= iou for j in chosen):
                    chosen.append(i)
            kept += [(image, kind, i) for i in chosen]
    return kept


def overlap(a, b):
    w = min(a[2], b[2]) - max(a[0], b[0])
    h = min(a[3], b[3]) - max(a[1], b[1])
    inside = max(w, 0) * max(h, 0)
    return inside / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - inside)


def check_nms(folder):
    boxes, scores = boxes_and_scores(folder)
    tool("join", folder / "det.onnx", "--after", "nms:iou=0.3:score=0.4:max=7", "-o", folder / "nms.onnx")
    peers.check_onnx(folder / "nms.onnx")
    got = peers.run_ort(folder / "nms.onnx", {"a": boxes, "b": scores})
    found = {(int(i), int(c), round(float(s), 5), tuple(b.round(5).tolist()))
             for b, s, c, i in zip(*got)}
    expected = {(i, c, round(float(scores[i, c, k]), 5), tuple(boxes[i, k].round(5).tolist()))
                for i, c, k in suppress(boxes, scores, 0.3, 0.4, 7)}
    assert len(found) > 20 and found == expected, f"{len(found)} boxes, expected {len(expected)}"


def check_external(folder):
    """Weights in files of two folders; the joined model has them in one."""
    import onnx
    (folder / "one").mkdir()
    (folder / "two").mkdir()
    tool("export", "resnet18", "-o", folder / "one/net.onnx", "--external-data")
    relu = [n.output[0] for n in onnx.load(str(folder / "one/net.onnx")).graph.node if n.op_type == "Relu"]
    tool("cut", folder / "one/net.onnx", "--outputs", relu[8], "-o", folder / "one/by_reference.onnx")
    assert not list((folder / "one").glob("by_reference.onnx.data*"))
    tool("cut", folder / "one/net.onnx", "--outputs", relu[8], "--copy-data", "-o", folder / "one/a.onnx")
    tool("cut", folder / "one/net.onnx", "--inputs", relu[8], "-o", folder / "two/b.onnx")
    assert (folder / "one/a.onnx.data").exists() and (folder / "two/b.onnx.data").exists()
    tool("join", folder / "one/a.onnx", folder / "two/b.onnx", "-o", folder / "ab.onnx")
    tool("join", folder / "one/by_reference.onnx", folder / "two/b.onnx", "-o", folder / "one/half.onnx")
    sizes = [(folder / name).stat().st_size for name in ("one/half.onnx.data", "two/b.onnx.data")]
    assert abs(sizes[0] - sizes[1]) < 4096, f"{sizes}: the data of the other folder alone is copied"
    assert (folder / "ab.onnx").stat().st_size < 100_000
    feeds = random_feeds(folder / "one/net.onnx")
    want = peers.run_ort(folder / "one/net.onnx", feeds)
    for joined in ("ab.onnx", "one/half.onnx"):
        peers.expect_close(peers.run_ort(folder / joined, feeds), want, 1e-4, 1e-4)
    why = refused("join", folder / "one/a.onnx", folder / "two/b.onnx", "-o", folder / "one/a.onnx.data")
    assert (folder / "one/a.onnx.data").stat().st_size > 1_000_000, why


def check_opsets(folder):
    """The model with the older opset is converted to that of the other, whichever comes first."""
    import onnx
    text = '<ir_version: 8, opset_import: ["": %d]> g (float[2, 3] %s) => (float[n, m] %s) { %s }'
    old = text % (11, "x", "y", "t = ReduceSum<axes = [1], keepdims = 1>(x) y = Softmax<axis = 1>(x)")
    new = text % (18, "a", "b", "s = Constant<value = int64[1] {1}>() t = ReduceMax(a, s) b = Sub(a, t)")
    for name, body in (("old", old), ("new", new)):
        (folder / f"{name}.txt").write_text(body)
        tool("print", "--parse", folder / f"{name}.txt", "-o", folder / f"{name}.onnx")
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    soft = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    for first, second, wanted in (("old", "new", soft - soft.max(1, keepdims=True)),
                                  ("new", "old", None)):
        tool("join", folder / f"{first}.onnx", folder / f"{second}.onnx", "-o", folder / "j.onnx")
        model = onnx.load(str(folder / "j.onnx"))
        assert [o.version for o in model.opset_import] == [18], model.opset_import
        if wanted is None:
            wanted = np.exp(x - x.max(1, keepdims=True))
            wanted = wanted / wanted.sum(1, keepdims=True)
        got = peers.run_ort(folder / "j.onnx", {model.graph.input[0].name: x})
        peers.expect_close(np.asarray(got[0]), wanted, 1e-4, 1e-5)


def check_messages(folder):
    tool("export", "resnet18", "-o", folder / "net.onnx")
    why = refused("cut", folder / "net.onnx", "--module", "layer9", "-o", folder / "x.onnx")
    assert re.search("outermost scopes are .*layer3", why), why
    assert not (folder / "x.onnx").exists()
    code, _, why = peers.calque("join", folder / "net.onnx", "-o", folder / "x.onnx")
    assert code == 2, why


CASES = {"halves": check_chain, "steps": check_steps, "nms": check_nms, "external data": check_external,
         "opsets": check_opsets, "messages": check_messages}


def main():
    report = peers.Report(__file__)
    if report.needs("onnx", "ort"):
        for name in MODELS:
            with report.case(name), tempfile.TemporaryDirectory() as folder:
                check_model(name, pathlib.Path(folder))
        for name, check in CASES.items():
            with report.case(name), tempfile.TemporaryDirectory() as folder:
                check(pathlib.Path(folder))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
