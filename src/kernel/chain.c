#include "kernel/chain.h"

#include "base/alloc.h"
#include "base/thread.h"
#include "kernel/isa.h"
#include "tensor/convert.h"

enum {
    BLOCK = 512,       /* elements: an operand and a result take 2 KB each */
    PART  = 16 * BLOCK /* elements per thread; copying them takes about a microsecond */
};

bool cq_chain_has(cq_ew_op op)
{
    const cq_ew_row *row = &cq_isa_get()->ew[op];

    return row->fn && !row->truth;
}

int cq_chain_operand(cq_chain *c, const cq_tensor *t)
{
    for (int i = 0; i < c->n_operands; i++)
        if (c->operands[i] == t)
            return i;
    if (c->n_operands == CQ_CHAIN_OPERANDS)
        return -1;
    c->operands[c->n_operands] = t;
    return c->n_operands++;
}

int cq_chain_op(cq_chain *c, cq_ew_op op, const cq_params *params, const int *in)
{
    cq_chain_step *s = &c->steps[c->n_steps];

    *s = (cq_chain_step){ .op = op, .params = params ? *params : (cq_params){ .a = 1, .ia = 1 } };
    for (int i = 0; i < cq_ew_operands(op); i++)
        s->in[i] = in[i];
    return CQ_CHAIN_OPERANDS + c->n_steps++;
}

/* ---- one run ---- */

typedef float block[BLOCK];

typedef struct job {
    const cq_chain *c;
    float          *out;
    int64_t         n;
    cq_walk         w;
    bool            is_dense[CQ_CHAIN_OPERANDS];
    cq_load_fn     *load[CQ_CHAIN_OPERANDS];
    cq_ew_fn       *fn[CQ_CHAIN_OPS];
    int room[CQ_CHAIN_OPS]; /* index of the block that holds a result; the last result is in out */
    int n_rooms;
} job;

/* Assigns blocks to results: a result reuses the block of one that is not read later. Operations
 * may overwrite their operands. */
static void give_rooms(job *j)
{
    const cq_chain *c                  = j->c;
    int             last[CQ_CHAIN_OPS] = { 0 }, owner[CQ_CHAIN_OPS];

    for (int i = 0; i < c->n_steps; i++) {
        owner[i] = -1;
        for (int k = 0; k < cq_ew_operands(c->steps[i].op); k++)
            if (c->steps[i].in[k] >= CQ_CHAIN_OPERANDS)
                last[c->steps[i].in[k] - CQ_CHAIN_OPERANDS] = i;
    }
    for (int i = 0; i < c->n_steps; i++) {
        int room = 0;

        while (owner[room] >= 0 && last[owner[room]] > i)
            room++;
        owner[room] = i;
        j->room[i]  = room;
        if (room >= j->n_rooms)
            j->n_rooms = room + 1;
        j->fn[i] = cq_isa_get()->ew[c->steps[i].op].fn;
    }
}

static cq_status prepare(job *j, cq_tensor *out, const cq_chain *c)
{
    *j = (job){ .c = c, .out = cq_tensor_data(out), .n = cq_tensor_numel(out) };
    cq_walk_init(&j->w, out->rank, out->sizes);
    for (int k = 0; k < c->n_operands; k++) {
        CQ_TRY(cq_walk_add(&j->w, c->operands[k]));
        j->load[k] = cq_load_of(c->operands[k]->dtype, CQ_WIDE_F32);
    }
    if (!cq_walk_start(&j->w, CQ_ROW_MAJOR))
        return CQ_OK;
    for (int k = 0; k < c->n_operands; k++) {
        int64_t each = sizeof(float);

        j->is_dense[k] =
            c->operands[k]->dtype == CQ_DTYPE_F32 && (uintptr_t)j->w.at[k] % sizeof(float) == 0;
        for (uint32_t d = j->w.rank; d-- > 0;) {
            j->is_dense[k] &= j->w.strides[k][d] == each;
            each *= j->w.sizes[d];
        }
    }
    give_rooms(j);
    return CQ_OK;
}

/* Repeats the first size elements until there are n copies. */
static void repeat(float *to, int64_t size, int64_t n)
{
    for (int64_t have = 1; have < n; have *= 2)
        memcpy(to + have * size, to,
               (size_t)((2 * have <= n ? have : n - have) * size) * sizeof *to);
}

static void load_run(float *to, const job *j, int k, const char *from, int64_t n)
{
    int64_t step = j->w.step[k];

    if (step == sizeof(float) && j->c->operands[k]->dtype == CQ_DTYPE_F32) {
        memcpy(to, from, (size_t)n * sizeof *to);
    } else if (step == 0) {
        j->load[k](to, from, 0, 1);
        repeat(to, 1, n);
    } else {
        j->load[k](to, from, step, n);
    }
}

/* Reads the n elements of operand k for the result's elements from i on. */
static void gather(float *to, const job *j, int k, int64_t i, int64_t n)
{
    const cq_walk *w    = &j->w;
    const int64_t *step = w->strides[k], size = w->sizes[w->rank - 1];
    uint32_t       last = w->rank - 1;
    int64_t        index[CQ_MAX_RANK];
    const char    *at = w->at[k];

    for (uint32_t d = w->rank; d-- > 0; i /= w->sizes[d]) {
        index[d] = i % w->sizes[d];
        at += index[d] * step[d];
    }
    while (n) {
        int64_t run = n < size - index[last] ? n : size - index[last], times = 1;

        load_run(to, j, k, at, run);
        if (last && run == size &&
            step[last - 1] == 0) { /* the previous dimension was broadcast too */
            times = w->sizes[last - 1] - index[last - 1];
            times = times < n / size ? times : n / size;
            repeat(to, size, times);
            index[last - 1] += times - 1;
        }
        to += run * times;
        n -= run * times;
        index[last] += run;
        at += run * step[last];
        for (uint32_t d = last; d > 0 && index[d] == w->sizes[d]; d--) {
            at += step[d - 1] - w->sizes[d] * step[d];
            index[d] = 0;
            index[d - 1]++;
        }
    }
}

/* The buffers of a thread, for results and for operands that cannot be read in place. */
typedef struct bench {
    block  *gathered[CQ_CHAIN_OPERANDS], *rooms; /* NULL for a dense operand */
    int64_t row[CQ_CHAIN_OPERANDS]; /* the row whose single number fills the block; -1: none */
} bench;

/* A number that is constant along a row is broadcast once for all blocks of the row. */
static void fetch(bench *b, const job *j, int k, int64_t i, int64_t n)
{
    int64_t size = j->w.sizes[j->w.rank - 1], row = i / size;
    bool    is_one = j->w.step[k] == 0 && i + n <= (row + 1) * size;

    if (is_one && b->row[k] == row)
        return;
    gather(*b->gathered[k], j, k, i, is_one && i + BLOCK <= (row + 1) * size ? BLOCK : n);
    b->row[k] = is_one && i + BLOCK <= (row + 1) * size ? row : -1;
}

static void run_block(const job *j, bench *b, int64_t i, int64_t n)
{
    const cq_chain *c = j->c;
    const void     *operands[CQ_CHAIN_OPERANDS];

    for (int k = 0; k < c->n_operands; k++) {
        operands[k] =
            j->is_dense[k] ? j->w.at[k] + (size_t)i * sizeof(float) : (const char *)*b->gathered[k];
        if (!j->is_dense[k])
            fetch(b, j, k, i, n);
    }
    for (int s = 0; s < c->n_steps; s++) {
        const int  *from = c->steps[s].in;
        const void *in[3];

        for (int k = 0; k < cq_ew_operands(c->steps[s].op); k++)
            in[k] = from[k] < CQ_CHAIN_OPERANDS ? operands[from[k]]
                                                : b->rooms[j->room[from[k] - CQ_CHAIN_OPERANDS]];
        j->fn[s](s + 1 < c->n_steps ? b->rooms[j->room[s]] : j->out + i, in, n,
                 &c->steps[s].params);
    }
}

static cq_status run_part(void *user, int64_t part)
{
    const job *j     = user;
    int64_t    begin = part * PART, end = begin + PART < j->n ? begin + PART : j->n;
    int        n_rooms = j->n_rooms;
    block     *workspace;
    bench      b;

    for (int k = 0; k < j->c->n_operands; k++)
        n_rooms += !j->is_dense[k];
    workspace = cq_alloc_aligned(sizeof *workspace * (size_t)n_rooms);
    if (!workspace)
        return CQ_E_NO_MEMORY;
    b.rooms = workspace;
    n_rooms = j->n_rooms;
    for (int k = 0; k < j->c->n_operands; k++) {
        b.row[k]      = -1;
        b.gathered[k] = j->is_dense[k] ? NULL : workspace + n_rooms++;
    }
    for (int64_t i = begin; i < end; i += BLOCK)
        run_block(j, &b, i, end - i < BLOCK ? end - i : BLOCK);
    cq_free_aligned(workspace);
    return CQ_OK;
}

cq_status cq_chain_run(cq_tensor *out, const cq_chain *c)
{
    job j;

    CQ_TRY(prepare(&j, out, c));
    return cq_parallel_for((j.n + PART - 1) / PART, run_part, &j);
}
