/* Programs of torch.export that PyTorch 2.6 and 2.14 wrote (tests/data/pt2, made by make.py there)
 * and older.py made of those, run and exported; both results equal PyTorch's. */
#include "export/exporter.h"
#include "pt2/model.h"
#include "test.h"

#include <calque/pt2.h>
#include <calque/session.h>

#include <dirent.h>
#include <stdio.h>

#define FOLDER CQ_TEST_DATA "/pt2/"

enum { MAX_OUTPUTS = 16 };

static const char definitions[] = "def calquetest__scale(x, by):\n"
                                  "    return x * by, x.sum()\n"
                                  "def calquetest__bump_(x, by):\n"
                                  "    x.add_(by)\n";

static cq_pt2 *load(const char *name, const char *entry)
{
    char    path[512];
    cq_pt2 *p;

    snprintf(path, sizeof path, FOLDER "%s.pt2", name);
    CHECK_OK(cq_pt2_load(&p, path, entry));
    CHECK_OK(cq_pt2_define(p, definitions, "definitions.py"));
    return p;
}

static void check_same(const char *name, size_t i, cq_tensor *got, cq_tensor *want)
{
    cq_onnx_value *values[2];
    cq_tensor     *same;
    double         rtol = got->dtype == CQ_DTYPE_BF16 ? 1e-2 : 1e-5;
    cq_status      status;

    CHECK_OK(cq_tensor_clone(&same, got, want->dtype)); /* NumPy has no bfloat16 */
    CHECK_OK(cq_onnx_value_new_tensor(&values[0], same));
    CHECK_OK(cq_onnx_value_new_tensor(&values[1], want));
    status = cq_onnx_value_compare(values[0], values[1], rtol, 1e-6);
    if (status != CQ_OK)
        print_error("%s, output %zu: %s\n", name, i, cq_last_error()->message);
    CHECK_INT(CQ_OK, status);
    cq_onnx_value_release(values[0]);
    cq_onnx_value_release(values[1]);
    cq_tensor_release(same);
}

static void check_with_pytorch(const char *name, cq_tensor *const *got, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char       path[512];
        cq_tensor *want;

        snprintf(path, sizeof path, FOLDER "%s.%zu.npy", name, i);
        CHECK_OK(cq_tensor_load_npy(&want, path));
        check_same(name, i, got[i], want);
        cq_tensor_release(want);
    }
}

static size_t run_export(cq_pt2 *p, const cq_export_options *options, cq_tensor **out)
{
    cq_tensor     *inputs[8] = { NULL };
    cq_onnx_model *model;
    cq_session    *session;
    size_t         n;

    CHECK_OK(cq_pt2_export(&model, p, NULL, 0, options));
    CHECK_OK(cq_session_prepare(&session, model, NULL));
    for (size_t i = 0; i < cq_pt2_n_inputs(p); i++)
        CHECK_OK(cq_pt2_example_input(&inputs[i], p, i));
    n = cq_session_n_outputs(session);
    CHECK(n <= MAX_OUTPUTS);
    CHECK_OK(cq_session_run_tensors(session, inputs, cq_pt2_n_inputs(p), out, n));
    for (size_t i = 0; i < cq_pt2_n_inputs(p); i++)
        cq_tensor_release(inputs[i]);
    cq_session_free(session);
    cq_onnx_model_free(model);
    return n;
}

static void release(cq_tensor **tensors, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_tensor_release(tensors[i]);
}

static void check_program(const char *name)
{
    cq_tensor *ran[MAX_OUTPUTS], *exported[MAX_OUTPUTS];
    cq_pt2    *p = load(name, NULL);
    size_t     n;

    CHECK_OK(cq_pt2_run_as(p, NULL, 0, NULL, ran, MAX_OUTPUTS, &n));
    if (strncmp(name, "dataclass", 9) != 0) /* its sample is an object that only Python knows */
        check_with_pytorch(name, ran, n);
    CHECK_INT(n, run_export(p, NULL, exported));
    for (size_t i = 0; i < n; i++)
        check_same(name, i, exported[i], ran[i]);
    release(ran, n);
    release(exported, n);
    cq_pt2_free(p);
}

TEST(pt2, every_program_equals_pytorch_run_and_exported)
{
    DIR           *folder = opendir(FOLDER);
    struct dirent *entry;
    char           name[256];
    size_t         n = 0;

    CHECK(folder != NULL);
    while ((entry = readdir(folder))) {
        snprintf(name, sizeof name, "%s", entry->d_name);
        if (strlen(name) < 4 || strcmp(name + strlen(name) - 4, ".pt2") != 0 ||
            strncmp(name, "several", 7) == 0 || strncmp(name, "aotinductor", 11) == 0)
            continue;
        name[strlen(name) - 4] = '\0';
        check_program(name);
        n++;
    }
    closedir(folder);
    CHECK(n > 50);
}

TEST(pt2, an_archive_of_machine_code_is_refused_with_a_reason)
{
    cq_pt2 *p;

    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_pt2_load(&p, FOLDER "aotinductor_only.pt2", NULL));
    CHECK(strstr(cq_last_error()->message, "AOTInductor") != NULL);
}

/* ---- several programs ---- */

TEST(pt2, one_of_several_programs_is_named)
{
    cq_pt2 *p;

    CHECK_STATUS(CQ_E_ARGUMENT, cq_pt2_load(&p, FOLDER "several.214.pt2", NULL));
    CHECK(strstr(cq_last_error()->message, "encoder, decoder") != NULL);
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_pt2_load(&p, FOLDER "several.214.pt2", "head"));
    p = load("several.214", "decoder");
    CHECK_STR("x", cq_pt2_input_name(p, 0));
    CHECK(cq_pt2_input_name(p, 1) == NULL);
    cq_pt2_free(p);
}

/* ---- sizes ---- */

static const cq_onnx_value_info *input_at(const cq_onnx_model *m, size_t i)
{
    return m->graph->input.items[i];
}

static void check_axis(const char *want, const cq_onnx_model *m, size_t input, size_t axis)
{
    const cq_onnx_dim *dim = input_at(m, input)->type->tensor_type->shape->dim.items[axis];
    char               text[64];

    if (dim->dim_param)
        snprintf(text, sizeof text, "%s", dim->dim_param);
    else
        snprintf(text, sizeof text, "%lld", (long long)dim->dim_value);
    CHECK_STR(want, text);
}

static cq_onnx_model *exported(cq_pt2 *p, const cq_export_options *options)
{
    cq_onnx_model *m;

    CHECK_OK(cq_pt2_export(&m, p, NULL, 0, options));
    return m;
}

TEST(pt2, dynamic_sizes_stay_open_and_have_names)
{
    const cq_dynamic_axis named = { "x", 0, "rows" }, fixed = { "x", 1, "columns" };
    cq_export_options     options;
    cq_onnx_model        *m;
    cq_pt2               *p = load("dynamic.214", NULL);

    m = exported(p, NULL);
    check_axis("batch", m, 0, 0);
    check_axis("4", m, 0, 1);
    cq_onnx_model_free(m);
    cq_export_options_init(&options);
    options.dynamic_axes   = &named;
    options.n_dynamic_axes = 1;
    m                      = exported(p, &options);
    check_axis("rows", m, 0, 0);
    cq_onnx_model_free(m);
    options.flags = CQ_EXPORT_STATIC;
    m             = exported(p, &options);
    check_axis("3", m, 0, 0);
    cq_onnx_model_free(m);
    options.dynamic_axes = &fixed;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_pt2_export(&m, p, NULL, 0, &options));
    cq_pt2_free(p);
}

TEST(pt2, ranges_of_sizes_are_metadata)
{
    cq_pt2        *p = load("cond_on_size.214", NULL);
    cq_onnx_model *m = exported(p, NULL);

    CHECK_INT(1, m->metadata_props.n);
    CHECK_STR("range:batch", m->metadata_props.items[0]->key);
    CHECK_STR("2..9", m->metadata_props.items[0]->value);
    cq_onnx_model_free(m);
    cq_pt2_free(p);
}

TEST(pt2, sizes_that_are_derived_from_one_follow_it)
{
    cq_pt2        *p = load("derived.214", NULL); /* n + 1 and 2 * n, and no input has n alone */
    cq_onnx_model *m = exported(p, NULL);

    check_axis("x_1", m, 0, 1);
    check_axis("2*x_1-2", m, 1, 1);
    cq_onnx_model_free(m);
    cq_pt2_free(p);
}

TEST(pt2, a_larger_example_keeps_to_the_range)
{
    cq_pt2    *p = load("cond_on_size.214", NULL);
    cq_tensor *x;

    CHECK_OK(cq_pt2_larger_input(&x, p, 0));
    CHECK_INT(6, x->sizes[0].value);
    CHECK_INT(2, x->sizes[1].value);
    cq_tensor_release(x);
    cq_pt2_free(p);
    p = load("strided.214", NULL);
    CHECK_OK(cq_pt2_larger_input(&x, p, 0));
    CHECK_INT(4, x->sizes[0].value);
    cq_tensor_release(x);
    cq_pt2_free(p);
}

TEST(pt2, other_sizes_of_dynamic_axes_run)
{
    const int64_t  sizes[2] = { 7, 4 };
    cq_pt2        *p        = load("dynamic.26", NULL);
    cq_onnx_model *m        = exported(p, NULL);
    cq_session    *session;
    cq_tensor     *x, *ran, *y;
    size_t         n;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, sizes, NULL));
    CHECK_OK(cq_pt2_run_as(p, &x, 1, NULL, &ran, 1, &n));
    CHECK_OK(cq_session_prepare(&session, m, NULL));
    CHECK_OK(cq_session_run_tensors(session, &x, 1, &y, 1));
    CHECK_INT(14, y->sizes[0].value);
    check_same("dynamic", 0, y, ran);
    cq_session_free(session);
    cq_onnx_model_free(m);
    cq_tensor_release(x);
    cq_tensor_release(ran);
    cq_tensor_release(y);
    cq_pt2_free(p);
}

TEST(pt2, an_example_that_is_none_is_refused_with_the_name_of_the_input)
{
    const int64_t  wrong_size[2] = { 2, 5 }, sizes[1] = { 2 };
    cq_pt2        *p = load("dynamic.214", NULL);
    cq_onnx_model *m;
    cq_tensor     *x;

    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, wrong_size, NULL));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_pt2_export(&m, p, &x, 1, NULL));
    CHECK_STR("x", cq_last_error()->where);
    cq_tensor_release(x);
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 1, sizes, NULL));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_pt2_export(&m, p, &x, 1, NULL));
    cq_tensor_release(x);
    cq_pt2_free(p);
}

static void check_larger(const char *name, size_t n_outputs)
{
    cq_pt2        *p = load(name, NULL);
    cq_onnx_model *m = exported(p, NULL);
    cq_session    *session;
    cq_tensor     *x, *example, *ran[MAX_OUTPUTS], *got[MAX_OUTPUTS];
    size_t         n;

    CHECK_OK(cq_session_prepare(&session, m, NULL));
    CHECK_OK(cq_pt2_larger_input(&x, p, 0));
    CHECK_OK(cq_pt2_example_input(&example, p, 0));
    CHECK(cq_tensor_numel(x) > cq_tensor_numel(example));
    CHECK_OK(cq_pt2_run_as(p, &x, 1, NULL, ran, MAX_OUTPUTS, &n));
    CHECK_INT(n_outputs, n);
    CHECK_OK(cq_session_run_tensors(session, &x, 1, got, n));
    for (size_t i = 0; i < n; i++)
        check_same(name, i, got[i], ran[i]);
    release(ran, n);
    release(got, n);
    cq_tensor_release(x);
    cq_tensor_release(example);
    cq_session_free(session);
    cq_onnx_model_free(m);
    cq_pt2_free(p);
}

/* With its own numbers in a run, where sizes are known and matrices are constants, and of a size
 * that was a symbol when it was exported. */
TEST(pt2, transforms_and_solutions_depend_on_the_run_time_size)
{
    check_larger("any_length.214", 6);
    check_larger("padded_length.214", 3);
    check_larger("points.214", 9);
    check_larger("complex_parts.214", 5);
    check_larger("signs_in_place.214", 4);
    check_larger("multiple.214", 2);
}

/* ---- names, mutations, missing operators ---- */

/* In decomposed programs the new value is a result; otherwise an operator works in place. */
static void check_changes(const char *name, size_t n_own, const char *changed)
{
    cq_pt2           *p           = load(name, NULL);
    cq_run_options    run_options = { .struct_size = sizeof run_options,
                                      .flags       = CQ_RUN_KEEP_MUTATIONS };
    cq_export_options options;
    cq_onnx_model    *m;
    cq_tensor        *out[MAX_OUTPUTS], *ran[MAX_OUTPUTS];
    size_t            n;

    cq_export_options_init(&options);
    options.flags = CQ_EXPORT_KEEP_MUTATIONS;
    CHECK_INT(n_own + 1, run_export(p, &options, out));
    CHECK_OK(cq_pt2_run_as(p, NULL, 0, &run_options, ran, MAX_OUTPUTS, &n));
    CHECK_INT(n_own + 1, n);
    for (size_t i = 0; i < n; i++)
        check_same(name, i, out[i], ran[i]);
    m = exported(p, &options);
    CHECK_STR(changed, m->graph->output.items[n_own]->name);
    cq_onnx_model_free(m);
    release(out, n);
    release(ran, n);
    cq_pt2_free(p);
}

TEST(pt2, mutations_become_outputs_on_request)
{
    check_changes("mutation.214", 3, "n_out");
    check_changes("mutation_core.214", 3, "n_out");
    check_changes("input_mutation.26", 1, "x_out");
    check_changes("input_mutation_core.26", 1, "x_out");
}

TEST(pt2, asserted_conditions_become_outputs_on_request)
{
    cq_pt2           *p = load("data_dependent.214", NULL);
    cq_export_options options;
    cq_tensor        *out[MAX_OUTPUTS];
    size_t            n;

    cq_export_options_init(&options);
    options.flags = CQ_EXPORT_KEEP_ASSERTS;
    n             = run_export(p, &options, out);
    CHECK(n > 3);
    for (size_t i = 3; i < n; i++) {
        CHECK_INT(CQ_DTYPE_BOOL, out[i]->dtype);
        CHECK(cq_tensor_get_f64(out[i], 0) == 1);
    }
    release(out, n);
    cq_pt2_free(p);
}

TEST(pt2, mutations_become_state_on_request)
{
    cq_pt2           *p = load("mutation_core.214", NULL);
    cq_onnx_model    *m;
    cq_export_options options;
    cq_tensor        *initial, *out[MAX_OUTPUTS];
    cq_run_options    run;
    const char       *names[2];
    size_t            n, first;

    cq_export_options_init(&options);
    options.flags = CQ_EXPORT_STATE;
    CHECK_OK(cq_pt2_export(&m, p, NULL, 0, &options));
    CHECK(cq_onnx_model_n_states(m) > 0);
    CHECK_OK(cq_onnx_model_state(&initial, &names[0], &names[1], m, 0));
    CHECK(strncmp(names[0], "state.", 6) == 0 && strncmp(names[1], "state.", 6) == 0);
    cq_run_options_init(&run);
    run.flags = CQ_RUN_STATE;
    CHECK_OK(cq_pt2_run_as(p, NULL, 0, &run, out, MAX_OUTPUTS, &first));
    release(out, first);
    run.state   = &initial;
    run.n_state = 1;
    CHECK_OK(cq_pt2_run_as(p, NULL, 0, &run, out, MAX_OUTPUTS, &n));
    CHECK_INT(cq_onnx_model_n_values(m, CQ_ONNX_OUTPUTS), n);
    CHECK_INT(first, n);
    release(out, n);
    cq_tensor_release(initial);
    cq_onnx_model_free(m);
    cq_pt2_free(p);
}

TEST(pt2, nodes_and_weights_are_called_after_their_modules)
{
    cq_pt2        *p = load("dynamic.214", NULL);
    cq_onnx_model *m = exported(p, NULL);

    CHECK_STR("x", input_at(m, 0)->name);
    CHECK_STR("/a/Gemm", m->graph->node.items[0]->name);
    cq_onnx_model_free(m);
    cq_pt2_free(p);
}

TEST(pt2, outputs_are_called_after_keys_and_fields)
{
    cq_pt2 *p = load("nested.214", NULL);

    CHECK_STR("sum", cq_pt2_output_name(p, 0));
    CHECK_STR("rest_1_0", cq_pt2_output_name(p, 2));
    CHECK_STR("n", cq_pt2_output_name(p, 3));
    CHECK(cq_pt2_output_name(p, 4) == NULL);
    cq_pt2_free(p);
    p = load("dataclass.214", NULL);
    CHECK_STR("first", cq_pt2_output_name(p, 0));
    cq_pt2_free(p);
    p = load("strided.214", NULL);
    CHECK(cq_pt2_output_name(p, 0) == NULL);
    cq_pt2_free(p);
}

static void check_gradients(const char *name)
{
    cq_pt2        *p = load(name, NULL);
    cq_gradients  *gradients;
    cq_run_options options;
    cq_tensor     *y;
    size_t         n;

    CHECK_OK(cq_gradients_new(&gradients, NULL, 0));
    cq_run_options_init(&options);
    options.gradients = gradients;
    CHECK_OK(cq_pt2_run_as(p, NULL, 0, &options, &y, 1, &n));
    CHECK(cq_gradients_find(gradients, "a.weight") != NULL);
    CHECK(cq_gradients_find(gradients, "b.bias") != NULL);
    cq_tensor_release(y);
    cq_gradients_free(gradients);
    cq_pt2_free(p);
}

TEST(pt2, parameters_have_gradients)
{
    check_gradients("dynamic.26");
    check_gradients("dynamic.214");
}

TEST(pt2, an_unknown_operator_is_reported_with_the_line_of_its_call)
{
    cq_onnx_model *m;
    cq_pt2        *p;

    CHECK_OK(cq_pt2_load(&p, FOLDER "custom.214.pt2", NULL));
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_pt2_export(&m, p, NULL, 0, NULL));
    CHECK(strstr(cq_last_error()->message, "calquetest::scale") != NULL);
    CHECK(strstr(cq_last_error()->message, "make.py:") != NULL);
    cq_pt2_free(p);
}

static void check_metadata(const cq_onnx_model *m, const char *key, const char *want)
{
    for (size_t i = 0; i < m->metadata_props.n; i++)
        if (strcmp(m->metadata_props.items[i]->key, key) == 0) {
            CHECK_STR(want, m->metadata_props.items[i]->value);
            return;
        }
    CHECK(want == NULL);
}

TEST(pt2, the_structure_of_arguments_and_results_is_metadata)
{
    cq_pt2        *p = load("nested.214", NULL);
    cq_onnx_model *m;

    CHECK_OK(cq_pt2_export(&m, p, NULL, 0, NULL));
    check_metadata(m, "structure:inputs",
                   "{\"a\": \"a\", \"pair\": [\"pair_0\", {\"z\": \"pair_1_z\"}], \"k\": \"k\", "
                   "\"scale\": null}");
    check_metadata(m, "structure:outputs",
                   "{\"sum\": \"sum\", \"rest\": [\"rest_0\", [\"rest_1_0\"]], "
                   "\"none\": null, \"n\": \"n\"}");
    cq_onnx_model_free(m);
    cq_pt2_free(p);
    p = load("dynamic.214", NULL);
    CHECK_OK(cq_pt2_export(&m, p, NULL, 0, NULL));
    check_metadata(m, "structure:inputs", NULL);
    check_metadata(m, "structure:outputs", NULL);
    cq_onnx_model_free(m);
    cq_pt2_free(p);
}

/* The mask is as long as the past and the new tokens: 7 of 4 and 3. */
TEST(pt2, conditions_on_sizes_are_metadata_and_larger_inputs_meet_them)
{
    static const int64_t want[5][4] = {
        { 3, 4 }, { 3, 9 }, { 3, 4 }, { 3, 2, 5, 4 }, { 3, 2, 5, 4 }
    };
    cq_pt2        *p = load("decoder.214", NULL);
    cq_tensor     *in[5], *ran[3];
    cq_onnx_model *m;
    size_t         n;

    CHECK_OK(cq_pt2_export(&m, p, NULL, 0, NULL));
    check_metadata(m, "constraint:0", "s0-s53+s70<=0");
    check_metadata(m, "constraint:1", "s53<=s0+s70");
    check_metadata(m, "constraint:2", NULL);
    cq_onnx_model_free(m);
    for (size_t i = 0; i < 5; i++) {
        CHECK_OK(cq_pt2_larger_input(&in[i], p, i));
        for (size_t k = 0; k < in[i]->rank; k++)
            CHECK_INT(want[i][k], cq_tensor_size(in[i], k));
    }
    CHECK_OK(cq_pt2_run_as(p, in, 5, NULL, ran, 3, &n));
    release(ran, n);
    cq_tensor_release(in[1]);
    CHECK_OK(cq_tensor_new(&in[1], CQ_DTYPE_I64, 2, (int64_t[]){ 3, 11 }, NULL));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_pt2_run_as(p, in, 5, NULL, ran, 3, &n));
    CHECK(strstr(cq_last_error()->message,
                 "attention_mask.size(1) <= past_key_values_0_0.size(2) + input_ids.size(1)"));
    release(in, 5);
    cq_pt2_free(p);
}

RUN_TESTS(TEST_OF(pt2, every_program_equals_pytorch_run_and_exported),
          TEST_OF(pt2, an_archive_of_machine_code_is_refused_with_a_reason),
          TEST_OF(pt2, one_of_several_programs_is_named),
          TEST_OF(pt2, dynamic_sizes_stay_open_and_have_names),
          TEST_OF(pt2, ranges_of_sizes_are_metadata),
          TEST_OF(pt2, sizes_that_are_derived_from_one_follow_it),
          TEST_OF(pt2, a_larger_example_keeps_to_the_range),
          TEST_OF(pt2, other_sizes_of_dynamic_axes_run),
          TEST_OF(pt2, outputs_are_called_after_keys_and_fields),
          TEST_OF(pt2, an_example_that_is_none_is_refused_with_the_name_of_the_input),
          TEST_OF(pt2, transforms_and_solutions_depend_on_the_run_time_size),
          TEST_OF(pt2, mutations_become_outputs_on_request),
          TEST_OF(pt2, asserted_conditions_become_outputs_on_request),
          TEST_OF(pt2, mutations_become_state_on_request),
          TEST_OF(pt2, nodes_and_weights_are_called_after_their_modules),
          TEST_OF(pt2, parameters_have_gradients),
          TEST_OF(pt2, an_unknown_operator_is_reported_with_the_line_of_its_call),
          TEST_OF(pt2, the_structure_of_arguments_and_results_is_metadata),
          TEST_OF(pt2, conditions_on_sizes_are_metadata_and_larger_inputs_meet_them))
