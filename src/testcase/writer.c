/* Writes test cases. Everything is computed before the first file is written, and all files are
 * renamed together: a failure leaves the old ones. */
#include "base/sized.h"
#include "base/path.h"
#include "base/str.h"
#include "base/warn.h"
#include "testcase/folder.h"
#include "testcase/meta.h"
#include "testcase/strip.h"
#include "testcase/trace.h"

#include <stdio.h>
#include <string.h>

enum {
    STEPS     = 3, /* of a model with state: a set of data each */
    MAX_TRIES = 4  /* when another program creates the folder meanwhile */
};

/* A run: the initial state of the model, and its outputs. */
typedef struct data_set {
    cq_tensor **states; /* as many as the model has */
    cq_tensor  *outputs[CQ_TESTCASE_MAX_OUTPUTS];
    size_t      n_outputs;
} data_set;

typedef struct writer {
    const char                *folder;
    const char                *at; /* where its files are written until all of them are complete */
    size_t                     next_set; /* where the search for a number begins */
    const cq_testcase_options *options;
    cq_export_options          export_options; /* with a name for every input */
    char (*names)[32];                         /* generated names */
    const char      **input_names;
    cq_tensor *const *inputs;
    size_t            n_inputs;
    cq_onnx_model    *model;
    data_set         *sets;
    size_t            n_sets, n_states;
    cq_gradients     *gradients; /* NULL: none are wanted */
    cq_trace          trace;
} writer;

CQ_API void cq_testcase_options_init(cq_testcase_options *options)
{
    CQ_NEED_ELSE(options, );
    *options =
        (cq_testcase_options){ .struct_size = sizeof *options, .threshold = CQ_STRIP_THRESHOLD };
}

static bool wants(const writer *w, uint32_t flag)
{
    return w->options->flags & flag;
}

static void writer_clear(writer *w)
{
    for (size_t k = 0; k < w->n_sets && w->sets; k++) {
        for (size_t i = 0; i < CQ_TESTCASE_MAX_OUTPUTS; i++)
            cq_tensor_release(w->sets[k].outputs[i]);
        for (size_t i = 0; i < w->n_states && w->sets[k].states; i++)
            cq_tensor_release(w->sets[k].states[i]);
        cq_free(w->sets[k].states);
    }
    cq_free(w->sets);
    cq_gradients_free(w->gradients);
    cq_onnx_model_free(w->model);
    cq_trace_clear(&w->trace);
    cq_free(w->input_names);
    cq_free(w->names);
}

/* By its name an input is found again in the model, where unused ones are missing. */
static cq_status name_inputs(writer *w)
{
    cq_export_options *o = &w->export_options;
    size_t             n = o->n_input_names > w->n_inputs ? o->n_input_names : w->n_inputs;

    w->names       = cq_alloc_array(w->n_inputs + 1, sizeof *w->names);
    w->input_names = cq_alloc_array(n + 1, sizeof *w->input_names);
    if (!w->names || !w->input_names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < n; i++) {
        if (i < w->n_inputs)
            snprintf(w->names[i], sizeof w->names[i], "input_%zu", i);
        w->input_names[i] = i < o->n_input_names ? o->input_names[i] : w->names[i];
    }
    o->input_names   = w->input_names;
    o->n_input_names = n;
    return CQ_OK;
}

/* ---- files ---- */

/* FOLDER/NAME in s, which is cleared first. NULL if there is no memory. */
static const char *in_folder(cq_str *s, const char *folder, const char *name)
{
    cq_str_clear(s);
    cq_str_printf(s, "%s/%s", folder, name);
    return s->status == CQ_OK ? s->text : NULL;
}

static cq_status write_tensor(const writer *w, const char *set, const char *kind, size_t index,
                              const char *name, cq_tensor *t)
{
    cq_str          path  = { 0 };
    cq_onnx_model  *m     = NULL;
    cq_tensor      *pairs = NULL;
    cq_onnx_tensor *tensor;
    cq_status       status;
    bool            stripped;

    cq_str_printf(&path, "%s/%s_%zu.pb", set, kind, index);
    CQ_TRY_OR_DONE(path.status);
    CQ_TRY_OR_DONE(cq_onnx_model_new(&m, NULL));
    if (w->export_options.flags & CQ_EXPORT_COMPLEX_AS_PAIRS)
        CQ_TRY_OR_DONE(cq_tensor_pairs(&pairs, t));
    tensor = cq_onnx_tensor_new(m, name, pairs ? pairs : t);
    CQ_TRY_OR_DONE(m->status);
    if (wants(w, CQ_TESTCASE_STRIP))
        CQ_TRY_OR_DONE(cq_strip_tensor(&stripped, m, tensor, w->options->threshold));
    status = cq_write_tensor_message(path.text, tensor);
done:
    cq_onnx_model_free(m);
    cq_tensor_release(pairs);
    cq_str_clear(&path);
    return status;
}

/* An input of the model by its name: one of the example, or state. */
static cq_tensor *find_input(const writer *w, const data_set *data, const char *name)
{
    const char *input, *output;

    for (size_t i = 0; i < w->n_inputs; i++)
        if (strcmp(w->input_names[i], name) == 0)
            return w->inputs[i];
    for (size_t i = 0; i < w->n_states; i++) {
        cq_tensor *initial;

        if (cq_onnx_model_state(&initial, &input, &output, w->model, i) != CQ_OK)
            return NULL;
        cq_tensor_release(initial);
        if (strcmp(input, name) == 0)
            return data->states[i];
    }
    return NULL;
}

/* The inputs of the model, in its order. Weights that are also inputs need no data. */
static cq_status write_inputs(const writer *w, const data_set *data, const char *set)
{
    size_t n = cq_onnx_model_n_values(w->model, CQ_ONNX_INPUTS), index = 0;

    for (size_t i = 0; i < n; i++) {
        const char *name = cq_onnx_model_value_name(w->model, CQ_ONNX_INPUTS, i);
        cq_tensor  *t    = find_input(w, data, name);

        if (t)
            CQ_TRY(write_tensor(w, set, "input", index++, name, t));
        else if (!cq_onnx_model_has_initializer(w->model, name))
            cq_warn(
                name,
                "the example has no value for this input of the model; no file is written for it");
    }
    return CQ_OK;
}

/* The name that the user gave to an output, NULL if it was generated. */
static const char *output_name(const writer *w, size_t i)
{
    const cq_export_options *o    = &w->export_options;
    const char              *name = "";
    char                     made_up[32];

    if (i < o->n_output_names)
        return o->output_names[i];
    if (i < cq_onnx_model_n_values(w->model, CQ_ONNX_OUTPUTS))
        name = cq_onnx_model_value_name(w->model, CQ_ONNX_OUTPUTS, i);
    snprintf(made_up, sizeof made_up, "output_%zu", i);
    return *name && strcmp(name, made_up) != 0 ? name : NULL;
}

static cq_status write_outputs(const writer *w, const data_set *data, const char *set)
{
    for (size_t i = 0; i < data->n_outputs; i++)
        CQ_TRY(write_tensor(w, set, "output", i, output_name(w, i), data->outputs[i]));
    return CQ_OK;
}

static cq_status write_gradients(const writer *w, const char *set)
{
    const cq_gradients *g = w->gradients;
    const char         *name;

    for (size_t i = 0; (name = cq_gradients_name(g, i)); i++) {
        cq_tensor *t = cq_gradients_parameter(g, i);

        if (t)
            CQ_TRY(write_tensor(w, set, "gradient", i, name, t));
        else
            cq_warn(name, "the parameter has no gradient, and gets no file");
    }
    for (size_t i = 0; i < w->sets[0].n_outputs; i++)
        if (cq_gradients_seed(g, i))
            CQ_TRY(write_tensor(w, set, "gradient_input", i, output_name(w, i),
                                cq_gradients_seed(g, i)));
    return CQ_OK;
}

/* input_0.pb, output_0.pb, gradient_0.pb, gradient_input_0.pb: names that a test-case has. */
static bool is_tensor_name(const char *name)
{
    static const char *const kinds[] = { "input_", "output_", "gradient_", "gradient_input_" };

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const char  *number = cq_starts_with(name, kinds[i]) ? name + strlen(kinds[i]) : "";
        const size_t n      = strspn(number, "0123456789");

        if (n && strcmp(number + n, ".pb") == 0)
            return true;
    }
    return false;
}

/* Deletes tensors that are not overwritten. Other files belong to the user. */
static cq_status delete_tensors(const char *set)
{
    cq_names  names  = { 0 };
    cq_str    path   = { 0 };
    cq_status status = cq_list_folder(&names, set);

    for (size_t i = 0; i < names.n && status == CQ_OK; i++)
        if (is_tensor_name(names.items[i])) {
            if (!in_folder(&path, set, names.items[i]))
                status = CQ_E_NO_MEMORY;
            else
                status = cq_batch_delete(path.text);
        }
    cq_str_clear(&path);
    cq_names_clear(&names);
    return status;
}

/* The first set that does not exist or, with a new model, the next one. */
static const char *choose_set(writer *w, cq_str *path, bool is_new_model)
{
    for (;;) {
        char name[40];

        snprintf(name, sizeof name, "test_data_set_%zu", w->next_set++);
        if (!in_folder(path, w->at, name) || is_new_model || !cq_path_exists(path->text))
            return path->status == CQ_OK ? path->text : NULL;
    }
}

/* A set of a model that stays appears as a whole; with a new one the whole folder does. */
static cq_status write_set(writer *w, const data_set *data, bool is_new_model)
{
    cq_str      path = { 0 };
    const char *set  = choose_set(w, &path, is_new_model);
    cq_status   status;

    if (!set)
        return CQ_E_NO_MEMORY;
    CQ_TRY_OR_DONE(is_new_model ? cq_dir_make(set) : cq_batch_folder(&set, set));
    CQ_TRY_OR_DONE(delete_tensors(set));
    CQ_TRY_OR_DONE(write_inputs(w, data, set));
    CQ_TRY_OR_DONE(write_outputs(w, data, set));
    if (w->gradients)
        status = write_gradients(w, set);
done:
    cq_str_clear(&path);
    return status;
}

/* Stripped weights refer to external data that does not exist, so the model is saved unchanged. */
static cq_status write_model(writer *w, const char *path)
{
    bool                 strip = wants(w, CQ_TESTCASE_STRIP);
    cq_strip_options     strip_options;
    cq_onnx_save_options save;

    cq_strip_options_init(&strip_options);
    cq_onnx_save_options_init(&save);
    strip_options.threshold = w->options->threshold;
    if (strip)
        save.flags = CQ_ONNX_SAVE_AS_IS;
    else if (w->export_options.flags & CQ_EXPORT_EXTERNAL_DATA)
        save.flags = CQ_ONNX_SAVE_EXTERNAL;
    if (strip)
        CQ_TRY(cq_onnx_model_strip(w->model, &strip_options));
    return cq_onnx_model_save(w->model, path, &save);
}

/* The TorchScript program, beside its export. */
static cq_status write_program(const writer *w)
{
    const char *const programs[][2] = { { w->options->torch_script, "model_script.pt" },
                                        { w->options->torch_trace, "model_trace.pt" } };
    cq_str            path          = { 0 };
    cq_status         status        = CQ_OK;

    for (size_t i = 0; i < 2 && status == CQ_OK; i++)
        if (programs[i][0])
            status = in_folder(&path, w->at, programs[i][1])
                         ? cq_copy_file(programs[i][0], path.text)
                         : CQ_E_NO_MEMORY;
    cq_str_clear(&path);
    return status;
}

static cq_status write_meta(const writer *w, const char *path)
{
    cq_meta meta = { w->folder, wants(w, CQ_TESTCASE_STRIP), w->options->user_meta };

    if (!wants(w, CQ_TESTCASE_NO_METADATA))
        return cq_meta_write(&meta, path);
    if (meta.user_meta)
        cq_warn(NULL, "the user's meta data is not written, since metadata is off");
    if (meta.is_stripped)
        cq_warn(NULL, "nothing says that the test-case is stripped, since metadata is off");
    return CQ_OK;
}

/* Without a new model the files that are there stay, and a set is added; whether there is a model,
 * and which number is free, must stay true until then. */
static cq_status choose_place(writer *w, bool *is_new_model)
{
    cq_str    path   = { 0 };
    cq_status status = in_folder(&path, w->folder, "model.onnx") ? CQ_OK : CQ_E_NO_MEMORY;

    *is_new_model =
        !wants(w, CQ_TESTCASE_KEEP_MODEL) || (status == CQ_OK && !cq_path_exists(path.text));
    cq_str_clear(&path);
    w->at = w->folder;
    if (status == CQ_OK && !*is_new_model)
        (void)cq_batch_lock(w->folder); /* without it cq_batch_collided tells */
    return status != CQ_OK || !*is_new_model ? status : cq_batch_folder(&w->at, w->folder);
}

static cq_status write_files(writer *w)
{
    cq_str    path = { 0 };
    cq_status status;
    bool      is_new_model;

    CQ_TRY(choose_place(w, &is_new_model));
    if (!in_folder(&path, w->at, "meta.json"))
        return CQ_E_NO_MEMORY;
    CQ_TRY_OR_DONE(write_meta(w, path.text));
    for (size_t i = 0; i < w->n_sets; i++)
        CQ_TRY_OR_DONE(write_set(w, &w->sets[i], is_new_model));
    if (is_new_model) {
        CQ_TRY_OR_DONE(in_folder(&path, w->at, "model.onnx") ? CQ_OK : CQ_E_NO_MEMORY);
        CQ_TRY_OR_DONE(write_model(w, path.text));
        CQ_TRY_OR_DONE(write_program(w));
    }
    cq_trace_step(&w->trace, "write");
    if (wants(w, CQ_TESTCASE_TRACE))
        status = in_folder(&path, w->at, "export_trace.json.gz")
                     ? cq_trace_write(&w->trace, path.text)
                     : CQ_E_NO_MEMORY;
done:
    cq_str_clear(&path);
    return status;
}

static cq_status want_gradients(writer *w)
{
    if (!wants(w, CQ_TESTCASE_GRADIENTS))
        return CQ_OK;
    if (w->export_options.training == CQ_TRAINING_EVAL)
        cq_warn(NULL,
                "gradients are those of evaluation, and of the parameters as they were before "
                "export folded constants; training mode keeps both");
    CQ_TRY(cq_gradients_new(&w->gradients, w->options->output_gradients,
                            w->options->n_output_gradients));
    return CQ_OK;
}

/* ---- running ---- */

/* The state at the beginning of a step: from the file, or the last outputs of the previous step. */
static cq_status find_states(const writer *w, data_set *data, const data_set *before)
{
    const char *input, *output;

    data->states = cq_zalloc((w->n_states + 1) * sizeof *data->states);
    if (!data->states)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < w->n_states; i++) {
        if (before)
            data->states[i] =
                cq_tensor_retain(before->outputs[before->n_outputs - w->n_states + i]);
        else
            CQ_TRY(cq_onnx_model_state(&data->states[i], &input, &output, w->model, i));
    }
    return CQ_OK;
}

static cq_status run_once(const writer *w, const cq_testcase_source *source, data_set *data)
{
    cq_run_options o;

    cq_run_options_like_export(&o, &w->export_options);
    o.gradients = w->gradients;
    o.state     = data->states;
    o.n_state   = w->n_states;
    CQ_TRY(source->run(source->user, w->inputs, w->n_inputs, &o, data->outputs, &data->n_outputs));
    if (data->n_outputs <= CQ_TESTCASE_MAX_OUTPUTS && data->n_outputs >= w->n_states)
        return CQ_OK;
    return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "a test-case has %zu outputs but %d is the most",
                   data->n_outputs, CQ_TESTCASE_MAX_OUTPUTS);
}

/* One run, or the first steps of a model with state. */
static cq_status run_all(writer *w, const cq_testcase_source *source)
{
    w->n_states = w->export_options.flags & CQ_EXPORT_STATE ? cq_onnx_model_n_states(w->model) : 0;
    w->n_sets   = w->n_states ? STEPS : 1;
    w->sets     = cq_zalloc(w->n_sets * sizeof *w->sets);
    if (!w->sets)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < w->n_sets; i++) {
        CQ_TRY(find_states(w, &w->sets[i], i ? &w->sets[i - 1] : NULL));
        CQ_TRY(run_once(w, source, &w->sets[i]));
    }
    return CQ_OK;
}

CQ_API cq_status cq_testcase_write(const char *folder, const cq_testcase_source *source,
                                   cq_tensor *const *inputs, size_t n_inputs,
                                   const cq_testcase_options *options)
{
    CQ_NEED(folder && source && (inputs || !n_inputs));
    writer              w = { .folder = folder, .inputs = inputs, .n_inputs = n_inputs };
    cq_testcase_options defaults;
    cq_status           status;

    cq_testcase_options_init(&defaults);
    CQ_TRY(cq_sized_take(&defaults, options, "cq_testcase_options"));
    w.options = &defaults;
    cq_export_options_init(&w.export_options);
    CQ_TRY(cq_sized_take(&w.export_options, w.options->export_options, "cq_export_options"));
    w.export_options.flags |= CQ_EXPORT_DROP_UNUSED_INPUTS;
    w.export_options.flags &= ~CQ_EXPORT_OPTIONAL_INPUTS; /* a file holds one tensor */
    cq_trace_begin(&w.trace);
    CQ_TRY_OR_DONE(name_inputs(&w));
    CQ_TRY_OR_DONE(source->export_to(&w.model, source->user, inputs, n_inputs, &w.export_options));
    cq_trace_step(&w.trace, "export");
    CQ_TRY_OR_DONE(want_gradients(&w));
    CQ_TRY_OR_DONE(run_all(&w, source));
    cq_trace_step(&w.trace, "run");
    for (int i = 0; i < MAX_TRIES; i++) {
        w.next_set = 0;
        cq_batch_begin();
        status = cq_batch_end(write_files(&w));
        if (status != CQ_E_IO || !cq_batch_collided())
            break;
    }
done:
    writer_clear(&w);
    return status;
}

/* ---- modules ---- */

typedef struct module_source {
    cq_module  *module;
    cq_tensor **outputs; /* wanted by the caller; may be NULL */
    size_t      n_outputs;
} module_source;

static cq_status module_export(cq_onnx_model **out, void *user, cq_tensor *const *inputs,
                               size_t n_inputs, const cq_export_options *options)
{
    module_source *s = user;

    return cq_module_export(out, s->module, inputs, n_inputs, options);
}

static cq_status module_run(void *user, cq_tensor *const *inputs, size_t n_inputs,
                            const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    module_source *s = user;

    CQ_TRY(cq_module_run_as(s->module, inputs, n_inputs, options, outputs, CQ_TESTCASE_MAX_OUTPUTS,
                            n_outputs));
    for (size_t i = 0; i < s->n_outputs && s->outputs; i++)
        s->outputs[i] = cq_tensor_retain(outputs[i]);
    return CQ_OK;
}

CQ_API cq_status cq_module_testcase(cq_tensor **outputs, const char *folder, cq_module *module,
                                    cq_tensor *const *inputs, size_t n_inputs, size_t n_outputs,
                                    const cq_testcase_options *options)
{
    CQ_NEED(folder && module && (inputs || !n_inputs));
    module_source      s      = { module, outputs, n_outputs };
    cq_testcase_source source = { &s, module_export, module_run };
    cq_status          status;

    if (n_outputs > CQ_TESTCASE_MAX_OUTPUTS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a test-case has %zu outputs but %d is the most", n_outputs,
                       CQ_TESTCASE_MAX_OUTPUTS);
    for (size_t i = 0; i < n_outputs && outputs; i++)
        outputs[i] = NULL;
    status = cq_testcase_write(folder, &source, inputs, n_inputs, options);
    for (size_t i = 0; i < n_outputs && outputs && status != CQ_OK; i++) {
        cq_tensor_release(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}
