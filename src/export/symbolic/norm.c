/* Normalisations. LayerNormalization exists since opset 17, training mode of
 * BatchNormalization in its present form since 14; before, and where ONNX Runtime lacks a
 * dtype, they are written out. */
#include "export/symbolic/common.h"

/* weight or bias, or n times what leaves things as they are. */
static cq_value *row(cq_sym *s, const char *arg, cq_dtype dtype, cq_int n, double otherwise)
{
    if (!cq_sym_is_none(s, arg))
        return cq_sym_cast(s, cq_sym_in(s, arg), dtype);
    return cq_sym_filled(s, dtype, n, otherwise);
}

/* A row by channel, so that it broadcasts over [batch, channel, …] of this rank. */
static cq_value *by_channel(cq_sym *s, cq_value *v, int rank)
{
    int64_t axes[CQ_MAX_RANK];

    for (int i = 1; i < rank - 1; i++)
        axes[i - 1] = i;
    return rank > 2 ? cq_sym_unsqueeze(s, v, axes, (size_t)rank - 2) : v;
}

/* x * weight + bias by channel, with those that are there. */
static cq_value *scale_channels(cq_sym *s, cq_value *x, int rank)
{
    cq_dtype d = cq_sym_dtype(s, x);

    if (!cq_sym_is_none(s, "weight"))
        x = cq_sym_binary(s, "Mul", x,
                          by_channel(s, cq_sym_cast(s, cq_sym_in(s, "weight"), d), rank));
    if (!cq_sym_is_none(s, "bias"))
        x = cq_sym_binary(s, "Add", x,
                          by_channel(s, cq_sym_cast(s, cq_sym_in(s, "bias"), d), rank));
    return x;
}

/* (x - mean) / sqrt(var + eps) over axes; mean and 1 / sqrt(…) if they are asked for. */
static cq_value *standardize(cq_sym *s, cq_value *x, const int64_t *axes, size_t n, double eps,
                             cq_value **mean, cq_value **inverse)
{
    cq_value *m = cq_sym_reduce(s, "ReduceMean", x, axes, n, true);
    cq_value *d = cq_sym_binary(s, "Sub", x, m), *v;

    cq_sym_set_type_of(d, x);
    v = cq_sym_reduce(s, "ReduceMean", cq_sym_binary(s, "Mul", d, d), axes, n, true);
    v = cq_sym_unary(s, "Sqrt", cq_sym_plus(s, v, eps));
    if (mean)
        *mean = m;
    if (inverse)
        *inverse = cq_sym_unary(s, "Reciprocal", v);
    d = cq_sym_binary(s, "Div", d, v);
    cq_sym_set_type_of(d, x);
    return d;
}

/* ---- batch norm ---- */

/* With the statistics that it used, if there are more results than one. */
static cq_status batch_norm_by_parts(cq_sym *s, cq_value *x)
{
    int       rank = cq_sym_rank(s, x);
    int64_t   axes[CQ_MAX_RANK];
    cq_value *out[3] = { NULL };
    size_t    n      = 0;
    bool      all    = cq_sym_n_results(s) == 3;

    for (int i = 0; i < rank; i++)
        if (i != 1)
            axes[n++] = i;
    out[0] = standardize(s, x, axes, n, cq_sym_f64(s, "eps"), all ? &out[1] : NULL,
                         all ? &out[2] : NULL);
    out[0] = scale_channels(s, out[0], rank);
    for (size_t i = 1; all && i < 3; i++)
        out[i] = cq_sym_squeeze(s, out[i], axes, n);
    return cq_sym_done_n(s, out, cq_sym_n_results(s));
}

static cq_status batch_norm(cq_sym *s)
{
    cq_value *x        = cq_sym_widen(s, cq_sym_in(s, "input")), *out[3];
    cq_dtype  d        = cq_sym_dtype(s, x);
    cq_int    channels = cq_sym_size(s, x, 1);
    bool      training = cq_sym_bool(s, "training");
    double    momentum = cq_sym_is_none(s, "momentum") ? 0 : cq_sym_f64(s, "momentum");

    /* Without running statistics there is nothing that training could move along. */
    if (training &&
        (cq_sym_opset(s) < 14 || cq_sym_is_none(s, "running_mean") ||
         (cq_sym_n_results(s) == 3 && (cq_sym_result_used(s, 1) || cq_sym_result_used(s, 2)))))
        return batch_norm_by_parts(s, x);
    cq_sym_op_n(
        s, "BatchNormalization",
        CQ_IN(x, row(s, "weight", d, channels, 1), row(s, "bias", d, channels, 0),
              row(s, "running_mean", d, channels, 0), row(s, "running_var", d, channels, 1)),
        CQ_ATTR(cq_attr_f("epsilon", cq_sym_f64(s, "eps")), cq_attr_f("momentum", 1 - momentum),
                training ? cq_attr_i("training_mode", 1) : (cq_attr){ 0 }),
        out, training ? 3 : 1);
    cq_sym_set_dtype(s, out[0], d);
    /* Outside of training native_batch_norm saves empty rows. */
    if (cq_sym_n_results(s) == 3)
        out[1] = out[2] = cq_sym_filled(s, cq_sym_result_type(s, 1).dtype, cq_i(0), 0);
    return cq_sym_done_n(s, out, cq_sym_n_results(s));
}

/* ---- layer norm ---- */

typedef struct layer {
    cq_value *x;
    size_t    n; /* axes at the end */
    int64_t   axes[CQ_MAX_RANK];
} layer;

static layer read_layer(cq_sym *s)
{
    layer  l = { .x = cq_sym_widen(s, cq_sym_in(s, "input")) };
    cq_int sizes[CQ_MAX_RANK];
    int    rank = cq_sym_rank(s, l.x);

    l.n = cq_sym_ints(s, "normalized_shape", sizes, CQ_MAX_RANK);
    for (size_t i = 0; i < l.n; i++)
        l.axes[i] = rank - (int64_t)l.n + (int64_t)i;
    return l;
}

static cq_status layer_norm_by_parts(cq_sym *s)
{
    layer     l = read_layer(s);
    cq_value *out[3];
    bool      all = cq_sym_n_results(s) == 3;

    out[0] = standardize(s, l.x, l.axes, l.n, cq_sym_f64(s, "eps"), all ? &out[1] : NULL,
                         all ? &out[2] : NULL);
    if (!cq_sym_is_none(s, "weight"))
        out[0] = cq_sym_binary(s, "Mul", out[0],
                               cq_sym_cast(s, cq_sym_in(s, "weight"), cq_sym_dtype(s, l.x)));
    if (!cq_sym_is_none(s, "bias"))
        out[0] = cq_sym_binary(s, "Add", out[0],
                               cq_sym_cast(s, cq_sym_in(s, "bias"), cq_sym_dtype(s, l.x)));
    return cq_sym_done_n(s, out, cq_sym_n_results(s));
}

/* The scale is not an optional input; without a weight it is as many ones. */
static cq_value *ones_for(cq_sym *s, const layer *l)
{
    cq_value *one = cq_sym_const_f64(s, cq_sym_dtype(s, l->x), 1);
    cq_int    sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < l->n; i++)
        sizes[i] = cq_sym_size(s, l->x, (int)l->axes[i]);
    return cq_sym_expand(s, one, sizes, l->n);
}

static cq_status layer_norm(cq_sym *s)
{
    layer     l = read_layer(s);
    cq_dtype  d = cq_sym_dtype(s, l.x);
    cq_value *out[3], *bias = cq_sym_in(s, "bias");
    size_t    n = cq_sym_n_results(s);

    cq_sym_op_n(
        s, "LayerNormalization",
        CQ_IN(l.x,
              cq_sym_is_none(s, "weight") ? ones_for(s, &l)
                                          : cq_sym_cast(s, cq_sym_in(s, "weight"), d),
              bias ? cq_sym_cast(s, bias, d) : NULL),
        CQ_ATTR(cq_attr_i("axis", -(int64_t)l.n), cq_attr_f("epsilon", cq_sym_f64(s, "eps"))), out,
        n);
    if (n == 3) { /* they are always float32 */
        cq_sym_set_dtype(s, out[1], CQ_DTYPE_F32);
        cq_sym_set_dtype(s, out[2], CQ_DTYPE_F32);
    }
    return cq_sym_done_n(s, out, n);
}

/* Half precision is computed in float32, as by stash_type. */
static cq_status rms_norm(cq_sym *s)
{
    layer     l = read_layer(s);
    cq_value *x = cq_sym_in(s, "input"), *weight = cq_sym_in(s, "weight"), *y;
    cq_dtype  d = cq_sym_dtype(s, x);

    if (d != CQ_DTYPE_F32 && d != CQ_DTYPE_F16)
        return cq_sym_no(s, 0, "it is taken apart");
    l.x = x;
    y   = cq_sym_op(s, "RMSNormalization",
                    CQ_IN(x, weight ? cq_sym_cast(s, weight, d) : ones_for(s, &l)),
                    CQ_ATTR(cq_attr_i("axis", -(int64_t)l.n),
                            cq_attr_f("epsilon", cq_sym_is_none(s, "eps") ? 1.1920928955078125e-07
                                                                          : cq_sym_f64(s, "eps"))));
    cq_sym_set_type_of(y, x);
    return cq_sym_done(s, y);
}

/* ---- group and instance norm ---- */

/* The axes of the image as one: [batch, groups, rest]. ONNX Runtime has
 * InstanceNormalization for float32 alone. */
static cq_status group_norm(cq_sym *s)
{
    bool      native = cq_sym_n_results(s) == 3;
    cq_value *in = cq_sym_in(s, "input"), *x = cq_sym_widen(s, in), *out[3] = { NULL };
    int64_t   groups = cq_sym_i64(s, native ? "group" : "num_groups"), last = 2;
    double    eps  = cq_sym_f64(s, "eps");
    cq_dtype  d    = cq_sym_dtype(s, x);
    int       rank = cq_sym_rank(s, in);
    cq_int    sizes[3];
    bool      stats = native && (cq_sym_result_used(s, 1) || cq_sym_result_used(s, 2));

    if (s->status != CQ_OK)
        return s->status;
    x        = cq_sym_reshape_i64(s, x, (int64_t[]){ 0, groups, -1 }, 3);
    sizes[0] = in->type.sizes[0];
    sizes[1] = cq_i(groups);
    sizes[2] = cq_sym_int_floordiv(s, in->type.sizes[1], cq_i(groups));
    for (int i = 2; i < rank; i++)
        sizes[2] = cq_sym_int_mul(s, sizes[2], in->type.sizes[i]);
    cq_sym_set_type(s, x, d, 3, sizes);
    if (d == CQ_DTYPE_F32 && !stats)
        x = cq_sym_op(
            s, "InstanceNormalization",
            CQ_IN(x, cq_sym_filled(s, d, cq_i(groups), 1), cq_sym_filled(s, d, cq_i(groups), 0)),
            CQ_ATTR(cq_attr_f("epsilon", eps)));
    else
        x = standardize(s, x, &last, 1, eps, &out[1], &out[2]);
    x      = cq_sym_reshape(s, x, in->type.sizes, (size_t)rank);
    out[0] = scale_channels(s, x, rank);
    for (size_t i = 1; stats && i < 3; i++)
        out[i] = cq_sym_squeeze(s, out[i], &last, 1);
    return cq_sym_done_n(s, out, native && stats ? 3 : 1);
}

/* One node, with a scale and a bias for each channel. */
static cq_status group_norm_21(cq_sym *s)
{
    cq_value *x        = cq_sym_in(s, "input"), *y;
    cq_dtype  d        = cq_sym_dtype(s, x);
    cq_int    channels = cq_sym_size(s, x, 1);
    bool      native   = cq_sym_n_results(s) == 3;

    if (d != CQ_DTYPE_F32 || cq_sym_rank(s, x) < 3 ||
        (native && (cq_sym_result_used(s, 1) || cq_sym_result_used(s, 2))))
        return group_norm(s);
    y = cq_sym_op(s, "GroupNormalization",
                  CQ_IN(x, row(s, "weight", d, channels, 1), row(s, "bias", d, channels, 0)),
                  CQ_ATTR(cq_attr_i("num_groups", cq_sym_i64(s, native ? "group" : "num_groups")),
                          cq_attr_f("epsilon", cq_sym_f64(s, "eps"))));
    cq_sym_set_type_of(y, x);
    return cq_sym_done(s, y);
}

/* With running statistics it is a batch norm: it is taken apart then, and for the dtypes that
 * InstanceNormalization lacks. */
static cq_status instance_norm(cq_sym *s)
{
    cq_value *x        = cq_sym_widen(s, cq_sym_in(s, "input"));
    cq_dtype  d        = cq_sym_dtype(s, x);
    cq_int    channels = cq_sym_size(s, x, 1);

    if (!cq_sym_bool(s, "use_input_stats") || d != CQ_DTYPE_F32 || cq_sym_rank(s, x) < 3)
        return cq_sym_no(s, 0, "it is another operator");
    return cq_sym_done(
        s, cq_sym_op(s, "InstanceNormalization",
                     CQ_IN(x, row(s, "weight", d, channels, 1), row(s, "bias", d, channels, 0)),
                     CQ_ATTR(cq_attr_f("epsilon", cq_sym_f64(s, "eps")))));
}

const cq_symbolic cq_symbolics_norm[] = {
    { "aten::batch_norm", 7, .fn = batch_norm },
    { "aten::native_batch_norm", 7, .fn = batch_norm },
    { "aten::layer_norm", 7, .fn = layer_norm_by_parts },
    { "aten::layer_norm", 17, .fn = layer_norm },
    { "aten::native_layer_norm", 7, .fn = layer_norm_by_parts },
    { "aten::native_layer_norm", 17, .fn = layer_norm },
    { "aten::group_norm", 7, .fn = group_norm },
    { "aten::native_group_norm", 7, .fn = group_norm },
    { "aten::group_norm", 21, .fn = group_norm_21 },
    { "aten::native_group_norm", 21, .fn = group_norm_21 },
    { "aten::rms_norm", 23, .fn = rms_norm },
    { "aten::instance_norm", 7, .fn = instance_norm },
    { 0 },
};
