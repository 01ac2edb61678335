/* Quantization. PyTorch multiplies by 1 / scale in the type of the scale, float32; so does this
 * file, because a division may round half-way cases differently. */
#include "kernel/quantize.h"
#include "kernel/operand.h"

#include <math.h>

typedef struct channels {
    const float   *scale;
    const int32_t *zero;
    int64_t        n, inner; /* number of slices, and contiguous elements of each */
} channels;

static cq_status open_channels(channels *ch, cq_operands *s, const cq_tensor *x,
                               const cq_tensor *scale, const cq_tensor *zero, int axis)
{
    ch->n     = cq_tensor_numel(scale);
    ch->inner = 1;
    if (cq_tensor_numel(zero) != ch->n || (ch->n != 1 && (axis < 0 || (uint32_t)axis >= x->rank ||
                                                          cq_size_of(x, (size_t)axis) != ch->n)))
        return s->status = cq_operands_misfit("quantize", x, scale);
    if (ch->n != 1)
        ch->inner = cq_sizes_product(x, (size_t)axis + 1, x->rank);
    ch->scale = cq_operands_in_as(s, scale, CQ_DTYPE_F32);
    ch->zero  = cq_operands_in_as(s, zero, CQ_DTYPE_I32);
    return s->status;
}

#define CHANNEL(ch, i) ((ch)->n == 1 ? 0 : (i) / (ch)->inner % (ch)->n)

#define TO_GRID(name, type, round)                                                                 \
    static void name(type *out, const type *x, int64_t n, const channels *ch, type low, type high) \
    {                                                                                              \
        for (int64_t i = 0; i < n; i++) {                                                          \
            int64_t at    = CHANNEL(ch, i);                                                        \
            float   scale = ch->scale[at], inverse = 1.0f / scale;                                 \
            type    zero = (type)ch->zero[at], q = round(x[i] * (type)inverse) + zero;             \
                                                                                                   \
            q      = q < low ? low : q > high ? high : q;                                          \
            out[i] = (q - zero) * (type)scale;                                                     \
        }                                                                                          \
    }
TO_GRID(to_grid_f32, float, nearbyintf)
TO_GRID(to_grid_f64, double, nearbyint)

cq_status cq_kernel_to_grid(cq_tensor *out, const cq_tensor *x, const cq_tensor *scale,
                            const cq_tensor *zero, int axis, int64_t low, int64_t high)
{
    cq_operands s = { .compute = cq_compute_dtype(x->dtype) };
    int64_t     n = cq_tensor_numel(x);
    channels    ch;
    const void *from;
    void       *to;

    CQ_TRY(cq_operands_need_float(x, "quantize"));
    if (cq_tensor_numel(out) != n)
        return cq_operands_misfit("quantize", out, x);
    if (open_channels(&ch, &s, x, scale, zero, axis) == CQ_OK) {
        from = cq_operands_in(&s, x);
        to   = cq_operands_out(&s, out);
        if (s.status == CQ_OK && s.compute == CQ_DTYPE_F64)
            to_grid_f64(to, from, n, &ch, (double)low, (double)high);
        else if (s.status == CQ_OK)
            to_grid_f32(to, from, n, &ch, (float)low, (float)high);
    }
    return cq_operands_close(&s);
}

cq_status cq_kernel_dequantize(cq_tensor *out, const cq_tensor *q, const cq_tensor *scale,
                               const cq_tensor *zero, int axis)
{
    cq_operands s = { .compute = CQ_DTYPE_F32 };
    int64_t     n = cq_tensor_numel(q);
    channels    ch;

    if (cq_tensor_numel(out) != n)
        return cq_operands_misfit("dequantize", out, q);
    if (open_channels(&ch, &s, q, scale, zero, axis) == CQ_OK) {
        const int32_t *from = cq_operands_in_as(&s, q, CQ_DTYPE_I32);
        float         *to   = cq_operands_out_as(&s, out, CQ_DTYPE_F32);

        for (int64_t i = 0; s.status == CQ_OK && i < n; i++) {
            int64_t at = CHANNEL(&ch, i);

            to[i] = ((float)from[i] - (float)ch.zero[at]) * ch.scale[at];
        }
    }
    return cq_operands_close(&s);
}
