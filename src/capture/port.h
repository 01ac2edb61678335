/* A port connects one call of a model with its caller: the source of inputs, the destination of
 * outputs, and the caller's options. In an export inputs and outputs are those of the graph; in a
 * run they are tensors with data. All front ends, TorchScript, programs of torch.export and modules
 * in C, are called through one; export/front/front_end.c has the one of the exporter. */
#ifndef CQ_CAPTURE_PORT_H
#define CQ_CAPTURE_PORT_H

#include "aten/core/ctx.h"

typedef struct cq_port cq_port;

/* The functions of a port. An implementation embeds cq_port at the beginning of its state. */
typedef struct cq_port_ends {
    /* The next input of a call, made from example; NULL after a failure, which is in the context. A
     * run gets a copy, because a model may work in place. own: the name of the input, unless the
     * user names it or uses that name for another one; NULL: it is numbered. */
    cq_tensor *(*input)(cq_port *port, cq_tensor *example, const char *own);
    cq_status (*output)(cq_port *port, cq_tensor *t);

    /* The others may be NULL. An additional named output after those of the model. */
    cq_status (*extra)(cq_port *port, const char *name, cq_tensor *t);
    /* In a capture: an input that is a sequence of tensors, for a list. */
    void (*sequence)(cq_port *port, cq_dtype dtype, const char *own);
    /* In a capture: the name of the next input, for a front end that makes it; and the name that
     * the user has for an axis of it, NULL: none. */
    const char *(*next_name)(cq_port *port, const char *own);
    const char *(*axis_name)(cq_port *port, const char *input, size_t rank, size_t axis);
    /* Whether the user has a symbolic function for the operator, so that it is exported whole. */
    bool (*has_rule)(cq_port *port, const char *op);
} cq_port_ends;

struct cq_port {
    const cq_port_ends *ends;

    /* Fields of captures. */
    bool is_static; /* all sizes are those of the example */
    bool sequences; /* a list is one input, not one for each item */
    bool optionals; /* an argument that is declared Optional[Tensor] may be missing in a run */
    bool quantized_parts; /* a quantized tensor is three outputs */

    /* Fields of captures and runs. */
    bool keep_mutations; /* mutated inputs and buffers are outputs, too */
    bool keep_asserts;   /* so are assertions on data */
    bool keep_state;     /* state is inputs and outputs: state.NAME_in, state.NAME_out */
    bool watch_state;    /* changes are detected even if they are not requested */

    /* Of runs. */
    bool              restore; /* the changes of the call are undone */
    cq_tensor *const *given;   /* the state before the call; missing values are read from the
                                * file */
    size_t n_given;
};

static inline bool cq_port_has_rule(cq_port *port, const char *op)
{
    return port && port->ends->has_rule && port->ends->has_rule(port, op);
}

#endif
