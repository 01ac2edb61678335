/* The conditions on sizes that PyTorch found during export. The file has them as Python,
 *
 *     L['past'][0].size()[2] + L['ids'].size()[1] <= L['mask'].size()[1]
 *
 * in terms of forward's arguments. Comparisons of two integer expressions are read; others are
 * ignored. So is "!=": it excludes a size of 1, for which PyTorch would specialise the program,
 * although this one usually supports it. */
#include "pt2/model.h"

#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- arguments by their path ---- */

typedef struct paths {
    cq_pt2 *model;
    cq_map  inputs; /* "['past'][0]" to the number of the user's input + 1 */
    size_t  leaf, input;
} paths;

/* The graph's inputs that are leaves of the arguments: all but weights. */
static size_t next_leaf(const cq_pt2_program *p, size_t at)
{
    while (at < p->graph->n_inputs && p->inputs[at].role != CQ_PT2_USER &&
           p->inputs[at].role != CQ_PT2_FIXED)
        at++;
    return at;
}

/* A path that is longer is noted by no guard. */
enum { MAX_PATH_LEN = 1000 };

static cq_status note_paths(paths *ps, const cq_pt2_tree *t, const char *path)
{
    cq_pt2 *p = ps->model;

    if (t->is_leaf) {
        const size_t at      = next_leaf(p->program, ps->leaf);
        const bool   is_user = ps->input < p->user.n && p->user.items[ps->input] == at;

        ps->leaf = at + 1;
        ps->input += is_user;
        return is_user && strlen(path) <= MAX_PATH_LEN
                   ? cq_map_set(&ps->inputs, path, (void *)(uintptr_t)ps->input)
                   : CQ_OK;
    }
    for (size_t i = 0; i < t->n; i++) {
        const char *key   = t->keys ? t->keys[i] : NULL;
        cq_str      inner = { 0 };
        cq_status   status;

        cq_str_add(&inner, path);
        if (inner.len > MAX_PATH_LEN)
            ; /* nor is one that begins so */
        else if (key)
            cq_str_printf(&inner, "['%.*s']", MAX_PATH_LEN, key);
        else
            cq_str_printf(&inner, "[%zu]", i);
        status = inner.status;
        if (status == CQ_OK)
            status = note_paths(ps, &t->items[i], inner.text);
        cq_str_clear(&inner);
        CQ_TRY(status);
    }
    return CQ_OK;
}

/* ---- reading ---- */

/* L['x'][0].size()[2] becomes i3a2, torch.sym_max Max; false for anything that is unknown or not an
 * integer expression. */
static bool translate(const paths *ps, const char *text, cq_str *out)
{
    static const char size[] = ".size()[", function[] = "torch.sym_";

    while (*text) {
        const size_t function_len = strlen(function);

        if (strncmp(text, "L[", 2) == 0) {
            const char *end = strstr(text, size);
            uintptr_t   input =
                end ? (uintptr_t)cq_map_get_n(&ps->inputs, text + 1, (size_t)(end - text - 1)) : 0;
            char *after;
            long  axis = input ? strtol(end + strlen(size), &after, 10) : -1;

            if (axis < 0 || *after != ']')
                return false;
            cq_str_printf(out, "i%zua%ld", (size_t)input - 1, axis);
            text = after + 1;
        } else if (strncmp(text, function, function_len) == 0 &&
                   (!strncmp(text + function_len, "max(", 4) ||
                    !strncmp(text + function_len, "min(", 4))) {
            cq_str_printf(out, "M%.2s", text + function_len + 1);
            text += function_len + 3;
        } else if (isalpha((unsigned char)*text) || *text == '\'') {
            return false;
        } else {
            cq_str_add_char(out, *text++);
        }
    }
    return out->status == CQ_OK;
}

/* The comparison that is in no parentheses. */
static char *find_relation(char *text, const char **relation)
{
    static const char *const relations[] = { "==", "!=", "<=", ">=", "<", ">" };
    int                      depth       = 0;

    for (; *text; text++) {
        depth += *text == '(';
        depth -= *text == ')';
        for (size_t i = 0; depth == 0 && i < sizeof relations / sizeof *relations; i++)
            if (strncmp(text, relations[i], strlen(relations[i])) == 0) {
                *relation = relations[i];
                return text;
            }
    }
    return NULL;
}

static cq_status read_guard(paths *ps, const char *text)
{
    cq_arena    *arena = ps->model->program->archive->arena;
    cq_str       s     = { 0 };
    char        *at    = NULL;
    cq_pt2_guard guard;
    cq_status    status = CQ_OK;

    if (translate(ps, text, &s) && s.text)
        at = find_relation(s.text, &guard.relation);
    if (at && guard.relation[0] != '!') {
        *at         = '\0';
        guard.left  = cq_arena_strdup(arena, s.text);
        guard.right = cq_arena_strdup(arena, at + strlen(guard.relation));
        ps->model->guards_len += s.len;
        status =
            guard.left && guard.right ? cq_vec_push(&ps->model->guards, guard) : CQ_E_NO_MEMORY;
    }
    if (s.status != CQ_OK)
        status = s.status;
    cq_str_clear(&s);
    return status;
}

cq_status cq_pt2_read_guards(cq_pt2 *p)
{
    const cq_json *guards = cq_json_get(p->program->archive->program, "guards_code");
    paths          ps     = { .model = p };
    cq_status      status = CQ_OK;

    if (guards->kind != CQ_JSON_LIST || p->arguments.is_leaf)
        return CQ_OK;
    status = note_paths(&ps, &p->arguments, "");
    for (size_t i = 0; i < cq_json_length(guards) && status == CQ_OK; i++)
        status = read_guard(&ps, cq_json_text(cq_json_at(guards, i), ""));
    cq_map_clear(&ps.inputs);
    return status;
}

/* ---- checking ---- */

typedef struct lookup {
    cq_pt2_size_fn size;
    void          *user;
} lookup;

static bool size_of_name(void *user, const char *name, cq_int *out)
{
    const lookup *l = user;
    size_t        input, axis;

    if (sscanf(name, "i%zua%zu", &input, &axis) != 2)
        return false;
    *out = l->size(l->user, input, axis);
    return true;
}

bool cq_pt2_guard_side(const char *side, cq_symbols *table, cq_pt2_size_fn size, void *user,
                       cq_int *out)
{
    lookup           l   = { size, user };
    const cq_pt2_env env = { table, size_of_name, &l };

    return cq_pt2_expr(side, &env, out);
}

static bool holds(const char *relation, int64_t l, int64_t r)
{
    switch (relation[0]) {
    case '=': return l == r;
    case '<': return relation[1] ? l <= r : l < r;
    default: return relation[1] ? l >= r : l > r;
    }
}

const cq_pt2_guard *cq_pt2_broken_guard(const cq_pt2 *p, cq_pt2_size_fn size, void *user)
{
    for (size_t i = 0; i < p->guards.n; i++) {
        const cq_pt2_guard *g = &p->guards.items[i];
        cq_int              l, r;

        if (cq_pt2_guard_side(g->left, NULL, size, user, &l) &&
            cq_pt2_guard_side(g->right, NULL, size, user, &r) &&
            !holds(g->relation, l.value, r.value))
            return g;
    }
    return NULL;
}

void cq_pt2_show_side(const cq_pt2 *p, const char *side, char *text, size_t size)
{
    size_t n = 0;

    side += strspn(side, " ");
    for (text[0] = '\0'; *side && n + 1 < size;) {
        size_t input, axis;
        int    len = 0;

        if (sscanf(side, "i%zua%zu%n", &input, &axis, &len) == 2 && input < p->user.n)
            n += (size_t)snprintf(text + n, size - n, "%.60s.size(%zu)",
                                  cq_pt2_input_name(p, input), axis);
        else
            n += (size_t)snprintf(text + n, size - n, "%c", *side);
        side += len ? len : 1;
    }
    for (n = strlen(text); n && text[n - 1] == ' '; n--)
        text[n - 1] = '\0';
}
