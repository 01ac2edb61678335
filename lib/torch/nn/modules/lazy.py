"""Lazy modules: the first input determines the sizes of their parameters."""
from ..parameter import UninitializedTensor


class LazyModuleMixin:
    """The class of the layer follows in the list of bases; `cls_to_become` is that class."""

    cls_to_become = None

    def has_uninitialized_params(self):
        for tensor in list(self._parameters.values()) + list(self._buffers.values()):
            if isinstance(tensor, UninitializedTensor):
                return True
        return False

    def initialize_parameters(self, *args, **kwargs):
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}")

    def _get_name(self):
        if self.cls_to_become is not None and not self.has_uninitialized_params():
            return self.cls_to_become.__name__
        return type(self).__name__

    def __call__(self, *args, **kwargs):
        if self.has_uninitialized_params():
            self.initialize_parameters(*args, **kwargs)
        return super().__call__(*args, **kwargs)
