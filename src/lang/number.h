/* Arithmetic of Python on known numbers, for the evaluators of the library and of programs.
 * Integers of Python have any size. Those of a model fit in 64 bits; a larger one is an error,
 * because a result without its upper bits would be wrong. */
#ifndef CQ_LANG_NUMBER_H
#define CQ_LANG_NUMBER_H

#include "lang/ast.h"

#define CQ_NUMBER_TOO_LARGE "the number does not fit in 64 bits"

/* Whether a + b, a - b, a * b, a // b or a % b fits; true for other operators. */
bool cq_number_fits(cq_ast_op op, int64_t a, int64_t b);

/* base ** exponent of an exponent that is not negative; false if it does not fit. */
bool cq_number_power(int64_t *out, int64_t base, int64_t exponent);

/* a // b and a % b of floats: the remainder has the sign of b, and the quotient is that of a
 * without the remainder, so that 1 // 0.1 is 9. b is not 0. */
double cq_number_floor_divide(double a, double b);
double cq_number_modulo(double a, double b);

#endif
