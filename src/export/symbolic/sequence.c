/* Lists whose length only the run tells: sequences of tensors. The nodes come from the evaluator
 * (script/sequence.c) and not from operators of the table, so their inputs go by number. */
#include "export/exporter.h"

static cq_value *input(cq_sym *s, size_t i)
{
    const cq_operand *o = i < s->node->n_inputs ? &s->node->inputs[i] : NULL;

    if (!o || s->status != CQ_OK)
        return NULL;
    return o->kind == CQ_OPERAND_INT ? cq_sym_of_int(s, o->u.i) : cq_sym_value(s, o->u.value);
}

static int64_t number(const cq_sym *s, size_t i)
{
    return s->node->inputs[i].u.i.value;
}

static cq_status finish(cq_sym *s, cq_value *v)
{
    if (v)
        v->type = s->node->outputs[0]->type;
    return cq_sym_done(s, v);
}

static cq_status empty(cq_sym *s)
{
    cq_dtype dtype = cq_sym_result_type(s, 0).dtype;

    return finish(s, cq_sym_op(s, "SequenceEmpty", CQ_NO_IN,
                               CQ_ATTR(cq_attr_i("dtype", cq_dtype_to_onnx(dtype)))));
}

/* The operator of that name on all inputs as they are. */
static cq_status plain(cq_sym *s, const char *op)
{
    cq_value *in[256];
    size_t    n = s->node->n_inputs;

    if (n > 256)
        return cq_sym_no(s, 0, "a list of %zu items is too long", n);
    for (size_t i = 0; i < n; i++)
        in[i] = input(s, i);
    return finish(s, cq_sym_op(s, op, in, n, CQ_NO_ATTR));
}

static cq_status construct(cq_sym *s)
{
    return plain(s, "SequenceConstruct");
}

static cq_status insert(cq_sym *s)
{
    return plain(s, "SequenceInsert");
}

static cq_status erase(cq_sym *s)
{
    return plain(s, "SequenceErase");
}

static cq_status at(cq_sym *s)
{
    return plain(s, "SequenceAt");
}

static cq_status length(cq_sym *s)
{
    return plain(s, "SequenceLength");
}

static cq_status concat(cq_sym *s)
{
    return finish(s, cq_sym_op(s, "ConcatFromSequence", CQ_IN(input(s, 0)),
                               CQ_ATTR(cq_attr_i("axis", number(s, 1)),
                                       cq_attr_i("new_axis", number(s, 2)))));
}

/* Without sizes SplitToSequence takes single slices, and keepdims counts; with them it does not. */
static cq_status split(cq_sym *s)
{
    bool keep_dim = number(s, 3) != 0;

    return finish(
        s, cq_sym_op(s, "SplitToSequence",
                     (cq_value *[]){ input(s, 0), keep_dim ? input(s, 2) : NULL }, keep_dim ? 2 : 1,
                     CQ_ATTR(cq_attr_i("axis", number(s, 1)), cq_attr_i("keepdims", keep_dim))));
}

/* A value that may be missing: has, value. If gives it or an empty optional. */
static cq_status optional(cq_sym *s)
{
    cq_value *has = input(s, 0), *value = input(s, 1), *some, *none;
    cq_type   type = cq_sym_result_type(s, 0);
    cq_node  *node = cq_sym_node(s, "If", CQ_IN(has), 1);

    cq_sym_push_block(s, node);
    some = cq_sym_op(s, "Optional", CQ_IN(value), CQ_NO_ATTR);
    if (some)
        some->type = type;
    cq_sym_pop_block(s, CQ_IN(some));
    cq_sym_push_block(s, node);
    none = cq_sym_op(s, "Optional", CQ_NO_IN, CQ_NO_ATTR);
    if (none)
        none->type = type; /* which lower.c writes as the attribute that it needs */
    cq_sym_pop_block(s, CQ_IN(none));
    return finish(s, s->status == CQ_OK ? node->outputs[0] : NULL);
}

#define TOO_EARLY "a list whose length only the run tells is a sequence, which came with opset 11"

const cq_symbolic cq_symbolics_sequence[] = {
    { "sequence::empty", 7, .no = TOO_EARLY },
    { "sequence::empty", 11, .fn = empty },
    { "sequence::construct", 7, .no = TOO_EARLY },
    { "sequence::construct", 11, .fn = construct },
    { "sequence::insert", 7, .no = TOO_EARLY },
    { "sequence::insert", 11, .fn = insert },
    { "sequence::erase", 7, .no = TOO_EARLY },
    { "sequence::erase", 11, .fn = erase },
    { "sequence::at", 7, .no = TOO_EARLY },
    { "sequence::at", 11, .fn = at },
    { "sequence::length", 7, .no = TOO_EARLY },
    { "sequence::length", 11, .fn = length },
    { "sequence::concat", 7, .no = TOO_EARLY },
    { "sequence::concat", 11, .fn = concat },
    { "sequence::split", 7, .no = TOO_EARLY },
    { "sequence::split", 11, .fn = split },
    { "optional::make", 7,
      .no = "a result that may be None is an optional, which came with opset 15" },
    { "optional::make", 15, .fn = optional },
    { 0 },
};
