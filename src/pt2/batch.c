/* Programs that used vmap, as PyTorch notes them before it decomposes them: between
 * _add_batch_dim and _remove_batch_dim a tensor has a dimension that the nodes do not know of. It
 * is carried in front of the others. Operators that work element by element only need their
 * arguments lined up behind it; those are followed, and all others refused. */
#include "pt2/run.h"

#define PREDISPATCH "torch._functorch.predispatch."

static bool is_elementwise(const char *op)
{
    static const char *const names[] = {
        "add",         "sub",        "mul",         "div",         "neg",         "abs",
        "exp",         "expm1",      "log",         "log1p",       "log2",        "sqrt",
        "rsqrt",       "square",     "reciprocal",  "sin",         "cos",         "tan",
        "asin",        "acos",       "atan",        "sinh",        "cosh",        "tanh",
        "erf",         "sigmoid",    "relu",        "silu",        "gelu",        "softplus",
        "pow",         "maximum",    "minimum",     "clamp",       "where",       "eq",
        "ne",          "lt",         "le",          "gt",          "ge",          "sign",
        "floor",       "ceil",       "round",       "trunc",       "remainder",   "clone",
        "logical_and", "logical_or", "logical_not", "logical_xor", "bitwise_and", "bitwise_or",
        "bitwise_not", "to",         "_to_copy",    "detach",      "alias",       "zeros_like",
        "ones_like",   "full_like",  "isnan",       "masked_fill", "lerp",        "addcmul",
        "addcdiv",     "atan2",
    };
    const size_t prefix = strlen("aten::"), len = strcspn(op, ".") - prefix;

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i]) == len && memcmp(op + prefix, names[i], len) == 0)
            return true;
    return false;
}

static bool is_batched(const cq_pt2_run *r, const cq_pt2_arg *a)
{
    return a->kind == CQ_PT2_SLOT && r->batched[a->u.slot];
}

static void mark(cq_pt2_run *r, const cq_pt2_node *n, bool batched)
{
    for (size_t i = 0; i < n->n_outputs; i++)
        if (n->outputs[i].kind == CQ_PT2_SLOT)
            r->batched[n->outputs[i].u.slot] = batched;
}

static cq_tensor *move(cq_pt2_run *r, cq_tensor *t, int64_t from, int64_t to)
{
    return from == to ? t : CQ_OP(r->ev->cx, "aten::movedim.int", TENSOR(t), INT(from), INT(to));
}

/* _add_batch_dim(x, dim, level), _remove_batch_dim(x, level, size, dim) */
static cq_status enter_or_leave(cq_pt2_run *r, const cq_pt2_node *n, bool enter, cq_val *out)
{
    cq_ctx    *cx = r->ev->cx;
    cq_val     args[4];
    cq_tensor *x;

    if (n->n_inputs != (enter ? 3 : 4))
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "it has other arguments than it takes");
    for (size_t i = 0; i < n->n_inputs; i++)
        CQ_TRY(cq_pt2_value(r, &n->inputs[i], &args[i]));
    x = args[0].kind == CQ_VAL_TENSOR ? args[0].u.tensor : NULL;
    if (!x || args[enter ? 1 : 3].kind != CQ_VAL_INT || args[enter ? 2 : 1].kind != CQ_VAL_INT ||
        args[enter ? 2 : 1].u.i.value != 1)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "ep.run_decompositions() replaces it",
                       "a vmap inside of a vmap cannot be followed");
    if (enter) {
        x = move(r, x, args[1].u.i.value, 0);
    } else if (is_batched(r, &n->inputs[0])) {
        x = move(r, x, 0, args[3].u.i.value);
    } else { /* all of the batch have the same */
        cq_int sizes[CQ_MAX_RANK + 1] = { args[2].kind == CQ_VAL_INT ? args[2].u.i : cq_i(1) };

        if (x->rank >= CQ_MAX_RANK)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "there are too many dimensions");
        memcpy(sizes + 1, x->sizes, x->rank * sizeof *x->sizes);
        x = CQ_OP(cx, "aten::expand", TENSOR(x), cq_ints(cx, sizes, x->rank + 1));
        x = x ? move(r, x, 0, args[3].u.i.value) : NULL;
    }
    mark(r, n, enter);
    *out = cq_val_of_tensor(x);
    return cx->status;
}

cq_status cq_pt2_batch_call(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out, bool *found)
{
    const bool enter = strcmp(n->target, PREDISPATCH "_add_batch_dim") == 0;

    *found = enter || strcmp(n->target, PREDISPATCH "_remove_batch_dim") == 0;
    return *found ? enter_or_leave(r, n, enter, out) : CQ_OK;
}

/* Dimensions of size 1 behind the batch, so that the last ones of all arguments lie over each
 * other. */
cq_status cq_pt2_line_up(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args)
{
    cq_ctx *cx   = r->ev->cx;
    size_t  rank = 0;
    bool    any  = false;

    for (size_t i = 0; i < n->n_inputs; i++) {
        const bool batched = is_batched(r, &n->inputs[i]);

        any |= batched;
        if (args[i].kind == CQ_VAL_TENSOR && args[i].u.tensor->rank - batched > rank)
            rank = args[i].u.tensor->rank - batched;
    }
    mark(r, n, any);
    if (!any)
        return CQ_OK;
    if (!is_elementwise(n->op))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "ep.run_decompositions() replaces it",
                       "%s inside of a vmap cannot be followed", n->op);
    for (size_t i = 0; i < n->n_inputs; i++)
        while (is_batched(r, &n->inputs[i]) && args[i].kind == CQ_VAL_TENSOR &&
               args[i].u.tensor->rank - 1 < rank) {
            args[i] =
                cq_val_of_tensor(CQ_OP(cx, "aten::unsqueeze", TENSOR(args[i].u.tensor), INT(1)));
            CQ_TRY(cx->status);
        }
    return CQ_OK;
}
