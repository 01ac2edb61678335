/* The text says what
 * the tree says, with more parentheses than a person would write, not what the source looked
 * like. Recursion is bounded by the limits of the parser. */
#include "script_unparse.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

typedef struct printer {
    cq_str   s;
    unsigned indent;
    unsigned fstrings; /* f-strings around here: each needs quotes of its own */
} printer;

static void print_expr(printer *o, const cq_ast_expr *x);
static void print_block(printer *o, cq_ast_block b);

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

/* The bytes of a literal piece of text; in an f-string braces are doubled. */
static void print_bytes(printer *o, const char *text, size_t len, bool formatted)
{
    static const char names[] = "\\'\"abfnrtv", values[] = "\\'\"\a\b\f\n\r\t\v";

    for (size_t i = 0; i < len; i++) {
        const char  c     = text[i];
        const char *known = c ? strchr(values, c) : NULL;

        if (known)
            cq_str_printf(&o->s, "\\%c", names[known - values]);
        else if ((unsigned char)c < ' ' || c == 0x7F)
            cq_str_printf(&o->s, "\\%03o", (unsigned)c);
        else
            cq_str_add_char(&o->s, c);
        if (formatted && (c == '{' || c == '}'))
            cq_str_add_char(&o->s, c);
    }
}

static void print_str(printer *o, const cq_ast_expr *x)
{
    const char quote = o->fstrings == 2 ? '\'' : '"';

    cq_str_add_char(&o->s, quote);
    print_bytes(o, x->u.str.text, x->u.str.len, false);
    cq_str_add_char(&o->s, quote);
}

static void print_fstr(printer *o, const cq_ast_expr *x)
{
    static const char *const quotes[] = { "'''", "\"\"\"", "'" };
    const char              *quote;

    if (o->fstrings == sizeof quotes / sizeof *quotes) {
        if (o->s.status == CQ_OK)
            o->s.status = cq_fail(CQ_E_UNSUPPORTED, NULL, NULL, "f-strings are nested too deeply");
        return;
    }
    quote = quotes[o->fstrings++];
    cq_str_printf(&o->s, "f%s", quote);
    for (size_t i = 0; i < x->u.items.n; i++) {
        const cq_ast_expr *item = x->u.items.items[i];

        if (item->kind == CQ_X_STR) {
            print_bytes(o, item->u.str.text, item->u.str.len, true);
            continue;
        }
        cq_str_add(&o->s, "{(");
        print_expr(o, item);
        cq_str_add(&o->s, ")}");
    }
    cq_str_add(&o->s, quote);
    o->fstrings--;
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
    return x->kind == CQ_X_INT || x->kind == CQ_X_FLOAT || x->kind == CQ_X_COMPLEX;
}

/* What an operator would tear apart. */
static bool is_loose(const cq_ast_expr *x)
{
    switch (x->kind) {
    case CQ_X_INT: return x->u.i < 0;
    case CQ_X_FLOAT:
    case CQ_X_COMPLEX:
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

/* What a dot, a bracket or a call follows. */
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

static void print_call(printer *o, const cq_ast_expr *x)
{
    print_object(o, x->u.call.function);
    cq_str_add_char(&o->s, '(');
    for (size_t i = 0; i < x->u.call.n; i++) {
        const cq_ast_arg *arg = &x->u.call.args[i];

        cq_str_add(&o->s, i ? ", " : "");
        if (arg->name)
            cq_str_printf(&o->s, "%s=", arg->name);
        cq_str_add(&o->s, arg->stars == 2 ? "**" : arg->stars ? "*" : "");
        print_operand(o, arg->value, arg->stars && is_loose(arg->value));
    }
    cq_str_add_char(&o->s, ')');
}

static void print_binary(printer *o, const cq_ast_expr *x)
{
    const char *sign = x->kind == CQ_X_AND  ? "and"
                       : x->kind == CQ_X_OR ? "or"
                                            : op_sign(x->u.binary.op);

    print_tight(o, x->u.binary.left);
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

        cq_str_add(&o->s, " for ");
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
    case CQ_X_STR: print_str(o, x); break;
    case CQ_X_FSTR: print_fstr(o, x); break;
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
    case CQ_X_LIST_COMP: print_in(o, '[', print_comp, x, ']'); break;
    case CQ_X_DICT_COMP: print_in(o, '{', print_comp, x, '}'); break;
    case CQ_X_STARRED:
        cq_str_add_char(&o->s, '*');
        print_tight(o, x->u.starred);
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

static void line(printer *o, const char *text)
{
    start_line(o);
    cq_str_printf(&o->s, "%s\n", text);
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
    if (s->kind == CQ_S_FOR) {
        print_word(o, "for", s->u.loop.target);
        print_word(o, " in", s->u.loop.test);
    } else {
        print_word(o, "while", s->u.loop.test);
    }
    print_block(o, s->u.loop.body);
}

static void print_with(printer *o, const cq_ast_stmt *s)
{
    cq_str_add(&o->s, "with ");
    for (size_t i = 0; i < s->u.with.n; i++) {
        cq_str_add(&o->s, i ? ", " : "");
        print_expr(o, s->u.with.items[i].context);
        if (s->u.with.items[i].target)
            print_word(o, " as", s->u.with.items[i].target);
    }
    print_block(o, s->u.with.body);
}

static void print_params(printer *o, const cq_ast_def *def)
{
    bool kw_only = false;

    for (size_t i = 0; i < def->n_params; i++) {
        const cq_ast_param *param = &def->params[i];

        cq_str_add(&o->s, i ? ", " : "");
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
}

static void print_decorators(printer *o, cq_ast_exprs decorators)
{
    for (size_t i = 0; i < decorators.n; i++) {
        start_line(o);
        cq_str_add_char(&o->s, '@');
        print_expr(o, decorators.items[i]);
        cq_str_add_char(&o->s, '\n');
    }
}

static void print_def(printer *o, const cq_ast_def *def)
{
    cq_str_printf(&o->s, "def %s(", def->name);
    print_params(o, def);
    cq_str_add_char(&o->s, ')');
    if (def->result)
        print_word(o, " ->", def->result);
    print_block(o, def->body);
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
    case CQ_S_DEF: print_def(o, s->u.def); return true;
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

/* ---- classes and files
 * ----------------------------------------------------------------------------- */

static void print_names(printer *o, const char *name, cq_ast_names names, bool said)
{
    if (!said)
        return;
    start_line(o);
    cq_str_printf(&o->s, "%s = [", name);
    for (size_t i = 0; i < names.n; i++) {
        cq_str_add_char(&o->s, '"');
        print_bytes(o, names.items[i], strlen(names.items[i]), false);
        cq_str_add(&o->s, "\", ");
    }
    cq_str_add(&o->s, "]\n");
}

static bool is_identifier(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_";
    size_t            n         = 0;

    if (*name >= '0' && *name <= '9')
        return false;
    while (name[n] && (strchr(letters, name[n]) || (name[n] >= '0' && name[n] <= '9') ||
                       (unsigned char)name[n] >= 0x80))
        n++;
    return n && !name[n];
}

static void print_field(printer *o, const cq_ast_field *field, bool first)
{
    const bool plain = is_identifier(field->name);

    if (!plain && first)
        line(o, "__annotations__ = []");
    start_line(o);
    if (!plain) {
        cq_str_add(&o->s, "__annotations__[\"");
        print_bytes(o, field->name, strlen(field->name), false);
        cq_str_add(&o->s, "\"] = ");
        print_expr(o, field->type);
    } else {
        cq_str_add(&o->s, field->name);
        if (field->type)
            print_word(o, " :", field->type);
        if (field->value)
            print_word(o, " =", field->value);
    }
    cq_str_add_char(&o->s, '\n');
}

static void print_class(printer *o, const cq_ast_class *c)
{
    print_decorators(o, c->decorators);
    cq_str_printf(&o->s, "class %s", c->name);
    if (c->bases.n) {
        cq_str_add_char(&o->s, '(');
        print_exprs(o, c->bases);
        cq_str_add_char(&o->s, ')');
    }
    cq_str_add(&o->s, ":\n");
    o->indent++;
    print_names(o, "__parameters__", c->parameters, c->has_parameters);
    print_names(o, "__buffers__", c->buffers, c->has_buffers);
    print_names(o, "__forward_pre_hooks__", c->forward_pre_hooks, c->forward_pre_hooks.n);
    print_names(o, "__forward_hooks__", c->forward_hooks, c->forward_hooks.n);
    for (size_t i = 0; i < c->n_fields; i++)
        print_field(o, &c->fields[i], i == 0);
    for (size_t i = 0; i < c->n_methods; i++) {
        print_decorators(o, c->methods[i]->decorators);
        start_line(o);
        print_def(o, c->methods[i]);
    }
    if (!c->n_fields && !c->n_methods && !c->has_parameters && !c->has_buffers)
        line(o, "pass");
    o->indent--;
}

static void print_import(printer *o, const cq_ast_import *import)
{
    if (import->name)
        cq_str_printf(&o->s, "from %s import %s", import->module, import->name);
    else
        cq_str_printf(&o->s, "import %s", import->module);
    if (import->alias)
        cq_str_printf(&o->s, " as %s", import->alias);
    cq_str_add_char(&o->s, '\n');
}

static cq_status finish(char **out, printer *o)
{
    cq_status status = o->s.status;

    if (status == CQ_OK && !o->s.text)
        cq_str_add(&o->s, "");
    *out = cq_str_take(&o->s);
    return *out ? CQ_OK : status != CQ_OK ? status : CQ_E_NO_MEMORY;
}

cq_status unparse(char **out, const cq_unit *unit)
{
    printer o = { 0 };

    for (size_t i = 0; i < unit->n_imports; i++)
        print_import(&o, &unit->imports[i]);
    if (unit->op_version_set >= 0)
        cq_str_printf(&o.s, "op_version_set = %lld\n", (long long)unit->op_version_set);
    print_statements(&o, unit->body);
    for (size_t i = 0; i < unit->n_classes; i++)
        print_class(&o, unit->classes[i]);
    for (size_t i = 0; i < unit->n_defs; i++) {
        print_decorators(&o, unit->defs[i]->decorators);
        print_def(&o, unit->defs[i]);
    }
    if (unit->expr)
        print_expr(&o, unit->expr);
    return finish(out, &o);
}
