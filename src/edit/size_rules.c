/* Finds what depends on the old sizes of a model's inputs. Every size that inference knows has its
 * value at the old sizes as its example, so that a constant can be compared with the sizes around
 * it: a Reshape to [1, 2048] of [batch, 2048, 1, 1], whose batch was 1, is one to [batch, 2048]. */
#include "edit/sizes.h"

#include "base/alloc.h"
#include "onnx/tensor.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { MAX_UNIFORM = 1 << 22 /* bytes of a constant that are compared */ };

static bool is_op(const cq_rule *r, const char *op)
{
    return r->node->op_type && strcmp(r->node->op_type, op) == 0;
}

static cq_status add_trouble(cq_size_change *c, const cq_rule *r, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static cq_status add_trouble(cq_size_change *c, const cq_rule *r, const char *format, ...)
{
    const cq_onnx_node *n = r->node;
    va_list             args;
    char                why[200];

    if (cq_ptr_map_get(&c->troubled, n))
        return CQ_OK;
    CQ_TRY(cq_ptr_map_set(&c->troubled, n, c));
    va_start(args, format);
    vsnprintf(why, sizeof why, format, args);
    va_end(args);
    if (c->n_troubles++ < 20)
        cq_str_printf(&c->troubles, "%s%s (%s): %s", c->n_troubles > 1 ? "; " : "",
                      n->name && *n->name ? n->name
                      : n->output.n       ? n->output.items[0]
                                          : "node",
                      n->op_type, why);
    return CQ_OK;
}

static cq_size_fix *add_fix(cq_size_change *c, const cq_rule *r, cq_onnx_graph *graph, size_t input,
                            cq_size_fix_kind kind)
{
    const void  *slot = &r->node->input.items[input];
    cq_size_fix *f = cq_ptr_map_get(&c->by_slot, slot); /* of an earlier visit of a loop's body */

    if (!f) {
        f = cq_arena_zalloc(r->arena, sizeof *f);
        if (!f || cq_ptr_map_set(&c->by_slot, slot, f) != CQ_OK)
            return NULL;
        f->next  = c->fixes;
        c->fixes = f;
    }
    *f = (cq_size_fix){ .next  = f->next,
                        .node  = (cq_onnx_node *)r->node,
                        .graph = graph,
                        .input = input,
                        .kind  = kind };
    return f;
}

/* ---- what is known ---- */

/* Whether a size depends on the inputs' sizes; symbols of data-dependent sizes belong to no input.
 */
static bool is_dynamic(cq_dim d)
{
    if (!d.known || !d.size.expr)
        return false;
    for (size_t i = 0; i < d.size.expr->n_terms; i++)
        for (int k = 0; k < d.size.expr->terms[i].n_atoms; k++) {
            const cq_atom *a = d.size.expr->terms[i].atoms[k];

            if (a->input)
                return true;
            for (size_t j = 0; j < a->n_symbols; j++)
                if (a->symbols[j]->input)
                    return true;
        }
    return false;
}

static bool has_dynamic(const cq_itype *t)
{
    for (size_t i = 0; t && i < t->rank; i++)
        if (is_dynamic(t->dims[i]))
            return true;
    return false;
}

static bool all_known(const cq_itype *t)
{
    for (size_t i = 0; t && i < t->rank; i++)
        if (!t->dims[i].known)
            return false;
    return t != NULL;
}

/* Integers of an input that do not depend on the sizes; false: they do, or are not known. */
static bool plain_list(cq_rule *r, size_t input, int64_t *out, size_t *n)
{
    return cq_rule_has(r, input) && cq_rule_plain_ints(r, input, out, n, CQ_MAX_RANK);
}

/* Replaces what inference knows of an input by a list of integers. */
static cq_status give_elements(cq_rule *r, size_t input, const cq_int *items, size_t n)
{
    cq_ivalue *v    = cq_arena_copy(r->arena, r->inputs[input], sizeof *v);
    cq_idata  *data = cq_arena_zalloc(r->arena, sizeof *data + n * sizeof *data->items);

    if (!v || !data)
        return CQ_E_NO_MEMORY;
    data->n = n;
    for (size_t i = 0; i < n; i++)
        data->items[i] = (cq_ielem){ .kind = CQ_INUM_INT, .i = items[i] };
    v->data          = data;
    v->tensor        = NULL;
    r->inputs[input] = v;
    return CQ_OK;
}

static cq_status fix_elements(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph, size_t input,
                              const cq_int *items, size_t n)
{
    cq_size_fix *f = add_fix(c, r, graph, input, CQ_SIZE_ELEMENTS);

    if (!f)
        return CQ_E_NO_MEMORY;
    f->n = n;
    memcpy(f->items, items, n * sizeof *items);
    return give_elements(r, input, items, n);
}

/* ---- Reshape ---- */

/* The factors of a dynamic size: [batch, 12] of 12*batch; a sum is one factor. */
static size_t factors_of(cq_int *out, size_t room, cq_symbols *table, cq_int size)
{
    const cq_term *t = &size.expr->terms[0];

    if (size.expr->n_terms != 1 || (size_t)t->n_atoms > room || t->n_atoms == 0) {
        out[0] = size;
        return room ? 1 : 0;
    }
    for (int i = 0; i < t->n_atoms; i++)
        out[i] = cq_size_of_atom(table, t->atoms[i]);
    return (size_t)t->n_atoms;
}

/* The target axis of a factor: one that it fills, otherwise the first that it divides. */
static size_t axis_for(const int64_t *rest, size_t n, int64_t value)
{
    size_t found = n;

    for (size_t j = 0; j < n; j++) {
        if (rest[j] == value)
            return j;
        if (found == n && value > 0 && rest[j] % value == 0)
            found = j;
    }
    return found;
}

/* Axes from[0 .. n_from) become axes with the sizes old[0 .. n_to): out. False: no factor fits. */
static bool distribute(cq_int *out, cq_symbols *table, const cq_dim *from, size_t n_from,
                       const int64_t *old, size_t n_to)
{
    int64_t rest[CQ_MAX_RANK];
    cq_int  factors[CQ_MAX_RANK * 2];
    size_t  n = 0;

    for (size_t i = 0; i < n_from; i++)
        if (is_dynamic(from[i]))
            n += factors_of(factors + n, CQ_MAX_RANK * 2 - n, table, from[i].size);
    memcpy(rest, old, n_to * sizeof *rest);
    for (size_t j = 0; j < n_to; j++)
        out[j] = cq_i(1);
    for (size_t i = 0; i < n; i++) {
        const size_t j = axis_for(rest, n_to, factors[i].value);

        if (j == n_to)
            return false;
        out[j] = cq_int_mul(table, out[j], factors[i]);
        rest[j] /= factors[i].value ? factors[i].value : 1;
    }
    for (size_t j = 0; j < n_to; j++)
        out[j] = cq_int_mul(table, out[j], cq_i(rest[j]));
    return true;
}

/* A dynamic axis of size 1 is missing in the target. The rows of [35, batch, 200] to [35, 200] are
 * 35*batch; if the axis after it is split into heads, [35, batch, 768] to [35, 12, 64], it is
 * joined with the heads. */
static bool joins_left(const cq_itype *x, size_t i, int64_t next)
{
    return i + 1 < x->rank && is_dynamic(x->dims[i]) && x->dims[i].size.value == 1 && next != 1 &&
           x->dims[i + 1].size.value == next;
}

/* Both shapes fall into groups of axes with the same number of elements, from the left. */
static bool align(cq_int *out, cq_symbols *table, const cq_itype *x, const int64_t *old, size_t n)
{
    size_t i = 0, j = 0;

    while (i < x->rank || j < n) {
        const size_t first_i = i, first_j = j;
        int64_t      a, b;

        if (j > 0 && j < n && joins_left(x, i, old[j])) {
            out[j - 1] = cq_int_mul(table, out[j - 1], x->dims[i++].size);
            continue;
        }
        a = i < x->rank ? x->dims[i++].size.value : 1;
        b = j < n ? old[j++] : 1;
        while (a != b) {
            if (a < b && i < x->rank)
                a *= x->dims[i++].size.value;
            else if (b < a && j < n)
                b *= old[j++];
            else
                return false;
            if (a > INT64_C(1) << 40 || b > INT64_C(1) << 40)
                return false;
        }
        while (j == n && i < x->rank && x->dims[i].size.value == 1)
            i++;
        if (first_j == j) { /* axes of size 1 after the last group */
            for (size_t k = first_i; k < i; k++)
                if (is_dynamic(x->dims[k]))
                    return false;
            continue;
        }
        if (!distribute(out + first_j, table, x->dims + first_i, i - first_i, old + first_j,
                        j - first_j))
            return false;
    }
    return true;
}

/* 0 and -1 of a Reshape as the sizes that they stood for; false: they do not fit. */
static bool resolve_target(int64_t *target, size_t n, const cq_itype *x, bool zero_is_0)
{
    int64_t all = 1, others = 1;
    size_t  rest = n;

    for (size_t i = 0; i < x->rank; i++)
        if (__builtin_mul_overflow(all, x->dims[i].size.value, &all))
            return false;
    for (size_t i = 0; i < n; i++) {
        if (target[i] == 0 && !zero_is_0)
            target[i] = i < x->rank ? x->dims[i].size.value : 0;
        if (target[i] == -1)
            rest = i;
        else if (target[i] <= 0 || __builtin_mul_overflow(others, target[i], &others))
            return false;
    }
    if (rest < n && all % others == 0)
        target[rest] = all / others;
    return rest < n ? all % others == 0 : all == others;
}

/* Unchanged sizes become 0 and one other dynamic size becomes -1, if that expresses all of them. */
static void use_wildcards(cq_int *items, size_t n, const cq_itype *x)
{
    size_t n_open = 0, open = 0;

    for (size_t i = 0; i < n; i++) {
        if (!items[i].expr && items[i].value == 0)
            return;
        if (items[i].expr && !(i < x->rank && cq_int_same(items[i], x->dims[i].size))) {
            n_open++;
            open = i;
        }
    }
    if (n_open > 1)
        return;
    for (size_t i = 0; i < n; i++)
        if (items[i].expr)
            items[i] = cq_i(n_open && i == open ? -1 : 0);
}

static cq_status reshape(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x         = cq_rule_shaped(r, 0);
    const bool      zero_is_0 = cq_rule_int(r, "allowzero", 0) != 0;
    int64_t         given[CQ_MAX_RANK], old[CQ_MAX_RANK];
    cq_int          items[CQ_MAX_RANK];
    size_t          n;
    bool            same = true;

    if (!has_dynamic(x) || !all_known(x) || !plain_list(r, 1, given, &n))
        return CQ_OK;
    memcpy(old, given, n * sizeof *old);
    if (!resolve_target(old, n, x, zero_is_0))
        return CQ_OK;
    if (!align(items, r->symbols, x, old, n))
        return add_trouble(c, r, "its shape cannot be derived from the new sizes");
    for (size_t i = 0; i < n; i++)
        same &=
            given[i] == -1 || cq_int_is(items[i], given[i]) ||
            (given[i] == 0 && !zero_is_0 && i < x->rank && cq_int_same(items[i], x->dims[i].size));
    if (same)
        return CQ_OK;
    if (!zero_is_0)
        use_wildcards(items, n, x);
    return fix_elements(c, r, graph, 1, items, n);
}

/* ---- Expand, Slice, Split, Resize ---- */

static cq_status expand(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    int64_t         given[CQ_MAX_RANK];
    cq_int          items[CQ_MAX_RANK];
    size_t          n;
    bool            changed = false;

    if (!has_dynamic(x) || !plain_list(r, 1, given, &n))
        return CQ_OK;
    for (size_t i = 0; i < n; i++) {
        const size_t k = i + x->rank - n;

        items[i] = cq_i(given[i]);
        if (i + x->rank < n || !is_dynamic(x->dims[k]) || given[i] == 1 ||
            given[i] != x->dims[k].size.value)
            continue;
        items[i] = cq_i(1);
        changed  = true;
    }
    return changed ? fix_elements(c, r, graph, 1, items, n) : CQ_OK;
}

/* An end that was the size of its axis is the end of the axis. */
static cq_status slice(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    int64_t         ends[CQ_MAX_RANK], axes[CQ_MAX_RANK];
    cq_int          items[CQ_MAX_RANK];
    size_t          n, n_axes = 0;
    bool            changed = false;

    if (!has_dynamic(x) || r->version < 10 || !plain_list(r, 2, ends, &n) ||
        (cq_rule_has(r, 3) && (!plain_list(r, 3, axes, &n_axes) || n_axes != n)))
        return CQ_OK;
    for (size_t i = 0; i < n; i++) {
        int64_t axis = n_axes ? axes[i] : (int64_t)i;

        axis += axis < 0 ? (int64_t)x->rank : 0;
        items[i] = cq_i(ends[i]);
        if (axis < 0 || axis >= (int64_t)x->rank || !is_dynamic(x->dims[axis]) ||
            ends[i] != x->dims[axis].size.value)
            continue;
        items[i] = cq_i(INT64_MAX);
        changed  = true;
    }
    return changed ? fix_elements(c, r, graph, 2, items, n) : CQ_OK;
}

static cq_status split(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype     *x    = cq_rule_shaped(r, 0);
    const cq_onnx_ints *attr = cq_rule_ints(r, "split");
    int64_t             parts[CQ_MAX_RANK];
    cq_int              items[CQ_MAX_RANK];
    size_t              axis, n;

    if (!has_dynamic(x) || (!attr && !plain_list(r, 1, parts, &n)))
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
    if (!is_dynamic(x->dims[axis]))
        return CQ_OK;
    n = attr ? attr->n : n;
    for (size_t i = 0; i < n && n <= CQ_MAX_RANK; i++) {
        if ((attr ? attr->items[i] : parts[i]) != (attr ? attr->items[0] : parts[0]))
            return add_trouble(c, r, "it splits the axis of size %s into unequal parts",
                               x->dims[axis].size.expr->text);
        items[i] = cq_int_floordiv(r->symbols, x->dims[axis].size, cq_i((int64_t)n));
    }
    if (attr)
        return add_fix(c, r, graph, 0, CQ_SIZE_DROP_ATTR) ? CQ_OK : CQ_E_NO_MEMORY;
    return n <= CQ_MAX_RANK ? fix_elements(c, r, graph, 1, items, n) : CQ_OK;
}

static cq_status resize(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    int64_t         sizes[CQ_MAX_RANK];
    cq_int          items[CQ_MAX_RANK];
    size_t          n;
    bool            changed = false;

    if (!has_dynamic(x) || !plain_list(r, 3, sizes, &n) || n != x->rank)
        return CQ_OK;
    for (size_t i = 0; i < n; i++) {
        const cq_int  in  = x->dims[i].size;
        const int64_t old = in.value;

        items[i] = cq_i(sizes[i]);
        if (!is_dynamic(x->dims[i]) || old < 1 || sizes[i] < 1)
            continue;
        if (sizes[i] % old == 0)
            items[i] = cq_int_mul(r->symbols, in, cq_i(sizes[i] / old));
        else if (old % sizes[i] == 0)
            items[i] = cq_int_floordiv(r->symbols, in, cq_i(old / sizes[i]));
        else
            continue; /* a separate size, not a multiple */
        changed = true;
    }
    return changed ? fix_elements(c, r, graph, 3, items, n) : CQ_OK;
}

/* ---- inputs whose sizes must be those of others ---- */

/* Whether all slices of a constant along an axis are equal. */
static bool is_uniform(const cq_size_change *c, const cq_ivalue *v, size_t axis)
{
    cq_tensor *t = v->tensor ? cq_opset_constant(&c->edit, v->name) : NULL;
    bool       same;
    int64_t    outer = 1, inner = 1;

    if (!t)
        return false;
    for (size_t i = 0; i < cq_tensor_rank(t); i++)
        *(i < axis ? &outer : &inner) *= i == axis ? 1 : cq_tensor_size(t, i);
    same = axis < cq_tensor_rank(t) &&
           cq_tensor_numel(t) * (int64_t)cq_dtype_size(cq_tensor_dtype(t)) <= MAX_UNIFORM;
    if (same) {
        const int64_t size = cq_tensor_size(t, axis);
        const size_t  row  = (size_t)inner * cq_dtype_size(cq_tensor_dtype(t));
        const char   *data = cq_tensor_data(t);

        for (int64_t o = 0; o < outer; o++)
            for (int64_t k = 1; k < size && same; k++)
                same = memcmp(data + (size_t)(o * size) * row, data + (size_t)(o * size + k) * row,
                              row) == 0;
    }
    cq_tensor_release(t);
    return same;
}

/* Makes the size of an input along an axis the wanted one, if it was before. broadcasts: a size of
 * 1 is as good. */
static cq_status fit(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph, size_t input, size_t axis,
                     cq_dim wanted, bool broadcasts)
{
    const cq_itype *t = cq_rule_shaped(r, input);
    cq_size_fix    *f;
    cq_ivalue      *v;
    cq_dim         *dims;
    bool            uniform;

    if (!t || axis >= t->rank || !is_dynamic(wanted) || !cq_dim_is_plain(t->dims[axis]) ||
        t->dims[axis].size.value != wanted.size.value ||
        (broadcasts && t->dims[axis].size.value == 1))
        return CQ_OK;
    uniform = t->dims[axis].size.value > 1 && is_uniform(c, r->inputs[input], axis);
    if (r->version < 10)
        return add_trouble(c, r, "its input %zu has a fixed size; convert to opset 10 first",
                           input);
    f = c->fixes;
    if (!f || f->node != r->node || f->input != input || f->kind != CQ_SIZE_FIT) {
        f = add_fix(c, r, graph, input, CQ_SIZE_FIT);
        if (!f)
            return CQ_E_NO_MEMORY;
        f->n = t->rank;
        for (size_t i = 0; i < t->rank; i++)
            f->items[i] = t->dims[i].known ? t->dims[i].size : cq_i(1);
    }
    dims = cq_arena_copy(r->arena, t->dims, t->rank * sizeof *dims);
    v    = cq_arena_copy(r->arena, r->inputs[input], sizeof *v);
    if (!dims || !v)
        return CQ_E_NO_MEMORY;
    f->is_uniform |= uniform;
    f->slices |= (uint64_t)(t->dims[axis].size.value > 1) << axis;
    f->expands |= (uint64_t)(!broadcasts && (uniform || t->dims[axis].size.value == 1)) << axis;
    f->items[axis]   = uniform && broadcasts ? cq_i(1) : wanted.size;
    dims[axis]       = (cq_dim){ true, f->items[axis] };
    v->type.dims     = dims;
    v->data          = NULL;
    v->tensor        = NULL;
    r->inputs[input] = v;
    return CQ_OK;
}

static cq_status concat(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *first = cq_rule_shaped(r, 0);
    size_t          axis;

    if (!first)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 1), first->rank));
    for (size_t k = 0; k < first->rank; k++) {
        cq_dim wanted = { 0 };

        for (size_t i = 0; i < r->n_inputs && !is_dynamic(wanted); i++) {
            const cq_itype *t = cq_rule_shaped(r, i);

            if (t && k < t->rank)
                wanted = t->dims[k];
        }
        for (size_t i = 0; i < r->n_inputs && k != axis && is_dynamic(wanted); i++)
            CQ_TRY(fit(c, r, graph, i, k, wanted, false));
    }
    return CQ_OK;
}

static cq_status broadcast(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    for (size_t back = 1; back <= CQ_MAX_RANK; back++) {
        cq_dim wanted = { 0 };

        for (size_t i = 0; i < r->n_inputs && !is_dynamic(wanted); i++) {
            const cq_itype *t = cq_rule_shaped(r, i);

            if (t && back <= t->rank && is_dynamic(t->dims[t->rank - back]))
                wanted = t->dims[t->rank - back];
        }
        for (size_t i = 0; i < r->n_inputs && is_dynamic(wanted); i++) {
            const cq_itype *t = cq_rule_shaped(r, i);

            if (t && back <= t->rank)
                CQ_TRY(fit(c, r, graph, i, t->rank - back, wanted, true));
        }
    }
    return CQ_OK;
}

static cq_status recurrent(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const bool      first = cq_rule_int(r, "layout", 0) != 0;
    const cq_itype *x     = cq_rule_shaped(r, 0);

    if (!x || x->rank != 3)
        return CQ_OK;
    CQ_TRY(fit(c, r, graph, 4, 0, x->dims[first ? 0 : 1], false));
    CQ_TRY(fit(c, r, graph, 5, first ? 0 : 1, x->dims[first ? 0 : 1], false));
    return fit(c, r, graph, 6, first ? 0 : 1, x->dims[first ? 0 : 1], false);
}

/* Indices along all axes but one: GatherElements, ScatterElements. */
static cq_status gather_elements(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x = cq_rule_shaped(r, 0);
    size_t          axis;

    if (!x)
        return CQ_OK;
    CQ_TRY(cq_rule_axis(&axis, r, cq_rule_int(r, "axis", 0), x->rank));
    for (size_t i = 1; i < r->n_inputs; i++)
        for (size_t k = 0; k < x->rank; k++)
            if (k != axis)
                CQ_TRY(fit(c, r, graph, i, k, x->dims[k], false));
    return CQ_OK;
}

static cq_status grid_sample(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x = cq_rule_shaped(r, 0);

    return x && x->rank ? fit(c, r, graph, 1, 0, x->dims[0], false) : CQ_OK;
}

/* ---- what cannot follow ---- */

static cq_status squeeze(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const cq_itype *x      = cq_rule_shaped(r, 0);
    cq_status       status = CQ_OK;
    uint64_t        axes   = 0;

    (void)graph;
    if (!has_dynamic(x))
        return CQ_OK;
    if (cq_rule_axes(&status, r, 1, x->rank, &axes) == CQ_GIVEN_UNKNOWN || status != CQ_OK)
        return status;
    for (size_t i = 0; i < x->rank; i++)
        if ((axes >> i & 1) && is_dynamic(x->dims[i]) && x->dims[i].size.value == 1)
            return add_trouble(c, r, "it removes axis %zu, whose size is %s", i,
                               x->dims[i].size.expr->text);
    return CQ_OK;
}

static cq_status matmul(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph)
{
    const bool      is_gemm = is_op(r, "Gemm");
    const cq_itype *a = cq_rule_shaped(r, 0), *b = cq_rule_shaped(r, 1);
    cq_dim          x, y;

    (void)graph;
    if (!a || !b || a->rank < 1 || b->rank < 2 || (is_gemm && a->rank != 2))
        return CQ_OK;
    x = a->dims[is_gemm && cq_rule_int(r, "transA", 0) ? 0 : a->rank - 1];
    y = b->dims[is_gemm && cq_rule_int(r, "transB", 0) ? 1 : b->rank - 2];
    if (is_dynamic(x) && cq_dim_is_plain(y))
        return add_trouble(c, r, "its weight has %lld rows but the size is %s",
                           (long long)y.size.value, x.size.expr->text);
    return CQ_OK;
}

/* ---- the table ---- */

typedef cq_status (*size_rule)(cq_size_change *c, cq_rule *r, cq_onnx_graph *graph);

static const struct {
    const char *op;
    size_rule   rule;
} rules[] = {
    { "Reshape", reshape },
    { "Expand", expand },
    { "Slice", slice },
    { "Split", split },
    { "Resize", resize },
    { "Concat", concat },
    { "RNN", recurrent },
    { "GRU", recurrent },
    { "LSTM", recurrent },
    { "GatherElements", gather_elements },
    { "ScatterElements", gather_elements },
    { "GridSample", grid_sample },
    { "Squeeze", squeeze },
    { "MatMul", matmul },
    { "Gemm", matmul },
};

static const char *const broadcasting[] = {
    "Add",   "And", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Max",
    "Mean",  "Min", "Mod", "Mul",   "Or",      "PRelu",          "Pow",  "Sub",         "Sum",
    "Where", "Xor",
};

cq_status cq_size_rules_apply(void *change, cq_rule *r, cq_onnx_graph *graph)
{
    cq_size_change *c  = change;
    const char     *op = r->node->op_type, *domain = r->node->domain;

    if (!op || (domain && *domain && strcmp(domain, "ai.onnx") != 0))
        return CQ_OK;
    r->version = cq_onnx_imported(&c->edit.m->opset_import, "");
    CQ_TRY(cq_onnx_schema_find(&r->schema, "", op, r->version));
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (strcmp(rules[i].op, op) == 0)
            return rules[i].rule(c, r, graph);
    for (size_t i = 0; i < sizeof broadcasting / sizeof *broadcasting; i++)
        if (strcmp(broadcasting[i], op) == 0)
            return broadcast(c, r, graph);
    return CQ_OK;
}
