/* TorchScript as a front end: a call of one of its functions or methods. */
#include "export/front/front_end.h"

#include "base/warn.h"
#include "script/flow/state.h"

typedef struct script_call {
    cq_script     *script;
    const char    *method;
    const cq_args *args;
    uint32_t       flags; /* CQ_SCRIPT_* */
    int            n_captures;
} script_call;

/* ---- the front end ---- */

static cq_status set_training(void *self, bool training, void **saved)
{
    cq_script_modes *modes = NULL;
    cq_status status = cq_script_set_training(((script_call *)self)->script, training, &modes);

    *saved = modes;
    return status;
}

static void restore(void *self, void *saved)
{
    (void)self;
    cq_script_restore_modes(saved);
}

static cq_status each_weight(void *self, cq_weight_fn fn, void *user)
{
    return cq_script_each_tensor(((script_call *)self)->script, fn, user);
}

static cq_tensor *take_input(void *port, cq_tensor *example, const char *name)
{
    return cq_port_input(port, example, name);
}

static void take_sequence(void *port, cq_dtype dtype, const char *name)
{
    cq_port_sequence(port, dtype, name);
}

static cq_status give_output(void *port, cq_tensor *t)
{
    return cq_port_output(port, t);
}

/* The first capture of an export finds the state anew. */
static cq_status begin_capture(script_call *s, const cq_port *port)
{
    if (s->n_captures++)
        return CQ_OK;
    cq_script_state_free(s->script->state);
    s->script->state = cq_zalloc(sizeof *s->script->state);
    if (!s->script->state)
        return CQ_E_NO_MEMORY;
    s->script->state->wanted = port->options->flags & CQ_EXPORT_STATE;
    s->script->state->quiet  = port->options->training != CQ_TRAINING_EVAL;
    return CQ_OK;
}

static bool must_repeat(void *self)
{
    const cq_script_state *state = ((script_call *)self)->script->state;

    if (state->wanted && state->unsettled)
        return true;
    cq_script_state_warn(state);
    return false;
}

static cq_status call(void *self, cq_port *port)
{
    script_call   *s    = self;
    cq_script_port ends = {
        .input       = take_input,
        .output      = give_output,
        .has_rule    = cq_port_has_rule,
        .user        = port,
        .wide_floats = s->args->wide_floats,
    };

    if (port->capture) {
        CQ_TRY(begin_capture(s, port));
        ends.quantized_parts = port->options->flags & CQ_EXPORT_QUANTIZED_PARTS;
        if (port->options->flags & CQ_EXPORT_LISTS_AS_SEQUENCES && port->options->opset >= 11)
            ends.sequence = take_sequence; /* which came with that opset */
        ends.optionals = port->options->flags & CQ_EXPORT_OPTIONAL_INPUTS &&
                         port->options->opset >= 15 && !(s->flags & CQ_SCRIPT_TRACE);
        ends.state = s->script->state;
    } else {
        ends.restore = port->run->flags & CQ_RUN_RESTORE;
        ends.state   = port->run->flags & CQ_RUN_STATE ? s->script->state : NULL;
        ends.given   = port->run->state;
        ends.n_given = port->run->n_state;
    }
    return cq_script_call_through(port->cx, s->script, s->method, s->args, s->flags, &ends);
}

static const cq_front_end scripts = { set_training, restore,          each_weight,
                                      call,         CQ_OPSET_DEFAULT, must_repeat };

/* ---- its public calls ---- */

CQ_API cq_status cq_script_run_as(cq_script *script, const char *method, const cq_args *args,
                                  const cq_run_options *options, cq_tensor **outputs,
                                  size_t max_outputs, size_t *n_outputs)
{
    CQ_NEED(script && args && n_outputs && (outputs || !max_outputs));
    return cq_front_end_run(&scripts, &(script_call){ script, method, args, 0, 0 }, options,
                            outputs, max_outputs, n_outputs);
}

CQ_API cq_status cq_script_run(cq_script *script, const char *method, const cq_args *args,
                               cq_tensor **outputs, size_t max_outputs, size_t *n_outputs)
{
    CQ_NEED(script && args && n_outputs && (outputs || !max_outputs));
    cq_run_options options;

    cq_run_options_init(&options);
    options.training = CQ_TRAINING_PRESERVE;
    return cq_script_run_as(script, method, args, &options, outputs, max_outputs, n_outputs);
}

CQ_API cq_status cq_script_export(cq_onnx_model **out, cq_script *script, const char *method,
                                  const cq_args *args, uint32_t flags,
                                  const cq_export_options *options)
{
    CQ_NEED_OUT(out, script && args);
    cq_status status;

    script->program->reads_mode = false;
    status = cq_front_end_export(out, &scripts, &(script_call){ script, method, args, flags, 0 },
                                 NULL, options);
    if (status == CQ_OK && options && options->training == CQ_TRAINING_TRAIN &&
        !script->program->reads_mode)
        cq_warn(NULL, "training mode changes nothing: the program never asks for it (a traced one "
                      "keeps the mode that it was traced in)");
    return status;
}
