/* Reads, proves and writes models for the verbs that change an ONNX model. */
#include "edit.h"

#include "load.h"
#include "model.h"

#include <stdio.h>
#include <string.h>

int cli_edit_open(cli_edit *e, const cli_args *args)
{
    *e = (cli_edit){ 0 };
    if (!cli_value(args, "output"))
        return cli_misuse(args->verb, "-o OUT is missing: the file to write");
    CLI_TRY(cli_need_onnx(args->operands[0]));
    cq_proof_options_init(&e->proof);
    cq_onnx_save_options_init(&e->save);
    e->is_verified   = !cli_has(args, "no-verify");
    e->proof.example = cli_value(args, "example");
    e->save.flags |= cli_has(args, "share-data") ? CQ_ONNX_SAVE_SHARE_DATA : 0;
    e->proof.flags |= cli_has(args, "verify") ? CQ_PROOF_FORCE : 0;
    CLI_TRY(cli_result(cli_load_onnx(&e->after, args->operands[0])));
    if (cq_onnx_model_has_external_data(e->after))
        e->save.flags |= CQ_ONNX_SAVE_EXTERNAL;
    if (!e->is_verified)
        return CLI_DONE;
    return cli_result(
        cq_onnx_model_load_as(&e->before, args->operands[0], cq_onnx_form_of(args->operands[0])));
}

void cli_edit_share_beside(cli_edit *e, const cli_args *args)
{
    if (!cli_has(args, "copy-data"))
        e->save.flags |= CQ_ONNX_SAVE_SHARE_BESIDE;
}

/* Formats "largest difference 1.2e-06, ", or the reason why nothing was compared. */
static void describe(char *out, size_t size, const cli_edit *e, const cq_proof *proof)
{
    if (!e->is_verified)
        snprintf(out, size, "not verified");
    else if (proof->n_runs)
        snprintf(out, size, "largest difference %.2g%s%s", proof->largest,
                 *proof->sizes ? ", " : "", proof->sizes);
    else
        snprintf(out, size, "not verified: %.250s%s%.200s", proof->skipped,
                 *proof->sizes ? ", " : "", proof->sizes);
}

static int prove(cli_edit *e, const cli_args *args, cq_proof *proof)
{
    bool sorted;

    *proof = (cq_proof){ 0 };
    if (!e->is_verified)
        return CLI_DONE;
    CLI_TRY(cli_result(cq_onnx_model_sort(&sorted, e->before)));
    e->proof.what = args->verb->name;
    return cli_result(e->prove ? e->prove(e, proof)
                               : cq_onnx_prove(proof, e->before, e->after, &e->proof));
}

static int write_model(cli_edit *e, const cli_args *args)
{
    const char *to = cli_value(args, "output");

    if (cq_onnx_form_of(to) != CQ_ONNX_FORM_BINARY)
        return cli_result(cq_onnx_model_save_as(e->after, to, cq_onnx_form_of(to), NULL));
    return cli_result(cli_save_model(e->after, to, &e->save));
}

int cli_edit_close(cli_edit *e, const cli_args *args, const char *done, int code)
{
    const size_t n_after  = e->after ? cq_onnx_model_n_nodes(e->after) : 0;
    const size_t n_before = e->before ? cq_onnx_model_n_nodes(e->before) : n_after;
    cq_proof     proof;
    char         nodes[64], compared[512];

    if (code == CLI_DONE)
        code = prove(e, args, &proof);
    if (code == CLI_DONE)
        code = write_model(e, args);
    if (code == CLI_DONE && !args->quiet) {
        describe(compared, sizeof compared, e, &proof);
        snprintf(nodes, sizeof nodes, "%zu -> %zu nodes", n_before, n_after);
        fprintf(stderr, "%s ", done);
        cli_put_path(stderr, cli_path_name(args->operands[0]));
        fprintf(stderr, ": %s, ", *e->detail ? e->detail : nodes);
        cli_put_text(stderr, compared);
        fprintf(stderr, ", %.2f s\n", cli_elapsed());
    }
    cq_onnx_model_free(e->before);
    cq_onnx_model_free(e->after);
    return code;
}
