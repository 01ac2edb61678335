/* Recurrent layers: RNN, GRU and LSTM have the same shape rules. */
#include "onnx/infer/rule.h"

static cq_status rnn(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *recurrent = cq_rule_shaped(r, 2);
    int64_t         size        = cq_rule_int(r, "hidden_size", 0);
    bool            batch_first = cq_rule_int(r, "layout", 0) != 0;
    cq_dim          hidden, batch, length;
    cq_dim   directions = cq_dim_of(cq_rule_text_is(r, "direction", "bidirectional") ? 2 : 1);
    cq_shape all, last;

    if (!x)
        return CQ_OK;
    if (x->rank != 3)
        return cq_rule_fail(r, "expected rank 3 for %s, got %zu", r->node->op_type, x->rank);
    hidden = size > 0 ? cq_dim_of(size) : cq_dim_unknown();
    if (!hidden.known && recurrent && recurrent->rank == 3)
        hidden = recurrent->dims[2];
    length = x->dims[batch_first ? 1 : 0];
    batch  = x->dims[batch_first ? 0 : 1];
    if (batch_first) {
        all  = (cq_shape){ 4, { batch, length, directions, hidden } };
        last = (cq_shape){ 3, { batch, directions, hidden } };
    } else {
        all  = (cq_shape){ 4, { length, directions, batch, hidden } };
        last = (cq_shape){ 3, { directions, batch, hidden } };
    }
    CQ_TRY(cq_rule_give(r, 0, &all));
    CQ_TRY(cq_rule_give(r, 1, &last));
    return cq_rule_give(r, 2, &last); /* the cell state of an LSTM */
}

const cq_rule_row cq_rules_rnn[] = {
    { "GRU", 1, rnn, NULL },
    { "LSTM", 1, rnn, NULL },
    { "RNN", 1, rnn, NULL },
    { NULL, 0, NULL, NULL },
};
