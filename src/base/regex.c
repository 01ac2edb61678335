/* Thompson's construction: the expression is parsed to a tree (regex_parse.c), the tree is compiled
 * to a program, and the program is executed with the set of its current states. */
#include "base/regex_tree.h"

#include <string.h>

/* A step of the program. SET and assertions that hold continue with the next step. */
typedef enum code { TAKE, SPLIT, JUMP, ASSERT, MATCH } code;

typedef struct step {
    code        code;
    const tree *node;      /* of TAKE and ASSERT */
    size_t      to, other; /* of SPLIT and JUMP */
} step;

struct cq_regex {
    cq_arena  *arena;
    range_list ranges;
    CQ_VEC(step) steps;
};

size_t cq_regex_size(const cq_regex *re)
{
    return re->steps.n;
}

/* ---- the program ---- */

static cq_status emit(cq_regex *re, step s)
{
    if (re->steps.n >= CQ_REGEX_MAX_STEPS)
        return cq_fail(CQ_E_UNSUPPORTED, NULL, NULL,
                       "a regular expression takes more than %d steps", CQ_REGEX_MAX_STEPS);
    return cq_vec_push(&re->steps, s);
}

static cq_status compile(cq_regex *re, const tree *t);

/* Emits a split whose second branch is set later, and its first branch. */
static cq_status compile_optional(cq_regex *re, const tree *t, size_t *split)
{
    *split = re->steps.n;
    CQ_TRY(emit(re, (step){ .code = SPLIT, .to = *split + 1 }));
    return compile(re, t);
}

static cq_status compile_repeat(cq_regex *re, const tree *t)
{
    CQ_VEC(size_t) splits = { 0 };
    cq_status status      = CQ_OK;
    size_t    split;

    for (int i = 0; i < t->min && status == CQ_OK; i++)
        status = compile(re, t->a);
    if (status == CQ_OK && t->max < 0) {
        status = compile_optional(re, t->a, &split);
        if (status == CQ_OK)
            status = emit(re, (step){ .code = JUMP, .to = split });
        if (status == CQ_OK)
            status = cq_vec_push(&splits, split);
    }
    for (int i = t->min; i < t->max && status == CQ_OK; i++) {
        status = compile_optional(re, t->a, &split);
        if (status == CQ_OK)
            status = cq_vec_push(&splits, split);
    }
    for (size_t i = 0; i < splits.n; i++)
        re->steps.items[splits.items[i]].other = re->steps.n;
    cq_vec_clear(&splits);
    return status;
}

/* Trees of sequences and alternatives are left-leaning and as deep as the expression is long, so
 * the left side is traversed by a loop instead of recursion. */
static cq_status compile_sequence(cq_regex *re, const tree *t)
{
    CQ_VEC(const tree *) parts = { 0 };
    cq_status status           = CQ_OK;

    for (; t->kind == CAT && status == CQ_OK; t = t->a)
        status = cq_vec_push(&parts, t->b);
    if (status == CQ_OK)
        status = compile(re, t);
    while (parts.n && status == CQ_OK)
        status = compile(re, parts.items[--parts.n]);
    cq_vec_clear(&parts);
    return status;
}

static cq_status compile_alternatives(cq_regex *re, const tree *t)
{
    CQ_VEC(size_t) jumps = { 0 };
    cq_status status     = CQ_OK;
    size_t    split      = 0;

    for (; t->kind == ALT && status == CQ_OK; t = t->a) {
        status = compile_optional(re, t->b, &split);
        if (status == CQ_OK)
            status = cq_vec_push(&jumps, re->steps.n);
        if (status == CQ_OK)
            status = emit(re, (step){ .code = JUMP });
        if (status == CQ_OK)
            re->steps.items[split].other = re->steps.n;
    }
    if (status == CQ_OK)
        status = compile(re, t);
    for (size_t i = 0; i < jumps.n && status == CQ_OK; i++)
        re->steps.items[jumps.items[i]].to = re->steps.n;
    cq_vec_clear(&jumps);
    return status;
}

static cq_status compile(cq_regex *re, const tree *t)
{
    switch (t->kind) {
    case EMPTY: return CQ_OK;
    case SET: return emit(re, (step){ .code = TAKE, .node = t });
    case CAT: return compile_sequence(re, t);
    case ALT: return compile_alternatives(re, t);
    case REPEAT: return compile_repeat(re, t);
    default: return emit(re, (step){ .code = ASSERT, .node = t });
    }
}

cq_status cq_regex_new(cq_regex **out, const char *pattern, size_t len)
{
    cq_regex *re = *out = cq_zalloc(sizeof *re);
    tree     *t         = NULL;
    cq_status status;

    if (!re)
        return CQ_E_NO_MEMORY;
    re->arena = cq_arena_new();
    status    = re->arena ? CQ_OK : CQ_E_NO_MEMORY;
    if (status == CQ_OK)
        status = cq_regex_parse(&t, re->arena, &re->ranges, pattern, len);
    if (status == CQ_OK)
        status = compile(re, t);
    if (status == CQ_OK)
        status = emit(re, (step){ .code = MATCH });
    if (status != CQ_OK) {
        cq_regex_free(re);
        *out = NULL;
    }
    return status;
}

void cq_regex_free(cq_regex *re)
{
    if (!re)
        return;
    cq_vec_clear(&re->ranges);
    cq_vec_clear(&re->steps);
    cq_arena_free(re->arena);
    cq_free(re);
}

/* ---- matching ---- */

static uint32_t other_case(uint32_t c)
{
    bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');

    return is_letter ? c ^ 0x20 : c;
}

static bool in_ranges(const cq_regex *re, const tree *set, uint32_t c)
{
    for (size_t i = 0; i < set->n_ranges; i++)
        if (c >= re->ranges.items[set->ranges + i].low &&
            c <= re->ranges.items[set->ranges + i].high)
            return true;
    return false;
}

static bool takes(const cq_regex *re, const tree *set, uint32_t c)
{
    bool is_in = in_ranges(re, set, c) || (set->ignores_case && in_ranges(re, set, other_case(c)));

    return is_in != set->is_negated;
}

static bool holds(kind assertion, uint32_t before, uint32_t after)
{
    bool is_edge = (before != NOTHING && cq_regex_is_word(before)) !=
                   (after != NOTHING && cq_regex_is_word(after));

    switch (assertion) {
    case BEGIN: return before == NOTHING;
    case END: return after == NOTHING;
    case LINE_BEGIN: return before == NOTHING || before == '\n';
    case LINE_END: return after == NOTHING || after == '\n';
    default: return is_edge == (assertion == EDGE);
    }
}

/* A set of steps of the program. */
typedef struct thread_list {
    size_t *at, n;
    size_t *seen; /* the index of the character at which a state was last added, + 1 */
} thread_list;

/* Adds a state and all states that are reachable without consuming a character. stack has space for
 * every step twice. */
static void reach(thread_list *p, const cq_regex *re, size_t first, size_t number, uint32_t before,
                  uint32_t after, size_t *stack)
{
    size_t n = 0;

    stack[n++] = first;
    while (n) {
        size_t      i = stack[--n];
        const step *s = &re->steps.items[i];

        if (p->seen[i] == number + 1)
            continue;
        p->seen[i] = number + 1;
        if (s->code == JUMP || s->code == SPLIT)
            stack[n++] = s->to;
        if (s->code == SPLIT)
            stack[n++] = s->other;
        if (s->code == ASSERT && holds(s->node->kind, before, after))
            stack[n++] = i + 1;
        if (s->code == TAKE || s->code == MATCH)
            p->at[p->n++] = i;
    }
}

cq_status cq_regex_matches(bool *out, const cq_regex *re, const char *text, size_t len)
{
    size_t      n = re->steps.n, at = 0, number = 0;
    size_t     *room = cq_alloc_array(n, 5 * sizeof *room); /* two lists, seen, and a stack */
    thread_list now = { room, 0, room + 2 * n }, next = { room + n, 0, room + 2 * n };
    size_t     *stack  = room + 3 * n;
    uint32_t    before = NOTHING, c, after;

    *out = false;
    if (!room)
        return CQ_E_NO_MEMORY;
    memset(now.seen, 0, n * sizeof *now.seen);
    c = len ? cq_regex_next_char(text, len, &at) : NOTHING;
    reach(&now, re, 0, number++, before, c, stack);
    while (c != NOTHING && now.n) {
        thread_list swap = now;

        after  = at < len ? cq_regex_next_char(text, len, &at) : NOTHING;
        next.n = 0;
        for (size_t i = 0; i < now.n; i++) {
            const step *s = &re->steps.items[now.at[i]];

            if (s->code == TAKE && takes(re, s->node, c))
                reach(&next, re, now.at[i] + 1, number, c, after, stack);
        }
        number++;
        now  = next;
        next = swap;
        c    = after;
    }
    for (size_t i = 0; i < now.n && c == NOTHING; i++)
        *out |= re->steps.items[now.at[i]].code == MATCH;
    cq_free(room);
    return CQ_OK;
}
