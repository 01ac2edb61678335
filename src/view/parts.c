/* Groups long sequences of items into boxes. Identical neighbours become one box, "× 32". Longer
 * sequences are cut into parts where the fewest values cross. */
#include "view/view.h"

#include "onnx/text/text.h"

#include <stdio.h>

enum {
    FEWEST_REPEATS = 3,
    MOST_ITEMS     = 40, /* of a canvas */
    PART_ITEMS     = 24, /* of a part, about */
    MOST_PARTS     = 12
};

static uint64_t mix(uint64_t hash, uint64_t more)
{
    hash ^= more + 0x9e3779b97f4a7c15u + (hash << 6) + (hash >> 2);
    return hash * 0xff51afd7ed558ccdu;
}

static uint64_t mix_text(uint64_t hash, const char *text)
{
    return mix(hash, text ? cq_hash_bytes(text, strlen(text)) : 0);
}

/* ---- structural hash of a block ---- */

static bool discard(void *user, const char *text, size_t size)
{
    (void)user, (void)text, (void)size;
    return true;
}

static uint64_t hash_attributes(const cq_onnx_node *node)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < node->attribute.n; i++) {
        cq_onnx_attribute *a    = node->attribute.items[i];
        cq_onnx_attributes list = { &a, 1, 1 };
        cq_text_printer    p    = { .write = discard };

        if (!a->t && !a->g && !a->graphs.n && !a->tensors.n &&
            cq_text_add_attributes(&p, &list) == CQ_OK)
            sum += mix_text(1, cq_str_text(&p.s));
        else
            sum += mix_text(2, a->name);
        cq_str_clear(&p.s);
    }
    return sum;
}

/* Hashes an input: a value from inside the block by its distance, a weight by its type. All values
 * from outside have one hash. */
static uint64_t hash_op(const cq_view *v, const cq_view_op *op, uint32_t graph, uint32_t lo,
                        uint32_t position)
{
    uint64_t hash = mix_text(mix_text(3, cq_view_op_type(op)), op->node ? op->node->domain : "");

    if (!op->node)
        return mix(hash, position); /* inputs and outputs are never identical */
    hash = mix(hash, hash_attributes(op->node));
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        const cq_view_value *x =
            op->inputs[i] == CQ_VIEW_NONE ? NULL : &v->values.items[op->inputs[i]];

        if (!x)
            hash = mix(hash, 4);
        else if (x->weight != CQ_VIEW_NONE)
            hash = mix_text(mix(hash, 5), x->type);
        else if (x->graph == graph && x->producer > lo)
            hash = mix(hash, position + 1 - x->producer);
        else
            hash = mix(hash, 6);
    }
    for (uint32_t i = 0; i < op->n_outputs; i++)
        if (op->outputs[i] != CQ_VIEW_NONE)
            hash = mix_text(hash, v->values.items[op->outputs[i]].type);
    return mix(hash, op->n_bodies);
}

static uint64_t hash_range(const cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi)
{
    uint64_t hash = 0;

    for (uint32_t p = lo; p < hi; p++)
        hash = mix(hash, hash_op(v, &v->ops.items[v->graphs.items[graph].ops[p]], graph, lo, p));
    return hash;
}

/* ---- boxes of several items ---- */

static void add_up(cq_view_item *box, const cq_view_item *items, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        box->flops += items[i].flops;
        box->param_bytes += items[i].param_bytes;
        box->n_nodes += items[i].kind == CQ_VIEW_BOX
                            ? items[i].n_nodes + (items[i].op != CQ_VIEW_NONE)
                            : items[i].kind == CQ_VIEW_OP;
    }
}

static cq_status wrap(cq_view_item *box, cq_view *v, uint32_t graph, uint32_t depth,
                      const cq_view_item *items, size_t n)
{
    cq_view_items inner  = { 0 };
    cq_status     status = CQ_OK;

    box->kind = CQ_VIEW_BOX;
    box->op   = CQ_VIEW_NONE;
    box->lo   = items[0].lo;
    box->hi   = items[n - 1].hi;
    add_up(box, items, n);
    for (size_t i = 0; i < n && status == CQ_OK; i++)
        status = cq_vec_push(&inner, items[i]);
    if (status == CQ_OK)
        status = cq_view_split(v, graph, depth, &inner);
    if (status == CQ_OK)
        status = cq_view_canvas_of(&box->canvas, v, graph, box->lo, box->hi, &inner);
    if (status == CQ_OK)
        v->canvases.items[box->canvas].depth = depth;
    cq_vec_clear(&inner);
    return status;
}

/* "layers.1 … 31", or "1 … 31". */
static const char *label_of_run(cq_view *v, const cq_view_item *first, const cq_view_item *last)
{
    const char *dot = strrchr(last->label, '.');

    return cq_arena_printf(v->arena, "%s … %s", first->label, dot ? dot + 1 : last->label);
}

cq_status cq_view_fold_repeats(cq_view *v, uint32_t graph, uint32_t depth, cq_view_items *items)
{
    size_t n = 0;

    for (size_t i = 0; i < items->n; i++)
        if (items->items[i].kind == CQ_VIEW_BOX && items->items[i].op == CQ_VIEW_NONE)
            items->items[i].hash = hash_range(v, graph, items->items[i].lo, items->items[i].hi);
    for (size_t i = 0, end; i < items->n; i = end) {
        cq_view_item box = { 0 };

        for (end = i + 1; end < items->n && items->items[i].hash &&
                          items->items[end].hash == items->items[i].hash;
             end++)
            ;
        if (end - i < FEWEST_REPEATS || end - i == items->n) {
            /* A sequence of repeats only is shown in full, unless it is long. */
            if (end - i < FEWEST_REPEATS || end - i <= MOST_ITEMS / 4) {
                memmove(&items->items[n], &items->items[i], (end - i) * sizeof *items->items);
                n += end - i;
                continue;
            }
        }
        box.repeats    = (uint32_t)(end - i);
        box.class_name = items->items[i].class_name;
        box.path       = items->items[i].path;
        box.hash       = mix(items->items[i].hash, box.repeats);
        box.label      = label_of_run(v, &items->items[i], &items->items[end - 1]);
        if (!box.label)
            return CQ_E_NO_MEMORY;
        CQ_TRY(wrap(&box, v, graph, depth, &items->items[i], end - i));
        items->items[n++] = box;
    }
    items->n = n;
    return CQ_OK;
}

/* ---- parts ---- */

/* crossing[i]: values that items before i compute and items from i on read. */
static cq_status count_crossing(uint32_t *crossing, const cq_view *v, uint32_t graph,
                                const cq_view_items *items)
{
    const cq_view_graph *g  = &v->graphs.items[graph];
    const uint32_t       lo = items->items[0].lo, hi = items->items[items->n - 1].hi;
    uint32_t            *local = cq_alloc((hi - lo + 1) * sizeof *local);

    if (!local)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < items->n; i++)
        for (uint32_t p = items->items[i].lo; p < items->items[i].hi; p++)
            local[p - lo] = i;
    for (uint32_t p = lo; p < hi; p++) {
        const cq_view_op *op = &v->ops.items[g->ops[p]];

        for (uint32_t k = 0; k < op->n_outputs; k++) {
            const cq_view_value *x =
                op->outputs[k] == CQ_VIEW_NONE ? NULL : &v->values.items[op->outputs[k]];
            const uint32_t last = !x                  ? 0
                                  : x->last_use >= hi ? (uint32_t)items->n
                                  : x->last_use > p   ? local[x->last_use - lo]
                                                      : 0;

            if (last > local[p - lo]) { /* differences; summed below */
                crossing[local[p - lo] + 1]++;
                crossing[last + 1]--;
            }
        }
    }
    for (size_t i = 1; i <= items->n; i++)
        crossing[i] += crossing[i - 1];
    cq_free(local);
    return CQ_OK;
}

/* Finds the position for a cut near `at` that the fewest values cross; the nearest on a tie. */
static size_t best_cut(const uint32_t *crossing, size_t at, size_t window, size_t lowest,
                       size_t highest)
{
    size_t best = at;

    for (size_t d = 0; d <= window; d++) {
        if (at >= lowest + d && crossing[at - d] < crossing[best])
            best = at - d;
        if (at + d <= highest && crossing[at + d] < crossing[best])
            best = at + d;
    }
    return best;
}

/* "Conv × 12, Relu × 9": the most frequent operators. */
static const char *summary_of(cq_view *v, uint32_t graph, uint32_t lo, uint32_t hi)
{
    cq_map      counts  = { 0 };
    const char *text    = NULL;
    size_t      best[2] = { SIZE_MAX, SIZE_MAX };
    bool        failed  = false;

    for (uint32_t p = lo; p < hi && !failed; p++) {
        const char *op = cq_view_op_type(&v->ops.items[v->graphs.items[graph].ops[p]]);

        failed = *op &&
                 cq_map_set(&counts, op, (void *)((uintptr_t)cq_map_get(&counts, op) + 1)) != CQ_OK;
    }
    for (size_t i = 0; i < counts.n; i++)
        for (size_t k = 0; k < 2; k++)
            if (best[k] == SIZE_MAX ||
                (uintptr_t)counts.entries[i].value > (uintptr_t)counts.entries[best[k]].value) {
                best[1] = k ? i : best[0];
                best[0] = k ? best[0] : i;
                break;
            }
    if (!failed && best[0] != SIZE_MAX)
        text = best[1] == SIZE_MAX
                   ? cq_arena_strdup(v->arena, counts.entries[best[0]].key)
                   : cq_arena_printf(v->arena, "%s, %s …", counts.entries[best[0]].key,
                                     counts.entries[best[1]].key);
    cq_map_clear(&counts);
    return failed ? NULL : text ? text : "";
}

static cq_status make_part(cq_view_item *box, cq_view *v, uint32_t graph, uint32_t depth,
                           const cq_view_item *items, size_t n, size_t index, size_t count)
{
    *box = (cq_view_item){ .is_part = true };
    CQ_TRY(wrap(box, v, graph, depth, items, n));
    box->label      = cq_arena_printf(v->arena, "part %zu of %zu", index + 1, count);
    box->class_name = summary_of(v, graph, box->lo, box->hi);
    return box->label && box->class_name ? CQ_OK : CQ_E_NO_MEMORY;
}

/* Inputs at the beginning and outputs at the end stay outside of the parts. */
cq_status cq_view_split(cq_view *v, uint32_t graph, uint32_t depth, cq_view_items *items)
{
    size_t        from = 0, to = items->n, n_parts, size, at, made = 0;
    uint32_t     *crossing;
    cq_view_items out    = { 0 };
    cq_status     status = CQ_OK;

    if (items->n <= MOST_ITEMS)
        return CQ_OK;
    while (from < to && !v->ops.items[v->graphs.items[graph].ops[items->items[from].lo]].node)
        from++;
    while (to > from && !v->ops.items[v->graphs.items[graph].ops[items->items[to - 1].lo]].node)
        to--;
    if (to - from <= MOST_ITEMS / 2)
        return CQ_OK;
    crossing = cq_zalloc((items->n + 2) * sizeof *crossing);
    if (!crossing)
        return CQ_E_NO_MEMORY;
    status  = count_crossing(crossing, v, graph, items);
    n_parts = (to - from + PART_ITEMS - 1) / PART_ITEMS;
    n_parts = n_parts < 2 ? 2 : n_parts > MOST_PARTS ? MOST_PARTS : n_parts;
    size    = (to - from) / n_parts;
    for (size_t i = 0; i < from && status == CQ_OK; i++)
        status = cq_vec_push(&out, items->items[i]);
    for (at = from; at < to && status == CQ_OK; made++) {
        const size_t ideal = from + (to - from) * (made + 1) / n_parts;
        const size_t end   = made + 1 == n_parts ? to
                                                 : best_cut(crossing, ideal, size / 3, at + 1,
                                                            to - (n_parts - made - 1));
        cq_view_item box;

        status = make_part(&box, v, graph, depth, &items->items[at], end - at, made, n_parts);
        if (status == CQ_OK)
            status = cq_vec_push(&out, box);
        at = end;
    }
    for (size_t i = to; i < items->n && status == CQ_OK; i++)
        status = cq_vec_push(&out, items->items[i]);
    cq_free(crossing);
    if (status != CQ_OK) {
        cq_vec_clear(&out);
        return status;
    }
    cq_vec_clear(items);
    *items = out;
    return CQ_OK;
}
