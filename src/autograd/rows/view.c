/* Shapes: views whose unview does not apply or is slow, copies in other shapes, padding. Other
 * views need no rows. */
#include "autograd/gradient.h"

/* The gradients of all results, joined in the order of the split. */
static cq_status joined(cq_grad *g, const char *how)
{
    cq_ctx  *cx = g->cx;
    cq_list *list;
    cq_val   all;

    CQ_TRY(cq_list_new(&list, g->n_results));
    all = cq_ctx_own(cx, cq_val_of_list(list));
    for (size_t i = 0; i < g->n_results && cx->status == CQ_OK; i++)
        list->items[i] = cq_val_retain(TENSOR(cq_grad_of(g, i)));
    return cq_grad_set(g, "self", CQ_OP(cx, how, all, cq_arg_val(&g->call, "dim")));
}

static cq_status unbind(cq_grad *g)
{
    return joined(g, "aten::stack");
}

static cq_status split(cq_grad *g)
{
    return joined(g, "aten::cat");
}

/* Each tensor gets its part. Old models join with empty tensors of one dimension. */
static cq_status cat(cq_grad *g)
{
    cq_ctx *cx    = g->cx;
    int64_t start = 0;
    int     dim   = cq_arg_dim(&g->call, "dim", cq_grad_of(g, 0)->rank);

    for (size_t i = 0; i < g->n_slots && cx->status == CQ_OK; i++) {
        const cq_tensor *t    = g->slots[i].tensor;
        bool             old  = t->rank == 1 && t->sizes[0].value == 0;
        int64_t          end  = start + (old ? 0 : t->sizes[dim].value);
        cq_tensor       *part = old ? CQ_OP(cx, "aten::zeros_like", TENSOR(t))
                                    : CQ_OP(cx, "aten::slice.Tensor", TENSOR(cq_grad_of(g, 0)), INT(dim),
                                            INT(start), INT(end));

        CQ_TRY(cq_grad_set_item(g, "tensors", i, part));
        start = end;
    }
    return cx->status;
}

const cq_gradient cq_gradients_view[] = {
    { "aten::unfold", .kind = CQ_GRADIENT_MOVE },
    { "aten::as_strided", .kind = CQ_GRADIENT_MOVE },
    { "aten::unbind.int", .fn = unbind },
    { "aten::split.Tensor", .fn = split },
    { "aten::split.sizes", .fn = split },
    { "aten::split", .fn = split },
    { "aten::split_with_sizes", .fn = split },
    { "aten::as_strided_scatter", .kind = CQ_GRADIENT_MOVE },
    { "aten::cat", .fn = cat },
    { "aten::repeat", .kind = CQ_GRADIENT_MOVE },
    { "aten::reflection_pad1d", .kind = CQ_GRADIENT_MOVE },
    { "aten::reflection_pad2d", .kind = CQ_GRADIENT_MOVE },
    { "aten::reflection_pad3d", .kind = CQ_GRADIENT_MOVE },
    { "aten::replication_pad1d", .kind = CQ_GRADIENT_MOVE },
    { "aten::replication_pad2d", .kind = CQ_GRADIENT_MOVE },
    { "aten::replication_pad3d", .kind = CQ_GRADIENT_MOVE },
    { "aten::_pad_circular", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};
