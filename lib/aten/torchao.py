"""torchao."""

import math
import torch

from calque import operator, size_hint
from aten.common import in_float, number_like, polynomial
from aten.quantized_decomposed import or_float


# On the example: PyTorch fixes it, too, when a program is exported.
def is_split(size, block):
    return size_hint(size) != size_hint(block) and size_hint(block) != 1


# Each dimension that is split becomes two: blocks, and elements of a block.
def block_shape(x, blocks):
    sizes = []
    for i in range(x.ndim):
        sizes = sizes + (
            [x.shape[i] // blocks[i], blocks[i]]
            if is_split(x.shape[i], blocks[i])
            else [x.shape[i]]
        )
    return sizes


# The shape of one number for each block, beside that.
def block_ones(x, blocks):
    sizes = []
    for i in range(x.ndim):
        sizes = sizes + (
            [x.shape[i] // blocks[i], 1]
            if is_split(x.shape[i], blocks[i])
            else [x.shape[i] if size_hint(blocks[i]) == 1 else 1]
        )
    return sizes


# The dimensions of block_shape that are inside of a block.
def block_dims(x, blocks):
    dims = []
    at = 0
    for i in range(x.ndim):
        split = is_split(x.shape[i], blocks[i])
        dims = dims + ([at + 1] if split else [] if size_hint(blocks[i]) == 1 else [at])
        at = at + (2 if split else 1)
    return dims


def least_of(dtype):
    return (
        0
        if dtype == torch.uint8
        else -128
        if dtype == torch.int8
        else -32768
        if dtype == torch.int16
        else -2147483648
    )


def most_of(dtype):
    return (
        255
        if dtype == torch.uint8
        else 127
        if dtype == torch.int8
        else 32767
        if dtype == torch.int16
        else 2147483647
    )


def smallest_of(dtype):
    return (
        6.103515625e-05
        if dtype == torch.float16
        else 2.2250738585072014e-308
        if dtype == torch.float64
        else 1.1754943508222875e-38
    )


@operator(
    "torchao::choose_qparams_affine(Tensor input, str mapping_type, SymInt[] block_size, "
    "ScalarType target_dtype, Scalar? quant_min=None, Scalar? quant_max=None, "
    "float? eps=None, ScalarType? scale_dtype=None, ScalarType? zero_point_dtype=None, "
    "bool keepdim=False, bool preserve_zero=True, str? zero_point_domain='INT') -> (Tensor, "
    "Tensor)"
)
def torchao_choose_qparams_affine(
    input,
    mapping_type,
    block_size,
    target_dtype,
    quant_min,
    quant_max,
    eps,
    scale_dtype,
    zero_point_dtype,
    keepdim,
    preserve_zero,
    zero_point_domain,
):
    """Quantization parameters of each block."""
    assert (
        len(block_size) == input.ndim
    ), f"{len(block_size)} block sizes for a tensor of {input.ndim} dimensions"
    parts = block_shape(input, block_size)
    one = block_ones(input, block_size)
    if zero_point_domain is not None and zero_point_domain in ["FLOAT"]:
        raise NotImplementedError("zero points in the domain of floats")
    assert preserve_zero, "expected parameters that represent 0"
    assert mapping_type in [
        "SYMMETRIC",
        "SYMMETRIC_NO_CLIPPING_ERR",
        "ASYMMETRIC",
    ], f"unknown mapping type {mapping_type}"
    least = least_of(target_dtype) if quant_min is None else quant_min
    most = most_of(target_dtype) if quant_max is None else quant_max
    dims = block_dims(input, block_size)
    x = input.reshape(parts)
    low = (x.amin(dims, keepdim) if len(dims) > 0 else x).clamp(max=0)
    high = (x.amax(dims, keepdim) if len(dims) > 0 else x).clamp(min=0)
    if mapping_type == "ASYMMETRIC":
        scale = (high - low) / float(most - least)
    elif mapping_type == "SYMMETRIC":
        scale = torch.maximum(-low, high) / (float(most - least) / 2)
    else:
        scale = torch.maximum(low / float(least), high / float(most))
    scale = scale.clamp(min=smallest_of(input.dtype) if eps is None else eps)
    if mapping_type == "ASYMMETRIC":
        zero = (least - (low / scale).round()).clamp(least, most)
    else:
        zero = torch.full_like(scale, int((most + least + 1) / 2))
    if keepdim:
        sizes = [input.shape[i] // block_size[i] for i in range(input.ndim)]
        scale = scale.reshape(sizes)
        zero = zero.reshape(sizes)
    return (
        scale.to(input.dtype if scale_dtype is None else scale_dtype),
        zero.to(torch.int32 if zero_point_dtype is None else zero_point_dtype),
    )


@operator(
    "torchao::quantize_affine(Tensor input, SymInt[] block_size, Tensor scale, "
    "Tensor? zero_point, ScalarType output_dtype, Scalar? quant_min=None, "
    "Scalar? quant_max=None, str? zero_point_domain='INT') -> Tensor"
)
def torchao_quantize_affine(
    input, block_size, scale, zero_point, output_dtype, quant_min, quant_max, zero_point_domain
):
    """Integers, with quantization parameters for each block."""
    assert (
        len(block_size) == input.ndim
    ), f"{len(block_size)} block sizes for a tensor of {input.ndim} dimensions"
    parts = block_shape(input, block_size)
    one = block_ones(input, block_size)
    if zero_point_domain is not None and zero_point_domain in ["FLOAT"]:
        raise NotImplementedError("zero points in the domain of floats")
    least = least_of(output_dtype) if quant_min is None else quant_min
    most = most_of(output_dtype) if quant_max is None else quant_max
    y = (input.reshape(parts) * (1.0 / scale.reshape(one))).round()
    if zero_point is not None:
        y = y + zero_point.reshape(one)
    return y.clamp(least, most).reshape(input.shape).to(output_dtype)


@operator(
    "torchao::dequantize_affine(Tensor input, SymInt[] block_size, Tensor scale, "
    "Tensor? zero_point, ScalarType input_dtype, Scalar? quant_min=None, "
    "Scalar? quant_max=None, ScalarType? output_dtype=None, str? zero_point_domain='INT') "
    "-> Tensor"
)
def torchao_dequantize_affine(
    input,
    block_size,
    scale,
    zero_point,
    input_dtype,
    quant_min,
    quant_max,
    output_dtype,
    zero_point_domain,
):
    """Dequantize integers with quantization parameters for each block."""
    assert (
        len(block_size) == input.ndim
    ), f"{len(block_size)} block sizes for a tensor of {input.ndim} dimensions"
    parts = block_shape(input, block_size)
    one = block_ones(input, block_size)
    if zero_point_domain is not None and zero_point_domain in ["FLOAT"]:
        raise NotImplementedError("zero points in the domain of floats")
    d = or_float(output_dtype)
    y = input.reshape(parts).to(d)
    if zero_point is not None:
        y = y - zero_point.reshape(one).to(d)
    return (y * scale.reshape(one)).reshape(input.shape).to(d)


@operator("aten::special_bessel_j0(Tensor self) -> Tensor")
def special_bessel_j0(self):
    """Bessel's function of the first kind, of order 0."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    s = small.square() / 32 - 1
    large = y.clamp(min=8)
    t = 128 / large.square() - 1
    phase = large - math.pi / 4
    high = (2 / math.pi / large).sqrt()
    p = polynomial(
        t,
        [
            -1.2976727285594204e-12,
            5.538042551238324e-12,
            -2.4629541128263808e-11,
            1.5430831129269752e-10,
            -1.2122331597442108e-09,
            1.2804017666717393e-08,
            -2.0527446058637657e-07,
            6.137416047543163e-06,
            -0.0005363673192140685,
            0.9994572757882526,
        ],
    )
    q = (
        polynomial(
            t,
            [
                -2.7338449247237154e-13,
                7.915216052472428e-13,
                -1.6783779045026498e-12,
                6.538016467992787e-12,
                -2.8840344824996496e-11,
                1.364832378469862e-10,
                -7.57586453075858e-10,
                5.1461591930522475e-09,
                -4.5349736139769986e-08,
                5.684971972265847e-07,
                -1.1817110660715592e-05,
                0.0005466519279472034,
                -0.12444091103610816,
            ],
        )
        / large
    )
    far = high * (p * phase.cos() - q * phase.sin())
    y = torch.where(
        y <= 8,
        polynomial(
            s,
            [
                3.3794626319436793e-10,
                -7.96194687687482e-09,
                1.5955848859935914e-07,
                -2.717679287941214e-06,
                3.847320005801417e-05,
                -0.0004435459758542475,
                0.004058078988108771,
                -0.02847271858902714,
                0.14598884856785538,
                -0.5074680458516896,
                1.0383794611436883,
                -0.8080888076692623,
                -0.6484692830871821,
                0.9303012472958457,
                0.045829664859813754,
            ],
        ),
        far,
    )
    return torch.where(x.isnan(), x, y)


@operator("aten::special_bessel_j1(Tensor self) -> Tensor")
def special_bessel_j1(self):
    """Bessel's function of the first kind, of order 1."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    s = small.square() / 32 - 1
    large = y.clamp(min=8)
    t = 128 / large.square() - 1
    phase = large - 3 * math.pi / 4
    high = (2 / math.pi / large).sqrt()
    p = polynomial(
        t,
        [
            1.3958847733874476e-12,
            -5.9958064435078266e-12,
            2.6934110557353714e-11,
            -1.7056402360564498e-10,
            1.3604283513176835e-09,
            -1.4708787296165847e-08,
            2.453676398677532e-07,
            -7.959694663578884e-06,
            0.0008988049416716917,
            1.0009070262780815,
        ],
    )
    q = (
        polynomial(
            t,
            [
                -8.412485658069601e-13,
                2.665792699508074e-12,
                -7.028011349149164e-12,
                3.0166510460295075e-11,
                -1.4842814504504144e-10,
                8.320654486240071e-10,
                -5.72081439754336e-09,
                5.1360949369410444e-08,
                -6.633568656664936e-07,
                1.4569614819521505e-05,
                -0.0007697167057640292,
                0.3742149922195917,
            ],
        )
        / large
    )
    far = high * (p * phase.cos() - q * phase.sin())
    y = torch.where(
        y <= 8,
        small
        * polynomial(
            s,
            [
                1.1658972367678622e-11,
                -2.9580309461613664e-10,
                6.431190177265836e-09,
                -1.1966856610655616e-07,
                1.8684526037206013e-06,
                -2.4045750380401832e-05,
                0.0002494945813597261,
                -0.002029039493866671,
                0.012456814392263375,
                -0.05474581821299505,
                0.15858376432721838,
                -0.2595948652859166,
                0.15151665143806636,
                0.08105866038589758,
                -0.05814382795599107,
            ],
        ),
        far,
    )
    return torch.where(x.isnan(), x, torch.where(x < 0, -y, y))


@operator("aten::special_bessel_y0(Tensor self) -> Tensor")
def special_bessel_y0(self):
    """Bessel's function of the second kind, of order 0."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    s = small.square() / 32 - 1
    large = y.clamp(min=8)
    t = 128 / large.square() - 1
    phase = large - math.pi / 4
    high = (2 / math.pi / large).sqrt()
    p = polynomial(
        t,
        [
            -1.2976727285594204e-12,
            5.538042551238324e-12,
            -2.4629541128263808e-11,
            1.5430831129269752e-10,
            -1.2122331597442108e-09,
            1.2804017666717393e-08,
            -2.0527446058637657e-07,
            6.137416047543163e-06,
            -0.0005363673192140685,
            0.9994572757882526,
        ],
    )
    q = (
        polynomial(
            t,
            [
                -2.7338449247237154e-13,
                7.915216052472428e-13,
                -1.6783779045026498e-12,
                6.538016467992787e-12,
                -2.8840344824996496e-11,
                1.364832378469862e-10,
                -7.57586453075858e-10,
                5.1461591930522475e-09,
                -4.5349736139769986e-08,
                5.684971972265847e-07,
                -1.1817110660715592e-05,
                0.0005466519279472034,
                -0.12444091103610816,
            ],
        )
        / large
    )
    far = high * (p * phase.sin() + q * phase.cos())
    near = polynomial(
        s,
        [
            2.6926938054524057e-11,
            -7.165821913752182e-10,
            1.6390875014077404e-08,
            -3.218450383864968e-07,
            5.3213188103997145e-06,
            -7.279542368660281e-05,
            0.000806158605961636,
            -0.0070257410549918785,
            0.046367047681375125,
            -0.21895747096229642,
            0.6721770783431679,
            -1.077547733821527,
            0.14412632369302475,
            1.6470964788745432,
            -0.8284358903604587,
            -0.38225065445942497,
        ],
    ) + 2 / math.pi * small.clamp(min=1e-30).log() * polynomial(
        s,
        [
            3.3794626319436793e-10,
            -7.96194687687482e-09,
            1.5955848859935914e-07,
            -2.717679287941214e-06,
            3.847320005801417e-05,
            -0.0004435459758542475,
            0.004058078988108771,
            -0.02847271858902714,
            0.14598884856785538,
            -0.5074680458516896,
            1.0383794611436883,
            -0.8080888076692623,
            -0.6484692830871821,
            0.9303012472958457,
            0.045829664859813754,
        ],
    )
    y = torch.where(y <= 8, near, far)
    return torch.where(
        x > 0, y, torch.where(x == 0, number_like(x, -math.inf), number_like(x, math.nan))
    )


@operator("aten::special_bessel_y1(Tensor self) -> Tensor")
def special_bessel_y1(self):
    """Bessel's function of the second kind, of order 1."""
    x = in_float(self)
    y = x.abs()
    small = y.clamp(max=8)
    s = small.square() / 32 - 1
    large = y.clamp(min=8)
    t = 128 / large.square() - 1
    phase = large - 3 * math.pi / 4
    high = (2 / math.pi / large).sqrt()
    p = polynomial(
        t,
        [
            1.3958847733874476e-12,
            -5.9958064435078266e-12,
            2.6934110557353714e-11,
            -1.7056402360564498e-10,
            1.3604283513176835e-09,
            -1.4708787296165847e-08,
            2.453676398677532e-07,
            -7.959694663578884e-06,
            0.0008988049416716917,
            1.0009070262780815,
        ],
    )
    q = (
        polynomial(
            t,
            [
                -8.412485658069601e-13,
                2.665792699508074e-12,
                -7.028011349149164e-12,
                3.0166510460295075e-11,
                -1.4842814504504144e-10,
                8.320654486240071e-10,
                -5.72081439754336e-09,
                5.1360949369410444e-08,
                -6.633568656664936e-07,
                1.4569614819521505e-05,
                -0.0007697167057640292,
                0.3742149922195917,
            ],
        )
        / large
    )
    far = high * (p * phase.sin() + q * phase.cos())
    a = small.clamp(min=1e-30)
    near = (
        a
        * (
            polynomial(
                s,
                [
                    -2.499531546171249e-11,
                    6.202538033356882e-10,
                    -1.3153147367094951e-08,
                    2.380443767044983e-07,
                    -3.601000022590458e-06,
                    4.467433389052664e-05,
                    -0.0004438173434420147,
                    0.0034224907383790058,
                    -0.01962875683311711,
                    0.07854786922274869,
                    -0.19639839859930203,
                    0.2350720920666676,
                    0.02336757172099348,
                    -0.24337743079193033,
                    0.07075985882118005,
                ],
            )
            + 2
            / math.pi
            * a.log()
            * polynomial(
                s,
                [
                    1.1658972367678622e-11,
                    -2.9580309461613664e-10,
                    6.431190177265836e-09,
                    -1.1966856610655616e-07,
                    1.8684526037206013e-06,
                    -2.4045750380401832e-05,
                    0.0002494945813597261,
                    -0.002029039493866671,
                    0.012456814392263375,
                    -0.05474581821299505,
                    0.15858376432721838,
                    -0.2595948652859166,
                    0.15151665143806636,
                    0.08105866038589758,
                    -0.05814382795599107,
                ],
            )
        )
        - 2 / math.pi / a
    )
    y = torch.where(y <= 8, near, far)
    return torch.where(
        x > 0, y, torch.where(x == 0, number_like(x, -math.inf), number_like(x, math.nan))
    )


@operator("aten::special_modified_bessel_i0(Tensor self) -> Tensor")
def special_modified_bessel_i0(self):
    """Bessel's function of the first kind for imaginary arguments, of order 0."""
    return torch.i0(self)


@operator("aten::special_modified_bessel_i1(Tensor self) -> Tensor")
def special_modified_bessel_i1(self):
    """Bessel's function of the first kind for imaginary arguments, of order 1."""
    return torch.ops.aten.special_i1(self)


@operator("aten::special_modified_bessel_k0(Tensor self) -> Tensor")
def special_modified_bessel_k0(self):
    """Bessel's function of the second kind for imaginary arguments, of order 0."""
    x = in_float(self)
    small = x.clamp(1e-30, 2)
    s = small.square() / 2 - 1
    large = x.clamp(min=2)
    t = 4 / large - 1
    near = polynomial(
        s,
        [
            5.452564662772586e-12,
            6.62380496488552e-10,
            6.093361894172114e-08,
            4.054506560572984e-06,
            0.0001828055582791554,
            0.005053392643212586,
            0.07177701034240509,
            0.3404973210133794,
            -0.30362077291575545,
        ],
    ) - (small / 2).log() * polynomial(
        s,
        [
            2.5398791970311194e-12,
            3.273598657287219e-10,
            3.236227352376538e-08,
            2.3575789615827903e-06,
            0.0001198206858163441,
            0.003928565105644117,
            0.07358986836105334,
            0.635861728156068,
            1.5660829297563506,
        ],
    )
    far = (
        polynomial(
            t,
            [
                -4.845976624616983e-10,
                8.310065038985326e-10,
                8.420157628766141e-10,
                -1.1073116183689915e-09,
                -3.282020273552185e-09,
                5.824416878540813e-09,
                -6.004239405723406e-09,
                1.53338830124452e-08,
                -4.2041959747016134e-08,
                1.0379057281747687e-07,
                -2.6867494679720537e-07,
                7.425403900672949e-07,
                -2.191222676758333e-06,
                7.0022843434963184e-06,
                -2.4735199846021702e-05,
                9.956054428670315e-05,
                -0.00047976905699133196,
                0.0030328918103729526,
                -0.031071461824886373,
                1.21859533851339,
            ],
        )
        * large.rsqrt()
    )
    y = torch.where(x <= 2, near, far * (-large).exp())
    return torch.where(
        x > 0, y, torch.where(x == 0, number_like(x, math.inf), number_like(x, math.nan))
    )


@operator("aten::special_modified_bessel_k1(Tensor self) -> Tensor")
def special_modified_bessel_k1(self):
    """Bessel's function of the second kind for imaginary arguments, of order 1."""
    x = in_float(self)
    small = x.clamp(1e-30, 2)
    s = small.square() / 2 - 1
    large = x.clamp(min=2)
    t = 4 / large - 1
    near = 1 / small + small * (
        polynomial(
            s,
            [
                -3.089218079102441e-13,
                -4.235880161904666e-11,
                -4.4737089807404435e-09,
                -3.4958297648996174e-07,
                -1.9109762342344585e-05,
                -0.0006724746609661541,
                -0.013254642948920606,
                -0.10866462148495115,
                -0.057455856135205326,
            ],
        )
        + (small / 2).log()
        * polynomial(
            s,
            [
                1.4032637886429537e-13,
                2.031922759238477e-11,
                2.291273488938041e-09,
                1.9417364085156806e-07,
                1.1787894939469932e-05,
                0.00047928274326549763,
                0.011785695316910426,
                0.14717973672210669,
                0.6358617281560686,
            ],
        )
    )
    far = (
        polynomial(
            t,
            [
                5.344338028107821e-10,
                -9.201040869575581e-10,
                -9.151326398946588e-10,
                1.198981637267927e-09,
                3.663603232872061e-09,
                -6.558344305641008e-09,
                7.0004176227360515e-09,
                -1.792857143205822e-08,
                4.92334165346621e-08,
                -1.229528363054785e-07,
                3.227270041303412e-07,
                -9.064448911098882e-07,
                2.730090664389364e-06,
                -8.961249966141308e-06,
                3.284386038812149e-05,
                -0.00013959021611581105,
                0.000735724155154905,
                -0.005566729880181961,
                0.10334973775386178,
                1.3631518903713424,
            ],
        )
        * large.rsqrt()
    )
    y = torch.where(x <= 2, near, far * (-large).exp())
    return torch.where(
        x > 0, y, torch.where(x == 0, number_like(x, math.inf), number_like(x, math.nan))
    )
