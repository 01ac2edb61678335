/* Fourier transforms and windows. */
#include "onnx/infer/elements.h"

/* The number of non-redundant bins of a spectrum of n, which suffice for real input. */
static cq_dim one_side(const cq_rule *r, cq_dim n)
{
    return cq_dim_add(r, cq_dim_floordiv(r, n, cq_dim_of(2)), cq_dim_of(1));
}

/* x is [batch, …, real or complex]; the axis is an attribute, since opset 20 an input. The inverse
 * of a onesided spectrum is real. */
static cq_status dft(cq_rule *r)
{
    const cq_itype *x        = cq_rule_shaped(r, 0);
    int64_t         given    = cq_rule_int(r, "axis", 1);
    bool            onesided = cq_rule_int(r, "onesided", 0);
    bool            inverse  = cq_rule_int(r, "inverse", 0);
    cq_ielem        e;
    size_t          axis;
    cq_shape        y;

    if (!x)
        return CQ_OK;
    if (x->rank < 2)
        return cq_rule_fail(r, "expected rank 2 or more for DFT, got %zu", x->rank);
    if (r->version >= 20) {
        given = -2;
        if (cq_rule_has(r, 2)) {
            bool is_known = cq_rule_scalar(r, 2, &e) && e.kind == CQ_INUM_INT && !e.i.expr;

            if (!is_known && (cq_rule_has(r, 1) || onesided))
                return CQ_OK;
            given = is_known ? e.i.value : -2; /* along an unknown axis: other sizes are
                                                * unchanged */
        }
    }
    CQ_TRY(cq_rule_axis(&axis, r, given, x->rank));
    cq_shape_of(&y, x);
    if (onesided && inverse && cq_dim_is(x->dims[x->rank - 1], 1))
        return cq_rule_fail(r, "an inverse onesided DFT expects complex numbers");
    if (cq_rule_has(r, 1))
        y.dims[axis] = cq_rule_scalar(r, 1, &e) ? cq_dim_of_ielem(e) : cq_dim_unknown();
    else if (onesided && inverse)
        y.dims[axis] = cq_dim_mul(r, cq_dim_of(2), cq_dim_sub(r, y.dims[axis], cq_dim_of(1)));
    if (onesided && !inverse)
        y.dims[axis] = one_side(r, y.dims[axis]);
    y.dims[x->rank - 1] = cq_dim_of(onesided && inverse ? 1 : 2);
    return cq_rule_give(r, 0, &y);
}

/* [batch, length, 1 or 2] to [batch, frames, bins, 2] */
static cq_status stft(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0), *window = cq_rule_shaped(r, 2);
    cq_shape        y     = { .rank = 4 };
    cq_dim          frame = cq_dim_unknown();
    cq_ielem        step, length;

    if (!x || x->rank < 2)
        return CQ_OK;
    if (cq_rule_has(r, 3) && cq_rule_scalar(r, 3, &length))
        frame = cq_dim_of_ielem(length);
    else if (!cq_rule_has(r, 3) && window && window->rank == 1)
        frame = window->dims[0];
    y.dims[0] = x->dims[0];
    if (cq_rule_scalar(r, 1, &step) && step.kind == CQ_INUM_INT && !step.i.expr && step.i.value > 0)
        y.dims[1] = cq_dim_add(
            r, cq_dim_floordiv(r, cq_dim_sub(r, x->dims[1], frame), cq_dim_of_ielem(step)),
            cq_dim_of(1));
    y.dims[2] = cq_rule_int(r, "onesided", 1) ? one_side(r, frame) : frame;
    y.dims[3] = cq_dim_of(2);
    return cq_rule_give(r, 0, &y);
}

static void give_datatype(cq_rule *r)
{
    int64_t dtype = cq_rule_int(r, "output_datatype", CQ_ONNX_FLOAT);

    if (dtype > 0 && dtype < CQ_ONNX_DATA_TYPE_COUNT)
        cq_rule_give_elem(r, 0, (int32_t)dtype);
}

static cq_dim scalar_dim(cq_rule *r, size_t input)
{
    cq_ielem e;

    return cq_rule_scalar(r, input, &e) ? cq_dim_of_ielem(e) : cq_dim_unknown();
}

static cq_status window(cq_rule *r)
{
    cq_dim n = scalar_dim(r, 0);

    give_datatype(r);
    return cq_rule_give_dims(r, 0, 1, &n);
}

static cq_status mel_weights(cq_rule *r)
{
    cq_dim y[2] = { one_side(r, scalar_dim(r, 1)), scalar_dim(r, 0) };

    give_datatype(r);
    return cq_rule_give_dims(r, 0, 2, y);
}

const cq_rule_row cq_rules_signal[] = {
    { "BlackmanWindow", 1, window, NULL },
    { "DFT", 1, dft, NULL },
    { "HammingWindow", 1, window, NULL },
    { "HannWindow", 1, window, NULL },
    { "MelWeightMatrix", 1, mel_weights, NULL },
    { "STFT", 1, stft, NULL },
    { NULL, 0, NULL, NULL },
};
