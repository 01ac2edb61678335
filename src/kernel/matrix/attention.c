/* Attention over blocks of keys: keys and values are packed for the product tiles (blocked_core.h)
 * once for a block of queries. Scores of a few rows fit into the L1 cache. This is online softmax:
 * every row keeps its largest score and the sum of its powers, and earlier results are rescaled.
 *
 * For few queries packing does not pay: their scores are dot products with the keys in place. */
#include "kernel/matrix/attention.h"

#include "base/thread.h"
#include "kernel/isa.h"

#include <math.h>
#include <string.h>

enum {
    KEYS       = 256, /* at a time; a multiple of all panels */
    QUERIES    = 256, /* of a block of work, at most */
    FEW_BLOCKS = 8,   /* minimum number of blocks, if each keeps at least FEWER queries */
    FEWER      = 64,
    ROWS       = 28,                  /* of scores, at most */
    SCORES     = KEYS + CQ_MAX_LANES, /* distance of rows of scores: not a power of two */
    PACKED     = 4,                   /* number of queries from which packing pays off */
    SERIAL     = 64 * 64 * 64,        /* work from which a second thread pays off */
};

/* Arguments that all blocks share. */
struct plan {
    const cq_attention      *a;
    const cq_core           *core;
    const cq_attention_core *loops;
    const gemm_type         *gemm;
    int64_t                  panel, rows;         /* columns of a panel; rows of scores at a time */
    int64_t                  n_queries, n_blocks; /* of a block; blocks of one head */
    int64_t                  v_panels;            /* of v_width */
    int64_t                  lane_size;           /* scratch floats per thread */
    float                   *memory;
};

/* A block: some queries of a head. */
struct block {
    const struct plan *p;
    const float       *q, *k, *v, *bias;
    const uint8_t     *hides;
    float             *out;
    int64_t            first, n; /* of the queries */
    int64_t            end, past;
    float             *scaled, *keys, *values, *scores;
    cq_attention_row   row[QUERIES];
};

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* ---- scores ---- */

/* The number of keys in [k0, k0 + n) that query i can see. */
static int64_t n_seen(const struct block *b, int64_t i, int64_t k0, int64_t n)
{
    int64_t end = b->p->a->causal ? smaller(b->end, b->first + i + b->past + 1) : b->end;

    return smaller(n, larger(0, end - k0));
}

/* Converts a row of n scores of query i to exponentials. */
static void soften(struct block *b, int64_t i, int64_t k0, int64_t n, float *s)
{
    const cq_attention      *a     = b->p->a;
    const cq_attention_core *loops = b->p->loops;
    int64_t                  at = b->first + i, seen = n_seen(b, i, k0, n);
    const float *bias = b->bias ? b->bias + at * a->bias.step[2] + k0 * a->bias.step[3] : NULL;

    if (a->cap > 0)
        loops->cap(s, n, a->cap);
    if (bias && a->bias_first)
        loops->add(s, n, bias, a->bias.step[3]);
    if (b->hides)
        loops->hide(s, n, b->hides + at * a->hides.step[2] + k0 * a->hides.step[3],
                    a->hides.step[3], a->shown, a->hidden);
    if (bias && !a->bias_first)
        loops->add(s, n, bias, a->bias.step[3]);
    for (int64_t j = seen; j < n; j++)
        s[j] = -INFINITY;
    loops->soften(s, n, &b->row[i]);
}

/* ---- many queries ---- */

static void pack_keys(const struct block *b, int64_t k0, int64_t n)
{
    const struct plan   *p = b->p;
    const cq_attention  *a = p->a;
    const int64_t *const k = a->k.step, *const v = a->v.step;

    for (int64_t j = 0; j < n; j += p->panel)
        p->loops->pack(b->keys + j * a->width, b->k + (k0 + j) * k[2], k[3], k[2], a->width,
                       smaller(p->panel, n - j));
    for (int64_t j = 0; j < a->v_width; j += p->panel)
        p->loops->pack(b->values + j * n, b->v + k0 * v[2] + j * v[3], v[2], v[3], n,
                       smaller(p->panel, a->v_width - j));
}

/* Scores of some rows from the i-th on, for all packed keys. */
static void score_rows(const struct block *b, int64_t i, int64_t rows, int64_t n)
{
    const struct plan  *p = b->p;
    const cq_attention *a = p->a;
    const float        *px[ROWS];
    int64_t             offset = 0;

    for (int64_t r = 0; r < rows; r++)
        px[r] = b->scaled + (i + r) * a->width;
    for (int64_t j = 0; j < n; j += p->panel) {
        const cq_core_tile t = { .w          = b->keys + j * a->width,
                                 .offsets    = &offset,
                                 .n_steps    = 1,
                                 .kc         = a->width,
                                 .out        = b->scores + j,
                                 .out_row    = SCORES,
                                 .out_vector = p->core->lanes };

        p->core->tiles(&t, rows, 2, px);
    }
}

/* Columns after the last column of values must not be stored. */
static void weigh_narrow(const struct block *b, cq_core_tile t, int64_t rows, int64_t cols,
                         const float *const *px)
{
    float   narrow[ROWS * 2 * CQ_MAX_LANES];
    float  *out = t.out;
    int64_t to  = t.out_row;

    t.out     = narrow;
    t.out_row = b->p->panel;
    b->p->core->tiles(&t, rows, 2, px);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < cols; j++)
            out[r * to + j] += narrow[r * t.out_row + j];
}

/* Adds values, weighted by their powers, to existing results of some rows from the i-th on. */
static void weigh_rows(const struct block *b, int64_t i, int64_t rows, int64_t n)
{
    const struct plan  *p = b->p;
    const cq_attention *a = p->a;
    const float        *px[ROWS];
    int64_t             offset = 0;

    for (int64_t r = 0; r < rows; r++)
        px[r] = b->scores + r * SCORES;
    for (int64_t j = 0; j < a->v_width; j += p->panel) {
        cq_core_tile t = { .w          = b->values + j * n,
                           .offsets    = &offset,
                           .n_steps    = 1,
                           .kc         = n,
                           .out        = b->out + i * a->out_step[2] + j,
                           .out_row    = a->out_step[2],
                           .out_vector = p->core->lanes,
                           .continues  = true };

        if (a->v_width - j >= p->panel)
            p->core->tiles(&t, rows, 2, px);
        else {
            t.continues = false;
            weigh_narrow(b, t, rows, a->v_width - j, px);
        }
    }
}

static void attend_to_keys(struct block *b, int64_t k0, int64_t n)
{
    const struct plan  *p = b->p;
    const cq_attention *a = p->a;

    pack_keys(b, k0, n);
    for (int64_t i = 0; i < b->n; i += p->rows) {
        int64_t rows = smaller(p->rows, b->n - i);

        if (!n_seen(b, i + rows - 1, k0, n)) /* the last row sees most keys */
            continue;
        score_rows(b, i, rows, n);
        for (int64_t r = 0; r < rows; r++) {
            soften(b, i + r, k0, n, b->scores + r * SCORES);
            if (k0)
                p->loops->times(b->out + (i + r) * a->out_step[2], a->v_width, b->row[i + r].fade);
        }
        weigh_rows(b, i, rows, n);
    }
}

static void scale_queries(const struct block *b)
{
    const cq_attention *a = b->p->a;

    for (int64_t i = 0; i < b->n; i++) {
        const float *q = b->q + (b->first + i) * a->q.step[2];

        for (int64_t j = 0; j < a->width; j++)
            b->scaled[i * a->width + j] = q[j * a->q.step[3]] * a->scale;
    }
}

/* ---- few queries ---- */

/* Scores of query i for keys [k0, k0 + n), whose columns or rows are contiguous. */
static void score_row(const struct block *b, int64_t i, int64_t k0, int64_t n)
{
    const cq_attention *a = b->p->a;
    const float        *q = b->scaled + i * a->width, *k = b->k + k0 * a->k.step[2];

    memset(b->scores, 0, sizeof *b->scores * (size_t)n);
    if (a->k.step[3] == 1)
        b->p->gemm->dots(b->scores, q, k, a->k.step[2], n, a->width);
    else
        b->p->gemm->sums(b->scores, q, 1, k, a->k.step[3], n, a->width);
}

static void attend_row(struct block *b, int64_t i)
{
    const struct plan  *p   = b->p;
    const cq_attention *a   = p->a;
    float              *out = b->out + i * a->out_step[2];

    for (int64_t k0 = 0; k0 < a->keys; k0 += KEYS) {
        int64_t n = smaller(KEYS, a->keys - k0);

        score_row(b, i, k0, n);
        soften(b, i, k0, n, b->scores);
        if (k0)
            p->loops->times(out, a->v_width, b->row[i].fade);
        p->gemm->sums(out, b->scores, 1, b->v + k0 * a->v.step[2], a->v.step[2], a->v_width, n);
    }
}

static bool is_few(const cq_attention *a)
{
    return a->queries < PACKED && a->v.step[3] == 1 && (a->k.step[3] == 1 || a->k.step[2] == 1);
}

/* ---- blocks ---- */

static const char *at(const cq_attention_in *in, int64_t sample, int64_t head, size_t size)
{
    if (!in->data)
        return NULL;
    return (const char *)in->data + (sample * in->step[0] + head * in->step[1]) * (int64_t)size;
}

static void begin(struct block *b, int64_t block, float *memory)
{
    const struct plan  *p    = b->p;
    const cq_attention *a    = p->a;
    int64_t             head = block / p->n_blocks % a->heads, group = larger(a->group, 1);
    int64_t             sample = block / p->n_blocks / a->heads;

    b->first = block % p->n_blocks * p->n_queries;
    b->n     = smaller(p->n_queries, a->queries - b->first);
    b->q     = (const float *)at(&a->q, sample, head, sizeof(float));
    b->k     = (const float *)at(&a->k, sample, head / group, sizeof(float));
    b->v     = (const float *)at(&a->v, sample, head / group, sizeof(float));
    b->bias  = (const float *)at(&a->bias, sample, head, sizeof(float));
    b->hides = (const uint8_t *)at(&a->hides, sample, head, 1);
    b->out   = a->out + sample * a->out_step[0] + head * a->out_step[1] + b->first * a->out_step[2];
    b->end   = a->ends ? smaller(larger(a->ends[sample], 0), a->keys) : a->keys;
    b->past  = a->ends ? larger(a->ends[sample], 0) - a->queries : a->past;
    b->scores = memory;
    b->scaled = b->scores + p->rows * SCORES;
    b->keys   = b->scaled + p->n_queries * a->width;
    b->values = b->keys + KEYS * a->width;
    for (int64_t i = 0; i < b->n; i++) {
        b->row[i] = (cq_attention_row){ .top = -INFINITY };
        memset(b->out + i * a->out_step[2], 0, sizeof *b->out * (size_t)a->v_width);
    }
}

static cq_status attend(void *user, int64_t block, int lane)
{
    const struct plan  *p = user;
    const cq_attention *a = p->a;
    struct block        b = { .p = p };

    begin(&b, block, p->memory + lane * p->lane_size);
    scale_queries(&b);
    if (is_few(a))
        for (int64_t i = 0; i < b.n; i++)
            attend_row(&b, i);
    else
        for (int64_t k0 = 0; k0 < a->keys; k0 += KEYS)
            attend_to_keys(&b, k0, smaller(KEYS, a->keys - k0));
    for (int64_t i = 0; i < b.n; i++) {
        double sum = b.row[i].sum;
        float  by  = sum != 0 ? (float)(1 / sum) : a->blind_is_zero || !a->keys ? 0 : NAN;

        p->loops->times(b.out + i * a->out_step[2], a->v_width, by);
    }
    return CQ_OK;
}

/* ---- the call ---- */

static cq_status make_plan(struct plan *p, int lanes)
{
    const cq_attention *a     = p->a;
    int64_t             heads = a->batch * a->heads, size;

    p->core      = cq_isa_get()->core;
    p->loops     = cq_isa_get()->attention;
    p->gemm      = cq_isa_get()->gemm[0];
    p->panel     = 2 * p->core->lanes;
    p->rows      = ROWS / p->core->tile_rows * p->core->tile_rows;
    p->n_queries = smaller(heads < FEW_BLOCKS ? FEWER : QUERIES, a->queries);
    p->n_blocks  = (a->queries + p->n_queries - 1) / p->n_queries;
    p->v_panels  = (a->v_width + p->panel - 1) / p->panel;
    if (__builtin_mul_overflow(KEYS + QUERIES, a->width, &size) ||
        __builtin_add_overflow(size, KEYS * p->v_panels * p->panel + ROWS * SCORES, &size) ||
        __builtin_mul_overflow(size, (int64_t)sizeof(float) * lanes, &p->lane_size))
        return cq_no_memory();
    p->memory    = cq_alloc_aligned((size_t)p->lane_size);
    p->lane_size = size;
    return p->memory ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_attention_run(const cq_attention *a)
{
    struct plan p    = { .a = a };
    double      work = (double)a->batch * (double)a->heads * (double)a->queries * (double)a->keys *
                  (double)(a->width + a->v_width);
    int       lanes = work < SERIAL ? 1 : cq_threads();
    int64_t   n;
    cq_status status = CQ_OK;

    if (!a->batch || !a->heads || !a->queries || !a->v_width)
        return CQ_OK;
    CQ_TRY(make_plan(&p, lanes));
    n = a->batch * a->heads * p.n_blocks;
    if (lanes > 1)
        status = cq_parallel_lanes(n, lanes, attend, &p);
    else
        for (int64_t i = 0; i < n && status == CQ_OK; i++)
            status = attend(&p, i, 0);
    cq_free_aligned(p.memory);
    return status;
}
