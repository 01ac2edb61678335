/* Errors of quantization. The error of a layer is that of its quantized form on its float inputs:
 * the float model runs with the quantized form of each layer beside it. The proof runs the models
 * before and after, and compares the outputs of whole models. */
#include "quantize/graph.h"
#include "quantize/samples.h"

#include "base/alloc.h"
#include "base/sized.h"
#include "tensor/convert.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
    N_SETS = 2,  /* of inputs that errors are measured on */
    BLOCK  = 512 /* elements that are compared at once */
};

#define MAX_RUN    ((uint64_t)2 << 30) /* bytes of weights of a model that is run */
#define LIMIT_OF_8 0.1                 /* relative error of outputs */
#define LIMIT_OF_4 0.5

/* ---- differences ---- */

typedef struct squares {
    double error, total;
    bool   is_broken; /* shapes differ, or NaN and infinity differ */
} squares;

static void add_squares(squares *s, const cq_onnx_value *got, const cq_onnx_value *want)
{
    const cq_tensor *a = cq_onnx_value_tensor(got), *b = cq_onnx_value_tensor(want);
    double           x[BLOCK], y[BLOCK];

    if (!a || !b || !cq_dtype_is_float(cq_tensor_dtype(b)))
        return;
    if (cq_tensor_numel(a) != cq_tensor_numel(b)) {
        s->is_broken = true;
        return;
    }
    for (int64_t at = 0, n; at < cq_tensor_numel(b); at += n) {
        n = cq_tensor_numel(b) - at < BLOCK ? cq_tensor_numel(b) - at : BLOCK;
        cq_tensor_get_f64_run(x, a, at, n);
        cq_tensor_get_f64_run(y, b, at, n);
        for (int64_t i = 0; i < n; i++) {
            if (isfinite(x[i]) && isfinite(y[i])) {
                s->error += (x[i] - y[i]) * (x[i] - y[i]);
                s->total += y[i] * y[i];
            } else if (x[i] != y[i] && !(isnan(x[i]) && isnan(y[i]))) {
                s->is_broken = true;
            }
        }
    }
}

static double relative(const squares *s)
{
    if (s->is_broken)
        return INFINITY;
    return s->total > 0 ? sqrt(s->error / s->total) : s->error > 0 ? INFINITY : 0;
}

/* ---- layers ---- */

typedef struct probe {
    cq_quantizer *q;
    const char  **fetch; /* float and quantized result of each layer, in turns */
    squares      *sums;
    size_t        n;
} probe;

static cq_status emit_copies(probe *p)
{
    cq_quantizer *q = p->q;

    for (uint32_t i = 0; i < q->g->node.n; i++) {
        cq_onnx_node         *node  = q->g->node.items[i];
        const cq_quant_layer *layer = cq_quantizer_layer(q, node);
        const char           *to;

        cq_onnx_list_push(q->m, &q->nodes, node);
        if (!layer)
            continue;
        to = cq_quantizer_name(q, node->output.items[0], "probe");
        CQ_TRY(cq_quantize_emit(q, layer, to));
        if (q->options.mode == CQ_QUANTIZE_STATIC) {
            cq_activation *a = cq_map_get(&q->activations, node->output.items[0]);

            if (a) { /* the same parameters for the copy */
                cq_activation *b = cq_onnx_alloc(q->m, sizeof *b);

                if (!b)
                    return q->m->status;
                *b       = *a;
                b->name  = to;
                b->layer = NULL;
                CQ_TRY(cq_map_set(&q->activations, to, b));
                to = cq_quantize_value(q, to);
            }
        }
        p->fetch[p->n++] = node->output.items[0];
        p->fetch[p->n++] = to;
    }
    return q->m->status;
}

static cq_status run_probe(probe *p)
{
    cq_quantizer      *q = p->q;
    cq_session_options so;
    cq_samples         samples;
    cq_session        *s = NULL;
    cq_status          status;

    CQ_TRY(cq_samples_open(&samples, q->m, q->options.calibration, &q->options));
    cq_session_options_init(&so);
    so.fetch   = p->fetch;
    so.n_fetch = p->n;
    status     = cq_session_prepare(&s, q->m, &so);
    for (int64_t i = 0; i < samples.n && i < N_SETS && status == CQ_OK; i++) {
        const size_t    n       = cq_session_n_outputs(s);
        cq_onnx_value **outputs = cq_zalloc((n + 1) * sizeof *outputs);
        cq_input_set    inputs  = { 0 };

        status = outputs ? cq_samples_run(&samples, s, i, &inputs, outputs) : CQ_E_NO_MEMORY;
        for (size_t k = 0; k < p->n && status == CQ_OK; k += 2)
            add_squares(&p->sums[k / 2], outputs[n - p->n + k + 1], outputs[n - p->n + k]);
        cq_input_set_clear(&inputs);
        cq_values_release(outputs, n);
    }
    cq_session_free(s);
    cq_samples_close(&samples);
    return status;
}

/* Runs the graph with the copies; whether it runs is not an error. */
static cq_status measure_copies(probe *p)
{
    cq_quantizer  *q      = p->q;
    cq_onnx_graph *g      = q->g;
    const uint32_t n_init = g->initializer.n;
    cq_onnx_graph  was    = *g;
    size_t         at     = 0;
    cq_status      status = emit_copies(p);
    bool           is_run;

    if (status == CQ_OK) {
        g->node.items = q->nodes.items;
        g->node.n     = q->nodes.n;
        status        = run_probe(p);
        g->node       = was.node;
    }
    is_run = status == CQ_OK;
    if (status == CQ_E_CANCELLED || q->m->status != CQ_OK)
        return status;
    for (size_t i = 0; i < q->layers.n && is_run; i++)
        if (cq_quantizer_layer(q, q->layers.items[i].node))
            at++;
    for (size_t i = 0, k = 0; i < q->layers.n && is_run && at * 2 == p->n; i++)
        if (cq_quantizer_layer(q, q->layers.items[i].node))
            q->layers.items[i].error = relative(&p->sums[k++]);
    return cq_quantizer_rewind(q, n_init);
}

cq_status cq_quantize_measure(cq_quantizer *q)
{
    probe     p = { .q = q };
    cq_status status;

    if (cq_proof_weight_bytes(q->m) > MAX_RUN)
        return CQ_OK;
    p.fetch = cq_zalloc((2 * q->layers.n + 1) * sizeof *p.fetch);
    p.sums  = cq_zalloc((q->layers.n + 1) * sizeof *p.sums);
    status  = p.fetch && p.sums ? measure_copies(&p) : CQ_E_NO_MEMORY;
    cq_free(p.fetch);
    cq_free(p.sums);
    return status;
}

/* ---- the proof ---- */

typedef struct comparison {
    const cq_onnx_model       *before, *after;
    const cq_quantize_options *options;
    cq_proof                  *proof;
    cq_samples                 samples;
    cq_input_set               inputs[N_SETS];
    cq_onnx_value            **wanted[N_SETS];
    size_t                     n_outputs;
    squares                   *sums;
} comparison;

static cq_status skip(cq_proof *proof, const char *why, const char *detail)
{
    snprintf(proof->skipped, sizeof proof->skipped, "%s%s", why, detail);
    return CQ_OK;
}

static cq_status run_before(comparison *c)
{
    cq_session *s      = NULL;
    cq_status   status = cq_session_prepare(&s, c->before, NULL);

    if (status != CQ_OK)
        return skip(c->proof, "the model does not run in calque: ", cq_last_error()->message);
    c->n_outputs = cq_session_n_outputs(s);
    for (int64_t i = 0; i < c->samples.n && i < N_SETS && status == CQ_OK; i++) {
        c->wanted[i] = cq_zalloc((c->n_outputs + 1) * sizeof *c->wanted[i]);
        status       = c->wanted[i] ? cq_samples_run(&c->samples, s, i, &c->inputs[i], c->wanted[i])
                                    : CQ_E_NO_MEMORY;
        c->proof->n_runs += status == CQ_OK;
    }
    cq_session_free(s);
    if (status != CQ_OK && !c->samples.paths.n && status != CQ_E_CANCELLED) {
        c->proof->n_runs = 0;
        return skip(c->proof,
                    "the model does not run on random inputs: ", cq_last_error()->message);
    }
    return status;
}

static cq_status run_after(comparison *c)
{
    cq_session *s = NULL;
    cq_status   status;

    CQ_TRY(cq_session_prepare(&s, c->after, NULL));
    status = cq_session_n_outputs(s) == c->n_outputs
                 ? CQ_OK
                 : cq_fail(CQ_E_TYPE, NULL, NULL, "quantizing changes the number of outputs");
    for (size_t i = 0; i < c->proof->n_runs && status == CQ_OK; i++) {
        cq_onnx_value **got = cq_zalloc((c->n_outputs + 1) * sizeof *got);
        cq_input_set    in  = { 0 };

        status = got ? cq_input_set_map(&in, &c->inputs[i], c->before, c->after) : CQ_E_NO_MEMORY;
        if (status == CQ_OK)
            status = cq_session_run(s, NULL, in.items, in.n, got);
        for (size_t k = 0; k < c->n_outputs && status == CQ_OK; k++) {
            cq_difference d;

            add_squares(&c->sums[k], got[k], c->wanted[i][k]);
            cq_compare_values(&d, got[k], c->wanted[i][k], &(cq_tolerance){ 1, 1, true, true });
            c->proof->largest = fmax(c->proof->largest, d.largest);
        }
        cq_input_set_clear(&in);
        cq_values_release(got, c->n_outputs);
    }
    cq_session_free(s);
    return status;
}

static cq_status judge(const comparison *c, const cq_proof_options *o, cq_quantize_hook hook,
                       void *user)
{
    cq_status status = CQ_OK;

    for (size_t k = 0; k < c->n_outputs; k++) {
        const char        *name  = c->before->graph->output.items[k]->name;
        const double       error = relative(&c->sums[k]);
        cq_quantized_layer row   = { .name = name, .weight_error = -1, .error = error };

        if (hook)
            hook(user, &row);
        if (status == CQ_OK && !(error <= o->rtol))
            status = cq_fail(CQ_E_TYPE, name,
                             "--max-error leaves the worst layers in float, --report lists them; "
                             "--no-verify writes the model without the proof",
                             "the relative error of output %s is %.3g, more than %g", name, error,
                             o->rtol);
    }
    return status;
}

CQ_API cq_status cq_onnx_prove_quantized(cq_proof *proof, const cq_onnx_model *before,
                                         const cq_onnx_model       *after,
                                         const cq_quantize_options *given,
                                         const cq_proof_options *how, cq_quantize_hook hook,
                                         void *user)
{
    CQ_NEED(proof && before && after && before->graph && after->graph);
    cq_quantize_options options;
    cq_proof_options    o;
    comparison  c = { .before = before, .after = after, .options = &options, .proof = proof };
    const char *random;
    cq_status   status;

    *proof = (cq_proof){ 0 };
    cq_quantize_options_init(&options);
    CQ_TRY(cq_sized_take(&options, given, "cq_quantize_options"));
    cq_proof_options_init(&o);
    o.rtol = options.bits == 4 ? LIMIT_OF_4 : LIMIT_OF_8;
    CQ_TRY(cq_sized_take(&o, how, "cq_proof_options"));
    random = cq_onnx_model_random_node(before);
    if (random)
        return skip(proof, "results are random numbers of node ", random);
    if (cq_proof_weight_bytes(before) > o.max_weights && !(o.flags & CQ_PROOF_FORCE))
        return skip(proof, "the weights exceed 2 GB; --verify runs the models", "");
    CQ_TRY(
        cq_samples_open(&c.samples, before, o.example ? o.example : options.calibration, &options));
    status = run_before(&c);
    if (status == CQ_OK && proof->n_runs) {
        c.sums = cq_zalloc((c.n_outputs + 1) * sizeof *c.sums);
        status = c.sums ? run_after(&c) : CQ_E_NO_MEMORY;
        if (status == CQ_OK)
            status = judge(&c, &o, hook, user);
    }
    for (size_t i = 0; i < N_SETS; i++) {
        cq_input_set_clear(&c.inputs[i]);
        cq_values_release(c.wanted[i], c.n_outputs);
    }
    cq_free(c.sums);
    cq_samples_close(&c.samples);
    return status;
}
