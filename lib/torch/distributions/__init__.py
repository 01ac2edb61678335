"""torch.distributions: densities, entropies and divergences; samples use random operators."""
from torch.distributions.composed import (
    Independent,
    LogNormal,
    MixtureSameFamily,
    TransformedDistribution,
)
from torch.distributions.continuous import (
    Beta,
    Dirichlet,
    Exponential,
    Gamma,
    Laplace,
    MultivariateNormal,
    Normal,
    Uniform,
)
from torch.distributions.discrete import (
    Bernoulli,
    Categorical,
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
    Poisson,
)
from torch.distributions.distribution import Distribution
from torch.distributions.kl import kl_divergence
from torch.distributions.transforms import (
    AffineTransform,
    ComposeTransform,
    ExpTransform,
    SigmoidTransform,
    TanhTransform,
    Transform,
)
