/* A program that can be called: its code, and the object whose methods are called. */
#ifndef CQ_SCRIPT_SCRIPT_H
#define CQ_SCRIPT_SCRIPT_H

#include "script/eval.h"

#include <calque/script.h>

struct cq_args {
    cq_list *positional;
    cq_dict *keywords;

    /* Inputs for floats are float64, as in the example, instead of float32, to which PyTorch
     * converts Python numbers everywhere else. */
    bool wide_floats;
};

struct cq_script {
    cq_program *program;
    cq_val      root;   /* the module of an archive or of source text; or None */
    char       *entry;  /* the entry expression of cq_script_make that built the root, or NULL */
    cq_val      traced; /* the tuple or list of tensors that forward was traced with, or None */
    struct cq_torchscript
                      *archive; /* keeps the file open; NULL: the program is not from an archive */
    struct cq_pickled *pickled; /* a file of torch.save with a module; NULL: none */
    struct cq_script_state *state; /* found by the last export (state.h), or NULL */
    double fit_seconds;            /* time spent searching for inputs of its methods (fit.c) */
};

/* Converts a tensor or number among the arguments to the tensor of a graph input, to be released by
 * the caller; NULL for other values. wide: floats become float64, otherwise float32. */
cq_status cq_args_tensor_of(cq_tensor **out, cq_val v, bool wide);

cq_status cq_args_text(const char *text, size_t len, cq_val *out); /* owned by the caller */

/* The value of an argument that is part of the program (cq_args_set_constant); NULL for other
 * arguments. */
const cq_val *cq_args_constant_of(cq_val v);

/* signature.c: the index of a parameter of a method, SIZE_MAX if there is no parameter of that
 * name; and the number of parameters without a default. */
size_t cq_script_param_slot(cq_script *script, const char *method, const char *name,
                            size_t *n_needed);

/* The declared type of a parameter, or NULL. */
const cq_ast_expr *cq_script_param_type(cq_script *script, const char *method, size_t i);

const char *cq_script_param_name(cq_script *script, const char *method, size_t i); /* or NULL */

/* inputs.c: a walk over the positional arguments, or over the keyword arguments. */
typedef struct cq_arguments {
    cq_port                *port;
    struct cq_script_state *state; /* NULL: changes of arguments are not recorded */
    cq_script              *script;
    const char             *method;
    bool                    by_position;
    bool                    wide_floats; /* as in cq_args */
} cq_arguments;

/* A copy of the tree, owned by the context, with the port's values instead of its tensors and
 * numbers. */
cq_status cq_script_inputs(cq_eval *ev, cq_arguments a, cq_val v, cq_val *out);

/* signature.c: appends "forward(x: Tensor, n: int=…)", without the bound object. */
struct cq_str;
void cq_script_describe(struct cq_str *out, const cq_ast_def *def, const cq_source *source,
                        bool is_method);

/* suggest.c: appends inputs that the method accepts, such as "--input 1x3x224x224 --input 2". It
 * calls the method on tensors without data until a guess is accepted. Nothing is appended if the
 * search fails. */
void cq_script_suggest(struct cq_str *out, cq_script *script, const cq_ast_def *def,
                       const cq_source *source, bool is_method);

/* foreign.c: a hint about an operator that a tool inserted; NULL for operators of the model's
 * author. */
const char *cq_foreign_maker_hint(const char *op);

/* "Linear" for "__torch__.torch.nn.modules.linear.Linear", without the number that distinguishes
 * classes of equal names. */
const char *cq_object_class_name(const cq_object *module);

/* Calls a function or method through a port: runs it, or records it into the capture of cx. */
cq_status cq_script_call_through(cq_ctx *cx, cq_script *script, const char *method,
                                 const cq_args *args, uint32_t flags, cq_port *port);

/* A call from another program, with arguments of its context. *out is the result. */
cq_status cq_script_call_value(cq_ctx *cx, cq_script *script, const char *method,
                               const cq_args *args, cq_val *out);

/* modules.c: the modules of an archive, each once, a module before its children; and all tensors
 * with data that they hold, with their paths: parameters of a module come first, then its other
 * tensors, then its children. */
typedef cq_status (*cq_script_module_fn)(void *user, cq_object *module, const char *path);
typedef cq_status (*cq_script_tensor_fn)(void *user, const char *path, cq_tensor *t,
                                         bool is_parameter);

/* Whether a tensor attribute is a parameter, not a buffer. Old files do not list their parameters:
 * then every tensor that requires a gradient is one. */
bool cq_script_is_parameter(const cq_object *module, const cq_attribute *a);

cq_status cq_script_each_module(const cq_script *script, cq_script_module_fn fn, void *user);
cq_status cq_script_each_tensor(cq_script *script, cq_script_tensor_fn fn, void *user);

/* The entries of the module's state dict, without non-persistent buffers. A module that several
 * others hold has an entry for each path, and `again` is set for all but the first. */
typedef cq_status (*cq_script_state_fn)(void *user, const char *path, cq_tensor *t, bool again);
cq_status cq_script_each_state(cq_script *script, cq_script_state_fn fn, void *user);

/* Sets the mode of all modules; cq_script_restore_modes restores the old modes and frees saved. */
typedef struct cq_script_modes cq_script_modes;
cq_status cq_script_set_training(cq_script *script, bool training, cq_script_modes **saved);
void      cq_script_restore_modes(cq_script_modes *saved);
void      cq_script_keep_modes(cq_script_modes *saved); /* only frees saved */

/* load.c: builds a quantized tensor from the integers and quantization parameters of an archive. */
struct cq_quantized;
cq_status cq_quantized_tensor(const struct cq_quantized *q, cq_val *out);

/* Sets the size of the script's file: larger files are allowed more steps. */
void cq_script_set_file(cq_script *script, size_t size);

/* The memory limit for inputs of that many bytes. */
int64_t cq_script_max_bytes(const cq_script *script, double input_bytes);

/* Puts an evaluator under the limits of the script. cq_script_end lifts them, attributes a failure
 * to a guess if there was one, clears the evaluator and returns the status. */
typedef struct cq_script_limits {
    cq_alloc_budget budget; /* before */
    cq_dtype        default_float;
} cq_script_limits;

cq_script_limits cq_script_begin(cq_eval *ev, cq_script *script, double input_bytes);
cq_status        cq_script_end(cq_eval *ev, cq_script *script, const cq_script_limits *before,
                               cq_status status);

#endif
