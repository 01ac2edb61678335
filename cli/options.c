/* The option parser of all verbs: --name VALUE, --name=VALUE, -o VALUE, -oVALUE, flags, and `--`
 * before operands that begin with a dash. Operands and options may be mixed. Operands are moved to
 * the front of argv, so nothing is copied. The verbs interpret the values. */
#include "cli.h"

#include <calque/system.h>

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SUGGEST_MAX_LEN 64

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The number of edits (insert, delete, replace, swap of neighbours) between two short words. */
static size_t distance(const char *a, size_t n_a, const char *b, size_t n_b)
{
    size_t rows[3][SUGGEST_MAX_LEN + 1]; /* the row before the previous one, the previous one, the
                                          * current one */

    for (size_t j = 0; j <= n_b; j++)
        rows[1][j] = j;
    for (size_t i = 1; i <= n_a; i++) {
        rows[2][0] = i;
        for (size_t j = 1; j <= n_b; j++) {
            size_t best = rows[1][j - 1] + (a[i - 1] != b[j - 1]);

            best = smaller(best, smaller(rows[1][j], rows[2][j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, rows[0][j - 2] + 1);
            rows[2][j] = best;
        }
        memcpy(rows[0], rows[1], sizeof rows[0]);
        memcpy(rows[1], rows[2], sizeof rows[1]);
    }
    return rows[1][n_b];
}

const char *cli_suggest(const char *wrong, const char *(*name_at)(const void *table, size_t i),
                        const void *table)
{
    const char *nearest = NULL;
    const char *name;
    size_t      len  = strlen(wrong);
    size_t      best = len / 3 + 2; /* a larger distance is unlikely to be a misspelling */

    if (len == 0 || len > SUGGEST_MAX_LEN)
        return NULL;
    for (size_t i = 0; (name = name_at(table, i)); i++) {
        size_t name_len = strlen(name);
        size_t edits;

        if (name_len > SUGGEST_MAX_LEN)
            continue;
        edits = distance(wrong, len, name, name_len);
        /* "operators" may mean "ops", like "opst" does */
        if (edits > 1 && len > 2 && strncmp(wrong, name, smaller(len, name_len)) == 0)
            edits = 1;
        if (edits < best) {
            best    = edits;
            nearest = name;
        }
    }
    return nearest;
}

bool cli_is_slip(const char *wrong, const char *right)
{
    const size_t n = strlen(wrong), m = strlen(right);

    return n <= SUGGEST_MAX_LEN && m <= SUGGEST_MAX_LEN && distance(wrong, n, right, m) == 1;
}

static const cli_option no_options[] = { { 0 } };

static const cli_option *options_of(const cli_verb *verb)
{
    return verb->options ? verb->options : no_options;
}

static const char *option_name_at(const void *table, size_t i)
{
    return ((const cli_option *)table)[i].name;
}

static const cli_option *find_long(const cli_verb *verb, const char *name, size_t len)
{
    for (const cli_option *o = options_of(verb); o->name; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            return o;
    return NULL;
}

bool cli_verb_has(const cli_verb *verb, const char *option)
{
    return find_long(verb, option, strlen(option)) != NULL;
}

static const cli_option *find_letter(const cli_verb *verb, char letter)
{
    for (const cli_option *o = options_of(verb); o->name; o++)
        if (o->letter == letter)
            return o;
    return NULL;
}

static int unknown_option(const cli_verb *verb, const char *name, size_t len)
{
    char        word[SUGGEST_MAX_LEN + 1] = { 0 };
    const char *near;

    memcpy(word, name, smaller(len, SUGGEST_MAX_LEN));
    for (char *c = word; *c; c++)
        *c = *c == '_' ? '-' : *c; /* accept underscores, which Python's names have */
    near = cli_suggest(word, option_name_at, options_of(verb));
    if (near)
        return cli_misuse(verb, "unknown option --%.*s; did you mean --%s?", (int)len, name, near);
    return cli_misuse(verb, "unknown option --%.*s", (int)len, name);
}

/* The remaining arguments, and the result. */
typedef struct cli_reader {
    cli_args *args;
    char    **argv;
    int       argc, at;
} cli_reader;

/* Records an option; value is attached to it, or NULL. */
static int give(cli_reader *r, const cli_option *option, const char *value)
{
    cli_args *args = r->args;

    if (!option->value && value)
        return cli_misuse(args->verb, "--%s takes no value, but got '%s'", option->name, value);
    if (option->value && *option->value == '[' && !value) {
        /* An optional value may only follow all operands: otherwise it could be an operand. */
        if (args->n_operands == args->verb->max_operands && r->at < r->argc &&
            *r->argv[r->at] != '-')
            value = r->argv[r->at++];
    } else if (option->value && !value) {
        if (r->at == r->argc)
            return cli_misuse(args->verb, "--%s needs a value: %s", option->name, option->value);
        value = r->argv[r->at++];
    }
    if (args->n_given == CLI_MAX_OPTIONS)
        return cli_misuse(args->verb, "more than %d options", CLI_MAX_OPTIONS);
    args->given[args->n_given++] = (cli_given){ option, value };
    return CLI_DONE;
}

/* Handles flags that all verbs have. */
static bool give_common(cli_args *args, const char *name)
{
    const struct {
        const char *name;
        bool       *flag;
    } common[] = { { "help", &args->wants_help },
                   { "quiet", &args->quiet },
                   { "no-sandbox", &args->no_sandbox },
                   { "allow-large-output", &args->allows_large } };

    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (strcmp(name, common[i].name) == 0)
            return *common[i].flag = true;
    return false;
}

static int read_long(cli_reader *r, const char *text)
{
    const char       *equals = strchr(text, '=');
    size_t            len    = equals ? (size_t)(equals - text) : strlen(text);
    const cli_option *option = find_long(r->args->verb, text, len);

    if (!option && give_common(r->args, text))
        return CLI_DONE;
    if (!option)
        return unknown_option(r->args->verb, text, len);
    return give(r, option, equals ? equals + 1 : NULL);
}

/* Parses -o VALUE, -oVALUE, and combined flags, -abc. */
static int read_letters(cli_reader *r, const char *text)
{
    for (; *text; text++) {
        const cli_option *option = find_letter(r->args->verb, *text);

        if (!option && (*text == 'h' || *text == 'q')) {
            *(*text == 'h' ? &r->args->wants_help : &r->args->quiet) = true;
            continue;
        }
        if (!option)
            return cli_misuse(r->args->verb, "unknown option -%c", *text);
        if (option->value)
            return give(r, option, text[1] ? text + 1 : NULL);
        CLI_TRY(give(r, option, NULL));
    }
    return CLI_DONE;
}

/* "MODEL" for the first operand of "MODEL OUTDIR". */
static const char *missing_operand(const cli_verb *verb, size_t i)
{
    const char *at = verb->operands;

    for (; i && strchr(at, ' '); i--)
        at = strchr(at, ' ') + 1;
    return at;
}

static int check_operands(const cli_args *args)
{
    const cli_verb *verb = args->verb;

    if (args->n_operands < verb->min_operands)
        return cli_misuse(verb, "%.*s is missing; usage: calque %s %s",
                          (int)strcspn(missing_operand(verb, args->n_operands), " "),
                          missing_operand(verb, args->n_operands), verb->name, verb->operands);
    if (args->n_operands > verb->max_operands)
        return cli_misuse(verb, "unexpected argument '%s'; usage: calque %s%s%s",
                          args->operands[verb->max_operands], verb->name,
                          *verb->operands ? " " : "", verb->operands);
    return CLI_DONE;
}

int cli_parse(cli_args *args, int argc, char **argv)
{
    cli_reader r       = { .args = args, .argv = argv, .argc = argc };
    bool       options = true;

    args->operands = argv;
    while (r.at < argc) {
        char *text = argv[r.at++];

        if (!options || text[0] != '-' || text[1] == '\0') {
            argv[args->n_operands++] = text;
            options &= !args->verb->passes_on;
        } else if (strcmp(text, "--") == 0) {
            options = false;
        } else {
            CLI_TRY(text[1] == '-' ? read_long(&r, text + 2) : read_letters(&r, text + 1));
        }
    }
    return args->wants_help ? CLI_DONE : check_operands(args);
}

static bool is_given(const cli_args *args, size_t i, const char *name)
{
    return strcmp(args->given[i].option->name, name) == 0;
}

const char *cli_next_value(const cli_args *args, const char *name, size_t *at)
{
    assert(find_long(args->verb, name, strlen(name)));
    while (*at < args->n_given) {
        size_t i = (*at)++;

        if (is_given(args, i, name))
            return args->given[i].value;
    }
    return NULL;
}

bool cli_has(const cli_args *args, const char *name)
{
    assert(find_long(args->verb, name, strlen(name)));
    for (size_t i = 0; i < args->n_given; i++)
        if (is_given(args, i, name))
            return true;
    return false;
}

const char *cli_value(const cli_args *args, const char *name)
{
    const char *last = NULL;
    const char *value;
    size_t      at = 0;

    while ((value = cli_next_value(args, name, &at)))
        last = value;
    return last;
}

int cli_number(const cli_args *args, const char *name, int64_t min, int64_t max, int64_t *out)
{
    const char *text = cli_value(args, name);
    char       *end;
    long long   number;

    if (!text)
        return CLI_DONE;
    errno  = 0;
    number = strtoll(text, &end, 10);
    if (end == text || *end || errno)
        return cli_misuse(args->verb, "--%s: expected an integer, got '%s'", name, text);
    if (number < min || number > max)
        return cli_misuse(args->verb, "--%s: expected a number from %lld to %lld, got %s", name,
                          (long long)min, (long long)max, text);
    *out = number;
    return CLI_DONE;
}

int cli_read_text(const char *path, char *text, size_t size, size_t *len)
{
    if (!cq_path_read_start(path, text, size, len))
        return cli_fail_with("", "cannot %s '%s': %s",
                             errno == EISDIR || errno == EIO ? "read" : "open", path,
                             strerror(errno));
    if (*len == size || memchr(text, '\0', *len))
        return cli_fail_with("", "'%s' is too large or not text", path);
    text[*len] = '\0';
    return CLI_DONE;
}

static bool is_same_file(const char *path, const char *output)
{
    return path && cq_path_look_up(path, NULL) == CQ_PATH_FILE && cq_path_is_same(path, output);
}

int cli_keep_inputs(const cli_args *args, const char *output)
{
    const char *same = NULL;

    if (cq_path_look_up(output, NULL) != CQ_PATH_FILE)
        return CLI_DONE;
    for (size_t i = 0; i < args->n_operands && !same; i++)
        if (is_same_file(args->operands[i], output))
            same = args->operands[i];
    for (size_t i = 0; i < args->n_given && !same; i++) {
        const cli_given *given = &args->given[i];

        if (given->value != output && is_same_file(given->value, output))
            same = given->value;
    }
    if (!same)
        return CLI_DONE;
    return cli_fail_with("choose another name for the output",
                         "'%s' would overwrite '%s', which this command reads", output, same);
}
