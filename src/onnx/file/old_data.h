/* The data files of a model that is being replaced. */
#ifndef CQ_ONNX_FILE_OLD_DATA_H
#define CQ_ONNX_FILE_OLD_DATA_H

#include "onnx/file/external.h"

/* PATH.data if no file has that name and preferred, else PATH.data.0123456789abcdef: a name that no
 * other program can choose. *out is to be freed. */
cq_status cq_onnx_data_path(char **out, const char *path, bool preferred);

/* Makes the batch delete the data files that only the replaced model at path uses, and those that
 * an interrupted save to path left. files are those of the model that is being saved: they are
 * kept. has_data: the new model has a data file. */
cq_status cq_onnx_delete_old_data(const char *path, const cq_onnx_files *files, bool has_data);

#endif
