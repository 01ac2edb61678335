/* Functions of lib/onnx that emit nodes. */
#include "onnx/compose/compose.h"
#include "onnx/expand.h"

#include "test.h"

#include <string.h>

TEST(compose, every_function_of_the_library_can_be_linked)
{
    if (cq_compose_check_library(false) != CQ_OK)
        fail_msg("%s: %s", cq_last_error()->where, cq_last_error()->message);
}

/* y = op(a, b) of com.microsoft. */
static cq_onnx_node *call_of(cq_onnx_model *m, const char *op)
{
    cq_onnx_node *node = cq_onnx_graph_add_node(m, NULL, op, "com.microsoft", NULL);

    cq_onnx_node_add_input(m, node, "a");
    cq_onnx_node_add_input(m, node, "b");
    cq_onnx_node_add_output(m, node, "y");
    return node;
}

TEST(compose, nodes_for_outputs_that_are_not_used_are_dropped)
{
    cq_onnx_model          *m, *store = NULL;
    const cq_onnx_function *f;
    cq_onnx_node           *node;

    CHECK_OK(cq_onnx_model_new(&m, "g"));
    node = call_of(m, "SkipLayerNormalization");
    cq_onnx_node_add_input(m, node, "gamma");
    CHECK_OK(cq_onnx_expand(&f, &store, node, 1));
    CHECK(f && f->node.n == 2); /* Add and LayerNormalization */
    CHECK(f && !strcmp(f->node.items[1]->op_type, "LayerNormalization"));
    cq_onnx_node_add_output(m, node, "");
    cq_onnx_node_add_output(m, node, "");
    cq_onnx_node_add_output(m, node, "sum");
    CHECK_OK(cq_onnx_expand(&f, &store, node, 1));
    CHECK(f && f->node.n == 2 && f->output.n == 4);
    CHECK(f && !strcmp(f->output.items[3], f->node.items[0]->output.items[0]));
    cq_onnx_model_free(store);
    cq_onnx_model_free(m);
}

TEST(compose, a_refused_call_names_the_operator_and_leaves_others_alone)
{
    cq_onnx_model          *m, *store = NULL;
    const cq_onnx_function *f;
    cq_onnx_node           *node;

    CHECK_OK(cq_onnx_model_new(&m, "g"));
    node = call_of(m, "FusedMatMul");
    cq_onnx_attr_int(m, node, "transBatchA", 1);
    CHECK(cq_onnx_expand(&f, &store, node, 1) == CQ_E_UNSUPPORTED && !f);
    CHECK(strstr(cq_last_error()->message, "FusedMatMul of com.microsoft is not supported with") !=
          NULL);
    CHECK_OK(cq_onnx_expand(&f, &store, call_of(m, "BiasGelu"), 1));
    CHECK(f && f->node.n == 2);
    CHECK_OK(cq_onnx_expand(&f, &store, call_of(m, "NoSuchOperator"), 1));
    CHECK(!f);
    cq_onnx_model_free(store);
    cq_onnx_model_free(m);
}

RUN_TESTS(TEST_OF(compose, every_function_of_the_library_can_be_linked),
          TEST_OF(compose, nodes_for_outputs_that_are_not_used_are_dropped),
          TEST_OF(compose, a_refused_call_names_the_operator_and_leaves_others_alone))
