/* Complex values are represented by pairs of real numbers (aten/core/complex.c), so no node is
 * needed: a complex value refers to its pairs until they are read. Only view_as_real may read them
 * (checked by convert.c). */
#include "export/exporter.h"

/* A complex value without a node; it refers to its pairs. */
static cq_status as_complex(cq_sym *s)
{
    cq_value *pairs = cq_sym_in(s, "self"), *v;

    CQ_TRY(s->status);
    v = cq_ir_value_new(s->ex->graph, cq_sym_result_type(s, 0));
    if (!v)
        return cq_sym_fail(s, CQ_E_NO_MEMORY);
    v->pairs = pairs;
    return cq_sym_done(s, v);
}

/* A weight stays one, with the same bytes. */
cq_value *cq_export_pairs(cq_exporter *ex, cq_value *x)
{
    cq_tensor *view = NULL;

    if (x->pairs || !x->data)
        return x->pairs;
    if (cq_tensor_pairs(&view, x->data) == CQ_OK)
        x->pairs = cq_ir_constant_new(ex->graph, view, x->is_weight);
    cq_tensor_release(view);
    if (x->pairs)
        x->pairs->name = x->name;
    return x->pairs;
}

static cq_status as_real(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self"), *pairs;

    CQ_TRY(s->status);
    pairs = cq_export_pairs(s->ex, x);
    if (pairs || x->data)
        return pairs ? cq_sym_done(s, pairs) : cq_sym_fail(s, CQ_E_NO_MEMORY);
    return cq_sym_no(s, 0,
                     "ONNX does not support complex tensors; pass view_as_real of them and call "
                     "view_as_complex in the model, or use --complex-as-pairs");
}

const cq_symbolic cq_symbolics_complex[] = {
    { "aten::view_as_complex", 7, .fn = as_complex },
    { "aten::view_as_real", 7, .fn = as_real },
    { 0 },
};
