/* LSTM layers with projected outputs. ONNX's LSTM has no projection, so each direction of a layer
 * is a Scan over the steps. The product of the input, which does not depend on the previous step,
 * is computed for all steps at once. */
#include "export/symbolic/arith.h"
#include "export/symbolic/common.h"

typedef struct projected {
    cq_value *h0, *c0; /* [layers * directions, batch, size] */
    cq_int    batch;
    int64_t   layers, directions, hidden, out;
    bool      biases;
} projected;

enum { W_INPUT, W_HIDDEN };

static cq_value *param(cq_sym *s, const projected *p, int64_t at, size_t which)
{
    return cq_sym_widen(s, cq_sym_in_at(s, "params", (size_t)at * (p->biases ? 5 : 3) + which));
}

static cq_value *times_transposed(cq_sym *s, cq_value *x, cq_value *w)
{
    cq_value *v = cq_sym_op(s, "MatMul", CQ_IN(x, cq_sym_swap_dims(s, w, 0, 1)), CQ_NO_ATTR);

    cq_sym_set_dtype(s, v, cq_sym_dtype(s, x));
    return v;
}

static cq_value *state(cq_sym *s, cq_value *all, int64_t at)
{
    int64_t zero = 0;

    return cq_sym_squeeze(s, cq_sym_slice(s, all, 0, cq_i(at), cq_i(at + 1), 1), &zero, 1);
}

/* One step: gates of the input, and the states before and after. */
static void step(cq_sym *s, const projected *p, cq_value *w_hidden, cq_value *w_out, cq_dtype dtype)
{
    cq_value *h = cq_sym_graph_input(s, dtype, 2), *c = cq_sym_graph_input(s, dtype, 2);
    cq_value *x        = cq_sym_graph_input(s, dtype, 2), *gates, *g[4], *out;
    int64_t   sizes[4] = { p->hidden, p->hidden, p->hidden, p->hidden };

    gates = CQ_2("Add", x, cq_sym_op(s, "MatMul", CQ_IN(h, w_hidden), CQ_NO_ATTR));
    cq_sym_set_type(s, gates, dtype, 2, (cq_int[]){ p->batch, cq_i(4 * p->hidden) });
    cq_sym_split(s, gates, 1, sizes, 4, g); /* in, forget, cell, out */
    c   = CQ_2("Add", CQ_2("Mul", CQ_1("Sigmoid", g[1]), c),
               CQ_2("Mul", CQ_1("Sigmoid", g[0]), CQ_1("Tanh", g[2])));
    out = CQ_2("Mul", CQ_1("Sigmoid", g[3]), CQ_1("Tanh", c));
    out = cq_sym_op(s, "MatMul", CQ_IN(out, w_out), CQ_NO_ATTR);
    cq_sym_set_type(s, out, dtype, 2, (cq_int[]){ p->batch, cq_i(p->out) });
    cq_sym_graph_end(s, 3, (cq_value *[]){ out, c, cq_sym_unary(s, "Identity", out) });
}

/* Direction number `at` of all: results for each step, and the last states. */
static cq_value *scan(cq_sym *s, const projected *p, int64_t at, cq_value *x, cq_value **h,
                      cq_value **c)
{
    cq_dtype  dtype    = cq_sym_dtype(s, x);
    int64_t   backward = p->directions == 2 && at % 2;
    cq_value *gates = times_transposed(s, x, param(s, p, at, W_INPUT)), *out[3] = { NULL };
    cq_value *w_hidden = cq_sym_swap_dims(s, param(s, p, at, W_HIDDEN), 0, 1);
    cq_value *w_out    = cq_sym_swap_dims(s, param(s, p, at, p->biases ? 4 : 2), 0, 1);
    cq_int    steps    = cq_sym_size(s, x, 0);

    if (p->biases)
        gates = CQ_2("Add", gates, CQ_2("Add", param(s, p, at, 2), param(s, p, at, 3)));
    cq_sym_op_n(s, "Scan", CQ_IN(state(s, p->h0, at), state(s, p->c0, at), gates),
                CQ_ATTR(cq_attr_i("num_scan_inputs", 1),
                        cq_attr_is(s, "scan_input_directions", &backward, 1),
                        cq_attr_is(s, "scan_output_directions", &backward, 1)),
                out, 3);
    cq_sym_graph_begin(s, out[0], "body");
    step(s, p, w_hidden, w_out, dtype);
    cq_sym_set_type(s, out[0], dtype, 2, (cq_int[]){ p->batch, cq_i(p->out) });
    cq_sym_set_type(s, out[1], dtype, 2, (cq_int[]){ p->batch, cq_i(p->hidden) });
    cq_sym_set_type(s, out[2], dtype, 3, (cq_int[]){ steps, p->batch, cq_i(p->out) });
    *h = cq_sym_unsqueeze(s, out[0], (int64_t[]){ 0 }, 1);
    *c = cq_sym_unsqueeze(s, out[1], (int64_t[]){ 0 }, 1);
    return out[2];
}

cq_status cq_sym_projected_lstm(cq_sym *s)
{
    enum { MAX_SCANS = 64 };
    projected p = { .h0         = cq_sym_widen(s, cq_sym_in_at(s, "hx", 0)),
                    .c0         = cq_sym_widen(s, cq_sym_in_at(s, "hx", 1)),
                    .layers     = cq_sym_i64(s, "num_layers"),
                    .directions = cq_sym_bool(s, "bidirectional") ? 2 : 1,
                    .biases     = cq_sym_bool(s, "has_biases") };
    cq_value *h[MAX_SCANS], *c[MAX_SCANS], *y, *parts[2];
    int64_t   n = p.layers * p.directions;

    if (cq_sym_has_arg(s, "batch_sizes"))
        return cq_sym_no(s, 0, "packed sequences cannot go through an LSTM with projections");
    if (!cq_sym_since(s, 9, "an LSTM with projections needs Scan, of opset 9"))
        return s->status;
    if (n > MAX_SCANS || (cq_sym_bool(s, "train") && cq_sym_f64(s, "dropout") > 0))
        return cq_sym_no(s, 0, "an LSTM with projections can have %d layers, and no dropout",
                         MAX_SCANS);
    y        = cq_sym_widen(s, cq_sym_in(s, "input"));
    y        = cq_sym_bool(s, "batch_first") ? cq_sym_swap_dims(s, y, 0, 1) : y;
    p.batch  = cq_sym_size(s, y, 1);
    p.out    = cq_sym_size(s, p.h0, 2).value;
    p.hidden = cq_sym_size(s, p.c0, 2).value;
    for (int64_t layer = 0; layer < p.layers; layer++) {
        int64_t at = layer * p.directions;

        for (int64_t d = 0; d < p.directions; d++)
            parts[d] = scan(s, &p, at + d, y, &h[at + d], &c[at + d]);
        y = p.directions == 2 ? cq_sym_concat(s, parts, 2, 2) : parts[0];
    }
    y = cq_sym_bool(s, "batch_first") ? cq_sym_swap_dims(s, y, 0, 1) : y;
    return cq_sym_done_n(s,
                         (cq_value *[]){ y, n > 1 ? cq_sym_concat(s, h, (size_t)n, 0) : h[0],
                                         n > 1 ? cq_sym_concat(s, c, (size_t)n, 0) : c[0] },
                         3);
}
