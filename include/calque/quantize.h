/* Quantizing ONNX models: weights in 8 or 4 bits, products in 8 bits. Weights are quantized while
 * they are written, so memory does not grow with the model.
 *
 *     cq_quantize_options options;
 *     cq_quantize_options_init(&options);
 *     options.bits = 4;
 *     if (cq_onnx_model_quantize(model, &options, NULL, NULL) == CQ_OK)
 *         cq_onnx_model_save(model, "net.int4.onnx", NULL); */
#ifndef CALQUE_QUANTIZE_H
#define CALQUE_QUANTIZE_H

#include <calque/edit.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_quantize_mode {
    CQ_QUANTIZE_WEIGHTS = 0, /* weights are stored in few bits; products are computed in float */
    CQ_QUANTIZE_DYNAMIC = 1, /* products in 8 bits; each run chooses the ranges of activations */
    CQ_QUANTIZE_STATIC  = 2  /* products in 8 bits; calibration chooses the ranges */
} cq_quantize_mode;

typedef enum cq_quantize_target {
    CQ_QUANTIZE_STANDARD = 0,
    /* 4 bits: MatMulNBits of com.microsoft, at any opset. 8 bits: weights are uint8, because ONNX
     * Runtime's products of uint8 and int8 saturate on processors without VNNI. */
    CQ_QUANTIZE_ONNXRUNTIME = 1
} cq_quantize_target;

typedef enum cq_quantize_flags {
    CQ_QUANTIZE_ASYMMETRIC = 1 /* weights have zero points; MatMulInteger's always have */
} cq_quantize_flags;

/* How calibration chooses the range of a value. */
typedef enum cq_calibration {
    CQ_CALIBRATION_MIN_MAX    = 0,
    CQ_CALIBRATION_PERCENTILE = 1, /* the share options.percentile of all numbers is in range */
    CQ_CALIBRATION_ENTROPY    = 2  /* the least Kullback-Leibler divergence */
} cq_calibration;

typedef struct cq_quantize_options {
    size_t             struct_size; /* set by cq_quantize_options_init, never by hand */
    cq_quantize_mode   mode;        /* default CQ_QUANTIZE_WEIGHTS */
    cq_quantize_target target;      /* default CQ_QUANTIZE_STANDARD */
    int32_t            bits;        /* 8, the default, or 4: of weights */
    int64_t            block;       /* weights that share a scale; 0, the default: an output channel
                                     * in 8 bits, 32 in 4 */
    int64_t least;                  /* weights with fewer elements stay in float; default 256 */
    double  max_error; /* layers with a larger relative error stay in float; 0, the default: none */

    /* Options of static quantization. */
    cq_calibration method;      /* default CQ_CALIBRATION_MIN_MAX */
    double         percentile;  /* default 99.999 */
    const char    *calibration; /* a folder with sets of inputs; NULL: random inputs */
    double         input_low; /* of random float inputs; equal ends, the default: normal numbers */
    double         input_high;
    int64_t        n_random; /* sets of random inputs; default 8 */

    uint32_t flags; /* CQ_QUANTIZE_*; default 0 */
} cq_quantize_options;

CQ_API void cq_quantize_options_init(cq_quantize_options *options);

/* One layer, or one output of the model. */
typedef struct cq_quantized_layer {
    const char *name;    /* of the node, or of the output */
    const char *op_type; /* NULL: an output */
    const char *weight;  /* NULL: an output */
    int64_t     numel;   /* of the weight */
    /* Root of the squared differences over root of the squares: of the weight, and of the result.
     * The result of a layer is compared for float inputs of that layer; -1: not measured. */
    double weight_error, error;
    bool   is_kept; /* in float, because the error exceeds max_error */
} cq_quantized_layer;

typedef void (*cq_quantize_hook)(void *user, const cq_quantized_layer *layer);

/* Quantizes the layers (MatMul, Gemm, Conv) of the model that have constant weights. The opset is
 * raised if the operators need it. If hook is not NULL, it is called for each layer; this measures
 * the errors, which reads all weights. options may be NULL. */
CQ_API cq_status cq_onnx_model_quantize(cq_onnx_model *model, const cq_quantize_options *options,
                                        cq_quantize_hook hook, void *user);

/* Runs both models on the same inputs: those of how->example, of options->calibration, or random
 * ones. The relative error of an output must not exceed how->rtol; how may be NULL: 0.1 for 8 bits
 * and 0.5 for 4. hook, if not NULL, is called for each output. proof->skipped says why nothing was
 * compared. */
CQ_API cq_status cq_onnx_prove_quantized(cq_proof *proof, const cq_onnx_model *before,
                                         const cq_onnx_model       *after,
                                         const cq_quantize_options *options,
                                         const cq_proof_options *how, cq_quantize_hook hook,
                                         void *user);

#ifdef __cplusplus
}
#endif

#endif
