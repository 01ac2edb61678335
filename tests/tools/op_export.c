/* Exports every case of a file of tests/ops/data as a model of one operator, for
 * tests/peer/ops_export.py:
 *
 *     op_export DATA.json OPSET…
 *
 * Tensors among the arguments are the inputs x0, x1, …; other arguments are fixed. For each case
 * and opset there are two models: one of fixed sizes, and one where sizes above 1 are dynamic. Each
 * is a line "CASE OPSET DYNAMIC SIZE MESSAGE" on standard output, followed by the SIZE bytes of the
 * model; SIZE is 0 if it could not be exported, and MESSAGE is the reason. */
#include "export/exporter.h"
#include "fixture.h"
#include "tensor/qparams.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct job {
    const json_t *one;
    int           opset;
    bool          dynamic;
} job;

/* Turns the tensors of args into graph inputs. */
static void make_inputs(cq_capture *cap, cq_ctx *cx, cq_val *v, const job *j, int *count)
{
    char        texts[CQ_MAX_RANK][32], name[32];
    const char *axes[CQ_MAX_RANK];
    cq_tensor  *t = v->u.tensor;

    if (v->kind == CQ_VAL_LIST)
        for (size_t i = 0; i < v->u.list->n; i++) {
            cq_val old = v->u.list->items[i];

            make_inputs(cap, cx, &v->u.list->items[i], j, count);
            cq_val_retain(v->u.list->items[i]);
            cq_val_release(old);
        }
    if (v->kind != CQ_VAL_TENSOR)
        return;
    for (size_t i = 0; i < t->rank; i++) {
        /* Equal sizes are the same symbol, as a batch is in several inputs. */
        snprintf(texts[i], sizeof texts[i], "d%lld", (long long)t->sizes[i].value);
        axes[i] = j->dynamic && t->sizes[i].value > 1 ? texts[i] : NULL;
    }
    snprintf(name, sizeof name, "x%d", (*count)++);
    *v = cq_val_of_tensor(cq_capture_input(cap, cx, t, name, axes));
    if (v->kind == CQ_VAL_TENSOR)
        cq_tensor_set_qparams(v->u.tensor, t->qparams);
}

static void add_output(cq_capture *cap, cq_ctx *cx, cq_val v)
{
    if (v.kind == CQ_VAL_TENSOR)
        cq_capture_output(cap, cx, v.u.tensor);
    else if (v.kind == CQ_VAL_LIST)
        for (size_t i = 0; i < v.u.list->n; i++)
            add_output(cap, cx, v.u.list->items[i]);
}

static cq_status capture(cq_capture *cap, cq_ctx *cx, const job *j)
{
    const cq_op *op = cq_op_find(json_string_value(json_object_get(j->one, "op")));
    cq_val       args[CQ_FIXTURE_MAX_ARGS], results[CQ_MAX_RESULTS];
    size_t       n;
    int          count = 0;

    if (!op)
        return cq_fail(CQ_E_NOT_FOUND, NULL, NULL, "unknown operator");
    CQ_TRY(cq_fixture_args(cx, args, &n, j->one));
    cq_capture_start(cap, cx);
    for (size_t i = 0; i < n; i++)
        make_inputs(cap, cx, &args[i], j, &count);
    cq_op_call(cx, op, args, n, results, CQ_MAX_RESULTS);
    for (size_t i = 0; i < op->schema->n_results && i < CQ_MAX_RESULTS; i++)
        add_output(cap, cx, results[i]);
    cq_capture_stop(cap, cx);
    return cq_ctx_status(cx);
}

static cq_status export(void **data, size_t *size, const job *j)
{
    cq_export_options options;
    cq_capture       *cap   = NULL;
    cq_ctx           *cx    = NULL;
    cq_onnx_model    *model = NULL;
    cq_status         status;

    cq_export_options_init(&options);
    options.opset = j->opset;
    CQ_TRY_OR_DONE(cq_ctx_new(&cx));
    CQ_TRY_OR_DONE(cq_capture_new(&cap));
    CQ_TRY_OR_DONE(capture(cap, cx, j));
    CQ_TRY_OR_DONE(cq_export_graph(&model, cap->graph, &options));
    status = cq_onnx_model_encode(data, size, model);
done:
    cq_onnx_model_free(model);
    cq_ctx_free(cx);
    cq_capture_free(cap);
    return status;
}

static void run(size_t index, const job *j)
{
    void       *data    = NULL;
    size_t      size    = 0;
    cq_status   status  = export(&data, &size, j);
    const char *message = status == CQ_OK ? "" : cq_last_error()->message;

    printf("%zu %d %d %zu ", index, j->opset, j->dynamic, status == CQ_OK ? size : 0);
    for (; *message; message++)
        putchar(*message == '\n' ? ' ' : *message);
    putchar('\n');
    if (status == CQ_OK)
        fwrite(data, 1, size, stdout);
    cq_buffer_free(data);
}

int main(int argc, char **argv)
{
    json_t *cases, *one;
    size_t  i;

    if (argc < 3 || cq_fixture_load(&cases, argv[1]) != CQ_OK) {
        fprintf(stderr, "usage: op_export DATA.json OPSET…\n");
        return 1;
    }
    json_array_foreach(cases, i, one) for (int a = 2; a < argc && !json_object_get(one, "fails");
                                           a++) for (int dynamic = 0; dynamic < 2; dynamic++)
        run(i, &(job){ .one = one, .opset = atoi(argv[a]), .dynamic = dynamic });
    json_decref(cases);
    return 0;
}
