/* Helpers of rules: inputs, attributes and outputs. The tables of rules are merged here and looked
 * up by name. */
#include "onnx/infer/internal.h"

#include "base/once.h"

#include <stdlib.h>
#include <string.h>

/* ---- the table ---- */

static const struct {
    const char        *domain;
    const cq_rule_row *rows;
} families[] = {
    { "", cq_rules_elementwise },
    { "", cq_rules_math },
    { "", cq_rules_nn },
    { "", cq_rules_pool },
    { "", cq_rules_reduce },
    { "", cq_rules_tensor },
    { "", cq_rules_reshape },
    { "", cq_rules_index },
    { "", cq_rules_rnn },
    { "", cq_rules_controlflow },
    { "", cq_rules_sequence },
    { "", cq_rules_quantize },
    { "", cq_rules_random },
    { "", cq_rules_image },
    { "", cq_rules_text },
    { "", cq_rules_signal },
    { "ai.onnx.preview.training", cq_rules_training },
    { "ai.onnx.ml", cq_rules_ml },
};

static struct {
    cq_once once;
    cq_map  rows; /* name to its oldest row; newer rows follow */
} table = { .once = CQ_ONCE_INIT };

static cq_status build_table(void)
{
    cq_status status = CQ_OK;

    for (size_t f = 0; f < sizeof families / sizeof *families; f++)
        for (const cq_rule_row *row = families[f].rows; row->op; row++)
            if (status == CQ_OK && !cq_map_has(&table.rows, row->op))
                status = cq_map_set(&table.rows, row->op, (void *)row);
    if (status != CQ_OK)
        cq_map_clear(&table.rows);
    return status;
}

cq_status cq_rule_need_list(cq_rule *r, size_t input)
{
    const cq_itype *list = cq_rule_has(r, input) ? cq_rule_shaped(r, input) : NULL;

    if (!list || list->rank == 1 || cq_rule_data(r, input))
        return CQ_OK;
    return cq_rule_fail(r, "input %zu has rank %zu, expected a list of rank 1", input, list->rank);
}

cq_status cq_rule_find(const cq_rule_row **out, const cq_onnx_schema *schema, int64_t version)
{
    const cq_rule_row *row;

    *out = NULL;
    CQ_TRY(cq_once_call(&table.once, build_table));
    if (!schema)
        return CQ_OK;
    /* Rows of one operator are adjacent, the oldest first. */
    row = cq_map_get(&table.rows, schema->name);
    for (; row && row->op && !strcmp(row->op, schema->name); row++)
        if (row->since <= version)
            *out = row;
    return CQ_OK;
}

/* ---- inputs ---- */

bool cq_rule_has(const cq_rule *r, size_t i)
{
    return i < r->n_inputs && r->inputs[i];
}

const cq_itype *cq_rule_shaped(const cq_rule *r, size_t i)
{
    const cq_itype *t = cq_rule_has(r, i) ? &r->inputs[i]->type : NULL;

    return t && t->kind == CQ_IKIND_TENSOR && t->has_rank ? t : NULL;
}

int32_t cq_rule_elem(const cq_rule *r, size_t i)
{
    const cq_itype *t = cq_rule_has(r, i) ? &r->inputs[i]->type : NULL;

    return t && t->kind == CQ_IKIND_TENSOR ? t->elem : CQ_ONNX_UNDEFINED;
}

const cq_idata *cq_rule_data(cq_rule *r, size_t i)
{
    cq_ivalue *v = cq_rule_has(r, i) ? r->inputs[i] : NULL;

    if (v && !v->data && v->tensor) {
        /* A tensor that cannot be read counts as unknown. */
        if (cq_idata_read(&v->data, r->infer, v->tensor) == CQ_E_NO_MEMORY)
            r->symbols->status = CQ_E_NO_MEMORY;
        v->tensor = NULL;
    }
    return v ? v->data : NULL;
}

bool cq_rule_plain_ints(cq_rule *r, size_t i, int64_t *out, size_t *n, size_t max)
{
    const cq_idata *data = cq_rule_data(r, i);

    if (!data || data->n > max)
        return false;
    for (size_t k = 0; k < data->n; k++) {
        if (data->items[k].kind != CQ_INUM_INT || data->items[k].i.expr)
            return false;
        out[k] = data->items[k].i.value;
    }
    *n = data->n;
    return true;
}

bool cq_rule_scalar(cq_rule *r, size_t i, cq_ielem *out)
{
    const cq_idata *data = cq_rule_data(r, i);

    if (!data || data->n != 1 || data->items[0].kind == CQ_INUM_UNKNOWN)
        return false;
    *out = data->items[0];
    return true;
}

/* ---- attributes ---- */

static const cq_onnx_attribute *find_attr(const cq_onnx_attributes *list, const char *name)
{
    for (uint32_t i = 0; i < list->n; i++)
        if (list->items[i]->name && !strcmp(list->items[i]->name, name))
            return list->items[i];
    return NULL;
}

/* In a function, an attribute may refer to an attribute of the call. */
const cq_onnx_attribute *cq_rule_attr(const cq_rule *r, const char *name)
{
    const cq_onnx_attribute *a     = find_attr(&r->node->attribute, name);
    const cq_infer_frame    *frame = r->scope->frame;

    while (a && a->ref_attr_name && *a->ref_attr_name) {
        const char *wanted = a->ref_attr_name;

        if (!frame)
            return NULL;
        a = find_attr(&frame->call->attribute, wanted);
        if (!a)
            a = find_attr(&frame->function->attribute_proto, wanted);
        frame = frame->caller;
    }
    return a;
}

static const char *fallback(const cq_rule *r, const char *name)
{
    const cq_onnx_schema_attribute *a = r->schema ? cq_onnx_schema_attr(r->schema, name) : NULL;

    return a ? a->fallback : NULL;
}

int64_t cq_rule_int(const cq_rule *r, const char *name, int64_t otherwise)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, name);
    const char              *text;

    if (a && a->type == CQ_ONNX_ATTR_INT)
        return a->i;
    text = fallback(r, name);
    return text ? strtoll(text, NULL, 10) : otherwise;
}

double cq_rule_float(const cq_rule *r, const char *name, double otherwise)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, name);
    const char              *text;

    if (a && a->type == CQ_ONNX_ATTR_FLOAT)
        return (double)a->f;
    text = fallback(r, name);
    return text ? strtod(text, NULL) : otherwise;
}

bool cq_rule_text_is(const cq_rule *r, const char *name, const char *want)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, name);
    const char              *text;

    if (a && a->type == CQ_ONNX_ATTR_STRING)
        return a->s.size == strlen(want) && !memcmp(a->s.data ? a->s.data : "", want, a->s.size);
    text = fallback(r, name);
    return text && !strcmp(text, want);
}

const cq_onnx_ints *cq_rule_ints(const cq_rule *r, const char *name)
{
    const cq_onnx_attribute *a = cq_rule_attr(r, name);

    return a && a->type == CQ_ONNX_ATTR_INTS ? &a->ints : NULL;
}

cq_given cq_rule_list(cq_rule *r, const char *attr, size_t input, int64_t *out, size_t *n,
                      size_t max)
{
    const cq_onnx_ints *ints = cq_rule_ints(r, attr);

    *n = 0;
    if (ints && ints->n > max)
        return CQ_GIVEN_UNKNOWN;
    if (ints) {
        if (ints->n)
            memcpy(out, ints->items, ints->n * sizeof *out);
        *n = ints->n;
        return CQ_GIVEN;
    }
    if (!cq_rule_has(r, input))
        return CQ_NOT_GIVEN;
    return cq_rule_plain_ints(r, input, out, n, max) ? CQ_GIVEN : CQ_GIVEN_UNKNOWN;
}

cq_status cq_rule_axis(size_t *out, const cq_rule *r, int64_t axis, size_t rank)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return cq_rule_fail(r, "axis %lld is outside of rank %zu", (long long)axis, rank);
    *out = (size_t)(axis < 0 ? axis + (int64_t)rank : axis);
    return CQ_OK;
}

cq_given cq_rule_axes(cq_status *status, cq_rule *r, size_t input, size_t rank, uint64_t *out)
{
    int64_t  axes[CQ_MAX_RANK];
    size_t   n, axis;
    cq_given given = cq_rule_list(r, "axes", input, axes, &n, CQ_MAX_RANK);

    *status = CQ_OK;
    *out    = 0;
    for (size_t i = 0; given == CQ_GIVEN && i < n; i++) {
        *status = cq_rule_axis(&axis, r, axes[i], rank);
        if (*status != CQ_OK)
            return CQ_GIVEN_UNKNOWN;
        *out |= (uint64_t)1 << axis;
    }
    return given;
}

/* ---- outputs ---- */

bool cq_rule_wants(const cq_rule *r, size_t i)
{
    return i < r->n_outputs && *r->node->output.items[i];
}

cq_status cq_rule_give_dims(cq_rule *r, size_t i, size_t rank, const cq_dim *dims)
{
    cq_itype *out = &r->outputs[i];

    if (!cq_rule_wants(r, i))
        return CQ_OK;
    for (size_t k = 0; k < rank; k++)
        if (cq_dim_is_plain(dims[k]) && dims[k].size.value < 0)
            return cq_rule_fail(r, "axis %zu of output %zu would have size %lld", k, i,
                                (long long)dims[k].size.value);
    out->dims = cq_arena_copy(r->arena, dims, rank * sizeof *dims);
    if (!out->dims)
        return CQ_E_NO_MEMORY;
    out->kind     = CQ_IKIND_TENSOR;
    out->has_rank = true;
    out->rank     = rank;
    return CQ_OK;
}

cq_status cq_rule_give(cq_rule *r, size_t i, const cq_shape *shape)
{
    return cq_rule_give_dims(r, i, shape->rank, shape->dims);
}

void cq_rule_give_elem(cq_rule *r, size_t i, int32_t elem)
{
    if (!cq_rule_wants(r, i) || elem == CQ_ONNX_UNDEFINED)
        return;
    r->outputs[i].kind = CQ_IKIND_TENSOR;
    r->outputs[i].elem = elem;
}

void cq_rule_give_type(cq_rule *r, size_t i, const cq_itype *type)
{
    if (cq_rule_wants(r, i))
        r->outputs[i] = *type;
}

cq_status cq_rule_give_element(cq_rule *r, size_t i, cq_ikind kind, const cq_itype *element)
{
    const cq_itype *copy    = element ? cq_itype_copy(r->arena, element) : NULL;
    unsigned        nesting = 0;

    if (element && !copy)
        return CQ_E_NO_MEMORY;
    for (; element; element = element->element)
        if (++nesting > CQ_ONNX_INFER_MAX_DEPTH)
            return cq_rule_fail(r, "types are nested more than %d deep", CQ_ONNX_INFER_MAX_DEPTH);
    if (cq_rule_wants(r, i))
        r->outputs[i] = (cq_itype){ .kind = kind, .element = copy };
    return CQ_OK;
}

cq_idata *cq_rule_new_data(cq_rule *r, size_t i, int64_t n)
{
    cq_idata *data;

    if (n < 0 || n > CQ_ONNX_INFER_MAX_ELEMENTS || !cq_rule_wants(r, i))
        return NULL;
    data = cq_arena_zalloc(r->arena, sizeof *data + (size_t)n * sizeof *data->items);
    if (!data) {
        r->symbols->status = CQ_E_NO_MEMORY; /* reported at the end */
        return NULL;
    }
    data->n        = (size_t)n;
    r->out_data[i] = data;
    return data;
}

cq_status cq_rule_fail(const cq_rule *r, const char *format, ...)
{
    const char *name = r->node->name && *r->node->name ? r->node->name : NULL;
    va_list     args;
    cq_status   status;

    va_start(args, format);
    status = cq_fail_v(CQ_E_TYPE, NULL, NULL, format, args);
    va_end(args);
    return cq_error_add_where(status, "node %s (%s)", name ? name : "without a name",
                              r->node->op_type);
}
