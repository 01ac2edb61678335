/* The tape: in-place operators, views, unused values, and errors. tests/ops/gradients_test.c
 * compares the gradients of operators with PyTorch. */
#include "test.h"

#include "autograd/tape.h"

#include <calque/function.h>

typedef struct run {
    cq_ctx    *cx;
    cq_tape   *tape;
    cq_tensor *x; /* 1, 2, 3, 4 */
} run;

static run begin(void)
{
    run          r;
    const double values[] = { 1, 2, 3, 4 };

    CHECK_OK(cq_ctx_new(&r.cx));
    CHECK_OK(cq_tape_new(&r.tape));
    CHECK_OK(cq_tensor_new(&r.x, CQ_DTYPE_F64, 1, (int64_t[]){ 4 }, values));
    CHECK_OK(cq_tape_watch(r.tape, r.x));
    cq_tape_start(r.tape, r.cx);
    return r;
}

static void end(run *r)
{
    cq_ctx_free(r->cx);
    cq_tape_free(r->tape);
    cq_tensor_release(r->x);
}

/* Runs the backward pass from y with ones and compares the gradient of x. */
static void check_gradient(run *r, cq_tensor *y, const double *want)
{
    cq_tensor *g;

    CHECK_OK(cq_tape_backward(r->tape, r->cx, &y, NULL, 1));
    g = cq_tape_gradient(r->tape, r->x);
    CHECK(g != NULL);
    for (int64_t i = 0; i < 4; i++)
        CHECK(cq_tensor_get_f64(g, i) == want[i]);
}

static cq_tensor *squared(run *r, cq_tensor *t)
{
    return CQ_OP(r->cx, "aten::mul.Tensor", TENSOR(t), TENSOR(t));
}

TEST(tape, uses_add_up)
{
    run        r = begin();
    cq_tensor *y = CQ_OP(r.cx, "aten::add.Tensor", TENSOR(squared(&r, r.x)), TENSOR(r.x));

    check_gradient(&r, y, (double[]){ 3, 5, 7, 9 });
    end(&r);
}

TEST(tape, overwritten_values_are_kept_for_the_backward_pass)
{
    run        r = begin();
    cq_tensor *a = CQ_OP(r.cx, "aten::mul.Scalar", TENSOR(r.x), INT(2)), *y = squared(&r, a);

    CQ_OP(r.cx, "aten::zero_", TENSOR(a)); /* y's gradient needs the old value of a: 8 x */
    check_gradient(&r, CQ_OP(r.cx, "aten::add.Tensor", TENSOR(y), TENSOR(a)),
                   (double[]){ 8, 16, 24, 32 });
    end(&r);
}

TEST(tape, a_change_of_a_view_reaches_its_tensor_and_other_views)
{
    run        r     = begin();
    cq_tensor *a     = CQ_OP(r.cx, "aten::mul.Scalar", TENSOR(r.x), INT(1));
    cq_tensor *front = CQ_OP(r.cx, "aten::slice.Tensor", TENSOR(a), INT(0), INT(0), INT(2));
    cq_tensor *last  = CQ_OP(r.cx, "aten::slice.Tensor", TENSOR(a), INT(0), INT(1), INT(4));

    CQ_OP(r.cx, "aten::mul_.Scalar", TENSOR(front), INT(10)); /* a = 10 x0, 10 x1, x2, x3 */
    CHECK(cq_tensor_get_f64(last, 0) == 20);
    check_gradient(&r, CQ_OP(r.cx, "aten::sum", TENSOR(squared(&r, last))),
                   (double[]){ 0, 400, 6, 8 });
    end(&r);
}

TEST(tape, a_constant_that_is_written_into_has_a_gradient_from_then_on)
{
    run        r = begin();
    cq_tensor *buf =
        CQ_OP(r.cx, "aten::zeros", cq_i64s(r.cx, (int64_t[]){ 2, 4 }, 2), DTYPE(CQ_DTYPE_F64));
    cq_tensor *row = CQ_OP(r.cx, "aten::select.int", TENSOR(buf), INT(0), INT(1));

    CQ_OP(r.cx, "aten::copy_", TENSOR(row), TENSOR(r.x));
    check_gradient(&r, CQ_OP(r.cx, "aten::sum", TENSOR(squared(&r, buf))),
                   (double[]){ 2, 4, 6, 8 });
    end(&r);
}

TEST(tape, detach_and_no_grad_cut)
{
    run        r   = begin();
    cq_tensor *a   = CQ_OP(r.cx, "aten::detach", TENSOR(squared(&r, r.x))), *b;
    bool       was = cq_set_grad_enabled(r.cx, false);

    b = squared(&r, r.x);
    CHECK(was);
    CHECK(!cq_set_grad_enabled(r.cx, true));
    a = CQ_OP(r.cx, "aten::add.Tensor", TENSOR(a), TENSOR(b));
    check_gradient(&r, CQ_OP(r.cx, "aten::add.Tensor", TENSOR(a), TENSOR(r.x)),
                   (double[]){ 1, 1, 1, 1 });
    end(&r);
}

TEST(tape, the_gradients_of_outputs_can_be_given)
{
    run          r    = begin();
    const double g[]  = { 1, 0, -1, 0.5 };
    cq_tensor   *seed = NULL, *y = squared(&r, r.x), *got;
    const double want[] = { 2, 0, -6, 4 };

    CHECK_OK(cq_tensor_new(&seed, CQ_DTYPE_F64, 1, (int64_t[]){ 4 }, g));
    CHECK_OK(cq_tape_backward(r.tape, r.cx, &y, &seed, 1));
    got = cq_tape_gradient(r.tape, r.x);
    for (int64_t i = 0; i < 4; i++)
        CHECK(cq_tensor_get_f64(got, i) == want[i]);
    cq_tensor_release(seed);
    end(&r);
}

TEST(tape, operators_without_a_gradient_are_all_named)
{
    run    r     = begin();
    cq_val sizes = cq_i64s(r.cx, (int64_t[]){ 2, 2 }, 2),
           one   = cq_i64s(r.cx, (int64_t[]){ 1, 1 }, 2);
    cq_tensor *y = CQ_OP(r.cx, "aten::reshape", TENSOR(r.x), sizes);

    y = CQ_OP(r.cx, "aten::exp", TENSOR(CQ_OP(r.cx, "aten::linalg_det", TENSOR(y))));
    y = CQ_OP(r.cx, "aten::linalg_det", TENSOR(CQ_OP(r.cx, "aten::reshape", TENSOR(y), one)));
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_tape_backward(r.tape, r.cx, &y, NULL, 1));
    CHECK_STR("no gradient is known for aten::linalg_det; aten::linalg_det",
              cq_last_error()->message);
    CHECK(cq_tape_gradient(r.tape, r.x) == NULL);
    end(&r);
}

TEST(tape, a_draw_that_may_be_rejected_has_no_gradient)
{
    run        r = begin();
    cq_tensor *y = CQ_OP(r.cx, "aten::_standard_gamma", TENSOR(r.x));

    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_tape_backward(r.tape, r.cx, &y, NULL, 1));
    CHECK(strstr(cq_last_error()->message, "has no gradient here") != NULL);
    end(&r);
}

TEST(tape, unused_values_have_no_gradient)
{
    run        r = begin();
    cq_tensor *y = CQ_OP(r.cx, "aten::ones", cq_i64s(r.cx, (int64_t[]){ 4 }, 1));

    CQ_OP(r.cx, "aten::digamma", TENSOR(r.x));
    CHECK_OK(cq_tape_backward(r.tape, r.cx, &y, NULL, 1));
    CHECK(cq_tape_gradient(r.tape, r.x) == NULL);
    end(&r);
}

TEST(tape, backward_runs_once)
{
    run        r = begin();
    cq_tensor *y = squared(&r, r.x);

    CHECK_OK(cq_tape_backward(r.tape, r.cx, &y, NULL, 1));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_tape_backward(r.tape, r.cx, &y, NULL, 1));
    end(&r);
}

/* ---- custom functions ---- */

static void twice(cq_ctx *cx, void *user, cq_tensor *const *in, cq_tensor **out)
{
    (void)user;
    out[0] = CQ_OP(cx, "aten::mul.Scalar", TENSOR(in[0]), INT(2));
}

/* A gradient that differs from the correct one, to detect its use. */
static void a_hundred(cq_ctx *cx, void *user, cq_tensor *const *in, cq_tensor *const *out,
                      cq_tensor *const *grad_out, cq_tensor **grad_in)
{
    (void)user;
    (void)in;
    (void)out;
    grad_in[0] = CQ_OP(cx, "aten::mul.Scalar", TENSOR(grad_out[0]), INT(100));
}

TEST(tape, a_custom_function_brings_its_own_gradient_or_that_of_its_parts)
{
    static const cq_function own = {
        CQ_SIZED(cq_function), .name = "test::own",  .n_in = 1, .n_out = 1,
        .forward = twice,      .backward = a_hundred
    };
    static const cq_function parts = { CQ_SIZED(cq_function), .name = "test::parts", .n_in = 1,
                                       .n_out = 1, .forward = twice };
    run                      r     = begin();
    cq_tensor               *y, *z;

    cq_apply(r.cx, &own, &r.x, &y);
    cq_apply(r.cx, &parts, &r.x, &z);
    check_gradient(&r, CQ_OP(r.cx, "aten::add.Tensor", TENSOR(y), TENSOR(z)),
                   (double[]){ 102, 102, 102, 102 });
    end(&r);
}

RUN_TESTS(TEST_OF(tape, uses_add_up),
          TEST_OF(tape, overwritten_values_are_kept_for_the_backward_pass),
          TEST_OF(tape, a_change_of_a_view_reaches_its_tensor_and_other_views),
          TEST_OF(tape, a_constant_that_is_written_into_has_a_gradient_from_then_on),
          TEST_OF(tape, detach_and_no_grad_cut),
          TEST_OF(tape, the_gradients_of_outputs_can_be_given),
          TEST_OF(tape, operators_without_a_gradient_are_all_named),
          TEST_OF(tape, a_draw_that_may_be_rejected_has_no_gradient),
          TEST_OF(tape, unused_values_have_no_gradient), TEST_OF(tape, backward_runs_once),
          TEST_OF(tape, a_custom_function_brings_its_own_gradient_or_that_of_its_parts))
