/* ONNX messages as protobuf bytes, both directions. The tables in fields.h define the messages;
 * decode.c and encode.c implement protobuf and are independent of ONNX. */
#ifndef CQ_ONNX_FILE_WIRE_H
#define CQ_ONNX_FILE_WIRE_H

#include "base/file.h"
#include "base/map.h"
#include "onnx/file/fields.h"

/* Limits for files. */
enum {
    /* Nesting of messages: protobuf's own limit, so other readers can read what this one reads. A
     * subgraph counts three. */
    CQ_ONNX_MAX_DEPTH = 100,

    /* Bytes of memory for a byte of file, beyond CQ_ONNX_MEMORY_FLOOR. An empty node is
     * two bytes there and 200 here; real models stay below 20. */
    CQ_ONNX_MEMORY_FACTOR = 64,
    CQ_ONNX_MEMORY_FLOOR  = 1 << 20
};

/* The most bytes that a message may have in a file that others can read. */
#define CQ_ONNX_MAX_FILE INT32_MAX

/* Reads a message of that kind from bytes, into a zeroed struct of m's. Strings are
 * copied, bytes stay views: data must live as long as m. where names the file in errors. */
cq_status cq_onnx_decode(cq_onnx_model *m, const cq_onnx_message *message, void *into,
                         const void *data, size_t size, const char *where);

/* Encoding is planned, which fixes every length, and then streamed; nothing may change in between.
 * instead, if not NULL, maps a cq_onnx_tensor to the one that is written instead, and must live as
 * long as the plan. */
typedef struct cq_onnx_encoding cq_onnx_encoding;

cq_status cq_onnx_encoding_new(cq_onnx_encoding **out, const cq_onnx_message *message,
                               const void *from, const cq_ptr_map *instead);
uint64_t  cq_onnx_encoding_size(const cq_onnx_encoding *e);
void      cq_onnx_encoding_write(cq_onnx_encoding *e, cq_out *out);
void      cq_onnx_encoding_free(cq_onnx_encoding *e);

/* Writes the elements of t in row-major order, without a copy of the whole; and their size in
 * bytes: 4-bit elements are packed in pairs. */
size_t cq_onnx_elements_size(const cq_tensor *t);
void   cq_onnx_write_elements(cq_out *out, const cq_tensor *t);

/* Fails if a file that is to hold a message has no bytes. */
cq_status cq_onnx_check_not_empty(const char *path, size_t size);

#endif
