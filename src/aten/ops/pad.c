/* Padding: with a value, a mirror image, the edge, or from the other side. */
#include "aten/ops/elementwise.h"
#include "kernel/conv/pad.h"

/* How many elements come before and after each dimension: the list has pairs, the last dimension's
 * first. Negative numbers remove elements. */
typedef struct pads {
    cq_int before[CQ_MAX_RANK], after[CQ_MAX_RANK];
} pads;

static cq_status read_pads(cq_opcall *c, const char *name, size_t rank, pads *p)
{
    cq_int given[2 * CQ_MAX_RANK];
    size_t n = cq_arg_ints(c, name, given, 2 * CQ_MAX_RANK);

    if (n % 2 || n > 2 * rank)
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "expected pairs of numbers for at most %zu dimensions, got %zu numbers",
                            rank, n);
    for (size_t i = 0; i < rank; i++) {
        size_t at    = 2 * (rank - 1 - i);
        p->before[i] = at < n ? given[at] : cq_i(0);
        p->after[i]  = at < n ? given[at + 1] : cq_i(0);
    }
    return c->cx->status;
}

static cq_status padded_sizes(cq_opcall *c, const cq_tensor *self, const pads *p, cq_int *sizes)
{
    for (size_t i = 0; i < self->rank; i++) {
        int64_t sum;

        if (__builtin_add_overflow(self->sizes[i].value, p->before[i].value, &sum) ||
            __builtin_add_overflow(sum, p->after[i].value, &sum))
            return cq_call_fail(c, CQ_E_ARGUMENT, "a padding of %lld and %lld is too large",
                                (long long)p->before[i].value, (long long)p->after[i].value);
        sizes[i] = cq_size_add(c, cq_size_add(c, self->sizes[i], p->before[i]), p->after[i]);
        if (sizes[i].value < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "size %lld of dimension %zu is padded to %lld",
                                (long long)self->sizes[i].value, i, (long long)sizes[i].value);
    }
    return CQ_OK;
}

static cq_status run_pad(cq_opcall *c, const char *name, cq_pad_mode mode, const cq_tensor *value)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    int64_t    before[CQ_MAX_RANK];
    pads       p;

    CQ_TRY(read_pads(c, name, self->rank, &p));
    for (size_t i = 0; i < self->rank; i++)
        before[i] = p.before[i].value;
    return cq_kernel_pad(cq_result_tensor(c, 0), self, before, mode, value);
}

/* ---- with a value ---- */

static cq_status constant_shape(cq_opcall *c)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     sizes[CQ_MAX_RANK];
    pads       p;

    CQ_TRY(read_pads(c, "pad", self->rank, &p));
    CQ_TRY(padded_sizes(c, self, &p, sizes));
    return cq_result(c, 0, self->dtype, self->rank, sizes);
}

static cq_status constant_run(cq_opcall *c)
{
    cq_tensor *value = cq_operand_tensor(c, cq_arg_val(c, "value"), cq_result_tensor(c, 0)->dtype);

    return value ? run_pad(c, "pad", CQ_PAD_CONSTANT, value) : c->cx->status;
}

/* ---- with the tensor's own elements ---- */

/* .variant is the mode of these rows. Reflection and wrapping cannot add more elements than the
 * tensor has, and replication needs at least one. */
static cq_status check_reach(cq_opcall *c, const cq_tensor *self, const pads *p)
{
    cq_pad_mode mode = (cq_pad_mode)c->op->def->variant;

    for (size_t i = 0; i < self->rank; i++) {
        int64_t size = self->sizes[i].value, most = size - (mode == CQ_PAD_REFLECT);
        int64_t before = p->before[i].value, after = p->after[i].value;

        if ((before || after) &&
            (mode == CQ_PAD_REPLICATE ? size == 0 : (before > most || after > most)))
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "dimension %zu of size %lld cannot give %lld and "
                                "%lld elements for its padding",
                                i, (long long)size, (long long)before, (long long)after);
    }
    return CQ_OK;
}

static cq_status own_shape_of(cq_opcall *c, const char *name, size_t n_dims)
{
    cq_tensor *self = cq_arg_tensor(c, "self");
    cq_int     sizes[CQ_MAX_RANK], given[2 * CQ_MAX_RANK];
    size_t     n = cq_arg_ints(c, name, given, 2 * CQ_MAX_RANK);
    pads       p;

    if (self->rank != n_dims + 1 && self->rank != n_dims + 2)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected %zu or %zu dimensions, got %u", n_dims + 1,
                            n_dims + 2, (unsigned)self->rank);
    if (n != 2 * n_dims)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected %zu numbers, got %zu", 2 * n_dims, n);
    CQ_TRY(read_pads(c, name, self->rank, &p));
    CQ_TRY(check_reach(c, self, &p));
    CQ_TRY(padded_sizes(c, self, &p, sizes));
    return cq_result(c, 0, self->dtype, self->rank, sizes);
}

static cq_status own_1d_shape(cq_opcall *c)
{
    return own_shape_of(c, "padding", 1);
}

static cq_status own_2d_shape(cq_opcall *c)
{
    return own_shape_of(c, "padding", 2);
}

static cq_status own_3d_shape(cq_opcall *c)
{
    return own_shape_of(c, "padding", 3);
}

static cq_status own_run(cq_opcall *c)
{
    return run_pad(c, "padding", (cq_pad_mode)c->op->def->variant, NULL);
}

static cq_status circular_shape(cq_opcall *c)
{
    cq_int given[2 * CQ_MAX_RANK];

    return own_shape_of(c, "pad", cq_arg_ints(c, "pad", given, 2 * CQ_MAX_RANK) / 2);
}

static cq_status circular_run(cq_opcall *c)
{
    return run_pad(c, "pad", CQ_PAD_CIRCULAR, NULL);
}

#define OWN(schema_text, about_text, shape_function, mode)                                         \
    {                                                                                              \
        .schema = schema_text, .about = about_text, .shape = shape_function, .run = own_run,       \
        .variant = mode                                                                            \
    }

const cq_op_def cq_ops_pad[] = {
    CQ_KERNEL("aten::constant_pad_nd(Tensor self, int[] pad, Scalar value=0) -> Tensor",
              "padding with a value", constant_shape, constant_run),
    OWN("aten::reflection_pad1d(Tensor self, int[2] padding) -> Tensor",
        "padding with the mirror image at both ends", own_1d_shape, CQ_PAD_REFLECT),
    OWN("aten::reflection_pad2d(Tensor self, int[4] padding) -> Tensor",
        "padding with the mirror image on all sides", own_2d_shape, CQ_PAD_REFLECT),
    OWN("aten::reflection_pad3d(Tensor self, int[6] padding) -> Tensor",
        "padding with the mirror image on all sides", own_3d_shape, CQ_PAD_REFLECT),
    OWN("aten::replication_pad1d(Tensor self, int[2] padding) -> Tensor",
        "padding by repeating the edge at both ends", own_1d_shape, CQ_PAD_REPLICATE),
    OWN("aten::replication_pad2d(Tensor self, int[4] padding) -> Tensor",
        "padding by repeating the edge on all sides", own_2d_shape, CQ_PAD_REPLICATE),
    OWN("aten::replication_pad3d(Tensor self, int[6] padding) -> Tensor",
        "padding by repeating the edge on all sides", own_3d_shape, CQ_PAD_REPLICATE),
    { .schema  = "aten::_pad_circular(Tensor self, int[] pad) -> Tensor",
      .about   = "circular padding",
      .shape   = circular_shape,
      .run     = circular_run,
      .variant = CQ_PAD_CIRCULAR },
    { 0 },
};
