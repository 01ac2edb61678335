/* Polynomials with interned atoms. Terms are sorted by their atoms' text, the constant
 * last, so printing the terms in order is the canonical form and its own hash key. */
#include "tensor/expr.h"
#include "base/str.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

CQ_API cq_int cq_i(int64_t value)
{
    return (cq_int){ value, NULL };
}

void cq_symbols_init(cq_symbols *table, cq_arena *arena)
{
    *table = (cq_symbols){ .arena = arena };
}

void cq_symbols_clear(cq_symbols *table)
{
    cq_map_clear(&table->exprs);
    cq_map_clear(&table->atoms);
}

/* ---- plain arithmetic, wrapping instead of overflowing ---- */

static int64_t wrap_add(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a + (uint64_t)b);
}

static int64_t wrap_mul(int64_t a, int64_t b)
{
    return (int64_t)((uint64_t)a * (uint64_t)b);
}

static int64_t floor_div(int64_t a, int64_t b)
{
    int64_t q;

    if (b == 0)
        return 0;
    if (b == -1)
        return wrap_mul(a, -1);
    q = a / b;
    return q - (a % b != 0 && (a < 0) != (b < 0));
}

static int64_t apply(cq_atom_kind kind, int64_t a, int64_t b)
{
    switch (kind) {
    case CQ_ATOM_FLOORDIV: return floor_div(a, b);
    case CQ_ATOM_MOD: return wrap_add(a, wrap_mul(wrap_mul(floor_div(a, b), b), -1));
    case CQ_ATOM_MIN: return a < b ? a : b;
    case CQ_ATOM_MAX: return a > b ? a : b;
    case CQ_ATOM_MUL: return wrap_mul(a, b);
    case CQ_ATOM_ADD: return wrap_add(a, b);
    case CQ_ATOM_SYMBOL: break;
    }
    return 0;
}

/* ---- polynomials on the stack ---- */

typedef struct poly {
    size_t  n;
    bool    too_big;
    cq_term terms[CQ_EXPR_MAX_TERMS];
} poly;

static void poly_of(poly *p, cq_int a)
{
    p->too_big = false;
    p->n       = 0;
    if (a.expr) {
        p->n = a.expr->n_terms;
        memcpy(p->terms, a.expr->terms, p->n * sizeof *p->terms);
    } else if (a.value) {
        p->n        = 1;
        p->terms[0] = (cq_term){ .factor = a.value };
    }
}

static int compare_terms(const cq_term *a, const cq_term *b)
{
    if (!a->n_atoms || !b->n_atoms)
        return (a->n_atoms == 0) - (b->n_atoms == 0);
    for (int i = 0; i < a->n_atoms && i < b->n_atoms; i++) {
        int order = a->atoms[i] == b->atoms[i] ? 0 : strcmp(a->atoms[i]->text, b->atoms[i]->text);

        if (order)
            return order;
    }
    return a->n_atoms - b->n_atoms;
}

static void poly_add_term(poly *p, const cq_term *t)
{
    size_t at    = 0;
    int    order = -1;

    while (at < p->n && (order = compare_terms(&p->terms[at], t)) < 0)
        at++;
    if (at < p->n && order == 0) {
        p->terms[at].factor = wrap_add(p->terms[at].factor, t->factor);
        if (p->terms[at].factor == 0) {
            memmove(&p->terms[at], &p->terms[at + 1], (p->n - at - 1) * sizeof *p->terms);
            p->n--;
        }
        return;
    }
    if (t->factor == 0)
        return;
    if (p->n == CQ_EXPR_MAX_TERMS) {
        p->too_big = true;
        return;
    }
    memmove(&p->terms[at + 1], &p->terms[at], (p->n - at) * sizeof *p->terms);
    p->terms[at] = *t;
    p->n++;
}

static int compare_atoms(const void *a, const void *b)
{
    return strcmp((*(const cq_atom *const *)a)->text, (*(const cq_atom *const *)b)->text);
}

static void poly_add_product(poly *p, const cq_term *a, const cq_term *b)
{
    cq_term t = { .factor = wrap_mul(a->factor, b->factor), .n_atoms = a->n_atoms + b->n_atoms };

    if (t.n_atoms > CQ_EXPR_MAX_DEGREE) {
        p->too_big = true;
        return;
    }
    for (int i = 0; i < a->n_atoms; i++)
        t.atoms[i] = a->atoms[i];
    for (int i = 0; i < b->n_atoms; i++)
        t.atoms[a->n_atoms + i] = b->atoms[i];
    qsort(t.atoms, (size_t)t.n_atoms, sizeof *t.atoms, compare_atoms);
    poly_add_term(p, &t);
}

/* t / d, if that leaves nothing over. */
static bool divide_term(cq_term *t, const cq_term *d)
{
    if (!d->factor || (t->factor == INT64_MIN && d->factor == -1) || t->factor % d->factor)
        return false;
    t->factor /= d->factor;
    for (int k = 0; k < d->n_atoms; k++) {
        int at = 0;

        while (at < t->n_atoms && t->atoms[at] != d->atoms[k])
            at++;
        if (at == t->n_atoms)
            return false;
        memmove(&t->atoms[at], &t->atoms[at + 1], (size_t)(t->n_atoms - at - 1) * sizeof *t->atoms);
        t->n_atoms--;
    }
    return true;
}

/* The term of the highest degree, the first of those: an order that products keep, as division
 * needs it. */
static const cq_term *leading(const poly *p)
{
    const cq_term *best = &p->terms[0];

    for (size_t i = 1; i < p->n; i++)
        if (p->terms[i].n_atoms > best->n_atoms)
            best = &p->terms[i];
    return best;
}

/* p / d, if that leaves nothing over: `n*h*w // (h*w)` is n also where h is `k//2+1`. */
static bool poly_divide(poly *quotient, const poly *p, const poly *d)
{
    poly rest = *p;

    quotient->n       = 0;
    quotient->too_big = false;
    while (rest.n && d->n) {
        cq_term t = *leading(&rest);

        if (!divide_term(&t, leading(d)))
            return false;
        poly_add_term(quotient, &t);
        t.factor = wrap_mul(t.factor, -1);
        for (size_t i = 0; i < d->n; i++)
            poly_add_product(&rest, &d->terms[i], &t);
        if (quotient->too_big || rest.too_big)
            return false;
    }
    return d->n > 0;
}

/* ---- interning ---- */

static void print_term(cq_str *s, const cq_term *t, bool first)
{
    if (t->factor < 0 || !first)
        cq_str_add_char(s, t->factor < 0 ? '-' : '+');
    if (!t->n_atoms || (t->factor != 1 && t->factor != -1)) {
        uint64_t size = t->factor < 0 ? 0 - (uint64_t)t->factor : (uint64_t)t->factor;

        cq_str_printf(s, t->n_atoms ? "%llu*" : "%llu", (unsigned long long)size);
    }
    for (int i = 0; i < t->n_atoms; i++)
        cq_str_printf(s, i ? "*%s" : "%s", t->atoms[i]->text);
}

static cq_int give_up(cq_symbols *table, cq_status status, int64_t value)
{
    if (table->status == CQ_OK)
        table->status = status;
    return cq_i(value);
}

cq_status cq_symbols_check(const cq_symbols *table)
{
    if (table->status == CQ_E_UNSUPPORTED)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a size is computed from other sizes in more than %d steps, or from more "
                       "than %d of them",
                       CQ_EXPR_MAX_DEPTH, CQ_EXPR_MAX_SYMBOLS);
    return table->status == CQ_OK ? CQ_OK : cq_no_memory();
}

static cq_int poly_intern(cq_symbols *table, const poly *p, int64_t value)
{
    cq_str   s = { 0 };
    cq_expr *e;

    if (p->n == 0)
        return cq_i(0);
    if (p->n == 1 && p->terms[0].n_atoms == 0)
        return cq_i(p->terms[0].factor);
    if (table->status != CQ_OK)
        return cq_i(value);
    for (size_t i = 0; i < p->n; i++)
        print_term(&s, &p->terms[i], i == 0);
    e = s.status == CQ_OK ? cq_map_get(&table->exprs, s.text) : NULL;
    if (!e && s.status == CQ_OK) {
        e = cq_arena_alloc(table->arena, sizeof *e + p->n * sizeof *e->terms);
        if (e) {
            e->n_terms = p->n;
            memcpy(e->terms, p->terms, p->n * sizeof *e->terms);
            e->text = cq_arena_strdup(table->arena, s.text);
            if (!e->text || cq_map_set(&table->exprs, s.text, e) != CQ_OK)
                e = NULL;
        }
    }
    cq_str_clear(&s);
    return e ? (cq_int){ value, e } : give_up(table, CQ_E_NO_MEMORY, value);
}

/* Appends the symbols of an expression that do not have this mark after the first n of out, if that
 * is not NULL, and marks them; returns the new number. */
static size_t mark_symbols(const cq_expr *expr, unsigned mark, const cq_atom **out, size_t n)
{
    for (size_t t = 0; expr && t < expr->n_terms; t++)
        for (int k = 0; k < expr->terms[t].n_atoms; k++) {
            const cq_atom *part = expr->terms[t].atoms[k];

            for (size_t i = 0; i < part->n_symbols; i++) {
                cq_atom *symbol = (cq_atom *)part->symbols[i]; /* its mark is made for this */

                if (symbol->mark == mark)
                    continue;
                symbol->mark = mark;
                if (out)
                    out[n] = symbol;
                n++;
            }
        }
    return n;
}

static int depth_of_operand(const cq_expr *expr)
{
    int depth = 0;

    for (size_t t = 0; expr && t < expr->n_terms; t++)
        for (int k = 0; k < expr->terms[t].n_atoms; k++)
            if (expr->terms[t].atoms[k]->depth >= depth)
                depth = expr->terms[t].atoms[k]->depth + 1;
    return depth;
}

/* Collects the symbols of the operands. */
static bool collect_symbols(cq_symbols *table, cq_atom *atom)
{
    const cq_expr  *operands[] = { atom->a.expr, atom->b.expr };
    const cq_atom **all        = NULL;

    for (int pass = 0; pass < 2; pass++) {
        size_t n = 0;

        table->mark++;
        for (int i = 0; i < 2; i++)
            n = mark_symbols(operands[i], table->mark, all, n);
        if (!pass && !(all = cq_arena_array(table->arena, n, sizeof(cq_atom *))))
            return false;
        atom->n_symbols = n;
    }
    for (int i = 0; i < 2; i++) {
        const int depth = depth_of_operand(operands[i]);

        atom->depth = depth > atom->depth ? depth : atom->depth;
    }
    atom->symbols = all;
    return true;
}

static bool is_natural(const cq_atom *a)
{
    switch (a->kind) {
    case CQ_ATOM_SYMBOL: return a->axis >= 0;
    case CQ_ATOM_MAX: return cq_int_is_natural(a->a) || cq_int_is_natural(a->b);
    case CQ_ATOM_MOD: return cq_int_is_natural(a->b);
    default: return cq_int_is_natural(a->a) && cq_int_is_natural(a->b);
    }
}

static cq_atom *atom_new(cq_symbols *table, const cq_atom *like)
{
    cq_atom        *atom = cq_arena_copy(table->arena, like, sizeof *like);
    const cq_atom **self;

    if (!atom || !(atom->text = cq_arena_strdup(table->arena, like->text)))
        return NULL;
    atom->is_natural = is_natural(atom);
    if (atom->kind != CQ_ATOM_SYMBOL)
        return collect_symbols(table, atom) ? atom : NULL;
    self = cq_arena_alloc(table->arena, sizeof(cq_atom *));
    if (!self)
        return NULL;
    *self           = atom;
    atom->symbols   = self;
    atom->n_symbols = 1;
    return atom;
}

static cq_int atom_intern(cq_symbols *table, const char *key, const cq_atom *like)
{
    cq_atom *atom = cq_map_get(&table->atoms, key);
    poly     p    = { .n = 1 };

    if (table->status != CQ_OK)
        return cq_i(like->example);
    if (!atom) {
        atom = atom_new(table, like);
        if (!atom || cq_map_set(&table->atoms, key, atom) != CQ_OK)
            return give_up(table, CQ_E_NO_MEMORY, like->example);
    }
    if (atom->depth > CQ_EXPR_MAX_DEPTH || atom->n_symbols > CQ_EXPR_MAX_SYMBOLS)
        return give_up(table, CQ_E_UNSUPPORTED, like->example);
    p.terms[0] = (cq_term){ .factor = 1, .n_atoms = 1, .atoms = { atom } };
    return poly_intern(table, &p, atom->example);
}

cq_int cq_symbol(cq_symbols *table, const char *name, int64_t example, struct cq_value *origin,
                 int axis)
{
    return atom_intern(table, name,
                       &(cq_atom){ .kind    = CQ_ATOM_SYMBOL,
                                   .text    = name,
                                   .example = example,
                                   .origin  = origin,
                                   .axis    = axis });
}

cq_int cq_symbol_of_input(cq_symbols *table, const char *name, int64_t example, const char *input,
                          int axis)
{
    return atom_intern(table, name,
                       &(cq_atom){ .kind    = CQ_ATOM_SYMBOL,
                                   .text    = name,
                                   .example = example,
                                   .input   = input,
                                   .axis    = axis });
}

cq_int cq_symbol_fresh(cq_symbols *table, const char *prefix, int64_t example,
                       struct cq_value *origin, int axis)
{
    char name[64];

    do
        snprintf(name, sizeof name, "%.40s%u", prefix, table->n_fresh++);
    while (cq_map_has(&table->atoms, name));
    return cq_symbol(table, name, example, origin, axis);
}

/* Operands are interned, so an operation on them is known by their addresses. Its text is in full
 * while it is short; the text of a size after fifty layers would double with each. */
static cq_int opaque(cq_symbols *table, cq_atom_kind kind, cq_int a, cq_int b)
{
    static const char *const formats[] = {
        [CQ_ATOM_FLOORDIV] = "(%s)//(%s)", [CQ_ATOM_MOD] = "(%s)%%(%s)",
        [CQ_ATOM_MIN] = "min(%s,%s)",      [CQ_ATOM_MAX] = "max(%s,%s)",
        [CQ_ATOM_MUL] = "((%s)*(%s))",     [CQ_ATOM_ADD] = "((%s)+(%s))",
    };
    char    abuf[24], bbuf[24], key[96];
    int64_t value = apply(kind, a.value, b.value);
    cq_str  s     = { 0 };
    cq_int  result;

    if (table->status != CQ_OK)
        return cq_i(value);
    snprintf(key, sizeof key, "(%d %p %lld %p %lld", kind, (const void *)a.expr,
             a.expr ? 0 : (long long)a.value, (const void *)b.expr,
             b.expr ? 0 : (long long)b.value);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    cq_str_printf(&s, formats[kind], cq_int_text(a, abuf), cq_int_text(b, bbuf));
#pragma GCC diagnostic pop
    if (s.len > CQ_EXPR_MAX_TEXT && !cq_map_has(&table->atoms, key)) {
        do {
            cq_str_clear(&s);
            cq_str_printf(&s, "size_%u", table->n_long++);
        } while (s.status == CQ_OK && cq_map_has(&table->atoms, s.text));
    }
    if (s.status != CQ_OK) {
        cq_str_clear(&s);
        return give_up(table, CQ_E_NO_MEMORY, value);
    }
    result = atom_intern(
        table, key, &(cq_atom){ .kind = kind, .text = s.text, .a = a, .b = b, .example = value });
    cq_str_clear(&s);
    return result;
}

/* ---- arithmetic ---- */

cq_int cq_int_add(cq_symbols *table, cq_int a, cq_int b)
{
    int64_t value = wrap_add(a.value, b.value);
    poly    p, q;

    if (!a.expr && !b.expr)
        return cq_i(value);
    poly_of(&p, a);
    poly_of(&q, b);
    for (size_t i = 0; i < q.n; i++)
        poly_add_term(&p, &q.terms[i]);
    return p.too_big ? opaque(table, CQ_ATOM_ADD, a, b) : poly_intern(table, &p, value);
}

cq_int cq_int_sub(cq_symbols *table, cq_int a, cq_int b)
{
    return cq_int_add(table, a, cq_int_mul(table, b, cq_i(-1)));
}

static cq_int multiply(cq_symbols *table, cq_int a, cq_int b)
{
    int64_t value = wrap_mul(a.value, b.value);
    poly    p, q, product = { 0 };

    poly_of(&p, a);
    poly_of(&q, b);
    for (size_t i = 0; i < p.n; i++)
        for (size_t k = 0; k < q.n; k++)
            poly_add_product(&product, &p.terms[i], &q.terms[k]);
    return product.too_big ? opaque(table, CQ_ATOM_MUL, a, b) : poly_intern(table, &product, value);
}

/* Plain numbers take a path without a large frame, because the evaluator counts with them. */
cq_int cq_int_mul(cq_symbols *table, cq_int a, cq_int b)
{
    return !a.expr && !b.expr ? cq_i(wrap_mul(a.value, b.value)) : multiply(table, a, b);
}

/* The remainder of the constant term by a plain divisor: (3*n+2) // 3 is n, because 3*n is
 * divisible. */
static int64_t constant_rest(cq_int a, cq_int b)
{
    const cq_term *last =
        a.expr && b.value > 0 && !b.expr ? &a.expr->terms[a.expr->n_terms - 1] : NULL;

    return last && !last->n_atoms ? apply(CQ_ATOM_MOD, last->factor, b.value) : 0;
}

cq_int cq_int_floordiv(cq_symbols *table, cq_int a, cq_int b)
{
    int64_t value = floor_div(a.value, b.value);
    poly    p, d, quotient;

    if ((!a.expr && !b.expr) || cq_int_is(b, 0))
        return cq_i(value);
    poly_of(&p, cq_int_sub(table, a, cq_i(constant_rest(a, b))));
    poly_of(&d, b);
    if (poly_divide(&quotient, &p, &d))
        return poly_intern(table, &quotient, value);
    return opaque(table, CQ_ATOM_FLOORDIV, a, b);
}

cq_int cq_int_mod(cq_symbols *table, cq_int a, cq_int b)
{
    poly p, d, quotient;

    if ((!a.expr && !b.expr) || cq_int_is(b, 0))
        return cq_i(apply(CQ_ATOM_MOD, a.value, b.value));
    poly_of(&p, cq_int_sub(table, a, cq_i(constant_rest(a, b))));
    poly_of(&d, b);
    if (poly_divide(&quotient, &p, &d))
        return cq_i(constant_rest(a, b));
    return opaque(table, CQ_ATOM_MOD, a, b);
}

/* The operand that is an extremum of the other one already: max(max(n, m), n) is max(n, m). */
static bool contains(cq_int a, cq_atom_kind kind, cq_int operand)
{
    const cq_term *t = a.expr && a.expr->n_terms == 1 ? a.expr->terms : NULL;

    return t && t->n_atoms == 1 && t->factor == 1 && t->atoms[0]->kind == kind &&
           (cq_int_same(t->atoms[0]->a, operand) || cq_int_same(t->atoms[0]->b, operand));
}

/* A sum or product of sizes is never below a plain number that is not above 0. A number that a
 * model reads from data may be. */
static cq_int extremum(cq_symbols *table, cq_atom_kind kind, cq_int a, cq_int b)
{
    cq_int difference;

    if (!a.expr && !b.expr)
        return cq_i(apply(kind, a.value, b.value));
    difference = cq_int_sub(table, a, b);
    if (!difference.expr)
        return (difference.value > 0) == (kind == CQ_ATOM_MAX) ? a : b;
    if (!a.expr && a.value <= 0 && cq_int_is_natural(b))
        return kind == CQ_ATOM_MAX ? b : a;
    if (!b.expr && b.value <= 0 && cq_int_is_natural(a))
        return kind == CQ_ATOM_MAX ? a : b;
    if (contains(a, kind, b))
        return a;
    if (contains(b, kind, a))
        return b;
    return opaque(table, kind, a, b);
}

cq_int cq_int_min(cq_symbols *table, cq_int a, cq_int b)
{
    return extremum(table, CQ_ATOM_MIN, a, b);
}

cq_int cq_int_max(cq_symbols *table, cq_int a, cq_int b)
{
    return extremum(table, CQ_ATOM_MAX, a, b);
}

/* Whether an expression depends on a symbol. */
static bool has_symbol(const cq_expr *e, const cq_atom *symbol)
{
    for (size_t i = 0; i < e->n_terms; i++)
        for (int k = 0; k < e->terms[i].n_atoms; k++)
            for (size_t s = 0; s < e->terms[i].atoms[k]->n_symbols; s++)
                if (e->terms[i].atoms[k]->symbols[s] == symbol)
                    return true;
    return false;
}

bool cq_int_independent(cq_int a, cq_int b)
{
    if (!a.expr || !b.expr)
        return true;
    for (size_t i = 0; i < a.expr->n_terms; i++)
        for (int k = 0; k < a.expr->terms[i].n_atoms; k++)
            for (size_t s = 0; s < a.expr->terms[i].atoms[k]->n_symbols; s++)
                if (has_symbol(b.expr, a.expr->terms[i].atoms[k]->symbols[s]))
                    return false;
    return true;
}

const cq_atom *cq_int_symbol(cq_int a)
{
    const cq_term *t = a.expr ? a.expr->terms : NULL;

    if (!t || a.expr->n_terms != 1 || t->n_atoms != 1 || t->factor != 1 ||
        t->atoms[0]->kind != CQ_ATOM_SYMBOL)
        return NULL;
    return t->atoms[0];
}

int cq_int_depth(cq_int a)
{
    int depth = 0;

    for (size_t t = 0; a.expr && t < a.expr->n_terms; t++)
        for (int k = 0; k < a.expr->terms[t].n_atoms; k++)
            if (a.expr->terms[t].atoms[k]->depth > depth)
                depth = a.expr->terms[t].atoms[k]->depth;
    return depth;
}

const char *cq_int_text(cq_int a, char *buffer)
{
    if (a.expr)
        return a.expr->text;
    snprintf(buffer, 24, "%lld", (long long)a.value);
    return buffer;
}

bool cq_int_is_natural(cq_int a)
{
    if (!a.expr)
        return a.value >= 0;
    for (size_t i = 0; i < a.expr->n_terms; i++) {
        const cq_term *t = &a.expr->terms[i];

        if (t->factor < 0)
            return false;
        for (int k = 0; k < t->n_atoms; k++)
            if (!t->atoms[k]->is_natural)
                return false;
    }
    return true;
}
