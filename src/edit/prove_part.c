/* Proofs of parts and compositions: the old and the new models compute the same values. prove.c
 * compares two models with the same inputs and outputs. */
#include "edit/proof.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "base/vec.h"

#include <calque/part.h>

#include <stdio.h>
#include <string.h>

enum { MAX_RUNS = 2 };

typedef struct part_proof part_proof;

/* Computes the expected results for one choice of inputs: the inputs of the changed model and its
 * outputs. A model that rejects the inputs is not a failure of the proof. */
typedef cq_status (*part_expect)(part_proof *p, const cq_input_choice *choice);

struct part_proof {
    const cq_onnx_model *first, *second; /* the whole model and NULL, or the joined models */
    const cq_onnx_model *changed;
    cq_join_options      join;
    cq_proof_options     options;
    cq_proof            *result;
    cq_session          *s_first, *s_second;
    size_t               n_given, n_wanted; /* inputs and outputs of the changed model */
    cq_onnx_value      **given, **wanted;
    size_t               n_fetched; /* by a session for the whole model, after its own outputs */
};

static void free_values(cq_onnx_value **values, size_t n)
{
    for (size_t i = 0; values && i < n; i++)
        cq_onnx_value_release(values[i]);
    cq_free(values);
}

static cq_onnx_value **new_values(size_t n)
{
    return cq_zalloc((n ? n : 1) * sizeof(cq_onnx_value *));
}

static void drop_values(part_proof *p)
{
    free_values(p->given, p->n_given);
    free_values(p->wanted, p->n_wanted);
    p->given = p->wanted = NULL;
}

static cq_status skip(part_proof *p, const char *reason, const char *detail)
{
    snprintf(p->result->skipped, sizeof p->result->skipped, "%s%s", reason, detail);
    return CQ_OK;
}

static cq_status make_inputs(cq_input_set *out, const part_proof *p, const cq_onnx_model *m,
                             const cq_input_choice *choice)
{
    return p->options.example ? cq_input_set_load(out, m, p->options.example)
                              : cq_input_set_random(out, m, m, choice, p->options.seed);
}

static cq_onnx_value *retained(cq_onnx_value *value)
{
    return value ? cq_onnx_value_retain(value) : NULL;
}

/* ---- parts ---- */

static size_t index_of_input(const cq_onnx_model *m, const char *name)
{
    for (size_t i = 0; i < m->graph->input.n; i++)
        if (m->graph->input.items[i]->name && strcmp(m->graph->input.items[i]->name, name) == 0)
            return i;
    return SIZE_MAX;
}

static bool is_default(const cq_onnx_model *m, const char *name)
{
    return cq_onnx_model_has_initializer(m, name);
}

/* The values at the boundary of the part are outputs of the session after its own, in the order of
 * the part; inputs of the whole model and defaults are not fetched. */
static cq_status expect_part(part_proof *p, const cq_input_choice *choice)
{
    const size_t    n = cq_session_n_outputs(p->s_first), n_own = n - p->n_fetched;
    cq_onnx_value **outputs = new_values(n);
    cq_input_set    in      = { 0 };
    size_t          next    = n_own;
    cq_status       status  = outputs ? make_inputs(&in, p, p->first, choice) : CQ_E_NO_MEMORY;

    if (status == CQ_OK)
        status = cq_session_run(p->s_first, NULL, in.items, in.n, outputs);
    for (size_t i = 0; i < p->n_given && status == CQ_OK; i++) {
        const char  *name = cq_onnx_model_value_name(p->changed, CQ_ONNX_INPUTS, i);
        const size_t at   = index_of_input(p->first, name);

        if (at != SIZE_MAX)
            p->given[i] = retained(in.items[at]);
        else if (!is_default(p->changed, name))
            p->given[i] = cq_onnx_value_retain(outputs[next++]);
    }
    for (size_t i = 0; i < p->n_wanted && status == CQ_OK; i++)
        p->wanted[i] = cq_onnx_value_retain(outputs[next++]);
    free_values(outputs, n);
    cq_input_set_clear(&in);
    return status;
}

static cq_status open_whole(part_proof *p)
{
    cq_session_options options;
    CQ_VEC(const char *) names = { 0 };
    cq_status status           = CQ_OK;

    cq_session_options_init(&options);
    for (size_t i = 0; i < p->n_given && status == CQ_OK; i++) {
        const char *name = cq_onnx_model_value_name(p->changed, CQ_ONNX_INPUTS, i);

        if (index_of_input(p->first, name) == SIZE_MAX && !is_default(p->changed, name))
            status = cq_vec_push(&names, name);
    }
    for (size_t i = 0; i < p->n_wanted && status == CQ_OK; i++)
        status = cq_vec_push(&names, cq_onnx_model_value_name(p->changed, CQ_ONNX_OUTPUTS, i));
    options.fetch   = names.items;
    options.n_fetch = p->n_fetched = names.n;
    if (status == CQ_OK)
        status = cq_session_prepare(&p->s_first, p->first, &options);
    cq_vec_clear(&names);
    return status;
}

/* ---- compositions ---- */

/* The output of the first model that an input of the second is connected to; SIZE_MAX: none. */
static size_t connected_to(const part_proof *p, const char *input)
{
    const size_t n = cq_onnx_model_n_values(p->first, CQ_ONNX_OUTPUTS);

    if (!p->join.n_connections) /* the only one that is needed */
        return is_default(p->second, input) ? SIZE_MAX : 0;
    for (size_t i = 0; i < p->join.n_connections; i++)
        for (size_t k = 0; k < n && strcmp(p->join.connections[i].input, input) == 0; k++)
            if (strcmp(cq_onnx_model_value_name(p->first, CQ_ONNX_OUTPUTS, k),
                       p->join.connections[i].output) == 0)
                return k;
    return SIZE_MAX;
}

static bool is_connected(const part_proof *p, size_t output)
{
    const size_t n = cq_onnx_model_n_values(p->second, CQ_ONNX_INPUTS);

    for (size_t i = 0; i < n; i++)
        if (connected_to(p, cq_onnx_model_value_name(p->second, CQ_ONNX_INPUTS, i)) == output)
            return true;
    return false;
}

/* Runs the second model on outputs of the first and on the rest of the inputs. */
static cq_status run_second(part_proof *p, cq_onnx_value *const *from, size_t next,
                            cq_onnx_value **outputs)
{
    const size_t    n      = cq_onnx_model_n_values(p->second, CQ_ONNX_INPUTS);
    cq_onnx_value **inputs = new_values(n);
    cq_status       status = inputs ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        const size_t at = connected_to(p, cq_onnx_model_value_name(p->second, CQ_ONNX_INPUTS, i));

        inputs[i] = at != SIZE_MAX ? from[at] : next < p->n_given ? p->given[next++] : NULL;
    }
    if (status == CQ_OK)
        status = cq_session_run(p->s_second, NULL, inputs, n, outputs);
    cq_free(inputs);
    return status;
}

static cq_status expect_joined(part_proof *p, const cq_input_choice *choice)
{
    const size_t    n_first  = cq_session_n_outputs(p->s_first);
    const size_t    n_second = cq_session_n_outputs(p->s_second);
    const size_t    n_in     = cq_onnx_model_n_values(p->first, CQ_ONNX_INPUTS);
    cq_onnx_value **first = new_values(n_first), **second = new_values(n_second);
    cq_input_set    in = { 0 };
    size_t          n  = 0;
    cq_status status   = first && second ? make_inputs(&in, p, p->changed, choice) : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < in.n && i < p->n_given && status == CQ_OK; i++)
        p->given[i] = retained(in.items[i]);
    if (status == CQ_OK)
        status = cq_session_run(p->s_first, NULL, p->given, n_in, first);
    if (status == CQ_OK)
        status = run_second(p, first, n_in, second);
    for (size_t i = 0; i < n_first && n < p->n_wanted && status == CQ_OK; i++)
        if (!is_connected(p, i))
            p->wanted[n++] = cq_onnx_value_retain(first[i]);
    for (size_t i = 0; i < n_second && n < p->n_wanted && status == CQ_OK; i++)
        p->wanted[n++] = cq_onnx_value_retain(second[i]);
    free_values(first, n_first);
    free_values(second, n_second);
    cq_input_set_clear(&in);
    return status;
}

static cq_status open_parts(part_proof *p)
{
    CQ_TRY(cq_session_prepare(&p->s_first, p->first, NULL));
    return cq_session_prepare(&p->s_second, p->second, NULL);
}

/* ---- all proofs ---- */

static cq_status compare(part_proof *p, const cq_session *s)
{
    const cq_tolerance t   = { p->options.rtol, p->options.atol, p->options.flags & CQ_PROOF_LOSSY,
                               cq_onnx_model_has_node(p->changed, "QuantizeLinear") ||
                                   cq_onnx_model_has_node(p->changed, "DynamicQuantizeLinear") };
    cq_onnx_value    **got = new_values(cq_session_n_outputs(s));
    cq_status          status = got ? CQ_OK : CQ_E_NO_MEMORY;

    if (status == CQ_OK)
        status = cq_session_run(s, NULL, p->given, p->n_given, got);
    for (size_t i = 0; i < p->n_wanted && status == CQ_OK; i++) {
        cq_difference d = { 0 };

        cq_compare_values(&d, got[i], p->wanted[i], &t);
        if (!d.is_equal)
            status = cq_fail(
                CQ_E_TYPE, NULL, "report this; --no-verify writes the model without the proof",
                "%s changes output %s: %s, largest difference %.2g", p->options.what,
                cq_session_output_name(s, i), *d.why ? d.why : "elements differ", d.largest);
        else if (d.largest > p->result->largest)
            p->result->largest = d.largest;
    }
    free_values(got, cq_session_n_outputs(s));
    return status;
}

static cq_status run_choices(part_proof *p, const cq_session *s, part_expect expect)
{
    const bool dynamic =
        cq_inputs_are_dynamic(p->second ? p->changed : p->first, p->second ? p->changed : p->first);
    int64_t used = 0;

    for (size_t i = 0; i < CQ_N_INPUT_CHOICES; i++) {
        const cq_input_choice *c = &cq_input_choices[i];
        cq_status              status;

        if (p->result->n_runs >= (dynamic && !p->options.example ? MAX_RUNS : 1) ||
            c->size == used || (i && p->options.example))
            continue;
        p->given  = new_values(p->n_given);
        p->wanted = new_values(p->n_wanted);
        status    = p->given && p->wanted ? expect(p, c) : CQ_E_NO_MEMORY;
        if (status == CQ_OK) {
            status = compare(p, s);
            used   = c->size;
            p->result->n_runs++;
        } else if (!p->options.example && status != CQ_E_CANCELLED && status != CQ_E_NO_MEMORY) {
            skip(p, "the model does not run on random inputs: ", cq_last_error()->message);
            status = CQ_OK;
        }
        drop_values(p);
        CQ_TRY(status);
    }
    if (p->result->n_runs)
        *p->result->skipped = '\0';
    return CQ_OK;
}

static cq_status prove(part_proof *p, const cq_proof_options *given)
{
    const char *random;
    cq_session *s = NULL;
    uint64_t    weights;
    cq_status   status;

    *p->result = (cq_proof){ 0 };
    cq_proof_options_init(&p->options);
    CQ_TRY(cq_sized_take(&p->options, given, "cq_proof_options"));
    random = cq_onnx_model_random_node(p->second ? p->changed : p->first);
    if (random)
        return skip(p, "results are random numbers of node ", random);
    weights = cq_proof_weight_bytes(p->second ? p->changed : p->first);
    if (weights > p->options.max_weights && !(p->options.flags & CQ_PROOF_FORCE))
        return skip(p, "the weights exceed 2 GB; --verify runs the models", "");
    p->n_given  = cq_onnx_model_n_values(p->changed, CQ_ONNX_INPUTS);
    p->n_wanted = p->result->n_outputs = cq_onnx_model_n_values(p->changed, CQ_ONNX_OUTPUTS);
    status                             = p->second ? open_parts(p) : open_whole(p);
    if (status != CQ_OK)
        status = skip(p, "the model does not run in calque: ", cq_last_error()->message);
    else if ((status = cq_session_prepare(&s, p->changed, NULL)) == CQ_OK)
        status = run_choices(p, s, p->second ? expect_joined : expect_part);
    cq_session_free(s);
    cq_session_free(p->s_first);
    cq_session_free(p->s_second);
    return status;
}

CQ_API cq_status cq_onnx_prove_cut(cq_proof *result, const cq_onnx_model *whole,
                                   const cq_onnx_model *part, const cq_proof_options *options)
{
    CQ_NEED(result && whole && part && whole->graph && part->graph);
    part_proof p = { .first = whole, .changed = part, .result = result };

    return prove(&p, options);
}

CQ_API cq_status cq_onnx_prove_join(cq_proof *result, const cq_onnx_model *first,
                                    const cq_onnx_model *second, const cq_onnx_model *joined,
                                    const cq_join_options  *connections,
                                    const cq_proof_options *options)
{
    CQ_NEED(result && first && second && joined && first->graph && second->graph && joined->graph);
    part_proof p = { .first = first, .second = second, .changed = joined, .result = result };

    cq_join_options_init(&p.join);
    CQ_TRY(cq_sized_take(&p.join, connections, "cq_join_options"));
    return prove(&p, options);
}
