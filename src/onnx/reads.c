/* Walks over the values that a node reads. A subgraph reads values of the enclosing graph, except
 * those that values of its own hide. */
#include "onnx/reads.h"

#include "base/map.h"

/* The names that a subgraph defines. */
typedef struct read_scope read_scope;
struct read_scope {
    cq_map            names;
    const read_scope *outer;
};

typedef struct reader {
    const read_scope *scope; /* NULL for inputs of the node itself */
    cq_onnx_on_read   visit;
    void             *user;
} reader;

static cq_status read_node(reader *r, const cq_onnx_node *node);

static bool is_inner(const reader *r, const char *name)
{
    for (const read_scope *scope = r->scope; scope; scope = scope->outer)
        if (cq_map_has(&scope->names, name))
            return true;
    return false;
}

static cq_status add_names(cq_map *names, const cq_onnx_graph *g)
{
    for (uint32_t i = 0; i < g->input.n; i++)
        if (g->input.items[i]->name)
            CQ_TRY(cq_map_set(names, g->input.items[i]->name, names));
    for (uint32_t i = 0; i < g->initializer.n; i++)
        if (g->initializer.items[i]->name)
            CQ_TRY(cq_map_set(names, g->initializer.items[i]->name, names));
    for (uint32_t i = 0; i < g->sparse_initializer.n; i++) {
        const cq_onnx_tensor *values = g->sparse_initializer.items[i]->values;

        if (values && values->name)
            CQ_TRY(cq_map_set(names, values->name, names));
    }
    for (uint32_t i = 0; i < g->node.n; i++)
        for (uint32_t k = 0; k < g->node.items[i]->output.n; k++)
            CQ_TRY(cq_map_set(names, g->node.items[i]->output.items[k], names));
    return CQ_OK;
}

/* The decoder bounds the depth of graphs. */
static cq_status read_graph(reader *r, const cq_onnx_graph *g)
{
    read_scope own = { .outer = r->scope };
    cq_status  status;

    r->scope = &own;
    CQ_TRY_OR_DONE(add_names(&own.names, g));
    for (uint32_t i = 0; i < g->node.n; i++)
        CQ_TRY_OR_DONE(read_node(r, g->node.items[i]));
    for (uint32_t i = 0; i < g->output.n; i++)
        if (g->output.items[i]->name && !is_inner(r, g->output.items[i]->name))
            CQ_TRY_OR_DONE(r->visit(r->user, g->output.items[i]->name));
    status = CQ_OK;
done:
    r->scope = own.outer;
    cq_map_clear(&own.names);
    return status;
}

static cq_status read_node(reader *r, const cq_onnx_node *node)
{
    for (uint32_t i = 0; i < node->input.n; i++)
        if (!is_inner(r, node->input.items[i]))
            CQ_TRY(r->visit(r->user, node->input.items[i]));
    for (uint32_t i = 0; i < node->attribute.n; i++) {
        const cq_onnx_attribute *a = node->attribute.items[i];

        if (a->g)
            CQ_TRY(read_graph(r, a->g));
        for (uint32_t k = 0; k < a->graphs.n; k++)
            CQ_TRY(read_graph(r, a->graphs.items[k]));
    }
    return CQ_OK;
}

cq_status cq_onnx_each_read(const cq_onnx_node *node, cq_onnx_on_read visit, void *user)
{
    reader r = { .visit = visit, .user = user };

    return read_node(&r, node);
}
