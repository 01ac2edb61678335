/* Python's methods on lists of data-dependent length, and the calls that create such lists. Other
 * builtins reject these lists (builtin.c), because they would treat them as empty. */
#include "script/values/sequence.h"
#include "script/builtins/builtin.h"
#include "script/flow/aliases.h"

static const cq_sequence *self_of(const cq_fncall *c)
{
    return cq_sequence_of(c->args[0]);
}

static cq_int longer(const cq_fncall *c, cq_int length, int64_t by)
{
    return cq_int_is_open(length) ? length : cq_int_add(c->ev->cx->symbols, length, cq_i(by));
}

/* Converts an index to count from the front: after an erase, an insertion at -1 would not be at the
 * end. */
static cq_status position_of(cq_fncall *c, const cq_sequence *seq, cq_val v, cq_int *out)
{
    cq_int length;

    CQ_TRY(cq_eval_int(c->ev, v, out));
    if (!out->expr && out->value >= 0)
        return CQ_OK;
    CQ_TRY(cq_sequence_length(c->ev, seq, &length));
    *out = out->expr ? cq_int_mod(c->ev->cx->symbols, *out, length)
                     : cq_int_add(c->ev->cx->symbols, *out, length);
    return CQ_OK;
}

/* ---- methods that change the list ---- */

static cq_status insert_at(cq_fncall *c, const cq_int *position, cq_val v)
{
    const cq_sequence *seq  = self_of(c);
    cq_item_type       item = seq->item;
    cq_value          *value;

    CQ_TRY(cq_item_type_add(&item, v));
    CQ_TRY(cq_sequence_inserted(c->ev, seq->value, &item, v, position, &value));
    return cq_sequence_become(c->ev, c->args[0].u.list, value, &item, longer(c, seq->length, 1));
}

static cq_status append(cq_fncall *c)
{
    c->result = c->args[0];
    return insert_at(c, NULL, c->args[1]);
}

static cq_status insert(cq_fncall *c)
{
    cq_int at;

    CQ_TRY(cq_eval_int(c->ev, c->args[1], &at));
    return insert_at(c, &at, c->args[2]);
}

static cq_status erase(cq_fncall *c, cq_int at)
{
    const cq_sequence *seq = self_of(c);
    cq_value          *value;

    CQ_TRY(cq_share_check(c->ev, seq->value));
    CQ_TRY(cq_sequence_erased(c->ev, seq->value, at, &value));
    return cq_sequence_become(c->ev, c->args[0].u.list, value, &seq->item,
                              longer(c, seq->length, -1));
}

static cq_status pop(cq_fncall *c)
{
    cq_int at = cq_i(-1);

    if (c->n > 1)
        CQ_TRY(cq_eval_int(c->ev, c->args[1], &at));
    CQ_TRY(cq_sequence_at(c->ev, self_of(c), at, &c->result));
    return erase(c, at);
}

static cq_status delete_at(cq_fncall *c)
{
    cq_int at;

    CQ_TRY(cq_eval_int(c->ev, c->args[1], &at));
    return erase(c, at);
}

static cq_status set_item(cq_fncall *c)
{
    const cq_sequence *seq  = self_of(c);
    cq_item_type       item = seq->item;
    cq_value          *value;
    cq_int             at;

    c->result = c->args[0];
    CQ_TRY(cq_item_type_add(&item, c->args[2]));
    CQ_TRY(cq_eval_int(c->ev, c->args[1], &at));
    CQ_TRY(cq_share_check_but(c->ev, seq->value, at, c->args[2]));
    CQ_TRY(position_of(c, seq, c->args[1], &at));
    CQ_TRY(cq_sequence_erased(c->ev, seq->value, at, &value));
    CQ_TRY(cq_sequence_inserted(c->ev, value, &item, c->args[2], &at, &value));
    return cq_sequence_become(c->ev, c->args[0].u.list, value, &item, seq->length);
}

/* The concatenation of two lists, at least one of which has a data-dependent length. */
static cq_status joined(cq_fncall *c, cq_item_type *item, cq_value **value, cq_int *length)
{
    cq_val             a = c->args[0], b = c->args[1];
    const cq_sequence *more = cq_sequence_of(b);
    cq_int             count;

    *item = (cq_item_type){ 0 };
    if (a.kind != CQ_VAL_LIST || (b.kind != CQ_VAL_LIST && b.kind != CQ_VAL_TUPLE))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "%s cannot be added to a list of unknown length", cq_eval_type_name(b));
    CQ_TRY(cq_item_type_of_list(item, a));
    CQ_TRY(cq_item_type_of_list(item, b));
    CQ_TRY(cq_sequence_value(c->ev, a, item, value));
    *length = cq_sequence_known_length(a);
    if (more) {
        CQ_TRY(cq_sequence_length(c->ev, more, &count));
        *length = cq_int_is_open(*length) || cq_int_is_open(more->length)
                      ? cq_i(-1)
                      : cq_int_add(c->ev->cx->symbols, *length, count);
        return cq_sequence_gather(c->ev, *value, more, cq_i(0), cq_i(1), count, value);
    }
    for (size_t i = 0; i < b.u.list->n; i++)
        CQ_TRY(cq_sequence_inserted(c->ev, *value, item, b.u.list->items[i], NULL, value));
    *length = longer(c, *length, (int64_t)b.u.list->n);
    return CQ_OK;
}

static cq_status extend(cq_fncall *c)
{
    cq_item_type item;
    cq_value    *value;
    cq_int       length;

    c->result = c->args[0];
    CQ_TRY(joined(c, &item, &value, &length));
    return cq_sequence_become(c->ev, c->args[0].u.list, value, &item, length);
}

static cq_status add(cq_fncall *c)
{
    cq_item_type item;
    cq_value    *value;
    cq_int       length;

    CQ_TRY(joined(c, &item, &value, &length));
    return cq_sequence_list(c->ev, value, &item, length, &c->result);
}

static cq_status clear(cq_fncall *c)
{
    CQ_TRY(cq_eval_placeholder(c->ev, c->args[0], &c->result));
    CQ_TRY(cq_sequence_become(c->ev, c->args[0].u.list, cq_sequence_of(c->result)->value,
                              &self_of(c)->item, cq_i(0)));
    c->result = CQ_NONE;
    return CQ_OK;
}

/* ---- slices and copies ---- */

static cq_status copy(cq_fncall *c)
{
    const cq_sequence *seq = self_of(c);

    return cq_sequence_list(c->ev, seq->value, &seq->item, seq->length, &c->result);
}

/* Makes a sequence of count items of the argument: start, start + step, … */
static cq_status taken(cq_fncall *c, cq_int start, cq_int step, cq_int count, cq_value **value)
{
    cq_val empty;

    CQ_TRY(cq_eval_placeholder(c->ev, c->args[0], &empty));
    return cq_sequence_gather(c->ev, cq_sequence_of(empty)->value, self_of(c), start, step, count,
                              value);
}

static cq_status reverse(cq_fncall *c)
{
    const cq_sequence *seq = self_of(c);
    cq_value          *value;
    cq_int             n;
    CQ_TRY(cq_sequence_length(c->ev, seq, &n));
    CQ_TRY(taken(c, cq_int_add(c->ev->cx->symbols, n, cq_i(-1)), cq_i(-1), n, &value));
    return cq_sequence_become(c->ev, c->args[0].u.list, value, &seq->item, seq->length);
}

/* A bound of a slice by Python's rules: negative values count from the end, and results are
 * clamped. */
static cq_status bound(cq_fncall *c, cq_val v, cq_int n, cq_int fallback, cq_int *out)
{
    cq_symbols *st = c->ev->cx->symbols;

    if (v.kind == CQ_VAL_NONE) {
        *out = fallback;
        return CQ_OK;
    }
    CQ_TRY(cq_eval_int(c->ev, v, out));
    *out = !out->expr && out->value < 0 ? cq_int_max(st, cq_int_add(st, n, *out), cq_i(0))
                                        : cq_int_min(st, *out, n);
    return CQ_OK;
}

static cq_status slice(cq_fncall *c)
{
    const cq_sequence *seq  = self_of(c);
    cq_val             step = cq_builtin_arg(c, 3), count;
    cq_int             n, start, stop;
    cq_value          *value;

    if (step.kind == CQ_VAL_NONE)
        step = cq_val_of_i64(1);
    if (step.kind != CQ_VAL_INT || step.u.i.expr || step.u.i.value <= 0)
        return cq_fail(CQ_E_UNSUPPORTED, "slice", NULL, "expected a known, positive step");
    CQ_TRY(cq_sequence_length(c->ev, seq, &n));
    CQ_TRY(bound(c, cq_builtin_arg(c, 1), n, cq_i(0), &start));
    CQ_TRY(bound(c, cq_builtin_arg(c, 2), n, n, &stop));
    CQ_TRY(CQ_CALL(c->ev, &count, "aten::__range_length", SIZE(start), SIZE(stop), step));
    CQ_TRY(taken(c, start, step.u.i, count.u.i, &value));
    return cq_sequence_list(c->ev, value, &seq->item, count.u.i.expr ? cq_i(-1) : count.u.i,
                            &c->result);
}

/* ---- queries ---- */

static cq_status length(cq_fncall *c)
{
    cq_int n;

    CQ_TRY(cq_sequence_length(c->ev, self_of(c), &n));
    c->result = cq_val_of_int(n);
    return CQ_OK;
}

static cq_status get_item(cq_fncall *c)
{
    cq_int at;

    CQ_TRY(cq_eval_int(c->ev, c->args[1], &at));
    return cq_sequence_at(c->ev, self_of(c), at, &c->result);
}

/* ---- reductions to tensors ---- */

static cq_status concat(cq_fncall *c)
{
    const bool is_new = c->row->how;
    cq_val     dim    = cq_builtin_arg(c, 1);
    cq_tensor *t;

    if (dim.kind != CQ_VAL_NONE && (dim.kind != CQ_VAL_INT || dim.u.i.expr))
        return cq_fail(CQ_E_UNSUPPORTED, c->name, NULL,
                       "expected a dim that is known during the export");
    CQ_TRY(cq_sequence_concat(c->ev, self_of(c), dim.kind == CQ_VAL_INT ? dim.u.i.value : 0, is_new,
                              &t));
    c->result = cq_val_of_tensor(t);
    return CQ_OK;
}

/* torch.tensor(numbers) */
static cq_status as_tensor(cq_fncall *c)
{
    const cq_sequence *seq   = self_of(c);
    cq_val             asked = cq_builtin_arg(c, 1);
    cq_tensor         *t;
    cq_dtype           dtype;

    if (seq->item.kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    dtype = asked.kind == CQ_VAL_INT          ? cq_dtype_from_torch(asked.u.i.value)
            : seq->item.dtype == CQ_DTYPE_F64 ? CQ_DTYPE_F32
                                              : seq->item.dtype;
    CQ_TRY(cq_sequence_concat(c->ev, seq, 0, true, &t));
    c->result = cq_val_of_tensor(CQ_OP(c->ev->cx, "aten::to.dtype", TENSOR(t), DTYPE(dtype)));
    return c->ev->cx->status;
}

/* Applies an operator to a tensor of all items and returns a number. ONNX cannot concatenate an
 * empty sequence, so a zero is appended for a sum. */
static cq_status reduced(cq_fncall *c)
{
    cq_sequence seq   = *self_of(c);
    cq_val_kind kind  = c->row->how != CQ_VAL_NONE ? (cq_val_kind)c->row->how : seq.item.kind;
    cq_int      first = cq_i(0);
    cq_tensor  *t;

    if (seq.item.kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    if (strcmp(c->row->op, "aten::sum") == 0) {
        seq.length = longer(c, seq.length, 1);
        CQ_TRY(cq_sequence_inserted(c->ev, seq.value, &seq.item, INT(0), &first, &seq.value));
        kind = kind == CQ_VAL_BOOL ? CQ_VAL_INT : kind;
    }
    CQ_TRY(cq_sequence_concat(c->ev, &seq, 0, true, &t));
    CQ_TRY(CQ_CALL_OPERATOR(c->ev, &c->result, c->row->op, TENSOR(t)));
    return cq_builtin_number_of(c->ev, c->result.u.tensor, kind, &c->result);
}

static cq_status contains(cq_fncall *c)
{
    const cq_sequence *seq = self_of(c);
    cq_tensor         *items, *item;
    cq_val             equal;

    if (seq->item.kind == CQ_VAL_TENSOR)
        return cq_fncall_decline(c);
    CQ_TRY(cq_sequence_concat(c->ev, seq, 0, true, &items));
    CQ_TRY(cq_eval_as_tensor(c->ev, c->args[1], &item));
    CQ_TRY(CQ_CALL_OPERATOR(c->ev, &equal, "aten::eq", TENSOR(items), TENSOR(item)));
    CQ_TRY(CQ_CALL_OPERATOR(c->ev, &equal, "aten::any", equal));
    return cq_builtin_number_of(c->ev, equal.u.tensor, CQ_VAL_BOOL, &c->result);
}

/* items == [] tests whether the list is empty. */
static cq_status equal_to_empty(cq_fncall *c)
{
    const size_t at    = cq_sequence_of(c->args[0]) ? 0 : 1;
    const cq_val other = c->args[1 - at];
    cq_int       length;

    if (!cq_val_is_list(other) || other.u.list->n)
        return cq_fncall_decline(c);
    CQ_TRY(cq_sequence_length(c->ev, cq_sequence_of(c->args[at]), &length));
    return CQ_CALL(c->ev, &c->result, c->row->op, SIZE(length), INT(0));
}

const cq_builtin cq_builtins_of_sequences[] = {
    { "append(sequence self, el)", .fn = append },
    { "insert(sequence self, idx, el)", .fn = insert },
    { "pop(sequence self, idx?)", .fn = pop },
    { "Delete(sequence self, idx)", .fn = delete_at },
    { "_set_item(sequence self, idx, el)", .fn = set_item },
    { "__setitem__(sequence self, idx, el)", .fn = set_item },
    { "extend(self, other)", .fn = extend },
    { "add_(self, other)", .fn = extend },
    { "add(a, b)", .fn = add },
    { "clear(sequence self)", .fn = clear },
    { "copy(sequence self)", .fn = copy },
    { "list(sequence self)", .fn = copy },
    { "reverse(sequence self)", .fn = reverse },
    { "slice(sequence l, start?, end?, step?)", .fn = slice },
    { "len(sequence a)", .fn = length },
    { "__len__(sequence a)", .fn = length },
    { "__getitem__(sequence self, idx)", .fn = get_item },
    { "__contains__(sequence self, item)", .fn = contains },
    { "cat(sequence tensors, dim?)", .fn = concat, .how = false },
    { "concat(sequence tensors, dim?)", .fn = concat, .how = false },
    { "stack(sequence tensors, dim?)", .fn = concat, .how = true },
    { "tensor(sequence data, dtype?, ...)", .fn = as_tensor },
    { "as_tensor(sequence data, dtype?, ...)", .fn = as_tensor },
    { "min(sequence self)", .fn = reduced, .op = "aten::min" },
    { "max(sequence self)", .fn = reduced, .op = "aten::max" },
    { "sum(sequence self)", .fn = reduced, .op = "aten::sum" },
    { "any(sequence self)", .fn = reduced, .how = CQ_VAL_BOOL, .op = "aten::any" },
    { "all(sequence self)", .fn = reduced, .how = CQ_VAL_BOOL, .op = "aten::all" },
    { "eq(a, b)", .fn = equal_to_empty, .op = "aten::eq" },
    { "ne(a, b)", .fn = equal_to_empty, .op = "aten::ne" },
    { 0 },
};

/* ---- calls that create such lists ---- */

/* The size of a tensor along the dim of a call, if that is data-dependent. */
static bool is_open(const cq_fncall *c, cq_val dim, int64_t *axis)
{
    const cq_tensor *x = c->n && c->args[0].kind == CQ_VAL_TENSOR ? c->args[0].u.tensor : NULL;

    if (!x || !c->ev->capture || c->ev->tracing ||
        (dim.kind != CQ_VAL_NONE && dim.kind != CQ_VAL_INT))
        return false;
    *axis = dim.kind == CQ_VAL_INT ? dim.u.i.value : 0;
    if (*axis < 0)
        *axis += x->rank;
    return *axis >= 0 && *axis < (int64_t)x->rank && x->sizes[*axis].expr;
}

static cq_status unbind(cq_fncall *c)
{
    int64_t axis;

    if (!is_open(c, cq_builtin_arg(c, 1), &axis))
        return cq_fncall_decline(c);
    return cq_sequence_split(c->ev, c->args[0].u.tensor, axis, cq_i(1), false, &c->result);
}

/* x.split(batch) of 4*batch rows: four parts of a dynamic size. */
static cq_status split_evenly(cq_fncall *c, int64_t axis, cq_val size, int64_t n)
{
    cq_val args[3] = { c->args[0], CQ_NONE, cq_val_of_i64(axis) };

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &args[1]));
    for (int64_t i = 0; i < n; i++)
        CQ_TRY(cq_list_push(args[1].u.list, size));
    return cq_eval_operator(c->ev, "aten::split_with_sizes", args, 3, &c->result);
}

static cq_status split(cq_fncall *c)
{
    enum { MAX_EVEN_PARTS = 1000 };
    cq_val  size = cq_builtin_arg(c, 1);
    int64_t axis;
    cq_int  n;

    if (size.kind != CQ_VAL_INT || !is_open(c, cq_builtin_arg(c, 2), &axis))
        return cq_fncall_decline(c);
    n = cq_int_floordiv(c->ev->cx->symbols, c->args[0].u.tensor->sizes[axis], size.u.i);
    if (size.u.i.expr && !n.expr && n.value > 0 && n.value <= MAX_EVEN_PARTS &&
        cq_int_same(cq_int_mul(c->ev->cx->symbols, n, size.u.i), c->args[0].u.tensor->sizes[axis]))
        return split_evenly(c, axis, size, n.value);
    return cq_sequence_split(c->ev, c->args[0].u.tensor, axis, size.u.i, true, &c->result);
}

const cq_builtin cq_builtins_sequence[] = {
    { "unbind(self, dim?)", .fn = unbind },
    { "split(self, split_size, dim?)", .fn = split },
    { 0 },
};
