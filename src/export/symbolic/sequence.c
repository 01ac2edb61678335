/* Lists of data-dependent length: sequences of tensors. The nodes come from the evaluator
 * (script/values/sequence.c) and not from operators of the table, so their inputs are accessed by
 * index. */
#include "export/exporter.h"

/* Two alternatives for an optional value. At least one may have the value; the other may have a
 * placeholder. */
typedef struct way {
    cq_operand has, value;
} way;

enum { NEVER, ALWAYS, MAYBE };

static int has_value(const way *w)
{
    const cq_value *v = w->has.kind == CQ_OPERAND_VALUE ? w->has.u.value : NULL;
    cq_operand      o = w->has;

    if (v && v->data)
        return cq_tensor_get_f64(v->data, 0) != 0 ? ALWAYS : NEVER;
    if (v && v->node && strcmp(v->node->op, "prim::NumToTensor.Scalar") == 0)
        o = v->node->inputs[0];
    return o.kind != CQ_OPERAND_BOOL ? MAYBE : o.u.b ? ALWAYS : NEVER;
}

/* Both sides of an If, or the initial value and the result of an iteration. */
static bool ways_to(const cq_value *has, const cq_value *value, way ways[2])
{
    const cq_node *n = has->node;

    if (!n || value->node != n || !n->n_blocks)
        return false;
    if (strcmp(n->op, "prim::If") == 0) {
        for (size_t i = 0; i < 2; i++)
            ways[i] = (way){ n->blocks[i]->returns.items[has->index],
                             n->blocks[i]->returns.items[value->index] };
        return true;
    }
    if (strcmp(n->op, "prim::Loop") != 0)
        return false;
    ways[0] = (way){ n->inputs[has->index + 2], n->inputs[value->index + 2] };
    ways[1] = (way){ n->blocks[0]->returns.items[has->index + 1],
                     n->blocks[0]->returns.items[value->index + 1] };
    return true;
}

/* The type of an optional value is that of the existing value, not that of a placeholder. */
static cq_value *what_is_there(const cq_value *has, cq_value *value)
{
    way ways[2];

    while (ways_to(has, value, ways) &&
           (has_value(&ways[0]) == NEVER) != (has_value(&ways[1]) == NEVER)) {
        const way *there = &ways[has_value(&ways[0]) == NEVER];

        if (there->value.kind != CQ_OPERAND_VALUE)
            break;
        value = there->value.u.value;
        if (there->has.kind != CQ_OPERAND_VALUE)
            break;
        has = there->has.u.value;
    }
    return value;
}

/* If one side of an If always has the value and the other never, the condition of the If tells
 * whether it exists, and the If is not needed. Otherwise NULL. */
static cq_value *condition_of(cq_sym *s, const cq_value *has, const cq_value *value)
{
    const cq_node *n = has->node;
    way            ways[2];
    cq_value      *asked;

    if (!ways_to(has, value, ways) || strcmp(n->op, "prim::If") != 0 ||
        has_value(&ways[0]) == MAYBE || has_value(&ways[0]) + has_value(&ways[1]) != ALWAYS)
        return NULL;
    asked = cq_sym_value(s, n->inputs[0].u.value);
    return has_value(&ways[0]) == ALWAYS ? asked : cq_sym_op(s, "Not", CQ_IN(asked), CQ_NO_ATTR);
}

/* An optional value, from has and value: an If returns the value or an empty optional. */
static cq_status optional(cq_sym *s)
{
    cq_value *has = s->node->inputs[0].u.value, *value = s->node->inputs[1].u.value;
    cq_value *there = what_is_there(has, value), *asked = NULL, *some, *none;
    cq_type  *known = &s->node->outputs[0]->type;
    cq_node  *node;

    if (there->type.kind == CQ_TYPE_TENSOR && there->type.rank == known->rank)
        known->sizes = there->type.sizes;
    if (!there->block || there->block == s->node->outputs[0]->block) /* seen from here */
        asked = condition_of(s, has, value);
    value = cq_sym_value(s, asked ? there : value);
    node  = cq_sym_node(s, "If", CQ_IN(asked ? asked : cq_sym_value(s, has)), 1);
    cq_sym_push_block(s, node);
    some = cq_sym_op(s, "Optional", CQ_IN(value), CQ_NO_ATTR);
    if (some)
        some->type = *known;
    cq_sym_pop_block(s, CQ_IN(some));
    cq_sym_push_block(s, node);
    none = cq_sym_op(s, "Optional", CQ_NO_IN, CQ_NO_ATTR);
    if (none)
        none->type = *known; /* which lower.c writes as the attribute that it needs */
    cq_sym_pop_block(s, CQ_IN(none));
    return cq_sym_done(s, s->status == CQ_OK ? node->outputs[0] : NULL);
}

/* The contents of an input that may be empty. If no branch has tested it, an unused placeholder is
 * returned. */
static cq_status optional_get(cq_sym *s)
{
    const cq_type type  = s->node->outputs[0]->type;
    cq_value     *input = cq_sym_value(s, s->node->inputs[0].u.value), *some;
    cq_node      *node  = NULL;
    cq_int        sizes[CQ_MAX_RANK];

    if (!cq_export_is_asked_for(s->node)) {
        node = cq_sym_node(s, "If",
                           CQ_IN(cq_sym_op(s, "OptionalHasElement", CQ_IN(input), CQ_NO_ATTR)), 1);
        cq_sym_push_block(s, node);
    }
    some = cq_sym_op(s, "OptionalGetElement", CQ_IN(input), CQ_NO_ATTR);
    if (some)
        some->type = type;
    if (s->status != CQ_OK || !node)
        return cq_sym_done(s, some);
    cq_sym_pop_block(s, CQ_IN(some));
    cq_sym_push_block(s, node);
    for (int i = 0; i < type.rank; i++)
        sizes[i] = type.sizes[i].expr ? cq_i(1) : type.sizes[i];
    some = cq_sym_op(s, "ConstantOfShape", CQ_IN(cq_sym_of_ints(s, sizes, (size_t)type.rank)),
                     CQ_NO_ATTR);
    cq_sym_pop_block(s, CQ_IN(cq_sym_cast(s, some, type.dtype)));
    return cq_sym_done(s, s->status == CQ_OK ? node->outputs[0] : NULL);
}

/* A scan output stacked along axis 0, with its items concatenated (x1: along which axis; x2: a new
 * one). */
static cq_status joined(cq_sym *s)
{
    cq_value    *x    = cq_sym_value(s, s->node->inputs[0].u.value);
    const size_t rank = x ? (size_t)x->type.rank : 0, axis = (size_t)s->node->inputs[1].u.i.value;
    int64_t      perm[CQ_MAX_RANK];
    cq_int       sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < rank; i++)
        perm[i] = (int64_t)(i < axis ? i + 1 : i == axis ? 0 : i);
    if (axis)
        x = cq_sym_transpose(s, x, perm, rank);
    if (!x || s->node->inputs[2].u.i.value)
        return cq_sym_done(s, x);
    for (size_t i = 0; i + 1 < rank; i++)
        sizes[i] = x->type.sizes[i + (i > axis)];
    sizes[axis] = cq_int_mul(&s->ex->source->symbols, x->type.sizes[axis], x->type.sizes[axis + 1]);
    return cq_sym_done(s, cq_sym_reshape(s, x, sizes, rank - 1));
}

const cq_symbolic cq_symbolics_sequence[] = {
    { "sequence::joined", 7, .fn = joined },
    { "optional::make", 15, .fn = optional },
    { "optional::get", 15, .fn = optional_get },
    { 0 },
};
