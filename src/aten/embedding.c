/* Bags of embeddings: the sum, mean or maximum of the rows that each bag names. All of it is
 * composed of a table of which index belongs to which bag, so it needs no kernel and is
 * exported at every opset that has its parts. embedding itself is in select.c. */
#include "aten/ctx.h"

#include <math.h>

enum { SUM, MEAN, MAX };

typedef struct bags {
    cq_opcall *c;
    cq_ctx    *cx;
    cq_tensor *weight, *indices;
    int64_t    mode, padding; /* padding: an index that does not count, or negative */
    cq_int     n_bags;
    cq_tensor *of;    /* [indices]: which bag each belongs to */
    cq_tensor *table; /* [bags, indices] of bool */
    cq_tensor *rows;  /* [indices, columns] */
} bags;

static cq_tensor *column(cq_ctx *cx, cq_tensor *t)
{
    return CQ_OP(cx, "aten::unsqueeze", T(t), I(1));
}

static cq_tensor *sum_over(cq_ctx *cx, cq_tensor *t, int64_t dim)
{
    return CQ_OP(cx, "aten::sum.dim_IntList", T(t), cq_i64s(cx, &dim, 1));
}

/* The offsets where bags begin: the last one may only be where the last bag ends. */
static cq_status read_bags(bags *b)
{
    cq_opcall *c       = b->c;
    cq_ctx    *cx      = b->cx;
    cq_tensor *offsets = cq_arg_tensor(c, "offsets"), *places;

    b->weight  = cq_arg_tensor(c, "weight");
    b->indices = cq_arg_tensor(c, "indices");
    b->mode    = cq_arg_i64(c, "mode");
    if (b->weight->rank != 2 || b->indices->rank != 1 || offsets->rank != 1)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "wants a matrix as weight, and indices and offsets of one dimension");
    if (b->mode < SUM || b->mode > MAX)
        return cq_call_fail(c, CQ_E_ARGUMENT, "mode should be 0, 1 or 2, not %lld",
                            (long long)b->mode);
    b->n_bags = offsets->sizes[0];
    if (cq_arg_bool(c, "include_last_offset")) {
        b->n_bags = cq_size_sub(c, b->n_bags, cq_i(1));
        offsets   = CQ_OP(cx, "aten::slice.Tensor", T(offsets), I(0), I(0), N(b->n_bags), I(1));
    }
    places   = CQ_OP(cx, "aten::arange", N(b->indices->sizes[0]));
    b->of    = CQ_OP(cx, "aten::ge.Tensor", T(places), T(column(cx, offsets)));
    b->of    = CQ_OP(cx, "aten::sub.Scalar", T(sum_over(cx, b->of, 0)), I(1));
    b->table = CQ_OP(cx, "aten::eq.Tensor", T(b->of),
                     T(column(cx, CQ_OP(cx, "aten::arange", N(b->n_bags)))));
    if (b->padding >= 0)
        b->table = CQ_OP(cx, "aten::logical_and", T(b->table),
                         T(CQ_OP(cx, "aten::ne.Scalar", T(b->indices), I(b->padding))));
    b->rows = CQ_OP(cx, "aten::embedding", T(b->weight), T(b->indices));
    if (!cq_arg_is_none(c, "per_sample_weights"))
        b->rows = CQ_OP(cx, "aten::mul.Tensor", T(b->rows),
                        T(column(cx, cq_arg_tensor(c, "per_sample_weights"))));
    return cx->status;
}

/* The greatest of each column, 0 in an empty bag, and the index it comes from. */
static cq_tensor *greatest(const bags *b, cq_tensor *empty, cq_tensor **from)
{
    cq_ctx    *cx  = b->cx;
    int64_t    dim = 1;
    cq_tensor *out =
        CQ_OP(cx, "aten::unsqueeze", T(CQ_OP(cx, "aten::logical_not", T(b->table))), I(2));
    cq_tensor *all = CQ_OP(cx, "aten::masked_fill.Scalar",
                           T(CQ_OP(cx, "aten::unsqueeze", T(b->rows), I(0))), T(out), F(-INFINITY));

    *from = CQ_OP(cx, "aten::argmax", T(all), I(1));
    *from = CQ_OP(cx, "aten::take", T(b->indices), T(*from));
    *from = CQ_OP(cx, "aten::masked_fill.Scalar", T(*from), T(empty), I(0));
    all   = CQ_OP(cx, "aten::amax", T(all), cq_i64s(cx, &dim, 1));
    return CQ_OP(cx, "aten::masked_fill.Scalar", T(all), T(empty), I(0));
}

/* Results 1 to 3 are for the backward pass; PyTorch leaves them empty or 0 where a sum does
 * not need them. */
static cq_status bag_compose(cq_opcall *c, int64_t padding)
{
    bags       b  = { .c = c, .cx = c->cx, .padding = padding };
    cq_ctx    *cx = c->cx;
    cq_tensor *out, *counts, *from = NULL, *empty, *of;

    CQ_TRY(read_bags(&b));
    counts = sum_over(cx, b.table, 1);
    empty  = column(cx, CQ_OP(cx, "aten::eq.Scalar", T(counts), I(0)));
    if (b.mode == MAX)
        out = greatest(&b, empty, &from);
    else
        out = CQ_OP(cx, "aten::mm",
                    T(CQ_OP(cx, "aten::to.dtype", T(b.table), DTYPE(b.weight->dtype))), T(b.rows));
    if (b.mode == MEAN)
        out = CQ_OP(cx, "aten::div.Tensor", T(out),
                    T(column(cx, CQ_OP(cx, "aten::clamp", T(counts), I(1)))));
    if (b.mode == SUM)
        counts = CQ_OP(cx, "aten::mul.Scalar", T(counts), I(0));
    of = b.of;
    if (b.mode == SUM && padding < 0)
        of = CQ_OP(cx, "aten::slice.Tensor", T(of), I(0), I(0), I(0), I(1));
    cq_result_set_tensor(c, 0, out);
    cq_result_set_tensor(c, 1, of);
    cq_result_set_tensor(c, 2, counts);
    cq_result_set_tensor(c, 3, from ? from : CQ_OP(cx, "aten::clone", T(counts)));
    return cx->status;
}

static cq_status embedding_bag_compose(cq_opcall *c)
{
    return bag_compose(c, -1);
}

static cq_status embedding_bag_padded_compose(cq_opcall *c)
{
    int64_t rows    = cq_arg_tensor(c, "weight")->sizes[0].value;
    int64_t padding = cq_arg_is_none(c, "padding_idx") ? -1 : cq_arg_i64(c, "padding_idx");

    if (!cq_arg_is_none(c, "padding_idx") && (padding < -rows || padding >= rows))
        return cq_call_fail(c, CQ_E_ARGUMENT, "padding_idx %lld is out of range for %lld rows",
                            (long long)padding, (long long)rows);
    return bag_compose(c, cq_arg_is_none(c, "padding_idx") ? -1
                          : padding < 0                    ? padding + rows
                                                           : padding);
}

static cq_status embedding_bag_inner_compose(cq_opcall *c)
{
    return bag_compose(c, cq_arg_i64(c, "padding_idx"));
}

/* The rows that indices name, scaled down to a norm of max_norm where they exceed it. */
static cq_status renorm_compose(cq_opcall *c)
{
    cq_ctx    *cx   = c->cx;
    cq_tensor *self = cq_arg_tensor(c, "self"), *norms, *scale, *named;
    int64_t    dim  = 1;
    double     most = cq_arg_f64(c, "max_norm");

    if (self->rank != 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "self should have 2 dimensions, not %u",
                            (unsigned)self->rank);
    norms = CQ_OP(cx, "aten::norm.ScalarOpt_dim", T(self), cq_arg_val(c, "norm_type"),
                  cq_i64s(cx, &dim, 1), B(true));
    scale = CQ_OP(cx, "aten::add.Scalar", T(norms), F(1e-7));
    scale = CQ_OP(cx, "aten::mul.Scalar", T(CQ_OP(cx, "aten::reciprocal", T(scale))), F(most));
    named = CQ_OP(cx, "aten::zeros_like",
                  T(CQ_OP(cx, "aten::select.int",
                          T(CQ_OP(cx, "aten::gt.Scalar", T(norms), F(most))), I(1), I(0))));
    named = CQ_OP(cx, "aten::index_fill.int_Scalar", T(named), I(0),
                  T(CQ_OP(cx, "aten::flatten.using_ints", cq_arg_val(c, "indices"))), I(1));
    named = CQ_OP(cx, "aten::logical_and", T(column(cx, named)),
                  T(CQ_OP(cx, "aten::gt.Scalar", T(norms), F(most))));
    cq_result_set_tensor(c, 0,
                         CQ_OP(cx, "aten::where.self", T(named),
                               T(CQ_OP(cx, "aten::mul.Tensor", T(self), T(scale))), T(self)));
    return cx->status;
}

#define BAG(schema_text, function)                                                                 \
    {                                                                                              \
        .schema = schema_text, .about = "sums, means or maxima of the rows that bags name",        \
        .compose = function                                                                        \
    }

const cq_op_def cq_ops_embedding[] = {
    BAG("aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
        "bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
        embedding_bag_compose),
    BAG("aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool "
        "include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
        embedding_bag_padded_compose),
    BAG("aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool "
        "scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, "
        "bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        embedding_bag_inner_compose),
    { .schema  = "aten::embedding_renorm(Tensor self, Tensor indices, float max_norm, float "
                 "norm_type) -> Tensor",
      .about   = "rows scaled down to a norm",
      .compose = renorm_compose },
    { 0 }
};
