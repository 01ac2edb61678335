/* Finds the node of a finding from its path: "graph main > node #2 (If) > attribute then_branch >
 * graph body > node /conv/Conv (Conv) > attribute pads". */
#include "view/view.h"

#include <stdlib.h>

typedef struct where_part {
    const char *name;
    size_t      len;
    const char *rest; /* after it; NULL at the end */
} where_part;

/* Reads "KIND NAME" up to " > ". Parts have the operator in brackets after the name. */
static bool read_part(where_part *out, const char *at, const char *kind)
{
    const size_t n   = strlen(kind);
    const char  *end = at ? strstr(at, " > ") : NULL, *bracket;

    if (!at || strncmp(at, kind, n) != 0 || at[n] != ' ')
        return false;
    out->name = at + n + 1;
    out->len  = end ? (size_t)(end - out->name) : strlen(out->name);
    out->rest = end ? end + 3 : NULL;
    bracket   = strstr(out->name, " (");
    if (bracket && bracket < out->name + out->len)
        out->len = (size_t)(bracket - out->name);
    return true;
}

static bool is_named(const char *name, const where_part *p)
{
    return name && strlen(name) == p->len && memcmp(name, p->name, p->len) == 0;
}

/* A node without a name is "#INDEX". */
static const cq_onnx_node *find_node(cq_onnx_node *const *nodes, uint32_t n, const where_part *p)
{
    if (p->len && p->name[0] == '#') {
        const unsigned long i = strtoul(p->name + 1, NULL, 10);

        if (i < n && (!nodes[i]->name || !*nodes[i]->name))
            return nodes[i];
    }
    for (uint32_t i = 0; i < n; i++)
        if (is_named(nodes[i]->name, p))
            return nodes[i];
    return NULL;
}

static const cq_onnx_graph *find_body(const cq_onnx_node *node, const where_part *p)
{
    for (uint32_t i = 0; i < node->attribute.n; i++)
        if (is_named(node->attribute.items[i]->name, p))
            return node->attribute.items[i]->g;
    return NULL;
}

/* The innermost node of the path; *rest follows it. */
static const cq_onnx_node *walk(const cq_onnx_model *m, const char *where, const char **rest)
{
    cq_onnx_node *const *nodes = m->graph->node.items;
    uint32_t             n     = m->graph->node.n;
    const cq_onnx_node  *found = NULL;
    where_part           p;

    if (read_part(&p, where, "function")) {
        for (uint32_t i = 0; i < m->functions.n; i++)
            if (is_named(m->functions.items[i]->name, &p)) {
                nodes = m->functions.items[i]->node.items;
                n     = m->functions.items[i]->node.n;
                break;
            }
    } else if (!read_part(&p, where, "graph"))
        return NULL;
    while (read_part(&p, p.rest, "node")) {
        const cq_onnx_graph *body;

        found = find_node(nodes, n, &p);
        *rest = p.rest;
        if (!found || !read_part(&p, p.rest, "attribute"))
            break;
        body = find_body(found, &p);
        if (!body || !read_part(&p, p.rest, "graph"))
            break;
        nodes = body->node.items;
        n     = body->node.n;
    }
    return found;
}

cq_view_op *cq_view_op_of(const cq_view *v, const cq_onnx_node *node)
{
    const void *found = node ? cq_ptr_map_get(&v->by_node, node) : NULL;

    return found ? &v->ops.items[(uintptr_t)found - 1] : NULL;
}

cq_view_op *cq_view_op_at(const cq_view *v, const char *where)
{
    const char *rest;

    return cq_view_op_of(v, walk(v->model, where, &rest));
}

const char *cq_view_finding_text(const cq_view *v, const cq_onnx_finding *f)
{
    const char *rest = f->where;

    if (cq_view_op_of(v, walk(v->model, f->where, &rest)) == NULL)
        rest = f->where;
    return rest && *rest ? cq_arena_printf(v->arena, "%s: %s: %s", f->code, rest, f->what)
                         : cq_arena_printf(v->arena, "%s: %s", f->code, f->what);
}
