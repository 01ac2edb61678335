/* Arguments on the command line, besides tensors (input.h):
 *
 *     NAME=SPEC            for the input or parameter of that name
 *     2.5  3  -1           a number; of a parameter that is a Tensor, 3 is its size
 *     true  none           also True, False, None
 *     "text"  'text'       a text
 *     [1x3, 1x4]  (1x3, 2) lists and tuples of any of these
 *     {key: 1x3, "b": 2}   dicts
 *
 * Tensors and numbers become inputs of the example; how they nest becomes the text of an
 * args.json. */
#ifndef CALQUE_CLI_VALUE_H
#define CALQUE_CLI_VALUE_H

#include "example.h"

/* Reads all --input options. Returns the exit code; prints the error. */
int cli_values_read(cli_example *example, const cli_args *args, const cli_signature *signature);

/* Whether a --input that names none of the inputs may be one without a name; otherwise prints the
 * valid names. With has_sizes, NAME may be a dynamic size. names(table, i) is the i-th of them, and
 * NULL after the last. */
int cli_check_input_name(const cli_args *args, const char *text, const char *model, bool has_sizes,
                         const char *(*names)(const void *table, size_t i), const void *table);

#endif
