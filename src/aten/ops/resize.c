/* Resizing images, and sampling them at given positions. The .vec overloads, which
 * torch.nn.functional calls, take the new sizes or scale factors as lists; the others take the
 * sizes and, optionally, the original factors. */
#include "aten/ops/resize.h"
#include "kernel/conv/grid.h"

#include <math.h>

/* ---- upsample ---- */

static size_t axes_of(const cq_opcall *c)
{
    const char *d = strpbrk(c->op->schema->name, "123");

    return d ? (size_t)(*d - '0') : 2;
}

static cq_resize_mode mode_of(const cq_opcall *c)
{
    static const struct {
        const char    *part;
        cq_resize_mode mode;
    } modes[] = {
        { "nearest_exact", CQ_RESIZE_NEAREST_EXACT },
        { "nearest", CQ_RESIZE_NEAREST },
        { "cubic2d_aa", CQ_RESIZE_CUBIC_ANTIALIAS },
        { "linear2d_aa", CQ_RESIZE_LINEAR_ANTIALIAS },
        { "cubic", CQ_RESIZE_CUBIC },
    };

    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
        if (strstr(c->op->schema->name, modes[i].part))
            return modes[i].mode;
    return CQ_RESIZE_LINEAR;
}

static bool has_arg(const cq_opcall *c, const char *name)
{
    return cq_schema_find(c->op->schema, name) >= 0;
}

/* The given factors, 0 for missing ones. */
static void read_scales(const cq_opcall *c, double *scales, size_t n)
{
    static const char *const names[4][3] = {
        { NULL }, { "scales" }, { "scales_h", "scales_w" }, { "scales_d", "scales_h", "scales_w" }
    };
    double given[CQ_MAX_SPATIAL];
    size_t n_given;

    memset(scales, 0, n * sizeof *scales);
    if (has_arg(c, "scale_factors")) {
        n_given = cq_arg_f64s(c, "scale_factors", given, CQ_MAX_SPATIAL);
        for (size_t i = 0; i < n && n_given == n; i++)
            scales[i] = given[i];
        return;
    }
    for (size_t i = 0; i < n; i++)
        if (!cq_arg_is_none(c, names[n][i]))
            scales[i] = cq_arg_f64(c, names[n][i]);
}

/* floor(size * factor). An integer factor, or half an integer, keeps a symbol. */
static cq_int scaled(cq_opcall *c, cq_int size, double factor)
{
    static const int64_t divisors[] = { 1, 2, 3, 4, 5, 8, 10, 16, 32 };

    if (cq_int_is_plain(size))
        return cq_i((int64_t)floor((double)size.value * factor));
    for (size_t i = 0; i < sizeof divisors / sizeof *divisors; i++) {
        double numerator = factor * (double)divisors[i];

        if (numerator == floor(numerator) && numerator < 1e6)
            return cq_size_floordiv(c, cq_size_mul(c, size, cq_i((int64_t)numerator)),
                                    cq_i(divisors[i]));
    }
    if (c->cx->listener)
        c->cx->listener->baked(c->cx->listener_self, c->cx, "a size times a scale factor", size);
    return cq_i((int64_t)floor((double)size.value * factor));
}

static cq_status new_sizes(cq_opcall *c, const cq_tensor *x, size_t n, cq_int *out)
{
    double scales[CQ_MAX_SPATIAL];
    size_t given =
        cq_arg_is_none(c, "output_size") ? 0 : cq_arg_ints(c, "output_size", out, CQ_MAX_SPATIAL);

    if (given == 1 && n > 1)
        for (size_t i = 1; i < n; i++)
            out[i] = out[0];
    else if (given && given != n)
        return cq_call_fail(c, CQ_E_ARGUMENT, "\"output_size\" expects %zu numbers but got %zu", n,
                            given);
    if (given)
        return CQ_OK;
    read_scales(c, scales, n);
    for (size_t i = 0; i < n; i++) {
        if (!(scales[i] > 0))
            return cq_call_fail(c, CQ_E_ARGUMENT, "it needs %zu sizes or positive factors", n);
        out[i] = scaled(c, x->sizes[2 + i], scales[i]);
    }
    return CQ_OK;
}

static cq_status upsample_shape(cq_opcall *c)
{
    cq_tensor *x = c->args[0].u.tensor;
    size_t     n = axes_of(c);
    cq_int     sizes[2 + CQ_MAX_SPATIAL];

    if (x->rank != n + 2)
        return cq_call_fail(c, CQ_E_TYPE, "the input should have %zu dimensions but has %u", n + 2,
                            x->rank);
    CQ_TRY(new_sizes(c, x, n, sizes + 2));
    sizes[0] = x->sizes[0];
    sizes[1] = x->sizes[1];
    for (size_t i = 1; i < n + 2; i++)
        if (x->sizes[i].value < 1 || sizes[i].value < 1)
            return cq_call_fail(c, CQ_E_TYPE, "sizes should be positive, not %lld to %lld",
                                (long long)x->sizes[i].value, (long long)sizes[i].value);
    return cq_result(c, 0, x->dtype, n + 2, sizes);
}

void cq_upsample_read(const cq_opcall *c, cq_upsample *u)
{
    u->mode          = mode_of(c);
    u->align_corners = has_arg(c, "align_corners") && cq_arg_bool(c, "align_corners");
    read_scales(c, u->scales, axes_of(c));
}

static cq_status upsample_run(cq_opcall *c)
{
    cq_upsample u;

    cq_upsample_read(c, &u);
    return cq_kernel_upsample(cq_result_tensor(c, 0), c->args[0].u.tensor, u.mode, u.align_corners,
                              u.scales);
}

/* ---- grids ---- */

static cq_status grid_sampler_shape(cq_opcall *c)
{
    cq_tensor *x = cq_arg_tensor(c, "input"), *grid = cq_arg_tensor(c, "grid");
    cq_int     sizes[CQ_MAX_RANK];
    size_t     n = x->rank - 2;

    if ((x->rank != 4 && x->rank != 5) || grid->rank != x->rank)
        return cq_call_fail(c, CQ_E_TYPE, "input and grid should both have 4 or 5 dimensions");
    if (x->dtype != grid->dtype || !cq_dtype_is_float(x->dtype))
        return cq_call_fail(c, CQ_E_TYPE, "input and grid should be of one float dtype");
    if (grid->sizes[0].value != x->sizes[0].value || grid->sizes[n + 1].value != (int64_t)n)
        return cq_call_fail(c, CQ_E_TYPE, "the grid should be %lld batches of %zu coordinates",
                            (long long)x->sizes[0].value, n);
    if (cq_arg_i64(c, "interpolation_mode") == CQ_GRID_CUBIC && n != 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "bicubic interpolation is for two axes");
    sizes[0] = x->sizes[0];
    sizes[1] = x->sizes[1];
    memcpy(sizes + 2, grid->sizes + 1, n * sizeof *sizes);
    return cq_result(c, 0, x->dtype, x->rank, sizes);
}

static cq_status grid_sampler_run(cq_opcall *c)
{
    return cq_kernel_grid_sample(
        cq_result_tensor(c, 0), cq_arg_tensor(c, "input"), cq_arg_tensor(c, "grid"),
        (cq_grid_mode)cq_arg_i64(c, "interpolation_mode"),
        (cq_grid_padding)cq_arg_i64(c, "padding_mode"), cq_arg_bool(c, "align_corners"));
}

static cq_status affine_grid_shape(cq_opcall *c)
{
    cq_tensor *theta = cq_arg_tensor(c, "theta");
    cq_int     size[5], sizes[5];
    size_t     given = cq_arg_ints(c, "size", size, 5), n = given - 2;

    if (given != 4 && given != 5)
        return cq_call_fail(c, CQ_E_ARGUMENT, "\"size\" should have 4 or 5 numbers, not %zu",
                            given);
    if (theta->rank != 3 || theta->sizes[0].value != size[0].value ||
        theta->sizes[1].value != (int64_t)n || theta->sizes[2].value != (int64_t)n + 1)
        return cq_call_fail(c, CQ_E_TYPE, "\"theta\" should be %lld matrices of %zu by %zu",
                            (long long)size[0].value, n, n + 1);
    sizes[0] = size[0];
    memcpy(sizes + 1, size + 2, n * sizeof *sizes);
    sizes[n + 1] = cq_i((int64_t)n);
    return cq_result(c, 0, theta->dtype, n + 2, sizes);
}

static cq_status affine_grid_run(cq_opcall *c)
{
    return cq_kernel_affine_grid(cq_result_tensor(c, 0), cq_arg_tensor(c, "theta"),
                                 cq_arg_bool(c, "align_corners"));
}

#define UPSAMPLE(name_and_args, about_text)                                                        \
    {                                                                                              \
        .schema = "aten::" name_and_args ") -> Tensor", .about = about_text,                       \
        .shape = upsample_shape, .run = upsample_run                                               \
    }
#define VEC       ".vec(Tensor input, SymInt[]? output_size, "
#define SCALES_1D "float? scales=None"
#define SCALES_2D "float? scales_h=None, float? scales_w=None"
#define SCALES_3D "float? scales_d=None, float? scales_h=None, float? scales_w=None"
#define NEAREST(name, n, scales)                                                                   \
    UPSAMPLE(name VEC "float[]? scale_factors", "nearest-neighbour resizing"),                     \
        UPSAMPLE(name "(Tensor self, SymInt[" n "] output_size, " scales,                          \
                 "nearest-neighbour resizing")
#define SMOOTH(name, n, scales, about_text)                                                        \
    UPSAMPLE(name VEC "bool align_corners, float[]? scale_factors", about_text),                   \
        UPSAMPLE(name "(Tensor self, SymInt[" n "] output_size, bool align_corners, " scales,      \
                 about_text)
#define GRID_SAMPLER(name)                                                                         \
    {                                                                                              \
        .schema = "aten::" name "(Tensor input, Tensor grid, int interpolation_mode, "             \
                  "int padding_mode, bool align_corners) -> Tensor",                               \
        .about  = "an image sampled at the positions of a sampling grid",                          \
        .shape = grid_sampler_shape, .run = grid_sampler_run                                       \
    }

const cq_op_def cq_ops_resize[] = {
    NEAREST("upsample_nearest1d", "1", SCALES_1D),
    NEAREST("upsample_nearest2d", "2", SCALES_2D),
    NEAREST("upsample_nearest3d", "3", SCALES_3D),
    NEAREST("_upsample_nearest_exact1d", "1", SCALES_1D),
    NEAREST("_upsample_nearest_exact2d", "2", SCALES_2D),
    NEAREST("_upsample_nearest_exact3d", "3", SCALES_3D),
    SMOOTH("upsample_linear1d", "1", SCALES_1D, "linear resizing"),
    SMOOTH("upsample_bilinear2d", "2", SCALES_2D, "linear resizing"),
    SMOOTH("upsample_trilinear3d", "3", SCALES_3D, "linear resizing"),
    SMOOTH("upsample_bicubic2d", "2", SCALES_2D, "bicubic resizing"),
    SMOOTH("_upsample_bilinear2d_aa", "2", SCALES_2D, "bilinear resizing with antialiasing"),
    SMOOTH("_upsample_bicubic2d_aa", "2", SCALES_2D, "bicubic resizing with antialiasing"),
    GRID_SAMPLER("grid_sampler"),
    GRID_SAMPLER("grid_sampler_2d"),
    GRID_SAMPLER("grid_sampler_3d"),
    CQ_KERNEL("aten::affine_grid_generator(Tensor theta, int[] size, bool align_corners) "
              "-> Tensor",
              "the sampling grid of an affine map", affine_grid_shape, affine_grid_run),
    { 0 },
};
