/* Annotations of a program during its export: the calls of <calque/annotate.h> as functions of
 * TorchScript. A trace of Python code contains them.
 *
 *     ops.calque.annotate_begin(0, "{\"key\": \"value\"}")
 *     y = self.conv(x)
 *     ops.calque.annotate_end()
 *
 * Attributes are a JSON object of texts, numbers and lists of them. Outside of an export these
 * calls do nothing.
 *
 * A part of a program as one operator, for a user's symbolic function; the computed values
 * determine the types of the results.
 *
 *     y, = ops.calque.function("my::scale", [x], [x * 2])
 *
 * A module that returns its argument, which a trace does not contain; it counts for anchors.
 *
 *     x = ops.calque.passed("features.3", "Identity", x)
 *
 * The gradient of x, which has its type.
 *
 *     ops.calque.gradient(3, 0, x)
 *
 * A number of iterations that an export must not unroll:
 *
 *     for i in range(ops.calque.rounds(3)): */
#include "script/builtins/builtin.h"
#include "base/json_tree.h"

/* ---- attributes ---- */

static cq_status bad_attribute(const char *name)
{
    return cq_fail(CQ_E_ARGUMENT, name, NULL,
                   "an attribute of an annotation is a text, a number or a list of one kind of "
                   "them");
}

static bool all_are(const cq_json *list, cq_json_kind kind)
{
    for (size_t i = 0; i < list->n; i++)
        if (list->u.items[i].kind != kind)
            return false;
    return list->n > 0;
}

static cq_status read_list(cq_sym_attr *a, cq_arena *arena, const cq_json *v)
{
    const cq_sym_attr_kind kind    = all_are(v, CQ_JSON_INT)     ? CQ_SYM_ATTR_INTS
                                     : all_are(v, CQ_JSON_FLOAT) ? CQ_SYM_ATTR_FLOATS
                                                                 : CQ_SYM_ATTR_STRINGS;
    int64_t               *ints    = cq_arena_array(arena, v->n, sizeof *ints);
    double                *floats  = cq_arena_array(arena, v->n, sizeof *floats);
    const char           **strings = cq_arena_array(arena, v->n, sizeof *strings);

    if (!ints || !floats || !strings)
        return CQ_E_NO_MEMORY;
    if (kind == CQ_SYM_ATTR_STRINGS && v->n && !all_are(v, CQ_JSON_TEXT))
        return bad_attribute(a->name);
    for (size_t i = 0; i < v->n; i++) {
        ints[i]    = cq_json_int(&v->u.items[i], 0);
        floats[i]  = v->u.items[i].kind == CQ_JSON_FLOAT ? v->u.items[i].u.f : 0;
        strings[i] = cq_json_text(&v->u.items[i], "");
    }
    a->kind    = kind;
    a->n       = v->n;
    a->ints    = ints;
    a->floats  = floats;
    a->strings = strings;
    return CQ_OK;
}

static cq_status read_attribute(cq_sym_attr *a, cq_arena *arena, const cq_json *v)
{
    switch (v->kind) {
    case CQ_JSON_INT:
    case CQ_JSON_BOOL:
        a->kind = CQ_SYM_ATTR_INT;
        a->i    = v->kind == CQ_JSON_INT ? v->u.i : v->u.b;
        return CQ_OK;
    case CQ_JSON_FLOAT:
        a->kind = CQ_SYM_ATTR_FLOAT;
        a->f    = v->u.f;
        return CQ_OK;
    case CQ_JSON_TEXT:
        a->kind = CQ_SYM_ATTR_STRING;
        a->s    = v->u.text;
        return CQ_OK;
    case CQ_JSON_LIST: return read_list(a, arena, v);
    default: return bad_attribute(a->name);
    }
}

typedef struct attributes {
    cq_arena    *arena;
    cq_sym_attr *items;
    size_t       n;
} attributes;

static cq_status read_attributes(attributes *out, const cq_text *text)
{
    const cq_json *object;

    out->arena = cq_arena_new();
    if (!out->arena)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_json_parse(&object, out->arena, text->text, text->len, "attributes"));
    if (object->kind != CQ_JSON_OBJECT)
        return bad_attribute(text->text);
    out->n     = object->n;
    out->items = cq_arena_array(out->arena, out->n, sizeof *out->items);
    if (!out->items)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < out->n; i++) {
        out->items[i].name = object->u.members[i].key;
        CQ_TRY(read_attribute(&out->items[i], out->arena, &object->u.members[i].value));
    }
    return CQ_OK;
}

/* ---- the calls ---- */

enum { ANNOTATION, SCOPED_ANCHOR, ANCHOR };

static cq_status begin(cq_fncall *c)
{
    const cq_val text   = c->args[c->n - 1];
    cq_ctx      *cx     = c->ev->cx;
    attributes   a      = { 0 };
    cq_status    status = read_attributes(&a, text.u.text);
    cq_tensor   *behind;

    if (status == CQ_OK && c->row->how == ANNOTATION)
        cq_annotate_begin(cx, (uint32_t)c->args[0].u.i.value, a.items, a.n);
    if (status == CQ_OK && c->row->how == SCOPED_ANCHOR)
        cq_scoped_anchor_begin(cx, a.items, a.n);
    if (status == CQ_OK && c->row->how == ANCHOR) {
        behind    = cq_anchor(cx, c->args[0].u.tensor, a.items, a.n);
        c->result = behind ? cq_val_of_tensor(behind) : CQ_NONE;
    }
    cq_arena_free(a.arena);
    return status == CQ_OK ? cx->status : status;
}

static cq_status end(cq_fncall *c)
{
    if (c->row->how == ANNOTATION)
        cq_annotate_end(c->ev->cx);
    else
        cq_scoped_anchor_end(c->ev->cx);
    return c->ev->cx->status;
}

/* An Identity that has no name. */
static cq_status identity(cq_fncall *c)
{
    cq_tensor *behind = cq_identity(c->ev->cx, c->args[0].u.tensor);

    c->result = behind ? cq_val_of_tensor(behind) : CQ_NONE;
    return c->ev->cx->status;
}

static cq_status gradient(cq_fncall *c)
{
    c->result = c->args[2];
    return CQ_OK;
}

static cq_status passed(cq_fncall *c)
{
    cq_ctx     *cx   = c->ev->cx;
    const char *path = c->args[0].u.text->text, *dot = strrchr(path, '.');
    cq_scope    scope = { .path       = path,
                          .name       = dot ? dot + 1 : path,
                          .class_name = c->args[1].u.text->text };
    cq_tensor  *x     = c->args[2].u.tensor, *behind;

    behind    = cq_scope_enter(cx, &scope, &x, 1);
    x         = behind ? behind : x;
    behind    = cq_scope_leave(cx, &scope, &x, 1);
    c->result = cq_val_of_tensor(behind ? behind : x);
    return cx->status;
}

static cq_status as_output(cq_fncall *c)
{
    cq_as_output(c->ev->cx, c->args[0].u.text->text, c->args[1].u.tensor);
    c->result = c->args[1];
    return c->ev->cx->status;
}

/* Computes the results only to determine their types: an export does not contain the computation. A
 * run uses them. */
static cq_status function(cq_fncall *c)
{
    if (c->ev->capture)
        return cq_eval_known_foreign(c->ev, c->args[0].u.text->text, c->args[1].u.list,
                                     c->args[2].u.list, &c->result);
    c->result = c->args[2];
    return CQ_OK;
}

/* Sets the result type of an extension's operator, as recorded in the trace. */
static cq_status typed(cq_fncall *c)
{
    c->result = c->args[0];
    return c->ev->capture ? cq_eval_type_guess(c->ev, c->args[0], c->args[1].u.i.value,
                                               c->args[2].u.list, &c->result)
                          : CQ_OK;
}

/* Makes a known number data-dependent, so that a loop with that many iterations is not unrolled. */
static cq_status rounds(cq_fncall *c)
{
    cq_eval   *ev = c->ev;
    cq_tensor *t;
    cq_value  *v;

    c->result = c->args[0];
    if (!ev->capture || ev->capture->is_tape || c->args[0].u.i.expr)
        return CQ_OK;
    CQ_TRY(cq_eval_as_tensor(ev, c->args[0], &t));
    v = cq_capture_value(ev->capture, ev->cx, t);
    if (v)
        c->result =
            cq_val_of_int(cq_symbol_fresh(ev->cx->symbols, "n", c->args[0].u.i.value, v, -1));
    return ev->cx->status;
}

const cq_builtin cq_builtins_marks[] = {
    { "calque::annotate_begin(int flags, str attrs)", .fn = begin, .how = ANNOTATION },
    { "calque::annotate_end()", .fn = end, .how = ANNOTATION },
    { "calque::scoped_anchor_begin(str attrs)", .fn = begin, .how = SCOPED_ANCHOR },
    { "calque::scoped_anchor_end()", .fn = end, .how = SCOPED_ANCHOR },
    { "calque::anchor(tensor x, str attrs)", .fn = begin, .how = ANCHOR },
    { "calque::identity(tensor x)", .fn = identity },
    { "calque::passed(str path, str class_name, tensor x)", .fn = passed },
    { "calque::gradient(int number, int i, tensor x)", .fn = gradient },
    { "calque::as_output(str name, tensor x)", .fn = as_output },
    { "calque::rounds(int n)", .fn = rounds },
    { "calque::typed(tensor x, int dtype, items sizes)", .fn = typed },
    { "calque::function(str op, items args, items results)", .fn = function },
    { 0 },
};
