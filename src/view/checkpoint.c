/* A checkpoint as a view: each tensor is an item in the boxes of its modules. The tensors become
 * the inputs of nodes of a model without edges, so boxes, repeats and statistics are those of
 * models. */
#include "view/view.h"

#include "onnx/tensor.h"

#define DOMAIN "checkpoint"

/* "layer1.0.conv1.weight" as "/layer1/0/conv1/weight"; *last is its last part. */
static char *path_of(cq_arena *arena, const char *name, const char **last)
{
    char *path = cq_arena_printf(arena, "/%s", name);

    for (char *at = path; at && *at; at++)
        if (*at == '.')
            *at = '/';
    *last = path ? strrchr(path, '/') + 1 : NULL;
    return path;
}

static cq_status add_tensor(cq_onnx_model *m, const char *name, cq_tensor *tensor)
{
    const char   *last;
    const char   *path = path_of(m->arena, name, &last);
    cq_onnx_node *node;

    if (!path)
        return CQ_E_NO_MEMORY;
    node = cq_onnx_graph_add_node(m, NULL, *last ? last : "tensor", DOMAIN, path);
    if (!node)
        return CQ_E_NO_MEMORY;
    cq_onnx_node_add_input(m, node, name);
    cq_onnx_node_add_output(m, node, path);
    return cq_onnx_graph_add_initializer(m, NULL, name, tensor) ? CQ_OK : m->status;
}

static cq_status model_of(cq_onnx_model **out, const cq_weights *weights)
{
    CQ_TRY(cq_onnx_model_new(out, "checkpoint"));
    cq_onnx_model_add_opset(*out, DOMAIN, 1);
    for (size_t i = 0; i < cq_weights_count(weights); i++)
        if (cq_weights_tensor(weights, i))
            CQ_TRY(add_tensor(*out, cq_weights_name(weights, i), cq_weights_tensor(weights, i)));
    return CQ_OK;
}

bool cq_view_is_checkpoint(const cq_onnx_model *m)
{
    return m->opset_import.n == 1 && m->opset_import.items[0]->domain &&
           strcmp(m->opset_import.items[0]->domain, DOMAIN) == 0;
}

CQ_API cq_status cq_weights_view_file(const char *path, const cq_weights *weights,
                                      cq_view_format format, const char *title)
{
    CQ_NEED(path && weights);
    cq_onnx_model  *m = NULL;
    cq_view_options options;
    cq_status       status = model_of(&m, weights);

    cq_view_options_init(&options);
    options.title = title;
    if (status == CQ_OK)
        status = cq_onnx_model_view_file(path, m, format, &options);
    cq_onnx_model_free(m);
    return status;
}
