"""Batch normalization with its running statistics, and other layers that are fitted to data."""

import math
import torch

from calque import gradient, operator
from aten.common import in_float, polynomial


def scaled_i0(x):
    """exp(-|x|) times the modified Bessel function of the first kind, of order 0."""
    near = x.abs().clamp(max=8) / 4 - 1
    far = x.abs().clamp(min=8)
    return torch.where(
        x.abs() <= 8,
        polynomial(
            near,
            [
                -1.6316042856792757e-08,
                5.7558980244552295e-08,
                -8.591406444264668e-08,
                2.697917392412236e-07,
                -1.142045323881917e-06,
                3.4092773809228405e-06,
                -9.183742586936203e-06,
                2.498583900595597e-05,
                -6.556805964401791e-05,
                0.0001625842597608375,
                -0.00038286526498299526,
                0.0008562116300006979,
                -0.0018119030567637056,
                0.003617168752907873,
                -0.006792394790940051,
                0.011960065876823142,
                -0.019682655791721182,
                0.030177914344596494,
                -0.0429859492954222,
                0.05677703172971468,
                -0.06954119563168235,
                0.07927522592888984,
                -0.08496338091541732,
                0.08734341617467443,
                -0.08904344136077755,
                0.09451562853996409,
                -0.11300432688620536,
                0.20700192122398667,
            ],
        ),
        polynomial(
            16 / far - 1,
            [
                9.365086892829343e-11,
                3.629355229716842e-11,
                -6.633287112553249e-10,
                -2.8033819978859867e-10,
                2.1968921378843734e-09,
                1.1050558794422017e-09,
                -4.575553424536962e-09,
                -3.134627642923778e-09,
                6.560138746918725e-09,
                7.335968710815915e-09,
                -5.038106487904183e-09,
                -1.3326094405766266e-08,
                -6.849338188286458e-09,
                7.534355843803304e-09,
                2.1566251453104287e-08,
                3.9328893751146346e-08,
                8.872034383314145e-08,
                2.973596046562712e-07,
                1.4838476651250266e-06,
                1.1143033800708978e-05,
                0.00013621607438984735,
                0.0033605519836677504,
                0.4021765094450081,
            ],
        )
        * far.rsqrt(),
    )


@operator("aten::i0(Tensor self) -> Tensor")
def i0(self):
    """The modified Bessel function of the first kind, of order 0."""
    x = in_float(self)
    return x.abs().exp() * scaled_i0(x)


@operator("aten::special_i0e(Tensor self) -> Tensor")
def special_i0e(self):
    """Exp(-|x|) i0(x)."""
    return scaled_i0(in_float(self))


def scaled_i1(x):
    """exp(-|x|) times the modified Bessel function of the first kind, of order 1."""
    near = x.abs().clamp(max=8) / 4 - 1
    far = x.abs().clamp(min=8)
    return torch.where(
        x.abs() <= 8,
        polynomial(
            near,
            [
                -1.41695079121077e-09,
                5.2131237878886215e-09,
                -8.984420960424589e-09,
                2.987385645901576e-08,
                -1.2424759932738304e-07,
                3.9094375480236725e-07,
                -1.1327072698408053e-06,
                3.2758438130588964e-06,
                -9.136543922789093e-06,
                2.42486684188831e-05,
                -6.142360299099794e-05,
                0.00014841259927108295,
                -0.0003411760289073331,
                0.0007445158727006065,
                -0.00153887456203039,
                0.003005761416447221,
                -0.005534567847563678,
                0.009583962344356725,
                -0.015571309243980052,
                0.02368601693352639,
                -0.03367135552108536,
                0.04467457262306667,
                -0.055280039226991644,
                0.06376740371333643,
                -0.06848260620582691,
                0.06805759990951268,
                -0.061124338029666284,
                0.04468770987560883,
            ],
        )
        * x,
        polynomial(
            16 / far - 1,
            [
                -9.75239720414957e-11,
                -3.365431853178303e-11,
                6.917089294200099e-10,
                2.6340771095126443e-10,
                -2.297004161886704e-09,
                -1.0594544160440854e-09,
                4.810597405091974e-09,
                3.086886736722427e-09,
                -6.983839624897569e-09,
                -7.444441477197033e-09,
                5.593370101791528e-09,
                1.3958551001385836e-08,
                6.84013899770664e-09,
                -8.40918204044288e-09,
                -2.3392503748018515e-08,
                -4.313196489977734e-08,
                -1.0001095659636541e-07,
                -3.4838534380376333e-07,
                -1.8349102358955385e-06,
                -1.5038547209501858e-05,
                -0.0002192357638317243,
                -0.009749577193235635,
                0.38939845902587233,
            ],
        )
        * far.rsqrt()
        * x.sign(),
    )


@operator("aten::special_i1(Tensor self) -> Tensor")
def special_i1(self):
    """The modified Bessel function of the first kind, of order 1."""
    x = in_float(self)
    return x.abs().exp() * scaled_i1(x)


@operator("aten::special_i1e(Tensor self) -> Tensor")
def special_i1e(self):
    """Exp(-|x|) i1(x)."""
    return scaled_i1(in_float(self))


@operator("aten::special_i0(Tensor self) -> Tensor", of_views=True)
def special_i0(self):
    """The same as aten::i0."""
    return torch.ops.aten.i0(self)


@operator("aten::special_erfcx(Tensor self) -> Tensor")
def special_erfcx(self):
    """Exp(x * x) erfc(x)."""
    x = in_float(self)
    a = x.abs()
    y = polynomial(
        1 - 7.5 / (a + 3.75),
        [
            -2.623107347133476e-09,
            -1.9551358868985616e-09,
            3.197926671666804e-08,
            1.879082322370048e-08,
            -2.4857126248016745e-07,
            -5.084465378687302e-08,
            1.7419821586224816e-06,
            -9.792625707303523e-07,
            -1.1438048033346894e-05,
            2.2387565714911816e-05,
            5.164652974177416e-05,
            -0.00029015535246077655,
            0.000293714378044958,
            0.0017556261651970652,
            -0.009746579683265262,
            0.02836227737211114,
            -0.05869339857664934,
            0.09230432116428125,
            -0.10880393014244462,
            0.08227673848999506,
            0.0035854154854790257,
            -0.14024059858554525,
            1.2375126308378275,
        ],
    ) / (1 + 2 * a)
    return torch.where(x < 0, 2 * x.clamp(max=0).square().exp() - y, y)


@operator("aten::special_log_ndtr(Tensor self) -> Tensor")
def special_log_ndtr(self):
    """The logarithm of the normal distribution function."""
    x = in_float(self)
    far = x.clamp(max=-1)
    y = torch.log(torch.ops.aten.special_erfcx(far * -math.sqrt(0.5)) / 2) - far.square() / 2
    return torch.where(x < -1, y, torch.log1p(-torch.erfc(x.clamp(min=-1) * math.sqrt(0.5)) / 2))


@operator("aten::special_ndtri(Tensor self) -> Tensor")
def special_ndtri(self):
    """The inverse of special_ndtr."""
    p = in_float(self)
    m = p - 0.5
    y = m.clamp(-0.35, 0.35)
    y = y * polynomial(
        y.square() * (2 / 0.1225) - 1,
        [
            3.0630317275807997e-10,
            9.803382969985967e-10,
            1.8489890483578624e-09,
            6.25340413777707e-09,
            2.349937516878774e-08,
            7.870643411324299e-08,
            2.6355961421887537e-07,
            8.996165138610667e-07,
            3.1041314747426976e-06,
            1.0844428355048318e-05,
            3.850621068786752e-05,
            0.00013963799238369312,
            0.0005209257474089697,
            0.002022882989655124,
            0.008350848390726055,
            0.03827289079191258,
            0.2183913168381912,
            2.6934860234047733,
        ],
    )
    q = torch.where(m > 0, 1 - p, p)
    s = torch.sqrt(-2 * torch.log(q.clamp(max=0.15)))
    near = s.clamp(max=6)
    far = s.clamp(6, 38.6)
    near = near * polynomial(
        (1 / near - 1 / 6) * (2 / (0.513378412438103 - 1 / 6)) - 1,
        [
            3.330952556105247e-10,
            -7.231558199594118e-10,
            4.775121599929073e-12,
            -2.717621653214831e-10,
            4.366964559305882e-09,
            -1.0211684438979645e-08,
            2.1096058923289988e-08,
            -5.462751269571272e-08,
            1.4635630017140222e-07,
            -3.922682614811296e-07,
            1.0832743263525378e-06,
            -3.126907337585461e-06,
            9.642478556431524e-06,
            -3.288109954983694e-05,
            0.00012871040741502753,
            -0.000595177060604661,
            0.0033599318537311583,
            -0.026329323902405173,
            -0.19902262334048057,
            0.7545665783376954,
        ],
    )
    far = far * polynomial(
        (1 / far - 0.025906735751295335) * (2 / (1 / 6 - 0.025906735751295335)) - 1,
        [
            1.9681653053706183e-08,
            -2.579527389386918e-08,
            -8.900307427663771e-08,
            1.0964868611946742e-07,
            2.0303366187112117e-07,
            -2.3930503207708394e-07,
            -2.555573375993457e-07,
            2.7792284425448733e-07,
            2.4925979947677357e-07,
            -2.712342052760091e-07,
            -7.047632673775361e-08,
            2.047403532498265e-08,
            2.370379528658107e-07,
            -3.739097626573473e-07,
            5.849172379999665e-07,
            -1.117404079101049e-06,
            2.211821976932554e-06,
            -4.547389957582709e-06,
            9.983666828195271e-06,
            -2.3956412033037676e-05,
            6.528974334723564e-05,
            -0.00021910561865342925,
            0.0010615627511682876,
            -0.009237400401413222,
            -0.03803969347931482,
            0.9695150904619512,
        ],
    )
    side = torch.where(s <= 6, near, far)
    side = torch.where(m > 0, side, -side)
    y = torch.where(m.abs() <= 0.35, y, side)
    y = torch.where(p == 0, -math.inf, torch.where(p == 1, math.inf, y))
    return torch.where(torch.logical_or(p < 0, p > 1), math.nan, y)


@gradient("aten::i0")
def i0_gradient(grad, self):
    return {"self": grad * torch.ops.aten.special_i1(self)}


@gradient("aten::special_i0e")
def special_i0e_gradient(grad, result, self):
    return {"self": grad * (torch.ops.aten.special_i1e(self) - torch.sign(self) * result)}


@gradient("aten::special_i1")
def special_i1_gradient(grad, result, self):
    return {
        "self": grad * torch.where(torch.abs(self) > 1.2e-07, torch.i0(self) - result / self, 0.5)
    }


@gradient("aten::special_i1e")
def special_i1e_gradient(grad, result, self):
    return {
        "self": grad
        * torch.where(
            torch.abs(self) > 1.2e-07,
            torch.ops.aten.special_i0e(self) - result * (torch.sign(self) + 1 / self),
            0.5,
        )
    }


@gradient("aten::special_log_ndtr")
def special_log_ndtr_gradient(grad, self):
    return {
        "self": grad / torch.ops.aten.special_erfcx(self * -0.7071067811865476) * 0.7978845608028654
    }


@gradient("aten::special_ndtri")
def special_ndtri_gradient(grad, result):
    return {"self": grad * 2.5066282746310002 * torch.exp(result.square() / 2)}


@gradient("aten::special_erfcx")
def special_erfcx_gradient(grad, result, self):
    return {"self": grad * (2 * self * result - 1.1283791670955126)}
