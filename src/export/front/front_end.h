/* A front end is what a model is made of: modules in C, TorchScript, a program of torch.export. It
 * names the weights and can be called; everything else, capturing and running, is the same for all
 * of them (front_end.c). What happens to inputs and outputs of a call is the port's business: in a
 * capture they are those of the graph, in a run they are tensors with data. */
#ifndef CQ_EXPORT_FRONT_FRONT_END_H
#define CQ_EXPORT_FRONT_FRONT_END_H

#include "autograd/gradients.h"
#include "export/exporter.h"

typedef struct cq_port {
    cq_ctx                  *cx;
    cq_capture              *capture; /* NULL: the model is run */
    const cq_export_options *options; /* of a capture */
    const cq_run_options    *run;     /* of a run */
    cq_gradients            *gradients;
    size_t                   n_inputs, n_outputs; /* so far */
    cq_tensor              **outputs;             /* of a run: the first max are kept */
    size_t                   max;
} cq_port;

/* What a call is to use in place of example, the next input; NULL after a failure, which is the
 * context's. A run gets a copy: a model may work in place. own: what the input is called, unless
 * the user has a name for it or for another one; NULL: it is numbered. */
cq_tensor *cq_port_input(cq_port *port, cq_tensor *example, const char *own);

/* The same in a capture for a list, as a sequence of such tensors. */
void cq_port_sequence(cq_port *port, cq_dtype dtype, const char *own);

/* The next output; or one besides the model's own, which come after those and have names. */
cq_status cq_port_output(cq_port *port, cq_tensor *t);
cq_status cq_port_extra(cq_port *port, const char *name, cq_tensor *t);

/* The name of the next input of a capture: the user's, or own; NULL: it is numbered. */
const char *cq_port_next_name(cq_port *port, const char *own);

/* Whether the user has a symbolic function for this operator. port is a cq_port. */
bool cq_port_has_rule(void *port, const char *op);

typedef cq_status (*cq_weight_fn)(void *user, const char *name, cq_tensor *t, bool is_parameter);

typedef struct cq_front_end {
    /* Puts the model into a mode; restore takes that back and frees saved, which may be NULL. Both
     * are NULL where there are no modes. */
    cq_status (*set_training)(void *self, bool training, void **saved);
    void (*restore)(void *self, void *saved);

    cq_status (*each_weight)(void *self, cq_weight_fn fn, void *user);

    /* Calls the model once, with its inputs and outputs through port. */
    cq_status (*call)(void *self, cq_port *port);

    int32_t opset; /* if none is asked for */
    /* After a capture: whether it is to be made again, since it found more state that is to be
     * inputs and outputs; else warns of state that is not. NULL: a call changes nothing. */
    bool (*must_repeat)(void *self);
} cq_front_end;

/* Captures a call and exports the graph. name: of the graph, if the options have none. */
cq_status cq_front_end_export(cq_onnx_model **out, const cq_front_end *front_end, void *self,
                              const char *name, const cq_export_options *options);

/* Runs a call. The outputs that marks name come after the others; *n_outputs is how many there are,
 * those beyond max are left out. NULL options: the defaults. */
cq_status cq_front_end_run(const cq_front_end *front_end, void *self, const cq_run_options *options,
                           cq_tensor **outputs, size_t max, size_t *n_outputs);

#endif
