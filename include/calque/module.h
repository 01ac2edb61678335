/* Modules: layers with parameters, and models made of them.
 *
 * A user-defined module is a struct of yours with a forward function:
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
 * Building never needs a check in between: a constructor that fails returns NULL, adding NULL
 * makes the parent fail, and cq_module_status of the root tells at the end.
 *
 * Threads: a tree of modules is used by one thread at a time, because calling it may change its
 * buffers; different trees may be used at once. Tied parameters make two trees one. */
#ifndef CALQUE_MODULE_H
#define CALQUE_MODULE_H

#include <calque/nest.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_module cq_module;

typedef struct cq_class {
    size_t      struct_size; /* sizeof(cq_class) */
    const char *name;        /* "AlexNet": shown in scopes */
    size_t      self_size;   /* of the struct that forward gets, zeroed at first */

    /* One tensor in, one out. Or: */
    cq_tensor *(*forward)(cq_ctx *cx, void *self, cq_tensor *x);

    /* Any number of both. Sets out[0 … n_out-1]; those it does not set are NULL. */
    void (*forward_n)(cq_ctx *cx, void *self, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                      size_t n_out);

    void (*destroy)(void *self); /* frees what self holds besides modules and parameters */
    size_t n_out;                /* of forward_n, for exporting; 0 means 1 */

    /* Or tuples, lists and dicts of tensors: args is the tuple of the arguments, and what is
     * returned is made by cq_nest_tuple and its sisters (or a single tensor). */
    cq_nest (*forward_nested)(cq_ctx *cx, void *self, const cq_nest *args);
} cq_class;

/* cls is borrowed for the module's life; self lives as long as the module. */
CQ_API cq_module *cq_module_new(const cq_class *cls);
CQ_API void       cq_module_free(cq_module *m); /* and its children */
CQ_API void      *cq_module_self(const cq_module *m);
CQ_API cq_status  cq_module_status(const cq_module *m); /* the first failure in the tree */

/* Gives child to parent under a name, and returns it. NULL makes parent fail. */
CQ_API cq_module *cq_module_add(cq_module *parent, const char *name, cq_module *child);

/* Gives a tensor to m as a parameter (trained) or buffer (kept), and returns it. NULL is a
 * parameter that is not there (a Linear without bias). To tie two parameters, give both
 * modules the same tensor, retained. */
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

/* Copies values into a parameter or buffer; shape must fit, dtype is converted. */
CQ_API cq_status cq_module_set(cq_module *m, const char *name, const cq_tensor *value);

/* Loads `NAME.npy` from folder for every entry of the state; all must be there. */
CQ_API cq_status cq_module_load_npy(cq_module *m, const char *folder);

/* Loads a file of torch.save(model.state_dict(), path), or a checkpoint that holds one. Names and
 * shapes must be the module's; all that are not are told at once, and nothing is changed. dtypes
 * are converted. Files of PyTorch before 1.6 are refused. */
CQ_API cq_status cq_module_load_state_dict(cq_module *m, const char *path);

/* Training or evaluation, for the whole tree. New modules are in training mode. */
CQ_API void cq_module_train(cq_module *m, bool training);
CQ_API bool cq_module_is_training(const cq_module *m);

/* Puts the tree into a mode for a while: remembers the mode of every module in *saved, and
 * cq_module_restore_training puts them back (and frees *saved). */
typedef struct cq_training_modes cq_training_modes;
CQ_API cq_status cq_module_set_training(cq_module *m, bool training, cq_training_modes **saved);
CQ_API void      cq_module_restore_training(cq_module *m, cq_training_modes *saved);

/* Calling a module, inside of a forward or at the top. */
CQ_API cq_tensor *cq_call(cq_ctx *cx, cq_module *m, cq_tensor *x);
CQ_API void cq_call_n(cq_ctx *cx, cq_module *m, cq_tensor *const *in, size_t n_in, cq_tensor **out,
                      size_t n_out);

/* The same with nests; args is a tuple. A module without forward_nested gets the tensors of args
 * in order, and one with it gets those of cq_call_n as a tuple: each kind of call fits each kind
 * of module. The result lives as long as the context. */
CQ_API cq_nest cq_call_nested(cq_ctx *cx, cq_module *m, const cq_nest *args);

/* For forward functions: the mode of the module that is being called, and whether the model
 * is being exported. */
CQ_API bool cq_is_training(const cq_ctx *cx);
CQ_API bool cq_is_in_onnx_export(const cq_ctx *cx);

/* Seeds the initialisation of parameters in this thread; the same seed and the same order of
 * constructors give the same numbers on every machine. */
CQ_API void cq_manual_seed(uint64_t seed);

#ifdef __cplusplus
}
#endif

#endif
