/* Arguments that are part of the program. Each is wrapped in a box, so that no walk over the
 * arguments treats it as a tensor or number; a call unwraps it. */
#include "base/json.h"
#include "script/script.h"

enum { MAX_DEPTH = 32 };

typedef struct boxed {
    cq_box box; /* first */
    cq_val value;
} boxed;

static void free_box(cq_box *box)
{
    cq_val_release(((boxed *)box)->value);
    cq_free(box);
}

const cq_val *cq_args_constant_of(cq_val v)
{
    boxed *b = cq_box_of(v, free_box);

    return b ? &b->value : NULL;
}

/* ---- values ---- */

/* The caller owns *out. */
static cq_status value_of(const json_t *j, int depth, cq_val *out)
{
    cq_list  *list;
    cq_status status = CQ_OK;

    *out = CQ_NONE;
    if (depth > MAX_DEPTH)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a constant is nested too deep");
    if (json_is_integer(j))
        *out = cq_val_of_i64(json_integer_value(j));
    else if (json_is_real(j))
        *out = cq_val_of_f64(json_real_value(j));
    else if (json_is_boolean(j))
        *out = cq_val_of_bool(json_is_true(j));
    else if (json_is_string(j))
        return cq_args_text(json_string_value(j), json_string_length(j), out);
    else if (json_is_object(j))
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "a constant cannot be a dict");
    if (!json_is_array(j))
        return CQ_OK;
    CQ_TRY(cq_list_new(&list, 0));
    *out = cq_val_of_list(list);
    for (size_t i = 0; i < json_array_size(j) && status == CQ_OK; i++) {
        cq_val item;

        status = value_of(json_array_get(j, i), depth + 1, &item);
        if (status == CQ_OK)
            status = cq_list_push(list, item);
        cq_val_release(item);
    }
    return status;
}

static cq_status box_of(const char *text, cq_val *out)
{
    json_t   *j = json_loads(text, JSON_DECODE_ANY, NULL);
    boxed    *b = cq_box_new(sizeof *b, free_box);
    cq_status status;

    *out = CQ_NONE;
    if (!b) {
        json_decref(j);
        return CQ_E_NO_MEMORY;
    }
    *out   = cq_val_of_box(&b->box);
    status = j ? value_of(j, 0, &b->value) : cq_args_text(text, strlen(text), &b->value);
    json_decref(j);
    return status;
}

/* ---- indices of parameters ---- */

/* Inserts v before item `at` of a list, or replaces that item. */
static cq_status put(cq_list *list, size_t at, cq_val v, bool replaces)
{
    if (replaces) {
        cq_val_set(&list->items[at], v);
        return CQ_OK;
    }
    CQ_TRY(cq_list_push(list, v));
    for (size_t i = list->n - 1; i > at; i--)
        list->items[i] = list->items[i - 1];
    list->items[at] = v;
    return CQ_OK;
}

/* Whether the argument at an index was given. */
static bool was_given(const cq_args *a, size_t index, size_t n_needed)
{
    cq_val v;

    if (index >= a->positional->n || a->positional->n + a->keywords->n < n_needed)
        return false;
    v = a->positional->items[index];
    return v.kind != CQ_VAL_TENSOR || cq_tensor_numel(v.u.tensor) == 1;
}

static cq_status add(cq_args *a, const char *name, size_t index, size_t n_needed, cq_val v)
{
    cq_val    key;
    cq_status status;

    if (!cq_dict_get_text(a->keywords, name) && index <= a->positional->n)
        return put(a->positional, index, v, was_given(a, index, n_needed));
    CQ_TRY(cq_args_text(name, strlen(name), &key));
    status = cq_dict_set(a->keywords, key, v);
    cq_val_release(key);
    return status;
}

CQ_API cq_status cq_args_set_constant(cq_args *a, cq_script *s, const char *method,
                                      const char *name, const char *value)
{
    CQ_NEED(a && s && name && value);
    size_t       n_needed;
    const size_t index = cq_script_param_slot(s, method, name, &n_needed);
    cq_val       v;
    cq_status    status;

    if (index == SIZE_MAX)
        return cq_fail(CQ_E_ARGUMENT, method ? method : "forward", NULL, "unknown parameter %s",
                       name);
    status = box_of(value, &v);
    if (status == CQ_OK)
        status = add(a, name, index, n_needed, v);
    cq_val_release(v);
    return status;
}
