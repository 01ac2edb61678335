/* Symbolic functions in Python: torch.onnx.register_custom_op_symbolic, and the static method
 * symbolic of torch.autograd.Function. The exporter calls a rule, the rule calls its Python
 * function, and that builds nodes by the calls below (lib/torch/onnx/_graph.py). */
#include "py/py.h"
#include "script/builtins/number.h"

enum { MAX_VALUES = 1 << 20, MAX_OUTPUTS = 256 };

struct cq_py_rule {
    cq_py  *py;
    char   *name;
    int32_t opset;
    cq_val  function; /* retained; called without arguments, it returns a list of values or None */
};

/* ---- values ---- */

static cq_status add_value(cq_py *py, cq_value *v, cq_val *out)
{
    if (!v)
        return cq_sym_status(py->sym);
    if (py->values.n == MAX_VALUES)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a symbolic function uses more than %d values",
                       MAX_VALUES);
    CQ_TRY(cq_vec_push(&py->values, v));
    *out = cq_val_of_i64((int64_t)py->values.n - 1);
    return CQ_OK;
}

/* NULL for None, an input that is left out. */
static cq_status value_of(cq_py_call *c, cq_val v, cq_value **out)
{
    const int64_t i = v.kind == CQ_VAL_INT ? v.u.i.value : -1;

    *out = NULL;
    if (v.kind == CQ_VAL_NONE)
        return CQ_OK;
    if (i < 0 || (uint64_t)i >= c->py->values.n)
        return cq_python_raise(c->ev, "TypeError", "expected a value of the graph");
    *out = c->py->values.items[i];
    return CQ_OK;
}

static cq_status need_sym(cq_py_call *c)
{
    return c->py->sym ? CQ_OK
                      : cq_python_raise(c->ev, "RuntimeError",
                                        "%s is called outside of a symbolic function", c->name);
}

/* ---- arguments of the operator ---- */

static cq_status list_of_values(cq_py_call *c, const char *arg, cq_val *out)
{
    cq_py *py = c->py;
    cq_val v;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
    for (size_t i = 0; i < cq_sym_n_list(py->sym, arg); i++) {
        CQ_TRY(add_value(py, cq_sym_in_at(py->sym, arg, i), &v));
        CQ_TRY(cq_list_push(out->u.list, v));
    }
    return CQ_OK;
}

static cq_status list_of_numbers(cq_py_call *c, const char *arg, cq_sym_arg_kind kind, cq_val *out)
{
    cq_sym      *s      = c->py->sym;
    const size_t n      = cq_sym_n_list(s, arg);
    int64_t     *ints   = cq_alloc_array(n + 1, sizeof *ints);
    double      *floats = cq_alloc_array(n + 1, sizeof *floats);
    cq_status    status = ints && floats ? CQ_OK : CQ_E_NO_MEMORY;

    if (status == CQ_OK)
        status = cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out);
    if (status == CQ_OK && kind == CQ_SYM_ARG_FLOATS)
        cq_sym_f64s(s, arg, floats, n);
    else if (status == CQ_OK)
        cq_sym_i64s(s, arg, ints, n);
    for (size_t i = 0; i < n && status == CQ_OK; i++)
        status = cq_list_push(out->u.list, kind == CQ_SYM_ARG_FLOATS  ? cq_val_of_f64(floats[i])
                                           : kind == CQ_SYM_ARG_BOOLS ? cq_val_of_bool(ints[i] != 0)
                                                                      : cq_val_of_i64(ints[i]));
    cq_free(ints);
    cq_free(floats);
    return status == CQ_OK ? cq_sym_status(s) : status;
}

/* *is_value: a value, or a list of values; else a constant. */
static cq_status argument(cq_py_call *c, const char *arg, cq_val *out, bool *is_value)
{
    cq_sym               *s    = c->py->sym;
    const cq_sym_arg_kind kind = cq_sym_kind(s, arg);
    const char           *text;

    *out      = CQ_NONE;
    *is_value = kind == CQ_SYM_ARG_TENSOR || kind == CQ_SYM_ARG_TENSORS;
    switch (kind) {
    case CQ_SYM_ARG_TENSOR: return add_value(c->py, cq_sym_in(s, arg), out);
    case CQ_SYM_ARG_TENSORS: return list_of_values(c, arg, out);
    case CQ_SYM_ARG_INT: *out = cq_val_of_i64(cq_sym_i64(s, arg)); break;
    case CQ_SYM_ARG_FLOAT: *out = cq_val_of_f64(cq_sym_f64(s, arg)); break;
    case CQ_SYM_ARG_BOOL: *out = cq_val_of_bool(cq_sym_bool(s, arg)); break;
    case CQ_SYM_ARG_STRING:
        text = cq_sym_str(s, arg, "");
        CQ_TRY(cq_builtin_text(c->ev, text, strlen(text), out));
        break;
    case CQ_SYM_ARG_INTS:
    case CQ_SYM_ARG_FLOATS:
    case CQ_SYM_ARG_BOOLS: return list_of_numbers(c, arg, kind, out);
    default: break;
    }
    return cq_sym_status(s);
}

/* sym_arguments(): a list of (is_value, value). */
static cq_status arguments(cq_py_call *c)
{
    CQ_TRY(need_sym(c));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (size_t i = 0; i < cq_sym_n_args(c->py->sym); i++) {
        cq_val v[2], pair;
        bool   is_value;

        CQ_TRY(argument(c, cq_sym_arg_name(c->py->sym, i), &v[1], &is_value));
        v[0] = cq_val_of_bool(is_value);
        CQ_TRY(cq_eval_list(c->ev, v, 2, CQ_VAL_TUPLE, &pair));
        CQ_TRY(cq_list_push(c->result.u.list, pair));
    }
    return CQ_OK;
}

/* ---- nodes ---- */

static cq_status read_list(cq_py_call *c, cq_arena *arena, cq_sym_attr *a, char kind,
                           const cq_list *list)
{
    int64_t     *ints    = cq_arena_array(arena, list->n + 1, sizeof *ints);
    double      *floats  = cq_arena_array(arena, list->n + 1, sizeof *floats);
    const char **strings = cq_arena_array(arena, list->n + 1, sizeof *strings);

    if (!ints || !floats || !strings)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < list->n; i++) {
        const cq_val v = list->items[i];

        if (kind == 's' ? v.kind != CQ_VAL_STR : !cq_val_is_number(v) || cq_val_is_symbolic(v))
            return cq_python_raise(c->ev, "TypeError", "attribute '%s' has an item that is %s",
                                   a->name, cq_eval_type_name(v));
        ints[i]    = v.kind == CQ_VAL_INT    ? v.u.i.value
                     : v.kind == CQ_VAL_BOOL ? v.u.b.value
                     : kind == 's'           ? 0
                                             : (int64_t)cq_val_real(v);
        floats[i]  = kind == 's' ? 0 : cq_val_real(v);
        strings[i] = kind == 's' ? v.u.text->text : "";
    }
    a->kind    = kind == 'i'   ? CQ_SYM_ATTR_INTS
                 : kind == 'f' ? CQ_SYM_ATTR_FLOATS
                               : CQ_SYM_ATTR_STRINGS;
    a->n       = list->n;
    a->ints    = ints;
    a->floats  = floats;
    a->strings = strings;
    return CQ_OK;
}

/* (name, kind, value), kind being one of i, f, s, t. */
static cq_status read_attribute(cq_py_call *c, cq_arena *arena, cq_sym_attr *a, cq_val row)
{
    const cq_val *v = cq_val_is_list(row) && row.u.list->n == 3 ? row.u.list->items : NULL;
    char          kind;

    if (!v || v[0].kind != CQ_VAL_STR || v[1].kind != CQ_VAL_STR)
        return cq_python_raise(c->ev, "TypeError", "expected a name, a kind and a value");
    a->name = v[0].u.text->text;
    kind    = v[1].u.text->text[0];
    if (kind == 't' && v[2].kind == CQ_VAL_TENSOR && !cq_tensor_is_fake(v[2].u.tensor)) {
        a->kind = CQ_SYM_ATTR_TENSOR;
        a->t    = v[2].u.tensor;
        return CQ_OK;
    }
    if (cq_val_is_list(v[2]) && (kind == 'i' || kind == 'f' || kind == 's'))
        return read_list(c, arena, a, kind, v[2].u.list);
    if (kind == 's' && v[2].kind == CQ_VAL_STR) {
        a->kind = CQ_SYM_ATTR_STRING;
        a->s    = v[2].u.text->text;
        return CQ_OK;
    }
    if ((kind != 'i' && kind != 'f') || !cq_val_is_number(v[2]) || cq_val_is_symbolic(v[2]))
        return cq_python_raise(c->ev, "TypeError", "attribute '%s_%c' is %s", a->name, kind,
                               cq_eval_type_name(v[2]));
    a->kind = kind == 'i' ? CQ_SYM_ATTR_INT : CQ_SYM_ATTR_FLOAT;
    a->f    = cq_val_real(v[2]);
    a->i    = v[2].kind == CQ_VAL_INT ? v[2].u.i.value : (int64_t)a->f;
    return CQ_OK;
}

static cq_status emit(cq_py_call *c, cq_arena *arena)
{
    const cq_list *inputs = c->args[1].u.list, *attributes = c->args[2].u.list;
    const int64_t  n     = c->args[3].u.i.value;
    cq_value     **in    = cq_arena_array(arena, inputs->n + 1, sizeof *in);
    cq_sym_attr   *attrs = cq_arena_array(arena, attributes->n + 1, sizeof *attrs);
    cq_value      *out[MAX_OUTPUTS];
    cq_val         v;

    if (!in || !attrs)
        return CQ_E_NO_MEMORY;
    if (n < 1 || n > MAX_OUTPUTS)
        return cq_python_raise(c->ev, "ValueError", "expected 1 to %d outputs, got %lld",
                               MAX_OUTPUTS, (long long)n);
    memset(attrs, 0, attributes->n * sizeof *attrs);
    for (size_t i = 0; i < inputs->n; i++)
        CQ_TRY(value_of(c, inputs->items[i], &in[i]));
    for (size_t i = 0; i < attributes->n; i++)
        CQ_TRY(read_attribute(c, arena, &attrs[i], attributes->items[i]));
    cq_sym_emit(c->py->sym, c->args[0].u.text->text, inputs->n, in, attributes->n, attrs, (size_t)n,
                out);
    CQ_TRY(cq_sym_status(c->py->sym));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    for (int64_t i = 0; i < n; i++) {
        CQ_TRY(add_value(c->py, out[i], &v));
        CQ_TRY(cq_list_push(c->result.u.list, v));
    }
    return CQ_OK;
}

/* sym_op(name, inputs, attributes, n_outputs): a list of values. */
static cq_status op(cq_py_call *c)
{
    cq_arena *arena;
    cq_status status;

    CQ_TRY(need_sym(c));
    arena = cq_arena_new();
    if (!arena)
        return CQ_E_NO_MEMORY;
    status = emit(c, arena);
    cq_arena_free(arena);
    return status;
}

static cq_status constant(cq_py_call *c)
{
    CQ_TRY(need_sym(c));
    return add_value(c->py, cq_sym_const(c->py->sym, c->args[0].u.tensor), &c->result);
}

/* ---- what a value tells ---- */

static cq_status sizes_of(cq_py_call *c, const cq_value *v, cq_val *out)
{
    const int rank = cq_value_rank(v);

    *out = CQ_NONE;
    if (rank < 0)
        return CQ_OK;
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
    for (int i = 0; i < rank; i++) {
        const cq_int size = cq_sym_size(c->py->sym, v, i);

        CQ_TRY(cq_list_push(out->u.list, size.expr ? CQ_NONE : cq_val_of_i64(size.value)));
    }
    return cq_sym_status(c->py->sym);
}

static cq_status inputs_of(cq_py_call *c, const cq_value *v, cq_val *out)
{
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, out));
    for (size_t i = 0; i < cq_value_n_inputs(v); i++) {
        cq_value *in   = cq_value_input(v, i);
        cq_val    item = CQ_NONE;

        if (in)
            CQ_TRY(add_value(c->py, in, &item));
        CQ_TRY(cq_list_push(out->u.list, item));
    }
    return CQ_OK;
}

/* sym_info(value): operator, dtype or None, sizes or None, constant or None, inputs. */
static cq_status info(cq_py_call *c)
{
    cq_val      v[5] = { CQ_NONE };
    cq_value   *value;
    cq_tensor  *data;
    const char *name;

    CQ_TRY(need_sym(c));
    CQ_TRY(value_of(c, c->args[0], &value));
    if (!value)
        return cq_python_raise(c->ev, "TypeError", "expected a value of the graph");
    name = cq_value_op(value);
    data = cq_sym_data(value);
    CQ_TRY(cq_builtin_text(c->ev, name, strlen(name), &v[0]));
    if (cq_value_dtype(value) != CQ_DTYPE_NONE)
        CQ_TRY(cq_python_dtype(c->ev, cq_dtype_to_torch(cq_value_dtype(value)), &v[1]));
    CQ_TRY(sizes_of(c, value, &v[2]));
    if (data)
        CQ_TRY(cq_eval_own(c->ev, cq_val_of_tensor(cq_tensor_retain(data)), &v[3]));
    CQ_TRY(inputs_of(c, value, &v[4]));
    return cq_eval_list(c->ev, v, 5, CQ_VAL_TUPLE, &c->result);
}

/* sym_set_type(value, dtype, sizes) */
static cq_status set_type(cq_py_call *c)
{
    const cq_object *dtype = cq_object_as(c->args[1], CQ_OBJECT_DTYPE);
    const cq_list   *list  = c->args[2].u.list;
    cq_int           sizes[CQ_MAX_RANK];
    cq_value        *value;

    CQ_TRY(need_sym(c));
    CQ_TRY(value_of(c, c->args[0], &value));
    if (!value || !dtype || list->n > CQ_MAX_RANK)
        return cq_python_raise(c->ev, "TypeError", "expected a value, its dtype and its sizes");
    for (size_t i = 0; i < list->n; i++) {
        if (list->items[i].kind != CQ_VAL_INT)
            return CQ_OK; /* an unknown size: inference says it */
        sizes[i] = list->items[i].u.i;
    }
    cq_sym_set_type(c->py->sym, value, cq_dtype_from_torch(dtype->self.u.i.value), list->n, sizes);
    return cq_sym_status(c->py->sym);
}

static cq_status opset(cq_py_call *c)
{
    CQ_TRY(need_sym(c));
    c->result = cq_val_of_i64(cq_sym_opset(c->py->sym));
    return CQ_OK;
}

static cq_status n_results(cq_py_call *c)
{
    CQ_TRY(need_sym(c));
    c->result = cq_val_of_i64((int64_t)cq_sym_n_results(c->py->sym));
    return CQ_OK;
}

/* ---- rules ---- */

static cq_status finish(cq_py *py, cq_val made)
{
    cq_py_call c = { .py = py, .ev = py->ev };
    cq_value  *results[MAX_OUTPUTS];
    size_t     n = 0;

    if (!cq_val_is_list(made))
        return cq_sym_no(py->sym, 0, "its symbolic function returned None");
    for (; n < made.u.list->n && n < MAX_OUTPUTS && n < cq_sym_n_results(py->sym); n++)
        CQ_TRY(value_of(&c, made.u.list->items[n], &results[n]));
    return cq_sym_done_n(py->sym, results, n);
}

static cq_status apply(cq_sym *s, void *user)
{
    const cq_py_rule *rule = user;
    cq_py            *py   = rule->py;
    cq_val            made = CQ_NONE;
    cq_status         status;

    if (!py->ev || py->sym)
        return cq_sym_no(s, 0, "its symbolic function is called outside of an export");
    py->sym      = s;
    py->values.n = 0;
    status       = cq_eval_call(py->ev, rule->function, NULL, 0, &made);
    if (status == CQ_OK)
        status = finish(py, made);
    py->sym = NULL;
    return status;
}

static void free_rule(cq_py_rule *rule)
{
    cq_val_release(rule->function);
    cq_free(rule->name);
    cq_free(rule);
}

/* register(name, opset, function) */
static cq_status add_rule(cq_py_call *c)
{
    cq_py_rule *rule = cq_zalloc(sizeof *rule);
    cq_status   status;

    if (!rule)
        return CQ_E_NO_MEMORY;
    *rule  = (cq_py_rule){ .py       = c->py,
                           .name     = cq_strdup(c->args[0].u.text->text),
                           .opset    = (int32_t)c->args[1].u.i.value,
                           .function = cq_val_retain(c->args[2]) };
    status = rule->name ? cq_vec_push(&c->py->rules, rule) : CQ_E_NO_MEMORY;
    if (status != CQ_OK) {
        free_rule(rule);
        return status;
    }
    return cq_symbolic_register(rule->name, rule->opset, apply, rule);
}

static void remove_rule(cq_py *py, size_t i)
{
    cq_py_rule *rule = py->rules.items[i];

    cq_symbolic_unregister(rule->name, rule->opset);
    free_rule(rule);
    py->rules.items[i] = py->rules.items[--py->rules.n];
}

static cq_status remove_rules(cq_py_call *c)
{
    for (size_t i = c->py->rules.n; i-- > 0;)
        if (strcmp(c->py->rules.items[i]->name, c->args[0].u.text->text) == 0 &&
            c->py->rules.items[i]->opset == c->args[1].u.i.value)
            remove_rule(c->py, i);
    return CQ_OK;
}

void cq_py_clear_rules(cq_py *py)
{
    while (py->rules.n)
        remove_rule(py, py->rules.n - 1);
    cq_vec_clear(&py->rules);
    cq_vec_clear(&py->values);
}

const cq_py_function cq_py_symbolic_functions[] = {
    { "register", "si.", add_rule },     { "unregister", "si", remove_rules },
    { "sym_arguments", "", arguments },  { "sym_op", "slli", op },
    { "sym_constant", "t", constant },   { "sym_info", "i", info },
    { "sym_set_type", "i.l", set_type }, { "sym_opset", "", opset },
    { "sym_n_results", "", n_results },  { 0 },
};
