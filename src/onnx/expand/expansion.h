/* How to write a body: lines of ONNX's text, in which inputs and outputs have the names of the
 * schema (onnx/ops/microsoft.c). C decides what depends on attributes and on what is given;
 * what depends on shapes is up to the nodes, for ranks are not known here.
 *
 *     static void bias_gelu(cq_expansion *e)
 *     {
 *         cq_say(e, "s = Add (A, B)");
 *         cq_say(e, "C = Gelu (s)");
 *     }
 */
#ifndef CQ_ONNX_EXPANSION_H
#define CQ_ONNX_EXPANSION_H

#include "base/str.h"
#include "onnx/schema.h"

/* The opset that bodies are written in. */
#define CQ_EXPANSION_OPSET 24

typedef struct cq_expansion {
    const cq_onnx_node   *node;
    const cq_onnx_schema *schema;
    cq_str                text;
    const char           *refusal; /* why it cannot be; NULL: it can */
} cq_expansion;

typedef struct cq_expansion_row {
    const char *op;
    void (*write)(cq_expansion *e);
} cq_expansion_row;

extern const cq_expansion_row cq_expansions_fused[];
extern const cq_expansion_row cq_expansions_attention[];
extern const cq_expansion_row cq_expansions_quantized[];
extern const cq_expansion_row cq_expansions_experimental[];

void cq_say(cq_expansion *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* `name = value`, of the type that the value like has. */
void cq_say_constant(cq_expansion *e, const char *name, double value, const char *like);

/* Attributes of the node as text, those of names that are given: "pads: ints = [1, 1], group: …".
 * names ends with NULL. */
void cq_say_attributes(cq_expansion *e, const char *const *names);

bool cq_expansion_has(const cq_expansion *e, size_t input);
bool cq_expansion_wants(const cq_expansion *e, size_t output);

/* Attributes, or the schema's default; 0 or "" without one. */
const cq_onnx_attribute *cq_expansion_attr(const cq_expansion *e, const char *name);
int64_t                  cq_expansion_int(const cq_expansion *e, const char *name);
double                   cq_expansion_float(const cq_expansion *e, const char *name);
bool                     cq_expansion_is(const cq_expansion *e, const char *name, const char *text);

/* attention.c: `output` and `present` of q, k, v of rank 3, for Attention and its quantized form.
 */
void cq_say_attention(cq_expansion *e, size_t mask, size_t past);

#endif
