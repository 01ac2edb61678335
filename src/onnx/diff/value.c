/* Compares tensors, types and attributes. Tensors are compared by value, regardless of where their
 * elements are stored. */
#include "onnx/diff/diff.h"

#include "base/str.h"
#include "onnx/schema.h"
#include "onnx/tensor.h"
#include "onnx/text/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { MOST_CHARS = 60 }; /* maximum length of a value in a message */

/* ---- tensors ---- */

static void add_shape(cq_str *s, const cq_onnx_tensor *t)
{
    const char *type = cq_onnx_element_name(t->data_type);

    cq_str_add(s, type ? type : "undefined");
    for (uint32_t i = 0; i < t->dims.n; i++)
        cq_str_printf(s, "%c%" PRId64, i ? ',' : '[', t->dims.items[i]);
    cq_str_add(s, t->dims.n ? "]" : "");
}

static bool same_shape(const cq_onnx_tensor *a, const cq_onnx_tensor *b)
{
    return a->data_type == b->data_type && a->dims.n == b->dims.n &&
           (!a->dims.n ||
            memcmp(a->dims.items, b->dims.items, a->dims.n * sizeof *a->dims.items) == 0);
}

static bool is_close(double x, double y, const cq_diff_tolerance *t)
{
    return x == y || (isnan(x) && isnan(y)) || fabs(x - y) <= t->atol + t->rtol * fabs(x);
}

static void compare_elements(cq_str *why, const cq_tensor *a, const cq_tensor *b,
                             const cq_diff_tolerance *tolerance)
{
    int64_t n = cq_tensor_numel(a), n_other = 0, first = 0;
    size_t  size = cq_dtype_size(a->dtype);
    double  most = 0;

    for (int64_t i = 0; i < n; i++) {
        const char *x = cq_tensor_bytes(a) + (size_t)i * size;
        const char *y = cq_tensor_bytes(b) + (size_t)i * size;
        double      p, q;

        if (memcmp(x, y, size) == 0)
            continue;
        p = cq_tensor_get_f64(a, i);
        q = cq_tensor_get_f64(b, i);
        if ((tolerance->rtol > 0 || tolerance->atol > 0) && is_close(p, q, tolerance))
            continue;
        first = n_other++ ? first : i;
        most  = fmax(most, fabs(p - q));
    }
    if (n_other)
        cq_str_printf(
            why,
            "%" PRId64 " of %" PRId64 " elements differ, by up to %.3g; the first, number "
            "%" PRId64 ", is %.9g in A and %.9g in B",
            n_other, n, most, first, cq_tensor_get_f64(a, first), cq_tensor_get_f64(b, first));
}

/* Compares elements of types that cq_tensor does not support: strings, and numbers of less than a
 * byte. */
static bool same_fields(const cq_onnx_tensor *a, const cq_onnx_tensor *b)
{
    bool same = a->string_data.n == b->string_data.n && a->raw_data.size == b->raw_data.size &&
                a->int32_data.n == b->int32_data.n;

    for (uint32_t i = 0; same && i < a->string_data.n; i++) {
        const cq_onnx_bytes *x = &a->string_data.items[i], *y = &b->string_data.items[i];

        same = x->size == y->size && (!x->size || memcmp(x->data, y->data, x->size) == 0);
    }
    if (same && a->raw_data.size)
        same = memcmp(a->raw_data.data, b->raw_data.data, a->raw_data.size) == 0;
    if (same && a->int32_data.n)
        same = memcmp(a->int32_data.items, b->int32_data.items,
                      a->int32_data.n * sizeof *a->int32_data.items) == 0;
    return same;
}

cq_status cq_diff_tensors(cq_str *why, const cq_diff *d, const cq_onnx_tensor *a,
                          const cq_onnx_tensor *b)
{
    cq_tensor *x = NULL, *y = NULL;
    cq_status  status = CQ_OK;

    if (!a || !b) {
        cq_str_add(why, a == b ? "" : a ? "has a value in A only" : "has a value in B only");
        return CQ_OK;
    }
    if (!same_shape(a, b)) {
        cq_str_add(why, "is ");
        add_shape(why, a);
        cq_str_add(why, " in A and ");
        add_shape(why, b);
        cq_str_add(why, " in B");
        return CQ_OK;
    }
    if (cq_dtype_from_onnx(a->data_type) == CQ_DTYPE_NONE) {
        cq_str_add(why, same_fields(a, b) ? "" : "has different elements");
        return CQ_OK;
    }
    CQ_TRY_OR_DONE(cq_onnx_tensor_to_tensor(&x, d->a, a));
    CQ_TRY_OR_DONE(cq_onnx_tensor_to_tensor(&y, d->b, b));
    if (memcmp(cq_tensor_bytes(x), cq_tensor_bytes(y),
               (size_t)cq_tensor_numel(x) * cq_dtype_size(x->dtype)) != 0)
        compare_elements(why, x, y, &d->tolerance);
done:
    cq_tensor_release(x);
    cq_tensor_release(y);
    return status;
}

/* ---- types ---- */

static bool same_tensor_type(const cq_onnx_tensor_type *a, const cq_onnx_tensor_type *b)
{
    bool same = a->elem_type == b->elem_type && !a->shape == !b->shape;

    if (!same || !a->shape)
        return same;
    same = a->shape->dim.n == b->shape->dim.n;
    for (uint32_t i = 0; same && i < a->shape->dim.n; i++) {
        const cq_onnx_dim *x = a->shape->dim.items[i], *y = b->shape->dim.items[i];

        same = cq_onnx_has(x, CQ_ONNX_DIM_VALUE) == cq_onnx_has(y, CQ_ONNX_DIM_VALUE) &&
               x->dim_value == y->dim_value;
    }
    return same;
}

static bool same_element(const cq_onnx_element_type *a, const cq_onnx_element_type *b)
{
    return a && b && cq_diff_same_type(a->elem_type, b->elem_type);
}

/* The decoder limits the depth of recursion. */
bool cq_diff_same_type(const cq_onnx_type *a, const cq_onnx_type *b)
{
    if (!a || !b)
        return a == b;
    if (a->tensor_type)
        return b->tensor_type && same_tensor_type(a->tensor_type, b->tensor_type);
    if (a->sparse_tensor_type)
        return b->sparse_tensor_type &&
               same_tensor_type(a->sparse_tensor_type, b->sparse_tensor_type);
    if (a->sequence_type)
        return same_element(a->sequence_type, b->sequence_type);
    if (a->optional_type)
        return same_element(a->optional_type, b->optional_type);
    if (a->map_type)
        return b->map_type && a->map_type->key_type == b->map_type->key_type &&
               cq_diff_same_type(a->map_type->value_type, b->map_type->value_type);
    return !a->opaque_type == !b->opaque_type && !b->tensor_type;
}

/* ---- attributes ---- */

static bool keep(void *user, const char *text, size_t size)
{
    cq_str_add_n(user, text, size);
    return true;
}

/* The text of an attribute's value, without its name. */
static cq_status value_text(cq_str *out, const cq_onnx_attribute *a)
{
    cq_onnx_attribute  copy    = *a;
    cq_onnx_attribute *items[] = { &copy };
    cq_onnx_attributes list    = { items, 1, 1 };
    cq_text_printer    p       = { .write = keep, .user = out };
    cq_status          status;

    copy.name       = "";
    copy.doc_string = NULL;
    status          = cq_text_add_attributes(&p, &list);
    cq_str_add_n(out, cq_str_text(&p.s), p.s.len);
    cq_str_clear(&p.s);
    return status == CQ_OK ? out->status : status;
}

static void add_cut(cq_str *s, const cq_str *text)
{
    const char *value = strstr(cq_str_text(text), " = ");

    value = value ? value + 3 : cq_str_text(text);
    cq_str_printf(s, "%.*s%s", MOST_CHARS, value, strlen(value) > MOST_CHARS ? "…" : "");
}

static cq_status compare_texts(cq_str *why, const cq_onnx_attribute *a, const cq_onnx_attribute *b)
{
    cq_str    x = { 0 }, y = { 0 };
    cq_status status = value_text(&x, a);

    if (status == CQ_OK)
        status = value_text(&y, b);
    if (status == CQ_OK && (x.len != y.len || memcmp(x.text, y.text, x.len) != 0)) {
        cq_str_add(why, "is ");
        add_cut(why, &x);
        cq_str_add(why, " in A and ");
        add_cut(why, &y);
        cq_str_add(why, " in B");
    }
    cq_str_clear(&x);
    cq_str_clear(&y);
    return status;
}

cq_status cq_diff_attributes(cq_str *why, const cq_diff *d, const cq_onnx_attribute *a,
                             const cq_onnx_attribute *b)
{
    if (a->type == CQ_ONNX_ATTR_TENSOR && b->type == CQ_ONNX_ATTR_TENSOR && a->t && b->t)
        return cq_diff_tensors(why, d, a->t, b->t);
    if (a->tensors.n && a->tensors.n == b->tensors.n) {
        for (uint32_t i = 0; i < a->tensors.n && !why->len; i++)
            CQ_TRY(cq_diff_tensors(why, d, a->tensors.items[i], b->tensors.items[i]));
        return CQ_OK;
    }
    return compare_texts(why, a, b);
}
