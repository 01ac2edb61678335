/* The builder calls of model.h for attributes, one per type of value. */
#include "onnx/model.h"

#include <string.h>

/* Appends an attribute of that type to the node; the caller sets its value. */
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

/* Copies data to the arena. The result is not NULL even if data is empty. */
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

/* Accessors of single values and of lists. */
#define ONE(call, c_type, kind, field, stored)                                                     \
    cq_onnx_attribute *call(cq_onnx_model *m, cq_onnx_node *node, const char *name, c_type value)  \
    {                                                                                              \
        cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_##kind);                            \
                                                                                                   \
        if (a)                                                                                     \
            a->field = stored;                                                                     \
        return a;                                                                                  \
    }
#define MANY(call, c_type, kind, field, stored)                                                    \
    cq_onnx_attribute *call(cq_onnx_model *m, cq_onnx_node *node, const char *name,                \
                            c_type const *values, size_t n)                                        \
    {                                                                                              \
        cq_onnx_attribute *a = add(m, node, name, CQ_ONNX_ATTR_##kind);                            \
                                                                                                   \
        for (size_t i = 0; a && i < n; i++)                                                        \
            cq_onnx_list_push(m, &a->field, stored);                                               \
        return a;                                                                                  \
    }

ONE(cq_onnx_attr_tensor, cq_tensor *, TENSOR, t, cq_onnx_tensor_new(m, NULL, value))
ONE(cq_onnx_attr_graph, cq_onnx_graph *, GRAPH, g, value)
ONE(cq_onnx_attr_type, cq_onnx_type *, TYPE_PROTO, tp, value)

MANY(cq_onnx_attr_ints, int64_t, INTS, ints, values[i])
MANY(cq_onnx_attr_floats, float, FLOATS, floats, values[i])
MANY(cq_onnx_attr_strings, const char *, STRINGS, strings,
     bytes_copy(m, values[i], strlen(values[i])))
MANY(cq_onnx_attr_tensors, cq_tensor *, TENSORS, tensors, cq_onnx_tensor_new(m, NULL, values[i]))
MANY(cq_onnx_attr_graphs, cq_onnx_graph *, GRAPHS, graphs, values[i])

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
