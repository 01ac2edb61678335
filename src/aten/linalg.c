/* Products of matrices, vectors and batches of them. Products along named axes (einsum,
 * tensordot, …) are made of these in contract.c; norms and distances are in distance.c. */
#include "aten/ctx.h"
#include "kernel/matmul.h"

/* ---- checks ---- */

static cq_status need_rank(const cq_opcall *c, const char *name, size_t rank)
{
    const cq_tensor *t = cq_arg_tensor(c, name);

    if (t->rank == rank)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "\"%s\" should have %zu dimensions but has %u", name, rank,
                        t->rank);
}

static cq_status need_same_dtype(const cq_opcall *c, const cq_tensor *a, const cq_tensor *b)
{
    if (!a || !b || a->dtype == b->dtype)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "both factors should have one dtype, not %s and %s",
                        cq_dtype_name(a->dtype), cq_dtype_name(b->dtype));
}

static cq_status need_equal(const cq_opcall *c, cq_int a, cq_int b)
{
    if (a.value == b.value)
        return CQ_OK;
    return cq_call_fail(c, CQ_E_TYPE, "inner sizes %lld and %lld do not fit", (long long)a.value,
                        (long long)b.value);
}

/* ---- matmul and its special cases ---- */

/* The sizes of a @ b by the rules of torch.matmul. */
static cq_status product_sizes(cq_opcall *c, const cq_tensor *a, const cq_tensor *b, size_t *rank,
                               cq_int *sizes)
{
    size_t a_batch = a->rank > 2 ? a->rank - 2 : 0, b_batch = b->rank > 2 ? b->rank - 2 : 0;

    if (!a->rank || !b->rank)
        return cq_call_fail(c, CQ_E_TYPE, "both factors need at least one dimension");
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
    cq_result(c, 0, a->dtype, rank, sizes);
    return c->cx->status;
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
        return cq_call_fail(c, CQ_E_TYPE, "both factors should have one dimension");
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
    cq_result(c, 0, self->dtype, n, sizes);
    return c->cx->status;
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

/* A factor as the dtype has it: 0.6 is 0 among integers, and 3 is true among bools. One that only
 * the run knows is a tensor. */
static cq_val factor_in(cq_opcall *c, const char *name, cq_dtype dtype)
{
    cq_val v = cq_arg_val(c, name);
    double number;

    if (v.kind == CQ_VAL_TENSOR || cq_dtype_is_float(dtype) || cq_dtype_is_complex(dtype))
        return v;
    number = cq_arg_f64(c, name);
    if (dtype == CQ_DTYPE_BOOL)
        return I(number != 0);
    return v.kind == CQ_VAL_FLOAT ? I((int64_t)number) : v;
}

/* Whether a factor is this number in every run. */
static bool is_always(cq_val v, int64_t number)
{
    return v.kind == CQ_VAL_INT     ? cq_int_is(v.u.i, number)
           : v.kind == CQ_VAL_FLOAT ? !v.u.f.origin && v.u.f.value == (double)number
           : v.kind == CQ_VAL_BOOL  ? !v.u.b.origin && v.u.b.value == number
                                    : false;
}

/* x times a factor, which is a tensor if only the run knows it. */
static cq_tensor *times(cq_ctx *cx, cq_tensor *x, cq_val factor)
{
    if (is_always(factor, 1))
        return x;
    return CQ_OP(cx, factor.kind == CQ_VAL_TENSOR ? "aten::mul.Tensor" : "aten::mul.Scalar", T(x),
                 factor);
}

/* beta * self + alpha * product. With beta 0 self is not looked at: its NaNs do not count. */
static cq_status add_scaled(cq_opcall *c, cq_tensor *product)
{
    cq_ctx *cx = c->cx;
    cq_val  beta;

    CQ_TRY(cx->status);
    beta    = factor_in(c, "beta", product->dtype);
    product = times(cx, product, factor_in(c, "alpha", product->dtype));
    if (!is_always(beta, 0))
        product =
            CQ_OP(cx, "aten::add.Tensor", T(times(cx, cq_arg_tensor(c, "self"), beta)), T(product));
    cq_result_set_tensor(c, 0, product);
    return cx->status;
}

static cq_status addmv(cq_opcall *c)
{
    return add_scaled(c, CQ_OP(c->cx, "aten::mv", cq_arg_val(c, "mat"), cq_arg_val(c, "vec")));
}

static cq_status addr(cq_opcall *c)
{
    return add_scaled(c, CQ_OP(c->cx, "aten::outer", cq_arg_val(c, "vec1"), cq_arg_val(c, "vec2")));
}

static cq_status addbmm(cq_opcall *c)
{
    cq_tensor *t = CQ_OP(c->cx, "aten::bmm", cq_arg_val(c, "batch1"), cq_arg_val(c, "batch2"));

    CQ_TRY(c->cx->status);
    return add_scaled(c,
                      CQ_OP(c->cx, "aten::sum.dim_IntList", T(t), I(0), B(false), DTYPE(t->dtype)));
}

/* ---- linear layers ---- */

static cq_status linear_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *w = cq_arg_tensor(c, "weight");
    cq_tensor *bias = cq_arg_tensor(c, "bias");
    cq_int     sizes[CQ_MAX_RANK];

    CQ_TRY(need_rank(c, "weight", 2));
    CQ_TRY(need_same_dtype(c, x, w));
    CQ_TRY(need_same_dtype(c, x, bias));
    if (!x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "\"input\" needs at least one dimension");
    CQ_TRY(need_equal(c, x->sizes[x->rank - 1], w->sizes[1]));
    if (bias && (bias->rank > 1 ||
                 (cq_tensor_numel(bias) != 1 && bias->sizes[0].value != w->sizes[0].value)))
        return cq_call_fail(c, CQ_E_TYPE, "\"bias\" should be one row of %lld numbers",
                            (long long)w->sizes[0].value);
    memcpy(sizes, x->sizes, x->rank * sizeof *sizes);
    sizes[x->rank - 1] = w->sizes[0];
    cq_result(c, 0, x->dtype, x->rank, sizes);
    return c->cx->status;
}

/* A bias of one number is broadcast. */
static cq_status linear_run(cq_opcall *c)
{
    cq_tensor *w = cq_arg_tensor(c, "weight"), *bias = cq_arg_tensor(c, "bias"), *row = bias;
    int64_t    stride = 0;
    cq_status  status;

    if (bias && cq_tensor_numel(bias) == 1)
        CQ_TRY(cq_tensor_new_view(&row, bias, bias->dtype, 1, w->sizes, &stride, bias->offset));
    status = cq_kernel_linear(cq_result_tensor(c, 0), cq_arg_tensor(c, "input"), w, row);
    if (row != bias)
        cq_tensor_release(row);
    return status;
}

/* ---- made of others ---- */

static cq_status outer(cq_opcall *c)
{
    cq_ctx *cx = c->cx;

    CQ_TRY(need_rank(c, "self", 1));
    CQ_TRY(need_rank(c, "vec2", 1));
    cq_result_set_tensor(c, 0,
                         CQ_OP(cx, "aten::mul.Tensor",
                               T(CQ_OP(cx, "aten::unsqueeze", c->args[0], I(1))), c->args[1]));
    return cx->status;
}

/* c[i] = a[i + 1] * b[i + 2] - a[i + 2] * b[i + 1], counted round the three. cross takes the first
 * dimension of three where none is given. */
static cq_status cross(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *a = c->args[0].u.tensor, *b = c->args[1].u.tensor, *left, *right;
    size_t     rank = a->rank > b->rank ? a->rank : b->rank, dim = 0;

    if (a->rank != b->rank)
        return cq_call_fail(c, CQ_E_TYPE, "both should have as many dimensions, not %u and %u",
                            a->rank, b->rank);
    if (!cq_arg_is_none(c, "dim"))
        dim = (size_t)cq_arg_dim(c, "dim", rank);
    else
        while (dim < rank && cq_size_baked(c, a->sizes[dim], "a size that may be 3") != 3)
            dim++;
    if (dim >= rank || a->sizes[dim].value != 3 || b->sizes[dim].value != 3)
        return cq_call_fail(c, CQ_E_TYPE, "a cross product needs a dimension of size 3");
#define ROLLED(t, by) T(CQ_OP(cx, "aten::roll", T(t), I(by), I((int64_t)dim)))
    left  = CQ_OP(cx, "aten::mul.Tensor", ROLLED(a, -1), ROLLED(b, -2));
    right = CQ_OP(cx, "aten::mul.Tensor", ROLLED(a, -2), ROLLED(b, -1));
#undef ROLLED
    cq_result_set_tensor(c, 0, CQ_OP(cx, "aten::sub.Tensor", T(left), T(right)));
    return cx->status;
}

static cq_status as_matmul(cq_opcall *c)
{
    cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::matmul", c->args[0], c->args[1]));
    return c->cx->status;
}

static cq_status as_dot(cq_opcall *c)
{
    cq_result_set_tensor(c, 0, CQ_OP(c->cx, "aten::dot", c->args[0], c->args[1]));
    return c->cx->status;
}

/* Multiplies from left to right. PyTorch picks the cheapest order; the product is the same. */
static cq_status matmul_all(cq_opcall *c)
{
    const char *name = c->op->schema->args[0].name;
    size_t      n    = cq_arg_n_tensors(c, name);
    cq_tensor  *t    = cq_arg_tensor_at(c, name, 0);

    if (!t)
        return cq_call_fail(c, CQ_E_ARGUMENT, "there is nothing to multiply");
    for (size_t i = 1; i < n; i++)
        t = CQ_OP(c->cx, "aten::matmul", T(t), T(cq_arg_tensor_at(c, name, i)));
    cq_result_set_tensor(c, 0, t);
    return c->cx->status;
}

const cq_op_def cq_ops_linalg[] = {
    { .schema = "aten::mm(Tensor self, Tensor mat2) -> Tensor",
      .about  = "product of two matrices",
      .shape  = mm_shape,
      .run    = product_run },
    { .schema = "aten::bmm(Tensor self, Tensor mat2) -> Tensor",
      .about  = "products of two batches of matrices",
      .shape  = bmm_shape,
      .run    = product_run },
    { .schema = "aten::mv(Tensor self, Tensor vec) -> Tensor",
      .about  = "matrix times vector",
      .shape  = mv_shape,
      .run    = product_run },
    { .schema = "aten::dot(Tensor self, Tensor tensor) -> Tensor",
      .about  = "inner product of two vectors",
      .shape  = dot_shape,
      .run    = product_run },
    { .schema  = "aten::vdot(Tensor self, Tensor other) -> Tensor",
      .about   = "inner product of two real vectors",
      .compose = as_dot },
    { .schema = "aten::matmul(Tensor self, Tensor other) -> Tensor",
      .about  = "product of vectors, matrices or broadcast batches of matrices",
      .shape  = product_shape,
      .run    = product_run },
    { .schema  = "aten::linalg_matmul(Tensor self, Tensor other) -> Tensor",
      .about   = "matmul under its newer name",
      .compose = as_matmul },
    { .schema = "aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, "
                "Scalar alpha=1) -> Tensor",
      .about  = "beta * self + alpha * mat1 @ mat2",
      .shape  = addmm_shape,
      .run    = add_product_run },
    { .schema = "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
                "Scalar alpha=1) -> Tensor",
      .about  = "addmm on batches of matrices",
      .shape  = baddbmm_shape,
      .run    = add_product_run },
    { .schema  = "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, "
                 "Scalar alpha=1) -> Tensor",
      .about   = "beta * self + alpha * the sum of the products of a batch",
      .compose = addbmm },
    { .schema  = "aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, "
                 "Scalar alpha=1) -> Tensor",
      .about   = "beta * self + alpha * mat @ vec",
      .compose = addmv },
    { .schema  = "aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, "
                 "Scalar alpha=1) -> Tensor",
      .about   = "beta * self + alpha * outer(vec1, vec2)",
      .compose = addr },
    { .schema = "aten::linear(Tensor input, Tensor weight, Tensor? bias=None) -> Tensor",
      .about  = "input @ weight.T + bias over the last dimension",
      .shape  = linear_shape,
      .run    = linear_run },
    { .schema  = "aten::outer(Tensor self, Tensor vec2) -> Tensor",
      .about   = "all products of two vectors' elements",
      .compose = outer },
    { .schema  = "aten::ger(Tensor self, Tensor vec2) -> Tensor",
      .about   = "outer under its older name",
      .compose = outer },
    { .schema  = "aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor",
      .about   = "vectors at right angles to both",
      .compose = cross },
    { .schema  = "aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor",
      .about   = "vectors at right angles to both",
      .compose = cross },
    { .schema  = "aten::chain_matmul(Tensor[] matrices) -> Tensor",
      .about   = "product of many matrices",
      .compose = matmul_all },
    { .schema  = "aten::linalg_multi_dot(Tensor[] tensors) -> Tensor",
      .about   = "product of many matrices",
      .compose = matmul_all },
    { 0 }
};
