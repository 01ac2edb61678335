/* Functions that ONNX has not, put together from those that it has: the inverse of Erf, the
 * logarithm of the gamma function and its derivative. All of it is computed in float64. Errors are
 * those of the series: below 1e-12 of the gamma functions, 3e-10 of erfinv, which float32 does not
 * see. */
#include "export/arith.h"

#include <float.h>
#include <math.h>

#define PI 3.14159265358979323846

static cq_value *self_in_double(cq_sym *s)
{
    return cq_sym_cast(s, cq_sym_operand(s, "self"), CQ_DTYPE_F64);
}

static cq_value *num(cq_sym *s, double number)
{
    return cq_sym_const_f64(s, CQ_DTYPE_F64, number);
}

static cq_value *plus(cq_sym *s, cq_value *x, double number)
{
    return CQ_2("Add", x, num(s, number));
}

static cq_value *times(cq_sym *s, cq_value *x, double number)
{
    return CQ_2("Mul", x, num(s, number));
}

static cq_value *is_below(cq_sym *s, cq_value *x, double number)
{
    return CQ_2("Less", x, num(s, number));
}

/* The sum of a[i] x^i. */
static cq_value *polynomial(cq_sym *s, cq_value *x, const double *a, size_t n)
{
    cq_value *sum = num(s, a[n - 1]);

    for (size_t i = n - 1; i-- > 0;)
        sum = plus(s, CQ_2("Mul", sum, x), a[i]);
    return sum;
}

#define POLYNOMIAL(s, x, a) polynomial(s, x, a, sizeof(a) / sizeof *(a))

/* ---- the inverse of Erf ---- */

/* Polynomials fitted to erfinv(x) / x and to erfinv(x), in terms of w = -log(1 - x^2): the first to
 * w = 5, in w - 2.5; the second beyond that, in sqrt(w) - TAIL, as far as float64 goes. */
#define TAIL 4.168033988749895

static const double centre[] = {
    1.5014093511111484,      0.24664027673112496,     -0.004177317731350998,
    -0.0012527078285947755,  0.00021825028766905605,  -4.996219551363304e-06,
    -3.4166492986029574e-06, 4.788351857952339e-07,   1.3435322461198735e-08,
    -1.0906188692251188e-08, 9.01071389517908e-10,    1.297647800911155e-10,
    -2.995745446835372e-11,  -3.3594736396258294e-13, 4.309608671142208e-13,
};

static const double tail[] = {
    4.0094446087211875,      1.0098491564864072,      0.0008693464778193997,
    -0.0006774304089943347,  0.00023271525525941388,  -6.554099474374166e-05,
    1.649663004826866e-05,   -3.4891093482498334e-06, 6.135439735471525e-07,
    -1.714959051225882e-07,  -2.6604661199137684e-08, 9.140964964873752e-08,
    -2.9259151720363266e-08, -4.005189165415431e-09,  2.1272709577073043e-09,
};

static cq_status erfinv(cq_sym *s)
{
    cq_value *x = self_in_double(s), *w, *y, *far, *one = num(s, 1), *end;

    w   = CQ_1("Neg", CQ_1("Log", CQ_2("Mul", CQ_2("Sub", one, x), CQ_2("Add", one, x))));
    y   = CQ_2("Mul", x, POLYNOMIAL(s, plus(s, w, -2.5), centre));
    far = CQ_2("Mul", cq_sym_sign(s, x), POLYNOMIAL(s, plus(s, CQ_1("Sqrt", w), -TAIL), tail));
    y   = cq_sym_where(s, is_below(s, w, 5), y, far);
    end = cq_sym_equal(s, CQ_1("Abs", x), one);
    y   = cq_sym_where(s, end, times(s, x, INFINITY), y);
    return cq_sym_done(s, cq_sym_where(s, CQ_2("Greater", CQ_1("Abs", x), one), num(s, NAN), y));
}

/* ---- the gamma function ---- */

enum { STEPS = 8 }; /* from here on the series of 1/x are as good as exact */

/* What x is for the series: mirrored if it is below a half, and moved up if it is small. */
typedef struct place {
    cq_value *mirrored; /* whether x was */
    cq_value *small;    /* whether x, or its mirror image, was moved */
    cq_value *low;      /* before it was moved; 1 where it was not */
    cq_value *x;        /* at least 8 */
    cq_value *part;     /* of the argument, after its point */
} place;

static place place_of(cq_sym *s, cq_value *x)
{
    place     p;
    cq_value *right;

    p.mirrored = is_below(s, x, 0.5);
    p.part     = CQ_2("Sub", x, CQ_1("Floor", x));
    right      = cq_sym_where(s, p.mirrored, CQ_2("Sub", num(s, 1), x), x);
    p.small    = is_below(s, right, STEPS);
    p.low      = cq_sym_where(s, p.small, right, num(s, 1));
    p.x        = cq_sym_where(s, p.small, plus(s, right, STEPS), right);
    return p;
}

static cq_value *turn(cq_sym *s, const char *op, const place *p)
{
    return CQ_1(op, times(s, p->part, PI));
}

/* Stirling's series, less the logarithm of x (x + 1) … (x + 7). */
static cq_status lgamma_of(cq_sym *s)
{
    static const double series[] = { 1. / 12,   -1. / 360,      1. / 1260, -1. / 1680,
                                     1. / 1188, -691. / 360360, 1. / 156 };
    cq_value           *x        = self_in_double(s), *y, *product, *mirror, *part;
    place               p        = place_of(s, x);

    part    = CQ_1("Reciprocal", p.x);
    y       = CQ_2("Sub", CQ_2("Mul", plus(s, p.x, -0.5), CQ_1("Log", p.x)), p.x);
    y       = CQ_2("Add", y, CQ_2("Mul", part, POLYNOMIAL(s, CQ_2("Mul", part, part), series)));
    y       = plus(s, y, 0.5 * log(2 * PI));
    product = p.low;
    for (int i = 1; i < STEPS; i++)
        product = CQ_2("Mul", product, plus(s, p.low, i));
    product = cq_sym_where(s, p.small, product, num(s, 1));
    y       = CQ_2("Sub", y, CQ_1("Log", product));
    mirror  = CQ_2("Sub", num(s, log(PI)), CQ_1("Log", CQ_1("Abs", turn(s, "Sin", &p))));
    y       = cq_sym_where(s, p.mirrored, CQ_2("Sub", mirror, y), y);
    return cq_sym_done(
        s, cq_sym_where(s, CQ_2("Greater", CQ_1("Abs", x), num(s, DBL_MAX)), num(s, INFINITY), y));
}

/* log(x) - 1/2x - 1/12x^2 …, less 1/x, 1/(x + 1) …; there is none at negative integers, and an
 * infinity at 0 whose sign is that of the zero turned around. */
static cq_status digamma_of(cq_sym *s)
{
    static const double series[] = { 1. / 12,  -1. / 120,     1. / 252, -1. / 240,
                                     1. / 132, -691. / 32760, 1. / 12 };
    cq_value           *x = self_in_double(s), *y, *sum = NULL, *part, *cotangent, *none;
    place               p = place_of(s, x);

    part = CQ_1("Reciprocal", p.x);
    y    = CQ_2("Sub", CQ_1("Log", p.x), times(s, part, 0.5));
    part = CQ_2("Mul", part, part);
    y    = CQ_2("Sub", y, CQ_2("Mul", part, POLYNOMIAL(s, part, series)));
    for (int i = 0; i < STEPS; i++) {
        cq_value *one = CQ_1("Reciprocal", plus(s, p.low, i));

        sum = sum ? CQ_2("Add", sum, one) : one;
    }
    y         = CQ_2("Sub", y, cq_sym_where(s, p.small, sum, num(s, 0)));
    cotangent = times(s, CQ_2("Div", turn(s, "Cos", &p), turn(s, "Sin", &p)), PI);
    y         = cq_sym_where(s, p.mirrored, CQ_2("Sub", y, cotangent), y);
    y    = cq_sym_where(s, cq_sym_equal(s, x, num(s, 0)), CQ_1("Neg", CQ_1("Reciprocal", x)), y);
    none = CQ_2("And", cq_sym_equal(s, p.part, num(s, 0)), is_below(s, x, 0));
    return cq_sym_done(s, cq_sym_where(s, none, num(s, NAN), y));
}

const cq_symbolic cq_symbolics_gamma[] = {
    { "aten::erfinv", 7, .no = "it needs Where, of opset 9" },
    { "aten::erfinv", 9, .fn = erfinv },
    { "aten::lgamma", 7, .no = "it needs Where, of opset 9" },
    { "aten::lgamma", 9, .fn = lgamma_of },
    { "aten::digamma", 7, .no = "it needs Where, of opset 9" },
    { "aten::digamma", 9, .fn = digamma_of },
    { 0 },
};
