/* Result o along an axis is the sum of x[i] * w[k] with o = i * stride - padding + k. Those with
 * the same r = (o + padding) mod stride have the taps k = r, r + stride, …; in their order,
 * flipped, these are a convolution. */
#include "kernel/btranspose.h"

#include "base/thread.h"
#include "kernel/bconv_types.h"
#include "kernel/operand.h"

#include <string.h>

enum { MAX_PHASES = 16 };

struct cq_btranspose {
    int64_t   stride[2], kernel[2], out_blocks, lanes;
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

/* The weight of one phase, [o, c, taps, taps]. */
static cq_status phase_weight(cq_tensor **out, const cq_btranspose *t, const cq_tensor *w,
                              const int64_t *r)
{
    int64_t      in = cq_size_of(w, 0), n = cq_size_of(w, 1), ty = taps_of(t, 0, r[0]);
    int64_t      tx   = taps_of(t, 1, r[1]);
    const float *from = cq_tensor_data(w);
    float       *to;

    CQ_TRY(cq_tensor_new_uninit(out, CQ_DTYPE_F32, 4, (int64_t[]){ n, in, ty, tx }));
    to = cq_tensor_data(*out);
    for (int64_t o = 0; o < n; o++)
        for (int64_t c = 0; c < in; c++)
            for (int64_t y = ty; y-- > 0;)
                for (int64_t x = tx; x-- > 0;)
                    *to++ =
                        from[((c * n + o) * t->kernel[0] + r[0] + y * t->stride[0]) * t->kernel[1] +
                             r[1] + x * t->stride[1]];
    return CQ_OK;
}

static cq_status prepare(cq_btranspose *t, const cq_bconv_spec *s)
{
    for (int i = 0; i < 2; i++) {
        t->stride[i] = s->stride[i];
        t->kernel[i] = cq_size_of(s->w, 2 + (size_t)i);
    }
    t->lanes      = cq_core_get()->lanes;
    t->out_blocks = cq_core_blocks(cq_core_get(), cq_size_of(s->w, 1));
    for (int64_t i = 0; i < t->stride[0] * t->stride[1]; i++) {
        int64_t       r[2]  = { i / t->stride[1], i % t->stride[1] };
        cq_bconv_spec phase = *s;
        cq_tensor    *w;
        cq_status     status;

        CQ_TRY(phase_weight(&w, t, s->w, r));
        phase.w         = w;
        phase.stride[0] = phase.stride[1] = 1;
        phase.places                      = s->places / (t->stride[0] * t->stride[1]);
        status                            = cq_bconv_new(&t->phases[i], &phase);
        cq_tensor_release(w);
        CQ_TRY(status);
    }
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

/* The call of phase i, without memory; first: where its first result goes. */
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

static int64_t floats_of(const cq_btranspose *t, const cq_bconv_call *phase)
{
    return phase->batch * t->out_blocks * phase->out_size[0] * phase->out_size[1] * t->lanes;
}

cq_status cq_btranspose_scratch(int64_t *out, const cq_btranspose *t, const cq_bconv_call *call)
{
    *out = 0;
    for (int64_t i = 0; i < t->stride[0] * t->stride[1]; i++) {
        int64_t       first[2], n;
        cq_bconv_call phase = phase_call(t, call, i, first);

        CQ_TRY(cq_bconv_scratch(&n, t->phases[i], &phase));
        if (__builtin_add_overflow(n, floats_of(t, &phase), &n))
            return cq_no_memory();
        *out = n > *out ? n : *out;
    }
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

cq_status cq_btranspose_run(const cq_btranspose *t, const cq_bconv_call *call)
{
    for (int64_t i = 0; i < t->stride[0] * t->stride[1]; i++) {
        int64_t       first[2];
        cq_bconv_call phase = phase_call(t, call, i, first);
        struct spread s     = { t, call, &phase, first };

        if (!phase.out_size[0] || !phase.out_size[1])
            continue;
        phase.out     = call->scratch;
        phase.scratch = call->scratch + floats_of(t, &phase);
        CQ_TRY(cq_bconv_run(t->phases[i], &phase));
        CQ_TRY(cq_parallel_for(call->batch * t->out_blocks, spread_plane, &s));
    }
    return CQ_OK;
}
