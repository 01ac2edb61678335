/* The names of parts of arguments and results: {"logits": y} has an output of that name, and so
 * does the field of a named tuple. Names of deeper parts join the keys and indices on the path:
 * "past_0_key". */
#include "script/eval.h"

#include "base/str.h"

enum { MAX_NAME = 200, MAX_LEVELS = 32 };

/* Whether a key is a usable name. Other characters would be awkward in shells, tables and other
 * programs. */
static bool is_plain(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return len > 0 && len <= MAX_NAME;
}

/* The name of a part in its container; NULL if it only has an index. */
static const char *part_name(const cq_visit_slot *slot)
{
    const cq_object *named = cq_object_as(slot->whole, CQ_OBJECT_NAMED);
    cq_val           key;

    if (named)
        return slot->index < named->cls->n_fields ? named->cls->fields[slot->index].name : NULL;
    if (slot->whole.kind != CQ_VAL_DICT)
        return NULL;
    key = slot->whole.u.dict->entries[slot->index].key;
    return key.kind == CQ_VAL_STR && !key.u.text->open &&
                   is_plain(key.u.text->text, key.u.text->len)
               ? key.u.text->text
               : NULL;
}

static void add_part(cq_str *out, const cq_visit_slot *slot, const char *name)
{
    cq_str_add(out, out->len ? "_" : "");
    if (name)
        cq_str_add(out, name);
    else
        cq_str_printf(out, "%zu", slot->index);
}

cq_status cq_eval_slot_name(const cq_visit_slot *slot, const char *first, cq_str *out)
{
    const cq_visit_slot *way[MAX_LEVELS];
    size_t               n        = 0;
    bool                 has_name = first != NULL;

    for (; slot && n < MAX_LEVELS; slot = slot->outer)
        way[n++] = slot;
    if (first && n)
        add_part(out, way[--n], first);
    while (n-- > 0) {
        const char *name = part_name(way[n]);

        has_name |= name != NULL;
        add_part(out, way[n], name);
    }
    CQ_TRY(out->status);
    if (slot || !has_name || out->len > MAX_NAME)
        cq_str_clear(out);
    return CQ_OK;
}
