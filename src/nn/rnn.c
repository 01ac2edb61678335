/* RNN, LSTM, GRU. */
#include "base/sized.h"
#include "nn/check.h"
#include "nn/init.h"

#include <calque/layers.h>

#include <stdio.h>

typedef struct rnn {
    cq_rnn_spec spec;
    bool        is_lstm;
    const char *op;
    CQ_VEC(cq_tensor *) params; /* in the order of the operators' arguments */
} rnn;

static void rnn_destroy(void *self)
{
    cq_vec_clear(&((rnn *)self)->params);
}

/* Zeros of (layers * directions, batch, size), for any batch. */
static cq_tensor *zero_state(cq_ctx *cx, const rnn *m, cq_tensor *x, int64_t size)
{
    cq_int sizes[3] = { cq_i(m->spec.layers * (m->spec.bidirectional ? 2 : 1)) };
    size_t rank     = 1;

    if (x->rank == 3)
        sizes[rank++] = cq_size(cx, x, m->spec.batch_first ? 0 : 1);
    sizes[rank++] = cq_i(size);
    return cq_zeros(cx, x->dtype, rank, sizes);
}

static void rnn_forward(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                        size_t n_out)
{
    rnn       *m    = self;
    size_t     n_hx = m->is_lstm ? 2 : 1, n_results = n_hx + 1;
    int64_t    size = m->spec.projection ? m->spec.projection : m->spec.hidden;
    cq_tensor *hx[2], *results[3], *x = n_in ? in[0] : NULL;

    if (!x)
        return;
    for (size_t i = 0; i < n_hx; i++)
        hx[i] =
            n_in > 1 + i && in[1 + i] ? in[1 + i] : zero_state(cx, m, x, i ? m->spec.hidden : size);
    cq_op_tensors(cx, m->op,
                  (cq_val[]){ TENSOR(x), m->is_lstm ? cq_tensors(cx, hx, 2) : TENSOR(hx[0]),
                              cq_tensors(cx, m->params.items, m->params.n), BOOL(!m->spec.no_bias),
                              INT(m->spec.layers), FLOAT(m->spec.dropout), BOOL(cq_is_training(cx)),
                              BOOL(m->spec.bidirectional), BOOL(m->spec.batch_first) },
                  9, results, n_results);
    for (size_t i = 0; i < n_out && i < n_results; i++)
        out[i] = results[i];
}

static bool add_param(cq_module *m, const char *kind, int64_t layer, bool reverse, int64_t rows,
                      int64_t columns)
{
    rnn       *self = cq_module_self(m);
    char       name[64];
    cq_tensor *t;

    snprintf(name, sizeof name, "%s_l%lld%s", kind, (long long)layer, reverse ? "_reverse" : "");
    t = cq_module_add_parameter(m, name,
                                cq_init_uniform(columns ? 2 : 1, (int64_t[]){ rows, columns },
                                                cq_init_bound((double)self->spec.hidden)));
    return t && cq_vec_push(&self->params, t) == CQ_OK;
}

static bool add_layer(cq_module *m, int gates, int64_t layer, bool reverse)
{
    const cq_rnn_spec *s       = &((rnn *)cq_module_self(m))->spec;
    int64_t            out     = s->projection ? s->projection : s->hidden;
    int64_t            columns = layer ? out * (s->bidirectional ? 2 : 1) : s->input;
    int64_t            rows    = gates * s->hidden;

    return add_param(m, "weight_ih", layer, reverse, rows, columns) &&
           add_param(m, "weight_hh", layer, reverse, rows, out) &&
           (s->no_bias || (add_param(m, "bias_ih", layer, reverse, rows, 0) &&
                           add_param(m, "bias_hh", layer, reverse, rows, 0))) &&
           (!s->projection || add_param(m, "weight_hr", layer, reverse, s->projection, s->hidden));
}

static bool check_spec(const char *layer, const cq_rnn_spec *s)
{
    const bool is_lstm = layer[0] == 'L', is_rnn = layer[0] == 'R';

    if (!cq_check_least(layer, "input", s->input, 1) ||
        !cq_check_least(layer, "hidden", s->hidden, 1) ||
        !cq_check_least(layer, "layers", s->layers, 1) ||
        !cq_check_least(layer, "projection", s->projection, 0) ||
        !cq_check_range(layer, "dropout", s->dropout, 0, 1))
        return false;
    if (s->hidden > INT64_MAX / 4)
        return cq_check_failed(layer, "hidden %lld is too large", (long long)s->hidden);
    if (s->projection && !is_lstm)
        return cq_check_failed(layer, "projection is for LSTM");
    if (s->projection >= s->hidden)
        return cq_check_failed(layer, "expected projection less than hidden %lld, got %lld",
                               (long long)s->hidden, (long long)s->projection);
    return !s->relu || is_rnn || cq_check_failed(layer, "relu is for RNN");
}

static cq_module *rnn_new(const cq_class *cls, const cq_rnn_spec *spec, int gates, const char *op)
{
    cq_rnn_spec taken = { CQ_SIZED(cq_rnn_spec) };
    cq_module  *m;
    rnn        *self;
    bool        fine = true;

    if (cq_sized_take(&taken, spec, "cq_rnn_spec") != CQ_OK)
        return NULL;
    if (!taken.layers)
        taken.layers = 1;
    if (!check_spec(cls->name, &taken))
        return NULL;
    m = cq_module_new(cls);
    if (!m)
        return NULL;
    self          = cq_module_self(m);
    self->spec    = taken;
    self->op      = taken.relu ? "aten::rnn_relu.input" : op;
    self->is_lstm = gates == 4;
    for (int64_t layer = 0; layer < self->spec.layers && fine; layer++)
        for (int direction = 0; direction <= self->spec.bidirectional && fine; direction++)
            fine = add_layer(m, gates, layer, direction);
    return cq_module_or_free(m, fine);
}

/* n_out: the sequence, and the states at its end. */
#define RNN_CLASS(class_name, outputs)                                                             \
    {                                                                                              \
        CQ_SIZED(cq_class), .name = class_name, .self_size = sizeof(rnn),                          \
                            .forward_n = rnn_forward, .destroy = rnn_destroy, .n_out = outputs     \
    }

CQ_API cq_module *cq_rnn_new(const cq_rnn_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    static const cq_class cls = RNN_CLASS("RNN", 2);

    return rnn_new(&cls, spec, 1, "aten::rnn_tanh.input");
}

CQ_API cq_module *cq_lstm_new(const cq_rnn_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    static const cq_class cls = RNN_CLASS("LSTM", 3);

    return rnn_new(&cls, spec, 4, "aten::lstm.input");
}

CQ_API cq_module *cq_gru_new(const cq_rnn_spec *spec)
{
    CQ_NEED_ELSE(spec, NULL);
    static const cq_class cls = RNN_CLASS("GRU", 2);

    return rnn_new(&cls, spec, 3, "aten::gru.input");
}
