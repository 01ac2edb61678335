/* The options of a step of pre- or post-processing; step_options.c. */
#ifndef CQ_ONNX_PART_STEPS_H
#define CQ_ONNX_PART_STEPS_H

#include "onnx/model.h"

#include <calque/part.h>

enum { CQ_STEP_NAME_SIZE = 512, CQ_STEP_MAX_NUMBERS = 4 };

typedef struct cq_step_numbers {
    double items[CQ_STEP_MAX_NUMBERS];
    size_t n;
} cq_step_numbers;

typedef struct cq_step_options {
    char            name[32];
    char            value[CQ_STEP_NAME_SIZE]; /* input= or output=; "": the only one */
    char            boxes[CQ_STEP_NAME_SIZE], scores[CQ_STEP_NAME_SIZE];
    cq_step_numbers mean, std;
    double          scale, iou, score;
    int64_t         axis, k, max;
    bool            nhwc, center;
} cq_step_options;

/* "topk:5:axis=1"; an invalid text is CQ_E_ARGUMENT. */
cq_status cq_step_options_read(cq_step_options *out, const char *text);

#endif
