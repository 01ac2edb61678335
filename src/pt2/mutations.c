/* Mutated buffers and inputs of a program. A decomposed program returns their new values, and its
 * signature lists them. In others, operators work in place, on an input of the graph or on a view
 * of one; they are found here. */
#include "pt2/model.h"

/* "aten::add_.Tensor", but not "aten::__and__". */
static bool is_in_place(const char *op)
{
    const size_t len = strcspn(op, ".");

    return len > 2 && op[len - 1] == '_' && op[len - 2] != '_';
}

static bool is_view(const char *op)
{
    const cq_op *row = cq_op_find(op);

    return row && (row->def->view || (row->def->flags & CQ_OP_PARTS));
}

/* By slot, the input + 1 whose memory the value shows; 0: its own. */
typedef struct roots {
    uint32_t *of;
    bool     *changed; /* by input */
} roots;

static uint32_t root_of(const roots *r, const cq_pt2_arg *a)
{
    return a->kind == CQ_PT2_SLOT ? r->of[a->u.slot] : 0;
}

static void set_root(const roots *r, const cq_pt2_arg *a, uint32_t root)
{
    if (a->kind == CQ_PT2_SLOT)
        r->of[a->u.slot] = root;
    for (size_t i = 0; a->kind == CQ_PT2_LIST && i < a->u.list.n; i++)
        set_root(r, &a->u.list.items[i], root);
}

static void note_change(const roots *r, const cq_pt2_arg *a)
{
    uint32_t root = root_of(r, a);

    if (root)
        r->changed[root - 1] = true;
}

/* Normalisations update statistics in training mode, though their names do not have a trailing
 * _. */
static void note_statistics(const roots *r, const cq_pt2_node *n)
{
    bool trains = false;

    for (size_t i = 0; i < n->n_inputs; i++)
        trains |=
            (strcmp(n->names[i], "training") == 0 || strcmp(n->names[i], "use_input_stats") == 0) &&
            n->inputs[i].kind == CQ_PT2_BOOL && n->inputs[i].u.b;
    for (size_t i = 0; i < n->n_inputs && trains; i++)
        if (strcmp(n->names[i], "running_mean") == 0 || strcmp(n->names[i], "running_var") == 0)
            note_change(r, &n->inputs[i]);
}

static void visit(const roots *r, const cq_pt2_node *n)
{
    if (!n->op || !n->n_inputs)
        return;
    if (strcmp(n->op, "aten::batch_norm") == 0 || strcmp(n->op, "aten::instance_norm") == 0)
        note_statistics(r, n);
    if (is_in_place(n->op))
        note_change(r, &n->inputs[0]);
    if (is_in_place(n->op) || is_view(n->op))
        for (size_t i = 0; i < n->n_outputs; i++)
            set_root(r, &n->outputs[i], root_of(r, &n->inputs[0]));
}

static cq_status find_changed(cq_pt2 *p, const roots *r)
{
    const cq_pt2_graph *g = p->program->graph;

    for (size_t i = 0; i < g->n_inputs; i++)
        set_root(r, &g->inputs[i], (uint32_t)i + 1);
    for (size_t i = 0; i < g->n_nodes; i++)
        visit(r, &g->nodes[i]);
    for (size_t i = 0; i < g->n_inputs; i++)
        if (r->changed[i])
            CQ_TRY(cq_vec_push(&p->changed, (uint32_t)i));
    return CQ_OK;
}

cq_status cq_pt2_find_changes(cq_pt2 *p)
{
    const cq_pt2_graph *g = p->program->graph;
    roots     r      = { cq_zalloc((g->n_slots + 1) * sizeof *r.of), cq_zalloc(g->n_inputs + 1) };
    cq_status status = r.of && r.changed ? find_changed(p, &r) : CQ_E_NO_MEMORY;

    cq_free(r.of);
    cq_free(r.changed);
    return status;
}
