/* --annotate, --anchor and --as-output: marks of modules by path. */
#include "export_options.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

typedef enum word_kind { INTEGER, REAL, TEXT } word_kind;

/* The kind of a word. Numbers begin with a digit, sign or point, so nan and infinity are
 * strings. */
static word_kind kind_of(const char *word, int64_t *i, double *f)
{
    char *end;

    if (!*word || !strchr("+-.0123456789", *word) || !word[strcspn(word, "0123456789")])
        return TEXT;
    errno = 0;
    *i    = strtoll(word, &end, 10);
    *f    = (double)*i;
    if (!*end && !errno)
        return INTEGER;
    *f = strtod(word, &end);
    return *end ? TEXT : REAL;
}

/* Removes the quotes of "…", which make any word a string; false if there are none. */
static bool unquote(char **word)
{
    size_t len = strlen(*word);

    if (len < 2 || (*word)[0] != '"' || (*word)[len - 1] != '"')
        return false;
    (*word)[len - 1] = '\0';
    (*word)++;
    return true;
}

/* Splits the text of a list at its commas; returns the number of words, or max + 1 if there are
 * more. */
static size_t cut_list(char *text, char **words, size_t max)
{
    size_t n = 0;

    for (char *at = text, *next; at; at = next) {
        if (n == max)
            return max + 1;
        next = strchr(at, ',');
        if (next)
            *next++ = '\0';
        at += strspn(at, " ");
        at[strcspn(at, " ")] = '\0';
        if (*at || n || next)
            words[n++] = at;
    }
    return n;
}

/* Returns false if the list exceeds the available space. */
static bool read_list(cli_export *e, cq_sym_attr *attr, char *text)
{
    size_t    at    = e->n_items;
    char    **words = (char **)&e->item_texts[at];
    size_t    n     = cut_list(text, words, CLI_MAX_ITEMS - at);
    word_kind all   = INTEGER;

    if (n > CLI_MAX_ITEMS - at)
        return false;
    for (size_t i = 0; i < n; i++) {
        word_kind one = unquote(&words[i])
                            ? TEXT
                            : kind_of(words[i], &e->item_ints[at + i], &e->item_floats[at + i]);

        all = one > all ? one : all;
    }
    attr->kind    = all == TEXT   ? CQ_SYM_ATTR_STRINGS
                    : all == REAL ? CQ_SYM_ATTR_FLOATS
                                  : CQ_SYM_ATTR_INTS;
    attr->n       = n;
    attr->ints    = &e->item_ints[at];
    attr->floats  = &e->item_floats[at];
    attr->strings = &e->item_texts[at];
    e->n_items += n;
    return true;
}

static bool read_value(cli_export *e, cq_sym_attr *attr, char *text)
{
    static const cq_sym_attr_kind kinds[] = { CQ_SYM_ATTR_INT, CQ_SYM_ATTR_FLOAT,
                                              CQ_SYM_ATTR_STRING };
    size_t                        len     = strlen(text);

    if (len >= 2 && text[0] == '[' && text[len - 1] == ']') {
        text[len - 1] = '\0';
        return read_list(e, attr, text + 1);
    }
    attr->kind = unquote(&text) ? CQ_SYM_ATTR_STRING : kinds[kind_of(text, &attr->i, &attr->f)];
    attr->s    = text;
    return true;
}

/* ---- options ---- */

static bool is_mark(const cq_module_mark *m, cq_mark_kind kind, const char *path)
{
    return m->kind == kind && strcmp(m->path, path) == 0;
}

/* The mark of a path, created if necessary; NULL if there is no space. */
static cq_module_mark *mark_of(cli_export *e, cq_mark_kind kind, const char *path)
{
    for (size_t i = 0; i < e->options.n_marks && kind != CQ_MARK_OUTPUT; i++)
        if (is_mark(&e->marks[i], kind, path))
            return &e->marks[i];
    if (e->options.n_marks == CLI_MAX_MARKS)
        return NULL;
    e->marks[e->options.n_marks] =
        (cq_module_mark){ CQ_SIZED(cq_module_mark), .kind = kind, .path = path };
    return &e->marks[e->options.n_marks++];
}

/* Adds an attribute. Attributes of one path form one annotation, or one pair of anchors. */
static cq_sym_attr *new_attr(cli_export *e, cq_module_mark *mark)
{
    size_t at = mark->n_attrs ? (size_t)(mark->attrs - e->attrs) + mark->n_attrs : e->n_attrs;

    if (e->n_attrs == CLI_MAX_MARKS)
        return NULL;
    memmove(&e->attrs[at + 1], &e->attrs[at], (e->n_attrs - at) * sizeof *e->attrs);
    e->n_attrs++;
    for (size_t i = 0; i < e->options.n_marks; i++)
        if (e->marks[i].n_attrs && e->marks[i].attrs >= &e->attrs[at])
            e->marks[i].attrs++;
    if (!mark->n_attrs++)
        mark->attrs = &e->attrs[at];
    return &e->attrs[at];
}

/* Parses PATH:NAME=VALUE; for an anchor, NAME=VALUE is optional. */
static int read_annotation(cli_export *e, const cli_args *args, const char *option,
                           cq_mark_kind kind, const char *text)
{
    char           *path   = cli_export_keep(e, text);
    char           *name   = path ? strchr(path, ':') : NULL;
    char           *equals = name ? strchr(name, '=') : NULL;
    cq_module_mark *mark;
    cq_sym_attr    *attr;

    if (path && (name || kind != CQ_MARK_ANCHOR) && (!equals || equals == name + 1))
        return cli_misuse(args->verb, "--%s expects PATH:NAME=VALUE, got '%s'", option, text);
    if (name)
        *name++ = '\0';
    mark = path ? mark_of(e, kind, path) : NULL;
    if (mark && kind == CQ_MARK_ANNOTATE && cli_has(args, "annotate-all"))
        mark->flags = CQ_ANNOTATE_ALL;
    attr = mark && name ? new_attr(e, mark) : NULL;
    if (!mark || (name && !attr))
        return cli_misuse(args->verb, "at most %d marks are supported", CLI_MAX_MARKS);
    if (!name)
        return CLI_DONE;
    *equals = '\0';
    *attr   = (cq_sym_attr){ .name = name };
    if (!read_value(e, attr, equals + 1))
        return cli_misuse(args->verb, "at most %d list items are supported", CLI_MAX_ITEMS);
    return CLI_DONE;
}

/* Parses NAME=PATH, or NAME=PATH:1 for the second tensor that the module returns. */
static int read_output(cli_export *e, const cli_args *args, const char *text)
{
    char           *name   = cli_export_keep(e, text);
    char           *equals = name ? strchr(name, '=') : NULL;
    char           *colon = equals ? strrchr(equals, ':') : NULL, *end = NULL;
    unsigned long   index = 0;
    cq_module_mark *mark;

    if (colon) {
        *colon++ = '\0';
        index    = strtoul(colon, &end, 10);
    }
    if (!equals || equals == name || (colon && (!*colon || *end || *colon == '-')))
        return cli_misuse(args->verb, "--as-output expects NAME=PATH or NAME=PATH:INDEX, got '%s'",
                          text);
    *equals = '\0';
    mark    = mark_of(e, CQ_MARK_OUTPUT, equals + 1);
    if (!mark)
        return cli_misuse(args->verb, "at most %d marks are supported", CLI_MAX_MARKS);
    mark->name  = name;
    mark->index = index;
    return CLI_DONE;
}

int cli_export_read_marks(cli_export *e, const cli_args *args)
{
    const char *text;
    int         code = CLI_DONE;

    e->n_attrs = e->n_items = 0;
    for (size_t at = 0; !code && (text = cli_next_value(args, "annotate", &at));)
        code = read_annotation(e, args, "annotate", CQ_MARK_ANNOTATE, text);
    for (size_t at = 0; !code && (text = cli_next_value(args, "anchor", &at));)
        code = read_annotation(e, args, "anchor", CQ_MARK_ANCHOR, text);
    for (size_t at = 0; !code && (text = cli_next_value(args, "as-output", &at));)
        code = read_output(e, args, text);
    e->options.marks = e->marks;
    return code;
}
