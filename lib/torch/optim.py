"""torch.optim: models are exported, not trained."""


class Optimizer:
    def __init__(self, *args, **kwargs):
        raise NotImplementedError(f"torch.optim.{type(self).__name__} is not implemented: "
                                  "calque exports models and does not train them")


class SGD(Optimizer):
    pass


class Adam(Optimizer):
    pass


class AdamW(Optimizer):
    pass


class RMSprop(Optimizer):
    pass


class Adagrad(Optimizer):
    pass
