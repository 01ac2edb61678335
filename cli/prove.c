/* Verifies that an export computes the same as its source. The source runs eagerly, the export
 * in calque's own runtime; they share kernels but neither graphs nor operators. */
#include "prove.h"

#include "bisect.h"
#include "judge.h"

#include <calque/session.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

/* Tolerances for nodes that are compared one by one after outputs differ. */
#define RTOL 1e-3
#define ATOL 1e-5

#define STEPS   40 /* number of steps of a model with state, … */
#define SECONDS 3  /* … unless they take longer than this */

typedef struct pair {
    cq_tensor  *wanted[CLI_MAX_OUTPUTS], *got[CLI_MAX_OUTPUTS];
    size_t      n;
    cli_tensors inputs; /* inputs of the export */
} pair;

/* The two models that are compared. */
typedef struct trial {
    cli_model               *model;
    const cq_session        *session;
    const cq_export_options *options;
    const char              *random; /* an operator of the export that draws random numbers, or
                                      * NULL */
    bool        is_quantized;
    size_t      n_states;  /* states, which follow the other inputs and outputs */
    cli_tensors states[2]; /* states of the source and of the export; empty in the
                            * first step */
} trial;

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

/* The results of the comparison. An output is compared if it had elements in one of the runs and
 * did not depend on random numbers. */
static struct proof {
    size_t n_outputs, n_runs;
    double largest;
    size_t n_steps; /* number of steps of a model with state; otherwise 0 */
    bool   is_compared[CLI_MAX_OUTPUTS], is_random[CLI_MAX_OUTPUTS];
} proof;

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

void cli_describe_proof(char *out, size_t size)
{
    size_t n_compared = 0, n_random = 0, n_empty, at;

    for (size_t i = 0; i < proof.n_outputs; i++) {
        n_compared += proof.is_compared[i];
        n_random += !proof.is_compared[i] && proof.is_random[i];
    }
    n_empty = proof.n_outputs - n_compared - n_random;
    at      = (size_t)snprintf(out, size, " %zu output%s verified", n_compared, plural(n_compared));
    if (n_compared && proof.n_steps)
        at += (size_t)snprintf(out + at, size - at, " over %zu steps", proof.n_steps);
    else if (n_compared)
        at += (size_t)snprintf(out + at, size - at, " on %zu input set%s", proof.n_runs,
                               plural(proof.n_runs));
    if (n_compared)
        at += (size_t)snprintf(out + at, size - at, " (max |difference| %.2g)", proof.largest);
    at += (size_t)snprintf(out + at, size - at, ",");
    if (n_random)
        at += (size_t)snprintf(out + at, size - at, " %zu not compared (random),", n_random);
    if (n_empty)
        snprintf(out + at, size - at, " %zu not compared (empty),", n_empty);
}

/* ---- differences ---- */

/* Prints the kind of the difference, if it can be determined. */
static void explain(const char *name, const cli_judgement *j)
{
    static const char *const kinds[] = {
        [CLI_FEW_ROUND] = "by rounding",
        [CLI_FEW_STEPS] = "by one step of 8 bits, which is rounding",
        [CLI_ROUNDING]  = "by little: probably rounding errors that the model amplifies",
        [CLI_STEPS]     = "by one step of 8 bits: probably a different rounding to 8 bits",
        [CLI_DIFFERENT] = "by more than rounding",
    };

    if (j->verdict == CLI_SHAPES)
        cli_note("output %s of the export has a different dtype or shape than that of the source",
                 name);
    else if (j->verdict != CLI_EQUAL)
        cli_note("output %s of the export: %lld of %lld elements differ from the source %s "
                 "(the largest difference is %.2g, the largest number %.2g)",
                 name, (long long)j->n_off, (long long)j->n, kinds[j->verdict], j->largest,
                 j->scale);
}

/* Whether random numbers explain the difference, so that it is not a mismatch. */
static bool is_random(const trial *t, const cli_judgement *j)
{
    return t->random && j->verdict != CLI_SHAPES;
}

static cq_status compare(const trial *t, const pair *p, size_t *first)
{
    const size_t own    = cq_session_n_outputs(t->session) - t->n_states;
    cq_status    status = CQ_OK;

    proof.n_outputs = p->n < own ? p->n : own;
    proof.n_runs++;
    for (size_t i = 0; i < p->n && status == CQ_OK; i++) {
        const char         *name = cq_session_output_name(t->session, i);
        const cli_judgement j    = cli_judge(p->got[i], p->wanted[i], t->is_quantized);

        if (!cli_is_right(j.verdict) && is_random(t, &j)) {
            cli_note("output %s depends on random numbers (%s%s), which are others in every run: "
                     "only its shape was compared",
                     name, t->random,
                     strcmp(t->random, "Dropout") ? "" : ", of a model in training mode");
            proof.is_random[i] = true;
            continue;
        }
        explain(name, &j);
        *first = i;
        proof.is_compared[i] |= j.n > 0;
        if (!cli_is_right(j.verdict))
            status = CQ_E_TYPE;
        else if (j.largest > proof.largest)
            proof.largest = j.largest;
    }
    return status;
}

/* Compares a pair again to set the error record. */
static cq_status set_error_record(const pair *p, size_t i)
{
    const cq_status status = compare_tensors(p->got[i], p->wanted[i]);

    return status == CQ_OK ? CQ_E_TYPE : status;
}

/* ---- runs ---- */

static void pair_clear(pair *p)
{
    cli_tensors_clear(&p->inputs);
    for (size_t i = 0; i < CLI_MAX_OUTPUTS; i++) {
        cq_tensor_release(p->wanted[i]);
        cq_tensor_release(p->got[i]);
    }
}

static void forget_states(trial *t)
{
    cli_tensors_clear(&t->states[0]);
    cli_tensors_clear(&t->states[1]);
}

/* Whether there is a state, and all of it is among the outputs. */
static bool has_whole_state(const trial *t)
{
    return t->n_states && cq_session_n_outputs(t->session) <= CLI_MAX_OUTPUTS;
}

/* Keeps the last outputs of a run, which are the state of the next one, on each side. */
static void keep_states(trial *t, const pair *p)
{
    const size_t at = p->n - t->n_states;

    forget_states(t);
    for (size_t side = 0; side < 2; side++) {
        cli_tensors_resize(&t->states[side], t->n_states);
        for (size_t i = 0; i < t->states[side].n; i++)
            t->states[side].items[i] = cq_tensor_retain((side ? p->got : p->wanted)[at + i]);
    }
}

/* Converts complex tensors of the source to pairs of real numbers, as in the export. */
static cq_status as_pairs(const trial *t, cq_tensor **tensors, size_t n)
{
    if (!(t->options->flags & CQ_EXPORT_COMPLEX_AS_PAIRS))
        return CQ_OK;
    for (size_t i = 0; i < n; i++) {
        cq_tensor *complex = tensors[i];
        cq_status  status  = cq_tensor_pairs(&tensors[i], complex);

        cq_tensor_release(complex);
        if (status != CQ_OK)
            return status;
    }
    return CQ_OK;
}

/* The inputs of the export: the inputs of the source, and its state. */
static cq_status flatten(trial *t, const cli_example *e, pair *p)
{
    cli_tensors *in     = &p->inputs;
    cq_status    status = t->model->front_end->flatten(t->model, e->tensors, e->n, in);
    const size_t n      = in->n;

    if (status == CQ_OK)
        status = as_pairs(t, in->items, n);
    cli_tensors_resize(in, n + t->n_states);
    for (size_t i = 0; n + i < in->n && status == CQ_OK; i++) {
        const char *names[2];

        if (t->states[1].n)
            in->items[n + i] = cq_tensor_retain(t->states[1].items[i]);
        else
            status = cq_onnx_model_state(&in->items[n + i], &names[0], &names[1],
                                         cq_session_model(t->session), i);
    }
    return status;
}

static cq_status run_both(trial *t, const cli_example *e)
{
    static pair    p; /* one at a time */
    cq_run_options run_options = cli_run_options(t->options);
    size_t         first       = 0;
    cq_status      status;

    memset(p.wanted, 0, sizeof p.wanted);
    memset(p.got, 0, sizeof p.got);
    p.n                 = 0;
    run_options.state   = t->states[0].items;
    run_options.n_state = t->states[0].n;
    status = t->model->front_end->run(t->model, e->tensors, e->n, &run_options, p.wanted, &p.n);
    if (status == CQ_OK)
        status = as_pairs(t, p.wanted, p.n);
    if (status == CQ_OK)
        status = flatten(t, e, &p);
    if (status == CQ_OK)
        status = cq_session_run_tensors(t->session, p.inputs.items, p.inputs.n, p.got, p.n);
    if (status == CQ_OK)
        status = compare(t, &p, &first);
    if (status == CQ_OK && has_whole_state(t))
        keep_states(t, &p);
    if (status == CQ_E_TYPE && p.n && p.got[0]) {
        if (!t->states[0].n) /* a bisection begins with the initial state */
            cli_bisect(&(cli_compared){ .model    = t->model,
                                        .onnx     = cq_session_model(t->session),
                                        .example  = e,
                                        .options  = t->options,
                                        .inputs   = p.inputs.items,
                                        .n_inputs = p.inputs.n,
                                        .compare  = compare_tensors });
        status = set_error_record(&p, first);
    }
    pair_clear(&p);
    return status;
}

static cq_status make_inputs(cli_example *e, uint64_t seed)
{
    cq_status status = CQ_OK;

    cli_example_clear(e);
    for (size_t i = 0; i < e->n && status == CQ_OK; i++)
        status = cli_input_tensor(&e->tensors[i], &e->inputs[i], seed + i);
    return status;
}

/* Runs further steps of a model with state, each with its own inputs. */
static cq_status run_steps(trial *t, cli_example *e)
{
    const time_t began  = time(NULL);
    cq_status    status = CQ_OK;

    proof.n_steps = 1;
    while (proof.n_steps < STEPS && time(NULL) - began < SECONDS && status == CQ_OK) {
        status = make_inputs(e, (uint64_t)proof.n_steps * CLI_MAX_INPUTS);
        if (status == CQ_OK)
            status = run_both(t, e);
        if (status == CQ_E_TYPE)
            cli_note("that is in step %zu, with the state that the ones before it left",
                     proof.n_steps + 1);
        proof.n_steps++;
    }
    forget_states(t);
    return status;
}

/* Increases each dynamic axis by one. Axes with the same name stay equal. False if there is none,
 * or if its input is a file, whose size is fixed. */
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

/* Runs a model that knows its dynamic sizes on an example with larger sizes. It may reject them:
 * then there is nothing to compare. */
static cq_status run_larger(trial *t)
{
    static cli_example larger;
    static cq_tensor  *ran[CLI_MAX_OUTPUTS];
    cli_model         *model       = t->model;
    cq_run_options     run_options = cli_run_options(t->options);
    size_t             n           = 0;
    cq_status          status      = model->front_end->larger(model, larger.tensors, &larger.n);

    if (status != CQ_OK || !larger.n)
        return status;
    if (model->front_end->run(model, larger.tensors, larger.n, &run_options, ran, &n) == CQ_OK)
        status = run_both(t, &larger);
    else
        cli_note("the program itself does not take larger sizes, so these are not compared");
    for (size_t i = 0; i < n && i < CLI_MAX_OUTPUTS; i++)
        cq_tensor_release(ran[i]);
    cli_example_clear(&larger);
    return status;
}

/* Finds operators of an export that allow larger differences. */
static void inspect(trial *t, const cq_onnx_model *onnx)
{
    static const char *const random[] = { "RandomNormal",  "RandomNormalLike",
                                          "RandomUniform", "RandomUniformLike",
                                          "Bernoulli",     "Multinomial",
                                          "Dropout" };

    t->is_quantized = cq_onnx_model_has_node(onnx, "QuantizeLinear") ||
                      cq_onnx_model_has_node(onnx, "DynamicQuantizeLinear");
    for (size_t i = 0; i < sizeof random / sizeof *random; i++)
        if (!t->random && cq_onnx_model_has_node(onnx, random[i]))
            t->random = random[i];
}

cq_status cli_prove(cli_model *model, const cq_onnx_model *onnx, cli_example *e,
                    const cq_export_options *options)
{
    static trial t; /* too large for a stack frame */
    cq_session  *session = NULL;
    cq_status    status  = cq_session_prepare(&session, onnx, NULL);

    t.model    = model;
    t.session  = session;
    t.options  = options;
    t.n_states = options->flags & CQ_EXPORT_STATE ? cq_onnx_model_n_states(onnx) : 0;
    inspect(&t, onnx);
    if (status == CQ_OK)
        status = run_both(&t, e);
    if (status == CQ_OK && has_whole_state(&t))
        status = run_steps(&t, e);
    if (status == CQ_OK && !e->n && model->front_end->larger &&
        !(options->flags & CQ_EXPORT_STATIC))
        status = run_larger(&t);
    else if (status == CQ_OK && grow(e, options)) {
        status = make_inputs(e, 0);
        if (status == CQ_OK)
            status = run_both(&t, e);
    }
    forget_states(&t);
    cq_session_free(session);
    return status;
}
