/* Operators with subgraphs: If, Loop, Scan, SequenceMap. */
#include "runtime/kernels/families.h"
#include "runtime/kernels/join.h"

#include <inttypes.h>
#include <string.h>

/* ---- arrays of owned values ---- */

static cq_val *new_values(size_t n)
{
    cq_val *values = cq_alloc_array(n ? n : 1, sizeof *values);

    if (values)
        memset(values, 0, (n ? n : 1) * sizeof *values);
    return values;
}

static void free_values(cq_val *values, size_t n)
{
    for (size_t i = 0; values && i < n; i++)
        cq_val_release(values[i]);
    cq_free(values);
}

/* Moves values to the node's outputs from first on and releases surplus values. */
static cq_status set_outputs(cq_rt *rt, size_t first, cq_val *values, size_t n)
{
    for (size_t i = 0; i < n && first + i < rt->n_out; i++) {
        CQ_TRY(cq_rt_set(rt, first + i, values[i]));
        values[i] = CQ_NONE;
    }
    return CQ_OK;
}

/* ---- If ---- */

static cq_status condition(bool *out, cq_val v)
{
    if (v.kind != CQ_VAL_TENSOR || cq_tensor_numel(v.u.tensor) != 1)
        return cq_fail(CQ_E_TYPE, NULL, NULL, "expected a condition with one element");
    *out = cq_tensor_get_i64(v.u.tensor, 0) != 0;
    return CQ_OK;
}

static cq_status run_if(cq_rt *rt)
{
    const cq_rt_plan *plan;
    cq_val           *out;
    cq_status         status;
    bool              yes;

    CQ_TRY(condition(&yes, rt->in[0]));
    plan = cq_rt_graph(rt, yes ? "then_branch" : "else_branch");
    if (plan->n_outputs < rt->n_out)
        return cq_fail(CQ_E_INVALID, NULL, NULL, "a branch has %u outputs, the node %zu",
                       plan->n_outputs, rt->n_out);
    out = new_values(plan->n_outputs);
    if (!out)
        return CQ_E_NO_MEMORY;
    status = cq_rt_run_graph(rt, plan, NULL, 0, out, plan->n_outputs);
    if (status == CQ_OK)
        status = set_outputs(rt, 0, out, plan->n_outputs);
    free_values(out, plan->n_outputs);
    return status;
}

/* ---- scan outputs ---- */

typedef struct collection {
    size_t   n;
    cq_list *lists[]; /* one list per scan output */
} collection;

static void collection_free(collection *c)
{
    for (size_t i = 0; c && i < c->n; i++)
        if (c->lists[i])
            cq_val_release(cq_val_of_list(c->lists[i]));
    cq_free(c);
}

static cq_status collection_new(collection **out, size_t n)
{
    collection *c = *out = cq_zalloc(sizeof *c + n * sizeof *c->lists);

    if (!c)
        return CQ_E_NO_MEMORY;
    c->n = n;
    for (size_t i = 0; i < n; i++)
        CQ_TRY(cq_list_new(&c->lists[i], 0));
    return CQ_OK;
}

static cq_status collect(collection *c, const cq_val *values)
{
    for (size_t i = 0; i < c->n; i++)
        CQ_TRY(cq_list_push(c->lists[i], values[i]));
    return CQ_OK;
}

/* The scan output of a loop without iterations: an empty tensor of the shape that the subgraph
 * declares. */
static cq_status empty_scan_output(cq_tensor **out, cq_rt *rt, const cq_onnx_type *type)
{
    const cq_onnx_tensor_type *t     = type ? type->tensor_type : NULL;
    cq_dtype                   dtype = t ? cq_dtype_from_onnx(t->elem_type) : CQ_DTYPE_NONE;
    cq_rt_sizes                sizes = { .rank = 1, .at = { 0 } };

    for (uint32_t i = 0; t && t->shape && i < t->shape->dim.n && sizes.rank < CQ_MAX_RANK; i++) {
        const cq_onnx_dim *dim = t->shape->dim.items[i];

        sizes.at[sizes.rank++] =
            cq_onnx_has(dim, CQ_ONNX_DIM_VALUE) && dim->dim_value >= 0 ? dim->dim_value : 0;
    }
    return cq_rt_temp(out, rt, dtype == CQ_DTYPE_NONE ? CQ_DTYPE_F32 : dtype, sizes.rank, sizes.at);
}

static const cq_onnx_graph *body_of(const cq_rt *rt)
{
    return cq_rt_attr_given(rt, "body")->g;
}

/* Sets output i of the node to collected values, stacked along axis. */
static cq_status set_collected(cq_rt *rt, size_t i, const cq_list *list, int64_t axis,
                               const cq_onnx_type *type)
{
    cq_tensor *y;

    if (!cq_rt_wants(rt, i))
        return CQ_OK;
    if (list->n)
        CQ_TRY(cq_rt_join(&y, rt, list->items, list->n, axis, true));
    else
        CQ_TRY(empty_scan_output(&y, rt, type));
    return cq_rt_set_tensor(rt, i, y);
}

/* ---- Loop ---- */

/* Runs an iteration. `in` has its number, the condition and the loop-carried values; `out` gets the
 * same without the number, followed by the scan outputs. The carried values in `in` are replaced by
 * the new ones. */
static cq_status run_iteration(cq_rt *rt, const cq_rt_plan *plan, cq_val *in, cq_val *out,
                               size_t n_carried, collection *c)
{
    cq_status status = cq_rt_run_graph(rt, plan, in, n_carried + 2, out, n_carried + 1 + c->n);

    if (status == CQ_OK)
        status = collect(c, out + 1 + n_carried);
    for (size_t i = 0; i < n_carried + 1 && status == CQ_OK; i++) {
        cq_val_release(in[i + 1]);
        in[i + 1] = out[i];
        out[i]    = CQ_NONE;
    }
    for (size_t i = 0; i < n_carried + 1 + c->n; i++) {
        cq_val_release(out[i]);
        out[i] = CQ_NONE;
    }
    return status;
}

static cq_status set_turn(cq_val *to, cq_rt *rt, int64_t turn)
{
    cq_tensor *t;

    CQ_TRY(cq_rt_temp(&t, rt, CQ_DTYPE_I64, 0, NULL));
    *(int64_t *)cq_tensor_data(t) = turn;
    cq_val_release(*to);
    *to = cq_val_of_tensor(t);
    return CQ_OK;
}

static cq_status loop_turns(cq_rt *rt, const cq_rt_plan *plan, cq_val *in, cq_val *out,
                            size_t n_carried, collection *c)
{
    int64_t   limit;
    cq_status status = CQ_OK;
    bool      going  = true;

    CQ_TRY(cq_rt_in_i64(&limit, rt, 0, INT64_MAX));
    if (cq_rt_has_in(rt, 1))
        CQ_TRY(condition(&going, in[1]));
    for (int64_t i = 0; i < limit && going && status == CQ_OK; i++) {
        status = set_turn(&in[0], rt, i);
        if (status == CQ_OK)
            status = run_iteration(rt, plan, in, out, n_carried, c);
        if (status == CQ_OK)
            status = condition(&going, in[1]);
    }
    return status;
}

static cq_status loop(cq_rt *rt)
{
    const cq_rt_plan *plan      = cq_rt_graph(rt, "body");
    size_t            n_carried = rt->n_in > 2 ? rt->n_in - 2 : 0;
    collection       *c         = NULL;
    cq_val           *in = NULL, *out = NULL;
    cq_status         status;

    if (plan->n_inputs != n_carried + 2 || plan->n_outputs < n_carried + 1)
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "the loop body has %u inputs and %u outputs, which does not match %zu "
                       "loop-carried values",
                       plan->n_inputs, plan->n_outputs, n_carried);
    CQ_TRY_OR_DONE(collection_new(&c, plan->n_outputs - n_carried - 1));
    in  = new_values(n_carried + 2);
    out = new_values(plan->n_outputs);
    CQ_TRY_OR_DONE(in && out ? CQ_OK : CQ_E_NO_MEMORY);
    for (size_t i = 1; i < rt->n_in; i++)
        in[i] = cq_val_retain(rt->in[i]);
    if (in[1].kind == CQ_VAL_NONE) { /* without a condition the body receives true */
        static const bool yes = true;
        cq_tensor        *t;

        CQ_TRY_OR_DONE(cq_tensor_new(&t, CQ_DTYPE_BOOL, 0, NULL, &yes));
        in[1] = cq_val_of_tensor(t);
    }
    CQ_TRY_OR_DONE(loop_turns(rt, plan, in, out, n_carried, c));
    CQ_TRY_OR_DONE(set_outputs(rt, 0, in + 2, n_carried));
    for (size_t i = 0; i < c->n; i++)
        CQ_TRY_OR_DONE(set_collected(rt, n_carried + i, c->lists[i], 0,
                                     body_of(rt)->output.items[1 + n_carried + i]->type));
done:
    collection_free(c);
    free_values(in, n_carried + 2);
    free_values(out, plan->n_outputs);
    return status;
}

/* ---- Scan ---- */

typedef struct scan {
    const cq_rt_plan *plan;
    size_t            n_states, n_scanned, n_collected;
    const cq_val     *given;        /* state variables, then scan inputs */
    int64_t           n_iterations; /* number of iterations */
    uint32_t         *axes;         /* of the scan inputs */
    cq_val           *in, *out;
} scan;

static int64_t list_at(const cq_rt *rt, const char *name, size_t i)
{
    const cq_onnx_attribute *a = cq_rt_attr_given(rt, name);

    return a && i < a->ints.n ? a->ints.items[i] : 0;
}

/* The slice of scan input i for an iteration, without the scan axis. */
static cq_status scanned_slice(cq_val *to, const scan *s, size_t i, int64_t turn, bool backwards)
{
    const cq_tensor *x = s->given[s->n_states + i].u.tensor;
    cq_tensor       *part;

    CQ_TRY(cq_rt_select(&part, x, s->axes[i], backwards ? s->n_iterations - 1 - turn : turn));
    cq_val_release(*to);
    *to = cq_val_of_tensor(part);
    return CQ_OK;
}

/* Runs all iterations; the final states are in s->in, the scan outputs in c. */
static cq_status run_iterations(cq_rt *rt, scan *s, const char *directions, collection *c)
{
    size_t    n_out  = s->n_states + s->n_collected;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < s->n_states; i++) {
        cq_val_release(s->in[i]);
        s->in[i] = cq_val_retain(s->given[i]);
    }
    for (int64_t turn = 0; turn < s->n_iterations && status == CQ_OK; turn++) {
        for (size_t i = 0; i < s->n_scanned && status == CQ_OK; i++)
            status =
                scanned_slice(&s->in[s->n_states + i], s, i, turn, list_at(rt, directions, i) != 0);
        if (status == CQ_OK)
            status = cq_rt_run_graph(rt, s->plan, s->in, s->n_states + s->n_scanned, s->out, n_out);
        if (status == CQ_OK)
            status = collect(c, s->out + s->n_states);
        for (size_t i = 0; i < n_out; i++) {
            if (i < s->n_states && status == CQ_OK) {
                cq_val_release(s->in[i]);
                s->in[i] = s->out[i];
            } else {
                cq_val_release(s->out[i]);
            }
            s->out[i] = CQ_NONE;
        }
    }
    return status;
}

static void scan_clear(scan *s)
{
    free_values(s->in, s->n_states + s->n_scanned);
    free_values(s->out, s->n_states + s->n_collected);
    cq_free(s->axes);
}

/* `given` has the node's inputs without sequence_lens. */
static cq_status scan_init(scan *s, cq_rt *rt, const cq_val *given, size_t n_given)
{
    int64_t n_scanned = cq_rt_int(rt, "num_scan_inputs");

    *s = (scan){ .plan = cq_rt_graph(rt, "body"), .given = given };
    if (n_scanned < 1 || (uint64_t)n_scanned > n_given || s->plan->n_inputs != n_given ||
        s->plan->n_outputs < n_given - (size_t)n_scanned)
        return cq_fail(CQ_E_INVALID, NULL, NULL,
                       "the body has %u inputs and %u outputs, the node %zu inputs with %" PRId64
                       " to scan",
                       s->plan->n_inputs, s->plan->n_outputs, n_given, n_scanned);
    for (size_t i = n_given - (size_t)n_scanned; i < n_given; i++)
        if (given[i].kind != CQ_VAL_TENSOR || !given[i].u.tensor->rank)
            return cq_fail(CQ_E_TYPE, NULL, NULL, "input %zu of a Scan cannot be scanned", i);
    s->n_scanned   = (size_t)n_scanned;
    s->n_states    = n_given - s->n_scanned;
    s->n_collected = s->plan->n_outputs - s->n_states;
    s->in          = new_values(n_given);
    s->out         = new_values(s->plan->n_outputs);
    s->axes        = cq_alloc_array(s->n_scanned, sizeof *s->axes);
    return s->in && s->out && s->axes ? CQ_OK : CQ_E_NO_MEMORY;
}

/* Checks that all scan inputs have the same length. */
static cq_status count_iterations(scan *s)
{
    for (size_t i = 0; i < s->n_scanned; i++) {
        const cq_tensor *x = s->given[s->n_states + i].u.tensor;

        if (i && cq_size_of(x, s->axes[i]) != s->n_iterations)
            return cq_rt_misfit(s->given[s->n_states].u.tensor, x);
        s->n_iterations = cq_size_of(x, s->axes[i]);
    }
    return CQ_OK;
}

/* Reverses a list that was collected in the order of iterations. */
static void reverse_list(cq_list *list)
{
    for (size_t i = 0; i < list->n / 2; i++) {
        cq_val swap                  = list->items[i];
        list->items[i]               = list->items[list->n - 1 - i];
        list->items[list->n - 1 - i] = swap;
    }
}

static cq_status run_scan(cq_rt *rt)
{
    collection *c = NULL;
    scan        s;
    cq_status   status = scan_init(&s, rt, rt->in, rt->n_in);

    for (size_t i = 0; i < s.n_scanned && status == CQ_OK; i++)
        status = cq_rt_axis(&s.axes[i], list_at(rt, "scan_input_axes", i),
                            s.given[s.n_states + i].u.tensor->rank);
    if (status == CQ_OK)
        status = count_iterations(&s);
    if (status == CQ_OK)
        status = collection_new(&c, s.n_collected);
    if (status == CQ_OK)
        status = run_iterations(rt, &s, "scan_input_directions", c);
    if (status == CQ_OK)
        status = set_outputs(rt, 0, s.in, s.n_states);
    for (size_t i = 0; i < s.n_collected && status == CQ_OK; i++) {
        if (list_at(rt, "scan_output_directions", i))
            reverse_list(c->lists[i]);
        status = set_collected(rt, s.n_states + i, c->lists[i], list_at(rt, "scan_output_axes", i),
                               body_of(rt)->output.items[s.n_states + i]->type);
    }
    collection_free(c);
    scan_clear(&s);
    return status;
}

/* In version 8 all values have a leading batch axis, axis 1 is scanned, and each example ends at
 * its sequence_lens. Examples run one after the other, and their results are stacked. */
static cq_status take_example(cq_val *to, const cq_val *from, size_t n, int64_t example)
{
    for (size_t i = 0; i < n; i++) {
        const cq_tensor *x = from[i].kind == CQ_VAL_TENSOR ? from[i].u.tensor : NULL;
        cq_tensor       *part;

        if (!x || !x->rank || example >= cq_size_of(x, 0))
            return cq_fail(CQ_E_TYPE, NULL, NULL, "input %zu of a Scan has no example %" PRId64, i,
                           example);
        CQ_TRY(cq_rt_select(&part, x, 0, example));
        cq_val_release(to[i]);
        to[i] = cq_val_of_tensor(part);
    }
    return CQ_OK;
}

/* Runs one example; appends its states and its stacked scan outputs to results. */
static cq_status scan_example(cq_rt *rt, const cq_val *given, size_t n, int64_t limit,
                              collection *results)
{
    collection *c = NULL;
    scan        s;
    cq_status   status = scan_init(&s, rt, given, n);

    for (size_t i = 0; i < s.n_scanned && status == CQ_OK; i++)
        s.axes[i] = 0;
    if (status == CQ_OK)
        status = count_iterations(&s);
    s.n_iterations = limit >= 0 && limit < s.n_iterations ? limit : s.n_iterations;
    if (status == CQ_OK)
        status = collection_new(&c, s.n_collected);
    if (status == CQ_OK)
        status = run_iterations(rt, &s, "directions", c);
    for (size_t i = 0; i < results->n && status == CQ_OK; i++) {
        cq_tensor *stacked = NULL;

        if (i >= s.n_states)
            status = cq_rt_join(&stacked, rt, c->lists[i - s.n_states]->items,
                                c->lists[i - s.n_states]->n, 0, true);
        if (status == CQ_OK)
            status = cq_list_push(results->lists[i],
                                  i < s.n_states ? s.in[i] : cq_val_of_tensor(stacked));
        cq_tensor_release(stacked);
    }
    collection_free(c);
    scan_clear(&s);
    return status;
}

static cq_status run_scan_of_batch(cq_rt *rt)
{
    const cq_tensor *first   = rt->n_in > 1 ? cq_rt_in(rt, 1) : NULL;
    const cq_tensor *lengths = cq_rt_in(rt, 0);
    collection      *results = NULL;
    size_t           n       = rt->n_in ? rt->n_in - 1 : 0;
    cq_val          *given   = new_values(n);
    cq_status        status  = given ? CQ_OK : CQ_E_NO_MEMORY;

    if (status == CQ_OK && (!first || !first->rank))
        status = cq_fail(CQ_E_TYPE, NULL, NULL,
                         "expected inputs with a batch axis for Scan of version 8");
    if (status == CQ_OK)
        status = collection_new(&results, cq_rt_graph(rt, "body")->n_outputs);
    for (int64_t b = 0; status == CQ_OK && b < cq_size_of(first, 0); b++) {
        int64_t limit =
            lengths && b < cq_tensor_numel(lengths) ? cq_tensor_get_i64(lengths, b) : -1;

        status = take_example(given, rt->in + 1, n, b);
        if (status == CQ_OK)
            status = scan_example(rt, given, n, limit, results);
    }
    for (size_t i = 0; status == CQ_OK && i < results->n; i++)
        status = set_collected(rt, i, results->lists[i], 0, NULL);
    collection_free(results);
    free_values(given, n);
    return status;
}

/* ---- SequenceMap ---- */

static cq_status map_turn(cq_rt *rt, const cq_rt_plan *plan, size_t turn, cq_val *out,
                          collection *c)
{
    cq_val   *in = new_values(rt->n_in);
    cq_status status;

    if (!in)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < rt->n_in; i++) {
        const cq_list *list = rt->in[i].kind == CQ_VAL_LIST ? rt->in[i].u.list : NULL;

        if (list && turn >= list->n) {
            cq_free(in);
            return cq_fail(CQ_E_TYPE, NULL, NULL, "sequence %zu has %zu items, expected more", i,
                           list->n);
        }
        in[i] = list ? list->items[turn] : rt->in[i]; /* borrowed */
    }
    status = cq_rt_run_graph(rt, plan, in, rt->n_in, out, plan->n_outputs);
    if (status == CQ_OK)
        status = collect(c, out);
    for (size_t i = 0; i < plan->n_outputs; i++) {
        cq_val_release(out[i]);
        out[i] = CQ_NONE;
    }
    cq_free(in);
    return status;
}

static cq_status sequence_map(cq_rt *rt)
{
    const cq_rt_plan *plan   = cq_rt_graph(rt, "body");
    collection       *c      = NULL;
    cq_val           *out    = new_values(plan->n_outputs);
    cq_status         status = out ? collection_new(&c, plan->n_outputs) : CQ_E_NO_MEMORY;

    if (status == CQ_OK && rt->in[0].kind != CQ_VAL_LIST)
        status = cq_fail(CQ_E_TYPE, NULL, NULL, "expected a sequence as first input");
    for (size_t i = 0; status == CQ_OK && i < rt->in[0].u.list->n; i++)
        status = map_turn(rt, plan, i, out, c);
    for (size_t i = 0; status == CQ_OK && i < rt->n_out && i < c->n; i++)
        status = cq_rt_set(rt, i, cq_val_retain(cq_val_of_list(c->lists[i])));
    collection_free(c);
    free_values(out, plan->n_outputs);
    return status;
}

const cq_rt_row cq_rt_rows_control[] = {
    { "If", 1, run_if, CQ_RT_TEXT_OWN, 0 },
    { "Loop", 1, loop, CQ_RT_TEXT_OWN | CQ_RT_NO_FOLDING, 0 },
    { "Scan", 8, run_scan_of_batch, CQ_RT_TEXT_OWN | CQ_RT_NO_FOLDING, 0 },
    { "Scan", 9, run_scan, CQ_RT_TEXT_OWN | CQ_RT_NO_FOLDING, 0 },
    { "SequenceMap", 17, sequence_map, CQ_RT_TEXT_OWN, 0 },
    { 0 },
};
