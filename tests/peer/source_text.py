#!/usr/bin/python3
"""TorchScript as people write it: functions of torch.nn.functional and of torch that PyTorch has in
Python, casts by methods, and arguments by name. Each line is a function of x that PyTorch scripts; the
source is run by calque, exported, and run by ONNX Runtime.

    source_text.py [WORD …]     the lines that contain a word
"""
import pathlib
import sys
import tempfile
import warnings

import numpy

import peers
from peers import Report, calque

X = numpy.array([[0.3, -0.7, 1.2], [0.9, 0.1, -0.4]], numpy.float32)

HEAD = """import math
import warnings
import torch
import torch.nn.functional as F
from torch import Tensor


def f(x: Tensor):
"""

FUNCTIONAL = """
adaptive_avg_pool1d(x[None], 2)
adaptive_avg_pool2d(x[None, None], [1, 1])
adaptive_max_pool1d(x[None], 2)
adaptive_max_pool1d(x[None], 2, return_indices=True)
adaptive_max_pool2d(x[None, None], [1, 2])
affine_grid(torch.ones(1, 2, 3), [1, 1, 2, 2], align_corners=False)
affine_grid(torch.ones(1, 2, 3), [1, 1, 2, 2])
alpha_dropout(x, 0.5, False)
alpha_dropout(x, training=False)
avg_pool1d(x[None], 2)
avg_pool2d(x[None, None], 2)
avg_pool2d(x[None, None], kernel_size=2, stride=1, count_include_pad=False, padding=1)
batch_norm(x, torch.zeros(3), torch.ones(3))
batch_norm(x, torch.zeros(3), torch.ones(3), torch.ones(3), torch.zeros(3), training=False, eps=1e-3)
bilinear(x, x, torch.ones(2, 3, 3))
binary_cross_entropy(torch.sigmoid(x), torch.sigmoid(x))
binary_cross_entropy_with_logits(x, torch.sigmoid(x))
binary_cross_entropy_with_logits(x, torch.sigmoid(x), pos_weight=torch.ones(3), reduction='sum')
celu(x)
celu(x, 0.5)
channel_shuffle(x[None, None].expand(1, 4, 2, 3), 2)
conv1d(x[None], torch.ones(4, 2, 2))
conv1d(input=x[None], weight=torch.ones(4, 2, 2), stride=1)
conv2d(x[None, None], torch.ones(4, 1, 2, 2), padding=1)
conv2d(x[None, None], torch.ones(4, 1, 2, 2), padding='same')
conv2d(x[None, None], torch.ones(4, 1, 2, 2), None, 1, 1)
conv_transpose1d(x[None], torch.ones(2, 4, 2))
cosine_embedding_loss(x, x, torch.ones(2))
cosine_embedding_loss(x, x*2, torch.ones(2), margin=0.1)
cosine_similarity(x, x*2+1)
cosine_similarity(x, x*2+1, dim=0, eps=1e-6)
cross_entropy(x, torch.tensor([0, 1]))
cross_entropy(x, torch.tensor([0, 1]), label_smoothing=0.1)
cross_entropy(x, torch.tensor([0, 1]), reduction='none')
dropout(x, training=False)
dropout(x, 0.5, False)
dropout(x, p=0.2, training=False, inplace=False)
dropout2d(x[None], training=False)
elu(x)
elu(x, alpha=0.5, inplace=False)
embedding(torch.tensor([0, 1]), x)
embedding(torch.tensor([0, 1]), x, padding_idx=0)
embedding_bag(torch.tensor([[0, 1]]), x)
embedding_bag(torch.tensor([0, 1, 1]), x, torch.tensor([0, 2]), mode='sum')
embedding_bag(torch.tensor([[0, 1]]), x, mode='max')
fold(torch.ones(1, 4, 2), [2, 3], [2, 2])
fold(torch.ones(1, 4, 6), output_size=[3, 4], kernel_size=2)
gaussian_nll_loss(x, x, torch.ones(2, 3))
gaussian_nll_loss(x, x*2, torch.ones(2), full=True)
gelu(x)
gelu(x, approximate='tanh')
glu(x[:, :2])
glu(torch.cat([x, x], 1), dim=1)
grid_sample(x[None, None], torch.zeros(1, 2, 2, 2), align_corners=False)
grid_sample(x[None, None], torch.zeros(1, 2, 2, 2)+0.3, mode='nearest', padding_mode='border')
group_norm(x[None], 1)
group_norm(x[None], num_groups=2)
hardshrink(x)
hardsigmoid(x)
hardswish(x)
hardtanh(x)
hardtanh(x, -0.5, 0.5)
hardtanh(x.clone(), min_val=-0.5, max_val=0.5, inplace=True)
hinge_embedding_loss(x, torch.ones(2, 3))
hinge_embedding_loss(x, torch.ones(2, 3), margin=0.5, reduction='sum')
huber_loss(x, x*2)
huber_loss(x, x*2, reduction='sum', delta=0.5)
instance_norm(x[None])
instance_norm(x[None], eps=1e-3)
interpolate(x[None], scale_factor=2.)
interpolate(x[None], size=5)
interpolate(x[None, None], size=[4, 6], mode='bilinear', align_corners=False)
interpolate(x[None, None], scale_factor=[2.0, 1.5], mode='bilinear')
interpolate(x[None, None], scale_factor=2.0, mode='bicubic', align_corners=True)
interpolate(x[None, None], size=[4, 5], mode='nearest-exact')
interpolate(x[None, None], size=[4, 5], mode='area')
kl_div(x, torch.sigmoid(x))
kl_div(x, torch.sigmoid(x), reduction='batchmean')
kl_div(x, x, reduction='sum', log_target=True)
l1_loss(x, x*2)
l1_loss(x, x*2, size_average=False)
l1_loss(x, x*2, reduce=False)
layer_norm(x, [3])
layer_norm(x, normalized_shape=[3], weight=torch.ones(3), bias=torch.zeros(3), eps=1e-3)
leaky_relu(x)
leaky_relu(x, 0.2)
leaky_relu(x.clone(), negative_slope=0.2, inplace=True)
linear(x, torch.ones(4, 3), torch.ones(4))
linear(x, weight=torch.ones(4, 3))
local_response_norm(x[None], 2)
local_response_norm(x[None], 3, alpha=0.1)
local_response_norm(x[None, :, :, None], 2, alpha=0.1, beta=0.5, k=2.0)
log_softmax(x, dim=1)
log_softmax(x, -1)
logsigmoid(x)
lp_pool1d(x[None], 2., 2)
lp_pool2d(x[None, None], 2.0, 2, stride=1)
margin_ranking_loss(x, x, torch.ones(2, 3))
margin_ranking_loss(x, x*2, torch.ones(2, 3), reduction='sum')
max_pool1d(x[None], 2)
max_pool1d(x[None], kernel_size=2, stride=1)
max_pool2d(x[None, None], 2)
max_pool2d(x[None, None], [2, 2], [1, 1])
max_pool2d(x[None, None], kernel_size=2, stride=1, padding=1)
max_pool2d(x[None, None], 2, stride=None)
max_pool2d(x[None, None], 2, return_indices=True)
mish(x)
mse_loss(x, x*2)
mse_loss(x, x*2, reduction='sum')
mse_loss(x, x*2, reduction='none')
multi_margin_loss(x, torch.tensor([0, 1]))
multilabel_margin_loss(x, torch.tensor([[0, 1, -1], [2, -1, -1]]))
multilabel_soft_margin_loss(x, (x>0).float())
nll_loss(x, torch.tensor([0, 1]))
nll_loss(x, torch.tensor([0, 1]), reduction='sum')
nll_loss(x, torch.tensor([0, 1]), weight=torch.ones(3), ignore_index=1)
normalize(x)
normalize(x, dim=0)
normalize(x, p=1.0, dim=-1)
one_hot(x.long().abs()%3)
one_hot(torch.tensor([0, 2]), num_classes=4)
pad(x, [1, 1])
pad(x, (1, 1), value=2.0)
pad(x[None], [1, 1], mode='reflect')
pad(x, pad=[1, 2], mode='constant', value=1.5)
pad(x[None], [1, 1], 'replicate')
pairwise_distance(x, x*2)
pairwise_distance(x, x*2, p=1.0, keepdim=True)
pdist(x)
pixel_shuffle(x[None, None].expand(1, 4, 2, 3), 2)
pixel_unshuffle(x[None, None, :, :2], 2)
poisson_nll_loss(x, x)
poisson_nll_loss(x, x, log_input=True, full=False)
prelu(x, torch.ones(1)*0.2)
relu(x)
relu(x.clone(), inplace=True)
relu6(x)
relu6(x, inplace=False)
selu(x)
sigmoid(x)
silu(x)
silu(x.clone(), inplace=True)
smooth_l1_loss(x, x*2)
smooth_l1_loss(x, x*2, reduction='sum', beta=0.5)
soft_margin_loss(x, torch.ones(2, 3))
softmax(x, dim=1)
softmax(x)
softmax(x, 1, dtype=torch.float64)
softmin(x, dim=1)
softmin(x)
softplus(x)
softplus(x, beta=2, threshold=10)
softshrink(x)
softsign(x)
tanh(x)
tanhshrink(x)
threshold(x, 0.1, 0.2)
threshold(x.clone(), threshold=0.1, value=0.2, inplace=True)
triplet_margin_loss(x, x+1, x+2)
triplet_margin_loss(x, x+1, x*2, margin=0.5, reduction='sum')
unfold(x[None, None], [2, 2])
unfold(x[None, None], 2, padding=1)
unfold(x[None, None], kernel_size=[2, 2], stride=[1, 1])
upsample(x[None], scale_factor=2.)
upsample(x[None, None], size=[4, 4], mode='bilinear', align_corners=True)
"""

EXPRESSIONS = """
x.float() + x.long() + x.int() + x.short() + x.char() + x.double()
(x > 0).byte() + x.half() * 0
x.type(torch.int64)
x.cfloat().real + x.cdouble().imag
x * (1 if x.is_cpu else 2)
x // 2 + 7 // 2
torch.einsum('ij,kj->ik', x, x)
torch.einsum('ij,kj,kl->il', [x, x, x])
torch.meshgrid(torch.arange(2), torch.arange(3))[0]
torch.meshgrid([torch.arange(2), torch.arange(3)], indexing='ij')[1]
torch.broadcast_tensors(x, x[0])[1]
torch.block_diag(x, x)
torch.cartesian_prod(torch.arange(2), torch.arange(2))
torch.tensordot(x, x.t(), dims=1)
torch.tensordot(x, x, dims=2)
torch.norm(x, p=2, dim=1) + torch.norm(x)
torch.norm(x, p='fro', dim=[0, 1])
torch.norm(x, 1, 0, keepdim=True)
torch.unique((x * 2).round())
torch.unique((x * 2).round(), return_inverse=True)[1]
torch.unique(x > 0, dim=1)
torch.unique_consecutive(x > 0)
torch.stft(x.reshape(-1), 4, hop_length=2, window=torch.ones(4), return_complex=False)
torch.stft(x, 2, hop_length=1, center=False, return_complex=False)
"""


def lines_of(text):
    return [line for line in text.splitlines() if line]


def flat(results):
    import torch
    if isinstance(results, torch.Tensor):
        return [results.numpy()]
    return [array for item in results for array in flat(item)]


def scripted(path):
    """What PyTorch makes of the source."""
    import importlib.util
    import torch
    spec = importlib.util.spec_from_file_location("source", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return flat(torch.jit.script(module.f)(torch.tensor(X)))


def check(folder, expression):
    source, model, out = folder / "source.py", folder / "model.onnx", folder / "out"
    source.write_text(f"{HEAD}    return {expression}\n")
    numpy.save(folder / "x.npy", X)
    expected = scripted(source)
    code, _, error = calque("run", source, "--input", folder / "x.npy", "-o", out)
    assert code == 0, " ".join(error.split())
    got = [peers.load_pb(out / f"output_{i}.pb") for i in range(len(list(out.iterdir())))]
    peers.expect_close(got, expected, rtol=1e-4, atol=1e-6, name="run")
    code, _, error = calque("export", source, "--input", folder / "x.npy", "-o", model)
    assert code == 0, " ".join(error.split())
    peers.expect_close(peers.run_ort(model, {"x": X}), expected, rtol=1e-4, atol=1e-6, name="export")


def main():
    warnings.filterwarnings("ignore")
    report = Report(__file__)
    if not report.needs("torch", "ort"):
        return report.finish()
    lines = [f"F.{line}" for line in lines_of(FUNCTIONAL)] + lines_of(EXPRESSIONS)
    words = sys.argv[1:]
    for line in lines:
        if not words or any(word in line for word in words):
            with report.case(line), tempfile.TemporaryDirectory() as folder:
                check(pathlib.Path(folder), line)
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
