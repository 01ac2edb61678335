/* Checks of the arguments of layers. A constructor that takes sizes makes them first, because a
 * layer that cannot run would otherwise become an invalid model. The rules are PyTorch's, which has
 * some of them in constructors and others in the first run.
 *
 * Each returns whether the argument is valid; if it is not, the error record has the reason. layer
 * is the name of the class, what the name of the argument. */
#ifndef CQ_NN_CHECK_H
#define CQ_NN_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

bool cq_check_least(const char *layer, const char *what, int64_t value, int64_t least);

/* All of n values, which are windows, steps or pads: at most INT32_MAX. */
bool cq_check_each(const char *layer, const char *what, size_t n, const int64_t *values,
                   int64_t least);

/* NaN is in no range. */
bool cq_check_range(const char *layer, const char *what, double value, double low, double high);

/* Whether whole is a multiple of part, which is at least 1. */
bool cq_check_divisible(const char *layer, const char *what, int64_t whole, const char *by,
                        int64_t part);

/* Fails with a message that is complete; false. */
bool cq_check_failed(const char *layer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
