/* ONNX messages as protobuf, in both directions. The tables in fields.h define the messages;
 * decode.c and encode.c implement protobuf and are independent of ONNX. */
#ifndef CQ_ONNX_FILE_WIRE_H
#define CQ_ONNX_FILE_WIRE_H

#include "base/file.h"
#include "base/map.h"
#include "onnx/file/fields.h"

/* Limits of decoded files. */
enum {
    /* Nesting of messages: protobuf's own limit, so that other programs can read the same files. A
     * subgraph counts as three. */
    CQ_ONNX_MAX_DEPTH = 100,

    /* Bytes of memory per byte of file, beyond CQ_ONNX_MEMORY_FLOOR. An empty node takes two bytes
     * in the file and 200 in memory; real models stay below 20. */
    CQ_ONNX_MEMORY_FACTOR = 64,
    CQ_ONNX_MEMORY_FLOOR  = 1 << 20
};

/* Maximum size of a message that other programs can read. */
#define CQ_ONNX_MAX_FILE INT32_MAX

/* Decodes a message of that kind into a zeroed struct that belongs to m. Strings are copied, bytes
 * are views: data must outlive m. where names the file in errors. */
cq_status cq_onnx_decode(cq_onnx_model *m, const cq_onnx_message *message, void *into,
                         const void *data, size_t size, const char *where);

/* Encoding is planned, which fixes every length, and then streamed; the model must not change in
 * between. instead, if not NULL, maps a cq_onnx_tensor to the one that is written instead, and must
 * outlive the plan. */
typedef struct cq_onnx_encoding cq_onnx_encoding;

cq_status cq_onnx_encoding_new(cq_onnx_encoding **out, const cq_onnx_message *message,
                               const void *from, const cq_ptr_map *instead);
uint64_t  cq_onnx_encoding_size(const cq_onnx_encoding *e);
void      cq_onnx_encoding_write(cq_onnx_encoding *e, cq_out *out);
void      cq_onnx_encoding_free(cq_onnx_encoding *e);

/* Writes the elements of t in row-major order, without copying all of them at once; and returns
 * their size in bytes: 4-bit elements are packed in pairs. */
size_t cq_onnx_elements_size(const cq_tensor *t);
void   cq_onnx_write_elements(cq_out *out, const cq_tensor *t);

/* Fails if the file of a message is empty. */
cq_status cq_onnx_check_not_empty(const char *path, size_t size);

#endif
