/* The element-wise engine: walks the operands and passes dense chunks of the arithmetic type to the
 * operation. The chunks fit into the L1 cache, which makes the conversions before and after cheap.
 * An operand that is dense and has the right type is used in place. The operations are in
 * elementwise_*.def. */
#include "kernel/elementwise_ops.h"

#include "kernel/isa.h"
#include "tensor/convert.h"
#include "tensor/walk.h"

#include <math.h>

enum { CHUNK_SIZE = 4096, MAX_OPERANDS = 3 }; /* CHUNK_SIZE in bytes */

#define OP_ROW(id, name, operands) { name, operands },
static const struct {
    const char *name;
    int         operands;
} ops[CQ_EW_COUNT] = { CQ_EW_OPS(OP_ROW) };

const char *cq_ew_name(cq_ew_op op)
{
    return ops[op].name;
}

int cq_ew_operands(cq_ew_op op)
{
    return ops[op].operands;
}

cq_ew_op cq_ew_find(const char *name)
{
    int op = 0;

    while (op < CQ_EW_COUNT && strcmp(name, ops[op].name) != 0)
        op++;
    return (cq_ew_op)op;
}

/* ---- the engine ---- */

/* One operand during the walk over a row. */
typedef struct operand {
    cq_load_fn *load;
    int64_t     dense;  /* the step at which it can be used in place; 0: never */
    bool        filled; /* the buffer holds the one value of the whole row */
    union {
        float   f32[CHUNK_SIZE / sizeof(float)];
        double  f64[CHUNK_SIZE / sizeof(double)];
        int64_t i64[CHUNK_SIZE / sizeof(int64_t)];
    } buffer;
} operand;

typedef struct job {
    cq_ew_row        row;
    int              n_operands;
    const cq_params *params;
    size_t           wide_size;
    bool             refuse_zero; /* fails if an integer divisor is 0 */
    cq_dtype         result, out;
    bool             in_place; /* results are written to out directly */
    operand          in[MAX_OPERANDS];
    union {
        float   f32[CHUNK_SIZE / sizeof(float)];
        double  f64[CHUNK_SIZE / sizeof(double)];
        int64_t i64[CHUNK_SIZE / sizeof(int64_t)];
    } result_buffer;
} job;

static bool divides(cq_ew_op op)
{
    return op == CQ_EW_DIV || op == CQ_EW_DIV_FLOOR || op == CQ_EW_DIV_TRUNC ||
           op == CQ_EW_REMAINDER || op == CQ_EW_FMOD || op == CQ_EW_ADDCDIV;
}

static const cq_ew_row *table_of(cq_dtype compute)
{
    switch (cq_wide_of(compute)) {
    case CQ_WIDE_F32: return cq_isa_get()->ew;
    case CQ_WIDE_F64: return cq_ew_f64;
    default: return compute == CQ_DTYPE_U64 ? cq_ew_u64 : cq_ew_i64;
    }
}

void cq_apply1_f32(float *x, int64_t n, cq_ew_op op, const cq_params *params)
{
    const void *in = x;

    table_of(CQ_DTYPE_F32)[op].fn(x, &in, n, params);
}

static cq_status prepare(job *j, cq_ew_op op, const cq_params *params, cq_dtype compute,
                         const cq_tensor *out, const cq_tensor *const *in)
{
    static const cq_params ones = { .a = 1, .ia = 1 };
    cq_wide                wide;
    cq_dtype               exact;

    if (compute == CQ_DTYPE_NONE)
        for (int k = 0; k < ops[op].operands; k++)
            compute = cq_dtype_promote(compute, in[k]->dtype);
    /* Inverting every bit of a bool would leave it true. */
    if (compute == CQ_DTYPE_BOOL && op == CQ_EW_BITWISE_NOT)
        op = CQ_EW_LOGICAL_NOT;
    if (cq_dtype_is_complex(compute) || !table_of(compute)[op].fn)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "'%s' is not implemented for %s", ops[op].name,
                       cq_dtype_name(compute));
    wide           = cq_wide_of(compute);
    exact          = compute == CQ_DTYPE_U64 ? CQ_DTYPE_U64 : cq_wide_dtype(wide);
    j->row         = table_of(compute)[op];
    j->n_operands  = ops[op].operands;
    j->params      = params ? params : &ones;
    j->wide_size   = cq_dtype_size(exact);
    j->refuse_zero = wide == CQ_WIDE_I64 && divides(op);
    j->result      = j->row.truth ? CQ_DTYPE_BOOL : exact;
    j->out         = out->dtype;
    j->in_place =
        out->dtype == j->result && (uintptr_t)cq_tensor_bytes(out) % cq_dtype_size(out->dtype) == 0;
    for (int k = 0; k < j->n_operands; k++) {
        if (cq_dtype_is_complex(in[k]->dtype))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "'%s' is not implemented for complex tensors",
                           ops[op].name);
        j->in[k].load = cq_load_of(in[k]->dtype, wide);
        j->in[k].dense =
            in[k]->dtype == exact && (uintptr_t)cq_tensor_bytes(in[k]) % j->wide_size == 0
                ? (int64_t)j->wide_size
                : 0;
    }
    return CQ_OK;
}

/* A value that is constant along the row is broadcast once for all chunks of the row. */
static void spread(operand *o, size_t size, int64_t n)
{
    char *b = (char *)&o->buffer;

    for (int64_t have = 1; have < n; have *= 2)
        memcpy(b + (size_t)have * size, b, (size_t)(2 * have <= n ? have : n - have) * size);
}

static const void *fetch(operand *o, const char *at, int64_t step, size_t size, int64_t n)
{
    if (step == o->dense && step)
        return at;
    if (step == 0) {
        if (!o->filled) {
            o->load(&o->buffer, at, 0, 1);
            spread(o, size, n);
            o->filled = true;
        }
        return &o->buffer;
    }
    o->load(&o->buffer, at, step, n);
    return &o->buffer;
}

static bool has_zero(const int64_t *x, int64_t n)
{
    int zero = 0;

    for (int64_t i = 0; i < n; i++)
        zero |= x[i] == 0;
    return zero;
}

static cq_status run_row(job *j, const cq_walk *w)
{
    for (int k = 0; k < j->n_operands; k++)
        j->in[k].filled = false;
    for (int64_t i = 0, chunk = CHUNK_SIZE / (int64_t)j->wide_size; i < w->n; i += chunk) {
        int64_t     n   = w->n - i < chunk ? w->n - i : chunk;
        char       *to  = w->at[0] + i * w->step[0];
        bool        fit = j->in_place && (w->step[0] == (int64_t)cq_dtype_size(j->out) || n == 1);
        const void *in[MAX_OPERANDS];

        for (int k = 0; k < j->n_operands; k++)
            in[k] = fetch(&j->in[k], w->at[k + 1] + i * w->step[k + 1], w->step[k + 1],
                          j->wide_size, n);
        if (j->refuse_zero && has_zero(in[j->n_operands - 1], n))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "integer division by zero");
        j->row.fn(fit ? to : (char *)&j->result_buffer, in, n, j->params);
        if (!fit)
            cq_convert_run(to, j->out, w->step[0], (char *)&j->result_buffer, j->result,
                           (int64_t)cq_dtype_size(j->result), n);
    }
    return CQ_OK;
}

static cq_status apply(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                       const cq_tensor *const *in)
{
    cq_walk w;
    job     j;

    CQ_TRY(prepare(&j, op, params, compute, out, in));
    cq_walk_init(&w, out->rank, out->sizes);
    CQ_TRY(cq_walk_add(&w, out));
    for (int k = 0; k < j.n_operands; k++)
        CQ_TRY(cq_walk_add(&w, in[k]));
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        CQ_TRY(run_row(&j, &w));
    return CQ_OK;
}

cq_status cq_apply1(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                    const cq_tensor *x)
{
    return apply(out, op, params, compute, (const cq_tensor *const[]){ x });
}

cq_status cq_apply2(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                    const cq_tensor *x, const cq_tensor *y)
{
    return apply(out, op, params, compute, (const cq_tensor *const[]){ x, y });
}

cq_status cq_apply3(cq_tensor *out, cq_ew_op op, const cq_params *params, cq_dtype compute,
                    const cq_tensor *x, const cq_tensor *y, const cq_tensor *z)
{
    return apply(out, op, params, compute, (const cq_tensor *const[]){ x, y, z });
}

static cq_status fill(cq_tensor *out, cq_dtype dtype, const void *value)
{
    char     one[16] = { 0 };
    cq_walk  w;
    cq_dtype part              = cq_dtype_part(out->dtype);
    int64_t  none[CQ_MAX_RANK] = { 0 };
    size_t   size              = cq_dtype_size(out->dtype);

    cq_convert_run(one, part, 0, value, dtype, 0, 1);
    cq_walk_init(&w, out->rank, out->sizes);
    CQ_TRY(cq_walk_add(&w, out));
    cq_walk_add_bytes(&w, one, none);
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++)
            memcpy(w.at[0] + i * w.step[0], one, size);
    return CQ_OK;
}

/* ---- lazy fills ---- */

enum { SMALL_FILL = 1 << 14 }; /* smaller tensors are filled at once (bytes) */

typedef struct element {
    char   bytes[16];
    size_t size;
} element;

static void make_elements(void *user, void *to, size_t from, size_t n)
{
    const element *e     = user;
    const size_t   phase = from % e->size; /* a range may begin and end inside an element */
    char          *at    = to;

    for (size_t i = 0; i < n && i < e->size; i++)
        at[i] = e->bytes[(phase + i) % e->size];
    for (size_t done = e->size; done < n; done *= 2) /* twice as much in each step */
        memcpy(at + done, at, done < n - done ? done : n - done);
}

bool cq_kernel_fill_later(cq_tensor *out, cq_dtype dtype, const void *value)
{
    cq_storage *s = out->storage;
    element    *e;

    /* Writing to a pending lazy storage would compute it first. */
    if ((s->size < SMALL_FILL && !atomic_load(&s->is_pending)) || s->mapped || s->is_caller ||
        out->offset || !cq_tensor_is_contiguous(out) ||
        (size_t)cq_tensor_numel(out) * cq_dtype_size(out->dtype) != s->size)
        return false;
    e = cq_zalloc(sizeof *e);
    if (!e)
        return false;
    e->size = cq_dtype_size(out->dtype);
    cq_convert_run(e->bytes, cq_dtype_part(out->dtype), 0, value, dtype, 0, 1);
    cq_storage_make_later(s, (cq_maker){ make_elements, cq_free, e, NULL });
    return true;
}

/* ---- creation ---- */

cq_status cq_kernel_fill_f64(cq_tensor *out, double value)
{
    return fill(out, CQ_DTYPE_F64, &value);
}

cq_status cq_kernel_fill_i64(cq_tensor *out, int64_t value)
{
    return fill(out, CQ_DTYPE_I64, &value);
}

static cq_status check_row(const cq_tensor *out)
{
    char name[CQ_DESCRIBE_SIZE];

    if (out->rank == 1 && !cq_dtype_is_complex(out->dtype))
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a real tensor of one dimension, got %s",
                   cq_tensor_describe(out, name, sizeof name));
}

static void put_f64(cq_tensor *out, int64_t i, double x)
{
    int64_t step = out->strides[0] * (int64_t)cq_dtype_size(out->dtype);

    cq_store_of(out->dtype, CQ_WIDE_F64)(cq_tensor_bytes(out) + i * step, step, &x, 1);
}

cq_status cq_kernel_arange_f64(cq_tensor *out, double start, double step)
{
    CQ_TRY(check_row(out));
    for (int64_t i = 0; i < out->sizes[0].value; i++)
        put_f64(out, i, start + step * (double)i);
    return CQ_OK;
}

cq_status cq_kernel_arange_i64(cq_tensor *out, int64_t start, int64_t step)
{
    int64_t stride;

    CQ_TRY(check_row(out));
    stride = out->strides[0] * (int64_t)cq_dtype_size(out->dtype);
    for (int64_t i = 0; i < out->sizes[0].value; i++) {
        int64_t x = (int64_t)((uint64_t)start + (uint64_t)step * (uint64_t)i);

        cq_store_of(out->dtype, CQ_WIDE_I64)(cq_tensor_bytes(out) + i * stride, stride, &x, 1);
    }
    return CQ_OK;
}

/* Computes from both ends to the middle, as PyTorch does, so that the last number is exact. The
 * ends of a range of integers are integers. */
cq_status cq_kernel_linspace(cq_tensor *out, double start, double end)
{
    int64_t n;
    double  step;

    CQ_TRY(check_row(out));
    if (!cq_dtype_is_float(out->dtype)) {
        start = trunc(start);
        end   = trunc(end);
    }
    n    = out->sizes[0].value;
    step = n > 1 ? (end - start) / (double)(n - 1) : 0;
    for (int64_t i = 0; i < n; i++)
        put_f64(out, i,
                i < (n + 1) / 2 ? start + step * (double)i : end - step * (double)(n - i - 1));
    return CQ_OK;
}

/* Copies x and clears columns [from, to) of each row i, which depend on i + k. */
static cq_status triangle(cq_tensor *out, const cq_tensor *x, int64_t k, bool lower)
{
    cq_walk w;
    int64_t strides[CQ_MAX_RANK];
    int64_t rows, columns, row_step, step, size = (int64_t)cq_dtype_size(out->dtype);

    if (out->rank < 2)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected at least 2 dimensions, got %u",
                       (unsigned)out->rank);
    if (out != x)
        CQ_TRY(cq_tensor_copy_into(out, x));
    rows     = out->sizes[out->rank - 2].value;
    columns  = out->sizes[out->rank - 1].value;
    row_step = out->strides[out->rank - 2] * size;
    step     = out->strides[out->rank - 1] * size;
    for (uint32_t i = 0; i + 2 < out->rank; i++)
        strides[i] = out->strides[i] * size;
    cq_walk_init(&w, out->rank - 2, out->sizes);
    cq_walk_add_bytes(&w, cq_tensor_bytes(out), strides);
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        for (int64_t m = 0; m < w.n; m++)
            for (int64_t i = 0; i < rows; i++) {
                /* i + k is the last column kept by tril, the first kept by triu. */
                int64_t edge = k > columns ? columns : k < -rows ? -1 : i + k;
                int64_t from = lower ? (edge + 1 > 0 ? edge + 1 : 0) : 0;
                int64_t to   = lower ? columns : (edge < columns ? edge : columns);

                for (int64_t c = from; c < to; c++)
                    memset(w.at[0] + m * w.step[0] + i * row_step + c * step, 0, (size_t)size);
            }
    return CQ_OK;
}

cq_status cq_kernel_tril(cq_tensor *out, const cq_tensor *x, int64_t k)
{
    return triangle(out, x, k, true);
}

cq_status cq_kernel_triu(cq_tensor *out, const cq_tensor *x, int64_t k)
{
    return triangle(out, x, k, false);
}

cq_status cq_kernel_eye(cq_tensor *out)
{
    cq_tensor *diagonal;
    cq_status  status;
    cq_int     n;

    if (out->rank != 2)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected 2 dimensions, got %u", (unsigned)out->rank);
    CQ_TRY(cq_kernel_fill_i64(out, 0));
    n = cq_i(out->sizes[0].value < out->sizes[1].value ? out->sizes[0].value : out->sizes[1].value);
    CQ_TRY(cq_tensor_new_view(&diagonal, out, out->dtype, 1, &n,
                              (int64_t[]){ out->strides[0] + out->strides[1] }, out->offset));
    status = cq_kernel_fill_i64(diagonal, 1);
    cq_tensor_release(diagonal);
    return status;
}
