/* Result o along an axis is the sum of x[i] * w[k] with o = i * stride - padding + k. Results with
 * the same r = (o + padding) mod stride have the taps k = r, r + stride, …; flipped, these are a
 * convolution (a phase). If there are so few channels that those of all phases fit into fewer
 * vectors, the phases are one convolution: its result q has the channels of o = q * stride -
 * padding + r for all r. */
#include "kernel/conv/btranspose.h"

#include "base/thread.h"
#include "kernel/conv/bconv_types.h"
#include "kernel/operand.h"

#include <string.h>

enum { MAX_PHASES = 16 };

struct cq_btranspose {
    int64_t   stride[2], kernel[2], out_channels, out_blocks, lanes;
    bool      is_joined;          /* phases[0] computes all phases */
    cq_bconv *phases[MAX_PHASES]; /* [r of the rows][r of the columns] */
};

bool cq_btranspose_supports(const cq_bconv_spec *s)
{
    if (s->w->dtype != CQ_DTYPE_F32 || s->w->rank != 4 || !cq_tensor_is_contiguous(s->w) ||
        s->groups != 1 || s->plain_input || !cq_tensor_numel(s->w) || s->stride[0] > MAX_PHASES ||
        s->stride[1] > MAX_PHASES)
        return false;
    for (int i = 0; i < 2; i++)
        if (s->dilation[i] != 1 || s->stride[i] < 2 ||
            cq_size_of(s->w, 2 + (size_t)i) < s->stride[i])
            return false;
    return s->stride[0] * s->stride[1] <= MAX_PHASES;
}

static int64_t taps_of(const cq_btranspose *t, int axis, int64_t r)
{
    return (t->kernel[axis] - r + t->stride[axis] - 1) / t->stride[axis];
}

static int64_t n_convs(const cq_btranspose *t)
{
    return t->is_joined ? 1 : t->stride[0] * t->stride[1];
}

/* Copies the taps of one phase from the window at `plane`, padded to the number of taps of the
 * first phase. */
static void take_taps(float *to, const cq_btranspose *t, const float *plane, int64_t phase)
{
    for (int64_t y = 0; y < taps_of(t, 0, 0); y++)
        for (int64_t x = 0; x < taps_of(t, 1, 0); x++) {
            const int64_t ky = phase / t->stride[1] + y * t->stride[0];
            const int64_t kx = phase % t->stride[1] + x * t->stride[1];

            *to++ = ky < t->kernel[0] && kx < t->kernel[1] ? plane[ky * t->kernel[1] + kx] : 0;
        }
}

/* The weights of all phases as one convolution, [phases * o, c, taps, taps]. */
static cq_status joined_weights(cq_tensor **out, const cq_btranspose *t, const cq_tensor *w)
{
    const int64_t in = cq_size_of(w, 0), o = cq_size_of(w, 1), each = t->kernel[0] * t->kernel[1];
    const int64_t sizes[] = { t->stride[0] * t->stride[1] * o, in, taps_of(t, 0, 0),
                              taps_of(t, 1, 0) };
    const float  *from    = cq_tensor_data(w);
    float        *to;

    CQ_TRY(cq_tensor_new_uninit(out, CQ_DTYPE_F32, 4, sizes));
    to = cq_tensor_data(*out);
    for (int64_t i = 0; i < sizes[0]; i++)
        for (int64_t c = 0; c < in; c++, to += sizes[2] * sizes[3])
            take_taps(to, t, from + (c * o + i % o) * each, i / o);
    return CQ_OK;
}

/* The weights of one phase: every stride-th tap. */
static cq_status phase_weights(cq_tensor **out, const cq_btranspose *t, const cq_tensor *w,
                               int64_t phase)
{
    const int64_t r[]       = { phase / t->stride[1], phase % t->stride[1] };
    const cq_int  sizes[]   = { w->sizes[1], w->sizes[0], cq_i(taps_of(t, 0, r[0])),
                                cq_i(taps_of(t, 1, r[1])) };
    const int64_t strides[] = { w->strides[1], w->strides[0], w->strides[2] * t->stride[0],
                                w->strides[3] * t->stride[1] };

    return cq_tensor_new_view(out, w, CQ_DTYPE_F32, 4, sizes, strides,
                              w->offset + r[0] * w->strides[2] + r[1] * w->strides[3]);
}

/* Creates the convolution of a phase, or of all phases. */
static cq_status phase_new(cq_bconv **out, const cq_btranspose *t, const cq_bconv_spec *s,
                           int64_t phase)
{
    const int64_t n     = t->is_joined ? t->stride[0] * t->stride[1] : 1;
    const size_t  bytes = sizeof *s->bias * (size_t)t->out_channels;
    cq_bconv_spec conv  = *s;
    cq_tensor    *w     = NULL;
    float        *bias  = NULL;
    cq_status     status;

    if (s->bias && n > 1) {
        conv.bias = bias = cq_alloc_array((size_t)n, bytes);
        CQ_TRY_OR_DONE(bias ? CQ_OK : CQ_E_NO_MEMORY);
        for (int64_t i = 0; i < n; i++)
            memcpy(bias + i * t->out_channels, s->bias, bytes);
    }
    CQ_TRY_OR_DONE(t->is_joined ? joined_weights(&w, t, s->w) : phase_weights(&w, t, s->w, phase));
    conv.w     = w;
    conv.flips = true;
    for (int i = 0; i < 2; i++) {
        conv.stride[i]   = 1;
        conv.out_size[i] = (s->out_size[i] + t->stride[i] - 1) / t->stride[i];
    }
    status = cq_bconv_new(out, &conv);
done:
    cq_tensor_release(w);
    cq_free(bias);
    return status;
}

static cq_status prepare(cq_btranspose *t, const cq_bconv_spec *s)
{
    const cq_core *core = cq_core_get();
    int64_t        phases;

    for (int i = 0; i < 2; i++) {
        t->stride[i] = s->stride[i];
        t->kernel[i] = cq_size_of(s->w, 2 + (size_t)i);
    }
    phases          = t->stride[0] * t->stride[1];
    t->lanes        = core->lanes;
    t->out_channels = cq_size_of(s->w, 1);
    t->out_blocks   = cq_core_blocks(core, t->out_channels);
    t->is_joined    = 2 * cq_core_blocks(core, phases * t->out_channels) <= phases * t->out_blocks;
    for (int64_t i = 0; i < n_convs(t); i++)
        CQ_TRY(phase_new(&t->phases[i], t, s, i));
    return CQ_OK;
}

cq_status cq_btranspose_new(cq_btranspose **out, const cq_bconv_spec *spec)
{
    cq_status status;

    *out = cq_zalloc(sizeof **out);
    if (!*out)
        return CQ_E_NO_MEMORY;
    status = prepare(*out, spec);
    if (status != CQ_OK) {
        cq_btranspose_free(*out);
        *out = NULL;
    }
    return status;
}

void cq_btranspose_free(cq_btranspose *t)
{
    for (int i = 0; t && i < MAX_PHASES; i++)
        cq_bconv_free(t->phases[i]);
    cq_free(t);
}

/* ---- running ---- */

static int64_t floor_of(int64_t n, int64_t by)
{
    return n / by - (n % by < 0);
}

/* The call of phase i, without memory; first: where its first result is written. */
static cq_bconv_call phase_call(const cq_btranspose *t, const cq_bconv_call *call, int64_t i,
                                int64_t *first)
{
    const int64_t r[2]  = { i / t->stride[1], i % t->stride[1] };
    cq_bconv_call phase = *call;

    for (int a = 0; a < 2; a++) {
        int64_t s = t->stride[a], behind;

        first[a]         = ((r[a] - call->padding[a]) % s + s) % s;
        behind           = (first[a] + call->padding[a] - r[a]) / s;
        phase.padding[a] = taps_of(t, a, r[a]) - 1 - behind;
        phase.out_size[a] =
            call->out_size[a] > first[a] ? (call->out_size[a] - first[a] + s - 1) / s : 0;
    }
    return phase;
}

/* The call of all phases; first: the q of its first result. */
static cq_bconv_call joined_call(const cq_btranspose *t, const cq_bconv_call *call, int64_t *first)
{
    cq_bconv_call joined = *call;

    for (int a = 0; a < 2; a++) {
        const int64_t s = t->stride[a], last = call->out_size[a] - 1 + call->padding[a];

        first[a]           = floor_of(call->padding[a], s);
        joined.padding[a]  = taps_of(t, a, 0) - 1 - first[a];
        joined.out_size[a] = floor_of(last, s) - first[a] + 1;
    }
    return joined;
}

/* Winograd convolution handles padding itself, and reads more than its windows. */
static bool pads_itself(const cq_btranspose *t, int64_t i)
{
    return t->phases[i]->way == &cq_bconv_winograd;
}

/* Padding once is enough for all phases, whose windows begin at different offsets. */
static cq_padded padded_of(const cq_btranspose *t, const cq_bconv_call *joined)
{
    cq_padded p = { .c = t->phases[0], .call = joined, .pixel = t->lanes };

    for (int64_t i = 0; i < n_convs(t); i++)
        p.is_copy |= !pads_itself(t, i);
    p.planes = joined->batch * p.c->in_group;
    for (int a = 0; a < 2; a++)
        p.size[a] = joined->out_size[a] + taps_of(t, a, 0) - 1;
    return p;
}

static int64_t padded_floats(const cq_padded *p)
{
    return p->is_copy ? p->planes * p->size[0] * p->size[1] * p->pixel : 0;
}

/* The call of convolution i, on the padded image if it needs that. */
static cq_bconv_call call_of(const cq_btranspose *t, const cq_padded *image, int64_t i,
                             int64_t *first, const cq_bconv_call *call)
{
    const int64_t *pad = image->call->padding;
    cq_bconv_call  phase =
        t->is_joined ? joined_call(t, call, first) : phase_call(t, call, i, first);

    if (pads_itself(t, i))
        return phase;
    phase.x = image->call->scratch;
    if (phase.x)
        phase.x += ((pad[0] - phase.padding[0]) * image->size[1] + pad[1] - phase.padding[1]) *
                   image->pixel;
    for (int a = 0; a < 2; a++) {
        phase.in[a]      = image->size[a];
        phase.padding[a] = 0;
    }
    return phase;
}

static int64_t floats_of(const cq_btranspose *t, const cq_bconv_call *phase)
{
    const int64_t n      = cq_bconv_channels(t->phases[0], true);
    const int64_t blocks = (n + t->lanes - 1) / t->lanes;

    return phase->batch * blocks * phase->out_size[0] * phase->out_size[1] * t->lanes;
}

cq_status cq_btranspose_scratch(int64_t *out, const cq_btranspose *t, const cq_bconv_call *call)
{
    int64_t         first[2], n;
    cq_bconv_call   joined = joined_call(t, call, first);
    const cq_padded image  = padded_of(t, &joined);

    *out = 0;
    for (int64_t i = 0; i < n_convs(t); i++) {
        cq_bconv_call phase = call_of(t, &image, i, first, call);

        CQ_TRY(cq_bconv_scratch(&n, t->phases[i], &phase));
        if (__builtin_add_overflow(n, floats_of(t, &phase), &n))
            return cq_no_memory();
        *out = n > *out ? n : *out;
    }
    if (__builtin_add_overflow(*out, padded_floats(&image), out))
        return cq_no_memory();
    return CQ_OK;
}

struct spread {
    const cq_btranspose *t;
    const cq_bconv_call *call, *phase;
    const int64_t       *first;
};

static cq_status spread_plane(void *user, int64_t plane)
{
    const struct spread *s     = user;
    const int64_t        lanes = s->t->lanes;
    const int64_t       *size = s->phase->out_size, *out = s->call->out_size;

    for (int64_t y = 0; y < size[0]; y++) {
        const float *from = s->phase->out + (plane * size[0] + y) * size[1] * lanes;
        float       *to =
            s->call->out +
            ((plane * out[0] + s->first[0] + y * s->t->stride[0]) * out[1] + s->first[1]) * lanes;

        for (int64_t x = 0; x < size[1]; x++)
            memcpy(to + x * s->t->stride[1] * lanes, from + x * lanes, (size_t)lanes * sizeof *to);
    }
    return CQ_OK;
}

/* The columns of phase r in row y, for a whole block. */
static void spread_columns(const struct spread *s, float *to, const float *from, int64_t ry,
                           int64_t rx)
{
    const cq_btranspose *t     = s->t;
    const int64_t        plane = s->phase->out_size[0] * s->phase->out_size[1] * t->lanes;
    const int64_t        first = s->first[1] * t->stride[1] + rx - s->call->padding[1];
    int64_t              at[CQ_MAX_LANES];

    for (int64_t c = 0, i = (ry * t->stride[1] + rx) * t->out_channels; c < t->out_channels;
         c++, i++)
        at[c] = i / t->lanes * plane + i % t->lanes;
    for (int64_t x = first; x < s->call->out_size[1]; x += t->stride[1], from += t->lanes) {
        float *pixel = to + x * t->lanes;

        if (x < 0)
            continue;
        memset(pixel, 0, sizeof *to * (size_t)t->lanes);
        for (int64_t c = 0; c < t->out_channels; c++)
            pixel[c] = from[at[c]];
    }
}

/* A row of results, of all phases of its columns. */
static cq_status spread_row(void *user, int64_t row)
{
    const struct spread *s    = user;
    const cq_btranspose *t    = s->t;
    const int64_t       *size = s->phase->out_size, *out = s->call->out_size;
    const int64_t        y = row % out[0] + s->call->padding[0], q = floor_of(y, t->stride[0]);
    const float *from = s->phase->out + row / out[0] * floats_of(t, s->phase) / s->call->batch +
                        (q - s->first[0]) * size[1] * t->lanes;

    for (int64_t rx = 0; rx < t->stride[1]; rx++)
        spread_columns(s, s->call->out + row * out[1] * t->lanes, from, y - q * t->stride[0], rx);
    return CQ_OK;
}

cq_status cq_btranspose_run(const cq_btranspose *t, const cq_bconv_call *call)
{
    int64_t         first[2];
    cq_bconv_call   joined = joined_call(t, call, first);
    const cq_padded image  = padded_of(t, &joined);

    CQ_TRY(cq_padded_fill(&image));
    for (int64_t i = 0; i < n_convs(t); i++) {
        cq_bconv_call phase = call_of(t, &image, i, first, call);
        struct spread s     = { t, call, &phase, first };

        if (!phase.out_size[0] || !phase.out_size[1])
            continue;
        phase.out     = call->scratch + padded_floats(&image);
        phase.scratch = phase.out + floats_of(t, &phase);
        CQ_TRY(cq_bconv_run(t->phases[i], &phase));
        CQ_TRY(t->is_joined ? cq_parallel_for(call->batch * call->out_size[0], spread_row, &s)
                            : cq_parallel_for(call->batch * t->out_blocks, spread_plane, &s));
    }
    return CQ_OK;
}
