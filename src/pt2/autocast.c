/* Autocast: what a program does inside of wrap_with_autocast. The graph has no casts there, but
 * PyTorch's dispatcher makes them, by lists of operators. Those for the CPU are traits
 * (aten/core/op.h). */
#include "pt2/run.h"

/* Doubles are left alone, as in PyTorch. */
static bool is_eligible(const cq_tensor *t)
{
    return cq_dtype_is_float(t->dtype) && t->dtype != CQ_DTYPE_F64;
}

static cq_dtype widest(const cq_val *args, size_t n, cq_dtype so_far)
{
    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CQ_VAL_LIST || args[i].kind == CQ_VAL_TUPLE)
            so_far = widest(args[i].u.list->items, args[i].u.list->n, so_far);
        else if (args[i].kind == CQ_VAL_TENSOR && is_eligible(args[i].u.tensor))
            so_far = cq_dtype_promote(so_far, args[i].u.tensor->dtype);
    }
    return so_far;
}

static cq_status cast(cq_pt2_run *r, cq_dtype to, cq_val *args, size_t n)
{
    cq_ctx *cx = r->ev->cx;

    for (size_t i = 0; i < n; i++) {
        if (args[i].kind == CQ_VAL_LIST) {
            CQ_TRY(cq_eval_list(r->ev, args[i].u.list->items, args[i].u.list->n, CQ_VAL_LIST,
                                &args[i]));
            for (size_t k = 0; k < args[i].u.list->n; k++) {
                cq_val item = args[i].u.list->items[k];

                CQ_TRY(cast(r, to, &item, 1));
                cq_val_retain(item);
                cq_val_release(args[i].u.list->items[k]);
                args[i].u.list->items[k] = item;
            }
        } else if (args[i].kind == CQ_VAL_TENSOR && is_eligible(args[i].u.tensor) &&
                   args[i].u.tensor->dtype != to) {
            args[i] =
                cq_val_of_tensor(CQ_OP(cx, "aten::to.dtype", TENSOR(args[i].u.tensor), DTYPE(to)));
        }
    }
    return cx->status;
}

cq_status cq_pt2_autocast(cq_pt2_run *r, const char *op, cq_val *args, size_t n)
{
    const cq_op *row = cq_op_find(op);

    switch (row ? row->traits.autocast : CQ_AUTOCAST_NONE) {
    case CQ_AUTOCAST_LOWER: return cast(r, r->autocast, args, n);
    case CQ_AUTOCAST_FLOAT32: return cast(r, CQ_DTYPE_F32, args, n);
    case CQ_AUTOCAST_WIDEST: return cast(r, widest(args, n, r->autocast), args, n);
    case CQ_AUTOCAST_NONE: break;
    }
    return CQ_OK;
}
