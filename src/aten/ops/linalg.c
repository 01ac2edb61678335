/* Products of matrices, vectors and batches of them. Products along named axes (einsum,
 * tensordot, …) are made of these in contract.c; norms and distances are in distance.c. */
#include "aten/core/ctx.h"
#include "kernel/matrix/matmul.h"

/* ---- checks ---- */

static cq_status need_rank(const cq_opcall *c, const char *name, size_t rank)
{
    const cq_tensor *t = cq_arg_tensor(c, name);

    if (t->rank == rank)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "expected \"%s\" of %zu dimensions, got %u", name, rank,
                        t->rank);
}

static cq_status need_same_dtype(const cq_opcall *c, const cq_tensor *a, const cq_tensor *b)
{
    if (!a || !b || a->dtype == b->dtype)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "expected factors of one dtype, got %s and %s",
                        cq_dtype_name(a->dtype), cq_dtype_name(b->dtype));
}

static cq_status need_equal(const cq_opcall *c, cq_int a, cq_int b)
{
    if (a.value == b.value)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "inner sizes %lld and %lld differ", (long long)a.value,
                        (long long)b.value);
}

/* ---- matmul and its special cases ---- */

/* The sizes of a @ b by the rules of torch.matmul. */
static cq_status product_sizes(cq_opcall *c, const cq_tensor *a, const cq_tensor *b, size_t *rank,
                               cq_int *sizes)
{
    size_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;

    if (!a->rank || !b->rank)
        return cq_call_fail(c, CQ_E_TYPE, "expected factors of at least one dimension");
    CQ_TRY(need_same_dtype(c, a, b));
    CQ_TRY(need_equal(c, a->sizes[a->rank - 1], b->sizes[b->rank > 1 ? b->rank - 2 : 0]));
    CQ_TRY(cq_broadcast(c, rank, sizes, a_batch, a->sizes, b_batch, b->sizes));
    if (a->rank > 1)
        sizes[(*rank)++] = a->sizes[a->rank - 2];
    if (b->rank > 1)
        sizes[(*rank)++] = b->sizes[b->rank - 1];
    return CQ_OK;
}

static cq_status product_shape(cq_opcall *c)
{
    cq_tensor *a = c->args[0].u.tensor, *b = c->args[1].u.tensor;
    cq_int     sizes[CQ_MAX_RANK];
    size_t     rank;

    CQ_TRY(product_sizes(c, a, b, &rank, sizes));
    return cq_result(c, 0, a->dtype, rank, sizes);
}

static cq_status product_run(cq_opcall *c)
{
    return cq_kernel_matmul(cq_result_tensor(c, 0), c->args[0].u.tensor, c->args[1].u.tensor);
}

static cq_status mm_shape(cq_opcall *c)
{
    CQ_TRY(need_rank(c, "self", 2));
    CQ_TRY(need_rank(c, "mat2", 2));
    return product_shape(c);
}

static cq_status bmm_shape(cq_opcall *c)
{
    CQ_TRY(need_rank(c, "self", 3));
    CQ_TRY(need_rank(c, "mat2", 3));
    CQ_TRY(need_equal(c, c->args[0].u.tensor->sizes[0], c->args[1].u.tensor->sizes[0]));
    return product_shape(c);
}

static cq_status mv_shape(cq_opcall *c)
{
    CQ_TRY(need_rank(c, "self", 2));
    CQ_TRY(need_rank(c, "vec", 1));
    return product_shape(c);
}

static cq_status dot_shape(cq_opcall *c)
{
    if (c->args[0].u.tensor->rank != 1 || c->args[1].u.tensor->rank != 1)
        return cq_call_fail(c, CQ_E_TYPE, "expected two vectors");
    return product_shape(c);
}

/* ---- sums with a product ---- */

/* self broadcasts to the product, which is the result. */
static cq_status add_product_shape(cq_opcall *c, const char *left, const char *right, size_t rank)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     sizes[CQ_MAX_RANK], together[CQ_MAX_RANK];
    size_t     n, n_together;

    CQ_TRY(need_rank(c, left, rank));
    CQ_TRY(need_rank(c, right, rank));
    CQ_TRY(need_same_dtype(c, self, cq_arg_tensor(c, left)));
    CQ_TRY(product_sizes(c, cq_arg_tensor(c, left), cq_arg_tensor(c, right), &n, sizes));
    CQ_TRY(cq_broadcast(c, &n_together, together, self->rank, self->sizes, n, sizes));
    for (size_t i = 0; i < n_together; i++)
        if (n_together != n || together[i].value != sizes[i].value)
            return cq_call_fail(c, CQ_E_TYPE, "\"self\" does not broadcast to the product");
    return cq_result(c, 0, self->dtype, n, sizes);
}

static cq_status addmm_shape(cq_opcall *c)
{
    return add_product_shape(c, "mat1", "mat2", 2);
}

static cq_status baddbmm_shape(cq_opcall *c)
{
    return add_product_shape(c, "batch1", "batch2", 3);
}

static cq_status add_product_run(cq_opcall *c)
{
    return cq_kernel_addmm(cq_result_tensor(c, 0), c->args[0].u.tensor, c->args[1].u.tensor,
                           c->args[2].u.tensor, cq_arg_f64(c, "beta"), cq_arg_f64(c, "alpha"));
}

/* ---- linear layers ---- */

static cq_status linear_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *w = cq_arg_tensor(c, "weight");
    cq_tensor *bias = cq_arg_tensor(c, "bias");
    cq_int     sizes[CQ_MAX_RANK];

    if (w->rank != 1)
        CQ_TRY(need_rank(c, "weight", 2));
    CQ_TRY(need_same_dtype(c, x, w));
    CQ_TRY(need_same_dtype(c, x, bias));
    if (!x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "\"input\" needs at least one dimension");
    CQ_TRY(need_equal(c, x->sizes[x->rank - 1], w->sizes[w->rank - 1]));
    if (w->rank == 1) {
        if (bias && (bias->rank || x->rank > 1))
            return cq_call_fail(c, CQ_E_TYPE, "\"weight\" should have 2 dimensions but has 1");
        return cq_result(c, 0, x->dtype, x->rank - 1, x->sizes);
    }
    if (bias && (bias->rank > 1 ||
                 (cq_tensor_numel(bias) != 1 && bias->sizes[0].value != w->sizes[0].value)))
        return cq_call_fail(c, CQ_E_TYPE, "expected a \"bias\" vector of %lld elements",
                            (long long)w->sizes[0].value);
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[x->rank - 1] = w->sizes[0];
    return cq_result(c, 0, x->dtype, x->rank, sizes);
}

/* A view of t with one more dimension, of size 1. */
static cq_status insert_axis(cq_tensor **out, cq_tensor *t, size_t at)
{
    cq_int  sizes[CQ_MAX_RANK];
    int64_t strides[CQ_MAX_RANK];

    if (t->rank >= CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a tensor has more than %d dimensions",
                       CQ_MAX_RANK);
    memcpy(sizes, t->sizes, at * sizeof *sizes);
    memcpy(strides, t->strides, at * sizeof *strides);
    sizes[at]   = cq_i(1);
    strides[at] = 0;
    memcpy(sizes + at + 1, t->sizes + at, (t->rank - at) * sizeof *sizes);
    memcpy(strides + at + 1, t->strides + at, (t->rank - at) * sizeof *strides);
    return cq_tensor_new_view(out, t, t->dtype, t->rank + 1, sizes, strides, t->offset);
}

/* A bias of one number is broadcast. A weight of one dimension is a matrix of one row, whose result
 * has no dimension for it. */
static cq_status linear_run(cq_opcall *c)
{
    cq_tensor *w = cq_arg_tensor(c, "weight"), *bias = cq_arg_tensor(c, "bias");
    cq_tensor *out = cq_result_tensor(c, 0), *matrix = NULL, *column = NULL, *row = NULL;
    int64_t    stride = 0;
    cq_status  status = CQ_OK;

    if (w->rank == 1) {
        status = insert_axis(&matrix, w, 0);
        if (status == CQ_OK)
            status = insert_axis(&column, out, out->rank);
    }
    if (status == CQ_OK && bias && cq_tensor_numel(bias) == 1)
        status = cq_tensor_new_view(&row, bias, bias->dtype, 1, (matrix ? matrix : w)->sizes,
                                    &stride, bias->offset);
    if (status == CQ_OK)
        status = cq_kernel_linear(column ? column : out, cq_arg_tensor(c, "input"),
                                  matrix ? matrix : w, row ? row : bias);
    cq_tensor_release(matrix);
    cq_tensor_release(column);
    cq_tensor_release(row);
    return status;
}

const cq_op_def cq_ops_linalg[] = {
    CQ_KERNEL("aten::mm(Tensor self, Tensor mat2) -> Tensor", "product of two matrices", mm_shape,
              product_run),
    CQ_KERNEL("aten::bmm(Tensor self, Tensor mat2) -> Tensor",
              "products of two batches of matrices", bmm_shape, product_run),
    CQ_KERNEL("aten::mv(Tensor self, Tensor vec) -> Tensor", "matrix times vector", mv_shape,
              product_run),
    CQ_KERNEL("aten::dot(Tensor self, Tensor tensor) -> Tensor", "inner product of two vectors",
              dot_shape, product_run),
    CQ_KERNEL("aten::matmul(Tensor self, Tensor other) -> Tensor",
              "product of vectors, matrices or broadcast batches of matrices", product_shape,
              product_run),
    CQ_KERNEL("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
              "Scalar alpha=1) -> Tensor",
              "beta * self + alpha * mat1 @ mat2", addmm_shape, add_product_run),
    CQ_KERNEL("aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
              "Scalar alpha=1) -> Tensor",
              "addmm on batches of matrices", baddbmm_shape, add_product_run),
    CQ_KERNEL("aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
              "input @ weight.T + bias over the last dimension", linear_shape, linear_run),
    { 0 },
};
