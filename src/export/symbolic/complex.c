/* Complex numbers are carried as pairs of real ones (aten/complex.c), so there is nothing to write
 * down: a complex value stands for its pairs until somebody looks at them. Nothing but view_as_real
 * may do that (convert.c sees to it). */
#include "export/exporter.h"

/* A value that no node makes; it has pairs. */
static cq_status as_complex(cq_sym *s)
{
    cq_value *pairs = cq_sym_in(s, "self"), *v;

    if (s->status != CQ_OK)
        return s->status;
    v = cq_ir_value_new(s->ex->graph, cq_sym_result_type(s, 0));
    if (!v)
        return cq_sym_fail(s, CQ_E_NO_MEMORY);
    v->pairs = pairs;
    return cq_sym_done(s, v);
}

/* A weight stays one, with the same bytes. */
static cq_value *pairs_of_data(cq_sym *s, const cq_value *x)
{
    cq_tensor *t = x->data, *view = NULL;
    int64_t    strides[CQ_MAX_RANK];
    cq_value  *v;

    for (size_t i = 0; i < t->rank; i++)
        strides[i] = 2 * t->strides[i];
    strides[t->rank] = 1;
    if (cq_sym_fail(s, cq_tensor_new_view(&view, t, cq_sym_result_type(s, 0).dtype, t->rank + 1,
                                          cq_sym_result_type(s, 0).sizes, strides,
                                          2 * t->offset)) != CQ_OK)
        return NULL;
    v = cq_ir_constant_new(s->ex->graph, view, x->is_weight);
    cq_tensor_release(view);
    if (!v)
        cq_sym_fail(s, s->ex->graph->status);
    else
        v->name = x->name;
    return v;
}

static cq_status as_real(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self");

    if (s->status != CQ_OK)
        return s->status;
    if (x->pairs)
        return cq_sym_done(s, x->pairs);
    if (x->data)
        return cq_sym_done(s, pairs_of_data(s, x));
    return cq_sym_no(s, 0,
                     "ONNX cannot take complex numbers apart; give the model view_as_real of them, "
                     "and view_as_complex inside");
}

const cq_symbolic cq_symbolics_complex[] = {
    { "aten::view_as_complex", 7, .fn = as_complex },
    { "aten::view_as_real", 7, .fn = as_real },
    { 0 },
};
