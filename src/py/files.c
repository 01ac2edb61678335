/* Which files a script may use: those below the working folder, and those that are arguments of
 * the command. A script is untrusted; the sandbox enforces the same for writing. And torch.load. */
#include "py/py.h"
#include "archive/weights.h"
#include "base/path.h"

static bool is_argument(const cq_py *py, const char *path)
{
    for (size_t i = 0; i < py->host.n_arguments; i++)
        if (strcmp(py->host.arguments[i], path) == 0)
            return true;
    return false;
}

static cq_status check(const cq_py *py, const char *path, const char *verb)
{
    if (is_argument(py, path) || cq_path_is_below(path, "."))
        return CQ_OK;
    return cq_fail(CQ_E_ARGUMENT, path,
                   "use a path below the working folder, or pass the path as an argument of the "
                   "script",
                   "a script may %s only files below the working folder and its arguments", verb);
}

cq_status cq_py_may_read(const cq_py *py, const char *path)
{
    return check(py, path, "read");
}

cq_status cq_py_may_write(const cq_py *py, const char *path)
{
    return check(py, path, "write");
}

/* ---- torch.load ---- */

static cq_status check_leaf(cq_visit *w, cq_val v)
{
    (void)w;
    if (v.kind != CQ_VAL_OBJECT)
        return CQ_OK;
    return cq_fail(
        CQ_E_UNSUPPORTED, w->user,
        "save model.state_dict(), and load it by model.load_state_dict(torch.load(FILE))",
        "torch.load reads dicts, lists, tensors, numbers and texts; the file holds "
        "objects of classes");
}

/* torch.load(path or bytes): the values of the file. Tensors stay views of it. */
static cq_status load(cq_py_call *c)
{
    const bool      is_path = c->args[0].kind == CQ_VAL_STR;
    const char     *path    = is_path ? c->args[0].u.text->text : "<buffer>";
    cq_weights_file file    = { 0 };
    cq_visit        w       = { .each = check_leaf, .user = (void *)path };
    cq_status       status;

    if (is_path) {
        CQ_TRY(cq_py_may_read(c->py, path));
        CQ_TRY(cq_weights_read(&file, path));
    } else if (c->args[0].kind == CQ_VAL_TENSOR && !cq_tensor_is_fake(c->args[0].u.tensor) &&
               c->args[0].u.tensor->dtype == CQ_DTYPE_U8) {
        (void)cq_tensor_bytes(c->args[0].u.tensor); /* may be made later */
        CQ_TRY(cq_weights_read_bytes(&file, c->args[0].u.tensor->storage, path));
    } else {
        return cq_python_raise(c->ev, "TypeError", "expected a path or a buffer");
    }
    status = cq_val_each(&w, file.root);
    if (status == CQ_OK)
        status = cq_eval_own(c->ev, cq_val_retain(file.root), &c->result);
    cq_weights_file_clear(&file);
    return status;
}

const cq_py_function cq_py_file_functions[] = {
    { "torch.load", ".", load },
    { 0 },
};
