/* Grouped matrix products for mixture-of-experts layers: each group of rows (of columns, or of the
 * summed dimension) has its own matrix. offs has the ends of the groups. */
#include "aten/core/ctx.h"
#include "kernel/elementwise.h"
#include "kernel/matrix/matmul.h"

/* The grouped dimension. */
typedef enum grouping {
    ROWS,    /* [rows, k] by [groups, k, n]: the rows of the first factor */
    COLUMNS, /* [groups, m, k] by [k, columns]: the columns of the second */
    SUMS,    /* [m, k] by [k, n]: the products that are summed; a result for each group */
    NOTHING  /* [groups, m, k] by [groups, k, n]: a batch of products */
} grouping;

typedef struct product {
    cq_tensor *a, *b, *ends;
    grouping   of;
    cq_dtype   dtype; /* of the result */
} product;

static cq_status need_fit(const cq_opcall *c, cq_int a, cq_int b)
{
    if (a.value == b.value)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "sizes %lld and %lld do not fit", (long long)a.value,
                        (long long)b.value);
}

static cq_status read_product(cq_opcall *c, product *p)
{
    static const grouping of[2][2] = { { SUMS, ROWS }, { COLUMNS, NOTHING } };

    p->a     = c->args[0].u.tensor;
    p->b     = c->args[1].u.tensor;
    p->ends  = cq_arg_tensor(c, "offs");
    p->dtype = p->a->dtype;
    if (c->op->schema->n_args > 3) {
        if (!cq_arg_is_none(c, "bias"))
            return cq_call_fail(c, CQ_E_UNSUPPORTED, "a bias is not known here");
        p->dtype = cq_arg_dtype(c, "out_dtype", p->dtype);
    }
    if (p->a->rank < 2 || p->a->rank > 3 || p->b->rank < 2 || p->b->rank > 3)
        return cq_call_fail(c, CQ_E_TYPE, "expected factors of two or three dimensions");
    if (p->a->dtype != p->b->dtype || !cq_dtype_is_float(p->a->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected floats of one dtype, got %s and %s",
                            cq_dtype_name(p->a->dtype), cq_dtype_name(p->b->dtype));
    p->of = of[p->a->rank - 2][p->b->rank - 2];
    if (!p->ends != (p->of == NOTHING))
        return cq_call_fail(c, CQ_E_ARGUMENT, "offs goes with a factor of two dimensions");
    if (p->ends && (p->ends->rank != 1 || !cq_dtype_is_integer(p->ends->dtype)))
        return cq_call_fail(c, CQ_E_TYPE, "offs should be a row of integers");
    CQ_TRY(need_fit(c, p->a->sizes[p->a->rank - 1], p->b->sizes[p->b->rank - 2]));
    if (p->of == ROWS)
        return need_fit(c, p->ends->sizes[0], p->b->sizes[0]);
    return p->of == SUMS
               ? CQ_OK
               : need_fit(c, p->a->sizes[0], p->of == COLUMNS ? p->ends->sizes[0] : p->b->sizes[0]);
}

static cq_status grouped_shape(cq_opcall *c)
{
    product p;
    cq_int  sizes[3];
    size_t  rank = 0;

    CQ_TRY(read_product(c, &p));
    if (p.of == SUMS || p.of == NOTHING)
        sizes[rank++] = p.of == SUMS ? p.ends->sizes[0] : p.a->sizes[0];
    sizes[rank++] = p.a->sizes[p.a->rank - 2];
    sizes[rank++] = p.b->sizes[p.b->rank - 1];
    return cq_result(c, 0, p.dtype, rank, sizes);
}

/* The part from start to end along dim; with dim -1, the i-th matrix of the batch. */
static cq_status part_of(cq_tensor **out, const cq_tensor *t, int dim, int64_t i, int64_t start,
                         int64_t end)
{
    size_t  skip = dim < 0;
    cq_int  sizes[3];
    int64_t offset = t->offset + (dim < 0 ? i * t->strides[0] : start * t->strides[dim]);

    for (size_t k = 0; k < t->rank; k++)
        sizes[k] = t->sizes[k];
    if (dim >= 0)
        sizes[dim] = cq_i(end - start);
    return cq_tensor_new_view(out, t, t->dtype, t->rank - skip, sizes + skip, t->strides + skip,
                              offset);
}

/* The product of group i, from start to end, into its part of the result. */
static cq_status multiply(const product *p, cq_tensor *result, int64_t i, int64_t start,
                          int64_t end)
{
    cq_tensor *a = NULL, *b = NULL, *to = NULL, *out = NULL;
    cq_status  status;

    status = part_of(&a, p->a, p->of == COLUMNS ? -1 : p->of == SUMS, i, start, end);
    if (status == CQ_OK)
        status = part_of(&b, p->b, p->of == ROWS ? -1 : p->of == COLUMNS, i, start, end);
    if (status == CQ_OK)
        status = part_of(&to, result, p->of == SUMS ? -1 : p->of == COLUMNS, i, start, end);
    if (status == CQ_OK)
        status = cq_tensor_new_uninit(&out, p->a->dtype, 2,
                                      (int64_t[]){ to->sizes[0].value, to->sizes[1].value });
    if (status == CQ_OK)
        status = cq_kernel_matmul(out, a, b);
    if (status == CQ_OK)
        status = cq_tensor_copy_into(to, out);
    cq_tensor_release(a);
    cq_tensor_release(b);
    cq_tensor_release(to);
    cq_tensor_release(out);
    return status;
}

/* The part after the last group is 0. */
static cq_status grouped_run(cq_opcall *c)
{
    product    p;
    cq_tensor *result = cq_result_tensor(c, 0), *ends = NULL;
    int64_t    whole, start, end = 0;
    cq_status  status;

    CQ_TRY(read_product(c, &p));
    if (p.of == NOTHING)
        return cq_kernel_matmul(result, p.a, p.b);
    CQ_TRY(cq_kernel_fill_f64(result, 0));
    CQ_TRY(cq_tensor_clone(&ends, p.ends, CQ_DTYPE_I64));
    whole  = (p.of == COLUMNS ? p.b->sizes[1] : p.a->sizes[p.of == SUMS]).value;
    status = CQ_OK;
    for (int64_t i = 0; i < ends->sizes[0].value && status == CQ_OK; i++) {
        start  = end;
        end    = ((const int64_t *)cq_tensor_bytes(ends))[i];
        status = end < start || end > whole
                     ? cq_call_fail(c, CQ_E_ARGUMENT, "offs should rise from 0 to %lld",
                                    (long long)whole)
                     : multiply(&p, result, i, start, end);
    }
    cq_tensor_release(ends);
    return status;
}

const cq_op_def cq_ops_moe[] = {
    CQ_KERNEL("aten::_grouped_mm(Tensor self, Tensor mat2, Tensor? offs=None, Tensor? bias=None, "
              "ScalarType? out_dtype=None) -> Tensor",
              "products of groups of rows, columns or sums, each with its own matrix",
              grouped_shape, grouped_run),
    CQ_KERNEL(
        "transformers::grouped_mm_fallback(Tensor input, Tensor weight, Tensor offs) -> Tensor",
        "_grouped_mm, under its name in the transformers library", grouped_shape, grouped_run),
    { 0 }
};
