/* Interface of the verbs of the command line. A verb is one file, cmd_NAME.c, that defines one
 * cli_verb; main.c has the table. The parser (options.c) checks everything that needs no knowledge
 * of the verb; say.c prints messages.
 *
 * The command line uses public headers only, and no heap: arguments are not copied. */
#ifndef CALQUE_CLI_H
#define CALQUE_CLI_H

#include <calque/status.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Exit codes. */
enum {
    CLI_DONE   = 0,
    CLI_FAILED = 1, /* the work failed: bad model, unsupported operator, mismatch */
    CLI_MISUSE = 2  /* wrong use of the command line */
};

/* Returns the exit code of a call unless it is CLI_DONE. */
#define CLI_TRY(call)                                                                              \
    do {                                                                                           \
        int try_code_ = (call);                                                                    \
        if (try_code_ != CLI_DONE)                                                                 \
            return try_code_;                                                                      \
    } while (0)

/* A row describes an option. Tables end with a row without a name. The help text of a repeatable
 * option mentions that it is repeatable. A row without help is accepted but not listed. */
typedef struct cli_option {
    const char *name;  /* "opset" for --opset */
    const char *value; /* placeholder of its value, "N"; NULL: a flag without a value; "[FILE]": an
                        * optional value, attached by = or after all operands. A value named FILE,
                        * SPEC, JSON or OUT may be -, for standard input and output */
    const char *help;
    char        letter; /* 'o' for -o; 0: none */
} cli_option;

typedef struct cli_args cli_args;

/* Options that a help page lists under one title. Tables end with a row without a title. */
typedef struct cli_group {
    const char        *title;
    const char *const *options; /* names of options; NULL-terminated */
} cli_group;

typedef struct cli_verb {
    const char       *name;
    const char       *operands; /* "MODEL [OUTDIR]", as in the usage line; "" if there are none */
    const char       *summary;  /* half a line, for the list of verbs */
    const char       *about;    /* the first lines of the verb's help, with line breaks */
    const cli_option *options;  /* NULL if there are none */
    const cli_group  *groups;   /* NULL: the help page has a single list */
    size_t            min_operands, max_operands;
    size_t            n_read;         /* number of operands that are files to read; the others are
                                       * folders or words */
    bool fills;                       /* its output may be larger than its input */
    bool passes_on;                   /* all arguments after its first operand are operands */
    int (*run)(const cli_args *args); /* an exit code */
} cli_verb;

#define CLI_ANY_NUMBER SIZE_MAX

/* Maximum number of options of a command; a script that exceeds it is broken. */
#define CLI_MAX_OPTIONS 1024

typedef struct cli_given {
    const cli_option *option;
    const char       *value; /* NULL for a flag */
} cli_given;

struct cli_args {
    const cli_verb *verb;
    char          **operands;
    size_t          n_operands;
    cli_given       given[CLI_MAX_OPTIONS]; /* in the order of the command line */
    size_t          n_given;
    bool            wants_help;
    bool            no_sandbox;
    bool            allows_large; /* --allow-large-output */
    bool            quiet;        /* -q: print nothing on success */
};

/* Sorts argv[0 .. argc) into operands and options of args->verb. On CLI_MISUSE the error has been
 * printed. */
int cli_parse(cli_args *args, int argc, char **argv);

/* Whether an option was given; and its last value, or NULL. Both assert that the verb has the
 * option. */
bool        cli_has(const cli_args *args, const char *name);
const char *cli_value(const cli_args *args, const char *name);

/* The values of a repeatable option, in order: start with *at = 0; NULL after the last. */
const char *cli_next_value(const cli_args *args, const char *name, size_t *at);

/* Reads an integer within bounds; *out keeps its value if the option is not given. */
int cli_number(const cli_args *args, const char *name, int64_t min, int64_t max, int64_t *out);

/* The name most similar to a misspelled one, or NULL if none is similar. name_at(table, i) is the
 * i-th name, or NULL after the last. */
const char *cli_suggest(const char *wrong, const char *(*name_at)(const void *table, size_t i),
                        const void *table);

/* Whether a single edit turns one name into the other. */
bool cli_is_slip(const char *wrong, const char *right);

/* Whether a verb has an option of that name. */
bool cli_verb_has(const cli_verb *verb, const char *option);

/* Prints the last failure of the library: message, location, excerpt, hint. Returns CLI_FAILED. */
int cli_fail(void);

/* The same for a failure that is not from the library. */
int cli_fail_with(const char *hint, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints an error about the command line and how to get help. Returns CLI_MISUSE. */
int cli_misuse(const cli_verb *verb, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints text that may come from a file: control characters, which could affect a terminal or break
 * lines, are printed as \x1b. */
void cli_put_text(FILE *out, const char *text);

/* The same for multiple lines: line breaks and tabs are printed unchanged. */
void cli_put_lines(FILE *out, const char *text, size_t len);

/* Formats a size: "44.7 MB". */
void cli_size_text(char *out, size_t size, uint64_t bytes);

/* Case-insensitive equality of ASCII words. */
bool cli_is_same_word(const char *a, const char *b);

bool cli_ends_with(const char *text, const char *suffix);

/* Reads a text file into text, which has space for size bytes including the terminating zero; *len
 * is its length. Returns the exit code; prints the error. */
int cli_read_text(const char *path, char *text, size_t size, size_t *len);

/* Prints another hint, below a failure. */
void cli_say_hint(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Notes and warnings, to standard error. */
void cli_note(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));
void cli_warn_at(const char *where, const char *message); /* warnings of the library; where may be
                                                           * "" */

/* stream.c: starts the clock. */
void   cli_start_clock(void);
double cli_elapsed(void); /* seconds */

/* Prints to standard error what was written: "wrote PATH: 46.7 MB, 49 nodes, 0.31 s". format is the
 * text between the size and the time, with a space before it and a comma after it; it may be
 * empty. */
void cli_wrote(const cli_args *args, const char *path, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Whether a path refers to standard output. */
bool cli_is_stdout(const char *path);

/* Replaces every - among options and operands that are files by the path of standard output or of a
 * copy of standard input. Returns the exit code; prints the error. */
int cli_open_streams(cli_args *args);

/* Whether a path refers to the copy of standard input. */
bool cli_is_stdin(const char *path);

/* A path for a message; the copy of standard input is called "standard input". */
const char *cli_path_name(const char *path);

/* Like cli_put_text, for a path or a location that begins with one; standard streams are printed by
 * name. */
void cli_put_path(FILE *out, const char *path);

/* Ends cq_outputs_begin. If code is CLI_DONE and everything printed so far has reached standard
 * output, the outputs are renamed to their final names; otherwise they are deleted. Returns code,
 * or the code of its own failure. */
int cli_end_outputs(int code);

/* Like cli_end_outputs for a caller that tries again if the outputs collide with those of another
 * program: the error is only printed if no tries are left. */
int cli_try_outputs(int code, int tries_left);

/* Like cq_onnx_model_save; to standard output the whole model is written, without external data. */
struct cq_onnx_model;
struct cq_onnx_save_options;
cq_status cli_save_model(const struct cq_onnx_model *model, const char *path,
                         const struct cq_onnx_save_options *options);

/* Limits the size of outputs in proportion to the inputs: writing gigabytes for a small file needs
 * --allow-large-output. Tensors that the user describes count as input; a built-in model needs no
 * file. */
void cli_limit_outputs(const cli_args *args);
void cli_allow_outputs(uint64_t bytes);

/* Fails if an output is one of the files that the command reads, under any name. */
int cli_keep_inputs(const cli_args *args, const char *output);

/* Enables progress bars, on a terminal, for work of the library that takes more than a second.
 * cli_progress_bar formats a bar of width columns. */
void cli_show_progress(void);
void cli_progress_bar(char *out, size_t size, int width, const char *what, uint64_t done,
                      uint64_t total);

/* Converts a status to an exit code: CLI_DONE for CQ_OK, otherwise the result of cli_fail. */
int cli_result(cq_status status);

/* The same for calls of a model. Wrong arguments and unknown names are CLI_MISUSE; all other
 * failures are CLI_FAILED. */
int cli_result_of_call(cq_status status);

/* Help pages, on standard output. */
void cli_print_verb_help(const cli_verb *verb);

#endif
