/* How two tensors differ that should be equal: an output of a source and of its export. */
#ifndef CALQUE_CLI_JUDGE_H
#define CALQUE_CLI_JUDGE_H

#include <calque/tensor.h>

typedef enum cli_verdict {
    CLI_EQUAL,     /* within the tolerance, all of them */
    CLI_FEW_ROUND, /* but for a few elements, which rounding explains */
    CLI_FEW_STEPS, /* but for a few elements that are a step of 8 bits off */
    CLI_ROUNDING,  /* too many are off, but none by much */
    CLI_STEPS,     /* too many are a step off */
    CLI_DIFFERENT,
    CLI_SHAPES /* dtypes or sizes differ */
} cli_verdict;

typedef struct cli_judgement {
    cli_verdict verdict;
    int64_t     n, n_off; /* elements; those beyond the tolerance */
    double      largest;  /* difference among finite numbers */
    double      scale;    /* the largest expected number */
} cli_judgement;

/* Numbers are compared relative to themselves and to the largest of the tensor. Integers must be
 * equal; a few 8-bit integers may differ by one. is_quantized: the model computes with 8-bit steps,
 * so floats may differ by one step. */
cli_judgement cli_judge(const cq_tensor *got, const cq_tensor *wanted, bool is_quantized);

/* Whether an export that differs so is right. */
bool cli_is_right(cli_verdict verdict);

#endif
