/* Conversion between element types. Numbers are converted by the rules of tensor/convert.h; strings
 * are parsed and printed. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/map.h"
#include "runtime/plan/work.h"

#include "onnx/tensor.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reads_back(char *text, size_t size, double x, bool is_f32, int digits)
{
    snprintf(text, size, "%.*g", digits, x);
    return (is_f32 ? (double)strtof(text, NULL) : strtod(text, NULL)) == x;
}

/* Prints the shortest text that reads back as the same number. If some digits are enough, more are:
 * the nearest number of more digits is not farther away. Below a power of two numbers are closer
 * together than above, so there fewer digits may suffice although more do not. */
static void print_number(char *text, size_t size, double x, bool is_f32)
{
    const int most = is_f32 ? 9 : 17;
    int       low = 1, high = most, exponent;

    if (isnan(x) || isinf(x)) {
        snprintf(text, size, "%s", isnan(x) ? "nan" : x < 0 ? "-inf" : "inf");
        return;
    }
    if (fabs(frexp(x, &exponent)) == 0.5) {
        while (low < most && !reads_back(text, size, x, is_f32, low))
            low++;
    } else {
        while (low < high) {
            const int middle = (low + high) / 2;

            if (reads_back(text, size, x, is_f32, middle))
                high = middle;
            else
                low = middle + 1;
        }
    }
    snprintf(text, size, "%.*g", low, x);
    if (!strpbrk(text, ".e"))
        strncat(text, ".0", size - strlen(text) - 1);
}

/* The cost of printing a number, relative to copying it. */
#define PRINTED 1024.0

static cq_status cast_to_texts(cq_rt *rt, const cq_tensor *x)
{
    bool        is_real = cq_dtype_is_float(x->dtype);
    cq_rt_sizes sizes;
    cq_texts   *t;

    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(cq_texts_new(&t, sizes.rank, sizes.at));
    CQ_TRY(cq_rt_set(rt, 0, cq_val_of_texts(t)));
    if (is_real)
        CQ_TRY(cq_rt_spend_on_elements(rt, PRINTED * (double)t->n));
    for (size_t i = 0; i < t->n; i++) {
        char text[320]; /* gcc expects up to 310 characters of %g with a variable precision */

        if (is_real)
            print_number(text, sizeof text, cq_tensor_get_f64(x, (int64_t)i),
                         x->dtype != CQ_DTYPE_F64);
        else if (x->dtype == CQ_DTYPE_U64)
            snprintf(text, sizeof text, "%" PRIu64, (uint64_t)cq_tensor_get_i64(x, (int64_t)i));
        else
            snprintf(text, sizeof text, "%" PRId64, cq_tensor_get_i64(x, (int64_t)i));
        CQ_TRY(cq_texts_set(t, i, text, strlen(text)));
    }
    return CQ_OK;
}

static cq_status cast_from_texts(cq_rt *rt, const cq_texts *x, cq_dtype dtype)
{
    cq_tensor *exact, *y;
    bool       is_int = !cq_dtype_is_float(dtype);

    CQ_TRY(cq_rt_out(&y, rt, 0, dtype, x->rank, x->sizes));
    CQ_TRY(cq_rt_scratch(&exact, rt, is_int ? CQ_DTYPE_I64 : CQ_DTYPE_F64, x->rank, x->sizes));
    for (size_t i = 0; i < x->n; i++) {
        const char *text = cq_texts_at(x, i);
        char       *end;

        if (is_int)
            ((int64_t *)cq_tensor_data(exact))[i] = strtoll(text, &end, 10);
        else
            ((double *)cq_tensor_data(exact))[i] = strtod(text, &end);
        if (end == text || *end)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "'%s' is not a number", text);
    }
    return cq_tensor_copy_into(y, exact);
}

/* Reads the attribute round_mode of powers of two (since opset 24). */
static cq_status read_rounding(cq_e8m0_round *out, const cq_rt *rt)
{
    static const char *const names[] = { "up", "down", "nearest" };
    int                      found   = CQ_E8M0_UP;

    if (cq_onnx_schema_attr(rt->step->schema, "round_mode"))
        CQ_TRY(cq_rt_choose(&found, rt, "round_mode", names, 3));
    *out = (cq_e8m0_round)found;
    return CQ_OK;
}

static cq_status cast_to(cq_rt *rt, int64_t data_type)
{
    const cq_texts  *texts = cq_val_texts(rt->in[0]);
    const cq_tensor *x     = cq_rt_in(rt, 0);
    cq_e8m0_round    round;
    cq_rt_sizes      sizes;
    cq_dtype         dtype;
    cq_tensor       *y;

    if (data_type == CQ_ONNX_STRING)
        return texts ? cq_rt_set(rt, 0, cq_val_retain(rt->in[0])) : cast_to_texts(rt, x);
    CQ_TRY(cq_rt_dtype(&dtype, data_type));
    if (texts)
        return cast_from_texts(rt, texts, dtype);
    if (x->dtype == dtype)
        return cq_rt_pass(rt, 0, x);
    CQ_TRY(read_rounding(&round, rt));
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    if (cq_dtype_is_minifloat(dtype) && !cq_dtype_is_complex(x->dtype))
        return cq_rt_map_to_minifloat(y, x, cq_rt_int(rt, "saturate"), round);
    return cq_tensor_copy_into(y, x);
}

static cq_status cast(cq_rt *rt)
{
    return cast_to(rt, cq_rt_int(rt, "to"));
}

/* In version 1 the attribute names the type. */
static cq_status cast_by_name(cq_rt *rt)
{
    const char *want = cq_rt_string(rt, "to");

    for (int32_t i = 0; i < CQ_ONNX_DATA_TYPE_COUNT; i++)
        if (cq_onnx_data_type_name(i) && !strcmp(cq_onnx_data_type_name(i), want))
            return cast_to(rt, i);
    return cq_fail(CQ_E_INVALID, NULL, NULL, "unknown type '%s'", want);
}

static cq_status cast_like(cq_rt *rt)
{
    return cast_to(rt, cq_val_texts(rt->in[1]) ? CQ_ONNX_STRING
                                               : cq_dtype_to_onnx(cq_rt_in(rt, 1)->dtype));
}

/* Reinterprets the bits of an element that takes a byte in memory as another type of as many
 * bits. */
static uint8_t small_bits(uint8_t byte, cq_dtype to)
{
    const unsigned bits = cq_dtype_bits(to), mask = (1u << bits) - 1;

    if (to == CQ_DTYPE_BOOL)
        return byte != 0;
    if ((to == CQ_DTYPE_I4 || to == CQ_DTYPE_I2) && byte >> (bits - 1) & 1)
        return (uint8_t)(byte | ~mask);
    return (uint8_t)(byte & mask);
}

static cq_status bit_cast(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_dtype         dtype;
    cq_tensor       *y, *same;
    char            *to;

    CQ_TRY(cq_rt_dtype(&dtype, cq_rt_int(rt, "to")));
    if (cq_dtype_bits(dtype) != cq_dtype_bits(x->dtype) ||
        cq_dtype_size(dtype) != cq_dtype_size(x->dtype))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "%s and %s have different widths",
                       cq_dtype_name(x->dtype), cq_dtype_name(dtype));
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(cq_rt_scratch(&same, rt, x->dtype, sizes.rank, sizes.at));
    CQ_TRY(cq_tensor_copy_into(same, x));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    to = cq_tensor_data(y);
    memcpy(to, cq_tensor_data(same), (size_t)cq_tensor_numel(x) * cq_dtype_size(dtype));
    for (int64_t i = 0; cq_dtype_size(dtype) == 1 && i < cq_tensor_numel(x); i++)
        to[i] = (char)small_bits((uint8_t)to[i], dtype);
    return CQ_OK;
}

const cq_rt_row cq_rt_rows_cast[] = {
    { "BitCast", 26, bit_cast, 0, 0 },
    { "Cast", 1, cast_by_name, CQ_RT_TEXT_OWN, 0 },
    { "Cast", 6, cast, CQ_RT_TEXT_OWN, 0 },
    { "CastLike", 15, cast_like, CQ_RT_TEXT_OWN, 0 },
    { 0 },
};
