/* The text has the meaning of the tree, with more parentheses than a person would write, not the
 * layout of the source. Recursion is bounded by the limits of the parser. */
#include "script_unparse.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

typedef struct printer {
    cq_str   s;
    unsigned indent;
    bool     portable;
} printer;

static void print_expr(printer *o, const cq_ast_expr *x);
static void print_block(printer *o, cq_ast_block b);
static void print_params(printer *o, const cq_ast_def *def);

static const char *op_sign(cq_ast_op op)
{
    static const char *const signs[] = {
#define X(name, sign, aten) sign,
        CQ_AST_OPS(X)
#undef X
    };

    return signs[op];
}

/* ---- literals ------------------------------------------------------------------------------ */

/* Where literal text is. */
typedef enum text_place {
    IN_STRING,
    IN_BYTES,
    IN_FSTRING, /* braces are doubled */
    IN_SPEC     /* braces cannot be doubled */
} text_place;

static void print_byte(printer *o, const char *text, text_place place)
{
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";
    const char        c     = *text;
    const char       *known = c ? strchr(values, c) : NULL;

    if (known)
        cq_str_printf(&o->s, "\\%c", names[known - values]);
    else if (place == IN_BYTES && (unsigned char)c >= 0x80)
        cq_str_printf(&o->s, "\\x%02x", (unsigned char)c);
    else if (c == CQ_AST_NAMED_MARK)
        cq_str_add_char(&o->s, '\\');
    else if ((unsigned char)c < ' ' || c == 0x7F)
        cq_str_printf(&o->s, "\\%03o", (unsigned)c);
    else if (place == IN_SPEC && (c == '{' || c == '}'))
        cq_str_printf(&o->s, "\\x%02x", (unsigned)c);
    else
        cq_str_add_char(&o->s, c);
    if (place == IN_FSTRING && (c == '{' || c == '}'))
        cq_str_add_char(&o->s, c);
}

static bool at_surrogate(const char *text, size_t len)
{
    return len >= 3 && (unsigned char)text[0] == 0xED && (unsigned char)text[1] >= 0xA0;
}

/* A name in an escape, \N{BULLET}, is printed unchanged. */
static size_t name_length(const char *text, size_t len)
{
    const char *end = *text == CQ_AST_NAMED_MARK ? memchr(text, '}', len) : NULL;

    return end ? (size_t)(end - text) + 1 : 0;
}

static void print_bytes(printer *o, const char *text, size_t len, text_place place)
{
    for (size_t i = 0; i < len;) {
        const size_t name = place == IN_BYTES ? 0 : name_length(text + i, len - i);

        if (name) {
            cq_str_add_char(&o->s, '\\');
            cq_str_add_n(&o->s, text + i + 1, name - 1);
            i += name;
        } else if (place != IN_BYTES && at_surrogate(text + i, len - i)) {
            cq_str_printf(&o->s, "\\u%04x",
                          0xD000u | (unsigned)(text[i + 1] & 0x3F) << 6 | (text[i + 2] & 0x3F));
            i += 3;
        } else {
            print_byte(o, text + i++, place);
        }
    }
}

static void print_str(printer *o, const cq_ast_expr *x)
{
    const bool is_bytes = x->kind == CQ_X_BYTES;

    cq_str_add(&o->s, is_bytes ? "b\"" : "\"");
    print_bytes(o, x->u.str.text, x->u.str.len, is_bytes ? IN_BYTES : IN_STRING);
    cq_str_add_char(&o->s, '"');
}

static void print_parts(printer *o, const cq_ast_expr *x, text_place place);

static void print_field(printer *o, const cq_ast_expr *x)
{
    cq_str_add(&o->s, "{(");
    print_expr(o, x->u.field.value);
    cq_str_add_char(&o->s, ')');
    if (x->u.field.conversion)
        cq_str_printf(&o->s, "!%c", x->u.field.conversion);
    if (x->u.field.spec) {
        cq_str_add_char(&o->s, ':');
        print_parts(o, x->u.field.spec, IN_SPEC);
    }
    cq_str_add_char(&o->s, '}');
}

static void print_parts(printer *o, const cq_ast_expr *x, text_place place)
{
    for (size_t i = 0; i < x->u.items.n; i++) {
        const cq_ast_expr *item = x->u.items.items[i];

        if (item->kind == CQ_X_STR)
            print_bytes(o, item->u.str.text, item->u.str.len, place);
        else
            print_field(o, item);
    }
}

static void print_portable_fstr(printer *o, const cq_ast_expr *x);

static void print_portable_field(printer *o, const cq_ast_expr *x)
{
    const char conversion[] = { x->u.field.conversion, '\0' };

    cq_str_add(&o->s, "__field__(");
    print_expr(o, x->u.field.value);
    cq_str_printf(&o->s, ", '%s', ", conversion);
    if (x->u.field.spec)
        print_portable_fstr(o, x->u.field.spec);
    else
        cq_str_add(&o->s, "None");
    cq_str_add_char(&o->s, ')');
}

static void print_portable_fstr(printer *o, const cq_ast_expr *x)
{
    cq_str_add(&o->s, x->kind == CQ_X_TSTR ? "__tstring__(" : "__fstring__(");
    for (size_t i = 0; i < x->u.items.n; i++) {
        const cq_ast_expr *item = x->u.items.items[i];

        cq_str_add(&o->s, i ? ", " : "");
        if (item->kind == CQ_X_STR)
            print_str(o, item);
        else
            print_portable_field(o, item);
    }
    cq_str_add_char(&o->s, ')');
}

static void print_fstr(printer *o, const cq_ast_expr *x)
{
    if (o->portable) {
        print_portable_fstr(o, x);
        return;
    }
    cq_str_add(&o->s, x->kind == CQ_X_TSTR ? "t\"" : "f\"");
    print_parts(o, x, IN_FSTRING);
    cq_str_add_char(&o->s, '"');
}

/* All digits, and a point where it would look like an integer without. */
static void print_float(printer *o, const cq_ast_expr *x)
{
    char text[40];

    if (x->u.f - x->u.f != 0) /* a literal can only overflow; nan is a name */
        snprintf(text, sizeof text, x->u.f < 0 ? "-1e999" : "1e999");
    else
        snprintf(text, sizeof text, "%.17g", x->u.f);
    cq_str_add(&o->s, text);
    if (!strpbrk(text, ".e") && x->kind == CQ_X_FLOAT)
        cq_str_add_char(&o->s, '.');
    if (x->kind == CQ_X_COMPLEX)
        cq_str_add_char(&o->s, 'j');
}

/* ---- expressions ----------------------------------------------------------------------------- */

static bool is_number(const cq_ast_expr *x)
{
    return x->kind == CQ_X_INT || x->kind == CQ_X_BIG_INT || x->kind == CQ_X_FLOAT ||
           x->kind == CQ_X_COMPLEX;
}

/* Expressions that need parentheses next to an operator. */
static bool is_loose(const cq_ast_expr *x)
{
    switch (x->kind) {
    case CQ_X_INT: return x->u.i < 0;
    case CQ_X_BIG_INT: /* with a sign in front it could be the smallest integer */
    case CQ_X_FLOAT:
    case CQ_X_COMPLEX:
    case CQ_X_AWAIT:
    case CQ_X_UNARY:
    case CQ_X_BINARY:
    case CQ_X_AND:
    case CQ_X_OR:
    case CQ_X_COMPARE:
    case CQ_X_IF_ELSE: return true;
    default: return false;
    }
}

static void print_operand(printer *o, const cq_ast_expr *x, bool parentheses)
{
    if (parentheses)
        cq_str_add_char(&o->s, '(');
    print_expr(o, x);
    if (parentheses)
        cq_str_add_char(&o->s, ')');
}

static void print_tight(printer *o, const cq_ast_expr *x)
{
    print_operand(o, x, is_loose(x));
}

/* An expression before a dot, a bracket or a call. */
static void print_object(printer *o, const cq_ast_expr *x)
{
    print_operand(o, x, is_loose(x) || is_number(x));
}

static void print_exprs(printer *o, cq_ast_exprs items)
{
    for (size_t i = 0; i < items.n; i++) {
        if (i)
            cq_str_add(&o->s, ", ");
        print_expr(o, items.items[i]);
    }
}

static void print_tuple(printer *o, const cq_ast_expr *x)
{
    print_exprs(o, x->u.items);
    if (x->u.items.n == 1)
        cq_str_add_char(&o->s, ',');
}

static void print_index(printer *o, const cq_ast_expr *x)
{
    const cq_ast_expr *index = x->u.index.index;

    print_object(o, x->u.index.object);
    cq_str_add_char(&o->s, '[');
    if (index->kind == CQ_X_TUPLE && index->u.items.n)
        print_tuple(o, index); /* a tuple with slices has no parentheses */
    else
        print_expr(o, index);
    cq_str_add_char(&o->s, ']');
}

static void print_slice(printer *o, const cq_ast_expr *x)
{
    if (x->u.slice.start)
        print_expr(o, x->u.slice.start);
    cq_str_add_char(&o->s, ':');
    if (x->u.slice.stop)
        print_expr(o, x->u.slice.stop);
    if (x->u.slice.step) {
        cq_str_add_char(&o->s, ':');
        print_expr(o, x->u.slice.step);
    }
}

static void print_arg(printer *o, const cq_ast_arg *arg, bool first)
{
    cq_str_add(&o->s, first ? "" : ", ");
    if (arg->name)
        cq_str_printf(&o->s, "%s=", arg->name);
    cq_str_add(&o->s, arg->stars == 2 ? "**" : arg->stars ? "*" : "");
    print_operand(o, arg->value, arg->stars && is_loose(arg->value));
}

static void print_call(printer *o, const cq_ast_expr *x)
{
    print_object(o, x->u.call.function);
    cq_str_add_char(&o->s, '(');
    for (size_t i = 0; i < x->u.call.n; i++)
        print_arg(o, &x->u.call.args[i], i == 0);
    cq_str_add_char(&o->s, ')');
}

static void print_lambda(printer *o, const cq_ast_expr *x)
{
    cq_str_add(&o->s, "lambda");
    cq_str_add(&o->s, x->u.lambda->n_params ? " " : "");
    print_params(o, x->u.lambda);
    cq_str_add(&o->s, ": ");
    print_expr(o, x->u.lambda->value);
}

static void print_named(printer *o, const cq_ast_expr *x)
{
    print_expr(o, x->u.named.target);
    cq_str_add(&o->s, " := ");
    print_expr(o, x->u.named.value);
}

static void print_yield(printer *o, const cq_ast_expr *x)
{
    cq_str_add(&o->s, x->kind == CQ_X_YIELD ? "yield" : "yield from");
    if (x->u.operand) {
        cq_str_add_char(&o->s, ' ');
        print_expr(o, x->u.operand);
    }
}

/* a + b in a + b - c needs none; long sums would pass the limits of parentheses. */
static bool leads_sum(const cq_ast_expr *left, const cq_ast_expr *x)
{
    return x->kind == CQ_X_BINARY && left->kind == CQ_X_BINARY && x->u.binary.op <= CQ_AST_SUB &&
           left->u.binary.op <= CQ_AST_SUB;
}

static void print_binary(printer *o, const cq_ast_expr *x)
{
    const char *sign = x->kind == CQ_X_AND  ? "and"
                       : x->kind == CQ_X_OR ? "or"
                                            : op_sign(x->u.binary.op);

    print_operand(o, x->u.binary.left,
                  is_loose(x->u.binary.left) && !leads_sum(x->u.binary.left, x));
    cq_str_printf(&o->s, " %s ", sign);
    print_tight(o, x->u.binary.right);
}

static void print_compare(printer *o, const cq_ast_expr *x)
{
    print_tight(o, x->u.compare.items[0]);
    for (size_t i = 0; i < x->u.compare.n; i++) {
        cq_str_printf(&o->s, " %s ", op_sign(x->u.compare.ops[i]));
        print_tight(o, x->u.compare.items[i + 1]);
    }
}

static void print_dict(printer *o, const cq_ast_expr *x)
{
    for (size_t i = 0; i < x->u.dict.n; i++) {
        cq_str_add(&o->s, i ? ", " : "");
        if (x->u.dict.keys[i]) {
            print_expr(o, x->u.dict.keys[i]);
            cq_str_add(&o->s, ": ");
            print_expr(o, x->u.dict.values[i]);
        } else {
            cq_str_add(&o->s, "**");
            print_tight(o, x->u.dict.values[i]);
        }
    }
}

/* A tuple of targets has no parentheses in a for, where PyTorch's printer has none either. */
static void print_comp(printer *o, const cq_ast_expr *x)
{
    if (x->u.comp.key) {
        print_expr(o, x->u.comp.key);
        cq_str_add(&o->s, ": ");
    }
    print_expr(o, x->u.comp.value);
    for (size_t i = 0; i < x->u.comp.n; i++) {
        const cq_ast_for *loop = &x->u.comp.loops[i];

        cq_str_add(&o->s, loop->is_async ? " async for " : " for ");
        print_expr(o, loop->target);
        cq_str_add(&o->s, " in ");
        print_tight(o, loop->iter);
        for (size_t k = 0; k < loop->tests.n; k++) {
            cq_str_add(&o->s, " if ");
            print_tight(o, loop->tests.items[k]);
        }
    }
}

static void print_choice(printer *o, const cq_ast_expr *x)
{
    print_tight(o, x->u.choice.then);
    cq_str_add(&o->s, " if ");
    print_tight(o, x->u.choice.test);
    cq_str_add(&o->s, " else ");
    print_tight(o, x->u.choice.other);
}

static void print_unary(printer *o, const cq_ast_expr *x)
{
    cq_str_add(&o->s, op_sign(x->u.unary.op));
    if (x->u.unary.op == CQ_AST_NOT)
        cq_str_add_char(&o->s, ' ');
    print_tight(o, x->u.unary.operand);
}

static void print_attr(printer *o, const cq_ast_expr *x)
{
    print_object(o, x->u.attr.object);
    cq_str_printf(&o->s, ".%s", x->u.attr.name);
}

static void print_in(printer *o, char open, void (*print)(printer *, const cq_ast_expr *),
                     const cq_ast_expr *x, char close)
{
    cq_str_add_char(&o->s, open);
    print(o, x);
    cq_str_add_char(&o->s, close);
}

static void print_items(printer *o, const cq_ast_expr *x)
{
    print_exprs(o, x->u.items);
}

static void print_expr(printer *o, const cq_ast_expr *x)
{
    switch (x->kind) {
    case CQ_X_NONE: cq_str_add(&o->s, "None"); break;
    case CQ_X_TRUE: cq_str_add(&o->s, "True"); break;
    case CQ_X_FALSE: cq_str_add(&o->s, "False"); break;
    case CQ_X_ELLIPSIS: cq_str_add(&o->s, "..."); break;
    case CQ_X_INT: cq_str_printf(&o->s, "%lld", (long long)x->u.i); break;
    case CQ_X_FLOAT:
    case CQ_X_COMPLEX: print_float(o, x); break;
    case CQ_X_BIG_INT: cq_str_add(&o->s, x->u.str.text); break;
    case CQ_X_STR:
    case CQ_X_BYTES: print_str(o, x); break;
    case CQ_X_FSTR:
    case CQ_X_TSTR: print_fstr(o, x); break;
    case CQ_X_NAME: cq_str_add(&o->s, x->u.name); break;
    case CQ_X_ATTR: print_attr(o, x); break;
    case CQ_X_CALL: print_call(o, x); break;
    case CQ_X_INDEX: print_index(o, x); break;
    case CQ_X_SLICE: print_slice(o, x); break;
    case CQ_X_UNARY: print_unary(o, x); break;
    case CQ_X_BINARY:
    case CQ_X_AND:
    case CQ_X_OR: print_binary(o, x); break;
    case CQ_X_COMPARE: print_compare(o, x); break;
    case CQ_X_IF_ELSE: print_choice(o, x); break;
    case CQ_X_LIST: print_in(o, '[', print_items, x, ']'); break;
    case CQ_X_TUPLE: print_in(o, '(', print_tuple, x, ')'); break;
    case CQ_X_DICT: print_in(o, '{', print_dict, x, '}'); break;
    case CQ_X_SET: print_in(o, '{', print_items, x, '}'); break;
    case CQ_X_LIST_COMP: print_in(o, '[', print_comp, x, ']'); break;
    case CQ_X_SET_COMP:
    case CQ_X_DICT_COMP: print_in(o, '{', print_comp, x, '}'); break;
    case CQ_X_GENERATOR: print_in(o, '(', print_comp, x, ')'); break;
    case CQ_X_LAMBDA: print_in(o, '(', print_lambda, x, ')'); break;
    case CQ_X_NAMED: print_in(o, '(', print_named, x, ')'); break;
    case CQ_X_YIELD:
    case CQ_X_YIELD_FROM: print_in(o, '(', print_yield, x, ')'); break;
    case CQ_X_AWAIT:
        cq_str_add(&o->s, "await ");
        print_object(o, x->u.operand);
        break;
    case CQ_X_FIELD: print_field(o, x); break;
    case CQ_X_STARRED:
        cq_str_add_char(&o->s, '*');
        print_tight(o, x->u.operand);
        break;
    }
}

/* ---- statements ---------------------------------------------------------------------------------
 */

static void start_line(printer *o)
{
    for (unsigned i = 0; i < o->indent; i++)
        cq_str_add(&o->s, "  ");
}

/* word expr, or the word alone */
static void print_word(printer *o, const char *word, const cq_ast_expr *x)
{
    cq_str_add(&o->s, word);
    if (x) {
        cq_str_add_char(&o->s, ' ');
        print_expr(o, x);
    }
}

static void print_assign(printer *o, const cq_ast_stmt *s)
{
    for (size_t i = 0; i < s->u.assign.targets.n; i++) {
        cq_str_add(&o->s, i ? " = " : "");
        print_expr(o, s->u.assign.targets.items[i]);
    }
    if (s->u.assign.type) {
        const bool plain = s->u.assign.targets.items[0]->kind == CQ_X_TUPLE ||
                           s->u.assign.targets.items[0]->kind == CQ_X_LIST;

        if (!plain) {
            cq_str_add(&o->s, " : ");
            print_expr(o, s->u.assign.type);
        }
    }
    if (s->u.assign.value) {
        cq_str_add(&o->s, " = ");
        print_expr(o, s->u.assign.value);
    }
    if (s->u.assign.type && s->u.assign.targets.items[0]->kind == CQ_X_TUPLE) {
        cq_str_add(&o->s, "  # type: "); /* several names can only be typed by a comment */
        print_expr(o, s->u.assign.type);
    }
}

static void print_if(printer *o, const cq_ast_stmt *s)
{
    print_word(o, "if", s->u.branch.test);
    print_block(o, s->u.branch.then);
    if (s->u.branch.other.n) {
        start_line(o);
        cq_str_add(&o->s, "else");
        print_block(o, s->u.branch.other);
    }
}

static void print_loop(printer *o, const cq_ast_stmt *s)
{
    if (s->is_async)
        cq_str_add(&o->s, "async ");
    if (s->kind == CQ_S_FOR) {
        print_word(o, "for", s->u.loop.target);
        print_word(o, " in", s->u.loop.test);
    } else {
        print_word(o, "while", s->u.loop.test);
    }
    print_block(o, s->u.loop.body);
}

static void print_else(printer *o, const char *word, cq_ast_block b)
{
    if (!b.n)
        return;
    start_line(o);
    cq_str_add(&o->s, word);
    print_block(o, b);
}

/* A tuple alone would be several items. */
static void print_with(printer *o, const cq_ast_stmt *s)
{
    const bool alone = s->u.with.n == 1 && !s->u.with.items[0].target &&
                       s->u.with.items[0].context->kind == CQ_X_TUPLE;

    cq_str_add(&o->s, s->is_async ? "async with " : "with ");
    for (size_t i = 0; i < s->u.with.n; i++) {
        cq_str_add(&o->s, i ? ", " : "");
        print_operand(o, s->u.with.items[i].context, alone);
        if (s->u.with.items[i].target)
            print_word(o, " as", s->u.with.items[i].target);
    }
    print_block(o, s->u.with.body);
}

static void print_try(printer *o, const cq_ast_try *t)
{
    cq_str_add(&o->s, "try");
    print_block(o, t->body);
    for (size_t i = 0; i < t->n_handlers; i++) {
        const cq_ast_handler *h = &t->handlers[i];

        start_line(o);
        print_word(o, t->is_star ? "except*" : "except", h->type);
        if (h->name)
            cq_str_printf(&o->s, " as %s", h->name);
        print_block(o, h->body);
    }
    print_else(o, "else", t->other);
    print_else(o, "finally", t->finally);
}

/* ---- patterns ---------------------------------------------------------------------------------
 */

static void print_pattern(printer *o, const cq_ast_pattern *x);

static void print_patterns(printer *o, const cq_ast_pattern *x, const char *between)
{
    for (size_t i = 0; i < x->n; i++) {
        cq_str_add(&o->s, i ? between : "");
        if (x->keys) {
            print_expr(o, x->keys[i]);
            cq_str_add(&o->s, ": ");
        }
        if (x->names && x->names[i])
            cq_str_printf(&o->s, "%s=", x->names[i]);
        print_pattern(o, x->items[i]);
    }
}

/* Numbers in patterns have no parentheses. */
static void print_pattern_value(printer *o, const cq_ast_expr *x)
{
    if (x->kind == CQ_X_BINARY) {
        print_pattern_value(o, x->u.binary.left);
        cq_str_printf(&o->s, " %s ", op_sign(x->u.binary.op));
        print_pattern_value(o, x->u.binary.right);
    } else if (x->kind == CQ_X_UNARY) {
        cq_str_add(&o->s, op_sign(x->u.unary.op));
        print_pattern_value(o, x->u.unary.operand);
    } else {
        print_expr(o, x);
    }
}

static void print_pattern(printer *o, const cq_ast_pattern *x)
{
    const char *name = x->name ? x->name : "_";

    switch (x->kind) {
    case CQ_P_VALUE: print_pattern_value(o, x->value); break;
    case CQ_P_CAPTURE: cq_str_add(&o->s, name); break;
    case CQ_P_STAR: cq_str_printf(&o->s, "*%s", name); break;
    case CQ_P_AS:
        cq_str_add_char(&o->s, '(');
        print_patterns(o, x, "");
        cq_str_printf(&o->s, " as %s)", name);
        break;
    case CQ_P_OR:
        cq_str_add_char(&o->s, '(');
        print_patterns(o, x, " | ");
        cq_str_add_char(&o->s, ')');
        break;
    case CQ_P_SEQUENCE:
        cq_str_add_char(&o->s, '[');
        print_patterns(o, x, ", ");
        cq_str_add_char(&o->s, ']');
        break;
    case CQ_P_MAPPING:
        cq_str_add_char(&o->s, '{');
        print_patterns(o, x, ", ");
        if (x->name)
            cq_str_printf(&o->s, "%s**%s", x->n ? ", " : "", name);
        cq_str_add_char(&o->s, '}');
        break;
    case CQ_P_CLASS:
        print_expr(o, x->value);
        cq_str_add_char(&o->s, '(');
        print_patterns(o, x, ", ");
        cq_str_add_char(&o->s, ')');
        break;
    }
}

static void print_match(printer *o, const cq_ast_stmt *s)
{
    print_word(o, "match", s->u.match.subject);
    cq_str_add(&o->s, ":\n");
    o->indent++;
    for (size_t i = 0; i < s->u.match.n; i++) {
        start_line(o);
        cq_str_add(&o->s, "case ");
        print_pattern(o, s->u.match.cases[i].pattern);
        if (s->u.match.cases[i].guard)
            print_word(o, " if", s->u.match.cases[i].guard);
        print_block(o, s->u.match.cases[i].body);
    }
    o->indent--;
}

/* ---- functions and classes ----------------------------------------------------------------------
 */

static void print_type_params(printer *o, const cq_ast_type_params *params)
{
    if (!params->n)
        return;
    for (size_t i = 0; i < params->n; i++) {
        const cq_ast_type_param *param = &params->items[i];

        cq_str_printf(&o->s, "%s%.*s%s", i ? ", " : "[", param->stars, "**", param->name);
        if (param->bound)
            print_word(o, ":", param->bound);
        if (param->value)
            print_word(o, " =", param->value);
    }
    cq_str_add_char(&o->s, ']');
}

static void print_params(printer *o, const cq_ast_def *def)
{
    bool kw_only = false;

    for (size_t i = 0; i < def->n_params; i++) {
        const cq_ast_param *param = &def->params[i];

        cq_str_add(&o->s, i ? ", " : "");
        if (i && def->params[i - 1].pos_only && !param->pos_only)
            cq_str_add(&o->s, "/, ");
        if (param->kw_only && !kw_only && !param->stars)
            cq_str_add(&o->s, "*, ");
        kw_only |= param->kw_only || param->stars == 1;
        cq_str_printf(&o->s, "%.*s%s", param->stars, "**", param->name);
        if (param->type) {
            cq_str_add(&o->s, ": ");
            print_expr(o, param->type);
        }
        if (param->value) {
            cq_str_add_char(&o->s, '=');
            print_expr(o, param->value);
        }
    }
    if (def->n_params && def->params[def->n_params - 1].pos_only)
        cq_str_add(&o->s, ", /");
}

static void print_decorators(printer *o, cq_ast_exprs decorators)
{
    for (size_t i = 0; i < decorators.n; i++) {
        cq_str_add_char(&o->s, '@');
        print_expr(o, decorators.items[i]);
        cq_str_add_char(&o->s, '\n');
        start_line(o);
    }
}

static void print_def(printer *o, const cq_ast_def *def)
{
    cq_str_printf(&o->s, "%sdef %s", def->is_async ? "async " : "", def->name);
    print_type_params(o, &def->type_params);
    cq_str_add_char(&o->s, '(');
    print_params(o, def);
    cq_str_add_char(&o->s, ')');
    if (def->result)
        print_word(o, " ->", def->result);
    print_block(o, def->body);
}

static void print_class(printer *o, const cq_ast_class *c)
{
    cq_str_printf(&o->s, "class %s", c->name);
    print_type_params(o, &c->type_params);
    if (c->bases.n || c->n_keywords) {
        cq_str_add_char(&o->s, '(');
        print_exprs(o, c->bases);
        for (size_t i = 0; i < c->n_keywords; i++)
            print_arg(o, &c->keywords[i], !c->bases.n && i == 0);
        cq_str_add_char(&o->s, ')');
    }
    print_block(o, c->body);
}

/* Decorators have separate lines. */
static void print_definition(printer *o, const cq_ast_stmt *s)
{
    print_decorators(o, s->kind == CQ_S_DEF ? s->u.def->decorators : s->u.cls->decorators);
    if (s->kind == CQ_S_DEF)
        print_def(o, s->u.def);
    else
        print_class(o, s->u.cls);
}

static void print_import(printer *o, const cq_ast_stmt *s)
{
    const cq_ast_import *items = s->u.import.items;

    if (items[0].name)
        cq_str_printf(&o->s, "from %s import ", items[0].module);
    else
        cq_str_add(&o->s, "import ");
    for (size_t i = 0; i < s->u.import.n; i++) {
        cq_str_printf(&o->s, "%s%s", i ? ", " : "",
                      items[i].name ? items[i].name : items[i].module);
        if (items[i].alias)
            cq_str_printf(&o->s, " as %s", items[i].alias);
    }
}

static void print_names(printer *o, const char *word, cq_ast_names names)
{
    cq_str_add(&o->s, word);
    for (size_t i = 0; i < names.n; i++)
        cq_str_printf(&o->s, "%s%s", i ? ", " : " ", names.items[i]);
}

static void print_type_alias(printer *o, const cq_ast_type_alias *alias)
{
    print_word(o, "type", alias->name);
    print_type_params(o, &alias->params);
    print_word(o, " =", alias->value);
}

static void print_raise(printer *o, const cq_ast_stmt *s)
{
    print_word(o, "raise", s->u.raise.value);
    if (s->u.raise.cause)
        print_word(o, " from", s->u.raise.cause);
}

static void print_assert(printer *o, const cq_ast_stmt *s)
{
    print_word(o, "assert", s->u.assertion.test);
    if (s->u.assertion.message)
        print_word(o, ",", s->u.assertion.message);
}

static void print_augment(printer *o, const cq_ast_stmt *s)
{
    print_expr(o, s->u.augment.target);
    cq_str_printf(&o->s, " %s= ", op_sign(s->u.augment.op));
    print_expr(o, s->u.augment.value);
}

/* True if the statement ended in a block, which has ended its line. */
static bool print_compound(printer *o, const cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_IF: print_if(o, s); return true;
    case CQ_S_WHILE:
    case CQ_S_FOR: print_loop(o, s); return true;
    case CQ_S_WITH: print_with(o, s); return true;
    case CQ_S_LOOP_ELSE:
        print_loop(o, s->u.loop_else.loop);
        print_else(o, "else", s->u.loop_else.other);
        return true;
    case CQ_S_TRY: print_try(o, s->u.attempt); return true;
    case CQ_S_MATCH: print_match(o, s); return true;
    case CQ_S_DEF:
    case CQ_S_CLASS: print_definition(o, s); return true;
    default: return false;
    }
}

static void print_simple(printer *o, const cq_ast_stmt *s)
{
    switch (s->kind) {
    case CQ_S_EXPR: print_expr(o, s->u.value); break;
    case CQ_S_ASSIGN: print_assign(o, s); break;
    case CQ_S_AUGMENT: print_augment(o, s); break;
    case CQ_S_RETURN: print_word(o, "return", s->u.value); break;
    case CQ_S_RAISE: print_raise(o, s); break;
    case CQ_S_ASSERT: print_assert(o, s); break;
    case CQ_S_DEL:
        cq_str_add(&o->s, s->u.targets.n ? "del " : "del []");
        print_exprs(o, s->u.targets);
        break;
    case CQ_S_IMPORT: print_import(o, s); break;
    case CQ_S_GLOBAL: print_names(o, "global", s->u.names); break;
    case CQ_S_NONLOCAL: print_names(o, "nonlocal", s->u.names); break;
    case CQ_S_TYPE: print_type_alias(o, s->u.alias); break;
    case CQ_S_BREAK: cq_str_add(&o->s, "break"); break;
    case CQ_S_CONTINUE: cq_str_add(&o->s, "continue"); break;
    default: cq_str_add(&o->s, "pass"); break;
    }
}

static void print_statements(printer *o, cq_ast_block b)
{
    for (size_t i = 0; i < b.n; i++) {
        start_line(o);
        if (!print_compound(o, b.items[i])) {
            print_simple(o, b.items[i]);
            cq_str_add_char(&o->s, '\n');
        }
    }
}

static void print_block(printer *o, cq_ast_block b)
{
    cq_str_add(&o->s, ":\n");
    o->indent++;
    print_statements(o, b);
    o->indent--;
}

/* ---- units --------------------------------------------------------------------------------- */

static cq_status finish(char **out, printer *o)
{
    cq_status status = o->s.status;

    if (status == CQ_OK && !o->s.text)
        cq_str_add(&o->s, "");
    *out = cq_str_take(&o->s);
    return *out ? CQ_OK : status != CQ_OK ? status : CQ_E_NO_MEMORY;
}

static cq_status print_unit(char **out, const cq_unit *unit, bool portable)
{
    printer o = { .portable = portable };

    print_statements(&o, unit->body);
    if (unit->expr)
        print_expr(&o, unit->expr);
    return finish(out, &o);
}

cq_status unparse(char **out, const cq_unit *unit)
{
    return print_unit(out, unit, false);
}

cq_status unparse_portable(char **out, const cq_unit *unit)
{
    return print_unit(out, unit, true);
}
