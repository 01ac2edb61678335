/* The cost of nodes. Most costs are proportional to the number of elements: the table has the
 * factor per operator, and functions for operators whose cost grows faster. Unknown operators count
 * as slow. */
#include "runtime/plan/work.h"
#include "base/cancel.h"
#include "base/steps.h"
#include "onnx/file/external.h"

#include <string.h>

enum {
    ELEMENTS = 64,       /* elements read or written per step */
    BYTES    = 128,      /* bytes of new memory per step */
    PRODUCTS = 2048,     /* multiply-adds of float32 per step */
    DOUBLE   = 4,        /* factor for products of float64 */
    SLOW     = 16,       /* factor for products of other types */
    ITEM     = 8,        /* cost of a sequence item, in elements */
    STRING   = 128,      /* cost of a string, in elements */
    LEAST    = 50000000, /* steps that any run may take, as for programs (script/eval.h) */
    MADE_UP  = 10000000  /* maximum allowance for synthetic inputs */
};

typedef double work_fn(const cq_rt *rt); /* returns products */

struct cq_rt_work {
    const char *op;
    unsigned    factor; /* cost of an element relative to copying it */
    work_fn    *before; /* cost of the whole node, computed from its inputs */
    work_fn    *each;   /* cost of an element of output 0 */
};

static uint64_t steps(double n)
{
    return n < 0x1p62 ? n > 0 ? (uint64_t)n : 0 : UINT64_MAX / 2;
}

/* A size of 0 counts as 1: kernels may iterate over the others, which can be huge. */
static double numel(const cq_tensor *t)
{
    double n = 1;

    for (size_t i = 0; t && i < t->rank; i++)
        n *= t->sizes[i].value ? (double)t->sizes[i].value : 1;
    return t ? n : 0;
}

/* The number of elements of a tensor, of strings, or of all items of a sequence. */
static double elements_of(cq_val v)
{
    const cq_texts *texts = v.kind == CQ_VAL_OBJECT ? cq_val_texts(v) : NULL;
    double          n     = v.kind == CQ_VAL_TENSOR ? numel(v.u.tensor) : 0;

    if (v.kind == CQ_VAL_LIST) /* items of sequences share their tensors */
        n = ITEM * (double)v.u.list->n;
    for (size_t i = 0; texts && i < texts->n; i++)
        n += STRING + (double)cq_texts_len(texts, i);
    return n;
}

static double size_at(const cq_tensor *t, size_t from_end)
{
    return t && t->rank > from_end ? (double)t->sizes[t->rank - 1 - from_end].value : 1;
}

static const cq_tensor *in(const cq_rt *rt, size_t i)
{
    return i < rt->n_in ? cq_rt_in(rt, i) : NULL;
}

static double ints_product(const cq_rt *rt, const char *name)
{
    cq_rt_ints ints;
    double     n = 1;

    if (!cq_rt_attr_given(rt, name) || cq_rt_attr_ints(&ints, rt, name) != CQ_OK)
        return 1;
    for (size_t i = 0; i < ints.n; i++)
        n *= (double)ints.at[i];
    return n > 1 ? n : 1;
}

/* ---- operators whose cost is not proportional to the number of elements ---- */

static double size_of_weights(const cq_tensor *w)
{
    return w && w->rank && w->sizes[0].value > 0 ? numel(w) / (double)w->sizes[0].value : 1;
}

static double columns(const cq_rt *rt)
{
    return size_at(in(rt, 0), 0);
}

static double gemm(const cq_rt *rt)
{
    return size_at(in(rt, 0), cq_rt_int(rt, "transA") ? 1 : 0);
}

/* Products per output element: all weights of its channel. */
static double conv(const cq_rt *rt)
{
    return size_of_weights(in(rt, 1));
}

static double deform_conv(const cq_rt *rt)
{
    return conv(rt) * SLOW;
}

static double quantized_conv(const cq_rt *rt)
{
    return size_of_weights(in(rt, 3));
}

static double conv_transpose(const cq_rt *rt)
{
    return numel(in(rt, 0)) * size_of_weights(in(rt, 1));
}

static double recurrent(const cq_rt *rt)
{
    const double width = size_at(in(rt, 0), 0);

    return width > 0
               ? numel(in(rt, 0)) / width * (numel(in(rt, 1)) + numel(in(rt, 2)) + 4.0 * PRODUCTS)
               : 0;
}

/* Each query is multiplied with each key, and as often with each value. */
static double attention(const cq_rt *rt)
{
    const double keys = size_at(in(rt, 1), 1), width = size_at(in(rt, 0), 0);

    return numel(in(rt, 0)) * keys * (1 + (width > 0 ? size_at(in(rt, 2), 0) / width : 0)) +
           (width > 0 ? numel(in(rt, 0)) / width * keys * SLOW : 0);
}

/* Elements of the state, which every token reads and updates. */
static double linear_attention(const cq_rt *rt)
{
    const double heads = (double)cq_rt_int(rt, "kv_num_heads");

    return heads > 0 ? 4 * numel(in(rt, 0)) * size_at(in(rt, 2), 0) / heads : 0;
}

static double causal_conv(const cq_rt *rt)
{
    return numel(in(rt, 0)) * size_at(in(rt, 1), 0) * SLOW;
}

static double window(const cq_rt *rt)
{
    return ints_product(rt, "kernel_shape") * SLOW;
}

static double neighbours(const cq_rt *rt)
{
    const cq_tensor *x    = in(rt, 0);
    const double     size = (double)cq_rt_int(rt, "size"),
                 channels = x && x->rank > 1 ? (double)x->sizes[1].value : 1;

    return (size < channels ? size : channels) * SLOW;
}

/* An element of a transform's result is a sum over the odd factor of the length. */
static double odd_part(const cq_rt *rt)
{
    const cq_tensor *x    = in(rt, 0);
    double           most = 1;
    int64_t          n;

    for (size_t i = 0; x && i < x->rank; i++) {
        n = x->sizes[i].value;
        while (n > 1 && n % 2 == 0)
            n /= 2;
        most = (double)n > most ? (double)n : most;
    }
    for (size_t i = 1; i < rt->n_in; i++) { /* inputs with lengths */
        if (!in(rt, i) || cq_rt_in_i64(&n, rt, i, 0) != CQ_OK)
            continue;
        while (n > 1 && n % 2 == 0)
            n /= 2;
        most = (double)n > most ? (double)n : most;
    }
    return most * SLOW * 8;
}

static double by_last_size(const cq_rt *rt)
{
    return numel(in(rt, 0)) * size_at(in(rt, 0), 0) * SLOW;
}

static double pairs_of_boxes(const cq_rt *rt)
{
    return numel(in(rt, 1)) * size_at(in(rt, 1), 0) * SLOW;
}

/* The number of sampling points: as given by the attribute, or all points in the region. */
static double region(const cq_rt *rt)
{
    const cq_tensor *x    = in(rt, 0);
    const double     told = (double)cq_rt_int(rt, "sampling_ratio");

    return (told > 0 ? told * told : size_at(x, 0) * size_at(x, 1)) * SLOW * 8;
}

static double picture(const cq_rt *rt)
{
    return size_at(in(rt, 0), 0) * size_at(in(rt, 0), 1) * SLOW;
}

/* ---- the table ---- */

enum { COPY = 1, SIMPLE = 2, FUNCTION = 8, SORTED = 64, DRAWN = 1024 };

static const cq_rt_work table[] = {
    { "Abs", COPY, NULL, NULL },
    { "Add", COPY, NULL, NULL },
    { "And", COPY, NULL, NULL },
    { "BatchNormalization", COPY, NULL, NULL },
    { "Cast", SIMPLE, NULL, NULL },
    { "CastLike", SIMPLE, NULL, NULL },
    { "Ceil", SIMPLE, NULL, NULL },
    { "Clip", COPY, NULL, NULL },
    { "Concat", COPY, NULL, NULL },
    { "Constant", COPY, NULL, NULL },
    { "ConstantOfShape", COPY, NULL, NULL },
    { "DepthToSpace", SIMPLE, NULL, NULL },
    { "DequantizeLinear", SIMPLE, NULL, NULL },
    { "Div", COPY, NULL, NULL },
    { "Dropout", COPY, NULL, NULL },
    { "Elu", SIMPLE, NULL, NULL },
    { "Equal", COPY, NULL, NULL },
    { "Erf", SIMPLE, NULL, NULL },
    { "Exp", SIMPLE, NULL, NULL },
    { "Expand", COPY, NULL, NULL },
    { "Flatten", COPY, NULL, NULL },
    { "Floor", SIMPLE, NULL, NULL },
    { "Gather", COPY, NULL, NULL },
    { "Gelu", SIMPLE, NULL, NULL },
    { "GlobalAveragePool", COPY, NULL, NULL },
    { "Greater", COPY, NULL, NULL },
    { "GreaterOrEqual", COPY, NULL, NULL },
    { "GroupNormalization", SIMPLE, NULL, NULL },
    { "HardSigmoid", SIMPLE, NULL, NULL },
    { "HardSwish", SIMPLE, NULL, NULL },
    { "Identity", COPY, NULL, NULL },
    { "If", COPY, NULL, NULL },
    { "ImageDecoder", SORTED, NULL, NULL },
    { "InstanceNormalization", SIMPLE, NULL, NULL },
    { "LayerNormalization", SIMPLE, NULL, NULL },
    { "LeakyRelu", COPY, NULL, NULL },
    { "Less", COPY, NULL, NULL },
    { "LessOrEqual", COPY, NULL, NULL },
    { "Log", SIMPLE, NULL, NULL },
    { "Loop", COPY, NULL, NULL },
    { "Max", COPY, NULL, NULL },
    { "Mean", SIMPLE, NULL, NULL },
    { "MelWeightMatrix", SORTED, NULL, NULL },
    { "Min", COPY, NULL, NULL },
    { "Mod", SORTED, NULL, NULL },
    { "Mul", COPY, NULL, NULL },
    { "Multinomial", DRAWN, NULL, NULL },
    { "Neg", COPY, NULL, NULL },
    { "Not", COPY, NULL, NULL },
    { "Or", COPY, NULL, NULL },
    { "PRelu", SIMPLE, NULL, NULL },
    { "Pad", SIMPLE, NULL, NULL },
    { "Pick", COPY, NULL, NULL },
    { "QuantizeLinear", SIMPLE, NULL, NULL },
    { "RMSNormalization", SIMPLE, NULL, NULL },
    { "Reciprocal", SIMPLE, NULL, NULL },
    { "ReduceMax", COPY, NULL, NULL },
    { "ReduceMean", COPY, NULL, NULL },
    { "ReduceMin", COPY, NULL, NULL },
    { "ReduceSum", COPY, NULL, NULL },
    { "RegexFullMatch", FUNCTION, NULL, NULL },
    { "Relu", COPY, NULL, NULL },
    { "Reorder", COPY, NULL, NULL },
    { "Reshape", COPY, NULL, NULL },
    { "Scan", COPY, NULL, NULL },
    { "SequenceAt", COPY, NULL, NULL },
    { "SequenceConstruct", COPY, NULL, NULL },
    { "SequenceInsert", COPY, NULL, NULL },
    { "SequenceLength", COPY, NULL, NULL },
    { "Shape", COPY, NULL, NULL },
    { "Sigmoid", SIMPLE, NULL, NULL },
    { "Sign", SIMPLE, NULL, NULL },
    { "Size", COPY, NULL, NULL },
    { "Slice", COPY, NULL, NULL },
    { "Softmax", SIMPLE, NULL, NULL },
    { "SpaceToDepth", SIMPLE, NULL, NULL },
    { "Split", COPY, NULL, NULL },
    { "Sqrt", COPY, NULL, NULL },
    { "Squeeze", COPY, NULL, NULL },
    { "StringConcat", FUNCTION, NULL, NULL },
    { "StringNormalizer", FUNCTION, NULL, NULL },
    { "StringSplit", FUNCTION, NULL, NULL },
    { "Sub", COPY, NULL, NULL },
    { "Sum", COPY, NULL, NULL },
    { "SwiGLU", SIMPLE, NULL, NULL },
    { "Swish", SIMPLE, NULL, NULL },
    { "Tanh", SIMPLE, NULL, NULL },
    { "TfIdfVectorizer", FUNCTION, NULL, NULL },
    { "Tile", SIMPLE, NULL, NULL },
    { "TopK", SORTED, NULL, NULL },
    { "Transpose", SIMPLE, NULL, NULL },
    { "Unique", SORTED, NULL, NULL },
    { "Unsqueeze", COPY, NULL, NULL },
    { "Where", COPY, NULL, NULL },
    { "Xor", COPY, NULL, NULL },
    { "MatMul", COPY, NULL, columns },
    { "MatMulInteger", COPY, NULL, columns },
    { "QLinearMatMul", COPY, NULL, columns },
    { "Gemm", COPY, NULL, gemm },
    { "Conv", COPY, NULL, conv },
    { "ConvInteger", COPY, NULL, conv },
    { "DeformConv", FUNCTION, NULL, deform_conv },
    { "QLinearConv", COPY, NULL, quantized_conv },
    { "ConvTranspose", COPY, conv_transpose, NULL },
    { "LSTM", COPY, recurrent, NULL },
    { "GRU", COPY, recurrent, NULL },
    { "RNN", COPY, recurrent, NULL },
    { "Attention", COPY, attention, NULL },
    { "CausalConvWithState", COPY, causal_conv, NULL },
    { "LinearAttention", COPY, linear_attention, NULL },
    { "MaxPool", COPY, NULL, window },
    { "AveragePool", COPY, NULL, window },
    { "LpPool", COPY, NULL, window },
    { "GridSample", SORTED, NULL, NULL },
    { "LRN", FUNCTION, NULL, neighbours },
    { "DFT", FUNCTION, NULL, odd_part },
    { "STFT", FUNCTION, NULL, odd_part },
    { "Det", COPY, by_last_size, NULL },
    { "Inverse", COPY, by_last_size, NULL },
    { "NonMaxSuppression", COPY, pairs_of_boxes, NULL },
    { "RoiAlign", COPY, NULL, region },
    { "MaxRoiPool", COPY, NULL, picture },
};

static const cq_rt_work others = { "", FUNCTION, NULL, NULL };

const cq_rt_work *cq_rt_work_find(const char *op)
{
    for (size_t i = 0; op && i < sizeof table / sizeof *table; i++)
        if (strcmp(op, table[i].op) == 0)
            return &table[i];
    return &others;
}

unsigned cq_rt_work_factor(const cq_rt_work *work)
{
    return work ? work->factor : FUNCTION;
}

/* ---- charging ---- */

cq_status cq_rt_spend_on_products(cq_rt *rt, double n, cq_dtype dtype)
{
    const int  factor = dtype == CQ_DTYPE_F32 ? 1 : dtype == CQ_DTYPE_F64 ? DOUBLE : SLOW;
    cq_rt_run *run    = rt->run;
    uint64_t   taken  = steps(n * factor / PRODUCTS);

    if (run->in_loop || n > run->products_left)
        return cq_rt_spend(run, taken);
    run->products_left -= n;
    run->straight_steps += taken;
    return cq_check_cancelled();
}

cq_status cq_rt_spend_on_elements(cq_rt *rt, double n)
{
    return cq_rt_spend(rt->run, steps(n / ELEMENTS));
}

static cq_dtype type_of_work(const cq_rt *rt)
{
    return in(rt, 0) ? in(rt, 0)->dtype : CQ_DTYPE_F32;
}

/* Whether the table applies. The inputs of fused steps differ from those that the table expects;
 * such steps charge for their products themselves. */
static bool is_charged_by_table(const cq_rt *rt)
{
    return !(rt->step->row->flags & CQ_RT_OWN);
}

cq_status cq_rt_spend_before(cq_rt *rt)
{
    const cq_rt_work *work     = rt->step->work;
    double            elements = 0;

    for (size_t i = 0; i < rt->n_in; i++)
        elements += elements_of(rt->in[i]);
    CQ_TRY(cq_rt_spend(rt->run, CQ_RT_NODE_STEPS + steps(elements * work->factor / ELEMENTS)));
    if (!work->before || !is_charged_by_table(rt))
        return CQ_OK;
    return cq_rt_spend_on_products(rt, work->before(rt), type_of_work(rt));
}

cq_status cq_rt_spend_on_output(cq_rt *rt, size_t i, cq_dtype dtype, size_t rank,
                                const int64_t *sizes)
{
    const cq_rt_work *work     = rt->step->work;
    double            elements = 1;

    for (size_t k = 0; k < rank; k++)
        elements *= sizes[k] ? (double)sizes[k] : 1;
    rt->paid += elements;
    CQ_TRY(cq_rt_spend_on_elements(rt, elements * work->factor));
    CQ_TRY(cq_rt_spend(rt->run, steps(elements * (double)cq_dtype_size(dtype) / BYTES)));
    if (i || !work->each || !is_charged_by_table(rt))
        return CQ_OK;
    return cq_rt_spend_on_products(rt, elements * work->each(rt), type_of_work(rt));
}

cq_status cq_rt_spend_on_outputs(cq_rt_run *run, const cq_val *outputs, size_t n)
{
    double elements = 0;

    for (size_t i = 0; i < n; i++)
        elements += elements_of(outputs[i]);
    return cq_rt_spend(run, steps(elements / ELEMENTS));
}

cq_status cq_rt_spend_after(cq_rt *rt)
{
    double elements = -rt->paid;

    for (size_t i = 0; i < rt->n_out; i++)
        elements += elements_of(rt->out[i]);
    return elements < ELEMENTS ? CQ_OK
                               : cq_rt_spend_on_elements(rt, elements * rt->step->work->factor);
}

/* ---- limits ---- */

static double bytes_of(const cq_onnx_tensor *t)
{
    double elements = 1;

    if (!t->tensor)
        return (double)t->raw_data.size + 4.0 * t->float_data.n + 4.0 * t->int32_data.n +
               8.0 * t->int64_data.n + 8.0 * t->double_data.n + 8.0 * t->uint64_data.n;
    for (uint32_t i = 0; i < t->dims.n; i++)
        elements *= (double)t->dims.items[i];
    return elements * (double)cq_dtype_size(cq_dtype_from_onnx(t->data_type));
}

double cq_rt_bytes(const cq_onnx_model *m, const cq_val *inputs, size_t n_inputs)
{
    double bytes = m ? cq_onnx_external_bytes(m) : 0;

    for (uint32_t i = 0; m && m->graph && i < m->graph->initializer.n; i++)
        bytes += bytes_of(m->graph->initializer.items[i]);
    for (size_t i = 0; i < n_inputs; i++)
        if (inputs[i].kind == CQ_VAL_TENSOR)
            bytes += cq_tensor_given_bytes(inputs[i].u.tensor);
    return bytes;
}

uint64_t cq_rt_default_steps(double bytes)
{
    return cq_default_steps(LEAST, bytes);
}

void cq_rt_allow_straight(cq_rt_run *run, double weight_bytes, const cq_val *inputs, size_t n)
{
    double elements = 0, made_up = 0;

    for (size_t i = 0; i < n; i++) {
        const cq_tensor *t = inputs[i].kind == CQ_VAL_TENSOR ? inputs[i].u.tensor : NULL;

        elements += numel(t);
        if (t && t->is_made_up)
            made_up += numel(t) * (double)cq_dtype_size(t->dtype);
    }
    run->products_left  = weight_bytes * elements;
    run->straight_steps = cq_default_steps(0, made_up);
    if (run->straight_steps > MADE_UP)
        run->straight_steps = MADE_UP;
}

cq_status cq_rt_spend(cq_rt_run *run, uint64_t steps_taken)
{
    uint64_t *left = !run->in_loop && steps_taken <= run->straight_steps ? &run->straight_steps
                                                                         : &run->steps_left;

    if (steps_taken <= *left) {
        *left -= steps_taken;
        return cq_check_cancelled();
    }
    run->steps_left = run->straight_steps = 0;
    run->products_left                    = 0;
    return cq_fail(
        CQ_E_UNSUPPORTED, NULL,
        run->in_loop
            ? "check for an endless loop, or allow more steps with --max-steps (max_steps of the "
              "session's options)"
            : "allow more steps with --max-steps (max_steps of the session's options)",
        "the run exceeds its limit of steps");
}
