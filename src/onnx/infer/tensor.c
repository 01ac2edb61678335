/* Operators that create or describe tensors: constants, shapes, ranges, padding. */
#include "onnx/infer/elements.h"
#include "onnx/infer/internal.h"

#include <math.h>

/* ---- constants ---- */

static cq_status give_tensor(cq_rule *r, int32_t elem, const cq_onnx_ints *dims)
{
    cq_shape y;

    cq_rule_give_elem(r, 0, elem);
    if (dims->n > CQ_MAX_RANK)
        return CQ_OK;
    y.rank = dims->n;
    for (uint32_t i = 0; i < dims->n; i++)
        y.dims[i] = dims->items[i] >= 0 ? cq_dim_of(dims->items[i]) : cq_dim_unknown();
    return cq_rule_give(r, 0, &y);
}

static cq_status give_vector(cq_rule *r, int32_t elem, bool is_scalar, size_t n)
{
    cq_dim d = cq_dim_of((int64_t)n);

    cq_rule_give_elem(r, 0, elem);
    return cq_rule_give_dims(r, 0, is_scalar ? 0 : 1, &d);
}

/* A Constant has exactly one of several attributes. */
static cq_status constant(cq_rule *r)
{
    static const struct {
        const char *name;
        int32_t     elem;
        bool        is_scalar;
    } forms[] = {
        { "value_int", CQ_ONNX_INT64, true },     { "value_ints", CQ_ONNX_INT64, false },
        { "value_float", CQ_ONNX_FLOAT, true },   { "value_floats", CQ_ONNX_FLOAT, false },
        { "value_string", CQ_ONNX_STRING, true }, { "value_strings", CQ_ONNX_STRING, false },
    };
    const cq_onnx_attribute *a = cq_rule_attr(r, "value");

    if (a && a->t)
        return give_tensor(r, a->t->data_type, &a->t->dims);
    a = cq_rule_attr(r, "sparse_value");
    if (a && a->sparse_tensor && a->sparse_tensor->values)
        return give_tensor(r, a->sparse_tensor->values->data_type, &a->sparse_tensor->dims);
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        a = cq_rule_attr(r, forms[i].name);
        if (a)
            return give_vector(r, forms[i].elem, forms[i].is_scalar,
                               forms[i].elem == CQ_ONNX_INT64   ? a->ints.n
                               : forms[i].elem == CQ_ONNX_FLOAT ? a->floats.n
                                                                : a->strings.n);
    }
    return r->node->attribute.n ? CQ_OK : cq_rule_fail(r, "the Constant has no value");
}

static cq_ielem element_of(double x)
{
    if (x == floor(x) && fabs(x) <= 9007199254740992.0)
        return cq_ielem_int(cq_i((int64_t)x));
    return (cq_ielem){ .kind = CQ_INUM_REAL, .r = x };
}

static cq_status constant_data(cq_rule *r)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, "value");
    cq_idata                *out;

    if (a && a->t)
        return cq_idata_read(&r->out_data[0], r->infer, a->t) == CQ_E_NO_MEMORY ? CQ_E_NO_MEMORY
                                                                                : CQ_OK;
    if ((a = cq_rule_attr(r, "value_int")) && (out = cq_rule_new_data(r, 0, 1)))
        out->items[0] = cq_ielem_int(cq_i(a->i));
    if ((a = cq_rule_attr(r, "value_float")) && (out = cq_rule_new_data(r, 0, 1)))
        out->items[0] = element_of((double)a->f);
    if ((a = cq_rule_attr(r, "value_ints")) && (out = cq_rule_new_data(r, 0, a->ints.n)))
        for (uint32_t i = 0; i < a->ints.n; i++)
            out->items[i] = cq_ielem_int(cq_i(a->ints.items[i]));
    if ((a = cq_rule_attr(r, "value_floats")) && (out = cq_rule_new_data(r, 0, a->floats.n)))
        for (uint32_t i = 0; i < a->floats.n; i++)
            out->items[i] = element_of((double)a->floats.items[i]);
    return CQ_OK;
}

/* Sets the sizes of an output to the elements of an input; they are unknown if only their number is
 * known. */
static cq_status give_sizes(cq_rule *r, size_t output, size_t input)
{
    const cq_idata *data = cq_rule_data(r, input);
    const cq_itype *type = cq_rule_shaped(r, input);
    cq_dim          n    = type && type->rank == 1 ? type->dims[0] : cq_dim_unknown();
    cq_shape        y    = { .rank = 0 };

    if (data)
        n = cq_dim_of((int64_t)data->n);
    if (!cq_dim_is_plain(n) || n.size.value > CQ_MAX_RANK)
        return CQ_OK;
    y.rank = (size_t)n.size.value;
    for (size_t i = 0; data && i < y.rank; i++)
        y.dims[i] = cq_dim_of_ielem(data->items[i]);
    return cq_rule_give(r, output, &y);
}

static cq_status constant_of_shape(cq_rule *r)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, "value");

    cq_rule_give_elem(r, 0, a && a->t ? a->t->data_type : CQ_ONNX_FLOAT);
    CQ_TRY(cq_rule_need_list(r, 0));
    return give_sizes(r, 0, 0);
}

static cq_status constant_of_shape_data(cq_rule *r)
{
    const cq_onnx_attribute *a     = cq_rule_attr(r, "value");
    const cq_itype          *y     = &r->outputs[0];
    const cq_idata          *value = NULL;
    cq_idata                *out;

    if (!y->has_rank)
        return CQ_OK;
    if (a && a->t && cq_idata_read(&value, r->infer, a->t) == CQ_E_NO_MEMORY)
        return CQ_E_NO_MEMORY;
    if (a && (!value || value->n != 1))
        return CQ_OK;
    out = cq_rule_new_data(r, 0, cq_dims_numel(y->dims, y->rank));
    for (size_t i = 0; out && i < out->n; i++)
        out->items[i] = value ? value->items[0] : cq_ielem_int(cq_i(0));
    return CQ_OK;
}

static cq_status eye_like(cq_rule *r)
{
    int64_t dtype = cq_rule_int(r, "dtype", cq_rule_elem(r, 0));

    if (dtype > 0 && dtype < CQ_ONNX_DATA_TYPE_COUNT)
        cq_rule_give_elem(r, 0, (int32_t)dtype);
    return cq_rule_same(r);
}

/* ---- Shape and Size ---- */

/* The axes from start to end that Shape returns (all before opset 15). */
static void shape_range(const cq_rule *r, size_t rank, size_t *start, size_t *end)
{
    int64_t n = (int64_t)rank;
    int64_t a = cq_rule_int(r, "start", 0), b = cq_rule_int(r, "end", n);

    a      = a < 0 ? a + n : a;
    b      = b < 0 ? b + n : b;
    *start = (size_t)(a < 0 ? 0 : a > n ? n : a);
    *end   = (size_t)(b < 0 ? 0 : b > n ? n : b);
    if (*end < *start)
        *end = *start;
}

static cq_status shape(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_dim          n = cq_dim_unknown();
    size_t          start, end;

    if (x) {
        shape_range(r, x->rank, &start, &end);
        n = cq_dim_of((int64_t)(end - start));
    }
    return cq_rule_give_dims(r, 0, 1, &n);
}

static cq_status shape_data(cq_rule *r)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    cq_idata       *out;
    size_t          start, end;

    if (!x)
        return CQ_OK;
    shape_range(r, x->rank, &start, &end);
    out = cq_rule_new_data(r, 0, (int64_t)(end - start));
    for (size_t i = start; out && i < end; i++)
        out->items[i - start] = cq_ielem_of_dim(x->dims[i]);
    return CQ_OK;
}

static cq_status size(cq_rule *r)
{
    return cq_rule_give_dims(r, 0, 0, NULL);
}

static cq_status size_data(cq_rule *r)
{
    const cq_itype *x   = cq_rule_shaped(r, 0);
    cq_idata       *out = x ? cq_rule_new_data(r, 0, 1) : NULL;

    if (out)
        out->items[0] = cq_ielem_of_dim(cq_dims_product(r, x->dims, x->rank));
    return CQ_OK;
}

/* ---- Range ---- */

static double number(cq_ielem e)
{
    return e.kind == CQ_INUM_INT ? (double)e.i.value : e.r;
}

static cq_dim range_length(const cq_rule *r, cq_ielem start, cq_ielem limit, cq_ielem delta)
{
    bool ints = start.kind == CQ_INUM_INT && limit.kind == CQ_INUM_INT && delta.kind == CQ_INUM_INT;
    double n;

    if (delta.kind == CQ_INUM_INT && (delta.i.expr || delta.i.value == 0))
        return cq_dim_unknown();
    if (ints && (start.i.expr || limit.i.expr)) {
        cq_dim span = cq_dim_sub(r, cq_dim_of_ielem(limit), cq_dim_of_ielem(start));

        if (delta.i.value < 0)
            return cq_dim_unknown();
        if (span.known && !cq_int_is_size(span.size)) /* it may be empty */
            span = cq_dim_max(r, cq_dim_of(0), span);
        return cq_dim_ceildiv(r, span, delta.i.value);
    }
    n = ceil((number(limit) - number(start)) / number(delta));
    return fabs(n) < 9007199254740992.0 ? cq_dim_of(n > 0 ? (int64_t)n : 0) : cq_dim_unknown();
}

static cq_status range(cq_rule *r)
{
    cq_ielem start, limit, delta;
    cq_dim   n = cq_dim_unknown();

    if (cq_rule_scalar(r, 0, &start) && cq_rule_scalar(r, 1, &limit) &&
        cq_rule_scalar(r, 2, &delta))
        n = range_length(r, start, limit, delta);
    return cq_rule_give_dims(r, 0, 1, &n);
}

static cq_status range_data(cq_rule *r)
{
    const cq_itype *y = &r->outputs[0];
    cq_ielem        at, delta;
    cq_idata       *out;

    if (!y->has_rank || !cq_dim_is_plain(y->dims[0]) || !cq_rule_scalar(r, 0, &at) ||
        !cq_rule_scalar(r, 2, &delta) || at.kind != CQ_INUM_INT || delta.kind != CQ_INUM_INT)
        return CQ_OK;
    out = cq_rule_new_data(r, 0, y->dims[0].size.value);
    for (size_t i = 0; out && i < out->n; i++) {
        out->items[i] = at;
        at            = cq_ielem_add(r, at, delta);
    }
    return CQ_OK;
}

/* ---- Pad ---- */

/* Padding before and after each axis: an attribute with two names in old versions, later an input;
 * since opset 18 for selected axes. */
static cq_status pad(cq_rule *r)
{
    const cq_itype     *x    = cq_rule_shaped(r, 0);
    const cq_onnx_ints *ints = cq_rule_ints(r, "pads");
    const cq_idata     *data = cq_rule_data(r, 1);
    int64_t             axes[CQ_MAX_RANK];
    size_t              n_axes, n;
    cq_given            given;
    cq_shape            y;

    if (!x)
        return CQ_OK;
    if (!ints)
        ints = cq_rule_ints(r, "paddings");
    cq_shape_of(&y, x);
    given = cq_rule_list(r, "", 3, axes, &n_axes, CQ_MAX_RANK);
    if (given == CQ_GIVEN_UNKNOWN || (!ints && !data)) {
        for (size_t i = 0; i < y.rank; i++)
            y.dims[i] = cq_dim_unknown();
        return cq_rule_give(r, 0, &y);
    }
    if (given == CQ_NOT_GIVEN)
        n_axes = x->rank;
    n = ints ? ints->n : data->n;
    if (n != 2 * n_axes)
        return cq_rule_fail(r, "%zu pads do not match %zu axes", n, n_axes);
    for (size_t i = 0; i < n_axes; i++) {
        size_t axis = i;

        if (given == CQ_GIVEN)
            CQ_TRY(cq_rule_axis(&axis, r, axes[i], x->rank));
        for (size_t k = i; k < n; k += n_axes)
            y.dims[axis] =
                cq_dim_add(r, y.dims[axis],
                           ints ? cq_dim_of(ints->items[k]) : cq_dim_of_ielem(data->items[k]));
    }
    return cq_rule_give(r, 0, &y);
}

const cq_rule_row cq_rules_tensor[] = {
    { "Constant", 1, constant, constant_data },
    { "ConstantOfShape", 1, constant_of_shape, constant_of_shape_data },
    { "EyeLike", 1, eye_like, NULL },
    { "Pad", 1, pad, NULL },
    { "Range", 1, range, range_data },
    { "Shape", 1, shape, shape_data },
    { "Size", 1, size, size_data },
    { NULL, 0, NULL, NULL },
};
