/* The building half of symbolic.h: arguments, nodes, constants. Operators whose form depends
 * on the opset are in forms.c, sizes in sizes.c. */
#include "export/exporter.h"

#include <stdio.h>

/* ---- failure ---- */

cq_status cq_sym_fail(cq_sym *s, cq_status status)
{
    if (s->status == CQ_OK)
        s->status = status;
    return s->status;
}

cq_status cq_sym_status(const cq_sym *s)
{
    return s->status;
}

cq_status cq_sym_no(cq_sym *s, int first_opset, const char *format, ...)
{
    va_list args;

    if (s->status != CQ_OK)
        return s->status;
    va_start(args, format);
    cq_fail_v(CQ_E_UNSUPPORTED, s->node->op, NULL, format, args);
    va_end(args);
    s->declined       = true;
    s->declined_opset = first_opset;
    return s->status  = CQ_E_UNSUPPORTED;
}

int cq_sym_opset(const cq_sym *s)
{
    return s->ex->options.opset;
}

bool cq_sym_is_training(const cq_sym *s)
{
    return s->ex->options.training != CQ_TRAINING_EVAL;
}

/* ---- arguments ---- */

static const cq_operand none_operand = { .kind = CQ_OPERAND_NONE };

static const cq_operand *find(cq_sym *s, const char *arg)
{
    int at = s->op ? cq_schema_find(s->op->schema, arg) : -1;

    if (at >= 0 && (size_t)at < s->node->n_inputs)
        return &s->node->inputs[at];
    cq_sym_fail(s, cq_fail(CQ_E_INTERNAL, s->node->op, NULL,
                           "the symbolic asks for an argument \"%s\" that the operator has not",
                           arg));
    return &none_operand;
}

bool cq_sym_is_none(cq_sym *s, const char *arg)
{
    return find(s, arg)->kind == CQ_OPERAND_NONE;
}

bool cq_sym_is_tensor(cq_sym *s, const char *arg)
{
    return find(s, arg)->kind == CQ_OPERAND_VALUE;
}

static cq_value *value_of_operand(cq_sym *s, const cq_operand *o)
{
    switch (o->kind) {
    case CQ_OPERAND_VALUE: return cq_sym_value(s, o->u.value);
    case CQ_OPERAND_INT: return cq_sym_of_int(s, o->u.i);
    case CQ_OPERAND_FLOAT: return cq_sym_const_f64(s, CQ_DTYPE_F32, o->u.f);
    case CQ_OPERAND_BOOL: return cq_sym_const_f64(s, CQ_DTYPE_BOOL, o->u.b);
    default: return NULL;
    }
}

cq_value *cq_sym_in(cq_sym *s, const char *arg)
{
    return s->status == CQ_OK ? value_of_operand(s, find(s, arg)) : NULL;
}

cq_value *cq_sym_in_as(cq_sym *s, const char *arg, cq_dtype dtype)
{
    const cq_operand *o = find(s, arg);

    if (s->status != CQ_OK)
        return NULL;
    if (o->kind == CQ_OPERAND_FLOAT)
        return cq_sym_const_f64(s, dtype, o->u.f);
    if (o->kind == CQ_OPERAND_INT && !o->u.i.expr)
        return cq_sym_const_f64(s, dtype, (double)o->u.i.value);
    if (o->kind == CQ_OPERAND_BOOL)
        return cq_sym_const_f64(s, dtype, o->u.b);
    return cq_sym_cast(s, value_of_operand(s, o), dtype);
}

static void wrong(cq_sym *s, const char *arg, const char *wanted)
{
    cq_sym_no(s, 0, "its argument \"%s\" must be %s that is known when the model is exported", arg,
              wanted);
}

static bool number_of(const cq_operand *o, double *f)
{
    switch (o->kind) {
    case CQ_OPERAND_INT: *f = (double)o->u.i.value; return o->u.i.expr == NULL;
    case CQ_OPERAND_FLOAT: *f = o->u.f; return true;
    case CQ_OPERAND_BOOL: *f = o->u.b; return true;
    case CQ_OPERAND_VALUE: {
        cq_tensor *t = cq_sym_data(o->u.value);

        if (!t || cq_tensor_numel(t) != 1)
            return false;
        *f = cq_tensor_get_f64(t, 0);
        return true;
    }
    default: return false;
    }
}

cq_int cq_sym_int(cq_sym *s, const char *arg)
{
    const cq_operand *o = find(s, arg);
    double            f;

    if (o->kind == CQ_OPERAND_INT)
        return o->u.i;
    if (s->status == CQ_OK && !number_of(o, &f))
        wrong(s, arg, "an integer");
    return cq_i(s->status == CQ_OK ? (int64_t)f : 0);
}

int64_t cq_sym_i64(cq_sym *s, const char *arg)
{
    cq_int i = cq_sym_int(s, arg);

    if (i.expr)
        wrong(s, arg, "an integer");
    return i.value;
}

double cq_sym_f64(cq_sym *s, const char *arg)
{
    double f = 0;

    if (!number_of(find(s, arg), &f))
        wrong(s, arg, "a number");
    return f;
}

bool cq_sym_bool(cq_sym *s, const char *arg)
{
    double f = 0;

    if (find(s, arg)->kind != CQ_OPERAND_NONE && !number_of(find(s, arg), &f))
        wrong(s, arg, "a bool");
    return f != 0;
}

const char *cq_sym_str(cq_sym *s, const char *arg, const char *otherwise)
{
    const cq_operand *o = find(s, arg);

    return o->kind == CQ_OPERAND_STR ? o->u.s : otherwise;
}

cq_dtype cq_sym_dtype_arg(cq_sym *s, const char *arg, cq_dtype otherwise)
{
    const cq_operand *o = find(s, arg);

    return o->kind == CQ_OPERAND_INT ? cq_dtype_from_torch(o->u.i.value) : otherwise;
}

int cq_sym_dim(cq_sym *s, const char *arg, int rank)
{
    int64_t dim = cq_sym_i64(s, arg), n = rank ? rank : 1;

    if (s->status == CQ_OK && (dim < -n || dim >= n))
        cq_sym_no(s, 0, "%s %lld is out of range for %d dimensions", arg, (long long)dim, rank);
    return (int)(dim < 0 ? dim + n : dim);
}

static const cq_operand *items_of(cq_sym *s, const char *arg, size_t *n, size_t max)
{
    const cq_operand *o = find(s, arg);

    *n = o->kind == CQ_OPERAND_LIST ? o->u.list.n : o->kind != CQ_OPERAND_NONE;
    if (*n > max) {
        cq_sym_no(s, 0, "its argument \"%s\" has %zu items", arg, *n);
        *n = 0;
    }
    return o->kind == CQ_OPERAND_LIST ? o->u.list.items : o;
}

size_t cq_sym_ints(cq_sym *s, const char *arg, cq_int *out, size_t max)
{
    size_t            n;
    const cq_operand *items = items_of(s, arg, &n, max);

    for (size_t i = 0; i < n; i++) {
        double f = 0;

        if (items[i].kind == CQ_OPERAND_INT) {
            out[i] = items[i].u.i;
        } else {
            if (!number_of(&items[i], &f))
                wrong(s, arg, "a list of integers");
            out[i] = cq_i((int64_t)f);
        }
    }
    return n;
}

size_t cq_sym_i64s(cq_sym *s, const char *arg, int64_t *out, size_t max)
{
    cq_int ints[256];
    size_t n = cq_sym_ints(s, arg, ints, max < 256 ? max : 256);

    for (size_t i = 0; i < n; i++) {
        if (ints[i].expr)
            wrong(s, arg, "a list of integers");
        out[i] = ints[i].value;
    }
    return n;
}

void cq_sym_i64_n(cq_sym *s, const char *arg, int64_t *out, size_t n, const int64_t *otherwise)
{
    int64_t given[CQ_MAX_RANK];
    size_t  n_given = cq_sym_i64s(s, arg, given, CQ_MAX_RANK);

    for (size_t i = 0; i < n; i++)
        out[i] = n_given == n ? given[i] : n_given ? given[0] : otherwise ? otherwise[i] : 0;
}

size_t cq_sym_f64s(cq_sym *s, const char *arg, double *out, size_t max)
{
    size_t            n;
    const cq_operand *items = items_of(s, arg, &n, max);

    for (size_t i = 0; i < n; i++)
        if (!number_of(&items[i], &out[i]))
            wrong(s, arg, "a list of numbers");
    return n;
}

size_t cq_sym_n_list(cq_sym *s, const char *arg)
{
    size_t n;

    items_of(s, arg, &n, SIZE_MAX);
    return n;
}

cq_value *cq_sym_in_at(cq_sym *s, const char *arg, size_t i)
{
    size_t            n;
    const cq_operand *items = items_of(s, arg, &n, SIZE_MAX);

    return i < n && s->status == CQ_OK ? value_of_operand(s, &items[i]) : NULL;
}

/* ---- results and types ---- */

size_t cq_sym_n_results(const cq_sym *s)
{
    return s->node->n_outputs;
}

cq_type cq_sym_result_type(const cq_sym *s, size_t i)
{
    return s->node->outputs[i]->type;
}

bool cq_sym_result_used(const cq_sym *s, size_t i)
{
    return i < s->node->n_outputs && s->node->outputs[i]->n_uses > 0;
}

int cq_sym_rank(cq_sym *s, const cq_value *v)
{
    if (s->status != CQ_OK || !v)
        return 0;
    if (v->type.kind == CQ_TYPE_INT || v->type.kind == CQ_TYPE_FLOAT || v->type.kind == CQ_TYPE_BOOL)
        return 0;
    if (v->type.kind != CQ_TYPE_TENSOR || v->type.rank < 0) {
        cq_sym_no(s, 0, "the number of dimensions of an input is not known");
        return 0;
    }
    return v->type.rank;
}

cq_dtype cq_sym_dtype(cq_sym *s, const cq_value *v)
{
    if (s->status != CQ_OK || !v)
        return CQ_DTYPE_F32;
    switch (v->type.kind) {
    case CQ_TYPE_INT: return CQ_DTYPE_I64;
    case CQ_TYPE_FLOAT: return CQ_DTYPE_F32;
    case CQ_TYPE_BOOL: return CQ_DTYPE_BOOL;
    default: return v->type.dtype;
    }
}

cq_int cq_sym_size(cq_sym *s, const cq_value *v, int axis)
{
    int rank = cq_sym_rank(s, v);

    if (axis < 0)
        axis += rank;
    return s->status == CQ_OK && axis >= 0 && axis < rank ? v->type.sizes[axis] : cq_i(1);
}

cq_tensor *cq_sym_data(const cq_value *v)
{
    const cq_operand *value;

    if (!v)
        return NULL;
    if (v->data)
        return v->data;
    if (!v->node || strcmp(v->node->op, "onnx::Constant") != 0)
        return NULL;
    value = cq_ir_attr(v->node, "value");
    return value && value->kind == CQ_OPERAND_TENSOR ? value->u.tensor : NULL;
}

void cq_sym_set_type(cq_sym *s, cq_value *v, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    if (v && s->status == CQ_OK)
        v->type = cq_ir_tensor_type(s->ex->graph, dtype, rank, sizes);
}

void cq_sym_set_type_of(cq_value *v, const cq_value *like)
{
    if (v && like)
        v->type = like->type;
}

void cq_sym_set_dtype(cq_sym *s, cq_value *v, cq_dtype dtype)
{
    if (!v || s->status != CQ_OK)
        return;
    if (v->type.kind != CQ_TYPE_TENSOR)
        v->type = (cq_type){ .kind = CQ_TYPE_TENSOR, .rank = -1 };
    v->type.dtype = dtype;
}

/* ---- attributes ---- */

cq_attr cq_attr_i(const char *name, int64_t value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_INT, .u.i = { value, NULL } } };
}

cq_attr cq_attr_f(const char *name, double value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_FLOAT, .u.f = value } };
}

cq_attr cq_attr_s(const char *name, const char *value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_STR, .u.s = value } };
}

cq_attr cq_attr_t(const char *name, cq_tensor *value)
{
    return (cq_attr){ name, { .kind = CQ_OPERAND_TENSOR, .u.tensor = value } };
}

static cq_operand *list_attr(cq_sym *s, cq_attr *a, const char *name, size_t n)
{
    a->name            = name;
    a->value.kind      = CQ_OPERAND_LIST;
    a->value.u.list.n  = n;
    a->value.u.list.items =
        cq_arena_array(s->ex->graph->arena, n, sizeof *a->value.u.list.items);
    if (!a->value.u.list.items) {
        a->value.u.list.n = 0;
        cq_sym_fail(s, CQ_E_NO_MEMORY);
    }
    return a->value.u.list.items;
}

cq_attr cq_attr_is(cq_sym *s, const char *name, const int64_t *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = { values[i], NULL } };
    return a;
}

cq_attr cq_attr_fs(cq_sym *s, const char *name, const double *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_FLOAT, .u.f = values[i] };
    return a;
}

cq_attr cq_attr_ss(cq_sym *s, const char *name, const char *const *values, size_t n)
{
    cq_attr     a;
    cq_operand *items = list_attr(s, &a, name, n);

    for (size_t i = 0; items && i < n; i++)
        items[i] = (cq_operand){ .kind = CQ_OPERAND_STR, .u.s = values[i] };
    return a;
}

/* ---- nodes ---- */

cq_node *cq_sym_node(cq_sym *s, const char *op, cq_value *const *in, size_t n_in, size_t n_out)
{
    cq_operand  small[16], *inputs = small;
    char        name[160];
    cq_node    *node;
    cq_origin  *origin;

    if (s->status != CQ_OK)
        return NULL;
    while (n_in && !in[n_in - 1])
        n_in--; /* optional inputs at the end are just not there */
    if (n_in > 16)
        inputs = cq_arena_array(s->ex->graph->arena, n_in, sizeof *inputs);
    if (!inputs) {
        cq_sym_fail(s, CQ_E_NO_MEMORY);
        return NULL;
    }
    for (size_t i = 0; i < n_in; i++)
        inputs[i] = in[i] ? CQ_OPERAND_OF(in[i]) : (cq_operand){ 0 };
    snprintf(name, sizeof name, strstr(op, "::") ? "%s" : "onnx::%s", op);
    node = cq_ir_node_new(s->block, NULL, name, inputs, n_in, n_out);
    if (!node) {
        cq_sym_fail(s, s->ex->graph->status);
        return NULL;
    }
    origin       = s->node ? (cq_origin *)s->node->origin : NULL;
    node->origin = origin;
    node->source = s->node ? cq_ir_text(s->ex->graph, s->node->source) : NULL;
    if (s->node) {
        node->notes   = s->node->notes;
        node->n_notes = s->node->n_notes;
    }
    return node;
}

static bool same_type_as_input(const char *op)
{
    static const char *const names[] = {
        "Abs",   "Acos", "Acosh",   "Asin",    "Asinh",    "Atan",     "Atanh",     "Ceil",
        "Clip",  "Cos",  "Cosh",    "Celu",    "Elu",      "Erf",      "Exp",       "Floor",
        "HardSigmoid", "HardSwish", "Identity", "LeakyRelu", "Log", "LogSoftmax", "Neg", "Not",
        "Reciprocal", "Relu", "Round", "Selu", "Sigmoid", "Sign", "Sin", "Sinh", "Softmax",
        "Softplus", "Softsign", "Sqrt", "Tan", "Tanh", "CumSum", "Dropout", "ThresholdedRelu",
        "BitwiseNot", "Trilu", "LpNormalization", "LayerNormalization", "InstanceNormalization",
    };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op, names[i]) == 0)
            return true;
    return false;
}

void cq_sym_op_n(cq_sym *s, const char *op, cq_value *const *in, size_t n_in, const cq_attr *attrs,
                 size_t n_attrs, cq_value **out, size_t n_out)
{
    cq_node *node = cq_sym_node(s, op, in, n_in, n_out);

    for (size_t i = 0; i < n_out; i++)
        out[i] = node ? node->outputs[i] : NULL;
    if (!node)
        return;
    for (size_t i = 0; i < n_attrs; i++)
        if (attrs[i].name)
            cq_sym_fail(s, cq_ir_attr_set(node, attrs[i].name, attrs[i].value));
    if (n_in && in[0] && same_type_as_input(op))
        out[0]->type = in[0]->type;
}

cq_value *cq_sym_op(cq_sym *s, const char *op, cq_value *const *in, size_t n_in,
                    const cq_attr *attrs, size_t n_attrs)
{
    cq_value *out;

    cq_sym_op_n(s, op, in, n_in, attrs, n_attrs, &out, 1);
    return s->status == CQ_OK ? out : NULL;
}

static cq_attr public_attr(cq_sym *s, const cq_sym_attr *a)
{
    switch (a->kind) {
    case CQ_SYM_ATTR_INT: return cq_attr_i(a->name, a->i);
    case CQ_SYM_ATTR_FLOAT: return cq_attr_f(a->name, a->f);
    case CQ_SYM_ATTR_STRING: return cq_attr_s(a->name, a->s);
    case CQ_SYM_ATTR_TENSOR: return cq_attr_t(a->name, a->t);
    case CQ_SYM_ATTR_INTS: return cq_attr_is(s, a->name, a->ints, a->n);
    case CQ_SYM_ATTR_FLOATS: return cq_attr_fs(s, a->name, a->floats, a->n);
    case CQ_SYM_ATTR_STRINGS: return cq_attr_ss(s, a->name, a->strings, a->n);
    }
    cq_sym_fail(s, cq_fail(CQ_E_ARGUMENT, a->name, NULL, "%d is no kind of attribute", (int)a->kind));
    return (cq_attr){ 0 };
}

void cq_sym_emit(cq_sym *s, const char *op, size_t n_in, cq_value *const *in, size_t n_attrs,
                 const cq_sym_attr *attrs, size_t n_out, cq_value **out)
{
    cq_sym_op_n(s, op, in, n_in, NULL, 0, out, n_out);
    for (size_t i = 0; i < n_attrs && s->status == CQ_OK; i++)
        cq_sym_fail(s, cq_ir_attr_set(out[0]->node, attrs[i].name, public_attr(s, &attrs[i]).value));
}

cq_value *cq_sym_emit1(cq_sym *s, const char *op, size_t n_in, cq_value *const *in, size_t n_attrs,
                       const cq_sym_attr *attrs)
{
    cq_value *out = NULL;

    cq_sym_emit(s, op, n_in, in, n_attrs, attrs, 1, &out);
    return s->status == CQ_OK ? out : NULL;
}

cq_block *cq_sym_push_block(cq_sym *s, cq_node *node)
{
    cq_block *b = s->status == CQ_OK && node ? cq_ir_node_block(node) : NULL;

    if (b)
        s->block = b;
    else
        cq_sym_fail(s, CQ_E_NO_MEMORY);
    return b;
}

void cq_sym_pop_block(cq_sym *s, cq_value *const *returns, size_t n)
{
    if (s->status != CQ_OK)
        return;
    for (size_t i = 0; i < n; i++)
        cq_sym_fail(s, cq_vec_push(&s->block->returns, CQ_OPERAND_OF(returns[i])));
    s->block = s->block->owner->block;
}

/* ---- constants ---- */

/* A Constant is of floats until opset 8; initializers always had all types. */
cq_value *cq_sym_const(cq_sym *s, cq_tensor *t)
{
    cq_value *v;

    if (s->status != CQ_OK)
        return NULL;
    if (cq_sym_opset(s) < 9 && !cq_dtype_is_float(t->dtype)) {
        v = cq_ir_constant_new(s->ex->graph, t, false);
        if (!v)
            cq_sym_fail(s, s->ex->graph->status);
        return v;
    }
    v = cq_sym_op(s, "Constant", CQ_NO_IN, CQ_ATTR(cq_attr_t("value", t)));
    if (v)
        v->type = cq_ir_type_of(s->ex->graph, t);
    return v;
}

static cq_value *const_of(cq_sym *s, cq_dtype dtype, size_t rank, int64_t n, const void *data,
                          cq_dtype data_dtype)
{
    cq_tensor *t = NULL, *cast = NULL;
    cq_value  *v = NULL;
    cq_status  status;

    if (s->status != CQ_OK)
        return NULL;
    status = cq_tensor_new(&t, data_dtype, rank, &n, data);
    if (status == CQ_OK && dtype != data_dtype)
        status = cq_tensor_clone(&cast, t, dtype);
    if (status == CQ_OK)
        v = cq_sym_const(s, cast ? cast : t);
    else
        cq_sym_fail(s, status);
    cq_tensor_release(t);
    cq_tensor_release(cast);
    return v;
}

cq_value *cq_sym_const_i64(cq_sym *s, int64_t value)
{
    return const_of(s, CQ_DTYPE_I64, 0, 1, &value, CQ_DTYPE_I64);
}

cq_value *cq_sym_const_i64s(cq_sym *s, const int64_t *values, size_t n)
{
    return const_of(s, CQ_DTYPE_I64, 1, (int64_t)n, values, CQ_DTYPE_I64);
}

cq_value *cq_sym_const_f64(cq_sym *s, cq_dtype dtype, double value)
{
    return const_of(s, dtype, 0, 1, &value, CQ_DTYPE_F64);
}

cq_value *cq_sym_const_f32s(cq_sym *s, const float *values, size_t n)
{
    return const_of(s, CQ_DTYPE_F32, 1, (int64_t)n, values, CQ_DTYPE_F32);
}

/* ---- the end ---- */

cq_status cq_sym_done_n(cq_sym *s, cq_value *const *results, size_t n)
{
    if (s->status != CQ_OK)
        return s->status;
    s->done = cq_arena_array(s->ex->graph->arena, n, sizeof *s->done);
    if (!s->done)
        return cq_sym_fail(s, CQ_E_NO_MEMORY);
    for (size_t i = 0; i < n; i++) {
        cq_type want = i < s->node->n_outputs ? s->node->outputs[i]->type : (cq_type){ 0 };

        s->done[i] = results[i];
        if (!results[i])
            continue;
        if (want.kind == CQ_TYPE_TENSOR && results[i]->type.kind == CQ_TYPE_TENSOR &&
            results[i]->type.dtype != want.dtype)
            s->done[i] = cq_sym_cast(s, results[i], want.dtype);
        /* An input or weight that is passed through keeps its own type. */
        if (s->done[i] && s->done[i]->node && want.kind != CQ_TYPE_UNKNOWN)
            s->done[i]->type = want;
    }
    s->n_done = n;
    return s->status;
}

cq_status cq_sym_done(cq_sym *s, cq_value *result)
{
    return cq_sym_done_n(s, &result, 1);
}
