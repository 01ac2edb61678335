/* Parses fields of any message by the tables of fields.h: notes, and { fields } for a value that
 * the syntax cannot express. print_fields.c is the inverse. */
#include "onnx/text/text.h"

#include "onnx/file/wire.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* \1 to \377, after the backslash. */
static bool take_octal(cq_text_parser *p)
{
    unsigned byte = 0;
    int      n    = 0;

    for (; n < 3 && p->at < p->end && *p->at >= '0' && *p->at <= '7'; n++)
        byte = byte * 8 + (unsigned)(*p->at++ - '0');
    if (n)
        cq_str_add_char(&p->scratch, (char)byte);
    return n > 0;
}

/* Parses the character after a backslash. */
static void take_escape(cq_text_parser *p)
{
    static const char names[] = "n\nt\tr\ra\ab\bf\fv\v";
    const char       *name    = *p->at ? strchr(names, *p->at) : NULL;

    if (cq_text_take_byte(p) || take_octal(p))
        return;
    cq_str_add_char(&p->scratch, name && (name - names) % 2 == 0 ? name[1] : *p->at);
    p->at++;
}

static cq_status take_quoted(cq_text_parser *p, char quote)
{
    const char *from = p->at - 1;

    while (p->at < p->end && *p->at != quote) {
        if (*p->at == '\\' && p->end - p->at > 1) {
            p->at++;
            take_escape(p);
        } else {
            cq_str_add_char(&p->scratch, *p->at++);
        }
    }
    if (p->at == p->end)
        return cq_text_fail(p, from, "missing closing quote of the string that begins here");
    p->at++;
    return p->scratch.status;
}

/* Parses strings with escapes, which are concatenated; the terminated bytes belong to the model. */
static cq_status want_bytes(cq_text_parser *p, cq_onnx_bytes *out)
{
    char *copy;

    p->scratch.len = 0;
    if (cq_text_peek(p) != '\'')
        CQ_TRY(cq_text_want(p, '"'));
    else
        CQ_TRY(cq_text_want(p, '\''));
    CQ_TRY(take_quoted(p, p->at[-1]));
    while (cq_text_take(p, '"') || cq_text_take(p, '\''))
        CQ_TRY(take_quoted(p, p->at[-1]));
    copy = cq_onnx_alloc(p->m, p->scratch.len + 1);
    if (!copy)
        return p->m->status;
    memcpy(copy, cq_str_text(&p->scratch), p->scratch.len);
    *out = (cq_onnx_bytes){ copy, p->scratch.len };
    return CQ_OK;
}

/* Parses 0x7fc00001: a float given by its bits. */
static bool take_bits(cq_text_parser *p, void *out, size_t size)
{
    const char *at   = cq_text_next(p);
    uint64_t    bits = 0;

    if (p->end - at < (ptrdiff_t)(2 + 2 * size) || at[0] != '0' || at[1] != 'x')
        return false;
    for (size_t i = 0; i < 2 * size; i++) {
        int digit = cq_text_hex_digit(at[2 + i]);

        if (digit < 0)
            return false;
        bits = bits << 4 | (unsigned)digit;
    }
    p->at = at + 2 + 2 * size;
    memcpy(out, &bits, size);
    return true;
}

/* Parses the name of an enumeration value in onnx.proto; all names are different. */
static bool take_enum(cq_text_parser *p, void *to)
{
    static const char *const words[] = { "FLOAT",      "INT",           "STRING",
                                         "TENSOR",     "GRAPH",         "FLOATS",
                                         "INTS",       "STRINGS",       "TENSORS",
                                         "GRAPHS",     "SPARSE_TENSOR", "SPARSE_TENSORS",
                                         "TYPE_PROTO", "TYPE_PROTOS" };
    int32_t                  number  = -1;

    for (size_t i = 0; i < sizeof words / sizeof *words && number < 0; i++)
        if (cq_text_take_word(p, words[i]))
            number = (int32_t)i + 1;
    if (number < 0 && (cq_text_take_word(p, "UNDEFINED") || cq_text_take_word(p, "DEFAULT")))
        number = 0;
    if (number < 0 && cq_text_take_word(p, "EXTERNAL"))
        number = CQ_ONNX_LOCATION_EXTERNAL;
    if (number >= 0)
        memcpy(to, &number, sizeof number);
    return number >= 0;
}

static cq_status want_value(cq_text_parser *p, const cq_onnx_field *field, void *to, int depth)
{
    const char   *from = cq_text_next(p);
    cq_onnx_bytes bytes;
    int64_t       number;
    int32_t       narrow;
    void         *message;

    switch (field->kind) {
    case CQ_ONNX_KIND_I64: return cq_text_want_i64(p, to);
    case CQ_ONNX_KIND_U64: return cq_text_want_u64(p, to);
    case CQ_ONNX_KIND_F32: return take_bits(p, to, 4) ? CQ_OK : cq_text_want_f32(p, to);
    case CQ_ONNX_KIND_F64: return take_bits(p, to, 8) ? CQ_OK : cq_text_want_f64(p, to);
    case CQ_ONNX_KIND_I32:
        if (take_enum(p, to))
            return CQ_OK;
        CQ_TRY(cq_text_want_i64(p, &number));
        narrow = (int32_t)number;
        if (narrow != number)
            return cq_text_fail(p, from, "this number does not fit in 32 bits");
        memcpy(to, &narrow, sizeof narrow);
        return CQ_OK;
    case CQ_ONNX_KIND_TEXT:
        CQ_TRY(want_bytes(p, &bytes));
        if (memchr(bytes.data, '\0', bytes.size))
            return cq_text_fail(p, from, "the string contains a zero byte");
        memcpy(to, &bytes.data, sizeof bytes.data);
        return CQ_OK;
    case CQ_ONNX_KIND_MESSAGE:
        message = cq_onnx_alloc(p->m, field->message->size);
        if (!message)
            return p->m->status;
        memcpy(to, &message, sizeof message);
        return cq_text_parse_message(p, field->message, message, depth + 1);
    default:
        CQ_TRY(want_bytes(p, &bytes));
        memcpy(to, &bytes, sizeof bytes);
        return CQ_OK;
    }
}

static void clear_field(const cq_onnx_message *message, void *into, uint32_t number)
{
    const cq_onnx_field *field = &message->fields[number];
    size_t size = field->repeated ? sizeof(cq_onnx_any_list) : cq_onnx_kind_size(field->kind);

    memset((char *)into + field->offset, 0, size);
    ((cq_onnx_any *)into)->has &= ~(1u << number);
    if (field->kind == CQ_ONNX_KIND_RAW)
        ((cq_onnx_tensor *)into)->tensor = NULL;
}

/* Parses the name of a field; *out is its number. */
static cq_status want_field(cq_text_parser *p, const cq_onnx_message *message, uint32_t *out)
{
    const char *name;
    size_t      len;

    CQ_TRY(cq_text_want_id(p, &name, &len));
    for (*out = 1; *out < message->n_fields; ++*out) {
        const char *other = message->fields[*out].name;

        if (other && strlen(other) == len && memcmp(other, name, len) == 0)
            return CQ_OK;
    }
    return cq_text_fail(p, name, "%s has no field of this name", message->name);
}

/* The address for the value of a field: a new list item, or the member of the message. */
static void *place_of(cq_text_parser *p, const cq_onnx_message *message, void *into,
                      uint32_t number)
{
    const cq_onnx_field *field = &message->fields[number];
    char                *at    = (char *)into + field->offset;

    if (!field->repeated) {
        for (uint32_t i = 1; field->oneof && i < message->n_fields; i++)
            if (message->fields[i].oneof)
                clear_field(message, into, i);
        if (cq_onnx_kind_wire(field->kind) != CQ_ONNX_WIRE_BYTES)
            ((cq_onnx_any *)into)->has |= 1u << number;
        return at;
    }
    return cq_onnx_list_grow(p->m, at, cq_onnx_kind_size(field->kind));
}

/* Parses unknown: "bytes", which contains only fields of newer versions of onnx.proto. */
static cq_status take_unknown(cq_text_parser *p, const cq_onnx_message *message, void *into)
{
    cq_onnx_any     *any = into, *scratch;
    cq_onnx_unknown *last, *first;
    const char      *from;
    cq_onnx_bytes    bytes;
    cq_status        status;

    CQ_TRY(cq_text_want(p, ':'));
    from = p->at;
    CQ_TRY(want_bytes(p, &bytes));
    scratch = cq_onnx_alloc(p->m, message->size);
    if (!scratch)
        return p->m->status;
    status = cq_onnx_decode(p->m, message, scratch, bytes.data, bytes.size, p->source.file);
    if (status == CQ_E_NO_MEMORY)
        return status;
    for (uint32_t i = 1; i < message->n_fields; i++)
        if (status != CQ_OK || cq_text_has(message, scratch, i))
            return cq_text_fail(p, from, "these bytes are not unknown fields of %s", message->name);
    last = scratch->unknown;
    if (last && any->unknown) { /* merges two rings */
        first              = last->next;
        last->next         = any->unknown->next;
        any->unknown->next = first;
    }
    any->unknown = last ? last : any->unknown;
    return CQ_OK;
}

/* Parses a field; *seen has the fields whose old value this note or message has already cleared. */
static cq_status take_field(cq_text_parser *p, const cq_onnx_message *message, void *into,
                            uint32_t *seen, int depth)
{
    bool     gone = cq_text_take(p, '!'), is_list;
    uint32_t number;
    void    *to;

    if (!gone && cq_text_take_word(p, "unknown"))
        return take_unknown(p, message, into);
    CQ_TRY(want_field(p, message, &number));
    if (gone || !(*seen >> number & 1))
        clear_field(message, into, number);
    *seen |= 1u << number;
    if (gone)
        return CQ_OK;
    if (message->fields[number].kind != CQ_ONNX_KIND_MESSAGE)
        CQ_TRY(cq_text_want(p, ':'));
    else
        cq_text_take(p, ':');
    is_list = message->fields[number].repeated && cq_text_take(p, '[');
    if (is_list && cq_text_take(p, ']'))
        return CQ_OK;
    do {
        to = place_of(p, message, into, number);
        if (!to)
            return p->m->status;
        CQ_TRY(want_value(p, &message->fields[number], to, depth));
    } while (is_list && cq_text_take(p, ','));
    if (is_list)
        return cq_text_want(p, ']');
    if (!cq_text_take(p, ','))
        cq_text_take(p, ';');
    return CQ_OK;
}

cq_status cq_text_parse_fields(cq_text_parser *p, const cq_onnx_message *message, void *into)
{
    uint32_t seen = 0;

    while (cq_text_peek(p))
        CQ_TRY(take_field(p, message, into, &seen, 0));
    return CQ_OK;
}

cq_status cq_text_parse_message(cq_text_parser *p, const cq_onnx_message *message, void *into,
                                int depth)
{
    uint32_t seen = 0;

    if (depth > CQ_ONNX_MAX_DEPTH)
        return cq_text_fail(p, cq_text_next(p), "messages are nested more than %d deep",
                            CQ_ONNX_MAX_DEPTH);
    CQ_TRY(cq_text_want(p, '{'));
    while (!cq_text_take(p, '}'))
        CQ_TRY(take_field(p, message, into, &seen, depth));
    return CQ_OK;
}

/* ---- notes ---- */

/* Whether a note with this word follows; *rest is the text after the word. */
static bool note_follows(const cq_text_parser *p, const char *word, const char **rest,
                         const char **line_end)
{
    const char *at  = p->at;
    size_t      len = strlen(word);

    for (;;) {
        while (at < p->end && (*at == ' ' || (*at >= '\t' && *at <= '\r')))
            at++;
        if (at == p->end || *at != '#')
            return false;
        *line_end = memchr(at, '\n', (size_t)(p->end - at));
        *line_end = *line_end ? *line_end : p->end;
        if (*line_end - at > 2 && at[1] == '@')
            break;
        at = *line_end; /* an ordinary comment */
    }
    *rest = at + 3 + len;
    return *line_end >= *rest && at[2] == ' ' && memcmp(at + 3, word, len) == 0 &&
           (*rest == *line_end || **rest == ' ' || **rest == '\r');
}

cq_status cq_text_take_note(cq_text_parser *p, cq_text_kind kind, void *into, int depth)
{
    const char *end    = p->end, *rest, *line_end;
    uint32_t    seen   = 0;
    cq_status   status = CQ_OK;

    if (!note_follows(p, cq_text_kinds[kind].word, &rest, &line_end))
        return CQ_OK;
    p->at  = rest;
    p->end = line_end;
    if (kind == CQ_TEXT_TENSOR && !cq_text_take_word(p, "raw"))
        cq_text_take_word(p, "typed");
    while (status == CQ_OK && cq_text_peek(p))
        status = take_field(p, cq_text_kinds[kind].message, into, &seen, depth);
    p->end = end;
    return status;
}

/* Whether this is the first word of the line. */
static bool begins_with(const char *at, const char *end, const char *word)
{
    size_t len = strlen(word);

    while (at < end && *at == ' ')
        at++;
    return (size_t)(end - at) >= len && memcmp(at, word, len) == 0 &&
           !cq_text_is_id(at, (size_t)(end - at) > len ? len + 1 : 0);
}

bool cq_text_is_raw_here(const cq_text_parser *p)
{
    const char *rest, *line_end;

    if (!note_follows(p, cq_text_kinds[CQ_TEXT_TENSOR].word, &rest, &line_end))
        return p->is_raw;
    return begins_with(rest, line_end, "raw") ||
           (p->is_raw && !begins_with(rest, line_end, "typed"));
}

void cq_text_take_first_line(cq_text_parser *p)
{
    const char *rest, *line_end;

    p->sets_domain = true; /* as in ONNX's parser */
    if (!note_follows(p, "exact", &rest, &line_end))
        return;
    p->is_exact    = true;
    p->is_raw      = begins_with(rest, line_end, "raw");
    p->sets_domain = begins_with(rest + (p->is_raw ? strlen(" raw") : 0), line_end, "domain");
    p->at          = line_end;
}
