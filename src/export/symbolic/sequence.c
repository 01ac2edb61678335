/* Lists of data-dependent length: sequences of tensors. The nodes come from the evaluator
 * (script/sequence.c) and not from operators of the table, so their inputs go by number. */
#include "export/exporter.h"

/* A value that may be missing: has, value. If gives it or an empty optional. */
static cq_status optional(cq_sym *s)
{
    cq_value *has   = cq_sym_value(s, s->node->inputs[0].u.value), *some, *none;
    cq_value *value = cq_sym_value(s, s->node->inputs[1].u.value);
    cq_type   type  = cq_sym_result_type(s, 0);
    cq_node  *node  = cq_sym_node(s, "If", CQ_IN(has), 1);

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
    return cq_sym_done(s, s->status == CQ_OK ? node->outputs[0] : NULL);
}

#define TOO_EARLY "a list of data-dependent length is a sequence, which came with opset 11"

const cq_symbolic cq_symbolics_sequence[] = {
    { "sequence::empty", 7, .no = TOO_EARLY },
    { "sequence::empty", 11, .as = "SequenceEmpty<dtype = result_dtype()>()" },
    { "sequence::construct", 7, .no = TOO_EARLY },
    { "sequence::construct", 11, .as = "SequenceConstruct(arguments())" },
    { "sequence::insert", 7, .no = TOO_EARLY },
    { "sequence::insert", 11, .as = "SequenceInsert(arguments())" },
    { "sequence::erase", 7, .no = TOO_EARLY },
    { "sequence::erase", 11, .as = "SequenceErase(arguments())" },
    { "sequence::at", 7, .no = TOO_EARLY },
    { "sequence::at", 11, .as = "SequenceAt(arguments())" },
    { "sequence::length", 7, .no = TOO_EARLY },
    { "sequence::length", 11, .as = "SequenceLength(arguments())" },
    { "sequence::concat", 7, .no = TOO_EARLY },
    { "sequence::concat", 11, .as = "ConcatFromSequence<axis = x1, new_axis = x2>(x0)" },
    { "sequence::split", 7, .no = TOO_EARLY },
    /* Without sizes SplitToSequence takes single slices, and keepdims counts; with them it does
       not. */
    { "sequence::split", 11,
      .as = "SplitToSequence<axis = x1, keepdims = x3>(x0, cast(x2, 'int64') if x3 else None)" },
    { "optional::make", 7,
      .no = "a result that may be None is an optional, which came with opset 15" },
    { "optional::make", 15, .fn = optional },
    { 0 },
};
