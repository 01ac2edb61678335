/* Evaluating rules: what is known when the model is exported is computed, the rest becomes nodes.
 * A name's value is made when it is first used, so that what only one side of a choice needs is
 * not made for the other. */
#include "export/symbolic/rule.h"
#include "export/symbolic/arith.h"
#include "onnx/schema.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

enum { MAX_INPUTS = 256 }; /* of a node */

/* ---- terms ---- */

cq_rule_term cq_rule_term_of_value(cq_value *v)
{
    return (cq_rule_term){ .kind = v ? CQ_RULE_TERM_VALUE : CQ_RULE_TERM_NONE, .u.v = v };
}

cq_rule_term cq_rule_term_of_i64(int64_t i)
{
    return (cq_rule_term){ .kind = CQ_RULE_TERM_INT, .u.i = cq_i(i) };
}

cq_rule_term cq_rule_term_of_bool(bool b)
{
    return (cq_rule_term){ .kind = CQ_RULE_TERM_BOOL, .u.b = b };
}

static cq_rule_term of_f64(double f)
{
    return (cq_rule_term){ .kind = CQ_RULE_TERM_FLOAT, .u.f = f };
}

cq_rule_term cq_rule_term_of_list(cq_rule_run *r, size_t n)
{
    cq_rule_term t = { .kind = CQ_RULE_TERM_LIST, .u.list.n = n };

    t.u.list.items = cq_arena_array(r->s->ex->scratch, n, sizeof *t.u.list.items);
    if (!t.u.list.items) {
        t.u.list.n = 0;
        cq_sym_fail(r->s, CQ_E_NO_MEMORY);
    }
    return t;
}

void cq_rule_wrong(cq_rule_run *r, const cq_rule_expr *e, const char *wanted)
{
    if (r->s->status != CQ_OK)
        return;
    cq_sym_fail(r->s, cq_fail(CQ_E_SYNTAX, NULL, "docs/rules.md has the grammar of rules",
                              "a rule wants %s%s%s", wanted, e && e->text ? " in " : "",
                              e && e->text ? e->text : ""));
    cq_error_add_excerpt(CQ_E_SYNTAX, "%s", r->rule->source);
}

bool cq_rule_term_number(const cq_rule_term *t, double *f)
{
    switch (t->kind) {
    case CQ_RULE_TERM_BOOL: *f = t->u.b; return true;
    case CQ_RULE_TERM_INT: *f = (double)t->u.i.value; return t->u.i.expr == NULL;
    case CQ_RULE_TERM_FLOAT: *f = t->u.f; return true;
    case CQ_RULE_TERM_VALUE: return t->operand && cq_operand_number(t->operand, f);
    default: return false;
    }
}

static cq_dtype number_dtype(cq_rule_run *r, const cq_value *like)
{
    cq_dtype d = like ? cq_sym_dtype(r->s, like) : CQ_DTYPE_NONE;

    return d == CQ_DTYPE_NONE ? r->dtype : d;
}

cq_value *cq_rule_term_value(cq_rule_run *r, const cq_rule_term *t, const cq_value *like)
{
    cq_sym  *s = r->s;
    cq_int   ints[256];
    size_t   n;
    cq_dtype dtype;

    if (s->status != CQ_OK)
        return NULL;
    switch (t->kind) {
    case CQ_RULE_TERM_VALUE: return t->u.v;
    case CQ_RULE_TERM_NONE: return NULL;
    case CQ_RULE_TERM_BOOL: return cq_sym_const_f64(s, number_dtype(r, like), t->u.b);
    case CQ_RULE_TERM_FLOAT: return cq_sym_const_f64(s, number_dtype(r, like), t->u.f);
    case CQ_RULE_TERM_INT:
        dtype = number_dtype(r, like);
        if (t->u.i.expr)
            return cq_sym_cast(s, cq_sym_of_int(s, t->u.i), dtype);
        return dtype == CQ_DTYPE_I64 ? cq_sym_const_i64(s, t->u.i.value)
                                     : cq_sym_const_f64(s, dtype, (double)t->u.i.value);
    case CQ_RULE_TERM_LIST:
        if (cq_rule_term_ints(r, t, ints, &n, 256))
            return cq_sym_of_ints(s, ints, n);
        break;
    default: break;
    }
    cq_rule_wrong(r, NULL, "a tensor or a number as an input");
    return NULL;
}

bool cq_rule_term_ints(cq_rule_run *r, const cq_rule_term *t, cq_int *out, size_t *n, size_t max)
{
    const cq_rule_term *items = t->kind == CQ_RULE_TERM_LIST ? t->u.list.items : t;

    *n = t->kind == CQ_RULE_TERM_LIST ? t->u.list.n : 1;
    if (r->s->status != CQ_OK || *n > max)
        return false;
    for (size_t i = 0; i < *n; i++) {
        double f;

        if (items[i].kind == CQ_RULE_TERM_INT)
            out[i] = items[i].u.i;
        else if (cq_rule_term_number(&items[i], &f) && f == floor(f))
            out[i] = cq_i((int64_t)f);
        else
            return false;
    }
    return true;
}

bool cq_rule_term_axes(const cq_rule_term *t, int64_t *out, size_t *n, size_t max)
{
    const cq_rule_term *items = t->kind == CQ_RULE_TERM_LIST ? t->u.list.items : t;

    *n = t->kind == CQ_RULE_TERM_LIST ? t->u.list.n : 1;
    for (size_t i = 0; i < *n && *n <= max; i++) {
        double f;

        if (!cq_rule_term_number(&items[i], &f))
            return false;
        out[i] = (int64_t)f;
    }
    return *n <= max;
}

cq_dtype cq_rule_term_dtype(cq_rule_run *r, const cq_rule_term *t)
{
    cq_dtype d = t->kind == CQ_RULE_TERM_DTYPE  ? t->u.dtype
                 : t->kind == CQ_RULE_TERM_TEXT ? cq_dtype_from_name(t->u.s)
                                                : CQ_DTYPE_NONE;

    if (d == CQ_DTYPE_NONE)
        cq_rule_wrong(r, NULL, "a dtype, as in \"float32\"");
    return d;
}

/* ---- arguments ---- */

static cq_rule_term term_of_operand(cq_rule_run *r, const cq_operand *o, bool is_dtype)
{
    cq_rule_term t = { .operand = o };

    switch (o->kind) {
    case CQ_OPERAND_VALUE:
        t.kind = CQ_RULE_TERM_VALUE;
        t.u.v  = cq_sym_value(r->s, o->u.value);
        if (r->each)
            t.u.v = cq_sym_cast(r->s, t.u.v, r->dtype);
        return t;
    case CQ_OPERAND_INT:
        t.kind = is_dtype ? CQ_RULE_TERM_DTYPE : CQ_RULE_TERM_INT;
        if (is_dtype)
            t.u.dtype = cq_dtype_from_torch(o->u.i.value);
        else
            t.u.i = o->u.i;
        return t;
    case CQ_OPERAND_FLOAT: return of_f64(o->u.f);
    case CQ_OPERAND_BOOL: return cq_rule_term_of_bool(o->u.b);
    case CQ_OPERAND_STR: return (cq_rule_term){ .kind = CQ_RULE_TERM_TEXT, .u.s = o->u.s };
    case CQ_OPERAND_LIST:
        t = cq_rule_term_of_list(r, o->u.list.n);
        for (size_t i = 0; i < t.u.list.n; i++)
            t.u.list.items[i] = term_of_operand(r, &o->u.list.items[i], false);
        return t;
    default: return (cq_rule_term){ .kind = CQ_RULE_TERM_NONE };
    }
}

int cq_rule_argument(const cq_sym *s, const char *name)
{
    int at = s->op ? cq_schema_find(s->op->schema, name) : -1;

    if (at < 0 && name[0] == 'x' && isdigit((unsigned char)name[1]))
        at = (int)strtol(name + 1, NULL, 10);
    return at >= 0 && (size_t)at < s->node->n_inputs ? at : -1;
}

static cq_rule_term argument(cq_rule_run *r, const cq_rule_expr *e)
{
    const cq_schema *schema = r->s->op ? r->s->op->schema : NULL;
    int              at     = cq_rule_argument(r->s, e->text);

    if (at < 0) {
        if (r->s->status == CQ_OK)
            cq_sym_fail(
                r->s, cq_fail(CQ_E_SYNTAX, NULL,
                              "arguments have the names of the operator's schema, or are x0, x1, … "
                              "in order",
                              "the operator has no argument \"%s\"", e->text));
        cq_error_add_excerpt(CQ_E_SYNTAX, "%s", r->rule->source);
        return (cq_rule_term){ 0 };
    }
    if (!r->have_arg[at]) {
        bool is_dtype = schema && (size_t)at < schema->n_args && schema->args[at].type.is_dtype;

        r->args[at]     = term_of_operand(r, &r->s->node->inputs[at], is_dtype);
        r->have_arg[at] = true;
    }
    return r->args[at];
}

/* ---- operators ---- */

static const cq_onnx_schema *schema_of(cq_rule_run *r, const char *op)
{
    const cq_onnx_schema *schema = NULL;

    if (!strstr(op, "::"))
        cq_sym_fail(r->s, cq_onnx_schema_find(&schema, "", op, cq_sym_opset(r->s)));
    return schema;
}

static cq_attr list_attribute(cq_rule_run *r, const char *name, const cq_rule_term *t, bool floats)
{
    int64_t     ints[256];
    double      numbers[256];
    const char *texts[256];
    size_t      n = t->u.list.n, n_texts = 0;
    bool        numeric = n <= 256;

    for (size_t i = 0; i < n && n <= 256; i++) {
        const cq_rule_term *item = &t->u.list.items[i];

        if (item->kind == CQ_RULE_TERM_TEXT)
            texts[n_texts++] = item->u.s;
        numeric &= cq_rule_term_number(item, &numbers[i]);
        floats |= item->kind == CQ_RULE_TERM_FLOAT;
        ints[i] = numeric ? (int64_t)numbers[i] : 0;
    }
    if (n && n_texts == n)
        return cq_attr_ss(r->s, name, texts, n);
    if (!numeric)
        cq_sym_no(r->s, 0, "attribute \"%s\" must be known when the model is exported", name);
    if (r->s->status != CQ_OK)
        return (cq_attr){ 0 };
    return floats ? cq_attr_fs(r->s, name, numbers, n) : cq_attr_is(r->s, name, ints, n);
}

/* The schema's type decides where it is known, else how the value is written. */
static cq_attr attribute(cq_rule_run *r, const cq_onnx_schema *schema, const char *name,
                         cq_rule_term t)
{
    const cq_onnx_schema_attribute *a = schema ? cq_onnx_schema_attr(schema, name) : NULL;
    bool   is_float = a ? a->type == CQ_ONNX_ATTR_FLOAT || a->type == CQ_ONNX_ATTR_FLOATS
                        : t.kind == CQ_RULE_TERM_FLOAT;
    double f;

    if (t.kind == CQ_RULE_TERM_NONE || r->s->status != CQ_OK)
        return (cq_attr){ 0 };
    if (t.kind == CQ_RULE_TERM_DTYPE ||
        (t.kind == CQ_RULE_TERM_TEXT && a && a->type == CQ_ONNX_ATTR_INT))
        return cq_attr_i(name, cq_dtype_to_onnx(cq_rule_term_dtype(r, &t)));
    if (t.kind == CQ_RULE_TERM_TEXT)
        return cq_attr_s(name, t.u.s);
    if (t.kind == CQ_RULE_TERM_LIST)
        return list_attribute(r, name, &t, is_float);
    if (!cq_rule_term_number(&t, &f)) {
        cq_sym_no(r->s, 0, "attribute \"%s\" must be known when the model is exported", name);
        return (cq_attr){ 0 };
    }
    if (is_float)
        return cq_attr_f(name, f);
    return cq_attr_i(name, t.kind == CQ_RULE_TERM_INT ? t.u.i.value : (int64_t)f);
}

/* Gives outputs the dtypes that the schema says: one of their own, or that of an input. */
static void set_dtypes(cq_rule_run *r, const cq_onnx_schema *schema, cq_value *const *in,
                       size_t n_in, cq_value *const *out, size_t n_out)
{
    for (size_t k = 0; schema && k < n_out; k++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(schema->outputs, schema->n_outputs, k);

        if (!p || !out[k] || out[k]->type.kind != CQ_TYPE_UNKNOWN)
            continue;
        if (p->constraint < 0 && strcmp(p->type, "i64") == 0)
            cq_sym_set_dtype(r->s, out[k], CQ_DTYPE_I64);
        if (p->constraint < 0 && strcmp(p->type, "bool") == 0)
            cq_sym_set_dtype(r->s, out[k], CQ_DTYPE_BOOL);
        for (size_t i = 0; i < n_in && p->constraint >= 0; i++) {
            const cq_onnx_parameter *q = cq_onnx_parameter_at(schema->inputs, schema->n_inputs, i);

            if (in[i] && q && q->constraint == p->constraint) {
                cq_sym_set_dtype(r->s, out[k], cq_sym_dtype(r->s, in[i]));
                break;
            }
        }
    }
}

/* Numbers among the inputs take the dtype of the first tensor beside them in element-wise
 * operators, and that of the operator's first tensor elsewhere. */
static void plain_node(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *in, size_t n_in,
                       cq_value **out, size_t n_out)
{
    const cq_onnx_schema *schema = NULL;
    bool                  fits   = n_in && (int)n_in == cq_sym_arity(e->text) && n_out == 1;
    cq_value             *values[MAX_INPUTS], *like = NULL;
    cq_attr               attrs[64];

    if (!fits || e->n_attrs)
        schema = schema_of(r, e->text);
    for (size_t i = 0; i < n_in && fits && !like; i++)
        like = in[i].kind == CQ_RULE_TERM_VALUE ? in[i].u.v : NULL;
    for (size_t i = 0; i < n_in; i++)
        values[i] = cq_rule_term_value(r, &in[i], like);
    for (size_t i = 0; i < e->n_attrs; i++)
        attrs[i] = attribute(r, schema, e->attr_names[i], cq_rule_eval(r, e->attrs[i]));
    if (fits) {
        out[0] = cq_sym_apply(r->s, e->text, values, n_in, attrs, e->n_attrs);
        return;
    }
    cq_sym_op_n(r->s, e->text, values, n_in, attrs, e->n_attrs, out, n_out);
    set_dtypes(r, schema, values, n_in, out, n_out);
}

/* A list of tensors among the inputs is as many inputs. */
static void operator(cq_rule_run *r, const cq_rule_expr *e, cq_value **out, size_t n_out)
{
    cq_rule_term in[MAX_INPUTS];
    size_t       n = 0;

    for (size_t i = 0; i < n_out; i++)
        out[i] = NULL;
    for (size_t i = 0; i < e->n && r->s->status == CQ_OK; i++) {
        cq_rule_term t       = cq_rule_eval(r, e->items[i]);
        bool         tensors = t.kind == CQ_RULE_TERM_LIST && t.u.list.n &&
                       t.u.list.items[0].kind == CQ_RULE_TERM_VALUE;
        size_t many = tensors ? t.u.list.n : 1;

        if (n + many > MAX_INPUTS) {
            cq_sym_no(r->s, 0, "it has too many inputs");
            return;
        }
        for (size_t k = 0; k < many; k++)
            in[n++] = tensors ? t.u.list.items[k] : t;
    }
    if (r->s->status != CQ_OK)
        return;
    if (!e->form || !cq_rule_form_apply(&(cq_rule_form_call){ r, e, in, n, out, n_out }))
        plain_node(r, e, in, n, out, n_out);
}

/* How many results an operator can be asked for. */
static size_t most_outputs(cq_rule_run *r, const cq_rule_expr *e, size_t asked)
{
    const cq_onnx_schema *schema = asked > 1 ? schema_of(r, e->text) : NULL;

    return schema && schema->max_outputs < asked ? schema->max_outputs : asked;
}

/* ---- signs ---- */

static bool is_number(const cq_rule_term *t)
{
    return t->kind == CQ_RULE_TERM_BOOL || t->kind == CQ_RULE_TERM_INT ||
           t->kind == CQ_RULE_TERM_FLOAT;
}

static cq_rule_term arithmetic(cq_rule_run *r, cq_rule_sign sign, const cq_rule_term *a,
                               const cq_rule_term *b)
{
    cq_symbols *symbols = &r->s->ex->source->symbols;
    double      x = 0, y = 0;

    if (a->kind == CQ_RULE_TERM_INT && b->kind == CQ_RULE_TERM_INT && sign != CQ_RULE_DIV) {
        cq_int i = sign == CQ_RULE_ADD    ? cq_int_add(symbols, a->u.i, b->u.i)
                   : sign == CQ_RULE_SUB  ? cq_int_sub(symbols, a->u.i, b->u.i)
                   : sign == CQ_RULE_MUL  ? cq_int_mul(symbols, a->u.i, b->u.i)
                   : cq_int_is(b->u.i, 0) ? cq_i(0)
                                          : cq_int_floordiv(symbols, a->u.i, b->u.i);

        return (cq_rule_term){ .kind = CQ_RULE_TERM_INT, .u.i = i };
    }
    if (!cq_rule_term_number(a, &x) || !cq_rule_term_number(b, &y))
        cq_sym_no(r->s, 0, "a size must be known when the model is exported");
    return of_f64(sign == CQ_RULE_ADD   ? x + y
                  : sign == CQ_RULE_SUB ? x - y
                  : sign == CQ_RULE_MUL ? x * y
                  : sign == CQ_RULE_DIV ? x / y
                                        : floor(x / y));
}

static bool is_the_number(const cq_rule_term *t, double number)
{
    double f;

    return is_number(t) && cq_rule_term_number(t, &f) && f == number;
}

/* Between tensors, or a tensor and a number, signs are the element-wise operators of ONNX. */
static cq_rule_term element_wise(cq_rule_run *r, cq_rule_sign sign, const cq_rule_term *a,
                                 const cq_rule_term *b)
{
    static const char *const ops[] = {
        [CQ_RULE_ADD] = "Add", [CQ_RULE_SUB] = "Sub", [CQ_RULE_MUL] = "Mul", [CQ_RULE_DIV] = "Div"
    };
    const cq_value *like = a->kind == CQ_RULE_TERM_VALUE ? a->u.v : b->u.v;
    cq_value       *x, *y;

    if (sign != CQ_RULE_FLOORDIV && is_the_number(b, sign < CQ_RULE_FLOORDIV ? 0 : 1))
        return *a; /* x + 0, x - 0, x * 1, x / 1 */
    if (sign == CQ_RULE_MUL && is_the_number(a, 1))
        return *b;
    x = cq_rule_term_value(r, a, like);
    y = cq_rule_term_value(r, b, like);
    if (sign == CQ_RULE_FLOORDIV)
        return cq_rule_term_of_value(cq_sym_floor_divide(r->s, x, y));
    return cq_rule_term_of_value(cq_sym_apply(r->s, ops[sign], CQ_IN(x, y), CQ_NO_ATTR));
}

static bool same(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *a,
                 const cq_rule_term *b)
{
    double x, y;

    if (a->kind == CQ_RULE_TERM_NONE || b->kind == CQ_RULE_TERM_NONE)
        return a->kind == b->kind;
    if (a->kind == CQ_RULE_TERM_DTYPE || b->kind == CQ_RULE_TERM_DTYPE)
        return cq_rule_term_dtype(r, a) == cq_rule_term_dtype(r, b);
    if (a->kind == CQ_RULE_TERM_TEXT && b->kind == CQ_RULE_TERM_TEXT)
        return strcmp(a->u.s, b->u.s) == 0;
    if (a->kind == CQ_RULE_TERM_INT && b->kind == CQ_RULE_TERM_INT)
        return cq_int_same(a->u.i, b->u.i);
    if (cq_rule_term_number(a, &x) && cq_rule_term_number(b, &y))
        return x == y;
    if (a->kind == CQ_RULE_TERM_LIST && b->kind == CQ_RULE_TERM_LIST) {
        bool all = a->u.list.n == b->u.list.n;

        for (size_t i = 0; all && i < a->u.list.n; i++)
            all = same(r, e, &a->u.list.items[i], &b->u.list.items[i]);
        return all;
    }
    if (a->kind == CQ_RULE_TERM_INT || b->kind == CQ_RULE_TERM_INT)
        return false; /* a size that is not fixed, and a number */
    if (a->kind == CQ_RULE_TERM_VALUE || b->kind == CQ_RULE_TERM_VALUE)
        cq_sym_no(r->s, 0,
                  "a number that decides how it is written must be known when the model "
                  "is exported");
    else
        cq_rule_wrong(r, e, "numbers, texts or None to compare");
    return false;
}

static bool compare(cq_rule_run *r, const cq_rule_expr *e, const cq_rule_term *a,
                    const cq_rule_term *b)
{
    double x = 0, y = 0;

    if (e->sign == CQ_RULE_EQUAL || e->sign == CQ_RULE_UNEQUAL)
        return same(r, e, a, b) == (e->sign == CQ_RULE_EQUAL);
    if (!cq_rule_term_number(a, &x) || !cq_rule_term_number(b, &y))
        cq_sym_no(r->s, 0,
                  "a number that decides how it is written must be known when the model "
                  "is exported");
    return e->sign == CQ_RULE_LESS      ? x < y
           : e->sign == CQ_RULE_GREATER ? x > y
           : e->sign == CQ_RULE_AT_MOST ? x <= y
                                        : x >= y;
}

static bool is_true(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = cq_rule_eval(r, e);
    double       f = 0;

    if (t.kind == CQ_RULE_TERM_NONE)
        return false;
    if (!cq_rule_term_number(&t, &f))
        cq_sym_no(r->s, 0, "a condition must be known when the model is exported");
    return f != 0;
}

static cq_rule_term joined(cq_rule_run *r, const cq_rule_term *a, const cq_rule_term *b)
{
    cq_rule_term t = cq_rule_term_of_list(r, a->u.list.n + b->u.list.n);

    for (size_t i = 0; i < t.u.list.n; i++)
        t.u.list.items[i] = i < a->u.list.n ? a->u.list.items[i] : b->u.list.items[i - a->u.list.n];
    return t;
}

static cq_rule_term binary(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term a, b;

    if (e->sign == CQ_RULE_OR || e->sign == CQ_RULE_AND) {
        bool first = is_true(r, e->items[0]);

        return cq_rule_term_of_bool(first == (e->sign == CQ_RULE_OR) ? first
                                                                     : is_true(r, e->items[1]));
    }
    a = cq_rule_eval(r, e->items[0]);
    b = cq_rule_eval(r, e->items[1]);
    if (r->s->status != CQ_OK)
        return (cq_rule_term){ 0 };
    if (e->sign <= CQ_RULE_GREATER)
        return cq_rule_term_of_bool(compare(r, e, &a, &b));
    if (is_number(&a) && is_number(&b))
        return arithmetic(r, e->sign, &a, &b);
    if (a.kind == CQ_RULE_TERM_LIST && b.kind == CQ_RULE_TERM_LIST && e->sign == CQ_RULE_ADD)
        return joined(r, &a, &b);
    if ((a.kind == CQ_RULE_TERM_VALUE || is_number(&a)) &&
        (b.kind == CQ_RULE_TERM_VALUE || is_number(&b)))
        return element_wise(r, e->sign, &a, &b);
    cq_rule_wrong(r, e, "numbers or tensors beside a sign");
    return (cq_rule_term){ 0 };
}

static cq_rule_term negative(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term t = cq_rule_eval(r, e->items[0]);
    double       f;

    if (t.kind == CQ_RULE_TERM_VALUE)
        return cq_rule_term_of_value(cq_sym_apply(r->s, "Neg", CQ_IN(t.u.v), CQ_NO_ATTR));
    if (t.kind == CQ_RULE_TERM_INT)
        return arithmetic(r, CQ_RULE_SUB, &(cq_rule_term){ .kind = CQ_RULE_TERM_INT }, &t);
    if (cq_rule_term_number(&t, &f))
        return of_f64(-f);
    cq_rule_wrong(r, e, "a number or a tensor after -");
    return (cq_rule_term){ 0 };
}

static cq_rule_term index_of(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term list = cq_rule_eval(r, e->items[0]), at = cq_rule_eval(r, e->items[1]);
    double       f = 0;

    if (r->s->status != CQ_OK)
        return (cq_rule_term){ 0 };
    if (list.kind != CQ_RULE_TERM_LIST || !cq_rule_term_number(&at, &f))
        cq_rule_wrong(r, e, "a list and a number before and in [ ]");
    else if ((f < 0 ? f += (double)list.u.list.n : f) < 0 || f >= (double)list.u.list.n)
        cq_sym_no(r->s, 0, "a list of %zu has no item %g", list.u.list.n, f);
    else
        return list.u.list.items[(size_t)f];
    return (cq_rule_term){ 0 };
}

/* ---- names and results ---- */

/* n values of one expression: an operator's outputs, or a list's items. Returns how many. */
static size_t eval_n(cq_rule_run *r, const cq_rule_expr *e, cq_rule_term *out, size_t n)
{
    cq_value    *values[64];
    cq_rule_term t;

    if (e->kind == CQ_RULE_CHOICE)
        return eval_n(r, is_true(r, e->items[0]) ? e->items[1] : e->items[2], out, n);
    if (e->kind == CQ_RULE_OPERATOR && n <= 64) {
        n = most_outputs(r, e, n);
        operator(r, e, values, n);
        for (size_t i = 0; i < n; i++)
            out[i] = cq_rule_term_of_value(values[i]);
        return n;
    }
    t = cq_rule_eval(r, e);
    if (t.kind != CQ_RULE_TERM_LIST) {
        out[0] = t;
        return 1;
    }
    for (size_t i = 0; i < n && i < t.u.list.n; i++)
        out[i] = t.u.list.items[i];
    return t.u.list.n < n ? t.u.list.n : n;
}

static cq_rule_term named(cq_rule_run *r, size_t slot)
{
    const cq_rule_let *l = r->rule->lets;

    if (!r->have_slot[slot]) {
        while (slot >= l->slot + l->n)
            l++;
        if (l->n == 1)
            r->slots[slot] = cq_rule_eval(r, l->value);
        else if (eval_n(r, l->value, &r->slots[l->slot], l->n) != l->n)
            cq_rule_wrong(r, l->value, "as many values as names");
        for (size_t i = 0; i < l->n; i++)
            r->have_slot[l->slot + i] = true;
    }
    return r->slots[slot];
}

static cq_rule_term each_item(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_term list = cq_rule_eval(r, e->items[1]), out;
    size_t       n    = 0;

    if (list.kind != CQ_RULE_TERM_LIST)
        cq_rule_wrong(r, e, "a list after in");
    out = cq_rule_term_of_list(r, r->s->status == CQ_OK ? list.u.list.n : 0);
    for (size_t i = 0; i < out.u.list.n && r->s->status == CQ_OK; i++) {
        if (++*r->n_items > CQ_RULE_MAX_LISTED)
            cq_rule_wrong(r, e, "fewer items");
        r->slots[e->slot]     = list.u.list.items[i];
        r->have_slot[e->slot] = true;
        if (e->n < 3 || is_true(r, e->items[2]))
            out.u.list.items[n++] = cq_rule_eval(r, e->items[0]);
    }
    out.u.list.n = n;
    return out;
}

/* What a rule needs while it is evaluated. */
static bool open_slots(cq_rule_run *r, const cq_rule *rule)
{
    cq_arena *arena = r->s->ex->scratch;

    r->rule      = rule;
    r->slots     = cq_arena_array(arena, rule->n_slots, sizeof *r->slots);
    r->have_slot = cq_arena_array(arena, rule->n_slots, sizeof *r->have_slot);
    if (!r->slots || !r->have_slot)
        cq_sym_fail(r->s, CQ_E_NO_MEMORY);
    return r->s->status == CQ_OK;
}

/* Parameters that are not given are None; several results are a list. */
static cq_rule_term call_text(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_rule_run  inner = *r;
    cq_rule_term out   = { 0 };

    if (!open_slots(&inner, e->body))
        return out;
    for (size_t i = 0; i < e->function->most; i++) {
        inner.slots[i]     = i < e->n ? cq_rule_eval(r, e->items[i]) : out;
        inner.have_slot[i] = true;
    }
    if (e->body->n_results == 1)
        return cq_rule_eval(&inner, e->body->results[0]);
    out = cq_rule_term_of_list(r, e->body->n_results);
    for (size_t i = 0; i < out.u.list.n; i++)
        out.u.list.items[i] = cq_rule_eval(&inner, e->body->results[i]);
    return out;
}

cq_rule_term cq_rule_eval(cq_rule_run *r, const cq_rule_expr *e)
{
    cq_value    *v;
    cq_rule_term t;

    if (r->s->status != CQ_OK)
        return (cq_rule_term){ 0 };
    switch (e->kind) {
    case CQ_RULE_NUMBER: return e->is_whole ? cq_rule_term_of_i64(e->whole) : of_f64(e->number);
    case CQ_RULE_TEXT: return (cq_rule_term){ .kind = CQ_RULE_TERM_TEXT, .u.s = e->text };
    case CQ_RULE_NONE: return (cq_rule_term){ 0 };
    case CQ_RULE_BOOL: return cq_rule_term_of_bool(e->is_whole);
    case CQ_RULE_ARGUMENT: return argument(r, e);
    case CQ_RULE_NAME: return named(r, e->slot);
    case CQ_RULE_LIST:
        t = cq_rule_term_of_list(r, e->n);
        for (size_t i = 0; i < t.u.list.n; i++)
            t.u.list.items[i] = cq_rule_eval(r, e->items[i]);
        return t;
    case CQ_RULE_OPERATOR: operator(r, e, &v, 1); return cq_rule_term_of_value(v);
    case CQ_RULE_EACH: return each_item(r, e);
    case CQ_RULE_FUNCTION: return e->body ? call_text(r, e) : cq_rule_call(r, e);
    case CQ_RULE_NOT: return cq_rule_term_of_bool(!is_true(r, e->items[0]));
    case CQ_RULE_NEGATIVE: return negative(r, e);
    case CQ_RULE_BINARY: return binary(r, e);
    case CQ_RULE_CHOICE: return cq_rule_eval(r, e->items[is_true(r, e->items[0]) ? 1 : 2]);
    case CQ_RULE_INDEX: return index_of(r, e);
    }
    return (cq_rule_term){ 0 };
}

static cq_dtype first_dtype(cq_sym *s)
{
    for (size_t i = 0; i < s->node->n_inputs; i++)
        if (s->node->inputs[i].kind == CQ_OPERAND_VALUE)
            return cq_sym_dtype(s, s->node->inputs[i].u.value);
    return CQ_DTYPE_F32;
}

/* Results that nobody reads are not made, unless one node gives all of them. */
static cq_status results(cq_rule_run *r, cq_rule_term *out, cq_value **values, size_t n)
{
    const cq_rule *rule = r->rule;

    if (rule->n_results == 1) {
        n = eval_n(r, rule->results[0], out, n);
    } else if (rule->n_results == n) {
        for (size_t i = 0; i < n; i++)
            out[i] = cq_sym_result_used(r->s, i) ? cq_rule_eval(r, rule->results[i])
                                                 : (cq_rule_term){ 0 };
    } else {
        cq_sym_no(r->s, 0, "the rule gives %zu results and the operator has %zu", rule->n_results,
                  n);
    }
    for (size_t i = 0; i < n && r->s->status == CQ_OK; i++)
        values[i] = cq_rule_term_value(r, &out[i], NULL);
    return cq_sym_done_n(r->s, values, n);
}

cq_status cq_rule_apply(cq_sym *s, const cq_rule *rule, bool each)
{
    size_t        n = cq_sym_n_results(s), n_items = 0;
    cq_rule_run   r = { .s       = s,
                        .each    = each,
                        .dtype   = each ? cq_sym_operand_dtype(s) : first_dtype(s),
                        .n_items = &n_items };
    cq_rule_term *out;
    cq_value    **values;
    cq_status     status;

    if (!s->ex->scratch && !(s->ex->scratch = cq_arena_new()))
        return cq_sym_fail(s, CQ_E_NO_MEMORY);
    out        = cq_arena_array(s->ex->scratch, n, sizeof *out);
    values     = cq_arena_array(s->ex->scratch, n, sizeof *values);
    r.args     = cq_arena_array(s->ex->scratch, s->node->n_inputs, sizeof *r.args);
    r.have_arg = cq_arena_array(s->ex->scratch, s->node->n_inputs, sizeof *r.have_arg);
    status     = out && values && r.args && r.have_arg && open_slots(&r, rule)
                     ? results(&r, out, values, n)
                     : cq_sym_fail(s, CQ_E_NO_MEMORY);
    cq_arena_reset(s->ex->scratch);
    return status;
}
