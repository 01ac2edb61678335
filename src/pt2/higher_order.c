/* Operators that take graphs. Branches and loops are functions of lib/torch/higher_order.py, which
 * the evaluator runs: if they depend on data, they become an If or a Loop of the graph. */
#include "pt2/run.h"

#include "base/str.h"

#include <stdio.h>

/* ---- branches and loops ---- */

cq_status cq_pt2_call_text(cq_pt2_run *r, const char *function, const cq_val *args, size_t n,
                           cq_val *out)
{
    cq_val f;

    CQ_TRY(cq_program_find(r->ev->program, function, &f));
    return cq_eval_call(r->ev, f, args, n, out);
}

/* The items of a list as a tuple, whose length the evaluator knows to be constant. */
static cq_status as_tuple(cq_pt2_run *r, cq_val list, cq_val *out)
{
    *out = list;
    return list.kind == CQ_VAL_LIST
               ? cq_eval_list(r->ev, list.u.list->items, list.u.list->n, CQ_VAL_TUPLE, out)
               : CQ_OK;
}

static cq_status plain_text(cq_pt2_run *r, const char *name, cq_val *args, size_t n, cq_val *out)
{
    for (size_t i = 0; i < n; i++)
        CQ_TRY(as_tuple(r, args[i], &args[i]));
    return cq_pt2_call_text(r, name, args, n, out);
}

/* ---- loops over tensors ---- */

/* Loops over the slices of tensors are written for the numbers of tensors that they have. */
typedef struct slices {
    size_t n_carried, n_xs, n_ys;
    bool   has_start; /* the first slice is the initial carry (associative_scan) */
    bool   reverse;
    long   dim;
} slices;

static void write_loop(cq_str *s, const char *name, const slices *k)
{
    cq_str_printf(s, "def %s(body, carried, xs, extra):\n", name);
    for (size_t i = 0; i < k->n_carried; i++)
        cq_str_printf(
            s, k->has_start ? "    c%zu = xs[%zu].select(%ld, 0)\n" : "    c%zu = carried[%zu]\n",
            i, i, k->dim);
    for (size_t i = 0; i < k->n_xs; i++)
        cq_str_printf(s, "    x%zu = xs[%zu]\n", i, i);
    for (size_t i = 0; i < k->n_ys; i++)
        cq_str_printf(s, k->has_start ? "    y%zu = [c%zu]\n" : "    y%zu : List[Tensor] = []\n", i,
                      i);
    cq_str_printf(s, "    n = x0.size(%ld)\n    for i in range(%s):\n", k->dim,
                  k->has_start ? "1, n" : "n");
    if (k->reverse)
        cq_str_add(s, "        i = n - 1 - i\n");
    cq_str_add(s, "        r = body((");
    for (size_t i = 0; i < k->n_carried; i++)
        cq_str_printf(s, "c%zu, ", i);
    cq_str_add(s, "), (");
    for (size_t i = 0; i < k->n_xs; i++)
        cq_str_printf(s, "x%zu.select(%ld, i), ", i, k->dim);
    cq_str_add(s, "), extra)\n");
    for (size_t i = 0; i < k->n_carried; i++)
        cq_str_printf(s, "        c%zu = r[%zu]\n", i, i);
    for (size_t i = 0; i < k->n_ys; i++)
        cq_str_printf(s, "        y%zu.append(r[%zu])\n", i, k->has_start ? i : k->n_carried + i);
    cq_str_add(s, "    return (");
    for (size_t i = 0; i < k->n_carried && !k->has_start; i++)
        cq_str_printf(s, "c%zu, ", i);
    for (size_t i = 0; i < k->n_ys; i++)
        cq_str_printf(
            s, k->reverse ? "torch.stack(y%zu, %ld).flip([0]), " : "torch.stack(y%zu, %ld), ", i,
            k->has_start ? k->dim : 0L);
    cq_str_add(s, ")\n");
}

enum { QUALIFIED_SIZE = 128 };

/* The function that iterates over slices, which is written when first needed. */
static cq_status find_loop(cq_pt2_run *r, const slices *k, char qualified[QUALIFIED_SIZE])
{
    cq_str    text = { 0 };
    char      name[96];
    uintptr_t number;
    cq_status status = CQ_OK;

    snprintf(name, sizeof name, "slices_%zu_%zu_%zu_%d_%d_%ld", k->n_carried, k->n_xs, k->n_ys,
             k->has_start, k->reverse, k->dim < 0 ? 1000 - k->dim : k->dim);
    number = (uintptr_t)cq_map_get(&r->loops, name);
    if (!number) {
        write_loop(&text, name, k);
        status = text.status;
        if (status == CQ_OK)
            status =
                cq_program_add_definitions(r->ev->program, "<higher_order>", text.text, text.len);
        number = r->ev->program->n_definitions;
        if (status == CQ_OK)
            status = cq_map_set(&r->loops, name, (void *)number);
        cq_str_clear(&text);
    }
    CQ_TRY(status);
    snprintf(qualified, QUALIFIED_SIZE, CQ_DEFINITIONS "%zu.%s", (size_t)number - 1, name);
    return CQ_OK;
}

static cq_status run_slices(cq_pt2_run *r, const slices *k, cq_val body, cq_val carried, cq_val xs,
                            cq_val extra, cq_val *out)
{
    char loop[QUALIFIED_SIZE];

    if (!k->n_xs)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "there is nothing to iterate over");
    CQ_TRY(find_loop(r, k, loop));
    return plain_text(r, loop, (cq_val[]){ body, carried, xs, extra }, 4, out);
}

static size_t length(cq_val v)
{
    return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE ? v.u.list->n : 0;
}

static const cq_pt2_graph *graph_at(const cq_pt2_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_PT2_GRAPH ? n->inputs[i].u.graph : NULL;
}

static cq_status run_map(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    slices k = { .n_xs = length(args[1]), .n_ys = graph_at(n, 0)->n_outputs };

    return run_slices(r, &k, args[0], CQ_NONE, args[1], args[2], out);
}

cq_status cq_pt2_map(cq_pt2_run *r, cq_val body, cq_val xs, size_t n_results, cq_val *out)
{
    slices k = { .n_xs = length(xs), .n_ys = n_results };

    return run_slices(r, &k, body, CQ_NONE, xs, CQ_NONE, out);
}

/* scan(body, init, xs, additional), in PyTorch 2.6 scan(body, init, xs, dim, reverse, additional).
 */
static cq_status run_scan(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    bool   old = n->n_inputs > 4;
    slices k   = { .n_carried = length(args[1]), .n_xs = length(args[2]) };

    if (graph_at(n, 0)->n_outputs < k.n_carried)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "the body returns less than it is given");
    k.n_ys    = graph_at(n, 0)->n_outputs - k.n_carried;
    k.dim     = old && args[3].kind == CQ_VAL_INT ? (long)args[3].u.i.value : 0;
    k.reverse = old && args[4].kind == CQ_VAL_BOOL && args[4].u.b.value;
    return run_slices(r, &k, args[0], args[1], args[2], args[old ? n->n_inputs - 1 : 3], out);
}

static cq_status run_associative_scan(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args,
                                      cq_val *out)
{
    slices k = { .n_xs = length(args[1]), .has_start = true };

    k.n_carried = k.n_ys = k.n_xs;
    k.dim = n->n_inputs > 3 && args[2].kind == CQ_VAL_INT ? (long)args[2].u.i.value : 0;
    return run_slices(r, &k, args[0], CQ_NONE, args[1],
                      n->n_inputs > 2 ? args[n->n_inputs - 1] : CQ_NONE, out);
}

/* ---- graphs that are only called ---- */

/* The arguments after the first graph, which are passed to it. */
static cq_status call_inner(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    size_t at = 0, n_args;

    while (at < n->n_inputs && !graph_at(n, at))
        at++;
    if (at == n->n_inputs)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "the graph to call is missing");
    args += at;
    n_args = n->n_inputs - at - 1;
    if (n_args && args[1].kind == CQ_VAL_STR) { /* invoke_subgraph(graph, "name", *args) */
        args[1] = args[0];
        args++;
        n_args--;
    }
    return cq_eval_call(r->ev, args[0], args + 1, n_args, out);
}

/* wrap_with_autocast(device, dtype or None, enabled, cache, graph, *args) */
static cq_status run_autocast(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    cq_dtype  outer = r->autocast;
    cq_status status;

    if (n->n_inputs < 5)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "it takes a graph and four arguments before it");
    r->autocast = !(args[2].kind == CQ_VAL_BOOL && args[2].u.b.value) ? CQ_DTYPE_NONE
                  : args[1].kind == CQ_VAL_INT ? cq_dtype_from_torch(args[1].u.i.value)
                                               : CQ_DTYPE_BF16;
    status      = call_inner(r, n, args, out);
    r->autocast = outer;
    return status;
}

/* ---- operators that change their arguments ---- */

enum { MAX_ARGS = 64 };

/* A call of an operator that changes tensors, made on copies of them; the copies are results. */
typedef struct functionalized {
    const char *names[MAX_ARGS];
    cq_val      args[MAX_ARGS], changed[MAX_ARGS];
    size_t      n, n_changed;
} functionalized;

/* The operator that an argument names. */
static cq_status operator_of(cq_pt2_run *r, cq_val arg, const char **op)
{
    const char *text = arg.kind == CQ_VAL_STR ? arg.u.text->text : "";

    *op = NULL;
    CQ_TRY(cq_pt2_operator_name(r->program->archive->arena, text, op));
    return *op ? CQ_OK : cq_fail(CQ_E_FORMAT, NULL, NULL, "\"%s\" is not an operator", text);
}

static cq_status copy_of(cq_pt2_run *r, cq_val *v)
{
    if (v->kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "it changes something that is not a tensor");
    *v = cq_val_of_tensor(cq_clone(r->ev->cx, v->u.tensor));
    return r->ev->cx->status;
}

/* auto_functionalized(op, name=value, …): all tensors are changed. */
static cq_status by_name(cq_pt2_run *r, const cq_pt2_node *n, const cq_val *args, functionalized *f)
{
    for (size_t i = 1; i < n->n_inputs; i++) {
        f->names[f->n] = n->names[i];
        f->args[f->n]  = args[i];
        if (args[i].kind == CQ_VAL_TENSOR) {
            CQ_TRY(copy_of(r, &f->args[f->n]));
            f->changed[f->n_changed++] = f->args[f->n];
        }
        f->n++;
    }
    return f->n_changed + 1 == n->n_outputs
               ? CQ_OK
               : cq_fail(CQ_E_UNSUPPORTED, NULL, "export the program with a newer PyTorch",
                         "the file does not tell which of its arguments it changes");
}

/* auto_functionalized_v2(op, name=value, …, _NAME_base_index=i, …, _all_bases=[…]): argument NAME
 * is the i-th of the tensors at the end. */
static cq_status by_base(cq_pt2_run *r, const cq_pt2_node *n, const cq_val *args, functionalized *f)
{
    const cq_val bases = args[n->n_inputs - 1];

    if (strcmp(n->names[n->n_inputs - 1], "_all_bases") != 0 || bases.kind != CQ_VAL_LIST ||
        bases.u.list->n > MAX_ARGS)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "_all_bases is missing");
    for (; f->n_changed < bases.u.list->n; f->n_changed++) {
        f->changed[f->n_changed] = bases.u.list->items[f->n_changed];
        CQ_TRY(copy_of(r, &f->changed[f->n_changed]));
    }
    for (size_t i = 1; i + 1 < n->n_inputs; i++) {
        const char *name = n->names[i], *end = strstr(name, "_base_index");

        f->names[f->n] = name;
        f->args[f->n]  = args[i];
        if (name[0] == '_' && end && !end[strlen("_base_index")]) {
            if (args[i].kind != CQ_VAL_INT || args[i].u.i.value < 0 ||
                (size_t)args[i].u.i.value >= f->n_changed)
                return cq_fail(CQ_E_FORMAT, NULL, NULL, "%s is not one of the bases", name);
            f->names[f->n] =
                cq_arena_strndup(r->program->archive->arena, name + 1, (size_t)(end - name - 1));
            f->args[f->n] = f->changed[args[i].u.i.value];
        } else if (name[0] == '_' && strstr(name, "_base")) {
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "an operator that changes a part of a tensor cannot be followed");
        }
        if (!f->names[f->n++])
            return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

static cq_status run_functionalized(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    functionalized f = { .n = 0 };
    const char    *op;
    cq_val         result;

    if (n->n_inputs > MAX_ARGS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "it has too many arguments");
    CQ_TRY(operator_of(r, args[0], &op));
    CQ_TRY(strcmp(n->op, "higher_order::auto_functionalized") == 0 ? by_name(r, n, args, &f)
                                                                   : by_base(r, n, args, &f));
    CQ_TRY(cq_pt2_call(r, op, f.names, f.args, f.n, &result));
    CQ_TRY(cq_eval_list(r->ev, NULL, 0, CQ_VAL_TUPLE, out));
    CQ_TRY(result.kind == CQ_VAL_TUPLE ? cq_list_add(out->u.list, result.u.list)
                                       : cq_list_push(out->u.list, result));
    for (size_t i = 0; i < f.n_changed; i++)
        CQ_TRY(cq_list_push(out->u.list, f.changed[i]));
    return CQ_OK;
}

/* with_effects(token, op, *args, name=value): the order of calls, which a graph has anyway, is a
 * token that is passed from one to the next. */
static cq_status run_with_effects(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    const char *op;
    cq_val      results[2]  = { args[0], CQ_NONE };
    size_t      by_position = 0;

    CQ_TRY(operator_of(r, args[1], &op));
    while (2 + by_position < n->n_inputs && !n->names[2 + by_position][0])
        by_position++;
    if (!cq_pt2_is_assertion(op)) {
        cq_fncall c = { .ev    = r->ev,
                        .name  = op,
                        .args  = args + 2,
                        .n     = by_position,
                        .names = n->names + 2 + by_position,
                        .kw    = args + 2 + by_position,
                        .n_kw  = n->n_inputs - 2 - by_position };

        CQ_TRY(cq_fncall_run(&c, CQ_CALL_OPERATOR));
        results[1] = c.result;
    }
    return cq_eval_list(r->ev, results, 2, CQ_VAL_TUPLE, out);
}

/* out_dtype(op, dtype, *args): computed and given in that dtype. */
static cq_status run_out_dtype(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out)
{
    const cq_dtype dtype =
        args[1].kind == CQ_VAL_INT ? cq_dtype_from_torch(args[1].u.i.value) : CQ_DTYPE_NONE;
    const char *op;

    CQ_TRY(operator_of(r, args[0], &op));
    if (dtype == CQ_DTYPE_NONE)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "the second argument should be a dtype");
    if (n->n_inputs == 4 && dtype == CQ_DTYPE_I32 && strcmp(op, "aten::mm") == 0 &&
        args[2].kind == CQ_VAL_TENSOR && args[2].u.tensor->dtype == CQ_DTYPE_I8 &&
        args[3].kind == CQ_VAL_TENSOR && args[3].u.tensor->dtype == CQ_DTYPE_I8)
        return cq_eval_call_name(r->ev, "aten::_int_mm", args + 2, 2, out);
    for (size_t i = 2; i < n->n_inputs; i++)
        if (args[i].kind == CQ_VAL_TENSOR)
            args[i] = cq_val_of_tensor(
                CQ_OP(r->ev->cx, "aten::to.dtype", TENSOR(args[i].u.tensor), DTYPE(dtype)));
    CQ_TRY(r->ev->cx->status);
    return cq_eval_call_name(r->ev, op, args + 2, n->n_inputs - 2, out);
}

/* ---- all of them ---- */

typedef cq_status (*higher_order)(cq_pt2_run *r, const cq_pt2_node *n, cq_val *args, cq_val *out);

static const struct {
    const char  *name;
    size_t       n_min;
    bool         graph_first;
    const char  *text; /* a function of lib/torch/higher_order.py, or */
    higher_order run;
} rows[] = {
    { "cond", 4, false, CQ_HIGHER_ORDER ".cond", NULL },
    { "while_loop", 4, true, CQ_HIGHER_ORDER ".while_loop", NULL },
    { "map_impl", 3, true, NULL, run_map },
    { "scan", 4, true, NULL, run_scan },
    { "associative_scan", 2, true, NULL, run_associative_scan },
    { "wrap_with_set_grad_enabled", 2, false, NULL, call_inner },
    { "wrap_with_autocast", 5, false, NULL, run_autocast },
    { "invoke_subgraph", 1, true, NULL, call_inner },
    { "wrap", 1, true, NULL, call_inner },
    { "wrap_activation_checkpoint", 1, true, NULL, call_inner },
    { "tag_activation_checkpoint", 1, true, NULL, call_inner },
    { "strict_mode", 1, true, NULL, call_inner },
    { "hints_wrapper", 1, true, NULL, call_inner },
    { "out_dtype", 3, false, NULL, run_out_dtype },
    { "with_effects", 2, false, NULL, run_with_effects },
    { "auto_functionalized", 1, false, NULL, run_functionalized },
    { "auto_functionalized_v2", 1, false, NULL, run_functionalized },
};

static cq_status call_row(cq_pt2_run *r, const cq_pt2_node *n, size_t row, cq_val *args,
                          cq_val *out)
{
    if (n->n_inputs < rows[row].n_min || (rows[row].graph_first && !graph_at(n, 0)))
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "%s has other arguments than it takes",
                       rows[row].name);
    for (size_t i = 0; i < n->n_inputs; i++)
        CQ_TRY(cq_pt2_value(r, &n->inputs[i], &args[i]));
    return rows[row].text ? plain_text(r, rows[row].text, args, rows[row].n_min, out)
                          : rows[row].run(r, n, args, out);
}

cq_status cq_pt2_higher_order(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out)
{
    const char *name = n->op + strlen("higher_order::");

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cq_val   *args;
        cq_status status;

        if (strcmp(rows[i].name, name) != 0)
            continue;
        args   = cq_alloc_array(n->n_inputs + 1, sizeof *args); /* a wrapped model has many */
        status = args ? call_row(r, n, i, args, out) : CQ_E_NO_MEMORY;
        cq_free(args);
        return status;
    }
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "the higher-order operator %s is not known", name);
}
