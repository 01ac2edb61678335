"""numpy.random: seeds are accepted, and drawing is refused: numpy's draws are not implemented."""


def seed(seed=None):
    return None


def _refuse(name):
    raise NotImplementedError(f"numpy.random.{name} is not implemented; use torch's generator")


def rand(*shape):
    _refuse("rand")


def randn(*shape):
    _refuse("randn")


def randint(low, high=None, size=None, dtype=None):
    _refuse("randint")


def uniform(low=0.0, high=1.0, size=None):
    _refuse("uniform")


def normal(loc=0.0, scale=1.0, size=None):
    _refuse("normal")


def choice(a, size=None, replace=True, p=None):
    _refuse("choice")


def permutation(x):
    _refuse("permutation")


def default_rng(seed=None):
    _refuse("default_rng")
