/* Rules for operators other than convolutions on blocked feature maps, and the steps that replace
 * them. */
#include "runtime/fuse/images.h"

#include <math.h>
#include <string.h>

/* ---- element-wise operators ---- */

cq_status cq_img_write_same(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_node_step *to;

    for (uint32_t i = 0; i < s->step.n_in; i++)
        if (cq_img_is(s->in[i]))
            CQ_TRY(cq_img_need_blocked(&s->in[i], p, s->in[i], s, s->in[i]->shape.channels));
        else
            CQ_TRY(cq_img_need_plain(p, s->in[i], s));
    to = cq_img_step_new(p, s, s->step.row, s->step.n_in);
    if (!to)
        return CQ_E_NO_MEMORY;
    memcpy(to->in, s->in, s->step.n_in * sizeof *s->in);
    return cq_img_blocked_output(&to->out[0], p, s->out[0]);
}

static cq_status see_unary(cq_img_pass *p, cq_rt_node_step *s)
{
    (void)p;
    if (!cq_img_has_one_output(s))
        return CQ_OK;
    if (cq_img_is(s->in[0]))
        s->out[0]->shape = s->in[0]->shape;
    else if (!s->in[0]->shape.is_flat) /* it may be a plain feature map: only its size is known */
        memcpy(s->out[0]->shape.size, s->in[0]->shape.size, sizeof s->out[0]->shape.size);
    return CQ_OK;
}

/* Activations that can be fused into a convolution. Parameters are attributes. */
static const struct {
    const char *op;
    cq_ew_op    act;
    const char *a, *b;
    double      c; /* b may also be an attribute */
} activations[] = {
    { "Sigmoid", CQ_EW_SIGMOID, NULL, NULL, 0 },
    { "Tanh", CQ_EW_TANH, NULL, NULL, 0 },
    { "HardSwish", CQ_EW_HARDSWISH, NULL, NULL, 0 },
    { "LeakyRelu", CQ_EW_LEAKY_RELU, "alpha", NULL, 0 },
    { "HardSigmoid", CQ_EW_HARDSIGMOID_AFFINE, "alpha", "beta", 0 },
    { "Elu", CQ_EW_ELU, "alpha", NULL, 1 },
};

static void activate(cq_rt_fused *f, cq_rt_node_step *s, cq_ew_op act, cq_params params,
                     const char *name)
{
    f->activates  = true;
    f->act        = act;
    f->act_params = params;
    f->act_name   = name;
    cq_img_absorb(f, s);
}

static cq_status see_activation(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_fused *f  = cq_img_open_end(s->in[0]);
    cq_rt        rt = cq_img_attributes(s);

    CQ_TRY(see_unary(p, s));
    for (size_t i = 0; f && cq_img_is(s->out[0]) && i < sizeof activations / sizeof *activations;
         i++) {
        if (strcmp(activations[i].op, s->step.node->op_type) != 0)
            continue;
        activate(f, s, activations[i].act,
                 (cq_params){ .a = activations[i].a ? cq_rt_float(&rt, activations[i].a) : 0,
                              .b = activations[i].b ? cq_rt_float(&rt, activations[i].b)
                                                    : activations[i].c,
                              .c = activations[i].c },
                 activations[i].op);
        break;
    }
    return CQ_OK;
}

static cq_status see_binary(cq_img_pass *p, cq_rt_node_step *s);

/* Matches x * Sigmoid(x) and x * HardSigmoid(x), if x has no other users: SiLU and HardSwish. */
static bool see_gated(cq_rt_node_step *s)
{
    for (int i = 0; i < 2; i++) {
        cq_rt_node_value *x = s->in[i], *gate = s->in[1 - i];
        cq_rt_node_step  *g = gate->maker;
        cq_rt             rt;
        bool              hard;

        if (!g || g->step.n_in < 1 || g->in[0] != x || x->n_uses != 2 || gate->n_uses != 1 ||
            !cq_img_is_open(x->fused) || g->fused)
            continue;
        rt   = cq_img_attributes(g);
        hard = !strcmp(g->step.node->op_type, "HardSigmoid") &&
               fabs(cq_rt_float(&rt, "alpha") - 1.0 / 6) < 1e-7 && cq_rt_float(&rt, "beta") == 0.5;
        if (!hard && strcmp(g->step.node->op_type, "Sigmoid") != 0)
            continue;
        g->fused = x->fused;
        activate(x->fused, s, hard ? CQ_EW_HARDSWISH : CQ_EW_SILU, (cq_params){ 0 },
                 hard ? "HardSwish" : "Silu");
        return true;
    }
    return false;
}

static cq_status see_mul(cq_img_pass *p, cq_rt_node_step *s)
{
    CQ_TRY(see_binary(p, s));
    if (cq_img_is(s->out[0]))
        (void)see_gated(s);
    return CQ_OK;
}

/* A limit of Clip: an attribute in old versions, later an input, which must be constant. */
static bool limit_of(float *out, const cq_rt_node_step *s, const char *name, uint32_t input,
                     float fallback)
{
    cq_rt            rt = cq_img_attributes(s);
    const cq_tensor *t  = cq_img_constant(s, input);

    *out = fallback;
    if (cq_rt_attr_given(&rt, name)) {
        *out = (float)cq_rt_float(&rt, name);
        return true;
    }
    if (t && t->dtype == CQ_DTYPE_F32 && cq_tensor_numel(t) == 1)
        *out = (float)cq_tensor_get_f64(t, 0);
    else if (input < s->step.n_in && s->in[input])
        return false;
    return true;
}

bool cq_img_limits(float *lo, float *hi, const cq_rt_node_step *s)
{
    *lo = 0;
    *hi = INFINITY;
    return !strcmp(s->step.node->op_type, "Relu") ||
           (limit_of(lo, s, "min", 1, -INFINITY) && limit_of(hi, s, "max", 2, INFINITY));
}

static cq_status see_limit(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_fused *f = cq_img_open_end(s->in[0]);
    float        lo, hi;

    CQ_TRY(see_unary(p, s));
    if (!f || !cq_img_is(s->out[0]) || !cq_img_limits(&lo, &hi, s))
        return CQ_OK;
    f->clamps   = true;
    f->lo       = lo;
    f->hi       = hi;
    f->act_name = s->step.node->op_type;
    cq_img_absorb(f, s);
    return CQ_OK;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Whether input i is a single number, which broadcasts to any feature map. Constants per channel
 * are packed below. */
static bool is_scalar(const cq_rt_node_step *s, uint32_t i)
{
    const cq_tensor *t = cq_img_constant(s, i);

    return t && t->dtype == CQ_DTYPE_F32 && cq_tensor_numel(t) == 1 && t->rank <= 4;
}

/* [c, 1, 1] or [1, c, 1, 1] */
static bool is_by_channel(const cq_rt_node_step *s, uint32_t i, int64_t channels)
{
    const cq_tensor *t = cq_img_constant(s, i);
    size_t           at;

    if (!t || t->dtype != CQ_DTYPE_F32 || t->rank < 3 || t->rank > 4)
        return false;
    at = t->rank - 3;
    return cq_size_of(t, at) == channels && cq_tensor_numel(t) == channels;
}

/* Packs a constant input as a 1x1 feature map. */
static cq_status pack_constant(cq_img_pass *p, cq_rt_node_step *s, uint32_t i, int64_t channels)
{
    cq_rt_node_value *v = cq_rt_value_new(p->b, s->in[i]->name);
    cq_tensor        *to;
    const cq_tensor  *t     = cq_img_constant(s, i);
    int64_t           block = cq_block_channels();

    if (!v)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_tensor_new_uninit(&to, CQ_DTYPE_F32, 5,
                                (int64_t[]){ 1, (channels + block - 1) / block, 1, 1, block }));
    memset(cq_tensor_data(to), 0, sizeof(float) * (size_t)cq_tensor_numel(to));
    for (int64_t k = 0; k < channels; k++)
        ((float *)cq_tensor_data(to))[k] = (float)cq_tensor_get_f64(t, k);
    v->is_constant = true;
    v->constant    = cq_val_of_tensor(to);
    s->in[i]       = v;
    return CQ_OK;
}

static bool see_pair(cq_rt_node_step *s)
{
    cq_rt_node_value *a = s->step.n_in == 2 ? s->in[0] : NULL, *b = a ? s->in[1] : NULL;
    cq_rt_shape      *y;
    int64_t           c;

    if (!a || !b || !cq_img_has_one_output(s) || !(cq_img_is(a) || cq_img_is(b)))
        return false;
    c = cq_img_is(a) ? a->shape.channels : b->shape.channels;
    if (c % cq_block_channels() &&
        !strcmp(s->step.node->op_type, "Div")) /* avoids 0 / 0 in the padding after the last
                                                * channel */
        return false;
    for (uint32_t i = 0; i < 2; i++)
        if (!(cq_img_is(s->in[i]) && s->in[i]->shape.channels == c) && !is_scalar(s, i) &&
            !is_by_channel(s, i, c))
            return false;
    y           = &s->out[0]->shape;
    y->channels = c;
    for (int i = 0; i < 2; i++)
        y->size[i] = larger(a->shape.size[i], b->shape.size[i]);
    return true;
}

static cq_status see_binary(cq_img_pass *p, cq_rt_node_step *s)
{
    (void)p;
    (void)see_pair(s);
    return CQ_OK;
}

static cq_status write_binary(cq_img_pass *p, cq_rt_node_step *s)
{
    for (uint32_t i = 0; i < 2; i++)
        if (!cq_img_is(s->in[i]) && !is_scalar(s, i))
            CQ_TRY(pack_constant(p, s, i, s->out[0]->shape.channels));
    return cq_img_write_same(p, s);
}

/* Multiplication by a factor per channel, as in squeeze-and-excitation. */
static cq_status write_mul(cq_img_pass *p, cq_rt_node_step *s)
{
    CQ_TRY(write_binary(p, s));
    p->done.items[p->done.n - 1]->step.row = &cq_rt_row_blocked_mul;
    return CQ_OK;
}

/* The later of two convolutions absorbs the addition, because the result of the other one is
 * available by then. */
static cq_status see_add(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_fused *f[2];
    int          one;

    (void)p;
    if (!see_pair(s) || !cq_img_is(s->in[0]) || !cq_img_is(s->in[1]))
        return CQ_OK;
    for (int i = 0; i < 2; i++) {
        f[i] = cq_img_open_end(s->in[i]);
        if (f[i] && (!f[i]->conv || f[i]->is_transposed || f[i]->add))
            f[i] = NULL;
    }
    one = f[1] ? 1 : 0;
    if (!f[one])
        return CQ_OK;
    f[one]->add = s->in[1 - one];
    cq_img_absorb(f[one], s);
    return CQ_OK;
}

/* ---- pooling and concatenation ---- */

static cq_status see_pool(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt      rt = cq_img_attributes(s);
    cq_rt_ints kernel;
    int64_t    taps = 1;

    (void)p;
    if (!cq_img_is(s->in[0]) || !cq_img_has_one_output(s) ||
        cq_rt_attr_ints(&kernel, &rt, "kernel_shape") != CQ_OK || kernel.n != 2)
        return CQ_OK;
    for (size_t i = 0; i < 2; i++) {
        if (kernel.at[i] < 1 || kernel.at[i] > CQ_BLOCKED_POOL_TAPS)
            return CQ_OK;
        taps *= kernel.at[i];
    }
    if (taps > CQ_BLOCKED_POOL_TAPS)
        return CQ_OK;
    s->out[0]->shape.channels = s->in[0]->shape.channels;
    cq_img_see_positions(&s->out[0]->shape, s, &s->in[0]->shape, NULL);
    return CQ_OK;
}

/* Replaces a step that maps one feature map to another by its blocked form. */
static cq_status write_blocked(cq_img_pass *p, const cq_rt_node_step *s, const cq_rt_row *row,
                               cq_rt_node_value *x, cq_rt_node_value *to)
{
    const cq_rt_repack how  = { .channels = x->shape.channels };
    cq_rt_repack      *keep = cq_arena_copy(p->b->all->arena, &how, sizeof how);
    cq_rt_node_step *new;

    CQ_TRY(cq_img_need_blocked(&x, p, x, s, how.channels));
    new = cq_img_step_new(p, s, row, 1);
    if (!new || !keep)
        return CQ_E_NO_MEMORY;
    new->in[0]         = x;
    new->step.prepared = keep;
    return cq_img_blocked_output(&new->out[0], p, to);
}

static cq_status write_max_pool(cq_img_pass *p, cq_rt_node_step *s)
{
    return write_blocked(p, s, &cq_rt_row_blocked_max_pool, s->in[0], s->out[0]);
}

static cq_status write_average_pool(cq_img_pass *p, cq_rt_node_step *s)
{
    return write_blocked(p, s, &cq_rt_row_blocked_average_pool, s->in[0], s->out[0]);
}

static cq_status see_mean(cq_img_pass *p, cq_rt_node_step *s)
{
    (void)p;
    if (cq_img_is(s->in[0]) && cq_img_has_one_output(s))
        s->out[0]->shape = (cq_rt_shape){ .channels = s->in[0]->shape.channels, .size = { 1, 1 } };
    return CQ_OK;
}

static cq_status write_mean(cq_img_pass *p, cq_rt_node_step *s)
{
    return write_blocked(p, s, &cq_rt_row_blocked_mean, s->in[0], s->out[0]);
}

/* ReduceMean over both spatial axes is a global average pooling; its result may be flattened. */
static cq_status see_reduce_mean(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt      rt = cq_img_attributes(s);
    cq_rt_ints axes;
    cq_val     in[2] = { CQ_NONE, CQ_NONE };
    uint32_t   bits  = 0;

    if (s->step.n_in > 1 && s->in[1] && !cq_img_constant(s, 1))
        return CQ_OK;
    if (cq_img_constant(s, 1))
        in[1] = s->in[1]->constant;
    rt.in   = in;
    rt.n_in = s->step.n_in < 2 ? s->step.n_in : 2;
    if (cq_rt_ints_of(&axes, &rt, "axes", 1) != CQ_OK)
        return CQ_OK;
    for (size_t i = 0; i < axes.n; i++)
        if (axes.at[i] >= -4 && axes.at[i] < 4)
            bits |= 1u << (axes.at[i] & 3);
    if (axes.n != 2 || bits != (1u << 2 | 1u << 3))
        return CQ_OK;
    CQ_TRY(see_mean(p, s));
    if (s->out[0])
        s->out[0]->shape.is_flat = !cq_rt_int(&rt, "keepdims");
    return CQ_OK;
}

static cq_status write_reduce_mean(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_node_value *y = s->out[0], *image;

    if (!y->shape.is_flat)
        return write_mean(p, s);
    image = cq_rt_value_new(p->b, y->name);
    if (!image)
        return CQ_E_NO_MEMORY;
    image->shape.channels = y->shape.channels;
    CQ_TRY(write_blocked(p, s, &cq_rt_row_blocked_mean, s->in[0], image));
    return cq_img_repack(p, s, &cq_rt_row_unpack, image->blocked, y,
                         &(cq_rt_repack){ .channels = image->shape.channels, .is_flat = true });
}

/* ---- the table ---- */

const cq_img_rule cq_img_rules[] = {
    { "Conv", cq_img_see_conv, NULL }, /* rewritten when they are fused */
    { "ConvTranspose", cq_img_see_transposed, NULL },
    { "BatchNormalization", cq_img_see_norm, NULL },
    { "Relu", see_limit, cq_img_write_same },
    { "Clip", see_limit, cq_img_write_same },
    { "Add", see_add, write_binary },
    { "Sum", see_add, write_binary },
    { "Sub", see_binary, write_binary },
    { "Mul", see_mul, write_mul },
    { "Div", see_binary, write_binary },
    { "PRelu", see_binary, write_binary },
    { "LeakyRelu", see_activation, cq_img_write_same },
    { "Sigmoid", see_activation, cq_img_write_same },
    { "Tanh", see_activation, cq_img_write_same },
    { "HardSwish", see_activation, cq_img_write_same },
    { "HardSigmoid", see_activation, cq_img_write_same },
    { "Elu", see_activation, cq_img_write_same },
    { "Selu", see_unary, cq_img_write_same },
    { "Celu", see_unary, cq_img_write_same },
    { "Softplus", see_unary, cq_img_write_same },
    { "Softsign", see_unary, cq_img_write_same },
    { "Abs", see_unary, cq_img_write_same },
    { "Neg", see_unary, cq_img_write_same },
    { "Mish", see_unary, cq_img_write_same },
    { "MaxPool", see_pool, write_max_pool },
    { "AveragePool", see_pool, write_average_pool },
    { "GlobalAveragePool", see_mean, write_mean },
    { "ReduceMean", see_reduce_mean, write_reduce_mean },
    { "Concat", cq_img_see_concat, cq_img_write_gather },
    { "Slice", cq_img_see_slice, cq_img_write_gather },
    { "Split", cq_img_see_split, cq_img_write_gather },
    { "Gather", cq_img_see_gather, cq_img_write_gather },
    { "Reshape", cq_img_see_reshape, cq_img_write_gather },
    { 0 },
};
