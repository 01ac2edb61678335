/* Support of strings by kernels that only handle numbers. All strings of a call are sorted and
 * replaced by their ranks in the kernel's inputs: moving, comparing and sorting ranks is equivalent
 * to moving, comparing and sorting strings. Rank 0 is the empty string, so zeros that a kernel
 * fills in are empty strings. */
#include "runtime/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct pool {
    const cq_text **texts; /* sorted, all different; texts[0] is NULL for "" */
    size_t          n;
} pool;

static size_t text_len(const cq_text *t)
{
    return t ? t->len : 0;
}

static int compare_texts(const void *a, const void *b)
{
    const cq_text *x = *(const cq_text *const *)a, *y = *(const cq_text *const *)b;
    size_t         least = text_len(x) < text_len(y) ? text_len(x) : text_len(y);
    int            order = least ? memcmp(x->text, y->text, least) : 0;

    return order ? order : (text_len(x) > text_len(y)) - (text_len(x) < text_len(y));
}

/* Counts the strings of a value; into, if not NULL, receives them. */
static size_t collect(const cq_text **into, cq_val v)
{
    const cq_texts *t = cq_val_texts(v);
    size_t          n = 0;

    for (size_t i = 0; v.kind == CQ_VAL_LIST && i < v.u.list->n; i++)
        n += collect(into ? into + n : NULL, v.u.list->items[i]);
    for (; t && n < t->n; n++)
        if (into)
            into[n] = t->items[n];
    return n;
}

static cq_status pool_init(pool *p, const cq_rt *rt)
{
    size_t n = 1, kept = 1;

    for (size_t i = 0; i < rt->n_in; i++)
        n += collect(NULL, rt->in[i]);
    p->texts = cq_alloc_array(n, sizeof *p->texts);
    if (!p->texts)
        return CQ_E_NO_MEMORY;
    p->texts[0] = NULL;
    n           = 1;
    for (size_t i = 0; i < rt->n_in; i++)
        n += collect(p->texts + n, rt->in[i]);
    qsort(p->texts, n, sizeof *p->texts, compare_texts);
    for (size_t i = 1; i < n; i++)
        if (compare_texts(&p->texts[i], &p->texts[kept - 1]) != 0)
            p->texts[kept++] = p->texts[i];
    p->n = kept;
    return CQ_OK;
}

static cq_status texts_to_ranks(cq_val *out, cq_rt *rt, const pool *p, const cq_texts *t)
{
    cq_tensor *ranks;
    int64_t   *at;

    CQ_TRY(cq_rt_temp(&ranks, rt, CQ_DTYPE_I64, t->rank, t->sizes));
    at = cq_tensor_data(ranks);
    for (size_t i = 0; i < t->n; i++) {
        const cq_text *text = t->items[i];
        /* This always finds the string: the pool contains all strings of the call. */
        const cq_text **found = bsearch(&text, p->texts, p->n, sizeof *p->texts, compare_texts);

        at[i] = found ? found - p->texts : 0;
    }
    *out = cq_val_of_tensor(ranks);
    return CQ_OK;
}

static cq_status texts_from_ranks(cq_val *out, const pool *p, const cq_tensor *ranks)
{
    int64_t   sizes[CQ_MAX_RANK];
    cq_texts *t;

    for (uint32_t i = 0; i < ranks->rank; i++)
        sizes[i] = cq_size_of(ranks, i);
    CQ_TRY(cq_texts_new(&t, ranks->rank, sizes));
    *out = cq_val_of_texts(t);
    for (size_t i = 0; i < t->n; i++) {
        int64_t        rank = cq_tensor_get_i64(ranks, (int64_t)i);
        const cq_text *text = rank >= 0 && (uint64_t)rank < p->n ? p->texts[rank] : NULL;

        if (text)
            t->items[i] = cq_val_retain(cq_val_of_text((cq_text *)text)).u.text;
    }
    return CQ_OK;
}

/* Converts all string tensors in v to ranks, or back; the caller owns the result. */
static cq_status exchange(cq_val *out, cq_rt *rt, const pool *p, cq_val v, bool to_ranks)
{
    cq_status status = CQ_OK;
    cq_list  *list;

    *out = CQ_NONE;
    if (to_ranks && cq_val_texts(v))
        return texts_to_ranks(out, rt, p, cq_val_texts(v));
    if (!to_ranks && v.kind == CQ_VAL_TENSOR)
        return texts_from_ranks(out, p, v.u.tensor);
    if (v.kind != CQ_VAL_LIST) {
        *out = cq_val_retain(v);
        return CQ_OK;
    }
    CQ_TRY(cq_list_new(&list, 0));
    *out = cq_val_of_list(list);
    for (size_t i = 0; i < v.u.list->n && status == CQ_OK; i++) {
        cq_val item;

        status = exchange(&item, rt, p, v.u.list->items[i], to_ranks);
        if (status == CQ_OK)
            status = cq_list_push(list, item);
        cq_val_release(item);
    }
    return status;
}

/* Replaces ranks by strings in the outputs that the row declares as strings. */
static cq_status outputs_from_ranks(cq_rt *rt, const pool *p)
{
    for (size_t i = 0; i < rt->n_out && i < 8; i++) {
        cq_val    texts;
        cq_status status;

        if (!(rt->step->row->flags >> i & 1))
            continue;
        status = exchange(&texts, rt, p, rt->out[i], false);
        cq_val_release(rt->out[i]);
        rt->out[i] = texts;
        CQ_TRY(status);
    }
    return CQ_OK;
}

cq_status cq_rt_call_with_texts(cq_rt *rt)
{
    const uint32_t takes = CQ_RT_TEXT_IN | 0xff;
    const cq_val  *given = rt->in;
    pool           p     = { 0 };
    cq_val        *in    = NULL;
    cq_status      status;

    if (!(rt->step->row->flags & takes))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s does not work on strings",
                       rt->step->node->op_type);
    in = cq_alloc_array(rt->n_in, sizeof *in);
    if (!in)
        return CQ_E_NO_MEMORY;
    memset(in, 0, rt->n_in * sizeof *in);
    CQ_TRY_OR_DONE(pool_init(&p, rt));
    for (size_t i = 0; i < rt->n_in; i++)
        CQ_TRY_OR_DONE(exchange(&in[i], rt, &p, given[i], true));
    rt->in        = in;
    rt->has_ranks = true;
    CQ_TRY_OR_DONE(rt->step->row->fn(rt));
    status = outputs_from_ranks(rt, &p);
done:
    rt->in = given;
    for (size_t i = 0; i < rt->n_in; i++)
        cq_val_release(in[i]);
    cq_free(in);
    cq_free(p.texts);
    return status;
}
