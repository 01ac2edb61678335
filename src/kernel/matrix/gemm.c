/* The loops around the tile kernels.
 *
 * C is cut into tiles that threads take one by one. A tile of n_tile columns needs a block of B, KC
 * x n_tile, that stays in the L2 cache while panels of A stream past it. When n is so small that
 * there would be too few tiles, they are cut along m as well; then B is packed for all of them
 * beforehand, K_CHUNK rows at a time so that this stays bounded.
 *
 * The partition of C depends on m, n and k only; the order of summation does not depend on the
 * partition. */
#include "kernel/matrix/gemm.h"

#include "base/thread.h"
#include "kernel/isa.h"
#include "tensor/convert.h"

#include <complex.h>

enum {
    KC       = 256,
    K_CHUNK  = 8 * KC,
    N_TILE   = 256,
    M_BLOCK  = 120, /* rows of A that stay in the L2 cache beside the block of B */
    M_TILES  = 8,   /* tiles along m when n alone gives less than N_TILES */
    N_TILES  = 4,
    M_TILE   = 48,           /* minimum rows of a tile */
    SERIAL   = 64 * 64 * 64, /* work from which a second thread pays off */
    DOT_WORK = 1 << 16,      /* matrix elements per block of a product with a vector */
    SUM_COLS = 4096,         /* maximum results of a block that stay in the L1 cache */
    MIN_COLS = 256,
};

#define T        uint64_t /* unsigned, so that overflow wraps around */
#define SCALAR   cq_f64_to_i64
#define NR       8
#define FN(name) name##_i64
#include "kernel/gemm_type.inc"

#define T        double complex
#define SCALAR   (double)
#define NR       4
#define FN(name) name##_c128
#include "kernel/gemm_type.inc"

static const gemm_type *type_of(cq_dtype dtype)
{
    switch (dtype) {
    case CQ_DTYPE_F32: return cq_isa_get()->gemm[0];
    case CQ_DTYPE_F64: return cq_isa_get()->gemm[1];
    case CQ_DTYPE_I64: return &type_i64;
    case CQ_DTYPE_C128: return &type_c128;
    default: return NULL;
    }
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

static cq_status alloc_elements(char **out, int64_t rows, int64_t cols, size_t size)
{
    int64_t n;

    *out = NULL;
    if (__builtin_mul_overflow(rows, cols, &n) || __builtin_mul_overflow(n, (int64_t)size, &n))
        return cq_no_memory();
    *out = cq_alloc_aligned((size_t)n);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

/* --- packing A ------------------------------------------------------------------- */

struct pack_a {
    const gemm_type *type;
    int64_t          m, k;
    cq_matrix        a;
    char            *out;
};

/* Block b of k, all rows: KC columns of A, which begin at b * KC * (m rounded up). */
static cq_status pack_a_block(void *user, int64_t block)
{
    const struct pack_a *p  = user;
    const gemm_type     *t  = p->type;
    int64_t              k0 = block * KC, kc = smaller(KC, p->k - k0);
    const char          *from = (const char *)p->a.data + k0 * p->a.col * (int64_t)t->size;

    t->pack_a(p->out + k0 * round_up(p->m, t->mr) * (int64_t)t->size, from, p->a.row, p->a.col,
              p->m, kc);
    return CQ_OK;
}

cq_status cq_gemm_pack_a(void **out, cq_dtype dtype, int64_t m, int64_t k, cq_matrix a)
{
    struct pack_a p = { type_of(dtype), m, k, a, NULL };

    *out = NULL;
    if (!p.type)
        return cq_fail(CQ_E_INTERNAL, NULL, NULL, "matrix multiplication is not implemented for %s",
                       cq_dtype_name(dtype));
    CQ_TRY(alloc_elements(&p.out, round_up(m, p.type->mr), k, p.type->size));
    *out = p.out;
    return cq_parallel_for((k + KC - 1) / KC, pack_a_block, &p);
}

/* --- tiles ------------------------------------------------------------------------ */

struct plan {
    const cq_gemm   *g;
    const gemm_type *type;
    const char      *a; /* A, packed completely */
    char            *b; /* this chunk of B, packed; NULL: each tile packs its part */
    int64_t          m_tile, n_tile, m_tiles, n_tiles;
    int64_t          k0, k1; /* this chunk */
};

static void choose_tiles(struct plan *p)
{
    const cq_gemm *g = p->g;

    p->n_tile  = N_TILE;
    p->m_tile  = g->m;
    p->n_tiles = (g->n + N_TILE - 1) / N_TILE;
    if (p->n_tiles < N_TILES && g->m > M_TILE) {
        p->m_tile = (g->m + M_TILES - 1) / M_TILES;
        p->m_tile = round_up(p->m_tile < M_TILE ? M_TILE : p->m_tile, p->type->mr);
    }
    p->m_tiles = p->m_tile ? (g->m + p->m_tile - 1) / p->m_tile : 0;
}

static void pack_b_into(const struct plan *p, char *dst, int64_t k0, int64_t kc, int64_t n0,
                        int64_t nc)
{
    const cq_gemm   *g = p->g;
    const gemm_type *t = p->type;

    if (g->pack_b)
        g->pack_b(dst, g->pack_b_user, k0, kc, n0, nc, t->nr);
    else
        t->pack_b(dst, (const char *)g->b.data + (k0 * g->b.row + n0 * g->b.col) * (int64_t)t->size,
                  g->b.row, g->b.col, kc, nc, t->nr);
}

/* Where the panel of column n0 begins in the packed chunk of B. */
static char *chunk_of_b(const struct plan *p, int64_t k0, int64_t kc, int64_t n0)
{
    int64_t n_padded = round_up(p->g->n, p->type->nr);

    return p->b + ((k0 - p->k0) * n_padded + n0 * kc) * (int64_t)p->type->size;
}

static cq_status pack_b_block(void *user, int64_t block)
{
    const struct plan *p  = user;
    int64_t            k0 = p->k0 + block / p->n_tiles * KC, kc = smaller(KC, p->k1 - k0);
    int64_t            n0 = block % p->n_tiles * p->n_tile, nc = smaller(p->n_tile, p->g->n - n0);

    pack_b_into(p, chunk_of_b(p, k0, kc, n0), k0, kc, n0, nc);
    return CQ_OK;
}

/* Rows [m0, m1) and nc columns from n0 of C, and kc of k. */
static void multiply_block(const struct plan *p, const char *b, int64_t k0, int64_t kc, int64_t m0,
                           int64_t m1, int64_t n0, int64_t nc)
{
    const cq_gemm   *g     = p->g;
    const gemm_type *t     = p->type;
    int64_t          size  = (int64_t)t->size;
    bool             first = k0 == 0;
    gemm_store       s     = { .alpha = g->alpha, .beta = first ? g->beta : 1 };
    const char      *a     = p->a + k0 * round_up(g->m, t->mr) * size;
    const char      *rb = first ? g->row_bias : NULL, *cb = first ? g->col_bias : NULL;

    for (int64_t j = 0; j < nc; j += t->nr) {
        s.cols     = (int)smaller(t->nr, nc - j);
        s.col_bias = cb ? cb + (n0 + j) * size : NULL;
        for (int64_t i = m0; i < m1; i += t->mr) {
            s.rows     = (int)smaller(t->mr, m1 - i);
            s.row_bias = rb ? rb + i * size : NULL;
            t->tile(a + i * kc * size, b + j * kc * size, kc,
                    (char *)g->c + (i * g->ldc + n0 + j) * size, g->ldc, &s);
        }
    }
}

static cq_status multiply_tile(void *user, int64_t block)
{
    const struct plan *p  = user;
    int64_t            m0 = block % p->m_tiles * p->m_tile, m1 = smaller(p->g->m, m0 + p->m_tile);
    int64_t            n0 = block / p->m_tiles * p->n_tile, nc = smaller(p->n_tile, p->g->n - n0);
    int64_t            m_block = M_BLOCK / p->type->mr * p->type->mr;
    char              *own     = NULL;

    if (!p->b)
        CQ_TRY(
            alloc_elements(&own, smaller(KC, p->g->k), round_up(nc, p->type->nr), p->type->size));
    for (int64_t k0 = p->k0; k0 < p->k1; k0 += KC) {
        int64_t kc = smaller(KC, p->k1 - k0);

        if (own)
            pack_b_into(p, own, k0, kc, n0, nc);
        for (int64_t i = m0; i < m1; i += m_block)
            multiply_block(p, own ? own : chunk_of_b(p, k0, kc, n0), k0, kc, i,
                           smaller(m1, i + m_block), n0, nc);
    }
    cq_free_aligned(own);
    return CQ_OK;
}

static cq_status run_blocks(const struct plan *p, int64_t n_blocks, cq_block_fn fn)
{
    const cq_gemm *g = p->g;

    if ((double)g->m * (double)g->n * (double)g->k >= SERIAL)
        return cq_parallel_for(n_blocks, fn, (void *)p);
    for (int64_t i = 0; i < n_blocks; i++)
        CQ_TRY(fn((void *)p, i));
    return CQ_OK;
}

static cq_status multiply(struct plan *p)
{
    const cq_gemm *g      = p->g;
    int64_t        chunk  = g->k;
    cq_status      status = CQ_OK;

    choose_tiles(p);
    if (p->m_tiles > 1) {
        chunk = smaller(K_CHUNK, g->k);
        CQ_TRY(alloc_elements(&p->b, round_up(g->n, p->type->nr), chunk, p->type->size));
    }
    for (p->k0 = 0; p->k0 < g->k; p->k0 = p->k1) {
        p->k1 = smaller(g->k, p->k0 + chunk);
        if (p->b)
            CQ_TRY_OR_DONE(run_blocks(p, (p->k1 - p->k0 + KC - 1) / KC * p->n_tiles, pack_b_block));
        CQ_TRY_OR_DONE(run_blocks(p, p->m_tiles * p->n_tiles, multiply_tile));
    }
done:
    cq_free_aligned(p->b);
    return status;
}

/* --- products with a vector --------------------------------------------------------- */

struct vector_product {
    const gemm_type *type;
    const char      *x, *w; /* the vector; the matrix */
    char            *y;
    int64_t          x_step, ldw, n, k, step; /* step: results in a block */
    bool             is_dots; /* results are dot products with rows of w; otherwise sums of rows */
};

static cq_status vector_block(void *user, int64_t block)
{
    const struct vector_product *v = user;
    int64_t                      i = block * v->step, n = smaller(v->step, v->n - i);
    int64_t                      size = (int64_t)v->type->size;

    if (v->is_dots)
        v->type->dots(v->y + i * size, v->x, v->w + i * v->ldw * size, v->ldw, n, v->k);
    else
        v->type->sums(v->y + i * size, v->x, v->x_step, v->w + i * size, v->ldw, n, v->k);
    return CQ_OK;
}

/* Wide blocks read long contiguous pieces of the matrix, but every thread should have a block. */
static int64_t columns_at_once(int64_t n)
{
    int64_t each = cq_threads() == 1 ? n : round_up(n / (2 * cq_threads()) + 1, 64);

    return each < MIN_COLS ? MIN_COLS : smaller(each, SUM_COLS);
}

/* A vector times a matrix needs no packing: every element is used once. *done is false if neither
 * stride of the matrix is 1; then the general algorithm is used. */
static cq_status multiply_vector(const cq_gemm *g, const gemm_type *t, bool *done)
{
    bool                  is_row = g->m == 1;
    cq_matrix             x = is_row ? g->a : g->b, w = is_row ? g->b : g->a;
    int64_t               along_k = is_row ? w.row : w.col, along_n = is_row ? w.col : w.row;
    struct vector_product v      = { .type = t, .w = w.data, .k = g->k, .n = is_row ? g->n : g->m };
    gemm_store            s      = { .alpha    = g->alpha,
                                     .beta     = g->beta,
                                     .row_bias = g->row_bias,
                                     .col_bias = g->col_bias,
                                     .rows     = is_row };
    char                 *xs     = NULL;
    cq_status             status = CQ_OK;

    v.is_dots = along_k == 1 && g->k > 1;
    *done     = v.is_dots || along_n == 1;
    if (!*done)
        return CQ_OK;
    v.x      = x.data;
    v.x_step = is_row ? x.col : x.row;
    v.ldw    = v.is_dots ? along_n : along_k;
    v.step   = v.is_dots ? DOT_WORK / v.k + 4 : columns_at_once(v.n);
    CQ_TRY(alloc_elements(&v.y, v.n, 1, t->size));
    memset(v.y, 0, (size_t)v.n * t->size);
    if (v.is_dots && v.x_step != 1) {
        CQ_TRY_OR_DONE(alloc_elements(&xs, v.k, 1, t->size));
        for (int64_t i = 0; i < v.k; i++)
            memcpy(xs + i * (int64_t)t->size, v.x + i * v.x_step * (int64_t)t->size, t->size);
        v.x = xs;
    }
    CQ_TRY_OR_DONE(cq_parallel_for((v.n + v.step - 1) / v.step, vector_block, &v));
    t->finish(g->c, is_row ? 1 : g->ldc, v.y, v.n, &s);
done:
    cq_free_aligned(v.y);
    cq_free_aligned(xs);
    return status;
}

/* --- the call ------------------------------------------------------------------------ */

cq_status cq_gemm_run(const cq_gemm *g)
{
    const gemm_type *type = type_of(g->dtype);
    struct plan      p    = { .g = g, .type = type, .a = g->packed_a };
    void            *own  = NULL;
    cq_gemm          empty;
    cq_status        status;

    if (!type)
        return cq_fail(CQ_E_INTERNAL, NULL, NULL, "matrix multiplication is not implemented for %s",
                       cq_dtype_name(g->dtype));
    if (g->m == 0 || g->n == 0)
        return CQ_OK;
    if (g->k == 0) { /* an empty sum is computed as a single zero term */
        static const double complex zero[1];

        empty          = *g;
        empty.k        = 1;
        empty.a        = (cq_matrix){ zero, 0, 0 };
        empty.b        = (cq_matrix){ zero, 0, 0 };
        empty.pack_b   = NULL;
        empty.packed_a = NULL;
        return cq_gemm_run(&empty);
    }
    if ((g->m == 1 || g->n == 1) && !g->pack_b && !g->packed_a) {
        bool done;

        status = multiply_vector(g, type, &done);
        if (done || status != CQ_OK)
            return status;
    }
    if (!p.a) {
        status = cq_gemm_pack_a(&own, g->dtype, g->m, g->k, g->a);
        p.a    = own;
        if (status != CQ_OK)
            goto done;
    }
    status = multiply(&p);
done:
    cq_free_aligned(own);
    return status;
}
