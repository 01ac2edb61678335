/* The builder calls of model.h for attributes, one per type of value. */
#include "onnx/model.h"

#include <string.h>

/* An attribute of that type at the end of the node's; its value is still to be set. */
static cq_onnx_attribute *add(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                              cq_onnx_attribute_type type)
{
    cq_onnx_attribute *a = node ? cq_onnx_alloc(m, sizeof *a) : NULL;

    if (!a)
        return NULL;
    a->name = cq_onnx_text(m, name);
    a->type = (int32_t)type;
    cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_TYPE);
    cq_onnx_list_push(m, &node->attribute, a);
    return a;
}

/* A copy of data in the arena. Present even when it is empty. */
static cq_onnx_bytes bytes_copy(cq_onnx_model *m, const void *data, size_t size)
{
    void *copy = cq_onnx_alloc(m, size);

    if (copy && size)
        memcpy(copy, data, size);
    return (cq_onnx_bytes){ copy, copy ? size : 0 };
}

cq_onnx_attribute *cq_onnx_attr_int(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                    int64_t value)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_INT);

    if (!a)
        return NULL;
    a->i = value;
    cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_I);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_float(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                      float value)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_FLOAT);

    if (!a)
        return NULL;
    a->f = value;
    cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_F);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_bytes(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                      const void *data, size_t size)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_STRING);

    if (a)
        a->s = bytes_copy(m, data, size);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_string(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       const char *value)
{
    return cq_onnx_attr_bytes(m, node, name, value, strlen(value));
}

cq_onnx_attribute *cq_onnx_attr_tensor(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       cq_tensor *value)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_TENSOR);

    if (a)
        a->t = cq_onnx_tensor_new(m, NULL, value);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_graph(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                      cq_onnx_graph *value)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_GRAPH);

    if (a)
        a->g = value;
    return a;
}

cq_onnx_attribute *cq_onnx_attr_type(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                     cq_onnx_type *value)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_TYPE_PROTO);

    if (a)
        a->tp = value;
    return a;
}

cq_onnx_attribute *cq_onnx_attr_ints(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                     const int64_t *values, size_t n)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_INTS);

    for (size_t i = 0; a && i < n; i++)
        cq_onnx_list_push(m, &a->ints, values[i]);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_floats(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       const float *values, size_t n)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_FLOATS);

    for (size_t i = 0; a && i < n; i++)
        cq_onnx_list_push(m, &a->floats, values[i]);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_strings(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                        const char *const *values, size_t n)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_STRINGS);

    for (size_t i = 0; a && i < n; i++)
        cq_onnx_list_push(m, &a->strings, bytes_copy(m, values[i], strlen(values[i])));
    return a;
}

cq_onnx_attribute *cq_onnx_attr_tensors(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                        cq_tensor *const *values, size_t n)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_TENSORS);

    for (size_t i = 0; a && i < n; i++)
        cq_onnx_list_push(m, &a->tensors, cq_onnx_tensor_new(m, NULL, values[i]));
    return a;
}

cq_onnx_attribute *cq_onnx_attr_graphs(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                       cq_onnx_graph *const *values, size_t n)
{
    cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_GRAPHS);

    for (size_t i = 0; a && i < n; i++)
        cq_onnx_list_push(m, &a->graphs, values[i]);
    return a;
}

cq_onnx_attribute *cq_onnx_attr_ref(cq_onnx_model *m, cq_onnx_node *node, const char *name,
                                    cq_onnx_attribute_type type, const char *ref_attr_name)
{
    cq_onnx_attribute *a = add(m, node, name, type);

    if (a)
        a->ref_attr_name = cq_onnx_text(m, ref_attr_name);
    return a;
}

const cq_onnx_attribute *cq_onnx_node_attr(const cq_onnx_node *node, const char *name)
{
    for (uint32_t i = 0; i < node->attribute.n; i++) {
        const cq_onnx_attribute *a = node->attribute.items[i];

        if (a->name && strcmp(a->name, name) == 0)
            return a;
    }
    return NULL;
}
