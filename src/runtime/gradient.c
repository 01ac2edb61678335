/* Gradient of ai.onnx.preview.training: emits the nodes that compute it, from the last node back to
 * the first. The gradients of an operator's inputs are functions of lib/onnx/gradients.py. */
#include "base/map.h"
#include "onnx/compose/compose.h"
#include "runtime/fuse/build.h"

#include <stdlib.h>
#include <string.h>

/* The emitted nodes. Names of values contain a space, so they cannot clash with names in valid
 * models. */
typedef struct maker {
    cq_compose c;
    cq_map     gradients, depends; /* name of a value to name of its gradient; names of
                                    * values that depend on an x */
    const cq_onnx_node *node;      /* the node being differentiated */
} maker;

static bool failed(const maker *m)
{
    return m->c.m->status != CQ_OK;
}

/* Calls a function of gradients.py on values. */
static const char *helper(maker *m, const char *name, const char *const *values, size_t n)
{
    cq_lib_function *f = cq_library_function("onnx.gradients", name);
    cq_val           v;

    if (!f && !failed(m))
        m->c.m->status = cq_fail(CQ_E_INTERNAL, NULL, NULL, "lib/onnx/gradients.py lacks %s", name);
    if (failed(m))
        return NULL;
    v = cq_compose_call_with(&m->c, f, values, n);
    return cq_compose_name(&m->c, v);
}

static void add_gradient(maker *m, const char *name, const char *gradient)
{
    const char *known = cq_map_get(&m->gradients, name);

    if (known && gradient)
        gradient = helper(m, "total", (const char *const[]){ known, gradient }, 2);
    if (gradient && !failed(m))
        m->c.m->status = cq_map_set(&m->gradients, name, (void *)gradient);
}

/* Whether the gradient of an input is needed: functions compute only those. */
static bool needs(cq_lang *l, const char *key)
{
    const maker          *m = (const maker *)l;
    const cq_onnx_schema *schema;

    if (cq_onnx_schema_find(&schema, NULL, m->node->op_type, CQ_COMPOSE_OPSET) != CQ_OK || !schema)
        return true;
    for (size_t i = 0; i < schema->n_inputs && i < m->node->input.n; i++)
        if (!strcmp(schema->inputs[i].name, key))
            return cq_map_has(&m->depends, m->node->input.items[i]);
    return false;
}

static cq_val run_rule(maker *m, cq_lib_function *rule, const cq_onnx_schema *schema)
{
    const char            *result   = m->node->output.items[0];
    const cq_compose_extra extras[] = { { "grad", cq_map_get(&m->gradients, result) },
                                        { "result", result },
                                        { 0 } };
    cq_val                 out;

    m->c.lang.needs = needs;
    out             = cq_compose_call(&m->c, rule, m->node, schema, extras);
    m->c.lang.needs = NULL;
    return out;
}

/* Emits the gradients of the inputs of a node whose first result has a gradient. */
static void differentiate_node(maker *m, const cq_onnx_node *node)
{
    const cq_onnx_schema *schema = NULL;
    cq_lib_function      *rule   = NULL;
    cq_val                back;
    bool                  is_own = !node->domain || !*node->domain;
    cq_status             status = cq_compose_find(&rule, "backward", node->op_type);

    if (status == CQ_OK)
        status = cq_onnx_schema_find(&schema, NULL, node->op_type, CQ_COMPOSE_OPSET);
    if (status == CQ_OK && (!rule || !is_own || !schema))
        status =
            cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "no gradient is defined for %s", node->op_type);
    if (status != CQ_OK) {
        m->c.m->status = status;
        return;
    }
    m->node = node;
    back    = run_rule(m, rule, schema);
    for (uint32_t i = 0; i < node->input.n && back.kind == CQ_VAL_DICT && !failed(m); i++) {
        const char   *operand = node->input.items[i], *gradient;
        cq_val        key     = cq_lang_text(&m->c.lang, schema->inputs[i].name);
        const cq_val *found   = failed(m) ? NULL : cq_dict_get(back.u.dict, key);

        if (!found || !cq_map_has(&m->depends, operand))
            continue;
        gradient = cq_compose_name(&m->c, *found);
        add_gradient(m, operand,
                     helper(m, node->input.n > 1 ? "summed_to" : "shaped_as",
                            (const char *const[]){ gradient, operand }, 2));
    }
}

/* Finds the values that depend on an x. */
static cq_status find_dependents(maker *m, const cq_onnx_node *gradient, cq_onnx_node *const *nodes,
                                 uint32_t n)
{
    for (uint32_t i = 0; i < gradient->input.n; i++)
        CQ_TRY(cq_map_set(&m->depends, gradient->input.items[i], m));
    for (uint32_t i = 0; i < n; i++) {
        bool depends = false;

        for (uint32_t k = 0; k < nodes[i]->input.n; k++)
            depends |= cq_map_has(&m->depends, nodes[i]->input.items[k]);
        for (uint32_t k = 0; depends && k < nodes[i]->output.n; k++)
            CQ_TRY(cq_map_set(&m->depends, nodes[i]->output.items[k], m));
    }
    return CQ_OK;
}

/* The name of the value to differentiate. The xs must be the node's inputs under their own names:
 * recomputing the graph with other values is not supported. */
static cq_status find_y(const char **out, cq_onnx_model *m, const cq_onnx_node *node)
{
    const cq_onnx_attribute *y = cq_onnx_node_attr(node, "y"), *xs = cq_onnx_node_attr(node, "xs");
    char                    *text;

    if (!y || !y->s.data || !xs || xs->strings.n != node->input.n || node->output.n > node->input.n)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "Gradient expects the attribute y and one input for each item of xs");
    for (uint32_t i = 0; i < xs->strings.n; i++) {
        const cq_onnx_bytes *x    = &xs->strings.items[i];
        const char          *name = node->input.items[i];

        if (strlen(name) != x->size || (x->size && memcmp(name, x->data, x->size) != 0))
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                           "Gradient gets %s for %.*s, expected the value of that name", name,
                           (int)(x->size < 60 ? x->size : 60),
                           x->data ? (const char *)x->data : "");
    }
    text = cq_onnx_alloc(m, y->s.size + 1);
    if (text)
        memcpy(text, y->s.data, y->s.size);
    *out = text;
    return m->status;
}

/* Names the results of Gradient as in the graph. */
static void name_results(maker *m, const cq_onnx_node *node)
{
    for (uint32_t i = 0; i < node->output.n && !failed(m); i++) {
        const char   *x = node->input.items[i], *gradient = cq_map_get(&m->gradients, x);
        cq_onnx_node *last;

        if (!gradient) /* y does not depend on x */
            gradient = helper(m, "zeros_of", &x, 1);
        if (failed(m))
            return;
        last = cq_onnx_function_add_node(m->c.m, m->c.body, "Identity", NULL, NULL);
        cq_onnx_node_add_input(m->c.m, last, gradient);
        cq_onnx_node_add_output(m->c.m, last, node->output.items[i]);
    }
}

static void make_all(maker *m, const cq_onnx_node *node, cq_onnx_node *const *nodes, uint32_t n)
{
    const char *y = "";

    m->c.m->status = find_y(&y, m->c.m, node);
    if (!failed(m))
        m->c.m->status = find_dependents(m, node, nodes, n);
    if (!failed(m))
        add_gradient(m, y, helper(m, "ones_of", &y, 1));
    for (uint32_t i = n; i-- > 0 && !failed(m);)
        if (nodes[i]->output.n && cq_map_has(&m->gradients, nodes[i]->output.items[0]) &&
            cq_map_has(&m->depends, nodes[i]->output.items[0]))
            differentiate_node(m, nodes[i]);
    name_results(m, node);
}

bool cq_rt_is_gradient(const cq_onnx_node *node)
{
    return !strcmp(node->op_type, "Gradient") && node->domain &&
           !strcmp(node->domain, "ai.onnx.preview.training");
}

cq_status cq_rt_gradient_nodes(cq_onnx_node ***out, uint32_t *n_out, cq_onnx_model **store,
                               const cq_onnx_node *node, cq_onnx_node *const *before, uint32_t n)
{
    cq_onnx_function *body;
    maker             m = { 0 };
    cq_status         status;

    if (!*store)
        CQ_TRY(cq_onnx_model_new(store, ""));
    body = cq_onnx_model_add_function(*store, "", node->op_type);
    if (!body)
        return (*store)->status;
    cq_compose_begin(&m.c, *store, body, "gradient ");
    make_all(&m, node, before, n);
    status           = (*store)->status;
    (*store)->status = CQ_OK;
    *out             = body->node.items;
    *n_out           = body->node.n;
    cq_compose_end(&m.c);
    cq_map_clear(&m.gradients);
    cq_map_clear(&m.depends);
    return status;
}
