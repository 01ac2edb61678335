/* What nodes cost. Most are as much work as they have elements; the table has the others. */
#include "runtime/work.h"
#include "base/cancel.h"
#include "onnx/external.h"

#include <calque/session.h>

#include <string.h>

enum {
    ELEMENTS = 64,   /* read or written in a step */
    PRODUCTS = 2048, /* of float32, multiplied and added in a step */
    SLOW     = 16    /* times as long for products of other types */
};

typedef double work_fn(const cq_rt *rt); /* in products */

static uint64_t steps(double n)
{
    return n < 0x1p62 ? n > 0 ? (uint64_t)n : 0 : UINT64_MAX / 2;
}

static double numel(const cq_tensor *t)
{
    double n = 1;

    for (size_t i = 0; t && i < t->rank; i++)
        n *= (double)t->sizes[i].value;
    return t ? n : 0;
}

/* A tensor, or all of a sequence. */
static double elements_of(cq_val v)
{
    double n = v.kind == CQ_VAL_TENSOR ? numel(v.u.tensor) : 0;

    for (size_t i = 0; v.kind == CQ_VAL_LIST && i < v.u.list->n; i++)
        if (v.u.list->items[i].kind == CQ_VAL_TENSOR)
            n += 1; /* sequences share their tensors */
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

/* ---- rows that need more than a factor ---- */

static double matmul(const cq_rt *rt)
{
    const cq_tensor *b = in(rt, 1);

    return numel(in(rt, 0)) * (b && b->rank > 1 ? size_at(b, 0) : 1);
}

static double quantized_matmul(const cq_rt *rt)
{
    return numel(in(rt, 0)) * size_at(in(rt, 3), 0);
}

static double gemm(const cq_rt *rt)
{
    const cq_tensor *a = in(rt, 0);
    const double     k = size_at(a, cq_rt_int(rt, "transA") ? 1 : 0);

    return k > 0 ? numel(a) * numel(in(rt, 1)) / k : 0;
}

/* As many places as the picture has, or fewer by the strides; all weights at each. */
static double conv_of(const cq_rt *rt, const cq_tensor *w)
{
    const cq_tensor *x = in(rt, 0);
    const double     places =
        x && x->rank > 1 && x->sizes[1].value > 0 ? numel(x) / (double)x->sizes[1].value : 0;

    return places * numel(w) / ints_product(rt, "strides");
}

static double conv(const cq_rt *rt)
{
    return conv_of(rt, in(rt, 1));
}

static double quantized_conv(const cq_rt *rt)
{
    return conv_of(rt, in(rt, 3));
}

static double conv_transpose(const cq_rt *rt)
{
    return conv(rt) * ints_product(rt, "strides");
}

static double recurrent(const cq_rt *rt)
{
    const double width = size_at(in(rt, 0), 0);

    return width > 0 ? numel(in(rt, 0)) / width * (numel(in(rt, 1)) + numel(in(rt, 2))) : 0;
}

static double attention(const cq_rt *rt)
{
    return 2 * numel(in(rt, 0)) * size_at(in(rt, 1), 1);
}

static double einsum(const cq_rt *rt)
{
    double n = 1, most = 1;

    for (size_t i = 0; i < rt->n_in; i++) {
        const double size = numel(in(rt, i));

        n *= size > 1 ? size : 1;
        most = size > most ? size : most;
    }
    return n < most * most ? n : most * size_at(in(rt, 0), 0);
}

static double pool(const cq_rt *rt)
{
    return numel(in(rt, 0)) * ints_product(rt, "kernel_shape") / ints_product(rt, "strides") * SLOW;
}

static double by_last_size(const cq_rt *rt)
{
    return numel(in(rt, 0)) * size_at(in(rt, 0), 0) * SLOW;
}

static double pairs_of_boxes(const cq_rt *rt)
{
    return numel(in(rt, 1)) * size_at(in(rt, 1), 0) * SLOW;
}

/* ---- the table ---- */

enum { FUNCTION = 8, SORTED = 64 }; /* times as long as a sum */

static const struct {
    const char *op;
    work_fn    *fn;
    unsigned    factor; /* of elements */
} table[] = {
    { "MatMul", .fn = matmul },
    { "MatMulInteger", .fn = matmul },
    { "QLinearMatMul", .fn = quantized_matmul },
    { "Gemm", .fn = gemm },
    { "Conv", .fn = conv },
    { "ConvInteger", .fn = conv },
    { "DeformConv", .fn = conv },
    { "QLinearConv", .fn = quantized_conv },
    { "ConvTranspose", .fn = conv_transpose },
    { "LSTM", .fn = recurrent },
    { "GRU", .fn = recurrent },
    { "RNN", .fn = recurrent },
    { "Attention", .fn = attention },
    { "Einsum", .fn = einsum },
    { "MaxPool", .fn = pool },
    { "AveragePool", .fn = pool },
    { "LpPool", .fn = pool },
    { "Det", .fn = by_last_size },
    { "DFT", .fn = by_last_size, .factor = SORTED },
    { "STFT", .fn = by_last_size, .factor = SORTED },
    { "NonMaxSuppression", .fn = pairs_of_boxes },
    { "TopK", .factor = SORTED },
    { "Unique", .factor = SORTED },
    { "Resize", .factor = FUNCTION },
    { "GridSample", .factor = FUNCTION },
    { "RoiAlign", .factor = SORTED },
    { "MaxRoiPool", .factor = SORTED },
    { "RandomNormal", .factor = FUNCTION },
    { "RandomUniform", .factor = FUNCTION },
    { "RandomNormalLike", .factor = FUNCTION },
    { "RandomUniformLike", .factor = FUNCTION },
    { "Multinomial", .factor = SORTED },
    { "Pow", .factor = FUNCTION },
    { "Sin", .factor = FUNCTION },
    { "Cos", .factor = FUNCTION },
    { "Tan", .factor = FUNCTION },
    { "TfIdfVectorizer", .factor = SORTED },
    { "StringNormalizer", .factor = SORTED },
    { "RegexFullMatch", .factor = SORTED },
};

/* A graph inside is charged as it runs. */
static bool has_graphs(const cq_rt *rt)
{
    return rt->step->node->attribute.n &&
           (cq_rt_attr_given(rt, "body") != NULL || cq_rt_attr_given(rt, "then_branch") != NULL);
}

static double factor_of(const cq_rt *rt, work_fn **fn)
{
    const char *op = rt->step->node->op_type;

    *fn = NULL;
    for (size_t i = 0; op && i < sizeof table / sizeof *table; i++)
        if (strcmp(op, table[i].op) == 0) {
            *fn = table[i].fn;
            return table[i].factor ? table[i].factor : 1;
        }
    return 1;
}

static double elements_in(const cq_rt *rt)
{
    double n = 0;

    for (size_t i = 0; i < rt->n_in; i++)
        n += elements_of(rt->in[i]);
    return n;
}

uint64_t cq_rt_work_before(const cq_rt *rt)
{
    const double elements = elements_in(rt);
    work_fn     *fn;
    double       factor, products;

    if (elements < ELEMENTS || has_graphs(rt))
        return CQ_RT_NODE_STEPS; /* what is small costs nothing worth counting */
    factor   = factor_of(rt, &fn);
    products = fn ? fn(rt) : 0;
    if (in(rt, 0) && in(rt, 0)->dtype != CQ_DTYPE_F32)
        products *= SLOW;
    return CQ_RT_NODE_STEPS + steps(elements * factor / ELEMENTS + products / PRODUCTS);
}

uint64_t cq_rt_work_after(const cq_rt *rt)
{
    double   elements = 0;
    work_fn *fn;

    for (size_t i = 0; i < rt->n_out; i++)
        elements += elements_of(rt->out[i]);
    return elements < ELEMENTS ? 0 : steps(elements * factor_of(rt, &fn) / ELEMENTS);
}

/* ---- limits ---- */

static double bytes_of(const cq_onnx_tensor *t)
{
    double elements = 1;

    if (!t->tensor && !cq_onnx_is_external(t))
        return (double)t->raw_data.size + 4.0 * t->float_data.n + 4.0 * t->int32_data.n +
               8.0 * t->int64_data.n + 8.0 * t->double_data.n + 8.0 * t->uint64_data.n;
    for (uint32_t i = 0; i < t->dims.n; i++)
        elements *= (double)t->dims.items[i];
    return elements * (double)cq_dtype_size(cq_dtype_from_onnx(t->data_type));
}

uint64_t cq_rt_default_steps(const cq_onnx_model *m)
{
    double bytes = 0;

    for (uint32_t i = 0; m->graph && i < m->graph->initializer.n; i++)
        bytes += bytes_of(m->graph->initializer.items[i]);
    return CQ_SESSION_MAX_STEPS + steps(bytes * CQ_SESSION_STEPS_PER_BYTE);
}

uint64_t cq_rt_steps_of_inputs(const cq_val *inputs, size_t n)
{
    double bytes = 0;

    for (size_t i = 0; i < n; i++)
        if (inputs[i].kind == CQ_VAL_TENSOR)
            bytes += numel(inputs[i].u.tensor) * (double)cq_dtype_size(inputs[i].u.tensor->dtype);
    return steps(bytes * CQ_SESSION_STEPS_PER_BYTE);
}

cq_status cq_rt_spend(cq_rt_run *run, uint64_t steps_taken)
{
    if (steps_taken <= run->steps_left) {
        run->steps_left -= steps_taken;
        return cq_check_cancelled();
    }
    run->steps_left = 0;
    return cq_fail(CQ_E_UNSUPPORTED, NULL,
                   "does a loop of the model never end? --max-steps (max_steps of the session's "
                   "options) allows for more",
                   "the run takes more steps than its limit");
}
