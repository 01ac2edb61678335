/* External data: weights in files beside the model. A file is opened when a tensor in it is first
 * read, and stays open as long as the model exists. */
#ifndef CQ_ONNX_FILE_EXTERNAL_H
#define CQ_ONNX_FILE_EXTERNAL_H

#include "onnx/model.h"

typedef struct cq_onnx_files cq_onnx_files;

/* Files are searched in the folder of the model file at path. */
cq_status cq_onnx_files_new(cq_onnx_files **out, const char *path);
void      cq_onnx_files_free(cq_onnx_files *files); /* accepts NULL */

/* Whether a path refers to an open data file or to the model itself. Accepts NULL. */
bool cq_onnx_files_has(const cq_onnx_files *files, const char *path);
bool cq_onnx_files_is_of(const cq_onnx_files *files, const char *path);

/* Whether a path is in the folder of the model, so that locations mean the same files. */
bool cq_onnx_files_is_beside(const cq_onnx_files *files, const char *path);

/* Whether a path refers to the file of an external tensor. */
bool cq_onnx_files_is_data(const cq_onnx_files *files, const cq_onnx_tensor *tensor,
                           const char *path);

bool cq_onnx_is_external(const cq_onnx_tensor *tensor);

/* Whether calque strip, or pytorch-pfn-extras, removed its data. */
bool cq_onnx_is_stripped(const cq_onnx_tensor *tensor);

/* The value of an entry, or NULL. */
const char *cq_onnx_entry_get(const cq_onnx_entries *entries, const char *key);

/* Why a location must not be used: absolute, or outside of the folder; NULL if it is valid. */
const char *cq_onnx_location_fault(const char *location);

/* The bytes of an external tensor, whose expected size is want. Threads may share a model. */
cq_status cq_onnx_external_storage(cq_storage **out, const cq_onnx_model *m,
                                   const cq_onnx_tensor *tensor, size_t want);

/* The total size of the data files of the graph's initializers. Each file counts once, even if many
 * tensors share it; unreadable files count 0. */
double cq_onnx_external_bytes(const cq_onnx_model *m);

/* Checks that the file exists and is readable; always succeeds for a model in memory. */
cq_status cq_onnx_external_file_check(const cq_onnx_model *m, const cq_onnx_tensor *tensor);

#endif
