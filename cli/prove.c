/* Whether an export does what its source does. The source runs eagerly, the export in calque's own
 * runtime; they share kernels but neither graphs nor operators. */
#include "prove.h"

#include "bisect.h"

#include <calque/session.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Rounding errors of a whole model add up; an operator that is wrong is off by far more. */
#define RTOL 1e-3
#define ATOL 1e-5

typedef struct pair {
    cq_tensor *wanted[CLI_MAX_OUTPUTS], *got[CLI_MAX_OUTPUTS];
    size_t     n;
    cq_tensor *inputs[CLI_MAX_INPUTS];
    size_t     n_inputs;
} pair;

static cq_status compare_tensors(cq_tensor *got, cq_tensor *wanted)
{
    cq_onnx_value *values[2] = { NULL };
    cq_status      status    = cq_onnx_value_new_tensor(&values[0], got);

    if (status == CQ_OK)
        status = cq_onnx_value_new_tensor(&values[1], wanted);
    if (status == CQ_OK)
        status = cq_onnx_value_compare(values[0], values[1], RTOL, ATOL);
    cq_onnx_value_release(values[0]);
    cq_onnx_value_release(values[1]);
    return status;
}

static cli_proof proof;

const cli_proof *cli_last_proof(void)
{
    return &proof;
}

/* Notes the largest difference of two tensors that agree. */
static void note_difference(const cq_tensor *got, const cq_tensor *wanted)
{
    for (int64_t i = 0; i < cq_tensor_numel(got); i++) {
        double difference = fabs(cq_tensor_get_f64(got, i) - cq_tensor_get_f64(wanted, i));

        if (difference > proof.largest) /* not of nan and infinities */
            proof.largest = difference;
    }
}

static cq_status compare(const cq_session *session, const pair *p)
{
    cq_status status = CQ_OK;

    proof.n_outputs = p->n;
    proof.n_runs++;

    for (size_t i = 0; i < p->n && status == CQ_OK; i++) {
        status = compare_tensors(p->got[i], p->wanted[i]);
        if (status == CQ_E_TYPE)
            cli_note("output %s of the export differs from the source",
                     cq_session_output_name(session, i));
        else if (status == CQ_OK)
            note_difference(p->got[i], p->wanted[i]);
    }
    return status;
}

/* The first pair that differs, once more: it leaves the error record that says how. */
static cq_status say_again(const pair *p)
{
    cq_status status = CQ_OK;

    for (size_t i = 0; i < p->n && status == CQ_OK; i++)
        status = compare_tensors(p->got[i], p->wanted[i]);
    return status;
}

static void pair_clear(pair *p)
{
    for (size_t i = 0; i < p->n_inputs; i++)
        cq_tensor_release(p->inputs[i]);
    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++) {
        cq_tensor_release(p->wanted[i]);
        cq_tensor_release(p->got[i]);
    }
}

static cq_status run_both(cli_model *model, const cq_session *session, const cli_example *e,
                          const cq_export_options *options)
{
    static pair          p; /* one at a time */
    const cq_run_options run_options = cli_run_options(options);
    cq_status            status;

    p      = (pair){ .n = 0 };
    status = model->front_end->run(model, e->tensors, e->n, &run_options, p.wanted, &p.n);
    if (status == CQ_OK)
        status = model->front_end->flatten(model, e->tensors, e->n, p.inputs, &p.n_inputs);
    if (status == CQ_OK)
        status = cq_session_run_tensors(session, p.inputs, p.n_inputs, p.got, p.n);
    if (status == CQ_OK)
        status = compare(session, &p);
    if (status == CQ_E_TYPE && cq_onnx_model_random_node(cq_session_model(session)))
        cli_note("the model draws random numbers, in node %s: no two runs of it agree",
                 cq_onnx_model_random_node(cq_session_model(session)));
    if (status == CQ_E_TYPE && p.n && p.got[0]) {
        cli_bisect(&(cli_compared){ .model    = model,
                                    .onnx     = cq_session_model(session),
                                    .example  = e,
                                    .options  = options,
                                    .inputs   = p.inputs,
                                    .n_inputs = p.n_inputs,
                                    .compare  = compare_tensors });
        status = say_again(&p);
    }
    pair_clear(&p);
    return status;
}

/* Makes each dynamic axis one larger. Axes of one name are as large as each other, and remain so.
 * False when there is none, or its input is a file, whose numbers are what they are. */
static bool grow(cli_example *e, const cq_export_options *o)
{
    bool grown = false;

    for (size_t i = 0; i < o->n_dynamic_axes; i++) {
        const cq_dynamic_axis *d = &o->dynamic_axes[i];

        for (size_t k = 0; k < e->n && k < o->n_input_names; k++) {
            cli_input *in   = &e->inputs[k];
            int64_t    axis = d->axis < 0 ? d->axis + (int64_t)in->rank : d->axis;

            if (in->path || strcmp(o->input_names[k], d->value) != 0)
                continue;
            in->axes[axis].size++; /* the export has checked the range */
            grown = true;
        }
    }
    return grown;
}

/* A model that knows its open sizes, on an example of its own with other ones. It may not take all
 * of them: then there is nothing to compare. */
static cq_status run_larger(cli_model *model, const cq_session *session,
                            const cq_export_options *options)
{
    static cli_example larger;
    static cq_tensor  *ran[CLI_MAX_OUTPUTS];
    cq_run_options     run_options = cli_run_options(options);
    size_t             n           = 0;
    cq_status          status      = model->front_end->larger(model, larger.tensors, &larger.n);

    if (status != CQ_OK || !larger.n)
        return status;
    if (model->front_end->run(model, larger.tensors, larger.n, &run_options, ran, &n) == CQ_OK)
        status = run_both(model, session, &larger, options);
    else
        cli_note("the program itself does not take larger sizes, so these are not compared");
    for (size_t i = 0; i < n && i < CLI_MAX_OUTPUTS; i++)
        cq_tensor_release(ran[i]);
    cli_example_clear(&larger);
    return status;
}

cq_status cli_prove(cli_model *model, const cq_onnx_model *onnx, cli_example *e,
                    const cq_export_options *options)
{
    cq_session *session = NULL;
    cq_status   status  = cq_session_prepare(&session, onnx, NULL);

    if (status == CQ_OK)
        status = run_both(model, session, e, options);
    if (status == CQ_OK && !e->n && model->front_end->larger &&
        !(options->flags & CQ_EXPORT_STATIC))
        status = run_larger(model, session, options);
    else if (status == CQ_OK && grow(e, options)) {
        cli_example_clear(e);
        status = CQ_OK;
        for (size_t i = 0; i < e->n && status == CQ_OK; i++)
            status = cli_input_tensor(&e->tensors[i], &e->inputs[i], i);
        if (status == CQ_OK)
            status = run_both(model, session, e, options);
    }
    cq_session_free(session);
    return status;
}
