/* Functions of Python on sizes and other data-dependent numbers. They are builtins of
 * TorchScript under other names. */
#include "pt2/run.h"

enum { MAX_ARGS = 4 };

static const struct {
    const char *target, *builtin;
} functions[] = {
    { "_operator.add", "aten::add" },
    { "_operator.sub", "aten::sub" },
    { "_operator.mul", "aten::mul" },
    { "_operator.floordiv", "aten::floordiv" },
    { "_operator.truediv", "aten::div" },
    { "_operator.mod", "aten::remainder" },
    { "_operator.pow", "aten::pow" },
    { "_operator.neg", "aten::neg" },
    { "_operator.abs", "aten::abs" },
    { "_operator.eq", "aten::eq" },
    { "_operator.ne", "aten::ne" },
    { "_operator.lt", "aten::lt" },
    { "_operator.le", "aten::le" },
    { "_operator.gt", "aten::gt" },
    { "_operator.ge", "aten::ge" },
    { "_operator.and_", "aten::__and__" },
    { "_operator.or_", "aten::__or__" },
    { "_operator.not_", "aten::__not__" },
    { "_operator.lshift", "aten::__lshift__" },
    { "_operator.rshift", "aten::__rshift__" },
    { "math.ceil", "aten::ceil" },
    { "math.floor", "aten::floor" },
    { "math.trunc", "aten::Int" },
    { "math.sqrt", "aten::sqrt" },
    { "round", "aten::round" },
    { "builtins.round", "aten::round" },
    { "builtins.max", "prim::max" },
    { "builtins.min", "prim::min" },
    { "torch.sym_int", "aten::Int" },
    { "torch.sym_float", "aten::Float" },
    { "torch.sym_not", "aten::__not__" },
    { "torch.sym_max", "prim::max" },
    { "torch.sym_min", "prim::min" },
    { "torch.sym_sqrt", "aten::sqrt" },
    { "torch._sym_sqrt", "aten::sqrt" },
    { "torch._sym_exp", "aten::exp" },
    { "torch._sym_log2", "aten::log2" },
    { "torch._sym_sin", "aten::sin" },
    { "torch._sym_cos", "aten::cos" },
    { "torch._sym_tanh", "aten::tanh" },
};

cq_status cq_pt2_number_call(cq_pt2_run *r, const cq_pt2_node *n, cq_val *out, bool *found)
{
    const char *builtin = NULL;
    cq_val      args[MAX_ARGS];

    *found = n->n_inputs <= MAX_ARGS;
    for (size_t i = 0; i < n->n_inputs && *found; i++)
        CQ_TRY(cq_pt2_value(r, &n->inputs[i], &args[i]));
    if (strcmp(n->target, "torch.sym_ite") == 0 && n->n_inputs == 3)
        return cq_pt2_call_text(r, CQ_HIGHER_ORDER ".sym_ite", args, 3, out);
    if (strcmp(n->target, "_operator.pos") == 0 && n->n_inputs == 1) {
        *out = args[0];
        return CQ_OK;
    }
    for (size_t i = 0; i < sizeof functions / sizeof *functions && !builtin; i++)
        if (strcmp(functions[i].target, n->target) == 0)
            builtin = functions[i].builtin;
    if (!builtin)
        *found = false;
    return *found ? cq_eval_call_name(r->ev, builtin, args, n->n_inputs, out) : CQ_OK;
}
