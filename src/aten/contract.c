/* Products that run along chosen axes: einsum, tensordot and their relatives, composed of
 * permute, reshape and bmm. */
#include "aten/body_tree.h"

#include <ctype.h>

/* ---- the equation of einsum ---- */

enum { LETTERS = 52, MAX_OPERANDS = 64 };

typedef struct term {
    size_t n;
    int    labels[CQ_MAX_RANK]; /* letters, then the axes that "..." stands for */
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

/* Reads one term up to `end`; ellipsis is how many axes its "..." stands for. */
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
                return cq_call_fail(c, CQ_E_ARGUMENT, "a dot in the equation is no \"...\"");
            seen = true;
            at += 2;
            for (size_t i = 0; i < ellipsis && out->n < CQ_MAX_RANK; i++)
                out->labels[out->n++] = LETTERS + (int)(n_ellipsis - ellipsis + i);
            continue;
        }
        if (label < 0)
            return cq_call_fail(c, CQ_E_ARGUMENT,
                                "the equation has a '%c' where a letter should be", *at);
        if (out->n == CQ_MAX_RANK)
            return cq_call_fail(c, CQ_E_ARGUMENT, "a term of the equation is too long");
        out->labels[out->n++] = label;
    }
    return CQ_OK;
}

/* How many axes are left for "..." in a term of a tensor of this rank. */
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
                            "the equation names %zu axes of a tensor that has %zu", letters, rank);
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
                return cq_call_fail(c, CQ_E_ARGUMENT, "the equation is not for %zu tensors",
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
        return cq_call_fail(c, CQ_E_ARGUMENT, "takes 1 to %d tensors, not %zu", MAX_OPERANDS,
                            e->n_operands);
    CQ_TRY(read_operands(c, e, text, arrow ? arrow : end));
    if (arrow)
        return read_term(c, &e->out, arrow + 2, end, e->n_ellipsis, e->n_ellipsis);
    implicit_output(e);
    return CQ_OK;
}

static cq_val list_of(cq_frame *f, const term *t)
{
    cq_val labels[CQ_MAX_RANK];

    for (size_t i = 0; i < t->n; i++)
        labels[i] = INT(t->labels[i]);
    return cq_native_list(f, labels, t->n);
}

/* einsum_labels(equation, ranks): the labels of the axes of each operand, and of the result. */
cq_val cq_native_einsum_labels(cq_frame *f, const cq_val *args, size_t n)
{
    einsum e = { 0 };
    cq_val items[MAX_OPERANDS + 1];

    (void)n;
    e.ranks = cq_native_items(&args[1], &e.n_operands);
    if (cq_ctx_fail(f->c->cx, read_equation(f->c, &e, args[0].u.text->text)) != CQ_OK)
        return CQ_NONE;
    for (size_t i = 0; i < e.n_operands; i++)
        items[i] = list_of(f, &e.operands[i]);
    items[e.n_operands] = list_of(f, &e.out);
    return cq_native_list(f, items, e.n_operands + 1);
}

const cq_op_def cq_ops_contract[] = {
    /* The common order of axes is that of the result, and then those that are summed. */
    CQ_BODY("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
            "sums of products along axes named by letters",
            "terms = einsum_labels(equation, [t.ndim for t in tensors])\n"
            "ins = terms[:-1]; out = terms[-1]; used = []\n"
            "for labels in ins: used += labels\n"
            "for i in range(len(out)): assert out[i] in used and out[i] not in out[:i], "
            "'a label of the output is in no tensor, or there twice'\n"
            "order = out + [k for k in range(116) if k in used and k not in out]\n"
            "assert len(order) <= 64, 'the equation has {len(order)} labels, 64 are possible'\n"
            "n = len(out)\n"
            "x = aligned(tensors[0], ins[0], order)\n"
            "for i in done_after(ins, 0, order, n): x = x.sum([i], True)\n"
            "for i in range(1, len(ins)): x = contracted(x, aligned(tensors[i], ins[i], order), "
            "done_after(ins, i, order, n))\n"
            "for i in reversed(range(n, len(order))): x = x.squeeze(i)\n"
            "return x"),
    CQ_BODY(
        "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) "
        "-> Tensor",
        "sums of products along some axes of each tensor",
        "assert len(dims_self) == len(dims_other), "
        "'{len(dims_self)} dimensions of one tensor meet {len(dims_other)} of the other'\n"
        "a = wrap_dims(dims_self, self.ndim)\n"
        "b = wrap_dims(dims_other, other.ndim)\n"
        "for i in range(len(a)): assert self.shape[a[i]] == other.shape[b[i]] or 1 in "
        "[self.shape[a[i]], other.shape[b[i]]], "
        "'sizes {self.shape[a[i]]} and {other.shape[b[i]]} that meet are not equal'\n"
        "for i in range(len(a)): "
        "self, other = self.sum([a[i]], True) if alone(other.shape[b[i]], self.shape[a[i]]) else "
        "self, "
        "other.sum([b[i]], True) if alone(self.shape[a[i]], other.shape[b[i]]) else other\n"
        "rows = [i for i in range(self.ndim) if i not in a]\n"
        "columns = [i for i in range(other.ndim) if i not in b]\n"
        "m = [self.shape[i] for i in rows]\n"
        "n = [other.shape[i] for i in columns]\n"
        "x = self.permute(rows + a).reshape([prod(m), prod([self.shape[i] for i in a])])\n"
        "y = other.permute(b + columns).reshape([prod([other.shape[i] for i in b]), prod(n)])\n"
        "return mm(x, y).reshape(m + n)"),
    CQ_BODY("aten::inner(Tensor self, Tensor other) -> Tensor",
            "sums of products along the last axes",
            "if self.ndim == 0 or other.ndim == 0: return self * other\n"
            "return tensordot(self, other, [-1], [-1])"),
    CQ_BODY("aten::kron(Tensor self, Tensor other) -> Tensor", "Kronecker product",
            "n = max(self.ndim, other.ndim)\n"
            "a = [1] * (n - self.ndim) + self.shape\n"
            "b = [1] * (n - other.ndim) + other.shape\n"
            "x = self.reshape([a[i // 2] if i % 2 == 0 else 1 for i in range(2 * n)])\n"
            "y = other.reshape([b[i // 2] if i % 2 == 1 else 1 for i in range(2 * n)])\n"
            "return (x * y).reshape([a[i] * b[i] for i in range(n)])"),
    CQ_BODY("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, "
            "Tensor? bias=None) -> Tensor",
            "a linear function of each of two inputs",
            "n = input1.ndim\n"
            "assert weight.ndim == 3 and n > 0 and input2.ndim == n and input1.shape[-1] == "
            "weight.shape[1] "
            "and input2.shape[-1] == weight.shape[2], 'the inputs do not fit the weight'\n"
            "t = tensordot(input1, weight, [-1], [1])\n"
            "t = (t * input2.unsqueeze(-2)).sum(-1, dtype=input1.dtype)\n"
            "return t if bias is None else t + bias"),
    { 0 }
};
