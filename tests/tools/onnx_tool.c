/* The ONNX side of the library as a program, for tests/peer/onnx_files.py. It reads one
 * command a line on standard input, so that a thousand files need no thousand processes:
 *
 *     print FILE OUT        roundtrip IN OUT        external IN OUT
 *     check FILE OUT        tensor IN OUT           sequence IN OUT      optional IN OUT
 *
 * and answers each by a line, "ok" or the error. File names hold no spaces. */
#include "onnx/file/value_file.h"

#include <calque/onnx.h>

#include <stdio.h>
#include <string.h>

static cq_status write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    int   bad  = !file || fputs(text, file) < 0;

    if (file && fclose(file) != 0)
        bad = 1;
    return bad ? CQ_E_IO : CQ_OK;
}

static cq_status print(const cq_onnx_model *model, const char *out)
{
    char     *text;
    cq_status status = cq_onnx_model_print(&text, model);

    if (status == CQ_OK)
        status = write_text(out, text);
    cq_buffer_free(text);
    return status;
}

/* A finding a line: CODE: where: what. */
static cq_status check(const cq_onnx_model *model, const char *out)
{
    FILE             *file = fopen(out, "wb");
    cq_onnx_findings *findings;
    cq_status         status = cq_onnx_model_check(&findings, model);

    for (size_t i = 0; file && status == CQ_OK && i < cq_onnx_findings_count(findings); i++) {
        const cq_onnx_finding *f = cq_onnx_findings_at(findings, i);

        fprintf(file, "%s%s: %s: %s\n", f->is_warning ? "warning " : "", f->code, f->where,
                f->what);
    }
    if (status == CQ_OK)
        cq_onnx_findings_free(findings);
    return file && fclose(file) == 0 ? status : CQ_E_IO;
}

static cq_status save(const cq_onnx_model *model, const char *out, uint32_t flags)
{
    cq_onnx_save_options opts;

    cq_onnx_save_options_init(&opts);
    opts.flags     = flags;
    opts.threshold = 1;
    return cq_onnx_model_save(model, out, &opts);
}

static cq_status on_model(const char *command, const char *in, const char *out)
{
    cq_onnx_model *model;
    cq_status      status = cq_onnx_model_load(&model, in);

    if (status != CQ_OK)
        return status;
    if (strcmp(command, "print") == 0)
        status = print(model, out);
    else if (strcmp(command, "check") == 0)
        status = check(model, out);
    else
        status =
            save(model, out,
                 strcmp(command, "external") == 0 ? CQ_ONNX_SAVE_EXTERNAL : CQ_ONNX_SAVE_AS_IS);
    cq_onnx_model_free(model);
    return status;
}

static cq_status on_tensor(const char *in, const char *out)
{
    cq_tensor *t;
    cq_status  status = cq_tensor_load_pb(&t, in);

    if (status == CQ_OK)
        status = cq_tensor_save_pb(t, out, NULL);
    cq_tensor_release(t);
    return status;
}

static cq_status on_value(const char *command, const char *in, const char *out)
{
    cq_onnx_element_type element = { 0 };
    cq_onnx_type         type    = { 0 };
    cq_status            status;
    cq_val               v;

    if (strcmp(command, "sequence") == 0)
        type.sequence_type = &element;
    else
        type.optional_type = &element;
    status = cq_onnx_value_load(&v, in, &type);
    if (status == CQ_OK)
        status = cq_onnx_value_save(v, out, NULL, &type);
    cq_val_release(v);
    return status;
}

static cq_status obey(const char *command, const char *in, const char *out)
{
    if (strcmp(command, "tensor") == 0)
        return on_tensor(in, out);
    if (strcmp(command, "sequence") == 0 || strcmp(command, "optional") == 0)
        return on_value(command, in, out);
    return on_model(command, in, out);
}

int main(void)
{
    char line[4096], command[16], in[2048], out[2048];

    while (fgets(line, sizeof line, stdin)) {
        cq_status status;

        if (sscanf(line, "%15s %2047s %2047s", command, in, out) != 3)
            return 2;
        status = obey(command, in, out);
        if (status == CQ_OK)
            puts("ok");
        else
            printf("%s: %s (%s)\n", cq_status_name(status), cq_last_error()->message,
                   cq_last_error()->where);
        fflush(stdout);
    }
    return 0;
}
