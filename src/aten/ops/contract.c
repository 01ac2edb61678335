/* Contractions along chosen axes: einsum, tensordot and similar operators, composed of permute,
 * reshape and bmm. */
#include "aten/core/body.h"

#include <ctype.h>

/* ---- the equation of einsum ---- */

enum { LETTERS = 52, MAX_OPERANDS = 64 };

typedef struct term {
    size_t n;
    int    labels[CQ_MAX_RANK]; /* letters, then the axes of "..." */
} term;

typedef struct einsum {
    size_t        n_operands;
    const cq_val *ranks;
    term          operands[MAX_OPERANDS];
    term          out;
    size_t        n_ellipsis; /* axes of the longest "..." */
} einsum;

/* 'A' is 0, 'z' is 51: the order of labels in an implicit output. */
static int label_of(char ch)
{
    return !isalpha((unsigned char)ch) ? -1 : isupper((unsigned char)ch) ? ch - 'A' : 26 + ch - 'a';
}

/* Reads one term up to `end`; ellipsis is the number of axes of its "...". */
static cq_status read_term(const cq_opcall *c, term *out, const char *at, const char *end,
                           size_t ellipsis, size_t n_ellipsis)
{
    bool seen = false;

    out->n = 0;
    for (; at < end; at++) {
        int label = label_of(*at);

        if (*at == ' ')
            continue;
        if (*at == '.') {
            if (seen || end - at < 3 || strncmp(at, "...", 3) != 0)
                return cq_call_fail(c, CQ_E_ARGUMENT,
                                    "unexpected '.' in the equation; expected \"...\"");
            seen = true;
            at += 2;
            for (size_t i = 0; i < ellipsis && out->n < CQ_MAX_RANK; i++)
                out->labels[out->n++] = LETTERS + (int)(n_ellipsis - ellipsis + i);
            continue;
        }
        if (label < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "expected a letter in the equation, got '%c'",
                                *at);
        if (out->n == CQ_MAX_RANK)
            return cq_call_fail(c, CQ_E_ARGUMENT, "a term of the equation is too long");
        out->labels[out->n++] = label;
    }
    return CQ_OK;
}

/* The number of axes that "..." stands for in a term of a tensor of this rank. */
static cq_status count_ellipsis(const cq_opcall *c, const char *at, const char *end, size_t rank,
                                size_t *out)
{
    size_t letters = 0;
    bool   has     = false;

    for (const char *p = at; p < end; p++) {
        letters += label_of(*p) >= 0;
        has |= *p == '.';
    }
    if (letters > rank || (!has && letters != rank))
        return cq_call_fail(c, CQ_E_ARGUMENT,
                            "the equation has %zu labels for a tensor of %zu dimensions", letters,
                            rank);
    *out = rank - letters;
    return CQ_OK;
}

static const char *end_of_term(const char *at, const char *end)
{
    while (at < end && *at != ',')
        at++;
    return at;
}

static cq_status read_operands(const cq_opcall *c, einsum *e, const char *text, const char *end)
{
    size_t      ellipsis[MAX_OPERANDS];
    const char *at = text;

    for (size_t pass = 0; pass < 2; pass++, at = text) {
        for (size_t i = 0; i < e->n_operands; i++) {
            const char *stop = end_of_term(at, end);
            size_t      rank = (size_t)e->ranks[i].u.i.value;

            if ((*stop == ',') != (i + 1 < e->n_operands))
                return cq_call_fail(c, CQ_E_ARGUMENT, "the equation does not have %zu terms",
                                    e->n_operands);
            if (pass == 0)
                CQ_TRY(count_ellipsis(c, at, stop, rank, &ellipsis[i]));
            else
                CQ_TRY(read_term(c, &e->operands[i], at, stop, ellipsis[i], e->n_ellipsis));
            if (pass == 0 && ellipsis[i] > e->n_ellipsis)
                e->n_ellipsis = ellipsis[i];
            at = stop + 1;
        }
    }
    return CQ_OK;
}

/* Without "->": the axes of "...", then the letters that appear once, in order. */
static void implicit_output(einsum *e)
{
    int count[LETTERS] = { 0 };

    for (size_t i = 0; i < e->n_operands; i++)
        for (size_t j = 0; j < e->operands[i].n; j++)
            if (e->operands[i].labels[j] < LETTERS)
                count[e->operands[i].labels[j]]++;
    for (size_t i = 0; i < e->n_ellipsis; i++)
        e->out.labels[e->out.n++] = LETTERS + (int)i;
    for (int i = 0; i < LETTERS && e->out.n < CQ_MAX_RANK; i++)
        if (count[i] == 1)
            e->out.labels[e->out.n++] = i;
}

static cq_status read_equation(const cq_opcall *c, einsum *e, const char *text)
{
    const char *end = text + strlen(text), *arrow = strstr(text, "->");

    if (e->n_operands < 1 || e->n_operands > MAX_OPERANDS)
        return cq_call_fail(c, CQ_E_ARGUMENT, "expected 1 to %d tensors, got %zu", MAX_OPERANDS,
                            e->n_operands);
    CQ_TRY(read_operands(c, e, text, arrow ? arrow : end));
    if (arrow)
        return read_term(c, &e->out, arrow + 2, end, e->n_ellipsis, e->n_ellipsis);
    implicit_output(e);
    return CQ_OK;
}

static cq_val list_of(cq_body *b, const term *t)
{
    cq_val labels[CQ_MAX_RANK];

    for (size_t i = 0; i < t->n; i++)
        labels[i] = INT(t->labels[i]);
    return cq_lang_list(&b->lang, labels, t->n);
}

/* einsum_labels(equation, ranks): the labels of the axes of each operand, and of the result. */
cq_val cq_native_einsum_labels(cq_body *b, const cq_val *args, size_t n)
{
    einsum e = { 0 };
    cq_val items[MAX_OPERANDS + 1];

    (void)n;
    e.ranks = cq_lang_items(&args[1], &e.n_operands);
    if (cq_ctx_fail(b->c->cx, read_equation(b->c, &e, args[0].u.text->text)) != CQ_OK)
        return CQ_NONE;
    for (size_t i = 0; i < e.n_operands; i++)
        items[i] = list_of(b, &e.operands[i]);
    items[e.n_operands] = list_of(b, &e.out);
    return cq_lang_list(&b->lang, items, e.n_operands + 1);
}
