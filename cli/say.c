/* All that the command line says about itself: failures, misuse, notes, help. Results go to
 * standard output; the rest goes to standard error, in colour on a terminal only. */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RED    "31"
#define YELLOW "33"
#define BLUE   "34"

static bool has_colour(void)
{
    const char *term = getenv("TERM");
    const char *off  = getenv("NO_COLOR");

    return isatty(STDERR_FILENO) && !(off && *off) && term && strcmp(term, "dumb") != 0;
}

static void say_label(const char *colour, const char *label)
{
    if (has_colour())
        fprintf(stderr, "\033[1;%sm%s\033[0m ", colour, label);
    else
        fprintf(stderr, "%s ", label);
}

/* How many bytes may be shown as they are; 0: the first is escaped. U+0080 to U+009F, which some
 * terminals obey, and what is not UTF-8 are controls as well. */
static size_t shown(const char *text, size_t len)
{
    const unsigned char *p = (const unsigned char *)text;
    size_t n = *p < 0x80 ? 1 : *p < 0xc2 ? 0 : *p < 0xe0 ? 2 : *p < 0xf0 ? 3 : *p < 0xf5 ? 4 : 0;

    if (n == 1)
        return *p >= 0x20 && *p != 0x7f;
    for (size_t i = 1; i < n; i++)
        if (i >= len || (p[i] & 0xc0) != 0x80)
            return 0;
    return n == 2 && p[0] == 0xc2 && p[1] < 0xa0 ? 0 : n;
}

static void put_text_but(FILE *out, const char *text, size_t len, const char *but)
{
    for (size_t i = 0, n; i < len; i += n ? n : 1) {
        n = text[i] && strchr(but, text[i]) ? 1 : shown(text + i, len - i);
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

double cli_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
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

/* Part of an error record: each of its lines on one of its own, after lead. */
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

/* The places of an error, which may be in files. */
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

/* The lines of a help text, below each other. */
static void put_indented(const char *text, int column)
{
    for (const char *c = text; *c; c++)
        if (*c == '\n')
            printf("\n%*s", column, "");
        else
            putchar(*c);
    putchar('\n');
}

void cli_print_verb_help(const cli_verb *verb)
{
    char head[160];
    int  width = 0;

    printf("usage: calque %s%s%s%s\n\n%s\n", verb->name, verb->options ? " [options]" : "",
           *verb->operands ? " " : "", verb->operands, verb->about);
    if (!verb->options)
        return;
    for (const cli_option *o = verb->options; o->name; o++) {
        int len = o->help ? option_head(head, sizeof head, o) : 0;

        width = len > width ? len : width;
    }
    printf("\noptions:\n");
    for (const cli_option *o = verb->options; o->name; o++) {
        if (!o->help)
            continue;
        option_head(head, sizeof head, o);
        printf("  %-*s  ", width, head);
        put_indented(o->help, width + 4);
    }
}
