#define _DEFAULT_SOURCE /* mkdtemp */
#include "onnx/model.h"
#include "tensors.h"

#include <calque/calque.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/calque_testcase_XXXXXX";

/* A program of a, b and c whose export does not use a: the model has b and c. */
static cq_status export_bc(cq_onnx_model **out, void *user, cq_tensor *const *inputs,
                           size_t n_inputs, const cq_export_options *options)
{
    cq_onnx_type *type;

    (void)user;
    (void)inputs;
    CHECK_INT(3, n_inputs);
    CHECK_INT(3, options->n_input_names);
    CHECK_OK(cq_onnx_model_new(out, "g"));
    type = cq_onnx_type_new_tensor(*out, CQ_ONNX_FLOAT, 1, &(cq_onnx_axis){ .value = 2 });
    for (size_t i = 1; i < 3; i++)
        cq_onnx_add_value(*out, &(*out)->graph->input, options->input_names[i], type);
    return (*out)->status;
}

static cq_status run_bc(void *user, cq_tensor *const *inputs, size_t n_inputs,
                        const cq_run_options *options, cq_tensor **outputs, size_t *n_outputs)
{
    (void)n_inputs, (void)options;
    if (user)
        return *(cq_status *)user;
    outputs[0] = cq_tensor_retain(inputs[1]);
    *n_outputs = 1;
    return CQ_OK;
}

static cq_status write_bc(void *user, const char *to)
{
    const cq_testcase_source source = { user, export_bc, run_bc };
    cq_tensor               *inputs[3];
    cq_testcase_options      options;
    cq_status                status;

    for (size_t i = 0; i < 3; i++)
        inputs[i] = tensor_of(CQ_DTYPE_F32, SIZES(2), (float[]){ (float)i, (float)i + 0.5f });
    cq_testcase_options_init(&options);
    options.flags = CQ_TESTCASE_NO_METADATA;
    status        = cq_testcase_write(to, &source, inputs, 3, &options);
    release_all(inputs[0], inputs[1], inputs[2], NULL);
    return status;
}

static void check_file(const char *name, double first, double second)
{
    char       path[256];
    cq_tensor *t;

    snprintf(path, sizeof path, "%s/test_data_set_0/%s", folder, name);
    CHECK_OK(cq_tensor_load_pb(&t, path));
    check_values(t, (double[]){ first, second });
    CHECK(unlink(path) == 0);
}

TEST(testcase, an_input_that_is_not_used_leaves_no_gap_and_no_wrong_data)
{
    char path[256];

    CHECK_OK(write_bc(NULL, folder));
    check_file("input_0.pb", 1, 1.5);
    check_file("input_1.pb", 2, 2.5);
    check_file("output_0.pb", 1, 1.5);
    snprintf(path, sizeof path, "%s/test_data_set_0", folder);
    CHECK(rmdir(path) == 0); /* nothing else is in it */
    snprintf(path, sizeof path, "%s/model.onnx", folder);
    CHECK(unlink(path) == 0);
}

TEST(testcase, nothing_is_written_when_the_run_fails)
{
    cq_status why = CQ_E_TYPE;
    char      path[256];

    snprintf(path, sizeof path, "%s/new", folder);
    CHECK_STATUS(CQ_E_TYPE, write_bc(&why, path));
    CHECK(access(path, F_OK) != 0);
}

/* Every public struct with a size field, zeroed. */
TEST(api, calls_refuse_zeroed_structs)
{
    cq_module     *linear = cq_linear_new(2, 2, true);
    cq_tensor     *x      = NULL;
    cq_onnx_model *model  = NULL;
    cq_session    *session;

    CHECK(!cq_module_new(&(cq_class){ .name = "Net" }));
    CHECK(!cq_conv2d_new(&(cq_conv_spec){ .in = 1, .out = 1, .kernel = { 1, 1 } }));
    CHECK(!cq_lstm_new(&(cq_rnn_spec){ .input = 1, .hidden = 1 }));
    CHECK_STR("cq_rnn_spec", cq_last_error()->where);
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 1, 2 }, NULL));
    CHECK_STATUS(CQ_E_ARGUMENT,
                 cq_module_export(&model, linear, &x, 1, &(cq_export_options){ .opset = 17 }));
    CHECK_OK(cq_module_export(&model, linear, &x, 1, NULL));
    CHECK_STATUS(CQ_E_ARGUMENT,
                 cq_onnx_model_save(model, "unused", &(cq_onnx_save_options){ .threshold = 1 }));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_strip(model, &(cq_strip_options){ .threshold = 1 }));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_session_prepare(&session, model, &(cq_session_options){ 0 }));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_module_testcase(NULL, "unused", linear, &x, 1, 0,
                                                   &(cq_testcase_options){ .threshold = 1 }));
    cq_onnx_model_free(model);
    cq_tensor_release(x);
    cq_module_free(linear);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST_OF(testcase, an_input_that_is_not_used_leaves_no_gap_and_no_wrong_data),
        TEST_OF(testcase, nothing_is_written_when_the_run_fails),
        TEST_OF(api, calls_refuse_zeroed_structs),
    };
    int failed = !mkdtemp(folder) || cmocka_run_group_tests(tests, NULL, NULL);

    rmdir(folder);
    return failed;
}
