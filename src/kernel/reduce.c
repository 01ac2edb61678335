/* Reductions over any set of dimensions.
 *
 * Kept and reduced dimensions are walked separately. If the input is denser along the reduced ones,
 * one output at a time folds runs of input; otherwise a chunk of neighbouring outputs folds its
 * inputs in step, so that memory is read in order either way. Arithmetic is in double or int64.
 * Reductions with two passes (a mean or a maximum first) run both on the chunk. */
#include "kernel/reduce.h"

#include "tensor/convert.h"
#include "tensor/walk.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 512, LANES = 8 };

/* ---- folding ---- */

/* Folds n elements x into one result, or each into its own. c is a number that the first
 * pass found for the result, p the param. */
typedef void f64_run(double *acc, const double *x, double c, double p, int64_t n);
typedef void f64_each(double *acc, const double *x, const double *c, double p, int64_t n);
typedef void i64_run(int64_t *acc, const int64_t *x, int64_t c, double p, int64_t n);
typedef void i64_each(int64_t *acc, const int64_t *x, const int64_t *c, double p, int64_t n);

/* b is made from x (and c, p), then joined to the result a. Eight lanes keep both rounding
 * errors and dependency chains short. */
#define FOLD(name, T, identity, from_x, join)                                                      \
    static void name##_run(T *acc, const T *xs, T c, double p, int64_t n)                          \
    {                                                                                              \
        T       lane[LANES];                                                                       \
        int64_t i = 0;                                                                             \
                                                                                                   \
        (void)c, (void)p;                                                                          \
        for (int k = 0; k < LANES; k++)                                                            \
            lane[k] = identity;                                                                    \
        for (; i + LANES <= n; i += LANES)                                                         \
            for (int k = 0; k < LANES; k++) {                                                      \
                const T x = xs[i + k], b = from_x, a = lane[k];                                    \
                lane[k] = join;                                                                    \
            }                                                                                      \
        for (; i < n; i++) {                                                                       \
            const T x = xs[i], b = from_x, a = lane[0];                                            \
            lane[0] = join;                                                                        \
        }                                                                                          \
        for (int k = 0; k < LANES; k++) {                                                          \
            const T b = lane[k], a = *acc;                                                         \
            *acc = join;                                                                           \
        }                                                                                          \
    }                                                                                              \
    static void name##_each(T *acc, const T *xs, const T *cs, double p, int64_t n)                 \
    {                                                                                              \
        (void)p;                                                                                   \
        for (int64_t i = 0; i < n; i++) {                                                          \
            const T x = xs[i], c = cs[i], b = from_x, a = acc[i];                                  \
            (void)c;                                                                               \
            acc[i] = join;                                                                         \
        }                                                                                          \
    }

#define GREATER (a > b || a != a ? a : b)
#define LESSER  (a < b || a != a ? a : b)

FOLD(sum, double, 0, x, a + b)
FOLD(prod, double, 1, x, a *b)
FOLD(amax, double, -INFINITY, x, GREATER)
FOLD(amin, double, INFINITY, x, LESSER)
FOLD(any, double, 0, x != 0, GREATER)
FOLD(all, double, 1, x != 0, LESSER)
FOLD(count, double, 0, x != 0, a + b)
FOLD(sum_abs, double, 0, fabs(x), a + b)
FOLD(sum_square, double, 0, x *x, a + b)
FOLD(sum_power, double, 0, pow(fabs(x), p), a + b)
FOLD(max_abs, double, 0, fabs(x), GREATER)
FOLD(min_abs, double, INFINITY, fabs(x), LESSER)
FOLD(sum_deviation, double, 0, (x - c) * (x - c), a + b)
FOLD(sum_exp, double, 0, exp(x - c), a + b)

FOLD(sum_i64, int64_t, 0, x, (int64_t)((uint64_t)a + (uint64_t)b))
FOLD(prod_i64, int64_t, 1, x, (int64_t)((uint64_t)a *(uint64_t)b))
FOLD(amax_i64, int64_t, INT64_MIN, x, (a > b ? a : b))
FOLD(amin_i64, int64_t, INT64_MAX, x, (a < b ? a : b))
FOLD(any_i64, int64_t, 0, x != 0, a | b)
FOLD(all_i64, int64_t, 1, x != 0, a &b)
FOLD(count_i64, int64_t, 0, x != 0, a + b)

typedef struct f64_fold {
    double    identity;
    f64_run  *run;
    f64_each *each;
} f64_fold;

typedef struct i64_fold {
    int64_t   identity;
    i64_run  *run;
    i64_each *each;
} i64_fold;

#define F64(name, identity)                                                                        \
    {                                                                                              \
        identity, name##_run, name##_each                                                          \
    }
#define I64(name, identity)                                                                        \
    {                                                                                              \
        identity, name##_i64_run, name##_i64_each                                                  \
    }

/* ---- rows ---- */

/* From the fold of n elements to the result; c is the result of the first pass, p the param. */
typedef double finish_fn(double acc, double c, double n, double p);

static double finish_mean(double acc, double c, double n, double p)
{
    (void)c, (void)p;
    return acc / n;
}

static double finish_var(double acc, double c, double n, double p)
{
    (void)c;
    return acc / (n > p ? n - p : 0);
}

static double finish_std(double acc, double c, double n, double p)
{
    return sqrt(finish_var(acc, c, n, p));
}

/* A maximum that is infinite must not make inf - inf. */
static double finish_max(double acc, double c, double n, double p)
{
    (void)c, (void)n, (void)p;
    return isinf(acc) ? 0 : acc;
}

static double finish_logsumexp(double acc, double c, double n, double p)
{
    (void)n, (void)p;
    return log(acc) + c;
}

static double finish_log(double acc, double c, double n, double p)
{
    (void)c, (void)n, (void)p;
    return log(acc);
}

static double finish_sqrt(double acc, double c, double n, double p)
{
    (void)c, (void)n, (void)p;
    return sqrt(acc);
}

static double finish_root(double acc, double c, double n, double p)
{
    (void)c, (void)n;
    return pow(acc, 1 / p);
}

typedef struct row {
    const char *name;
    f64_fold    first; /* optional first pass over the same elements */
    finish_fn  *first_finish;
    f64_fold    fold;
    finish_fn  *finish; /* NULL: the fold is the result */
    i64_fold    i64;    /* if empty, integers are computed in double */
    bool narrow; /* the fold overflows in float32, as PyTorch's does, unless out is float64 */
    bool needs_elements;
} row;

static const row rows[] = {
    [CQ_REDUCE_SUM]           = { .name = "sum", .fold = F64(sum, 0), .i64 = I64(sum, 0) },
    [CQ_REDUCE_PROD]          = { .name = "prod", .fold = F64(prod, 1), .i64 = I64(prod, 1) },
    [CQ_REDUCE_MEAN]          = { .name = "mean", .fold = F64(sum, 0), .finish = finish_mean },
    [CQ_REDUCE_AMAX]          = { .name           = "amax",
                                  .fold           = F64(amax, -INFINITY),
                                  .i64            = I64(amax, INT64_MIN),
                                  .needs_elements = true },
    [CQ_REDUCE_AMIN]          = { .name           = "amin",
                                  .fold           = F64(amin, INFINITY),
                                  .i64            = I64(amin, INT64_MAX),
                                  .needs_elements = true },
    [CQ_REDUCE_ANY]           = { .name = "any", .fold = F64(any, 0), .i64 = I64(any, 0) },
    [CQ_REDUCE_ALL]           = { .name = "all", .fold = F64(all, 1), .i64 = I64(all, 1) },
    [CQ_REDUCE_COUNT_NONZERO] = { .name = "count_nonzero",
                                  .fold = F64(count, 0),
                                  .i64  = I64(count, 0) },
    [CQ_REDUCE_VAR]           = { .name         = "var",
                                  .first        = F64(sum, 0),
                                  .first_finish = finish_mean,
                                  .fold         = F64(sum_deviation, 0),
                                  .finish       = finish_var },
    [CQ_REDUCE_STD]           = { .name         = "std",
                                  .first        = F64(sum, 0),
                                  .first_finish = finish_mean,
                                  .fold         = F64(sum_deviation, 0),
                                  .finish       = finish_std },
    [CQ_REDUCE_LOGSUMEXP]     = { .name         = "logsumexp",
                                  .first        = F64(amax, -INFINITY),
                                  .first_finish = finish_max,
                                  .fold         = F64(sum_exp, 0),
                                  .finish       = finish_logsumexp },
    [CQ_REDUCE_LOG_SUM]       = { .name = "log_sum", .fold = F64(sum, 0), .finish = finish_log },
    [CQ_REDUCE_SUM_SQUARE]    = { .name = "sum_square", .fold = F64(sum_square, 0) },
    [CQ_REDUCE_NORM]          = { .name   = "norm",
                                  .fold   = F64(sum_power, 0),
                                  .finish = finish_root,
                                  .narrow = true },
};

/* Orders of a norm that need no powers and roots. */
static const struct {
    double order;
    row    row;
} norms[] = {
    { 0, { .name = "norm", .fold = F64(count, 0) } },
    { 1, { .name = "norm", .fold = F64(sum_abs, 0) } },
    { 2, { .name = "norm", .fold = F64(sum_square, 0), .finish = finish_sqrt, .narrow = true } },
    { INFINITY, { .name = "norm", .fold = F64(max_abs, 0) } },
    { -INFINITY, { .name = "norm", .fold = F64(min_abs, INFINITY) } },
};

static const row *find_row(cq_reduce_op op, const cq_params *params)
{
    if (op == CQ_REDUCE_NORM)
        for (size_t i = 0; i < sizeof norms / sizeof *norms; i++)
            if (norms[i].order == params->a)
                return &norms[i].row;
    return &rows[op];
}

/* ---- the walk ---- */

enum { OF_X, OF_OUT }; /* operands of the walk over kept dimensions */

typedef struct job {
    const row  *row;
    bool        in_f64;
    double      p;
    cq_dtype    dtype, out_dtype;
    cq_load_fn *load;
    int64_t     dense; /* step at which x needs no conversion; 0: never */
    cq_walk     kept, reduced;
    bool        any; /* there is something to reduce */
    double      n;   /* elements per result */
    union {
        double  f64[CHUNK];
        int64_t i64[CHUNK];
    } x, acc, c;
} job;

static const void *fetch(job *j, const char *at, int64_t step, int64_t n)
{
    if (step == j->dense && step)
        return at;
    j->load(&j->x, at, step, n);
    return &j->x;
}

/* Folds all elements of m results that begin at base and lie step apart. */
#define GATHER(T)                                                                                  \
    static void gather_##T(job *j, const T##_fold *f, char *base, int64_t step, int64_t m)         \
    {                                                                                              \
        cq_walk *w = &j->reduced;                                                                  \
                                                                                                   \
        for (int64_t i = 0; i < m; i++)                                                            \
            j->acc.T[i] = f->identity;                                                             \
        w->at[0] = base; /* where a finished walk has returned to */                               \
        for (bool more = j->any; more; more = cq_walk_next(w)) {                                   \
            if (m == 1) {                                                                          \
                for (int64_t i = 0; i < w->n; i += CHUNK) {                                        \
                    int64_t     n = w->n - i < CHUNK ? w->n - i : CHUNK;                           \
                    const void *x = fetch(j, w->at[0] + i * w->step[0], w->step[0], n);            \
                                                                                                   \
                    f->run(j->acc.T, x, j->c.T[0], j->p, n);                                       \
                }                                                                                  \
            } else {                                                                               \
                for (int64_t i = 0; i < w->n; i++)                                                 \
                    f->each(j->acc.T, fetch(j, w->at[0] + i * w->step[0], step, m), j->c.T, j->p,  \
                            m);                                                                    \
            }                                                                                      \
        }                                                                                          \
    }
GATHER(f64)
GATHER(i64)

/* Writes m results to out. */
static void compute(job *j, char *base, int64_t step, char *out, int64_t out_step, int64_t m)
{
    const row *r = j->row;

    if (!j->in_f64) {
        gather_i64(j, &r->i64, base, step, m);
    } else {
        if (r->first.run) {
            gather_f64(j, &r->first, base, step, m);
            for (int64_t i = 0; i < m; i++)
                j->c.f64[i] = r->first_finish(j->acc.f64[i], 0, j->n, j->p);
        }
        gather_f64(j, &r->fold, base, step, m);
        for (int64_t i = 0; r->narrow && j->out_dtype != CQ_DTYPE_F64 && i < m; i++)
            j->acc.f64[i] = (float)j->acc.f64[i];
        for (int64_t i = 0; r->finish && i < m; i++)
            j->acc.f64[i] = r->finish(j->acc.f64[i], j->c.f64[i], j->n, j->p);
    }
    cq_convert_run(out, j->out_dtype, out_step, (char *)&j->acc,
                   j->in_f64 ? CQ_DTYPE_F64 : CQ_DTYPE_I64, 8, m);
}

static cq_status misfit(const cq_tensor *out, const cq_tensor *x)
{
    char a[CQ_DESCRIBE_SIZE], b[CQ_DESCRIBE_SIZE];

    return cq_fail(CQ_E_TYPE, NULL, NULL, "a reduction of %s cannot be stored as %s",
                   cq_tensor_describe(out, a, sizeof a), cq_tensor_describe(x, b, sizeof b));
}

/* Splits x's dimensions and pairs the kept ones with out's. */
static cq_status split(job *j, const cq_tensor *out, const cq_tensor *x, uint64_t dims)
{
    cq_int  kept[CQ_MAX_RANK], reduced[CQ_MAX_RANK];
    int64_t kept_x[CQ_MAX_RANK], kept_out[CQ_MAX_RANK], reduced_x[CQ_MAX_RANK];
    int64_t x_size   = (int64_t)cq_dtype_size(x->dtype),
            out_size = (int64_t)cq_dtype_size(out->dtype);
    uint32_t n_kept = 0, n_reduced = 0, o = 0;
    bool     keepdim = out->rank == x->rank;

    j->n = 1;
    for (uint32_t i = 0; i < x->rank; i++) {
        if (dims >> i & 1) {
            reduced[n_reduced]     = x->sizes[i];
            reduced_x[n_reduced++] = x->strides[i] * x_size;
            j->n *= (double)x->sizes[i].value;
            if (keepdim && out->sizes[o++].value != 1)
                return misfit(out, x);
        } else {
            if (o >= out->rank || out->sizes[o].value != x->sizes[i].value)
                return misfit(out, x);
            kept[n_kept]       = x->sizes[i];
            kept_x[n_kept]     = x->strides[i] * x_size;
            kept_out[n_kept++] = out->strides[o++] * out_size;
        }
    }
    if (o != out->rank)
        return misfit(out, x);
    cq_walk_init(&j->kept, n_kept, kept);
    cq_walk_add_bytes(&j->kept, cq_tensor_bytes(x), kept_x);
    cq_walk_add_bytes(&j->kept, cq_tensor_bytes(out), kept_out);
    cq_walk_init(&j->reduced, n_reduced, reduced);
    cq_walk_add_bytes(&j->reduced, cq_tensor_bytes(x), reduced_x);
    return CQ_OK;
}

static cq_status check_dtypes(const cq_tensor *out, const row *r, const cq_tensor *x)
{
    if (cq_dtype_is_complex(x->dtype) || cq_dtype_is_complex(out->dtype) ||
        (x->dtype == CQ_DTYPE_U64 && r->needs_elements))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "'%s' is not implemented for %s", r->name,
                       cq_dtype_name(x->dtype));
    return CQ_OK;
}

cq_status cq_kernel_reduce(cq_tensor *out, cq_reduce_op op, const cq_params *params,
                           const cq_tensor *x, uint64_t dims)
{
    static const cq_params ones = { .a = 1 };
    job                    j;

    params = params ? params : &ones;
    j.row  = find_row(op, params);
    CQ_TRY(check_dtypes(out, j.row, x));
    CQ_TRY(split(&j, out, x, dims));
    j.p         = params->a;
    j.dtype     = x->dtype;
    j.out_dtype = out->dtype;
    j.in_f64    = !j.row->i64.run || cq_dtype_is_float(x->dtype) || cq_dtype_is_float(out->dtype);
    j.load      = cq_load_of(x->dtype, j.in_f64 ? CQ_WIDE_F64 : CQ_WIDE_I64);
    j.dense     = x->dtype == (j.in_f64 ? CQ_DTYPE_F64 : CQ_DTYPE_I64) &&
                      (uintptr_t)cq_tensor_bytes(x) % 8 == 0
                      ? 8
                      : 0;
    memset(&j.c, 0, sizeof j.c);
    j.any = cq_walk_start(&j.reduced, CQ_ANY_ORDER);
    if (!cq_walk_start(&j.kept, CQ_ANY_ORDER))
        return CQ_OK;
    if (!j.any && j.row->needs_elements)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "'%s' of an empty tensor is undefined",
                       j.row->name);
    do {
        int64_t step = j.kept.step[OF_X];
        bool    apart =
            !j.any || j.kept.n == 1 || (j.reduced.n > 1 && llabs(j.reduced.step[0]) <= llabs(step));
        int64_t width = apart ? 1 : CHUNK;

        for (int64_t i = 0; i < j.kept.n; i += width)
            compute(&j, j.kept.at[OF_X] + i * step, step,
                    j.kept.at[OF_OUT] + i * j.kept.step[OF_OUT], j.kept.step[OF_OUT],
                    j.kept.n - i < width ? j.kept.n - i : width);
    } while (cq_walk_next(&j.kept));
    return CQ_OK;
}
