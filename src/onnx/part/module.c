/* Finds the boundary of a module: the values that are computed inside and read outside, or the
 * reverse. A node belongs to a module by its name, /layer3/0/conv1/Conv, as torch.onnx and calque
 * write it, or by the scopes in its metadata, as the exporter of PyTorch 2 writes them. */
#include "onnx/part/cut.h"

#include "base/str.h"
#include "onnx/reads.h"

#include <stdio.h>
#include <string.h>

#define SCOPES "pkg.torch.onnx.name_scopes" /* ['', 'layer3', 'layer3.0', 'conv2d_4'] */

typedef struct boundary {
    const cq_onnx_graph *g;
    cq_map               makers;
    cq_map               found;        /* names that are in one of the lists */
    cq_map               graph_inputs; /* inputs of the model without a default */
    uint8_t             *inside;       /* whether each node is in the module */
    uint8_t             *depends;      /* whether each node depends on inputs of the model */
    uint32_t             at;           /* the node that is being visited */
    cq_part_names       *inputs, *outputs;
} boundary;

static char separator(char c)
{
    return c == '/' ? '.' : c;
}

/* Whether a name begins with the scope, followed by a separator; . and / are equivalent. */
static bool has_scope(const char *name, const char *module)
{
    name += *name == '/';
    module += *module == '/';
    while (*module && separator(*name) == separator(*module)) {
        name++;
        module++;
    }
    return (!*module || (separator(*module) == '.' && !module[1])) && separator(*name) == '.';
}

static bool lists_scope(const char *scopes, const char *module)
{
    const size_t len = strlen(module);

    for (const char *p = strchr(scopes, '\''); p; p = strchr(p + 1, '\'')) {
        size_t i = 0;

        while (i < len && separator(p[1 + i]) == separator(module[i]))
            i++;
        if (i == len && p[1 + i] == '\'')
            return true;
    }
    return false;
}

static bool is_inside(const cq_onnx_node *node, const char *module)
{
    if (node->name && has_scope(node->name, module))
        return true;
    for (uint32_t i = 0; i < node->metadata_props.n; i++) {
        const cq_onnx_entry *e = node->metadata_props.items[i];

        if (e->key && e->value && strcmp(e->key, SCOPES) == 0 && lists_scope(e->value, module))
            return true;
    }
    return false;
}

/* Fails with the outermost scopes of the model as hint. */
static cq_status fail_unknown(const cq_onnx_graph *g, const char *module)
{
    cq_map    seen  = { 0 };
    cq_str    names = { 0 };
    cq_status status;

    for (uint32_t i = 0; i < g->node.n && seen.n < 12; i++) {
        const char *name = g->node.items[i]->name ? g->node.items[i]->name : "";
        char        scope[64];
        size_t      len;

        name += *name == '/';
        len = strcspn(name, "/");
        if (!name[len] || len >= sizeof scope)
            continue;
        snprintf(scope, sizeof scope, "%.*s", (int)len, name);
        if (cq_map_has(&seen, scope) || cq_map_set(&seen, scope, &seen) != CQ_OK)
            continue;
        cq_str_printf(&names, "%s%s", names.len ? ", " : "", scope);
    }
    status = cq_fail(CQ_E_NOT_FOUND, NULL, NULL, "no node is in the scope of module '%s'", module);
    if (names.len)
        status = cq_error_add_hint(status, "the outermost scopes are %s", names.text);
    else
        status = cq_error_add_hint(status, "node names have no scopes; use --inputs and --outputs");
    cq_str_clear(&names);
    cq_map_clear(&seen);
    return status;
}

static cq_status note_dependence(void *boundary_, const char *name)
{
    boundary *b     = boundary_;
    size_t    maker = (uintptr_t)cq_map_get(&b->makers, name);

    if (maker ? b->depends[maker - 1] : cq_map_has(&b->graph_inputs, name))
        b->depends[b->at] = 1;
    return CQ_OK;
}

static cq_status add_once(boundary *b, cq_part_names *list, const char *name)
{
    if (cq_map_has(&b->found, name))
        return CQ_OK;
    CQ_TRY(cq_map_set(&b->found, name, b));
    return cq_vec_push(list, name);
}

static cq_status note_crossing(void *boundary_, const char *name)
{
    boundary *b         = boundary_;
    size_t    maker     = (uintptr_t)cq_map_get(&b->makers, name);
    bool      is_inner  = maker && b->inside[maker - 1];
    bool      is_linked = maker ? b->depends[maker - 1] : cq_map_has(&b->graph_inputs, name);

    if (!*name || is_inner == b->inside[b->at])
        return CQ_OK;
    if (is_inner)
        return add_once(b, b->outputs, name);
    return is_linked ? add_once(b, b->inputs, name) : CQ_OK;
}

static cq_status index_inputs(boundary *b)
{
    cq_map    defaults = { 0 };
    cq_status status   = CQ_OK;

    for (uint32_t i = 0; i < b->g->initializer.n && status == CQ_OK; i++)
        if (b->g->initializer.items[i]->name)
            status = cq_map_set(&defaults, b->g->initializer.items[i]->name, b);
    for (uint32_t i = 0; i < b->g->input.n && status == CQ_OK; i++) {
        const char *name = b->g->input.items[i]->name;

        if (name && !cq_map_has(&defaults, name))
            status = cq_map_set(&b->graph_inputs, name, b);
    }
    cq_map_clear(&defaults);
    return status;
}

/* Nodes are in order, so the properties of the nodes that a node reads are known. */
static cq_status find(boundary *b, const char *module)
{
    const cq_onnx_graph *g        = b->g;
    uint32_t             n_inside = 0;

    CQ_TRY(cq_part_index_makers(&b->makers, g));
    CQ_TRY(index_inputs(b));
    for (uint32_t i = 0; i < g->node.n; i++) {
        b->inside[i] = is_inside(g->node.items[i], module);
        n_inside += b->inside[i];
        b->at = i;
        CQ_TRY(cq_onnx_each_read(g->node.items[i], note_dependence, b));
    }
    if (!n_inside)
        return fail_unknown(g, module);
    for (b->at = 0; b->at < g->node.n; b->at++)
        CQ_TRY(cq_onnx_each_read(g->node.items[b->at], note_crossing, b));
    for (uint32_t i = 0; i < g->output.n; i++) {
        const char *name  = g->output.items[i]->name ? g->output.items[i]->name : "";
        size_t      maker = (uintptr_t)cq_map_get(&b->makers, name);

        if (maker && b->inside[maker - 1])
            CQ_TRY(add_once(b, b->outputs, name));
    }
    if (!b->outputs->n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "no value of module '%s' is read outside of it",
                       module);
    return CQ_OK;
}

cq_status cq_part_find_module(cq_part_names *inputs, cq_part_names *outputs, const cq_onnx_model *m,
                              const char *module)
{
    const cq_onnx_graph *g = m->graph;
    boundary             b = { .g = g, .inputs = inputs, .outputs = outputs };
    cq_status            status;

    if (!*module || strcmp(module, "/") == 0 || strcmp(module, ".") == 0)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected the name of a module, got '%s'",
                       module);
    b.inside  = cq_zalloc((size_t)g->node.n + 1);
    b.depends = cq_zalloc((size_t)g->node.n + 1);
    status    = b.inside && b.depends ? find(&b, module) : CQ_E_NO_MEMORY;
    cq_map_clear(&b.makers);
    cq_map_clear(&b.found);
    cq_map_clear(&b.graph_inputs);
    cq_free(b.inside);
    cq_free(b.depends);
    return status;
}
