/* Random numbers and constants of Python source that a model uses while it is built. They come from
 * PyTorch's generator and are drawn lazily (kernel/draw.h). A capture records the operators of the
 * table instead. */
#include "kernel/draw.h"
#include "kernel/elementwise.h"
#include "script/builtins/number.h"

static bool is_building(const cq_eval *ev)
{
    return ev->program->python && !ev->capture;
}

/* The storage of a float32 or float64 tensor if the tensor covers it completely; otherwise NULL. */
static cq_storage *whole_storage(const cq_tensor *t)
{
    const size_t size = cq_dtype_size(t->dtype);

    if ((t->dtype != CQ_DTYPE_F32 && t->dtype != CQ_DTYPE_F64) || !t->storage || t->offset ||
        t->storage->is_caller || !cq_tensor_is_contiguous(t) ||
        (size_t)cq_tensor_numel(t) * size != t->storage->size)
        return NULL;
    return t->storage;
}

static double real_arg(const cq_fncall *c, size_t i, double missing)
{
    const cq_val v = cq_builtin_arg(c, i);

    return v.kind == CQ_VAL_NONE ? missing : cq_val_real(v);
}

/* Normal numbers for a tensor of float16 or bfloat16: PyTorch draws blocks of 16 numbers, and the
 * last block ends with the tensor (it overlaps the previous one). For float32 PyTorch draws the
 * numbers of an incomplete block too. */
static cq_status draw_half(cq_tensor *whole, double a, double b)
{
    const int64_t n = cq_tensor_numel(whole), blocks = n / 16 * 16, last = 16;
    cq_tensor    *first, *end;
    cq_status     status;

    if (n < 16 || n == blocks)
        return cq_draw_normal(whole->storage, CQ_DTYPE_F32, a, b);
    CQ_TRY(cq_tensor_new_uninit(&first, CQ_DTYPE_F32, 1, &blocks));
    status = cq_tensor_new_uninit(&end, CQ_DTYPE_F32, 1, &last);
    if (status == CQ_OK) {
        float *to = (float *)cq_tensor_bytes(whole);

        status = cq_draw_normal(first->storage, CQ_DTYPE_F32, a, b);
        if (status == CQ_OK)
            status = cq_draw_normal(end->storage, CQ_DTYPE_F32, a, b);
        if (status == CQ_OK) {
            memcpy(to, cq_tensor_bytes(first), (size_t)blocks * sizeof *to);
            memcpy(to + n - last, cq_tensor_bytes(end), (size_t)last * sizeof *to);
        }
        cq_tensor_release(end);
    }
    cq_tensor_release(first);
    return status;
}

/* uniform_ and normal_ of a part of a tensor, or of another dtype: drawn into a float32 tensor and
 * copied, as PyTorch 2 draws float16 and bfloat16. */
static cq_status draw_part(cq_fncall *c, cq_tensor *t, double a, double b)
{
    int64_t    sizes[CQ_MAX_RANK];
    cq_tensor *whole;
    cq_status  status;

    for (size_t i = 0; i < t->rank; i++)
        sizes[i] = t->sizes[i].value;
    CQ_TRY(cq_tensor_new_uninit(&whole, t->dtype == CQ_DTYPE_F64 ? CQ_DTYPE_F64 : CQ_DTYPE_F32,
                                t->rank, sizes));
    if (c->row->how && whole->dtype == CQ_DTYPE_F32 && t->dtype != CQ_DTYPE_F32)
        status = draw_half(whole, a, b);
    else
        status =
            (c->row->how ? cq_draw_normal : cq_draw_uniform)(whole->storage, whole->dtype, a, b);
    if (status == CQ_OK)
        status = cq_tensor_copy_into(t, whole);
    cq_tensor_release(whole);
    return status;
}

static cq_status draw_in_place(cq_fncall *c)
{
    cq_tensor   *t = c->args[0].u.tensor;
    cq_storage  *s;
    const double a = real_arg(c, 1, 0), b = real_arg(c, 2, 1);

    if (!is_building(c->ev) || cq_tensor_is_fake(t) || !cq_dtype_is_float(t->dtype))
        return cq_fncall_decline(c);
    c->result = c->args[0];
    if (c->row->how && b < 0)
        return cq_fail(CQ_E_ARGUMENT, "normal_", NULL, "expected a standard deviation >= 0, got %g",
                       b);
    s = whole_storage(t);
    if (!s)
        return draw_part(c, t, a, b);
    return (c->row->how ? cq_draw_normal : cq_draw_uniform)(s, t->dtype, a, b);
}

/* zero_ and fill_ of a whole tensor are lazy, so weights that a file replaces are never written. If
 * changes are recorded or undone, the operator is called. */
static cq_status fill_in_place(cq_fncall *c)
{
    cq_tensor    *t  = c->args[0].u.tensor;
    const cq_val  v  = cq_builtin_arg(c, 1);
    const double  x  = real_arg(c, 1, 0);
    const cq_ctx *cx = c->ev->cx;

    if (!is_building(c->ev) || cx->listener || cx->will_write || !whole_storage(t) ||
        (c->row->how && !cq_val_is_number(v)) || v.kind == CQ_VAL_COMPLEX ||
        !cq_kernel_fill_later(t, CQ_DTYPE_F64, &x))
        return cq_fncall_decline(c);
    c->result = c->args[0];
    return CQ_OK;
}

/* An in-place operator on lazily drawn numbers that have not been read yet is appended to the
 * draw. */
static cq_status step_in_place(cq_fncall *c)
{
    const cq_tensor *t = c->args[0].u.tensor;
    const cq_val     x = cq_builtin_arg(c, 1), y = cq_builtin_arg(c, 2);
    cq_storage      *s = is_building(c->ev) ? whole_storage(t) : NULL;

    if (!s || (x.kind != CQ_VAL_NONE && !cq_val_is_number(x)) ||
        (y.kind != CQ_VAL_NONE && !cq_val_is_number(y)) ||
        (c->row->how == CQ_DRAW_CLAMP && (x.kind == CQ_VAL_NONE || y.kind == CQ_VAL_NONE)) ||
        (c->row->how == CQ_DRAW_ADD && y.kind != CQ_VAL_NONE) ||
        !cq_draw_then(s, (cq_draw_step)c->row->how, real_arg(c, 1, 0), real_arg(c, 2, 0)))
        return cq_fncall_decline(c);
    c->result = c->args[0];
    return CQ_OK;
}

static cq_status manual_seed(cq_fncall *c)
{
    if (c->args[0].kind != CQ_VAL_INT)
        return cq_fail(CQ_E_TYPE, "manual_seed", NULL, "expected an integer");
    cq_draw_seed((uint64_t)c->args[0].u.i.value);
    c->result = CQ_NONE;
    return CQ_OK;
}

/* rand(sizes), randn(sizes): the operator allocates zeros, which are drawn. */
static cq_status draw_new(cq_fncall *c)
{
    cq_val      out;
    cq_storage *s;
    cq_fncall   zeros = *c;

    if (!is_building(c->ev))
        return cq_fncall_decline(c);
    zeros.callee = CQ_NONE;
    zeros.name   = "aten::zeros";
    CQ_TRY(cq_fncall_run(&zeros, CQ_CALL_ANY));
    out       = zeros.result;
    s         = out.kind == CQ_VAL_TENSOR ? whole_storage(out.u.tensor) : NULL;
    c->result = out;
    if (!s && out.kind == CQ_VAL_TENSOR && cq_dtype_is_float(out.u.tensor->dtype))
        return draw_part(c, out.u.tensor, 0, 1);
    if (!s)
        return cq_fail(CQ_E_UNSUPPORTED, c->row->how ? "randn" : "rand", NULL,
                       "expected a floating-point dtype");
    return (c->row->how ? cq_draw_normal : cq_draw_uniform)(s, out.u.tensor->dtype, 0, 1);
}

/* An integer in [low, high): the remainder of a random number of 32 bits, or of 64 bits if the
 * range needs more. */
static int64_t draw_int(int64_t low, int64_t high)
{
    const uint64_t range = (uint64_t)high - (uint64_t)low;
    uint64_t       bits  = cq_draw_u32();

    if (range >> 32)
        bits = bits << 32 | cq_draw_u32();
    return (int64_t)((uint64_t)low + bits % range);
}

/* randint and randint_like: the operator allocates a tensor of integers, which are drawn. */
static cq_status draw_integers(cq_fncall *c)
{
    const size_t  first = c->row->how; /* argument index of the bounds: high, or low and high */
    const bool    two   = c->n > first + 1 && c->args[first + 1].kind == CQ_VAL_INT;
    const cq_val  low   = cq_fncall_arg(c, two ? first : SIZE_MAX, "low");
    const cq_val  to    = cq_fncall_arg(c, first + two, "high");
    const int64_t from  = low.kind == CQ_VAL_INT ? low.u.i.value : 0;
    cq_tensor    *t, *wide;
    cq_fncall     made = *c;
    int64_t       n, *data, sizes[CQ_MAX_RANK];
    cq_status     status;

    if (!is_building(c->ev) || to.kind != CQ_VAL_INT || to.u.i.expr)
        return cq_fncall_decline(c);
    CQ_TRY(cq_fncall_run(&made, CQ_CALL_OPERATOR));
    c->result = made.result;
    t         = made.result.kind == CQ_VAL_TENSOR ? made.result.u.tensor : NULL;
    if (!t || cq_tensor_is_fake(t))
        return CQ_OK;
    n = cq_tensor_numel(t);
    CQ_TRY(cq_eval_spend(c->ev, (uint64_t)n));
    for (size_t i = 0; i < t->rank; i++)
        sizes[i] = t->sizes[i].value;
    CQ_TRY(cq_tensor_new_uninit(&wide, CQ_DTYPE_I64, t->rank, sizes));
    data = (int64_t *)cq_tensor_bytes(wide);
    for (int64_t i = 0; i < n; i++)
        data[i] = draw_int(from, to.u.i.value);
    status = cq_tensor_copy_into(t, wide);
    cq_tensor_release(wide);
    return status;
}

/* randperm(n): PyTorch swaps each element with one at or after it. */
static cq_status permutation(cq_fncall *c)
{
    const int64_t n = c->args[0].kind == CQ_VAL_INT ? c->args[0].u.i.value : -1;
    cq_tensor    *t;
    int64_t      *p;

    if (!is_building(c->ev) || n < 0 || c->n_kw)
        return cq_fncall_decline(c);
    CQ_TRY(cq_tensor_new_uninit(&t, CQ_DTYPE_I64, 1, &n));
    p = (int64_t *)cq_tensor_bytes(t);
    for (int64_t i = 0; i < n; i++)
        p[i] = i;
    for (int64_t i = 0; i < n - 1; i++) {
        const int64_t j = i + (int64_t)(cq_draw_u32() % (uint64_t)(n - i)), kept = p[i];

        p[i] = p[j];
        p[j] = kept;
    }
    return cq_eval_own(c->ev, cq_val_of_tensor(t), &c->result);
}

const cq_builtin cq_builtins_random[] = {
    { "calque::manual_seed(seed)", .fn = manual_seed },
    { "uniform_(Tensor self, from?, to?, generator?)", .fn = draw_in_place, .how = 0 },
    { "normal_(Tensor self, mean?, std?, generator?)", .fn = draw_in_place, .how = 1 },
    { "zero_(Tensor self)", .fn = fill_in_place, .how = 0 },
    { "fill_(Tensor self, value)", .fn = fill_in_place, .how = 1 },
    { "erfinv_(Tensor self)", .fn = step_in_place, .how = CQ_DRAW_ERFINV },
    { "mul_(Tensor self, other)", .fn = step_in_place, .how = CQ_DRAW_MUL },
    { "add_(Tensor self, other)", .fn = step_in_place, .how = CQ_DRAW_ADD },
    { "clamp_(Tensor self, min?, max?)", .fn = step_in_place, .how = CQ_DRAW_CLAMP },
    { "rand(...)", .fn = draw_new, .how = 0 },
    { "randn(...)", .fn = draw_new, .how = 1 },
    { "randperm(n)", .fn = permutation },
    { "randint(...)", .fn = draw_integers, .how = 0 },
    { "randint_like(...)", .fn = draw_integers, .how = 1 },
    { 0 },
};
