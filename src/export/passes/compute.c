/* Computes a node on constants with the runtime, which knows every operator. Results that are
 * larger than their inputs stay nodes: a file must not grow by numbers that a node can compute. */
#include "export/exporter.h"

#include <calque/session.h>

#include <stdio.h>

enum { LARGEST = 1 << 20, MAX_INPUTS = 16 }; /* bytes of a result that may exceed its inputs */

/* Operators whose results differ in every run or are larger than their inputs. */
static bool stays(const char *op)
{
    static const char *const ops[] = {
        "QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear", "RandomNormal",
        "RandomUniform",  "RandomNormalLike", "RandomUniformLike",     "Multinomial",
        "Bernoulli",      "Dropout",          "ConstantOfShape",       "Constant"
    };

    return CQ_IS_AMONG(op, ops);
}

/* Whether the attributes are of kinds that can be written again. */
static bool is_plain(const cq_node *n)
{
    for (size_t i = 0; i < n->n_attrs; i++)
        if (n->attrs[i].value.kind == CQ_OPERAND_OPAQUE)
            return false;
    return true;
}

/* A model of the node alone, with the inputs that it has. */
static cq_status model_of(cq_onnx_model **out, const cq_exporter *ex, const cq_node *n)
{
    cq_onnx_model *m;
    cq_onnx_node  *node;
    char           name[32];

    CQ_TRY(cq_onnx_model_new(out, "constant"));
    m = *out;
    cq_onnx_model_set_ir_version(m, 8);
    cq_onnx_model_add_opset(m, "", ex->options.opset);
    node = cq_onnx_graph_add_node(m, NULL, n->op + 6, NULL, "node");
    for (size_t i = 0; i < n->n_inputs; i++) {
        snprintf(name, sizeof name, "in%zu", i);
        if (n->inputs[i].kind != CQ_OPERAND_VALUE) {
            cq_onnx_node_add_input(m, node, "");
            continue;
        }
        cq_onnx_node_add_input(m, node, name);
        cq_onnx_add_value(m, &m->graph->input, name,
                          cq_onnx_type_new_tensor(
                              m, cq_dtype_to_onnx(n->inputs[i].u.value->type.dtype), 0, NULL));
    }
    for (size_t i = 0; i < n->n_outputs; i++) {
        const cq_value *v = n->outputs[i];

        snprintf(name, sizeof name, "out%zu", i);
        cq_onnx_node_add_output(m, node, v->n_uses ? name : "");
        if (v->n_uses)
            cq_onnx_add_value(m, &m->graph->output, name, NULL);
    }
    for (size_t i = 0; i < n->n_attrs; i++)
        cq_export_add_attribute(m, node, &n->attrs[i]);
    return m->status;
}

static cq_status run(cq_onnx_value **outputs, const cq_onnx_model *m, const cq_node *n,
                     cq_tensor *const *in)
{
    cq_onnx_value     *inputs[MAX_INPUTS] = { NULL };
    size_t             n_inputs           = 0;
    cq_session_options options;
    cq_session        *session = NULL;
    cq_status          status  = CQ_OK;

    for (size_t i = 0; i < n->n_inputs && status == CQ_OK; i++)
        if (in[i])
            status = cq_onnx_value_new_tensor(&inputs[n_inputs++], in[i]);
    cq_session_options_init(&options);
    options.flags = CQ_SESSION_NO_FOLDING;
    if (status == CQ_OK)
        status = cq_session_prepare(&session, m, &options);
    if (status == CQ_OK)
        status = cq_session_run(session, NULL, inputs, n_inputs, outputs);
    cq_session_free(session);
    for (size_t i = 0; i < n_inputs; i++)
        cq_onnx_value_release(inputs[i]);
    return status;
}

static int64_t bytes_of(const cq_tensor *t)
{
    return cq_tensor_numel(t) * (int64_t)cq_dtype_size(t->dtype);
}

cq_status cq_export_compute(cq_exporter *ex, const cq_node *n, cq_tensor *const *in,
                            cq_tensor **out, bool *done)
{
    cq_onnx_value *outputs[CQ_MAX_RANK] = { NULL };
    cq_onnx_model *m                    = NULL;
    int64_t        given = 0, made = 0;
    size_t         at  = 0;
    bool           all = true;
    cq_status      status;

    *done = false;
    if (stays(n->op + 6) || !is_plain(n) || n->n_inputs > MAX_INPUTS)
        return CQ_OK;
    for (size_t i = 0; i < n->n_inputs; i++)
        given += in[i] ? bytes_of(in[i]) : 0;
    if (given > LARGEST)
        return CQ_OK;
    status = model_of(&m, ex, n);
    if (status == CQ_OK && run(outputs, m, n, in) == CQ_OK) {
        for (size_t i = 0; i < n->n_outputs; i++) {
            cq_tensor *t = n->outputs[i]->n_uses ? cq_onnx_value_tensor(outputs[at++]) : NULL;

            all &= t || !n->outputs[i]->n_uses;
            out[i] = cq_tensor_retain(t);
            made += t ? bytes_of(t) : 0;
        }
        *done = all && made <= (given > LARGEST ? given : LARGEST);
    }
    for (size_t i = 0; i < n->n_outputs && i < CQ_MAX_RANK; i++)
        cq_onnx_value_release(outputs[i]);
    cq_onnx_model_free(m);
    return status == CQ_E_NO_MEMORY ? status : CQ_OK;
}
