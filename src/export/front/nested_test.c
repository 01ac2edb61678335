/* Models with tuples, lists and dicts as arguments and results: flattened in order, in runs and in
 * graphs. */
#include "models.h"

#include <calque/session.h>

/* {"sum": a + b, "parts": [a - b, None, (a * b,)]} of ({"a": a}, [b]). */
static cq_nest mixed_forward(cq_ctx *cx, void *self, const cq_nest *args)
{
    cq_nest    named = cq_nest_at(cx, args, 0), listed = cq_nest_at(cx, args, 1);
    cq_tensor *a = cq_nest_get(cx, &named, "a").tensor;
    cq_tensor *b = cq_nest_at(cx, &listed, 0).tensor;
    cq_nest    product, parts;

    (void)self;
    product = cq_nest_tensor(cq_mul(cx, a, b));
    product = cq_nest_tuple(cx, 1, &product);
    parts   = cq_nest_list(cx, 3, (cq_nest[]){ { .tensor = cq_sub(cx, a, b) }, { 0 }, product });
    return cq_nest_dict(cx, 2, (const char *[]){ "sum", "parts" },
                        (cq_nest[]){ { .tensor = cq_add(cx, a, b) }, parts });
}

static const cq_class mixed_class = { CQ_SIZED(cq_class), .name = "Mixed",
                                      .forward_nested = mixed_forward };

static cq_tensor *pair_of(float first, float second)
{
    cq_tensor *t = NULL;

    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 1, (int64_t[]){ 2 }, (float[]){ first, second }));
    return t;
}

static float second_of(cq_tensor *t)
{
    return ((float *)cq_tensor_data(t))[1];
}

struct example {
    cq_tensor  *tensors[2];
    const char *keys[1];
    cq_nest     leaves[2], items[2], args;
};

static void example_init(struct example *e)
{
    *e = (struct example){ { pair_of(1, 2), pair_of(3, 5) }, { "a" }, { { 0 } }, { { 0 } }, { 0 } };
    e->leaves[0] = cq_nest_tensor(e->tensors[0]);
    e->leaves[1] = cq_nest_tensor(e->tensors[1]);
    e->items[0]  = (cq_nest){ CQ_NEST_DICT, NULL, 1, &e->leaves[0], e->keys };
    e->items[1]  = (cq_nest){ CQ_NEST_LIST, NULL, 1, &e->leaves[1], NULL };
    e->args      = (cq_nest){ CQ_NEST_TUPLE, NULL, 2, e->items, NULL };
}

static void example_clear(struct example *e)
{
    cq_tensor_release(e->tensors[0]);
    cq_tensor_release(e->tensors[1]);
}

TEST(nested, calls_keep_the_structure)
{
    cq_module     *net = bare_net_new(&mixed_class);
    struct example e;
    cq_ctx        *cx;
    cq_nest        result, parts;
    cq_tensor     *flat[4] = { 0 };

    example_init(&e);
    CHECK_OK(cq_ctx_new(&cx));
    result = cq_call_nested(cx, net, &e.args);
    CHECK_OK(cq_ctx_status(cx));
    CHECK_INT(CQ_NEST_DICT, result.kind);
    CHECK_STR("parts", result.keys[1]);
    CHECK(second_of(cq_nest_get(cx, &result, "sum").tensor) == 7);
    parts = cq_nest_get(cx, &result, "parts");
    CHECK_INT(CQ_NEST_LIST, parts.kind);
    CHECK_INT(3, parts.n);
    CHECK(cq_nest_at(cx, &parts, 1).tensor == NULL);
    CHECK_INT(3, cq_nest_flatten(&result, flat, 4));
    CHECK(second_of(flat[1]) == -3);
    CHECK(second_of(flat[2]) == 10);
    cq_ctx_free(cx);
    cq_module_free(net);
    example_clear(&e);
}

TEST(nested, missing_items_set_the_contexts_error)
{
    struct example e;
    cq_ctx        *cx;

    example_init(&e);
    CHECK_OK(cq_ctx_new(&cx));
    cq_nest_at(cx, &e.args, 2);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_ctx_status(cx));
    CHECK_STR("item 2 is out of range for a tuple with 2 items", cq_last_error()->message);
    cq_ctx_free(cx);
    CHECK_OK(cq_ctx_new(&cx));
    cq_nest_get(cx, &e.items[1], "a");
    CHECK_STATUS(CQ_E_ARGUMENT, cq_ctx_status(cx));
    CHECK_STR("a list has no key \"a\"", cq_last_error()->message);
    cq_ctx_free(cx);
    example_clear(&e);
}

TEST(nested, exports_are_flat_and_give_the_results_when_asked)
{
    cq_module        *net = bare_net_new(&mixed_class);
    cq_tensor        *flat[4], *run[3] = { 0 };
    cq_export_options o = options_of(17);
    cq_onnx_model    *m = NULL;
    cq_session       *session;
    struct example    e;

    example_init(&e);
    o.input_names    = (const char *[]){ "a", "b" };
    o.n_input_names  = 2;
    o.output_names   = (const char *[]){ "sum", "difference", "product" };
    o.n_output_names = 3;
    o.outputs        = flat;
    o.n_outputs      = 4;
    CHECK_OK(cq_module_export_nested(&m, net, &e.args, &o));
    CHECK_OPS("Mul Sub Add", m); /* in the order of the calls */
    CHECK_STR("a", m->graph->input.items[0]->name);
    CHECK_STR("difference", m->graph->output.items[1]->name);
    CHECK_OK(cq_session_prepare(&session, m, NULL));
    CHECK_OK(cq_session_run_tensors(session, e.tensors, 2, run, 3));
    for (int i = 0; i < 3; i++) {
        CHECK(second_of(flat[i]) == second_of(run[i]));
        cq_tensor_release(flat[i]);
        cq_tensor_release(run[i]);
    }
    CHECK(flat[3] == NULL);
    cq_session_free(session);
    cq_onnx_model_free(m);
    cq_module_free(net);
    example_clear(&e);
}

static cq_tensor *double_forward(cq_ctx *cx, void *self, cq_tensor *x)
{
    (void)self;
    return cq_add_(cx, x, x);
}

/* To get the results, a model that changes its input runs on a copy. */
TEST(nested, the_example_is_not_changed)
{
    static const cq_class cls = { CQ_SIZED(cq_class), .name = "Double", .forward = double_forward };
    cq_module            *net = bare_net_new(&cls);
    cq_tensor            *x = pair_of(1, 2), *y = NULL;
    cq_export_options     o = options_of(17);
    cq_onnx_model        *m = NULL;

    o.outputs   = &y;
    o.n_outputs = 1;
    CHECK_OK(cq_module_export(&m, net, &x, 1, &o));
    CHECK(second_of(x) == 2);
    CHECK(second_of(y) == 4);
    cq_tensor_release(x);
    cq_tensor_release(y);
    cq_onnx_model_free(m);
    cq_module_free(net);
}

static cq_nest single_forward(cq_ctx *cx, void *self, const cq_nest *args)
{
    (void)self;
    return cq_nest_tensor(cq_neg(cx, cq_nest_at(cx, args, 0).tensor));
}

/* A nested module can be called with tensors, and a plain one with nests. */
TEST(nested, both_kinds_of_calls_work_with_both_kinds_of_modules)
{
    static const cq_class single = { CQ_SIZED(cq_class), .name = "Single",
                                     .forward_nested = single_forward };
    static const cq_class plain  = { CQ_SIZED(cq_class), .name = "Double",
                                     .forward = double_forward };
    cq_module            *a = bare_net_new(&single), *b = bare_net_new(&plain);
    cq_tensor            *x = pair_of(1, 2);
    cq_nest               leaf, args, result;
    cq_ctx               *cx;

    CHECK_OK(cq_ctx_new(&cx));
    CHECK(second_of(cq_call(cx, a, x)) == -2);
    leaf   = cq_nest_tensor(x);
    args   = cq_nest_tuple(cx, 1, &leaf);
    result = cq_call_nested(cx, b, &args);
    CHECK_INT(CQ_NEST_TENSOR, result.kind);
    CHECK(second_of(result.tensor) == 4);
    CHECK_OK(cq_ctx_status(cx));
    cq_ctx_free(cx);
    cq_tensor_release(x);
    cq_module_free(a);
    cq_module_free(b);
}

RUN_TESTS(TEST_OF(nested, calls_keep_the_structure),
          TEST_OF(nested, missing_items_set_the_contexts_error),
          TEST_OF(nested, exports_are_flat_and_give_the_results_when_asked),
          TEST_OF(nested, the_example_is_not_changed),
          TEST_OF(nested, both_kinds_of_calls_work_with_both_kinds_of_modules))
