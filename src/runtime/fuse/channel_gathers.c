/* Channel gathers: feature maps that consist of channels of other feature maps in any order, as
 * computed by Concat, Slice, Gather and channel shuffles. Consecutive gathers are merged. */
#include "runtime/fuse/images.h"

#include "base/alloc.h"

#include <string.h>

enum {
    MAX_GATHERED = 1 << 18, /* limit of gathered channels in a graph: a few nodes can double the
                             * number repeatedly */
    MAX_MOVES = 4,          /* vectors read per vector written */
};

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* A call whose inputs are the constant inputs of the step. */
static cq_rt call_of(const cq_rt_node_step *s, cq_val *in, uint32_t n)
{
    cq_rt rt = cq_img_attributes(s);

    for (uint32_t i = 0; i < n; i++)
        in[i] = cq_img_constant(s, i) ? s->in[i]->constant : CQ_NONE;
    rt.in   = in;
    rt.n_in = s->step.n_in < n ? s->step.n_in : n;
    return rt;
}

/* Whether all inputs from the second on are constant or omitted. */
static bool has_constants(const cq_rt_node_step *s)
{
    for (uint32_t i = 1; i < s->step.n_in; i++)
        if (s->in[i] && !cq_img_constant(s, i))
            return false;
    return true;
}

static bool is_op(const cq_rt_node_step *s, const char *op)
{
    return s && !(s->step.row->flags & CQ_RT_OWN) && !strcmp(s->step.node->op_type, op) &&
           (!s->step.node->domain || !*s->step.node->domain);
}

/* ---- matching ---- */

/* Lists the feature maps that n channels come from, and converts each channel to an index in that
 * list. */
static cq_status images_of(cq_rt_node_value ***images, uint32_t *n_images,
                           cq_blocked_channel **numbers, const cq_rt_channel *channels, int64_t n)
{
    uint32_t at = 0;

    *n_images = 0;
    *images   = cq_alloc_array((size_t)n, sizeof **images);
    *numbers  = cq_alloc_array((size_t)n, sizeof **numbers);
    if (!*images || !*numbers)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < n; i++) {
        if (at >= *n_images || (*images)[at] != channels[i].image)
            for (at = 0; at < *n_images && (*images)[at] != channels[i].image;)
                at++;
        if (at == *n_images)
            (*images)[(*n_images)++] = channels[i].image;
        (*numbers)[i] = (cq_blocked_channel){ at, channels[i].at };
    }
    return CQ_OK;
}

/* Merges the required sizes; false if they contradict each other. */
static bool agree(int64_t *want, const int64_t *other)
{
    for (int i = 0; i < 3; i++) {
        if (want[i] >= 0 && other[i] >= 0 && want[i] != other[i])
            return false;
        want[i] = larger(want[i], other[i]);
    }
    return true;
}

/* Resolves gathers of gathers to their sources; false if they require different sizes. */
static bool resolve_sources(cq_rt_gather_shape *out, const cq_rt_gather_shape *in, int64_t n)
{
    const cq_rt_node_value *last = NULL;

    memcpy(out->want, in->want, sizeof in->want);
    for (int64_t i = 0; i < n; i++) {
        const cq_rt_channel     c     = in->channels[i];
        const cq_rt_node_value *image = c.image;

        if (image->gathered && image != last && !agree(out->want, image->gathered->want))
            return false;
        out->channels[i] = image->gathered ? image->gathered->channels[c.at] : c;
        last             = image;
    }
    return true;
}

/* Resolves gathers of gathers, unless the result needs too many moves. */
static cq_status merge_gathers(cq_rt_gather_shape *gathered, int64_t n)
{
    const size_t        size    = sizeof *gathered + (size_t)n * sizeof *gathered->channels;
    cq_rt_gather_shape *behind  = cq_alloc(size);
    cq_rt_node_value  **images  = NULL;
    cq_blocked_channel *numbers = NULL;
    const int64_t       block   = cq_block_channels();
    uint32_t            n_images;
    cq_status           status = CQ_OK;

    CQ_TRY_OR_DONE(behind ? CQ_OK : CQ_E_NO_MEMORY);
    if (!resolve_sources(behind, gathered, n))
        goto done;
    CQ_TRY_OR_DONE(images_of(&images, &n_images, &numbers, behind->channels, n));
    if (cq_blocked_moves(numbers, n) <= (n + block - 1) / block * MAX_MOVES)
        memcpy(gathered, behind, size);
done:
    cq_free(behind);
    cq_free(images);
    cq_free(numbers);
    return status;
}

static bool has_room(const cq_img_pass *p, int64_t n)
{
    return n > 0 && n <= MAX_GATHERED - p->n_gathered;
}

/* Allocates a gather of n channels; NULL if out of memory. */
static cq_rt_gather_shape *gather_new(cq_img_pass *p, int64_t n)
{
    cq_rt_gather_shape *gathered = cq_arena_zalloc(
        p->b->all->arena, sizeof *gathered + (size_t)n * sizeof *gathered->channels);
    p->n_gathered += n;
    for (int i = 0; gathered && i < 3; i++)
        gathered->want[i] = -1;
    return gathered;
}

/* Makes v a channel gather with the spatial shape of another feature map. */
static cq_status set_gather(cq_rt_node_value *v, cq_rt_gather_shape *gathered, int64_t n,
                            const cq_rt_shape *like)
{
    if (!gathered)
        return CQ_E_NO_MEMORY;
    CQ_TRY(merge_gathers(gathered, n));
    v->gathered       = gathered;
    v->shape          = *like;
    v->shape.channels = n;
    return CQ_OK;
}

/* Makes v a gather of n channels of x: start, start + step, … */
static cq_status gather_range(cq_img_pass *p, cq_rt_node_value *v, cq_rt_node_value *x,
                              int64_t start, int64_t step, int64_t n)
{
    cq_rt_gather_shape *gathered = gather_new(p, n);

    for (int64_t i = 0; gathered && i < n; i++)
        gathered->channels[i] = (cq_rt_channel){ x, start + step * i };
    return set_gather(v, gathered, n, &x->shape);
}

/* If all inputs but the last have whole blocks, the blocks are simply concatenated. */
cq_status cq_img_see_concat(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_rt               rt       = cq_img_attributes(s);
    cq_rt_shape         shape    = { 0 };
    bool                is_whole = true;
    cq_rt_gather_shape *gathered;
    int64_t             n = 0;

    if (cq_rt_int(&rt, "axis") != 1 || !cq_img_has_one_output(s))
        return CQ_OK;
    for (uint32_t i = 0; i < s->step.n_in; i++) {
        if (!cq_img_is(s->in[i]))
            return CQ_OK;
        is_whole &= shape.channels % cq_block_channels() == 0;
        if (__builtin_add_overflow(shape.channels, s->in[i]->shape.channels, &shape.channels))
            return CQ_OK; /* too many channels: such a model cannot run */
        for (int k = 0; k < 2; k++)
            shape.size[k] = larger(shape.size[k], s->in[i]->shape.size[k]);
    }
    if (is_whole) {
        s->out[0]->shape = shape;
        return CQ_OK;
    }
    if (!has_room(p, shape.channels))
        return CQ_OK;
    gathered = gather_new(p, shape.channels);
    for (uint32_t i = 0; gathered && i < s->step.n_in; i++)
        for (int64_t k = 0; k < s->in[i]->shape.channels; k++)
            gathered->channels[n++] = (cq_rt_channel){ s->in[i], k };
    return set_gather(s->out[0], gathered, n, &shape);
}

cq_status cq_img_see_slice(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_val     in[5];
    cq_rt      rt = call_of(s, in, 5);
    cq_rt_ints starts, ends, axes, steps;
    int64_t    start, step, n;

    if (!cq_img_is(s->in[0]) || !has_constants(s) ||
        cq_rt_ints_of(&starts, &rt, "starts", 1) != CQ_OK ||
        cq_rt_ints_of(&ends, &rt, "ends", 2) != CQ_OK ||
        cq_rt_ints_of(&axes, &rt, "axes", 3) != CQ_OK || cq_rt_in_ints(&steps, &rt, 4) != CQ_OK ||
        starts.n != 1 || ends.n != 1 || axes.n != 1 || (axes.at[0] != 1 && axes.at[0] != -3))
        return CQ_OK;
    start = starts.at[0];
    step  = steps.given ? steps.at[0] : 1;
    if (step == 0 || step == INT64_MIN || (steps.given && steps.n != 1))
        return CQ_OK;
    n = cq_rt_slice_range(&start, ends.at[0], step, s->in[0]->shape.channels);
    return has_room(p, n) ? gather_range(p, s->out[0], s->in[0], start, step, n) : CQ_OK;
}

cq_status cq_img_see_split(cq_img_pass *p, cq_rt_node_step *s)
{
    cq_val        in[2];
    cq_rt         rt   = call_of(s, in, 2);
    int64_t       axis = cq_rt_int(&rt, "axis"), start = 0;
    cq_rt_lengths lengths;

    if (!cq_img_is(s->in[0]) || !has_constants(s) || (axis != 1 && axis != -3) ||
        !has_room(p, s->in[0]->shape.channels) ||
        cq_rt_split_lengths(&lengths, &rt, s->in[0]->shape.channels) != CQ_OK)
        return CQ_OK;
    for (uint32_t i = 0; i < s->step.n_out; i++)
        if (!s->out[i] || cq_rt_length_at(&lengths, i) < 1)
            return CQ_OK;
    for (uint32_t i = 0; i < s->step.n_out; start += cq_rt_length_at(&lengths, i++))
        CQ_TRY(gather_range(p, s->out[i], s->in[0], start, 1, cq_rt_length_at(&lengths, i)));
    return CQ_OK;
}

/* Folds Gather(Shape(image), 1) if the number of channels is known. */
static cq_status see_channels(cq_img_pass *p, cq_rt_node_step *s)
{
    const cq_rt_node_step *shape = s->in[0]->maker;
    const cq_tensor       *index = cq_img_constant(s, 1);
    cq_rt                  rt    = cq_img_attributes(s);
    cq_tensor             *t;
    int64_t                at;

    if (!is_op(shape, "Shape") || !shape->step.n_in || !cq_img_is(shape->in[0]) ||
        shape->step.node->attribute.n || !index || index->dtype != CQ_DTYPE_I64 ||
        cq_tensor_numel(index) != 1 || index->rank > 1 || cq_rt_int(&rt, "axis") != 0)
        return CQ_OK;
    at = cq_tensor_get_i64(index, 0);
    if (at != 1 && at != -3)
        return CQ_OK;
    CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_I64, index->rank, (const int64_t[]){ 1 },
                         &shape->in[0]->shape.channels));
    s->out[0]->is_constant = true;
    s->out[0]->constant    = cq_val_of_tensor(t);
    p->knows               = true;
    return CQ_OK;
}

cq_status cq_img_see_gather(cq_img_pass *p, cq_rt_node_step *s)
{
    const cq_tensor    *indices = cq_img_constant(s, 1);
    cq_rt               rt      = cq_img_attributes(s);
    int64_t             axis    = cq_rt_int(&rt, "axis"), n, c;
    cq_rt_gather_shape *gathered;

    if (!cq_img_is(s->in[0]))
        return see_channels(p, s);
    if ((axis != 1 && axis != -3) || !indices || indices->rank != 1 ||
        !has_room(p, cq_tensor_numel(indices)))
        return CQ_OK;
    n = cq_tensor_numel(indices);
    c = s->in[0]->shape.channels;
    for (int64_t i = 0; i < n; i++)
        if (cq_tensor_get_i64(indices, i) < -c || cq_tensor_get_i64(indices, i) >= c)
            return CQ_OK;
    gathered = gather_new(p, n);
    for (int64_t i = 0; gathered && i < n; i++) {
        int64_t at = cq_tensor_get_i64(indices, i);

        gathered->channels[i] = (cq_rt_channel){ s->in[0], at < 0 ? at + c : at };
    }
    return set_gather(s->out[0], gathered, n, &s->in[0]->shape);
}

/* Reads a constant shape of n sizes, of which the first may be 0 (keep) and one -1 (inferred). */
static bool read_shape(int64_t *sizes, const cq_rt_node_step *s, size_t n)
{
    const cq_tensor *t         = cq_img_constant(s, 1);
    cq_rt            rt        = cq_img_attributes(s);
    int              n_unknown = 0;

    if (!t || t->dtype != CQ_DTYPE_I64 || t->rank != 1 || cq_size_of(t, 0) != (int64_t)n ||
        cq_rt_int(&rt, "allowzero"))
        return false;
    for (size_t i = 0; i < n; i++) {
        sizes[i] = cq_tensor_get_i64(t, (int64_t)i);
        n_unknown += sizes[i] == -1;
        if (sizes[i] == 0 && i == 0)
            sizes[i] = -1;
        else if (sizes[i] < -1 || sizes[i] == 0)
            return false;
    }
    return n_unknown < 2;
}

/* The number of groups into which a Reshape to sizes splits the channels; 0 for other reshapes. */
static int64_t groups_of(const int64_t *sizes, int64_t channels)
{
    const int64_t groups = sizes[1] > 0 ? sizes[1] : channels / sizes[2];

    if (groups < 1 || channels % groups || (sizes[2] > 0 && sizes[2] != channels / groups))
        return 0;
    return groups;
}

/* Matches Reshape(Transpose(Reshape(feature map))): a channel shuffle, which interleaves the
 * groups. */
cq_status cq_img_see_reshape(cq_img_pass *p, cq_rt_node_step *s)
{
    static const int64_t   order[]   = { 0, 2, 1, 3, 4 };
    const cq_rt_node_step *transpose = s->in[0]->maker;
    const cq_rt_node_step *split = is_op(transpose, "Transpose") ? transpose->in[0]->maker : NULL;
    cq_rt_node_value      *x     = is_op(split, "Reshape") ? split->in[0] : NULL;
    cq_rt_gather_shape    *gathered;
    cq_rt                  rt;
    cq_rt_ints             perm;
    int64_t                from[5], to[4], want[3], n, groups;

    if (!cq_img_is(x) || !read_shape(from, split, 5) || !read_shape(to, s, 4))
        return CQ_OK;
    rt     = cq_img_attributes(transpose);
    n      = x->shape.channels;
    groups = groups_of(from, n);
    memcpy(want, (int64_t[]){ from[0], from[3], from[4] }, sizeof want);
    if (!groups || (to[1] != n && to[1] != -1) || !has_room(p, n) ||
        !agree(want, (int64_t[]){ to[0], to[2], to[3] }) ||
        cq_rt_attr_ints(&perm, &rt, "perm") != CQ_OK || perm.n != 5 ||
        memcmp(perm.at, order, sizeof order) != 0)
        return CQ_OK;
    gathered = gather_new(p, n);
    if (gathered)
        memcpy(gathered->want, want, sizeof want);
    for (int64_t i = 0; gathered && i < n; i++)
        gathered->channels[i] = (cq_rt_channel){ x, i % groups * (n / groups) + i / groups };
    return set_gather(s->out[0], gathered, n, &x->shape);
}

/* ---- the rewritten steps ---- */

static void gather_release(void *what)
{
    cq_blocked_gather_free(what);
}

/* Adds a step before s that computes v; NULL if out of memory. */
static cq_rt_node_step *step_new(cq_img_pass *p, const cq_rt_node_step *s,
                                 const cq_rt_node_value *v, const cq_blocked_channel *numbers,
                                 uint32_t n_images)
{
    cq_rt_channel_gather *keep = cq_arena_zalloc(p->b->all->arena, sizeof *keep);
    cq_rt_node_step      *to;

    if (!keep || cq_blocked_gather_new(&keep->pick, numbers, v->shape.channels) != CQ_OK ||
        cq_rt_own(p->b, p->plan, keep->pick, gather_release) != CQ_OK)
        return NULL;
    keep->channels = v->shape.channels;
    memcpy(keep->want, v->gathered->want, sizeof keep->want);
    to = cq_img_step_new(p, s, &cq_rt_row_blocked_gather, n_images);
    if (!to)
        return NULL;
    to->step.prepared = keep;
    to->step.label    = to->step.row->op;
    return to;
}

static cq_status write_one(cq_img_pass *p, const cq_rt_node_step *s, cq_rt_node_value *v)
{
    cq_rt_node_value  **images  = NULL;
    cq_blocked_channel *numbers = NULL;
    cq_rt_node_step    *to;
    uint32_t            n;
    cq_status           status = CQ_OK;

    CQ_TRY_OR_DONE(images_of(&images, &n, &numbers, v->gathered->channels, v->shape.channels));
    for (uint32_t i = 0; i < n; i++)
        CQ_TRY_OR_DONE(cq_img_need_blocked(&images[i], p, images[i], s, images[i]->shape.channels));
    to = step_new(p, s, v, numbers, n);
    CQ_TRY_OR_DONE(to ? CQ_OK : CQ_E_NO_MEMORY);
    memcpy(to->in, images, n * sizeof *images);
    status = cq_img_blocked_output(&to->out[0], p, v);
done:
    cq_free(images);
    cq_free(numbers);
    return status;
}

cq_status cq_img_write_gather(cq_img_pass *p, cq_rt_node_step *s)
{
    if (!s->out[0]->gathered)
        return cq_img_write_same(p, s);
    for (uint32_t i = 0; i < s->step.n_out; i++)
        if (s->out[i])
            CQ_TRY(write_one(p, s, s->out[i]));
    return CQ_OK;
}
