/* Unifies dynamic sizes, which are texts: a name, or an expression of names such as 2*batch+1. */
#include "onnx/part/sizes.h"

#include "base/str.h"
#include "onnx/part/names.h"
#include "onnx/tensor.h"

#include <ctype.h>
#include <inttypes.h>

void cq_part_sizes_clear(cq_part_sizes *sizes)
{
    cq_map_clear(&sizes->names);
    cq_map_clear(&sizes->numbers);
}

static bool is_letter(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '.';
}

static bool is_plain(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!is_letter(*p))
            return false;
    return *text != 0;
}

static cq_status set_number(cq_part_sizes *sizes, const char *name, int64_t number)
{
    if (!is_plain(name) || cq_map_has(&sizes->names, name))
        return CQ_OK;
    return cq_map_set(&sizes->numbers, name, (void *)(uintptr_t)(number + 1));
}

static cq_status unify_dim(cq_part_sizes *from_sizes, cq_part_sizes *to_sizes,
                           const cq_onnx_dim *from, const cq_onnx_dim *to)
{
    bool from_number = cq_onnx_has(from, CQ_ONNX_DIM_VALUE);
    bool to_number   = cq_onnx_has(to, CQ_ONNX_DIM_VALUE);

    if (from_number && to_number)
        return from->dim_value == to->dim_value ? CQ_OK : CQ_E_TYPE;
    if (from_number && to->dim_param)
        return set_number(to_sizes, to->dim_param, from->dim_value);
    if (to_number && from->dim_param)
        return set_number(from_sizes, from->dim_param, to->dim_value);
    if (from->dim_param && to->dim_param && is_plain(from->dim_param) && is_plain(to->dim_param) &&
        !cq_map_has(&to_sizes->names, to->dim_param))
        return cq_map_set(&to_sizes->names, to->dim_param, (void *)from->dim_param);
    return CQ_OK;
}

static const cq_onnx_tensor_type *tensor_type(const cq_onnx_value_info *v)
{
    return v->type ? v->type->tensor_type : NULL;
}

cq_status cq_part_unify(cq_part_sizes *from_sizes, cq_part_sizes *to_sizes,
                        const cq_onnx_value_info *from, const cq_onnx_value_info *to)
{
    const cq_onnx_tensor_type *f = tensor_type(from), *t = tensor_type(to);

    if (!f || !t)
        return CQ_OK;
    if (f->elem_type != t->elem_type)
        return cq_fail(CQ_E_TYPE, NULL, "add a Cast, or choose another value",
                       "output '%s' has type %s, input '%s' expects %s", from->name,
                       cq_onnx_data_type_name(f->elem_type), to->name,
                       cq_onnx_data_type_name(t->elem_type));
    if (!f->shape || !t->shape)
        return CQ_OK;
    if (f->shape->dim.n != t->shape->dim.n)
        return cq_fail(CQ_E_TYPE, NULL, NULL,
                       "output '%s' has %u dimensions, input '%s' expects %u", from->name,
                       f->shape->dim.n, to->name, t->shape->dim.n);
    for (uint32_t i = 0; i < f->shape->dim.n; i++) {
        const cq_onnx_dim *one = f->shape->dim.items[i], *other = t->shape->dim.items[i];
        cq_status          status = unify_dim(from_sizes, to_sizes, one, other);

        if (status == CQ_E_TYPE)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "dimension %u of output '%s' has size %" PRId64
                           ", input '%s' expects %" PRId64,
                           i, from->name, one->dim_value, to->name, other->dim_value);
        CQ_TRY(status);
    }
    return CQ_OK;
}

cq_status cq_part_keep_apart(cq_part_sizes *sizes, const cq_map *taken, const cq_map *own,
                             cq_onnx_model *m)
{
    for (size_t i = 0; i < own->n; i++) {
        const char *name = own->entries[i].key, *other;

        if (!is_plain(name) || !cq_map_has(taken, name) || cq_map_has(&sizes->names, name) ||
            cq_map_has(&sizes->numbers, name))
            continue;
        other = cq_part_free_name(m, name, taken, own);
        if (!other)
            return CQ_E_NO_MEMORY;
        CQ_TRY(cq_map_set(&sizes->names, name, (void *)other));
    }
    return CQ_OK;
}

static void add_word(cq_str *out, const cq_part_sizes *sizes, const char *word, size_t len)
{
    const char *name = cq_map_get_n(&sizes->names, word, len);

    if (name)
        cq_str_add(out, name);
    else
        cq_str_add_n(out, word, len);
}

const char *cq_part_size_text(const cq_part_sizes *sizes, cq_onnx_model *m, const char *text)
{
    cq_str      out = { 0 };
    const char *copy;

    if (!sizes->names.n && !sizes->numbers.n)
        return text;
    if (cq_map_has(&sizes->numbers, text))
        cq_str_printf(&out, "%" PRId64, (int64_t)(uintptr_t)cq_map_get(&sizes->numbers, text) - 1);
    for (const char *p = out.len ? "" : text; *p;) {
        size_t len = 0;

        while (is_letter(p[len]))
            len++;
        if (len && cq_map_get_n(&sizes->numbers, p, len)) {
            cq_str_clear(&out);
            return "";
        }
        if (len)
            add_word(&out, sizes, p, len);
        else
            cq_str_add_n(&out, p, len = 1);
        p += len;
    }
    copy = out.status == CQ_OK ? cq_onnx_text(m, cq_str_text(&out)) : NULL;
    cq_str_clear(&out);
    return copy;
}
