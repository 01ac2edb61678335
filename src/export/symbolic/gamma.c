/* Functions that ONNX has not, put together from those that it has: the inverse of Erf, the
 * logarithm of the gamma function and its derivative. All of it is computed in float64. Errors are
 * those of the series: below 1e-12 of the gamma functions, 3e-10 of erfinv, which float32 does not
 * see. */
#include "export/symbolic/symbolic.h"

/* clang-format off */

/* Polynomials fitted to erfinv(x) / x and to erfinv(x), in terms of w = -log(1 - x^2): the first to
 * w = 5, in w - 2.5; the second beyond that, in sqrt(w) - 4.168…, as far as float64 goes. */
#define CENTRE \
    "[1.5014093511111484, 0.24664027673112496, -0.004177317731350998," \
    " -0.0012527078285947755, 0.00021825028766905605, -4.996219551363304e-06," \
    " -3.4166492986029574e-06, 4.788351857952339e-07, 1.3435322461198735e-08," \
    " -1.0906188692251188e-08, 9.01071389517908e-10, 1.297647800911155e-10," \
    " -2.995745446835372e-11, -3.3594736396258294e-13, 4.309608671142208e-13]"
#define TAIL \
    "[4.0094446087211875, 1.0098491564864072, 0.0008693464778193997," \
    " -0.0006774304089943347, 0.00023271525525941388, -6.554099474374166e-05," \
    " 1.649663004826866e-05, -3.4891093482498334e-06, 6.135439735471525e-07," \
    " -1.714959051225882e-07, -2.6604661199137684e-08, 9.140964964873752e-08," \
    " -2.9259151720363266e-08, -4.005189165415431e-09, 2.1272709577073043e-09]"

#define ERFINV \
    "x = cast(self, 'float64'); one = like(1, x);" \
    "w = -Log((one - x) * (one + x));" \
    "near = x * polynomial(w + -2.5, " CENTRE ");" \
    "far = Sign(x) * polynomial(Sqrt(w) + -4.168033988749895, " TAIL ");" \
    "y = Where(Less(w, 5), near, far);" \
    "y = Where(Equal(Abs(x), one), x * inf, y);" \
    "Where(Greater(Abs(x), one), NaN, y)"

/* What x is for the series of 1/x, which are as good as exact from 8 on: mirrored if it is below a
 * half, and moved up by 8 if it is small. low is what it was before that, 1 where it was not moved;
 * part is what x has after its point. */
#define PLACE \
    "x = cast(self, 'float64'); pi = 3.14159265358979323846;" \
    "mirrored = Less(x, 0.5);" \
    "part = x - Floor(x);" \
    "right = Where(mirrored, 1 - x, x);" \
    "small = Less(right, 8);" \
    "low = Where(small, right, 1);" \
    "high = Where(small, right + 8, right);" \
    "inverse = Reciprocal(high);"

/* Stirling's series, less the logarithm of x (x + 1) … (x + 7). */
#define LGAMMA \
    PLACE \
    "y = (high + -0.5) * Log(high) - high;" \
    "y = y + inverse * polynomial(inverse * inverse," \
    " [1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156]);" \
    "y = y + 0.91893853320467274178;" \
    "product = low * (low + 1) * (low + 2) * (low + 3) * (low + 4) * (low + 5) * (low + 6) * (low + 7);" \
    "y = y - Log(Where(small, product, 1));" \
    "mirror = 1.14472988584940017414 - Log(Abs(Sin(part * pi)));" \
    "y = Where(mirrored, mirror - y, y);" \
    "Where(Greater(Abs(x), highest('float64')), inf, y)"

/* log(x) - 1/2x - 1/12x^2 …, less 1/x, 1/(x + 1) …; there is none at negative integers, and an
 * infinity at 0 whose sign is that of the zero turned around. */
#define DIGAMMA \
    PLACE \
    "square = inverse * inverse;" \
    "y = Log(high) - inverse * 0.5;" \
    "y = y - square * polynomial(square," \
    " [1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12]);" \
    "sum = Reciprocal(low) + Reciprocal(low + 1) + Reciprocal(low + 2) + Reciprocal(low + 3) +" \
    " Reciprocal(low + 4) + Reciprocal(low + 5) + Reciprocal(low + 6) + Reciprocal(low + 7);" \
    "y = y - Where(small, sum, 0);" \
    "y = Where(mirrored, y - cosine(part * pi) / Sin(part * pi) * pi, y);" \
    "y = Where(Equal(x, 0), -Reciprocal(x), y);" \
    "Where(And(Equal(part, 0), Less(x, 0)), NaN, y)"

/* clang-format on */

#define TOO_EARLY "it needs Where, of opset 9"

const cq_symbolic cq_symbolics_gamma[] = {
    { "aten::erfinv", 7, .no = TOO_EARLY },
    { "aten::erfinv", 9, .each = ERFINV },
    { "aten::lgamma", 7, .no = TOO_EARLY },
    { "aten::lgamma", 9, .each = LGAMMA },
    { "aten::digamma", 7, .no = TOO_EARLY },
    { "aten::digamma", 9, .each = DIGAMMA },
    { 0 },
};
