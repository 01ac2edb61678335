/* TorchScript as a front end: a call of one of its functions or methods. */
#include "export/front/front_end.h"

#include "base/warn.h"
#include "script/flow/state.h"
#include "script/python/python.h"

typedef struct script_call {
    cq_script     *script;
    const char    *method;
    const cq_args *args;
    uint32_t       flags; /* CQ_SCRIPT_* */
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

static cq_status begin_export(void *self, const cq_export_options *options)
{
    script_call *s = self;

    cq_script_state_free(s->script->state);
    s->script->state = cq_zalloc(sizeof *s->script->state);
    if (!s->script->state)
        return CQ_E_NO_MEMORY;
    s->script->state->is_exposed = options->flags & CQ_EXPORT_STATE;
    s->script->state->quiet      = options->training != CQ_TRAINING_EVAL;
    return CQ_OK;
}

static bool must_repeat(void *self)
{
    const cq_script_state *state = ((script_call *)self)->script->state;

    if (state->is_exposed && state->unsettled)
        return true;
    cq_script_state_warn(state);
    return false;
}

static cq_status call(void *self, cq_front_call *call)
{
    const script_call *s = self;

    return cq_script_call_through(call->cx, s->script, s->method, s->args, s->flags, &call->port);
}

static const cq_front_end scripts = { .set_training = set_training,
                                      .restore      = restore,
                                      .begin_export = begin_export,
                                      .each_weight  = each_weight,
                                      .call         = call,
                                      .opset        = CQ_OPSET_DEFAULT,
                                      .must_repeat  = must_repeat };

/* ---- its public calls ---- */

CQ_API cq_status cq_script_run_as(cq_script *script, const char *method, const cq_args *args,
                                  const cq_run_options *options, cq_tensor **outputs,
                                  size_t max_outputs, size_t *n_outputs)
{
    CQ_NEED(script && args && n_outputs && (outputs || !max_outputs));
    return cq_front_end_run(&scripts, &(script_call){ script, method, args, 0 }, options, outputs,
                            max_outputs, n_outputs);
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
    cq_export_options o;
    cq_status         status;

    script->program->reads_mode = false;
    CQ_TRY(cq_export_options_take(&o, options));
    if (script->program->python && o.default_dtype == CQ_DTYPE_NONE)
        o.default_dtype = script->program->python->default_float;
    status =
        cq_front_end_export(out, &scripts, &(script_call){ script, method, args, flags }, NULL, &o);
    if (status == CQ_OK && options && options->training == CQ_TRAINING_TRAIN &&
        !script->program->reads_mode)
        cq_warn(NULL, "training mode has no effect: the program does not read it (a trace has the "
                      "mode in which it was traced)");
    return status;
}
