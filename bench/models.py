"""Models of the benchmark that are neither in calque's zoo nor in torchvision: small networks of
PyTorch with random weights, and quantized ones. Each is a function that writes an ONNX file; ViT,
whose attention torch.onnx.export does not take, and quantized ones go through calque from
TorchScript, the others through torch.onnx.export."""
import math
import tempfile

import torch
import torchvision
from torch import nn

import peers

OPSET = 17


def through_torch(net, inputs, path, names):
    with torch.no_grad():
        torch.onnx.export(net.eval(), inputs, str(path), opset_version=OPSET, input_names=names)


def through_calque(net, inputs, path, specs, names):
    """Of a trace, as in a deployed program."""
    with tempfile.NamedTemporaryFile(suffix=".pt") as file, torch.no_grad():
        torch.jit.trace(net.eval(), inputs, check_trace=False).save(file.name)
        options = [word for spec in specs for word in ("--input", spec)]
        code, _, error = peers.calque("export", file.name, "-o", path, "--input-names", names,
                                      *options)
    if code:
        raise RuntimeError(error)


# ---- transformers ---------------------------------------------------------------------


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, math.sqrt(width // heads)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.split(self.query(x)), self.split(self.key(x)), self.split(self.value(x))
        scores = torch.matmul(q, k.transpose(-1, -2)) / self.scale + mask
        mixed = torch.matmul(scores.softmax(-1), v).transpose(1, 2).contiguous()
        return self.out(mixed.view(x.shape))


class Encoder(nn.Module):
    """A layer of BERT: normalised behind its parts."""

    def __init__(self, width, heads):
        super().__init__()
        self.attention = Attention(width, heads)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.norms = nn.ModuleList(nn.LayerNorm(width, eps=1e-12) for _ in range(2))

    def forward(self, x, mask):
        x = self.norms[0](self.attention(x, mask) + x)
        return self.norms[1](self.second(nn.functional.gelu(self.first(x))) + x)


class Bert(nn.Module):
    def __init__(self, width=768, heads=12, layers=12, vocabulary=30522, length=128):
        super().__init__()
        self.words = nn.Embedding(vocabulary, width)
        self.places, self.kinds = nn.Embedding(length, width), nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.layers = nn.ModuleList(Encoder(width, heads) for _ in range(layers))
        self.pool = nn.Linear(width, width)

    def forward(self, words, kinds, mask):
        places = torch.arange(words.shape[1])
        x = self.norm(self.words(words) + self.places(places) + self.kinds(kinds))
        away = (1.0 - mask[:, None, None, :].float()) * -10000.0
        for layer in self.layers:
            x = layer(x, away)
        return x, torch.tanh(self.pool(x[:, 0]))


def bert_inputs(length=128):
    ids = torch.zeros(1, length, dtype=torch.int64)
    return (ids, ids, ids + 1)


def bert_base(path):
    through_torch(Bert(), bert_inputs(), path, ["words", "kinds", "mask"])


class Decoder(nn.Module):
    """A layer of GPT-2, with the keys and values of the words before."""

    def __init__(self, width, heads):
        super().__init__()
        self.heads, self.scale = heads, math.sqrt(width // heads)
        self.norms = nn.ModuleList(nn.LayerNorm(width) for _ in range(2))
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x, keys, values):
        q, k, v = (part.view(1, -1, self.heads, keys.shape[-1]).transpose(1, 2)
                   for part in self.qkv(self.norms[0](x)).split(x.shape[-1], 2))
        keys, values = torch.cat([keys, k], 2), torch.cat([values, v], 2)
        scores = torch.matmul(q, keys.transpose(-1, -2)) / self.scale
        mixed = torch.matmul(scores.softmax(-1), values).transpose(1, 2).reshape(x.shape)
        x = x + self.out(mixed)
        x = x + self.second(nn.functional.gelu(self.first(self.norms[1](x)), approximate="tanh"))
        return x, keys, values


class Gpt2(nn.Module):
    def __init__(self, width=768, heads=12, layers=12, vocabulary=50257, length=1024):
        super().__init__()
        self.words, self.places = nn.Embedding(vocabulary, width), nn.Embedding(length, width)
        self.layers = nn.ModuleList(Decoder(width, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width)

    def forward(self, word, cache):
        x = self.words(word) + self.places.weight[cache.shape[3]]
        kept = []
        for i, layer in enumerate(self.layers):
            x, keys, values = layer(x, cache[i, 0], cache[i, 1])
            kept.append(torch.stack([keys, values]))
        return torch.matmul(self.norm(x), self.words.weight.t()), torch.stack(kept)


def gpt2_decode(path):
    cache = torch.randn(12, 2, 1, 12, 128, 64)
    through_torch(Gpt2(), (torch.zeros(1, 1, dtype=torch.int64), cache), path, ["word", "cache"])


def vit_b_16(path):
    through_calque(torchvision.models.vit_b_16(), torch.randn(1, 3, 224, 224), path,
                   ["1x3x224x224"], "input")


# ---- quantized ------------------------------------------------------------------------


def quantized(name, path):
    """A network of torchvision in 8 bits, its grids observed on noise."""
    net = getattr(torchvision.models.quantization, name)(quantize=False).eval()
    net.fuse_model()
    net.qconfig = torch.ao.quantization.get_default_qconfig("fbgemm")
    torch.ao.quantization.prepare(net, inplace=True)
    with torch.no_grad():
        net(torch.randn(2, 3, 224, 224))
    torch.ao.quantization.convert(net, inplace=True)
    through_calque(net, torch.randn(1, 3, 224, 224), path, ["1x3x224x224"], "input")


def resnet18_int8(path):
    quantized("resnet18", path)


def mobilenet_v2_int8(path):
    quantized("mobilenet_v2", path)


def bert_base_int8(path):
    """Weights in 8 bits, activations quantized as they come."""
    torch.backends.quantized.engine = "qnnpack"
    net = torch.ao.quantization.quantize_dynamic(Bert().eval(), {nn.Linear})
    through_calque(net, bert_inputs(), path, ["int64[1,128]=zeros", "int64[1,128]=zeros",
                                              "int64[1,128]=ones"], "words,kinds,mask")


ALL = {make.__name__: make for make in (bert_base, gpt2_decode, vit_b_16, resnet18_int8,
                                        mobilenet_v2_int8, bert_base_int8)}


def write(name, path):
    torch.manual_seed(0)
    ALL[name](path)
