/* Gradients: a tape records the operators that a model runs; backward reads it in reverse.
 *
 *     cq_tape_new(&tape);
 *     cq_ctx_new(&cx);
 *     cq_tape_start(tape, cx);
 *     y = cq_call(cx, model, x);
 *     cq_tape_backward(tape, cx, &y, NULL, 1);
 *     g = cq_tape_gradient(tape, cq_module_find(model, "fc.weight"));
 *
 * Parameters of modules and tensors passed to cq_tape_watch get gradients. cq_gradients is simpler
 * for a single run of a whole model. */
#ifndef CALQUE_AUTOGRAD_H
#define CALQUE_AUTOGRAD_H

#include <calque/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_tape cq_tape;

CQ_API cq_status cq_tape_new(cq_tape **out);
CQ_API void      cq_tape_free(cq_tape *tape);

/* Between start and stop the tape records the operators of the context. */
CQ_API void cq_tape_start(cq_tape *tape, cq_ctx *cx);
CQ_API void cq_tape_stop(cq_tape *tape, cq_ctx *cx);

/* Requests a gradient for t, a floating-point tensor. Call it before t is used. */
CQ_API cq_status cq_tape_watch(cq_tape *tape, cq_tensor *t);

/* Turns recording off and on, like `with torch.no_grad()`. Returns the previous setting. */
CQ_API bool cq_set_grad_enabled(cq_ctx *cx, bool enabled);

/* Runs the backward pass from outputs. seeds are the gradients of the outputs; NULL, for all or one
 * of them, means ones. It stops the tape and frees recorded values as it goes, so it can be called
 * once. If operators lack gradients, nothing is computed and the error lists all of them. */
CQ_API cq_status cq_tape_backward(cq_tape *tape, cq_ctx *cx, cq_tensor *const *outputs,
                                  cq_tensor *const *seeds, size_t n);

/* The gradient of a parameter or watched tensor, borrowed from the tape; NULL if no output depends
 * on it. */
CQ_API cq_tensor *cq_tape_gradient(const cq_tape *tape, const cq_tensor *t);

/* ---- One run of a model ---- */

/* Gradients of one run of a model:
 *
 *     cq_gradients_new(&g, NULL, 0);
 *     options.gradients = g; // of cq_run_options
 *     cq_module_run_as(model, &x, 1, &options, outputs, 1, &n);   // or cq_script_run_as
 *     w = cq_gradients_find(g, "fc.weight");
 *     cq_gradients_free(g);
 *
 * An object serves for one run. */
typedef struct cq_gradients cq_gradients;

/* seeds are the gradients of the outputs, in order; missing ones and NULL mean ones. They are
 * retained. */
CQ_API cq_status cq_gradients_new(cq_gradients **out, cq_tensor *const *seeds, size_t n_seeds);
CQ_API void      cq_gradients_free(cq_gradients *g);

/* The seed that the backward pass used for an output. NULL past the last output, and for outputs
 * that are not floating-point. */
CQ_API cq_tensor *cq_gradients_seed(const cq_gradients *g, size_t index);

/* Parameters in the order of the model; a shared parameter appears once, under its first name. The
 * name is NULL past the last one. The gradient is NULL if no output depends on the parameter. */
CQ_API const char *cq_gradients_name(const cq_gradients *g, size_t index);
CQ_API cq_tensor  *cq_gradients_parameter(const cq_gradients *g, size_t index);
CQ_API cq_tensor  *cq_gradients_find(const cq_gradients *g, const char *name);

/* Adds a parameter of a run outside of calque, with its gradient, which is retained; NULL if it
 * has none. */
CQ_API cq_status cq_gradients_add(cq_gradients *g, const char *name, cq_tensor *gradient);

/* The gradient of an input; NULL if it is not floating-point, or if no output depends on it. */
CQ_API cq_tensor *cq_gradients_input(const cq_gradients *g, size_t index);

#ifdef __cplusplus
}
#endif

#endif
