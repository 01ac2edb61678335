/* The text syntax: parsing, printing, and round trips. */
#include "onnx/text/text.h"

#include "onnx/file/wire.h"

#include "test.h"

#include <stdlib.h>

static bool append(void *user, const char *text, size_t size)
{
    cq_str_add_n(user, text, size);
    return true;
}

static void print(cq_str *out, const cq_onnx_model *m)
{
    cq_str_clear(out);
    CHECK_OK(cq_onnx_model_write_text(m, append, out));
    CHECK_OK(out->status);
}

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "<test>"));
    return m;
}

/* Checks that a model is equal to its printed and parsed copy. */
static void check_round_trip(const cq_onnx_model *m)
{
    cq_onnx_model *again;
    void          *want, *got;
    size_t         want_size, got_size;
    cq_str         text = { 0 };

    print(&text, m);
    again = parse(cq_str_text(&text));
    CHECK_OK(cq_onnx_model_encode(&want, &want_size, m));
    CHECK_OK(cq_onnx_model_encode(&got, &got_size, again));
    if (want_size != got_size || memcmp(want, got, got_size) != 0)
        print_error("%s\n", cq_str_text(&text));
    CHECK_INT(want_size, got_size);
    CHECK(memcmp(want, got, got_size) == 0);
    cq_buffer_free(want);
    cq_buffer_free(got);
    cq_onnx_model_free(again);
    cq_str_clear(&text);
}

/* Compares the printed form of a parsed text, without its first line. */
static void check_text(const char *want, const char *text)
{
    cq_onnx_model *m = parse(text);
    cq_str         s = { 0 };

    print(&s, m);
    CHECK_STR(want, strchr(cq_str_text(&s), '\n') + 1);
    check_round_trip(m);
    cq_str_clear(&s);
    cq_onnx_model_free(m);
}

static void check_error(const char *where, const char *message, const char *excerpt,
                        const char *text)
{
    cq_onnx_model *m;

    CHECK_STATUS(CQ_E_SYNTAX, cq_onnx_model_parse(&m, text, strlen(text), "t"));
    CHECK(m == NULL);
    CHECK_STR(message, cq_last_error()->message);
    CHECK_STR(where, cq_last_error()->where);
    CHECK_STR(excerpt, cq_last_error()->excerpt);
}

TEST(text, models_are_laid_out_like_onnx_does)
{
    check_text("<\n   ir_version: 8,\n   opset_import: [\"\" : 17, \"a.b\" : 1],\n"
               "   producer_name: \"p\",\n   metadata_props: [\"k\": \"v\"]\n>\n"
               "g (float[N,2] x) => (float y)\n"
               "   <float[2] w = {1.0, 2.5}\n"
               "   ,float[] z>\n"
               "{\n"
               "   [n] z = Add (x, w)\n"
               "   y = a.b.Op <k: ints = [1, 2], s: string = \"t\"> (z)\n"
               "}\n",
               "<ir_version: 8, opset_import: [\"\": 17, \"a.b\":1], producer_name: \"p\",\n"
               "metadata_props: [\"k\": \"v\"]> # a comment\n"
               "g (float[N, 2] x) => (float y) <float[2] w = {1, 2.5}, float[] z> {\n"
               "[n] z = Add(x, w) y = a.b.Op(z) <k = [1,2], s = \"t\"> }");
}

/* Each float is inspected once: if all were inspected for each, this would take hours. */
TEST(text, a_long_list_of_floats_is_printed)
{
    enum { N = 1000000 };
    cq_str         text = { 0 };
    cq_onnx_model *m;

    cq_str_add(&text, "<ir_version: 8, opset_import: [\"\" : 17]>\n"
                      "g () => (float[N] y) { y = Constant <value_floats: floats = [0.5");
    for (int i = 1; i < N; i++)
        cq_str_add(&text, ", 0.5");
    cq_str_add(&text, "]> () }\n");
    m = parse(cq_str_text(&text));
    print(&text, m);
    CHECK(text.len > 5 * (size_t)N);
    cq_str_clear(&text);
    cq_onnx_model_free(m);
}

TEST(text, types_of_all_kinds_are_read_and_printed)
{
    check_text(
        "g (seq(float[?,\"2*n\"]) a, map(int64, optional(string)) b,"
        " sparse_tensor(double[3,-1]) c, opaque(d.e,f) d, bfloat16[] e, f) => ()\n{\n}\n",
        "g(seq(float[?,\"2*n\"]) a, map(int64,optional(string)) b, sparse_tensor(double[3,-1])"
        " c, opaque(d.e, f) d, bfloat16[] e, f) => () { }");
}

TEST(text, attributes_of_all_kinds_are_read_and_printed)
{
    check_text("g () => ()\n{\n"
               "   = Op () <a: float = 1.0, b: floats = [0.5, -inf, nan], c: int = @r,"
               " d: strings = [\"\\\"\", \"\\\\\"], e: tensors = [int8 {1}, string[1] t {\"x\"}],"
               " f: graph = \"a b\" () => ()\n         {\n         }, h: ints = [],"
               " i: type_protos = [float, seq(int64)]>\n}\n",
               "g () => () { = Op () <a: float = 1, b: floats = [0.5, -inf, nan], c: int = @r,"
               " d = [\"\\\"\", \"\\\\\"], e: tensors = [int8 \"\" {1} #@ tensor !name\n,"
               " string[1] t = {\"x\"}], f = \"a b\" () => () {}, h: ints = [],"
               " i: type_protos = [float, seq(int64)]>}");
}

TEST(text, functions_have_headers_and_defaults)
{
    check_text(
        "g () => ()\n{\n}\n<\n   domain: \"d\",\n   overload: \"o\",\n"
        "   opset_import: [\"\" : 17]\n>\n"
        "f <p, q: int = 2> (x, y) => (z) <float[2] x>\n{\n   z = d.A:o <k: int = @p> (x, y)\n}\n",
        "g () => () {} <domain: \"d\", overload: \"o\", opset_import: [\"\" : 17]> "
        "f <p, q: int = 2> (float[2] x, y) => (z) { z = d.A:o <k: int = @p> (x, y) }");
}

TEST(text, without_its_first_line_a_text_sets_what_onnx_sets)
{
    cq_onnx_model *m = parse("g () => () { y = A <t = float {1}> () }");

    CHECK_STR("", m->graph->node.items[0]->domain);
    CHECK_STR("", m->graph->node.items[0]->attribute.items[0]->t->name);
    CHECK_INT(1, m->graph->node.items[0]->attribute.items[0]->t->float_data.n);
    cq_onnx_model_free(m);
    m = parse("#@ exact raw\ng () => () { y = A <t = float {1}> () }");
    CHECK(!m->graph->node.items[0]->domain);
    CHECK(!m->graph->node.items[0]->attribute.items[0]->t->name);
    CHECK_INT(4, m->graph->node.items[0]->attribute.items[0]->t->raw_data.size);
    cq_onnx_model_free(m);
}

TEST(text, a_default_of_an_input_is_an_initializer)
{
    cq_onnx_model *m = parse("g (int64[2] x = {1, -2}, float y) => () {}");

    CHECK_INT(2, m->graph->input.n);
    CHECK_INT(1, m->graph->initializer.n);
    CHECK_STR("x", m->graph->initializer.items[0]->name);
    CHECK_INT(-2, m->graph->initializer.items[0]->int64_data.items[1]);
    cq_onnx_model_free(m);
}

TEST(text, facts_without_syntax_survive_in_notes)
{
    cq_onnx_model *m =
        parse("g (x) => (y) <float[1] w = [\"location\": \"f\"] #@ tensor doc_string: \"w\"\n"
              ", { data_type: 99 dims: 2 raw_data: \"\\x00\\xff\" }> {\n"
              "y = A (x)\n#@ node doc_string: \"a\\nb\" metadata_props { key: \"k\" }\n}\n"
              "#@ graph sparse_initializer { values { dims: 3 float_data: 0x7fc00001 } dims: 5 }\n"
              "#@ model training_info { update_binding { key: \"k\" value: \"v\" } } !graph");

    CHECK(!m->graph);
    CHECK_INT(1, m->training_info.n);
    check_round_trip(m);
    cq_onnx_model_free(m);
    m = parse("g () => () { = \"my-op\" (x) <a: sparse_tensor = { dims: 1 }, \"b c\": int = 0>\n"
              "#@ node unknown: \"\\xf2\\x07\\x01x\"\n}");
    CHECK(m->graph->node.items[0]->unknown);
    CHECK_STR("my-op", m->graph->node.items[0]->op_type);
    check_round_trip(m);
    cq_onnx_model_free(m);
}

TEST(text, a_note_on_an_inner_graph_ends_before_the_next_attribute)
{
    cq_onnx_model *m = parse("g () => (y) { y = If (c) <then_branch: graph = a () => (p) {}\n"
                             "#@ graph doc_string: \"a\"\n"
                             ", else_branch: graph = b () => (q) {}> }");

    CHECK_INT(2, m->graph->node.items[0]->attribute.n);
    CHECK_STR("a", m->graph->node.items[0]->attribute.items[0]->g->doc_string);
    check_round_trip(m);
    cq_onnx_model_free(m);
}

TEST(text, errors_show_line_and_column)
{
    check_error("t:2:8", "expected ')'", "y = A(x;\n       ^", "g () => () {\ny = A(x;\n}");
    check_error("t:1:8", "'flot' is not an element type", "g (seq(flot) x\n       ^",
                "g (seq(flot) x");
}

TEST(text, mistakes_are_reported)
{
    static const char *const texts[] = {
        "",
        "g",
        "g (",
        "g () => () {",
        "g () => () { y = A <a: int = 1.5> () }",
        "g () => () { y = A <a: ints = 1> () }",
        "g () => () { y = A <a = []> () }",
        "g () => () { y = A <a = [1, \"x\"]> () }",
        "g () => () { y = A <a: string = \"x> () }",
        "g () => () { y = A <a = 99999999999999999999> () }",
        "g () => () <float[n] w = {1}> {}",
        "g () => () <int8[1] w = {3000000000}> {}",
        "#@ exact raw\ng () => () <int8[1] w = {300}> {}",
        "g () => () <uint64[1] w = {-1}> {}",
        "<no_such_key: 1> g () => () {}",
        "g () => () {}\n#@ model no_such_field: 1",
        "g () => () {}\n#@ model unknown: \"\\x08\\x01\"",
        "g () => () {}\n#@ model ir_version: \"x\"",
    };

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        cq_onnx_model *m;

        CHECK_STATUS(CQ_E_SYNTAX, cq_onnx_model_parse(&m, texts[i], strlen(texts[i]), NULL));
        CHECK(m == NULL);
    }
}

/* seq(seq(… float)) */
static cq_status parse_nested(int depth)
{
    cq_onnx_model *m;
    cq_str         s = { 0 };
    cq_status      status;

    cq_str_add(&s, "g (");
    for (int i = 0; i < depth; i++)
        cq_str_add(&s, "seq(");
    cq_str_add(&s, "float[2]");
    for (int i = 0; i < depth; i++)
        cq_str_add(&s, ")");
    cq_str_add(&s, " x) => () {}");
    status = cq_onnx_model_parse(&m, cq_str_text(&s), s.len, NULL);
    if (status == CQ_OK)
        check_round_trip(m);
    cq_onnx_model_free(m);
    cq_str_clear(&s);
    return status;
}

/* A graph inside a graph inside a graph … */
static cq_status parse_graphs(int depth)
{
    cq_onnx_model *m;
    void          *bytes;
    size_t         size;
    cq_str         s = { 0 };
    cq_status      status;

    for (int i = 0; i < depth; i++)
        cq_str_add(&s, "g () => () { = A() <g = ");
    cq_str_add(&s, "g (seq(float[2]) x) => () {}");
    for (int i = 0; i < depth; i++)
        cq_str_add(&s, ">}");
    status = cq_onnx_model_parse(&m, cq_str_text(&s), s.len, NULL);
    cq_str_clear(&s);
    if (status != CQ_OK)
        return status;
    CHECK_OK(cq_onnx_model_encode(&bytes, &size, m));
    cq_onnx_model_free(m);
    CHECK_OK(cq_onnx_model_decode(&m, bytes, size));
    cq_onnx_model_free(m);
    cq_buffer_free(bytes);
    return CQ_OK;
}

TEST(text, nesting_ends_where_the_decoder_ends)
{
    int deepest = 0;

    while (deepest < 200 && parse_nested(deepest + 1) == CQ_OK)
        deepest++;
    CHECK(deepest >= 45 && deepest < 50); /* 2 messages each, of CQ_ONNX_MAX_DEPTH */
    CHECK_STATUS(CQ_E_SYNTAX, parse_nested(100000));
    for (deepest = 0; deepest < 200 && parse_graphs(deepest + 1) == CQ_OK;)
        deepest++;
    CHECK(deepest >= 28 && deepest < 34); /* 3 messages each */
    CHECK_STATUS(CQ_E_SYNTAX, parse_graphs(100000));
}

RUN_TESTS(TEST_OF(text, models_are_laid_out_like_onnx_does),
          TEST_OF(text, a_long_list_of_floats_is_printed),
          TEST_OF(text, types_of_all_kinds_are_read_and_printed),
          TEST_OF(text, attributes_of_all_kinds_are_read_and_printed),
          TEST_OF(text, functions_have_headers_and_defaults),
          TEST_OF(text, without_its_first_line_a_text_sets_what_onnx_sets),
          TEST_OF(text, a_default_of_an_input_is_an_initializer),
          TEST_OF(text, facts_without_syntax_survive_in_notes),
          TEST_OF(text, a_note_on_an_inner_graph_ends_before_the_next_attribute),
          TEST_OF(text, mistakes_are_reported), TEST_OF(text, errors_show_line_and_column),
          TEST_OF(text, mistakes_are_reported), TEST_OF(text, nesting_ends_where_the_decoder_ends))
