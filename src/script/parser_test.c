/* Lexer and parser: what is read, what is refused and where, and the limits. The comparison with
 * Python's own parser is tests/peer/script_parse.py. */
#include "script_unparse.h"
#include "test.h"

#include "base/alloc.h"
#include "base/str.h"
#include "script/ast.h"

static cq_intern names;

static cq_status parse(cq_unit **unit, const char *text, cq_parse_what what)
{
    return cq_parse(unit, &names, "<test>", text, strlen(text), what);
}

static cq_status parse_only(const char *text)
{
    cq_unit  *unit;
    cq_status status = parse(&unit, text, CQ_PARSE_BLOCK);

    cq_unit_free(unit);
    return status;
}

/* Text to tree to text, and again: both printed texts must agree. */
static void check_prints(cq_parse_what what, const char *text, const char *want)
{
    cq_unit *unit;
    char    *once, *twice;

    CHECK_OK(parse(&unit, text, what));
    CHECK_OK(unparse(&once, unit));
    cq_unit_free(unit);
    CHECK_OK(parse(&unit, once, what));
    CHECK_OK(unparse(&twice, unit));
    cq_unit_free(unit);
    CHECK_STR(want, once);
    CHECK_STR(once, twice);
    cq_free(once);
    cq_free(twice);
}

static void check_expr(const char *text, const char *want)
{
    check_prints(CQ_PARSE_EXPR, text, want);
}

static void check_block(const char *text, const char *want)
{
    check_prints(CQ_PARSE_BLOCK, text, want);
}

static void check_fails(const char *text, const char *where, const char *message)
{
    CHECK_STATUS(CQ_E_SYNTAX, parse_only(text));
    CHECK_STR(message, cq_last_error()->message);
    CHECK_STR(where, cq_last_error()->where);
}

TEST(parser, operators_bind_as_in_python)
{
    check_expr("a + b * c", "a + (b * c)");
    check_expr("a - b - c", "(a - b) - c");
    check_expr("-a ** -b ** c", "-(a ** (-(b ** c)))");
    check_expr("not a == b and c or d", "((not (a == b)) and c) or d");
    check_expr("a | b ^ c & d << e", "a | (b ^ (c & (d << e)))");
    check_expr("a if b else c if d else e", "a if b else (c if d else e)");
    check_expr("a < b <= c is not d not in e", "a < b <= c is not d not in e");
    check_expr("a @ b // c % d / e", "(((a @ b) // c) % d) / e");
    check_expr("~a[0].b(c)", "~a[0].b(c)");
}

TEST(parser, numbers_keep_their_kind)
{
    check_expr("[1, 1., .5, 1e3, 0x1F, 0b11, 0o17, 1_000, 2j, -3, -0.]",
               "[1, 1., 0.5, 1000., 31, 3, 15, 1000, 2j, -3, -0.]");
    check_expr("-9223372036854775808", "-9223372036854775808");
    check_fails("x = 9223372036854775808", "<test>:1:5",
                "9223372036854775808 does not fit in 64 bits");
    check_fails("x = 012", "<test>:1:5", "012 is not a number");
    check_fails("x = 1a", "<test>:1:5", "a number ends in a letter");
}

TEST(parser, strings_are_decoded)
{
    cq_unit *unit;

    CHECK_OK(parse(&unit, "'a\\x41\\u00e9\\101\\n' \"b\" r'\\n' '''c\nd'''", CQ_PARSE_EXPR));
    CHECK_STR("aA\xC3\xA9"
              "A\nb\\nc\nd",
              unit->expr->u.str.text);
    cq_unit_free(unit);
    CHECK_OK(parse(&unit, "'\\000\\q'", CQ_PARSE_EXPR));
    CHECK_INT(3, unit->expr->u.str.len);
    cq_unit_free(unit);
    check_fails("'abc\n'", "<test>:1:1", "the string has no end");
    check_fails("'\\xZZ'", "<test>:1:2", "the escape in this string has no meaning");
    check_fails("b'x'", "<test>:1:1", "TorchScript has no strings of bytes");
}

TEST(parser, format_strings_hold_expressions)
{
    check_expr("f'a{x + 1}{{b}}' 'c'", "f'''a{(x + 1)}{{b}}c'''");
    check_expr("f'{\"text\"}'", "\"text\"");
    check_expr("f'{d[\"k\"]}'", "f'''{(d[\"k\"])}'''");
    check_fails("f'{x!r}'", "<test>:1:5",
                "TorchScript knows no formats and conversions in f-strings");
    check_fails("f'{x'", "<test>:1:3", "'{' is never closed in this f-string");
    check_fails("f'{x y}'", "<test>:1:6", "'y' is not expected here");
}

TEST(parser, subscripts_are_expressions_slices_or_tuples)
{
    check_expr("x[1]", "x[1]");
    check_expr("x[1:, ::2, None, ..., a:b]", "x[1:, ::2, None, ..., a:b]");
    check_expr("x[(1, 2)]", "x[1, 2]");
    check_expr("x[1,]", "x[1,]");
    check_expr("Tuple[()]", "Tuple[()]");
    check_expr("x[:]", "x[:]");
}

TEST(parser, calls_and_displays_take_all_forms)
{
    check_expr("f(a, *b, c=d, **e)", "f(a, *b, c=d, **e)");
    check_expr("f(x for x in y if x)", "f([x for x in y if x])");
    check_expr("{1: 2, **a}", "{1: 2, **a}");
    check_expr("{k: v for k, v in a.items()}", "{k: v for (k, v) in a.items()}");
    check_expr("[*a, b], (c,), ()", "([*a, b], (c,), ())");
    check_expr("(\n  a # comment\n  + b)", "a + b");
}

TEST(parser, statements_of_the_language)
{
    check_block("a, b, = c; d = e = f\nx.y[0] : int = 1\nz : int\n",
                "(a, b) = c\nd = e = f\nx.y[0] : int = 1\nz : int\n");
    check_block("a //= b\na **= 2\na @= c", "a //= b\na **= 2\na @= c\n");
    check_block("if a: b\nelif c:\n\td\nelse:\n\te\n",
                "if a:\n  b\nelse:\n  if c:\n    d\n  else:\n    e\n");
    check_block("for i, (j, *k) in x, y:\n  if i: break\n  continue",
                "for (i, (j, *k)) in (x, y):\n  if i:\n    break\n  continue\n");
    check_block("while a:\n  pass", "while a:\n  pass\n");
    check_block("with a as b, c: d", "with a as b, c:\n  d\n");
    check_block("assert a, 'b'\nraise E('x') from c\ndel a[0], b\nreturn",
                "assert a, \"b\"\nraise E(\"x\") from c\ndel a[0], b\nreturn\n");
    check_block("def f(a, b: int=1, *, c, **d) -> int:\n  return a\n",
                "def f(a, b: int=1, *, c, **d) -> int:\n  return a\n");
}

TEST(parser, comments_of_types_become_annotations)
{
    check_block("x = []  # type: List[int]\ny = 1  # type: ignore\n",
                "x : List[int] = []\ny = 1\n");
    check_block("def f(self, a, b=2):\n  # type: (Tensor, int) -> Tensor\n  return a\n",
                "def f(self, a: Tensor, b: int=2) -> Tensor:\n  return a\n");
    check_block(
        "def f(a,  # type: int\n      b   # type: str\n      ):\n  # type: (...) -> None\n  pass\n",
        "def f(a: int, b: str) -> None:\n  pass\n");
    check_fails("def f(a):\n  # type: (int, int, int) -> int\n  pass", "<test>:2:11",
                "3 types for 1 parameters");
}

TEST(parser, a_module_as_pytorch_prints_it)
{
    static const char   text[] = "class Net(Module):\n"
                                 "  __parameters__ = [\"weight\", ]\n"
                                 "  __buffers__ = []\n"
                                 "  __annotations__ = []\n"
                                 "  __annotations__[\"0\"] = __torch__.Conv\n"
                                 "  weight : Tensor\n"
                                 "  class : int\n"
                                 "  n : Final[int] = 2\n"
                                 "  def forward(self: __torch__.Net,\n"
                                 "    x: Tensor) -> Tensor:\n"
                                 "    _0 = getattr(self, \"0\")\n"
                                 "    return (_0).forward(x, )\n";
    cq_unit            *unit;
    const cq_ast_class *c;

    CHECK_OK(parse(&unit, text, CQ_PARSE_FILE));
    c = cq_unit_class(unit, "Net");
    CHECK(c && c->kind == CQ_CLASS_MODULE);
    CHECK_INT(1, c->parameters.n);
    CHECK_STR("weight", c->parameters.items[0]);
    CHECK(c->has_buffers && !c->buffers.n);
    CHECK_INT(4, c->n_fields);
    CHECK_STR("0", c->fields[0].name);
    CHECK(cq_ast_class_field(c, "n")->value->u.i == 2);
    CHECK(cq_ast_class_field(c, "class") != NULL);
    CHECK_INT(2, cq_ast_class_method(c, "forward")->body.n);
    CHECK(cq_ast_class_method(c, "backward") == NULL);
    cq_unit_free(unit);
}

TEST(parser, files_have_imports_functions_and_statements)
{
    cq_unit *unit;

    CHECK_OK(parse(&unit,
                   "op_version_set = 1\nimport __torch__.a\nfrom typing import (List, Dict as D)\n"
                   "N = 3\n@torch.jit.script\ndef f(x):\n  '''doc'''\n  return x\n"
                   "class E(Enum):\n  RED = 1\n",
                   CQ_PARSE_FILE));
    CHECK_INT(1, unit->op_version_set);
    CHECK_INT(3, unit->n_imports);
    CHECK_STR("D", unit->imports[2].alias);
    CHECK_INT(1, unit->body.n);
    CHECK_INT(1, cq_unit_def(unit, "f")->decorators.n);
    CHECK(cq_unit_class(unit, "E")->kind == CQ_CLASS_ENUM);
    CHECK(cq_unit_class(unit, "f") == NULL);
    cq_unit_free(unit);
}

TEST(parser, failures_name_the_place_and_show_it)
{
    check_fails("x = (1,\ny = 2\n", "<test>:1:5", "'(' is never closed");
    check_fails("x = 1)\n", "<test>:1:6", "a bracket is closed that was not opened");
    check_fails("x = (1]\n", "<test>:1:7", "']' does not close '('");
    check_fails("if a:\nb\n", "<test>:2:1", "expected an indented line but found 'b'");
    check_fails("if a:\n    b\n  c\n", "<test>:3:1",
                "the line is indented less than the one above, but like none before");
    check_fails("if a:\n        b\n\tc\n", "<test>:3:1",
                "tabs and blanks are mixed, so that the depth of the line is unclear");
    check_fails("f() = 1", "<test>:1:1", "nothing can be assigned to this");
    check_fails("break", "<test>:1:1", "break outside of a loop");
    check_fails("x = $", "<test>:1:5", "'$' has no meaning here");
    check_fails("\xC3\xA4 = = b", "<test>:1:5", "'=' is not expected here");
    CHECK_STR("\xC3\xA4 = = b\n    ^", cq_last_error()->excerpt);
    check_fails("  foo bar", "<test>:1:3", "an indented line is not expected here");
    check_fails("a = foo bar", "<test>:1:9", "expected the end of the line but found 'bar'");
    CHECK_STR("a = foo bar\n        ^^^", cq_last_error()->excerpt);
}

TEST(parser, what_torchscript_lacks_is_refused_by_name)
{
    check_fails("f = lambda x: x", "<test>:1:5", "'lambda' is not part of TorchScript");
    check_fails("try:\n  pass\n", "<test>:1:1", "'try' is not part of TorchScript");
    check_fails("global x", "<test>:1:1", "'global' is not part of TorchScript");
    check_fails("x = {1, 2}", "<test>:1:6", "TorchScript has no sets");
    check_fails("for a in b:\n  pass\nelse:\n  pass\n", "<test>:3:1",
                "else of a loop is not part of TorchScript");
    check_fails("(a := 1)", "<test>:1:4", "':=' is not part of TorchScript");
}

/* n times open, then middle, then n times close. */
static char *nested(size_t n, const char *open, const char *middle, const char *close)
{
    cq_str s = { 0 };

    for (size_t i = 0; i < n; i++)
        cq_str_add(&s, open);
    cq_str_add(&s, middle);
    for (size_t i = 0; i < n; i++)
        cq_str_add(&s, close);
    return cq_str_take(&s);
}

static void check_limit(size_t limit, const char *open, const char *middle, const char *close)
{
    char *text = nested(limit, open, middle, close);

    CHECK_OK(parse_only(text));
    cq_free(text);
    text = nested(limit + 1, open, middle, close);
    CHECK_STATUS(CQ_E_SYNTAX, parse_only(text));
    cq_free(text);
}

TEST(parser, depth_has_limits)
{
    check_limit(CQ_SCRIPT_MAX_NESTING, "(", "x", ")");
    check_limit(CQ_SCRIPT_MAX_NESTING, "[", "x", "]");
    check_limit(CQ_SCRIPT_MAX_NESTING, "not ", "x", "");
    check_limit(CQ_SCRIPT_MAX_NESTING, "-", "x", "");
    check_limit(CQ_SCRIPT_MAX_NESTING, "x**", "x", "");
    check_limit(CQ_SCRIPT_MAX_NESTING, "x if x else ", "x", "");
    check_limit(CQ_SCRIPT_MAX_NESTING, "f(", "x", ")");
    check_limit(CQ_SCRIPT_MAX_HEIGHT - 1, "x + ", "x", "");
    check_limit(CQ_SCRIPT_MAX_HEIGHT - 1, "", "x", ".y");
    check_limit(CQ_SCRIPT_MAX_NESTING - 1, "if x: pass\nel", "if x: pass\n", "");
}

TEST(parser, blocks_have_a_limit)
{
    for (size_t n = CQ_SCRIPT_MAX_NESTING; n <= CQ_SCRIPT_MAX_NESTING + 1; n++) {
        cq_str s = { 0 };

        for (size_t i = 0; i < n; i++)
            cq_str_printf(&s, "%*swhile x:\n", (int)i, "");
        cq_str_printf(&s, "%*spass\n", (int)n, "");
        CHECK_STATUS(n > CQ_SCRIPT_MAX_NESTING ? CQ_E_SYNTAX : CQ_OK, parse_only(s.text));
        cq_str_clear(&s);
    }
}

TEST(parser, every_allocation_may_fail)
{
    static const char text[] = "class A(Module):\n  a : int\n  def f(self, x=1, *y):\n"
                               "    return f'{x}' if a < b else {1: [2, 3]}\n"
                               "import b\nx = [y for y in z]  # type: int\n";
    cq_status         status = CQ_E_NO_MEMORY;
    cq_intern         table;

    for (long n = 1; status == CQ_E_NO_MEMORY; n++) {
        cq_unit *unit;

        table = (cq_intern){ 0 };
        cq_alloc_fail_at(n);
        status = cq_parse(&unit, &table, "<test>", text, strlen(text), CQ_PARSE_FILE);
        cq_alloc_fail_at(0);
        cq_unit_free(unit);
        cq_intern_clear(&table);
    }
    CHECK_INT(CQ_OK, status);
}

TEST(parser, names_are_one)
{
    cq_unit *a, *b;

    CHECK_OK(parse(&a, "foo", CQ_PARSE_EXPR));
    CHECK_OK(parse(&b, "foo.bar", CQ_PARSE_EXPR));
    CHECK(a->expr->u.name == b->expr->u.attr.object->u.name);
    cq_unit_free(a);
    cq_unit_free(b);
    cq_intern_clear(&names);
}

RUN_TESTS(TEST_OF(parser, operators_bind_as_in_python), TEST_OF(parser, numbers_keep_their_kind),
          TEST_OF(parser, strings_are_decoded), TEST_OF(parser, format_strings_hold_expressions),
          TEST_OF(parser, subscripts_are_expressions_slices_or_tuples),
          TEST_OF(parser, calls_and_displays_take_all_forms),
          TEST_OF(parser, statements_of_the_language),
          TEST_OF(parser, comments_of_types_become_annotations),
          TEST_OF(parser, a_module_as_pytorch_prints_it),
          TEST_OF(parser, files_have_imports_functions_and_statements),
          TEST_OF(parser, failures_name_the_place_and_show_it),
          TEST_OF(parser, what_torchscript_lacks_is_refused_by_name),
          TEST_OF(parser, depth_has_limits), TEST_OF(parser, blocks_have_a_limit),
          TEST_OF(parser, every_allocation_may_fail), TEST_OF(parser, names_are_one))
