/* Operators that draw random numbers. With a seed they are the same in every run. Without a seed
 * they depend on the number of the run, so each run of a session draws other numbers. */
#include "runtime/kernels/families.h"

#include "tensor/random.h"

#include <inttypes.h>
#include <string.h>

/* Seeds a separate generator for the node. Nodes without a seed differ by the order in which they
 * draw. */
static void seed(cq_random *r, cq_rt *rt)
{
    const cq_onnx_attribute *a    = cq_rt_attr_given(rt, "seed");
    uint64_t                 bits = 0;

    if (a && a->type == CQ_ONNX_ATTR_INT)
        bits = (uint64_t)a->i;
    else if (a)
        memcpy(&bits, &a->f, sizeof a->f);
    else
        bits = (rt->run->random + 1) << 32;
    cq_random_seed(r, bits + (rt->run->n_draws++ << 40));
}

/* The type in the attribute dtype, or fallback. */
static cq_status output_dtype(cq_dtype *out, const cq_rt *rt, cq_dtype fallback)
{
    *out = fallback;
    if (cq_rt_attr_given(rt, "dtype"))
        return cq_rt_out_dtype(out, rt, "dtype");
    return CQ_OK;
}

enum { NORMAL, UNIFORM };

static cq_status fill(cq_rt *rt, cq_dtype dtype, const cq_rt_sizes *sizes)
{
    cq_random  r;
    cq_tensor *y;

    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, sizes));
    seed(&r, rt);
    if (rt->step->row->arg == NORMAL)
        return cq_random_fill_normal(&r, y, cq_rt_float(rt, "mean"), cq_rt_float(rt, "scale"));
    return cq_random_fill_uniform(&r, y, cq_rt_float(rt, "low"), cq_rt_float(rt, "high"));
}

static cq_status random_of_shape(cq_rt *rt)
{
    cq_rt_sizes sizes;
    cq_rt_ints  shape;
    cq_dtype    dtype;

    CQ_TRY(cq_rt_attr_ints(&shape, rt, "shape"));
    if (shape.n > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a shape has %zu dimensions, at most %d work",
                       shape.n, CQ_MAX_RANK);
    sizes.rank = (uint32_t)shape.n;
    for (size_t i = 0; i < shape.n; i++)
        sizes.at[i] = shape.at[i];
    CQ_TRY(output_dtype(&dtype, rt, CQ_DTYPE_F32));
    return fill(rt, dtype, &sizes);
}

static cq_status random_like(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_dtype         dtype;

    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(output_dtype(&dtype, rt, x->dtype));
    return fill(rt, dtype, &sizes);
}

/* Draws 1 with the probability in x, otherwise 0. */
static cq_status bernoulli(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_tensor       *y, *drawn;
    cq_random        r;
    cq_dtype         dtype;

    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(output_dtype(&dtype, rt, x->dtype));
    CQ_TRY(cq_rt_out_sized(&y, rt, 0, dtype, &sizes));
    CQ_TRY(cq_rt_scratch(&drawn, rt, CQ_DTYPE_F64, sizes.rank, sizes.at));
    seed(&r, rt);
    CQ_TRY(cq_random_fill_uniform(&r, drawn, 0, 1));
    return cq_apply2(y, CQ_EW_LT, NULL, CQ_DTYPE_F64, drawn, x);
}

/* Draws class indices from rows of log probabilities. */
static cq_status multinomial(cq_rt *rt)
{
    const cq_tensor *x    = cq_rt_in(rt, 0);
    int64_t          want = cq_rt_int(rt, "sample_size"), rows, classes;
    cq_tensor       *y, *sums;
    cq_random        r;
    cq_dtype         dtype;
    double          *p;

    CQ_TRY(cq_rt_need_rank(x, "input", 2));
    rows    = cq_size_of(x, 0);
    classes = cq_size_of(x, 1);
    CQ_TRY(cq_rt_out_dtype(&dtype, rt, "dtype"));
    if (want < 0 || (classes == 0 && rows))
        return cq_rt_misfit(x, NULL);
    CQ_TRY(cq_rt_out(&y, rt, 0, dtype, 2, (int64_t[]){ rows, want }));
    CQ_TRY(cq_rt_scratch(&sums, rt, CQ_DTYPE_F64, 2, (int64_t[]){ rows, classes }));
    CQ_TRY(cq_apply1(sums, CQ_EW_EXP, NULL, CQ_DTYPE_F64, x));
    seed(&r, rt);
    p = cq_tensor_data(sums);
    for (int64_t i = 0; i < rows; i++, p += classes) {
        for (int64_t k = 1; k < classes; k++)
            p[k] += p[k - 1];
        for (int64_t k = 0; k < want; k++) {
            double  at   = cq_random_f64(&r) * p[classes - 1];
            int64_t pick = 0;

            while (pick + 1 < classes && p[pick] <= at)
                pick++;
            if (dtype == CQ_DTYPE_I64)
                ((int64_t *)cq_tensor_data(y))[i * want + k] = pick;
            else
                ((int32_t *)cq_tensor_data(y))[i * want + k] = (int32_t)pick;
        }
    }
    return CQ_OK;
}

/* ---- dropout ---- */

/* Returns x unchanged and a mask of ones. */
static cq_status keep_all(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_tensor       *mask;

    CQ_TRY(cq_rt_pass(rt, 0, x));
    if (!cq_rt_wants(rt, 1))
        return CQ_OK;
    cq_rt_sizes_of(&sizes, x);
    /* The mask is bool since version 10. */
    CQ_TRY(cq_rt_out_sized(&mask, rt, 1, rt->step->schema->since < 10 ? x->dtype : CQ_DTYPE_BOOL,
                           &sizes));
    return cq_kernel_fill_i64(mask, 1);
}

static cq_status dropout(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0);
    cq_rt_sizes      sizes;
    cq_tensor       *y, *mask, *factor;
    cq_random        r;
    double           ratio, scale;
    int64_t          training;

    CQ_TRY(cq_rt_in_f64(&ratio, rt, 1, 0.5));
    CQ_TRY(cq_rt_in_i64(&training, rt, 2, 0));
    if (!training || ratio == 0)
        return keep_all(rt);
    if (!(ratio >= 0 && ratio < 1))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a Dropout ratio in [0, 1), got %g", ratio);
    cq_rt_sizes_of(&sizes, x);
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    CQ_TRY(cq_rt_scratch(&mask, rt, CQ_DTYPE_BOOL, sizes.rank, sizes.at));
    seed(&r, rt);
    scale = 1 / (1 - ratio);
    CQ_TRY(cq_random_fill_bernoulli(&r, mask, 1 - ratio));
    CQ_TRY(cq_apply2(y, CQ_EW_MUL, NULL, x->dtype, x, mask));
    CQ_TRY(cq_rt_keep(rt, cq_tensor_new(&factor, CQ_DTYPE_F64, 0, NULL, &scale), &factor));
    CQ_TRY(cq_apply2(y, CQ_EW_MUL, NULL, x->dtype, y, factor));
    return cq_rt_wants(rt, 1) ? cq_rt_pass(rt, 1, mask) : CQ_OK;
}

const cq_rt_row cq_rt_rows_random[] = {
    { "RandomNormal", 1, random_of_shape, CQ_RT_RANDOM, NORMAL },
    { "RandomUniform", 1, random_of_shape, CQ_RT_RANDOM, UNIFORM },
    { "RandomNormalLike", 1, random_like, CQ_RT_RANDOM | CQ_RT_TEXT_IN, NORMAL },
    { "RandomUniformLike", 1, random_like, CQ_RT_RANDOM | CQ_RT_TEXT_IN, UNIFORM },
    { "Bernoulli", 15, bernoulli, CQ_RT_RANDOM, 0 },
    { "Multinomial", 7, multinomial, CQ_RT_RANDOM, 0 },
    { "Dropout", 1, keep_all, 0, 0 },
    { "Dropout", 12, dropout, CQ_RT_RANDOM, 0 },
    { 0 },
};
