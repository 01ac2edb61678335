/* Copies between tensors of any strides and dtypes, and single elements as numbers. */
#include "tensor/convert.h"
#include "tensor/walk.h"

/* ---- equal dtypes: bytes are moved, whatever they mean ---- */

/* A memcpy of known size is one move; elements need not be aligned. */
#define MOVE(bytes)                                                                                \
    do {                                                                                           \
        for (int64_t i = 0; i < n; i++, to += to_step, from += from_step)                          \
            memcpy(to, from, bytes);                                                               \
    } while (0)

void cq_move_run(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t size,
                 int64_t n)
{
    if (to_step == size && from_step == size) {
        memcpy(to, from, (size_t)(n * size));
        return;
    }
    switch (size) {
    case 1: MOVE(1); break;
    case 2: MOVE(2); break;
    case 4: MOVE(4); break;
    case 8: MOVE(8); break;
    default: MOVE(16); break;
    }
}

/* Transposing row by row would touch a new cache line of the source for every element and
 * come back for its neighbours too late. Small squares use each line while it is there:
 * the dimension along which the source is dense takes part as the second one. */
static void move_squares(cq_walk *w, int64_t size, uint32_t dense)
{
    enum { SIDE = 32 };
    int64_t rows = w->sizes[dense], to_down = w->strides[0][dense],
            from_down = w->strides[1][dense];
    uint32_t last     = w->rank - 1;

    w->sizes[dense] = 1; /* the walk covers all other dimensions */
    do {
        for (int64_t i = 0; i < rows; i += SIDE)
            for (int64_t j = 0; j < w->n; j += SIDE)
                for (int64_t k = i; k < rows && k < i + SIDE; k++)
                    cq_move_run(w->at[0] + k * to_down + j * w->step[0], w->step[0],
                                w->at[1] + k * from_down + j * w->step[1], w->step[1], size,
                                w->sizes[last] - j < SIDE ? w->sizes[last] - j : SIDE);
    } while (cq_walk_next(w));
}

static void move_all(cq_walk *w, int64_t size)
{
    if (w->step[1] != size && w->step[1] != 0)
        for (uint32_t i = 0; i + 1 < w->rank; i++)
            if (w->strides[1][i] == size) {
                move_squares(w, size, i);
                return;
            }
    do
        cq_move_run(w->at[0], w->step[0], w->at[1], w->step[1], size, w->n);
    while (cq_walk_next(w));
}

/* ---- different dtypes ---- */

/* A complex number is read as its real part. A real number that becomes complex gets a zero
 * imaginary part; a complex number that becomes a bool is true if either part is not zero. */
static void convert_row(const cq_walk *w, cq_dtype to, cq_dtype from)
{
    cq_dtype to_part = cq_dtype_part(to), from_part = cq_dtype_part(from);
    int64_t  to_size  = (int64_t)cq_dtype_size(to_part),
            from_size = (int64_t)cq_dtype_size(from_part);

    cq_convert_run(w->at[0], to_part, w->step[0], w->at[1], from_part, w->step[1], w->n);
    if (to != to_part && from != from_part)
        cq_convert_run(w->at[0] + to_size, to_part, w->step[0], w->at[1] + from_size, from_part,
                       w->step[1], w->n);
    else if (to != to_part)
        for (int64_t i = 0; i < w->n; i++)
            memset(w->at[0] + i * w->step[0] + to_size, 0, (size_t)to_size);
    else if (from != from_part && to == CQ_DTYPE_BOOL)
        for (int64_t i = 0; i < w->n; i++) {
            uint8_t imaginary;

            cq_convert_run((char *)&imaginary, to, 1, w->at[1] + i * w->step[1] + from_size,
                           from_part, from_size, 1);
            w->at[0][i * w->step[0]] |= (char)imaginary;
        }
}

cq_status cq_tensor_copy_into(cq_tensor *dst, const cq_tensor *src)
{
    cq_walk w;

    if (dst->rank != src->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "cannot copy a tensor of rank %u to one of rank %u",
                       (unsigned)src->rank, (unsigned)dst->rank);
    for (uint32_t i = 0; i < dst->rank; i++)
        if (dst->sizes[i].value != src->sizes[i].value)
            return cq_fail(
                CQ_E_TYPE, NULL, NULL, "cannot copy size %lld to size %lld of dimension %u",
                (long long)src->sizes[i].value, (long long)dst->sizes[i].value, (unsigned)i);
    cq_walk_init(&w, dst->rank, dst->sizes);
    CQ_TRY(cq_walk_add(&w, dst));
    CQ_TRY(cq_walk_add(&w, src));
    if (!cq_walk_start(&w, CQ_ANY_ORDER))
        return CQ_OK;
    if (dst->dtype == src->dtype)
        move_all(&w, (int64_t)cq_dtype_size(dst->dtype));
    else
        do
            convert_row(&w, dst->dtype, src->dtype);
        while (cq_walk_next(&w));
    return CQ_OK;
}

cq_status cq_tensor_clone(cq_tensor **out, const cq_tensor *t, cq_dtype dtype)
{
    int64_t   sizes[CQ_MAX_RANK];
    cq_status status;

    if (dtype == CQ_DTYPE_NONE)
        dtype = t->dtype;
    if (cq_tensor_is_fake(t))
        return cq_tensor_new_fake(out, dtype, t->rank, t->sizes);
    for (uint32_t i = 0; i < t->rank; i++)
        sizes[i] = t->sizes[i].value;
    CQ_TRY(cq_tensor_new_uninit(out, dtype, t->rank, sizes));
    status = cq_tensor_copy_into(*out, t);
    if (status != CQ_OK) {
        cq_tensor_release(*out);
        *out = NULL;
        return status;
    }
    if (t->rank)
        memcpy((*out)->sizes, t->sizes, t->rank * sizeof *t->sizes); /* symbols stay */
    return CQ_OK;
}

CQ_API cq_status cq_tensor_pairs(cq_tensor **out, cq_tensor *t)
{
    CQ_NEED_OUT(out, t);
    cq_int  sizes[CQ_MAX_RANK];
    int64_t strides[CQ_MAX_RANK];

    *out = NULL;
    if (!cq_dtype_is_complex(t->dtype)) {
        *out = cq_tensor_retain(t);
        return CQ_OK;
    }
    if (t->rank == CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a tensor has at most %d dimensions",
                       CQ_MAX_RANK);
    for (size_t i = 0; i < t->rank; i++) {
        sizes[i]   = t->sizes[i];
        strides[i] = 2 * t->strides[i];
    }
    sizes[t->rank]   = cq_i(2);
    strides[t->rank] = 1;
    return cq_tensor_new_view(out, t, cq_dtype_part(t->dtype), t->rank + 1, sizes, strides,
                              2 * t->offset);
}

CQ_API cq_status cq_tensor_contiguous(cq_tensor **out, const cq_tensor *t)
{
    CQ_NEED_OUT(out, t);
    if (!cq_tensor_is_contiguous(t))
        return cq_tensor_clone(out, t, CQ_DTYPE_NONE);
    *out = cq_tensor_retain((cq_tensor *)t); /* counting references is not a change of t */
    return CQ_OK;
}

/* ---- single elements ---- */

static const char *element_at(const cq_tensor *t, int64_t index)
{
    int64_t offset = 0;

    for (uint32_t i = t->rank; i-- > 0;) {
        int64_t size = t->sizes[i].value;

        if (size == 0)
            return NULL;
        offset += index % size * t->strides[i];
        index /= size;
    }
    return index ? NULL : cq_tensor_bytes(t) + offset * (int64_t)cq_dtype_size(t->dtype);
}

static void get_element(void *out, cq_dtype as, const cq_tensor *t, int64_t index)
{
    const char *at = t->storage && index >= 0 ? element_at(t, index) : NULL;

    if (at)
        cq_convert_run(out, as, 8, at, cq_dtype_part(t->dtype), 0, 1);
}

void cq_tensor_get_f64_run(double *out, const cq_tensor *t, int64_t from, int64_t n)
{
    const bool    is_one_row = cq_tensor_is_contiguous(t);
    const int64_t row        = is_one_row ? from + n : t->sizes[t->rank - 1].value;
    const int64_t step =
        (is_one_row ? 1 : t->strides[t->rank - 1]) * (int64_t)cq_dtype_size(t->dtype);

    for (int64_t i = 0, len; i < n; i += len) {
        const int64_t rest = row - (from + i) % row;

        len = rest < n - i ? rest : n - i;
        cq_convert_run((char *)(out + i), CQ_DTYPE_F64, 8, element_at(t, from + i),
                       cq_dtype_part(t->dtype), step, len);
    }
}

CQ_API double cq_tensor_get_f64(const cq_tensor *t, int64_t index)
{
    CQ_NEED_ELSE(t, 0);
    double x = 0;

    get_element(&x, CQ_DTYPE_F64, t, index);
    return x;
}

CQ_API int64_t cq_tensor_get_i64(const cq_tensor *t, int64_t index)
{
    CQ_NEED_ELSE(t, 0);
    int64_t x = 0;

    get_element(&x, CQ_DTYPE_I64, t, index);
    return x;
}
