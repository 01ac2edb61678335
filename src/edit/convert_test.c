#include "onnx/model.h"
#include "onnx/schema.h"

#include "test.h"

#include <calque/edit.h>

#include <stdio.h>

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "<test>"));
    return m;
}

static void check_ops(const cq_onnx_model *m, const char *ops)
{
    char got[512] = "";

    for (size_t i = 0; i < m->graph->node.n; i++) {
        if (i)
            strcat(got, " ");
        strcat(got, m->graph->node.items[i]->op_type);
    }
    CHECK_STR(ops, got);
}

static void prove(const char *text, const cq_onnx_model *after, uint32_t flags, double tolerance)
{
    cq_onnx_model   *before = parse(text);
    cq_proof_options options;
    cq_proof         proof;

    cq_proof_options_init(&options);
    options.flags = flags;
    options.rtol = options.atol = tolerance;
    CHECK_OK(cq_onnx_prove(&proof, before, after, &options));
    CHECK(proof.n_runs > 0);
    cq_onnx_model_free(before);
}

static const char old_net[] = "<ir_version: 6, opset_import: [\"\" : 11]>\n"
                              "g (float[2, 3, 4] x) => (float[2, 1, 3, 4] y) {\n"
                              "a = Softmax <axis = 1> (x)\n y = Unsqueeze <axes = [1]> (a) }";

static void an_opset_rises(void **state)
{
    cq_onnx_model *m = parse(old_net);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_opset(m, 21));
    CHECK_INT(21, cq_onnx_model_opset(m, ""));
    CHECK(m->ir_version >= 10);
    check_ops(m, "Flatten Softmax Shape Reshape Constant Unsqueeze");
    prove(old_net, m, 0, 1e-5);
    cq_onnx_model_free(m);
}

static void an_opset_falls(void **state)
{
    static const char text[] =
        "<ir_version: 8, opset_import: [\"\" : 17]>\n"
        "g (float[2, 3, 4] x) => (float[2, 1] y) <int64[2] a = {-1, -2}> {\n"
        "s = Softmax <axis = 1> (x)\n t = HardSwish (s)\n"
        "u = ReduceSum <keepdims = 0> (t, a)\n o = Constant <value = int64[1] {1}> ()\n"
        "y = Unsqueeze (u, o) }";
    cq_onnx_model *m = parse(text);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_opset(m, 10));
    prove(text, m, 0, 1e-5);
    cq_onnx_model_free(m);
}

static void unequal_parts_of_split_get_sizes(void **state)
{
    static const char text[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                               "g (float[7] x) => (float[3] a, float[3] b, float[1] c) {\n"
                               "a, b, c = Split <num_outputs = 3> (x) }";

    (void)state;
    for (int64_t opset = 11; opset <= 17; opset += 6) {
        cq_onnx_model *m = parse(text);

        CHECK_OK(cq_onnx_model_convert_opset(m, opset));
        prove(text, m, 0, 0);
        cq_onnx_model_free(m);
    }
}

/* Along a dynamic axis the sizes of parts are computed. */
static void parts_of_a_dynamic_axis_get_sizes(void **state)
{
    static const char text[] = "<ir_version: 8, opset_import: [\"\" : 18]>\n"
                               "g (float[n, 2] x) => (float[a, 2] p, float[b, 2] q) {\n"
                               "p, q = Split <axis = 0, num_outputs = 2> (x) }";
    cq_onnx_model    *m      = parse(text);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_opset(m, 13));
    prove(text, m, 0, 0);
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_model_convert_opset(m, 12));
    CHECK(strstr(cq_last_error()->message, "the lowest opset that can is 13"));
    cq_onnx_model_free(m);
}

static void all_nodes_that_cannot_be_said_are_listed(void **state)
{
    static const char text[] =
        "<ir_version: 8, opset_import: [\"\" : 18]>\n"
        "g (int32[3] x) => (int32[3] y) { [one] a = BitwiseAnd (x, x)\n"
        "[two] b = Einsum <equation = \"i,i->i\"> (a, x)\n [three] y = BitwiseNot(b) }";
    cq_onnx_model *m = parse(text);

    (void)state;
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_model_convert_opset(m, 11));
    CHECK(strstr(cq_last_error()->message, "2 nodes: one (BitwiseAnd)"));
    CHECK(strstr(cq_last_error()->message, "two (Einsum)"));
    CHECK(strstr(cq_last_error()->message, "the lowest opset that can is 18"));
    cq_onnx_model_free(m);
}

/* Types that an older version does not accept are cast to wider ones. */
static void types_are_widened(void **state)
{
    static const char text[] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                               "g (int8[3] x, int8[3] y) => (int8[3] z, bool[3] less) {\n"
                               "s = Add (x, y)\n z = Max (s, x)\n less = LessOrEqual (x, z) }";
    cq_onnx_model    *m      = parse(text);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_opset(m, 10));
    prove(text, m, 0, 0);
    cq_onnx_model_free(m);
}

static const char with_function[] =
    "<ir_version: 8, opset_import: [\"\" : 17, \"f\" : 1]>\n"
    "g (float[2, 3] x) => (float[2, 3] y) { y = f.twice (x) }\n"
    "<domain: \"f\", opset_import: [\"\" : 17]> twice (a) => (b) { ";

static void functions_are_converted(void **state)
{
    static const struct {
        const char *body;
        size_t      n_functions; /* afterwards: one that needs types is inlined */
    } cases[] = { { "o = Constant <value = int64[1] {0}> ()\n c = Unsqueeze (a, o)\n"
                    "b = Squeeze (c, o)",
                    1 },
                  { "b = Softmax <axis = 0> (a)", 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char           text[600];
        cq_onnx_model *m;

        snprintf(text, sizeof text, "%s%s }", with_function, cases[i].body);
        m = parse(text);
        CHECK_OK(cq_onnx_model_convert_opset(m, 11));
        CHECK_INT((int64_t)cases[i].n_functions, (int64_t)m->functions.n);
        if (m->functions.n)
            CHECK_INT(11, cq_onnx_imported(&m->functions.items[0]->opset_import, ""));
        prove(text, m, 0, 1e-6);
        cq_onnx_model_free(m);
    }
}

static void a_model_of_another_domain_only_is_unchanged(void **state)
{
    static const char text[] =
        "<ir_version: 8, opset_import: [\"ai.onnx.ml\" : 3]>\n"
        "g (float[n, 2] x) => (float[n, 2] y) {\n"
        "y = ai.onnx.ml.Scaler <offset = [1.0, 2.0], scale = [2.0, 3.0]> (x) }";
    cq_onnx_model *m = parse(text);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_opset(m, 15));
    CHECK_INT(15, cq_onnx_model_opset(m, ""));
    check_ops(m, "Scaler");
    prove(text, m, 0, 0);
    cq_onnx_model_free(m);
}

static const char float_net[] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                "g (float[2, 3] x) => (float[2, 3] y)\n"
                                "<float[3, 3] w = {1,2,3,4,5,6,7,8,9}, float big = {100000}> {\n"
                                "a = MatMul (x, w)\n b = Mul (a, big)\n c = Div (b, big)\n"
                                "y = Tanh (c) }";

static void large_values_stay_float32(void **state)
{
    cq_onnx_model *m = parse(float_net);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_float(m, CQ_DTYPE_F16, NULL));
    check_ops(m, "Cast MatMul Cast Mul Div Cast Tanh Cast");
    prove(float_net, m, CQ_PROOF_LOSSY, 0.02);
    CHECK_OK(cq_onnx_model_convert_float(m, CQ_DTYPE_F32, NULL));
    prove(float_net, m, CQ_PROOF_LOSSY, 0.02);
    cq_onnx_model_free(m);
}

/* Cast needs opset 13 for bfloat16, and any opset for a model of another domain. */
static void the_opset_has_the_casts(void **state)
{
    static const char *const texts[] = {
        "<ir_version: 5, opset_import: [\"\" : 10]>\n"
        "g (float[2, 3] x) => (float[2, 3] y) { a = Cast <to = 1> (x)\n y = Relu (a) }",
        "<ir_version: 5, opset_import: [\"ai.onnx.ml\" : 1]>\n"
        "g (float[2, 2] x) => (float[2, 2] y) {\n"
        "y = ai.onnx.ml.Scaler <offset = [1.0, 2.0], scale = [2.0, 3.0]> (x) }"
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cq_onnx_model       *m = parse(texts[i]);
        cq_precision_options options;

        cq_precision_options_init(&options);
        options.flags = CQ_PRECISION_IO;
        CHECK_OK(cq_onnx_model_convert_float(m, CQ_DTYPE_BF16, &options));
        CHECK_INT(13, cq_onnx_model_opset(m, ""));
        prove(texts[i], m, CQ_PROOF_LOSSY, 0.1);
        cq_onnx_model_free(m);
    }
}

static void masks_of_integers_are_added(void **state)
{
    static const char text[] = "<ir_version: 11, opset_import: [\"\" : 23]>\n"
                               "g (float[1, 2, 3, 4] q, int32[3, 3] m) => (float[1, 2, 3, 4] y) {\n"
                               "y = Attention (q, q, q, m) }";
    cq_onnx_model    *m      = parse(text);

    (void)state;
    CHECK_OK(cq_onnx_model_convert_opset(m, 13));
    prove(text, m, 0, 1e-3);
    cq_onnx_model_free(m);
}

/* A sine of large numbers shows the rounding of the inputs. */
static void both_models_get_rounded_inputs(void **state)
{
    static const char    text[] = "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                                  "g (float[300] x) => (float[300] y) <float c = {64}> {\n"
                                  "a = Mul (x, c)\n y = Sin (a) }";
    cq_onnx_model       *m      = parse(text);
    cq_precision_options options;

    (void)state;
    cq_precision_options_init(&options);
    options.flags = CQ_PRECISION_IO;
    CHECK_OK(cq_onnx_model_convert_float(m, CQ_DTYPE_BF16, &options));
    prove(text, m, CQ_PROOF_LOSSY, 0.1);
    cq_onnx_model_free(m);
}

static void kept_operators_keep_their_type(void **state)
{
    const char          *keep[] = { "MatMul", "Tanh" };
    cq_precision_options options;
    cq_onnx_model       *m = parse(float_net);

    (void)state;
    cq_precision_options_init(&options);
    options.keep   = keep;
    options.n_keep = 2;
    CHECK_OK(cq_onnx_model_convert_float(m, CQ_DTYPE_F16, &options));
    check_ops(m, "MatMul Mul Div Tanh");
    cq_onnx_model_free(m);
}

static void values_are_renamed(void **state)
{
    cq_onnx_model *m = parse(old_net);

    (void)state;
    CHECK_OK(cq_onnx_model_rename(m, "x", "image"));
    CHECK_STR("image", m->graph->input.items[0]->name);
    CHECK_STR("image", m->graph->node.items[0]->input.items[0]);
    CHECK_STATUS(CQ_E_NOT_FOUND, cq_onnx_model_rename(m, "nothing", "z"));
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_rename(m, "image", "y"));
    cq_onnx_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_opset_rises),
        cmocka_unit_test(an_opset_falls),
        cmocka_unit_test(unequal_parts_of_split_get_sizes),
        cmocka_unit_test(all_nodes_that_cannot_be_said_are_listed),
        cmocka_unit_test(parts_of_a_dynamic_axis_get_sizes),
        cmocka_unit_test(types_are_widened),
        cmocka_unit_test(functions_are_converted),
        cmocka_unit_test(a_model_of_another_domain_only_is_unchanged),
        cmocka_unit_test(large_values_stay_float32),
        cmocka_unit_test(the_opset_has_the_casts),
        cmocka_unit_test(masks_of_integers_are_added),
        cmocka_unit_test(both_models_get_rounded_inputs),
        cmocka_unit_test(kept_operators_keep_their_type),
        cmocka_unit_test(values_are_renamed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
