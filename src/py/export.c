/* Exports and test cases of models of a script, by the calls of <calque/script.h> and
 * <calque/testcase.h>. A model is a module or a function of the script: a program of its own that
 * shares everything with the script's. */
#include "py/py.h"
#include "script/builtins/builtin.h"
#include "script/flow/state.h"

#include <calque/testcase.h>

#include <stdio.h>

/* ---- options ---- */

/* The dict of options; strings are borrowed from it. The first wrong value stays. */
typedef struct reader {
    const cq_dict *dict;
    cq_arena      *arena;
    cq_status      status;
} reader;

static cq_status wrong(reader *r, const char *key)
{
    if (r->status == CQ_OK)
        r->status = cq_fail(CQ_E_TYPE, key, NULL, "unexpected value for argument %s", key);
    return r->status;
}

static cq_val get(const reader *r, const char *key)
{
    const cq_val *v = cq_dict_get_text(r->dict, key);

    return v ? *v : CQ_NONE;
}

static int64_t get_int(reader *r, const char *key, int64_t missing)
{
    const cq_val v = get(r, key);

    if (v.kind == CQ_VAL_NONE)
        return missing;
    if (v.kind == CQ_VAL_BOOL)
        return v.u.b.value;
    return v.kind == CQ_VAL_INT ? v.u.i.value : (wrong(r, key), missing);
}

static const char *text_of(reader *r, const char *key, cq_val v)
{
    if (v.kind == CQ_VAL_STR)
        return v.u.text->text;
    if (v.kind != CQ_VAL_NONE)
        wrong(r, key);
    return NULL;
}

static const char *get_text(reader *r, const char *key)
{
    return text_of(r, key, get(r, key));
}

static const cq_list *get_list(reader *r, const char *key)
{
    static const cq_list empty;
    const cq_val         v = get(r, key);

    if (cq_val_is_list(v))
        return v.u.list;
    if (v.kind != CQ_VAL_NONE)
        wrong(r, key);
    return &empty;
}

static void *array(reader *r, size_t n, size_t size)
{
    void *a = cq_arena_array(r->arena, n ? n : 1, size);

    if (!a)
        r->status = CQ_E_NO_MEMORY;
    return a;
}

static const char *const *get_names(reader *r, const char *key, size_t *n)
{
    const cq_list *list  = get_list(r, key);
    const char   **names = array(r, list->n, sizeof *names);

    *n = names ? list->n : 0;
    for (size_t i = 0; i < *n; i++) {
        names[i] = text_of(r, key, list->items[i]);
        if (!names[i]) {
            wrong(r, key);
            names[i] = "";
        }
    }
    return names;
}

/* Item i of a row of a list of tuples, which has n items. */
static cq_val cell(reader *r, const char *key, cq_val row, size_t i, size_t n)
{
    if (cq_val_is_list(row) && row.u.list->n == n)
        return row.u.list->items[i];
    wrong(r, key);
    return CQ_NONE;
}

static int64_t int_cell(reader *r, const char *key, cq_val row, size_t i, size_t n)
{
    const cq_val v = cell(r, key, row, i, n);

    if (v.kind != CQ_VAL_INT)
        wrong(r, key);
    return v.kind == CQ_VAL_INT ? v.u.i.value : 0;
}

static const char *text_cell(reader *r, const char *key, cq_val row, size_t i, size_t n)
{
    const char *text = text_of(r, key, cell(r, key, row, i, n));

    return text ? text : "";
}

static void read_axes(reader *r, cq_export_options *o)
{
    static const char key[] = "dynamic_axes";
    const cq_list    *list  = get_list(r, key);
    cq_dynamic_axis  *axes  = array(r, list->n, sizeof *axes);

    for (size_t i = 0; axes && i < list->n; i++)
        axes[i] = (cq_dynamic_axis){ text_cell(r, key, list->items[i], 0, 3),
                                     (int32_t)int_cell(r, key, list->items[i], 1, 3),
                                     text_of(r, key, cell(r, key, list->items[i], 2, 3)) };
    o->dynamic_axes   = axes;
    o->n_dynamic_axes = axes ? list->n : 0;
}

static void read_opsets(reader *r, cq_export_options *o)
{
    static const char key[]  = "custom_opsets";
    const cq_list    *list   = get_list(r, key);
    cq_custom_opset  *opsets = array(r, list->n, sizeof *opsets);

    for (size_t i = 0; opsets && i < list->n; i++)
        opsets[i] = (cq_custom_opset){ text_cell(r, key, list->items[i], 0, 2),
                                       int_cell(r, key, list->items[i], 1, 2) };
    o->custom_opsets   = opsets;
    o->n_custom_opsets = opsets ? list->n : 0;
}

static void print_graph(void *user, const char *text)
{
    (void)user;
    fputs(text, stdout);
}

static void read_flags(reader *r, cq_export_options *o)
{
    static const struct {
        const char *key;
        uint32_t    flag;
    } flags[] = {
        { "no_params", CQ_EXPORT_NO_PARAMS },
        { "no_constant_folding", CQ_EXPORT_NO_CONSTANT_FOLDING },
        { "keep_initializers_as_inputs", CQ_EXPORT_KEEP_INITIALIZERS_AS_INPUTS },
        { "no_initializers_as_inputs", CQ_EXPORT_NO_INITIALIZERS_AS_INPUTS },
        { "verbose", CQ_EXPORT_VERBOSE },
        { "external_data", CQ_EXPORT_EXTERNAL_DATA },
        { "all_modules_as_functions", CQ_EXPORT_ALL_MODULES_AS_FUNCTIONS },
        { "no_autograd_inlining", CQ_EXPORT_NO_AUTOGRAD_INLINING },
        { "lists_as_sequences", CQ_EXPORT_LISTS_AS_SEQUENCES },
    };

    o->flags = CQ_EXPORT_DROP_UNREAD_INPUTS | CQ_EXPORT_QUANTIZED_PARTS | CQ_EXPORT_OPTIONAL_INPUTS;
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (get_int(r, flags[i].key, 0))
            o->flags |= flags[i].flag;
}

static cq_status read_options(reader *r, cq_export_options *o)
{
    cq_export_options_init(o);
    o->opset            = (int32_t)get_int(r, "opset", 0);
    o->training         = (cq_training)get_int(r, "training", CQ_TRAINING_EVAL);
    o->operators        = (cq_operator_export_type)get_int(r, "operators", CQ_OPERATORS_ONNX);
    o->annotations      = (cq_annotations)get_int(r, "annotations", CQ_ANNOTATIONS_ATTRIBUTE);
    o->input_names      = get_names(r, "input_names", &o->n_input_names);
    o->output_names     = get_names(r, "output_names", &o->n_output_names);
    o->function_classes = get_names(r, "function_classes", &o->n_function_classes);
    o->print            = print_graph;
    read_axes(r, o);
    read_opsets(r, o);
    read_flags(r, o);
    return r->status;
}

/* ---- the model ---- */

typedef struct model {
    cq_script script; /* the program of the script, with the model as its root */
    cq_args   args;
    uint32_t  flags; /* CQ_SCRIPT_* */
    reader    options;
} model;

/* (model, args, kwargs, options, …) of a call. */
static cq_status open_model(model *m, const cq_py_call *c)
{
    *m = (model){ .script  = { .program = c->py->script->program, .root = c->args[0] },
                  .options = { .dict = c->args[3].u.dict, .arena = cq_arena_new() } };
    if (!m->options.arena)
        return CQ_E_NO_MEMORY;
    if (get(&m->options, "program").kind != CQ_VAL_NONE) {
        const cq_script *loaded = cq_py_loaded(c->py, get_int(&m->options, "program", -1));

        if (!loaded)
            return wrong(&m->options, "program");
        m->script       = *loaded;
        m->script.state = NULL; /* of this export alone */
    }
    m->args  = (cq_args){ .positional = c->args[1].u.list, .keywords = c->args[2].u.dict };
    m->flags = get_int(&m->options, "trace", 0) ? CQ_SCRIPT_TRACE : 0;
    if (!m->script.program->python)
        return CQ_OK; /* of an archive */
    if (!cq_python_is_module(c->args[0]) && !cq_object_as(c->args[0], CQ_OBJECT_FUNCTION) &&
        !cq_python_has_special(c->ev, c->args[0], "__call__"))
        return cq_python_raise(c->ev, "TypeError", "expected a module or a function, got %s",
                               cq_eval_type_name(c->args[0]));
    return cq_python_name_modules(&m->script);
}

static void close_model(model *m)
{
    cq_script_state_free(m->script.state);
    cq_arena_free(m->options.arena);
}

/* ---- exports ---- */

static cq_status as_bytes(cq_py_call *c, const cq_onnx_model *onnx)
{
    void     *data;
    size_t    size;
    cq_status status;

    CQ_TRY(cq_onnx_model_encode(&data, &size, onnx));
    status = cq_py_bytes(c->ev, data, size, &c->result);
    cq_buffer_free(data);
    return status;
}

static cq_status save(cq_py_call *c, reader *r, cq_onnx_model *onnx, const char *path)
{
    const int64_t        threshold = get_int(r, "strip", -1);
    cq_onnx_save_options save;
    cq_strip_options     strip;

    cq_onnx_save_options_init(&save);
    if (get_int(r, "external_data", 0))
        save.flags |= CQ_ONNX_SAVE_EXTERNAL;
    if (threshold >= 0) {
        cq_strip_options_init(&strip);
        strip.threshold = threshold;
        CQ_TRY(cq_onnx_model_strip(onnx, &strip));
        save.flags = CQ_ONNX_SAVE_AS_IS;
    }
    return path ? cq_onnx_model_save(onnx, path, &save) : as_bytes(c, onnx);
}

/* export(model, args, kwargs, options, path): None, or without a path the file as a tensor. */
static cq_status export_model(cq_py_call *c)
{
    const char       *path = c->args[4].kind == CQ_VAL_STR ? c->args[4].u.text->text : NULL;
    cq_onnx_model    *onnx = NULL;
    cq_export_options options;
    model             m;
    cq_status         status;

    if (path)
        CQ_TRY(cq_py_may_write(c->py, path));
    CQ_TRY_OR_DONE(open_model(&m, c));
    CQ_TRY_OR_DONE(read_options(&m.options, &options));
    CQ_TRY_OR_DONE(cq_script_export(&onnx, &m.script, NULL, &m.args, m.flags, &options));
    CQ_TRY_OR_DONE(save(c, &m.options, onnx, path));
done:
    cq_onnx_model_free(onnx);
    close_model(&m);
    return status;
}

/* ---- test cases ---- */

static cq_status export_to(cq_onnx_model **out, void *user, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options)
{
    model *m = user;

    (void)inputs, (void)n_inputs; /* they are the arguments */
    return cq_script_export(out, &m->script, NULL, &m->args, m->flags, options);
}

static cq_status run(void *user, cq_tensor *const *inputs, size_t n_inputs,
                     const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    model *m = user;

    (void)inputs, (void)n_inputs;
    return cq_script_run_as(&m->script, NULL, &m->args, options, outputs, CQ_TESTCASE_MAX_OUTPUTS,
                            n_outputs);
}

static cq_status read_testcase(reader *r, cq_testcase_options *t, const cq_list *gradients)
{
    cq_tensor **seeds = array(r, gradients->n, sizeof *seeds);

    cq_testcase_options_init(t);
    t->flags = (get_int(r, "no_metadata", 0) ? CQ_TESTCASE_NO_METADATA : 0) |
               (get_int(r, "keep_model", 0) ? CQ_TESTCASE_KEEP_MODEL : 0) |
               (get_int(r, "gradients", 0) ? CQ_TESTCASE_GRADIENTS : 0) |
               (get_int(r, "chrome_tracing", 0) ? CQ_TESTCASE_TRACE : 0);
    if (get_int(r, "strip", -1) >= 0) {
        t->flags |= CQ_TESTCASE_STRIP;
        t->threshold = get_int(r, "strip", 0);
    }
    t->user_meta = get_text(r, "user_meta");
    for (size_t i = 0; seeds && i < gradients->n; i++) {
        if (gradients->items[i].kind != CQ_VAL_TENSOR && gradients->items[i].kind != CQ_VAL_NONE)
            return wrong(r, "output_grad");
        seeds[i] = gradients->items[i].kind == CQ_VAL_TENSOR ? gradients->items[i].u.tensor : NULL;
    }
    t->output_gradients   = seeds;
    t->n_output_gradients = seeds ? gradients->n : 0;
    return r->status;
}

static cq_status write_testcase(model *m, const char *folder, const cq_testcase_options *options)
{
    const cq_testcase_source source = { m, export_to, run };
    const size_t             n      = cq_args_n_inputs(&m->args);
    cq_tensor              **inputs = cq_alloc_array(n + 1, sizeof *inputs);
    cq_status                status;

    if (!inputs)
        return CQ_E_NO_MEMORY;
    memset(inputs, 0, (n + 1) * sizeof *inputs);
    status = cq_args_inputs(&m->args, inputs, n);
    if (status == CQ_OK)
        status = cq_testcase_write(folder, &source, inputs, n, options);
    for (size_t i = 0; i < n; i++)
        cq_tensor_release(inputs[i]);
    cq_free(inputs);
    return status;
}

/* testcase(model, args, kwargs, options, folder) */
static cq_status testcase(cq_py_call *c)
{
    const char         *folder = c->args[4].u.text->text;
    cq_export_options   options;
    cq_testcase_options t;
    model               m;
    cq_status           status;

    CQ_TRY(cq_py_may_write(c->py, folder));
    CQ_TRY_OR_DONE(open_model(&m, c));
    CQ_TRY_OR_DONE(read_options(&m.options, &options));
    CQ_TRY_OR_DONE(read_testcase(&m.options, &t, get_list(&m.options, "output_grad")));
    t.export_options = &options;
    CQ_TRY_OR_DONE(write_testcase(&m, folder, &t));
done:
    close_model(&m);
    return status;
}

const cq_py_function cq_py_export_functions[] = {
    { "torch.onnx.export", ".ldd.", export_model },
    { "export_testcase", ".ldds", testcase },
    { 0 },
};
