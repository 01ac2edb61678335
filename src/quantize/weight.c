/* Quantizes a weight when it is read or written, piece by piece. Scales come first; then every
 * integer follows from its number and its scale, in any order. The weights of a model share one
 * cache: the scales of the weight that was read last, and buffers that are allocated with the
 * weight, so that reading cannot fail. */
#include "quantize/weight.h"

#include "base/alloc.h"
#include "base/lock.h"
#include "base/thread.h"
#include "tensor/convert.h"

#include <math.h>
#include <string.h>

enum {
    LANES       = CQ_SCALE_LANES,
    LEAST_PANEL = 1 << 18, /* numbers that are read at once: an eighth of the weight, … */
    MOST_PANEL  = 1 << 22  /* … at least that and at most this, unless 16 blocks are more */
};

struct cq_scale_cache {
    atomic_int                 refs;
    cq_mutex                   lock;
    const cq_quantized_weight *owner; /* of scales */
    float                     *scales, *lows, *read, *turned;
    cq_scale_error            *errors; /* of groups of lanes */
    uint8_t                   *packed; /* columns of MatMulNBits */
    const cq_quantized_weight *packed_owner;
    int64_t                    packed_from, packed_n;
    size_t n_scales, n_lows, n_read, n_turned, n_errors, n_packed; /* that there is memory for */
    double error, total;                                           /* of the owner */
};

struct cq_quantized_weight {
    atomic_int      refs;
    cq_scale_cache *cache;
    cq_tensor      *source;
    cq_weight_form  form;
    cq_scale_rule   rule;
    int64_t         blocks;                 /* along the axis */
    int64_t         panel_rows, panel_cols; /* that are read at once for scales */
    int64_t         packed_cols;            /* of MatMulNBits that are made at once */
};

/* ---- the cache ---- */

cq_status cq_scale_cache_new(cq_scale_cache **out)
{
    *out = cq_zalloc(sizeof **out);
    if (!*out)
        return CQ_E_NO_MEMORY;
    atomic_init(&(*out)->refs, 1);
    cq_mutex_init(&(*out)->lock);
    return CQ_OK;
}

void cq_scale_cache_release(cq_scale_cache *c)
{
    if (!c || atomic_fetch_sub(&c->refs, 1) != 1)
        return;
    cq_mutex_clear(&c->lock);
    cq_free(c->scales);
    cq_free(c->lows);
    cq_free(c->read);
    cq_free(c->turned);
    cq_free(c->errors);
    cq_free(c->packed);
    cq_free(c);
}

/* Makes room for n items; what was there is lost. */
static cq_status make_room(void **items, size_t *had, int64_t n, size_t size)
{
    void *made;

    if (n <= 0 || (size_t)n <= *had)
        return CQ_OK;
    made = cq_alloc_array((size_t)n, size);
    if (!made)
        return CQ_E_NO_MEMORY;
    cq_free(*items);
    *items = made;
    *had   = (size_t)n;
    return CQ_OK;
}

static int64_t n_groups(int64_t lanes)
{
    return (lanes + LANES - 1) / LANES;
}

static int64_t at_most(int64_t x, int64_t most)
{
    return x < most ? x : most;
}

static int64_t at_least(int64_t x, int64_t least)
{
    return x > least ? x : least;
}

static int64_t packed_column(const cq_quantized_weight *w)
{
    return w->blocks * w->form.block / 2;
}

static int64_t n_columns(const cq_quantized_weight *w)
{
    return w->form.axis == 0 ? w->form.cols : w->form.rows;
}

static cq_status grow_cache(cq_quantized_weight *w)
{
    cq_scale_cache *c      = w->cache;
    const int64_t   panel  = w->panel_rows * w->panel_cols;
    const int64_t   length = w->form.axis == 0 ? w->form.rows : w->form.cols;
    const int64_t   lanes  = w->form.axis == 0 ? w->panel_cols : w->panel_rows;
    const int64_t   packed = w->form.bits == 4 ? w->packed_cols * packed_column(w) : 0;
    cq_status       status;

    cq_mutex_lock(&c->lock);
    c->owner = c->packed_owner = NULL;
    CQ_TRY_OR_DONE(
        make_room((void **)&c->scales, &c->n_scales, w->blocks * n_columns(w), sizeof *c->scales));
    CQ_TRY_OR_DONE(
        make_room((void **)&c->lows, &c->n_lows, w->blocks * n_columns(w), sizeof *c->lows));
    CQ_TRY_OR_DONE(make_room((void **)&c->read, &c->n_read, panel, sizeof *c->read));
    CQ_TRY_OR_DONE(make_room((void **)&c->read, &c->n_read, packed ? w->packed_cols * length : 0,
                             sizeof *c->read));
    CQ_TRY_OR_DONE(make_room((void **)&c->turned, &c->n_turned, panel, sizeof *c->turned));
    CQ_TRY_OR_DONE(
        make_room((void **)&c->errors, &c->n_errors, n_groups(lanes), sizeof *c->errors));
    CQ_TRY_OR_DONE(make_room((void **)&c->packed, &c->n_packed, packed, 1));
done:
    cq_mutex_unlock(&c->lock);
    return status;
}

void cq_quantized_weight_release(cq_quantized_weight *w)
{
    if (!w || atomic_fetch_sub(&w->refs, 1) != 1)
        return;
    cq_mutex_lock(&w->cache->lock);
    if (w->cache->owner == w)
        w->cache->owner = NULL;
    if (w->cache->packed_owner == w)
        w->cache->packed_owner = NULL;
    cq_mutex_unlock(&w->cache->lock);
    cq_scale_cache_release(w->cache);
    cq_tensor_release(w->source);
    cq_free(w);
}

cq_status cq_quantized_weight_new(cq_quantized_weight **out, cq_scale_cache *cache,
                                  cq_tensor *source, const cq_weight_form *form)
{
    cq_quantized_weight *w      = cq_zalloc(sizeof *w);
    const int64_t        length = form->axis == 0 ? form->rows : form->cols;
    const int64_t budget = at_most(at_least(form->rows * form->cols / 8, LEAST_PANEL), MOST_PANEL);
    cq_status     status;

    *out = NULL;
    if (!w)
        return CQ_E_NO_MEMORY;
    atomic_init(&w->refs, 1);
    atomic_fetch_add(&cache->refs, 1);
    w->cache      = cache;
    w->source     = cq_tensor_retain(source);
    w->form       = *form;
    w->form.block = form->block ? form->block : at_least(length, 1);
    w->blocks     = (length + w->form.block - 1) / w->form.block;
    w->rule = (cq_scale_rule){ form->bits, form->bits == 4, form->is_asymmetric, source->dtype };
    if (form->axis == 0) {
        w->panel_rows = at_most(w->form.block, form->rows);
        w->panel_cols =
            at_most(at_least(budget / w->panel_rows, LANES) / LANES * LANES, form->cols);
    } else {
        w->panel_cols = form->cols;
        w->panel_rows =
            at_most(at_least(budget / at_least(form->cols, 1), LANES) / LANES * LANES, form->rows);
    }
    w->packed_cols = at_most(at_least(budget / at_least(length, 1), 1), n_columns(w));
    status         = grow_cache(w);
    if (status == CQ_OK)
        *out = w;
    else
        cq_quantized_weight_release(w);
    return status;
}

int64_t cq_quantized_weight_blocks(const cq_quantized_weight *w)
{
    return w->blocks;
}

/* ---- reading ---- */

/* n numbers of the source, from index on. */
static void read_run(const cq_quantized_weight *w, float *to, int64_t index, int64_t n)
{
    const size_t size = cq_dtype_size(w->source->dtype);
    const char  *from = cq_tensor_bytes(w->source) + index * (int64_t)size;
    char         halves[8192];

    if (w->source->dtype == CQ_DTYPE_F32) {
        cq_mapping_copy(to, from, (size_t)n * size);
        return;
    }
    for (int64_t at = 0, k; at < n; at += k) {
        k = at_most(n - at, (int64_t)(sizeof halves / size));
        cq_mapping_copy(halves, from + at * (int64_t)size, (size_t)k * size);
        cq_load_of(w->source->dtype, CQ_WIDE_F32)(to + at, halves, (int64_t)size, k);
    }
}

/* A part of the matrix, row after row. */
static void read_panel(const cq_quantized_weight *w, float *to, int64_t row, int64_t rows,
                       int64_t col, int64_t cols)
{
    if (cols == w->form.cols) {
        read_run(w, to, row * cols, rows * cols);
        return;
    }
    for (int64_t r = 0; r < rows; r++)
        read_run(w, to + r * cols, (row + r) * w->form.cols + col, cols);
}

/* ---- scales ---- */

typedef struct scale_panel {
    const cq_quantized_weight *w;
    int64_t                    row, rows, col, cols;
} scale_panel;

/* Searches one group of lanes: columns (axis 0) or rows (axis 1). */
static cq_status search_group(void *user, int64_t group)
{
    const scale_panel         *p     = user;
    const cq_quantized_weight *w     = p->w;
    cq_scale_cache            *c     = w->cache;
    const int64_t              all   = w->form.axis == 0 ? p->cols : p->rows;
    const int64_t              from  = group * LANES;
    const int                  lanes = (int)at_most(all - from, LANES);
    const int64_t              n     = w->form.axis == 0 ? p->rows : p->cols;
    float                     *x     = c->turned + from * n;
    cq_scale_error             errors[LANES];
    float                      scales[LANES], lows[LANES];

    c->errors[group] = (cq_scale_error){ 0 };
    for (int64_t i = 0; i < n; i++)
        for (int l = 0; l < lanes; l++)
            x[i * lanes + l] = w->form.axis == 0 ? c->read[i * p->cols + from + l]
                                                 : c->read[(from + l) * p->cols + i];
    for (int64_t b = 0, done = 0; done < n; b++, done += w->form.block) {
        cq_scale_search(scales, lows, errors, x + done * lanes, at_most(n - done, w->form.block),
                        lanes, &w->rule);
        for (int l = 0; l < lanes; l++) {
            const int64_t at = w->form.axis == 0
                                   ? p->row / w->form.block * w->form.cols + p->col + from + l
                                   : (p->row + from + l) * w->blocks + b;

            c->scales[at] = scales[l];
            c->lows[at]   = lows[l];
            c->errors[group].error += errors[l].error;
            c->errors[group].total += errors[l].total;
        }
    }
    return CQ_OK;
}

/* Scales and lower ends of w into the cache, whose lock the caller holds. */
static void find_scales(const cq_quantized_weight *w)
{
    cq_scale_cache *c = w->cache;

    if (c->owner == w)
        return;
    c->owner = w;
    c->error = c->total = 0;
    for (int64_t row = 0; row < w->form.rows; row += w->panel_rows)
        for (int64_t col = 0; col < w->form.cols; col += w->panel_cols) {
            scale_panel   p      = { w, row, at_most(w->panel_rows, w->form.rows - row), col,
                                     at_most(w->panel_cols, w->form.cols - col) };
            const int64_t groups = n_groups(w->form.axis == 0 ? p.cols : p.rows);

            read_panel(w, c->read, p.row, p.rows, p.col, p.cols);
            (void)cq_parallel_for(groups, search_group, &p); /* blocks cannot fail */
            for (int64_t i = 0; i < groups; i++) {
                c->error += c->errors[i].error;
                c->total += c->errors[i].total;
            }
        }
}

double cq_quantized_weight_error(cq_quantized_weight *w)
{
    double error;

    cq_mutex_lock(&w->cache->lock);
    find_scales(w);
    error =
        w->cache->total > 0 || isnan(w->cache->total) ? sqrt(w->cache->error / w->cache->total) : 0;
    cq_mutex_unlock(&w->cache->lock);
    return error;
}

/* ---- integers ---- */

/* The index of the scale of a number. */
static int64_t scale_index(const cq_quantized_weight *w, int64_t row, int64_t col)
{
    return w->form.axis == 0 ? row / w->form.block * w->form.cols + col
                             : row * w->blocks + col / w->form.block;
}

/* The integer of a number, from 0 on. */
static unsigned code_of(const cq_quantized_weight *w, float x, int64_t index)
{
    const float scale = w->cache->scales[index], low = w->cache->lows[index];
    const float span = (float)((1 << w->form.bits) - 1);

    if (isnan(scale) || scale == 0)
        return (unsigned)-low;
    return (unsigned)(cq_scale_round(x, 1 / scale, low, low + span) - low);
}

/* The stored integer for the code 0. */
static int first_code(const cq_quantized_weight *w)
{
    return w->form.is_unsigned ? 0 : -(1 << (w->form.bits - 1));
}

static void make_integers(void *user, void *to, size_t from, size_t n)
{
    const cq_quantized_weight *w     = user;
    cq_scale_cache            *c     = w->cache;
    const int                  first = first_code(w);
    uint8_t                   *bytes = to;
    size_t                     some;

    cq_mutex_lock(&c->lock);
    find_scales(w);
    for (; n; n -= some, from += some, bytes += some) {
        int64_t row = (int64_t)from / w->form.cols, col = (int64_t)from % w->form.cols;

        some = n < c->n_read ? n : c->n_read;
        read_run(w, c->read, (int64_t)from, (int64_t)some);
        for (size_t i = 0; i < some; i++) {
            bytes[i] = (uint8_t)((int)code_of(w, c->read[i], scale_index(w, row, col)) + first);
            if (++col == w->form.cols) {
                col = 0;
                row++;
            }
        }
    }
    cq_mutex_unlock(&c->lock);
}

/* Index of the i-th scale if they are ordered by column, as MatMulNBits has them. */
static int64_t by_column(const cq_quantized_weight *w, int64_t i)
{
    return w->form.axis == 0 ? i % w->blocks * w->form.cols + i / w->blocks : i;
}

/* Stores floats [from, from + n) in the dtype of the source. */
static void make_scale_bytes(const cq_quantized_weight *w, char *to, size_t from, size_t n,
                             bool is_packed)
{
    const size_t size = cq_dtype_size(w->source->dtype);

    cq_mutex_lock(&w->cache->lock);
    find_scales(w);
    for (size_t i = 0; i < n / size; i++) {
        const int64_t at = (int64_t)(from / size + i);
        const float   x  = w->cache->scales[is_packed ? by_column(w, at) : at];

        cq_store_of(w->source->dtype, CQ_WIDE_F32)(to + i * size, (int64_t)size, &x, 1);
    }
    cq_mutex_unlock(&w->cache->lock);
}

static void make_scales(void *user, void *to, size_t from, size_t n)
{
    make_scale_bytes(user, to, from, n, false);
}

static void make_packed_scales(void *user, void *to, size_t from, size_t n)
{
    make_scale_bytes(user, to, from, n, true);
}

static void make_zeros(void *user, void *to, size_t from, size_t n)
{
    const cq_quantized_weight *w = user;

    cq_mutex_lock(&w->cache->lock);
    find_scales(w);
    for (size_t i = 0; i < n; i++)
        ((uint8_t *)to)[i] = (uint8_t)((int)-w->cache->lows[from + i] + first_code(w));
    cq_mutex_unlock(&w->cache->lock);
}

/* ---- MatMulNBits: two integers in a byte; a column after the other ---- */

static void pack_columns(const cq_quantized_weight *w, int64_t from, int64_t n)
{
    cq_scale_cache *c      = w->cache;
    const int64_t   length = w->form.axis == 0 ? w->form.rows : w->form.cols;

    find_scales(w);
    c->packed_owner = w;
    c->packed_from  = from;
    c->packed_n     = n;
    memset(c->packed, 0x88, (size_t)(n * packed_column(w)));
    if (w->form.axis == 0)
        read_panel(w, c->read, 0, w->form.rows, from, n);
    else
        read_panel(w, c->read, from, n, 0, w->form.cols);
    for (int64_t i = 0; i < n; i++)
        for (int64_t k = 0; k < length; k++) {
            const bool     down = w->form.axis == 0;
            const float    x    = down ? c->read[k * n + i] : c->read[i * length + k];
            const unsigned q =
                code_of(w, x, down ? scale_index(w, k, from + i) : scale_index(w, from + i, k));
            uint8_t *byte = c->packed + i * packed_column(w) + k / 2;

            *byte = (uint8_t)(k % 2 ? (*byte & 0x0f) | q << 4 : (*byte & 0xf0) | q);
        }
}

static void make_packed(void *user, void *to_, size_t from, size_t n)
{
    const cq_quantized_weight *w    = user;
    cq_scale_cache            *c    = w->cache;
    const size_t               size = (size_t)packed_column(w);
    char                      *to   = to_;

    cq_mutex_lock(&c->lock);
    while (n) {
        const int64_t column = (int64_t)(from / size) / w->packed_cols * w->packed_cols;
        const int64_t some   = at_most(w->packed_cols, n_columns(w) - column);
        const size_t  begin = from - (size_t)column * size, left = (size_t)some * size - begin;
        const size_t  k = n < left ? n : left;

        if (c->packed_owner != w || c->packed_from != column)
            pack_columns(w, column, some);
        memcpy(to, c->packed + begin, k);
        to += k;
        from += k;
        n -= k;
    }
    cq_mutex_unlock(&c->lock);
}

/* The two zero points of a byte belong to blocks of one column. */
static void make_packed_zeros(void *user, void *to, size_t from, size_t n)
{
    const cq_quantized_weight *w    = user;
    const int64_t              size = (w->blocks + 1) / 2;

    cq_mutex_lock(&w->cache->lock);
    find_scales(w);
    for (size_t i = 0; i < n; i++) {
        const int64_t at = (int64_t)(from + i), column = at / size, block = at % size * 2;
        unsigned      byte = 0x80;

        for (int64_t k = 0; k < 2 && block + k < w->blocks; k++) {
            const unsigned zero =
                (unsigned)-w->cache->lows[by_column(w, column * w->blocks + block + k)];

            byte = k ? (byte & 0x0f) | zero << 4 : (byte & 0xf0) | zero;
        }
        ((uint8_t *)to)[i] = (uint8_t)byte;
    }
    cq_mutex_unlock(&w->cache->lock);
}

/* ---- lazy tensors ---- */

static void release_weight(void *user)
{
    cq_quantized_weight_release(user);
}

static cq_status lazy(cq_tensor **out, cq_quantized_weight *w, cq_dtype dtype, size_t rank,
                      const int64_t *sizes, void (*make)(void *, void *, size_t, size_t))
{
    int64_t     strides[CQ_MAX_RANK], numel = 1;
    cq_storage *storage;
    cq_status   status;

    for (size_t i = rank; i-- > 0;) {
        strides[i] = numel;
        numel *= sizes[i];
    }
    atomic_fetch_add(&w->refs, 1);
    CQ_TRY(cq_storage_later(&storage, (size_t)numel * cq_dtype_size(dtype),
                            (cq_maker){ make, release_weight, w, NULL }));
    status = cq_tensor_new_on(out, storage, dtype, rank, sizes, strides, 0);
    cq_storage_release(storage);
    return status;
}

static cq_dtype integer_type(const cq_quantized_weight *w)
{
    if (w->form.bits == 4)
        return CQ_DTYPE_I4;
    return w->form.is_unsigned ? CQ_DTYPE_U8 : CQ_DTYPE_I8;
}

cq_status cq_quantized_weight_integers(cq_tensor **out, cq_quantized_weight *w)
{
    int64_t sizes[CQ_MAX_RANK];

    for (size_t i = 0; i < w->source->rank; i++)
        sizes[i] = w->source->sizes[i].value;
    return lazy(out, w, integer_type(w), w->source->rank, sizes, make_integers);
}

/* A number for each block. */
static cq_status of_blocks(cq_tensor **out, cq_quantized_weight *w, cq_dtype dtype,
                           void (*make)(void *, void *, size_t, size_t))
{
    const bool    down     = w->form.axis == 0;
    const int64_t sizes[2] = { down ? w->blocks : w->form.rows, down ? w->form.cols : w->blocks };

    if (w->blocks == 1)
        return lazy(out, w, dtype, 1, &sizes[down ? 1 : 0], make);
    return lazy(out, w, dtype, 2, sizes, make);
}

cq_status cq_quantized_weight_scales(cq_tensor **out, cq_quantized_weight *w)
{
    return of_blocks(out, w, w->source->dtype, make_scales);
}

cq_status cq_quantized_weight_zeros(cq_tensor **out, cq_quantized_weight *w)
{
    return of_blocks(out, w, integer_type(w), make_zeros);
}

cq_status cq_quantized_weight_packed(cq_tensor **out, cq_quantized_weight *w)
{
    return lazy(out, w, CQ_DTYPE_U8, 3, (int64_t[]){ n_columns(w), w->blocks, w->form.block / 2 },
                make_packed);
}

cq_status cq_quantized_weight_packed_scales(cq_tensor **out, cq_quantized_weight *w)
{
    return lazy(out, w, w->source->dtype, 1, (int64_t[]){ n_columns(w) * w->blocks },
                make_packed_scales);
}

cq_status cq_quantized_weight_packed_zeros(cq_tensor **out, cq_quantized_weight *w)
{
    return lazy(out, w, CQ_DTYPE_U8, 1, (int64_t[]){ n_columns(w) * ((w->blocks + 1) / 2) },
                make_packed_zeros);
}
