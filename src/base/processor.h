/* Instruction sets of an ARM processor, whose availability only the operating system knows. */
#ifndef CQ_BASE_PROCESSOR_H
#define CQ_BASE_PROCESSOR_H

#include <stdbool.h>

bool cq_processor_has_dotprod(void); /* products of four bytes */
bool cq_processor_has_i8mm(void);    /* of an unsigned and a signed byte, too */

#endif
