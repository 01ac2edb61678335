/* The queue of draws, see draw.h. A draw in the queue does not know its initial generator state.
 * When its numbers are read, the queue is settled up to it: the generator advances over the earlier
 * draws, and each live one keeps a copy of the state. */
#include "kernel/draw.h"
#include "base/lock.h"
#include "kernel/mersenne.h"

#include <math.h>

enum { MAX_STEPS = 8 };

typedef enum draw_law { LAW_UNIFORM, LAW_NORMAL, LAW_SEED } draw_law;

typedef struct draw_step {
    cq_draw_step kind;
    double       x, y;
} draw_step;

typedef struct draw {
    draw_law     law;
    cq_dtype     dtype;
    int64_t      n;
    double       a, b;
    uint64_t     seed;
    draw_step    steps[MAX_STEPS];
    size_t       n_steps;
    bool         is_queued, is_dead;
    cq_mersenne *start;  /* the state at its start, known once it is settled */
    cq_mersenne *cursor; /* after `at` elements, for sequential readers; NULL: none yet */
    int64_t      at;
    struct draw *next; /* in the queue */
} draw;

static struct {
    cq_mutex    lock;
    bool        is_seeded;
    cq_mersenne engine; /* before the first draw of the queue */
    draw       *first, *last;
    size_t      n_alive; /* in the queue */
} generator = { .lock = CQ_MUTEX_INIT };

static void free_draw(draw *d)
{
    cq_free(d->start);
    cq_free(d->cursor);
    cq_free(d);
}

/* ---- elements ---- */

static int64_t block_of(const draw *d)
{
    return d->law == LAW_NORMAL && d->n >= CQ_MERSENNE_BLOCK ? CQ_MERSENNE_BLOCK : 1;
}

/* Computes up to a block of elements from index i on, a multiple of the block size. */
static void make_block(const draw *d, cq_mersenne *e, int64_t i, double *to)
{
    if (d->law == LAW_UNIFORM)
        to[0] = d->dtype == CQ_DTYPE_F64 ? cq_mersenne_f64(e, d->a, d->b)
                                         : cq_mersenne_f32(e, (float)d->a, (float)d->b);
    else if (d->n < CQ_MERSENNE_BLOCK)
        to[0] = cq_mersenne_normal(e) * d->b + d->a;
    else if (d->dtype == CQ_DTYPE_F64)
        cq_mersenne_normals_f64(e, d->n - i, d->a, d->b, to);
    else
        cq_mersenne_normals_f32(e, d->n - i, (float)d->a, (float)d->b, to);
}

static float stepped(const draw *d, float v)
{
    for (size_t i = 0; i < d->n_steps; i++) {
        const draw_step *s = &d->steps[i];

        switch (s->kind) {
        case CQ_DRAW_ERFINV: v = cq_mersenne_erfinv(v); break;
        case CQ_DRAW_MUL: v = v * (float)s->x; break;
        case CQ_DRAW_ADD: v = v + (float)s->x; break;
        case CQ_DRAW_CLAMP: v = fminf(fmaxf(v, (float)s->x), (float)s->y); break;
        }
    }
    return v;
}

static void put(const draw *d, void *to, int64_t i, double v)
{
    if (d->dtype == CQ_DTYPE_F64)
        ((double *)to)[i] = v;
    else
        ((float *)to)[i] = d->n_steps ? stepped(d, (float)v) : (float)v;
}

/* Whole blocks of float32, n elements at most. Returns the number of elements. The last two blocks
 * of normal numbers are left: they may overlap. */
static int64_t make_many(const draw *d, cq_mersenne *e, int64_t at, int64_t n, float *to)
{
    const int64_t block = block_of(d);

    if (d->dtype != CQ_DTYPE_F32 || (d->law == LAW_NORMAL && block == 1))
        return 0;
    if (block > 1 && n > d->n - at - 2 * block)
        n = d->n - at - 2 * block;
    n -= n % block;
    if (n <= 0)
        return 0;
    if (d->law == LAW_UNIFORM)
        cq_mersenne_fill_f32(e, (float)d->a, (float)d->b, to, n);
    else
        cq_mersenne_fill_normals_f32(e, (float)d->a, (float)d->b, to, n);
    for (int64_t i = 0; i < n && d->n_steps; i++)
        to[i] = stepped(d, to[i]);
    return n;
}

/* Elements [from, from + n), of which the engine has passed `at`, a multiple of the block. */
static void make_elements(const draw *d, cq_mersenne *e, int64_t *at, int64_t from, int64_t n,
                          void *to)
{
    const int64_t block = block_of(d);
    double        made[2 * CQ_MERSENNE_BLOCK];

    while (*at < from + n) {
        const int64_t left = d->n - *at;
        const int64_t many =
            *at >= from ? make_many(d, e, *at, from + n - *at, (float *)to + (*at - from)) : 0;
        /* The last block overlaps the one before it, so both are made together. */
        const int64_t k = block > 1 && left < 2 * block ? left : block;

        if (many) {
            *at += many;
            continue;
        }
        make_block(d, e, *at, made);
        for (int64_t j = 0; j < k; j++)
            if (*at + j >= from && *at + j < from + n)
                put(d, to, *at + j - from, made[j]);
        if (*at + k > from + n)
            break; /* the cursor stays before an incomplete block */
        *at += k;
    }
}

/* ---- the queue ---- */

static void skip(const draw *d, cq_mersenne *e)
{
    double  made[2 * CQ_MERSENNE_BLOCK];
    int64_t words = d->n;

    if (d->law == LAW_SEED) {
        cq_mersenne_seed(e, d->seed);
        return;
    }
    if (d->law == LAW_NORMAL && d->n < CQ_MERSENNE_BLOCK) {
        for (int64_t i = 0; i < d->n; i++)
            make_block(d, e, i, made);
        return;
    }
    if (d->law == LAW_NORMAL && d->n % CQ_MERSENNE_BLOCK)
        words += CQ_MERSENNE_BLOCK;
    cq_mersenne_skip(e, (uint64_t)words * (d->dtype == CQ_DTYPE_F64 ? 2 : 1));
}

/* Removes the first draw from the queue and stores the generator state at its start. */
static void settle_first(void)
{
    draw *d = generator.first;

    generator.first = d->next;
    if (!generator.first)
        generator.last = NULL;
    d->is_queued = false;
    if (d->law != LAW_SEED && !d->is_dead) {
        generator.n_alive--;
        *d->start = generator.engine;
    }
    skip(d, &generator.engine);
    if (d->law == LAW_SEED || d->is_dead)
        free_draw(d);
}

static void settle_all(void)
{
    if (!generator.is_seeded) {
        cq_mersenne_seed(&generator.engine, 0);
        generator.is_seeded = true;
    }
    while (generator.first)
        settle_first();
}

static void append(draw *d)
{
    if (!generator.is_seeded) {
        cq_mersenne_seed(&generator.engine, 0);
        generator.is_seeded = true;
    }
    d->is_queued = true;
    if (generator.last)
        generator.last->next = d;
    else
        generator.first = d;
    generator.last = d;
    if (d->law != LAW_SEED)
        generator.n_alive++;
}

void cq_draw_seed(uint64_t seed)
{
    draw *d;

    cq_mutex_lock(&generator.lock);
    d = generator.n_alive ? cq_zalloc(sizeof *d) : NULL;
    if (d) {
        d->law  = LAW_SEED;
        d->seed = seed;
        append(d);
    } else { /* the state before the seed is not needed, or there is no memory to defer the draw */
        if (generator.n_alive)
            settle_all();
        while (generator.first) {
            d               = generator.first;
            generator.first = d->next;
            free_draw(d);
        }
        generator.last = NULL;
        cq_mersenne_seed(&generator.engine, seed);
        generator.is_seeded = true;
    }
    cq_mutex_unlock(&generator.lock);
}

uint32_t cq_draw_u32(void)
{
    uint32_t word;

    cq_mutex_lock(&generator.lock);
    settle_all();
    word = cq_mersenne_u32(&generator.engine);
    cq_mutex_unlock(&generator.lock);
    return word;
}

/* ---- storages ---- */

static void draw_release(void *user)
{
    draw *d = user;

    cq_mutex_lock(&generator.lock);
    if (d->is_queued) {
        d->is_dead = true;
        generator.n_alive--;
    } else {
        free_draw(d);
    }
    cq_mutex_unlock(&generator.lock);
}

static void draw_make(void *user, void *to, size_t from, size_t n)
{
    draw         *d    = user;
    const int64_t size = (int64_t)cq_dtype_size(d->dtype);

    cq_mutex_lock(&generator.lock);
    while (d->is_queued)
        settle_first();
    if ((int64_t)from / size < d->at || d->at == 0) {
        *d->cursor = *d->start;
        d->at      = 0;
    }
    make_elements(d, d->cursor, &d->at, (int64_t)from / size, (int64_t)n / size, to);
    cq_mutex_unlock(&generator.lock);
}

static cq_status start_draw(cq_storage *s, cq_dtype dtype, draw_law law, double a, double b)
{
    draw *d = cq_zalloc(sizeof *d);

    if (d) {
        d->start  = cq_zalloc(sizeof *d->start);
        d->cursor = cq_zalloc(sizeof *d->cursor);
    }
    if (!d || !d->start || !d->cursor) {
        if (d)
            free_draw(d);
        return CQ_E_NO_MEMORY;
    }
    d->law   = law;
    d->dtype = dtype;
    d->n     = (int64_t)(s->size / cq_dtype_size(dtype));
    d->a     = a;
    d->b     = b;
    cq_mutex_lock(&generator.lock);
    append(d);
    cq_mutex_unlock(&generator.lock);
    cq_storage_make_later(s, (cq_maker){ draw_make, draw_release, d, NULL });
    return CQ_OK;
}

cq_status cq_draw_uniform(cq_storage *s, cq_dtype dtype, double a, double b)
{
    return start_draw(s, dtype, LAW_UNIFORM, a, b);
}

cq_status cq_draw_normal(cq_storage *s, cq_dtype dtype, double a, double b)
{
    return start_draw(s, dtype, LAW_NORMAL, a, b);
}

bool cq_draw_then(cq_storage *s, cq_draw_step kind, double x, double y)
{
    draw *d = s->maker.user;

    if (!atomic_load(&s->is_pending) || s->maker.make != draw_make || d->dtype != CQ_DTYPE_F32 ||
        d->n_steps == MAX_STEPS)
        return false;
    d->steps[d->n_steps++] = (draw_step){ kind, x, y };
    return true;
}
