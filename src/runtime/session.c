/* Sessions: the public interface of the runtime. Plans are built in plan.c and run in run.c. */
#include "runtime/value.h"

#include "base/sized.h"
#include "base/thread.h"
#include "onnx/file/wire.h"
#include "runtime/plan/workspace.h"
#include "runtime/run.h"
#include "runtime/plan/work.h"

#include <inttypes.h>
#include <string.h>

struct cq_session {
    const cq_onnx_model *model;
    cq_onnx_model       *owned; /* the model if the session owns it; otherwise NULL */
    cq_session_options   options;
    cq_arena            *arena;
    cq_rt_plan          *plan, *plans;
    cq_onnx_model       *expansions; /* decomposed forms of some operators */
    cq_map               inputs;     /* name to index + 1 */
    const char         **output_names;
    uint32_t            *positions; /* index of the input at each position of the command line */
    atomic_uint_fast64_t n_runs;
    double               weight_bytes;
    int64_t              prepared_bytes; /* bytes that the plan holds */
    uint64_t             available;      /* available memory when the session was prepared */
    cq_rt_pool           pool;
};

CQ_API void cq_session_options_init(cq_session_options *options)
{
    CQ_NEED_ELSE(options, );
    *options = (cq_session_options){ .struct_size = sizeof *options, .device = "CPU" };
}

CQ_API bool cq_session_supports_device(const char *device)
{
    return device && (!strcmp(device, "CPU") || !strcmp(device, "CPU:0"));
}

/* ---- creation ---- */

static cq_status read_options(cq_session_options *to, const cq_session_options *from)
{
    cq_session_options_init(to);
    CQ_TRY(cq_sized_take(to, from, "cq_session_options"));
    if (!cq_session_supports_device(to->device))
        return cq_fail(CQ_E_UNSUPPORTED, NULL, "the only device is CPU", "unknown device %s",
                       to->device ? to->device : "without a name");
    return CQ_OK;
}

/* Limits of a run for a given number of bytes: the memory of its tensors, and all allocations,
 * which include buffers of kernels and bookkeeping. 0: unlimited. */
typedef struct limits {
    uint64_t tensors;
    int64_t  heap;
} limits;

static limits limits_for(const cq_session *s, double input_bytes)
{
    enum { HOUSEKEEPING = 1 << 20 };
    const uint64_t given = s->options.max_memory;
    const int64_t  most  = cq_default_bytes(s->weight_bytes, input_bytes, s->available);

    if (given >= INT64_MAX / 4)
        return (limits){ 0 };
    if (given)
        return (limits){ given, 2 * (int64_t)given + HOUSEKEEPING };
    return (limits){ (uint64_t)most, most + most / 4 + HOUSEKEEPING };
}

/* The limit while a session is created. The user's limit applies to runs; here at least the default
 * is allowed. */
static int64_t limit_of_preparing(const cq_session *s)
{
    const int64_t most  = cq_default_bytes(s->weight_bytes, 0, s->available);
    const limits  given = limits_for(s, 0);

    return !given.heap || given.heap > most + most / 4 ? given.heap : most + most / 4;
}

/* By default the constants and packed weights of the plan count too. */
static cq_alloc_budget budget_of_run(const cq_session *s, limits most)
{
    return (cq_alloc_budget){ .limit = most.heap,
                              .used  = s->options.max_memory ? 0 : s->prepared_bytes };
}

static cq_status name_inputs(cq_session *s)
{
    const cq_onnx_graph *g = s->model->graph;

    for (uint32_t i = 0; i < g->input.n; i++)
        CQ_TRY(cq_map_set(&s->inputs, g->input.items[i]->name, (void *)(uintptr_t)(i + 1)));
    return CQ_OK;
}

static cq_status order_inputs(cq_session *s)
{
    uint32_t n = s->plan->n_inputs, at = 0;

    s->positions = cq_arena_array(s->arena, n, sizeof *s->positions);
    if (!s->positions)
        return CQ_E_NO_MEMORY;
    for (int with_default = 0; with_default < 2; with_default++)
        for (uint32_t i = 0; i < n; i++)
            if ((s->plan->defaults[i].kind != CQ_VAL_NONE) == with_default)
                s->positions[at++] = i;
    return CQ_OK;
}

static cq_status name_outputs(cq_session *s)
{
    const cq_onnx_graph *g = s->model->graph;

    s->output_names = cq_arena_array(s->arena, s->plan->n_outputs, sizeof *s->output_names);
    if (!s->output_names)
        return CQ_E_NO_MEMORY;
    for (uint32_t i = 0; i < s->plan->n_outputs; i++) {
        const char *name =
            i < g->output.n ? g->output.items[i]->name : s->options.fetch[i - g->output.n];

        s->output_names[i] = cq_arena_strdup(s->arena, name);
        if (!s->output_names[i])
            return CQ_E_NO_MEMORY;
    }
    return CQ_OK;
}

static cq_status prepare(cq_session *s)
{
    bool               fold    = !(s->options.flags & CQ_SESSION_NO_FOLDING);
    bool               trap    = s->options.flags & CQ_SESSION_TRAP_NAN; /* of single nodes */
    cq_rt_plan_options options = { .fetch      = s->options.fetch,
                                   .n_fetch    = s->options.n_fetch,
                                   .expansions = &s->expansions,
                                   .fold       = fold,
                                   .optimize   = fold && !trap };

    s->arena = cq_arena_new();
    if (!s->arena)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_rt_plan_new(&s->plan, &s->plans, s->arena, s->model, &options));
    CQ_TRY(name_inputs(s));
    CQ_TRY(order_inputs(s));
    return name_outputs(s);
}

/* Takes ownership of owned, also on failure; its nodes may be in any order. */
static cq_status session_new(cq_session **out, const cq_onnx_model *model, cq_onnx_model *owned,
                             const cq_session_options *options)
{
    cq_session *s = *out = cq_zalloc(sizeof *s);
    cq_status   status   = s ? CQ_OK : CQ_E_NO_MEMORY;

    if (!s) {
        cq_onnx_model_free(owned);
        return status;
    }
    s->model = model;
    s->owned = owned;
    status   = read_options(&s->options, options);
    if (status == CQ_OK && owned)
        status = cq_onnx_model_sort(&(bool){ false }, owned);
    s->weight_bytes = cq_rt_bytes(model, NULL, 0);
    s->available    = cq_alloc_available();
    cq_rt_pool_init(&s->pool);
    if (status == CQ_OK) {
        cq_alloc_budget before =
            cq_alloc_set_budget((cq_alloc_budget){ .limit = limit_of_preparing(s) });

        status            = prepare(s);
        s->prepared_bytes = cq_alloc_set_budget(before).used;
    }
    s->options.fetch = NULL; /* the array belonged to the caller */
    if (status != CQ_OK) {
        cq_session_free(s);
        *out = NULL;
    }
    return status;
}

CQ_API cq_status cq_session_prepare(cq_session **out, const cq_onnx_model *model,
                                    const cq_session_options *options)
{
    CQ_NEED_OUT(out, model);
    return session_new(out, model, NULL, options);
}

CQ_API cq_status cq_session_prepare_file(cq_session **out, const char *path,
                                         const cq_session_options *options)
{
    CQ_NEED_OUT(out, path);
    cq_onnx_model *model;
    cq_status      status;

    *out = NULL;
    CQ_TRY(cq_onnx_model_load(&model, path));
    status = session_new(out, model, model, options);
    return status == CQ_OK ? CQ_OK : cq_error_add_where(status, "%s", path);
}

CQ_API cq_status cq_session_prepare_bytes(cq_session **out, const void *data, size_t size,
                                          const cq_session_options *options)
{
    CQ_NEED_OUT(out, (data || !size));
    cq_onnx_model *model;

    *out = NULL;
    CQ_TRY(cq_onnx_model_decode(&model, data, size));
    return session_new(out, model, model, options);
}

CQ_API void cq_session_free(cq_session *s)
{
    if (!s)
        return;
    cq_rt_plans_clear(s->plans);
    cq_rt_pool_clear(&s->pool);
    cq_map_clear(&s->inputs);
    cq_arena_free(s->arena);
    cq_onnx_model_free(s->expansions);
    cq_onnx_model_free(s->owned);
    cq_free(s);
}

/* ---- queries ---- */

CQ_API const cq_onnx_model *cq_session_model(const cq_session *s)
{
    CQ_NEED_ELSE(s, NULL);
    return s->model;
}

CQ_API size_t cq_session_n_inputs(const cq_session *s)
{
    CQ_NEED_ELSE(s, 0);
    return s->plan->n_inputs;
}

CQ_API size_t cq_session_n_outputs(const cq_session *s)
{
    CQ_NEED_ELSE(s, 0);
    return s->plan->n_outputs;
}

CQ_API const char *cq_session_input_name(const cq_session *s, size_t index)
{
    CQ_NEED_ELSE(s, NULL);
    return cq_onnx_model_value_name(s->model, CQ_ONNX_INPUTS, index);
}

CQ_API const char *cq_session_output_name(const cq_session *s, size_t index)
{
    CQ_NEED_ELSE(s, NULL);
    return index < s->plan->n_outputs ? s->output_names[index] : "";
}

CQ_API bool cq_session_input_is_optional(const cq_session *s, size_t index)
{
    CQ_NEED_ELSE(s, 0);
    const cq_onnx_graph *g = s->model->graph;

    return index < g->input.n &&
           (s->plan->defaults[index].kind != CQ_VAL_NONE ||
            (g->input.items[index]->type && g->input.items[index]->type->optional_type));
}

CQ_API size_t cq_session_input_at(const cq_session *s, size_t position)
{
    CQ_NEED_ELSE(s, position);
    return position < s->plan->n_inputs ? s->positions[position] : position;
}

CQ_API uint64_t cq_session_peak_memory(const cq_session *s)
{
    CQ_NEED_ELSE(s, 0);
    return cq_rt_pool_peak(&((cq_session *)s)->pool);
}

/* ---- inputs of a run ---- */

/* "float32", as in the description of a tensor, not ONNX's "float". */
static const char *element_name(int32_t type)
{
    const cq_dtype dtype = cq_dtype_from_onnx(type);
    const char    *name  = cq_onnx_element_name(type);

    return dtype != CQ_DTYPE_NONE ? cq_dtype_name(dtype) : name ? name : "unknown";
}

static cq_status check_input(const cq_onnx_value_info *info, cq_val v)
{
    const cq_onnx_type        *type = info->type;
    const cq_onnx_tensor_type *want = type ? type->tensor_type : NULL;
    char                       text[CQ_DESCRIBE_SIZE];
    const cq_tensor           *t;

    if (!want || v.kind == CQ_VAL_OBJECT) {
        if (want && want->elem_type != CQ_ONNX_STRING)
            return cq_fail(CQ_E_TYPE, info->name, NULL, "input %s gets strings, expected %s",
                           info->name, element_name(want->elem_type));
        return CQ_OK;
    }
    if (v.kind != CQ_VAL_TENSOR)
        return cq_fail(CQ_E_TYPE, info->name, NULL, "input %s expects a tensor", info->name);
    t = v.u.tensor;
    if (want->elem_type && cq_dtype_to_onnx(t->dtype) != want->elem_type)
        return cq_fail(CQ_E_TYPE, info->name, NULL, "input %s is %s, expected elements of type %s",
                       info->name, cq_tensor_describe(t, text, sizeof text),
                       element_name(want->elem_type));
    if (want->shape && want->shape->dim.n != t->rank)
        return cq_fail(CQ_E_TYPE, info->name, NULL, "input %s is %s, expected %u dimensions",
                       info->name, cq_tensor_describe(t, text, sizeof text), want->shape->dim.n);
    for (uint32_t i = 0; want->shape && i < t->rank; i++) {
        const cq_onnx_dim *dim = want->shape->dim.items[i];

        if (cq_onnx_has(dim, CQ_ONNX_DIM_VALUE) && dim->dim_value > 0 &&
            dim->dim_value != cq_size_of(t, i))
            return cq_fail(CQ_E_TYPE, info->name, NULL,
                           "input %s is %s, expected size %" PRId64 " in dimension %u", info->name,
                           cq_tensor_describe(t, text, sizeof text), dim->dim_value, i);
    }
    return CQ_OK;
}

static cq_status place_input(cq_val *to, const cq_session *s, const char *const *names, size_t i,
                             cq_val v)
{
    size_t index = i;

    if (names)
        index = (uintptr_t)cq_map_get(&s->inputs, names[i]) - 1;
    if (index >= s->plan->n_inputs && names)
        return cq_fail(CQ_E_NOT_FOUND, NULL, "calque print lists the inputs of a model",
                       "the model has no input %s", names[i]);
    if (index >= s->plan->n_inputs)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "there are more inputs than the model's %u",
                       s->plan->n_inputs);
    if (v.kind != CQ_VAL_NONE)
        CQ_TRY(check_input(s->model->graph->input.items[index], v));
    to[index] = v;
    return CQ_OK;
}

static cq_status check_all_given(const cq_session *s, const cq_val *inputs)
{
    for (uint32_t i = 0; i < s->plan->n_inputs; i++)
        if (inputs[i].kind == CQ_VAL_NONE && !cq_session_input_is_optional(s, i))
            return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "missing input %s",
                           cq_session_input_name(s, i));
    return CQ_OK;
}

/* ---- running ---- */

/* Makes outputs contiguous, which may be views. */
static cq_status tidy(cq_val *v)
{
    cq_tensor *t;

    if (v->kind == CQ_VAL_LIST) {
        cq_list *list;

        CQ_TRY(cq_list_new(&list, 0));
        for (size_t i = 0; i < v->u.list->n; i++) {
            cq_val    item   = cq_val_retain(v->u.list->items[i]);
            cq_status status = item.kind == CQ_VAL_LIST ? CQ_OK : tidy(&item);

            if (status == CQ_OK)
                status = cq_list_push(list, item);
            cq_val_release(item);
            if (status != CQ_OK) {
                cq_val_release(cq_val_of_list(list));
                return status;
            }
        }
        cq_val_release(*v);
        *v = cq_val_of_list(list);
        return CQ_OK;
    }
    if (v->kind != CQ_VAL_TENSOR || cq_tensor_is_contiguous(v->u.tensor))
        return CQ_OK;
    CQ_TRY(cq_tensor_contiguous(&t, v->u.tensor));
    cq_val_release(*v);
    *v = cq_val_of_tensor(t);
    return CQ_OK;
}

/* inputs has a value for each input of the plan. */
static cq_status run_plan(const cq_session *shared, const cq_val *inputs, cq_val *outputs)
{
    cq_session     *s      = (cq_session *)shared; /* its pool and counter are thread-safe */
    cq_rt_run       run    = { .traps_nan = s->options.flags & CQ_SESSION_TRAP_NAN,
                               .hook      = s->options.hook,
                               .hook_user = s->options.hook_user };
    const double    bytes  = cq_rt_bytes(NULL, inputs, s->plan->n_inputs) + s->weight_bytes;
    const limits    most   = limits_for(s, bytes - s->weight_bytes);
    cq_alloc_budget before = { 0 };
    cq_rt_lease     lease;
    cq_status       status;

    run.random     = atomic_fetch_add(&s->n_runs, 1);
    run.steps_left = s->options.max_steps ? s->options.max_steps : cq_rt_default_steps(bytes);
    if (!s->options.max_steps)
        cq_rt_allow_straight(&run, s->weight_bytes, inputs, s->plan->n_inputs);
    for (uint32_t i = 0; i < s->plan->n_outputs; i++)
        outputs[i] = CQ_NONE;
    CQ_TRY(check_all_given(s, inputs));
    if (most.heap)
        before = cq_alloc_set_budget(budget_of_run(s, most));
    status        = cq_rt_pool_take(&lease, &s->pool, inputs, s->plan->n_inputs, most.tensors);
    run.workspace = lease.workspace;
    if (status == CQ_OK) {
        const int threads = cq_use_threads(s->options.threads);

        status = cq_rt_plan_run(&run, s->plan, NULL, inputs, outputs);
        cq_use_threads(threads);
    }
    for (uint32_t i = 0; i < s->plan->n_outputs && status == CQ_OK; i++)
        status = tidy(&outputs[i]);
    if (status == CQ_OK)
        status = cq_rt_spend_on_outputs(&run, outputs, s->plan->n_outputs);
    if (run.workspace)
        cq_rt_pool_give_back(&s->pool, &lease, status == CQ_OK);
    if (most.heap)
        cq_alloc_set_budget(before);
    return status;
}

static void release_all(cq_val *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        cq_val_release(values[i]);
}

/* Allocates values for all inputs and outputs of a run, initialized to NONE. */
static cq_status new_arguments(cq_val **out, const cq_session *s)
{
    size_t n = (size_t)s->plan->n_inputs + s->plan->n_outputs + 1;

    *out = cq_alloc_array(n, sizeof **out);
    if (!*out)
        return CQ_E_NO_MEMORY;
    memset(*out, 0, n * sizeof **out);
    return CQ_OK;
}

CQ_API cq_status cq_session_run(const cq_session *s, const char *const *names,
                                cq_onnx_value *const *inputs, size_t n_inputs,
                                cq_onnx_value **outputs)
{
    CQ_NEED(s && (inputs || !n_inputs));
    size_t    n = s->plan->n_outputs;
    cq_val   *in, *out;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < n; i++)
        outputs[i] = NULL;
    CQ_TRY(new_arguments(&in, s));
    out = in + s->plan->n_inputs;
    for (size_t i = 0; i < n_inputs && status == CQ_OK; i++)
        status = place_input(in, s, names, i, inputs[i] ? inputs[i]->v : CQ_NONE);
    if (status == CQ_OK)
        status = run_plan(s, in, out);
    for (size_t i = 0; i < n && status == CQ_OK; i++) {
        status = cq_onnx_value_new(&outputs[i], out[i]); /* takes ownership */
        out[i] = CQ_NONE;
    }
    release_all(out, n);
    cq_free(in);
    for (size_t i = 0; i < n && status != CQ_OK; i++) {
        cq_onnx_value_release(outputs[i]);
        outputs[i] = NULL;
    }
    return status;
}

CQ_API cq_status cq_session_run_tensors(const cq_session *s, cq_tensor *const *inputs,
                                        size_t n_inputs, cq_tensor **outputs, size_t n_outputs)
{
    CQ_NEED(s && (inputs || !n_inputs) && (outputs || !n_outputs));
    size_t    n = s->plan->n_outputs;
    cq_val   *in, *out;
    cq_status status = CQ_OK;

    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    if (n_outputs > n)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "requested %zu outputs, but the model has %zu",
                       n_outputs, n);
    CQ_TRY(new_arguments(&in, s));
    out = in + s->plan->n_inputs;
    for (size_t i = 0; i < n_inputs && status == CQ_OK; i++)
        status = place_input(in, s, NULL, i, cq_val_of_tensor(inputs[i]));
    if (status == CQ_OK)
        status = run_plan(s, in, out);
    for (size_t i = 0; i < n_outputs && status == CQ_OK; i++)
        if (out[i].kind != CQ_VAL_TENSOR)
            status = cq_fail(CQ_E_TYPE, NULL, "use cq_session_run", "output %s is not a tensor",
                             cq_session_output_name(s, i));
    for (size_t i = 0; i < n_outputs && status == CQ_OK; i++)
        outputs[i] = cq_tensor_retain(out[i].u.tensor);
    release_all(out, n);
    cq_free(in);
    return status;
}

/* ---- single nodes ---- */

CQ_API cq_status cq_session_run_model(const cq_onnx_model *model, cq_onnx_value *const *inputs,
                                      size_t n_inputs, cq_onnx_value **outputs, size_t n_outputs,
                                      const char *device)
{
    CQ_NEED(model && (inputs || !n_inputs) && (outputs || !n_outputs));
    cq_session_options options;
    cq_session        *s;
    cq_status          status;

    cq_session_options_init(&options);
    options.device = device ? device : "CPU";
    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    CQ_TRY(cq_session_prepare(&s, model, &options));
    if (n_outputs != cq_session_n_outputs(s))
        status = cq_fail(CQ_E_ARGUMENT, NULL, NULL, "requested %zu outputs, but the model has %zu",
                         n_outputs, cq_session_n_outputs(s));
    else
        status = cq_session_run(s, NULL, inputs, n_inputs, outputs);
    cq_session_free(s);
    return status;
}

/* The index of the first use of the i-th input of a node: it may be used twice, as in Mul(x, x). */
static uint32_t first_use(const cq_onnx_node *node, uint32_t i)
{
    uint32_t first = 0;

    while (strcmp(node->input.items[first], node->input.items[i]) != 0)
        first++;
    return first;
}

/* A model that consists of the node. Its inputs have no declared types, so all types are
 * accepted. */
static cq_status model_of_node(cq_onnx_model **out, const void *bytes, size_t size, int64_t version,
                               size_t n_outputs)
{
    cq_onnx_model *m;
    cq_onnx_node  *node;
    uint32_t       wanted = 0;

    CQ_TRY(cq_onnx_model_new(&m, "node"));
    *out = m;
    /* A graph whose only field is the node is encoded as a tag (field 1) and the bytes of the
     * node. */
    node = cq_onnx_alloc(m, sizeof *node);
    if (!node)
        return CQ_E_NO_MEMORY;
    CQ_TRY(cq_onnx_decode(m, cq_onnx_graph_message.fields[1].message, node, bytes, size, "node"));
    cq_onnx_list_push(m, &m->graph->node, node);
    cq_onnx_model_add_opset(m, node->domain ? node->domain : "", version);
    if (node->domain && *node->domain)
        cq_onnx_model_add_opset(m, "", CQ_ONNX_OPSET_NEWEST);
    for (uint32_t i = 0; i < node->input.n; i++)
        if (*node->input.items[i] && first_use(node, i) == i)
            cq_onnx_add_value(m, &m->graph->input, node->input.items[i], NULL);
    for (uint32_t i = 0; i < node->output.n; i++)
        if (*node->output.items[i] && wanted++ < n_outputs)
            cq_onnx_add_value(m, &m->graph->output, node->output.items[i], NULL);
    return m->status;
}

CQ_API cq_status cq_session_run_node(const void *node, size_t node_size, int64_t version,
                                     cq_onnx_value *const *inputs, size_t n_inputs,
                                     cq_onnx_value **outputs, size_t n_outputs, const char *device)
{
    CQ_NEED(node && (inputs || !n_inputs) && (outputs || !n_outputs));
    cq_onnx_value **once = cq_alloc_array(n_inputs + 1, sizeof *once);
    cq_onnx_model  *m    = NULL;
    size_t          n = 0, given = 0;
    cq_status       status;

    for (size_t i = 0; i < n_outputs; i++)
        outputs[i] = NULL;
    if (!once)
        return CQ_E_NO_MEMORY;
    status = model_of_node(&m, node, node_size, version, n_outputs);
    if (status == CQ_OK) {
        const cq_onnx_names *names = &m->graph->node.items[0]->input;

        for (uint32_t i = 0; i < names->n && given < n_inputs; i++)
            if (*names->items[i] && first_use(m->graph->node.items[0], i) == i)
                once[n++] = inputs[given++];
            else
                given += *names->items[i] != '\0';
        while (given < n_inputs) /* surplus inputs are an error later */
            once[n++] = inputs[given++];
        status = cq_session_run_model(m, once, n, outputs, n_outputs, device);
    }
    cq_free(once);
    cq_onnx_model_free(m);
    return status;
}
