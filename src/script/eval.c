/* Statements and expressions. Displays and comprehensions are in display.c, loops in loop.c, calls
 * in call.c. The context owns temporaries; variables and containers retain their values. After
 * every statement the context releases its temporaries. */
#include "script/python/python.h"
#include "script/values/sequence.h"
#include "base/str.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

cq_status cq_eval_fail(cq_eval *ev, cq_span at, cq_status status, const char *format, ...)
{
    char    message[CQ_ERROR_MESSAGE_SIZE];
    va_list args;

    va_start(args, format);
    vsnprintf(message, sizeof message, format, args);
    va_end(args);
    return cq_source_fail(&ev->frame->unit->source, at, status, NULL, "%s", message);
}

cq_status cq_eval_unsupported(cq_eval *ev, cq_span at, const char *construct)
{
    return cq_eval_fail(ev, at, CQ_E_UNSUPPORTED, "%s is not supported here", construct);
}

cq_status cq_eval_own(cq_eval *ev, cq_val v, cq_val *out)
{
    *out = cq_ctx_own(ev->cx, v);
    return ev->cx->status;
}

cq_status cq_eval_list(cq_eval *ev, const cq_val *items, size_t n, cq_val_kind kind, cq_val *out)
{
    const cq_list from = { .n = n, .items = (cq_val *)items }; /* out may be one of them */
    cq_list      *list;
    cq_status     status;

    CQ_TRY(cq_list_new(&list, 0));
    status = cq_list_add(list, &from);
    CQ_TRY(cq_eval_own(ev, (cq_val){ .kind = kind, .u.list = list }, out));
    return status;
}

cq_status cq_eval_new_dict(cq_eval *ev, cq_val *out)
{
    cq_dict *dict;

    CQ_TRY(cq_dict_new(&dict));
    return cq_eval_own(ev, cq_val_of_dict(dict), out);
}

/* ---- names ---- */

/* Names that are known in every program. Namespaces lead to functions (attribute.c). */
static const char *const namespaces[] = { "torch", "ops", "math", "__torch__", "CONSTANTS",
                                          "F",     "nn",  "np",   "typing",    "warnings" };
/* clang-format off */
static const char *const functions[]  = {
    "int",       "float",    "bool",   "str",       "complex",   "len",       "range",
    "print",     "sorted",   "min",    "max",       "abs",       "round",     "sum",
    "any",       "all",      "zip",    "enumerate", "list",      "tuple",     "dict",
    "annotate",  "unchecked_cast", "uninitialized", "isinstance", "getattr",  "hasattr",
    "fork",      "ord",      "chr",    "hex",       "oct",       "bin",       "divmod",
    "reversed",  "pow",      "type",   "super",     "Exception", "ValueError", "RuntimeError",
    "AssertionError", "NotImplementedError", "IndexError", "KeyError", "TypeError", "id", "hash",
};
/* clang-format on */

/* The builtins of Python that are implemented in C; others are in lib/python/builtins.py. */
/* clang-format off */
static const char *const python_functions[] = {
    "int",     "float",    "bool",       "str",       "complex",      "len",         "range",
    "print",   "sorted",   "min",        "max",       "abs",          "round",       "sum",
    "any",     "all",      "zip",        "enumerate", "list",         "tuple",       "dict",
    "getattr", "hasattr",  "setattr",    "delattr",   "isinstance",   "issubclass",  "ord",
    "chr",     "divmod",   "reversed",   "pow",       "type",         "super",       "id",
    "hash",    "callable", "iter",       "next",      "repr",         "object",      "property",
    "vars",    "dir",      "globals",    "locals",    "staticmethod", "classmethod", "slice",
    "format",  "__import__", "NotImplemented", "uninitialized",
};
/* clang-format on */

static cq_status look_up_import(cq_eval *ev, const cq_unit *unit, const char *name, cq_val *out,
                                bool *found)
{
    for (size_t i = 0; i < unit->n_imports; i++) {
        const cq_ast_import *m     = &unit->imports[i];
        const char          *bound = m->alias ? m->alias : m->name ? m->name : m->module;
        cq_str               path  = { 0 };
        cq_status            status;

        if (strcmp(bound, name) != 0 &&
            !(!m->alias && !m->name && cq_starts_with(m->module, name) &&
              m->module[strlen(name)] == '.'))
            continue;
        *found = true;
        if (!m->alias && !m->name)
            return cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, cq_name(ev->program, name), out);
        if (!m->name)
            return cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, m->module, out);
        cq_str_printf(&path, "%s.%s", m->module, m->name);
        status = path.status;
        if (status == CQ_OK)
            status = cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, path.text, out);
        cq_str_clear(&path);
        return status;
    }
    return CQ_OK;
}

static cq_status value_of_variable(cq_eval *ev, const cq_ast_expr *x, cq_val v, cq_val *out)
{
    const cq_object *undefined = cq_object_as(v, CQ_OBJECT_UNDEFINED);
    const char      *name = x->u.name, *why = undefined ? undefined->text : NULL;

    *out = v;
    if (!undefined || (why && strcmp(why, CQ_UNINITIALIZED) == 0))
        return CQ_OK;
    return cq_eval_fail(ev, x->at, CQ_E_TYPE, "%s may be used before it is assigned%s%s", name,
                        why == name ? "" : ": ", why == name ? "" : why);
}

/* A function or class of the unit, or of one of its imports. */
static cq_status look_up_in_unit(cq_eval *ev, const cq_unit *unit, const char *name, cq_val *out,
                                 bool *found)
{
    const cq_ast_def *def  = cq_unit_def(unit, name);
    cq_str            full = { 0 };
    cq_status         status;

    if (!def && !cq_unit_class(unit, name))
        return look_up_import(ev, unit, name, out, found);
    *found = true;
    if (def)
        *out = cq_val_of_object(cq_ptr_map_get(&ev->program->named[CQ_OBJECT_FUNCTION], def));
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    cq_str_printf(&full, unit->qualifier[0] ? "%s.%s" : "%s%s", unit->qualifier, name);
    status = full.status;
    if (status == CQ_OK)
        status = cq_program_find(ev->program, full.text, out);
    cq_str_clear(&full);
    return status;
}

/* Reads a variable of Python source. The context retains it, because the rest of the expression may
 * replace it. Lazy imports are resolved now. */
static cq_status keep_variable(cq_eval *ev, const cq_ast_expr *x, cq_val *slot, cq_val *out)
{
    if (slot->kind == CQ_VAL_OBJECT && cq_object_as(*slot, CQ_OBJECT_LAZY)) {
        CQ_TRY(cq_lazy_resolve(ev, *slot, out));
        slot = cq_frame_find(ev->frame, x->u.name);
        if (!slot)
            slot = cq_frame_own(ev->frame->unit->globals, x->u.name);
        if (slot && cq_object_as(*slot, CQ_OBJECT_LAZY))
            cq_val_set(slot, *out);
        return CQ_OK;
    }
    CQ_TRY(value_of_variable(ev, x, *slot, out));
    return cq_eval_own(ev, cq_val_retain(*out), out);
}

/* Globals of Python source: first the variables of the module, then builtins. */
static cq_status look_up_global(cq_eval *ev, const cq_ast_expr *x, cq_val *out, bool *found)
{
    cq_frame *globals = ev->frame->unit->globals;
    cq_val   *v       = globals ? cq_frame_own(globals, x->u.name) : NULL;

    *found = v != NULL;
    if (v)
        return keep_variable(ev, x, v, out);
    return CQ_OK;
}

static cq_status not_defined(cq_eval *ev, const cq_ast_expr *x)
{
    CQ_TRY(cq_python_missing_names(ev, ev->frame ? ev->frame->unit : NULL));
    ev->raised_class = "NameError";
    return cq_eval_fail(ev, x->at, CQ_E_NOT_FOUND, "%s is not defined", x->u.name);
}

/* Beside a program of Python source, definitions of operators and the library functions that they
 * call are TorchScript: they do not run as modules, so they have no global variables. */
static bool is_python(const cq_eval *ev, const cq_unit *unit)
{
    return ev->program->python && (!unit || unit->globals);
}

static cq_status look_up(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    const char *name  = x->u.name;
    cq_val     *v     = cq_frame_find(ev->frame, name);
    bool        found = false;
    cq_unit    *unit  = ev->frame ? ev->frame->unit : ev->program->main;

    if (v)
        return ev->program->python ? keep_variable(ev, x, v, out)
                                   : value_of_variable(ev, x, *v, out);
    if (is_python(ev, unit))
        CQ_TRY(look_up_global(ev, x, out, &found));
    else if (unit)
        CQ_TRY(look_up_in_unit(ev, unit, name, out, &found));
    if (found)
        return CQ_OK;
    *out = cq_val_of_object(cq_ptr_map_get(&ev->program->globals, name));
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    if (is_python(ev, unit)) {
        CQ_TRY(cq_python_builtin(ev, name, out, &found));
        if (!found && CQ_IS_AMONG(name, python_functions)) {
            CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, name, out));
            return cq_ptr_map_set(&ev->program->globals, name, cq_object_of(*out));
        }
        return found ? CQ_OK : not_defined(ev, x);
    }
    if ((strcmp(name, "inf") == 0 || strcmp(name, "nan") == 0) && cq_eval_real_constant(name, out))
        return CQ_OK;
    if (strcmp(name, "infj") == 0 || strcmp(name, "nanj") == 0) {
        *out = (cq_val){ .kind = CQ_VAL_COMPLEX,
                         .u.c  = { 0, name[0] == 'i' ? INFINITY : (double)NAN } };
        return CQ_OK;
    }
    if (CQ_IS_AMONG(name, functions))
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, name, out));
    else if (CQ_IS_AMONG(name, namespaces))
        CQ_TRY(cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, name, out));
    if (out->kind != CQ_VAL_NONE)
        return cq_ptr_map_set(&ev->program->globals, name, cq_object_of(*out));
    return cq_eval_fail(ev, x->at, CQ_E_NOT_FOUND, "%s is not defined", name);
}

/* ---- truth ---- */

/* The truth of an instance: __bool__, else __len__. */
static cq_status truth_of_instance(cq_eval *ev, cq_val v, cq_val *out)
{
    bool found;

    CQ_TRY(cq_python_special(ev, v, "__bool__", NULL, 0, out, &found));
    if (!found)
        CQ_TRY(cq_python_special(ev, v, "__len__", NULL, 0, out, &found));
    if (found) {
        *out = cq_python_native(*out);
        if (out->kind == CQ_VAL_OBJECT)
            return cq_python_raise(ev, "TypeError", "__bool__ should return bool, returned %s",
                                   cq_eval_type_name(*out));
        return cq_eval_truth(ev, *out, out);
    }
    if (cq_object_as(v, CQ_OBJECT_INSTANCE) && cq_object_of(v)->self.kind != CQ_VAL_NONE)
        return cq_eval_truth(ev, cq_object_of(v)->self, out);
    *out = cq_val_of_bool(true);
    return CQ_OK;
}

cq_status cq_eval_truth(cq_eval *ev, cq_val v, cq_val *out)
{
    if (v.kind == CQ_VAL_OBJECT && ev->program->python && cq_object_of(v)->type)
        return truth_of_instance(ev, v, out);
    *out = cq_val_of_bool(true);
    switch (v.kind) {
    case CQ_VAL_NONE: out->u.b.value = false; return CQ_OK;
    case CQ_VAL_BOOL: *out = v; return CQ_OK;
    case CQ_VAL_STR: out->u.b.value = v.u.text->len > 0; return CQ_OK;
    case CQ_VAL_DICT: out->u.b.value = v.u.dict->n > 0; return CQ_OK;
    case CQ_VAL_LIST:
    case CQ_VAL_TUPLE:
        out->u.b.value = v.u.list->n > 0;
        if (!cq_sequence_of(v))
            return CQ_OK;
        CQ_TRY(CQ_CALL(ev, &v, "aten::len", v)); /* fall through */
    case CQ_VAL_TENSOR:
    case CQ_VAL_INT:
    case CQ_VAL_FLOAT: return CQ_CALL(ev, out, "aten::Bool", v);
    default: return CQ_OK;
    }
}

/* ---- expressions ---- */

static cq_status eval_binary_op(cq_eval *ev, cq_ast_op op, cq_val a, cq_val b, cq_val *out)
{
    const char *name = cq_ast_op_aten(op);
    bool        found;

    if (ev->program->python && (a.kind == CQ_VAL_OBJECT || b.kind == CQ_VAL_OBJECT) &&
        op != CQ_AST_IS && op != CQ_AST_IS_NOT) {
        CQ_TRY(cq_python_binary(ev, op, a, b, out, &found));
        if (found)
            return CQ_OK;
    }
    if (op != CQ_AST_IN && op != CQ_AST_NOT_IN)
        return CQ_CALL(ev, out, name, a, b);
    CQ_TRY(CQ_CALL(ev, out, name, b, a));
    return op == CQ_AST_NOT_IN ? CQ_CALL(ev, out, "aten::__not__", *out) : CQ_OK;
}

static bool is_truth(cq_val v)
{
    return v.kind == CQ_VAL_BOOL || (v.kind == CQ_VAL_TENSOR && v.u.tensor->dtype == CQ_DTYPE_BOOL);
}

/* `and` and `or` evaluate the second operand only if the first does not decide. If the first
 * operand is a symbol, both are evaluated and combined in the graph: TorchScript's own lowering
 * also assumes that operands of a condition have no effects. */
static cq_status eval_and_or(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    const bool is_and = x->kind == CQ_X_AND;
    cq_val     left, a, b;

    CQ_TRY(cq_eval_expr(ev, x->u.binary.left, out));
    CQ_TRY(cq_eval_truth(ev, *out, &a));
    if (!a.u.b.origin && a.u.b.value != is_and)
        return CQ_OK; /* the operand is the result */
    left = *out;
    CQ_TRY(cq_eval_expr(ev, x->u.binary.right, &b));
    if (a.u.b.origin && is_truth(left) && is_truth(b))
        CQ_TRY(cq_eval_truth(ev, b, &b));
    *out = b;
    return a.u.b.origin ? CQ_CALL(ev, out, is_and ? "aten::__and__" : "aten::__or__", a, b) : CQ_OK;
}

static cq_status eval_compare(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_val left, right, part;

    CQ_TRY(cq_eval_expr(ev, x->u.compare.items[0], &left));
    for (size_t i = 0; i < x->u.compare.n; i++) {
        CQ_TRY(cq_eval_expr(ev, x->u.compare.items[i + 1], &right));
        CQ_TRY(eval_binary_op(ev, x->u.compare.ops[i], left, right, &part));
        if (i == 0)
            *out = part;
        else
            CQ_TRY(CQ_CALL(ev, out, "aten::__and__", *out, part));
        if (ev->program->python && i + 1 < x->u.compare.n && out->kind == CQ_VAL_BOOL &&
            !out->u.b.origin && !out->u.b.value)
            return CQ_OK; /* the remaining operands are not evaluated */
        left = right;
    }
    return CQ_OK;
}

static cq_status eval_choice(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_val test;

    CQ_TRY(cq_eval_expr(ev, x->u.choice.test, &test));
    CQ_TRY(cq_eval_truth(ev, test, &test));
    if (test.u.b.origin)
        return cq_eval_if_else(ev, x, test, out);
    return cq_eval_expr(ev, test.u.b.value ? x->u.choice.then : x->u.choice.other, out);
}

static cq_status eval_unary(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_val v;
    bool   found;

    CQ_TRY(cq_eval_expr(ev, x->u.unary.operand, out));
    if (ev->program->python && x->u.unary.op == CQ_AST_NOT) {
        CQ_TRY(cq_eval_truth(ev, *out, out));
    } else if (ev->program->python && out->kind == CQ_VAL_OBJECT) {
        v = *out;
        CQ_TRY(cq_python_binary(ev, x->u.unary.op, v, CQ_NONE, out, &found));
        if (found)
            return CQ_OK;
        *out = v;
    }
    if (x->u.unary.op == CQ_AST_POS)
        return CQ_OK;
    return cq_eval_call_name(ev, cq_ast_op_aten(x->u.unary.op), out, 1, out);
}

/* A set display: an instance of the class in builtins.py. */
static cq_status eval_set(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_val cls, items;
    bool   found;

    CQ_TRY(x->kind == CQ_X_SET ? cq_eval_items_of(ev, &x->u.items, CQ_VAL_LIST, &items)
                               : cq_eval_comp(ev, x, &items));
    CQ_TRY(cq_python_builtin(ev, cq_name(ev->program, "set"), &cls, &found));
    if (!found)
        return cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
    return cq_eval_call(ev, cls, &items, 1, out);
}

cq_status cq_eval_new_function(cq_eval *ev, cq_ast_def *def, cq_val *out)
{
    cq_frame  *f = ev->frame;
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_FUNCTION));
    t->unit = f->unit;
    t->def  = def;
    while (f && f->is_class) /* methods do not see the variables of the class */
        f = f->outer;
    t->closure = f && f != f->unit->globals ? cq_frame_retain(f) : NULL;
    CQ_TRY(cq_eval_own(ev, cq_val_of_object(t), out));
    for (size_t i = 0; i < def->n_params; i++) {
        cq_val v = CQ_NONE;

        if (!def->params[i].value)
            continue;
        CQ_TRY(cq_eval_expr(ev, def->params[i].value, &v));
        if (t->defaults.kind == CQ_VAL_NONE) {
            cq_list *list;

            CQ_TRY(cq_list_new(&list, def->n_params));
            t->defaults = (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = list };
        }
        cq_val_set(&t->defaults.u.list->items[i], v);
    }
    return CQ_OK;
}

/* A generator is suspended, or its values are collected (python/generator.c). */
static cq_status eval_yield(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_frame *f = ev->frame;
    cq_list  *items;
    cq_val    v = CQ_NONE;

    while (f && f->is_comprehension)
        f = f->outer;
    if (f && f->run)
        return cq_generator_yield(ev, x, out);
    if (x->u.operand)
        CQ_TRY(cq_eval_expr(ev, x->u.operand, &v));
    *out = CQ_NONE;
    if (!f || !f->yielded)
        return cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
    if (f->yielded->n >= CQ_EVAL_MAX_ITEMS)
        return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED, "the generator yields more than %d values",
                            CQ_EVAL_MAX_ITEMS);
    CQ_TRY(cq_eval_will_change(ev, cq_val_of_list(f->yielded)));
    if (x->kind == CQ_X_YIELD)
        return cq_list_push(f->yielded, v);
    CQ_TRY(cq_eval_known_items(ev, v, NULL, &items));
    return cq_list_add(f->yielded, items);
}

static cq_status eval_python_expr(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_frame *f = ev->frame;
    cq_text  *text;

    switch (x->kind) {
    case CQ_X_ELLIPSIS: return cq_eval_new_object(ev, CQ_OBJECT_ELLIPSIS, "...", out);
    case CQ_X_SET:
    case CQ_X_SET_COMP: return eval_set(ev, x, out);
    case CQ_X_LAMBDA: return cq_eval_new_function(ev, x->u.lambda, out);
    case CQ_X_NAMED:
        CQ_TRY(cq_eval_expr(ev, x->u.named.value, out));
        while (f->is_comprehension && f->outer)
            f = f->outer;
        f->n_effects++;
        return cq_frame_set(ev, f, x->u.named.target->u.name, *out);
    case CQ_X_YIELD:
    case CQ_X_YIELD_FROM: return eval_yield(ev, x, out);
    case CQ_X_BYTES:
        CQ_TRY(cq_text_new(&text, x->u.str.text, x->u.str.len));
        return cq_eval_own(ev, cq_val_of_text(text), out);
    default: return cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
    }
}

static cq_status eval_expr(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    cq_text *text;
    cq_val   v;

    *out = CQ_NONE;
    switch (x->kind) {
    case CQ_X_NONE: return CQ_OK;
    case CQ_X_TRUE: *out = cq_val_of_bool(true); return CQ_OK;
    case CQ_X_FALSE: *out = cq_val_of_bool(false); return CQ_OK;
    case CQ_X_INT: *out = cq_val_of_i64(x->u.i); return CQ_OK;
    case CQ_X_BIG_INT:
        return cq_eval_fail(ev, x->at, CQ_E_UNSUPPORTED, "%.40s does not fit in 64 bits",
                            x->u.str.text);
    case CQ_X_FLOAT: *out = cq_val_of_f64(x->u.f); return CQ_OK;
    case CQ_X_COMPLEX:
        *out = (cq_val){ .kind = CQ_VAL_COMPLEX, .u.c = { 0, x->u.f } };
        return CQ_OK;
    case CQ_X_STR:
        if (x->flags & CQ_AST_NAMED_CHARACTERS)
            break;
        CQ_TRY(cq_text_new(&text, x->u.str.text, x->u.str.len));
        return cq_eval_own(ev, cq_val_of_text(text), out);
    case CQ_X_FSTR: return cq_eval_fstring(ev, x, out);
    case CQ_X_NAME: return look_up(ev, x, out);
    case CQ_X_ATTR:
        CQ_TRY(cq_eval_expr(ev, x->u.attr.object, &v));
        return cq_eval_attribute(ev, v, x->u.attr.name, out);
    case CQ_X_CALL: return cq_eval_call_expr(ev, x, out);
    case CQ_X_INDEX:
        CQ_TRY(cq_eval_expr(ev, x->u.index.object, &v));
        return cq_eval_index(ev, v, x->u.index.index, out);
    case CQ_X_UNARY: return eval_unary(ev, x, out);
    case CQ_X_BINARY: {
        cq_val a, b;

        CQ_TRY(cq_eval_expr(ev, x->u.binary.left, &a));
        CQ_TRY(cq_eval_expr(ev, x->u.binary.right, &b));
        return eval_binary_op(ev, x->u.binary.op, a, b, out);
    }
    case CQ_X_AND:
    case CQ_X_OR: return eval_and_or(ev, x, out);
    case CQ_X_COMPARE: return eval_compare(ev, x, out);
    case CQ_X_IF_ELSE: return eval_choice(ev, x, out);
    case CQ_X_LIST: return cq_eval_items_of(ev, &x->u.items, CQ_VAL_LIST, out);
    case CQ_X_TUPLE: return cq_eval_items_of(ev, &x->u.items, CQ_VAL_TUPLE, out);
    case CQ_X_DICT: return cq_eval_dict(ev, x, out);
    case CQ_X_LIST_COMP:
    case CQ_X_DICT_COMP:
    case CQ_X_GENERATOR: return cq_eval_comp(ev, x, out);
    default: break;
    }
    return ev->program->python ? eval_python_expr(ev, x, out)
                               : cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
}

cq_status cq_eval_expr(cq_eval *ev, const cq_ast_expr *x, cq_val *out)
{
    const cq_location outer  = ev->cx->location;
    cq_status         status = x->kind > CQ_X_NAME ? cq_eval_step(ev) : CQ_OK;

    ev->cx->location = (cq_location){ &ev->frame->unit->source.locations, x->at.start };
    if (status == CQ_OK)
        status = eval_expr(ev, x, out);
    else
        *out = CQ_NONE;
    ev->cx->location = outer;
    return status == CQ_OK ? CQ_OK : cq_source_blame(&ev->frame->unit->source, x->at, status);
}

/* ---- statements ---- */

/* Takes as many items as there are targets: the program asserts the length. */
static cq_status take_first(cq_eval *ev, const cq_ast_expr *target, cq_val v, cq_val *list)
{
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, list));
    for (size_t i = 0; i < target->u.items.n; i++) {
        cq_val item;

        if (target->u.items.items[i]->kind == CQ_X_STARRED)
            return cq_eval_fail(ev, target->at, CQ_E_UNSUPPORTED,
                                "the length of an unpacked value is data-dependent");
        CQ_TRY(cq_eval_get_item(ev, v, cq_val_of_i64((int64_t)i), &item));
        CQ_TRY(cq_list_push(list->u.list, item));
    }
    return CQ_OK;
}

/* The ValueError of Python for n values that do not match the targets. */
static cq_status note_unpacking(cq_eval *ev, size_t n, size_t n_targets, bool has_star)
{
    char     message[96];
    cq_text *text;
    cq_val   v;

    if (n > n_targets)
        snprintf(message, sizeof message, "too many values to unpack (expected %zu)", n_targets);
    else
        snprintf(message, sizeof message, "not enough values to unpack (expected %s%zu, got %zu)",
                 has_star ? "at least " : "", n_targets, n);
    CQ_TRY(cq_text_new(&text, message, strlen(message)));
    CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &v));
    return cq_python_note_exception(ev, "ValueError", v);
}

static cq_status unpack(cq_eval *ev, const cq_ast_expr *target, cq_val v)
{
    const cq_ast_exprs *to = &target->u.items;
    cq_val              items;
    bool                known;
    size_t              star = to->n, n;

    CQ_TRY(cq_eval_unpack_guess(ev, cq_val_unwrap(v), to->n, &v));
    CQ_TRY(cq_eval_items(ev, v, &items, &known));
    if (!known)
        CQ_TRY(take_first(ev, target, v, &items));
    n = items.u.list->n;
    for (size_t i = 0; i < to->n; i++)
        if (to->items[i]->kind == CQ_X_STARRED)
            star = i;
    if ((star == to->n ? n != to->n : n + 1 < to->n) && ev->program->python)
        CQ_TRY(note_unpacking(ev, n, star == to->n ? to->n : to->n - 1, star < to->n));
    if (star == to->n ? n != to->n : n + 1 < to->n)
        return cq_eval_fail(ev, target->at, CQ_E_TYPE, "%zu values cannot be unpacked into %zu", n,
                            to->n);
    for (size_t i = 0; i < to->n; i++) {
        size_t from = i > star ? n - (to->n - i) : i;

        if (i != star) {
            CQ_TRY(cq_eval_assign(ev, to->items[i], items.u.list->items[from]));
        } else {
            cq_val rest;

            CQ_TRY(cq_eval_list(ev, items.u.list->items + i, n + 1 - to->n, CQ_VAL_LIST, &rest));
            CQ_TRY(cq_eval_assign(ev, to->items[i]->u.operand, rest));
        }
    }
    return CQ_OK;
}

cq_status cq_eval_assign(cq_eval *ev, const cq_ast_expr *target, cq_val v)
{
    cq_val object;

    switch (target->kind) {
    case CQ_X_NAME: return cq_frame_set(ev, ev->frame, target->u.name, v);
    case CQ_X_ATTR:
        CQ_TRY(cq_eval_expr(ev, target->u.attr.object, &object));
        return cq_eval_set_attribute(ev, object, target->u.attr.name, v);
    case CQ_X_INDEX:
        CQ_TRY(cq_eval_expr(ev, target->u.index.object, &object));
        return cq_eval_set_index(ev, object, target->u.index.index, v);
    case CQ_X_TUPLE:
    case CQ_X_LIST: return unpack(ev, target, v);
    default:
        return cq_eval_fail(
            ev, target->at, CQ_E_SYNTAX,
            "expected a variable, attribute, item or tuple as target of the assignment");
    }
}

static cq_status eval_augment(cq_eval *ev, const cq_ast_stmt *s)
{
    const cq_ast_expr *target = s->u.augment.target;
    cq_val             old, value, result;
    char               in_place[64];

    bool found = false;

    CQ_TRY(cq_eval_expr(ev, target, &old));
    CQ_TRY(cq_eval_expr(ev, s->u.augment.value, &value));
    if (ev->program->python && old.kind == CQ_VAL_OBJECT) {
        CQ_TRY(cq_python_in_place(ev, s->u.augment.op, old, value, &result, &found));
        if (found)
            return cq_eval_assign(ev, target, result);
    }
    /* Tensors and lists change in place; for everything else x += y is x = x + y. */
    if (old.kind == CQ_VAL_TENSOR || (old.kind == CQ_VAL_LIST && s->u.augment.op == CQ_AST_ADD)) {
        snprintf(in_place, sizeof in_place, "%s_", cq_ast_op_aten(s->u.augment.op));
        CQ_TRY(CQ_CALL(ev, &result, in_place, old, value));
        return target->kind == CQ_X_NAME ? CQ_OK : cq_eval_assign(ev, target, result);
    }
    CQ_TRY(eval_binary_op(ev, s->u.augment.op, old, value, &result));
    return cq_eval_assign(ev, target, result);
}

static cq_status eval_raise(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_str    text = { 0 };
    cq_status status;
    cq_val    v;

    if (ev->program->python)
        return cq_eval_raise(ev, s);
    if (!s->u.raise.value)
        return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED, "the model raises an exception");
    CQ_TRY(cq_eval_expr(ev, s->u.raise.value, &v));
    status = cq_eval_format(ev, &text, v, false);
    if (status == CQ_OK)
        status = cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED, "the model raises an exception: %s",
                              cq_str_text(&text));
    cq_str_clear(&text);
    return status;
}

/* An assertion on data cannot be checked in a graph; it is assumed to hold. */
static cq_status eval_assert(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val test, message = CQ_NONE;

    CQ_TRY(cq_eval_expr(ev, s->u.assertion.test, &test));
    CQ_TRY(cq_eval_truth(ev, test, &test));
    if (test.u.b.origin || test.u.b.value)
        return CQ_OK;
    if (s->u.assertion.message)
        CQ_TRY(cq_eval_expr(ev, s->u.assertion.message, &message));
    if (ev->program->python && s->u.assertion.message)
        CQ_TRY(cq_python_note_exception(ev, "AssertionError", message));
    else if (ev->program->python)
        ev->raised_class = "AssertionError";
    return cq_eval_fail(ev, s->at, CQ_E_UNSUPPORTED, "the model's assertion fails%s%s",
                        message.kind == CQ_VAL_STR ? ": " : "",
                        message.kind == CQ_VAL_STR ? message.u.text->text : "");
}

/* Context managers such as torch.no_grad() have no effect on inference. For classes of the program,
 * __enter__ and __exit__ are called. The gradient mode is restored afterwards, because a model may
 * change and read it. */
static cq_status eval_with(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val    entered, method, ignored, nones[3] = { CQ_NONE, CQ_NONE, CQ_NONE };
    cq_val    contexts;
    bool      no_grad = ev->cx->no_grad;
    cq_status status;

    if (ev->program->python)
        return cq_eval_python_with(ev, s);
    CQ_TRY(cq_eval_list(ev, NULL, 0, CQ_VAL_LIST, &contexts));
    for (size_t i = 0; i < s->u.with.n; i++) {
        const cq_ast_with_item *item = &s->u.with.items[i];
        cq_val                  context;

        CQ_TRY(cq_eval_expr(ev, item->context, &context));
        CQ_TRY(cq_list_push(contexts.u.list, context));
        entered = CQ_NONE;
        if (cq_object_as(context, CQ_OBJECT_INSTANCE)) {
            CQ_TRY(cq_eval_attribute(ev, context, cq_name(ev->program, "__enter__"), &method));
            CQ_TRY(cq_eval_call(ev, method, NULL, 0, &entered));
        }
        if (item->target)
            CQ_TRY(cq_eval_assign(ev, item->target, entered));
    }
    status = cq_eval_block(ev, &s->u.with.body);
    for (size_t i = s->u.with.n; i-- > 0 && status == CQ_OK;) {
        if (!cq_object_as(contexts.u.list->items[i], CQ_OBJECT_INSTANCE))
            continue;
        CQ_TRY(cq_eval_attribute(ev, contexts.u.list->items[i], cq_name(ev->program, "__exit__"),
                                 &method));
        CQ_TRY(cq_eval_call(ev, method, nones, 3, &ignored));
    }
    ev->cx->no_grad = no_grad;
    return status;
}

static cq_status eval_python_def(cq_eval *ev, cq_ast_def *def)
{
    cq_val v, decorators;

    CQ_TRY(cq_eval_items_of(ev, &def->decorators, CQ_VAL_LIST, &decorators));
    CQ_TRY(cq_eval_new_function(ev, def, &v));
    if (ev->frame->is_class) /* for super(), also behind a decorator */
        cq_object_of(v)->owner = ev->frame->owner;
    for (size_t i = def->decorators.n; i-- > 0;)
        CQ_TRY(cq_eval_call(ev, decorators.u.list->items[i], &v, 1, &v));
    return cq_frame_set(ev, ev->frame, def->name, v);
}

/* Deletes a variable: reading it is an error from then on. */
static cq_status eval_del_name(cq_eval *ev, const char *name)
{
    cq_object *t;
    cq_val     v;

    if (!cq_frame_own(ev->frame, name))
        return CQ_OK;
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_UNDEFINED));
    t->text = name;
    CQ_TRY(cq_eval_own(ev, cq_val_of_object(t), &v));
    return cq_frame_set(ev, ev->frame, name, v);
}

static cq_status eval_python_del(cq_eval *ev, const cq_ast_expr *x)
{
    cq_val object, index, ignored;
    bool   found = false;

    switch (x->kind) {
    case CQ_X_NAME: return eval_del_name(ev, x->u.name);
    case CQ_X_ATTR:
        CQ_TRY(cq_eval_expr(ev, x->u.attr.object, &object));
        return cq_python_del_attribute(ev, object, x->u.attr.name);
    case CQ_X_INDEX:
        CQ_TRY(cq_eval_expr(ev, x->u.index.object, &object));
        CQ_TRY(cq_eval_index_value(ev, x->u.index.index, &index));
        CQ_TRY(cq_python_special(ev, object, "__delitem__", &index, 1, &ignored, &found));
        object = cq_python_native(object);
        if (!found && object.kind == CQ_VAL_LIST && cq_val_is_list(object) &&
            cq_object_as(index, CQ_OBJECT_SLICE))
            return cq_eval_del_slice(ev, object.u.list, cq_object_of(index)->self.u.list->items);
        return found ? CQ_OK
                     : CQ_CALL(ev, &ignored, "aten::Delete", cq_python_native(object), index);
    case CQ_X_TUPLE:
    case CQ_X_LIST:
        for (size_t i = 0; i < x->u.items.n; i++)
            CQ_TRY(eval_python_del(ev, x->u.items.items[i]));
        return CQ_OK;
    default: return cq_eval_unsupported(ev, x->at, cq_ast_expr_text(x));
    }
}

/* global x, nonlocal x: assignments change the frame that holds the variable. */
static cq_status eval_foreign_names(cq_eval *ev, const cq_ast_stmt *s)
{
    for (size_t i = 0; i < s->u.names.n; i++) {
        cq_frame *f = ev->frame->unit->globals;

        if (s->kind == CQ_S_NONLOCAL) {
            f = ev->frame->outer;
            while (f && !cq_frame_own(f, s->u.names.items[i]))
                f = f->outer;
        }
        if (!f)
            return cq_eval_fail(ev, s->at, CQ_E_SYNTAX, "no binding for nonlocal '%s' found",
                                s->u.names.items[i]);
        if (f != ev->frame)
            CQ_TRY(cq_ptr_map_set(&ev->frame->foreign, s->u.names.items[i], f));
    }
    return CQ_OK;
}

static cq_status eval_python_stmt(cq_eval *ev, const cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_CLASS: return cq_eval_class(ev, s->u.cls);
    case CQ_S_IMPORT: return cq_eval_import(ev, s);
    case CQ_S_TRY: return cq_eval_try(ev, s);
    case CQ_S_MATCH: return cq_eval_match(ev, s);
    case CQ_S_GLOBAL:
    case CQ_S_NONLOCAL: return eval_foreign_names(ev, s);
    case CQ_S_TYPE: return cq_frame_set(ev, ev->frame, s->u.alias->name->u.name, CQ_NONE);
    default: return cq_eval_unsupported(ev, s->at, cq_ast_stmt_text(s));
    }
}

static cq_status eval_def(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_object *t;
    cq_val     v;

    if (ev->program->python)
        return eval_python_def(ev, s->u.def);
    if (s->u.def->decorators.n)
        return cq_eval_unsupported(ev, s->u.def->decorators.items[0]->at,
                                   "a decorator of a function in a function");
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_FUNCTION));
    t->unit    = ev->frame->unit;
    t->def     = s->u.def;
    t->closure = cq_frame_retain(ev->frame);
    CQ_TRY(cq_eval_own(ev, cq_val_of_object(t), &v));
    return cq_frame_set(ev, ev->frame, s->u.def->name, v);
}

/* del x[i] removes an item of a list or dict; other targets are variables. */
static cq_status eval_del(cq_eval *ev, const cq_ast_stmt *s)
{
    for (size_t i = 0; i < s->u.targets.n; i++) {
        const cq_ast_expr *x = s->u.targets.items[i];
        cq_val             object, index, ignored;

        if (ev->program->python) {
            CQ_TRY(eval_python_del(ev, x));
            continue;
        }
        if (x->kind != CQ_X_INDEX)
            continue;
        CQ_TRY(cq_eval_expr(ev, x->u.index.object, &object));
        CQ_TRY(cq_eval_expr(ev, x->u.index.index, &index));
        CQ_TRY(CQ_CALL(ev, &ignored, "aten::Delete", object, index));
    }
    return CQ_OK;
}

/* `name: type` in the body of a class declares a field; the source text of the type is kept. */
static cq_status note_annotation(cq_eval *ev, const cq_ast_stmt *s)
{
    const cq_ast_expr *target = s->u.assign.targets.items[0];
    const cq_span      at     = s->u.assign.type->at;
    const char        *name   = cq_name(ev->program, "__annotations__");
    cq_val            *slot   = cq_frame_own(ev->frame, name), notes, key;
    cq_text           *text;

    if (target->kind != CQ_X_NAME)
        return CQ_OK;
    if (slot) {
        notes = *slot;
    } else {
        CQ_TRY(cq_eval_new_dict(ev, &notes));
        CQ_TRY(cq_frame_set(ev, ev->frame, name, notes));
    }
    CQ_TRY(cq_text_new(&text, target->u.name, strlen(target->u.name)));
    CQ_TRY(cq_eval_own(ev, cq_val_of_text(text), &key));
    CQ_TRY(cq_text_new(&text, ev->frame->unit->source.text + at.start, at.end - at.start));
    return cq_dict_set(notes.u.dict, key, cq_ctx_own(ev->cx, cq_val_of_text(text)));
}

static cq_status eval_assign(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val v;

    if (s->u.assign.type && ev->frame->is_class)
        CQ_TRY(note_annotation(ev, s));
    if (!s->u.assign.value)
        return CQ_OK;
    CQ_TRY(cq_eval_expr(ev, s->u.assign.value, &v));
    if (s->u.assign.type && !ev->program->python)
        CQ_TRY(cq_eval_annotate(ev, s->u.assign.type, v, &v));
    for (size_t i = 0; i < s->u.assign.targets.n; i++)
        CQ_TRY(cq_eval_assign(ev, s->u.assign.targets.items[i], v));
    return CQ_OK;
}

static cq_status eval_if(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val test;

    CQ_TRY(cq_eval_expr(ev, s->u.branch.test, &test));
    CQ_TRY(cq_eval_truth(ev, test, &test));
    if (test.u.b.origin)
        return cq_eval_if(ev, s, test);
    return cq_eval_block(ev, test.u.b.value ? &s->u.branch.then : &s->u.branch.other);
}

cq_status cq_eval_stmt(cq_eval *ev, const cq_ast_stmt *s)
{
    cq_val v;

    if (s->is_async)
        return cq_eval_unsupported(ev, s->at, cq_ast_stmt_text(s));
    switch (s->kind) {
    case CQ_S_EXPR: return cq_eval_expr(ev, s->u.value, &v);
    case CQ_S_ASSIGN: return eval_assign(ev, s);
    case CQ_S_AUGMENT: return eval_augment(ev, s);
    case CQ_S_IF: return eval_if(ev, s);
    case CQ_S_WHILE: return cq_eval_while(ev, s);
    case CQ_S_FOR: return cq_eval_for(ev, s);
    case CQ_S_WITH: return eval_with(ev, s);
    case CQ_S_RAISE: return eval_raise(ev, s);
    case CQ_S_ASSERT: return eval_assert(ev, s);
    case CQ_S_DEL: return eval_del(ev, s);
    case CQ_S_DEF: return eval_def(ev, s);
    case CQ_S_PASS: return CQ_OK;
    case CQ_S_RETURN:
    case CQ_S_BREAK:
    case CQ_S_CONTINUE:
        return cq_eval_fail(ev, s->at, CQ_E_INTERNAL,
                            "internal error: break, continue or return was not lowered");
    default:
        return ev->program->python ? eval_python_stmt(ev, s)
                                   : cq_eval_unsupported(ev, s->at, cq_ast_stmt_text(s));
    }
}

cq_status cq_eval_block(cq_eval *ev, const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const size_t mark = cq_ctx_mark(ev->cx);
        cq_status    status;

        if (b->items[i]->kind == CQ_S_PASS)
            continue;
        ev->cx->location =
            (cq_location){ &ev->frame->unit->source.locations, b->items[i]->at.start };
        status = cq_eval_step(ev);
        if (status == CQ_OK)
            status = cq_eval_stmt(ev, b->items[i]);
        if (status != CQ_OK)
            return cq_source_blame(&ev->frame->unit->source, b->items[i]->at, status);
        cq_ctx_pop(ev->cx, mark, NULL, 0);
    }
    return CQ_OK;
}
