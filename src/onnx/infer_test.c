/* Inference on small models that are built by hand: symbols, shape arithmetic, declarations,
 * subgraphs, functions and limits. tests/peer/onnx_infer.py compares all operators with the onnx
 * package. */
#include "onnx/infer.h"
#include "base/str.h"
#include "test.h"

#include <stdio.h>
#include <stdlib.h>

static cq_onnx_model *m;

static int setup(void **state)
{
    (void)state;
    if (cq_onnx_model_new(&m, "g") != CQ_OK)
        return 1;
    cq_onnx_model_set_ir_version(m, 8);
    cq_onnx_model_add_opset(m, "", 16);
    return m->status;
}

static int teardown(void **state)
{
    (void)state;
    cq_onnx_model_free(m);
    return 0;
}

/* ---- building models: sizes are words, "batch 3 ?" ---- */

static cq_onnx_type *tensor(int32_t elem, const char *sizes)
{
    cq_onnx_axis axes[8];
    char         copy[128];
    size_t       n = 0;

    snprintf(copy, sizeof copy, "%s", sizes);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "), n++) {
        axes[n].name =
            *word == '?' || (*word >= '0' && *word <= '9' && !strchr(word, '*')) ? NULL : word;
        axes[n].value = *word == '?' ? -1 : strtoll(word, NULL, 10);
    }
    return cq_onnx_type_new_tensor(m, elem, n, axes);
}

static void input(const char *name, const char *sizes)
{
    cq_onnx_add_value(m, &m->graph->input, name, tensor(CQ_ONNX_FLOAT, sizes));
}

static void add_names(cq_onnx_node *node, bool outputs, const char *names)
{
    char copy[256];

    snprintf(copy, sizeof copy, "%s", names);
    for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
        if (outputs)
            cq_onnx_node_add_output(m, node, word);
        else
            cq_onnx_node_add_input(m, node, *word == '-' ? "" : word);
}

static cq_onnx_node *node_in(cq_onnx_graph *g, const char *outputs, const char *op,
                             const char *inputs)
{
    cq_onnx_node *node = cq_onnx_graph_add_node(m, g, op, NULL, NULL);

    add_names(node, false, inputs);
    add_names(node, true, outputs);
    return node;
}

static cq_onnx_node *node(const char *outputs, const char *op, const char *inputs)
{
    return node_in(NULL, outputs, op, inputs);
}

static void ints(const char *name, size_t n, const int64_t *values)
{
    cq_tensor *t    = NULL;
    int64_t    size = (int64_t)n;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_I64, 1, &size, values));
    cq_onnx_graph_add_initializer(m, NULL, name, t);
    cq_tensor_release(t);
}

#define INTS(name, ...)                                                                            \
    ints(name, sizeof((int64_t[]){ __VA_ARGS__ }) / sizeof(int64_t), (int64_t[]){ __VA_ARGS__ })

/* ---- reading types: "1[batch,3]" is an element type and a shape ---- */

static char shown[256];

static const char *show_type(const cq_onnx_type *type)
{
    const cq_onnx_tensor_type *t   = type ? type->tensor_type : NULL;
    size_t                     len = 0;

    if (type && type->sequence_type)
        return strcpy(shown, "sequence");
    if (!t)
        return strcpy(shown, "nothing");
    len = (size_t)snprintf(shown, sizeof shown, "%d", (int)t->elem_type);
    for (uint32_t i = 0; t->shape && i < t->shape->dim.n; i++) {
        const cq_onnx_dim *d = t->shape->dim.items[i];

        len += (size_t)snprintf(shown + len, sizeof shown - len, i ? "," : "[");
        if (d->dim_param)
            len += (size_t)snprintf(shown + len, sizeof shown - len, "%s", d->dim_param);
        else
            len +=
                (size_t)snprintf(shown + len, sizeof shown - len, "%lld", (long long)d->dim_value);
    }
    if (t->shape)
        snprintf(shown + len, sizeof shown - len, t->shape->dim.n ? "]" : "[]");
    return shown;
}

static const char *show_in(const cq_onnx_graph *g, const char *name)
{
    const cq_onnx_value_infos *lists[] = { &g->value_info, &g->output };

    for (int k = 0; k < 2; k++)
        for (uint32_t i = 0; i < lists[k]->n; i++)
            if (!strcmp(lists[k]->items[i]->name, name))
                return show_type(lists[k]->items[i]->type);
    return "absent";
}

static const char *show(const char *name)
{
    return show_in(m->graph, name);
}

static void infer(void)
{
    CHECK_OK(m->status);
    CHECK_OK(cq_onnx_model_infer(m, 0));
}

/* ---- symbols ---- */

TEST(infer, symbols_flow_and_are_computed_with)
{
    input("x", "batch 3 h");
    node("a", "Relu", "x");
    cq_onnx_attr_int(m, node("b", "Concat", "a x"), "axis", 0);
    cq_onnx_attr_int(m, node("f", "Flatten", "b"), "axis", 1);
    infer();
    CHECK_STR("1[batch,3,h]", show("a"));
    CHECK_STR("1[2*batch,3,h]", show("b"));
    CHECK_STR("1[2*batch,3*h]", show("f"));
}

TEST(infer, names_that_calque_wrote_are_read_as_expressions)
{
    const int64_t pads[] = { 0, -1 };

    input("x", "2*n+1");
    input("other", "b+a"); /* not in canonical form, so it is the name of a symbol */
    cq_onnx_attr_ints(m, node("y", "Pad", "x"), "pads", pads, 2);
    node("z", "Relu", "other");
    m->opset_import.items[0]->version = 10;
    infer();
    CHECK_STR("1[2*n]", show("y"));
    CHECK_STR("1[b+a]", show("z"));
}

TEST(infer, shapes_that_the_graph_computes_are_known)
{
    input("x", "batch 4 6");
    INTS("zero", 0);
    INTS("minus_one", -1);
    node("shape", "Shape", "x");
    cq_onnx_attr_int(m, node("n", "Gather", "shape zero"), "axis", 0);
    node("n2", "Mul", "n two");
    INTS("two", 2);
    cq_onnx_attr_int(m, node("target", "Concat", "n2 minus_one"), "axis", 0);
    node("y", "Reshape", "x target");
    infer();
    CHECK_STR("7[2]", show("target"));
    CHECK_STR("1[2*batch,12]", show("y"));
}

TEST(infer, sizes_that_depend_on_data_get_names_of_their_own)
{
    input("x", "unk__3 5");
    node("at", "NonZero", "x");
    node("t", "Transpose", "at");
    node("sum", "Add", "t t");
    infer();
    CHECK_STR("7[2,unk__4]", show("at"));
    CHECK_STR("7[unk__4,2]", show("t"));
    CHECK_STR("7[unk__4,2]", show("sum"));
}

TEST(infer, slices_of_symbolic_axes_are_exact_or_open)
{
    input("x", "n");
    INTS("s0", 0);
    INTS("s1", 1);
    INTS("s5", 5);
    INTS("last", -1);
    INTS("end", INT64_MAX);
    node("rest", "Slice", "x s1 end");
    node("but_last", "Slice", "x s0 last");
    node("five", "Slice", "x s0 s5");
    node("tail", "Slice", "x s5 end");
    INTS("minus_5", -5);
    node("last_five", "Slice", "x minus_5 end");
    node("one", "Slice", "x last end");
    infer();
    CHECK_STR("1[n-1]", show("rest"));
    CHECK_STR("1[n-1]", show("but_last"));
    CHECK_STR("1[min(5,n)]", show("five"));
    CHECK_STR("1[max(0,n-5)]", show("tail"));
    CHECK_STR("1[min(5,n)]", show("last_five"));
    CHECK_STR("1[1]", show("one"));
}

/* ---- declarations ---- */

TEST(infer, declared_sizes_stay_and_open_ones_are_filled)
{
    input("x", "batch 3");
    node("y", "Relu", "x");
    cq_onnx_add_value(m, &m->graph->output, "y", tensor(CQ_ONNX_FLOAT, "n ?"));
    infer();
    CHECK_STR("1[n,3]", show("y"));
    CHECK_INT(0, m->graph->value_info.n);
}

TEST(infer, contradictions_are_errors_in_strict_mode_only)
{
    input("x", "2 3");
    node("y", "Relu", "x");
    cq_onnx_add_value(m, &m->graph->output, "y", tensor(CQ_ONNX_FLOAT, "2 4"));
    infer();
    CHECK_STR("1[2,4]", show("y"));
    CHECK_STATUS(CQ_E_TYPE, cq_onnx_model_infer(m, CQ_ONNX_INFER_STRICT));
    CHECK_STR("value y", cq_last_error()->where);
}

TEST(infer, inputs_that_do_not_fit_are_named)
{
    input("x", "2 3");
    input("w", "4 5");
    node("y", "MatMul", "x w");
    infer();
    CHECK_STR("1", show("y")); /* the element type is known nevertheless */
    CHECK_STATUS(CQ_E_TYPE, cq_onnx_model_infer(m, CQ_ONNX_INFER_STRICT));
    CHECK_STR("sizes 3 and 4 must be equal", cq_last_error()->message);
    CHECK_STR("node without a name (MatMul)", cq_last_error()->where);
}

TEST(infer, types_are_checked_against_the_schema)
{
    cq_onnx_add_value(m, &m->graph->input, "x", tensor(CQ_ONNX_INT64, "2"));
    node("y", "Sigmoid", "x");
    CHECK_OK(cq_onnx_model_infer(m, CQ_ONNX_INFER_STRICT));
    CHECK_STATUS(CQ_E_TYPE,
                 cq_onnx_model_infer(m, CQ_ONNX_INFER_STRICT | CQ_ONNX_INFER_CHECK_TYPES));
    CHECK_STR("X has a type that Sigmoid does not allow: int64", cq_last_error()->message);
}

TEST(infer, unknown_operators_leave_what_is_declared)
{
    cq_onnx_graph_add_node(m, NULL, "Mystery", "com.example", NULL);
    add_names(m->graph->node.items[0], true, "a b");
    node("c", "Relu", "a");
    node("d", "Relu", "b");
    cq_onnx_add_value(m, &m->graph->value_info, "a", tensor(CQ_ONNX_FLOAT, "7"));
    infer();
    CHECK_STR("1[7]", show("c"));
    CHECK_STR("absent", show("b"));
    CHECK_STR("absent", show("d"));
}

/* ---- subgraphs ---- */

static cq_onnx_graph *branch(const char *name, const char *op, const char *inputs)
{
    cq_onnx_graph *g = cq_onnx_graph_new(m, name);

    node_in(g, "r", op, inputs);
    cq_onnx_add_value(m, &g->output, "r", NULL);
    return g;
}

TEST(infer, branches_agree_where_they_can)
{
    cq_onnx_node *n;

    input("x", "batch 3");
    cq_onnx_add_value(m, &m->graph->input, "c", tensor(CQ_ONNX_BOOL, ""));
    n = node("y", "If", "c");
    cq_onnx_attr_graph(m, n, "then_branch", branch("t", "Relu", "x"));
    cq_onnx_attr_graph(m, n, "else_branch", branch("e", "Concat", "x x"));
    cq_onnx_attr_int(m, n->attribute.items[1]->g->node.items[0], "axis", 1);
    infer();
    CHECK_STR("1[batch,unk__0]", show("y"));
    CHECK_STR("1[batch,6]", show_in(n->attribute.items[1]->g, "r"));
}

/* The state gains one row per iteration if grows is set, otherwise it is constant. */
static cq_onnx_graph *loop_body(bool grows)
{
    cq_onnx_graph *g = cq_onnx_graph_new(m, "body");

    cq_onnx_add_value(m, &g->input, "i", NULL);
    cq_onnx_add_value(m, &g->input, "go", NULL);
    cq_onnx_add_value(m, &g->input, "state", NULL);
    node_in(g, "on", "Identity", "go");
    if (grows)
        cq_onnx_attr_int(m, node_in(g, "next", "Concat", "state row"), "axis", 0);
    else
        node_in(g, "next", "Relu", "state");
    node_in(g, "scan", "Relu", "row");
    cq_onnx_add_value(m, &g->output, "on", NULL);
    cq_onnx_add_value(m, &g->output, "next", NULL);
    cq_onnx_add_value(m, &g->output, "scan", NULL);
    return g;
}

TEST(infer, loops_keep_facts_that_every_iteration_preserves)
{
    cq_onnx_node *n;

    input("x", "2 3");
    input("row", "1 3");
    cq_onnx_add_value(m, &m->graph->input, "trips", tensor(CQ_ONNX_INT64, ""));
    n = node("still rows", "Loop", "trips - x");
    cq_onnx_attr_graph(m, n, "body", loop_body(false));
    n = node("grown others", "Loop", "trips - x");
    cq_onnx_attr_graph(m, n, "body", loop_body(true));
    infer();
    CHECK_STR("1[2,3]", show("still"));
    CHECK_STR("1[unk__0,1,3]", show("rows"));
    CHECK_STR("1[unk__2,3]", show("grown"));
    CHECK_STR("9[]", show_in(n->attribute.items[0]->g, "on"));
}

/* ---- functions ---- */

TEST(infer, functions_are_followed_with_the_attributes_of_the_call)
{
    cq_onnx_function *f = cq_onnx_model_add_function(m, "local", "Join");
    cq_onnx_node     *n;

    cq_onnx_add_name(m, &f->input, "p");
    cq_onnx_add_name(m, &f->output, "q");
    cq_onnx_add_name(m, &f->attribute, "where");
    cq_onnx_function_add_opset(m, f, "", 16);
    n = cq_onnx_function_add_node(m, f, "Concat", NULL, NULL);
    add_names(n, false, "p p");
    add_names(n, true, "q");
    cq_onnx_attr_ref(m, n, "axis", CQ_ONNX_ATTR_INT, "where");
    cq_onnx_model_add_opset(m, "local", 1);

    input("x", "2 n");
    n = cq_onnx_graph_add_node(m, NULL, "Join", "local", NULL);
    add_names(n, false, "x");
    add_names(n, true, "y");
    cq_onnx_attr_int(m, n, "where", 1);
    infer();
    CHECK_STR("1[2,2*n]", show("y"));
}

/* ---- limits ---- */

TEST(infer, a_function_that_calls_itself_ends)
{
    cq_onnx_function *f = cq_onnx_model_add_function(m, "local", "Self");
    cq_onnx_node     *n;

    cq_onnx_add_name(m, &f->input, "p");
    cq_onnx_add_name(m, &f->output, "q");
    cq_onnx_function_add_opset(m, f, "local", 1);
    for (int i = 0; i < 2; i++) { /* two calls each: 2^64 calls without a limit on visits */
        n = cq_onnx_function_add_node(m, f, "Self", "local", NULL);
        add_names(n, false, "p");
        add_names(n, true, i ? "q" : "unused");
    }
    cq_onnx_model_add_opset(m, "local", 1);
    input("x", "2");
    n = cq_onnx_graph_add_node(m, NULL, "Self", "local", NULL);
    add_names(n, false, "x");
    add_names(n, true, "y");
    infer();
    CHECK_STR("absent", show("y"));
}

/* Relu inside that many nested graphs. */
static const char *nested(unsigned depth)
{
    cq_onnx_graph *g = branch("bottom", "Relu", "x"), *up;

    for (unsigned i = 1; i < depth; i++, g = up) {
        up = branch("level", "If", "c");
        cq_onnx_attr_graph(m, up->node.items[0], "then_branch", g);
        cq_onnx_attr_graph(m, up->node.items[0], "else_branch", branch("e", "Relu", "x"));
    }
    up = branch("e", "Relu", "x");
    cq_onnx_attr_graph(m, node("y", "If", "c"), "then_branch", g);
    cq_onnx_attr_graph(m, m->graph->node.items[m->graph->node.n - 1], "else_branch", up);
    infer();
    return show("y");
}

TEST(infer, graphs_are_nested_to_the_limit)
{
    input("x", "2");
    cq_onnx_add_value(m, &m->graph->input, "c", tensor(CQ_ONNX_BOOL, ""));
    CHECK_STR("1[2]", nested(CQ_ONNX_INFER_MAX_DEPTH));
}

TEST(infer, graphs_past_the_limit_stay_unknown)
{
    input("x", "2");
    cq_onnx_add_value(m, &m->graph->input, "c", tensor(CQ_ONNX_BOOL, ""));
    CHECK_STR("absent", nested(CQ_ONNX_INFER_MAX_DEPTH + 1));
}

TEST(infer, expressions_do_not_grow_without_end)
{
    char from[16] = "n0", to[16];

    input("x", "a b");
    node("n0", "Shape", "x");
    for (int i = 1; i < 200; i++) { /* repeated squares: the text would double 200 times */
        snprintf(to, sizeof to, "n%d", i);
        node(to, "Mul", (snprintf(shown, sizeof shown, "%s %s", from, from), shown));
        strcpy(from, to);
    }
    node("y", "ConstantOfShape", from);
    infer();
    CHECK_STR("1[unk__0,unk__1]", show("y"));
}

/* ---- memory ---- */

TEST(infer, running_out_of_memory_is_reported_and_leaks_nothing)
{
    cq_status status = CQ_E_NO_MEMORY;

    input("x", "batch 4 6");
    INTS("target", 0, -1);
    node("shape", "Shape", "x");
    node("y", "Reshape", "x target");
    node("z", "Expand", "y shape");
    node("s", "SequenceConstruct", "x y");
    for (long at = 1; status != CQ_OK; at++) {
        cq_alloc_fail_at(at);
        status = cq_onnx_model_infer(m, 0);
        cq_alloc_fail_at(0);
        if (status != CQ_OK)
            CHECK_INT(CQ_E_NO_MEMORY, status);
        m->status = CQ_OK; /* a model keeps its first failure */
        CHECK(at < 10000);
    }
    CHECK_STR("1[batch,24]", show("y"));
}

#define RUN(sentence) cmocka_unit_test_setup_teardown(infer_##sentence, setup, teardown)

RUN_TESTS(RUN(symbols_flow_and_are_computed_with),
          RUN(names_that_calque_wrote_are_read_as_expressions),
          RUN(shapes_that_the_graph_computes_are_known),
          RUN(sizes_that_depend_on_data_get_names_of_their_own),
          RUN(slices_of_symbolic_axes_are_exact_or_open),
          RUN(declared_sizes_stay_and_open_ones_are_filled),
          RUN(contradictions_are_errors_in_strict_mode_only), RUN(inputs_that_do_not_fit_are_named),
          RUN(types_are_checked_against_the_schema), RUN(unknown_operators_leave_what_is_declared),
          RUN(branches_agree_where_they_can), RUN(loops_keep_facts_that_every_iteration_preserves),
          RUN(functions_are_followed_with_the_attributes_of_the_call),
          RUN(a_function_that_calls_itself_ends), RUN(graphs_are_nested_to_the_limit),
          RUN(graphs_past_the_limit_stay_unknown), RUN(expressions_do_not_grow_without_end),
          RUN(running_out_of_memory_is_reported_and_leaks_nothing))
