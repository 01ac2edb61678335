/* Inspecting models through <calque/graph.h>. */
#include "onnx/model.h"

#include "test.h"

#include <string.h>

static const char text[] =
    "<ir_version: 8, opset_import: [\"\" : 17, \"my\" : 2], metadata_props: [\"k\": \"v\"]>\n"
    "main (float[n, 3] x, bool c) => (seq(float[]) s, optional(float[2]) o)\n"
    "<float[2] w = {1, 2}, float[3, n] t> {\n"
    "  t = Transpose <perm = [1, 0]> (x)\n"
    "  u = LeakyRelu <alpha = 0.5> (t)\n"
    "  b = If (c) <then_branch = yes () => (float[1] y) { y = Constant <value = float[1] {7}> () "
    "},\n"
    "              else_branch = no () => (float[1] y) { y = my.Thing <names = [\"a\", \"b\"], "
    "mode = \"fast\"> (u, , w) }>\n"
    "  s = SequenceConstruct (b)\n"
    "  o = Optional (w)\n"
    "}\n"
    "<domain: \"my\", opset_import: [\"\" : 17]>\n"
    "Thing <alpha> (a, b, c) => (d) { d = LeakyRelu <alpha: float = @alpha> (a) }\n";

static cq_onnx_model *model(void)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "look"));
    return m;
}

static void check_type(const char *want, const cq_onnx_value_info *v)
{
    char *got;

    CHECK_OK(cq_onnx_value_info_type(&got, v));
    CHECK_STR(want, got);
    cq_buffer_free(got);
}

TEST(look, a_model_has_opsets_metadata_and_functions)
{
    cq_onnx_model          *m = model();
    const cq_onnx_function *f = cq_onnx_model_function(m, 0);
    const char             *domain, *value;
    int64_t                 version;

    CHECK(cq_onnx_model_opset_at(m, 1, &domain, &version));
    CHECK_STR("my", domain);
    CHECK_INT(2, version);
    CHECK(!cq_onnx_model_opset_at(m, 2, &domain, &version));
    CHECK_STR("", domain);
    CHECK(cq_onnx_model_metadata(m, 0, &domain, &value));
    CHECK_STR("v", value);
    CHECK(!cq_onnx_model_metadata(m, 1, NULL, NULL));
    CHECK_INT(1, cq_onnx_model_n_functions(m));
    CHECK_STR("Thing", cq_onnx_function_name(f));
    CHECK_STR("my", cq_onnx_function_domain(f));
    CHECK_INT(3, cq_onnx_function_n_inputs(f));
    CHECK_STR("c", cq_onnx_function_input(f, 2));
    CHECK_INT(1, cq_onnx_function_n_outputs(f));
    CHECK_STR("d", cq_onnx_function_output(f, 0));
    CHECK_INT(1, cq_onnx_function_n_nodes(f));
    CHECK_STR("alpha", cq_onnx_attribute_refers_to(
                           cq_onnx_node_attribute_at(cq_onnx_function_node(f, 0), 0)));
    CHECK(!cq_onnx_model_function(m, 1));
    cq_onnx_model_free(m);
}

TEST(look, values_have_types_and_sizes)
{
    cq_onnx_model            *m = model();
    const cq_onnx_graph      *g = cq_onnx_model_graph(m);
    const cq_onnx_value_info *x = cq_onnx_graph_value(g, CQ_ONNX_INPUTS, 0);

    CHECK_STR("main", cq_onnx_graph_name(g));
    CHECK_INT(2, cq_onnx_graph_n_values(g, CQ_ONNX_INPUTS));
    CHECK_STR("x", cq_onnx_value_info_name(x));
    CHECK_INT(CQ_DTYPE_F32, cq_onnx_value_info_dtype(x));
    CHECK_INT(2, cq_onnx_value_info_rank(x));
    CHECK_INT(-1, cq_onnx_value_info_size(x, 0));
    CHECK_STR("n", cq_onnx_value_info_axis(x, 0));
    CHECK_INT(3, cq_onnx_value_info_size(x, 1));
    CHECK_INT(-1, cq_onnx_value_info_size(x, 2));
    check_type("tensor(float)", x);
    check_type("tensor(bool)", cq_onnx_graph_value(g, CQ_ONNX_INPUTS, 1));
    check_type("seq(tensor(float))", cq_onnx_graph_value(g, CQ_ONNX_OUTPUTS, 0));
    check_type("optional(tensor(float))", cq_onnx_graph_value(g, CQ_ONNX_OUTPUTS, 1));
    CHECK_INT(1, cq_onnx_graph_n_values(g, CQ_ONNX_INNER));
    CHECK_STR("t", cq_onnx_value_info_name(cq_onnx_graph_value(g, CQ_ONNX_INNER, 0)));
    CHECK_INT(1, cq_onnx_graph_n_initializers(g));
    CHECK_STR("w", cq_onnx_tensor_name(cq_onnx_graph_initializer(g, 0)));
    CHECK(!cq_onnx_graph_initializer(g, 1));
    cq_onnx_model_free(m);
}

TEST(look, nodes_have_attributes_and_graphs)
{
    cq_onnx_model           *m    = model();
    const cq_onnx_graph     *g    = cq_onnx_model_graph(m);
    const cq_onnx_node      *node = cq_onnx_graph_node(g, 0);
    const cq_onnx_attribute *a    = cq_onnx_node_attribute_at(node, 0);
    size_t                   n;

    CHECK_INT(5, cq_onnx_graph_n_nodes(g));
    CHECK_STR("Transpose", cq_onnx_node_op_type(node));
    CHECK_STR("perm", cq_onnx_attribute_name(a));
    CHECK_INT(CQ_ONNX_ATTR_INTS, cq_onnx_attribute_kind(a));
    CHECK_INT(2, cq_onnx_attribute_count(a));
    CHECK_INT(1, cq_onnx_attribute_int(a, 0));
    CHECK_INT(0, cq_onnx_attribute_int(a, 2));
    CHECK(cq_onnx_attribute_float(cq_onnx_node_attribute_at(cq_onnx_graph_node(g, 1), 0), 0) ==
          0.5);

    node = cq_onnx_graph_node(g, 2);
    CHECK_INT(2, cq_onnx_node_n_attributes(node));
    g = cq_onnx_attribute_graph(cq_onnx_node_attribute_at(node, 0), 0);
    CHECK_STR("yes", cq_onnx_graph_name(g));
    a = cq_onnx_node_attribute_at(cq_onnx_graph_node(g, 0), 0);
    CHECK(cq_onnx_attribute_tensor(a, 0) != NULL);
    g    = cq_onnx_attribute_graph(cq_onnx_node_attribute_at(node, 1), 0);
    node = cq_onnx_graph_node(g, 0);
    CHECK_STR("my", cq_onnx_node_domain(node));
    CHECK_INT(3, cq_onnx_node_n_inputs(node));
    CHECK_STR("", cq_onnx_node_input(node, 1));
    CHECK_STR("w", cq_onnx_node_input(node, 2));
    CHECK_INT(1, cq_onnx_node_n_outputs(node));
    a = cq_onnx_node_attribute_at(node, 0);
    CHECK_INT(2, cq_onnx_attribute_count(a));
    CHECK(*cq_onnx_attribute_string(a, 1, &n) == 'b' && n == 1);
    a = cq_onnx_node_attribute_at(node, 1);
    CHECK(!memcmp("fast", cq_onnx_attribute_string(a, 0, &n), 4) && n == 4);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(look, a_model_has_opsets_metadata_and_functions),
          TEST_OF(look, values_have_types_and_sizes),
          TEST_OF(look, nodes_have_attributes_and_graphs))
