/* Arithmetic of Python on known numbers, see number.h. */
#include "lang/number.h"

#include <math.h>

bool cq_number_fits(cq_ast_op op, int64_t a, int64_t b)
{
    int64_t ignored;

    switch (op) {
    case CQ_AST_ADD: return !__builtin_add_overflow(a, b, &ignored);
    case CQ_AST_SUB: return !__builtin_sub_overflow(a, b, &ignored);
    case CQ_AST_MUL: return !__builtin_mul_overflow(a, b, &ignored);
    case CQ_AST_FLOOR_DIV:
    case CQ_AST_MOD: return a != INT64_MIN || b != -1;
    default: return true;
    }
}

bool cq_number_power(int64_t *out, int64_t base, int64_t exponent)
{
    *out = 1;
    for (int64_t left = exponent; left > 0; left >>= 1) {
        if ((left & 1) && __builtin_mul_overflow(*out, base, out))
            return false;
        if (left > 1 && __builtin_mul_overflow(base, base, &base))
            return false;
    }
    return true;
}

double cq_number_modulo(double a, double b)
{
    double m = fmod(a, b);

    return m != 0 && (m < 0) != (b < 0) ? m + b : m;
}

double cq_number_floor_divide(double a, double b)
{
    const double quotient = (a - cq_number_modulo(a, b)) / b, whole = floor(quotient);

    return quotient - whole > 0.5 ? whole + 1 : whole;
}
