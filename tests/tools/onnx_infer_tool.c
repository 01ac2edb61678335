/* Schemas and inference as a program, for tests/peer/onnx_schemas.py and onnx_infer.py. It
 * reads one command a line on standard input:
 *
 *     infer IN OUT      strict IN OUT      schemas - OUT      node IN OUT
 *
 * and answers each by a line, "ok" or the error. File names hold no spaces. */
#include "onnx/model.h"
#include "onnx/schema.h"

#include <stdio.h>
#include <string.h>

static cq_status infer(const char *in, const char *out, uint32_t flags)
{
    cq_onnx_save_options opts;
    cq_onnx_model       *model;
    cq_status            status = cq_onnx_model_load(&model, in);

    if (status != CQ_OK)
        return status;
    cq_onnx_save_options_init(&opts);
    opts.flags = CQ_ONNX_SAVE_AS_IS;
    status     = cq_onnx_model_infer(model, flags);
    if (status == CQ_OK)
        status = cq_onnx_model_save(model, out, &opts);
    cq_onnx_model_free(model);
    return status;
}

/* Every node of the main graph against its schema. */
static cq_status check_nodes(const char *in)
{
    cq_onnx_model *model;
    cq_status      status = cq_onnx_model_load(&model, in);

    if (status != CQ_OK)
        return status;
    for (uint32_t i = 0; status == CQ_OK && i < model->graph->node.n; i++) {
        const cq_onnx_node *node = model->graph->node.items[i];

        status = cq_onnx_schema_check(node, cq_onnx_imported(&model->opset_import, node->domain));
    }
    cq_onnx_model_free(model);
    return status;
}

static void dump_parameters(FILE *file, const char *what, const cq_onnx_parameter *list, size_t n)
{
    static const char *const arities[] = { "single", "optional", "variadic", "mixed" };

    for (size_t i = 0; i < n; i++) {
        cq_str types = { 0 };

        cq_onnx_types_print(&types, &list[i].types);
        fprintf(file, "%s\t%s\t%s\t%d\t%s\t%s\n", what, list[i].name, arities[list[i].arity],
                list[i].constraint, list[i].constraint >= 0 ? list[i].type : "",
                cq_str_text(&types));
        cq_str_clear(&types);
    }
}

static void dump_schema(FILE *file, const cq_onnx_schema *s)
{
    fprintf(file, "schema\t%s\t%s\t%d\t%d\t%d\t%zu\t%zu\t%zu\t%zu\n", s->domain, s->name, s->since,
            s->is_deprecated, s->is_function, s->min_inputs, s->max_inputs, s->min_outputs,
            s->max_outputs);
    dump_parameters(file, "input", s->inputs, s->n_inputs);
    dump_parameters(file, "output", s->outputs, s->n_outputs);
    for (size_t i = 0; i < s->n_attributes; i++) {
        const cq_onnx_schema_attribute *a = &s->attributes[i];

        fprintf(file, "attribute\t%s\t%d\t%d\t%s%s\n", a->name, (int)a->type, a->is_required,
                a->fallback ? "=" : "", a->fallback ? a->fallback : "");
    }
    for (size_t i = 0; i < s->n_constraints; i++) {
        cq_str types = { 0 };

        cq_onnx_types_print(&types, &s->constraints[i].types);
        fprintf(file, "constraint\t%s\t%s\n", s->constraints[i].name, cq_str_text(&types));
        cq_str_clear(&types);
    }
}

static cq_status dump_schemas(const char *out)
{
    FILE                 *file   = fopen(out, "w");
    const cq_onnx_schema *schema = NULL;
    cq_status             status = CQ_E_IO;

    for (size_t i = 0; file && (status = cq_onnx_schema_at(&schema, i)) == CQ_OK; i++)
        dump_schema(file, schema);
    if (!file || fclose(file) != 0)
        return CQ_E_IO;
    return status == CQ_E_NOT_FOUND ? CQ_OK : status;
}

static cq_status run(const char *command, const char *in, const char *out)
{
    if (!strcmp(command, "infer"))
        return infer(in, out, 0);
    if (!strcmp(command, "strict"))
        return infer(in, out, CQ_ONNX_INFER_STRICT | CQ_ONNX_INFER_CHECK_TYPES);
    if (!strcmp(command, "node"))
        return check_nodes(in);
    return dump_schemas(out);
}

int main(void)
{
    char line[4096], command[16], in[2048], out[2048];

    while (fgets(line, sizeof line, stdin)) {
        if (sscanf(line, "%15s %2047s %2047s", command, in, out) != 3)
            return 2;
        if (run(command, in, out) == CQ_OK)
            puts("ok");
        else
            printf("error: %s (%s)\n", cq_last_error()->message, cq_last_error()->where);
        fflush(stdout);
    }
    return 0;
}
