/* The declared types of a program: isinstance, conversions by annotations (an int where a float is
 * declared, a tensor where a number is), and conversions of arguments from outside of the
 * program. */
#include "base/str.h"
#include "script/builtins/builtin.h"

/* The last name of a type: Tensor of torch.Tensor, List of List[int]. */
static const char *name_of(const cq_ast_expr *type)
{
    switch (type->kind) {
    case CQ_X_NAME: return type->u.name;
    case CQ_X_ATTR: return type->u.attr.name;
    case CQ_X_INDEX: return name_of(type->u.index.object);
    case CQ_X_NONE: return "NoneType";
    case CQ_X_STR: return type->u.str.text;
    default: return "";
    }
}

static bool is_kind(cq_val v, const char *name)
{
    static const char *const names[][2] = {
        [CQ_VAL_NONE]    = { "NoneType", "None" },
        [CQ_VAL_TENSOR]  = { "Tensor" },
        [CQ_VAL_INT]     = { "int", "number" },
        [CQ_VAL_FLOAT]   = { "float", "number" },
        [CQ_VAL_BOOL]    = { "bool" },
        [CQ_VAL_COMPLEX] = { "complex" },
        [CQ_VAL_STR]     = { "str" },
        [CQ_VAL_LIST]    = { "list", "List" },
        [CQ_VAL_TUPLE]   = { "tuple", "Tuple" },
        [CQ_VAL_DICT]    = { "dict", "Dict" },
        [CQ_VAL_DEVICE]  = { "Device", "device" },
    };
    const cq_object *t = cq_object_of(v);

    if (v.kind == CQ_VAL_OBJECT)
        return t && t->cls && strcmp(t->cls->name, name) == 0;
    for (size_t i = 0; i < 2; i++)
        if (names[v.kind][i] && strcmp(names[v.kind][i], name) == 0)
            return true;
    return false;
}

cq_status cq_eval_is_instance(cq_eval *ev, cq_val v, const cq_ast_expr *type, bool *out)
{
    const char *name = name_of(type);

    *out = false;
    if (type->kind == CQ_X_TUPLE) {
        for (size_t i = 0; i < type->u.items.n && !*out; i++)
            CQ_TRY(cq_eval_is_instance(ev, v, type->u.items.items[i], out));
        return CQ_OK;
    }
    if (strcmp(name, "Any") == 0) {
        *out = true;
        return CQ_OK;
    }
    if (type->kind == CQ_X_INDEX && (strcmp(name, "Optional") == 0 || strcmp(name, "Union") == 0)) {
        *out = strcmp(name, "Optional") == 0 && v.kind == CQ_VAL_NONE;
        return *out ? CQ_OK : cq_eval_is_instance(ev, v, type->u.index.index, out);
    }
    *out = is_kind(v, name);
    /* List[int]: the kind of the items is checked too. */
    if (*out && type->kind == CQ_X_INDEX && (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE))
        for (size_t i = 0; i < v.u.list->n && *out; i++) {
            const cq_ast_expr *element = type->u.index.index;

            if (v.kind == CQ_VAL_TUPLE && element->kind == CQ_X_TUPLE)
                element = i < element->u.items.n ? element->u.items.items[i] : element;
            CQ_TRY(cq_eval_is_instance(ev, v.u.list->items[i], element, out));
        }
    return CQ_OK;
}

const cq_ast_expr *cq_type_of_item(const cq_ast_expr *type, size_t i)
{
    const cq_ast_expr *of = type && type->kind == CQ_X_INDEX ? type->u.index.index : NULL;

    if (!of || of->kind != CQ_X_TUPLE)
        return of && strcmp(name_of(type), "Optional") == 0 ? cq_type_of_item(of, i) : of;
    if (strcmp(name_of(type), "Dict") == 0)
        i = 1;
    return i < of->u.items.n ? of->u.items.items[i] : NULL;
}

bool cq_type_is_optional_tensor(const cq_ast_expr *type)
{
    return type && type->kind == CQ_X_INDEX && strcmp(name_of(type), "Optional") == 0 &&
           strcmp(name_of(type->u.index.index), "Tensor") == 0;
}

bool cq_type_is_dict(const cq_ast_expr *type)
{
    if (type && type->kind == CQ_X_INDEX && strcmp(name_of(type), "Optional") == 0)
        type = type->u.index.index;
    return type && (strcmp(name_of(type), "Dict") == 0 || strcmp(name_of(type), "dict") == 0);
}

/* Conversions of a tensor to a declared number, and of an int to a declared float. */
static const struct {
    const char *type, *builtin;
} conversions[] = { { "int", "aten::Int" },
                    { "float", "aten::Float" },
                    { "bool", "aten::Bool" },
                    { "number", "aten::item" } };

cq_status cq_eval_annotate(cq_eval *ev, const cq_ast_expr *type, cq_val v, cq_val *out)
{
    const char *name = name_of(type);

    *out = v;
    if (cq_object_as(v, CQ_OBJECT_OPTIONAL)) {
        if (strcmp(name, "Optional") != 0 && strcmp(name, "Union") != 0 && strcmp(name, "Any") != 0)
            *out = cq_val_unwrap(v);
        return CQ_OK;
    }
    if (type->kind == CQ_X_INDEX && strcmp(name, "Optional") == 0)
        return v.kind == CQ_VAL_NONE ? CQ_OK : cq_eval_annotate(ev, type->u.index.index, v, out);
    for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
        if (strcmp(name, conversions[i].type) == 0 &&
            (v.kind == CQ_VAL_TENSOR || (v.kind == CQ_VAL_INT && name[0] == 'f')))
            return CQ_CALL(ev, out, conversions[i].builtin, v);
    return CQ_OK;
}

/* ---- arguments from outside ---- */

/* Whether PyTorch converts a value from outside to a declared type. It casts to int and float like
 * Python, where a bool is an int, and to bool if the value has a truth value. */
static bool is_converted(const char *type, cq_val_kind from)
{
    const bool is_whole = from == CQ_VAL_INT || from == CQ_VAL_BOOL;

    if (strcmp(type, "Tensor") == 0)
        return from == CQ_VAL_NONE; /* an undefined tensor */
    if (strcmp(type, "int") == 0)
        return is_whole || from == CQ_VAL_TENSOR;
    if (strcmp(type, "float") == 0)
        return is_whole || from == CQ_VAL_TENSOR;
    if (strcmp(type, "bool") == 0)
        return is_whole || from == CQ_VAL_FLOAT || from == CQ_VAL_NONE || from == CQ_VAL_TENSOR;
    return strcmp(type, "number") == 0 && (is_whole || from == CQ_VAL_TENSOR);
}

/* Whether a type is checked; values of other types are passed to the program unchecked. */
static bool is_checked(const char *type)
{
    static const char *const types[] = { "Tensor", "int",  "float", "bool", "number",
                                         "str",    "List", "Tuple", "Dict" };

    return CQ_IS_AMONG(type, types);
}

static cq_status mismatch(const cq_ast_expr *type, cq_val v)
{
    const char *expected = name_of(type);

    if (v.kind == CQ_VAL_FLOAT)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected %s, got float %.17g", expected,
                       v.u.f.value);
    if (v.kind == CQ_VAL_INT)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected %s, got int %lld", expected,
                       (long long)v.u.i.value);
    return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected %s, got %s", expected,
                   cq_eval_type_name(v));
}

/* Converts items; a tuple is accepted for a list. */
static cq_status accept_items(cq_eval *ev, const cq_ast_expr *type, cq_val v, cq_val *out)
{
    const cq_ast_expr *of       = type->u.index.index;
    const bool         is_tuple = strcmp(name_of(type), "Tuple") == 0;
    const size_t       n        = of->kind == CQ_X_TUPLE ? of->u.items.n : 1;

    if (is_tuple && v.u.list->n != n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected a tuple of %zu, got one of %zu", n,
                       v.u.list->n);
    CQ_TRY(cq_eval_list(ev, NULL, 0, is_tuple ? CQ_VAL_TUPLE : CQ_VAL_LIST, out));
    for (size_t i = 0; i < v.u.list->n; i++) {
        cq_val item;

        CQ_TRY(cq_eval_accept(ev, is_tuple && of->kind == CQ_X_TUPLE ? of->u.items.items[i] : of,
                              v.u.list->items[i], &item));
        CQ_TRY(cq_list_push(out->u.list, item));
    }
    return CQ_OK;
}

static cq_status accept_dict(cq_eval *ev, const cq_ast_expr *const *types, cq_val v, cq_val *out)
{
    CQ_TRY(cq_eval_new_dict(ev, out));
    for (size_t i = 0; i < v.u.dict->n; i++) {
        cq_val key, item;

        CQ_TRY(cq_eval_accept(ev, types[0], v.u.dict->entries[i].key, &key));
        CQ_TRY(cq_eval_accept(ev, types[1], v.u.dict->entries[i].value, &item));
        CQ_TRY(cq_dict_set(out->u.dict, key, item));
    }
    return CQ_OK;
}

cq_status cq_eval_accept(cq_eval *ev, const cq_ast_expr *type, cq_val v, cq_val *out)
{
    const cq_ast_expr *of    = type->kind == CQ_X_INDEX ? type->u.index.index : NULL;
    const char        *name  = name_of(type);
    const bool         known = v.kind != CQ_VAL_OBJECT;

    if (of && known && v.kind != CQ_VAL_NONE && strcmp(name, "Optional") == 0)
        return cq_eval_accept(ev, of, v, out);
    if (of && (v.kind == CQ_VAL_TUPLE || v.kind == CQ_VAL_LIST) &&
        (strcmp(name, "List") == 0 || is_kind(v, name)))
        return accept_items(ev, type, v, out);
    if (of && v.kind == CQ_VAL_DICT && is_kind(v, name) && of->kind == CQ_X_TUPLE &&
        of->u.items.n == 2)
        return accept_dict(ev, (const cq_ast_expr *const *)of->u.items.items, v, out);
    if (known && is_checked(name) && !is_kind(v, name)) {
        if (!is_converted(name, v.kind))
            return mismatch(type, v);
        for (size_t i = 0; i < sizeof conversions / sizeof *conversions; i++)
            if (strcmp(name, conversions[i].type) == 0)
                return CQ_CALL(ev, out, conversions[i].builtin, v);
    }
    return cq_eval_annotate(ev, type, v, out);
}
