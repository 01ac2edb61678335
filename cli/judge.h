/* Classifies the difference between two tensors that should be equal: an output of a source and of
 * its export. */
#ifndef CALQUE_CLI_JUDGE_H
#define CALQUE_CLI_JUDGE_H

#include <calque/tensor.h>

typedef enum cli_verdict {
    CLI_EQUAL,     /* all elements are within the tolerance */
    CLI_FEW_ROUND, /* a few elements exceed it, which rounding explains */
    CLI_FEW_STEPS, /* a few elements differ by an 8-bit step */
    CLI_ROUNDING,  /* many elements differ, but by little */
    CLI_STEPS,     /* many elements differ by a step */
    CLI_DIFFERENT,
    CLI_SHAPES /* dtypes or sizes differ */
} cli_verdict;

typedef struct cli_judgement {
    cli_verdict verdict;
    int64_t     n, n_off; /* number of elements, and of those beyond the tolerance */
    double      largest;  /* largest difference of finite numbers */
    double      scale;    /* the largest expected number */
} cli_judgement;

/* Numbers are compared relative to themselves and to the largest of the tensor. Integers must be
 * equal; a few 8-bit integers may differ by one. is_quantized: the model computes with 8-bit steps,
 * so floats may differ by one step. */
cli_judgement cli_judge(const cq_tensor *got, const cq_tensor *wanted, bool is_quantized);

/* Whether an export with that difference counts as correct. */
bool cli_is_right(cli_verdict verdict);

#endif
