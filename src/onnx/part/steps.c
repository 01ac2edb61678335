/* Pre- and post-processing steps. A step is a small model, generated in ONNX's text syntax for the
 * value that it connects to. Its text is NAME[:KEY=VALUE]…; step_options.c parses it. */
#include "base/str.h"
#include "onnx/part/names.h"
#include "onnx/part/steps.h"
#include "onnx/tensor.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_OPSET = 11 }; /* for GatherND, and TopK with k as input */

static const char *const float_types[] = { [CQ_ONNX_FLOAT]    = "float",
                                           [CQ_ONNX_FLOAT16]  = "float16",
                                           [CQ_ONNX_DOUBLE]   = "double",
                                           [CQ_ONNX_BFLOAT16] = "bfloat16" };

/* The tensor type of a value, which must be floating-point. */
static cq_status float_type(const cq_onnx_tensor_type **out, const cq_onnx_value_info *v)
{
    const cq_onnx_tensor_type *t = v->type ? v->type->tensor_type : NULL;

    if (!t || t->elem_type < 0 ||
        (size_t)t->elem_type >= sizeof float_types / sizeof *float_types ||
        !float_types[t->elem_type])
        return cq_fail(CQ_E_TYPE, v->name, NULL, "expected a tensor of floats, got %s",
                       t ? cq_onnx_data_type_name(t->elem_type) : "another type");
    *out = t;
    return CQ_OK;
}

static bool is_word(const char *text)
{
    for (const char *p = text; *p; p++)
        if (!(*p == '_' || (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
              (p > text && *p >= '0' && *p <= '9')))
            return false;
    return *text != 0;
}

/* Appends a size in text syntax: a number, a name, or other if it is unknown. */
static void add_size(cq_str *s, const cq_onnx_tensor_type *t, uint32_t axis, const char *other)
{
    const cq_onnx_dim *d = t->shape && axis < t->shape->dim.n ? t->shape->dim.items[axis] : NULL;

    if (d && cq_onnx_has(d, CQ_ONNX_DIM_VALUE))
        cq_str_printf(s, "%" PRId64, d->dim_value);
    else
        cq_str_add(s, d && d->dim_param && is_word(d->dim_param) ? d->dim_param : other);
}

static void begin(cq_str *s, const cq_onnx_model *m)
{
    cq_str_printf(s, "<ir_version: %" PRId64 ", opset_import: [\"\" : %" PRId64 "]>\n",
                  m->ir_version < 4 ? (int64_t)4 : m->ir_version, cq_onnx_model_opset(m, ""));
}

/* ---- image: bytes of an image to normalised floats ---- */

static void add_channels(cq_str *s, const char *name, const cq_step_numbers *numbers, size_t n,
                         bool first)
{
    cq_str_printf(s, first ? "float[1, %zu, 1, 1] %s = {" : "float[1, 1, 1, %zu] %s = {", n, name);
    for (size_t i = 0; i < n; i++)
        cq_str_printf(s, "%s%.9g", i ? ", " : "", numbers->items[numbers->n == 1 ? 0 : i]);
    cq_str_add(s, "}");
}

/* Whether the channels are the second dimension. */
static cq_status find_channels(bool *first, size_t *n, const cq_onnx_value_info *v,
                               const cq_onnx_tensor_type *t, const cq_step_options *o)
{
    const cq_onnx_dim *one, *three;
    const size_t       want = o->mean.n > o->std.n ? o->mean.n : o->std.n;

    if (!t->shape || t->shape->dim.n != 4)
        return cq_fail(CQ_E_TYPE, v->name, NULL,
                       "image expects an input of 4 dimensions, got one of %d",
                       t->shape ? (int)t->shape->dim.n : -1);
    one    = t->shape->dim.items[1];
    three  = t->shape->dim.items[3];
    *first = cq_onnx_has(one, CQ_ONNX_DIM_VALUE) && one->dim_value <= 4;
    if (!*first && !(cq_onnx_has(three, CQ_ONNX_DIM_VALUE) && three->dim_value <= 4))
        return cq_fail(CQ_E_TYPE, v->name, "give the input a fixed number of channels",
                       "image expects 1 to 4 channels as dimension 1 or 3 of the input");
    *n = (size_t)(*first ? one->dim_value : three->dim_value);
    if ((o->mean.n != 1 && o->mean.n != *n) || (o->std.n != 1 && o->std.n != *n))
        return cq_fail(CQ_E_ARGUMENT, v->name, NULL,
                       "mean and std have %zu numbers, the input has %zu channels", want, *n);
    return CQ_OK;
}

static cq_status image(cq_str *s, const cq_onnx_model *m, const cq_onnx_value_info *v,
                       const cq_step_options *o)
{
    const cq_onnx_tensor_type *t;
    const char                *perm;
    bool                       first;
    size_t                     n;

    CQ_TRY(float_type(&t, v));
    CQ_TRY(find_channels(&first, &n, v, t, o));
    perm = o->nhwc == !first ? NULL : o->nhwc ? "0, 3, 1, 2" : "0, 2, 3, 1";
    begin(s, m);
    cq_str_add(s, "image (uint8[");
    add_size(s, t, 0, "N");
    cq_str_add(s, ", ");
    if (!o->nhwc)
        cq_str_printf(s, "%zu, ", n);
    add_size(s, t, first ? 2 : 1, "H");
    cq_str_add(s, ", ");
    add_size(s, t, first ? 3 : 2, "W");
    if (o->nhwc)
        cq_str_printf(s, ", %zu", n);
    cq_str_printf(s, "] pixels) => (%s[] normalized)\n<float scale = {%.9g}, ",
                  float_types[t->elem_type], o->scale);
    add_channels(s, "mean", &o->mean, n, first);
    cq_str_add(s, ", ");
    add_channels(s, "std", &o->std, n, first);
    cq_str_add(s, "> {\n");
    if (perm)
        cq_str_printf(s, "  ordered = Transpose <perm = [%s]> (pixels)\n", perm);
    cq_str_printf(s,
                  "  numbers = Cast <to = 1> (%s)\n"
                  "  scaled = Div (numbers, scale)\n"
                  "  centered = Sub (scaled, mean)\n",
                  perm ? "ordered" : "pixels");
    if (t->elem_type == CQ_ONNX_FLOAT)
        cq_str_add(s, "  normalized = Div (centered, std)\n}\n");
    else
        cq_str_printf(s,
                      "  divided = Div (centered, std)\n"
                      "  normalized = Cast <to = %d> (divided)\n}\n",
                      t->elem_type);
    return CQ_OK;
}

/* ---- steps after a model ---- */

static void begin_after(cq_str *s, const cq_onnx_model *m, const char *name, const char *type,
                        const char *outputs)
{
    begin(s, m);
    cq_str_printf(s, "%s (%s x) => (%s)", name, type, outputs);
}

static void begin_type(cq_str *s, const cq_onnx_tensor_type *t)
{
    cq_str_printf(s, "%s[", float_types[t->elem_type]);
    for (uint32_t i = 0; t->shape && i < t->shape->dim.n; i++) {
        char other[16];

        snprintf(other, sizeof other, "s%u", i);
        cq_str_add(s, i ? ", " : "");
        add_size(s, t, i, other);
    }
    cq_str_add(s, "]");
}

static cq_status softmax(cq_str *s, const cq_onnx_model *m, const cq_onnx_tensor_type *t,
                         const cq_step_options *o)
{
    cq_str type = { 0 }, out = { 0 };
    int    rank = t->shape ? (int)t->shape->dim.n : 0;

    if (cq_onnx_model_opset(m, "") < 13 && o->axis != -1 && o->axis != rank - 1)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "convert the model: calque convert --opset 13",
                       "Softmax over an axis that is not the last needs opset 13, got %" PRId64,
                       cq_onnx_model_opset(m, ""));
    begin_type(&type, t);
    cq_str_printf(&out, "%s probabilities", cq_str_text(&type));
    begin_after(s, m, "softmax", cq_str_text(&type), cq_str_text(&out));
    /* The attribute is always written, because its default changed in opset 13. */
    cq_str_printf(s, " {\n  probabilities = Softmax <axis = %" PRId64 "> (x)\n}\n",
                  o->axis < 0 && rank ? o->axis + rank : o->axis);
    cq_str_clear(&type);
    cq_str_clear(&out);
    return CQ_OK;
}

static cq_status argmax(cq_str *s, const cq_onnx_model *m, const cq_onnx_tensor_type *t,
                        const cq_step_options *o)
{
    cq_str type = { 0 };

    begin_type(&type, t);
    begin_after(s, m, "argmax", cq_str_text(&type), "int64[] classes");
    cq_str_printf(s, " {\n  classes = ArgMax <axis = %" PRId64 ", keepdims = 0> (x)\n}\n", o->axis);
    cq_str_clear(&type);
    return CQ_OK;
}

static cq_status topk(cq_str *s, const cq_onnx_model *m, const cq_onnx_tensor_type *t,
                      const cq_step_options *o)
{
    cq_str type = { 0 }, out = { 0 };

    if (o->k < 1)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "topk expects a number: topk:5");
    begin_type(&type, t);
    cq_str_printf(&out, "%s[] values, int64[] indices", float_types[t->elem_type]);
    begin_after(s, m, "topk", cq_str_text(&type), cq_str_text(&out));
    cq_str_printf(s,
                  " <int64[1] k = {%" PRId64 "}> {\n  values, indices = TopK <axis = %" PRId64
                  "> (x, k)\n}\n",
                  o->k, o->axis);
    cq_str_clear(&type);
    cq_str_clear(&out);
    return CQ_OK;
}

/* Boxes are [N, B, 4] and scores [N, C, B]; the selected boxes of all images are in one list. */
static cq_status nms(cq_str *s, const cq_onnx_model *m, const cq_step_options *o)
{
    begin(s, m);
    cq_str_printf(s,
                  "nms (float[N, B, 4] x, float[N, C, B] y) => (float[K, 4] selected_boxes, "
                  "float[K] selected_scores, int64[K] selected_classes, int64[K] selected_images)\n"
                  "<int64[1] most = {%" PRId64 "}, float[1] iou = {%.9g}, float[1] least = {%.9g}, "
                  "int64 zero = {0}, int64 one = {1}, "
                  "int64[2] image_and_box = {0, 2}> {\n"
                  "  chosen = NonMaxSuppression <center_point_box = %d> (x, y, most, iou, least)\n"
                  "  of_boxes = Gather <axis = 1> (chosen, image_and_box)\n"
                  "  selected_boxes = GatherND (x, of_boxes)\n"
                  "  selected_scores = GatherND (y, chosen)\n"
                  "  selected_classes = Gather <axis = 1> (chosen, one)\n"
                  "  selected_images = Gather <axis = 1> (chosen, zero)\n}\n",
                  o->max, o->iou, o->score, o->center);
    return CQ_OK;
}

/* ---- steps ---- */

static const cq_onnx_value_info *named(const cq_onnx_value_infos *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i]->name && strcmp(list->items[i]->name, name) == 0)
            return list->items[i];
    return NULL;
}

/* The value that a step connects to: the named one, or the only one. */
static cq_status find_value(const cq_onnx_value_info **out, const cq_onnx_value_infos *list,
                            const char *name, const char *key)
{
    if (*name)
        *out = named(list, name);
    else
        *out = list->n == 1 ? list->items[0] : NULL;
    if (*out)
        return CQ_OK;
    if (*name)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "%s=%s: the model has no such value", key, name);
    return cq_fail(CQ_E_ARGUMENT, NULL, "name it with :KEY=NAME",
                   "the model has %u candidates for %s", list->n, key);
}

static cq_status write_after(cq_str *s, cq_step *step, const cq_onnx_model *m,
                             const cq_step_options *o)
{
    const cq_onnx_value_infos *list = &m->graph->output;
    const cq_onnx_value_info  *x, *y;
    const cq_onnx_tensor_type *t;

    if (strcmp(o->name, "nms") == 0) {
        CQ_TRY(find_value(&x, list, *o->boxes || list->n < 2 ? o->boxes : list->items[0]->name,
                          "boxes"));
        CQ_TRY(find_value(&y, list, *o->scores || list->n < 2 ? o->scores : list->items[1]->name,
                          "scores"));
        step->connections[0] = (cq_connection){ x->name, "x" };
        step->connections[1] = (cq_connection){ y->name, "y" };
        step->n_connections  = 2;
        return nms(s, m, o);
    }
    CQ_TRY(find_value(&x, list, o->value, "output"));
    CQ_TRY(float_type(&t, x));
    step->connections[0] = (cq_connection){ x->name, "x" };
    step->n_connections  = 1;
    if (strcmp(o->name, "softmax") == 0)
        return softmax(s, m, t, o);
    if (strcmp(o->name, "argmax") == 0)
        return argmax(s, m, t, o);
    if (strcmp(o->name, "topk") == 0)
        return topk(s, m, t, o);
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                   "unknown step '%s' after a model; expected softmax, argmax, topk or nms",
                   o->name);
}

static cq_status write_before(cq_str *s, cq_step *step, const cq_onnx_model *m,
                              const cq_step_options *o)
{
    const cq_onnx_value_info *x;

    if (strcmp(o->name, "image") != 0)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL,
                       "unknown step '%s' before a model; expected image", o->name);
    CQ_TRY(find_value(&x, &m->graph->input, o->value, "input"));
    step->connections[0] = (cq_connection){ "normalized", x->name };
    step->n_connections  = 1;
    return image(s, m, x, o);
}

/* The new input gets the name of the input that it replaces. */
static const char *rename_pixels(void *name, cq_part_kind kind, const char *text)
{
    return kind == CQ_PART_VALUE && strcmp(text, "pixels") == 0 ? name : text;
}

/* Copies the description of the model to a step before it. */
static void describe(cq_onnx_model *step, const cq_onnx_model *m)
{
    step->graph->name       = cq_onnx_text(step, m->graph->name);
    step->graph->doc_string = cq_onnx_text(step, m->graph->doc_string);
    step->producer_name     = cq_onnx_text(step, m->producer_name);
    step->producer_version  = cq_onnx_text(step, m->producer_version);
    step->domain            = cq_onnx_text(step, m->domain);
    step->doc_string        = cq_onnx_text(step, m->doc_string);
    step->model_version     = m->model_version;
    if (cq_onnx_has(m, CQ_ONNX_MODEL_MODEL_VERSION))
        cq_onnx_set_has(step, CQ_ONNX_MODEL_MODEL_VERSION);
}

CQ_API cq_status cq_onnx_step_new(cq_step *out, const cq_onnx_model *m, cq_step_side side,
                                  const char *text)
{
    CQ_NEED(out && m && text);
    cq_step_options o;
    cq_str          s = { 0 };
    cq_status       status;

    *out = (cq_step){ 0 };
    CQ_TRY(cq_onnx_need_graph(m));
    if (cq_onnx_model_opset(m, "") < FIRST_OPSET)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "convert the model: calque convert --opset 17",
                       "steps need opset %d or newer, the model has %" PRId64, FIRST_OPSET,
                       cq_onnx_model_opset(m, ""));
    CQ_TRY(cq_step_options_read(&o, text));
    CQ_TRY_OR_DONE(side == CQ_STEP_BEFORE ? write_before(&s, out, m, &o)
                                          : write_after(&s, out, m, &o));
    CQ_TRY_OR_DONE(s.status);
    CQ_TRY_OR_DONE(cq_onnx_model_parse(&out->model, s.text, s.len, o.name));
    CQ_TRY_OR_DONE(cq_onnx_model_infer(out->model, 0));
    if (side == CQ_STEP_BEFORE) {
        const char *name = cq_onnx_text(out->model, out->connections[0].input);

        status = name ? cq_part_each_name(out->model->graph, rename_pixels, (void *)name)
                      : CQ_E_NO_MEMORY;
        describe(out->model, m);
        status = status == CQ_OK ? out->model->status : status;
    }
done:
    cq_str_clear(&s);
    return status;
}
