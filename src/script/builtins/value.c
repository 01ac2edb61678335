/* Builtins of Python source that create numbers, dicts, strings and named tuples, and natives of
 * lib/torch (object.c describes builtins of Python source). */
#include "script/builtins/builtin.h"
#include "base/str.h"
#include "lang/number.h"
#include "script/python/python.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* ---- numbers ---- */

/* In Python, int ** int is an integer; in TorchScript it is a float. */
static cq_status int_pow(cq_fncall *c)
{
    int64_t result;

    if (c->args[0].u.i.expr || c->args[1].u.i.expr || c->args[1].u.i.value < 0)
        return cq_fncall_decline(c);
    if (!cq_number_power(&result, c->args[0].u.i.value, c->args[1].u.i.value))
        return cq_fail(CQ_E_UNSUPPORTED, "pow", NULL, CQ_NUMBER_TOO_LARGE);
    c->result = cq_val_of_i64(result);
    return CQ_OK;
}

/* pow(base, exponent, modulus) */
static cq_status int_pow_modulo(cq_fncall *c)
{
    const int64_t m = c->args[2].u.i.value;
    __int128      base, result = 1;

    if (c->args[0].u.i.expr || c->args[1].u.i.expr || c->args[2].u.i.expr || m <= 0 ||
        c->args[1].u.i.value < 0)
        return cq_fncall_decline(c);
    base = (c->args[0].u.i.value % m + m) % m;
    for (int64_t left = c->args[1].u.i.value; left > 0; left >>= 1) {
        if (left & 1)
            result = result * base % m;
        base = base * base % m;
    }
    c->result = cq_val_of_i64((int64_t)(result % m));
    return CQ_OK;
}

/* int("ff", 16) */
static cq_status int_of_text(cq_fncall *c)
{
    const char   *text = c->args[0].u.text->text;
    const int64_t base = c->args[1].u.i.value;
    char         *end;
    long long     v;

    if (c->args[1].u.i.expr || base < 0 || base == 1 || base > 36)
        return cq_python_raise(c->ev, "ValueError", "int() base must be >= 2 and <= 36, or 0");
    errno = 0;
    v     = strtoll(text, &end, (int)base);
    if (end == text || end[strspn(end, " \t\n")] || errno)
        return cq_python_raise(c->ev, "ValueError",
                               "invalid literal for int() with base %d: '%.100s'", (int)base, text);
    c->result = cq_val_of_i64(v);
    return CQ_OK;
}

/* round(x) is an integer; of an integer, round(x, digits) too. */
static cq_status round_to_int(cq_fncall *c)
{
    const cq_val v = c->args[0];

    if ((v.kind == CQ_VAL_INT || (v.kind == CQ_VAL_BOOL && !v.u.b.origin)) &&
        (c->n == 1 || (c->args[1].kind == CQ_VAL_INT && c->args[1].u.i.value >= 0))) {
        c->result = v.kind == CQ_VAL_INT ? v : cq_val_of_i64(v.u.b.value);
        return CQ_OK;
    }
    if (c->n != 1 || v.kind != CQ_VAL_FLOAT || v.u.f.origin || !(fabs(v.u.f.value) < 9e18))
        return cq_fncall_decline(c);
    c->result = cq_val_of_i64((int64_t)rint(v.u.f.value));
    return CQ_OK;
}

static cq_status int_invert(cq_fncall *c)
{
    if (c->args[0].u.i.expr)
        return cq_fncall_decline(c);
    c->result = cq_val_of_i64(~c->args[0].u.i.value);
    return CQ_OK;
}

/* ---- dicts ---- */

static cq_status add_pairs(cq_fncall *c, cq_dict *dict, cq_val from)
{
    const cq_dict *given = cq_python_dict_of(from);
    cq_list       *items, *pair;

    if (given)
        return cq_dict_add(dict, given);
    if (cq_val_is_object(from) && cq_python_has_special(c->ev, from, "keys")) {
        cq_val method, keys, v;

        CQ_TRY(cq_eval_attribute(c->ev, from, cq_name(c->ev->program, "keys"), &method));
        CQ_TRY(cq_eval_call(c->ev, method, NULL, 0, &keys));
        CQ_TRY(cq_eval_known_items(c->ev, keys, "dict", &items));
        for (size_t i = 0; i < items->n; i++) {
            CQ_TRY(cq_eval_get_item(c->ev, from, items->items[i], &v));
            CQ_TRY(cq_dict_set(dict, items->items[i], v));
        }
        return CQ_OK;
    }
    CQ_TRY(cq_eval_known_items(c->ev, from, "dict", &items));
    for (size_t i = 0; i < items->n; i++) {
        CQ_TRY(cq_eval_known_items(c->ev, items->items[i], "dict", &pair));
        if (pair->n != 2)
            return cq_python_raise(c->ev, "ValueError", "an item of a dict has %zu values",
                                   pair->n);
        CQ_TRY(cq_builtin_key_of(c->ev, dict, &pair->items[0]));
        CQ_TRY(cq_dict_set(dict, pair->items[0], pair->items[1]));
    }
    return CQ_OK;
}

static cq_status add_named(cq_fncall *c, cq_dict *dict)
{
    for (size_t i = 0; i < c->n_kw; i++) {
        cq_val key;

        CQ_TRY(cq_builtin_text(c->ev, c->names[i], strlen(c->names[i]), &key));
        CQ_TRY(cq_dict_set(dict, key, c->kw[i]));
    }
    return CQ_OK;
}

static cq_status new_dict(cq_fncall *c)
{
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    if (c->n)
        CQ_TRY(add_pairs(c, c->result.u.dict, c->args[0]));
    return add_named(c, c->result.u.dict);
}

static cq_status dict_update(cq_fncall *c)
{
    cq_dict *dict = c->n ? cq_python_dict_of(c->args[0]) : NULL;

    if (!dict)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_will_change(c->ev, cq_val_of_dict(dict)));
    if (c->n > 1)
        CQ_TRY(add_pairs(c, dict, c->args[1]));
    CQ_TRY(add_named(c, dict));
    return cq_builtin_return_none(c);
}

static cq_status dict_fromkeys(cq_fncall *c)
{
    cq_list *items;

    CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "fromkeys", &items));
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    for (size_t i = 0; i < items->n; i++) {
        cq_val key = items->items[i];

        CQ_TRY(cq_builtin_key_of(c->ev, c->result.u.dict, &key));
        CQ_TRY(cq_dict_set(c->result.u.dict, key, cq_builtin_arg(c, 1)));
    }
    return CQ_OK;
}

/* dict | dict; the builtins for plain values handle d.setdefault(k) without a value, d | e and d ==
 * e. */
static cq_status dict_or(cq_fncall *c)
{
    const cq_dict *a = cq_python_dict_of(c->args[0]), *b = cq_python_dict_of(c->args[1]);

    if (!a || !b)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    CQ_TRY(cq_dict_add(c->result.u.dict, a));
    return cq_dict_add(c->result.u.dict, b);
}

/* ---- text ---- */

static cq_status text_result(cq_fncall *c, cq_str *s, cq_status status)
{
    if (status == CQ_OK)
        status = s->status;
    if (status == CQ_OK)
        status = cq_builtin_text(c->ev, cq_str_text(s), s->len, &c->result);
    cq_str_clear(s);
    return status;
}

static cq_status any_repr(cq_fncall *c)
{
    cq_str s = { 0 };

    return text_result(c, &s, cq_eval_format(c->ev, &s, c->args[0], true));
}

static cq_status object_str(cq_fncall *c)
{
    cq_str s = { 0 };

    if (!c->n || !cq_val_is_object(c->args[0]))
        return cq_fncall_decline(c);
    return text_result(c, &s, cq_eval_format(c->ev, &s, c->args[0], false));
}

static cq_status any_format(cq_fncall *c)
{
    cq_str       s    = { 0 };
    const cq_val spec = cq_builtin_arg(c, 1);

    /* text.format(…) is handled as a method */
    if (cq_starts_with(c->name, "aten::") || c->n > 2 ||
        (spec.kind != CQ_VAL_STR && spec.kind != CQ_VAL_NONE) || c->n_kw)
        return cq_fncall_decline(c);
    return text_result(c, &s,
                       cq_python_format_spec(c->ev, &s, c->args[0],
                                             c->n > 1 ? spec.u.text->text : "",
                                             c->n > 1 ? spec.u.text->len : 0));
}

/* int(x) and float(x) of an instance. */
static cq_status number_of(cq_fncall *c)
{
    static const char *const names[] = { "__int__", "__float__", "__index__" };
    bool                     found;

    if (!c->n && !strchr(c->name, ':')) {
        c->result = c->row->how ? cq_val_of_f64(0) : cq_val_of_i64(0);
        return CQ_OK;
    }
    if (!c->n || !cq_val_is_object(c->args[0]))
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_special(c->ev, c->args[0], names[c->row->how], NULL, 0, &c->result, &found));
    if (!found && c->row->how == 0)
        CQ_TRY(cq_python_special(c->ev, c->args[0], "__index__", NULL, 0, &c->result, &found));
    return found ? CQ_OK : cq_fncall_decline(c);
}

static cq_status any_bool(cq_fncall *c)
{
    if (!c->n) {
        c->result = cq_val_of_bool(false);
        return CQ_OK;
    }
    return c->args[0].kind == CQ_VAL_TENSOR || cq_val_is_number(c->args[0])
               ? cq_fncall_decline(c)
               : cq_eval_truth(c->ev, c->args[0], &c->result);
}

static cq_status new_sentinel(cq_fncall *c)
{
    cq_object *t;

    CQ_TRY(cq_object_new(&t, CQ_OBJECT_INSTANCE));
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

static cq_status new_slice(cq_fncall *c)
{
    cq_val     parts[3] = { CQ_NONE, CQ_NONE, CQ_NONE }, tuple;
    cq_object *t;

    for (size_t i = 0; i < c->n; i++)
        parts[c->n == 1 ? 1 : i] = c->args[i];
    CQ_TRY(cq_eval_list(c->ev, parts, 3, CQ_VAL_TUPLE, &tuple));
    CQ_TRY(cq_object_new(&t, CQ_OBJECT_SLICE));
    t->self = cq_val_retain(tuple);
    return cq_eval_own(c->ev, cq_val_of_object(t), &c->result);
}

static cq_status new_instance(cq_fncall *c)
{
    cq_object *cls = cq_object_as(c->args[0], CQ_OBJECT_CLASS);

    if (!cls || !cls->mro.n)
        return cq_fncall_decline(c);
    if (cls->cls->kind == CQ_CLASS_NAMED_TUPLE) {
        cq_fncall call = *c;

        call.args++;
        call.n--;
        CQ_TRY(cq_python_new_named(&call, cls));
        c->result = call.result;
        return CQ_OK;
    }
    CQ_TRY(cq_python_new_instance(c->ev, cls, &c->result));
    if (cls->native_base && strcmp(cls->native_base, "dict") != 0 &&
        strcmp(cls->native_base, "list") != 0) {
        cq_val made;

        CQ_TRY(CQ_CALL_BY(cq_eval_call_name, c->ev, &made, cls->native_base,
                          c->n > 1 ? c->args[1] : CQ_NONE));
        cq_val_set(&cq_object_of(c->result)->self, made);
    }
    return CQ_OK;
}

/* ---- named tuples ---- */

static cq_status new_named_class(cq_fncall *c)
{
    cq_object    *cls;
    cq_list      *names = c->args[1].u.list;
    cq_ast_field *fields;

    CQ_TRY(cq_class_new(c->ev, c->args[0].u.text->text, NULL, 0, &cls));
    fields = cq_arena_array(c->ev->program->arena, names->n + 1, sizeof *fields);
    if (!fields)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < names->n; i++) {
        if (names->items[i].kind != CQ_VAL_STR)
            return cq_python_raise(c->ev, "TypeError", "expected a str as field name");
        fields[i] = (cq_ast_field){ .name = cq_name(c->ev->program, names->items[i].u.text->text) };
    }
    cls->cls->kind     = CQ_CLASS_NAMED_TUPLE;
    cls->cls->fields   = fields;
    cls->cls->n_fields = names->n;
    if (c->n > 2 && cq_val_is_list(c->args[2])) { /* defaults of the last fields */
        const cq_list *defaults = c->args[2].u.list;

        for (size_t i = 0; i < defaults->n && i < names->n; i++)
            CQ_TRY(cq_class_set(c->ev, cls, fields[names->n - defaults->n + i].name,
                                defaults->items[i]));
    }
    c->result = cq_val_of_object(cls);
    return CQ_OK;
}

static cq_status named_asdict(cq_fncall *c)
{
    cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_NAMED);

    if (!t)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_new_dict(c->ev, &c->result));
    for (size_t i = 0; i < t->cls->n_fields; i++) {
        cq_val key;

        CQ_TRY(
            cq_builtin_text(c->ev, t->cls->fields[i].name, strlen(t->cls->fields[i].name), &key));
        CQ_TRY(cq_dict_set(c->result.u.dict, key, t->self.u.list->items[i]));
    }
    return CQ_OK;
}

static cq_status named_replace(cq_fncall *c)
{
    cq_object *t = cq_object_as(c->args[0], CQ_OBJECT_NAMED);
    cq_val     items;

    if (!t)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_list(c->ev, t->self.u.list->items, t->self.u.list->n, CQ_VAL_TUPLE, &items));
    for (size_t i = 0; i < t->cls->n_fields; i++) {
        const cq_val *v = cq_fncall_find(c, SIZE_MAX, t->cls->fields[i].name);

        if (v)
            cq_val_set(&items.u.list->items[i], *v);
    }
    CQ_TRY(cq_eval_new_named(c->ev, t, items, &c->result));
    cq_object_of(c->result)->type = t->type;
    return CQ_OK;
}

/* ---- natives of lib/torch ---- */

/* Parameter(data, requires_grad): a new handle of the same memory. */
static cq_status new_parameter(cq_fncall *c)
{
    const cq_tensor *t    = c->n && c->args[0].kind == CQ_VAL_TENSOR ? c->args[0].u.tensor : NULL;
    cq_val           grad = cq_builtin_arg(c, 1);
    cq_tensor       *made;

    if (!t)
        return cq_python_raise(c->ev, "TypeError", "Parameter expects a tensor, got %s",
                               c->n ? cq_eval_type_name(c->args[0]) : "nothing");
    CQ_TRY(cq_tensor_new_view(&made, (cq_tensor *)t, t->dtype, t->rank, t->sizes, t->strides,
                              t->offset));
    made->is_parameter  = true;
    made->requires_grad = c->n < 2;
    if (c->n > 1) {
        CQ_TRY(cq_eval_truth(c->ev, grad, &grad));
        made->requires_grad = grad.u.b.value;
    }
    return cq_eval_own(c->ev, cq_val_of_tensor(made), &c->result);
}

/* call_module(module, function, args, kwargs) calls function in the scope of the module. */
static cq_status call_module(cq_fncall *c)
{
    cq_object     *module = cq_object_as(c->args[0], CQ_OBJECT_INSTANCE);
    const cq_dict *named  = cq_python_dict_of(c->args[3]);
    cq_list       *args, *values;
    cq_scope       scope = { 0 };
    const char   **names;
    cq_fncall      call = { .ev = c->ev, .callee = c->args[1] };
    cq_val         list, *given; /* `given` borrows: an anchor may replace a tensor in the list */
    cq_status      status = CQ_OK, left;
    const bool     scoped = module && module->text;

    if (!module || !named)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[2], "call_module", &args));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
    values = list.u.list;
    names  = cq_alloc_array(named->n + 1, sizeof *names);
    given  = cq_alloc_array(args->n + 1, sizeof *given);
    if (!names || !given)
        status = CQ_E_NO_MEMORY;
    else if (args->n)
        memcpy(given, args->items, args->n * sizeof *given);
    for (size_t i = 0; i < named->n && status == CQ_OK; i++) {
        names[i] = cq_name(c->ev->program, named->entries[i].key.u.text->text);
        status   = cq_list_push(values, named->entries[i].value);
    }
    call.args  = given;
    call.n     = args->n;
    call.names = names;
    call.n_kw  = named->n;
    call.kw    = values->items;
    if (status == CQ_OK && scoped)
        status = cq_eval_enter(c->ev, &scope, module, given, args->n);
    if (status == CQ_OK)
        status = cq_fncall_run(&call, CQ_CALL_ANY);
    if (scoped && names && given) {
        left   = cq_eval_leave(c->ev, &scope, &call.result);
        status = status == CQ_OK ? left : status;
    }
    c->result = call.result;
    cq_free(names);
    cq_free(given);
    return status;
}

/* load_into(tensor, value): the parameter or buffer is rebound to the value and shares its
 * memory. */
static cq_status load_into(cq_fncall *c)
{
    cq_tensor *to = c->args[0].u.tensor, *from = c->args[1].u.tensor;
    const bool grad = to->requires_grad, parameter = to->is_parameter;

    if (from->dtype != to->dtype) {
        from = CQ_OP(c->ev->cx, "aten::to.dtype", TENSOR(from), DTYPE(to->dtype));
        CQ_TRY(c->ev->cx->status);
    }
    CQ_TRY(cq_eval_rebind(c->ev, to, from));
    to->requires_grad = grad;
    to->is_parameter  = parameter;
    return cq_builtin_return_none(c);
}

const cq_builtin cq_builtins_values[] = {
    { "object.__str__(self)", .fn = any_repr },
    { "object.__new__(cls, ...)", .fn = new_instance },
    { "__new__(cls, ...)", .fn = new_instance },
    { "pow(int base, int exponent)", .fn = int_pow },
    { "pow(int base, int exponent, int modulus)", .fn = int_pow_modulo },
    { "round(num x, digits?)", .fn = round_to_int },
    { "bitwise_not(int x)", .fn = int_invert },
    { "dict(...)", .fn = new_dict },
    { "update(self, ...)", .fn = dict_update },
    { "dict.fromkeys(iterable, value?)", .fn = dict_fromkeys },
    { "__or__(self, other)", .fn = dict_or },
    { "repr(object)", .fn = any_repr },
    { "str(object)", .fn = object_str },
    { "format(object, spec?)", .fn = any_format },
    { "int(str text, int base)", .fn = int_of_text },
    { "int(object?)", .fn = number_of, .how = 0 },
    { "float(object?)", .fn = number_of, .how = 1 },
    { "bool(object?)", .fn = any_bool },
    { "object()", .fn = new_sentinel },
    { "slice(a, b?, c?)", .fn = new_slice },
    { "calque::new_named_class(str name, items fields, defaults?)", .fn = new_named_class },
    { "named._asdict(self)", .fn = named_asdict },
    { "named._replace(self, ...)", .fn = named_replace },
    { "Parameter(data?, requires_grad?)", .fn = new_parameter },
    { "calque::call_module(module, function, args, kwargs)", .fn = call_module },
    { "calque::load_into(tensor to, tensor from)", .fn = load_into },
    { 0 },
};
