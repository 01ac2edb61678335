/* RNN, LSTM and GRU. A direction is one kernel call on slices of the weights and of the output. */
#include "runtime/kernels/families.h"

#include "base/str.h"

#include "runtime/kernels/recurrent.h"

#include <inttypes.h>

/* ---- activations ---- */

static const struct {
    const char *name;
    cq_rnn_fn   fn;
    double      alpha, beta; /* defaults */
    bool        has_alpha, has_beta;
} functions[] = {
    { "Tanh", CQ_RNN_FN_TANH, 0, 0, false, false },
    { "Sigmoid", CQ_RNN_FN_SIGMOID, 0, 0, false, false },
    { "Relu", CQ_RNN_FN_RELU, 0, 0, false, false },
    { "Affine", CQ_RNN_FN_AFFINE, 1, 0, true, true },
    { "LeakyRelu", CQ_RNN_FN_LEAKY_RELU, 0.01, 0, true, false },
    { "ThresholdedRelu", CQ_RNN_FN_THRESHOLDED_RELU, 1, 0, true, false },
    { "ScaledTanh", CQ_RNN_FN_SCALED_TANH, 1, 1, true, true },
    { "HardSigmoid", CQ_RNN_FN_HARD_SIGMOID, 0.2, 0.5, true, true },
    { "Elu", CQ_RNN_FN_ELU, 1, 0, true, false },
    { "Softsign", CQ_RNN_FN_SOFTSIGN, 0, 0, false, false },
    { "Softplus", CQ_RNN_FN_SOFTPLUS, 0, 0, false, false },
};

enum { N_FUNCTIONS = sizeof functions / sizeof *functions };

static size_t find_function(const cq_onnx_bytes *name)
{
    for (size_t i = 0; i < N_FUNCTIONS; i++)
        if (strlen(functions[i].name) == name->size &&
            cq_starts_with_word(name->data, functions[i].name))
            return i;
    return N_FUNCTIONS;
}

/* Reads the n functions of a direction. Parameters are consumed in order, over all directions, by
 * functions that have parameters. */
static cq_status read_activations(cq_rnn_activation *out, const cq_rt *rt, size_t n,
                                  size_t direction)
{
    const cq_onnx_attribute *names = cq_rt_attr_given(rt, "activations");
    const cq_onnx_attribute *alpha = cq_rt_attr_given(rt, "activation_alpha");
    const cq_onnx_attribute *beta  = cq_rt_attr_given(rt, "activation_beta");
    uint32_t                 a = 0, b = 0;

    for (size_t i = 0; i < n; i++)
        out[i] = (cq_rnn_activation){ .fn = CQ_RNN_FN_DEFAULT };
    if (!names)
        return CQ_OK;
    if (names->strings.n < n * (direction + 1))
        return cq_fail(CQ_E_INVALID, NULL, NULL, "there are %u activations, expected %zu",
                       names->strings.n, n * (direction + 1));
    for (size_t i = 0; i < n * (direction + 1); i++) {
        size_t            f  = find_function(&names->strings.items[i]);
        cq_rnn_activation to = { 0 };

        if (f == N_FUNCTIONS)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "unknown activation at index %zu", i);
        to = (cq_rnn_activation){ functions[f].fn, functions[f].alpha, functions[f].beta };
        if (functions[f].has_alpha && alpha && a < alpha->floats.n)
            to.alpha = (double)alpha->floats.items[a++];
        if (functions[f].has_beta && beta && b < beta->floats.n)
            to.beta = (double)beta->floats.items[b++];
        if (i >= n * direction)
            out[i - n * direction] = to;
    }
    return CQ_OK;
}

/* ---- one direction ---- */

/* The slice of t for a direction along axis, which is removed; NULL for NULL. */
static cq_status part_of(cq_tensor **out, cq_rt *rt, const cq_tensor *t, uint32_t axis,
                         int64_t direction)
{
    *out = NULL;
    if (!t)
        return CQ_OK;
    if (t->rank <= axis || direction >= cq_size_of(t, axis))
        return cq_rt_misfit(t, NULL);
    return cq_rt_keep(rt, cq_rt_select(out, t, axis, direction), out);
}

/* Inputs, outputs and attributes of the node, checked. */
typedef struct layer {
    cq_rnn_kind kind;
    int64_t     steps, batch, hidden, directions, gates;
    bool        batch_first;
    cq_tensor  *x; /* [steps, batch, input]; owned */
    int64_t    *lengths;
    cq_tensor  *y, *y_h, *y_c; /* outputs, or NULL */
} layer;

enum { X, W, R, B, LENGTHS, H0, C0, P };

/* The slices of the weights that a cell needs; owned. */
typedef struct parts {
    cq_tensor *w, *r, *b, *b_ih, *b_hh, *p, *h0, *c0, *y, *h, *c;
} parts;

static cq_status parts_init(parts *p, cq_rt *rt, const layer *l, int64_t direction)
{
    uint32_t state_axis = l->batch_first ? 1 : 0; /* of directions, in h and c */
    int64_t  rows       = l->gates * l->hidden;

    *p = (parts){ 0 };
    CQ_TRY(part_of(&p->w, rt, cq_rt_in(rt, W), 0, direction));
    CQ_TRY(part_of(&p->r, rt, cq_rt_in(rt, R), 0, direction));
    CQ_TRY(part_of(&p->b, rt, cq_rt_in(rt, B), 0, direction));
    if (p->b) {
        if (p->b->rank != 1 || cq_size_of(p->b, 0) != 2 * rows)
            return cq_rt_misfit(p->b, p->w);
        CQ_TRY(cq_rt_sliced(&p->b_ih, rt, p->b, 0, 0, 1, rows));
        CQ_TRY(cq_rt_sliced(&p->b_hh, rt, p->b, 0, rows, 1, rows));
    }
    CQ_TRY(part_of(&p->h0, rt, cq_rt_in(rt, H0), state_axis, direction));
    CQ_TRY(part_of(&p->c0, rt, cq_rt_in(rt, C0), state_axis, direction));
    CQ_TRY(part_of(&p->p, rt, cq_rt_in(rt, P), 0, direction));
    /* The slice of y has the axes steps, batch and hidden in some order. */
    CQ_TRY(part_of(&p->y, rt, l->y, l->batch_first ? 2 : 1, direction));
    if (p->y && l->batch_first) {
        const uint32_t swap[] = { 1, 0, 2 };

        CQ_TRY(cq_rt_permuted(&p->y, rt, p->y, swap));
    }
    CQ_TRY(part_of(&p->h, rt, l->y_h, state_axis, direction));
    return part_of(&p->c, rt, l->y_c, state_axis, direction);
}

cq_status cq_rt_recurrent_new(cq_rt_recurrent **out)
{
    *out = cq_zalloc(sizeof **out);
    if (!*out)
        return CQ_E_NO_MEMORY;
    cq_mutex_init(&(*out)->lock);
    return CQ_OK;
}

void cq_rt_recurrent_free(void *recurrent)
{
    cq_rt_recurrent *r = recurrent;

    if (!r)
        return;
    for (int i = 0; i < 2; i++)
        cq_rnn_packed_free(atomic_load(&r->of[i]));
    cq_mutex_clear(&r->lock);
    cq_free(r);
}

/* The packed weights; NULL if the layer is not prepared, or if a single row is multiplied. */
static cq_status packed_of(const cq_rnn_packed **out, const cq_rt *rt, const layer *l,
                           const parts *p, int64_t direction)
{
    cq_rt_recurrent *r = (cq_rt_recurrent *)rt->step->prepared; /* the lock protects the changes */
    cq_status        status = CQ_OK;
    cq_rnn_packed   *packed;

    *out = NULL;
    if (!r || l->steps * l->batch < 2 || !cq_tensor_is_contiguous(p->w) ||
        !cq_tensor_is_contiguous(p->r))
        return CQ_OK;
    *out = atomic_load(&r->of[direction]);
    if (*out)
        return CQ_OK;
    cq_mutex_lock(&r->lock);
    packed = atomic_load(&r->of[direction]);
    if (!packed)
        status = cq_rnn_packed_new(&packed, p->w, p->r);
    if (status == CQ_OK)
        atomic_store(&r->of[direction], packed);
    cq_mutex_unlock(&r->lock);
    *out = packed;
    return status;
}

static bool has_shape(const cq_tensor *t, uint32_t rank, int64_t a, int64_t b)
{
    return !t || (t->rank == rank && cq_size_of(t, 0) == a && (rank < 2 || cq_size_of(t, 1) == b));
}

static cq_status run_direction(cq_rt *rt, const layer *l, int64_t direction)
{
    cq_rnn  cell  = { .kind         = l->kind,
                      .reverse      = direction == 1 || cq_rt_is(rt, "direction", "reverse"),
                      .reset_before = l->kind == CQ_RNN_GRU && !cq_rt_int(rt, "linear_before_reset"),
                      .input_forget = cq_rt_int(rt, "input_forget"),
                      .clips        = cq_rt_attr_given(rt, "clip") != NULL,
                      .clip         = cq_rt_float(rt, "clip"),
                      .lengths      = l->lengths };
    size_t  n_act = l->kind == CQ_RNN_LSTM ? 3 : l->kind == CQ_RNN_GRU ? 2 : 1;
    int64_t rows  = l->gates * l->hidden;
    parts   p;

    CQ_TRY(parts_init(&p, rt, l, direction));
    CQ_TRY(read_activations(cell.act, rt, n_act, (size_t)direction));
    if (!has_shape(p.w, 2, rows, cq_size_of(l->x, 2)) || !has_shape(p.r, 2, rows, l->hidden) ||
        !has_shape(p.h0, 2, l->batch, l->hidden) || !has_shape(p.c0, 2, l->batch, l->hidden) ||
        !has_shape(p.p, 1, 3 * l->hidden, 0))
        return cq_rt_misfit(l->x, p.w);
    if (l->kind == CQ_RNN_LSTM) {
        cell.gates[1] = 2;
        cell.gates[2] = 3;
        cell.gates[3] = 1;
    } else if (l->kind == CQ_RNN_GRU) {
        cell.gates[0] = 1;
        cell.gates[2] = 2;
    }
    cell.w_ih     = p.w;
    cell.w_hh     = p.r;
    cell.b_ih     = p.b_ih;
    cell.b_hh     = p.b_hh;
    cell.peephole = p.p;
    CQ_TRY(packed_of(&cell.packed, rt, l, &p, direction));
    return cq_kernel_rnn(p.y, p.h, p.c, l->x, p.h0, p.c0, &cell);
}

/* ---- the node ---- */

static cq_status read_lengths(layer *l, cq_rt *rt)
{
    const cq_tensor *t = cq_rt_in(rt, LENGTHS);

    if (!t)
        return CQ_OK;
    if (!has_shape(t, 1, l->batch, 0))
        return cq_rt_misfit(l->x, t);
    l->lengths = cq_alloc_array((size_t)l->batch + 1, sizeof *l->lengths);
    if (!l->lengths)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < l->batch; i++) {
        l->lengths[i] = cq_tensor_get_i64(t, i);
        if (l->lengths[i] < 0 || l->lengths[i] > l->steps)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "sequence %" PRId64 " has length %" PRId64 " of %" PRId64, i,
                           l->lengths[i], l->steps);
    }
    return CQ_OK;
}

static cq_status make_outputs(layer *l, cq_rt *rt)
{
    const cq_dtype dtype = l->x->dtype;
    int64_t        y[]   = { l->steps, l->directions, l->batch, l->hidden };
    int64_t        h[]   = { l->directions, l->batch, l->hidden };

    if (l->batch_first) {
        y[0] = h[0] = l->batch;
        y[1]        = l->steps;
        y[2] = h[1] = l->directions;
    }
    if (cq_rt_wants(rt, 0))
        CQ_TRY(cq_rt_out(&l->y, rt, 0, dtype, 4, y));
    if (cq_rt_wants(rt, 1))
        CQ_TRY(cq_rt_out(&l->y_h, rt, 1, dtype, 3, h));
    if (cq_rt_wants(rt, 2))
        CQ_TRY(cq_rt_out(&l->y_c, rt, 2, dtype, 3, h));
    return CQ_OK;
}

static cq_status layer_init(layer *l, cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, X), *r = cq_rt_in(rt, R);
    const uint32_t   swap[] = { 1, 0, 2 }, same[] = { 0, 1, 2 };

    l->kind        = (cq_rnn_kind)rt->step->row->arg;
    l->gates       = l->kind == CQ_RNN_LSTM ? 4 : l->kind == CQ_RNN_GRU ? 3 : 1;
    l->batch_first = cq_rt_int(rt, "layout");
    l->directions  = cq_rt_is(rt, "direction", "bidirectional") ? 2 : 1;
    CQ_TRY(cq_rt_need_rank(x, "X", 3));
    CQ_TRY(cq_rt_need_rank(r, "R", 3));
    CQ_TRY(cq_rt_need_rank(cq_rt_in(rt, W), "W", 3));
    CQ_TRY(cq_rt_permute(&l->x, x, l->batch_first ? swap : same));
    l->steps  = cq_size_of(l->x, 0);
    l->batch  = cq_size_of(l->x, 1);
    l->hidden = cq_size_of(r, 2);
    if (cq_size_of(r, 0) != l->directions || cq_size_of(cq_rt_in(rt, W), 0) != l->directions)
        return cq_rt_misfit(r, cq_rt_in(rt, W));
    CQ_TRY(read_lengths(l, rt));
    return make_outputs(l, rt);
}

static cq_status recurrent(cq_rt *rt)
{
    layer     l      = { 0 };
    cq_status status = layer_init(&l, rt);

    for (int64_t i = 0; i < l.directions && status == CQ_OK; i++)
        status = run_direction(rt, &l, i);
    cq_tensor_release(l.x);
    cq_free(l.lengths);
    return status;
}

const cq_rt_row cq_rt_rows_rnn[] = {
    { "RNN", 1, recurrent, 0, CQ_RNN_PLAIN },
    { "LSTM", 1, recurrent, 0, CQ_RNN_LSTM },
    { "GRU", 1, recurrent, 0, CQ_RNN_GRU },
    { 0 },
};
