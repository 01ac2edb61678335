/* A front end handles one kind of model: modules in C, TorchScript, a program of torch.export. It
 * names the weights and calls the model; capturing and running are the same for all of them
 * (front_end.c). The port handles inputs and outputs of a call: in a capture they are those of the
 * graph, in a run they are tensors with data. */
#ifndef CQ_EXPORT_FRONT_FRONT_END_H
#define CQ_EXPORT_FRONT_FRONT_END_H

#include "autograd/gradients.h"
#include "capture/port.h"
#include "export/exporter.h"

/* The port of the exporter: one call of a model. */
typedef struct cq_front_call {
    cq_port                  port;
    cq_ctx                  *cx;
    cq_capture              *capture; /* NULL: the model is run */
    const cq_export_options *options; /* of a capture */
    cq_gradients            *gradients;
    size_t                   n_inputs, n_outputs; /* so far */
    cq_tensor              **outputs;             /* of a run: the first max are kept */
    size_t                   max;
    cq_marking               marking;
} cq_front_call;

typedef cq_status (*cq_weight_fn)(void *user, const char *name, cq_tensor *t, bool is_parameter);

typedef struct cq_front_end {
    /* Sets the training mode; restore undoes that and frees saved, which may be NULL. Both are NULL
     * for models without modes. */
    cq_status (*set_training)(void *self, bool training, void **saved);
    void (*restore)(void *self, void *saved);

    /* Before the first capture of an export: forgets the state that earlier ones found. NULL: a
     * call has no state. */
    cq_status (*begin_export)(void *self, const cq_export_options *options);

    cq_status (*each_weight)(void *self, cq_weight_fn fn, void *user);

    /* Calls the model once, with its inputs and outputs through call->port. */
    cq_status (*call)(void *self, cq_front_call *call);

    int32_t opset; /* the default */
    /* After a capture: whether it must be repeated because it found new state that becomes inputs
     * and outputs. Otherwise it warns about state that does not. May be NULL. */
    bool (*must_repeat)(void *self);
} cq_front_end;

/* Captures a call and exports the graph. name is the name of the graph if the options have none. */
cq_status cq_front_end_export(cq_onnx_model **out, const cq_front_end *front_end, void *self,
                              const char *name, const cq_export_options *options);

/* Runs a call. Outputs named by marks follow the others; *n_outputs is the number of all outputs,
 * those beyond max are dropped. options may be NULL. */
cq_status cq_front_end_run(const cq_front_end *front_end, void *self, const cq_run_options *options,
                           cq_tensor **outputs, size_t max, size_t *n_outputs);

#endif
