/* The public view of the operator table. It is here because only export sees both the rows of aten
 * and the symbolic functions with their opsets. */
#include "autograd/gradient.h"
#include "export/exporter.h"

#include <calque/ops.h>

/* A view has a gradient if a change of it can be written back. */
static bool has_gradient(const cq_op *op)
{
    const cq_gradient *row = cq_gradient_find(op);

    return row ? row->kind != CQ_GRADIENT_NONE : op->def->view && op->unview;
}

bool cq_op_info_at(size_t index, cq_op_info *out)
{
    CQ_NEED_ELSE(out, false);
    static const cq_exporter nobody = { 0 }; /* without rows of a user */
    const cq_op             *op;
    cq_symbolic_found        found = { 0 };

    if (cq_ops_ready() != CQ_OK || cq_gradients_ready() != CQ_OK)
        return false;
    op = cq_op_at(index);
    if (!op) {
        cq_fail(CQ_E_NOT_FOUND, NULL, NULL, "operator index %zu is out of range", index);
        return false;
    }
    *out = (cq_op_info){
        .schema       = op->def->schema,
        .about        = cq_op_about(op),
        .composed     = cq_op_is_composed(op) && !(op->def->flags & CQ_OP_HOST),
        .obstacle     = "",
        .has_gradient = has_gradient(op),
    };
    if (!out->about)
        return false;
    for (int opset = CQ_OPSET_OLDEST; opset <= CQ_OPSET_NEWEST && !out->first_opset; opset++) {
        if (cq_symbolic_find(&found, &nobody, op->schema->full, opset) != CQ_OK)
            return false;
        if (found.row && !found.row->no)
            out->first_opset = opset;
    }
    if (found.row && found.row->no)
        out->obstacle = found.row->no;
    return true;
}
