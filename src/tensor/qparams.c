/* Grids of quantized tensors. */
#include "tensor/qparams.h"

bool cq_qparams_range(int torch_dtype, cq_dtype *stored, int64_t *low, int64_t *high)
{
    static const struct {
        int      torch_dtype;
        cq_dtype stored;
        int64_t  low, high;
    } rows[] = {
        { CQ_TORCH_QINT8, CQ_DTYPE_I8, INT8_MIN, INT8_MAX },
        { CQ_TORCH_QUINT8, CQ_DTYPE_U8, 0, UINT8_MAX },
        { CQ_TORCH_QINT32, CQ_DTYPE_I32, INT32_MIN, INT32_MAX },
    };

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].torch_dtype == torch_dtype) {
            *stored = rows[i].stored;
            *low    = rows[i].low;
            *high   = rows[i].high;
            return true;
        }
    return false;
}

cq_status cq_qparams_new(cq_qparams **out, int torch_dtype, double scale, int64_t zero_point)
{
    cq_dtype    stored;
    int64_t     low, high;
    cq_qparams *q;

    *out = NULL;
    if (!cq_qparams_range(torch_dtype, &stored, &low, &high))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "%d is not a quantized dtype that calque knows", torch_dtype);
    if (!(scale > 0) || zero_point < low || zero_point > high)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "scale %g and zero point %lld: expected a positive scale and a zero point "
                       "in %lld … %lld",
                       scale, (long long)zero_point, (long long)low, (long long)high);
    q = *out = cq_zalloc(sizeof *q);
    if (!q)
        return CQ_E_NO_MEMORY;
    atomic_init(&q->refs, 1);
    q->torch_dtype = torch_dtype;
    q->scale       = scale;
    q->zero_point  = zero_point;
    return CQ_OK;
}

cq_status cq_qparams_new_per_channel(cq_qparams **out, int torch_dtype, cq_tensor *scales,
                                     cq_tensor *zero_points, int axis)
{
    CQ_TRY(cq_qparams_new(out, torch_dtype, 1, 0));
    (*out)->scales      = cq_tensor_retain(scales);
    (*out)->zero_points = cq_tensor_retain(zero_points);
    (*out)->axis        = axis;
    return CQ_OK;
}

cq_qparams *cq_qparams_retain(cq_qparams *q)
{
    if (q)
        atomic_fetch_add_explicit(&q->refs, 1, memory_order_relaxed);
    return q;
}

bool cq_qparams_same(const cq_qparams *a, const cq_qparams *b)
{
    return a == b || (a && b && a->torch_dtype == b->torch_dtype && a->scales == b->scales &&
                      a->zero_points == b->zero_points && a->axis == b->axis &&
                      a->scale == b->scale && a->zero_point == b->zero_point);
}

void cq_qparams_release(cq_qparams *q)
{
    if (!q || atomic_fetch_sub_explicit(&q->refs, 1, memory_order_acq_rel) != 1)
        return;
    cq_tensor_release(q->scales);
    cq_tensor_release(q->zero_points);
    cq_free(q);
}

void cq_tensor_set_qparams(cq_tensor *t, cq_qparams *q)
{
    if (t->qparams == q)
        return;
    cq_qparams_release(t->qparams);
    t->qparams = cq_qparams_retain(q);
}
