/* Random numbers. Four operators draw them from the context's generator; the others are
 * made of those. They are the same on every machine for the same seed, and not PyTorch's. */
#include "aten/elementwise.h"
#include "tensor/random.h"

#include <math.h>

/* The context's generator, made when first needed; NULL after a failure. */
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
    cq_dtype dtype = cq_arg_dtype(c, "dtype", cq_default_float());

    if (!cq_dtype_is_float(dtype))
        return cq_call_fail(c, CQ_E_TYPE, "draws floats, not %s", cq_dtype_name(dtype));
    return cq_shape_of_size(c, cq_default_float());
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
        return cq_call_fail(c, CQ_E_ARGUMENT, "there is no integer from %lld up to below %lld",
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
        return cq_call_fail(c, CQ_E_ARGUMENT, "n is %lld, which is below 0", (long long)n.value);
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

/* ---- drawn by weight ---- */

static cq_status multinomial_shape(cq_opcall *c)
{
    cq_tensor *p = c->args[0].u.tensor;
    cq_int     sizes[2], n = cq_arg_int(c, "num_samples");

    if (p->rank < 1 || p->rank > 2 || !cq_dtype_is_float(p->dtype))
        return cq_call_fail(c, CQ_E_ARGUMENT, "weights are floats of 1 or 2 dimensions");
    if (n.value <= 0 || (!cq_arg_bool(c, "replacement") && n.value > p->sizes[p->rank - 1].value))
        return cq_call_fail(c, CQ_E_ARGUMENT, "%lld of %lld cannot be drawn", (long long)n.value,
                            (long long)p->sizes[p->rank - 1].value);
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
            return cq_call_fail(c, CQ_E_ARGUMENT, "weight %g is not 0 or more", weights[i]);
    for (int64_t k = 0; k < n_draws; k++) {
        out[k] = draw_weighted(c->cx->random, weights, n);
        if (out[k] < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "too few weights are above 0");
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

/* ---- made of those ---- */

#define OPTIONS                                                                                    \
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define OPTIONS_INT                                                                                \
    "ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None"
#define FORMAT ", MemoryFormat? memory_format=None"
#define DRAWN(text_of_schema, shape_rule, kernel, text)                                            \
    {                                                                                              \
        .schema = "aten::" text_of_schema ") -> Tensor", .about = text, .shape = shape_rule,       \
        .run = kernel, .flags = CQ_OP_RANDOM                                                       \
    }
/* Composed ones show their parts: those know how to be exported. */
#define MADE(text_of_schema, code, text)                                                           \
    {                                                                                              \
        .schema = "aten::" text_of_schema ") -> Tensor", .about = text, .body = code,              \
        .flags = CQ_OP_RANDOM | CQ_OP_PARTS                                                        \
    }

const cq_op_def cq_ops_random[] = {
    DRAWN("rand(int[] size, *, " OPTIONS, real_shape, rand_run, "uniform numbers from 0 to 1"),
    DRAWN("randn(int[] size, *, " OPTIONS, real_shape, randn_run, "normal numbers"),
    DRAWN("randint(int high, int[] size, *, " OPTIONS_INT, randint_shape, randint_run,
          "integers below high"),
    DRAWN("randint.low(int low, int high, int[] size, *, " OPTIONS_INT, randint_shape, randint_run,
          "integers from low to below high"),
    DRAWN("randperm(int n, *, " OPTIONS_INT, randperm_shape, randperm_run, "0 … n - 1, shuffled"),
    DRAWN("multinomial(Tensor self, int num_samples, bool replacement=False, *, Generator? "
          "generator=None",
          multinomial_shape, multinomial_run, "positions, as likely as their weights"),
    MADE("rand_like(Tensor self, *, " OPTIONS FORMAT,
         "rand(self.shape, dtype=self.dtype if dtype is None else dtype)",
         "uniform numbers from 0 to 1"),
    MADE("randn_like(Tensor self, *, " OPTIONS FORMAT,
         "randn(self.shape, dtype=self.dtype if dtype is None else dtype)", "normal numbers"),
    MADE("randint_like(Tensor self, int high, *, " OPTIONS FORMAT,
         "randint(0, high, self.shape, dtype=self.dtype if dtype is None else dtype)",
         "integers below high"),
    MADE("randint_like.low_dtype(Tensor self, int low, int high, *, " OPTIONS FORMAT,
         "randint(low, high, self.shape, dtype=self.dtype if dtype is None else dtype)",
         "integers from low to below high"),
    MADE("uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None",
         "assert from <= to, 'from is {from}, which is above {to}'\n"
         "return shifted(scaled(rand_like(self), to - from), from)",
         "uniform numbers"),
    MADE("normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None",
         "assert std >= 0, 'std is {std}, which is below 0'\n"
         "return shifted(scaled(randn_like(self), std), mean)",
         "normal numbers"),
    MADE("normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None",
         "assert std >= 0, 'std is {std}, which is below 0'\n"
         "return randn_like(mean) * std + mean",
         "normal numbers"),
    MADE("normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None",
         "randn_like(std) * std + mean", "normal numbers"),
    MADE("normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None",
         "randn_like(mean + std) * std + mean", "normal numbers"),
    MADE("normal.float_float(float mean, float std, int[] size, *, Generator? "
         "generator=None, " OPTIONS,
         "assert std >= 0, 'std is {std}, which is below 0'\n"
         "return randn(size, dtype=dtype) * std + mean",
         "normal numbers"),
    MADE("bernoulli(Tensor self, *, Generator? generator=None",
         "(rand_like(self, dtype=torch.float32) < self).to(self.dtype)", "1 as often as self says"),
    MADE("bernoulli.p(Tensor self, float p, *, Generator? generator=None",
         "assert p >= 0 and p <= 1, 'p is {p}, not between 0 and 1'\n"
         "return (rand_like(self, dtype=torch.float32) < p).to(self.dtype)",
         "1 as often as p says"),
    MADE("bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None",
         "(rand_like(self, dtype=torch.float32) < p).to(self.dtype)", "1 as often as p says"),
    MADE("exponential(Tensor self, float lambd=1., *, Generator? generator=None",
         "assert lambd >= 0, 'lambd is {lambd}, which is below 0'\n"
         "return (rand_like(self) * -1. + 1.).log() * (-1 / lambd)",
         "numbers of the exponential distribution"),
    MADE("log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None",
         "normal_functional(self, mean, std).exp()", "exponentials of normal numbers"),
    MADE("cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None",
         "((rand_like(self) - 0.5) * math.pi).tan() * sigma + median",
         "numbers of the Cauchy distribution"),
    MADE("geometric(Tensor self, float p, *, Generator? generator=None",
         "assert p > 0 and p < 1, 'p is {p}, not between 0 and 1'\n"
         "u = rand(self.shape) * -1. + 1.\n"
         "return (u.log() / math.log(1 - p)).ceil().clamp(min=1).to(self.dtype)",
         "how often to try for the first success"),
    /* Marsaglia and Tsang: a power of a normal number, which is taken at least 19 times of 20.
     * ONNX has no loop for each element, so that eight are drawn and the first good one counts.
     * Shapes below 1 are those above, made smaller. */
    MADE("_standard_gamma(Tensor self, Generator? generator=None",
         "a = in_float32(self)\n"
         "d = where(a < 1, a + 1, a) - 1 / 3\n"
         "x = randn([8] + a.shape, dtype=a.dtype)\n"
         "v = (x / (d * 9).sqrt() + 1) ** 3\n"
         "bound = x * x * 0.5 + d * (v.log() - v + 1)\n"
         "y = d * first_good(v, rand([8] + a.shape, dtype=a.dtype).log() < bound)\n"
         "y = where(a < 1, y * rand_like(a) ** (1 / a), y)\n"
         "return y.clamp(min=1.1754944e-38).to(self.dtype)",
         "numbers of the gamma distribution"),
    MADE("_sample_dirichlet(Tensor self, Generator? generator=None",
         "y = _standard_gamma(self)\n"
         "return y / y.sum([-1], True)",
         "numbers of the Dirichlet distribution"),
    /* Small means by how often the distribution stays below a uniform number, large ones by
     * Hörmann's transformed rejection (PTRS), in doubles because its terms cancel. */
    MADE("poisson(Tensor self, Generator? generator=None",
         "m = self.to(torch.float64)\n"
         "return where(m < 12, poisson_below(m.clamp(1e-30, 12)), poisson_above(m.clamp(min=12)))"
         ".to(self.dtype)",
         "numbers of the Poisson distribution"),
    MADE("random.from(Tensor self, int from, int? to, *, Generator? generator=None",
         "randint_like(self, from, past_all(self.dtype) if to is None else to)", "integers"),
    MADE("random.to(Tensor self, int to, *, Generator? generator=None", "randint_like(self, 0, to)",
         "integers"),
    MADE("random(Tensor self, *, Generator? generator=None",
         "randint_like(self, 0, past_all(self.dtype))", "integers"),
    { 0 }
};
