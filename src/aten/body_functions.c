/* Functions that bodies share (body.h). */
#include "aten/body.h"

const cq_body_function cq_body_functions[] = {
    { 0 },
};
