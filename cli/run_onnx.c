/* Running ONNX models, for `calque run`: inputs by the types that the model declares, values from
 * its inside, and a trace of its nodes. */
#include "run_onnx.h"
#include "example.h"
#include "json.h"
#include "model.h"
#include "show.h"

#include <calque/session.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define MAX_VALUES 256 /* outputs and dumped values */
#define PATH_SIZE  4096

static struct job {
    cq_onnx_model *model;
    cq_session    *session;
    cli_signature  takes;
    cli_example    example;
    cq_onnx_value *inputs[CLI_MAX_INPUTS], *outputs[MAX_VALUES];
    const char    *dumped[MAX_VALUES];
    size_t         n_dumped;
    FILE          *trace;
    char          *trace_text; /* the stream's, and there until the program ends */
    size_t         trace_size;
    bool           trace_began;
} job;

/* ---- the trace ---- */

/* One event of the Trace Event Format; times are in microseconds. */
static void trace_node(void *user, const char *node, const char *op_type, int64_t begin,
                       int64_t end)
{
    (void)user;
    fputs(job.trace_began ? ",\n{\"name\": " : "\n{\"name\": ", job.trace);
    job.trace_began = true;
    cli_json_string(job.trace, *node ? node : op_type);
    fputs(", \"cat\": ", job.trace);
    cli_json_string(job.trace, op_type);
    fprintf(job.trace, ", \"ph\": \"X\", \"ts\": %.3f, \"dur\": %.3f, \"pid\": 1, \"tid\": 1}",
            (double)begin / 1e3, (double)(end - begin) / 1e3);
}

static int trace_open(const char *path)
{
    job.trace = open_memstream(&job.trace_text, &job.trace_size);
    if (!job.trace)
        return cli_fail_with("", "cannot write '%s': %s", path, strerror(errno));
    fputs("{\"traceEvents\": [", job.trace);
    return CLI_DONE;
}

static int trace_close(const char *path, int code)
{
    if (!job.trace)
        return code;
    fprintf(job.trace, "\n], \"otherData\": {\"peak_bytes\": \"%" PRIu64 "\"}}\n",
            job.session ? cq_session_peak_memory(job.session) : 0);
    if (fclose(job.trace) != 0 && code == CLI_DONE)
        code = cli_fail_with("", "cannot write '%s': %s", path, strerror(errno));
    if (code == CLI_DONE)
        code = cli_result(cq_buffer_save(path, job.trace_text, job.trace_size));
    return code;
}

/* ---- inputs ---- */

void cli_declared_input(cli_input *out, const cq_onnx_model *model, size_t index)
{
    int32_t rank = cq_onnx_model_value_rank(model, CQ_ONNX_INPUTS, index);

    *out = (cli_input){ .dtype = cq_onnx_model_value_dtype(model, CQ_ONNX_INPUTS, index),
                        .rank  = rank > 0 && rank <= CQ_MAX_RANK ? (size_t)rank : 0 };
    for (size_t k = 0; k < out->rank; k++) {
        int64_t size = cq_onnx_model_value_size(model, CQ_ONNX_INPUTS, index, k);

        out->axes[k].size = size < 0 ? 1 : size;
    }
}

static int describe(const cli_args *args)
{
    cli_signature *s = &job.takes;

    s->model    = args->operands[0];
    s->n        = cq_session_n_inputs(job.session);
    s->n_needed = 0;
    if (s->n > CLI_MAX_INPUTS)
        return cli_fail_with("", "the model has %zu inputs, more than the %d that can be given",
                             s->n, CLI_MAX_INPUTS);
    for (size_t i = 0; i < s->n; i++) {
        s->names[i] = cq_session_input_name(job.session, i);
        cli_declared_input(&s->own[i], job.model, i);
        if (!cq_session_input_is_optional(job.session, i))
            s->n_needed = i + 1;
    }
    s->n_own = s->n_needed;
    return CLI_DONE;
}

static cq_status make_value(cq_onnx_value **out, size_t i)
{
    const cli_input *in     = &job.example.inputs[i];
    cq_tensor       *tensor = NULL;
    cq_status        status;

    if (in->path && cli_ends_with(in->path, ".pb"))
        return cq_onnx_value_load_for(out, in->path, job.model, CQ_ONNX_INPUTS, i);
    status = cli_input_tensor(&tensor, in, i);
    if (status == CQ_OK)
        status = cq_onnx_value_new_tensor(out, tensor);
    cq_tensor_release(tensor);
    return status;
}

static int make_inputs(const cli_args *args)
{
    bool given = cli_has(args, "input") || cli_has(args, "example");
    int  code  = describe(args);

    if (code == CLI_DONE)
        code = cli_example_read(&job.example, args, &job.takes);
    for (size_t i = 0; i < job.example.n && code == CLI_DONE; i++) {
        if (!given && cq_session_input_is_optional(job.session, i))
            continue;
        if (!given && job.takes.own[i].dtype == CQ_DTYPE_NONE)
            return cli_fail_with("give the inputs with --example DIR",
                                 "input %s is no tensor of numbers, so none can be made up",
                                 job.takes.names[i]);
        code = cli_result(make_value(&job.inputs[i], i));
    }
    return code;
}

/* ---- outputs ---- */

static void show_value(const char *name, const cq_onnx_value *value)
{
    static const char *const kinds[] = { "nothing", "a tensor", "strings", "a sequence of" };
    cq_tensor               *tensor  = cq_onnx_value_tensor(value);
    cq_onnx_kind_of_value    kind    = cq_onnx_value_kind(value);

    if (tensor) {
        cli_show_summary(name, tensor);
        return;
    }
    cli_put_text(stdout, name);
    printf("  %s", kinds[kind]);
    if (kind != CQ_ONNX_VALUE_NONE)
        printf(" %zu", cq_onnx_value_count(value));
    putchar('\n');
}

/* A value of the inside is in a file of its name, but for slashes. */
static cq_status save_value(const char *folder, bool npy, size_t i, size_t n_own)
{
    const char *name = cq_session_output_name(job.session, i);
    char        path[PATH_SIZE];
    size_t      at;

    if (i < n_own && npy && cq_onnx_value_tensor(job.outputs[i])) {
        snprintf(path, sizeof path, "%s/output_%zu.npy", folder, i);
        return cq_tensor_save_npy(cq_onnx_value_tensor(job.outputs[i]), path);
    }
    if (i < n_own) {
        snprintf(path, sizeof path, "%s/output_%zu.pb", folder, i);
        return cq_onnx_value_save_for(job.outputs[i], path, job.model, CQ_ONNX_OUTPUTS, i);
    }
    at = (size_t)snprintf(path, sizeof path, "%s/", folder);
    if (at + strlen(name) + sizeof ".pb" > sizeof path || !cq_onnx_value_tensor(job.outputs[i]))
        return CQ_OK;
    snprintf(path + at, sizeof path - at, "%s.pb", name);
    for (char *c = path + at; *c; c++)
        *c = *c == '/' ? '_' : *c;
    return cq_tensor_save_pb(cq_onnx_value_tensor(job.outputs[i]), path, name);
}

static int give_outputs(const char *folder, bool npy)
{
    size_t n = cq_session_n_outputs(job.session), n_own = n - job.n_dumped;

    for (size_t i = 0; i < n; i++) {
        if (!folder)
            show_value(cq_session_output_name(job.session, i), job.outputs[i]);
        else if (save_value(folder, npy, i, n_own) != CQ_OK)
            return cli_fail();
    }
    return CLI_DONE;
}

/* ---- all of it ---- */

static int prepare(const cli_args *args)
{
    cq_session_options options;
    const char        *name, *trace = cli_value(args, "profile");
    size_t             at = 0;
    cli_limits         limits;
    int                code = cli_limits_read(&limits, args);

    if (code != CLI_DONE)
        return code;
    cq_session_options_init(&options);
    options.max_steps  = limits.steps;
    options.max_memory = limits.bytes;
    while ((name = cli_next_value(args, "dump", &at))) {
        if (job.n_dumped == MAX_VALUES)
            return cli_misuse(args->verb, "more than %d values to dump", MAX_VALUES);
        job.dumped[job.n_dumped++] = name;
    }
    options.fetch   = job.dumped;
    options.n_fetch = job.n_dumped;
    if (trace) {
        code = trace_open(trace);
        if (code != CLI_DONE)
            return code;
        options.hook = trace_node;
    }
    if (cq_onnx_model_load(&job.model, args->operands[0]) != CQ_OK ||
        cq_session_prepare(&job.session, job.model, &options) != CQ_OK)
        return cli_fail();
    if (cq_session_n_outputs(job.session) > MAX_VALUES)
        return cli_fail_with("", "the model has more than %d outputs", MAX_VALUES);
    return CLI_DONE;
}

int cli_run_onnx(const cli_args *args, const char *folder)
{
    int code = prepare(args);

    if (code == CLI_DONE)
        code = make_inputs(args);
    if (code == CLI_DONE)
        code =
            cli_result(cq_session_run(job.session, NULL, job.inputs, job.example.n, job.outputs));
    if (code == CLI_DONE)
        code = give_outputs(folder, cli_wants_npy(args));
    code = trace_close(cli_value(args, "profile"), code);
    for (size_t i = 0; i < CLI_MAX_INPUTS; i++)
        cq_onnx_value_release(job.inputs[i]);
    for (size_t i = 0; i < MAX_VALUES; i++)
        cq_onnx_value_release(job.outputs[i]);
    cq_session_free(job.session);
    cq_onnx_model_free(job.model);
    return code;
}
