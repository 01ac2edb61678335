/* ONNX's text syntax, both directions: print.c writes it, parse.c reads it.
 *
 *     <ir_version: 8, opset_import: ["" : 17]>
 *     net (float[batch,3] x) => (float[batch,2] y) <float[3,2] w = {1, 2, 3, 4, 5, 6}>
 *     {
 *        [fc] y = MatMul (x, w)
 *     }
 *
 * The syntax cannot express many fields of a model: documentation of a node, metadata of a value,
 * whether a tensor is stored as raw bytes. These are in *notes*, comments that begin with #@ and
 * the kind of message they belong to, which other readers skip:
 *
 *     y = Relu (x)
 *     #@ node doc_string: "the last one" metadata_props { key: "a" value: "b" }
 *
 * A note has fields as in protobuf's text format, on one line. A field in it replaces what was
 * read, `!field` removes it, and `raw` or `typed` on a tensor gives the location of its elements.
 * The first line of a text that calque writes is `#@ exact`: fields that are not written are not
 * set. Without it, fields that ONNX's own parser sets are set: the domain of a node and the name of
 * a tensor attribute, to "". Two words may follow: `raw`, tensors without a note are raw; `domain`,
 * nodes without a domain have "" for one.
 *
 * There are two extensions of ONNX's grammar. Domains, operators and attributes may be quoted if
 * their names are not identifiers, and a value that the syntax cannot express, such as a sparse
 * tensor, is written as { fields }, as in a note. */
#ifndef CQ_ONNX_TEXT_TEXT_H
#define CQ_ONNX_TEXT_TEXT_H

#include "base/source.h"
#include "base/str.h"
#include "onnx/file/fields.h"

/* The kinds of messages that can have a note, each with a word and the table of its fields. */
typedef enum cq_text_kind {
    CQ_TEXT_MODEL,
    CQ_TEXT_GRAPH,
    CQ_TEXT_FUNCTION,
    CQ_TEXT_NODE,
    CQ_TEXT_ATTRIBUTE,
    CQ_TEXT_VALUE,
    CQ_TEXT_TENSOR
} cq_text_kind;

typedef struct cq_text_kind_row {
    const char            *word;
    const cq_onnx_message *message;
} cq_text_kind_row;

extern const cq_text_kind_row cq_text_kinds[];

/* ---- words ---- */

/* Types of attributes by name, and the element types of lists. */
typedef struct cq_text_attribute_row {
    const char *word;
    uint8_t     single; /* cq_onnx_attribute_type of an element; 0 if the type is not a list */
    uint8_t     field;  /* number in onnx.proto of the field that holds the value */
} cq_text_attribute_row;

extern const cq_text_attribute_row cq_text_attributes[CQ_ONNX_ATTR_COUNT];

/* Whether a name needs no quotes: it is an identifier, and no word that begins a type or is a
 * number. */
bool cq_text_is_id(const char *name, size_t len);
bool cq_text_is_plain(const char *name);

/* Whether text begins a type: 'float', 'seq', … */
bool cq_text_is_type_word(const char *text, size_t len);

/* inf, infinity, nan, case-insensitive. */
bool cq_text_is_number_word(const char *text, size_t len);

/* The data type that a word names; 0 if it is not a type. */
int32_t cq_text_data_type(const char *word, size_t len);

/* The textual form of elements of a data type: integers (i, u), floats (f), doubles (d) or strings
 * (s). Types without a numeric form, such as float16, are written as their bits. */
typedef struct cq_text_number_row {
    char    form;
    uint8_t raw_size; /* bytes of a number in raw_data; 0 if the type cannot be in raw_data */
    uint8_t field;    /* number in onnx.proto of the typed field */
} cq_text_number_row;

extern const cq_text_number_row cq_text_numbers[CQ_ONNX_DATA_TYPE_COUNT];

/* ---- fields of any message ---- */

/* Whether a field of a message is set, or not empty. */
bool cq_text_has(const cq_onnx_message *message, const void *from, uint32_t number);

/* The fields of a message on one line, as in protobuf's text format. */
void cq_text_add_message(cq_str *s, const cq_onnx_message *message, const void *from);

/* Appends the value at `at`, of a field of the message `from`. */
void cq_text_add_value(cq_str *s, const cq_onnx_field *field, const void *from, const void *at);

/* Appends a note on a separate line: fields of from that are set but not expressed by the text, and
 * fields that the text would set although they are not set. Bits are field numbers. flag is a word
 * or NULL. Returns false, and writes nothing, if no note is needed. */
bool cq_text_add_note(cq_str *s, cq_text_kind kind, const void *from, uint32_t carried,
                      uint32_t implied, const char *flag);

/* Whether the text of a float reads back as the same value: true for all but some NaNs. */
bool cq_text_is_exact_f32(float value);
bool cq_text_is_exact_f64(double value);
void cq_text_add_f32(cq_str *s, float value);
void cq_text_add_f64(cq_str *s, double value);

/* The bytes of raw_data: the message's own; or a copy of those of its tensor, which the caller
 * frees. */
cq_status cq_text_raw_bytes(cq_onnx_bytes *out, void **copy, const cq_onnx_tensor *tensor);

/* ---- printing ---- */

typedef struct cq_text_printer {
    cq_str               s; /* output that has not been written yet */
    const cq_onnx_model *m;
    cq_text_writer       write;
    void                *user;
    int                  indent;
    bool                 is_raw, sets_domain; /* settings of the first line */
} cq_text_printer;

cq_status cq_text_flush(cq_text_printer *p); /* writes s if it is large enough */
void      cq_text_add_quoted(cq_str *s, const void *data, size_t size);
void      cq_text_add_id(cq_str *s, const char *name);
void      cq_text_add_qualified(cq_str *s, const char *name); /* a.b.c */
void      cq_text_new_line(cq_text_printer *p);

/* Whether the syntax can express all of a type; and the text of the type. */
bool cq_text_can_say_type(const cq_onnx_type *type);
void cq_text_add_type(cq_str *s, const cq_onnx_type *type);

/* Appends a tensor with its note. Initializers have a name; tensors in attributes only if it is not
 * empty. */
bool      cq_text_can_say_tensor(const cq_onnx_tensor *tensor);
bool      cq_text_is_raw(const cq_onnx_tensor *tensor);
cq_status cq_text_add_tensor(cq_text_printer *p, const cq_onnx_tensor *tensor, bool is_initializer);

bool cq_text_can_say_entries(const cq_onnx_entries *entries);
void cq_text_add_entries(cq_str *s, const cq_onnx_entries *entries);

cq_status cq_text_add_attributes(cq_text_printer *p, const cq_onnx_attributes *list);
cq_status cq_text_add_graph(cq_text_printer *p, const cq_onnx_graph *graph, bool is_inner);

/* ---- parsing ---- */

typedef struct cq_text_parser {
    cq_source      source;
    const char    *at, *end;
    cq_onnx_model *m;
    bool           is_exact, is_raw, sets_domain; /* settings of the first line */
    cq_str         scratch; /* the bytes of a quoted string, or the numbers of a tensor */
} cq_text_parser;

typedef enum cq_text_literal_kind {
    CQ_TEXT_INT,
    CQ_TEXT_FLOAT,
    CQ_TEXT_STRING
} cq_text_literal_kind;

typedef struct cq_text_literal {
    cq_text_literal_kind kind;
    const char          *from; /* start of the literal */
    const char          *text; /* bytes of a string, valid until the next literal is read */
    size_t               len;
} cq_text_literal;

/* scan.c: positions, spaces, names and numbers. */
cq_status cq_text_fail(const cq_text_parser *p, const char *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The position of the next significant character; the character, or 0 at the end. Neither consumes
 * input: a comment that is skipped too early might be a note. */
const char *cq_text_next(const cq_text_parser *p);
char        cq_text_peek(const cq_text_parser *p);
bool        cq_text_take(cq_text_parser *p, char c);
cq_status   cq_text_want(cq_text_parser *p, char c);
size_t      cq_text_id_len(const cq_text_parser *p); /* length of the identifier that follows, or
                                                      * 0 */
bool      cq_text_take_word(cq_text_parser *p, const char *word);
cq_status cq_text_want_id(cq_text_parser *p, const char **text, size_t *len);
cq_status cq_text_want_name(cq_text_parser *p, const char **out);   /* the name may be quoted */
cq_status cq_text_want_string(cq_text_parser *p, const char **out); /* the string must be
                                                                     * quoted */
int       cq_text_hex_digit(char c);                                /* -1: not a hex digit */
bool      cq_text_take_byte(cq_text_parser *p); /* reads xNN, after a backslash, into scratch */
cq_status cq_text_want_literal(cq_text_parser *p, cq_text_literal *out);
bool      cq_text_next_is_number_word(const cq_text_parser *p);
cq_status cq_text_want_i64(cq_text_parser *p, int64_t *out);
cq_status cq_text_want_u64(cq_text_parser *p, uint64_t *out);
cq_status cq_text_want_f32(cq_text_parser *p, float *out);
cq_status cq_text_want_f64(cq_text_parser *p, double *out);
cq_status cq_text_literal_i64(cq_text_parser *p, const cq_text_literal *literal, int64_t *out);
cq_status cq_text_literal_f32(cq_text_parser *p, const cq_text_literal *literal, float *out);

/* parse_fields.c: parses the note of that kind, if one follows; whether the elements that end here
 * are raw; and the first line. */
cq_status cq_text_take_note(cq_text_parser *p, cq_text_kind kind, void *into, int depth);
bool      cq_text_is_raw_here(const cq_text_parser *p);
void      cq_text_take_first_line(cq_text_parser *p);

/* Parses all fields of a message up to the end of the text, as in protobuf's text format. */
cq_status cq_text_parse_fields(cq_text_parser *p, const cq_onnx_message *message, void *into);

/* { fields } */
cq_status cq_text_parse_message(cq_text_parser *p, const cq_onnx_message *message, void *into,
                                int depth);

/* parse_value.c and parse_attribute.c. depth counts the enclosing messages. */
bool      cq_text_next_is_type(const cq_text_parser *p);
cq_status cq_text_parse_type(cq_text_parser *p, cq_onnx_type *type, int depth);
cq_status cq_text_parse_value(cq_text_parser *p, cq_onnx_value_info *value, int depth);
cq_status cq_text_parse_tensor(cq_text_parser *p, cq_onnx_tensor *tensor, const cq_onnx_type *type,
                               int depth);
cq_status cq_text_parse_entries(cq_text_parser *p, cq_onnx_entries *entries);
cq_status cq_text_parse_attribute(cq_text_parser *p, cq_onnx_attribute *a, const char *name,
                                  int depth);
cq_status cq_text_parse_graph(cq_text_parser *p, cq_onnx_graph *graph, const char *name, int depth);

#endif
