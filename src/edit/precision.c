/* Converts the floating-point type of a model. A node is converted if its schema accepts the target
 * and the user does not exclude it; all inputs and outputs of one type variable change together. A
 * value keeps its name in the old type; the converted one has a new name, and Casts are inserted
 * only between both kinds of nodes. Nodes with subgraphs, functions and operators of other domains
 * are unchanged. Weights are converted while they are written. */
#include "edit/opset.h"
#include "edit/proof.h"

#include "base/alloc.h"
#include "base/map.h"
#include "base/sized.h"
#include "onnx/infer/values.h"
#include "onnx/schema.h"
#include "onnx/tensor.h"
#include "tensor/dtype.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 64 };

#define MAX_RUN ((uint64_t)2 << 30) /* bytes of weights of a model that is run */
#define ALMOST  0.5 /* of the largest number of the type: other inputs may give larger values */

typedef struct precision {
    cq_onnx_model              *m;
    const cq_precision_options *options;
    int32_t                     from, to;  /* cq_onnx_data_type */
    cq_map                      types;     /* value -> its element type */
    cq_map                      constants; /* value -> cq_onnx_tensor */
    cq_map                      names;     /* all values */
    cq_map                      converted; /* value -> its name in the new type */
    cq_map                      needed;    /* values that something reads in the old type */
    cq_map                      large;     /* values that the new type cannot hold */
    cq_map                      levels;    /* values that DequantizeLinear gives */
    cq_map                      rounded;   /* values that QuantizeLinear reads */
    cq_map                      outputs;   /* with CQ_PRECISION_IO: value -> the model's output */
    CQ_ONNX_LIST(cq_onnx_node *) out;
    size_t n_made, n_kept;
} precision;

CQ_API void cq_precision_options_init(cq_precision_options *o)
{
    CQ_NEED_ELSE(o, );
    *o = (cq_precision_options){ .struct_size = sizeof *o };
}

/* ---- what is known of values ---- */

static cq_status learn(void *user, const cq_onnx_graph *graph, const cq_ivalue *v)
{
    precision *p = user;

    CQ_TRY(cq_map_set(&p->names, v->name, p));
    if (graph != p->m->graph || v->type.kind != CQ_IKIND_TENSOR)
        return CQ_OK;
    return cq_map_set(&p->types, v->name, (void *)(uintptr_t)v->type.elem);
}

static bool is_old(const precision *p, const char *name)
{
    return *name && (int32_t)(uintptr_t)cq_map_get(&p->types, name) == p->from;
}

static double limit_of(int32_t type)
{
    return type == CQ_ONNX_FLOAT16 ? 65504.0 : INFINITY;
}

static bool exceeds(const precision *p, const cq_tensor *t, double share)
{
    const double limit = limit_of(p->to) * share;

    for (int64_t i = 0; isfinite(limit) && i < cq_tensor_numel(t); i++) {
        const double x = fabs(cq_tensor_get_f64(t, i));

        if (isfinite(x) && x > limit)
            return true;
    }
    return false;
}

/* Runs the model on random inputs and notes values that the new type cannot hold. A model that
 * does not run tells nothing. */
static cq_status find_large(precision *p)
{
    static const cq_input_choice choices[] = { { .size = 2, .distinct = true, .below = 10 },
                                               { .size = 1, .below = 2 },
                                               { .size = 1, .below = 1 } };
    const cq_onnx_graph         *g         = p->m->graph;
    const char                 **fetch     = cq_zalloc((g->node.n * 4 + 1) * sizeof *fetch);
    size_t                       n         = 0, n_own;
    cq_session_options           options;
    cq_session                  *s      = NULL;
    cq_status                    status = CQ_OK;

    if (!fetch)
        return CQ_E_NO_MEMORY;
    for (size_t i = 0; i < g->node.n; i++)
        for (size_t k = 0; k < g->node.items[i]->output.n && k < 4; k++)
            if (is_old(p, g->node.items[i]->output.items[k]))
                fetch[n++] = g->node.items[i]->output.items[k];
    cq_session_options_init(&options);
    options.fetch   = fetch;
    options.n_fetch = n;
    if (cq_session_prepare(&s, p->m, &options) == CQ_OK) {
        bool done = false;

        n_own = cq_session_n_outputs(s) - n;
        for (size_t i = 0; i < sizeof choices / sizeof *choices && !done; i++) {
            cq_input_set    in  = { 0 };
            cq_onnx_value **got = cq_zalloc((n + n_own + 1) * sizeof *got);

            done = got && cq_input_set_random(&in, p->m, p->m, &choices[i], 0) == CQ_OK &&
                   cq_session_run(s, NULL, in.items, in.n, got) == CQ_OK;
            for (size_t k = 0; done && k < n && status == CQ_OK; k++) {
                const cq_tensor *t = cq_onnx_value_tensor(got[n_own + k]);

                if (t && exceeds(p, t, ALMOST))
                    status = cq_map_set(&p->large, fetch[k], p);
            }
            for (size_t k = 0; got && k < n + n_own; k++)
                cq_onnx_value_release(got[k]);
            cq_free(got);
            cq_input_set_clear(&in);
        }
    }
    cq_session_free(s);
    cq_free(fetch);
    return status;
}

/* The same of a weight, read piece by piece: its file may be larger than memory. */
static bool weight_exceeds(const precision *p, const cq_tensor *t)
{
    enum { AT_ONCE = 4096 };
    const float   limit = (float)limit_of(p->to);
    const int64_t count = cq_tensor_numel(t);

    if (t->dtype != CQ_DTYPE_F32 || !cq_tensor_is_contiguous(t))
        return exceeds(p, t, 1);
    for (int64_t done = 0, k; done < count; done += k) {
        float floats[AT_ONCE];

        k = count - done < AT_ONCE ? count - done : AT_ONCE;
        cq_mapping_copy(floats, cq_tensor_bytes(t) + done * (int64_t)sizeof *floats,
                        (size_t)k * sizeof *floats);
        for (int64_t i = 0; i < k; i++)
            if (isfinite(floats[i]) && fabsf(floats[i]) > limit)
                return true;
    }
    return false;
}

static uint64_t bytes_of_weights(const cq_onnx_graph *g)
{
    uint64_t total = 0;
    size_t   size;

    for (size_t i = 0; i < g->initializer.n; i++)
        total += cq_onnx_tensor_raw_size(&size, g->initializer.items[i]) == CQ_OK ? size : 0;
    return total;
}

static cq_status find_large_weights(precision *p)
{
    for (size_t i = 0; i < p->m->graph->initializer.n && isfinite(limit_of(p->to)); i++) {
        const cq_onnx_tensor *message = p->m->graph->initializer.items[i];
        cq_tensor            *t       = NULL;
        bool                  large;

        if (!message->name || message->data_type != p->from)
            continue;
        CQ_TRY(cq_onnx_tensor_in_place(&t, p->m, message));
        large = weight_exceeds(p, t);
        cq_tensor_release(t);
        if (large)
            CQ_TRY(cq_map_set(&p->large, message->name, p));
    }
    return CQ_OK;
}

/* ---- which nodes ---- */

static bool has_graph(const cq_onnx_node *n)
{
    for (size_t i = 0; i < n->attribute.n; i++)
        if (n->attribute.items[i]->g || n->attribute.items[i]->graphs.n)
            return true;
    return false;
}

static bool is_listed(const precision *p, const cq_onnx_node *n)
{
    for (size_t i = 0; i < p->options->n_keep; i++)
        if ((n->op_type && strcmp(p->options->keep[i], n->op_type) == 0) ||
            (n->name && strcmp(p->options->keep[i], n->name) == 0))
            return true;
    return false;
}

/* Results of these have a type that an attribute tells, or is always float32; integers of these
 * grow with sizes, which half precision cannot count. */
static bool stays(const char *op)
{
    static const char *const ops[] = { "Constant",
                                       "ConstantOfShape",
                                       "RandomNormal",
                                       "RandomUniform",
                                       "RandomNormalLike",
                                       "RandomUniformLike",
                                       "EyeLike",
                                       "Range",
                                       "CumSum",
                                       "QuantizeLinear",
                                       "DequantizeLinear",
                                       "DynamicQuantizeLinear",
                                       "NonMaxSuppression",
                                       "Multinomial",
                                       "Round",
                                       "Bernoulli",
                                       "Resize",
                                       "Upsample",
                                       "HannWindow" };

    return CQ_IS_AMONG(op, ops);
}

static const cq_onnx_schema *schema_of(const precision *p, const cq_onnx_node *n)
{
    const cq_onnx_schema *s = NULL;

    if ((n->domain && *n->domain && strcmp(n->domain, "ai.onnx") != 0) || !n->op_type ||
        cq_onnx_schema_find(&s, "", n->op_type, cq_onnx_imported(&p->m->opset_import, "")) != CQ_OK)
        return NULL;
    return s;
}

/* Whether a parameter has the type variable that changes. */
static bool changes(const precision *p, const cq_onnx_parameter *q)
{
    return q && q->constraint >= 0 && (q->types.of[CQ_ONNX_WRAP_TENSOR] >> p->to & 1);
}

static bool is_cast(const precision *p, const cq_onnx_node *n)
{
    const cq_onnx_attribute *to = cq_onnx_node_attr(n, "to");

    return n->op_type && strcmp(n->op_type, "Cast") == 0 && to && to->i == p->from &&
           !(n->domain && *n->domain);
}

static bool is_op(const cq_onnx_node *n, const char *op)
{
    return n->op_type && strcmp(n->op_type, op) == 0;
}

/* Notes the values that a quantized value is computed from, and the readers of quantized values.
 * Dequantized weights are ordinary floats. Round is quantization in plain arithmetic. */
static cq_status note_levels(precision *p, const cq_onnx_node *n)
{
    if (!n->input.n || !n->output.n)
        return CQ_OK;
    if (is_op(n, "Round") ||
        (is_op(n, "DequantizeLinear") && !cq_map_get(&p->constants, n->input.items[0])))
        CQ_TRY(cq_map_set(&p->levels, n->output.items[0], p));
    if (is_op(n, "Round") || is_op(n, "QuantizeLinear") || is_op(n, "DynamicQuantizeLinear"))
        CQ_TRY(cq_map_set(&p->rounded, n->input.items[0], p));
    return CQ_OK;
}

/* Everything that is computed from levels, and everything that levels are computed from. */
static cq_status spread_levels(precision *p)
{
    const cq_onnx_graph *g = p->m->graph;

    for (size_t i = 0; i < g->node.n; i++) {
        const cq_onnx_node *n     = g->node.items[i];
        bool                reads = false;

        for (size_t k = 0; k < n->input.n; k++)
            reads |= cq_map_get(&p->levels, n->input.items[k]) != NULL;
        for (size_t k = 0; k < n->output.n && reads; k++)
            if (*n->output.items[k])
                CQ_TRY(cq_map_set(&p->levels, n->output.items[k], p));
    }
    for (size_t i = g->node.n; i-- > 0;) {
        const cq_onnx_node *n     = g->node.items[i];
        bool                gives = false;

        for (size_t k = 0; k < n->output.n; k++)
            gives |= cq_map_get(&p->rounded, n->output.items[k]) != NULL;
        for (size_t k = 0; k < n->input.n && gives; k++)
            if (*n->input.items[k])
                CQ_TRY(cq_map_set(&p->rounded, n->input.items[k], p));
    }
    return CQ_OK;
}

/* In a model whose layers are mostly quantized, an error of half precision becomes a step of the
 * next level, and steps add up. */
static cq_status find_levels(precision *p)
{
    const cq_onnx_graph *g          = p->m->graph;
    size_t               n_products = 0, n_quantized = 0;

    for (size_t i = 0; i < g->node.n; i++) {
        const cq_onnx_node *n = g->node.items[i];

        CQ_TRY(note_levels(p, n));
        n_products += is_op(n, "MatMul") || is_op(n, "Gemm") || is_op(n, "Conv");
        n_quantized += is_op(n, "DequantizeLinear");
    }
    if (p->levels.n && 2 * n_quantized >= n_products)
        return spread_levels(p);
    return CQ_OK;
}

/* A node between levels of a quantized model computes integers in float32; rounded to half
 * precision its results would be other levels. */
static bool is_quantized(const precision *p, const cq_onnx_node *n)
{
    for (size_t i = 0; i < n->input.n; i++)
        if (cq_map_get(&p->levels, n->input.items[i]))
            return true;
    for (size_t i = 0; i < n->output.n; i++)
        if (cq_map_get(&p->rounded, n->output.items[i]))
            return true;
    return false;
}

static bool is_converted(const precision *p, const cq_onnx_node *n)
{
    const cq_onnx_schema *s = schema_of(p, n);

    if (!s || has_graph(n) || is_listed(p, n) ||
        (p->to != CQ_ONNX_FLOAT && (stays(n->op_type) || is_quantized(p, n))))
        return false;
    for (size_t i = 0; i < n->input.n; i++)
        if (cq_map_get(&p->large, n->input.items[i]))
            return false;
    for (size_t i = 0; i < n->output.n; i++)
        if (cq_map_get(&p->large, n->output.items[i]))
            return false;
    if (is_cast(p, n))
        return true;
    for (size_t i = 0; i < n->output.n; i++) /* an output that cannot change keeps the node */
        if (is_old(p, n->output.items[i]) &&
            !changes(p, cq_onnx_parameter_at(s->outputs, s->n_outputs, i)))
            return false;
    for (size_t i = 0; i < n->input.n; i++)
        if (is_old(p, n->input.items[i]) &&
            changes(p, cq_onnx_parameter_at(s->inputs, s->n_inputs, i)))
            return strcmp(n->op_type, "Cast") != 0;
    return false;
}

/* ---- who reads the old type ---- */

static cq_status need_graph(precision *p, const cq_onnx_graph *g, int depth)
{
    if (!g || depth > MAX_DEPTH)
        return CQ_OK;
    for (size_t i = 0; i < g->output.n; i++)
        if (g->output.items[i]->name)
            CQ_TRY(cq_map_set(&p->needed, g->output.items[i]->name, p));
    for (size_t i = 0; i < g->node.n; i++) {
        const cq_onnx_node *n = g->node.items[i];

        for (size_t k = 0; k < n->input.n; k++)
            CQ_TRY(cq_map_set(&p->needed, n->input.items[k], p));
        for (size_t k = 0; k < n->attribute.n; k++)
            CQ_TRY(need_graph(p, n->attribute.items[k]->g, depth + 1));
    }
    return CQ_OK;
}

static cq_status need_node(precision *p, const cq_onnx_node *n)
{
    const cq_onnx_schema *s = schema_of(p, n);
    const bool            c = is_converted(p, n);

    for (size_t i = 0; i < n->input.n; i++)
        if (!c || !changes(p, cq_onnx_parameter_at(s->inputs, s->n_inputs, i)))
            CQ_TRY(cq_map_set(&p->needed, n->input.items[i], p));
    for (size_t i = 0; i < n->attribute.n; i++) {
        CQ_TRY(need_graph(p, n->attribute.items[i]->g, 1));
        for (size_t k = 0; k < n->attribute.items[i]->graphs.n; k++)
            CQ_TRY(need_graph(p, n->attribute.items[i]->graphs.items[k], 1));
    }
    return CQ_OK;
}

/* ---- new names, casts, weights ---- */

static const char *new_name(precision *p, const char *base)
{
    char        made[600];
    const char *text = cq_map_get(&p->outputs, base);

    if (text)
        return text;
    snprintf(made, sizeof made, "%.500s_%s", base, cq_onnx_element_name(p->to));
    while (cq_map_has(&p->names, made))
        snprintf(made, sizeof made, "%.500s_%s_%zu", base, cq_onnx_element_name(p->to),
                 p->n_made++);
    text = cq_onnx_text(p->m, made);
    if (!text || cq_map_set(&p->names, made, p) != CQ_OK)
        p->m->status = CQ_E_NO_MEMORY;
    return text ? text : "";
}

static void add_cast(precision *p, const char *from, const char *to, int32_t type)
{
    cq_onnx_node *n = cq_onnx_alloc(p->m, sizeof *n);
    char          name[600];

    if (!n)
        return;
    n->op_type = "Cast";
    snprintf(name, sizeof name, "%.500s/Cast", to);
    n->name = cq_onnx_text(p->m, name);
    cq_onnx_add_name(p->m, &n->input, from);
    cq_onnx_add_name(p->m, &n->output, to);
    cq_onnx_attr_int(p->m, n, "to", type);
    cq_onnx_list_push(p->m, &p->out, n);
}

enum { LARGE = 1 << 20 }; /* bytes of weights that are not converted at once */

/* A weight whose elements are converted when they are read or written. */
typedef struct narrowed {
    cq_tensor *source;
    cq_dtype   dtype;
} narrowed;

static void narrowed_free(void *user)
{
    narrowed *w = user;

    cq_tensor_release(w->source);
    cq_free(w);
}

static uint16_t narrow_one(float x, cq_dtype to)
{
    return to == CQ_DTYPE_F16 ? cq_f32_to_f16(x) : cq_f32_to_bf16(x);
}

static float widen_one(uint16_t x, cq_dtype from)
{
    return from == CQ_DTYPE_F16 ? cq_f16_to_f32(x) : cq_bf16_to_f32(x);
}

/* One type has four bytes and the other two. */
static void narrowed_make(void *user, void *to, size_t from, size_t n)
{
    enum { AT_ONCE = 2048 };
    const narrowed *w    = user;
    const size_t    size = cq_dtype_size(w->dtype), wide = cq_dtype_size(w->source->dtype);
    const char     *source = cq_tensor_bytes(w->source) + from / size * wide;

    for (size_t done = 0, count = n / size, k; done < count; done += k) {
        float    floats[AT_ONCE];
        uint16_t halves[AT_ONCE];

        k = count - done < AT_ONCE ? count - done : AT_ONCE;
        cq_mapping_copy(size == 2 ? (void *)floats : (void *)halves, source + done * wide,
                        k * wide);
        for (size_t i = 0; i < k; i++)
            if (size == 2)
                halves[i] = narrow_one(floats[i], w->dtype);
            else
                floats[i] = widen_one(halves[i], w->source->dtype);
        memcpy((char *)to + done * size, size == 2 ? (void *)halves : (void *)floats, k * size);
    }
}

static bool is_large(const cq_tensor *t, cq_dtype dtype)
{
    return (size_t)cq_tensor_numel(t) * cq_dtype_size(dtype) >= LARGE && cq_tensor_is_contiguous(t);
}

static cq_status narrow(cq_tensor **out, cq_tensor *t, cq_dtype dtype)
{
    const size_t bytes = (size_t)cq_tensor_numel(t) * cq_dtype_size(dtype);
    int64_t      sizes[CQ_MAX_RANK], strides[CQ_MAX_RANK];
    narrowed    *w;
    cq_storage  *storage;
    cq_status    status;

    if (!is_large(t, dtype))
        return cq_tensor_clone(out, t, dtype);
    w = cq_zalloc(sizeof *w);
    if (!w)
        return CQ_E_NO_MEMORY;
    *w = (narrowed){ cq_tensor_retain(t), dtype };
    for (size_t i = 0; i < t->rank; i++) {
        sizes[i]   = t->sizes[i].value;
        strides[i] = t->strides[i];
    }
    CQ_TRY(cq_storage_later(&storage, bytes, (cq_maker){ narrowed_make, narrowed_free, w, NULL }));
    status = cq_tensor_new_on(out, storage, dtype, t->rank, sizes, strides, 0);
    cq_storage_release(storage);
    return status;
}

static cq_status convert_weight(precision *p, const cq_onnx_tensor *message, const char *name)
{
    cq_tensor *t = NULL, *made = NULL;
    cq_status  status;

    CQ_TRY(cq_onnx_tensor_in_place(&t, p->m, message));
    if (!is_large(t, cq_dtype_from_onnx(p->to))) { /* in the file it may not be aligned */
        cq_tensor_release(t);
        CQ_TRY(cq_onnx_tensor_to_tensor(&t, p->m, message));
    }
    status = narrow(&made, t, cq_dtype_from_onnx(p->to));
    if (status == CQ_OK)
        cq_onnx_graph_add_initializer(p->m, NULL, name, made);
    cq_tensor_release(t);
    cq_tensor_release(made);
    return status == CQ_OK ? p->m->status : status;
}

/* The name of a value in the new type. */
static cq_status in_new_type(precision *p, const char **name)
{
    const char           *made    = cq_map_get(&p->converted, *name);
    const cq_onnx_tensor *message = cq_map_get(&p->constants, *name);

    if (!made) {
        made = new_name(p, *name);
        CQ_TRY(cq_map_set(&p->converted, *name, (void *)made));
        if (message)
            CQ_TRY(convert_weight(p, message, made));
        else
            add_cast(p, *name, made, p->to);
    }
    *name = made;
    return p->m->status;
}

/* ---- nodes ---- */

static cq_status convert_node(precision *p, cq_onnx_node *n)
{
    const cq_onnx_schema *s      = schema_of(p, n);
    const char           *old[8] = { NULL }, *made[8];
    size_t                n_old  = 0;

    if (!is_converted(p, n)) {
        p->n_kept++;
        cq_onnx_list_push(p->m, &p->out, n);
        return p->m->status;
    }
    for (size_t i = 0; i < n->input.n; i++)
        if (is_old(p, n->input.items[i]) && !is_cast(p, n) &&
            changes(p, cq_onnx_parameter_at(s->inputs, s->n_inputs, i)))
            CQ_TRY(in_new_type(p, &n->input.items[i]));
    if (is_cast(p, n)) {
        cq_onnx_attribute *to = (cq_onnx_attribute *)cq_onnx_node_attr(n, "to");

        to->i = p->to;
    }
    cq_onnx_list_push(p->m, &p->out, n);
    for (size_t i = 0; i < n->output.n; i++) {
        const char *name = n->output.items[i], *new;

        if (!is_old(p, name))
            continue;
        new                = new_name(p, name);
        n->output.items[i] = new;
        CQ_TRY(cq_map_set(&p->converted, name, (void *)new));
        if (!cq_map_get(&p->needed, name))
            continue;
        if (n_old == 8) {
            add_cast(p, new, name, p->from);
            continue;
        }
        old[n_old]    = name;
        made[n_old++] = new;
    }
    for (size_t i = 0; i < n_old; i++)
        add_cast(p, made[i], old[i], p->from);
    return p->m->status;
}

static void keep_infos(precision *p)
{
    cq_onnx_graph *g    = p->m->graph;
    uint32_t       kept = 0;

    for (uint32_t i = 0; i < g->value_info.n; i++)
        if (g->value_info.items[i]->name &&
            !cq_map_get(&p->converted, g->value_info.items[i]->name))
            g->value_info.items[kept++] = g->value_info.items[i];
    g->value_info.n = kept;
}

/* ---- inputs and outputs of the model ---- */

static bool has_default(const precision *p, const char *name)
{
    return cq_onnx_model_has_initializer(p->m, name);
}

/* The model's input or output takes the new type and keeps its name; inside, the value in the old
 * type has another name. */
static cq_status rename_end(precision *p, cq_onnx_value_info *info, const char **inner)
{
    const char *name = info->name;
    char        made[600];
    size_t      k = 0;

    do
        snprintf(made, sizeof made, "%.500s_%s%.0zu", name, cq_onnx_element_name(p->from), k++);
    while (cq_map_has(&p->names, made));
    CQ_TRY(cq_onnx_model_rename(p->m, name, made));
    *inner                             = info->name;
    info->name                         = name;
    info->type->tensor_type->elem_type = p->to;
    CQ_TRY(cq_map_set(&p->names, *inner, p));
    return cq_map_set(&p->types, *inner, (void *)(uintptr_t)p->from);
}

static bool is_end(const precision *p, const cq_onnx_value_info *info)
{
    return info->name && info->type && info->type->tensor_type &&
           info->type->tensor_type->elem_type == p->from && !has_default(p, info->name);
}

static cq_status change_ends(precision *p)
{
    cq_onnx_graph *g = p->m->graph;
    const char    *inner;

    for (size_t i = 0; i < g->output.n; i++) {
        bool is_input = false;

        for (size_t k = 0; k < g->input.n && g->output.items[i]->name; k++)
            is_input |= g->input.items[k]->name &&
                        strcmp(g->input.items[k]->name, g->output.items[i]->name) == 0;
        if (is_input || !is_end(p, g->output.items[i]))
            continue;
        CQ_TRY(rename_end(p, g->output.items[i], &inner));
        CQ_TRY(cq_map_set(&p->outputs, inner, (void *)g->output.items[i]->name));
    }
    for (size_t i = 0; i < g->input.n; i++) {
        if (!is_end(p, g->input.items[i]))
            continue;
        CQ_TRY(rename_end(p, g->input.items[i], &inner));
        add_cast(p, g->input.items[i]->name, inner, p->from); /* removed if nothing reads it */
        CQ_TRY(cq_map_set(&p->converted, inner, (void *)g->input.items[i]->name));
    }
    return p->m->status;
}

/* Outputs that no converted node gives. */
static cq_status cast_outputs(precision *p)
{
    for (size_t i = 0; i < p->outputs.n; i++) {
        const char *inner = p->outputs.entries[i].key;

        if (!cq_map_get(&p->converted, inner))
            add_cast(p, cq_onnx_text(p->m, inner), p->outputs.entries[i].value, p->to);
    }
    return p->m->status;
}

static cq_status convert(precision *p)
{
    cq_onnx_graph *g = p->m->graph;

    CQ_TRY(cq_onnx_model_each_value(p->m, learn, p));
    CQ_TRY(cq_onnx_find_constants(&p->constants, p->m));
    CQ_TRY(find_levels(p));
    CQ_TRY(find_large_weights(p));
    if (isfinite(limit_of(p->to)) && !(p->options->flags & CQ_PRECISION_NO_RUN) &&
        bytes_of_weights(g) <= MAX_RUN)
        CQ_TRY(find_large(p));
    if (p->options->flags & CQ_PRECISION_IO)
        CQ_TRY(change_ends(p));
    for (size_t i = 0; i < g->output.n; i++)
        if (g->output.items[i]->name)
            CQ_TRY(cq_map_set(&p->needed, g->output.items[i]->name, p));
    for (size_t i = 0; i < g->node.n; i++)
        CQ_TRY(need_node(p, g->node.items[i]));
    for (size_t i = 0; i < g->node.n; i++)
        CQ_TRY(convert_node(p, g->node.items[i]));
    CQ_TRY(cast_outputs(p));
    g->node.items = p->out.items;
    g->node.n     = p->out.n;
    g->node.cap   = p->out.cap;
    keep_infos(p);
    return p->m->status;
}

enum { CAST_OF_BFLOAT16 = 13 }; /* the first opset with it */

/* The opset must have Cast, to bfloat16 if that is the target. */
static cq_status raise_opset(cq_onnx_model *m, int32_t to)
{
    const int64_t opset = cq_onnx_imported(&m->opset_import, "");

    if (opset < 1 || (to == CQ_ONNX_BFLOAT16 && opset < CAST_OF_BFLOAT16))
        return cq_onnx_model_convert_opset(m, CAST_OF_BFLOAT16);
    return CQ_OK;
}

static cq_status convert_from(cq_onnx_model *m, int32_t from, int32_t to,
                              const cq_precision_options *options)
{
    static const char *const dead[] = { "dead" };
    precision                p      = { .m = m, .options = options, .from = from, .to = to };
    cq_optimize_options      clean;
    cq_status                status = raise_opset(m, to);

    if (status == CQ_OK)
        status = convert(&p);

    cq_map_clear(&p.types);
    cq_map_clear(&p.constants);
    cq_map_clear(&p.names);
    cq_map_clear(&p.converted);
    cq_map_clear(&p.needed);
    cq_map_clear(&p.large);
    cq_map_clear(&p.levels);
    cq_map_clear(&p.rounded);
    cq_map_clear(&p.outputs);
    CQ_TRY(status);
    cq_optimize_options_init(&clean);
    clean.only   = dead;
    clean.n_only = 1;
    return cq_onnx_model_optimize(m, NULL, &clean);
}

CQ_API cq_status cq_onnx_model_convert_float(cq_onnx_model *m, cq_dtype to,
                                             const cq_precision_options *given)
{
    CQ_NEED(m);
    cq_precision_options options;

    CQ_TRY(cq_onnx_need_graph(m));
    cq_precision_options_init(&options);
    CQ_TRY(cq_sized_take(&options, given, "cq_precision_options"));
    if (to == CQ_DTYPE_F16)
        return convert_from(m, CQ_ONNX_FLOAT, CQ_ONNX_FLOAT16, &options);
    if (to == CQ_DTYPE_BF16)
        return convert_from(m, CQ_ONNX_FLOAT, CQ_ONNX_BFLOAT16, &options);
    if (to != CQ_DTYPE_F32)
        return cq_fail(CQ_E_ARGUMENT, NULL, NULL, "expected float16, bfloat16 or float32, got %s",
                       cq_dtype_name(to));
    CQ_TRY(convert_from(m, CQ_ONNX_FLOAT16, CQ_ONNX_FLOAT, &options));
    return convert_from(m, CQ_ONNX_BFLOAT16, CQ_ONNX_FLOAT, &options);
}
