/* Maps tensors to gemm calls: vectors become matrices, batches become a loop, and strides are
 * passed through, so that a transposed operand costs nothing. */
#include "kernel/matrix/matmul.h"

#include "base/thread.h"
#include "kernel/matrix/gemm.h"
#include "kernel/operand.h"

/* An operand in the compute dtype; not necessarily contiguous. */
static cq_status convert(cq_tensor **out, const cq_tensor *t, cq_dtype compute)
{
    if (t->dtype != compute)
        return cq_tensor_clone(out, t, compute);
    *out = cq_tensor_retain((cq_tensor *)t);
    return CQ_OK;
}

struct operand {
    const char *data;
    int64_t     row, col;
    int64_t     batch[CQ_MAX_RANK]; /* strides, aligned with out's batch axes; 0: broadcast */
};

struct batch {
    cq_gemm          gemm; /* without data */
    struct operand   a, b;
    char            *c;
    size_t           rank;  /* of the batch */
    const cq_tensor *shape; /* whose leading sizes are the batch's */
};

static struct operand describe(const cq_tensor *t, bool is_left, size_t batch_rank)
{
    struct operand o      = { .data = cq_tensor_bytes(t) };
    size_t         matrix = t->rank < 2 ? 1 : 2, lead = t->rank - matrix;

    if (t->rank == 1) {
        *(is_left ? &o.col : &o.row) = t->strides[0];
    } else {
        o.row = t->strides[lead];
        o.col = t->strides[lead + 1];
    }
    for (size_t i = 0; i < lead; i++)
        if (cq_size_of(t, i) != 1)
            o.batch[batch_rank - lead + i] = t->strides[i];
    return o;
}

static cq_status multiply_one(void *user, int64_t block)
{
    const struct batch *p    = user;
    cq_gemm             g    = p->gemm;
    int64_t             size = (int64_t)cq_dtype_size(g.dtype), at_a = 0, at_b = 0, rest = block;

    for (size_t i = p->rank; i-- > 0;) {
        int64_t n = cq_size_of(p->shape, i), at = rest % n;

        rest /= n;
        at_a += at * p->a.batch[i];
        at_b += at * p->b.batch[i];
    }
    g.a = (cq_matrix){ p->a.data + at_a * size, p->a.row, p->a.col };
    g.b = (cq_matrix){ p->b.data + at_b * size, p->b.row, p->b.col };
    g.c = p->c + block * g.m * g.n * size;
    return cq_gemm_run(&g);
}

/* A batch times a single matrix is one tall product if the rows of a are equidistant. */
static bool fold_rows(struct batch *p, int64_t *n_batch)
{
    int64_t rows = p->gemm.m, step = p->a.row;

    for (size_t i = p->rank; i-- > 0;) {
        int64_t n = cq_size_of(p->shape, i);

        if (p->b.batch[i] != 0 || (n > 1 && rows > 1 && p->a.batch[i] != step * rows))
            return false;
        if (rows == 1)
            step = p->a.batch[i];
        rows *= n;
    }
    p->a.row  = step;
    p->gemm.m = rows;
    p->rank   = 0;
    *n_batch  = 1;
    return true;
}

/* c, contiguous in g's dtype, = alpha * a @ b + beta * c + col_bias */
static cq_status multiply(cq_gemm g, char *c, const cq_tensor *out, const cq_tensor *a,
                          const cq_tensor *b)
{
    size_t       rank    = out->rank - (a->rank > 1) - (b->rank > 1);
    struct batch p       = { .gemm = g, .c = c, .rank = rank, .shape = out };
    int64_t      n_batch = cq_sizes_product(out, 0, rank);

    p.a        = describe(a, true, rank);
    p.b        = describe(b, false, rank);
    p.gemm.m   = a->rank > 1 ? cq_size_of(a, a->rank - 2) : 1;
    p.gemm.k   = cq_size_of(a, a->rank - 1);
    p.gemm.n   = b->rank > 1 ? cq_size_of(b, b->rank - 1) : 1;
    p.gemm.ldc = p.gemm.n;
    if (cq_size_of(b, b->rank > 1 ? b->rank - 2 : 0) != p.gemm.k ||
        !cq_operands_has(out, n_batch * p.gemm.m * p.gemm.n))
        return cq_operands_misfit("matmul", a, b);
    if (n_batch > 1)
        fold_rows(&p, &n_batch);
    return cq_parallel_for(n_batch, multiply_one, &p);
}

static cq_status product(cq_tensor *out, const cq_tensor *a, const cq_tensor *b, cq_gemm g)
{
    cq_operands s  = { .compute = g.dtype };
    cq_tensor  *ca = NULL, *cb = NULL;
    char       *c;
    cq_status   status;

    if (a->rank == 0 || b->rank == 0)
        return cq_operands_misfit("matmul", a, b);
    c      = cq_operands_out(&s, out);
    status = s.status;
    if (status == CQ_OK)
        status = convert(&ca, a, g.dtype);
    if (status == CQ_OK)
        status = convert(&cb, b, g.dtype);
    if (status == CQ_OK)
        status = multiply(g, c, out, ca, cb);
    cq_tensor_release(ca);
    cq_tensor_release(cb);
    s.status = status;
    return cq_operands_close(&s);
}

cq_status cq_kernel_matmul(cq_tensor *out, const cq_tensor *a, const cq_tensor *b)
{
    return product(out, a, b, (cq_gemm){ .dtype = cq_compute_dtype(out->dtype), .alpha = 1 });
}

cq_status cq_kernel_linear(cq_tensor *out, const cq_tensor *x, const cq_tensor *w,
                           const cq_tensor *bias)
{
    cq_operands s          = { .compute = cq_compute_dtype(out->dtype) };
    cq_gemm     g          = { .dtype = s.compute, .alpha = 1 };
    cq_tensor  *w_t        = NULL;
    cq_int      sizes[2]   = { w->sizes[1], w->sizes[0] };
    int64_t     strides[2] = { w->strides[1], w->strides[0] };

    g.col_bias = cq_operands_in(&s, bias);
    if (s.status == CQ_OK)
        s.status = cq_tensor_new_view(&w_t, w, w->dtype, 2, sizes, strides, w->offset);
    if (s.status == CQ_OK)
        s.status = product(out, x, w_t, g);
    cq_tensor_release(w_t);
    return cq_operands_close(&s);
}

/* A view of c with out's shape, broadcast axes having stride 0. */
static cq_status expand(cq_tensor **out, const cq_tensor *c, const cq_tensor *shape)
{
    int64_t strides[CQ_MAX_RANK] = { 0 };
    size_t  lead                 = shape->rank - c->rank;

    for (size_t i = 0; i < c->rank; i++)
        if (cq_size_of(c, i) != 1)
            strides[lead + i] = c->strides[i];
    return cq_tensor_new_view(out, c, c->dtype, shape->rank, shape->sizes, strides, c->offset);
}

cq_status cq_kernel_addmm(cq_tensor *out, const cq_tensor *c, const cq_tensor *a,
                          const cq_tensor *b, double beta, double alpha)
{
    cq_dtype   compute = cq_compute_dtype(out->dtype);
    cq_gemm    g       = { .dtype = compute, .alpha = alpha, .beta = c ? beta : 0 };
    cq_tensor *wide = NULL, *sum = NULL;
    cq_status  status = CQ_OK;

    if (!c || beta == 0)
        return product(out, a, b, g);
    CQ_TRY_OR_DONE(expand(&wide, c, out));
    CQ_TRY_OR_DONE(cq_tensor_clone(&sum, wide, compute));
    CQ_TRY_OR_DONE(product(sum, a, b, g));
    CQ_TRY_OR_DONE(cq_tensor_copy_into(out, sum));
done:
    cq_tensor_release(wide);
    cq_tensor_release(sum);
    return status;
}
