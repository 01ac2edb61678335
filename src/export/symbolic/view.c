/* Views of whole tensors. ONNX has no views: a view of PyTorch is a separate tensor. The sizes of
 * the result are known, so any operator that sets them (view, flatten, unsqueeze of a symbolic
 * size) is one Reshape. */
#include "base/warn.h"
#include "export/symbolic/positions.h"

/* Data-dependent sizes may be 1 or not, so the rank of the result is data-dependent. The following
 * nodes are built for the rank of the example. */
static cq_value *varying(cq_value *v)
{
    if (v)
        v->rank_varies = true;
    return v;
}

/* The dimension that a call names. A number of the graph stays one if axes are inputs. */
static cq_int open_dim(cq_sym *s, int rank)
{
    cq_int dim = cq_sym_int(s, "dim");

    if (dim.expr && cq_sym_opset(s) < 13) {
        cq_warn(
            s->op->schema->full,
            "dim is fixed to its value %lld on the example; since opset 13 it can depend on data",
            (long long)dim.value);
        dim.expr = NULL;
    }
    if (!dim.expr && dim.value < 0)
        dim.value += rank;
    return dim;
}

/* Removes dimension dim if its size is 1. */
static cq_value *squeeze_if_one(cq_sym *s, cq_value *x, cq_int dim)
{
    cq_value *size, *is_one;
    cq_node  *node;

    if (!cq_sym_since(s, 11, "until opset 11 both branches of an If must have the same rank"))
        return NULL;
    size =
        dim.expr
            ? cq_sym_op(s, "Gather",
                        CQ_IN(cq_sym_op(s, "Shape", CQ_IN(x), CQ_NO_ATTR), cq_sym_of_int(s, dim)),
                        CQ_NO_ATTR)
            : cq_sym_of_int(s, cq_sym_size(s, x, (int)dim.value));
    is_one = cq_sym_op(s, "Equal", CQ_IN(size, cq_sym_const_i64(s, 1)), CQ_NO_ATTR);
    node   = cq_sym_node(s, "If", CQ_IN(is_one), 1);
    cq_sym_push_block(s, node);
    x = dim.expr ? cq_sym_op(s, "Squeeze", CQ_IN(x, cq_sym_of_int_1d(s, dim)), CQ_NO_ATTR)
                 : cq_sym_squeeze(s, x, &dim.value, 1);
    cq_sym_pop_block(s, CQ_IN(varying(x)));
    cq_sym_push_block(s, node);
    x = cq_sym_op(s, "Identity", CQ_IN(cq_sym_in(s, "self")), CQ_NO_ATTR);
    cq_sym_pop_block(s, CQ_IN(varying(x)));
    return s->status == CQ_OK ? node->outputs[0] : NULL;
}

static cq_status squeeze_open(cq_sym *s, cq_value *v)
{
    if (v)
        varying(v)->type = cq_sym_result_type(s, 0);
    return cq_sym_done(s, v);
}

static cq_status squeeze_dim(cq_sym *s)
{
    cq_value *x    = cq_sym_in(s, "self");
    int       rank = cq_sym_rank(s, x);
    cq_int    dim  = open_dim(s, rank);

    if (dim.expr || (rank && cq_sym_size(s, x, (int)dim.value).expr))
        return squeeze_open(s, squeeze_if_one(s, x, dim));
    return cq_sym_done(s, rank && cq_sym_size(s, x, (int)dim.value).value == 1
                              ? cq_sym_squeeze(s, x, &dim.value, 1)
                              : x);
}

static cq_status squeeze(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self");
    int64_t   axes[CQ_MAX_RANK];
    size_t    n = 0;

    for (int i = 0; i < cq_sym_rank(s, x); i++) {
        if (cq_sym_size(s, x, i).expr)
            return squeeze_open(
                s, cq_sym_op(s, "Squeeze", CQ_IN(x), CQ_NO_ATTR)); /* all axes of size 1 */
        if (cq_sym_size(s, x, i).value == 1)
            axes[n++] = i;
    }
    return cq_sym_done(s, n ? cq_sym_squeeze(s, x, axes, n) : x);
}

static cq_status unsqueeze(cq_sym *s)
{
    cq_value *x   = cq_sym_in(s, "self");
    cq_int    dim = open_dim(s, cq_sym_rank(s, x) + 1); /* counted from one past the last */

    return cq_sym_done(
        s, dim.expr ? cq_sym_op(s, "Unsqueeze", CQ_IN(x, cq_sym_of_int_1d(s, dim)), CQ_NO_ATTR)
                    : cq_sym_unsqueeze(s, x, &dim.value, 1));
}

const cq_symbolic cq_symbolics_view[] = {
    { "aten::squeeze", 7, .fn = squeeze },
    { "aten::squeeze.dim", 7, .fn = squeeze_dim },
    { "aten::unsqueeze", 7, .fn = unsqueeze },
    { 0 },
};
