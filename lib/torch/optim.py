"""torch.optim: a model may construct its optimizer, but models are exported, not trained."""


class Optimizer:
    def __init__(self, params, lr=None, *args, **kwargs):
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        self.defaults = dict(kwargs, lr=lr)
        self.param_groups = [{**self.defaults, **group} for group in groups]
        self.state = {}

    def add_param_group(self, param_group):
        self.param_groups.append({**self.defaults, **param_group})

    def zero_grad(self, set_to_none=True):
        return None

    def step(self, closure=None):
        raise NotImplementedError(f"torch.optim.{type(self).__name__}.step is not implemented: "
                                  "calque exports models and does not train them")


class SGD(Optimizer):
    pass


class Adam(Optimizer):
    pass


class AdamW(Optimizer):
    pass


class Adamax(Optimizer):
    pass


class Adadelta(Optimizer):
    pass


class NAdam(Optimizer):
    pass


class RAdam(Optimizer):
    pass


class RMSprop(Optimizer):
    pass


class Rprop(Optimizer):
    pass


class LBFGS(Optimizer):
    pass


class Adagrad(Optimizer):
    pass
