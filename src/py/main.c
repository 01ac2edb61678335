/* Runs a script, and dispatches the calls of its host. */
#include "py/py.h"

static bool fits(char kind, cq_val v)
{
    switch (kind) {
    case 's': return v.kind == CQ_VAL_STR;
    case 'l': return v.kind == CQ_VAL_LIST || v.kind == CQ_VAL_TUPLE;
    case 'd': return v.kind == CQ_VAL_DICT;
    case 'i': return v.kind == CQ_VAL_INT && !v.u.i.expr;
    case 'b': return v.kind == CQ_VAL_BOOL && !v.u.b.origin;
    case 't': return v.kind == CQ_VAL_TENSOR && !cq_tensor_is_fake(v.u.tensor);
    default: return true;
    }
}

static const cq_py_function *find(const char *name)
{
    static const cq_py_function *const tables[] = { cq_py_export_functions,
                                                    cq_py_symbolic_functions, cq_py_file_functions,
                                                    cq_py_program_functions };

    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        for (const cq_py_function *f = tables[i]; f->name; f++)
            if (strcmp(f->name, name) == 0)
                return f;
    return NULL;
}

static cq_status call(void *user, cq_eval *ev, const char *name, const cq_val *args, size_t n,
                      cq_val *out)
{
    cq_py                *py    = user;
    cq_eval              *outer = py->ev;
    cq_py_call            c     = { py, ev, name, args, n, CQ_NONE };
    const cq_py_function *f     = find(name);
    cq_status             status;

    if (!f)
        return cq_python_raise(ev, "NotImplementedError", "%s is not implemented", name);
    if (n != strlen(f->kinds))
        return cq_python_raise(ev, "TypeError", "%s takes %zu arguments, got %zu", name,
                               strlen(f->kinds), n);
    for (size_t i = 0; i < n; i++)
        if (!fits(f->kinds[i], args[i]))
            return cq_python_raise(ev, "TypeError", "argument %zu of %s is %s", i + 1, name,
                                   cq_eval_type_name(args[i]));
    py->ev = ev;
    status = f->fn(&c);
    py->ev = outer;
    *out   = c.result;
    return status;
}

CQ_API cq_status cq_script_run_main(cq_script *s, const char *const *arguments, size_t n_arguments)
{
    CQ_NEED(s && (arguments || !n_arguments));
    cq_eval          ev = { .program = s->program, .script = s };
    cq_script_limits before;
    cq_py            py = { .script = s, .host = { call, &py, arguments, n_arguments } };
    cq_status        status;

    if (!s->program->python)
        return cq_fail(CQ_E_ARGUMENT, NULL, "a script of Python imports something",
                       "the file is TorchScript, not a script");
    s->program->python->is_script = true;
    s->program->python->host      = &py.host;
    CQ_TRY(cq_eval_new_context(&ev));
    before = cq_script_begin(&ev, s, 0);
    status = cq_script_end(&ev, s, &before, cq_python_run(&ev, s->program->python->main));
    cq_ctx_free(ev.cx);
    cq_py_clear_rules(&py);
    cq_py_clear_loaded(&py);
    for (size_t i = 0; i < py.written.n; i++)
        cq_free(py.written.items[i]);
    cq_vec_clear(&py.written);
    s->program->python->host = NULL;
    return status;
}
