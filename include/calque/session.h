/* Running ONNX models.
 *
 *     cq_session *session;
 *     if (cq_session_prepare_file(&session, "model.onnx", NULL) == CQ_OK &&
 *         cq_session_run_tensors(session, &x, 1, &y, 1) == CQ_OK)
 *         use(y);
 *     cq_tensor_release(y);
 *     cq_session_free(session);
 *
 * The calls have the shape of ONNX's backend interface: prepare, run, run_model, run_node,
 * supports_device. A session never changes once it is prepared: several threads can run it
 * at once, and a run that fails leaves it as it was. */
#ifndef CALQUE_SESSION_H
#define CALQUE_SESSION_H

#include <calque/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values: what a model takes and gives ---- */

typedef enum cq_onnx_kind_of_value {
    CQ_ONNX_VALUE_NONE     = 0, /* an empty optional */
    CQ_ONNX_VALUE_TENSOR   = 1,
    CQ_ONNX_VALUE_STRINGS  = 2, /* a tensor of strings */
    CQ_ONNX_VALUE_SEQUENCE = 3,
    CQ_ONNX_VALUE_MAP      = 4 /* two items: a tensor of its keys, and one of their values */
} cq_onnx_kind_of_value;

/* A refcounted handle, and what it holds does not change. */
typedef struct cq_onnx_value cq_onnx_value;

/* A tensor that is in a model, an initializer or an attribute: a view of the file where its layout
 * allows, which stays valid when the model is freed. */
CQ_API cq_status cq_onnx_value_of(cq_onnx_value **out, const cq_onnx_model *model,
                                  const cq_onnx_tensor *tensor);

/* Values are retained, strings copied; lengths NULL: they end with a 0. */
CQ_API cq_status cq_onnx_value_new_none(cq_onnx_value **out);
CQ_API cq_status cq_onnx_value_new_tensor(cq_onnx_value **out, cq_tensor *tensor);
CQ_API cq_status cq_onnx_value_new_strings(cq_onnx_value **out, size_t rank, const int64_t *sizes,
                                           const char *const *strings, const size_t *lengths);
CQ_API cq_status cq_onnx_value_new_sequence(cq_onnx_value **out, cq_onnx_value *const *items,
                                            size_t n);

/* keys are a tensor of int64 or of strings, values one with as many elements. */
CQ_API cq_status cq_onnx_value_new_map(cq_onnx_value **out, cq_onnx_value *keys,
                                       cq_onnx_value *values);

CQ_API cq_onnx_value *cq_onnx_value_retain(cq_onnx_value *value);  /* returns value */
CQ_API void           cq_onnx_value_release(cq_onnx_value *value); /* NULL is fine */

CQ_API cq_onnx_kind_of_value cq_onnx_value_kind(const cq_onnx_value *value);

/* The tensor, borrowed; NULL when it is none. */
CQ_API cq_tensor *cq_onnx_value_tensor(const cq_onnx_value *value);

/* Of a tensor of strings: elements in row-major order. */
CQ_API size_t      cq_onnx_value_rank(const cq_onnx_value *value);
CQ_API int64_t     cq_onnx_value_size(const cq_onnx_value *value, size_t axis);
CQ_API const char *cq_onnx_value_string(const cq_onnx_value *value, size_t index, size_t *length);

/* Items of a sequence or map, elements of a tensor of strings; else 0. */
CQ_API size_t    cq_onnx_value_count(const cq_onnx_value *value);
CQ_API cq_status cq_onnx_value_item(cq_onnx_value **out, const cq_onnx_value *value, size_t index);

/* Files of ONNX's test data. They do not say what they hold: the type of a model's input or
 * output does. */
CQ_API cq_status cq_onnx_value_load_for(cq_onnx_value **out, const char *path,
                                        const cq_onnx_model *model, cq_onnx_side side,
                                        size_t index);
CQ_API cq_status cq_onnx_value_save_for(const cq_onnx_value *value, const char *path,
                                        const cq_onnx_model *model, cq_onnx_side side,
                                        size_t index);

/* CQ_OK when got has the type, shape and, within tolerance, the elements of want:
 * |got - want| <= atol + rtol * |want|, and NaN equals NaN. Else CQ_E_TYPE, and the message
 * says what differs. */
CQ_API cq_status cq_onnx_value_compare(const cq_onnx_value *got, const cq_onnx_value *want,
                                       double rtol, double atol);

/* ---- sessions ---- */

typedef struct cq_session cq_session;

enum {
    CQ_SESSION_TRAP_NAN   = 1, /* a node that makes NaN or infinity of finite numbers fails */
    CQ_SESSION_NO_FOLDING = 2  /* nothing is computed before the first run */
};

/* A node that has run; times in nanoseconds. Called by the thread that runs. */
typedef void (*cq_session_hook)(void *user, const char *node, const char *op_type, int64_t begin,
                                int64_t end);

typedef struct cq_session_options {
    size_t             struct_size; /* set by cq_session_options_init, never by hand */
    uint32_t           flags;       /* CQ_SESSION_*; default 0 */
    const char        *device;      /* "CPU", the default, or "CPU:0" */
    const char *const *fetch;       /* names of inner values, which become outputs after the */
    size_t             n_fetch;     /* model's own */
    uint64_t           max_memory;  /* bytes of tensors that a run may hold; nodes may need as
                                     * much again beside them. 0: 1 GiB and 256 times what weights
                                     * and given inputs take, or three quarters of what is available,
                                     * and a quarter of it beside them; UINT64_MAX: no limit */
    /* Steps that a run may take. A step is about a tenth of a microsecond: a node is eight, 64
     * elements that are read or written are one, and 2048 products of float32. 0: 50 million, and
     * for each byte of weights and given inputs 3, or 10 for those beyond 10 MiB: a loop in a file
     * from nowhere that never ends is refused after seconds. UINT64_MAX: no limit. */
    uint64_t        max_steps;
    cq_session_hook hook; /* NULL: none */
    void           *hook_user;
    int32_t         threads; /* that a run computes with; 0: as many as cq_set_threads says */
} cq_session_options;

CQ_API void cq_session_options_init(cq_session_options *options);

/* Prepares a model to be run; options may be NULL. Weights are used where they lie in the
 * file, which must not change. Free *out with cq_session_free. model is borrowed and must
 * live, unchanged, as long as the session. */
CQ_API cq_status cq_session_prepare(cq_session **out, const cq_onnx_model *model,
                                    const cq_session_options *options);
CQ_API cq_status cq_session_prepare_file(cq_session **out, const char *path,
                                         const cq_session_options *options);
CQ_API cq_status cq_session_prepare_bytes(cq_session **out, const void *data, size_t size,
                                          const cq_session_options *options);
CQ_API void      cq_session_free(cq_session *session); /* NULL is fine */

CQ_API const cq_onnx_model *cq_session_model(const cq_session *session);
CQ_API size_t               cq_session_n_inputs(const cq_session *session);
CQ_API size_t               cq_session_n_outputs(const cq_session *session);
CQ_API const char          *cq_session_input_name(const cq_session *session, size_t index);
CQ_API const char          *cq_session_output_name(const cq_session *session, size_t index);

/* Whether an input need not be given. */
CQ_API bool cq_session_input_is_optional(const cq_session *session, size_t index);

/* Which input a person means by its position: those without a default count first, in the model's
 * order, then those that have one, which many files have for every weight. */
CQ_API size_t cq_session_input_at(const cq_session *session, size_t position);

/* Runs. names NULL: inputs are in the model's order; NULL among them is an input left out.
 * outputs gets cq_session_n_outputs values that are the caller's to release. */
CQ_API cq_status cq_session_run(const cq_session *session, const char *const *names,
                                cq_onnx_value *const *inputs, size_t n_inputs,
                                cq_onnx_value **outputs);

/* The same for models that know tensors only; of more outputs than n_outputs the rest is
 * dropped. */
CQ_API cq_status cq_session_run_tensors(const cq_session *session, cq_tensor *const *inputs,
                                        size_t n_inputs, cq_tensor **outputs, size_t n_outputs);

/* ---- profiles: when each node ran ---- */

typedef struct cq_profile cq_profile;

CQ_API cq_status cq_profile_new(cq_profile **out);
CQ_API void      cq_profile_free(cq_profile *profile); /* NULL is fine */

/* The hook of cq_session_options that notes nodes, with the profile as hook_user; also of several
 * threads at once. A session that has it must not outlive the profile. */
CQ_API void cq_profile_note(void *profile, const char *node, const char *op_type, int64_t begin,
                            int64_t end);

/* Writes what was noted, and forgets it: a trace for chrome://tracing, with cq_session_peak_memory
 * of the session, which may be NULL. */
CQ_API cq_status cq_profile_save(cq_profile *profile, const char *path, const cq_session *session);

/* The most bytes that the tensors of one run have taken so far, weights not among them. From the
 * second run on inputs of the same shapes on, tensors lie in one piece of memory that was planned
 * for that. */
CQ_API uint64_t cq_session_peak_memory(const cq_session *session);

/* Prepare and run at once. */
CQ_API cq_status cq_session_run_model(const cq_onnx_model *model, cq_onnx_value *const *inputs,
                                      size_t n_inputs, cq_onnx_value **outputs, size_t n_outputs,
                                      const char *device);

/* Runs one node: a NodeProto in its bytes, of that version of its domain. */
CQ_API cq_status cq_session_run_node(const void *node, size_t node_size, int64_t version,
                                     cq_onnx_value *const *inputs, size_t n_inputs,
                                     cq_onnx_value **outputs, size_t n_outputs, const char *device);

CQ_API bool cq_session_supports_device(const char *device);

/* Replays a folder of ONNX's test data: runs model (NULL: folder/model.onnx) on the inputs of
 * each test_data_set_N, and compares; gradients of parameters too, if there are some, with how the
 * outputs change when the parameters do. CQ_OK when all agree; else the message says what does not.
 * options may be NULL. */
CQ_API cq_status cq_onnx_verify(const char *folder, const char *model, double rtol, double atol,
                                const cq_session_options *options);

#ifdef __cplusplus
}
#endif

#endif
