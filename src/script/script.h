/* A program that can be called: its code, and the object its methods belong to. */
#ifndef CQ_SCRIPT_SCRIPT_H
#define CQ_SCRIPT_SCRIPT_H

#include "script/eval.h"

#include <calque/script.h>

struct cq_args {
    cq_list *positional;
    cq_dict *keywords;

    /* Inputs for floats are float64, as the example has them, and not float32, which PyTorch makes
     * of numbers of Python everywhere else. */
    bool wide_floats;
};

struct cq_script {
    cq_program *program;
    cq_val      root;    /* the module of an archive, or that was made of source text; or None */
    char       *entry;   /* the entry expression of cq_script_make that made the root, or NULL */
    cq_val      traced;  /* the tuple or list of tensors that forward was traced with, or None */
    void       *archive; /* keeps the file open */
    void (*close)(void *archive);
    struct cq_pickled      *pickled; /* a file of torch.save with a module; NULL: none */
    struct cq_script_state *state;   /* found by the last export (state.h), or NULL */
    double fit_seconds;              /* time spent searching for inputs of its methods (fit.c) */
};

/* A tensor or number among the arguments as an input of a graph, to be released by the caller; NULL
 * for everything else. wide: floats are float64, otherwise float32. */
cq_status cq_args_tensor_of(cq_tensor **out, cq_val v, bool wide);

cq_status cq_args_text(const char *text, size_t len, cq_val *out); /* the caller's */

/* The value of an argument that is part of the program (cq_args_set_constant); NULL: it is not
 * one. */
const cq_val *cq_args_constant_of(cq_val v);

/* signature.c: the index of a parameter of a method, and how many have no default; SIZE_MAX if
 * there is no such name. */
size_t cq_script_param_slot(cq_script *script, const char *method, const char *name,
                            size_t *n_needed);

/* The declared type of a parameter, or NULL. */
const cq_ast_expr *cq_script_param_type(cq_script *script, const char *method, size_t i);

const char *cq_script_param_name(cq_script *script, const char *method, size_t i); /* or NULL */

/* inputs.c: a walk over the arguments by position, or over those by name. */
typedef struct cq_arguments {
    cq_port                *port;
    struct cq_script_state *state; /* NULL: none is looked for */
    cq_script              *script;
    const char             *method;
    bool                    by_place;
    bool                    wide_floats; /* of the arguments (cq_args) */
} cq_arguments;

/* The same tree, owned by the context, with the port's values instead of its tensors and
 * numbers. */
cq_status cq_script_inputs(cq_eval *ev, cq_arguments a, cq_val v, cq_val *out);

/* signature.c: "forward(x: Tensor, n: int=…)", without the object that a method is of. */
struct cq_str;
void cq_script_describe(struct cq_str *out, const cq_ast_def *def, const cq_source *source,
                        bool is_method);

/* suggest.c: "--input 1x3x224x224 --input 2", inputs that the method accepts: it is called on
 * tensors without data until it accepts them. Nothing is added if no such inputs are found. */
void cq_script_suggest(struct cq_str *out, cq_script *script, const cq_ast_def *def,
                       const cq_source *source, bool is_method);

/* foreign.c: a hint about an operator that a tool wrote, not the model's author; NULL for the
 * author's own. */
const char *cq_foreign_maker_hint(const char *op);

/* "Linear" for "__torch__.torch.nn.modules.linear.Linear", without the number that makes classes of
 * one name different. */
const char *cq_object_class_name(const cq_object *module);

/* Calls a function or method through a port, for real or into the capture of cx. */
cq_status cq_script_call_through(cq_ctx *cx, cq_script *script, const char *method,
                                 const cq_args *args, uint32_t flags, cq_port *port);

/* A call from another program, with arguments of its context: what the method returns. */
cq_status cq_script_call_value(cq_ctx *cx, cq_script *script, const char *method,
                               const cq_args *args, cq_val *out);

/* modules.c: the modules of an archive, each once, a module before those inside of it. Every tensor
 * with data that they hold, with its path; a module's own parameters come first, then its other
 * tensors, then its children. */
typedef cq_status (*cq_script_module_fn)(void *user, cq_object *module, const char *path);
typedef cq_status (*cq_script_tensor_fn)(void *user, const char *path, cq_tensor *t,
                                         bool is_parameter);

/* Whether an attribute that is a tensor is a parameter, not a buffer. Old files do not list their
 * parameters: then every tensor that has a gradient is one. */
bool cq_script_is_parameter(const cq_object *module, const cq_attribute *a);

cq_status cq_script_each_module(const cq_script *script, cq_script_module_fn fn, void *user);
cq_status cq_script_each_tensor(cq_script *script, cq_script_tensor_fn fn, void *user);

/* The entries of the module's state dict: no buffers that are not persistent; a module that several
 * others hold has an entry for each path, and `again` is set for all but the first. */
typedef cq_status (*cq_script_state_fn)(void *user, const char *path, cq_tensor *t, bool again);
cq_status cq_script_each_state(cq_script *script, cq_script_state_fn fn, void *user);

/* Puts all modules into a mode; cq_script_restore_modes takes it back, and frees saved. */
typedef struct cq_script_modes cq_script_modes;
cq_status cq_script_set_training(cq_script *script, bool training, cq_script_modes **saved);
void      cq_script_restore_modes(cq_script_modes *saved);
void      cq_script_keep_modes(cq_script_modes *saved); /* frees saved only */

/* load.c: the integers of a quantized tensor with their quantization parameters. */
struct cq_quantized;
cq_status cq_quantized_tensor(const struct cq_quantized *q, cq_val *out);

/* The size of the file that it was read from: a large one may take longer. */
void cq_script_set_file(cq_script *script, size_t size);

/* The memory limit for inputs of that many bytes. */
int64_t cq_script_max_bytes(const cq_script *script, double input_bytes);

/* Runs an evaluator within the limits of the script, attributes a failure to a guess if there was
 * one, and clears it. */
cq_status cq_script_with_limits(cq_eval *ev, cq_script *script, double input_bytes,
                                cq_status (*work)(void *user), void *user);

#endif
