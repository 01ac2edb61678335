/* Gradients: what a model computes is written down on a tape, which is then read backwards.
 *
 *     cq_tape_new(&tape);
 *     cq_ctx_new(&cx);
 *     cq_tape_start(tape, cx);
 *     y = cq_call(cx, model, x);
 *     cq_tape_backward(tape, cx, &y, NULL, 1);
 *     g = cq_tape_gradient(tape, cq_module_find(model, "fc.weight"));
 *
 * Parameters of modules have gradients, and what cq_tape_watch was told of. For one run of a whole
 * model there is cq_gradients. */
#ifndef CALQUE_AUTOGRAD_H
#define CALQUE_AUTOGRAD_H

#include <calque/nn.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct cq_tape cq_tape;

CQ_API cq_status cq_tape_new(cq_tape **out);
CQ_API void      cq_tape_free(cq_tape *tape);

/* From start to stop the tape notes what the context computes. */
CQ_API void cq_tape_start(cq_tape *tape, cq_ctx *cx);
CQ_API void cq_tape_stop(cq_tape *tape, cq_ctx *cx);

/* t, a tensor of floats, gets a gradient. Before it is used. */
CQ_API cq_status cq_tape_watch(cq_tape *tape, cq_tensor *t);

/* Between the two nothing is noted, as in `with torch.no_grad()`. Returns what was before. */
CQ_API bool cq_set_grad_enabled(cq_ctx *cx, bool enabled);

/* Goes back from outputs, whose gradients are seeds (NULL, or NULL for one of them: ones). It
 * stops the tape and can be done once, for it frees what was kept of the run on its way. If
 * operators have no gradient, nothing is computed and the error names them all. */
CQ_API cq_status cq_tape_backward(cq_tape *tape, cq_ctx *cx, cq_tensor *const *outputs,
                                  cq_tensor *const *seeds, size_t n);

/* The gradient of a parameter or of a tensor that was watched; NULL when none of the outputs
 * depends on it. It is the tape's. */
CQ_API cq_tensor *cq_tape_gradient(const cq_tape *tape, const cq_tensor *t);

/* ---- One run of a model ---- */

/* The gradients of a model that is run as it is exported:
 *
 *     cq_gradients_new(&g, NULL, 0);
 *     options.gradients = g; // of cq_run_options
 *     cq_module_run_as(model, &x, 1, &options, outputs, 1, &n);   // or cq_script_run_as
 *     w = cq_gradients_find(g, "fc.weight");
 *     cq_gradients_free(g);
 *
 * It serves for one run. */
typedef struct cq_gradients cq_gradients;

/* seeds are the gradients of the outputs, in order; where there is none, or it is NULL, it is
 * ones. They are retained. */
CQ_API cq_status cq_gradients_new(cq_gradients **out, cq_tensor *const *seeds, size_t n_seeds);
CQ_API void      cq_gradients_free(cq_gradients *g);

/* The gradients that the way back began with, one per output. NULL after the last, and for an
 * output that is not of floats. */
CQ_API cq_tensor *cq_gradients_seed(const cq_gradients *g, size_t index);

/* Parameters in the order of the model, a shared one once, under its first name; the name is NULL
 * after the last. The gradient is NULL when no output depends on the parameter. */
CQ_API const char *cq_gradients_name(const cq_gradients *g, size_t index);
CQ_API cq_tensor  *cq_gradients_parameter(const cq_gradients *g, size_t index);
CQ_API cq_tensor  *cq_gradients_find(const cq_gradients *g, const char *name);

/* Adds a parameter of a run that is not calque's, with the gradient that was found there, which is
 * retained; NULL: it has none. */
CQ_API cq_status cq_gradients_add(cq_gradients *g, const char *name, cq_tensor *gradient);

/* Of an input; NULL when it is not of floats, or no output depends on it. */
CQ_API cq_tensor *cq_gradients_input(const cq_gradients *g, size_t index);

#ifdef __cplusplus
}
#endif

#endif
