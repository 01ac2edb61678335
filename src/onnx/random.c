/* Finds nodes that draw random numbers: two runs of such a model may differ. */
#include "onnx/model.h"

static const char *const random_ops[] = { "RandomNormal",      "RandomNormalLike", "RandomUniform",
                                          "RandomUniformLike", "Multinomial",      "Bernoulli" };

/* Dropout is the identity unless its third input enables training mode. */
static bool is_random(const cq_onnx_node *n)
{
    const char *op = n->op_type ? n->op_type : "";

    if (n->domain && *n->domain && strcmp(n->domain, "ai.onnx") != 0)
        return false;
    if (CQ_IS_AMONG(op, random_ops))
        return true;
    return strcmp(op, "Dropout") == 0 && n->input.n > 2 && n->input.items[2] && *n->input.items[2];
}

static const cq_onnx_node *find_in(const cq_onnx_graph *g);

static const cq_onnx_node *find_in_node(const cq_onnx_node *n)
{
    const cq_onnx_node *found = is_random(n) ? n : NULL;

    for (size_t i = 0; i < n->attribute.n && !found; i++) {
        const cq_onnx_attribute *a = n->attribute.items[i];

        found = a->g ? find_in(a->g) : NULL;
        for (size_t k = 0; k < a->graphs.n && !found; k++)
            found = find_in(a->graphs.items[k]);
    }
    return found;
}

/* The decoder has bounded the depth. */
static const cq_onnx_node *find_in(const cq_onnx_graph *g)
{
    const cq_onnx_node *found = NULL;

    for (size_t i = 0; i < g->node.n && !found; i++)
        found = find_in_node(g->node.items[i]);
    return found;
}

CQ_API const char *cq_onnx_model_random_node(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, NULL);
    const cq_onnx_node *found = m->graph ? find_in(m->graph) : NULL;

    for (size_t i = 0; i < m->functions.n && !found; i++)
        for (size_t k = 0; k < m->functions.items[i]->node.n && !found; k++)
            found = find_in_node(m->functions.items[i]->node.items[k]);
    if (!found)
        return NULL;
    return found->name && *found->name ? found->name : found->op_type;
}
