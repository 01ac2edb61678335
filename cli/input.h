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
    CLI_RANDOM, /* normal, or whole numbers that are small */
    CLI_ZEROS,
    CLI_ONES,
    CLI_RANGE,
    CLI_NORMAL,  /* mean a, deviation b */
    CLI_UNIFORM, /* from a to b */
    CLI_CONSTANT /* a */
} cli_fill;

#define CLI_AXIS_NAME_SIZE 64

typedef struct cli_axis {
    int64_t size;                     /* for a named one without: CLI_DYNAMIC_EXAMPLE */
    char    name[CLI_AXIS_NAME_SIZE]; /* "" if it has none */
    bool    is_sized;                 /* its size was given */
} cli_axis;

/* The value of a dynamic size in an example: not 1, which broadcasts. */
#define CLI_DYNAMIC_EXAMPLE 2

typedef struct cli_input {
    const char *path; /* a file, of which below only names of axes count; else NULL */
    cq_dtype    dtype;
    cli_fill    fill;
    double      a, b;  /* of the fill */
    int64_t     whole; /* a as an integer, if it is one */
    size_t      rank;
    cli_axis    axes[CQ_MAX_RANK];
    bool        is_declared;  /* its sizes are declared by the model's file */
    bool        has_any_rank; /* of a declared one: neither rank nor axes are known */
} cli_input;

/* Parses a SPEC. Returns NULL, or a short error message. */
const char *cli_input_parse(cli_input *out, const char *spec);

/* The same for an input that a model declares; NULL: for any. */
const char *cli_input_parse_as(cli_input *out, const char *spec, const cli_input *declared);

/* Whether text is a number, which out is filled with then; is_whole: it has neither point nor
 * exponent. */
bool cli_input_number(cli_input *out, const char *text, bool *is_whole);

/* Whether text is true or false, in Python's spelling too. */
bool cli_input_bool(cli_input *out, const char *text);

/* NULL, or why the dtype cannot hold the number that the input is filled with. */
const char *cli_input_check_number(const cli_input *input);

/* Whether a name is that of a tensor file, and the tensor in it. */
bool      cli_is_tensor_file(const char *path);
bool      cli_is_npy(const char *path); /* by its name, or, of standard input, by its first bytes */
cq_status cli_load_tensor(cq_tensor **out, const char *path);

/* Fails with a message if this input and those before it, of sizes that a file declares, exceed the
 * limit for generated data. A few bytes can declare terabytes. */
int cli_input_check_size(const cli_input *input, const char *name);

/* The tensor: read from its file, or made. The numbers depend on seed and on nothing else. */
cq_status cli_input_tensor(cq_tensor **out, const cli_input *input, uint64_t seed);

#endif
