/* Functions that PyTorch implements in Python: torch.nn.functional, and a few of torch. An archive
 * contains their code; programs in source form use those of lib/torch. A name that is defined in
 * neither refers to the operator of the same name. */
#include "lang/library.h"
#include "script/eval.h"

static const struct {
    const char *qualifier, *path;
} units[] = {
    { CQ_FUNCTIONAL, "torch/nn/functional.py" },
    { CQ_TORCH, "torch/functional.py" },
    { CQ_HIGHER_ORDER, "torch/higher_order.py" },
    { CQ_MATRICES, "torch/dynamic_matrices.py" },
};

cq_status cq_functional_source(cq_source *out, bool *found, cq_arena *arena, const char *qualifier)
{
    *found = false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(qualifier, units[i].qualifier) == 0)
            return cq_library_source(out, found, arena, units[i].path);
    return CQ_OK;
}
