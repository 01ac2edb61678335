/* Products that run along chosen axes: einsum, tensordot and their relatives, composed of
 * permute, reshape and bmm. */
#include "aten/ctx.h"

#include <ctype.h>

/* ---- a product of two tensors with aligned axes ---- */

/* Axes in a chosen order, and the product of their sizes. */
typedef struct axes {
    size_t  n;
    int64_t at[CQ_MAX_RANK];
    cq_int  size;
} axes;

static void add_axis(cq_opcall *c, axes *a, size_t axis, cq_int size)
{
    a->at[a->n++] = (int64_t)axis;
    a->size       = cq_size_mul(c, a->size, size);
}

static void append(int64_t *perm, size_t *n, const axes *a)
{
    memcpy(perm + *n, a->at, a->n * sizeof *perm);
    *n += a->n;
}

static cq_tensor *permute(cq_ctx *cx, cq_tensor *t, const axes *const *order, size_t n_order)
{
    int64_t perm[CQ_MAX_RANK];
    size_t  n = 0;

    for (size_t i = 0; i < n_order; i++)
        append(perm, &n, order[i]);
    return CQ_OP(cx, "aten::permute", TENSOR(t), cq_i64s(cx, perm, n));
}

static cq_tensor *reshape(cq_ctx *cx, cq_tensor *t, const cq_int *sizes, size_t n)
{
    return CQ_OP(cx, "aten::reshape", TENSOR(t), cq_ints(cx, sizes, n));
}

static cq_tensor *sum_kept(cq_ctx *cx, cq_tensor *t, size_t axis)
{
    return CQ_OP(cx, "aten::sum.dim_IntList", TENSOR(t), INT((int64_t)axis), BOOL(true));
}

/* The sum over the axes in `summed` (a bit mask) of left * right, which have equal ranks and
 * broadcast; summed axes stay with size 1. Axes fall into four groups: batch (in both), left
 * only, right only, and summed in both; what is summed in one alone is summed before. */
static cq_tensor *multiply(cq_opcall *c, cq_tensor *left, cq_tensor *right, uint64_t summed)
{
    cq_ctx *cx    = c->cx;
    axes    batch = { .size = cq_i(1) }, lonly = batch, ronly = batch, both = batch;
    cq_int  sizes[CQ_MAX_RANK];
    int64_t back[CQ_MAX_RANK], order[CQ_MAX_RANK];
    size_t  rank, n = 0;

    if (!left || !right)
        return NULL;
    rank = left->rank;
    for (size_t i = 0; i < rank; i++) {
        bool l = !cq_int_is(left->sizes[i], 1), r = !cq_int_is(right->sizes[i], 1);

        if (l && r && left->sizes[i].value != right->sizes[i].value) {
            cq_ctx_fail(cx, cq_call_fail(c, CQ_E_TYPE, "sizes %lld and %lld of an axis do not fit",
                                         (long long)left->sizes[i].value,
                                         (long long)right->sizes[i].value));
            return NULL;
        }
        if ((summed >> i & 1) && l != r)
            *(l ? &left : &right) = sum_kept(cx, l ? left : right, i);
        if (cx->status != CQ_OK)
            return NULL;
        if (summed >> i & 1)
            add_axis(c, &both, i, l && r ? left->sizes[i] : cq_i(1));
        else if (l && r)
            add_axis(c, &batch, i, left->sizes[i]);
        else if (l)
            add_axis(c, &lonly, i, left->sizes[i]);
        else
            add_axis(c, &ronly, i, right->sizes[i]);
    }

    append(order, &n, &batch);
    append(order, &n, &lonly);
    append(order, &n, &both);
    append(order, &n, &ronly);
    for (size_t i = 0; i < n; i++) {
        size_t axis = (size_t)order[i];

        back[axis] = (int64_t)i;
        sizes[i]   = summed >> axis & 1                ? cq_i(1)
                     : cq_int_is(left->sizes[axis], 1) ? right->sizes[axis]
                                                       : left->sizes[axis];
    }
    left  = permute(cx, left, (const axes *[]){ &batch, &lonly, &both, &ronly }, 4);
    right = permute(cx, right, (const axes *[]){ &batch, &both, &ronly, &lonly }, 4);
    left  = reshape(cx, left, (cq_int[]){ batch.size, lonly.size, both.size }, 3);
    right = reshape(cx, right, (cq_int[]){ batch.size, both.size, ronly.size }, 3);
    left  = reshape(cx, CQ_OP(cx, "aten::bmm", TENSOR(left), TENSOR(right)), sizes, n);
    return CQ_OP(cx, "aten::permute", TENSOR(left), cq_i64s(cx, back, n));
}

/* ---- einsum ---- */

enum { LETTERS = 52, MAX_LABELS = LETTERS + CQ_MAX_RANK, MAX_OPERANDS = 64 };

typedef struct term {
    size_t n;
    int    labels[CQ_MAX_RANK]; /* letters, then the axes that "..." stands for */
} term;

typedef struct einsum {
    size_t n_operands;
    term   operands[MAX_OPERANDS];
    term   out;
    size_t n_ellipsis;           /* axes of the longest "..." */
    int    place[MAX_LABELS];    /* of each label in the common order, -1: not used */
    size_t rank;                 /* of the common order: out's labels, then the summed ones */
    int    last_use[MAX_LABELS]; /* the last operand with the label */
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
            size_t      rank = cq_arg_tensor_at(c, "tensors", i)->rank;

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

static cq_status order_labels(const cq_opcall *c, einsum *e)
{
    for (int i = 0; i < MAX_LABELS; i++)
        e->place[i] = e->last_use[i] = -1;
    for (size_t i = 0; i < e->n_operands; i++)
        for (size_t j = 0; j < e->operands[i].n; j++)
            e->last_use[e->operands[i].labels[j]] = (int)i;
    for (size_t i = 0; i < e->out.n; i++) {
        int label = e->out.labels[i];

        if (e->last_use[label] < 0 || e->place[label] >= 0)
            return cq_call_fail(c, CQ_E_ARGUMENT, "a label of the output is %s",
                                e->place[label] >= 0 ? "there twice" : "in no tensor");
        e->place[label] = (int)e->rank++;
    }
    for (int label = 0; label < MAX_LABELS; label++)
        if (e->last_use[label] >= 0 && e->place[label] < 0)
            e->place[label] = (int)e->rank++;
    if (e->rank > CQ_MAX_RANK)
        return cq_call_fail(c, CQ_E_ARGUMENT, "the equation has %zu labels, %d are possible",
                            e->rank, CQ_MAX_RANK);
    return CQ_OK;
}

static cq_status read_equation(const cq_opcall *c, einsum *e)
{
    const char *text = cq_arg_str(c, "equation", ""), *end = text + strlen(text);
    const char *arrow = strstr(text, "->");

    memset(e, 0, sizeof *e);
    e->n_operands = cq_arg_n_tensors(c, "tensors");
    if (e->n_operands < 1 || e->n_operands > MAX_OPERANDS)
        return cq_call_fail(c, CQ_E_ARGUMENT, "takes 1 to %d tensors, not %zu", MAX_OPERANDS,
                            e->n_operands);
    CQ_TRY(read_operands(c, e, text, arrow ? arrow : end));
    if (arrow)
        CQ_TRY(read_term(c, &e->out, arrow + 2, end, e->n_ellipsis, e->n_ellipsis));
    else
        implicit_output(e);
    return order_labels(c, e);
}

/* An operand with its axes in the common order: a repeated label is the diagonal, a missing
 * one gets size 1. */
static cq_tensor *align(cq_opcall *c, const einsum *e, size_t i)
{
    cq_ctx    *cx = c->cx;
    cq_tensor *t  = cq_arg_tensor_at(c, "tensors", i);
    term       in = e->operands[i];
    int64_t    perm[CQ_MAX_RANK];
    size_t     n = 0;
    int        axis_at[CQ_MAX_RANK];

    for (size_t a = 0; a < in.n; a++)
        for (size_t b = a + 1; b < in.n; b++)
            if (in.labels[a] == in.labels[b]) {
                int label = in.labels[a];

                t = CQ_OP(cx, "aten::diagonal", TENSOR(t), INT(0), INT((int64_t)a),
                          INT((int64_t)b));
                memmove(in.labels + b, in.labels + b + 1, (in.n - b - 1) * sizeof *in.labels);
                memmove(in.labels + a, in.labels + a + 1, (in.n - a - 2) * sizeof *in.labels);
                in.labels[in.n - 2] = label; /* the diagonal becomes the last axis */
                in.n--;
                b = a; /* another label stands here now */
                if (a >= in.n)
                    break;
            }
    for (size_t p = 0; p < e->rank; p++)
        axis_at[p] = -1;
    for (size_t a = 0; a < in.n; a++)
        axis_at[e->place[in.labels[a]]] = (int)a;
    for (size_t p = 0; p < e->rank; p++)
        if (axis_at[p] >= 0)
            perm[n++] = axis_at[p];
    t = CQ_OP(cx, "aten::permute", TENSOR(t), cq_i64s(cx, perm, n));
    for (size_t p = 0; p < e->rank; p++)
        if (axis_at[p] < 0)
            t = CQ_OP(cx, "aten::unsqueeze", TENSOR(t), INT((int64_t)p));
    return t;
}

/* Places of summed labels that no operand after i has. */
static uint64_t done_after(const einsum *e, size_t i)
{
    uint64_t mask = 0;

    for (int label = 0; label < MAX_LABELS; label++)
        if (e->last_use[label] == (int)i && e->place[label] >= (int)e->out.n)
            mask |= (uint64_t)1 << e->place[label];
    return mask;
}

static cq_status einsum_compose(cq_opcall *c)
{
    cq_ctx    *cx = c->cx;
    einsum     e;
    cq_tensor *t;
    uint64_t   first;

    CQ_TRY(read_equation(c, &e));
    t     = align(c, &e, 0);
    first = done_after(&e, 0);
    for (size_t p = e.out.n; p < e.rank; p++)
        if (first >> p & 1)
            t = sum_kept(cx, t, p);
    for (size_t i = 1; i < e.n_operands; i++)
        t = multiply(c, t, align(c, &e, i), done_after(&e, i));
    for (size_t p = e.rank; p-- > e.out.n;)
        t = CQ_OP(cx, "aten::squeeze.dim", TENSOR(t), INT((int64_t)p));
    return cq_result_set_tensor(c, 0, t);
}

const cq_op_def cq_ops_contract[] = {
    { .schema  = "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
      .about   = "sums of products along axes named by letters",
      .compose = einsum_compose },
    { .schema = "aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) "
                "-> Tensor",
      .about  = "sums of products along some axes of each tensor",
      .body =
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
          "return mm(x, y).reshape(m + n)" },
    { .schema = "aten::inner(Tensor self, Tensor other) -> Tensor",
      .about  = "sums of products along the last axes",
      .body   = "if self.ndim == 0 or other.ndim == 0: return self * other\n"
                "return tensordot(self, other, [-1], [-1])" },
    { .schema = "aten::kron(Tensor self, Tensor other) -> Tensor",
      .about  = "Kronecker product",
      .body   = "n = max(self.ndim, other.ndim)\n"
                "a = [1] * (n - self.ndim) + self.shape\n"
                "b = [1] * (n - other.ndim) + other.shape\n"
                "x = self.reshape([a[i // 2] if i % 2 == 0 else 1 for i in range(2 * n)])\n"
                "y = other.reshape([b[i // 2] if i % 2 == 1 else 1 for i in range(2 * n)])\n"
                "return (x * y).reshape([a[i] * b[i] for i in range(n)])" },
    { .schema = "aten::bilinear(Tensor input1, Tensor input2, Tensor weight, "
                "Tensor? bias=None) -> Tensor",
      .about  = "a linear function of each of two inputs",
      .body   = "n = input1.ndim\n"
                "assert weight.ndim == 3 and n > 0 and input2.ndim == n and input1.shape[-1] == "
                "weight.shape[1] "
                "and input2.shape[-1] == weight.shape[2], 'the inputs do not fit the weight'\n"
                "t = tensordot(input1, weight, [-1], [1])\n"
                "t = (t * input2.unsqueeze(-2)).sum(-1, dtype=input1.dtype)\n"
                "return t if bias is None else t + bias" },
    { 0 }
};
