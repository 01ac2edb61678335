/* Recurrent layers, as the steps that they consist of: on a tape they are heard step by step, so
 * that every product and every dropout between layers has its gradient. Sequences of different
 * lengths come packed: step t has as many rows as sequences are still running, longest first;
 * others have the same number in every step. */
#include "aten/packed.h"
#include "autograd/gradient.h"

typedef struct stack {
    cq_opcall *c;
    cq_ctx    *cx;
    enum { PLAIN, LSTM, GRU } kind;
    const char *activation;
    bool        biases, both;
    int64_t     layers, steps, batch;
    int64_t    *sizes; /* rows of each step */
    cq_tensor  *h0, *c0;
    size_t      per_layer; /* weights of a layer and direction */
    bool        projected;
} stack;

typedef struct weights {
    cq_tensor *w_ih, *w_hh, *b_ih, *b_hh, *w_hr;
} weights;

#define OP2(op, a, b) CQ_OP(s->cx, op, TENSOR(a), TENSOR(b))
#define FN(op, a)     CQ_OP(s->cx, op, TENSOR(a))

static cq_tensor *rows(const stack *s, cq_tensor *t, int64_t from, int64_t to)
{
    return CQ_OP(s->cx, "aten::slice.Tensor", TENSOR(t), INT(0), INT(from), INT(to));
}

static cq_tensor *joined(const stack *s, cq_tensor **parts, size_t n, int64_t dim)
{
    return n == 1 ? parts[0] : CQ_OP(s->cx, "aten::cat", cq_tensors(s->cx, parts, n), INT(dim));
}

/* Part number i of the n gates of t. */
static cq_tensor *gate(const stack *s, cq_tensor *t, int64_t i, int64_t n)
{
    int64_t size = t ? t->sizes[1].value / n : 0;

    return t ? CQ_OP(s->cx, "aten::slice.Tensor", TENSOR(t), INT(1), INT(i * size),
                     INT((i + 1) * size))
             : NULL;
}

/* One step: x is the input's part of the gates; the state is changed. */
static void step(const stack *s, const weights *w, cq_tensor *x, cq_tensor **h, cq_tensor **c)
{
    cq_tensor *u = CQ_OP(s->cx, "aten::linear", TENSOR(*h), TENSOR(w->w_hh), TENSOR(w->b_hh)), *r,
              *z, *n;

    if (s->kind == GRU) {
        r  = FN("aten::sigmoid", OP2("aten::add.Tensor", gate(s, x, 0, 3), gate(s, u, 0, 3)));
        z  = FN("aten::sigmoid", OP2("aten::add.Tensor", gate(s, x, 1, 3), gate(s, u, 1, 3)));
        n  = OP2("aten::mul.Tensor", r, gate(s, u, 2, 3));
        n  = FN("aten::tanh", OP2("aten::add.Tensor", gate(s, x, 2, 3), n));
        r  = OP2("aten::mul.Tensor", z, OP2("aten::sub.Tensor", *h, n));
        *h = OP2("aten::add.Tensor", n, r);
        return;
    }
    u = OP2("aten::add.Tensor", x, u);
    if (s->kind == PLAIN) {
        *h = FN(s->activation, u);
        return;
    }
    r  = OP2("aten::mul.Tensor", FN("aten::sigmoid", gate(s, u, 0, 4)),
             FN("aten::tanh", gate(s, u, 2, 4)));
    *c = OP2("aten::mul.Tensor", FN("aten::sigmoid", gate(s, u, 1, 4)), *c);
    *c = OP2("aten::add.Tensor", *c, r);
    *h = OP2("aten::mul.Tensor", FN("aten::sigmoid", gate(s, u, 3, 4)), FN("aten::tanh", *c));
    if (w->w_hr)
        *h = OP2("aten::linear", *h, w->w_hr);
}

/* The states of the sequences that run on; those that end here are put into ended. */
static cq_tensor *shrunk(const stack *s, cq_tensor *t, int64_t size, cq_tensor **ended)
{
    int64_t now = t->sizes[0].value;

    if (now == size)
        return t;
    ended[size] = rows(s, t, size, now);
    return rows(s, t, 0, size);
}

/* In the other direction sequences begin at their ends: their first states join. */
static cq_tensor *grown(const stack *s, cq_tensor *t, int64_t size, cq_tensor *initial)
{
    cq_tensor *both[2] = { t, NULL };

    if (!t)
        return rows(s, initial, 0, size);
    if (t->sizes[0].value == size)
        return t;
    both[1] = rows(s, initial, t->sizes[0].value, size);
    return joined(s, both, 2, 0);
}

/* The last states of all sequences, which ended at different steps. */
static cq_tensor *last_states(const stack *s, cq_tensor *t, cq_tensor **ended)
{
    for (int64_t i = 0; i < s->batch && s->cx->status == CQ_OK; i++)
        if (ended[i]) {
            cq_tensor *both[2] = { t, ended[i] };

            t = joined(s, both, 2, 0);
        }
    return t;
}

/* One direction of one layer on x, all steps one after the other; h and c are the first states and
 * become the last. The states on the way are the result. */
static cq_tensor *run_direction(const stack *s, const weights *w, bool reverse, cq_tensor *x,
                                cq_tensor **h, cq_tensor **c)
{
    cq_ctx     *cx      = s->cx;
    cq_tensor **outs    = cq_alloc_array((size_t)s->steps + 1, sizeof *outs);
    cq_tensor **ended_h = cq_zalloc(((size_t)s->batch + 1) * sizeof *ended_h);
    cq_tensor **ended_c = cq_zalloc(((size_t)s->batch + 1) * sizeof *ended_c);
    cq_tensor  *first_h = *h, *first_c = *c, *out = NULL;
    cq_val      parts = CQ_NONE;

    if (!outs || !ended_h || !ended_c)
        cq_ctx_fail(cx, CQ_E_NO_MEMORY);
    x = CQ_OP(cx, "aten::linear", TENSOR(x), TENSOR(w->w_ih), TENSOR(w->b_ih));
    if (cx->status == CQ_OK)
        cq_op_call(cx, cq_op_find("aten::split_with_sizes"),
                   (cq_val[]){ TENSOR(x), cq_i64s(cx, s->sizes, (size_t)s->steps) }, 2, &parts, 1);
    if (reverse)
        *h = *c = NULL;
    for (int64_t i = 0; i < s->steps && cx->status == CQ_OK; i++) {
        int64_t t = reverse ? s->steps - 1 - i : i;

        if (reverse) {
            *h = grown(s, *h, s->sizes[t], first_h);
            *c = first_c ? grown(s, *c, s->sizes[t], first_c) : NULL;
        } else {
            *h = shrunk(s, *h, s->sizes[t], ended_h);
            *c = *c ? shrunk(s, *c, s->sizes[t], ended_c) : NULL;
        }
        if (cx->status == CQ_OK)
            step(s, w, parts.u.list->items[t].u.tensor, h, c);
        outs[t] = *h;
    }
    if (cx->status == CQ_OK) {
        out = joined(s, outs, (size_t)s->steps, 0);
        *h  = last_states(s, *h, ended_h);
        *c  = *c ? last_states(s, *c, ended_c) : NULL;
    }
    cq_free(outs);
    cq_free(ended_h);
    cq_free(ended_c);
    return out;
}

static weights weights_of(const stack *s, int64_t index)
{
    size_t  at = (size_t)index * s->per_layer;
    weights w  = { .w_ih = cq_arg_tensor_at(s->c, "params", at),
                   .w_hh = cq_arg_tensor_at(s->c, "params", at + 1) };

    if (s->biases) {
        w.b_ih = cq_arg_tensor_at(s->c, "params", at + 2);
        w.b_hh = cq_arg_tensor_at(s->c, "params", at + 3);
    }
    if (s->projected)
        w.w_hr = cq_arg_tensor_at(s->c, "params", at + s->per_layer - 1);
    return w;
}

static cq_tensor *state_at(const stack *s, cq_tensor *t, int64_t index)
{
    return t ? CQ_OP(s->cx, "aten::select.int", TENSOR(t), INT(0), INT(index)) : NULL;
}

/* All layers on x [all rows, input]; the last states go to h and c. */
static cq_tensor *run_layers(const stack *s, cq_tensor *x, cq_tensor **h, cq_tensor **c)
{
    cq_ctx *cx = s->cx;
    int64_t n  = s->both ? 2 : 1;
    double  p  = cq_arg_bool(s->c, "train") ? cq_arg_f64(s->c, "dropout") : 0;

    for (int64_t layer = 0; layer < s->layers && cx->status == CQ_OK; layer++) {
        cq_tensor *out[2] = { NULL, NULL };

        for (int64_t d = 0; d < n && cx->status == CQ_OK; d++) {
            int64_t index = layer * n + d;
            weights w     = weights_of(s, index);

            h[index] = state_at(s, s->h0, index);
            c[index] = state_at(s, s->c0, index);
            out[d]   = run_direction(s, &w, d == 1, x, &h[index], &c[index]);
        }
        x = joined(s, out, (size_t)n, 1);
        if (p > 0 && layer + 1 < s->layers)
            x = CQ_OP(cx, "aten::dropout", TENSOR(x), FLOAT(p), BOOL(true));
    }
    return x;
}

/* ---- what a call says ---- */

static void read_cell(stack *s, const char *name)
{
    s->kind       = strstr(name, "lstm") ? LSTM : strstr(name, "gru") ? GRU : PLAIN;
    s->activation = strstr(name, "relu") ? "aten::relu" : "aten::tanh";
    s->h0         = s->kind == LSTM ? cq_arg_tensor_at(s->c, "hx", 0) : cq_arg_tensor(s->c, "hx");
    s->c0         = s->kind == LSTM ? cq_arg_tensor_at(s->c, "hx", 1) : NULL;
    s->projected  = s->c0 && s->c0->sizes[2].value != s->h0->sizes[2].value;
    s->biases     = cq_arg_bool(s->c, "has_biases");
    s->both       = cq_arg_bool(s->c, "bidirectional");
    s->layers     = cq_arg_i64(s->c, "num_layers");
    s->per_layer  = 2 + (s->biases ? 2 : 0) + (s->projected ? 1 : 0);
}

/* The results, from the rows of all steps and the last states. */
static cq_status set_results(stack *s, cq_tensor *x, cq_tensor **h, cq_tensor **c, bool packed)
{
    cq_ctx *cx = s->cx;
    size_t  n  = (size_t)(s->layers * (s->both ? 2 : 1));

    CQ_TRY(cx->status);
    if (!packed) {
        int64_t sizes[3] = { s->steps, s->batch, x->sizes[1].value };

        x = CQ_OP(cx, "aten::reshape", TENSOR(x), cq_i64s(cx, sizes, 3));
        if (cq_arg_bool(s->c, "batch_first"))
            x = CQ_OP(cx, "aten::transpose.int", TENSOR(x), INT(0), INT(1));
    }
    cq_result_set_tensor(s->c, 0, x);
    cq_result_set_tensor(s->c, 1, CQ_OP(cx, "aten::stack", cq_tensors(cx, h, n)));
    if (s->kind == LSTM)
        cq_result_set_tensor(s->c, 2, CQ_OP(cx, "aten::stack", cq_tensors(cx, c, n)));
    return cx->status;
}

static cq_status run_stack(stack *s, cq_tensor *x, bool packed)
{
    size_t      n = (size_t)(s->layers * (s->both ? 2 : 1));
    cq_tensor **h = cq_zalloc((2 * n + 1) * sizeof *h);
    cq_status   status;

    if (!h)
        return CQ_E_NO_MEMORY;
    x      = run_layers(s, x, h, h + n);
    status = set_results(s, x, h, h + n, packed);
    cq_free(h);
    return status;
}

static cq_status rnn(cq_opcall *c)
{
    stack      s = { .c = c, .cx = c->cx };
    cq_tensor *x = cq_arg_tensor(c, "input");
    cq_status  status;

    read_cell(&s, c->op->schema->name);
    if (cq_arg_bool(c, "batch_first"))
        x = CQ_OP(c->cx, "aten::transpose.int", TENSOR(x), INT(0), INT(1));
    CQ_TRY(c->cx->status);
    s.steps = x->sizes[0].value;
    s.batch = x->sizes[1].value;
    x       = CQ_OP(c->cx, "aten::reshape", TENSOR(x),
                    cq_i64s(c->cx, (int64_t[]){ s.steps * s.batch, x->sizes[2].value }, 2));
    s.sizes = cq_alloc_array((size_t)s.steps + 1, sizeof *s.sizes);
    if (!s.sizes)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < s.steps; i++)
        s.sizes[i] = s.batch;
    status = run_stack(&s, x, false);
    cq_free(s.sizes);
    return status;
}

static cq_status packed_rnn(cq_opcall *c)
{
    stack      s = { .c = c, .cx = c->cx };
    cq_tensor *x = cq_arg_tensor(c, "data");
    cq_packed  layout;
    cq_status  status;

    read_cell(&s, c->op->schema->name);
    status = cq_packed_read(c, &layout, cq_arg_tensor(c, "batch_sizes"), x->sizes[0].value);
    if (status == CQ_OK) {
        s.steps = layout.steps;
        s.batch = layout.batch;
        s.sizes = layout.batch_sizes;
        status  = run_stack(&s, x, true);
    }
    cq_packed_clear(&layout);
    return status;
}

const cq_gradient cq_gradients_rnn[] = {
    { "aten::lstm.input", .like = rnn },
    { "aten::lstm.data", .like = packed_rnn },
    { "aten::gru.input", .like = rnn },
    { "aten::gru.data", .like = packed_rnn },
    { "aten::rnn_tanh.input", .like = rnn },
    { "aten::rnn_tanh.data", .like = packed_rnn },
    { "aten::rnn_relu.input", .like = rnn },
    { "aten::rnn_relu.data", .like = packed_rnn },
    { "aten::_pack_padded_sequence", .kind = CQ_GRADIENT_MOVE },
    { "aten::_pad_packed_sequence", .kind = CQ_GRADIENT_MOVE },
    { 0 },
};
