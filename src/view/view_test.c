#include "view/view.h"

#include "test.h"

#define HEADER "<ir_version: 8, opset_import: [\"\" : 17]>\n"

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "net"));
    return m;
}

static void begin(cq_view *v, cq_onnx_model *m)
{
    *v = (cq_view){ .model = m, .arena = cq_arena_new(), .title = "net", .seconds = -1 };
    CHECK_OK(cq_onnx_model_infer(m, 0));
    CHECK_OK(cq_view_collect(v));
    CHECK_OK(cq_view_weigh(v));
    CHECK_OK(cq_view_count(v, NULL));
    CHECK_OK(cq_view_build(v));
}

static void end(cq_view *v)
{
    cq_onnx_model *m = v->model;

    cq_view_clear(v);
    cq_onnx_model_free(m);
}

/* Items of a rank are side by side, and edges point down. */
static void check_layout(const cq_view *v)
{
    for (size_t i = 0; i < v->canvases.n; i++) {
        const cq_view_canvas *c = &v->canvases.items[i];

        for (uint32_t r = 0; r < c->n_ranks; r++)
            for (uint32_t k = c->starts[r]; k + 1 < c->starts[r + 1]; k++) {
                const uint32_t a = c->ranks[k], b = c->ranks[k + 1];
                const double   right = a < c->items.n
                                           ? c->items.items[a].x + c->items.items[a].width / 2.0
                                           : c->dummies.items[~a].x;
                const double   left  = b < c->items.n
                                           ? c->items.items[b].x - c->items.items[b].width / 2.0
                                           : c->dummies.items[~b].x;

                CHECK(left - right >= 12);
            }
        for (size_t e = 0; e < c->edges.n; e++) {
            const cq_view_edge *edge = &c->edges.items[e];

            CHECK(c->items.items[edge->to].rank ==
                  c->items.items[edge->from].rank + 1 + edge->n_bends);
            for (uint32_t k = 0; k < edge->n_bends; k++)
                CHECK_INT(c->items.items[edge->from].rank + 1 + k,
                          c->dummies.items[edge->bends[k]].rank);
        }
    }
}

static const cq_view_item *box_of(const cq_view *v, const char *label)
{
    for (size_t i = 0; i < v->canvases.n; i++)
        for (size_t k = 0; k < v->canvases.items[i].items.n; k++) {
            const cq_view_item *item = &v->canvases.items[i].items.items[k];

            if (item->kind == CQ_VIEW_BOX && strcmp(item->label, label) == 0)
                return item;
        }
    return NULL;
}

TEST(view, modules_are_boxes_and_identical_neighbours_are_one)
{
    static const char   text[] = HEADER "net (float[4] x) => (float[4] y) {\n"
                                        "[\"/a/Relu\"] a0 = Relu(x)\n [\"/a/Exp\"] a1 = Exp(a0)\n"
                                        "[\"/b/0/Abs\"] b0 = Abs(a1)\n [\"/b/0/Neg\"] b1 = Neg(b0)\n"
                                        "[\"/b/1/Abs\"] b2 = Abs(b1)\n [\"/b/1/Neg\"] b3 = Neg(b2)\n"
                                        "[\"/b/2/Abs\"] b4 = Abs(b3)\n [\"/b/2/Neg\"] b5 = Neg(b4)\n"
                                        "[\"/b/3/Neg\"] b6 = Neg(b5)\n [\"/b/3/Abs\"] y = Abs(b6)\n}";
    cq_view             v;
    const cq_view_item *run;

    begin(&v, parse(text));
    check_layout(&v);
    CHECK(box_of(&v, "a") != NULL);
    CHECK_INT(2, box_of(&v, "a")->n_nodes);
    run = box_of(&v, "0 … 2");
    CHECK(run != NULL);
    CHECK_INT(3, run->repeats);
    CHECK_INT(6, run->n_nodes);
    CHECK_INT(0, box_of(&v, "3")->repeats);
    end(&v);
}

TEST(view, nodes_without_a_module_join_the_one_of_their_neighbours)
{
    static const char   text[] = HEADER "net (float[4] x) => (float[4] y) {\n"
                                        "[\"/a/Relu\"] a0 = Relu(x)\n [\"inserted\"] i0 = Abs(a0)\n"
                                        "[\"/a/Exp\"] a1 = Exp(i0)\n [\"between\"] i1 = Abs(a1)\n"
                                        "[\"weight\"] w = Constant <value_float = 2.0> ()\n"
                                        "[\"/b/Mul\"] b0 = Mul(i1, w)\n [\"/b/Neg\"] y = Neg(b0)\n}";
    cq_view             v;
    const cq_view_item *a, *b;

    begin(&v, parse(text));
    check_layout(&v);
    a = box_of(&v, "a");
    b = box_of(&v, "b");
    CHECK(a && b);
    CHECK_INT(3, a->n_nodes);
    CHECK_INT(3, b->n_nodes);
    end(&v);
}

TEST(view, a_module_that_is_called_twice_makes_no_circle)
{
    static const char text[] = HEADER "net (float[4] x) => (float[4] y) {\n"
                                      "[\"/m/Relu\"] a = Relu(x)\n [\"/m/Exp\"] b = Exp(a)\n"
                                      "[\"/Abs\"] c = Abs(b)\n [\"/Neg\"] d = Neg(a)\n"
                                      "[\"/m/Add\"] e = Add(c, d)\n [\"/m/Log\"] y = Log(e)\n}";
    cq_view           v;

    begin(&v, parse(text));
    check_layout(&v);
    end(&v);
}

TEST(view, a_long_sequence_is_cut_into_parts)
{
    cq_str  s = { 0 };
    cq_view v;

    cq_str_add(&s, HEADER "net (float[4] x) => (float[4] y) {\n a0 = Relu(x)\n");
    for (int i = 1; i < 2000; i++)
        cq_str_printf(&s, "a%d = Add(a%d, a%d)\n", i, i - 1, i > 3 ? i - 3 : 0);
    cq_str_add(&s, "y = Relu(a1999)\n}");
    begin(&v, parse(s.text));
    check_layout(&v);
    for (size_t i = 0; i < v.canvases.n; i++)
        CHECK(v.canvases.items[i].items.n <= 60);
    cq_str_clear(&s);
    end(&v);
}

TEST(view, bodies_are_boxes_with_ports_for_outer_values)
{
    static const char text[] =
        HEADER "net (float[4] x, bool c) => (float[4] y) {\n"
               "a = Relu(x)\n"
               "y = If(c) <then_branch = t () => (float[4] u) { u = Abs(a) }, else_branch = e () "
               "=> (float[4] w) { w = Neg(x) }>\n}";
    cq_view             v;
    const cq_view_item *box;

    begin(&v, parse(text));
    check_layout(&v);
    box = box_of(&v, "If");
    CHECK(box != NULL);
    CHECK_INT(2, v.ops.items[box->op].n_captured);
    CHECK_INT(2, v.canvases.items[box->canvas].ports[0].n);
    CHECK(box_of(&v, "then_branch") && box_of(&v, "else_branch"));
    end(&v);
}

TEST(view, statistics_of_a_weight_are_exact)
{
    static const char     text[] = HEADER "net (float[4] x) => (float[4] y)\n"
                                          "<float[4] w = {0.0, 1.0, -3.0, 6.0}> { y = Mul(x, w) }";
    cq_view               v;
    const cq_view_weight *w;

    begin(&v, parse(text));
    CHECK_INT(1, v.weights.n);
    w = &v.weights.items[0];
    CHECK(w->has_data && w->min == -3 && w->max == 6 && w->mean == 1 && w->n_zero == 1);
    CHECK(w->std > 3.2403 && w->std < 3.2404); /* sqrt(10.5) */
    CHECK_INT(4, w->n_first);
    CHECK(w->bins[0] == 1 && w->bins[CQ_VIEW_BINS - 1] == 1);
    end(&v);
}

TEST(view, lines_into_a_loop_go_on_to_the_inputs_of_its_body)
{
    static const char text[] =
        HEADER "net (int64 n, bool c, float[4] x) => (float[4] y) {\n"
               "y = Loop(n, c, x) <body = b (int64 i, bool k, float[4] s) => (bool o, float[4] t) "
               "{ o = Identity(k)\n t = Relu(s) }>\n}";
    cq_view  v;
    uint32_t n_in = 0, n_out = 0;

    begin(&v, parse(text));
    check_layout(&v);
    for (size_t i = 0; i < v.canvases.n; i++)
        for (size_t e = 0; i != v.root && e < v.canvases.items[i].edges.n; e++) {
            const cq_view_edge *edge  = &v.canvases.items[i].edges.items[e];
            const cq_view_item *items = v.canvases.items[i].items.items;

            n_in +=
                items[edge->from].kind == CQ_VIEW_PORT_IN && items[edge->to].kind == CQ_VIEW_INPUT;
            n_out += items[edge->from].kind == CQ_VIEW_OUTPUT &&
                     items[edge->to].kind == CQ_VIEW_PORT_OUT;
        }
    CHECK_INT(3, n_in);
    CHECK_INT(1, n_out);
    end(&v);
}

static void check_formula(const char *expected, const char *text)
{
    cq_view v;

    begin(&v, parse(text));
    CHECK_STR(expected, v.formula);
    end(&v);
}

TEST(view, flops_are_a_formula_of_dynamic_sizes)
{
    check_formula("8·n²", HEADER "net (float[n,4] x, float[4,n] w) => (y) { y = MatMul(x, w) }");
    check_formula("20·m·n + 8·n²",
                  HEADER "net (float[n,4] x, float[4,n] w, float[m,n] a, float[n,10] b) => (y, z) "
                         "{ y = MatMul(x, w)\n z = MatMul(a, b) }");
    check_formula("", HEADER "net (float[2,4] x, float[4,3] w) => (y) { y = MatMul(x, w) }");
}

TEST(view, labels_shorten_long_sizes_only)
{
    cq_str s = { 0 };

    CHECK_INT(10, (int64_t)cq_view_add_shape(&s, "float32[min(8,n),4]"));
    CHECK_STR("min(8,n)×4", cq_str_text(&s));
    cq_str_clear(&s);
    CHECK_INT(3, (int64_t)cq_view_add_shape(&s, "float32[2,((h-1)//2+1)//2]"));
    CHECK_STR("2×…", cq_str_text(&s));
    cq_str_clear(&s);
    CHECK_INT(0, (int64_t)cq_view_add_shape(&s, "float32[]"));
    cq_str_clear(&s);
}

TEST(view, names_of_a_file_are_never_markup)
{
    static const char text[] =
        HEADER "\"</script><script>alert(1)</script>\" (float[4] \"<img src=x>\") => (float[4] "
               "\"&quot;'\") {\n[\"</title><b>\"] \"&quot;'\" = Relu(\"<img src=x>\")\n}";
    cq_onnx_model *m    = parse(text);
    char          *page = NULL;
    size_t         size;

    for (int format = CQ_VIEW_HTML; format <= CQ_VIEW_SVG; format++) {
        CHECK_OK(cq_onnx_model_view(&page, &size, m, (cq_view_format)format, NULL));
        CHECK(strstr(page, "<script>alert") == NULL);
        CHECK(strstr(page, "<img") == NULL);
        CHECK(strstr(page, "</title><b>") == NULL);
        cq_buffer_free(page);
    }
    cq_onnx_model_free(m);
}

TEST(view, invalid_models_are_drawn_too)
{
    static const char text[] = HEADER "net (float[4] x) => (float[4] y) {\n"
                                      "a = Relu(b)\n b = Relu(a)\n y = Foo(x, nowhere)\n}";
    cq_view           v;

    begin(&v, parse(text));
    check_layout(&v);
    end(&v);
}

RUN_TESTS(TEST_OF(view, modules_are_boxes_and_identical_neighbours_are_one),
          TEST_OF(view, nodes_without_a_module_join_the_one_of_their_neighbours),
          TEST_OF(view, a_module_that_is_called_twice_makes_no_circle),
          TEST_OF(view, a_long_sequence_is_cut_into_parts),
          TEST_OF(view, bodies_are_boxes_with_ports_for_outer_values),
          TEST_OF(view, statistics_of_a_weight_are_exact),
          TEST_OF(view, lines_into_a_loop_go_on_to_the_inputs_of_its_body),
          TEST_OF(view, flops_are_a_formula_of_dynamic_sizes),
          TEST_OF(view, labels_shorten_long_sizes_only),
          TEST_OF(view, names_of_a_file_are_never_markup),
          TEST_OF(view, invalid_models_are_drawn_too))
