/* Recurrent layers. ONNX has the same cells with their gates in another order, one layer at a
 * time, and results as [steps, directions, batch, size].
 *
 * Packed sequences do not exist in ONNX: a packed tensor stays padded, with the lengths in
 * place of batch_sizes, as long as only recurrent layers and unpacking read it. LSTMs with
 * projections are in rnn_projected.c. */
#include "export/symbolic/common.h"
#include "export/symbolic/positions.h"

typedef struct cell {
    const char *op; /* in ONNX */
    int         n_gates;
    int         order[4]; /* PyTorch's gate for each of ONNX */
    const char *activation;
} cell;

static const cell *cell_of(const cq_sym *s)
{
    static const struct {
        const char *name;
        cell        cell;
    } cells[] = {
        { "aten::lstm", { "LSTM", 4, { 0, 3, 1, 2 }, NULL } }, /* i f g o: i o f c */
        { "aten::gru", { "GRU", 3, { 1, 0, 2 }, NULL } },      /* r z n: z r h */
        { "aten::rnn_tanh", { "RNN", 1, { 0 }, "Tanh" } },
        { "aten::rnn_relu", { "RNN", 1, { 0 }, "Relu" } },
    };

    for (size_t i = 0; i < sizeof cells / sizeof *cells; i++)
        if (strcmp(s->op->schema->name, cells[i].name) == 0)
            return &cells[i].cell;
    return &cells[0].cell;
}

typedef struct rnn {
    const cell *cell;
    cq_value   *x; /* [steps, batch, input] */
    cq_value   *lengths;
    cq_value   *h0, *c0;
    bool        lstm, packed, biases;
    int64_t     layers, directions, hidden;
    size_t      per_layer;
} rnn;

/* ---- weights ---- */

/* A weight or bias with the gates in ONNX's order: one axis more in front, for directions. */
static cq_value *reorder(cq_sym *s, const rnn *r, cq_value *w)
{
    cq_value *gates[4];
    int64_t   zero = 0;

    for (int i = 0; i < r->cell->n_gates; i++) {
        int64_t from = r->cell->order[i] * r->hidden;

        gates[i] = cq_sym_slice(s, w, 0, cq_i(from), cq_i(from + r->hidden), 1);
    }
    if (r->cell->n_gates > 1)
        w = cq_sym_concat(s, gates, (size_t)r->cell->n_gates, 0);
    return cq_sym_unsqueeze(s, w, &zero, 1);
}

/* Number `which` of the tensors of a layer, for all directions. */
static cq_value *weight(cq_sym *s, const rnn *r, int64_t layer, size_t which)
{
    cq_value *parts[2];

    for (int64_t d = 0; d < r->directions; d++) {
        size_t at = (size_t)(layer * r->directions + d) * r->per_layer + which;

        parts[d] = reorder(s, r, cq_sym_widen(s, cq_sym_in_at(s, "params", at)));
    }
    return r->directions > 1 ? cq_sym_concat(s, parts, 2, 0) : parts[0];
}

static cq_value *state_of_layer(cq_sym *s, const rnn *r, cq_value *state, int64_t layer)
{
    int64_t from = layer * r->directions;

    if (r->layers == 1 || !state)
        return state;
    return cq_sym_slice(s, state, 0, cq_i(from), cq_i(from + r->directions), 1);
}

/* ---- layers ---- */

/* [steps, directions, batch, size] to [steps, batch, directions * size]. */
static cq_value *join_directions(cq_sym *s, const rnn *r, cq_value *y)
{
    cq_int  sizes[4] = { cq_sym_size(s, r->x, 0), cq_i(r->directions), cq_sym_size(s, r->x, 1),
                         cq_i(r->hidden) };
    int64_t one      = 1;

    cq_sym_set_type(s, y, cq_sym_dtype(s, r->x), 4, sizes);
    if (r->directions == 1)
        return cq_sym_squeeze(s, y, &one, 1);
    y        = cq_sym_transpose(s, y, (int64_t[]){ 0, 2, 1, 3 }, 4);
    y        = cq_sym_reshape_i64(s, y, (int64_t[]){ 0, 0, 2 * r->hidden }, 3);
    sizes[1] = sizes[2];
    sizes[2] = cq_i(2 * r->hidden);
    cq_sym_set_type(s, y, cq_sym_dtype(s, r->x), 3, sizes);
    return y;
}

/* One layer on x; its last states go to h and c. */
static cq_value *layer_of(cq_sym *s, const rnn *r, int64_t layer, cq_value *x, cq_value **h,
                          cq_value **c)
{
    const char *names[2] = { r->cell->activation, r->cell->activation };
    cq_value   *bias     = NULL, *out[3];
    size_t      n_out    = r->lstm ? 3 : 2;

    if (r->biases)
        bias = cq_sym_concat(s, (cq_value *[]){ weight(s, r, layer, 2), weight(s, r, layer, 3) }, 2,
                             1);
    cq_sym_op_n(
        s, r->cell->op,
        CQ_IN(x, weight(s, r, layer, 0), weight(s, r, layer, 1), bias, r->lengths,
              state_of_layer(s, r, r->h0, layer), state_of_layer(s, r, r->c0, layer)),
        CQ_ATTR(r->cell->activation ? cq_attr_ss(s, "activations", names, (size_t)r->directions)
                                    : (cq_attr){ 0 },
                r->directions > 1 ? cq_attr_s("direction", "bidirectional") : (cq_attr){ 0 },
                cq_attr_i("hidden_size", r->hidden),
                strcmp(r->cell->op, "GRU") == 0 ? cq_attr_i("linear_before_reset", 1)
                                                : (cq_attr){ 0 }),
        out, n_out);
    *h = out[1];
    *c = r->lstm ? out[2] : NULL;
    return join_directions(s, r, out[0]);
}

static cq_value *drop(cq_sym *s, cq_value *x, double p)
{
    cq_value *v;

    if (!cq_sym_since(s, 12, "dropout between layers in training needs opset 12"))
        return NULL;
    v = cq_sym_op(
        s, "Dropout",
        CQ_IN(x, cq_sym_const_f64(s, CQ_DTYPE_F32, p), cq_sym_const_f64(s, CQ_DTYPE_BOOL, 1)),
        CQ_NO_ATTR);
    cq_sym_set_type_of(v, x);
    return v;
}

/* States of all layers as one, in the dtype that the arguments have. */
static cq_value *join_layers(cq_sym *s, const rnn *r, cq_value **states)
{
    cq_value *v = states[0];

    if (r->layers > 1)
        v = cq_sym_concat(s, states, (size_t)r->layers, 0);
    cq_sym_set_dtype(s, v, cq_sym_dtype(s, r->x));
    return v;
}

/* ---- packed sequences ---- */

enum { DATA_ONLY_PADDED = 3 }; /* the rank of packed data that is really padded */

static bool reads_packed(const char *op)
{
    const char *dot = strrchr(op, '.');

    return strcmp(op, "aten::_pad_packed_sequence") == 0 || (dot && strcmp(dot, ".data") == 0);
}

static bool mentions(const cq_operand *o, const cq_value *v)
{
    if (o->kind == CQ_OPERAND_VALUE)
        return o->u.value == v;
    for (size_t i = 0; o->kind == CQ_OPERAND_LIST && i < o->u.list.n; i++)
        if (mentions(&o->u.list.items[i], v))
            return true;
    return false;
}

static bool is_used(const cq_node *n)
{
    bool used = n->n_blocks != 0;

    for (size_t i = 0; i < n->n_outputs; i++)
        used |= n->outputs[i]->n_uses > 0;
    return used;
}

/* Whether all users of v know its real layout. */
static bool stays_among_rnns(const cq_sym *s, const cq_value *v)
{
    const cq_block *block = s->node->block;

    for (size_t i = 0; i < block->returns.n; i++)
        if (mentions(&block->returns.items[i], v))
            return false;
    for (const cq_node *n = s->node->next; n; n = n->next)
        for (size_t i = 0; i < n->n_inputs; i++)
            if (mentions(&n->inputs[i], v) && !reads_packed(n->op) && is_used(n))
                return false;
    return true;
}

/* The end of a symbolic whose first n_packed results are of packed sequences: they keep the
 * types that they really have. */
static cq_status done_packed(cq_sym *s, cq_value **results, size_t n, size_t n_packed)
{
    cq_type types[2] = { { 0 } };

    CQ_TRY(s->status);
    for (size_t i = 0; i < n_packed; i++)
        types[i] = results[i]->type;
    CQ_TRY(cq_sym_done_n(s, results, n));
    for (size_t i = 0; i < n_packed; i++)
        s->done[i]->type = types[i];
    return CQ_OK;
}

static cq_status pack(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "input"), *lengths = cq_sym_in(s, "lengths");

    if (!stays_among_rnns(s, s->node->outputs[0]) || !stays_among_rnns(s, s->node->outputs[1]))
        return cq_sym_no(s, 0, "packed sequences can only go through recurrent layers");
    if (cq_sym_rank(s, x) != DATA_ONLY_PADDED)
        return cq_sym_no(s, 0, "steps should be rows of numbers");
    if (cq_sym_bool(s, "batch_first"))
        x = cq_sym_swap_dims(s, x, 0, 1);
    return done_packed(s, (cq_value *[]){ x, lengths }, 2, 2);
}

/* The number of steps; 0: that of the longest sequence. A trace reads the size of batch_sizes,
 * which is the same. */
static int64_t total_steps(cq_sym *s)
{
    enum { BATCH_SIZES = 1 };
    const cq_operand *sizes = &s->node->inputs[BATCH_SIZES];
    cq_int            total = cq_sym_int(s, "total_length");

    if (total.expr && sizes->kind == CQ_OPERAND_VALUE &&
        cq_int_same(total, sizes->u.value->type.sizes[0]))
        return 0;
    return cq_sym_i64(s, "total_length");
}

/* Results are zero past the end of a sequence, so only steps that no sequence has go. */
static cq_status unpack(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "data"), *lengths = cq_sym_in(s, "batch_sizes"), *results[2];
    int64_t   total = total_steps(s), zero = 0;
    cq_value *longest;

    if (cq_sym_rank(s, x) != DATA_ONLY_PADDED || cq_sym_f64(s, "padding_value") != 0)
        return cq_sym_no(s, 0, "only what _pack_padded_sequence packed can be padded, with zeros");
    if (total > 0 && !cq_int_is(cq_sym_size(s, x, 0), total))
        return cq_sym_no(s, 0, "total_length should be the number of steps before packing");
    if (total <= 0) {
        longest = cq_sym_reduce(s, "ReduceMax", lengths, &zero, 1, true);
        x       = cq_sym_opset(s) < 10 ? cq_sym_op2(s, "Gather", x, cq_sym_count_to(s, longest))
                                       : cq_sym_op(s, "Slice",
                                                   CQ_IN(x, cq_sym_const_i64s(s, &zero, 1), longest,
                                                         cq_sym_const_i64s(s, &zero, 1)),
                                                   CQ_NO_ATTR);
        cq_sym_set_dtype(s, x, cq_sym_dtype(s, cq_sym_in(s, "data")));
    }
    if (cq_sym_bool(s, "batch_first"))
        x = cq_sym_op(s, "Transpose", CQ_IN(x),
                      CQ_ATTR(cq_attr_is(s, "perm", (int64_t[]){ 1, 0, 2 }, 3)));
    results[0] = x;
    results[1] = lengths;
    return cq_sym_done_n(s, results, 2);
}

/* ---- the operator ---- */

static bool is_zeros(const cq_value *v)
{
    const cq_node    *n     = v ? v->node : NULL;
    const cq_operand *value = n ? cq_ir_attr(n, "value") : NULL;

    return n && strcmp(n->op, "onnx::ConstantOfShape") == 0 &&
           (!value || cq_tensor_get_f64(value->u.tensor, 0) == 0);
}

/* An omitted state is zero, which PyTorch's layers write out if no state is given. */
static cq_value *state_in(cq_sym *s, cq_value *state)
{
    return is_zeros(state) ? NULL : cq_sym_widen(s, state);
}

static cq_status read_states(cq_sym *s, rnn *r)
{
    cq_value *h = r->lstm ? cq_sym_in_at(s, "hx", 0) : cq_sym_in(s, "hx");

    r->hidden = cq_sym_size(s, h, 2).value;
    r->h0     = state_in(s, h);
    r->c0     = r->lstm ? state_in(s, cq_sym_in_at(s, "hx", 1)) : NULL;
    return s->status;
}

static cq_status read_rnn(cq_sym *s, rnn *r)
{
    *r            = (rnn){ .cell   = cell_of(s),
                           .packed = cq_sym_has_arg(s, "batch_sizes"),
                           .biases = cq_sym_bool(s, "has_biases"),
                           .layers = cq_sym_i64(s, "num_layers") };
    r->lstm       = r->cell->n_gates == 4;
    r->directions = cq_sym_bool(s, "bidirectional") ? 2 : 1;
    r->per_layer  = r->biases ? 4 : 2;
    r->x          = cq_sym_widen(s, cq_sym_in(s, r->packed ? "data" : "input"));
    CQ_TRY(read_states(s, r));
    if (r->packed) {
        if (cq_sym_rank(s, r->x) != DATA_ONLY_PADDED || !stays_among_rnns(s, s->node->outputs[0]))
            return cq_sym_no(s, 0,
                             "only what _pack_padded_sequence packed can go through it, and "
                             "then only through recurrent layers");
        r->lengths = cq_sym_cast(s, cq_sym_in(s, "batch_sizes"), CQ_DTYPE_I32);
    } else if (cq_sym_bool(s, "batch_first")) {
        r->x = cq_sym_swap_dims(s, r->x, 0, 1);
    }
    return s->status;
}

/* Whether the output has another size than the cells. */
static bool has_projections(cq_sym *s)
{
    if (cell_of(s)->n_gates != 4)
        return false;
    return cq_sym_size(s, cq_sym_in_at(s, "hx", 0), 2).value !=
           cq_sym_size(s, cq_sym_in_at(s, "hx", 1), 2).value;
}

static cq_status recurrent(cq_sym *s)
{
    enum { MAX_LAYERS = 256 };
    cq_value *h[MAX_LAYERS], *c[MAX_LAYERS], *results[3] = { NULL }, *y;
    double    dropout = cq_sym_bool(s, "train") ? cq_sym_f64(s, "dropout") : 0;
    rnn       r;

    if (has_projections(s))
        return cq_sym_projected_lstm(s);
    CQ_TRY(read_rnn(s, &r));
    if (r.layers > MAX_LAYERS)
        return cq_sym_no(s, 0, "it has %lld layers", (long long)r.layers);
    y = r.x;
    for (int64_t i = 0; i < r.layers; i++) {
        y = layer_of(s, &r, i, y, &h[i], &c[i]);
        if (dropout > 0 && i + 1 < r.layers)
            y = drop(s, y, dropout);
    }
    results[1] = join_layers(s, &r, h);
    if (r.lstm)
        results[2] = join_layers(s, &r, c);
    if (!r.packed && cq_sym_bool(s, "batch_first"))
        y = cq_sym_swap_dims(s, y, 0, 1);
    results[0] = y;
    return r.packed ? done_packed(s, results, r.lstm ? 3 : 2, 1)
                    : cq_sym_done_n(s, results, r.lstm ? 3 : 2);
}

const cq_symbolic cq_symbolics_rnn[] = {
    { "aten::lstm", 7, .fn = recurrent },
    { "aten::gru", 7, .fn = recurrent },
    { "aten::rnn_tanh", 7, .fn = recurrent },
    { "aten::rnn_relu", 7, .fn = recurrent },
    { "aten::_pack_padded_sequence", 7, .fn = pack },
    { "aten::_pad_packed_sequence", 7, .fn = unpack },
    { 0 },
};
