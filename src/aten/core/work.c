/* The cost of operators. Most take time in proportion to their elements; others have a trait. A
 * composed operator needs none: its parts are counted. */
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

/* Each bin reads its part of the feature map, or as many points as requested. */
static uint64_t regions(const cq_opcall *c, double elements)
{
    const cq_tensor *x = tensor_of(c->args[0]);
    double many = x && x->rank == 4 ? (double)x->sizes[2].value * (double)x->sizes[3].value : 1,
           told = volume(c, "sampling_ratio", 2);

    (void)elements;
    return steps(numel(tensor_of(c->results[0])) * (told > 1 ? told : many) / CQ_WORK_ELEMENTS);
}

/* ---- by the trait of an operator ---- */

/* times: as long as a sum. */
static const struct {
    work_fn *fn;
    unsigned times;
} costs[] = {
    [CQ_COST_ELEMENTS]       = { .times = 1 },
    [CQ_COST_FETCHED]        = { .times = 4 },
    [CQ_COST_FUNCTION]       = { .times = 8 },
    [CQ_COST_PICKED]         = { .times = 24 },
    [CQ_COST_SORTED]         = { .times = 64 },
    [CQ_COST_MATRIX_PRODUCT] = { matrix_product, 1 },
    [CQ_COST_CONVOLUTION]    = { convolution, 1 },
    [CQ_COST_POOL]           = { pool, 1 },
    [CQ_COST_RECURRENT]      = { recurrent, 1 },
    [CQ_COST_BY_LAST_SIZE]   = { by_last_size, 1 },
    [CQ_COST_PAIRS_OF_BOXES] = { pairs_of_boxes, 1 },
    [CQ_COST_REGIONS]        = { regions, 1 },
};

/* Counts the bytes of the results: allocating memory costs more than writing it. */
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
    cq_cost cost     = c->op->traits.cost;
    double  elements = 0;

    for (size_t i = 0; i < c->op->schema->n_args; i++)
        elements += elements_of(c->args[i]);
    for (size_t i = 0; i < c->n_results; i++)
        elements += elements_of(c->results[i]);
    if (c->op->def->flags & CQ_OP_DYNAMIC) /* its results do not exist yet */
        elements *= (double)(1 + c->n_results);
    if (elements < CQ_WORK_ELEMENTS) /* small operators cost nothing worth counting */
        cost = CQ_COST_ELEMENTS;
    return CQ_WORK_CALL +
           steps(elements * costs[cost].times / CQ_WORK_ELEMENTS + new_bytes(c) / CQ_WORK_BYTES) +
           (costs[cost].fn ? costs[cost].fn(c, elements) : 0);
}
