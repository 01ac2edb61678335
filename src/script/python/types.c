/* type(), isinstance() and issubclass() of Python source, where types are values. The type `int` is
 * the builtin function `int`. */
#include "script/python/python.h"
#include "base/str.h"

static const char *const type_names[] = { "int",          "float",
                                          "bool",         "str",
                                          "list",         "tuple",
                                          "dict",         "complex",
                                          "object",       "type",
                                          "range",        "slice",
                                          "bytes",        "Tensor",
                                          "Parameter",    "device",
                                          "NoneType",     "function",
                                          "dtype",        "Size",
                                          "Generator",    "builtin_function_or_method",
                                          "ellipsis",     "iterator",
                                          "module",       "property",
                                          "staticmethod", "classmethod" };

bool cq_python_is_type_name(const char *name)
{
    return CQ_IS_AMONG(name, type_names);
}

/* The name of the builtin type of a value; NULL if its type is a class of the program. */
static const char *native_type(cq_val v)
{
    static const char *const names[] = {
        [CQ_VAL_NONE] = "NoneType", [CQ_VAL_TENSOR] = "Tensor", [CQ_VAL_INT] = "int",
        [CQ_VAL_FLOAT] = "float",   [CQ_VAL_BOOL] = "bool",     [CQ_VAL_COMPLEX] = "complex",
        [CQ_VAL_STR] = "str",       [CQ_VAL_LIST] = "list",     [CQ_VAL_TUPLE] = "tuple",
        [CQ_VAL_DICT] = "dict",     [CQ_VAL_DEVICE] = "device",
    };
    const cq_object *t = cq_object_of(v);

    if (v.kind == CQ_VAL_TENSOR && v.u.tensor->is_parameter)
        return "Parameter";
    if (v.kind == CQ_VAL_TUPLE && v.u.list->is_size)
        return "Size";
    if (v.kind != CQ_VAL_OBJECT)
        return names[v.kind];
    switch (t ? t->kind : CQ_OBJECT_UNDEFINED) {
    case CQ_OBJECT_BUILTIN:
        return cq_python_is_type_name(t->text) ? "type" : "builtin_function_or_method";
    case CQ_OBJECT_CLASS: return "type";
    case CQ_OBJECT_FUNCTION:
    case CQ_OBJECT_METHOD:
    case CQ_OBJECT_NATIVE: return "function";
    case CQ_OBJECT_RANGE: return "range";
    case CQ_OBJECT_SLICE: return "slice";
    case CQ_OBJECT_ELLIPSIS: return "ellipsis";
    case CQ_OBJECT_DTYPE: return "dtype";
    case CQ_OBJECT_ITERATOR: return "iterator";
    case CQ_OBJECT_GENERATOR: return "generator";
    case CQ_OBJECT_MODULE:
    case CQ_OBJECT_NAMESPACE: return "module";
    case CQ_OBJECT_PROPERTY: return "property";
    case CQ_OBJECT_STATIC: return "staticmethod";
    case CQ_OBJECT_CLASSMETHOD: return "classmethod";
    default: return "object";
    }
}

cq_status cq_python_type(cq_eval *ev, cq_val v, cq_val *out)
{
    cq_object *t = cq_object_of(v);

    v = cq_val_unwrap(v);
    if (t && t->type) {
        *out = cq_val_of_object(t->type);
        return CQ_OK;
    }
    return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, native_type(v), out);
}

static bool is_native(const char *name, const char *type)
{
    return strcmp(name, type) == 0 || strcmp(type, "object") == 0 ||
           (strcmp(type, "int") == 0 && strcmp(name, "bool") == 0) ||
           (strcmp(type, "Tensor") == 0 && strcmp(name, "Parameter") == 0) ||
           (strcmp(type, "tuple") == 0 && strcmp(name, "Size") == 0);
}

/* Whether a library class such as collections.abc.Sequence includes a builtin type. Its attribute
 * __natives__ lists the names. */
static bool stands_for(cq_eval *ev, cq_object *cls, const char *name)
{
    const cq_val *natives = cq_class_find(cls, cq_name(ev->program, "__natives__"), NULL);

    for (size_t i = 0; natives && cq_val_is_list(*natives) && i < natives->u.list->n; i++)
        if (natives->u.list->items[i].kind == CQ_VAL_STR &&
            strcmp(natives->u.list->items[i].u.text->text, name) == 0)
            return true;
    return false;
}

/* Whether a class has the methods that cls requires in __methods__. */
static bool has_methods(cq_eval *ev, cq_object *cls, cq_object *of)
{
    const cq_val *methods = cq_class_find(cls, cq_name(ev->program, "__methods__"), NULL);

    if (!methods || !cq_val_is_list(*methods) || !methods->u.list->n)
        return false;
    for (size_t i = 0; i < methods->u.list->n; i++)
        if (methods->u.list->items[i].kind != CQ_VAL_STR ||
            !cq_class_find(of, cq_name(ev->program, methods->u.list->items[i].u.text->text), NULL))
            return false;
    return true;
}

static cq_status is_a(cq_eval *ev, cq_object *cls, const char *native, cq_val type, bool *out)
{
    cq_object *t = cq_object_of(type);

    *out = false;
    if (cq_object_as(type, CQ_OBJECT_LAZY)) {
        CQ_TRY(cq_lazy_resolve(ev, type, &type));
        return is_a(ev, cls, native, type, out);
    }
    if (cq_val_is_list(type)) {
        cq_status status = CQ_OK;

        CQ_TRY(cq_eval_down(ev, type));
        for (size_t i = 0; i < type.u.list->n && !*out && status == CQ_OK; i++)
            status = is_a(ev, cls, native, type.u.list->items[i], out);
        cq_eval_up(ev);
        return status;
    }
    if (type.kind == CQ_VAL_NONE) {
        *out = native && strcmp(native, "NoneType") == 0;
        return CQ_OK;
    }
    if (t && t->kind == CQ_OBJECT_BUILTIN && cq_python_is_type_name(t->text)) {
        *out = cls ? strcmp(t->text, "object") == 0 ||
                         (cls->native_base && strcmp(cls->native_base, t->text) == 0) ||
                         (cls->cls->kind == CQ_CLASS_NAMED_TUPLE && strcmp(t->text, "tuple") == 0)
                   : is_native(native, t->text);
        return CQ_OK;
    }
    if (!t || t->kind != CQ_OBJECT_CLASS)
        return cq_python_raise(ev, "TypeError", "isinstance() arg 2 must be a type, got %s",
                               cq_eval_type_name(type));
    if (cls && cq_class_is_a(cls, t)) {
        *out = true;
        return CQ_OK;
    }
    *out =
        cls ? has_methods(ev, t, cls) || (cls->native_base && stands_for(ev, t, cls->native_base))
            : stands_for(ev, t, native);
    return CQ_OK;
}

cq_status cq_python_is_instance(cq_eval *ev, cq_val v, cq_val type, bool *out)
{
    cq_object *t = cq_object_of(v), *meta = cq_object_as(type, CQ_OBJECT_CLASS);
    cq_val     answer;
    bool       found = false;

    *out = false;
    if (cq_object_as(type, CQ_OBJECT_LAZY)) {
        CQ_TRY(cq_lazy_resolve(ev, type, &type));
        return cq_python_is_instance(ev, v, type, out);
    }
    if (cq_val_is_list(type)) {
        cq_status status = CQ_OK;

        CQ_TRY(cq_eval_down(ev, type));
        for (size_t i = 0; i < type.u.list->n && !*out && status == CQ_OK; i++)
            status = cq_python_is_instance(ev, v, type.u.list->items[i], out);
        cq_eval_up(ev);
        return status;
    }
    if (meta ? meta->type != NULL : cq_object_as(type, CQ_OBJECT_INSTANCE) != NULL) {
        CQ_TRY(cq_python_special(ev, type, "__instancecheck__", &v, 1, &answer, &found));
        if (found) {
            *out = answer.kind == CQ_VAL_BOOL && answer.u.b.value;
            return CQ_OK;
        }
    }
    return t && t->type ? is_a(ev, t->type, NULL, type, out)
                        : is_a(ev, NULL, native_type(v), type, out);
}

cq_status cq_python_is_subclass(cq_eval *ev, cq_val cls, cq_val type, bool *out)
{
    cq_object *t = cq_object_of(cls);

    if (t && t->kind == CQ_OBJECT_CLASS)
        return is_a(ev, t, NULL, type, out);
    if (t && t->kind == CQ_OBJECT_BUILTIN)
        return is_a(ev, NULL, t->text, type, out);
    return cq_python_raise(ev, "TypeError", "issubclass() arg 1 must be a class");
}

cq_status cq_python_dtype(cq_eval *ev, int64_t number, cq_val *out)
{
    cq_val    *slot = &ev->program->python->dtypes[number & 63];
    cq_object *t;

    if (slot->kind == CQ_VAL_NONE) {
        CQ_TRY(cq_object_new(&t, CQ_OBJECT_DTYPE));
        t->self = cq_val_of_i64(number);
        *slot   = cq_val_of_object(t);
    }
    *out = *slot;
    return CQ_OK;
}

cq_status cq_python_tensor_member(cq_eval *ev, cq_val v, const char *name, cq_val *out, bool *found)
{
    *found = true;
    if (strcmp(name, "shape") == 0)
        return CQ_CALL(ev, out, "aten::size", v);
    if (strcmp(name, "dtype") == 0) {
        CQ_TRY(CQ_CALL(ev, out, "prim::dtype", v));
        return out->kind == CQ_VAL_INT ? cq_python_dtype(ev, out->u.i.value, out) : CQ_OK;
    }
    if (strcmp(name, "requires_grad") == 0) {
        *out = cq_val_of_bool(v.u.tensor->requires_grad);
        return CQ_OK;
    }
    if (strcmp(name, "__class__") == 0)
        return cq_python_type(ev, v, out);
    *found = false;
    return CQ_OK;
}
