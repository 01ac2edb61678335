#include "kernel/matrix/rnn.h"

#include "tensors.h"

/* Two steps, two sequences, input 2, hidden 3. */
struct setup {
    cq_rnn     cell;
    cq_tensor *w[5], *x, *h, *c, *out, *h_n, *c_n;
};

static struct setup make(cq_rnn_kind kind, int64_t gates, int64_t width)
{
    struct setup s = { .cell = { .kind = kind } };

    s.cell.w_ih = s.w[0] = pattern(CQ_DTYPE_F32, SIZES(gates * 3, 2), 1);
    s.cell.w_hh = s.w[1] = pattern(CQ_DTYPE_F32, SIZES(gates * 3, width), 2);
    s.cell.b_ih = s.w[2] = pattern(CQ_DTYPE_F32, SIZES(gates * 3), 3);
    s.cell.b_hh = s.w[3] = pattern(CQ_DTYPE_F32, SIZES(gates * 3), 4);
    s.w[4]               = pattern(CQ_DTYPE_F32, SIZES(width, 3), 5);
    if (width != 3)
        s.cell.w_hr = s.w[4];
    s.x   = pattern(CQ_DTYPE_F32, SIZES(2, 2, 2), 0);
    s.h   = pattern(CQ_DTYPE_F32, SIZES(2, 3), 6);
    s.c   = pattern(CQ_DTYPE_F32, SIZES(2, 3), 7);
    s.out = tensor_of(CQ_DTYPE_F32, SIZES(2, 2, width), NULL);
    s.h_n = tensor_of(CQ_DTYPE_F32, SIZES(2, width), NULL);
    s.c_n = tensor_of(CQ_DTYPE_F32, SIZES(2, 3), NULL);
    return s;
}

static void release(struct setup *s)
{
    release_all(s->w[0], s->w[1], s->w[2], s->w[3], s->w[4], s->x, s->h, s->c, s->out, s->h_n,
                s->c_n, NULL);
}

TEST(rnn, plain)
{
    struct setup s = make(CQ_RNN_PLAIN, 1, 3);

    CHECK_OK(cq_kernel_rnn(s.out, NULL, NULL, s.x, s.h, NULL, &s.cell));
    check_close(cq_tensor_retain(s.out),
                (double[]){ -0.0624187467, -0.8798267, -0.864906618, -0.302709729, -0.982845029,
                            -0.761594156, -0.983528897, 0.457207758, 0.866923968, -0.986767989,
                            -0.457405576, 0.908306803 },
                1e-6);
    release(&s);
}

static const double gru_out[] = { -0.877247774, -0.662128438, 0.899076508,  -0.809419795,
                                  -0.916820065, 0.929569273,  -0.537841247, 0.31599391,
                                  0.182721883,  -0.27217187,  -0.148862701, 0.580493717 };

TEST(rnn, gru)
{
    struct setup s = make(CQ_RNN_GRU, 3, 3);

    CHECK_OK(cq_kernel_rnn(s.out, s.h_n, NULL, s.x, s.h, NULL, &s.cell));
    check_close(cq_tensor_retain(s.out), gru_out, 1e-6);
    check_close(cq_tensor_retain(s.h_n), gru_out + 6, 1e-6);
    release(&s);
}

TEST(rnn, packed_weights_give_the_same)
{
    struct setup   s = make(CQ_RNN_GRU, 3, 3);
    cq_rnn_packed *packed;

    CHECK_OK(cq_rnn_packed_new(&packed, s.cell.w_ih, s.cell.w_hh));
    s.cell.packed = packed;
    for (int i = 0; i < 2; i++) { /* packed weights can be reused */
        CHECK_OK(cq_kernel_rnn(s.out, s.h_n, NULL, s.x, s.h, NULL, &s.cell));
        check_close(cq_tensor_retain(s.out), gru_out, 1e-6);
        check_close(cq_tensor_retain(s.h_n), gru_out + 6, 1e-6);
    }
    cq_rnn_packed_free(packed);
    release(&s);
}

TEST(rnn, lstm)
{
    struct setup s = make(CQ_RNN_LSTM, 4, 3);

    CHECK_OK(cq_kernel_rnn(s.out, s.h_n, s.c_n, s.x, s.h, s.c, &s.cell));
    check_close(cq_tensor_retain(s.out),
                (double[]){ -0.0603474993, -0.0818942419, 0.229734884, -0.0455470722, -0.236754217,
                            0.169129967, -0.0403137529, 0.312205153, -0.0421003355, -0.0339952222,
                            -0.196096873, -0.00717648827 },
                1e-6);
    check_close(cq_tensor_retain(s.c_n),
                (double[]){ -0.205443855, 0.403457458, -0.255886552, -0.206636663, -0.225898993,
                            -0.0578131171 },
                1e-6);
    release(&s);
}

TEST(rnn, lstm_with_a_projection)
{
    struct setup s = make(CQ_RNN_LSTM, 4, 1);

    CHECK_OK(cq_kernel_rnn(s.out, NULL, NULL, s.x, NULL, NULL, &s.cell));
    check_close(cq_tensor_retain(s.out),
                (double[]){ -0.0178853296, 0.0738416622, -0.628556272, -0.357868564 }, 1e-6);
    release(&s);
}

TEST(rnn, a_sequence_that_has_ended_keeps_its_state)
{
    struct setup  s         = make(CQ_RNN_GRU, 3, 3);
    const int64_t lengths[] = { 2, 1 };

    s.cell.lengths = lengths;
    CHECK_OK(cq_kernel_rnn(s.out, s.h_n, NULL, s.x, NULL, NULL, &s.cell));
    check_close(cq_tensor_retain(s.out),
                (double[]){ -0.925843405, 0.0242986441, 0.428150338, -0.806118727, 0.0198312309,
                            0.66952139, -0.698714269, 0.413029851, -0.246722776, 0, 0, 0 },
                1e-6);
    check_close(cq_tensor_retain(s.h_n),
                (double[]){ -0.698714269, 0.413029851, -0.246722776, -0.806118727, 0.0198312309,
                            0.66952139 },
                1e-6);
    release(&s);
}

/* Weights with rows z r n instead of r z n, declared as such, give the same result. */
TEST(rnn, gates_may_come_in_another_order)
{
    struct setup s = make(CQ_RNN_GRU, 3, 3);

    for (int i = 0; i < 4; i++) {
        float  *p = cq_tensor_data(s.w[i]);
        int64_t n = cq_tensor_numel(s.w[i]) / 3;

        for (int64_t j = 0; j < n; j++) {
            float r = p[j];

            p[j]     = p[n + j];
            p[n + j] = r;
        }
    }
    s.cell.gates[0] = 1;
    s.cell.gates[2] = 2;
    CHECK_OK(cq_kernel_rnn(s.out, NULL, NULL, s.x, s.h, NULL, &s.cell));
    check_close(cq_tensor_retain(s.out), gru_out, 1e-6);
    release(&s);
}

TEST(rnn, weights_that_do_not_fit_are_refused)
{
    struct setup s = make(CQ_RNN_GRU, 3, 3);

    s.cell.kind = CQ_RNN_LSTM;
    CHECK_STATUS(CQ_E_TYPE, cq_kernel_rnn(s.out, NULL, NULL, s.x, NULL, NULL, &s.cell));
    release(&s);
}

RUN_TESTS(TEST_OF(rnn, plain), TEST_OF(rnn, gru), TEST_OF(rnn, packed_weights_give_the_same),
          TEST_OF(rnn, lstm), TEST_OF(rnn, lstm_with_a_projection),
          TEST_OF(rnn, a_sequence_that_has_ended_keeps_its_state),
          TEST_OF(rnn, gates_may_come_in_another_order),
          TEST_OF(rnn, weights_that_do_not_fit_are_refused))
