/* torch.jit.load: archives of TorchScript as modules of a script. Each is a program of its own,
 * which Python knows by its index. A call inside of an export is recorded into the export's graph.
 */
#include "py/py.h"
#include "script/builtins/builtin.h"

static cq_status loaded_of(const cq_py_call *c, cq_val index, cq_script **out)
{
    const int64_t i = index.kind == CQ_VAL_INT ? index.u.i.value : -1;

    *out = NULL;
    if (i < 0 || (uint64_t)i >= c->py->loaded.n)
        return cq_python_raise(c->ev, "TypeError", "expected a module of torch.jit.load");
    *out = c->py->loaded.items[i];
    return CQ_OK;
}

cq_script *cq_py_loaded(const cq_py *py, int64_t index)
{
    return index >= 0 && (uint64_t)index < py->loaded.n ? py->loaded.items[index] : NULL;
}

static void release_storage(void *storage)
{
    cq_storage_release(storage);
}

static cq_status open_program(cq_py_call *c, cq_script **out)
{
    const cq_program *p = c->py->script->program;
    cq_storage       *bytes;

    if (c->args[0].kind == CQ_VAL_STR) {
        CQ_TRY(cq_py_may_read(c->py, c->args[0].u.text->text));
        return cq_script_load_limited(out, c->args[0].u.text->text,
                                      p->has_max_steps ? p->max_steps : 0, (uint64_t)p->max_bytes);
    }
    if (c->args[0].kind != CQ_VAL_TENSOR || cq_tensor_is_fake(c->args[0].u.tensor))
        return cq_python_raise(c->ev, "TypeError", "expected a path or a buffer");
    (void)cq_tensor_bytes(c->args[0].u.tensor);
    bytes = cq_storage_retain(c->args[0].u.tensor->storage);
    return cq_script_load_bytes(out, bytes->data, bytes->size, "<buffer>", release_storage, bytes);
}

/* torch.jit.load(path or bytes): the index of the program. */
static cq_status load(cq_py_call *c)
{
    cq_script *s = NULL;
    cq_status  status;

    CQ_TRY(open_program(c, &s));
    if (s->program->python || s->root.kind == CQ_VAL_NONE) {
        cq_script_free(s);
        return cq_python_raise(c->ev, "RuntimeError",
                               "torch.jit.load reads archives of torch.jit.save");
    }
    status = cq_vec_push(&c->py->loaded, s);
    if (status != CQ_OK)
        cq_script_free(s);
    else
        c->result = cq_val_of_i64((int64_t)c->py->loaded.n - 1);
    return status;
}

static cq_status check_leaf(cq_visit *w, cq_val v)
{
    return v.kind == CQ_VAL_OBJECT
               ? cq_fail(CQ_E_UNSUPPORTED, w->user, NULL,
                         "a method of a loaded module returns an object of a class")
               : CQ_OK;
}

/* jit_call(index, method, args, kwargs) */
static cq_status call_program(cq_py_call *c)
{
    const cq_args args   = { .positional = c->args[2].u.list, .keywords = c->args[3].u.dict };
    const char   *method = c->args[1].u.text->text;
    cq_visit      w      = { .each = check_leaf, .user = (void *)method };
    cq_script    *s;

    CQ_TRY(loaded_of(c, c->args[0], &s));
    CQ_TRY(cq_val_each(&w, cq_val_of_list(args.positional)));
    CQ_TRY(cq_val_each(&w, cq_val_of_dict(args.keywords)));
    CQ_TRY(cq_script_call_value(c->ev->cx, s, method, &args, &c->result));
    c->ev->program->n_steps += s->program->n_steps;
    s->program->n_steps = 0;
    return cq_val_each(&w, c->result);
}

static cq_status add_tensor(void *user, const char *path, cq_tensor *t, bool is_parameter)
{
    cq_py_call *c = user;
    cq_val      v[3], row;

    CQ_TRY(cq_builtin_text(c->ev, path, strlen(path), &v[0]));
    CQ_TRY(cq_eval_own(c->ev, cq_val_of_tensor(cq_tensor_retain(t)), &v[1]));
    v[2] = cq_val_of_bool(is_parameter);
    CQ_TRY(cq_eval_list(c->ev, v, 3, CQ_VAL_TUPLE, &row));
    return cq_list_push(c->result.u.list, row);
}

/* jit_tensors(index): a list of (name, tensor, is_parameter). */
static cq_status tensors(cq_py_call *c)
{
    cq_script *s;

    CQ_TRY(loaded_of(c, c->args[0], &s));
    CQ_TRY(cq_eval_list(c->ev, NULL, 0, CQ_VAL_LIST, &c->result));
    return cq_script_each_tensor(s, add_tensor, c);
}

/* jit_train(index, mode): for good. */
static cq_status train(cq_py_call *c)
{
    cq_script_modes *modes = NULL;
    cq_script       *s;

    CQ_TRY(loaded_of(c, c->args[0], &s));
    CQ_TRY(cq_script_set_training(s, c->args[1].u.b.value, &modes));
    cq_script_keep_modes(modes);
    return CQ_OK;
}

void cq_py_clear_loaded(cq_py *py)
{
    for (size_t i = 0; i < py->loaded.n; i++)
        cq_script_free(py->loaded.items[i]);
    cq_vec_clear(&py->loaded);
}

const cq_py_function cq_py_program_functions[] = {
    { "torch.jit.load", ".", load },
    { "jit_call", "isld", call_program },
    { "jit_tensors", "i", tensors },
    { "jit_train", "ib", train },
    { 0 },
};
