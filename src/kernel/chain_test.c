/* A chain gives the same bits as its operations run one after another (elementwise_test.c tests
 * those). */
#include "kernel/chain.h"

#include "base/thread.h"
#include "isas.h"
#include "tensors.h"

#include <string.h>

/* The pattern, including NaN, infinities and -0. */
static cq_tensor *wild(size_t rank, const int64_t *sizes, int seed)
{
    static const float odd[] = { NAN, INFINITY, -INFINITY, -0.0f };
    cq_tensor         *t     = pattern(CQ_DTYPE_F32, rank, sizes, seed);
    float             *p     = cq_tensor_data(t);

    for (int64_t i = 0; i < cq_tensor_numel(t); i += 5)
        p[i] = odd[(i / 5 + seed) % 4];
    return t;
}

static void check_bits(const char *what, const cq_tensor *got, const cq_tensor *want)
{
    const float *a = cq_tensor_data(got), *b = cq_tensor_data(want);

    for (int64_t i = 0; i < cq_tensor_numel(want); i++)
        if (memcmp(&a[i], &b[i], sizeof *a) != 0 && !(isnan(a[i]) && isnan(b[i])))
            fail_msg("%s: element %d is %.9g, not %.9g", what, (int)i, (double)a[i], (double)b[i]);
}

/* op, and its result combined with y. */
static void check_op(cq_ew_op op, int64_t n)
{
    const cq_params p     = { .a = 0.5, .b = 1.5, .c = 0.25 };
    cq_tensor      *in[]  = { wild(1, &n, 1), wild(1, &n, 3), wild(1, &n, 8) };
    cq_tensor      *want  = tensor_of(CQ_DTYPE_F32, 1, &n, NULL);
    cq_tensor      *got   = tensor_of(CQ_DTYPE_F32, 1, &n, NULL);
    cq_chain        c     = { 0 };
    int             at[3] = { 0 }, first;

    for (int i = 0; i < 3; i++)
        at[i] = cq_chain_operand(&c, in[i]);
    if (cq_ew_operands(op) == 1)
        CHECK_OK(cq_apply1(want, op, &p, CQ_DTYPE_NONE, in[0]));
    else if (cq_ew_operands(op) == 2)
        CHECK_OK(cq_apply2(want, op, &p, CQ_DTYPE_NONE, in[0], in[1]));
    else
        CHECK_OK(cq_apply3(want, op, &p, CQ_DTYPE_NONE, in[0], in[1], in[2]));
    CHECK_OK(cq_apply2(want, CQ_EW_MUL, NULL, CQ_DTYPE_NONE, in[1], want));
    first = cq_chain_op(&c, op, &p, at);
    cq_chain_op(&c, CQ_EW_MUL, NULL, (int[]){ at[1], first });
    CHECK_OK(cq_chain_run(got, &c));
    check_bits(cq_ew_name(op), got, want);
    release_all(in[0], in[1], in[2], want, got, NULL);
}

TEST(chain, every_operation_gives_the_same_bits)
{
    EACH_ISA
    for (int op = 0; op < CQ_EW_COUNT; op++)
        if (cq_chain_has((cq_ew_op)op)) {
            check_op((cq_ew_op)op, 1);
            check_op((cq_ew_op)op, 67);
            check_op((cq_ew_op)op, 1500);
        }
}

/* (x + y) * y + x, of any shapes that broadcast to out's. */
static void check_broadcast(cq_tensor *out, cq_tensor *x, cq_tensor *y)
{
    cq_tensor *want;
    cq_chain   c = { 0 };
    int        a = cq_chain_operand(&c, x), b = cq_chain_operand(&c, y), r;

    CHECK_OK(cq_tensor_clone(&want, out, CQ_DTYPE_NONE));
    CHECK_OK(cq_apply2(want, CQ_EW_ADD, NULL, CQ_DTYPE_NONE, x, y));
    CHECK_OK(cq_apply2(want, CQ_EW_MUL, NULL, CQ_DTYPE_NONE, want, y));
    CHECK_OK(cq_apply2(want, CQ_EW_ADD, NULL, CQ_DTYPE_NONE, want, x));
    r = cq_chain_op(&c, CQ_EW_ADD, NULL, (int[]){ a, b });
    r = cq_chain_op(&c, CQ_EW_MUL, NULL, (int[]){ r, b });
    cq_chain_op(&c, CQ_EW_ADD, NULL, (int[]){ r, a });
    CHECK_OK(cq_chain_run(out, &c));
    check_bits("broadcast", out, want);
    release_all(want, out, x, y, NULL);
}

#define BROADCAST(out, x, y)                                                                       \
    check_broadcast(tensor_of(CQ_DTYPE_F32, out, NULL), wild(x, 1), wild(y, 2))
#define OF(...) SIZES(__VA_ARGS__)

TEST(chain, operands_of_any_shape_are_broadcast)
{
    cq_tensor *t = wild(SIZES(7, 1300), 4), *turned;

    EACH_ISA
    {
        BROADCAST(OF(3, 700), OF(3, 700), OF(1));
        BROADCAST(OF(3, 700), OF(3, 1), OF(700));
        BROADCAST(OF(900, 8), OF(900, 8), OF(8));
        BROADCAST(OF(2, 5, 300, 8), OF(2, 5, 300, 8), OF(2, 5, 1, 8));
        BROADCAST(OF(2, 5, 300, 8), OF(5, 1, 1), OF(2, 5, 300, 8));
        BROADCAST(OF(4, 3, 70, 33), OF(4, 1, 70, 1), OF(1, 3, 1, 33));
        BROADCAST(OF(0, 9), OF(0, 9), OF(9));
        BROADCAST(OF(1), OF(1), OF(1));
        BROADCAST(OF(20001), OF(20001), OF(20001));
    }
    check_broadcast(tensor_of(CQ_DTYPE_F32, 0, NULL, NULL), wild(0, NULL, 1), wild(0, NULL, 2));
    CHECK_OK(cq_tensor_new_view(&turned, t, CQ_DTYPE_F32, 2, (cq_int[]){ cq_i(1300), cq_i(7) },
                                (int64_t[]){ 1, 1300 }, 0));
    check_broadcast(tensor_of(CQ_DTYPE_F32, SIZES(1300, 7), NULL), turned, wild(SIZES(1300, 1), 3));
    cq_tensor_release(t);
}

TEST(chain, a_condition_must_be_bool)
{
    cq_tensor *x = wild(SIZES(3, 600), 1), *out = tensor_of(CQ_DTYPE_F32, SIZES(3, 600), NULL);
    cq_tensor *zero = pattern(CQ_DTYPE_F32, SIZES(600), 3), *yes;
    cq_tensor *want = tensor_of(CQ_DTYPE_F32, SIZES(3, 600), NULL);
    cq_chain   c    = { 0 };
    int        r;

    CHECK_OK(cq_tensor_clone(&yes, zero, CQ_DTYPE_BOOL));
    CHECK_OK(cq_apply3(want, CQ_EW_WHERE, NULL, CQ_DTYPE_F32, yes, x, zero));
    CHECK_OK(cq_apply1(want, CQ_EW_NEG, NULL, CQ_DTYPE_NONE, want));
    r = cq_chain_op(
        &c, CQ_EW_WHERE, NULL,
        (int[]){ cq_chain_operand(&c, yes), cq_chain_operand(&c, x), cq_chain_operand(&c, zero) });
    cq_chain_op(&c, CQ_EW_NEG, NULL, &r);
    CHECK_OK(cq_chain_run(out, &c));
    check_bits("where", out, want);
    release_all(x, out, zero, yes, want, NULL);
}

/* A sum of tanh(x_i), each kept until the end: as many results at once as there are steps. */
TEST(chain, results_that_are_needed_later_are_kept)
{
    cq_tensor *x = wild(SIZES(1234), 1), *want = tensor_of(CQ_DTYPE_F32, SIZES(1234), NULL);
    cq_tensor *sum = tensor_of(CQ_DTYPE_F32, SIZES(1234), NULL), *each;
    cq_chain   c   = { 0 };
    int        at  = cq_chain_operand(&c, x), made[10], r;

    CHECK_OK(cq_tensor_clone(&each, x, CQ_DTYPE_NONE));
    for (int i = 0; i < 10; i++) {
        CHECK_OK(cq_apply1(each, CQ_EW_TANH, NULL, CQ_DTYPE_NONE, each));
        made[i] = at = cq_chain_op(&c, CQ_EW_TANH, NULL, &at);
        CHECK_OK(i ? cq_apply2(sum, CQ_EW_ADD, NULL, CQ_DTYPE_NONE, sum, each)
                   : cq_apply1(sum, CQ_EW_TANH, NULL, CQ_DTYPE_NONE, x));
    }
    r = cq_chain_op(&c, CQ_EW_ADD, NULL, (int[]){ made[0], made[1] });
    for (int i = 2; i < 10; i++)
        r = cq_chain_op(&c, CQ_EW_ADD, NULL, (int[]){ r, made[i] });
    CHECK_OK(cq_chain_run(want, &c));
    check_bits("kept", want, sum);
    CHECK_OK(cq_chain_run(x, &c)); /* over its operand */
    check_bits("in place", x, sum);
    release_all(x, want, sum, each, NULL);
}

TEST(chain, threads_do_not_change_bits)
{
    cq_tensor *x = wild(SIZES(100003), 1), *y = wild(SIZES(1), 2);
    cq_tensor *one = tensor_of(CQ_DTYPE_F32, SIZES(100003), NULL);
    cq_tensor *few = tensor_of(CQ_DTYPE_F32, SIZES(100003), NULL);
    cq_chain   c   = { 0 };
    int        a = cq_chain_operand(&c, x), b = cq_chain_operand(&c, y);

    a = cq_chain_op(&c, CQ_EW_SIGMOID, NULL, &a);
    cq_chain_op(&c, CQ_EW_MUL, NULL, (int[]){ a, b });
    cq_set_threads(1);
    CHECK_OK(cq_chain_run(one, &c));
    cq_set_threads(3);
    CHECK_OK(cq_chain_run(few, &c));
    cq_set_threads(0);
    CHECK(!memcmp(cq_tensor_data(one), cq_tensor_data(few), 100003 * sizeof(float)));
    release_all(x, y, one, few, NULL);
}

TEST(chain, operands_are_counted_once_and_limited)
{
    cq_tensor *t[CQ_CHAIN_OPERANDS + 1];
    cq_chain   c = { 0 };

    for (int i = 0; i <= CQ_CHAIN_OPERANDS; i++) {
        t[i] = wild(SIZES(2), i);
        CHECK_INT(i < CQ_CHAIN_OPERANDS ? i : -1, cq_chain_operand(&c, t[i]));
    }
    CHECK_INT(2, cq_chain_operand(&c, t[2]));
    for (int i = 0; i <= CQ_CHAIN_OPERANDS; i++)
        cq_tensor_release(t[i]);
}

RUN_TESTS(TEST_OF(chain, every_operation_gives_the_same_bits),
          TEST_OF(chain, operands_of_any_shape_are_broadcast),
          TEST_OF(chain, a_condition_must_be_bool),
          TEST_OF(chain, results_that_are_needed_later_are_kept),
          TEST_OF(chain, threads_do_not_change_bits),
          TEST_OF(chain, operands_are_counted_once_and_limited))
