/* Rewrites exits without jumps. Statements after one that may exit run only if it did not:
 *
 *     if c:                    if c:
 *         return a                 %result = a
 *     y = f(x)        is       else:
 *     return y                     y = f(x)
 *                                  %result = y
 *
 * If one side of an if always exits, the rest of the block moves to the other side. If both sides
 * may continue, exits set a flag, and the rest is in an if that tests it:
 *
 *     if c:                    if c:
 *         if d:                    if d:
 *             return a                 %result = a; %returned = True
 *         y = y * 2   is           else:
 *     return y                         y = y * 2
 *                              if %returned:
 *                                  %returned = True
 *                              else:
 *                                  %returned = False
 *                                  %result = y
 *
 * No statement is copied, so that the tree stays as large as the source. A flag is False before and
 * True after; the evaluator knows which of them it is unless a condition was data-dependent, and an
 * if on a known flag costs nothing. On the two sides of an if that asks for a flag it is known.
 *
 * The parts of a try or match statement are blocks like those of an if. The else part of a loop
 * becomes an if behind it that asks for the flag of the loop.
 *
 * Rests inside of rests would make the tree as deep as the source is long. So a rest that is
 * MAX_RESTS deep ends at the next statement that may leave, and the block around it goes on with
 * another if (leftovers, below). */
#include "lang/desugar.h"
#include "base/vec.h"

#include <string.h>

/* Ifs of a graph are messages inside of messages, and readers of protobuf take 100 of those, three
 * for each If. */
enum { MAX_RESTS = 16 };

/* A flag variable that is set by an exit. */
typedef struct flag {
    const char *name;
    bool        is_read; /* otherwise its assignments are omitted */
    CQ_VEC(cq_ast_stmt *) sets;
} flag;

/* A construct that can be left early: a function, or a loop in it. */
typedef struct level {
    struct level *outer;   /* NULL: the function */
    flag         *skip;    /* skips the rest of the iteration; NULL: never set */
    flag         *over;    /* ends the loop */
    flag          own[2];  /* a loop's, if a continue or a break in it sets them */
    bool          is_left; /* of a function: by a return inside of a loop */
} level;

enum { SKIP, OVER };

/* Pending statements: those of a block, then those after it. */
typedef struct todo {
    const cq_ast_block *block;
    size_t              at;
    struct todo        *next;
} todo;

typedef struct pass {
    cq_unit  *unit;
    cq_arena *scratch;
    unsigned  n_loops; /* that have a number */
} pass;

typedef CQ_VEC(cq_ast_stmt *) statements;

/* ---- control flow of statements ---- */

typedef struct outcome {
    bool falls;  /* control may reach the next statement */
    bool leaves; /* the block it is in, by return, break or continue */
} outcome;

static bool is_raise_call(const cq_ast_expr *x)
{
    return x->kind == CQ_X_CALL && x->u.call.function->kind == CQ_X_ATTR &&
           strcmp(x->u.call.function->u.attr.name, "RaiseException") == 0;
}

bool cq_ast_raises(const cq_ast_block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const cq_ast_stmt *s = b->items[i];

        if (s->kind == CQ_S_RAISE || (s->kind == CQ_S_EXPR && is_raise_call(s->u.value)))
            return true;
        if (s->kind == CQ_S_IF && cq_ast_raises(&s->u.branch.then) &&
            cq_ast_raises(&s->u.branch.other))
            return true;
    }
    return false;
}

enum { BREAKS = 1, CONTINUES = 2, RETURNS = 4, DEFINES = 8, LOOP_ELSE = 16 };

static unsigned exits_in(const cq_ast_block *b, bool all);

static unsigned exits_in_try(const cq_ast_try *t, bool all)
{
    unsigned found =
        exits_in(&t->body, all) | exits_in(&t->other, all) | exits_in(&t->finally, all);

    for (size_t i = 0; i < t->n_handlers; i++)
        found |= exits_in(&t->handlers[i].body, all);
    return found;
}

/* The exits in a block. Of loops inside of it, only exits that leave the block count, unless all is
 * set. */
static unsigned exits_in(const cq_ast_block *b, bool all)
{
    unsigned found = 0;

    for (size_t i = 0; i < b->n; i++) {
        const cq_ast_stmt *s = b->items[i];

        switch (s->kind) {
        case CQ_S_BREAK: found |= BREAKS; break;
        case CQ_S_CONTINUE: found |= CONTINUES; break;
        case CQ_S_RETURN: found |= RETURNS; break;
        case CQ_S_DEF:
        case CQ_S_CLASS: found |= DEFINES; break;
        case CQ_S_IF:
            found |= exits_in(&s->u.branch.then, all) | exits_in(&s->u.branch.other, all);
            break;
        case CQ_S_WITH: found |= exits_in(&s->u.with.body, all); break;
        case CQ_S_TRY: found |= exits_in_try(s->u.attempt, all); break;
        case CQ_S_MATCH:
            for (size_t k = 0; k < s->u.match.n; k++)
                found |= exits_in(&s->u.match.cases[k].body, all);
            break;
        case CQ_S_LOOP_ELSE:
            found |= LOOP_ELSE | exits_in(&s->u.loop_else.other, all) |
                     exits_in(&(cq_ast_block){ (cq_ast_stmt **)&s->u.loop_else.loop, 1 }, all);
            break;
        case CQ_S_WHILE:
        case CQ_S_FOR:
            found |= exits_in(&s->u.loop.body, all) &
                     (all ? ~0u : (unsigned)(RETURNS | DEFINES | LOOP_ELSE));
            break;
        default: break;
        }
    }
    return found;
}

static outcome block_outcome(const cq_ast_block *b);

static outcome try_outcome(const cq_ast_try *t)
{
    const outcome body = block_outcome(&t->body), other = block_outcome(&t->other),
                  end = block_outcome(&t->finally);
    outcome all       = { (body.falls && other.falls), body.leaves || other.leaves || end.leaves };

    for (size_t i = 0; i < t->n_handlers; i++) {
        const outcome o = block_outcome(&t->handlers[i].body);

        all.falls |= o.falls;
        all.leaves |= o.leaves;
    }
    all.falls &= end.falls;
    return all;
}

static outcome stmt_outcome(const cq_ast_stmt *s)
{
    outcome  a, b;
    unsigned exits;

    switch (s->kind) {
    case CQ_S_BREAK:
    case CQ_S_CONTINUE:
    case CQ_S_RETURN: return (outcome){ .leaves = true };
    case CQ_S_RAISE: return (outcome){ .falls = false };
    case CQ_S_EXPR: return (outcome){ .falls = !is_raise_call(s->u.value) };
    case CQ_S_WITH:
        a = block_outcome(&s->u.with.body);
        a.falls |= !a.leaves; /* a context manager may end an exception */
        return a;
    case CQ_S_TRY: return try_outcome(s->u.attempt);
    case CQ_S_MATCH:
    case CQ_S_LOOP_ELSE: {
        const cq_ast_stmt *const items[] = { s };

        exits = exits_in(&(cq_ast_block){ (cq_ast_stmt **)(void *)items, 1 }, false);
        return (outcome){ .falls = true, .leaves = exits & (RETURNS | BREAKS | CONTINUES) };
    }
    case CQ_S_IF:
        a = block_outcome(&s->u.branch.then);
        b = block_outcome(&s->u.branch.other);
        return (outcome){ a.falls || b.falls, a.leaves || b.leaves };
    case CQ_S_WHILE:
    case CQ_S_FOR:
        exits = exits_in(&s->u.loop.body, false);
        a     = (outcome){ .falls = true, .leaves = exits & RETURNS };
        if (s->kind == CQ_S_WHILE && s->u.loop.test->kind == CQ_X_TRUE && !(exits & BREAKS))
            a.falls = !a.leaves; /* its only exit is a return */
        return a;
    default: return (outcome){ .falls = true };
    }
}

static outcome block_outcome(const cq_ast_block *b)
{
    outcome all = { .falls = true };

    for (size_t i = 0; i < b->n && all.falls; i++) {
        const outcome o = stmt_outcome(b->items[i]);

        all.falls = o.falls;
        all.leaves |= o.leaves;
    }
    return all;
}

static cq_ast_stmt *next(todo **t)
{
    while (*t && (*t)->at == (*t)->block->n)
        *t = (*t)->next;
    return *t ? (*t)->block->items[(*t)->at] : NULL;
}

/* ---- creating statements ---- */

static cq_ast_expr *new_expr(pass *p, cq_ast_expr x)
{
    return cq_arena_copy(p->unit->arena, &x, sizeof x);
}

static cq_ast_expr *constant(pass *p, cq_ast_expr_kind kind, cq_span at)
{
    return new_expr(p, (cq_ast_expr){ .kind = kind, .at = at, .height = 1 });
}

static cq_ast_expr *name_expr(pass *p, const char *name, cq_span at)
{
    const cq_ast_expr x = { .kind = CQ_X_NAME, .at = at, .height = 1, .u.name = name };

    return name ? new_expr(p, x) : NULL;
}

static cq_ast_stmt *new_stmt(pass *p, cq_ast_stmt s)
{
    return cq_arena_copy(p->unit->arena, &s, sizeof s);
}

/* target = value */
static cq_ast_stmt *new_assign(pass *p, cq_ast_expr *target, cq_ast_expr *value, cq_span at)
{
    cq_ast_expr **targets = cq_arena_copy(p->unit->arena, &target, sizeof target);

    return targets && target && value
               ? new_stmt(p, (cq_ast_stmt){ .kind     = CQ_S_ASSIGN,
                                            .at       = at,
                                            .u.assign = { { targets, 1 }, NULL, value } })
               : NULL;
}

static cq_ast_stmt *new_set(pass *p, const flag *f, bool truth, cq_span at)
{
    return new_assign(p, name_expr(p, f->name, at), constant(p, truth ? CQ_X_TRUE : CQ_X_FALSE, at),
                      at);
}

static cq_ast_stmt *new_pass(pass *p, cq_span at)
{
    return new_stmt(p, (cq_ast_stmt){ .kind = CQ_S_PASS, .at = at });
}

static cq_status put(statements *out, cq_ast_stmt *s)
{
    return s ? cq_vec_push(out, s) : CQ_E_NO_MEMORY;
}

/* Moves statements into the tree. */
static cq_status finish(pass *p, statements *from, cq_status status, cq_ast_block *out)
{
    *out = (cq_ast_block){ NULL, 0 };
    if (status == CQ_OK && from->n) {
        out->items = cq_arena_copy(p->unit->arena, from->items, from->n * sizeof *from->items);
        out->n     = out->items ? from->n : 0;
        status     = out->items ? CQ_OK : CQ_E_NO_MEMORY;
    }
    cq_vec_clear(from);
    return status;
}

static const char *numbered(pass *p, const char *what)
{
    const char *text = cq_arena_printf(p->scratch, "%%%s%u", what, p->n_loops);

    return text ? cq_intern_text(p->unit->names, text) : NULL;
}

/* ---- flags ---- */

/* Sets a flag, unless it is never tested. */
static cq_status set_flag(pass *p, flag *f, bool truth, cq_span at, statements *out)
{
    cq_ast_stmt *s = new_set(p, f, truth, at);

    if (!s)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_vec_push(&f->sets, s));
    return put(out, s);
}

static void forget_unread(flag *f)
{
    for (size_t i = 0; i < f->sets.n && !f->is_read; i++)
        f->sets.items[i]->kind = CQ_S_PASS;
    cq_vec_clear(&f->sets);
}

static cq_status leave_loop(pass *p, level *l, const cq_ast_stmt *s, statements *out)
{
    if (l->own[SKIP].name)
        CQ_TRY(set_flag(p, &l->own[SKIP], true, s->at, out));
    return s->kind == CQ_S_BREAK ? set_flag(p, &l->own[OVER], true, s->at, out) : CQ_OK;
}

static cq_status leave_function(pass *p, level *l, const cq_ast_stmt *s, statements *out)
{
    cq_ast_expr *value   = s->u.value ? s->u.value : constant(p, CQ_X_NONE, s->at);
    const char  *result  = cq_intern_text(p->unit->names, CQ_RESULT);
    const bool   in_loop = l->outer;

    CQ_TRY(put(out, new_assign(p, name_expr(p, result, s->at), value, s->at)));
    out->items[out->n - 1]->yields = s->yields;
    for (; l->outer; l = l->outer)
        for (size_t i = 0; i < 2; i++)
            if (l->own[i].name)
                CQ_TRY(set_flag(p, &l->own[i], true, s->at, out));
    l->is_left |= in_loop;
    return set_flag(p, &l->own[OVER], true, s->at, out);
}

/* ---- statements ---- */

static cq_status do_rest(pass *p, level *l, todo **t, int depth, bool is_base, statements *out);
static cq_status desugar_def(pass *p, cq_ast_def *def);
static cq_status desugar_class(pass *p, cq_ast_class *c);

/* A separate block: all of it is processed here. */
static cq_status do_block(pass *p, level *l, const cq_ast_block *b, int depth, cq_ast_block *out)
{
    statements made = { 0 };
    todo       all = { .block = b }, *t = &all;
    cq_status  status = do_rest(p, l, &t, depth, true, &made);

    return finish(p, &made, status, out);
}

/* Puts a test of a flag around statements: their first one, which is left open, sets it to False
 * there. Without assignments to the flag both are omitted. */
static cq_ast_stmt *new_unless(pass *p, const flag *f, bool is_set, cq_ast_block rest, cq_span at)
{
    cq_ast_stmt **truth = cq_arena_array(p->unit->arena, 1, sizeof *truth);
    cq_ast_stmt  *s     = new_stmt(
             p, (cq_ast_stmt){ .kind     = CQ_S_IF,
                               .at       = at,
                               .u.branch = { .test = name_expr(p, f->name, at), .other = rest } });

    if (!s || !truth)
        return NULL;
    if (is_set) {
        truth[0]         = new_set(p, f, true, at);
        rest.items[0]    = new_set(p, f, false, at);
        s->u.branch.then = (cq_ast_block){ truth, 1 };
        if (!truth[0] || !rest.items[0])
            return NULL;
    }
    return s->u.branch.test ? s : NULL;
}

/* The pending statements, unless the iteration or the function was left. */
static cq_status do_guarded(pass *p, level *l, todo **t, int depth, statements *out)
{
    const cq_span at     = next(t)->at;
    const size_t  n_sets = l->skip->sets.n;
    statements    made   = { 0 };
    cq_ast_block  rest;
    cq_status     status = put(&made, new_pass(p, at));

    l->skip->is_read = true;
    if (status == CQ_OK)
        status = do_rest(p, l, t, depth + 1, false, &made);
    CQ_TRY(finish(p, &made, status, &rest));
    return put(out, new_unless(p, l->skip, l->skip->sets.n > n_sets, rest, at));
}

/* An if with exits. If only one side continues, the rest of the block moves there. */
static cq_status do_if(pass *p, level *l, const cq_ast_stmt *of, todo **t, int depth,
                       statements *out)
{
    const bool          falls[2] = { block_outcome(&of->u.branch.then).falls,
                                     block_outcome(&of->u.branch.other).falls };
    cq_ast_stmt        *s        = new_stmt(p, *of);
    const cq_ast_block *sides[2] = { &of->u.branch.then, &of->u.branch.other };
    cq_ast_block       *to[2];

    if (!s)
        return CQ_E_NO_MEMORY;
    to[0] = &s->u.branch.then;
    to[1] = &s->u.branch.other;
    CQ_TRY(put(out, s));
    for (size_t i = 0; i < 2; i++) {
        statements made = { 0 };
        todo      *inner;

        if (!falls[i] || falls[1 - i] || depth >= MAX_RESTS) {
            CQ_TRY(do_block(p, l, sides[i], depth, to[i]));
            continue;
        }
        inner = cq_arena_zalloc(p->scratch, sizeof *inner);
        if (!inner)
            return CQ_E_NO_MEMORY;
        *inner = (todo){ sides[i], 0, *t };
        *t     = inner;
        CQ_TRY(finish(p, &made, do_rest(p, l, t, depth + 1, false, &made), to[i]));
    }
    return CQ_OK;
}

static level *function_of(level *l)
{
    while (l->outer)
        l = l->outer;
    return l;
}

/* The flags of a loop with exits: break and continue have separate flags, and a return alone ends
 * the loop by the flag of the function. */
static cq_status name_flags(pass *p, level *l, unsigned exits)
{
    level *function = function_of(l);

    if (exits & (BREAKS | CONTINUES))
        p->n_loops++;
    if (exits & BREAKS)
        l->own[OVER].name = numbered(p, "over");
    if (exits & CONTINUES)
        l->own[SKIP].name = numbered(p, "skip");
    if (((exits & BREAKS) && !l->own[OVER].name) || ((exits & CONTINUES) && !l->own[SKIP].name))
        return CQ_E_NO_MEMORY;
    l->over = exits & BREAKS ? &l->own[OVER] : exits & RETURNS ? &function->own[OVER] : NULL;
    l->skip = exits & CONTINUES ? &l->own[SKIP] : l->over;
    return CQ_OK;
}

/* Unrolled iterations of a for each test whether the loop is over. The loop variable is only
 * assigned if it is not. */
static cq_status ask_in_each_round(pass *p, const level *l, cq_ast_stmt *loop)
{
    statements    made = { 0 };
    cq_ast_block  rest;
    cq_ast_stmt **body = cq_arena_array(p->unit->arena, 1, sizeof *body);
    const char   *item;
    cq_status     status = put(&made, new_pass(p, loop->at));

    p->n_loops++;
    item = numbered(p, "item");
    if (status == CQ_OK)
        status = put(&made, new_assign(p, loop->u.loop.target, name_expr(p, item, loop->at),
                                       loop->u.loop.target->at));
    for (size_t i = 0; i < loop->u.loop.body.n && status == CQ_OK; i++)
        status = put(&made, loop->u.loop.body.items[i]);
    CQ_TRY(finish(p, &made, status, &rest));
    loop->u.loop.target = name_expr(p, item, loop->at);
    if (!body || !loop->u.loop.target)
        return CQ_E_NO_MEMORY;
    body[0]           = new_unless(p, l->over, true, rest, loop->at);
    loop->u.loop.body = (cq_ast_block){ body, 1 };
    return body[0] ? CQ_OK : CQ_E_NO_MEMORY;
}

static cq_status do_body(pass *p, level *l, cq_ast_stmt *loop, int depth)
{
    statements made = { 0 };
    todo       all = { .block = &loop->u.loop.body }, *t = &all;
    flag      *returns = &function_of(l)->own[OVER];
    cq_status  status  = put(&made, new_pass(p, loop->at));

    /* No return has happened where an iteration begins. The loop's own flag is covered by its
     * test. */
    if (status == CQ_OK && l->over != returns && exits_in(all.block, false) & RETURNS)
        status = set_flag(p, returns, false, loop->at, &made);
    if (status == CQ_OK)
        status = do_rest(p, l, &t, depth, true, &made);
    if (status == CQ_OK && l->own[SKIP].is_read) {
        made.items[0] = new_set(p, &l->own[SKIP], false, loop->at);
        status        = made.items[0] ? CQ_OK : CQ_E_NO_MEMORY;
    }
    CQ_TRY(finish(p, &made, status, &loop->u.loop.body));
    if (l->over) {
        l->over->is_read   = true;
        loop->u.loop.until = l->over->name;
        if (loop->kind == CQ_S_FOR)
            return ask_in_each_round(p, l, loop);
    }
    return CQ_OK;
}

/* *over, unless it is NULL, is the flag that a break sets; it stays NULL if nothing leaves. */
static cq_status do_loop(pass *p, level *outer, const cq_ast_stmt *of, int depth, statements *out,
                         const char **over)
{
    level        l = { .outer = outer };
    cq_ast_stmt *s = new_stmt(p, *of);
    cq_status    status;

    if (!s)
        return CQ_E_NO_MEMORY;
    status = name_flags(p, &l, exits_in(&of->u.loop.body, false));
    if (status == CQ_OK && l.own[OVER].name)
        status = put(out, new_set(p, &l.own[OVER], false, of->at));
    if (status == CQ_OK)
        status = do_body(p, &l, s, depth);
    if (over && l.over) {
        l.over->is_read = true;
        *over           = l.over->name;
    }
    for (size_t i = 0; i < 2; i++)
        forget_unread(&l.own[i]);
    return status == CQ_OK ? put(out, s) : status;
}

static cq_status do_with(pass *p, level *l, const cq_ast_stmt *of, int depth, statements *out)
{
    cq_ast_stmt *s = new_stmt(p, *of);

    CQ_TRY(put(out, s));
    return do_block(p, l, &of->u.with.body, depth, &s->u.with.body);
}

static cq_status do_try(pass *p, level *l, const cq_ast_stmt *of, int depth, statements *out)
{
    const cq_ast_try *from = of->u.attempt;
    cq_ast_stmt      *s    = new_stmt(p, *of);
    cq_ast_try       *t    = cq_arena_copy(p->unit->arena, from, sizeof *from);

    CQ_TRY(put(out, s));
    if (!t)
        return CQ_E_NO_MEMORY;
    s->u.attempt = t;
    if (from->n_handlers) {
        t->handlers = cq_arena_copy(p->unit->arena, from->handlers,
                                    from->n_handlers * sizeof *from->handlers);
        if (!t->handlers)
            return CQ_E_NO_MEMORY;
    }
    CQ_TRY(do_block(p, l, &from->body, depth, &t->body));
    CQ_TRY(do_block(p, l, &from->other, depth, &t->other));
    CQ_TRY(do_block(p, l, &from->finally, depth, &t->finally));
    for (size_t i = 0; i < from->n_handlers; i++)
        CQ_TRY(do_block(p, l, &from->handlers[i].body, depth, &t->handlers[i].body));
    /* The else part is not run if the body left. */
    if (t->other.n && l->skip && block_outcome(&from->body).leaves) {
        cq_ast_stmt **only = cq_arena_array(p->unit->arena, 1, sizeof *only);

        l->skip->is_read = true;
        if (!only || !(only[0] = new_unless(p, l->skip, false, t->other, of->at)))
            return CQ_E_NO_MEMORY;
        t->other = (cq_ast_block){ only, 1 };
    }
    return CQ_OK;
}

static cq_status do_match(pass *p, level *l, const cq_ast_stmt *of, int depth, statements *out)
{
    cq_ast_stmt *s = new_stmt(p, *of);
    cq_ast_case *c = cq_arena_copy(p->unit->arena, of->u.match.cases, of->u.match.n * sizeof *c);

    CQ_TRY(put(out, s));
    if (!c)
        return CQ_E_NO_MEMORY;
    s->u.match.cases = c;
    for (size_t i = 0; i < of->u.match.n; i++)
        CQ_TRY(do_block(p, l, &of->u.match.cases[i].body, depth, &c[i].body));
    return CQ_OK;
}

/* The else part is run unless the loop was left. */
static cq_status do_loop_else(pass *p, level *l, const cq_ast_stmt *of, int depth, statements *out)
{
    const char  *over = NULL;
    cq_ast_block other;
    cq_ast_stmt *s;

    CQ_TRY(do_loop(p, l, of->u.loop_else.loop, depth, out, &over));
    CQ_TRY(do_block(p, l, &of->u.loop_else.other, depth, &other));
    if (!over) {
        for (size_t i = 0; i < other.n; i++)
            CQ_TRY(put(out, other.items[i]));
        return CQ_OK;
    }
    s = new_stmt(
        p, (cq_ast_stmt){ .kind     = CQ_S_IF,
                          .at       = of->at,
                          .u.branch = { .test = name_expr(p, over, of->at), .other = other } });
    return s && s->u.branch.test ? put(out, s) : CQ_E_NO_MEMORY;
}

static cq_status do_stmt(pass *p, level *l, cq_ast_stmt *s, todo **t, int depth, statements *out)
{
    switch (s->kind) {
    case CQ_S_RETURN: return leave_function(p, l, s, out);
    case CQ_S_BREAK:
    case CQ_S_CONTINUE: return leave_loop(p, l, s, out);
    case CQ_S_DEF: CQ_TRY(desugar_def(p, s->u.def)); return put(out, s);
    case CQ_S_CLASS: CQ_TRY(desugar_class(p, s->u.cls)); return put(out, s);
    default: break;
    }
    if (!exits_in(&(cq_ast_block){ &s, 1 }, true))
        return put(out, s); /* unchanged */
    switch (s->kind) {
    case CQ_S_IF: return do_if(p, l, s, t, depth, out);
    case CQ_S_WITH: return do_with(p, l, s, depth, out);
    case CQ_S_TRY: return do_try(p, l, s, depth, out);
    case CQ_S_MATCH: return do_match(p, l, s, depth, out);
    case CQ_S_LOOP_ELSE: return do_loop_else(p, l, s, depth, out);
    default: return do_loop(p, l, s, depth, out, NULL);
    }
}

/* Processes statements until none is left or, if the nesting is too deep, until one may exit: then
 * *t has the remaining statements for the caller. */
static cq_status do_rest(pass *p, level *l, todo **t, int depth, bool is_base, statements *out)
{
    cq_ast_stmt *s;

    while ((s = next(t))) {
        const outcome o = stmt_outcome(s);

        (*t)->at++;
        CQ_TRY(do_stmt(p, l, s, t, depth, out));
        if (!o.falls)
            *t = NULL; /* unreachable */
        if (!o.leaves)
            continue;
        if (depth >= MAX_RESTS && !is_base)
            return CQ_OK;
        while (next(t))
            CQ_TRY(do_guarded(p, l, t, depth, out));
    }
    return CQ_OK;
}

/* ---- functions ---- */

/* The initial values of its variables. */
static cq_status do_prologue(pass *p, level *l, cq_span at, statements *out)
{
    const char  *result  = cq_intern_text(p->unit->names, CQ_RESULT);
    const char  *nothing = cq_intern_text(p->unit->names, "uninitialized");
    cq_ast_expr *callee  = name_expr(p, nothing, at), *call;
    cq_ast_arg  *arg     = cq_arena_zalloc(p->unit->arena, sizeof *arg);

    if (l->own[OVER].is_read)
        CQ_TRY(put(out, new_set(p, &l->own[OVER], false, at)));
    if (!l->is_left)
        return CQ_OK;
    /* A loop carries it from iteration to iteration, so it must have a value. */
    if (arg)
        arg->value = constant(p, CQ_X_NONE, at);
    if (!callee || !arg || !arg->value)
        return CQ_E_NO_MEMORY;
    call = new_expr(p, (cq_ast_expr){ .kind   = CQ_X_CALL,
                                      .at     = at,
                                      .height = 2,
                                      .u.call = { .function = callee, .args = arg, .n = 1 } });
    return put(out, new_assign(p, name_expr(p, result, at), call, at));
}

static cq_status do_function(pass *p, cq_ast_def *def, level *l, statements *body)
{
    const outcome o   = block_outcome(&def->body);
    cq_ast_stmt   end = { .kind = CQ_S_RETURN, .at = def->at }, *ends = &end;
    cq_ast_block  last   = { &ends, 1 };
    todo          at_end = { .block = &last };
    todo          all = { .block = &def->body }, *t = &all;
    statements    made = { 0 };
    cq_status     status;

    if (o.falls && o.leaves)
        all.next = &at_end; /* a function that returns on some paths returns None on the others */
    status = do_rest(p, l, &t, 0, true, &made);
    if (status == CQ_OK)
        status = do_prologue(p, l, def->at, body);
    for (size_t i = 0; i < made.n && status == CQ_OK; i++)
        status = put(body, made.items[i]);
    cq_vec_clear(&made);
    return status;
}

/* Marks the ifs that were made here and now contain a yield; returns whether the block does. */
static bool mark_yields(const cq_ast_block *b)
{
    bool any = false;

    for (size_t i = 0; i < b->n; i++) {
        cq_ast_stmt *s = b->items[i];

        switch (s->kind) {
        case CQ_S_IF:
            s->yields |= mark_yields(&s->u.branch.then);
            s->yields |= mark_yields(&s->u.branch.other);
            break;
        case CQ_S_WHILE:
        case CQ_S_FOR: s->yields |= mark_yields(&s->u.loop.body); break;
        case CQ_S_WITH: s->yields |= mark_yields(&s->u.with.body); break;
        case CQ_S_TRY:
            mark_yields(&s->u.attempt->body);
            mark_yields(&s->u.attempt->other);
            mark_yields(&s->u.attempt->finally);
            for (size_t k = 0; k < s->u.attempt->n_handlers; k++)
                mark_yields(&s->u.attempt->handlers[k].body);
            break;
        case CQ_S_MATCH:
            for (size_t k = 0; k < s->u.match.n; k++)
                mark_yields(&s->u.match.cases[k].body);
            break;
        default: break;
        }
        any |= s->yields;
    }
    return any;
}

static cq_status desugar_def(pass *p, cq_ast_def *def)
{
    level      l      = { 0 };
    statements body   = { 0 };
    cq_status  status = CQ_OK;

    if (!exits_in(&def->body, true))
        return CQ_OK;
    l.own[OVER].name = cq_intern_text(p->unit->names, "%returned");
    l.over = l.skip = &l.own[OVER];
    if (!l.own[OVER].name)
        status = CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = do_function(p, def, &l, &body);
    forget_unread(&l.own[OVER]);
    status = finish(p, &body, status, &def->body);
    if (status == CQ_OK && def->is_generator)
        mark_yields(&def->body);
    return status;
}

/* The body of a class or a file: like that of a function, without returns. */
static cq_status desugar_body(pass *p, cq_ast_block *b)
{
    level        l = { 0 };
    cq_ast_block made;
    cq_status    status;

    if (!exits_in(b, true))
        return CQ_OK;
    l.own[OVER].name = cq_intern_text(p->unit->names, "%returned");
    l.over = l.skip = &l.own[OVER];
    status          = l.own[OVER].name ? do_block(p, &l, b, 0, &made) : CQ_E_NO_MEMORY;
    forget_unread(&l.own[OVER]);
    CQ_TRY(status);
    *b = made;
    return CQ_OK;
}

static cq_status desugar_class(pass *p, cq_ast_class *c)
{
    return desugar_body(p, &c->body);
}

cq_status cq_desugar(cq_unit *unit)
{
    pass      p      = { .unit = unit, .scratch = cq_arena_new() };
    cq_status status = p.scratch ? CQ_OK : CQ_E_NO_MEMORY;

    for (size_t i = 0; i < unit->n_defs && status == CQ_OK; i++)
        status = desugar_def(&p, unit->defs[i]);
    for (size_t i = 0; i < unit->n_classes && status == CQ_OK; i++)
        status = desugar_class(&p, unit->classes[i]);
    cq_arena_free(p.scratch);
    return status;
}

cq_status cq_desugar_module(cq_unit *unit)
{
    pass      p = { .unit = unit, .scratch = cq_arena_new() };
    cq_status status;

    if (!p.scratch)
        return CQ_E_NO_MEMORY;
    status = desugar_body(&p, &unit->body);
    cq_arena_free(p.scratch);
    return status;
}
