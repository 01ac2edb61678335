#include "testcase/trace.h"

#include <inttypes.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

static int64_t now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

void cq_trace_begin(cq_trace *trace)
{
    *trace = (cq_trace){ .began = now() };
}

void cq_trace_step(cq_trace *trace, const char *name)
{
    int64_t end = now();

    cq_str_printf(&trace->events,
                  "%s\n{\"name\": \"%s\", \"cat\": \"export\", \"ph\": \"X\", \"ts\": %" PRId64
                  ", \"dur\": %" PRId64 ", \"pid\": %ld, \"tid\": 0}",
                  trace->events.len ? "," : "", name, trace->began, end - trace->began,
                  (long)getpid());
    trace->began = end;
}

cq_status cq_trace_write(cq_trace *trace, const char *path)
{
    cq_status status = trace->events.status;
    gzFile    file   = status == CQ_OK ? gzopen(path, "wb") : NULL;
    bool      ok     = false;

    if (file) {
        ok = gzputs(file, "{\"traceEvents\": [") > 0 &&
             gzputs(file, cq_str_text(&trace->events)) >= 0 && gzputs(file, "\n]}\n") > 0;
        ok &= gzclose(file) == Z_OK;
    }
    if (status == CQ_OK && !ok) {
        if (file)
            unlink(path);
        status = cq_fail(CQ_E_IO, path, NULL, "cannot write the file");
    }
    cq_trace_clear(trace);
    return status;
}

void cq_trace_clear(cq_trace *trace)
{
    cq_str_clear(&trace->events);
}
