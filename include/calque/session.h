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
 * supports_device. A prepared session is immutable: several threads can run it concurrently, and a
 * failing run does not affect it. */
#ifndef CALQUE_SESSION_H
#define CALQUE_SESSION_H

#include <calque/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values: inputs and outputs ---- */

typedef enum cq_onnx_kind_of_value {
    CQ_ONNX_VALUE_NONE     = 0, /* an empty optional */
    CQ_ONNX_VALUE_TENSOR   = 1,
    CQ_ONNX_VALUE_STRINGS  = 2, /* a tensor of strings */
    CQ_ONNX_VALUE_SEQUENCE = 3,
    CQ_ONNX_VALUE_MAP      = 4 /* two items: a tensor of its keys, and one of their values */
} cq_onnx_kind_of_value;

/* A refcounted handle of an immutable value. */
typedef struct cq_onnx_value cq_onnx_value;

/* A tensor of a model, an initializer or an attribute: a view of the file if the layout allows. It
 * stays valid after the model is freed. */
CQ_API cq_status cq_onnx_value_of(cq_onnx_value **out, const cq_onnx_model *model,
                                  const cq_onnx_tensor *tensor);

/* Values are retained, strings are copied; lengths NULL: strings are NUL-terminated. */
CQ_API cq_status cq_onnx_value_new_none(cq_onnx_value **out);
CQ_API cq_status cq_onnx_value_new_tensor(cq_onnx_value **out, cq_tensor *tensor);
CQ_API cq_status cq_onnx_value_new_strings(cq_onnx_value **out, size_t rank, const int64_t *sizes,
                                           const char *const *strings, const size_t *lengths);
CQ_API cq_status cq_onnx_value_new_sequence(cq_onnx_value **out, cq_onnx_value *const *items,
                                            size_t n);

/* keys is a tensor of int64 or strings, values a tensor with as many elements. */
CQ_API cq_status cq_onnx_value_new_map(cq_onnx_value **out, cq_onnx_value *keys,
                                       cq_onnx_value *values);

CQ_API cq_onnx_value *cq_onnx_value_retain(cq_onnx_value *value);  /* returns value */
CQ_API void           cq_onnx_value_release(cq_onnx_value *value); /* NULL is fine */

CQ_API cq_onnx_kind_of_value cq_onnx_value_kind(const cq_onnx_value *value);

/* The tensor, borrowed; NULL if it is not a tensor. */
CQ_API cq_tensor *cq_onnx_value_tensor(const cq_onnx_value *value);

/* For a tensor of strings: rank, sizes, and elements in row-major order. */
CQ_API size_t      cq_onnx_value_rank(const cq_onnx_value *value);
CQ_API int64_t     cq_onnx_value_size(const cq_onnx_value *value, size_t axis);
CQ_API const char *cq_onnx_value_string(const cq_onnx_value *value, size_t index, size_t *length);

/* The number of items of a sequence or map, or of elements of a string tensor; otherwise 0. */
CQ_API size_t    cq_onnx_value_count(const cq_onnx_value *value);
CQ_API cq_status cq_onnx_value_item(cq_onnx_value **out, const cq_onnx_value *value, size_t index);

/* Files of ONNX's test data. They do not contain their type, so it is taken from an input or output
 * of the model. */
CQ_API cq_status cq_onnx_value_load_for(cq_onnx_value **out, const char *path,
                                        const cq_onnx_model *model, cq_onnx_side side,
                                        size_t index);
CQ_API cq_status cq_onnx_value_save_for(const cq_onnx_value *value, const char *path,
                                        const cq_onnx_model *model, cq_onnx_side side,
                                        size_t index);

/* CQ_OK if both have the same type, shape and, within tolerance, elements:
 * |got - want| <= atol + rtol * |want|; NaN equals NaN. Otherwise CQ_E_TYPE with a message about
 * the difference. */
CQ_API cq_status cq_onnx_value_compare(const cq_onnx_value *got, const cq_onnx_value *want,
                                       double rtol, double atol);

/* ---- sessions ---- */

typedef struct cq_session cq_session;

enum {
    CQ_SESSION_TRAP_NAN   = 1, /* fail if a node turns finite numbers into NaN or infinity */
    CQ_SESSION_NO_FOLDING = 2  /* compute nothing before the first run */
};

/* Called after each node, in the thread of the run; times are in nanoseconds. */
typedef void (*cq_session_hook)(void *user, const char *node, const char *op_type, int64_t begin,
                                int64_t end);

typedef struct cq_session_options {
    size_t             struct_size; /* set by cq_session_options_init, never by hand */
    uint32_t           flags;       /* CQ_SESSION_*; default 0 */
    const char        *device;      /* "CPU", the default, or "CPU:0" */
    const char *const *fetch;       /* intermediate values that become additional outputs */
    size_t             n_fetch;
    /* Limit in bytes for the tensors of a run; temporary memory of nodes may take as much again. 0:
     * 1 GiB plus 2 times the first 10 MiB of the weights plus 256 times the rest of them and the
     * given inputs, or three quarters of the available memory (and a quarter of it for temporary
     * memory). UINT64_MAX: no limit. */
    uint64_t max_memory;
    /* Limit for the steps of a run, of about 0.1 µs each: a node costs eight steps; 64 elements
     * read or written, or 2048 float32 multiplications, cost one. 0: 50 million plus 3 for each
     * byte of weights and given inputs (10 for bytes beyond 10 MiB), so that an infinite loop in an
     * untrusted file is refused after seconds. UINT64_MAX: no limit. */
    uint64_t        max_steps;
    cq_session_hook hook; /* NULL: none */
    void           *hook_user;
    int32_t         threads; /* 0: the number set by cq_set_threads */
} cq_session_options;

CQ_API void cq_session_options_init(cq_session_options *options);

/* Prepares a model for running; options may be NULL. Weights are read from the mapped file, which
 * must not change. The model must outlive the session unchanged. Free *out with
 * cq_session_free. */
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

/* Whether an input may be omitted. */
CQ_API bool cq_session_input_is_optional(const cq_session *session, size_t index);

/* The input at a position of the command line: required inputs come first, in the model's order,
 * then optional ones. Many files list every weight as an optional input. */
CQ_API size_t cq_session_input_at(const cq_session *session, size_t position);

/* Runs the model. names NULL: inputs are in the model's order; a NULL input is omitted. outputs
 * receives cq_session_n_outputs values, which the caller releases. */
CQ_API cq_status cq_session_run(const cq_session *session, const char *const *names,
                                cq_onnx_value *const *inputs, size_t n_inputs,
                                cq_onnx_value **outputs);

/* The same for models with tensors only; outputs beyond n_outputs are dropped. */
CQ_API cq_status cq_session_run_tensors(const cq_session *session, cq_tensor *const *inputs,
                                        size_t n_inputs, cq_tensor **outputs, size_t n_outputs);

/* ---- profiles: when each node ran ---- */

typedef struct cq_profile cq_profile;

CQ_API cq_status cq_profile_new(cq_profile **out);
CQ_API void      cq_profile_free(cq_profile *profile); /* NULL is fine */

/* A hook for cq_session_options that records nodes, with the profile as hook_user. It is
 * thread-safe. The session must not outlive the profile. */
CQ_API void cq_profile_note(void *profile, const char *node, const char *op_type, int64_t begin,
                            int64_t end);

/* Writes the recorded nodes as a trace for chrome://tracing and clears them. If session is not
 * NULL, the trace contains its cq_session_peak_memory. */
CQ_API cq_status cq_profile_save(cq_profile *profile, const char *path, const cq_session *session);

/* Peak memory of the tensors of a run so far in bytes, without weights. From the second run with
 * the same input shapes on, all tensors are in one planned arena. */
CQ_API uint64_t cq_session_peak_memory(const cq_session *session);

/* Prepare and run at once. */
CQ_API cq_status cq_session_run_model(const cq_onnx_model *model, cq_onnx_value *const *inputs,
                                      size_t n_inputs, cq_onnx_value **outputs, size_t n_outputs,
                                      const char *device);

/* Runs one node, an encoded NodeProto, with that version of its domain. */
CQ_API cq_status cq_session_run_node(const void *node, size_t node_size, int64_t version,
                                     cq_onnx_value *const *inputs, size_t n_inputs,
                                     cq_onnx_value **outputs, size_t n_outputs, const char *device);

CQ_API bool cq_session_supports_device(const char *device);

/* Verifies a folder of ONNX test data: runs model (NULL: folder/model.onnx) on the inputs of each
 * test_data_set_N and compares the outputs. Gradients of parameters, if present, are compared with
 * numerical derivatives. The error message describes the first difference. options may be NULL. */
CQ_API cq_status cq_onnx_verify(const char *folder, const char *model, double rtol, double atol,
                                const cq_session_options *options);

#ifdef __cplusplus
}
#endif

#endif
