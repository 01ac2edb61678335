/* Values as a pickle (protocol 2) that PyTorch and torch.load read: dicts, lists, tuples, texts,
 * numbers, tensors and parameters; functions and classes by their names; instances of classes as
 * their class and state, as Python pickles them. save.c writes the pickle and the storages of its
 * tensors as an archive. */
#include "py/pickle.h"
#include "script/builtins/number.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_DEPTH = 200 };

static void put(cq_pickler *p, const char *bytes, size_t n)
{
    cq_str_add_n(&p->text, bytes, n);
}

static void put_le(cq_str *s, uint64_t v, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_str_add_char(s, (char)(v >> (8 * i)));
}

static void put_global(cq_pickler *p, const char *module, const char *name)
{
    cq_str_printf(&p->text, "c%s\n%s\n", module, name);
}

static void put_text(cq_pickler *p, const char *text, size_t n)
{
    put(p, "X", 1);
    put_le(&p->text, n, 4);
    put(p, text, n);
}

static void put_int(cq_pickler *p, int64_t i)
{
    if (i == (int32_t)i) {
        put(p, "J", 1);
        put_le(&p->text, (uint32_t)i, 4);
    } else {
        put(p, "\x8a\x08", 2);
        put_le(&p->text, (uint64_t)i, 8);
    }
}

static void put_float(cq_pickler *p, double f)
{
    uint64_t bits;

    memcpy(&bits, &f, sizeof bits);
    put(p, "G", 1);
    for (int i = 7; i >= 0; i--)
        cq_str_add_char(&p->text, (char)(bits >> (8 * i)));
}

static const char *storage_class(cq_dtype dtype)
{
    switch (dtype) {
    case CQ_DTYPE_F32: return "FloatStorage";
    case CQ_DTYPE_F64: return "DoubleStorage";
    case CQ_DTYPE_F16: return "HalfStorage";
    case CQ_DTYPE_BF16: return "BFloat16Storage";
    case CQ_DTYPE_I64: return "LongStorage";
    case CQ_DTYPE_I32: return "IntStorage";
    case CQ_DTYPE_I16: return "ShortStorage";
    case CQ_DTYPE_I8: return "CharStorage";
    case CQ_DTYPE_U8: return "ByteStorage";
    case CQ_DTYPE_BOOL: return "BoolStorage";
    case CQ_DTYPE_C64: return "ComplexFloatStorage";
    case CQ_DTYPE_C128: return "ComplexDoubleStorage";
    default: return NULL;
    }
}

static cq_status storage_index(cq_pickler *p, cq_storage *s, size_t *out)
{
    *out = (size_t)(uintptr_t)cq_ptr_map_get(&p->indices, s);
    if (!*out) {
        CQ_TRY(cq_vec_push(&p->storages, s));
        *out = p->storages.n;
        CQ_TRY(cq_ptr_map_set(&p->indices, s, (void *)(uintptr_t)*out));
    }
    --*out;
    return CQ_OK;
}

/* _rebuild_tensor_v2(storage, offset, sizes, strides, requires_grad, hooks) */
static cq_status put_tensor(cq_pickler *p, const cq_tensor *t)
{
    const char *cls = storage_class(t->dtype);
    char        key[32];
    size_t      index;

    if (!cls || t->qparams || cq_tensor_is_fake(t))
        return cq_python_raise(p->ev, "NotImplementedError", "torch.save of a tensor of %s",
                               cq_dtype_name(t->dtype));
    CQ_TRY(storage_index(p, t->storage, &index));
    snprintf(key, sizeof key, "%zu", index);
    put_global(p, "torch._utils", "_rebuild_tensor_v2");
    put(p, "((", 2);
    put_text(p, "storage", 7);
    put_global(p, "torch", cls);
    put_text(p, key, strlen(key));
    put_text(p, "cpu", 3);
    put_int(p, (int64_t)(t->storage->size / cq_dtype_size(t->dtype)));
    put(p, "tQ", 2);
    put_int(p, t->offset);
    put(p, "(", 1);
    for (size_t i = 0; i < t->rank; i++)
        put_int(p, t->sizes[i].value);
    put(p, "t(", 2);
    for (size_t i = 0; i < t->rank; i++)
        put_int(p, t->strides[i]);
    put(p, t->requires_grad && !t->is_parameter ? "t\x88" : "t\x89", 2);
    put_global(p, "collections", "OrderedDict");
    put(p, ")RtR", 4);
    return CQ_OK;
}

static cq_status put_parameter(cq_pickler *p, const cq_tensor *t)
{
    put_global(p, "torch._utils", "_rebuild_parameter");
    put(p, "(", 1);
    CQ_TRY(put_tensor(p, t));
    put(p, t->requires_grad ? "\x88" : "\x89", 1);
    put_global(p, "collections", "OrderedDict");
    put(p, ")RtR", 4);
    return CQ_OK;
}

static cq_status put_value(cq_pickler *p, cq_val v, int depth);

static cq_status put_pairs(cq_pickler *p, const cq_dict *dict, int depth)
{
    for (size_t i = 0; i < dict->n; i++) {
        CQ_TRY(put_value(p, dict->entries[i].key, depth));
        CQ_TRY(put_value(p, dict->entries[i].value, depth));
    }
    return CQ_OK;
}

static cq_status put_dict(cq_pickler *p, const cq_dict *dict, int depth)
{
    put(p, "(", 1);
    CQ_TRY(put_pairs(p, dict, depth));
    put(p, "u", 1);
    return CQ_OK;
}

static cq_status put_items(cq_pickler *p, const cq_list *list, int depth)
{
    put(p, "(", 1);
    for (size_t i = 0; i < list->n; i++)
        CQ_TRY(put_value(p, list->items[i], depth));
    return CQ_OK;
}

/* ---- shared values ---- */

/* Gives the value on top of the stack a number, by which get refers to it again. */
static cq_status memoize(cq_pickler *p, cq_val v)
{
    put(p, "r", 1);
    put_le(&p->text, p->kept.n, 4);
    CQ_TRY(cq_vec_push(&p->kept, cq_val_retain(v)));
    return cq_ptr_map_set(&p->memo, v.u.box, (void *)(uintptr_t)p->kept.n);
}

static bool get(cq_pickler *p, const void *box)
{
    const size_t i = (size_t)(uintptr_t)cq_ptr_map_get(&p->memo, box);

    if (i) {
        put(p, "j", 1);
        put_le(&p->text, i - 1, 4);
    }
    return i != 0;
}

/* ---- functions and classes ---- */

static cq_status refuse(cq_pickler *p, cq_val v)
{
    return cq_python_raise(p->ev, "NotImplementedError", "torch.save cannot pickle %s",
                           cq_eval_type_name(v));
}

/* The name of a module in pickles: that of the script is __main__. */
static const char *module_name(const cq_pickler *p, const cq_unit *unit)
{
    return unit == p->ev->program->main ? "__main__" : unit->qualifier;
}

static bool is_global(const cq_frame *globals, const char *name, const cq_object *t)
{
    const cq_val *v = globals && name ? cq_frame_own(globals, name) : NULL;

    return v && cq_object_of(*v) == t;
}

/* The module that has the class under its name: that of the class statement, or for classes that a
 * function made, as namedtuple does, any. */
static cq_status put_class(cq_pickler *p, cq_object *cls)
{
    const cq_map *modules = &p->ev->program->python->modules;
    const char   *name    = cq_name(p->ev->program, cls->cls->name);
    cq_unit      *home    = cls->unit;

    for (size_t i = 0; i < modules->n && !(home && is_global(home->globals, name, cls)); i++)
        home = ((cq_object *)modules->entries[i].value)->unit;
    if (!home || !is_global(home->globals, name, cls))
        return cq_python_raise(p->ev, "AttributeError", "Can't pickle local object '%s'", name);
    put_global(p, module_name(p, home), name);
    return CQ_OK;
}

/* A function of a module's top level; Python refuses others, too. */
static cq_status put_function(cq_pickler *p, cq_object *t)
{
    if (!t->unit || !is_global(t->unit->globals, t->def->name, t))
        return cq_python_raise(p->ev, "AttributeError", "Can't pickle local object '%s'",
                               t->def->name ? t->def->name : "<lambda>");
    put_global(p, module_name(p, t->unit), t->def->name);
    return CQ_OK;
}

static cq_status put_builtin(cq_pickler *p, const cq_object *t)
{
    if (cq_starts_with(t->text, "aten::"))
        put_global(p, "torch", t->text + strlen("aten::"));
    else if (strchr(t->text, ':'))
        return refuse(p, cq_val_of_object((cq_object *)t));
    else
        put_global(p, "builtins", t->text);
    return CQ_OK;
}

/* ---- instances ---- */

static bool is_of(const cq_object *t, const char *module, const char *name)
{
    return t->type && t->type->unit && strcmp(t->type->unit->qualifier, module) == 0 &&
           strcmp(t->type->cls->name, name) == 0;
}

static const cq_val *own(const cq_object *t, const char *name)
{
    const cq_dict *dict = cq_instance_dict((cq_object *)t);

    return dict ? cq_dict_get_text(dict, name) : NULL;
}

/* set([1, 2]) */
static cq_status put_set(cq_pickler *p, const cq_object *t, int depth)
{
    const cq_val  *items = own(t, "_items");
    const cq_dict *dict  = items ? cq_python_dict_of(*items) : NULL;

    put_global(p, "builtins", t->type->cls->name);
    put(p, "](", 2);
    for (size_t i = 0; dict && i < dict->n; i++)
        CQ_TRY(put_value(p, dict->entries[i].key, depth));
    put(p, "e\x85R", 3);
    return CQ_OK;
}

/* Class(value) */
static cq_status put_enum(cq_pickler *p, const cq_object *t, int depth)
{
    CQ_TRY(put_class(p, t->type));
    CQ_TRY(put_value(p, *own(t, "value"), depth));
    put(p, "\x85R", 2);
    return CQ_OK;
}

/* partial(f), and then its state */
static cq_status put_partial(cq_pickler *p, const cq_object *t, int depth)
{
    static const char *const names[] = { "func", "args", "keywords" };

    CQ_TRY(put_class(p, t->type));
    CQ_TRY(put_value(p, *own(t, "func"), depth));
    put(p, "\x85R(", 3);
    for (size_t i = 0; i < 3; i++)
        CQ_TRY(put_value(p, *own(t, names[i]), depth));
    put(p, "}tb", 3);
    return CQ_OK;
}

/* Dicts that modules of lib/torch do not have until they are used, and PyTorch expects. */
static void put_missing_hooks(cq_pickler *p, const cq_dict *state)
{
    static const char *const names[] = { "_backward_hooks", "_forward_hooks",
                                         "_forward_pre_hooks" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (cq_dict_get_text(state, names[i]))
            continue;
        put_text(p, names[i], strlen(names[i]));
        put_global(p, "collections", "OrderedDict");
        put(p, ")R", 2);
    }
}

static cq_status put_state(cq_pickler *p, cq_val v, int depth)
{
    cq_object *t = cq_object_of(v);
    cq_val     state;
    bool       found;

    CQ_TRY(cq_python_special(p->ev, v, "__getstate__", NULL, 0, &state, &found));
    if (!found && !cq_instance_dict(t))
        return CQ_OK;
    if (!found)
        state = cq_val_of_dict(cq_instance_dict(t));
    if (cq_python_is_module(v) && state.kind == CQ_VAL_DICT) {
        put(p, "}(", 2);
        CQ_TRY(put_pairs(p, state.u.dict, depth));
        put_missing_hooks(p, state.u.dict);
        put(p, "u", 1);
    } else {
        CQ_TRY(put_value(p, state, depth));
    }
    put(p, "b", 1);
    return CQ_OK;
}

/* Class.__new__(Class), its contents if the class extends a list or dict, and its state. */
static cq_status put_instance(cq_pickler *p, cq_val v, int depth)
{
    cq_object   *t      = cq_object_of(v);
    const cq_val native = cq_python_native(v);

    CQ_TRY(put_class(p, t->type));
    put(p, ")\x81", 2);
    CQ_TRY(memoize(p, v));
    if (native.kind == CQ_VAL_DICT) {
        CQ_TRY(put_dict(p, native.u.dict, depth));
    } else if (native.kind == CQ_VAL_LIST) {
        CQ_TRY(put_items(p, native.u.list, depth));
        put(p, "e", 1);
    } else if (t->type->native_base) {
        return refuse(p, v);
    }
    return put_state(p, v, depth);
}

static cq_status put_named(cq_pickler *p, const cq_object *t, int depth)
{
    if (!t->type)
        return refuse(p, cq_val_of_object((cq_object *)t));
    CQ_TRY(put_class(p, t->type));
    CQ_TRY(put_items(p, t->self.u.list, depth));
    put(p, "t\x81", 2);
    return CQ_OK;
}

static cq_status put_any_instance(cq_pickler *p, cq_val v, int depth)
{
    const cq_object *t    = cq_object_of(v);
    const cq_object *meta = t->type ? t->type->type : NULL;

    if (!t->type)
        return refuse(p, v);
    if (is_of(t, "builtins", "set") || is_of(t, "builtins", "frozenset"))
        return put_set(p, t, depth);
    if (is_of(t, "functools", "partial"))
        return put_partial(p, t, depth);
    if (meta && own(t, "value") && strcmp(meta->cls->name, "_native_EnumMeta") == 0)
        return put_enum(p, t, depth);
    return put_instance(p, v, depth);
}

static cq_status put_dtype(cq_pickler *p, cq_val v)
{
    const cq_dtype dtype = cq_dtype_from_torch(cq_object_of(v)->self.u.i.value);

    if (dtype == CQ_DTYPE_NONE)
        return refuse(p, v);
    put_global(p, "torch", cq_dtype_name(dtype));
    return CQ_OK;
}

static cq_status put_object(cq_pickler *p, cq_val v, int depth)
{
    cq_object *t = cq_object_of(v);
    cq_val     resolved;

    if (!t)
        return refuse(p, v);
    switch (t->kind) {
    case CQ_OBJECT_INSTANCE: return put_any_instance(p, v, depth);
    case CQ_OBJECT_NAMED: return put_named(p, t, depth);
    case CQ_OBJECT_CLASS: return put_class(p, t);
    case CQ_OBJECT_FUNCTION: return put_function(p, t);
    case CQ_OBJECT_BUILTIN: return put_builtin(p, t);
    case CQ_OBJECT_DTYPE: return put_dtype(p, v);
    case CQ_OBJECT_LAZY:
        CQ_TRY(cq_lazy_resolve(p->ev, v, &resolved));
        return put_value(p, resolved, depth);
    default: return refuse(p, v);
    }
}

static void put_device(cq_pickler *p, const char *text)
{
    const size_t n = strcspn(text, ":");

    put_global(p, "torch", "device");
    put(p, "(", 1);
    put_text(p, text, n);
    if (text[n])
        put_int(p, strtol(text + n + 1, NULL, 10));
    put(p, "tR", 2);
}

static cq_status put_shared(cq_pickler *p, cq_val v, int depth)
{
    switch (v.kind) {
    case CQ_VAL_TENSOR:
        CQ_TRY((v.u.tensor->is_parameter ? put_parameter : put_tensor)(p, v.u.tensor));
        return memoize(p, v);
    case CQ_VAL_LIST:
        put(p, "]", 1);
        CQ_TRY(memoize(p, v));
        CQ_TRY(put_items(p, v.u.list, depth));
        put(p, "e", 1);
        return CQ_OK;
    case CQ_VAL_DICT:
        put(p, "}", 1);
        CQ_TRY(memoize(p, v));
        return put_dict(p, v.u.dict, depth);
    default: return put_object(p, v, depth);
    }
}

static cq_status put_value(cq_pickler *p, cq_val v, int depth)
{
    if (depth == MAX_DEPTH)
        return cq_python_raise(p->ev, "RecursionError", "values are nested more than %d deep",
                               MAX_DEPTH);
    CQ_TRY(cq_eval_step(p->ev));
    if (cq_val_is_symbolic(v))
        return cq_python_raise(p->ev, "TypeError", "torch.save of a number that is not known");
    switch (v.kind) {
    case CQ_VAL_NONE: put(p, "N", 1); return CQ_OK;
    case CQ_VAL_BOOL: put(p, v.u.b.value ? "\x88" : "\x89", 1); return CQ_OK;
    case CQ_VAL_INT: put_int(p, v.u.i.value); return CQ_OK;
    case CQ_VAL_FLOAT: put_float(p, v.u.f.value); return CQ_OK;
    case CQ_VAL_STR: put_text(p, v.u.text->text, v.u.text->len); return CQ_OK;
    case CQ_VAL_DEVICE: put_device(p, v.u.text->text); return CQ_OK;
    case CQ_VAL_COMPLEX:
        put_global(p, "builtins", "complex");
        put_float(p, v.u.c.re);
        put_float(p, v.u.c.im);
        put(p, "\x86R", 2);
        return CQ_OK;
    case CQ_VAL_TUPLE:
        CQ_TRY(put_items(p, v.u.list, depth + 1));
        put(p, "t", 1);
        return CQ_OK;
    default: return get(p, v.u.box) ? CQ_OK : put_shared(p, v, depth + 1);
    }
}

cq_status cq_pickler_run(cq_pickler *p, cq_val v)
{
    put(p, "\x80\x02", 2);
    CQ_TRY(put_value(p, v, 0));
    put(p, ".", 1);
    return p->text.status;
}

void cq_pickler_clear(cq_pickler *p)
{
    cq_str_clear(&p->text);
    cq_vec_clear(&p->storages);
    cq_ptr_map_clear(&p->indices);
    cq_ptr_map_clear(&p->memo);
    for (size_t i = 0; i < p->kept.n; i++)
        cq_val_release(p->kept.items[i]);
    cq_vec_clear(&p->kept);
}
