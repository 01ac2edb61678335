/* calque, the command line: finds the verb, parses its options and runs it. Each verb is a file
 * cmd_*.c, and is listed here. */
#include "cli.h"
#include "sandbox.h"

#include <calque/system.h>
#include <calque/version.h>

#include <stdio.h>
#include <string.h>

extern const cli_verb cli_verb_audit;
extern const cli_verb cli_verb_check;
extern const cli_verb cli_verb_cut;
extern const cli_verb cli_verb_export;
extern const cli_verb cli_verb_infer;
extern const cli_verb cli_verb_py;
extern const cli_verb cli_verb_info;
extern const cli_verb cli_verb_join;
extern const cli_verb cli_verb_ops;
extern const cli_verb cli_verb_convert;
extern const cli_verb cli_verb_optimize;
extern const cli_verb cli_verb_print;
extern const cli_verb cli_verb_quantize;
extern const cli_verb cli_verb_run;
extern const cli_verb cli_verb_strip;
extern const cli_verb cli_verb_testcase;
extern const cli_verb cli_verb_unstrip;
extern const cli_verb cli_verb_verify;
extern const cli_verb cli_verb_diff;
extern const cli_verb cli_verb_bench;
extern const cli_verb cli_verb_profile;
extern const cli_verb cli_verb_view;
extern const cli_verb cli_verb_zoo;

/* In the order of the help page: create, inspect, run. */
static const cli_verb *const verbs[] = { &cli_verb_export,  &cli_verb_testcase, &cli_verb_info,
                                         &cli_verb_print,   &cli_verb_check,    &cli_verb_audit,
                                         &cli_verb_infer,   &cli_verb_py,       &cli_verb_optimize,
                                         &cli_verb_convert, &cli_verb_quantize, &cli_verb_cut,
                                         &cli_verb_join,    &cli_verb_strip,    &cli_verb_unstrip,
                                         &cli_verb_run,     &cli_verb_verify,   &cli_verb_diff,
                                         &cli_verb_bench,   &cli_verb_profile,  &cli_verb_view,
                                         &cli_verb_ops,     &cli_verb_zoo,      NULL };

static const char *verb_name_at(const void *table, size_t i)
{
    const cli_verb *verb = ((const cli_verb *const *)table)[i];

    return verb ? verb->name : NULL;
}

static const cli_verb *find_verb(const char *name)
{
    for (const cli_verb *const *v = verbs; *v; v++)
        if (strcmp((*v)->name, name) == 0)
            return *v;
    return NULL;
}

static void print_help(FILE *out)
{
    fprintf(out, "usage: calque VERB [options] …\n\n"
                 "Exports PyTorch models to ONNX; checks, changes, prints and runs ONNX models.\n\n"
                 "verbs:\n");
    for (const cli_verb *const *v = verbs; *v; v++)
        fprintf(out, "  %-9s  %s\n", (*v)->name, (*v)->summary);
    fprintf(out, "\ncalque help VERB explains a verb; calque -V prints the version.\n"
                 "-q after a verb: no line about what was written. - is standard input or output.\n"
                 "--no-sandbox after a verb: on Linux it otherwise starts no program, opens no\n"
                 "connection, and changes no file but its output.\n"
                 "--allow-large-output after a verb: write more than 64 MiB plus 16 times the\n"
                 "input (unstrip: 1 GiB); a small file may describe gigabytes.\n"
                 "Exit codes: 0 done, 1 the work failed, 2 wrong use of the command line.\n");
}

static int unknown_verb(const char *name)
{
    const char *near       = cli_suggest(name, verb_name_at, verbs);
    char        names[256] = "";

    if (near)
        return cli_misuse(NULL, "unknown verb '%s'; did you mean %s?", name, near);
    for (const cli_verb *const *v = verbs; *v; v++) {
        size_t len = strlen(names);

        snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "", (*v)->name);
    }
    return cli_misuse(NULL, "unknown verb '%s'; the verbs are %s", name, names);
}

/* Everything that verbs have in common before they run. */
static int prepare_verb(cli_args *args, int argc, char **argv)
{
    CLI_TRY(cli_parse(args, argc, argv));
    if (args->wants_help) {
        cli_print_verb_help(args->verb);
        args->verb = NULL;
        return CLI_DONE;
    }
    CLI_TRY(cli_open_streams(args));
    if (cli_verb_has(args->verb, "open") && cli_has(args, "open"))
        CLI_TRY(cli_result(cq_opener_start()));
    if (!args->no_sandbox)
        cli_sandbox(args);
    cli_limit_outputs(args);
    return CLI_DONE;
}

static bool is_one_of(const char *text, const char *a, const char *b)
{
    return strcmp(text, a) == 0 || strcmp(text, b) == 0;
}

/* calque help [VERB]: the same as VERB --help. */
static int help(int argc, char **argv)
{
    const cli_verb *verb = argc ? find_verb(argv[0]) : NULL;

    if (argc > 1)
        return cli_misuse(NULL, "unexpected argument '%s'", argv[1]);
    if (argc && !verb)
        return unknown_verb(argv[0]);
    if (verb)
        cli_print_verb_help(verb);
    else
        print_help(stdout);
    return CLI_DONE;
}

/* Reads the command line. args->verb is the verb to run; NULL: none, because help was printed. */
static int read_command(cli_args *args, int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return CLI_MISUSE;
    }
    if (is_one_of(argv[1], "--help", "-h")) {
        print_help(stdout);
        return CLI_DONE;
    }
    if (is_one_of(argv[1], "--version", "-V")) {
        printf("calque %s\n", cq_version_string());
        return CLI_DONE;
    }
    if (argv[1][0] == '-')
        return cli_misuse(NULL, "expected a verb as first argument, got '%s'", argv[1]);
    if (strcmp(argv[1], "help") == 0)
        return help(argc - 2, argv + 2);
    args->verb = find_verb(argv[1]);
    return args->verb ? prepare_verb(args, argc - 2, argv + 2) : unknown_verb(argv[1]);
}

int main(int argc, char **argv)
{
    static cli_args args; /* too large for a stack frame */
    int             code;

    cq_program_begin(&argc, &argv, CLI_FAILED);
    cli_start_clock();
    cli_show_progress();
    code = read_command(&args, argc, argv);
    if (code == CLI_DONE && args.verb)
        code = args.verb->run(&args);

    /* A full disk is only detected when the buffer is written. */
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == CLI_DONE) {
        perror("error: cannot write to standard output");
        code = CLI_FAILED;
    }
    return code;
}
