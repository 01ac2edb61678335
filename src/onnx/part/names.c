/* A walk over all names of a graph, used for collecting and for renaming. */
#include "onnx/part/names.h"

#include "base/str.h"

#include "onnx/file/fields.h"

#include <stdlib.h>

typedef struct name_walk {
    cq_part_rename rename;
    void          *user;
} name_walk;

static cq_status replace(const name_walk *w, cq_part_kind kind, const char **name)
{
    if (!*name || !**name)
        return CQ_OK;
    *name = w->rename(w->user, kind, *name);
    return *name ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status visit_node(const name_walk *w, cq_onnx_node *node)
{
    CQ_TRY(replace(w, CQ_PART_NODE, &node->name));
    for (uint32_t i = 0; i < node->input.n; i++)
        CQ_TRY(replace(w, CQ_PART_VALUE, &node->input.items[i]));
    for (uint32_t i = 0; i < node->output.n; i++)
        CQ_TRY(replace(w, CQ_PART_VALUE, &node->output.items[i]));
    return CQ_OK;
}

static cq_status visit_annotation(const name_walk *w, cq_onnx_annotation *a)
{
    CQ_TRY(replace(w, CQ_PART_VALUE, &a->tensor_name));
    for (uint32_t i = 0; i < a->quant_parameter_tensor_names.n; i++)
        CQ_TRY(replace(w, CQ_PART_VALUE, &a->quant_parameter_tensor_names.items[i]->value));
    return CQ_OK;
}

/* If the size became a number, it is stored as one; "" leaves the size to inference. */
static cq_status visit_dim(const name_walk *w, cq_onnx_dim *dim)
{
    char *end;

    if (!dim->dim_param || cq_onnx_has(dim, CQ_ONNX_DIM_VALUE))
        return CQ_OK;
    CQ_TRY(replace(w, CQ_PART_SIZE, &dim->dim_param));
    if (*dim->dim_param >= '0' && *dim->dim_param <= '9') {
        const long long number = strtoll(dim->dim_param, &end, 10);

        if (*end)
            return CQ_OK;
        dim->dim_value = number;
        dim->dim_param = NULL;
        cq_onnx_set_has(dim, CQ_ONNX_DIM_VALUE);
    } else if (!*dim->dim_param) {
        dim->dim_param = NULL;
    }
    return CQ_OK;
}

static cq_status visit(void *walk, const cq_onnx_message *message, void *at,
                       const cq_onnx_message *parent)
{
    const name_walk *w = walk;

    if (message == &cq_onnx_node_message)
        return visit_node(w, at);
    if (message == &cq_onnx_value_info_message)
        return replace(w, CQ_PART_VALUE, &((cq_onnx_value_info *)at)->name);
    if (message == &cq_onnx_tensor_message && parent == &cq_onnx_graph_message)
        return replace(w, CQ_PART_VALUE, &((cq_onnx_tensor *)at)->name);
    if (message == &cq_onnx_sparse_message && parent == &cq_onnx_graph_message) {
        cq_onnx_sparse_tensor *sparse = at;

        return sparse->values ? replace(w, CQ_PART_VALUE, &sparse->values->name) : CQ_OK;
    }
    if (message == &cq_onnx_annotation_message)
        return visit_annotation(w, at);
    if (message == &cq_onnx_dim_message)
        return visit_dim(w, at);
    return CQ_OK;
}

cq_status cq_part_each_name(cq_onnx_graph *g, cq_part_rename rename, void *user)
{
    name_walk w = { rename, user };

    return cq_onnx_each_message(&cq_onnx_graph_message, g, visit, &w);
}

static const char *take(void *taken, cq_part_kind kind, const char *name)
{
    cq_map *map = &((cq_part_taken *)taken)->by_kind[kind];

    return cq_map_set(map, name, taken) == CQ_OK ? name : NULL;
}

cq_status cq_part_take_names(cq_part_taken *taken, cq_onnx_graph *g)
{
    return cq_part_each_name(g, take, taken);
}

void cq_part_taken_clear(cq_part_taken *taken)
{
    for (int i = 0; i <= CQ_PART_SIZE; i++)
        cq_map_clear(&taken->by_kind[i]);
}

typedef struct search {
    const char   *name;
    const cq_map *a, *b;
    cq_str        text;
} search;

static bool is_taken(void *search_, unsigned i)
{
    search *s = search_;

    s->text.len = 0;
    cq_str_printf(&s->text, "%s_%u", s->name, i);
    return s->text.status == CQ_OK &&
           (cq_map_has(s->a, s->text.text) || cq_map_has(s->b, s->text.text));
}

const char *cq_part_free_name(cq_onnx_model *m, const char *name, const cq_map *a, const cq_map *b)
{
    search         s    = { name, a, b, { 0 } };
    const unsigned i    = cq_free_number(2, is_taken, &s);
    const char    *text = m->status == CQ_OK && s.text.status == CQ_OK
                              ? cq_arena_printf(m->arena, "%s_%u", name, i)
                              : NULL;

    cq_str_clear(&s.text);
    return text;
}
