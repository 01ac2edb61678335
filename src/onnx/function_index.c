#include "onnx/function_index.h"

#include "base/str.h"

#include <string.h>

/* The lengths distinguish "a" "bc" from "ab" "c". */
static cq_status make_key(cq_str *key, const char *domain, const char *name, const char *overload)
{
    domain   = domain ? domain : "";
    name     = name ? name : "";
    overload = overload ? overload : "";
    cq_str_printf(key, "%zu.%zu.%s%s%s", strlen(domain), strlen(name), domain, name, overload);
    return key->status;
}

cq_status cq_onnx_index_functions(cq_map *out, const cq_onnx_model *m)
{
    cq_status status = CQ_OK;

    *out = (cq_map){ 0 };
    for (uint32_t i = 0; i < m->functions.n && status == CQ_OK; i++) {
        cq_onnx_function *f   = m->functions.items[i];
        cq_str            key = { 0 };

        status = make_key(&key, f->domain, f->name, f->overload);
        if (status == CQ_OK && !cq_map_has(out, key.text))
            status = cq_map_set(out, key.text, f);
        cq_str_clear(&key);
    }
    return status;
}

cq_status cq_onnx_indexed_function(const cq_onnx_function **out, const cq_map *index,
                                   const char *domain, const char *name, const char *overload)
{
    cq_str    key    = { 0 };
    cq_status status = CQ_OK;

    *out = NULL;
    if (index->n)
        status = make_key(&key, domain, name, overload);
    if (index->n && status == CQ_OK)
        *out = cq_map_get(index, key.text);
    cq_str_clear(&key);
    return status;
}
