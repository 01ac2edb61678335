/* Fits the weights of a file to the parameters and buffers of a model. */
#include "archive/weights.h"

#include "base/str.h"

#include <stdio.h>
#include <string.h>

enum { MAX_PREFIXES = 64, MAX_PARTS = 4, MAX_LISTED = 12 };

static const char compiled[] = "_orig_mod."; /* torch.compile puts it into names */

typedef struct fitting {
    cq_weights       *weights;
    cq_weights_slots *slots;
    cq_map            by_name; /* the weights under their new names, to the index from 1 on */
    const char      **names;   /* the new name of each weight */
    cq_map            slot_names;
} fitting;

/* ---- names ---- */

/* The name without the prefix, and without parts that torch.compile inserts. */
static const char *rename_weight(cq_arena *arena, const char *name, const char *prefix)
{
    char *out, *at;

    if (cq_starts_with(name, prefix))
        name += strlen(prefix);
    if (!strstr(name, compiled))
        return name;
    out = cq_arena_strdup(arena, name);
    while (out && (at = strstr(out, compiled)))
        memmove(at, at + sizeof compiled - 1, strlen(at + sizeof compiled - 1) + 1);
    return out;
}

static size_t count_fitting(const fitting *f, cq_arena *scratch, const char *prefix)
{
    const cq_weights *w = f->weights;
    size_t            n = 0;

    for (size_t i = 0; i < w->items.n; i++) {
        const char *name = rename_weight(scratch, w->items.items[i].name, prefix);

        n += name && cq_map_has(&f->slot_names, name);
    }
    return n;
}

/* The parts of names in front of dots: module., model., module.model. and so on. */
static size_t find_prefixes(const cq_weights *w, cq_arena *arena, const char **out)
{
    cq_map seen = { 0 };
    size_t n    = 0;

    for (size_t i = 0; i < w->items.n && n < MAX_PREFIXES; i++) {
        const char *name = w->items.items[i].name, *dot = name;

        for (int part = 0; part < MAX_PARTS && n < MAX_PREFIXES; part++) {
            char *prefix;

            dot = strchr(dot, '.');
            if (!dot)
                break;
            dot++;
            if (cq_map_get_n(&seen, name, (size_t)(dot - name)))
                continue;
            prefix = cq_arena_strndup(arena, name, (size_t)(dot - name));
            if (!prefix || cq_map_set(&seen, prefix, prefix) != CQ_OK)
                break;
            out[n++] = prefix;
        }
    }
    cq_map_clear(&seen);
    return n;
}

/* The prefix whose removal makes most names match slots; "" unless that is an improvement. */
static const char *best_prefix(const fitting *f, cq_arena *arena)
{
    const char *prefixes[MAX_PREFIXES], *best = "";
    size_t      most = count_fitting(f, arena, "");
    size_t      n    = most < f->slots->n ? find_prefixes(f->weights, arena, prefixes) : 0;

    for (size_t i = 0; i < n; i++) {
        const size_t count = count_fitting(f, arena, prefixes[i]);

        if (count > most) {
            most = count;
            best = prefixes[i];
        }
    }
    return best;
}

static cq_status name_weights(fitting *f)
{
    cq_weights *w = f->weights;
    const char *prefix;
    bool        renamed = false;

    for (size_t i = 0; i < f->slots->n; i++)
        CQ_TRY(cq_map_set(&f->slot_names, f->slots->items[i].name, &f->slots->items[i]));
    prefix   = best_prefix(f, w->arena);
    f->names = cq_arena_array(w->arena, w->items.n + 1, sizeof *f->names);
    if (!f->names)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < w->items.n; i++) {
        const char *name = w->items.items[i].name;

        f->names[i] =
            cq_map_has(&f->slot_names, name) ? name : rename_weight(w->arena, name, prefix);
        if (!f->names[i])
            return CQ_E_NO_MEMORY;
        renamed |= f->names[i] != name && cq_map_has(&f->slot_names, f->names[i]);
        if (!cq_map_has(&f->by_name, f->names[i]))
            CQ_TRY(cq_map_set(&f->by_name, f->names[i], (void *)(uintptr_t)(i + 1)));
    }
    if (renamed)
        cq_str_printf(&w->note, "%sthe prefix '%s' was removed from the names of weights",
                      w->note.len ? "; " : "", *prefix ? prefix : compiled);
    return w->note.status;
}

/* ---- problems ---- */

typedef struct problems {
    cq_str missing, unexpected, misshapen;
    size_t n_missing, n_unexpected, n_misshapen;
} problems;

static void list_key(cq_str *s, size_t *n, const char *name)
{
    if ((*n)++ < MAX_LISTED)
        cq_str_printf(s, "%s\"%.100s\"", s->len ? ", " : "", name);
}

static void put_shape(cq_str *s, const cq_tensor *t)
{
    cq_str_add(s, "torch.Size([");
    for (size_t i = 0; i < t->rank; i++)
        cq_str_printf(s, "%s%lld", i ? ", " : "", (long long)t->sizes[i].value);
    cq_str_add(s, "])");
}

static void list_shapes(problems *p, const char *name, const cq_tensor *found,
                        const cq_tensor *like)
{
    if (p->n_misshapen++ >= MAX_LISTED / 2)
        return;
    cq_str_printf(&p->misshapen, "\n  size mismatch for %.100s: copying a param with shape ", name);
    put_shape(&p->misshapen, found);
    cq_str_add(&p->misshapen, " from checkpoint, the shape in current model is ");
    put_shape(&p->misshapen, like);
    cq_str_add(&p->misshapen, ".");
}

static void put_keys(cq_str *out, const char *kind, const cq_str *keys, size_t n)
{
    if (!n)
        return;
    cq_str_printf(out, "\n  %s key(s) in state_dict: %s", kind, cq_str_text(keys));
    if (n > MAX_LISTED)
        cq_str_printf(out, " and %zu more", n - MAX_LISTED);
    cq_str_add(out, ".");
}

/* Adds a note with the keys that a load which is not strict did not find or did not use. */
static cq_status note_leniency(const problems *p, const fitting *f)
{
    cq_str *note = &f->weights->note;

    if (p->n_missing || p->n_unexpected)
        cq_str_printf(note, "%sthe weights fit in part:", note->len ? "; " : "");
    put_keys(note, "Missing", &p->missing, p->n_missing);
    put_keys(note, "Unexpected", &p->unexpected, p->n_unexpected);
    return note->status;
}

static cq_status report(const problems *p, const fitting *f, const char *model, uint32_t flags)
{
    const bool is_strict = !(flags & CQ_WEIGHTS_NOT_STRICT);
    const bool is_onnx   = flags & CQ_WEIGHTS_OF_ONNX;
    const bool only_keys = !p->n_misshapen;
    cq_str     text      = { 0 };
    cq_status  status    = CQ_OK;

    if (is_strict)
        put_keys(&text, "Missing", &p->missing, p->n_missing);
    else if (!is_onnx && only_keys)
        CQ_TRY(note_leniency(p, f));
    if (is_strict || is_onnx)
        put_keys(&text, "Unexpected", &p->unexpected, p->n_unexpected);
    cq_str_add(&text, cq_str_text(&p->misshapen));
    if (p->n_misshapen > MAX_LISTED / 2)
        cq_str_printf(&text, "\n  and %zu more", p->n_misshapen - MAX_LISTED / 2);
    if (text.status != CQ_OK)
        status = text.status;
    else if (text.len)
        status = cq_fail(CQ_E_TYPE, f->weights->path,
                         !only_keys ? NULL
                         : is_onnx  ? "exporters fold and rename weights; export the model again "
                                      "with these weights"
                                   : "--weights-not-strict (CQ_WEIGHTS_NOT_STRICT) accepts missing "
                                     "and unexpected keys",
                         "the weights do not fit %s:%s", model, cq_str_text(&text));
    cq_str_clear(&text);
    return status;
}

/* ---- values ---- */

static bool same_sizes(const cq_tensor *a, const cq_tensor *b)
{
    bool same = a->rank == b->rank;

    for (size_t i = 0; same && i < a->rank; i++)
        same = a->sizes[i].value == b->sizes[i].value;
    return same;
}

/* PyTorch before 0.4 saved scalars with one dimension. */
static cq_status take_scalar(cq_tensor **out, const cq_tensor *found, const cq_tensor *like)
{
    return cq_tensor_new_view(out, found, found->dtype, 0, NULL, NULL, found->offset) == CQ_OK &&
                   like->rank == 0
               ? CQ_OK
               : CQ_E_TYPE;
}

/* The weight in the dtype of the slot, in its own memory where that is possible. */
static cq_status take(cq_weights_slot *slot, const cq_tensor *found)
{
    cq_tensor *scalar = NULL;
    cq_status  status;

    if (slot->like->rank == 0 && found->rank == 1) {
        CQ_TRY(take_scalar(&scalar, found, slot->like));
        found = scalar;
    }
    status = CQ_OK;
    if (found->dtype == slot->like->dtype)
        slot->found = cq_tensor_retain((cq_tensor *)found);
    else
        status = cq_tensor_clone(&slot->found, found, slot->like->dtype);
    cq_tensor_release(scalar);
    return status;
}

/* PyTorch before 0.4.1 did not save how many batches a normalization has seen. */
static bool is_counter(const char *name)
{
    return cq_ends_with(name, "num_batches_tracked");
}

static cq_status fit_slot(fitting *f, cq_weights_slot *slot, problems *p)
{
    const size_t     at   = (size_t)cq_map_get(&f->by_name, slot->name);
    const cq_weight *item = at ? &f->weights->items.items[at - 1] : NULL;
    const cq_tensor *found;

    if (!item) {
        if (!slot->may_be_missing && !is_counter(slot->name))
            list_key(&p->missing, &p->n_missing, slot->name);
        return CQ_OK;
    }
    if (item->value.kind != CQ_VAL_TENSOR || !cq_tensor_has_data(item->value.u.tensor))
        return cq_fail(CQ_E_UNSUPPORTED, f->weights->path, NULL,
                       "the weight %.200s is quantized, sparse or without data", item->name);
    found = item->value.u.tensor;
    if (same_sizes(found, slot->like) ||
        (slot->like->rank == 0 && found->rank == 1 && found->sizes[0].value == 1))
        return take(slot, found);
    list_shapes(p, slot->name, found, slot->like);
    return CQ_OK;
}

cq_status cq_weights_fit(cq_weights *w, cq_weights_slots *slots, const char *model, uint32_t flags)
{
    fitting   f = { .weights = w, .slots = slots };
    problems  p = { .n_missing = 0 };
    cq_status status;

    CQ_TRY_OR_DONE(name_weights(&f));
    for (size_t i = 0; i < slots->n; i++)
        CQ_TRY_OR_DONE(fit_slot(&f, &slots->items[i], &p));
    for (size_t i = 0; i < w->items.n; i++)
        if (!cq_map_has(&f.slot_names, f.names[i]) &&
            !(flags & CQ_WEIGHTS_OF_ONNX && is_counter(f.names[i])))
            list_key(&p.unexpected, &p.n_unexpected, w->items.items[i].name);
    CQ_TRY_OR_DONE(report(&p, &f, model, flags));
done:
    cq_map_clear(&f.by_name);
    cq_map_clear(&f.slot_names);
    cq_str_clear(&p.missing);
    cq_str_clear(&p.unexpected);
    cq_str_clear(&p.misshapen);
    return status;
}

cq_status cq_weights_add_slot(cq_weights_slots *slots, const char *name, const cq_tensor *like,
                              bool may_be_missing)
{
    cq_weights_slot slot = { .like = like, .may_be_missing = may_be_missing };

    if (!slots->arena)
        slots->arena = cq_arena_new();
    slot.name = slots->arena ? cq_arena_strdup(slots->arena, name) : NULL;
    return slot.name ? cq_vec_push(slots, slot) : CQ_E_NO_MEMORY;
}

void cq_weights_slots_clear(cq_weights_slots *slots)
{
    for (size_t i = 0; i < slots->n; i++)
        cq_tensor_release(slots->items[i].found);
    cq_vec_clear(slots);
    cq_arena_free(slots->arena);
    slots->arena = NULL;
}
