/* Calls programs, to compute results or to record a graph. */
#include "script/script.h"

#include "archive/torchscript.h"
#include "aten/core/work.h"
#include "base/steps.h"
#include "base/warn.h"
#include "script/builtins/builtin.h"
#include "script/values/sequence.h"
#include "script/flow/aliases.h"
#include "script/flow/state.h"
#include "script/python/unpickle.h"
#include "tensor/qparams.h"

#include <stdio.h>

CQ_API cq_status cq_script_compile(cq_script **out, const char *source, const char *name)
{
    CQ_NEED_OUT(out, source);
    cq_script *s = *out = cq_zalloc(sizeof *s);
    cq_status  status;

    if (!s)
        return CQ_E_NO_MEMORY;
    status = cq_program_new(&s->program);
    if (status == CQ_OK)
        status =
            cq_program_add_source(s->program, name ? name : "<source>", source, strlen(source));
    if (status != CQ_OK) {
        cq_script_free(s);
        *out = NULL;
    }
    return status;
}

CQ_API cq_status cq_script_define(cq_script *s, const char *source, const char *name)
{
    CQ_NEED(s && source);
    return cq_program_add_definitions(s->program, name ? name : "<definitions>", source,
                                      strlen(source));
}

CQ_API cq_status cq_script_set_quantized_engine(cq_script *s, const char *name)
{
    CQ_NEED(s && name);
    static const char *const engines[] = { "fbgemm", "onednn", "x86", "qnnpack" };

    if (!CQ_IS_AMONG(name, engines))
        return cq_fail(CQ_E_ARGUMENT, NULL, "there are fbgemm, onednn, x86 and qnnpack",
                       "'%s' is not an engine for quantized layers", name);
    s->program->whole_range = strcmp(name, "qnnpack") == 0;
    return CQ_OK;
}

CQ_API void cq_script_free(cq_script *s)
{
    if (!s)
        return;
    cq_script_state_free(s->state);
    cq_val_release(s->root);
    cq_val_release(s->traced);
    cq_free(s->entry);
    cq_program_free(s->program);
    cq_torchscript_free(s->archive);
    cq_pickled_free(s->pickled);
    cq_free(s);
}

void cq_script_set_file(cq_script *s, size_t size)
{
    s->program->file_bytes = (int64_t)size;
    cq_script_set_limits(s, 0, 0);
}

CQ_API void cq_script_set_limits(cq_script *s, uint64_t max_steps, uint64_t max_bytes)
{
    CQ_NEED_ELSE(s, );
    s->program->max_steps =
        max_steps ? max_steps : cq_default_steps(CQ_EVAL_MAX_STEPS, (double)s->program->file_bytes);
    s->program->has_max_steps = max_steps != 0;
    s->program->max_bytes     = max_bytes < INT64_MAX ? (int64_t)max_bytes : INT64_MAX;
}

CQ_API size_t cq_script_n_example_inputs(const cq_script *s)
{
    CQ_NEED_ELSE(s, 0);
    return cq_val_is_list(s->traced) ? s->traced.u.list->n : 0;
}

CQ_API cq_status cq_script_example_input(const cq_script *s, size_t i, cq_dtype *dtype,
                                         size_t *rank, int64_t *sizes)
{
    CQ_NEED(s && dtype && rank && sizes);
    const cq_tensor *t;

    if (i >= cq_script_n_example_inputs(s))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected at most %zu example inputs, got %zu",
                       cq_script_n_example_inputs(s), i + 1);
    t      = s->traced.u.list->items[i].u.tensor;
    *dtype = t->dtype;
    *rank  = t->rank;
    for (size_t k = 0; k < t->rank; k++)
        sizes[k] = t->sizes[k].value;
    return CQ_OK;
}

/* ---- the called function ---- */

static cq_status find_method(cq_eval *ev, cq_script *s, const char *method, cq_val *out)
{
    cq_unit *main = s->program->main;

    if (s->program->python && s->root.kind == CQ_VAL_NONE)
        return cq_fail(CQ_E_ARGUMENT, main->source.file, "call cq_script_make first",
                       "no model has been made from the file");
    if (s->program->python) {
        *out = s->root;
        return method && strcmp(method, "forward") != 0 && cq_python_is_module(s->root)
                   ? cq_eval_attribute(ev, s->root, cq_name(s->program, method), out)
                   : CQ_OK;
    }
    /* Functions of the file are also found if it has a root module. */
    if (s->root.kind != CQ_VAL_NONE &&
        !(main && method && cq_unit_def(main, cq_name(s->program, method)))) {
        cq_object *root = cq_object_of(s->root);

        /* A scripted nn.LSTM has forward__0 instead of forward. */
        if (!method)
            method = root->cls && !cq_ast_class_method(root->cls, cq_name(s->program, "forward")) &&
                             cq_ast_class_method(root->cls, cq_name(s->program, "forward__0"))
                         ? "forward__0"
                         : "forward";
        return cq_eval_attribute(ev, s->root, cq_name(s->program, method), out);
    }
    if (!method)
        method = cq_unit_def(main, cq_name(s->program, "forward")) ? "forward"
                 : main->n_defs == 1                               ? main->defs[0]->name
                                                                   : NULL;
    if (!method || !cq_unit_def(main, cq_name(s->program, method)))
        return cq_fail(CQ_E_NOT_FOUND, main->source.file, "name the function with --entry",
                       method ? "unknown function %s" : "the module has no function forward",
                       method);
    return cq_program_find(s->program, method, out);
}

/* Whether keyword arguments are the items of a single dict argument: the only remaining parameter
 * is declared as a Dict, and no parameter has the name of a keyword. PyTorch's exporter also
 * accepts both in the same form. */
static bool is_one_dict(cq_val fn, const cq_dict *keywords, size_t n)
{
    cq_object  *t   = cq_object_as(fn, CQ_OBJECT_FUNCTION);
    cq_ast_def *def = t ? t->def : NULL;

    if (!def || !keywords->n || n + (t->self.kind != CQ_VAL_NONE) + 1 != def->n_params)
        return false;
    for (size_t i = 0; i < def->n_params; i++)
        if (cq_dict_get_text(keywords, def->params[i].name))
            return false;
    return cq_type_is_dict(def->params[def->n_params - 1].type);
}

static cq_status call_method(cq_eval *ev, cq_script *s, const char *method, const cq_val *args,
                             size_t n, const cq_dict *keywords, cq_val *out)
{
    const char **names = NULL;
    cq_fncall    c     = { .ev = ev, .args = args, .n = n };
    cq_val       list;
    cq_status    status;

    CQ_TRY(find_method(ev, s, method, &c.callee));
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &list));
    if (is_one_dict(c.callee, keywords, n)) {
        for (size_t i = 0; i < n; i++)
            CQ_TRY(cq_list_push(list.u.list, args[i]));
        CQ_TRY(cq_list_push(list.u.list,
                            (cq_val){ .kind = CQ_VAL_DICT, .u.dict = (cq_dict *)keywords }));
        return cq_eval_call(ev, c.callee, list.u.list->items, n + 1, out);
    }
    names = cq_alloc_array(keywords->n + 1, sizeof *names);
    if (!names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < keywords->n; i++) {
        names[i] = cq_name(s->program, keywords->entries[i].key.u.text->text);
        CQ_TRY_OR_DONE(cq_list_push(list.u.list, keywords->entries[i].value));
    }
    c.names = names;
    c.kw    = list.u.list->items;
    c.n_kw  = keywords->n;
    CQ_TRY_OR_DONE(cq_fncall_run(&c, CQ_CALL_ANY));
    *out = c.result;
done:
    cq_free(names);
    return status;
}

/* ---- results ---- */

typedef cq_status (*leaf_fn)(cq_eval *ev, cq_tensor *t, void *user);

/* Adds an output of the graph that is not a tensor: a sequence, or a tensor that may be missing. */
static cq_status open_output(cq_eval *ev, cq_val v)
{
    cq_graph  *g   = ev->capture->graph;
    cq_object *opt = cq_object_as(v, CQ_OBJECT_OPTIONAL);
    cq_node   *node;
    cq_value  *value;
    cq_tensor *t;

    if (!opt)
        CQ_TRY(cq_share_check(ev, cq_sequence_of(v)->value));
    if (!opt)
        return cq_vec_push(&g->top->returns, CQ_OPERAND_OF(cq_sequence_of(v)->value));
    if (opt->self.kind != CQ_VAL_TENSOR && !cq_val_is_number(opt->self))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a model cannot return %s that may be None (data-dependent)",
                       cq_eval_type_name(opt->self));
    CQ_TRY(cq_eval_as_tensor(ev, opt->self, &t));
    value = cq_capture_value(ev->capture, ev->cx, t);
    if (!value)
        return ev->cx->status;
    node = cq_capture_node(ev->capture, ev->cx, "optional::make",
                           (cq_operand[]){ CQ_OPERAND_OF(opt->has), CQ_OPERAND_OF(value) }, 2, 1);
    if (!node)
        return g->status;
    node->outputs[0]->type      = value->type;
    node->outputs[0]->type.kind = CQ_TYPE_OPTIONAL;
    return cq_vec_push(&g->top->returns, CQ_OPERAND_OF(node->outputs[0]));
}

static cq_status give_output(cq_eval *ev, cq_tensor *t, void *user);

/* A list of known length has an output per item, even if it was converted to a sequence. */
static bool is_short(cq_int length)
{
    return !length.expr && length.value > 0 && length.value <= CQ_EVAL_MAX_UNROLL;
}

typedef struct leaves {
    leaf_fn fn;
    void   *user;
    bool    quantized_parts; /* as in cq_port */
} leaves;

/* Returns the integers, the scale and the zero point of a quantized tensor. */
static cq_status give_parts(cq_eval *ev, const leaves *to, cq_tensor *t)
{
    cq_ctx           *cx     = ev->cx;
    const cq_qparams *q      = t->qparams;
    cq_tensor        *stored = CQ_OP(cx, "aten::int_repr", TENSOR(t)), *scale, *zero;

    CQ_TRY(cx->status);
    scale = CQ_OP(cx, "aten::scalar_tensor", FLOAT(q->scale), DTYPE(CQ_DTYPE_F32));
    zero  = CQ_OP(cx, "aten::scalar_tensor", INT(q->zero_point), DTYPE(stored->dtype));
    CQ_TRY(cx->status);
    CQ_TRY(to->fn(ev, stored, to->user));
    CQ_TRY(to->fn(ev, scale, to->user));
    return to->fn(ev, zero, to->user);
}

static cq_status give_value(cq_visit *w, cq_val v)
{
    cq_eval           *ev        = w->owner;
    const leaves      *to        = w->user;
    const cq_sequence *seq       = cq_sequence_of(v);
    const cq_object   *undefined = cq_object_as(v, CQ_OBJECT_UNDEFINED);
    cq_tensor         *t;

    if (seq && is_short(seq->length)) {
        for (int64_t i = 0; i < seq->length.value; i++) {
            cq_val item;

            CQ_TRY(cq_sequence_at(ev, seq, cq_i(i), &item));
            CQ_TRY(give_value(w, item));
        }
        return CQ_OK;
    }
    if (seq || cq_object_as(v, CQ_OBJECT_OPTIONAL))
        return to->fn == give_output && ev->capture
                   ? open_output(ev, v)
                   : cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                             "expected a tensor as result of the module, got %s",
                             seq ? "a list of data-dependent length" : "a value that may be None");
    if (v.kind == CQ_VAL_NONE)
        return CQ_OK;
    if (v.kind == CQ_VAL_STR || v.kind == CQ_VAL_DEVICE || cq_object_as(v, CQ_OBJECT_ENUM)) {
        if (ev->capture)
            cq_warn(NULL, "a result of type %s is ignored: outputs are tensors and numbers",
                    cq_eval_type_name(v));
        return CQ_OK;
    }
    if (undefined)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "the result has no value on some path: %s",
                       undefined->text ? undefined->text : "it was never assigned");
    if (v.kind != CQ_VAL_TENSOR && (!cq_val_is_number(v) || v.kind == CQ_VAL_COMPLEX))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a model cannot return %s",
                       cq_eval_type_name(v));
    CQ_TRY(cq_eval_as_tensor(ev, v, &t));
    return to->quantized_parts && t->qparams && !t->qparams->scales ? give_parts(ev, to, t)
                                                                    : to->fn(ev, t, to->user);
}

/* Adds a result, named after its path in the results. It is charged like a node, because a few
 * nested lists can be millions of outputs. */
static cq_status give_leaf(cq_visit *w, cq_val v)
{
    cq_eval     *ev     = w->owner;
    cq_graph    *g      = ev->capture ? ev->capture->graph : NULL;
    const size_t before = g ? g->top->returns.n : 0;
    cq_str       name   = { 0 };
    cq_status    status;

    CQ_TRY(cq_eval_spend_on_operator(ev));
    CQ_TRY(give_value(w, v));
    if (!g || !w->slot || g->top->returns.n != before + 1)
        return CQ_OK;
    status = cq_eval_slot_name(w->slot, NULL, &name);
    if (status == CQ_OK && name.len)
        status = cq_ir_name_return(g, before, cq_str_text(&name));
    cq_str_clear(&name);
    return status;
}

static cq_status each_leaf(cq_eval *ev, cq_val v, leaves to)
{
    cq_visit w = cq_eval_visit(ev, &to);

    w.each = give_leaf;
    return cq_val_each(&w, v);
}

static void eval_clear(cq_eval *ev, cq_val root)
{
    cq_val_set(&ev->raised, CQ_NONE);
    cq_val_set(&ev->handled, CQ_NONE);
    cq_eval_end_frames(ev);
    cq_eval_open_cycles(ev, root);
    for (size_t i = 0; i < ev->journal.n; i++)
        cq_val_release(ev->journal.items[i].old);
    cq_vec_clear(&ev->journal);
    cq_ptr_map_clear(&ev->memories);
    cq_ptr_map_clear(&ev->noted);
    for (size_t i = 0; i < ev->aliases.n; i++)
        for (size_t k = 0; k < 3; k++)
            cq_val_release(ev->aliases.items[i].lists[k]);
    cq_vec_clear(&ev->aliases);
    cq_ptr_map_clear(&ev->has_aliases);
}

static cq_status give_output(cq_eval *ev, cq_tensor *t, void *user)
{
    cq_port *port = user;

    (void)ev;
    return port->ends->output(port, t);
}

/* A model that returns only empty lists still needs outputs: empty sequences of unknown item
 * type. */
static cq_status empty_output(cq_visit *w, cq_val v)
{
    cq_eval     *ev   = w->owner;
    cq_item_type item = { .kind = CQ_VAL_TENSOR, .dtype = CQ_DTYPE_F32 };
    cq_value    *value;

    if (v.kind != CQ_VAL_LIST || v.u.list->n)
        return cq_eval_visit(ev, NULL).enter(w, v);
    CQ_TRY(cq_sequence_value(ev, v, &item, &value));
    return cq_vec_push(&ev->capture->graph->top->returns, CQ_OPERAND_OF(value));
}

static cq_status ignore(cq_visit *w, cq_val v)
{
    (void)w;
    (void)v;
    return CQ_OK;
}

/* The result lists are empty. Branches that were not taken might have filled them from any input,
 * so all inputs are kept, as in PyTorch. */
static cq_status empty_outputs(cq_eval *ev, cq_val v)
{
    cq_visit  w   = cq_eval_visit(ev, NULL);
    cq_block *top = ev->capture->graph->top;

    for (size_t i = 0; i < top->params.n; i++)
        top->params.items[i]->is_taken = true;
    w.each  = ignore;
    w.enter = empty_output;
    return cq_val_each(&w, v);
}

static cq_status name_weight(void *user, const char *path, cq_tensor *t, bool is_parameter)
{
    (void)is_parameter;
    return cq_capture_weight(user, t, path);
}

/* ---- calls from inside a forward ---- */

/* Names the weights of a program that is part of a model by the path of the module that calls
 * it. */
static cq_status name_weight_in_scope(void *user, const char *path, cq_tensor *t, bool is_parameter)
{
    cq_eval    *ev    = user;
    const char *scope = ev->cx->scope ? ev->cx->scope->path : "";
    char        full[512];

    snprintf(full, sizeof full, scope[0] ? "%.200s.%.300s" : "%s%.500s", scope, path);
    return name_weight(ev->capture, full, t, is_parameter);
}

typedef struct outputs {
    cq_tensor **items;
    size_t      n, max;
} outputs;

static cq_status lend_output(cq_eval *ev, cq_tensor *t, void *user)
{
    outputs *o = user;

    if (o->n < o->max)
        o->items[o->n] = cq_keep(ev->cx, t);
    o->n++;
    return ev->cx->status;
}

CQ_API void cq_script_call_n(cq_ctx *cx, cq_script *s, const char *method, const cq_args *args,
                             cq_tensor **tensors, size_t n_outputs)
{
    CQ_NEED_ELSE(cx, );
    cq_eval   ev = { .program = s->program, .cx = cx, .capture = cq_capture_of(cx) };
    outputs   o  = { tensors, 0, n_outputs };
    cq_val    result;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < n_outputs; i++)
        tensors[i] = NULL;
    if (cx->status != CQ_OK)
        return;
    if (ev.capture && cq_object_of(s->root))
        status = cq_script_each_tensor(s, name_weight_in_scope, &ev);
    if (status == CQ_OK)
        status = call_method(&ev, s, method, args->positional->items, args->positional->n,
                             args->keywords, &result);
    if (status == CQ_OK)
        status = each_leaf(&ev, result, (leaves){ lend_output, &o, false });
    if (status == CQ_OK && o.n != n_outputs)
        status = cq_fail(CQ_E_ARGUMENT, method, NULL, "returned %zu tensors, expected %zu", o.n,
                         n_outputs);
    eval_clear(&ev, s->root);
    if (status != CQ_OK)
        cq_ctx_fail(cx, status);
}

cq_status cq_script_call_value(cq_ctx *cx, cq_script *s, const char *method, const cq_args *args,
                               cq_val *out)
{
    cq_eval   ev     = { .program = s->program, .cx = cx, .capture = cq_capture_of(cx) };
    cq_status status = CQ_OK;

    if (ev.capture && cq_object_of(s->root))
        status = cq_script_each_tensor(s, name_weight_in_scope, &ev);
    if (status == CQ_OK)
        status = call_method(&ev, s, method, args->positional->items, args->positional->n,
                             args->keywords, out);
    s->program->n_steps += ev.steps;
    eval_clear(&ev, s->root);
    return status == CQ_OK ? cx->status : status;
}

CQ_API cq_tensor *cq_script_call(cq_ctx *cx, cq_script *s, const char *method,
                                 cq_tensor *const *inputs, size_t n_inputs)
{
    CQ_NEED_ELSE(cx, NULL);
    cq_tensor *out  = NULL;
    cq_args   *args = NULL;
    cq_status  status;

    if (cx->status != CQ_OK)
        return NULL;
    CQ_TRY_OR_DONE(cq_args_new(&args));
    for (size_t i = 0; i < n_inputs; i++)
        CQ_TRY_OR_DONE(cq_args_add_tensor(args, inputs[i]));
    cq_script_call_n(cx, s, method, args, &out, 1);
done:
    if (status != CQ_OK)
        cq_ctx_fail(cx, status);
    cq_args_free(args);
    return cx->status == CQ_OK ? out : NULL;
}

/* ---- calls from outside ---- */

int64_t cq_script_max_bytes(const cq_script *s, double input_bytes)
{
    const uint64_t expected = s->program->expected_bytes;

    if (s->program->max_bytes)
        return s->program->max_bytes;
    return cq_default_bytes((double)s->program->file_bytes, input_bytes, s->program->available) +
           (int64_t)(2 * (expected < INT64_MAX / 8 ? expected : INT64_MAX / 8));
}

CQ_API void cq_script_expect_weights(cq_script *s, uint64_t bytes)
{
    CQ_NEED_ELSE(s, );
    s->program->expected_bytes = bytes;
}

static cq_status add_weight(void *user, const char *path, cq_tensor *t, bool is_parameter)
{
    (void)path, (void)is_parameter;
    *(double *)user += (double)t->storage->size;
    return CQ_OK;
}

/* Additional steps for the size of the inputs: a convolution multiplies each weight with each
 * position of the feature map. */
static uint64_t straight_steps_for(cq_script *s, double input_bytes)
{
    double bytes = (double)s->program->file_bytes, n;

    if (s->program->main)
        (void)cq_script_each_tensor(s, add_weight, &bytes);
    n = bytes * input_bytes / 4 / CQ_WORK_PRODUCTS;
    return n < 0x1p62 ? (uint64_t)n : UINT64_MAX / 2;
}

cq_script_limits cq_script_begin(cq_eval *ev, cq_script *s, double input_bytes)
{
    const cq_python *py = s->program->python;
    cq_script_limits before;

    before.budget        = cq_alloc_set_budget((cq_alloc_budget){
               .limit = cq_script_max_bytes(s, input_bytes), .used = s->program->loaded_bytes });
    before.default_float = ev->cx->default_float;
    if (py)
        ev->cx->default_float = py->default_float;
    cq_eval_charge_operators(ev, ev->cx);
    if (!s->program->has_max_steps)
        ev->straight_steps = straight_steps_for(s, input_bytes);
    return before;
}

cq_status cq_script_end(cq_eval *ev, cq_script *s, const cq_script_limits *before, cq_status status)
{
    status                = cq_eval_blame_guess(ev, status);
    ev->cx->default_float = before->default_float;
    cq_eval_charge_operators(NULL, ev->cx);
    s->program->n_steps += ev->steps;
    eval_clear(ev, s->root);
    cq_alloc_set_budget(before->budget);
    cq_program_check_definitions(s->program);
    return status;
}

static cq_status add_bytes(cq_visit *w, cq_val leaf)
{
    if (leaf.kind == CQ_VAL_TENSOR)
        *(double *)w->user += cq_tensor_given_bytes(leaf.u.tensor);
    return CQ_OK;
}

static double bytes_of_args(const cq_args *args)
{
    double   bytes = 0;
    cq_visit w     = { .each = add_bytes, .user = &bytes };

    cq_val_each(&w, cq_val_of_list(args->positional));
    cq_val_each(&w, cq_val_of_dict(args->keywords));
    return bytes;
}

static cq_status take_arguments(cq_eval *ev, const cq_args *args, cq_arguments a, cq_guard *guard,
                                cq_val *positional, cq_val *keywords)
{
    if (a.state)
        a.state->n_arguments = 0;
    a.by_position = true;
    CQ_TRY(cq_script_inputs(ev, a, cq_val_of_list(args->positional), positional));
    a.by_position = false;
    CQ_TRY(cq_script_inputs(ev, a, cq_val_of_dict(args->keywords), keywords));
    return a.state && a.state->is_exposed
               ? cq_state_bind(a.state, guard, a.port->given, a.port->n_given)
               : CQ_OK;
}

static cq_status give_outputs(cq_eval *ev, cq_val result, cq_port *port)
{
    CQ_TRY(each_leaf(ev, result, (leaves){ give_output, port, port->quantized_parts }));
    if (ev->capture && !ev->capture->graph->top->returns.n)
        CQ_TRY(empty_outputs(ev, result));
    return ev->cx->status;
}

static cq_status call_in(cq_ctx *cx, cq_script *s, const char *method, const cq_args *args,
                         uint32_t flags, cq_port *port)
{
    cq_eval          ev      = { .cx      = cx,
                                 .program = s->program,
                                 .script  = s,
                                 .capture = cq_capture_of(cx),
                                 .tracing = (flags & CQ_SCRIPT_TRACE) != 0,
                                 .port    = port };
    cq_script_state *state   = port->watch_state ? s->state : NULL;
    const bool       restore = ev.capture || port->restore || state;
    cq_guard         guard   = { .ev = &ev };
    cq_val           positional, keywords, result;
    cq_script_limits before;
    cq_status        status = CQ_OK;

    cx->whole_range = s->program->whole_range;
    before          = cq_script_begin(&ev, s, bytes_of_args(args));
    if (restore)
        CQ_TRY_OR_DONE(cq_guard_begin(&guard, &ev, s));
    CQ_TRY_OR_DONE(take_arguments(&ev, args,
                                  (cq_arguments){ .port        = port,
                                                  .state       = state,
                                                  .script      = s,
                                                  .method      = method,
                                                  .wide_floats = args->wide_floats },
                                  &guard, &positional, &keywords));
    CQ_TRY_OR_DONE(call_method(&ev, s, method, positional.u.list->items, positional.u.list->n,
                               keywords.u.dict, &result));
    CQ_TRY_OR_DONE(give_outputs(&ev, result, port));
    if (state)
        status = cq_state_finish(state, &guard);
done:
    cq_guard_end(&guard, restore);
    return cq_script_end(&ev, s, &before, status);
}

/* ---- runs of programs that differentiate ---- */

/* torch.autograd.grad needs a capture to walk backwards, so a run of a program that calls it is
 * captured first, and the results are computed from the capture. */
typedef struct taped_run {
    cq_port     port; /* of the capture */
    cq_port    *to;   /* of the run */
    cq_ctx     *cx, *outer;
    cq_capture *tape;
} taped_run;

static cq_tensor *taped_input(cq_port *port, cq_tensor *example, const char *name)
{
    const taped_run *r = (const taped_run *)port;
    cq_tensor       *t = r->to->ends->input(r->to, example, name);

    if (!t)
        cq_ctx_fail(r->cx, r->outer->status);
    return t;
}

static cq_status taped_output(cq_port *port, cq_tensor *t)
{
    const taped_run *r = (const taped_run *)port;
    cq_tensor       *computed;

    CQ_TRY(cq_capture_materialize(r->tape, r->cx, &computed, t));
    return r->to->ends->output(r->to, computed);
}

static cq_status run_taped(cq_ctx *cx, cq_script *s, const char *method, const cq_args *args,
                           cq_port *port)
{
    static const cq_port_ends ends = { .input = taped_input, .output = taped_output };
    taped_run                 r    = { .port = { .ends = &ends }, .to = port, .outer = cx };
    cq_status                 status;

    CQ_TRY_OR_DONE(cq_ctx_new(&r.cx));
    CQ_TRY_OR_DONE(cq_capture_new(&r.tape));
    r.cx->default_float = cx->default_float;
    r.tape->graph->default_float =
        s->program->python ? s->program->python->default_float : cx->default_float;
    r.tape->is_tape = true;
    cq_capture_start(r.tape, r.cx);
    status = call_in(r.cx, s, method, args, CQ_SCRIPT_TRACE, &r.port);
    cq_capture_stop(r.tape, r.cx);
done:
    cq_ctx_free(r.cx);
    cq_capture_free(r.tape);
    return status;
}

cq_status cq_script_call_through(cq_ctx *cx, cq_script *s, const char *method, const cq_args *args,
                                 uint32_t flags, cq_port *port)
{
    const bool may_tape = !cx->listener && !port->watch_state;
    cq_status  status;

    if (may_tape && s->program->needs_tape)
        return run_taped(cx, s, method, args, port);
    status = call_in(cx, s, method, args, flags, port);
    if (status == CQ_E_UNSUPPORTED && may_tape && s->program->needs_tape) /* the failed run has set
                                                                           * needs_tape */
        status = run_taped(cx, s, method, args, port);
    return status;
}
