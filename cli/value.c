/* Reading arguments. A value is read where it stands, and written down as JSON at once. */
#include "value.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { JSON_SIZE = 1 << 20, TOKENS_SIZE = 1 << 20, MAX_DEPTH = 32 };

/* Inputs refer to the tokens they were read from. */
static struct reader {
    cli_example         *e;
    const cli_signature *takes;
    char                 json[JSON_SIZE], tokens[TOKENS_SIZE];
    size_t               n_json, n_tokens;
    bool                 is_nested; /* something is not a tensor, so that the JSON is needed */
    const char          *why;
} reader;

static void write_json(struct reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void write_json(struct reader *r, const char *format, ...)
{
    const size_t room = sizeof r->json - r->n_json;
    va_list      args;
    int          n;

    va_start(args, format);
    n = vsnprintf(r->json + r->n_json, room, format, args);
    va_end(args);
    if (n < 0 || (size_t)n >= room)
        r->why = "it is too long";
    else
        r->n_json += (size_t)n;
}

/* ---- what has a place in the graph ---- */

/* Room for an input; NULL: there is none. */
static cli_input *new_input(struct reader *r)
{
    cli_example *e = r->e;

    if (e->n == CLI_MAX_INPUTS) {
        r->why = "it is one input too many";
        return NULL;
    }
    return &e->inputs[e->n++];
}

static bool is_type(const char *type, const char *word)
{
    if (strncmp(type, "Optional[", 9) == 0)
        type += 9;
    return strncmp(type, word, strlen(word)) == 0;
}

/* Only a program has parameters that are not tensors. */
static bool takes_numbers(const struct reader *r)
{
    return r->takes->n == CLI_ANY_NUMBER;
}

static void add_number(struct reader *r, const cli_input *number, bool is_whole, const char *type)
{
    bool       as_tensor = !takes_numbers(r) || is_type(type, "Tensor");
    cli_input *in        = new_input(r);

    if (!in)
        return;
    *in = *number;
    if (in->dtype != CQ_DTYPE_BOOL)
        in->dtype = is_whole && !is_type(type, "float") ? CQ_DTYPE_I64
                    : as_tensor                         ? CQ_DTYPE_F32
                                                        : CQ_DTYPE_F64;
    write_json(r, "{\"%s\": %zu}", as_tensor ? "tensor" : "scalar", r->e->n - 1);
    r->is_nested |= !as_tensor;
}

static void add_tensor(struct reader *r, const char *spec)
{
    cli_input *in = new_input(r);

    if (!in)
        return;
    r->why = cli_input_parse(in, spec);
    write_json(r, "{\"tensor\": %zu}", r->e->n - 1);
}

/* ---- words ---- */

static const struct word {
    const char *text;
    enum { WORD_NONE, WORD_TRUE, WORD_FALSE } is;
} words[] = {
    { "none", WORD_NONE }, { "None", WORD_NONE },   { "true", WORD_TRUE },
    { "True", WORD_TRUE }, { "false", WORD_FALSE }, { "False", WORD_FALSE },
};

static bool read_word(struct reader *r, const char *token, const char *type)
{
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        cli_input in = { .dtype = CQ_DTYPE_BOOL, .fill = CLI_CONSTANT };

        if (strcmp(words[i].text, token) != 0)
            continue;
        if (words[i].is == WORD_NONE) {
            write_json(r, "null");
            r->is_nested = true;
            return true;
        }
        in.a = words[i].is == WORD_TRUE;
        add_number(r, &in, false, type);
        return true;
    }
    return false;
}

/* A number of one digit or more is the size of a vector where only a tensor will do. */
static void read_token(struct reader *r, const char *token, const char *type, int depth)
{
    cli_input number   = { .dtype = CQ_DTYPE_NONE };
    bool      is_size  = *token && token[strspn(token, "0123456789")] == '\0';
    bool      is_whole = strspn(token, "+-0123456789") == strlen(token);

    if (read_word(r, token, type))
        return;
    if (cli_input_number(&number, token) &&
        !(is_size && depth == 0 && (!takes_numbers(r) || is_type(type, "Tensor"))))
        add_number(r, &number, is_whole, type);
    else
        add_tensor(r, token);
}

/* ---- what nests ---- */

static const char *skip_space(const char *at)
{
    while (isspace((unsigned char)*at))
        at++;
    return at;
}

/* The end of a token: a comma or a bracket that is not its own, or the end of the text. */
static const char *token_end(const char *at, int depth)
{
    int open = 0;

    for (; *at; at++) {
        if (depth && !open && strchr(",])}", *at))
            return at;
        open += (*at == '[' || *at == '(') - (*at == ']' || *at == ')');
    }
    return at;
}

static char *keep_token(struct reader *r, const char *text, size_t len)
{
    char *copy = r->tokens + r->n_tokens;

    if (len >= sizeof r->tokens - r->n_tokens) {
        r->why = "it is too long";
        return NULL;
    }
    memcpy(copy, text, len);
    copy[len] = '\0';
    r->n_tokens += len + 1;
    return copy;
}

static const char *read_quoted(struct reader *r, const char *at)
{
    const char quote = *at++;

    write_json(r, "\"");
    for (; *at && *at != quote; at++)
        if ((unsigned char)*at < ' ')
            write_json(r, "\\u%04x", *at);
        else
            write_json(r, *at == '"' || *at == '\\' ? "\\%c" : "%c", *at);
    write_json(r, "\"");
    if (!*at)
        r->why = "a quote is missing at the end of a text";
    return *at ? at + 1 : at;
}

static const char *read_text(struct reader *r, const char *at)
{
    write_json(r, "{\"str\": ");
    at = read_quoted(r, at);
    write_json(r, "}");
    r->is_nested = true;
    return at;
}

/* A key of a dict, and the colon behind it: "text", 'text', a whole number, or a name. */
static const char *read_key(struct reader *r, const char *at)
{
    const size_t digits = strspn(at, "-0123456789"), len = strcspn(at, ":, \t\"'[](){}\\");

    if (*at == '"' || *at == '\'') {
        at = read_quoted(r, at);
    } else {
        write_json(r, digits && digits == len ? "%.*s" : "\"%.*s\"", (int)len, at);
        at += len;
    }
    at = skip_space(at);
    if (!r->why && *at != ':')
        r->why = "a dict is {KEY: VALUE, …}";
    return *at ? at + 1 : at;
}

static const char *read_value(struct reader *r, const char *at, const char *type, int depth);

static const struct bracket {
    char        open, close;
    const char *json, *missing;
} brackets[] = {
    { '[', ']', "list", "a ] is missing" },
    { '(', ')', "tuple", "a ) is missing" },
    { '{', '}', "dict", "a } is missing" },
};

static const struct bracket *bracket_at(const char *at)
{
    for (size_t i = 0; i < sizeof brackets / sizeof brackets[0]; i++)
        if (*at == brackets[i].open)
            return &brackets[i];
    return NULL;
}

/* The items of a list or a tuple, or the pairs of a dict. */
static const char *read_items(struct reader *r, const char *at, const struct bracket *b, int depth)
{
    const bool has_keys = b->open == '{';

    write_json(r, "{\"%s\": [", b->json);
    r->is_nested = true;
    at           = skip_space(at + 1);
    for (size_t i = 0; *at != b->close && !r->why; i++) {
        write_json(r, i ? ", " : "");
        if (has_keys) {
            write_json(r, "[");
            at = read_key(r, at);
            write_json(r, ", ");
        }
        if (!r->why)
            at = skip_space(read_value(r, at, "", depth + 1));
        write_json(r, has_keys ? "]" : "");
        if (!r->why && *at != b->close && *at != ',')
            r->why = b->missing;
        else if (*at == ',')
            at = skip_space(at + 1);
    }
    write_json(r, "]}");
    return *at ? at + 1 : at;
}

static const char *read_value(struct reader *r, const char *at, const char *type, int depth)
{
    const struct bracket *b = bracket_at(at = skip_space(at));
    const char           *end;
    char                 *token;
    size_t                len;

    if (depth > MAX_DEPTH) {
        r->why = "it is nested too deep";
        return at;
    }
    if (b && depth == 0 && takes_numbers(r) && is_type(type, "Tensor")) {
        r->why = "the parameter is a Tensor; its sizes are written as 1x3x224x224";
        return at;
    }
    if (b)
        return read_items(r, at, b, depth);
    if (*at == '"' || *at == '\'')
        return read_text(r, at);
    end = token_end(at, depth);
    for (len = (size_t)(end - at); len && isspace((unsigned char)at[len - 1]);)
        len--;
    token = keep_token(r, at, len);
    if (token && !*token)
        r->why = "a value is missing";
    else if (token)
        read_token(r, token, type, depth);
    return end;
}

/* ---- all of them ---- */

static int read_one(struct reader *r, const cli_args *args, const char *spec, size_t i)
{
    const cli_param *param = i < r->takes->n_params ? &r->takes->params[i] : NULL;
    const char      *type  = param ? param->type : "", *end;

    if (param && !*type)
        type = "Tensor";
    r->why = NULL;
    write_json(r, i ? ", " : "");
    end = read_value(r, spec, type, 0);
    if (!r->why && *skip_space(end))
        r->why = "something is left behind its end";
    return r->why ? cli_misuse(args->verb, "--input %s: %s", spec, r->why) : CLI_DONE;
}

int cli_values_read(cli_example *e, const cli_args *args, const cli_signature *s)
{
    struct reader *r = &reader;
    const char    *spec;
    size_t         at = 0, i = 0;
    int            code = CLI_DONE;

    r->e      = e;
    r->takes  = s;
    r->n_json = r->n_tokens = 0;
    r->is_nested            = false;
    write_json(r, "{\"args\": [");
    while (code == CLI_DONE && (spec = cli_next_value(args, "input", &at)))
        code = read_one(r, args, spec, i++);
    write_json(r, "]}");
    if (code == CLI_DONE && r->is_nested && !takes_numbers(r) && !s->is_flat)
        return cli_misuse(args->verb, "%s takes plain tensors, no lists, dicts, texts or None",
                          s->model);
    if (r->is_nested && !s->is_flat)
        e->structure = r->json;
    return code;
}
