/* Runs the source again, operator by operator, and passes both results to the caller for each
 * corresponding value of the model. It is used to find the first wrong node. */
#include "export/exporter.h"

typedef struct replay {
    cq_exporter *ex;
    cq_map       makers; /* name of a value -> cq_onnx_node */
    cq_map       owners; /* name of a value -> the last source value that it represents */
} replay;

/* The model's name of a value of the source, after replacements by passes. */
static const char *name_of(const cq_value *source)
{
    const cq_value *v = source->onnx;

    while (v && v->instead)
        v = v->instead;
    return v && !v->data ? v->name : NULL;
}

/* A Conv with a folded normalization represents the result of the normalization. */
static cq_status note_owner(replay *r, const cq_value *v)
{
    const char *name = name_of(v);

    return name && cq_map_has(&r->makers, name) ? cq_map_set(&r->owners, name, (void *)v) : CQ_OK;
}

static cq_status tell(void *user, const cq_value *v, cq_tensor *result)
{
    replay                  *r    = user;
    const cq_export_options *o    = &r->ex->options;
    const char              *name = name_of(v);
    const cq_onnx_node      *node;

    if (!name || cq_map_get(&r->owners, name) != v)
        return CQ_OK;
    node = cq_map_get(&r->makers, name);
    o->each_value(o->each_value_user, name, node->name ? node->name : "",
                  node->op_type ? node->op_type : "", result);
    return CQ_OK;
}

cq_status cq_export_replay(cq_exporter *ex, const cq_onnx_model *model)
{
    replay     r = { .ex = ex };
    cq_capture cap;
    cq_status  status = CQ_OK;

    for (uint32_t i = 0; i < model->graph->node.n && status == CQ_OK; i++) {
        cq_onnx_node *node = model->graph->node.items[i];

        for (uint32_t k = 0; k < node->output.n && status == CQ_OK; k++)
            status = cq_map_set(&r.makers, node->output.items[k], node);
    }
    for (cq_node *n = ex->source->top->first; n && status == CQ_OK; n = n->next)
        for (size_t i = 0; i < n->n_outputs && status == CQ_OK; i++)
            status = note_owner(&r, n->outputs[i]);
    cq_capture_init(&cap, ex->source, ex->source->top);
    if (status == CQ_OK)
        status = cq_capture_replay(&cap, tell, &r);
    cq_capture_clear(&cap);
    cq_map_clear(&r.makers);
    cq_map_clear(&r.owners);
    return status;
}
