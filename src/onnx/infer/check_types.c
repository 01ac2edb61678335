/* Checks types against the schema in strict mode: the type of each input and output must be allowed
 * by its parameter, and types that share a type variable must agree. */
#include "onnx/infer/internal.h"

/* Whether types contains t. Sparse tensors, which rows do not describe, are accepted. */
static bool allows(const cq_onnx_types *types, const cq_itype *t)
{
    const cq_itype *inner       = t;
    bool            is_optional = t->kind == CQ_IKIND_OPTIONAL;
    cq_onnx_wrap    wrap;

    if (is_optional)
        inner = inner->element;
    if (!inner)
        return true;
    if (inner->kind == CQ_IKIND_OTHER)
        return inner->other->map_type && types->of[CQ_ONNX_WRAP_MAP];
    wrap = is_optional ? CQ_ONNX_WRAP_OPTIONAL : CQ_ONNX_WRAP_TENSOR;
    if (inner->kind == CQ_IKIND_SEQUENCE) {
        wrap  = is_optional ? CQ_ONNX_WRAP_OPTIONAL_SEQUENCE : CQ_ONNX_WRAP_SEQUENCE;
        inner = inner->element;
    }
    if (!inner || inner->kind != CQ_IKIND_TENSOR || inner->elem <= 0 ||
        inner->elem >= CQ_ONNX_DATA_TYPE_COUNT)
        return true;
    return types->of[wrap] >> inner->elem & 1;
}

static bool same_but_shapes(const cq_itype *a, const cq_itype *b)
{
    if (a->kind != b->kind)
        return false;
    if (a->elem && b->elem && a->elem != b->elem)
        return false;
    return !a->element || !b->element || same_but_shapes(a->element, b->element);
}

typedef struct bindings {
    const cq_itype *of[16]; /* by constraint */
} bindings;

static cq_status check_one(const cq_rule *r, bindings *bound, const cq_onnx_parameter *p,
                           const cq_itype *t)
{
    if (!p || t->kind == CQ_IKIND_UNKNOWN)
        return CQ_OK;
    if (!allows(&p->types, t)) {
        const char *name = cq_onnx_element_name(t->elem);

        return cq_rule_fail(r, "%s has a type that %s does not allow%s%s", p->name, r->schema->name,
                            name ? ": " : "", name ? name : "");
    }
    if (p->constraint < 0 || p->constraint >= 16 || p->arity == CQ_ONNX_VARIADIC_MIXED)
        return CQ_OK;
    if (bound->of[p->constraint] && !same_but_shapes(bound->of[p->constraint], t))
        return cq_rule_fail(r, "%s has a different type than the other %s of %s", p->name, p->type,
                            r->schema->name);
    bound->of[p->constraint] = t;
    return CQ_OK;
}

/* In most operators an output has the type of the first input, so that type must be known, unless
 * an unknown operator may have computed it. */
static cq_status check_first(const cq_rule *r)
{
    const cq_onnx_parameter *in = cq_onnx_parameter_at(r->schema->inputs, r->schema->n_inputs, 0);
    const cq_onnx_parameter *out =
        cq_onnx_parameter_at(r->schema->outputs, r->schema->n_outputs, 0);
    const cq_itype *t;

    if (r->infer->has_unknown_operator || !in || !out || !r->n_inputs || in->constraint < 0 ||
        in->constraint != out->constraint || in->arity == CQ_ONNX_OPTIONAL ||
        in->arity == CQ_ONNX_VARIADIC_MIXED)
        return CQ_OK;
    t = r->inputs[0] ? &r->inputs[0]->type : NULL;
    if (!t || t->kind == CQ_IKIND_UNKNOWN)
        return cq_rule_fail(r, "the type of %s is unknown", in->name);
    return CQ_OK;
}

static cq_status check_element(const cq_rule *r, const cq_onnx_parameter *p, const cq_itype *t)
{
    bool is_wrong =
        t->kind == CQ_IKIND_TENSOR && (t->elem <= 0 || t->elem >= CQ_ONNX_DATA_TYPE_COUNT);

    if (is_wrong && p && !r->infer->has_unknown_operator)
        return cq_rule_fail(r, "%s has elements of type %d, which does not exist", p->name,
                            t->elem);
    return CQ_OK;
}

cq_status cq_rule_check_types(const cq_rule *r)
{
    const cq_onnx_schema *s     = r->schema;
    bindings              bound = { 0 };

    if (!s)
        return CQ_OK;
    CQ_TRY(check_first(r));
    /* As in onnx, only the first argument of a variadic parameter is checked. */
    for (size_t i = 0; i < r->n_inputs && i < s->n_inputs; i++)
        if (r->inputs[i]) {
            CQ_TRY(check_element(r, &s->inputs[i], &r->inputs[i]->type));
            CQ_TRY(check_one(r, &bound, &s->inputs[i], &r->inputs[i]->type));
        }
    for (size_t i = 0; i < r->n_outputs && i < s->n_outputs; i++)
        CQ_TRY(check_one(r, &bound, &s->outputs[i], &r->outputs[i]));
    return CQ_OK;
}
