/* Python beyond TorchScript: imported modules, classes with inheritance, exceptions, iterators. A
 * program of Python source has cq_program.python; archives and TorchScript text do not, and the
 * functions here are not called for them.
 *
 * The text of a program is Python if it imports something: without an import it could not use
 * torch. docs/from-source.md lists what is supported. */
#ifndef CQ_SCRIPT_PYTHON_PYTHON_H
#define CQ_SCRIPT_PYTHON_PYTHON_H

#include "script/call.h"

typedef struct cq_source_file {
    char       *path; /* for reading and for messages */
    const char *text; /* source of the embedded library; NULL: the file is read */
    size_t      len;
    bool        is_package, is_folder; /* a folder without __init__.py has no text */
    /* WAITING: its package runs first. */
    enum { CQ_MODULE_NEW, CQ_MODULE_WAITING, CQ_MODULE_RUNNING, CQ_MODULE_DONE } state;
} cq_source_file;

/* The privileges of a script: exporting models, and reading and writing files. Functions of
 * lib/torch call the host by name, as calque.host. A model file has no host. */
typedef struct cq_python_host {
    cq_status (*call)(void *user, cq_eval *ev, const char *name, const cq_val *args, size_t n,
                      cq_val *out);
    void              *user;
    const char *const *arguments; /* sys.argv after the name of the script */
    size_t             n_arguments;
} cq_python_host;

typedef struct cq_python {
    cq_map modules;              /* dotted name -> cq_object (MODULE), retained */
    CQ_VEC(char *) roots;        /* folders of the main file, searched before the library */
    CQ_VEC(char *) paths;        /* --path, searched after the library */
    CQ_VEC(cq_object *) codes;   /* --code: modules with the classes of a pickled module */
    CQ_VEC(cq_frame *) frames;   /* frames of modules, and of finished calls with closures */
    CQ_VEC(cq_object *) classes; /* retained */
    CQ_VEC(cq_val) cycles;       /* containers that contain themselves; retained (cycle.c) */
    cq_object *instances;        /* all live instances, to free them when the program ends */
    cq_object *builtins;         /* the module of lib/python/builtins.py */
    cq_object *main;
    cq_val     dtypes[64];      /* DTYPE objects by number; retained */
    cq_dtype   default_float;   /* torch.set_default_dtype; CQ_DTYPE_NONE: float32 */
    bool       is_older;        /* hasattr(F, "scaled_dot_product_attention") is False */
    bool       asks_version;    /* whether the program has called that hasattr */
    bool       is_script;       /* set by calque py: __name__ is "__main__", prints go to standard
                                 * output */
    const cq_python_host *host; /* NULL: none */
} cq_python;

/* ---- modules: module.c ---- */

/* Creates a program of Python source; path is the file's. */
cq_status cq_python_new(cq_program *p, const char *path, const char *text, size_t len);
void      cq_python_free(cq_program *p);
cq_status cq_python_add_path(cq_program *p, const char *folder);
cq_status cq_python_add_code(cq_program *p, const char *path);

/* The module of a dotted name; NULL if it is not found. */
cq_status cq_python_module(cq_program *p, const char *name, cq_object **out);

/* Runs the text of a module unless it has run or is running. */
cq_status cq_python_run(cq_eval *ev, cq_object *module);

/* A new dict with the variables of a frame. */
cq_status cq_python_variables(cq_eval *ev, const cq_frame *f, cq_val *out);

cq_status cq_python_member(cq_eval *ev, cq_object *module, const char *name, cq_val *out);
cq_status cq_eval_import(cq_eval *ev, const cq_ast_stmt *s);

/* Fails if the unit has `from m import *` of a module m that is not found. Such an import fails
 * only when a name is used that the module may have defined. */
cq_status cq_python_missing_names(cq_eval *ev, const cq_unit *unit);

/* missing.c: adds to a failure, which is about the name `first`, the other missing names of the
 * file. Returns the failure. */
cq_status cq_python_add_missing(cq_eval *ev, const char *first, cq_status failure);

/* Resolves a lazy import when it is used. */
cq_status cq_lazy_resolve(cq_eval *ev, cq_val lazy, cq_val *out);

/* A builtin of builtins.py, for a name that is neither a variable nor a builtin in C. */
cq_status cq_python_builtin(cq_eval *ev, const char *name, cq_val *out, bool *found);

/* ---- classes: class.c, attribute.c ---- */

cq_status cq_eval_class(cq_eval *ev, const cq_ast_class *c);
cq_status cq_class_new(cq_eval *ev, const char *name, const cq_val *bases, size_t n,
                       cq_object **out);
cq_val   *cq_class_find(cq_object *cls, const char *interned, cq_object **where);
cq_status cq_class_set(cq_eval *ev, cq_object *cls, const char *interned, cq_val v);
bool      cq_class_is_a(const cq_object *cls, const cq_object *base);
cq_status cq_resolve_python_class(cq_fncall *c, cq_object *cls);
cq_status cq_python_construct(cq_fncall *c, cq_object *cls); /* without its metaclass */

/* The dict of attributes of an instance; made when it is first needed. */
cq_dict  *cq_instance_dict(cq_object *t); /* NULL if it does not exist yet */
cq_status cq_instance_make_dict(cq_object *t, cq_dict **out);

/* The dict of a dict or of an instance of a class that extends dict; otherwise NULL. */
cq_dict *cq_python_dict_of(cq_val v);
cq_val   cq_python_native(cq_val v); /* the native value of an instance of an extended builtin
                                      * type */

/* Whether a value of a builtin type has a public attribute; known: whether its type is one of them.
 */
bool cq_python_native_has(cq_val v, const char *name, bool *known);

cq_status cq_python_new_named(cq_fncall *c, cq_object *cls); /* without its __new__ */
cq_status cq_python_new_instance(cq_eval *ev, cq_object *cls, cq_val *out);
cq_status cq_python_attribute(cq_eval *ev, cq_val object, const char *interned, cq_val *out,
                              bool *found);
cq_status cq_python_set_attribute(cq_eval *ev, cq_val object, const char *interned, cq_val v,
                                  bool *done);
cq_status cq_python_del_attribute(cq_eval *ev, cq_val object, const char *interned);

/* Reads and writes attributes as object.__getattribute__ and object.__setattr__ do, without
 * __getattr__ and __setattr__ of the class. */
cq_status cq_object_get(cq_eval *ev, cq_val object, const char *interned, cq_val *out, bool *found);
cq_status cq_object_set(cq_eval *ev, cq_val object, const char *interned, cq_val v);
cq_status cq_object_del(cq_eval *ev, cq_val object, const char *interned);

/* Calls the special method of the instance's class if it has one. */
cq_status cq_python_special(cq_eval *ev, cq_val object, const char *name, const cq_val *args,
                            size_t n, cq_val *out, bool *found);
bool      cq_python_has_special(cq_eval *ev, cq_val object, const char *name);

cq_status cq_python_binary(cq_eval *ev, cq_ast_op op, cq_val a, cq_val b, cq_val *out, bool *found);
/* a += b by __iadd__ and the like. */
cq_status cq_python_in_place(cq_eval *ev, cq_ast_op op, cq_val a, cq_val b, cq_val *out,
                             bool *found);

/* The object of a dtype's number; and attributes of tensors that differ from TorchScript. */
cq_status cq_python_dtype(cq_eval *ev, int64_t number, cq_val *out);
cq_status cq_python_tensor_member(cq_eval *ev, cq_val tensor, const char *name, cq_val *out,
                                  bool *found);

/* isinstance and type for types that are values. */
cq_status cq_python_is_instance(cq_eval *ev, cq_val v, cq_val type, bool *out);
cq_status cq_python_is_subclass(cq_eval *ev, cq_val cls, cq_val type, bool *out);
cq_status cq_python_type(cq_eval *ev, cq_val v, cq_val *out);
bool      cq_python_is_type_name(const char *name); /* whether it is the name of a builtin type */

/* str() or repr() of an object. */
struct cq_str;
cq_status cq_python_format(cq_eval *ev, struct cq_str *s, cq_val v, bool quoted, bool *found);

/* format(v, spec), for example "8.3f". */
cq_status cq_python_format_spec(cq_eval *ev, struct cq_str *s, cq_val v, const char *spec,
                                size_t len);

/* ---- exceptions: raise.c ---- */

/* Fails with an exception of a class of builtins.py: "KeyError". */
cq_status cq_python_raise(cq_eval *ev, const char *class_name, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The failure that follows is an exception of the class with one argument. */
cq_status cq_python_note_exception(cq_eval *ev, const char *class_name, cq_val argument);
cq_status cq_eval_try(cq_eval *ev, const cq_ast_stmt *s);
cq_status cq_eval_raise(cq_eval *ev, const cq_ast_stmt *s);
void      cq_eval_forget_failure(cq_eval *ev);

/* Clears the failure if it is an exception of that class. */
bool cq_eval_catch(cq_eval *ev, cq_status status, const char *class_name);

cq_status cq_eval_python_with(cq_eval *ev, const cq_ast_stmt *s);
cq_status cq_eval_match(cq_eval *ev, const cq_ast_stmt *s);

/* The parts of try, with and match, for generators, which may be suspended in between.
 * exception: the instance for a failure; None if it cannot be caught. fail_with: raises one.
 * find_handler: the except clause for a failure, which it returns if there is none. finally: runs
 * the finally clause; returns status, or a failure of the clause. leave: calls __exit__; returns
 * status, CQ_OK if the context suppresses it, or the failure of __exit__. */
cq_status cq_python_exception(cq_eval *ev, cq_status status, cq_val *out);
cq_status cq_python_fail_with(cq_eval *ev, cq_span at, cq_val exception);
cq_status cq_python_find_handler(cq_eval *ev, const cq_ast_try *t, cq_status failure,
                                 const cq_ast_handler **handler, cq_val *exception);
cq_status cq_python_finally(cq_eval *ev, const cq_ast_try *t, cq_status status);
cq_status cq_python_enter(cq_eval *ev, cq_val context, const cq_ast_expr *target, bool *found);
cq_status cq_python_leave(cq_eval *ev, cq_val context, cq_status status);
cq_status cq_python_find_case(cq_eval *ev, const cq_ast_stmt *s, const cq_ast_case **out);

/* ---- iterators: iterate.c ---- */

cq_status cq_python_iter(cq_eval *ev, cq_val v, cq_val *out);
/* The next item of an iterator; *over is set if it is exhausted. */
cq_status cq_python_next(cq_eval *ev, cq_val iterator, cq_val *out, bool *over);
cq_status cq_python_items(cq_eval *ev, cq_val v, cq_val *list); /* of an instance or ITERATOR */
cq_status cq_python_new_iterator(cq_eval *ev, cq_val list, cq_val *out);
bool      cq_python_is_lazy_iterable(cq_eval *ev, cq_val v); /* whether it must be advanced item by
                                                              * item */

cq_status cq_python_rest(cq_eval *ev, cq_val iterator, cq_val *list); /* by cq_python_next */

/* ---- generators: generator.c ---- */

/* A call of a generator function, whose frame f holds the arguments; and a generator expression. */
cq_status cq_generator_new(cq_eval *ev, cq_frame *f, cq_val *out);
cq_status cq_generator_of_comp(cq_eval *ev, const cq_ast_expr *x, cq_val items, cq_val *out);

/* Runs it until its next yield; sent is the value of the yield that suspended it. */
cq_status cq_generator_next(cq_eval *ev, cq_object *g, cq_val sent, cq_val *out, bool *over);
cq_status cq_generator_throw(cq_eval *ev, cq_object *g, cq_val exception, cq_val *out, bool *over);
cq_status cq_generator_close(cq_eval *ev, cq_object *g);
cq_val    cq_generator_result(const cq_object *g); /* what it returned; borrowed */

/* The values that it has not yielded yet. Their number may be data-dependent. */
cq_status cq_generator_items(cq_eval *ev, cq_object *g, cq_val *list);

/* A yield of the running generator ev->frame. */
cq_status cq_generator_yield(cq_eval *ev, const cq_ast_expr *x, cq_val *out);

/* display.c: the values of a comprehension; items are those of its first iterable. */
cq_status cq_eval_comp_items(cq_eval *ev, const cq_ast_expr *x, cq_val items, cq_val result);
/* loop.c: an iterator over the value of a for statement. *known: whether its length is. */
cq_status cq_eval_iterator(cq_eval *ev, cq_val iterable, cq_val *out, bool *known);
bool      cq_eval_loop_is_over(const cq_eval *ev, const cq_ast_stmt *s);

/* ---- models: entry.c ---- */

/* The parts of an nn.Module: dicts of children, parameters and buffers, which may be NULL. */
bool     cq_python_is_module(cq_val v);
cq_dict *cq_python_children(cq_object *module);
cq_dict *cq_python_tensors(cq_object *module, bool parameters);
bool     cq_python_is_persistent(cq_object *module, const char *buffer);

/* Calls fn for the possible entries of a file that was run, classes of modules before functions,
 * until fn fails. takes: the constructor or the function; NULL if there is none. */
typedef cq_status (*cq_python_candidate_fn)(void *user, const char *name, const cq_object *takes,
                                            bool is_class);
cq_status cq_python_each_candidate(struct cq_script *s, cq_python_candidate_fn fn, void *user);

/* Sets the paths of the modules in the model that is the script's root. */
cq_status cq_python_name_modules(struct cq_script *s);

/* The function that a call of the model runs: forward, or the entry itself; NULL: neither. */
const cq_object *cq_python_entry_function(struct cq_script *s, size_t *n_self);

/* ---- the end ---- */

void cq_python_open_cycles(cq_python *py); /* cycle.c */

#endif
