/* The parts of a proof: inputs that a model accepts, and the comparison of results. */
#ifndef CQ_EDIT_PROOF_H
#define CQ_EDIT_PROOF_H

#include "onnx/model.h"

#include <calque/edit.h>
#include <calque/session.h>

typedef struct cq_given_size {
    const char *name;
    int64_t     size;
} cq_given_size;

/* How random inputs are chosen. Models may refuse inputs: an index can be too large, and two
 * sizes of different names may have to be equal. */
typedef struct cq_input_choice {
    int64_t size;     /* of dynamic axes */
    bool    distinct; /* axes of different names get size, size + 1, … */
    int64_t below;    /* integers are from 0 to below - 1 */

    cq_given_size given[32]; /* sizes of dynamic axes by name */
    size_t        n_given;
} cq_input_choice;

/* In the order in which they are tried. */
enum { CQ_N_INPUT_CHOICES = 9 };
extern const cq_input_choice cq_input_choices[CQ_N_INPUT_CHOICES];

/* Bytes of the initializers of a model. */
uint64_t cq_proof_weight_bytes(const cq_onnx_model *m);

/* One value for each input of a model; NULL: its initializer is the default. */
typedef struct cq_input_set {
    cq_onnx_value **items;
    size_t          n;
} cq_input_set;

void cq_input_set_clear(cq_input_set *set);

/* Random inputs of before. A size that only after declares as a number is that number. */
cq_status cq_input_set_random(cq_input_set *out, const cq_onnx_model *before,
                              const cq_onnx_model *after, const cq_input_choice *choice,
                              uint64_t seed);

/* From the files of a folder. */
cq_status cq_input_set_load(cq_input_set *out, const cq_onnx_model *m, const char *folder);

/* The same inputs in the order of another model, which may declare other element types. */
cq_status cq_input_set_map(cq_input_set *out, const cq_input_set *in, const cq_onnx_model *from,
                           const cq_onnx_model *to);

/* Rounds inputs that the other model declares with a narrower type, so that both compute with the
 * same numbers. */
cq_status cq_input_set_round(cq_input_set *set, const cq_onnx_model *m, const cq_onnx_model *other);

/* Whether an input has an axis without a number in both models. */
bool cq_inputs_are_dynamic(const cq_onnx_model *before, const cq_onnx_model *after);

typedef struct cq_tolerance {
    double rtol, atol;
    bool   is_lossy, is_quantized;
} cq_tolerance;

typedef struct cq_difference {
    bool    is_equal;
    double  largest;
    int64_t n_off, n; /* elements beyond the tolerance, all elements */
    char    why[160]; /* shapes or kinds differ; "" if only numbers do */
} cq_difference;

void cq_compare_values(cq_difference *out, const cq_onnx_value *got, const cq_onnx_value *want,
                       const cq_tolerance *tolerance);

/* prove_sizes.c: runs after at sizes of its inputs that before does not accept. */
cq_status cq_prove_sizes(cq_proof *result, const cq_onnx_model *before, const cq_onnx_model *after,
                         const cq_proof_options *options, const cq_tolerance *tolerance);

/* Whether an axis of an input has another number in each. */
bool cq_sizes_are_fixed_otherwise(const cq_onnx_model *before, const cq_onnx_model *after);

#endif
