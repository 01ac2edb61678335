/* Convolutions, and images as columns. */
#include "export/symbolic/common.h"
#include "kernel/conv/window.h"

cq_value *cq_sym_unit_kernels(cq_sym *s, int64_t high, int64_t wide)
{
    int64_t    taps     = high * wide;
    int64_t    sizes[4] = { taps, 1, high, wide };
    cq_tensor *t        = NULL;
    cq_value  *v;

    if (taps > 4096) {
        cq_sym_no(s, 0, "a window of %lld is too large", (long long)taps);
        return NULL;
    }
    if (s->status != CQ_OK ||
        cq_sym_fail(s, cq_tensor_new(&t, CQ_DTYPE_F32, 4, sizes, NULL)) != CQ_OK)
        return NULL;
    for (int64_t k = 0; k < taps; k++)
        ((float *)cq_tensor_data(t))[k * taps + k] = 1;
    v = cq_sym_const(s, t);
    cq_tensor_release(t);
    return v;
}
