/* Recurrent layers. The input's contribution to all gates of all steps is one matrix product before
 * the loop. In the loop the state is multiplied by a matrix, which is packed once if it is float:
 * that is the hot part. */
#include "kernel/matrix/rnn.h"

#include "kernel/elementwise.h"
#include "kernel/matrix/gemm.h"
#include "kernel/operand.h"
#include "kernel/matrix/packed.h"

#include <math.h>

enum { MAX_GATES = 4 };

struct rnn_type;

struct rnn {
    const cq_rnn          *cell;
    const struct rnn_type *type;
    cq_dtype               dtype;
    int64_t                size;                               /* bytes of an element */
    int64_t                steps, batch, input, hidden, width; /* width: of h and out */
    int                    n_gates, gates[MAX_GATES];
    int                    n_summed; /* gates that add the state's part unchanged */
    cq_rnn_activation      act[3];
    const char            *x, *w_ih, *w_hh, *b_ih, *b_hh, *w_hr, *peephole;
    const cq_packed       *packed; /* w_hh; owned, or the cell's, or NULL */
    cq_packed             *owned;
    char                  *out;

    /* Workspace, one allocation. h and c are the state, new_h and new_c the state after a step,
     * before projection. */
    char *space, *from_x, *from_h, *projected;
    void *z[MAX_GATES], *h, *c, *new_h, *new_c;
};

struct rnn_type {
    void (*gather)(const struct rnn *r, const void *x, const void *hw);
    void (*plain)(const struct rnn *r);
    void (*lstm)(const struct rnn *r);
    void (*gru_gates)(const struct rnn *r);
    void (*gru)(const struct rnn *r, const void *hw);
};

#define APPLY    cq_apply1_f32
#define T        float
#define EXP      expf
#define EXPM1    expm1f
#define LOG1P    log1pf
#define TANH     tanhf
#define ABS      fabsf
#define FN(name) name##_f32
#include "kernel/rnn_type.inc"

#define T        double
#define EXP      exp
#define EXPM1    expm1
#define LOG1P    log1p
#define TANH     tanh
#define ABS      fabs
#define FN(name) name##_f64
#include "kernel/rnn_type.inc"

static void set_cell(struct rnn *r, const cq_rnn *cell)
{
    static const int       counts[] = { 1, 4, 3 };
    static const cq_rnn_fn fns[][3] = { { CQ_RNN_FN_TANH, CQ_RNN_FN_TANH, CQ_RNN_FN_TANH },
                                        { CQ_RNN_FN_SIGMOID, CQ_RNN_FN_TANH, CQ_RNN_FN_TANH },
                                        { CQ_RNN_FN_SIGMOID, CQ_RNN_FN_TANH, CQ_RNN_FN_TANH } };
    int                    any      = 0;

    r->cell     = cell;
    r->n_gates  = counts[cell->kind];
    r->n_summed = cell->kind == CQ_RNN_GRU ? 2 : r->n_gates;
    for (int i = 0; i < MAX_GATES; i++)
        any |= cell->gates[i];
    for (int i = 0; i < MAX_GATES; i++)
        r->gates[i] = any ? cell->gates[i] : i;
    for (int i = 0; i < 3; i++) {
        r->act[i] = cell->act[i];
        if (r->act[i].fn == CQ_RNN_FN_DEFAULT)
            r->act[i].fn = fns[cell->kind][i];
    }
}

static cq_status check_cell(const cq_rnn *cell, const cq_tensor *x)
{
    int64_t n_gates = cell->kind == CQ_RNN_LSTM ? 4 : cell->kind == CQ_RNN_GRU ? 3 : 1;
    bool    bad     = x->rank != 3 || cell->w_ih->rank != 2 || cell->w_hh->rank != 2;

    bad = bad || cq_size_of(cell->w_ih, 1) != cq_size_of(x, 2) ||
          cq_size_of(cell->w_ih, 0) % n_gates != 0 ||
          cq_size_of(cell->w_ih, 0) != cq_size_of(cell->w_hh, 0) ||
          cq_size_of(cell->w_hh, 1) !=
              (cell->w_hr ? cq_size_of(cell->w_hr, 0) : cq_size_of(cell->w_ih, 0) / n_gates);
    for (int i = 0; i < n_gates; i++)
        bad = bad || cell->gates[i] < 0 || cell->gates[i] >= n_gates;
    if (bad)
        return cq_fail(CQ_E_TYPE, "rnn", NULL,
                       "the shapes of the weights and the input of a recurrent layer do not match");
    return cq_operands_need_float(x, "rnn");
}

static cq_status check_states(const struct rnn *r, const cq_tensor *out, const cq_tensor *h_n,
                              const cq_tensor *h0, const cq_tensor *c_n, const cq_tensor *c0)
{
    const cq_rnn *cell = r->cell;
    int64_t       h = r->batch * r->width, c = r->batch * r->hidden, g = r->n_gates * r->hidden;

    if (!cq_operands_has(out, r->steps * h) || !cq_operands_has(h_n, h) ||
        !cq_operands_has(h0, h) || !cq_operands_has(c_n, c) || !cq_operands_has(c0, c))
        return cq_fail(
            CQ_E_TYPE, "rnn", NULL,
            "expected states and results of a recurrent layer with %lld sequences of width %lld",
            (long long)r->batch, (long long)r->width);
    if (!cq_operands_has(cell->b_ih, g) || !cq_operands_has(cell->b_hh, g) ||
        !cq_operands_has(cell->w_hr, r->width * r->hidden) ||
        !cq_operands_has(cell->peephole, 3 * r->hidden))
        return cq_fail(CQ_E_TYPE, "rnn", NULL,
                       "expected parameters of a recurrent layer with %lld hidden units",
                       (long long)r->hidden);
    return CQ_OK;
}

/* --- work space -------------------------------------------------------------------------- */

static cq_status make_space(struct rnn *r)
{
    int64_t n = r->batch * r->hidden, gates = r->n_gates;
    int64_t w    = r->width > r->hidden ? r->width : r->hidden;
    int64_t rows = r->steps * r->batch, total;
    char   *p;

    if (__builtin_mul_overflow(rows, gates * r->hidden, &total) ||
        __builtin_add_overflow(total, 2 * gates * n + 4 * n + 2 * r->batch * w, &total) ||
        __builtin_mul_overflow(total, r->size, &total))
        return cq_no_memory();
    p = r->space = cq_alloc_aligned((size_t)total);
    if (!p)
        return CQ_E_NO_MEMORY;
    r->from_x = p;
    p += rows * gates * r->hidden * r->size;
    r->from_h = p;
    p += gates * n * r->size;
    for (int i = 0; i < r->n_gates; i++, p += n * r->size)
        r->z[i] = p;
    r->c         = p;
    r->new_c     = p + n * r->size;
    r->new_h     = p + 2 * n * r->size;
    r->h         = p + 3 * n * r->size;
    r->projected = p + (3 * n + r->batch * w) * r->size;
    return CQ_OK;
}

/* --- products ------------------------------------------------------------------------------ */

struct cq_rnn_packed {
    cq_packed *w_ih, *w_hh; /* transposed, so that a step is a row */
};

cq_status cq_rnn_packed_new(cq_rnn_packed **out, const cq_tensor *w_ih, const cq_tensor *w_hh)
{
    int64_t        rows = cq_size_of(w_ih, 0), input = cq_size_of(w_ih, 1);
    int64_t        width = cq_size_of(w_hh, 1);
    cq_rnn_packed *p = *out = cq_zalloc(sizeof *p);
    cq_status      status   = p ? CQ_OK : CQ_E_NO_MEMORY;

    if (status == CQ_OK)
        status = cq_packed_new(&p->w_ih, input, rows, cq_tensor_data(w_ih), 1, input);
    if (status == CQ_OK)
        status = cq_packed_new(&p->w_hh, width, rows, cq_tensor_data(w_hh), 1, width);
    if (status != CQ_OK) {
        cq_rnn_packed_free(p);
        *out = NULL;
    }
    return status;
}

void cq_rnn_packed_free(cq_rnn_packed *p)
{
    if (!p)
        return;
    cq_packed_free(p->w_ih);
    cq_packed_free(p->w_hh);
    cq_free(p);
}

static cq_status multiply_input_packed(const struct rnn *r)
{
    const cq_packed_call call = { .m    = r->steps * r->batch,
                                  .a    = (const float *)r->x,
                                  .lda  = r->input,
                                  .out  = (float *)r->from_x,
                                  .ldc  = r->n_gates * r->hidden,
                                  .bias = (const float *)r->b_ih };

    return cq_packed_run(r->cell->packed->w_ih, &call);
}

static cq_status multiply_input(const struct rnn *r)
{
    int64_t width = r->n_gates * r->hidden;
    cq_gemm g     = { .dtype    = r->dtype,
                      .alpha    = 1,
                      .m        = r->steps * r->batch,
                      .n        = width,
                      .k        = r->input,
                      .a        = { r->x, r->input, 1 },
                      .b        = { r->w_ih, 1, r->input },
                      .c        = r->from_x,
                      .ldc      = width,
                      .col_bias = r->b_ih };

    return cq_gemm_run(&g);
}

static cq_status multiply_state_packed(const struct rnn *r)
{
    const cq_packed_call call = { .m    = r->batch,
                                  .a    = r->h,
                                  .lda  = r->width,
                                  .out  = (float *)r->from_h,
                                  .ldc  = r->n_gates * r->hidden,
                                  .bias = (const float *)r->b_hh };

    return cq_packed_run(r->packed, &call);
}

/* The state times rows of w_hh from first on, as many columns of from_h. */
static cq_status multiply_state(const struct rnn *r, const void *state, int64_t first, int64_t rows)
{
    cq_gemm g = { .dtype = r->dtype,
                  .alpha = 1,
                  .m     = r->batch,
                  .n     = rows,
                  .k     = r->width,
                  .a     = { state, r->width, 1 },
                  .b     = { r->w_hh + first * r->width * r->size, 1, r->width },
                  .c     = r->from_h + first * r->size,
                  .ldc   = r->n_gates * r->hidden };

    g.col_bias = r->b_hh ? r->b_hh + first * r->size : NULL;
    return cq_gemm_run(&g);
}

static cq_status project(const struct rnn *r)
{
    cq_gemm g = { .dtype = r->dtype,
                  .alpha = 1,
                  .m     = r->batch,
                  .n     = r->width,
                  .k     = r->hidden,
                  .a     = { r->new_h, r->hidden, 1 },
                  .b     = { r->w_hr, 1, r->hidden },
                  .c     = r->projected,
                  .ldc   = r->width };

    return cq_gemm_run(&g);
}

/* --- steps ----------------------------------------------------------------------------------- */

static cq_status step_gru(const struct rnn *r)
{
    int64_t first = r->gates[2] * r->hidden;

    r->type->gru_gates(r);
    if (r->cell->reset_before)
        CQ_TRY(multiply_state(r, r->new_h, first, r->hidden));
    r->type->gru(r, r->from_h + first * r->size);
    return CQ_OK;
}

/* Stores the new state for the sequences that have not ended, and writes the output. */
static void commit(struct rnn *r, int64_t t)
{
    const char *h     = r->w_hr ? r->projected : r->new_h;
    size_t      width = (size_t)(r->width * r->size), hidden = (size_t)(r->hidden * r->size);

    for (int64_t b = 0; b < r->batch; b++) {
        char *out = r->out ? r->out + (t * r->batch + b) * r->width * r->size : NULL;

        if (r->cell->lengths && t >= r->cell->lengths[b]) {
            if (out)
                memset(out, 0, width);
            continue;
        }
        memcpy((char *)r->h + (size_t)b * width, h + (size_t)b * width, width);
        if (r->cell->kind == CQ_RNN_LSTM)
            memcpy((char *)r->c + (size_t)b * hidden, (char *)r->new_c + (size_t)b * hidden,
                   hidden);
        if (out)
            memcpy(out, h + (size_t)b * width, width);
    }
}

static cq_status run_step(struct rnn *r, int64_t t)
{
    int64_t width = r->n_gates * r->hidden;

    CQ_TRY(r->packed ? multiply_state_packed(r) : multiply_state(r, r->h, 0, width));
    r->type->gather(r, r->from_x + t * r->batch * width * r->size, r->from_h);
    if (r->cell->kind == CQ_RNN_GRU)
        CQ_TRY(step_gru(r));
    else
        (r->cell->kind == CQ_RNN_LSTM ? r->type->lstm : r->type->plain)(r);
    if (r->w_hr)
        CQ_TRY(project(r));
    commit(r, t);
    return CQ_OK;
}

static void set_state(void *state, const char *from, int64_t bytes)
{
    if (from)
        memcpy(state, from, (size_t)bytes);
    else
        memset(state, 0, (size_t)bytes);
}

static cq_status run(struct rnn *r)
{
    bool has_packed = r->cell->packed && r->dtype == CQ_DTYPE_F32;

    /* For a single sequence the product is by a vector, for which packing does not pay off. */
    CQ_TRY(has_packed ? multiply_input_packed(r) : multiply_input(r));
    if (has_packed)
        r->packed = r->cell->packed->w_hh;
    else if (r->batch > 1 && r->dtype == CQ_DTYPE_F32) {
        CQ_TRY(cq_packed_new(&r->owned, r->width, r->n_gates * r->hidden, (const float *)r->w_hh, 1,
                             r->width));
        r->packed = r->owned;
    }
    for (int64_t i = 0; i < r->steps; i++)
        CQ_TRY(run_step(r, r->cell->reverse ? r->steps - 1 - i : i));
    return CQ_OK;
}

cq_status cq_kernel_rnn(cq_tensor *out, cq_tensor *h_n, cq_tensor *c_n, const cq_tensor *x,
                        const cq_tensor *h0, const cq_tensor *c0, const cq_rnn *cell)
{
    cq_operands s = { .compute = cq_compute_dtype(x->dtype) };
    struct rnn  r = { .dtype = s.compute, .size = (int64_t)cq_dtype_size(s.compute) };
    const char *start_h, *start_c;
    char       *end_h, *end_c;

    CQ_TRY(check_cell(cell, x));
    set_cell(&r, cell);
    r.type     = s.compute == CQ_DTYPE_F64 ? &type_f64 : &type_f32;
    r.steps    = cq_size_of(x, 0);
    r.batch    = cq_size_of(x, 1);
    r.input    = cq_size_of(x, 2);
    r.hidden   = cq_size_of(cell->w_ih, 0) / r.n_gates;
    r.width    = cq_size_of(cell->w_hh, 1);
    r.x        = cq_operands_in(&s, x);
    r.w_ih     = cq_operands_in(&s, cell->w_ih);
    r.w_hh     = cq_operands_in(&s, cell->w_hh);
    r.b_ih     = cq_operands_in(&s, cell->b_ih);
    r.b_hh     = cq_operands_in(&s, cell->b_hh);
    r.w_hr     = cq_operands_in(&s, cell->w_hr);
    r.peephole = cq_operands_in(&s, cell->peephole);
    start_h    = cq_operands_in(&s, h0);
    start_c    = cq_operands_in(&s, c0);
    r.out      = cq_operands_out(&s, out);
    end_h      = cq_operands_out(&s, h_n);
    end_c      = cq_operands_out(&s, c_n);
    if (s.status == CQ_OK)
        s.status = check_states(&r, out, h_n, h0, c_n, c0);
    if (s.status == CQ_OK)
        s.status = make_space(&r);
    if (s.status == CQ_OK) {
        set_state(r.h, start_h, r.batch * r.width * r.size);
        set_state(r.c, start_c, r.batch * r.hidden * r.size);
        s.status = run(&r);
    }
    if (s.status == CQ_OK && end_h)
        memcpy(end_h, r.h, (size_t)(r.batch * r.width * r.size));
    if (s.status == CQ_OK && end_c)
        memcpy(end_c, r.c, (size_t)(r.batch * r.hidden * r.size));
    cq_packed_free(r.owned);
    cq_free_aligned(r.space);
    return cq_operands_close(&s);
}
