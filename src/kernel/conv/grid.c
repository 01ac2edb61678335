/* Sampling at given positions. Each coordinate of a position becomes the pixels that it reads and
 * their weights; the products of the weights over the axes are the factors of a channel. */
#include "kernel/conv/grid.h"

#include "base/thread.h"
#include "kernel/operand.h"
#include "kernel/conv/window.h"

#include <math.h>

enum { MAX_TAPS = 4, MAX_AXES = 3, BLOCK_PLACES = 256 };

struct axis_taps {
    int64_t index[MAX_TAPS];
    double  weight[MAX_TAPS];
};

struct grid {
    cq_grid_mode    mode;
    cq_grid_padding padding;
    bool            align_corners;
    int             n_dims, n_taps;
    int64_t         batch, channels, in[MAX_AXES], in_plane, out_plane;
    const void     *x, *grid;
    void           *out;
    double         *steps[MAX_AXES]; /* of an affine sampling grid: positions along each axis */
};

#define T        float
#define FABS     fabsf
#define FMOD     fmodf
#define FLOOR    floorf
#define NEARBY   nearbyintf
#define FN(name) name##_f32
#include "kernel/grid_type.inc"

#define T        double
#define FABS     fabs
#define FMOD     fmod
#define FLOOR    floor
#define NEARBY   nearbyint
#define FN(name) name##_f64
#include "kernel/grid_type.inc"

static cq_status check_axes(size_t n, const char *name)
{
    if (n >= 1 && n <= MAX_AXES)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, name, NULL, "%s expects 1 to %d spatial axes, got %zu", name,
                   MAX_AXES, n);
}

cq_status cq_kernel_grid_sample(cq_tensor *out, const cq_tensor *x, const cq_tensor *grid,
                                cq_grid_mode mode, cq_grid_padding padding, bool align_corners)
{
    static const int n_taps[] = { 2, 1, 4 };
    cq_operands      s        = { .compute = cq_compute_dtype(x->dtype) };
    struct grid      g        = {
                    .mode = mode, .padding = padding, .align_corners = align_corners, .n_dims = (int)x->rank - 2
    };
    int64_t blocks;

    if ((unsigned)mode > CQ_GRID_CUBIC || (unsigned)padding > CQ_GRID_REFLECTION)
        return cq_fail(CQ_E_ARGUMENT, "grid_sample", NULL,
                       "expected interpolation and padding modes from 0 to 2, got %d and %d",
                       (int)mode, (int)padding);
    g.n_taps = n_taps[mode];

    CQ_TRY(cq_operands_need_float(x, "grid_sample"));
    CQ_TRY(check_axes(x->rank - 2, "grid_sample"));
    g.batch     = cq_size_of(x, 0);
    g.channels  = cq_size_of(x, 1);
    g.in_plane  = cq_sizes_product(x, 2, x->rank);
    g.out_plane = cq_sizes_product(out, 2, out->rank);
    if (!cq_operands_has(grid, g.batch * g.out_plane * g.n_dims) ||
        !cq_operands_has(out, g.batch * g.channels * g.out_plane))
        return cq_operands_misfit("grid_sample", x, grid);
    for (int i = 0; i < g.n_dims; i++)
        g.in[i] = cq_size_of(x, (size_t)i + 2);
    g.x    = cq_operands_in(&s, x);
    g.grid = cq_operands_in(&s, grid);
    g.out  = cq_operands_out(&s, out);
    blocks = (g.batch * g.out_plane + BLOCK_PLACES - 1) / BLOCK_PLACES;
    if (s.status == CQ_OK)
        s.status = cq_parallel_for(
            blocks, s.compute == CQ_DTYPE_F64 ? sample_block_f64 : sample_block_f32, &g);
    return cq_operands_close(&s);
}

/* From -1 to 1 in n steps; without align_corners, the middles of n equal parts of that. */
static void fill_steps(double *steps, int64_t n, bool align_corners)
{
    for (int64_t i = 0; i < n; i++) {
        double at = n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : 0;

        steps[i] = align_corners ? at : at * (double)(n - 1) / (double)n;
    }
}

cq_status cq_kernel_affine_grid(cq_tensor *out, const cq_tensor *theta, bool align_corners)
{
    cq_operands s     = { .compute = cq_compute_dtype(out->dtype) };
    struct grid g     = { .n_dims = (int)out->rank - 2 };
    int64_t     total = 0, at = 0;
    double     *steps;

    CQ_TRY(cq_operands_need_float(out, "affine_grid"));
    CQ_TRY(check_axes(out->rank - 2, "affine_grid"));
    g.batch     = cq_size_of(out, 0);
    g.out_plane = cq_sizes_product(out, 1, out->rank - 1);
    if (!cq_operands_has(theta, g.batch * g.n_dims * (g.n_dims + 1)) ||
        !cq_operands_has(out, g.batch * g.out_plane * g.n_dims))
        return cq_operands_misfit("affine_grid", theta, out);
    for (int i = 0; i < g.n_dims; i++) {
        g.in[i] = cq_size_of(out, (size_t)i + 1);
        total += g.in[i];
    }
    steps = cq_alloc_array((size_t)total, sizeof *steps);
    if (!steps)
        return CQ_E_NO_MEMORY;
    for (int i = 0; i < g.n_dims; at += g.in[i], i++) {
        g.steps[i] = steps + at;
        fill_steps(g.steps[i], g.in[i], align_corners);
    }
    g.x   = cq_operands_in(&s, theta);
    g.out = cq_operands_out(&s, out);
    if (s.status == CQ_OK)
        (s.compute == CQ_DTYPE_F64 ? transform_all_f64 : transform_all_f32)(&g);
    cq_free(steps);
    return cq_operands_close(&s);
}
