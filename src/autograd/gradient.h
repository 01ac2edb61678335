/* The gradients of operators: rows, like the operators themselves and their forms in ONNX.
 *
 *     { "aten::conv2d", .fn = conv },                      what needs thought
 *     { "aten::floor", .kind = CQ_GRADIENT_ZERO },         it has one, and it is zero
 *     { "aten::zeros_like", .kind = CQ_GRADIENT_NONE },    the results are constants
 *
 * Most are functions of lib/aten, which return a dict of gradients by argument:
 *
 *     @gradient("aten::sin")
 *     def sin_gradient(grad, self):
 *         return {"self": grad * self.cos()}
 *
 * Their parameters are arguments of the operator, its results as result, result1, … and the
 * gradients of those as grad, grad1, … An entry is computed only if its argument needs it.
 * @gradient_of("aten::lstm.input") is a composition that runs in place of the operator while a tape
 * listens.
 *
 * An operator needs none if it is composed of others (unless its own is cheaper) or a view (unview
 * puts the gradient where the view was). Gradients are computed by other operators of the table. */
#ifndef CQ_AUTOGRAD_GRADIENT_H
#define CQ_AUTOGRAD_GRADIENT_H

#include "aten/core/body.h"
#include "aten/ops/geometry.h"

typedef struct cq_grad     cq_grad;
typedef struct cq_gradient cq_gradient;

enum {
    CQ_GRADIENT_ZERO = 1, /* zeros for every argument */
    CQ_GRADIENT_MOVE = 3, /* the result is elements of the arguments, and zeros (move.c) */
    CQ_GRADIENT_NONE = 2  /* results are not differentiable and count as constants */
};

struct cq_gradient {
    const char *op;
    cq_status (*fn)(cq_grad *g); /* if there is also a function in lib/aten: fn is for data, the
                                    function for graphs */
    int  kind;
    bool own_body;   /* a tape records the operator's own body */
    bool first_only; /* other results than the first have no gradient */
    int  variant;    /* distinguishes rows that share a function */
};

/* One backward step: a recorded call, and the gradients of its results. */
struct cq_grad {
    cq_ctx            *cx;   /* the same as the call's */
    cq_opcall          call; /* with recorded arguments and results */
    const cq_gradient *row;
    cq_tensor        **of_results; /* NULL: no output depends on it. Lists are flat */
    size_t             n_results;
    struct cq_grad_slot { /* one per tensor among the arguments; lists are flat */
        size_t     arg;
        cq_tensor *tensor;
        bool       wanted;
        cq_tensor *gradient;
    } * slots;
    size_t n_slots;
};

/* Builds the table of rows; must be called before rows are looked up. If memory runs out, all rows
 * are missing. */
cq_status cq_gradients_ready(void);

/* The row of an operator; NULL if it has none. */
const cq_gradient *cq_gradient_find(const cq_op *op);

/* Walks the rows: cq_gradient_at(0), … until NULL. */
const cq_gradient *cq_gradient_at(size_t index);

/* The families, one array each, ended by an empty row (rows.c lists them). */
extern const cq_gradient cq_gradients_pointwise[];
extern const cq_gradient cq_gradients_functions[];
extern const cq_gradient cq_gradients_cast[];
extern const cq_gradient cq_gradients_creation[];
extern const cq_gradient cq_gradients_view[];
extern const cq_gradient cq_gradients_index[];
extern const cq_gradient cq_gradients_conv[];
extern const cq_gradient cq_gradients_pool[];
extern const cq_gradient cq_gradients_norm[];
extern const cq_gradient cq_gradients_rnn[];
extern const cq_gradient cq_gradients_resize[];
extern const cq_gradient cq_gradients_random[];
extern const cq_gradient cq_gradients_vision[];

/* ---- for the functions of rows ---- */

/* A tensor argument (NULL for None), a result, and the gradient of a result: zeros when no output
 * depends on it. */
cq_tensor *cq_grad_arg(const cq_grad *g, const char *name);
cq_tensor *cq_grad_result(const cq_grad *g, size_t index);
cq_tensor *cq_grad_of(cq_grad *g, size_t index);

/* Whether the gradient of the argument is needed. */
bool cq_grad_wants(const cq_grad *g, const char *name);

/* Adds a gradient. Broadcast dimensions are summed, and it is converted to the argument's dtype. */
cq_status cq_grad_set(cq_grad *g, const char *name, cq_tensor *gradient);
cq_status cq_grad_set_item(cq_grad *g, const char *name, size_t index, cq_tensor *gradient);

/* Zeros for every argument that has a gradient. */
cq_status cq_grad_zeros(cq_grad *g);

/* t summed to the sizes of like, from which it was broadcast. */
cq_tensor *cq_sum_to(cq_ctx *cx, cq_tensor *t, const cq_tensor *like);

/* move.c: the gradient of a tensor among the arguments whose elements the call only moves. */
cq_tensor *cq_grad_moved(cq_grad *g, const cq_tensor *arg);

/* backward.c: computes the requested gradients of the arguments, by the row or because it is a
 * view. Tensors may be fake: then a listener records the operators of the gradient. */
cq_status cq_grad_step(cq_grad *g);
bool      cq_grad_is_known(const cq_op *op); /* whether cq_grad_step supports the operator */

/* For rows that call a kernel: fails if there is no data. */
cq_status cq_grad_need_data(const cq_grad *g);

/* function.c: sets the gradients that the operator's function in lib/aten returns. */
cq_status cq_gradient_function(cq_grad *g);

/* A composition that a tape records instead of the operator; NULL: none. */
cq_status (*cq_gradient_composition(const cq_op *op))(cq_opcall *c);

#endif
