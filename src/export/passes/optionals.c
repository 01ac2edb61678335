/* Inputs that may be empty: the contents are read where a branch has tested that they exist. The
 * capture reads them immediately; here the read moves into the branch, if all users are in it.
 * Reads that remain outside are converted by symbolic/sequence.c. */
#include "export/exporter.h"

#include "base/map.h"
#include "capture/capture.h"

static bool is_op(const cq_node *n, const char *op)
{
    return n && strcmp(n->op, op) == 0;
}

/* ---- branches that test an input ---- */

/* Whether a block of an If handles the case that the input has a value. */
static bool is_asked(const cq_block *block, const cq_value *input)
{
    const cq_node  *owner = block->owner;
    const cq_value *truth;
    bool            negated;

    if (!is_op(owner, "prim::If"))
        return false;
    truth = cq_capture_truth(&owner->inputs[0], &negated);
    return truth && is_op(truth->node, "optional::has") &&
           truth->node->inputs[0].u.value == input && block == owner->blocks[negated];
}

/* The outermost enclosing block in which the input exists; NULL: no branch has tested it. */
static cq_block *asked_around(cq_block *block, const cq_value *input)
{
    cq_block *found = NULL;

    for (; block && block->owner; block = block->owner->block)
        if (is_asked(block, input))
            found = block;
    return found;
}

bool cq_export_is_asked_for(const cq_node *get)
{
    return asked_around(get->block, get->inputs[0].u.value) != NULL;
}

/* ---- uses of the contents ---- */

typedef struct uses {
    cq_ptr_map blocks; /* contents of an input -> the innermost block around all of its uses */
    cq_block  *block;  /* of the use */
    cq_status  status;
} uses;

static int depth_of(const cq_block *b)
{
    int depth = 0;

    for (; b->owner; b = b->owner->block)
        depth++;
    return depth;
}

static cq_block *common_block(cq_block *a, cq_block *b)
{
    int da = depth_of(a), db = depth_of(b);

    for (; da > db; da--)
        a = a->owner->block;
    for (; db > da; db--)
        b = b->owner->block;
    for (; a != b; b = b->owner->block)
        a = a->owner->block;
    return a;
}

static void note_use(cq_value *v, void *user)
{
    uses     *u = user;
    cq_block *known;

    if (u->status != CQ_OK || !is_op(v->node, "optional::get"))
        return;
    known     = cq_ptr_map_get(&u->blocks, v);
    u->status = cq_ptr_map_set(&u->blocks, v, known ? common_block(known, u->block) : u->block);
}

static void note_returns(uses *u, cq_block *b)
{
    u->block = b;
    for (size_t i = 0; i < b->returns.n; i++)
        cq_ir_each_use(&b->returns.items[i], note_use, u);
}

static cq_status note_node(cq_node *n, void *user)
{
    uses *u = user;

    u->block = n->block;
    for (size_t i = 0; i < n->n_inputs; i++)
        cq_ir_each_use(&n->inputs[i], note_use, u);
    for (size_t i = 0; i < n->n_attrs; i++)
        cq_ir_each_use(&n->attrs[i].value, note_use, u);
    for (size_t i = 0; i < n->n_blocks; i++)
        note_returns(u, n->blocks[i]);
    return u->status;
}

cq_status cq_export_move_optionals(cq_graph *g)
{
    uses      u      = { .status = CQ_OK };
    cq_status status = cq_ir_each_node(g->top, note_node, &u);

    note_returns(&u, g->top);
    for (cq_node *n = g->top->first, *next; n && status == CQ_OK; n = next) {
        cq_block *used =
            is_op(n, "optional::get") ? cq_ptr_map_get(&u.blocks, n->outputs[0]) : NULL;
        cq_block *to = used ? asked_around(used, n->inputs[0].u.value) : NULL;

        next = n->next;
        if (!to)
            continue;
        cq_ir_unlink(n);
        cq_ir_move_before(n, to, to->first);
        n->outputs[0]->block = to;
    }
    cq_ptr_map_clear(&u.blocks);
    return status == CQ_OK ? u.status : status;
}
