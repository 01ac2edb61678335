/* Makes the arguments of a call the inputs of a graph, or of a run. */
#include "base/map.h"
#include "base/str.h"
#include "script/builtins/builtin.h"
#include "script/flow/join.h"
#include "script/script.h"
#include "script/values/sequence.h"
#include "script/flow/state.h"

/* The index of the argument that contains a part. */
static size_t argument_of(const cq_visit_slot *slot)
{
    while (slot->outer)
        slot = slot->outer;
    return slot->index;
}

/* The name of an input: its parameter followed by its path inside the argument: x, pair_0,
 * options_scale. Names of weights are not used. */
static void name_input(const cq_arguments *a, const cq_visit_slot *slot, cq_str *name)
{
    const char *first =
        a->by_position ? cq_script_param_name(a->script, a->method, argument_of(slot)) : NULL;

    if (cq_eval_slot_name(slot, first, name) != CQ_OK ||
        cq_script_has_tensor(a->script, cq_str_text(name)))
        cq_str_clear(name);
}

/* ---- names only ---- */

typedef struct naming {
    const char *const *params;
    size_t             n_params, n; /* inputs so far */
    bool               by_position;
    cq_map             used;
    cq_input_name_fn   each;
    void              *user;
} naming;

static cq_status give_name(cq_visit *w, cq_val v)
{
    naming      *n     = w->user;
    const size_t at    = argument_of(w->slot);
    const char  *first = n->by_position && at < n->n_params ? n->params[at] : NULL;
    cq_str       name  = { 0 };
    cq_status    status;

    if (v.kind != CQ_VAL_TENSOR && (!cq_val_is_number(v) || v.kind == CQ_VAL_COMPLEX))
        return CQ_OK;
    CQ_TRY_OR_DONE(cq_eval_slot_name(w->slot, first, &name));
    if (!name.len || cq_map_has(&n->used, cq_str_text(&name))) {
        cq_str_clear(&name);
        cq_str_printf(&name, "input_%zu", n->n);
    }
    n->n++;
    CQ_TRY_OR_DONE(name.status);
    CQ_TRY_OR_DONE(cq_map_set(&n->used, cq_str_text(&name), NULL));
    n->each(n->user, cq_str_text(&name));
done:
    cq_str_clear(&name);
    return status;
}

CQ_API cq_status cq_args_each_name(const cq_args *args, const char *const *params, size_t n_params,
                                   cq_input_name_fn each, void *user)
{
    CQ_NEED(args && each && (params || !n_params));
    naming    n = { .params = params, .n_params = n_params, .each = each, .user = user };
    cq_visit  w = { .each = give_name, .user = &n };
    cq_status status;

    n.by_position = true;
    status        = cq_val_each(&w, cq_val_of_list(args->positional));
    n.by_position = false;
    if (status == CQ_OK)
        status = cq_val_each(&w, cq_val_of_dict(args->keywords));
    cq_map_clear(&n.used);
    return status;
}

/* ---- lists that become one input ---- */

/* The item type of a list that can be a sequence; the kind is NONE for other lists. */
static cq_item_type sequence_item(const cq_list *list)
{
    cq_item_type item = { 0 }, one;

    for (size_t i = 0; i < list->n; i++) {
        const cq_val v = list->items[i];

        one = (cq_item_type){ .kind = v.kind };
        if (v.kind == CQ_VAL_TENSOR && !v.u.tensor->qparams)
            one.dtype = v.u.tensor->dtype;
        else if (v.kind == CQ_VAL_INT)
            one.dtype = CQ_DTYPE_I64;
        else
            return (cq_item_type){ 0 };
        if (i && (one.kind != item.kind || one.dtype != item.dtype))
            return (cq_item_type){ 0 };
        item = one;
    }
    return item;
}

/* Whether the leaf is in a list that becomes one input, and its item type. The list of arguments
 * does not count. */
static cq_item_type list_of_leaf(const cq_visit *w)
{
    const cq_arguments  *a    = w->user;
    const cq_visit_slot *slot = w->slot;

    if (!a->port->sequences || !slot->outer || slot->whole.kind != CQ_VAL_LIST)
        return (cq_item_type){ 0 };
    return sequence_item(slot->whole.u.list);
}

/* Takes an item of such a list. The first item creates the input, whose length is that of the
 * example. */
static cq_tensor *take_item(cq_visit *w, cq_item_type item, cq_tensor *example)
{
    const cq_arguments *a    = w->user;
    cq_eval            *ev   = w->owner;
    cq_str              name = { 0 };
    cq_sequence         seq  = { .item = item };
    cq_val              v;
    cq_status           status;

    if (w->slot->index == 0) {
        name_input(a, w->slot->outer, &name);
        a->port->ends->sequence(a->port, item.dtype, name.len ? cq_str_text(&name) : NULL);
        cq_str_clear(&name);
    }
    if (ev->cx->status != CQ_OK)
        return NULL;
    seq.value     = ev->capture->graph->top->params.items[ev->capture->graph->top->params.n - 1];
    seq.item.kind = CQ_VAL_TENSOR; /* numbers are converted from it like from any other input */
    seq.item.rank = (int)example->rank;
    for (size_t i = 0; i < example->rank; i++)
        seq.item.sizes[i] = cq_i(example->sizes[i].value);
    status = cq_sequence_at(ev, &seq, cq_i((int64_t)w->slot->index), &v);
    if (status != CQ_OK)
        cq_ctx_fail(ev->cx, status);
    return status == CQ_OK ? v.u.tensor : NULL;
}

/* ---- tensors that may be missing ---- */

/* The declared type of a part of the arguments; NULL: none. */
static const cq_ast_expr *declared(const cq_arguments *a, const cq_visit_slot *slot)
{
    size_t i = slot->index, n_needed;

    if (slot->outer)
        return cq_type_of_item(declared(a, slot->outer), i);
    if (!a->by_position)
        i = cq_script_param_slot(a->script, a->method,
                                 slot->whole.u.dict->entries[i].key.u.text->text, &n_needed);
    return cq_script_param_type(a->script, a->method, i);
}

/* The sizes inside an optional input. They are new symbols unless a required input has them: of two
 * optional inputs either may be missing. */
static cq_type type_inside(cq_graph *g, const cq_value *input, cq_value *inside)
{
    cq_int sizes[CQ_MAX_RANK];

    for (int i = 0; i < input->type.rank; i++) {
        cq_atom *atom = (cq_atom *)cq_int_symbol(input->type.sizes[i]);

        sizes[i] = input->type.sizes[i];
        if (!atom || (atom->origin && atom->origin != input))
            continue;
        sizes[i]     = cq_symbol_fresh(&g->symbols, "d", atom->example, inside, i);
        atom->origin = NULL;
    }
    return cq_ir_tensor_type(g, input->type.dtype, (size_t)input->type.rank, sizes);
}

/* An optional input. The nodes that test it and read its contents are emitted at once; the exporter
 * moves them to their use. */
static cq_status make_optional(cq_eval *ev, cq_tensor **t, cq_val *out)
{
    cq_value  *input = cq_capture_value(ev->capture, ev->cx, *t);
    cq_operand in    = CQ_OPERAND_OF(input);
    cq_node   *has   = cq_capture_node(ev->capture, ev->cx, "optional::has", &in, 1, 1);
    cq_node   *get   = cq_capture_node(ev->capture, ev->cx, "optional::get", &in, 1, 1);

    if (!has || !get)
        return ev->capture->graph->status;
    has->outputs[0]->type = cq_ir_tensor_type(ev->capture->graph, CQ_DTYPE_BOOL, 0, NULL);
    get->outputs[0]->type = type_inside(ev->capture->graph, input, get->outputs[0]);
    input->type.kind      = CQ_TYPE_OPTIONAL;
    *t                    = cq_capture_tensor(ev->capture, ev->cx, get->outputs[0]);
    CQ_TRY(ev->cx->status);
    return cq_eval_new_optional(ev, has->outputs[0], cq_val_of_tensor(*t), out);
}

/* ---- leaves ---- */

static cq_tensor *take_input(cq_visit *w, cq_tensor *example)
{
    const cq_arguments *a    = w->user;
    const cq_item_type  item = list_of_leaf(w);
    cq_str              name = { 0 };
    cq_tensor          *t;

    if (item.kind != CQ_VAL_NONE && example->rank <= CQ_ITEM_MAX_RANK)
        return take_item(w, item, example);
    name_input(a, w->slot, &name);
    t = a->port->ends->input(a->port, example, name.len ? cq_str_text(&name) : NULL);
    cq_str_clear(&name);
    return t;
}

/* Makes a number among the arguments a number of the graph. */
static cq_status number_input(cq_visit *w, cq_val v, cq_val *out)
{
    cq_eval   *ev = w->owner;
    cq_tensor *example, *t;

    *out = v;
    if (!ev->capture || ev->capture->is_tape)
        return CQ_OK;
    CQ_TRY(cq_args_tensor_of(&example, v, ((const cq_arguments *)w->user)->wide_floats));
    t = take_input(w, example);
    cq_tensor_release(example);
    if (!t)
        return ev->cx->status;
    if (v.kind != CQ_VAL_INT)
        return cq_builtin_number_of(ev, t, v.kind, out);
    *out = cq_val_of_int(cq_symbol_fresh(ev->cx->symbols, "i", v.u.i.value,
                                         cq_capture_value(ev->capture, ev->cx, t), -1));
    return CQ_OK;
}

static cq_status tensor_input(cq_visit *w, cq_val v, cq_val *out)
{
    const cq_arguments *a  = w->user;
    cq_eval            *ev = w->owner;
    cq_tensor          *t  = take_input(w, v.u.tensor);

    CQ_TRY(ev->cx->status);
    *out = cq_val_of_tensor(t);
    if (a->port->optionals && !ev->tracing && !t->qparams && list_of_leaf(w).kind == CQ_VAL_NONE &&
        cq_type_is_optional_tensor(declared(a, w->slot)))
        CQ_TRY(make_optional(ev, &t, out));
    return a->state ? cq_state_add_argument(a->state, ev, cq_val_of_tensor(t)) : CQ_OK;
}

static cq_status as_input(cq_visit *w, cq_val v, cq_val *out)
{
    const cq_arguments *a  = w->user;
    cq_eval            *ev = w->owner;

    *out = v; /* strings and None are constants of the program */
    if (cq_args_constant_of(v)) {
        *out = cq_val_retain(*cq_args_constant_of(v));
        return CQ_OK;
    }
    if (v.kind == CQ_VAL_TENSOR)
        CQ_TRY(tensor_input(w, v, out));
    else if (v.kind == CQ_VAL_INT || v.kind == CQ_VAL_FLOAT || v.kind == CQ_VAL_BOOL)
        CQ_TRY(number_input(w, v, out));
    CQ_TRY(ev->cx->status);
    if (a->state && cq_val_is_number(v))
        CQ_TRY(cq_state_add_argument(a->state, ev, *out));
    cq_val_retain(*out);
    return CQ_OK;
}

cq_status cq_script_inputs(cq_eval *ev, cq_arguments a, cq_val v, cq_val *out)
{
    cq_visit  w      = { .map = as_input, .owner = ev, .user = &a };
    cq_status status = cq_val_map(&w, v, out);

    cq_visit_clear(&w);
    CQ_TRY(status);
    return cq_eval_own(ev, *out, out);
}
