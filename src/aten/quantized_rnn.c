/* Recurrent layers with quantized weights, as quantize_dynamic makes them. Their products are those
 * of quantized::linear_dynamic: all steps of the input are rounded together, by the range that they
 * have, and the state anew before each step. No operator of ONNX does that, so the steps are
 * written one after another.
 *
 * The parameters of a cell, an opaque class in PyTorch, are the state that an archive holds of it:
 * a tuple of what it is, tensors, floats, ints (the first: whether the range is reduced), and the
 * packed weights of input and state, which have the biases. */
#include "aten/ctx.h"

enum { KIND, TENSORS, FLOATS, INTS, PACKED, N_ITEMS };

enum { LSTM = 4, GRU = 3 /* gates */ };

typedef struct cell {
    cq_val input, state; /* packed weights */
    bool   reduce_range;
} cell;

static bool is_list(cq_val v, size_t n)
{
    return (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE) && v.u.list->n == n;
}

static cq_status read_cell(const cq_opcall *c, cq_val v, cell *out)
{
    const cq_val *items = is_list(v, N_ITEMS) ? v.u.list->items : NULL;

    if (!items || items[KIND].kind != CQ_VAL_STR)
        return cq_call_fail(c, CQ_E_TYPE, "\"params\" should be parameters of cells");
    if (strcmp(items[KIND].u.text->text, "quantized_dynamic") != 0 || !is_list(items[PACKED], 2))
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "cells of the kind %.40s are not known",
                            items[KIND].u.text->text);
    out->input        = items[PACKED].u.list->items[0];
    out->state        = items[PACKED].u.list->items[1];
    out->reduce_range = is_list(items[INTS], 1) &&
                        items[INTS].u.list->items[0].kind == CQ_VAL_INT &&
                        items[INTS].u.list->items[0].u.i.value;
    return CQ_OK;
}

static cq_tensor *linear(cq_opcall *c, cq_tensor *x, cq_val packed, bool reduce_range)
{
    return CQ_OP(c->cx, "quantized::linear_dynamic", TENSOR(x), packed, BOOL(reduce_range));
}

static cq_tensor *gate(cq_opcall *c, cq_tensor *all, int64_t i, int64_t size)
{
    return CQ_OP(c->cx, "aten::slice.Tensor", TENSOR(all), INT(1), INT(i * size),
                 INT((i + 1) * size), INT(1));
}

#define OP1(name, a)    CQ_OP(c->cx, "aten::" name, TENSOR(a))
#define OP2(name, a, b) CQ_OP(c->cx, "aten::" name ".Tensor", TENSOR(a), TENSOR(b))

/* One step: x is what the input comes to, state becomes the next one. */
static void lstm_step(cq_opcall *c, cq_tensor *x, const cell *w, cq_tensor *state[2], int64_t size)
{
    cq_tensor *gates = OP2("add", linear(c, state[0], w->state, w->reduce_range), x), *now;

    if (!gates)
        return;
    now = OP2("mul", OP1("sigmoid", gate(c, gates, 0, size)), OP1("tanh", gate(c, gates, 2, size)));
    state[1] = OP2("add", OP2("mul", OP1("sigmoid", gate(c, gates, 1, size)), state[1]), now);
    state[0] = OP2("mul", OP1("sigmoid", gate(c, gates, 3, size)), OP1("tanh", state[1]));
}

static void gru_step(cq_opcall *c, cq_tensor *x, const cell *w, cq_tensor *state[2], int64_t size)
{
    cq_tensor *h = linear(c, state[0], w->state, w->reduce_range), *reset, *keep, *news;

    if (!h)
        return;
    reset    = OP1("sigmoid", OP2("add", gate(c, h, 0, size), gate(c, x, 0, size)));
    keep     = OP1("sigmoid", OP2("add", gate(c, h, 1, size), gate(c, x, 1, size)));
    news     = OP1("tanh", OP2("add", gate(c, x, 2, size), OP2("mul", gate(c, h, 2, size), reset)));
    state[0] = OP2("add", OP2("mul", OP2("sub", state[0], news), keep), news);
}

/* A layer in one direction: x is [steps, batch, features], and so is the result. */
static cq_tensor *run_direction(cq_opcall *c, cq_tensor *x, const cell *w, cq_tensor *state[2],
                                bool backwards)
{
    const int  gates = c->op->def->variant;
    int64_t    steps = x->sizes[0].value, size = state[0]->sizes[1].value;
    cq_tensor *all = linear(c, x, w->input, w->reduce_range), *outputs[CQ_MAX_TENSORS];

    if (steps < 1 || steps > CQ_MAX_TENSORS) {
        cq_ctx_fail(c->cx, cq_call_fail(c, CQ_E_UNSUPPORTED,
                                        "a sequence of %lld steps: at least 1 "
                                        "and at most %d are possible",
                                        (long long)steps, CQ_MAX_TENSORS));
        return NULL;
    }
    for (int64_t i = 0; i < steps && c->cx->status == CQ_OK; i++) {
        int64_t    at   = backwards ? steps - 1 - i : i;
        cq_tensor *step = CQ_OP(c->cx, "aten::select.int", TENSOR(all), INT(0), INT(at));

        (gates == LSTM ? lstm_step : gru_step)(c, step, w, state, size);
        outputs[at] = state[0];
    }
    return c->cx->status == CQ_OK
               ? CQ_OP(c->cx, "aten::stack", cq_tensors(c->cx, outputs, (size_t)steps), INT(0))
               : NULL;
}

typedef struct layers {
    cq_tensor *start[2];                /* the states before, of all layers */
    cq_tensor *end[2][CQ_MAX_TENSORS];  /* and after */
    size_t     n, n_states, directions; /* layers times directions; h, or h and c */
    cq_val     params;
} layers;

static cq_status run_layer(cq_opcall *c, layers *l, size_t layer, cq_tensor **x)
{
    cq_tensor *parts[2];

    for (size_t d = 0; d < l->directions; d++) {
        size_t     at = layer * l->directions + d;
        cq_tensor *state[2];
        cell       w;

        CQ_TRY(read_cell(c, l->params.u.list->items[at], &w));
        for (size_t s = 0; s < l->n_states; s++)
            state[s] =
                CQ_OP(c->cx, "aten::select.int", TENSOR(l->start[s]), INT(0), INT((int64_t)at));
        CQ_TRY(c->cx->status);
        parts[d] = run_direction(c, *x, &w, state, d == 1);
        CQ_TRY(c->cx->status);
        for (size_t s = 0; s < l->n_states; s++)
            l->end[s][at] = state[s];
    }
    *x = l->directions == 1 ? parts[0]
                            : CQ_OP(c->cx, "aten::cat", cq_tensors(c->cx, parts, 2), INT(-1));
    return c->cx->status;
}

static cq_status check(const cq_opcall *c, const layers *l, const cq_tensor *x)
{
    bool fits = x->rank == 3 && is_list(l->params, l->n) && l->n && l->n <= CQ_MAX_TENSORS;

    for (size_t s = 0; s < l->n_states; s++)
        fits = fits && l->start[s] && l->start[s]->rank == 3 &&
               l->start[s]->sizes[0].value == (int64_t)l->n;
    if (!fits)
        return cq_call_fail(c, CQ_E_TYPE,
                            "sizes of the input, the states and the parameters do "
                            "not fit");
    if (cq_arg_bool(c, "train") && cq_arg_f64(c, "dropout") > 0)
        return cq_call_fail(c, CQ_E_UNSUPPORTED, "dropout between layers is for training");
    return CQ_OK;
}

static cq_status recurrent(cq_opcall *c)
{
    bool       batch_first = cq_arg_bool(c, "batch_first"), is_lstm = c->op->def->variant == LSTM;
    int64_t    n_layers = cq_arg_i64(c, "num_layers");
    cq_tensor *x        = cq_arg_tensor(c, "input");
    layers     l        = { .n_states   = is_lstm ? 2 : 1,
                            .directions = cq_arg_bool(c, "bidirectional") ? 2 : 1,
                            .params     = cq_arg_val(c, "params") };

    if (n_layers < 1 || n_layers > CQ_MAX_TENSORS / 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld layers", (long long)n_layers);
    l.n = (size_t)n_layers * l.directions;
    for (size_t s = 0; s < l.n_states; s++)
        l.start[s] = !is_lstm                         ? cq_arg_tensor(c, "hx")
                     : cq_arg_n_tensors(c, "hx") == 2 ? cq_arg_tensor_at(c, "hx", s)
                                                      : NULL;
    CQ_TRY(check(c, &l, x));
    if (batch_first)
        x = CQ_OP(c->cx, "aten::transpose.int", TENSOR(x), INT(0), INT(1));
    for (size_t i = 0; i < (size_t)n_layers && c->cx->status == CQ_OK; i++)
        CQ_TRY(run_layer(c, &l, i, &x));
    if (batch_first)
        x = CQ_OP(c->cx, "aten::transpose.int", TENSOR(x), INT(0), INT(1));
    cq_result_set_tensor(c, 0, x);
    for (size_t s = 0; s < l.n_states; s++)
        cq_result_set_tensor(c, s + 1,
                             CQ_OP(c->cx, "aten::stack", cq_tensors(c->cx, l.end[s], l.n), INT(0)));
    return c->cx->status;
}

/* The state that an archive would hold. */
static cq_status make_cell(cq_opcall *c)
{
    cq_list *state, *lists[N_ITEMS];

    CQ_TRY(cq_list_new(&state, N_ITEMS));
    cq_ctx_own(c->cx, (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = state });
    state->items[KIND] = cq_val_retain(cq_str_val(c->cx, "quantized_dynamic"));
    for (size_t i = TENSORS; i < N_ITEMS; i++) {
        CQ_TRY(cq_list_new(&lists[i], 0));
        state->items[i] = cq_val_of_list(lists[i]);
    }
    CQ_TRY(cq_list_push(lists[TENSORS], cq_arg_val(c, "bias_ih")));
    CQ_TRY(cq_list_push(lists[TENSORS], cq_arg_val(c, "bias_hh")));
    CQ_TRY(cq_list_push(lists[INTS], INT(cq_arg_bool(c, "reduce_range"))));
    CQ_TRY(cq_list_push(lists[PACKED], cq_arg_val(c, "w_ih")));
    CQ_TRY(cq_list_push(lists[PACKED], cq_arg_val(c, "w_hh")));
    return cq_result_set(c, 0, (cq_val){ .kind = CQ_VAL_TUPLE, .u.list = state });
}

#define CELL         "__torch__.torch.classes.rnn.CellParamsBase"
#define PACKED_CLASS "__torch__.torch.classes.quantized.LinearPackedParamsBase"
#define MANY                                                                                       \
    CELL "[] params, bool has_biases, int num_layers, float dropout, bool train, "                 \
         "bool bidirectional, bool batch_first"

const cq_op_def cq_ops_quantized_rnn[] = {
    { .schema = "quantized::make_quantized_cell_params_dynamic(" PACKED_CLASS " w_ih, " PACKED_CLASS
                " w_hh, Tensor bias_ih, Tensor bias_hh, bool reduce_range=False) -> " CELL,
      .about   = "the parameters of a cell with quantized weights",
      .compose = make_cell,
      .flags   = CQ_OP_PARTS },
    { .schema = "aten::quantized_lstm.input(Tensor input, Tensor[] hx, " MANY
                ", *, ScalarType? dtype=None, bool use_dynamic=False) -> (Tensor, Tensor, Tensor)",
      .about   = "lstm with quantized weights",
      .compose = recurrent,
      .flags   = CQ_OP_PARTS,
      .variant = LSTM },
    { .schema  = "aten::quantized_gru.input(Tensor input, Tensor hx, " MANY ") -> (Tensor, Tensor)",
      .about   = "gru with quantized weights",
      .compose = recurrent,
      .flags   = CQ_OP_PARTS,
      .variant = GRU },
    { 0 }
};
