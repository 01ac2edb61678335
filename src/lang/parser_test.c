/* Lexer and parser: the constructs of Python, the location of errors, and the limits. The
 * comparison with Python's own parser over real code is tests/peer/script_parse.py. */
#include "script_unparse.h"
#include "test.h"

#include "base/alloc.h"
#include "base/str.h"
#include "lang/ast.h"

static cq_intern names;

static cq_status parse(cq_unit **unit, const char *text, cq_parse_mode what)
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
static void check_prints(cq_parse_mode what, const char *text, const char *want)
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
    check_expr("a - b + c", "a - b + c");
    check_expr("a - (b - c)", "a - (b - c)");
    check_expr("a / b * c", "(a / b) * c");
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
    check_expr("[9223372036854775808, -9223372036854775809, 0xFFFF_FFFF_FFFF_FFFF]",
               "[9223372036854775808, -(9223372036854775809), 0xFFFFFFFFFFFFFFFF]");
    check_expr("[00, 0_0, 0XaF, 012.5, 1_0.0_1e1_0, 1.e-5, .5J, 1if x else 1or 2, 0x1for x]",
               "[0, 0, 175, 12.5, 100100000000., 1.0000000000000001e-05, 0.5j, 1 if x else (1 or "
               "2), 31 or x]");
    check_fails("x = 012", "<test>:1:5", "012 is not a number");
    check_fails("x = 1_", "<test>:1:5", "a number ends in a letter");
    check_fails("x = 0x", "<test>:1:5", "0x is not a number");
    check_fails("x = 0b12", "<test>:1:5", "0b12 is not a number");
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
    CHECK_OK(parse(&unit, "'\\303\\251'", CQ_PARSE_EXPR)); /* two characters, four bytes */
    CHECK_INT(4, unit->expr->u.str.len);
    cq_unit_free(unit);
    CHECK_OK(parse(&unit, "'\\303\\251'\n", CQ_PARSE_PRINTED));
    CHECK_STR("\xC3\xA9", unit->body.items[0]->u.value->u.str.text);
    cq_unit_free(unit);
    check_fails("'abc\n'", "<test>:1:1", "the string has no end");
    check_fails("'\\xZZ'", "<test>:1:2", "the escape in this string has no meaning");
    CHECK_OK(parse(&unit, "'a\\\r\nb\\\nc'", CQ_PARSE_EXPR));
    CHECK_STR("abc", unit->expr->u.str.text);
    cq_unit_free(unit);
    CHECK_OK(parse(&unit, "'''a\r\nb\rc'''", CQ_PARSE_EXPR));
    CHECK_STR("a\nb\nc", unit->expr->u.str.text);
    cq_unit_free(unit);
    check_expr("u'a' R'\\n' \"'\"", "\"a\\\\n\\'\"");
    check_expr("'\\ud800\\N{BULLET}'", "\"\\ud800\\N{BULLET}\"");
    check_fails("'\\N{'", "<test>:1:2", "the escape in this string has no meaning");
    check_fails("'\\N{}'", "<test>:1:2", "the escape in this string has no meaning");
    check_fails("'\\N{a+b}'", "<test>:1:2", "the escape in this string has no meaning");
    check_fails("ub'x'", "<test>:1:3", "expected the end of the line but found a string");
}

TEST(parser, bytes_are_not_decoded_as_text)
{
    cq_unit *unit;

    CHECK_OK(parse(&unit, "b'a\\xff\\u00e9' Rb'\\n' BR'''\\t'''", CQ_PARSE_EXPR));
    CHECK_INT(CQ_X_BYTES, unit->expr->kind);
    CHECK_INT(12, unit->expr->u.str.len);
    CHECK_STR("a\xff\\u00e9\\n\\t", unit->expr->u.str.text);
    cq_unit_free(unit);
    check_expr("b'\\x00\\xff'", "b\"\\000\\xff\"");
    check_fails("b'a' 'b'", "<test>:1:6", "bytes and text cannot be adjacent");
    check_fails("b'\xC3\xA4'", "<test>:1:3", "bytes contain ASCII characters only");
}

TEST(parser, format_strings_hold_expressions)
{
    check_expr("f'a{x + 1}{{b}}' 'c'", "f\"a{(x + 1)}{{b}}c\"");
    check_expr("f'{\"text\"}'", "f\"{(\"text\")}\"");
    check_expr("f'abc{{}}'", "\"abc{}\"");
    check_expr("f'{d[\"k\"]}'", "f\"{(d[\"k\"])}\"");
    check_expr("f'{x!r}{y!s:>10}{z:{w}.{p}f}'", "f\"{(x)!r}{(y)!s:>10}{(z):{(w)}.{(p)}f}\"");
    check_expr("f'{x = }{y=!s}{z=:3}'", "f\"x = {(x)!r}y={(y)!s}z={(z):3}\"");
    check_expr("f'{a != b}{c:=^3}{(d := 1)}{e,}'", "f\"{(a != b)}{(c):=^3}{((d := 1))}{((e,))}\"");
    check_expr("rf'\\{x}\\n' fR'{x:\\n}'", "f\"\\\\{(x)}\\\\n{(x):\\\\n}\"");
    check_expr("f'\\{x}\\N{DASH}{{'", "f\"\\\\{(x)}\\N{DASH}{{\"");
    check_fails("f'{x'", "<test>:1:3", "'{' is never closed in this f-string");
    check_fails("f'{x:3'", "<test>:1:3", "'{' is never closed in this f-string");
    check_fails("f'{x y}'", "<test>:1:6", "expected '}' but found 'y'");
    check_fails("f'{x!z}'", "<test>:1:6", "expected one of the conversions s, r and a behind '!'");
    check_fails("f'}'", "<test>:1:3", "'}' alone in an f-string");
    check_fails("f'{}'", "<test>:1:4", "'}' is not expected here");
    check_fails("f'abc\n'", "<test>:1:1", "the string has no end");
}

TEST(parser, format_strings_nest_as_in_pep_701)
{
    check_expr("f'{d['k']}'", "f\"{(d[\"k\"])}\"");
    check_expr("f\"{f\"{f\"{1}\"}\"}\"", "f\"{(f\"{(f\"{(1)}\")}\")}\"");
    check_expr("f'{\n  x  # comment }'\n}'", "f\"{(x)}\"");
    check_expr("f'{'\\n'.join(a)}'", "f\"{(\"\\n\".join(a))}\"");
    check_expr("f'''{\nx:>{\nn}}\n'''", "f\"{(x):>{(n)}}\\n\"");
    check_expr("f'{x:{'{'}>{f'{n}'}}'", "f\"{(x):{(\"{\")}>{(f\"{(n)}\")}}\"");
}

TEST(parser, template_strings)
{
    cq_unit *unit;

    check_expr("t'a{x!r:>3}' rt'{{\\n'", "t\"a{(x)!r:>3}{{\\\\n\"");
    check_expr("t'a'", "t\"a\"");
    CHECK_OK(parse(&unit, "t'{ x + 1 }'", CQ_PARSE_EXPR));
    CHECK_STR("x + 1", unit->expr->u.items.items[0]->u.field.text);
    cq_unit_free(unit);
    check_fails("t'a' 'b'", "<test>:1:6",
                "a template string can only be adjacent to template strings");
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
    check_expr("f(x for x in y if x)", "f((x for x in y if x))");
    check_expr("f((x for x in y), 1)", "f((x for x in y), 1)");
    check_expr("f(a=1, *b, c=2)", "f(a=1, *b, c=2)");
    check_expr("{1, *a, b}, {x for x in y}, {}", "({1, *a, b}, {x for x in y}, {})");
    check_expr("[x async for x in y for z in x if z if x]",
               "[x async for x in y for z in x if z if x]");
    check_expr("x[*a], x[*a, 1], x[b := 1]", "(x[*a], x[*a, 1], x[(b := 1)])");
    check_fails("f(x for x in y, 1)", "<test>:1:3",
                "a generator needs parentheses if it is not the only argument");
    check_fails("f(a=1, b)", "<test>:1:8", "a positional argument follows a keyword argument");
    check_fails("f(**a, *b)", "<test>:1:9", "'*' follows '**' among the arguments");
    check_fails("[*a for a in b]", "<test>:1:2", "a comprehension cannot unpack its values");
    check_fails("(*a)", "<test>:1:2", "a starred expression cannot stand alone");
    check_fails("{1: 2, 3}", "<test>:1:9", "expected ':' but found '}'");
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
    check_block("x = 1  # type: anything at all (\ny = f(1)  # type: 'x\n", "x = 1\ny = f(1)\n");
}

TEST(parser, comments_that_do_not_fit_are_kept_with_the_function)
{
    static const char text[] = "def f(a):\n  # type: (int, int, int) -> int\n  pass\n"
                               "def g(a):\n  # type: ignore\n  pass\n";
    cq_unit          *unit;

    CHECK_OK(parse(&unit, text, CQ_PARSE_FILE));
    CHECK_INT(20, cq_unit_def(unit, "f")->bad_comment.start);
    CHECK(cq_unit_def(unit, "f")->params[0].type == NULL);
    CHECK_INT(0, cq_unit_def(unit, "g")->bad_comment.end);
    cq_unit_free(unit);
}

TEST(parser, parses_a_module_printed_by_pytorch)
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
    CHECK_INT(6, unit->body.n);
    CHECK_INT(CQ_S_IMPORT, unit->body.items[2]->kind);
    CHECK_INT(2, unit->body.items[2]->u.import.n);
    CHECK(unit->body.items[4]->u.def == cq_unit_def(unit, "f"));
    CHECK(unit->body.items[5]->u.cls == cq_unit_class(unit, "E"));
    CHECK_INT(1, cq_unit_def(unit, "f")->decorators.n);
    CHECK(cq_unit_class(unit, "E")->kind == CQ_CLASS_ENUM);
    CHECK(cq_unit_class(unit, "f") == NULL);
    cq_unit_free(unit);
}

TEST(parser, failures_show_location_and_excerpt)
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

/* ---- what TorchScript lacks ---- */

TEST(parser, lambdas_are_functions_with_a_value)
{
    cq_unit *unit;

    check_expr("lambda: 0", "(lambda: 0)");
    check_expr("lambda a, /, b=1, *c, d, e=2, **f: a if b else c",
               "(lambda a, /, b=1, *c, d, e=2, **f: a if b else c)");
    check_expr("lambda *, a: lambda: a", "(lambda *, a: (lambda: a))");
    check_expr("sorted(x, key=lambda v: v[1:2])", "sorted(x, key=(lambda v: v[1:2]))");
    CHECK_OK(parse(&unit, "lambda x: (yield x)", CQ_PARSE_EXPR));
    CHECK(unit->expr->u.lambda->is_generator && !unit->expr->u.lambda->body.n);
    cq_unit_free(unit);
    check_fails("lambda a=1, b: 0", "<test>:1:13",
                "a parameter without a default follows one with a default");
    check_fails("lambda *: 0", "<test>:1:9", "expected a name but found ':'");
    check_fails("lambda x y: 0", "<test>:1:10", "expected ':' but found 'y'");
}

TEST(parser, assignment_expressions)
{
    check_block("if (n := len(a)) > 10: pass", "if (n := len(a)) > 10:\n  pass\n");
    check_block("while x := f(): pass", "while (x := f()):\n  pass\n");
    check_expr("[y := f(x), y ** 2]", "[(y := f(x)), y ** 2]");
    check_expr("f(a := 1, b=(c := 2))", "f((a := 1), b=(c := 2))");
    check_expr("[b for a in c if (b := a)]", "[b for a in c if (b := a)]");
    check_fails("x := 1", "<test>:1:3", "expected the end of the line but found ':='");
    check_fails("(x.y := 1)", "<test>:1:2", "only a name can be assigned to by ':='");
    check_fails("f(a=b := 1)", "<test>:1:7", "expected ')' but found ':='");
}

TEST(parser, generators_and_coroutines)
{
    cq_unit *unit;

    check_block("yield\nyield a, b\nx = yield from y\nx += yield\nawait f(x) ** 2\n",
                "(yield)\n(yield (a, b))\nx = (yield from y)\nx += (yield)\n(await f(x)) ** 2\n");
    check_block("async def f():\n  async with a as b, c:\n    async for x in y: await x\n",
                "async def f():\n  async with a as b, c:\n    async for x in y:\n      await x\n");
    check_block("async def f():\n  return (x async for x in y)\n",
                "async def f():\n  return (x async for x in y)\n");
    CHECK_OK(parse(&unit, "def f():\n  def g(): yield\n  return g\nasync def h(): yield\n",
                   CQ_PARSE_FILE));
    CHECK(!unit->defs[0]->is_generator && unit->defs[0]->body.items[0]->u.def->is_generator);
    CHECK(unit->defs[1]->is_async && unit->defs[1]->is_generator);
    cq_unit_free(unit);
    CHECK_STATUS(CQ_E_SYNTAX, parse(&unit, "class A:\n  x = yield\n", CQ_PARSE_FILE));
    CHECK_STR("'yield' outside of a function", cq_last_error()->message);
    CHECK_STR("<test>:2:7", cq_last_error()->where);
    check_fails("async x", "<test>:1:7", "'x' is not expected here");
}

TEST(parser, exceptions)
{
    check_block("try: a\nexcept A: b\nexcept (B, C) as e: c\nexcept: d\nelse: e\nfinally: f\n",
                "try:\n  a\nexcept A:\n  b\nexcept (B, C) as e:\n  c\nexcept:\n  d\nelse:\n  e\n"
                "finally:\n  f\n");
    check_block("try: a\nfinally: b\n", "try:\n  a\nfinally:\n  b\n");
    check_block("try: a\nexcept* A as e: b\n", "try:\n  a\nexcept* A as e:\n  b\n");
    check_block("try: a\nexcept A, B: b\n", "try:\n  a\nexcept (A, B):\n  b\n");
    check_fails("try: a\nb\n", "<test>:2:1", "expected 'except' but found 'b'");
    check_fails("try: a\nexcept: b\nexcept A: c\n", "<test>:3:1",
                "'except' behind one without a type");
    check_fails("try: a\nexcept A: b\nexcept* A: c\n", "<test>:3:1",
                "'except' and 'except*' cannot be mixed");
    check_fails("try: a\nexcept A, B as e: b\n", "<test>:2:8",
                "several exceptions with a name need parentheses");
}

TEST(parser, statements_of_python_alone)
{
    check_block("global a, b\nnonlocal c\nimport a.b as c, d\nfrom .e import (f as g, h,)\n",
                "global a, b\nnonlocal c\nimport a.b as c, d\nfrom .e import f as g, h\n");
    check_block("from . import x\nfrom ... import *\n", "from . import x\nfrom ... import *\n");
    check_block("for a in b: break\nelse: c\nwhile d: pass\nelse:\n  e\n",
                "for a in b:\n  break\nelse:\n  c\nwhile d:\n  pass\nelse:\n  e\n");
    check_block("def f(a, b, /, c, *d, e=1, **g): pass\n",
                "def f(a, b, /, c, *d, e=1, **g):\n  pass\n");
    check_block("@a.b(1)\n@(lambda f: f)\ndef f(): pass\n",
                "@a.b(1)\n@(lambda f: f)\ndef f():\n  pass\n");
    check_block("for x in *a, b: pass\nreturn *a, b\n",
                "for x in (*a, b):\n  pass\nreturn (*a, b)\n");
    check_fails("import .a", "<test>:1:8", "expected a name but found '.'");
    check_fails("from a import (", "<test>:1:15", "'(' is never closed");
    check_fails("from a import ()", "<test>:1:16", "expected a name but found ')'");
    check_fails("def f(a, /, /): pass", "<test>:1:13", "'/' is not expected here");
    check_fails("def f(*, **a): pass", "<test>:1:12", "a named parameter is expected behind '*'");
    check_fails("def f(**a, b): pass", "<test>:1:12", "'b' is not expected here");
    check_fails("if a: if b: c", "<test>:1:7", "'if' is not expected here");
    check_fails("*a = b", "<test>:1:1", "a starred expression cannot stand alone");
}

TEST(parser, items_of_with_may_be_in_parentheses)
{
    check_block("with (a as b, c as d,): e", "with a as b, c as d:\n  e\n");
    check_block("with (a, b): c", "with a, b:\n  c\n");
    check_block("with (a, b) as c: d", "with (a, b) as c:\n  d\n");
    check_block("with (a), (b): c", "with a, b:\n  c\n");
    check_block("with ((a, b)): c", "with ((a, b)):\n  c\n");
    check_block("with (a)(b) as c.d, e as [f, g]: h", "with a(b) as c.d, e as [f, g]:\n  h\n");
    check_block("with (yield a): b", "with (yield a):\n  b\n");
    check_block("with (a if b else c): d", "with a if b else c:\n  d\n");
    check_fails("with a as 1: b", "<test>:1:11", "'1' is not expected here");
}

TEST(parser, match_has_all_patterns)
{
    check_block("match a, *b:\n  case 1 | -2.5 | 3-4j | 'x' 'y' | b'z' | None: c\n",
                "match (a, *b):\n  case (1 | -2.5 | 3 - 4j | \"xy\" | b\"z\" | None):\n    c\n");
    check_block("match a:\n  case [x, *_]: b\n  case (y,): c\n  case (z): d\n  case e, *f: g\n",
                "match a:\n  case [x, *_]:\n    b\n  case [y]:\n    c\n  case z:\n    d\n"
                "  case [e, *f]:\n    g\n");
    check_block("match a:\n  case {'k': v, A.B: 1, **rest}: b\n  case {}: c\n",
                "match a:\n  case {\"k\": v, A.B: 1, **rest}:\n    b\n  case {}:\n    c\n");
    check_block("match a:\n  case P.Q(1, x=2, y=[_],) as p if p: b\n  case _: c\n",
                "match a:\n  case (P.Q(1, x=2, y=[_]) as p) if p:\n    b\n  case _:\n    c\n");
    check_fails("match a:\n  case x.y as _: b\n", "<test>:2:15", "'_' is not expected here");
    check_fails("match a:\n  case [*a, *b]: b\n", "<test>:2:8",
                "more than one starred name in this pattern");
    check_fails("match a:\n  case A(x=1, 2): b\n", "<test>:2:15",
                "a positional pattern follows a keyword pattern");
    check_fails("match a:\n  case {x: 1}: b\n", "<test>:2:9",
                "a key must be a literal or a name with dots");
    check_fails("match a:\n  case f'{x}': b\n", "<test>:2:8",
                "a pattern cannot be a formatted string");
    check_fails("match a:\n  case 1 + 2: b\n", "<test>:2:12",
                "expected an imaginary number in this pattern");
    check_fails("match a:\n  case 1: b\n  c\n", "<test>:3:3", "'c' is not expected here");
}

TEST(parser, soft_keywords_are_names)
{
    check_block("match = case = type = _ = 1\n", "match = case = type = _ = 1\n");
    check_block("match(x)\nmatch[1:2]\nmatch.a -= 1\nmatch * a\nmatch: int = 1\n",
                "match(x)\nmatch[1:2]\nmatch.a -= 1\nmatch * a\nmatch : int = 1\n");
    check_block("type(x)\ntype: int\nprint(type, case)\ntype[0] = 1\n",
                "type(x)\ntype : int\nprint(type, case)\ntype[0] = 1\n");
    check_block("match (x):\n  case y: match\n", "match x:\n  case y:\n    match\n");
    check_block("match -x:\n  case case: pass\n", "match -x:\n  case case:\n    pass\n");
}

TEST(parser, type_parameters_and_aliases)
{
    check_block("type X = int\ntype Y[T: (int, str) = int, *Ts = *A, **P = []] = Z[T]\n",
                "type X = int\ntype Y[T: (int, str) = int, *Ts = *A, **P = []] = Z[T]\n");
    check_block("def f[T](x: T, *a: *Ts) -> T: pass\nclass A[T](B[T]): pass\n",
                "def f[T](x: T, *a: *Ts) -> T:\n  pass\nclass A[T](B[T]):\n  pass\n");
    check_fails("type X[] = int", "<test>:1:8", "expected a name but found ']'");
}

TEST(parser, classes_keep_all_statements)
{
    static const char   text[] = "@d\nclass A(B, *C, metaclass=M, **k):\n"
                                 "  '''doc'''\n  x: int = 1\n  y, z = 1, 2\n"
                                 "  if x:\n    def f(self): pass\n  class Inner: pass\n"
                                 "  @property\n  def g(self): return 1\n";
    cq_unit            *unit;
    const cq_ast_class *c;

    check_prints(CQ_PARSE_FILE, text,
                 "@d\nclass A(B, *C, metaclass=M, **k):\n  \"doc\"\n  x : int = 1\n"
                 "  (y, z) = (1, 2)\n  if x:\n    def f(self):\n      pass\n"
                 "  class Inner:\n    pass\n  @property\n  def g(self):\n    return 1\n");
    CHECK_OK(parse(&unit, text, CQ_PARSE_FILE));
    c = cq_unit_class(unit, "A");
    CHECK_INT(2, c->bases.n);
    CHECK_INT(2, c->n_keywords);
    CHECK_INT(6, c->body.n);
    CHECK_INT(1, c->n_fields);
    CHECK_INT(1, c->n_methods);
    CHECK(c->other == c->body.items[2]);
    cq_unit_free(unit);
    CHECK_STATUS(CQ_E_SYNTAX, parse(&unit, "def f():\n  class A:\n    return 1\n", CQ_PARSE_FILE));
    CHECK_STR("return outside of a function", cq_last_error()->message);
}

TEST(parser, layout)
{
    check_block("if a:\r\n  b\r\n\r\n  # c\r\n  d\r\n", "if a:\n  b\n  d\n");
    check_block("\f\nif a:\n  b\n\f  c\n\x0c\n", "if a:\n  b\n  c\n");
    check_block("a = b + \\\n  c\nif a and \\\r\n   b:\n  c\n", "a = b + c\nif a and b:\n  c\n");
    check_block("if a:\n  \\\n  b\n  c\n", "if a:\n  b\n  c\n");
    check_block("a;b ;\n", "a\nb\n");
    check_fails("if a:\n  \\\n  # b\n", "<test>:4:1",
                "a line that is indented less is not expected here");
    check_fails("a = \\ \nb\n", "<test>:1:5", "'\\' has no meaning here");
    check_fails("a = b\\", "<test>:1:6", "'\\' has no meaning here");
    check_fails("\xC2\xA0 = 1", "<test>:1:1", "the character U+00A0 has no meaning here");
}

TEST(parser, encodings)
{
    static const char utf8[]   = "#!/bin/x\n# -*- coding: UTF_8 -*-\nx = '\xC3\xA4'\n";
    static const char latin1[] = "# vim: set fileencoding=iso-8859-1 :\nx = '\xE4'\n";
    cq_unit          *unit;

    CHECK_OK(parse(&unit, utf8, CQ_PARSE_FILE));
    CHECK_STR("\xC3\xA4", unit->body.items[0]->u.assign.value->u.str.text);
    cq_unit_free(unit);
    CHECK_OK(parse(&unit, latin1, CQ_PARSE_FILE));
    CHECK_STR("\xC3\xA4", unit->body.items[0]->u.assign.value->u.str.text);
    cq_unit_free(unit);
    CHECK_OK(parse_only("# coding: koi8-r\nx = 1\n"));
    check_fails("# coding: koi8-r\nx = '\xE4'\n", "<test>:1:11",
                "the encoding 'koi8-r' is not supported");
    check_fails("x = '\xE4'\n", "<test>:1:6", "the byte 0xE4 is not valid in UTF-8");
    check_fails("x = 1\n# coding: latin-1\ny = '\xC0\x80'\n", "<test>:3:6",
                "the byte 0xC0 is not valid in UTF-8");
    CHECK_STATUS(CQ_E_SYNTAX, cq_parse(&unit, &names, "<test>", "x = 1 # \0", 9, CQ_PARSE_FILE));
    CHECK_STR("the byte 0x00 is not valid in source text", cq_last_error()->message);
    CHECK_STR("<test>:1:9", cq_last_error()->where);
    CHECK_OK(parse_only("\xEF\xBB\xBF# coding: utf-8\n\xC3\xA4 = 1\n"));
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
    check_limit(CQ_LANG_MAX_NESTING, "(", "x", ")");
    check_limit(CQ_LANG_MAX_NESTING, "[", "x", "]");
    check_limit(CQ_LANG_MAX_NESTING, "not ", "x", "");
    check_limit(CQ_LANG_MAX_NESTING, "-", "x", "");
    check_limit(CQ_LANG_MAX_NESTING, "x**", "x", "");
    check_limit(CQ_LANG_MAX_NESTING, "x if x else ", "x", "");
    check_limit(CQ_LANG_MAX_NESTING, "f(", "x", ")");
    check_limit(CQ_LANG_MAX_HEIGHT - 1, "x + ", "x", "");
    check_limit(CQ_LANG_MAX_HEIGHT - 1, "", "x", ".y");
    check_limit(CQ_LANG_MAX_NESTING - 1, "if x: pass\nel", "if x: pass\n", "");
    check_limit(CQ_LANG_MAX_NESTING, "{", "x", "}");
    check_limit(CQ_LANG_MAX_NESTING, "lambda: ", "x", "");
    check_limit(CQ_LANG_MAX_NESTING, "f'{", "x", "}'");
    check_limit(CQ_LANG_MAX_NESTING / 2, "f'{x:{", "x", "}}'");
    check_limit(CQ_LANG_MAX_NESTING / 2, "(yield ", "x", ")");
    check_limit(CQ_LANG_MAX_NESTING / 2, "(x := ", "x", ")");
    check_limit(CQ_LANG_MAX_HEIGHT - 1, "", "x", " or x");
}

TEST(parser, loops_of_a_comprehension_have_a_limit)
{
    for (size_t extra = 0; extra < 2; extra++) {
        char  *loops = nested(CQ_LANG_MAX_NESTING - 1 + extra, "", "[x", " for a in b");
        cq_str s     = { 0 };

        cq_str_printf(&s, "%s] + [y for a in b]", loops);
        if (extra)
            CHECK_STATUS(CQ_E_SYNTAX, parse_only(s.text));
        else
            CHECK_OK(parse_only(s.text));
        cq_free(loops);
        cq_str_clear(&s);
    }
}

static char *match_of(char *pattern)
{
    cq_str s = { 0 };

    cq_str_printf(&s, "match x:\n  case %s: pass\n", pattern);
    cq_free(pattern);
    return cq_str_take(&s);
}

TEST(parser, patterns_have_a_limit)
{
    /* The match, and the pattern around all others, count too. */
    char *text = match_of(nested(CQ_LANG_MAX_NESTING - 2, "[", "x", "]"));

    CHECK_OK(parse_only(text));
    cq_free(text);
    text = match_of(nested(CQ_LANG_MAX_NESTING - 1, "[", "x", "]"));
    CHECK_STATUS(CQ_E_SYNTAX, parse_only(text));
    cq_free(text);
}

TEST(parser, blocks_have_a_limit)
{
    for (size_t n = CQ_LANG_MAX_NESTING; n <= CQ_LANG_MAX_NESTING + 1; n++) {
        cq_str s = { 0 };

        for (size_t i = 0; i < n; i++)
            cq_str_printf(&s, "%*swhile x:\n", (int)i, "");
        cq_str_printf(&s, "%*spass\n", (int)n, "");
        CHECK_STATUS(n > CQ_LANG_MAX_NESTING ? CQ_E_SYNTAX : CQ_OK, parse_only(s.text));
        cq_str_clear(&s);
    }
}

TEST(parser, every_allocation_may_fail)
{
    static const char text[] = "class A(Module):\n  a : int\n  def f(self, x=1, *y):\n"
                               "    return f'{x}' if a < b else {1: [2, 3]}\n"
                               "import b\nx = [y for y in z]  # type: int\n"
                               "async def g[T](a, /, *, b=lambda: (yield)):\n"
                               "  try: {1, f'{x!r:>{y}}'}\n  except A as e: global z\n"
                               "  match x:\n    case [1, {2: A(b=3)}] | c.d as e: pass\n"
                               "type X[T: int] = b'' or 99999999999999999999\n";
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

TEST(parser, equal_names_are_interned)
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
          TEST_OF(parser, strings_are_decoded), TEST_OF(parser, bytes_are_not_decoded_as_text),
          TEST_OF(parser, format_strings_hold_expressions),
          TEST_OF(parser, format_strings_nest_as_in_pep_701), TEST_OF(parser, template_strings),
          TEST_OF(parser, subscripts_are_expressions_slices_or_tuples),
          TEST_OF(parser, calls_and_displays_take_all_forms),
          TEST_OF(parser, statements_of_the_language),
          TEST_OF(parser, comments_of_types_become_annotations),
          TEST_OF(parser, comments_that_do_not_fit_are_kept_with_the_function),
          TEST_OF(parser, parses_a_module_printed_by_pytorch),
          TEST_OF(parser, files_have_imports_functions_and_statements),
          TEST_OF(parser, failures_show_location_and_excerpt),
          TEST_OF(parser, lambdas_are_functions_with_a_value),
          TEST_OF(parser, assignment_expressions), TEST_OF(parser, generators_and_coroutines),
          TEST_OF(parser, exceptions), TEST_OF(parser, statements_of_python_alone),
          TEST_OF(parser, items_of_with_may_be_in_parentheses),
          TEST_OF(parser, match_has_all_patterns), TEST_OF(parser, soft_keywords_are_names),
          TEST_OF(parser, type_parameters_and_aliases),
          TEST_OF(parser, classes_keep_all_statements), TEST_OF(parser, layout),
          TEST_OF(parser, encodings), TEST_OF(parser, depth_has_limits),
          TEST_OF(parser, loops_of_a_comprehension_have_a_limit),
          TEST_OF(parser, patterns_have_a_limit), TEST_OF(parser, blocks_have_a_limit),
          TEST_OF(parser, every_allocation_may_fail), TEST_OF(parser, equal_names_are_interned))
