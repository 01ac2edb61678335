/* Inputs of a proof: random values of the declared types, or the files of a folder. */
#include "edit/proof.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/path.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_ELEMENTS = 1 << 26, MAX_PATH = 4096 };

void cq_input_set_clear(cq_input_set *set)
{
    for (size_t i = 0; i < set->n && set->items; i++)
        cq_onnx_value_release(set->items[i]);
    cq_free(set->items);
    *set = (cq_input_set){ 0 };
}

static cq_status set_new(cq_input_set *out, size_t n)
{
    out->items = cq_zalloc((n ? n : 1) * sizeof *out->items);
    out->n     = n;
    return out->items ? CQ_OK : CQ_E_NO_MEMORY;
}

/* ---- random numbers: splitmix64 ---- */

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;

    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static double uniform(uint64_t *state)
{
    return (double)(next(state) >> 11) * 0x1p-53;
}

static double normal(uint64_t *state)
{
    const double u = 1 - uniform(state), v = uniform(state);

    return sqrt(-2 * log(u)) * cos(6.283185307179586 * v);
}

/* ---- sizes ---- */

typedef struct chooser {
    const cq_onnx_model   *before, *after;
    const cq_input_choice *choice;
    cq_map                 names; /* of dynamic axes; 1 + the order in which they were met */
    uint64_t               state;
} chooser;

static const cq_onnx_dim *dim_at(const cq_onnx_value_info *info, size_t axis)
{
    const cq_onnx_type  *type  = info ? info->type : NULL;
    const cq_onnx_shape *shape = type && type->tensor_type ? type->tensor_type->shape : NULL;

    return shape && axis < shape->dim.n ? shape->dim.items[axis] : NULL;
}

static bool is_number(const cq_onnx_dim *d)
{
    return d && cq_onnx_has(d, CQ_ONNX_DIM_VALUE) && d->dim_value >= 0;
}

static const cq_onnx_value_info *input_named(const cq_onnx_model *m, const char *name)
{
    for (size_t i = 0; name && i < m->graph->input.n; i++)
        if (m->graph->input.items[i]->name && !strcmp(m->graph->input.items[i]->name, name))
            return m->graph->input.items[i];
    return NULL;
}

static cq_status size_of(int64_t *out, chooser *c, const cq_onnx_value_info *info,
                         const cq_onnx_dim *d, size_t axis)
{
    const cq_onnx_dim *other = dim_at(input_named(c->after, info->name), axis);
    size_t             order;

    *out = c->choice->size;
    if (is_number(d) || is_number(other)) {
        *out = is_number(d) ? d->dim_value : other->dim_value;
        return CQ_OK;
    }
    for (size_t i = 0; i < c->choice->n_given && d && d->dim_param; i++)
        if (strcmp(c->choice->given[i].name, d->dim_param) == 0) {
            *out = c->choice->given[i].size;
            return CQ_OK;
        }
    if (!c->choice->distinct || !d || !d->dim_param || !*d->dim_param)
        return CQ_OK;
    order = (size_t)(uintptr_t)cq_map_get(&c->names, d->dim_param);
    if (!order) {
        order = c->names.n + 1;
        CQ_TRY(cq_map_set(&c->names, d->dim_param, (void *)(uintptr_t)order));
    }
    *out += (int64_t)order - 1;
    return CQ_OK;
}

bool cq_inputs_are_dynamic(const cq_onnx_model *before, const cq_onnx_model *after)
{
    for (size_t i = 0; i < before->graph->input.n; i++) {
        const cq_onnx_value_info *info  = before->graph->input.items[i];
        const cq_onnx_type       *t     = info->type;
        const cq_onnx_shape      *shape = t && t->tensor_type ? t->tensor_type->shape : NULL;

        for (size_t k = 0; shape && k < shape->dim.n; k++)
            if (!is_number(shape->dim.items[k]) &&
                !is_number(dim_at(input_named(after, info->name), k)))
                return true;
    }
    return false;
}

/* ---- values ---- */

static void fill(cq_tensor *real, cq_dtype dtype, chooser *c)
{
    const int64_t below = dtype == CQ_DTYPE_BOOL ? 2 : c->choice->below;
    double       *to    = cq_tensor_data(real);

    for (int64_t i = 0; i < cq_tensor_numel(real); i++)
        to[i] = cq_dtype_is_float(dtype) ? normal(&c->state)
                                         : (double)(next(&c->state) % (uint64_t)below);
}

static cq_status make_strings(cq_onnx_value **out, size_t rank, const int64_t *sizes, int64_t n)
{
    static const char *const words[] = { "a", "b", "text", "0" };
    const char             **items   = cq_zalloc((size_t)(n ? n : 1) * sizeof *items);
    cq_status                status;

    if (!items)
        return CQ_E_NO_MEMORY;
    for (int64_t i = 0; i < n; i++)
        items[i] = words[i % 4];
    status = cq_onnx_value_new_strings(out, rank, sizes, items, NULL);
    cq_free(items);
    return status;
}

static cq_status make_tensor(cq_onnx_value **out, chooser *c, const cq_onnx_value_info *info,
                             const cq_onnx_tensor_type *type)
{
    const cq_onnx_shape *shape = type->shape;
    const size_t         rank  = shape ? shape->dim.n : 1;
    const cq_dtype       dtype = cq_dtype_from_onnx(type->elem_type);
    int64_t              sizes[CQ_MAX_RANK], n = 1;
    cq_tensor           *real = NULL, *t = NULL;
    cq_status            status;

    if (rank > CQ_MAX_RANK || (dtype == CQ_DTYPE_NONE && type->elem_type != CQ_ONNX_STRING))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "input %s has no type that can be made up",
                       info->name);
    for (size_t i = 0; i < rank; i++) {
        CQ_TRY(size_of(&sizes[i], c, info, shape ? shape->dim.items[i] : NULL, i));
        if (__builtin_mul_overflow(n, sizes[i], &n) || n > MAX_ELEMENTS)
            return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "input %s has more than %d elements",
                           info->name, MAX_ELEMENTS);
    }
    if (type->elem_type == CQ_ONNX_STRING)
        return make_strings(out, rank, sizes, n);
    CQ_TRY(cq_tensor_new(&real, CQ_DTYPE_F64, rank, sizes, NULL));
    fill(real, dtype, c);
    status = cq_tensor_clone(&t, real, dtype);
    cq_tensor_release(real);
    CQ_TRY(status);
    cq_tensor_set_made_up(t);
    status = cq_onnx_value_new_tensor(out, t);
    cq_tensor_release(t);
    return status;
}

static cq_status make_value(cq_onnx_value **out, chooser *c, const cq_onnx_value_info *info,
                            const cq_onnx_type *type)
{
    const cq_onnx_type *element =
        type && type->sequence_type ? type->sequence_type->elem_type : NULL;
    cq_onnx_value *items[2] = { NULL };
    cq_status      status   = CQ_OK;

    if (type && type->tensor_type)
        return make_tensor(out, c, info, type->tensor_type);
    if (type && type->optional_type && type->optional_type->elem_type &&
        type->optional_type->elem_type->tensor_type)
        return make_tensor(out, c, info, type->optional_type->elem_type->tensor_type);
    if (!element || !element->tensor_type)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "input %s has no type that can be made up",
                       info->name);
    for (size_t i = 0; i < 2 && status == CQ_OK; i++)
        status = make_tensor(&items[i], c, info, element->tensor_type);
    if (status == CQ_OK)
        status = cq_onnx_value_new_sequence(out, items, 2);
    cq_onnx_value_release(items[0]);
    cq_onnx_value_release(items[1]);
    return status;
}

cq_status cq_input_set_random(cq_input_set *out, const cq_onnx_model *before,
                              const cq_onnx_model *after, const cq_input_choice *choice,
                              uint64_t seed)
{
    chooser   c = { .before = before, .after = after, .choice = choice, .state = seed + 1 };
    cq_status status;

    CQ_TRY(set_new(out, before->graph->input.n));
    status = CQ_OK;
    for (size_t i = 0; i < out->n && status == CQ_OK; i++) {
        const cq_onnx_value_info *info = before->graph->input.items[i];

        if (info->name && !cq_onnx_model_has_initializer(before, info->name))
            status = make_value(&out->items[i], &c, info, info->type);
    }
    cq_map_clear(&c.names);
    if (status != CQ_OK)
        cq_input_set_clear(out);
    return status;
}

/* ---- files ---- */

static cq_status load_input(cq_onnx_value **out, const cq_onnx_model *m, size_t index,
                            const char *folder, size_t number)
{
    char       path[MAX_PATH];
    cq_tensor *t = NULL;
    cq_status  status;

    snprintf(path, sizeof path, "%.4000s/input_%zu.pb", folder, number);
    if (cq_path_exists(path))
        return cq_onnx_value_load_for(out, path, m, CQ_ONNX_INPUTS, index);
    snprintf(path, sizeof path, "%.4000s/input_%zu.npy", folder, number);
    CQ_TRY(cq_tensor_load_npy(&t, path));
    status = cq_onnx_value_new_tensor(out, t);
    cq_tensor_release(t);
    return status;
}

cq_status cq_input_set_load(cq_input_set *out, const cq_onnx_model *m, const char *folder)
{
    size_t    number = 0;
    cq_status status = CQ_OK;

    CQ_TRY(set_new(out, m->graph->input.n));
    for (size_t i = 0; i < out->n && status == CQ_OK; i++) {
        const cq_onnx_value_info *info = m->graph->input.items[i];

        if (info->name && !cq_onnx_model_has_initializer(m, info->name))
            status = load_input(&out->items[i], m, i, folder, number++);
    }
    if (status != CQ_OK)
        cq_input_set_clear(out);
    return status;
}

/* ---- the inputs of the changed model ---- */

static cq_status cast_value(cq_onnx_value **out, cq_onnx_value *v, const cq_onnx_value_info *info)
{
    const cq_onnx_type *type = info->type;
    cq_tensor          *t = cq_onnx_value_tensor(v), *cast = NULL;
    const cq_dtype      want = type && type->tensor_type
                                   ? cq_dtype_from_onnx(type->tensor_type->elem_type)
                                   : CQ_DTYPE_NONE;
    cq_status           status;

    if (!t || want == CQ_DTYPE_NONE || cq_tensor_dtype(t) == want ||
        !cq_dtype_is_float(cq_tensor_dtype(t)) || !cq_dtype_is_float(want)) {
        *out = cq_onnx_value_retain(v);
        return CQ_OK;
    }
    CQ_TRY(cq_tensor_clone(&cast, t, want));
    status = cq_onnx_value_new_tensor(out, cast);
    cq_tensor_release(cast);
    return status;
}

/* The index of an input among those without a default; n if there is none at that position. */
static size_t nth_required(const cq_onnx_model *m, size_t position)
{
    for (size_t i = 0; i < m->graph->input.n; i++)
        if (!cq_onnx_model_has_initializer(m, m->graph->input.items[i]->name) && position-- == 0)
            return i;
    return m->graph->input.n;
}

cq_status cq_input_set_map(cq_input_set *out, const cq_input_set *in, const cq_onnx_model *from,
                           const cq_onnx_model *to)
{
    cq_status status   = CQ_OK;
    size_t    position = 0;

    CQ_TRY(set_new(out, to->graph->input.n));
    for (size_t i = 0; i < out->n && status == CQ_OK; i++) {
        const cq_onnx_value_info *info = to->graph->input.items[i];
        size_t                    k    = 0;

        if (cq_onnx_model_has_initializer(to, info->name))
            continue;
        while (k < in->n && strcmp(from->graph->input.items[k]->name, info->name) != 0)
            k++;
        if (k == in->n)
            k = nth_required(from, position);
        position++;
        if (k < in->n && in->items[k])
            status = cast_value(&out->items[i], in->items[k], info);
    }
    if (status != CQ_OK)
        cq_input_set_clear(out);
    return status;
}

static const cq_onnx_value_info *input_of(const cq_onnx_model *m, const char *name)
{
    for (uint32_t i = 0; i < m->graph->input.n; i++)
        if (strcmp(m->graph->input.items[i]->name, name) == 0)
            return m->graph->input.items[i];
    return NULL;
}

cq_status cq_input_set_round(cq_input_set *set, const cq_onnx_model *m, const cq_onnx_model *other)
{
    cq_status status = CQ_OK;

    for (size_t i = 0; i < set->n && status == CQ_OK; i++) {
        const cq_onnx_value_info *info  = m->graph->input.items[i];
        const cq_onnx_value_info *wants = input_of(other, info->name);
        cq_onnx_value            *cast = NULL, *back = NULL;

        if (!set->items[i] || !wants)
            continue;
        status = cast_value(&cast, set->items[i], wants);
        if (status == CQ_OK)
            status = cast_value(&back, cast, info);
        cq_onnx_value_release(cast);
        if (status == CQ_OK) {
            cq_onnx_value_release(set->items[i]);
            set->items[i] = back;
        }
    }
    return status;
}
