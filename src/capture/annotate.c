/* Writes annotations of model code into the graph: marks on nodes, anchors, named outputs. The ONNX
 * nodes of a mark are known only at export (export/passes/annotate.c). */
#include "capture/capture.h"

#include "base/warn.h"

#include <stdio.h>

/* The node that made a tensor of the capture. */
static cq_node *node_of(const cq_capture *cap, const cq_tensor *t)
{
    return ((cq_value *)cq_track_of_new(&cap->tracks, t)->value)->node;
}

/* ---- notes ---- */

static cq_operand note_item(cq_graph *g, const cq_sym_attr *a, size_t i)
{
    switch (a->kind) {
    case CQ_SYM_ATTR_INTS: return (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = cq_i(a->ints[i]) };
    case CQ_SYM_ATTR_FLOATS: return (cq_operand){ .kind = CQ_OPERAND_FLOAT, .u.f = a->floats[i] };
    default: return (cq_operand){ .kind = CQ_OPERAND_STR, .u.s = cq_ir_text(g, a->strings[i]) };
    }
}

static cq_operand note_list(cq_graph *g, const cq_sym_attr *a)
{
    cq_operand o = { .kind = CQ_OPERAND_LIST, .u.list.n = a->n };

    o.u.list.items = cq_arena_array(g->arena, a->n, sizeof *o.u.list.items);
    if (!o.u.list.items)
        g->status = CQ_E_NO_MEMORY;
    for (size_t i = 0; i < a->n && o.u.list.items; i++)
        o.u.list.items[i] = note_item(g, a, i);
    return o;
}

static cq_operand note_value(cq_graph *g, const cq_sym_attr *a)
{
    switch (a->kind) {
    case CQ_SYM_ATTR_INT: return (cq_operand){ .kind = CQ_OPERAND_INT, .u.i = cq_i(a->i) };
    case CQ_SYM_ATTR_FLOAT: return (cq_operand){ .kind = CQ_OPERAND_FLOAT, .u.f = a->f };
    case CQ_SYM_ATTR_STRING:
        return (cq_operand){ .kind = CQ_OPERAND_STR, .u.s = cq_ir_text(g, a->s) };
    case CQ_SYM_ATTR_INTS:
    case CQ_SYM_ATTR_FLOATS:
    case CQ_SYM_ATTR_STRINGS: return note_list(g, a);
    default: return (cq_operand){ 0 };
    }
}

static cq_attr *notes_of(cq_capture *cap, cq_ctx *cx, const cq_sym_attr *attrs, size_t n)
{
    cq_graph *g     = cap->graph;
    cq_attr  *notes = cq_arena_array(g->arena, n, sizeof *notes);

    for (size_t i = 0; i < n && notes; i++) {
        notes[i] = (cq_attr){ cq_ir_text(g, attrs[i].name), note_value(g, &attrs[i]) };
        if (notes[i].value.kind != CQ_OPERAND_NONE)
            continue;
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, attrs[i].name, NULL,
                                "an annotation is a text, a number or a list of them"));
        return NULL;
    }
    if (!notes || g->status != CQ_OK)
        cq_ctx_fail(cx, cq_no_memory());
    return notes;
}

/* ---- marks ---- */

static const cq_marks *push_mark(cq_capture *cap, const cq_marks *outer, cq_mark mark)
{
    cq_marks *marks = cq_arena_zalloc(cap->graph->arena, sizeof *marks);

    if (marks)
        marks->mark = cq_arena_copy(cap->graph->arena, &mark, sizeof mark);
    if (!marks || !marks->mark) {
        cap->graph->status = CQ_E_NO_MEMORY;
        return outer;
    }
    marks->outer = outer;
    return marks;
}

static bool any_per_operator(const cq_marks *marks)
{
    for (; marks; marks = marks->outer)
        if (marks->mark->per_operator)
            return true;
    return false;
}

/* A copy of the list with separate marks for per-operator ones. */
const cq_marks *cq_capture_marks(cq_capture *cap, const cq_marks *marks)
{
    if (!any_per_operator(marks))
        return marks;
    return push_mark(cap, cq_capture_marks(cap, marks->outer), *marks->mark);
}

/* ---- anchors ---- */

/* An alias is a view: in-place operators of a module on it also change x. */
static cq_tensor *put_anchor(cq_capture *cap, cq_ctx *cx, cq_tensor *x, const char *name,
                             const cq_attr *notes, size_t n)
{
    const cq_marks *marks = cap->marks;
    cq_tensor      *behind;
    cq_node        *node;

    cap->marks = NULL; /* an anchor has separate notes, and is not the first node of any module */
    behind     = CQ_OP(cx, "aten::alias", TENSOR(x));
    cap->marks = marks;
    if (!behind)
        return NULL;
    node            = node_of(cap, behind);
    node->is_anchor = true;
    node->name      = cq_ir_text(cap->graph, name);
    node->notes     = (cq_attr *)notes;
    node->n_notes   = n;
    return behind;
}

static cq_tensor *scoped_anchor(cq_capture *cap, cq_ctx *cx, const cq_annotation *span,
                                cq_tensor *x, const char *which)
{
    char name[64];

    snprintf(name, sizeof name, "Anchor_%zu_%s", span->number, which);
    return put_anchor(cap, cx, x, name, span->notes, span->n_notes);
}

/* Another module was called after the one before the anchor: the anchor becomes a plain alias. */
static void remove_anchor(cq_node *node)
{
    if (!node)
        return;
    node->is_anchor = false;
    node->name      = NULL;
    node->n_notes   = 0;
}

static cq_tensor *anchor(void *self, cq_ctx *cx, cq_tensor *x, const char *name,
                         const cq_sym_attr *attrs, size_t n)
{
    cq_capture *cap   = self;
    cq_attr    *notes = notes_of(cap, cx, attrs, n);

    return notes ? put_anchor(cap, cx, x, name, notes, n) : NULL;
}

/* ---- scopes of model code ---- */

static void begin(void *self, cq_ctx *cx, cq_mark_kind kind, uint32_t flags,
                  const cq_sym_attr *attrs, size_t n)
{
    cq_capture   *cap  = self;
    bool          all  = flags & CQ_ANNOTATE_ALL;
    cq_annotation span = { .kind         = kind,
                           .per_operator = flags & CQ_ANNOTATE_OPERATORS,
                           .mark         = { .n_notes = n, .all = all },
                           .home         = cx->scope,
                           .outer        = cap->marks,
                           .number       = cap->n_spans++ };

    span.notes = span.mark.notes = notes_of(cap, cx, attrs, n);
    span.n_notes                 = n;
    if (!span.notes)
        return;
    if (span.per_operator) {
        span.mark.per_operator = !all;
        cap->marks             = push_mark(cap, cap->marks, span.mark);
    }
    cq_ctx_fail(cx, cq_vec_push(&cap->spans, span));
}

static void end(void *self, cq_ctx *cx, cq_mark_kind kind)
{
    cq_capture    *cap  = self;
    cq_annotation *last = cap->spans.n ? &cap->spans.items[cap->spans.n - 1] : NULL;

    if (!last || last->kind != kind || last->home != cx->scope) {
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, NULL,
                                "end scopes in the forward they begin in, the "
                                "innermost first",
                                "the end of an %s does not belong to the last that was begun",
                                kind == CQ_MARK_ANCHOR ? "anchor" : "annotation"));
        return;
    }
    if (kind == CQ_MARK_ANCHOR && !last->started)
        cq_warn(NULL, "an anchor is around no module with tensors, and left out");
    cap->marks = last->outer;
    cap->spans.n--;
}

/* Each module once, for users of its results. */
static void note_call(cq_capture *cap, cq_ctx *cx, const cq_scope *scope)
{
    cq_called called = { .path       = cq_ir_text(cap->graph, scope->path),
                         .class_name = cq_ir_text(cap->graph, scope->class_name) };

    if (cx->status != CQ_OK || cq_map_has(&cap->called, called.path))
        return;
    cq_ctx_fail(cx, cq_vec_push(&cap->graph->called, called));
    cq_ctx_fail(cx, cq_map_set(&cap->called, called.path, (void *)(uintptr_t)cap->graph->called.n));
}

static void note_return(cq_capture *cap, cq_ctx *cx, const cq_scope *scope, const cq_tensor *first)
{
    const size_t at = (size_t)(uintptr_t)cq_map_get(&cap->called, scope->path);
    cq_called   *c  = cx->status == CQ_OK && at ? &cap->graph->called.items[at - 1] : NULL;

    if (c && first && c->type.kind == CQ_TYPE_UNKNOWN)
        c->type = cq_ir_type_of(cap->graph, first);
}

static cq_tensor *entered(void *self, cq_ctx *cx, cq_scope *scope, cq_tensor *const *in, size_t n)
{
    cq_capture *cap   = self;
    cq_tensor  *first = n ? in[0] : NULL, *behind = NULL;

    note_call(cap, cx, scope);
    scope->outer_marks = cap->marks;
    for (size_t i = 0; i < cap->spans.n; i++) {
        cq_annotation *span = &cap->spans.items[i];

        if (span->home != scope->parent || span->per_operator)
            continue;
        if (span->kind == CQ_MARK_ANNOTATE) {
            cap->marks = push_mark(cap, cap->marks, span->mark);
        } else if (!span->started && first) {
            span->started = true;
            first = behind = scoped_anchor(cap, cx, span, first, "start");
        }
    }
    return behind;
}

/* Inner anchors come before outer ones, as their starts came after them. */
static cq_tensor *left(void *self, cq_ctx *cx, cq_scope *scope, cq_tensor *const *out, size_t n)
{
    cq_capture *cap   = self;
    cq_tensor  *first = n ? out[0] : NULL, *behind = NULL;

    if (cap->spans.n && cap->spans.items[cap->spans.n - 1].home == scope) {
        cq_ctx_fail(cx, cq_fail(CQ_E_ARGUMENT, scope->class_name, NULL,
                                "an annotation or anchor was begun but not ended"));
        return NULL;
    }
    note_return(cap, cx, scope, first);
    cap->marks = scope->outer_marks;
    for (size_t i = cap->spans.n; i-- > 0 && first;) {
        cq_annotation *span = &cap->spans.items[i];

        if (span->home != scope->parent || span->kind != CQ_MARK_ANCHOR || !span->started)
            continue;
        remove_anchor(span->end);
        first = behind = scoped_anchor(cap, cx, span, first, "end");
        span->end      = behind ? node_of(cap, behind) : NULL;
    }
    return behind;
}

/* ---- named outputs ---- */

static void output(void *self, cq_ctx *cx, const char *name, cq_tensor *x)
{
    cq_capture *cap   = self;
    cq_output   named = { cq_ir_text(cap->graph, name), cq_capture_value(cap, cx, x) };

    if (cap->block != cap->graph->top)
        cq_ctx_fail(cx, cq_fail(CQ_E_UNSUPPORTED, name, "name a value outside of it",
                                "a value in a branch or loop cannot be an output of the model"));
    else if (named.value)
        cq_ctx_fail(cx, cq_vec_push(&cap->outputs, named));
}

cq_status cq_capture_add_outputs(cq_capture *cap)
{
    cq_graph *g = cap->graph;

    for (size_t i = 0; i < cap->outputs.n; i++) {
        CQ_TRY(cq_vec_push(&g->top->returns, CQ_OPERAND_OF(cap->outputs.items[i].value)));
        CQ_TRY(cq_vec_push(&g->named_outputs, cap->outputs.items[i].name));
    }
    return CQ_OK;
}

const cq_observer cq_capture_observer = {
    .entered = entered,
    .left    = left,
    .begin   = begin,
    .end     = end,
    .anchor  = anchor,
    .output  = output,
};
