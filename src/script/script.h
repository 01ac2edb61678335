/* A program that can be called: its code, and the object its methods belong to. */
#ifndef CQ_SCRIPT_SCRIPT_H
#define CQ_SCRIPT_SCRIPT_H

#include "autograd/gradients.h"
#include "script/eval.h"

#include <calque/script.h>

struct cq_args {
    cq_list *positional;
    cq_dict *keywords;
};

struct cq_script {
    cq_program *program;
    cq_val      root;    /* the module of an archive, or that was made of source text; or None */
    cq_val      traced;  /* the tuple or list of tensors that forward was traced with, or None */
    void       *archive; /* keeps the file open */
    void (*close)(void *archive);
};

/* What a tensor or number among the arguments is as an input of a graph, the caller's to release;
 * NULL for everything else. */
cq_status cq_args_tensor_of(cq_tensor **out, cq_val v);

/* Captures a call as an aten graph (for the exporter). names are those of the inputs; axes of
 * input i are dynamic where axis_names(user, i, name, t, axes) says so. */
typedef struct cq_script_inputs {
    const char *(*name)(void *user, size_t i, char *buffer, size_t size);
    cq_status (*axes)(void *user, cq_graph *g, const char *name, const cq_tensor *t,
                      const char **axes);
    bool (*has_rule)(void *user, const char *op); /* a user's own, for this operator */
    void                 *user;
    const cq_module_mark *marks; /* annotations, anchors and outputs by path */
    size_t                n_marks;
} cq_script_inputs;

/* Runs a call; the outputs that marks name come after the others. gradients, if it is not NULL,
 * gets those of the run. */
cq_status cq_script_run_marked(cq_script *script, const char *method, const cq_args *args,
                               const cq_module_mark *marks, size_t n_marks, cq_gradients *gradients,
                               cq_tensor **outputs, size_t max, size_t *n_outputs);

/* modules.c: the modules of an archive. Every tensor with data that they hold, with its path; a
 * module's own parameters come first, then its other tensors, then its children. */
typedef cq_status (*cq_script_tensor_fn)(void *user, const char *path, cq_tensor *t,
                                         bool is_parameter);
cq_status cq_script_each_tensor(cq_script *script, cq_script_tensor_fn fn, void *user);

/* Who has a gradient: the parameters, and the tensors among args. */
cq_status cq_script_add_to_gradients(cq_script *script, const cq_args *args, cq_gradients *g);

/* Puts all modules into a mode; cq_script_restore_modes takes it back, and frees saved. */
typedef struct cq_script_modes cq_script_modes;
cq_status cq_script_set_training(cq_script *script, bool training, cq_script_modes **saved);
void      cq_script_restore_modes(cq_script_modes *saved);

cq_status cq_script_capture(cq_graph **out, cq_script *script, const char *method,
                            const cq_args *args, uint32_t flags, const cq_script_inputs *inputs);

#endif
