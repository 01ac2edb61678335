/* Runs symbolic functions (host.h): names, operators, conversions of values. */
#include "export/symbolic/host.h"
#include "export/passes/fuse.h"
#include "export/symbolic/arith.h"
#include "base/warn.h"
#include "onnx/compose/compose.h"
#include "onnx/schema.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

enum { MAX_ROW = 256, MAX_USER_STEPS = 200000 };

static const char helpers[] = "onnx.symbolic_helper";

cq_val cq_sym_wrong(cq_sym_run *r, const char *format, ...)
{
    char    message[256];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return cq_lang_fail(&r->lang, CQ_E_SYNTAX, "%s", message);
}

/* ---- values of the graph ---- */

typedef struct graph_box {
    cq_box            box;
    cq_value         *v; /* NULL: an argument that was not read yet */
    const cq_operand *operand;
} graph_box;

/* Boxes live in the arena of the evaluation, which holds a reference. */
static void free_graph(cq_box *box)
{
    (void)box;
}

static cq_val new_box(cq_sym_run *r, cq_value *v, const cq_operand *operand)
{
    graph_box *b = cq_arena_zalloc(r->s->ex->scratch, sizeof *b);

    if (!b) {
        cq_sym_fail(r->s, CQ_E_NO_MEMORY);
        return CQ_NONE;
    }
    b->box.refs = 1;
    b->box.free = free_graph;
    b->v        = v;
    b->operand  = operand;
    return cq_val_of_box(&b->box);
}

cq_val cq_val_of_graph(cq_sym_run *r, cq_value *v)
{
    return v ? new_box(r, v, NULL) : CQ_NONE;
}

cq_val cq_val_of_dtype(cq_dtype dtype)
{
    return cq_val_of_i64(cq_dtype_to_torch(dtype));
}

bool cq_sym_is_graph(cq_val v)
{
    return cq_box_of(v, free_graph) != NULL;
}

const cq_operand *cq_sym_operand_of(cq_val v)
{
    const graph_box *b = cq_box_of(v, free_graph);

    return b ? b->operand : NULL;
}

cq_value *cq_sym_graph_of(cq_sym_run *r, cq_val v)
{
    graph_box *b = cq_box_of(v, free_graph);

    if (!b || r->s->status != CQ_OK)
        return NULL;
    if (!b->v) {
        b->v = cq_sym_value(r->s, b->operand->u.value);
        if (r->promotes)
            b->v = cq_sym_cast(r->s, b->v, r->dtype);
    }
    return b->v;
}

/* ---- conversions ---- */

bool cq_sym_number_of(cq_val v, double *f)
{
    const cq_operand *o;

    switch (v.kind) {
    case CQ_VAL_BOOL: *f = v.u.b.value; return true;
    case CQ_VAL_INT: *f = (double)v.u.i.value; return v.u.i.expr == NULL;
    case CQ_VAL_FLOAT: *f = v.u.f.value; return true;
    default: o = cq_sym_operand_of(v); return o && cq_operand_number(o, f);
    }
}

bool cq_sym_ints_of(cq_sym_run *r, cq_val v, cq_int *out, size_t *n, size_t max)
{
    const cq_val *items = cq_lang_items(&v, n);

    if (r->s->status != CQ_OK || *n > max || v.kind == CQ_VAL_NONE)
        return false;
    for (size_t i = 0; i < *n; i++) {
        double f;

        if (items[i].kind == CQ_VAL_INT)
            out[i] = items[i].u.i;
        else if (cq_sym_number_of(items[i], &f) && f == floor(f))
            out[i] = cq_i((int64_t)f);
        else
            return false;
    }
    return true;
}

bool cq_sym_axes_of(cq_val v, int64_t *out, size_t *n, size_t max)
{
    const cq_val *items = cq_lang_items(&v, n);

    for (size_t i = 0; i < *n && *n <= max; i++) {
        double f;

        if (!cq_sym_number_of(items[i], &f))
            return false;
        out[i] = (int64_t)f;
    }
    return *n <= max && v.kind != CQ_VAL_NONE;
}

cq_dtype cq_sym_dtype_of(cq_sym_run *r, cq_val v)
{
    cq_dtype d = v.kind == CQ_VAL_INT   ? cq_dtype_from_torch(v.u.i.value)
                 : v.kind == CQ_VAL_STR ? cq_dtype_from_name(v.u.text->text)
                                        : CQ_DTYPE_NONE;

    if (d == CQ_DTYPE_NONE)
        cq_sym_wrong(r, "expected a dtype, as in torch.float32, got %s", cq_val_kind_name(v.kind));
    return d;
}

static cq_dtype number_dtype(cq_sym_run *r, const cq_value *like)
{
    cq_dtype d = like ? cq_sym_dtype(r->s, like) : CQ_DTYPE_NONE;

    return d == CQ_DTYPE_NONE ? r->dtype : d;
}

static cq_value *of_whole(cq_sym_run *r, cq_int i, cq_dtype dtype)
{
    if (i.expr)
        return cq_sym_cast(r->s, cq_sym_of_int(r->s, i), dtype);
    return dtype == CQ_DTYPE_I64 ? cq_sym_const_i64(r->s, i.value)
                                 : cq_sym_const_f64(r->s, dtype, (double)i.value);
}

cq_value *cq_sym_input_of(cq_sym_run *r, cq_val v, const cq_value *like)
{
    cq_int ints[MAX_ROW];
    size_t n;

    if (r->s->status != CQ_OK)
        return NULL;
    switch (v.kind) {
    case CQ_VAL_NONE: return NULL;
    case CQ_VAL_BOOL: return cq_sym_const_f64(r->s, number_dtype(r, like), v.u.b.value);
    case CQ_VAL_FLOAT: return cq_sym_const_f64(r->s, number_dtype(r, like), v.u.f.value);
    case CQ_VAL_INT: return of_whole(r, v.u.i, number_dtype(r, like));
    case CQ_VAL_TENSOR: return cq_sym_const(r->s, v.u.tensor);
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        if (cq_sym_ints_of(r, v, ints, &n, MAX_ROW))
            return cq_sym_of_ints(r->s, ints, n);
        break;
    default:
        if (cq_sym_is_graph(v))
            return cq_sym_graph_of(r, v);
    }
    cq_sym_wrong(r, "expected a tensor or a number as an input, got %s", cq_val_kind_name(v.kind));
    return NULL;
}

/* ---- names ---- */

/* The target of a call: a native function, or an operator of ONNX. */
typedef struct target {
    const cq_sym_native *native;
    const char          *op; /* NULL: an argument names it: g.op("Conv", …), op("Conv", …) */
    const cq_node_form  *form;
    bool                 has_suffixes;
    const char         **keywords; /* by argument; NULL: an input. Copies that live as long */
} target;

static bool is_operator(const char *name)
{
    return isupper((unsigned char)name[0]);
}

static const char **copy_keywords(cq_arena *arena, const char *const *keywords, size_t n)
{
    const char **out = cq_arena_array(arena, n + 1, sizeof *out);

    for (size_t i = 0; i < n && out; i++)
        if (keywords[i] && !(out[i] = cq_arena_strdup(arena, keywords[i])))
            return NULL;
    return out;
}

/* Keywords of a native are for readers: its arguments are in order. */
static cq_status link_target(const void **out, cq_arena *arena, const char *name,
                             const char *const *keywords, size_t n)
{
    static const char prefix[]    = "calque.onnx.";
    const bool        is_graph_op = strcmp(name, "op") == 0 && n >= 1 && !keywords[0];
    target           *t           = cq_arena_zalloc(arena, sizeof *t);

    if (strncmp(name, prefix, sizeof prefix - 1) == 0)
        name += sizeof prefix - 1;
    if (!t || !(t->keywords = copy_keywords(arena, keywords, n)))
        return CQ_E_NO_MEMORY;
    if (is_graph_op) {
        t->has_suffixes = true;
    } else if (is_operator(name)) {
        t->op   = cq_arena_strdup(arena, name);
        t->form = cq_node_form_find(name);
        if (!t->op)
            return CQ_E_NO_MEMORY;
    } else {
        t->native = cq_sym_native_find(name, n);
    }
    *out = is_graph_op || t->op || t->native ? t : NULL;
    return CQ_OK;
}

static bool explain(const char *name, char *hint, size_t size)
{
    const char *dot = strrchr(name, '.'), *last = dot ? dot + 1 : name;
    bool        is_known = false;

    for (size_t n = 0; n < 8 && !is_known; n++)
        is_known = cq_sym_native_find(name, n) != NULL;
    if (is_known) {
        snprintf(hint, size, "docs/symbolic-functions.md lists the functions and their arguments");
        return true;
    }
    if (cq_starts_with(name, "torch.") || cq_starts_with(name, "math."))
        snprintf(hint, size, "a symbolic function emits ONNX nodes, as in %c%.60s(x)",
                 toupper((unsigned char)*last), *last ? last + 1 : "");
    return false;
}

/* torch.float32: dtypes are represented by PyTorch's numbers. */
static bool constant(const char *name, cq_val *out)
{
    if (strncmp(name, "torch.", 6) != 0)
        return false;
    if (strcmp(name, "torch.Tensor") == 0) {
        *out = cq_val_of_i64(CQ_VAL_OBJECT);
        return true;
    }
    for (int64_t i = 0; i < 64; i++) {
        cq_dtype d = cq_dtype_from_torch(i);

        if (d != CQ_DTYPE_NONE && strcmp(cq_dtype_name(d), name + 6) == 0) {
            *out = cq_val_of_i64(i);
            return true;
        }
    }
    return false;
}

/* The helpers of PyTorch's symbolic functions need no import. */
static cq_lib_function *helper(const char *name)
{
    const char *dot = strrchr(name, '.');

    return cq_library_function(helpers, dot ? dot + 1 : name);
}

/* ---- calls ---- */

static const char *text_of(cq_val v)
{
    return v.kind == CQ_VAL_STR ? v.u.text->text : NULL;
}

static cq_val call_op(cq_sym_run *r, const target *t, const cq_val *args, size_t n)
{
    cq_val      in[CQ_LANG_MAX_ITEMS], attrs[CQ_LANG_MAX_ITEMS], items[CQ_LANG_MAX_ITEMS];
    const char *names[CQ_LANG_MAX_ITEMS];
    cq_value   *out[CQ_LANG_MAX_ITEMS] = { NULL };
    cq_sym_call c                      = { .r               = r,
                                           .op              = t->op,
                                           .in              = in,
                                           .attrs           = attrs,
                                           .attr_names      = names,
                                           .out             = out,
                                           .n_out           = 1,
                                           .has_onnx_dtypes = t->has_suffixes };
    double      many;
    size_t      first = 0;

    while (!c.op && first < n && first < 2)
        c.op = text_of(args[first++]);
    if (!c.op)
        return cq_sym_wrong(r, "op expects the name of an ONNX operator");
    for (size_t i = first; i < n; i++) {
        const char *keyword = t->keywords[i];

        if (!keyword) {
            in[c.n++] = args[i];
        } else if (strcmp(keyword, "outputs") == 0) {
            if (!cq_sym_number_of(args[i], &many) || many < 1 || many > CQ_LANG_MAX_ITEMS)
                return cq_sym_wrong(r, "expected 1 to %d outputs", CQ_LANG_MAX_ITEMS);
            c.n_out = (size_t)many;
        } else {
            names[c.n_attrs]   = keyword;
            attrs[c.n_attrs++] = args[i];
        }
    }
    cq_sym_call_op(&c, t->form);
    if (r->s->status != CQ_OK)
        return CQ_NONE;
    for (size_t i = 0; i < c.n_out; i++)
        items[i] = cq_val_of_graph(r, out[i]);
    return c.n_out == 1 ? items[0] : cq_lang_tuple(&r->lang, items, c.n_out);
}

static cq_val call(cq_lang *l, const void *linked, const cq_val *args, size_t n)
{
    const target *t = linked;

    return t->native ? cq_sym_native_call(cq_sym_run_of(l), t->native, args, n)
                     : call_op(cq_sym_run_of(l), t, args, n);
}

/* ---- Python operators with a tensor operand ---- */

static bool is_the_number(cq_val v, double number)
{
    double f;

    return cq_lang_is_number(v) && cq_sym_number_of(v, &f) && f == number;
}

static cq_val compare(cq_sym_run *r, cq_ast_op op, cq_val a, cq_val b)
{
    double x, y;

    if (a.kind == CQ_VAL_NONE || b.kind == CQ_VAL_NONE)
        return cq_val_of_bool((a.kind == b.kind) == (op == CQ_AST_EQ));
    if (!cq_sym_number_of(a, &x) || !cq_sym_number_of(b, &y)) {
        cq_sym_no(
            r->s, 0,
            "a number that selects the exported form must be known when the model is exported");
        return CQ_NONE;
    }
    return cq_lang_binary(&r->lang, op, cq_val_of_f64(x), cq_val_of_f64(y));
}

/* x + 0, x - 0, x * 1, x / 1, 0 + x, 1 * x; otherwise None. */
static cq_val unchanged(cq_ast_op op, cq_val a, cq_val b)
{
    const bool adds = op == CQ_AST_ADD || op == CQ_AST_SUB;

    if ((adds && is_the_number(b, 0)) ||
        ((op == CQ_AST_MUL || op == CQ_AST_DIV) && is_the_number(b, 1)))
        return a;
    if ((op == CQ_AST_ADD && is_the_number(a, 0)) || (op == CQ_AST_MUL && is_the_number(a, 1)))
        return b;
    return CQ_NONE;
}

static cq_val binary(cq_lang *l, cq_ast_op op, cq_val a, cq_val b)
{
    static const char *const ops[] = { [CQ_AST_ADD] = "Add",
                                       [CQ_AST_SUB] = "Sub",
                                       [CQ_AST_MUL] = "Mul",
                                       [CQ_AST_DIV] = "Div",
                                       [CQ_AST_POW] = "Pow" };
    cq_sym_run              *r     = cq_sym_run_of(l);
    cq_val                   same  = unchanged(op, a, b);
    cq_value                *like, *x, *y;

    if (op >= CQ_AST_EQ && op <= CQ_AST_GE)
        return compare(r, op, a, b);
    if (same.kind != CQ_VAL_NONE)
        return same;
    like = cq_sym_is_graph(a) ? cq_sym_graph_of(r, a) : cq_sym_graph_of(r, b);
    x    = cq_sym_input_of(r, a, like);
    y    = cq_sym_input_of(r, b, like);
    if (r->s->status != CQ_OK || !x || !y)
        return cq_sym_wrong(r, "expected tensors or numbers as operands");
    if (op == CQ_AST_FLOOR_DIV)
        return cq_val_of_graph(r, cq_sym_floor_divide(r->s, x, y));
    if (op == CQ_AST_MOD)
        return cq_val_of_graph(r, cq_sym_remainder(r->s, x, y));
    if ((size_t)op >= sizeof ops / sizeof *ops || !ops[op])
        return cq_sym_wrong(r, "the operator is not available for tensors");
    return cq_val_of_graph(r, cq_sym_apply(r->s, ops[op], CQ_IN(x, y), CQ_NO_ATTR));
}

static cq_val negate(cq_lang *l, cq_val v)
{
    cq_sym_run *r = cq_sym_run_of(l);

    return cq_val_of_graph(
        r, cq_sym_apply(r->s, "Neg", CQ_IN(cq_sym_input_of(r, v, NULL)), CQ_NO_ATTR));
}

/* ---- numbers that must be known ---- */

static cq_val fix(cq_lang *l, cq_val v)
{
    double f;

    if (cq_sym_number_of(v, &f))
        return cq_val_of_f64(f);
    cq_sym_no(
        cq_sym_run_of(l)->s, 0,
        v.kind == CQ_VAL_INT
            ? "a size must be known when the model is exported"
            : "a number that selects the exported form must be known when the model is exported");
    return CQ_NONE;
}

/* An argument is converted where the function first mentions it. */
static void touch(cq_lang *l, cq_val v)
{
    cq_sym_graph_of(cq_sym_run_of(l), v);
}

static cq_val own(cq_lang *l, cq_val v)
{
    cq_exporter *ex = cq_sym_run_of(l)->s->ex;

    if (cq_vec_push(&ex->owned, v) == CQ_OK)
        return v;
    cq_val_release(v);
    cq_sym_fail(cq_sym_run_of(l)->s, CQ_E_NO_MEMORY);
    return CQ_NONE;
}

static void warn(cq_lang *l, const char *message)
{
    cq_warn(cq_sym_run_of(l)->s->node->op, "%s", message);
}

/* raise NotImplementedError("…") declines the operator. Other failures are errors in the function
 * and name its line. */
static void fail(cq_lang *l, cq_status status, const char *message)
{
    cq_sym *s = cq_sym_run_of(l)->s;

    if (message && status == CQ_E_UNSUPPORTED) {
        cq_sym_no(s, 0, "%s", message);
        return;
    }
    if (status != CQ_E_NO_MEMORY && message)
        status = l->in && cq_library_is_users(l->in->file) ? CQ_E_SYNTAX : CQ_E_INTERNAL;
    if (message && l->in)
        status = cq_source_fail(&l->in->unit->source, l->at, status, NULL, "%s", message);
    cq_sym_fail(s, status);
}

static const cq_lang_host host = { .link             = link_target,
                                   .explain          = explain,
                                   .has_plain_names  = true,
                                   .function         = helper,
                                   .constant         = constant,
                                   .call             = call,
                                   .binary           = binary,
                                   .negate           = negate,
                                   .fix              = fix,
                                   .compares_symbols = true,
                                   .touch            = touch,
                                   .own              = own,
                                   .warn             = warn,
                                   .fail             = fail };

/* Whether its functions are symbolic functions, or called by such. */
static bool is_symbolic_file(const cq_lib_file *file)
{
    return cq_library_is_in(file, "onnx/") && !cq_compose_runs(file);
}

/* symbolic("aten::mish", "Mish", opset=18): the operators exist. */
static cq_status check_symbolic(const cq_decorator *d, void *user)
{
    const char           *op = cq_decorator_at(d, 0), *opset = cq_decorator_value(d, "opset");
    const size_t          len = strcspn(d->text, ".");
    const cq_onnx_schema *schema;
    char                  name[128];

    if (*(const bool *)user && !cq_library_is_changed(d->file))
        return CQ_OK;
    snprintf(name, sizeof name, "%.*s", (int)len, d->text);
    if (cq_starts_with(d->text, "aten::") && !cq_op_find(d->text) && !cq_op_overloads(name))
        return cq_decorator_fail(d, "unknown operator %s", d->text);
    if (!op || !opset)
        return CQ_OK;
    CQ_TRY(cq_onnx_schema_find(&schema, "", op, atoi(opset)));
    return schema ? CQ_OK : cq_decorator_fail(d, "ONNX has no operator %s in opset %s", op, opset);
}

cq_status cq_sym_check_library(bool only_changed)
{
    CQ_TRY(cq_lang_check_library(is_symbolic_file, only_changed, &host));
    return cq_library_each("symbolic", check_symbolic, &only_changed);
}

/* ---- arguments ---- */

cq_val cq_val_of_operand(cq_sym_run *r, const cq_operand *o)
{
    cq_val list;

    switch (o->kind) {
    case CQ_OPERAND_VALUE: return new_box(r, NULL, o);
    case CQ_OPERAND_INT: return cq_val_of_int(o->u.i);
    case CQ_OPERAND_FLOAT: return cq_val_of_f64(o->u.f);
    case CQ_OPERAND_BOOL: return cq_val_of_bool(o->u.b);
    case CQ_OPERAND_STR: return cq_lang_text(&r->lang, o->u.s);
    case CQ_OPERAND_LIST:
        list = cq_lang_list(&r->lang, NULL, o->u.list.n);
        for (size_t i = 0; i < o->u.list.n && list.kind == CQ_VAL_LIST; i++)
            list.u.list->items[i] = cq_val_of_operand(r, &o->u.list.items[i]);
        return list;
    default: return CQ_NONE;
    }
}

/* By its name in the schema. A keyword of Python has a _ at the end: from_. */
static int find_argument(const cq_sym *s, const char *name)
{
    const cq_schema *schema = s->op ? s->op->schema : NULL;
    size_t           len    = strlen(name);
    int              at     = schema ? cq_schema_find(schema, name) : -1;

    for (size_t i = 0; schema && at < 0 && i < schema->n_args; i++)
        if (strlen(schema->args[i].name) + 1 == len && name[len - 1] == '_' &&
            strncmp(schema->args[i].name, name, len - 1) == 0)
            at = (int)i;
    return at >= 0 && (size_t)at < s->node->n_inputs ? at : -1;
}

/* Whether every parameter without a default is an argument of the schema; if not, arguments are
 * taken in order. */
static bool takes_by_name(const cq_sym *s, const cq_ast_def *def)
{
    for (size_t i = 0; i < def->n_params; i++)
        if (!def->params[i].value && find_argument(s, def->params[i].name) < 0)
            return false;
    return true;
}

static cq_status wrong_arguments(cq_sym *s, const cq_lib_function *f)
{
    return cq_sym_fail(s, cq_source_fail(&f->unit->source, f->def->at, CQ_E_SYNTAX,
                                         "parameters have the names of the operator's schema, or "
                                         "stand for its arguments in order",
                                         "%s has %zu arguments, the function has %zu parameters",
                                         s->node->op, (size_t)s->node->n_inputs, f->def->n_params));
}

/* The parameter g of PyTorch's own symbolic functions is the graph. */
static bool is_graph_parameter(const cq_ast_def *def, size_t i)
{
    return i == 0 && def->n_params && strcmp(def->params[0].name, "g") == 0;
}

/* Whether argument i has its default, so that a function written for fewer arguments is right. */
static bool has_default(const cq_sym *s, size_t i)
{
    const cq_schema *schema = s->op ? s->op->schema : NULL;
    double           given, otherwise;

    if (!schema || i >= schema->n_args || !schema->args[i].has_default)
        return false;
    if (s->node->inputs[i].kind == CQ_OPERAND_NONE)
        return schema->args[i].default_value.kind == CQ_VAL_NONE;
    return cq_operand_number(&s->node->inputs[i], &given) &&
           cq_sym_number_of(schema->args[i].default_value, &otherwise) && given == otherwise;
}

static size_t bind(cq_sym_run *r, cq_lib_function *f, cq_val *args, uint8_t *params)
{
    const cq_ast_def   *def     = f->def;
    const bool          by_name = takes_by_name(r->s, def);
    const cq_decorator *parse =
        cq_library_is_users(f->file) ? cq_lib_function_decorator(f, "parse_args") : NULL;
    size_t n = 0, next = 0;

    for (size_t i = 0; i < def->n_params && r->s->status == CQ_OK; i++) {
        int at = by_name ? find_argument(r->s, def->params[i].name) : (int)next;

        params[n] = (uint8_t)i;
        if (is_graph_parameter(def, i)) {
            args[n++] = CQ_NONE;
        } else if (at >= 0 && (size_t)at < r->s->node->n_inputs) {
            args[n] = cq_val_of_operand(r, &r->s->node->inputs[at]);
            if (parse)
                args[n] = cq_sym_parse_arg(r, parse, i - is_graph_parameter(def, 0), args[n]);
            n++;
            next++;
        } else if (!def->params[i].value) {
            wrong_arguments(r->s, f);
        }
    }
    for (; !by_name && next < r->s->node->n_inputs && r->s->status == CQ_OK; next++)
        if (!has_default(r->s, next))
            wrong_arguments(r->s, f);
    return n;
}

static cq_dtype first_dtype(cq_sym *s)
{
    for (size_t i = 0; i < s->node->n_inputs; i++)
        if (s->node->inputs[i].kind == CQ_OPERAND_VALUE)
            return cq_sym_dtype(s, s->node->inputs[i].u.value);
    return CQ_DTYPE_F32;
}

/* ---- results ---- */

/* One value, or one for each result; results that are not read may be missing. */
static cq_status take_results(cq_sym_run *r, const cq_lib_function *f, cq_val v)
{
    size_t        n, n_results = cq_sym_n_results(r->s);
    const cq_val *items = cq_lang_items(&v, &n);
    cq_value    **values;
    cq_type      *types;

    if (r->s->status != CQ_OK)
        return r->s->status;
    if (v.kind == CQ_VAL_NONE && n_results && cq_sym_result_used(r->s, 0))
        return cq_sym_fail(r->s, cq_source_fail(&f->unit->source, f->def->at, CQ_E_SYNTAX, NULL,
                                                "the function returns None, expected %zu value%s",
                                                n_results, n_results > 1 ? "s" : ""));
    n += v.kind == CQ_VAL_NONE;
    if (n > 1 && n != n_results)
        return cq_sym_fail(r->s, cq_source_fail(&f->unit->source, f->def->at, CQ_E_SYNTAX, NULL,
                                                "the function returns %zu values, %s has %zu "
                                                "results",
                                                n, r->s->node->op, n_results));
    values = cq_arena_array(r->s->ex->scratch, n + 1, sizeof *values);
    if (!values)
        return cq_sym_fail(r->s, CQ_E_NO_MEMORY);
    types = cq_arena_array(r->s->ex->scratch, r->n_kept_types + 1, sizeof *types);
    if (!types)
        return cq_sym_fail(r->s, CQ_E_NO_MEMORY);
    for (size_t i = 0; i < n; i++)
        values[i] = cq_sym_input_of(r, items[i], NULL);
    for (size_t i = 0; i < n && i < r->n_kept_types; i++)
        types[i] = values[i] ? values[i]->type : (cq_type){ 0 };
    CQ_TRY(cq_sym_done_n(r->s, values, n));
    for (size_t i = 0; i < n && i < r->n_kept_types; i++)
        if (r->s->done[i])
            r->s->done[i]->type = types[i];
    return CQ_OK;
}

static void release_owned(cq_exporter *ex)
{
    for (size_t i = 0; i < ex->owned.n; i++)
        cq_val_release(ex->owned.items[i]);
    ex->owned.n = 0;
}

/* Before the evaluation of f, whose names are resolved when it is first called. */
static cq_sym_run begin(cq_sym *s, cq_lib_function *f)
{
    if (!s->ex->scratch && !(s->ex->scratch = cq_arena_new()))
        cq_sym_fail(s, CQ_E_NO_MEMORY);
    cq_sym_fail(s, cq_lang_link(f, &host));
    return (cq_sym_run){ .lang = { .host      = &host,
                                   .status    = &s->status,
                                   .symbols   = &s->ex->source->symbols,
                                   .max_steps = cq_library_is_users(f->file) ? MAX_USER_STEPS : 0 },
                         .s    = s };
}

static cq_status end(cq_sym *s)
{
    release_owned(s->ex);
    if (s->ex->scratch)
        cq_arena_reset(s->ex->scratch);
    return s->status;
}

cq_status cq_sym_run_function(cq_sym *s, cq_lib_function *f, bool promotes)
{
    cq_sym_run r = begin(s, f);
    cq_val     args[CQ_LANG_MAX_SLOTS];
    uint8_t    params[CQ_LANG_MAX_SLOTS];
    size_t     n;

    CQ_TRY(s->status);
    r.promotes = promotes;
    r.dtype    = promotes ? cq_sym_operand_dtype(s) : first_dtype(s);
    n          = bind(&r, f, args, params);
    if (s->status == CQ_OK)
        take_results(&r, f, cq_lang_call_by(&r.lang, f, params, args, n));
    return end(s);
}

cq_status cq_sym_run_replacement(cq_value **out, cq_sym *s, cq_lib_function *f)
{
    cq_sym_run r = begin(s, f);
    cq_val     args[CQ_LANG_MAX_SLOTS];
    uint8_t    params[CQ_LANG_MAX_SLOTS];
    size_t     n = 0;

    *out = NULL;
    CQ_TRY(s->status);
    r.dtype = CQ_DTYPE_F32;
    for (size_t i = 0; i < f->def->n_params; i++) {
        cq_value *v = (cq_value *)cq_pattern_bound(&s->fuser->match->names, f->def->params[i].name);

        params[n] = (uint8_t)i;
        if (v || !f->def->params[i].value)
            args[n++] = cq_val_of_graph(&r, v);
    }
    *out = cq_sym_input_of(&r, cq_lang_call_by(&r.lang, f, params, args, n), NULL);
    if (s->declined)
        s->status = CQ_OK;
    return end(s);
}
