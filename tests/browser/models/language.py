"""A language model of 32 layers, small in width."""
import torch
from torch import nn


class RMSNorm(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.weight = nn.Parameter(torch.ones(size))

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6) * self.weight


class Attention(nn.Module):
    def __init__(self, size, heads):
        super().__init__()
        self.heads = heads
        self.q_proj = nn.Linear(size, size, bias=False)
        self.k_proj = nn.Linear(size, size, bias=False)
        self.v_proj = nn.Linear(size, size, bias=False)
        self.o_proj = nn.Linear(size, size, bias=False)

    def split(self, x):
        return x.view(x.shape[0], x.shape[1], self.heads, -1).transpose(1, 2)

    def forward(self, x, mask):
        q, k, v = self.split(self.q_proj(x)), self.split(self.k_proj(x)), self.split(self.v_proj(x))
        scores = torch.matmul(q, k.transpose(2, 3)) / 4.0 + mask
        x = torch.matmul(torch.softmax(scores, dim=-1), v).transpose(1, 2)
        return self.o_proj(x.reshape(x.shape[0], x.shape[1], -1))


class MLP(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.gate_proj = nn.Linear(size, 3 * size, bias=False)
        self.up_proj = nn.Linear(size, 3 * size, bias=False)
        self.down_proj = nn.Linear(3 * size, size, bias=False)

    def forward(self, x):
        return self.down_proj(torch.nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class Block(nn.Module):
    def __init__(self, size):
        super().__init__()
        self.input_layernorm = RMSNorm(size)
        self.self_attn = Attention(size, 4)
        self.post_attention_layernorm = RMSNorm(size)
        self.mlp = MLP(size)

    def forward(self, x, mask):
        x = x + self.self_attn(self.input_layernorm(x), mask)
        return x + self.mlp(self.post_attention_layernorm(x))


class Model(nn.Module):
    def __init__(self, layers=32, size=64, words=1000):
        super().__init__()
        self.embed_tokens = nn.Embedding(words, size)
        self.layers = nn.ModuleList([Block(size) for _ in range(layers)])
        self.norm = RMSNorm(size)
        self.lm_head = nn.Linear(size, words, bias=False)

    def forward(self, tokens):
        n = tokens.shape[1]
        mask = torch.triu(torch.full((n, n), -1e9), diagonal=1)
        x = self.embed_tokens(tokens)
        for layer in self.layers:
            x = layer(x, mask)
        return self.lm_head(self.norm(x))
