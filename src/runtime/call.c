/* The arguments of kernels: inputs, attributes, shapes and outputs. Views are in view.c; run.c
 * calls the kernels. */
#include "runtime/call.h"
#include "runtime/plan/work.h"

#include <inttypes.h>
#include <string.h>

/* ---- inputs ---- */

const cq_tensor *cq_rt_in(const cq_rt *rt, size_t i)
{
    return i < rt->n_in && rt->in[i].kind == CQ_VAL_TENSOR ? rt->in[i].u.tensor : NULL;
}

bool cq_rt_has_in(const cq_rt *rt, size_t i)
{
    return i < rt->n_in && rt->in[i].kind != CQ_VAL_NONE;
}

static const char *input_name(const cq_rt *rt, size_t i)
{
    const cq_onnx_parameter *p =
        cq_onnx_parameter_at(rt->step->schema->inputs, rt->step->schema->n_inputs, i);

    return p ? p->name : "an input";
}

static cq_status need_one(const cq_rt *rt, size_t i, const cq_tensor *t)
{
    if (cq_tensor_numel(t) == 1)
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s has %" PRId64 " elements, expected one",
                   input_name(rt, i), cq_tensor_numel(t));
}

cq_status cq_rt_in_i64(int64_t *out, const cq_rt *rt, size_t i, int64_t fallback)
{
    const cq_tensor *t = cq_rt_in(rt, i);

    *out = fallback;
    if (!t)
        return CQ_OK;
    CQ_TRY(need_one(rt, i, t));
    *out = cq_tensor_get_i64(t, 0);
    return CQ_OK;
}

cq_status cq_rt_in_f64(double *out, const cq_rt *rt, size_t i, double fallback)
{
    const cq_tensor *t = cq_rt_in(rt, i);

    *out = fallback;
    if (!t)
        return CQ_OK;
    CQ_TRY(need_one(rt, i, t));
    *out = cq_tensor_get_f64(t, 0);
    return CQ_OK;
}

static cq_status too_many(const char *name, int64_t n)
{
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "%s has %" PRId64 " numbers, at most %d work",
                   name, n, 2 * CQ_MAX_RANK);
}

cq_status cq_rt_in_ints(cq_rt_ints *out, const cq_rt *rt, size_t i)
{
    const cq_tensor *t = cq_rt_in(rt, i);

    out->given = t != NULL;
    out->n     = 0;
    if (!t)
        return CQ_OK;
    if (cq_tensor_numel(t) > 2 * CQ_MAX_RANK)
        return too_many(input_name(rt, i), cq_tensor_numel(t));
    out->n = (size_t)cq_tensor_numel(t);
    for (size_t k = 0; k < out->n; k++)
        out->at[k] = cq_tensor_get_i64(t, (int64_t)k);
    return CQ_OK;
}

/* ---- attributes ---- */

static const cq_rt_attr *attr(const cq_rt *rt, const char *name)
{
    const cq_onnx_schema *s = rt->step->schema;

    for (size_t i = 0; i < s->n_attributes; i++)
        if (!strcmp(s->attributes[i].name, name))
            return &rt->step->attrs[i];
    return NULL;
}

const cq_onnx_attribute *cq_rt_attr_given(const cq_rt *rt, const char *name)
{
    const cq_rt_attr *a = attr(rt, name);

    return a ? a->given : NULL;
}

int64_t cq_rt_int(const cq_rt *rt, const char *name)
{
    const cq_rt_attr *a = attr(rt, name);

    return a ? a->i : 0;
}

double cq_rt_float(const cq_rt *rt, const char *name)
{
    const cq_rt_attr *a = attr(rt, name);

    return a ? a->f : 0;
}

const char *cq_rt_string(const cq_rt *rt, const char *name)
{
    const cq_rt_attr *a = attr(rt, name);

    return a && a->s ? a->s : "";
}

bool cq_rt_is(const cq_rt *rt, const char *name, const char *value)
{
    return !strcmp(cq_rt_string(rt, name), value);
}

cq_status cq_rt_choose(int *out, const cq_rt *rt, const char *name, const char *const *names,
                       size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cq_rt_is(rt, name, names[i])) {
            *out = (int)i;
            return CQ_OK;
        }
    return cq_fail(CQ_E_INVALID, NULL, NULL, "invalid value '%s' for attribute %s",
                   cq_rt_string(rt, name), name);
}

const cq_rt_plan *cq_rt_graph(const cq_rt *rt, const char *name)
{
    const cq_rt_attr *a = attr(rt, name);

    return a ? a->plan : NULL;
}

cq_status cq_rt_attr_ints(cq_rt_ints *out, const cq_rt *rt, const char *name)
{
    const cq_onnx_attribute *a = cq_rt_attr_given(rt, name);

    out->given = a != NULL;
    out->n     = 0;
    if (!a)
        return CQ_OK;
    if (a->ints.n > 2 * CQ_MAX_RANK)
        return too_many(name, a->ints.n);
    out->n = a->ints.n;
    for (size_t k = 0; k < out->n; k++)
        out->at[k] = a->ints.items[k];
    return CQ_OK;
}

cq_status cq_rt_ints_of(cq_rt_ints *out, const cq_rt *rt, const char *name, size_t i)
{
    return attr(rt, name) ? cq_rt_attr_ints(out, rt, name) : cq_rt_in_ints(out, rt, i);
}

cq_status cq_rt_dtype(cq_dtype *out, int64_t data_type)
{
    *out = cq_dtype_from_onnx(data_type);
    if (*out != CQ_DTYPE_NONE)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "elements of type %" PRId64 " are not supported",
                   data_type);
}

cq_status cq_rt_out_dtype(cq_dtype *out, const cq_rt *rt, const char *attribute)
{
    const int64_t         type = cq_rt_int(rt, attribute);
    const cq_onnx_schema *s    = rt->step->schema;

    CQ_TRY(cq_rt_dtype(out, type));
    if (s->outputs[0].types.of[CQ_ONNX_WRAP_TENSOR] >> type & 1)
        return CQ_OK;
    return cq_fail(CQ_E_INVALID, NULL, NULL,
                   "%s requests type %s, but the outputs of %s cannot have it", attribute,
                   cq_onnx_element_name((int32_t)type), s->name);
}

/* ---- shapes ---- */

void cq_rt_sizes_of(cq_rt_sizes *out, const cq_tensor *t)
{
    out->rank = t->rank;
    for (uint32_t i = 0; i < t->rank; i++)
        out->at[i] = cq_size_of(t, i);
}

cq_status cq_rt_axis(uint32_t *out, int64_t axis, uint32_t rank)
{
    if (axis < -(int64_t)rank || axis >= (int64_t)rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "axis %" PRId64 " is not one of %" PRIu32, axis,
                       rank);
    *out = (uint32_t)(axis < 0 ? axis + rank : axis);
    return CQ_OK;
}

cq_status cq_rt_axes(uint64_t *out, const cq_rt_ints *axes, uint32_t rank)
{
    *out = 0;
    if (!axes->n) {
        *out = rank == 64 ? UINT64_MAX : ((uint64_t)1 << rank) - 1;
        return CQ_OK;
    }
    for (size_t i = 0; i < axes->n; i++) {
        uint32_t axis;

        CQ_TRY(cq_rt_axis(&axis, axes->at[i], rank));
        if (*out >> axis & 1)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "axis %" PRIu32 " is given twice", axis);
        *out |= (uint64_t)1 << axis;
    }
    return CQ_OK;
}

cq_status cq_rt_misfit(const cq_tensor *a, const cq_tensor *b)
{
    char one[CQ_DESCRIBE_SIZE], other[CQ_DESCRIBE_SIZE];

    cq_tensor_describe(a, one, sizeof one);
    if (!b)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "unexpected shape %s", one);
    return cq_fail(CQ_E_TYPE, NULL, NULL, "the shapes %s and %s do not match", one,
                   cq_tensor_describe(b, other, sizeof other));
}

/* The first axis at which other does not broadcast; CQ_MAX_RANK if all axes do. */
static uint32_t join(cq_rt_sizes *io, const cq_rt_sizes *other)
{
    uint32_t missing = other->rank > io->rank ? other->rank - io->rank : 0, first;

    for (uint32_t d = io->rank; missing && d-- > 0;)
        io->at[d + missing] = io->at[d];
    for (uint32_t d = 0; d < missing; d++)
        io->at[d] = 1;
    io->rank += missing;
    first = io->rank - other->rank;
    for (uint32_t d = 0; d < other->rank; d++) {
        int64_t *size = &io->at[first + d];

        if (*size == 1)
            *size = other->at[d];
        else if (other->at[d] != 1 && other->at[d] != *size)
            return d;
    }
    return CQ_MAX_RANK;
}

bool cq_rt_sizes_join(cq_rt_sizes *io, const cq_rt_sizes *other)
{
    return join(io, other) == CQ_MAX_RANK;
}

cq_status cq_rt_broadcast_with(cq_rt_sizes *io, const cq_tensor *t)
{
    cq_rt_sizes other;
    uint32_t    at;
    char        text[CQ_DESCRIBE_SIZE];

    cq_rt_sizes_of(&other, t);
    at = join(io, &other);
    if (at == CQ_MAX_RANK)
        return CQ_OK;
    return cq_fail(
        CQ_E_TYPE, NULL, NULL, "the shape %s does not broadcast: %" PRId64 " meets %" PRId64,
        cq_tensor_describe(t, text, sizeof text), other.at[at], io->at[io->rank - other.rank + at]);
}

cq_status cq_rt_broadcast(cq_rt_sizes *out, const cq_tensor *const *tensors, size_t n)
{
    out->rank = 0;
    for (size_t i = 0; i < n; i++)
        if (tensors[i])
            CQ_TRY(cq_rt_broadcast_with(out, tensors[i]));
    return CQ_OK;
}

cq_status cq_rt_product_sizes(cq_rt_sizes *out, const cq_tensor *a, const cq_tensor *b)
{
    cq_int    plain[CQ_MAX_RANK];
    cq_tensor batch = { .sizes = plain };

    if (!a->rank || !b->rank ||
        cq_size_of(a, a->rank - 1) != cq_size_of(b, b->rank > 1 ? b->rank - 2 : 0))
        return cq_rt_misfit(a, b);
    out->rank = 0;
    for (uint32_t i = 0; i + 2 < a->rank; i++)
        out->at[out->rank++] = cq_size_of(a, i);
    for (uint32_t i = 0; i + 2 < b->rank; i++)
        plain[batch.rank++] = cq_i(cq_size_of(b, i));
    CQ_TRY(cq_rt_broadcast_with(out, &batch));
    if (a->rank > 1)
        out->at[out->rank++] = cq_size_of(a, a->rank - 2);
    if (b->rank > 1)
        out->at[out->rank++] = cq_size_of(b, b->rank - 1);
    return CQ_OK;
}

cq_status cq_rt_need_rank(const cq_tensor *t, const char *name, uint32_t rank)
{
    char text[CQ_DESCRIBE_SIZE];

    if (t->rank == rank)
        return CQ_OK;
    return cq_fail(CQ_E_TYPE, NULL, NULL, "%s has shape %s, expected rank %" PRIu32, name,
                   cq_tensor_describe(t, text, sizeof text), rank);
}

/* ---- outputs ---- */

bool cq_rt_wants(const cq_rt *rt, size_t i)
{
    return i < rt->n_out && rt->step->out[i] >= 0;
}

cq_status cq_rt_temp(cq_tensor **out, cq_rt *rt, cq_dtype dtype, size_t rank, const int64_t *sizes)
{
    return cq_rt_workspace_tensor(out, rt->run->workspace, dtype, rank, sizes);
}

static bool dies_here(const cq_rt_step *step, int32_t slot)
{
    for (uint32_t i = 0; i < step->n_dead; i++)
        if (step->dead[i] == slot)
            return true;
    return false;
}

static bool looks_like(const cq_tensor *t, cq_dtype dtype, size_t rank, const int64_t *sizes)
{
    if (t->dtype != dtype || t->rank != rank || !cq_tensor_is_contiguous(t))
        return false;
    for (size_t i = 0; i < rank; i++)
        if (cq_size_of(t, i) != sizes[i])
            return false;
    return true;
}

static bool is_read_twice(const cq_rt *rt, size_t i)
{
    for (size_t k = 0; k < rt->n_in; k++)
        if (k != i && rt->step->in[k] == rt->step->in[i])
            return true;
    return false;
}

/* An input of that type and shape that is not used later, which the output may overwrite; or NULL.
 * The check for NaN compares inputs and outputs afterwards, so it prevents reuse. */
static cq_tensor *replaceable(const cq_rt *rt, cq_dtype dtype, size_t rank, const int64_t *sizes)
{
    static const uint32_t flags[] = { CQ_RT_OVER_0, CQ_RT_OVER_1 };

    for (size_t i = 0; i < 2 && !rt->run->traps_nan; i++) {
        const cq_tensor *t = cq_rt_in(rt, i);

        if (t && (rt->step->row->flags & flags[i]) && dies_here(rt->step, rt->step->in[i]) &&
            !is_read_twice(rt, i) && looks_like(t, dtype, rank, sizes) &&
            cq_rt_workspace_is_only_owner(t))
            return (cq_tensor *)t;
    }
    return NULL;
}

cq_status cq_rt_out(cq_tensor **out, cq_rt *rt, size_t i, cq_dtype dtype, size_t rank,
                    const int64_t *sizes)
{
    cq_tensor *over = i == 0 ? replaceable(rt, dtype, rank, sizes) : NULL;

    if (over) {
        *out = over;
        CQ_TRY(cq_rt_pass(rt, i, over));
    } else {
        CQ_TRY(cq_rt_temp(out, rt, dtype, rank, sizes));
        CQ_TRY(cq_rt_set_tensor(rt, i, *out));
    }
    return cq_rt_spend_on_output(rt, i, dtype, rank, sizes);
}

cq_status cq_rt_out_sized(cq_tensor **out, cq_rt *rt, size_t i, cq_dtype dtype,
                          const cq_rt_sizes *sizes)
{
    return cq_rt_out(out, rt, i, dtype, sizes->rank, sizes->at);
}

cq_status cq_rt_out_like(cq_tensor **out, cq_rt *rt, size_t i, const cq_tensor *like)
{
    cq_rt_sizes sizes;

    cq_rt_sizes_of(&sizes, like);
    return cq_rt_out_sized(out, rt, i, like->dtype, &sizes);
}

cq_status cq_rt_set(cq_rt *rt, size_t i, cq_val value)
{
    if (i >= rt->n_out) {
        cq_val_release(value);
        return cq_fail(CQ_E_INTERNAL, NULL, NULL, "output %zu does not exist", i);
    }
    cq_val_release(rt->out[i]);
    rt->out[i] = value;
    return CQ_OK;
}

cq_status cq_rt_set_tensor(cq_rt *rt, size_t i, cq_tensor *t)
{
    return cq_rt_set(rt, i, cq_val_of_tensor(t));
}

cq_status cq_rt_pass(cq_rt *rt, size_t i, const cq_tensor *t)
{
    return cq_rt_set_tensor(rt, i, cq_tensor_retain((cq_tensor *)t));
}

/* ---- tensors of the call ---- */

cq_status cq_rt_keep(cq_rt *rt, cq_status made, cq_tensor **t)
{
    size_t n = rt->n_kept;

    CQ_TRY(made);
    if (!(n & (n - 1))) { /* the capacity is 1, 2, 4, 8 … */
        cq_tensor **more = cq_realloc_array(rt->kept, n ? 2 * n : 1, sizeof(cq_tensor *));

        if (!more) {
            cq_tensor_release(*t);
            return CQ_E_NO_MEMORY;
        }
        rt->kept = more;
    }
    rt->kept[rt->n_kept++] = *t;
    return CQ_OK;
}

void cq_rt_release_kept(cq_rt *rt)
{
    while (rt->n_kept)
        cq_tensor_release(rt->kept[--rt->n_kept]);
    cq_free(rt->kept);
    rt->kept = NULL;
}

cq_status cq_rt_scratch(cq_tensor **out, cq_rt *rt, cq_dtype dtype, size_t rank,
                        const int64_t *sizes)
{
    return cq_rt_keep(rt, cq_rt_temp(out, rt, dtype, rank, sizes), out);
}

cq_status cq_rt_reshaped(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_rt_sizes *sizes)
{
    return cq_rt_keep(rt, cq_rt_reshape(out, rt, t, sizes), out);
}

cq_status cq_rt_permuted(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const uint32_t *axes)
{
    return cq_rt_keep(rt, cq_rt_permute(out, t, axes), out);
}

cq_status cq_rt_sliced(cq_tensor **out, cq_rt *rt, const cq_tensor *t, uint32_t axis, int64_t start,
                       int64_t step, int64_t n)
{
    return cq_rt_keep(rt, cq_rt_slice(out, t, axis, start, step, n), out);
}

cq_status cq_rt_expanded(cq_tensor **out, cq_rt *rt, const cq_tensor *t, const cq_rt_sizes *sizes)
{
    return cq_rt_keep(rt, cq_rt_expand(out, t, sizes), out);
}

cq_status cq_rt_flattened(cq_tensor **out, cq_rt *rt, const cq_tensor *t)
{
    int64_t     at    = cq_rt_int(rt, "axis");
    cq_rt_sizes sizes = { .rank = 2 };

    if (at < -(int64_t)t->rank || at > (int64_t)t->rank)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "axis %" PRId64 " is not one of %u", at, t->rank);
    at          = at < 0 ? at + t->rank : at;
    sizes.at[0] = cq_sizes_product(t, 0, (size_t)at);
    sizes.at[1] = cq_sizes_product(t, (size_t)at, t->rank);
    return cq_rt_reshaped(out, rt, t, &sizes);
}

cq_status cq_rt_contiguous(const cq_tensor **out, cq_rt *rt, const cq_tensor *t)
{
    cq_tensor *copy;

    *out = t;
    if (cq_tensor_is_contiguous(t))
        return CQ_OK;
    CQ_TRY(cq_rt_keep(rt, cq_tensor_contiguous(&copy, t), &copy));
    *out = copy;
    return CQ_OK;
}
