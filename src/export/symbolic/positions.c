/* Ranges of numbers and parts of tensors, for all opsets. */
#include "export/symbolic/positions.h"

bool cq_sym_same_sizes(const cq_value *v, const cq_int *sizes, size_t n)
{
    if (!v || v->type.kind != CQ_TYPE_TENSOR || v->type.rank != (int)n)
        return false;
    for (size_t i = 0; i < n; i++)
        if (!cq_int_same(v->type.sizes[i], sizes[i]))
            return false;
    return true;
}

cq_value *cq_sym_op1(cq_sym *s, const char *op, cq_value *x)
{
    return cq_sym_op(s, op, CQ_IN(x), CQ_NO_ATTR);
}

cq_value *cq_sym_op2(cq_sym *s, const char *op, cq_value *a, cq_value *b)
{
    return cq_sym_op(s, op, CQ_IN(a, b), CQ_NO_ATTR);
}

cq_int cq_sym_numel(cq_sym *s, const cq_value *x)
{
    cq_int n = cq_i(1);

    for (int i = 0; i < cq_sym_rank(s, x); i++)
        n = cq_int_mul(CQ_SYMBOLS(s), n, cq_sym_size(s, x, i));
    return n;
}

cq_value *cq_sym_with_dims(cq_sym *s, cq_value *x)
{
    int64_t zero = 0;

    return x && cq_sym_rank(s, x) == 0 ? cq_sym_unsqueeze(s, x, &zero, 1) : x;
}

cq_value *cq_sym_flat(cq_sym *s, cq_value *x)
{
    cq_int n = cq_sym_numel(s, x);

    return cq_sym_rank(s, x) == 1 ? x : cq_sym_reshape(s, x, &n, 1);
}

cq_value *cq_sym_in_sizes_of(cq_sym *s, cq_value *x, size_t result)
{
    cq_type type = cq_sym_result_type(s, result);

    return cq_sym_same_sizes(x, type.sizes, (size_t)type.rank)
               ? x
               : cq_sym_reshape(s, x, type.sizes, (size_t)type.rank);
}

cq_value *cq_sym_ints_op(cq_sym *s, const char *op, cq_value *a, cq_value *b)
{
    cq_value *v = cq_sym_op(s, op, CQ_IN(a, b), CQ_NO_ATTR);

    cq_sym_set_dtype(s, v, CQ_DTYPE_I64);
    return v;
}

static cq_value *row(cq_sym *s, cq_value *v, cq_int n)
{
    cq_sym_set_type(s, v, CQ_DTYPE_I64, 1, &n);
    return v;
}

static cq_value *plain_places(cq_sym *s, int64_t start, int64_t n, int64_t step)
{
    cq_tensor *t = NULL;
    cq_value  *v;

    if (s->status != CQ_OK ||
        cq_sym_fail(s, cq_tensor_new_uninit(&t, CQ_DTYPE_I64, 1, &n)) != CQ_OK)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        ((int64_t *)cq_tensor_data(t))[i] = start + i * step;
    v = cq_sym_const(s, t);
    cq_tensor_release(t);
    return v;
}

/* NonZero counts the elements of a tensor of ones. */
static cq_value *counted_ones(cq_sym *s, cq_value *n)
{
    int64_t    one = 1, axis = 0;
    cq_tensor *ones = NULL;
    cq_value  *v;

    if (s->status != CQ_OK || cq_sym_fail(s, cq_tensor_new(&ones, CQ_DTYPE_I64, 1, &one, &one)))
        return NULL;
    v = cq_sym_op(s, "ConstantOfShape", CQ_IN(cq_sym_reshape_i64(s, n, &one, 1)),
                  CQ_ATTR(cq_attr_t("value", ones)));
    cq_tensor_release(ones);
    return cq_sym_squeeze(s, cq_sym_op1(s, "NonZero", v), &axis, 1);
}

/* A Loop provides the iteration number. It must carry a value, which is constant here. */
static cq_value *counted_rounds(cq_sym *s, cq_value *n)
{
    int64_t   one    = 1;
    cq_value *out[2] = { NULL }, *round, *more, *carried;

    cq_sym_op_n(s, "Loop",
                CQ_IN(cq_sym_reshape_i64(s, n, &one, 1), cq_sym_const_f64(s, CQ_DTYPE_BOOL, 1),
                      cq_sym_const_i64(s, 0)),
                CQ_NO_ATTR, out, 2);
    cq_sym_graph_begin(s, out[0], "body");
    round   = cq_sym_graph_input(s, CQ_DTYPE_I64, 0);
    more    = cq_sym_graph_input(s, CQ_DTYPE_BOOL, 0);
    carried = cq_sym_graph_input(s, CQ_DTYPE_I64, 0);
    cq_sym_graph_end(s, 3,
                     (cq_value *[]){ cq_sym_op1(s, "Identity", more),
                                     cq_sym_op1(s, "Identity", carried),
                                     cq_sym_op1(s, "Identity", round) });
    return out[1];
}

/* Range came with opset 11, and NonZero with 9. */
cq_value *cq_sym_count_to(cq_sym *s, cq_value *n)
{
    const int opset = cq_sym_opset(s);
    cq_value *v     = opset >= 11  ? cq_sym_op(s, "Range",
                                               CQ_IN(cq_sym_const_i64(s, 0), n, cq_sym_const_i64(s, 1)),
                                               CQ_NO_ATTR)
                      : opset >= 9 ? counted_ones(s, n)
                                   : counted_rounds(s, n);

    cq_sym_set_dtype(s, v, CQ_DTYPE_I64);
    return v;
}

cq_value *cq_sym_iota(cq_sym *s, cq_int n)
{
    return n.expr ? row(s, cq_sym_count_to(s, cq_sym_of_int(s, n)), n)
                  : plain_places(s, 0, n.value, 1);
}

cq_value *cq_sym_positions(cq_sym *s, cq_int start, cq_int n, int64_t step)
{
    cq_value *v;

    if (!n.expr && !start.expr)
        return plain_places(s, start.value, n.value, step);
    v = cq_sym_iota(s, n);
    if (step != 1)
        v = cq_sym_ints_op(s, "Mul", v, cq_sym_const_i64(s, step));
    if (!cq_int_is(start, 0))
        v = cq_sym_ints_op(s, "Add", v, cq_sym_of_int(s, start));
    return row(s, v, n);
}

/* ---- indices ---- */

static cq_value *constant_from_begin(cq_sym *s, const cq_tensor *t, int64_t size)
{
    cq_tensor *to = NULL;
    cq_value  *v;
    int64_t    n = cq_tensor_numel(t);

    if (cq_sym_fail(s, cq_tensor_clone(&to, t, CQ_DTYPE_I64)) != CQ_OK)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        if (((int64_t *)cq_tensor_data(to))[i] < 0)
            ((int64_t *)cq_tensor_data(to))[i] += size;
    v = cq_sym_const(s, to);
    cq_tensor_release(to);
    return v;
}

static bool has_negative(const cq_tensor *t)
{
    for (int64_t i = 0; i < cq_tensor_numel(t); i++)
        if (cq_tensor_get_i64(t, i) < 0)
            return true;
    return false;
}

cq_value *cq_sym_from_begin(cq_sym *s, cq_value *index, cq_int size, bool since_11_as_is)
{
    cq_tensor *data = cq_sym_data(index);
    cq_value  *less, *v;
    bool       early = cq_sym_opset(s) < 9; /* no Where, and Less is of floats */

    if (s->status != CQ_OK || (since_11_as_is && cq_sym_opset(s) >= 11))
        return index;
    if (data && !has_negative(data))
        return cq_sym_cast(s, index, CQ_DTYPE_I64);
    if (data && !size.expr)
        return constant_from_begin(s, data, size.value);
    index = cq_sym_cast(s, index, CQ_DTYPE_I64);
    less  = cq_sym_op(s, "Less",
                      CQ_IN(early ? cq_sym_cast(s, index, CQ_DTYPE_F32) : index,
                            cq_sym_const_f64(s, early ? CQ_DTYPE_F32 : CQ_DTYPE_I64, 0)),
                      CQ_NO_ATTR);
    cq_sym_set_dtype(s, less, CQ_DTYPE_BOOL);
    if (early)
        v = cq_sym_ints_op(
            s, "Add", index,
            cq_sym_ints_op(s, "Mul", cq_sym_cast(s, less, CQ_DTYPE_I64), cq_sym_of_int(s, size)));
    else
        v = cq_sym_op(s, "Where",
                      CQ_IN(less, cq_sym_ints_op(s, "Add", index, cq_sym_of_int(s, size)), index),
                      CQ_NO_ATTR);
    if (v && index)
        v->type = index->type;
    return v;
}

/* ---- parts ---- */

/* Before Expand, Tile is used if the repeats are known. */
cq_value *cq_sym_expand_any(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n)
{
    int    rank = cq_sym_rank(s, x);
    cq_int shape[CQ_MAX_RANK], times[CQ_MAX_RANK];
    size_t lead = n - (size_t)rank;

    /* ONNX Runtime's optimizers remove an Expand to zero elements as if it had no effect. */
    for (int i = 0; i < rank && s->status == CQ_OK; i++)
        if (cq_int_is(sizes[lead + (size_t)i], 0) && !cq_int_is(x->type.sizes[i], 0))
            x = cq_sym_slice(s, x, i, cq_i(0), cq_i(0), 1);
    if (s->status != CQ_OK || cq_sym_same_sizes(x, sizes, n))
        return x;
    if (cq_sym_opset(s) >= 8)
        return cq_sym_expand(s, x, sizes, n);
    for (size_t i = 0; i < n; i++) {
        shape[i] = i < lead ? cq_i(1) : x->type.sizes[i - lead];
        times[i] = cq_int_is(shape[i], 1) ? sizes[i] : cq_i(1);
    }
    if (lead)
        x = cq_sym_reshape(s, x, shape, n);
    x = cq_sym_op(s, "Tile", CQ_IN(x, cq_sym_of_ints(s, times, n)), CQ_NO_ATTR);
    return x;
}

cq_value *cq_sym_scatter(cq_sym *s, cq_value *x, int axis, cq_value *index, cq_value *src,
                         const char *reduction)
{
    cq_value *v;

    if (reduction && !cq_sym_since(s, 16, "a reduction while scattering requires opset 16"))
        return NULL;
    if (!cq_sym_since(s, 9, "Scatter requires opset 9"))
        return NULL;
    v = cq_sym_op(s, cq_sym_opset(s) < 11 ? "Scatter" : "ScatterElements",
                  CQ_IN(x, cq_sym_from_begin(s, index, cq_sym_size(s, x, axis), true), src),
                  CQ_ATTR(cq_attr_i("axis", axis),
                          reduction ? cq_attr_s("reduction", reduction) : (cq_attr){ 0 }));
    cq_sym_set_type_of(v, x);
    return v;
}

static cq_value *value_in(const cq_node *n, size_t i)
{
    return i < n->n_inputs && n->inputs[i].kind == CQ_OPERAND_VALUE ? n->inputs[i].u.value : NULL;
}

static bool is_run(const cq_tensor *t)
{
    for (int64_t i = 1, n = cq_tensor_numel(t); i < n; i++)
        if (cq_tensor_get_i64(t, i) != cq_tensor_get_i64(t, i - 1) + 1)
            return false;
    return true;
}

/* The first of consecutive numbers: a single one, constants, a Range by one, or one of these moved
 * by a number. NULL: index may be something else. */
static cq_value *first_of_run(cq_sym *s, cq_value *index, int depth)
{
    const cq_node   *n    = index->node;
    const cq_tensor *data = cq_sym_data(index);
    cq_value        *first, *by;

    if (index->type.rank == 1 && cq_int_is(index->type.sizes[0], 1))
        return index;
    if (data)
        return cq_tensor_numel(data) && is_run(data)
                   ? cq_sym_const_f64(s, CQ_DTYPE_I64, (double)cq_tensor_get_i64(data, 0))
                   : NULL;
    if (!n || depth > 4)
        return NULL;
    if (strcmp(n->op, "onnx::Range") == 0) {
        data = cq_sym_data(value_in(n, 2));
        return data && cq_tensor_get_i64(data, 0) == 1 ? value_in(n, 0) : NULL;
    }
    for (size_t i = 0; i < 2 && strcmp(n->op, "onnx::Add") == 0; i++) {
        by    = value_in(n, 1 - i);
        first = by->type.rank == 0 ? first_of_run(s, value_in(n, i), depth + 1) : NULL;
        data  = first ? cq_sym_data(first) : NULL;
        if (data && cq_tensor_get_i64(data, 0) == 0)
            return by;
        if (first)
            return cq_sym_ints_op(s, "Add", first, by);
    }
    return NULL;
}

/* Caches of keys and values: consecutive slices, at the same index for the whole batch. */
static cq_value *write_run(cq_sym *s, cq_value *x, int axis, cq_value *first, cq_value *src)
{
    cq_value *v, *batch;

    if (strcmp(s->op->schema->name, "aten::index_copy") != 0) /* which takes no negative ones */
        first = cq_sym_from_begin(s, first, cq_sym_size(s, x, axis), false);
    batch = cq_sym_expand_any(s, first, x->type.sizes, 1);
    v     = cq_sym_op(s, "TensorScatter", CQ_IN(x, src, batch), CQ_ATTR(cq_attr_i("axis", axis)));
    cq_sym_set_type_of(v, x);
    return v;
}

cq_value *cq_sym_write_slices(cq_sym *s, cq_value *x, int axis, cq_value *index, cq_value *src)
{
    int64_t   others[CQ_MAX_RANK], one = 1;
    cq_int    sizes[CQ_MAX_RANK];
    cq_value *v;
    int       rank = cq_sym_rank(s, x);
    size_t    n    = 0;

    if (s->status != CQ_OK)
        return NULL;
    v = axis > 0 && cq_sym_opset(s) >= 24 ? first_of_run(s, index, 0) : NULL;
    if (v)
        return write_run(s, x, axis, v, src);
    if (axis == 0 && cq_sym_opset(s) >= 11) {
        v = cq_sym_op(s, "ScatterND", CQ_IN(x, cq_sym_unsqueeze(s, index, &one, 1), src),
                      CQ_NO_ATTR);
        cq_sym_set_type_of(v, x);
        return v;
    }
    for (int i = 0; i < rank; i++) {
        sizes[i] = i == axis ? cq_sym_size(s, index, 0) : x->type.sizes[i];
        if (i != axis)
            others[n++] = i;
    }
    index = n ? cq_sym_unsqueeze(s, index, others, n) : index;
    return cq_sym_scatter(s, x, axis, cq_sym_expand_any(s, index, sizes, (size_t)rank), src, NULL);
}
