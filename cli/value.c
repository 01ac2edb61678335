/* Reads arguments. A value is parsed in place and written as JSON. */
#include "value.h"

#include <calque/system.h>

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
    const cli_input     *declared;  /* of the argument that is read, of a program; NULL: unknown */
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

/* ---- inputs of the graph ---- */

/* Room for an input; NULL if it is exhausted. */
static cli_input *new_input(struct reader *r)
{
    cli_example *e = r->e;

    if (e->n == CLI_MAX_INPUTS) {
        r->why = "it is one input too many";
        return NULL;
    }
    return &e->inputs[e->n++];
}

static bool begins_with(const char *text, const char *word)
{
    return strncmp(text, word, strlen(word)) == 0;
}

static const char *without_optional(const char *type)
{
    return begins_with(type, "Optional[") ? type + strlen("Optional[") : type;
}

static bool is_type(const char *type, const char *word)
{
    return begins_with(without_optional(type), word);
}

/* The declared type of an item of a list, tuple (its i-th) or dict, in out, which is as large as a
 * type; "" if unknown. */
static void type_of_item(char *out, const char *type, size_t i)
{
    static const char *const containers[] = { "List[", "Tuple[", "Dict[" };
    const char              *at           = NULL;
    int                      open         = 0;
    size_t                   len;

    *out = '\0';
    type = without_optional(type);
    for (size_t k = 0; k < sizeof containers / sizeof *containers; k++)
        if (begins_with(type, containers[k])) {
            at = type + strlen(containers[k]);
            i  = k == 0 ? 0 : k == 2 ? 1 : i;
        }
    for (; at && *at && i; at++) {
        open += (*at == '[') - (*at == ']');
        if (open < 0)
            return;
        i -= *at == ',' && !open;
    }
    if (!at)
        return;
    at += strspn(at, " ");
    for (len = 0; at[len] && (open || !strchr(",]", at[len])); len++)
        open += (at[len] == '[') - (at[len] == ']');
    if (at[len]) /* else the type is cut off */
        snprintf(out, CLI_NAME_SIZE, "%.*s", (int)len, at);
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
    r->why = cli_input_check_number(in);
    write_json(r, "{\"%s\": %zu}", as_tensor ? "tensor" : "scalar", r->e->n - 1);
    r->is_nested |= !as_tensor;
}

/* The model's declaration of the next input; NULL: none. Inputs of a program are arguments. */
static const cli_input *declared_input(const struct reader *r)
{
    const cli_signature *s = r->takes;

    if (takes_numbers(r) && !s->is_flat)
        return r->declared;
    return r->e->n < s->n_declared ? &s->declared[r->e->n] : NULL;
}

static void add_tensor(struct reader *r, const char *spec)
{
    const cli_input *declared = declared_input(r);
    cli_input       *in       = new_input(r);

    if (!in)
        return;
    r->why = cli_input_parse_as(in, spec, declared);
    write_json(r, "{\"tensor\": %zu}", r->e->n - 1);
}

/* A number of one digit or more is the size of a vector if only a tensor is accepted. The
 * declaration of the model takes precedence. */
static void read_token(struct reader *r, const char *token, const char *type)
{
    cli_input  number   = { .dtype = CQ_DTYPE_NONE };
    const bool is_size  = *token && token[strspn(token, "0123456789")] == '\0';
    const bool declared = declared_input(r) != NULL;
    bool       is_whole;

    if (strcmp(token, "none") == 0 || strcmp(token, "None") == 0) {
        write_json(r, "null");
        r->is_nested = true;
    } else if (!declared && cli_input_bool(&number, token)) {
        number.dtype = CQ_DTYPE_BOOL;
        add_number(r, &number, false, type);
    } else if (!declared && cli_input_number(&number, token, &is_whole) &&
               !(is_size && (!takes_numbers(r) || is_type(type, "Tensor")))) {
        add_number(r, &number, is_whole, type);
    } else {
        add_tensor(r, token);
    }
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

/* A key of a dict, and the colon after it: "text", 'text', an integer, or a name. */
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
static const char *read_items(struct reader *r, const char *at, const struct bracket *b,
                              const char *type, int depth)
{
    const bool has_keys = b->open == '{';
    char       item_type[CLI_NAME_SIZE];

    write_json(r, "{\"%s\": [", b->json);
    r->is_nested = true;
    r->declared  = NULL;
    at           = skip_space(at + 1);
    for (size_t i = 0; *at != b->close && !r->why; i++) {
        write_json(r, i ? ", " : "");
        if (has_keys) {
            write_json(r, "[");
            at = read_key(r, at);
            write_json(r, ", ");
        }
        type_of_item(item_type, type, i);
        if (!r->why)
            at = skip_space(read_value(r, at, item_type, depth + 1));
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
        return read_items(r, at, b, type, depth);
    if (*at == '"' || *at == '\'')
        return read_text(r, at);
    end = token_end(at, depth);
    for (len = (size_t)(end - at); len && isspace((unsigned char)at[len - 1]);)
        len--;
    token = keep_token(r, at, len);
    if (token && !*token)
        r->why = "a value is missing";
    else if (token)
        read_token(r, token, type);
    return end;
}

/* ---- names ---- */

static const char *name_at(const void *signature, size_t i)
{
    const cli_signature *s = signature;

    if (s->n_params)
        return i < s->n_params ? s->params[i].name : NULL;
    return s->n != CLI_ANY_NUMBER && i < s->n ? s->names[i] : NULL;
}

/* NAME=SPEC is for the input of that name: which one, and where SPEC begins. Of names that begin
 * alike the longest counts. */
static bool find_name(const cli_signature *s, const char *text, size_t *index, const char **spec)
{
    size_t      longest = 0;
    const char *name;

    for (size_t i = 0; (name = name_at(s, i)); i++) {
        const size_t len = strlen(name);

        if (len > longest && strncmp(name, text, len) == 0 && text[len] == '=') {
            longest = len;
            *index  = i;
            *spec   = text + len + 1;
        }
    }
    return longest > 0;
}

/* Whether the text after a name and = can be an input, but neither the size of a dynamic axis of
 * that name nor the fill of a vector of that size. */
static bool is_input_only(const char *text, const char *spec)
{
    cli_input  in;
    bool       is_whole;
    const bool is_size = *spec && spec[strspn(spec, "0123456789")] == '\0';

    if (!is_size && (cli_input_bool(&in, spec) || cli_input_number(&in, spec, &is_whole)))
        return true;
    if (cli_input_parse(&in, text) == NULL)
        return false;
    return bracket_at(spec) || *spec == '"' || *spec == '\'' || strcmp(spec, "none") == 0 ||
           strcmp(spec, "None") == 0 || cli_input_parse(&in, spec) == NULL;
}

/* Sizes have names in verbs that export: there batch=2x3 is an input whose first size is dynamic.
 * Elsewhere, and if it is similar to the name of an input, it is a name that the model does not
 * have. */
int cli_check_input_name(const cli_args *args, const char *text, const char *model, bool has_sizes,
                         const char *(*names)(const void *table, size_t i), const void *table)
{
    const size_t len = strspn(text, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                    "0123456789.");
    char         name[CLI_NAME_SIZE], list[1024] = "";
    const char  *near = NULL, *one;

    if (text[len] != '=' || !len || len >= sizeof name || isdigit((unsigned char)*text) ||
        cq_path_exists(text))
        return CLI_DONE;
    snprintf(name, sizeof name, "%.*s", (int)len, text);
    for (size_t i = 0, n = 0; (one = names(table, i)) && n < sizeof list; i++) {
        n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "", one);
        near = len > 2 && cli_is_slip(name, one) ? one : near;
    }
    if (near)
        return cli_misuse(args->verb, "--input %s: %s has no input '%s'; did you mean %s?", text,
                          model, name, near);
    if (!*list || (has_sizes && !is_input_only(text, text + len + 1)))
        return CLI_DONE;
    return cli_misuse(args->verb, "--input %s: %s has no input '%s'; its inputs are: %s", text,
                      model, name, list);
}

/* ---- all of them ---- */

/* The value of each parameter, in order; values after the last parameter are surplus. */
typedef struct slots {
    const char *specs[2 * CLI_MAX_INPUTS];
    size_t      n;
    bool        by_name;
} slots;

static int take_named(slots *to, const cli_args *args, const cli_signature *s)
{
    const char *text, *spec;
    size_t      at = 0, i;

    while ((text = cli_next_value(args, "input", &at))) {
        if (!find_name(s, text, &i, &spec)) {
            CLI_TRY(cli_check_input_name(args, text, s->model,
                                         cli_verb_has(args->verb, "dynamic-axes"), name_at, s));
            continue;
        }
        if (to->specs[i])
            return cli_misuse(args->verb, "--input: %s is given twice", name_at(s, i));
        to->specs[i] = spec;
        to->by_name  = true;
        to->n        = i + 1 > to->n ? i + 1 : to->n;
    }
    return CLI_DONE;
}

static int take_others(slots *to, const cli_args *args, const cli_signature *s)
{
    const char *text, *spec;
    size_t      at = 0, next = 0, i;

    while ((text = cli_next_value(args, "input", &at))) {
        if (find_name(s, text, &i, &spec))
            continue;
        while (next < 2 * CLI_MAX_INPUTS && to->specs[next])
            next++;
        if (next == 2 * CLI_MAX_INPUTS)
            return cli_misuse(args->verb, "more than %d inputs", CLI_MAX_INPUTS);
        if (next < s->n_params && *s->params[next].type && !strstr(s->params[next].type, "Tensor"))
            CLI_TRY(cli_check_input_name(args, text, s->model, false, name_at, s)); /* no sizes */
        to->specs[next++] = text;
        to->n             = next > to->n ? next : to->n;
    }
    return CLI_DONE;
}

static int read_one(struct reader *r, const cli_args *args, const char *spec, size_t i)
{
    const cli_param *param = i < r->takes->n_params ? &r->takes->params[i] : NULL;
    const char      *type  = param ? param->type : "", *end;

    if (param && !*type)
        type = "Tensor";
    r->why = NULL;
    r->declared =
        is_type(type, "Tensor") && i < r->takes->n_declared ? &r->takes->declared[i] : NULL;
    end = read_value(r, spec, type, 0);
    if (!r->why && *skip_space(end))
        r->why = "something is left behind its end";
    return r->why ? cli_misuse(args->verb, "--input %s: %s", spec, r->why) : CLI_DONE;
}

/* Arguments by position until one is omitted; the following ones by name. */
static int read_slots(struct reader *r, const cli_args *args, const slots *from)
{
    bool by_name = false;

    for (size_t i = 0, n = 0; i < from->n; i++) {
        if (!from->specs[i] && !by_name) {
            write_json(r, "], \"kwargs\": {");
            by_name      = true;
            r->is_nested = true;
            n            = 0;
        }
        if (!from->specs[i])
            continue;
        write_json(r, n++ ? ", " : "");
        if (by_name)
            write_json(r, "\"%s\": ", name_at(r->takes, i));
        CLI_TRY(read_one(r, args, from->specs[i], i));
    }
    write_json(r, by_name ? "}}" : "]}");
    return CLI_DONE;
}

/* Only a program has arguments that can be left out. */
static int check_all_given(const cli_args *args, const cli_signature *s, const slots *given)
{
    for (size_t i = 0; given->by_name && s->n != CLI_ANY_NUMBER && i < s->n_needed; i++)
        if (!given->specs[i])
            return cli_misuse(args->verb, "input %s is not given; give it with --input %s=SPEC",
                              s->names[i], s->names[i]);
    return CLI_DONE;
}

int cli_values_read(cli_example *e, const cli_args *args, const cli_signature *s)
{
    static slots   given; /* too large for a stack frame */
    struct reader *r = &reader;

    memset(&given, 0, sizeof given);
    r->e      = e;
    r->takes  = s;
    r->n_json = r->n_tokens = 0;
    r->is_nested            = false;
    CLI_TRY(take_named(&given, args, s));
    CLI_TRY(take_others(&given, args, s));
    CLI_TRY(check_all_given(args, s, &given));
    write_json(r, "{\"args\": [");
    CLI_TRY(read_slots(r, args, &given));
    if (r->is_nested && !takes_numbers(r) && !s->is_flat)
        return cli_misuse(args->verb, "%s takes plain tensors, no lists, dicts, texts or None",
                          s->model);
    if (r->is_nested && !s->is_flat)
        e->structure = r->json;
    return CLI_DONE;
}
