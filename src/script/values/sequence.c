/* The nodes of lists of data-dependent length. Python's methods on them are in builtins/sequence.c,
 * their conversion to ONNX in export/symbolic/sequence.c. */
#include "script/values/sequence.h"
#include "script/builtins/builtin.h"
#include "script/flow/aliases.h"
#include "tensor/qparams.h"

/* ---- types of items ---- */

static cq_status type_of_item(cq_val v, cq_item_type *t)
{
    *t = (cq_item_type){ .kind = v.kind };
    switch (v.kind) {
    case CQ_VAL_INT: t->dtype = CQ_DTYPE_I64; return CQ_OK;
    case CQ_VAL_FLOAT: t->dtype = CQ_DTYPE_F64; return CQ_OK;
    case CQ_VAL_BOOL: t->dtype = CQ_DTYPE_BOOL; return CQ_OK;
    case CQ_VAL_TENSOR:
        if (v.u.tensor->rank > CQ_ITEM_MAX_RANK)
            return cq_fail(
                CQ_E_UNSUPPORTED, NULL, NULL,
                "a list of data-dependent length contains a tensor of more than %d dimensions",
                CQ_ITEM_MAX_RANK);
        if (v.u.tensor->qparams)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, "dequantize it first",
                           "a list of data-dependent length holds a quantized tensor");
        t->dtype = v.u.tensor->dtype;
        t->rank  = v.u.tensor->rank;
        for (int i = 0; i < t->rank; i++)
            t->sizes[i] = v.u.tensor->sizes[i];
        return CQ_OK;
    default:
        return cq_fail(CQ_E_UNSUPPORTED, NULL,
                       "keep its items in one padded tensor, or one list of tensors; or let the "
                       "example decide how long it is (--trace)",
                       "a list of %s of data-dependent length cannot be exported",
                       cq_eval_type_name(v));
    }
}

cq_status cq_item_type_join(cq_item_type *t, const cq_item_type *other)
{
    if (other->kind == CQ_VAL_NONE)
        return CQ_OK;
    if (t->kind == CQ_VAL_NONE) {
        *t = *other;
        return CQ_OK;
    }
    if (t->kind != other->kind || t->dtype != other->dtype)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a list of data-dependent length holds both %s and %s",
                       cq_dtype_name(t->dtype), cq_dtype_name(other->dtype));
    if (t->rank != other->rank)
        t->rank = -1;
    for (int i = 0; i < t->rank; i++)
        if (!cq_int_same(t->sizes[i], other->sizes[i]))
            t->sizes[i] = cq_i(-1);
    return CQ_OK;
}

cq_status cq_item_type_add(cq_item_type *t, cq_val item)
{
    cq_item_type other;

    CQ_TRY(type_of_item(item, &other));
    return cq_item_type_join(t, &other);
}

bool cq_item_type_same(const cq_item_type *a, const cq_item_type *b)
{
    bool same = a->kind == b->kind && a->dtype == b->dtype && a->rank == b->rank;

    for (int i = 0; same && i < a->rank; i++)
        same = cq_int_same(a->sizes[i], b->sizes[i]);
    return same;
}

cq_status cq_item_type_of_list(cq_item_type *t, cq_val list)
{
    const cq_sequence *seq = cq_sequence_of(list);

    if (seq)
        return cq_item_type_join(t, &seq->item);
    for (size_t i = 0; i < list.u.list->n; i++)
        CQ_TRY(cq_item_type_add(t, list.u.list->items[i]));
    return CQ_OK;
}

void cq_item_type_limit(cq_item_type *t, const cq_block *block)
{
    for (int i = 0; i < t->rank; i++)
        if (!cq_int_is_visible(t->sizes[i], block))
            t->sizes[i] = cq_i(-1);
}

/* ---- nodes ---- */

/* Adds a node with a result of this type; NULL after a failure. */
static cq_value *new_node(cq_eval *ev, const char *op, const cq_operand *in, size_t n, cq_type type)
{
    cq_node *node = cq_capture_node(ev->capture, ev->cx, op, in, n, 1);

    if (!node)
        return NULL;
    node->outputs[0]->type = type;
    return node->outputs[0];
}

static cq_type list_type(cq_dtype dtype)
{
    return (cq_type){ .kind = CQ_TYPE_LIST, .dtype = dtype, .rank = -1 };
}

static cq_operand int_operand(cq_int i)
{
    return (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = i };
}

static cq_status done(cq_eval *ev, cq_value *v, cq_value **out)
{
    *out = v;
    return v ? CQ_OK : ev->capture->graph->status;
}

/* Converts an item to the tensor that the sequence stores. */
static cq_status item_tensor(cq_eval *ev, const cq_item_type *item, cq_val v, cq_tensor **out)
{
    CQ_TRY(cq_eval_as_tensor(ev, v, out));
    if ((*out)->dtype != item->dtype)
        *out = CQ_OP(ev->cx, "aten::to.dtype", TENSOR(*out), DTYPE(item->dtype));
    return ev->cx->status;
}

static cq_status constructed(cq_eval *ev, const cq_list *list, const cq_item_type *item,
                             cq_value **out)
{
    size_t      n  = list->n;
    cq_operand *in = cq_arena_array(ev->capture->graph->arena, n, sizeof *in);

    if (!in)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        cq_tensor *t;
        cq_value  *v;

        CQ_TRY(item_tensor(ev, item, list->items[i], &t));
        v = cq_capture_value(ev->capture, ev->cx, t);
        if (!v)
            return ev->cx->status;
        in[i] = CQ_OPERAND_OF(v);
    }
    CQ_TRY(done(ev, new_node(ev, "sequence::construct", in, n, list_type(item->dtype)), out));
    for (size_t i = 0; i < n; i++)
        if (list->items[i].kind == CQ_VAL_TENSOR)
            CQ_TRY(cq_share_tensor(ev, *out, list->items[i].u.tensor));
    return CQ_OK;
}

cq_status cq_sequence_value(cq_eval *ev, cq_val list, const cq_item_type *item, cq_value **out)
{
    const cq_sequence *seq = cq_sequence_of(list);

    if (seq) {
        *out = seq->value;
        return cq_share_check(ev, seq->value);
    }
    if (!list.u.list->n)
        return done(ev, new_node(ev, "sequence::empty", NULL, 0, list_type(item->dtype)), out);
    return constructed(ev, list.u.list, item, out);
}

/* Makes the list refer to a new sequence. */
static cq_status new_sequence(cq_eval *ev, cq_value *v, const cq_item_type *item, cq_int length,
                              cq_list *list)
{
    cq_sequence *seq = cq_arena_zalloc(ev->capture->graph->arena, sizeof *seq);

    list->origin = seq;
    if (!seq)
        return CQ_E_NO_MEMORY;
    seq->value  = v;
    seq->item   = *item;
    seq->length = length;
    return CQ_OK;
}

cq_status cq_sequence_list(cq_eval *ev, cq_value *v, const cq_item_type *item, cq_int length,
                           cq_val *out)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, out));
    return new_sequence(ev, v, item, length, out->u.list);
}

cq_status cq_sequence_become(cq_eval *ev, cq_list *list, cq_value *v, const cq_item_type *item,
                             cq_int length)
{
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_list(list)));
    cq_list_clear(list);
    return new_sequence(ev, v, item, length, list);
}

cq_int cq_sequence_known_length(cq_val list)
{
    const cq_sequence *seq = cq_sequence_of(list);

    return seq ? seq->length : cq_i((int64_t)list.u.list->n);
}

cq_status cq_sequence_convert(cq_eval *ev, cq_list *list)
{
    cq_item_type item = { 0 };
    cq_value    *v;

    if (list->origin)
        return CQ_OK;
    CQ_TRY(cq_item_type_of_list(&item, cq_val_of_list(list)));
    if (item.kind == CQ_VAL_NONE)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "an empty list has no items to choose from");
    CQ_TRY(cq_sequence_value(ev, cq_val_of_list(list), &item, &v));
    return cq_sequence_become(ev, list, v, &item, cq_i((int64_t)list->n));
}

cq_status cq_sequence_inserted(cq_eval *ev, cq_value *seq, const cq_item_type *item, cq_val v,
                               const cq_int *position, cq_value **out)
{
    cq_tensor *t;
    cq_value  *value;

    CQ_TRY(cq_share_check(ev, seq));
    CQ_TRY(item_tensor(ev, item, v, &t));
    value = cq_capture_value(ev->capture, ev->cx, t);
    if (!value)
        return ev->cx->status;
    CQ_TRY(done(ev,
                new_node(ev, "sequence::insert",
                         (cq_operand[]){ CQ_OPERAND_OF(seq), CQ_OPERAND_OF(value),
                                         int_operand(position ? *position : cq_i(0)) },
                         position ? 3 : 2, list_type(item->dtype)),
                out));
    if (v.kind == CQ_VAL_TENSOR)
        CQ_TRY(cq_share_tensor(ev, *out, v.u.tensor));
    return cq_share_sequence(ev, *out, seq);
}

cq_status cq_sequence_erased(cq_eval *ev, cq_value *seq, cq_int position, cq_value **out)
{
    CQ_TRY(done(ev,
                new_node(ev, "sequence::erase",
                         (cq_operand[]){ CQ_OPERAND_OF(seq), int_operand(position) }, 2, seq->type),
                out));
    return cq_share_sequence(ev, *out, seq);
}

cq_status cq_sequence_length(cq_eval *ev, const cq_sequence *seq, cq_int *out)
{
    cq_graph *g = ev->capture->graph;
    cq_value *v;

    *out = seq->length;
    if (!cq_int_is_open(seq->length))
        return CQ_OK;
    CQ_TRY(done(ev,
                new_node(ev, "sequence::length", &CQ_OPERAND_OF(seq->value), 1,
                         cq_ir_tensor_type(g, CQ_DTYPE_I64, 0, NULL)),
                &v));
    *out = cq_symbol_fresh(&g->symbols, "n", 1, v, -1);
    return CQ_OK;
}

/* Converts a stored item back to a tensor or number. */
static cq_status as_item(cq_eval *ev, const cq_item_type *item, cq_value *v, cq_val *out)
{
    cq_graph  *g = ev->capture->graph;
    cq_int     sizes[CQ_ITEM_MAX_RANK];
    cq_tensor *t;

    if (item->rank < 0)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "the items of a list differ in their number of dimensions, and which one is "
                       "accessed is data-dependent");
    for (int i = 0; i < item->rank; i++)
        sizes[i] = cq_int_is_open(item->sizes[i]) ? cq_symbol_fresh(&g->symbols, "d", 1, v, i)
                                                  : item->sizes[i];
    g->symbols.guesses = true;
    v->type            = cq_ir_tensor_type(g, item->dtype, (size_t)item->rank, sizes);
    t                  = cq_capture_tensor(ev->capture, ev->cx, v);
    if (!t)
        return ev->cx->status;
    *out = cq_val_of_tensor(t);
    return item->kind == CQ_VAL_TENSOR ? CQ_OK : cq_builtin_number_of(ev, t, item->kind, out);
}

/* Whether the item is a part of a split at a known index. Such an item is computed as a view of
 * known size, so that the list may become unused. */
static bool is_part(const cq_sequence *seq, cq_int index)
{
    const cq_node *n = seq->value->node;

    return n && strcmp(n->op, "sequence::split") == 0 && !index.expr && index.value >= 0 &&
           index.value * n->inputs[2].u.i.value <
               n->inputs[0].u.value->type.sizes[n->inputs[1].u.i.value].value;
}

static cq_status part_at(cq_eval *ev, const cq_node *split, cq_int index, cq_val *out)
{
    cq_symbols *symbols = &ev->capture->graph->symbols;
    cq_tensor  *whole   = cq_capture_tensor(ev->capture, ev->cx, split->inputs[0].u.value);
    cq_val      dim     = cq_val_of_int(split->inputs[1].u.i);
    cq_int      size = split->inputs[2].u.i, start = cq_int_mul(symbols, index, size);

    if (!whole)
        return ev->cx->status;
    if (!split->inputs[3].u.i.value)
        return CQ_CALL(ev, out, "aten::select", cq_val_of_tensor(whole), dim, cq_val_of_int(index));
    return CQ_CALL(ev, out, "aten::slice", cq_val_of_tensor(whole), dim, cq_val_of_int(start),
                   cq_val_of_int(cq_int_add(symbols, start, size)));
}

cq_status cq_sequence_at(cq_eval *ev, const cq_sequence *seq, cq_int index, cq_val *out)
{
    cq_value *v;

    CQ_TRY(cq_share_check(ev, seq->value));
    if (is_part(seq, index)) {
        CQ_TRY(part_at(ev, seq->value->node, index, out));
        return cq_share_item(ev, out->u.tensor, seq->value);
    }
    v = new_node(ev, "sequence::at",
                 (cq_operand[]){ CQ_OPERAND_OF(seq->value), int_operand(index) }, 2,
                 (cq_type){ .kind = CQ_TYPE_UNKNOWN });

    if (!v)
        return ev->capture->graph->status;
    CQ_TRY(as_item(ev, &seq->item, v, out));
    return out->kind == CQ_VAL_TENSOR ? cq_share_item(ev, out->u.tensor, seq->value) : CQ_OK;
}

/* ---- all items at once ---- */

/* The vector whose elements are the numbers of a sequence (x.tolist()), or NULL. Using it also
 * avoids ConcatFromSequence, which rejects an empty sequence. */
static cq_value *vector_of(const cq_sequence *seq)
{
    const cq_node *n = seq->value->node;

    return seq->item.kind != CQ_VAL_TENSOR && n && strcmp(n->op, "sequence::split") == 0
               ? n->inputs[0].u.value
               : NULL;
}

cq_status cq_sequence_concat(cq_eval *ev, const cq_sequence *seq, int64_t axis, bool is_new,
                             cq_tensor **out)
{
    cq_graph    *g    = ev->capture->graph;
    cq_item_type t    = seq->item;
    int          rank = t.rank + is_new;
    cq_int       sizes[CQ_ITEM_MAX_RANK + 1];
    cq_value    *v;

    if (t.rank < 0 || rank == 0)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       t.rank < 0 ? "the items of a list differ in their number of dimensions"
                                  : "0-d tensors cannot be concatenated");
    if (axis < -rank || axis >= rank)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "dim %lld is out of range for %d dimensions",
                       (long long)axis, rank);
    if (axis < 0)
        axis += rank;
    CQ_TRY(cq_share_check(ev, seq->value));
    if (is_new && (v = vector_of(seq))) {
        *out = cq_capture_tensor(ev->capture, ev->cx, v);
        return ev->cx->status;
    }
    v = new_node(ev, "sequence::concat",
                 (cq_operand[]){ CQ_OPERAND_OF(seq->value), int_operand(cq_i(axis)),
                                 int_operand(cq_i(is_new)) },
                 3, (cq_type){ .kind = CQ_TYPE_UNKNOWN });
    if (!v)
        return g->status;
    for (int i = 0; i < rank; i++) {
        int from = i - (is_new && i > axis);

        sizes[i] = i == axis || cq_int_is_open(t.sizes[from])
                       ? cq_symbol_fresh(&g->symbols, "d", 1, v, i)
                       : t.sizes[from];
        if (i == axis && is_new && !cq_int_is_open(seq->length))
            sizes[i] = seq->length;
    }
    v->type = cq_ir_tensor_type(g, t.dtype, (size_t)rank, sizes);
    *out    = cq_capture_tensor(ev->capture, ev->cx, v);
    return ev->cx->status;
}

cq_status cq_sequence_split(cq_eval *ev, cq_tensor *x, int64_t dim, cq_int size, bool keep_dim,
                            cq_val *out)
{
    cq_item_type item;
    cq_value    *in     = cq_capture_value(ev->capture, ev->cx, x), *v;
    cq_int       length = keep_dim ? cq_i(-1) : x->sizes[dim];

    if (!in)
        return ev->cx->status;
    CQ_TRY(type_of_item(cq_val_of_tensor(x), &item));
    v = new_node(ev, "sequence::split",
                 (cq_operand[]){ CQ_OPERAND_OF(in), int_operand(cq_i(dim)), int_operand(size),
                                 int_operand(cq_i(keep_dim)) },
                 4, list_type(x->dtype));
    if (!v)
        return ev->capture->graph->status;
    if (keep_dim) {
        item.sizes[dim] = cq_i(-1); /* the last one may be smaller */
    } else {
        item.rank--;
        for (int i = (int)dim; i < item.rank; i++)
            item.sizes[i] = item.sizes[i + 1];
    }
    CQ_TRY(cq_share_tensor(ev, v, x));
    return cq_sequence_list(ev, v, &item, length, out);
}

/* Emits a Loop that is not in the program, because ONNX cannot concatenate sequences. */
cq_status cq_sequence_gather(cq_eval *ev, cq_value *onto, const cq_sequence *from, cq_int start,
                             cq_int step, cq_int count, cq_value **out)
{
    cq_graph  *g     = ev->capture->graph;
    cq_operand in[3] = { int_operand(count),
                         { .kind = CQ_OPERAND_BOOL, .u.b = true },
                         CQ_OPERAND_OF(onto) };
    cq_node   *loop  = cq_capture_node(ev->capture, ev->cx, "prim::Loop", in, 3, 1);
    cq_block  *outer = ev->capture->block, *body = loop ? cq_ir_node_block(loop) : NULL;
    cq_value  *round, *running, *grown, *item;
    cq_int     index;

    if (!body)
        return g->status;
    round   = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_I64, 0, NULL));
    running = cq_ir_param_new(body, cq_ir_tensor_type(g, CQ_DTYPE_BOOL, 0, NULL));
    grown   = cq_ir_param_new(body, onto->type);
    if (!round || !running || !grown)
        return g->status;
    index              = cq_symbol_fresh(&g->symbols, "i", 0, round, -1);
    index              = cq_int_add(&g->symbols, start, cq_int_mul(&g->symbols, step, index));
    ev->capture->block = body;
    item               = new_node(ev, "sequence::at",
                                  (cq_operand[]){ CQ_OPERAND_OF(from->value), int_operand(index) }, 2,
                                  (cq_type){ .kind = CQ_TYPE_TENSOR, .dtype = from->item.dtype, .rank = -1 });
    if (item)
        grown =
            new_node(ev, "sequence::insert",
                     (cq_operand[]){ CQ_OPERAND_OF(grown), CQ_OPERAND_OF(item) }, 2, onto->type);
    ev->capture->block = outer;
    if (!item || !grown)
        return g->status;
    CQ_TRY(cq_vec_push(&body->returns, CQ_OPERAND_OF(running)));
    CQ_TRY(cq_vec_push(&body->returns, CQ_OPERAND_OF(grown)));
    loop->outputs[0]->type = onto->type;
    CQ_TRY(cq_share_check(ev, onto));
    CQ_TRY(cq_share_check(ev, from->value));
    CQ_TRY(cq_share_sequence(ev, loop->outputs[0], onto));
    CQ_TRY(cq_share_sequence(ev, loop->outputs[0], from->value));
    return done(ev, loop->outputs[0], out);
}

/* ---- placeholders ---- */

static cq_status placeholder_tensor(cq_eval *ev, const cq_tensor *like, cq_val *out)
{
    cq_int ones[CQ_MAX_RANK];

    for (size_t i = 0; i < like->rank; i++)
        ones[i] = like->sizes[i].expr ? cq_i(1) : like->sizes[i];
    *out = cq_val_of_tensor(
        CQ_OP(ev->cx, "aten::zeros", cq_ints(ev->cx, ones, like->rank), DTYPE(like->dtype)));
    CQ_TRY(ev->cx->status);
    cq_tensor_set_qparams(out->u.tensor, like->qparams);
    return CQ_OK;
}

static cq_status placeholder(cq_visit *w, cq_val like, cq_val *out)
{
    cq_eval           *ev  = w->owner;
    const cq_sequence *seq = cq_sequence_of(like);
    cq_value          *v;

    *out = like; /* any string or object will do, because it is never read */
    if (seq) {
        cq_item_type item = seq->item;

        cq_item_type_limit(&item, ev->capture->block);
        CQ_TRY(done(ev, new_node(ev, "sequence::empty", NULL, 0, list_type(item.dtype)), &v));
        CQ_TRY(cq_sequence_list(ev, v, &item, cq_i(0), out));
    } else if (like.kind == CQ_VAL_TENSOR) {
        CQ_TRY(placeholder_tensor(ev, like.u.tensor, out));
    } else if (cq_val_is_number(like) && like.kind != CQ_VAL_COMPLEX) {
        *out = like.kind == CQ_VAL_INT     ? cq_val_of_i64(0)
               : like.kind == CQ_VAL_FLOAT ? cq_val_of_f64(0)
                                           : cq_val_of_bool(false);
    }
    cq_val_retain(*out);
    return CQ_OK;
}

cq_status cq_eval_placeholder(cq_eval *ev, cq_val like, cq_val *out)
{
    cq_visit  w = cq_eval_visit(ev, NULL);
    cq_status status;

    w.map  = placeholder;
    status = cq_val_map(&w, like, out);
    cq_visit_clear(&w);
    CQ_TRY(status);
    if (out->kind == CQ_VAL_OBJECT && out->u.box == like.u.box)
        cq_val_release(*out); /* must not count as a holder: join.c counts references */
    else
        cq_ctx_own(ev->cx, *out);
    return ev->cx->status;
}
