#!/usr/bin/python3
"""torch.distributions from model source: densities, moments, entropies, quantiles, divergences and
transformed values, exported by calque, run in ONNX Runtime and compared with PyTorch. Samples are
compared by shape, and by properties that PyTorch guarantees.
"""
import sys

import numpy as np
import peers
import torch

import source_layers

SOURCE = """import torch
from torch import distributions as D
from torch.distributions.normal import Normal


class Net(torch.nn.Module):
    def forward(self, a, b, v):
        s = b.abs() + 0.5
        p = torch.sigmoid(a)
        d = {distribution}
        return {results}
"""

MOMENTS = "d.mean, d.variance, d.stddev"
CASES = [
    ("Normal", "Normal(a, s)", f"{MOMENTS}, d.log_prob(v), d.cdf(v), d.icdf(p), d.entropy(), d.mode"),
    ("Normal of a number", "Normal(a, 1)", "d.log_prob(v), d.entropy()"),
    ("Laplace", "D.Laplace(a, s)", f"{MOMENTS}, d.log_prob(v), d.cdf(v), d.icdf(p), d.entropy()"),
    ("Uniform", "D.Uniform(a, a + s)", f"{MOMENTS}, d.log_prob(a + s * p), d.cdf(a + s * p), d.icdf(p), d.entropy()"),
    ("Exponential", "D.Exponential(s)", f"{MOMENTS}, d.log_prob(v.abs()), d.cdf(v.abs()), d.entropy()"),
    ("LogNormal", "D.LogNormal(a, s)", "d.mean, d.variance, d.log_prob(v.exp()), d.entropy()"),
    ("Beta", "D.Beta(s, s + 1)", "d.mean, d.variance, d.log_prob(p)"),
    ("Gamma", "D.Gamma(s, s + 1)", "d.mean, d.variance, d.log_prob(v.abs())"),
    ("Dirichlet", "D.Dirichlet(s)", "d.mean, d.variance, d.log_prob(torch.softmax(v, -1))"),
    ("MultivariateNormal of a factor", "D.MultivariateNormal(a, scale_tril=torch.diag_embed(s))",
     "d.mean, d.variance, d.log_prob(v), d.entropy()"),
    ("Categorical of logits", "D.Categorical(logits=a)",
     "d.probs, d.log_prob(b.argmax(-1)), d.entropy(), d.mode, d.enumerate_support()"),
    ("Categorical of probabilities", "D.Categorical(s)", "d.logits, d.log_prob(b.argmax(-1)), d.entropy(), d.perplexity()"),
    ("OneHotCategorical", "D.OneHotCategorical(logits=a)", "d.mean, d.mode, d.variance, d.log_prob(d.mode), d.entropy()"),
    ("Bernoulli of logits", "D.Bernoulli(logits=a)", "d.mean, d.mode, d.variance, d.log_prob((v > 0).float()), d.entropy()"),
    ("Bernoulli of probabilities", "D.Bernoulli(p)", "d.logits, d.log_prob((v > 0).float()), d.entropy()"),
    ("Independent", "D.Independent(Normal(a, s), 1)", "d.mean, d.log_prob(v), d.entropy()"),
    ("tanh of a normal", "D.TransformedDistribution(Normal(a, s), [D.TanhTransform(cache_size=1)])", "d.log_prob(torch.tanh(v))"),
    ("affine and sigmoid", "D.TransformedDistribution(Normal(a, s), [D.AffineTransform(1.0, 2.0), D.SigmoidTransform()])",
     "d.log_prob(p * 0.9 + 0.05)"),
    ("a sum over an event", "D.Independent(D.TransformedDistribution(Normal(a, s), D.TanhTransform()), 1)",
     "d.log_prob(torch.tanh(v))"),
    ("MixtureSameFamily", "D.MixtureSameFamily(D.Categorical(logits=a), Normal(b, s))", "d.mean, d.variance, d.log_prob(v[:, 0])"),
    ("divergences", "Normal(a, s)",
     "D.kl_divergence(d, Normal(v, 2.0)), D.kl_divergence(D.Categorical(logits=a), D.Categorical(logits=v)), "
     "D.kl_divergence(D.Bernoulli(logits=a), D.Bernoulli(logits=v)), D.kl_divergence(D.Laplace(a, s), D.Laplace(v, 1.0)), "
     "D.kl_divergence(D.Independent(d, 1), D.Independent(Normal(v, s), 1)), "
     "D.kl_divergence(D.MultivariateNormal(a, scale_tril=torch.diag_embed(s)), D.MultivariateNormal(v, torch.diag_embed(s * s)))"),
    ("shapes of samples", "Normal(a, s)",
     "d.sample() * 0, d.rsample((2,)) * 0, D.Categorical(logits=a).sample().float() * 0, "
     "D.Categorical(logits=a).sample((5,)).float() * 0, D.OneHotCategoricalStraightThrough(logits=a).rsample().sum(-1), "
     "D.Bernoulli(p).sample() * 0, D.Uniform(a, a + s).sample() * 0, D.Laplace(a, s).rsample() * 0, "
     "(D.Uniform(a, a + s).sample() >= a), D.Independent(d, 1).sample() * 0"),
]


def check(name, folder):
    _, distribution, results = next(case for case in CASES if case[0] == name)
    path = folder / "model.py"
    path.write_text(SOURCE.format(distribution=distribution, results=f"({results},)"))
    space = {}
    exec(path.read_text(), space)
    torch.manual_seed(3)
    inputs = [torch.randn(4, 3) for _ in "abv"]
    with torch.no_grad():
        want = source_layers.flat(space["Net"]()(*inputs))
    code, _, error = peers.calque("export", path, "-o", folder / "m.onnx", "--opset", "17", *["--input", "batchx3"] * 3)
    assert code == 0, error
    import onnx
    names = [i.name for i in onnx.load(str(folder / "m.onnx")).graph.input]
    feeds = {n: t.numpy() for n, t in zip("abv", inputs) if n in names}
    got = peers.run_ort(str(folder / "m.onnx"), feeds)
    assert len(got) == len(want), f"{len(got)} results, expected {len(want)}"
    for index, (g, w) in enumerate(zip(got, want)):
        assert g.shape == w.shape, f"result {index}: shape {g.shape}, expected {w.shape}"
    peers.expect_close(list(got), want, rtol=2e-4, atol=2e-5)


if __name__ == "__main__":
    sys.exit(peers.run_cases(__file__, [case[0] for case in CASES], check))
