/* Modules: layers with parameters, and models made of them.
 *
 * A user-defined module is a struct with a forward function:
 *
 *     struct net { cq_module *conv, *fc; };
 *
 *     static cq_tensor *net_forward(cq_ctx *cx, void *self, cq_tensor *x)
 *     {
 *         struct net *m = self;
 *
 *         x = cq_relu(cx, cq_call(cx, m->conv, x));
 *         return cq_call(cx, m->fc, cq_flatten(cx, x, 1, -1));
 *     }
 *
 *     static const cq_class net_class = { CQ_SIZED(cq_class), .name = "Net",
 *                                         .self_size = sizeof(struct net),
 *                                         .forward = net_forward };
 *
 *     cq_module  *net = cq_module_new(&net_class);
 *     struct net *m   = cq_module_self(net);
 *
 *     m->conv = cq_module_add(net, "conv", cq_conv2d_new(&(cq_conv_spec){
 *                   CQ_SIZED(cq_conv_spec), .in = 3, .out = 8, .kernel = { 3, 3 } }));
 *     m->fc   = cq_module_add(net, "fc", cq_linear_new(8 * 30 * 30, 10, true));
 *
 * No checks are needed while building: a constructor that fails returns NULL, adding NULL makes the
 * parent fail, and cq_module_status of the root returns the first failure.
 *
 * Threads: only one thread may use a module tree at a time, because a call may change buffers.
 * Different trees may be used concurrently unless they share parameters. */
#ifndef CALQUE_MODULE_H
#define CALQUE_MODULE_H

#include <calque/nest.h>
#include <calque/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_module cq_module;

typedef struct cq_class {
    size_t      struct_size; /* sizeof(cq_class) */
    const char *name;        /* "AlexNet": shown in scopes */
    size_t      self_size;   /* of the struct passed to forward, initially zeroed */

    /* One tensor in, one out. Or: */
    cq_tensor *(*forward)(cq_ctx *cx, void *self, cq_tensor *x);

    /* Any number of both. Sets out[0 … n_out-1]; entries that it does not set are NULL. */
    void (*forward_n)(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                      size_t n_out);

    void (*destroy)(void *self); /* frees resources of self other than modules and parameters */
    size_t n_out;                /* of forward_n, for exporting; 0 means 1 */

    /* Or tuples, lists and dicts of tensors: args is the tuple of arguments; the result is built
     * by cq_nest_tuple, cq_nest_list or cq_nest_dict, or is a single tensor. */
    cq_nest (*forward_nested)(cq_ctx *cx, void *self, const cq_nest *args);
} cq_class;

/* cls must outlive the module; the module owns self. */
CQ_API cq_module *cq_module_new(const cq_class *cls);
CQ_API void       cq_module_free(cq_module *m); /* and its children */
CQ_API void      *cq_module_self(const cq_module *m);
CQ_API cq_status  cq_module_status(const cq_module *m); /* the first failure in the tree */

/* Transfers child to parent under a name, and returns it. NULL makes parent fail. */
CQ_API cq_module *cq_module_add(cq_module *parent, const char *name, cq_module *child);

/* Transfers a tensor to m as a parameter (trained) or buffer, and returns it. NULL is an absent
 * parameter (a Linear without bias). To tie two parameters, add the same tensor, retained, to both
 * modules. */
CQ_API cq_tensor *cq_module_add_parameter(cq_module *m, const char *name, cq_tensor *t);
CQ_API cq_tensor *cq_module_add_buffer(cq_module *m, const char *name, cq_tensor *t);

CQ_API const char *cq_module_class_name(const cq_module *m);
CQ_API const char *cq_module_name(const cq_module *m); /* in its parent; "" for a root */

/* All parameters and buffers of the tree by qualified name, `features.0.weight`, in the order
 * of PyTorch's state_dict. */
typedef struct cq_state_entry {
    const char *name;   /* borrowed from the module */
    cq_tensor  *tensor; /* borrowed */
    bool        is_buffer;
} cq_state_entry;

CQ_API size_t     cq_module_state_count(const cq_module *m);
CQ_API cq_status  cq_module_state_at(const cq_module *m, size_t index, cq_state_entry *out);
CQ_API cq_tensor *cq_module_find(const cq_module *m, const char *name);  /* NULL: none */
CQ_API cq_module *cq_module_child(const cq_module *m, const char *path); /* "features.0" */
CQ_API size_t     cq_module_n_children(const cq_module *m);
CQ_API cq_module *cq_module_child_at(const cq_module *m, size_t index);

/* Copies values into a parameter or buffer; the shape must match, the dtype is converted. */
CQ_API cq_status cq_module_set(cq_module *m, const char *name, const cq_tensor *value);

/* Loads `NAME.npy` from folder for every entry of the state; all files must exist. */
CQ_API cq_status cq_module_load_npy(cq_module *m, const char *folder);

/* Loads a state dict, or a checkpoint that holds one (<calque/weights.h>). Names and shapes must
 * match the module; an error lists all mismatches, and nothing is changed. dtypes are converted.
 * The parameters are views of the mapped file. flags: CQ_WEIGHTS_NOT_STRICT. */
CQ_API cq_status cq_module_load_state_dict(cq_module *m, const char *path);
CQ_API cq_status cq_module_load_weights(cq_module *m, cq_weights *weights, uint32_t flags);

/* Training or evaluation, for the whole tree. New modules are in training mode. */
CQ_API void cq_module_train(cq_module *m, bool training);
CQ_API bool cq_module_is_training(const cq_module *m);

/* Changes the mode of the tree temporarily: saves the mode of every module in *saved, which
 * cq_module_restore_training restores and frees. */
typedef struct cq_training_modes cq_training_modes;
CQ_API cq_status cq_module_set_training(cq_module *m, bool training, cq_training_modes **saved);
CQ_API void      cq_module_restore_training(cq_module *m, cq_training_modes *saved);

/* Calls a module, inside of a forward function or at the top level. */
CQ_API cq_tensor *cq_call(cq_ctx *cx, cq_module *m, cq_tensor *x);
CQ_API void cq_call_n(cq_ctx *cx, cq_module *m, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                      size_t n_out);

/* The same with nests; args is a tuple. Every kind of call works with every kind of module: a
 * module without forward_nested gets the tensors of args in order, and cq_call_n passes its tensors
 * to forward_nested as a tuple. The result lives as long as the context. */
CQ_API cq_nest cq_call_nested(cq_ctx *cx, cq_module *m, const cq_nest *args);

/* For forward functions: the mode of the current module, and whether the model is being
 * exported. */
CQ_API bool cq_is_training(const cq_ctx *cx);
CQ_API bool cq_is_in_onnx_export(const cq_ctx *cx);

/* Seeds the initialisation of parameters in this thread; the same seed and the same order of
 * constructors give the same numbers on every machine. */
CQ_API void cq_manual_seed(uint64_t seed);

/* Whether constructors of this thread leave random parameters at zero, which takes neither time nor
 * memory: for a module whose weights are loaded next. */
CQ_API void cq_skip_init(bool skip);

#ifdef __cplusplus
}
#endif

#endif
