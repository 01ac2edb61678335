/* object.name: attributes of namespaces, modules, classes, tensors and plain values. */
#include "script/eval.h"
#include "base/str.h"
#include "script/builtins/builtin.h"
#include "script/python/python.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* POSIX has no names for these in strict C11. */
#define CQ_PI 3.14159265358979323846
#define CQ_E  2.71828182845904523536

/* ---- namespaces ---- */

/* dtypes, layouts and memory formats, which are numbers in archives. */
static const struct {
    const char *name;
    int64_t     value;
} torch_numbers[] = {
    /* clang-format off */
    { "uint8", 0 },    { "int8", 1 },     { "int16", 2 },     { "short", 2 },   { "int32", 3 },
    { "int", 3 },      { "int64", 4 },    { "long", 4 },      { "float16", 5 }, { "half", 5 },
    { "float32", 6 },  { "float", 6 },    { "float64", 7 },   { "double", 7 },  { "complex32", 8 },
    { "complex64", 9 },{ "cfloat", 9 },   { "complex128", 10 }, { "cdouble", 10 }, { "bool", 11 },
    { "qint8", 12 },   { "quint8", 13 },  { "qint32", 14 },   { "bfloat16", 15 },
    { "strided", 0 },  { "contiguous_format", 0 }, { "preserve_format", 1 },
    { "channels_last", 2 }, { "channels_last_3d", 3 }, { "per_tensor_affine", 0 },
    { "per_channel_affine", 1 },
    /* clang-format on */
};

enum { N_DTYPES = 24 /* number of dtypes; layouts and others follow */ };

static const char *const torch_namespaces[] = { "nn",     "jit",       "ops",      "_C",
                                                "linalg", "fft",       "special",  "autograd",
                                                "utils",  "cuda",      "backends", "classes",
                                                "sparse", "overrides", "random",   "distributions",
                                                "onnx",   "testing" };

/* Numbers of torch and math, and Python's names in printed code. */
static const struct {
    const char *name;
    double      value;
} reals[] = {
    { "inf", INFINITY }, { "nan", NAN }, { "pi", CQ_PI }, { "e", CQ_E }, { "tau", 2 * CQ_PI }
};

bool cq_eval_real_constant(const char *name, cq_val *out)
{
    for (size_t i = 0; i < sizeof reals / sizeof *reals; i++)
        if (strcmp(name, reals[i].name) == 0) {
            *out = cq_val_of_f64(reals[i].value);
            return true;
        }
    return false;
}

static cq_status new_object(cq_eval *ev, cq_object_kind kind, const char *prefix, const char *name,
                            cq_val *out)
{
    char full[512];

    snprintf(full, sizeof full, "%s%s", prefix, name);
    return cq_eval_new_object(ev, kind, full, out);
}

static cq_status new_builtin(cq_eval *ev, const char *prefix, const char *name, cq_val *out)
{
    return new_object(ev, CQ_OBJECT_BUILTIN, prefix, name, out);
}

static cq_status new_namespace(cq_eval *ev, const char *path, const char *name, cq_val *out)
{
    char full[512];

    snprintf(full, sizeof full, "%s.%s", path, name);
    return cq_eval_new_object(ev, CQ_OBJECT_NAMESPACE, full, out);
}

/* A function that PyTorch implements in Python (functional.c), otherwise the operator of that
 * name. */
static cq_status functional_member(cq_eval *ev, const char *unit, const char *name, cq_val *out)
{
    char full[256];

    snprintf(full, sizeof full, "%s.%s", unit, name);
    CQ_TRY(cq_program_find(ev->program, full, out));
    return cq_object_as(*out, CQ_OBJECT_FUNCTION) ? CQ_OK : new_builtin(ev, "aten::", name, out);
}

/* In source text these are functions of lib/torch; in an archive they are operators. */
static const char *const torch_functions[] = { "norm", "stft", "tensordot", "unique",
                                               "unique_consecutive" };

static cq_status torch_member(cq_eval *ev, const char *name, cq_val *out)
{
    for (size_t i = 0; i < sizeof torch_numbers / sizeof *torch_numbers; i++)
        if (cq_is(name, torch_numbers[i].name)) {
            if (ev->program->python && i < N_DTYPES)
                return cq_python_dtype(ev, torch_numbers[i].value, out);
            *out = cq_val_of_i64(torch_numbers[i].value);
            return CQ_OK;
        }
    if (cq_eval_real_constant(name, out))
        return CQ_OK;
    if (CQ_IS_AMONG(name, torch_namespaces))
        return new_namespace(ev, "torch", name, out);
    return ev->program->main && CQ_IS_AMONG(name, torch_functions)
               ? functional_member(ev, CQ_TORCH, name, out)
               : new_builtin(ev, "aten::", name, out);
}

static cq_status constant(cq_eval *ev, const char *name, cq_val *out)
{
    char  *end;
    size_t k   = name[0] == 'c' ? strtoul(name + 1, &end, 10) : SIZE_MAX;
    cq_val all = ev->program->constants;

    if (k == SIZE_MAX || *end || (all.kind != CQ_VAL_TUPLE && all.kind != CQ_VAL_LIST) ||
        k >= all.u.list->n)
        return cq_fail(CQ_E_FORMAT, NULL, NULL, "the archive has no constant %s", name);
    *out = all.u.list->items[k];
    return CQ_OK;
}

/* Namespaces whose functions are operators, some with a prefix. */
static const struct {
    const char *path, *prefix;
} operators_in[] = {
    { "math", "aten::" },
    { "warnings", "aten::" },
    { "torch._C._nn", "aten::" },
    { "torch.jit", "aten::" },
    { "torch.autograd", "aten::" },
    { "torch.nn.init", "aten::" },
    { "torch.linalg", "aten::linalg_" },
    { "torch.special", "aten::special_" },
    { "torch.fft", "aten::fft_" },
};

static cq_status find_member(cq_eval *ev, const char *path, const char *name, cq_val *out)
{
    char full[512];

    if (strcmp(path, "torch") == 0)
        return torch_member(ev, name, out);
    if (strcmp(path, "math") == 0 && cq_eval_real_constant(name, out))
        return CQ_OK;
    if (strcmp(path, "calque") == 0 && ev->program->python) {
        bool found;

        snprintf(full, sizeof full, "_native_%s", name);
        CQ_TRY(cq_python_builtin(ev, cq_name(ev->program, full), out, &found));
        if (found)
            return CQ_OK;
    }
    if (strcmp(path, "calque") == 0)
        return cq_python_is_type_name(name) && strcmp(name, "dtype") != 0
                   ? new_builtin(ev, "", name, out)
                   : new_builtin(ev, "calque::", name, out);
    if (strcmp(path, "CONSTANTS") == 0)
        return constant(ev, name, out);
    if (cq_starts_with(path, "__torch__")) {
        snprintf(full, sizeof full, "%s.%s", path, name);
        return cq_program_find(ev->program, full, out);
    }
    if (strcmp(path, "ops") == 0 || strcmp(path, "torch.ops") == 0)
        return new_namespace(ev, "ops", name, out);
    if (cq_starts_with(path, "ops.")) { /* ops.prim.device is prim::device */
        snprintf(full, sizeof full, "%s::", path + 4);
        return new_builtin(ev, full, name, out);
    }
    if (strcmp(path, CQ_FUNCTIONAL) == 0 || strcmp(path, "F") == 0)
        return functional_member(ev, CQ_FUNCTIONAL, name, out);
    for (size_t i = 0; i < sizeof operators_in / sizeof *operators_in; i++)
        if (strcmp(path, operators_in[i].path) == 0)
            return new_builtin(ev, operators_in[i].prefix, name, out);
    return new_namespace(ev, path, name, out);
}

static cq_status namespace_member(cq_eval *ev, cq_object *t, const char *name, cq_val *out)
{
    name = cq_name(ev->program, name);
    *out = cq_val_of_object(cq_ptr_map_get(&t->members, name));
    if (out->kind != CQ_VAL_NONE)
        return CQ_OK;
    CQ_TRY(find_member(ev, t->text, name, out));
    return cq_object_of(*out) ? cq_ptr_map_set(&t->members, name, cq_object_of(*out)) : CQ_OK;
}

/* ---- objects and classes ---- */

static cq_status bound_method(cq_eval *ev, cq_object *of, cq_ast_def *def, cq_val self, cq_val *out)
{
    cq_object *m;

    CQ_TRY(cq_object_new(&m, CQ_OBJECT_FUNCTION));
    m->unit = of->unit;
    m->def  = def;
    m->self = cq_val_retain(self);
    return cq_eval_own(ev, cq_val_of_object(m), out);
}

/* Sets the path of a child module to the attribute path by which it was reached. */
static void name_child(cq_eval *ev, const cq_object *parent, const char *name, cq_val child)
{
    cq_object *t = cq_object_as(child, CQ_OBJECT_INSTANCE);
    char       path[512];

    if (!t || t->text || !t->cls || t->cls->kind != CQ_CLASS_MODULE)
        return;
    snprintf(path, sizeof path, parent->text && parent->text[0] ? "%s.%s" : "%s%s",
             parent->text ? parent->text : "", name);
    t->text = cq_name(ev->program, path);
}

static cq_status object_member(cq_eval *ev, cq_val object, cq_object *t, const char *name,
                               cq_val *out)
{
    const char   *interned = cq_name(ev->program, name);
    cq_val       *v        = cq_object_attribute(t, interned);
    cq_ast_def   *def;
    cq_ast_field *field;

    ev->program->reads_mode |= strcmp(name, "training") == 0;
    if (v) {
        name_child(ev, t, name, *v);
        *out = *v;
        return CQ_OK;
    }
    def = t->cls ? cq_ast_class_method(t->cls, interned) : NULL;
    if (def)
        return bound_method(ev, t, def, object, out);
    field = t->cls ? cq_ast_class_field(t->cls, interned) : NULL;
    if (field && field->value)
        return cq_eval_expr(ev, field->value, out);
    if (strcmp(name, "training") == 0) {
        *out = cq_val_of_bool(false);
        return CQ_OK;
    }
    return cq_fail(CQ_E_NOT_FOUND, t->text, NULL, "%s has no attribute %s",
                   t->cls ? t->cls->name : "the object", name);
}

static cq_status enum_member(cq_eval *ev, cq_object *cls, const cq_ast_field *field, cq_val *out)
{
    cq_object *t;
    cq_val     value;

    CQ_TRY(cq_eval_expr(ev, field->value, &value));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_ENUM));
    t->text = field->name;
    t->cls  = cls->cls;
    t->self = cq_val_retain(value);
    return cq_eval_own(ev, cq_val_of_object(t), out);
}

static cq_status class_member(cq_eval *ev, cq_object *t, const char *name, cq_val *out)
{
    const char   *interned = cq_name(ev->program, name);
    cq_ast_field *field    = cq_ast_class_field(t->cls, interned);
    cq_ast_def   *def      = cq_ast_class_method(t->cls, interned);

    if (field && field->value)
        return t->cls->kind == CQ_CLASS_ENUM ? enum_member(ev, t, field, out)
                                             : cq_eval_expr(ev, field->value, out);
    if (def)
        return bound_method(ev, t, def, CQ_NONE, out);
    if (strcmp(name, "__new__") == 0)
        return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, "__new__", out);
    return cq_fail(CQ_E_NOT_FOUND, t->cls->name, NULL, "the class has no attribute %s", name);
}

static cq_status named_member(const cq_object *t, const char *name, cq_val *out)
{
    for (size_t i = 0; i < t->cls->n_fields; i++)
        if (strcmp(t->cls->fields[i].name, name) == 0) {
            *out = t->self.u.list->items[i];
            return CQ_OK;
        }
    return cq_fail(CQ_E_NOT_FOUND, t->cls->name, NULL, "the tuple has no attribute %s", name);
}

/* ---- plain values ---- */

/* Attributes of tensors that are not methods, with the operator that computes each. */
static const struct {
    const char *name, *builtin;
} tensor_attributes[] = {
    /* clang-format off */
    { "shape", "aten::size" },       { "dtype", "prim::dtype" },
    { "device", "prim::device" },    { "ndim", "aten::dim" },
    { "T", "aten::numpy_T" },        { "mT", "aten::mT" },
    { "H", "aten::matrix_H" },       { "mH", "aten::mH" },
    { "layout", "prim::layout" },    { "is_cuda", "prim::is_cuda" },
    { "is_sparse", "prim::is_sparse" }, { "is_quantized", "prim::is_quantized" },
    { "is_mkldnn", "prim::is_mkldnn" }, { "is_nested", "prim::is_nested" },
    { "requires_grad", "prim::requires_grad" }, { "is_leaf", "prim::is_leaf" },
    { "data", "prim::data" },        { "grad", "prim::grad" },
    { "real", "aten::real" },        { "imag", "aten::imag" },
    { "is_meta", "prim::is_meta" },  { "is_xla", "prim::is_xla" }, { "is_mps", "prim::is_mps" },
    { "is_xpu", "prim::is_xpu" },    { "is_hpu", "prim::is_hpu" },
    { "is_cpu", "prim::is_cpu" },
    /* clang-format on */
};

static cq_status method_of(cq_eval *ev, cq_val v, const char *name, cq_val *out)
{
    CQ_TRY(new_object(ev, CQ_OBJECT_METHOD, "aten::", name, out));
    cq_object_of(*out)->self = cq_val_retain(v);
    return CQ_OK;
}

/* x.float() is a tensor, float(x) a number. */
static const char *const casts[] = { "bfloat16", "bool",  "byte", "cdouble", "cfloat", "char",
                                     "double",   "float", "half", "int",     "long",   "short" };

static cq_status tensor_member(cq_eval *ev, cq_val v, const char *name, cq_val *out)
{
    char cast[16];

    if (ev->program->python) {
        bool found;

        CQ_TRY(cq_python_tensor_member(ev, v, name, out, &found));
        if (found)
            return CQ_OK;
    }
    for (size_t i = 0; i < sizeof tensor_attributes / sizeof *tensor_attributes; i++)
        if (strcmp(name, tensor_attributes[i].name) == 0)
            return CQ_CALL(ev, out, tensor_attributes[i].builtin, v);
    if (CQ_IS_AMONG(name, casts)) {
        snprintf(cast, sizeof cast, "cast_%s", name);
        return method_of(ev, v, cast, out);
    }
    return method_of(ev, v, name, out);
}

/* real, imag, numerator and denominator of a known number. */
static bool number_member(cq_val v, const char *name, cq_val *out)
{
    if (v.kind != CQ_VAL_INT && v.kind != CQ_VAL_FLOAT && v.kind != CQ_VAL_BOOL)
        return false;
    if (strcmp(name, "real") == 0 || (strcmp(name, "numerator") == 0 && v.kind != CQ_VAL_FLOAT))
        *out = v.kind == CQ_VAL_BOOL && !v.u.b.origin ? cq_val_of_i64(v.u.b.value) : v;
    else if (strcmp(name, "imag") == 0)
        *out = v.kind == CQ_VAL_FLOAT ? cq_val_of_f64(0) : cq_val_of_i64(0);
    else if (strcmp(name, "denominator") == 0 && v.kind != CQ_VAL_FLOAT)
        *out = cq_val_of_i64(1);
    else
        return false;
    return true;
}

/* A method that neither the type nor calque has is an AttributeError. */
static cq_status python_method(cq_eval *ev, cq_val v, const char *name, cq_val *out)
{
    bool known, has = cq_python_native_has(v, name, &known);

    if (known && !has && !cq_builtin_exists(name) && !cq_starts_with(name, "__"))
        return cq_python_raise(ev, "AttributeError", "'%s' object has no attribute '%s'",
                               cq_eval_type_name(v), name);
    return method_of(ev, v, name, out);
}

/* Members of values that are neither tensors nor objects; all other members are methods. */
static cq_status plain_member(cq_eval *ev, cq_val v, const char *name, cq_val *out)
{
    const char *colon = v.kind == CQ_VAL_DEVICE ? strchr(v.u.text->text, ':') : NULL;

    if (v.kind == CQ_VAL_NONE)
        ev->raised_class = "AttributeError";
    if (v.kind == CQ_VAL_NONE)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "None has no attribute %s", name);
    if (v.kind == CQ_VAL_DEVICE && strcmp(name, "type") == 0)
        return cq_builtin_text(ev, v.u.text->text, strcspn(v.u.text->text, ":"), out);
    if (v.kind == CQ_VAL_DEVICE && strcmp(name, "index") == 0)
        *out = colon ? cq_val_of_i64(strtol(colon + 1, NULL, 10)) : CQ_NONE;
    else if (v.kind == CQ_VAL_COMPLEX && (strcmp(name, "real") == 0 || strcmp(name, "imag") == 0))
        *out = cq_val_of_f64(name[0] == 'r' ? v.u.c.re : v.u.c.im);
    else if (ev->program->python && number_member(v, name, out))
        return CQ_OK;
    else
        return ev->program->python ? python_method(ev, v, name, out) : method_of(ev, v, name, out);
    return CQ_OK;
}

/* The last three are those of generators. */
static const char *const iterator_methods[] = { "__next__", "__iter__", "send", "throw", "close" };

cq_status cq_eval_attribute(cq_eval *ev, cq_val object, const char *name, cq_val *out)
{
    cq_object *t = cq_object_of(object);
    char       full[256];
    bool       found;

    if (t && ev->program->python) {
        CQ_TRY(cq_python_attribute(ev, object, cq_name(ev->program, name), out, &found));
        if (found)
            return CQ_OK;
    }

    if (object.kind == CQ_VAL_TENSOR)
        return tensor_member(ev, object, name, out);
    if (!t)
        return plain_member(ev, object, name, out);
    switch (t->kind) {
    case CQ_OBJECT_NAMESPACE: return namespace_member(ev, t, name, out);
    case CQ_OBJECT_INSTANCE: return object_member(ev, object, t, name, out);
    case CQ_OBJECT_CLASS: return class_member(ev, t, name, out);
    case CQ_OBJECT_NAMED: return named_member(t, name, out);
    case CQ_OBJECT_ENUM:
        if (strcmp(name, "value") == 0) {
            *out = t->self;
            return CQ_OK;
        }
        if (strcmp(name, "name") == 0)
            return cq_builtin_text(ev, t->text, strlen(t->text), out);
        break;
    case CQ_OBJECT_BUILTIN: /* torch.ops.aten.add.Tensor: the overload of a builtin */
        snprintf(full, sizeof full, "%s.%s", t->text, name);
        return cq_eval_new_object(ev, CQ_OBJECT_BUILTIN, full, out);
    case CQ_OBJECT_OPTIONAL: return cq_eval_attribute(ev, t->self, name, out);
    case CQ_OBJECT_GENERATOR:
    case CQ_OBJECT_ITERATOR:
        if (cq_is_among(name, iterator_methods, t->kind == CQ_OBJECT_GENERATOR ? 5 : 2))
            return method_of(ev, object, name, out);
        break;
    default: break;
    }
    return cq_fail(CQ_E_NOT_FOUND, NULL, NULL, "%s has no attribute %s", cq_eval_type_name(object),
                   name);
}

/* p.requires_grad = False, p.data = x. Other attributes of a tensor are ignored: they are notes for
 * an optimizer, or misspelled. */
static cq_status set_tensor_attribute(cq_eval *ev, cq_tensor *t, const char *name, cq_val v)
{
    if (strcmp(name, "requires_grad") == 0) {
        CQ_TRY(cq_eval_truth(ev, v, &v));
        t->requires_grad = v.u.b.value;
        return CQ_OK;
    }
    if (strcmp(name, "data") == 0 && v.kind == CQ_VAL_TENSOR) {
        cq_val same;

        /* A weight that forward replaces: an update in place has the same result. */
        if (ev->cx->listener && t->dtype == v.u.tensor->dtype && t->rank == v.u.tensor->rank &&
            (!t->tag.owner || t->tag.owner != v.u.tensor->tag.owner)) {
            bool equal = true;

            for (size_t i = 0; i < t->rank; i++)
                equal &= cq_int_same(t->sizes[i], v.u.tensor->sizes[i]);
            if (equal)
                return CQ_CALL(ev, &same, "aten::copy_", cq_val_of_tensor(t), v);
        }
        return cq_eval_rebind(ev, t, v.u.tensor);
    }
    return CQ_OK;
}

cq_status cq_eval_set_attribute(cq_eval *ev, cq_val object, const char *name, cq_val v)
{
    cq_object  *t        = cq_object_as(object, CQ_OBJECT_INSTANCE);
    const char *interned = cq_name(ev->program, name);
    size_t      at;
    bool        done;

    if (ev->program->python) {
        CQ_TRY(cq_python_set_attribute(ev, object, interned, v, &done));
        if (done)
            return CQ_OK;
        if (object.kind == CQ_VAL_TENSOR)
            return set_tensor_attribute(ev, object.u.tensor, name, v);
    }

    if (!t)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "attributes of %s cannot be set",
                       cq_eval_type_name(object));
    for (at = 0; at < t->attributes.n; at++)
        if (t->attributes.items[at].name == interned)
            break;
    if (at == t->attributes.n)
        CQ_TRY(cq_vec_push(&t->attributes, (cq_attribute){ interned, CQ_NONE }));
    CQ_TRY(cq_eval_will_hold(ev, object, v));
    return cq_slot_set(ev, &(cq_change){ .kind = CQ_CHANGE_ATTRIBUTE, .where = t, .index = at }, v);
}
