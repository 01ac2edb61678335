/* calque print: prints the contents of a file as text, and parses text back into a file. */
#include "applies.h"
#include "cli.h"
#include "example.h"
#include "export_options.h"
#include "json.h"
#include "load.h"
#include "model.h"
#include "show.h"

#include <calque/system.h>
#include <calque/session.h>

#include <stdio.h>
#include <string.h>

#define PATH_SIZE 4096

/* Escapes control characters for a terminal; a file given with -o gets the strings unchanged. */
static bool show(void *file, const char *text, size_t size)
{
    cli_put_lines(file, text, size);
    return !ferror(file);
}

static cq_status put_model(const cq_onnx_model *model, bool as_text, const char *path)
{
    char     *text = NULL;
    cq_status status;

    if (as_text)
        return path ? cq_onnx_model_save_text(model, path)
                    : cq_onnx_model_write_text(model, show, stdout);
    status = cq_onnx_model_print(&text, model);
    if (status == CQ_OK && path) {
        const size_t len = strlen(text);

        text[len] = '\n'; /* replaces the terminating zero */
        status    = cq_buffer_save(path, text, len + 1);
    } else if (status == CQ_OK) {
        printf("%s\n", text);
    }
    cq_buffer_free(text);
    return status;
}

/* References to external data are kept in the text. */
static int save_as_is(const char *path, const cq_onnx_model *model)
{
    cq_onnx_save_options options;

    cq_onnx_save_options_init(&options);
    options.flags = CQ_ONNX_SAVE_AS_IS;
    return cli_result(cq_onnx_model_save(model, path, &options));
}

static int print_model(const cli_args *args)
{
    bool           parse = cli_has(args, "parse"), text = cli_has(args, "text");
    const char    *from = args->operands[0], *to = cli_value(args, "output");
    cq_onnx_model *model = NULL;
    int            code;

    if (to)
        CLI_TRY(cli_keep_inputs(args, to));
    code = cli_result(parse ? cq_onnx_model_load_text(&model, from) : cli_load_onnx(&model, from));
    if (code == CLI_DONE && !to)
        code = cli_result(put_model(model, text, NULL));
    else if (code == CLI_DONE && parse && !text)
        code = save_as_is(to, model);
    else if (code == CLI_DONE)
        code = cli_result(put_model(model, text, to));
    cq_onnx_model_free(model);
    return code;
}

static void show_value(const cq_onnx_value *value)
{
    size_t n = cq_onnx_value_count(value);

    switch (cq_onnx_value_kind(value)) {
    case CQ_ONNX_VALUE_NONE: puts("an empty optional"); break;
    case CQ_ONNX_VALUE_TENSOR: cli_show_tensor(cq_onnx_value_tensor(value)); break;
    case CQ_ONNX_VALUE_STRINGS: cli_show_strings(value, true); break;
    case CQ_ONNX_VALUE_SEQUENCE: printf("a sequence of %zu\n", n); break;
    case CQ_ONNX_VALUE_MAP: puts("a map: keys and values"); break;
    }
    for (size_t i = 0; cq_onnx_value_kind(value) >= CQ_ONNX_VALUE_SEQUENCE && i < n; i++) {
        cq_onnx_value *item;

        if (cq_onnx_value_item(&item, value, i) != CQ_OK)
            return;
        show_value(item);
        cq_onnx_value_release(item);
    }
}

/* Loads a value whose type is not in its file, but in the corresponding input or output of a model.
 * For test data such as DIR/test_data_set_0/input_0.pb the model is DIR/model.onnx. */
static cq_status load_beside_model(cq_onnx_value **out, const char *path)
{
    const char    *name = cq_path_separator(path);
    char           model_path[PATH_SIZE];
    cq_onnx_model *model = NULL;
    bool           is_input;
    size_t         index;
    cq_status      status;
    int            n = 0;

    *out     = NULL;
    name     = name ? name + 1 : path;
    is_input = !strncmp(name, "input_", 6);
    if (sscanf(name, is_input ? "input_%zu.pb%n" : "output_%zu.pb%n", &index, &n) != 1 || !n ||
        name[n] || (size_t)(name - path) + 16 > sizeof model_path)
        return CQ_E_NOT_FOUND;
    snprintf(model_path, sizeof model_path, "%.*s../model.onnx", (int)(name - path), path);
    status = cq_onnx_model_load(&model, model_path);
    if (status == CQ_OK)
        status = cq_onnx_value_load_for(out, path, model,
                                        is_input ? CQ_ONNX_INPUTS : CQ_ONNX_OUTPUTS, index);
    cq_onnx_model_free(model);
    return status;
}

/* Without a model, tries each type; an optional is read as a sequence of one item. */
static cq_status load_as(cq_onnx_value **out, const char *path, const char *type)
{
    char           text[128];
    cq_onnx_model *model = NULL;
    cq_status      status;

    *out = NULL;
    snprintf(text, sizeof text, "g (%s x) => () {}", type);
    status = cq_onnx_model_parse(&model, text, strlen(text), NULL);
    if (status == CQ_OK)
        status = cq_onnx_value_load_for(out, path, model, CQ_ONNX_INPUTS, 0);
    cq_onnx_model_free(model);
    return status;
}

static int print_value(const char *path)
{
    cq_onnx_value *value  = NULL;
    cq_status      status = load_beside_model(&value, path);

    if (status != CQ_OK)
        status = load_as(&value, path, "float[]");
    if (status != CQ_OK) { /* if it is not a tensor either, that error is reported */
        status = load_as(&value, path, "seq(float[])");
        if (status != CQ_OK || !cq_onnx_value_count(value)) {
            cq_onnx_value_release(value);
            status = load_as(&value, path, "float[]");
        }
    }
    if (status == CQ_OK)
        show_value(value);
    cq_onnx_value_release(value);
    return cli_result(status);
}

static int print_tensor(const char *path)
{
    cq_tensor *tensor = NULL;

    if (cli_ends_with(path, ".pb"))
        return print_value(path);
    if (cli_load_tensor(&tensor, path) != CQ_OK)
        return cli_fail();
    cli_show_tensor(tensor);
    cq_tensor_release(tensor);
    return CLI_DONE;
}

/* Prints the graph captured from a program or a built-in model, before the conversion to ONNX. */
static int print_captured(const cli_args *args, cli_model *model, cli_example *example)
{
    cq_export_options options;
    cq_onnx_model    *onnx = NULL;
    int               code;

    (void)args;
    cq_export_options_init(&options);
    options.flags |= CQ_EXPORT_PRINT_CAPTURED;
    options.print = cli_print_text;
    code          = cli_result_of_model(
                 model, model->front_end->export_to(&onnx, model, example->tensors, example->n, &options));
    cq_onnx_model_free(onnx);
    return code;
}

/* Whether the path is a script, an archive or a built-in model. */
static bool is_program(const char *path)
{
    return cli_model_is_built_in(path) || cli_model_is_archive(path) || cli_model_is_text(path);
}

/* Standard input has no file name: bytes that are neither a program nor a model are read as a
 * tensor. */
static bool is_tensor(const char *path)
{
    cq_onnx_model *model = NULL;
    bool           is_model;

    if (!cli_is_stdin(path) || cli_is_npy(path))
        return cli_is_tensor_file(path);
    is_model = is_program(path) || (cq_onnx_model_load(&model, path) == CQ_OK &&
                                    cq_onnx_model_n_values(model, CQ_ONNX_OUTPUTS) > 0);
    cq_onnx_model_free(model);
    return !is_model;
}

static int run(const cli_args *args)
{
    const char *path = args->operands[0], *to = cli_value(args, "output");
    bool        parse   = cli_has(args, "parse");
    bool        tensor  = !parse && is_tensor(path);
    bool        program = !parse && is_program(path);

    if ((tensor || program) && (cli_has(args, "text") || (to && !cli_is_stdout(to))))
        return cli_misuse(args->verb, "--text and -o are for ONNX models, and %s is a %s", path,
                          tensor ? "tensor" : "program");
    if (!program)
        CLI_TRY(cli_check_kind(args, tensor || parse ? CLI_KIND_OTHER : CLI_KIND_ONNX));
    if (!program && !tensor && !parse && (cli_has(args, "input") || cli_has(args, "example")))
        return cli_misuse(args->verb,
                          "--input and --example are for programs, but %s is an ONNX "
                          "model",
                          path);
    return tensor    ? print_tensor(path)
           : program ? cli_with_example(args, NULL, print_captured)
                     : print_model(args);
}

static const cli_option options[] = {
    { "text", NULL, "the complete model in ONNX's text syntax", 0 },
    { "parse", NULL, "FILE is such a text; with -o OUT.onnx it is written as a model", 0 },
    { "output", "OUT", "the file to write, instead of standard output", 'o' },
    CLI_EXAMPLE_OPTIONS,
    CLI_LIMIT_OPTIONS,
    { 0 },
};

const cli_verb cli_verb_print = {
    .name     = "print",
    .operands = "FILE",
    .summary  = "print the contents of a file: an ONNX model, a tensor, a graph",
    .about =
        "Prints FILE. For an ONNX model it is the listing of onnx.helper.printable_graph, or\n"
        "with --text ONNX's text syntax; for a tensor (.pb, .npy) its type, shape and values.\n"
        "Fields that the text syntax cannot express are in comments, which --parse reads:\n"
        "printing and parsing gives the same model. For programs and built-in models it is the\n"
        "graph captured with the example inputs.",
    .options      = options,
    .min_operands = 1,
    .max_operands = 1,
    .n_read       = 1,
    .run          = run,
};
