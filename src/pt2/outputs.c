/* Names of outputs: an output inside of a structure with names is named after them, "logits" or
 * "past_0_key". */
#include "pt2/model.h"

#include <stdio.h>

enum { MAX_NAME = 200 };

typedef CQ_VEC(const char *) names; /* NULL: no name */

static cq_status visit(names *to, cq_arena *arena, const cq_pt2_tree *t, const char *path,
                       bool named)
{
    if (t->is_leaf)
        return cq_vec_push(to, named ? cq_arena_strdup(arena, path) : NULL);
    for (size_t i = 0; i < t->n; i++) {
        const char *key = t->keys ? t->keys[i] : NULL;
        char        inner[MAX_NAME];

        if (key)
            snprintf(inner, sizeof inner, "%.100s%s%.90s", path, path[0] ? "_" : "", key);
        else
            snprintf(inner, sizeof inner, "%.100s%s%zu", path, path[0] ? "_" : "", i);
        CQ_TRY(visit(to, arena, &t->items[i], inner, named || key));
    }
    return CQ_OK;
}

/* ---- names that are taken ---- */

/* Requests for a name are counted, so that the next one does not try the same again: 1, or the
 * number of further requests. */
static cq_status take(cq_pt2 *p, const char *name)
{
    return name && !cq_map_has(&p->taken, name) ? cq_map_set(&p->taken, name, (void *)(uintptr_t)1)
                                                : CQ_OK;
}

static bool is_taken(const cq_pt2 *p, const char *name)
{
    return cq_map_has(&p->taken, name) || cq_map_has(&p->program->archive->weights, name) ||
           cq_map_has(&p->program->archive->constants, name);
}

cq_status cq_pt2_take_names(cq_pt2 *p)
{
    cq_map_clear(&p->taken);
    for (size_t i = 0; i < p->user.n; i++)
        CQ_TRY(take(p, cq_pt2_input_name(p, i)));
    for (size_t i = 0; i < p->output_names.n; i++)
        CQ_TRY(take(p, p->output_names.items[i]));
    return CQ_OK;
}

/* "x_out", then "x_out_2"; NULL: no memory. */
static const char *other_name(cq_pt2 *p, const char *name)
{
    uintptr_t   n = (uintptr_t)cq_map_get(&p->taken, name);
    const char *other;

    do {
        n++;
        other =
            n <= 2 ? cq_arena_printf(p->program->archive->arena, "%s_out", name)
                   : cq_arena_printf(p->program->archive->arena, "%s_out_%zu", name, (size_t)n - 1);
    } while (other && is_taken(p, other));
    return other && cq_map_set(&p->taken, name, (void *)n) == CQ_OK ? other : NULL;
}

/* It is the same in every call. */
const char *cq_pt2_changed_name(cq_pt2 *p, const char *name)
{
    const char *other = cq_map_get(&p->changed_names, name);

    if (other)
        return other;
    other = other_name(p, name);
    return other && cq_map_set(&p->changed_names, name, (void *)other) == CQ_OK ? other : NULL;
}

/* ---- the outputs ---- */

static cq_status take_names(cq_pt2 *p, const names *leaves)
{
    size_t next = 0;

    for (size_t i = 0; i < p->program->graph->n_outputs; i++) {
        const char *name;

        if (p->program->outputs[i].role != CQ_PT2_USER)
            continue;
        name = next < leaves->n ? leaves->items[next] : NULL;
        next++;
        if (p->program->graph->outputs[i].kind == CQ_PT2_NONE)
            continue;
        CQ_TRY(cq_vec_push(&p->output_paths, name));
        if (name && is_taken(p, name) && !(name = other_name(p, name)))
            return CQ_E_NO_MEMORY;
        CQ_TRY(take(p, name));
        CQ_TRY(cq_vec_push(&p->output_names, name));
    }
    return CQ_OK;
}

/* If some outputs have names, the others are numbered, so that names keep their positions. */
static cq_status number_others(cq_pt2 *p)
{
    bool named = false;

    for (size_t i = 0; i < p->output_names.n; i++)
        named |= p->output_names.items[i] != NULL;
    for (size_t i = 0; i < p->output_names.n && named; i++) {
        const char *name = cq_arena_printf(p->program->archive->arena, "output_%zu", i);

        if (!name)
            return CQ_E_NO_MEMORY;
        if (!p->output_names.items[i] && !is_taken(p, name)) {
            p->output_names.items[i] = name;
            CQ_TRY(take(p, name));
        }
    }
    return CQ_OK;
}

cq_status cq_pt2_name_outputs(cq_pt2 *p)
{
    names     leaves = { 0 };
    cq_status status = cq_pt2_take_names(p);

    if (status == CQ_OK)
        status = visit(&leaves, p->program->archive->arena, &p->results, "", false);
    if (status == CQ_OK)
        status = take_names(p, &leaves);
    if (status == CQ_OK)
        status = number_others(p);
    cq_vec_clear(&leaves);
    return status;
}

CQ_API const char *cq_pt2_output_name(const cq_pt2 *p, size_t i)
{
    CQ_NEED_ELSE(p, NULL);
    return i < p->output_names.n ? p->output_names.items[i] : NULL;
}
