#include "onnx/model.h"

#include "test.h"

#include <calque/edit.h>

#define HEAD "<ir_version: 8, opset_import: [\"\" : 17]>\n"

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "<test>"));
    return m;
}

/* Optimizes, proves, and gives the model. */
static cq_onnx_model *optimized(const char *text, const cq_optimize_options *options)
{
    cq_onnx_model *before = parse(text), *after = parse(text);
    cq_proof       proof;

    CHECK_OK(cq_onnx_model_optimize(after, NULL, options));
    CHECK_OK(cq_onnx_prove(&proof, before, after, NULL));
    CHECK(proof.n_runs > 0);
    cq_onnx_model_free(before);
    return after;
}

static void check_nodes(const char *text, const char *ops)
{
    cq_onnx_model *m        = optimized(text, NULL);
    char           got[512] = "";

    for (size_t i = 0; i < m->graph->node.n; i++) {
        if (i)
            strcat(got, " ");
        strcat(got, m->graph->node.items[i]->op_type);
    }
    CHECK_STR(ops, got);
    cq_onnx_model_free(m);
}

static void identity_and_dropout_go(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[n] x) => (float[n] y) {\n"
                     "a = Identity (x)\n b = Dropout (a)\n c = Relu (b)\n y = Identity (c) }",
                "Relu");
}

static void an_output_that_is_an_input_stays(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[n] x) => (float[n] y) { y = Identity (x) }", "Identity");
}

static void zeros_of_a_known_shape_go(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[2, 3] x) => (float[2, 3] y) <int64[2] s = {2, 3}> {\n"
                     "z = ConstantOfShape (s)\n a = Add (x, z)\n b = CastLike (a, x)\n"
                     "y = Relu (b) }",
                "Relu");
    check_nodes(HEAD "g (float[2, 3] x, int64[2, 3] k) => (float[2, 3] y) {\n"
                     "a = CastLike (k, x)\n y = Add (x, a) }",
                "CastLike Add");
}

/* An LSTM whose cells start with a number, and whose hidden state is h, or starts with it too. */
#define LSTM(number, state)                                                                        \
    HEAD "g (float[t, b, 2] x, float[1, 4, 2] w, float[1, 4, 1] r, float[1, b, 1] h)\n"            \
         "=> (float[t, 1, b, 1] y) <int64[1] one = {1}> {\n"                                       \
         "n = Shape <start = 1, end = 2> (x)\n s = Concat <axis = 0> (one, n, one)\n"              \
         "c = ConstantOfShape <value = float[1] {" number "}> (s)\n"                               \
         "y = LSTM <hidden_size = 1> (x, w, r, , , " state ", c) }"

static void initial_states_of_zeros_go(void **state)
{
    (void)state;
    check_nodes(LSTM("0", "c"), "LSTM");
    check_nodes(LSTM("0", "h"), "LSTM");
    check_nodes(LSTM("1", "h"), "Shape Concat ConstantOfShape LSTM");
}

static void constants_are_computed(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[2] x) => (float[2] y) <float[2] a = {1, 2}, float[2] b = {3, 4}> {\n"
                     "c = Mul (a, b)\n d = HardSwish (c)\n y = Add (x, d) }",
                "Add");
}

static void shapes_are_computed(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[n, 4, 6] x) => (float[n, 24] y) <int64[1] last = {24},\n"
                     "int64 zero = {0}, int64[1] axis = {0}> {\n"
                     "s = Shape (x)\n i = Gather (s, zero)\n u = Unsqueeze (i, axis)\n"
                     "t = Concat <axis = 0> (u, last)\n y = Reshape (x, t) }",
                "Reshape");
}

static void a_known_branch_is_taken(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[3] x) => (float[3] y) <bool c = {1}> {\n"
                     "y = If (c) <then_branch = a () => (float[3] p) { p = Neg (x) },\n"
                     "else_branch = b () => (float[3] q) { q = Abs (x) }> }",
                "Neg");
}

static void branches_on_data_stay(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[3] x, bool c) => (float[3] y) {\n"
                     "y = If (c) <then_branch = a () => (float[3] p) { i = Identity (x)\n"
                     "p = Neg (i) }, else_branch = b () => (float[3] p) { p = Abs (x) }> }",
                "If");
}

#define LOOP(trips, body)                                                                          \
    HEAD "g (float[3] x) => (float[3] y) <int64 m = {" trips "}, bool yes = {1}> {\n"              \
         "y = Loop (m, yes, x) <body = b (int64 i, bool c, float[3] s) =>\n"                       \
         "(bool d, float[3] t) { " body " }> }"

static void loops_of_known_length_are_unrolled(void **state)
{
    (void)state;
    check_nodes(LOOP("3", "d = Identity (c)\n t = Sin (s)"), "Sin Sin Sin");
    check_nodes(LOOP("1", "d = Identity (c)\n t = Sin (s)"), "Sin");
    check_nodes(LOOP("0", "d = Identity (c)\n t = Sin (s)"), "Identity");
    check_nodes(LOOP("9", "d = Constant <value = bool {0}> ()\n t = Sin (s)"), "Sin");
    /* The number of the iteration is a constant of it. */
    check_nodes(LOOP("2", "d = Identity (c)\n f = Cast <to = 1> (i)\n t = Add (s, f)"), "Add");
}

static void other_loops_stay(void **state)
{
    (void)state;
    check_nodes(LOOP("900", "d = Identity (c)\n t = Sin (s)"), "Loop");
    check_nodes(LOOP("3", "z = ReduceSum <keepdims = 0> (s)\n o = Constant <value = float {0}> ()\n"
                          "d = Greater (z, o)\n t = Sin (s)"),
                "Loop");
}

static void unread_inputs_go_on_request(void **state)
{
    static const char   text[] = HEAD "g (float[3] x, float[3] z) => (float[3] y) { y = Neg (x) }";
    cq_optimize_options options;
    cq_onnx_model      *m;

    (void)state;
    cq_optimize_options_init(&options);
    m = optimized(text, &options);
    CHECK(m->graph->input.n == 2);
    cq_onnx_model_free(m);
    options.flags = CQ_OPTIMIZE_DROP_UNREAD_INPUTS;
    m             = optimized(text, &options);
    CHECK(m->graph->input.n == 1);
    cq_onnx_model_free(m);
}

static void a_model_without_a_graph_is_an_error(void **state)
{
    cq_onnx_model *m = NULL;

    (void)state;
    CHECK_OK(cq_onnx_model_decode(&m, "\x08\x07", 2));
    CHECK(cq_onnx_model_optimize(m, NULL, NULL) == CQ_E_INVALID);
    CHECK_STR("the model has no graph", cq_last_error()->message);
    cq_onnx_model_free(m);
}

static void equal_nodes_are_one(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[3] x) => (float[3] y) { a = Sigmoid (x)\n b = Sigmoid (x)\n"
                     "y = Mul (a, b) }",
                "Sigmoid Mul");
}

static void sums_and_transposes_become_gemm(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[n, 2] x, float[3, 2] w, float[3] b) => (float[n, 3] y) {\n"
                     "t = Transpose <perm = [1, 0]> (w)\n p = MatMul (x, t)\n y = Add (b, p) }",
                "Gemm");
}

static void padding_goes_into_the_convolution(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[1, 1, 4, 4] x) => (float[1, 1, 4, 4] y)\n"
                     "<float[1, 1, 3, 3] w = {1,2,3,4,5,6,7,8,9}, float[1, 1, 1] b = {2},\n"
                     "int64[8] p = {0, 0, 1, 1, 0, 0, 1, 1}> {\n"
                     "a = Pad (x, p)\n c = Conv (a, w)\n y = Add (c, b) }",
                "Conv");
}

/* Before IR version 4 constants are inputs, too. Their types change with them. */
static void constants_that_are_inputs_have_their_new_type(void **state)
{
    static const char text[] =
        "<ir_version: 3, opset_import: [\"\" : 8]>\n"
        "g (float[1, 2, 3, 3] x, float[4, 2, 1, 1] w, float[4, 1, 1] b) => (float[1, 4, 3, 3] y)\n"
        "<float[4, 2, 1, 1] w = {1, 2, 3, 4, 5, 6, 7, 8}, float[4, 1, 1] b = {1, 2, 3, 4}> {\n"
        "a = Conv (x, w)\n y = Add (a, b) }";
    cq_onnx_model    *m = optimized(text, NULL);
    cq_onnx_findings *f;

    (void)state;
    CHECK_INT(1, m->graph->node.n);
    CHECK_OK(cq_onnx_model_infer(m, CQ_ONNX_INFER_STRICT));
    CHECK_OK(cq_onnx_model_check(&f, m));
    CHECK_INT(0, cq_onnx_findings_count(f));
    cq_onnx_findings_free(f);
    for (size_t i = 0; i < m->graph->input.n; i++)
        if (!strcmp(m->graph->input.items[i]->name, "b"))
            CHECK_INT(1, cq_onnx_model_value_rank(m, CQ_ONNX_INPUTS, i));
    cq_onnx_model_free(m);
}

static void defaults_of_inputs_are_not_constants(void **state)
{
    (void)state;
    check_nodes(HEAD "g (float[2] x, float[2] w) => (float[2] y) <float[2] w = {1, 2}> {\n"
                     "a = Neg (w)\n y = Add (x, a) }",
                "Neg Add");
}

static void functions_are_inlined_on_request(void **state)
{
    static const char   text[] = "<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 1]>\n"
                                 "g (float[3] x) => (float[3] y) { y = my.twice <k = 2.0> (x) }\n"
                                 "<domain: \"my\", opset_import: [\"\" : 17]>\n"
                                 "twice <k> (a) => (b) { c = Constant <value_float: float = @k> ()\n"
                                 "b = Mul (a, c) }";
    cq_optimize_options options;
    cq_onnx_model      *m;

    (void)state;
    cq_optimize_options_init(&options);
    m = optimized(text, &options);
    CHECK_STR("twice", m->graph->node.items[0]->op_type);
    CHECK_INT(1, m->functions.n);
    cq_onnx_model_free(m);
    options.flags = CQ_OPTIMIZE_INLINE;
    m             = optimized(text, &options);
    CHECK_INT(1, m->graph->node.n);
    CHECK_STR("Mul", m->graph->node.items[0]->op_type);
    CHECK_INT(0, m->functions.n);
    cq_onnx_model_free(m);
}

static void passes_can_be_chosen(void **state)
{
    static const char   text[] = HEAD "g (float[n] x) => (float[n] y) { a = Identity (x)\n"
                                      "b = Relu (a)\n y = Relu (b)\n c = Neg (x) }";
    const char         *only[] = { "dead" };
    cq_optimize_options options;
    cq_onnx_model      *m;

    (void)state;
    cq_optimize_options_init(&options);
    options.only   = only;
    options.n_only = 1;
    m              = optimized(text, &options);
    CHECK_INT(3, m->graph->node.n);
    cq_onnx_model_free(m);
    only[0] = "nothing";
    m       = parse(text);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_optimize(m, NULL, &options));
    cq_onnx_model_free(m);
}

static void sparse_defaults_of_inputs_stay(void **state)
{
    static const char text[] =
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[3] x, float[3] y) => (float[3] z) {\n z = Add (x, y) }\n"
        "#@ graph sparse_initializer { values { dims: 1 data_type: 1 float_data: 2 name: \"x\" }"
        " indices { dims: 1 data_type: 7 int64_data: 1 } dims: 3 }\n";
    cq_onnx_model *m = parse(text);

    (void)state;
    CHECK_INT(1, m->graph->sparse_initializer.n);
    CHECK_OK(cq_onnx_model_optimize(m, NULL, NULL));
    CHECK_INT(1, m->graph->sparse_initializer.n);
    CHECK_INT(2, m->graph->input.n);
    CHECK_STR("x", m->graph->node.items[0]->input.items[0]);
    cq_onnx_model_free(m);
}

/* Of two nodes with one output the order says which is read; sorting would guess. */
static void an_ambiguous_order_is_an_error(void **state)
{
    cq_onnx_model *m = parse(HEAD "g (float[n] x) => (float[n] y) {\n"
                                  "y = Add (a, b)\n a = Relu (x)\n b = Neg (a)\n a = Abs (x) }");

    (void)state;
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_model_optimize(m, NULL, NULL));
    CHECK(strstr(cq_last_error()->message, "value 'a' is the output of two nodes"));
    cq_onnx_model_free(m);
}

static void metadata_and_documentation_stay(void **state)
{
    cq_onnx_model *m = parse(HEAD "g (float[n] x) => (float[n] y) { a = Identity (x)\n"
                                  "y = Relu (a) }");

    (void)state;
    m->graph->node.items[1]->doc_string = "the layer";
    m->graph->node.items[1]->name       = "layer";
    m->doc_string                       = "the model";
    cq_onnx_add_entry(m, &m->metadata_props, "author", "someone");
    CHECK_OK(cq_onnx_model_optimize(m, NULL, NULL));
    CHECK_INT(1, m->graph->node.n);
    CHECK_STR("the layer", m->graph->node.items[0]->doc_string);
    CHECK_STR("layer", m->graph->node.items[0]->name);
    CHECK_STR("the model", m->doc_string);
    CHECK_INT(1, m->metadata_props.n);
    cq_onnx_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(identity_and_dropout_go),
        cmocka_unit_test(an_output_that_is_an_input_stays),
        cmocka_unit_test(zeros_of_a_known_shape_go),
        cmocka_unit_test(initial_states_of_zeros_go),
        cmocka_unit_test(constants_are_computed),
        cmocka_unit_test(shapes_are_computed),
        cmocka_unit_test(a_known_branch_is_taken),
        cmocka_unit_test(loops_of_known_length_are_unrolled),
        cmocka_unit_test(other_loops_stay),
        cmocka_unit_test(unread_inputs_go_on_request),
        cmocka_unit_test(a_model_without_a_graph_is_an_error),
        cmocka_unit_test(branches_on_data_stay),
        cmocka_unit_test(equal_nodes_are_one),
        cmocka_unit_test(sums_and_transposes_become_gemm),
        cmocka_unit_test(padding_goes_into_the_convolution),
        cmocka_unit_test(constants_that_are_inputs_have_their_new_type),
        cmocka_unit_test(defaults_of_inputs_are_not_constants),
        cmocka_unit_test(functions_are_inlined_on_request),
        cmocka_unit_test(passes_can_be_chosen),
        cmocka_unit_test(an_ambiguous_order_is_an_error),
        cmocka_unit_test(sparse_defaults_of_inputs_stay),
        cmocka_unit_test(metadata_and_documentation_stay),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
