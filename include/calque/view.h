/* Draws a model: as a self-contained HTML page, as the JSON document that the page draws, or as a
 * static SVG. The result has structure and statistics, never the weights. */
#ifndef CALQUE_VIEW_H
#define CALQUE_VIEW_H

#include <calque/session.h>
#include <calque/weights.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_view_format {
    CQ_VIEW_HTML = 0,
    CQ_VIEW_JSON = 1, /* the document that web/view/view.js draws */
    CQ_VIEW_SVG  = 2  /* the first view of the page */
} cq_view_format;

typedef struct cq_view_options {
    size_t         struct_size; /* set by cq_view_options_init, never by hand */
    const char    *title;       /* NULL: the name of the graph */
    const char    *profile;     /* a file of cq_profile_save, which colours nodes by time */
    const char    *report;      /* a report of `calque export --report` */
    cq_onnx_model *other;       /* drawn beside the model, with the differences; may be NULL */
    const char    *other_title;
    cq_profile    *trace;  /* instead of the file: a profile in memory; may be NULL */
    size_t         n_runs; /* number of runs that the trace recorded; 0: one */

    /* Inputs of the model, in order; NULL for an omitted one. FLOPs and memory are computed for
     * their sizes. Without them dynamic sizes are 1. */
    cq_onnx_value *const *inputs;
    size_t                n_inputs;
} cq_view_options;

CQ_API void cq_view_options_init(cq_view_options *options);

/* Draws a model. Free *text with cq_buffer_free. Shapes are inferred, and dynamic sizes of the
 * inputs are permanently set to 1 in the model (and in options->other) after they have been
 * recorded.
 * options may be NULL. */
CQ_API cq_status cq_onnx_model_view(char **text, size_t *size, cq_onnx_model *model,
                                    cq_view_format format, const cq_view_options *options);

/* The same into a file. */
CQ_API cq_status cq_onnx_model_view_file(const char *path, cq_onnx_model *model,
                                         cq_view_format format, const cq_view_options *options);

/* A checkpoint in the same form: its tensors in the boxes of their modules, with statistics. */
CQ_API cq_status cq_weights_view_file(const char *path, const cq_weights *weights,
                                      cq_view_format format, const char *title);

/* ---- where the time goes ---- */

typedef enum cq_time_kind {
    CQ_TIME_OPERATORS = 0, /* "Conv+Relu": operators that ran as one step */
    CQ_TIME_MODULES   = 1, /* "layer1", "layer1.0", … */
    CQ_TIME_NODES     = 2
} cq_time_kind;

/* Times of one run of the model. */
typedef struct cq_time_row {
    const char *name;
    int64_t     count; /* steps */
    double      seconds;
    double      flops; /* of convolutions and matrix products */
    int64_t     depth; /* MODULES: 1 for those of the model itself */
} cq_time_row;

typedef struct cq_times cq_times;

/* Adds up a profile, of options->profile or options->trace, by operator, module and node. Rows are
 * sorted by time. Like cq_onnx_model_view, it sets dynamic sizes of the inputs to 1. */
CQ_API cq_status cq_times_new(cq_times **out, cq_onnx_model *model, const cq_view_options *options);
CQ_API size_t    cq_times_count(const cq_times *times, cq_time_kind kind);
CQ_API const cq_time_row *cq_times_at(const cq_times *times, cq_time_kind kind, size_t index);
CQ_API double             cq_times_seconds(const cq_times *times); /* of all steps of a run */
CQ_API double             cq_times_flops(const cq_times *times);
CQ_API void               cq_times_free(cq_times *times); /* NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
