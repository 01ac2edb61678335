/* Tensor handles: creation, views, plain queries. Copies and conversions are in copy.c,
 * files in npy.c. */
#include "tensor/identity.h"
#include "tensor/qparams.h"

#include "base/lock.h"

#include <stdio.h>

/* ---- storage ---- */

static cq_status storage_handle(cq_storage **out, void *data, size_t size)
{
    cq_storage *s = *out = cq_zalloc(sizeof *s);

    if (!s)
        return CQ_E_NO_MEMORY;
    atomic_init(&s->refs, 1);
    s->data = data;
    s->size = size;
    return CQ_OK;
}

cq_status cq_storage_new(cq_storage **out, size_t size)
{
    void     *data = cq_alloc_aligned(size);
    cq_status status;

    *out = NULL;
    if (!data)
        return CQ_E_NO_MEMORY;
    status = storage_handle(out, data, size);
    if (status != CQ_OK) {
        cq_free_aligned(data);
        return status;
    }
    (*out)->release = cq_free_aligned;
    (*out)->user    = data;
    return CQ_OK;
}

cq_status cq_storage_wrap(cq_storage **out, void *data, size_t size, bool mapped,
                          void (*release)(void *user), void *user)
{
    CQ_TRY(storage_handle(out, data, size));
    (*out)->mapped  = mapped;
    (*out)->release = release;
    (*out)->user    = user;
    return CQ_OK;
}

static void release_mapping(void *user)
{
    cq_mapping_release(user);
}

cq_status cq_storage_map(cq_storage **out, cq_mapping *mapping, size_t offset, size_t size)
{
    char *data = (char *)cq_mapping_data(mapping); /* NULL of an empty file */

    *out = NULL;
    if (offset > cq_mapping_size(mapping) || size > cq_mapping_size(mapping) - offset)
        return cq_fail(CQ_E_FORMAT, cq_mapping_path(mapping),
                       "the file is cut short; copy or download it again",
                       "a tensor needs %zu bytes at %zu but the file has %zu", size, offset,
                       cq_mapping_size(mapping));
    CQ_TRY(cq_storage_wrap(out, data ? data + offset : NULL, size, true, release_mapping, mapping));
    cq_mapping_retain(mapping);
    return CQ_OK;
}

cq_status cq_storage_align(cq_storage **s)
{
    cq_storage *copy;

    if ((uintptr_t)(*s)->data % sizeof(double) == 0)
        return CQ_OK;
    CQ_TRY(cq_storage_new(&copy, (*s)->size));
    memcpy(copy->data, (*s)->data, copy->size);
    cq_storage_release(*s);
    *s = copy;
    return CQ_OK;
}

cq_status cq_storage_open(cq_storage **out, const char *path)
{
    cq_mapping *mapping;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_mapping_open(&mapping, path));
    status = cq_storage_map(out, mapping, 0, cq_mapping_size(mapping));
    cq_mapping_release(mapping);
    return status;
}

cq_status cq_storage_zeros(cq_storage **out, size_t size)
{
    cq_mapping *mapping;
    cq_status   status;

    *out = NULL;
    CQ_TRY(cq_mapping_zeros(&mapping, size));
    status = cq_storage_map(out, mapping, 0, size);
    cq_mapping_release(mapping);
    if (status == CQ_OK)
        (*out)->zeros = true;
    return status;
}

cq_status cq_storage_later(cq_storage **out, size_t size, cq_maker maker)
{
    cq_status status = cq_storage_zeros(out, size);

    if (status != CQ_OK) {
        maker.release(maker.user);
        return status;
    }
    (*out)->zeros = false;
    (*out)->maker = maker;
    atomic_store(&(*out)->is_pending, true);
    return CQ_OK;
}

void cq_storage_make_later(cq_storage *s, cq_maker maker)
{
    if (s->maker.release)
        s->maker.release(s->maker.user);
    s->zeros = false;
    s->maker = maker;
    atomic_store(&s->is_pending, true);
}

enum { SMALL_PART = 1 << 16 }; /* not worth a mapping */

typedef struct storage_part {
    cq_storage *whole;
    size_t      from;
} storage_part;

static void copy_part(void *user, void *to, size_t from, size_t n)
{
    const storage_part *part = user;

    cq_mapping_copy(to, (const char *)part->whole->data + part->from + from, n);
}

static void release_part(void *user)
{
    storage_part *part = user;

    cq_storage_release(part->whole);
    cq_free(part);
}

static void release_whole(void *user)
{
    cq_storage_release(user);
}

cq_status cq_storage_part(cq_storage **out, cq_storage *whole, size_t from, size_t size)
{
    storage_part *part;

    *out = NULL;
    if (from > whole->size || size > whole->size - from)
        return cq_fail(CQ_E_FORMAT, NULL, "the file is truncated; download it again",
                       "a tensor needs %zu bytes at byte %zu, but the file has %zu", size, from,
                       whole->size);
    if (!size)
        return cq_storage_new(out, 0);
    if (((uintptr_t)whole->data + from) % sizeof(double) == 0) {
        CQ_TRY(cq_storage_wrap(out, (char *)whole->data + from, size, whole->mapped, release_whole,
                               whole));
        cq_storage_retain(whole);
        return CQ_OK;
    }
    if (size <= SMALL_PART) {
        CQ_TRY(cq_storage_new(out, size));
        memcpy((*out)->data, (const char *)whole->data + from, size);
        return CQ_OK;
    }
    part = cq_alloc(sizeof *part);
    if (!part)
        return CQ_E_NO_MEMORY;
    *part = (storage_part){ cq_storage_retain(whole), from };
    return cq_storage_later(
        out, size, (cq_maker){ copy_part, release_part, part, (const char *)whole->data + from });
}

/* One at a time; the maker of a nested lazy storage recurses here. */
void cq_storage_make(cq_storage *s)
{
    static cq_mutex           lock = CQ_MUTEX_INIT;
    static _Thread_local bool has_lock;
    const bool                takes = !has_lock;

    if (takes)
        cq_mutex_lock(&lock);
    has_lock = true;
    if (atomic_load(&s->is_pending))
        s->maker.make(s->maker.user, s->data, 0, s->size);
    atomic_store_explicit(&s->is_pending, false, memory_order_release);
    if (!takes)
        return;
    has_lock = false;
    cq_mutex_unlock(&lock);
}

cq_storage *cq_storage_retain(cq_storage *s)
{
    if (s)
        atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
    return s;
}

void cq_storage_release(cq_storage *s)
{
    if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) != 1)
        return;
    if (s->release)
        s->release(s->user);
    if (s->maker.release)
        s->maker.release(s->maker.user);
    cq_free(s);
}

/* ---- handles ---- */

/* Every tensor, also one without data and a view with stride 0, passes here: the product of its
 * sizes, each at least 1, times the size of an element fits into 63 bits. So the number of its
 * elements, its bytes and its contiguous strides can be computed anywhere without a check. */
static cq_status check_sizes(cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    int64_t n        = (int64_t)cq_dtype_size(dtype);
    bool    overflow = false;

    for (size_t i = 0; i < rank; i++) {
        if (sizes[i].value < 0)
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "size %lld of dimension %zu is negative",
                           (long long)sizes[i].value, i);
        if (sizes[i].value)
            overflow |= __builtin_mul_overflow(n, sizes[i].value, &n);
    }
    if (overflow)
        return cq_fail(CQ_E_NO_MEMORY, NULL, NULL, "a tensor of this size does not fit in memory");
    return CQ_OK;
}

enum { SPARE = 2 /* dimensions that a tensor may become larger by */ };

static cq_status new_handle(cq_tensor **out, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    cq_tensor *t;

    *out = NULL;
    if (rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a tensor has at most %d dimensions, not %zu",
                       CQ_MAX_RANK, rank);
    if (dtype <= CQ_DTYPE_NONE || dtype >= CQ_DTYPE_COUNT)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "%d is not a dtype", (int)dtype);
    CQ_TRY(check_sizes(dtype, rank, sizes));
    t = cq_zalloc(sizeof *t + (rank + SPARE) * (sizeof(cq_int) + sizeof(int64_t)));
    if (!t)
        return CQ_E_NO_MEMORY;
    atomic_init(&t->refs, 1);
    t->dtype   = dtype;
    t->rank    = (uint32_t)rank;
    t->sizes   = (cq_int *)(t + 1);
    t->room    = (uint32_t)(rank + SPARE);
    t->strides = (int64_t *)(t->sizes + t->room);
    if (rank)
        memcpy(t->sizes, sizes, rank * sizeof *sizes);
    *out = t;
    return CQ_OK;
}

/* Sizes whose product overflows get strides of 0; the handle that would have them is refused. */
void cq_contiguous_strides(int64_t *strides, size_t rank, const cq_int *sizes)
{
    int64_t stride = 1;

    for (size_t i = rank; i-- > 0;) {
        strides[i] = stride;
        if (sizes[i].value > 1 && __builtin_mul_overflow(stride, sizes[i].value, &stride))
            stride = 0;
    }
}

cq_status cq_tensor_new_fake(cq_tensor **out, cq_dtype dtype, size_t rank, const cq_int *sizes)
{
    CQ_TRY(new_handle(out, dtype, rank, sizes));
    cq_contiguous_strides((*out)->strides, rank, sizes);
    return CQ_OK;
}

static size_t data_size(const cq_tensor *t)
{
    return (size_t)cq_tensor_numel(t) * cq_dtype_size(t->dtype);
}

/* A tensor of plain sizes with contiguous strides, which has no storage yet. */
static cq_status new_plain(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes)
{
    cq_int plain[CQ_MAX_RANK];

    for (size_t i = 0; i < rank && i < CQ_MAX_RANK; i++)
        plain[i] = cq_i(sizes[i]);
    return cq_tensor_new_fake(out, dtype, rank, plain);
}

/* Returns t with the new storage, or releases it if that failed. */
static cq_status with_storage(cq_tensor **out, cq_tensor *t, cq_status status)
{
    *out = status == CQ_OK ? t : NULL;
    if (status != CQ_OK)
        cq_tensor_release(t);
    return status;
}

cq_status cq_tensor_new_uninit(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes)
{
    cq_tensor *t;

    *out = NULL;
    CQ_TRY(new_plain(&t, dtype, rank, sizes));
    return with_storage(out, t, cq_storage_new(&t->storage, data_size(t)));
}

CQ_API cq_status cq_tensor_new(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes,
                               const void *data)
{
    CQ_NEED_OUT(out, (sizes || !rank));
    size_t bytes;

    CQ_TRY(cq_tensor_new_uninit(out, dtype, rank, sizes));
    bytes = data_size(*out);
    if (data && bytes)
        memcpy((*out)->storage->data, data, bytes);
    else
        memset((*out)->storage->data, 0, bytes);
    return CQ_OK;
}

static void release_nothing(void *user)
{
    (void)user;
}

CQ_API cq_status cq_tensor_new_lazy(cq_tensor **out, cq_dtype dtype, size_t rank,
                                    const int64_t *sizes,
                                    void (*make)(void *user, void *to, size_t from, size_t n),
                                    void (*release)(void *user), void *user)
{
    CQ_NEED_OUT(out, (sizes || !rank) && make);
    const cq_maker maker = { make, release ? release : release_nothing, user, NULL };
    cq_tensor     *t;
    cq_status      status = new_plain(&t, dtype, rank, sizes);

    if (status != CQ_OK) {
        maker.release(user);
        return status;
    }
    return with_storage(out, t, cq_storage_later(&t->storage, data_size(t), maker));
}

static cq_status wrap_caller(cq_tensor *t, void *data, size_t size, void (*release)(void *user),
                             void *user)
{
    CQ_TRY(cq_storage_wrap(&t->storage, data, size, false, release, user));
    t->storage->is_caller = true;
    return CQ_OK;
}

CQ_API cq_status cq_tensor_wrap(cq_tensor **out, cq_dtype dtype, size_t rank, const int64_t *sizes,
                                void *data, void (*release)(void *user), void *user)
{
    CQ_NEED_OUT(out, (sizes || !rank) && data);
    cq_tensor *t;

    *out = NULL;
    CQ_TRY(new_plain(&t, dtype, rank, sizes));
    return with_storage(out, t, wrap_caller(t, data, data_size(t), release, user));
}

/* Lowest and highest element that sizes and strides reach, from offset. */
static cq_status check_bounds(cq_dtype dtype, size_t rank, const cq_int *sizes,
                              const int64_t *strides, int64_t offset, size_t storage_size)
{
    int64_t low = offset, high = offset, reach, bytes;
    bool    bad = false;

    for (size_t i = 0; i < rank; i++)
        if (sizes[i].value == 0)
            return CQ_OK;
    for (size_t i = 0; i < rank; i++) {
        bad |= __builtin_mul_overflow(sizes[i].value - 1, strides[i], &reach);
        bad |= __builtin_add_overflow(reach < 0 ? low : high, reach, reach < 0 ? &low : &high);
    }
    bad |= __builtin_add_overflow(high, 1, &high);
    bad |= __builtin_mul_overflow(high, (int64_t)cq_dtype_size(dtype), &bytes);
    if (bad || low < 0 || (uint64_t)bytes > storage_size)
        return cq_fail(CQ_E_FORMAT, NULL, NULL,
                       "a tensor reaches outside of its storage of %zu bytes", storage_size);
    return CQ_OK;
}

static cq_status new_view(cq_tensor **out, cq_storage *storage, cq_dtype dtype, size_t rank,
                          const cq_int *sizes, const int64_t *strides, int64_t offset)
{
    cq_tensor *t;

    *out = NULL;
    CQ_TRY(new_handle(&t, dtype, rank, sizes));
    for (size_t i = 0; i < rank; i++) {
        int64_t bytes; /* a stride that cannot be counted in bytes is never used */

        t->strides[i] = __builtin_mul_overflow(strides[i], 16, &bytes) ? 1 : strides[i];
    }
    t->offset  = offset;
    t->storage = cq_storage_retain(storage);
    return with_storage(
        out, t, storage ? check_bounds(dtype, rank, sizes, strides, offset, storage->size) : CQ_OK);
}

cq_status cq_tensor_new_view(cq_tensor **out, const cq_tensor *t, cq_dtype dtype, size_t rank,
                             const cq_int *sizes, const int64_t *strides, int64_t offset)
{
    return new_view(out, t->storage, dtype, rank, sizes, strides, offset);
}

cq_status cq_tensor_new_on(cq_tensor **out, cq_storage *storage, cq_dtype dtype, size_t rank,
                           const int64_t *sizes, const int64_t *strides, int64_t offset)
{
    cq_int plain[CQ_MAX_RANK];

    *out = NULL;
    for (size_t i = 0; i < rank && i < CQ_MAX_RANK; i++)
        plain[i] = cq_i(sizes[i]);
    return new_view(out, storage, dtype, rank, plain, strides, offset);
}

/* Bytes from the first element to the end of the last; -1: they cannot be counted. */
static int64_t strided_size(cq_dtype dtype, size_t rank, const int64_t *sizes,
                            const int64_t *strides)
{
    int64_t size = 1, reach;
    bool    bad  = false;

    for (size_t i = 0; i < rank; i++) {
        if (sizes[i] == 0)
            return 0;
        bad |= strides[i] < 0 || __builtin_mul_overflow(sizes[i] - 1, strides[i], &reach) ||
               __builtin_add_overflow(size, reach, &size);
    }
    bad |= __builtin_mul_overflow(size, (int64_t)cq_dtype_size(dtype), &size);
    return bad ? -1 : size;
}

CQ_API cq_status cq_tensor_wrap_strided(cq_tensor **out, cq_dtype dtype, size_t rank,
                                        const int64_t *sizes, const int64_t *strides, void *data,
                                        void (*release)(void *user), void *user)
{
    CQ_NEED_OUT(out, ((sizes && strides) || !rank) && data);
    cq_tensor *t;
    int64_t    size;

    CQ_TRY(new_plain(&t, dtype, rank, sizes));
    size = strided_size(dtype, rank, sizes, strides);
    if (size < 0)
        return with_storage(
            out, t,
            cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a stride is negative, or too large for memory"));
    if (rank)
        memcpy(t->strides, strides, rank * sizeof *strides);
    return with_storage(out, t, wrap_caller(t, data, (size_t)size, release, user));
}

cq_status cq_tensor_set_known(cq_tensor *t, const cq_int *elements, size_t n)
{
    cq_int *known = cq_alloc_array(n ? n : 1, sizeof *known);

    if (!known)
        return CQ_E_NO_MEMORY;
    if (n)
        memcpy(known, elements, n * sizeof *known);
    cq_free(t->known);
    t->known = known;
    return CQ_OK;
}

cq_status cq_tensor_become(cq_tensor *t, const cq_tensor *like)
{
    cq_storage *old = t->storage;

    if (like->rank > t->room)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a tensor of rank %u cannot replace one of rank %u", like->rank, t->rank);
    t->storage = cq_storage_retain(like->storage);
    cq_storage_release(old);
    cq_free(t->known);
    t->known  = NULL;
    t->dtype  = like->dtype;
    t->rank   = like->rank;
    t->offset = like->offset;
    t->tag    = like->tag;
    memcpy(t->sizes, like->sizes, like->rank * sizeof *t->sizes);
    memcpy(t->strides, like->strides, like->rank * sizeof *t->strides);
    cq_tensor_set_qparams(t, like->qparams);
    return CQ_OK;
}

CQ_API cq_tensor *cq_tensor_retain(cq_tensor *t)
{
    if (t)
        atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
    return t;
}

CQ_API void cq_tensor_release(cq_tensor *t)
{
    if (!t || atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1)
        return;
    cq_storage_release(t->storage);
    cq_qparams_release(t->qparams);
    cq_free(t->known);
    cq_free(t);
}

/* ---- queries ---- */

CQ_API cq_dtype cq_tensor_dtype(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, 0);
    return t->dtype;
}

CQ_API size_t cq_tensor_rank(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, 0);
    return t->rank;
}

CQ_API int64_t cq_tensor_size(const cq_tensor *t, size_t axis)
{
    CQ_NEED_ELSE(t, 0);
    return axis < t->rank ? t->sizes[axis].value : 0;
}

CQ_API int64_t cq_tensor_stride(const cq_tensor *t, size_t axis)
{
    CQ_NEED_ELSE(t, 0);
    return axis < t->rank ? t->strides[axis] : 0;
}

CQ_API void cq_tensor_set_made_up(cq_tensor *t)
{
    CQ_NEED_ELSE(t, );
    t->is_made_up = true;
}

CQ_API int64_t cq_tensor_numel(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, 0);
    int64_t n = 1;

    for (size_t i = 0; i < t->rank; i++)
        n *= t->sizes[i].value;
    return n;
}

cq_int cq_tensor_numel_int(cq_symbols *table, const cq_tensor *t)
{
    cq_int n = cq_i(1);

    for (size_t i = 0; i < t->rank; i++)
        n = cq_int_mul(table, n, t->sizes[i]);
    return n;
}

CQ_API bool cq_tensor_is_contiguous(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, 0);
    int64_t stride = 1;

    if (cq_tensor_numel(t) == 0)
        return true;
    for (size_t i = t->rank; i-- > 0;) {
        if (t->sizes[i].value != 1 && t->strides[i] != stride)
            return false;
        stride *= t->sizes[i].value;
    }
    return true;
}

CQ_API bool cq_tensor_has_data(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, 0);
    return t->storage != NULL;
}

CQ_API bool cq_tensor_is_shared(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, false);
    const cq_storage *s = t->storage;

    return s &&
           (s->mapped || s->is_caller || atomic_load_explicit(&t->refs, memory_order_acquire) > 1 ||
            atomic_load_explicit(&s->refs, memory_order_acquire) > 1);
}

bool cq_tensor_is_fake(const cq_tensor *t)
{
    return t->storage == NULL;
}

CQ_API void *cq_tensor_data(const cq_tensor *t)
{
    CQ_NEED_ELSE(t, NULL);
    return t->storage ? cq_tensor_bytes(t) : NULL;
}

const char *cq_tensor_describe(const cq_tensor *t, char *buffer, size_t size)
{
    char   number[24];
    size_t at = 0;

    at += (size_t)snprintf(buffer, size, "%s[", cq_dtype_name(t->dtype));
    for (size_t i = 0; i < t->rank && at < size; i++)
        at += (size_t)snprintf(buffer + at, size - at, i ? ", %s" : "%s",
                               cq_int_text(t->sizes[i], number));
    if (at < size)
        snprintf(buffer + at, size - at, "]");
    return buffer;
}

void cq_tensor_identity_text(char key[CQ_IDENTITY_SIZE], const cq_tensor *t)
{
    /* The address alone: elements that are made when they are read need not be made for it. */
    const char *at = (const char *)t->storage->data + t->offset * (int64_t)cq_dtype_size(t->dtype);

    int n = snprintf(key, CQ_IDENTITY_SIZE, "%p %d", (const void *)at, (int)t->dtype);

    for (size_t i = 0; i < t->rank; i++)
        n += snprintf(key + n, (size_t)(CQ_IDENTITY_SIZE - n), " %lld:%lld",
                      (long long)t->sizes[i].value, (long long)t->strides[i]);
}

void cq_tensor_identity(cq_str *key, const cq_tensor *t)
{
    char text[CQ_IDENTITY_SIZE];

    cq_tensor_identity_text(text, t);
    cq_str_add(key, text);
}
