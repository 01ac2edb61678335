/* What operators cost. Most are as much work as they have elements; the table has the others. A
 * composed operator costs what its parts cost, so that it needs no row. */
#include "aten/core/work.h"

#include <string.h>

typedef uint64_t work_fn(const cq_opcall *c, double elements);

static uint64_t steps(double n)
{
    return n < 0x1p62 ? (uint64_t)n : UINT64_MAX / 2;
}

/* A size of 0 counts as 1: kernels may iterate over the others, which can be huge. */
static double numel(const cq_tensor *t)
{
    double n = 1;

    for (size_t i = 0; t && i < t->rank; i++)
        n *= t->sizes[i].value ? (double)t->sizes[i].value : 1;
    return t ? n : 0;
}

static const cq_tensor *tensor_of(cq_val v)
{
    return v.kind == CQ_VAL_TENSOR ? v.u.tensor : NULL;
}

static double elements_of(cq_val v)
{
    double n = numel(tensor_of(v));

    if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE)
        for (size_t i = 0; i < v.u.list->n; i++)
            n += numel(tensor_of(v.u.list->items[i]));
    return n;
}

static const cq_tensor *arg(const cq_opcall *c, const char *name)
{
    const cq_schema *s = c->op->schema;

    for (size_t i = 0; i < s->n_args; i++)
        if (strcmp(s->args[i].name, name) == 0)
            return tensor_of(c->args[i]);
    return NULL;
}

static double last_size(const cq_tensor *t)
{
    return t && t->rank ? (double)t->sizes[t->rank - 1].value : 1;
}

/* The product of the numbers of a list of sizes, or the number itself in each of dims dimensions.
 */
static double volume(const cq_opcall *c, const char *name, size_t dims)
{
    const cq_schema *s = c->op->schema;
    double           n = 1;

    for (size_t i = 0; i < s->n_args; i++) {
        const cq_val v = c->args[i];

        if (strcmp(s->args[i].name, name) != 0)
            continue;
        if (v.kind == CQ_VAL_LIST && v.u.list->n == 1)
            dims = dims ? dims : 1;
        for (size_t k = 0; v.kind == CQ_VAL_LIST && k < v.u.list->n; k++)
            n *= v.u.list->items[k].kind == CQ_VAL_INT ? (double)v.u.list->items[k].u.i.value : 1;
        for (size_t k = 0; v.kind == CQ_VAL_INT && k < dims; k++)
            n *= (double)v.u.i.value;
    }
    return n > 1 ? n : 1;
}

static uint64_t products(double n, const cq_tensor *t)
{
    const int factor = t && t->dtype == CQ_DTYPE_F32   ? 1
                       : t && t->dtype == CQ_DTYPE_F64 ? CQ_WORK_DOUBLE
                                                       : CQ_WORK_SLOW;

    return steps(n / CQ_WORK_PRODUCTS * factor);
}

/* ---- rows that need more than a factor ---- */

/* Every element of the result is as many products as the first matrix has columns. */
static uint64_t matrix_product(const cq_opcall *c, double elements)
{
    const char      *full = c->op->schema->full;
    const bool       adds = strstr(full, "addmm") || strstr(full, "baddbmm");
    const cq_tensor *a    = tensor_of(c->args[adds ? 1 : 0]);

    (void)elements;
    return products(numel(tensor_of(c->results[0])) * last_size(a), a);
}

static uint64_t convolution(const cq_opcall *c, double elements)
{
    const cq_tensor *x = tensor_of(c->args[0]), *w = arg(c, "weight"),
                    *y = tensor_of(c->results[0]);
    double each;

    (void)elements;
    if (!w || !w->rank || !w->sizes[0].value)
        return 0;
    each = numel(w) / (double)w->sizes[0].value;
    return products(each * (numel(x) > numel(y) && strstr(c->op->schema->full, "transpose")
                                ? numel(x)
                                : numel(y)),
                    x);
}

static uint64_t pool(const cq_opcall *c, double elements)
{
    (void)elements;
    return steps(numel(tensor_of(c->results[0])) * volume(c, "kernel_size", 3) / CQ_WORK_ELEMENTS);
}

/* All weights at every position of the sequence. */
static uint64_t recurrent(const cq_opcall *c, double elements)
{
    const cq_tensor *x = tensor_of(c->args[0]);

    return products(elements * numel(x) / (last_size(x) > 0 ? last_size(x) : 1), x);
}

static uint64_t by_last_size(const cq_opcall *c, double elements)
{
    return steps(elements * last_size(tensor_of(c->args[0])) / CQ_WORK_ELEMENTS);
}

/* Every box may be compared with all before it. */
static uint64_t pairs_of_boxes(const cq_opcall *c, double elements)
{
    const double boxes = numel(tensor_of(c->args[1])); /* a score each */

    return steps(elements + boxes * boxes / CQ_WORK_ELEMENTS);
}

/* Each bin looks at its part of the picture, or at as many points as it is told to. */
static uint64_t regions(const cq_opcall *c, double elements)
{
    const cq_tensor *x = tensor_of(c->args[0]);
    double many = x && x->rank == 4 ? (double)x->sizes[2].value * (double)x->sizes[3].value : 1,
           told = volume(c, "sampling_ratio", 2);

    (void)elements;
    return steps(numel(tensor_of(c->results[0])) * (told > 1 ? told : many) / CQ_WORK_ELEMENTS);
}

/* ---- the table ---- */

/* Times as long as a sum: elements that are fetched from where others say, functions, elements
 * that are looked at one by one, and sorted ones. */
enum { FETCHED = 4, FUNCTION = 8, PICKED = 24, SORTED = 64 };

static const struct {
    const char *name; /* without namespace and overload */
    work_fn    *fn;
    unsigned    factor; /* instead of fn */
} table[] = {
    { "mm", .fn = matrix_product },
    { "bmm", .fn = matrix_product },
    { "mv", .fn = matrix_product },
    { "dot", .fn = matrix_product },
    { "matmul", .fn = matrix_product },
    { "addmm", .fn = matrix_product },
    { "baddbmm", .fn = matrix_product },
    { "linear", .fn = matrix_product },
    { "conv1d", .fn = convolution },
    { "conv2d", .fn = convolution },
    { "conv3d", .fn = convolution },
    { "conv_transpose1d", .fn = convolution },
    { "conv_transpose2d", .fn = convolution },
    { "conv_transpose3d", .fn = convolution },
    { "convolution", .fn = convolution },
    { "_convolution", .fn = convolution },
    { "_convolution_mode", .fn = convolution },
    { "max_pool1d", .fn = pool },
    { "max_pool2d", .fn = pool },
    { "max_pool3d", .fn = pool },
    { "max_pool1d_with_indices", .fn = pool },
    { "max_pool2d_with_indices", .fn = pool },
    { "max_pool3d_with_indices", .fn = pool },
    { "avg_pool1d", .fn = pool },
    { "avg_pool2d", .fn = pool },
    { "avg_pool3d", .fn = pool },
    { "lstm", .fn = recurrent },
    { "gru", .fn = recurrent },
    { "rnn_tanh", .fn = recurrent },
    { "rnn_relu", .fn = recurrent },
    { "linalg_det", .fn = by_last_size },
    { "multinomial", .fn = by_last_size },
    { "nms", .fn = pairs_of_boxes },
    { "roi_align", .fn = regions },
    { "roi_pool", .fn = regions },
    { "sort", .factor = SORTED },
    { "topk", .factor = SORTED },
    { "kthvalue", .factor = SORTED },
    { "median", .factor = SORTED },
    { "nanmedian", .factor = SORTED },
    { "mode", .factor = SORTED },
    { "_unique", .factor = SORTED },
    { "_unique2", .factor = SORTED },
    { "unique_dim", .factor = SORTED },
    { "searchsorted", .factor = SORTED },
    { "randperm", .factor = SORTED },
    { "bincount", .factor = SORTED },
    { "_upsample_bilinear2d_aa", .factor = SORTED },
    { "_upsample_bicubic2d_aa", .factor = SORTED },
    { "upsample_bicubic2d", .factor = FUNCTION },
    { "upsample_trilinear3d", .factor = FUNCTION },
    { "grid_sampler", .factor = FUNCTION },
    { "grid_sampler_2d", .factor = FUNCTION },
    { "grid_sampler_3d", .factor = FUNCTION },
    { "rand", .factor = FUNCTION },
    { "randn", .factor = FUNCTION },
    { "randint", .factor = FUNCTION },
    { "pow", .factor = FUNCTION },
    { "atan2", .factor = FUNCTION },
    { "lgamma", .factor = FUNCTION },
    { "digamma", .factor = FUNCTION },
    { "erfinv", .factor = PICKED },
    { "nonzero", .factor = PICKED },
    { "masked_select", .factor = PICKED },
    { "unique_consecutive", .factor = PICKED },
    { "softplus", .factor = FUNCTION },
    { "logsumexp", .factor = FUNCTION },
    { "adaptive_avg_pool1d", .factor = FUNCTION },
    { "adaptive_avg_pool2d", .factor = FUNCTION },
    { "adaptive_avg_pool3d", .factor = FUNCTION },
    { "adaptive_max_pool1d", .factor = FUNCTION },
    { "adaptive_max_pool2d", .factor = FUNCTION },
    { "adaptive_max_pool3d", .factor = FUNCTION },
    { "cumsum", .factor = FETCHED },
    { "cumprod", .factor = FETCHED },
    { "cummax", .factor = FETCHED },
    { "cummin", .factor = FETCHED },
    { "index", .factor = FETCHED },
    { "index_select", .factor = FETCHED },
    { "index_add", .factor = FETCHED },
    { "index_copy", .factor = FETCHED },
    { "gather", .factor = FETCHED },
    { "scatter", .factor = FETCHED },
    { "scatter_add", .factor = FETCHED },
    { "masked_scatter", .factor = FETCHED },
    { "sin", .factor = FUNCTION },
    { "cos", .factor = FUNCTION },
    { "tan", .factor = FUNCTION },
    { "logcumsumexp", .factor = FUNCTION },
    { "index_put", .factor = FUNCTION },
    { "scatter_reduce", .factor = FUNCTION },
};

static bool is_named(const cq_schema *s, const char *name)
{
    const char *own = strstr(s->name, "::");

    return strcmp(own ? own + 2 : s->name, name) == 0;
}

/* Of the results: memory costs more to get than to write. */
static double new_bytes(const cq_opcall *c)
{
    double bytes = 0;

    for (size_t i = 0; i < c->n_results; i++) {
        const cq_tensor *t = tensor_of(c->results[i]);

        bytes += t ? numel(t) * (double)cq_dtype_size(t->dtype) : 0;
    }
    return bytes;
}

uint64_t cq_op_work(const cq_opcall *c)
{
    double elements = 0;

    for (size_t i = 0; i < c->op->schema->n_args; i++)
        elements += elements_of(c->args[i]);
    for (size_t i = 0; i < c->n_results; i++)
        elements += elements_of(c->results[i]);
    /* what is small costs nothing worth counting: the table need not be asked */
    for (size_t i = 0; elements >= CQ_WORK_ELEMENTS && i < sizeof table / sizeof *table; i++)
        if (is_named(c->op->schema, table[i].name)) {
            const double times = table[i].factor ? table[i].factor : 1;

            return CQ_WORK_CALL +
                   steps(elements * times / CQ_WORK_ELEMENTS + new_bytes(c) / CQ_WORK_BYTES) +
                   (table[i].fn ? table[i].fn(c, elements) : 0);
        }
    return CQ_WORK_CALL + steps(elements / CQ_WORK_ELEMENTS + new_bytes(c) / CQ_WORK_BYTES);
}
