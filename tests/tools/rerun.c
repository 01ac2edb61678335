/* One session, run again and again: on 1, 2, 3 and 7 threads, on inputs of other shapes in between,
 * and from several threads at once. Every run gives the same bits as the first of its inputs. The
 * second run on some shapes is the first whose memory is planned.
 *
 *     rerun [--at-once N] MODEL.onnx|FOLDER …
 *
 * A folder has model.onnx and test_data_set_0; a file gets random numbers, with its free sizes 1
 * and 2. A line for each: ok, skip with a reason, or FAIL. */
#include <calque/session.h>
#include <calque/threads.h>

#include "onnx/model.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_VALUES = 64, MAX_VARIANTS = 2, MAX_AT_ONCE = 64, ROUNDS = 3 };

typedef struct variant {
    cq_onnx_value *in[MAX_VALUES], *want[MAX_VALUES];
} variant;

static struct job {
    cq_session *session;
    size_t      n_in, n_out, n_variants;
    variant     variants[MAX_VARIANTS];
} job;

/* Data was made with numpy, which has no bfloat16. */
static bool has_bfloat16(const cq_onnx_model *m, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (cq_onnx_model_value_dtype(m, CQ_ONNX_INPUTS, i) == CQ_DTYPE_BF16)
            return true;
    return false;
}

static bool is_random(const cq_onnx_model *m)
{
    static const char *const ops[] = { "Bernoulli",         "Dropout",
                                       "Multinomial",       "RandomNormal",
                                       "RandomUniform",     "RandomNormalLike",
                                       "RandomUniformLike", NULL };

    for (uint32_t i = 0; i < m->graph->node.n; i++)
        for (const char *const *op = ops; *op; op++)
            if (!strcmp(m->graph->node.items[i]->op_type, *op))
                return true;
    return false;
}

/* ---- inputs ---- */

static cq_status load(cq_onnx_value **out, const char *folder, size_t i)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/test_data_set_0/input_%zu.pb", folder, i);
    if (access(path, F_OK) != 0)
        return CQ_OK; /* one left out */
    return cq_onnx_value_load_for(out, path, cq_session_model(job.session), CQ_ONNX_INPUTS, i);
}

static cq_status make_up(cq_onnx_value **out, size_t i, int64_t free_size)
{
    const cq_onnx_model *m    = cq_session_model(job.session);
    int32_t              rank = cq_onnx_model_value_rank(m, CQ_ONNX_INPUTS, i);
    cq_dtype             type = cq_onnx_model_value_dtype(m, CQ_ONNX_INPUTS, i);
    int64_t              sizes[CQ_MAX_RANK], n = 1;
    cq_tensor           *t;
    cq_status            status;

    if (rank < 0 || rank > CQ_MAX_RANK || (type != CQ_DTYPE_F32 && type != CQ_DTYPE_I64))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "input %zu cannot be generated", i);
    for (int32_t k = 0; k < rank; k++) {
        sizes[k] = cq_onnx_model_value_size(m, CQ_ONNX_INPUTS, i, (size_t)k);
        sizes[k] = sizes[k] < 0 ? free_size : sizes[k];
        n *= sizes[k];
    }
    CQ_TRY(cq_tensor_new(&t, type, (size_t)rank, sizes, NULL));
    for (int64_t k = 0; k < n; k++)
        if (type == CQ_DTYPE_F32)
            ((float *)cq_tensor_data(t))[k] = (float)((k * 7919 + 13) % 1000) / 500 - 1;
        else
            ((int64_t *)cq_tensor_data(t))[k] = (k * 31 + 5) % 40;
    status = cq_onnx_value_new_tensor(out, t);
    cq_tensor_release(t);
    return status;
}

/* ---- runs ---- */

static void release(cq_onnx_value **values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        cq_onnx_value_release(values[i]);
        values[i] = NULL;
    }
}

static cq_status run_again(const variant *v)
{
    cq_onnx_value *got[MAX_VALUES] = { NULL };
    cq_status      status          = cq_session_run(job.session, NULL, v->in, job.n_in, got);

    for (size_t i = 0; i < job.n_out && status == CQ_OK; i++)
        status = cq_onnx_value_compare(got[i], v->want[i], 0, 0);
    release(got, job.n_out);
    return status;
}

static void *run_often(void *first)
{
    size_t    at     = (size_t)(uintptr_t)first;
    cq_status status = CQ_OK;

    for (int i = 0; i < ROUNDS && status == CQ_OK; i++)
        status = run_again(&job.variants[(at + (size_t)i) % job.n_variants]);
    if (status != CQ_OK)
        fprintf(stderr, "at once: %s\n", cq_last_error()->message);
    return (void *)(uintptr_t)status;
}

static cq_status run_at_once(int n)
{
    pthread_t threads[MAX_AT_ONCE];
    void     *result;
    cq_status status = CQ_OK;

    for (int i = 0; i < n; i++)
        if (pthread_create(&threads[i], NULL, run_often, (void *)(uintptr_t)i) != 0)
            abort();
    for (int i = 0; i < n; i++) {
        pthread_join(threads[i], &result);
        if (status == CQ_OK && result)
            status = cq_fail((cq_status)(uintptr_t)result, NULL, NULL,
                             "a run beside others gives something else");
    }
    return status;
}

static cq_status run_all(int at_once)
{
    static const int threads[] = { 1, 2, 3, 7 };

    cq_set_threads(1);
    for (size_t v = 0; v < job.n_variants; v++)
        CQ_TRY(
            cq_session_run(job.session, NULL, job.variants[v].in, job.n_in, job.variants[v].want));
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        cq_set_threads(threads[i]);
        for (size_t v = 0; v < job.n_variants; v++)
            CQ_TRY(run_again(&job.variants[v]));
    }
    cq_set_threads(2);
    return run_at_once(at_once);
}

static cq_status rerun(const char *what, int at_once, const char **skips)
{
    char path[4096];
    bool is_file = strlen(what) > 5 && !strcmp(what + strlen(what) - 5, ".onnx");

    snprintf(path, sizeof path, is_file ? "%s" : "%s/model.onnx", what);
    CQ_TRY(cq_session_prepare_file(&job.session, path, NULL));
    job.n_in       = cq_session_n_inputs(job.session);
    job.n_out      = cq_session_n_outputs(job.session);
    job.n_variants = is_file ? 2 : 1;
    if (is_random(cq_session_model(job.session)))
        *skips = "it draws numbers";
    else if (has_bfloat16(cq_session_model(job.session), job.n_in))
        *skips = "its data has no bfloat16";
    else if (job.n_in > MAX_VALUES || job.n_out > MAX_VALUES)
        *skips = "it has too many values";
    if (*skips)
        return CQ_OK;
    for (size_t v = 0; v < job.n_variants; v++)
        for (size_t i = 0; i < job.n_in; i++)
            CQ_TRY(is_file ? make_up(&job.variants[v].in[i], i, (int64_t)v + 1)
                           : load(&job.variants[v].in[i], what, i));
    return run_all(at_once);
}

int main(int argc, char **argv)
{
    int at_once = 0, first = 1, n_failed = 0;

    if (argc > 2 && !strcmp(argv[1], "--at-once")) {
        at_once = atoi(argv[2]);
        first   = 3;
    }
    if (at_once < 0 || at_once > MAX_AT_ONCE)
        return 2;
    for (int i = first; i < argc; i++) {
        const char *skips  = NULL;
        cq_status   status = rerun(argv[i], at_once, &skips);

        if (status != CQ_OK)
            printf("FAIL %s: %s (%s)\n", argv[i], cq_last_error()->message, cq_last_error()->where);
        else
            printf("%s %s%s%s\n", skips ? "skip" : "ok", argv[i], skips ? ": " : "",
                   skips ? skips : "");
        n_failed += status != CQ_OK;
        for (size_t v = 0; v < MAX_VARIANTS; v++) {
            release(job.variants[v].in, MAX_VALUES);
            release(job.variants[v].want, MAX_VALUES);
        }
        cq_session_free(job.session);
        job.session = NULL;
    }
    return n_failed ? 1 : 0;
}
