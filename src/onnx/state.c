/* State that a model passes from run to run. ONNX has no field for it, so it is in the metadata:
 * the key is the name of an input, the value is JSON with the output that provides it for the next
 * run and its initial value: {"output": "state.h_out", "dtype": "float32", "shape": [2, 1], "data":
 * [[0.5], [0]]} If all numbers are equal, data is that number: numpy.full(shape, data, dtype) makes
 * the tensor in both cases. */
#include "base/json_tree.h"
#include "base/str.h"
#include "onnx/model.h"

#include <math.h>
#include <string.h>

#define PREFIX "state."

/* ---- writing ---- */

static void print_number(cq_str *s, const cq_tensor *t, int64_t at)
{
    const double f = at < cq_tensor_numel(t) ? cq_tensor_get_f64(t, at) : 0;

    if (cq_tensor_numel(t) == 0)
        cq_str_printf(s, "0");
    else if (t->dtype == CQ_DTYPE_BOOL)
        cq_str_printf(s, "%s", f != 0 ? "true" : "false");
    else if (!cq_dtype_is_float(t->dtype))
        cq_str_printf(s, "%lld", (long long)cq_tensor_get_i64(t, at));
    else if (isfinite(f))
        cq_str_printf(s, t->dtype == CQ_DTYPE_F64 ? "%.17g" : "%.9g", f);
    else
        cq_str_printf(s, "%s", isnan(f) ? "NaN" : f > 0 ? "Infinity" : "-Infinity");
}

static void print_items(cq_str *s, const cq_tensor *t, size_t axis, int64_t *next)
{
    if (axis == t->rank) {
        print_number(s, t, (*next)++);
        return;
    }
    cq_str_printf(s, "[");
    for (int64_t i = 0; i < t->sizes[axis].value; i++) {
        cq_str_printf(s, i ? ", " : "");
        print_items(s, t, axis + 1, next);
    }
    cq_str_printf(s, "]");
}

static bool is_uniform(const cq_tensor *t)
{
    const int64_t n = cq_tensor_numel(t);

    for (int64_t i = 1; i < n; i++)
        if (cq_tensor_get_f64(t, i) != cq_tensor_get_f64(t, 0))
            return false;
    return true;
}

cq_status cq_onnx_model_note_state(cq_onnx_model *m, const char *input, const char *output,
                                   const cq_tensor *initial)
{
    cq_str  s    = { 0 };
    int64_t next = 0;

    cq_str_printf(&s, "{\"output\": \"%s\", \"dtype\": \"%s\", \"shape\": [", output,
                  cq_dtype_name(initial->dtype));
    for (size_t i = 0; i < initial->rank; i++)
        cq_str_printf(&s, "%s%lld", i ? ", " : "", (long long)initial->sizes[i].value);
    cq_str_printf(&s, "], \"data\": ");
    if (is_uniform(initial))
        print_number(&s, initial, 0);
    else
        print_items(&s, initial, 0, &next);
    cq_str_printf(&s, "}");
    if (s.status == CQ_OK)
        cq_onnx_add_entry(m, &m->metadata_props, input, s.text);
    cq_str_clear(&s);
    return s.status != CQ_OK ? s.status : m->status;
}

/* ---- reading ---- */

static bool is_state(const cq_onnx_entry *e)
{
    return e->key && e->value && strncmp(e->key, PREFIX, strlen(PREFIX)) == 0;
}

CQ_API size_t cq_onnx_model_n_states(const cq_onnx_model *m)
{
    size_t n = 0;

    CQ_NEED_ELSE(m, 0);
    for (size_t i = 0; i < m->metadata_props.n; i++)
        n += is_state(m->metadata_props.items[i]);
    return n;
}

static const cq_onnx_entry *state_at(const cq_onnx_model *m, size_t index)
{
    for (size_t i = 0; i < m->metadata_props.n; i++)
        if (is_state(m->metadata_props.items[i]) && index-- == 0)
            return m->metadata_props.items[i];
    return NULL;
}

/* Sets an element of the widest dtype of its kind. */
static void fill(cq_tensor *t, int64_t at, const cq_json *v)
{
    if (t->dtype == CQ_DTYPE_I64)
        ((int64_t *)cq_tensor_bytes(t))[at] = v->kind == CQ_JSON_BOOL ? v->u.b : cq_json_int(v, 0);
    else
        ((double *)cq_tensor_bytes(t))[at] =
            v->kind == CQ_JSON_FLOAT ? v->u.f : (double)cq_json_int(v, 0);
}

/* Reads nested lists, or one number for all elements. */
static void read_items(cq_tensor *t, const cq_json *data, size_t axis, int64_t *next)
{
    if (axis == t->rank) {
        fill(t, (*next)++, data);
        return;
    }
    for (int64_t i = 0; i < t->sizes[axis].value; i++)
        read_items(t, data->kind == CQ_JSON_LIST ? cq_json_at(data, (size_t)i) : data, axis + 1,
                   next);
}

static cq_status read_initial(const cq_json *state, const char *where, cq_tensor **out)
{
    const cq_json *shape = cq_json_get(state, "shape");
    const cq_dtype dtype = cq_dtype_from_name(cq_json_text(cq_json_get(state, "dtype"), ""));
    int64_t        sizes[CQ_MAX_RANK], next = 0, numel = 1;
    const size_t   rank = cq_json_length(shape);
    cq_tensor     *wide;
    cq_status      status;

    if (dtype == CQ_DTYPE_NONE || rank > CQ_MAX_RANK)
        return cq_fail(CQ_E_FORMAT, where, NULL, "the metadata of a state has no dtype and shape");
    for (size_t i = 0; i < rank; i++) {
        sizes[i] = cq_json_int(cq_json_at(shape, i), -1);
        if (sizes[i] < 0 || __builtin_mul_overflow(numel, sizes[i] ? sizes[i] : 1, &numel) ||
            numel > INT64_C(1) << 32)
            return cq_fail(CQ_E_FORMAT, where, NULL, "the shape of a state is out of range");
    }
    CQ_TRY(cq_tensor_new_uninit(&wide, cq_dtype_is_float(dtype) ? CQ_DTYPE_F64 : CQ_DTYPE_I64, rank,
                                sizes));
    read_items(wide, cq_json_get(state, "data"), 0, &next);
    status = cq_tensor_clone(out, wide, dtype);
    cq_tensor_release(wide);
    return status;
}

CQ_API cq_status cq_onnx_model_state(cq_tensor **initial, const char **input, const char **output,
                                     const cq_onnx_model *m, size_t index)
{
    CQ_NEED_OUT(initial, input && output && m);
    const cq_onnx_entry *e = state_at(m, index);
    const cq_json       *state;
    const char          *name;
    cq_arena            *arena;
    cq_status            status;

    *initial = NULL;
    if (!e)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected %zu states, the model has %zu",
                       cq_onnx_model_n_states(m), index + 1);
    arena = cq_arena_new();
    if (!arena)
        return CQ_E_NO_MEMORY;
    *input = e->key;
    CQ_TRY_OR_DONE(cq_json_parse(&state, arena, e->value, strlen(e->value), e->key));
    name    = cq_json_text(cq_json_get(state, "output"), "");
    *output = "";
    for (size_t i = 0; i < cq_onnx_model_n_values(m, CQ_ONNX_OUTPUTS); i++)
        if (strcmp(name, cq_onnx_model_value_name(m, CQ_ONNX_OUTPUTS, i)) == 0)
            *output = cq_onnx_model_value_name(m, CQ_ONNX_OUTPUTS, i);
    status = read_initial(state, e->key, initial);
done:
    cq_arena_free(arena);
    return status;
}
