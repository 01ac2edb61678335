/* Matrix products and other contractions. */
#include "onnx/infer/elements.h"
#include "onnx/infer/nn.h"

#include <ctype.h>
#include <string.h>

/* As in numpy's matmul, vectors are treated as matrices, and their additional axis is removed
 * afterwards. */
cq_status cq_rule_matmul_of(cq_rule *r, size_t ia, size_t ib)
{
    const cq_itype *a = cq_rule_shaped(r, ia), *b = cq_rule_shaped(r, ib);
    cq_shape        y;
    cq_dim          inner;
    size_t          batch_a, batch_b;

    if (!a || !b)
        return CQ_OK;
    if (a->rank == 0 || b->rank == 0)
        return cq_rule_fail(r, "expected inputs of rank 1 or more for a matrix product");
    CQ_TRY(cq_dim_unify(&inner, r, a->dims[a->rank - 1], b->dims[b->rank >= 2 ? b->rank - 2 : 0]));
    batch_a = a->rank > 2 ? a->rank - 2 : 0;
    batch_b = b->rank > 2 ? b->rank - 2 : 0;
    y.rank  = 0;
    CQ_TRY(cq_shape_broadcast(r, &y, a->dims, batch_a));
    CQ_TRY(cq_shape_broadcast(r, &y, b->dims, batch_b));
    if (a->rank >= 2)
        y.dims[y.rank++] = a->dims[a->rank - 2];
    if (b->rank >= 2)
        y.dims[y.rank++] = b->dims[b->rank - 1];
    return cq_rule_give(r, 0, &y);
}

static cq_status matmul(cq_rule *r)
{
    return cq_rule_matmul_of(r, 0, 1);
}

static cq_status gemm(cq_rule *r)
{
    const cq_itype *a = cq_rule_shaped(r, 0), *b = cq_rule_shaped(r, 1);
    bool            trans_a = cq_rule_int(r, "transA", 0) != 0;
    bool            trans_b = cq_rule_int(r, "transB", 0) != 0;
    cq_shape        y       = { .rank = 2 };
    cq_dim          inner;

    if (!a || !b)
        return CQ_OK;
    if (a->rank != 2 || b->rank != 2)
        return cq_rule_fail(r, "expected matrices for Gemm, got ranks %zu and %zu", a->rank,
                            b->rank);
    CQ_TRY(cq_dim_unify(&inner, r, a->dims[trans_a ? 0 : 1], b->dims[trans_b ? 1 : 0]));
    y.dims[0] = a->dims[trans_a ? 1 : 0];
    y.dims[1] = b->dims[trans_b ? 0 : 1];
    return cq_rule_give(r, 0, &y);
}

static cq_status det(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_dim          size;

    if (!x)
        return CQ_OK;
    if (x->rank < 2)
        return cq_rule_fail(r, "expected matrices for Det, got rank %zu", x->rank);
    CQ_TRY(cq_dim_unify(&size, r, x->dims[x->rank - 2], x->dims[x->rank - 1]));
    return cq_rule_give_dims(r, 0, x->rank - 2, x->dims);
}

/* com.microsoft::Inverse */
static cq_status inverse(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_dim          size;

    if (!x)
        return CQ_OK;
    if (x->rank < 2)
        return cq_rule_fail(r, "expected matrices for Inverse, got rank %zu", x->rank);
    CQ_TRY(cq_dim_unify(&size, r, x->dims[x->rank - 2], x->dims[x->rank - 1]));
    return cq_rule_give_dims(r, 0, x->rank, x->dims);
}

/* ---- Einsum ---- */

/* The sizes of letters in "bij,bjk->bik", and those of `...`. */
typedef struct einsum {
    char     text[256]; /* without spaces */
    cq_dim   of[128];
    unsigned count[128]; /* number of occurrences in the inputs */
    cq_shape dots;
} einsum;

static bool einsum_read(const cq_rule *r, einsum *e)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, "equation");
    size_t                   n = 0;

    if (!a || a->type != CQ_ONNX_ATTR_STRING)
        return false;
    for (size_t i = 0; i < a->s.size; i++) {
        char c = ((const char *)a->s.data)[i];

        if (c == ' ')
            continue;
        if (n + 1 >= sizeof e->text || (unsigned char)c >= 128)
            return false;
        e->text[n++] = c;
    }
    e->text[n] = '\0';
    return true;
}

static size_t count_letters(const char *term, size_t len)
{
    size_t n = 0;

    for (size_t i = 0; i < len; i++)
        n += isalpha((unsigned char)term[i]) != 0;
    return n;
}

/* Reads an operand: letters name axes, dots stand for the remaining ones. */
static cq_status einsum_input(cq_rule *r, einsum *e, const cq_itype *x, const char *term,
                              size_t len)
{
    size_t axis = 0, letters = count_letters(term, len);

    if (x->rank < letters)
        return cq_rule_fail(r, "a term of %zu letters does not match rank %zu", letters, x->rank);
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)term[i];

        if (c == '.') {
            if (axis + x->rank - letters > x->rank)
                return cq_rule_fail(r, "a term has dots twice");
            CQ_TRY(cq_shape_broadcast(r, &e->dots, x->dims + axis, x->rank - letters));
            axis += x->rank - letters;
            while (i + 1 < len && term[i + 1] == '.')
                i++;
        } else if (isalpha(c) && axis < x->rank) {
            /* An axis of size 1 broadcasts, so the larger size counts. */
            if (e->count[c]++ == 0 || cq_dim_is(e->of[c], 1))
                e->of[c] = x->dims[axis];
            else if (!cq_dim_is(x->dims[axis], 1))
                CQ_TRY(cq_dim_unify(&e->of[c], r, e->of[c], x->dims[axis]));
            axis++;
        }
    }
    return axis == x->rank
               ? CQ_OK
               : cq_rule_fail(r, "a term of %zu letters does not match rank %zu", letters, x->rank);
}

/* The output is given after the arrow; otherwise it has all letters that occur once, sorted. */
static cq_status einsum_output(cq_rule *r, const einsum *e, const char *arrow)
{
    cq_shape y = { .rank = 0 };

    if (!arrow) {
        y = e->dots;
        for (int c = 0; c < 128; c++)
            if (e->count[c] == 1 && y.rank < CQ_MAX_RANK)
                y.dims[y.rank++] = e->of[c];
        return cq_rule_give(r, 0, &y);
    }
    for (const char *at = arrow + 2; *at; at++) {
        if (*at == '.') {
            for (size_t i = 0; i < e->dots.rank && y.rank < CQ_MAX_RANK; i++)
                y.dims[y.rank++] = e->dots.dims[i];
            at += strspn(at, ".") - 1;
        } else if (y.rank < CQ_MAX_RANK) {
            y.dims[y.rank++] = e->of[(unsigned char)*at];
        }
    }
    return cq_rule_give(r, 0, &y);
}

static cq_status einsum_rule(cq_rule *r)
{
    einsum      e = { .dots.rank = 0 };
    const char *arrow, *term;

    if (!einsum_read(r, &e))
        return CQ_OK;
    term  = e.text;
    arrow = strstr(e.text, "->");
    for (size_t i = 0; i < r->n_inputs; i++) {
        const cq_itype *x   = cq_rule_shaped(r, i);
        size_t          len = strcspn(term, ",-");

        if (!x)
            return CQ_OK;
        CQ_TRY(einsum_input(r, &e, x, term, len));
        term += len;
        if (*term == ',')
            term++;
        else if (i + 1 < r->n_inputs)
            return cq_rule_fail(r, "the equation has fewer terms than the %zu inputs", r->n_inputs);
    }
    return einsum_output(r, &e, arrow);
}

const cq_rule_row cq_rules_math[] = {
    { "Det", 1, det, NULL },   { "Einsum", 1, einsum_rule, NULL }, { "Inverse", 1, inverse, NULL },
    { "Gemm", 1, gemm, NULL }, { "MatMul", 1, matmul, NULL },      { NULL, 0, NULL, NULL },
};
