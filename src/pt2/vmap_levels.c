/* The dimensions of nested vmaps. A value inside of them has one hidden dimension for each level
 * that it depends on, in front of the others and in the order of the levels. An operator whose
 * arguments depend on several levels gets them with one hidden dimension instead, the product of
 * all, so that batch.c has rules for one only; its results get the levels back. */
#include "pt2/run.h"

#define PREDISPATCH "torch._functorch.predispatch."

unsigned cq_pt2_levels(const cq_pt2_run *r, const cq_pt2_arg *a)
{
    unsigned levels = 0;

    if (a->kind == CQ_PT2_SLOT)
        return r->levels[a->u.slot];
    for (size_t i = 0; a->kind == CQ_PT2_LIST && i < a->u.list.n; i++)
        levels |= cq_pt2_levels(r, &a->u.list.items[i]);
    return levels;
}

void cq_pt2_set_levels(cq_pt2_run *r, const cq_pt2_arg *args, size_t n, unsigned levels)
{
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == CQ_PT2_SLOT)
            r->levels[args[i].u.slot] = (uint8_t)levels;
        else if (args[i].kind == CQ_PT2_LIST)
            cq_pt2_set_levels(r, args[i].u.list.items, args[i].u.list.n, levels);
}

static size_t count(unsigned levels)
{
    size_t n = 0;

    for (; levels; levels &= levels - 1)
        n++;
    return n;
}

/* The position of a level, given as its bit, among the hidden dimensions. */
static size_t position(unsigned levels, unsigned bit)
{
    return count(levels & (bit - 1));
}

static cq_tensor *move(cq_pt2_run *r, cq_tensor *t, int64_t from, int64_t to)
{
    return from == to ? t : CQ_OP(r->ev->cx, "aten::movedim.int", TENSOR(t), INT(from), INT(to));
}

/* x[sizes[0], …] with a dimension of size n before axis at. */
static cq_status repeat(cq_pt2_run *r, cq_int n, size_t at, cq_tensor **x)
{
    cq_ctx *cx = r->ev->cx;
    cq_int  sizes[CQ_MAX_RANK + 1];

    if ((*x)->rank >= CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "there are too many dimensions");
    memcpy(sizes, (*x)->sizes, at * sizeof *sizes);
    sizes[at] = n;
    memcpy(sizes + at + 1, (*x)->sizes + at, ((*x)->rank - at) * sizeof *sizes);
    if (at)
        *x = CQ_OP(cx, "aten::unsqueeze", TENSOR(*x), INT((int64_t)at));
    CQ_TRY(cx->status);
    *x = CQ_OP(cx, "aten::expand", TENSOR(*x), cq_ints(cx, sizes, (*x)->rank + (at == 0)));
    return cx->status;
}

/* ---- the beginning and the end of a vmap ---- */

/* Visible axis i among the dimensions of a value with n hidden ones. */
static int64_t behind(size_t n, int64_t i)
{
    return i < 0 ? i : i + (int64_t)n;
}

static cq_status leave(cq_pt2_run *r, unsigned *levels, unsigned bit, const cq_val *args,
                       cq_tensor **x)
{
    if (!(*levels & bit)) { /* the same for all of the batch */
        CQ_TRY(repeat(r, args[2].kind == CQ_VAL_INT ? args[2].u.i : cq_i(1), count(*levels), x));
        *x = move(r, *x, (int64_t)count(*levels), behind(count(*levels), args[3].u.i.value));
        return r->ev->cx->status;
    }
    *levels &= ~bit;
    *x = move(r, *x, (int64_t)position(*levels, bit), behind(count(*levels), args[3].u.i.value));
    return r->ev->cx->status;
}

/* _add_batch_dim(x, dim, level), _remove_batch_dim(x, level, size, dim) */
static cq_status enter_or_leave(cq_pt2_run *r, const cq_pt2_node *n, bool enter, cq_val *out)
{
    cq_val     args[4];
    cq_tensor *x;
    unsigned   levels, bit;
    int64_t    level;

    if (n->n_inputs != (enter ? 3 : 4))
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "it has other arguments than it takes");
    for (size_t i = 0; i < n->n_inputs; i++)
        CQ_TRY(cq_pt2_value(r, &n->inputs[i], &args[i]));
    if (args[0].kind != CQ_VAL_TENSOR || args[enter ? 1 : 3].kind != CQ_VAL_INT ||
        args[enter ? 2 : 1].kind != CQ_VAL_INT)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "it has other arguments than it takes");
    x     = args[0].u.tensor;
    level = args[enter ? 2 : 1].u.i.value;
    if (level < 1 || level > CQ_PT2_MAX_LEVELS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "ep.run_decompositions() replaces it",
                       "vmaps are nested more than %d deep", CQ_PT2_MAX_LEVELS);
    bit    = 1u << (level - 1);
    levels = cq_pt2_levels(r, &n->inputs[0]);
    if (enter) {
        if (levels & bit)
            return cq_fail(CQ_E_FORMAT, NULL, NULL, "the value is inside of this vmap already");
        if (x->rank <= count(levels))
            return cq_fail(CQ_E_FORMAT, NULL, NULL, "a value without dimensions has no batch");
        x = move(r, x, behind(count(levels), args[1].u.i.value), (int64_t)position(levels, bit));
        levels |= bit;
    } else {
        CQ_TRY(leave(r, &levels, bit, args, &x));
    }
    cq_pt2_set_levels(r, n->outputs, n->n_outputs, levels);
    *out = cq_val_of_tensor(x);
    return r->ev->cx->status;
}

cq_status cq_pt2_batch_call(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out, bool *found)
{
    const bool enter = strcmp(n->target, PREDISPATCH "_add_batch_dim") == 0;

    *found = enter || strcmp(n->target, PREDISPATCH "_remove_batch_dim") == 0;
    return *found ? enter_or_leave(r, n, enter, out) : CQ_OK;
}

/* ---- several levels as one ---- */

static void find_sizes(const cq_pt2_run *r, const cq_pt2_arg *a, cq_val v, cq_pt2_batch *b)
{
    const unsigned levels = cq_pt2_levels(r, a);

    if (a->kind == CQ_PT2_SLOT && v.kind == CQ_VAL_TENSOR)
        for (unsigned rest = levels; rest; rest &= rest - 1) {
            const unsigned bit = rest & (~rest + 1);

            b->sizes[position(b->levels, bit)] = v.u.tensor->sizes[position(levels, bit)];
        }
    for (size_t i = 0;
         a->kind == CQ_PT2_LIST && cq_val_is_list(v) && i < a->u.list.n && i < v.u.list->n; i++)
        find_sizes(r, &a->u.list.items[i], v.u.list->items[i], b);
}

static cq_status merge_tensor(cq_pt2_run *r, unsigned levels, const cq_pt2_batch *b, cq_tensor **x)
{
    cq_ctx *cx = r->ev->cx;

    for (unsigned rest = b->levels & ~levels; rest; rest &= rest - 1) {
        const unsigned bit = rest & (~rest + 1);

        CQ_TRY(repeat(r, b->sizes[position(b->levels, bit)], position(levels, bit), x));
        levels |= bit;
    }
    *x = CQ_OP(cx, "aten::flatten.using_ints", TENSOR(*x), INT(0), INT((int64_t)b->n - 1));
    return cx->status;
}

static cq_status merge(cq_pt2_run *r, const cq_pt2_arg *a, const cq_pt2_batch *b, cq_val *v)
{
    const unsigned levels = cq_pt2_levels(r, a);
    cq_val         list;

    if (!levels)
        return CQ_OK;
    if (a->kind == CQ_PT2_SLOT)
        return v->kind == CQ_VAL_TENSOR ? merge_tensor(r, levels, b, &v->u.tensor) : CQ_OK;
    CQ_TRY(cq_eval_list(r->ev, v->u.list->items, v->u.list->n, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < list.u.list->n && i < a->u.list.n; i++) {
        cq_val item = list.u.list->items[i];

        CQ_TRY(merge(r, &a->u.list.items[i], b, &item));
        cq_val_set(&list.u.list->items[i], item);
    }
    *v = list;
    return CQ_OK;
}

cq_status cq_pt2_merge_levels(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o,
                              cq_pt2_batch *b)
{
    *b = (cq_pt2_batch){ 0 };
    for (size_t i = 0; i < n->n_inputs; i++)
        b->levels |= cq_pt2_levels(r, &n->inputs[i]);
    b->n = count(b->levels);
    if (b->n < 2)
        return CQ_OK;
    for (size_t i = 0; i < n->n_inputs; i++)
        find_sizes(r, &n->inputs[i], o->args[i], b);
    for (size_t i = 0; i < n->n_inputs; i++)
        CQ_TRY(merge(r, &n->inputs[i], b, &o->args[i]));
    return CQ_OK;
}

static cq_status split_tensor(cq_pt2_run *r, const cq_pt2_batch *b, cq_val *v)
{
    cq_tensor *x = v->u.tensor;
    cq_int     sizes[CQ_MAX_RANK + CQ_PT2_MAX_LEVELS];

    if (x->rank == 0)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "a result inside of a vmap has lost its batch");
    if (b->n == 1)
        return CQ_OK;
    if (x->rank - 1 + b->n > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "there are too many dimensions");
    memcpy(sizes, b->sizes, b->n * sizeof *sizes);
    memcpy(sizes + b->n, x->sizes + 1, (x->rank - 1) * sizeof *sizes);
    *v = cq_val_of_tensor(CQ_OP(r->ev->cx, "aten::reshape", TENSOR(x),
                                cq_ints(r->ev->cx, sizes, x->rank - 1 + b->n)));
    return r->ev->cx->status;
}

cq_status cq_pt2_split_levels(cq_pt2_run *r, const cq_pt2_batch *b, cq_val *v)
{
    cq_val list;

    if (b->n == 0 || (v->kind != CQ_VAL_TENSOR && !cq_val_is_list(*v)))
        return CQ_OK;
    if (v->kind == CQ_VAL_TENSOR)
        return split_tensor(r, b, v);
    CQ_TRY(cq_eval_list(r->ev, v->u.list->items, v->u.list->n, v->kind, &list));
    for (size_t i = 0; i < list.u.list->n; i++) {
        cq_val item = list.u.list->items[i];

        CQ_TRY(cq_pt2_split_levels(r, b, &item));
        cq_val_set(&list.u.list->items[i], item);
    }
    *v = list;
    return CQ_OK;
}
