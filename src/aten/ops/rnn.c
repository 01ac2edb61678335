/* Recurrent layers: stacks of cells over a sequence, in one or both directions; and single steps.
 * Sequences of different lengths are packed (.data): the steps of all sequences that have not ended
 * are adjacent, longest sequence first; see packed.c. */
#include "kernel/matrix/rnn.h"
#include "aten/core/ctx.h"
#include "aten/ops/packed.h"

/* The arguments of a call. Tensors of states are [layers * directions, batch, size]. */
typedef struct rnn {
    cq_rnn     cell; /* kind and activation */
    cq_tensor *x, *h0, *c0;
    bool       packed, batch_first, biases, both;
    int64_t    layers, directions;
    size_t     per_layer; /* tensors among params for a layer and direction */
    cq_int     steps, batch;
    int64_t    hidden, out_size; /* out_size: hidden, or the size of the projection */
} rnn;

static cq_rnn cell_of(const cq_opcall *c)
{
    const char *name = c->op->schema->name;
    cq_rnn      cell = { .kind = CQ_RNN_PLAIN };

    if (strstr(name, "lstm"))
        cell.kind = CQ_RNN_LSTM;
    else if (strstr(name, "gru"))
        cell.kind = CQ_RNN_GRU;
    else if (strstr(name, "relu"))
        cell.act[0].fn = CQ_RNN_FN_RELU;
    return cell;
}

static cq_status check_state(const cq_opcall *c, const rnn *r, const cq_tensor *t, int64_t size)
{
    int64_t want[3] = { r->layers * r->directions, r->batch.value, size };

    if (!t || t->rank != 3)
        return cq_call_fail(c, CQ_E_TYPE, "an initial state should have 3 dimensions");
    for (size_t i = 0; i < 3; i++)
        if (t->sizes[i].value != want[i])
            return cq_call_fail(c, CQ_E_TYPE, "size %zu of an initial state is %lld, expected %lld",
                                i, (long long)t->sizes[i].value, (long long)want[i]);
    return CQ_OK;
}

static cq_status read_states(const cq_opcall *c, rnn *r)
{
    bool lstm = r->cell.kind == CQ_RNN_LSTM;

    r->h0 = lstm ? cq_arg_tensor_at(c, "hx", 0) : cq_arg_tensor(c, "hx");
    r->c0 = lstm ? cq_arg_tensor_at(c, "hx", 1) : NULL;
    if (!r->h0 || r->h0->rank != 3 || (lstm && (!r->c0 || r->c0->rank != 3)))
        return cq_call_fail(c, CQ_E_TYPE, "initial states should have 3 dimensions");
    r->out_size = r->h0->sizes[2].value;
    r->hidden   = lstm ? r->c0->sizes[2].value : r->out_size;
    if (r->packed)
        r->batch = r->h0->sizes[1];
    CQ_TRY(check_state(c, r, r->h0, r->out_size));
    return lstm ? check_state(c, r, r->c0, r->hidden) : CQ_OK;
}

static cq_status check_params(const cq_opcall *c, const rnn *r)
{
    static const int gates[] = { [CQ_RNN_PLAIN] = 1, [CQ_RNN_LSTM] = 4, [CQ_RNN_GRU] = 3 };
    size_t           want    = (size_t)(r->layers * r->directions) * r->per_layer;
    int64_t          rows    = gates[r->cell.kind] * r->hidden;

    if (cq_arg_n_tensors(c, "params") != want)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%zu weights are needed but there are %zu", want,
                            cq_arg_n_tensors(c, "params"));
    for (size_t i = 0; i < want; i += r->per_layer) {
        const cq_tensor *w_ih = cq_arg_tensor_at(c, "params", i);
        const cq_tensor *w_hh = cq_arg_tensor_at(c, "params", i + 1);
        int64_t in = (int64_t)(i / r->per_layer) < r->directions ? r->x->sizes[r->x->rank - 1].value
                                                                 : r->directions * r->out_size;

        if (!w_ih || !w_hh || w_ih->rank != 2 || w_hh->rank != 2 || w_ih->sizes[0].value != rows ||
            w_ih->sizes[1].value != in || w_hh->sizes[0].value != rows ||
            w_hh->sizes[1].value != r->out_size)
            return cq_call_fail(c, CQ_E_TYPE,
                                "weights %zu and %zu should be of %lld rows for %lld inputs", i,
                                i + 1, (long long)rows, (long long)in);
    }
    return CQ_OK;
}

static cq_status read_rnn(const cq_opcall *c, rnn *r)
{
    *r             = (rnn){ .cell   = cell_of(c),
                            .packed = strcmp(c->op->schema->overload, "data") == 0,
                            .biases = cq_arg_bool(c, "has_biases"),
                            .both   = cq_arg_bool(c, "bidirectional"),
                            .layers = cq_arg_i64(c, "num_layers") };
    r->x           = cq_arg_tensor(c, r->packed ? "data" : "input");
    r->batch_first = !r->packed && cq_arg_bool(c, "batch_first");
    r->directions  = r->both ? 2 : 1;
    if (r->x->rank != (r->packed ? 2u : 3u))
        return cq_call_fail(c, CQ_E_TYPE, "the input should have %d dimensions but has %u",
                            r->packed ? 2 : 3, r->x->rank);
    if (r->layers < 1 || r->layers > 4096)
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld layers are not possible", (long long)r->layers);
    if (!r->packed) {
        r->steps = r->x->sizes[r->batch_first ? 1 : 0];
        r->batch = r->x->sizes[r->batch_first ? 0 : 1];
    }
    CQ_TRY(read_states(c, r));
    r->per_layer = 2 + (r->biases ? 2 : 0) + (r->hidden != r->out_size ? 1 : 0);
    return check_params(c, r);
}

static cq_status rnn_shape(cq_opcall *c)
{
    rnn    r;
    cq_int sizes[3];

    CQ_TRY(read_rnn(c, &r));
    memcpy(sizes, r.x->sizes, r.x->rank * sizeof *sizes);
    sizes[r.x->rank - 1] = cq_i(r.directions * r.out_size);
    cq_result(c, 0, r.x->dtype, r.x->rank, sizes);
    sizes[0] = cq_i(r.layers * r.directions);
    sizes[1] = r.batch;
    sizes[2] = cq_i(r.out_size);
    cq_result(c, 1, r.x->dtype, 3, sizes);
    sizes[2] = cq_i(r.hidden);
    if (r.c0)
        cq_result(c, 2, r.x->dtype, 3, sizes);
    return c->cx->status;
}

/* ---- running a stack ---- */

static cq_tensor *own(cq_opcall *c, cq_status status, cq_tensor *t)
{
    if (status == CQ_OK)
        return cq_ctx_own_tensor(c->cx, t);
    cq_ctx_fail(c->cx, status);
    return NULL;
}

/* t[index] for a tensor of states. NULL for NULL. */
static cq_tensor *state_at(cq_opcall *c, const cq_tensor *t, int64_t index)
{
    cq_tensor *view = NULL;
    cq_status  status;

    if (!t)
        return NULL;
    status = cq_tensor_new_view(&view, t, t->dtype, 2, t->sizes + 1, t->strides + 1,
                                t->offset + index * t->strides[0]);
    return own(c, status, view);
}

/* The part of [steps, batch, directions * size] that belongs to one direction. */
static cq_tensor *direction_of(cq_opcall *c, const cq_tensor *t, int64_t direction, int64_t size)
{
    cq_tensor *view     = NULL;
    cq_int     sizes[3] = { t->sizes[0], t->sizes[1], cq_i(size) };
    cq_status  status   = cq_tensor_new_view(&view, t, t->dtype, 3, sizes, t->strides,
                                             t->offset + direction * size * t->strides[2]);

    return own(c, status, view);
}

/* A view with the first two axes swapped: batch first becomes steps first. */
static cq_tensor *swapped(cq_opcall *c, const cq_tensor *t)
{
    cq_tensor *view       = NULL;
    cq_int     sizes[3]   = { t->sizes[1], t->sizes[0], t->sizes[2] };
    int64_t    strides[3] = { t->strides[1], t->strides[0], t->strides[2] };
    cq_status  status     = cq_tensor_new_view(&view, t, t->dtype, 3, sizes, strides, t->offset);

    return own(c, status, view);
}

static void read_weights(const cq_opcall *c, const rnn *r, int64_t index, cq_rnn *cell)
{
    size_t at = (size_t)index * r->per_layer;

    cell->w_ih = cq_arg_tensor_at(c, "params", at++);
    cell->w_hh = cq_arg_tensor_at(c, "params", at++);
    if (r->biases) {
        cell->b_ih = cq_arg_tensor_at(c, "params", at++);
        cell->b_hh = cq_arg_tensor_at(c, "params", at++);
    }
    if (r->hidden != r->out_size)
        cell->w_hr = cq_arg_tensor_at(c, "params", at);
}

static cq_status run_layer(cq_opcall *c, const rnn *r, int64_t layer, cq_tensor *out,
                           const cq_tensor *x, const int64_t *lengths)
{
    for (int64_t d = 0; d < r->directions; d++) {
        int64_t    index = layer * r->directions + d;
        cq_rnn     cell  = r->cell;
        cq_tensor *part  = direction_of(c, out, d, r->out_size);
        cq_tensor *h_n   = state_at(c, cq_result_tensor(c, 1), index);
        cq_tensor *c_n   = r->c0 ? state_at(c, cq_result_tensor(c, 2), index) : NULL;
        cq_tensor *h0 = state_at(c, r->h0, index), *c0 = state_at(c, r->c0, index);

        CQ_TRY(c->cx->status);
        read_weights(c, r, index, &cell);
        cell.reverse = d == 1;
        cell.lengths = lengths;
        CQ_TRY(cq_kernel_rnn(part, h_n, c_n, x, h0, c0, &cell));
    }
    return CQ_OK;
}

/* All layers on x [steps, batch, input]; the last one writes out. */
static cq_status run_stack(cq_opcall *c, const rnn *r, cq_tensor *out, cq_tensor *x,
                           const int64_t *lengths)
{
    cq_ctx *cx       = c->cx;
    double  p        = cq_arg_bool(c, "train") ? cq_arg_f64(c, "dropout") : 0;
    int64_t sizes[3] = { x->sizes[0].value, x->sizes[1].value, r->directions * r->out_size };

    for (int64_t layer = 0; layer < r->layers; layer++) {
        cq_tensor *y = out;

        if (layer + 1 < r->layers) {
            cq_tensor *t      = NULL;
            cq_status  status = cq_tensor_new_uninit(&t, x->dtype, 3, sizes);

            y = own(c, status, t);
        }
        CQ_TRY(cx->status);
        CQ_TRY(run_layer(c, r, layer, y, x, lengths));
        x = y;
        if (p > 0 && layer + 1 < r->layers) {
            const cq_listener *listener = cx->listener;

            cx->listener = NULL; /* the layer is one call to the listener */
            x            = CQ_OP(cx, "aten::dropout", TENSOR(x), FLOAT(p), BOOL(true));
            cx->listener = listener;
            CQ_TRY(cx->status);
        }
    }
    return CQ_OK;
}

static cq_status run_packed(cq_opcall *c, const rnn *r)
{
    cq_packed_sequence layout;
    cq_tensor         *x = NULL, *out = NULL;
    cq_status          status;

    CQ_TRY(cq_packed_read(c, &layout, cq_arg_tensor(c, "batch_sizes"), r->x->sizes[0].value));
    if (layout.batch != r->batch.value)
        status = cq_call_fail(c, CQ_E_TYPE, "%lld sequences are packed but states are for %lld",
                              (long long)layout.batch, (long long)r->batch.value);
    else
        status = cq_packed_spread(c, &layout, &x, r->x, 0);
    if (status == CQ_OK) {
        int64_t sizes[3] = { layout.steps, layout.batch, r->directions * r->out_size };

        status = cq_tensor_new_uninit(&out, r->x->dtype, 3, sizes);
        out    = own(c, status, out);
    }
    if (status == CQ_OK)
        status = run_stack(c, r, out, x, layout.lengths);
    if (status == CQ_OK)
        status = cq_packed_gather(&layout, cq_result_tensor(c, 0), out);
    cq_packed_clear(&layout);
    return status;
}

static cq_status rnn_run(cq_opcall *c)
{
    rnn        r;
    cq_tensor *x, *out;

    CQ_TRY(read_rnn(c, &r));
    if (r.packed)
        return run_packed(c, &r);
    x   = r.x;
    out = cq_result_tensor(c, 0);
    if (r.batch_first) {
        x   = swapped(c, x);
        out = swapped(c, out);
    }
    CQ_TRY(c->cx->status);
    return run_stack(c, &r, out, x, NULL);
}

#define INPUT_ARGS(hx)                                                                             \
    ".input(Tensor input, " hx " hx, Tensor[] params, bool has_biases, int num_layers, "           \
    "float dropout, bool train, bool bidirectional, bool batch_first) -> "
#define DATA_ARGS(hx)                                                                              \
    ".data(Tensor data, Tensor batch_sizes, " hx " hx, Tensor[] params, bool has_biases, "         \
    "int num_layers, float dropout, bool train, bool bidirectional) -> "

#define RNN(schema_text, about_text)                                                               \
    {                                                                                              \
        .schema = "aten::" schema_text, .about = about_text, .shape = rnn_shape, .run = rnn_run    \
    }

const cq_op_def cq_ops_rnn[] = {
    RNN("lstm" INPUT_ARGS("Tensor[]") "(Tensor, Tensor, Tensor)", "long short-term memory"),
    RNN("lstm" DATA_ARGS("Tensor[]") "(Tensor, Tensor, Tensor)",
        "long short-term memory on packed sequences"),
    RNN("gru" INPUT_ARGS("Tensor") "(Tensor, Tensor)", "gated recurrent unit"),
    RNN("gru" DATA_ARGS("Tensor") "(Tensor, Tensor)", "gated recurrent unit on packed sequences"),
    RNN("rnn_tanh" INPUT_ARGS("Tensor") "(Tensor, Tensor)", "recurrent layer with tanh"),
    RNN("rnn_tanh" DATA_ARGS("Tensor") "(Tensor, Tensor)",
        "recurrent layer with tanh on packed sequences"),
    RNN("rnn_relu" INPUT_ARGS("Tensor") "(Tensor, Tensor)", "recurrent layer with relu"),
    RNN("rnn_relu" DATA_ARGS("Tensor") "(Tensor, Tensor)",
        "recurrent layer with relu on packed sequences"),
    { 0 },
};
