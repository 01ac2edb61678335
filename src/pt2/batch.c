/* Programs that use vmap, as PyTorch records them before decomposition: between _add_batch_dim and
 * _remove_batch_dim a tensor has a batch dimension that the nodes do not show. It is kept in front
 * of the others. Element-wise operators need their arguments aligned after it, axes are shifted by
 * one, shapes have one more size, and matrix products are batched. Other operators are called for
 * each element of the batch, in a loop. */
#include "pt2/run.h"

#include "base/str.h"

static cq_vmap rule_of(const char *op)
{
    const cq_op *row = cq_op_find(op);

    return row ? row->traits.vmap : CQ_VMAP_NONE;
}

static bool is_batched(const cq_pt2_run *r, const cq_pt2_arg *a)
{
    return cq_pt2_levels(r, a) != 0;
}

/* Repeats an argument that is the same for the whole batch. */
static cq_status repeat(cq_pt2_run *r, cq_int n, cq_tensor **x)
{
    cq_ctx *cx                     = r->ev->cx;
    cq_int  sizes[CQ_MAX_RANK + 1] = { n };

    if ((*x)->rank >= CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "there are too many dimensions");
    memcpy(sizes + 1, (*x)->sizes, (*x)->rank * sizeof *sizes);
    *x = CQ_OP(cx, "aten::expand", TENSOR(*x), cq_ints(cx, sizes, (*x)->rank + 1));
    return cx->status;
}

/* ---- operators inside of a vmap ---- */

static cq_status refuse(const cq_pt2_node *n)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, "ep.run_decompositions() replaces it",
                   "%s inside of a vmap cannot be followed", n->op);
}

/* Inserts dimensions of size 1 after the batch, up to rank. */
static cq_status lift(cq_pt2_run *r, cq_val *v, bool batched, size_t rank)
{
    while (batched && v->kind == CQ_VAL_TENSOR && v->u.tensor->rank - 1 < rank) {
        *v = cq_val_of_tensor(CQ_OP(r->ev->cx, "aten::unsqueeze", TENSOR(v->u.tensor), INT(1)));
        CQ_TRY(r->ev->cx->status);
    }
    return CQ_OK;
}

static size_t rank_without_batch(cq_val v, bool batched)
{
    return v.kind == CQ_VAL_TENSOR ? v.u.tensor->rank - batched : 0;
}

/* Aligns the last dimensions of all arguments. */
static cq_status line_up(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args)
{
    size_t rank = 0;

    for (size_t i = 0; i < n->n_inputs; i++) {
        const size_t own = rank_without_batch(args[i], is_batched(r, &n->inputs[i]));

        rank = own > rank ? own : rank;
    }
    for (size_t i = 0; i < n->n_inputs; i++)
        CQ_TRY(lift(r, &args[i], is_batched(r, &n->inputs[i]), rank));
    return CQ_OK;
}

static bool is_axis_name(const char *name)
{
    static const char *const names[] = { "dim",       "dims",    "dim0",   "dim1",
                                         "start_dim", "end_dim", "source", "destination" };

    return CQ_IS_AMONG(name, names);
}

/* Axes that are counted from the end stay unchanged. */
static cq_status shift_axes(cq_pt2_run *r, const char *op, cq_val *v)
{
    cq_val list;

    if (v->kind == CQ_VAL_INT) {
        v->u.i = v->u.i.value >= 0 ? cq_i(v->u.i.value + 1) : v->u.i;
        return CQ_OK;
    }
    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_LIST, &list));
    if (strcmp(op, "aten::permute") == 0)
        CQ_TRY(cq_list_push(list.u.list, cq_val_of_i64(0)));
    for (size_t i = 0; i < v->u.list->n; i++) {
        cq_val axis = v->u.list->items[i];

        CQ_TRY(shift_axes(r, "", &axis));
        CQ_TRY(cq_list_push(list.u.list, axis));
    }
    *v = list;
    return CQ_OK;
}

static bool are_axes(cq_val v)
{
    if (v.kind == CQ_VAL_LIST && v.u.list->n) {
        for (size_t i = 0; i < v.u.list->n; i++)
            if (v.u.list->items[i].kind != CQ_VAL_INT)
                return false;
        return true;
    }
    return v.kind == CQ_VAL_INT;
}

/* Replaces "all axes" by those after the batch, counted from the end. */
static cq_status name_all_axes(cq_pt2_run *r, const cq_pt2_node *n, const cq_pt2_operands *o,
                               const cq_schema_arg *arg, cq_val *axes)
{
    const size_t rank = rank_without_batch(o->args[0], true);
    const bool   all  = axes->kind == CQ_VAL_NONE || (cq_val_is_list(*axes) && !axes->u.list->n);

    if (!all || !arg->type.list_depth || strcmp(arg->name, "dim") != 0)
        return refuse(n);
    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_LIST, axes));
    for (size_t i = 1; i <= rank; i++)
        CQ_TRY(cq_list_push(axes->u.list, cq_val_of_i64(-(int64_t)i)));
    return CQ_OK;
}

/* Sets an axis that is omitted to its default. */
static cq_status give_axis(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o,
                           const cq_schema_arg *arg)
{
    size_t at = 0;

    while (at < o->n && strcmp(o->names[at], arg->name) != 0)
        at++;
    if (at == o->n) {
        if (!arg->has_default || o->n == CQ_EVAL_MAX_OPERANDS)
            return refuse(n);
        o->names[o->n]  = arg->name;
        o->args[o->n++] = arg->default_value;
    }
    return are_axes(o->args[at]) ? CQ_OK : name_all_axes(r, n, o, arg, &o->args[at]);
}

/* Axes 0 and -1 are valid for a tensor without dimensions; with a batch they would be the batch. */
static bool is_number_in_batch(const cq_pt2_node *n, const cq_pt2_operands *o)
{
    return strcmp(n->op, "aten::unsqueeze") != 0 && strcmp(n->op, "aten::stack") != 0 && o->n &&
           rank_without_batch(o->args[0], true) == 0 && o->args[0].kind == CQ_VAL_TENSOR;
}

static cq_status by_axes(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o)
{
    const cq_op *row = cq_op_find(n->op);

    if (!row || is_number_in_batch(n, o))
        return refuse(n);
    for (size_t i = 0; i < row->schema->n_args; i++)
        if (is_axis_name(row->schema->args[i].name))
            CQ_TRY(give_axis(r, n, o, &row->schema->args[i]));
    for (size_t i = 1; i < n->n_inputs; i++)
        if (is_batched(r, &n->inputs[i]))
            return refuse(n);
    for (size_t i = 0; i < o->n; i++)
        if (is_axis_name(o->names[i]))
            CQ_TRY(shift_axes(r, n->op, &o->args[i]));
    return CQ_OK;
}

static cq_status by_shape(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args)
{
    cq_val list;

    if (n->n_inputs < 2 || args[0].kind != CQ_VAL_TENSOR || args[1].kind != CQ_VAL_LIST ||
        !is_batched(r, &n->inputs[0]))
        return refuse(n);
    if (strcmp(n->op, "aten::expand") == 0)
        CQ_TRY(lift(r, &args[0], true, args[1].u.list->n));
    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_LIST, &list));
    CQ_TRY(cq_list_push(list.u.list, cq_val_of_int(args[0].u.tensor->sizes[0])));
    CQ_TRY(cq_list_add(list.u.list, args[1].u.list));
    args[1] = list;
    return CQ_OK;
}

static cq_status joined(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o)
{
    cq_val       *args = o->args;
    const cq_int *size = NULL;
    cq_val        list;

    if (n->inputs[0].kind != CQ_PT2_LIST || args[0].kind != CQ_VAL_LIST)
        return refuse(n);
    for (size_t i = 0; i < args[0].u.list->n; i++)
        if (args[0].u.list->items[i].kind != CQ_VAL_TENSOR)
            return refuse(n);
        else if (is_batched(r, &n->inputs[0].u.list.items[i]))
            size = args[0].u.list->items[i].u.tensor->sizes;
    if (!size)
        return refuse(n);
    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < args[0].u.list->n; i++) {
        cq_tensor *t = args[0].u.list->items[i].u.tensor;

        if (!is_batched(r, &n->inputs[0].u.list.items[i]))
            CQ_TRY(repeat(r, size[0], &t));
        CQ_TRY(cq_list_push(list.u.list, cq_val_of_tensor(t)));
    }
    args[0] = list;
    return by_axes(r, n, o);
}

/* Vectors are matrices of one row or column until the product is computed. */
static cq_status product_of(cq_pt2_run *r, cq_val *args, const bool *batched, cq_val *out)
{
    cq_ctx    *cx = r->ev->cx;
    cq_tensor *t;
    bool       row, column;
    size_t     rank = 0;

    row    = rank_without_batch(args[0], batched[0]) == 1;
    column = rank_without_batch(args[1], batched[1]) == 1;
    if (row)
        args[0].u.tensor = CQ_OP(cx, "aten::unsqueeze", TENSOR(args[0].u.tensor), INT(-2));
    if (column)
        args[1].u.tensor = CQ_OP(cx, "aten::unsqueeze", TENSOR(args[1].u.tensor), INT(-1));
    CQ_TRY(cx->status);
    for (size_t i = 0; i < 2; i++)
        if (rank_without_batch(args[i], batched[i]) > rank)
            rank = rank_without_batch(args[i], batched[i]);
    for (size_t i = 0; i < 2; i++)
        CQ_TRY(lift(r, &args[i], batched[i], rank));
    t = CQ_OP(cx, "aten::matmul", TENSOR(args[0].u.tensor), TENSOR(args[1].u.tensor));
    if (row)
        t = CQ_OP(cx, "aten::squeeze.dim", TENSOR(t), INT(-2));
    if (column)
        t = CQ_OP(cx, "aten::squeeze.dim", TENSOR(t), INT(-1));
    CQ_TRY(cx->status);
    *out = cq_val_of_tensor(t);
    return CQ_OK;
}

static cq_status product(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    if (n->n_inputs != 2 || args[0].kind != CQ_VAL_TENSOR || args[1].kind != CQ_VAL_TENSOR)
        return refuse(n);
    return product_of(r, args,
                      (bool[]){ is_batched(r, &n->inputs[0]), is_batched(r, &n->inputs[1]) }, out);
}

/* linear(input, weight, bias) */
static cq_status linear(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    cq_ctx *cx = r->ev->cx;
    bool    batched[3];
    cq_val  bias = n->n_inputs > 2 ? args[2] : CQ_NONE;
    size_t  rank;

    for (size_t i = 0; i < 3; i++)
        batched[i] = i < n->n_inputs && is_batched(r, &n->inputs[i]);
    if (n->n_inputs < 2 || args[0].kind != CQ_VAL_TENSOR || args[1].kind != CQ_VAL_TENSOR)
        return refuse(n);
    rank = rank_without_batch(args[0], batched[0]);
    if (rank_without_batch(args[1], batched[1]) == 2)
        args[1].u.tensor =
            CQ_OP(cx, "aten::transpose.int", TENSOR(args[1].u.tensor), INT(-2), INT(-1));
    CQ_TRY(cx->status);
    CQ_TRY(product_of(r, args, batched, out));
    if (bias.kind != CQ_VAL_TENSOR)
        return CQ_OK;
    CQ_TRY(lift(r, &bias, batched[2], rank));
    CQ_TRY(lift(r, out, batched[0] || batched[1], rank));
    *out = cq_val_of_tensor(
        CQ_OP(cx, "aten::add.Tensor", TENSOR(out->u.tensor), TENSOR(bias.u.tensor)));
    return cx->status;
}

/* The axes after the batch in reverse order. */
static cq_status turned(cq_pt2_run *r, const cq_pt2_node *n, const cq_val *args, cq_val *out)
{
    const size_t rank = rank_without_batch(args[0], true);
    cq_int       order[CQ_MAX_RANK];

    if (n->n_inputs != 1)
        return refuse(n);
    for (size_t i = 0; i <= rank; i++)
        order[i] = cq_i(i ? (int64_t)(rank + 1 - i) : 0);
    *out = cq_val_of_tensor(CQ_OP(r->ev->cx, "aten::permute", TENSOR(args[0].u.tensor),
                                  cq_ints(r->ev->cx, order, rank + 1)));
    return r->ev->cx->status;
}

static cq_status layer(cq_pt2_run *r, const cq_pt2_node *n)
{
    const size_t own = strcmp(n->op, "aten::embedding") == 0 ? 1 : 0;

    for (size_t i = 0; i < n->n_inputs; i++)
        if (is_batched(r, &n->inputs[i]) != (i == own))
            return refuse(n);
    return CQ_OK;
}

/* ---- operators without a rule: a call for each element of the batch ---- */

typedef struct one_call {
    cq_pt2_run            *run;
    const cq_pt2_node     *node;
    const cq_pt2_operands *operands;
} one_call;

enum { MAX_UNROLLED = 256 }; /* calls of a batch whose size is known */

/* Replaces the batched tensors by the slices of an iteration. */
static cq_status put_slices(const one_call *c, const cq_pt2_arg *a, cq_val *v, const cq_val *slices,
                            size_t *at)
{
    cq_val list;

    if (a->kind == CQ_PT2_SLOT && is_batched(c->run, a))
        *v = slices[(*at)++];
    if (a->kind != CQ_PT2_LIST || !is_batched(c->run, a))
        return CQ_OK;
    CQ_TRY(cq_eval_list(c->run->ev, v->u.list->items, v->u.list->n, CQ_VAL_LIST, &list));
    for (size_t i = 0; i < list.u.list->n && i < a->u.list.n; i++) {
        cq_val item = list.u.list->items[i];

        CQ_TRY(put_slices(c, &a->u.list.items[i], &item, slices, at));
        cq_val_set(&list.u.list->items[i], item);
    }
    *v = list;
    return CQ_OK;
}

static cq_status call_once(cq_eval *ev, void *user, const cq_val *args, size_t n, cq_val *out)
{
    const one_call *c      = user;
    cq_pt2_operands o      = *c->operands;
    cq_pt2_leaves   slices = { 0 };
    cq_status       status = CQ_OK;
    size_t          at     = 0;

    for (size_t i = 0; i < n && status == CQ_OK; i++)
        status = cq_pt2_flatten(&slices, args[i]);
    for (size_t i = 0; i < c->node->n_inputs && status == CQ_OK; i++)
        status = put_slices(c, &c->node->inputs[i], &o.args[i], slices.items, &at);
    if (status == CQ_OK)
        status = cq_pt2_call(c->run, c->node->op, o.names, o.args, o.n, out);
    cq_vec_clear(&slices);
    if (status == CQ_OK && !cq_val_is_list(*out))
        status = cq_eval_list(ev, out, 1, CQ_VAL_TUPLE, out);
    return status;
}

static cq_status collect(const cq_pt2_run *r, const cq_pt2_arg *a, cq_val v, cq_list *to)
{
    if (a->kind == CQ_PT2_SLOT && is_batched(r, a))
        return v.kind == CQ_VAL_TENSOR ? cq_list_push(to, v) : CQ_E_UNSUPPORTED;
    for (size_t i = 0; a->kind == CQ_PT2_LIST && cq_val_is_list(v) && i < a->u.list.n; i++)
        CQ_TRY(collect(r, &a->u.list.items[i], v.u.list->items[i], to));
    return CQ_OK;
}

static cq_status in_loop(cq_pt2_run *r, const cq_pt2_node *n, const cq_pt2_operands *o, cq_val *out)
{
    one_call   c         = { r, n, o };
    size_t     n_results = n->n_outputs;
    cq_val     xs, function;
    cq_object *body;
    cq_int     size;

    if (n->n_outputs == 1 && n->outputs[0].kind == CQ_PT2_LIST)
        n_results = n->outputs[0].u.list.n;
    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_TUPLE, &xs));
    for (size_t i = 0; i < n->n_inputs; i++)
        if (collect(r, &n->inputs[i], o->args[i], xs.u.list) != CQ_OK)
            return refuse(n);
    if (!xs.u.list->n || !n_results)
        return refuse(n);
    size = xs.u.list->items[0].u.tensor->sizes[0];
    if (!size.expr && size.value > MAX_UNROLLED)
        return refuse(n);
    CQ_TRY(cq_object_new(&body, CQ_OBJECT_NATIVE));
    body->text        = n->op;
    body->native      = call_once;
    body->native_user = &c;
    CQ_TRY(cq_eval_own(r->ev, cq_val_of_object(body), &function));
    CQ_TRY(cq_pt2_map(r, function, xs, n_results, out));
    if (n->n_outputs == 1 && n->outputs[0].kind == CQ_PT2_SLOT)
        *out = out->u.list->items[0];
    return CQ_OK;
}

/* Applies the rule of an operator, if it has one that fits the arguments. */
static cq_status by_rule(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o, cq_val *out,
                         bool *done)
{
    switch (rule_of(n->op)) {
    case CQ_VMAP_ELEMENTWISE: return line_up(r, n, o->args);
    case CQ_VMAP_BY_AXES: return by_axes(r, n, o);
    case CQ_VMAP_BY_SHAPE: return by_shape(r, n, o->args);
    case CQ_VMAP_JOINED: return joined(r, n, o);
    case CQ_VMAP_PRODUCT: *done = true; return product(r, n, o->args, out);
    case CQ_VMAP_LINEAR: *done = true; return linear(r, n, o->args, out);
    case CQ_VMAP_TURNED: *done = true; return turned(r, n, o->args, out);
    case CQ_VMAP_LAST: return rank_without_batch(o->args[0], true) < 2 ? refuse(n) : CQ_OK;
    case CQ_VMAP_LAYER: return layer(r, n);
    case CQ_VMAP_NONE: break;
    }
    return refuse(n);
}

/* A reduction of all elements becomes one of the flattened elements of the batch. */
static cq_status reduction(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o, cq_val *out,
                           bool *done)
{
    static const struct {
        const char *op, *along_axis;
    } pairs[]      = { { "aten::sum", "aten::sum.dim_IntList" },
                       { "aten::mean", "aten::mean.dim" },
                       { "aten::prod", "aten::prod.dim_int" },
                       { "aten::max", "aten::amax" },
                       { "aten::min", "aten::amin" },
                       { "aten::any", "aten::any.dim" },
                       { "aten::all", "aten::all.dim" } };
    cq_ctx     *cx = r->ev->cx;
    const char *op = NULL;

    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        if (strcmp(n->op, pairs[i].op) == 0)
            op = pairs[i].along_axis;
    if (!op || !o->n || o->args[0].kind != CQ_VAL_TENSOR || o->n == CQ_EVAL_MAX_OPERANDS)
        return CQ_OK;
    CQ_TRY(lift(r, &o->args[0], true, 1));
    o->args[0] = cq_val_of_tensor(
        CQ_OP(cx, "aten::flatten.using_ints", TENSOR(o->args[0].u.tensor), INT(1), INT(-1)));
    CQ_TRY(cx->status);
    o->names[o->n]  = "dim";
    o->args[o->n++] = cq_val_of_i64(-1);
    *done           = true;
    return cq_pt2_call(r, op, o->names, o->args, o->n, out);
}

static cq_status line_up_batch(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o, cq_val *out,
                               bool *done)
{
    const cq_pt2_operands given = *o;
    cq_status             status;

    CQ_TRY(reduction(r, n, o, out, done));
    if (*done)
        return CQ_OK;
    status = by_rule(r, n, o, out, done);

    if (status != CQ_E_UNSUPPORTED || r->ev->cx->status != CQ_OK)
        return status;
    *o    = given;
    *done = true;
    return in_loop(r, n, o, out);
}

cq_status cq_pt2_line_up(cq_pt2_run *r, const cq_pt2_node *n, cq_pt2_operands *o, cq_pt2_batch *b,
                         cq_val *out, bool *done)
{
    *done = false;
    CQ_TRY(cq_pt2_merge_levels(r, n, o, b));
    if (b->levels)
        CQ_TRY(line_up_batch(r, n, o, out, done));
    cq_pt2_set_levels(r, n->outputs, n->n_outputs, b->levels);
    return CQ_OK;
}
