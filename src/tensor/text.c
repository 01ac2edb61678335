#include "tensor/text.h"

static void texts_free(cq_box *box)
{
    cq_texts *t = (cq_texts *)box;

    for (size_t i = 0; i < t->n; i++)
        if (t->items[i])
            cq_val_release(cq_val_of_text(t->items[i]));
    cq_free(t->items);
    cq_free(t);
}

cq_status cq_texts_new(cq_texts **out, size_t rank, const int64_t *sizes)
{
    cq_texts *t;
    size_t    n = 1;

    *out = NULL;
    if (rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a tensor has %zu dimensions, at most %d work",
                       rank, CQ_MAX_RANK);
    for (size_t i = 0; i < rank; i++)
        if (sizes[i] < 0 || __builtin_mul_overflow(n, (size_t)sizes[i], &n))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a tensor of strings cannot have size %lld",
                           (long long)sizes[i]);
    t = cq_zalloc(sizeof *t);
    if (!t)
        return CQ_E_NO_MEMORY;
    t->items = cq_alloc_array(n, sizeof *t->items);
    if (!t->items) {
        cq_free(t);
        return CQ_E_NO_MEMORY;
    }
    memset(t->items, 0, n * sizeof *t->items);
    atomic_init(&t->box.refs, 1);
    t->box.free = texts_free;
    t->rank     = (uint32_t)rank;
    t->n        = n;
    for (size_t i = 0; i < rank; i++)
        t->sizes[i] = sizes[i];
    *out = t;
    return CQ_OK;
}

cq_status cq_texts_set(cq_texts *t, size_t i, const char *text, size_t len)
{
    cq_text *copy;

    CQ_TRY(cq_text_new(&copy, text, len));
    if (t->items[i])
        cq_val_release(cq_val_of_text(t->items[i]));
    t->items[i] = copy;
    return CQ_OK;
}

const char *cq_texts_at(const cq_texts *t, size_t i)
{
    return t->items[i] ? t->items[i]->text : "";
}

size_t cq_texts_len(const cq_texts *t, size_t i)
{
    return t->items[i] ? t->items[i]->len : 0;
}

cq_val cq_val_of_texts(cq_texts *t)
{
    return t ? (cq_val){ .kind = CQ_VAL_OBJECT, .u.box = &t->box } : CQ_NONE;
}

cq_texts *cq_val_texts(cq_val v)
{
    return v.kind == CQ_VAL_OBJECT && v.u.box->free == texts_free ? (cq_texts *)v.u.box : NULL;
}

size_t cq_val_numel(cq_val v)
{
    const cq_texts *texts = cq_val_texts(v);

    return texts ? texts->n : v.kind == CQ_VAL_TENSOR ? (size_t)cq_tensor_numel(v.u.tensor) : 0;
}
