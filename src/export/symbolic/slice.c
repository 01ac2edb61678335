/* as_strided: indices into the memory of a contiguous tensor. */
#include "export/symbolic/positions.h"

/* The same for symbolic sizes or strides: the sum of each axis's contribution. */
static cq_value *moving_places(cq_sym *s, const cq_int *sizes, const cq_int *strides, size_t n,
                               int64_t offset)
{
    cq_value *sum = cq_sym_const_i64(s, offset), *v;
    int64_t   axes[CQ_MAX_RANK];

    for (size_t i = 0; i < n; i++) {
        v = cq_sym_op(s, "Mul", CQ_IN(cq_sym_iota(s, sizes[i]), cq_sym_of_int(s, strides[i])),
                      CQ_NO_ATTR);
        cq_sym_set_type(s, v, CQ_DTYPE_I64, 1, &sizes[i]);
        for (size_t k = i + 1; k < n; k++)
            axes[k - i - 1] = (int64_t)(k - i);
        if (i + 1 < n)
            v = cq_sym_unsqueeze(s, v, axes, n - 1 - i);
        sum = cq_sym_op(s, "Add", CQ_IN(sum, v), CQ_NO_ATTR);
    }
    cq_sym_set_type(s, sum, CQ_DTYPE_I64, n, sizes);
    return sum;
}

static cq_value *strided_places(cq_sym *s)
{
    cq_int     sizes[CQ_MAX_RANK], moving[CQ_MAX_RANK];
    int64_t    strides[CQ_MAX_RANK], plain[CQ_MAX_RANK], numel = 1;
    int64_t    offset = cq_sym_is_none(s, "storage_offset") ? 0 : cq_sym_i64(s, "storage_offset");
    size_t     n      = cq_sym_ints(s, "size", sizes, CQ_MAX_RANK);
    cq_tensor *t      = NULL;
    cq_value  *v;

    if (cq_sym_ints(s, "stride", moving, CQ_MAX_RANK) != n || s->status != CQ_OK)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        if (sizes[i].expr || moving[i].expr)
            return moving_places(s, sizes, moving, n, offset);
        strides[i] = moving[i].value;
        plain[i]   = sizes[i].value;
        numel *= plain[i];
    }
    if (cq_sym_fail(s, cq_tensor_new_uninit(&t, CQ_DTYPE_I64, n, plain)) != CQ_OK)
        return NULL;
    for (int64_t k = 0; k < numel; k++) {
        int64_t index = offset, rest = k;

        for (size_t i = n; i-- > 0; rest /= plain[i])
            index += rest % plain[i] * strides[i];
        ((int64_t *)cq_tensor_data(t))[k] = index;
    }
    v = cq_sym_const(s, t);
    cq_tensor_release(t);
    return v;
}

static cq_status as_strided(cq_sym *s)
{
    return cq_sym_done(
        s, cq_sym_gather(s, cq_sym_flat(s, cq_sym_in(s, "self")), strided_places(s), 0));
}

static cq_status as_strided_scatter(cq_sym *s)
{
    cq_value *x = cq_sym_in(s, "self"), *src = cq_sym_in_as(s, "src", cq_sym_dtype(s, x)), *v;
    cq_type   type = cq_sym_result_type(s, 0);

    v = cq_sym_write_slices(s, cq_sym_flat(s, x), 0, cq_sym_flat(s, strided_places(s)),
                            cq_sym_flat(s, src));
    return cq_sym_done(s, cq_sym_reshape(s, v, type.sizes, (size_t)type.rank));
}

const cq_symbolic cq_symbolics_slice[] = {
    { "aten::as_strided", 7, .fn = as_strided },
    { "aten::as_strided_scatter", 7, .fn = as_strided_scatter },
    { 0 },
};
