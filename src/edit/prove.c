/* Proves a change of a model: both models run on the same inputs, and all outputs are compared.
 * The models run one after the other, so that the packed weights of only one are in memory. If
 * outputs differ, both run once more with the values that both have by name as outputs, and the
 * first node of the changed model whose result differs is named. */
#include "edit/proof.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "base/sized.h"
#include "onnx/file/external.h"
#include "onnx/tensor.h"

#include <stdio.h>
#include <string.h>

enum { MAX_RUNS = 2, MAX_FETCHED = 20000 };

#define SECONDS 3.0 /* after which no further inputs are tried */

/* Bytes of the outputs of a run that are compared, besides the size of the weights. */
#define MAX_OUTPUTS (UINT64_C(256) << 20)

/* Different sizes show axes that were mixed up. */
const cq_input_choice cq_input_choices[CQ_N_INPUT_CHOICES] = {
    { .size = 2, .distinct = true, .below = 10 },
    { .size = 2, .distinct = true, .below = 1 },
    { .size = 3, .below = 10 },
    { .size = 1, .below = 10 },
    { .size = 1, .below = 1 },
    { .size = 4, .below = 2 },
    { .size = 16, .below = 10 },
    { .size = 32, .below = 2 },
    { .size = 224, .below = 2 },
};

/* One set of inputs, and the outputs of the model before the change. */
typedef struct run {
    cq_input_set    inputs;
    cq_onnx_value **wanted;
} run;

typedef struct proof {
    const cq_onnx_model *before, *after;
    cq_proof_options     options;
    cq_tolerance         tolerance;
    size_t               n_outputs;
    run                  runs[MAX_RUNS];
    cq_proof            *result;
    bool                 is_too_long; /* a run reached the limit of steps: others would, too */
    int64_t too_large; /* the size of a run that reached the limit of memory; 0: none */
} proof;

CQ_API void cq_proof_options_init(cq_proof_options *o)
{
    CQ_NEED_ELSE(o, );
    *o = (cq_proof_options){ .struct_size = sizeof *o,
                             .rtol        = 1e-3,
                             .atol        = 2e-5,
                             .max_weights = (uint64_t)2 << 30,
                             .what        = "the change" };
}

CQ_API bool cq_onnx_model_has_external_data(const cq_onnx_model *m)
{
    CQ_NEED_ELSE(m, false);
    for (size_t i = 0; m->graph && i < m->graph->initializer.n; i++)
        if (cq_onnx_is_external(m->graph->initializer.items[i]))
            return true;
    return false;
}

static void free_values(cq_onnx_value **values, size_t n)
{
    for (size_t i = 0; values && i < n; i++)
        cq_onnx_value_release(values[i]);
    cq_free(values);
}

/* ---- reasons to compare nothing ---- */

static cq_status skip(proof *p, const char *reason, const char *detail)
{
    snprintf(p->result->skipped, sizeof p->result->skipped, "%s%s", reason, detail);
    return CQ_OK;
}

uint64_t cq_proof_weight_bytes(const cq_onnx_model *m)
{
    uint64_t total = 0;
    size_t   size;

    for (size_t i = 0; i < m->graph->initializer.n; i++)
        if (cq_onnx_tensor_raw_size(&size, m->graph->initializer.items[i]) == CQ_OK)
            total += size;
    return total;
}

/* ---- the model before the change ---- */

static cq_status run_set(cq_onnx_value ***out, const cq_session *s, const cq_input_set *in)
{
    const size_t    n       = cq_session_n_outputs(s);
    cq_onnx_value **outputs = cq_zalloc((n ? n : 1) * sizeof *outputs);
    cq_status       status;

    if (!outputs)
        return CQ_E_NO_MEMORY;
    status = cq_session_run(s, NULL, in->items, in->n, outputs);
    if (status == CQ_OK)
        *out = outputs;
    else
        free_values(outputs, n);
    return status;
}

/* Outputs wait in memory while the changed model runs, which may take as much as its limit. */
static bool are_too_large(const proof *p, cq_onnx_value *const *outputs)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < p->n_outputs; i++) {
        const cq_tensor *t = cq_onnx_value_tensor(outputs[i]);

        bytes += t ? (uint64_t)cq_tensor_numel(t) * cq_dtype_size(cq_tensor_dtype(t)) : 0;
    }
    return bytes > MAX_OUTPUTS + cq_proof_weight_bytes(p->before);
}

static bool is_fatal(cq_status status)
{
    return status == CQ_E_CANCELLED;
}

/* Tries one choice of inputs; a model that refuses it is not a failure. */
static cq_status try_choice(proof *p, const cq_session *s, const cq_input_choice *choice)
{
    run      *r = &p->runs[p->result->n_runs];
    cq_status status =
        p->options.example
            ? cq_input_set_load(&r->inputs, p->before, p->options.example)
            : cq_input_set_random(&r->inputs, p->before, p->after, choice, p->options.seed);

    if (status == CQ_OK)
        status = cq_input_set_round(&r->inputs, p->before, p->after);
    if (status == CQ_OK)
        status = run_set(&r->wanted, s, &r->inputs);
    if (status == CQ_OK && are_too_large(p, r->wanted)) {
        free_values(r->wanted, p->n_outputs);
        r->wanted = NULL;
        cq_input_set_clear(&r->inputs);
        p->too_large = choice->size;
        return skip(p, "the outputs are too large to compare", "");
    }
    if (status == CQ_OK) {
        p->result->n_runs++;
        return CQ_OK;
    }
    cq_input_set_clear(&r->inputs);
    p->is_too_long = strstr(cq_last_error()->hint, "--max-steps") != NULL;
    if (strstr(cq_last_error()->hint, "--max-memory"))
        p->too_large = choice->size;
    if (!p->options.example && !*p->result->skipped)
        skip(p, "the model does not run on random inputs: ", cq_last_error()->message);
    return p->options.example || is_fatal(status) ? status : CQ_OK;
}

static cq_status run_before(proof *p)
{
    const bool   dynamic = !p->options.example && cq_inputs_are_dynamic(p->before, p->after);
    const size_t wanted  = dynamic ? MAX_RUNS : 1;
    const double end     = (double)cq_now() * 1e-9 + SECONDS;
    cq_session  *s       = NULL;
    cq_status    status  = cq_session_prepare(&s, p->before, NULL);
    int64_t      used    = 0;

    if (status != CQ_OK)
        return skip(p, "the model does not run in calque: ", cq_last_error()->message);
    p->n_outputs = cq_session_n_outputs(s);
    for (size_t i = 0; i < CQ_N_INPUT_CHOICES && p->result->n_runs < wanted && status == CQ_OK;
         i++) {
        const cq_input_choice *c = &cq_input_choices[i];

        if (c->size == used || (i && p->options.example) || p->is_too_long ||
            (p->too_large && c->size >= p->too_large) ||
            (p->result->n_runs && (double)cq_now() * 1e-9 > end))
            continue;
        const size_t n = p->result->n_runs;

        status = try_choice(p, s, c);
        if (p->result->n_runs > n)
            used = c->size;
    }
    if (p->result->n_runs)
        *p->result->skipped = '\0';
    cq_session_free(s);
    return status;
}

/* ---- the first node that differs ---- */

typedef struct fetched {
    const char         **names;
    const cq_onnx_node **nodes; /* of the changed model */
    size_t               n;
} fetched;

static cq_status find_common(fetched *f, const proof *p)
{
    const cq_onnx_graph *a = p->after->graph, *b = p->before->graph;
    cq_map               names  = { 0 };
    cq_status            status = CQ_OK;

    f->names = cq_zalloc(MAX_FETCHED * sizeof *f->names);
    f->nodes = cq_zalloc(MAX_FETCHED * sizeof *f->nodes);
    if (!f->names || !f->nodes)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < b->node.n && status == CQ_OK; i++)
        for (size_t k = 0; k < b->node.items[i]->output.n && status == CQ_OK; k++)
            if (*b->node.items[i]->output.items[k])
                status = cq_map_set(&names, b->node.items[i]->output.items[k], f);
    for (size_t i = 0; i < a->node.n && status == CQ_OK; i++)
        for (size_t k = 0; k < a->node.items[i]->output.n && f->n < MAX_FETCHED; k++) {
            const char *name = a->node.items[i]->output.items[k];

            if (!*name || !cq_map_get(&names, name))
                continue;
            f->names[f->n]   = name;
            f->nodes[f->n++] = a->node.items[i];
        }
    cq_map_clear(&names);
    return status;
}

static cq_status run_fetched(cq_onnx_value ***out, size_t *n_own, const cq_onnx_model *m,
                             const fetched *f, const cq_input_set *in)
{
    cq_session_options options;
    cq_session        *s = NULL;
    cq_status          status;

    cq_session_options_init(&options);
    options.fetch   = f->names;
    options.n_fetch = f->n;
    CQ_TRY(cq_session_prepare(&s, m, &options));
    *n_own = cq_session_n_outputs(s) - f->n;
    status = run_set(out, s, in);
    cq_session_free(s);
    return status;
}

/* The node, described for a message; "" if none is found. */
static void find_node(char *out, size_t size, const proof *p, const run *r)
{
    fetched         f   = { 0 };
    cq_input_set    in  = { 0 };
    cq_onnx_value **was = NULL, **is = NULL;
    size_t          n_was = 0, n_is = 0;

    *out = '\0';
    if (find_common(&f, p) == CQ_OK &&
        cq_input_set_map(&in, &r->inputs, p->before, p->after) == CQ_OK &&
        run_fetched(&was, &n_was, p->before, &f, &r->inputs) == CQ_OK &&
        run_fetched(&is, &n_is, p->after, &f, &in) == CQ_OK)
        for (size_t i = 0; i < f.n && !*out; i++) {
            const cq_onnx_node *n = f.nodes[i];
            cq_difference       d;

            cq_compare_values(&d, is[n_is + i], was[n_was + i], &p->tolerance);
            if (!d.is_equal)
                snprintf(out, size, "%s (%s)", n->name && *n->name ? n->name : f.names[i],
                         n->op_type);
        }
    free_values(was, was ? n_was + f.n : 0);
    free_values(is, is ? n_is + f.n : 0);
    cq_input_set_clear(&in);
    cq_free(f.names);
    cq_free(f.nodes);
}

/* ---- the model after the change ---- */

static cq_status refuse(const proof *p, const run *r, const char *output, const cq_difference *d)
{
    char node[512], what[200];

    find_node(node, sizeof node, p, r);
    if (*d->why)
        snprintf(what, sizeof what, "%s", d->why);
    else
        snprintf(what, sizeof what, "%lld of %lld elements differ, the largest difference is %.2g",
                 (long long)d->n_off, (long long)d->n, d->largest);
    return cq_fail(CQ_E_TYPE, *node ? node : NULL,
                   "report this; --no-verify writes the model without the proof",
                   "%s changes output %s: %s%s%s", p->options.what, output, what,
                   *node ? "; the first node that differs is " : "", node);
}

static cq_status compare_run(proof *p, const cq_session *s, const run *r)
{
    cq_input_set    in     = { 0 };
    cq_onnx_value **got    = NULL;
    cq_status       status = cq_input_set_map(&in, &r->inputs, p->before, p->after);

    if (status == CQ_OK)
        status = run_set(&got, s, &in);
    if (status != CQ_OK && status != CQ_E_CANCELLED)
        status = cq_error_add_where(status, "%s: the changed model fails", p->options.what);
    for (size_t i = 0; i < p->n_outputs && status == CQ_OK; i++) {
        cq_difference d;

        cq_compare_values(&d, got[i], r->wanted[i], &p->tolerance);
        if (!d.is_equal)
            status = refuse(p, r, cq_session_output_name(s, i), &d);
        else if (d.largest > p->result->largest)
            p->result->largest = d.largest;
    }
    free_values(got, p->n_outputs);
    cq_input_set_clear(&in);
    return status;
}

static cq_status run_after(proof *p)
{
    cq_session *s = NULL;
    cq_status   status;

    CQ_TRY(cq_session_prepare(&s, p->after, NULL));
    p->result->n_outputs = cq_session_n_outputs(s);
    if (p->result->n_outputs != p->n_outputs)
        status = cq_fail(CQ_E_TYPE, NULL, NULL, "%s leaves %zu outputs of %zu", p->options.what,
                         p->result->n_outputs, p->n_outputs);
    else
        status = CQ_OK;
    for (size_t i = 0; i < p->result->n_runs && status == CQ_OK; i++)
        status = compare_run(p, s, &p->runs[i]);
    cq_session_free(s);
    return status;
}

CQ_API cq_status cq_onnx_prove(cq_proof *result, const cq_onnx_model *before,
                               const cq_onnx_model *after, const cq_proof_options *given)
{
    CQ_NEED(result && before && after && before->graph && after->graph);
    proof       p = { .before = before, .after = after, .result = result };
    const char *random;
    cq_status   status;

    *result = (cq_proof){ 0 };
    cq_proof_options_init(&p.options);
    CQ_TRY(cq_sized_take(&p.options, given, "cq_proof_options"));
    p.tolerance = (cq_tolerance){ p.options.rtol, p.options.atol, p.options.flags & CQ_PROOF_LOSSY,
                                  cq_onnx_model_has_node(before, "QuantizeLinear") ||
                                      cq_onnx_model_has_node(before, "DynamicQuantizeLinear") ||
                                      (cq_onnx_model_has_node(before, "DequantizeLinear") &&
                                       cq_onnx_model_has_node(before, "Round")) };
    random      = cq_onnx_model_random_node(before);
    if (random)
        return skip(&p, "results are random numbers of node ", random);
    if (cq_proof_weight_bytes(before) > p.options.max_weights &&
        !(p.options.flags & CQ_PROOF_FORCE))
        return skip(&p, "the weights exceed 2 GB; --verify runs the models", "");
    status = cq_sizes_are_fixed_otherwise(before, after) ? CQ_OK : run_before(&p);
    if (status == CQ_OK && result->n_runs)
        status = run_after(&p);
    if (status == CQ_OK)
        status = cq_prove_sizes(result, before, after, &p.options, &p.tolerance);
    if (status == CQ_OK && !result->n_runs && !*result->skipped)
        skip(&p, "the models accept different sizes", "");
    for (size_t i = 0; i < MAX_RUNS; i++) {
        cq_input_set_clear(&p.runs[i].inputs);
        free_values(p.runs[i].wanted, p.n_outputs);
    }
    return status;
}
