/* Sorts nodes topologically: each node follows those whose outputs it reads. Nodes that are in
 * order keep their positions; a node that is needed earlier moves up to its first reader. */
#include "base/map.h"
#include "base/vec.h"
#include "onnx/reads.h"

#include <string.h>

typedef struct sorter {
    cq_map         makers; /* name of a value to index + 1 of the node that computes it */
    cq_onnx_node **from, **to;
    uint8_t       *state; /* of each node: 0 unvisited, 1 in progress, 2 appended to `to` */
    uint32_t       n, n_done;
    CQ_VEC(uint32_t) stack;
} sorter;

/* Returns CQ_E_NOT_FOUND, without record, if a later node computes the value. */
static cq_status expect_made(void *sorter_, const char *name)
{
    sorter *s     = sorter_;
    size_t  maker = (uintptr_t)cq_map_get(&s->makers, name);

    return maker && s->state[maker - 1] != 2 ? CQ_E_NOT_FOUND : CQ_OK;
}

/* Returns CQ_E_INVALID, without record, for a cycle. */
static cq_status wait_for(void *sorter_, const char *name)
{
    sorter *s     = sorter_;
    size_t  maker = (uintptr_t)cq_map_get(&s->makers, name);

    if (!maker || s->state[maker - 1] == 2)
        return CQ_OK;
    if (s->state[maker - 1] == 1)
        return CQ_E_INVALID;
    return cq_vec_push(&s->stack, (uint32_t)maker - 1);
}

static cq_status place(sorter *s, uint32_t first)
{
    CQ_TRY(cq_vec_push(&s->stack, first));
    while (s->stack.n) {
        uint32_t at = s->stack.items[s->stack.n - 1];

        if (s->state[at] == 0) {
            s->state[at] = 1;
            CQ_TRY(cq_onnx_each_read(s->from[at], wait_for, s));
            continue;
        }
        if (s->state[at] == 1)
            s->to[s->n_done++] = s->from[at];
        s->state[at] = 2;
        s->stack.n--;
    }
    return CQ_OK;
}

static cq_status is_in_order(bool *out, sorter *s)
{
    cq_status status = CQ_OK;

    for (uint32_t i = 0; i < s->n && status == CQ_OK; i++) {
        status      = cq_onnx_each_read(s->from[i], expect_made, s);
        s->state[i] = 2;
    }
    memset(s->state, 0, s->n);
    *out = status == CQ_OK;
    return status == CQ_E_NOT_FOUND ? CQ_OK : status;
}

/* Cycles are left unchanged, because the checker reports them. If two nodes compute values of the
 * same name, the intended order is ambiguous. */
static cq_status sort_nodes(bool *changed, cq_onnx_node **nodes, uint32_t n)
{
    sorter      s     = { .from = nodes, .n = n };
    const char *twice = NULL;
    bool        in_order;
    cq_status   status;

    s.state = cq_zalloc(s.n + 1);
    s.to    = cq_alloc_array((size_t)s.n + 1, sizeof *s.to);
    CQ_TRY_OR_DONE(s.state && s.to ? CQ_OK : CQ_E_NO_MEMORY);
    for (uint32_t i = 0; i < s.n; i++)
        for (uint32_t k = 0; k < s.from[i]->output.n; k++) {
            const char *name = s.from[i]->output.items[k];

            if (*name && cq_map_has(&s.makers, name))
                twice = name;
            else if (*name)
                CQ_TRY_OR_DONE(cq_map_set(&s.makers, name, (void *)(uintptr_t)(i + 1)));
        }
    CQ_TRY_OR_DONE(is_in_order(&in_order, &s));
    if (!in_order && twice) {
        status =
            cq_fail(CQ_E_INVALID, NULL, "calque check lists the violations",
                    "value '%s' is the output of two nodes, and the nodes are not in order", twice);
        goto done;
    }
    for (uint32_t i = 0; !in_order && i < s.n && status == CQ_OK; i++)
        if (s.state[i] == 0)
            status = place(&s, i);
    if (status == CQ_OK && !in_order) {
        memcpy(nodes, s.to, s.n * sizeof *s.to);
        *changed = true;
    }
    status = status == CQ_E_INVALID ? CQ_OK : status;
done:
    cq_map_clear(&s.makers);
    cq_vec_clear(&s.stack);
    cq_free(s.state);
    cq_free(s.to);
    return status;
}

static cq_status sort_with_inner(bool *changed, cq_onnx_node **nodes, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < nodes[i]->attribute.n; k++) {
            const cq_onnx_attribute *a = nodes[i]->attribute.items[k];

            if (a->g)
                CQ_TRY(sort_with_inner(changed, a->g->node.items, a->g->node.n));
            for (uint32_t j = 0; j < a->graphs.n; j++)
                CQ_TRY(sort_with_inner(changed, a->graphs.items[j]->node.items,
                                       a->graphs.items[j]->node.n));
        }
    return sort_nodes(changed, nodes, n);
}

CQ_API cq_status cq_onnx_model_sort(bool *changed, cq_onnx_model *m)
{
    CQ_NEED(changed && m);
    *changed = false;
    if (m->graph)
        CQ_TRY(sort_with_inner(changed, m->graph->node.items, m->graph->node.n));
    for (uint32_t i = 0; i < m->functions.n; i++)
        CQ_TRY(sort_with_inner(changed, m->functions.items[i]->node.items,
                               m->functions.items[i]->node.n));
    return CQ_OK;
}
