/* Models whose steps a session replaces by faster ones: the results are those of the original
 * steps. */
#ifndef CQ_TESTS_REWRITES_H
#define CQ_TESTS_REWRITES_H

#include "onnx/model.h"
#include "runtime/value.h"
#include "test.h"

#include <math.h>

static inline cq_onnx_model *parsed(const char *text)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "test"));
    return m;
}

static inline cq_tensor *numbers(size_t rank, const int64_t *sizes, int seed)
{
    cq_tensor *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, rank, sizes, NULL));
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        ((float *)cq_tensor_data(t))[i] = (float)((7 * i + seed) % 23 - 11) / 8;
    return t;
}

static inline void release(cq_tensor **in, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_tensor_release(in[i]);
}

struct steps_of {
    const char *op;
    int         n;
};

static inline void count_step(void *user, const char *node, const char *op, int64_t begin,
                              int64_t end)
{
    struct steps_of *s = user;

    (void)node, (void)begin, (void)end;
    s->n += !strcmp(op, s->op);
}

/* Its first output; how many steps were called op. fetch may be NULL. */
static inline int run_counting(cq_tensor **out, const cq_onnx_model *m, cq_tensor **in, size_t n,
                               uint32_t flags, const char *op, const char *fetch)
{
    struct steps_of    found = { op, 0 };
    cq_session_options options;
    cq_session        *s;
    cq_tensor         *all[2] = { 0 };

    cq_session_options_init(&options);
    options.flags     = flags;
    options.hook      = count_step;
    options.hook_user = &found;
    options.fetch     = &fetch;
    options.n_fetch   = fetch ? 1 : 0;
    CHECK_OK(cq_session_prepare(&s, m, &options));
    CHECK_OK(cq_session_run_tensors(s, in, n, all, fetch ? 2 : 1));
    cq_session_free(s);
    cq_tensor_release(all[1]);
    *out = all[0];
    return found.n;
}

/* The same numbers as without folding, when nothing is replaced, with that many steps of op. */
static inline void expect_same(const char *text, cq_tensor **in, size_t n, const char *op,
                               int n_steps, const char *fetch)
{
    cq_onnx_model *m = parsed(text);
    cq_tensor     *fast, *plain;

    CHECK_INT(n_steps, run_counting(&fast, m, in, n, 0, op, fetch));
    CHECK_INT(0, run_counting(&plain, m, in, n, CQ_SESSION_NO_FOLDING, op, fetch));
    CHECK_INT(cq_tensor_numel(plain), cq_tensor_numel(fast));
    for (int64_t i = 0; i < cq_tensor_numel(plain); i++) {
        double got = cq_tensor_get_f64(fast, i), want = cq_tensor_get_f64(plain, i);

        CHECK(isnan(want) ? isnan(got) : fabs(got - want) < 1e-5);
    }
    release((cq_tensor *[]){ fast, plain }, 2);
    cq_onnx_model_free(m);
}

#endif
