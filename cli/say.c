/* Prints the messages of the command line: failures, misuse, notes, help. Results go to standard
 * output; the rest goes to standard error, with colour only on a terminal. */
#include "cli.h"

#include <calque/system.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 100 };

#define RED    "31"
#define YELLOW "33"
#define BLUE   "34"

static void say_label(const char *colour, const char *label)
{
    if (cq_stderr_has_colour())
        fprintf(stderr, "\033[1;%sm%s\033[0m ", colour, label);
    else
        fprintf(stderr, "%s ", label);
}

static void put_text_but(FILE *out, const char *text, size_t len, const char *but)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = text[i] && strchr(but, text[i]) ? 1 : cq_visible_bytes(text + i, len - i);
        if (n)
            fwrite(text + i, 1, n, out);
        else
            fprintf(out, "\\x%02x", (unsigned char)text[i]);
    }
}

static void put_text_n(FILE *out, const char *text, size_t len)
{
    put_text_but(out, text, len, "");
}

void cli_put_lines(FILE *out, const char *text, size_t len)
{
    put_text_but(out, text, len, "\n\t");
}

/* ASCII only, whatever the locale. */
static char in_lower_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

bool cli_is_same_word(const char *a, const char *b)
{
    while (*a && in_lower_case(*a) == in_lower_case(*b))
        a++, b++;
    return in_lower_case(*a) == in_lower_case(*b);
}

bool cli_ends_with(const char *text, const char *suffix)
{
    size_t len = strlen(text), n = strlen(suffix);

    return n <= len && strcmp(text + len - n, suffix) == 0;
}

void cli_put_text(FILE *out, const char *text)
{
    put_text_n(out, text, strlen(text));
}

/* Prints a part of an error record: every line on a line, after lead. */
static void say_lines(const char *lead, const char *text)
{
    while (*text) {
        size_t len = strcspn(text, "\n");

        fputs(lead, stderr);
        put_text_n(stderr, text, len);
        fputc('\n', stderr);
        text += len + (text[len] == '\n');
    }
}

/* Prints the locations of an error, which may be in files. */
static void say_places(const char *where)
{
    char line[4096];

    for (; *where; where += *where == '\n') {
        size_t len = strcspn(where, "\n");

        snprintf(line, sizeof line, "%.*s", (int)len, where);
        fputs("  in ", stderr);
        cli_put_path(stderr, line);
        fputc('\n', stderr);
        where += len;
    }
}

static void say_hint(const char *hint)
{
    if (!*hint)
        return;
    fputs("  ", stderr);
    say_label(BLUE, "hint:");
    say_lines("", hint);
}

int cli_fail(void)
{
    const cq_error *error = cq_last_error();

    fflush(stdout);
    say_label(RED, "error:");
    say_lines("", error->message);
    say_places(error->where);
    say_lines("  ", error->excerpt);
    say_hint(error->hint);
    return CLI_FAILED;
}

int cli_result(cq_status status)
{
    return status == CQ_OK ? CLI_DONE : cli_fail();
}

int cli_result_of_call(cq_status status)
{
    int  code   = cli_result(status);
    bool inside = cq_last_error()->excerpt && *cq_last_error()->excerpt; /* of a program */

    return status == CQ_E_ARGUMENT && !inside ? CLI_MISUSE : code;
}

static void say_v(const char *colour, const char *label, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));
static void say_v(const char *colour, const char *label, const char *format, va_list args)
{
    char text[8192];

    fflush(stdout);
    say_label(colour, label);
    vsnprintf(text, sizeof text, format, args);
    cli_put_lines(stderr, text, strlen(text));
    fputc('\n', stderr);
}

int cli_misuse(const cli_verb *verb, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_v(RED, "error:", format, args);
    va_end(args);
    fprintf(stderr, "  see: calque %s%s--help\n", verb ? verb->name : "", verb ? " " : "");
    return CLI_MISUSE;
}

int cli_fail_with(const char *hint, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_v(RED, "error:", format, args);
    va_end(args);
    say_hint(hint);
    return CLI_FAILED;
}

void cli_say_hint(const char *format, ...)
{
    char    text[8192];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    say_hint(text);
}

void cli_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_v(BLUE, "note:", format, args);
    va_end(args);
}

void cli_warn(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_v(YELLOW, "warning:", format, args);
    va_end(args);
}

void cli_warn_at(const char *where, const char *message)
{
    fflush(stdout);
    say_label(YELLOW, "warning:");
    say_lines("", message);
    say_places(where);
}

/* "-o, --output FILE" */
static int option_head(char *out, size_t size, const cli_option *o)
{
    char letter[8] = "";

    if (o->letter)
        snprintf(letter, sizeof letter, "-%c, ", o->letter);
    return snprintf(out, size, "%s--%s%s%s", letter, o->name, o->value ? " " : "",
                    o->value ? o->value : "");
}

/* How many columns a text of n bytes takes: continuation bytes of UTF-8 take none. */
static int columns_of(const char *text, size_t n)
{
    int columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += (text[i] & 0xc0) != 0x80;
    return columns;
}

/* The first len bytes of a help text from a column on, broken between words. */
static void put_wrapped(const char *text, size_t len, int column)
{
    const char *end = text + len;
    int         at  = column;

    while (text < end) {
        const size_t n     = strcspn(text, " \n");
        const int    width = columns_of(text, n);

        if (at > column && at + 1 + width > HELP_WIDTH) {
            printf("\n%*s", column, "");
            at = column;
        } else if (at > column) {
            putchar(' ');
            at++;
        }
        fwrite(text, 1, n, stdout);
        at += width;
        text += n + strspn(text + n, " \n");
    }
    putchar('\n');
}

/* The description of a verb: paragraphs are wrapped, and indented lines, which are lists, stay. */
static void put_about(const char *text)
{
    while (*text) {
        const char  *list = strstr(text, "\n ");
        const size_t n    = *text == ' ' ? strcspn(text, "\n")
                            : list       ? (size_t)(list - text)
                                         : strlen(text);

        if (*text == ' ')
            printf("%.*s\n", (int)n, text);
        else
            put_wrapped(text, n, 0);
        text += n + (text[n] == '\n');
    }
}

static void put_option(const cli_option *o, int width)
{
    char head[160];

    option_head(head, sizeof head, o);
    printf("  %-*s  ", width, head);
    put_wrapped(o->help, strlen(o->help), width + 4);
}

static bool is_in(const cli_option *o, const char *const *names)
{
    for (; *names; names++)
        if (strcmp(*names, o->name) == 0)
            return true;
    return false;
}

/* The options of each group, in the order of the table; ungrouped options come last. */
static void put_groups(const cli_verb *verb, int width)
{
    bool others = false;

    for (const cli_group *g = verb->groups; g->title; g++) {
        bool first = true;

        for (const cli_option *o = verb->options; o->name; o++) {
            if (!o->help || !is_in(o, g->options))
                continue;
            if (first)
                printf("\n%s:\n", g->title);
            first = false;
            put_option(o, width);
        }
    }
    for (const cli_option *o = verb->options; o->name; o++) {
        const cli_group *g = verb->groups;

        while (g->title && !is_in(o, g->options))
            g++;
        if (!o->help || g->title)
            continue;
        if (!others)
            printf("\nother options:\n");
        others = true;
        put_option(o, width);
    }
}

void cli_print_verb_help(const cli_verb *verb)
{
    char head[160];
    int  width = 0;

    printf("usage: calque %s%s%s%s\n\n", verb->name, verb->options ? " [options]" : "",
           *verb->operands ? " " : "", verb->operands);
    put_about(verb->about);
    if (!verb->options)
        return;
    for (const cli_option *o = verb->options; o->name; o++) {
        int len = o->help ? option_head(head, sizeof head, o) : 0;

        width = len > width ? len : width;
    }
    if (verb->groups) {
        put_groups(verb, width);
        return;
    }
    printf("\noptions:\n");
    for (const cli_option *o = verb->options; o->name; o++)
        if (o->help)
            put_option(o, width);
}
