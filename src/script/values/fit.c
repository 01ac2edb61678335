/* Finds inputs that a method accepts. The method is captured on one guess after another; a capture
 * runs shape rules only. A guess is better than another if its capture gets further before it
 * fails. The numbers in an error message (the features that a Linear expects, the dimensions that a
 * convolution expects) are tried next, and so are the sizes of weights. If a size in the message
 * depends on an input size, as after a flatten, that input size is found by bisection. */
#include "script/suggest.h"

#include "base/warn.h"
#include "capture/capture.h"
#include "tensor/visit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_PROBES   = 3000,
    MAX_VALUES   = 400000, /* of all captures together */
    MAX_ROUNDS   = 24,
    MAX_NUMBERS  = 12,
    MAX_POOL     = 10,
    MAX_INDEX    = 8, /* smaller numbers in a message may be an axis or a rank */
    MAX_SIZE     = 1 << 20,
    MAX_ELEMENTS = 1 << 22,
    MAX_STEPS    = 20000000 /* of a single capture */
};
#define MAX_SECONDS 1.0 /* for all methods of a script together */

/* The outcome of a capture. */
typedef struct outcome {
    bool     fits;
    size_t   progress; /* values in the graph when it failed */
    size_t   n_numbers;
    double   numbers[MAX_NUMBERS]; /* in the message */
    uint64_t form;                 /* hash of the message without its numbers, which identifies the
                                    * kind of failure */
} outcome;

typedef struct fit {
    cq_suggestion *s;
    cq_guess       best[CQ_MAX_GUESSES];
    outcome        found; /* of the best guess */
    int64_t        pool[MAX_POOL];
    size_t         n_pool, n_probes, n_values;
    clock_t        begin;

    /* A guess that fails differently at the same progress: one of several conditions of an operator
     * may hold now. Each kind of failure is followed once. */
    cq_guess other[CQ_MAX_GUESSES];
    outcome  other_found;
    bool     has_other;
    uint64_t seen[MAX_ROUNDS];
    size_t   n_seen;
} fit;

/* ---- one capture ---- */

typedef struct probe {
    cq_port     port;
    cq_ctx     *cx;
    cq_capture *capture;
    size_t      n_inputs;
} probe;

static cq_tensor *take_input(cq_port *port, cq_tensor *example, const char *name)
{
    probe *p = (probe *)port;
    char   text[32];

    (void)name;
    snprintf(text, sizeof text, "input_%zu", p->n_inputs++);
    return p->cx->status == CQ_OK ? cq_capture_input(p->capture, p->cx, example, text, NULL) : NULL;
}

static cq_status give_output(cq_port *port, cq_tensor *t)
{
    (void)t;
    return ((probe *)port)->cx->status;
}

static cq_status make_tensor(cq_tensor **out, const cq_guess *g)
{
    if (!g->is_number)
        return cq_tensor_new(out, g->dtype, g->rank, g->sizes, NULL);
    if (g->dtype == CQ_DTYPE_I64)
        return cq_tensor_new(out, g->dtype, 0, NULL, &(int64_t){ (int64_t)g->number });
    if (g->dtype == CQ_DTYPE_BOOL)
        return cq_tensor_new(out, g->dtype, 0, NULL, &(uint8_t){ g->number != 0 });
    return cq_tensor_new(out, CQ_DTYPE_F64, 0, NULL, &g->number);
}

static cq_status capture_call(const cq_suggestion *s, probe *p, const cq_args *args)
{
    static const cq_port_ends ends = { .input = take_input, .output = give_output };
    cq_status                 status;

    p->port.ends = &ends;
    CQ_TRY(cq_capture_new(&p->capture));
    CQ_TRY(cq_ctx_new(&p->cx));
    cq_capture_start(p->capture, p->cx);
    status = cq_script_call_through(p->cx, s->script, s->def->name, args, 0, &p->port);
    cq_capture_stop(p->capture, p->cx);
    return status == CQ_OK ? p->cx->status : status;
}

/* Reads the numbers of a message. A digit after a letter (float32) is not the start of a number. */
static void read_numbers(outcome *o, const char *text)
{
    o->form = o->progress;
    for (const char *c = text; *c && o->n_numbers < MAX_NUMBERS;) {
        char  *end = NULL;
        double number;

        if (!isdigit((unsigned char)*c) || (c > text && isalnum((unsigned char)c[-1]))) {
            o->form = (o->form ^ (unsigned char)*c++) * 0x100000001b3u;
            continue;
        }
        number                     = strtod(c, &end);
        o->numbers[o->n_numbers++] = number;
        if (number < MAX_INDEX)
            o->form = (o->form ^ (uint64_t)number) * 0x100000001b3u;
        c = end;
    }
}

static bool is_small(const cq_guess *g)
{
    double n = 1;

    for (size_t i = 0; i < g->rank; i++)
        n *= (double)g->sizes[i];
    return n <= MAX_ELEMENTS;
}

/* Whether the time limit is exceeded. */
static bool is_over(const fit *f)
{
    return f->n_probes >= MAX_PROBES || f->n_values >= MAX_VALUES ||
           (double)(clock() - f->begin) / CLOCKS_PER_SEC + f->s->script->fit_seconds > MAX_SECONDS;
}

static outcome try_guesses(fit *f, const cq_guess *guesses)
{
    const cq_suggestion *s                       = f->s;
    cq_tensor           *tensors[CQ_MAX_GUESSES] = { NULL };
    cq_args             *args                    = NULL;
    probe                p                       = { .n_inputs = 0 };
    outcome              o                       = { .fits = false };
    cq_status            status                  = CQ_OK;

    f->n_probes++;
    for (size_t i = 0; i < s->n && status == CQ_OK; i++)
        status = is_small(&guesses[i]) ? make_tensor(&tensors[i], &guesses[i]) : CQ_E_ARGUMENT;
    if (status == CQ_OK)
        status = cq_args_from_json(&args, s->json, tensors, s->n);
    if (status == CQ_OK) {
        status = capture_call(s, &p, args);
        o.fits = status == CQ_OK;
        if (p.capture && p.capture->graph)
            o.progress = p.capture->graph->n_values;
        if (status != CQ_OK)
            read_numbers(&o, cq_last_error()->message);
    }
    f->n_values += o.progress;
    cq_args_free(args);
    for (size_t i = 0; i < s->n; i++)
        cq_tensor_release(tensors[i]);
    cq_ctx_free(p.cx);
    cq_capture_free(p.capture);
    return o;
}

/* ---- the first guesses ---- */

static void add_to_pool(fit *f, int64_t size)
{
    bool known = size < 1 || size > MAX_SIZE || f->n_pool == MAX_POOL;

    for (size_t i = 0; i < f->n_pool && !known; i++)
        known = f->pool[i] == size;
    if (!known)
        f->pool[f->n_pool++] = size;
}

/* A weight: the number of input features of a layer is the second size. */
static cq_status note_weights(void *user, const char *path, cq_tensor *t, bool is_parameter)
{
    (void)path, (void)is_parameter;
    if (t->rank > 1)
        add_to_pool(user, t->sizes[1].value);
    return CQ_OK;
}

static cq_status note_constant(cq_visit *v, cq_val leaf)
{
    return leaf.kind == CQ_VAL_TENSOR ? note_weights(v->user, "", leaf.u.tensor, true) : CQ_OK;
}

/* Collects the weights of modules, and those that became constants of the program. */
static void fill_pool(fit *f)
{
    cq_visit v = { .each = note_constant, .user = f, .once = true };

    (void)cq_script_each_tensor(f->s->script, note_weights, f);
    (void)cq_val_each(&v, f->s->script->program->constants);
    cq_visit_clear(&v);
}

static bool is_seen(const fit *f, uint64_t form)
{
    for (size_t i = 0; i < f->n_seen; i++)
        if (f->seen[i] == form)
            return true;
    return f->found.form == form;
}

/* Tries a guess and keeps it if it is better. Returns true if the method accepts it. */
static bool consider(fit *f, const cq_guess *guesses)
{
    const outcome o = try_guesses(f, guesses);

    if (o.fits || o.progress > f->found.progress) {
        memcpy(f->best, guesses, f->s->n * sizeof *guesses);
        f->found     = o;
        f->has_other = false;
    } else if (o.progress == f->found.progress && !f->has_other && !is_seen(f, o.form)) {
        memcpy(f->other, guesses, f->s->n * sizeof *guesses);
        f->other_found = o;
        f->has_other   = true;
    }
    return o.fits;
}

/* Tries the same guess for all tensors. */
static bool consider_alike(fit *f, cq_guess like)
{
    cq_guess guesses[CQ_MAX_GUESSES];

    for (size_t i = 0; i < f->s->n; i++)
        guesses[i] = f->s->guesses[i].is_number ? f->s->guesses[i] : like;
    return consider(f, guesses);
}

static bool try_forms(fit *f)
{
    static const cq_guess others[] = {
        { .dtype = CQ_DTYPE_F32, .rank = 4, .sizes = { 1, 3, 224, 224 } },
        { .dtype = CQ_DTYPE_F32, .rank = 4, .sizes = { 1, 1, 28, 28 } },
        { .dtype = CQ_DTYPE_F32, .rank = 2, .sizes = { 1, 8 } },
        { .dtype = CQ_DTYPE_F32, .rank = 3, .sizes = { 1, 8, 8 } },
        { .dtype = CQ_DTYPE_F32, .rank = 2, .sizes = { 1, 16000 } },
        { .dtype = CQ_DTYPE_F32, .rank = 1, .sizes = { 8 } },
        { .dtype = CQ_DTYPE_I64, .rank = 2, .sizes = { 1, 8 } },
        { .dtype = CQ_DTYPE_I64, .rank = 1, .sizes = { 8 } },
        { .dtype = CQ_DTYPE_F32, .rank = 0 },
    };

    if (is_over(f) || consider(f, f->s->guesses))
        return f->found.fits;
    for (size_t i = 0; i < f->n_pool && i < 4; i++) {
        const int64_t  c       = f->pool[i];
        const cq_guess forms[] = {
            { .dtype = CQ_DTYPE_F32, .rank = 2, .sizes = { 1, c } },
            { .dtype = CQ_DTYPE_F32, .rank = 3, .sizes = { 1, 8, c } },
            { .dtype = CQ_DTYPE_F32, .rank = 1, .sizes = { c } },
            { .dtype = CQ_DTYPE_F32, .rank = 4, .sizes = { 1, c, 224, 224 } },
            { .dtype = CQ_DTYPE_F32, .rank = 3, .sizes = { 1, c, 64 } },
        };

        for (size_t k = 0; k < sizeof forms / sizeof *forms && !is_over(f); k++)
            if (consider_alike(f, forms[k]))
                return true;
    }
    for (size_t i = 0; i < sizeof others / sizeof *others && !is_over(f); i++)
        if (consider_alike(f, others[i]))
            return true;
    return false;
}

/* ---- improvements of a guess ---- */

/* The best guess so far, and the outcome of its capture. The candidates of a step differ from it by
 * one change. */
typedef struct round {
    cq_guess guesses[CQ_MAX_GUESSES];
    outcome  found;
} round;

static bool consider_change(fit *f, const round *from, size_t i, cq_guess changed)
{
    cq_guess guesses[CQ_MAX_GUESSES];

    size_t n_alike = 0;

    if (is_over(f))
        return false;
    memcpy(guesses, from->guesses, f->s->n * sizeof *guesses);
    guesses[i] = changed;
    if (consider(f, guesses))
        return true;
    /* States of a recurrent layer change together. */
    for (size_t k = i + 1; k < f->s->n; k++)
        if (memcmp(&from->guesses[k], &from->guesses[i], sizeof *guesses) == 0) {
            guesses[k] = changed;
            n_alike++;
        }
    return n_alike && consider(f, guesses);
}

static bool is_size(double number)
{
    return number >= 1 && number <= MAX_SIZE;
}

/* Tries a number for each size. */
static bool change_sizes(fit *f, const round *from, size_t i, int64_t size)
{
    for (size_t k = 0; k < from->guesses[i].rank; k++) {
        cq_guess g = from->guesses[i];

        g.sizes[k] = size;
        if (consider_change(f, from, i, g))
            return true;
    }
    return false;
}

/* Tries another rank: adds or removes dimensions at the front, then at the end. */
static bool change_rank(fit *f, const round *from, size_t i, size_t rank)
{
    const cq_guess *was = &from->guesses[i];
    cq_guess        g   = *was;
    const size_t    n   = was->rank < rank ? was->rank : rank;

    if (rank > CQ_GUESS_MAX_RANK || rank == was->rank)
        return false;
    g.rank = rank;
    for (size_t k = 0; k < rank; k++)
        g.sizes[k] = k + n < rank ? 1 : was->sizes[was->rank - rank + k]; /* unsigned wrap-around is
                                                                           * intended */
    if (consider_change(f, from, i, g))
        return true;
    for (size_t k = 0; k < rank; k++)
        g.sizes[k] = k < n ? was->sizes[k] : 8;
    return consider_change(f, from, i, g);
}

static bool change_dtype(fit *f, const round *from, size_t i)
{
    static const cq_dtype dtypes[] = { CQ_DTYPE_F32, CQ_DTYPE_I64, CQ_DTYPE_BOOL, CQ_DTYPE_U8 };

    for (size_t k = 0; k < sizeof dtypes / sizeof *dtypes; k++) {
        cq_guess g = from->guesses[i];

        if (g.dtype == dtypes[k])
            continue;
        g.dtype = dtypes[k];
        if (consider_change(f, from, i, g))
            return true;
    }
    return false;
}

static bool change_one(fit *f, const round *from, size_t i)
{
    const outcome *o = &from->found;

    for (size_t k = 0; k < o->n_numbers; k++)
        if (is_size(o->numbers[k]) && change_sizes(f, from, i, (int64_t)o->numbers[k]))
            return true;
    for (size_t k = 0; k < o->n_numbers; k++)
        if (is_size(o->numbers[k]) && change_rank(f, from, i, (size_t)o->numbers[k]))
            return true;
    if (change_dtype(f, from, i) || change_rank(f, from, i, from->guesses[i].rank + 1) ||
        change_rank(f, from, i, from->guesses[i].rank - 1))
        return true;
    for (size_t k = 0; k < f->n_pool; k++)
        if (change_sizes(f, from, i, f->pool[k]))
            return true;
    return change_sizes(f, from, i, 1) || change_sizes(f, from, i, 2) ||
           change_sizes(f, from, i, 3);
}

/* ---- sizes by bisection ---- */

/* Sizes of a tensor, from index first on, that are set to one number. */
typedef struct unknown {
    size_t tensor, first, n;
} unknown;

static outcome try_size(fit *f, const round *from, unknown u, int64_t size, bool *better)
{
    cq_guess guesses[CQ_MAX_GUESSES];
    outcome  o;

    memcpy(guesses, from->guesses, f->s->n * sizeof *guesses);
    for (size_t k = 0; k < u.n; k++)
        guesses[u.tensor].sizes[u.first + k] = size;
    o       = try_guesses(f, guesses);
    *better = o.fits || o.progress > from->found.progress;
    if (o.fits || o.progress > f->found.progress) {
        memcpy(f->best, guesses, f->s->n * sizeof *guesses);
        f->found = o;
    }
    return o;
}

/* Finds the largest number of a message that changes with the size, and the largest that does
 * not. */
static bool compare_numbers(const outcome *a, const outcome *b, size_t *changed, double *expected)
{
    double largest = 0;

    *expected = 0;
    if (a->progress != b->progress || a->n_numbers != b->n_numbers)
        return false;
    for (size_t i = 0; i < a->n_numbers; i++)
        if (a->numbers[i] != b->numbers[i] && a->numbers[i] > largest) {
            largest  = a->numbers[i];
            *changed = i;
        } else if (a->numbers[i] == b->numbers[i] && a->numbers[i] > *expected) {
            *expected = a->numbers[i];
        }
    return largest > 0 && *expected > 0;
}

static bool bisect(fit *f, const round *from, unknown u)
{
    const int64_t now = from->guesses[u.tensor].sizes[u.first];
    int64_t       low = 1, high = u.n > 1 ? 1024 : MAX_ELEMENTS / 4;
    size_t        at   = 0;
    double        want = 0;
    bool          better;
    const outcome here = try_size(f, from, u, now, &better);
    outcome       o    = try_size(f, from, u, now > 1 ? now - now / 4 - 1 : 4, &better);

    if (better)
        return true;
    if (!compare_numbers(&here, &o, &at, &want)) {
        o = try_size(f, from, u, now * 2, &better);
        if (better || !compare_numbers(&here, &o, &at, &want))
            return better;
    }
    while (low <= high && !is_over(f)) {
        const int64_t size = low + (high - low) / 2;

        o = try_size(f, from, u, size, &better);
        if (better)
            return true;
        /* A capture that fails earlier indicates that the size is too small for a kernel. */
        if (o.progress < here.progress || at >= o.n_numbers || o.numbers[at] < want)
            low = size + 1;
        else
            high = size - 1;
    }
    return false;
}

/* Tries square feature maps first, then one size at a time, from the last. */
static bool solve_sizes(fit *f, const round *from, size_t i)
{
    const size_t rank = from->guesses[i].rank;

    if (rank >= 3 && bisect(f, from, (unknown){ i, rank - 2, 2 }))
        return true;
    for (size_t k = rank; k-- > 0;)
        if (bisect(f, from, (unknown){ i, k, 1 }))
            return true;
    return false;
}

/* ---- all of it ---- */

/* Tries all changes of the best guess; false if none improves it. */
static bool improve(fit *f)
{
    round        from;
    const size_t before = f->found.progress;

    memcpy(from.guesses, f->best, sizeof from.guesses);
    from.found   = f->found;
    f->has_other = false;
    if (f->n_seen < MAX_ROUNDS)
        f->seen[f->n_seen++] = f->found.form;
    for (size_t i = 0; i < f->s->n && !f->found.fits; i++)
        if (!from.guesses[i].is_number)
            change_one(f, &from, i);
    if (f->found.fits || f->found.progress > before)
        return true;
    for (size_t i = 0; i < f->s->n && !is_over(f); i++)
        if (!from.guesses[i].is_number && solve_sizes(f, &from, i))
            return true;
    if (!f->has_other)
        return false;
    memcpy(f->best, f->other, sizeof f->best);
    f->found = f->other_found;
    return true;
}

bool cq_suggestion_fit(cq_suggestion *s)
{
    fit              f     = { .s = s, .begin = clock() };
    cq_script_modes *modes = NULL;
    cq_error_record  error;
    const uint64_t   max_steps = s->script->program->max_steps;

    memcpy(f.best, s->guesses, sizeof f.best);
    cq_error_save(&error);
    cq_warn_hold(true);
    if (max_steps > MAX_STEPS)
        s->script->program->max_steps = MAX_STEPS;
    if (cq_script_set_training(s->script, false, &modes) == CQ_OK) {
        fill_pool(&f);
        if (!try_forms(&f))
            for (size_t i = 0; i < MAX_ROUNDS && !f.found.fits && !is_over(&f); i++)
                if (!improve(&f))
                    break;
    }
    cq_script_restore_modes(modes);
    s->script->program->max_steps = max_steps;
    cq_warn_hold(false);
    cq_error_restore(&error);
    s->script->fit_seconds += (double)(clock() - f.begin) / CLOCKS_PER_SEC;
    if (f.found.fits)
        memcpy(s->guesses, f.best, sizeof f.best);
    return f.found.fits;
}
