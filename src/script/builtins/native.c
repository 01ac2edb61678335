/* Functions that lib/torch and lib/python import from `calque`, because Python cannot express them.
 * Others are in lib/python/builtins.py, with names that begin with _native_. */
#include "script/builtins/builtin.h"
#include "aten/core/op.h"
#include "base/str.h"
#include "script/python/python.h"

static cq_status native_dtype(cq_fncall *c)
{
    static const struct {
        const char *name;
        int64_t     number;
    } dtypes[] = {
        { "uint8", 0 },        { "int8", 1 },           { "int16", 2 },       { "int32", 3 },
        { "int64", 4 },        { "float16", 5 },        { "float32", 6 },     { "float64", 7 },
        { "complex32", 8 },    { "complex64", 9 },      { "complex128", 10 }, { "bool", 11 },
        { "qint8", 12 },       { "quint8", 13 },        { "qint32", 14 },     { "bfloat16", 15 },
        { "float8_e5m2", 23 }, { "float8_e4m3fn", 24 },
    };

    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++)
        if (strcmp(c->args[0].u.text->text, dtypes[i].name) == 0)
            return cq_python_dtype(c->ev, dtypes[i].number, &c->result);
    return cq_python_raise(c->ev, "ValueError", "unknown dtype '%s'", c->args[0].u.text->text);
}

static cq_status default_dtype(cq_fncall *c)
{
    return cq_python_dtype(c->ev, cq_dtype_to_torch(cq_default_float(c->ev->cx->default_float)),
                           &c->result);
}

/* The setting lasts until the program ends: cq_script_begin restores it before each call. */
static cq_status set_default_dtype(cq_fncall *c)
{
    const cq_object *t     = cq_object_as(c->args[0], CQ_OBJECT_DTYPE);
    const cq_dtype   dtype = t ? cq_dtype_from_torch(t->self.u.i.value) : CQ_DTYPE_NONE;

    if (!cq_dtype_is_float(dtype))
        return cq_python_raise(c->ev, "TypeError",
                               "only floating-point types are supported as the default type");
    c->ev->cx->default_float              = dtype;
    c->ev->program->python->default_float = dtype;
    c->result                             = CQ_NONE;
    return CQ_OK;
}

/* The builtin function with the name of an operator. */
static cq_status native_operator(cq_fncall *c)
{
    return cq_eval_new_object(c->ev, CQ_OBJECT_BUILTIN, c->args[0].u.text->text, &c->result);
}

static cq_status class_annotations(cq_fncall *c)
{
    const cq_object *cls  = cq_object_as(c->args[0], CQ_OBJECT_CLASS);
    const char      *name = cq_name(c->ev->program, "__annotations__");
    const size_t     at   = cls ? (size_t)(uintptr_t)cq_ptr_map_get(&cls->members, name) : 0;

    if (!at)
        return cq_eval_new_dict(c->ev, &c->result);
    c->result = cls->attributes.items[at - 1].value;
    return CQ_OK;
}

/* Copies x: a new instance of its class, whose attributes are the results of `function`. The copy
 * is entered into memo first, because its attributes may refer to it. */
static cq_status copy_dict_of(cq_fncall *c)
{
    cq_object     *t = cq_object_as(c->args[0], CQ_OBJECT_INSTANCE);
    const cq_dict *from;
    cq_dict       *to;
    cq_val         key, v;

    if (!t || !t->type) {
        c->result = c->args[0];
        return CQ_OK;
    }
    CQ_TRY(cq_python_new_instance(c->ev, t->type, &c->result));
    if (c->n > 2 && c->args[2].kind == CQ_VAL_DICT) {
        key = cq_val_of_i64((int64_t)((uintptr_t)t & INT64_MAX));
        CQ_TRY(cq_dict_set(c->args[2].u.dict, key, c->result));
    }
    if (t->self.kind != CQ_VAL_NONE) {
        CQ_TRY(cq_eval_call(c->ev, c->args[1], &t->self, 1, &v));
        if (v.kind == CQ_VAL_DICT && v.u.dict == t->self.u.dict) { /* a shallow copy */
            CQ_TRY(cq_eval_new_dict(c->ev, &v));
            CQ_TRY(cq_dict_add(v.u.dict, t->self.u.dict));
        }
        cq_val_set(&cq_object_of(c->result)->self, v);
    }
    from = cq_instance_dict(t);
    if (!from)
        return CQ_OK;
    CQ_TRY(cq_instance_make_dict(cq_object_of(c->result), &to));
    for (size_t i = 0; i < from->n; i++) {
        key = from->entries[i].key;
        CQ_TRY(cq_eval_call(c->ev, c->args[1], &from->entries[i].value, 1, &v));
        CQ_TRY(cq_dict_set(to, key, v));
    }
    return CQ_OK;
}

static cq_status arguments(cq_fncall *c)
{
    const cq_python_host *host = c->ev->program->python->host;
    cq_val                path;

    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    CQ_TRY(cq_builtin_text(c->ev, c->ev->program->main->source.file,
                           strlen(c->ev->program->main->source.file), &path));
    CQ_TRY(cq_list_push(c->result.u.list, path));
    for (size_t i = 0; host && i < host->n_arguments; i++) {
        CQ_TRY(cq_builtin_text(c->ev, host->arguments[i], strlen(host->arguments[i]), &path));
        CQ_TRY(cq_list_push(c->result.u.list, path));
    }
    return CQ_OK;
}

/* host(name, …): functions that only scripts may call. Exports that it makes are charged to the
 * script's steps. */
static cq_status call_host(cq_fncall *c)
{
    const cq_python_host *host   = c->ev->program->python->host;
    const char           *name   = c->args[0].u.text->text;
    const uint64_t        before = c->ev->program->n_steps;

    if (!host)
        return cq_python_raise(c->ev, "NotImplementedError",
                               "%s is for scripts that calque py runs, not for model files", name);
    if (c->ev->capture && strcmp(name, "register") != 0 && strcmp(name, "jit_call") != 0)
        return cq_python_raise(c->ev, "RuntimeError", "%s cannot be called in a forward function",
                               name);
    CQ_TRY(host->call(host->user, c->ev, name, c->args + 1, c->n - 1, &c->result));
    return cq_eval_spend_steps(c->ev, c->ev->program->n_steps - before);
}

static cq_status has_host(cq_fncall *c)
{
    c->result = cq_val_of_bool(c->ev->program->python->host != NULL);
    return CQ_OK;
}

static cq_status is_capturing(cq_fncall *c)
{
    c->result = cq_val_of_bool(c->ev->capture && !c->ev->capture->is_tape);
    return CQ_OK;
}

/* call_in_mode(function, tracing, args, kwargs): tracing lets the example decide branches
 * inside. */
static cq_status call_in_mode(cq_fncall *c)
{
    const bool     outer = c->ev->tracing;
    const cq_dict *named = cq_python_dict_of(c->args[3]);
    cq_val         list;
    const char   **names;
    cq_fncall      call = { .ev = c->ev, .callee = c->args[0] };
    cq_list       *args;
    cq_status      status = CQ_OK;

    if (!named || c->args[1].kind != CQ_VAL_BOOL)
        return cq_fncall_decline(c);
    CQ_TRY(cq_eval_known_items(c->ev, c->args[2], "call_in_mode", &args));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &list));
    names = cq_alloc_array(named->n + 1, sizeof *names);
    if (!names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < named->n && status == CQ_OK; i++) {
        names[i] = cq_name(c->ev->program, named->entries[i].key.u.text->text);
        status   = cq_list_push(list.u.list, named->entries[i].value);
    }
    call.args  = args->items;
    call.n     = args->n;
    call.names = names;
    call.n_kw  = named->n;
    call.kw    = list.u.list->items;
    if (status == CQ_OK) {
        c->ev->tracing = c->args[1].u.b.value;
        status         = cq_fncall_run(&call, CQ_CALL_ANY);
        c->ev->tracing = outer;
    }
    c->result = call.result;
    cq_free(names);
    return status;
}

/* Calls a function of a module of the library. */
static cq_status call_library(cq_fncall *c, const char *module, const char *function)
{
    cq_object *found = NULL;
    cq_fncall  call  = *c;

    if (c->ev->program->python)
        CQ_TRY(cq_python_module(c->ev->program, module, &found));
    if (!found)
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_member(c->ev, found, function, &call.callee));
    call.name = NULL;
    CQ_TRY(cq_fncall_run(&call, CQ_CALL_ANY));
    c->result = call.result;
    return CQ_OK;
}

/* Constructors of tensors that are implemented in Python: torch.Tensor(2, 3),
 * x.new_tensor([1.5]). */
static cq_status call_torch(cq_fncall *c)
{
    return call_library(c, "torch", c->row->how ? "_new_tensor_like" : "_new_tensor");
}

/* x.new(2, 3), x.new([1.5]): a constructor of PyTorch before 0.4. */
static cq_status new_like(cq_fncall *c)
{
    return call_library(c, "torch", "_new");
}

/* x.type(torch.LongTensor), x.type("torch.LongTensor") */
static cq_status convert_type(cq_fncall *c)
{
    return c->n == 1 || c->args[1].kind == CQ_VAL_STR ||
                   cq_object_as(c->args[1], CQ_OBJECT_INSTANCE)
               ? call_library(c, "torch", "_convert_type")
               : cq_fncall_decline(c);
}

/* A convolution whose number of groups is a dynamic size: the functions of lib/torch. */
static cq_status convolve_groups(cq_fncall *c)
{
    return cq_val_is_symbolic(cq_fncall_arg(c, 6, "groups"))
               ? call_library(c, "torch.dynamic_groups", c->row->how ? "conv_transpose" : "conv")
               : cq_fncall_decline(c);
}

/* numpy's conversions of numbers use Python numbers: np.ceil(2.5).astype(int). */
static cq_status convert_number(cq_fncall *c)
{
    return cq_val_is_number(c->args[0]) ? call_library(c, "numpy.array", "_convert_number")
                                        : cq_fncall_decline(c);
}

/* Python's abs(x), round(x), pow(x, y), max(x) and max(x, y) of tensors. */
static cq_status call_operator(cq_fncall *c)
{
    static const char *const names[][2] = { { "aten::abs" },
                                            { "aten::round" },
                                            { NULL, "aten::pow" },
                                            { "aten::max", "aten::maximum" },
                                            { "aten::min", "aten::minimum" } };
    const char              *name       = names[c->row->how][c->n - 1];
    cq_val                   args[2]    = { c->args[0], c->args[c->n - 1] };
    cq_tensor               *t;

    if (cq_val_is_object(args[0]) && c->row->how < 2 && !strstr(c->name, "::")) {
        bool found;

        CQ_TRY(cq_python_special(c->ev, args[0], c->row->how ? "__round__" : "__abs__", &args[1],
                                 c->n - 1, &c->result, &found));
        return found ? CQ_OK : cq_fncall_decline(c);
    }
    if (c->row->how == 1 && c->n == 2 && args[0].kind == CQ_VAL_FLOAT &&
        args[1].kind == CQ_VAL_INT && !args[0].u.f.origin && !args[1].u.i.expr)
        return call_library(c, "_number", "round_float");
    if (c->row->how == 1 && c->n == 2 && args[0].kind == CQ_VAL_INT && args[1].kind == CQ_VAL_INT &&
        !args[0].u.i.expr && !args[1].u.i.expr)
        return call_library(c, "_number", "round_int");
    if (strstr(c->name, "::") || !name ||
        (args[0].kind != CQ_VAL_TENSOR && args[1].kind != CQ_VAL_TENSOR))
        return cq_fncall_decline(c);
    for (size_t i = 0; c->row->how >= 3 && i < c->n; i++) {
        if (args[i].kind != CQ_VAL_TENSOR && !cq_val_is_number(args[i]))
            return cq_fncall_decline(c);
        CQ_TRY(cq_eval_as_tensor(c->ev, args[i], &t));
        args[i] = cq_val_of_tensor(t);
        if (t->rank > (c->n == 1)) /* PyTorch: the truth of more than one value is ambiguous */
            return cq_fail(CQ_E_TYPE, c->name, "torch.max and torch.maximum take tensors",
                           "expected tensors of one element, got %u dimensions", t->rank);
    }
    return cq_eval_operator(c->ev, name, args, c->n, &c->result);
}

static cq_status count_elements(cq_fncall *c)
{
    return cq_eval_operator(c->ev, "aten::numel", c->args, 1, &c->result);
}

/* Methods of str in lib/python/_text.py. */
static cq_status call_text(cq_fncall *c)
{
    const char *colon = strrchr(c->name, ':');

    return call_library(c, "_text", colon ? colon + 1 : c->name);
}

/* x.norm(dim=1) without an order, which matches no overload of the operator. */
static cq_status call_norm(cq_fncall *c)
{
    return c->n == 1 && c->n_kw && !cq_fncall_find(c, SIZE_MAX, "p")
               ? call_library(c, "torch.functional", "norm")
               : cq_fncall_decline(c);
}

static cq_status call_dict(cq_fncall *c)
{
    const char *colon = strrchr(c->name, ':');

    return call_library(c, "_dict", colon ? colon + 1 : c->name);
}

/* Methods of int, float and complex in lib/python/_number.py. */
static cq_status call_number(cq_fncall *c)
{
    const char *colon = strrchr(c->name, ':');

    if (!cq_val_is_number(c->args[0]) || cq_val_is_symbolic(c->args[0]))
        return cq_fncall_decline(c);
    return call_library(c, "_number", colon ? colon + 1 : c->name);
}

static cq_status answer_self(cq_fncall *c)
{
    c->result = c->args[0];
    return CQ_OK;
}

/* sys.modules[name]; None for an unknown module. */
static cq_status module_of(cq_fncall *c)
{
    cq_object *module = NULL;

    CQ_TRY(cq_python_module(c->ev->program, c->args[0].u.text->text, &module));
    c->result = module ? cq_val_of_object(module) : CQ_NONE;
    return CQ_OK;
}

/* The source text of a module. */
static cq_status source_of(cq_fncall *c)
{
    const cq_object *module = cq_object_as(c->args[0], CQ_OBJECT_MODULE);

    c->result = CQ_NONE;
    return module && module->unit ? cq_builtin_text(c->ev, module->unit->source.text,
                                                    module->unit->source.len, &c->result)
                                  : CQ_OK;
}

static cq_status is_tracing(cq_fncall *c)
{
    c->result = cq_val_of_bool(c->ev->tracing);
    return CQ_OK;
}

/* Lists the parameters of a function: tuples of name, kind (as in inspect.Parameter), whether it
 * has a default, and the default. */
static cq_status parameters_of(cq_fncall *c)
{
    cq_object *t    = cq_object_of(c->args[0]);
    cq_val    *init = t && t->kind == CQ_OBJECT_CLASS
                          ? cq_class_find(t, cq_name(c->ev->program, "__init__"), NULL)
                          : NULL;
    size_t     from = init != NULL;

    if (init)
        t = cq_object_of(*init);
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    if (!t || t->kind != CQ_OBJECT_FUNCTION)
        return CQ_OK;
    from += t->self.kind != CQ_VAL_NONE;
    for (size_t i = from; i < t->def->n_params; i++) {
        const cq_ast_param *p    = &t->def->params[i];
        cq_val              v[4] = { CQ_NONE }, tuple;

        CQ_TRY(cq_builtin_text(c->ev, p->name, strlen(p->name), &v[0]));
        v[1] = cq_val_of_i64(p->stars == 1   ? 2
                             : p->stars == 2 ? 4
                             : p->kw_only    ? 3
                             : p->pos_only   ? 0
                                             : 1);
        v[2] = cq_val_of_bool(p->value != NULL);
        if (p->value && t->defaults.kind == CQ_VAL_TUPLE)
            v[3] = t->defaults.u.list->items[i];
        CQ_TRY(cq_eval_list(c->ev, v, 4, CQ_VAL_TUPLE, &tuple));
        CQ_TRY(cq_list_push(c->result.u.list, tuple));
    }
    return CQ_OK;
}

/* Size(list) is a tuple. */
static cq_status new_size(cq_fncall *c)
{
    static cq_list empty;
    cq_list       *items = &empty;

    if (c->n)
        CQ_TRY(cq_eval_known_items(c->ev, c->args[0], "Size", &items));
    CQ_TRY(cq_eval_list(c->ev, items->items, items->n, CQ_VAL_TUPLE, &c->result));
    c->result.u.list->is_size = true;
    return CQ_OK;
}

/* Size.numel() */
static cq_status size_numel(cq_fncall *c)
{
    if (c->args[0].kind != CQ_VAL_TUPLE || !c->args[0].u.list->is_size)
        return cq_fncall_decline(c);
    c->result = cq_val_of_i64(1);
    for (size_t i = 0; i < c->args[0].u.list->n; i++)
        CQ_TRY(CQ_CALL(c->ev, &c->result, "aten::mul", c->result, c->args[0].u.list->items[i]));
    return CQ_OK;
}

/* call_function(cls, run, args): calls forward of an autograd.Function. */
static cq_status call_function(cq_fncall *c)
{
    cq_list *items;

    CQ_TRY(cq_eval_known_items(c->ev, c->args[2], "call_function", &items));
    return cq_eval_call(c->ev, c->args[1], items->items, items->n, &c->result);
}

/* a.keys() - b.keys(): the evaluator's keys are lists, so the operands are converted to sets. */
static cq_status keys_as_sets(cq_fncall *c)
{
    static const cq_ast_op ops[] = { CQ_AST_SUB, CQ_AST_BIT_AND, CQ_AST_BIT_OR, CQ_AST_BIT_XOR };
    cq_val                 cls, a, b = c->args[1];
    bool                   found;

    if (!c->ev->program->python || c->args[0].kind != CQ_VAL_LIST)
        return cq_fncall_decline(c);
    CQ_TRY(cq_python_builtin(c->ev, cq_name(c->ev->program, "set"), &cls, &found));
    CQ_TRY(cq_eval_call(c->ev, cls, &c->args[0], 1, &a));
    CQ_TRY(cq_python_binary(c->ev, ops[c->row->how], a, b, &c->result, &found));
    return found ? CQ_OK : cq_fncall_decline(c);
}

const cq_builtin cq_builtins_natives[] = {
    { "calque::dtype(str name)", .fn = native_dtype },
    { "calque::default_dtype()", .fn = default_dtype },
    { "calque::set_default_dtype(dtype)", .fn = set_default_dtype },
    { "calque::operator(str name)", .fn = native_operator },
    { "calque::class_annotations(cls)", .fn = class_annotations },
    { "calque::copy_dict_of(object, function, memo?)", .fn = copy_dict_of },
    { "calque::arguments()", .fn = arguments },
    { "calque::host(str name, ...)", .fn = call_host },
    { "calque::has_host()", .fn = has_host },
    { "calque::call_in_mode(function, tracing, args, kwargs)", .fn = call_in_mode },
    { "calque::is_capturing()", .fn = is_capturing },
    { "calque::is_tracing()", .fn = is_tracing },
    { "calque::call_function(cls, run, args)", .fn = call_function },
    { "calque::parameters_of(function)", .fn = parameters_of },
    { "Size(iterable?)", .fn = new_size },
    { "numel(items self)", .fn = size_numel },
    { "sub(list a, list b)", .fn = keys_as_sets, .how = 0 },
    { "__and__(list a, list b)", .fn = keys_as_sets, .how = 1 },
    { "__or__(list a, list b)", .fn = keys_as_sets, .how = 2 },
    { "__xor__(list a, list b)", .fn = keys_as_sets, .how = 3 },
    { "Tensor(...)", .fn = call_torch, .how = false },
    { "new(Tensor self, ...)", .fn = new_like },
    { "new_tensor(Tensor self, data, dtype?, device?, requires_grad?)", .fn = call_torch,
      .how = true },
    { "type(Tensor self, kind?)", .fn = convert_type },
    { "conv1d(Tensor input, ...)", .fn = convolve_groups },
    { "conv2d(Tensor input, ...)", .fn = convolve_groups },
    { "conv3d(Tensor input, ...)", .fn = convolve_groups },
    { "conv_transpose1d(Tensor input, ...)", .fn = convolve_groups, .how = true },
    { "conv_transpose2d(Tensor input, ...)", .fn = convolve_groups, .how = true },
    { "conv_transpose3d(Tensor input, ...)", .fn = convolve_groups, .how = true },
    { "nelement(Tensor self)", .fn = count_elements },
    { "abs(x)", .fn = call_operator, .how = 0 },
    { "round(x, digits?)", .fn = call_operator, .how = 1 },
    { "pow(base, exponent)", .fn = call_operator, .how = 2 },
    { "max(a, b?)", .fn = call_operator, .how = 3 },
    { "min(a, b?)", .fn = call_operator, .how = 4 },
    { "norm(Tensor self, ...)", .fn = call_norm },
    { "astype(self, dtype)", .fn = convert_number },
    { "rsplit(str self, sep?, maxsplit?)", .fn = call_text },
    { "splitlines(str self, keepends?)", .fn = call_text },
    { "partition(str self, str sep)", .fn = call_text },
    { "rpartition(str self, str sep)", .fn = call_text },
    { "removeprefix(str self, str prefix)", .fn = call_text },
    { "removesuffix(str self, str suffix)", .fn = call_text },
    { "ljust(str self, width, fillchar?)", .fn = call_text },
    { "rjust(str self, width, fillchar?)", .fn = call_text },
    { "center(str self, width, fillchar?)", .fn = call_text },
    { "zfill(str self, width)", .fn = call_text },
    { "swapcase(str self)", .fn = call_text },
    { "expandtabs(str self, tabsize?)", .fn = call_text },
    { "translate(str self, table)", .fn = call_text },
    { "encode(str self, encoding?, errors?)", .fn = call_text },
    { "decode(str self, encoding?, errors?)", .fn = call_text },
    { "move_to_end(dict self, key, last?)", .fn = call_dict },
    { "popitem(dict self, last?)", .fn = call_dict },
    { "bit_length(self)", .fn = call_number },
    { "bit_count(self)", .fn = call_number },
    { "is_integer(self)", .fn = call_number },
    { "as_integer_ratio(self)", .fn = call_number },
    { "conjugate(self)", .fn = call_number },
    { "casefold(str self)", .fn = call_text },
    { "isidentifier(str self)", .fn = call_text },
    { "to_sparse(Tensor self, ...)", .fn = answer_self }, /* tensors stay dense */
    { "to_dense(Tensor self, ...)", .fn = answer_self },
    { "calque::module_named(str name)", .fn = module_of },
    { "calque::source_of(object)", .fn = source_of },
    { 0 },
};
