/* Look-up and parsing of schema rows, and checks of nodes. tests/peer/onnx_schemas.py compares all
 * rows with the onnx package. */
#include "onnx/schema.h"
#include "test.h"

static const cq_onnx_schema *find(const char *name, int64_t version)
{
    const cq_onnx_schema *s = NULL;

    CHECK_OK(cq_onnx_schema_find(&s, "", name, version));
    return s;
}

TEST(schema, every_row_is_read)
{
    const cq_onnx_schema *s;
    cq_status             status;
    size_t                n = 0;

    while ((status = cq_onnx_schema_at(&s, n)) == CQ_OK) {
        CHECK(s->since >= 1);
        n++;
    }
    CHECK_INT(CQ_E_NOT_FOUND, status);
    CHECK(n >= 444);
}

TEST(schema, newest_row_not_above_the_version_is_found)
{
    CHECK_INT(1, find("Conv", 10)->since);
    CHECK_INT(11, find("Conv", 11)->since);
    CHECK_INT(11, find("Conv", 17)->since);
    CHECK(find("Gelu", 1) == NULL);
    CHECK(find("NoSuchOperator", 17) == NULL);
    CHECK(find("Conv", 0) == NULL);
}

TEST(schema, parts_of_a_row_arrive)
{
    const cq_onnx_schema *s = find("Conv", 11);

    CHECK_INT(3, s->n_inputs);
    CHECK_STR("B", s->inputs[2].name);
    CHECK_INT(CQ_ONNX_OPTIONAL, s->inputs[2].arity);
    CHECK_INT(2, s->min_inputs);
    CHECK_INT(3, s->max_inputs);
    CHECK_STR("NOTSET", cq_onnx_schema_attr(s, "auto_pad")->fallback);
    CHECK(cq_onnx_schema_attr(s, "pads")->fallback == NULL);
    CHECK(find("MaxPool", 12)->attributes[3].is_required);
    CHECK(s->inputs[0].types.of[CQ_ONNX_WRAP_TENSOR] ==
          (1u << CQ_ONNX_FLOAT | 1u << CQ_ONNX_FLOAT16 | 1u << CQ_ONNX_DOUBLE));
    CHECK(find("Loop", 13)->max_inputs == SIZE_MAX);
    CHECK_INT(2, find("Loop", 13)->min_inputs);
    CHECK_INT(3, find("Loop", 1)->min_inputs);
}

static cq_onnx_model *model;

static cq_onnx_node *conv(void)
{
    cq_onnx_node *node = cq_onnx_graph_add_node(model, NULL, "Conv", NULL, "c");

    cq_onnx_node_add_input(model, node, "x");
    cq_onnx_node_add_input(model, node, "w");
    cq_onnx_node_add_output(model, node, "y");
    return node;
}

TEST(schema, nodes_that_break_a_rule_are_refused)
{
    cq_onnx_node *node;

    CHECK_OK(cq_onnx_model_new(&model, "g"));
    CHECK_OK(cq_onnx_schema_check(conv(), 13));
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(conv(), 0));

    node = conv();
    cq_onnx_node_add_output(model, node, "z");
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(node, 13));

    node                 = conv();
    node->input.items[1] = "";
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(node, 13));
    CHECK_STR("W is omitted, but input 1 of Conv is not optional", cq_last_error()->message);

    node = conv();
    cq_onnx_attr_float(model, node, "group", 1);
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(node, 13));

    node = conv();
    cq_onnx_attr_int(model, node, "groups", 1);
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(node, 13));
    CHECK_STR("Conv has no attribute groups at version 11", cq_last_error()->message);

    node          = conv();
    node->op_type = "MaxPool";
    node->input.n = 1;
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(node, 13));
    CHECK_STR("MaxPool lacks its required attribute kernel_shape", cq_last_error()->message);

    node          = conv();
    node->op_type = "NoSuchOperator";
    CHECK_STATUS(CQ_E_INVALID, cq_onnx_schema_check(node, 13));
    node->domain = "com.example";
    CHECK_OK(cq_onnx_schema_check(node, 13));
    cq_onnx_model_free(model);
}

RUN_TESTS(TEST_OF(schema, every_row_is_read),
          TEST_OF(schema, newest_row_not_above_the_version_is_found),
          TEST_OF(schema, parts_of_a_row_arrive),
          TEST_OF(schema, nodes_that_break_a_rule_are_refused))
