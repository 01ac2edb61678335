#include "runtime/fuse/patterns.h"

#include <string.h>

cq_tensor *cq_rt_constant(const cq_rt_node_value *v)
{
    return v && v->is_constant && v->constant.kind == CQ_VAL_TENSOR &&
                   v->constant.u.tensor->dtype == CQ_DTYPE_F32
               ? v->constant.u.tensor
               : NULL;
}

cq_tensor *cq_rt_constant_of(const cq_rt_node_step *s, uint32_t i)
{
    return cq_rt_constant(i < s->step.n_in ? s->in[i] : NULL);
}

bool cq_rt_is_op(const cq_rt_node_step *s, const char *op)
{
    const cq_onnx_node *node = s ? s->step.node : NULL;

    return s && !strcmp(node->op_type, op) && !s->is_gone && s->step.row &&
           !(s->step.row->flags & CQ_RT_OWN) &&
           (!node->domain || !*node->domain || !strcmp(node->domain, "ai.onnx"));
}

bool cq_rt_number_of(double *out, const cq_rt_node_step *s, uint32_t i)
{
    const cq_tensor *t = cq_rt_constant_of(s, i);

    if (!t || cq_tensor_numel(t) != 1 || t->rank > 1)
        return false;
    *out = cq_tensor_get_f64(t, 0);
    return true;
}

int cq_rt_place_of(const cq_rt_node_step *s, const cq_rt_node_value *v)
{
    return s->step.n_in != 2 ? -1 : s->in[0] == v ? 0 : s->in[1] == v ? 1 : -1;
}

/* Outputs of the graph have a use, but no reader. */
cq_rt_node_step *cq_rt_only_reader(const cq_rt_node_value *v, const char *op)
{
    cq_rt_node_step *s = v && v->n_uses == 1 ? v->readers[0] : NULL;

    return cq_rt_is_op(s, op) && s->out[0] ? s : NULL;
}
