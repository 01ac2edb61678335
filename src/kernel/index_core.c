/* The core of indexing: checked offsets, and the two loops. */
#include "kernel/index_core.h"

#include "tensor/convert.h"

/* ---- offsets ---- */

static cq_status out_of_bounds(int64_t index, uint32_t dim, int64_t size)
{
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                   "index %lld is out of bounds for dimension %u with size %lld", (long long)index,
                   (unsigned)dim, (long long)size);
}

cq_status cq_new_like(cq_tensor **out, cq_dtype dtype, const cq_tensor *t)
{
    int64_t sizes[CQ_MAX_RANK];

    for (uint32_t i = 0; i < t->rank; i++)
        sizes[i] = t->sizes[i].value;
    return cq_tensor_new(out, dtype, t->rank, sizes, NULL);
}

/* Adds stride times index, broadcast, to offsets; index must be within [-size, size). */
cq_status cq_add_offsets(cq_tensor *offsets, const cq_tensor *index, uint32_t dim, int64_t size,
                         int64_t stride)
{
    cq_walk     w;
    cq_load_fn *load = cq_load_of(index->dtype, CQ_WIDE_I64);

    if (!cq_dtype_is_integer(index->dtype))
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected an integer index, got %s",
                       cq_dtype_name(index->dtype));
    cq_walk_init(&w, offsets->rank, offsets->sizes);
    CQ_TRY(cq_walk_add(&w, offsets));
    CQ_TRY(cq_walk_add(&w, index));
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i++) {
            int64_t at;

            load(&at, w.at[1] + i * w.step[1], 0, 1);
            if (at < -size || at >= size)
                return out_of_bounds(at, dim, size);
            *(int64_t *)(w.at[0] + i * w.step[0]) += (at < 0 ? at + size : at) * stride;
        }
    return CQ_OK;
}

/* Offsets of index along dimension dim of x, in the shape of index. */
cq_status cq_offsets_along(cq_tensor **out, const cq_tensor *index, const cq_tensor *x,
                           uint32_t dim)
{
    cq_status status;

    *out = NULL;
    if (dim >= x->rank && (x->rank || dim))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "dimension %u is out of range for a tensor of rank %u", (unsigned)dim,
                       (unsigned)x->rank);
    CQ_TRY(cq_new_like(out, CQ_DTYPE_I64, index));
    status = cq_add_offsets(*out, index, dim, x->rank ? x->sizes[dim].value : 1,
                            x->rank ? x->strides[dim] : 0);
    if (status != CQ_OK) {
        cq_tensor_release(*out);
        *out = NULL;
    }
    return status;
}

/* ---- the two loops ---- */

enum { OF_OUT, OF_X, OF_OFFSET }; /* operands of the walk */

/* Reads: out = x[offset]. A row with a single offset is copied as a whole. */
void cq_read_at_offsets(cq_walk *w, int64_t size)
{
    for (bool more = cq_walk_start(w, CQ_ANY_ORDER); more; more = cq_walk_next(w)) {
        if (w->step[OF_OFFSET] == 0) {
            cq_move_run(w->at[OF_OUT], w->step[OF_OUT],
                        w->at[OF_X] + *(int64_t *)w->at[OF_OFFSET] * size, w->step[OF_X], size,
                        w->n);
            continue;
        }
        for (int64_t i = 0; i < w->n; i++) {
            int64_t offset = *(int64_t *)(w->at[OF_OFFSET] + i * w->step[OF_OFFSET]);

            cq_move_run(w->at[OF_OUT] + i * w->step[OF_OUT], 0,
                        w->at[OF_X] + i * w->step[OF_X] + offset * size, 0, size, 1);
        }
    }
}

#define COMBINE(T)                                                                                 \
    static T combine_##T(cq_combine how, T a, T b)                                                 \
    {                                                                                              \
        switch (how) {                                                                             \
        case CQ_COMBINE_ADD:                                                                       \
        case CQ_COMBINE_MEAN: return (T)ADD_##T(a, b);                                             \
        case CQ_COMBINE_MUL: return (T)MUL_##T(a, b);                                              \
        case CQ_COMBINE_MIN: return a < b || a != a ? a : b;                                       \
        case CQ_COMBINE_MAX: return a > b || a != a ? a : b;                                       \
        default: return b;                                                                         \
        }                                                                                          \
    }
#define ADD_float(a, b)   ((a) + (b))
#define MUL_float(a, b)   ((a) * (b))
#define ADD_double(a, b)  ((a) + (b))
#define MUL_double(a, b)  ((a) * (b))
#define ADD_int64_t(a, b) ((uint64_t)(a) + (uint64_t)(b))
#define MUL_int64_t(a, b) ((uint64_t)(a) * (uint64_t)(b))
COMBINE(float)
COMBINE(double)
COMBINE(int64_t)

/* One element of a real dtype. */
static void combine(cq_combine how, cq_dtype dtype, char *to, const char *from)
{
    union {
        float   f32;
        double  f64;
        int64_t i64;
    } a, b;
    cq_wide wide = cq_wide_of(dtype);

    cq_load_of(dtype, wide)(&a, to, 0, 1);
    cq_load_of(dtype, wide)(&b, from, 0, 1);
    if (wide == CQ_WIDE_F32)
        a.f32 = combine_float(how, a.f32, b.f32);
    else if (wide == CQ_WIDE_F64)
        a.f64 = combine_double(how, a.f64, b.f64);
    else
        a.i64 = combine_int64_t(how, a.i64, b.i64);
    cq_store_of(dtype, wide)(to, 0, &a, 1);
}

/* Writes: x[offset] = or combined with out, which is the source here. In row-major order, so that
 * the last of several writes to one element wins. */
void cq_write_at_offsets(cq_walk *w, cq_dtype dtype, cq_combine how)
{
    int64_t size = (int64_t)cq_dtype_size(dtype);

    for (bool more = cq_walk_start(w, CQ_ROW_MAJOR); more; more = cq_walk_next(w))
        for (int64_t i = 0; i < w->n; i++) {
            int64_t     offset = *(int64_t *)(w->at[OF_OFFSET] + i * w->step[OF_OFFSET]);
            const char *from   = w->at[OF_OUT] + i * w->step[OF_OUT];
            char       *to     = w->at[OF_X] + i * w->step[OF_X] + offset * size;

            if (how == CQ_COMBINE_SET)
                cq_move_run(to, 0, from, 0, size, 1);
            else
                combine(how, dtype, to, from);
        }
}

cq_status cq_check_write(const cq_tensor *out, const cq_tensor *src, cq_combine how)
{
    if (src->dtype != out->dtype)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "cannot write %s into %s", cq_dtype_name(src->dtype),
                       cq_dtype_name(out->dtype));
    if (how != CQ_COMBINE_SET && cq_dtype_is_complex(out->dtype))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "not implemented for complex tensors");
    return CQ_OK;
}

cq_status cq_check_selected(const cq_tensor *t, uint32_t rank, const cq_int *sizes)
{
    char name[CQ_DESCRIBE_SIZE];
    bool fits = t->rank == rank;

    for (uint32_t i = 0; fits && i < rank; i++)
        fits = t->sizes[i].value == sizes[i].value;
    if (fits)
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s does not have the shape of the selected elements",
                   cq_tensor_describe(t, name, sizeof name));
}
