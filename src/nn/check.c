#include "nn/check.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

bool cq_check_failed(const char *layer, const char *format, ...)
{
    char    message[256];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    cq_fail(CQ_E_ARGUMENT, layer, NULL, "%s", message);
    return false;
}

bool cq_check_least(const char *layer, const char *what, int64_t value, int64_t least)
{
    return value >= least ||
           cq_check_failed(layer, "expected %s of at least %" PRId64 ", got %" PRId64, what, least,
                           value);
}

bool cq_check_each(const char *layer, const char *what, size_t n, const int64_t *values,
                   int64_t least)
{
    for (size_t i = 0; i < n; i++)
        if (values[i] < least || values[i] > INT32_MAX)
            return cq_check_failed(layer, "expected %s[%zu] from %" PRId64 " to %d, got %" PRId64,
                                   what, i, least, INT32_MAX, values[i]);
    return true;
}

bool cq_check_range(const char *layer, const char *what, double value, double low, double high)
{
    return (value >= low && value <= high) ||
           cq_check_failed(layer, "expected %s from %g to %g, got %g", what, low, high, value);
}

bool cq_check_divisible(const char *layer, const char *what, int64_t whole, const char *by,
                        int64_t part)
{
    return whole % part == 0 ||
           cq_check_failed(layer, "%s %" PRId64 " is not divisible by %s %" PRId64, what, whole, by,
                           part);
}
