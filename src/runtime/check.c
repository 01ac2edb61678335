/* Checks before and after every kernel: the types of inputs and, on request, that outputs are
 * finite. */
#include "runtime/run.h"

#include "tensor/convert.h"
#include "tensor/walk.h"

#include <math.h>

/* The type of a value in the terms of schemas; for a map, the bit of its type. */
static void classify(cq_onnx_wrap *wrap, int *data_type, cq_val v)
{
    *wrap      = CQ_ONNX_WRAP_TENSOR;
    *data_type = CQ_ONNX_UNDEFINED;
    if (v.kind == CQ_VAL_TENSOR) {
        *data_type = cq_dtype_to_onnx(v.u.tensor->dtype);
    } else if (cq_val_texts(v)) {
        *data_type = CQ_ONNX_STRING;
    } else if (v.kind == CQ_VAL_LIST) {
        cq_onnx_wrap inner;

        if (v.u.list->n)
            classify(&inner, data_type, v.u.list->items[0]);
        *wrap = CQ_ONNX_WRAP_SEQUENCE;
    } else if (v.kind == CQ_VAL_TUPLE && v.u.list->n == 2) {
        cq_onnx_wrap inner;
        int          key, value;

        classify(&inner, &key, v.u.list->items[0]);
        classify(&inner, &value, v.u.list->items[1]);
        *wrap      = CQ_ONNX_WRAP_MAP;
        *data_type = cq_onnx_map_bit(key, value);
    }
}

/* An optional may also be passed as its value, or omitted. */
static bool allowed(const cq_onnx_types *types, cq_onnx_wrap wrap, int data_type)
{
    uint32_t bits = types->of[wrap];

    if (wrap == CQ_ONNX_WRAP_TENSOR)
        bits |= types->of[CQ_ONNX_WRAP_OPTIONAL];
    if (wrap == CQ_ONNX_WRAP_SEQUENCE)
        bits |= types->of[CQ_ONNX_WRAP_OPTIONAL_SEQUENCE];
    if (wrap == CQ_ONNX_WRAP_SEQUENCE && data_type == CQ_ONNX_UNDEFINED)
        return bits != 0; /* an empty sequence has no element type */
    return data_type >= 0 && data_type < 32 && (bits >> data_type & 1);
}

static bool takes_none(const cq_onnx_parameter *p)
{
    return p->arity == CQ_ONNX_OPTIONAL || p->types.of[CQ_ONNX_WRAP_OPTIONAL] ||
           p->types.of[CQ_ONNX_WRAP_OPTIONAL_SEQUENCE];
}

static cq_status refuse(const cq_rt *rt, const cq_onnx_parameter *p, cq_onnx_wrap wrap,
                        int data_type)
{
    const bool  is_map = wrap == CQ_ONNX_WRAP_MAP;
    const char *name   = is_map ? "another" : cq_onnx_element_name(data_type);
    cq_str      want   = { 0 };
    cq_status   status;

    cq_onnx_types_print(&want, &p->types);
    status = cq_fail(CQ_E_TYPE, NULL, NULL, "input %s is %s(%s), but %s takes %s", p->name,
                     is_map                          ? "map"
                     : wrap == CQ_ONNX_WRAP_SEQUENCE ? "seq"
                                                     : "tensor",
                     name ? name : "unknown", rt->step->schema->name, cq_str_text(&want));
    cq_str_clear(&want);
    return status;
}

enum { MAX_CONSTRAINTS = 16 };

cq_status cq_rt_check_types(const cq_rt *rt)
{
    const cq_onnx_schema *s                      = rt->step->schema;
    int                   bound[MAX_CONSTRAINTS] = { 0 }; /* data type of each type variable */

    for (size_t i = 0; i < rt->n_in; i++) {
        const cq_onnx_parameter *p = cq_onnx_parameter_at(s->inputs, s->n_inputs, i);
        cq_onnx_wrap             wrap;
        int                      data_type;

        if (!p)
            return cq_fail(CQ_E_INVALID, NULL, NULL, "%s takes no input %zu", s->name, i);
        if (rt->in[i].kind == CQ_VAL_NONE) {
            if (takes_none(p))
                continue;
            return cq_fail(CQ_E_TYPE, NULL, NULL, "input %s has no value", p->name);
        }
        classify(&wrap, &data_type, rt->in[i]);
        if (!allowed(&p->types, wrap, data_type))
            return refuse(rt, p, wrap, data_type);
        if (p->constraint < 0 || p->constraint >= MAX_CONSTRAINTS ||
            p->arity == CQ_ONNX_VARIADIC_MIXED || !data_type || wrap == CQ_ONNX_WRAP_MAP)
            continue;
        if (bound[p->constraint] && bound[p->constraint] != data_type)
            return cq_fail(CQ_E_TYPE, NULL, NULL,
                           "input %s has elements of type %s, but another of the same type %s",
                           p->name, cq_onnx_element_name(data_type),
                           cq_onnx_element_name(bound[p->constraint]));
        bound[p->constraint] = data_type;
    }
    return CQ_OK;
}

/* ---- NaN and infinity ---- */

static bool is_finite(cq_val v)
{
    enum { CHUNK = 256 };
    const cq_tensor *t = v.kind == CQ_VAL_TENSOR ? v.u.tensor : NULL;
    double           wide[CHUNK];
    cq_load_fn      *load;
    cq_walk          w;

    if (!t || !cq_dtype_is_float(t->dtype))
        return true;
    load = cq_load_of(t->dtype, CQ_WIDE_F64);
    cq_walk_init(&w, t->rank, t->sizes);
    if (cq_walk_add(&w, t) != CQ_OK)
        return true;
    for (bool more = cq_walk_start(&w, CQ_ANY_ORDER); more; more = cq_walk_next(&w))
        for (int64_t i = 0; i < w.n; i += CHUNK) {
            int64_t n = w.n - i < CHUNK ? w.n - i : CHUNK;

            load(wide, w.at[0] + i * w.step[0], w.step[0], n);
            for (int64_t k = 0; k < n; k++)
                if (!isfinite(wide[k]))
                    return false;
        }
    return true;
}

cq_status cq_rt_check_finite(const cq_rt *rt)
{
    for (size_t i = 0; i < rt->n_in; i++)
        if (!is_finite(rt->in[i]))
            return CQ_OK; /* an input already had NaN or infinity */
    for (size_t i = 0; i < rt->n_out; i++)
        if (cq_rt_wants(rt, i) && !is_finite(rt->out[i]))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "output %s contains NaN or infinity",
                           rt->step->node->output.items[i]);
    return CQ_OK;
}
