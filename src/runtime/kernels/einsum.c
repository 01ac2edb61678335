/* Einsum: operands are contracted from left to right. Two operands become batches of matrices. The
 * role of a letter depends on where it occurs: in both operands and in later ones or the result
 * (batch), in both only (summed by the product), or in one of them (rows and columns). */
#include "runtime/kernels/families.h"
#include "runtime/plan/work.h"

#include "kernel/matrix/matmul.h"
#include "kernel/reduce.h"

#include <string.h>

/* Labels are the letters, and separate labels for the axes of `...`, counted from the last. */
enum { MAX_LABELS = 128, ELLIPSIS = 64 };

typedef struct labels {
    uint32_t n;
    uint8_t  at[CQ_MAX_RANK];
} labels;

typedef struct operand {
    cq_tensor *t; /* owned */
    labels     l; /* labels of its axes, all different */
} operand;

/* ---- the equation ---- */

/* 1 to 52 for letters, 0 otherwise. */
static uint8_t label_of(char c)
{
    if (c >= 'a' && c <= 'z')
        return (uint8_t)(c - 'a' + 1);
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c - 'A' + 27) : 0;
}

/* Reads one term up to a comma, an arrow or the end. rank is that of its operand: `...` covers the
 * axes without letters; -1 means n_ellipsis axes. */
static cq_status read_term(labels *out, const char **text, int64_t rank, uint32_t n_ellipsis)
{
    uint32_t    letters = 0;
    const char *c       = *text;

    for (const char *p = c; *p && *p != ',' && *p != '-'; p++)
        letters += label_of(*p) != 0;
    out->n = 0;
    while (*c && *c != ',' && *c != '-') {
        if (label_of(*c) && out->n < CQ_MAX_RANK) {
            out->at[out->n++] = label_of(*c);
        } else if (!strncmp(c, "...", 3)) {
            uint32_t n = rank < 0 ? n_ellipsis : rank >= letters ? (uint32_t)rank - letters : 0;

            if (n + out->n > CQ_MAX_RANK)
                break;
            for (uint32_t i = n; i-- > 0;)
                out->at[out->n++] = (uint8_t)(ELLIPSIS + i);
            c += 2;
        } else if (*c != ' ') {
            break;
        }
        c++;
    }
    if (*c && *c != ',' && *c != '-')
        return cq_fail(CQ_E_INVALID, NULL, NULL, "the equation cannot be parsed at '%s'", c);
    *text = c;
    return CQ_OK;
}

/* The result of an equation without an arrow: the axes of `...`, then the letters that occur once,
 * sorted. */
static void implied_result(labels *out, const uint32_t *occurs)
{
    out->n = 0;
    for (int i = MAX_LABELS; i-- > ELLIPSIS;)
        if (occurs[i])
            out->at[out->n++] = (uint8_t)i;
    for (int i = 27; i <= 52; i++) /* capital letters sort first */
        if (occurs[i] == 1)
            out->at[out->n++] = (uint8_t)i;
    for (int i = 1; i <= 26; i++)
        if (occurs[i] == 1)
            out->at[out->n++] = (uint8_t)i;
}

/* ---- one operand ---- */

static int find(const labels *l, uint8_t label)
{
    for (uint32_t i = 0; i < l->n; i++)
        if (l->at[i] == label)
            return (int)i;
    return -1;
}

/* Takes the diagonal of axes whose letter occurs twice in a term. */
static cq_status take_diagonals(operand *o, cq_rt *rt, const cq_tensor *x, const labels *l)
{
    int64_t     strides[CQ_MAX_RANK];
    cq_rt_sizes sizes = { 0 };

    o->l.n = 0;
    for (uint32_t i = 0; i < l->n; i++) {
        int at = find(&o->l, l->at[i]);

        if (at < 0) {
            o->l.at[o->l.n++]     = l->at[i];
            sizes.at[sizes.rank]  = cq_size_of(x, i);
            strides[sizes.rank++] = x->strides[i];
        } else {
            if (sizes.at[at] != cq_size_of(x, i))
                return cq_rt_misfit(x, NULL);
            strides[at] += x->strides[i];
        }
    }
    return cq_rt_keep(
        rt, cq_tensor_new_on(&o->t, x->storage, x->dtype, sizes.rank, sizes.at, strides, x->offset),
        &o->t);
}

/* Sums axes whose label occurs in no other operand. */
static cq_status sum_alone(operand *o, cq_rt *rt, const bool *needed)
{
    cq_rt_sizes sizes = { 0 };
    uint64_t    bits  = 0;
    labels      left  = { 0 };
    cq_tensor  *sum;

    for (uint32_t i = 0; i < o->l.n; i++) {
        if (!needed[o->l.at[i]]) {
            bits |= (uint64_t)1 << i;
            continue;
        }
        left.at[left.n++]      = o->l.at[i];
        sizes.at[sizes.rank++] = cq_size_of(o->t, i);
    }
    if (!bits)
        return CQ_OK;
    CQ_TRY(cq_rt_scratch(&sum, rt, o->t->dtype, sizes.rank, sizes.at));
    CQ_TRY(cq_kernel_reduce(sum, CQ_REDUCE_SUM, NULL, o->t, bits));
    o->t = sum;
    o->l = left;
    return CQ_OK;
}

/* Arranges the axes of o in the order of `wanted`; missing axes have size 1. */
static cq_status arrange(cq_tensor **out, cq_rt *rt, const operand *o, const labels *wanted)
{
    int64_t     strides[CQ_MAX_RANK];
    cq_rt_sizes sizes = { .rank = wanted->n };

    for (uint32_t i = 0; i < wanted->n; i++) {
        int at = find(&o->l, wanted->at[i]);

        sizes.at[i] = at < 0 ? 1 : cq_size_of(o->t, (size_t)at);
        strides[i]  = at < 0 ? 1 : o->t->strides[at];
    }
    return cq_rt_keep(rt,
                      cq_tensor_new_on(out, o->t->storage, o->t->dtype, sizes.rank, sizes.at,
                                       strides, o->t->offset),
                      out);
}

/* ---- two operands ---- */

typedef struct split {
    labels batch, rows, columns, summed;
} split;

static void push(labels *l, uint8_t label)
{
    if (l->n < CQ_MAX_RANK)
        l->at[l->n++] = label;
}

static void sort_labels(split *s, const operand *a, const operand *b, const bool *needed)
{
    *s = (split){ 0 };
    for (uint32_t i = 0; i < a->l.n; i++) {
        uint8_t label = a->l.at[i];
        bool    both  = find(&b->l, label) >= 0;

        push(!both ? &s->rows : needed[label] ? &s->batch : &s->summed, label);
    }
    for (uint32_t i = 0; i < b->l.n; i++)
        if (find(&a->l, b->l.at[i]) < 0)
            push(&s->columns, b->l.at[i]);
}

static int64_t size_in(const operand *o, uint8_t label)
{
    int at = find(&o->l, label);

    return at < 0 ? 1 : cq_size_of(o->t, (size_t)at);
}

static cq_status common_size(int64_t *out, const operand *a, const operand *b, uint8_t label)
{
    int64_t x = size_in(a, label), y = size_in(b, label);

    if (x != y && x != 1 && y != 1)
        return cq_rt_misfit(a->t, b->t);
    *out = x == 1 ? y : x;
    return CQ_OK;
}

/* Reshapes o to [batch, first, second], with the common sizes of labels of both operands. */
static cq_status as_matrices(cq_tensor **out, cq_rt *rt, const operand *o, const operand *other,
                             const labels *batch, const labels *first, const labels *second)
{
    const labels *const groups[] = { batch, first, second };
    cq_rt_sizes         full = { 0 }, flat = { .rank = 3, .at = { 1, 1, 1 } };
    labels              order = { 0 };
    cq_tensor          *view, *wide;

    for (int g = 0; g < 3; g++)
        for (uint32_t i = 0; i < groups[g]->n; i++) {
            int64_t size;

            CQ_TRY(common_size(&size, o, other, groups[g]->at[i]));
            push(&order, groups[g]->at[i]);
            full.at[full.rank++] = size;
            if (__builtin_mul_overflow(flat.at[g], size, &flat.at[g]))
                return cq_no_memory();
        }
    CQ_TRY(arrange(&view, rt, o, &order));
    CQ_TRY(cq_rt_expanded(&wide, rt, view, &full));
    return cq_rt_reshaped(out, rt, wide, &flat);
}

/* Replaces a by the product of a and b. */
static cq_status multiply(operand *a, cq_rt *rt, const operand *b, const bool *needed)
{
    cq_tensor  *left, *right, *product;
    cq_rt_sizes sizes  = { 0 };
    labels      result = { 0 };
    split       s;

    sort_labels(&s, a, b, needed);
    CQ_TRY(as_matrices(&left, rt, a, b, &s.batch, &s.rows, &s.summed));
    CQ_TRY(as_matrices(&right, rt, b, a, &s.batch, &s.summed, &s.columns));
    CQ_TRY(cq_rt_scratch(
        &product, rt, a->t->dtype, 3,
        (int64_t[]){ cq_size_of(left, 0), cq_size_of(left, 1), cq_size_of(right, 2) }));
    CQ_TRY(cq_rt_spend_on_products(rt, (double)cq_tensor_numel(left) * (double)cq_size_of(right, 2),
                                   a->t->dtype));
    CQ_TRY(cq_kernel_matmul(product, left, right));
    for (int g = 0; g < 3; g++) {
        const labels *from = g == 0 ? &s.batch : g == 1 ? &s.rows : &s.columns;

        for (uint32_t i = 0; i < from->n && result.n < CQ_MAX_RANK; i++) {
            CQ_TRY(common_size(&sizes.at[sizes.rank++], a, b, from->at[i]));
            push(&result, from->at[i]);
        }
    }
    CQ_TRY(cq_rt_reshaped(&a->t, rt, product, &sizes));
    a->l = result;
    return CQ_OK;
}

/* ---- the equation as a whole ---- */

typedef struct equation {
    labels  *terms; /* one per input */
    labels   result;
    uint32_t occurs[MAX_LABELS]; /* number of operands that contain the label */
} equation;

static cq_status read_equation(equation *e, cq_rt *rt)
{
    const char *text       = cq_rt_string(rt, "equation");
    uint32_t    n_ellipsis = 0;

    for (size_t i = 0; i < rt->n_in; i++) {
        const cq_tensor *x = cq_rt_in(rt, i);

        if (i && *text++ != ',')
            return cq_fail(CQ_E_INVALID, NULL, NULL, "the equation has fewer terms than %zu",
                           rt->n_in);
        CQ_TRY(read_term(&e->terms[i], &text, x->rank, 0));
        if (e->terms[i].n != x->rank)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "term %zu has %u axes, its operand %u", i,
                           e->terms[i].n, x->rank);
        for (uint32_t k = 0; k < x->rank; k++) {
            uint8_t label = e->terms[i].at[k];

            e->occurs[label]++;
            if (label >= ELLIPSIS && label - ELLIPSIS + 1u > n_ellipsis)
                n_ellipsis = label - ELLIPSIS + 1u;
        }
    }
    if (!*text) {
        implied_result(&e->result, e->occurs);
        return CQ_OK;
    }
    if (strncmp(text, "->", 2) != 0)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "unexpected '%s' after the terms of the equation",
                       text);
    text += 2;
    CQ_TRY(read_term(&e->result, &text, -1, n_ellipsis));
    for (uint32_t i = 0; i < e->result.n; i++)
        if (!e->occurs[e->result.at[i]] || find(&e->result, e->result.at[i]) != (int)i)
            return cq_fail(CQ_E_INVALID, NULL, NULL,
                           "an axis of the result occurs in no term, or occurs twice");
    return CQ_OK;
}

/* Marks labels that occur in the result, or in operands from first on. */
static void mark_needed(bool *needed, const equation *e, size_t first, size_t n)
{
    memset(needed, 0, MAX_LABELS * sizeof *needed);
    for (uint32_t i = 0; i < e->result.n; i++)
        needed[e->result.at[i]] = true;
    for (size_t k = first; k < n; k++)
        for (uint32_t i = 0; i < e->terms[k].n; i++)
            needed[e->terms[k].at[i]] = true;
}

static cq_status join_all(operand *a, cq_rt *rt, const equation *e)
{
    bool needed[MAX_LABELS];

    CQ_TRY(take_diagonals(a, rt, cq_rt_in(rt, 0), &e->terms[0]));
    mark_needed(needed, e, 1, rt->n_in);
    CQ_TRY(sum_alone(a, rt, needed));
    for (size_t i = 1; i < rt->n_in; i++) {
        operand b = { 0 };

        CQ_TRY(take_diagonals(&b, rt, cq_rt_in(rt, i), &e->terms[i]));
        mark_needed(needed, e, i + 1, rt->n_in);
        for (uint32_t k = 0; k < a->l.n; k++)
            needed[a->l.at[k]] = true; /* the product of a and b may sum over it */
        CQ_TRY(sum_alone(&b, rt, needed));
        mark_needed(needed, e, i + 1, rt->n_in);
        CQ_TRY(multiply(a, rt, &b, needed));
        CQ_TRY(sum_alone(a, rt, needed));
    }
    return CQ_OK;
}

static cq_status einsum(cq_rt *rt)
{
    equation   e = { .terms = cq_alloc_array(rt->n_in, sizeof *e.terms) };
    operand    a = { 0 };
    cq_status  status;
    cq_tensor *y;

    if (!e.terms)
        return CQ_E_NO_MEMORY;
    status = read_equation(&e, rt);
    if (status == CQ_OK)
        status = join_all(&a, rt, &e);
    if (status == CQ_OK)
        status = arrange(&y, rt, &a, &e.result);
    if (status == CQ_OK)
        status = cq_rt_pass(rt, 0, y);
    cq_free(e.terms);
    return status;
}

const cq_rt_row cq_rt_rows_einsum[] = {
    { "Einsum", 12, einsum, 0, 0 },
    { 0 },
};
