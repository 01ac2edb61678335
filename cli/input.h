/* Inputs as the command line writes them: `--input SPEC`.
 *
 *     1x3x224x224            float32, random: normal, whole numbers from 0 to 9
 *     int64[2,3]             any dtype; [] is a scalar
 *     f16[1,8]=zeros         zeros, ones, range, a number, normal(0,1), uniform(0,1)
 *     batchx3x224x224        an axis with a name is dynamic (names with an x in them need the
 *     float32[max_len,3]     brackets)
 *     1x3xh=64xw=64          and this large in the example
 *     x.npy  x.pb            a file
 *     batchx3=x.npy          a file, whose first axis is dynamic
 *
 * For an input that a model declares, the dtype is the declared one where SPEC has none, and a
 * number, true or false is a scalar. Texts, lists and the like, which are for programs, are in
 * value.h. */
#ifndef CALQUE_CLI_INPUT_H
#define CALQUE_CLI_INPUT_H

#include <calque/tensor.h>

typedef enum cli_fill {
    CLI_RANDOM, /* normal, or small integers */
    CLI_ZEROS,
    CLI_ONES,
    CLI_RANGE,
    CLI_NORMAL,  /* mean a, deviation b */
    CLI_UNIFORM, /* from a to b */
    CLI_CONSTANT /* a */
} cli_fill;

#define CLI_AXIS_NAME_SIZE 64

typedef struct cli_axis {
    int64_t size;                     /* for a named axis without size: CLI_DYNAMIC_EXAMPLE */
    char    name[CLI_AXIS_NAME_SIZE]; /* "" if unnamed */
    bool    is_sized;                 /* the size was given explicitly */
} cli_axis;

/* The example value of a dynamic size: not 1, which broadcasts. */
#define CLI_DYNAMIC_EXAMPLE 2

typedef struct cli_input {
    const char *path; /* path of a file, in which case only the names of axes below are used; or
                       * NULL */
    cq_dtype dtype;
    cli_fill fill;
    double   a, b;  /* parameters of the fill */
    int64_t  whole; /* a as an integer, if it is integral */
    size_t   rank;
    cli_axis axes[CQ_MAX_RANK];
    bool     is_declared;  /* the model's file declares its sizes */
    bool     has_any_rank; /* declared without rank and axes */
} cli_input;

/* Parses a SPEC. Returns NULL, or a short error message. */
const char *cli_input_parse(cli_input *out, const char *spec);

/* The same for an input that a model declares, or NULL. */
const char *cli_input_parse_as(cli_input *out, const char *spec, const cli_input *declared);

/* Whether text is a number, which is stored in out; *is_whole: it has neither point nor
 * exponent. */
bool cli_input_number(cli_input *out, const char *text, bool *is_whole);

/* Whether text is true or false, in Python's spelling too. */
bool cli_input_bool(cli_input *out, const char *text);

/* Returns NULL, or the reason why the dtype cannot represent the number. */
const char *cli_input_check_number(const cli_input *input);

/* Whether a name is that of a tensor file; and loading the file. */
bool      cli_is_tensor_file(const char *path);
bool      cli_is_npy(const char *path); /* by its name; for standard input by its first bytes */
cq_status cli_load_tensor(cq_tensor **out, const char *path);

/* Fails with a message if the data generated so far, for sizes that a file declares, exceeds the
 * limit. A few bytes can declare terabytes. */
int cli_input_check_size(const cli_input *input, const char *name);

/* Reads the tensor from its file, or generates it. The numbers depend only on the seed. */
cq_status cli_input_tensor(cq_tensor **out, const cli_input *input, uint64_t seed);

#endif
