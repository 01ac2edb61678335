/* Bodies from text to tree, see body.h: tokens and statements. Bodies are ours: a wrong one is a
 * bug, and the first error ends the parse. */
#include "aten/body_parse.h"

#include <ctype.h>
#include <stdio.h>

void cq_body_fail(cq_body_parser *p, const char *what)
{
    if (p->status == CQ_OK)
        p->status = cq_fail(CQ_E_INTERNAL, p->schema->full, NULL, "the body has %s at \"%.30s\"",
                            what, p->at);
}

void *cq_body_alloc(cq_body_parser *p, size_t n, size_t size)
{
    void *out = cq_arena_array(p->arena, n ? n : 1, size);

    if (!out && p->status == CQ_OK)
        p->status = CQ_E_NO_MEMORY;
    return out;
}

cq_body_expr *cq_body_node(cq_body_parser *p, cq_body_expr_kind kind, cq_kinds kinds)
{
    cq_body_expr *e = cq_body_alloc(p, 1, sizeof *e);

    if (!e)
        return &p->nothing;
    e->kind  = kind;
    e->kinds = kinds;
    return e;
}

/* ---- tokens ---- */

void cq_body_space(cq_body_parser *p)
{
    while (*p->at == ' ' || (p->nested && *p->at == '\n'))
        p->at++;
}

/* A sign, or a whole word. */
bool cq_body_peek(cq_body_parser *p, const char *token)
{
    size_t n = strlen(token);

    cq_body_space(p);
    return strncmp(p->at, token, n) == 0 && !(cq_is_word(token[0]) && cq_is_word(p->at[n]));
}

bool cq_body_accept(cq_body_parser *p, const char *token)
{
    if (!cq_body_peek(p, token))
        return false;
    p->at += strlen(token);
    return true;
}

void cq_body_expect(cq_body_parser *p, const char *token)
{
    char what[32];

    snprintf(what, sizeof what, "no \"%s\"", token);
    if (!cq_body_accept(p, token))
        cq_body_fail(p, what);
}

void cq_body_open(cq_body_parser *p, const char *token)
{
    cq_body_expect(p, token);
    p->nested++;
}

void cq_body_close(cq_body_parser *p, const char *token)
{
    cq_body_expect(p, token);
    p->nested--;
}

/* A name, which may begin with a namespace: quantized::add. */
const char *cq_body_word(cq_body_parser *p)
{
    const char *start;

    cq_body_space(p);
    start = p->at;
    if (!isalpha((unsigned char)*start) && *start != '_') {
        cq_body_fail(p, "no name");
        return "";
    }
    while (cq_is_word(*p->at) || (p->at[0] == ':' && p->at[1] == ':'))
        p->at += *p->at == ':' ? 2 : 1;
    start = cq_arena_strndup(p->arena, start, (size_t)(p->at - start));
    return start ? start : "";
}

/* ---- statements ---- */

static cq_body_stmt *stmt(cq_body_parser *p, cq_body_stmt_kind kind)
{
    cq_body_stmt *s = cq_body_alloc(p, 1, sizeof *s);

    if (!s)
        return &p->no_stmt;
    s->kind = kind;
    return s;
}

static void check_result(cq_body_parser *p, const cq_body_expr *e)
{
    const cq_schema *s = p->schema;

    if (p->status != CQ_OK)
        return;
    if (s->n_results == 1 ? !(e->kinds & cq_kinds_of(&s->results[0].type, true))
                          : !(e->kinds & CQ_KIND(LIST)) ||
                                (e->kind == CQ_EXPR_TUPLE && e->n_items != s->n_results))
        cq_body_fail(p, "a result that is not of the schema before what is");
}

static cq_body_stmt *return_stmt(cq_body_parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_RETURN);

    s->value = cq_body_expressions(p);
    check_result(p, s->value);
    return s;
}

/* What is said when it fails. */
static const cq_body_expr *message(cq_body_parser *p)
{
    const cq_body_expr *e = cq_body_expression(p);

    if (p->status == CQ_OK && e->kinds != CQ_KIND(STR))
        cq_body_fail(p, "a message that is not text before what is");
    return e;
}

static cq_body_stmt *assert_stmt(cq_body_parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_FAIL);

    s->value = cq_body_expression(p);
    cq_body_expect(p, ",");
    s->message = message(p);
    s->status  = CQ_E_ARGUMENT;
    return s;
}

static cq_body_stmt *raise_stmt(cq_body_parser *p)
{
    static const struct {
        const char *name;
        cq_status   status;
    } kinds[]       = { { "NotImplementedError", CQ_E_UNSUPPORTED },
                        { "TypeError", CQ_E_TYPE },
                        { "ValueError", CQ_E_ARGUMENT } };
    cq_body_stmt *s = stmt(p, CQ_STMT_FAIL);

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (cq_body_accept(p, kinds[i].name))
            s->status = kinds[i].status;
    if (s->status == CQ_OK)
        cq_body_fail(p, "an unknown error");
    cq_body_open(p, "(");
    s->message = message(p);
    cq_body_close(p, ")");
    return s;
}

static cq_body_stmt *warn_stmt(cq_body_parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_WARN);

    cq_body_open(p, "(");
    s->message = message(p);
    cq_body_close(p, ")");
    return s;
}

/* Whether "a =", "a, b =" or "a +=" is here. */
static bool assignment_here(cq_body_parser *p)
{
    const char *at;

    cq_body_space(p);
    for (at = p->at; cq_is_word(*at) || *at == ',' || *at == ' '; at++)
        ;
    at += at[0] == '+' && at[1] == '=';
    return at > p->at && at[0] == '=' && at[1] != '=';
}

static cq_body_stmt *assignment(cq_body_parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_SET);
    const char   *names[CQ_MAX_RESULTS];

    do {
        if (s->n_slots == CQ_MAX_RESULTS) {
            cq_body_fail(p, "too many names");
            return s;
        }
        names[s->n_slots++] = cq_body_word(p);
    } while (p->status == CQ_OK && cq_body_accept(p, ","));
    if (s->n_slots == 1 && cq_body_accept(p, "+"))
        s->kind = CQ_STMT_ADD;
    cq_body_expect(p, "=");
    s->value = cq_body_expressions(p);
    for (size_t i = 0; i < s->n_slots; i++) {
        cq_kinds kinds = s->n_slots == 1 ? s->value->kinds
                         : s->value->kind == CQ_EXPR_TUPLE && i < s->value->n_items
                             ? s->value->items[i]->kinds
                             : CQ_KINDS_ANY;

        s->slots[i] = (uint8_t)cq_body_set_slot(p, names[i], kinds);
    }
    if (s->value->kind == CQ_EXPR_TUPLE && s->n_slots > 1 && s->value->n_items != s->n_slots)
        cq_body_fail(p, "another number of names than of values before what is");
    return s;
}

static cq_body_stmt *block(cq_body_parser *p);

static cq_body_stmt *if_stmt(cq_body_parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_IF);
    const char   *end;

    s->value = cq_body_expression(p);
    cq_body_expect(p, ":");
    s->then = block(p);
    end     = p->at;
    while (*p->at == '\n' || *p->at == ' ')
        p->at++;
    if (cq_body_accept(p, "elif")) {
        s->otherwise = if_stmt(p);
    } else if (cq_body_accept(p, "else")) {
        cq_body_expect(p, ":");
        s->otherwise = block(p);
    } else {
        p->at = end;
    }
    return s;
}

static cq_body_stmt *for_stmt(cq_body_parser *p)
{
    cq_body_stmt *s = stmt(p, CQ_STMT_FOR);

    s->slots[s->n_slots++] = (uint8_t)cq_body_set_slot(p, cq_body_word(p), CQ_KINDS_ANY);
    cq_body_expect(p, "in");
    s->value = cq_body_expression(p);
    cq_body_expect(p, ":");
    s->then = block(p);
    return s;
}

/* "name: expression" of a formula. */
static cq_body_stmt *formula(cq_body_parser *p)
{
    cq_body_stmt *s    = stmt(p, CQ_STMT_GIVE);
    const char   *name = cq_body_word(p);
    int           arg  = cq_schema_find(p->schema, name);

    cq_body_expect(p, ":");
    if (arg < 0)
        cq_body_fail(p, "the name of no argument before what is");
    else
        s->slots[0] = (uint8_t)arg;
    s->value = cq_body_expression(p);
    return s;
}

static cq_body_stmt *simple_stmt(cq_body_parser *p)
{
    if (cq_body_accept(p, "return"))
        return return_stmt(p);
    if (cq_body_accept(p, "assert"))
        return assert_stmt(p);
    if (cq_body_accept(p, "raise"))
        return raise_stmt(p);
    if (cq_body_accept(p, "warn"))
        return warn_stmt(p);
    if (assignment_here(p))
        return assignment(p);
    if (p->owner)
        return formula(p);
    return return_stmt(p); /* a body that is one expression */
}

/* Statements up to the end of the line. */
static cq_body_stmt *block(cq_body_parser *p)
{
    cq_body_stmt *first = NULL, **last = &first;

    do {
        *last = cq_body_accept(p, "if")    ? if_stmt(p)
                : cq_body_accept(p, "for") ? for_stmt(p)
                                           : simple_stmt(p);
        last  = (cq_body_stmt **)&(*last)->next;
        cq_body_space(p);
    } while (p->status == CQ_OK && cq_body_accept(p, ";") &&
             (cq_body_space(p), *p->at && *p->at != '\n'));
    return first;
}

static const cq_body_stmt *statements(cq_body_parser *p)
{
    cq_body_stmt *first = NULL, **last = &first;

    while (p->status == CQ_OK && (cq_body_space(p), *p->at)) {
        if (*p->at == '\n') {
            p->at++;
            continue;
        }
        *last = block(p);
        while (p->status == CQ_OK && *last)
            last = (cq_body_stmt **)&(*last)->next;
        if (*p->at && *p->at != '\n')
            cq_body_fail(p, "something left");
    }
    if (!first)
        cq_body_fail(p, "no statement");
    return first;
}

cq_status cq_body_parse(cq_body **out, const cq_schema *schema, const char *text,
                        const cq_formula_owner *owner)
{
    cq_body_parser p    = { .schema = schema, .owner = owner, .text = text, .at = text };
    cq_body       *body = NULL;

    p.nothing.kinds = CQ_KINDS_ANY;
    p.arena         = cq_arena_new();
    if (p.arena)
        body = cq_body_alloc(&p, 1, sizeof *body);
    if (!body) {
        cq_arena_free(p.arena);
        return CQ_E_NO_MEMORY;
    }
    for (size_t i = 0; i < schema->n_args; i++) {
        cq_kinds kinds = cq_kinds_of(&schema->args[i].type, false);

        /* A data-dependent number is a tensor. */
        cq_body_set_slot(&p, schema->args[i].name,
                         kinds | (kinds & CQ_KIND(FLOAT) ? CQ_KIND(TENSOR) : 0));
    }
    body->first = statements(&p);
    if (p.status != CQ_OK) {
        cq_arena_free(p.arena);
        return p.status;
    }
    body->arena   = p.arena;
    body->text    = text;
    body->schema  = schema;
    body->n_slots = p.n_slots;
    *out          = body;
    return CQ_OK;
}

cq_status cq_body_check(const cq_op *op, const char *text)
{
    return cq_formula_check(op, text, NULL);
}

cq_status cq_formula_check(const cq_op *op, const char *text, const cq_formula_owner *owner)
{
    cq_body *body;

    CQ_TRY(cq_body_parse(&body, op->schema, text, owner));
    cq_arena_free(body->arena);
    return CQ_OK;
}
