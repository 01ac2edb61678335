/* How to write a body: lines of ONNX's text, in which inputs and outputs have the names of the
 * schema (onnx/ops/microsoft.c), and a little more than that text has:
 *
 *     s = AddIf (Add (input, skip), bias)
 *     output = LayerNormalization <epsilon> (s, gamma, beta)
 *
 *   - calls may be arguments of calls, and so may constants: 3, [0, -1], like (0.5, X), which is of
 *     X's type, and like (@alpha, X), of an attribute;
 *   - an input that the node does not give is left out; AddIf (x, y) is x then;
 *   - <epsilon, interleaved = rotary_interleaved> are attributes of the node, or their defaults;
 *   - a line for outputs that nobody asks for is dropped.
 *
 * A row is such a text, or a function that says it line by line: C decides what depends on
 * attributes; what depends on shapes is up to the nodes, for ranks are not known here. */
#ifndef CQ_ONNX_EXPAND_EXPANSION_H
#define CQ_ONNX_EXPAND_EXPANSION_H

#include "base/str.h"
#include "onnx/schema.h"

/* The opset that bodies are written in. */
#define CQ_EXPANSION_OPSET 24

typedef struct cq_expansion {
    const cq_onnx_node   *node;
    const cq_onnx_schema *schema;
    cq_str                text;
    const char           *refusal; /* why it cannot be; NULL: it can */
    int                   n_temps; /* values without a name of the text's */
} cq_expansion;

typedef struct cq_expansion_row {
    const char *op;
    const char *text; /* or */
    void (*write)(cq_expansion *e);
} cq_expansion_row;

extern const cq_expansion_row cq_expansions_fused[];
extern const cq_expansion_row cq_expansions_attention[];
extern const cq_expansion_row cq_expansions_quantized[];
extern const cq_expansion_row cq_expansions_experimental[];

/* say.c: lines of a body, as above. */
void cq_say(cq_expansion *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

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
