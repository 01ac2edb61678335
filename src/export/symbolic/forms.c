/* Operators that changed their form between opsets: attributes that became inputs, types that came
 * later. Symbolic functions call them for all opsets. */
#include "export/exporter.h"

static cq_value *with_type(cq_sym *s, cq_value *v, cq_value *like, size_t rank, const cq_int *sizes)
{
    if (v && like && like->type.kind == CQ_TYPE_TENSOR)
        cq_sym_set_type(s, v, like->type.dtype, rank, sizes);
    return v;
}

/* v has the dtype of another; its sizes are inferred later if possible. */
static cq_value *with_dtype(cq_sym *s, cq_value *v, const cq_value *like)
{
    if (v && like && like->type.kind == CQ_TYPE_TENSOR)
        cq_sym_set_dtype(s, v, like->type.dtype);
    return v;
}

static bool ranked(const cq_value *x)
{
    return x && x->type.kind == CQ_TYPE_TENSOR && x->type.rank >= 0;
}

static bool has_dtype(const cq_sym *s, cq_dtype dtype)
{
    return cq_dtype_since(dtype) <= cq_sym_opset(s);
}

static cq_value *needs_dtype(cq_sym *s, cq_dtype dtype)
{
    cq_sym_no(s, cq_dtype_since(dtype), "%s requires opset %d", cq_dtype_name(dtype),
              cq_dtype_since(dtype));
    return NULL;
}

/* A constant of a dtype that the opset does not have, in one that it has. */
static cq_value *converted(cq_sym *s, const cq_value *x, cq_dtype dtype)
{
    cq_tensor *t = NULL;
    cq_value  *v = NULL;

    if (cq_tensor_clone(&t, cq_sym_data(x), dtype) == CQ_OK)
        v = cq_sym_const(s, t);
    cq_tensor_release(t);
    return v;
}

cq_value *cq_sym_cast(cq_sym *s, cq_value *x, cq_dtype dtype)
{
    CQ_NEED_ELSE(s, NULL);
    cq_value *v;

    if (s->status != CQ_OK || !x || cq_sym_dtype(s, x) == dtype)
        return x;
    if ((dtype == CQ_DTYPE_BF16 || cq_sym_dtype(s, x) == CQ_DTYPE_BF16) &&
        !cq_sym_since(s, 13, "bfloat16 requires opset 13"))
        return NULL;
    if (!has_dtype(s, dtype) || (!has_dtype(s, cq_sym_dtype(s, x)) && !cq_sym_data(x)))
        return needs_dtype(s, has_dtype(s, dtype) ? cq_sym_dtype(s, x) : dtype);
    if (!has_dtype(s, cq_sym_dtype(s, x)))
        return converted(s, x, dtype);
    v = cq_sym_op(s, "Cast", CQ_IN(x), CQ_ATTR(cq_attr_i("to", cq_dtype_to_onnx(dtype))));
    if (v) {
        v->type = x->type;
        if (v->type.kind != CQ_TYPE_TENSOR)
            v->type = (cq_type){ .kind = CQ_TYPE_TENSOR,
                                 .rank = x->type.kind == CQ_TYPE_UNKNOWN ? -1 : 0 };
        v->type.dtype = dtype;
    }
    return v;
}

/* An operator whose axes are an attribute before `since` and an input from then on. */
static cq_value *with_axes(cq_sym *s, const char *op, cq_value *x, const int64_t *axes, size_t n,
                           int since, cq_attr extra)
{
    if (cq_sym_opset(s) < since)
        return cq_sym_op(s, op, CQ_IN(x),
                         CQ_ATTR(n ? cq_attr_is(s, "axes", axes, n) : (cq_attr){ 0 }, extra));
    return cq_sym_op(s, op, CQ_IN(x, n ? cq_sym_const_i64s(s, axes, n) : NULL), CQ_ATTR(extra));
}

static bool is_among(int64_t axis, const int64_t *axes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (axes[i] == axis)
            return true;
    return false;
}

cq_value *cq_sym_unsqueeze(cq_sym *s, cq_value *x, const int64_t *axes, size_t n)
{
    cq_value *v = with_dtype(s, with_axes(s, "Unsqueeze", x, axes, n, 13, (cq_attr){ 0 }), x);
    cq_int    sizes[CQ_MAX_RANK];
    size_t    from = 0;

    if (v && ranked(x) && (size_t)x->type.rank + n <= CQ_MAX_RANK) {
        for (size_t i = 0; i < (size_t)x->type.rank + n; i++)
            sizes[i] = is_among((int64_t)i, axes, n) ? cq_i(1) : x->type.sizes[from++];
        with_type(s, v, x, (size_t)x->type.rank + n, sizes);
    }
    return v;
}

cq_value *cq_sym_squeeze(cq_sym *s, cq_value *x, const int64_t *axes, size_t n)
{
    cq_value *v = with_dtype(s, with_axes(s, "Squeeze", x, axes, n, 13, (cq_attr){ 0 }), x);
    cq_int    sizes[CQ_MAX_RANK];
    size_t    rank = 0;

    if (v && ranked(x)) {
        for (int i = 0; i < x->type.rank; i++)
            if (!is_among(i, axes, n))
                sizes[rank++] = x->type.sizes[i];
        with_type(s, v, x, rank, sizes);
    }
    return v;
}

cq_value *cq_sym_reduce(cq_sym *s, const char *op, cq_value *x, const int64_t *axes, size_t n,
                        bool keepdims)
{
    /* ReduceSum took its axes as an input in 13, the others in 18. */
    cq_value *v = with_axes(s, op, x, axes, n, strcmp(op, "ReduceSum") == 0 ? 13 : 18,
                            cq_attr_i("keepdims", keepdims));
    cq_int    sizes[CQ_MAX_RANK];
    size_t    rank = 0;

    with_dtype(s, v, x);
    if (v && ranked(x)) {
        for (int i = 0; i < x->type.rank; i++) {
            if (n && !is_among(i, axes, n))
                sizes[rank++] = x->type.sizes[i];
            else if (keepdims)
                sizes[rank++] = cq_i(1);
        }
        with_type(s, v, x, rank, sizes);
    }
    return v;
}

cq_value *cq_sym_transpose(cq_sym *s, cq_value *x, const int64_t *perm, size_t n)
{
    cq_value *v = cq_sym_op(s, "Transpose", CQ_IN(x), CQ_ATTR(cq_attr_is(s, "perm", perm, n)));
    cq_int    sizes[CQ_MAX_RANK];

    with_dtype(s, v, x);
    if (v && ranked(x) && (size_t)x->type.rank == n) {
        for (size_t i = 0; i < n; i++)
            sizes[i] = x->type.sizes[perm[i]];
        with_type(s, v, x, n, sizes);
    }
    return v;
}

cq_value *cq_sym_swap_dims(cq_sym *s, cq_value *x, int a, int b)
{
    int     rank = cq_sym_rank(s, x);
    int64_t perm[CQ_MAX_RANK];

    if (s->status != CQ_OK || a == b)
        return x;
    for (int i = 0; i < rank; i++)
        perm[i] = i == a ? b : i == b ? a : i;
    return cq_sym_transpose(s, x, perm, (size_t)rank);
}

cq_value *cq_sym_reshape_i64(cq_sym *s, cq_value *x, const int64_t *shape, size_t n)
{
    return with_dtype(
        s, cq_sym_op(s, "Reshape", CQ_IN(x, cq_sym_const_i64s(s, shape, n)), CQ_NO_ATTR), x);
}

/* A tensor without elements, whose sizes Reshape cannot express before opset 14. */
static cq_value *empty_of(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n)
{
    cq_dtype   dtype = cq_sym_dtype(s, x);
    int64_t    plain[CQ_MAX_RANK];
    bool       fixed = true;
    cq_tensor *t     = NULL;
    cq_value  *v     = NULL;

    for (size_t i = 0; i < n; i++) {
        plain[i] = sizes[i].value;
        fixed &= !sizes[i].expr;
    }
    if (!fixed && cq_sym_opset(s) < 9)
        cq_sym_no(s, 9, "an empty tensor of dynamic sizes requires opset 9");
    else if (!fixed)
        v = cq_sym_cast(
            s, cq_sym_op(s, "ConstantOfShape", CQ_IN(cq_sym_of_ints(s, sizes, n)), CQ_NO_ATTR),
            dtype);
    else if (cq_sym_fail(s, cq_tensor_new(&t, dtype, n, plain, NULL)) == CQ_OK)
        v = cq_sym_const(s, t);
    cq_tensor_release(t);
    return v;
}

/* One unknown size can be -1, and a size that the input has at the same axis can be 0, so most
 * reshapes need no arithmetic on shapes. */
cq_value *cq_sym_reshape(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n)
{
    int64_t   shape[CQ_MAX_RANK];
    size_t    unknown = 0, free_axis = 0;
    bool      zero = false;
    cq_value *v;

    if (s->status != CQ_OK || n > CQ_MAX_RANK)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        shape[i] = sizes[i].value;
        zero |= cq_int_is(sizes[i], 0);
        if (!sizes[i].expr)
            continue;
        shape[i] = 0;
        if (!(ranked(x) && i < (size_t)x->type.rank && cq_int_same(x->type.sizes[i], sizes[i]))) {
            unknown++;
            free_axis = i;
        }
    }
    if (unknown == 1 && !zero)
        shape[free_axis] = -1;
    if (unknown <= 1 && (!zero || unknown == 0)) {
        /* A size that really is 0 would be read as "as in the input". */
        bool copies = true;

        for (size_t i = 0; i < n; i++)
            copies &= !cq_int_is(sizes[i], 0) ||
                      (ranked(x) && i < (size_t)x->type.rank && cq_int_is(x->type.sizes[i], 0));
        if (copies) {
            v = cq_sym_reshape_i64(s, x, shape, n);
            return with_type(s, v, x, n, sizes);
        }
    }
    if (zero && cq_sym_opset(s) < 14)
        return with_type(s, empty_of(s, x, sizes, n), x, n, sizes);
    v = cq_sym_op(s, "Reshape", CQ_IN(x, cq_sym_of_ints(s, sizes, n)),
                  CQ_ATTR(zero ? cq_attr_i("allowzero", 1) : (cq_attr){ 0 }));
    return with_type(s, v, x, n, sizes);
}

cq_value *cq_sym_expand(cq_sym *s, cq_value *x, const cq_int *sizes, size_t n)
{
    cq_value *v;

    if (!cq_sym_since(s, 8, "Expand requires opset 8"))
        return NULL;
    if (cq_sym_dtype(s, x) == CQ_DTYPE_BF16) /* ONNX Runtime has no kernel for it */
        return cq_sym_cast(s, cq_sym_expand(s, cq_sym_cast(s, x, CQ_DTYPE_F32), sizes, n),
                           CQ_DTYPE_BF16);
    v = cq_sym_op(s, "Expand", CQ_IN(x, cq_sym_of_ints(s, sizes, n)), CQ_NO_ATTR);
    return with_type(s, v, x, n, sizes);
}

/* The size of start:end:step, if it is plain. */
static cq_int slice_size(cq_sym *s, cq_int size, cq_int start, cq_int end, int64_t step)
{
    cq_symbols *st = &s->ex->source->symbols;

    if (step != 1 || start.expr || end.expr || size.expr) {
        if (step == 1 && end.value == INT64_MAX && !start.expr && start.value >= 0)
            return cq_int_sub(st, size, start);
        return cq_i(-1);
    }
    if (start.value < 0)
        start.value += size.value;
    if (end.value < 0)
        end.value += size.value;
    start.value = start.value < 0 ? 0 : start.value > size.value ? size.value : start.value;
    end.value   = end.value > size.value ? size.value : end.value;
    return cq_i(end.value > start.value ? end.value - start.value : 0);
}

cq_value *cq_sym_slice(cq_sym *s, cq_value *x, int axis, cq_int start, cq_int end, int64_t step)
{
    int64_t   axis64 = axis;
    cq_value *v;

    if (cq_sym_opset(s) < 10) {
        if (start.expr || end.expr || step != 1) {
            cq_sym_no(s, 10, "a slice %s requires opset 10",
                      step != 1 ? "with steps" : "with dynamic bounds");
            return NULL;
        }
        v = cq_sym_op(s, "Slice", CQ_IN(x),
                      CQ_ATTR(cq_attr_is(s, "axes", &axis64, 1),
                              cq_attr_is(s, "starts", &start.value, 1),
                              cq_attr_is(s, "ends", &end.value, 1)));
    } else {
        v = cq_sym_op(s, "Slice",
                      CQ_IN(x, cq_sym_of_int_1d(s, start), cq_sym_of_int_1d(s, end),
                            cq_sym_const_i64s(s, &axis64, 1),
                            step != 1 ? cq_sym_const_i64s(s, &step, 1) : NULL),
                      CQ_NO_ATTR);
    }
    with_dtype(s, v, x);
    if (v && ranked(x)) {
        cq_int sizes[CQ_MAX_RANK];

        memcpy(sizes, x->type.sizes, (size_t)x->type.rank * sizeof *sizes);
        sizes[axis] = slice_size(s, sizes[axis], start, end, step);
        if (sizes[axis].value >= 0)
            with_type(s, v, x, (size_t)x->type.rank, sizes);
    }
    return v;
}

cq_value *cq_sym_concat(cq_sym *s, cq_value *const *xs, size_t n, int axis)
{
    cq_value *v = cq_sym_op(s, "Concat", xs, n, CQ_ATTR(cq_attr_i("axis", axis)));
    cq_int    sizes[CQ_MAX_RANK], total = cq_i(0);

    with_dtype(s, v, n ? xs[0] : NULL);
    if (!v || !ranked(xs[0]))
        return v;
    for (size_t i = 0; i < n; i++) {
        if (!ranked(xs[i]) || xs[i]->type.rank != xs[0]->type.rank)
            return v;
        total = cq_int_add(&s->ex->source->symbols, total, xs[i]->type.sizes[axis]);
    }
    memcpy(sizes, xs[0]->type.sizes, (size_t)xs[0]->type.rank * sizeof *sizes);
    sizes[axis] = total;
    return with_type(s, v, xs[0], (size_t)xs[0]->type.rank, sizes);
}

cq_value *cq_sym_gather(cq_sym *s, cq_value *x, cq_value *indices, int axis)
{
    cq_value *v = cq_sym_op(s, "Gather", CQ_IN(x, indices), CQ_ATTR(cq_attr_i("axis", axis)));
    cq_int    sizes[2 * CQ_MAX_RANK];
    size_t    rank = 0;

    with_dtype(s, v, x);
    if (!v || !ranked(x) || !ranked(indices))
        return v;
    for (int i = 0; i < x->type.rank; i++) {
        if (i != axis)
            sizes[rank++] = x->type.sizes[i];
        for (int k = 0; i == axis && k < indices->type.rank; k++)
            sizes[rank++] = indices->type.sizes[k];
    }
    return rank <= CQ_MAX_RANK ? with_type(s, v, x, rank, sizes) : v;
}

void cq_sym_split(cq_sym *s, cq_value *x, int axis, const int64_t *sizes, size_t n, cq_value **out)
{
    bool attribute = cq_sym_opset(s) < 13;

    cq_sym_op_n(s, "Split", CQ_IN(x, attribute ? NULL : cq_sym_const_i64s(s, sizes, n)),
                CQ_ATTR(cq_attr_i("axis", axis),
                        attribute ? cq_attr_is(s, "split", sizes, n) : (cq_attr){ 0 }),
                out, n);
    for (size_t i = 0; i < n; i++)
        if (out[i] && ranked(x)) {
            cq_int piece[CQ_MAX_RANK];

            memcpy(piece, x->type.sizes, (size_t)x->type.rank * sizeof *piece);
            piece[axis] = cq_i(sizes[i]);
            with_type(s, out[i], x, (size_t)x->type.rank, piece);
        }
}

/* Until opset 10 TopK finds only the largest elements, so elements are negated for the smallest;
 * until 9 k is an attribute. */
void cq_sym_topk(cq_sym *s, cq_value *x, cq_int k, int axis, bool largest, cq_value *out[2])
{
    bool      attribute = cq_sym_opset(s) < 10, can_say = cq_sym_opset(s) >= 11;
    bool      negate = !can_say && !largest;
    cq_value *key    = negate ? cq_sym_op(s, "Neg", CQ_IN(x), CQ_NO_ATTR) : x;
    cq_int    sizes[CQ_MAX_RANK];

    if (attribute && k.expr)
        cq_sym_no(s, 10, "a dynamic number of elements requires opset 10");
    cq_sym_op_n(s, "TopK", CQ_IN(key, attribute ? NULL : cq_sym_of_int_1d(s, k)),
                CQ_ATTR(cq_attr_i("axis", axis),
                        attribute ? cq_attr_i("k", k.value) : (cq_attr){ 0 },
                        can_say ? cq_attr_i("largest", largest) : (cq_attr){ 0 }),
                out, 2);
    if (out[0] && ranked(x)) {
        memcpy(sizes, x->type.sizes, (size_t)x->type.rank * sizeof *sizes);
        sizes[axis] = k;
        with_type(s, out[0], x, (size_t)x->type.rank, sizes);
        cq_sym_set_type(s, out[1], CQ_DTYPE_I64, (size_t)x->type.rank, sizes);
    } else if (out[0]) {
        cq_sym_set_dtype(s, out[0], cq_sym_dtype(s, x));
        cq_sym_set_dtype(s, out[1], CQ_DTYPE_I64);
    }
    if (negate)
        out[0] = cq_sym_op(s, "Neg", CQ_IN(out[0]), CQ_NO_ATTR);
}

cq_value *cq_sym_shape(cq_sym *s, cq_value *x)
{
    cq_value *v = cq_sym_op(s, "Shape", CQ_IN(x), CQ_NO_ATTR);

    if (v && ranked(x))
        cq_sym_set_type(s, v, CQ_DTYPE_I64, 1, &(cq_int){ x->type.rank, NULL });
    return v;
}

/* Clip has attributes until 10 (floats only), inputs since 11, and integers since 12. */
cq_value *cq_sym_clip(cq_sym *s, cq_value *x, cq_value *low, cq_value *high)
{
    cq_dtype  dtype = cq_sym_dtype(s, x);
    bool      cast  = !cq_dtype_is_float(dtype) && (cq_sym_opset(s) < 12 || dtype == CQ_DTYPE_I16);
    cq_value *v;

    if (s->status != CQ_OK)
        return NULL;
    if (cq_sym_opset(s) < 11) {
        cq_tensor *l = cq_sym_data(low), *h = cq_sym_data(high);

        if ((low && !l) || (high && !h)) {
            cq_sym_no(s, 11, "data-dependent bounds require opset 11");
            return NULL;
        }
        v = cq_sym_op(s, "Clip", CQ_IN(cast ? cq_sym_cast(s, x, CQ_DTYPE_F32) : x),
                      CQ_ATTR(l ? cq_attr_f("min", cq_tensor_get_f64(l, 0)) : (cq_attr){ 0 },
                              h ? cq_attr_f("max", cq_tensor_get_f64(h, 0)) : (cq_attr){ 0 }));
    } else {
        cq_dtype with = cast ? CQ_DTYPE_F32 : dtype;

        v = cq_sym_op(
            s, "Clip",
            CQ_IN(cq_sym_cast(s, x, with), cq_sym_cast(s, low, with), cq_sym_cast(s, high, with)),
            CQ_NO_ATTR);
    }
    return cast ? cq_sym_cast(s, v, dtype) : v;
}

cq_value *cq_sym_pad(cq_sym *s, cq_value *x, const char *mode, const int64_t *pads, size_t n,
                     cq_value *value)
{
    cq_value *v;

    if (cq_sym_opset(s) < 11) {
        cq_tensor *data = cq_sym_data(value);

        if (value && !data) {
            cq_sym_no(s, 11, "a data-dependent padding value requires opset 11");
            return NULL;
        }
        v = cq_sym_op(
            s, "Pad", CQ_IN(x),
            CQ_ATTR(cq_attr_s("mode", mode), cq_attr_is(s, "pads", pads, n),
                    data ? cq_attr_f("value", cq_tensor_get_f64(data, 0)) : (cq_attr){ 0 }));
    } else {
        v = cq_sym_op(s, "Pad", CQ_IN(x, cq_sym_const_i64s(s, pads, n), value),
                      CQ_ATTR(cq_attr_s("mode", mode)));
    }
    if (v && ranked(x) && n == 2 * (size_t)x->type.rank) {
        cq_symbols *table = &s->ex->source->symbols;
        cq_int      sizes[CQ_MAX_RANK];

        for (int i = 0; i < x->type.rank; i++)
            sizes[i] = cq_int_add(table, cq_int_add(table, x->type.sizes[i], cq_i(pads[i])),
                                  cq_i(pads[i + x->type.rank]));
        with_type(s, v, x, (size_t)x->type.rank, sizes);
    }
    return v;
}
