"""The programs of programs.py that need PyTorch alone. Each returns a module, input tuples and dynamic shapes."""
import math

import torch
import torch.nn.functional as F
from torch import nn
from torch.export import Dim

PROGRAMS = {}
AUTO = Dim.AUTO


def program(fn):
    PROGRAMS[fn.__name__] = fn
    return fn


class Fn(nn.Module):
    """A function with weights."""
    def __init__(self, fn, **state):
        super().__init__()
        self.fn = fn
        for name, value in state.items():
            if isinstance(value, nn.Module):
                setattr(self, name, value)
            elif value.is_floating_point() or value.is_complex():
                setattr(self, name, nn.Parameter(value))
            else:
                self.register_buffer(name, value)

    def forward(self, *args):
        return self.fn(self, *args)


def auto(*shapes):
    """All named axes are dynamic: auto((0, 1), ()) for two inputs. The module takes *args."""
    return (tuple({d: AUTO for d in dims} for dims in shapes),)


def rand(*shape):
    return torch.randn(*shape)


# ---- attention ----

@program
def gqa_causal():
    def fn(m, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    sets = [(rand(b, 8, n, 16), rand(b, 2, n, 16), rand(b, 2, n, 16)) for b, n in ((2, 5), (3, 7), (1, 4))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def gqa_causal_other_length():
    def fn(m, q, k, v):
        return F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    sets = [(rand(b, 6, n, 8), rand(b, 3, k, 8), rand(b, 3, k, 8)) for b, n, k in ((2, 5, 9), (3, 7, 4), (2, 3, 11))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def gqa_masked():
    def fn(m, q, k, v, mask):
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask, enable_gqa=True, scale=0.2)
    sets = [(rand(b, 4, n, 8), rand(b, 1, n, 8), rand(b, 1, n, 8), torch.rand(b, 1, n, n) > 0.2)
            for b, n in ((2, 5), (3, 7))]
    for s in sets:
        s[3][..., 0] = True
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2), (0, 2, 3))


@program
def gqa_layer():
    """Grouped heads from projections, causal, with rotary positions."""
    class Layer(nn.Module):
        def __init__(self, dim=32, heads=4, groups=2):
            super().__init__()
            self.heads, self.groups, self.size = heads, groups, dim // heads
            self.q, self.k = nn.Linear(dim, dim), nn.Linear(dim, groups * self.size)
            self.v, self.o = nn.Linear(dim, groups * self.size), nn.Linear(dim, dim)

        def rotate(self, x):
            n, half = x.shape[2], self.size // 2
            angle = torch.arange(n)[:, None] / 100.0 ** (torch.arange(half) / half)
            a, b = x[..., :half], x[..., half:]
            return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)

        def forward(self, x):
            b, n, d = x.shape
            q = self.rotate(self.q(x).view(b, n, self.heads, -1).transpose(1, 2))
            k = self.rotate(self.k(x).view(b, n, self.groups, -1).transpose(1, 2))
            v = self.v(x).view(b, n, self.groups, -1).transpose(1, 2)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
            return self.o(y.transpose(1, 2).reshape(b, n, d))
    return Layer(), [(rand(2, 6, 32),), (rand(3, 9, 32),), (rand(1, 1, 32),)], ({0: AUTO, 1: AUTO},)


@program
def gqa_repeat():
    def fn(m, q, k, v):
        n = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(n, 1), v.repeat_interleave(n, 1)
        mask = torch.ones(q.shape[2], k.shape[2], dtype=torch.bool).tril(k.shape[2] - q.shape[2])
        score = (q @ k.mT / math.sqrt(q.shape[-1])).masked_fill(~mask, -torch.inf)
        return score.softmax(-1) @ v
    sets = [(rand(b, 4, n, 8), rand(b, 2, k, 8), rand(b, 2, k, 8)) for b, n, k in ((2, 3, 5), (3, 4, 9))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def attention_window():
    def fn(m, q, k, v):
        i = torch.arange(q.shape[2])
        near = (i[:, None] - i[None]).abs() <= 2
        return F.scaled_dot_product_attention(q, k, v, attn_mask=near & (i[:, None] >= i[None]))
    sets = [tuple(rand(b, 2, n, 8) for _ in range(3)) for b, n in ((2, 6), (1, 11))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def attention_alibi():
    def fn(m, q, k, v):
        i = torch.arange(k.shape[2])
        slopes = 2.0 ** -torch.arange(1, q.shape[1] + 1)
        bias = -(i[None] - i[:, None]).abs() * slopes[:, None, None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=bias[None])
    sets = [tuple(rand(b, 4, n, 8) for _ in range(3)) for b, n in ((2, 6), (1, 11))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def attention_sinks():
    """The softmax has one more column, which is dropped afterwards."""
    def fn(m, q, k, v):
        score = q @ k.transpose(-1, -2) / 4
        mask = torch.full_like(score, -torch.inf).triu(1)
        sink = m.sink.view(1, -1, 1, 1).expand(q.shape[0], -1, q.shape[2], 1)
        score = torch.cat([score + mask, sink], -1)
        return (score - score.amax(-1, True)).softmax(-1)[..., :-1] @ v
    sets = [tuple(rand(b, 2, n, 8) for _ in range(3)) for b, n in ((2, 6), (1, 3))]
    return Fn(fn, sink=rand(2)), sets, auto((0, 2), (0, 2), (0, 2))


@program
def attention_linear():
    def fn(m, q, k, v):
        q, k = F.elu(q) + 1, F.elu(k) + 1
        state = torch.einsum("bhnd,bhne->bhnde", k, v).cumsum(2)
        return torch.einsum("bhnd,bhnde->bhne", q, state) / (q * k.cumsum(2)).sum(-1, keepdim=True)
    sets = [tuple(rand(b, 2, n, 4) for _ in range(3)) for b, n in ((2, 6), (1, 3))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def attention_latent():
    """Keys and values come from a small latent; a part of the keys has positions (multi-head latent attention)."""
    class Latent(nn.Module):
        def __init__(self):
            super().__init__()
            self.q, self.down, self.up = nn.Linear(16, 4 * 12), nn.Linear(16, 8 + 4), nn.Linear(8, 4 * 16)
            self.norm, self.o = nn.RMSNorm(8), nn.Linear(32, 16)

        def forward(self, x):
            b, n, _ = x.shape
            q, q_pos = self.q(x).view(b, n, 4, 12).transpose(1, 2).split([8, 4], -1)
            latent, k_pos = self.down(x).split([8, 4], -1)
            k, v = self.up(self.norm(latent)).view(b, n, 4, 16).transpose(1, 2).chunk(2, -1)
            angle = torch.arange(n)[:, None] * torch.tensor([1.0, 0.1])

            def rotate(t):
                z = torch.view_as_complex(t.reshape(*t.shape[:-1], 2, 2)) * torch.polar(torch.ones_like(angle), angle)
                return torch.view_as_real(z).flatten(-2)

            q = torch.cat([q, rotate(q_pos)], -1)
            k = torch.cat([k, rotate(k_pos[:, None]).expand(-1, 4, -1, -1)], -1)
            y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            return self.o(y.transpose(1, 2).flatten(2))
    return Latent(), [(rand(2, 5, 16),), (rand(3, 8, 16),)], ({0: AUTO, 1: AUTO},)


@program
def attention_cache():
    def fn(m, x, k, v, at):
        q, nk, nv = m.qkv(x).view(x.shape[0], -1, 3, 2, 4).permute(2, 0, 3, 1, 4)
        k, v = k.index_copy(2, at, nk), v.index_copy(2, at, nv)
        mask = torch.arange(k.shape[2])[None] <= at[:, None]
        return F.scaled_dot_product_attention(q, k, v, attn_mask=mask), k, v
    sets = [(rand(b, n, 8), rand(b, 2, 12, 4), rand(b, 2, 12, 4), torch.arange(3, 3 + n)) for b, n in ((2, 4), (1, 6))]
    return Fn(fn, qkv=nn.Linear(8, 24)), sets, auto((0, 1), (0,), (0,), (0,))


@program
def attention_padding():
    net = nn.MultiheadAttention(16, 4, batch_first=True)

    def fn(m, x, length):
        mask = torch.arange(x.shape[1])[None] >= length[:, None]
        return m.net(x, x, x, key_padding_mask=mask, need_weights=True)
    sets = [(rand(3, 6, 16), torch.tensor([6, 4, 1])), (rand(2, 9, 16), torch.tensor([9, 2]))]
    return Fn(fn, net=net), sets, auto((0, 1), (0,))


@program
def transformer_encoder():
    net = nn.TransformerEncoder(nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), 2)

    def fn(m, x, pad):
        return m.net(x, mask=nn.Transformer.generate_square_subsequent_mask(x.shape[1]), is_causal=True).masked_fill(
            pad[..., None], 0)
    sets = [(rand(3, 6, 16), torch.rand(3, 6) > 0.7), (rand(2, 9, 16), torch.rand(2, 9) > 0.7)]
    return Fn(fn, net=net), sets, auto((0, 1), (0, 1))


@program
def transformer_whole():
    net = nn.Transformer(16, 4, 1, 1, 32, batch_first=True)

    def fn(m, x, y):
        return m.net(x, y, tgt_mask=torch.full((y.shape[1], y.shape[1]), -torch.inf).triu(1), tgt_is_causal=True)
    sets = [(rand(3, 6, 16), rand(3, 4, 16)), (rand(2, 9, 16), rand(2, 5, 16))]
    return Fn(fn, net=net), sets, auto((0, 1), (0, 1))


@program
def retention():
    def fn(m, q, k, v):
        i = torch.arange(q.shape[2])
        decay = 0.9 ** (i[:, None] - i[None]).clamp(min=0) * (i[:, None] >= i[None])
        return F.group_norm(((q @ k.mT) * decay @ v).flatten(0, 1).transpose(1, 2), 2).transpose(1, 2)
    sets = [tuple(rand(b, 2, n, 4) for _ in range(3)) for b, n in ((2, 6), (1, 3))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def linear_vector_weight():
    """F.linear with a weight of one dimension, as D-FINE's integral of a distribution."""
    def fn(m, x):
        b, n, _ = x.shape
        y = F.linear(F.softmax(x.reshape(-1, 9), 1), m.points)
        return y.reshape(b, n, 4), F.linear(x, m.whole)
    return Fn(fn, points=torch.linspace(-1, 1, 9), whole=rand(36)), [(rand(2, 5, 36),), (rand(3, 2, 36),)], auto((0, 1))


# ---- Fourier transforms and complex networks ----

@program
def long_convolution():
    def fn(m, x):
        n = x.shape[-1]
        kernel = m.decay.exp()[:, None].neg().mul(torch.arange(n)).exp() * m.scale[:, None]
        y = torch.fft.irfft(torch.fft.rfft(x, n=2 * n) * torch.fft.rfft(kernel, n=2 * n), n=2 * n)
        return y[..., :n] + x * m.skip[:, None]
    return Fn(fn, decay=rand(4), scale=rand(4), skip=rand(4)), [(rand(2, 4, n),) for n in (16, 11, 30)], auto((0, 2))


@program
def long_convolution_kernel():
    def fn(m, x):
        size = x.shape[-1] + m.kernel.shape[-1]
        return torch.fft.irfft(torch.fft.rfft(x, n=size) * torch.fft.rfft(m.kernel, n=size), n=size)[..., :x.shape[-1]]
    return Fn(fn, kernel=rand(3, 9)), [(rand(2, 3, n),) for n in (12, 13, 40)], auto((0, 2))


@program
def hyena():
    class Hyena(nn.Module):
        def __init__(self):
            super().__init__()
            self.into, self.out = nn.Linear(8, 24), nn.Linear(8, 8)
            self.short = nn.Conv1d(24, 24, 3, padding=2, groups=24)
            self.filter = nn.Sequential(nn.Linear(5, 16), nn.SiLU(), nn.Linear(16, 8))

        def forward(self, x):
            n = x.shape[1]
            u = self.short(self.into(x).transpose(1, 2))[..., :n]
            a, b, v = u.chunk(3, 1)
            t = torch.linspace(0, 1, n)[:, None]
            h = self.filter(torch.cat([t, (t * torch.tensor([1.0, 2.0])).sin(), (t * torch.tensor([1.0, 2.0])).cos()], 1))
            spectrum = torch.fft.rfft(h.t(), n=2 * n) / (2 * n)
            v = torch.fft.irfft(torch.fft.rfft(v * a, n=2 * n) * spectrum, n=2 * n, norm="forward")[..., :n]
            return self.out((v * b).transpose(1, 2))
    return Hyena(), [(rand(2, 10, 8),), (rand(1, 7, 8),)], ({0: AUTO, 1: AUTO},)


@program
def fno_1d():
    class Spectral(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.randn(4, 6, 5, dtype=torch.cfloat))
            self.skip = nn.Conv1d(4, 6, 1)

        def forward(self, x):
            z = torch.fft.rfft(x)
            out = torch.zeros(x.shape[0], 6, x.shape[-1] // 2 + 1, dtype=torch.cfloat)
            out[:, :, :5] = torch.einsum("bix,iox->box", z[:, :, :5], self.weight)
            return F.gelu(torch.fft.irfft(out, n=x.shape[-1]) + self.skip(x))
    return Spectral(), [(rand(2, 4, 16),), (rand(3, 4, 21),)], ({0: AUTO, 2: AUTO},)


@program
def fno_2d():
    class Spectral(nn.Module):
        def __init__(self):
            super().__init__()
            self.a = nn.Parameter(torch.randn(2, 3, 4, 4, dtype=torch.cfloat))
            self.b = nn.Parameter(torch.randn(2, 3, 4, 4, dtype=torch.cfloat))

        def forward(self, x):
            z = torch.fft.rfft2(x)
            out = torch.zeros(x.shape[0], 3, x.shape[-2], x.shape[-1] // 2 + 1, dtype=torch.cfloat, device=x.device)
            out[:, :, :4, :4] = torch.einsum("bixy,ioxy->boxy", z[:, :, :4, :4], self.a)
            out[:, :, -4:, :4] = torch.einsum("bixy,ioxy->boxy", z[:, :, -4:, :4], self.b)
            return torch.fft.irfft2(out, s=(x.shape[-2], x.shape[-1]))
    return Spectral(), [(rand(2, 2, 12, 10),), (rand(1, 2, 16, 9),)], ({0: AUTO, 2: AUTO, 3: AUTO},)


@program
def fno_2d_static():
    module, sets, _ = fno_2d()
    return module, sets[:1], None


@program
def fno_parts():
    """Weights as two real tensors, products of the parts, which are copied into a complex result."""
    def fn(m, x):
        z = torch.fft.rfft(x)[..., :4]
        out = torch.zeros(x.shape[0], 3, x.shape[-1] // 2 + 1, dtype=torch.cfloat)
        out.real[..., :4] = torch.einsum("bik,iok->bok", z.real, m.re) - torch.einsum("bik,iok->bok", z.imag, m.im)
        out.imag[..., :4] = torch.einsum("bik,iok->bok", z.real, m.im) + torch.einsum("bik,iok->bok", z.imag, m.re)
        return torch.fft.irfft(out, n=x.shape[-1])
    return Fn(fn, re=rand(2, 3, 4), im=rand(2, 3, 4)), [(rand(2, 2, 12),), (rand(3, 2, 17),)], auto((0, 2))


@program
def complex_parts_copy():
    def fn(m, x):
        z = torch.view_as_complex(x).clone()
        z.real.copy_(z.imag * 2)
        z.imag.mul_(3).add_(z.real)
        w = torch.empty_like(z)
        w.real = z.imag
        w.imag = z.real
        return torch.view_as_real(z), torch.view_as_real(w), (z * w.conj()).real
    return Fn(fn), [(rand(3, 4, 2),), (rand(2, 7, 2),)], auto((0, 1))


@program
def s4d():
    class S4D(nn.Module):
        def __init__(self, h=4, n=8):
            super().__init__()
            self.log_dt = nn.Parameter(torch.rand(h) - 3)
            self.c = nn.Parameter(torch.randn(h, n // 2, 2))
            self.log_a = nn.Parameter(torch.log(0.5 * torch.ones(h, n // 2)))
            self.a_imag = nn.Parameter(math.pi * torch.arange(n // 2).repeat(h, 1).float())
            self.d = nn.Parameter(torch.randn(h))

        def forward(self, u):
            n = u.size(-1)
            dt, c = torch.exp(self.log_dt), torch.view_as_complex(self.c)
            a = -torch.exp(self.log_a) + 1j * self.a_imag
            da = a * dt.unsqueeze(-1)
            k = da.unsqueeze(-1) * torch.arange(n)
            c = c * (torch.exp(da) - 1.0) / a
            k = 2 * torch.einsum("hn,hnl->hl", c, torch.exp(k)).real
            y = torch.fft.irfft(torch.fft.rfft(u, n=2 * n) * torch.fft.rfft(k, n=2 * n), n=2 * n)[..., :n]
            return y + u * self.d.unsqueeze(-1)
    return S4D(), [(rand(2, 4, 12),), (rand(3, 4, 19),)], ({0: AUTO, 2: AUTO},)


@program
def complex_linear():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.a, self.b = nn.Linear(4, 6, dtype=torch.cfloat), nn.Linear(6, 3, bias=False, dtype=torch.cfloat)

        def forward(self, x):
            z = self.a(torch.view_as_complex(x))
            z = torch.complex(F.relu(z.real), F.relu(z.imag))
            return torch.view_as_real(self.b(z))
    return Net(), [(rand(2, 5, 4, 2),), (rand(3, 1, 4, 2),)], ({0: AUTO, 1: AUTO},)


@program
def complex_conv():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv = nn.Conv2d(2, 3, 3, padding=1, dtype=torch.cfloat)
            self.up = nn.ConvTranspose1d(2, 3, 3, dtype=torch.cfloat)

        def forward(self, x):
            z = torch.view_as_complex(x)
            return torch.view_as_real(self.conv(z)), self.up(z[:, :, 0]).abs()
    return Net(), [(rand(2, 2, 5, 6, 2),), (rand(1, 2, 7, 4, 2),)], ({0: AUTO, 2: AUTO, 3: AUTO},)


@program
def complex_products():
    """Products of a dynamic number of factors, powers, choices beside a number, inverses of a fixed size."""
    def fn(m, x):
        z = torch.complex(x, x.flip(0) + 1)
        w = torch.where(x > 0, z, 0)
        inverse = torch.linalg.inv(z.mH @ z + torch.eye(4))
        return [torch.view_as_real(y) for y in (w.prod(1), z.cumprod(0), z ** 3, z ** -0.5, w.prod(), inverse)]
    return Fn(fn), [(rand(3, 4),), (rand(5, 4),)], auto((0,))


@program
def complex_modrelu():
    def fn(m, x):
        z = torch.fft.fft(x, norm="ortho")
        size = z.abs()
        z = torch.where(size > 0.1, F.relu(size + m.bias) * z / size, torch.zeros_like(z))
        z = z @ torch.complex(m.re, m.im) * torch.exp(1j * m.phase)
        return torch.view_as_real(z), torch.angle(z), z.abs().square().sum(-1)
    return (Fn(fn, bias=rand(8) * 0.1, re=rand(8, 8), im=rand(8, 8), phase=rand(8)), [(rand(2, 3, 8),), (rand(1, 6, 8),)],
            auto((0, 1)))


@program
def fnet():
    def fn(m, x):
        return m.norm(x + torch.fft.fft(torch.fft.fft(x, dim=-1), dim=-2).real)
    return Fn(fn, norm=nn.LayerNorm(8)), [(rand(2, 6, 8),), (rand(3, 9, 8),)], auto((0, 1))


@program
def global_filter():
    def fn(m, x):
        b, n, c = x.shape
        z = torch.fft.rfft2(x.view(b, 6, 6, c), dim=(1, 2), norm="ortho") * torch.view_as_complex(m.weight)
        return torch.fft.irfft2(z, s=(6, 6), dim=(1, 2), norm="ortho").reshape(b, n, c)
    return Fn(fn, weight=rand(6, 4, 3, 2)), [(rand(2, 36, 3),), (rand(1, 36, 3),)], auto((0,))


@program
def autocorrelation():
    """Autoformer: delays with the largest correlation, found by Fourier transforms."""
    def fn(m, q, k, v):
        n = q.shape[-1]
        corr = torch.fft.irfft(torch.fft.rfft(q) * torch.conj(torch.fft.rfft(k)), n=n)
        weight, delay = corr.mean(1).topk(3, -1)
        places = (torch.arange(n)[None, None] + delay[..., None]) % n
        rolled = torch.gather(v[:, None].expand(-1, 3, -1, -1), 3, places[:, :, None].expand(-1, -1, v.shape[1], -1))
        return (rolled * weight.softmax(-1)[..., None, None]).sum(1)
    sets = [tuple(rand(b, 4, n) for _ in range(3)) for b, n in ((2, 10), (1, 13))]
    return Fn(fn), sets, auto((0, 2), (0, 2), (0, 2))


@program
def hilbert():
    def fn(m, x):
        n = x.shape[-1]
        z, i = torch.fft.fft(x), torch.arange(n)
        h = torch.where((i == 0) | ((n % 2 == 0) & (i == n // 2)), 1.0, torch.where(i < (n + 1) // 2, 2.0, 0.0))
        return torch.fft.ifft(z * h).abs()
    return Fn(fn), [(rand(2, 12),), (rand(3, 14),)], auto((0, 1))


@program
def mel_spectrogram():
    def fn(m, x):
        z = torch.stft(x, 32, 8, 32, m.window, center=True, return_complex=True)
        return (m.bank @ z.abs().square()).clamp(min=1e-5).log10()
    return Fn(fn, window=torch.hann_window(32), bank=torch.rand(6, 17)), [(rand(2, 200),), (rand(1, 333),)], auto((0, 1))


@program
def vocoder():
    """A spectrum from its size and phase, back to sound."""
    def fn(m, x):
        size, phase = m.net(x).chunk(2, 1)
        z = torch.exp(size.clamp(max=3)) * (torch.cos(phase) + 1j * torch.sin(phase))
        return torch.istft(z, 16, 4, 16, m.window, center=True)
    return (Fn(fn, net=nn.Conv1d(4, 18, 1), window=torch.hann_window(16)), [(rand(2, 4, 11),), (rand(1, 4, 17),)],
            auto((0, 2)))


@program
def power_spectrum():
    def fn(m, x):
        z = torch.fft.rfft2(x - x.mean((-2, -1), keepdim=True))
        freq = torch.fft.fftfreq(x.shape[-2])[:, None].abs() + torch.fft.rfftfreq(x.shape[-1])[None]
        return torch.fft.fftshift(z.abs().square() * freq, dim=-2), torch.fft.irfft2(z * (freq < 0.3), s=x.shape[-2:])
    return Fn(fn), [(rand(2, 8, 10),), (rand(1, 9, 7),)], auto((0, 1, 2))


@program
def dct():
    def fn(m, x):
        n = x.shape[-1]
        v = torch.cat([x[..., ::2], x[..., 1::2].flip(-1)], -1)
        turn = torch.exp(-1j * math.pi * torch.arange(n) / (2 * n))
        return (torch.fft.fft(v) * turn).real * 2
    return Fn(fn), [(rand(2, 8),), (rand(3, 10),)], auto((0, 1))


@program
def rotary_complex():
    """Llama's first form: positions as complex numbers, in a buffer."""
    def fn(m, x, start):
        freq = m.cis[start[0]:start[0] + x.shape[1]] if False else m.cis[: x.shape[1]]
        z = torch.view_as_complex(x.float().reshape(*x.shape[:-1], -1, 2))
        return torch.view_as_real(z * freq[None, :, None]).flatten(3).type_as(x) + start.sum()
    angle = torch.outer(torch.arange(32.0), 1.0 / 10 ** torch.arange(0, 1, 0.25))
    return (Fn(fn, cis=torch.polar(torch.ones_like(angle), angle)),
            [(rand(2, 5, 3, 8), torch.ones(1)), (rand(1, 9, 3, 8), torch.ones(1))], auto((0, 1), ()))


# ---- Gaussian processes and linear algebra ----

def rbf(a, b, scale):
    return torch.exp(-0.5 * torch.cdist(a, b).square() / scale ** 2)


@program
def gp_posterior():
    def fn(m, x, y, at):
        k = rbf(x, x, 1.2) + 0.1 * torch.eye(x.shape[0])
        low = torch.linalg.cholesky(k)
        alpha = torch.cholesky_solve(y[:, None], low)
        cross = rbf(x, at, 1.2)
        v = torch.linalg.solve_triangular(low, cross, upper=False)
        return (cross.T @ alpha)[:, 0], rbf(at, at, 1.2) - v.T @ v, low.diagonal().log().sum()
    sets = [(rand(n, 2), rand(n), rand(k, 2)) for n, k in ((6, 4), (9, 5), (3, 2))]
    return Fn(fn), sets, auto((0,), (0,), (0,))


@program
def gp_posterior_static():
    module, sets, _ = gp_posterior()
    return module, sets[:1], None


@program
def gp_weights():
    """The training points are a buffer, the test points are given."""
    def fn(m, at):
        k = rbf(m.x, m.x, m.scale) + m.noise.exp() * torch.eye(m.x.shape[0])
        cross = rbf(at, m.x, m.scale)
        mean = cross @ torch.linalg.solve(k, m.y)
        var = 1 - (cross * torch.linalg.solve(k, cross.T).T).sum(-1)
        return mean, var.clamp_min(1e-6).sqrt()
    return Fn(fn, x=rand(8, 2), y=rand(8), scale=torch.tensor(0.9), noise=torch.tensor(-2.0)), [(rand(4, 2),), (rand(7, 2),)], auto((0,))


@program
def gp_batched():
    def fn(m, x, y):
        d = x.unsqueeze(-2) - x.unsqueeze(-3)
        k = torch.exp(-d.square().sum(-1)) + 0.2 * torch.eye(x.shape[-2])
        low = torch.linalg.cholesky(k)
        z = torch.linalg.solve_triangular(low, y.unsqueeze(-1), upper=False).squeeze(-1)
        return -0.5 * z.square().sum(-1) - low.diagonal(dim1=-2, dim2=-1).log().sum(-1)
    return Fn(fn), [(rand(b, n, 2), rand(b, n)) for b, n in ((2, 5), (3, 7))], auto((0, 1), (0, 1))


@program
def gp_where():
    """A Matern kernel whose distance 0 is kept away from the square root."""
    def fn(m, x, y, at):
        def kernel(a, b):
            square = (a[:, None] - b[None]).square().sum(-1)
            r = torch.where(square > 0, square, 1.0).sqrt()
            r = torch.where(square > 0, r, torch.zeros_like(r))
            return (1 + math.sqrt(3) * r) * torch.exp(-math.sqrt(3) * r)
        k = kernel(x, x)
        k = torch.where(torch.eye(x.shape[0], dtype=torch.bool), k + 0.1, k)
        return kernel(at, x) @ torch.linalg.inv(k) @ y
    sets = [(rand(n, 2), rand(n), rand(k, 2)) for n, k in ((6, 4), (9, 5))]
    return Fn(fn), sets, auto((0,), (0,), (0,))


@program
def kalman():
    def fn(m, xs):
        mean, cov, out = torch.zeros(xs.shape[0], 2), torch.eye(2).expand(xs.shape[0], 2, 2), []
        for i in range(xs.shape[1]):
            mean = mean @ m.a.T
            cov = m.a @ cov @ m.a.T + 0.1 * torch.eye(2)
            gain = cov @ m.h.T @ torch.linalg.inv(m.h @ cov @ m.h.T + 0.5 * torch.eye(1))
            mean = mean + (gain @ (xs[:, i] - mean @ m.h.T)[..., None])[..., 0]
            cov = (torch.eye(2) - gain @ m.h) @ cov
            out.append(mean)
        return torch.stack(out, 1), cov
    return Fn(fn, a=torch.tensor([[1.0, 1.0], [0.0, 0.9]]), h=torch.tensor([[1.0, 0.0]])), [(rand(2, 4, 1),), (rand(3, 4, 1),)], auto((0,))


@program
def ridge():
    def fn(m, x, y, at):
        gram = x.mT @ x + 0.1 * torch.eye(x.shape[-1])
        return at @ torch.linalg.solve(gram, x.mT @ y), torch.linalg.slogdet(gram)[1]
    sets = [(rand(b, n, 3), rand(b, n, 2), rand(b, 4, 3)) for b, n in ((2, 5), (1, 8))]
    return Fn(fn), sets, auto((0, 1), (0, 1), (0,))


@program
def whiten():
    def fn(m, x):
        x = x - x.mean(0)
        low = torch.linalg.cholesky(x.T @ x / x.shape[0] + 0.01 * torch.eye(x.shape[1]))
        return torch.linalg.solve_triangular(low, x.T, upper=False).T, torch.cholesky_inverse(low)
    return Fn(fn), [(rand(9, 3),), (rand(14, 3),)], auto((0,))


@program
def mahalanobis():
    normal = torch.distributions

    def fn(m, x):
        d = normal.MultivariateNormal(m.mean, validate_args=False, scale_tril=m.low.tril(-1) + torch.diag(m.low.diagonal().abs() + 0.5))
        mix = normal.MixtureSameFamily(normal.Categorical(logits=m.logits, validate_args=False), normal.Normal(m.mean, m.low.diagonal().exp(), validate_args=False), validate_args=False)
        return d.log_prob(x), mix.log_prob(x[:, 0]), normal.kl_divergence(normal.Normal(x, 1.0, validate_args=False), normal.Normal(m.mean, 2.0, validate_args=False))
    return Fn(fn, mean=rand(3), low=rand(3, 3), logits=rand(3)), [(rand(4, 3),), (rand(6, 3),)], auto((0,))


@program
def cayley():
    def fn(m, x):
        skew = m.w.triu(1) - m.w.triu(1).T
        q = torch.linalg.solve(torch.eye(4) + skew, torch.eye(4) - skew)
        return x @ q, x @ torch.matrix_exp(skew * 0.3)
    return Fn(fn, w=rand(4, 4)), [(rand(2, 4),), (rand(5, 4),)], auto((0,))


@program
def kernel_attention():
    """Random features, and a Nystrom approximation with an iterative inverse."""
    def fn(m, q, k, v):
        a, b = q[:, ::2], k[:, ::2]
        kernel = (a @ b.mT / 2).softmax(-1)
        inv = kernel.mT / (kernel.abs().sum(-1).amax() * kernel.abs().sum(-2).amax())
        eye = torch.eye(kernel.shape[-1])
        for _ in range(4):
            kz = kernel @ inv
            inv = 0.25 * inv @ (13 * eye - kz @ (15 * eye - kz @ (7 * eye - kz)))
        return (q @ b.mT / 2).softmax(-1) @ inv @ ((a @ k.mT / 2).softmax(-1) @ v)
    sets = [tuple(rand(b, n, 4) for _ in range(3)) for b, n in ((2, 8), (1, 10))]
    return Fn(fn), sets, auto((0, 1), (0, 1), (0, 1))


# ---- vmap ----

def stacked(net, n):
    return {k.replace(".", "_"): torch.stack([torch.randn_like(p) for _ in range(n)]) for k, p in net.named_parameters()}


@program
def vmap_ensemble():
    """Layers with stacked weights, as torch.func.stack_module_state makes them."""
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))

    def fn(m, x):
        def one(w0, b0, w1, b1):
            return F.linear(torch.tanh(F.linear(x, w0, b0)), w1, b1)
        return torch.vmap(one)(m.w0, m.b0, m.w1, m.b1)
    return Fn(fn, w0=rand(3, 8, 4), b0=rand(3, 8), w1=rand(3, 2, 8), b1=rand(3, 2)), [(rand(5, 4),), (rand(2, 4),)], auto((0,))


@program
def vmap_ensemble_inputs():
    def fn(m, xs):
        return torch.vmap(lambda x, w, b: F.linear(x, w, b).relu())(xs, m.w, m.b)
    return Fn(fn, w=rand(3, 8, 4), b=rand(3, 8)), [(rand(3, 5, 4),), (rand(3, 2, 4),)], auto((1,))


@program
def vmap_linear_shared():
    def fn(m, xs):
        return torch.vmap(lambda x: F.linear(x, m.w, m.b) @ m.w.T.T)(xs), torch.vmap(lambda w: w @ m.w.T, 1, 1)(xs[0])
    return Fn(fn, w=rand(4, 4), b=rand(4)), [(rand(5, 2, 4),), (rand(2, 3, 4),)], auto((0, 1))


@program
def vmap_transposes():
    def fn(m, x, y):
        a = torch.vmap(lambda p, q: p.T @ q)(x, y)
        b = torch.vmap(lambda p, q: p.mT @ q.t().T)(x, y)
        c = torch.vmap(lambda p: torch.outer(p[0], p[1]))(x)
        return a, b, c, torch.vmap(lambda p: p.adjoint() + p.transpose(0, 1))(x)
    return Fn(fn), [(rand(2, 3, 4), rand(2, 3, 5)), (rand(5, 3, 4), rand(5, 3, 5))], auto((0,), (0,))


@program
def vmap_products():
    def fn(m, x, y, z):
        return (torch.vmap(lambda p, q, r: torch.addmm(r, p, q, beta=0.5, alpha=2))(x, y, z),
                torch.vmap(lambda p, q, r: torch.addmv(r[:, 0], p, q[:, 0]))(x, y, z),
                torch.vmap(lambda p, q: torch.einsum("ij,jk->ki", p, q))(x, y),
                torch.vmap(lambda p: torch.inner(p, m.w))(x),
                torch.vmap(lambda p, q: torch.tensordot(p, q, 1))(x, y),
                torch.vmap(lambda p: torch.trace(p @ p.T) + torch.linalg.norm(p))(x),
                torch.vmap(lambda p: torch.vdot(p[0], p[1]))(x))
    return (Fn(fn, w=rand(2, 4)), [(rand(b, 3, 4), rand(b, 4, 5), rand(b, 3, 5)) for b in (2, 6)], auto((0,), (0,), (0,)))


@program
def vmap_conv():
    def fn(m, xs):
        return torch.vmap(lambda x, w, b: F.conv2d(x, w, b, padding=1))(xs, m.w, m.b)
    return Fn(fn, w=rand(2, 3, 2, 3, 3), b=rand(2, 3)), [(rand(2, 2, 2, 5, 5),), (rand(2, 3, 2, 6, 5),)], auto((1, 3))


@program
def vmap_dims():
    def fn(m, x, y):
        return torch.vmap(lambda a, b: (a * b).sum() + b.mean(), in_dims=(1, 0), out_dims=0)(x, y), torch.vmap(
            lambda a: (a - a.mean(0)) / a.std(0), in_dims=1, out_dims=1)(x)
    return Fn(fn), [(rand(4, 3), rand(3, 4)), (rand(4, 6), rand(6, 4))], auto((1,), (0,))


@program
def vmap_nested():
    def fn(m, x, y):
        k = lambda a, b: torch.exp(-(a - b).square().sum())
        return torch.vmap(lambda a: torch.vmap(lambda b: k(a, b))(y))(x)
    return Fn(fn), [(rand(3, 2), rand(4, 2)), (rand(5, 2), rand(2, 2))], auto((0,), (0,))


@program
def vmap_attention():
    def fn(m, q, k, v):
        one = lambda a, b, c: F.scaled_dot_product_attention(a[None], b[None], c[None])[0]
        two = lambda a, b, c: torch.softmax(a @ b.T / 2, -1) @ c
        return torch.vmap(one)(q, k, v), torch.vmap(two)(q, k, v)
    sets = [tuple(rand(b, n, 4) for _ in range(3)) for b, n in ((2, 5), (3, 7))]
    return Fn(fn), sets, auto((0, 1), (0, 1), (0, 1))


@program
def vmap_normalized():
    def fn(m, x):
        one = lambda a: F.layer_norm(F.normalize(a, dim=-1), (4,)) + a.flatten().cumsum(0).reshape(a.shape)
        two = lambda a: torch.where(a > 0, a, a.min()).masked_fill(a > 1, 0).clamp(max=a.max() / 2)
        three = lambda a: torch.cat([a, m.w]).index_select(0, torch.tensor([0, 3])).logsumexp(0)
        return torch.vmap(one)(x), torch.vmap(two)(x), torch.vmap(three)(x)
    return Fn(fn, w=rand(2, 4)), [(rand(2, 3, 4),), (rand(5, 3, 4),)], auto((0,))


@program
def vmap_jacobian():
    def fn(m, x):
        net = lambda a: torch.tanh(a @ m.w) @ m.v
        return torch.func.vmap(torch.func.jacfwd(net))(x), torch.func.vmap(torch.func.grad(lambda a: net(a).sum()))(x)
    return Fn(fn, w=rand(3, 5), v=rand(5, 2)), [(rand(4, 3),), (rand(2, 3),)], auto((0,))


@program
def vmap_reductions():
    def fn(m, x, y):
        all_axes = torch.vmap(lambda a: (a.sum(), a.mean(), a.prod(), a.max(), a.min(), (a > 0).any(), (a > 9).all(), a.amax(), a.var(),
                                         torch.linalg.vector_norm(a), a.sum(dtype=torch.float64)))(x)
        return *all_axes, torch.vmap(torch.vmap(lambda a, b: (a * b).sum(), in_dims=(None, 0)), in_dims=(0, None))(x[:, 0], y[:, 0]), \
            torch.vmap(torch.vmap(lambda a: a.max()))(x[:, :, 0])
    return Fn(fn), [(rand(b, 3, 4), rand(c, 5, 4)) for b, c in ((2, 3), (5, 4), (1, 1))], auto((0,), (0,))


@program
def vmap_gather():
    def fn(m, x, i):
        return torch.vmap(lambda a, j: a[j])(x, i), torch.vmap(lambda a, j: torch.gather(a, 0, j))(x, i), torch.vmap(
            lambda j: F.one_hot(j, 6))(i), torch.vmap(lambda a, j: torch.take_along_dim(a, j, 0))(x, i)
    sets = [(rand(b, 6), torch.randint(0, 6, (b, 3))) for b in (2, 5)]
    return Fn(fn), sets, auto((0,), (0,))


# ---- quantized products ----

@program
def int_mm():
    """Dynamic quantization of rows, and a product of integers."""
    def fn(m, x):
        scale = x.abs().amax(-1, keepdim=True).clamp(min=1e-5) / 127
        q = (x / scale).round().clamp(-128, 127).to(torch.int8)
        y = torch._int_mm(q, m.w.t())
        return y * scale * m.scale + m.bias, y
    w = torch.randint(-64, 64, (16, 32), dtype=torch.int8)
    return Fn(fn, w=w, scale=torch.rand(16) / 100, bias=rand(16)), [(rand(20, 32),), (rand(33, 32),)], auto((0,))


@program
def out_dtype_mm():
    from torch._higher_order_ops.out_dtype import out_dtype

    def fn(m, x):
        scale = x.abs().amax() / 127
        q = (x / scale).round().clamp(-128, 127).to(torch.int8)
        y = out_dtype(torch.ops.aten.mm.default, torch.int32, q, m.w)
        z = out_dtype(torch.ops.aten.mul.Tensor, torch.int32, q, q)
        return y.float() * scale * 0.01, z
    w = torch.randint(-128, 128, (8, 16), dtype=torch.int8)
    return Fn(fn, w=w), [(rand(5, 8),), (rand(3, 8),)], auto((0,))


@program
def int8pack():
    def fn(m, x):
        return torch.ops.aten._weight_int8pack_mm(x, m.w, m.scale)
    w = torch.randint(-128, 128, (32, 64), dtype=torch.int8)
    return Fn(fn, w=w, scale=torch.rand(32) / 100), [(rand(5, 64),), (rand(3, 64),)], auto((0,))


@program
def int4pack_cpu():
    w = torch.randint(0, 16, (32, 64), dtype=torch.int32)
    packed = torch.ops.aten._convert_weight_to_int4pack_for_cpu(w, 1)
    qparams = torch.stack([torch.rand(2, 32) / 10, rand(2, 32)], -1).contiguous()

    def fn(m, x):
        return torch.ops.aten._weight_int4pack_mm_for_cpu(x, m.w, 32, m.qparams)
    return Fn(fn, w=packed, qparams=qparams), [(rand(5, 64),), (rand(3, 64),)], auto((0,))


@program
def int4_by_shifts():
    def fn(m, x):
        low, high = (m.w & 0xF).to(torch.int8) - 8, (m.w >> 4).to(torch.int8) - 8
        w = torch.stack([low, high], -1).flatten(-2).float().view(8, 2, 8) * m.scale[..., None]
        return F.linear(x, w.view(8, 16))
    return Fn(fn, w=torch.randint(0, 256, (8, 8), dtype=torch.uint8), scale=torch.rand(8, 2)), [(rand(3, 16),), (rand(5, 16),)], auto((0,))


@program
def nf4_table():
    def fn(m, x):
        index = torch.stack([m.w >> 4, m.w & 15], -1).flatten().int()
        w = (m.table[index].view(-1, 16) * m.scale[:, None]).view(4, 16)
        return x @ w.t()
    return (Fn(fn, w=torch.randint(0, 256, (32,), dtype=torch.uint8), table=torch.linspace(-1, 1, 16), scale=torch.rand(4)),
            [(rand(3, 16),), (rand(5, 16),)], auto((0,)))


@program
def float8_weights():
    def fn(m, x):
        w = m.w.to(torch.float32) * m.scale
        q = (x * 4).clamp(-448, 448).to(torch.float8_e4m3fn)
        return x @ w.t(), q.to(torch.float32) / 4
    return Fn(fn, w=rand(6, 8).to(torch.float8_e4m3fn), scale=torch.tensor(0.3)), [(rand(3, 8),), (rand(5, 8),)], auto((0,))


@program
def float8_scaled_mm():
    def fn(m, x):
        scale = x.abs().amax().clamp(min=1e-12) / 448
        q = (x / scale).clamp(-448, 448).to(torch.float8_e4m3fn)
        return torch._scaled_mm(q, m.w.t(), scale, m.scale, out_dtype=torch.float32)
    return Fn(fn, w=rand(16, 32).to(torch.float8_e4m3fn), scale=torch.tensor(0.3)), [(rand(16, 32),), (rand(32, 32),)], auto((0,))


@program
def fake_quantized():
    def fn(m, x):
        x = torch.fake_quantize_per_tensor_affine(x, 0.05, 3, 0, 255)
        w = torch.fake_quantize_per_channel_affine(m.w, m.scale, m.zero, 0, -128, 127)
        return F.linear(x, w)
    return (Fn(fn, w=rand(4, 8), scale=torch.rand(4) / 20 + 0.01, zero=torch.zeros(4, dtype=torch.int32)), [(rand(3, 8),), (rand(5, 8),)],
            auto((0,)))


@program
def int8_embedding():
    def fn(m, i):
        rows = m.w[i].to(torch.float32) * m.scale[i][..., None]
        return F.embedding(i, m.w.to(torch.float32) * m.scale[:, None]) - rows * 0.5
    return (Fn(fn, w=torch.randint(-128, 128, (10, 8), dtype=torch.int8), scale=torch.rand(10)),
            [(torch.randint(0, 10, (2, 3)),), (torch.randint(0, 10, (4, 1)),)], auto((0, 1)))


@program
def bitnet():
    """Ternary weights, activations in 8 bits."""
    def fn(m, x):
        scale = m.w.abs().mean().clamp(min=1e-5)
        w = (m.w / scale).round().clamp(-1, 1) * scale
        s = 127 / x.abs().amax(-1, keepdim=True).clamp(min=1e-5)
        return F.linear((x * s).round().clamp(-128, 127) / s, w)
    return Fn(fn, w=rand(4, 8)), [(rand(3, 2, 8),), (rand(5, 1, 8),)], auto((0, 1))


# ---- in place, truths, sizes from inputs ----

@program
def in_place_dunders():
    def fn(m, x, y):
        a, b = x > 0, y > 0
        a |= b
        c = a.clone()
        c &= x > -1
        c ^= b
        i = (x * 10).to(torch.int64)
        i |= 3
        i &= 0xFF
        i ^= 5
        i <<= 1
        i >>= torch.ones_like(i)
        z = x.clone()
        z += y
        z *= 2
        z -= 1
        z /= y.abs() + 1
        z **= 2
        z //= 0.5
        z %= 3
        a[:, 1:] |= b[:, :-1]
        i[0] &= 7
        return a, c, i, z
    return Fn(fn), [(rand(3, 4), rand(3, 4)), (rand(5, 4), rand(5, 4))], auto((0,), (0,))


@program
def in_place_dunder_methods():
    def fn(m, x, y):
        a = x > 0
        a.__ior__(y > 0)
        b = (x > -1).__iand__(a)
        c = a.clone().__ixor__(b)
        i = (x * 8).to(torch.int32).abs()
        i.__ilshift__(2).__irshift__(1)
        d = x.clone()
        d.__iadd__(y).__imul__(2).__isub__(y).__itruediv__(3)
        return a, b, c, i, d, a.__or__(b), i.__lshift__(1), i.__rshift__(1), i.__and__(3), i.__xor__(3)
    return Fn(fn), [(rand(3, 4), rand(3, 4)), (rand(5, 4), rand(5, 4))], auto((0,), (0,))


@program
def is_all_true():
    def fn(m, x):
        y = x > -10
        return torch.where(torch.ops.aten._is_all_true(y), x, -x), torch.ops.aten._is_any_true(x > 100)
    return Fn(fn), [(rand(3, 4),), (rand(5, 4),)], auto((0,))


@program
def bicubic_to_size_of():
    def fn(m, x, y):
        a = F.interpolate(x, size=y.shape[-2:], mode="bicubic", align_corners=False)
        b = F.interpolate(x, size=(y.shape[-2] * 2, y.shape[-1] + 1), mode="bicubic", align_corners=True)
        c = F.interpolate(x, size=y.shape[-2:], mode="bilinear", antialias=True)
        return a + y, b, c
    sets = [(rand(2, 3, 4, 5), rand(2, 3, 7, 9)), (rand(1, 3, 6, 4), rand(1, 3, 5, 11))]
    return Fn(fn), sets, auto((0, 2, 3), (0, 2, 3))


@program
def positions_bicubic():
    """A learned grid of positions, resized to the image, as in DINO."""
    class Vit(nn.Module):
        def __init__(self):
            super().__init__()
            self.patch, self.pos = nn.Conv2d(3, 8, 4, 4), nn.Parameter(torch.randn(1, 26, 8))

        def forward(self, x):
            h, w = x.shape[-2] // 4, x.shape[-1] // 4
            grid = self.pos[:, 1:].reshape(1, 5, 5, 8).permute(0, 3, 1, 2)
            grid = F.interpolate(grid, size=(h, w), mode="bicubic", align_corners=False)
            y = self.patch(x).flatten(2).mT + grid.permute(0, 2, 3, 1).view(1, -1, 8)
            return torch.cat([self.pos[:, :1].expand(x.shape[0], -1, -1), y], 1)
    return Vit(), [(rand(2, 3, 24, 16),), (rand(3, 3, 20, 32),)], ({0: AUTO, 2: AUTO, 3: AUTO},)


@program
def bicubic_antialias():
    def fn(m, x):
        return F.interpolate(x, size=(x.shape[-2] // 2, x.shape[-1] // 2), mode="bicubic", antialias=True)
    return Fn(fn), [(rand(3, 2, 12, 16),), (rand(2, 2, 10, 8),)], auto((0, 2, 3))


@program
def bicubic_size_from_values():
    def fn(m, x, size):
        h, w = size.tolist()
        torch._check(h > 1)
        torch._check(w > 1)
        torch._check(h < 100)
        torch._check(w < 100)
        return F.interpolate(x, size=(h, w), mode="bicubic"), F.interpolate(x, size=(h, w), mode="nearest")
    sets = [(rand(1, 2, 4, 5), torch.tensor([7, 9])), (rand(1, 2, 4, 5), torch.tensor([3, 12]))]
    return Fn(fn), sets, None


# ---- others ----

@program
def mamba_scan():
    class Mamba(nn.Module):
        def __init__(self, d=8, n=4):
            super().__init__()
            self.into, self.out = nn.Linear(d, 2 * d), nn.Linear(d, d)
            self.conv = nn.Conv1d(d, d, 4, padding=3, groups=d)
            self.bc, self.dt = nn.Linear(d, 2 * n), nn.Linear(d, d)
            self.a, self.d = nn.Parameter(torch.rand(d, n).log()), nn.Parameter(torch.ones(d))

        def forward(self, x):
            n = x.shape[1]
            u, gate = self.into(x).chunk(2, -1)
            u = F.silu(self.conv(u.mT)[..., :n].mT)
            b, c = self.bc(u).chunk(2, -1)
            dt = F.softplus(self.dt(u))
            da = torch.exp(dt[..., None] * -self.a.exp())
            state = torch.cumsum(dt[..., None] * b[:, :, None] * u[..., None] / da.cumprod(1), 1) * da.cumprod(1)
            return self.out(((state * c[:, :, None]).sum(-1) + self.d * u) * F.silu(gate))
    return Mamba(), [(rand(2, 6, 8),), (rand(1, 9, 8),)], ({0: AUTO, 1: AUTO},)


@program
def associative_scan():
    from torch._higher_order_ops.associative_scan import associative_scan

    def fn(m, a, x):
        return associative_scan(lambda p, q: (p[0] * q[0], q[0] * p[1] + q[1]), (a.sigmoid(), x), 1, combine_mode="generic")
    return Fn(fn), [(rand(2, 6, 3), rand(2, 6, 3))], None


@program
def kan():
    def fn(m, x):
        x = x[..., None]
        g = m.grid
        b = ((x >= g[:-1]) & (x < g[1:])).to(x.dtype)
        for k in range(1, 4):
            b = (x - g[:-k - 1]) / (g[k:-1] - g[:-k - 1]) * b[..., :-1] + (g[k + 1:] - x) / (g[k + 1:] - g[1:-k]) * b[..., 1:]
        return F.linear(F.silu(x[..., 0]), m.base) + F.linear(b.flatten(-2), m.spline.flatten(1))
    return Fn(fn, grid=torch.linspace(-3, 3, 12), base=rand(5, 4), spline=rand(5, 4, 8)), [(rand(3, 4),), (rand(6, 4),)], auto((0,))


@program
def moe_dispatch():
    class Moe(nn.Module):
        def __init__(self):
            super().__init__()
            self.gate, self.experts = nn.Linear(8, 4), nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

        def forward(self, x):
            flat = x.reshape(-1, 8)
            weight, chosen = self.gate(flat).softmax(-1).topk(2)
            weight = weight / weight.sum(-1, keepdim=True)
            out = torch.zeros_like(flat)
            for i, expert in enumerate(self.experts):
                out = out + expert(flat) * (weight * (chosen == i)).sum(-1, keepdim=True)
            return out.view_as(x)
    return Moe(), [(rand(2, 3, 8),), (rand(1, 7, 8),)], ({0: AUTO, 1: AUTO},)


@program
def sinkhorn():
    def fn(m, a, b):
        cost = torch.cdist(a, b)
        k, v = torch.exp(-cost / 0.5), torch.ones(b.shape[0]) / b.shape[0]
        u = torch.ones(a.shape[0]) / a.shape[0]
        p, q = u, v
        for _ in range(5):
            p = u / (k @ q)
            q = v / (k.T @ p)
        return p[:, None] * k * q[None]
    return Fn(fn), [(rand(4, 3), rand(5, 3)), (rand(6, 3), rand(3, 3))], auto((0,), (0,))


@program
def graph_attention():
    def fn(m, x, edge):
        h = m.lin(x)
        source, target = edge
        score = F.leaky_relu((h[source] * m.a).sum(-1) + (h[target] * m.b).sum(-1))
        top = torch.full((x.shape[0],), -torch.inf).scatter_reduce(0, target, score, "amax")
        e = (score - top[target]).exp()
        total = torch.zeros(x.shape[0]).index_add(0, target, e)
        return torch.zeros_like(h).index_add(0, target, h[source] * (e / total[target])[:, None])
    sets = [(rand(n, 4), torch.randint(0, n, (2, e))) for n, e in ((5, 9), (7, 20))]
    return Fn(fn, lin=nn.Linear(4, 6), a=rand(6), b=rand(6)), sets, auto((0,), (1,))


@program
def neural_ode():
    class Ode(nn.Module):
        def __init__(self):
            super().__init__()
            self.f = nn.Sequential(nn.Linear(3, 8), nn.Softplus(), nn.Linear(8, 3))

        def forward(self, x):
            h = 0.1
            for _ in range(3):
                a = self.f(x)
                b = self.f(x + h / 2 * a)
                c = self.f(x + h / 2 * b)
                x = x + h / 6 * (a + 2 * b + 2 * c + self.f(x + h * c))
            return x
    return Ode(), [(rand(2, 3),), (rand(5, 3),)], ({0: AUTO},)


@program
def vector_quantizer():
    def fn(m, x):
        b, c, h, w = x.shape
        flat = x.permute(0, 2, 3, 1).reshape(-1, c)
        index = torch.cdist(flat, m.book).argmin(-1)
        q = m.book[index].view(b, h, w, c).permute(0, 3, 1, 2)
        counts = torch.bincount(index, minlength=6) if False else F.one_hot(index, 6).sum(0)
        return x + (q - x), index.view(b, h, w), counts
    return Fn(fn, book=rand(6, 4)), [(rand(2, 4, 3, 5),), (rand(1, 4, 6, 2),)], auto((0, 2, 3))


@program
def swin_shift():
    def fn(m, x):
        b, h, w, c = x.shape
        x = torch.roll(x, (-2, -2), (1, 2))
        win = x.view(b, h // 4, 4, w // 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, c)
        y = F.scaled_dot_product_attention(win, win, win)
        y = y.view(b, h // 4, w // 4, 4, 4, c).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, c)
        return torch.roll(y, (2, 2), (1, 2))
    n = Dim("n", min=1, max=8)
    return Fn(fn), [(rand(2, 8, 12, 4),), (rand(1, 16, 4, 4),)], (({0: AUTO, 1: 4 * n, 2: AUTO},),)


@program
def deformable():
    def fn(m, x):
        b, c, h, w = x.shape
        off = m.off(x).permute(0, 2, 3, 1).tanh() * 0.1
        y, z = torch.meshgrid(torch.linspace(-1, 1, h), torch.linspace(-1, 1, w), indexing="ij")
        return F.grid_sample(x, torch.stack([z, y], -1)[None] + off, align_corners=True)
    return Fn(fn, off=nn.Conv2d(3, 2, 3, padding=1)), [(rand(2, 3, 5, 6),), (rand(1, 3, 8, 4),)], auto((0, 2, 3))


@program
def lstm_packed():
    def fn(m, x, length):
        packed = nn.utils.rnn.pack_padded_sequence(x, length, batch_first=True, enforce_sorted=False)
        return nn.utils.rnn.pad_packed_sequence(m.net(packed)[0], batch_first=True, total_length=6)[0]
    return Fn(fn, net=nn.LSTM(4, 5, batch_first=True)), [(rand(3, 6, 4), torch.tensor([6, 3, 4]))], None


@program
def lstm_gru():
    def fn(m, x):
        y, (h, c) = m.lstm(x)
        return m.gru(y)[0], h, c
    return (Fn(fn, lstm=nn.LSTM(4, 5, 2, batch_first=True, bidirectional=True), gru=nn.GRU(10, 3, batch_first=True)),
            [(rand(2, 6, 4),), (rand(3, 4, 4),)], auto((0, 1)))


@program
def beam_step():
    def fn(m, score, logits):
        b, k, v = logits.shape
        best, at = (score[..., None] + logits.log_softmax(-1)).view(b, -1).topk(k)
        return best, at // v, at % v
    return Fn(fn), [(rand(2, 3), rand(2, 3, 7)), (rand(4, 3), rand(4, 3, 9))], auto((0,), (0, 2))


@program
def sampling_filters():
    def fn(m, logits):
        top = logits.topk(5).values[..., -1:]
        logits = logits.masked_fill(logits < top, -torch.inf)
        value, index = logits.sort(descending=True)
        drop = value.softmax(-1).cumsum(-1) > 0.9
        drop[..., 1:] = drop[..., :-1].clone()
        drop[..., 0] = False
        return logits.masked_fill(drop.scatter(1, index, drop), -torch.inf).softmax(-1)
    return Fn(fn), [(rand(2, 12),), (rand(3, 20),)], auto((0, 1))


@program
def nerf():
    def fn(m, ray, direction):
        t = torch.linspace(2, 6, 8)
        x = ray[:, None] + direction[:, None] * t[:, None]
        feature = torch.cat([f(x * 2.0 ** i) for i in range(3) for f in (torch.sin, torch.cos)], -1)
        raw = m.net(feature)
        alpha = 1 - torch.exp(-F.relu(raw[..., 3]) * 0.5)
        through = torch.cumprod(torch.cat([torch.ones(alpha.shape[0], 1), 1 - alpha + 1e-10], -1), -1)[:, :-1]
        weight = alpha * through
        return (weight[..., None] * raw[..., :3].sigmoid()).sum(1), (weight * t).sum(-1)
    return Fn(fn, net=nn.Linear(18, 4)), [(rand(3, 3), rand(3, 3)), (rand(5, 3), rand(5, 3))], auto((0,), (0,))


@program
def box_decode():
    def fn(m, reg, anchors, score):
        size = anchors[:, 2:] - anchors[:, :2]
        centre = anchors[:, :2] + size / 2 + reg[:, :2] * size
        half = reg[:, 2:].clamp(max=4).exp() * size / 2
        box = torch.cat([centre - half, centre + half], 1)
        area = (box[:, 2:] - box[:, :2]).prod(1)
        low, high = torch.max(box[:, None, :2], box[None, :, :2]), torch.min(box[:, None, 2:], box[None, :, 2:])
        inter = (high - low).clamp(min=0).prod(-1)
        iou = inter / (area[:, None] + area[None] - inter)
        above = (iou > 0.5) & (score[None] > score[:, None])
        return box[~above.any(1)], iou
    sets = [(rand(n, 4), torch.rand(n, 4).cumsum(1), torch.rand(n)) for n in (5, 8)]
    return Fn(fn), sets, auto((0,), (0,), (0,))


@program
def quaternions():
    def fn(m, q, v):
        q = q / q.norm(dim=-1, keepdim=True)
        w, u = q[..., :1], q[..., 1:]
        t = 2 * torch.linalg.cross(u, v)
        angle = 2 * torch.atan2(u.norm(dim=-1), w[..., 0])
        return v + w * t + torch.linalg.cross(u, t), angle, torch.linalg.matrix_norm(q[..., None] * v[..., None, :])
    return Fn(fn), [(rand(3, 4), rand(3, 3)), (rand(6, 4), rand(6, 3))], auto((0,), (0,))


@program
def segment_lengths():
    """Tokens by segments of data-dependent lengths (repeat_interleave of a tensor)."""
    def fn(m, x, n):
        return torch.repeat_interleave(x, n, dim=0) * 2, torch.cumsum(n, 0)
    return Fn(fn), [(rand(3, 4), torch.tensor([2, 0, 3])), (rand(3, 4), torch.tensor([1, 1, 5]))], None


@program
def masked_select_mean():
    def fn(m, x):
        chosen = x[x > 0]
        return chosen.mean(), chosen * 2, torch.nonzero(x > 0)
    return Fn(fn), [(rand(3, 4),), (rand(5, 4),)], auto((0,))


@program
def conditional():
    def fn(m, x):
        return torch.cond(x.sum() > 0, lambda a: a.sin() * 2, lambda a: a.cos() - 1, (x,))
    return Fn(fn), [(rand(3, 4),), (-rand(5, 4).abs(),)], auto((0,))


@program
def loop_while():
    def fn(m, x):
        from torch._higher_order_ops import while_loop
        return while_loop(lambda i, y: (i < 5) & (y.sum() < 100), lambda i, y: (i + 1, y * 2 + 1),
                          (torch.tensor(0), x))
    return Fn(fn), [(torch.rand(3, 4),), (torch.rand(5, 4) * 5,)], auto((0,))


@program
def wavelet():
    def fn(m, x):
        low = F.conv1d(F.pad(x, (1, 2), mode="reflect"), m.low, stride=2)
        high = F.conv1d(F.pad(x, (1, 2), mode="circular"), m.high, stride=2)
        return low, high, F.conv_transpose1d(low, m.low, stride=2)
    return Fn(fn, low=rand(1, 1, 4), high=rand(1, 1, 4)), [(rand(2, 1, 16),), (rand(1, 1, 22),)], auto((0, 2))


@program
def unfold_fold():
    def fn(m, x):
        p = F.unfold(x, 2, stride=2)
        y = F.fold(p * 2, x.shape[-2:], 2, stride=2)
        return p, y, x.unfold(2, 2, 1).unfold(3, 2, 1).mean((-1, -2)), F.pixel_unshuffle(x, 2)
    n = Dim("n", min=1, max=8)
    return Fn(fn), [(rand(2, 3, 4, 6),), (rand(1, 3, 8, 6),)], (({0: AUTO, 2: 2 * n},),)
