/* Inputs as the command line writes them: `--input SPEC`.
 *
 *     1x3x224x224            float32, random
 *     int64[2,3]             any dtype; [] is a scalar
 *     f16[1,8]=zeros         zeros, ones, random or range
 *     batchx3x224x224        an axis with a name is dynamic (names with an x in them need the
 *     float32[max_len,3]     brackets)
 *     1x3xh=64xw=64          and this large in the example
 *     x.npy  x.pb            a file
 */
#ifndef CALQUE_CLI_INPUT_H
#define CALQUE_CLI_INPUT_H

#include <calque/tensor.h>

typedef enum cli_fill { CLI_RANDOM, CLI_ZEROS, CLI_ONES, CLI_RANGE } cli_fill;

#define CLI_AXIS_NAME_SIZE 64

typedef struct cli_axis {
    int64_t size;                     /* for a named one without: CLI_DYNAMIC_EXAMPLE */
    char    name[CLI_AXIS_NAME_SIZE]; /* "" if it has none */
    bool    is_sized;                 /* its size was given */
} cli_axis;

/* What stands for a dynamic size in an example: not 1, which broadcasts. */
#define CLI_DYNAMIC_EXAMPLE 2

typedef struct cli_input {
    const char *path; /* a file, then nothing below counts; else NULL */
    cq_dtype    dtype;
    cli_fill    fill;
    size_t      rank;
    cli_axis    axes[CQ_MAX_RANK];
} cli_input;

/* Takes a SPEC apart. Returns NULL, or what is wrong with it, in a few words. */
const char *cli_input_parse(cli_input *out, const char *spec);

/* Whether a name is that of a tensor file, and the tensor in it. */
bool      cli_is_tensor_file(const char *path);
cq_status cli_load_tensor(cq_tensor **out, const char *path);

/* The tensor: read from its file, or made. The numbers depend on seed and on nothing else. */
cq_status cli_input_tensor(cq_tensor **out, const cli_input *input, uint64_t seed);

#endif
