/* Extracting and joining models through <calque/part.h>. */
#include "onnx/model.h"

#include "test.h"

#include <calque/part.h>

#include <string.h>

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]>\n"

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "model"));
    return m;
}

static const char net[] =
    HEAD "net (float[batch, 4] x, bool c) => (float[batch, 4] y, float[batch, 4] z)\n"
         "<float[4] w = {1, 2, 3, 4}, float[4] unused = {0, 0, 0, 0}> {\n"
         "  a = Add (x, w)\n"
         "  b = Relu (a)\n"
         "  d = If (c) <then_branch = yes () => (float[batch, 4] t) { t = Neg (b) },\n"
         "              else_branch = no () => (float[batch, 4] e) { e = Mul (b, w) }>\n"
         "  y = Sigmoid (d)\n"
         "  z = Tanh (a)\n"
         "}\n";

static void check_valid(cq_onnx_model *m)
{
    cq_onnx_findings *f;

    CHECK_OK(cq_onnx_model_check(&f, m));
    for (size_t i = 0; i < cq_onnx_findings_count(f); i++)
        print_error("%s: %s\n", cq_onnx_findings_at(f, i)->where, cq_onnx_findings_at(f, i)->what);
    CHECK_INT(0, cq_onnx_findings_count(f));
    cq_onnx_findings_free(f);
}

static cq_status cut(cq_onnx_model *m, const char *input, const char *second, const char *output)
{
    const char    *inputs[] = { input, second }, *outputs[] = { output };
    cq_cut_options options;

    cq_cut_options_init(&options);
    options.inputs    = inputs;
    options.n_inputs  = (input != NULL) + (second != NULL);
    options.outputs   = outputs;
    options.n_outputs = 1;
    return cq_onnx_model_cut(m, &options);
}

TEST(part, a_cut_keeps_what_subgraphs_read)
{
    cq_onnx_model *m = parse(net);

    CHECK_OK(cut(m, "b", "c", "y"));
    CHECK_INT(2, m->graph->node.n);
    CHECK_INT(1, m->graph->initializer.n);
    CHECK_STR("w", m->graph->initializer.items[0]->name);
    CHECK_STR("b", cq_onnx_model_value_name(m, CQ_ONNX_INPUTS, 0));
    CHECK_INT(2, cq_onnx_model_value_rank(m, CQ_ONNX_INPUTS, 0));
    CHECK_STR("batch", cq_onnx_model_value_axis(m, CQ_ONNX_INPUTS, 0, 0));
    cq_onnx_model_free(m);
}

TEST(part, inputs_default_to_those_that_are_needed)
{
    cq_onnx_model *m = parse(net);

    CHECK_OK(cut(m, NULL, NULL, "z"));
    CHECK_INT(2, m->graph->node.n);
    CHECK_INT(1, cq_onnx_model_n_values(m, CQ_ONNX_INPUTS));
    cq_onnx_model_free(m);
}

/* The node that made the value stays for its other output. */
TEST(part, one_of_several_outputs_of_a_node_can_become_an_input)
{
    static const char text[] =
        HEAD "net (float[6] x) => (float[3] y) {\n"
             "  a, b = Split <axis = 0> (x)\n  a_2 = Neg (a)\n  y = Mul (a_2, b)\n}\n";
    cq_onnx_model *m = parse(text);

    CHECK_OK(cut(m, "a", "x", "y"));
    CHECK_INT(3, m->graph->node.n);
    check_valid(m);
    cq_onnx_model_free(m);
}

TEST(part, an_initializer_can_become_an_input)
{
    cq_onnx_model *m = parse(net);

    CHECK_OK(cut(m, "x", "w", "z"));
    CHECK_INT(0, m->graph->initializer.n);
    CHECK_INT(4, cq_onnx_model_value_size(m, CQ_ONNX_INPUTS, 1, 0));
    cq_onnx_model_free(m);
}

TEST(part, invalid_cuts_are_explained)
{
    cq_onnx_model *m = parse(net);

    CHECK_STATUS(CQ_E_ARGUMENT, cut(m, "b", NULL, "y"));
    CHECK(strstr(cq_last_error()->message, "not listed: c"));
    CHECK_STATUS(CQ_E_ARGUMENT, cut(m, "y", NULL, "z"));
    CHECK(strstr(cq_last_error()->message, "no output depends on input 'y'"));
    CHECK_STATUS(CQ_E_ARGUMENT, cut(m, "nope", NULL, "z"));
    CHECK_STATUS(CQ_E_ARGUMENT, cut(m, "a", NULL, "nope"));
    CHECK_STATUS(CQ_E_ARGUMENT, cut(m, "a", "a", "z"));
    CHECK_STATUS(CQ_E_ARGUMENT, cut(m, "a", NULL, "a"));
    CHECK_INT(5, m->graph->node.n);
    cq_onnx_model_free(m);
}

static cq_status join(cq_onnx_model *a, cq_onnx_model *b, const char *output, const char *input)
{
    cq_connection   c = { output, input };
    cq_join_options options;

    cq_join_options_init(&options);
    options.connections   = &c;
    options.n_connections = output != NULL;
    return cq_onnx_model_join(a, b, &options);
}

TEST(part, colliding_names_get_a_number)
{
    cq_onnx_model *a = parse(net), *b = parse(net);

    CHECK_OK(join(a, b, "y", "x"));
    CHECK_INT(10, a->graph->node.n);
    CHECK_STR("c", cq_onnx_model_value_name(a, CQ_ONNX_INPUTS, 1));
    CHECK_STR("c_2", cq_onnx_model_value_name(a, CQ_ONNX_INPUTS, 2));
    CHECK_STR("z", cq_onnx_model_value_name(a, CQ_ONNX_OUTPUTS, 0));
    CHECK_STR("y_2", cq_onnx_model_value_name(a, CQ_ONNX_OUTPUTS, 1));
    CHECK_STR("batch", cq_onnx_model_value_axis(a, CQ_ONNX_OUTPUTS, 1, 0));
    check_valid(a);
    cq_onnx_model_free(a);
}

TEST(part, connected_sizes_become_one)
{
    cq_onnx_model *a = parse(HEAD "a (float[n, 4] x) => (float[n, 4] y) { y = Relu (x) }\n");
    cq_onnx_model *b = parse(HEAD "b (float[2, m] u, float[m, n] v) => (float[2, n] w) "
                                  "{ w = MatMul (u, v) }\n");

    CHECK_OK(join(a, b, "y", "u"));
    CHECK_INT(2, cq_onnx_model_value_size(a, CQ_ONNX_INPUTS, 0, 0));
    CHECK_INT(4, cq_onnx_model_value_size(a, CQ_ONNX_INPUTS, 1, 0));
    CHECK_STR("n_2", cq_onnx_model_value_axis(a, CQ_ONNX_INPUTS, 1, 1));
    check_valid(a);
    cq_onnx_model_free(a);
}

TEST(part, functions_of_one_name_are_shared_or_renamed)
{
#define FUNCTION(op)                                                                               \
    "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]>\n"                                      \
    "a (float[4] x) => (float[4] y) { y = f.g (x) }\n"                                             \
    "<domain: \"f\", opset_import: [\"\" : 17]> g (p) => (q) { q = " op " (p) }\n"
    cq_onnx_model *a = parse(FUNCTION("Relu")), *b = parse(FUNCTION("Neg"));
    cq_onnx_model *c = parse(FUNCTION("Relu"));

    CHECK_OK(join(a, b, NULL, NULL));
    CHECK_INT(2, a->functions.n);
    CHECK_STR("g", a->graph->node.items[0]->op_type);
    CHECK_STR("g_2", a->graph->node.items[1]->op_type);
    CHECK_STR("g_2", a->functions.items[1]->name);
    CHECK_OK(join(a, c, NULL, NULL));
    CHECK_INT(2, a->functions.n);
    CHECK_STR("g", a->graph->node.items[2]->op_type);
    check_valid(a);
    cq_onnx_model_free(a);
}

TEST(part, an_input_that_is_an_output_is_copied)
{
    cq_onnx_model *a = parse(HEAD "a (float[4] x) => (float[4] y) { y = Relu (x) }\n");
    cq_onnx_model *b = parse(HEAD "b (float[4] u) => (float[4] u, float[4] w) { w = Neg (u) }\n");

    CHECK_OK(join(a, b, NULL, NULL));
    CHECK_INT(2, cq_onnx_model_n_values(a, CQ_ONNX_OUTPUTS));
    CHECK_STR("u_2", cq_onnx_model_value_name(a, CQ_ONNX_OUTPUTS, 0));
    check_valid(a);
    cq_onnx_model_free(a);
}

static void refused(const char *one, const char *other, cq_status status, const char *why)
{
    cq_onnx_model *a = parse(one), *b = parse(other);

    CHECK_STATUS(status, join(a, b, NULL, NULL));
    CHECK(strstr(cq_last_error()->message, why));
    cq_onnx_model_free(a);
}

TEST(part, models_that_do_not_fit_are_refused)
{
#define ONE(type, opset)                                                                           \
    "<ir_version: 8, opset_import: [\"\" : " #opset "]>\n"                                         \
    "a (" type " x) => (" type " y) { y = Identity (x) }\n"
    refused(ONE("float[4]", 17), ONE("float[4]", 18), CQ_E_UNSUPPORTED, "ai.onnx': 17 and 18");
    refused(ONE("float[4]", 17), ONE("int64[4]", 17), CQ_E_TYPE, "FLOAT, input 'x' expects INT64");
    refused(ONE("float[4]", 17), ONE("float[5]", 17), CQ_E_TYPE, "size 4, input 'x' expects 5");
    refused(ONE("float[4]", 17), ONE("float[4, 4]", 17), CQ_E_TYPE, "expects 2");
    refused(net, ONE("float[4]", 17), CQ_E_ARGUMENT, "2 outputs");
}

static void check_step(const char *text, cq_step_side side, cq_status want)
{
    cq_onnx_model *m = parse(HEAD "n (float[N, 3, H, 8] x) => (float[N, 3, H, 8] y) "
                                  "{ y = Relu (x) }\n");
    cq_step        step;

    CHECK_STATUS(want, cq_onnx_step_new(&step, m, side, text));
    if (want == CQ_OK)
        check_valid(step.model);
    cq_onnx_model_free(step.model);
    cq_onnx_model_free(m);
}

TEST(part, steps_are_valid_models)
{
    check_step("image", CQ_STEP_BEFORE, CQ_OK);
    check_step("image:layout=NCHW:mean=0.5:std=1,2,3:scale=1", CQ_STEP_BEFORE, CQ_OK);
    check_step("softmax:axis=1", CQ_STEP_AFTER, CQ_OK);
    check_step("argmax", CQ_STEP_AFTER, CQ_OK);
    check_step("topk:2:axis=1:output=y", CQ_STEP_AFTER, CQ_OK);
    check_step("nms:boxes=y:scores=y:boxformat=center", CQ_STEP_AFTER, CQ_OK);
    check_step("image:mean=1,2", CQ_STEP_BEFORE, CQ_E_ARGUMENT);
    check_step("image:std=0", CQ_STEP_BEFORE, CQ_E_ARGUMENT);
    check_step("image:axis=1", CQ_STEP_BEFORE, CQ_E_ARGUMENT);
    check_step("softmax", CQ_STEP_BEFORE, CQ_E_ARGUMENT);
    check_step("topk", CQ_STEP_AFTER, CQ_E_ARGUMENT);
    check_step("topk:5:k=", CQ_STEP_AFTER, CQ_E_ARGUMENT);
    check_step("", CQ_STEP_AFTER, CQ_E_ARGUMENT);
    check_step("argmax:output=nope", CQ_STEP_AFTER, CQ_E_ARGUMENT);
}

RUN_TESTS(TEST_OF(part, a_cut_keeps_what_subgraphs_read),
          TEST_OF(part, inputs_default_to_those_that_are_needed),
          TEST_OF(part, one_of_several_outputs_of_a_node_can_become_an_input),
          TEST_OF(part, an_initializer_can_become_an_input),
          TEST_OF(part, invalid_cuts_are_explained), TEST_OF(part, colliding_names_get_a_number),
          TEST_OF(part, connected_sizes_become_one),
          TEST_OF(part, functions_of_one_name_are_shared_or_renamed),
          TEST_OF(part, an_input_that_is_an_output_is_copied),
          TEST_OF(part, models_that_do_not_fit_are_refused), TEST_OF(part, steps_are_valid_models))
