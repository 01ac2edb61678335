/* Which models count as equal, and which differences are reported for others. */
#include "onnx/diff/diff.h"

#include "test.h"

static cq_onnx_model *parse(const char *text)
{
    cq_onnx_model *m;

    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "<test>"));
    return m;
}

/* code NULL: the models must be equal. what may be NULL. */
static void check_diff(const char *code, const char *where, const char *what, const char *a,
                       const char *b)
{
    cq_onnx_model         *x = parse(a), *y = parse(b);
    cq_onnx_findings      *findings;
    const cq_onnx_finding *first;

    CHECK_OK(cq_onnx_model_diff(&findings, x, y, 0, 0));
    first = cq_onnx_findings_at(findings, 0);
    if (first && (!code || cq_onnx_findings_count(findings) > 1))
        print_error("%s: %s: %s\n", first->code, first->where, first->what);
    CHECK_INT(code ? 1 : 0, cq_onnx_findings_count(findings));
    if (code) {
        CHECK_STR(code, first->code);
        CHECK_STR(where, first->where);
        CHECK_STR(what, first->what);
    }
    cq_onnx_findings_free(findings);
    cq_onnx_model_free(x);
    cq_onnx_model_free(y);
}

TEST(diff, names_order_and_storage_do_not_count)
{
    check_diff(NULL, NULL, NULL,
               "g (float[n] x) => (float[n] y) <float[1] w = {1}, float[1] v = {2}> {"
               " a = Relu(x) b = Add(x, w) c = Mul(a, v) y = Sub <p = 1, q = 2> (b, c) }",
               "#@ exact raw\nh (float[m] i) => (float[m] o) <float[1] r = {2}, float[1] s = {1}> {"
               " [k] e = Add(i, s) d = Relu(i) f = Mul(d, r) o = Sub <q = 2, p = 1> (e, f) }");
}

#define TWO_SUMS(nodes)                                                                            \
    "g (float[2, 9] x) => (float[2, 9] y, float[2, 9] z)"                                          \
    " <float[2, 9] v = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, 7, 8, 9},"                    \
    "  float[2, 9] w = {9, 8, 7, 6, 5, 4, 3, 2, 1, 9, 8, 7, 6, 5, 4, 3, 2, 1}> { " nodes " }"

/* Nodes that are equal except for large weights are matched by the users of their results. */
TEST(diff, equal_nodes_may_be_reordered)
{
    const char *const a = TWO_SUMS("y = Add(x, v) z = Add(x, w)");

    check_diff(NULL, NULL, NULL, a, TWO_SUMS("z = Add(x, w) y = Add(x, v)"));
    check_diff("weights-differ", "graph g > node #1 (Add) > weight w (v)",
               "16 of 18 elements differ, by up to 8; the first, number 0, is 9 in A and 1 in B", a,
               TWO_SUMS("z = Add(x, v) y = Add(x, v)"));
    check_diff(NULL, NULL, NULL,
               "g (float x) => (float p, float q) { a = A(x) b = A(x) p = B(a) q = C(b) }",
               "g (float x) => (float p, float q) { b = A(x) a = A(x) q = C(b) p = B(a) }");
}

TEST(diff, a_difference_is_reported_at_its_location)
{
    const char *const a = "g (float x) => (float y) <float[2] w = {1, 2}> {"
                          " [n] a = A <p = 1> (x, w) b = B(a) y = C(b, a) }";

    check_diff("attribute-differs", "graph g > node n (A) > attribute p", "is 1 in A and 2 in B", a,
               "g (float x) => (float y) <float[2] w = {1, 2}> {"
               " a = A <p = 2> (x, w) b = B(a) y = C(b, a) }");
    check_diff("weights-differ", "graph g > node n (A) > weight w",
               "1 of 2 elements differ, by up to 1; the first, number 1, is 2 in A and 3 in B", a,
               "g (float x) => (float y) <float[2] w = {1, 3}> {"
               " a = A <p = 1> (x, w) b = B(a) y = C(b, a) }");
    check_diff("edge-differs", "graph g > node #2 (C)",
               "input 1 is computed by A n in A and computed by B b in B", a,
               "g (float x) => (float y) <float[2] w = {1, 2}> {"
               " a = A <p = 1> (x, w) b = B(a) y = C(b, b) }");
    check_diff("operator-differs", "graph g > node #1 (B)", "is B in A and d.B in B", a,
               "g (float x) => (float y) <float[2] w = {1, 2}> {"
               " a = A <p = 1> (x, w) b = d.B(a) y = C(b, a) }");
}

TEST(diff, subgraphs_and_functions_are_checked)
{
    const char *const a = "g (bool c, float x) => (y) { y = If(c) <t = i () => (z) { z = A(x) }> }"
                          "<domain: \"d\"> f (x) => (y) { y = B(x) }";

    check_diff(NULL, NULL, NULL, a,
               "g (bool c, float u) => (y) { y = If(c) <t = j () => (q) { q = A(u) }> }"
               "<domain: \"d\"> f (a) => (b) { b = B(a) }");
    check_diff("edge-differs", "graph g > node #0 (If) > attribute t > graph i > node #0 (A)",
               "input 0 is the input x in A and the input c in B", a,
               "g (bool c, float x) => (y) { y = If(c) <t = i () => (z) { z = A(c) }> }"
               "<domain: \"d\"> f (x) => (y) { y = B(x) }");
    check_diff("operator-differs", "function f > node #0 (B)", "is B in A and C in B", a,
               "g (bool c, float x) => (y) { y = If(c) <t = i () => (z) { z = A(x) }> }"
               "<domain: \"d\"> f (x) => (y) { y = C(x) }");
}

RUN_TESTS(TEST_OF(diff, names_order_and_storage_do_not_count),
          TEST_OF(diff, equal_nodes_may_be_reordered),
          TEST_OF(diff, a_difference_is_reported_at_its_location),
          TEST_OF(diff, subgraphs_and_functions_are_checked))
