/* Arguments of programs on the command line, besides tensors (input.h):
 *
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

/* Reads all of --input. The exit code, after saying what is wrong. */
int cli_values_read(cli_example *example, const cli_args *args, const cli_signature *signature);

#endif
