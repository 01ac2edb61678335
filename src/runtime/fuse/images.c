/* Keeps feature maps in blocks of channels between steps that support that layout, and fuses a
 * convolution with the steps after it. The first pass visits all steps in order and decides which
 * can be blocked, given that their inputs are, and which become part of the convolution before them
 * (normalisation, addition, clipping). The second pass rewrites the steps: a value exists plain,
 * blocked, or both, and is converted where a step needs the other layout. A fused step replaces the
 * last of its parts, because all its inputs have been computed by then. */
#include "runtime/fuse/images.h"

#include "runtime/kernels/window.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- matching ---- */

cq_tensor *cq_img_constant(const cq_rt_node_step *s, uint32_t i)
{
    const cq_rt_node_value *v = i < s->step.n_in ? s->in[i] : NULL;

    return v && v->is_constant && v->constant.kind == CQ_VAL_TENSOR ? v->constant.u.tensor : NULL;
}

/* A constant vector of n float32, contiguous. */
static const float *vector_of(const cq_rt_node_step *s, uint32_t i, int64_t n)
{
    const cq_tensor *t = cq_img_constant(s, i);

    if (!t || t->dtype != CQ_DTYPE_F32 || t->rank != 1 || cq_size_of(t, 0) != n ||
        !cq_tensor_is_contiguous(t))
        return NULL;
    return cq_tensor_data(t);
}

cq_rt cq_img_attributes(const cq_rt_node_step *s)
{
    return (cq_rt){ .step = &s->step };
}

/* Whether only output 0 is used. */
bool cq_img_has_one_output(const cq_rt_node_step *s)
{
    if (!s->step.n_out || !s->out[0])
        return false;
    for (uint32_t i = 1; i < s->step.n_out; i++)
        if (s->out[i] && s->out[i]->n_uses)
            return false;
    return true;
}

bool cq_img_is(const cq_rt_node_value *v)
{
    return v && v->shape.channels > 0 && !v->shape.is_flat;
}

/* Whether a later step can still be fused into f: it has neither limits nor an activation yet. */
bool cq_img_is_open(const cq_rt_fused *f)
{
    return f && !f->clamps && !f->activates;
}

cq_rt_fused *cq_img_open_end(const cq_rt_node_value *v)
{
    return v && v->fused && v->n_uses == 1 && cq_img_is_open(v->fused) ? v->fused : NULL;
}

void cq_img_absorb(cq_rt_fused *f, cq_rt_node_step *s)
{
    f->last          = s;
    s->fused         = f;
    s->out[0]->fused = f;
}

static cq_rt_fused *fused_new(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_fused *f = cq_arena_zalloc(p->b->all->arena, sizeof *f);

    if (f)
        cq_img_absorb(f, s);
    return f;
}

/* The number of window positions on a feature map, if its size is known. */
void cq_img_see_positions(cq_rt_shape *out, const cq_rt_node_step *s, const cq_rt_shape *in,
                          const cq_tensor *weight)
{
    const bool       is_transposed = !strcmp(s->step.node->op_type, "ConvTranspose");
    cq_rt            rt            = cq_img_attributes(s);
    cq_rt_image      image;
    cq_rt_window     w;
    cq_rt_sizes      sizes;
    const cq_tensor *x =
        cq_rt_image_of(&image, 1, in->channels ? in->channels : 1, in->size[0], in->size[1]);

    out->size[0] = out->size[1] = 0;
    if (!in->size[0] || !in->size[1])
        return;
    if (cq_rt_window_read(&w, &rt, x, weight) != CQ_OK ||
        (is_transposed ? cq_rt_transposed_sizes(&sizes, &w, &rt, x)
                       : cq_rt_window_positions(sizes.at + 2, &w, x)) != CQ_OK)
        return;
    out->size[0] = sizes.at[2];
    out->size[1] = sizes.at[3];
}

/* ---- rewriting ---- */

cq_rt_node_step *cq_img_step_new(cq_img_pass *p, const cq_rt_node_step *like, const cq_rt_row *row,
                                 uint32_t n_in)
{
    cq_arena        *arena = p->b->all->arena;
    cq_rt_node_step *s     = cq_arena_zalloc(arena, sizeof *s);

    if (!s || cq_vec_push(&p->done, s) != CQ_OK)
        return NULL;
    s->step       = like->step;
    s->step.row   = row;
    s->step.n_in  = n_in;
    s->step.n_out = 1;
    s->in         = cq_arena_array(arena, n_in ? n_in : 1, sizeof *s->in);
    s->out        = cq_arena_array(arena, 1, sizeof *s->out);
    return s->in && s->out ? s : NULL;
}

cq_status cq_img_repack(cq_img_pass *p, const cq_rt_node_step *at, const cq_rt_row *row,
                        cq_rt_node_value *from, cq_rt_node_value *to, const cq_rt_repack *how)
{
    cq_rt_node_step *s    = cq_img_step_new(p, at, row, 1);
    cq_rt_repack    *keep = cq_arena_copy(p->b->all->arena, how, sizeof *how);

    if (!s || !keep)
        return CQ_E_NO_MEMORY;
    s->in[0]         = from;
    s->out[0]        = to;
    s->step.prepared = keep;
    s->step.label    = row->op;
    return CQ_OK;
}

static cq_rt_node_value *twin(cq_img_pass *p, cq_rt_node_value *v)
{
    if (!v->blocked)
        v->blocked = cq_rt_value_new(p->b, v->name);
    return v->blocked;
}

/* Returns v in the blocked layout for step at; adds a conversion if necessary. */
cq_status cq_img_need_blocked(cq_rt_node_value **out, cq_img_pass *p, cq_rt_node_value *v,
                              const cq_rt_node_step *at, int64_t channels)
{
    bool made = v->blocked != NULL;

    *out = twin(p, v);
    if (!*out)
        return CQ_E_NO_MEMORY;
    if (made)
        return CQ_OK;
    return cq_img_repack(p, at, &cq_rt_row_pack, v, *out, &(cq_rt_repack){ .channels = channels });
}

cq_status cq_img_need_plain(cq_img_pass *p, cq_rt_node_value *v, const cq_rt_node_step *at)
{
    if (!v || !v->is_gone)
        return CQ_OK;
    v->is_gone = false;
    return cq_img_repack(p, at, &cq_rt_row_unpack, v->blocked, v,
                         &(cq_rt_repack){ .channels = v->shape.channels });
}

/* The blocked output of step s; the plain value v is not computed. */
cq_status cq_img_blocked_output(cq_rt_node_value **out, cq_img_pass *p, cq_rt_node_value *v)
{
    *out       = twin(p, v);
    v->is_gone = true;
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status write_plain(cq_img_pass *p, cq_rt_node_step *s)
{
    for (uint32_t i = 0; i < s->step.n_in; i++)
        CQ_TRY(cq_img_need_plain(p, s->in[i], s));
    for (cq_rt_builder *g = s->inner; g; g = g->next)
        for (size_t i = 0; i < g->plan->n_captures; i++)
            CQ_TRY(cq_img_need_plain(p, g->around[i], s));
    return cq_vec_push(&p->done, s);
}

/* ---- convolution ---- */

static bool conv_spec(cq_bconv_spec *out, const cq_rt_node_step *s, bool is_transposed)
{
    const cq_tensor *w  = cq_img_constant(s, 1);
    cq_rt            rt = cq_img_attributes(s);
    cq_rt_image      image;
    cq_rt_window     window;

    *out = (cq_bconv_spec){ .w = w, .groups = cq_rt_int(&rt, "group") };
    if (!w || w->rank != 4 || w->dtype != CQ_DTYPE_F32 || !s->in[0] || !cq_img_has_one_output(s))
        return false;
    if (s->step.n_in > 2 && s->in[2] &&
        !(out->bias = vector_of(s, 2, cq_size_of(w, is_transposed ? 1 : 0))))
        return false;
    if (cq_rt_window_read(&window, &rt, cq_rt_image_of(&image, 1, 1, 1, 1), w) != CQ_OK)
        return false; /* the step reports the error when it runs */
    for (int i = 0; i < 2; i++) {
        out->stride[i]   = window.w.stride[i];
        out->dilation[i] = window.w.dilation[i];
    }
    if (is_transposed)
        return cq_btranspose_supports(out);
    if (!cq_img_is(s->in[0])) {
        out->plain_input = true;
        if (cq_bconv_supports(out))
            return true;
        out->plain_input = false;
    }
    return cq_bconv_supports(out);
}

/* Records the sizes even if the convolution is computed in the plain layout. */
static cq_status see_conv(cq_img_pass *p, cq_rt_node_step *s, bool is_transposed)
{
    const cq_tensor  *w = cq_img_constant(s, 1);
    cq_rt_node_value *x = s->in[0], *y;
    cq_bconv_spec     spec;

    if (!w || w->rank != 4 || !x || !cq_img_has_one_output(s))
        return CQ_OK;
    y = s->out[0];
    cq_img_see_positions(&y->shape, s, &x->shape, w);
    if (!conv_spec(&spec, s, is_transposed) ||
        (cq_img_is(x) && x->shape.channels != cq_size_of(w, is_transposed ? 0 : 1) * spec.groups))
        return CQ_OK;
    y->shape.channels = cq_size_of(w, is_transposed ? 1 : 0);
    y->fused          = fused_new(p, s);
    if (!y->fused)
        return CQ_E_NO_MEMORY;
    y->fused->conv          = s;
    y->fused->is_transposed = is_transposed;
    return CQ_OK;
}

cq_status cq_img_see_conv(cq_img_pass *p, cq_rt_node_step *s)
{
    return see_conv(p, s, false);
}

cq_status cq_img_see_transposed(cq_img_pass *p, cq_rt_node_step *s)
{
    return see_conv(p, s, true);
}

/* Converts a BatchNormalization to scale[i] * x + shift[i]. */
static void norm_numbers(float *scale, float *shift, const cq_rt_node_step *s, int64_t n)
{
    cq_rt        rt    = cq_img_attributes(s);
    const float *gamma = vector_of(s, 1, n), *beta = vector_of(s, 2, n);
    const float *mean = vector_of(s, 3, n), *var = vector_of(s, 4, n);
    double       epsilon = cq_rt_float(&rt, "epsilon");

    for (int64_t i = 0; i < n; i++) {
        double by = (double)gamma[i] / sqrt((double)var[i] + epsilon);

        scale[i] = (float)by;
        shift[i] = (float)((double)beta[i] - (double)mean[i] * by);
    }
}

/* Folds the normalisation into the weight and bias of the convolution. */
static cq_status fold_norm(cq_tensor **w, float *bias, const cq_rt_fused *f,
                           const cq_bconv_spec *spec)
{
    int64_t n     = cq_size_of(spec->w, f->is_transposed ? 1 : 0);
    int64_t each  = cq_tensor_numel(spec->w) / n; /* contiguous elements */
    float  *scale = cq_alloc_array((size_t)n, sizeof *scale), *to;

    *w = NULL;
    if (!scale)
        return CQ_E_NO_MEMORY;
    if (f->is_transposed)
        each = cq_size_of(spec->w, 2) * cq_size_of(spec->w, 3);
    norm_numbers(scale, bias, f->norm, n);
    if (cq_tensor_clone(w, spec->w, CQ_DTYPE_NONE) == CQ_OK) {
        to = cq_tensor_data(*w);
        for (int64_t i = 0; i < n; i++)
            bias[i] += spec->bias ? scale[i] * spec->bias[i] : 0;
        for (int64_t i = 0; i < cq_tensor_numel(*w); i++)
            to[i] *= scale[i / each % n];
    }
    cq_free(scale);
    return *w ? CQ_OK : CQ_E_NO_MEMORY;
}

static void bconv_release(void *what)
{
    cq_bconv_free(what);
}

static void btranspose_release(void *what)
{
    cq_btranspose_free(what);
}

static cq_status prepare_conv(cq_rt_bconv *out, cq_img_pass *p, const cq_rt_fused *f,
                              cq_bconv_spec *spec)
{
    const cq_tensor *mapped = spec->w; /* usually mapped from a file */
    cq_tensor       *w      = NULL;
    float           *bias   = NULL;
    cq_status        status;

    if (f->norm) {
        bias = cq_alloc_array((size_t)cq_size_of(spec->w, f->is_transposed ? 1 : 0), sizeof *bias);
        CQ_TRY_OR_DONE(bias ? CQ_OK : CQ_E_NO_MEMORY);
        CQ_TRY_OR_DONE(fold_norm(&w, bias, f, spec));
        spec->w    = w;
        spec->bias = bias;
    }
    for (size_t i = 0; i < 4; i++)
        out->weight[i] = cq_size_of(spec->w, i);
    if (f->is_transposed) {
        CQ_TRY_OR_DONE(cq_btranspose_new(&out->transposed, spec));
        status = cq_rt_own(p->b, p->plan, out->transposed, btranspose_release);
    } else {
        CQ_TRY_OR_DONE(cq_bconv_new(&out->conv, spec));
        status = cq_rt_own(p->b, p->plan, out->conv, bconv_release);
    }
    cq_rt_was_packed(mapped);
done:
    cq_tensor_release(w);
    cq_free(bias);
    return status;
}

static const char *label_of(cq_img_pass *p, const cq_rt_fused *f)
{
    char text[96];

    snprintf(text, sizeof text, "%s%s%s%s%s%s", f->conv ? f->conv->step.node->op_type : "",
             f->conv && f->norm ? "+" : "", f->norm ? "BatchNormalization" : "",
             f->add ? "+Add" : "", f->act_name ? "+" : "", f->act_name ? f->act_name : "");
    return cq_arena_strdup(p->b->all->arena, text);
}

static cq_status write_conv(cq_img_pass *p, const cq_rt_fused *f)
{
    cq_rt_bconv      *keep = cq_arena_zalloc(p->b->all->arena, sizeof *keep);
    cq_rt_node_value *x = f->conv->in[0], *y = f->last->out[0], *add = NULL;
    const cq_rt_row  *row = &cq_rt_row_bconv;
    cq_rt_node_step  *s;
    cq_bconv_spec     spec;

    if (!keep)
        return CQ_E_NO_MEMORY;
    conv_spec(&spec, f->conv, f->is_transposed);
    keep->plain_input = spec.plain_input;
    keep->clamps = spec.clamps = f->clamps;
    keep->activates = spec.activates = f->activates;
    keep->act = spec.act = f->act;
    keep->act_params = spec.act_params = f->act_params;
    keep->lo = spec.lo = f->lo;
    keep->hi = spec.hi = f->hi;
    memcpy(spec.out_size, y->shape.size, sizeof spec.out_size);
    CQ_TRY(prepare_conv(keep, p, f, &spec));
    if (spec.plain_input)
        CQ_TRY(cq_img_need_plain(p, x, f->conv));
    else
        CQ_TRY(cq_img_need_blocked(&x, p, x, f->conv,
                                   f->is_transposed ? keep->weight[0]
                                                    : cq_bconv_channels(keep->conv, false)));
    if (f->add)
        CQ_TRY(cq_img_need_blocked(&add, p, f->add, f->last, y->shape.channels));
    if (f->is_transposed)
        row = &cq_rt_row_btranspose;
    else if (cq_bconv_adds_in_place(keep->conv))
        row = &cq_rt_row_bconv_over; /* the sum may overwrite its addend */
    s = cq_img_step_new(p, f->conv, row, add ? 2 : 1);
    if (!s)
        return CQ_E_NO_MEMORY;
    s->in[0] = x;
    if (add)
        s->in[1] = add;
    s->step.prepared = keep;
    s->step.label    = label_of(p, f);
    return cq_img_blocked_output(&s->out[0], p, y);
}

/* ---- normalisation ---- */

cq_status cq_img_see_norm(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt_node_value *x  = s->in[0];
    cq_rt_fused      *f  = cq_img_open_end(x);
    cq_rt             rt = cq_img_attributes(s);

    if (!cq_img_is(x) || !cq_img_has_one_output(s) || cq_rt_int(&rt, "training_mode"))
        return CQ_OK;
    for (uint32_t i = 1; i <= 4; i++)
        if (!vector_of(s, i, x->shape.channels))
            return CQ_OK;
    if (f && f->conv && !f->norm && !f->add)
        cq_img_absorb(f, s);
    else if (!(f = fused_new(p, s)))
        return CQ_E_NO_MEMORY;
    f->norm          = s;
    s->out[0]->shape = x->shape;
    return CQ_OK;
}

static cq_status write_norm(cq_img_pass *p, const cq_rt_fused *f)
{
    cq_rt_node_value *x = f->norm->in[0], *y = f->last->out[0];
    int64_t           n = x->shape.channels, block = cq_block_channels();
    int64_t           padded = (n + block - 1) / block * block;
    cq_rt_affine     *keep =
        cq_arena_zalloc(p->b->all->arena, sizeof *keep + 2 * (size_t)padded * sizeof(float));
    cq_rt_node_step *s;

    if (!keep)
        return CQ_E_NO_MEMORY;
    keep->a          = (cq_blocked_affine){ .scale  = keep->numbers,
                                            .shift  = keep->numbers + padded,
                                            .clamps = f->clamps,
                                            .lo     = f->lo,
                                            .hi     = f->hi };
    keep->activates  = f->activates;
    keep->act        = f->act;
    keep->act_params = f->act_params;
    norm_numbers(keep->numbers, keep->numbers + padded, f->norm, n);
    CQ_TRY(cq_img_need_blocked(&x, p, x, f->norm, n));
    s = cq_img_step_new(p, f->norm, &cq_rt_row_affine, 1);
    if (!s)
        return CQ_E_NO_MEMORY;
    s->in[0]         = x;
    s->step.prepared = keep;
    s->step.label    = label_of(p, f);
    return cq_img_blocked_output(&s->out[0], p, y);
}

/* ---- the pass ---- */

static const cq_img_rule *rule_of(const cq_rt_node_step *s)
{
    const cq_onnx_node *node = s->step.node;

    if (!s->step.n_in || !s->in[0] || s->step.row->flags & CQ_RT_OWN ||
        (node->domain && *node->domain && strcmp(node->domain, "ai.onnx") != 0))
        return NULL;
    for (const cq_img_rule *r = cq_img_rules; r->op; r++)
        if (!strcmp(r->op, node->op_type))
            return r;
    return NULL;
}

/* Records the sizes of feature maps among the inputs. */
static void see_inputs(cq_rt_builder *b)
{
    for (size_t i = 0; i < b->inputs.n; i++) {
        cq_rt_node_value          *v    = b->inputs.items[i];
        const cq_onnx_tensor_type *type = v->type ? v->type->tensor_type : NULL;

        if (!type || !type->shape || type->shape->dim.n != 4)
            continue;
        for (uint32_t k = 0; k < 2; k++)
            if (type->shape->dim.items[k + 2]->dim_value > 0)
                v->shape.size[k] = type->shape->dim.items[k + 2]->dim_value;
    }
}

static cq_status write_step(cq_img_pass *p, cq_rt_node_step *s)
{
    const cq_img_rule *r = rule_of(s);

    if ((s->fused && s != s->fused->last) || (s->step.n_out && s->out[0] && s->out[0]->is_constant))
        return CQ_OK;
    if (s->fused)
        return s->fused->conv ? write_conv(p, s->fused) : write_norm(p, s->fused);
    if (r && s->step.n_out && s->out[0] && s->out[0]->shape.channels > 0)
        return r->write(p, s);
    return write_plain(p, s);
}

cq_status cq_rt_optimize_images(cq_rt_builder *b, cq_rt_plan *plan)
{
    cq_img_pass p      = { .b = b, .plan = plan };
    cq_status   status = CQ_OK;

    see_inputs(b);
    for (size_t i = 0; i < b->steps.n; i++) {
        const cq_img_rule *r = rule_of(b->steps.items[i]);

        if (p.knows && cq_rt_fold(b, b->steps.items[i]))
            continue;
        if (r)
            CQ_TRY_OR_DONE(r->see(&p, b->steps.items[i]));
    }
    for (size_t i = 0; i < b->steps.n; i++)
        CQ_TRY_OR_DONE(write_step(&p, b->steps.items[i]));
    for (size_t i = 0; i < b->outputs.n; i++)
        if (b->outputs.items[i]->is_gone)
            CQ_TRY_OR_DONE(cq_img_need_plain(&p, b->outputs.items[i], b->outputs.items[i]->maker));
    b->steps.n = 0;
    for (size_t i = 0; i < p.done.n; i++)
        CQ_TRY_OR_DONE(cq_vec_push(&b->steps, p.done.items[i]));
done:
    cq_vec_clear(&p.done);
    return status;
}
