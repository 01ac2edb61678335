/* Creates and frees models; the builder calls of model.h. A failed allocation returns NULL, and
 * NULL is passed through silently: the reason is in m->status. */
#include "onnx/model.h"

#include "onnx/file/external.h"

#include <string.h>

/* The layout of every CQ_ONNX_LIST. Lists are copied to and from this struct, because their item
 * pointers have different types. */
typedef struct list {
    void    *items;
    uint32_t n, cap;
} list;

static bool failed(cq_onnx_model *m, cq_status status)
{
    if (m->status == CQ_OK)
        m->status = status;
    return m->status != CQ_OK;
}

void *cq_onnx_alloc(cq_onnx_model *m, size_t size)
{
    void *p = m->status == CQ_OK ? cq_arena_zalloc(m->arena, size) : NULL;

    if (!p)
        failed(m, CQ_E_NO_MEMORY);
    return p;
}

bool cq_onnx_list_reserve(cq_onnx_model *m, void *any_list, size_t want, size_t size)
{
    list   l;
    size_t cap;
    void  *items;

    memcpy(&l, any_list, sizeof l);
    if (m->status != CQ_OK)
        return false;
    if (want <= l.cap)
        return true;
    if (want > UINT32_MAX)
        return !failed(m, cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                                  "a list of %zu items is longer than the limit of %u", want,
                                  UINT32_MAX));
    /* The old array remains in the arena: it wastes at most as much memory as the new one takes. */
    cap = want > UINT32_MAX / 2 ? want : 2 * (size_t)l.cap;
    if (cap < want)
        cap = want;
    items = cq_arena_alloc(m->arena, cap * size);
    if (!items)
        return !failed(m, CQ_E_NO_MEMORY);
    if (l.n)
        memcpy(items, l.items, l.n * size);
    l.items = items;
    l.cap   = (uint32_t)cap;
    memcpy(any_list, &l, sizeof l);
    return true;
}

void *cq_onnx_list_grow(cq_onnx_model *m, void *any_list, size_t size)
{
    list l;

    memcpy(&l, any_list, sizeof l);
    if (!cq_onnx_list_reserve(m, any_list, (size_t)l.n + 1, size))
        return NULL;
    memcpy(&l, any_list, sizeof l);
    l.n++;
    memcpy(any_list, &l, sizeof l);
    return memset((char *)l.items + (l.n - 1) * size, 0, size);
}

cq_status cq_onnx_model_new(cq_onnx_model **out, const char *graph_name)
{
    cq_onnx_model *m = *out = cq_zalloc(sizeof *m);

    if (!m)
        return CQ_E_NO_MEMORY;
    m->arena = cq_arena_new();
    if (m->arena && graph_name)
        m->graph = cq_onnx_graph_new(m, graph_name);
    if (m->arena && m->status == CQ_OK)
        return CQ_OK;
    cq_onnx_model_free(m);
    *out = NULL;
    return CQ_E_NO_MEMORY;
}

void cq_onnx_model_free(cq_onnx_model *m)
{
    if (!m)
        return;
    for (size_t i = 0; i < m->tensors.n; i++)
        cq_tensor_release(m->tensors.items[i]);
    cq_vec_clear(&m->tensors);
    for (size_t i = 0; i < m->joined.n; i++)
        cq_onnx_model_free(m->joined.items[i]);
    cq_vec_clear(&m->joined);
    cq_ptr_map_clear(&m->homes);
    cq_onnx_files_free(m->files);
    cq_storage_release(m->source);
    cq_arena_free(m->arena);
    cq_free(m);
}

const cq_onnx_model *cq_onnx_tensor_home(const cq_onnx_model *m, const cq_onnx_tensor *tensor)
{
    const cq_onnx_model *home = cq_ptr_map_get(&m->homes, tensor);

    return home ? home : m;
}

const char *cq_onnx_text(cq_onnx_model *m, const char *text)
{
    const char *copy;

    if (!text || m->status != CQ_OK)
        return NULL;
    copy = cq_arena_strdup(m->arena, text);
    if (!copy)
        failed(m, CQ_E_NO_MEMORY);
    return copy;
}

void cq_onnx_model_set_ir_version(cq_onnx_model *m, int64_t version)
{
    m->ir_version = version;
    cq_onnx_set_has(m, CQ_ONNX_MODEL_IR_VERSION);
}

void cq_onnx_model_set_producer(cq_onnx_model *m, const char *name, const char *version)
{
    m->producer_name    = cq_onnx_text(m, name);
    m->producer_version = cq_onnx_text(m, version);
}

static void add_opset(cq_onnx_model *m, cq_onnx_opsets *opsets, const char *domain, int64_t version)
{
    cq_onnx_opset *opset = cq_onnx_alloc(m, sizeof *opset);

    if (!opset)
        return;
    opset->domain  = cq_onnx_text(m, domain);
    opset->version = version;
    cq_onnx_set_has(opset, CQ_ONNX_OPSET_VERSION);
    cq_onnx_list_push(m, opsets, opset);
}

void cq_onnx_model_add_opset(cq_onnx_model *m, const char *domain, int64_t version)
{
    add_opset(m, &m->opset_import, domain, version);
}

void cq_onnx_add_entry(cq_onnx_model *m, cq_onnx_entries *entries, const char *key,
                       const char *value)
{
    cq_onnx_entry *entry = cq_onnx_alloc(m, sizeof *entry);

    if (!entry)
        return;
    entry->key   = cq_onnx_text(m, key);
    entry->value = cq_onnx_text(m, value);
    cq_onnx_list_push(m, entries, entry);
}

void cq_onnx_add_name(cq_onnx_model *m, cq_onnx_names *names, const char *name)
{
    const char *copy = cq_onnx_text(m, name);

    if (copy)
        cq_onnx_list_push(m, names, copy);
}

cq_onnx_graph *cq_onnx_graph_new(cq_onnx_model *m, const char *name)
{
    cq_onnx_graph *graph = cq_onnx_alloc(m, sizeof *graph);

    if (graph)
        graph->name = cq_onnx_text(m, name);
    return graph;
}

static cq_onnx_node *node_new(cq_onnx_model *m, const char *op_type, const char *domain,
                              const char *name)
{
    cq_onnx_node *node = cq_onnx_alloc(m, sizeof *node);

    if (!node)
        return NULL;
    node->op_type = cq_onnx_text(m, op_type);
    node->domain  = cq_onnx_text(m, domain);
    node->name    = cq_onnx_text(m, name);
    return node;
}

cq_onnx_node *cq_onnx_graph_add_node(cq_onnx_model *m, cq_onnx_graph *graph, const char *op_type,
                                     const char *domain, const char *name)
{
    cq_onnx_node *node = node_new(m, op_type, domain, name);

    graph = graph ? graph : m->graph;
    if (node)
        cq_onnx_list_push(m, &graph->node, node);
    return node;
}

void cq_onnx_node_add_input(cq_onnx_model *m, cq_onnx_node *node, const char *name)
{
    if (node)
        cq_onnx_add_name(m, &node->input, name);
}

void cq_onnx_node_add_output(cq_onnx_model *m, cq_onnx_node *node, const char *name)
{
    if (node)
        cq_onnx_add_name(m, &node->output, name);
}

cq_onnx_function *cq_onnx_model_add_function(cq_onnx_model *m, const char *domain, const char *name)
{
    cq_onnx_function *function = cq_onnx_alloc(m, sizeof *function);

    if (!function)
        return NULL;
    function->domain = cq_onnx_text(m, domain);
    function->name   = cq_onnx_text(m, name);
    cq_onnx_list_push(m, &m->functions, function);
    return function;
}

cq_onnx_node *cq_onnx_function_add_node(cq_onnx_model *m, cq_onnx_function *function,
                                        const char *op_type, const char *domain, const char *name)
{
    cq_onnx_node *node = function ? node_new(m, op_type, domain, name) : NULL;

    if (node)
        cq_onnx_list_push(m, &function->node, node);
    return node;
}

void cq_onnx_function_add_opset(cq_onnx_model *m, cq_onnx_function *function, const char *domain,
                                int64_t version)
{
    if (function)
        add_opset(m, &function->opset_import, domain, version);
}

static cq_onnx_shape *shape_new(cq_onnx_model *m, size_t rank, const cq_onnx_axis *axes)
{
    cq_onnx_shape *shape = cq_onnx_alloc(m, sizeof *shape);

    for (size_t i = 0; shape && i < rank; i++) {
        cq_onnx_dim *dim = cq_onnx_alloc(m, sizeof *dim);

        if (!dim)
            return NULL;
        if (axes[i].name) {
            dim->dim_param = cq_onnx_text(m, axes[i].name);
        } else if (axes[i].value >= 0) {
            dim->dim_value = axes[i].value;
            cq_onnx_set_has(dim, CQ_ONNX_DIM_VALUE);
        }
        cq_onnx_list_push(m, &shape->dim, dim);
    }
    return shape;
}

cq_onnx_type *cq_onnx_type_new_tensor(cq_onnx_model *m, int32_t data_type, size_t rank,
                                      const cq_onnx_axis *axes)
{
    cq_onnx_type        *type   = cq_onnx_alloc(m, sizeof *type);
    cq_onnx_tensor_type *tensor = cq_onnx_alloc(m, sizeof *tensor);

    if (!type || !tensor)
        return NULL;
    tensor->elem_type = data_type;
    cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_TYPE_ELEM_TYPE);
    tensor->shape     = axes ? shape_new(m, rank, axes) : NULL;
    type->tensor_type = tensor;
    return type;
}

static cq_onnx_element_type *element_type_new(cq_onnx_model *m, cq_onnx_type *element)
{
    cq_onnx_element_type *type = element ? cq_onnx_alloc(m, sizeof *type) : NULL;

    if (type)
        type->elem_type = element;
    return type;
}

cq_onnx_type *cq_onnx_type_new_sequence(cq_onnx_model *m, cq_onnx_type *element)
{
    cq_onnx_type *type = cq_onnx_alloc(m, sizeof *type);

    if (type)
        type->sequence_type = element_type_new(m, element);
    return type;
}

cq_onnx_type *cq_onnx_type_new_optional(cq_onnx_model *m, cq_onnx_type *element)
{
    cq_onnx_type *type = cq_onnx_alloc(m, sizeof *type);

    if (type)
        type->optional_type = element_type_new(m, element);
    return type;
}

cq_onnx_value_info *cq_onnx_add_value(cq_onnx_model *m, cq_onnx_value_infos *values,
                                      const char *name, cq_onnx_type *type)
{
    cq_onnx_value_info *value = cq_onnx_alloc(m, sizeof *value);

    if (!value)
        return NULL;
    value->name = cq_onnx_text(m, name);
    value->type = type;
    cq_onnx_list_push(m, values, value);
    return value;
}

cq_onnx_tensor *cq_onnx_tensor_new(cq_onnx_model *m, const char *name, cq_tensor *t)
{
    cq_onnx_tensor *tensor;

    if (m->status != CQ_OK)
        return NULL;
    if (cq_tensor_is_fake(t) || !cq_dtype_to_onnx(cq_tensor_dtype(t))) {
        failed(m, cq_fail(CQ_E_ARGUMENT, name, NULL,
                          cq_tensor_is_fake(t) ? "a tensor without data cannot be stored"
                                               : "ONNX has no type for the numbers of a tensor"));
        return NULL;
    }
    tensor = cq_onnx_alloc(m, sizeof *tensor);
    if (!tensor || failed(m, cq_vec_reserve(&m->tensors, m->tensors.n + 1)))
        return NULL;
    tensor->name      = cq_onnx_text(m, name);
    tensor->data_type = cq_dtype_to_onnx(cq_tensor_dtype(t));
    cq_onnx_set_has(tensor, CQ_ONNX_TENSOR_DATA_TYPE);
    for (size_t i = 0; i < cq_tensor_rank(t); i++)
        cq_onnx_list_push(m, &tensor->dims, cq_tensor_size(t, i));
    tensor->tensor                   = cq_tensor_retain(t);
    m->tensors.items[m->tensors.n++] = t;
    return tensor;
}

cq_onnx_tensor *cq_onnx_graph_add_initializer(cq_onnx_model *m, cq_onnx_graph *graph,
                                              const char *name, cq_tensor *t)
{
    cq_onnx_tensor *tensor = cq_onnx_tensor_new(m, name, t);

    graph = graph ? graph : m->graph;
    if (tensor)
        cq_onnx_list_push(m, &graph->initializer, tensor);
    return tensor;
}
