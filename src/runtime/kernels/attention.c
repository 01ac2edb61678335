/* Attention and rotary embeddings. The whole matrix of scores is kept in memory only if it is an
 * output or the type is not float32. */
#include "runtime/kernels/attention.h"
#include "runtime/kernels/families.h"
#include "runtime/kernels/join.h"
#include "runtime/kernels/map.h"

#include "kernel/matrix/matmul.h"
#include "kernel/reduce.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- heads ---- */

/* Reshapes t to [batch, heads, length, width]; a t of rank 3 is [batch, length, heads * width]. */
static cq_status split_heads(cq_tensor **out, cq_rt *rt, const cq_tensor *t, int64_t heads)
{
    static const uint32_t swapped[] = { 0, 2, 1, 3 };
    cq_rt_sizes           sizes     = { .rank = 4 };
    cq_tensor            *split;
    cq_status             status;

    *out = NULL;
    if (t->rank == 4) {
        *out = cq_tensor_retain((cq_tensor *)t);
        return CQ_OK;
    }
    if (t->rank != 3 || heads < 1 || cq_size_of(t, 2) % heads)
        return cq_rt_misfit(t, NULL);
    sizes.at[0] = cq_size_of(t, 0);
    sizes.at[1] = cq_size_of(t, 1);
    sizes.at[2] = heads;
    sizes.at[3] = cq_size_of(t, 2) / heads;
    CQ_TRY(cq_rt_reshape(&split, rt, t, &sizes));
    status = cq_rt_permute(out, split, swapped);
    cq_tensor_release(split);
    return status;
}

/* The inverse: writes [batch, heads, length, width] to an output of rank 3 or 4. */
static cq_status set_joined(cq_rt *rt, size_t i, const cq_tensor *t, cq_dtype dtype, uint32_t rank)
{
    static const uint32_t swapped[] = { 0, 2, 1, 3 };
    cq_rt_sizes           sizes;
    cq_tensor            *y, *split = NULL, *seen = NULL;
    cq_status             status;

    cq_rt_sizes_of(&sizes, t);
    if (rank == 4) {
        CQ_TRY(cq_rt_out_sized(&y, rt, i, dtype, &sizes));
        return cq_tensor_copy_into(y, t);
    }
    CQ_TRY(cq_rt_out(&y, rt, i, dtype, 3,
                     (int64_t[]){ sizes.at[0], sizes.at[2], sizes.at[1] * sizes.at[3] }));
    CQ_TRY_OR_DONE(
        cq_rt_reshape(&split, rt, y,
                      &(cq_rt_sizes){ 4, { sizes.at[0], sizes.at[2], sizes.at[1], sizes.at[3] } }));
    CQ_TRY_OR_DONE(cq_rt_permute(&seen, split, swapped));
    status = cq_tensor_copy_into(seen, t); /* an empty y is not a view: there is nothing to copy */
done:
    cq_tensor_release(split);
    cq_tensor_release(seen);
    return status;
}

/* ---- attention ---- */

typedef struct attention {
    cq_tensor *q, *k, *v; /* [batch, heads, length, width]; k and v include the cache */
    int64_t    past;      /* number of cached keys */
    int64_t    batch, heads, kv_heads, queries, keys;
    cq_dtype   compute;
    cq_tensor *scores; /* [batch, kv_heads, heads / kv_heads, queries, keys] */
} attention;

static void attention_clear(attention *a)
{
    cq_tensor_release(a->q);
    cq_tensor_release(a->k);
    cq_tensor_release(a->v);
    cq_tensor_release(a->scores);
}

/* Appends *io to the cache in input i. */
static cq_status put_behind(cq_tensor **io, cq_rt *rt, size_t i, int64_t *past)
{
    const cq_tensor *before = cq_rt_in(rt, i);
    cq_tensor       *whole;

    if (!before)
        return CQ_OK;
    CQ_TRY(cq_rt_need_rank(before, "the past", 4));
    CQ_TRY(
        cq_rt_join(&whole, rt,
                   (const cq_val[]){ cq_val_of_tensor((cq_tensor *)before), cq_val_of_tensor(*io) },
                   2, 2, false));
    *past = cq_size_of(before, 2);
    cq_tensor_release(*io);
    *io = whole;
    return CQ_OK;
}

static cq_status read_heads(attention *a, cq_rt *rt)
{
    int64_t past = 0;

    CQ_TRY(split_heads(&a->q, rt, cq_rt_in(rt, 0), cq_rt_int(rt, "q_num_heads")));
    CQ_TRY(split_heads(&a->k, rt, cq_rt_in(rt, 1), cq_rt_int(rt, "kv_num_heads")));
    CQ_TRY(split_heads(&a->v, rt, cq_rt_in(rt, 2), cq_rt_int(rt, "kv_num_heads")));
    CQ_TRY(put_behind(&a->k, rt, 4, &a->past));
    CQ_TRY(put_behind(&a->v, rt, 5, &past));
    a->batch    = cq_size_of(a->q, 0);
    a->heads    = cq_size_of(a->q, 1);
    a->kv_heads = cq_size_of(a->k, 1);
    a->queries  = cq_size_of(a->q, 2);
    a->keys     = cq_size_of(a->k, 2);
    if (a->kv_heads < 1 || a->heads % a->kv_heads || cq_size_of(a->k, 0) != a->batch ||
        cq_size_of(a->k, 3) != cq_size_of(a->q, 3))
        return cq_rt_misfit(a->q, a->k);
    if (cq_size_of(a->v, 0) != a->batch || cq_size_of(a->v, 1) != a->kv_heads ||
        cq_size_of(a->v, 2) != a->keys)
        return cq_rt_misfit(a->k, a->v);
    a->compute = cq_rt_in(rt, 0)->dtype == CQ_DTYPE_F64 ? CQ_DTYPE_F64 : CQ_DTYPE_F32;
    return CQ_OK;
}

/* A copy with five axes to compute with; the third axis has the heads that share keys. */
static cq_status grouped(cq_tensor **out, cq_rt *rt, const attention *a, const cq_tensor *t)
{
    int64_t     group = cq_size_of(t, 1) / a->kv_heads;
    cq_rt_sizes sizes;
    cq_tensor  *copy;
    cq_status   status;

    *out = NULL;
    cq_rt_sizes_of(&sizes, t);
    CQ_TRY(cq_rt_temp(&copy, rt, a->compute, sizes.rank, sizes.at));
    status = cq_tensor_copy_into(copy, t);
    if (status == CQ_OK)
        status = cq_rt_reshape(
            out, rt, copy,
            &(cq_rt_sizes){ 5, { sizes.at[0], a->kv_heads, group, sizes.at[2], sizes.at[3] } });
    cq_tensor_release(copy);
    return status;
}

static double times(double x, const double *p)
{
    return x * *p;
}

static double soft_cap(double x, const double *p)
{
    return tanh(x / *p) * *p;
}

static double scale_of(const attention *a, const cq_rt *rt)
{
    return cq_rt_attr_given(rt, "scale") ? cq_rt_float(rt, "scale")
                                         : 1 / sqrt((double)cq_size_of(a->q, 3));
}

static cq_status compute_scores(attention *a, cq_rt *rt)
{
    static const uint32_t swapped[] = { 0, 1, 2, 4, 3 };
    double                scale     = scale_of(a, rt);
    cq_tensor            *q = NULL, *k = NULL, *turned = NULL;
    cq_status             status;

    CQ_TRY_OR_DONE(grouped(&q, rt, a, a->q));
    CQ_TRY_OR_DONE(grouped(&k, rt, a, a->k));
    CQ_TRY_OR_DONE(cq_rt_permute(&turned, k, swapped));
    CQ_TRY_OR_DONE(cq_rt_temp(
        &a->scores, rt, a->compute, 5,
        (int64_t[]){ a->batch, a->kv_heads, a->heads / a->kv_heads, a->queries, a->keys }));
    CQ_TRY_OR_DONE(cq_kernel_matmul(a->scores, q, turned));
    status = cq_rt_map(a->scores, a->scores, times, &scale);
done:
    cq_tensor_release(q);
    cq_tensor_release(k);
    cq_tensor_release(turned);
    return status;
}

/* Adds a mask of numbers to seen, or replaces elements by minus infinity where a mask of bools is
 * false. */
static cq_status mask_part(cq_rt *rt, const attention *a, cq_tensor *seen, const cq_tensor *mask)
{
    cq_tensor *never;
    cq_status  status;

    if (mask->dtype != CQ_DTYPE_BOOL)
        return cq_apply2(seen, CQ_EW_ADD, NULL, a->compute, seen, mask);
    CQ_TRY(cq_rt_temp(&never, rt, a->compute, 0, NULL));
    status = cq_kernel_fill_f64(never, -INFINITY);
    if (status == CQ_OK)
        status = cq_apply3(seen, CQ_EW_WHERE, NULL, a->compute, mask, seen, never);
    cq_tensor_release(never);
    return status;
}

/* A mask may be shorter than the keys; the remaining keys are masked. */
static cq_status apply_mask(cq_rt *rt, const attention *a, const cq_tensor *mask)
{
    int64_t     length = mask->rank ? cq_size_of(mask, mask->rank - 1) : 1;
    cq_rt_sizes sizes  = { 4, { a->batch, a->heads, a->queries, a->keys } };
    cq_tensor  *all = NULL, *seen = NULL, *rest = NULL;
    cq_status   status;

    if (length > a->keys)
        return cq_rt_misfit(mask, a->k);
    length = length == 1 ? a->keys : length;
    CQ_TRY_OR_DONE(cq_rt_reshape(&all, rt, a->scores, &sizes));
    CQ_TRY_OR_DONE(cq_rt_slice(&seen, all, 3, 0, 1, length));
    CQ_TRY_OR_DONE(cq_rt_slice(&rest, all, 3, length, 1, a->keys - length));
    cq_rt_sizes_of(&sizes, seen);
    CQ_TRY_OR_DONE(cq_rt_broadcast_with(&sizes, mask));
    if (sizes.rank != 4)
        CQ_TRY_OR_DONE(cq_rt_misfit(mask, a->k));
    for (uint32_t i = 0; i < 4; i++)
        if (sizes.at[i] != cq_size_of(seen, i))
            CQ_TRY_OR_DONE(cq_rt_misfit(mask, a->k));
    CQ_TRY_OR_DONE(mask_part(rt, a, seen, mask));
    status = cq_kernel_fill_f64(rest, -INFINITY);
done:
    cq_tensor_release(all);
    cq_tensor_release(seen);
    cq_tensor_release(rest);
    return status;
}

/* The number of keys before or after its position that a query can see; all if there is no
 * limit. */
static int64_t window_of(const cq_rt *rt, const char *name, int64_t all)
{
    const int64_t n = cq_onnx_schema_attr(rt->step->schema, name) ? cq_rt_int(rt, name) : -1;

    return n < 0 || n > all ? all : n;
}

static bool has_window(const cq_rt *rt)
{
    return window_of(rt, "left_window_size", INT64_MAX) != INT64_MAX ||
           window_of(rt, "right_window_size", INT64_MAX) != INT64_MAX;
}

/* Masks keys by position: those of the cache that are not filled; and if causal, for query i the
 * keys after i. Queries are the last filled positions. */
static cq_status apply_places(cq_rt *rt, const attention *a, const cq_tensor *filled, bool causal)
{
    const int64_t left  = window_of(rt, "left_window_size", a->keys + a->queries);
    const int64_t right = causal ? 0 : window_of(rt, "right_window_size", a->keys + a->queries);
    cq_tensor    *mask;
    cq_status     status;
    uint8_t      *at;

    CQ_TRY(cq_rt_temp(&mask, rt, CQ_DTYPE_BOOL, 5,
                      (int64_t[]){ filled ? a->batch : 1, 1, 1, a->queries, a->keys }));
    at = cq_tensor_data(mask);
    for (int64_t b = 0; b < cq_size_of(mask, 0); b++) {
        int64_t end  = filled ? cq_tensor_get_i64(filled, b) : a->keys;
        int64_t past = filled ? (end < 0 ? 0 : end) - a->queries : a->past;

        for (int64_t i = 0; i < a->queries; i++)
            for (int64_t k = 0; k < a->keys; k++)
                *at++ = k < end && k >= i + past - left && k <= i + past + right;
    }
    status = mask_part(rt, a, a->scores, mask);
    cq_tensor_release(mask);
    return status;
}

/* Computes probabilities. A query without visible keys gets 0 instead of NaN. */
static cq_status soften(cq_rt *rt, const attention *a)
{
    int64_t    n_rows = a->keys ? cq_tensor_numel(a->scores) / a->keys : 0;
    cq_tensor *blind;
    cq_status  status;
    uint8_t   *is_blind;

    CQ_TRY(cq_rt_temp(&blind, rt, CQ_DTYPE_BOOL, 1, &n_rows));
    is_blind = cq_tensor_data(blind);
    for (int64_t i = 0; i < n_rows; i++) {
        int64_t k = 0;

        while (k < a->keys && cq_tensor_get_f64(a->scores, i * a->keys + k) == -INFINITY)
            k++;
        is_blind[i] = k == a->keys;
    }
    status = cq_kernel_softmax(a->scores, a->scores, 4);
    for (int64_t i = 0; status == CQ_OK && i < n_rows; i++)
        if (is_blind[i])
            memset((char *)cq_tensor_data(a->scores) +
                       (size_t)(i * a->keys) * cq_dtype_size(a->compute),
                   0, (size_t)a->keys * cq_dtype_size(a->compute));
    cq_tensor_release(blind);
    return status;
}

enum { RAW, CAPPED, MASKED, PROBABILITIES }; /* values of qk_matmul_output_mode */

/* Early versions of the operator applied the cap after the mask, and 1 selected the masked scores.
 * Without a cap 1 would now select the same as 0, so it keeps its old meaning. */
static int64_t shown_point(const cq_rt *rt)
{
    int64_t point = cq_rt_int(rt, "qk_matmul_output_mode");

    return point == CAPPED && !(cq_rt_float(rt, "softcap") > 0) ? MASKED : point;
}

/* Sets output 3 to the scores at the selected point of the computation. */
static cq_status show_scores(cq_rt *rt, const attention *a, int64_t point)
{
    cq_rt_sizes sizes = { 4, { a->batch, a->heads, a->queries, a->keys } };
    cq_tensor  *y, *all;
    cq_status   status;

    if (!cq_rt_wants(rt, 3) || shown_point(rt) != point)
        return CQ_OK;
    CQ_TRY(cq_rt_out_sized(&y, rt, 3, cq_rt_in(rt, 0)->dtype, &sizes));
    CQ_TRY(cq_rt_reshape(&all, rt, a->scores, &sizes));
    status = cq_tensor_copy_into(y, all);
    cq_tensor_release(all);
    return status;
}

static cq_status weigh(cq_rt *rt, attention *a)
{
    const cq_tensor *mask   = cq_rt_in(rt, 3);
    const cq_tensor *filled = rt->n_in > 6 ? cq_rt_in(rt, 6) : NULL;
    double           cap    = cq_rt_float(rt, "softcap");
    bool             causal = cq_rt_int(rt, "is_causal");

    CQ_TRY(compute_scores(a, rt));
    CQ_TRY(show_scores(rt, a, RAW));
    if (cap > 0) /* the cap is applied before the mask; otherwise masked scores would become -cap */
        CQ_TRY(cq_rt_map(a->scores, a->scores, soft_cap, &cap));
    CQ_TRY(show_scores(rt, a, CAPPED));
    if (mask)
        CQ_TRY(apply_mask(rt, a, mask));
    if (causal || filled || has_window(rt))
        CQ_TRY(apply_places(rt, a, filled, causal));
    CQ_TRY(show_scores(rt, a, MASKED));
    CQ_TRY(soften(rt, a));
    return show_scores(rt, a, PROBABILITIES);
}

static cq_status set_results(cq_rt *rt, const attention *a)
{
    int64_t    width = cq_size_of(a->v, 3);
    cq_tensor *v = NULL, *sums = NULL, *y = NULL;
    cq_status  status;

    CQ_TRY_OR_DONE(grouped(&v, rt, a, a->v));
    CQ_TRY_OR_DONE(cq_rt_temp(
        &sums, rt, a->compute, 5,
        (int64_t[]){ a->batch, a->kv_heads, a->heads / a->kv_heads, a->queries, width }));
    CQ_TRY_OR_DONE(cq_kernel_matmul(sums, a->scores, v));
    CQ_TRY_OR_DONE(cq_rt_reshape(&y, rt, sums,
                                 &(cq_rt_sizes){ 4, { a->batch, a->heads, a->queries, width } }));
    status = set_joined(rt, 0, y, cq_rt_in(rt, 0)->dtype, cq_rt_in(rt, 0)->rank);
done:
    cq_tensor_release(v);
    cq_tensor_release(sums);
    cq_tensor_release(y);
    return status;
}

/* ---- computation without a matrix of scores ---- */

/* A mask of numbers or bools. If it is shorter than the keys, the remaining keys are masked. */
static bool set_mask(cq_attention *c, const cq_tensor *mask)
{
    int64_t length   = mask->rank ? cq_size_of(mask, mask->rank - 1) : 1;
    int64_t sizes[4] = { c->batch, c->heads, c->queries, length == 1 ? c->keys : length };
    bool    hides    = mask->dtype == CQ_DTYPE_BOOL;

    if (sizes[3] > c->keys || (!hides && mask->dtype != CQ_DTYPE_F32))
        return false;
    c->keys = sizes[3];
    return cq_rt_attention_in(hides ? &c->hides : &c->bias, mask, sizes);
}

/* Describes the call for the fused kernel; false if types are not float32, shapes do not match, or
 * the scores are an output. */
static bool describe(cq_attention *c, const attention *a, const cq_rt *rt)
{
    const cq_tensor *mask = cq_rt_in(rt, 3);

    *c = (cq_attention){ .batch         = a->batch,
                         .heads         = a->heads,
                         .group         = a->heads / a->kv_heads,
                         .queries       = a->queries,
                         .keys          = a->keys,
                         .width         = cq_size_of(a->q, 3),
                         .v_width       = cq_size_of(a->v, 3),
                         .scale         = (float)scale_of(a, rt),
                         .cap           = (float)cq_rt_float(rt, "softcap"),
                         .shown         = true,
                         .hidden        = -INFINITY,
                         .causal        = cq_rt_int(rt, "is_causal"),
                         .past          = a->past,
                         .blind_is_zero = true };
    if (cq_rt_wants(rt, 3) || has_window(rt) || a->q->dtype != CQ_DTYPE_F32 ||
        a->k->dtype != CQ_DTYPE_F32 || a->v->dtype != CQ_DTYPE_F32)
        return false;
    return cq_rt_attention_in(&c->q, a->q,
                              (int64_t[]){ a->batch, a->heads, a->queries, c->width }) &&
           cq_rt_attention_in(&c->k, a->k,
                              (int64_t[]){ a->batch, a->kv_heads, a->keys, c->width }) &&
           cq_rt_attention_in(&c->v, a->v,
                              (int64_t[]){ a->batch, a->kv_heads, a->keys, c->v_width }) &&
           (!mask || set_mask(c, mask));
}

static cq_status attend_at_once(cq_rt *rt, cq_attention *c, const cq_tensor *filled)
{
    bool       by_head = cq_rt_in(rt, 0)->rank == 4;
    int64_t    row = by_head ? c->v_width : c->heads * c->v_width, *ends = NULL;
    cq_tensor *y;
    cq_status  status;

    CQ_TRY(by_head
               ? cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, 4,
                           (int64_t[]){ c->batch, c->heads, c->queries, c->v_width })
               : cq_rt_out(&y, rt, 0, CQ_DTYPE_F32, 3, (int64_t[]){ c->batch, c->queries, row }));
    c->out         = cq_tensor_data(y);
    c->out_step[0] = c->heads * c->queries * c->v_width;
    c->out_step[1] = (by_head ? c->queries : 1) * c->v_width;
    c->out_step[2] = row;
    if (filled) {
        c->ends = ends = cq_alloc_array((size_t)c->batch, sizeof *ends);
        if (!ends)
            return CQ_E_NO_MEMORY;
        for (int64_t i = 0; i < c->batch; i++)
            ends[i] = cq_tensor_get_i64(filled, i);
    }
    status = cq_attention_run(c);
    cq_free(ends);
    return status;
}

/* ---- the operator ---- */

static cq_status attend_to(cq_rt *rt, attention *a)
{
    const cq_tensor *filled = rt->n_in > 6 ? cq_rt_in(rt, 6) : NULL;
    cq_attention     c;

    CQ_TRY(read_heads(a, rt));
    if (filled && (filled->rank != 1 || cq_size_of(filled, 0) != a->batch || a->past))
        return cq_rt_misfit(a->k, filled);
    if (describe(&c, a, rt)) {
        CQ_TRY(attend_at_once(rt, &c, filled));
    } else {
        CQ_TRY(weigh(rt, a));
        CQ_TRY(set_results(rt, a));
    }
    if (cq_rt_wants(rt, 1))
        CQ_TRY(cq_rt_pass(rt, 1, a->k));
    return cq_rt_wants(rt, 2) ? cq_rt_pass(rt, 2, a->v) : CQ_OK;
}

static cq_status attend(cq_rt *rt)
{
    attention a      = { 0 };
    cq_status status = attend_to(rt, &a);

    attention_clear(&a);
    return status;
}

/* ---- rotary embedding ---- */

/* The row of the caches for a position: from position_ids, or the position itself. -1: out of
 * range. */
static int64_t cache_row(const cq_tensor *ids, int64_t position, int64_t n_rows)
{
    int64_t row = ids ? cq_tensor_get_i64(ids, position) : position;

    row = row < 0 ? row + n_rows : row;
    return row < 0 || row >= n_rows ? -1 : row;
}

/* Rotates pairs (x1, x2) of one head by angles with the given cosines and sines; other elements are
 * unchanged. */
static void rotate(double *to, const double *x, const double *cosine, const double *sine,
                   int64_t half, int64_t width, bool interleaved)
{
    for (int64_t i = 2 * half; i < width; i++)
        to[i] = x[i];
    for (int64_t i = 0; i < half; i++) {
        int64_t one = interleaved ? 2 * i : i, two = interleaved ? 2 * i + 1 : half + i;
        double  x1 = x[one], x2 = x[two];

        to[one] = cosine[i] * x1 - sine[i] * x2;
        to[two] = sine[i] * x1 + cosine[i] * x2;
    }
}

static cq_status rotary_embedding(cq_rt *rt)
{
    const cq_tensor *x = cq_rt_in(rt, 0), *cosines = cq_rt_in(rt, 1), *ids = cq_rt_in(rt, 3);
    bool             by_head = x->rank == 4, interleaved = cq_rt_int(rt, "interleaved");
    int64_t          heads, length, width, half, n_rows;
    cq_operands      s = { .compute = CQ_DTYPE_F64 };
    const double    *from, *cosine, *sine;
    cq_tensor       *y;
    double          *to;

    if (x->rank != 3 && x->rank != 4)
        return cq_rt_misfit(x, NULL);
    heads  = by_head ? cq_size_of(x, 1) : cq_rt_int(rt, "num_heads");
    length = cq_size_of(x, by_head ? 2 : 1);
    if (heads < 1 || (!by_head && cq_size_of(x, 2) % heads))
        return cq_rt_misfit(x, NULL);
    width = by_head ? cq_size_of(x, 3) : cq_size_of(x, 2) / heads;
    half  = cq_rt_int(rt, "rotary_embedding_dim");
    half  = (half ? half : width) / 2;
    if (half < 0 || 2 * half > width || !cosines->rank ||
        cq_size_of(cosines, cosines->rank - 1) != half ||
        cq_tensor_numel(cosines) != cq_tensor_numel(cq_rt_in(rt, 2)) ||
        (ids && cq_tensor_numel(ids) != cq_size_of(x, 0) * length))
        return cq_rt_misfit(x, cosines);
    n_rows = half ? cq_tensor_numel(cosines) / half : 0;
    CQ_TRY(cq_rt_out_like(&y, rt, 0, x));
    from   = cq_operands_in(&s, x);
    cosine = cq_operands_in(&s, cosines);
    sine   = cq_operands_in(&s, cq_rt_in(rt, 2));
    to     = cq_operands_out(&s, y);
    for (int64_t i = 0; s.status == CQ_OK && half && i < cq_tensor_numel(x) / width; i++) {
        int64_t batch    = i / (heads * length);
        int64_t position = by_head ? i % length : i / heads % length;
        int64_t row      = cache_row(ids, batch * length + position, n_rows);

        if (row < 0)
            s.status = cq_rt_misfit(x, cosines);
        else
            rotate(to + i * width, from + i * width, cosine + row * half, sine + row * half, half,
                   width, interleaved);
    }
    return cq_operands_close(&s);
}

const cq_rt_row cq_rt_rows_attention[] = {
    { "Attention", 23, attend, 0, 0 },
    { "RotaryEmbedding", 23, rotary_embedding, 0, 0 },
    { 0 },
};
