/* Lines of bodies, as expansion.h has them, to lines of ONNX's text: each node gets one of its own.
 * The text is calque's: it is right, and not deep. */
#include "onnx/expand/expansion.h"

#include "onnx/text/text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { MAX_NAME = 64, MAX_ARGS = 16 };

typedef struct name {
    char text[MAX_NAME];
} name;

typedef struct reader {
    cq_expansion *e;
    const char   *at;
} reader;

static void skip(reader *r)
{
    while (*r->at == ' ')
        r->at++;
}

/* Up to the first of signs that is in no list and no text. */
static size_t length_to(const char *at, const char *signs)
{
    size_t n      = 0;
    bool   quoted = false;
    int    open   = 0;

    for (; at[n] && (open || quoted || !strchr(signs, at[n])); n++) {
        quoted ^= at[n] == '"';
        open += at[n] == '[' || at[n] == '{' ? 1 : at[n] == ']' || at[n] == '}' ? -1 : 0;
    }
    return n;
}

static name name_of(const char *text, size_t n)
{
    name out = { "" };

    memcpy(out.text, text, n < MAX_NAME ? n : MAX_NAME - 1);
    return out;
}

static name new_name(cq_expansion *e)
{
    name out;

    snprintf(out.text, sizeof out.text, "v%d_", e->n_temps++);
    return out;
}

/* ---- attributes ---- */

static void add_value(cq_str *s, const cq_onnx_attribute *a)
{
    if (a->type == CQ_ONNX_ATTR_INT) {
        cq_str_printf(s, "int = %" PRId64, a->i);
    } else if (a->type == CQ_ONNX_ATTR_FLOAT) {
        cq_str_printf(s, "float = %.9g", (double)a->f);
    } else if (a->type == CQ_ONNX_ATTR_INTS) {
        cq_str_add(s, "ints = [");
        for (uint32_t i = 0; i < a->ints.n; i++)
            cq_str_printf(s, "%s%" PRId64, i ? ", " : "", a->ints.items[i]);
        cq_str_add_char(s, ']');
    } else {
        cq_str_add(s, "string = ");
        cq_text_add_quoted(s, a->s.data ? a->s.data : "", a->s.size);
    }
}

/* One of the node's, under a name that may be another; nothing if it has neither a value nor a
 * default. */
static void add_own(cq_str *s, const cq_expansion *e, const char *as, const char *own)
{
    const cq_onnx_attribute        *a     = cq_expansion_attr(e, own);
    const cq_onnx_schema_attribute *known = cq_onnx_schema_attr(e->schema, own);
    const char                     *comma = s->len ? ", " : "";

    if (a) {
        cq_str_printf(s, "%s%s: ", comma, as);
        add_value(s, a);
    } else if (known && known->fallback && known->type != CQ_ONNX_ATTR_STRING) {
        cq_str_printf(s, "%s%s: %s = %s", comma, as,
                      known->type == CQ_ONNX_ATTR_INT ? "int" : "float", known->fallback);
    }
}

/* From behind <; what has a type is written out. */
static void add_attributes(cq_str *s, reader *r)
{
    while (*r->at && *r->at != '>') {
        size_t n;
        name   item;
        char  *equals;

        skip(r);
        n = length_to(r->at, ",>");
        if (memchr(r->at, ':', n)) {
            cq_str_printf(s, "%s%.*s", s->len ? ", " : "", (int)n, r->at);
        } else {
            item   = name_of(r->at, n);
            equals = strstr(item.text, " = ");
            if (equals)
                *equals = '\0';
            add_own(s, r->e, item.text, equals ? equals + 3 : item.text);
        }
        r->at += n;
        r->at += *r->at == ',';
    }
    r->at++;
}

/* ---- calls ---- */

static name call(reader *r, const char *to);

/* A constant of a number or a list of numbers. */
static name constant(reader *r)
{
    size_t n   = length_to(r->at, ",)");
    name   out = new_name(r->e);

    cq_str_printf(&r->e->text, "%s = Constant <value_%s = %.*s> ()\n", out.text,
                  *r->at == '[' ? "ints: ints" : "int: int", (int)n, r->at);
    r->at += n;
    return out;
}

static bool is_left_out(const cq_expansion *e, const char *input)
{
    for (size_t i = 0; i < e->schema->n_inputs; i++)
        if (!strcmp(e->schema->inputs[i].name, input))
            return !cq_expansion_has(e, i);
    return false;
}

static name argument(reader *r)
{
    size_t n;
    name   out;

    skip(r);
    if (*r->at == '[' || *r->at == '-' || isdigit((unsigned char)*r->at))
        return constant(r);
    n   = length_to(r->at, " ,)");
    out = name_of(r->at, n);
    if (r->at[n] == ' ') /* of a call, there is one in front of its brackets */
        return call(r, NULL);
    r->at += n;
    return is_left_out(r->e, out.text) ? (name){ "\"\"" } : out;
}

/* like (number, x), from behind the bracket. */
static name number_like(reader *r, const char *to)
{
    size_t n     = length_to(r->at, ",");
    name   value = name_of(r->at, n), number = new_name(r->e), like;
    name   out = to ? name_of(to, strlen(to)) : new_name(r->e);

    if (value.text[0] == '@')
        snprintf(value.text, sizeof value.text, "%.9g",
                 cq_expansion_float(r->e, name_of(r->at + 1, n - 1).text));
    r->at += n + 1;
    like = argument(r);
    r->at++;
    cq_str_printf(&r->e->text,
                  "%s = Constant <value_float: float = %s> ()\n%s = CastLike (%s, %s)\n",
                  number.text, value.text, out.text, number.text, like.text);
    return out;
}

/* Writes the nodes of a call; the last one gives `to`, or a value that is named here. */
static name call(reader *r, const char *to)
{
    size_t n = length_to(r->at, " "), n_args = 0;
    name   op         = name_of(r->at, n), args[MAX_ARGS], out;
    cq_str attributes = { 0 };

    r->at += n + 1;
    if (*r->at == '<') {
        r->at++;
        add_attributes(&attributes, r);
        skip(r);
    }
    r->at++;
    if (!strcmp(op.text, "like"))
        return number_like(r, to);
    while (*r->at && *r->at != ')' && n_args < MAX_ARGS) {
        args[n_args++] = argument(r);
        r->at += *r->at == ',';
    }
    r->at++;
    if (!strcmp(op.text, "AddIf")) {
        if (!to && args[1].text[0] == '"')
            return args[0];
        n_args = args[1].text[0] == '"' ? 1 : 2;
        op     = n_args == 1 ? (name){ "Identity" } : (name){ "Add" };
    }
    out = to ? name_of(to, strlen(to)) : new_name(r->e);
    cq_str_printf(&r->e->text, "%s = %s", out.text, op.text);
    if (attributes.len)
        cq_str_printf(&r->e->text, " <%s>", cq_str_text(&attributes));
    for (size_t i = 0; i < n_args; i++)
        cq_str_printf(&r->e->text, "%s%s", i ? ", " : " (", args[i].text);
    cq_str_add(&r->e->text, n_args ? ")\n" : " ()\n");
    cq_str_clear(&attributes);
    return out;
}

/* ---- lines ---- */

/* Whether it is an output that nobody asks for. */
static bool is_unwanted(const cq_expansion *e, const char *output)
{
    for (size_t i = 0; i < e->schema->n_outputs; i++)
        if (!strcmp(e->schema->outputs[i].name, output))
            return !cq_expansion_wants(e, i);
    return false;
}

/* Graphs inside of nodes are written as they are. */
static void say_line(cq_expansion *e, const char *line, size_t n)
{
    const char *equals = strstr(line, " = ");
    const char *graph  = strstr(line, "graph =");
    reader      r      = { e, equals ? equals + 3 : "" };
    name        to;

    if (!equals || equals > line + n || (graph && graph < line + n)) {
        cq_str_add_n(&e->text, line, n);
        cq_str_add_char(&e->text, '\n');
        return;
    }
    to = name_of(line, (size_t)(equals - line));
    if (!is_unwanted(e, to.text))
        call(&r, to.text);
}

void cq_say(cq_expansion *e, const char *format, ...)
{
    cq_str  text = { 0 };
    va_list args;

    va_start(args, format);
    cq_str_vprintf(&text, format, args);
    va_end(args);
    for (const char *line = cq_str_text(&text); *line;) {
        size_t n = strcspn(line, "\n");

        say_line(e, line, n);
        line += n + (line[n] == '\n');
    }
    if (text.status != CQ_OK)
        e->text.status = text.status;
    cq_str_clear(&text);
}
