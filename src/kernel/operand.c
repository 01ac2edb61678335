/* Conversion at the edge of the heavy kernels; see operand.h. */
#include "kernel/operand.h"

cq_dtype cq_compute_dtype(cq_dtype dtype)
{
    if (cq_dtype_is_complex(dtype))
        return CQ_DTYPE_C128;
    if (dtype == CQ_DTYPE_F64)
        return CQ_DTYPE_F64;
    return cq_dtype_is_float(dtype) ? CQ_DTYPE_F32 : CQ_DTYPE_I64;
}

static void *keep(cq_operands *s, cq_tensor *work, cq_tensor *copy_to)
{
    if (s->n == CQ_MAX_OPERANDS) {
        cq_tensor_release(work);
        s->status = cq_fail(CQ_E_INTERNAL, NULL, NULL, "a kernel has more than %d operands",
                            CQ_MAX_OPERANDS);
        return NULL;
    }
    s->items[s->n].work    = work;
    s->items[s->n].copy_to = copy_to;
    s->n++;
    return cq_tensor_bytes(work);
}

const void *cq_operands_in_as(cq_operands *s, const cq_tensor *t, cq_dtype dtype)
{
    cq_tensor *work = NULL;

    if (!t || s->status != CQ_OK)
        return NULL;
    s->status =
        t->dtype == dtype ? cq_tensor_contiguous(&work, t) : cq_tensor_clone(&work, t, dtype);
    return s->status == CQ_OK ? keep(s, work, NULL) : NULL;
}

const void *cq_operands_in(cq_operands *s, const cq_tensor *t)
{
    return cq_operands_in_as(s, t, s->compute);
}

void *cq_operands_out_as(cq_operands *s, cq_tensor *t, cq_dtype dtype)
{
    cq_tensor *work = NULL;
    int64_t    sizes[CQ_MAX_RANK];

    if (!t || s->status != CQ_OK)
        return NULL;
    if (t->dtype == dtype && cq_tensor_is_contiguous(t))
        return keep(s, cq_tensor_retain(t), NULL);
    for (size_t i = 0; i < t->rank; i++)
        sizes[i] = cq_size_of(t, i);
    s->status = cq_tensor_new_uninit(&work, dtype, t->rank, sizes);
    return s->status == CQ_OK ? keep(s, work, t) : NULL;
}

void *cq_operands_out(cq_operands *s, cq_tensor *t)
{
    return cq_operands_out_as(s, t, s->compute);
}

cq_status cq_operands_close(cq_operands *s)
{
    for (int i = 0; i < s->n; i++) {
        if (s->items[i].copy_to && s->status == CQ_OK)
            s->status = cq_tensor_copy_into(s->items[i].copy_to, s->items[i].work);
        cq_tensor_release(s->items[i].work);
    }
    s->n = 0;
    return s->status;
}

cq_status cq_operands_need_float(const cq_tensor *t, const char *kernel)
{
    if (cq_dtype_is_float(t->dtype))
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, kernel, NULL, "%s expects floating-point numbers, got %s", kernel,
                   cq_dtype_name(t->dtype));
}

cq_status cq_operands_misfit(const char *kernel, const cq_tensor *a, const cq_tensor *b)
{
    char first[CQ_DESCRIBE_SIZE], second[CQ_DESCRIBE_SIZE];

    return cq_fail(CQ_E_TYPE, kernel, NULL, "the shapes %s and %s do not match",
                   cq_tensor_describe(a, first, sizeof first),
                   b ? cq_tensor_describe(b, second, sizeof second) : "of another argument");
}

bool cq_operands_has(const cq_tensor *t, int64_t n)
{
    return !t || cq_tensor_numel(t) == n;
}

int64_t cq_sizes_product(const cq_tensor *t, size_t from, size_t to)
{
    int64_t n = 1;

    for (size_t i = from; i < to; i++)
        n *= cq_size_of(t, i);
    return n;
}
