/* Sequences and optionals: all elements have the same type. */
#include "onnx/infer/elements.h"

static const cq_itype *element_of(const cq_rule *r, size_t i, cq_ikind kind)
{
    const cq_itype *t = cq_rule_has(r, i) ? &r->inputs[i]->type : NULL;

    return t && t->kind == kind ? t->element : NULL;
}

static cq_status construct(cq_rule *r)
{
    cq_itype all = { 0 };

    for (size_t i = 0; i < r->n_inputs; i++) {
        if (!cq_rule_has(r, i))
            return CQ_OK;
        if (i == 0)
            all = r->inputs[i]->type;
        else
            CQ_TRY(cq_itype_union(&all, r->arena, &all, &r->inputs[i]->type));
    }
    return cq_rule_give_element(r, 0, CQ_IKIND_SEQUENCE, &all);
}

static cq_status empty(cq_rule *r)
{
    int64_t  dtype = cq_rule_int(r, "dtype", CQ_ONNX_FLOAT);
    cq_itype t     = { .kind = CQ_IKIND_TENSOR };

    if (dtype > 0 && dtype < CQ_ONNX_DATA_TYPE_COUNT)
        t.elem = (int32_t)dtype;
    return cq_rule_give_element(r, 0, CQ_IKIND_SEQUENCE, &t);
}

static cq_status insert(cq_rule *r)
{
    const cq_itype *element = element_of(r, 0, CQ_IKIND_SEQUENCE);
    cq_itype        all;

    if (!element || !cq_rule_has(r, 1))
        return CQ_OK;
    if (element->elem && cq_rule_elem(r, 1) && element->elem != cq_rule_elem(r, 1))
        return cq_rule_fail(r, "cannot insert a tensor of type %s into a sequence of %s",
                            cq_onnx_element_name(cq_rule_elem(r, 1)),
                            cq_onnx_element_name(element->elem));
    CQ_TRY(cq_itype_union(&all, r->arena, element, &r->inputs[1]->type));
    return cq_rule_give_element(r, 0, CQ_IKIND_SEQUENCE, &all);
}

static cq_status erase(cq_rule *r)
{
    const cq_itype *element = element_of(r, 0, CQ_IKIND_SEQUENCE);

    return element ? cq_rule_give_element(r, 0, CQ_IKIND_SEQUENCE, element) : CQ_OK;
}

static cq_status at(cq_rule *r)
{
    const cq_itype *element = element_of(r, 0, CQ_IKIND_SEQUENCE);

    if (element)
        cq_rule_give_type(r, 0, element);
    return CQ_OK;
}

static cq_status scalar(cq_rule *r)
{
    return cq_rule_give_dims(r, 0, 0, NULL);
}

/* Splits along an axis into parts of equal size, of given sizes, or of size 1, whose axis may be
 * removed. */
static cq_status split_to_sequence(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *split = cq_rule_shaped(r, 1);
    const cq_idata *sizes = cq_rule_data(r, 1);
    cq_itype        t     = { .kind = CQ_IKIND_TENSOR, .elem = cq_rule_elem(r, 0) };
    bool            keep  = cq_rule_int(r, "keepdims", 1) == 1;
    cq_shape        y     = { .rank = 0 };
    cq_dim          piece = cq_dim_of(1);
    size_t          axis;

    if (!x)
        return cq_rule_give_element(r, 0, CQ_IKIND_SEQUENCE, &t);
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
    if (cq_rule_has(r, 1)) {
        keep  = true;
        piece = sizes && sizes->n ? cq_dim_of_ielem(sizes->items[0]) : cq_dim_unknown();
        for (size_t i = 1; sizes && i < sizes->n; i++)
            if (!cq_dim_same(piece, cq_dim_of_ielem(sizes->items[i])))
                piece = cq_dim_unknown();
        /* If split is a scalar, the last part may be smaller. */
        if (!split || (split->rank == 0 && (!cq_dim_is_plain(piece) || piece.size.value <= 0 ||
                                            !cq_dim_is_plain(x->dims[axis]) ||
                                            x->dims[axis].size.value % piece.size.value)))
            piece = cq_dim_unknown();
    }
    for (size_t i = 0; i < x->rank; i++)
        if (i != axis)
            y.dims[y.rank++] = x->dims[i];
        else if (keep)
            y.dims[y.rank++] = piece;
    t.dims = cq_arena_copy(r->arena, y.dims, y.rank * sizeof *y.dims);
    if (!t.dims)
        return CQ_E_NO_MEMORY;
    t.has_rank = true;
    t.rank     = y.rank;
    return cq_rule_give_element(r, 0, CQ_IKIND_SEQUENCE, &t);
}

static cq_status concat_from_sequence(cq_rule *r)
{
    const cq_itype *x = element_of(r, 0, CQ_IKIND_SEQUENCE);
    bool new          = cq_rule_int(r, "new_axis", 0) != 0;
    cq_shape y        = { .rank = 0 };
    size_t   axis;

    if (!x || x->kind != CQ_IKIND_TENSOR)
        return CQ_OK;
    cq_rule_give_elem(r, 0, x->elem);
    if (!x->has_rank || x->rank >= CQ_MAX_RANK)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank + new));
    for (size_t i = 0; i < x->rank + new; i++)
        y.dims[y.rank++] = i == axis ? cq_dim_unknown() : x->dims[i - (new &&i > axis)];
    return cq_rule_give(r, 0, &y);
}

/* ---- optionals ---- */

static cq_status optional(cq_rule *r)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, "type");
    cq_itype                 t = { 0 };

    if (cq_rule_has(r, 0))
        t = r->inputs[0]->type;
    else if (a && a->tp)
        CQ_TRY(cq_itype_of_attribute(&t, r, a));
    return t.kind ? cq_rule_give_element(r, 0, CQ_IKIND_OPTIONAL, &t) : CQ_OK;
}

/* Since opset 18, a value that is not an optional is passed through. */
static cq_status get_element(cq_rule *r)
{
    const cq_itype *t = cq_rule_has(r, 0) ? &r->inputs[0]->type : NULL;

    if (t && t->kind == CQ_IKIND_OPTIONAL)
        t = t->element;
    if (t)
        cq_rule_give_type(r, 0, t);
    return CQ_OK;
}

const cq_rule_row cq_rules_sequence[] = {
    { "ConcatFromSequence", 1, concat_from_sequence, NULL },
    { "Optional", 1, optional, NULL },
    { "OptionalGetElement", 1, get_element, NULL },
    { "OptionalHasElement", 1, scalar, NULL },
    { "SequenceAt", 1, at, NULL },
    { "SequenceConstruct", 1, construct, NULL },
    { "SequenceEmpty", 1, empty, NULL },
    { "SequenceErase", 1, erase, NULL },
    { "SequenceInsert", 1, insert, NULL },
    { "SequenceLength", 1, scalar, NULL },
    { "SplitToSequence", 1, split_to_sequence, NULL },
    { NULL, 0, NULL, NULL },
};
