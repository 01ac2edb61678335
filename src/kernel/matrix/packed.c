/* The inner loop is that of blocked convolutions (blocked_core.h): some rows by two vectors. The
 * matrix is stored in panels of that many columns, K_BLOCK rows of all panels at a time, which is
 * the order in which they are read. */
#include "kernel/matrix/packed.h"

#include "base/file.h"
#include "base/thread.h"
#include "kernel/conv/blocked_core.h"
#include "kernel/isa.h"

#include <string.h>

enum {
    K_BLOCK = 256,
    ROWS = 252, /* maximum rows of a block of work: K_BLOCK elements of each stay in the L2 cache */
    WORK = 1 << 18, /* minimum multiplications per block of work */
    PANELS    = 48, /* panels per block of work, if each thread still gets BLOCKS blocks */
    BLOCKS    = 4,
    COPY_ROW  = K_BLOCK + CQ_MAX_LANES,
    COPY_FROM = 8 /* number of panels from which copying rows pays off */
};

struct cq_packed {
    const cq_core *core;
    int64_t        k, n, panel, panels; /* panel: columns of one */
    float         *w;
};

/* The layout of a matrix before it is packed. */
struct packing {
    cq_packed   *p;
    const float *b;
    int64_t      row, col;
    float       *own; /* b, if its memory may be released */
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t round_up(int64_t n, int64_t to)
{
    return (n + to - 1) / to * to;
}

/* Rows [k0, k0 + kc) of a panel. */
static float *panel_at(const cq_packed *p, int64_t k0, int64_t kc, int64_t panel)
{
    return p->w + (k0 * p->panels + panel * kc) * p->panel;
}

/* The same, reading b in place. */
static void pack_piece(float *to, const struct packing *pk, int64_t k0, int64_t kc, int64_t panel)
{
    const int64_t wide = pk->p->panel, n = smaller(wide, pk->p->n - panel * wide);
    const float  *b = pk->b + k0 * pk->row + panel * wide * pk->col;

    for (int64_t i = 0; i < kc; i++)
        for (int64_t j = 0; j < wide; j++)
            to[i * wide + j] = j < n ? b[i * pk->row + j * pk->col] : 0;
}

static cq_status pack_panel(void *user, int64_t panel)
{
    const struct packing *pk = user;
    int64_t               at = panel * pk->p->panel, n = smaller(pk->p->panel, pk->p->n - at);

    for (int64_t k0 = 0; k0 < pk->p->k; k0 += K_BLOCK) {
        int64_t kc = smaller(K_BLOCK, pk->p->k - k0);

        pack_piece(panel_at(pk->p, k0, kc, panel), pk, k0, kc, panel);
    }
    if (pk->row == 1 && pk->own)
        cq_alloc_discard(pk->own + at * pk->col, sizeof *pk->b * (size_t)(n * pk->col));
    else if (pk->row == 1) /* pages mapped from a file can be read again */
        cq_mapping_read(pk->b + at * pk->col, sizeof *pk->b * (size_t)(n * pk->col));
    return CQ_OK;
}

static void init(cq_packed *p, int64_t k, int64_t n)
{
    p->core   = cq_core_get();
    p->k      = k;
    p->n      = n;
    p->panel  = 2 * p->core->lanes;
    p->panels = (n + p->panel - 1) / p->panel;
}

static cq_status pack_all(cq_packed **out, int64_t k, int64_t n, struct packing from)
{
    cq_packed *p = *out = cq_zalloc(sizeof *p);
    int64_t    size;

    if (!p)
        return CQ_E_NO_MEMORY;
    init(p, k, n);
    if (__builtin_mul_overflow(k, p->panels * p->panel * (int64_t)sizeof *p->w, &size))
        (void)cq_no_memory();
    else
        p->w = cq_alloc_aligned((size_t)size);
    if (!p->w) {
        cq_packed_free(p);
        *out = NULL;
        return CQ_E_NO_MEMORY;
    }
    from.p = p;
    return cq_parallel_for(p->panels, pack_panel, &from);
}

cq_status cq_packed_new(cq_packed **out, int64_t k, int64_t n, const float *b, int64_t row,
                        int64_t col)
{
    return pack_all(out, k, n, (struct packing){ .b = b, .row = row, .col = col });
}

cq_status cq_packed_new_of(cq_packed **out, int64_t k, int64_t n, float *b, int64_t row,
                           int64_t col)
{
    return pack_all(out, k, n, (struct packing){ .b = b, .row = row, .col = col, .own = b });
}

void cq_packed_free(cq_packed *p)
{
    if (!p)
        return;
    cq_free_aligned(p->w);
    cq_free(p);
}

/* ---- running ---- */

struct product {
    const cq_packed      *p;
    const cq_packed_call *c;
    int64_t               rows, n_rows;    /* rows of a block, blocks of rows */
    int64_t               chunk, n_chunks; /* of panels */
};

/* Columns after the last one must not be stored, so a partial panel is computed in a buffer. */
static void put_narrow(const cq_packed_call *c, const cq_core_tile *t, int64_t row, int64_t n,
                       int64_t col, int64_t width)
{
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < width; j++) {
            float *to = c->out + (row + i) * c->ldc + col + j;
            float  x  = t->out[i * t->out_row + j];

            x += t->continues ? *to : 0;
            if (t->is_last) {
                x += c->bias ? c->bias[col + j] : 0;
                if (c->clamps) {
                    x = x < c->lo ? c->lo : x;
                    x = x > c->hi ? c->hi : x;
                }
            }
            *to = x;
        }
}

/* Handles the last panel if it is partial. */
static void run_narrow(const cq_packed_call *c, const cq_core *core, const cq_core_tile *t,
                       int64_t row, int64_t n, int64_t col, int64_t width, const float *const *px)
{
    float        narrow[CQ_MAX_TILE_ROWS * 2 * CQ_MAX_LANES];
    cq_core_tile cut = *t;

    cut.out       = narrow;
    cut.out_row   = 2 * core->lanes;
    cut.continues = cut.is_last = false;
    for (int64_t i = 0; i < n; i += core->tile_rows) {
        int64_t rows = smaller(core->tile_rows, n - i);

        core->tiles(&cut, rows, 2, px + i);
        cut.continues = t->continues;
        cut.is_last   = t->is_last;
        put_narrow(c, &cut, row + i, rows, col, width);
        cut.continues = cut.is_last = false;
    }
}

/* Rows [k0, k0 + kc) of a panel, for n rows that begin at px. */
static void run_panel(const struct product *g, int64_t panel, int64_t k0, int64_t row, int64_t n,
                      const float *const *px)
{
    const cq_packed      *p   = g->p;
    const cq_packed_call *c   = g->c;
    int64_t               col = panel * p->panel, width = smaller(p->panel, p->n - col);
    int64_t               kc = smaller(K_BLOCK, p->k - k0), offset = 0;
    cq_core_tile          t = { .w          = panel_at(p, k0, kc, panel),
                                .offsets    = &offset,
                                .n_steps    = 1,
                                .kc         = kc,
                                .prefetch   = kc * p->panel,
                                .sharers    = n,
                                .out        = c->out + row * c->ldc + col,
                                .out_row    = c->ldc,
                                .out_vector = p->core->lanes,
                                .continues  = k0 > 0 || c->accumulates,
                                .is_last    = !c->accumulates && k0 + kc == p->k };

    t.finish = (cq_core_finish){
        .bias = c->bias ? c->bias + col : NULL, .clamps = c->clamps, .lo = c->lo, .hi = c->hi
    };
    if (width == p->panel)
        p->core->tiles(&t, n, 2, px);
    else
        run_narrow(c, p->core, &t, row, n, col, width, px);
}

/* Rows that are far apart take a page each. If they are a multiple of 2 KB apart, they evict each
 * other from the L1 cache, so they are copied. */
static void copy_rows(float *copy, const float **px, int64_t n, int64_t kc)
{
    for (int64_t i = 0; copy && i < n; i++)
        px[i] = memcpy(copy + i * COPY_ROW, px[i], sizeof *copy * (size_t)kc);
}

/* A panel stays in the L1 cache while all rows of the block are multiplied by it. */
static cq_status product_block(void *user, int64_t block)
{
    const struct product *g    = user;
    const cq_packed_call *c    = g->c;
    int64_t               from = block / g->n_rows * g->chunk;
    int64_t               to   = smaller(from + g->chunk, g->p->panels);
    int64_t               row = block % g->n_rows * g->rows, n = smaller(g->rows, c->m - row);
    const float          *px[ROWS];
    float                *copy = NULL;

    if (c->lda % 512 == 0 || to - from >= COPY_FROM) {
        copy = cq_alloc_aligned(sizeof *copy * (size_t)(n * COPY_ROW));
        if (!copy)
            return CQ_E_NO_MEMORY;
    }
    for (int64_t k0 = 0; k0 < g->p->k; k0 += K_BLOCK) {
        for (int64_t i = 0; i < n; i++)
            px[i] = c->a + (row + i) * c->lda + k0;
        copy_rows(copy, px, n, smaller(K_BLOCK, g->p->k - k0));
        for (int64_t panel = from; panel < to; panel++)
            run_panel(g, panel, k0, row, n, px);
    }
    cq_free_aligned(copy);
    if (c->activates)
        for (int64_t i = 0; i < n; i++)
            cq_core_activate(g->p->core, c->out + (row + i) * c->ldc + from * g->p->panel,
                             smaller(to * g->p->panel, g->p->n) - from * g->p->panel, c->act,
                             &c->act_params);
    return CQ_OK;
}

cq_status cq_packed_run(const cq_packed *p, const cq_packed_call *call)
{
    struct product g = { .p = p, .c = call };
    int64_t        each; /* minimum number of blocks */

    if (!call->m || !p->n)
        return CQ_OK;
    g.n_rows   = (call->m + ROWS - 1) / ROWS;
    g.rows     = (call->m + g.n_rows - 1) / g.n_rows;
    g.rows     = smaller(ROWS, round_up(g.rows, p->core->tile_rows));
    g.n_rows   = (call->m + g.rows - 1) / g.rows;
    g.chunk    = WORK / (g.rows * p->panel * (p->k + 1)) + 1;
    each       = cq_threads() > 1 ? BLOCKS * cq_threads() : 1;
    g.chunk    = larger(g.chunk, smaller(PANELS, p->panels * g.n_rows / each));
    g.n_chunks = (p->panels + g.chunk - 1) / g.chunk;
    return cq_parallel_for(g.n_rows * g.n_chunks, product_block, &g);
}

/* ---- one row ---- */

struct row {
    const cq_packed      *p;
    const struct packing *from; /* NULL: it is packed */
    float                *out;
    const float          *x;
    int64_t               chunk; /* panels of a block */
};

/* Panels are contiguous: memory is read sequentially. */
static cq_status row_block(void *user, int64_t block)
{
    const struct row *r    = user;
    const cq_packed  *p    = r->p;
    const gemm_type  *gemm = cq_isa_get()->gemm[0];
    int64_t           from = block * r->chunk, to = smaller(from + r->chunk, p->panels);
    int64_t           whole = p->n / p->panel, n = smaller(to * p->panel, p->n) - from * p->panel;
    float             last[2 * CQ_MAX_LANES] = { 0 }, *piece = NULL;

    if (r->from) {
        piece = cq_alloc_aligned(sizeof *piece * K_BLOCK * 2 * CQ_MAX_LANES);
        if (!piece)
            return CQ_E_NO_MEMORY;
    }
    memset(r->out + from * p->panel, 0, sizeof *r->out * (size_t)n);
    for (int64_t k0 = 0; k0 < p->k; k0 += K_BLOCK) {
        int64_t kc = smaller(K_BLOCK, p->k - k0);

        for (int64_t i = from; i < to; i++) {
            if (r->from)
                pack_piece(piece, r->from, k0, kc, i);
            gemm->sums(i < whole ? r->out + i * p->panel : last, r->x + k0, 1,
                       r->from ? piece : panel_at(p, k0, kc, i), p->panel, p->panel, kc);
        }
    }
    if (to > whole)
        memcpy(r->out + whole * p->panel, last, sizeof *last * (size_t)(p->n - whole * p->panel));
    cq_free_aligned(piece);
    return CQ_OK;
}

static cq_status run_row(const cq_packed *p, const struct packing *from, float *out, const float *x)
{
    int64_t    blocks = cq_threads() > 1 ? BLOCKS * cq_threads() : 1;
    struct row r = { p, from, out, x, larger(p->panels / blocks, WORK / (p->panel * p->k) + 1) };

    return cq_parallel_for((p->panels + r.chunk - 1) / r.chunk, row_block, &r);
}

cq_status cq_packed_run_row(const cq_packed *p, float *out, const float *x)
{
    return run_row(p, NULL, out, x);
}

cq_status cq_unpacked_run_row(int64_t k, int64_t n, const float *b, int64_t row, int64_t col,
                              float *out, const float *x)
{
    cq_packed      p    = { 0 };
    struct packing from = { .p = &p, .b = b, .row = row, .col = col };

    init(&p, k, n);
    return run_row(&p, &from, out, x);
}
