/* The host of scripts (calque py): what the functions of lib/torch and lib/pytorch_pfn_extras that
 * export models, register symbolic functions, and read and write files call. The functions check
 * and complete their arguments in Python; the calls here take plain values.
 *
 * main.c runs a script and has the table of calls, export.c exports models and writes test cases,
 * symbolic.c lets Python functions build ONNX nodes, files.c says which files a script may use and
 * has torch.load, save.c writes the files of torch.save (pickle.c the values in them), programs.c
 * has torch.jit.load. */
#ifndef CQ_PY_PY_H
#define CQ_PY_PY_H

#include "script/python/python.h"
#include "base/file.h"
#include "script/script.h"

#include <calque/symbolic.h>

typedef struct cq_py_rule cq_py_rule;

typedef struct cq_py {
    cq_script     *script;
    cq_python_host host;
    cq_eval       *ev;      /* of the call that is under way */
    CQ_VEC(char *) written; /* files that the script wrote, which it may read */

    CQ_VEC(cq_script *) loaded; /* by torch.jit.load; Python has the index */

    /* State of the symbolic function that is running; NULL if none is. Python refers to a value
     * of the graph by its index here, so that no script can make one up. */
    cq_sym *sym;
    CQ_VEC(cq_value *) values;
    CQ_VEC(cq_py_rule *) rules;
} cq_py;

/* A call from Python: arguments are borrowed, the result is the evaluator's. */
typedef struct cq_py_call {
    cq_py        *py;
    cq_eval      *ev;
    const char   *name;
    const cq_val *args;
    size_t        n;
    cq_val        result;
} cq_py_call;

typedef struct cq_py_function {
    const char *name;
    const char *kinds; /* of its arguments: s text, l list or tuple, d dict, i int, b bool, t
                        * tensor, . anything */
    cq_status (*fn)(cq_py_call *c);
} cq_py_function;

extern const cq_py_function cq_py_export_functions[];
extern const cq_py_function cq_py_symbolic_functions[];
extern const cq_py_function cq_py_file_functions[];
extern const cq_py_function cq_py_program_functions[];

/* Fails unless the script may read, or write, the file or folder. */
cq_status cq_py_may_read(const cq_py *py, const char *path);
cq_status cq_py_may_write(cq_py *py, const char *path);

/* save.c: writes a value as torch.save does. */
cq_status cq_py_write_values(cq_eval *ev, cq_val v, cq_out *out);

/* Bytes that the caller has, as a tensor of uint8: texts are limited to a megabyte. */
cq_status cq_py_bytes(cq_eval *ev, const void *data, size_t size, cq_val *out);

/* programs.c: NULL if there is none. */
cq_script *cq_py_loaded(const cq_py *py, int64_t index);

void cq_py_clear_rules(cq_py *py);
void cq_py_clear_loaded(cq_py *py);

#endif
