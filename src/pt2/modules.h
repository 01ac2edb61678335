/* The modules that a program is in while it runs (modules.c). */
#ifndef CQ_PT2_MODULES_H
#define CQ_PT2_MODULES_H

#include "pt2/run.h"

enum { CQ_PT2_MAX_MODULES = 64 };

typedef struct cq_pt2_modules {
    cq_scope            scopes[CQ_PT2_MAX_MODULES];
    size_t              n;
    const char         *stack; /* as the file has it */
    const cq_pt2_node  *last;  /* that ran in them */
    const cq_pt2_graph *graph; /* whose node it is */
} cq_pt2_modules;

#endif
