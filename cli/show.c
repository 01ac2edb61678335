/* Tensors as text. The values go through cq_tensor_get_f64 and _i64, so every dtype and layout
 * is one case; that is fast enough for text that people read. */
#include "show.h"

#include "cli.h"
#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SHOWN_IN_FULL  1000 /* elements; beyond it rows and columns are cut to their edges */
#define EDGE           3    /* how many remain at each end */
#define SUMMARY_VALUES 5
#define MOST_RANGED    ((int64_t)1 << 28) /* elements; views may have any number of them */

static bool is_whole(cq_dtype dtype)
{
    switch (dtype) {
    case CQ_DTYPE_F16:
    case CQ_DTYPE_BF16:
    case CQ_DTYPE_F32:
    case CQ_DTYPE_F64:
    case CQ_DTYPE_C64:
    case CQ_DTYPE_C128: return false;
    default: return true;
    }
}

static void show_type(const cq_tensor *t)
{
    printf("%s[", cq_dtype_name(cq_tensor_dtype(t)));
    for (size_t i = 0; i < cq_tensor_rank(t); i++)
        printf("%s%" PRId64, i ? "," : "", cq_tensor_size(t, i));
    printf("]");
}

/* The number of digits that distinguishes any two neighbouring numbers. */
static int digits_of(cq_dtype dtype)
{
    switch (dtype) {
    case CQ_DTYPE_BF16: return 4;
    case CQ_DTYPE_F16: return 5;
    case CQ_DTYPE_F64: return 17;
    default: return 9;
    }
}

/* The shortest text that reads back as the same number: 0.1, not 0.100000001. */
static void show_real(cq_dtype dtype, double value)
{
    int  most = digits_of(dtype);
    char text[64];

    for (int digits = most < 6 ? most : 6; digits <= most; digits++) {
        double back;

        snprintf(text, sizeof text, "%.*g", digits, value);
        back = strtod(text, NULL);
        if (dtype == CQ_DTYPE_F64 ? back == value : (float)back == (float)value)
            break;
    }
    fputs(text, stdout);
}

static void show_value(const cq_tensor *t, int64_t index)
{
    cq_dtype dtype = cq_tensor_dtype(t);

    if (dtype == CQ_DTYPE_BOOL)
        printf("%s", cq_tensor_get_i64(t, index) ? "true" : "false");
    else if (dtype == CQ_DTYPE_U64)
        printf("%" PRIu64, (uint64_t)cq_tensor_get_i64(t, index));
    else if (is_whole(dtype))
        printf("%" PRId64, cq_tensor_get_i64(t, index));
    else
        show_real(dtype, cq_tensor_get_f64(t, index));
}

/* Prints the part of t below axis that begins at index, in row-major order. */
static void show_part(const cq_tensor *t, size_t axis, int64_t index, bool in_full)
{
    size_t  rank = cq_tensor_rank(t);
    int64_t size, step = 1;

    if (axis == rank) {
        show_value(t, index);
        return;
    }
    size = cq_tensor_size(t, axis);
    for (size_t i = axis + 1; i < rank; i++)
        step *= cq_tensor_size(t, i);
    putchar('[');
    for (int64_t i = 0; i < size; i++) {
        if (i && axis + 1 == rank)
            printf(", ");
        else if (i)
            printf(",\n%*s", (int)axis + 1, "");
        if (!in_full && i == EDGE && size > 2 * EDGE) {
            printf("…");
            i = size - EDGE - 1;
            continue;
        }
        show_part(t, axis + 1, index + i * step, in_full);
    }
    putchar(']');
}

void cli_show_tensor(const cq_tensor *t)
{
    show_type(t);
    putchar('\n');
    show_part(t, 0, 0, cq_tensor_numel(t) <= SHOWN_IN_FULL);
    putchar('\n');
}

/* data has the elements of a contiguous tensor; NULL for others. */
static double number_at(const cq_tensor *t, const void *data, int64_t i)
{
    switch (data ? cq_tensor_dtype(t) : CQ_DTYPE_NONE) {
    case CQ_DTYPE_F32: return ((const float *)data)[i];
    case CQ_DTYPE_F64: return ((const double *)data)[i];
    case CQ_DTYPE_I64: return (double)((const int64_t *)data)[i];
    case CQ_DTYPE_I32: return ((const int32_t *)data)[i];
    case CQ_DTYPE_I8: return ((const int8_t *)data)[i];
    case CQ_DTYPE_U8: return ((const uint8_t *)data)[i];
    default: return cq_tensor_get_f64(t, i);
    }
}

static void show_range(const cq_tensor *t, int64_t n)
{
    const void *data = cq_tensor_is_contiguous(t) ? cq_tensor_data(t) : NULL;
    double      low = INFINITY, high = -INFINITY, sum = 0;

    for (int64_t i = 0; i < n; i++) {
        double value = number_at(t, data, i);

        low  = value < low ? value : low;
        high = value > high ? value : high;
        sum += value;
    }
    printf("  min %.6g  max %.6g  mean %.6g", low, high, sum / (double)n);
}

void cli_show_summary(const char *name, const cq_tensor *t)
{
    int64_t n = cq_tensor_numel(t);

    cli_put_text(stdout, name);
    fputs("  ", stdout);
    show_type(t);
    if (n > 1 && n <= MOST_RANGED)
        show_range(t, n);
    printf("  [");
    for (int64_t i = 0; i < n && i < SUMMARY_VALUES; i++) {
        printf("%s", i ? ", " : "");
        show_value(t, i);
    }
    printf("%s]\n", n > SUMMARY_VALUES ? ", …" : "");
}

void cli_show_strings(const cq_onnx_value *value, bool in_full)
{
    const size_t n = cq_onnx_value_count(value), most = in_full ? n : SUMMARY_VALUES;

    fputs("string[", stdout);
    for (size_t i = 0; i < cq_onnx_value_rank(value); i++)
        printf("%s%lld", i ? "," : "", (long long)cq_onnx_value_size(value, i));
    fputs(in_full ? "]\n[" : "]  [", stdout);
    for (size_t i = 0; i < n && i < most; i++) {
        fputs(i ? ", " : "", stdout);
        cli_json_string(stdout, cq_onnx_value_string(value, i, NULL));
    }
    puts(n > most ? ", …]" : "]");
}
