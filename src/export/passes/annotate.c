/* Attaches annotations to nodes. A mark applies to the first ONNX node of a module or an operator,
 * or to all of them; the nodes are known once the graph is converted and unused nodes are removed.
 * Later passes keep the notes of a node. */
#include "base/pytext.h"
#include "base/str.h"
#include "export/exporter.h"

/* Whether a node does not depend on the inputs: a Constant, a transposed weight. Its mark informs
 * the nodes after it. */
static bool is_fixed(const cq_node *n)
{
    if (n->n_blocks)
        return false;
    for (size_t i = 0; i < n->n_inputs; i++) {
        const cq_value *v = n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;

        if (v && !v->data && !(v->node && v->node->mark))
            return false;
    }
    return true;
}

static bool is_constant(const cq_node *n)
{
    return strcmp(n->op, "onnx::Constant") == 0;
}

/* Outer notes come before inner ones, which count more. */
static cq_status give(cq_node *n, const cq_marks *marks, bool to_fixed)
{
    cq_mark *m;

    if (!marks)
        return CQ_OK;
    CQ_TRY(give(n, marks->outer, to_fixed));
    m = marks->mark;
    if (m->all ? to_fixed || is_constant(n) : m->done || (n->mark && !to_fixed))
        return CQ_OK;
    m->done = true;
    return cq_ir_add_notes(n, m->notes, m->n_notes, true);
}

static cq_status annotate(cq_node *n, void *user)
{
    (void)user;
    n->mark = is_fixed(n);
    return n->is_anchor ? CQ_OK : give(n, n->marks, false);
}

/* A module that computes nothing from its inputs has only fixed nodes: then the first of these. */
static cq_status annotate_fixed(cq_node *n, void *user)
{
    bool fixed = n->mark;

    (void)user;
    n->mark = false;
    return fixed && !n->is_anchor ? give(n, n->marks, true) : CQ_OK;
}

cq_status cq_export_annotate(cq_exporter *ex)
{
    CQ_TRY(cq_ir_each_node(ex->graph->top, annotate, NULL));
    return cq_ir_each_node(ex->graph->top, annotate_fixed, NULL);
}

/* ---- notes as text ---- */

static void quote(cq_str *s, const char *text)
{
    cq_str_add_char(s, '"');
    for (; *text; text++) {
        if ((unsigned char)*text < ' ')
            cq_str_printf(s, "\\u%04x", *text);
        else
            cq_str_printf(s, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    }
    cq_str_add_char(s, '"');
}

static void json(cq_str *s, const cq_operand *o)
{
    switch (o->kind) {
    case CQ_OPERAND_INT: cq_str_printf(s, "%lld", (long long)o->u.i.value); break;
    case CQ_OPERAND_FLOAT: cq_str_add_py_float(s, o->u.f); break;
    case CQ_OPERAND_STR: quote(s, o->u.s); break;
    case CQ_OPERAND_LIST:
        cq_str_add_char(s, '[');
        for (size_t i = 0; i < o->u.list.n; i++) {
            cq_str_add(s, i ? ", " : "");
            json(s, &o->u.list.items[i]);
        }
        cq_str_add_char(s, ']');
        break;
    default: break;
    }
}

void cq_export_note_text(cq_str *s, const cq_operand *note)
{
    if (note->kind == CQ_OPERAND_STR)
        cq_str_add(s, note->u.s);
    else
        json(s, note);
}
