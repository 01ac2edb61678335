/* --dynamic-axes: the dict of torch.onnx.export as JSON. For each input or output it has an object
 * from axes to names, {"0": "batch"}, or a list of axes whose names are generated, [0, 2]. */
#include "export_options.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int bad(const cli_args *args, const char *value, const char *why)
{
    return cli_misuse(args->verb, "--dynamic-axes: \"%s\" %s", value, why);
}

/* input_1 refers to the second input, whatever its name is, unless a value has the name input_1. */
static const char *name_of(const cli_export *e, const char *value)
{
    const cq_export_options *o = &e->options;
    size_t                   i;
    int                      end = 0;

    for (i = 0; i < o->n_input_names; i++)
        if (strcmp(e->input_names[i], value) == 0)
            return value;
    for (i = 0; i < o->n_output_names; i++)
        if (strcmp(e->output_names[i], value) == 0)
            return value;
    return sscanf(value, "input_%zu%n", &i, &end) == 1 && !value[end] && i < o->n_input_names
               ? e->input_names[i]
               : value;
}

/* name may be NULL: then it is generated. */
static int add(cli_export *e, const cli_args *args, const char *value, json_int_t axis,
               const char *name)
{
    char *kept_value = cli_export_keep(e, name_of(e, value));
    char *kept_name  = name ? cli_export_keep(e, name) : NULL;

    if (axis < -CQ_MAX_RANK || axis >= CQ_MAX_RANK)
        return bad(args, value, "has an axis that is out of range");
    if (!kept_value || (name && !kept_name) || e->options.n_dynamic_axes == CLI_MAX_AXES)
        return bad(args, value, "has too many axes");
    e->axes[e->options.n_dynamic_axes++] =
        (cq_dynamic_axis){ kept_value, (int32_t)axis, kept_name };
    return CLI_DONE;
}

static int read_list(cli_export *e, const cli_args *args, const char *value, json_t *list)
{
    json_t *axis;
    size_t  i;

    json_array_foreach(list, i, axis)
    {
        if (!json_is_integer(axis))
            return bad(args, value, "has an axis that is not an integer");
        CLI_TRY(add(e, args, value, json_integer_value(axis), NULL));
    }
    return CLI_DONE;
}

static int read_object(cli_export *e, const cli_args *args, const char *value, json_t *names)
{
    const char *key;
    json_t     *name;

    json_object_foreach(names, key, name)
    {
        char     *end;
        long long axis;

        errno = 0;
        axis  = strtoll(key, &end, 10);
        if (end == key || *end || errno)
            return bad(args, value, "has an axis that is not an integer");
        if (!json_is_string(name) || !*json_string_value(name))
            return bad(args, value, "has an axis whose name is not a string");
        CLI_TRY(add(e, args, value, axis, json_string_value(name)));
    }
    return CLI_DONE;
}

static int read_all(cli_export *e, const cli_args *args, json_t *root)
{
    const char *value;
    json_t     *axes;

    if (!json_is_object(root))
        return cli_misuse(args->verb,
                          "--dynamic-axes expects an object, {\"x\": {\"0\": \"batch\"}}");
    json_object_foreach(root, value, axes)
    {
        CLI_TRY(json_is_array(axes)    ? read_list(e, args, value, axes)
                : json_is_object(axes) ? read_object(e, args, value, axes)
                                       : bad(args, value, "expects an object or a list of axes"));
    }
    return CLI_DONE;
}

int cli_export_read_axes(cli_export *e, const cli_args *args)
{
    const char  *text = cli_value(args, "dynamic-axes");
    json_error_t error;
    json_t      *root;
    int          code;

    if (!text)
        return CLI_DONE;
    root = *text == '@' ? json_load_file(text + 1, JSON_REJECT_DUPLICATES, &error)
                        : json_loads(text, JSON_REJECT_DUPLICATES, &error);
    if (!root && error.line < 1)
        return cli_misuse(args->verb, "--dynamic-axes: %s", error.text);
    if (!root)
        return cli_misuse(args->verb, "--dynamic-axes is not JSON at line %d, column %d: %s",
                          error.line, error.column, error.text);
    code = read_all(e, args, root);
    json_decref(root);
    return code;
}

static const char *name_at(const cq_onnx_model *m, size_t i)
{
    const size_t n = cq_onnx_model_n_values(m, CQ_ONNX_INPUTS);

    if (i < n)
        return cq_onnx_model_value_name(m, CQ_ONNX_INPUTS, i);
    return i - n < cq_onnx_model_n_values(m, CQ_ONNX_OUTPUTS)
               ? cq_onnx_model_value_name(m, CQ_ONNX_OUTPUTS, i - n)
               : NULL;
}

static bool is_name(const cli_export *e, const cq_onnx_model *m, const char *value)
{
    const char *name;

    for (size_t i = 0; (name = name_at(m, i)); i++)
        if (strcmp(name, value) == 0)
            return true;
    for (size_t i = 0; i < e->options.n_input_names; i++) /* dropped inputs also count */
        if (strcmp(e->input_names[i], value) == 0)
            return true;
    return false;
}

int cli_export_check_axes(const cli_export *e, const cli_args *args, const cq_onnx_model *m)
{
    char        names[1024] = "";
    const char *name;

    for (size_t i = 0; i < e->options.n_dynamic_axes; i++) {
        if (is_name(e, m, e->axes[i].value))
            continue;
        for (size_t k = 0, n = 0; (name = name_at(m, k)) && n < sizeof names; k++)
            n += (size_t)snprintf(names + n, sizeof names - n, "%s%s", k ? ", " : "", name);
        return cli_misuse(
            args->verb,
            "--dynamic-axes: the model has no input or output '%s'; expected one of: %s",
            e->axes[i].value, names);
    }
    return CLI_DONE;
}
