/* A model as a picture: an HTML page that needs nothing else, the document that the page draws, or
 * a still SVG. The result has structure and statistics, never the weights. */
#ifndef CALQUE_VIEW_H
#define CALQUE_VIEW_H

#include <calque/onnx.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum cq_view_format {
    CQ_VIEW_HTML = 0,
    CQ_VIEW_JSON = 1, /* what web/view/view.js draws */
    CQ_VIEW_SVG  = 2  /* the first view of the page */
} cq_view_format;

typedef struct cq_view_options {
    size_t         struct_size; /* set by cq_view_options_init, never by hand */
    const char    *title;       /* NULL: the name of the graph */
    const char    *profile;     /* a file of cq_profile_save, which colours nodes by time */
    const char    *report;      /* a report of `calque export --report` */
    cq_onnx_model *other;       /* drawn beside the model, with what differs; may be NULL */
    const char    *other_title;
} cq_view_options;

CQ_API void cq_view_options_init(cq_view_options *options);

/* Draws a model. Free *text with cq_buffer_free. Shapes are inferred, and dynamic sizes of the
 * inputs are permanently set to 1 in the model (and in options->other) after they were noted.
 * options may be NULL. */
CQ_API cq_status cq_onnx_model_view(char **text, size_t *size, cq_onnx_model *model,
                                    cq_view_format format, const cq_view_options *options);

/* The same into a file. */
CQ_API cq_status cq_onnx_model_view_file(const char *path, cq_onnx_model *model,
                                         cq_view_format format, const cq_view_options *options);

#ifdef __cplusplus
}
#endif

#endif
