/* calque join: connects two ONNX models, and adds steps of pre- and post-processing. The command is
 * a list of joins, which are made from left to right. A join takes ownership of its models, so the
 * proof of a join builds them again from the files. */
#include "edit.h"
#include "load.h"
#include "model.h"

#include <calque/part.h>

#include <stdio.h>
#include <string.h>

enum { MAX_JOINS = 64, MAX_CONNECTIONS = 256, NAME_SIZE = 1 << 15 };

static struct join_plan {
    const char   *files[2]; /* the second one may be NULL */
    const char   *before[MAX_JOINS], *after[MAX_JOINS];
    size_t        n_before, n_after;
    cq_connection connections[MAX_CONNECTIONS];
    size_t        n_connections;
    char          names[NAME_SIZE];
    bool          has_external;
} plan;

static size_t n_joins(void)
{
    return plan.n_before + (plan.files[1] != NULL) + plan.n_after;
}

/* The models of a join; the caller frees or joins them. */
typedef struct join_pair {
    cq_onnx_model  *first, *second;
    cq_connection   connections[CQ_STEP_CONNECTIONS]; /* the connections of a step */
    cq_join_options options;
} join_pair;

static void pair_free(join_pair *pair)
{
    cq_onnx_model_free(pair->first);
    cq_onnx_model_free(pair->second);
    pair->first = pair->second = NULL;
}

static cq_status build(cq_onnx_model **out, size_t n);

static cq_status make_pair(join_pair *pair, size_t index)
{
    const bool     is_before = index < plan.n_before;
    const size_t   behind    = index - plan.n_before - (plan.files[1] != NULL);
    cq_onnx_model *model     = NULL;
    cq_step        step      = { 0 };
    cq_status      status    = build(&model, index);

    memset(pair, 0, sizeof *pair);
    cq_join_options_init(&pair->options);
    pair->first = model;
    if (status != CQ_OK)
        return status;
    if (!is_before && index == plan.n_before && plan.files[1]) {
        pair->options.connections   = plan.connections;
        pair->options.n_connections = plan.n_connections;
        status                      = cli_load_onnx(&pair->second, plan.files[1]);
        return status == CQ_OK ? cq_onnx_models_match_opsets(pair->first, pair->second) : status;
    }
    status       = cq_onnx_step_new(&step, model, is_before ? CQ_STEP_BEFORE : CQ_STEP_AFTER,
                              is_before ? plan.before[index] : plan.after[behind]);
    pair->second = step.model;
    if (is_before) {
        pair->first  = step.model;
        pair->second = model;
    }
    memcpy(pair->connections, step.connections, sizeof pair->connections);
    pair->options.connections   = pair->connections;
    pair->options.n_connections = step.n_connections;
    return status;
}

/* Builds the model after the first n joins. */
static cq_status build(cq_onnx_model **out, size_t n)
{
    join_pair pair;
    cq_status status;

    if (n == 0)
        return cli_load_onnx(out, plan.files[0]);
    status = make_pair(&pair, n - 1);
    if (status == CQ_OK) {
        plan.has_external |= cq_onnx_model_has_external_data(pair.first) ||
                             cq_onnx_model_has_external_data(pair.second);
        status      = cq_onnx_model_join(pair.first, pair.second, &pair.options);
        pair.second = NULL;
    }
    if (status == CQ_OK) {
        *out       = pair.first;
        pair.first = NULL;
    }
    pair_free(&pair);
    return status;
}

static cq_status prove(const cli_edit *e, cq_proof *proof)
{
    cq_proof  one;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < n_joins() && status == CQ_OK; i++) {
        cq_onnx_model *joined = NULL;
        join_pair      pair;

        status = make_pair(&pair, i);
        if (status == CQ_OK)
            status = build(&joined, i + 1);
        if (status == CQ_OK)
            status =
                cq_onnx_prove_join(&one, pair.first, pair.second, joined, &pair.options, &e->proof);
        if (status == CQ_OK && (i == 0 || one.largest > proof->largest || !one.n_runs))
            *proof = one;
        cq_onnx_model_free(joined);
        pair_free(&pair);
    }
    return status;
}

/* ---- the command ---- */

static int read_connections(const cli_args *args)
{
    const char *text;
    size_t      at = 0, used = 0;

    while ((text = cli_next_value(args, "connect", &at))) {
        const size_t len = strlen(text) + 1;
        char        *copy, *equals;

        if (plan.n_connections == MAX_CONNECTIONS || used + len > sizeof plan.names)
            return cli_misuse(args->verb, "--connect is given more than %d times", MAX_CONNECTIONS);
        copy   = memcpy(plan.names + used, text, len);
        equals = strchr(copy, '=');
        if (!equals || equals == copy || !equals[1])
            return cli_misuse(args->verb, "--connect expects OUT=IN, got '%s'", text);
        *equals = '\0';
        used += len;
        plan.connections[plan.n_connections++] = (cq_connection){ copy, equals + 1 };
    }
    return CLI_DONE;
}

static int read_steps(const cli_args *args, const char *option, const char **steps, size_t *n)
{
    const char *text;
    size_t      at = 0;

    while ((text = cli_next_value(args, option, &at))) {
        if (*n == MAX_JOINS)
            return cli_misuse(args->verb, "--%s is given more than %d times", option, MAX_JOINS);
        steps[(*n)++] = text;
    }
    return CLI_DONE;
}

static int run(const cli_args *args)
{
    static cli_edit edit;
    int             code;

    plan.files[0] = args->operands[0];
    plan.files[1] = args->n_operands > 1 ? args->operands[1] : NULL;
    CLI_TRY(read_connections(args));
    CLI_TRY(read_steps(args, "before", plan.before, &plan.n_before));
    CLI_TRY(read_steps(args, "after", plan.after, &plan.n_after));
    if (!n_joins())
        return cli_misuse(args->verb, "expected two models, or --before or --after");
    if (plan.n_connections && !plan.files[1])
        return cli_misuse(args->verb, "--connect requires two models");
    if (plan.files[1])
        CLI_TRY(cli_need_onnx(plan.files[1]));
    CLI_TRY(cli_edit_open(&edit, args));
    edit.prove = prove;
    cli_edit_share_beside(&edit, args);
    cq_onnx_model_free(edit.after);
    edit.after = NULL;
    code       = cli_result(build(&edit.after, n_joins()));
    if (plan.has_external)
        edit.save.flags |= CQ_ONNX_SAVE_EXTERNAL;
    if (code == CLI_DONE)
        snprintf(edit.detail, sizeof edit.detail, "%zu node%s", cq_onnx_model_n_nodes(edit.after),
                 cq_onnx_model_n_nodes(edit.after) == 1 ? "" : "s");
    return cli_edit_close(&edit, args, "joined", code);
}

static const cli_option options[] = {
    CLI_EDIT_OPTIONS,
    CLI_COPY_OPTIONS,
    { "connect", "OUT=IN", "an output of the first model to an input of the second; repeatable",
      0 },
    { "before", "STEP", "pre-processing: image[:mean=…:std=…:layout=NHWC]; repeatable", 0 },
    { "after", "STEP", "post-processing: softmax, argmax, topk:5, nms:iou=0.5; repeatable", 0 },
    { 0 },
};

const cli_verb cli_verb_join = {
    .name     = "join",
    .operands = "FILE [FILE] -o OUT",
    .summary  = "connect two ONNX models, or add pre- and post-processing",
    .about =
        "Connects outputs of the first ONNX model to inputs of the second one; without\n"
        "--connect, the only output to the only input. Names that collide get a number.\n"
        "Weights are streamed. Steps around a model, in plain operators of its opset:\n"
        "  --before image[:input=NAME][:layout=NHWC|NCHW][:mean=a,b,c][:std=a,b,c][:scale=255]\n"
        "      bytes of an image to (x / scale - mean) / std\n"
        "  --after softmax[:axis=-1], argmax[:axis=-1], topk:K[:axis=-1]; [:output=NAME]\n"
        "  --after nms[:iou=0.5][:score=0.25][:max=100][:boxes=NAME][:scores=NAME]\n"
        "             [:boxformat=corners|center]\n"
        "      boxes, scores, classes and image numbers of all that is kept\n"
        "The models are run one after the other, and compared with the joined one.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 2,
    .n_read       = 2,
    .run          = run,
};
