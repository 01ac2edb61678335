/* The data files of a model that is being replaced. */
#ifndef CQ_ONNX_FILE_OLD_DATA_H
#define CQ_ONNX_FILE_OLD_DATA_H

#include "onnx/file/external.h"

/* PATH.data if `preferred` is set and no file has that name, otherwise PATH.data.0123456789abcdef,
 * a random name that no other program chooses. The caller frees *out. */
cq_status cq_onnx_data_path(char **out, const char *path, bool preferred);

/* Schedules the deletion of data files that only the replaced model at path uses, and of those that
 * an interrupted save to path left. files are those of the model that is being saved: they are
 * kept. has_data: the new model has a data file. */
cq_status cq_onnx_delete_old_data(const char *path, const cq_onnx_files *files, bool has_data);

#endif
