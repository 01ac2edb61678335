/* Changing the initializers of models and tensor files: what strip and unstrip share. */
#ifndef CQ_TESTCASE_EDIT_H
#define CQ_TESTCASE_EDIT_H

#include "onnx/model.h"

typedef struct cq_edit cq_edit;

struct cq_edit {
    /* Changes a graph, but not the graphs inside it. */
    cq_status (*graph)(cq_edit *edit, cq_onnx_model *m, cq_onnx_graph *graph);
    uint32_t save_flags; /* CQ_ONNX_SAVE_*, for models */
    bool     changed;    /* set by graph when it does anything */
    bool     own_file;   /* the bytes of the model are not shared */
};

/* The main graph and the subgraphs in attributes of its nodes, inner ones first. Graphs in lists
 * and in functions are skipped, as in pytorch-pfn-extras. */
cq_status cq_edit_model(cq_edit *edit, cq_onnx_model *m);

/* Edits the model or, if path ends in .pb, the tensor in a file, and writes it to out (which may be
 * path). The edit sees a tensor as the only initializer of a graph. Unchanged parts are copied. */
cq_status cq_edit_file(cq_edit *edit, const char *path, const char *out);

/* One tensor message into a file. */
cq_status cq_write_tensor_message(const char *path, const cq_onnx_tensor *tensor);

/* Takes the elements out of a message, wherever they are. */
void cq_clear_elements(cq_onnx_tensor *tensor);

#endif
