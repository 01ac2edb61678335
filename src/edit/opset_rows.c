/* One row for each version of an operator whose form or meaning differs from the version before.
 * Versions that only accept more types have no row: the schema of the target decides. */
#include "edit/opset.h"

#include "tensor/tensor.h"

#include <string.h>

/* ---- helpers ---- */

/* An axis counted from the front; false: the rank is unknown. */
static bool positive_axis(const cq_opset_change *c, const cq_onnx_node *n, int64_t *axis, int more)
{
    const int rank = cq_opset_rank(c, n->input.items[0]);

    if (*axis >= 0)
        return true;
    if (rank < 0)
        return false;
    *axis += rank + more;
    return *axis >= 0;
}

/* Before opset 11 axes are not negative. */
static bool axis_down(cq_opset_change *c, cq_onnx_node *n)
{
    int64_t axis = cq_opset_int(n, "axis", 0);

    if (axis >= 0)
        return true;
    if (!positive_axis(c, n, &axis, 0))
        return cq_opset_refuse(c, "a negative axis of a value of unknown rank");
    cq_opset_set_int(c, n, "axis", axis);
    return true;
}

static bool axes_down(cq_opset_change *c, cq_onnx_node *n)
{
    const cq_onnx_attribute *a    = cq_onnx_node_attr(n, "axes");
    const int                more = strcmp(n->op_type, "Unsqueeze") == 0 && a ? (int)a->ints.n : 0;
    int64_t                  axes[CQ_MAX_RANK];

    for (size_t i = 0; a && i < a->ints.n && i < CQ_MAX_RANK; i++) {
        axes[i] = a->ints.items[i];
        if (!positive_axis(c, n, &axes[i], more))
            return cq_opset_refuse(c, "a negative axis of a value of unknown rank");
    }
    if (a) {
        const size_t count = a->ints.n;

        cq_opset_drop_attr(n, "axes");
        cq_onnx_attr_ints(c->m, n, "axes", axes, count);
    }
    return true;
}

static bool drop_default(cq_opset_change *c, cq_onnx_node *n, const char *name, int64_t value)
{
    if (cq_onnx_node_attr(n, name) && cq_opset_int(n, name, value) != value)
        return cq_opset_refuse(c, "an attribute that the target does not have");
    cq_opset_drop_attr(n, name);
    return true;
}

/* A number that becomes an input of the type of the first one. */
static bool number_to_input(cq_opset_change *c, cq_onnx_node *n, const char *attr, size_t i)
{
    const cq_onnx_attribute *a = cq_onnx_node_attr(n, attr);
    cq_tensor               *t = NULL;
    const char              *name;

    if (!a)
        return true;
    if (cq_tensor_new(&t, CQ_DTYPE_F32, 0, NULL, &(float){ a->f }) != CQ_OK) {
        c->m->status = CQ_E_NO_MEMORY;
        return true;
    }
    name = cq_opset_tensor(c, attr, t);
    cq_tensor_release(t);
    cq_opset_set_input(c, n, i, name);
    cq_opset_drop_attr(n, attr);
    return true;
}

static bool input_to_number(cq_opset_change *c, cq_onnx_node *n, const char *attr, size_t i)
{
    cq_tensor *t;

    if (!cq_opset_has_input(n, i))
        return true;
    t = cq_opset_constant(c, n->input.items[i]);
    if (!t || cq_tensor_numel(t) != 1) {
        cq_tensor_release(t);
        return cq_opset_refuse(c, "an input is computed where the target expects an attribute");
    }
    cq_opset_drop_attr(n, attr);
    cq_onnx_attr_float(c->m, n, attr, (float)cq_tensor_get_f64(t, 0));
    cq_tensor_release(t);
    n->input.items[i] = "";
    return true;
}

/* ---- lists that became inputs ---- */

static bool axes_up(cq_opset_change *c, cq_onnx_node *n)
{
    return cq_opset_ints_to_input(c, n, "axes", 1);
}

static bool axes_input_down(cq_opset_change *c, cq_onnx_node *n)
{
    return cq_opset_input_to_ints(c, n, "axes", 1);
}

static bool reduce_down(cq_opset_change *c, cq_onnx_node *n)
{
    const bool noop = cq_opset_int(n, "noop_with_empty_axes", 0);

    if (noop && !cq_opset_has_input(n, 1)) {
        n->op_type = "Identity";
        cq_opset_drop_attr(n, "noop_with_empty_axes");
        cq_opset_drop_attr(n, "keepdims");
        return true;
    }
    cq_opset_drop_attr(n, "noop_with_empty_axes");
    return cq_opset_input_to_ints(c, n, "axes", 1);
}

static bool split_up(cq_opset_change *c, cq_onnx_node *n)
{
    return cq_opset_ints_to_input(c, n, "split", 1);
}

static bool split_down(cq_opset_change *c, cq_onnx_node *n)
{
    return cq_opset_input_to_ints(c, n, "split", 1);
}

static bool split_up_18(cq_opset_change *c, cq_onnx_node *n)
{
    if (!cq_opset_has_input(n, 1))
        cq_opset_set_int(c, n, "num_outputs", n->output.n);
    return true;
}

/* Until opset 13 parts without sizes are equal. num_outputs makes the last one smaller if need be;
 * along a dynamic axis the older operator fails then. */
static bool split_down_18(cq_opset_change *c, cq_onnx_node *n)
{
    const int64_t parts = cq_opset_int(n, "num_outputs", 0);
    const int64_t size  = cq_opset_size(c, n->input.items[0], cq_opset_int(n, "axis", 0));
    int64_t       sizes[64];

    cq_opset_drop_attr(n, "num_outputs");
    if (parts < 1 || size < 0 || size % parts == 0 || cq_opset_has_input(n, 1))
        return true;
    if (parts > (int64_t)(sizeof sizes / sizeof *sizes))
        return cq_opset_refuse(c, "it has too many parts of different sizes");
    for (int64_t i = 0, left = size; i < parts; i++) {
        sizes[i] = (size + parts - 1) / parts;
        sizes[i] = sizes[i] > left ? left : sizes[i];
        left -= sizes[i];
    }
    cq_opset_set_input(c, n, 1, cq_opset_ints(c, "split", sizes, parts));
    return true;
}

static bool slice_up(cq_opset_change *c, cq_onnx_node *n)
{
    return cq_opset_ints_to_input(c, n, "starts", 1) && cq_opset_ints_to_input(c, n, "ends", 2) &&
           cq_opset_ints_to_input(c, n, "axes", 3);
}

static bool slice_down(cq_opset_change *c, cq_onnx_node *n)
{
    if (cq_opset_has_input(n, 4)) {
        cq_tensor *t   = cq_opset_constant(c, n->input.items[4]);
        bool       one = t != NULL;

        for (int64_t i = 0; t && i < cq_tensor_numel(t); i++)
            one &= cq_tensor_get_i64(t, i) == 1;
        cq_tensor_release(t);
        if (!one)
            return cq_opset_refuse(c, "steps other than 1");
        cq_opset_drop_inputs(n, 4);
    }
    return cq_opset_input_to_ints(c, n, "axes", 3) && cq_opset_input_to_ints(c, n, "ends", 2) &&
           cq_opset_input_to_ints(c, n, "starts", 1) && axes_down(c, n);
}

static bool topk_up(cq_opset_change *c, cq_onnx_node *n)
{
    const int64_t k = cq_opset_int(n, "k", 1);

    cq_opset_set_input(c, n, 1, cq_opset_ints(c, "k", &k, 1));
    cq_opset_drop_attr(n, "k");
    return true;
}

static bool topk_down(cq_opset_change *c, cq_onnx_node *n)
{
    cq_tensor *t = cq_opset_has_input(n, 1) ? cq_opset_constant(c, n->input.items[1]) : NULL;

    if (!t)
        return cq_opset_refuse(c, "k is computed where the target expects an attribute");
    cq_opset_set_int(c, n, "k", cq_tensor_get_i64(t, 0));
    cq_tensor_release(t);
    cq_opset_drop_inputs(n, 1);
    return true;
}

static bool topk_down_11(cq_opset_change *c, cq_onnx_node *n)
{
    cq_opset_drop_attr(n, "sorted");
    return drop_default(c, n, "largest", 1) && axis_down(c, n);
}

static bool clip_up(cq_opset_change *c, cq_onnx_node *n)
{
    return number_to_input(c, n, "min", 1) && number_to_input(c, n, "max", 2);
}

static bool clip_down(cq_opset_change *c, cq_onnx_node *n)
{
    const bool done = input_to_number(c, n, "min", 1) && input_to_number(c, n, "max", 2);

    cq_opset_drop_inputs(n, done ? 1 : n->input.n);
    return done;
}

static bool pad_up(cq_opset_change *c, cq_onnx_node *n)
{
    return cq_opset_ints_to_input(c, n, "pads", 1) && number_to_input(c, n, "value", 2);
}

static bool pad_down(cq_opset_change *c, cq_onnx_node *n)
{
    return input_to_number(c, n, "value", 2) && cq_opset_input_to_ints(c, n, "pads", 1);
}

static bool pad_down_18(cq_opset_change *c, cq_onnx_node *n)
{
    if (cq_opset_has_input(n, 3))
        return cq_opset_refuse(c, "axes of Pad");
    cq_opset_drop_inputs(n, 3);
    return true;
}

static bool pad_down_19(cq_opset_change *c, cq_onnx_node *n)
{
    return !cq_opset_text_is(n, "mode", "wrap") || cq_opset_refuse(c, "mode wrap");
}

static bool dropout_up(cq_opset_change *c, cq_onnx_node *n)
{
    return number_to_input(c, n, "ratio", 1);
}

static bool dropout_down(cq_opset_change *c, cq_onnx_node *n)
{
    cq_tensor *t = cq_opset_has_input(n, 2) ? cq_opset_constant(c, n->input.items[2]) : NULL;

    if (cq_opset_has_input(n, 2) && (!t || cq_tensor_get_i64(t, 0))) {
        cq_tensor_release(t);
        return cq_opset_refuse(c, "training mode of Dropout");
    }
    cq_tensor_release(t);
    cq_opset_drop_inputs(n, 2);
    cq_opset_drop_attr(n, "seed");
    return input_to_number(c, n, "ratio", 1) && (cq_opset_drop_inputs(n, 1), true);
}

/* The mask is bool since opset 10, and has the type of the data before. */
static bool dropout_mask(cq_opset_change *c, cq_onnx_node *n)
{
    if (n->output.n > 1 && *n->output.items[1])
        return cq_opset_refuse(c, "the mask of Dropout has another type");
    return true;
}

/* ---- Softmax: until opset 12 it flattens the input to two dimensions at the axis ---- */

static bool softmax_up(cq_opset_change *c, cq_onnx_node *n)
{
    int64_t       axis = cq_opset_int(n, "axis", 1);
    const int     rank = cq_opset_rank(c, n->input.items[0]);
    const char   *x    = n->input.items[0], *shape, *flat, *y;
    cq_onnx_node *made = NULL;

    if (rank >= 0 && (axis == rank - 1 || axis == -1)) {
        cq_opset_set_int(c, n, "axis", -1);
        return true;
    }
    shape = cq_opset_node(c, "Shape", &x, 1, NULL);
    flat  = cq_opset_node(c, "Flatten", &x, 1, &made);
    if (!made)
        return true;
    cq_onnx_attr_int(c->m, made, "axis", axis);
    y = cq_opset_node(c, n->op_type, &flat, 1, &made);
    if (!made)
        return true;
    cq_onnx_attr_int(c->m, made, "axis", -1);
    n->op_type     = "Reshape";
    n->attribute.n = 0;
    cq_opset_set_input(c, n, 0, y);
    cq_opset_set_input(c, n, 1, shape);
    return true;
}

static bool softmax_down(cq_opset_change *c, cq_onnx_node *n)
{
    int64_t       axis = cq_opset_int(n, "axis", -1), perm[CQ_MAX_RANK];
    const int     rank = cq_opset_rank(c, n->input.items[0]);
    const char   *x    = n->input.items[0], *turned, *y;
    cq_onnx_node *made = NULL;

    if (rank < 1)
        return cq_opset_refuse(c, "the rank of its input is unknown");
    axis += axis < 0 ? rank : 0;
    if (axis == rank - 1) {
        cq_opset_set_int(c, n, "axis", axis);
        return true;
    }
    for (int i = 0; i < rank; i++)
        perm[i] = i == axis ? rank - 1 : i == rank - 1 ? axis : i;
    turned = cq_opset_node(c, "Transpose", &x, 1, &made);
    if (!made)
        return true;
    cq_onnx_attr_ints(c->m, made, "perm", perm, (size_t)rank);
    y = cq_opset_node(c, n->op_type, &turned, 1, &made);
    if (!made)
        return true;
    cq_onnx_attr_int(c->m, made, "axis", rank - 1);
    n->op_type     = "Transpose";
    n->attribute.n = 0;
    cq_onnx_attr_ints(c->m, n, "perm", perm, (size_t)rank);
    cq_opset_set_input(c, n, 0, y);
    return true;
}

/* ---- Upsample and Resize ---- */

static bool upsample_up_9(cq_opset_change *c, cq_onnx_node *n)
{
    const cq_onnx_attribute *a     = cq_onnx_node_attr(n, "scales");
    const int64_t            count = a ? a->floats.n : 0;
    cq_tensor               *t     = NULL;

    if (!a || cq_tensor_new(&t, CQ_DTYPE_F32, 1, &count, a->floats.items) != CQ_OK)
        return cq_opset_refuse(c, "Upsample without scales");
    cq_opset_set_input(c, n, 1, cq_opset_tensor(c, "scales", t));
    cq_tensor_release(t);
    cq_opset_drop_attr(n, "scales");
    return true;
}

static bool resize_down_13(cq_opset_change *c, cq_onnx_node *n)
{
    int64_t    none = 0;
    cq_tensor *t    = NULL;

    for (size_t i = 1; i < 3; i++) {
        if (cq_opset_has_input(n, i) || (i == 2 && !cq_opset_has_input(n, 3)))
            continue;
        if (cq_tensor_new(&t, CQ_DTYPE_F32, 1, &none, NULL) != CQ_OK)
            return cq_opset_refuse(c, "no memory");
        cq_opset_set_input(c, n, i, cq_opset_tensor(c, i == 1 ? "roi" : "scales", t));
        cq_tensor_release(t);
    }
    return true;
}

static bool upsample_up_10(cq_opset_change *c, cq_onnx_node *n)
{
    n->op_type = "Resize";
    if (c->to >= 11) { /* the adapters of Resize have been passed already */
        cq_opset_set_input(c, n, 2, n->input.items[1]);
        cq_opset_set_input(c, n, 1, "");
        cq_opset_set_text(c, n, "coordinate_transformation_mode", "asymmetric");
        cq_opset_set_text(c, n, "nearest_mode", "floor");
    }
    return c->to < 11 || c->to >= 13 || resize_down_13(c, n);
}

static bool resize_up_11(cq_opset_change *c, cq_onnx_node *n)
{
    int64_t    none = 0;
    cq_tensor *t    = NULL;

    cq_opset_set_input(c, n, 2, n->input.items[1]);
    if (cq_tensor_new(&t, CQ_DTYPE_F32, 1, &none, NULL) != CQ_OK)
        return cq_opset_refuse(c, "no memory");
    cq_opset_set_input(c, n, 1, cq_opset_tensor(c, "roi", t));
    cq_tensor_release(t);
    cq_opset_set_text(c, n, "coordinate_transformation_mode", "asymmetric");
    cq_opset_set_text(c, n, "nearest_mode", "floor");
    return true;
}

static bool resize_down_11(cq_opset_change *c, cq_onnx_node *n)
{
    if (cq_opset_has_input(n, 3) ||
        !cq_opset_text_is(n, "coordinate_transformation_mode", "asymmetric") ||
        (!cq_opset_text_is(n, "mode", "linear") && !cq_opset_text_is(n, "nearest_mode", "floor")))
        return cq_opset_refuse(c, "Resize with sizes or another transformation than asymmetric");
    n->input.items[1] = n->input.items[2];
    cq_opset_drop_inputs(n, 2);
    for (size_t i = n->attribute.n; i-- > 0;)
        if (strcmp(n->attribute.items[i]->name, "mode") != 0)
            cq_opset_drop_attr(n, n->attribute.items[i]->name);
    return true;
}

static bool resize_down_10(cq_opset_change *c, cq_onnx_node *n)
{
    (void)c;
    n->op_type = "Upsample";
    return true;
}

static bool resize_down_18(cq_opset_change *c, cq_onnx_node *n)
{
    if (cq_opset_int(n, "antialias", 0) || cq_onnx_node_attr(n, "axes") ||
        (cq_onnx_node_attr(n, "keep_aspect_ratio_policy") &&
         !cq_opset_text_is(n, "keep_aspect_ratio_policy", "stretch")))
        return cq_opset_refuse(c, "antialias, axes or an aspect ratio policy");
    cq_opset_drop_attr(n, "antialias");
    cq_opset_drop_attr(n, "keep_aspect_ratio_policy");
    return true;
}

/* ---- others ---- */

static bool batch_norm_up_9(cq_opset_change *c, cq_onnx_node *n)
{
    return drop_default(c, n, "spatial", 1);
}

static bool batch_norm_up_14(cq_opset_change *c, cq_onnx_node *n)
{
    (void)c;
    while (n->output.n > 1 && !*n->output.items[n->output.n - 1])
        n->output.n--;
    return true;
}

static bool batch_norm_down_14(cq_opset_change *c, cq_onnx_node *n)
{
    return drop_default(c, n, "training_mode", 0);
}

static bool scatter_up(cq_opset_change *c, cq_onnx_node *n)
{
    (void)c;
    n->op_type = "ScatterElements";
    return true;
}

static bool scatter_down(cq_opset_change *c, cq_onnx_node *n)
{
    n->op_type = "Scatter";
    return axis_down(c, n);
}

static bool reduction_down(cq_opset_change *c, cq_onnx_node *n)
{
    if (cq_onnx_node_attr(n, "reduction") && !cq_opset_text_is(n, "reduction", "none"))
        return cq_opset_refuse(c, "a reduction of scattered values");
    cq_opset_drop_attr(n, "reduction");
    return true;
}

static bool gemm_down_11(cq_opset_change *c, cq_onnx_node *n)
{
    cq_tensor *t = NULL;

    if (cq_opset_has_input(n, 2))
        return true;
    if (cq_tensor_new(&t, CQ_DTYPE_F32, 0, NULL, &(float){ 0 }) != CQ_OK)
        return cq_opset_refuse(c, "no memory");
    cq_opset_set_input(c, n, 2, cq_opset_tensor(c, "zero", t));
    cq_tensor_release(t);
    return true;
}

static bool constant_down_12(cq_opset_change *c, cq_onnx_node *n)
{
    const cq_onnx_attribute *a = n->attribute.n ? n->attribute.items[0] : NULL;
    cq_tensor               *t = NULL;
    int64_t                  count;

    if (!a || strcmp(a->name, "value") == 0)
        return true;
    if (strcmp(a->name, "value_int") == 0)
        (void)cq_tensor_new(&t, CQ_DTYPE_I64, 0, NULL, &a->i);
    else if (strcmp(a->name, "value_float") == 0)
        (void)cq_tensor_new(&t, CQ_DTYPE_F32, 0, NULL, &a->f);
    else if (strcmp(a->name, "value_ints") == 0) {
        count = a->ints.n;
        (void)cq_tensor_new(&t, CQ_DTYPE_I64, 1, &count, a->ints.items);
    } else if (strcmp(a->name, "value_floats") == 0) {
        count = a->floats.n;
        (void)cq_tensor_new(&t, CQ_DTYPE_F32, 1, &count, a->floats.items);
    }
    if (!t)
        return cq_opset_refuse(c, "a Constant of strings");
    n->attribute.n = 0;
    cq_onnx_attr_tensor(c->m, n, "value", t);
    cq_tensor_release(t);
    return true;
}

static bool argmax_down_12(cq_opset_change *c, cq_onnx_node *n)
{
    return drop_default(c, n, "select_last_index", 0);
}

static bool allowzero_down(cq_opset_change *c, cq_onnx_node *n)
{
    return drop_default(c, n, "allowzero", 0);
}

static bool layout_down(cq_opset_change *c, cq_onnx_node *n)
{
    return drop_default(c, n, "layout", 0);
}

static bool saturate_down(cq_opset_change *c, cq_onnx_node *n)
{
    (void)c;
    cq_opset_drop_attr(n, "saturate"); /* of float8 alone, which the target lacks */
    return true;
}

static bool ceil_down(cq_opset_change *c, cq_onnx_node *n)
{
    const cq_onnx_attribute *d = cq_onnx_node_attr(n, "dilations");

    for (size_t i = 0; d && i < d->ints.n; i++)
        if (d->ints.items[i] != 1)
            return cq_opset_refuse(c, "dilations");
    cq_opset_drop_attr(n, "dilations");
    return drop_default(c, n, "ceil_mode", 0);
}

static bool pool_dilations_down(cq_opset_change *c, cq_onnx_node *n)
{
    const cq_onnx_attribute *d = cq_onnx_node_attr(n, "dilations");

    for (size_t i = 0; d && i < d->ints.n; i++)
        if (d->ints.items[i] != 1)
            return cq_opset_refuse(c, "dilations");
    cq_opset_drop_attr(n, "dilations");
    return true;
}

static bool shape_down(cq_opset_change *c, cq_onnx_node *n)
{
    const int64_t start = cq_opset_int(n, "start", 0), end = cq_opset_int(n, "end", INT64_MAX),
                  axis = 0;
    const char *inputs[4];

    if (start == 0 && end == INT64_MAX) {
        n->attribute.n = 0;
        return true;
    }
    inputs[0] = cq_opset_node(c, "Shape", n->input.items, 1, NULL);
    inputs[1] = cq_opset_ints(c, "starts", &start, 1);
    inputs[2] = cq_opset_ints(c, "ends", &end, 1);
    inputs[3] = cq_opset_ints(c, "axes", &axis, 1);
    if (c->to < 10)
        return cq_opset_refuse(c, "a part of a shape");
    n->op_type     = "Slice";
    n->attribute.n = 0;
    for (size_t i = 0; i < 4; i++)
        cq_opset_set_input(c, n, i, inputs[i]);
    return true;
}

static bool roi_align_up(cq_opset_change *c, cq_onnx_node *n)
{
    cq_opset_set_text(c, n, "coordinate_transformation_mode", "output_half_pixel");
    return true;
}

static bool roi_align_down(cq_opset_change *c, cq_onnx_node *n)
{
    if (!cq_opset_text_is(n, "coordinate_transformation_mode", "output_half_pixel"))
        return cq_opset_refuse(c, "the transformation half_pixel");
    cq_opset_drop_attr(n, "coordinate_transformation_mode");
    return true;
}

static bool grid_sample_up(cq_opset_change *c, cq_onnx_node *n)
{
    if (cq_opset_text_is(n, "mode", "bilinear"))
        cq_opset_set_text(c, n, "mode", "linear");
    if (cq_opset_text_is(n, "mode", "bicubic"))
        cq_opset_set_text(c, n, "mode", "cubic");
    return true;
}

static bool grid_sample_down(cq_opset_change *c, cq_onnx_node *n)
{
    const int rank = cq_opset_rank(c, n->input.items[0]);

    if (rank >= 0 && rank != 4)
        return cq_opset_refuse(c, "samples of volumes");
    if (cq_opset_text_is(n, "mode", "linear"))
        cq_opset_set_text(c, n, "mode", "bilinear");
    if (cq_opset_text_is(n, "mode", "cubic"))
        cq_opset_set_text(c, n, "mode", "bicubic");
    return true;
}

static bool dft_up(cq_opset_change *c, cq_onnx_node *n)
{
    const int64_t axis = cq_opset_int(n, "axis", 1);
    cq_tensor    *t    = NULL;

    if (cq_tensor_new(&t, CQ_DTYPE_I64, 0, NULL, &axis) != CQ_OK)
        return cq_opset_refuse(c, "no memory");
    cq_opset_set_input(c, n, 2, cq_opset_tensor(c, "axis", t));
    cq_tensor_release(t);
    cq_opset_drop_attr(n, "axis");
    return true;
}

static bool dft_down(cq_opset_change *c, cq_onnx_node *n)
{
    int64_t    axis = -2;
    cq_tensor *t    = cq_opset_has_input(n, 2) ? cq_opset_constant(c, n->input.items[2]) : NULL;

    if (cq_opset_has_input(n, 2) && !t)
        return cq_opset_refuse(c, "the axis is computed where the target expects an attribute");
    axis = t ? cq_tensor_get_i64(t, 0) : axis;
    cq_tensor_release(t);
    if (!positive_axis(c, n, &axis, 0))
        return cq_opset_refuse(c, "a negative axis of a value of unknown rank");
    cq_opset_set_int(c, n, "axis", axis);
    cq_opset_drop_inputs(n, 2);
    return true;
}

/* Until opset 12 quantization parameters are single numbers. */
static bool quantize_down_13(cq_opset_change *c, cq_onnx_node *n)
{
    const int rank = cq_opset_has_input(n, 1) ? cq_opset_rank(c, n->input.items[1]) : -1;

    if (rank != 0)
        return cq_opset_refuse(c, "quantization parameters for each channel");
    cq_opset_drop_attr(n, "axis");
    return true;
}

static bool quantize_down_21(cq_opset_change *c, cq_onnx_node *n)
{
    cq_opset_drop_attr(n, "output_dtype");
    return drop_default(c, n, "block_size", 0);
}

/* Equal takes floats since opset 11; before, x >= y is not (x < y), unless one of them is NaN. */
static bool or_equal_down(cq_opset_change *c, cq_onnx_node *n)
{
    const bool  greater = strcmp(n->op_type, "GreaterOrEqual") == 0;
    const char *parts[2];

    if (c->to < 11) {
        parts[0]   = cq_opset_node(c, greater ? "Less" : "Greater", n->input.items, 2, NULL);
        n->op_type = "Not";
        cq_opset_set_input(c, n, 0, parts[0]);
        cq_opset_drop_inputs(n, 1);
        return true;
    }
    parts[0]   = cq_opset_node(c, greater ? "Greater" : "Less", n->input.items, 2, NULL);
    parts[1]   = cq_opset_node(c, "Equal", n->input.items, 2, NULL);
    n->op_type = "Or";
    cq_opset_set_input(c, n, 0, parts[0]);
    cq_opset_set_input(c, n, 1, parts[1]);
    return true;
}

static bool hard_swish_down(cq_opset_change *c, cq_onnx_node *n)
{
    const char   *x    = n->input.items[0], *gate;
    cq_onnx_node *made = NULL;

    gate = cq_opset_node(c, "HardSigmoid", &x, 1, &made);
    if (!made)
        return true;
    cq_onnx_attr_float(c->m, made, "alpha", 1.0f / 6);
    cq_onnx_attr_float(c->m, made, "beta", 0.5f);
    n->op_type = "Mul";
    cq_opset_set_input(c, n, 1, gate);
    return true;
}

/* Scan has a batch axis and another order of inputs until opset 8. */
static bool scan(cq_opset_change *c, cq_onnx_node *n)
{
    (void)n;
    return cq_opset_refuse(c, "Scan of opset 8 has another form");
}

/* ---- the table, in the order of versions ---- */

const cq_opset_row cq_opset_rows[] = {
    { "BatchNormalization", 9, batch_norm_up_9, NULL },
    { "Scan", 9, scan, scan },
    { "Upsample", 9, upsample_up_9, NULL },
    { "Upsample", 10, upsample_up_10, NULL },
    { "Resize", 10, NULL, resize_down_10 },
    { "Slice", 10, slice_up, slice_down },
    { "TopK", 10, topk_up, topk_down },
    { "Dropout", 10, dropout_mask, dropout_mask },
    { "MaxPool", 10, NULL, ceil_down },
    { "AveragePool", 10, NULL, ceil_down },
    { "Clip", 11, clip_up, clip_down },
    { "Pad", 11, pad_up, pad_down },
    { "Resize", 11, resize_up_11, resize_down_11 },
    { "Scatter", 11, scatter_up, NULL },
    { "ScatterElements", 11, NULL, scatter_down },
    { "TopK", 11, NULL, topk_down_11 },
    { "Gemm", 11, NULL, gemm_down_11 },
    { "Concat", 11, NULL, axis_down },
    { "Flatten", 11, NULL, axis_down },
    { "Gather", 11, NULL, axis_down },
    { "ArgMax", 11, NULL, axis_down },
    { "ArgMin", 11, NULL, axis_down },
    { "Split", 11, NULL, axis_down },
    { "Softmax", 11, NULL, axis_down },
    { "LogSoftmax", 11, NULL, axis_down },
    { "Hardmax", 11, NULL, axis_down },
    { "Squeeze", 11, NULL, axes_down },
    { "Unsqueeze", 11, NULL, axes_down },
    { "ReduceMax", 11, NULL, axes_down },
    { "ReduceMin", 11, NULL, axes_down },
    { "ReduceMean", 11, NULL, axes_down },
    { "ReduceSum", 11, NULL, axes_down },
    { "ReduceProd", 11, NULL, axes_down },
    { "ReduceL1", 11, NULL, axes_down },
    { "ReduceL2", 11, NULL, axes_down },
    { "ReduceLogSum", 11, NULL, axes_down },
    { "ReduceLogSumExp", 11, NULL, axes_down },
    { "ReduceSumSquare", 11, NULL, axes_down },
    { "GreaterOrEqual", 12, NULL, or_equal_down },
    { "LessOrEqual", 12, NULL, or_equal_down },
    { "Dropout", 12, dropout_up, dropout_down },
    { "Constant", 12, NULL, constant_down_12 },
    { "ArgMax", 12, NULL, argmax_down_12 },
    { "ArgMin", 12, NULL, argmax_down_12 },
    { "Softmax", 13, softmax_up, softmax_down },
    { "LogSoftmax", 13, softmax_up, softmax_down },
    { "Hardmax", 13, softmax_up, softmax_down },
    { "Squeeze", 13, axes_up, axes_input_down },
    { "Unsqueeze", 13, axes_up, axes_input_down },
    { "Split", 13, split_up, split_down },
    { "ReduceSum", 13, axes_up, reduce_down },
    { "Resize", 13, NULL, resize_down_13 },
    { "QuantizeLinear", 13, NULL, quantize_down_13 },
    { "DequantizeLinear", 13, NULL, quantize_down_13 },
    { "BatchNormalization", 14, batch_norm_up_14, batch_norm_down_14 },
    { "Reshape", 14, NULL, allowzero_down },
    { "LSTM", 14, NULL, layout_down },
    { "GRU", 14, NULL, layout_down },
    { "RNN", 14, NULL, layout_down },
    { "HardSwish", 14, NULL, hard_swish_down },
    { "Shape", 15, NULL, shape_down },
    { "ScatterElements", 16, NULL, reduction_down },
    { "ScatterND", 16, NULL, reduction_down },
    { "RoiAlign", 16, roi_align_up, roi_align_down },
    { "Split", 18, split_up_18, split_down_18 },
    { "Pad", 18, NULL, pad_down_18 },
    { "Resize", 18, NULL, resize_down_18 },
    { "ReduceMax", 18, axes_up, reduce_down },
    { "ReduceMin", 18, axes_up, reduce_down },
    { "ReduceMean", 18, axes_up, reduce_down },
    { "ReduceProd", 18, axes_up, reduce_down },
    { "ReduceL1", 18, axes_up, reduce_down },
    { "ReduceL2", 18, axes_up, reduce_down },
    { "ReduceLogSum", 18, axes_up, reduce_down },
    { "ReduceLogSumExp", 18, axes_up, reduce_down },
    { "ReduceSumSquare", 18, axes_up, reduce_down },
    { "Pad", 19, NULL, pad_down_19 },
    { "Cast", 19, NULL, saturate_down },
    { "CastLike", 19, NULL, saturate_down },
    { "QuantizeLinear", 19, NULL, saturate_down },
    { "AveragePool", 19, NULL, pool_dilations_down },
    { "GridSample", 20, grid_sample_up, grid_sample_down },
    { "DFT", 20, dft_up, dft_down },
    { "QuantizeLinear", 21, NULL, quantize_down_21 },
    { "DequantizeLinear", 21, NULL, quantize_down_21 },
};

const size_t cq_opset_n_rows = sizeof cq_opset_rows / sizeof *cq_opset_rows;
