/* Properties of a program's inputs and outputs that ONNX has no field for (pt2_metadata.c). */
#ifndef CQ_EXPORT_FRONT_PT2_METADATA_H
#define CQ_EXPORT_FRONT_PT2_METADATA_H

#include "onnx/model.h"
#include "pt2/model.h"

cq_status cq_pt2_add_metadata(cq_onnx_model *onnx, const cq_pt2 *model);

#endif
