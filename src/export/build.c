/* Arguments, types, constants and results of symbolic functions in C. Nodes are in emit.c,
 * operators whose form depends on the opset in forms.c, sizes in sizes.c. */
#include "export/exporter.h"

/* ---- failure ---- */

cq_status cq_sym_fail(cq_sym *s, cq_status status)
{
    if (s->status == CQ_OK)
        s->status = status;
    return s->status;
}

void cq_sym_missing(cq_sym *s, const char *function, const char *wanted)
{
    if (!s)
        cq_argument_missing(function, "a symbolic");
    else if (s->status == CQ_OK)
        s->status = cq_argument_missing(function, wanted);
}

cq_status cq_sym_status(const cq_sym *s)
{
    CQ_NEED(s);
    return s->status;
}

cq_status cq_sym_no(cq_sym *s, int first_opset, const char *format, ...)
{
    CQ_SYM_NEED(s, format, CQ_E_ARGUMENT);
    va_list args;

    CQ_TRY(s->status);
    va_start(args, format);
    cq_fail_v(CQ_E_UNSUPPORTED, s->node->op, NULL, format, args);
    va_end(args);
    s->declined       = true;
    s->declined_opset = first_opset;
    return s->status  = CQ_E_UNSUPPORTED;
}

int cq_sym_opset(const cq_sym *s)
{
    CQ_NEED_ELSE(s, 0);
    return s->ex->options.opset;
}

bool cq_sym_since(cq_sym *s, int opset, const char *why)
{
    if (cq_sym_opset(s) < opset)
        cq_sym_no(s, opset, "%s", why);
    return s->status == CQ_OK;
}

/* ---- arguments ---- */

static const cq_operand none_operand = { .kind = CQ_OPERAND_NONE };

static const cq_operand *find(cq_sym *s, const char *arg)
{
    int at = s->op ? cq_schema_find(s->op->schema, arg) : -1;

    if (at >= 0 && (size_t)at < s->node->n_inputs)
        return &s->node->inputs[at];
    cq_sym_fail(
        s, cq_fail(CQ_E_INTERNAL, s->node->op, NULL,
                   "the symbolic function reads argument \"%s\", which the operator does not have",
                   arg));
    return &none_operand;
}

bool cq_sym_is_none(cq_sym *s, const char *arg)
{
    CQ_SYM_NEED(s, arg, true);
    return find(s, arg)->kind == CQ_OPERAND_NONE;
}

bool cq_sym_is_tensor(cq_sym *s, const char *arg)
{
    CQ_SYM_NEED(s, arg, false);
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
    CQ_SYM_NEED(s, arg, NULL);
    return s->status == CQ_OK ? value_of_operand(s, find(s, arg)) : NULL;
}

cq_value *cq_sym_in_as(cq_sym *s, const char *arg, cq_dtype dtype)
{
    CQ_SYM_NEED(s, arg, NULL);
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

bool cq_operand_number(const cq_operand *o, double *f)
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
    if (s->status == CQ_OK && !cq_operand_number(o, &f))
        wrong(s, arg, "an integer");
    return cq_i(s->status == CQ_OK ? (int64_t)f : 0);
}

int64_t cq_sym_i64(cq_sym *s, const char *arg)
{
    CQ_SYM_NEED(s, arg, 0);
    cq_int i = cq_sym_int(s, arg);

    if (i.expr)
        wrong(s, arg, "an integer");
    return i.value;
}

double cq_sym_f64(cq_sym *s, const char *arg)
{
    CQ_SYM_NEED(s, arg, 0);
    double f = 0;

    if (!cq_operand_number(find(s, arg), &f))
        wrong(s, arg, "a number");
    return f;
}

bool cq_sym_bool(cq_sym *s, const char *arg)
{
    CQ_SYM_NEED(s, arg, false);
    double f = 0;

    if (find(s, arg)->kind != CQ_OPERAND_NONE && !cq_operand_number(find(s, arg), &f))
        wrong(s, arg, "a bool");
    return f != 0;
}

const char *cq_sym_str(cq_sym *s, const char *arg, const char *otherwise)
{
    CQ_SYM_NEED(s, arg, otherwise);
    const cq_operand *o = find(s, arg);

    return o->kind == CQ_OPERAND_STR ? o->u.s : otherwise;
}

static const cq_operand *items_of(cq_sym *s, const char *arg, size_t *n, size_t max)
{
    const cq_operand *o = find(s, arg);

    *n = o->kind == CQ_OPERAND_LIST ? o->u.list.n : o->kind != CQ_OPERAND_NONE;
    if (*n > max) {
        cq_sym_no(s, 0, "its argument \"%s\" has too many items (%zu)", arg, *n);
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
            if (!cq_operand_number(&items[i], &f))
                wrong(s, arg, "a list of integers");
            out[i] = cq_i((int64_t)f);
        }
    }
    return n;
}

size_t cq_sym_i64s(cq_sym *s, const char *arg, int64_t *out, size_t max)
{
    CQ_SYM_NEED(s, arg && (out || !max), 0);
    cq_int ints[256];
    size_t n = cq_sym_ints(s, arg, ints, max < 256 ? max : 256);

    for (size_t i = 0; i < n; i++) {
        if (ints[i].expr)
            wrong(s, arg, "a list of integers");
        out[i] = ints[i].value;
    }
    return n;
}

size_t cq_sym_f64s(cq_sym *s, const char *arg, double *out, size_t max)
{
    CQ_SYM_NEED(s, arg && (out || !max), 0);
    size_t            n;
    const cq_operand *items = items_of(s, arg, &n, max);

    for (size_t i = 0; i < n; i++)
        if (!cq_operand_number(&items[i], &out[i]))
            wrong(s, arg, "a list of numbers");
    return n;
}

size_t cq_sym_n_list(cq_sym *s, const char *arg)
{
    CQ_SYM_NEED(s, arg, 0);
    size_t n;

    items_of(s, arg, &n, SIZE_MAX);
    return n;
}

cq_value *cq_sym_in_at(cq_sym *s, const char *arg, size_t i)
{
    CQ_SYM_NEED(s, arg, NULL);
    size_t            n;
    const cq_operand *items = items_of(s, arg, &n, SIZE_MAX);

    return i < n && s->status == CQ_OK ? value_of_operand(s, &items[i]) : NULL;
}

/* ---- results and types ---- */

size_t cq_sym_n_results(const cq_sym *s)
{
    CQ_NEED_ELSE(s, 0);
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
    CQ_NEED_ELSE(s, 0);
    if (s->status != CQ_OK || !v)
        return 0;
    if (v->type.kind == CQ_TYPE_INT || v->type.kind == CQ_TYPE_FLOAT ||
        v->type.kind == CQ_TYPE_BOOL)
        return 0;
    if (v->type.kind != CQ_TYPE_TENSOR || v->type.rank < 0) {
        cq_sym_no(s, 0, "the number of dimensions of an input is not known");
        return 0;
    }
    return v->type.rank;
}

cq_dtype cq_sym_dtype(cq_sym *s, const cq_value *v)
{
    CQ_NEED_ELSE(s, CQ_DTYPE_F32);
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
    CQ_NEED_ELSE(s, cq_i(1));
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
    CQ_SYM_NEED(s, rank <= CQ_MAX_RANK && (sizes || !rank), );
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

/* ---- constants ---- */

/* Until opset 8 a Constant must be float; initializers may have any type. */
cq_value *cq_sym_const(cq_sym *s, cq_tensor *t)
{
    CQ_SYM_NEED(s, t, NULL);
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
    CQ_NEED_ELSE(s, NULL);
    return const_of(s, CQ_DTYPE_I64, 0, 1, &value, CQ_DTYPE_I64);
}

cq_value *cq_sym_const_i64s(cq_sym *s, const int64_t *values, size_t n)
{
    CQ_SYM_NEED(s, values || !n, NULL);
    return const_of(s, CQ_DTYPE_I64, 1, (int64_t)n, values, CQ_DTYPE_I64);
}

cq_value *cq_sym_const_f64(cq_sym *s, cq_dtype dtype, double value)
{
    CQ_NEED_ELSE(s, NULL);
    return const_of(s, dtype, 0, 1, &value, CQ_DTYPE_F64);
}

cq_value *cq_sym_const_f32s(cq_sym *s, const float *values, size_t n)
{
    return const_of(s, CQ_DTYPE_F32, 1, (int64_t)n, values, CQ_DTYPE_F32);
}

/* ---- the end ---- */

cq_status cq_sym_done_n(cq_sym *s, cq_value *const *results, size_t n)
{
    CQ_SYM_NEED(s, results || !n, CQ_E_ARGUMENT);
    CQ_TRY(s->status);
    if (s->n_open)
        return cq_sym_fail(s, cq_fail(CQ_E_ARGUMENT, s->node->op, "call cq_sym_graph_end for each",
                                      "%zu graphs were begun but not ended", s->n_open));
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
    CQ_NEED(s);
    return cq_sym_done_n(s, &result, 1);
}
