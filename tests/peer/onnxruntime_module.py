"""A module `onnxruntime` for tests of other projects, implemented on the C library, because Debian
12 lacks the package."""
import sys
import types


class Argument:
    def __init__(self, value):
        kind = value.type.tensor_type
        self.name, self.type = value.name, str(kind.elem_type)
        self.shape = [size.dim_value if size.HasField("dim_value") else size.dim_param
                      for size in kind.shape.dim]


class InferenceSession:
    """onnxruntime's, on the library itself."""

    def __init__(self, model, options=None, providers=None, sess_options=None):
        import onnx
        import ort
        loaded = onnx.load(model) if isinstance(model, str) else onnx.load_model_from_string(model)
        weights = {weight.name for weight in loaded.graph.initializer}
        self._inputs = [Argument(value) for value in loaded.graph.input if value.name not in weights]
        self._outputs = [Argument(value) for value in loaded.graph.output]
        self._session = ort.Session(model)

    def get_inputs(self):
        return self._inputs

    def get_outputs(self):
        return self._outputs

    def run(self, names, feeds):
        import numpy
        if len(feeds) < len(self._inputs):  # as in onnxruntime
            raise ValueError(f"Model requires {len(self._inputs)} inputs. Input Feed contains {len(feeds)}")
        arrays = {name: [numpy.asarray(item) for item in value]
                  if isinstance(value, (list, tuple)) else numpy.asarray(value)
                  for name, value in feeds.items()}
        return list(self._session.run(arrays, names) if names else self._session.run(arrays))


def add():
    """From now on `import onnxruntime` gives it."""
    runtime = types.ModuleType("onnxruntime")
    runtime.SessionOptions = type("SessionOptions", (), {})
    runtime.InferenceSession, runtime.set_seed = InferenceSession, lambda seed: None
    runtime.get_device = lambda: "CPU"
    sys.modules["onnxruntime"] = runtime
