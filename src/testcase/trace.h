/* A trace of the steps of an export, for chrome://tracing and similar viewers. */
#ifndef CQ_TESTCASE_TRACE_H
#define CQ_TESTCASE_TRACE_H

#include "base/str.h"

typedef struct cq_trace {
    cq_str  events;
    int64_t began; /* of the current step, microseconds */
} cq_trace;

void cq_trace_begin(cq_trace *trace);

/* The step since the last call, or since the beginning, was this one. */
void cq_trace_step(cq_trace *trace, const char *name);

/* Writes JSON, compressed, and clears the trace. */
cq_status cq_trace_write(cq_trace *trace, const char *path);
void      cq_trace_clear(cq_trace *trace);

#endif
