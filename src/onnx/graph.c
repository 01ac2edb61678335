/* Implements <calque/graph.h>. */
#include "onnx/model.h"
#include "onnx/schema.h"

#include <calque/graph.h>

#include <string.h>

static const char *text_or_empty(const char *text)
{
    return text ? text : "";
}

/* An item of a list in a message that may be NULL. */
#define AT(list, index)            ((index) < (list).n ? (list).items[index] : NULL)
#define TEXT(message, field)       text_or_empty((message) ? (message)->field : NULL)
#define N(message, list)           ((message) ? (message)->list.n : 0)
#define ITEM(message, list, index) ((message) ? AT((message)->list, index) : NULL)

/* Accessors of a field; they accept NULL messages. */
#define TEXT_FIELD(call, type, field)                                                              \
    CQ_API const char *call(const type *m)                                                         \
    {                                                                                              \
        return TEXT(m, field);                                                                     \
    }
#define COUNT(call, type, list)                                                                    \
    CQ_API size_t call(const type *m)                                                              \
    {                                                                                              \
        return N(m, list);                                                                         \
    }
#define ITEM_OF(call, type, list, item)                                                            \
    CQ_API const item *call(const type *m, size_t index)                                           \
    {                                                                                              \
        return ITEM(m, list, index);                                                               \
    }
#define TEXT_ITEM(call, type, list)                                                                \
    CQ_API const char *call(const type *m, size_t index)                                           \
    {                                                                                              \
        return text_or_empty(ITEM(m, list, index));                                                \
    }

static bool entry_at(const cq_onnx_entries *list, size_t index, const char **key,
                     const char **value)
{
    const cq_onnx_entry *entry = list ? AT(*list, index) : NULL;

    if (key)
        *key = TEXT(entry, key);
    if (value)
        *value = TEXT(entry, value);
    return entry != NULL;
}

/* ---- the model ---- */

CQ_API const cq_onnx_graph *cq_onnx_model_graph(const cq_onnx_model *m)
{
    return m ? m->graph : NULL;
}

COUNT(cq_onnx_model_n_functions, cq_onnx_model, functions)
ITEM_OF(cq_onnx_model_function, cq_onnx_model, functions, cq_onnx_function)

CQ_API bool cq_onnx_model_opset_at(const cq_onnx_model *m, size_t index, const char **domain,
                                   int64_t *version)
{
    const cq_onnx_opset *opset = ITEM(m, opset_import, index);

    if (domain)
        *domain = TEXT(opset, domain);
    if (version)
        *version = opset ? opset->version : 0;
    return opset != NULL;
}

CQ_API bool cq_onnx_model_metadata(const cq_onnx_model *m, size_t index, const char **key,
                                   const char **value)
{
    return entry_at(m ? &m->metadata_props : NULL, index, key, value);
}

/* ---- graphs ---- */

TEXT_FIELD(cq_onnx_graph_name, cq_onnx_graph, name)
COUNT(cq_onnx_graph_n_nodes, cq_onnx_graph, node)
ITEM_OF(cq_onnx_graph_node, cq_onnx_graph, node, cq_onnx_node)

static const cq_onnx_value_infos *values_of(const cq_onnx_graph *g, cq_onnx_side side)
{
    static const cq_onnx_value_infos none = { 0 };

    if (!g)
        return &none;
    return side == CQ_ONNX_INPUTS    ? &g->input
           : side == CQ_ONNX_OUTPUTS ? &g->output
                                     : &g->value_info;
}

CQ_API size_t cq_onnx_graph_n_values(const cq_onnx_graph *g, cq_onnx_side side)
{
    return values_of(g, side)->n;
}

CQ_API const cq_onnx_value_info *cq_onnx_graph_value(const cq_onnx_graph *g, cq_onnx_side side,
                                                     size_t index)
{
    return AT(*values_of(g, side), index);
}

COUNT(cq_onnx_graph_n_initializers, cq_onnx_graph, initializer)
ITEM_OF(cq_onnx_graph_initializer, cq_onnx_graph, initializer, cq_onnx_tensor)
TEXT_FIELD(cq_onnx_tensor_name, cq_onnx_tensor, name)

/* ---- values ---- */

TEXT_FIELD(cq_onnx_value_info_name, cq_onnx_value_info, name)

static const cq_onnx_tensor_type *tensor_type(const cq_onnx_value_info *v)
{
    return v && v->type ? v->type->tensor_type : NULL;
}

CQ_API cq_dtype cq_onnx_value_info_dtype(const cq_onnx_value_info *v)
{
    const cq_onnx_tensor_type *type = tensor_type(v);

    return type ? cq_dtype_from_onnx(type->elem_type) : CQ_DTYPE_NONE;
}

CQ_API int32_t cq_onnx_value_info_rank(const cq_onnx_value_info *v)
{
    const cq_onnx_tensor_type *type = tensor_type(v);

    return type && type->shape ? (int32_t)type->shape->dim.n : -1;
}

static const cq_onnx_dim *dim_at(const cq_onnx_value_info *v, size_t axis)
{
    const cq_onnx_tensor_type *type = tensor_type(v);

    return type ? ITEM(type->shape, dim, axis) : NULL;
}

CQ_API int64_t cq_onnx_value_info_size(const cq_onnx_value_info *v, size_t axis)
{
    const cq_onnx_dim *dim = dim_at(v, axis);

    return dim && cq_onnx_has(dim, CQ_ONNX_DIM_VALUE) ? dim->dim_value : -1;
}

CQ_API const char *cq_onnx_value_info_axis(const cq_onnx_value_info *v, size_t axis)
{
    const cq_onnx_dim *dim = dim_at(v, axis);

    return TEXT(dim, dim_param);
}

/* The recursion over nested types is bounded by the decoder. */
static void print_type(cq_str *s, const cq_onnx_type *type)
{
    size_t n_open = 0;

    while (type && (type->sequence_type || type->optional_type || type->map_type)) {
        if (type->map_type)
            cq_str_printf(s, "map(%s,",
                          text_or_empty(cq_onnx_element_name(type->map_type->key_type)));
        else
            cq_str_add(s, type->sequence_type ? "seq(" : "optional(");
        n_open++;
        type = type->sequence_type   ? type->sequence_type->elem_type
               : type->optional_type ? type->optional_type->elem_type
                                     : type->map_type->value_type;
    }
    if (type && (type->tensor_type || type->sparse_tensor_type))
        cq_str_printf(
            s, type->tensor_type ? "tensor(%s)" : "sparse_tensor(%s)",
            text_or_empty(cq_onnx_element_name(
                (type->tensor_type ? type->tensor_type : type->sparse_tensor_type)->elem_type)));
    else if (type && type->opaque_type)
        cq_str_printf(s, "opaque(%s,%s)", text_or_empty(type->opaque_type->domain),
                      text_or_empty(type->opaque_type->name));
    while (n_open-- > 0)
        cq_str_add_char(s, ')');
}

static cq_status type_text(char **text, const cq_onnx_type *type)
{
    cq_str s = { 0 };

    cq_str_add(&s, "");
    print_type(&s, type);
    *text = cq_str_take(&s);
    return *text ? CQ_OK : CQ_E_NO_MEMORY;
}

CQ_API cq_status cq_onnx_value_info_type(char **text, const cq_onnx_value_info *v)
{
    CQ_NEED_OUT(text, v);
    return type_text(text, v->type);
}

/* ---- nodes ---- */

TEXT_FIELD(cq_onnx_node_name, cq_onnx_node, name)
TEXT_FIELD(cq_onnx_node_op_type, cq_onnx_node, op_type)
TEXT_FIELD(cq_onnx_node_domain, cq_onnx_node, domain)
TEXT_FIELD(cq_onnx_node_doc_string, cq_onnx_node, doc_string)
COUNT(cq_onnx_node_n_inputs, cq_onnx_node, input)
TEXT_ITEM(cq_onnx_node_input, cq_onnx_node, input)
COUNT(cq_onnx_node_n_outputs, cq_onnx_node, output)
TEXT_ITEM(cq_onnx_node_output, cq_onnx_node, output)
COUNT(cq_onnx_node_n_attributes, cq_onnx_node, attribute)
ITEM_OF(cq_onnx_node_attribute_at, cq_onnx_node, attribute, cq_onnx_attribute)

CQ_API bool cq_onnx_node_metadata(const cq_onnx_node *n, size_t index, const char **key,
                                  const char **value)
{
    return entry_at(n ? &n->metadata_props : NULL, index, key, value);
}

/* ---- attributes ---- */

TEXT_FIELD(cq_onnx_attribute_name, cq_onnx_attribute, name)

CQ_API cq_onnx_attribute_type cq_onnx_attribute_kind(const cq_onnx_attribute *a)
{
    return a && a->type > 0 && a->type < CQ_ONNX_ATTR_COUNT ? (cq_onnx_attribute_type)a->type
                                                            : CQ_ONNX_ATTR_UNDEFINED;
}

TEXT_FIELD(cq_onnx_attribute_refers_to, cq_onnx_attribute, ref_attr_name)

CQ_API size_t cq_onnx_attribute_count(const cq_onnx_attribute *a)
{
    switch (cq_onnx_attribute_kind(a)) {
    case CQ_ONNX_ATTR_UNDEFINED: return 0;
    case CQ_ONNX_ATTR_FLOATS: return a->floats.n;
    case CQ_ONNX_ATTR_INTS: return a->ints.n;
    case CQ_ONNX_ATTR_STRINGS: return a->strings.n;
    case CQ_ONNX_ATTR_TENSORS: return a->tensors.n;
    case CQ_ONNX_ATTR_GRAPHS: return a->graphs.n;
    case CQ_ONNX_ATTR_SPARSE_TENSORS: return a->sparse_tensors.n;
    case CQ_ONNX_ATTR_TYPE_PROTOS: return a->type_protos.n;
    default: return 1;
    }
}

CQ_API int64_t cq_onnx_attribute_int(const cq_onnx_attribute *a, size_t index)
{
    if (cq_onnx_attribute_kind(a) == CQ_ONNX_ATTR_INTS)
        return index < a->ints.n ? a->ints.items[index] : 0;
    return a && index == 0 ? a->i : 0;
}

CQ_API double cq_onnx_attribute_float(const cq_onnx_attribute *a, size_t index)
{
    if (cq_onnx_attribute_kind(a) == CQ_ONNX_ATTR_FLOATS)
        return index < a->floats.n ? (double)a->floats.items[index] : 0;
    return a && index == 0 ? (double)a->f : 0;
}

CQ_API const char *cq_onnx_attribute_string(const cq_onnx_attribute *a, size_t index,
                                            size_t *length)
{
    const bool    is_list = cq_onnx_attribute_kind(a) == CQ_ONNX_ATTR_STRINGS;
    cq_onnx_bytes bytes   = { NULL, 0 };

    if (is_list && index < a->strings.n)
        bytes = a->strings.items[index];
    else if (!is_list && a && index == 0)
        bytes = a->s;
    if (length)
        *length = bytes.size;
    return text_or_empty(bytes.data);
}

CQ_API const cq_onnx_tensor *cq_onnx_attribute_tensor(const cq_onnx_attribute *a, size_t index)
{
    if (cq_onnx_attribute_kind(a) == CQ_ONNX_ATTR_TENSORS)
        return AT(a->tensors, index);
    return a && index == 0 ? a->t : NULL;
}

CQ_API const cq_onnx_graph *cq_onnx_attribute_graph(const cq_onnx_attribute *a, size_t index)
{
    if (cq_onnx_attribute_kind(a) == CQ_ONNX_ATTR_GRAPHS)
        return AT(a->graphs, index);
    return a && index == 0 ? a->g : NULL;
}

CQ_API cq_status cq_onnx_attribute_type_text(char **text, const cq_onnx_attribute *a, size_t index)
{
    CQ_NEED_OUT(text, a);
    return type_text(text, a->type == CQ_ONNX_ATTR_TYPE_PROTOS ? AT(a->type_protos, index) : a->tp);
}

/* ---- functions ---- */

TEXT_FIELD(cq_onnx_function_name, cq_onnx_function, name)
TEXT_FIELD(cq_onnx_function_domain, cq_onnx_function, domain)
COUNT(cq_onnx_function_n_inputs, cq_onnx_function, input)
TEXT_ITEM(cq_onnx_function_input, cq_onnx_function, input)
COUNT(cq_onnx_function_n_outputs, cq_onnx_function, output)
TEXT_ITEM(cq_onnx_function_output, cq_onnx_function, output)
COUNT(cq_onnx_function_n_nodes, cq_onnx_function, node)
ITEM_OF(cq_onnx_function_node, cq_onnx_function, node, cq_onnx_node)
