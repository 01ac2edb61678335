/* State dicts: the tensors in a file of torch.save. */
#include "archive/object.h"
#include "archive/state_dict.h"
#include "info/info.h"

/* Quantized and sparse tensors are their values; what else there is has a kind and nothing more. */
static const cq_tensor *tensor_of(cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        return v.u.tensor;
    if (cq_quantized_of(v))
        return cq_quantized_of(v)->values;
    return cq_sparse_of(v) ? cq_sparse_of(v)->values : NULL;
}

CQ_API cq_status cq_state_dict_info(cq_info **out, const char *path)
{
    CQ_NEED_OUT(out, path);
    cq_state_dict  *dict = NULL;
    cq_info_weights all  = { 0 };
    cq_info_module  none = { .path = "" };
    size_t          n;

    CQ_TRY(cq_state_dict_open(&dict, path, NULL));
    n = cq_state_dict_count(dict);
    if (cq_info_new(out) != CQ_OK) {
        cq_state_dict_free(dict);
        return CQ_E_NO_MEMORY;
    }
    cq_info_fact(*out, "format", "state dict");
    cq_info_fact_number(*out, "tensors", CQ_INFO_COUNT, (int64_t)n);
    cq_info_begin(*out, "tensors", cq_info_tensor_columns);
    for (size_t i = 0; i < n; i++) {
        const cq_state_item *item = cq_state_dict_at(dict, i);
        const cq_tensor     *t    = tensor_of(item->value);

        if (!t)
            continue;
        cq_info_add_tensor(*out, item->name, t);
        cq_info_module_tensor(*out, &all, &none, item->name, t, true);
    }
    cq_info_add_weights(*out, &all);
    cq_state_dict_free(dict);
    return cq_info_done(out);
}
