#include "edit/proof.h"

#include "test.h"

static const char net[] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                          "net (float[batch, 4] x, int64[batch] i) => (float[batch, 4] y)\n"
                          "<float[3, 4] table = {1,2,3,4,5,6,7,8,9,10,11,12}> {\n"
                          "    rows = Gather <axis = 0> (table, i)\n"
                          "    sum = Add (x, rows)\n"
                          "    y = Relu (sum)\n"
                          "}\n";

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "net"));
    return m;
}

static void equal_models_are_proved_at_two_sizes(void **state)
{
    cq_onnx_model *a = parse(net), *b = parse(net);
    cq_proof       proof;

    (void)state;
    CHECK_OK(cq_onnx_prove(&proof, a, b, NULL));
    assert_int_equal(proof.n_runs, 2);
    assert_int_equal(proof.n_outputs, 1);
    assert_true(proof.largest == 0);
    assert_string_equal(proof.skipped, "");
    cq_onnx_model_free(a);
    cq_onnx_model_free(b);
}

static void a_difference_names_its_first_node(void **state)
{
    cq_onnx_model *a = parse(net), *b = parse(net);
    cq_proof       proof;

    (void)state;
    b->graph->node.items[1]->op_type = "Sub";
    assert_int_equal(cq_onnx_prove(&proof, a, b, NULL), CQ_E_TYPE);
    assert_non_null(strstr(cq_last_error()->message, "sum (Sub)"));
    assert_non_null(strstr(cq_last_error()->message, "output y"));
    cq_onnx_model_free(a);
    cq_onnx_model_free(b);
}

static void random_models_are_not_compared(void **state)
{
    static const char text[] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                               "net (float[4] x) => (float[4] y) { y = RandomNormalLike (x) }\n";
    cq_onnx_model    *a      = parse(text);
    cq_proof          proof;

    (void)state;
    CHECK_OK(cq_onnx_prove(&proof, a, a, NULL));
    assert_int_equal(proof.n_runs, 0);
    assert_non_null(strstr(proof.skipped, "random"));
    cq_onnx_model_free(a);
}

static void inputs_and_outputs_may_be_renamed(void **state)
{
    cq_onnx_model *a = parse(net), *b = parse(net);
    cq_proof       proof;

    (void)state;
    b->graph->input.items[0]->name           = "image";
    b->graph->node.items[1]->input.items[0]  = "image";
    b->graph->output.items[0]->name          = "score";
    b->graph->node.items[2]->output.items[0] = "score";
    CHECK_OK(cq_onnx_prove(&proof, a, b, NULL));
    assert_int_equal(proof.n_runs, 2);
    cq_onnx_model_free(a);
    cq_onnx_model_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_models_are_proved_at_two_sizes),
        cmocka_unit_test(a_difference_names_its_first_node),
        cmocka_unit_test(random_models_are_not_compared),
        cmocka_unit_test(inputs_and_outputs_may_be_renamed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
