/* torch.load, and the files that a script may use: files below the working folder, and arguments of
 * the command. A script is untrusted; the sandbox enforces the same rule for writing. */
#include "py/py.h"
#include "archive/weights.h"
#include "base/path.h"
#include "script/python/unpickle.h"

static bool is_argument(const cq_py *py, const char *path)
{
    for (size_t i = 0; i < py->host.n_arguments; i++)
        if (strcmp(py->host.arguments[i], path) == 0)
            return true;
    return false;
}

static bool was_written(const cq_py *py, const char *path)
{
    for (size_t i = 0; i < py->written.n; i++)
        if (strcmp(py->written.items[i], path) == 0)
            return true;
    return false;
}

cq_status cq_py_may_read(const cq_py *py, const char *path)
{
    if (is_argument(py, path) || was_written(py, path) || cq_path_is_below(path, "."))
        return CQ_OK;
    return cq_fail(CQ_E_ARGUMENT, path,
                   "use a path below the working folder, or pass the path as an argument of the "
                   "script",
                   "a script may read only files below the working folder and its arguments");
}

cq_status cq_py_may_write(cq_py *py, const char *path)
{
    char *copy;

    if (!is_argument(py, path) && !cq_path_is_below(path, ".") &&
        !cq_path_is_below(path, cq_path_temporary()))
        return cq_fail(CQ_E_ARGUMENT, path,
                       "use a path below the working folder, or pass the path as an argument of "
                       "the script",
                       "a script may write only files below the working folder or the folder for "
                       "temporary files, and its arguments");
    copy = was_written(py, path) ? NULL : cq_strdup(path);
    if (copy && cq_vec_push(&py->written, copy) != CQ_OK)
        cq_free(copy);
    return CQ_OK;
}

cq_status cq_py_bytes(cq_eval *ev, const void *data, size_t size, cq_val *out)
{
    cq_tensor *t;

    CQ_TRY(cq_tensor_new(&t, CQ_DTYPE_U8, 1, (int64_t[]){ (int64_t)size }, data));
    return cq_eval_own(ev, cq_val_of_tensor(t), out);
}

/* ---- torch.save ---- */

static cq_status save_file(cq_py_call *c, const char *path)
{
    cq_out   *out;
    cq_status status;

    CQ_TRY(cq_py_may_write(c->py, path));
    CQ_TRY(cq_out_open(&out, path));
    status = cq_py_write_values(c->ev, c->args[0], out);
    if (status == CQ_OK)
        return cq_out_commit(out);
    cq_out_abandon(out);
    return status;
}

/* torch.save(value, path): None; with None for the path the file as a tensor. */
static cq_status save(cq_py_call *c)
{
    void     *data;
    size_t    size;
    cq_out   *out;
    cq_status status;

    if (c->args[1].kind == CQ_VAL_STR)
        return save_file(c, c->args[1].u.text->text);
    CQ_TRY(cq_out_open_memory(&out));
    status = cq_py_write_values(c->ev, c->args[0], out);
    if (status != CQ_OK) {
        cq_out_abandon(out);
        return status;
    }
    CQ_TRY(cq_out_take_memory(out, &data, &size));
    status = cq_py_bytes(c->ev, data, size, &c->result);
    cq_free(data);
    return status;
}

/* ---- torch.load ---- */

/* torch.load(path or bytes): the values of the file, and objects of the script's classes and of
 * modules that it can import. Tensors stay views of the file. */
static cq_status load(cq_py_call *c)
{
    const bool      is_path = c->args[0].kind == CQ_VAL_STR;
    const char     *path    = is_path ? c->args[0].u.text->text : "<buffer>";
    cq_weights_file file    = { 0 };
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
    status = cq_python_check_modules(c->ev, file.root, path);
    if (status == CQ_OK)
        status = cq_python_unpickle(c->ev, file.root, &c->result);
    cq_weights_file_clear(&file);
    return status;
}

const cq_py_function cq_py_file_functions[] = {
    { "torch.load", ".", load },
    { "torch.save", "..", save },
    { 0 },
};
