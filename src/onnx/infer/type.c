/* Types of values during inference: conversion from and to the model's types, merging with
 * declarations, and joining the types of branches. */
#include "onnx/infer/internal.h"

#include <stdio.h>

/* ---- from and to the model ---- */

static cq_status dims_from_onnx(cq_itype *out, cq_infer *in, const cq_onnx_shape *shape)
{
    cq_dim *dims;

    if (!shape || shape->dim.n > CQ_MAX_RANK)
        return CQ_OK;
    dims = cq_arena_array(in->arena, shape->dim.n, sizeof *dims);
    if (!dims)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < shape->dim.n; i++) {
        const cq_onnx_dim *d = shape->dim.items[i];

        if (cq_onnx_has(d, CQ_ONNX_DIM_VALUE)) {
            if (d->dim_value >= 0)
                dims[i] = cq_dim_of(d->dim_value);
        } else if (d->dim_param && *d->dim_param) {
            dims[i] = (cq_dim){ true, cq_dim_parse(&in->symbols, d->dim_param) };
        }
    }
    out->has_rank = true;
    out->rank     = shape->dim.n;
    out->dims     = dims;
    return CQ_OK;
}

static cq_status element_from_onnx(cq_itype *out, cq_infer *in, const cq_onnx_element_type *type,
                                   unsigned depth);

static cq_status from_onnx(cq_itype *out, cq_infer *in, const cq_onnx_type *type, unsigned depth)
{
    const cq_onnx_tensor_type *tensor;

    *out = (cq_itype){ 0 };
    if (!type || depth > CQ_ONNX_INFER_MAX_DEPTH)
        return CQ_OK;
    tensor = type->tensor_type ? type->tensor_type : type->sparse_tensor_type;
    if (tensor) {
        out->kind = type->tensor_type ? CQ_IKIND_TENSOR : CQ_IKIND_SPARSE;
        out->elem = tensor->elem_type;
        return dims_from_onnx(out, in, tensor->shape);
    }
    if (type->sequence_type) {
        out->kind = CQ_IKIND_SEQUENCE;
        return element_from_onnx(out, in, type->sequence_type, depth);
    }
    if (type->optional_type) {
        out->kind = CQ_IKIND_OPTIONAL;
        return element_from_onnx(out, in, type->optional_type, depth);
    }
    if (type->map_type || type->opaque_type) {
        out->kind  = CQ_IKIND_OTHER;
        out->other = type;
    }
    return CQ_OK;
}

static cq_status element_from_onnx(cq_itype *out, cq_infer *in, const cq_onnx_element_type *type,
                                   unsigned depth)
{
    cq_itype *element;

    if (!type->elem_type)
        return CQ_OK;
    element = cq_arena_alloc(in->arena, sizeof *element);
    if (!element)
        return CQ_E_NO_MEMORY;
    CQ_TRY(from_onnx(element, in, type->elem_type, depth + 1));
    out->element = element;
    return CQ_OK;
}

cq_status cq_itype_from_onnx(cq_itype *out, cq_infer *in, const cq_onnx_type *type)
{
    return from_onnx(out, in, type, 0);
}

cq_status cq_itype_of_attribute(cq_itype *out, cq_rule *r, const cq_onnx_attribute *a)
{
    return from_onnx(out, r->infer, a->tp, 0);
}

static cq_onnx_type *tensor_to_onnx(cq_infer *in, const cq_itype *type)
{
    cq_onnx_axis  axes[CQ_MAX_RANK];
    cq_onnx_type *result;

    for (size_t i = 0; i < type->rank; i++) {
        cq_dim d = type->dims[i];

        axes[i] = (cq_onnx_axis){ d.known && d.size.expr ? d.size.expr->text : NULL,
                                  cq_dim_is_plain(d) ? d.size.value : -1 };
    }
    result =
        cq_onnx_type_new_tensor(in->model, type->elem, type->rank, type->has_rank ? axes : NULL);
    if (result && type->kind == CQ_IKIND_SPARSE) {
        result->sparse_tensor_type = result->tensor_type;
        result->tensor_type        = NULL;
    }
    return result;
}

/* Denotations are not inferred; they are copied from the declared type. */
static void keep_denotations(cq_onnx_type *type, const cq_onnx_type *like)
{
    const cq_onnx_shape *from = like->tensor_type ? like->tensor_type->shape : NULL;
    cq_onnx_shape       *to   = type->tensor_type ? type->tensor_type->shape : NULL;

    type->denotation = like->denotation;
    for (uint32_t i = 0; from && to && i < from->dim.n && i < to->dim.n; i++)
        to->dim.items[i]->denotation = from->dim.items[i]->denotation;
}

cq_onnx_type *cq_itype_to_onnx(cq_infer *in, const cq_itype *type, const cq_onnx_type *like)
{
    cq_onnx_type *result = NULL, *element;

    switch (type->kind) {
    case CQ_IKIND_TENSOR:
    case CQ_IKIND_SPARSE: result = tensor_to_onnx(in, type); break;
    case CQ_IKIND_SEQUENCE:
    case CQ_IKIND_OPTIONAL:
        element = type->element ? cq_itype_to_onnx(in, type->element, NULL) : NULL;
        result  = type->kind == CQ_IKIND_SEQUENCE ? cq_onnx_type_new_sequence(in->model, element)
                                                  : cq_onnx_type_new_optional(in->model, element);
        break;
    case CQ_IKIND_OTHER: return (cq_onnx_type *)type->other; /* as declared */
    case CQ_IKIND_UNKNOWN: break;
    }
    if (result && like)
        keep_denotations(result, like);
    return result;
}

bool cq_itype_is_whole(const cq_itype *type)
{
    switch (type->kind) {
    case CQ_IKIND_TENSOR:
    case CQ_IKIND_SPARSE: return type->elem != CQ_ONNX_UNDEFINED;
    case CQ_IKIND_SEQUENCE:
    case CQ_IKIND_OPTIONAL: return type->element && cq_itype_is_whole(type->element);
    case CQ_IKIND_OTHER: return true;
    case CQ_IKIND_UNKNOWN: break;
    }
    return false;
}

/* ---- merging ---- */

static cq_status conflict(const char *what, long long declared, long long inferred)
{
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s %lld is declared but %lld is inferred", what,
                   declared, inferred);
}

static cq_status merge_dims(cq_itype *into, cq_infer *in, const cq_itype *from)
{
    cq_dim *dims;

    if (!from->has_rank)
        return CQ_OK;
    if (!into->has_rank) {
        into->has_rank = true;
        into->rank     = from->rank;
        into->dims     = from->dims;
        return CQ_OK;
    }
    if (into->rank != from->rank)
        return conflict("rank", (long long)into->rank, (long long)from->rank);
    dims = cq_arena_array(in->arena, into->rank, sizeof *dims);
    if (!dims)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < into->rank; i++) {
        cq_dim a = into->dims[i], b = from->dims[i];

        if (cq_dim_is_plain(a) && cq_dim_is_plain(b) && a.size.value != b.size.value)
            return conflict("size", a.size.value, b.size.value);
        dims[i] = !a.known || (a.size.expr && cq_dim_is_plain(b)) ? b : a;
    }
    into->dims = dims;
    return CQ_OK;
}

static cq_status merge_element(cq_itype *into, cq_infer *in, const cq_itype *from)
{
    cq_itype element;

    if (!from->element)
        return CQ_OK;
    element = into->element ? *into->element : (cq_itype){ 0 };
    CQ_TRY(cq_itype_merge(&element, in, from->element));
    into->element = cq_itype_copy(in->arena, &element);
    return into->element ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_itype_merge(cq_itype *into, cq_infer *in, const cq_itype *from)
{
    cq_itype merged = *into;

    if (from->kind == CQ_IKIND_UNKNOWN)
        return CQ_OK;
    if (into->kind == CQ_IKIND_UNKNOWN) {
        *into = *from;
        return CQ_OK;
    }
    if (into->kind != from->kind)
        return conflict("kind of type", into->kind, from->kind);
    if (into->elem && from->elem && into->elem != from->elem)
        return conflict("element type", into->elem, from->elem);
    if (!merged.elem)
        merged.elem = from->elem;
    CQ_TRY(merge_dims(&merged, in, from));
    CQ_TRY(merge_element(&merged, in, from));
    *into = merged;
    return CQ_OK;
}

/* ---- joining ---- */

const cq_itype *cq_itype_copy(cq_arena *arena, const cq_itype *t)
{
    return cq_arena_copy(arena, t, sizeof *t);
}

bool cq_itype_same(const cq_itype *a, const cq_itype *b)
{
    if (a->kind != b->kind || a->elem != b->elem || a->has_rank != b->has_rank ||
        a->rank != b->rank || !a->element != !b->element)
        return false;
    for (size_t i = 0; i < a->rank; i++)
        if (!cq_dim_same(a->dims[i], b->dims[i]) && (a->dims[i].known || b->dims[i].known))
            return false;
    return !a->element || cq_itype_same(a->element, b->element);
}

cq_status cq_itype_union(cq_itype *out, cq_arena *arena, const cq_itype *a, const cq_itype *b)
{
    const cq_itype x = *a, y = *b; /* out may be a or b */
    cq_itype       both = x, element;
    cq_dim        *dims;

    *out = (cq_itype){ 0 };
    if (x.kind != y.kind || x.elem != y.elem)
        return CQ_OK;
    if (x.element && y.element) {
        CQ_TRY(cq_itype_union(&element, arena, x.element, y.element));
        both.element = cq_itype_copy(arena, &element);
        if (!both.element)
            return CQ_E_NO_MEMORY;
    } else {
        both.element = x.element ? x.element : y.element; /* an empty sequence has no element
                                                           * type */
    }
    both.has_rank = x.has_rank && y.has_rank && x.rank == y.rank;
    both.rank     = both.has_rank ? x.rank : 0;
    dims          = cq_arena_array(arena, both.rank, sizeof *dims);
    if (!dims)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < both.rank; i++)
        if (cq_dim_same(x.dims[i], y.dims[i]))
            dims[i] = x.dims[i];
    both.dims = dims;
    *out      = both;
    return CQ_OK;
}

/* ---- unknown sizes ---- */

static cq_int fresh(cq_infer *in)
{
    char name[32];

    do
        snprintf(name, sizeof name, "unk__%u", in->n_fresh++);
    while (cq_map_has(&in->symbols.atoms, name));
    return cq_symbol(&in->symbols, name, 1, NULL, 0);
}

cq_status cq_itype_name_unknown(cq_itype *type, cq_infer *in)
{
    cq_dim *dims = NULL;
    bool    any  = false;

    if (type->kind != CQ_IKIND_TENSOR)
        return CQ_OK;
    for (size_t i = 0; i < type->rank; i++)
        any |= !type->dims[i].known;
    if (!any)
        return CQ_OK;
    dims = cq_arena_copy(in->arena, type->dims, type->rank * sizeof *dims);
    if (!dims)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < type->rank; i++)
        if (!dims[i].known)
            dims[i] = (cq_dim){ true, fresh(in) };
    type->dims = dims;
    return CQ_OK;
}
