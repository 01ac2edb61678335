/* Proves a change of input sizes. At the old sizes prove.c compares both models. At other sizes the
 * model before the change cannot run, so a batch is proved by its samples: before computes them one
 * by one, after all at once. Along axes that are not batches, after must run. */
#include "edit/proof.h"

#include "base/alloc.h"
#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PARTS = 8, N_OTHERS = 2, MAX_CHANGED = 32 };

/* A size that differs between the models: a symbol of after, or one axis with another number. */
typedef struct changed_size {
    const char *name; /* NULL: a number */
    int64_t     old, number;
    size_t      input, axis;
    bool        is_batch;
} changed_size;

typedef struct sizes_proof {
    const cq_onnx_model *before, *after;
    const cq_tolerance  *tolerance;
    const char          *what;
    uint64_t             seed;
    cq_proof            *result;
    changed_size         changed[MAX_CHANGED];
    size_t               n_changed;
    cq_session          *was, *is;
    cq_input_choice      choice;
} sizes_proof;

static const cq_onnx_dim *dim_at(const cq_onnx_model *m, size_t input, size_t axis)
{
    const cq_onnx_type  *t     = m->graph->input.items[input]->type;
    const cq_onnx_shape *shape = t && t->tensor_type ? t->tensor_type->shape : NULL;

    return shape && axis < shape->dim.n ? shape->dim.items[axis] : NULL;
}

static int64_t number_of(const cq_onnx_dim *d)
{
    return d && cq_onnx_has(d, CQ_ONNX_DIM_VALUE) ? d->dim_value : -1;
}

/* The first axis is a batch, unless its name is that of a sequence, whose elements depend on each
 * other; and so is an axis that is called so. */
static bool is_batch_axis(const char *name, size_t axis)
{
    static const char *const others[] = {
        "seq", "len", "time", "tok", "t", "T", "s", "S", "l", "L"
    };

    if (!name)
        return axis == 0;
    if (strncmp(name, "batch", 5) == 0 || strcmp(name, "N") == 0 || strcmp(name, "n") == 0 ||
        strcmp(name, "B") == 0 || strcmp(name, "b") == 0)
        return true;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strlen(others[i]) > 1 ? strncmp(name, others[i], strlen(others[i])) == 0
                                  : strcmp(name, others[i]) == 0)
            return false;
    return axis == 0;
}

static void add_changed(sizes_proof *p, const cq_onnx_dim *d, int64_t old, size_t input,
                        size_t axis)
{
    const char   *name = number_of(d) >= 0 ? NULL : d->dim_param;
    changed_size *c    = NULL;

    for (size_t i = 0; i < p->n_changed && name; i++)
        if (p->changed[i].name && strcmp(p->changed[i].name, name) == 0)
            c = &p->changed[i];
    if (!c && p->n_changed == MAX_CHANGED)
        return;
    if (!c) {
        c  = &p->changed[p->n_changed++];
        *c = (changed_size){ name, old, number_of(d), input, axis, false };
    }
    c->is_batch |= is_batch_axis(name, axis);
}

/* Whether inputs of both models with the same index are the same input. Constants are inputs, too,
 * before IR version 4: a pass may reshape or remove them. */
static bool is_same_input(const cq_onnx_model *before, const cq_onnx_model *after, size_t i)
{
    const cq_onnx_graph *a = before->graph, *b = after->graph;
    const char          *x = a->input.items[i]->name, *y = b->input.items[i]->name;

    return x && y && (a->input.n == b->input.n || strcmp(x, y) == 0) &&
           !cq_onnx_model_has_initializer(before, x) && !cq_onnx_model_has_initializer(after, y);
}

static void find_changed(sizes_proof *p)
{
    const cq_onnx_graph *g = p->after->graph;

    for (size_t i = 0; i < g->input.n && i < p->before->graph->input.n; i++) {
        const bool is_same = is_same_input(p->before, p->after, i);

        for (size_t k = 0; k < CQ_MAX_RANK && is_same; k++) {
            const cq_onnx_dim *d   = dim_at(p->after, i, k);
            const int64_t      old = number_of(dim_at(p->before, i, k));

            if (d && old > 0 && old != number_of(d) && (number_of(d) > 0 || d->dim_param))
                add_changed(p, d, old, i, k);
        }
    }
}

bool cq_sizes_are_fixed_otherwise(const cq_onnx_model *before, const cq_onnx_model *after)
{
    for (size_t i = 0; i < before->graph->input.n && i < after->graph->input.n; i++) {
        const bool is_same = is_same_input(before, after, i);

        for (size_t k = 0; k < CQ_MAX_RANK && is_same; k++) {
            const int64_t old = number_of(dim_at(before, i, k)),
                          now = number_of(dim_at(after, i, k));

            if (old > 0 && now > 0 && old != now)
                return true;
        }
    }
    return false;
}

/* ---- tensors ---- */

/* The parts along an axis: one after the other, or, if interleaved, the first elements of all, the
 * second elements of all … */
static cq_status concat(cq_onnx_value **out, cq_onnx_value *const *parts, size_t n, size_t axis,
                        bool interleaved)
{
    cq_tensor   *t = cq_onnx_value_tensor(parts[0]), *all = NULL;
    const size_t rank = t ? cq_tensor_rank(t) : 0;
    int64_t      sizes[CQ_MAX_RANK], outer = 1;
    size_t       inner;
    cq_status    status;

    if (!t || axis >= rank)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a batch must be a tensor");
    inner = cq_dtype_size(cq_tensor_dtype(t));
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = cq_tensor_size(t, i);
        if (i < axis || (interleaved && i == axis))
            outer *= sizes[i];
        else
            inner *= (size_t)sizes[i];
    }
    sizes[axis] *= (int64_t)n;
    CQ_TRY(cq_tensor_new(&all, cq_tensor_dtype(t), rank, sizes, NULL));
    for (int64_t o = 0; o < outer; o++)
        for (size_t k = 0; k < n; k++) {
            const char *from = cq_tensor_data(cq_onnx_value_tensor(parts[k]));

            memcpy((char *)cq_tensor_data(all) + ((size_t)o * n + k) * inner,
                   from + (size_t)o * inner, inner);
        }
    status = cq_onnx_value_new_tensor(out, all);
    cq_tensor_release(all);
    return status;
}

/* The axis along which `whole` has n times the size of a part; the rank: they have the same sizes;
 * more: neither. */
static size_t batch_axis(const cq_onnx_value *whole, const cq_onnx_value *part, size_t n)
{
    const cq_tensor *a = cq_onnx_value_tensor((cq_onnx_value *)whole);
    const cq_tensor *b = cq_onnx_value_tensor((cq_onnx_value *)part);
    size_t           axis, rank;

    if (!a || !b || cq_tensor_rank(a) != cq_tensor_rank(b))
        return SIZE_MAX;
    axis = rank = cq_tensor_rank(a);
    for (size_t i = 0; i < rank; i++) {
        if (cq_tensor_size(a, i) == cq_tensor_size(b, i))
            continue;
        if (axis < rank || cq_tensor_size(a, i) != (int64_t)n * cq_tensor_size(b, i))
            return SIZE_MAX;
        axis = i;
    }
    return axis;
}

/* ---- a batch ---- */

typedef struct batch {
    size_t          n;
    cq_input_set    parts[MAX_PARTS], whole;
    cq_onnx_value **wanted[MAX_PARTS], **got;
} batch;

static void clear_batch(batch *b, size_t n_outputs)
{
    for (size_t i = 0; i <= b->n; i++) {
        cq_onnx_value **values = i < b->n ? b->wanted[i] : b->got;

        for (size_t k = 0; values && k < n_outputs; k++)
            cq_onnx_value_release(values[k]);
        cq_free(values);
        cq_input_set_clear(i < b->n ? &b->parts[i] : &b->whole);
    }
}

static bool is_axis_of(const sizes_proof *p, const changed_size *c, size_t input, size_t axis)
{
    const cq_onnx_dim *d = dim_at(p->after, input, axis);

    if (!c->name)
        return c->input == input && c->axis == axis;
    return d && d->dim_param && strcmp(d->dim_param, c->name) == 0;
}

static size_t axis_of(const sizes_proof *p, const changed_size *c, size_t input)
{
    for (size_t k = 0; k < CQ_MAX_RANK; k++)
        if (is_axis_of(p, c, input, k))
            return k;
    return SIZE_MAX;
}

/* Inputs without the batch are the same for all samples. */
static cq_status join_inputs(batch *b, const sizes_proof *p, const changed_size *c)
{
    const size_t n = p->before->graph->input.n;

    b->whole.items = cq_zalloc((n ? n : 1) * sizeof *b->whole.items);
    if (!b->whole.items)
        return CQ_E_NO_MEMORY;
    b->whole.n = n;
    for (size_t i = 0; i < n; i++) {
        const size_t   axis = axis_of(p, c, i);
        cq_onnx_value *values[MAX_PARTS];

        if (!b->parts[0].items[i])
            continue;
        for (size_t k = 0; k < b->n; k++)
            values[k] = b->parts[k].items[i];
        if (axis != SIZE_MAX) {
            CQ_TRY(concat(&b->whole.items[i], values, b->n, axis, false));
            continue;
        }
        b->whole.items[i] = cq_onnx_value_retain(values[0]);
        for (size_t k = 1; k < b->n; k++) {
            cq_onnx_value_release(values[k]);
            b->parts[k].items[i] = cq_onnx_value_retain(values[0]);
        }
    }
    return CQ_OK;
}

static cq_status run_session(cq_onnx_value ***out, const cq_session *s, const cq_input_set *in)
{
    const size_t n = cq_session_n_outputs(s);

    *out = cq_zalloc((n ? n : 1) * sizeof **out);
    return *out ? cq_session_run(s, NULL, in->items, in->n, *out) : CQ_E_NO_MEMORY;
}

static cq_status compare_batch(const sizes_proof *p, const changed_size *c, const batch *b)
{
    const size_t n_outputs = cq_session_n_outputs(p->was);

    for (size_t i = 0; i < n_outputs; i++) {
        const size_t   axis = batch_axis(b->got[i], b->wanted[0][i], b->n);
        cq_onnx_value *parts[MAX_PARTS], *want = NULL;
        cq_difference  d = { 0 };

        if (axis == SIZE_MAX)
            return cq_fail(CQ_E_TYPE, NULL, "--no-verify writes the model without the proof",
                           "output %s has no axis of %zu samples of %s",
                           cq_session_output_name(p->is, i), b->n, c->name ? c->name : "the batch");
        if (axis == cq_tensor_rank(cq_onnx_value_tensor(b->got[i])))
            continue; /* it does not depend on the batch, or all of it */
        for (size_t k = 0; k < b->n; k++)
            parts[k] = b->wanted[k][i];
        for (int order = 0; order < 2 && !d.is_equal; order++) { /* [2*35] may be [35, 2] */
            CQ_TRY(concat(&want, parts, b->n, axis, order == 1));
            cq_compare_values(&d, b->got[i], want, p->tolerance);
            cq_onnx_value_release(want);
        }
        if (!d.is_equal)
            return cq_fail(CQ_E_TYPE, NULL, "--no-verify writes the model without the proof",
                           "with %zu samples at once output %s differs from that of the samples "
                           "one by one: %lld of %lld elements, by up to %.2g",
                           b->n, cq_session_output_name(p->is, i), (long long)d.n_off,
                           (long long)d.n, d.largest);
        if (d.largest > p->result->largest)
            p->result->largest = d.largest;
    }
    return CQ_OK;
}

static cq_status prove_batch(sizes_proof *p, const changed_size *c, size_t n)
{
    batch     b      = { .n = n };
    cq_status status = CQ_OK;

    for (size_t k = 0; k < n && status == CQ_OK; k++)
        status = cq_input_set_random(&b.parts[k], p->before, p->before, &p->choice, p->seed + k);
    if (status == CQ_OK)
        status = join_inputs(&b, p, c);
    for (size_t k = 0; k < n && status == CQ_OK; k++)
        status = run_session(&b.wanted[k], p->was, &b.parts[k]);
    if (status == CQ_OK) {
        status = run_session(&b.got, p->is, &b.whole);
        if (status != CQ_OK && status != CQ_E_CANCELLED)
            status =
                cq_error_add_where(status, "%s: the changed model fails at %s=%lld", p->what,
                                   c->name ? c->name : "size", (long long)(c->old * (int64_t)n));
    }
    if (status == CQ_OK)
        status = compare_batch(p, c, &b);
    p->result->n_runs += status == CQ_OK;
    clear_batch(&b, cq_session_n_outputs(p->was));
    return status;
}

/* ---- other axes ---- */

/* Runs after with one size changed; others are unchanged. */
static cq_status run_at(sizes_proof *p, const changed_size *c, int64_t size)
{
    cq_input_choice choice = p->choice;
    cq_input_set    in     = { 0 };
    cq_onnx_value **got    = NULL;
    const size_t    n      = cq_session_n_outputs(p->is);
    cq_status       status;

    choice.n_given = 0;
    for (size_t i = 0; i < p->n_changed; i++)
        if (p->changed[i].name)
            choice.given[choice.n_given++] =
                (cq_given_size){ p->changed[i].name,
                                 &p->changed[i] == c ? size : p->changed[i].old };
    status = cq_input_set_random(&in, p->after, p->after, &choice, p->seed);
    if (status == CQ_OK)
        status = run_session(&got, p->is, &in);
    for (size_t i = 0; got && i < n; i++)
        cq_onnx_value_release(got[i]);
    cq_free(got);
    cq_input_set_clear(&in);
    return status;
}

static void note_size(cq_str *text, const changed_size *c, int64_t size, bool is_first)
{
    if (is_first)
        cq_str_printf(text, "%s%s %s=%lld", text->len ? "; " : "",
                      c->is_batch ? "right at" : "runs at", c->name ? c->name : "size",
                      (long long)size);
    else
        cq_str_printf(text, ",%lld", (long long)size);
}

/* A batch of another fixed size, if nothing else is fixed otherwise; else after runs. */
static cq_status prove_number(sizes_proof *p, const changed_size *c, cq_str *text)
{
    bool is_alone = true;

    for (size_t i = 0; i < p->n_changed; i++)
        is_alone &= &p->changed[i] == c || p->changed[i].name;
    if (is_alone && c->is_batch && c->number % c->old == 0 && c->number / c->old <= MAX_PARTS) {
        CQ_TRY(prove_batch(p, c, (size_t)(c->number / c->old)));
        note_size(text, c, c->number, true);
        return CQ_OK;
    }
    if (!text->len)
        CQ_TRY(run_at(p, NULL, 0));
    cq_str_printf(text, "%s%lld", text->len ? "x" : "runs at size ", (long long)c->number);
    return CQ_OK;
}

static cq_status prove_size(sizes_proof *p, const changed_size *c, cq_str *text)
{
    const int64_t others[] = { c->old * 2, c->old > 1 ? c->old / 2 : 3, c->old + 1 };
    size_t        n        = 0;
    cq_status     status   = CQ_OK;

    if (!c->name)
        return prove_number(p, c, text);
    for (size_t k = 0; k < N_OTHERS && c->is_batch; k++) {
        CQ_TRY(prove_batch(p, c, k + 2));
        note_size(text, c, c->old * (int64_t)(k + 2), k == 0);
    }
    if (c->is_batch)
        return CQ_OK;
    for (size_t k = 0; k < 3 && n < N_OTHERS; k++) {
        status = run_at(p, c, others[k]);
        if (status == CQ_E_CANCELLED)
            return status;
        if (status == CQ_OK)
            note_size(text, c, others[k], n++ == 0);
    }
    return n ? CQ_OK
             : cq_error_add_where(status, "%s: the changed model runs at no other %s than %lld",
                                  p->what, c->name, (long long)c->old);
}

/* Numbers of integers that before accepts. */
static cq_status choose_inputs(sizes_proof *p)
{
    for (size_t i = 0; i < CQ_N_INPUT_CHOICES; i++) {
        cq_input_set    in  = { 0 };
        cq_onnx_value **got = NULL;
        cq_status       status;

        p->choice = cq_input_choices[i];
        status    = cq_input_set_random(&in, p->before, p->before, &p->choice, p->seed);
        if (status == CQ_OK)
            status = run_session(&got, p->was, &in);
        for (size_t k = 0; got && k < cq_session_n_outputs(p->was); k++)
            cq_onnx_value_release(got[k]);
        cq_free(got);
        cq_input_set_clear(&in);
        if (status == CQ_OK || status == CQ_E_CANCELLED)
            return status;
    }
    return CQ_E_UNSUPPORTED;
}

static cq_status prove_all(sizes_proof *p)
{
    cq_str    text   = { 0 };
    cq_status status = cq_session_prepare(&p->was, p->before, NULL);

    if (status == CQ_OK)
        status = cq_session_prepare(&p->is, p->after, NULL);
    if (status == CQ_OK && choose_inputs(p) != CQ_OK)
        return CQ_OK; /* prove.c has reported the reason */
    for (size_t i = 0; i < p->n_changed && status == CQ_OK; i++)
        status = prove_size(p, &p->changed[i], &text);
    snprintf(p->result->sizes, sizeof p->result->sizes, "%s", cq_str_text(&text));
    cq_str_clear(&text);
    return status;
}

cq_status cq_prove_sizes(cq_proof *result, const cq_onnx_model *before, const cq_onnx_model *after,
                         const cq_proof_options *options, const cq_tolerance *tolerance)
{
    sizes_proof p = { .before    = before,
                      .after     = after,
                      .tolerance = tolerance,
                      .what      = options->what,
                      .seed      = options->seed,
                      .result    = result };
    cq_status   status;

    find_changed(&p);
    if (!p.n_changed)
        return CQ_OK;
    status = prove_all(&p);
    cq_session_free(p.was);
    cq_session_free(p.is);
    return status;
}
