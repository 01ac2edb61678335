/* The places where a program's types matter although its values are at hand: isinstance, and
 * annotations that convert (an int where a float is declared, a tensor where a number is). */
#include "script/builtin.h"

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
    cq_thing *t = cq_thing_of(v);

    switch (v.kind) {
    case CQ_VAL_NONE: return strcmp(name, "NoneType") == 0 || strcmp(name, "None") == 0;
    case CQ_VAL_TENSOR: return strcmp(name, "Tensor") == 0;
    case CQ_VAL_INT: return strcmp(name, "int") == 0 || strcmp(name, "number") == 0;
    case CQ_VAL_FLOAT: return strcmp(name, "float") == 0 || strcmp(name, "number") == 0;
    case CQ_VAL_BOOL: return strcmp(name, "bool") == 0;
    case CQ_VAL_COMPLEX: return strcmp(name, "complex") == 0;
    case CQ_VAL_STR: return strcmp(name, "str") == 0;
    case CQ_VAL_LIST: return strcmp(name, "list") == 0 || strcmp(name, "List") == 0;
    case CQ_VAL_TUPLE: return strcmp(name, "tuple") == 0 || strcmp(name, "Tuple") == 0;
    case CQ_VAL_DICT: return strcmp(name, "dict") == 0 || strcmp(name, "Dict") == 0;
    case CQ_VAL_DEVICE: return strcmp(name, "Device") == 0 || strcmp(name, "device") == 0;
    case CQ_VAL_OBJECT: return t && t->cls && strcmp(t->cls->name, name) == 0;
    }
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
    /* List[int]: the items must be of that kind too. */
    if (*out && type->kind == CQ_X_INDEX && (v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE))
        for (size_t i = 0; i < v.u.list->n && *out; i++) {
            const cq_ast_expr *element = type->u.index.index;

            if (v.kind == CQ_VAL_TUPLE && element->kind == CQ_X_TUPLE)
                element = i < element->u.items.n ? element->u.items.items[i] : element;
            CQ_TRY(cq_eval_is_instance(ev, v.u.list->items[i], element, out));
        }
    return CQ_OK;
}

cq_status cq_eval_annotate(cq_eval *ev, const cq_ast_expr *type, cq_val v, cq_val *out)
{
    const char *name = name_of(type);
    bool        found;

    *out = v;
    if (cq_thing_as(v, CQ_THING_OPTIONAL)) {
        if (strcmp(name, "Optional") != 0)
            *out = cq_val_unwrap(v);
        return CQ_OK;
    }
    if (type->kind == CQ_X_INDEX && strcmp(name, "Optional") == 0)
        return v.kind == CQ_VAL_NONE ? CQ_OK : cq_eval_annotate(ev, type->u.index.index, v, out);
    if (v.kind == CQ_VAL_TENSOR && strcmp(name, "int") == 0)
        return cq_eval_builtin(ev, "aten::Int", &v, 1, NULL, NULL, 0, out, &found);
    if ((v.kind == CQ_VAL_TENSOR || v.kind == CQ_VAL_INT) && strcmp(name, "float") == 0)
        return cq_eval_builtin(ev, "aten::Float", &v, 1, NULL, NULL, 0, out, &found);
    if (v.kind == CQ_VAL_TENSOR && strcmp(name, "number") == 0)
        return cq_eval_builtin(ev, "aten::item", &v, 1, NULL, NULL, 0, out, &found);
    if (v.kind == CQ_VAL_TENSOR && strcmp(name, "bool") == 0)
        return cq_eval_builtin(ev, "aten::Bool", &v, 1, NULL, NULL, 0, out, &found);
    return CQ_OK;
}
