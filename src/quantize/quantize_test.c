#include "quantize/range.h"
#include "quantize/scale.h"

#include "onnx/model.h"

#include "test.h"

#include <calque/quantize.h>

#include <math.h>
#include <stdio.h>

/* Two layers whose weights are w [24, 20] and v [7, 20], and a convolution if it is asked for. */
static cq_onnx_model *make_model(bool has_conv, int opset)
{
    static const char dense[] = "g (float[n, 24] x) => (float[n, 7] y) {\n"
                                "a = MatMul (x, w)\n b = Relu (a)\n"
                                "y = Gemm <transB = 1> (b, v, c) }";
    static const char conv[]  = "g (float[2, 3, 9, 9] x) => (y) {\n"
                                "a = Conv <pads = [1, 1, 1, 1]> (x, w, c)\n b = Relu (a)\n"
                                "y = Conv (b, v) }";
    const int64_t     w[] = { 24, 20 }, v[] = { 7, 20 }, c[] = { 7 };
    const int64_t     cw[] = { 8, 3, 3, 3 }, cv[] = { 4, 8, 3, 3 }, cc[] = { 8 };
    char              text[512];
    cq_onnx_model    *m = NULL;
    cq_tensor        *t = NULL;

    snprintf(text, sizeof text, "<ir_version: 8, opset_import: [\"\" : %d]>\n%s", opset,
             has_conv ? conv : dense);
    CHECK_OK(cq_onnx_model_parse(&m, text, strlen(text), "<test>"));
    for (int k = 0; k < 3; k++) {
        const char    *names[] = { "w", "v", "c" };
        const int64_t *sizes   = has_conv ? (k == 0   ? cw
                                             : k == 1 ? cv
                                                      : cc)
                                          : (k == 0   ? w
                                             : k == 1 ? v
                                                      : c);

        CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, k == 2 ? 1 : has_conv ? 4 : 2, sizes, NULL));
        float *data = cq_tensor_data(t);

        for (int64_t i = 0; i < cq_tensor_numel(t); i++)
            data[i] = sinf((float)(i * i % 97) + (float)k) * (i % 13 == 0 ? 2.0F : 0.7F);
        cq_onnx_graph_add_initializer(m, NULL, names[k], t);
        cq_tensor_release(t);
    }
    CHECK_OK(m->status);
    return m;
}

static void check_ops(const cq_onnx_model *m, const char *ops)
{
    char got[1024] = "";

    for (size_t i = 0; i < m->graph->node.n; i++)
        snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
                 m->graph->node.items[i]->op_type);
    CHECK_STR(ops, got);
}

static bool has_initializer(const cq_onnx_model *m, const char *name)
{
    return cq_onnx_model_has_initializer(m, name);
}

typedef struct rows {
    size_t n, n_kept, n_outputs;
    double worst, output;
} rows;

static void note(void *user, const cq_quantized_layer *layer)
{
    rows *r = user;

    r->n += layer->op_type != NULL;
    r->n_kept += layer->is_kept;
    if (layer->op_type && !layer->is_kept)
        r->worst = fmax(r->worst, layer->error);
    if (!layer->op_type) {
        r->n_outputs++;
        r->output = fmax(r->output, layer->error);
    }
}

/* Quantizes and proves with a limit for the error of outputs; the error. */
static double check_quantized(const cq_quantize_options *o, bool has_conv, int opset,
                              const char *ops, double limit)
{
    cq_onnx_model   *before = make_model(has_conv, opset), *after = make_model(has_conv, opset);
    cq_proof_options how;
    cq_proof         proof;
    rows             r = { 0 };

    CHECK_OK(cq_onnx_model_quantize(after, o, note, &r));
    CHECK(r.n == 2 && r.n_kept == 0);
    CHECK(r.worst > 0 && r.worst < limit);
    check_ops(after, ops);
    CHECK(!has_initializer(after, "w") && !has_initializer(after, "v"));
    cq_proof_options_init(&how);
    how.rtol = limit;
    CHECK_OK(cq_onnx_prove_quantized(&proof, before, after, o, &how, note, &r));
    CHECK(proof.n_runs == 2 && r.n_outputs == 1);
    cq_onnx_model_free(before);
    cq_onnx_model_free(after);
    return r.output;
}

static cq_quantize_options options_of(cq_quantize_mode mode, int bits, int64_t block)
{
    cq_quantize_options o;

    cq_quantize_options_init(&o);
    o.mode  = mode;
    o.bits  = bits;
    o.block = block;
    o.least = 1;
    return o;
}

static void weights_become_integers(void **state)
{
    cq_quantize_options o     = options_of(CQ_QUANTIZE_WEIGHTS, 8, 0);
    const char         *dense = "DequantizeLinear MatMul Relu DequantizeLinear Gemm";
    double              plain, blocks;

    (void)state;
    plain   = check_quantized(&o, false, 17, dense, 0.01);
    o.block = 8; /* raises the opset to 21 */
    blocks  = check_quantized(&o, false, 17, dense, 0.01);
    CHECK(blocks < plain);
    o.block = 0;
    check_quantized(&o, true, 13, "DequantizeLinear Conv Relu DequantizeLinear Conv", 0.02);
    o.bits = 4;
    check_quantized(&o, false, 21, dense, 0.15);
    o.block = 16; /* the last block is shorter */
    check_quantized(&o, false, 21, dense, 0.15);
}

static void packed_weights_are_those_of_dequantize_linear(void **state)
{
    cq_quantize_options o = options_of(CQ_QUANTIZE_WEIGHTS, 4, 16);
    double              standard, packed, asymmetric;

    (void)state;
    standard =
        check_quantized(&o, false, 21, "DequantizeLinear MatMul Relu DequantizeLinear Gemm", 0.15);
    o.target = CQ_QUANTIZE_ONNXRUNTIME;
    packed   = check_quantized(&o, false, 11, "MatMulNBits Relu MatMulNBits Add", 0.15);
    CHECK(fabs(standard - packed) < 1e-5);
    o.flags    = CQ_QUANTIZE_ASYMMETRIC;
    asymmetric = check_quantized(&o, false, 11, "MatMulNBits Relu MatMulNBits Add", 0.15);
    CHECK(asymmetric != packed);
    o.target = CQ_QUANTIZE_STANDARD;
    standard =
        check_quantized(&o, false, 21, "DequantizeLinear MatMul Relu DequantizeLinear Gemm", 0.15);
    CHECK(fabs(standard - asymmetric) < 1e-5);
}

static void products_of_integers(void **state)
{
    cq_quantize_options o = options_of(CQ_QUANTIZE_DYNAMIC, 8, 0);

    (void)state;
    check_quantized(&o, false, 17,
                    "DynamicQuantizeLinear MatMulInteger Cast Mul Mul Relu DynamicQuantizeLinear "
                    "Transpose MatMulInteger Cast Mul Mul Add",
                    0.03);
    check_quantized(&o, true, 17,
                    "DynamicQuantizeLinear ConvInteger Cast Reshape Mul Mul Reshape Add Relu "
                    "DynamicQuantizeLinear ConvInteger Cast Reshape Mul Mul",
                    0.03);
}

static void calibrated_products(void **state)
{
    static const char conv[] =
        "QuantizeLinear DequantizeLinear DequantizeLinear DequantizeLinear Conv Relu "
        "QuantizeLinear DequantizeLinear DequantizeLinear Conv";
    cq_quantize_options o = options_of(CQ_QUANTIZE_STATIC, 8, 0);

    (void)state;
    check_quantized(&o, false, 17,
                    "QuantizeLinear DequantizeLinear DequantizeLinear MatMul Relu QuantizeLinear "
                    "DequantizeLinear DequantizeLinear DequantizeLinear Gemm",
                    0.03);
    check_quantized(&o, true, 17, conv, 0.03);
    o.target = CQ_QUANTIZE_ONNXRUNTIME;
    check_quantized(&o, true, 17, conv, 0.03);
    o.method = CQ_CALIBRATION_PERCENTILE;
    check_quantized(&o, true, 17, conv, 0.03);
    o.method    = CQ_CALIBRATION_ENTROPY;
    o.input_low = -2, o.input_high = 3;
    check_quantized(&o, true, 17, conv, 0.05);
}

static void layers_with_large_errors_stay(void **state)
{
    cq_quantize_options o = options_of(CQ_QUANTIZE_WEIGHTS, 4, 16);
    cq_onnx_model      *m = make_model(false, 21);
    cq_tensor          *t;
    rows                r = { 0 };

    (void)state;
    for (size_t i = 0; i < m->graph->initializer.n; i++)
        if (strcmp(m->graph->initializer.items[i]->name, "v") == 0) {
            t                               = m->graph->initializer.items[i]->tensor;
            ((float *)cq_tensor_data(t))[3] = NAN;
        }
    o.max_error = 0.2;
    CHECK_OK(cq_onnx_model_quantize(m, &o, note, &r));
    CHECK(r.n == 2 && r.n_kept == 1);
    check_ops(m, "DequantizeLinear MatMul Relu Gemm");
    CHECK(has_initializer(m, "v") && !has_initializer(m, "w"));
    cq_onnx_model_free(m);
    m           = make_model(false, 21);
    o.max_error = 1e-6;
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_model_quantize(m, &o, NULL, NULL));
    cq_onnx_model_free(m);
}

/* In files of IR version 3 every initializer is an input, too. */
static void weights_that_are_inputs_are_quantized(void **state)
{
    static const char   text[] = "<ir_version: 3, opset_import: [\"\" : 11]>\n"
                                 "g (float[n, 2] x, float[2, 2] w) => (float[n, 2] y)\n"
                                 "<float[2, 2] w = {1, 2, 3, 4}> { y = MatMul (x, w) }";
    cq_quantize_options o      = options_of(CQ_QUANTIZE_WEIGHTS, 8, 0);
    cq_onnx_model      *before = NULL, *after = NULL;
    cq_proof            proof;

    (void)state;
    CHECK_OK(cq_onnx_model_parse(&before, text, strlen(text), "<test>"));
    CHECK_OK(cq_onnx_model_parse(&after, text, strlen(text), "<test>"));
    CHECK_OK(cq_onnx_model_quantize(after, &o, NULL, NULL));
    check_ops(after, "DequantizeLinear MatMul");
    CHECK(after->graph->input.n == 1 && after->ir_version >= 4);
    CHECK_OK(cq_onnx_prove_quantized(&proof, before, after, &o, NULL, NULL, NULL));
    CHECK(proof.n_runs > 0);
    cq_onnx_model_free(before);
    cq_onnx_model_free(after);
}

static void a_searched_scale_beats_the_extreme(void **state)
{
    const cq_scale_rule rule = { 4, true, false, CQ_DTYPE_F32 };
    float               x[32 * 3], scales[3], lows[3];
    cq_scale_error      errors[3];

    (void)state;
    for (int i = 0; i < 32 * 3; i++)
        x[i] = sinf((float)(i * i)) * (i % 3 == 1 ? 0 : 1);
    x[2 + 9] = INFINITY;
    cq_scale_search(scales, lows, errors, x, 32, 3, &rule);
    CHECK(scales[1] == 1 && errors[1].error == 0);
    CHECK(isnan(scales[2]));
    double extreme = 0, plain = 0;

    for (int i = 0; i < 32; i++)
        extreme = fabs(x[3 * i]) > fabs(extreme) ? x[3 * i] : extreme;
    for (int i = 0; i < 32; i++) {
        const double s = extreme / -8;
        const double q = fmin(7, fmax(-8, nearbyint(x[3 * i] / s)));

        plain += (x[3 * i] - q * s) * (x[3 * i] - q * s);
    }
    CHECK(errors[0].error > 0 && errors[0].error < plain);
}

static void ranges_do_not_depend_on_the_order(void **state)
{
    const int64_t n     = 1000;
    cq_tensor    *small = NULL, *large = NULL;
    cq_range      a, b;

    (void)state;
    CHECK_OK(cq_tensor_new(&small, CQ_DTYPE_F32, 1, &n, NULL));
    CHECK_OK(cq_tensor_new(&large, CQ_DTYPE_F32, 1, &n, NULL));
    for (int64_t i = 0; i < n; i++) {
        ((float *)cq_tensor_data(small))[i] = sinf((float)i);
        ((float *)cq_tensor_data(large))[i] = 50 * cosf((float)i);
    }
    CHECK_OK(cq_range_init(&a, true));
    CHECK_OK(cq_range_init(&b, true));
    CHECK_OK(cq_range_add(&a, small));
    CHECK_OK(cq_range_add(&a, large));
    CHECK_OK(cq_range_add(&b, large));
    CHECK_OK(cq_range_add(&b, small));
    CHECK(a.exponent == b.exponent && a.n == b.n && a.low == b.low && a.high == b.high);
    CHECK(memcmp(a.bins, b.bins, 2 * CQ_RANGE_BINS * sizeof *a.bins) == 0);
    cq_range_clear(&a);
    cq_range_clear(&b);
    cq_tensor_release(small);
    cq_tensor_release(large);
}

static void a_percentile_cuts_outliers(void **state)
{
    const int64_t       n = 100000;
    cq_quantize_options o = options_of(CQ_QUANTIZE_STATIC, 8, 0);
    cq_tensor          *t = NULL;
    cq_range            r;
    double              low, high;

    (void)state;
    CHECK_OK(cq_tensor_new(&t, CQ_DTYPE_F32, 1, &n, NULL));
    for (int64_t i = 0; i < n; i++)
        ((float *)cq_tensor_data(t))[i] = -logf(1 - (float)i / (float)n) / 10;
    ((float *)cq_tensor_data(t))[7] = 30;
    CHECK_OK(cq_range_init(&r, true));
    CHECK_OK(cq_range_add(&r, t));
    cq_range_choose(&r, &o, &low, &high);
    CHECK(low == 0 && high == 30);
    o.method     = CQ_CALIBRATION_PERCENTILE;
    o.percentile = 99.9;
    cq_range_choose(&r, &o, &low, &high);
    CHECK(low == 0 && high > 0.65 && high < 0.75);
    o.method = CQ_CALIBRATION_ENTROPY;
    cq_range_choose(&r, &o, &low, &high);
    CHECK(low == 0 && high > 0.9 && high < 8);
    cq_range_clear(&r);
    cq_tensor_release(t);
}

static void wrong_options_are_refused(void **state)
{
    cq_quantize_options o = options_of(CQ_QUANTIZE_WEIGHTS, 5, 0);
    cq_onnx_model      *m = make_model(false, 21);

    (void)state;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_quantize(m, &o, NULL, NULL));
    o        = options_of(CQ_QUANTIZE_WEIGHTS, 4, 24);
    o.target = CQ_QUANTIZE_ONNXRUNTIME;
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_quantize(m, &o, NULL, NULL));
    o = options_of(CQ_QUANTIZE_DYNAMIC, 4, 0);
    CHECK_STATUS(CQ_E_ARGUMENT, cq_onnx_model_quantize(m, &o, NULL, NULL));
    o       = options_of(CQ_QUANTIZE_WEIGHTS, 8, 0);
    o.least = 1000000;
    CHECK_STATUS(CQ_E_UNSUPPORTED, cq_onnx_model_quantize(m, &o, NULL, NULL));
    cq_onnx_model_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(weights_become_integers),
        cmocka_unit_test(packed_weights_are_those_of_dequantize_linear),
        cmocka_unit_test(products_of_integers),
        cmocka_unit_test(calibrated_products),
        cmocka_unit_test(layers_with_large_errors_stay),
        cmocka_unit_test(weights_that_are_inputs_are_quantized),
        cmocka_unit_test(a_searched_scale_beats_the_extreme),
        cmocka_unit_test(ranges_do_not_depend_on_the_order),
        cmocka_unit_test(a_percentile_cuts_outliers),
        cmocka_unit_test(wrong_options_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
