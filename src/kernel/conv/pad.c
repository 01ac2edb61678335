/* Padding and flipping are one loop: for each dimension, a map gives the index in x for each index
 * of out, or -1 for the fill value. The map of the last dimension is cut into runs of constant
 * step, which are copied as a whole. */
#include "kernel/conv/pad.h"

#include "base/vec.h"
#include "tensor/convert.h"

enum { FILL = -1 }; /* an index outside of x: the fill value */

/* n elements of out from index `start` on, copied from elements of x that are delta apart. */
typedef struct run {
    int64_t start, n, from, delta;
} run;

typedef struct job {
    uint32_t rank;
    int64_t  sizes[CQ_MAX_RANK];                 /* of out */
    int64_t  to[CQ_MAX_RANK], from[CQ_MAX_RANK]; /* strides in bytes */
    int64_t *maps[CQ_MAX_RANK];                  /* with sizes[i] entries each */
    CQ_VEC(run) runs;                            /* of the last dimension */
    int64_t size;                                /* of an element */
    char    value[16];
} job;

static void job_clear(job *j)
{
    for (uint32_t i = 0; i < j->rank; i++)
        cq_free(j->maps[i]);
    cq_vec_clear(&j->runs);
}

/* Initializes the job with identity maps. A tensor of rank 0 is treated as rank 1. */
static cq_status job_init(job *j, const cq_tensor *out, const cq_tensor *x)
{
    memset(j, 0, sizeof *j);
    if (out->dtype != x->dtype || out->rank != x->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "cannot pad %s of rank %u to %s of rank %u",
                       cq_dtype_name(x->dtype), (unsigned)x->rank, cq_dtype_name(out->dtype),
                       (unsigned)out->rank);
    j->size     = (int64_t)cq_dtype_size(x->dtype);
    j->sizes[0] = 1;
    for (uint32_t i = 0; i < x->rank; i++) {
        j->sizes[i] = out->sizes[i].value;
        j->to[i]    = out->strides[i] * j->size;
        j->from[i]  = x->strides[i] * j->size;
    }
    for (uint32_t i = 0; i < (x->rank ? x->rank : 1); i++) {
        j->maps[i] = cq_alloc_array((size_t)j->sizes[i], sizeof **j->maps);
        j->rank    = i + 1;
        if (!j->maps[i])
            return CQ_E_NO_MEMORY;
        for (int64_t k = 0; k < j->sizes[i]; k++)
            j->maps[i][k] = k;
    }
    return CQ_OK;
}

static cq_status find_runs(job *j)
{
    const int64_t *map = j->maps[j->rank - 1];
    int64_t        n   = j->sizes[j->rank - 1];

    for (int64_t i = 0; i < n;) {
        run     r   = { i, 1, map[i], 0 };
        int64_t end = i + 1;

        if (end < n && (map[end] == FILL) == (map[i] == FILL)) {
            r.delta = map[end] - map[i];
            while (end < n && map[end] != FILL && map[end] == map[end - 1] + r.delta)
                end++;
            while (map[i] == FILL && end < n && map[end] == FILL)
                end++;
        }
        r.n = end - i;
        i   = end;
        CQ_TRY(cq_vec_push(&j->runs, r));
    }
    return CQ_OK;
}

static void move_row(const job *j, char *to, const char *from, bool is_fill)
{
    int64_t step = j->to[j->rank - 1], from_step = j->from[j->rank - 1];

    for (size_t i = 0; i < j->runs.n; i++) {
        const run *r = &j->runs.items[i];

        if (is_fill || r->from == FILL)
            cq_move_run(to + r->start * step, step, j->value, 0, j->size, r->n);
        else
            cq_move_run(to + r->start * step, step, from + r->from * from_step,
                        r->delta * from_step, j->size, r->n);
    }
}

static cq_status job_run(job *j, const cq_tensor *out, const cq_tensor *x)
{
    int64_t index[CQ_MAX_RANK] = { 0 };

    for (uint32_t i = 0; i < j->rank; i++)
        if (j->sizes[i] == 0)
            return CQ_OK;
    CQ_TRY(find_runs(j));
    for (;;) {
        char    *to      = cq_tensor_bytes(out);
        char    *from    = cq_tensor_bytes(x);
        bool     is_fill = false;
        uint32_t d;

        for (uint32_t i = 0; i + 1 < j->rank; i++) {
            int64_t index_in = j->maps[i][index[i]];

            is_fill |= index_in == FILL;
            to += index[i] * j->to[i];
            from += is_fill ? 0 : index_in * j->from[i];
        }
        move_row(j, to, from, is_fill);
        for (d = j->rank - 1; d-- > 0;) {
            if (++index[d] < j->sizes[d])
                break;
            index[d] = 0;
        }
        if (d == UINT32_MAX)
            return CQ_OK;
    }
}

/* ---- the rules ---- */

static int64_t wrap(int64_t i, int64_t n)
{
    int64_t rest = i % n;

    return rest < 0 ? rest + n : rest;
}

/* The source of index i, counted from x's first element. Elements that negative padding removes are
 * not reused: low is the first index that stays, and stay their number. */
static int64_t pad_index(int64_t i, int64_t n, int64_t low, int64_t stay, cq_pad_mode mode)
{
    if (i >= 0 && i < n)
        return i;
    switch (mode) {
    case CQ_PAD_REFLECT: {
        /* Back and forth: the pattern repeats every 2n - 2. */
        int64_t source = n > 1 ? wrap(i, 2 * n - 2) : 0;

        return source < n ? source : 2 * n - 2 - source;
    }
    case CQ_PAD_REPLICATE: return i < 0 ? 0 : n - 1;
    case CQ_PAD_CIRCULAR: return low + wrap(i - low, stay);
    default: return FILL;
    }
}

static cq_status fill_pad_map(job *j, uint32_t d, int64_t n, int64_t before, cq_pad_mode mode)
{
    int64_t low, stay, after, last;

    if (before == INT64_MIN || __builtin_sub_overflow(j->sizes[d] - n, before, &after) ||
        __builtin_sub_overflow(j->sizes[d] - 1, before, &last))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a padding of %lld is too large",
                       (long long)before);
    low  = before < 0 ? -before : 0;
    stay = n - low + (after < 0 ? after : 0);
    if (mode != CQ_PAD_CONSTANT && stay <= 0 && j->sizes[d] > 0)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "dimension %u is empty and cannot be padded with its own elements",
                       (unsigned)d);
    for (int64_t k = 0; k < j->sizes[d]; k++)
        j->maps[d][k] = pad_index(k - before, n, low, stay, mode);
    return CQ_OK;
}

cq_status cq_kernel_pad(cq_tensor *out, const cq_tensor *x, const int64_t *before, cq_pad_mode mode,
                        const cq_tensor *value)
{
    cq_tensor *v = NULL;
    cq_status  status;
    job        j;

    CQ_TRY_OR_DONE(job_init(&j, out, x));
    if (value) {
        CQ_TRY_OR_DONE(cq_tensor_clone(&v, value, x->dtype));
        if (cq_tensor_numel(v) != 1) {
            status = cq_fail(CQ_E_TYPE, NULL, NULL, "expected a padding value of one element");
            goto done;
        }
        memcpy(j.value, cq_tensor_data(v), (size_t)j.size);
    }
    for (uint32_t d = 0; d < x->rank; d++)
        CQ_TRY_OR_DONE(fill_pad_map(&j, d, x->sizes[d].value, before[d], mode));
    CQ_TRY_OR_DONE(job_run(&j, out, x));
done:
    job_clear(&j);
    cq_tensor_release(v);
    return status;
}

static cq_status check_same_shape(const cq_tensor *out, const cq_tensor *x)
{
    for (uint32_t i = 0; i < x->rank && i < out->rank; i++)
        if (out->sizes[i].value != x->sizes[i].value)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "dimension %u: expected size %lld, got %lld",
                           (unsigned)i, (long long)x->sizes[i].value,
                           (long long)out->sizes[i].value);
    return CQ_OK;
}

cq_status cq_kernel_flip(cq_tensor *out, const cq_tensor *x, uint64_t dims)
{
    cq_status status;
    job       j;

    CQ_TRY_OR_DONE(job_init(&j, out, x));
    CQ_TRY_OR_DONE(check_same_shape(out, x));
    for (uint32_t d = 0; d < x->rank; d++)
        for (int64_t k = 0; (dims >> d & 1) && k < j.sizes[d]; k++)
            j.maps[d][k] = j.sizes[d] - 1 - k;
    CQ_TRY_OR_DONE(job_run(&j, out, x));
done:
    job_clear(&j);
    return status;
}
