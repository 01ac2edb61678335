/* Pickles: whatever is read ends, and is let go again without a leak. Every storage has 64
 * bytes. */
#include "archive/pickle.h"

static cq_status storage(void *user, const char *key, uint64_t size, cq_storage **out)
{
    (void)user;
    (void)size;
    if (key[0] == 'x')
        return cq_storage_new(out, 0);
    CQ_TRY(cq_storage_new(out, 64));
    for (size_t i = 0; i < 64; i++)
        ((char *)(*out)->data)[i] = (char)i;
    return CQ_OK;
}

/* Reads all of a value, as a walk that trusts its depth would. */
static size_t count(cq_val v)
{
    const cq_instance *o = cq_instance_of(v);
    size_t             n = 1;

    if (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE)
        for (size_t i = 0; i < v.u.list->n && n < 10000; i++)
            n += count(v.u.list->items[i]);
    else if (v.kind == CQ_VAL_DICT)
        for (size_t i = 0; i < v.u.dict->n && n < 10000; i++)
            n += count(v.u.dict->entries[i].value);
    else if (o)
        n += count((cq_val){ .kind = CQ_VAL_DICT, .u.dict = o->attrs });
    else if (v.kind == CQ_VAL_TENSOR && cq_tensor_has_data(v.u.tensor) &&
             cq_tensor_numel(v.u.tensor) > 0)
        n += cq_tensor_get_f64(v.u.tensor, cq_tensor_numel(v.u.tensor) - 1) != 0;
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    cq_pickle_source source = { .data          = data,
                                .size          = size,
                                .where         = "<fuzz>",
                                .storage       = storage,
                                .is_big_endian = size % 5 == 0,
                                .may_lack_data = size % 2 == 0 };
    cq_val           v;

    if (cq_unpickle(&v, &source) == CQ_OK) {
        volatile size_t total = count(v); /* so that the walk is not left out */

        (void)total;
        cq_val_release(v);
    }
    return 0;
}
