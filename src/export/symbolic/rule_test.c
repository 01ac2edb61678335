/* Rules: what they say and what they refuse; and every row of the tables that is text, against the
 * schemas of both sides. */
#include "aten/core/body.h"
#include "export/symbolic/rule.h"
#include "export/symbolic/arith.h"
#include "models.h"
#include "onnx/schema.h"

#include <calque/script.h>
#include <stdio.h>

/* ---- the rows of the tables ---- */

typedef struct checked {
    const cq_symbolic  *row;
    int                 last;     /* the opset that the row holds for last */
    const cq_rule_expr *optional; /* the argument of given(), which an overload may lack */
    size_t              n_operators;
} checked;

/* The opset before that of the next row of the name. */
static int last_opset(const cq_symbolic *row)
{
    int last = CQ_OPSET_NEWEST;

    for (size_t f = 0; cq_symbolic_family(f); f++)
        for (const cq_symbolic *r = cq_symbolic_family(f); r->name; r++)
            if (strcmp(r->name, row->name) == 0 && r->since > row->since && r->since <= last)
                last = r->since - 1;
    return last;
}

static bool has_row(const char *full)
{
    for (size_t f = 0; cq_symbolic_family(f); f++)
        for (const cq_symbolic *r = cq_symbolic_family(f); r->name; r++)
            if (strcmp(r->name, full) == 0)
                return true;
    return false;
}

/* Whether every overload that the row holds for has the argument; any: whether one has. */
static bool have_argument(const char *name, const char *arg, bool any)
{
    bool   all = true, one = false, no_schema = true;
    size_t dot = strcspn(name, ".");

    for (size_t i = 0; cq_op_at(i); i++) {
        const cq_schema *s     = cq_op_at(i)->schema;
        bool             exact = strcmp(s->full, name) == 0;

        if (!exact && (name[dot] || strcmp(s->name, name) != 0 || has_row(s->full)))
            continue;
        no_schema = false;
        all &= cq_schema_find(s, arg) >= 0;
        one |= cq_schema_find(s, arg) >= 0;
    }
    return no_schema ? arg[0] == 'x' || strcmp(arg, "a") == 0 : any ? one : all;
}

static int n_wrong;

static void wrong(const checked *c, const char *what, const char *name, int opset)
{
    n_wrong++;
    print_error("%s since %d: %s \"%s\" at opset %d\n", c->row->name, c->row->since, what, name,
                opset);
}

/* An attribute that a rule leaves out where the opset has none. */
static bool may_be_none(const cq_rule_expr *e)
{
    return e->kind == CQ_RULE_CHOICE && e->items[2]->kind == CQ_RULE_NONE;
}

static void check_operator(const checked *c, const cq_rule_expr *e, int opset)
{
    const cq_onnx_schema *s      = NULL;
    bool                  spread = false;

    CHECK_OK(cq_onnx_schema_find(&s, "", e->text, opset));
    if (!s || s->is_deprecated) {
        wrong(c, "ONNX has no operator", e->text, opset);
        return;
    }
    for (size_t i = 0; i < e->n; i++)
        spread |= e->items[i]->kind == CQ_RULE_FUNCTION && !strcmp(e->items[i]->text, "arguments");
    if (!spread && (e->n < s->min_inputs || e->n > s->max_inputs))
        wrong(c, "another number of inputs has", e->text, opset);
    for (size_t i = 0; i < e->n_attrs; i++)
        if (!cq_onnx_schema_attr(s, e->attr_names[i]) && !may_be_none(e->attrs[i]))
            wrong(c, "no operator has the attribute", e->attr_names[i], opset);
    for (size_t i = 0; i < s->n_attributes; i++) {
        bool given = !s->attributes[i].is_required;

        for (size_t k = 0; k < e->n_attrs; k++)
            given |= strcmp(e->attr_names[k], s->attributes[i].name) == 0;
        if (!given)
            wrong(c, "an attribute is missing:", s->attributes[i].name, opset);
    }
}

/* An operator in its newest form need not be what the opset has: it is written otherwise then.
 * One that is element-wise says itself when it came. */
static cq_status check_expr(const cq_rule_expr *e, void *user)
{
    checked *c = user;

    if (e->kind == CQ_RULE_FUNCTION && strcmp(e->text, "given") == 0) {
        c->optional = e->items[0];
        if (!have_argument(c->row->name, e->items[0]->text, true))
            wrong(c, "the operator has no argument", e->items[0]->text, c->row->since);
    }
    if (e->kind == CQ_RULE_ARGUMENT && e != c->optional &&
        !have_argument(c->row->name, e->text, false))
        wrong(c, "the operator has no argument", e->text, c->row->since);
    if (e->kind != CQ_RULE_OPERATOR || strstr(e->text, "::"))
        return CQ_OK;
    c->n_operators++;
    if (e->form) {
        check_operator(c, e, CQ_OPSET_NEWEST);
        return CQ_OK;
    }
    for (int opset = c->row->since; opset <= c->last; opset++) {
        const cq_onnx_schema *s = NULL;

        CHECK_OK(cq_onnx_schema_find(&s, "", e->text, opset));
        if (s || !cq_sym_arity(e->text))
            check_operator(c, e, opset);
    }
    return CQ_OK;
}

TEST(rows, of_text_name_operators_attributes_and_arguments_that_there_are)
{
    cq_arena *arena  = cq_arena_new();
    size_t    n_text = 0, n_operators = 0;

    for (size_t f = 0; cq_symbolic_family(f); f++)
        for (const cq_symbolic *row = cq_symbolic_family(f); row->name; row++) {
            const char *text = row->as ? row->as : row->each;
            checked     c    = { .row = row, .last = last_opset(row) };
            cq_rule    *rule;
            int ways = (row->op != NULL) + (text != NULL) + (row->fn != NULL) + (row->no != NULL);

            CHECK(ways == 1 || (ways == 0 && row->parts));
            CHECK(!row->as || !row->each);
            if (!text)
                continue;
            CHECK_OK(cq_rule_parse(&rule, arena, text, NULL));
            CHECK_OK(cq_rule_each(rule, check_expr, &c));
            n_text++;
            n_operators += c.n_operators;
        }
    CHECK_INT(0, n_wrong);
    CHECK(n_text > 100 && n_operators > 200);
    cq_arena_free(arena);
}

/* The decomposition is that of one schema, so the name is that of one overload. */
TEST(rows, of_parts_are_for_one_operator_with_a_decomposition)
{
    size_t n_parts = 0;

    for (size_t f = 0; cq_symbolic_family(f); f++)
        for (const cq_symbolic *row = cq_symbolic_family(f); row->name; row++) {
            const cq_op *op = cq_op_find(row->name);

            if (!row->parts)
                continue;
            if (!op)
                fprintf(stderr, "there is no operator %s\n", row->name);
            CHECK(op != NULL);
            CHECK(op->decomposition != NULL);
            n_parts++;
        }
    CHECK(n_parts > 20);
}

TEST(rows, that_rename_have_an_operator_with_as_many_inputs)
{
    for (size_t f = 0; cq_symbolic_family(f); f++)
        for (const cq_symbolic *row = cq_symbolic_family(f); row->name; row++) {
            const cq_onnx_schema *s = NULL;

            if (!row->op)
                continue;
            CHECK_OK(cq_onnx_schema_find(&s, "", row->op, CQ_OPSET_NEWEST));
            CHECK(s != NULL);
            CHECK_INT(s->min_inputs, cq_sym_arity(row->op));
        }
}

/* The table of what operators take is searched by halves, so it must be in order. */
TEST(takes, every_element_wise_operator_is_found)
{
    static const char *const one[] = {
        "Abs",   "Acos",  "Acosh",       "Asin",      "Asinh",     "Atan", "Atanh",      "Ceil",
        "Celu",  "Clip",  "Cos",         "Cosh",      "Elu",       "Erf",  "Exp",        "Floor",
        "IsInf", "IsNaN", "HardSigmoid", "HardSwish", "LeakyRelu", "Log",  "Neg",        "Not",
        "Relu",  "Round", "Selu",        "Shrink",    "Sigmoid",   "Sign", "Reciprocal", "Sin",
        "Sinh",  "Sqrt",  "Softplus",    "Softsign",  "Tan",       "Tanh", "Trilu",
    };
    static const char *const two[] = {
        "Add", "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "Max",   "LessOrEqual",
        "Min", "Mod", "Mul", "Or",    "Pow",     "PRelu",          "Sub",  "Where", "Xor"
    };

    for (size_t i = 0; i < sizeof one / sizeof *one; i++)
        CHECK_INT(1, cq_sym_arity(one[i]));
    for (size_t i = 0; i < sizeof two / sizeof *two; i++)
        CHECK_INT(2, cq_sym_arity(two[i]));
    CHECK_INT(0, cq_sym_arity("Aaa"));
    CHECK_INT(0, cq_sym_arity("Conv"));
    CHECK_INT(0, cq_sym_arity("Zzz"));
}

/* ---- what rules say ---- */

static cq_status export_with(cq_onnx_model **out, const char *body, const char *rules, int opset)
{
    char              program[512];
    cq_script        *script = NULL;
    cq_args          *args   = NULL;
    cq_tensor        *x      = NULL;
    cq_export_options o      = options_of(opset);
    cq_status         status;

    snprintf(program, sizeof program, "def net(x):\n    return %s\n", body);
    o.symbolics = rules;
    CHECK_OK(cq_script_compile(&script, program, "net.py"));
    CHECK_OK(cq_tensor_new(&x, CQ_DTYPE_F32, 2, (int64_t[]){ 2, 3 }, NULL));
    CHECK_OK(cq_args_new(&args));
    CHECK_OK(cq_args_add_tensor(args, x));
    status = cq_script_export(out, script, NULL, args, 0, &o);
    cq_args_free(args);
    cq_tensor_release(x);
    cq_script_free(script);
    return status;
}

static void check(const char *want, const char *body, const char *rules, int opset)
{
    cq_onnx_model *m = NULL;

    CHECK_OK(export_with(&m, body, rules, opset));
    CHECK_OPS(want, m);
    cq_onnx_model_free(m);
}

TEST(rules, choose_by_what_is_known)
{
    const char *rules = "aten::elu 7: Elu<alpha = alpha>(self) if alpha == 1 and scale == 1 else\n"
                        "    Abs(self) if not (alpha > 2.5) else Neg(self)\n"
                        "aten::clamp 7: Abs(self) if min is None else\n"
                        "    Neg(self) if max is not None else Sqrt(self)\n";

    check("Elu", "torch.nn.functional.elu(x)", rules, 17);
    check("Abs", "torch.nn.functional.elu(x, 2.5)", rules, 17);
    check("Neg", "torch.nn.functional.elu(x, 3.)", rules, 17);
    check("Abs", "x.clamp(max=1.)", rules, 17);
    check("Neg", "x.clamp(0., 1.)", rules, 17);
    check("Sqrt", "x.clamp(min=1.)", rules, 17);
}

TEST(rules, give_names_and_make_only_what_is_used)
{
    check("Neg Add", "x.relu()", "aten::relu 7: y = Neg(self); z = Exp(y); Add(y, y)\n", 17);
    check("Empty", "x.relu()", "aten::relu 7: com.example::Empty()\n", 17);
    check("Neg Abs Exp", "x.relu()", "aten::relu 7: y = Neg(self); y = Abs(y); Exp(y)\n", 17);
}

TEST(rules, write_operators_in_the_form_of_the_opset)
{
    const char    *rules = "aten::relu 7: Squeeze(Unsqueeze(self, [0]), [0])\n";
    cq_onnx_model *m     = NULL;

    check("Unsqueeze Squeeze", "x.relu()", rules, 11);
    check("Unsqueeze Squeeze", "x.relu()", rules, 13);
    CHECK_OK(export_with(&m, "x.relu()",
                         "aten::relu 7: ReduceMax<keepdims = 1>(self, [1]) + self\n", 17));
    CHECK_OPS("ReduceMax Add", m);
    CHECK_STR("axes", m->graph->node.items[0]->attribute.items[0]->name);
    cq_onnx_model_free(m);
}

TEST(rules, compute_with_numbers_and_sizes)
{
    cq_onnx_model            *m = NULL;
    const cq_onnx_attributes *attrs;

    CHECK_OK(export_with(&m, "x.relu()",
                         "aten::relu 7: com.example::Op<n = 2 * size(self, -1) + 7 // 2, f = 1 / 4,"
                         " g = -(1 - 3), list = [rank(self), 0.5], t = 'it', none = None,"
                         " truth = 1 < 2 or False>(self)\n",
                         17));
    attrs = &m->graph->node.items[0]->attribute;
    CHECK_INT(6, attrs->n); /* None is none */
    CHECK_INT(9, attrs->items[0]->i);
    CHECK(attrs->items[1]->f == 0.25f);
    CHECK_INT(2, attrs->items[2]->i);
    CHECK_INT(2, attrs->items[3]->floats.n);
    CHECK_INT(1, attrs->items[5]->i);
    cq_onnx_model_free(m);
}

TEST(rules, make_lists_of_lists)
{
    cq_onnx_model           *m = NULL;
    const cq_onnx_attribute *a;

    CHECK_OK(export_with(&m, "x.relu()",
                         "aten::relu 7: i = 5; com.example::Op<list = [i * j for j in range(4) if"
                         " j != 2] + [i for i in [1, 2]] + [i],"
                         " deep = [[j + k for k in range(2)][1] for j in range(1, 3)]>(self)\n",
                         17));
    a = m->graph->node.items[0]->attribute.items[0];
    CHECK_INT(6, a->ints.n);
    for (size_t i = 0; i < 6; i++)
        CHECK_INT(((int64_t[]){ 0, 5, 15, 1, 2, 5 })[i], a->ints.items[i]);
    a = m->graph->node.items[0]->attribute.items[1];
    CHECK_INT(2, a->ints.n);
    CHECK_INT(2, a->ints.items[0]);
    CHECK_INT(3, a->ints.items[1]);
    cq_onnx_model_free(m);
}

TEST(rules, of_several_results_make_those_that_are_used)
{
    const char *rules = "aten::max.dim 7: Abs(self), cast(Neg(self), 'int64')\n";

    check("Abs", "x.max(0)[0]", rules, 17);
    check("Neg Cast", "x.max(0)[1]", rules, 17);
}

static void check_fails(const char *rule, cq_status status, const char *message)
{
    cq_onnx_model *m = NULL;
    char           rules[256];

    snprintf(rules, sizeof rules, "aten::relu 7: %s\n", rule);
    CHECK_STATUS(status, export_with(&m, "x.relu()", rules, 17));
    CHECK(m == NULL);
    if (!strstr(cq_last_error()->message, message))
        fail_msg("%s: %s", rule, cq_last_error()->message);
}

TEST(rules, that_are_wrong_say_what_they_want)
{
    check_fails("frobnicate(self)", CQ_E_SYNTAX, "a rule wants a function that there is");
    check_fails("rank(self, 1)", CQ_E_SYNTAX, "a rule wants fewer arguments");
    check_fails("cast(self)", CQ_E_SYNTAX, "a rule wants more arguments");
    check_fails("cast(self, 'quux')", CQ_E_SYNTAX, "a rule wants a dtype");
    check_fails("x = self; Neg(x), Abs(x)", CQ_E_UNSUPPORTED, "2 results and the operator has 1");
    check_fails("Neg(self) if self > 0 else self", CQ_E_UNSUPPORTED, "must be known");
    check_fails("'a' + 1", CQ_E_SYNTAX, "numbers or tensors beside a sign");
    check_fails("[1, 2][5]", CQ_E_UNSUPPORTED, "a list of 2 has no item 5");
    check_fails("Neg(self) if rank(self) == 2", CQ_E_SYNTAX, "a rule wants else");
    check_fails("no('it is Sunday', 19)", CQ_E_UNSUPPORTED, "it is Sunday; opset 19 can");
    check_fails("a, b = rank(self); Neg(a)", CQ_E_SYNTAX, "as many values as names");
    check_fails("Neg('text')", CQ_E_SYNTAX, "a tensor or a number as an input");
    check_fails("Neg(self))", CQ_E_SYNTAX, "a rule wants the end");
    check_fails("2 = self; Neg(self)", CQ_E_SYNTAX, "a name before =");
    check_fails("'open", CQ_E_SYNTAX, "a closing quote");
    check_fails("Gather<axis = 'x>(self)", CQ_E_SYNTAX, "a closing quote");
    check_fails("size(self, 5)", CQ_E_UNSUPPORTED, "dimension 5 is out of range");
    check_fails("[i for i]", CQ_E_SYNTAX, "a name and a list after for");
    check_fails("[i for i in 3][0]", CQ_E_SYNTAX, "a list after in");
    check_fails("[i for i in [1]][0] + i", CQ_E_SYNTAX, "the operator has no argument \"i\"");
    check_fails("range(1000000)[0]", CQ_E_SYNTAX, "fewer items");
    check_fails("range(-1e300, -1e300)[0]", CQ_E_SYNTAX, "fewer items");
    check_fails("[[[i + j + k for i in range(200)] for j in range(200)] for k in range(200)][0]",
                CQ_E_SYNTAX, "fewer items");
    check_fails("unit_kernels(1e300, -2)", CQ_E_SYNTAX, "a rule wants a window");
    check_fails("len(self)", CQ_E_SYNTAX, "a rule wants a list");
}

TEST(rules, that_nest_too_deeply_or_go_on_too_long_are_refused)
{
    cq_arena *arena = cq_arena_new();
    cq_rule  *rule;
    cq_str    text = { 0 };

    for (int i = 0; i < 100000; i++)
        cq_str_add(&text, i % 3 == 0 ? "-" : i % 3 == 1 ? "not " : "(");
    CHECK_STATUS(CQ_E_SYNTAX, cq_rule_parse(&rule, arena, text.text, NULL));
    cq_str_clear(&text);
    cq_str_add(&text, "[1");
    for (int i = 0; i < 100000; i++)
        cq_str_add(&text, ", 1");
    CHECK_STATUS(CQ_E_SYNTAX, cq_rule_parse(&rule, arena, text.text, NULL));
    cq_str_clear(&text);
    for (int i = 0; i < 100000; i++)
        cq_str_add(&text, "a = 1;");
    CHECK_STATUS(CQ_E_SYNTAX, cq_rule_parse(&rule, arena, text.text, NULL));
    cq_str_clear(&text);
    cq_str_add(&text, "1");
    for (int i = 0; i < 100000; i++)
        cq_str_add(&text, " + 1");
    CHECK_STATUS(CQ_E_SYNTAX, cq_rule_parse(&rule, arena, text.text, NULL));
    cq_str_clear(&text);
    for (int i = 0; i < 30; i++) /* what is inside is read twice */
        cq_str_add(&text, "[");
    for (int i = 0; i < 30; i++)
        cq_str_add(&text, "1 for i in []]");
    CHECK_STATUS(CQ_E_SYNTAX, cq_rule_parse(&rule, arena, text.text, NULL));
    cq_str_clear(&text);
    cq_arena_free(arena);
}

RUN_TESTS(TEST_OF(rows, of_text_name_operators_attributes_and_arguments_that_there_are),
          TEST_OF(rows, of_parts_are_for_one_operator_with_a_decomposition),
          TEST_OF(rows, that_rename_have_an_operator_with_as_many_inputs),
          TEST_OF(takes, every_element_wise_operator_is_found),
          TEST_OF(rules, choose_by_what_is_known),
          TEST_OF(rules, give_names_and_make_only_what_is_used),
          TEST_OF(rules, write_operators_in_the_form_of_the_opset),
          TEST_OF(rules, compute_with_numbers_and_sizes), TEST_OF(rules, make_lists_of_lists),
          TEST_OF(rules, of_several_results_make_those_that_are_used),
          TEST_OF(rules, that_are_wrong_say_what_they_want),
          TEST_OF(rules, that_nest_too_deeply_or_go_on_too_long_are_refused))
