/* Random numbers. Four operators draw from the context's generator; the others are composed of
 * them. The same seed gives the same numbers on every machine; they differ from PyTorch's. */
#include "aten/ops/elementwise.h"
#include "tensor/random.h"

#include <math.h>

/* The context's generator, created on first use; NULL after a failure. */
static cq_random *generator(cq_opcall *c)
{
    if (!c->cx->random) {
        c->cx->random = cq_zalloc(sizeof *c->cx->random);
        if (!c->cx->random)
            cq_ctx_fail(c->cx, CQ_E_NO_MEMORY);
        else
            cq_random_seed(c->cx->random, c->cx->seed);
    }
    return c->cx->random;
}

/* ---- drawn ---- */

static cq_status real_shape(cq_opcall *c)
{
    cq_dtype dtype = cq_arg_dtype(c, "dtype", cq_default_float(c->cx->default_float));

    if (!cq_dtype_is_float(dtype))
        return cq_call_fail(c, CQ_E_TYPE, "expected a floating-point dtype, got %s",
                            cq_dtype_name(dtype));
    return cq_shape_of_size(c, cq_default_float(c->cx->default_float));
}

static cq_status rand_run(cq_opcall *c)
{
    cq_random *r = generator(c);

    return r ? cq_random_fill_uniform(r, cq_result_tensor(c, 0), 0, 1) : c->cx->status;
}

static cq_status randn_run(cq_opcall *c)
{
    cq_random *r = generator(c);

    return r ? cq_random_fill_normal(r, cq_result_tensor(c, 0), 0, 1) : c->cx->status;
}

static int64_t lowest(const cq_opcall *c)
{
    return cq_schema_find(c->op->schema, "low") >= 0 ? cq_arg_i64(c, "low") : 0;
}

static cq_status randint_shape(cq_opcall *c)
{
    if (lowest(c) >= cq_arg_i64(c, "high"))
        return cq_call_fail(c, CQ_E_ARGUMENT, "no integer in the range [%lld, %lld)",
                            (long long)lowest(c), (long long)cq_arg_i64(c, "high"));
    return cq_shape_of_size(c, CQ_DTYPE_I64);
}

static cq_status randint_run(cq_opcall *c)
{
    cq_random *r = generator(c);

    if (!r)
        return c->cx->status;
    return cq_random_fill_integers(r, cq_result_tensor(c, 0), lowest(c), cq_arg_i64(c, "high"));
}

static cq_status randperm_shape(cq_opcall *c)
{
    cq_int n = cq_arg_int(c, "n");

    if (n.value < 0)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected n of at least 0, got %lld",
                            (long long)n.value);
    return cq_result(c, 0, cq_arg_dtype(c, "dtype", CQ_DTYPE_I64), 1, &n);
}

static cq_status randperm_run(cq_opcall *c)
{
    cq_random *r   = generator(c);
    cq_tensor *out = cq_result_tensor(c, 0), *whole;
    cq_status  status;

    if (!r)
        return c->cx->status;
    CQ_TRY(cq_tensor_new_uninit(&whole, CQ_DTYPE_I64, 1, &out->sizes[0].value));
    cq_random_permutation(r, cq_tensor_data(whole), out->sizes[0].value);
    status = cq_tensor_copy_into(out, whole);
    cq_tensor_release(whole);
    return status;
}

/* ---- multinomial ---- */

static cq_status multinomial_shape(cq_opcall *c)
{
    cq_tensor *p = c->args[0].u.tensor;
    cq_int     sizes[2], n = cq_arg_int(c, "num_samples");

    if (p->rank < 1 || p->rank > 2 || !cq_dtype_is_float(p->dtype))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "expected floating-point weights of 1 or 2 dimensions");
    if (n.value <= 0 || (!cq_arg_bool(c, "replacement") && n.value > p->sizes[p->rank - 1].value))
        return cq_call_fail(c, CQ_E_ARGUMENT, "cannot draw %lld samples from %lld weights",
                            (long long)n.value, (long long)p->sizes[p->rank - 1].value);
    sizes[0]           = p->sizes[0];
    sizes[p->rank - 1] = n;
    return cq_result(c, 0, CQ_DTYPE_I64, p->rank, sizes);
}

static int64_t draw_weighted(cq_random *r, const double *weights, int64_t n)
{
    double  total = 0, left;
    int64_t last  = -1;

    for (int64_t i = 0; i < n; i++)
        total += weights[i];
    left = cq_random_f64(r) * total;
    for (int64_t i = 0; i < n; i++) {
        if (weights[i] <= 0)
            continue;
        last = i;
        if (left < weights[i])
            break;
        left -= weights[i];
    }
    return last;
}

static cq_status draw_row(cq_opcall *c, double *weights, int64_t n, int64_t *out, int64_t n_draws)
{
    bool again = cq_arg_bool(c, "replacement");

    for (int64_t i = 0; i < n; i++)
        if (!(weights[i] >= 0) || isinf(weights[i]))
            return cq_call_fail(c, CQ_E_ARGUMENT, "expected finite weights of at least 0, got %g",
                                weights[i]);
    for (int64_t k = 0; k < n_draws; k++) {
        out[k] = draw_weighted(c->cx->random, weights, n);
        if (out[k] < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "fewer positive weights than samples");
        if (!again)
            weights[out[k]] = 0;
    }
    return CQ_OK;
}

static cq_status multinomial_run(cq_opcall *c)
{
    cq_tensor *out     = cq_result_tensor(c, 0), *p;
    int64_t    n       = out->rank ? cq_tensor_size(c->args[0].u.tensor, out->rank - 1) : 0;
    int64_t    n_draws = cq_arg_i64(c, "num_samples");
    int64_t    rows    = out->rank == 2 ? cq_tensor_size(out, 0) : 1;
    cq_status  status  = CQ_OK;

    if (!generator(c))
        return c->cx->status;
    CQ_TRY(cq_tensor_clone(&p, c->args[0].u.tensor, CQ_DTYPE_F64));
    for (int64_t i = 0; i < rows && status == CQ_OK; i++)
        status = draw_row(c, (double *)cq_tensor_data(p) + i * n, n,
                          (int64_t *)cq_tensor_data(out) + i * n_draws, n_draws);
    cq_tensor_release(p);
    return status;
}

/* ---- composed operators ---- */

#define OPTIONS                                                                                    \
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define OPTIONS_INT                                                                                \
    "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define DRAWN(text_of_schema, shape_rule, kernel, text)                                            \
    {                                                                                              \
        .schema = "aten::" text_of_schema ") -> Tensor", .about = text, .shape = shape_rule,       \
        .run = kernel, .flags = CQ_OP_RANDOM                                                       \
    }

const cq_op_def cq_ops_random[] = {
    DRAWN("rand(int[] size, *, " OPTIONS, real_shape, rand_run,
          "random uniform numbers from 0 to 1"),
    DRAWN("randn(int[] size, *, " OPTIONS, real_shape, randn_run, "random normal numbers"),
    DRAWN("randint(int high, int[] size, *, " OPTIONS_INT, randint_shape, randint_run,
          "random integers below high"),
    DRAWN("randint.low(int low, int high, int[] size, *, " OPTIONS_INT, randint_shape, randint_run,
          "random integers from low to below high"),
    DRAWN("randperm(int n, *, " OPTIONS_INT, randperm_shape, randperm_run,
          "a random permutation of 0 … n - 1"),
    DRAWN("multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? "
          "generator=None",
          multinomial_shape, multinomial_run,
          "random indices with probabilities proportional to weights"),
    { 0 },
};
