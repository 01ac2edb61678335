#include "testcase/trace.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/path.h"

#include <inttypes.h>
#include <zlib.h>

void cq_trace_begin(cq_trace *trace)
{
    *trace = (cq_trace){ .began = cq_now() / 1000 };
}

void cq_trace_step(cq_trace *trace, const char *name)
{
    int64_t end = cq_now() / 1000;

    cq_str_printf(&trace->events,
                  "%s\n{\"name\": \"%s\", \"cat\": \"export\", \"ph\": \"X\", \"ts\": %" PRId64
                  ", \"dur\": %" PRId64 ", \"pid\": %ld, \"tid\": 0}",
                  trace->events.len ? "," : "", name, trace->began, end - trace->began,
                  cq_process_id());
    trace->began = end;
}

/* gzip, as its reader expects. */
static cq_status compress_text(void **out, size_t *size, const cq_str *text)
{
    z_stream s = { .next_in = (unsigned char *)text->text, .avail_in = (unsigned)text->len };

    if (deflateInit2(&s, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK)
        return cq_no_memory();
    *size = deflateBound(&s, s.avail_in);
    *out  = cq_alloc(*size);
    if (*out) {
        s.next_out  = *out;
        s.avail_out = (unsigned)*size;
        deflate(&s, Z_FINISH); /* there is room for all of it */
        *size = s.total_out;
    }
    deflateEnd(&s);
    return *out ? CQ_OK : CQ_E_NO_MEMORY;
}

cq_status cq_trace_write(cq_trace *trace, const char *path)
{
    cq_str    text = { 0 };
    void     *data = NULL;
    size_t    size;
    cq_status status;

    CQ_TRY_OR_DONE(trace->events.status);
    cq_str_printf(&text, "{\"traceEvents\": [%s\n]}\n", cq_str_text(&trace->events));
    CQ_TRY_OR_DONE(text.status);
    CQ_TRY_OR_DONE(compress_text(&data, &size, &text));
    status = cq_file_write(path, data, size);
done:
    cq_free(data);
    cq_str_clear(&text);
    cq_trace_clear(trace);
    return status;
}

void cq_trace_clear(cq_trace *trace)
{
    cq_str_clear(&trace->events);
}
