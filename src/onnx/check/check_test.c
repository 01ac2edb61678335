/* Tests of the checker: each rule is violated once; one pass finds all violations with their
 * locations. */
#include "onnx/check/check.h"

#include "test.h"

static cq_onnx_model *m;

/* y = Relu(x), valid. */
static int setup(void **state)
{
    const cq_onnx_axis axis = { NULL, 2 };
    cq_onnx_node      *node;

    (void)state;
    if (cq_onnx_model_new(&m, "g") != CQ_OK)
        return 1;
    cq_onnx_model_set_ir_version(m, 8);
    cq_onnx_model_add_opset(m, "", 16);
    cq_onnx_add_value(m, &m->graph->input, "x", cq_onnx_type_new_tensor(m, 1, 1, &axis));
    cq_onnx_add_value(m, &m->graph->output, "y", cq_onnx_type_new_tensor(m, 1, 1, &axis));
    node = cq_onnx_graph_add_node(m, NULL, "Relu", NULL, "relu");
    cq_onnx_node_add_input(m, node, "x");
    cq_onnx_node_add_output(m, node, "y");
    return m->status;
}

static int teardown(void **state)
{
    (void)state;
    cq_onnx_model_free(m);
    return 0;
}

/* Checks that exactly this violation is found. NULL: none. */
static void check_only(const char *code, const char *where)
{
    cq_onnx_findings      *findings;
    const cq_onnx_finding *first;

    CHECK_OK(cq_onnx_model_check(&findings, m));
    first = cq_onnx_findings_at(findings, 0);
    if (first && (!code || cq_onnx_findings_count(findings) != 1))
        print_error("%s: %s: %s\n", first->code, first->where, first->what);
    CHECK_INT(code != NULL, cq_onnx_findings_count(findings));
    if (code) {
        CHECK_STR(code, first->code);
        CHECK_STR(where, first->where);
        CHECK(*first->what && *first->hint);
    }
    cq_onnx_findings_free(findings);
}

static cq_onnx_node *relu(void)
{
    return m->graph->node.items[0];
}

TEST(check, a_valid_model_has_no_findings)
{
    check_only(NULL, NULL);
}

TEST(check, versions_are_checked)
{
    m->ir_version = CQ_ONNX_IR_NEWEST;
    check_only(NULL, NULL);
    m->ir_version++;
    check_only("ir-version-too-new", "model");
    m->ir_version     = 8;
    m->opset_import.n = 0;
    relu()->op_type   = "Affine"; /* experimental operator, so its domain does not matter */
    check_only("opset-import-missing", "model");
}

TEST(check, names_are_checked)
{
    m->graph->name = "";
    check_only("graph-name-missing", "graph #0");
    m->graph->name         = "g";
    relu()->input.items[0] = "z";
    check_only("input-undefined", "graph g > node relu (Relu)");
    relu()->input.items[0]          = "x";
    relu()->output.items[0]         = "x";
    m->graph->output.items[0]->name = "x";
    check_only("output-duplicate", "graph g > node relu (Relu)");
    m->graph->output.items[0]->name = "nowhere";
    relu()->output.items[0]         = "y";
    check_only("output-undefined", "graph g");
}

TEST(check, types_of_the_main_graph_are_checked)
{
    m->graph->input.items[0]->type->tensor_type->shape = NULL;
    check_only("value-shape-missing", "graph g > input x");
    m->graph->input.items[0]->type = NULL;
    check_only("value-type-missing", "graph g > input x");
}

TEST(check, domains_must_be_imported)
{
    m->opset_import.items[0]->domain = "ai.onnx"; /* the default domain, under its other name */
    check_only("domain-not-imported", "graph g > node relu (Relu)");
    m->opset_import.items[0]->domain = "";
    relu()->domain                   = "ai.onnx";
    check_only("domain-not-imported", "graph g > node relu (Relu)");
    relu()->domain = "my.domain";
    check_only("domain-not-imported", "graph g > node relu (Relu)");
}

TEST(check, attributes_have_one_value_of_their_type)
{
    cq_onnx_attribute *a;

    relu()->domain = "d"; /* no schema has this domain */
    cq_onnx_model_add_opset(m, "d", 1);
    a = cq_onnx_attr_int(m, relu(), "k", 1);
    check_only(NULL, NULL);
    a->type = CQ_ONNX_ATTR_FLOAT;
    check_only("attribute-type-mismatch", "graph g > node relu (Relu) > attribute k");
    a->type = CQ_ONNX_ATTR_INT;
    cq_onnx_set_has(a, CQ_ONNX_ATTRIBUTE_F);
    check_only("attribute-several-values", "graph g > node relu (Relu) > attribute k");
    a->has &= ~(1u << CQ_ONNX_ATTRIBUTE_F);
    cq_onnx_attr_int(m, relu(), "k", 1);
    check_only("attribute-duplicate", "graph g > node relu (Relu) > attribute k");
}

TEST(check, tensors_in_memory_may_be_empty)
{
    const int64_t none = 0;
    cq_tensor    *t;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 1, &none, NULL));
    cq_onnx_list_push(m, &m->graph->initializer, cq_onnx_tensor_new(m, "w", t));
    cq_tensor_release(t);
    check_only(NULL, NULL);
}

TEST(check, tensors_keep_their_elements_in_one_right_field)
{
    cq_onnx_tensor *t = cq_onnx_alloc(m, sizeof *t);

    t->name      = "w";
    t->data_type = CQ_ONNX_FLOAT;
    cq_onnx_list_push(m, &t->dims, 2);
    cq_onnx_list_push(m, &m->graph->initializer, t);
    check_only("tensor-data-count", "graph g > initializer w");
    cq_onnx_list_push(m, &t->float_data, 1.0f);
    check_only("tensor-data-size", "graph g > initializer w");
    cq_onnx_list_push(m, &t->float_data, 1.0f);
    check_only(NULL, NULL);
    t->data_type = CQ_ONNX_INT64;
    check_only("tensor-data-field", "graph g > initializer w");
    t->float_data.n = 0;
    t->raw_data     = (cq_onnx_bytes){ "0123456789abcdef", 16 };
    check_only(NULL, NULL);
    t->data_type = CQ_ONNX_STRING;
    check_only("tensor-string-raw", "graph g > initializer w");
    t->data_type = 99;
    check_only("tensor-type-unknown", "graph g > initializer w");
    t->data_type     = CQ_ONNX_INT64;
    t->data_location = CQ_ONNX_LOCATION_EXTERNAL;
    t->raw_data.size = 0;
    check_only("external-location", "graph g > initializer w");
    cq_onnx_add_entry(m, &t->external_data, "location", "../w");
    check_only("external-location", "graph g > initializer w");
}

TEST(check, inner_graphs_see_outer_names_and_must_not_repeat_them)
{
    cq_onnx_graph *inner = cq_onnx_graph_new(m, "inner");
    cq_onnx_node  *node  = cq_onnx_graph_add_node(m, inner, "Neg", NULL, NULL);

    relu()->domain = "d";
    cq_onnx_model_add_opset(m, "d", 1);
    cq_onnx_attr_graph(m, relu(), "body", inner);
    cq_onnx_node_add_input(m, node, "x");
    cq_onnx_node_add_output(m, node, "z");
    check_only(NULL, NULL);
    node->output.items[0] = "x";
    check_only("output-duplicate", "graph g > node relu (Relu) > attribute body > graph inner > "
                                   "node #0 (Neg)");
}

TEST(check, functions_must_not_call_themselves)
{
    cq_onnx_function *f = cq_onnx_model_add_function(m, "d", "F");
    cq_onnx_function *g = cq_onnx_model_add_function(m, "d", "G");
    cq_onnx_node     *a = cq_onnx_function_add_node(m, f, "G", "d", NULL);
    cq_onnx_node     *b = cq_onnx_function_add_node(m, g, "H", "d", NULL);

    cq_onnx_function_add_opset(m, f, "d", 1);
    cq_onnx_function_add_opset(m, g, "d", 1);
    cq_onnx_node_add_output(m, a, "y");
    cq_onnx_node_add_output(m, b, "y");
    check_only(NULL, NULL);
    b->op_type = "F";
    check_only("function-recursive", "model");
    b->op_type = "H";
    g->name    = "F";
    a->op_type = "H";
    check_only("function-duplicate", "function F");
}

TEST(check, operators_of_functions_mean_what_they_mean_in_the_model)
{
    cq_onnx_function *f    = cq_onnx_model_add_function(m, "d", "F");
    cq_onnx_node     *node = cq_onnx_function_add_node(m, f, "Relu", NULL, NULL);

    cq_onnx_function_add_opset(m, f, "", 14);
    cq_onnx_add_name(m, &f->input, "x");
    cq_onnx_node_add_input(m, node, "x");
    cq_onnx_node_add_output(m, node, "y");
    check_only(NULL, NULL); /* Relu is the same in opsets 14 and 16 */
    f->opset_import.items[0]->version = 13;
    check_only("function-opset", "function F > node #0 (Relu)");
}

TEST(check, nodes_keep_to_the_schema_of_their_operator)
{
    cq_onnx_node_add_input(m, relu(), "x");
    check_only("node-schema", "graph g > node relu (Relu)");
    relu()->input.n = 1;
    cq_onnx_attr_int(m, relu(), "axis", 1);
    check_only("node-schema", "graph g > node relu (Relu)");
}

TEST(check, everything_is_found_in_one_pass_up_to_a_limit)
{
    cq_onnx_findings *findings;

    for (int i = 0; i < CQ_ONNX_MAX_FINDINGS; i++)
        cq_onnx_node_add_input(m, relu(), "none");
    CHECK_OK(cq_onnx_model_check(&findings, m));
    CHECK(cq_onnx_findings_count(findings) >= CQ_ONNX_MAX_FINDINGS);
    CHECK_STR("input-undefined", cq_onnx_findings_at(findings, 0)->code);
    CHECK_STR("input-undefined", cq_onnx_findings_at(findings, CQ_ONNX_MAX_FINDINGS - 1)->code);
    cq_onnx_findings_free(findings);
    cq_onnx_node_add_input(m, relu(), "none");
    cq_onnx_node_add_input(m, relu(), "none");
    CHECK_OK(cq_onnx_model_check(&findings, m));
    CHECK_INT(CQ_ONNX_MAX_FINDINGS + 1, cq_onnx_findings_count(findings));
    CHECK_STR("too-many-findings", cq_onnx_findings_at(findings, CQ_ONNX_MAX_FINDINGS)->code);
    CHECK(cq_onnx_findings_at(findings, CQ_ONNX_MAX_FINDINGS + 1) == NULL);
    cq_onnx_findings_free(findings);
}

#define CASE(sentence) cmocka_unit_test_setup_teardown(check_##sentence, setup, teardown)

TEST(check, all_schema_violations_of_a_node_are_reported)
{
    cq_onnx_findings *findings;
    cq_onnx_node     *node = relu();

    cq_onnx_attr_int(m, node, "alpha", 1);
    cq_onnx_attr_int(m, node, "beta", 1);
    cq_onnx_node_add_input(m, node, "x");
    CHECK_OK(cq_onnx_model_check(&findings, m));
    CHECK_INT(3, cq_onnx_findings_count(findings));
    for (size_t i = 0; i < 3; i++) {
        CHECK_STR("node-schema", cq_onnx_findings_at(findings, i)->code);
        CHECK(!cq_onnx_findings_at(findings, i)->is_warning);
    }
    cq_onnx_findings_free(findings);
}

TEST(check, violations_that_onnx_accepts_are_warnings)
{
    cq_onnx_findings *findings;

    m->graph->output.items[0]->name = "nobody";
    CHECK_OK(cq_onnx_model_check(&findings, m));
    CHECK_INT(1, cq_onnx_findings_count(findings));
    CHECK_STR("output-undefined", cq_onnx_findings_at(findings, 0)->code);
    CHECK(cq_onnx_findings_at(findings, 0)->is_warning);
    cq_onnx_findings_free(findings);
}

RUN_TESTS(CASE(a_valid_model_has_no_findings), CASE(versions_are_checked), CASE(names_are_checked),
          CASE(types_of_the_main_graph_are_checked), CASE(domains_must_be_imported),
          CASE(attributes_have_one_value_of_their_type), CASE(tensors_in_memory_may_be_empty),
          CASE(tensors_keep_their_elements_in_one_right_field),
          CASE(inner_graphs_see_outer_names_and_must_not_repeat_them),
          CASE(functions_must_not_call_themselves),
          CASE(operators_of_functions_mean_what_they_mean_in_the_model),
          CASE(nodes_keep_to_the_schema_of_their_operator),
          CASE(all_schema_violations_of_a_node_are_reported),
          CASE(violations_that_onnx_accepts_are_warnings),
          CASE(everything_is_found_in_one_pass_up_to_a_limit))
