/* Recurrent layers: one layer in one direction over a whole sequence. PyTorch's and ONNX's
 * cells are the same but for the order of the gates and a few switches. Floats; half
 * precision is computed in float32. */
#ifndef CQ_KERNEL_MATRIX_RNN_H
#define CQ_KERNEL_MATRIX_RNN_H

#include "tensor/tensor.h"

typedef enum cq_rnn_kind { CQ_RNN_PLAIN, CQ_RNN_LSTM, CQ_RNN_GRU } cq_rnn_kind;

typedef enum cq_rnn_fn {
    CQ_RNN_FN_DEFAULT, /* sigmoid for gates, tanh for the rest */
    CQ_RNN_FN_TANH,
    CQ_RNN_FN_SIGMOID,
    CQ_RNN_FN_RELU,
    CQ_RNN_FN_AFFINE,           /* alpha * x + beta */
    CQ_RNN_FN_LEAKY_RELU,       /* x < 0: alpha * x */
    CQ_RNN_FN_THRESHOLDED_RELU, /* x < alpha: 0 */
    CQ_RNN_FN_SCALED_TANH,      /* alpha * tanh(beta * x) */
    CQ_RNN_FN_HARD_SIGMOID,     /* alpha * x + beta, between 0 and 1 */
    CQ_RNN_FN_ELU,              /* x < 0: alpha * (e^x - 1) */
    CQ_RNN_FN_SOFTSIGN,
    CQ_RNN_FN_SOFTPLUS
} cq_rnn_fn;

typedef struct cq_rnn_activation {
    cq_rnn_fn fn;
    double    alpha, beta; /* no defaults */
} cq_rnn_activation;

/* Prepacked float32 weights, for cells that run repeatedly. */
typedef struct cq_rnn_packed cq_rnn_packed;

/* w_ih and w_hh are matrices as below, without gaps. */
cq_status cq_rnn_packed_new(cq_rnn_packed **out, const cq_tensor *w_ih, const cq_tensor *w_hh);
void      cq_rnn_packed_free(cq_rnn_packed *p); /* NULL is fine */

/* A zeroed struct is PyTorch's cell without biases. Comments mark tensors that may be NULL. */
typedef struct cq_rnn {
    cq_rnn_kind kind;
    bool        reverse; /* from the last step, or the end of each length, to the first */

    /* The position of each gate in the weights: LSTM i f g o, GRU r z n. All 0: in that order.
     * ONNX's order i o f c is { 0, 2, 3, 1 }, and z r h is { 1, 0, 2 }. */
    int gates[4];

    /* LSTM: gates, cell, output. GRU: gates, new. Plain: one. */
    cq_rnn_activation act[3];

    bool   reset_before; /* GRU: W * (r * h) as in ONNX, not r * (W * h) */
    bool   input_forget; /* LSTM: f is 1 - i */
    bool   clips;        /* inputs of activations are clipped to +-clip */
    double clip;

    const cq_tensor *w_ih, *w_hh; /* [gates * hidden, input], [gates * hidden, hidden or proj] */
    const cq_tensor *b_ih, *b_hh; /* [gates * hidden] or NULL */
    const cq_tensor *w_hr;        /* LSTM: [proj, hidden], projects the output; or NULL */
    const cq_tensor *peephole;    /* LSTM: [3 * hidden], i o f; or NULL */
    const int64_t   *lengths;     /* steps of each sequence of the batch, or NULL */

    const cq_rnn_packed *packed; /* made from w_ih and w_hh; NULL: they are packed in each call */
} cq_rnn;

/* x [steps, batch, input]; out [steps, batch, hidden or proj], zero past a sequence's end;
 * h [batch, hidden or proj], c [batch, hidden]. Of h0 and c0, NULL is zero; out, h_n and c_n
 * may be NULL. */
cq_status cq_kernel_rnn(cq_tensor *out, cq_tensor *h_n, cq_tensor *c_n, const cq_tensor *x,
                        const cq_tensor *h0, const cq_tensor *c0, const cq_rnn *cell);

#endif
